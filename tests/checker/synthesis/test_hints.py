"""Potentials in a source as hints: one that is too low is left out, one that is too high is kept and told of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main

SOURCE = """//@ launch block = 32;
__global__ void k(int *A, const int *B, int n) {
    //@ potential 4 + FIRST*|[0, n]|;
    int t = B[threadIdx.x];
    //@ loop potential SECOND*|[i, n]|;
    for (int i = 0; i < n; i++)
        A[threadIdx.x + 32*i] = t;
}
"""
LOW = "warning: sectors: the potential that is stated here could not be shown to be enough, and is left out"
HIGH = "warning: sectors: the bound is kept to what is stated here; the search alone finds 4 + 4*max(0, n)"


@pytest.mark.parametrize(
    ("first", "second", "bound", "said"),
    [
        (4, 4, "4 + 4*max(0, n)", []),
        (3, 4, "4 + 4*max(0, n)", [(3, LOW)]),
        (4, 3, "4 + 4*max(0, n)", [(5, LOW)]),
        (4, 9, "4 + 4*max(0, n)", [(5, LOW)]),
        (3, 3, "4 + 4*max(0, n)", [(3, LOW), (5, LOW)]),
        (3, 9, "4 + 9*max(0, n)", [(3, LOW), (5, HIGH)]),
        (9, 9, "4 + 9*max(0, n)", [(3, HIGH), (5, HIGH)]),
    ],
)
def test_hints(
    first: int, second: int, bound: str, said: list[tuple[int, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(SOURCE.replace("FIRST", str(first)).replace("SECOND", str(second)))
    assert main(["bound", str(path), "--metric", "sectors", "--format", "json"]) == 0
    printed = capsys.readouterr()
    (row,) = json.loads(printed.out)["results"]
    assert (row["verdict"], row["bound"]) == ("certified", bound)
    assert printed.err.splitlines() == [f"{path}:{line}:5: {words}" for line, words in said]


def test_a_hint_that_no_search_can_replace_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a bound to fall back on it stays a problem, told at its place."""
    path = tmp_path / "k.cu"
    path.write_text(SOURCE.replace("FIRST", "3").replace("SECOND", "4").replace("i < n; i++", "A[i]; i++"))
    assert main(["bound", str(path), "--metric", "sectors", "--format", "json"]) == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    (row,) = json.loads(printed.out)["results"]
    assert row["verdict"] == "not-proved"
