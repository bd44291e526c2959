"""The machine by example: scheduling, stalls, the synchronization stack, barriers, memory, and runs that go wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logic.source import Loc, SourceError
from semantics.machine.arithmetic import RunProblem
from semantics.machine.launch import MAX_LATENCY, MAX_THREADS, MAX_WARP, Launch, LaunchProblem
from semantics.machine.program import BINARY
from semantics.machine.simulate import Segment, run
from semantics.machine.text import FUNCTIONS, assemble
from semantics.machine.trace import Deadlock, Endless, Result, Row
from tests.examples import examples


def traced(text: str, threads: int = 4, warp: int = 4, latency: int = 10, **options: Any) -> tuple[Result, list[Row]]:
    rows: list[Row] = []
    launch = Launch(threads, warp, latency, options.pop("params", {}))
    p = assemble(text, "f.simt")
    result = run(p, launch, observer=rows.append, **options)
    assert run(p, launch, **options) == result  # an observer changes nothing
    assert [r.cycle for r in rows] == list(range(result.cycles))
    assert sum(r.warp is not None for r in rows) == result.issued
    return result, rows


def memory(text: str, threads: int = 4, warp: int = 4, **options: Any) -> dict[int, Any]:
    return traced(text, threads, warp, **options)[0].memory


# --- time ------------------------------------------------------------------------------------------------------------


def test_warps_take_turns() -> None:
    _, rows = traced("const x = 1\nconst y = 2\nconst z = 3", 5, 2)
    assert [r.warp for r in rows] == [0, 1, 2] * 3
    assert [r.address for r in rows] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert rows[2].lanes == (0,)  # the last warp has one thread
    assert rows[0].states == ("issue", "ready", "ready")
    assert rows[8].states == ("ended", "ended", "issue")


def test_a_warp_that_is_not_ready_loses_its_turn() -> None:
    """Loose round robin: warp 0 stalls until cycle 6, the others go on."""
    text = "bnz p, e\nload x = 0\ne: sync\nconst y = 1\nconst z = 1"
    _, rows = traced(".init one = 1\nbinop p = Tid > 0\n" + text, 2, 1, latency=4)
    assert [r.warp for r in rows] == [0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0]
    assert rows[6].states == ("stall", "issue")


@pytest.mark.parametrize("latency", [1, 2, 10, 500])
def test_a_load_takes_the_latency_and_nothing_else_does(latency: int) -> None:
    result, rows = traced("load x = 0\nstore 1 = x\nstore 2 = x", latency=latency)
    assert result.cycles == latency + 2
    assert [r.warp for r in rows] == [0] + [None] * (latency - 1) + [0, 0]


def test_the_run_ends_with_the_last_load() -> None:
    assert traced("const x = 1\nload x = 0", latency=7)[0].cycles == 8


def test_loads_of_several_warps_are_in_flight_together() -> None:
    """Three warps: issued in cycles 0, 1, 2, back in 10, 11, 12."""
    _, rows = traced("load x = 0\nstore 1 = x", 3, 1, latency=10)
    assert [(r.cycle, r.warp) for r in rows if r.warp is not None] == [
        (0, 0),
        (1, 1),
        (2, 2),
        (10, 0),
        (11, 1),
        (12, 2),
    ]
    assert rows[5].states == ("stall",) * 3


# --- the synchronization stack ---------------------------------------------------------------------------------------


def test_those_who_jump_go_first_and_a_sync_rejoins() -> None:
    text = "binop p = Tid % 2\nbz p, e\nconst x = 5\ne: sync\nstore Tid = x"
    result, rows = traced(text)
    assert [(r.address, r.lanes) for r in rows[1:]] == [
        (1, (0, 1, 2, 3)),
        (3, (0, 2)),
        (2, (1, 3)),
        (3, (1, 3)),
        (4, (0, 1, 2, 3)),
    ]
    assert result.memory == {0: 0, 1: 5, 2: 0, 3: 5}


def test_a_branch_on_which_all_agree_needs_its_sync_too() -> None:
    """Its frame is not that of the loop around it."""
    text = """
    const i = 0
    l: binop p = i < Tid
    bz p, e
    bz 0, f
    const x = 9
    f: sync
    binop i = i + 1
    jump l
    e: sync
    store Tid = i"""
    assert memory(text) == {0: 0, 1: 1, 2: 2, 3: 3}


def test_a_loop_extends_its_frame_and_one_sync_rejoins_all() -> None:
    text = "const i = 0\nl: binop i = i + 1\nbinop p = i <= Tid\nbnz p, l\nsync\nstore Tid = i"
    result, rows = traced(text)
    assert result.memory == {0: 1, 1: 2, 2: 3, 3: 4}
    assert [r.lanes for r in rows if r.address == 4] == [(3,), (0, 1, 2)]
    assert rows[-1].lanes == (0, 1, 2, 3)


def test_threads_that_left_a_loop_at_different_times_go_on_in_their_order() -> None:
    """Threads 3, 2, 1 leave in this order and resume together: the highest one wins."""
    text = "const i = 0\nl: binop i = i + 1\nbinop p = i + Tid\nbinop p = p < 4\nbnz p, l\nstore 0 = Tid\nsync"
    result, rows = traced(text)
    assert [r.lanes for r in rows if r.address == 5] == [(0,), (1, 2, 3)]
    assert result.memory == {0: 3}


# --- barriers --------------------------------------------------------------------------------------------------------

MEETING = "binop p = Tid < 2\nbz p, e\nload x = 0\ne: sync\nbarrier 7, threads\nconst y = 1"


def test_a_barrier_waits_for_so_many_threads() -> None:
    _, rows = traced(MEETING, 6, 2, latency=9)
    waits = [r.states for r in rows]
    assert ("stall", "barrier", "barrier") in waits
    last = max(r.cycle for r in rows if r.address == 4 and r.warp is not None)
    assert [(r.cycle, r.warp) for r in rows if r.address == 5] == [(last + 1 + w, (1 + w) % 3) for w in range(3)]


def test_a_barrier_without_a_count_waits_for_all_that_have_not_ended() -> None:
    text = "binop p = Tid < 2\nbnz p, e\nbarrier 0\nstore Tid = 1\ne: sync\nconst y = 1\nconst z = 2"
    assert memory(text, 6, 2) == {2: 1, 3: 1, 4: 1, 5: 1}


def test_who_ends_at_a_barrier_no_longer_counts_at_another() -> None:
    """Warps 1 and 2 meet behind the last instruction; only then has warp 0 nobody left to wait for."""
    text = "binop p = Tid >= 2\nbnz p, e\nbarrier 5\nstore Tid = 1\ne: sync\nbinop n = p * 2\nbinop n = n + 2\n"
    assert memory(text + "barrier p, n", 6, 2) == {0: 1, 1: 1}


def test_part_of_a_warp_may_wait_where_the_count_says_so() -> None:
    text = "binop p = Tid % 2\nbz p, e\nbarrier 0, 2\nstore Tid = 1\ne: sync\nconst y = 1"
    assert memory(text, 4, 4) == {1: 1, 3: 1}
    assert memory(text, 4, 2) == {1: 1, 3: 1}


def test_barriers_with_other_numbers_do_not_meet() -> None:
    with pytest.raises(Deadlock) as caught:
        traced("binop w = Tid / 2\nbarrier w, 4", 4, 2)
    assert [(w.warp, w.ident, w.expected) for w in caught.value.waiting] == [(0, 0, 4), (1, 1, 4)]


def test_a_deadlock_says_who_waits_where_and_who_has_ended() -> None:
    text = "binop p = Tid < 2\nbnz p, e\nbarrier 5, threads\ne: sync"
    with pytest.raises(Deadlock) as caught:
        traced(text, 6, 2)
    assert caught.value.message == (
        "deadlock in cycle 9: warps 1, 2 wait at barrier 5 in line 3 (4 of the 6 threads that it needs), warp 0 ended"
    )
    assert caught.value.ended == (0,)
    assert [w.threads for w in caught.value.waiting] == [(2, 3), (4, 5)]


def test_the_other_threads_of_a_warp_cannot_come_to_its_barrier() -> None:
    with pytest.raises(Deadlock) as caught:
        traced("binop p = Tid % 2\nbz p, e\nbarrier 0, threads\ne: sync\nbarrier 0, threads")
    assert caught.value.waiting[0].threads == (1, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("barrier 0, 3", "4 threads come to barrier 0, which expects 3"),
        ("barrier 0, 0", "barrier 0 expects 0 threads"),
        ("barrier 0, Tid", "the threads of warp 0 do not agree on the number of threads: 0 and others"),
        ("barrier Tid, 4", "the threads of warp 0 do not agree on the barrier: 0 and others"),
        ("const n = 0.5\nbarrier 0, n", "0.5 is not a number of threads"),
    ],
)
def test_impossible_barriers(text: str, message: str) -> None:
    with pytest.raises(RunProblem) as caught:
        traced(text)
    assert (caught.value.message, caught.value.loc and caught.value.loc.line) == (message, text.count("\n") + 1)
    assert caught.value.advice


def test_warps_have_to_expect_the_same() -> None:
    with pytest.raises(RunProblem, match="at barrier 0 warp 1 expects 5 threads, warp 0 4 threads"):
        traced("binop n = Tid / 2\nbinop n = n + 4\nbarrier 0, n", 4, 2)


# --- memory, values, parameters --------------------------------------------------------------------------------------


def test_the_highest_thread_wins() -> None:
    assert memory("store 0 = Tid") == {0: 3}


def test_data_and_initial_values() -> None:
    text = ".param n\n.init k = n * 2\n.data k = iota n\n.data 0 = 7, n, -1\nload x = k\nstore 9 = threads\nstore 8 = x"
    assert memory(text, params={"n": 3}) == {0: 7, 1: 3, 2: -1, 6: 0, 7: 1, 8: 2, 9: 4} | {8: 0}


def test_integers_divide_as_in_c() -> None:
    text = "const a = -7\nbinop q = a / 2\nbinop r = a % 2\nbinop z = a / 0\nstore 0 = q\nstore 1 = r\nstore 2 = z"
    assert memory(text) == {0: -3, 1: -1, 2: 0}


def test_memory_begins_at_0_and_outside_there_is_nothing() -> None:
    result, _ = traced("binop a = Tid - 2\nload x = a\nstore a = 7\nstore 5 = x")
    assert result.memory == {0: 7, 1: 7, 5: 0}
    assert [(o.kind, o.address, o.thread) for o in result.outside] == [("load", -2, 0), ("store", -2, 0)]


def test_segments_bound_memory() -> None:
    text = "load x = Tid\nbinop a = Tid + 10\nstore a = x"
    result, _ = traced(text, segments=(Segment(0, 2, value=lambda i: i + 5), Segment(11, 3)))
    assert result.memory == {11: 6, 12: 0, 13: 0}
    assert [(o.kind, o.address) for o in result.outside] == [("load", 2), ("store", 10)]


def test_floats_are_those_of_their_type() -> None:
    text = "const x = 0.1\nbinop.float y = x + x\nbinop.double z = x + x\ncall.float i = int(y)\n"
    assert memory(text + "store 0 = y\nstore 1 = z\nstore 2 = i") == {0: 0.20000000298023224, 1: 0.2, 2: 0}


@pytest.mark.parametrize(
    "text",
    [
        "binop x = 1 << 5000",
        "const x = 2\nl: binop x = x * x\njump l",
        "const x = 0.5\nbinop y = x + 1",
        "const x = 0.5\nload y = x",
        "const x = 1e999\nstore x = 1",
        ".data -1 = 3\nsync_: const x = 1",
        ".data 0 = iota 99999999999\nconst x = 1",
        ".data 0 = iota -5\nconst x = 1",
        ".init x = 1 << 99999\nconst y = 1",
    ],
)
def test_runs_that_go_wrong_have_a_place(text: str) -> None:
    with pytest.raises(RunProblem) as caught:
        traced(text)
    assert caught.value.loc
    assert caught.value.advice


def test_an_endless_program_is_given_up() -> None:
    with pytest.raises(Endless, match="did not end within 100 steps") as caught:
        run(assemble("l: const x = 1\njump l", "f.simt"), Launch(1), step_limit=100)
    assert caught.value.cycles == 100
    assert traced("l: const x = 1\njump e\njump l\ne:", 1, step_limit=2)[0].issued == 2


@pytest.mark.parametrize(
    "launch",
    [
        (0, 4, 10),
        (-1, 4, 10),
        (MAX_THREADS + 1, 4, 10),
        (4, 0, 10),
        (4, MAX_WARP + 1, 10),
        (4, 4, 0),
        (4, 4, -3),
        (4, 4, MAX_LATENCY + 1),
    ],
)
def test_machines_that_are_none(launch: tuple[int, int, int]) -> None:
    with pytest.raises(LaunchProblem, match="not a sensible number"):
        Launch(*launch)


def test_parameters_have_to_match() -> None:
    p = assemble(".param n\nstore 0 = n", "f.simt")
    with pytest.raises(LaunchProblem, match="parameter 'n' has no value"):
        run(p, Launch(1))
    with pytest.raises(LaunchProblem, match="no parameter 'm'"):
        run(p, Launch(1, params={"n": 1, "m": 2}))


# --- laws ------------------------------------------------------------------------------------------------------------

LINES = st.sampled_from(
    [
        "const x = 1",
        "load x = Tid",
        "binop y = x + Tid",
        "store y = x",
        "bz y, {0}\nconst x = 2\n{0}: sync",
        "barrier 0",
    ]
)


@examples(30, 2000)
@given(st.lists(LINES, min_size=1, max_size=8), st.integers(1, 9), st.integers(1, 4), st.integers(1, 12))
def test_time_lies_between_instructions_and_instructions_with_all_their_stalls(
    lines: list[str], threads: int, warp: int, latency: int
) -> None:
    text = "const y = 0\nconst x = 0\n" + "\n".join(line.format(f"l{n}") for n, line in enumerate(lines))
    result, rows = traced(text, threads, warp, latency)
    p = assemble(text, "f.simt")
    loads = sum(r.warp is not None and "load" in type(p.instructions[r.address]).__name__.lower() for r in rows)
    assert result.issued <= result.cycles <= result.issued + loads * (latency - 1)
    alone = run(p, Launch(threads, threads, 1))
    assert alone.cycles == alone.issued


OPERANDS = st.sampled_from(["x", "y", "Tid", "threads", "0", "-3", "7", "0.5", "-1e999", "99999999999"])
SUFFIXES = st.sampled_from(["", "", ".float", ".double"])
WILD = st.one_of(
    st.builds("binop{} x = {} {} {}".format, SUFFIXES, OPERANDS, st.sampled_from(BINARY), OPERANDS),
    st.builds("call{} y = {}({})".format, SUFFIXES, st.sampled_from([*FUNCTIONS, "to_float", "sqrt", "log"]), OPERANDS),
    st.builds("load y = {}".format, OPERANDS),
    st.builds("store {} = {}".format, OPERANDS, OPERANDS),
    st.builds("barrier {}, {}".format, OPERANDS, OPERANDS),
    st.builds("bz {}, {{0}}\nbarrier {}\n{{0}}: sync".format, OPERANDS, OPERANDS),
    st.builds("{{0}}: binop x = x + {}\nbnz x, {{0}}\nsync".format, OPERANDS),
)


@examples(50, 5000)
@given(st.lists(WILD, max_size=6), st.integers(1, 5), st.integers(1, 3))
def test_whatever_a_program_does_ends_in_a_result_or_a_fault(lines: list[str], threads: int, warp: int) -> None:
    text = "const x = 1\nconst y = 2\n" + "\n".join(line.format(f"l{n}") for n, line in enumerate(lines))
    try:
        done = run(assemble(text, "f.simt"), Launch(threads, warp, 3), step_limit=200)
    except SourceError as fault:
        place = fault.loc
    else:
        place = Loc("f.simt", 1, 1)
        assert done.cycles >= done.issued >= 2
    assert place is not None


def test_all_faults_are_of_one_family() -> None:
    assert all(issubclass(e, SourceError) for e in (Deadlock, Endless, LaunchProblem, RunProblem))
