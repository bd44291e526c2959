"""Tests of loops that divide what is counted: `while (i / 32 < n)`, and `j = i / 32; if (j >= n) break;`, hold while i
is below 32*n."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from logic.facts import Facts, unfolded
from logic.potentials import ZERO, Apply, Atom, Floor, Max0, Poly, atom, const, mapped, max0, variables, within

DEEP: Final = 4
"""Quotients that are taken away, one after another."""


class _Quotient(NamedTuple):
    """A term of a distance, c * (p / k), rounded down, or where c is negative towards zero, as C does; with the others,
    added up."""

    factor: int
    divided: Poly
    by: Poly
    others: Poly


def unrounded(distance: Poly, changed: frozenset[str], facts: Facts) -> Poly | None:
    """A polynomial that is positive where a distance is, and has what a loop changes beside quotients, not in them, and
    in place of what is made of it. None where the distance is as it is. Divisors that are no numbers are taken to be
    positive.

    Where R - c*floor(p/k) is positive, so is k*R - c*p + (c - 1)*(k - 1), as p is at most k*floor(p/k) + k - 1; all of
    it is divided by c before, where c divides R. Where R + c*floor(p/k) is, so is k*R + c*p - (k - 1)."""
    own = {leaf: p for leaf, p in facts.definitions.items() if leaf.name in changed}
    found = _decided(unfolded(distance, own), facts)
    for turn in range(DEEP):
        quotient = _quotient(found, changed, facts)
        if quotient is None:
            counters = variables(found) & changed
            return found if turn or (counters and counters != variables(distance) & changed) else None
        found = _without(quotient)
    return None


def _decided(p: Poly, facts: Facts) -> Poly:
    """p with what max(0, .) are where the least numbers that leaves can be decide that."""

    def decided(a: Atom) -> Poly:
        if isinstance(a, Max0) and (facts.least(a.arg) or 0) > 0:
            return a.arg
        if isinstance(a, Max0) and facts.least(a.arg * -1) is not None:
            return ZERO
        return within(a, lambda inner: mapped(inner, decided))

    return mapped(p, decided)


def _without(q: _Quotient) -> Poly:
    rate, rest = abs(q.factor), q.others
    if q.factor > 0:
        return q.by * rest + q.divided * rate - (q.by - 1)
    if all(c.denominator == 1 and c.numerator % rate == 0 for _, c in rest.terms):
        rest, rate = rest * Fraction(1, rate), 1
    return q.by * rest - q.divided * rate + (q.by - 1) * (rate - 1)


def _quotient(p: Poly, changed: frozenset[str], facts: Facts) -> _Quotient | None:
    """The first of the terms of p that are quotients of what a loop changes."""
    for m, c in p.terms:
        if len(m) != 1 or c.denominator != 1 or not variables(atom(m[0])) & changed:
            continue
        others = p - Poly(((m, c),))
        match m[0]:
            case Floor(arg, k):
                inner = _largest(arg)
                opposite = atom(Floor(max0(inner * -1), k)) * c if inner is not None else None
                if opposite is not None and inner is not None and {*(opposite * -1).terms} <= {*others.terms}:
                    others, risen = others + opposite, inner if c > 0 else inner * -1
                    if others.is_constant and others.constant <= 0:  # it divides what is positive
                        return _Quotient(abs(int(c)), risen, const(k), others)
                    return _Quotient(-abs(int(c)), risen * -1, const(k), others)
                return _Quotient(int(c), arg if inner is None or c > 0 else inner, const(k), others)
            case Apply("/", (a, b)) if c < 0 and not variables(b) & changed:
                return _Quotient(int(c), a, b, others)
    return None


def _largest(p: Poly) -> Poly | None:
    """The argument of max(0, .), where p is nothing else."""
    match p.terms:
        case (((Max0(arg),), 1),):
            return arg
    return None
