"""Comparisons of what is reduced modulo 2^bits, as ones of what it is a remainder of."""

from __future__ import annotations

from typing import Final, NamedTuple

from logic.syntax import Const, Expr, Op, reads_array, show
from semantics.cuda.limits import ALWAYS
from semantics.cuda.modular import Integer
from semantics.cuda.stores import ANY, Range, Store
from semantics.cuda.sums import Sum

LARGEST: Final = 24
"""The most operators of a value that a comparison has twice."""


class Value(NamedTuple):
    """The knowledge of an expression: its limits, a sum that it is, and what it is a remainder of."""

    range: Range = ANY
    sum: Sum | None = None
    of: Remainder | None = None


Remainder = tuple[Expr, Value, Integer]


def signed_case(op: str, remainder: Remainder, other: Range, b: Expr, at: Store, split: bool) -> Expr | None:
    """(e modulo 2^bits) op b, where e is at least -2^bits and less than it, and which it is below 0 is known."""
    e, v, t = remainder
    full = 1 << t.bits
    low, high = v.range
    if v.sum is not None:
        low, high = max(low, *at.extremes(v.sum, False)), min(high, *at.extremes(v.sum, True))
    if t.signed or low < -full or high >= full or other[0] < 0 or op not in ALWAYS:
        return None
    below = ALWAYS[op]((full + low, full - 1), other)
    if below is None or reads_array(e) or reads_array(b) or len(show(e)) > 4 * LARGEST:
        return None
    test = Op(op, (e, b), e.loc)
    if op in ("==", "!="):
        return test  # of a number that is not negative
    if not split:
        return None
    if below:
        return Op("||", (Op("<", (e, Const(0)), e.loc), test), e.loc)
    return Op("&&", (Op(">=", (e, Const(0)), e.loc), test), e.loc)
