"""Branches by how many lanes take them: bounds that no run exceeds, and that pay for no lane on both sides."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.flow import analyse
from checker.synthesis.guards import lane_ends
from checker.synthesis.nodes import Fork
from checker.synthesis.outline import Outline, bare
from checker.synthesis.partial import ranges_of
from logic.assertions import Context, Launch, P, X
from logic.facts import Facts
from logic.metrics import HARDWARE, METRICS
from logic.potentials import evaluate
from logic.syntax import WARP_INDEX, Const, Expr, Op, Param
from logic.typing import Signature, check_kernel
from semantics.grid import run
from tests.checker.synthesis.bounded import of_body

NUMBERS = (-5, 0, 1, 2, 7, 8, 9, 10, 17, 30, 31, 32, 33, 34, 40, 63, 64, 65, 100)


@pytest.mark.parametrize(
    ("body", "block", "most", "dearest"),
    [
        ("if (t < n) B[16 * t] = 1; else B[t + 2] = 1;", (32, 1, 1), 32, 32),
        ("if (t >= n) B[16 * t] = 1; else B[t + 2] = 1;", (64, 1, 1), 32, 32),
        ("if (n > t) x = A[t + m] + A[t + 2 * m]; else x = A[4 * t];", (32, 4, 1), 19, 18),
        ("if (2 * t < n) x = A[8 * t]; else B[8 * t] = 1;", (64, 1, 1), 34, 32),
        ("if (t < n) { if (m > 3) x = A[8 * t]; } else B[8 * t] = 1;", (16, 4, 1), 17, 16),
        ("for (int i = 0; i < 2; i++) { if (t < n) x += A[8 * t]; else B[8 * t] = 1; }", (32, 1, 1), 68, 64),
        ("if (m > 3 && n > t) x = A[t + m] + A[t + 2 * m]; else x = A[4 * t];", (32, 4, 1), 19, 18),
        ("if (t >= n || threadIdx.y >= m) B[16 * t] = 1; else B[8 * t + 2] = 1;", (32, 4, 1), 34, 32),
        ("int y = threadIdx.y; if (y < m) B[8*t + 256*y] = 1; else B[8*t + 256*y + 128] = 2;", (16, 4, 1), 32, 32),
        ("int y = threadIdx.y; if (t < n && y < m) B[8*t + 128*y] = 1; else B[t + 16*y] = 1;", (16, 4, 1), 32, 32),
        ("int y = threadIdx.y; if (t < n && y < m) B[8*t + 128*y] = 1; else B[8*t + 128*y] = 2;", (16, 4, 1), 36, 32),
        ("int y = threadIdx.y; if (t >= n || y >= m) B[8*t + 128*y] = 1; else B[8*t + 128*y] = 2;", (16, 4, 1), 36, 32),
        ("if (t < n && t >= m) B[8 * t] = 1; else B[8 * t] = 2;", (32, 1, 1), 52, 32),
    ],
)  # fmt: skip
def test_no_lane_is_paid_for_on_both_sides(
    tmp_path: Path, body: str, block: tuple[int, int, int], most: int, dearest: int
) -> None:
    k = of_body(tmp_path, body)
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch(block, (None, None, None)))
    (found,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["sectors"]], Oracles())
    assert found.verdict == "certified"
    assert found.q is not None
    points = [{"n": n, "m": m} for n in NUMBERS for m in (0, 3, 4, 9)]
    costs = [run(k, block, (1, 1, 1), at).max_per_warp["sectors"] for at in points]
    paid = [evaluate(found.q, {Param(name): v for name, v in at.items()}) for at in points]
    assert all(cost <= bound for cost, bound in zip(costs, paid, strict=True))
    assert max(paid) == most
    assert max(costs) == dearest


def test_the_ends_of_lanes_are_found_once_for_all_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[object]()

    def watched(cond: Expr, x: X, context: Context, facts: Facts, sigma: Signature, by_warps: bool = False) -> object:
        asked.append(cond)
        return lane_ends(cond, x, context, facts, sigma, by_warps)

    monkeypatch.setattr("checker.synthesis.partial.lane_ends", watched)
    k = of_body(tmp_path, "if (t < n) B[16 * t] = 1; else B[t + 2] = 1;")
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1), (None, None, None)))
    metrics = [METRICS["sectors"], replace(METRICS["sectors"], name="own")]
    first, second = find_bounds(Outline(k, context, bare(k.body)), metrics, Oracles(), judge=False)
    assert first.q == second.q
    assert first.q is not None
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("body", "block", "exact"),
    [
        ("if (i < n) B[i] = A[i];", 32, True),
        ("if (i < n) B[i] = A[i];", 16, True),
        ("if (i < n) B[2 * i] = n;", 8, True),
        ("if (i < n) B[i] = A[i + m];", 32, False),
    ],
)
def test_the_last_block_of_a_grid_pays_for_its_lanes(tmp_path: Path, body: str, block: int, exact: bool) -> None:
    """Also where a block is one warp, or a part of one. Steps that are not even have no sum in closed form."""
    k = of_body(tmp_path, f"int i = blockIdx.x * blockDim.x + t; {body}")
    launch = Launch((block, 1, 1), (4, 1, 1))
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], launch)
    (found,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["sectors"]], Oracles(), per="grid")
    assert found.verdict == "certified"
    assert found.claim is not None
    assert found.claim.bound is not None
    for n in NUMBERS:
        cost = run(k, (block, 1, 1), (4, 1, 1), {"n": n, "m": 3}).totals["sectors"]
        allowed = evaluate(found.claim.bound, {Param("n"): n})
        assert cost == allowed if exact else cost <= allowed


@pytest.mark.parametrize(("width", "dearer", "looks"), [(64, 0, True), (64, 16, False), (32, 0, False)])
def test_ranges_are_looked_for_in_one_warp_and_paid_for_in_all(
    width: int, dearer: int, looks: bool, tmp_path: Path
) -> None:
    """Each lane pays 1, whichever side it takes. Where other warps pay more, all are looked at."""
    k = of_body(tmp_path, "if (t < n) B[t] = 1; else B[t] = 2;")
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch((width, 1, 1)))
    flow = analyse(Outline(k, context, bare(k.body)), Oracles())
    (fork,) = (node for node in flow.nodes if isinstance(node, Fork))
    asked = Counter[bool]()

    def price(_: bool, facts: P) -> Fraction:
        one = Op("==", (Param(WARP_INDEX), Const(1))) in facts
        asked[one] += 1
        ends = {f.op: int(f.args[1].value) for f in facts if isinstance(f, Op) and isinstance(f.args[1], Const)}
        lanes = ends.get("<=", 32) if "<=" in ends else 33 - ends.get(">=", 1)
        return Fraction(lanes + (0 if one else dearer))

    assert ranges_of(fork, price, lambda _: False, context) is not None
    assert (asked[True] > 0) == (width > 32)
    assert (asked[False] < asked[True]) == looks
