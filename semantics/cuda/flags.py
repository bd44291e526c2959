"""The bool variables that jumps leave behind, and conditions turned around."""

from __future__ import annotations

from logic.operators import NEGATED
from logic.syntax import BOOL, FALSE, TRUE, Const, Expr, Op, Var
from semantics.cuda.jumps import Kinds
from semantics.cuda.state import State


def staying(st: State, kinds: Kinds) -> Expr:
    """The condition that none of these jumps has happened."""
    names = []
    if "return" in kinds:
        names.append(live_flag(st))
    if "break" in kinds:
        names.append(go_flag(st))
    if "continue" in kinds:
        names.append(next_flag(st))
    test: Expr = Var(names[0])
    for name in names[1:]:
        test = Op("&&", (test, Var(name)))
    return test


def live_flag(st: State) -> str:
    if st.frame.live is None:
        st.frame.live = st.declare("live", BOOL, None).name
    return st.frame.live


def go_flag(st: State) -> str:
    loop = st.loops[-1]
    if loop.go is None:
        loop.go = st.declare("go", BOOL, None).name
    return loop.go


def next_flag(st: State) -> str:
    loop = next(loop for loop in reversed(st.loops) if not loop.switch)
    if loop.next is None:
        loop.next = st.declare("next", BOOL, None).name
    return loop.next


def negated(e: Expr) -> Expr:
    """not e; without an operator of its own where e compares integers."""
    match e:
        case Const(bool(value)):
            return FALSE if value else TRUE
        case Op("!", (a,)):
            return a
        case Op(op, (a, b)) if op in ("==", "!="):
            return Op(NEGATED[op], (a, b), e.loc)
    return Op("!", (e,), e.loc)


def opposite(st: State, e: Expr) -> Expr:
    """not e, where comparisons of integers are turned around."""
    match e:
        case Op(op, (a, b)) if op in NEGATED and st.is_int(a) and st.is_int(b):
            return Op(NEGATED[op], (a, b), e.loc)
    return negated(e)
