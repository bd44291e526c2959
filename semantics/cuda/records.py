"""Structures as values: float4, float3, a structure of the user's.

A structure of one thread is a variable for each field. One in memory is read and written field by field, but for those
that are as large as their alignment (float2, float4, int4, `__align__(8)`): these are one access. Of what such a read
gives, the first field is known, and of the others only that they depend on it: `part(t, 4)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from logic.source import Loc
from logic.syntax import (
    INT,
    Assign,
    Const,
    Expr,
    If,
    Param,
    Read,
    Type,
    Var,
    Write,
    local_vars,
    reads_array,
    seq,
    written,
)
from logic.typing import type_of
from semantics.cuda import unions
from semantics.cuda.bases import subobject
from semantics.cuda.clang import Node
from semantics.cuda.classes import (
    bases,
    holds,
    initialiser,
    is_nameless,
    is_virtual,
    keeps_arguments,
    label,
    made_by_parts,
    makes,
    odd,
)
from semantics.cuda.convert import based, called, convert, retyped, zero
from semantics.cuda.copying import copies, is_copy, source, undefined
from semantics.cuda.ctype import CType, innermost, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import condition, constant_of, expr
from semantics.cuda.lambdas import is_lambda, made
from semantics.cuda.order import check_order
from semantics.cuda.places import MOST, element, evaluated, frozen, member, registers, store
from semantics.cuda.pointers import address, deliver, fetch, place, referred
from semantics.cuda.regions import null, number, pointed, unit
from semantics.cuda.sequence import Unordered, within
from semantics.cuda.shapes import CASTS, bare, described, elements, integer, is_base, lvalue, temporary
from semantics.cuda.shim import in_shim, is_index
from semantics.cuda.state import (
    Address,
    Binding,
    Bits,
    Fields,
    Local,
    Moving,
    Parts,
    Place,
    Pointer,
    State,
    Use,
    pointee_size,
)
from semantics.cuda.unions import is_union

Value = Expr | Address
"""Of a scalar, or a pointer."""

WIDEST: Final = 16
"""The bytes that one instruction can read or write."""


def fields(node: Node, lives: bool = False) -> tuple[Node, ...]:
    """The fields of the structure that a node, or a field of one, has; of one with a destructor, while it lives."""
    if is_lambda(node):
        raise unsupported("a lambda as a value", node.loc, "Call it in the function that makes it, or pass it on.")
    what = odd(node, lives)
    if what:
        raise unsupported(f"{what} '{node.type_decl.name}' as a value", node.loc, "Use its fields one by one.")
    own = (f for f in node.fields if f.name or not f.is_bitfield)  # bits without a name are padding
    return (*filter(holds, bases(node.type_decl)), *own)


def declared(st: State, name: str, node: Node, *, settled: bool = False, lives: bool = False) -> Parts | Address:
    """Variables for a structure or a union of the node's type. Settled ones have one assignment each."""
    if is_union(node):
        return unions.variable(st, name, node, node.loc)
    root = st.fresh(name)
    st.origins[root] = node.loc
    if is_virtual(node.type_decl):
        st.classes[root] = node.type_decl
    places: list[tuple[str, Place]] = []
    for field in fields(node, lives):
        t, key = field.type, label(field)
        hidden = field.kind == "CXX_BASE_SPECIFIER" or is_nameless(field)
        inner = root if hidden else f"{root}.{field.name}"
        type_ = None if t.kind == "reference" else scalar(t)
        if type_ is not None:
            local = st.declare(inner, type_, node.loc, settled=settled, of=t)
            places.append((key, Bits(local, 0, field.bits[1], t.size) if field.is_bitfield else local))
        elif t.kind == "record":
            places.append((key, declared(st, inner, field, settled=settled, lives=lives)))
        elif t.kind in ("pointer", "reference"):
            places.append((key, _pointer(st, inner, field, node.loc, settled)))
        elif t.kind == "array":
            places.append((key, registers(st, inner, t, node.loc)))
        else:
            advice = "Use its fields one by one."
            raise unsupported(f"the field '{field.name}' of type '{t.name}' in a structure", node.loc, advice)
    return Parts(root, tuple(places))


def variable(st: State, decl: Node, *, settled: bool = False) -> Parts | Address:
    """The place of a structure of one thread that is declared."""
    if decl.loc in st.plan.laid:
        return unions.laid(st, decl)
    return declared(st, decl.name, decl, settled=settled, lives=True)


