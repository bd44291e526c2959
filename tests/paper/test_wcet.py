"""Hirvisalo, WCET 2014: divergence of TriangleSum (section 5.1), its abstract warp (Fig. 3), abstract CTA simulation
(section 5.3) and what that leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.analysis.wcet.abstract import Memory, Time, Turns, Wait
from checker.analysis.wcet.cta import simulate
from checker.analysis.wcet.divergence import THREAD, Definition, chains
from checker.analysis.wcet.estimate import Estimate, Mode, estimate, program_job
from checker.analysis.wcet.structure import structure
from semantics.machine.launch import Launch
from semantics.machine.program import Program
from semantics.machine.simulate import run
from semantics.machine.text import assemble

PROOFS = Path(__file__).resolve().parents[2] / "proofs"
SIXTEEN = Launch(16, 4, 10)


def program(name: str) -> Program:
    path = PROOFS / name / "kernel.simt"
    return assemble(path.read_text(), str(path))


def estimated(name: str, launch: Launch, mode: Mode = "paper") -> Estimate:
    return estimate(program_job(program(name), launch.params, launch, name), mode)


# --- section 5.1 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("label", "divergent"), [("l08", True), ("l10", True), ("l14", False)])
def test_which_branches_of_triangle_sum_are_divergent(label: str, divergent: bool) -> None:
    p = program("triangleSum")
    (at,) = [at for at, name in p.labels.items() if name == label]
    assert chains(p, structure(p)).divergent(at) == divergent


def test_the_branch_at_l14_chains_to_both_definitions_of_d() -> None:
    """And to no other: (l00: const d = 0) and (l20: binop d = d + 1)."""
    p = program("triangleSum")
    at = {name: address for address, name in p.labels.items()}
    reached = chains(p, structure(p)).reach(Definition("test", at["l14"]))
    assert {d.address for d in reached if d.gate == "instruction" and d.var == "d"} == {at["l00"], at["l20"]}
    assert Definition("mu", at["l08"], "d") in reached
    assert THREAD not in reached


# --- Fig. 3 and section 5.3 ------------------------------------------------------------------------------------------


def test_the_abstract_warp() -> None:
    loop = Turns((Time(2),), (Time(7, 1), Memory(), Time(3), Wait(), Time(4)), 8)
    assert estimated("triangleSum", SIXTEEN).warp == (Time(7), loop, Time(4))


def test_the_iteration_counts() -> None:
    assert estimated("triangleSum", SIXTEEN).turns == {8: (4, 8, 12, 16)}


def test_the_estimate() -> None:
    assert estimated("triangleSum", SIXTEEN).cycles == 28 + 4 * (70 + 55 + 40 + 25) + 16 == 804


def test_the_convoying_shift_after_the_read() -> None:
    """1 before it, 3 after it: ten cycles are two rounds of four warps. With fewer warps left a round is shorter."""
    loop = Turns((Time(2),), (Time(7, 1), Memory(), Time(3), Wait(), Time(4)), 8)
    assert simulate((loop,), 4, 10, {8: (4, 4, 4, 4)}).shift == 3
    assert estimated("triangleSum", SIXTEEN).shift == 11


def test_the_estimate_of_one_warp() -> None:
    """All that section 2.2 has of it is the cycles, 91: four turns of 16 instructions with a stall of 9 each."""
    assert estimated("triangleSum", Launch(4, 4, 10)).cycles == 7 + 4 * (16 + 9) + 4


# --- what is missing -------------------------------------------------------------------------------------------------


def test_the_estimate_is_no_bound() -> None:
    """The smallest program below which the machine does not stay: the last test of a loop is not counted."""
    launch = Launch(1, 1, 10)
    assert run(program("lastTest"), launch).cycles == 2
    assert estimated("lastTest", launch).cycles == 1
    assert estimated("lastTest", launch, "sound").cycles == 2


@pytest.mark.parametrize("name", ["gcdSteps", "pickOne"])
def test_other_programs_above_the_estimate(name: str) -> None:
    launch = Launch(16, 8, 10) if name == "gcdSteps" else Launch(16, 4, 10)
    cycles = run(program(name), launch).cycles
    assert (estimated(name, launch).cycles or 0) < cycles
    assert (estimated(name, launch, "sound").cycles or 0) >= cycles


def test_triangle_sum_has_a_closer_bound() -> None:
    """804 over 688 is 1.17 in the paper."""
    found = estimated("triangleSum", SIXTEEN, "sound")
    cycles = run(program("triangleSum"), SIXTEEN).cycles
    assert found.cycles == 700
    assert cycles <= 700 < 1.03 * cycles
