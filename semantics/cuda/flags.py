"""The bool variables that jumps leave behind, and conditions turned around."""

from __future__ import annotations

from logic.operators import NEGATED
from logic.source import Loc
from logic.syntax import BOOL, FALSE, TRUE, Const, Expr, Op, Var
from semantics.cuda.errors import unsupported
from semantics.cuda.jumps import GOTO, Kinds
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
    names += [label_flag(st, kind, None) for kind in sorted(kinds) if kind.startswith(GOTO)]
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


def label_flag(st: State, kind: str, loc: Loc | None) -> str:
    """The flag of the jumps to a label that comes later."""
    labels = st.frame.labels
    if kind not in labels:
        what = f"'{kind}', which leads back or into a block,"
        raise unsupported(what, loc or st.frame.loc, "Write it with loops and 'if'.")
    found = labels[kind] or st.declare(f"before_{kind.removeprefix(GOTO)}", BOOL, None).name
    labels[kind] = found
    return found


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
