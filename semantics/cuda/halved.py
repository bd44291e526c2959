"""Loops that halve a number until nothing is left of it: `for (; e > 0; e >>= 1)`.

Where the number is read from memory, its type alone says how often that goes: 32 times for 32 bits. So it is assigned
with the limit that its type has, which changes nothing. One that P cannot speak of, as `1 << (32 - __clz(n))`, is
assigned first, and then itself with that limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from logic.syntax import Assign, Const, Expr, If, Op, Read, Seq, Stmt, Var, While, local_vars, seq, statements, subterms
from semantics.cuda.modular import Integer, Reduced


def with_limits(body: Stmt, types: Mapping[str, Integer]) -> Stmt:
    """A body in which numbers that loops halve have the limits of their types where they get what is loaded, a
    function's value, or a shift by no number."""
    halved = {x for x in _halved(body) if x in types}
    loaded = _loaded(body) if halved else set[str]()

    def limited(s: Stmt) -> Stmt:
        match s:
            case Seq(stmts):
                return seq(*map(limited, stmts))
            case If(_, then, orelse):
                return replace(s, then=limited(then), orelse=limited(orelse))
            case While(_, inner):
                return replace(s, body=limited(inner))
            case Assign(x, e) if x in halved and x not in local_vars(e):
                if _is_unsaid(e):
                    return seq(s, Assign(x, _limited(Var(x, s.loc), types[x], _is_power(e)), s.loc))
                return Assign(x, _limited(e, types[x]), s.loc) if _is_loaded(e, loaded) else s
        return s

    return limited(body) if halved else body


def _limited(e: Expr, t: Integer, positive: bool = False) -> Expr:
    """A value with the limits of its type, and where it is known to be at least 0 with that."""
    match e:
        case Op("&" | "%" | "min", (_, Const())) if not isinstance(e, Reduced):
            return e  # it has a limit
    low = Op("max", (e, Const(0)), e.loc) if positive or not t.signed else e
    return Op("min", (low, Const(t.high)), e.loc)


def _is_unsaid(e: Expr) -> bool:
    """Whether a value is that of a shift to the left by no number."""
    match e:
        case Reduced():
            return _is_unsaid(e.inner)
        case Op("<<", (_, count)):
            return not isinstance(count, Const)
    return False


def _is_power(e: Expr) -> bool:
    """Whether a shift is of a number that is not negative."""
    match e:
        case Op("<<", (Const(int(k)), _)):
            return k >= 0
    return False


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
