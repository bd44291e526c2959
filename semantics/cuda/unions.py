"""Unions: the bytes of one thread's are an array of scalars of one size, which each member reads as what it is; where
members have scalars of several sizes, nothing is known of what it holds. In memory each member is at the same place.
"""

from __future__ import annotations

from logic.source import Loc
from logic.syntax import INT, Const
from semantics.cuda.clang import Node
from semantics.cuda.ctype import CType, innermost, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.places import MOST
from semantics.cuda.state import Address, Registers, State


def is_union(node: Node) -> bool:
    """Whether a node, or the elements of an array that it is, has the type of a union."""
    return innermost(node.type).kind == "record" and node.type_decl.kind == "UNION_DECL"


def leaves(decl: Node, at: int = 0) -> list[tuple[int, CType]]:
    """The scalars of a structure or a union, and where they begin; those of a union's members lie over each other.
    Bit-fields are none."""
    found: list[tuple[int, CType]] = []
    for field in decl.fields or tuple(c for c in decl.children if c.kind == "FIELD_DECL"):
        if field.is_bitfield:  # a part of what others are made of
            continue
        begin, t = at + field.field_offset, field.type
        elem = innermost(t)
        for i in range(t.size // max(1, elem.size)):
            if elem.kind == "record":
                found += leaves(field.type_decl, begin + i * elem.size)
            elif elem.kind == "pointer" or scalar(elem) is not None:
                found.append((begin + i * elem.size, elem))
            else:
                raise unsupported(f"the member '{field.name}' of a union", field.loc, "Use variables.")
    return found


def unit(node: Node) -> CType | None:
    """The scalar that a union, or another variable, is an array of: all scalars of its members are as large and lie on
    its elements."""
    found = leaves(node.type_decl) if node.type.kind == "record" else [(0, node.type)]
    whole = [t for _, t in found if t.kind == "int"] or [t for _, t in found]
    size = whole[0].size if whole else 0
    apart = any(t.size != size or at % size or t.kind in ("pointer", "bool") for at, t in found) if size else True
    return None if apart or node.type.size % size or node.type.size > MOST * size else whole[0]


def variable(st: State, name: str, node: Node, loc: Loc | None) -> Address:
    """A union of one thread."""
    own, root = unit(node), st.fresh(name)
    if own is None:
        st.registers[root] = Registers(name, INT, 1, (), loc)
        st.note(f"the union '{name}' of one thread may hold anything, and costs nothing")
        return Address(root, "shared", total=node.type.size)
    type_ = scalar(own) or INT
    names = tuple(st.declare(name, type_, loc, first=i, of=own).name for i in range(node.type.size // own.size))
    st.registers[root] = Registers(name, type_, own.size, names, loc, own)
    return Address(root, "shared", total=node.type.size)


def laid(st: State, decl: Node) -> Address:
    """A variable of one thread that is accessed as another type: its bytes, as those of a union."""
    own, root, size = None if decl.loc in st.plan.spilled else unit(decl), st.fresh(decl.name), decl.type.size
    count = 0 if own is None else size // own.size
    type_ = (None if own is None else scalar(own)) or INT
    names = tuple(st.declare(decl.name, type_, decl.loc, first=i, of=own).name for i in range(count))
    st.registers[root] = Registers(decl.name, type_, 1 if own is None else own.size, names, decl.loc, own)
    if own is None:
        st.note(f"the variable '{decl.name}' is accessed as another type, may hold anything, and costs nothing")
    return Address(root, "shared", total=size)


def scalars(p: Address, node: Node, at: int) -> list[tuple[Address, CType, int]]:
    """The scalars that a union is copied by."""
    own = unit(node)
    if own is None:
        raise unsupported(f"a copy of the union '{node.type_decl.name}'", node.loc, "Use the member that it holds.")
    count = node.type.size // own.size
    return [(p.plus(own.size, Const(i)), own, at + i * own.size) for i in range(count)]
