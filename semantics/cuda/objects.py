"""Objects: what constructors make of their fields, and where base classes are.

A constructor is inlined with `this` for the place of the object. Before its body come the base classes and the fields,
in the order of their declarations: by the constructor's list, else by the initialiser of the field, else by a
constructor without arguments, else not at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from logic.source import Loc
from logic.syntax import Const
from semantics.cuda import hidden
from semantics.cuda.bases import subobject
from semantics.cuda.clang import Node
from semantics.cuda.classes import acts_when_made, bases, initialiser, is_nameless, is_template, makes
from semantics.cuda.convert import convert, zero
from semantics.cuda.copying import source, undefined
from semantics.cuda.ctype import CType, innermost, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.places import MOST, member, store
from semantics.cuda.pointers import address, deliver, referred
from semantics.cuda.records import fill, zeroed
from semantics.cuda.regions import null
from semantics.cuda.state import Address, Place, State, This
from semantics.cuda.virtual import mark

_ADVICE = "Assign its fields one by one."


def members(st: State, this: This, constructor: Node) -> None:
    """Emit what comes before the body of a constructor."""
    if this.decl is None:
        raise unsupported("this constructor", constructor.loc, _ADVICE)
    for base in _listed_bases(constructor):
        if base.type_decl.identity == this.decl.identity:  # it passes all on to another constructor
            if base.kind != "CALL_EXPR":
                raise unsupported("this constructor", constructor.loc, _ADVICE)
            st.construct(st, this.place, base, "whole")
            return
    given = dict(_listed_fields(constructor))
    called = {base.type_decl.identity: base for base in _listed_bases(constructor)}
    known = bases(this.decl)
    if len(called.keys() - {b.type_decl.identity for b in known}):
        raise unsupported(f"a base class of '{this.decl.name}'", constructor.loc, _ADVICE)
    for base in known:
        place = subobject(st, this.place, this.decl, base, constructor.loc)
        value = called.get(base.type_decl.identity)
        if value is None:
            default(st, place, base, constructor.loc)
        elif value.kind == "CALL_EXPR" and _constructs(value) and not undefined(value):
            st.construct(st, place, value, "whole")
        else:
            fill(st, place, value, "whole")
    mark(st, this.place, this.decl, constructor.loc)
    _all(st, this.place, this.decl, given, constructor.loc)
    if given:
        raise unsupported(f"the value of '{next(iter(given))}'", constructor.loc, _ADVICE)


def default(st: State, p: Place, node: Node, loc: Loc | None, made: bool = False) -> None:
    """Emit what makes an object of a node's type that is given no value; `made` once its own constructor is at work."""
    decl = node.type_decl
    own = [c for c in decl.members if c.kind == "CONSTRUCTOR" and not c.is_defaulted and not c.arguments]
    if not made and (own or (makes(decl) and not _defaulted(decl))):
        written = None if is_template(decl) else next((c.definition for c in own if c.definition is not None), None)
        constructor = written or hidden.constructor(decl)
        if constructor is None:
            raise unsupported(f"the constructor of '{decl.name}' that is not written here", loc, "Write it.")
        st.construct(st, p, constructor, "whole")
        return
    for base in bases(decl):
        default(st, subobject(st, p, decl, base, loc), base, loc)
    mark(st, p, decl, loc)
    _all(st, p, decl, {}, loc)


def _defaulted(decl: Node) -> bool:
    """Whether a structure has a constructor without arguments that is the compiler's."""
    return any(c.kind == "CONSTRUCTOR" and c.is_defaulted and not c.arguments for c in decl.members)


def own_fields(st: State, p: Place, decl: Node, loc: Loc | None) -> None:
    """Emit the initialisation of a structure's own fields, which are given no values."""
    mark(st, p, decl, loc)
    _all(st, p, decl, {}, loc)


def _all(st: State, p: Place, decl: Node, given: dict[str, Node | None], loc: Loc | None) -> None:
    """Emit the initialisation of all fields, and take out of `given` what they are listed with."""
    listed = [f for f in _fields(decl) if f.name in given]
    for field in listed if listed and decl.kind == "UNION_DECL" else _fields(decl):
        if is_nameless(field):
            _all(st, member(st, p, field, field), field.type_decl, given, loc)
        else:
            _field(st, p, field, given.get(field.name), field.name in given, loc)
            given.pop(field.name, None)


