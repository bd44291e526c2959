"""C lvalues and pointers: the places that expressions name, and what pointers lead to.

A pointer that is never assigned is the address that it was declared with; one that is assigned is a base and a local
variable for the steps from it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from logic.operators import COMPARISONS
from logic.source import Loc
from logic.syntax import BOOL, FALSE, INT, TRUE, Assign, Const, Expr, Op, Var, reads_array
from semantics.cuda.clang import Node
from semantics.cuda.classes import derives
from semantics.cuda.convert import convert
from semantics.cuda.ctype import CType, compatible, innermost, same
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.order import check_order
from semantics.cuda.places import builtin_index, depending, dropped, member, outside, steps
from semantics.cuda.scan import is_this, owner
from semantics.cuda.sequence import Unordered, within
from semantics.cuda.shapes import CASTS, bare, described, operand
from semantics.cuda.shim import is_index
from semantics.cuda.state import Address, Moving, Parts, Place, Spill, State, Use, pointee_size

STEPS: Final = {"x++": "+", "++x": "+", "x--": "-", "--x": "-"}
"""The operators that change a variable by one."""


def place(st: State, node: Node, use: Use = "part") -> Place:
    """The place that an lvalue names."""
    match node.kind:
        case "PAREN_EXPR":
            return place(st, node.children[-1], use)
        case "DECL_REF_EXPR":
            return _named(st, node)
        case "ARRAY_SUBSCRIPT_EXPR":
            base, offset = node.children
            check_order(st, node.loc, (base, offset))
            if offset.type.kind in ("pointer", "array"):
                base, offset = offset, base
            parts = Unordered(st)
            begin, index = parts.part(address(st, base, within(use))), parts.part(number(st, offset, within(use)))
            parts.check(node.loc)
            return begin.plus(node.type.size, index)
        case "UNARY_OPERATOR" if node.operator == "*":
            (inner,) = node.children
            if is_this(inner) and st.frame.this is not None:
                return st.frame.this.place
            return address(st, inner, use).plus(node.type.size, Const(0, loc=node.loc))
        case "UNARY_OPERATOR" if node.operator in ("++x", "--x"):
            st.discard(st, node, use)
            return place(st, node.children[0])
        case "MEMBER_REF_EXPR":
            return _member(st, node, use)
        case "CALL_EXPR" if node.type.kind == "record":
            made = st.call(st, node, use)
            if isinstance(made, Place):
                return made
        case kind if kind in CASTS:
            inner_ = operand(node)
            if inner_ is not None and inner_.type.const and not node.type.const and node.kind != "UNEXPOSED_EXPR":
                raise unsupported("a cast that takes 'const' away", node.loc, "Leave out the 'const' where it begins.")
            if inner_ is not None and same(inner_.type, node.type):
                return place(st, inner_, use)
    raise unsupported(f"{described(node)} as a place in memory", node.loc)


def located(st: State, node: Node, use: Use = "part") -> tuple[Place, bool]:
    """The place that an lvalue names, and whether it is the same one whatever a call does before it is looked for."""
    with st.captured() as before:
        found = place(st, node, use)
    st.emit(*before)
    return found, not before and not any(map(reads_array, indices(found)))


def indices(p: Place) -> list[Expr]:
    """The numbers that say which element a place is."""
    return [e for _, e in p.terms] if isinstance(p, Address) else []


def number(st: State, node: Node, use: Use = "part") -> Expr:
    """The value of an index."""
    return convert(st.expr(st, node, use), node.type, CType("int", "long", 8), node.loc)


def _member(st: State, node: Node, use: Use) -> Place:
    inner, decl = owner(node), node.referenced
    if decl is None or decl.kind not in ("FIELD_DECL", "INDIRECT_FIELD_DECL"):
        raise unsupported(f"the member '{node.name}'", node.loc)
    if decl.is_mutable:  # what is constant changes, and nobody counts that
        raise unsupported(f"the mutable member '{node.name}'", node.loc, "Leave out 'mutable'.")
    if inner is None or is_this(inner):
        this = st.frame.this
        if this is None or decl.parent is None or decl.parent.identity != this.type:
            raise unsupported(f"the member '{node.name}' of this object", node.loc)
        return member(st, this.place, node, decl)
    if inner.type.kind == "pointer":
        whole = address(st, inner, use).plus(pointee_size(inner.type), Const(0, loc=node.loc))
        return member(st, whole, node, decl)
    return member(st, place(st, inner, use), node, decl)


def _named(st: State, node: Node) -> Place:
    decl = node.referenced
    if decl is None:
        raise unsupported(f"'{node.name}'", node.loc)
    if is_index(node):
        axes = [(a, st.declare(f"{decl.name}_{a}", INT, node.loc, settled=True)) for a in ("x", "y", "z")]
        st.emit(*(Assign(v.name, builtin_index(decl.name, a, node.loc), node.loc) for a, v in axes))
        return Parts(decl.name, tuple(axes))
    bound = binding(st, decl, node.loc)
    if isinstance(bound, Moving):
        raise unsupported(f"the pointer '{decl.name}' as a value", node.loc)
    return bound


def binding(st: State, decl: Node, loc: Loc | None) -> Place | Moving:
    """The meaning of a declaration in miniCUDA."""
    if decl.identity not in st.bindings:
        if decl.kind != "VAR_DECL":
            raise unsupported(f"'{decl.name}', of type '{decl.type.name}',", loc)
        st.bindings[decl.identity] = outside(st, decl, loc)
    return st.bindings[decl.identity]


def address(st: State, node: Node, use: Use = "part") -> Address:
    """The value of a pointer, or where an array begins."""
    match node.kind:
        case "PAREN_EXPR":
            return address(st, node.children[-1], use)
        case "CALL_EXPR" if node.type.kind == "pointer":
            given = st.call(st, node, use)
            if isinstance(given, Address):
                return given
        case "DECL_REF_EXPR":
            return _pointer(st, node)
        case "BINARY_OPERATOR" if node.operator in ("+", "-"):
            return _moved(st, node, use)
        case "BINARY_OPERATOR" if node.operator == "=":
            assigned(st, node, within(use))
            return address(st, node.children[0])
        case "UNARY_OPERATOR" if node.operator == "&":
            found = place(st, node.children[0], use)
            if isinstance(found, Address):
                return found
            raise unsupported("the address of a variable", node.loc, "Only array elements have addresses in miniCUDA.")
        case "UNARY_OPERATOR" if node.operator in STEPS:
            return _stepped(st, node)
        case "ARRAY_SUBSCRIPT_EXPR" | "MEMBER_REF_EXPR" | "UNARY_OPERATOR" if node.type.kind in ("array", "pointer"):
            found = place(st, node, use)
            passed = isinstance(found, Address) and not found.terms and not found.path
            if isinstance(found, Address) and (node.type.kind == "array" or passed):
                return found
            raise unsupported("a pointer that is read from memory", node.loc, "Pass it to the kernel as an argument.")
        case kind if kind in CASTS or kind == "CXX_REINTERPRET_CAST_EXPR":
            inner = operand(node)
            if inner is not None and inner.type.kind in ("pointer", "array"):
                return _recast(st, node, inner, use)
            if inner is not None and inner.type.kind == "int":
                raise unsupported("a number as a pointer", node.loc, "Pass the pointer to the kernel.")
    raise unsupported(f"{described(node)} as a pointer", node.loc)


def _recast(st: State, node: Node, inner: Node, use: Use) -> Address:
    found = address(st, inner, use)
    old, new = inner.type.inner, node.type.inner
    whole = found.root in st.dynamic and not found.terms
    alike = same if found.root in st.registers else compatible
    if whole or (old and new and (old.kind == "void" or alike(innermost(old), innermost(new)))):
        return found
    if derives(inner) or derives(node):
        what = f"the conversion from '{inner.type.name}' to '{node.type.name}', one of which has a base class,"
        raise unsupported(what, node.loc, "A base may begin anywhere in what is derived from it: make it a field.")
    if found.root in st.registers:
        if st.registers[found.root].variables:
            raise Spill(st.registers[found.root].loc)
        return found
    if old is None or new is None or not old.size or not new.size:
        advice = "Give the array the type it is read with."
        raise unsupported(f"the cast from '{inner.type.name}' to '{node.type.name}'", node.loc, advice)
    view = f"as_{re.sub(r'[^A-Za-z0-9]+', '_', new.name).strip('_')}"
    st.note(f"'{found.root}{found.path}' is also read as '{new.name}': in runs that is an array of its own")
    return replace(found.plus(min(old.size, new.size), Const(0)), path=f"{found.path}.{view}")


def _pointer(st: State, node: Node) -> Address:
    decl = node.referenced
    if decl is None:
        raise unsupported(f"'{node.name}'", node.loc)
    match binding(st, decl, node.loc):
        case Address() as found:
            return found
        case Moving(_, size, index) as bound:
            return _base(decl, bound, node.loc).plus(size, Var(index, node.loc))
    raise unsupported(f"'{decl.name}' as a pointer", node.loc)


def _base(decl: Node, bound: Moving, loc: Loc | None) -> Address:
    """The array that a pointer variable leads to."""
    if bound.several:
        raise _several(decl, loc)
    if bound.base is None:
        raise CudaError(f"the pointer '{decl.name}' is used before it is assigned", loc)
    return bound.base


def _moved(st: State, node: Node, use: Use) -> Address:
    """pointer + int, int + pointer, pointer - int"""
    left, right = node.children
    check_order(st, node.loc, (left, right))
    pointer, offset = (left, right) if left.type.kind in ("pointer", "array") else (right, left)
    if offset.type.kind in ("pointer", "array"):
        raise unsupported("this operator on pointers", node.loc)
    parts = Unordered(st)
    base, e = parts.part(address(st, pointer, within(use))), parts.part(number(st, offset, within(use)))
    parts.check(node.loc)
    if node.operator == "-":
        e = Const(-e.value) if isinstance(e, Const) and isinstance(e.value, int) else Op("neg", (e,), node.loc)
    return base.plus(pointee_size(node.type), e)


def moving(st: State, node: Node) -> tuple[Node, Moving]:
    """The pointer variable that an assignment changes."""
    target = bare(node)
    decl = target.referenced if target.kind == "DECL_REF_EXPR" else None
    bound = binding(st, decl, node.loc) if decl is not None else None
    if decl is None or not isinstance(bound, Moving):
        raise unsupported("assigning to this pointer", node.loc)
    return decl, bound


def _stepped(st: State, node: Node) -> Address:
    """`p++` and its like, inside an expression."""
    decl, bound = moving(st, node.children[0])
    old: Expr = Var(bound.index, node.loc)
    base = _base(decl, bound, node.loc)
    postfix = node.operator.startswith("x")
    if postfix:
        old = st.saved(old, INT)
    stepped(st, node)
    return base.plus(bound.size, old)


def _several(decl: Node, loc: Loc | None) -> CudaError:
    return unsupported(f"the pointer '{decl.name}' into two arrays", loc, "Use a pointer for each array.")


def point(st: State, decl: Node, bound: Moving, target: Address, loc: Loc | None) -> None:
    """Emit `p = target` for a pointer variable p. To another array only where no loop leads back to before."""
    base = Address(target.root, target.space, (), target.path, target.offset, target.total)
    if bound.several or bound.base not in (None, base):
        if len(st.loops) != bound.loops:
            raise _several(decl, loc)
        st.moved.append(decl.identity)
    st.bindings[decl.identity] = replace(bound, base=base, several=False)
    st.emit(Assign(bound.index, steps(target, bound.size, loc), loc))


def assigned(st: State, node: Node, use: Use) -> None:
    """Emit `p = e`, of a pointer p."""
    left, right = node.children
    found = address(st, right, use)
    decl, bound = moving(st, left)  # a call may have changed it
    point(st, decl, bound, found, node.loc)


def updated(st: State, node: Node, use: Use) -> None:
    """Emit `p += e` or `p -= e`, of a pointer p."""
    left, right = node.children
    _, bound = moving(st, left)
    parts = Unordered(st)
    here = parts.part(Var(bound.index, node.loc))
    steps = parts.part(number(st, right, within(use)))
    parts.check(node.loc)
    st.emit(Assign(bound.index, Op(node.operator.removesuffix("="), (here, steps), node.loc), node.loc))


def stepped(st: State, node: Node) -> None:
    """Emit `p++` and its like, of a pointer p."""
    _, bound = moving(st, node.children[0])
    e = Op(STEPS[node.operator], (Var(bound.index, node.loc), Const(1)), node.loc)
    st.emit(Assign(bound.index, e, node.loc))


def compared(st: State, op: str, left: Node, right: Node, loc: Loc | None, use: Use) -> Expr:
    """The difference or comparison of two pointers into one array: that of their indices. Or whether one is null."""
    pointers = [n for n in (left, right) if not _null(n)]
    if op in ("==", "!=") and len(pointers) == 1 and pointers[0].type.kind in ("pointer", "array"):
        given = not_null(st, pointers[0], use)
        return given if op == "!=" else Op("!", (given,), loc) if isinstance(given, Op) else FALSE
    if op not in ("-", *COMPARISONS) or not all(n.type.kind in ("pointer", "array") for n in (left, right)):
        raise unsupported(f"the operator '{op}' on pointers", loc)
    parts = Unordered(st)
    a, b = parts.part(address(st, left, within(use))), parts.part(address(st, right, within(use)))
    parts.check(loc)
    if (a.root, a.path) != (b.root, b.path):
        raise unsupported("comparing pointers into different arrays", loc)
    size = pointee_size(left.type)
    return Op(op, (steps(a, size, loc), steps(b, size, loc)), loc)


def _innermost(node: Node) -> Node:
    """The operand of parentheses and conversions of all kinds."""
    while node.kind in ("PAREN_EXPR", *CASTS) and (inner := operand(node)) is not None:
        node = inner
    return node


def _null(node: Node) -> bool:
    """Whether an expression is 0, NULL or nullptr."""
    inner = _innermost(node)
    zero = inner.kind == "INTEGER_LITERAL" and inner.evaluate() == 0
    return zero or inner.kind in ("CXX_NULL_PTR_LITERAL_EXPR", "GNU_NULL_EXPR")


def not_null(st: State, node: Node, use: Use = "part") -> Expr:
    """Whether a pointer is one: what the kernel is passed may be null, the same for all threads; all else is not."""
    found = address(st, node, use)
    dropped(st, *(e for _, e in found.terms))
    if found.space != "global" or _innermost(node).type.kind == "array":
        return TRUE
    st.note(f"'{found.root}{found.path}' may be null; in runs it is not")
    number = Const(st.numbered(f"{found.root}{found.path}"))
    return depending("given", [number], BOOL, node.loc)
