"""Distances of tests from failing, bounded for all lanes."""

from __future__ import annotations

from checker.inference.guards import uniform_bound
from logic.potentials import sym
from logic.syntax import Const, Expr, Op, Param, Tid, Var

TID, N = Tid("x"), Param("n")
LANES = sym(Param("blockDim.x"))
LIMIT, T, COUNTER = Var("limit"), Var("t"), Var("i")
UNIFORM = frozenset({"i"})


def eq(a: Expr, b: Expr) -> Expr:
    return Op("==", (a, b))


def test_a_limit_may_be_defined_by_other_locals() -> None:
    facts = [eq(T, TID), eq(LIMIT, Op("+", (T, N)))]
    bound = uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, facts)
    assert bound == LANES - 1 + sym(N) - sym(COUNTER)


def test_what_is_uniform_comes_first() -> None:
    facts = [Op("<=", (LIMIT, T)), Op("<", (LIMIT, N)), eq(T, TID)]
    assert uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, facts) == sym(N) - 1 - sym(COUNTER)


def test_definitions_in_a_circle_define_nothing() -> None:
    facts = [eq(T, Op("+", (LIMIT, Const(1)))), eq(LIMIT, Op("-", (T, Const(1))))]
    assert uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, facts) is None
    assert uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, [eq(LIMIT, Op("+", (LIMIT, Const(0))))]) is None


def test_the_first_lane_is_the_farthest_where_the_distance_falls() -> None:
    facts = [eq(T, TID), eq(LIMIT, Op("-", (N, T)))]
    assert uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, facts) == sym(N) - sym(COUNTER)
