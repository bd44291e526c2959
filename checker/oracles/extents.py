"""Extents: the least and the most that lanes have of their own, whatever they read, as it is clamped, by facts, and in
each case of its choices: 0 and 3 for min(max(v, 0), 3), 0 and 1 for v > n ? 1 : 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import ceil, floor

from checker.oracles import farkas
from checker.oracles.known import Fact, Given, given
from checker.oracles.terms import first_choice, with_fresh
from logic.assertions import Context, P, assume
from logic.potentials import Floor, Max0, Poly, atom, atoms, max0, of_expr, of_terms
from logic.syntax import Expr, replace_part

Extent = tuple[Poly, int, int]
"""A sum that lanes share, and the least and the most that they add to it."""


def extent(e: Expr, p: P, own: Callable[[Poly], object], context: Context) -> Extent | None:
    """The narrowest extent of an expression without reads, by facts; `own` says what lanes have of their own. None
    where no sum that they share is known to be near in each case."""
    each = [(given(case, context), value) for case, value in _cases(e, p, context)]
    each = [one for one in each if farkas.absurd(one[0]) is None] if len(each) > 1 else each
    values = [q for _, q in each if q is not None]
    sums = dict.fromkeys(of_terms(t for t in q.terms if t[0] and not own(Poly((t,)))) for q in values)
    narrowest: Extent | None = None
    for shared in sums if len(values) == len(each) else ():
        found = [ends(q - shared, have) for (have, _), q in zip(each, values, strict=True)]
        lows, highs = ([end for each_ in found if (end := each_[i]) is not None] for i in (0, 1))
        if len(lows) == len(highs) == len(found):
            here = shared, min(lows), max(highs)
            narrowest = here if narrowest is None else min(narrowest, here, key=lambda one: one[2] - one[1])
    return narrowest


def _cases(e: Expr, p: P, context: Context, left: int = farkas.MAX_CHOICES) -> Iterator[tuple[P, Poly | None]]:
    """The facts in each case of the first choices in an expression, and its value there."""
    found = first_choice(e, ("?:", "int", "min", "max", "abs")) if left else ()
    sigma = with_fresh(context.sigma, (*p, e))
    for holds, side, choice, test in found:
        case = assume(tuple(replace_part(f, choice, side) for f in p), test, sigma, holds)
        yield from _cases(replace_part(e, choice, side), case, context, left - 1)
    if not found:
        yield p, of_expr(e)


def ends(p: Poly, have: Given) -> tuple[int | None, int | None]:
    """The least and the most that a polynomial may be; None where it has no end that is known."""
    for a in dict.fromkeys(atoms(p)):
        match a:
            case Floor():
                have = _with(atom(a), *_ends(atom(a), have), have)
            case Max0(arg):
                _, high = _ends(arg, have)
                have = _with(atom(a), 0, None if high is None else max(0, high), have)
                have = _with(atom(a) - max0(arg * -1) - arg, 0, 0, have)
    return _ends(p, have)


def _ends(p: Poly, have: Given) -> tuple[int | None, int | None]:
    """The same by facts alone."""
    low, high = (farkas.least(q, have, again=False) for q in (p, p * -1))
    return None if low is None else ceil(low), None if high is None else floor(-high)


def _with(p: Poly, low: int | None, high: int | None, have: Given) -> Given:
    """The knowledge that there is, and that a polynomial is between two numbers, as far as there are any."""
    said = [p * sign - end * sign for end, sign in ((low, 1), (high, -1)) if end is not None]
    return replace(have, facts=[*have.facts, *(Fact(have.with_values(q), []) for q in said)])
