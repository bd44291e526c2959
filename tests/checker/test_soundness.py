"""The one thing that has to hold: no run of the semantics costs more than a certified bound (Theorem 1)."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

from checker.oracles import Oracles
from checker.synthesis.bound import Per, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch, Scope
from logic.metrics import METRICS
from logic.potentials import Leaf, evaluate
from logic.syntax import Kernel, Param, Stmt, show_stmt
from logic.typing import check_kernel
from semantics import parallel
from semantics.grid import BarrierDivergence, run
from semantics.lockstep import StepLimit
from tests.checker.programs import BODIES, TINY, kernel
from tests.examples import examples

BLOCKS = ((4, 1, 1), (6, 1, 1), (8, 1, 1), (2, 2, 1), (3, 2, 1))


TWO: Final = tuple(combinations(METRICS.values(), 2))
"""Metrics that a program is bounded in, as its text's length has it."""


def accepted(k: Kernel, block: tuple[int, int, int], per: Per = "warp", scope: Scope = "warp") -> list[Any]:
    """The bounds that the kernel accepts, all barriers reached together; the second checker may refuse one of them."""
    context = Context(check_kernel(k), METRICS["steps"], TINY, Launch(block), scope)
    metrics = TWO[len(show_stmt(k.body)) % len(TWO)]
    results = find_bounds(Outline(k, context, bare(k.body)), metrics, Oracles(), per=per, judge=False)
    return [r for r in results if r.claim is not None and not r.ledger.barriers]


def store(args: dict[str, int], block: tuple[int, int, int], grid: int, index: int) -> dict[Leaf, int]:
    """The parameters of one block."""
    dims = {"blockDim": block, "gridDim": (grid, 1, 1), "blockIdx": (index, 0, 0)}
    builtins = {f"{name}.{axis}": d for name, dim in dims.items() for axis, d in zip("xyz", dim, strict=True)}
    return {Param(name): v for name, v in {**args, **builtins, "warpSize": TINY.warp}.items()}


@pytest.mark.whole
@examples(8, 500)
@given(BODIES, st.sampled_from(BLOCKS), st.data())
def test_no_run_costs_more_than_its_certified_bound(
    body: Stmt, block: tuple[int, int, int], data: st.DataObject
) -> None:
    k = kernel(body)
    results = accepted(k, block)
    event(f"accepted {len(results)}")
    for _ in range(4):
        args = {p: data.draw(st.integers(-3, 9)) for p in ("n", "m")}
        contents = {a: [data.draw(st.integers(-4, 9)) for _ in range(6)] for a in ("G", "H")}
        for grid in range(2):
            try:
                found = run(k, block, (grid + 1, 1, 1), args, contents, hardware=TINY, step_limit=3000)
            except StepLimit:
                continue
            for r in results:
                bounds = [evaluate(r.claim.bound, store(args, block, grid + 1, b)) for b in range(grid + 1)]
                note(f"{show_stmt(body)}\n{block} {args} {contents} {r.metric.name} <= {r.claim.bound}")
                assert found.max_per_warp[r.metric.name] <= max(bounds)


@pytest.mark.whole
@examples(4, 500)
@given(BODIES, st.sampled_from(BLOCKS), st.sampled_from(("block", "grid")), st.data())
def test_no_block_or_grid_costs_more_than_its_certified_bound(
    body: Stmt, block: tuple[int, int, int], per: Per, data: st.DataObject
) -> None:
    k = kernel(body)
    results = accepted(k, block, per)
    event(f"accepted {len(results)} per {per}")
    for _ in range(4):
        args = {p: data.draw(st.integers(-3, 20)) for p in ("n", "m")}
        contents = {a: [data.draw(st.integers(-4, 9)) for _ in range(6)] for a in ("G", "H")}
        for grid in (1, 3) if per == "grid" else (1,):
            try:
                found = run(k, block, (grid, 1, 1), args, contents, hardware=TINY, step_limit=3000)
            except StepLimit:
                continue
            for r in results:
                note(f"{show_stmt(body)}\n{block} {args} {contents} {r.metric.name} <= {r.claim.bound}")
                assert found.totals[r.metric.name] <= evaluate(r.claim.bound, store(args, block, grid, 0))


@pytest.mark.whole
@examples(4, 500)
@given(BODIES, st.sampled_from(BLOCKS), st.data())
def test_no_block_has_a_longer_span_than_certified(
    body: Stmt, block: tuple[int, int, int], data: st.DataObject
) -> None:
    """Theorem 3, p. 17, with the derivation for scope `block`."""
    k = kernel(body)
    results = accepted(k, block, scope="block")
    event(f"accepted {len(results)}")
    profiles = [parallel.alone(r.metric) for r in results]
    for _ in range(4):
        args = {p: data.draw(st.integers(-3, 20)) for p in ("n", "m")}
        contents = {a: [data.draw(st.integers(-4, 9)) for _ in range(6)] for a in ("G", "H")}
        try:
            found = parallel.run(k, block, (1, 1, 1), args, contents, profiles, TINY, step_limit=3000)
        except (StepLimit, BarrierDivergence):
            continue
        for r in results:
            note(f"{show_stmt(body)}\n{block} {args} {contents} {r.metric.name} <= {r.claim.bound}")
            pair = found.blocks[0][r.metric.name]
            bound = evaluate(r.claim.bound, store(args, block, 1, 0))
            assert pair.span <= bound
            assert pair.work <= bound * -(-block[0] * block[1] * block[2] // TINY.warp)
