"""Bytes that are moved as they are: `memcpy`, `memmove`, `memset`.

What is moved are scalars: those of the destination, each with what the source has in its bytes. Of a scalar whose bytes
are those of one other scalar its value is known; else it depends on all that it is made of, and may be anything. An
access is one of a scalar, as if the pointers had the types that they have before they are made `void *`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from logic.source import Loc
from logic.syntax import BOOL, INT, Assign, Const, Expr, Op, Type, Var, While, seq
from logic.typing import type_of
from semantics.cuda.clang import Node
from semantics.cuda.convert import zero
from semantics.cuda.ctype import CType, innermost, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.places import bits, depending, frozen, resolved
from semantics.cuda.pointers import address, deliver, fetch, place
from semantics.cuda.records import scalars
from semantics.cuda.regions import null, number, pointed
from semantics.cuda.sequence import Unordered, within
from semantics.cuda.shapes import CASTS, operand
from semantics.cuda.state import Address, Place, State, Use

NAMES: Final = ("memcpy", "memmove", "memset", "__builtin_memcpy", "__builtin_memmove", "__builtin_memset")
MOST: Final = 64
"""The most scalars that are moved one by one; more are moved in a loop."""

Scalar = tuple[Place, CType, int]
"""A scalar's place and type, and where its bytes begin."""


