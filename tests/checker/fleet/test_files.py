"""Which sources are meant, and how each is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.fleet import files
from checker.fleet.files import Flags, database, sources
from checker.notation.problem import OptionProblem

KERNEL = "__global__ void k(int *A) { A[threadIdx.x] = 1; }\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {
        "src/main.cu": '#include "kernel.cu"\n#include "../lib/one.cuh"\nint main() {}\n',
        "src/kernel.cu": KERNEL,
        "lib/one.cuh": KERNEL,
        "lib/two.cuh": KERNEL,
        "lib/types.cuh": "struct S { int a; };\n",
        "lib/system.cuh": KERNEL,
        "include/api.hpp": "#  include <lib/system.cuh>\n",
        "test/a.cu": KERNEL,
        ".git/x.cu": KERNEL,
        "notes.txt": KERNEL,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*paths: str, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
    return [source.name for source in sources(paths, include, exclude)]


def test_the_roots_of_a_folder_are_what_no_other_includes(tree: Path) -> None:
    assert names(".") == ["lib/two.cuh", "src/main.cu", "test/a.cu"]


def test_what_is_named_is_meant_once(tree: Path) -> None:
    assert names("src/kernel.cu", "src", str(tree / "src/main.cu"), "notes.txt") == [
        "src/kernel.cu",
        "src/main.cu",
        "notes.txt",
    ]


@pytest.mark.parametrize(
    ("include", "exclude", "left"),
    [
        (("src/*",), (), ["src/main.cu"]),
        ((), ("test",), ["lib/two.cuh", "src/main.cu"]),
        (("*.cu",), ("test/",), ["src/main.cu"]),
        (("a.cu", "two.*"), ("lib/t*",), ["test/a.cu"]),
        ((), ("t",), ["lib/two.cuh", "src/main.cu", "test/a.cu"]),
    ],
)
def test_globs(include: tuple[str, ...], exclude: tuple[str, ...], left: list[str], tree: Path) -> None:
    assert names(".", include=include, exclude=exclude) == left


@pytest.mark.parametrize(
    ("paths", "problem"),
    [
        (["nowhere"], "cannot read 'nowhere': no such file or folder"),
        (["include"], "there is no CUDA source in 'include'"),
        ([""], "cannot read ''"),
        (["x" * 5000], "no such file or folder"),
        (["/"], "the whole file system"),
    ],
)
def test_what_is_no_source(paths: list[str], problem: str, tree: Path) -> None:
    with pytest.raises(OptionProblem, match=problem):
        sources(paths)


def test_a_folder_that_is_too_large_or_cannot_be_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(files, "MOST", 5)
        with pytest.raises(OptionProblem, match="more than 5 files"):
            sources(["."])

    def refused(top: object, onerror: object) -> object:
        onerror(PermissionError(13, "Permission denied", "./src"))  # type: ignore[operator]
        return iter(())

    monkeypatch.setattr("os.walk", refused)
    with pytest.raises(OptionProblem, match=r"cannot read the folder './src': permission denied"):
        sources(["."])


def test_a_database_says_how_sources_are_read(tree: Path) -> None:
    entries = [
        {
            "directory": str(tree),
            "file": "src/main.cu",
            "command": "nvcc -Iinclude -I lib -DN=4 -D 'S=\"a b\"' -std=c++20 -c x",
        },
        {
            "directory": str(tree / "src"),
            "file": "../test/a.cu",
            "arguments": ["nvcc", "-isystem", "../lib", "--std", "c++14"],
        },
    ]
    (tree / "compile_commands.json").write_text(json.dumps(entries))
    flags = database(str(tree))
    main, a = (flags[(tree / name).resolve()] for name in ("src/main.cu", "test/a.cu"))
    assert main == Flags((f"{tree}/include", f"{tree}/lib"), ("N=4", 'S="a b"'), "c++20")
    assert a == Flags((f"{tree}/src/../lib",), (), "c++14")
    assert {s.name: s.flags.std for s in sources(["."], flags=flags)}["src/main.cu"] == "c++20"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "there is no compile_commands.json"),
        ("{", "cannot read"),
        ("[{}]", "no directory"),
        ("[3]", "no directory"),
    ],
)
def test_a_broken_database(text: str | None, problem: str, tree: Path) -> None:
    if text is not None:
        (tree / "compile_commands.json").write_text(text)
    with pytest.raises(OptionProblem, match=problem):
        database(str(tree))


def test_mentions(tree: Path) -> None:
    assert files.mentions(tree, "k")
    assert not files.mentions(tree, "kern")
