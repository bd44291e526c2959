"""Potentials whose coefficients are not known yet: polynomials with affine coefficients over the unknowns of the LP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from logic.polynomials import Rational, replaced, scaled, total
from logic.potentials import Monomial, Poly, const, of_terms, operands

ONE = ""
"""The unknown that is always 1: its coefficient is the known part."""

MAX_DEGREE: Final = 64
"""Of a monomial in a certificate."""


class Affine(dict[str, Rational]):
    """Unknown to coefficient."""

    def __add__(self, other: Affine, /) -> Affine:
        return Affine(total((*self.items(), *other.items())))

    def __mul__(self, factor: Rational, /) -> Affine:
        return Affine(scaled(self.items(), factor))


@dataclass(frozen=True, slots=True)
class Linear:
    """Monomial to affine coefficient."""

    terms: dict[Monomial, Affine]

    def __add__(self, other: Linear | Rational) -> Linear:
        more = other if isinstance(other, Linear) else lift(const(other))
        return Linear(total((*self.terms.items(), *more.terms.items())))

    def __mul__(self, factor: Rational) -> Linear:
        return Linear(dict(scaled(self.terms.items(), factor)))

    def __sub__(self, other: Linear | Rational) -> Linear:
        return self + other * -1

    def mapped(self, image: Callable[[Monomial], Poly]) -> Linear:
        """Every monomial replaced by a polynomial: how a substitution acts."""
        return Linear(total(replaced(self.terms.items(), lambda m: image(m).terms)))

    def known(self) -> Poly | None:
        """The potential, if no unknown takes part."""
        if any(c for a in self.terms.values() for u, c in a.items() if u != ONE):
            return None
        return self.at({})

    def at(self, solution: Mapping[str, Rational]) -> Poly:
        """The potential under values for the unknowns; one without a value is 0."""
        values = {ONE: 1, **solution}
        return of_terms((m, sum(c * values.get(u, 0) for u, c in a.items())) for m, a in self.terms.items())


def lift(p: Poly) -> Linear:
    """A known potential as one without unknowns."""
    return unknown(ONE, p)


def unknown(name: str, base: Poly) -> Linear:
    """name * base"""
    return Linear({m: Affine({name: c}) for m, c in base.terms})


def monomial(m: Monomial) -> Poly:
    """The potential that is one monomial."""
    return Poly(((m, 1),))


def degree(m: Monomial) -> int:
    """The number of leaves that a monomial multiplies, those inside its atoms included."""
    return sum(max((degree(n) for p in operands(a) for n, _ in p.terms), default=0) or 1 for a in m)
