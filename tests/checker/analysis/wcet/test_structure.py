"""Programs as trees, and jumps that make none."""

from __future__ import annotations

import pytest
from hypothesis import given

from checker.analysis.wcet.structure import Block, Choice, Loop, ShapeProblem, Step, first, nodes, structure
from logic.syntax import Stmt
from semantics.machine.compile import compile_kernel
from semantics.machine.program import Program
from semantics.machine.text import assemble
from tests.checker.analysis.wcet.programs import programs
from tests.checker.programs import BODIES
from tests.checker.programs import kernel as plain
from tests.examples import examples


def addresses(block: Block) -> list[int]:
    """Every address in a tree."""
    found: list[int] = []
    for node in nodes(block):
        match node:
            case Step(at):
                found.append(at)
            case Choice(branch, _, _, leap, sync):
                found += [branch, sync] + ([] if leap is None else [leap])
            case Loop(_, branch, _, jump, sync):
                found += [branch, sync] + ([] if jump is None else [jump])
    return found


def covers(p: Program) -> bool:
    return sorted(addresses(structure(p))) == list(range(len(p.instructions)))


def test_a_loop_is_found_with_its_head() -> None:
    p = assemble("const x = 3\nl: binop p = x > 0\nbz p, e\nbinop x = x - 1\njump l\ne: sync\nstore x = x", "k")
    assert structure(p) == (Step(0), Loop((Step(1),), 2, (Step(3),), 4, 5), Step(6))


def test_a_loop_tested_at_its_end() -> None:
    p = assemble("const x = 3\nl: binop x = x - 1\nbnz x, l\nsync", "k")
    assert structure(p) == (Step(0), Loop((Step(1),), 2, (), None, 3))


def test_choices_with_one_way_and_with_two() -> None:
    p = assemble("bz Tid, e\nconst x = 1\ne: sync\nbnz Tid, t\nconst x = 1\njump f\nt: const x = 2\nf: sync", "k")
    assert structure(p) == (Choice(0, (Step(1),), (), None, 2), Choice(3, (Step(4),), (Step(6),), 5, 7))


def test_where_nodes_begin() -> None:
    assert first(Loop((Step(4), Step(5)), 6, (), 7, 8)) == 4
    assert first(Loop((), 6, (), 7, 8)) == first(Choice(6, (), (), None, 7)) == first(Step(6)) == 6


@examples(30, 2000)
@given(BODIES)
def test_every_compiled_kernel_has_a_tree(body: Stmt) -> None:
    assert covers(compile_kernel(plain(body), (3, 2, 1)).program)


@examples(30, 2000)
@given(programs())
def test_every_program_of_ours_has_a_tree(text: str) -> None:
    assert covers(assemble(text, "k"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("jump l\nl: const x = 1", 1),
        ("l: const x = 1\njump l", 2),
        ("l: const x = 1\nbnz Tid, l\nconst x = 2\nsync", 2),
        ("bz Tid, t\nconst x = 1\nt: const x = 2\nsync", 1),
        ("const x = 1\nbz Tid, l\nl: const x = 2\njump e\ne: sync", 2),
    ],
)
def test_other_jumps_are_refused_at_their_place(text: str, line: int) -> None:
    with pytest.raises(ShapeProblem) as caught:
        structure(assemble(text, "k"))
    assert caught.value.loc is not None
    assert caught.value.loc.line == line
