"""What loops do to their counters."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checker.limits import UNROLLED
from checker.synthesis.counters import factor, geometric, modulus, moves, per_turn, taken, trips
from logic.facts import Facts, definitions, unfolded, value_where
from logic.potentials import const, sym
from logic.syntax import Assign, Const, Expr, If, Op, Param, Read, Skip, Stmt, Tid, Var, seq

s, i, n, tx = Var("s"), Var("i"), Param("n"), Tid("x")


def op(name: str, *args: Expr | int) -> Op:
    return Op(name, tuple(Const(a) if isinstance(a, int) else a for a in args))


def at(e: Expr, number: int) -> Op:
    return op("==", e, number)


def told(*conditions: Expr) -> Facts:
    return Facts(conditions)


DOUBLING, HALVING = Assign("s", op("*", s, 2)), Assign("s", op(">>", s, 1))


@pytest.mark.parametrize(
    ("cond", "update", "start", "turns"),
    [
        (op("<", s, 256), DOUBLING, 1, 8),
        (op("<", s, n), DOUBLING, 1, 8),
        (op(">", s, 0), HALVING, 128, 8),
        (op("<", s, 1), DOUBLING, 1, 0),
        (op("<", s, 1 << 40), DOUBLING, 0, None),
        (op("<", s, 1 << UNROLLED), DOUBLING, 1, UNROLLED),
        (op("<", s, 2 << UNROLLED), DOUBLING, 1, None),
    ],
)
def test_trips_are_counted_where_all_is_known(cond: Expr, update: Assign, start: int, turns: int | None) -> None:
    assert trips(cond, update, told(at(s, start), at(n, 256))) == turns


def test_trips_that_are_not_known() -> None:
    facts = [at(s, 1), at(n, 256)]
    assert trips(op("<", s, n), DOUBLING, told(*facts[:1])) is None
    assert trips(op("<", s, i), DOUBLING, told(*facts)) is None
    assert trips(op("<", s, n), If(op("<", tx, 4), DOUBLING, Skip()), told(*facts)) is None
    assert trips(op("<", s, n), seq(DOUBLING, DOUBLING), told(*facts)) is None
    assert trips(op("<", s, n), seq(DOUBLING, If(op("<", tx, 4), Assign("s", Const(0)), Skip())), told(*facts)) is None
    assert trips(op("<", s, n), Assign("s", Read("A", s)), told(*facts)) is None
    changing = seq(Assign("i", op("+", i, 1)), Assign("s", op("*", s, i)))
    assert trips(op("<", s, n), changing, told(*facts, at(i, 2))) is None


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (Assign("i", op("+", i, op("*", n, 4))), "4*n"),
        (Assign("i", op("-", i, n)), "-n"),
        (seq(Assign("i", op("+", i, n)), Assign("i", op("+", i, n))), "None"),
        (If(op("<", tx, 4), Assign("i", op("+", i, n)), Skip()), "None"),
        (seq(Assign("s", op("+", s, 1)), Assign("i", op("+", i, s))), "None"),
        (Assign("s", op("+", s, 1)), "0"),
    ],
)
def test_steps_whose_size_may_not_be_known(body: Stmt, found: str) -> None:
    """Of 9 - i, where it is known and always the same."""
    assert str(taken(const(9) - sym(Var("i")), body)) == found


def test_geometric() -> None:
    assert geometric(op("<", s, n), DOUBLING, told())
    assert not geometric(op("<", s, n), Assign("s", op("+", s, 2)), told())


def test_values() -> None:
    assert value_where(op("/", op("-", n, 9), 2), {n: 2}) == -3
    assert value_where(op("<<", 1, n), {n: 65}) is None
    assert value_where(Read("A", Const(0)), {}) is None


def test_moves_and_least() -> None:
    step = op("*", Param("blockDim.x"), Param("gridDim.x"))
    assert moves("i", Assign("i", op("+", i, step))) == [sym(Param("blockDim.x")) * sym(Param("gridDim.x"))]
    assert moves("i", Assign("i", op("*", i, 2))) is None
    assert moves("i", seq(Assign("s", Const(1)), Assign("i", op("+", i, s)))) is None
    facts = [at(Param("blockDim.x"), 64), op(">=", Param("gridDim.x"), 1)]
    assert told(*facts).least(sym(Param("blockDim.x")) * sym(Param("gridDim.x"))) == 64
    assert told(*facts).least(sym(n)) is None
    assert told(*facts).least(const(3) - sym(Param("gridDim.x"))) is None


def test_definitions_of_definitions() -> None:
    known = definitions([op("==", s, op("+", i, 1)), op("==", i, op("*", n, 2)), op(">=", i, 0), op("==", i, 7)])
    assert known == {s: sym(i) + 1, i: sym(n) * 2}
    assert unfolded(sym(s) * 3, known) == sym(n) * 6 + 3
    assert unfolded(sym(n), known) == sym(n)
    moved = definitions([op("==", op("-", s, 4), n), op("==", op("+", i, n), op("*", s, 2)), op("==", i, 3)])
    assert moved == {s: sym(n) + 4, i: const(3)}
    assert definitions([op("==", op("+", s, op("*", s, i)), n), op("<=", op("+", s, 1), n)]) == {}
    assert definitions([op("==", op("-", n, s), op("*", i, 2))]) == {s: sym(n) - sym(i) * 2}
    circle = definitions([op("==", s, i), op("==", i, s)])
    assert unfolded(sym(s), circle) in (sym(s), sym(i))


def test_what_a_turn_takes() -> None:
    apart = sym(s) - sym(i)
    both = seq(Assign("i", op("+", i, 1)), Assign("s", op("-", s, 2)))
    assert per_turn(apart, both, told()) == 3
    assert per_turn(apart, seq(both, Assign("i", op("+", i, 1))), told()) == 4
    assert per_turn(apart, Assign("i", op("-", i, 1)), told()) == -1
    assert per_turn(apart, Assign("i", op("+", i, n)), told(at(n, 5))) == 5
    assert per_turn(apart, Assign("i", op("+", i, n)), told()) is None
    assert per_turn(apart, Assign("i", op("*", i, 2)), told()) is None
    assert per_turn(apart, seq(both, If(op("<", i, s), Assign("i", op("+", i, 1)), Skip())), told()) is None
    assert per_turn(apart, seq(Assign("s", i), Assign("i", op("+", i, 1))), told()) is None
    assert per_turn(apart, Assign("i", Read("A", i)), told()) is None
    assert per_turn(sym(i), seq(Assign("i", op("+", s, 1)), Assign("s", op("+", s, 1))), told(at(s, 4))) is None


def test_what_divides_a_counter() -> None:
    by_8 = op("==", op("%", n, 8), 0)
    start = op("==", i, op("*", n, 32))
    assert modulus("i", Assign("i", op("+", i, 32)), told(start)) == 32
    assert modulus("i", Assign("i", op("+", i, op("*", n, 32))), told(start, by_8)) == 256
    assert modulus("i", Assign("i", op("+", i, 1)), told(start)) == 1
    assert modulus("i", Assign("i", Read("A", i)), told(start)) == 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (DOUBLING, 2),
        (Assign("s", op("*", 3, s)), 3),
        (Assign("s", op("<<", s, 3)), 8),
        (Assign("s", op("+", s, s)), 2),
        (seq(DOUBLING, Assign("s", op("*", s, 5))), 2),
        (HALVING, Fraction(1, 2)),
        (Assign("s", op("/", s, 10)), Fraction(1, 10)),
        (seq(HALVING, Assign("s", op("/", s, 10))), Fraction(1, 2)),
        (Assign("s", op("*", s, n)), 7),
        (seq(DOUBLING, HALVING), 1),
        (Assign("s", op("*", s, 1)), 1),
        (Assign("s", op("<<", s, 0)), 1),
        (Assign("s", op("<<", s, -1)), 1),
        (Assign("s", op("<<", s, 1 << 40)), 1),
        (Assign("s", op("/", 2, s)), 1),
        (Assign("s", op("*", i, 2)), 1),
        (Assign("s", op("+", s, 2)), 1),
        (Assign("s", op("*", s, s)), 1),
        (seq(DOUBLING, Assign("s", Const(1))), 1),
        (seq(Assign("i", op("+", i, 1)), Assign("s", op("*", s, i))), 1),
        (Skip(), 1),
    ],
)
def test_factors_of_a_counter(body: Stmt, expected: Fraction | int) -> None:
    """The smallest of those that it is multiplied by, or the largest of those that it is divided by."""
    assert factor("s", body, told(at(n, 7), at(i, 2))) == (expected, 0)


NAMED = Assign("i", op("/", s, 2))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (Assign("s", op("+", op("*", 2, s), 1)), (2, 1)),
        (Assign("s", op("-", op("*", s, 4), 9)), (4, -3)),
        (Assign("s", op("+", op("*", s, 4), 1)), (1, 0)),
        (Assign("s", op("/", op("+", s, 1), 2)), (Fraction(1, 2), -1)),
        (Assign("s", op(">>", op("-", s, 3), 2)), (Fraction(1, 4), 1)),
        (Assign("s", op("/", op("+", s, 1), 3)), (1, 0)),
        (Assign("s", op("-", s, op("/", s, 2))), (Fraction(1, 2), -1)),
        (Assign("s", op("-", s, op("/", s, 3))), (1, 0)),
        (Assign("s", op("-", s, op(">>", s, 2))), (1, 0)),
        (Assign("s", op("/", op("*", s, 2), 4)), (1, 0)),
        (Assign("s", op("+", s, i)), (1, 0)),
        (seq(NAMED, Assign("s", op("-", s, i))), (Fraction(1, 2), -1)),
        (seq(Assign("s", op("-", s, i)), NAMED), (1, 0)),
        (seq(NAMED, NAMED, Assign("s", op("-", s, i))), (1, 0)),
        (seq(NAMED, Assign("i", op("+", i, 1)), Assign("s", op("-", s, i))), (1, 0)),
        (seq(DOUBLING, Assign("s", op("+", op("*", 2, s), 1))), (1, 0)),
        (Assign("s", op("*", s, 1 << 31)), (1, 0)),
    ],
)
def test_factors_of_a_counter_and_what_is_added_to_it(body: Stmt, expected: tuple[Fraction | int, int]) -> None:
    assert factor("s", body, told()) == expected
