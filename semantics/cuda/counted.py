"""Loops that count in floating-point numbers: `for (float i = -3; i <= 3; i++)`.

P keeps nothing of such numbers. Where all that the counter may be is exact, the turns are counted beforehand, and the
test gets what they are at most as a conjunct, over a variable of its own that is stepped where the counter is. It holds
wherever the test does: the program is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Final

from logic.operators import FLIPPED
from logic.syntax import (
    DOUBLE,
    FLOAT,
    INT,
    Assign,
    Const,
    Expr,
    If,
    Op,
    Seq,
    Stmt,
    Var,
    While,
    seq,
    statements,
    written,
)
from semantics.cuda.reals import EXACT
from semantics.cuda.state import State

MOST: Final = 1 << 20
"""The most turns that are counted."""

_DIGITS: Final = {FLOAT: 24, DOUBLE: 53}
"""The binary digits of a type's numbers."""

_LARGEST: Final = 1 << 100
"""Larger constants are not looked at, nor smaller ones than the inverse: they may be infinite, or have fewer digits."""


def counted(st: State, c: Expr, stmts: list[Stmt]) -> tuple[Expr, list[Stmt]]:
    """The test of a loop that is to be emitted now, and its body: with a variable that counts turns, where the test
    says that they end, by a number that begins at a constant and takes one step a turn."""
    for x, op, limit in _tests(c):
        start, step = _begins(st.out, x), _step(stmts, x)
        if start is None or step is None or st.sigma.locals[x] not in (FLOAT, DOUBLE):
            continue
        if (turns := _turns(start, step, op, limit)) is not None:
            turn = st.declare("turn", INT, c.loc)
            st.emit(Assign(turn.name, Const(0), c.loc))
            counter = Var(turn.name, c.loc)
            on = Op("<", (counter, Const(turns)), c.loc)
            moved = Assign(turn.name, Op("+", (counter, Const(1)), c.loc), c.loc)
            return Op("&&", (on, c), c.loc), [_with(s, x, moved) for s in stmts]
    return c, stmts


def _with(s: Stmt, x: str, moved: Stmt) -> Stmt:
    """A statement in which another one follows the assignment to x."""
    match s:
        case Assign(name) if name == x:
            return seq(s, moved)
        case Seq(stmts):
            return seq(*(_with(t, x, moved) for t in stmts))
        case If(_, then, orelse):
            return replace(s, then=_with(then, x, moved), orelse=_with(orelse, x, moved))
        case While(_, body):
            return replace(s, body=_with(body, x, moved))
    return s


def _tests(c: Expr) -> list[tuple[str, str, Fraction]]:
    """The variables that a condition compares with a floating-point constant, wherever it holds."""
    match c:
        case Op("&&", (a, b)):
            return [*_tests(a), *_tests(b)]
        case Op("<" | "<=" | ">" | ">=" as op, (a, b)):
            for own, other, sign in ((a, b, op), (b, a, FLIPPED[op])):
                limit = _number(other)
                match own:
                    case Var(x) | Op("as:double", (Var(x),)) if limit is not None:
                        return [(x, sign, limit)]
    return []


def _begins(before: Sequence[Stmt], x: str) -> Fraction | None:
    """The constant that x is when statements are done."""
    last = next((s for s in reversed(before) if x in written(s)), None)
    return _number(last.value) if isinstance(last, Assign) else None


def _step(stmts: Sequence[Stmt], x: str) -> Fraction | None:
    """The constant that a loop's body adds to x, at one place."""
    match [s for t in stmts for s in statements(t) if isinstance(s, Assign) and s.var == x]:
        case [Assign(_, Op("+", (Var(name), e)) | Op("+", (e, Var(name))))] if name == x:
            return _number(e)
        case [Assign(_, Op("-", (Var(name), e)))] if name == x and (size := _number(e)) is not None:
            return -size
    return None


def _turns(start: Fraction, step: Fraction, op: str, limit: Fraction) -> int | None:
    """How often a comparison holds of what is counted; None where it is not seen to end, or where a number on the way
    is none that a float has."""
    if step == 0 or (step > 0) != (op in ("<", "<=")):
        return None
    far = (limit - start) / step
    turns = max(0, ceil(far) if op in ("<", ">") else floor(far) + 1)
    unit = max(start.denominator, step.denominator)  # a power of 2, as of all floating-point numbers
    ends = (abs(start), abs(start + turns * step))
    return turns if turns <= MOST and max(ends) * unit < EXACT and unit <= EXACT else None


def _number(e: Expr) -> Fraction | None:
    """The value of a floating-point constant: the number of its type that is next to what is written."""
    match e:
        case Const(str(text), type_) if type_ in _DIGITS:
            try:
                number = Fraction(text.rstrip("fFlL"))
            except ValueError:
                return None
            known = number == 0 or Fraction(1, _LARGEST) < abs(number) < _LARGEST
            return nearest(number, _DIGITS[type_]) if known else None
    return None


def nearest(x: Fraction, digits: int) -> Fraction:
    """The number of so many binary digits next to x, of two the one that ends in 0: as a constant is rounded that is
    neither too small nor too large for its type.

    >>> print(*(nearest(Fraction(text), 24) for text in ("16777217", "16777219", "2.9999999999", "0.75")))
    16777216 16777220 3 3/4
    """
    if x == 0:
        return x
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - digits)
    while abs(x) >= unit * (1 << digits):
        unit *= 2
    return round(x / unit) * unit
