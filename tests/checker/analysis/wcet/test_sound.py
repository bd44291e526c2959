"""Kernels whose instructions all cost, certified bounds on them, and blocks on processors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, note, reject
from hypothesis import strategies as st

from checker.analysis.wcet import sound
from checker.analysis.wcet.lanes import Unbounded
from logic.metrics import Metric
from logic.potentials import const, max0, sym
from logic.syntax import (
    FLOAT,
    INT,
    Array,
    Assign,
    Const,
    Decl,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    seq,
    show_stmt,
)
from semantics import grid
from semantics.events import Dim
from semantics.grid import BarrierDivergence
from semantics.lockstep import StepLimit
from semantics.machine.arithmetic import RunProblem
from semantics.machine.blocks import run_kernel
from semantics.machine.trace import Deadlock, Endless
from tests.checker.analysis.wcet.launches import LIMIT, outline
from tests.checker.programs import BODIES, TINY
from tests.checker.programs import kernel as plain
from tests.examples import examples
from tests.semantics.blocks import DIM, RACE_FREE
from tests.semantics.blocks import kernel as of_block

MANY = examples(25, 2000)
X, TID, N = Var("x"), Tid("x"), Param("n")


def both(k: Kernel, block: Dim, args: dict[str, int], arrays: dict[str, list[int]], warp: int) -> tuple[int, int]:
    """What the machine issues, and what the visible kernel costs by the lock-step semantics."""
    visible = sound.visible(outline(k, block, (1, 1, 1), warp), block).kernel
    hardware = replace(TINY, warp=warp)
    try:
        done = run_kernel(k, block, (1, 1, 1), args, arrays, warp, 3, step_limit=LIMIT)
        cost = grid.run(visible, block, (1, 1, 1), args, arrays, (sound.COMPILED.issued,), hardware, step_limit=50_000)
    except (BarrierDivergence, Deadlock, Endless, RunProblem, StepLimit):
        reject()
    return done.issued, int(cost.totals["instructions"])


# --- what is issued --------------------------------------------------------------------------------------------------


@MANY
@given(BODIES, st.integers(1, 2), st.integers(1, 2), st.integers(-4, 9), st.lists(st.integers(-3, 9), max_size=8))
def test_a_visible_kernel_costs_what_its_warp_issues(body: Stmt, x: int, y: int, n: int, cells: list[int]) -> None:
    note(show_stmt(body))
    issued, cost = both(plain(body), (x, y, 1), {"n": n, "m": 3}, {"G": cells}, 4)
    assert issued == cost


@MANY
@given(RACE_FREE, st.integers(-2, 6), st.lists(st.integers(-3, 9), max_size=8), st.integers(1, 11))
def test_a_visible_kernel_costs_what_its_warps_issue(body: Stmt, n: int, cells: list[int], warp: int) -> None:
    note(show_stmt(body))
    issued, cost = both(of_block(body), DIM, {"n": n, "m": 3}, {"H": cells}, warp)
    assert issued == cost


def _without(prices: sound.Prices, name: str) -> sound.Prices:
    fixed = {c: p for c, p in prices.issued.fixed.items() if c != name}
    counted = {c: p for c, p in prices.issued.counted.items() if c != name}
    return replace(prices, issued=Metric("instructions", fixed, counted))


TELLING = seq(
    Assign("x", TID),
    While(Op(">", (X, Const(0))), Assign("x", Op("-", (X, Const(1))))),
    If(Op("<", (TID, Const(2))), Assign("x", Read("G", TID)), Assign("x", Read("S", TID))),
    Write("S", TID, X),
    Sync(),
    Write("G", TID, X),
)
G, S = Array("G", "global", INT, 4), Array("S", "shared", INT, 4)


def telling() -> tuple[int, int]:
    return both(Kernel("k", (), (G, S), (Decl("x", INT),), TELLING), (4, 1, 1), {}, {}, 4)


@pytest.mark.parametrize("price", [*sound.COMPILED.issued.fixed, *sound.COMPILED.issued.counted])
def test_no_price_can_be_left_out(price: str, monkeypatch: pytest.MonkeyPatch) -> None:
    issued, cost = telling()
    assert issued == cost
    monkeypatch.setattr(sound, "COMPILED", _without(sound.COMPILED, price))
    issued, cost = telling()
    assert issued > cost


def test_no_tick_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound, "_visible", lambda block: block)
    issued, cost = telling()
    assert issued > cost


def test_a_span_has_the_latency_of_each_load() -> None:
    cycles = sound.COMPILED.span(10)
    assert [cycles.count("gread", 5), cycles.count("gwrite", 5), cycles.cost("if")] == [11, 2, 2]


# --- certified -------------------------------------------------------------------------------------------------------


def certified(
    body: Stmt, block: Dim = (8, 1, 1), warp: int = 4, meet: bool = True, alike: bool = False
) -> sound.Certified:
    k = Kernel("k", (Decl("n", INT),), (G, S), (Decl("x", INT), Decl("y", FLOAT)), body)
    return sound.certify(sound.visible(outline(k, block, (1, 1, 1), warp), block), sound.COMPILED, 10, meet, alike)


COUNTED = seq(
    Assign("x", Const(0)),
    While(Op("<", (X, N)), seq(Assign("y", Op("as:float", (Read("G", TID),))), Assign("x", Op("+", (X, Const(1)))))),
)


def test_a_formula_in_the_parameters() -> None:
    bounds = certified(COUNTED)
    n = max0(sym(N))
    assert bounds.issued == n * 2 * (1 + 2 + 2 + 1 + 1) + const(2 * (1 + 1 + 2))
    assert bounds.loads == n
    assert bounds.cycles(10) == bounds.issued + n * 9
    assert bounds.work_span == bounds.issued + n * (7 + 9) + const(4)
    assert {r.verdict for r in bounds.results} == {"certified"}


def test_warps_that_are_alike_issue_the_same() -> None:
    assert certified(COUNTED, alike=True).issued == certified(COUNTED).issued
    first = If(Op("<", (TID, Const(4))), COUNTED, Skip())
    n = max0(sym(N))
    assert certified(first, alike=True).issued - certified(first).issued == n * 7 + const(4)


def test_without_barriers_the_loads_of_one_warp_count() -> None:
    """Half of the warps load: at scope `block` both ways would."""
    body = If(Op("<", (TID, Const(4))), Assign("x", Read("G", TID)), Assign("x", Read("S", TID)))
    assert certified(body).loads == const(1)


BETWEEN = seq(
    If(Op("<", (TID, Const(4))), Assign("x", Read("G", TID)), Skip()),
    Sync(),
    If(Op("<", (TID, Const(4))), Skip(), Assign("x", Read("S", TID))),
)


def test_with_barriers_the_loads_of_each_interval_count() -> None:
    """A warp loads before the barrier, the other behind it: no warp loads twice, but two stalls follow one another."""
    bounds = certified(BETWEEN)
    assert bounds.loads == const(2)
    assert [r.claim.context.scope for r in bounds.results if r.claim] == ["warp", "block", "block"]
    k = Kernel("k", (), (G, S), (Decl("x", INT),), BETWEEN)
    done = run_kernel(k, (8, 1, 1), (1, 1, 1), {}, {}, 4, 1000)
    assert done.cycles > 2 * 999


def test_where_barriers_do_not_meet_all_loads_count() -> None:
    twice = seq(Assign("x", Read("G", TID)), Sync())
    assert certified(twice).loads == const(1)
    assert certified(twice, meet=False).loads == const(2)
    assert certified(If(Op("<", (TID, Const(4))), twice, Skip())).loads == const(1)
    alone = If(Op("<", (TID, N)), twice, Skip())
    assert certified(alone).loads == const(2)
    assert certified(alone).span is None


def test_no_bound_says_which_loop() -> None:
    with pytest.raises(Unbounded, match="no bound on the instructions: no potential was found for this loop"):
        certified(While(Op("<", (Read("G", TID), N)), Assign("x", TID)))


def test_bounds_are_rounded_down() -> None:
    half = sym(N) * Fraction(1, 2)
    assert sound.bound_at(half, {"n": 7}) == 3
    assert sound.bound_at(half, {}) is None
    assert sound.bound_at(sym(Param("blockIdx.y")) * 5, {}, (1, 2, 3)) == 10


def test_which_bounds_differ_between_blocks() -> None:
    assert sound.depends_on_block((const(1), sym(Param("blockIdx.x"))))
    assert not sound.depends_on_block((const(1), sym(N)))


# --- processors ------------------------------------------------------------------------------------------------------


def test_blocks_go_to_the_processor_that_is_free_first() -> None:
    assert sound.makespan([3, 1, 1, 1], 2) == 3
    assert sound.makespan([1, 1, 3], 2) == 4
    assert sound.makespan([5] * 7, 3) == 15
    assert sound.makespan([5], 10) == 5


def test_blocks_that_take_less_never_make_it_later() -> None:
    for blocks in product(range(4), repeat=4):
        for shorter in product(*(range(b + 1) for b in blocks)):
            for processors in (2, 3):
                assert sound.makespan(shorter, processors) <= sound.makespan(blocks, processors)
