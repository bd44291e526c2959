"""Memory that a thread asks for: `malloc`, `new`, `free`, `delete`. A pointer to it is a number of which nothing is
known, as one that is read from memory (`semantics.cuda.regions`), but that it is a multiple of 16.

What the allocation costs is not counted, and said to be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from logic.syntax import INT, TRUE, Assign, Const, Expr, If, Skip, Var
from semantics.cuda.clang import Node
from semantics.cuda.classes import acts_when_made, bases, destroyed, is_virtual
from semantics.cuda.compared import not_null
from semantics.cuda.convert import convert, zero
from semantics.cuda.copying import undefined
from semantics.cuda.ctype import CType, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.families import destroyed_by, destroys_all
from semantics.cuda.places import MOST, TIDS, anything, dropped, evaluate, frozen
from semantics.cuda.pointers import address, deliver, recast
from semantics.cuda.records import fill
from semantics.cuda.regions import region
from semantics.cuda.sequence import within
from semantics.cuda.shapes import CASTS
from semantics.cuda.state import Address, State, Use, pointee_size
from semantics.cuda.templates import functions
from semantics.cuda.virtual import Case, branch, cases, known_class

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
        decl, t = node.children[0].pointee_decl, node.children[0].type.inner
        of = [] if t is None or t.kind != "record" else [decl, *destroyed_by(node)]
        if _own_operators(node, of, "operator delete"):
            raise unsupported("this 'delete', which may call one of yours,", node.loc, "Call that by its name.")
        name = decl.name if destroys_all(decl) else destroyed(decl)
        if name and "[" in [text for text, _ in node.tokens()][:2]:
            raise unsupported(f"the destructors of an array of '{name}'", node.loc, "Do what they do before.")
        if name:
            _destroyed(st, node.children[0], decl, use)
            return None
        _given_back(st, node.children[0], use)
        return None
    t, words = node.type.inner, [text for text, _ in node.tokens()]
    of = [node.pointee_decl] if t is not None and t.kind == "record" else []
    words = words[1:] if words[:1] == ["::"] else words
    given = [c for c in node.children if not c.kind.endswith("_REF")]
    place = _placed(words, given)
    words = words[:1] + words[_closed(words) :] if place is not None else words
    opens = next((text for text in words[1:] if text in ("[", "(", "{")), "")
    if t is None or words[:1] != ["new"] or words[1:2] == ["("] or _own_operators(node, of, "operator new"):
        raise unsupported("this 'new'", node.loc, "Write it as new T, new T(..), new T[n] or new (p) T.")
    if place is not None:
        if opens == "[":
            raise unsupported("an array of 'new' at a place", node.loc, "Cast the pointer, and assign its elements.")
        where = recast(st, node, place, use)
        before = known_class(st, where) if t.kind == "record" else None
        if before is not None and before.identity != node.pointee_decl.identity:
            raise unsupported("an object of another class where one was made", node.loc, "Use other memory.")
        return _made(st, node, t, where, given[1:], words, use)
    if opens == "[":
        plain = len(given) == 1 or (given[1].kind == "CALL_EXPR" and _does_nothing(given[1]))
        if not plain and scalar(t) is not None and given[1].kind in ("INIT_LIST_EXPR", "UNEXPOSED_EXPR"):
            return _listed(st, node, given, t, use)
        if not plain or words[-1] != "]":
            raise unsupported("an array of 'new' with values", node.loc, "Assign them in a loop.")
        evaluate(st, expr(st, given[0], within(use)))
        return _fresh(st, node)
    found = _made(st, node, t, _fresh(st, node), given, words, use)
    match found.terms:
        case (*_, (_, Var(name))) if t.kind == "record":  # from here on: its constructors made it one of their classes
            st.classes[name] = node.pointee_decl
    return found


def _made(st: State, node: Node, t: CType, found: Address, given: list[Node], words: list[str], use: Use) -> Address:
    """Emit what makes the object of a `new`, at an address, which is given back."""
    where = found.plus(t.size, Const(0))
    if t.kind == "record" and given:
        zeroed = undefined(given[0]) and words[-2:] in (["(", ")"], ["{", "}"])
        polymorphic = is_virtual(node.pointee_decl)
        if zeroed and polymorphic:
            fill(st, where, given[0], within(use))
        if given[0].kind == "CALL_EXPR" and (polymorphic or not zeroed):
            st.construct(st, where, given[0], within(use))
        else:
            fill(st, where, given[0], within(use))
    elif given or words[-2:] in (["(", ")"], ["{", "}"]):
        _initialised(st, where, given, node, use)
    return found


def _placed(words: Sequence[str], given: Sequence[Node]) -> Node | None:
    """The pointer p of `new (p) T`, as it is before it becomes a `void *`."""
    if words[1:2] != ["("] or not given or given[0].type.name != "void *":
        return None
    pointer = given[0]
    while pointer.kind in (*CASTS, "PAREN_EXPR") and len(pointer.children) == 1 and pointer.type.name == "void *":
        pointer = pointer.children[0]
    return pointer


def _closed(words: Sequence[str]) -> int:
    """The place after the parentheses that begin at the second word."""
    depth = 0
    for i, word in enumerate(words[1:], 1):
        depth += (word == "(") - (word == ")")
        if depth == 0:
            return i + 1
    return len(words)


def _own_operators(node: Node, of: Sequence[Node], name: str) -> bool:
    """Whether a `new` or `delete` may be one of the user's: of one of these classes or of all types."""
    todo = [*of]
    while todo:
        decl = todo.pop()
        if any(c.name.startswith(name) for c in decl.members):
            return True
        todo += [b.type_decl for b in bases(decl)]
    return any(f.name.startswith(name) for f in functions(node.unit))


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
    """Emit `delete p` of an object with a destructor, which is called unless p is null: a virtual one by the class
    that the object is of."""
    c = not_null(st, pointer, within(use))
    where = frozen(st, address(st, pointer, within(use)).plus(pointee_size(pointer.type), Const(0)), "object")

    def destroy() -> None:
        if not destroys_all(decl):
            st.destroy(st, where, decl)
            return
        found = cases(st, decl, where, None, pointer, lambda c: c if destroyed(c) else decl)

        def of_its_class(c: Case) -> None:
            if destroyed(c.function):
                st.destroy(st, c.this.place, c.function)

        branch(st, found, of_its_class, pointer.loc)

    called = st.block(destroy)
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
    """Whether a constructor is one of the compiler's, for structures in which there is none of the user's, and no
    initialiser."""
    callee = made.referenced
    parent = callee.parent if callee is not None else None
    return callee is not None and callee.is_defaulted and parent is not None and not acts_when_made(parent)


def _fresh(st: State, node: Node) -> Address:
    """The address of memory that nobody else has."""
    local = st.declare("allocated", INT, node.loc, settled=True)
    st.emit(Assign(local.name, anything(st, "allocated", TIDS, INT, node.loc), node.loc))
    st.note("what it takes to allocate memory is not counted; it is aligned to 16 bytes")
    return region(st, "global").plus(_ALIGNED, Var(local.name, node.loc))


def _given_back(st: State, pointer: Node, use: Use) -> None:
    dropped(st, *(e for _, e in address(st, pointer, within(use)).terms))
    st.note("what it takes to free memory is not counted")
