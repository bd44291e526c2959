"""Functions and structures of CUDA's libraries of which the headers give no more than a declaration.

A function of numbers and structures to one of these is a pure function: each scalar of its value depends on all scalars
of its arguments. What only puts scalars together or takes them apart, and arithmetic on pairs of halves, is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from logic.source import Loc
from logic.syntax import INT, Const, Expr, Op, reads_array
from logic.typing import type_of
from semantics.cuda.clang import Node
from semantics.cuda.classes import is_virtual, odd
from semantics.cuda.convert import based, called, common, convert, retyped
from semantics.cuda.ctype import CType, innermost, scalar
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.places import TIDS, anything, evaluate, frozen, resolved, store
from semantics.cuda.pointers import address, located, place
from semantics.cuda.records import declared, fields, set_parts, values
from semantics.cuda.regions import number
from semantics.cuda.scan import owner
from semantics.cuda.sequence import Unordered
from semantics.cuda.shapes import bare
from semantics.cuda.shim import OPERATORS
from semantics.cuda.state import Address, Place, State, Use

_PAIRS: Final = {
    f"{before}{name}{after}": which
    for t in ("half", "bfloat16")
    for before, name, after, which in (
        ("__low2", t, "", (0,)), ("__high2", t, "", (1,)), ("__low2", t, "2", (0, 0)), ("__high2", t, "2", (1, 1)),
        ("__lows2", t, "2", (0, 2)), ("__highs2", t, "2", (1, 3)), ("__halves2", t, "2", (0, 1)),
        ("__float2", t, "2_rn", (0, 0)), ("__floats2", t, "2_rn", (0, 1)), ("__float22", t, "2_rn", (0, 1)),
        ("make_", t, "2", (0, 1)),
    )
}  # fmt: skip
PICKED: Final[dict[str, tuple[int, ...]]] = {
    **_PAIRS, "__half2half2": (0, 0), "__bfloat162bfloat162": (0, 0), "__half22float2": (0, 1),
    "__bfloat1622float2": (0, 1), "__low2float": (0,), "__high2float": (1,), "__lowhigh2highlow": (1, 0),
}  # fmt: skip
"""Functions whose value is made of scalars of their arguments, and which of them."""

_OPERATORS: Final = {
    ("operator+", 2): "__hadd2", ("operator-", 2): "__hsub2", ("operator*", 2): "__hmul2", ("operator/", 2): "__h2div",
    ("operator+", 1): "make_same", ("operator-", 1): "__hneg2", ("operator==", 2): "__hbeq2",
    ("operator!=", 2): "__hbneu2", ("operator<", 2): "__hblt2",
    ("operator<=", 2): "__hble2", ("operator>", 2): "__hbgt2",
    ("operator>=", 2): "__hbge2", ("operator+=", 2): "__hadd2", ("operator-=", 2): "__hsub2",
    ("operator*=", 2): "__hmul2", ("operator/=", 2): "__h2div",
}  # fmt: skip
"""Operators on pairs of halves, by the functions that are the same."""

_ON_BOTH: Final = {f"__h{f}2": f"__h{f}" for f in ("add", "sub", "mul", "neg", "abs", "max", "min")} | {
    "__h2div": "__hdiv"
}
"""Functions of pairs of halves that do the same on both, and the function of halves that they do."""


Part = Callable[[int | None, CType], Expr]
"""A scalar of a structure, by its number and type, or the only one."""


def method(st: State, node: Node, callee: Node) -> Expr | Place:
    """The value of a method of a structure that has no body, such as a conversion: a function of its scalars."""
    member = next((c for c in node.children[0].walk() if c.kind == "MEMBER_REF_EXPR"), None) if node.children else None
    given = None if member is None else owner(member)
    if given is None or given.type.kind != "record" or callee.is_static or callee.result.kind in ("reference", "void"):
        raise unsupported(f"the method '{callee.name}'", node.loc)
    what = callee.name.replace("operator ", "to ")
    name = re.sub(r"\W+", "_", f"{what}_of_{given.type.name}").strip("_")
    return result(st, node, name, [_scalars(st, given), *(_scalars(st, a) for a in node.arguments)])


def takes_structures(node: Node) -> bool:
    """Whether a call has a structure for an argument or for its value."""
    return "record" in (node.type.kind, *(a.type.kind for a in node.arguments))


def of_structures(st: State, node: Node, callee: Node) -> Expr | Place:
    """The value of a function of structures, such as half2, or to one."""
    name = _OPERATORS.get((callee.name, len(node.arguments)), callee.name)
    if callee.name.startswith("operator") and callee.result.kind == "reference":
        target, _ = located(st, node.arguments[0])
        found = _parts(st, node, name, [_scalars(st, a) for a in node.arguments])
        set_parts(st, target, [*found], node)
        return target
    return result(st, node, name, [_scalars(st, a) for a in node.arguments])


def constructed(st: State, node: Node, callee: Node) -> Expr | Place:
    """The structure that a constructor without a body makes: its scalars one by one, where there are as many."""
    alike = [p.type.name for p in callee.arguments] == [f.type.name for f in fields(node)]
    name = re.sub(r"\W+", "_", f"{'make' if alike else 'converted_to'}_{callee.name}").strip("_")
    return result(st, node, name, [_scalars(st, a) for a in node.arguments])


def unknown(st: State, node: Node, callee: Node, use: Use) -> Expr | Place | None:
    """The value of a function that has no body in the file: any. Raises for one that may get at memory by what it
    is passed."""
    if callee.kind != "FUNCTION_DECL" or not all(map(_harmless, (node, *callee.arguments, *node.arguments))):
        problem = f"the function '{callee.name}' has no body in this file"
        raise CudaError(problem, node.loc, "Include its definition.")
    parts = Unordered(st)
    given = [e for a in node.arguments for e in parts.part([e for e, _ in _scalars(st, a)])]
    parts.check(node.loc)
    st.note(f"'{callee.name}' has no body here: it gives any value, accesses no memory, waits for none, costs nothing")
    if node.type.kind == "void" or use == "statement":
        for e in given:
            evaluate(st, e)
        return None
    name = f"unknown_{re.sub(r'[^A-Za-z0-9_]+', '_', callee.name)}"
    return made_of(st, node, lambda _, t: anything(st, name, [*TIDS, *given], scalar(t) or INT, node.loc))


def _harmless(node: Node) -> bool:
    """Whether a value has no part that leads to memory."""
    if node.type.kind == "record":
        return not (odd(node) or is_virtual(node.type_decl)) and all(map(_harmless, node.fields))
    return node.type.kind == "void" or (scalar(innermost(node.type)) is not None and node.type.kind != "reference")


def numbers(st: State, node: Node) -> list[Expr]:
    """The values of an argument's scalars."""
    return [e for e, _ in _scalars(st, node)]


