"""C conversions: to bool, to narrower integers, between integers and floating types.

Conversions to integer types that have not all of the values are modulo 2^bits: those to 8 and 16 bits as masks, those
to more bits as `semantics.cuda.modular` has them, where they may change anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from logic.operators import COMPARISONS
from logic.source import Loc
from logic.syntax import BOOL, DOUBLE, FALSE, FLOAT, INT, TRUE, Const, Expr, Op, Type
from semantics.cuda.ctype import HALVES, CType, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.modular import reduced

_TESTS: Final = frozenset({*COMPARISONS, "&&", "||", "!"})
"""Operators whose value is a bool."""


def zero(t: Type, loc: Loc | None) -> Const:
    return literal(0, t, loc)


def literal(value: int, t: Type, loc: Loc | None) -> Const:
    """An integer as a literal of a type."""
    if t == BOOL:
        return TRUE if value else FALSE
    if t == INT:
        return Const(value, INT, loc)
    return Const(f"{value}.0f" if t == FLOAT else f"{value}.0", t, loc)


def truth(e: Expr, t: Type) -> Expr:
    """e != 0"""
    if t == BOOL:
        return e
    match e:
        case Const(int(value)) if t == INT:
            return literal(int(value != 0), BOOL, e.loc)
        case Op("int", (Op() as test,)) if t == INT and test.op in _TESTS:
            return test
    return Op("!=", (e, zero(t, e.loc)), e.loc)


def _fits(a: CType, b: CType) -> bool:
    """Whether every value of integer type a is one of integer type b."""
    if b.signed:
        return a.size < b.size or (a.size == b.size and a.signed)
    return not a.signed and a.size <= b.size


def wrapped(e: Expr, t: CType) -> Expr:
    """e modulo 2^bits in an integer type of 8 or 16 bits."""
    return narrowed_to(e, 8 * t.size, t.signed)


def narrowed_to(e: Expr, bits: int, signed: bool) -> Expr:
    """e modulo 2^bits, as a number with a sign or without."""
    full = 1 << bits
    half = full // 2 if signed else 0
    if isinstance(e, Const) and isinstance(e.value, int):
        return Const((e.value + half) % full - half, INT, e.loc)
    shifted = Op("+", (e, Const(half)), e.loc) if half else e
    masked = Op("&", (shifted, Const(full - 1)), e.loc)
    return Op("-", (masked, Const(half)), e.loc) if half else masked


def narrowed(e: Expr, a: CType, b: CType) -> Expr:
    """An integer of C type a as one of C type b."""
    if b.kind != "int" or a.kind == "bool" or _fits(a, b):
        return e
    return reduced(e, b, a)


def retyped(e: Expr, source: Type, target: Type, loc: Loc | None) -> Expr:
    """e, of one type of miniCUDA, as a value of another."""
    if source == target:
        return e
    if target == BOOL:
        return truth(e, source)
    return Op("int" if target == INT else f"as:{target.name}", (e,), loc)


def based(e: Expr, t: Type, loc: Loc | None) -> tuple[Expr, Type]:
    """e, of type t, as a value of a base type, and that type."""
    base = t if t.kind == "base" else DOUBLE
    return retyped(e, t, base, loc), base


def called(name: str, first: Expr, rest: Sequence[Expr], loc: Loc | None) -> Expr:
    """The value of a function on base types, `first` being of one; more than three arguments by several calls."""
    value = Op(f"call:{name}", (first, *rest[:2]), loc)
    return called(name, value, rest[2:], loc) if rest[2:] else value


_FLOAT: Final = CType("base", "float", 4)
_EXACT: Final = 256
"""Every integer up to this is one in all formats of two bytes."""


def convert(e: Expr, a: CType, b: CType, loc: Loc | None) -> Expr:
    """The value e of C type a as one of C type b."""
    exact = a.name == b.name or (isinstance(e, Const) and isinstance(e.value, int) and abs(e.value) <= _EXACT)
    if b.name not in HALVES or exact:
        return _converted(e, a, b, loc)
    once = DOUBLE if scalar(a) == DOUBLE or (scalar(a) == INT and not isinstance(e, Const)) else FLOAT
    value = _converted(e, a, CType("base", once.name, once.size), loc)
    return retyped(Op(f"call:{HALVES[b.name]}", (value,), loc), once, FLOAT, loc)


def rounded(e: Expr, t: CType, loc: Loc | None) -> Expr:
    """The value of an operation, computed in the type that C computes it in, as one of C type t."""
    return convert(e, _FLOAT, t, loc) if t.name in HALVES else e


def _converted(e: Expr, a: CType, b: CType, loc: Loc | None) -> Expr:
    """The same, where a half is a float."""
    source, target = scalar(a), scalar(b)
    if source is None or target is None:
        raise unsupported(f"converting '{a.name}' to '{b.name}'", loc)
    if source == target == INT:
        return narrowed(e, a, b)
    if isinstance(e, Const) and source in (INT, BOOL) and target in (INT, FLOAT, DOUBLE) and source != target:
        return literal(int(e.value), target, loc)
    return retyped(e, source, target, loc)


def common(a: CType, b: CType) -> CType:
    """The type in which C computes an operation on values of these types."""
    for name in ("double", "float"):
        for t in (a, b):
            if t.kind == "base" and t.name == name:
                return t
    for t in (a, b):
        if t.kind == "base":
            return _FLOAT if t.name in HALVES else t
    return max((CType("int", "int", 4), a, b), key=lambda t: (t.size, not t.signed))
