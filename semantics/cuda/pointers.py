"""C lvalues and pointers: the places that expressions name, and what pointers lead to.

A pointer that is never assigned is the address that it was declared with; one that is assigned is a base and a local
variable for the steps from it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import gcd
from typing import Final

from logic.source import Loc
from logic.syntax import INT, Assign, Const, Expr, Op, Space, Stmt, Var, reads_array
from semantics.cuda.bases import part, whole_of
from semantics.cuda.clang import Node
from semantics.cuda.classes import bases, derives, way
from semantics.cuda.convert import convert
from semantics.cuda.ctype import CType, compatible, innermost, same, scalar
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.functions import assign as assign_function
from semantics.cuda.order import check_index, check_order, right_first
from semantics.cuda.places import (
    builtin_index,
    dropped,
    evaluated,
    frozen,
    is_kept,
    is_of_device,
    is_outside,
    load,
    member,
    outside,
    resolved,
    steps,
    store,
)
from semantics.cuda.regions import aligned, is_null, is_region, null, number, pointed, region, unit
from semantics.cuda.rows import either, in_a_row, leaves, variables
from semantics.cuda.scan import is_this, owner
from semantics.cuda.sequence import Unordered, chosen, then, within
from semantics.cuda.shapes import (
    CASTS,
    NAMING,
    bare,
    declared_constant,
    described,
    gives_reference,
    null_pointer,
    only_read,
    operand,
    steps_from,
    temporary,
    to_reference,
    used_at_once,
)
from semantics.cuda.shim import is_index
from semantics.cuda.state import (
    Address,
    Bits,
    Chosen,
    Local,
    Moving,
    Parts,
    Place,
    Pointer,
    Registers,
    Replan,
    State,
    Use,
    added,
    pointee_size,
    scaled,
)

STEPS: Final = {"x++": "+", "++x": "+", "x--": "-", "--x": "-"}
"""The operators that change a variable by one."""


def place(st: State, node: Node, use: Use = "part") -> Place:
    """The place that an lvalue names."""
    whole = node.type.kind in ("record", "array")
    match node.kind:
        case "PAREN_EXPR":
            return place(st, node.children[-1], use)
        case "DECL_REF_EXPR":
            return _named(st, node)
        case "ARRAY_SUBSCRIPT_EXPR":
            base, offset = node.children
            check_index(st, node)
            if offset.type.kind in ("pointer", "array"):
                base, offset = offset, base
            parts = Unordered(st)
            begin, index = (
                parts.part(_led(st, address(st, base, within(use)))),
                parts.part(number_of(st, offset, within(use))),
            )
            parts.check(node.loc)
            return resolved(st, begin.plus(node.type.size, index))
        case "UNARY_OPERATOR" if node.operator == "*":
            (inner,) = node.children
            if is_this(inner) and st.frame.this is not None:
                return st.frame.this.place
            return resolved(st, _led(st, address(st, inner, use)).plus(node.type.size, Const(0, loc=node.loc)))
        case "UNARY_OPERATOR" if node.operator in ("++x", "--x"):
            st.discard(st, node, use)
            return place(st, node.children[0])
        case "MEMBER_REF_EXPR":
            return _member(st, node, use)
        case "CONDITIONAL_OPERATOR" if node.type.kind != "record" or not temporary(node):
            return _one_of(st, node, within(use))
        case "BINARY_OPERATOR" if node.operator == ",":
            st.discard(st, node.children[0], use if use == "part" else "statement")
            return place(st, node.children[1], within(use))
        case "INIT_LIST_EXPR" | "STRING_LITERAL" | "CONDITIONAL_OPERATOR" | "BINARY_OPERATOR" if whole:
            return st.listed(st, node, node.loc, use)
        case "CALL_EXPR" if node.type.kind == "record" or gives_reference(node):
            made = st.call(st, node, use)
            if isinstance(made, Place):
                return made
        case "CXX_REINTERPRET_CAST_EXPR" if to_reference(node) and (seen := operand(node)) is not None:
            return _renamed(st, node, seen, use)
        case "CXX_REINTERPRET_CAST_EXPR" if (seen := operand(node)) is not None and same(seen.type, node.type):
            return place(st, seen, use)
        case kind if kind in (*CASTS, "CXX_CONST_CAST_EXPR"):
            inner_ = operand(node)
            records = inner_ is not None and inner_.type.kind == node.type.kind == "record"
            if inner_ is not None and (records or same(inner_.type, node.type)):
                there = place(st, inner_, use)
                taken = inner_.type.const and not node.type.const and node.kind != "UNEXPOSED_EXPR"
                if taken and not (isinstance(there, Address) and there.root not in (*st.registers, *st.pointees)):
                    what = "a cast that takes 'const' away"
                    raise unsupported(what, node.loc, "Leave out the 'const' where it begins.")
                if same(inner_.type, node.type):
                    return there
                types = inner_.type_decl, node.type_decl
                if (found := part(st, there, *types, node.loc) or whole_of(st, there, *types)) is not None:
                    return found
    raise unsupported(f"{described(node)} as a place in memory", node.loc)


def _led(st: State, a: Address) -> Address:
    """An address with what is read from memory in a variable: what is added to that is then seen."""
    if not is_region(st, a):
        return a
    return replace(a, terms=tuple((s, st.saved(e, INT) if reads_array(e) else e) for s, e in a.terms))


def located(st: State, node: Node, use: Use = "part") -> tuple[Place, bool]:
    """The place that an lvalue names, and whether it is the same one whatever a call does before it is looked for."""
    with st.captured() as before:
        found = place(st, node, use)
    st.emit(*before)
    return found, not before and not any(map(reads_array, indices(found)))


def indices(p: Place) -> list[Expr]:
    """The numbers that say which element a place is."""
    p = p.place if isinstance(p, Bits) else p
    return [e for _, e in p.terms] if isinstance(p, Address) else []


def number_of(st: State, node: Node, use: Use = "part") -> Expr:
    """The value of an index."""
    return convert(st.expr(st, node, use), node.type, CType("int", "long", 8), node.loc)


def _member(st: State, node: Node, use: Use) -> Place:
    inner, decl = owner(node), node.referenced
    if decl is None or decl.kind not in ("FIELD_DECL", "INDIRECT_FIELD_DECL"):
        raise unsupported(f"the member '{node.name}'", node.loc)
    if decl.is_mutable:  # what is constant changes, and nobody counts that
        raise unsupported(f"the mutable member '{node.name}'", node.loc, "Leave out 'mutable'.")
    within_ = None if inner is None else inner.pointee_decl if inner.type.kind == "pointer" else inner.type_decl
    of = within_ if within_ is not None else None if st.frame.this is None else st.frame.this.decl
    parent, hidden = decl.parent, tuple[Node, ...]()
    if parent is not None and (not parent.name or "(" in parent.name or parent.kind == "UNION_DECL"):
        found = None if of is None else () if of.identity == parent.identity else way(of, parent)
        if found is None:
            what = "union" if parent.kind == "UNION_DECL" else "structure"
            raise unsupported(f"the member '{node.name}' of a {what} without a name", node.loc, "Give it a name.")
        hidden, parent = found, of if found else parent
    if inner is None or is_this(inner):
        this = st.frame.this
        own = this is not None and parent is not None and parent.identity == this.type
        whole = None if this is None or parent is None else this.place
        if this is not None and this.decl is not None and parent is not None and not own:
            whole = part(st, this.place, this.decl, parent, node.loc)
        if whole is None:
            raise unsupported(f"the member '{node.name}' of this object", node.loc)
    elif inner.type.kind == "pointer":
        whole = _led(st, address(st, inner, use)).plus(pointee_size(inner.type), Const(0, loc=node.loc))
    else:
        whole = place(st, inner, use)
    for field in hidden:
        whole = member(st, whole, node, field)
    return seen(st, member(st, whole, node, decl), decl, node.loc)


def seen(st: State, p: Place, decl: Node, loc: Loc | None) -> Place:
    """The place of a field as its name says: what a reference refers to."""
    if decl.type.kind != "reference" or not isinstance(p, Pointer):
        return p
    return resolved(st, _led(st, held(st, p.key, loc)).plus(pointee_size(decl.type), Const(0, loc=loc)))


def referred(st: State, field: Node, value: Node | None, loc: Loc | None, use: Use) -> Address:
    """The address of what a field that is a reference is given, which is kept as a pointer is."""
    t = field.type.inner
    if value is None or t is None or not same(value.type, t) or temporary(value):
        raise unsupported(f"what the reference '{field.name}' refers to", loc, "Give it a variable or an element.")
    found = place(st, value, use)
    if isinstance(found, Address):
        return found
    if isinstance(found, Local | Parts | Pointer):
        return _variable(st, found)
    raise unsupported("a reference to a parameter or to bits", loc, "Copy it to a local variable first.")


def _named(st: State, node: Node) -> Place:
    decl = node.referenced
    if decl is None:
        raise unsupported(f"'{node.name}'" if node.name else "a structure that a template is passed", node.loc)
    if is_index(node):
        axes = [(a, st.declare(f"{decl.name}_{a}", INT, node.loc, settled=True)) for a in ("x", "y", "z")]
        st.emit(*(Assign(v.name, builtin_index(decl.name, a, node.loc), node.loc) for a, v in axes))
        return Parts(decl.name, tuple(axes))
    bound = binding(st, decl, node.loc)
    if isinstance(bound, Address) and decl.type.kind == "pointer" and not is_kept(st, decl):
        if is_outside(decl):  # what it leads to, not it
            raise _outside(st, decl, node.loc)
        return st.pointer(bound)  # its value
    return Pointer(decl.identity) if isinstance(bound, Moving) else bound


def _outside(st: State, decl: Node, loc: Loc | None) -> CudaError | Replan:
    """The exception for the place of a pointer that is declared outside of kernels: one of the device is then held in
    memory."""
    if is_of_device(decl):
        return st.cast_off(decl.loc)
    what = f"a change or the address of the pointer '{decl.name}', declared outside of the kernel,"
    return unsupported(what, loc, "Copy it to a variable of the kernel.")


def binding(st: State, decl: Node, loc: Loc | None) -> Place | Moving:
    """The meaning of a declaration in miniCUDA."""
    if decl.identity not in st.bindings:
        if decl.kind != "VAR_DECL":
            raise unsupported(f"'{decl.name}', of type '{decl.type.name}',", loc)
        st.bindings[decl.identity] = outside(st, decl, loc)
    return st.bindings[decl.identity]


def address(st: State, node: Node, use: Use = "part") -> Address:
    """The value of a pointer, or where an array begins."""
    if null_pointer(node):
        return null(st)
    match node.kind:
        case "PAREN_EXPR":
            return address(st, node.children[-1], use)
        case "CONDITIONAL_OPERATOR":
            return _either(st, node, within(use))
        case "CALL_EXPR" | "CXX_NEW_EXPR" if node.type.kind == "pointer":
            given = st.call(st, node, use)
            if isinstance(given, Place) and gives_reference(node):
                given = fetch(st, given, node.type, node.loc)
            if isinstance(given, Address):
                return given
        case "CXX_THIS_EXPR" if st.frame.this is not None and used_at_once(node):
            this = st.frame.this.place
            return this if isinstance(this, Address) else _variable(st, this)
        case "DECL_REF_EXPR":
            return _pointer(st, node)
        case "BINARY_OPERATOR" if node.operator in ("+", "-"):
            return _moved(st, node, use)
        case "BINARY_OPERATOR" if node.operator == "=":
            assigned(st, node, within(use))
            return address(st, node.children[0])
        case "COMPOUND_ASSIGNMENT_OPERATOR":
            updated(st, node, within(use))
            return address(st, node.children[0])
        case "UNARY_OPERATOR" if node.operator == "&":
            found = place(st, node.children[0], use)
            if isinstance(found, Address) and found.root not in st.registers and steps_from(node):
                st.note(f"'{found.root}{found.path}' and what follows it is in runs an array of its own")
                return replace(found.plus(node.children[0].type.size, Const(0)), path=f"{found.path}.row")
            if isinstance(found, Address):
                return found
            if isinstance(found, Local) and (row := _row(st, found, node.children[0])) is not None:
                return row
            if isinstance(found, Local | Parts | Pointer):
                return _variable(st, found)
            raise unsupported("the address of a parameter", node.loc, "Copy it to a local variable first.")
        case "UNARY_OPERATOR" if node.operator in STEPS:
            return stepped(st, node, use)
        case kind if kind in NAMING and node.type.kind in ("array", "pointer"):
            found = place(st, node, use)
            if node.type.kind == "pointer":
                value = fetch(st, found, node.type, node.loc)
                if isinstance(value, Address):
                    return value
            if isinstance(found, Address):
                return found
        case kind if kind in CASTS or kind in ("CXX_REINTERPRET_CAST_EXPR", "CXX_CONST_CAST_EXPR"):
            inner = operand(node)
            if inner is not None and inner.type.kind in ("pointer", "array"):
                return recast(st, node, inner, use)
            if inner is not None and inner.type.kind == "int":
                return _from_number(st, node, inner, use)
    ask = "Kernels have none: ask the object by a virtual function." if node.kind == "CXX_DYNAMIC_CAST_EXPR" else ""
    raise unsupported(f"{described(node)} as a pointer", node.loc, ask)


def _from_number(st: State, node: Node, inner: Node, use: Use) -> Address:
    """The pointer that a number of bytes is cast to: one to global memory."""
    to = node.type.inner
    if inner.type.size != node.type.size or to is None or to.kind == "void":
        raise unsupported("a number as a pointer", node.loc, "Pass the pointer to the kernel.")
    st.note("a number that is cast to a pointer leads to global memory")
    return aligned(st, region(st, "global").plus(1, st.expr(st, inner, use)), to, node.loc)


def _row(st: State, p: Local, node: Node) -> Address | None:
    """The address of a field of a structure of one thread, as one in a row with those after it of its type."""
    while node.kind == "PAREN_EXPR":
        node = node.children[-1]
    decl = node.referenced if node.kind == "MEMBER_REF_EXPR" else None
    if decl is None or decl.parent is None:
        return None
    inner = owner(node)
    if inner is None or is_this(inner):
        whole = None if st.frame.this is None else st.frame.this.place
    elif inner.type.kind == "pointer":
        whole = resolved(st, address(st, inner).plus(pointee_size(inner.type), Const(0)))
    else:
        whole = place(st, inner)
    if not isinstance(whole, Parts):
        return None
    names, size, end = list[str](), decl.type.size, decl.field_offset
    fields = {f.name: f for f in decl.parent.children if f.kind == "FIELD_DECL"}
    for name, found in whole.places:
        f = fields.get(name)
        if f is None or f.is_bitfield or f.field_offset != end or not isinstance(found, Local):
            continue
        if (f.type.kind, f.type.name, f.type.size) == (decl.type.kind, decl.type.name, size):
            names.append(found.name)
            end += size
    return in_a_row(st, tuple(names), size, node.loc) if len(names) > 1 and names[0] == p.name else None


def recast(st: State, node: Node, inner: Node, use: Use) -> Address:
    """The address that a pointer leads to, as one of a node's type."""
    found = address(st, inner, use)
    old, new = inner.type.inner, node.type.inner
    mine = found.root in st.pointees or found.root in st.registers
    if mine and old and new and old.const and not (new.const or only_read(node) or declared_constant(inner)):
        raise unsupported("a cast that takes 'const' away", node.loc, "Leave out the 'const' where it begins.")
    upward = old is not None and new is not None and old.kind == new.kind == "record"
    known = st.pointees.get(found.root)
    if isinstance(known, Parts) and old and new and new.size and scalar(new) is not None:
        names = leaves(known) or []
        kinds = {st.sigma.locals[name] for name in names}
        if kinds == {scalar(new)} and len(names) * new.size == old.size and new.kind == "base":
            return in_a_row(st, tuple(names), new.size, node.loc)
    if found.root in st.pointees and not (old and new and (same(old, new) or upward)):
        raise _as_bytes(st, found, node.loc)
    alike = same if found.root in st.registers else compatible
    if (found.root in st.dynamic and not found.terms) or (
        old and new and (old.kind == "void" or alike(innermost(old), innermost(new)))
    ):
        return aligned(st, found, new, node.loc) if is_region(st, found) and new else found
    whole = None
    if old and new and old.kind == new.kind == "record" and derives(inner):
        there = resolved(st, found.plus(old.size, Const(0)))
        whole = part(st, there, inner.pointee_decl, node.pointee_decl, node.loc)
    if whole is None and old and new and old.kind == new.kind == "record" and derives(node):
        there = resolved(st, found.plus(old.size, Const(0)))
        whole = whole_of(st, there, inner.pointee_decl, node.pointee_decl)
    if whole is not None:
        return whole if isinstance(whole, Address) else _variable(st, whole)
    if found.root in st.pointees:
        raise _as_bytes(st, found, node.loc)
    bytes_ = old is not None and old.kind == "int" and old.size == 1
    if not bytes_ and (derives(inner) or derives(node)):
        what = f"the conversion from '{inner.type.name}' to '{node.type.name}', one of which has a base class,"
        raise unsupported(what, node.loc, "A base may begin anywhere in what is derived from it: make it a field.")
    if new is not None and new.kind == "void" and found.root not in st.registers:
        return found  # nothing is accessed as that
    return _viewed(st, found, inner.type, node.type, node.loc)


