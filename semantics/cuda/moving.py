"""Variables of a loop that move together: guesses at what holds at its head."""

from __future__ import annotations

from typing import Final

from logic.syntax import Assign, Expr, Op, Var, While, local_vars, statements, subterms, written
from semantics.cuda.modular import Reduced
from semantics.cuda.stores import Store
from semantics.cuda.sums import Sum, leaves, of_expr, plus, product, single

MOST_TOGETHER: Final = 12
"""Facts about variables that move with a loop's counter."""


def together(s: While, at: Store) -> list[Sum]:
    """Variables in terms of a loop's counter, each moved once a turn by what does not change: x - tid.x - n * i == 0 as
    two sums that are not negative; and what is known before it of variables and quotients that change. Guesses: a turn
    shows whether they are so."""
    changed = written(s.body)
    moves: dict[str, list[Sum | None]] = {}
    for t in statements(s.body):
        if isinstance(t, Assign):
            by = _unreduced(t.value)
            moves.setdefault(t.var, []).append(None if by is None else plus(by, single(Var(t.var)), -1))
    steps = {
        x: by[0]
        for x, by in moves.items()
        if len(by) == 1 and by[0] and not any(local_vars(e) & changed for e in leaves(by[0]))
    }
    starts = {x: first for x in sorted(steps) if (first := at.equal(Var(x), changed)) is not None}
    found = []
    for k in sorted(starts.keys() & local_vars(s.cond)):
        step = steps[k].get((), 0)
        if leaves(steps[k]):
            continue
        for x in sorted(starts.keys() - {k}):
            rate = {m: c // step for m, c in steps[x].items() if c % step == 0}
            turns = product(rate, plus(single(Var(k)), starts[k], -1))
            if turns is not None and len(rate) == len(steps[x]):
                apart = plus(plus(single(Var(x)), starts[x], -1), turns, -1)
                found += [apart, plus({}, apart, -1)]
    for atom in subterms(s.cond):
        match atom:
            case Op("!=", (a, b)) if local_vars(atom) & changed:
                one, other = _unreduced(a), _unreduced(b)
                if one is not None and other is not None:
                    sides = (plus(one, other, -1), plus(other, one, -1))
                    found += [d for d in sides if max(at.extremes(d, False)) >= 0]
    found += [fact for fact in at.facts if fact.quotients and fact.names <= changed]
    return found[:MOST_TOGETHER]


def _unreduced(e: Expr) -> Sum | None:
    """The sum that an expression is modulo 2^bits."""
    return of_expr(e, lambda other: _unreduced(other.inner) if isinstance(other, Reduced) else None)
