"""What a reading rests on: every file that it saw, and every place where another one would have been seen instead."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest

from semantics.cuda import CudaError, kernel_names
from semantics.cuda.clang import ClangFailed
from semantics.cuda.inputs import HEADERS, Inputs, _directives, includes, note, watching
from semantics.cuda.macros import SPLICE

K = "__global__ void k(int *A) { A[threadIdx.x] = N; }\n"


def seen(path: str, *folders: str, defines: tuple[str, ...] = ()) -> Inputs | None:
    with watching() as watch:
        with suppress(CudaError):  # a file that is missing is what it rests on, too
            kernel_names(path, folders, defines)
        return watch.inputs()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("src", "one", "two"):
        Path(folder).mkdir()
    Path("two/n.h").write_text('#pragma once\n#include "deep.h"\n')
    Path("two/deep.h").write_text("#define N 3\n")
    return tmp_path


def test_all_that_was_seen_and_what_would_have_been(here: Path) -> None:
    Path("src/a.cu").write_text('#include "n.h"\n#include <cuda/atomic>\n#ifdef GL\n#include <gl.h>\n#endif\n' + K)
    Path("two/gl.h").write_text("#define N 9\n")
    found = seen("src/a.cu", "one", "two")
    assert found is None, "gl.h may have come while others were read"
    with watching() as watch:
        watch.started += 1  # it was there before
        kernel_names("src/a.cu", ("one", "two"))
        found = watch.inputs()
    assert found is not None
    files = ("src/a.cu", "two/deep.h", "two/n.h")
    assert found.files == tuple((path, sha256(Path(path).read_bytes()).hexdigest()) for path in files)
    assert set(found.absent) >= {"src/n.h", "one/n.h", "one/cuda/atomic", "two/cuda/atomic", "one/gl.h"}
    assert not set(found.absent) & {"two/n.h", "two/deep.h", "two/gl.h", "src/gl.h"}


def test_a_file_that_clang_is_given_otherwise(here: Path) -> None:
    """What counts are the bytes that it has."""
    Path("src/n.h").write_text("struct S { __device__ [[nodiscard]] int f() { return 1; } };\n")
    Path("src/a.cu").write_text('#include "n.h"\n__global__ void k(int *A) { A[0] = S().f(); }\n')
    found = seen("src/a.cu")
    assert found is not None
    assert found.files == tuple((path, sha256(Path(path).read_bytes()).hexdigest()) for path in ("src/a.cu", "src/n.h"))


def test_a_file_that_is_missing(here: Path) -> None:
    Path("src/a.cu").write_text('#include "none.h"\n' + K)
    found = seen("src/a.cu", "one")
    assert found is not None
    assert found.absent == ("src/none.h", "one/none.h")


@pytest.mark.parametrize(
    "text",
    [
        '#define H "n.h"\n#include H\n',
        '#if __has_include("n.h")\n#endif\n',
        '#define P(a, b) a##b\n#if P(__has_inc, lude)("n.h")\n#endif\n',
        "#include_next <n.h>\n",
        "#import <n.h>\n",
        "%:include <n.h>\n",
        "# /* */ include <n.h>\n",
        "#inc\\\nlude_next <n.h>\n",
        "const char *t = __TIME__;\n",
        "const char *t = __DATE__;\n",
    ],
)
def test_texts_that_rest_on_more_than_files(text: str, here: Path) -> None:
    assert includes(text.encode()) is None
    Path("src/a.cu").write_text(f"#define N 1\n{text}{K}")
    assert seen("src/a.cu", "two") is None


def test_macros_of_the_command_line_are_texts_too(here: Path) -> None:
    Path("src/a.cu").write_text(K)
    assert seen("src/a.cu", defines=("N=1",)) is not None
    assert seen("src/a.cu", defines=('N=__has_include("n.h")',)) is None


def test_what_clang_is_told_elsewhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("src/a.cu").write_text(f"#define N 1\n{K}")
    assert seen("src/a.cu") is not None
    assert seen("src/a.cu", HEADERS) is None
    monkeypatch.setenv("CPATH", "two")
    assert seen("src/a.cu") is None


def test_two_states_of_a_file(here: Path) -> None:
    Path("src/a.cu").write_text(f"#define N 1\n{K}")
    with watching() as watch:
        kernel_names("src/a.cu")
        note("src/a.cu", b"other")
        assert watch.inputs() is None


def test_a_parse_that_fails_says_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("src/a.cu").write_text(K)
    assert seen("src/a.cu", defines=("N=1",)) is not None

    def fails(*_: object) -> None:
        raise ClangFailed

    monkeypatch.setattr("semantics.cuda.parse.Unit", fails)
    assert seen("src/a.cu", defines=("N=2",)) is None


def test_our_own_headers_say_plainly_what_they_include() -> None:
    for path in [*Path(HEADERS).rglob("*"), Path(HEADERS).with_name("cuda_shim.h")]:
        if path.is_file():
            text = SPLICE.sub(b"", path.read_bytes())
            assert _directives(text) is not None, path
            assert b"__has_include" not in text, path
