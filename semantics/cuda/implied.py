"""The part of a test that no read hides: `i < (A[t] & 3)` says that i < 3, whatever the array holds.

P keeps nothing of a comparison that reads an array. So a test that a loop goes on by gets what it implies as a conjunct
that can be kept. It holds wherever the test does: the program is the same.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Final

from logic.operators import FLIPPED
from logic.syntax import BOOL, Const, Expr, Op, Param, Read, Tid, Var, subterms
from logic.typing import type_of
from semantics.cuda.flags import opposite
from semantics.cuda.limits import limits
from semantics.cuda.modular import Reduced
from semantics.cuda.reals import EXACT, Limits, enclosed
from semantics.cuda.state import State
from semantics.cuda.stores import ANY, BLOCK_THREADS, Range

MOST: Final = 1 << 20
"""The largest limit of a read part that is told: those of whole types end no loop."""


def kept(st: State, c: Expr) -> Expr:
    """A condition, and what it implies, where the condition itself says nothing to P."""
    return both(_unsaid(st, c), c) or c


def told(st: State, c: Expr, holds: bool) -> Expr:
    """A condition, and what it implies where it holds, or does not: whichever goes on with a loop."""
    if not hidden(st, c):
        return c
    if holds:
        return kept(st, c)
    known = _unsaid(st, opposite(st, c))
    return c if known is None else Op("||", (opposite(st, known), c), c.loc)


def _unsaid(st: State, c: Expr) -> Expr | None:
    """The conditions implied by those conjuncts that P cannot keep themselves."""
    match c:
        case Op("&&", (a, b)):
            return both(_unsaid(st, a), _unsaid(st, b))
        case Op("!", (Op("||", (a, b)),)):
            return _unsaid(st, Op("&&", (opposite(st, a), opposite(st, b)), c.loc))
    return implied(st, c) if isinstance(c, Var) or hidden(st, c) else None


def implied(st: State, c: Expr) -> Expr | None:
    """A condition that holds where this one does, and that P can keep; None where there is none."""
    if isinstance(c, Var):
        return st.implied.get(c.name)
    if not hidden(st, c):
        return c
    match c:
        case Op("&&", (a, b)):
            return both(implied(st, a), implied(st, b))
        case Op("||", (a, b)):
            x, y = implied(st, a), implied(st, b)
            return None if x is None or y is None else Op("||", (x, y), c.loc)
        case Op("!", (Op("&&" | "||" as op, (a, b)),)):
            other = "||" if op == "&&" else "&&"
            return implied(st, Op(other, (opposite(st, a), opposite(st, b)), c.loc))
        case Op("!", (Op() as a,)) if (turned := opposite(st, a)) != c:
            return implied(st, turned)
        case Op("<" | "<=" | ">" | ">=" as op, (a, b)) if st.is_int(a) and st.is_int(b):
            up = op in (">", ">=")
            x, y = _beyond(st, a, up), _beyond(st, b, not up)
            return None if x is None or y is None else Op(op, (x, y), c.loc)
        case Op("<" | "<=" | ">" | ">=" as op, (Op("as:float" | "as:double", (a,)), b)):
            return _beside(st, op, a, b, c)
        case Op("<" | "<=" | ">" | ">=" as op, (a, Op("as:float" | "as:double", (b,)))):
            return _beside(st, FLIPPED[op], b, a, c)
    return None


def _beside(st: State, op: str, n: Expr, x: Expr, c: Expr) -> Expr | None:
    """The comparison of an integer with a number of its type that stands for one with a number that is not whole."""
    if hidden(st, n) or not st.is_int(n):
        return None
    low, high = reals(st, x)
    end = high if op in ("<", "<=") else low
    if end is None or abs(end) >= min(MOST, EXACT):
        return None
    whole = {"<": ceil, "<=": floor, ">": floor, ">=": ceil}[op](end)
    return Op(op, (n, Const(whole)), c.loc)


def reals(st: State, e: Expr) -> Limits:
    """Limits of a floating-point value, where it is a number."""
    return enclosed(e, lambda n: range_of(st, n), st.reals)


MOST_CONVERTED: Final = 65
"""Limits from here on are not told."""


def limited(st: State, e: Expr, value: Expr) -> Expr:
    """e, the floating-point value as a signed integer, with the limit that it has where that is a small number, as
    logarithms do. What is no number becomes 0 or the least integer."""
    high = reals(st, value)[1] if is_computed(st, value) else None
    if high is None or high >= MOST_CONVERTED:
        return e
    found = Op("min", (e, Const(max(0, floor(high)))), e.loc)
    st.limited.append(found)
    return found


def at_most(st: State, args: list[Expr]) -> list[Expr]:
    """The operands of a minimum; where one of them has a limit of ours that is no less than the other, without that: it
    is what the source says."""
    match args:
        case [Op("min", (value, Const(int(most)))) as e, Const(int(k))] if k <= most and any(
            e is x for x in st.limited
        ):
            return [value, args[1]]
    return args


def is_computed(st: State, value: Expr) -> bool:
    """Whether functions have a part in a value."""
    return any(t.op.startswith("call:") if isinstance(t, Op) else _name(t) in st.reals for t in subterms(value))


def _name(e: Expr) -> str:
    return e.name if isinstance(e, Var) else ""


def counted(st: State, e: Expr) -> Expr:
    """An integer that is made of a number of bits, with the limit that it has by that."""
    if not any(isinstance(t, Op) and t.op in _COUNTS for t in subterms(e)):
        return e
    most = range_of(st, e)[1]
    match e:
        case Op("min", (_, Const(int(k)))) if k <= most:
            return e
    return Op("min", (e, Const(most)), e.loc) if most < MOST_CONVERTED else e


def both(a: Expr | None, b: Expr | None) -> Expr | None:
    """The conjunction of two conditions; one of them where the other is None."""
    return b if a is None else a if b is None else Op("&&", (a, b), b.loc)


def hidden(st: State, e: Expr) -> bool:
    """Whether P cannot speak of an expression: it reads an array, or is made of floating-point numbers."""
    return any(
        isinstance(t, Read) or (t.op.startswith(("as:", "call:")) if isinstance(t, Op) else _real(st, t))
        for t in subterms(e)
    )


def _real(st: State, leaf: Expr) -> bool:
    return type_of(leaf, st.sigma).kind == "base"


def _beyond(st: State, e: Expr, up: bool) -> Expr | None:
    """A value that P can speak of and an integer is at most (`up`), or at least; None where none is known."""
    if not hidden(st, e):
        return e
    match e:
        case Reduced():
            low, high = range_of(st, e.inner)
            if e.to.low <= low and (high <= e.to.high or up):
                return _beyond(st, e.inner, up)
        case Op("+" | "-" as op, (a, b)):
            x, y = _beyond(st, a, up), _beyond(st, b, up == (op == "+"))
            match x, y:
                case Const(int(m)), Const(int(k)):
                    return Const(m + k if op == "+" else m - k)
                case _, Const(0):
                    return x
            return None if x is None or y is None else Op(op, (x, y), e.loc)
        case Op("*", (Const(int(k)), a) | (a, Const(int(k)))) if k > 0:
            x = _beyond(st, a, up)
            return Const(k * x.value) if isinstance(x, Const) else None if x is None else Op("*", (Const(k), x), e.loc)
        case Op("min" | "max" as op, (a, b)):
            x, y = _beyond(st, a, up), _beyond(st, b, up)
            if x is None or y is None:
                return (x or y) if up == (op == "min") else None
            return Op(op, (x, y), e.loc)
    end = range_of(st, e)[up]
    return Const(end) if abs(end) <= MOST else None


_COUNTS: Final = {f"call:__{f}{size}": bits for f in ("popc", "clz", "ffs") for size, bits in (("", 32), ("ll", 64))}
"""Functions that give a number of bits, or the place of one."""


def range_of(st: State, e: Expr) -> Range:
    """Limits of an integer, by its operators and types alone."""
    match e:
        case Const(int(k)):
            return int(k), int(k)
        case Var(name) | Param(name) if name in st.integers:
            return st.integers[name].low, st.integers[name].high
        case Tid():
            return 0, BLOCK_THREADS - 1
        case Param(name) if name.startswith("blockDim."):
            return 1, BLOCK_THREADS
        case Op("int", (Op(op),)) if op in _COUNTS:
            return 0, _COUNTS[op]
        case Reduced():
            low, high = range_of(st, e.inner)
            return (low, high) if e.to.low <= low and high <= e.to.high else (e.to.low, e.to.high)
        case Op("?:", (_, a, b)):
            x, y = range_of(st, a), range_of(st, b)
            return min(x[0], y[0]), max(x[1], y[1])
        case Op("int", (a,)):
            return (0, 1) if type_of(a, st.sigma) == BOOL else ANY
        case Op(op, args) if all(map(st.is_int, args)):
            return limits(op, [range_of(st, a) for a in args])
    return ANY
