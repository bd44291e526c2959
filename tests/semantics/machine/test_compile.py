"""Kernels compiled to mini-SIMT leave the memory that the lock-step semantics leaves."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from checker.testbed.programs import Programs
from checker.testbed.programs import kernel as drawn
from logic.source import Loc
from logic.syntax import (
    BOOL,
    DOUBLE,
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
    Type,
    Var,
    While,
    Write,
    seq,
    show_stmt,
)
from semantics import grid
from semantics.cuda import read_cuda
from semantics.events import Dim
from semantics.grid import BarrierDivergence
from semantics.lockstep import Initial, StepLimit
from semantics.machine import blocks
from semantics.machine import compile as compiler
from semantics.machine.arithmetic import RunProblem
from semantics.machine.blocks import run_kernel
from semantics.machine.compile import Compiled, compile_kernel
from semantics.machine.program import Barrier, Branch, Compute, Copy, Instruction, Store
from semantics.machine.text import assemble, show
from semantics.machine.trace import Deadlock, Endless
from tests.checker.programs import BODIES, TINY
from tests.checker.programs import kernel as plain
from tests.examples import examples
from tests.semantics.blocks import DIM, RACE_FREE
from tests.semantics.blocks import kernel as of_block

ROOT = Path(__file__).resolve().parents[3]
SLOW = examples(30, 2000)


def by_machine(k: Kernel, block: Dim, extent: Dim, args: Any, arrays: Any, **options: Any) -> Any:
    """The arrays, or that threads wait for each other in vain."""
    try:
        return run_kernel(k, block, extent, args, arrays, warp_size=TINY.warp, **options).arrays
    except Deadlock:
        return BarrierDivergence


def by_lockstep(k: Kernel, block: Dim, extent: Dim, args: Any, arrays: Any) -> Any:
    try:
        return grid.run(k, block, extent, args, arrays, (), TINY, step_limit=400).arrays
    except BarrierDivergence:
        return BarrierDivergence


def agree(k: Kernel, block: Dim, extent: Dim, args: Any, arrays: Any, **options: Any) -> None:
    note(f"{show_stmt(k.body)}\n{args} {arrays}")
    try:
        expected = by_lockstep(k, block, extent, args, arrays)
        found = by_machine(k, block, extent, args, arrays, **options)
    except (StepLimit, Endless, RunProblem):
        assume(False)
    assert found == expected


# --- random programs -------------------------------------------------------------------------------------------------

CONTENTS = st.lists(st.integers(-3, 9), max_size=8)


@SLOW
@given(BODIES, st.integers(1, 4), st.integers(-4, 9), CONTENTS, st.integers(1, 12))
def test_a_warp_does_everything_in_the_order_of_the_semantics(
    body: Stmt, lanes: int, n: int, contents: list[int], latency: int
) -> None:
    """With races inside the warp, too."""
    agree(plain(body), (lanes, 1, 1), (2, 1, 1), {"n": n, "m": 3}, {"G": contents}, latency=latency)


@SLOW
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(-1, 4))
def test_programs_of_the_testbed(seed: int, lanes: int, n: int) -> None:
    agree(drawn(Programs(random.Random(seed)).program()), (lanes, 1, 1), (1, 1, 1), {"n": n}, {"G": [3, 1, 2, 0]})


@SLOW
@given(RACE_FREE, st.integers(-2, 6), CONTENTS, st.integers(1, 30), st.integers(1, 3))
def test_blocks_without_races(body: Stmt, n: int, contents: list[int], latency: int, processors: int) -> None:
    """Warps of 4, 4 and 2 threads that meet at barriers, or end before."""
    arrays = {"H": contents}
    agree(of_block(body), DIM, (2, 1, 1), {"n": n, "m": 3}, arrays, latency=latency, processors=processors)


@examples(15, 2000)
@given(BODIES)
def test_what_is_compiled_can_be_printed_and_read(body: Stmt) -> None:
    p = compile_kernel(plain(body), (3, 2, 2)).program
    assert assemble(show(p), "k.simt") == p


# --- broken compilers ------------------------------------------------------------------------------------------------


def changed(change: Callable[[Instruction], Instruction]) -> Callable[[Kernel, Dim], Compiled]:
    """The compiler with a change to every instruction that it makes."""

    def broken(k: Kernel, block: Dim) -> Compiled:
        done = compile_kernel(k, block)
        p = replace(done.program, instructions=tuple(map(change, done.program.instructions)))
        return replace(done, program=p)

    return broken


def _swapped(i: Instruction) -> Instruction:
    return replace(i, zero=not i.zero) if isinstance(i, Branch) else i


def _no_barrier(i: Instruction) -> Instruction:
    return Copy("_0", Const(0)) if isinstance(i, Barrier) else i


def _off_by_one(i: Instruction) -> Instruction:
    return replace(i, op="<=") if isinstance(i, Compute) and i.op == "<" else i


def _other_remainder(i: Instruction) -> Instruction:
    return replace(i, op="/") if isinstance(i, Compute) and i.op == "%" else i


def _no_address(i: Instruction) -> Instruction:
    return replace(i, address=Const(0)) if isinstance(i, Store) else i


MUTANTS = {
    "branches the wrong way": _swapped,
    "no barriers": _no_barrier,
    "<= for <": _off_by_one,
    "/ for %": _other_remainder,
    "stores to address 0": _no_address,
}
TID = Tid("x")
X = Var("x")
S = Array("S", "shared", INT, 4)
G = Array("G", "global", INT, 4)
TELLING = seq(
    While(Op("<", (X, TID)), Assign("x", Op("+", (X, Const(1))))),
    Write("S", TID, Op("+", (Op("*", (X, Const(2))), Op("%", (TID, Const(3)))))),
    Sync(),
    Write("G", TID, Read("S", Op("-", (Const(9), TID)))),
)
"""Ten threads that go round a loop as often as their number says; each reads what one of another warp has written."""


def telling(**options: Any) -> tuple[Any, Any]:
    k = Kernel("k", (), (G, S), (Decl("x", INT),), TELLING)
    launch: Any = (k, (10, 1, 1), (1, 1, 1), {}, {})
    return by_machine(*launch, step_limit=2000, **options), by_lockstep(*launch)


def test_the_telling_kernel_is_compiled_right() -> None:
    found, expected = telling()
    assert found == expected == {"G": {t: 2 * (9 - t) + (9 - t) % 3 for t in range(10)}}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_compiler_is_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "compile_kernel", changed(MUTANTS[mutant]))
    try:
        found, expected = telling()
    except (Endless, RunProblem):
        return
    assert found != expected


def test_temporaries_that_overwrite_each_other_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler._Code, "temporary", lambda *_: "_0")
    found, expected = telling()
    assert found != expected


# --- by example ------------------------------------------------------------------------------------------------------


def text_of(body: Stmt, block: Dim = (4, 1, 1), *locals_: Decl, arrays: tuple[Array, ...] = (G,)) -> str:
    return show(compile_kernel(Kernel("k", (Decl("n", INT),), arrays, locals_, body), block).program)


def test_loops_and_branches() -> None:
    body = While(Op("<", (X, Param("n"))), If(Op("==", (TID, X)), Assign("x", Const(5)), Write("G", X, TID)))
    assert text_of(body, (4, 1, 1), Decl("x", INT)) == (
        ".param n\n"
        ".init G = 0\n"
        "loop1: binop _0 = x < n\n"
        "       bz _0, end2\n"
        "       binop _0 = Tid == x\n"
        "       bnz _0, then4\n"
        "       binop _0 = G + x\n"
        "       store _0 = Tid\n"
        "       jump end3\n"
        "then4: const x = 5\n"
        "end3:  sync\n"
        "       jump loop1\n"
        "end2:  sync"
    )


def test_the_thread_index_in_a_block_of_three_dimensions() -> None:
    body = Write("G", Op("+", (Tid("y"), Tid("z"))), Tid("x"))
    assert text_of(body, (2, 3, 4)).splitlines()[1:5] == [
        "binop tid.x = Tid % 2",
        "binop tid.y = Tid / 2",
        "binop tid.y = tid.y % 3",
        "binop tid.z = Tid / 6",
    ]
    place = Op("+", (Op("*", (Tid("z"), Const(100))), Op("+", (Op("*", (Tid("y"), Const(10))), Tid("x")))))
    k = Kernel("k", (), (G,), (), Write("G", place, Const(1)))
    cells = run_kernel(k, (2, 3, 4), (1, 1, 1), {}).arrays["G"]
    assert set(cells) == {100 * z + 10 * y + x for x in range(2) for y in range(3) for z in range(4)}


def test_names_that_mean_something_to_the_machine_are_changed() -> None:
    names = ("Tid", "threads", "Tid_", "_0")
    body = seq(
        *(Assign(x, Const(n)) for n, x in enumerate(names)),
        Write("G", Op("+", (TID, Const(0))), Op("+", (Op("+", (Var("Tid"), Var("Tid_"))), Var("_0")))),
    )
    k = Kernel("k", (), (G,), tuple(Decl(x, INT) for x in names), body)
    assert run_kernel(k, (2, 1, 1), (1, 1, 1), {}).arrays == {"G": {0: 5, 1: 5}}


def test_a_barrier_in_the_source_is_one_wherever_it_is_lowered_to() -> None:
    here = Loc("k.cu", 3, 1)
    body = If(Op("<", (TID, Const(4))), Sync(here), Sync(here))
    k = Kernel("k", (), (), (), body)
    assert run_kernel(k, (8, 1, 1), (1, 1, 1), {}, warp_size=4).cycles > 0
    with pytest.raises(Deadlock):
        run_kernel(replace(k, body=If(Op("<", (TID, Const(4))), Sync(), Sync())), (8, 1, 1), (1, 1, 1), {}, warp_size=4)


def test_a_barrier_may_be_the_last_thing() -> None:
    """The warp that waits there has not ended, and when it is let go the others' barrier has lost its last thread."""
    first = If(Op("<", (TID, Const(4))), Sync(Loc("k.cu", 1, 1)), seq(Assign("x", TID), Skip()))
    k = Kernel("k", (), (), (Decl("x", INT),), first)
    assert run_kernel(k, (8, 1, 1), (1, 1, 1), {}, warp_size=4).issued > 0
    assert run_kernel(replace(k, body=Sync()), (8, 1, 1), (1, 1, 1), {}, warp_size=4).cycles == 2