def _viewed(st: State, found: Address, before: CType, after: CType, loc: Loc | None) -> Address:
    """An address as one of another type: of what two pointers lead to, or of two references."""
    old, new = (t.inner if t.kind in ("pointer", "array") else t for t in (before, after))
    if is_region(st, found):
        return aligned(st, found, new, loc)
    if found.root in st.registers:
        array = st.registers[found.root]
        if array.variables and array.of is None:
            raise st.spill(array.loc)
        return found
    if old is None or new is None or not old.size or not new.size:
        advice = "Give the array the type it is read with."
        raise unsupported(f"the cast from '{before.name}' to '{after.name}'", loc, advice)
    view = f"as_{re.sub(r'[^A-Za-z0-9]+', '_', new.name).strip('_')}"
    st.note(f"'{found.root}{found.path}' is also read as '{new.name}': in runs that is an array of its own")
    return replace(found.plus(min(old.size, new.size), Const(0)), path=f"{found.path}.{view}")


def _renamed(st: State, node: Node, inner: Node, use: Use) -> Place:
    """The place of an lvalue as one of another type."""
    found = place(st, inner, use)
    if isinstance(found, Local | Parts):
        raise _as_bytes(st, _variable(st, found), node.loc)
    if not isinstance(found, Address):
        raise unsupported("the address of a parameter", node.loc, "Copy it to a local variable first.")
    if any(bases(e.type_decl) for e in (inner, node) if e.type.kind == "record"):
        raise unsupported("the cast of an object that has a base class", node.loc, "Make the base a field.")
    alike = same if found.root in st.registers else compatible
    return found if alike(inner.type, node.type) else _viewed(st, found, inner.type, node.type, node.loc)


