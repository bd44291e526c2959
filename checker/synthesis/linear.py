"""Potentials whose coefficients are not known yet: polynomials with affine coefficients over the unknowns of the LP."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from logic.potentials import Monomial, Poly, Sym, const

ONE = ""
"""The unknown that is always 1: its coefficient is the known part."""

MAX_DEGREE: Final = 64
"""Of a monomial in a certificate."""

Affine = dict[str, Fraction]
"""Unknown to coefficient."""


@dataclass(frozen=True, slots=True)
class Linear:
    """Monomial to affine coefficient."""

    terms: dict[Monomial, Affine]

    def __add__(self, other: Linear | Fraction | int) -> Linear:
        if not isinstance(other, Linear):
            return self + lift(const(other))
        total = {m: dict(a) for m, a in self.terms.items()}
        for m, a in other.terms.items():
            into = total.setdefault(m, {})
            for u, c in a.items():
                into[u] = into.get(u, Fraction(0)) + c
        return Linear(total)

    def __mul__(self, factor: int | Fraction) -> Linear:
        return Linear({m: {u: c * factor for u, c in a.items()} for m, a in self.terms.items()})

    def __sub__(self, other: Linear | Fraction | int) -> Linear:
        return self + other * -1

    def mapped(self, image: Callable[[Monomial], Poly]) -> Linear:
        """Every monomial replaced by a polynomial: how a substitution acts."""
        total: dict[Monomial, Affine] = {}
        for m, a in self.terms.items():
            for n, c in image(m).terms:
                into = total.setdefault(n, {})
                for u, d in a.items():
                    into[u] = into.get(u, Fraction(0)) + c * d
        return Linear(total)

    def known(self) -> Poly | None:
        """The potential, if no unknown takes part."""
        if any(c for a in self.terms.values() for u, c in a.items() if u != ONE):
            return None
        return poly((m, a.get(ONE, Fraction(0))) for m, a in self.terms.items())

    def at(self, solution: dict[str, Fraction]) -> Poly:
        """The potential under values for the unknowns; one without a value is 0."""
        return poly(
            (m, sum((c * (solution.get(u, Fraction(0)) if u != ONE else 1) for u, c in a.items()), Fraction(0)))
            for m, a in self.terms.items()
        )


def poly(terms: Iterable[tuple[Monomial, Fraction]]) -> Poly:
    """The polynomial with these terms, in canonical form."""
    total = Poly(())
    for m, c in terms:
        if c:
            total = total + Poly(((m, c),))
    return total


def lift(p: Poly) -> Linear:
    """A known potential as one without unknowns."""
    return Linear({m: {ONE: c} for m, c in p.terms})


def unknown(name: str, base: Poly) -> Linear:
    """name * base"""
    return Linear({m: {name: c} for m, c in base.terms})


def monomial(m: Monomial) -> Poly:
    """The potential that is one monomial."""
    return Poly(((m, Fraction(1)),))


def degree(m: Monomial) -> int:
    """How many leaves a monomial multiplies, those inside its atoms included."""
    return sum(1 if isinstance(a, Sym) else max((degree(n) for n, _ in a.arg.terms), default=0) or 1 for a in m)
