"""The text of a rule taken apart: its letters, which of its premises say what, and whether a statement fits it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, cast

from checker.kernel import Env
from checker.testbed.programs import kind_of
from logic.derivation import Value
from logic.schema import Rule, Term, kind, metavariables
from logic.syntax import (
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Tid,
    Var,
    While,
    Write,
    same,
    seq,
)
from logic.typing import Signature

Of = TypeVar("Of")


Found = TypeVar("Found")


def _once(f: Callable[[Of], Found]) -> Callable[[Of], Found]:
    """f, asked once for each rule or term: neither ever changes, and as it is kept, its id stays its own."""
    known: dict[int, tuple[Of, Found]] = {}

    def remembered(of: Of) -> Found:
        found = known.get(id(of))
        if found is None:
            found = known[id(of)] = (of, f(of))
        return found[1]

    return remembered


@_once
def letters(t: Term) -> frozenset[str]:
    """The metavariables of a term."""
    return frozenset(metavariables(t))


@_once
def checks(rule: Rule) -> list[tuple[Term, frozenset[str]]]:
    """The side conditions of a rule but for comparisons with 0, each with its letters."""
    return [(t, letters(t)) for t in rule.side_conditions if t.head != "at-least" or t.at(3).head != "zero"]


@_once
def plainness(rule: Rule) -> tuple[int, bool]:
    """Rules about fewer statements first, then those that make something uniform."""
    heads = [t.head for t in rule.items]
    return heads.count("triple"), "uniform" not in heads


@_once
def iterates(rule: Rule) -> bool:
    """Whether the rule's body has to end where the rule begins."""
    c = rule.conclusion
    return any(t.head == "triple" and t.at(4) == c.at(0) for t in rule.premises)


@_once
def turn_of(rule: Rule) -> Term:
    """The premise about the body of a loop."""
    return next(t for t in rule.premises if t.head == "triple" and t.at(4) == rule.conclusion.at(0))


@_once
def absolute(rule: Rule) -> bool:
    """Whether a triple of a rule begins or ends with a potential without a letter, such as 0."""
    return any(
        t.head == "triple" and not any(kind(m) == "potential" for m in letters(t.at(i)))
        for t in (rule.conclusion, *rule.premises)
        for i in (1, 5)
    )


@_once
def ends_in(t: Term) -> list[str]:
    """The letters of the condition at a triple's end."""
    return [m for i in (4, 5, 6) for m in metavariables(t.at(i))] if t.head == "triple" else []


@_once
def in_order(rule: Rule) -> list[str]:
    """The letters of the conditions in a rule: within each, facts and uniform variables before potentials."""
    triples = (*(t for t in rule.premises if t.head == "triple"), rule.conclusion)
    within = (m for t in triples for i in (0, 4) for j in (i, i + 2, i + 1) for m in metavariables(t.at(j)))
    return [m for m in dict.fromkeys((*within, *rule.metavariables)) if kind(m) in CONDITIONS]


CONDITIONS: Final = ("assertion", "variables", "potential")
"""The kinds of letters that conditions are made of."""


HEADS: Final[dict[type, str]] = {
    Var: "local",
    Param: "param",
    Const: "literal",
    Tid: "tid",
    Op: "op",
    Read: "read",
}
"""The names that `logic.schema` gives to expressions."""


@_once
def summands(t: Term) -> list[Term]:
    """The terms that a sum is of."""
    return [*summands(t.at(0)), *summands(t.at(1))] if t.head == "plus" else [t]


def fits(t: Term, value: Stmt | Expr, env: Env, sigma: Signature, cut: Callable[[int], int]) -> bool:
    """Whether a term of a rule fits a statement or an expression; binds its letters. `cut` says how many of n
    statements in sequence are the first part."""

    def bind(letter: str, v: Value) -> bool:
        have = env.setdefault(letter, v)
        if isinstance(v, Skip | Seq | Assign | Write | If | While | Assume):
            return same(cast(Stmt, have), v)
        return have == v

    def array(letter: str, name: str) -> bool:
        space = kind(letter).split()[0]
        return space in ("array", sigma.arrays[name].space) and env.setdefault(letter, name) == name

    def part(i: int, v: Stmt | Expr) -> bool:
        return fits(t.at(i), v, env, sigma, cut)

    match t.head, value:
        case "meta", _:
            return bind(t.name(), cast(Value, value))
        case "skip" | "sync", _:
            return not isinstance(value, Var | Param | Const | Tid | Op | Read) and kind_of(value) == t.head
        case "seq", Seq(stmts):
            i = cut(len(stmts))
            return part(0, seq(*stmts[:i])) and part(1, seq(*stmts[i:]))
        case "assume", Assume(e):
            return part(0, e)
        case "set", Assign(x, e):
            return bind(t.name(0), x) and part(1, e)
        case "write", Write(name, index, e):
            return array(t.name(0), name) and part(1, index) and part(2, e)
        case "if", If(e, s1, s2):
            return part(0, e) and part(1, s1) and part(2, s2)
        case "while", While(e, body):
            return part(0, e) and part(1, body)
        case "local", Var(name):
            return bind(t.name(0), name)
        case "param", Param(name):
            return bind(t.name(0), name)
        case "literal", Const():
            return bind(t.name(0), value)
        case "tid", Tid(axis):
            return bind(t.name(0), axis)
        case "op", Op(op, args) if len(args) == len(t.parts) - 1:
            return bind(t.name(0), op) and all(part(i, a) for i, a in enumerate(args, 1))
        case "read", Read(name, index):
            return array(t.name(0), name) and part(1, index)
    return False