def _pointer(st: State, name: str, field: Node, loc: Loc | None, settled: bool) -> Place:
    """The place of a pointer, or a reference, in a structure of one thread; a settled one has the value that it is
    assigned."""
    t = field.type
    as_number = unit(t.inner) if loc in st.plan.adrift else 0
    index = "" if settled and not as_number else st.declare(name, INT, loc).name
    return st.pointer(Moving(None, pointee_size(t), index, len(st.loops), loc, unit=as_number))


def initialised(st: State, decl: Node, value: Node, use: Use = "part") -> Place:
    """The binding of a structure that is declared with a value, or passed by value: variables, but for one that does
    not change and has the value of a parameter of the kernel, or of threadIdx and its like."""
    if is_union(decl):
        return union(st, decl, value, use)
    steady, origin = not st.changed[decl.identity], source(value)
    if is_lambda(decl):
        return made(st, decl.name, origin)
    steady = steady and decl.loc not in st.plan.laid
    if origin.kind == "DECL_REF_EXPR" and decl.loc not in st.plan.laid:
        if origin.referenced is not None and st.borrows(bound := st.bindings.get(origin.referenced.identity)):
            return bound
        found = place(st, origin) if steady else None
        if found is not None and (isinstance(found, Fields) or is_index(origin)):
            return found
    if steady and kept(decl):
        return held(st, decl.name, decl, values(st, origin, use))
    if _constructs(origin):
        parts = variable(st, decl)
        st.construct(st, parts, origin, use)
        return parts
    parts = variable(st, decl, settled=steady)
    fill(st, parts, value, use)
    return parts


def _constructs(origin: Node) -> bool:
    """Whether a value is made where it is to be, by a constructor that copies none."""
    callee = origin.referenced if origin.kind == "CALL_EXPR" and not copies(origin) else None
    made_ = callee is not None and callee.kind == "CONSTRUCTOR"
    return callee is not None and made_ and not (in_shim(callee) and takes_scalars(origin))


def union(st: State, decl: Node, value: Node | None, use: Use) -> Address:
    """A union of one thread, with a value for its first member, the one that is named, a copy of another one, or what
    a constructor makes."""
    made_ = unions.variable(st, decl.name, decl, decl.loc)
    if value is None or undefined(value):
        return made_
    if value.kind != "INIT_LIST_EXPR" and _constructs(origin := source(value)):
        st.construct(st, made_, origin, use)
        return made_
    if value.kind != "INIT_LIST_EXPR":
        fill(st, made_, value, use)
        return made_
    given = value.children
    named = _designated(given[0]) if given else None
    first = next((f for f in decl.fields if named is None or f.name == named[0]), None)
    type_ = None if first is None else scalar(first.type)
    if first is None or len(given) > 1 or (type_ is None and first.type.kind != "record"):
        raise unsupported(f"this value of the union '{decl.name}'", value.loc, "Assign a member.")
    where = member(st, made_, first, first)
    found = _field(st, first, named[1] if named else given[0] if given else None, value.loc, use)
    if type_ is None:
        set_parts(st, where, found, first)
    else:
        deliver(st, where, found[0], first.type, value.loc)
    return made_


def kept(node: Node) -> bool:
    """Whether a structure is one of a library's: an object that nobody copies a value into."""
    decl = node.type_decl
    return decl.parent is not None and decl.parent.name in ("cooperative_groups", "cuda", "cub") and in_shim(decl)


def held(st: State, name: str, node: Node, found: Sequence[Value]) -> Parts:
    """A structure of the node's type that nothing changes, with these values of its scalars: what is one already is no
    variable."""
    left = iter(found)

    def parts(name: str, node: Node) -> Parts:
        places: list[tuple[str, Place]] = []
        for field in fields(node):
            inner, t = f"{name}.{field.name}", field.type
            if t.kind == "array":
                raise unsupported(f"the array '{field.name}' in a structure", node.loc, "Use its elements one by one.")
            places.append((field.name, parts(inner, field) if t.kind == "record" else _held(st, next(left), t, inner)))
        return Parts(name, tuple(places))

    return parts(st.fresh(name), node)


