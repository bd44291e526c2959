"""Limits of floating-point values that are made of constants and integers: `log2f(n)` is no more than 31 and a little.

CUDA's guide says how far its functions are from the exact value, those of `-use_fast_math` too: logarithms by three
units in the last place at most, near 1 by 2^-21.4, and powers by what their logarithms are off. Here each operation may
be off by 2^-20 of its value, and by 2^-20 more. Limits are those of numbers: they say nothing of NaN, of which no
comparison holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from math import ceil, floor, isqrt
from typing import Final

from logic.syntax import Const, Expr, Op, Var
from semantics.cuda.stores import INFINITE, Range

Limits = tuple[Fraction | None, Fraction | None]
"""The least and the most that a value can be; None where that is not known."""

Near = tuple[Fraction, Fraction]

UNKNOWN: Final[Limits] = (None, None)
EXACT: Final = 1 << 24
"""Up to this every whole number is a float."""

_OFF: Final = Fraction(1, 1 << 20)
_LEAST: Final = Fraction(1, 1 << 100)
"""Smaller numbers may count as 0, and larger ones than the inverse as infinite."""

_BITS: Final = 40


def enclosed(e: Expr, integer: Callable[[Expr], Range], known: Mapping[str, Limits]) -> Limits:
    """Limits of the value of an expression of type float or double, by those of the integers and variables in it."""

    def of(e: Expr) -> Limits:
        return enclosed(e, integer, known)

    match e:
        case Var(name):
            return known.get(name, UNKNOWN)
        case Const(value):
            return _number(value)
        case Op("as:float" | "as:double", (x,)):
            least, most = (None if abs(n) >= INFINITE else Fraction(n) for n in integer(x))
            return _off(*of(x)) if least is None and most is None else _off(least, most)
        case Op("+", (a, b)):
            return _sum(of(a), of(b))
        case Op("-", (a, b)):
            low, high = of(b)
            return _sum(of(a), (None if high is None else -high, None if low is None else -low))
        case Op("/", (a, b)):
            return _quotient(of(a), of(b))
        case Op("call:pow" | "call:powf" | "call:__powf", (a, b)):
            return _power(of(a), of(b))
        case Op(op, (a,)) if op.startswith("call:"):
            name = op.removeprefix("call:")
            if f := _GROWING.get(name.removeprefix("__").removesuffix("f")):
                return _grown(f, *of(a))
            if whole := _WHOLE.get(name.removesuffix("f")) or _WHOLE.get(name):
                low, high = of(a)
                return (None if low is None else Fraction(whole(low)), None if high is None else Fraction(whole(high)))
    return UNKNOWN


def _number(value: int | str) -> Limits:
    try:  # a float first: what is written as 1e-99999999 has as many digits
        exact = Fraction(float(value.rstrip("fFlL")) if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return UNKNOWN
    return _off(exact, exact)


def _off(low: Fraction | None, high: Fraction | None) -> Limits:
    """These limits for what is only nearly a value within them; none where such a value may be infinite."""
    return (
        None if low is None or abs(low) * _LEAST > 1 else low - abs(low) * _OFF - _OFF,
        None if high is None or abs(high) * _LEAST > 1 else high + abs(high) * _OFF + _OFF,
    )


def _sum(a: Limits, b: Limits) -> Limits:
    (p, q), (r, s) = a, b
    return _off(None if p is None or r is None else p + r, None if q is None or s is None else q + s)


def _quotient(a: Limits, b: Limits) -> Limits:
    (p, q), (r, s) = a, b
    if r is None or s is None or r < _LEAST or s * _LEAST > 1:
        return UNKNOWN
    return _off(None if p is None else min(p / r, p / s), None if q is None else max(q / r, q / s))


def _power(a: Limits, b: Limits) -> Limits:
    """A power of a number that is not less than 1, where it is not large."""
    (p, q), (r, s) = a, b
    if p is None or q is None or r is None or s is None or p < 1 - 2 * _OFF:
        return UNKNOWN
    ends = [n * y for n, y in product((*_log2(p), *_log2(q)), (r, s))]
    if max(map(abs, ends)) > _BITS:
        return UNKNOWN
    spread = (max(map(abs, ends)) + max(abs(r), abs(s))) * _OFF
    return _off(_exp2(min(ends) - spread)[0], _exp2(max(ends) + spread)[1])


def _grown(f: Callable[[Fraction], Near], low: Fraction | None, high: Fraction | None) -> Limits:
    """Limits of a function that grows, of what is positive."""
    least = None if low is None or low < _LEAST else f(low)[0]
    most = None if high is None or high < _LEAST else f(high)[1]
    return _off(least, most)


def _log2(x: Fraction) -> Near:
    """The logarithm of a positive number, bit by bit."""
    whole = x.numerator.bit_length() - x.denominator.bit_length()
    whole -= x < Fraction(2) ** whole
    scale = 1 << 3 * _BITS
    n, bits = floor(x / Fraction(2) ** whole * scale), 0  # from 1 to 2, rounded down
    for _ in range(_BITS):
        n, bits = n * n // scale, 2 * bits
        if n >= 2 * scale:
            n, bits = n // 2, bits + 1
    value = whole + Fraction(bits, 1 << _BITS)
    return value, value + Fraction(2, 1 << _BITS)


def _exp2(x: Fraction) -> Near:
    """A power of 2, by its roots."""
    whole = floor(x)
    bits, scale = floor((x - whole) * (1 << _BITS)), 1 << 2 * _BITS
    root, value = 2 * scale, scale
    for i in reversed(range(_BITS)):
        root = isqrt(root * scale)
        if bits >> i & 1:
            value = value * root // scale
    power = Fraction(2) ** whole
    return power * Fraction(value, scale), power * Fraction(value + (scale >> _BITS - 2), scale)


def _scaled(low: int, high: int) -> Callable[[Fraction], Near]:
    """A multiple of the logarithm, by a number between these millionths."""

    def f(x: Fraction) -> Near:
        ends = [n * Fraction(unit, 10**9) for n in _log2(x) for unit in (low, high)]
        return min(ends), max(ends)

    return f


def _root(x: Fraction) -> Near:
    n = isqrt(floor(x * (1 << 2 * _BITS)))
    return Fraction(n, 1 << _BITS), Fraction(n + 1, 1 << _BITS)


_GROWING: Final[Mapping[str, Callable[[Fraction], Near]]] = {
    "log2": _log2,
    "log": _scaled(693147180, 693147181),
    "log10": _scaled(301029995, 301029996),
    "sqrt": _root,
}
"""Functions of positive numbers; that of what is smaller is smaller, or no number."""

_WHOLE: Final[Mapping[str, Callable[[Fraction], int]]] = {
    "floor": floor,
    "ceil": ceil,
    "trunc": lambda x: floor(x) if x >= 0 else ceil(x),
    "rint": round,
    "round": lambda x: floor(x + Fraction(1, 2)) if x >= 0 else ceil(x - Fraction(1, 2)),
}
