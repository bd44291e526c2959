"""Loops that halve a number until nothing is left of it: `for (; e > 0; e >>= 1)`.

Where the number is read from memory, its type alone says how often that goes: 32 times for 32 bits. So it is assigned
with the limit that its type has, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from logic.syntax import Assign, Const, Expr, Op, Read, Stmt, Var, While, local_vars, mapped, statements, subterms
from semantics.cuda.modular import Integer, Reduced


def with_limits(body: Stmt, types: Mapping[str, Integer]) -> Stmt:
    """A body in which numbers that loops halve have the limits of their types where they get what is loaded, or a
    function's value."""
    halved = {x for x in _halved(body) if x in types}
    loaded = _loaded(body) if halved else set[str]()

    def limited(x: str, e: Expr) -> Expr:
        if x not in halved or x in local_vars(e) or not _is_loaded(e, loaded):
            return e
        match e:
            case Op("&" | "%" | "min", (_, Const())) if not isinstance(e, Reduced):
                return e  # it has a limit
        t = types[x]
        return Op("min", (e if t.signed else Op("max", (e, Const(0)), e.loc), Const(t.high)), e.loc)

    return mapped(body, assign=limited) if loaded else body


def _halved(body: Stmt) -> Iterator[str]:
    """The variables in tests of loops that are given nothing in their bodies but themselves over a number."""
    for loop in statements(body):
        if isinstance(loop, While):
            given: dict[str, list[Expr]] = {}
            for s in statements(loop.body):
                if isinstance(s, Assign):
                    given.setdefault(s.var, []).append(s.value)
            for x in local_vars(loop.cond) & given.keys():
                if all(_is_part(x, e) for e in given[x]):
                    yield x


def _is_part(x: str, e: Expr) -> bool:
    match e:
        case Reduced():
            return _is_part(x, e.inner)
        case Op("/" | ">>" as op, (Var(name), Const(int(k)))):
            return name == x and k >= (2 if op == "/" else 1)
    return False


def _loaded(body: Stmt) -> set[str]:
    """The variables that may hold what is loaded, or a function's value."""
    found, before = set[str](), -1
    given = [s for s in statements(body) if isinstance(s, Assign)]
    while len(found) > before:
        before = len(found)
        found |= {s.var for s in given if _is_loaded(s.value, found)}
    return found


def _is_loaded(e: Expr, loaded: set[str]) -> bool:
    return any(
        isinstance(t, Read)
        or (isinstance(t, Op) and t.op.startswith("call:"))
        or (isinstance(t, Var) and t.name in loaded)
        for t in subterms(e)
    )
