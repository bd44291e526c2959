"""Points that a launch allows, and those that it does not."""

from __future__ import annotations

import pytest

from checker.claims import excluded
from checker.notation import parse_assumption, parse_kernel
from logic.assertions import Context, Dim, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.typing import check_kernel

KERNEL = parse_kernel("kernel k\nparam int n;\nglobal int A[];\nbegin\nA[n] <- 1;\nend", "k")
SIGMA = check_kernel(KERNEL)


def context(block: Dim = (96, 1, 1), grid: Dim = (None, 1, 1), given: str = "n >= 0") -> Context:
    facts = conj((parse_assumption(given, SIGMA, "given"),), SIGMA)
    return Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch(block, grid, facts))


@pytest.mark.parametrize(
    ("at", "fact"),
    [
        ({"n": 0}, None),
        ({"n": -1}, "n >= 0"),
        ({"blockDim.x": 96}, None),
        ({"blockDim.x": 64}, "blockDim.x == 96"),
        ({"gridDim.x": 0}, "gridDim.x >= 1"),
        ({"blockIdx.x": 2, "gridDim.x": 2}, "blockIdx.x < gridDim.x"),
        ({"blockIdx.x": 2}, None),
        ({"warp.index": 2}, None),
        ({"warp.index": 3}, "warp.index < 3"),
        ({"warp.index": -1}, "warp.index >= 0"),
    ],
)
def test_points(at: dict[str, int], fact: str | None) -> None:
    assert excluded(at, context()) == fact


def test_blocks_whose_size_is_given_with_the_point() -> None:
    symbolic = context(block=(None, 1, 1))
    assert excluded({"blockDim.x": 2000}, symbolic) == "blockDim.x <= 1024"
    assert excluded({"blockDim.x": 33, "warp.index": 1}, symbolic) is None
    assert excluded({"blockDim.x": 32, "warp.index": 1}, symbolic) == "warp.index < 1"
    assert excluded({"warp.index": 1}, symbolic) is None


def test_a_fact_that_is_not_worked_out_excludes_nothing() -> None:
    shifted = context(given="1 << n >= 0")
    assert excluded({"n": 100_000}, shifted) is None
