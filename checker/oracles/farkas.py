"""Arithmetic proofs: exact certificates for `P |- P'` and `Q >= Q'`, which a checker verifies by adding up polynomials.

A goal is a nonnegative rational combination of products of facts (Farkas, Handelman), after splitting on the sign of
what stands inside max(0, .). An LP finds the coefficients, in exact fractions. docs/certificate.md describes the
result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import ceil
from typing import Any, Final

from checker.certificate import expression, potential
from checker.oracles import lp
from logic.assertions import AtLeast, Context, Entails, Obligation, P, launch_facts
from logic.potentials import (
    ZERO,
    Atom,
    Floor,
    Leaf,
    Log2,
    Max0,
    Poly,
    Sym,
    atom,
    atoms,
    const,
    floor_div,
    leaves,
    log2,
    mapped,
    max0,
    of_expr,
    substitute,
)
from logic.syntax import TRUE, Const, Expr, Op, Param, Tid, Type, Var

Json = Any

MAX_SPLITS: Final = 5
MAX_FACTORS: Final = 12


@dataclass(frozen=True, slots=True)
class Fact:
    """A polynomial that is nonnegative, and how the certificate names it."""

    poly: Poly
    name: Json


def proof(obligation: Obligation, context: Context) -> Json:
    """An arithmetic proof of the obligation, or None where there is none of this form (or none was found)."""
    match obligation:
        case AtLeast(p, _, q, r):
            return prove(substitute(q - r, numbers(p, context)), facts(p, context))
        case Entails(p, goal):
            return _entails(p, goal, context)
    return None


def _entails(p: P, goal: P, context: Context) -> Json:
    known = (*p, *launch_facts(context.launch, context.hardware))
    have = None
    entries = []
    for g in goal:
        if g in known:
            entries.append({"goal": expression(g), "literal": True})
            continue
        have = facts(p, context) if have is None else have
        polys = list(differences(g)) if g != TRUE else []
        proofs = [prove(substitute(poly, numbers(p, context)), have) for poly, _ in polys]
        if not polys or None in proofs:
            absurd = _combination(const(-1), _relevant(ZERO, have))
            return None if absurd is None else [{"goal": None, "by": [{"absurd": absurd}]}]
        entries.append({"goal": expression(g), "by": proofs})
    return entries


def numbers(p: P, context: Context) -> dict[Leaf, Poly]:
    """The leaves that P or a launch fact equates with a literal, and with one only."""
    found: dict[Leaf, set[int]] = {}
    for e in (*p, *launch_facts(context.launch, context.hardware)):
        match e:
            case Op("==", (Var() | Param() | Tid() as leaf, Const(int() as value, Type("int")))):
                found.setdefault(leaf, set()).add(value)
    return {leaf: const(min(values)) for leaf, values in found.items() if len(values) == 1}


def facts(p: P, context: Context) -> list[Fact]:
    """Every comparison of integers in P and the launch facts, as polynomials that are nonnegative."""
    known = numbers(p, context)
    return [
        Fact(substitute(poly, known), ["fact", expression(e), sign])
        for e in (*p, *launch_facts(context.launch, context.hardware))
        for poly, sign in differences(e)
    ]


def differences(e: Expr) -> Iterator[tuple[Poly, str]]:
    """The polynomials that a comparison makes nonnegative: `+` for b - a (strict: less 1), `-` for a - b."""
    match e:
        case Op("<" | "<=" | ">" | ">=" | "==", (a, b)):
            p, q = of_expr(a), of_expr(b)
            if p is None or q is None:
                return
            if e.op in ("<", "<=", "=="):
                yield q - p - (1 if e.op == "<" else 0), "+"
            if e.op in (">", ">=", "=="):
                yield p - q - (1 if e.op == ">" else 0), "-"


def prove(goal: Poly, have: list[Fact], cases: int = 0) -> Json:
    """An arithmetic proof of goal >= 0 from the facts, or None."""
    if goal.is_constant and goal.constant >= 0:
        return {"sum": [[str(goal.constant), []]] if goal.terms else []}
    split = _innermost_max(goal)
    if split is not None and cases < MAX_SPLITS:
        return _split(split, goal, have, cases)
    relevant = _relevant(goal, have)
    combination = _combination(goal, relevant)
    if combination is not None:
        return {"sum": combination}
    absurd = _combination(const(-1), relevant)
    if absurd is not None:
        return {"absurd": absurd}
    if cases >= MAX_SPLITS:
        return None
    split = next((s for f in relevant if (s := _innermost_max(f.poly)) is not None), None)
    if split is None:
        split = _rounded(goal, relevant)
    return None if split is None else _split(split, goal, have, cases)


def _rounded(goal: Poly, have: list[Fact]) -> Poly | None:
    """A polynomial f - n or n - f, f a floor in the goal, that the facts let be negative over the rationals only."""
    for a in dict.fromkeys(a for a in atoms(goal) if isinstance(a, Floor)):
        for sign in (1, -1):
            f = atom(a) * sign
            least = _least(f, have)
            if least is not None and least.denominator != 1:
                return f - ceil(least)
    return None


def _least(f: Poly, have: list[Fact]) -> Fraction | None:
    """The largest t such that f - t is a nonnegative combination of the facts."""
    program = _program(f, [const(1), *(fact.poly for fact in have)])
    program.objective = {"0": Fraction(-1)}
    program.free = {"0"}
    solution = lp.solve(program)
    return None if solution is None else solution.get("0", Fraction(0))


def _split(on: Poly, goal: Poly, have: list[Fact], cases: int) -> Json:
    """Replace max(0, on) by its value: where the facts settle the sign of `on`, else in each of the two cases."""
    for name, sign, value in (("arg", on, on), ("zero", on * -1, ZERO)):
        combination = _combination(sign, _relevant(sign, have))
        if combination is not None:
            after = [Fact(replaced(f.poly, on, value), f.name) for f in have]
            then = prove(replaced(goal, on, value), after, cases)
            return None if then is None else {"settle": potential(on), "as": name, "because": combination, "then": then}
    sides = {}
    for side, fact, value in (("yes", on, on), ("no", on * -1 - 1, ZERO)):
        after = [Fact(replaced(f.poly, on, value), f.name) for f in have]
        case = Fact(replaced(fact, on, value), ["case", cases])
        sides[side] = prove(replaced(goal, on, value), [*after, case], cases + 1)
        if sides[side] is None:
            return None
    return {"split": potential(on), **sides}


def _innermost_max(p: Poly) -> Poly | None:
    """The argument of a max(0, .) in p that has no other max inside."""
    return next((a.arg for a in atoms(p) if isinstance(a, Max0)), None)


def replaced(p: Poly, arg: Poly, value: Poly) -> Poly:
    """p with `value` in place of max(0, arg), inside other atoms too, in canonical form again."""

    def image(a: Atom) -> Poly:
        match a:
            case Sym():
                return atom(a)
            case Max0(inner):
                return value if inner == arg else max0(replaced(inner, arg, value))
            case Floor(inner, k):
                return floor_div(replaced(inner, arg, value), k)
            case Log2(inner):
                return log2(replaced(inner, arg, value))

    return mapped(p, image)


def _relevant(goal: Poly, have: list[Fact]) -> list[Fact]:
    """Facts that share leaves with the goal, directly or through other facts, and what max, floor say of themselves."""
    near = set(leaves(goal))
    chosen: dict[int, Fact] = {}
    for _ in range(4):
        for i, f in enumerate(have):
            if i not in chosen and (not near or leaves(f.poly) & near):
                chosen[i] = f
        grown = {x for f in chosen.values() for x in leaves(f.poly)}
        if grown <= near:
            break
        near |= grown
    found = list(chosen.values())
    inside = dict.fromkeys(a for p in (goal, *(f.poly for f in found)) for a in atoms(p))
    for a in inside:
        match a:
            case Max0(arg):
                found.append(Fact(atom(a), ["max0", potential(arg)]))
                found.append(Fact(atom(a) - arg, ["above", potential(arg)]))
            case Floor(arg, k):
                found.append(Fact(arg - atom(a) * k, ["low", potential(arg), k]))
                found.append(Fact(atom(a) * k - arg + (k - 1), ["high", potential(arg), k]))
    return found


def _combination(goal: Poly, have: list[Fact]) -> Json:
    """Coefficients and factors with goal = their sum, coefficients at least 0; None where the LP has no solution."""
    products: list[tuple[Poly, list[Json]]] = [(const(1), []), *((f.poly, [f.name]) for f in have)]
    if any(len(m) > 1 for m, _ in goal.terms):
        first = [f for f in have if f.poly.terms][:MAX_FACTORS]
        products += [(f.poly * g.poly, [f.name, g.name]) for f, g in combinations_with_replacement(first, 2)]
    solution = lp.solve(_program(goal, (p for p, _ in products)))
    if solution is None:
        return None
    return [[str(c), names] for i, (_, names) in enumerate(products) if (c := solution.get(str(i), Fraction(0)))]


def _program(goal: Poly, products: Iterable[Poly]) -> lp.Program:
    rows: dict[object, lp.Row] = {m: {} for m, _ in goal.terms}
    program = lp.Program()
    for i, p in enumerate(products):
        program.objective[str(i)] = Fraction(1)
        for m, c in p.terms:
            rows.setdefault(m, {})[str(i)] = c
    wanted: dict[object, Fraction] = dict(goal.terms)
    program.equations = [(row, wanted.get(m, Fraction(0))) for m, row in rows.items()]
    return program
