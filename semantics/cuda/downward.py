"""Loops that count an unsigned number down until it wraps around: `for (unsigned i = n - 1; i < n; i--)`.

The last step makes 2^bits - 1 of 0, for which the test does not hold. Where nothing but the loop sees the number, -1 is
as good: `i >= 0 && i < n` tells both from all others, and says how long the loop goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from logic.syntax import Assign, Const, Expr, Op, Stmt, Var, local_vars, reads_array, written
from semantics.cuda.implied import range_of
from semantics.cuda.modular import Integer, Reduced
from semantics.cuda.state import State

_STEP: Final = Const(1)


def downward(st: State, c: Expr, stmts: list[Stmt]) -> tuple[Expr, list[Stmt]]:
    """The test of a loop and its body with its step in the end, of whose variables nothing else sees those that are
    stepped: with -1 for what a number wraps around to, where that ends the loop."""
    found = _step(stmts)
    if found is None or reads_array(c):
        return c, stmts
    at, x, t = found
    if st.integers.get(x) != t or x in written(*stmts[:at], *stmts[at + 1 :]) or not _ends(st, c, x, t.high):
        return c, stmts
    loc = stmts[at].loc
    st.integers[x] = Integer(t.bits + 1, True)
    stepped = Assign(x, Op("-", (Var(x, loc), _STEP), loc), loc)
    return Op("&&", (Op(">=", (Var(x, c.loc), Const(0)), c.loc), c), c.loc), [*stmts[:at], stepped, *stmts[at + 1 :]]


def _step(stmts: Sequence[Stmt]) -> tuple[int, str, Integer] | None:
    """Where the last statements, of which the others are about other variables, take 1 from an unsigned number."""
    seen = set[str]()
    for i in range(len(stmts) - 1, -1, -1):
        match stmts[i]:
            case Assign(x, Reduced() as e) if x not in seen and e.inner == Op("-", (Var(x), _STEP)) and not e.to.signed:
                return i, x, e.to
            case Assign(x, e) if not reads_array(e):
                seen |= {x, *local_vars(e)}
            case _:
                return None
    return None


def _ends(st: State, c: Expr, x: str, high: int) -> bool:
    """Whether a condition does not hold where x has a value that is the highest of its type."""
    match c:
        case Op("&&", (a, b)):
            return _ends(st, a, x, high) or _ends(st, b, x, high)
        case Op("<", (Var(name), limit)) | Op(">", (limit, Var(name))) if name == x and x not in local_vars(limit):
            return range_of(st, limit)[1] <= high
        case Op("!=", (Var(name), Const(int(value))) | (Const(int(value)), Var(name))):
            return name == x and value == high
    return False
