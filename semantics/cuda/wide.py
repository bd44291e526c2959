"""Accesses of several elements at once, whatever type the array has that they are in: `float4` of floats, 16 bytes that
are copied, pairs that tensor cores take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd
from typing import Final

from logic.source import Loc
from logic.syntax import INT, Const, Expr, Read, Write
from semantics.cuda.clang import Node
from semantics.cuda.convert import based, called, retyped
from semantics.cuda.ctype import CType, compatible, innermost, scalar
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.places import element, evaluate, frozen, load, store
from semantics.cuda.pointers import address
from semantics.cuda.regions import is_null, is_region
from semantics.cuda.shapes import CASTS, operand
from semantics.cuda.state import Address, State

WORD: Final = CType("base", "float", 4)
"""The type in which bytes are copied that have none."""

ONCE: Final = (4, 8, 16)
"""The bytes that an asynchronous copy takes."""


def cell(
    st: State, at: Address, pointee: CType | None, t: CType, count: int, further: int = 0, bits: bool = False
) -> tuple[Address, CType]:
    """The place of so many elements of a type that are accessed at once, so many bytes `further` than a pointer to
    another type leads. Of `bits` without a type the type is that of the array, if its elements have that size."""
    width = t.size * count
    if bits and count == 1 and pointee is not None and innermost(pointee).size == t.size and scalar(innermost(pointee)):
        t = replace(innermost(pointee), const=False)
    part = gcd(width, further, *(stride for stride, _ in at.terms))
    if is_region(st, at):
        return at.plus(1, Const(further)), t
    of = innermost(pointee) if pointee is not None else None
    if count > 1 or part != width or of is None or not compatible(of, t):
        label = t.name.replace(" ", "_") + (f"x{count}" if count > 1 else "") + (f"_at_{part}" if part != width else "")
        at = replace(at, path=f"{at.path}.as_{label}")
        st.note(f"'{at.root}' is also accessed as '{label}': in runs that is an array of its own")
    return at.plus(part, Const(further // part)), t


def read(st: State, at: Address, t: CType, count: int, loc: Loc | None) -> list[Expr]:
    """The values of so many elements, read at once."""
    type_ = scalar(t) or INT
    if count == 1:
        return [load(st, at, t, loc)]
    array, index = element(st, at, t, loc, t.size * count)
    first = st.saved(Read(array, index, loc), type_)
    of, base = based(first, type_, loc)
    rest = (retyped(called("part", of, [Const(k * t.size)], loc), base, type_, loc) for k in range(1, count))
    return [first, *rest]


def write(st: State, at: Address, t: CType, values: Sequence[Expr], loc: Loc | None) -> None:
    """Emit the write of elements at once."""
    type_ = scalar(t) or INT
    if len(values) == 1:
        store(st, at, values[0], t, loc)
        return
    array, index = element(st, at, t, loc, t.size * len(values))
    first, base = based(values[0], type_, loc)
    st.emit(Write(array, index, retyped(called("pack", first, values[1:], loc), base, type_, loc), loc))


def typed(node: Node) -> Node:
    """A pointer before it was made one to void."""
    while node.kind in CASTS and node.type.inner is not None and node.type.inner.kind == "void":
        inner = operand(node)
        if inner is None or inner.type.kind not in ("pointer", "array"):
            return node
        node = inner
    return node


def copy(st: State, node: Node) -> None:
    """Emit an asynchronous copy, `f(to, from, size, zeros)`, of 4, 8 or 16 bytes from global to shared memory. With
    fewer bytes than it copies, it reads them all."""
    to, source, size, *more = node.arguments
    count, loc = size.evaluate(), node.loc
    if not isinstance(count, int) or count not in ONCE:
        raise unsupported(f"'{node.name}' of a size that is not 4, 8 or 16", loc, "Give the size as a constant.")
    for e in more:
        if e.loc is not None or e.children:  # it is written
            evaluate(st, st.expr(st, e, "part"))
    places = [frozen(st, address(st, typed(p)), "t") for p in (to, source)]
    (target, origin), whole = places, [innermost(typed(p).type.inner or typed(p).type) for p in (to, source)]
    if (
        not isinstance(target, Address)
        or not isinstance(origin, Address)
        or target.root in (*st.registers, *st.pointees)
    ):
        raise unsupported(f"'{node.name}' to a variable", loc)
    if is_null(target) or is_null(origin):
        raise unsupported(f"'{node.name}' of a null pointer", loc, "Copy from an array, or assign what is meant.")
    if (target.space, origin.space) != ("shared", "global"):
        raise CudaError(f"'{node.name}' copies from global to shared memory", loc)
    t = next((replace(w, const=False) for w in whole if w.size == count and scalar(w) is not None), WORD)
    elements = count // t.size
    from_, _ = cell(st, origin, whole[1], t, elements)
    to_, _ = cell(st, target, whole[0], t, elements)
    write(st, to_, t, read(st, from_, t, elements, loc), loc)
    st.note("an asynchronous copy is a read and a write where it is started")