def _as_bytes(st: State, found: Address, loc: Loc | None) -> Replan:
    """The exception for a variable, which an address leads to, that is accessed as another type."""
    whole, otherwise = st.pointees[found.root], "Use __float_as_int and its like."
    at = st.origins.get(whole.name) if isinstance(whole, Parts) else None
    if isinstance(whole, Local):
        at = next((d.loc for d in st.locals if d.name == whole.name), None)
    plan = st.plan if at is None else replace(st.plan, laid=st.plan.laid | {at})
    return Replan(plan, unsupported("a variable of one thread as another type", loc, otherwise))


def _pointer(st: State, node: Node) -> Address:
    decl = node.referenced
    if decl is None:
        raise unsupported(f"'{node.name}'", node.loc)
    match binding(st, decl, node.loc):
        case Address() as found if node.type.kind == "pointer" and is_kept(st, decl):
            value = fetch(st, found, node.type, node.loc)
            if isinstance(value, Address):
                return value
        case Address() as found:
            return found
        case Pointer(key):
            return held(st, key, node.loc)
        case Moving():
            return held(st, decl.identity, node.loc)
    raise unsupported(f"'{decl.name}' as a pointer", node.loc)


def held(st: State, key: int, loc: Loc | None) -> Address:
    """The value of a pointer variable."""
    bound = st.bindings[key]
    if isinstance(bound, Address):
        return bound
    if not isinstance(bound, Moving):
        raise unsupported("this pointer", loc)
    if bound.unit:
        space = st.spaces.setdefault(bound.index, "global")
        return region(st, space).plus(bound.unit, Var(bound.index, loc))
    if bound.several:
        raise st.cast_off(bound.loc)
    if bound.base is None:
        raise CudaError(f"the pointer '{bound.index}' is used before it is assigned", loc)
    if bound.base.root in st.pointees or is_null(bound.base):
        return bound.base
    return bound.base.plus(bound.size, Var(bound.index, loc))


