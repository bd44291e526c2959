"""The lowering against a host compiler and a graph of the source: no access is other, no metric lower.

The quick run has a few kernels, always the same; WARPBOUND_PROFILE=long tries others each time, some hundred.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from semantics.cuda import CudaError
from tests.semantics.cuda.hosted import COMPILER, Step, Warp, ours, problems, traces
from tests.semantics.cuda.wild import Generator, Printer, Program, Stmt, Test

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no g++ to compile kernels for the host with")

LONG = os.environ.get("WARPBOUND_PROFILE") == "long"
FIRST = random.randrange(10**6) if LONG else 58
SEEDS = range(FIRST, FIRST + (300 if LONG else 8))
"""Kernel 58 is one that the lowering of sections for every way in gave no conflicts."""


def do(text: str, number: int) -> Stmt:
    return Stmt("do", number, text)


def loop(number: int, form: str, test: str | None, *body: Stmt) -> Stmt:
    c = f"i{number}"
    given = None if test is None else Test(test)
    return Stmt("loop", number, test=given, body=list(body), form=form, init=f"{c} = 0", step=f"{c}++")


STORE = "S@[((t >> 1) + 32 * (t & 1)) & 255]@ = x"
SWITCH = Stmt("switch", 2, "t & 1", sections=[(["case 0"], [do("x = 1", 4)]), (["default"], [do(STORE, 6)])])
MANY = Stmt(
    "switch",
    2,
    "t & 7",
    sections=[
        *(([f"case {i}"], [do("x++", 10 + 2 * i)]) for i in range(7)),
        (["default"], [do("S@[(t >> 3) + 32 * (t & 7)]@ = x", 4)]),
    ],
)
BRANCHES = Stmt(
    "switch",
    2,
    "t & 1",
    sections=[
        (["case 0"], [do("x = 100", 4)]),
        (["default"], [loop(6, "for", "i6 < 10", Stmt("if", 8, test=Test("x > 50"), body=[do("B@[0]@ = x", 10)]))]),
    ],
)
LEAVE = [do("S@[(32 * t) & 255]@ = x", 4), Stmt("break", 6)]
EXIT = loop(2, "endless", None, do("i2++", 8), Stmt("if", 10, test=Test("i2 > t"), body=LEAVE))
RETURN = loop(
    2,
    "ever",
    None,
    loop(12, "for", "i12 < 3", Stmt("if", 10, test=Test("3 * i2 + i12 > t"), body=[*LEAVE[:1], Stmt("return", 6)])),
)

WORTH = {
    # what runs of all lanes cost by a graph of the source: 16 lanes, metric, cost
    "a section that is fallen into": (loop(20, "for", "i20 < 40", SWITCH), "conflicts", 40),
    "sections that all fall through": (loop(40, "for", "i40 < 5", MANY), "conflicts", 5 * 7),
    "branches in a section that is fallen into": (BRANCHES, "divwarps", 1 + 10),
    "the only way out of a loop": (EXIT, "conflicts", 7),
    "the only way out of two loops": (RETURN, "conflicts", 7),
}


KNOWN = {name: Program(f"known{i}", [], [stmt]) for i, (name, (stmt, _, _)) in enumerate(WORTH.items())}
RANDOM = [Generator(seed).program() for seed in SEEDS]
Traces = dict[str, list[list[Step]]]


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """What the lanes of all kernels do, by the kernels' names: one run of the compiler."""
    programs = [*KNOWN.values(), *RANDOM]
    found = traces(programs, tmp_path_factory.mktemp("hosted"))
    return {p.name: s for p, s in zip(programs, found, strict=True)}


@pytest.mark.parametrize("name", WORTH)
def test_known_costs(name: str, steps: Traces, tmp_path: Path) -> None:
    _, metric, cost = WORTH[name]
    program = KNOWN[name]
    warp = Warp(steps[program.name])
    warp.go(program.body)
    assert warp.costs[metric] == cost
    assert ours(Printer(False).program(program), program.name, tmp_path)[0][metric] == cost
    assert problems(program, steps[program.name], tmp_path) == []


@pytest.mark.whole
def test_random_kernels(steps: Traces, tmp_path: Path) -> None:
    found, refused = [], 0
    for program in RANDOM:
        try:
            found += [(program.name, p) for p in problems(program, steps[program.name], tmp_path)]
        except CudaError:
            refused += 1
    assert found == []
    assert refused <= len(RANDOM) // 10


def test_lanes_that_are_parted_are_seen(steps: Traces, tmp_path: Path) -> None:
    """The comparison has teeth: a text in which lanes do apart what they do together costs too little."""
    program = KNOWN["a section that is fallen into"]
    text = Printer(False).program(program)
    store = Printer(False).expr(STORE)
    parted = text.replace("x = 1;", f"x = 1; {store}; break;")
    assert parted != text
    assert problems(program, steps[program.name], tmp_path, parted) == ["conflicts: 0, compiled 40"]


def test_another_access_is_seen(steps: Traces, tmp_path: Path) -> None:
    program = KNOWN["sections that all fall through"]
    text = Printer(False).program(program).replace("32 * (t & 7)", "33 * (t & 7)")
    found = problems(program, steps[program.name], tmp_path, text)
    assert found[-1].startswith("lane 1 does {('store', 'S', 33): 5} more and {('store', 'S', 32): 5} less")
