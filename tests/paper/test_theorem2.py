"""Theorem 2, p. 15: greedy schedules of a block, simulated cycle by cycle, take at most W/P + S."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from logic.metrics import METRICS, Linear, Metric
from logic.syntax import Assign, Op, Stmt, Var, seq
from semantics.events import Event
from semantics.lockstep import linear
from semantics.parallel import TIME, Profile, run, time_bound
from tests.checker.programs import TINY
from tests.examples import examples
from tests.semantics.blocks import DIM, RACE_FREE, k, kernel

STEPS = METRICS["steps"]
DEAR = dict.fromkeys(STEPS.counted, Linear(Fraction(2), Fraction(5)))
SHORT = Profile("short", STEPS, Metric("span", dict.fromkeys(STEPS.fixed, Fraction(3)), DEAR))
SOME = Profile("some", Metric("work", {"op": Fraction(2)}), Metric("span", {"op": Fraction(5), "var": Fraction(3)}))

Stream = list[tuple[int, int]]
"""What a warp does between two barriers: issue slots and latency of one operation after the other."""

Phases = list[list[Stream]]
"""For each part between two barriers, the warps that do something then."""


def observed(s: Stmt, args: dict[str, int], h: list[int], profile: Profile) -> tuple[Phases, Fraction, Fraction]:
    """What the warps of one block do, and W and S."""
    phases: dict[int, dict[int, Stream]] = defaultdict(lambda: defaultdict(list))
    number: dict[int, int] = defaultdict(int)

    def see(e: Event) -> None:
        warp = linear(e.threads[0].tid, DIM) // TINY.warp
        number[warp] += e.constant == "sync"
        pair = profile.work, profile.span
        work, span = (m.cost(e.constant) if e.count is None else m.count(e.constant, e.count) for m in pair)
        phases[number[warp]][warp].append((int(work), int(span - work)))

    result = run(kernel(s), DIM, (1, 1, 1), args, {"H": h}, (profile,), TINY, observer=see)
    return (
        [list(warps.values()) for warps in phases.values()],
        result.whole.totals[profile.name],
        result.span(profile.name),
    )


def cycles(phase: list[Stream], issue: int, chance: random.Random) -> int:
    """The time that a machine takes for a phase which issues on as many ready warps as it can, chosen at random."""
    todo = [list(reversed(stream)) for stream in phase]
    free = [0] * len(phase)  # when what the warp does now is done
    now = 0
    while any(todo):
        for w, stream in enumerate(todo):
            while stream and free[w] <= now and stream[-1][0] == 0:
                free[w] = now + stream.pop()[1]
        ready = [w for w, stream in enumerate(todo) if stream and free[w] <= now]
        for w in chance.sample(ready, min(issue, len(ready))):
            slots, latency = todo[w].pop()
            if slots > 1:
                todo[w].append((slots - 1, latency))
            else:
                free[w] = now + 1 + latency
        now += 1
    return max(free)


@examples(20, 2000)
@given(
    RACE_FREE,
    st.fixed_dictionaries({p: st.integers(-2, 6) for p in ("n", "m")}),
    st.lists(st.integers(-3, 9), min_size=8, max_size=8),
    st.sampled_from([SHORT, SOME]),
    st.integers(0, 1000),
)
def test_greedy_schedules_keep_to_the_bound(
    s: Stmt, args: dict[str, int], h: list[int], profile: Profile, seed: int
) -> None:
    phases, work, span = observed(s, args, h, profile)
    for issue in (1, 2, 3):
        time = sum(cycles(phase, issue, random.Random(seed)) for phase in phases)
        assert max(work / issue, span) <= time <= time_bound(work, span, issue)
    assert time == span  # three warps, three instructions a cycle: nobody waits for another


def test_a_schedule_may_need_both_terms() -> None:
    """Three warps issue an addition of two slots each, the last then waits for three cycles: 6 + 3 of at most 6 + 5."""
    phases, work, span = observed(Assign("i", Op("+", (k(1), k(1)))), {"n": 0, "m": 0}, [], SOME)
    assert phases == [[[(0, 0)] * 2 + [(2, 3)] + [(0, 0)]] * 3]
    assert cycles(phases[0], 1, random.Random(1)) == 9
    assert time_bound(work, span, 1) == 6 + 5


def test_the_default_pair_on_a_machine_of_two() -> None:
    s = seq(*[Assign("i", Op("+", (Var("i"), k(1))))] * 3)
    phases, work, span = observed(s, {"n": 0, "m": 0}, [], TIME)
    assert time_bound(work, span, 2) == Fraction(9, 2) + 12
    assert 12 <= cycles(phases[0], 2, random.Random(1)) <= 16