def test_floating_point_is_that_of_the_semantics() -> None:
    x, d = Array("X", "global", FLOAT, 4), Array("D", "global", DOUBLE, 8)
    tenth, f = Const("0.1f", FLOAT), Op("as:float", (TID,))
    body = seq(
        Assign("s", Op("+", (Var("s"), Op("*", (f, tenth))))),
        Write("X", TID, Op("call:sqrtf", (Op("+", (Var("s"), tenth)),))),
        Write("D", TID, Op("?:", (Op("<", (Var("s"), tenth)), Const("1e999", DOUBLE), Const("-1e-3", DOUBLE)))),
        Write("D", Op("+", (TID, Const(8))), Op("as:double", (Op("neg", (Var("s"),)),))),
        Assign("q", Op("bool", (Op("int", (Op("*", (f, f)),)),))),
        If(Op("!", (Var("q"),)), Write("D", Const(20), Const("2.5", DOUBLE)), Skip()),
    )
    k = Kernel("k", (), (x, d), (Decl("s", FLOAT), Decl("q", BOOL)), body)
    launch: Any = (k, (4, 1, 1), (1, 1, 1), {}, {})
    found, expected = by_machine(*launch), by_lockstep(*launch)
    assert repr(found) == repr(expected)  # 0.0 is not -0.0
    assert len(found["D"]) == 9


