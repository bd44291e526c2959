"""Values and the operators on them: `logic.operators.denote` on int and bool, IEEE 754 arithmetic on base types.

A value of a base type is a Python float; `float` is rounded to single precision after every operation. Nothing here
raises on numbers: x / 0 is an infinity or a NaN, a function outside its domain gives a NaN. No claim rests on these
values, since base types are opaque to the logic: they only decide which way a concrete run goes.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Final

from logic.operators import denote
from logic.source import Loc, SourceError
from logic.syntax import Const, Op, Type
from semantics.exchange import kind
from semantics.rounding import divided

Value = int | bool | float

_LITERAL: Final = re.compile(
    r"([+-]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?\d+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan))[fl]?"
)


class ValueProblem(SourceError):
    """A literal or a function whose value is not known here."""


def default(type_: Type) -> Value:
    """The value that is read where nothing was written, and out of bounds: 0, False or 0.0."""
    return {"int": 0, "bool": False, "base": 0.0}[type_.kind]


def rounded(x: float, type_: Type) -> float:
    """x in the precision of a base type: single for `float`, else as it is."""
    return ctypes.c_float(x).value if type_.name == "float" else x


def literal(c: Const) -> Value:
    """The value of a constant; base types keep C's text (`0.5f`, `1e-3`). Raises ValueProblem where it is no number."""
    if c.type.kind != "base":
        return c.value if isinstance(c.value, int) else int(c.value, 0)
    text = str(c.value).strip().lower()
    match _LITERAL.fullmatch(text):
        case None:
            raise ValueProblem(f"'{c.value}' is not a number", c.loc, "Write a floating-point literal.")
        case found:
            number = found[1]
    return converted(float.fromhex(number) if "0x" in number else float(number), c.type)


def converted(x: Value, type_: Type) -> Value:
    """C's conversion to a type; an infinity or a NaN becomes the integer 0."""
    match type_.kind:
        case "bool":
            return bool(x)
        case "int":
            return 0 if isinstance(x, float) and not math.isfinite(x) else int(x)
        case "base":
            try:
                return rounded(float(x), type_)
            except OverflowError:
                return math.inf if x > 0 else -math.inf


def operation(op: str, operand: Type, result: Type, loc: Loc | None = None) -> Callable[[tuple[Value, ...]], Value]:
    """The function that an operator denotes; `operand` is the type of its last operand.

    Raises ValueProblem for a function that is not in FUNCTIONS.
    """
    if op in ("int", "bool") or op.startswith("as:"):
        return lambda args: converted(args[0], result)
    if op.startswith("call:"):
        return _call(op.removeprefix("call:"), result, loc)
    if operand.kind != "base" or op == "?:":
        return lambda args: denote(op, args)  # type: ignore[arg-type]
    if op in _COMPARE:
        compare = _COMPARE[op]
        return lambda args: compare(*args)
    if op in _ARITHMETIC:
        arithmetic = _ARITHMETIC[op]
        return lambda args: rounded(arithmetic(*args), result)
    raise ValueProblem(f"'{op}' on {operand} has no value here", loc, "Use +, -, *, /, min, max or a comparison.")


_COMPARE: Final[dict[str, Callable[..., bool]]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}

_ARITHMETIC: Final[dict[str, Callable[..., float]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divided,
    "min": lambda a, b: b if math.isnan(a) or b < a else a,
    "max": lambda a, b: b if math.isnan(a) or b > a else a,
    "neg": lambda a: -a,
    "abs": abs,
}


def unknown(e: Op, why: str) -> ValueProblem:
    """A call whose value nobody says."""
    name = e.op.removeprefix("call:")
    return ValueProblem(f"a run cannot tell what '{name}' gives{why}", e.loc, "A bound holds whatever it gives.")


def _call(name: str, result: Type, loc: Loc | None) -> Callable[[tuple[Value, ...]], Value]:
    import numpy as np  # not at the top: what judges a certificate meets no function

    from semantics.functions import FUNCTIONS, WORDS, Untold, function

    plain = name.removeprefix("__")
    known = function(plain, result.name == "float")
    if known is None:
        if plain == "local":
            advice = "A bound holds whatever it holds; make it a shared array to run it."
            raise ValueProblem("a run does not keep this array of one thread", loc, advice)
        call = Op(f"call:{name}", (), loc)
        if plain.startswith(("atomic", "tex")) or kind(call):
            raise unknown(call, "")
        if plain == "address":
            raise ValueProblem(
                "a run does not know where arrays lie in memory", loc, "A bound holds wherever they lie."
            )
        if plain.startswith("ptx_"):
            raise unknown(Op(f"call:{plain.removeprefix('ptx_')}", (), loc), " in inline assembly")
        meant = get_close_matches(plain.removesuffix("f"), sorted({*FUNCTIONS, *WORDS}), 1, 0.7)
        advice = "".join(f"Did you mean '{other}'? " for other in meant) + "A bound holds whatever it gives."
        raise ValueProblem(f"the value of the function '{name}' is not known", loc, advice)

    def apply(args: tuple[Value, ...]) -> Value:
        try:
            with np.errstate(all="ignore"):
                return converted(known(*args), result)
        except Untold as e:
            given = ", ".join(f"{a:g}" if isinstance(a, float) else str(a) for a in args)
            raise unknown(Op(f"call:{name}", (), loc), f" for {given}") from e

    return apply
