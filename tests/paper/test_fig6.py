"""Fig. 6, p. 16, taken literally, and what section 5 says of it: `tricky`, Lemmas 2 and 3, warps on their own."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from logic.metrics import METRICS, Metric
from logic.syntax import (
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    seq,
)
from logic.typing import check_kernel
from semantics import grid
from semantics.events import Event, Thread, Threads
from semantics.lockstep import Cost, Machine, StepLimit, Store, evaluate, linear, warp_of
from semantics.lockstep import execute as lockstep
from semantics.parallel import TIME, BlockMachine, Profile, alone, execute, pairs, run, work_and_span
from tests.checker.programs import BODIES, CONDITIONS, EXPRESSIONS, PARAMS, TINY
from tests.examples import examples
from tests.semantics.blocks import DIM, RACE_FREE, TID, k, kernel, op, with_barriers

PROFILES = (*map(alone, METRICS.values()), TIME)
BLOCK = tuple(Thread((0, 0, 0), (x, y, 0)) for y in range(2) for x in range(5))  # warps of 4, 4 and 2 threads
BUILTINS = {f"{n}.{a}": 1 for n in ("blockDim", "gridDim", "blockIdx") for a in "xyz"}
SETTINGS = examples(12, 2000)
STORES = st.builds(
    lambda g, s, xs: Store(
        {"G": dict(enumerate(g)), "S": dict(enumerate(s))}, {"i": dict(zip(BLOCK, xs, strict=True))}
    ),
    *[st.lists(st.integers(-3, 9), max_size=6)] * 2,
    st.lists(st.integers(-2, 5), min_size=10, max_size=10),
)
ARGS = st.fixed_dictionaries({p: st.integers(-2, 6) for p in PARAMS})
THREADS = st.sets(st.sampled_from(BLOCK), min_size=1).map(lambda t: tuple(sorted(t, key=BLOCK.index)))


def machine(args: dict[str, int], profiles: tuple[Profile, ...] = PROFILES, limit: int = 300) -> BlockMachine:
    sigma = check_kernel(kernel(Skip()))
    params = {**args, **BUILTINS, "blockDim.x": 5, "blockDim.y": 2, "warpSize": 4}
    return BlockMachine(sigma, params, DIM, (), TINY, step_limit=limit, profiles=profiles)


def plainly(m: BlockMachine, metrics: tuple[Metric, ...]) -> Machine:
    return Machine(m.sigma, m.params, m.block, metrics, m.hardware, step_limit=m.step_limit)


# --- the figure, taken literally -------------------------------------------------------------------------------------

Collection = list[tuple[Fraction, Fraction]]


class Literal:
    """The rules as printed, for one profile, with values by the lock-step semantics; nothing runs on an empty T."""

    def __init__(self, m: BlockMachine, profile: Profile) -> None:
        self.m, self.profile, self.steps = m, profile, 0

    def plus(
        self, c: Collection, t: Threads, constant: str, array: str = "", r: dict[Thread, int] | None = None
    ) -> Collection:
        """C (+)_T (M_w.constant, M_s.constant)"""
        after = list(c)
        for w in {warp_of(u, self.m)[1] for u in t}:
            mine = [u for u in t if warp_of(u, self.m)[1] == w]
            after[w] = tuple(
                x + self.price(p, constant, array, [r[u] for u in mine] if r else [])
                for x, p in zip(c[w], (self.profile.work, self.profile.span), strict=True)
            )  # type: ignore[assignment]
        return after

    def price(self, metric: Metric, constant: str, array: str, indices: list[int]) -> Fraction:
        if not array:
            return metric.cost(constant)
        a = self.m.sigma.arrays[array]
        bytes_ = {a.stride * i + a.offset + b for i in indices for b in range(a.width)}
        if a.space == "global":
            return metric.count(constant, len({b // TINY.sector for b in bytes_}))
        words = {b // TINY.word for b in bytes_}
        return metric.count(constant, max(sum(w % TINY.banks == bank for w in words) for bank in range(TINY.banks)))

    def expr(self, e: Expr, sigma: Store, c: Collection, t: Threads) -> tuple[dict[Thread, int], Collection]:
        r: dict[Thread, int] = evaluate(e, sigma, t, plainly(self.m, ()))[0]  # type: ignore[assignment]
        match e:
            case Var() | Tid():
                return r, self.plus(c, t, "var")
            case Const():
                return r, self.plus(c, t, "const")
            case Param():
                return r, self.plus(c, t, "param")
            case Op(_, args):
                for a in args:
                    _, c = self.expr(a, sigma, c, t)
                return r, self.plus(c, t, "op")
            case Read(array, index):
                r1, c = self.expr(index, sigma, c, t)
                return r, self.plus(c, t, self.m.sigma.arrays[array].space[0] + "read", array, r1)

    def stmt(self, s: Stmt, sigma: Store, c: Collection, t: Threads) -> tuple[Store, Collection]:
        self.steps += 1
        assume(self.steps < 300)
        if not t:
            return sigma, c
        match s:
            case Skip() | Assume():
                return sigma, c
            case Sync():
                assert t == BLOCK
                return sigma, self.plus([(w, max(span for _, span in c)) for w, _ in c], t, "sync")
            case Seq(stmts):
                for one in stmts:
                    sigma, c = self.stmt(one, sigma, c, t)
                return sigma, c
            case Assign(_, value):
                _, c = self.expr(value, sigma, c, t)
                return lockstep(s, sigma, t, plainly(self.m, ()))[0], self.plus(c, t, "vwrite")
            case Write(array, index, value):
                r1, c = self.expr(index, sigma, c, t)
                _, c = self.expr(value, sigma, c, t)
                after = lockstep(s, sigma, t, plainly(self.m, ()))[0]
                return after, self.plus(c, t, self.m.sigma.arrays[array].space[0] + "write", array, r1)
            case If(cond, then, orelse):
                r, c = self.expr(cond, sigma, c, t)
                yes, no = tuple(u for u in t if r[u]), tuple(u for u in t if not r[u])
                sigma, c = self.stmt(then, sigma, c, yes)
                sigma, c = self.stmt(orelse, sigma, c, no)
                return sigma, self.plus(self.plus(c, t, "if"), self.torn(yes, no), "div")
            case While(cond, body):
                r, c = self.expr(cond, sigma, c, t)
                yes, no = tuple(u for u in t if r[u]), tuple(u for u in t if not r[u])
                sigma, c = self.stmt(body, sigma, c, yes)
                sigma, c = self.stmt(s, sigma, c, yes)
                return sigma, self.plus(self.plus(c, t, "if"), self.torn(yes, no), "div")

    def torn(self, yes: Threads, no: Threads) -> Threads:
        return tuple(u for u in yes if any(warp_of(u, self.m) == warp_of(v, self.m) for v in no))


SYNCED = st.builds(with_barriers, st.lists(BODIES, min_size=1, max_size=3), st.booleans())


@pytest.mark.whole
@SETTINGS
@given(SYNCED, STORES, ARGS, st.sampled_from(PROFILES))
def test_the_rules_are_those_of_the_figure(s: Stmt, store: Store, args: dict[str, int], profile: Profile) -> None:
    m = machine(args)
    try:
        after, c = execute(s, store, BLOCK, m)
    except StepLimit:
        assume(False)
    printed, family = Literal(m, profile).stmt(s, store, [(Fraction(0), Fraction(0))] * 3, BLOCK)
    assert (printed, family) == (after, [tuple(w[profile.name]) for w in pairs(c, m)])
    event(f"{sum(w != family[0] for w in family)} warps differ from warp 0")


# --- Lemmas 2 and 3 --------------------------------------------------------------------------------------------------

PARTS = len(machine({}).nothing.parts)
"""How many numbers a collection has: work and span of each warp, in each profile."""
COLLECTIONS = st.lists(st.fractions(0, 20, max_denominator=3), min_size=PARTS, max_size=PARTS).map(
    lambda xs: Cost(tuple(xs))
)


def check_lemma(c: Cost, after: Cost, t: Threads, m: BlockMachine, works: Cost, spans: Cost) -> None:
    """W(C') - W(C) <= C_w |warps(T)|,  S(C') - S(C) <= C_s."""
    warps = len({warp_of(u, m) for u in t})
    before, behind = work_and_span(c, m), work_and_span(after, m)
    for p, c_w, c_s in zip(PROFILES, works.parts, spans.parts, strict=True):
        assert behind[p.name].work - before[p.name].work <= c_w * warps
        assert behind[p.name].span - before[p.name].span <= c_s


WORKS, SPANS = tuple(p.work for p in PROFILES), tuple(p.span for p in PROFILES)


@pytest.mark.whole
@SETTINGS
@given(EXPRESSIONS | CONDITIONS, STORES, ARGS, THREADS, COLLECTIONS)
def test_lemma_2(e: Expr, store: Store, args: dict[str, int], t: Threads, c: Cost) -> None:
    m = machine(args)
    r, own = evaluate(e, store, t, m)
    (r_w, c_w), (r_s, c_s) = (evaluate(e, store, t, plainly(m, metrics)) for metrics in (WORKS, SPANS))
    assert r == r_w == r_s
    check_lemma(c, c + own, t, m, c_w, c_s)


@pytest.mark.whole
@SETTINGS
@given(BODIES, STORES, ARGS, THREADS, COLLECTIONS)
def test_lemma_3(s: Stmt, store: Store, args: dict[str, int], t: Threads, c: Cost) -> None:
    holds_lemma_3(s, store, args, t, c)


@pytest.mark.whole
@SETTINGS
@given(SYNCED, STORES, ARGS, COLLECTIONS)
def test_lemma_3_with_barriers(s: Stmt, store: Store, args: dict[str, int], c: Cost) -> None:
    holds_lemma_3(s, store, args, BLOCK, c)


def holds_lemma_3(s: Stmt, store: Store, args: dict[str, int], t: Threads, c: Cost) -> None:
    m = machine(args)
    try:
        after, behind = execute(s, store, t, m, c)
    except StepLimit:
        assume(False)
    (after_w, c_w), (after_s, c_s) = (lockstep(s, store, t, plainly(m, metrics)) for metrics in (WORKS, SPANS))
    assert after == after_w == after_s
    check_lemma(c, behind, t, m, c_w, c_s)


def test_the_lemmas_are_tight_and_lock_step_costs_of_a_part_are_not_enough() -> None:
    """Two warps at one addition: the work is twice the lock-step cost."""
    m = machine({"n": 0, "m": 0})
    s, t = Assign("i", op(Var("i"), "+", k(1))), BLOCK[:8]
    found = work_and_span(execute(s, Store(), t, m)[1], m)
    lock_step = lockstep(s, Store(), t, plainly(m, (METRICS["steps"],)))[1]
    assert lock_step.parts[0] == found["steps"].span == 4
    assert found["steps"].work == 2 * 4


# --- race-free programs: warps on their own --------------------------------------------------------------------------


def span_of_turns(k: Kernel, args: dict[str, int], contents: dict[str, list[int]], metric: Metric) -> list[Fraction]:
    """Of each block, the dearest warp's cost of each phase, summed: by the events of the warps' lock-step runs."""
    phases: dict[tuple[int, int], dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    number: dict[tuple[int, int], int] = defaultdict(int)

    def see(e: Event) -> None:
        block, warp = e.threads[0].block[0], linear(e.threads[0].tid, DIM) // TINY.warp
        number[block, warp] += e.constant == "sync"
        price = metric.cost(e.constant) if e.count is None else metric.count(e.constant, e.count)
        phases[block, number[block, warp]][warp] += price

    grid.run(k, DIM, (2, 1, 1), args, contents, (), TINY, observer=see)
    return [sum((max(c.values()) for (b, _), c in phases.items() if b == block), Fraction(0)) for block in (0, 1)]


@pytest.mark.whole
@SETTINGS
@given(RACE_FREE, ARGS, st.lists(st.integers(-3, 9), min_size=8, max_size=8))
def test_without_races_work_and_span_are_those_of_warps_on_their_own(
    s: Stmt, args: dict[str, int], h: list[int]
) -> None:
    program, contents = kernel(s), {"H": h}
    found = run(program, DIM, (2, 1, 1), args, contents, PROFILES, TINY)
    apart = grid.run(program, DIM, (2, 1, 1), args, contents, tuple(METRICS.values()), TINY)
    assert found.whole.arrays == apart.arrays
    assert {m: found.whole.totals[m] for m in METRICS} == apart.totals
    assert {m: found.whole.max_per_warp[m] for m in METRICS} == apart.max_per_warp
    assert found.whole.totals[TIME.name] == sum(
        grid.run(program, DIM, (2, 1, 1), args, contents, (TIME.work,), TINY).totals.values()
    )
    for p in PROFILES:
        assert [b[p.name].span for b in found.blocks] == span_of_turns(program, args, contents, p.span)


# --- examples --------------------------------------------------------------------------------------------------------

WRITES = Metric("writes", counted={"gwrite": METRICS["sectors"].counted["gwrite"]})


def test_tricky() -> None:
    """Section 5, p. 15: two warps, one write each, a barrier between them: the block's span is two writes."""
    first = If(op(TID, "<", k(4)), Write("G", op(TID, "%", k(2)), k(42)), Skip())
    second = If(op(TID, ">=", k(4)), Write("G", op(TID, "%", k(2)), k(42)), Skip())
    for barrier, span in ((Sync(), 2), (Skip(), 1)):
        found = run(
            kernel(seq(first, barrier, second)),
            (8, 1, 1),
            (1, 1, 1),
            {"n": 0, "m": 0},
            profiles=(alone(WRITES),),
            hardware=TINY,
        )
        assert found.whole.totals["writes"] == 2
        assert found.span("writes") == span
        assert found.whole.max_per_warp["writes"] == 1


def test_a_race_may_cost_more_than_the_figure_says() -> None:
    """`if (G[0] == 0) { tick 8; i <- 0 } else { i <- 1 }; G[0] <- 1; sync; if (i == 1) tick 8`

    Together all threads read a 0, and the span is 8; in turns the second warp reads the 1 of the first, and it is 16.
    """
    tick = seq(*[Assign("j", Param("n"))] * 8)
    reads = If(op(Read("G", k(0)), "==", k(0)), seq(tick, Assign("i", k(0))), Assign("i", k(1)))
    s = seq(reads, Write("G", k(0), k(1)), Sync(), If(op(Var("i"), "==", k(1)), tick, Skip()))
    ticks = Metric("ticks", {"param": Fraction(1)})
    args = {"n": 0, "m": 0}
    assert run(kernel(s), DIM, (1, 1, 1), args, profiles=(alone(ticks),), hardware=TINY).span("ticks") == 8
    assert span_of_turns(kernel(s), args, {}, ticks)[0] == 16