def _variable(st: State, p: Place) -> Address:
    """The address of a variable of one thread."""
    for root, known in st.pointees.items():
        if known == p:
            return Address(root, "shared")
    root = st.fresh("variable")
    st.pointees[root] = p
    return Address(root, "shared")


def fetch(st: State, p: Place, t: CType, loc: Loc | None) -> Expr | Address:
    """The value at a place, of a scalar or a pointer."""
    p = resolved(st, p)
    if isinstance(p, Pointer):
        return held(st, p.key, loc)
    value = load(st, p, t, loc)
    if t.kind != "pointer":
        return value
    space = st.spaces.setdefault(p.root, "global") if isinstance(p, Address) and p.root in st.registers else "global"
    return pointed(st, value, t.inner, space)


def deliver(st: State, p: Place, value: Expr | Address, t: CType, loc: Loc | None) -> None:
    """Emit the assignment of a scalar or a pointer to a place."""
    p = resolved(st, p)
    if not isinstance(value, Address):
        store(st, p, value, t, loc)
    elif isinstance(p, Pointer):
        point(st, p.key, value, loc)
    else:
        mine = isinstance(p, Address) and p.root in st.registers
        space = _space(st, p.root, value, loc) if mine and isinstance(p, Address) else "global"
        store(st, p, number(st, value, unit(t.inner), loc, space), t, loc)


