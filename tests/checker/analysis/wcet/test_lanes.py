"""What warps issue at most, beside what they issue on the machine."""

from __future__ import annotations

import pytest
from hypothesis import given, note, reject
from hypothesis import strategies as st

from checker.analysis.wcet.lanes import (
    Counts,
    Crossing,
    Unbounded,
    aligned,
    follow,
    issued,
    longest,
    released,
    span,
    stalling_loads,
)
from checker.analysis.wcet.structure import structure
from semantics.machine.arithmetic import RunProblem
from semantics.machine.launch import Launch
from semantics.machine.program import Barrier, Load
from semantics.machine.simulate import run
from semantics.machine.text import assemble
from semantics.machine.trace import Deadlock, Row
from tests.checker.analysis.wcet.launches import on_machine
from tests.checker.analysis.wcet.programs import programs
from tests.examples import examples

MANY = examples(40, 2000)


def followed(text: str, launch: Launch) -> tuple[Counts, ...]:
    p = assemble(text, "k")
    return follow(p, structure(p), launch)


def bound(warps: tuple[Counts, ...], latency: int) -> int:
    return issued(warps) + (latency - 1) * stalling_loads(warps)


@MANY
@given(
    programs(),
    st.integers(1, 10),
    st.integers(1, 5),
    st.integers(1, 40),
    st.integers(-1, 4),
    st.dictionaries(st.integers(0, 9), st.integers(-2, 5), max_size=6),
)
def test_no_run_takes_longer(text: str, threads: int, width: int, latency: int, n: int, memory: dict[int, int]) -> None:
    note(text)
    launch = Launch(threads, width, latency, {"n": n})
    p = assemble(text, "k")
    done = on_machine(p, launch, memory)
    try:
        warps = follow(p, structure(p), launch)
    except Unbounded:
        reject()
    assert done.issued <= issued(warps)
    assert done.cycles <= bound(warps, latency)


@MANY
@given(programs(), st.integers(1, 10), st.integers(1, 5), st.integers(1, 3))
def test_what_does_not_depend_on_memory_is_exact(text: str, threads: int, width: int, n: int) -> None:
    text = "\n".join(line for line in text.splitlines() if not line.startswith("load"))
    launch = Launch(threads, width, 7, {"n": n})
    done = on_machine(assemble(text, "k"), launch)
    assert done.issued == issued(followed(text, launch))
    assert done.cycles == bound(followed(text, launch), 7)


def test_loads_are_counted_between_barriers() -> None:
    text = "load x = 1\nload x = 2\nbarrier 0\nbz Tid, e\nload x = 3\ne: sync\nbarrier 1\nstore x = 4"
    (warp,) = followed(text, Launch(1, 4))
    assert (warp.loads, warp.issued) == ([2, 0, 0], [3, 3, 1])
    (warp,) = followed(text, Launch(2, 4))
    assert (warp.loads, warp.issued) == ([2, 1, 0], [3, 5, 1])


def test_a_way_that_memory_decides_is_taken_and_not_taken() -> None:
    text = "const y = 5\nload x = 0\nbz x, e\nconst y = {}\ne: sync\nbz y, f\nload z = 0\nf: sync"
    (warp,) = followed(text.format(5), Launch(1, 4))
    assert (sum(warp.issued), sum(warp.loads)) == (6 + 3, 2)  # y is 5 either way
    (warp,) = followed(text.format(0), Launch(1, 4))
    assert (sum(warp.issued), sum(warp.loads)) == (6 + 4, 2)


def test_both_ways_begin_with_the_same_values() -> None:
    text = "load y = 0\nbz y, t\nbnz x, f\nload z = 0\nf: sync\njump e\nt: const x = 1\ne: sync"
    (warp,) = followed(text, Launch(1, 4))
    assert (sum(warp.issued), sum(warp.loads)) == (2 + 2 + 3 + 2, 2)


def test_turns_are_those_of_the_longest_lane() -> None:
    text = "const x = Tid\nl: bz x, e\nbinop x = x - 1\njump l\ne: sync"
    (warp,) = followed(text, Launch(4, 4))
    assert warp.turns == {1: 3}
    assert sum(warp.issued) == 1 + 4 + 3 * 2 + 4
    (warp,) = followed("const x = Tid\nl: binop x = x - 1\nbinop p = x > 0\nbnz p, l\nsync", Launch(4, 4))
    assert warp.turns == {3: 3}
    assert sum(warp.issued) == 1 + 3 * 3 + 2


