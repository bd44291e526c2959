"""Statements of lanes that leave a loop by its only way out: run after the loop, as apart from each other they could
cost less."""

from __future__ import annotations

from logic.source import Loc
from logic.syntax import (
    TRUE,
    Assign,
    Expr,
    If,
    Op,
    Read,
    Stmt,
    Sync,
    While,
    Write,
    local_vars,
    statements,
    subterms,
)
from semantics import exchange
from semantics.cuda.state import Loop, State


def shows(s: Stmt) -> bool:
    """Whether it could cost less, by some metric, to do a statement apart, some lanes at a time. Names, literals and
    operators cost as much for each part of the lanes as for all."""
    return any(
        isinstance(t, If | While | Sync | Write)
        or (isinstance(t, Assign) and any(isinstance(e, Read) or _exchanges(e) for e in subterms(t.value)))
        for t in statements(s)
    )


def _exchanges(e: Expr) -> bool:
    return isinstance(e, Op) and exchange.kind(e) != ""


def left(st: State, loop: Loop, loc: Loc | None) -> None:
    """Emit what the lanes do that have left a loop by its only way out: all lanes that were in it."""
    for s in loop.parked:
        tested = frozenset[str]().union(*(local_vars(t.cond) for t in statements(s) if isinstance(t, If | While)))
        st.emit(*(Assign(flag, TRUE, loc) for flag in (st.frame.live, loop.go) if flag in tested), s)
