"""Counters of loops: the numbers that are known, steps, and how often it runs where all is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm, prod
from typing import Final

from checker import limits
from logic.facts import Facts, congruences, unfolded, value_where
from logic.potentials import ZERO, Leaf, Poly, Sym, const, leaves, of_expr, substitute, sym, variables
from logic.syntax import Assign, Const, Expr, Op, Param, Seq, Stmt, Var, local_vars, statements, written
from logic.syntax import substitute as replaced

MAX_SHIFT: Final = 32
"""A shift by more is not taken for a multiplication."""

LARGEST: Final = 1 << 30
"""Factors of a counter that are larger are not looked at."""


def steps(x: str, body: Stmt, facts: Facts) -> set[int]:
    """The numbers by which the body moves x, in states of these facts: |d| for every x <- x + d."""
    known = facts.without(written(body)).constants
    found = set()
    for s in statements(body):
        if isinstance(s, Assign) and s.var == x and (after := of_expr(s.value)) is not None:
            d = substitute(after, known) - sym(Var(x))
            if d.is_constant and d.constant:
                found.add(int(abs(d.constant)))
    return found


def moves(x: str, body: Stmt) -> list[Poly] | None:
    """The increments of x, one for each assignment in the body; None where one does not add, or adds what the body
    changes."""
    changed = written(body)
    found = []
    for s in statements(body):
        if isinstance(s, Assign) and s.var == x:
            after = of_expr(s.value)
            if after is None:
                return None
            d = after - sym(Var(x))
            if any(isinstance(leaf, Var) and leaf.name in changed for leaf in leaves(d)):
                return None
            found.append(d)
    return found


def per_turn(p: Poly, body: Stmt, facts: Facts) -> int | None:
    """The number that one turn takes from p; None where that is no number, or depends on branches."""
    known = facts.without(written(body)).constants
    after: dict[Leaf, Poly] = {}
    for s in body.stmts if isinstance(body, Seq) else (body,):
        if isinstance(s, Assign) and Var(s.var) in leaves(p):
            d = of_expr(s.value)
            if d is None:
                return None
            after[Var(s.var)] = substitute(substitute(d, known), after)
        elif any(Var(x) in leaves(p) for x in written(s)):
            return None
    taken = p - substitute(p, after)
    return int(taken.constant) if taken.is_constant and taken.constant.denominator == 1 else None


def taken(p: Poly, body: Stmt) -> Poly | None:
    """The part of p that each turn takes, in terms of what the body leaves alone, if that moves each variable once."""
    changed, found = written(body), ZERO
    turned = [s for s in (body.stmts if isinstance(body, Seq) else (body,)) if isinstance(s, Assign)]
    for x in sorted(variables(p) & changed):
        d = moves(x, body)
        if d is None or len(d) != 1 or not any(s.var == x for s in turned):
            return None
        found += p - substitute(p, {Var(x): sym(Var(x)) + d[0]})
    return None if variables(found) & changed else found


def modulus(x: str, body: Stmt, facts: Facts) -> int:
    """A number that divides x before the loop and all the body's steps of it, by the coefficients, by what P says of
    residues and by definitions in P; 1 where none is known, 0 where x does not move."""
    known = facts.without(written(body)).constants
    classes: dict[Leaf, int] = {}
    for leaf, k, residue in (c for fact in facts for c in congruences(fact)):
        if isinstance(leaf, Var | Param) and isinstance(k, Const) and isinstance(k.value, int) and residue == Const(0):
            classes[leaf] = lcm(max(1, k.value), classes.get(leaf, 1))

    def divisor(q: Poly) -> int:
        q = substitute(unfolded(q, facts.definitions), known)
        if any(c.denominator > 1 for _, c in q.terms):
            return 1
        parts = [(c, [classes.get(a.leaf, 1) if isinstance(a, Sym) else 1 for a in m]) for m, c in q.terms]
        return gcd(*(int(c) * prod(known) for c, known in parts))

    found = moves(x, body)
    return 1 if found is None else gcd(divisor(sym(Var(x))), *map(divisor, found))


def factor(x: str, body: Stmt, facts: Facts) -> tuple[Fraction, int]:
    """The factor (and c) by which each assignment in the body multiplies x + c, at least if all multiply, at most (then
    below 1) if all divide; 1 where they do neither. In 2*x + 1 it is x + 1 that is doubled, in (x + 1)/2 x - 1 is
    halved."""
    known = facts.without(written(body)).numbers
    named = before(x, body)
    found: set[tuple[Fraction, int]] = set()
    for s in statements(body):
        if isinstance(s, Assign) and s.var == x:
            one = _scaled(x, replaced(s.value, named), known)
            if one is None:
                return Fraction(1), 0
            found.add(one)
    if len({(by > 1, shift) for by, shift in found}) != 1:
        return Fraction(1), 0
    return min(found) if max(found)[0] > 1 else max(found)


def before(x: str, body: Stmt) -> dict[str, Expr]:
    """Values of variables that a turn assigns before x, in terms of x and what it does not change: h = x/2 before x -=
    h."""
    changed = written(body)
    assigned = Counter(s.var for s in statements(body) if isinstance(s, Assign))
    found: dict[str, Expr] = {}
    for s in body.stmts if isinstance(body, Seq) else ():
        if isinstance(s, Assign) and assigned[s.var] == 1 and s.var != x and local_vars(s.value) & changed <= {x}:
            found[s.var] = s.value
        if x in written(s):
            break
    return found


def _scaled(x: str, e: Expr, known: Mapping[Leaf, int]) -> tuple[Fraction, int] | None:
    """By what e multiplies x + c, and c."""
    match e:
        case Op("/" | ">>" as op, (a, b)):
            p, number = _linear(x, a, known), value_where(b, known)
            if p is None or p[0] != 1 or number is None or (op == ">>" and not 0 <= number < MAX_SHIFT):
                return None
            k = 2**number if op == ">>" else number
            return (Fraction(1, k), -p[1] // (k - 1)) if k > 1 and p[1] % (k - 1) == 0 else None
        case Op("-", (Var(own), Op("/" | ">>" as op, (Var(again), b)))) if own == again == x:
            return (Fraction(1, 2), -1) if value_where(b, known) == (2 if op == "/" else 1) else None
    p = _linear(x, e, known)
    return (Fraction(p[0]), p[1] // (p[0] - 1)) if p and p[0] > 1 and p[1] % (p[0] - 1) == 0 else None


def _linear(x: str, e: Expr, known: Mapping[Leaf, int]) -> tuple[int, int] | None:
    """(k, b) where e is k*x + b."""
    p = of_expr(e)
    rest = None if p is None else substitute(p, {leaf: const(number) for leaf, number in known.items()})
    own = sym(Var(x))
    rate = Fraction(0) if rest is None else next((c for m, c in rest.terms if m == own.terms[0][0]), Fraction(0))
    if rest is None or rate.denominator > 1 or rate > LARGEST or not (rest - own * rate).is_constant:
        return None
    b = (rest - own * rate).constant
    return (int(rate), int(b)) if b.denominator == 1 else None


def geometric(cond: Expr, body: Stmt, facts: Facts) -> bool:
    """Whether the loop's counter is multiplied, divided or shifted, so that no linear potential counts its turns."""
    counters = local_vars(cond) & written(body)
    return not any(steps(x, body, facts) for x in counters)


def trips(cond: Expr, body: Stmt, facts: Facts) -> int | None:
    """How often a loop runs from states of these facts, where its counter goes through known numbers; None where it
    does not, or oftener than limits.UNROLLED."""
    changed = written(body)
    start = facts.numbers
    counters = local_vars(cond) & changed
    if len(counters) != 1:
        return None
    counter = Var(next(iter(counters)))
    updates = [s for s in (body.stmts if isinstance(body, Seq) else (body,)) if isinstance(s, Assign)]
    own = [s.value for s in updates if s.var == counter.name]
    everywhere = [s for s in statements(body) if isinstance(s, Assign) and s.var == counter.name]
    if counter not in start or len(own) != 1 or len(everywhere) != 1:
        return None
    known = facts.without(changed).numbers | {counter: start[counter]}
    for turns in range(limits.UNROLLED + 1):
        test, after = value_where(cond, known), value_where(own[0], known)
        if test is None or (test and after is None):
            return None
        if not test or after is None:
            return turns
        known[counter] = int(after)
    return None
