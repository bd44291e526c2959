"""Rounding as IEEE 754 has it: exact results, rounded once, to a given precision and in a given direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, Literal, NamedTuple

Direction = Literal["rn", "rz", "ru", "rd"]
"""To nearest (to even where two are), towards 0, up, down."""

DIRECTIONS: Final[tuple[Direction, ...]] = ("rn", "rz", "ru", "rd")


class Format(NamedTuple):
    """A binary format: the bits of a significand, and the exponents of its smallest and its largest number's last and
    first bit."""

    bits: int
    last: int
    first: int


SINGLE: Final = Format(24, -149, 127)
DOUBLE: Final = Format(53, -1074, 1023)
HALVES: Final = {"half": Format(11, -24, 15), "bfloat16": Format(8, -133, 127)}
"""The formats of two bytes: IEEE 754's, and the first half of a float."""


def rounded(q: Fraction, f: Format, direction: Direction) -> float:
    """The number of a format that is next to q; an infinity beyond the largest, where the direction leads there."""
    a = abs(q)
    if not a:
        return 0.0
    exponent = a.numerator.bit_length() - a.denominator.bit_length()
    exponent -= a < Fraction(2) ** exponent
    last = max(exponent - f.bits + 1, f.last)
    units = a / Fraction(2) ** last
    n, rest = divmod(units.numerator, units.denominator)
    away = direction == ("ru" if q > 0 else "rd")
    half = Fraction(rest, units.denominator) - Fraction(1, 2)
    n += bool(rest) if away else direction == "rn" and (half > 0 or (half == 0 and n % 2 == 1))
    largest = (Fraction(2) ** f.bits - 1) * Fraction(2) ** (f.first - f.bits + 1)
    found = n * Fraction(2) ** last
    if found > largest and (away or direction == "rn"):
        return math.copysign(math.inf, q)
    return math.copysign(float(min(found, largest)), q)


def _correct(
    exact: Callable[..., Fraction], plain: Callable[..., float], f: Format, direction: Direction
) -> Callable[..., float]:
    """An operation on finite numbers, rounded once; `plain` says what it is elsewhere, and the sign of a 0."""

    def apply(*args: float) -> float:
        likely = plain(*args)
        if not all(map(math.isfinite, args)) or math.isnan(likely):
            return likely
        try:
            q = exact(*map(Fraction, args))
        except ZeroDivisionError:
            return likely
        if q:
            return rounded(q, f, direction)
        # a sum of opposites is -0 only downward, or where both are -0
        down = direction == "rd" and likely == 0 and len(args) > 1 and exact in (_add, _subtract, _fma)
        return -0.0 if down and not _positive_zero(exact, args) else math.copysign(0.0, likely)

    return apply


def _positive_zero(exact: Callable[..., Fraction], args: tuple[float, ...]) -> bool:
    """Whether both terms of a sum are +0."""
    last = -args[-1] if exact is _subtract else args[-1]
    terms = (math.prod(args[:-1]), last)
    return all(t == 0 and math.copysign(1.0, t) > 0 for t in terms) and (exact is not _fma or 0.0 in args[:2])


def _add(a: Fraction, b: Fraction) -> Fraction:
    return a + b


def _subtract(a: Fraction, b: Fraction) -> Fraction:
    return a - b


def _fma(a: Fraction, b: Fraction, c: Fraction) -> Fraction:
    return a * b + c


def _root(q: Fraction) -> Fraction:
    """The square root, or between two numbers the same as it to 2^-200 of it: so it is rounded as the root is."""
    shift = 2 * (200 + q.denominator.bit_length())
    n = (q.numerator << 2 * shift) // q.denominator
    s = math.isqrt(n)
    exact = s * s == n and (q.numerator << 2 * shift) % q.denominator == 0
    return Fraction(2 * s + (not exact), 2 << shift)


def divided(a: float, b: float) -> float:
    """a / b; by 0 it is an infinity or a NaN."""
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _square_root(x: float) -> float:
    return x if x == 0 or math.isnan(x) else math.sqrt(x) if x > 0 else math.nan


def _reciprocal_root(x: float) -> float:
    return divided(1.0, _square_root(x))


def _plain_fma(a: float, b: float, c: float) -> float:
    """a * b + c where something is not finite, or all is 0."""
    product = a * b
    finite = math.isfinite(a) and math.isfinite(b)
    return c if finite and not math.isfinite(c) else product + c


def operations() -> dict[str, Callable[..., float]]:
    """The operations that CUDA has with a direction, such as `fadd_rd` on float and `dadd_rd` on double."""
    found: dict[str, Callable[..., float]] = {}
    for letter, f in (("f", SINGLE), ("d", DOUBLE)):
        for direction in DIRECTIONS:
            for name, exact, plain in _OPERATIONS:
                found[f"{letter}{name}_{direction}"] = _correct(exact, plain, f, direction)
            fma = _correct(_fma, _plain_fma, f, direction)
            found |= {f"{name}_{direction}": fma for name in (("fmaf", "fmaf_ieee") if letter == "f" else ("fma",))}
    return found | {"fma": found["fma_rn"], "fmaf": found["fmaf_rn"]}


_OPERATIONS: Final[tuple[tuple[str, Callable[..., Fraction], Callable[..., float]], ...]] = (
    ("add", _add, lambda a, b: a + b),
    ("sub", _subtract, lambda a, b: a - b),
    ("mul", lambda a, b: a * b, lambda a, b: a * b),
    ("div", lambda a, b: a / b, divided),
    ("rcp", lambda a: 1 / a, lambda a: divided(1.0, a)),
    ("sqrt", _root, _square_root),
    ("rsqrt", lambda a: _root(1 / a), _reciprocal_root),
)


def converter(f: Format, direction: Direction) -> Callable[[float], float]:
    """The conversion of a number to a format."""

    def apply(x: float) -> float:
        return rounded(Fraction(x), f, direction) if x and math.isfinite(x) else x

    return apply
