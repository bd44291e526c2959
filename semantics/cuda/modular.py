"""Integers modulo 2^bits: how a value that C reduces is written while a kernel is read.

An operation of an unsigned type gives its value modulo 2^bits, and so does a conversion to an integer type that has not
all of the values. Whoever lowers one writes it `reduced`; `semantics.cuda.ranges` then takes every reduction away that
changes no value, and leaves the others as operators: `e & (2^bits - 1)`, which on mathematical integers (in two's
complement without an end) is e modulo 2^bits, and `((e + 2^(bits-1)) & (2^bits - 1)) - 2^(bits-1)` for a signed type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from logic.syntax import INT, Const, Expr, Op, Var, substitute
from semantics.cuda.ctype import CType

SHORT_BITS: Final = 16
"""The most bits of a C type that has fewer than an int: all arithmetic on such is in ints."""


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer type: how many bits it has, and whether one of them is a sign."""

    bits: int
    signed: bool

    @property
    def low(self) -> int:
        return -(1 << self.bits - 1) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << self.bits - self.signed) - 1

    @property
    def wraps(self) -> bool:
        """Whether what does not fit is reduced, and is no overflow of signed arithmetic: C has that in ints, and then
        converts to types of fewer bits."""
        return not self.signed or self.bits <= SHORT_BITS

    @property
    def name(self) -> str:
        """In words."""
        return f"{'a signed' if self.signed else 'an unsigned'} integer of {self.bits} bits"


_INT: Final = Integer(32, True)


@dataclass(frozen=True, slots=True)
class Reduced(Op):
    """An expression modulo 2^bits, in the range of a type, as the operators that it becomes if it has to. `source` is
    the type that is converted from, None where an operation gives the value."""

    to: Integer = _INT
    source: Integer | None = None

    @property
    def inner(self) -> Expr:
        """The expression that is reduced."""
        inner = self.args[0]
        if self.to.signed and isinstance(inner, Op):
            return inner.args[0].args[0] if isinstance(inner.args[0], Op) else inner
        return inner


def integer(t: CType) -> Integer | None:
    """The integer type that a C type is; None for all else."""
    if t.kind == "reference" and t.inner is not None:
        t = t.inner
    return Integer(8 * t.size, t.signed) if t.kind == "int" and t.size else None


def remainder(value: int, t: Integer) -> int:
    """A number modulo 2^bits, in the range of a type."""
    return (value - t.low) % (1 << t.bits) + t.low


def masked(e: Expr, t: Integer) -> Op:
    """e modulo 2^bits, in the range of a type, by operators."""
    full = Const((1 << t.bits) - 1)
    if not t.signed:
        return Op("&", (e, full), e.loc)
    half = Const(-t.low)
    return Op("-", (Op("&", (Op("+", (e, half), e.loc), full), e.loc), half), e.loc)


def reduced(e: Expr, to: CType, source: CType | None = None) -> Expr:
    """e as a value of an integer type: what an operation gives, or a conversion from a type."""
    t = integer(to)
    return e if t is None else modulo(e, t, None if source is None else integer(source))


def modulo(e: Expr, t: Integer, source: Integer | None = None) -> Expr:
    """e modulo 2^bits, in the range of a type that is converted to."""
    if isinstance(e, Const) and isinstance(e.value, int):
        return Const(remainder(e.value, t), INT, e.loc)
    if isinstance(e, Reduced) and e.to == t:
        return e
    made = masked(e, t)
    return Reduced(made.op, made.args, e.loc, t, source)


def operation(e: Expr, t: CType) -> Expr:
    """The result of an operation of C, in its type: only unsigned ones wrap around, and those below 32 bits are
    none."""
    return e if t.kind != "int" or t.signed or t.size < INT.size else reduced(e, t)


_RING: Final = ("+", "-", "*", "neg", "&", "|", "^", "~")
"""Operators whose value modulo 2^bits depends on their operands modulo 2^bits only."""


def stripped(e: Expr, bits: int) -> Expr:
    """An expression that is e modulo 2^bits, without the reductions that make no difference to that."""
    if isinstance(e, Reduced) and e.to.bits >= bits:
        return stripped(e.inner, bits)
    match e:
        case Op(op, args) if op in _RING and not isinstance(e, Reduced):
            inner = tuple(stripped(a, bits) for a in args)
        case Op("<<", (a, count)):
            inner = (stripped(a, bits), count)
        case Op("?:", (c, a, b)):
            inner = (c, stripped(a, bits), stripped(b, bits))
        case _:
            return e
    return e if all(a is b for a, b in zip(inner, e.args, strict=True)) else Op(e.op, inner, e.loc)


def small(e: Expr, bits: int) -> Expr:
    """An expression that is e modulo 2^bits, with -1 for 2^bits - 1, and so on, in sums and in operators on bits."""
    match e:
        case Const(int(value)) if not isinstance(value, bool) and value > 1 << bits - 1:
            return Const(remainder(value, Integer(bits, True)), INT, e.loc)
        case Op("+" | "-" | "neg" | "&" | "|" | "^", args) if not isinstance(e, Reduced):
            inner = tuple(small(a, bits) for a in args)
            if any(a is not b for a, b in zip(inner, args, strict=True)):
                return _signs(Op(e.op, inner, e.loc))
    return e


def _signs(e: Op) -> Expr:
    """a - 1 for a + -1"""
    match e:
        case Op("+" | "-", (a, Const(int(k)))) if k < 0:
            return Op("-" if e.op == "+" else "+", (a, Const(-k)), e.loc)
    return e


def renamed(e: Reduced, old: str, new: str) -> Expr:
    """A reduced expression with another variable in it."""
    made = masked(substitute(e.inner, {old: Var(new, e.loc)}), e.to)
    return Reduced(made.op, made.args, e.loc, e.to, e.source)
