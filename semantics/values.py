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
from typing import Any, Final

import numpy as np

from logic.operators import denote
from logic.source import Loc, SourceError
from logic.syntax import Const, Op, Type
from semantics.exchange import kind

Value = int | bool | float

_LITERAL: Final = re.compile(
    r"([+-]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?\d+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan))[fl]?"
)


class ValueProblem(SourceError):
    """A literal or a function whose value is not known here."""


def default(type_: Type) -> Value:
    """What is read where nothing was written, and out of bounds: 0, False or 0.0."""
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


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _word(x: float) -> int:
    """The 32 bits of an integer."""
    return int(x) & 0xFFFFFFFF


def _round(x: float) -> float:
    """C's round: halves away from zero."""
    whole = float(np.trunc(x))
    return whole + math.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole


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
    "/": _divide,
    "min": lambda a, b: b if math.isnan(a) or b < a else a,
    "max": lambda a, b: b if math.isnan(a) or b > a else a,
    "neg": lambda a: -a,
    "abs": abs,
}

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{f: getattr(np, f) for f in ("sqrt", "cbrt", "exp", "exp2", "expm1", "log2", "log10", "log1p", "hypot")},
    **{f: getattr(np, f) for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "rint")},
    **{f: getattr(np, f) for f in ("fmin", "fmax", "fmod", "copysign")},
    **{f: getattr(np, f"arc{f[1:]}") for f in ("asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh")},
    "log": np.log,
    "pow": np.power,
    "fabs": np.abs,
    "abs": np.abs,
    "round": _round,
    "rsqrt": lambda x: _divide(1.0, float(np.sqrt(x))),
    "fdivide": _divide,
    "erf": math.erf,
    "erfc": math.erfc,
    "fma": lambda a, b, c: a * b + c,
    "popc": lambda n: _word(n).bit_count(),
    "clz": lambda n: 32 - _word(n).bit_length(),
    "ffs": lambda n: (_word(n) & -_word(n)).bit_length(),
    "brev": lambda n: int(f"{_word(n):032b}"[::-1], 2),
    "mulhi": lambda a, b: int(a) * int(b) >> 32,
    "umulhi": lambda a, b: int(a) * int(b) >> 32,
    "given": lambda *_: 1,
    "part": lambda whole, _: whole,
    "pack": lambda first, *_: first,
}
"""C's names of the functions on `double`; `sqrtf` and the fast `__sqrtf` are the same function, rounded to float. A
structure that is accessed at once, of which `part` gives a scalar, has the value of its first one here."""


def unknown(e: Op, why: str) -> ValueProblem:
    """A call whose value nobody says."""
    name = e.op.removeprefix("call:")
    return ValueProblem(f"a run cannot tell what '{name}' gives{why}", e.loc, "A bound holds whatever it gives.")


def _call(name: str, result: Type, loc: Loc | None) -> Callable[[tuple[Value, ...]], Value]:
    plain = name.removeprefix("__")
    function = FUNCTIONS.get(plain) or FUNCTIONS.get(plain.removesuffix("f"))
    if function is None:
        if plain == "local":
            advice = "A bound holds whatever it holds; make it a shared array to run it."
            raise ValueProblem("a run does not keep this array of one thread", loc, advice)
        if plain == "half":
            raise ValueProblem("a run does not round to half precision", loc, "A bound holds whatever the values are.")
        call = Op(f"call:{name}", (), loc)
        if plain.startswith(("atomic", "tex")) or kind(call):
            raise unknown(call, "")
        advice = f"Known are {', '.join(sorted(FUNCTIONS))}, each also with an f at its end."
        raise ValueProblem(f"the value of the function '{name}' is not known", loc, advice)

    def apply(args: tuple[Value, ...]) -> Value:
        with np.errstate(all="ignore"):
            return converted(float(function(*map(float, args))), result)

    return apply