def _scalars(st: State, node: Node) -> list[tuple[Expr, CType]]:
    """The scalars of an argument, with their types."""
    if node.type.kind != "record":
        return [(expr(st, node), node.type)]
    parts = [number(st, e, 1, node.loc) if isinstance(e, Address) else e for e in values(st, node)]
    return list(zip(parts, types_in(node), strict=True))


def types_in(node: Node) -> list[CType]:
    """The types of the scalars of a structure."""
    found: list[CType] = []
    for field in fields(node):
        t, elem = field.type, innermost(field.type)
        found += types_in(field) if t.kind == "record" else [elem] * (t.size // elem.size if t.kind == "array" else 1)
    return found


def result(st: State, node: Node, name: str, args: Sequence[Sequence[tuple[Expr, CType]]]) -> Expr | Place:
    """The value of a function of scalars to a scalar, or to a structure."""
    found = _parts(st, node, name, args)
    return made_of(st, node, lambda i, _: found[i or 0])


def made_of(st: State, node: Node, part: Part) -> Expr | Place:
    """A scalar, or the structure, of a node's type, by its scalars; those of a structure have numbers."""
    if node.type.kind != "record":
        return part(None, node.type)
    made = declared(st, "t", node, settled=True)
    set_parts(st, made, [part(i, t) for i, t in enumerate(types_in(node))], node)
    return made


def put_scalars(st: State, where: Place, pointer: Node, part: Part, loc: Loc | None) -> None:
    """Emit the assignment of what the parameter `pointer` points to, at a place."""
    t = pointer.type.inner or pointer.type
    if t.kind != "record":
        store(st, where, part(None, t), t, loc)
        return
    whole = pointer.pointee_decl
    set_parts(st, where, [part(i, u) for i, u in enumerate(types_in(whole))], whole, loc)


def clamped(e: Expr, t: CType, loc: Loc | None) -> Expr:
    """The value of a conversion to an integer type of 8 or 16 bits: its nearest number."""
    if t.size > 2:
        return e
    low = -(1 << 8 * t.size - 1) if t.signed else 0
    return Op("min", (Op("max", (e, Const(low)), loc), Const(low + (1 << 8 * t.size) - 1)), loc)


def target(st: State, pointer: Node, size: int) -> Place:
    """The place to which a pointer leads, whatever changes after this."""
    inner = bare(pointer)
    own = inner.kind == "UNARY_OPERATOR" and inner.operator == "&"
    found = place(st, inner.children[0]) if own else address(st, pointer).plus(size, Const(0))
    return resolved(st, frozen(st, found, "t"))


def _parts(st: State, node: Node, name: str, args: Sequence[Sequence[tuple[Expr, CType]]]) -> list[Expr]:
    """The scalars of a function's value."""
    types = types_in(node) if node.type.kind == "record" else [node.type]
    flat = [one for arg in args for one in arg]
    which = PICKED.get(name, tuple(range(len(flat))) if name.startswith("make_") and len(flat) == len(types) else None)
    if which is not None:
        return [convert(flat[i][0], flat[i][1], t, node.loc) for i, t in zip(which, types, strict=True)]
    if (own := _ON_BOTH.get(name)) and all(len(arg) == len(types) for arg in args):
        return [_both(own, [arg[i] for arg in args], t, node.loc) for i, t in enumerate(types)]
    if name.startswith("operator"):
        raise unsupported(f"the operator '{name.removeprefix('operator')}' on a '{node.type.name}'", node.loc)
    given = [e for e, _ in flat]
    if len(types) > 1:  # what is read is read once
        given = [st.saved(e, type_of(e, st.sigma)) if reads_array(e) else e for e in given]
    first, base = based(given[0], type_of(given[0], st.sigma), node.loc)
    rest = given[1:]
    numbers: list[list[Expr]] = [[Const(i)] for i in range(len(types))] if node.type.kind == "record" else [[]]
    made = [called(name, first, [*rest, *number], node.loc) for number in numbers]
    return [retyped(e, base, scalar(t) or INT, node.loc) for e, t in zip(made, types, strict=True)]


def _both(name: str, args: Sequence[tuple[Expr, CType]], t: CType, loc: Loc | None) -> Expr:
    """A function of halves that is an operator."""
    op = OPERATORS[name]
    e = Op(op, tuple(convert(e, own, t, loc) for e, own in args), loc)
    return convert(e, common(t, t), t, loc) if op in ("+", "-", "*", "/") else e