def _held(st: State, e: Value, t: CType, name: str) -> Place:
    """The place of a value that nothing changes."""
    if isinstance(e, Address):
        found = frozen(st, e, name)
        return st.pointer(found) if isinstance(found, Address) else found
    type_ = scalar(t) or INT
    match e if isinstance(e, Const) else st.saved(e, type_, name):
        case Const() | Param() as known:
            return known
        case Var(variable):
            return Local(variable, type_)
    local = st.declare(name, type_, e.loc, settled=True)
    st.emit(Assign(local.name, e, e.loc))
    return local


def reference(st: State, decl: Node, value: Node, use: Use = "part") -> Place:
    """The binding of a reference: another name for a place, or a variable with a copy of a value."""
    t, inner = decl.type, lvalue(value)
    if is_lambda(value) and (origin := source(value)).kind == "LAMBDA_EXPR":
        return made(st, decl.name, origin)
    if inner is not None and is_copy(inner):
        raise unsupported(f"the reference '{decl.name}' to a part of a copy", value.loc, "Give the copy a name.")
    if inner is not None and t.inner is not None and (inner.type.name, inner.type.kind) == (t.inner.name, t.inner.kind):
        if inner.kind == "DECL_REF_EXPR" and (own := scalar(inner.type)) and constant_of(st, inner) is not None:
            return copied(st, decl, value, own, use)
        found = frozen(st, place(st, inner, use), decl.name)
        if isinstance(found, Bits):  # the reference is one to a copy
            return copied(st, decl, value, scalar(inner.type) or INT, use)
        return found
    steady = t.inner is not None and (t.inner.const or t.name.endswith("&&"))  # no other one takes a value
    if t.inner is None or not steady or not temporary(value):
        raise unsupported(f"what the reference '{decl.name}' refers to", value.loc, "Give it a variable or an element.")
    if t.inner.kind == "record":  # of one that is made here it may be a base
        return frozen(st, place(st, value, use), decl.name) if is_base(value) else initialised(st, decl, value, use)
    if t.inner.kind == "array" and (braces := bare(value)).kind == "INIT_LIST_EXPR":
        return st.listed(st, braces, decl.loc, use)
    if t.inner.kind == "pointer" and not st.changed[decl.identity]:
        found = frozen(st, address(st, value, use), decl.name)
        return st.pointer(found) if isinstance(found, Address) else found
    type_ = scalar(t)
    if type_ is None:
        raise unsupported(f"the parameter '{decl.name}' of type '{t.name}'", value.loc)
    return copied(st, decl, value, type_, use)


