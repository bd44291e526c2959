"""Memory that a thread asks for: `malloc`, `new`, `free`, `delete`. A pointer to it is a number of which nothing is
known, as one that is read from memory (`semantics.cuda.regions`), but that it is a multiple of 16.

What the allocation costs is not counted, and said to be so.
"""

from __future__ import annotations

from typing import Final

from logic.syntax import INT, TRUE, Assign, Const, Expr, If, Skip, Var
from semantics.cuda.clang import Node
from semantics.cuda.classes import destroyed
from semantics.cuda.compared import not_null
from semantics.cuda.convert import convert, zero
from semantics.cuda.ctype import CType, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.places import MOST, TIDS, anything, dropped, evaluate, frozen
from semantics.cuda.pointers import address, deliver
from semantics.cuda.records import fill
from semantics.cuda.regions import region
from semantics.cuda.sequence import within
from semantics.cuda.state import Address, State, Use, pointee_size

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
        decl = node.children[0].pointee_decl
        name = destroyed(decl)
        if name and "[" in [text for text, _ in node.tokens()][:2]:
            raise unsupported(f"the destructors of an array of '{name}'", node.loc, "Do what they do before.")
        if name:
            _destroyed(st, node.children[0], decl, use)
            return None
        _given_back(st, node.children[0], use)
        return None
    t, words = node.type.inner, [text for text, _ in node.tokens()]
    opens = next((text for text in words[1:] if text in ("[", "(", "{")), "")
    if t is None or words[:1] != ["new"] or words[1:2] == ["("]:
        raise unsupported("this 'new'", node.loc, "Write it as new T, new T(..) or new T[n].")
    given = [c for c in node.children if not c.kind.endswith("_REF")]
    if opens == "[":
        plain = len(given) == 1 or (given[1].kind == "CALL_EXPR" and _does_nothing(given[1]))
        if not plain and scalar(t) is not None and given[1].kind in ("INIT_LIST_EXPR", "UNEXPOSED_EXPR"):
            return _listed(st, node, given, t, use)
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


def _listed(st: State, node: Node, given: list[Node], t: CType, use: Use) -> Address:
    """An array of numbers with the values of a list, and zero where that has none."""
    size, values = given
    count = size.evaluate()
    if not isinstance(count, int) or not len(values.children) <= count <= MOST or size.acts:
        raise unsupported("an array of 'new' with values", node.loc, "Assign them in a loop.")
    found = _fresh(st, node)
    for i in range(count):
        part = values.children[i] if i < len(values.children) else None
        value: Expr = zero(scalar(t) or INT, node.loc)
        if part is not None:
            value = convert(expr(st, part, within(use)), part.type, t, node.loc)
        deliver(st, found.plus(t.size, Const(i)), value, t, node.loc)
    return found


def _destroyed(st: State, pointer: Node, decl: Node, use: Use) -> None:
    """Emit `delete p` of an object with a destructor, which is called unless p is null."""
    c = not_null(st, pointer, within(use))
    where = frozen(st, address(st, pointer, within(use)).plus(pointee_size(pointer.type), Const(0)), "object")
    called = st.block(lambda: st.destroy(st, where, decl))
    st.emit(called if c == TRUE else If(c, called, Skip(), pointer.loc))
    st.note("what it takes to free memory is not counted")


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
