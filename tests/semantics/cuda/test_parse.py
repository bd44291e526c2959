"""Texts that were parsed before: they are not parsed again, unless what they include has changed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from logic.source import SourceError
from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading, asked, choices, hidden, kernel_names, parse, read_cuda
from semantics.cuda.clang import Node, Prefix, Unit
from semantics.cuda.shim import HEADERS

Write = Callable[[str], str]
KERNEL = '#include "body.h"\n__global__ void k(int *A) { BODY }\n'


@pytest.mark.parametrize("missing", ["", '#include "none.h"\n', "#include <none/such.h>\n"])
def test_a_text_is_parsed_once(missing: str, here: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path, made = here(f"{missing}__global__ void k(int *A) {{ A[0] = 7; }}\n"), list[str]()

    def counted(file: str, data: bytes, args: Sequence[str], prefix: Prefix | None) -> Unit:
        made.append(file)
        return Unit(file, data, args, prefix)

    monkeypatch.setattr(parse, "Unit", counted)
    assert read_cuda(path) == read_cuda(path)
    assert len(made) == 1
    assert read_cuda(path, defines=("N=1",)) == read_cuda(path)
    assert len(made) == 2


def test_hidden_lines_are_looked_for_once(here: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = "".join(f"__global__ void k{i}(int *A) {{ S<int> s; }}\n" for i in range(2))
    path, looked = here(f"template <class T> struct S {{ __device__ ~S() {{}} }};\n{kernels}"), list[Unit]()

    def counted(unit: Unit, functions: Iterable[Node]) -> list[str]:
        looked.append(unit)
        return hidden.lines(unit, functions)

    monkeypatch.setattr(parse, "hidden_lines", counted)
    read_cuda(path, "k0")
    assert looked
    read_cuda(path, "k1")
    assert len({*looked}) == len(looked)


VIEW = """struct V { int *p, n;
  __device__ int *begin() const { return p; } __device__ int *end() const { return p + n; } };
