"""Sums of products, the core of all polynomials: terms are monomials of any kind with coefficients of any ring.

Coefficients are whole numbers (`checker.oracles.forms`), rationals (`logic.potentials`), or themselves sums, of
unknowns with rationals (`checker.synthesis.linear`). What a canonical form is, is for those to say.

>>> total([("x", 2), ("y", 1), ("x", 3)])
{'x': 5, 'y': 1}
>>> list(product([("x", 2), ("", 1)], [("y", 5)], lambda m, n: m + n))
[('xy', 10), ('y', 5)]
>>> total(replaced([("x", 2), ("y", 1)], lambda m: [("y", 1), ("z", 7)] if m == "x" else [(m, 1)]))
{'y': 3, 'z': 14}
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

Rational = int | Fraction
"""An exact number. Whole ones may be of either type, which say the same; the arithmetic of int is much faster."""


class Coefficient(Protocol):
    """A coefficient: it can be added, and multiplied by a number."""

    def __add__(self, other: Self, /) -> Self: ...

    def __mul__(self, other: Any, /) -> Self: ...


def plain(c: Rational) -> Rational:
    """The same number, an int if it is whole.

    >>> plain(Fraction(4, 2)), plain(Fraction(1, 2))
    (2, Fraction(1, 2))
    """
    return c.numerator if type(c) is Fraction and c.denominator == 1 else c


def over(c: Rational, d: Rational) -> Rational:
    """c / d, which of two ints would be a float.

    >>> over(6, 3), over(1, 2), over(3, -1)
    (2, Fraction(1, 2), -3)
    """
    return c * d if d == 1 or d == -1 else plain(Fraction(c) / d)


M = TypeVar("M", bound=Hashable)
N = TypeVar("N", bound=Hashable)
C = TypeVar("C", bound=Coefficient)


def total(terms: Iterable[tuple[M, C]]) -> dict[M, C]:
    """The sum of terms, one a monomial, in the order in which these come; coefficients may be 0."""
    found: dict[M, C] = {}
    for m, c in terms:
        before = found.get(m)
        found[m] = c if before is None else before + c
    return found


def difference(a: Iterable[tuple[M, Rational]], b: Iterable[tuple[M, Rational]]) -> dict[M, Rational]:
    """The terms of a, no monomial twice, less those of b; a's monomials come first, in their order.

    >>> difference([("x", 2), ("y", 1)], [("z", 3), ("y", 4)])
    {'x': 2, 'y': -3, 'z': -3}
    """
    found = dict(a)
    for m, c in b:
        before = found.get(m)
        found[m] = -c if before is None else before - c
    return found


def scaled(terms: Iterable[tuple[M, C]], factor: Any) -> Iterator[tuple[M, C]]:
    """The terms times a number."""
    return ((m, c * factor) for m, c in terms)


def product(a: Iterable[tuple[M, C]], b: Iterable[tuple[M, Any]], times: Callable[[M, M], M]) -> Iterator[tuple[M, C]]:
    """Each term of a times each of b; `times` multiplies monomials."""
    right = tuple(b)
    return ((times(m, n), c * d) for m, c in a for n, d in right)


def replaced(terms: Iterable[tuple[M, C]], image: Callable[[M], Iterable[tuple[N, Any]]]) -> Iterator[tuple[N, C]]:
    """The terms with a sum in place of each monomial."""
    return ((n, c * d) for m, c in terms for n, d in image(m))
