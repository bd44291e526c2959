"""Theorem 3, p. 17: with derivations for scope `block`, W <= (Q - Q') * |warps| and S <= Q - Q'."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from checker.testbed.programs import Programs
from checker.testbed.trial import Trial, at_end, derived, machine, performed, starts, thread
from logic.potentials import Leaf, evaluate, variables
from logic.rules import SOUND
from logic.syntax import Param, Sync, Var, statements
from semantics.grid import BarrierDivergence
from semantics.lockstep import Store
from semantics.parallel import BlockMachine, alone, execute, work_and_span


@pytest.mark.whole
def test_theorem_3() -> None:
    trial = Trial(SOUND, (), 0)
    seen = {"runs": 0, "two warps": 0, "barriers": 0}
    for seed in range(120):
        rng = random.Random(seed)
        programs = Programs(rng)
        body = programs.program()
        world, context = programs.context()
        case = derived(body, programs, trial, None, rng, (world, replace(context, scope="block")))
        if case is None:
            continue
        for start in starts(case, rng, 4):
            found = performed(case, start)
            if not found.ended:
                continue
            m = machine(case, start)
            block = BlockMachine(
                m.sigma, m.params, m.block, (), m.hardware, m.initial, 1000, profiles=(alone(m.metrics[0]),)
            )
            store = Store({}, {x: {thread(i): v for i, v in by.items()} for x, by in start.locals.items()})
            try:
                _, c = execute(body, store, [thread(i) for i in start.threads], block)
            except BarrierDivergence:
                continue
            pair = work_and_span(c, block)[m.metrics[0].name]
            params: dict[Leaf, int] = {Param(x): int(v) for x, v in m.params.items()}
            first, q = start.threads[0], case.claim.pre.q
            before = evaluate(q, params | {Var(x): start.locals[x][first] for x in variables(q)})
            budget = before - evaluate(case.claim.post.q, params | at_end(case.claim.post.q, found, first))
            warps = len({i // context.hardware.warp for i in start.threads})
            assert pair.span <= budget
            assert pair.work <= budget * warps
            seen["runs"] += 1
            seen["two warps"] += warps == 2
            seen["barriers"] += any(isinstance(s, Sync) for s in statements(body))
    assert all(n >= 10 for n in seen.values()), seen
