"""Loops that go from element to element, x = parent[x]: certified where a contract says that elements are less than
their indices, or more, above every run on data that keep it, and reached by a chain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from checker.cli import main
from tests.checker.test_contracts import bound

KERNEL: Final = """//@ requires forall i in [0, n): CONTRACT;
__global__ void chase(const TYPE *a, TYPE *out, const int *from, TYPE n) {
    TYPE t = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    if (t < n) {
        BODY
        out[t] = x + steps;
    }
}
"""

ROOTS: Final = "0 <= a[i] && a[i] <= i"
UP: Final = "-1 <= a[i] && a[i] < i"
ON: Final = "i < a[i] && a[i] <= n"

CASES: Final = {
    "halving": (ROOTS, "TYPE x = t; while (a[x] != x) x = a[a[x]];", "1 + max(0, min(128*gridDim.x, n))"),
    "unsigned": (
        ROOTS.split(" && ")[1],
        "TYPE x = t; while (x != a[x]) x = a[x];",
        "1 + max(0, min(128*gridDim.x, n))",
    ),
    "a parent's": (
        ROOTS,
        "int x = from[t]; if (x < 0 || x >= n) return; int p = a[x]; while (p != x) { int g = a[p]; x = p; p = g; }",
        "2 + max(0, n)",
    ),
    "a break": (
        ROOTS,
        "int x = t; while (true) { int p = a[x]; if (p == x) break; x = p; }",
        "1 + max(0, min(128*gridDim.x, n))",
    ),
    "none above": (UP, "TYPE x = t; while (a[x] >= 0) x = a[x];", "2 + max(0, 128*gridDim.x - 1)"),
    "no parent": (
        UP,
        "TYPE x = t; while (x != -1) { x = a[x]; steps++; }",
        "2 + max(0, min(128*gridDim.x, n))",
    ),
    "a list": (ON, "TYPE x = max(0, from[t]); for (; x < n; x = a[x]) steps++;", "2 + max(0, n)"),
    "a last": ("i <= a[i] && a[i] < n", "TYPE x = t; while (a[x] != x) x = a[x];", "1 + max(0, n)"),
}


def source(case: str) -> str:
    contract, body, _ = CASES[case]
    text = KERNEL.replace("CONTRACT", contract).replace("BODY", body)
    return text.replace("TYPE", "unsigned" if case == "unsigned" else "int")


def drawn(contract: str, n: int, seed: int) -> Any:
    """Elements that keep a contract: for seed 0 a chain through all, else a forest."""
    rng, i = np.random.default_rng(seed), np.arange(n)
    chain = seed == 0
    match contract:
        case "-1 <= a[i] && a[i] < i":
            return i - 1 if chain else np.maximum(-1, i - 1 - rng.integers(0, rng.integers(1, 9), n))
        case "i < a[i] && a[i] <= n":
            return i + 1 if chain else np.minimum(n, i + 1 + rng.integers(0, 4, n))
        case "i <= a[i] && a[i] < n":
            return np.minimum(n - 1, i + 1) if chain else np.minimum(n - 1, i + rng.integers(0, 4, n))
    return np.maximum(0, i - 1) if chain else np.maximum(0, i - rng.integers(0, rng.integers(1, 9) + 1, n))


@pytest.mark.parametrize("case", CASES)
def test_certified_and_above_runs(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract, _, expected = CASES[case]
    to = tmp_path / "c.json"
    assert bound(source(case), tmp_path, "--format", "json", "--certificate", str(to)) == 0
    said = json.loads(capsys.readouterr().out)["results"][0]
    assert (said["verdict"], said["bound"]) == ("certified", expected)
    dearest, n, path = 0, 100, tmp_path / "k.cu"
    for seed in range(4):
        np.save(tmp_path / "a.npy", drawn(contract, n, seed).astype(np.uint32 if case == "unsigned" else np.int32))
        np.save(tmp_path / "from.npy", np.random.default_rng(seed).integers(0, n, 128).astype(np.int32))
        given = ["--array", f"a=@{tmp_path / 'a.npy'}", "--array", f"from=@{tmp_path / 'from.npy'}"]
        words = ["run", str(path), "--metric", "divwarps", "--block", "128", "--arg", f"n={n}", *given]
        assert main([*words, "--format", "json"]) == 0
        dearest = max(dearest, json.loads(capsys.readouterr().out)["max_per_warp"]["divwarps"])
    assert 10 <= dearest <= n + 2


@pytest.mark.parametrize(
    ("case", "old", "new"),
    [
        ("a last", "a[i] < n", "a[i] <= n"),  # and whatever is at n
        ("halving", "a[i] <= i", "a[i] <= i + 1"),
        ("halving", "[0, n)", "[0, n - 1)"),
        ("halving", "a[a[x]]", "a[a[x] + 2]"),
        ("a list", "i < a[i]", "i <= a[i]"),
    ],
)
def test_what_does_not_end(case: str, old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = source(case)
    assert old in text
    assert bound(text.replace(old, new), tmp_path) == 1
    assert "no bound" in capsys.readouterr().out


@pytest.mark.parametrize("case", ["halving", "a break"])
def test_the_contract_that_is_missing_is_told(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract, text = source(case).split("\n", 1)
    assert bound(text, tmp_path) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert f"Or say how it gets on: {contract}" in told


def test_no_limits_of_elements_are_assumed_that_contradict_a_contract(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That no parent is negative, as an unsigned x would have it, holds of no tree whose root has -1."""
    text = KERNEL.replace("CONTRACT", UP).replace("BODY", "unsigned x = t; while (x < n) x = a[x];")
    assert bound(text.replace("TYPE", "int"), tmp_path, "--metric", "divwarps") == 1
    assert "forall i: 0 <= a[i]" not in capsys.readouterr().out


def test_parents_of_unsigned_elements_that_no_tree_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = KERNEL.replace("CONTRACT", "a[i] < i").replace("BODY", "TYPE x = t; while (x > 0) x = a[x];")
    assert bound(text.replace("TYPE", "unsigned"), tmp_path, "--metric", "divwarps") == 0
    assert "no small data keep the contracts where their ranges have an index" in capsys.readouterr().err
