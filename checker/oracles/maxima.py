"""The insides of max(0, .) in a potential: where a proof splits, and what is left after that."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from logic.potentials import (
    Apply,
    Atom,
    Floor,
    Log2,
    Max0,
    Poly,
    Sym,
    applied,
    atom,
    atoms,
    floor_div,
    log2,
    mapped,
    max0,
)


def innermost(p: Poly) -> list[Poly]:
    """The arguments of those max(0, .) in p that have no other max inside."""
    found = dict.fromkeys(a.arg for a in atoms(p) if isinstance(a, Max0))
    return [arg for arg in found if not any(isinstance(a, Max0) for a in atoms(arg))]


def outer(p: Poly) -> list[Poly]:
    """The arguments of those max(0, .) in p that have another max inside."""
    inside = innermost(p)
    return list(dict.fromkeys(a.arg for a in atoms(p) if isinstance(a, Max0) and a.arg not in inside))


def middle(args: list[Poly]) -> Poly:
    """Where to split: rounded to integers, the middle one of the most arguments that differ by constants only, so that
    either case settles half of them."""
    rounded = [_rounded_down(a) for a in args]
    alike = max(([b for b in rounded if (b - a).is_constant] for a in rounded), key=len)
    return sorted(alike, key=lambda b: b.constant)[(len(alike) - 1) // 2]


def _rounded_down(p: Poly) -> Poly:
    """x - 2 for 2*x - 3: what is nonnegative on integers exactly where p is, which has integer coefficients."""
    g = gcd(*(c.numerator for m, c in p.terms if m))
    return (p - p.constant) * Fraction(1, g) + p.constant.numerator // g


def replaced(p: Poly, arg: Poly, value: Poly) -> Poly:
    """p with `value` in place of max(0, arg), which tells max(0, -arg), inside other atoms too, in canonical form
    again. It is the same object where there is none of it: what is asked of it again is known at once."""
    other = arg * -1
    if not arg.leaves <= p.leaves or not any(isinstance(a, Max0) and a.arg in (arg, other) for a in atoms(p)):
        return p

    def image(a: Atom) -> Poly:
        match a:
            case Sym():
                return atom(a)
            case Max0(inner):
                known = {arg: value, other: value - arg}.get(inner)
                return max0(replaced(inner, arg, value)) if known is None else known
            case Floor(inner, k):
                return floor_div(replaced(inner, arg, value), k)
            case Log2(inner):
                return log2(replaced(inner, arg, value))
            case Apply(op, args):
                return applied(op, *(replaced(p, arg, value) for p in args))

    return mapped(p, image)
