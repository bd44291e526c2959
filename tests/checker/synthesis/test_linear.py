"""Potentials with unknown coefficients: whatever the unknowns become, operations before and after agree."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from checker.synthesis.linear import ONE, Linear, degree, lift, monomial, unknown
from logic.potentials import Poly, const, max0, of_terms, substitute, sym
from logic.syntax import Param, Var

X, N = sym(Var("x")), sym(Param("n"))
BASES = [const(1), X, N, X * N, max0(N - X), max0(X) * N]
F = st.fractions(-4, 4, max_denominator=3)
POLYS = st.lists(st.tuples(F, st.sampled_from(BASES)), max_size=3).map(
    lambda terms: sum((b * c for c, b in terms), const(0))
)
LINEARS = st.lists(st.tuples(st.sampled_from(["u", "v", "w"]), st.sampled_from(BASES)), max_size=3).flatmap(
    lambda terms: POLYS.map(lambda p: sum((unknown(u, b) for u, b in terms), lift(p)))
)
VALUES = st.fixed_dictionaries({"u": F, "v": F, "w": F})


@given(LINEARS, LINEARS, VALUES, F)
def test_sums_and_multiples(a: Linear, b: Linear, values: dict[str, Fraction], c: Fraction) -> None:
    assert (a + b).at(values) == a.at(values) + b.at(values)
    assert (a - b).at(values) == a.at(values) - b.at(values)
    assert (a * c).at(values) == a.at(values) * c


@given(LINEARS, VALUES)
def test_substitution_commutes_with_solving(a: Linear, values: dict[str, Fraction]) -> None:
    image = a.mapped(lambda m: substitute(monomial(m), {Var("x"): N + 1}))
    assert image.at(values) == substitute(a.at(values), {Var("x"): N + 1})


@given(POLYS)
def test_a_known_potential_stays_what_it_is(p: Poly) -> None:
    assert lift(p).known() == p
    assert lift(p).at({}) == p
    assert of_terms(p.terms) == p


def test_an_unknown_is_not_known_until_it_cancels() -> None:
    u = unknown("u", max0(X))
    assert u.known() is None
    assert (u - u).known() == const(0)
    assert (u + lift(X)).known() is None
    assert (u + lift(X) - u).known() == X
    assert u.at({}) == const(0)
    assert u.at({"u": Fraction(1, 3)}) == max0(X) * Fraction(1, 3)


def test_adding_changes_neither_side() -> None:
    a, b = unknown("u", X), unknown("u", X)
    a + b
    assert a.terms == b.terms == {X.terms[0][0]: {"u": Fraction(1)}}
    assert ONE not in ("u", "v")


def test_degrees_count_what_is_inside_atoms() -> None:
    shapes = [const(1), N, N * N * X, max0(N * N - X), max0(N * X - 1) * max0(X) * X]
    assert [degree(p.terms[0][0]) for p in shapes] == [0, 1, 3, 2, 4]
