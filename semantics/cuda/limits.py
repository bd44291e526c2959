"""Limits of operators on integers, by the limits of their operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from semantics.cuda.stores import ANY, INFINITE, Range, cut, spanned, times

ALWAYS: Final[Mapping[str, Callable[[Range, Range], bool | None]]] = {
    "<": lambda a, b: True if a[1] < b[0] else False if a[0] >= b[1] else None,
    "<=": lambda a, b: True if a[1] <= b[0] else False if a[0] > b[1] else None,
    ">": lambda a, b: True if a[0] > b[1] else False if a[1] <= b[0] else None,
    ">=": lambda a, b: True if a[0] >= b[1] else False if a[1] < b[0] else None,
    "==": lambda a, b: False if a[1] < b[0] or a[0] > b[1] else None,
    "!=": lambda a, b: True if a[1] < b[0] or a[0] > b[1] else None,
}
"""The truth value of a comparison for all numbers in two ranges, None where it depends."""


def limits(op: str, args: Sequence[Range]) -> Range:
    """The limits of what an operator on integers gives, by those of its operands."""
    match op, args:
        case "+", [a, b]:
            return cut(a[0] + b[0]), cut(a[1] + b[1])
        case "-", [a, b]:
            return cut(a[0] - b[1]), cut(a[1] - b[0])
        case "*", [a, b]:
            return times(a, b)
        case "neg", [a]:
            return -a[1], -a[0]
        case "~", [a]:
            return cut(-a[1] - 1), cut(-a[0] - 1)
        case "abs", [a]:
            return (0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1]))), max(abs(a[0]), abs(a[1]))
        case "min", [a, b]:
            return min(a[0], b[0]), min(a[1], b[1])
        case "max", [a, b]:
            return max(a[0], b[0]), max(a[1], b[1])
        case "/", [a, b]:
            if a[0] >= 0 and b[0] >= 1:
                return (0 if b[1] >= INFINITE else a[0] // b[1]), a[1] // b[0]
            most = max(abs(a[0]), abs(a[1]))
            return (0 if a[0] >= 0 and b[0] >= 0 else -most), most
        case "%", [a, b]:
            most = max(abs(a[0]), abs(a[1]))
            if not b[0] <= 0 <= b[1]:
                most = min(most, max(abs(b[0]), abs(b[1])) - 1)
            return (0 if a[0] >= 0 else -most), (0 if a[1] <= 0 else most)
        case "<<", [a, b]:
            if b[1] > 256:
                return (0 if a[0] >= 0 else -INFINITE), INFINITE
            most = 1 << max(0, b[1])
            return spanned(a[0], a[1], times((a[0], a[1]), (most, most))[0], times((a[0], a[1]), (most, most))[1], 0)
        case ">>", [a, b]:
            if b[0] < 0:
                return min(a[0], 0), max(a[1], 0)
            k, n = min(b[0], 1024), min(b[1], 1024)
            return spanned(a[0] >> k, a[0] >> n, a[1] >> k, a[1] >> n)
        case "&", [a, b]:
            highs = [r[1] for r in (a, b) if r[0] >= 0]
            return (0, min(highs)) if highs else _bits(a, b)
        case "|" | "^", [a, b]:
            return _bits(a, b)
    return ANY


def _bits(a: Range, b: Range) -> Range:
    ends = [*a, *b]
    if any(abs(n) >= INFINITE for n in ends):
        return (0 if a[0] >= 0 and b[0] >= 0 else -INFINITE), INFINITE
    width = max((n if n >= 0 else ~n).bit_length() for n in ends)
    return (0 if a[0] >= 0 and b[0] >= 0 else -(1 << width)), (1 << width) - 1
