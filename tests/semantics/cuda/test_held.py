"""Kernels over arrays that contracts speak of: what is left out of a body changes no run on data that keep them.

The oracle is the body as it is written, with every reduction modulo 2^bits that C makes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from checker.notation.contracts import parse_contract
from checker.refutation.contracts import broken, for_reading, within
from logic.syntax import show_stmt
from logic.typing import check_kernel
from semantics import grid
from semantics.cuda import Reading, read_cuda
from semantics.lockstep import StepLimit

N = 12
RISING = "forall i in [0, n): row[i] <= row[i + 1]"
HEAD = "__global__ void k(const KIND *row, const int *col, int *y, int n) {"
MINE = "int r = threadIdx.x, t = 0; if (r < n) { %s y[r] = t; } }"
"""KIND stands for the type of row's elements."""

KERNELS = {
    "rows": MINE % "for (KIND j = row[r]; j < row[r + 1]; j++) t += col[j];",
    "lengths": MINE % "KIND s = row[r], len = row[r + 1] - s; for (KIND k = 0; k < len; k++) t += col[s + k];",
    "strides": MINE % "for (KIND j = row[r] + 3; j < row[r + 1]; j += 32) t += col[j];",
    "ints": MINE % "int from = row[r], to = row[r + 1]; for (int j = from; j < to; j++) t += col[j];",
    "mixed": MINE % "for (int j = row[r]; j < row[r + 1]; j++) t += col[j];",
    "unsigned counter": MINE % "for (unsigned j = row[r]; j < row[r + 1]; j++) t += col[j];",
    "downwards": MINE % "for (KIND j = row[r + 1]; j-- > row[r];) t += col[j];",
    "last": MINE % "KIND last = row[r + 1] - row[r] - 1; if (last < 3) t = col[last] + 1;",
    "halves": MINE % "KIND low = row[r], high = row[r + 1]; while (low < high) { KIND m = low + (high - low) / 2; "
    "if (col[m] > 5) high = m; else low = m + 1; t++; }",
}


def read(body: str, kind: str, folder: Path) -> Reading:
    path = folder / "k.cu"
    path.write_text((HEAD + body).replace("KIND", kind))
    return read_cuda(str(path))


def under(reading: Reading, *contracts: str) -> Reading:
    sigma = check_kernel(reading.kernel)
    found = [one for text in contracts for one in parse_contract(text, sigma, "here").contracts]
    return reading.under(data=for_reading(found))


def masks(reading: Reading) -> int:
    return len(re.findall(r"& (4294967295|18446744073709551615)", show_stmt(reading.kernel.body)))


def outcome(reading: Reading, row: list[int], col: list[int]) -> list[int]:
    """What y holds after a run by the reference; nothing where that does not end."""
    arrays = {"row": row, "col": col, "y": [0] * N}
    try:
        found = grid.run(reading.kernel, (32, 1, 1), (1, 1, 1), {"n": N}, arrays, step_limit=500)
    except StepLimit:
        return []
    return [int(found.arrays["y"].get(i, 0)) for i in range(N)]


def rows(shape: int, kind: str, rng: np.random.Generator) -> list[int]:
    """Where rows begin: small numbers, or near the end of the type."""
    most = {"unsigned": 2**32 - 1, "int": 2**31 - 1, "size_t": 2**64 - 1, "long long": 2**63 - 1}[kind]
    lengths = rng.integers(0, 6, N)
    starts = [0, *(int(x) for x in np.cumsum(lengths))]
    return [x + (most - starts[-1]) * (shape % 2) for x in starts]


@pytest.mark.parametrize("kind", ["unsigned", "int", "size_t", "long long"])
@pytest.mark.parametrize("name", KERNELS)
def test_what_is_left_out_changes_no_run(name: str, kind: str, tmp_path: Path) -> None:
    reading = read(KERNELS[name], kind, tmp_path)
    made = under(reading, RISING)
    whole = replace(reading, kernel=replace(reading.kernel, body=reading.written))
    rng = np.random.default_rng(5)
    tried = 0
    for shape in range(8):
        row = rows(shape, kind, rng)
        if any(broken(c, {}, {"row": row}) is not None for a, span in made.spans for c in within(a, span)):
            continue
        tried += 1
        col = [int(x) for x in rng.integers(0, 11, 90)]
        assert outcome(made, row, col) == outcome(whole, row, col), row
    assert tried >= 4


@pytest.mark.parametrize(
    ("name", "kind", "span"),
    [
        ("rows", "unsigned", None),
        ("rows", "int", None),
        ("lengths", "unsigned", None),
        ("lengths", "size_t", (0, 2**63 - 1)),
        ("strides", "unsigned", (0, 2**31 - 1)),
        ("strides", "size_t", (0, 2**63 - 1)),
        ("ints", "unsigned", (0, 2**31 - 1)),
        ("ints", "size_t", (0, 2**31 - 1)),
        ("ints", "long long", (-(2**31), 2**31 - 1)),
        ("mixed", "unsigned", (0, 2**31 - 1)),
        ("unsigned counter", "int", (0, 2**31 - 1)),
    ],
)
def test_no_reduction_is_left_under_what_is_said(
    name: str, kind: str, span: tuple[int, int] | None, tmp_path: Path
) -> None:
    made = under(read(KERNELS[name], kind, tmp_path), RISING)
    assert masks(made) == 0
    assert dict(made.spans).get("row") == span


@pytest.mark.parametrize(
    "contracts",
    [
        [],
        ["forall i in [0, n - 1): row[i] <= row[i + 1]"],
        ["forall i in [1, n): row[i] <= row[i + 1]"],
        ["forall i in [0, n): row[i + 1] <= row[i]"],
        ["forall i in [0, n): row[i] <= row[i + 2]"],
        ["forall i in [0, n): col[i] <= col[i + 1]"],
    ],
)
def test_a_difference_may_wrap_around_where_no_contract_says_that_it_is_positive(
    contracts: list[str], tmp_path: Path
) -> None:
    assert masks(under(read(KERNELS["lengths"], "unsigned", tmp_path), *contracts)) > 0


def test_an_index_that_changes_between_two_reads(tmp_path: Path) -> None:
    changed = "KIND s = row[r]; r = r / 2; KIND len"
    reading = read(KERNELS["lengths"].replace("KIND s = row[r], len", changed), "unsigned", tmp_path)
    assert masks(under(reading, RISING)) > 0
