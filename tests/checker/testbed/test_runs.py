"""Runs in a small world: those of the lock-step semantics, cut short where they leave it."""

from __future__ import annotations

import random
from dataclasses import replace

from checker.testbed.programs import LOCALS, PRICES, Programs
from checker.testbed.runs import run
from checker.testbed.trial import Case, machine, starts, thread
from checker.testbed.world import World
from logic.assertions import Condition, Triple
from logic.derivation import Derivation
from logic.potentials import ZERO
from logic.syntax import Assign, Const, Op, Skip, Stmt, Var, While, seq
from semantics.lockstep import StepLimit, Store, execute

ANY = Condition((), ZERO, frozenset(LOCALS))
FAR = range(-(10**9), 10**9)
TICK = Assign("t", Const(0))
ALWAYS = Op("==", (Const(0), Const(0)))


def case(body: Stmt, seed: int = 0) -> Case:
    world, context = Programs(random.Random(seed)).context()
    return Case(body, world, context, Triple(ANY, body, ANY), Derivation("Q:Skip", {}, ()))


def test_runs_that_end_are_those_of_the_semantics() -> None:
    ended = divergent = 0
    for seed in range(150):
        rng = random.Random(seed)
        it = case(Programs(rng).program(), seed)
        for start in starts(it, rng, 3):
            m = machine(it, start)
            store = Store({}, {x: {thread(i): v for i, v in by.items()} for x, by in start.locals.items()})
            threads = [thread(i) for i in start.threads]
            found = run(it.program, store, threads, m, FAR)
            try:
                after, cost = execute(it.program, store, threads, replace(m, step_limit=1000))
            except StepLimit:
                assert not found.ended
                continue
            if found.ended:
                ended += 1
                divergent += found.divergent
                assert (found.store, found.cost) == (after, cost.parts[0])
    assert ended > 200
    assert divergent > 20


def performed(body: Stmt, values: range = World().values) -> tuple[bool, bool, int]:
    """Whether a run from x = y = 0 ends, is known to have no end, and its ticks."""
    it = case(body)
    start = next(starts(it, random.Random(0), 5))
    m = replace(machine(it, start), metrics=(PRICES[0],))
    threads = [thread(i) for i in start.threads]
    found = run(body, Store({}, {x: dict.fromkeys(threads, 0) for x in LOCALS}), threads, m, values)
    return found.ended, found.endless, int(found.cost)


def test_a_run_ends() -> None:
    assert performed(seq(TICK, TICK, Skip())) == (True, False, 2)


def test_a_run_leaves_the_world() -> None:
    assert performed(seq(TICK, Assign("x", Const(7)), TICK)) == (False, False, 2)
    assert performed(seq(TICK, Assign("x", Const(6)), TICK)) == (True, False, 3)


def test_a_run_goes_round_for_ever() -> None:
    assert performed(seq(TICK, While(ALWAYS, Skip()))) == (False, True, 1)


def test_a_run_that_is_cut_short_is_not_endless() -> None:
    count = Assign("x", Op("+", (Var("x"), Const(1))))
    assert performed(While(ALWAYS, count), FAR)[:2] == (False, False)
