"""What `warpbound run` says of input that it cannot use: one sentence, its place, exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from checker.cli import main

SOURCE = """__global__ void k(int *A, int *B, int n)
{
    int i = threadIdx.x;
    while (B[i] < n) {
        A[i] = A[i + 5] + A[i - 1];
        B[i]++;
    }
}
"""
LAUNCH = ("run", "k.cu", "--block", "8", "--grid", "2")
Capture = pytest.CaptureFixture[str]

REFUSED = {
    "--arg n=1 --block=-8": "error: --block -8: not a dimension",
    "--arg n=1 --grid 0": "error: --grid 0: not a dimension",
    "--arg n=1 --array A=zeros:-8": "error: --array A=zeros:-8: not a number of elements",
    "--arg n=1 --array A=zeros:1.5": "error: --array A=zeros:1.5: not a number of elements",
    "--arg n=1 --array C=zeros": "k.cu:1:17: error: kernel k has no global array 'C'\n    __global__ void k(",
    "": "k.cu:1:39: error: parameter 'n' has no value\n    __global__ void k(int *A, int *B, int n)\n",
    "--arg n=1.5": "error: --arg n=1.5: 'n' is int",
    "--arg n=2147483648": "k.cu:1:17: error: 'n' has 32 bits: it cannot be 2147483648",
    "--arg n=-2147483649": "error: 'n' has 32 bits: it cannot be -2147483649",
    "--arg n=1 --arg m=2": "k.cu:1:17: error: kernel k has no parameter 'm'",
    "--arg n=9999 --step-limit 500": "k.cu:4:5: error: the loop at k.cu:4:5 did not end within 500 steps\n"
    "        while (B[i] < n) {\n        ^\n  Raise --step-limit if it does end.\n",
    "--arg n=1 --array A=@gone.npy": "error: --array A=@gone.npy: No such file",
    "--arg n=1 --array A=@.": "error: --array A=@.: Is a directory",
    "--arg n=1 --array A=@k.cu": "error: --array A=@k.cu: not a .npy file",
    "--arg n=1 --array A=@float.npy": "error: --array A=@float.npy: holds float64, 'A' is an array of int",
    "--arg n=1 --array A=@matrix.npy": "error: --array A=@matrix.npy: holds int64 in 2 dimensions",
    "--arg n=1 --array A=@text.npy": "error: --array A=@text.npy: holds <U1, 'A' is an array of int",
    "--arg n=1 --array A=@object.npy": "error: --array A=@object.npy: not a .npy file of numbers",
    "--arg n=1 --array A=@large.npy": "@large.npy: element 0 is 1099511627776, which does not fit into 4 bytes",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(SOURCE)
    np.save("float.npy", np.zeros(3))
    np.save("matrix.npy", np.zeros((2, 2), np.int64))
    np.save("text.npy", np.array(["a"]))
    np.save("object.npy", np.array([None]))
    np.save("large.npy", np.array([2**40]))


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize(("words", "message"), REFUSED.items())
def test_unusable_input(words: str, message: str, engine: str, capsys: Capture) -> None:
    assert main([*LAUNCH, "--engine", engine, *words.split()]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("error:") == 1


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_accesses_out_of_bounds_are_reported_once_each(engine: str, capsys: Capture) -> None:
    words = ("--arg", "n=3", "--array", "A=ones:8", "--engine", engine)
    assert main([*LAUNCH, *words]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "k.cu:5:16: warning: out of bounds: load of A[8] by thread (3,0,0) of block (0,0,0), but 'A' has 8 elements",
        "k.cu:5:27: warning: out of bounds: load of A[-1] by thread (0,0,0) of block (0,0,0), but 'A' has 8 elements",
    ]


def test_accesses_out_of_bounds_in_json_and_sarif(capsys: Capture) -> None:
    words = [*LAUNCH, "--arg", "n=3", "--array", "A=ones:8", "--format"]
    assert main([*words, "json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["out_of_bounds"]
    assert first["place"] == {"file": "k.cu", "line": 5, "column": 16}
    assert second["access"].startswith("load of A[-1] by thread (0,0,0)")
    assert main([*words, "sarif"]) == 1
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert [(r["ruleId"], r["level"]) for r in results] == [("out-of-bounds", "error")] * 2


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_what_is_read_out_of_bounds_is_the_default(engine: str, capsys: Capture) -> None:
    """B beyond its only element reads as 0 for ever, so thread 1's loop never ends."""
    words = ("--arg", "n=1", "--array", "B=ones:1", "--step-limit", "300", "--engine", engine)
    assert main([*LAUNCH[:2], "--block", "1", *words]) == 0
    assert main([*LAUNCH[:2], "--block", "2", *words]) == 2
    assert "did not end within 300 steps" in capsys.readouterr().err


LAUNCHED = """//@ launch block = 64, grid = ceil(n/64);
__global__ void k(int *A, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) A[i] = i;
}
"""


@pytest.mark.parametrize("command", ["run", "machine", "wcet"])
@pytest.mark.parametrize(
    ("launch", "words", "shape"),
    [
        ("block = 64, grid = 3", (), (3, 64)),
        ("block = 64, grid = 3", ("--block", "32", "--grid", "2"), (2, 32)),
        ("block = 64, grid = 3", ("--block", "32"), (3, 32)),
        ("block = 64", (), (1, 64)),
    ],
)
def test_a_launch_in_the_source(
    command: str, launch: str, words: tuple[str, ...], shape: tuple[int, int], tmp_path: Path, capsys: Capture
) -> None:
    """The options win, as they do for `bound`."""
    path = tmp_path / "k.cu"
    path.write_text(LAUNCHED.replace("block = 64, grid = ceil(n/64)", launch))
    assert main([command, str(path), "--arg", "n=130", *words]) == 0
    blocks, threads = shape
    told = capsys.readouterr().out
    if command == "run":
        assert told.startswith(f"k: {blocks}x1x1 blocks of {threads}x1x1 threads, ")
    else:
        assert told.startswith(f"k: {blocks} block{'s' if blocks > 1 else ''} of {threads} threads in ")


@pytest.mark.parametrize("command", ["run", "machine"])
def test_a_launch_that_depends_on_parameters(command: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text(LAUNCHED)
    assert main([command, str(path), "--arg", "n=130"]) == 0
    assert capsys.readouterr().out.startswith(("k: 3x1x1 blocks", "k: 3 blocks"))
    assert main([command, str(path), "--arg", "n=0"]) == 2
    told = "error: the launch in the source has a grid of 0, 1, 1 blocks here\n"
    assert told in capsys.readouterr().err
    assert main([command, str(path)]) == 2
    assert "'n' has no value" in capsys.readouterr().err


def test_cycles_of_a_launch_that_depends_on_parameters(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text(LAUNCHED)
    assert main(["wcet", str(path), "--at", "n=130"]) == 0
    assert "3 blocks of 64 threads" in capsys.readouterr().out
    assert main(["wcet", str(path)]) == 2
    assert "the grid of the launch in the source depends on 'n', which has no value" in capsys.readouterr().err
    assert main(["wcet", str(path), "--grid", "2"]) == 0
    assert "2 blocks of 64 threads" in capsys.readouterr().out
