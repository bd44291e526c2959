"""Guesses at invariants of loops: candidates, of which those are kept that prove inductive."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from checker import limits
from checker.synthesis.counters import factor, modulus, moves, steps
from checker.synthesis.nodes import State
from logic.assertions import P, conj, opaque
from logic.comparisons import as_expr
from logic.facts import Facts, equations, solutions
from logic.potentials import Leaf, Poly
from logic.syntax import INT, Assign, Const, Expr, If, Op, Seq, Stmt, Var, local_vars, statements, substitute, subterms
from logic.typing import Signature


def _solved(fact: Expr, changed: frozenset[str], sigma: Signature) -> Iterator[Expr]:
    """An equation solved for a variable that the loop changes, such as x == n + 1 for x - 1 == n."""
    match fact:
        case Op("==", (a, _)) if not isinstance(a, Var) and not opaque(fact, sigma):
            for leaf, rest in sorted(solutions(fact), key=lambda solution: solution[0].name):
                value = as_expr(rest)
                if leaf.name in changed and value is not None:
                    yield Op("==", (leaf, value))


def _equations(p: P, changed: frozenset[str], sigma: Signature) -> Iterator[tuple[Leaf, Expr]]:
    """The equations of P, as they are and solved for what the loop changes."""
    return equations((*p, *(solved for c in p for solved in _solved(c, changed, sigma))))


def orders(cond: Expr, changed: frozenset[str]) -> Iterator[tuple[Expr, Expr]]:
    """Tests for a difference as orders, where it is known which side is the larger: a < b, given a <= b."""
    for atom in subterms(cond):
        match atom:
            case Op("!=", (a, bound)) if local_vars(a) & changed and not local_vars(bound) & changed:
                yield from ((Op(op, (a, bound)), Op(f"{op}=", (a, bound))) for op in "<>")


def together(cond: Expr, body: Stmt, state: State, changed: frozenset[str], sigma: Signature) -> Iterator[Expr]:
    """Guesses at what a variable that differs between lanes is by a counter that does not, where each moves by a fixed
    amount a turn: p == tid.x + 32*(j - 0) for `p = tid.x; for (j = 0; ..; j++) {..; p += 32;}`."""
    starts: dict[str, Expr] = {}
    for leaf, e in _equations(state.p, changed, sigma):
        if leaf.name in changed and not local_vars(e) & changed and not opaque(e, sigma):
            starts.setdefault(leaf.name, e)
    for own in sorted(starts.keys() - state.x):
        for counter in sorted(starts.keys() & local_vars(cond) & state.x):
            if (rate := _rate(moves(own, body), moves(counter, body))) is not None:
                turns = Op("*", (rate, Op("-", (Var(counter), starts[counter]))))
                yield Op("==", (Var(own), Op("+", (starts[own], turns))))
                break


def left_alone(p: P, changed: frozenset[str], sigma: Signature) -> Iterator[Expr]:
    """Equations of variables that a loop leaves alone, with definitions in place of what it changes: o == tid.x - n for
    o == p - n and p == tid.x, in front of a loop that moves p."""
    known = {
        leaf.name: e
        for leaf, e in _equations(p, changed, sigma)
        if leaf.name in changed and not local_vars(e) & changed and len([*subterms(e)]) <= limits.DEFINITION
    }
    for leaf, e in equations(p):
        moved = local_vars(e) & changed
        if moved and leaf.name in sigma.locals and leaf.name not in changed and moved <= known.keys():
            value = substitute(e, known)
            if not opaque(value, sigma) and leaf.name not in local_vars(value):
                yield Op("==", (leaf, value))


def _rate(own: list[Poly] | None, counter: list[Poly] | None) -> Expr | None:
    """The distance that the one moves while the other moves by 1, where both are assigned once."""
    if own is None or counter is None or not len(own) == len(counter) == 1 or not counter[0].is_constant:
        return None
    return as_expr(own[0] * (1 / counter[0].constant)) if counter[0].constant else None


def invariants(cond: Expr, body: Stmt, p: P, changed: frozenset[str], sigma: Signature, facts: Facts) -> list[Expr]:
    """Candidate invariants: facts that held before, a variable against where it started, its residue by its step, and
    what a turn makes it of."""
    guesses: dict[Expr, None] = {c: None for c in p if local_vars(c) & changed}
    for leaf, start in _equations(p, changed, sigma):
        if leaf.name in changed and sigma.locals[leaf.name] == INT and not local_vars(start) & changed:
            guesses |= {Op(op, (leaf, start)): None for op in (">=", "<=")}
            for step in sorted(steps(leaf.name, body, Facts(p))):
                if isinstance(start, Const) and isinstance(start.value, int) and step > 1 and start.value >= 0:
                    residue = Op("%", (leaf, Const(step)))
                    guesses[Op("==", (residue, Const(start.value % step)))] = None
    for name in sorted(changed & local_vars(cond)):
        if sigma.locals[name] == INT and factor(name, body, facts)[0] < 1:
            guesses[Op(">=", (Var(name), Const(0)))] = None
    for name in sorted(changed):
        if sigma.locals[name] == INT and (k := modulus(name, body, facts)) > 1:
            residue = Op("%", (Var(name), Const(gcd(k, limits.MODULUS))))
            guesses[Op("==", (residue, Const(0)))] = None
    for atom in subterms(cond):
        match atom:
            case Op("<" | ">" as op, (Var() as v, bound)) if v.name in changed and not local_vars(bound) & changed:
                guesses[Op(f"{op}=", (v, bound))] = None
    guesses |= {weak: None for _, weak in orders(cond, changed)} | dict.fromkeys(_made(cond, body, changed, sigma))
    return list(guesses)


def _made(cond: Expr, body: Stmt, changed: frozenset[str], sigma: Signature) -> Iterator[Expr]:
    """The copies of what it changes that a turn sets variables to which it tests, y == x, and the quotients of it that
    it sets variables of its own test to, y == x/32."""
    inside = (local_vars(s.cond) for s in statements(body) if isinstance(s, If))
    tested = local_vars(cond).union(*inside)
    for s in body.stmts if isinstance(body, Seq) else ():
        if isinstance(s, Assign) and s.var in tested and s.var not in local_vars(s.value):
            quotient = any(isinstance(t, Op) and t.op in ("/", ">>") for t in subterms(s.value))
            wanted = s.var in local_vars(cond) if quotient else isinstance(s.value, Var)
            if wanted and local_vars(s.value) & changed and not opaque(s.value, sigma):
                yield Op("==", (Var(s.var), s.value))


def passed(body: Stmt, changed: frozenset[str], sigma: Signature) -> Iterator[Expr]:
    """Candidate invariants by the tests of a body for equality, which a loop that they end may not pass."""
    for s in statements(body):
        if isinstance(s, If):
            for test in conj((s.cond,), sigma):
                match test:
                    case Op("==" | "!=", (Var(x) as v, bound) | (bound, Var(x) as v)) if (
                        x in changed and sigma.locals[x] == INT and not local_vars(bound) & changed
                    ) and not opaque(bound, sigma):
                        yield from (Op(op, (v, bound)) for op in ("<=", ">="))
