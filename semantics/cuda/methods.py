"""Methods: functions of a structure, inlined with `this` for the place of the object that they are called for.

What they change of their object is changed at its place: whoever scans a function counts the object among what a call
may change (`semantics.cuda.scan`).
"""

from __future__ import annotations

from typing import Final

from logic.syntax import Const
from semantics.cuda.bases import part
from semantics.cuda.clang import Node
from semantics.cuda.classes import odd
from semantics.cuda.copying import is_copy, undefined
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import discard
from semantics.cuda.lambdas import check_call, copies_now, is_lambda
from semantics.cuda.places import frozen, resolved
from semantics.cuda.pointers import address, place
from semantics.cuda.records import declared, fill, held, kept, values
from semantics.cuda.scan import METHODS, is_this, listed, owner, targets
from semantics.cuda.sequence import within
from semantics.cuda.shapes import CASTS, gives_reference, operand
from semantics.cuda.shim import MOVES, in_shim
from semantics.cuda.state import Fields, Place, State, This, Use, pointee_size

_ADVICE: Final = "Write it as a device function."


def arguments(node: Node, callee: Node) -> tuple[Node, ...]:
    """The arguments of a call without the object, which libclang has among those of an operator."""
    return node.arguments[1:] if listed(node, callee) else node.arguments


def operands(st: State, node: Node) -> tuple[Node, ...]:
    """The operands that a call evaluates, in no order: its arguments and the object of a method; a lambda's body comes
    later, but not its copies."""
    called = _member(node)
    given = None if called is None else owner(called)
    return tuple(p for p in (given, *node.arguments) if p is not None and (not is_lambda(p) or copies_now(st, p)))


def receiver(st: State, node: Node, callee: Node, use: Use) -> This | None:
    """The object that `this` is in the body of a called function; None where it has none."""
    if callee.kind not in METHODS or callee.parent is None:
        return None
    called = _member(node)
    given = node.arguments[0] if listed(node, callee) else None if called is None else owner(called)
    if given is not None and not is_lambda(given) and any(_changes(n) for n in given.walk()):
        raise unsupported("an object whose expression changes something", given.loc, "Change it before.")
    if callee.is_static and in_shim(callee) and given is not None and not _is_name(given):
        discard(st, given)
    elif (callee.is_static or is_lambda(callee.parent)) and not (
        given is None or _is_name(given) or _is_passed(st, given)
    ):
        raise unsupported("an object that is found by more than its name", given.loc, "Give it a name before.")
    if callee.is_static:
        return None
    if is_lambda(callee.parent):
        check_call(st, node, callee, given)
        return st.this_of.get(callee.parent.identity)
    what = odd(callee.parent, lives=True)
    if what:
        raise unsupported(f"{what} '{callee.parent.name}', whose method '{callee.name}' this is,", node.loc, _ADVICE)
    if given is None or is_this(given):
        this = st.frame.this
        found = None if this is None or this.decl is None else part(st, this.place, this.decl, callee.parent, node.loc)
        if found is None:
            raise unsupported(f"the method '{callee.name}' of this object", node.loc, _ADVICE)
        return This(found, callee.parent.identity, callee.parent)
    return This(frozen(st, _place(st, given, callee, within(use)), "object"), callee.parent.identity, callee.parent)


def is_virtual_call(node: Node, callee: Node) -> bool:
    """Whether which function a call is of depends on the class of its object: not of one that is called by the name of
    its class, as in `p->Base::f()`."""
    called = _member(node)
    return (
        callee.kind in METHODS
        and callee.is_virtual
        and (called is None or not any(c.kind.endswith("_REF") for c in called.children))
    )


def exact(node: Node) -> Node | None:
    """The class of the object of a call, where its expression says that: it names a variable or a field, or is a
    value. What a reference or a pointer leads to may be of another one."""
    called = _member(node)
    given = node.arguments[0] if called is None and node.arguments else None if called is None else owner(called)
    while given is not None and given.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and given.type.kind == "record":
        given = operand(given)
    if given is None or given.type.kind != "record":
        return None
    named = given.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR")
    decl = given.referenced if named else None
    if given.kind == "CALL_EXPR" and not gives_reference(given):
        return given.type_decl
    return given.type_decl if decl is not None and decl.type.kind == "record" else None


def _member(node: Node) -> Node | None:
    """The `object.method` of a call."""
    inner = node.children[0] if node.children else None
    while inner is not None and inner.kind == "UNEXPOSED_EXPR" and len(inner.children) == 1:  # of a static method
        inner = inner.children[0]
    method = inner.referenced if inner is not None and inner.kind == "MEMBER_REF_EXPR" else None
    return inner if method is not None and method.kind in METHODS else None


def _changes(node: Node) -> bool:
    """Whether an expression changes something by itself: what calls in it do is seen where they are lowered."""
    return bool(targets(node)) and node.kind != "CALL_EXPR" and node.operator != "&"


def _is_name(node: Node) -> bool:
    """Whether an object that is not lowered needs no more than its name, or is a lambda that is made here."""
    inner: Node | None = node
    while inner is not None:
        node = inner
        called = node.referenced if node.kind == "CALL_EXPR" else None
        if node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and len(node.children) == 1:
            inner = node.children[0]
        elif node.kind == "CXX_STATIC_CAST_EXPR":  # of a copy, a call is in between
            inner = operand(node)
        elif called is not None and called.name in MOVES and in_shim(called):
            inner = node.arguments[0]
        else:
            break
    return node.kind in ("DECL_REF_EXPR", "CXX_THIS_EXPR", "LAMBDA_EXPR")


def _is_passed(st: State, given: Node) -> bool:
    """Whether an object is a lambda in a structure that the kernel was passed, which is the only one of its type."""
    while given.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and len(given.children) == 1:
        given = given.children[0]
    if given.kind != "MEMBER_REF_EXPR" or not is_lambda(given):
        return False
    if given.children and not is_this(given.children[0]):
        return isinstance(place(st, given.children[0]), Fields)
    return st.frame.this is not None and isinstance(st.frame.this.place, Fields)


def _place(st: State, given: Node, callee: Node, use: Use) -> Place:
    """The place of an object, or a variable for one that is made here."""
    made = given
    while made.kind in ("PAREN_EXPR", *CASTS) and (inner := operand(made)) is not None:
        made = inner
    t = given.type.inner if given.type.kind == "pointer" and given.type.inner else given.type
    if callee.parent is None or t.name != callee.parent.type.name:
        raise unsupported(f"the method '{callee.name}' of another structure than '{t.name}'", given.loc, _ADVICE)
    found: Place
    if made.kind == "CALL_EXPR" and kept(made):
        found = held(st, "t", made, values(st, made, use))
        return _of_base(st, found, made, callee.parent)
    if made.kind == "INIT_LIST_EXPR" or undefined(made) or is_copy(given):
        found = declared(st, "t", made)
        fill(st, found, made, use)
        return _of_base(st, found, made, callee.parent)
    if given.type.kind == "pointer":
        found = resolved(st, address(st, given, use).plus(pointee_size(given.type), Const(0, loc=given.loc)))
    else:
        found = place(st, given, use)
    return found


def _of_base(st: State, found: Place, made: Node, base: Node) -> Place:
    """The part of an object made here that a method of a base class is called for."""
    inner = part(st, found, made.type_decl, base, made.loc)
    if inner is None:
        raise unsupported(f"a method of '{base.name}' for this object", made.loc, _ADVICE)
    return inner
