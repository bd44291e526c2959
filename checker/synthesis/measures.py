"""How far loops are from their ends: the base functions that a loop's test gives for the potential at its head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Final, NamedTuple

from checker.kernel import updated
from checker.synthesis import chases
from checker.synthesis.counters import before, factor, moves, per_turn, steps, taken
from checker.synthesis.guards import added, by_turns, gaps, sized, some, uniform_bound
from checker.synthesis.lanewise import most
from checker.synthesis.nodes import Cycle, Setting, Step, opening
from checker.synthesis.unrounded import unrounded
from logic.assertions import Context, conj, opaque
from logic.facts import Facts, said
from logic.potentials import (
    Apply,
    Log2,
    Poly,
    atoms,
    ceil_div,
    const,
    floor_div,
    leaves,
    log2,
    max0,
    minimum,
    operated,
    sym,
    variables,
)
from logic.syntax import Assign, Assume, Expr, Var, statements, written
from logic.syntax import substitute as replaced


@dataclass(frozen=True, slots=True, eq=False)
class _Loop:
    """A loop, the same where it is the same node."""

    node: Cycle

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Loop) and self.node is other.node

    def __hash__(self) -> int:
        return id(self.node)


class Sort(NamedTuple):
    """The measures that are looked for."""

    wide: bool = False
    quotients: bool = True
    """By steps that are no number: it takes much to show that they fall."""


USUAL: Final = Sort()


def measures(node: Cycle, context: Context, sort: Sort = USUAL) -> list[Poly]:
    """How far a loop's guard is from failing, as base functions: the number of steps that are left, max(0, ceil((b - a)
    / step)) for a < b, where the size of steps is known, or the least one; the same by a step that is no number, as a
    quotient; |[a, b]| where it is not known, or 1, and if wide, as well as |[a, b + step - 1]|, and by what bounds a
    limit that was read.

    Each loop around it asks again, and so do all metrics and attempts."""
    return list(_measured(_Loop(node), Setting(context), sort))


@lru_cache(maxsize=1 << 9)
def _measured(loop: _Loop, setting: Setting, sort: Sort) -> list[Poly]:
    node, context, wide = loop.node, setting.context, sort.wide
    facts = said(node.invariant.p, context)
    changed, found = written(node.body.stmt), dict[Poly, None]()
    for over in lengths(node, context, wide):
        counters, sizes = {x.name for x in leaves(over) if isinstance(x, Var)} & changed, _sizes(over, node, facts)
        logarithms = [p for x in sorted(counters) for p in _logarithms(over, x, node, facts)]
        found |= dict.fromkeys(logarithms)
        found |= dict.fromkeys(_quotients(over, node, facts) if sort.quotients else ())
        for size in sorted(sizes - {1}):
            found[max0(ceil_div(over, size))] = None
            if wide:
                found[max0(over + (size - 1))] = None
        if wide or (len(sizes) != 1 and not logarithms) or sizes == {1}:
            found[max0(over)] = None
    return list(found)


def _sizes(over: Poly, node: Cycle, facts: Facts) -> set[int]:
    """The sizes of the steps that a loop takes toward its end, or the least ones, where they are known."""
    changed = written(node.body.stmt)
    counters, kept = {x.name for x in leaves(over) if isinstance(x, Var)} & changed, facts.without(changed)
    sizes = {size for x in counters for size in steps(x, node.body.stmt, Facts(node.invariant.p))}
    for d in (d for x in counters for d in moves(x, node.body.stmt) or ()):
        if low := facts.moved(kept.plain(d)):
            sizes.add(low)
    net = per_turn(over, node.body.stmt, Facts(node.invariant.p))
    return sizes | ({net} if net is not None and net > 1 else set())


def _quotients(over: Poly, node: Cycle, facts: Facts) -> Iterator[Poly]:
    """The turns of a loop each of which takes as much as a polynomial, positive and no number, says: over by that,
    rounded up."""
    step = taken(over, node.body.stmt)
    if step is not None and not step.is_constant and facts.moved(facts.without(written(node.body.stmt)).plain(step)):
        yield max0(operated("/", over + step - 1, step))


def partings(node: Cycle, first: Poly, last: Poly, context: Context) -> Poly | None:
    """The turns in which some lanes have left a loop and others have not, where the first leave it after one distance
    and the last after another; None where they leave in one turn, by steps that are as long, or steps are not known."""
    gap, sizes = last - first, _sizes(last, node, said(node.invariant.p, context))
    if not sizes or not gap.is_constant or gap.constant < min(sizes):
        return None
    turns = ceil_div(last, min(sizes))
    return max0(turns) - max0(turns - ceil(gap.constant / min(sizes)))


def falls(node: Cycle, own: Sequence[Poly], context: Context) -> Iterator[Poly]:
    """For each logarithm, or quotient by no number, among a loop's measures by how much more than 1 an assignment to
    its counter lessens it."""
    for p in own:
        if any(isinstance(a, Log2 | Apply) for a in atoms(p)):
            for s in statements(node.body.stmt):
                if isinstance(s, Assign) and s.var in variables(p):
                    yield p - 1 - updated(p, s.var, replaced(s.value, before(s.var, node.body.stmt)), context)


def _logarithms(over: Poly, x: str, node: Cycle, facts: Facts) -> Iterator[Poly]:
    """The turns of a loop whose counter x is multiplied or divided by 2 or more in each, while `over` is positive: the
    logarithm of how often that goes."""
    by, shift = factor(x, node.body.stmt, facts)
    rate = next((int(c) for m, c in over.terms if m == sym(Var(x)).terms[0][0] and c.denominator == 1), 0)
    scaled = sym(Var(x)) * abs(rate)
    limit = ((over + scaled) if rate < 0 else scaled - over + 1) + shift * abs(rate)
    scaled += shift * abs(rate)
    if variables(limit) & written(node.body.stmt) or any(c.denominator > 1 for _, c in limit.terms):
        return
    if by > 1 and rate < 0:  # while x < limit
        yield max0(ceil_div(log2(limit * 2 - 1) - log2(scaled), int(by).bit_length() - 1))
    if by < 1 and rate > 0:  # while x >= limit
        size = (1 / by).numerator.bit_length() - 1
        if limit == const(1):
            yield some(scaled) + floor_div(log2(scaled), size)
        else:
            yield max0(floor_div(log2(scaled) - log2(limit), size) + 1)


def lengths(node: Cycle, context: Context, wide: bool = False) -> Iterator[Poly]:
    """How far a loop's guard is from failing, at most, in terms of what is uniform; nothing that is never positive. Of
    two tests that both have to hold, also the less of their distances, if these stay apart as they are. If wide, also
    in terms of what bounds a variable of which P does not say what it is: it may have been read, also in the body."""
    facts = said(node.invariant.p, context)
    changed = written(node.body.stmt)
    x = node.invariant.x
    read = {s.var for s in statements(node.body.stmt) if isinstance(s, Assign) and opaque(s.value, context.sigma)}
    unsaid = x - (changed - read) - {leaf.name for leaf in facts.definitions}
    before: list[Poly] = []

    def bounds(tested: Iterable[tuple[Expr, Poly]], shared: frozenset[str]) -> list[Poly]:
        found = (
            uniform_bound(distance, shared, facts) or most(gap, shared, facts, context) for gap, distance in tested
        )
        return [over for over in found if over is not None and over * -1 not in facts.nonnegative]

    assumed = (
        first.stmt.cond for first in opening(node.body) if isinstance(first, Step) and isinstance(first.stmt, Assume)
    )
    for test in conj((sized(node.guard, facts), *assumed), context.sigma):
        tested = list(gaps(test, context.sigma))
        found = bounds(tested, x)
        yield from found
        flat = (unrounded(distance, changed, facts) for _, distance in tested)
        yield from (over for p in flat if p is not None and (over := uniform_bound(p, x, facts)) is not None)
        if wide and unsaid:
            yield from bounds((gap for gap in tested if _is_linear(gap[1], unsaid)), x - unsaid)
        if len(found) == 1:
            apart = ((one, one - found[0]) for one in before)
            fixed = (one for one, gap in apart if not (variables(gap) & changed or gap.is_constant))
            yield from (minimum(one, found[0]) for one in fixed)
            before += found
    sums = added([*gaps(sized(node.guard, facts), context.sigma)], changed)
    counted = (by_turns(distance, x, facts) for _, distance in sums)
    yield from (ghost for ghost in counted if ghost is not None)
    yield from chases.counted(node, facts)


def _is_linear(p: Poly, names: frozenset[str]) -> bool:
    """Whether no term of p has a factor besides one in which variables of these names are."""
    return all(len(m) == 1 for m, c in p.terms if variables(Poly(((m, c),))) & names)