def _fields(decl: Node) -> tuple[Node, ...]:
    found = decl.fields or tuple(c for c in decl.children if c.kind == "FIELD_DECL")
    return tuple(f for f in found if f.name or not f.is_bitfield)  # bits without a name are padding


def _listed_bases(constructor: Node) -> list[Node]:
    """The values that one gives to base classes before its body, or to the whole object: those of structures that are
    no field's."""
    found, before = [], ""
    for c in constructor.children[:-1]:
        names = c.kind.endswith(("_REF", "_ATTR", "_DECL"))
        if before != "MEMBER_REF" and not names and c.type.kind == "record":
            found.append(c)
        before = c.kind
    return found


def _listed_fields(constructor: Node) -> Iterator[tuple[str, Node | None]]:
    """The fields that a constructor lists, with their values."""
    children = constructor.children
    for i, c in enumerate(children):
        if c.kind == "MEMBER_REF":
            yield c.name, children[i + 1] if i + 1 < len(children) - 1 else None


def _field(st: State, p: Place, field: Node, value: Node | None, listed: bool, loc: Loc | None) -> None:
    """Emit the initialisation of a field."""
    t = field.type
    value = initialiser(field) if value is None and not listed else value
    here = member(st, p, field, field)
    if t.kind == "reference":
        deliver(st, here, referred(st, field, value, loc, "whole"), t, loc)
        return
    if value is None and not listed:
        if t.kind == "record" or innermost(t).kind == "record":
            elements(st, here, field, loc)
        return
    _value(st, here, t, field, value, loc)


def elements(st: State, p: Place, node: Node, loc: Loc | None) -> None:
    """Emit what makes a structure of a node's type, or each one in an array of them, that is given no value."""
    t = node.type
    if t.kind != "array":
        default(st, p, node, loc)
        return
    size = innermost(t).size
    if not acts_when_made(node.type_decl):
        return
    if not size or t.size > MOST * size or not isinstance(p, Address):
        raise unsupported(f"an array of '{innermost(t).name}', which has a constructor,", loc, _ADVICE)
    for i in range(t.size // size):
        default(st, p.plus(size, Const(i)), node, loc)


def _value(st: State, p: Place, t: CType, field: Node, value: Node | None, loc: Loc | None) -> None:
    """Emit the assignment of the value that a field is listed with; without one it is zero."""
    type_ = scalar(t)
    empty = value is None or (not value.children and value.kind in ("UNEXPOSED_EXPR", "INIT_LIST_EXPR"))
    if value is not None and value.kind == "INIT_LIST_EXPR" and len(value.children) == 1 and t.kind != "array":
        value = value.children[0] if t.kind != "record" or value.children[0].type.name == t.name else value
    if t.kind == "record" and value is not None:
        empty = empty and (value.kind == "INIT_LIST_EXPR" or value.type.kind == "record")
        if empty or undefined(source(value)):
            theirs = makes(field.type_decl) and not _defaulted(field.type_decl)
            if theirs or zeroed(st, p, field, loc):
                default(st, p, field, loc)
        elif source(value).kind == "CALL_EXPR" and _constructs(source(value)):
            st.construct(st, p, source(value), "whole")
        else:
            fill(st, p, value, "whole")
            mark(st, p, field.type_decl, loc)
    elif t.kind == "pointer":
        deliver(st, p, null(st) if empty or value is None else address(st, value, "whole"), t, loc)
    elif type_ is not None:
        found = zero(type_, loc) if empty or value is None else st.expr(st, value, "whole")
        store(st, p, found if empty or value is None else convert(found, value.type, t, loc), t, loc)
    elif t.kind == "array" and isinstance(p, Address) and t.inner is not None:
        given = () if empty or value is None else value.children
        if not empty and (value is None or value.kind != "INIT_LIST_EXPR"):
            raise unsupported("this way to initialise an array", loc, "Use a list in braces.")
        for i in range(t.size // max(1, t.inner.size)):
            _value(st, p.plus(t.inner.size, Const(i)), t.inner, field, given[i] if i < len(given) else None, loc)
    else:
        raise unsupported(f"a value for the field '{field.name}'", loc, "Assign it by itself.")


def _constructs(node: Node) -> bool:
    callee = node.referenced
    return callee is not None and callee.kind == "CONSTRUCTOR" and not (callee.is_defaulted and node.arguments)
