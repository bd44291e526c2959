"""Costs by line: whose line a cost belongs to, how often a line was executed, and that nothing is lost."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from logic.metrics import METRICS
from logic.source import Loc
from logic.syntax import Assign, Const, Expr, If, Op, Read, Seq, Skip, Stmt, Sync, Tid, Var, While, Write, seq
from semantics import grid, parallel
from semantics.profile import LineCost, Lines
from tests.checker.programs import TINY
from tests.examples import examples
from tests.semantics.blocks import DIM, RACE_FREE, kernel

STEPS, SECTORS = METRICS["steps"], METRICS["sectors"]
TID = Tid("x")


def at(line: int, column: int = 1, file: str = "k.cu") -> Loc:
    return Loc(file, line, column)


def k(n: int, loc: Loc | None = None) -> Const:
    return Const(n, loc=loc)


def table(body: Stmt, home: Loc | None = None) -> dict[int, tuple[int, Any]]:
    """Executions and steps by line, of a run of one block of three warps."""
    program = replace(kernel(body), loc=home)
    lines = Lines(program)
    grid.run(program, DIM, (1, 1, 1), {"n": 0, "m": 0}, {}, (STEPS,), TINY, observer=lines)
    return {c.line: (c.executions, c.costs["steps"]) for c in lines.table((STEPS,))}


# --- whose line ------------------------------------------------------------------------------------------------------


def test_a_statement_on_several_lines() -> None:
    """Line 7 has an operand of line 6's statement and is executed as often."""
    value = Op("+", (Var("i", at(6, 5)), k(1, at(7, 5))), at(6, 7))
    assert table(Assign("i", value, at(6))) == {6: (3, 3 * 3), 7: (3, 3 * 1)}


def test_terms_without_a_place_have_their_statements() -> None:
    assert table(seq(Assign("i", Op("+", (Var("i"), k(1))), at(3)), Assign("j", k(2), at(4)))) == {
        3: (3, 3 * 4),
        4: (3, 3 * 2),
    }


def test_statements_without_a_place_have_that_of_the_one_around() -> None:
    body = seq(Assign("i", k(1)), Assign("j", k(1), at(9)))
    s = seq(If(Op("<", (TID, k(9))), body, Skip(), at(8)), Assign("a", k(1)))
    assert table(s, at(2)) == {8: (3, 3 * (3 + 1 + 2)), 9: (3, 3 * 2), 2: (3, 3 * 2)}
    loop = While(Op("<", (Var("i"), k(1))), Assign("i", k(1)), at(8))
    assert table(loop, at(2)) == {8: (3 * 2, 3 * (2 * 4 + 2))}
    assert table(Assign("a", k(1))) == {0: (3, 3 * 2)}


def test_a_loop_has_its_guard_and_divergence() -> None:
    """The threads of the warps go round 0 to 3 times; 4, 0, 1 and 2 times; 3 and 4 times."""
    s = While(Op("<", (Var("i"), TID)), Assign("i", Op("+", (Var("i"), k(1))), at(4)), at(3))
    rounds, diverging = 3 + 4 + 4, 3 + 3 + 1
    assert table(s) == {3: (rounds + 3, (rounds + 3) * 4 + diverging), 4: (rounds, rounds * 4)}


# --- executions ------------------------------------------------------------------------------------------------------


def test_a_line_is_executed_as_often_as_its_most_executed_statement() -> None:
    one = Op("==", (TID, k(0)))
    s = seq(Assign("i", k(1), at(3, 1)), If(one, Assign("j", k(1), at(3, 20)), Skip(), at(3, 9)), Sync(at(3, 30)))
    assert {line: n for line, (n, _) in table(s).items()} == {3: 3}


def test_copies_of_a_statement_are_one() -> None:
    """The body of a `do` loop appears twice in miniCUDA: before the loop and in it."""
    body = Assign("i", Op("+", (Var("i"), k(1))), at(4))
    copy = Assign("i", Op("+", (Var("i"), k(1))), at(4))
    loop = While(Op("<", (Var("i"), k(5))), copy, at(5))
    assert table(seq(body, loop)) == {4: (3 * 5, 3 * 5 * 4), 5: (3 * 5, 3 * 5 * 4)}
    assert table(seq(Sync(at(4)), If(Op("<", (TID, k(9))), Sync(at(4)), Skip(), at(3))))[4] == (6, 6)


def test_lines_are_in_order_file_by_file() -> None:
    s = seq(Assign("i", k(1), at(9)), Write("G", TID, k(1), at(2)), Assign("j", k(1), at(5, 1, "a.h")))
    program = kernel(s)
    lines = Lines(program)
    grid.run(program, DIM, (2, 1, 1), {"n": 0, "m": 0}, {}, (), TINY, observer=lines)
    found = lines.table((SECTORS, STEPS))
    assert [(c.file, c.line, c.executions) for c in found] == [("a.h", 5, 6), ("k.cu", 2, 6), ("k.cu", 9, 6)]
    # indices 0 to 3, 4 0 1 2, 3 4: two sectors of 8 bytes, three, two
    assert found[1] == LineCost("k.cu", 2, 6, {"sectors": Fraction(2 * 7), "steps": Fraction(2 * (7 + 3 * 2))})


# --- nothing is lost -------------------------------------------------------------------------------------------------


def placed(s: Stmt, chance: random.Random) -> Stmt:
    """s with places drawn for its statements and expressions, or none."""

    def loc() -> Loc | None:
        return Loc(chance.choice("ab"), chance.randrange(1, 5), 1) if chance.random() < 0.6 else None

    def expr(e: Expr) -> Expr:
        match e:
            case Op(_, args):
                return replace(e, args=tuple(map(expr, args)), loc=loc())
            case Read(_, index):
                return replace(e, index=expr(index), loc=loc())
        return replace(e, loc=loc())

    match s:
        case Seq(stmts):
            return seq(*(placed(t, chance) for t in stmts))
        case Assign(_, value):
            return replace(s, value=expr(value), loc=loc())
        case Write(_, index, value):
            return replace(s, index=expr(index), value=expr(value), loc=loc())
        case If(cond, then, orelse):
            return If(expr(cond), placed(then, chance), placed(orelse, chance), loc())
        case While(cond, body):
            return While(expr(cond), placed(body, chance), loc())
    return replace(s, loc=loc())


def sums(lines: Lines) -> dict[str, Fraction]:
    found = lines.table(METRICS.values())
    return {m: sum((c.costs[m] for c in found), Fraction(0)) for m in METRICS}


@examples(15, 2000)
@given(RACE_FREE, st.integers(0, 9), st.integers(-2, 6), st.booleans())
def test_the_lines_add_up_to_the_totals(s: Stmt, seed: int, n: int, home: bool) -> None:
    program = replace(kernel(placed(s, random.Random(seed))), loc=at(1) if home else None)
    args, contents = {"n": n, "m": 2}, {"H": [3, 1, 4, 1, 5]}
    alone, together = Lines(program), Lines(program)
    found = grid.run(program, DIM, (2, 1, 1), args, contents, hardware=TINY, observer=alone)
    blocks = parallel.run(
        program, DIM, (2, 1, 1), args, contents, tuple(map(parallel.alone, METRICS.values())), TINY, observer=together
    )
    assert sums(alone) == found.totals
    assert sums(together) == blocks.whole.totals
    assert alone.table(METRICS.values()) == together.table(METRICS.values())
