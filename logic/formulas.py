"""Exact formulas over named whole numbers, for what potentials cannot say: quotients of two parameters, above all.

    f ::= number | name | -f | f + f | f - f | f * f | f / f | floor(f) | ceil(f) | log2(f) | min(f, ..) | max(f, ..)

`/` is exact and log2 the floor of the logarithm, as in bounds. Nothing here is part of a claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, prod
from typing import Final

from logic.source import Loc, SourceError

BINARY: Final = ("+", "-", "*", "/")
FUNCTIONS: Final = {"floor": 1, "ceil": 1, "log2": 1, "min": 2, "max": 2}
"""The functions, and how many arguments they take: those that take two take more as well."""


class Undefined(SourceError):
    """A formula has no value at a point: a division by zero."""


@dataclass(frozen=True, slots=True)
class Number:
    """A rational."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Name:
    """The value of a parameter."""

    name: str
    loc: Loc | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator of BINARY, `neg`, or a function of FUNCTIONS."""

    op: str
    args: tuple[Formula, ...]
    loc: Loc | None = field(default=None, compare=False, repr=False)


Formula = Number | Name | Apply


def names(f: Formula) -> frozenset[str]:
    """The names in f."""
    match f:
        case Name(name):
            return frozenset((name,))
        case Apply(_, args):
            return frozenset().union(*map(names, args))
    return frozenset()


def evaluate(f: Formula, store: Mapping[str, int]) -> Fraction:
    """The value of f, exactly. Raises KeyError for a name without a value, Undefined for a division by zero."""
    match f:
        case Number(value):
            return value
        case Name(name):
            return Fraction(store[name])
        case Apply(op, args, loc):
            return _apply(op, [evaluate(a, store) for a in args], loc)


def _apply(op: str, values: list[Fraction], loc: Loc | None) -> Fraction:
    match op:
        case "neg":
            return -values[0]
        case "+":
            return sum(values, Fraction(0))
        case "-":
            return values[0] - values[1]
        case "*":
            return prod(values, start=Fraction(1))
        case "/":
            if not values[1]:
                raise Undefined("a division by zero at this point", loc, "Choose another point.")
            return values[0] / values[1]
        case "floor":
            return Fraction(floor(values[0]))
        case "ceil":
            return Fraction(ceil(values[0]))
        case "log2":
            return Fraction(max(1, floor(values[0])).bit_length() - 1)
    return min(values) if op == "min" else max(values)


_LEVEL: Final = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3}


def show(f: Formula, level: int = 0) -> str:
    """f as text, with the parentheses that it needs below an operator of this level."""
    match f:
        case Number(value):
            return str(value) if value.denominator == 1 or level < _LEVEL["/"] else f"({value})"
        case Name(name):
            return name
        case Apply("neg", (a,)):
            text, own = f"-{show(a, 4)}", 3
        case Apply(op, (a, b)) if op in BINARY:
            own = _LEVEL[op]
            gap = "" if own == _LEVEL["*"] else " "
            text = f"{show(a, own)}{gap}{op}{gap}{show(b, own + 1)}"
        case Apply(op, args):
            return f"{op}({', '.join(map(show, args))})"
    return f"({text})" if own < level else text