def _space(st: State, name: str, target: Address, loc: Loc | None) -> Space:
    """The places to which the pointers lead that a variable or an array of one thread holds, one of which is given."""
    space = st.spaces.get(name, "global") if is_null(target) else st.spaces.setdefault(name, target.space)
    if not is_null(target) and space != target.space:
        raise unsupported("one pointer into shared and into global memory", loc, "Use a pointer for each.")
    return space


def _either(st: State, node: Node, use: Use) -> Address:
    """`c ? p : q`: an offset in one array, or a number."""
    test, left, right = node.children
    c = st.condition(st, test, use)
    if isinstance(c, Const):
        return address(st, left if c.value else right, use)
    with st.captured() as before_a:
        a = address(st, left, use)
    with st.captured() as before_b:
        b = address(st, right, use)
    return _chosen(st, node, c, (a, b), (before_a, before_b), node.type.inner)


def _chosen(
    st: State,
    node: Node,
    c: Expr,
    sides: tuple[Address, Address],
    before: tuple[list[Stmt], list[Stmt]],
    t: CType | None,
) -> Address:
    """One of two addresses of a type, each found by statements of its own."""
    a, b = sides
    if a == b and not any(before):
        dropped(st, c)
        return a
    alike = (a.root, a.path, a.offset) == (b.root, b.path, b.offset) and not is_null(a)
    if alike and a.root not in st.pointees:
        size = gcd(*(s for s, _ in (*a.terms, *b.terms)))
        values, begin = (steps(a, size, node.loc), steps(b, size, node.loc)), replace(a, terms=())
    else:
        space = b.space if is_null(a) else a.space
        size, begin = unit(t), region(st, space)
        values = number(st, a, size, node.loc, space), number(st, b, size, node.loc, space)
    value = chosen(st, c, values, before, INT, node.loc)
    if is_region(st, begin):
        name = st.declare("t", INT, node.loc, settled=True).name
        st.emit(Assign(name, value, node.loc))
        value = Var(name, node.loc)
    return begin.plus(size, value)


