"""Numbers on the mini-SIMT machine: integers without a width, and those of base types (`semantics.values`)."""

from __future__ import annotations

from typing import Final

from logic.operators import denote
from logic.source import Loc, SourceError
from logic.syntax import DOUBLE, Type
from semantics.values import Value, converted, operation

MOST_BITS: Final = 4_096
"""Numbers are mathematical integers; one of more bits than this is a program's fault."""


class RunProblem(SourceError):
    """A program that goes wrong while it runs: at a barrier, or with a number that grows without end."""


def whole(value: Value, loc: Loc | None, what: str) -> int:
    """An integer that is used as `what`. Raises RunProblem for a number in floating point."""
    if isinstance(value, float):
        raise RunProblem(f"{value} is not {what}", loc, "Use a whole number.")
    return int(value)


def apply(op: str, type_: Type, args: tuple[Value, ...], result: Type, loc: Loc | None) -> Value:
    """An operator on one thread's values. Raises RunProblem for numbers of more than MOST_BITS bits."""
    if op == "?:":
        return args[1] if args[0] else args[2]
    if op in ("int", "bool") or op.startswith("as:"):
        return operation(op, type_, result, loc)(args)
    if type_.kind == "base" or op.startswith("call:"):
        return operation(op, type_, result, loc)(tuple(converted(a, DOUBLE) for a in args))
    if any(isinstance(a, float) for a in args):
        raise RunProblem(f"'{op}' of whole numbers got {args}", loc, "Name the type: `binop.float v = a + b`.")
    if op == "<<" and args[1] > MOST_BITS and args[0]:
        raise RunProblem(f"a shift by {args[1]} bits", loc, _TOO_LARGE)
    value = int(denote(op, args))  # type: ignore[arg-type]
    if value.bit_length() > MOST_BITS:
        raise RunProblem(f"a number of more than {MOST_BITS} bits", loc, _TOO_LARGE)
    return value


_TOO_LARGE: Final = "Numbers do not wrap around here; keep them small."
