"""Branches in loops that part lanes in a few turns alone, and loops that these end."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import Result, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics.cuda import read_cuda
from semantics.grid import run
from tests.checker.synthesis.test_flags import valid
from tests.examples import LONG

SIZES = (0, 1, 5, 31, 32, 33, 63, 64, 100, 127, 128, 200)


def read(folder: Path, body: str) -> Kernel:
    path = folder / "k.cu"
    path.write_text(f"__global__ void k(int *A, int n, int m) {{ int t = threadIdx.x, x = 0; {body} A[t] = x; }}")
    return read_cuda(str(path)).kernel


def bounded(kernel: Kernel, metric: str) -> Result:
    sigma = check_kernel(kernel)
    context = Context(sigma, METRICS[metric], HARDWARE["nvidia"], Launch((64, 1, 1), (1, 1, 1)), "warp")
    (found,) = find_bounds(Outline(kernel, context, bare(kernel.body)), (METRICS[metric],), Oracles())
    return found


STRIDE, DOWN = "for (int i = t; i < n; i += 64)", "for (int j = n - 1; j >= 0; j--)"


@pytest.mark.parametrize(
    ("body", "most"),
    [  # the test of the branch, that of the loop after a turn in which some lanes left, and that of the loop at its end
        *([(f"{STRIDE} {{ if (i > m) break; x += 3; }}", 4)] if LONG else []),  # dear, all but one
        *([(f"{STRIDE} {{ x += 3; if (i == m) break; }}", 3)] if LONG else []),
        (f"{STRIDE} {{ if (i < m) x += 3; }}", 2),
        # lanes leave in the first turn alone: what is below m stays so
        *([(f"{DOWN} {{ if (t + j >= m) break; x += 3; }}", 2)] if LONG else []),
    ],
)
def test_branches_part_lanes_a_few_times(tmp_path: Path, body: str, most: int) -> None:
    kernel = read(tmp_path, body)
    found = bounded(kernel, "divwarps")
    for n, m in product(SIZES, SIZES):
        cost = run(kernel, (64, 1, 1), (1, 1, 1), {"n": n, "m": m}).max_per_warp["divwarps"]
        assert cost <= valid(found, n, m) <= most, (n, m)


def test_what_is_data_may_part_lanes_in_all_turns(tmp_path: Path) -> None:
    found = bounded(read(tmp_path, "for (int j = 0; j < n; j++) { if (A[t] > m) break; x += 3; }"), "divwarps")
    assert valid(found, 31, 0) >= 2 * 31 - 1


def test_sides_are_paid_for_when_they_are_taken(tmp_path: Path) -> None:
    """Both in the one turn in which lanes are parted, else one: 4 sectors a warp."""
    kernel = read(tmp_path, f"{STRIDE} {{ if (i < m) x += A[t]; else x += A[t + 32]; }}")
    found = bounded(kernel, "sectors")
    for n, m in product(SIZES, SIZES):
        cost = run(kernel, (64, 1, 1), (1, 1, 1), {"n": n, "m": m}).max_per_warp["sectors"]
        assert cost <= valid(found, n, m) <= 4 * (n // 64 + 3), (n, m)
