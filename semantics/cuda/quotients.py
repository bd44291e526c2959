"""Quotients of integers that are made in double and rounded to an integer again: `int(ceil(n / 512.0))`.

A double has 53 bits, and a device divides doubles as IEEE 754 has it, whatever the compiler's options. Let x have 32
bits at most and d > 0 be a whole number. Where x / d is none, it is at least 1/d away from the next, and less than
2^32/d, where doubles are less than 2^-19/d apart: rounding it to a double neither makes it whole nor leads past a whole
number. So floor, ceil and the conversion of the double are those of the quotient itself, and a whole quotient is exact.

In float that is not so from 2^24 on, nor where the compiler may divide in haste; log2f may be off by one unit in the
last place, even at powers of 2. Of what these give only limits are known (`reals`).
"""

from __future__ import annotations

from typing import Final

from logic.syntax import BUILTINS, DOUBLE, Const, Expr, Op, Param, reads_array
from semantics.cuda.clang import Node
from semantics.cuda.shapes import bare, operand

_FUNCTIONS: Final = {"call:ceil": "ceil", "call:floor": "floor", "call:trunc": "trunc"}
_MOST: Final = 1 << 31


def quotient(node: Node, e: Expr) -> Expr | None:
    """The integer that e, the value of an expression of type double, is converted to, where integers alone tell it."""
    match e:
        case Op(op, (Op("/", (Op("as:double", (x,)), divisor)) as inner,)) if op in _FUNCTIONS:
            return _rounded(_FUNCTIONS[op], node, x, divisor, inner)
        case Op("/", (Op("as:double", (x,)), divisor)):
            return _rounded("trunc", node, x, divisor, e)
    return None


def _rounded(how: str, node: Node, x: Expr, divisor: Expr, e: Op) -> Expr | None:
    """x / divisor, rounded."""
    signed, d = _dividend(node, how), _divisor(divisor)
    if signed is None or d is None or reads_array(x):
        return None
    less = Const(d.value - 1) if isinstance(d, Const) and isinstance(d.value, int) else Op("-", (d, Const(1)), e.loc)
    if how == "trunc" or (how == "floor" and not signed):
        return Op("/", (x, d), e.loc)
    if not signed:
        return Op("/", (Op("+", (x, less), e.loc), d), e.loc)
    if isinstance(d, Const) and (power := int(d.value).bit_length() - 1) and 1 << power == d.value:
        return Op(">>", (Op("+", (x, less), e.loc) if how == "ceil" else x, Const(power)), e.loc)
    above, below = (Op(op, (x, Const(0)), e.loc) for op in ("max", "min"))  # C's / rounds toward 0: one of them is 0
    if how == "ceil":
        above = Op("+", (above, less), e.loc)
    else:
        below = Op("-", (below, less), e.loc)
    return Op("+", (Op("/", (above, d), e.loc), Op("/", (below, d), e.loc)), e.loc)


def _dividend(node: Node, how: str) -> bool | None:
    """Whether the dividend has a sign; None where the source does not divide an integer of 32 bits or less."""
    here = bare(node)
    if here.kind == "CALL_EXPR" and here.name == how and len(here.children) == 2:
        here = bare(here.children[1])
    if here.kind != "BINARY_OPERATOR" or here.operator != "/":
        return None
    left = bare(here.children[0])
    inner = operand(left) if left.children else None
    if inner is None or inner.type.kind != "int" or not 1 <= inner.type.size <= 4:
        return None
    return inner.type.signed


def _divisor(e: Expr) -> Const | Param | None:
    """A positive whole number, or a size of the launch."""
    match e:
        case Const(str(text)) if e.type == DOUBLE:
            try:
                value = float(text)
            except ValueError:
                return None
            return Const(int(value), loc=e.loc) if value.is_integer() and 1 <= value < _MOST else None
        case Op("as:double", (Param(name) as size,)) if name in BUILTINS and name.startswith(("blockDim", "gridDim")):
            return size
    return None
