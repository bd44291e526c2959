"""The core of polynomials: what a sum is worth at a point does not depend on how it is written, in any ring."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from checker.synthesis.linear import Affine
from logic.polynomials import product, replaced, scaled, total

AT = {"x": 2, "y": -3, "z": 5}
TERMS = st.lists(st.tuples(st.text("xyz", max_size=2), st.integers(-4, 4)), max_size=5)
FRACTIONS = st.lists(st.tuples(st.text("xyz", max_size=2), st.fractions(-2, 2, max_denominator=4)), max_size=5)


def worth(terms: Iterable[tuple[str, int]] | Iterable[tuple[str, Fraction]]) -> Fraction:
    return sum((Fraction(c) * prod(AT[a] for a in m) for m, c in terms), Fraction(0))


@given(TERMS, TERMS, st.integers(-3, 3))
def test_whole_numbers(a: list[tuple[str, int]], b: list[tuple[str, int]], k: int) -> None:
    whole = total([*a, *b])
    assert list(whole) == list(dict.fromkeys(m for m, _ in (*a, *b)))
    assert all(type(c) is int for c in whole.values())
    assert worth(whole.items()) == worth(a) + worth(b)
    assert worth(scaled(a, k)) == worth(a) * k
    assert worth(product(a, b, lambda m, n: m + n)) == worth(a) * worth(b)


@given(FRACTIONS, TERMS)
def test_a_sum_in_place_of_a_monomial(a: list[tuple[str, Fraction]], b: list[tuple[str, int]]) -> None:
    """x becomes b in every term that is x alone."""
    put = total(replaced(a, lambda m: b if m == "x" else [(m, 1)]))
    assert worth(put.items()) == sum((worth(b) * c if m == "x" else worth([(m, c)]) for m, c in a), Fraction(0))


def test_coefficients_that_are_sums_of_unknowns() -> None:
    u, v = Affine(u=Fraction(1)), Affine(v=Fraction(1, 2))
    assert total([("x", u), ("y", v), ("x", v * 2)]) == {"x": {"u": 1, "v": 1}, "y": {"v": Fraction(1, 2)}}
    assert u == {"u": 1}
    assert v == {"v": Fraction(1, 2)}
