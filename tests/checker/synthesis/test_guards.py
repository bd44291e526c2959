"""Distances of tests from failing, bounded for all lanes."""

from __future__ import annotations

from itertools import product

import pytest

from checker.limits import RELAXED
from checker.synthesis.guards import by_extremes, relaxed, uniform_bound
from logic.facts import Facts
from logic.potentials import ELEMENT, Leaf, const, element_of, evaluate, floor_div, max0, maximum, minimum, sym
from logic.syntax import GHOST, Const, Expr, Op, Param, Tid, Var
from tests.checker.synthesis.bounded import result, valid

TID, N = Tid("x"), Param("n")
LANES = sym(Param("blockDim.x"))
LIMIT, T, COUNTER = Var("limit"), Var("t"), Var("i")
UNIFORM = frozenset({"i"})


def eq(a: Expr, b: Expr) -> Expr:
    return Op("==", (a, b))


def told(*conditions: Expr) -> Facts:
    return Facts(conditions)


def test_a_limit_may_be_defined_by_other_locals() -> None:
    facts = [eq(T, TID), eq(LIMIT, Op("+", (T, N)))]
    bound = uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, told(*facts))
    assert bound == LANES - 1 + sym(N) - sym(COUNTER)


def test_what_is_uniform_comes_first() -> None:
    facts = [Op("<=", (LIMIT, T)), Op("<", (LIMIT, N)), eq(T, TID)]
    assert uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, told(*facts)) == sym(N) - 1 - sym(COUNTER)


def test_a_number_that_facts_say_comes_before_what_is_uniform() -> None:
    """Of what a lane has of its own, where it is no large one: a loop has left less than its step to the next one."""
    facts = [Op(">=", (LIMIT, Const(0))), Op(">=", (Op("+", (LIMIT, Const(768))), N))]
    distance = sym(N) - sym(LIMIT)
    assert uniform_bound(distance, UNIFORM, told(*facts)) == const(768)
    assert uniform_bound(distance, UNIFORM, told(*facts, Op("<", (N, Op("+", (LIMIT, Const(9))))))) == const(8)
    assert uniform_bound(distance, UNIFORM | {"limit"}, told(*facts)) == distance
    far = Op(">=", (Op("+", (LIMIT, Const(1 << 31))), N))
    assert uniform_bound(distance, UNIFORM, told(facts[0], far)) == sym(N)


def test_definitions_in_a_circle_define_nothing() -> None:
    facts = [eq(T, Op("+", (LIMIT, Const(1)))), eq(LIMIT, Op("-", (T, Const(1))))]
    assert uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, told(*facts)) is None
    assert uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, told(eq(LIMIT, Op("+", (LIMIT, Const(0)))))) is None


def test_the_first_lane_is_the_farthest_where_the_distance_falls() -> None:
    facts = [eq(T, TID), eq(LIMIT, Op("-", (N, T)))]
    assert uniform_bound(sym(LIMIT) - sym(COUNTER), UNIFORM, told(*facts)) == sym(N) - sym(COUNTER)


def test_elements_of_lanes_have_no_extremes() -> None:
    """Two lanes for each row: what an array holds there is not computed, and stays."""
    half = floor_div(sym(TID), 2)
    row = element_of(f"{ELEMENT}rows", half)
    facts = told(eq(Param("blockDim.x"), Const(32)))
    assert by_extremes(row - sym(TID) + half * 2, facts, most=True) == row
    assert by_extremes(row - sym(TID) + half * 2, facts, most=False) == row - 1


def test_what_a_polynomial_is_at_most() -> None:
    """With 0, or what is inside, in place of each max(0, .) that is taken away: all of them, at every point, the
    polynomial itself where none is."""
    i, r, n = sym(COUNTER), sym(T), sym(N)
    gap = minimum(n - 1, i + r) - maximum(i - r, const(0)) + 1
    found = relaxed(gap)
    assert {n, r * 2 + 1} <= set(found)
    for values in product(range(-4, 9), repeat=3):
        store: dict[Leaf, int] = dict(zip((COUNTER, T, N), values, strict=True))
        assert all(evaluate(p, store) >= evaluate(gap, store) for p in found)
    assert relaxed(max0(n) + i) == [max0(n) + i]
    assert relaxed(max0(n) * max0(i) * -1) == [max0(n) * max0(i) * -1]
    many = sum((max0(n - k) * -1 for k in range(9)), i)
    assert len(relaxed(many)) <= RELAXED


def test_a_ghost_of_turns_bounds_its_own_distance_alone() -> None:
    gap, ghost = Op("-", (LIMIT, COUNTER)), Var(f"{GHOST}left0")
    facts = [Op("<=", (gap, ghost))]
    distance = sym(LIMIT) - sym(COUNTER)
    assert uniform_bound(distance, frozenset({ghost.name}), told(*facts)) == sym(ghost)
    assert uniform_bound(distance, frozenset(), told(*facts)) is None
    assert uniform_bound(distance + 1, frozenset({ghost.name}), told(*facts)) is None
    assert uniform_bound(distance, frozenset({"y"}), told(Op("<=", (gap, Var("y"))))) is None


@pytest.mark.parametrize(
    ("test", "less", "more", "bound"),
    [
        ("x < n && y < m", "x <- x + 1;", "y <- y + 1;", "1 + 2*max(0, m + n)"),
        ("z > 0 && y < m", "z <- z - 1;", "z <- z - 1; y <- y + 1;", "1 + 2*max(0, n)"),  # that falls by itself
        ("z > 0 && y <= m", "z <- z - 2;", "y <- y + 1;", "1 + 2*max(0, 1 + m + n)"),
        ("x < n && y < m", "x <- x + 1;", "z <- z + 1;", None),  # a turn may move neither
        ("x < n && y < m", "x <- x + 1; y <- y - 1;", "y <- y + 1;", None),  # what one comes nearer, the other goes
    ],
)
def test_a_loop_that_ends_by_one_of_two_counters(test: str, less: str, more: str, bound: str | None) -> None:
    """As sorted lists are merged: each turn moves one or the other, and lanes differ in which."""
    body = f"while ({test}) {{ if (A[x] < A[y] + tid.x) {{ {less} }} else {{ {more} }} }}"
    found = result(f"x <- 0; y <- 0; z <- n; {body}", metric="divwarps")
    if bound is None:
        assert found.claim is None
    else:
        assert str(valid(found)) == bound
