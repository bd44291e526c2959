"""Expressions and potentials as JSON, as certificates have them (docs/certificate.md)."""

from __future__ import annotations

from typing import Any

from logic.potentials import Apply, Atom, Floor, Leaf, Log2, Max0, Poly, Sym
from logic.syntax import Const, Expr, Op, Param, Read, Tid, Type, Var

Json = Any


def expression(e: Expr) -> Json:
    """An expression as JSON: a list that begins with its kind."""
    match e:
        case Var(name):
            return ["var", name]
        case Param(name):
            return ["param", name]
        case Tid(axis):
            return ["tid", axis]
        case Const(value, type_):
            return ["const", json_type(type_), value]
        case Op(op, args):
            return ["op", op, *(expression(a) for a in args)]
        case Read(array, index):
            return ["read", array, expression(index)]


def potential(q: Poly) -> Json:
    """A potential as JSON: a list of [coefficient, atoms]."""
    return [[str(c), [_atom(a) for a in m]] for m, c in q.terms]


def _atom(a: Atom) -> Json:
    match a:
        case Sym(leaf):
            return expression(leaf)
        case Max0(arg):
            return ["max0", potential(arg)]
        case Floor(arg, k):
            return ["floor", potential(arg), k]
        case Log2(arg):
            return ["log2", potential(arg)]
        case Apply(op, args):
            return ["op", op, *map(potential, args)]


def json_type(t: Type) -> Json:
    return [t.kind, t.name, t.size]


def named_leaves(text: Json) -> set[Leaf]:
    """The leaves that JSON names; or more, where a literal's text looks like one."""
    found, todo = set[Leaf](), [text]
    while todo:
        match todo.pop():
            case ["var", str(name)]:
                found.add(Var(name))
            case ["param", str(name)]:
                found.add(Param(name))
            case ["tid", "x" | "y" | "z" as axis]:
                found.add(Tid(axis))
            case list(parts):
                todo += parts
            case dict(parts):
                todo += parts.values()
    return found
