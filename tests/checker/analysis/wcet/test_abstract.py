"""Abstract warps and their simulation, by hand on small programs."""

from __future__ import annotations

import pytest

from checker.analysis.wcet.abstract import Memory, Nodes, Time, Turns, Wait, construct, join, show
from checker.analysis.wcet.cta import simulate
from checker.analysis.wcet.divergence import chains
from checker.analysis.wcet.lanes import Unbounded
from checker.analysis.wcet.structure import structure
from semantics.machine.text import assemble


def warp_of(text: str) -> Nodes:
    p = assemble(text, "k")
    tree = structure(p)
    return construct(p, tree, chains(p, tree))


def test_join_adds_neighbouring_times() -> None:
    assert join([Time(1), Time(2, 3), Memory(), Time(1), Time(1, 1)]) == (Time(3, 3), Memory(), Time(2, 1))


def test_a_read_and_a_barrier_are_places() -> None:
    assert warp_of("load x = 0\nconst y = 1\nbarrier 0") == (Time(1), Memory(), Time(2), Wait())


TWO_WAYS = "bz {}, t\nconst a = 1\nconst b = 1\njump e\nt: const a = 2\ne: sync"


def test_threads_that_agree_take_the_worse_way() -> None:
    assert warp_of(TWO_WAYS.format("threads")) == (Time(1 + 3 + 1),)


def test_threads_that_part_take_both() -> None:
    assert warp_of(TWO_WAYS.format("Tid")) == (Time(1 + 3 + 1 + 1, 3),)


def test_a_way_with_more_reads_is_worse_and_is_as_long_as_the_other() -> None:
    text = "bz threads, t\nload a = 1\njump e\nt: const a = 2\nconst a = 2\nconst a = 2\ne: sync"
    assert warp_of(text) == (Time(2), Memory(), Time(1 + 1 + 1))


def test_a_loop_has_its_test_and_its_body() -> None:
    found = warp_of("l: bz threads, e\nload x = 0\njump l\ne: sync")
    assert found == (Turns((Time(1),), (Time(1), Memory(), Time(1)), 0), Time(1))
    assert show(found) == "[(1,0) (1,0) mem (1,0)] (1,0)"


def test_barriers_behind_a_divergent_branch_are_not_resolved() -> None:
    with pytest.raises(Unbounded, match="this branch is divergent"):
        warp_of("bz Tid, e\nbarrier 0\ne: sync")


def test_two_ways_with_loops_have_no_worse_one() -> None:
    loop = "{0}: bz threads, {0}e\njump {0}\n{0}e: sync\n"
    with pytest.raises(Unbounded, match="where both have loops"):
        warp_of(f"bz threads, t\n{loop.format('a')}jump e\nt: const c = 1\n{loop.format('b')}e: sync")


def test_time_is_paid_by_every_warp_and_stalls_once() -> None:
    assert simulate((Time(3), Memory(), Time(2)), 4, 10, {}).cycles == 4 * 5 + 6
    assert simulate((Memory(),), 12, 10, {}).cycles == 0


def test_a_barrier_ends_the_convoying_shift() -> None:
    assert simulate((Time(1, 2), Memory(), Wait(), Time(1, 3)), 4, 10, {}).shift == 2 + 10 // 4
    assert simulate((Time(1, 2), Memory(), Time(1, 3)), 4, 10, {}).shift == 2 + 10 // 4 + 3


def test_several_reads_in_flight_are_flushed_at_the_barrier() -> None:
    assert simulate((Memory(), Memory(), Wait(), Time(1)), 2, 10, {}).cycles == 8 + 8 + 2


def test_a_loop_goes_on_with_the_warps_that_have_turns_left() -> None:
    loop = Turns((Time(1),), (Time(1), Memory()), 0)
    assert simulate((loop, Time(5)), 2, 10, {0: (1, 3)}).cycles == (4 + 8) + 2 * (2 + 9) + 10


def test_behind_a_loop_the_last_warp_may_be_alone() -> None:
    loop = Turns((), (Time(1),), 0)
    alone = simulate((loop, Memory()), 2, 10, {0: (1, 3)})
    assert alone.cycles == 4 + 9
    assert simulate((loop, Wait(), Memory()), 2, 10, {0: (1, 3)}).cycles == 4 + 8
