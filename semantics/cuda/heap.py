"""Memory that a thread asks for: `malloc`, `new`, `free`, `delete`. A pointer to it is a number of which nothing is
known, as one that is read from memory (`semantics.cuda.regions`), but that it is a multiple of 16.

What the allocation costs is not counted, and said to be so.
"""

from __future__ import annotations

from typing import Final

from logic.syntax import INT, Assign, Const, Expr, Var
from semantics.cuda.clang import Node
from semantics.cuda.classes import destroyed
from semantics.cuda.convert import convert, zero
from semantics.cuda.ctype import scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.places import TIDS, anything, dropped, evaluate
from semantics.cuda.pointers import address, deliver
from semantics.cuda.records import fill
from semantics.cuda.regions import region
from semantics.cuda.sequence import within
from semantics.cuda.state import Address, State, Use

NAMES: Final = ("malloc", "free")
KINDS: Final = ("CXX_NEW_EXPR", "CXX_DELETE_EXPR")

_ALIGNED: Final = 16
"""The address of what is allocated is a multiple of this many bytes."""


def call(st: State, node: Node, name: str, use: Use) -> Address | None:
    """`malloc` or `free`."""
    if name == "free":
        _given_back(st, node.arguments[0], use)
        return None
    evaluate(st, expr(st, node.arguments[0], within(use)))
    return _fresh(st, node)


def operator(st: State, node: Node, use: Use) -> Address | None:
    """`new` or `delete`."""
    if node.kind == "CXX_DELETE_EXPR":
        name = destroyed(node.children[0].pointee_decl)
        if name:
            raise unsupported(f"the destructor of '{name}'", node.loc, "Do what it does before.")
        _given_back(st, node.children[0], use)
        return None
    t, words = node.type.inner, [text for text, _ in node.tokens()]
    opens = next((text for text in words[1:] if text in ("[", "(", "{")), "")
    if t is None or words[:1] != ["new"] or words[1:2] == ["("]:
        raise unsupported("this 'new'", node.loc, "Write it as new T, new T(..) or new T[n].")
    given = [c for c in node.children if not c.kind.endswith("_REF")]
    if opens == "[":
        plain = len(given) == 1 or (given[1].kind == "CALL_EXPR" and _does_nothing(given[1]))
        if not plain or words[-1] != "]":
            raise unsupported("an array of 'new' with values", node.loc, "Assign them in a loop.")
        evaluate(st, expr(st, given[0], within(use)))
        return _fresh(st, node)
    found = _fresh(st, node)
    where = found.plus(t.size, Const(0))
    if t.kind == "record" and given:
        if given[0].kind == "CALL_EXPR":
            st.construct(st, where, given[0], within(use))
        else:
            fill(st, where, given[0], within(use))
    elif given or words[-2:] in (["(", ")"], ["{", "}"]):
        _initialised(st, where, given, node, use)
    return found


def _initialised(st: State, where: Address, given: list[Node], node: Node, use: Use) -> None:
    """Emit the value that a scalar of `new` is given; `new T()` is zero."""
    t, type_ = node.type.inner, scalar(node.type.inner) if node.type.inner else None
    if given and given[0].kind == "INIT_LIST_EXPR":
        given = list(given[0].children)
    if t is None or type_ is None:
        raise unsupported("the value of this 'new'", node.loc, "Assign it.")
    value: Expr = zero(type_, node.loc)
    if given and (given[0].children or given[0].kind != "UNEXPOSED_EXPR"):
        value = convert(expr(st, given[0], within(use)), given[0].type, t, node.loc)
    deliver(st, where, value, t, node.loc)


def _does_nothing(made: Node) -> bool:
    """Whether a constructor is one of the compiler's, for structures without initialisers."""
    callee = made.referenced
    parent = callee.parent if callee is not None else None
    plain = parent is not None and all(
        len([c for c in f.children if not c.kind.endswith(("_REF", "_ATTR"))]) == 0
        for f in parent.children
        if f.kind == "FIELD_DECL"
    )
    return callee is not None and callee.is_defaulted and plain


def _fresh(st: State, node: Node) -> Address:
    """The address of memory that nobody else has."""
    local = st.declare("allocated", INT, node.loc, settled=True)
    st.emit(Assign(local.name, anything(st, "allocated", TIDS, INT, node.loc), node.loc))
    st.note("what it takes to allocate memory is not counted; it is aligned to 16 bytes")
    return region(st, "global").plus(_ALIGNED, Var(local.name, node.loc))


def _given_back(st: State, pointer: Node, use: Use) -> None:
    dropped(st, *(e for _, e in address(st, pointer, within(use)).terms))
    st.note("what it takes to free memory is not counted")