def _one_of(st: State, node: Node, use: Use) -> Place:
    """`c ? a : b` as a place: `*(c ? &a : &b)` in memory; two variables are as an array of them."""
    test, left, right = node.children
    c = st.condition(st, test, use)
    if isinstance(c, Const):
        return place(st, left if c.value else right, use)
    with st.captured() as before_a:
        a = resolved(st, place(st, left, use))
    with st.captured() as before_b:
        b = resolved(st, place(st, right, use))
    if isinstance(a, Parts) and isinstance(b, Parts):
        which = chosen(st, c, (Const(0), Const(1)), (before_a, before_b), INT, node.loc)
        name = st.declare("t", INT, node.loc, settled=True).name
        st.emit(Assign(name, which, node.loc))
        return either(st, a, b, Var(name, node.loc), node.loc)
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        kept = st.bindings[a.key], st.bindings[b.key]
        if isinstance(kept[0], Address) and isinstance(kept[1], Address):  # nothing changes them
            return st.pointer(_chosen(st, node, c, (kept[0], kept[1]), (before_a, before_b), node.type.inner))
    first_of, second_of, size = variables(st, a), variables(st, b), max(1, node.type.size)
    if first_of is not None and second_of is not None:
        (first, i), (second, j) = first_of, second_of
        type_ = st.sigma.locals[first[0]]
        root = st.fresh("either")
        own = {p.name if isinstance(p, Local) else p.root for p in (a, b) if isinstance(p, Local | Address)}
        st.mixed[root] = own.union(*(st.mixed.get(name, ()) for name in own))
        st.registers[root] = Registers(root, type_, size, first + second, node.loc)
        which = chosen(st, c, (i, added(Const(len(first)), j)), (before_a, before_b), INT, node.loc)
        return Address(root, "shared", ((size, st.saved(which, INT)),), total=len(first + second) * size)
    if not isinstance(a, Address) or not isinstance(b, Address) or {a.root, b.root} & st.registers.keys():
        raise unsupported("'?:' as a place", node.loc, "Use 'if'.")
    return _chosen(st, node, c, (a, b), (before_a, before_b), node.type)


