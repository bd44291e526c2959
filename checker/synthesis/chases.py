"""Loops that go from element to element: `while (parent[x] != x) x = parent[x];` over a tree, or a list in an array.

The test says nothing of how far x is from its end, but contracts do: where each element is less than its index, or the
test excludes the others, x falls by 1 a turn at least, and what elements are at least bounds how far it may fall.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.synthesis.nodes import Cycle
from logic.assertions import opaque
from logic.comparisons import as_expr
from logic.contracts import BOUND, Contract, elements_in
from logic.facts import Facts, compared
from logic.potentials import Poly, atom, of_expr, sym, variables
from logic.syntax import (
    GHOST,
    INT,
    Assign,
    Const,
    Expr,
    Op,
    Read,
    Stmt,
    Var,
    local_vars,
    reads_array,
    statements,
    subterms,
    written,
)
from logic.typing import Signature


def chased(body: Stmt, sigma: Signature) -> frozenset[str]:
    """The variables to which a loop gives elements of stable arrays, or each other's values, and that are indices of
    such elements."""
    return _chased((x, e) for x, e in _values(body, sigma) if not opaque(e, sigma))


def led_by(array: str, body: Stmt, sigma: Signature) -> bool:
    """Whether a loop goes from element to element of an array, of which contracts may not speak yet."""
    values = [*_values(body, sigma)]
    reads = [t for _, e in values for t in subterms(e) if isinstance(t, Read) and t.array == array]
    return any(local_vars(t.index) & _chased(values) for t in reads)


def _values(body: Stmt, sigma: Signature) -> Iterator[tuple[str, Expr]]:
    return ((s.var, s.value) for s in statements(body) if isinstance(s, Assign) and sigma.locals[s.var] == INT)


def _chased(values: Iterable[tuple[str, Expr]]) -> frozenset[str]:
    own = [*values]
    found = {x for x, e in own if reads_array(e)}
    while more := {x for x, e in own if isinstance(e, Var) and e.name in found} - found:
        found |= more
    inside = {x for _, e in own if reads_array(e) for x in local_vars(e)}
    return frozenset(found) if found & inside else frozenset()


def ranges(names: Iterable[str], contracts: Iterable[Contract]) -> Iterator[Expr]:
    """Guesses at where variables are that get elements: where all elements of an array are, or above its indices."""
    ends = dict.fromkeys(end for c in contracts for q in c.quantities.values() for end in _ends(q))
    for x in sorted(names):
        yield from (Op(op, (Var(x), e)) for op, e in ends)


def _ends(q: Poly) -> Iterator[tuple[str, Expr]]:
    """The least, or the most, that one element is, where a contract says that alone."""
    found = elements_in([q])
    if len(found) != 1:
        return
    own = atom(found[0])
    for op, rest in ((">=", own - q), ("<=", own + q)):
        end = as_expr(rest)
        if not elements_in([rest]) and end is not None and not any(x.startswith(BOUND) for x in variables(rest)):
            yield op, end


def ends_of(array: str, contracts: Iterable[Contract]) -> tuple[Poly | None, Poly | None]:
    """The least and the most that all elements of an array are by contracts, where these say so."""
    found: dict[str, Poly] = {}
    for q in (q for c in contracts if c.arrays == {array} for q in c.quantities.values()):
        for op, e in _ends(q):
            if (end := of_expr(e)) is not None:
                found.setdefault(op, end)
    return found.get(">="), found.get("<=")


def gaps(cycle: Cycle, sigma: Signature) -> Iterator[tuple[Expr, Poly]]:
    """How far the variables of a loop are from the ends of what they may be, each as an expression and as a polynomial
    that is always positive."""
    changed, names = written(cycle.body.stmt), chased(cycle.body.stmt, sigma)
    for leaf, op, e in compared(cycle.invariant.p):
        end = of_expr(e)
        if not (isinstance(leaf, Var) and leaf.name in names and end is not None and local_vars(e).isdisjoint(changed)):
            continue
        if op in (">", ">="):
            yield _plus(Op("-", (leaf, e)), op == ">="), sym(leaf) - end + int(op == ">=")
        elif op in ("<", "<="):
            yield _plus(Op("-", (e, leaf)), op == "<="), end - sym(leaf) + int(op == "<=")


def _plus(e: Expr, one: bool) -> Expr:
    return Op("+", (e, Const(1))) if one else e


def counted(cycle: Cycle, facts: Facts) -> Iterator[Poly]:
    """The ghosts that count how many turns a loop has left, by what P says that is at most these."""
    changed = written(cycle.body.stmt)
    for fact in facts:
        match fact:
            case Op("<=", (e, Var(name) as ghost)) if (
                name.startswith(GHOST) and name in changed & cycle.invariant.x and local_vars(e) & changed
            ):
                yield sym(ghost)
