"""Sums of what arrays hold: for `for (i = 0; ..; i++) at += len[code[i]];` guesses at how far `at` is after i turns.

Potentials cannot follow a value that was loaded, where no contract names the element, or lanes have different ones. A
range is enough: where each turn adds from 0 to 4, at <= 4*i.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from checker.synthesis.chases import ends_of
from checker.synthesis.counters import moves
from checker.synthesis.guards import distances, uniform_bound
from checker.synthesis.live import Names
from logic.assertions import X
from logic.comparisons import as_expr
from logic.contracts import Contract
from logic.facts import Facts, equations
from logic.potentials import ZERO, Poly, const, floor_div, max0, of_expr, substitute, sym, variables
from logic.syntax import (
    INT,
    Assign,
    Const,
    Expr,
    Op,
    Read,
    Seq,
    Stmt,
    Var,
    While,
    local_vars,
    made_of,
    reads_array,
    sources,
    statements,
    written,
)
from logic.typing import Signature

Span = tuple[Poly | None, Poly | None]
"""The least and the most that a value is; None where that is not known."""


def totals(
    cond: Expr, body: Stmt, facts: Facts, x: X, wanted: Names, sigma: Signature, contracts: Sequence[Contract]
) -> tuple[list[Expr], list[Expr]]:
    """Guesses at what sums among the wanted variables are, by how many turns a loop has had, and has at most, and at
    how these compare; and how they compare where it goes on."""
    changed = written(body)
    starts = {v.name: q for v, e in equations(facts) if not local_vars(e) & changed and (q := of_expr(e)) is not None}
    assigned = [s for s in statements(body) if isinstance(s, Assign)]
    always = [s for s in (body.stmts if isinstance(body, Seq) else (body,)) if isinstance(s, Assign)]
    inside = frozenset[str]().union(*(written(s) for s in statements(body) if isinstance(s, While)))
    values = {s.var: s.value for s in assigned if sum(t.var == s.var for t in assigned) == 1}
    spans: dict[str, list[Span]] = {}
    for own in sorted(wanted & starts.keys() & changed - inside):
        parts = [(_added(own, s.value), s in always) for s in assigned if s.var == own]
        known = [e if one else _maybe(e) for e, one in parts if e is not None]
        if sigma.locals[own] == INT and len(known) == len(parts) and any(_loaded(e, values) for e, _ in parts if e):
            spans[own] = [_span(e, values, contracts) for e in known]
    spans = {
        own: each for own, each in spans.items() if any(_sum(ends) is not None for ends in zip(*each, strict=True))
    }
    counters = [s.var for s in always if s.var in starts.keys() - inside] if spans else []
    had, most = next((t for c in counters if (t := _turns(c, starts[c], cond, body, facts, x, sigma))), (None, []))
    so_far = None if had is None else as_expr(had, bases=True)
    if had is None or so_far is None:
        return [], []
    ends = [e for e in (as_expr(t, bases=True) for t in most) if e is not None]
    found: list[Expr] = [Op("<=", (so_far, end)) for end in ends]
    for own, each in spans.items():
        for op, added in zip((">=", "<="), map(_sum, zip(*each, strict=True)), strict=True):
            told = [] if added is None else [as_expr(starts[own] + added * t, bases=True) for t in (had, *most)]
            found += [Op(op, (Var(own), e)) for e in dict.fromkeys(told) if e is not None]
    return found, [Op("<", (so_far, end)) for end in ends]


def counted(body: Stmt) -> Names:
    """The variables that tests of loops depend on."""
    tests = (x for s in statements(body) if isinstance(s, While) for x in local_vars(s.cond))
    return made_of(tests, sources(statements(body)))


def _turns(
    counter: str, start: Poly, cond: Expr, body: Stmt, facts: Facts, x: X, sigma: Signature
) -> tuple[Poly, list[Poly]] | None:
    """The turns of a loop so far, by its counter, and the most that it has at any lane, by each comparison in its test;
    None where no number is added to it, once a turn."""
    changed, steps = written(body), moves(counter, body) or []
    step = substitute(sum(steps, ZERO), facts.without(changed).constants)
    if len(steps) != 1 or not step.is_constant or not step.constant:
        return None
    way, size = (sym(Var(counter)) - start) * (1 if step.constant > 0 else -1), int(abs(step.constant))
    left = [far + way for far in distances(cond, sigma) if variables(far) & changed == {counter}]
    most = [uniform_bound(p, x, facts) or p for p in left if counter not in variables(p)]
    return way if size == 1 else floor_div(max0(way), size), [floor_div(max0(p) + (size - 1), size) for p in most]


def moved(x: str, e: Expr, contracts: Sequence[Contract]) -> list[Expr]:
    """The least and the most that x is moved by where it is assigned e, if that is not 0."""
    d = _added(x, e)
    ends = dict.fromkeys(() if d is None else _span(d, {}, contracts))
    known = (Const(int(p.constant)) if p.is_constant else as_expr(p) for p in ends if p is not None and p != ZERO)
    return [k for k in known if k is not None]


def _added(x: str, e: Expr) -> Expr | None:
    """The value that is added to x where it is assigned e."""
    match e:
        case Op("+", (Var(own), d)) | Op("+", (d, Var(own))) if own == x and x not in local_vars(d):
            return d
        case Op("-", (Var(own), d)) if own == x and x not in local_vars(d):
            return Op("-", (Const(0), d))
    return None


def _maybe(e: Expr) -> Expr:
    """The value of an expression, or 0."""
    return Op("?:", (Op("<", (Const(0), Const(1))), e, Const(0)))


def _loaded(e: Expr, values: Mapping[str, Expr]) -> bool:
    return reads_array(e) or any(x in values and reads_array(values[x]) for x in local_vars(e))


def _span(e: Expr, values: Mapping[str, Expr], contracts: Sequence[Contract]) -> Span:
    """The range of a value, by its operators, by the values of variables and by what contracts say of elements."""
    match e:
        case Op("&", (_, Const(int() as k)) | (Const(int() as k), _)) if k >= 0:
            return const(0), const(k)
        case Op("int", _):
            return const(0), const(1)
        case Op("%", (_, Const(int() as k))) if k > 0:
            return const(1 - k), const(k - 1)
        case Op("?:" | "+" as op, (*_, a, b)):
            (low, high), (least, most) = (_span(part, values, contracts) for part in (a, b))
            if op == "+":
                return _sum((low, least)), _sum((high, most))
            return _extreme(low, least, up=False), _extreme(high, most, up=True)
        case Op("-", (a, b)):
            (low, high), (least, most) = (_span(part, values, contracts) for part in (a, b))
            return _sum((low, _minus(most))), _sum((high, _minus(least)))
        case Read(array):
            return ends_of(array, contracts)
        case Var(x) if x in values:
            return _span(values[x], {y: v for y, v in values.items() if y != x}, contracts)
    own = None if reads_array(e) or local_vars(e) else of_expr(e)
    return own, own


def _sum(parts: Sequence[Poly | None]) -> Poly | None:
    known = [p for p in parts if p is not None]
    return sum(known, ZERO) if len(known) == len(parts) else None


def _minus(p: Poly | None) -> Poly | None:
    return None if p is None else p * -1


def _extreme(a: Poly | None, b: Poly | None, *, up: bool) -> Poly | None:
    """The larger of two (up), or the smaller, where they differ by a number."""
    if a is None or b is None or not (a - b).is_constant:
        return None
    return a if ((a - b).constant > 0) == up else b