def _moved(st: State, node: Node, use: Use) -> Address:
    """pointer + int, int + pointer, pointer - int"""
    left, right = node.children
    check_order(st, node.loc, (left, right))
    pointer, offset = (left, right) if left.type.kind in ("pointer", "array") else (right, left)
    if offset.type.kind in ("pointer", "array"):
        raise unsupported("this operator on pointers", node.loc)
    parts = Unordered(st)
    base, e = parts.part(address(st, pointer, within(use))), parts.part(number_of(st, offset, within(use)))
    parts.check(node.loc)
    if node.operator == "-":
        e = Const(-e.value) if isinstance(e, Const) and isinstance(e.value, int) else Op("neg", (e,), node.loc)
    return base.plus(pointee_size(node.type), e)


def _target(st: State, node: Node, use: Use) -> Place:
    """The pointer that an assignment changes."""
    found = place(st, bare(node), use)
    if isinstance(found, Pointer) and not isinstance(st.bindings[found.key], Moving):
        raise unsupported("assigning to this pointer", node.loc)
    return found


def point(st: State, key: int, target: Address, loc: Loc | None) -> None:
    """Emit `p = target` for a pointer variable p. To another array only where no loop leads back to before."""
    bound = st.bindings[key]
    if not isinstance(bound, Moving):
        raise unsupported("assigning to this pointer", loc)
    if bound.unit:
        space = _space(st, bound.index, target, loc)
        st.emit(Assign(bound.index, number(st, target, bound.unit, loc, space), loc))
        return
    base = Address(target.root, target.space, (), target.path, target.offset, target.total)
    if is_null(target) and bound.index and bound.base is None and not bound.several:
        st.bindings[key] = replace(bound, base=target)
        st.emit(Assign(bound.index, Const(0), loc))
        return
    if not bound.index:
        st.bindings[key] = frozen(st, target, "p")
        return
    if is_region(st, target) or any(s % bound.size for s, _ in target.terms):
        raise st.cast_off(bound.loc)
    if bound.several or (bound.base is not None and bound.base != base):
        if len(st.loops) != bound.loops:
            raise st.cast_off(bound.loc)
        st.moved.append(key)
    st.bindings[key] = replace(bound, base=base, several=False)
    st.emit(Assign(bound.index, steps(target, bound.size, loc), loc))