def move(st: State, node: Node, name: str, use: Use) -> None:
    """Emit a call of `memcpy`, `memmove` or `memset`."""
    to, what, count = node.arguments
    size, parts = count.evaluate(), Unordered(st)
    filled = name.endswith("memset")
    if filled:
        value = parts.part(expr(st, what, within(use)))
    if not isinstance(size, int):
        end = parts.part(expr(st, count, within(use)))
        first, t = _pointer(st, to, use, parts)
        second, own = (first, t) if filled else _pointer(st, what, use, parts)
        if not _alike(t, own):
            raise unsupported(f"'{name}' of a number of bytes that is not known", node.loc, "Write a loop.")
        parts.check(node.loc)
        count_ = Op("/", (end, Const(t.size)), node.loc)
        _loop(st, first, second, (t, own), count_, st.saved(value, INT) if filled else None, node.loc)
        return
    targets = parts.part(_extent(st, to, size, use))
    sources = [] if filled else parts.part(_extent(st, what, size, use))
    parts.check(node.loc)
    if len(targets) > MOST or len(sources) > MOST:
        first, t = _pointer(st, to, use, Unordered(st))
        second, own = (first, t) if filled else _pointer(st, what, use, Unordered(st))
        if not _alike(t, own) or size % t.size:
            raise unsupported(f"'{name}' of so many bytes", node.loc, "Write a loop.")
        byte = st.saved(value, INT) if filled else None
        _loop(st, first, second, (t, own), Const(size // t.size), byte, node.loc)
        return
    if filled:
        byte = st.saved(value, type_of(value, st.sigma))
        found = [_filled(st, byte, t, node.loc) for _, t, _ in targets]
    else:
        read = [(_read(st, p, t, node.loc), t, at) for p, t, at in sources if at < size]
        found = [_from(st, read, t, at, node.loc) for _, t, at in targets]
    for (p, t, at), made in zip(targets, found, strict=True):
        if at + t.size > size:
            raise unsupported(f"'{name}' of a part of a '{t.name}'", node.loc, "Move all of it.")
        deliver(st, p, made, t, node.loc)


def _alike(a: CType, b: CType) -> bool:
    """Whether two types are of scalars of one size."""
    return scalar(a) is not None and scalar(b) is not None and a.size == b.size


def _inner(pointer: Node) -> Node:
    """A pointer before it is made one to something else."""
    while pointer.kind in ("PAREN_EXPR", "CXX_REINTERPRET_CAST_EXPR", *CASTS):
        inner = operand(pointer)
        if inner is None or inner.type.kind not in ("pointer", "array"):
            return pointer
        pointer = inner
    return pointer


def _pointer(st: State, pointer: Node, use: Use, parts: Unordered) -> tuple[Address, CType]:
    """The place to which a pointer leads, and the scalars that are there in a row."""
    inner = _inner(pointer)
    t = innermost(inner.type.inner or inner.type) if inner.type.kind == "pointer" else innermost(inner.type)
    found = frozen(st, parts.part(address(st, inner, within(use))), "t")
    if not isinstance(found, Address):
        raise unsupported("this pointer", pointer.loc)
    return found, t


def _extent(st: State, pointer: Node, size: int, use: Use) -> list[Scalar]:
    """The scalars in as many bytes from where a pointer leads."""
    inner = _inner(pointer)
    whole: Place
    if inner.kind == "UNARY_OPERATOR" and inner.operator == "&":
        whole, t, decl = place(st, inner.children[0], within(use)), inner.children[0].type, inner.children[0].type_decl
    elif inner.type.kind == "array":
        whole, t, decl = address(st, inner, within(use)), inner.type, inner.type_decl
    else:
        whole, t, decl = address(st, inner, within(use)), inner.type.inner or inner.type, inner.pointee_decl
    whole = resolved(st, frozen(st, whole, "t"))
    if not t.size:
        raise unsupported(f"bytes of a '{t.name}'", pointer.loc, "Give the pointer a type of its own.")
    starts = [(whole.plus(t.size, Const(0)) if isinstance(whole, Address) else whole, 0)]
    if isinstance(whole, Address):
        count = -(-size // t.size)
        starts += [(whole.plus(t.size, Const(i)), i * t.size) for i in range(1, min(count, MOST + 1))]
    return [part for p, at in starts for part in _parts(st, p, t, decl, at, pointer.loc) if part[2] < size]


def _parts(st: State, p: Place, t: CType, decl: Node, at: int, loc: Loc | None) -> list[Scalar]:
    """The scalars of a value of a type at a place."""
    if t.kind == "array" and t.inner is not None and isinstance(p, Address):
        inner = t.inner
        count = min(t.size // max(1, inner.size), MOST + 1)
        starts = [(p.plus(inner.size, Const(i)), at + i * inner.size) for i in range(count)]
        return [part for q, begin in starts for part in _parts(st, q, inner, decl, begin, loc)]
    if t.kind == "record":
        return scalars(st, p, decl, at)
    return [(p, t, at)]


def _read(st: State, p: Place, t: CType, loc: Loc | None) -> Expr | Address:
    value = fetch(st, p, t, loc)
    return value if isinstance(value, Address) else st.saved(value, scalar(t) or INT)


def _from(
    st: State, read: Sequence[tuple[Expr | Address, CType, int]], t: CType, at: int, loc: Loc | None
) -> Expr | Address:
    """The value of a scalar from what is read of its bytes."""
    parts = [(e, own, begin) for e, own, begin in read if begin < at + t.size and at < begin + own.size]
    if len(parts) == 1 and (parts[0][1].size, parts[0][2]) == (t.size, at):
        e, own, _ = parts[0]
        if isinstance(e, Address) and t.kind == "pointer":
            return e
        if not isinstance(e, Address) and t.kind != "pointer":
            return bits(e, own, t, loc)
    on = [number(st, e, 1, loc) if isinstance(e, Address) else e for e, _, _ in parts]
    value = depending("bytes", on, scalar(t) or INT, loc)
    return pointed(st, value, t.inner) if t.kind == "pointer" else value


def _filled(st: State, byte: Expr, t: CType, loc: Loc | None) -> Expr | Address:
    """A scalar of which each byte is the same."""
    if t.kind == "pointer" and byte == Const(0):
        return null(st)
    return _repeated(byte, t, scalar(t) or INT, loc)


def _repeated(byte: Expr, t: CType, type_: Type, loc: Loc | None) -> Expr:
    if byte == Const(0):
        return zero(type_, loc)
    if isinstance(byte, Const) and isinstance(byte.value, int) and type_ == INT:
        value = int.from_bytes(bytes([byte.value & 255]) * t.size, "little", signed=t.signed)
        return Const(value, INT, loc)
    return depending("bytes", [byte], type_ if type_ != BOOL else BOOL, loc)


def _loop(
    st: State,
    to: Address,
    source: Address,
    types: tuple[CType, CType],
    count: Expr,
    byte: Expr | None,
    loc: Loc | None,
) -> None:
    """`for (i = 0; i < count; i++) to[i] = from[i];`"""
    t, own = types
    i, end = st.declare("i", INT, loc), st.saved(count, INT)
    at: Expr = Var(i.name, loc)
    with st.captured() as turn:
        here = to.plus(t.size, at)
        if byte is None:
            deliver(st, here, _from(st, [(_read(st, source.plus(t.size, at), own, loc), own, 0)], t, 0, loc), t, loc)
        else:
            deliver(st, here, _filled(st, byte, t, loc), t, loc)
        st.emit(Assign(i.name, Op("+", (at, Const(1)), loc), loc))
    st.emit(Assign(i.name, Const(0), loc), While(Op("<", (at, end), loc), seq(*turn), loc))