"""
PARSES = {
    "\n#pragma unroll\nfor (int i = 0; i < n; i++) A[i] = 7;": ("c++20", 1),
    "\n#pragma unroll 4\nfor (int i = 0; i < n; i++) { decltype(n) x = A[i]; A[i] = x; }": ("c++17", 2),
    "for (decltype(n) x : V{A, n}) A[0] = x;": ("c++17", 3),
}
"""The number of parses of a text: one more for hidden lines, and one where host and device may differ."""


@pytest.mark.parametrize("body", PARSES)
def test_a_text_is_parsed_no_more_often_than_needed(body: str, here: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path, made = here(f"{VIEW}__global__ void k(int *A, int n) {{ {body} }}\n"), list[bool]()

    def counted(file: str, data: bytes, args: Sequence[str], prefix: Prefix | None) -> Unit:
        made.append("-D__w_together" in args)
        return Unit(file, data, args, prefix)

    monkeypatch.setattr(parse, "Unit", counted)
    std, times = PARSES[body]
    read_cuda(path, std=std)
    assert made == [False] * (times - 1 or 1) + [True] * (times > 1)


def test_the_names_of_all_concepts_are_known() -> None:
    text = Path(HEADERS, "warpbound_library.h").read_text()
    names = re.findall(r"\bconcept (\w+)", text)
    assert len(names) > 10
    assert [name for name in names if name[0] != "_" and not asked.CONCEPTS.fullmatch(name.encode())] == []


def body(path: str) -> str:
    return show_stmt(read_cuda(path).kernel.body)


def test_what_it_includes_may_change(here: Write, tmp_path: Path) -> None:
    path, header = here(KERNEL), tmp_path / "body.h"
    for text, lowered in (("A[0] = 1;", "A[0] <- 1;"), ("A[5] = 12;", "A[5] <- 12;"), ("", "skip;")):
        header.write_text(f"#define BODY {text}\n")
        assert body(path) == lowered
    header.unlink()
    with pytest.raises(CudaError, match="undeclared identifier 'BODY'"):
        read_cuda(path)
    header.write_text("#define BODY A[0] = 1;\n")
    assert body(path) == "A[0] <- 1;"


@pytest.mark.parametrize("place", ["x.h", "first/x.h", "second/x.h"])
def test_a_file_that_was_missing_may_come(place: str, here: Write, tmp_path: Path) -> None:
    path = here('#include "x.h"\n#ifndef N\n#define N 3\n#endif\n__global__ void k(int *A) { A[0] = N; }\n')
    (tmp_path / "first").mkdir()

    def element() -> str:
        return show_stmt(read_cuda(path, includes=("first", "second")).kernel.body)

    assert (element(), element()) == ("A[0] <- 3;", "A[0] <- 3;")
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("#define N 4\n")
    assert element() == "A[0] <- 4;"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('#if __has_include("y.h")\n#include "y.h"\n#else\n#include "x.h"\n#endif\n', "second/y.h"),
        ("#if __has_include ( <y.h> )\n#undef N\n#define N 4\n#else\n#include <x.h>\n#endif\n", "first/y.h"),
        ("#include <x.h>\n", "first/x.h"),
        ('#include "x.h"\n', "x.h"),
        ('#include "../second/z.h"\n', "second/x.h"),
    ],
)
def test_another_file_may_come_in_place_of_one(text: str, place: str, here: Write, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    path = here(f"{text}__global__ void k(int *A) {{ A[0] = N; }}\n")

    def element() -> str:
        return show_stmt(read_cuda(path, includes=("first", "second")).kernel.body)

    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "z.h").write_text('#if __has_include("x.h")\n#include "x.h"\n#else\n#define N 3\n#endif\n')
    if "z.h" not in text:
        (tmp_path / "second" / "x.h").write_text("#define N 3\n")
    assert (element(), element()) == ("A[0] <- 3;", "A[0] <- 3;")
    (tmp_path / place).write_text("#define N 4\n")
    assert element() == "A[0] <- 4;"


def test_a_path_leads_elsewhere_from_another_folder(
    here: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two folders with files of the same names, headers of the same size and time."""
    path = here(KERNEL)
    (tmp_path / "body.h").write_text("#define BODY A[0] = 1;\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / path).write_text(KERNEL)
    (other / "body.h").write_text("#define BODY A[0] = 2;\n")
    for folder in (tmp_path, other):
        os.utime(folder / "body.h", (0, 0))
    assert body(path) == "A[0] <- 1;"
    monkeypatch.chdir(other)
    assert body(path) == "A[0] <- 2;"


def test_alignment_after_the_space_of_a_variable(read: Callable[..., Reading]) -> None:
    """nvcc takes it there, clang does not; a structure has its own."""
    text = """__constant__ alignas(8) int T[4];
        __global__ void k(float *A) {
          __shared__ alignas(16) float s[32]; extern __shared__ alignas(float4) float e[];
          struct alignas(16) S { float x, y, z, w; }; S q = {1, 2, 3, 4};
          s[threadIdx.x] = A[sizeof(S)]; e[T[1]] = q.y;
        }"""
    lines = show_stmt(read(text).kernel.body).splitlines()
    assert lines[-2:] == ["s[tid.x] <- A[16];", "e[T[1]] <- q.y;"]


ATTRIBUTES = """#pragma once
#define HD __host__ __device__
#define LOUD [[nodiscard]]
HD [[nodiscard]] inline float f(float x) { return x; }
__device__ LOUD inline float g(float x) { return x + 1; }
template <class T> struct W {
  HD [[nodiscard]] [[maybe_unused]] T get() const { return v; }
  __device__ [[nodiscard("a ] b"),
    gnu::always_inline]] T twice() { return v + v; }
  T v;
};
"""


def test_attributes_after_those_of_cuda(read: Callable[..., Reading], tmp_path: Path) -> None:
    """nvcc takes them there, clang does not; also in what is included."""
    stored = "HD inline void h(int i) { __shared__ alignas(16) int S[64]; S[i] = i; }"
    (tmp_path / "a.cuh").write_text(ATTRIBUTES + stored)
    kernel = "__global__ [[maybe_unused]] void k(float *A) { W<float> w{f(2)}; h(3); A[9] = g(w.get() + w.twice()); }"
    for before in (ATTRIBUTES + "HD void h(int i) {}\n", f'#include "{tmp_path}/a.cuh"\n'):
        reading = read(before + kernel)
        assert "A[9] <- " in show_stmt(reading.kernel.body)
    assert "S[i] <- i;" in show_stmt(reading.kernel.body)
    with pytest.raises(CudaError, match="an attribute list cannot appear here"):
        read("__global__ void k(int *A) { __shared__ [[gnu::aligned(512)]] int S[4]; S[0] = A[0]; }")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """A comment in another code than UTF-8 says nothing; in a name, clang has an error."""
    path = tmp_path / "latin.cu"
    kernel = b"/* gr\xf6\xdfe */ __global__ void k(int *A) { A[0] = 1; /* \xe9 */ } // \x85"
    path.write_bytes(kernel)
    assert kernel_names(str(path)) == ["k"]
    path.write_bytes(kernel.replace(b"A[0]", b"A\x85[0]"))
    with pytest.raises(SourceError):
        read_cuda(str(path), "k")


def test_a_source_of_newer_language(here: Write) -> None:
    """Concepts are of C++20: such a source is read in it, unless another language is asked for; others are not."""
    concept = "template <class T> concept Small = sizeof(T) <= 4;\n"
    kernel = "template <Small T> __global__ void k(T *A) { A[threadIdx.x] = T(1); }\n"
    path = here(concept + kernel + "template __global__ void k<int>(int *);\n")
    assert kernel_names(path) == ["k"]
    assert [c.instantiate for c in choices(path)] == ["k<int>"]
    assert "the source is read as C++20" in read_cuda(path, "k").remarks
    with pytest.raises(CudaError):
        read_cuda(path, "k", std="c++14")
    plain = here("__global__ void k(int *A) { int requires = 1; A[0] = requires; }\n")
    assert not any("read as" in note for note in read_cuda(plain, "k").remarks)
