"""Nests of loops, those of one thread alone, and limits that functions compute: bounds beside runs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from logic.potentials import Leaf, evaluate
from logic.syntax import Param
from semantics.cuda import read_cuda
from semantics.grid import run
from tests.checker.synthesis.bounded import bounds, of_body

GRID = "blockDim.x * gridDim.x"
STRIDE = f"for (int k = blockIdx.x * blockDim.x + t; k < n; k += {GRID})"


@pytest.mark.parametrize(
    ("loops", "bound"),
    [
        # three factors that are positive, and their product
        (
            "for (int i = 0; i < 3; i++) for (int j = m; j < n; j += 2) for (int k = 0; k < n; k++)",
            "3*max(0, n)*max(0, ceil((n - m)/2))",
        ),
        (
            "for (int i = 0; i < 3; i++) for (int j = m; j < n; j++) for (int k = t; k < n; k += 64)",
            "3*max(0, n - m)*max(0, ceil(n/64))",
        ),
        (
            f"for (int i = 0; i < 3; i++) for (int j = m; j < n; j += 2) {STRIDE}",
            "3*max(0, ceil((n - m)/2))*max(0, trunc((64*gridDim.x + n - 1)/(64*gridDim.x)))",
        ),
        # of two rests, the one that begins where the other has moved on is the smaller
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = i; k < j; k++)",
            "max(0, m - 1)*max(0, m)*max(0, n)",
        ),
        # one thread, whose index is the block's: nothing else of it is known where the loop begins
        (f"if (t == 0) {STRIDE}", "max(0, trunc((64*gridDim.x + n - 1)/(64*gridDim.x)))"),
    ],
)
def test_a_nest(tmp_path: Path, loops: str, bound: str) -> None:
    k = of_body(tmp_path, f"{loops} B[0] = x;")
    (found,) = bounds(k, (64, 1, 1), ["sectors"])
    assert (str(found.q), found.verdict) == (bound, "certified")
    assert found.q is not None
    for n, m, grid in product((0, 1, 5, 11), (-2, 0, 3), (1, 2)):
        cost = run(k, (64, 1, 1), (grid, 1, 1), {"n": n, "m": m}).max_per_warp["sectors"]
        at: dict[Leaf, int] = {Param("n"): n, Param("m"): m, Param("gridDim.x"): grid}
        assert cost <= evaluate(found.q, at)


DIVIDED = "__device__ int divided(int size, int by) { return (size + by - 1) / by; }\n"


@pytest.mark.parametrize(
    ("loops", "bound"),
    [
        ("for (int i = 0; i < divided(n, 4); i++) x += A[0];", "max(0, floor((3 + n)/4))"),
        ("for (int i = t; i < divided(n, 4); i += 64) x += A[i];", "4*max(0, ceil(floor((3 + n)/4)/64))"),
    ],
)
def test_a_limit_that_a_function_computes(tmp_path: Path, loops: str, bound: str) -> None:
    """In each turn its parameters are assigned what they were before."""
    path = tmp_path / "k.cu"
    kernel = f"__global__ void k(int *A, int *B, int n) {{ int t = threadIdx.x, x = 0; {loops} {loops} B[0] = x; }}"
    path.write_text(DIVIDED + kernel)
    k = read_cuda(str(path)).kernel
    (found,) = bounds(k, (64, 1, 1), ["sectors"])
    twice = f"1 + 2*{bound}" if bound.startswith("max") else f"1 + 8{bound[1:]}"
    assert (str(found.q), found.verdict) == (twice, "certified")
    assert found.q is not None
    for n in (0, 1, 255, 256, 257, 600):
        cost = run(k, (64, 1, 1), (1, 1, 1), {"n": n}).max_per_warp["sectors"]
        assert cost <= evaluate(found.q, {Param("n"): n})