def test_other_types_of_floating_point_are_computed_in_double() -> None:
    real = Type("base", "real", 8)
    x = Array("X", "global", real, 8)
    body = seq(
        Assign("s", Op("as:real", (Const("0.1", DOUBLE),))),
        Write("X", TID, Op("+", (Var("s"), Var("s")))),
    )
    k = Kernel("k", (), (x,), (Decl("s", real),), body)
    launch: Any = (k, (1, 1, 1), (1, 1, 1), {}, {})
    assert by_machine(*launch) == by_lockstep(*launch) == {"X": {0: 0.2}}
    p = compile_kernel(k, (1, 1, 1)).program
    assert assemble(show(p), "k.simt") == p


@pytest.mark.parametrize(
    ("name", "block", "extent", "args", "arrays"),
    [
        ("vectorAdd", (64, 1, 1), (5, 1, 1), {"numElements": 300}, {"A": np.linspace(0, 1, 300)}),
        ("matMul", (32, 4, 1), (2, 1, 1), {"wA": 20, "wB": 33}, {"A": np.linspace(0, 1, 900), "B": [0.5, 0.25]}),
        ("reduce0", (64, 1, 1), (3, 1, 1), {"n": 150}, {"g_idata": Initial(lambda i: i)}),
        ("reduce3a", (64, 1, 1), (3, 1, 1), {"n": 150}, {"g_idata": Initial(lambda i: i, 200)}),
        ("addSub3", (40, 1, 1), (2, 1, 1), {"w": 37, "h": 6}, {"B": Initial(lambda i: i)}),
        ("fan2", (40, 1, 1), (1, 1, 1), {"N": 30, "t": 2}, {"M": np.linspace(0, 3, 900), "A": np.ones(900)}),
        ("listRanking", (8, 1, 1), (4, 1, 1), {"N": 60, "len": 7}, {"next": (np.arange(60) * 7 + 3) % 60}),
    ],
)
def test_kernels_of_the_suite(name: str, block: Dim, extent: Dim, args: Any, arrays: Any) -> None:
    k = read_cuda(str(ROOT / "proofs" / name / "kernel.cu"), None).kernel
    done = run_kernel(k, block, extent, args, arrays)
    expected = grid.run(k, block, extent, args, arrays)
    assert done.arrays == expected.arrays
    assert {str(o) for o in done.out_of_bounds} == {str(o) for o in expected.out_of_bounds}


def test_what_is_out_of_bounds_is_told_in_terms_of_the_arrays() -> None:
    far = Array("S", "shared", INT, 4, length=3)
    body = seq(
        Write("G", Op("-", (TID, Const(1))), Const(7), Loc("k.cu", 1, 1)),
        Assign("x", Read("S", TID, Loc("k.cu", 2, 1))),
    )
    k = Kernel("k", (), (G, far), (Decl("x", INT),), body)
    launch: Any = (k, (2, 2, 1), (1, 1, 1), {}, {})
    found = run_kernel(*launch)
    assert [str(o) for o in found.out_of_bounds] == [
        "store of G[-1] by thread (0,0,0) of block (0,0,0), but 'G' starts at 0",
    ]
    assert found.arrays == grid.run(*launch).arrays == {"G": {0: 7}}
