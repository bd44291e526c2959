"""Bounds from contracts on arrays of unsigned and 64-bit integers: certified, said to rest on what C would wrap around
without, and above every run on random data that keep the contracts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checker.cli import main
from tests.examples import LONG

RISING = "//@ requires forall i in [0, n): row[i] <= row[i + 1];\n"
WIDTH = "//@ requires forall i in [0, n): row[i + 1] - row[i] <= w;\n"
N, W = 70, 6

ROW = """__global__ void k({kind} *row, {kind} *col, const float *x, float *y, {size} n, {size} w) {{
    {size} r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {{
        float s = 0;
        {body}
        y[r] = s;
    }}
}}
"""
WARP = """__global__ void k(const {kind} *row, const {kind} *col, const float *x, float *y, {size} n, {size} w) {{
    {size} r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (r < n) {{
        float s = 0;
        {body}
        y[r] = s;
    }}
}}
"""
EACH = "for ({0} j = row[r]; j < row[r + 1]; ++j) s += x[col[j]];"
COUNTED = "{0} start = row[r], len = row[r + 1] - start; for ({0} k = 0; k < len; k++) s += x[col[start + k]];"
STRIDED = "for ({0} j = row[r] + lane; j < row[r + 1]; j += 32) s += x[col[j]];"
STRIDED_COUNTED = "{0} a = row[r], m = row[r + 1] - a; for ({0} k = lane; k < m; k += 32) s += x[col[a + k]];"
INTS = "int a = row[r], b = row[r + 1]; for (int j = a; j < b; j++) s += x[col[j]];"

SPLIT = "2 + max(0, w)"
"""A warp splits once for n, and as often as the longest row of its lanes is long, and once more."""

CASES = {
    "each, unsigned": (ROW, EACH, "unsigned", "unsigned", SPLIT),
    "each, size_t": (ROW, EACH, "size_t", "size_t", SPLIT),
    "each, unsigned in an int": (ROW, EACH.replace("{0}", "int"), "unsigned", "int", SPLIT),
    "each, int in an unsigned": (ROW, EACH.replace("{0}", "unsigned"), "int", "int", SPLIT),
    "counted, unsigned": (ROW, COUNTED, "unsigned", "unsigned", SPLIT),
    "ints, long long": (ROW, INTS, "long long", "int", SPLIT),
    "strided, unsigned": (WARP, STRIDED, "unsigned", "unsigned", "min(1, max(0, row["),
    "strided and counted, size_t": (WARP, STRIDED_COUNTED, "size_t", "size_t", "ceil("),
}


GRANTED = {
    "each, unsigned": ["forall i: 0 <= row[i]"],
    "each, unsigned in an int": ["forall i: 0 <= row[i]", "forall i: row[i] <= 2147483647"],
    "strided and counted, size_t": ["forall i: 0 <= row[i]", "forall i: row[i] <= 9223372036854775807"],
}
"""What is taken of elements besides the contracts that are stated."""


def write(case: str, folder: Path, contracts: str = RISING + WIDTH) -> Path:
    text, body, kind, size, _ = CASES[case]
    path = folder / "k.cu"
    const = kind if kind.startswith("const") or text is WARP else f"const {kind}"
    path.write_text(contracts + text.format(kind=const, size=size, body=body.format(kind)))
    return path


def said(path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    code = main(["bound", str(path), "--metric", "divwarps", "--block", "128", "--format", "json", *more])
    out, err = capsys.readouterr()
    return code, *json.loads(out).get("results", [{}]), out + err


@pytest.mark.parametrize("case", [*CASES] if LONG else [*CASES][::4])
def test_certified_and_above_runs(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contracts = RISING + (WIDTH if CASES[case][0] is ROW else "")
    path = write(case, tmp_path, contracts)
    rng = np.random.default_rng(11)
    code, row, _ = said(path, capsys)
    assert (code, row["verdict"]) == (0, "certified")
    assert CASES[case][4] in row["bound"]
    own = [a.removeprefix("given: ") for a in row["assumptions"] if a.startswith("given: forall i:")]
    assert own == GRANTED.get(case, own)
    for _ in range(4):
        lengths = rng.integers(0, W + 1, N) if rng.random() < 0.7 else np.eye(1, N, 5, dtype=int)[0] * W
        starts = np.concatenate([[0], np.cumsum(lengths)])
        np.save(tmp_path / "row.npy", starts)
        sizes = ["--arg", f"n={N}", "--arg", f"w={W}", "--block", "128", "--grid", "18"]
        ran = [*sizes, "--metric", "divwarps", "--array", f"row=@{tmp_path / 'row.npy'}", "--format", "json"]
        assert main(["run", str(path), *ran]) == 0
        cost = json.loads(capsys.readouterr().out)["max_per_warp"]["divwarps"]
        limit = 2 + W if CASES[case][0] is ROW else max(-(-int(x) // 32) for x in lengths)
        limit = min(1, limit) if "min(1" in CASES[case][4] else limit
        assert cost <= limit


def test_data_that_would_wrap_around_are_outside_of_the_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With 2^32 - 9 an int has another value than the element: the run is none of those that the bound speaks of."""
    path = write("each, unsigned in an int", tmp_path)
    np.save(tmp_path / "row.npy", np.arange(N + 1) + 2**32 - N - 1)
    own = ["--arg", f"n={N}", "--arg", f"w={W}", "--array", f"row=@{tmp_path / 'row.npy'}"]
    assert main(["run", str(path), "--block", "128", *own]) == 3
    assert "break the contract forall i: row[i] <= 2147483647, at i = 0" in capsys.readouterr().err
    assert main(["contracts", str(path), *own]) == 3
    assert "broken    forall i: row[i] <= 2147483647, at i = 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("y[r] = s;", "y[r] = s; row[0] = 1;", "the kernel may write to 'row'"),
        ("y[r] = s;", "y[r] = s; ((float *)row)[r] = s;", "the kernel may write to 'row'"),
        ("y[r] = s;", "y[r] = s + ((const int *)row)[r];", "the elements of 'row' are of several types"),
    ],
)
def test_refused(old: str, new: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write("each, unsigned", tmp_path)
    path.write_text(path.read_text().replace(old, new).replace("const unsigned *row", "unsigned *row"))
    code, _, err = said(path, capsys)
    assert code == 2
    assert told in err


def test_a_difference_that_may_wrap_around_is_not_the_row_s_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the contract that rows rise, a row's length may be 2^32 - 1, whatever the width is."""
    path = write("counted, unsigned", tmp_path, WIDTH)
    row = said(path, capsys)[1]
    assert "w" not in (row["bound"] or "")


def test_a_search_whose_sum_may_wrap_around_is_told_what_to_assume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With lo + hi below 2^32 each turn halves what is left, and not without."""
    path = tmp_path / "k.cu"
    path.write_text("""
__global__ void lower(const unsigned *keys, const unsigned *wanted, unsigned *out, unsigned n, unsigned m) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= m) return;
    unsigned lo = 0, hi = n;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (keys[mid] < wanted[t]) lo = mid + 1; else hi = mid;
    }
    out[t] = lo;
}
""")
    words = ["bound", str(path), "--block", "128", "--metric", "divwarps"]
    assert main(words) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert 'Say --assume "n <= 2147483647", or compute it in a wider type.' in told
    assert main([*words, "--assume", "n <= 2147483647"]) == 0
    assert "divwarps <= 2 + 2*log2(n)" in " ".join(capsys.readouterr().out.split())
