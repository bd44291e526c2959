"""Every estimate of mode `sound` beside the machine, on random kernels, launches, latencies and processors."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest
from hypothesis import given, note, reject
from hypothesis import strategies as st

from checker.analysis.wcet import sound
from checker.analysis.wcet.estimate import Estimate, Job, estimate, kernel_job, program_job
from checker.analysis.wcet.lanes import Unbounded
from logic.syntax import (
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
from semantics.events import Dim
from semantics.machine.arithmetic import RunProblem
from semantics.machine.blocks import run_kernel
from semantics.machine.launch import Launch, LaunchProblem
from semantics.machine.simulate import run
from semantics.machine.text import assemble
from semantics.machine.trace import Deadlock, Endless
from tests.checker.analysis.wcet.launches import LIMIT, on_machine, outline
from tests.checker.programs import kernel as plain
from tests.examples import examples
from tests.semantics.blocks import DIM, RACE_FREE
from tests.semantics.blocks import kernel as of_block

MANY = examples(25, 2000)
FEW = examples(5, 200)
CELLS = st.lists(st.integers(-3, 9), max_size=8)


def of_kernel(
    k: Kernel, block: Dim, blocks: Dim, at: dict[str, int], warp: int = 4, latency: int = 10, processors: int = 1
) -> Job:
    return kernel_job(outline(k, block, blocks, warp), block, blocks, at, latency, processors)


def cycles(k: Kernel, job: Job, block: Dim, arrays: Any) -> int:
    """What the machine takes; rejects what does not end."""
    note(show_stmt(k.body))
    try:
        at = dict(job.at)
        return run_kernel(
            k, block, job.blocks, at, arrays, job.warp_size, job.latency, job.processors, step_limit=LIMIT
        ).cycles
    except (Deadlock, Endless, RunProblem):
        reject()


# --- on random kernels -----------------------------------------------------------------------------------------------


def no_logic(*_: object) -> NoReturn:
    raise Unbounded("left out", None)


@MANY
@given(
    RACE_FREE, st.integers(-2, 4), CELLS, st.integers(1, 11), st.integers(1, 30), st.integers(1, 3), st.integers(1, 3)
)
def test_lanes_of_blocks_with_barriers(
    body: Stmt, n: int, cells: list[int], warp: int, latency: int, blocks: int, processors: int
) -> None:
    k = of_block(body)
    job = of_kernel(k, DIM, (blocks, 1, 1), {"n": n, "m": 3}, warp, latency, processors)
    done = cycles(k, job, DIM, {"H": cells})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sound, "certify", no_logic)
        try:
            found = estimate(job, "sound")
        except Unbounded:
            reject()
    assert found.cycles is not None
    assert done <= found.cycles


COUNTER, TID = Var("i"), Tid("x")
LOADS = st.sampled_from(
    [Assign("j", Read("H", TID)), Assign("j", Read("S", COUNTER)), Write("S", TID, Read("S", COUNTER))]
)
OTHERS = st.sampled_from([Assign("j", TID), Write("H", TID, COUNTER), Assign("j", Op("+", (Var("j"), Const(1))))])
TESTS = st.builds(
    lambda op, a, b: Op(op, (a, b)),
    st.sampled_from(["<", ">=", "=="]),
    st.sampled_from([TID, Var("j"), Read("S", TID)]),
    st.sampled_from([Const(2), Param("n"), TID]),
)
SIMPLE = LOADS | OTHERS
PARTS = SIMPLE | st.builds(If, TESTS, SIMPLE, SIMPLE | st.just(Skip()))
LOOPS = st.builds(
    lambda limit, part: seq(
        Assign("i", Const(0)),
        While(Op("<", (COUNTER, limit)), seq(part, Assign("i", Op("+", (COUNTER, Const(1)))))),
    ),
    st.sampled_from([Const(2), Param("n")]),
    PARTS,
)
PHASED = st.builds(lambda a, b, c: seq(a, Sync(), b, c), PARTS | LOOPS, PARTS, LOOPS)


@FEW
@given(PHASED, st.integers(-1, 4), CELLS, st.integers(1, 9), st.integers(1, 4), st.integers(1, 30), st.integers(1, 2))
def test_formulas_of_kernels(
    body: Stmt, n: int, cells: list[int], threads: int, warp: int, latency: int, blocks: int
) -> None:
    """Races between warps included."""
    k, block = plain(body), (threads, 1, 1)
    job = of_kernel(k, block, (blocks, 1, 1), {"n": n, "m": 3}, warp, latency)
    done = cycles(k, job, block, {"H": cells})
    found = estimate(job, "sound")
    note(str(found))
    assert set(found.bounds) == {"certified", "enumerated"}
    assert all(done <= bound for bound in found.bounds.values())
    assert found.work_span is not None
    assert done <= found.work_span


@FEW
@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 30), st.integers(-1, 4), st.sampled_from(["<", "<=", "!="]))
def test_formulas_of_programs(threads: int, warp: int, latency: int, n: int, op: str) -> None:
    text = ROWS.replace("<", op)
    p = assemble(text, "k")
    done = on_machine(p, Launch(threads, warp, latency, {"n": n}))
    found = of_program(text, Launch(threads, warp, latency), n=n)
    assert found.bounds
    assert all(done.cycles <= bound for bound in found.bounds.values())


# --- which bound ------------------------------------------------------------------------------------------------------


def of_program(text: str, launch: Launch, mode: str = "sound", **at: int) -> Estimate:
    return estimate(program_job(assemble(text, "k"), at, launch, "k"), "paper" if mode == "paper" else "sound")


ROWS = ".param n\nconst d = 0\nl: binop p = d < n\nbz p, e\nload x = d\nbinop d = d + 1\njump l\ne: sync"


def test_a_formula_without_values() -> None:
    found = of_program(ROWS, Launch(8, 4, 10))
    assert (found.cycles, str(found.formula)) == (None, "8 + 19*max(0, n)")
    assert found.bounds == {}


def test_the_smaller_bound_counts() -> None:
    found = of_program(ROWS, Launch(8, 4, 10), n=3)
    assert found.bounds == {"certified": 65, "enumerated": 65}
    assert (found.cycles, found.evidence) == (65, "certified")
    text = "const a = Tid\nconst b = 21\nl: bz b, e\nbinop r = a % b\nconst a = b\nconst b = r\njump l\ne: sync"
    found = of_program(text, Launch(9, 4))
    assert (found.cycles, found.evidence) == (run(assemble(text, "k"), Launch(9, 4)).cycles, "enumerated")
    assert found.formula is None
    assert found.problem is not None


def test_a_limit_that_is_made_step_by_step_in_each_lane() -> None:
    head = "const i = Tid\nbinop L = Tid + 1\nbinop L = L * 16\nbinop L = L + Tid\n"
    text = f"{head}l: binop p = i < L\nbz p, e\nbinop i = i + 16\njump l\ne: sync"
    found = of_program(text, Launch(8, 8, 10))
    assert set(found.bounds) == {"certified", "enumerated"}
    assert found.bounds["certified"] >= run(assemble(text, "k"), Launch(8, 8, 10)).cycles


def test_memory_may_decide_where_the_logic_knows_a_bound() -> None:
    text = "const i = 0\nl: load x = i\nbinop q = i < 3\nbinop p = q && x\nbz p, e\nbinop i = i + 1\njump l\ne: sync"
    found = of_program(text, Launch(1, 1, 10))
    assert (found.cycles, found.evidence) == (1 + 4 * (4 + 9) + 3 * 2 + 1, "certified")
    assert found.engines == ()  # that q is 0 or 1, by its definition, both checkers see
    assert found.problem is not None
    p = assemble(text, "k")
    assert run(p, Launch(1, 1, 10), {0: 1, 1: 1, 2: 1}).cycles == found.cycles


ROUNDED = """
.data 0 = 0.5
load x = 0
{}
bz x, e
bnz y, f
const z = 1
const z = 2
const z = 3
f: sync
e: sync
"""


@pytest.mark.parametrize(
    "rounding",
    [
        "call y = int(x)",
        "const w = x\ncall y = int(w)",
        "call w = select(1, x, 2)\ncall y = int(w)",
        "call x = to_double(0.5)\ncall y = int(x)",
        "binop.float x = 0.5 * 1\ncall y = int(x)",
    ],
)
def test_a_number_may_be_0_only_when_it_is_rounded(rounding: str) -> None:
    text = ROUNDED.format(rounding)
    done = run(assemble(text, "k"), Launch(1, 1)).cycles
    assert of_program(text, Launch(1, 1)).bounds["certified"] == done


def test_rounding_what_is_whole_changes_nothing() -> None:
    found = of_program(
        "binop x = Tid + 1\ncall y = int(x)\nbz x, e\nbnz y, f\nconst z = 1\nf: sync\ne: sync", Launch(1, 1)
    )
    assert found.bounds["certified"] == 6


def test_nothing_bounds_it() -> None:
    with pytest.raises(Unbounded, match="no potential was found for this loop") as caught:
        of_program("load k = Tid\nl: bz k, e\nload k = k\njump l\ne: sync", Launch(4))
    assert caught.value.loc is not None
    assert caught.value.loc.line == 2


GUARDED = Kernel(
    "k",
    (Decl("n", INT),),
    (Array("G", "global", INT, 4),),
    (Decl("x", INT),),
    seq(
        Assign("x", Const(0)),
        If(
            Op("==", (Param("blockIdx.x"), Const(0))),
            While(Op("<", (Var("x"), Param("n"))), Assign("x", Op("+", (Var("x"), Const(1))))),
            Assign("x", Read("G", Tid("x"))),
        ),
    ),
)


def test_blocks_that_differ_are_dealt_out_one_by_one() -> None:
    job = of_kernel(GUARDED, (4, 1, 1), (3, 1, 1), {"n": 100}, processors=2)
    found = estimate(job, "sound")
    done = run_kernel(GUARDED, (4, 1, 1), (3, 1, 1), {"n": 100}, {}, 4, 10, 2)
    assert done.cycles == found.bounds["enumerated"]
    assert found.cycles == done.cycles


def test_the_formula_of_equal_blocks_is_for_the_launch() -> None:
    k = Kernel("k", (), (Array("G", "global", INT, 4),), (Decl("x", INT),), Assign("x", Read("G", Tid("x"))))
    found = estimate(of_kernel(k, (4, 1, 1), (5, 1, 1), {}, processors=2), "sound")
    assert str(found.formula) == str(3 * 11)
    assert found.cycles == 33


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (lambda: of_kernel(GUARDED, (4, 1, 1), (1, 1, 1), {"n": 1}, processors=0), "--processors 0"),
        (lambda: of_kernel(GUARDED, (4, 1, 1), (300, 300, 1), {"n": 1}), "90000 blocks"),
        (lambda: of_kernel(GUARDED, (4, 1, 1), (1, 1, 1), {"n": 1}, latency=0), "--latency 0"),
        (lambda: program_job(assemble(ROWS, "k"), {"m": 1}, Launch(1), "k"), "no parameter 'm'"),
    ],
)
def test_launches_that_cannot_be(job: Any, message: str) -> None:
    with pytest.raises(LaunchProblem, match=message):
        estimate(job(), "sound")


def test_the_paper_has_one_block_with_values() -> None:
    with pytest.raises(LaunchProblem, match="needs the values of n"):
        of_program(ROWS, Launch(8, 4), "paper")
    with pytest.raises(LaunchProblem, match="one block"):
        estimate(of_kernel(GUARDED, (4, 1, 1), (2, 1, 1), {"n": 1}), "paper")
