"""The operators of miniCUDA: arity, typing and, for integers and booleans, denotation.

Integers are mathematical (no overflow: an assumption that every report prints). Division truncates toward zero and
`%` takes the dividend's sign, as in C. What C leaves undefined is defined here, once, so that every part agrees:
`a / 0 = 0`, `a % 0 = a`, and a shift by a negative count is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

ARITHMETIC: Final = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "min", "max")
COMPARISONS: Final = ("<", "<=", ">", ">=", "==", "!=")
ORDERS: Final = ("<", "<=", ">", ">=")
CONNECTIVES: Final = ("&&", "||")
NEGATED: Final = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
"""The comparison that holds exactly where the given one does not (integers only: a NaN satisfies neither)."""
FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
"""Each comparison with its sides exchanged: a < b is b > a."""

Value = int | bool


def c_div(a: int, b: int) -> int:
    """C's `a / b`: the quotient truncated toward zero; 0 when b is 0.

    >>> c_div(7, 2), c_div(-7, 2), c_div(7, -2), c_div(7, 0)
    (3, -3, -3, 0)
    """
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def c_mod(a: int, b: int) -> int:
    """C's `a % b`: has the sign of a, and `a == b * (a / b) + a % b`; a when b is 0.

    >>> c_mod(7, 3), c_mod(-7, 3), c_mod(7, -3), c_mod(7, 0)
    (1, -1, 1, 7)
    """
    return a - b * c_div(a, b)


_UNARY: Final[dict[str, Callable[[Value], Value]]] = {
    "neg": lambda a: -int(a),
    "~": lambda a: ~int(a),
    "!": lambda a: not a,
    "int": int,
    "bool": bool,
    "abs": lambda a: abs(int(a)),
}

_BINARY: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "+": lambda a, b: int(a) + int(b),
    "-": lambda a, b: int(a) - int(b),
    "*": lambda a, b: int(a) * int(b),
    "/": lambda a, b: c_div(int(a), int(b)),
    "%": lambda a, b: c_mod(int(a), int(b)),
    "<": lambda a, b: int(a) < int(b),
    "<=": lambda a, b: int(a) <= int(b),
    ">": lambda a, b: int(a) > int(b),
    ">=": lambda a, b: int(a) >= int(b),
    "<<": lambda a, b: int(a) << int(b) if b >= 0 else 0,
    ">>": lambda a, b: int(a) >> int(b) if b >= 0 else 0,
    "&": lambda a, b: int(a) & int(b),
    "|": lambda a, b: int(a) | int(b),
    "^": lambda a, b: int(a) ^ int(b),
    "min": lambda a, b: min(int(a), int(b)),
    "max": lambda a, b: max(int(a), int(b)),
}


def denote(op: str, args: tuple[Value, ...]) -> Value:
    """The value of an operator on integers and booleans.

    `neg`, `~`, `!` are unary, `?:` is ternary, `int` and `bool` convert, everything else is binary.
    Raises KeyError for an operator without a denotation here (those on base types).

    >>> denote("+", (2, 3))
    5
    >>> denote("/", (-7, 2))
    -3
    >>> denote("<<", (1, 5)), denote("<<", (1, -5))
    (32, 0)
    >>> denote("&", (-1, 7))
    7
    >>> denote("?:", (True, 1, 2))
    1
    >>> denote("neg", (3,)), denote("~", (3,)), denote("!", (False,))
    (-3, -4, True)
    """
    if op == "?:":
        return args[1] if args[0] else args[2]
    match args:
        case (a,):
            return _UNARY[op](a)
        case (a, b):
            return _BINARY[op](a, b)
    raise KeyError(op)
