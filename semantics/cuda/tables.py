"""Constant tables: what an array in constant memory holds that is declared with a list of integers.

A read at a known index is paid for, and its value is the table's, on the assumption that host code leaves the array as
it is declared, which is noted.
"""

from __future__ import annotations

from logic.syntax import Const, Expr
from semantics.cuda.clang import Node
from semantics.cuda.ctype import CType
from semantics.cuda.modular import integer, remainder
from semantics.cuda.state import Address, State


def note_table(st: State, decl: Node, root: str) -> None:
    """Keep what an array of one dimension is declared to hold, if that is known; what its list leaves out is 0."""
    t, init = decl.type, decl.initialiser
    own = None if t.kind != "array" or t.inner is None else integer(t.inner)
    if own is None or t.inner is None or t.inner.volatile or init is None or init.kind != "INIT_LIST_EXPR":
        return
    values = [part.evaluate() for part in init.children]
    count = t.size // t.inner.size
    if len(values) <= count and all(isinstance(v, int) for v in values):
        known = [remainder(int(v), own) for v in values if v is not None]
        st.tables[root] = (*known, *(0,) * (count - len(known)))
        if decl.storage != "STATIC" or not t.inner.const:
            st.note(f"'{decl.name}', in constant memory, holds what it is declared with")


def known(st: State, a: Address, t: CType, at: Expr) -> int | None:
    """The value that the element at an index of an array is declared with, where both are known."""
    table = st.tables.get(a.root, ())
    plain = not a.path and a.offset == 0 and all(size == t.size for size, _ in a.terms)
    if not plain or not isinstance(at, Const) or not isinstance(at.value, int) or not 0 <= at.value < len(table):
        return None
    return table[at.value]
