"""Which branch a `sync` belongs to, and programs whose threads would not rejoin."""

from __future__ import annotations

import pytest

from logic.source import Loc
from logic.syntax import Const, Var
from semantics.machine.program import (
    Barrier,
    Branch,
    Compute,
    Copy,
    Instruction,
    Jump,
    Load,
    Operand,
    ProgramProblem,
    Store,
    Sync,
    opcode,
    operands,
    program,
    successors,
    variables,
    written,
)
from semantics.machine.text import assemble


def rejoin(text: str) -> dict[str, str]:
    """The branches and their syncs, by label."""
    p = assemble(".param p\n" + text, "f.simt")
    return {p.name(branch): p.name(sync) for branch, sync in p.rejoin.items()}


def test_an_if() -> None:
    assert rejoin("b: bz p, e\nconst x = 1\ne: sync") == {"b": "e"}


def test_nested_ifs() -> None:
    assert rejoin("a: bz p, e\nb: bnz p, d\nconst x = 1\nd: sync\ne: sync") == {"a": "e", "b": "d"}


def test_a_loop_that_tests_first() -> None:
    assert rejoin("l: bz p, e\na: bz p, b\nconst x = 1\nb: sync\njump l\ne: sync") == {"l": "e", "a": "b"}


def test_a_loop_that_tests_last() -> None:
    assert rejoin("l: const x = 1\nb: bnz p, l\ne: sync") == {"b": "e"}


def test_loops_in_loops() -> None:
    text = "k: bz p, f\nl: bz p, e\njump l\ne: sync\njump k\nf: sync"
    assert rejoin(text) == {"k": "f", "l": "e"}
    assert rejoin("k: l: const x = 1\nb: bnz p, l\nd: sync\nc: bnz p, k\ne: sync") == {"b": "d", "c": "e"}


def test_deeply_nested_branches() -> None:
    depth = 200
    text = "".join(f"b{n}: bz p, e{n}\n" for n in range(depth)) + "".join(
        f"e{n}: sync\n" for n in reversed(range(depth))
    )
    assert rejoin(text) == {f"b{n}": f"e{n}" for n in range(depth)}


def test_an_endless_loop_needs_no_end() -> None:
    assert rejoin("l: const x = 1\njump l") == {}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("sync", 2, "this sync rejoins nothing: no branch is open here"),
        ("b: bz p, e\ne: sync\nsync", 4, "this sync rejoins nothing: no branch is open here"),
        ("b: bz p, e\ne: const x = 1", 2, "no sync rejoins the threads that part here before the program ends"),
        ("b: bz p, e\nsync\ne: const x = 1", 2, "no sync rejoins the threads that part here before the program ends"),
        ("a: bz p, e\nb: bz p, e\ne: sync", 2, "no sync rejoins the threads that part here before the program ends"),
        (
            "a: bz p, e\nb: bz p, e\ne: sync\nx: jump x",
            4,
            "this sync would rejoin two branches, b (line 3) and a (line 2)",
        ),
        (
            "a: bz p, d\nsync\njump e\nd: sync\ne: const x = 1",
            5,
            "a second sync for a (line 2), which sync (line 3) rejoins",
        ),
        (
            "l: bz p, e\nb: bz p, d\njump l\nd: sync\njump l\ne: sync",
            2,
            "this branch is reached again before a sync for b (line 3)",
        ),
    ],
)
def test_unbalanced_syncs_are_refused(text: str, line: int, message: str) -> None:
    with pytest.raises(ProgramProblem) as caught:
        rejoin(text)
    assert (caught.value.loc and caught.value.loc.line, caught.value.message) == (line, message)
    assert caught.value.advice


def test_a_sync_that_is_never_reached_is_nobodys() -> None:
    assert rejoin("l: bz p, e\njump l\ne: sync\njump l\nsync") == {"l": "e"}


def test_what_instructions_read_and_write() -> None:
    x, y, one = Var("x"), Var("y"), Const(1)
    table: list[tuple[Instruction, str, tuple[Operand, ...], str | None, tuple[int, ...]]] = [
        (Branch(True, x, 0), "bz", (x,), None, (0, 8)),
        (Branch(False, x, 0), "bnz", (x,), None, (0, 8)),
        (Jump(3), "jump", (), None, (3,)),
        (Load("v", x), "load", (x,), "v", (8,)),
        (Store(x, y), "store", (x, y), None, (8,)),
        (Copy("v", one), "const", (one,), "v", (8,)),
        (Compute("v", "+", (x, one)), "binop", (x, one), "v", (8,)),
        (Compute("v", "?:", (x, y, one)), "call", (x, y, one), "v", (8,)),
        (Sync(), "sync", (), None, (8,)),
        (Barrier(one, None), "barrier", (one,), None, (8,)),
        (Barrier(one, x), "barrier", (one, x), None, (8,)),
    ]
    for i, word, reads, writes, after in table:
        assert (opcode(i), operands(i), written(i), successors(7, i)) == (word, reads, writes, after)


def test_variables_in_the_order_in_which_they_come_up() -> None:
    p = assemble(".init c = threads\n.param n\nload x = c\nbinop y = x + Tid\nstore n = y", "f.simt")
    assert list(variables(p)) == ["c", "n", "x", "Tid", "y"]


def test_a_program_without_places_can_be_refused_too() -> None:
    with pytest.raises(ProgramProblem, match="rejoins nothing") as caught:
        program((), (Sync(),), {})
    assert caught.value.loc is None
    with pytest.raises(ProgramProblem, match="no instructions"):
        program((), (), {})
    with pytest.raises(ProgramProblem, match="nothing gives 'x'") as missing:
        program((), (Store(Const(0), Var("x", Loc("f", 1, 2))),), {})
    assert missing.value.loc == Loc("f", 1, 2)