def copy(st: State, name: Node) -> Binding:
    """A copy of a variable that is named, or of the object of a method's class, for a lambda: nothing changes it."""
    t, type_ = name.type, scalar(name.type)
    if name.kind.endswith("_DECL") and st.frame.this is not None:
        made_ = declared(st, "this", name, settled=True)
        set_parts(st, made_, loaded(st, st.frame.this.place, name), name)
        return made_
    if t.kind == "pointer":
        found = frozen(st, address(st, name), name.name)
        if isinstance(found, Address):
            return found
    if t.kind == "record":
        made_ = declared(st, name.name, name, settled=True)
        set_parts(st, made_, loaded(st, place(st, name), name), name)
        return made_
    if t.kind == "array" and scalar(innermost(t)) is not None:
        array, elem, begin = registers(st, name.name, t, name.loc), innermost(t), address(st, name)
        for i in range(t.size // elem.size):
            value = fetch(st, begin.plus(elem.size, Const(i)), elem, name.loc)
            deliver(st, array.plus(elem.size, Const(i)), value, elem, name.loc)
        return array
    if type_ is None:
        raise unsupported(f"a copy of '{name.name}' in a lambda", name.loc, "Capture it by reference.")
    local = st.declare(name.name, type_, name.loc, settled=True, of=t)
    st.emit(Assign(local.name, st.expr(st, name, "part"), name.loc))
    return local


def copied(st: State, decl: Node, value: Node, type_: Type, use: Use = "part") -> Local | Address:
    """A variable of a declaration, or of a reference to something constant, with the value of a scalar expression."""
    t = decl.type.inner or decl.type
    found = convert(expr(st, value, use), value.type, t, value.loc)
    if decl.loc in st.plan.laid and decl.type.kind != "reference":
        bytes_ = unions.laid(st, decl)
        store(st, bytes_, found, t, value.loc)
        return bytes_
    local = st.declare(decl.name, type_, decl.loc, settled=not st.changed[decl.identity], of=t)
    st.emit(Assign(local.name, found, value.loc))
    return local


def scalars(st: State, p: Place, node: Node, at: int = 0) -> list[tuple[Place, CType, int]]:
    """The scalars of a structure of the node's type at a place, with their types and where they lie in it."""
    found: list[tuple[Place, CType, int]] = []
    if is_union(node) and isinstance(p, Address):
        return [*unions.scalars(p, node, at)]
    for field in fields(node):
        if field.kind == "CXX_BASE_SPECIFIER":
            found += scalars(st, subobject(st, p, node.type_decl, field, node.loc), field, at)
            continue
        here, t, begin = member(st, p, node, field), field.type, at + field.field_offset
        if t.kind == "record":
            found += scalars(st, here, field, begin)
        elif t.kind == "array" and isinstance(here, Address):
            elem = innermost(t)
            inside = elem.kind == "record" and not is_union(field)
            if (scalar(elem) is None and elem.kind != "pointer" and not inside) or t.size > MOST * elem.size:
                raise unsupported(f"the array '{field.name}' in a structure", node.loc, "Use its elements one by one.")
            for i in range(t.size // elem.size):
                part, lies = here.plus(elem.size, Const(i)), begin + i * elem.size
                found += scalars(st, part, field.type_decl, lies) if inside else [(part, elem, lies)]
        else:
            found.append((here, t, begin))
    return found


def _at_once(st: State, p: Place, node: Node) -> tuple[str, Expr, CType] | None:
    """The array, the index and the first scalar of the structure at a place, if one instruction reads or writes it."""
    size = node.type.size
    if (
        not isinstance(p, Address)
        or p.root in st.registers
        or is_virtual(node.type_decl)
        or not 1 < size <= WIDEST
        or size != node.alignment
    ):
        return None
    found = scalars(st, p, node)
    if len(found) < 2:
        return None
    t = found[0][1]
    st.note(f"a '{node.type.name}' is accessed at once, {size} bytes, in runs in an array of its own")
    array, index = element(st, p, t, node.loc, size)
    return array, index, t


def values(st: State, node: Node, use: Use = "part") -> list[Value]:
    """The scalars of the structure that an expression gives."""
    node = source(node)
    if node.kind == "INIT_LIST_EXPR":
        return _listed(st, node, node, use)
    if node.kind == "CONDITIONAL_OPERATOR":
        chosen = declared(st, "t", node)
        fill(st, chosen, node, use)
        return loaded(st, chosen, node)
    callee = node.referenced if node.kind == "CALL_EXPR" else None
    if callee is not None and in_shim(callee) and _makes(node, callee):
        check_order(st, node.loc, node.arguments)
        return _given(st, node, node.arguments, node.loc, use, Unordered(st))
    if callee is not None and undefined(node):
        if in_shim(callee) or not made_by_parts(node.type_decl):
            return _given(st, node, (), node.loc, use)
        made = declared(st, "t", node)
        for p, t, _ in scalars(st, made, node):
            deliver(st, p, null(st) if t.kind == "pointer" else zero(scalar(t) or INT, node.loc), t, node.loc)
        st.construct(st, made, node, use)
        return loaded(st, made, node)
    if callee is not None and callee.kind == "CONSTRUCTOR" and in_shim(callee) and callee.definition is not None:
        if takes_scalars(node):
            return _constructed(st, node, callee, use)
        made = declared(st, "t", node)
        st.construct(st, made, node, use)
        return loaded(st, made, node)
    if node.kind not in _PLACES:
        raise unsupported(described(node), node.loc)
    found: object = st.call(st, node, use) if node.kind == "CALL_EXPR" else place(st, node, use)
    if not isinstance(found, Place):
        raise unsupported("this structure as a value", node.loc, "Use its fields one by one.")
    return moved(st, found, node, node.loc) if node.kind == "CALL_EXPR" else loaded(st, found, node)


def moved(st: State, made_: Place, node: Node, loc: Loc | None) -> list[Value]:
    """The scalars of an object that is made here and belongs elsewhere. Raises where it has the address of a part of
    itself, which is another one there."""
    found = loaded(st, made_, node)
    for e in found if isinstance(made_, Parts) else ():
        there = st.pointees.get(e.root) if isinstance(e, Address) else None
        at = there.name if isinstance(there, Local | Parts) else e.root if isinstance(e, Address) else ""
        if isinstance(made_, Parts) and f"{at}.".startswith(f"{made_.name}."):
            raise unsupported("an object that keeps its own address as a value", loc, "Declare it as a variable.")
    return found


def zeroed(st: State, p: Place, node: Node, loc: Loc | None) -> bool:
    """Emit what `T()` is of a structure that has no constructor of the user's for that: zero, where no field says
    otherwise. Gives whether parts of it have constructors, which are still to be called."""
    if not made_by_parts(node.type_decl):
        set_parts(st, p, _given(st, node, (), loc, "whole"), node, loc)
        return False
    for q, t, _ in scalars(st, p, node):
        deliver(st, q, null(st) if t.kind == "pointer" else zero(scalar(t) or INT, loc), t, loc)
    return True


def takes_scalars(node: Node) -> bool:
    """Whether a constructor of ours keeps a value for each scalar and does no more; else it is called."""
    written = node.referenced.definition if node.referenced is not None else None
    return written is None or (keeps_arguments(written, fields(node)) and len(written.arguments) == len(node.arguments))


def _constructed(st: State, node: Node, callee: Node, use: Use) -> list[Value]:
    """The values of a structure that a constructor of ours makes: it takes a value for each scalar, in their order, or
    a structure of them."""
    given, parts = node.arguments, Unordered(st)
    check_order(st, node.loc, given)
    if len(given) == 1 and given[0].type.kind == "record" and not _refers(callee.arguments[0].type):
        return values(st, given[0], use)
    found = list[Value]()
    for e, p in zip(given, callee.arguments, strict=True):
        if _refers(p.type):
            where = place(st, e, within(use))  # it is kept as a pointer
            if not isinstance(where, Address):
                advice = "Refer to an element in memory."
                raise unsupported(f"a '{node.type_decl.name}' of a variable of one thread", e.loc, advice)
            found.append(parts.part(where))
            continue
        if p.type.kind == "pointer":
            found.append(parts.part(address(st, e, within(use))))
            continue
        told = e.loc is None and not e.children  # of an argument that is not written, libclang tells no more
        value = integer(e) if told else convert(expr(st, e, within(use)), e.type, p.type, e.loc)
        found.append(parts.part(value))
    parts.check(node.loc)
    return found


def _refers(t: CType) -> bool:
    """Whether this is a reference to what may change."""
    return t.kind == "reference" and t.inner is not None and not t.inner.const


_PLACES: Final = (
    "CALL_EXPR", "DECL_REF_EXPR", "MEMBER_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR", "UNARY_OPERATOR", "BINARY_OPERATOR",
    "CXX_REINTERPRET_CAST_EXPR", *CASTS,
)  # fmt: skip


def _makes(node: Node, callee: Node) -> bool:
    """Whether a function of CUDA makes a structure of a value for each of its fields."""
    if callee.kind == "CONSTRUCTOR":
        given, own = [p.type.name for p in callee.arguments], [f.type.name for f in fields(node)]
        return callee.definition is None and not callee.is_defaulted and given == own
    return callee.definition is None and callee.name == f"make_{node.type.name}"


def loaded(st: State, p: Place, node: Node) -> list[Value]:
    """The values of the scalars of a structure at a place."""
    loc, places = node.loc, scalars(st, p, node)
    whole = _at_once(st, p, node)
    if whole is None:
        return [fetch(st, q, t, loc) for q, t, _ in places]
    array, index, t = whole
    type_ = scalar(t) or INT
    first = st.saved(Read(array, index, loc), type_)
    of, base = based(first, type_, loc)
    bits = isinstance(places[0][0], Bits)
    parts = (
        (called("part", of, [Const(offset), *([Const(q.first)] if isinstance(q, Bits) else [])], loc), u)
        for q, u, offset in places[not bits :]
    )
    rest = [(retyped(part, base, scalar(u) or INT, loc), u) for part, u in parts]
    known = [] if bits else [(first, t)]
    return [pointed(st, e, u.inner) if u.kind == "pointer" else e for e, u in (*known, *rest)]


def _given(
    st: State, node: Node, given: tuple[Node, ...], loc: Loc | None, use: Use, order: Unordered | None = None
) -> list[Value]:
    """A value for each field; what is not given is zero. Unless they are arguments, in an `order` of C++'s choice, they
    are evaluated one after another."""
    own = fields(node)
    named = [_designated(part) for part in given]
    order_ = [label(field) for field in own]
    places = [order_.index(name) for name, _ in filter(None, named) if name in order_]
    if given and len(places) == len(given) and places == sorted(places):
        by_name = dict(part for part in named if part is not None)
        parts = [(field, by_name.get(label(field))) for field in own]
    else:
        parts = [(field, given[i] if i < len(given) else None) for i, field in enumerate(own)]
    found = _in_order(st, [partial(_field, st, field, part, loc, within(use)) for field, part in parts], order)
    if order is not None:
        order.check(loc)
    return found


def _designated(part: Node) -> tuple[str, Node] | None:
    """The field that an initialiser names, and its value."""
    if part.kind != "UNEXPOSED_EXPR" or len(part.children) != 2 or part.children[0].kind != "MEMBER_REF":
        return None
    name, value = part.children
    return name.name, value


def _in_order(st: State, parts: Sequence[Callable[[], list[Value]]], order: Unordered | None = None) -> list[Value]:
    """Values, each as it is before the effects of those after it."""
    found: list[Value] = []
    for part in parts:
        with st.captured() as effects:
            more = part()
        changed = written(seq(*effects))
        found = [_kept(st, e) if effects and _moves(e, changed) else e for e in found]
        st.emit(*effects)
        found += more
        if order is not None:
            order.part(more)
    return found


def _converted(st: State, node: Node | None, t: CType, use: Use) -> list[Value]:
    if node is None:
        return [null(st) if t.kind == "pointer" else zero(scalar(t) or INT, None)]
    if t.kind == "pointer":
        return [address(st, node, use)]
    return [convert(expr(st, node, use), node.type, t, node.loc)]


def _kept(st: State, e: Value) -> Value:
    return _saved(st, e, INT if isinstance(e, Address) else type_of(e, st.sigma))


def _moves(e: Value, changed: frozenset[str]) -> bool:
    """Whether the value of e may be another one after variables are changed, and perhaps arrays."""
    parts = [i for _, i in e.terms] if isinstance(e, Address) else [e]
    return any(map(reads_array, parts)) or bool(_used(e) & changed)


def _field(st: State, field: Node, part: Node | None, loc: Loc | None, use: Use) -> list[Value]:
    """The values for one field of a list."""
    t = field.type
    part = initialiser(field) if part is None and field.kind == "FIELD_DECL" else part
    if t.kind == "reference":
        return [referred(st, field, part, loc, use)]
    if t.kind == "record" and makes(field.type_decl) and (part is None or part.kind == "INIT_LIST_EXPR"):
        if not ((part is not None and part.children) or is_virtual(field.type_decl) or in_shim(field.type_decl)):
            return _empty(st, field, loc, use)
        raise unsupported(f"a value for '{label(field)}', which has a constructor,", loc, "Write the constructor.")
    if part is not None and part.kind == "UNEXPOSED_EXPR" and any(c.kind == "MEMBER_REF" for c in part.children):
        raise unsupported("an initialiser with a field's name", part.loc, "List the values in order.")
    if t.kind == "pointer" or scalar(t) is not None:
        return _converted(st, part, t, use)
    part = None if part is None else source(part)
    if t.kind == "array" and scalar(innermost(t)) and (part is None or part.kind == "INIT_LIST_EXPR"):
        return _in_order(st, [partial(_converted, st, e, innermost(t), use) for e in elements(part, t)])
    if t.kind == "array" and t.inner is not None and innermost(t).kind == "record":
        return _structures(st, field, part, loc, use)
    if t.kind == "record" and part is None:
        return _given(st, field, (), loc, use)
    if t.kind == "record" and part is not None and part.kind == "INIT_LIST_EXPR":
        return _listed(st, field, part, use)
    if t.kind == "record" and part is not None and part.type.name == t.name:
        return values(st, part, use)
    raise unsupported(f"a value for the field '{field.name}'", loc, "Assign it by itself.")


def _structures(st: State, field: Node, part: Node | None, loc: Loc | None, use: Use) -> list[Value]:
    """The values for an array of structures in a list: what is left out is zero."""
    t, own = field.type, field.type_decl
    given = () if part is None else part.children
    rows = t.inner is not None and t.inner.kind == "array" and bool(given)
    listed = part is None or part.kind == "INIT_LIST_EXPR"
    alike = all(g.kind == "INIT_LIST_EXPR" or g.type.name == own.type.name for g in given)
    size = innermost(t).size
    if makes(own) or is_union(own) or rows or not (listed and alike and size and t.size <= MOST * size):
        raise unsupported(f"a value for the field '{field.name}'", loc, "Assign it by itself.")
    every = (*given, *[None] * (t.size // size - len(given)))
    return _in_order(st, [partial(_field, st, own, each, loc, use) for each in every])


def _empty(st: State, field: Node, loc: Loc | None, use: Use) -> list[Value]:
    """The scalars of a field with a constructor that a list gives no value."""
    made_, own = declared(st, "t", field), (c for c in field.type_decl.members if c.kind == "CONSTRUCTOR")
    if any(c.is_defaulted and not c.arguments for c in own):  # zero is what it leaves alone
        for p, t, _ in scalars(st, made_, field):
            deliver(st, p, null(st) if t.kind == "pointer" else zero(scalar(t) or INT, loc), t, loc)
    st.construct(st, made_, field, use)
    return moved(st, made_, field, loc)


def _listed(st: State, node: Node, braces: Node, use: Use) -> list[Value]:
    given = braces.children
    own = fields(node)
    if len(own) == 1 and own[0].type.kind == "array" and given and all(g.type.kind != "array" for g in given):
        elem = innermost(own[0].type)  # the braces of the array may be left out
        type_, count = scalar(elem), own[0].type.size // max(1, elem.size)
        if type_ is None or len(given) > count or any(scalar(g.type) is None for g in given):
            raise unsupported(f"a value for the field '{own[0].name}'", braces.loc, "Write its braces.")
        listed = _in_order(st, [partial(_converted, st, e, elem, use) for e in given])
        return listed + [zero(type_, braces.loc)] * (count - len(listed))
    if len(given) == 1 and given[0].type.kind == "record" and given[0].type.name == node.type.name:
        return values(st, given[0], use)
    return _given(st, node, given, braces.loc, use)


def fill(st: State, target: Place, node: Node, use: Use = "part", at: Loc | None = None) -> None:
    """Emit the assignment of the structure that an expression gives; `at` is where the target's text begins."""
    node = source(node)
    if node.kind == "CONDITIONAL_OPERATOR":
        test, left, right = node.children
        c = condition(st, test, within(use))
        if isinstance(c, Const):
            fill(st, target, left if c.value else right, use, at)
            return
        then = st.block(lambda: fill(st, target, left, within(use), at))
        st.emit(If(c, then, st.block(lambda: fill(st, target, right, within(use), at)), node.loc))
        return
    set_parts(st, target, values(st, node, use), node, at)


def set_parts(st: State, target: Place, found: list[Value], node: Node, at: Loc | None = None) -> None:
    """Emit the assignment of scalars to a structure of a node's type; none is changed before it has been read. `at` is
    where the target's text begins, if it has one of its own."""
    loc = at or node.loc
    target = evaluated(st, target)
    places = scalars(st, target, node)
    types = [scalar(t) or INT for _, t, _ in places]
    whole = _at_once(st, target, node)
    if whole is not None:  # the first value, with all others evaluated
        array, index, _ = whole
        numbers = [
            number(st, e, unit(t.inner), loc) if isinstance(e, Address) else e
            for e, (_, t, _) in zip(found, places, strict=True)
        ]
        first, base = based(numbers[0], types[0], loc)
        st.emit(Write(array, index, retyped(called("pack", first, numbers[1:], loc), base, types[0], loc), loc))
        return
    names = {p.name for p, _, _ in places if isinstance(p, Local)} | _indices(st, places)
    alone = all(isinstance(p, Local | Pointer) for p, _, _ in places)
    found = [e if alone and not _used(e) & names else _saved(st, e, t) for e, t in zip(found, types, strict=True)]
    for e, (p, t, _) in zip(found, places, strict=True):
        deliver(st, p, e, t, loc)


def _used(e: Value) -> frozenset[str]:
    """The variables in a value."""
    return frozenset[str]().union(*(local_vars(i) for _, i in e.terms)) if isinstance(e, Address) else local_vars(e)


def _saved(st: State, e: Value, t: Type) -> Value:
    """The value as it is here and now."""
    if not isinstance(e, Address):
        return st.saved(e, t)
    return replace(e, terms=tuple((s, st.saved(i, INT)) for s, i in e.terms))


def _indices(st: State, places: Sequence[tuple[Place, CType, int]]) -> set[str]:
    """The variables that pointers among places have."""
    bound = [st.bindings[p.key] for p, _, _ in places if isinstance(p, Pointer)]
    return {b.index for b in bound if isinstance(b, Moving)}
