"""Reads of textures, and reads and writes of surfaces: free, and of values that nothing is known of.

What a texture gives is a function of which texture it is and of where it is read, since no kernel writes one while it
reads it. What a surface gives may be anything at each thread.
"""

from __future__ import annotations

from logic.syntax import INT, Const, Expr
from logic.typing import type_of
from semantics.cuda.clang import Node
from semantics.cuda.convert import based, called, retyped
from semantics.cuda.ctype import CType, scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.library import made_of, numbers, put_scalars, target
from semantics.cuda.places import TIDS, anything, dropped
from semantics.cuda.shapes import bare
from semantics.cuda.state import Place, State


def is_one(callee: Node) -> bool:
    """Whether a function of CUDA reads a texture, or reads or writes a surface."""
    return callee.name.startswith(("tex", "surf"))


def access(st: State, node: Node, callee: Node) -> Expr | Place | None:
    """The value of a read; None where it has no value, or is a write."""
    name, given = callee.name, list(node.arguments)
    surface = name.startswith("surf")
    st.note(f"{'surface reads and writes' if surface else 'texture reads'} cost nothing")
    if name.endswith("write"):
        written = given.pop(0)
        dropped(st, *numbers(st, written))
        dropped(st, *_place(st, given))
        return None
    results = [(n, p) for n, p in zip(given, callee.arguments, strict=True) if n.type.kind == "pointer"]
    places = [target(st, n, (p.type.inner or p.type).size) for n, p in results]
    where = _place(st, [n for n in given if n.type.kind != "pointer"])
    for place, (_, parameter) in zip(places, results, strict=True):
        put_scalars(st, place, parameter, lambda i, t: _value(st, name, where, t, i, node), node.loc)
    if callee.result.kind == "void":
        return None
    return made_of(st, node, lambda i, t: _value(st, name, where, t, i, node))


def _value(st: State, name: str, where: list[Expr], t: CType, i: int | None, node: Node) -> Expr:
    """One scalar of what a read gives, by its number if it is one of several."""
    type_ = scalar(t) or INT
    if name.startswith("surf"):
        return anything(st, name, TIDS, type_, node.loc)
    first, base = based(where[0], type_of(where[0], st.sigma), node.loc)
    rest = where[1:] if i is None else [*where[1:], Const(i)]
    return retyped(called(name, first, rest, node.loc), base, type_, node.loc)


def _place(st: State, given: list[Node]) -> list[Expr]:
    """Which texture it is, and where it is read."""
    texture, *where = given
    if texture.type.kind == "record":
        known = next((n.referenced for n in texture.walk() if n.kind == "DECL_REF_EXPR"), None)
        if known is None:
            raise unsupported("this texture", texture.loc, "Call it by its name.")
        found: list[Expr] = [Const(st.numbered(f"texture {known.identity}"))]
    else:
        found = [expr(st, texture)]
    for n in where:
        if bare(n).kind == "UNEXPOSED_EXPR" and n.loc is None:  # a default argument
            continue
        found += numbers(st, n)
    return found
