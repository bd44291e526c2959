"""Blocks on processors: who runs where and when, what they share."""

from __future__ import annotations

import pytest

from logic.syntax import INT, Array, Assign, Const, Decl, Kernel, Op, Param, Read, Tid, Var, While, Write, seq
from semantics.grid import LaunchProblem as GridProblem
from semantics.machine.blocks import MAX_PROCESSORS, Place, run_kernel
from semantics.machine.launch import LaunchProblem
from semantics.machine.trace import Observer, Row

G, S = Array("G", "global", INT, 4), Array("S", "shared", INT, 4)
BLOCK = Param("blockIdx.x")
X = Var("x")


def kernel() -> Kernel:
    """A block's number is how often it goes round; what it finds in shared memory goes to global memory."""
    body = seq(
        While(Op("<", (X, BLOCK)), Assign("x", Op("+", (X, Const(1))))),
        Write("G", BLOCK, Op("+", (Op("*", (Read("S", Const(0)), Const(10))), X))),
        Write("S", Const(0), Const(7)),
        Write("G", Const(9), BLOCK),
    )
    return Kernel("k", (), (G, S), (Decl("x", INT),), body)


def places(processors: int) -> tuple[list[Place], list[int], int]:
    """The blocks in order, the cycles of each, and those of all."""
    seen: dict[Place, int] = {}

    def watch(place: Place) -> Observer:
        def see(row: Row) -> None:
            seen[place] = row.cycle + 1

        return see

    done = run_kernel(kernel(), (2, 1, 1), (4, 1, 1), {}, processors=processors, observer=watch)
    return list(seen), list(seen.values()), done.cycles


def test_one_processor_runs_one_block_after_the_other() -> None:
    where, cycles, whole = places(1)
    assert [p.block[0] for p in where] == [0, 1, 2, 3]
    assert [p.start for p in where] == [sum(cycles[:n]) for n in range(4)]
    assert whole == sum(cycles)
    assert cycles == sorted(set(cycles))


def test_a_block_goes_to_the_processor_that_is_free_first() -> None:
    where, cycles, whole = places(2)
    assert [p.processor for p in where] == [0, 1, 0, 1]
    assert [p.start for p in where] == [0, 0, cycles[0], cycles[1]]
    assert whole == max(cycles[0] + cycles[2], cycles[1] + cycles[3])


def test_with_enough_processors_the_longest_block_counts() -> None:
    where, cycles, whole = places(9)
    assert [p.processor for p in where] == [0, 1, 2, 3]
    assert whole == max(cycles)


def test_shared_memory_is_fresh_and_global_memory_stays() -> None:
    done = run_kernel(kernel(), (2, 1, 1), (3, 1, 1), {}, {"G": {5: 6}})
    assert done.arrays == {"G": {0: 0, 1: 1, 2: 2, 5: 6, 9: 2}}


def test_launches_that_cannot_be() -> None:
    with pytest.raises(LaunchProblem, match="--processors 0"):
        run_kernel(kernel(), (2, 1, 1), (3, 1, 1), {}, processors=0)
    with pytest.raises(LaunchProblem, match="--processors"):
        run_kernel(kernel(), (2, 1, 1), (3, 1, 1), {}, processors=MAX_PROCESSORS + 1)
    with pytest.raises(LaunchProblem, match="--warp-size 0"):
        run_kernel(kernel(), (2, 1, 1), (3, 1, 1), {}, warp_size=0)
    with pytest.raises(GridProblem, match="too large"):
        run_kernel(kernel(), (64, 64, 1), (3, 1, 1), {})
    with pytest.raises(GridProblem, match="no parameter 'n'"):
        run_kernel(kernel(), (2, 1, 1), (3, 1, 1), {"n": 1})


def test_threads_of_one_warp_that_share_a_cell() -> None:
    k = Kernel("k", (), (G,), (), Write("G", Const(0), Tid("x")))
    assert run_kernel(k, (5, 1, 1), (1, 1, 1), {}).arrays == {"G": {0: 4}}
