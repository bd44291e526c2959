"""Programs read back to miniCUDA cost what they issue."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, note, reject
from hypothesis import strategies as st

from checker.analysis.wcet import readback
from checker.analysis.wcet.structure import structure
from logic.syntax import Kernel, Stmt, show_stmt
from logic.typing import check_kernel
from semantics import grid
from semantics.grid import BarrierDivergence
from semantics.lockstep import StepLimit
from semantics.machine.compile import compile_kernel
from semantics.machine.launch import Launch
from semantics.machine.program import Param, Program
from semantics.machine.text import assemble
from tests.checker.analysis.wcet.launches import on_machine
from tests.checker.analysis.wcet.programs import programs
from tests.checker.programs import BODIES, TINY
from tests.checker.programs import kernel as plain
from tests.examples import examples

MANY = examples(25, 2000)


def read(text: str, threads: int = 4, width: int = 4) -> Kernel:
    p = assemble(text, "k")
    return readback.kernel(p, structure(p), threads, width, "k")


def pair(p: Program, launch: Launch) -> tuple[int, int]:
    """What the machine issues and what the kernel costs, in a memory of zeros."""
    kernel = readback.kernel(p, structure(p), launch.threads, launch.warp_size, "k")
    check_kernel(kernel)
    note(show_stmt(kernel.body))
    done = on_machine(p, launch)
    args = {readback.named(name): value for name, value in launch.params.items()}
    hardware = replace(TINY, warp=launch.warp_size)
    metrics = (readback.PRICES.issued, readback.PRICES.loads)
    try:
        cost = grid.run(kernel, (launch.threads, 1, 1), (1, 1, 1), args, {}, metrics, hardware, step_limit=50_000)
    except (BarrierDivergence, StepLimit):
        reject()
    return done.issued, int(cost.totals["instructions"])


@MANY
@given(BODIES, st.integers(1, 4), st.integers(-2, 6))
def test_compiled_kernels_cost_what_they_issue(body: Stmt, lanes: int, n: int) -> None:
    p = compile_kernel(plain(body), (lanes, 1, 1)).program
    given_ = {"n": n, "m": 3} | {f"{d}.{a}": d == "gridDim" for d in ("blockIdx", "gridDim") for a in "xyz"}
    names = {d.var for d in p.directives if isinstance(d, Param)}
    issued, cost = pair(p, Launch(lanes, 4, 3, {x: int(given_[x]) for x in names}))
    assert issued == cost


@MANY
@given(programs(), st.integers(1, 4), st.integers(-1, 4))
def test_programs_cost_no_less_than_they_issue(text: str, lanes: int, n: int) -> None:
    """The variables that are initialised and then written cost an assignment each, loops tested at their end more."""
    p = assemble(text.replace(".data 0 = 3, 0, 1, 2", ""), "k")
    issued, cost = pair(p, Launch(lanes, 4, 3, {"n": n}))
    assert issued <= cost


def test_a_branch_tests_what_has_just_been_computed() -> None:
    text = "const i = Tid\nl: binop p = i < threads\nbz p, e\nbinop i = i + 2\njump l\ne: sync"
    assert show_stmt(read(text).body) == (
        "i <- tid.x;\np <- int(i < 4);\nwhile (i < 4) {\n  i <- i + 2;\n  p <- int(i < 4);\n}"
    )


def test_a_test_may_be_made_of_tests() -> None:
    text = "load x = 0\nbinop q = n < 4\nbinop p = q && x\nbz p, e\nconst x = 1\ne: sync"
    body = show_stmt(read(f".param n\n{text}").body)
    assert "p <- int(q != 0 && x != 0);\nif (n < 4 && x != 0) {" in body


def test_what_is_overwritten_in_between_is_not_tested() -> None:
    text = "const i = Tid\nbinop p = i < 2\nbinop i = i + 1\nbnz p, e\nconst x = 1\ne: sync"
    assert "if (p == 0)" in show_stmt(read(text).body)


def test_numbers_that_are_not_whole_are_any_number() -> None:
    body = show_stmt(read("binop.float x = 0.5 + 0.5\ncall y = sqrt(x)\nstore 0 = y").body)
    assert body == "x <- anything[tid.x];\ny <- anything[tid.x];\nmemory[0] <- y;"


def test_names_with_a_meaning_in_the_kernel_are_changed() -> None:
    kernel = read(".param blockIdx.x\n.param memory\n.param x\nconst more = memory\nbinop x = x + blockIdx.x")
    check_kernel(kernel)
    assert [d.name for d in kernel.params] == ["blockIdx.x_", "memory_", "x"]
    assert show_stmt(kernel.body) == "v.x <- x;\nmore_ <- memory_;\nv.x <- v.x + blockIdx.x_;"


def test_names_stay_apart() -> None:
    names = ["x", "x_", "x__", "more", "more_", "v.x", "v.x_", "memory"]
    assert len({readback.named(x) for x in names}) == len(names)