def test_a_loop_that_memory_ends_has_no_bound() -> None:
    with pytest.raises(Unbounded, match="depends on what memory holds") as caught:
        followed("load x = 0\nl: bz x, e\nbinop x = x - 1\njump l\ne: sync", Launch(1))
    assert caught.value.loc is not None
    assert caught.value.loc.line == 2


def test_an_endless_loop_is_not_followed_for_ever() -> None:
    p = assemble("const x = 1\nl: bz x, e\njump l\ne: sync", "k")
    with pytest.raises(Unbounded, match="more instructions than are followed"):
        follow(p, structure(p), Launch(1), 1000)


ALL = Crossing(4, 0, None, True)


def warp(*crossings: Crossing | None, loads: tuple[int, ...] = ()) -> Counts:
    kept = list(loads) or [0] * (len(crossings) + 1)
    return Counts([1] * len(kept), kept, list(crossings))


def test_barriers_for_everyone_match() -> None:
    assert aligned([warp(ALL, ALL), warp(ALL), warp()])
    assert not aligned([warp(ALL, None), warp(ALL)])


def test_barriers_with_counts_match_where_all_who_come_are_expected() -> None:
    def come(threads: int, expected: int, ident: int = 0) -> Crossing:
        return Crossing(threads, ident, expected, False)

    assert aligned([warp(come(4, 8), come(4, 4)), warp(come(4, 8))])
    assert not aligned([warp(come(4, 4)), warp(come(4, 4))])
    assert not aligned([warp(come(4, 4, 0)), warp(come(4, 4, 1))])
    assert not aligned([warp(come(4, 8), ALL), warp(come(4, 8), ALL)])
    assert not aligned([warp(come(4, 8, 0), come(4, 8, 1)), warp(come(4, 8, 0), come(4, 8, 1))])


def test_the_dearest_warp_of_each_interval_counts() -> None:
    warps = [warp(ALL, loads=(3, 0)), warp(ALL, loads=(1, 2))]
    assert stalling_loads(warps) == 5
    assert span(warps, 10) == 2 + 9 * 5
    assert longest(warps, lambda issues, _: issues) == 2
    unsure = [warp(ALL, loads=(3, 0)), warp(None, loads=(1, 2))]
    assert stalling_loads(unsure) == 6


SKEWED = """
bz w, second
load x = 0
barrier 0, 4
jump end
second: const c = 1
barrier 0, 4
load x = 0
end: sync
"""
"""Each warp has a barrier of its own count: nobody waits for anybody."""


BARRIERS = st.lists(
    st.tuples(
        st.sampled_from(["", "bz w, e", "bnz w, e", "bz Tid, e", "bz v, e"]),
        st.sampled_from(
            ["barrier 0", "barrier 0, 8", "barrier w, 4", "barrier w", "barrier 1, 4", "barrier v", "barrier 1"]
        ),
    ),
    max_size=3,
)


@MANY
@given(BARRIERS, st.sampled_from([1, 4, 6, 8]), st.integers(0, 1))
def test_barriers_that_let_all_go(parts: list[tuple[str, str]], threads: int, memory: int) -> None:
    """Where so much is proved, the machine stops at none, whatever it loads."""
    lines = ["binop w = Tid / 4", "load v = 0"]
    for i, (test, barrier) in enumerate(parts):
        lines += [test.replace("e", f"e{i}"), barrier] if test else [barrier]
        lines += [f"e{i}: sync"] * bool(test)
    text, launch = "\n".join(lines), Launch(threads, 4)
    note(text)
    warps = followed(text, launch)
    p = assemble(text, "k")
    if released(warps, launch):
        run(p, launch, {0: memory})
    elif all("v" not in test + barrier for test, barrier in parts) and len(parts) < 2:
        with pytest.raises((Deadlock, RunProblem)):
            run(p, launch, {0: memory})


def test_barriers_of_single_warps_let_stalls_follow_one_another() -> None:
    text = "binop w = Tid / 4" + SKEWED
    launch = Launch(8, 4, 20)
    warps = followed(text, launch)
    assert not aligned(warps)
    assert released(warps, launch)
    assert stalling_loads(warps) == 2
    p = assemble(text, "k")
    rows: list[Row] = []
    done = run(p, launch, observer=rows.append)
    assert done.cycles <= bound(warps, 20)
    assert {type(p.instructions[r.address]) for r in rows if r.warp is not None} >= {Load, Barrier}
