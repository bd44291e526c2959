"""Sums over warps and blocks in closed form: for a cost q of each index i, an F with F - F[i <- i+1] = q.

With E the step from i to i+1, that is q = (1 - E) F. Terms that do not depend on i have F = -i * term; the others come
in families m, E m, E E m, .., in which q is divided by 1 - E like a polynomial in E.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from checker import limits
from logic.polynomials import Rational
from logic.potentials import ZERO, Atom, Max0, Monomial, Poly, Sym, atom, const, leaves, mapped, max0, substitute, sym
from logic.syntax import Param


def antidifference(q: Poly, index: str) -> Poly | None:
    """F, or None where q does not telescope."""
    i = Param(index)
    total = ZERO
    moving: dict[Monomial, Rational] = {}
    for m, c in q.terms:
        rest = tuple(a for a in m if a != Sym(i))
        factor = Poly(((rest, 1),))
        if i in leaves(factor):
            moving[m] = c
        else:
            total = total - factor * _powers(len(m) - len(rest), i) * c
    heads = set(moving) - {after for m in moving for after in _family(m, i)[1:]}
    for head in heads:
        family = _family(head, i)
        running: Rational = 0
        for m in family:
            running += moving.pop(m, 0)
            total = total + Poly(((m, 1),)) * running
            if not running and not any(later in moving for later in family):
                break
        if running:
            return None
    return None if moving else total


def in_steps(p: Poly) -> Poly:
    """p with max(0, a) - max(0, a - k) in place of each max(0, min(a, k)) for a k >= 0, and max(0, a - k) in that
    of max(0, max(0, a) - k): that telescopes."""

    def image(a: Atom) -> Poly:
        if not isinstance(a, Max0):
            return atom(a)
        arg = mapped(a.arg, image)
        for m, c in arg.terms:
            match m:
                case (Max0(over),) if c == -1:  # it is max(0, min(rest, rest - over))
                    rest = arg + max0(over)
                    for one, other in ((rest, rest - over), (rest - over, rest)):
                        if other.is_constant and other.constant >= 0:
                            return max0(one) - max0(one - other)
                case (Max0(over),) if c == 1 and (rest := arg - max0(over)).is_constant and rest.constant <= 0:
                    return max0(over + rest)
        return max0(arg)

    return mapped(p, image)


def _powers(k: int, i: Param) -> Poly:
    """0**k + 1**k + .. + (i - 1)**k, from the sums of lower powers: i**(k + 1) is the sum of (j + 1)**(k + 1) -
    j**(k + 1) over j < i."""
    power = const(1)
    for _ in range(k + 1):
        power = power * sym(i)
    for j in range(k):
        power = power - _powers(j, i) * comb(k + 1, j)
    return power * Fraction(1, k + 1)


def _family(m: Monomial, i: Param) -> list[Monomial]:
    """m, E m, E E m, .. as long as they are monomials."""
    found = [m]
    for _ in range(limits.FAMILY):
        after = substitute(Poly(((found[-1], 1),)), {i: sym(i) + 1})
        match after.terms:
            case ((next_, 1),) if next_ and next_ != found[-1]:
                found.append(next_)
            case _:
                break
    return found