def assigned(st: State, node: Node, use: Use) -> None:
    """Emit `p = e`, of a pointer p."""
    left, right = node.children
    right_first(st, node, left, right)
    parts, inner, name = Unordered(st), within(use), bare(left)
    if name.kind == "DECL_REF_EXPR":
        decl = name.referenced
        if decl is not None and isinstance(st.functions.get(decl.identity), Chosen) and use == "whole":
            assign_function(st, decl, right)
            return
        value = address(st, right, use)  # a call in it may change the pointer
        deliver(st, _target(st, left, use), value, left.type, node.loc)
        return
    value, target = then(st, parts.part(address(st, right, inner)), lambda: evaluated(st, _target(st, left, inner)))
    parts.part(target)
    parts.check(node.loc, st.ordered)
    deliver(st, target, value, left.type, node.loc)


def updated(st: State, node: Node, use: Use) -> None:
    """Emit `p += e` or `p -= e`, of a pointer p."""
    left, right = node.children
    right_first(st, node, left, right)
    parts, inner = Unordered(st), within(use)
    e, target = then(st, parts.part(number_of(st, right, inner)), lambda: evaluated(st, _target(st, left, inner)))
    parts.part(fetch(st, target, left.type, node.loc))
    parts.check(node.loc, st.ordered)
    _move(st, target, node.operator.removesuffix("="), e, left.type, node.loc)


def stepped(st: State, node: Node, use: Use) -> Address:
    """Emit `p++` and its like, of a pointer p; its value."""
    (inner,) = node.children
    target = evaluated(st, _target(st, inner, within(use)))
    old = fetch(st, target, inner.type, node.loc)
    postfix = use != "statement" and node.operator.startswith("x")
    if isinstance(old, Address) and postfix:
        old = replace(old, terms=tuple((s, st.saved(e, INT)) for s, e in old.terms))
    _move(st, target, STEPS[node.operator], Const(1), inner.type, node.loc)
    value = old if postfix or use == "statement" else fetch(st, target, inner.type, node.loc)
    if not isinstance(value, Address):
        raise unsupported("this pointer", node.loc)
    return value


def _move(st: State, target: Place, op: str, e: Expr, t: CType, loc: Loc | None) -> None:
    """Emit that a pointer goes on or back by elements."""
    size = pointee_size(t)
    bound = st.bindings[target.key] if isinstance(target, Pointer) else None
    if isinstance(bound, Moving):
        if not bound.unit and (bound.base is None or bound.base.root in st.pointees) and not bound.several:
            raise unsupported(f"a step of the pointer '{bound.index}'", loc, "It leads to no array.")
        by = scaled(e, size // bound.step)
        st.emit(Assign(bound.index, Op(op, (Var(bound.index, loc), by), loc), loc))
        return
    old = fetch(st, target, t, loc)
    if not isinstance(old, Address):
        raise unsupported("assigning to this pointer", loc)
    if op == "-":
        e = Const(-e.value) if isinstance(e, Const) and isinstance(e.value, int) else Op("neg", (e,), loc)
    deliver(st, target, old.plus(size, e), t, loc)
