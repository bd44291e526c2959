"""Loops that end by what they read, in forms that real kernels have, with contracts that bound them."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.synthesis.asker import ASKED, SOLVED, Asker
from tests.checker.test_contracts import bound

FOUND = """
__global__ void found(int *parent, int *out, int n, int most) {
    int v = blockIdx.x * blockDim.x + threadIdx.x, u = v;
    if (v >= n) return;
    //@ loop turns <= most;
    while (parent[u] != u) {
        parent[u] = parent[parent[u]];
        u = parent[u];
    }
    out[v] = u;
}
"""

SLICED = """
//@ requires forall i in [0, slices): start[i] <= start[i + 1];
__global__ void sliced(const int *start, const int *col, const float *val, const float *x, float *y, int slices) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, slice = t / 32, lane = t % 32;
    if (slice >= slices) return;
    float sum = 0;
    for (int j = start[slice] + lane; j < start[slice + 1]; j += 32) sum += val[j] * x[col[j]];
    y[t] = sum;
}
"""

UNTIL = """
__global__ void until(const int *A, int *out, int n) {
    int i = 0, x = 0;
    bool go = true;
    while (x != 5 && go) {
        x = A[i];
        i = i + 1;
        go = i < n;
    }
    out[threadIdx.x] = x;
}
"""

MET = """
//@ requires forall i in [0, n): row[i] <= row[i + 1];
//@ requires forall i in [0, n): row[i + 1] - row[i] <= most;
__global__ void met(const int *row, const float *val, float *y, int n, int most) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    float sum = 0;
    int end = row[r + 1];
    for (int j = row[r]; j != end; ++j) sum += val[j];
    y[r] = sum;
}
"""


SEGMENTS = """
//@ requires forall i in [0, n): 0 <= first[i] && first[i] <= 30;
//@ requires forall i in [0, n): 10 <= last[i] && last[i] <= most;
__global__ void segments(const int *first, const int *last, const float *val, float *y, int n, int most) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    float sum = 0;
    for (int j = first[t]; j < last[t]; j++) sum += val[j];
    y[t] = sum;
}
"""


CELLS = """
//@ requires forall c in [0, gx * gy): 0 <= last[c] - first[c] && last[c] - first[c] <= crowd;
__global__ void cells(const int *first, const int *last, const int *px, const int *py, int *out, int gx, int gy,
                      int crowd) {
    int x = px[threadIdx.x], y = py[threadIdx.x], found = 0;
    if (x < 0 || y < 0 || x >= gx || y >= gy) return;
    int cell = y * gx + x;
    for (int j = first[cell]; j < last[cell]; j++) found += j;
    out[threadIdx.x] = found;
}
"""


@pytest.mark.parametrize(
    ("source", "most"),
    [
        (MET, "13 + 32*max(0, most)"),
        (FOUND, "36 + 160*max(0, most)"),
        (SLICED, "6 + 43*max(0, ceil((start[min(1 + 4*blockIdx.x + warp.index, slices)]"),
        (UNTIL, "5 + max(0, n - 1)"),
        (SEGMENTS, "12 + 9*max(0, most)"),
        (CELLS, "76 + 32*max(0, crowd)"),
    ],
    ids=[
        "until the end of a row is met",
        "union-find with path halving",
        "sliced ELL",
        "until an element is 5",
        "begin and end limited apart",
        "cells of a grid of two dimensions",
    ],
)
def test_loops_that_end_by_what_they_read(
    source: str, most: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bound(source, tmp_path, "--metric", "sectors") == 0
    assert f"sectors <= {most}" in " ".join(capsys.readouterr().out.split())


def test_a_bound_by_widths_is_found_however_late_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of a warp are tried first, and nothing bounds them: where a bound is missing, time is left for more."""
    monkeypatch.setattr(Asker, "spent", lambda _: (SOLVED + ASKED) / 2)
    assert bound(MET, tmp_path, "--metric", "steps") == 0
