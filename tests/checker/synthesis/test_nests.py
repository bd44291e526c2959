"""Nests of loops, of three and more, and those that one thread alone goes through: bounds beside runs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from logic.potentials import Leaf, evaluate
from logic.syntax import Param
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
