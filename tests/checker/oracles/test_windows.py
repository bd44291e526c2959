"""Accesses of lanes whose indices are in a window that they share, in both checkers."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest

from checker.notation import parse_expr
from checker.oracles.windows import windows
from logic.assertions import Context, Launch
from logic.facts import value_where
from logic.metrics import HARDWARE, METRICS
from logic.potentials import const
from logic.syntax import BUILTINS, INT, Op, Param, Tid, Var
from logic.typing import Signature
from tests.checker.synthesis import bounded

SIGMA: Final = Signature({"y": INT}, dict.fromkeys((*BUILTINS, "n"), INT), {})
CONTEXT: Final = Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))


@pytest.mark.parametrize(
    ("step", "low", "high", "by", "most"),
    [  # of lanes that are `step` apart, those from n + low to n + high access the element y / by
        (1, 0, 0, 1, 1),
        (2, -1, 0, 1, 2),
        (1, -1, 1, 1, 2),
        (1, 0, 8, 1, 2),
        (1, 0, 9, 1, 3),
        (3, -1, 1, 2, 2),
        (9, -3, 8, 4, 2),
    ],
)
def test_lanes_that_are_active_in_a_window_alone(step: int, low: int, high: int, by: int, most: int) -> None:
    tests = f"(y >= n + {low} && y <= n + {high})".replace("+ -", "- ")
    row = f"{step} * (32 * blockIdx.x + tid.x)"
    found = bounded.result(f"y <- {row}; if {tests} {{ x <- A[{'y' if by == 1 else f'y / {by}'}]; }} else {{ skip; }}")
    dearest = 0
    for n in range(400, 600):
        for block in range(20):
            active = [y for y in (step * (32 * block + t) for t in range(32)) if n + low <= y <= n + high]
            dearest = max(dearest, len({y // by * 4 // 32 for y in active}))
    assert dearest <= int(bounded.valid(found).constant) == most
    assert dearest == most or step > 1


@pytest.mark.parametrize(("rows", "most"), [(1, 1), (2, 2)])
def test_lanes_that_facts_of_multiples_tell(rows: int, most: int) -> None:
    """Of packs of 8 elements, that which the end of a row is in: what is between two multiples of 8 is none."""
    tests = f"((y + {rows}) * 8 > n && y * 8 + 3 < n)"
    found = bounded.result(f"y <- 32 * blockIdx.x + tid.x; if {tests} {{ x <- A[y * 8 + 3 + n]; }} else {{ skip; }}")
    dearest = 0
    for n in range(100, 132):
        ys = [y for y in range(32) if (y + rows) * 8 > n and y * 8 + 3 < n]
        dearest = max(dearest, len({(y * 8 + 3 + n) * 4 // 32 for y in ys}))
    assert dearest <= int(bounded.valid(found).constant) == most


@pytest.mark.parametrize(
    ("index", "span", "most"),
    [  # of y, which is n plus threadIdx.x
        ("y / 8 * 9 + y % 8", 35, 6),
        ("y % 16 + y / 16 * 20", 39, 6),
        ("y / 4 + y / 8", 12, 3),
        ("2 * (y / 16) - y / 8", 8, 2),
        ("y % 16 - y / 16 * 2", 67, 10),
    ],
)
def test_sums_of_quotients_and_rests_of_what_lanes_share_in_part(index: str, span: int, most: int) -> None:
    y, n = Var("y"), Param("n")
    whole = parse_expr(index, SIGMA)
    p = (Op("==", (y, Op("+", (n, Tid("x"))))),)
    found = [*windows(whole, p, frozenset(), CONTEXT, 100)]
    assert found[0][1] == span
    for number, (start, apart) in product(range(-300, 300), found):
        first = value_where(start, {n: number, Param("warp.index"): 0})
        for t in range(32):
            assert 0 <= (value_where(whole, {y: number + t}) or 0) - (first or 0) <= apart
    bound = bounded.valid(bounded.result(f"y <- m * n + tid.x; x <- A[{index}];"))
    assert bound == const(most)
