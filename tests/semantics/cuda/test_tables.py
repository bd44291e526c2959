"""Tables in constant memory: their values at known indices, paid for as reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main
from logic.syntax import Assign, Const, Read, Write, statements, subterms
from semantics.cuda import read_cuda
from semantics.cuda.reader import Reading


def reading(text: str, folder: Path) -> Reading:
    path = folder / "k.cu"
    path.write_text(text)
    return read_cuda(str(path))


def value(declaration: str, use: str, folder: Path) -> object:
    """What is written by A[0] = use."""
    kernel = reading(f"{declaration}\n__global__ void k(int *A, int n) {{ A[0] = {use}; }}", folder).kernel
    (write,) = [s for s in statements(kernel.body) if isinstance(s, Write)]
    return write.value.value if isinstance(write.value, Const) else write.value


@pytest.mark.parametrize(
    ("declaration", "use", "expected"),
    [
        ("__constant__ int off[4] = {3, 1, -7, 2};", "off[2]", -7),
        ("__constant__ int off[4] = {3, 1};", "off[3]", 0),
        ("const __constant__ int off[] = {3, 1 + 4};", "off[1]", 5),
        ("__constant__ unsigned char off[2] = {3, (unsigned char)300};", "off[1]", 44),
        ("__constant__ int off[2] = {3, 4};", "*(off + 1)", 4),
    ],
)
def test_the_value_at_a_known_index(declaration: str, use: str, expected: int, tmp_path: Path) -> None:
    assert value(declaration, use, tmp_path) == expected


@pytest.mark.parametrize(
    ("declaration", "use"),
    [
        ("__constant__ int off[4] = {3, 1, -7, 2};", "off[n]"),
        ("__constant__ int off[4] = {3, 1, -7, 2};", "off[4]"),
        ("__constant__ int off[4] = {3, 1, -7, 2};", "off[-1]"),
        ("__constant__ int off[4];", "off[1]"),
        ("__device__ int off[4] = {3, 1, -7, 2};", "off[1]"),
        ("__constant__ int off[2][2] = {{3, 1}, {-7, 2}};", "off[1][1]"),
    ],
)
def test_nothing_is_known_of_others(declaration: str, use: str, tmp_path: Path) -> None:
    """Of an index outside of the table, or not known; of what is not declared, and of what the device may write."""
    assert not isinstance(value(declaration, use, tmp_path), int)


def test_a_read_is_paid_for_and_what_is_assumed_is_noted(tmp_path: Path) -> None:
    found = reading("__constant__ int off[2] = {3, 4};\n__global__ void k(int *A) { A[off[1]] = 1; }", tmp_path)
    reads = [
        t
        for s in statements(found.kernel.body)
        if isinstance(s, Assign)
        for t in subterms(s.value)
        if isinstance(t, Read)
    ]
    assert [(t.array, t.index) for t in reads] == [("off", Const(1))]
    assert "'off', in constant memory, holds what it is declared with" in found.notes


def test_bounds_and_runs_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A shift by 3 elements: 5 sectors, and one for the table; a run reads the table where its index is not known."""
    text = "__constant__ int off[4] = {0, 1, 2, 3};\n__global__ void k(int *A, int n) {"
    (tmp_path / "a.cu").write_text(f"{text} A[threadIdx.x + off[3]] = 1; }}")
    (tmp_path / "b.cu").write_text(f"{text} A[threadIdx.x + off[n]] = 1; }}")
    options = ["--metric", "sectors", "--block", "32", "--format", "json"]
    assert main(["bound", str(tmp_path / "a.cu"), *options]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["bound"] == "6"
    for name in ("a", "b"):
        assert main(["run", str(tmp_path / f"{name}.cu"), *options, "--arg", "n=3"]) == 0
        assert json.loads(capsys.readouterr().out)["totals"]["sectors"] == 6
