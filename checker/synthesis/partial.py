"""Accesses by part of a warp: how many lanes a guard lets through, and what that many cost.

Under `i < n` the lanes from the first on are active, min(32, y) of them for a y over parameters. What a statement costs
is then no number but a step function of y, and its sum over all warps has a closed form.

Where lanes part at `tx < w`, fewer of them take one side as more take the other: no warp pays for all on both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache, reduce
from itertools import chain, pairwise, product
from math import prod

from checker import limits
from checker.synthesis.guards import by_lane, distances, lane_ends, rows_of
from checker.synthesis.nodes import Cut, Flow, Fork, Node, Setting, State, Step
from logic.assertions import Context, P, X, conj, opaque
from logic.comparisons import as_expr
from logic.facts import Facts, said, unfolded
from logic.operators import NEGATED, ORDERS
from logic.potentials import (
    Poly,
    const,
    floor_div,
    leaves,
    max0,
    substitute,
    sym,
    variables,
)
from logic.syntax import WARP_INDEX, Const, Expr, Op, Param, Skip, Tid, Var, While, local_vars, statements, written


@dataclass(frozen=True, slots=True)
class Steps:
    """y, the ends of the intervals of y in which the cost is the same, and a potential that is the cost.

    The last interval has no end; `cost` is less what the first lane's interval costs anyway.
    """

    active: Expr
    ends: tuple[int, ...]
    cost: Poly


def steps_of(p: P, x: X, price: Callable[[Expr], Fraction], context: Context, warp: int) -> Steps | None:
    """The cost by the number of active lanes, if it depends on that, and its sum over warps has a closed form; `price`
    is the cost under one more fact."""
    size = _lanes(context, warp)
    for y in _active(p, x, context, warp):
        active = as_expr(y)
        if active is None:
            continue
        costs: dict[int, Fraction] = {}

        def at(lanes: int, costs: dict[int, Fraction] = costs, active: Expr = active) -> Fraction:
            if lanes not in costs:
                costs[lanes] = price(Op("==", (active, Const(lanes))))
            return costs[lanes]

        ends = tuple(_changes(at, 1, size))
        if ends:
            cost = _cost(y, ends, [at(end) for end in ends] + [at(size)], size)
            return None if cost is None else Steps(active, ends, cost)
    return None


def _changes(at: Callable[[int], Fraction], low: int, high: int) -> Iterator[int]:
    """The places at which a monotone function changes: each n with at(n) != at(n + 1)."""
    if low == high or at(low) == at(high):
        return
    if high == low + 1:
        yield low
        return
    middle = (low + high) // 2
    yield from _changes(at, low, middle)
    yield from _changes(at, middle, high)


def _cost(y: Poly, ends: tuple[int, ...], costs: list[Fraction], size: int) -> Poly | None:
    """The step function, without its value in the first interval: as a division where its steps are even. None where
    they are not, and y falls from warp to warp: no sum of that telescopes."""
    rises = [b - a for a, b in pairwise(costs)]
    width = ends[0]
    if len(set(rises)) == 1 and size % width == 0 and ends == tuple(range(width, size, width)):
        return (_ceiling(y, width) - _ceiling(y - size, width) - 1) * rises[0]
    if Param(WARP_INDEX) in leaves(y):
        return None
    total = const(0)
    for end, rise in zip(ends, rises, strict=True):
        total = total + (max0(y - end) - max0(y - end - 1)) * rise
    return total


def _ceiling(y: Poly, k: int) -> Poly:
    """ceil(max(0, y) / k)"""
    return floor_div(max0(y) + (k - 1), k)


def _active(p: P, x: X, context: Context, warp: int) -> Iterator[Poly]:
    """Polynomials y over parameters and uniform locals such that a fact of P holds at lane l only if l < y."""
    first = first_of_warp(context, warp)
    if first is None:
        return
    known = {leaf: c for leaf, c in said(p, context).constants.items() if leaf != Param(WARP_INDEX)}
    facts, tid = Facts(p), sym(Tid("x"))
    defined = {leaf: value for leaf, value in facts.definitions.items() if leaf.name not in x}
    for rest in facts.nonnegative:
        rest = substitute(unfolded(rest, defined), known) + tid
        shared = all(isinstance(a, Param) or (isinstance(a, Var) and a.name in x) for a in leaves(rest))
        if shared and leaves(rest):
            yield rest - first + 1


def _lanes(context: Context, warp: int) -> int:
    """The most lanes that a warp has, the last of a row fewer than others."""
    size, x = context.hardware.warp, context.launch.block[0] or 0
    return x - size * warp if context.launch.block[1:] == (1, 1) and 0 < x - size * warp < size else size


def first_of_warp(context: Context, warp: int) -> Poly | None:
    """threadIdx.x of a warp's first lane, where its lanes have consecutive ones: by its number, or as a number where
    the last warp has fewer lanes than others."""
    x, y, z = context.launch.block
    size = context.hardware.warp
    if y == z == 1:
        return sym(Param(WARP_INDEX)) * size if x is None or x % size == 0 else const(size * warp)
    return const(size * (warp % (x // size))) if x is not None and x % size == 0 else None


# --- branches --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison that lanes pass up to one of them, and the others fail. `far` is how far the last lane of a warp is
    from failing, which its lanes share: the test parts them where that is from 1 to `gap`. `place` is how much farther
    the last lane is than the one that executes, None where no expression says so, and `gap` than the first one. Where
    all lanes agree on the comparison, `far` is None."""

    told: Op
    far: Expr | None = None
    place: Expr | None = None
    gap: int = 0

    def within(self, end: int) -> Op:
        """Whether the last lane is so far from failing at most; where all agree, whether they fail."""
        return replace(self.told, op=NEGATED[self.told.op]) if self.far is None else Op("<=", (self.far, Const(end)))

    def each(self, op: str, k: int) -> P:
        """The facts of a lane that passes, where the last is so far from failing at most (<=), or of one that fails,
        where it is so far at least (>=)."""
        told = Op(op, (self.far or self.told, Const(k)))
        return (told,) if self.place is None else (told, Op(op, (self.place, Const(k - (op == "<=")))))


@dataclass(frozen=True, slots=True)
class Ranges:
    """Tests, all of which a lane passes that takes the first side of a branch, or the second (`turned`); and the ends
    of the ranges of `far` of each, the first of which begins at 1, in each of which the branch is proved by itself.
    Below them all lanes fail the test, beyond them all pass it. `rows` are facts of where a warp is in its block."""

    tests: tuple[Test, ...]
    ends: tuple[tuple[int, ...], ...]
    turned: bool
    rows: P

    def passed(self, ends: Sequence[int | None]) -> P:
        """The facts of a lane that passes, by the end of the range of each test; None beyond them."""
        return self._facts("<=", ends)

    def failed(self, firsts: Sequence[int | None]) -> P:
        """The facts of a lane that fails, by the first of the range of each test: that it fails one of these."""
        failing = [t.each(">=", k)[1:] for t, k in zip(self.tests, firsts, strict=True) if k is not None]
        if len(failing) == 1:
            return self._facts(">=", firsts)
        return (reduce(lambda a, b: Op("||", (a, b)), chain(*failing)),) if all(failing) else ()

    def _facts(self, op: str, numbers: Sequence[int | None]) -> P:
        each = zip(self.tests, numbers, strict=True)
        found = ((Op("!", (t.within(t.gap),)),) if k is None else t.each(op, k) for t, k in each)
        return tuple(fact for facts in found for fact in facts)


def ranges_of(
    fork: Fork, price: Callable[[bool, P], Fraction], uniform: Callable[[Expr], bool], context: Context
) -> Ranges | None:
    """The ranges of a branch, where these cost less than both sides at the most that each may; `price` is the cost of a
    side under more facts.

    They are looked for in one warp alone, where the block has several, and not in the first, whose threads are often an
    exception: no ranges cost less in all. If those that are found cost no more there, they are the best; else ranges
    are looked for in all warps."""
    found = _tests(fork, uniform, context)
    if found is None:
        return None
    whole = price(True, ()), price(False, ())
    if context.scope == "warp" and prod(d or 0 for d in context.launch.block) > context.hardware.warp:
        here = Op("==", (Param(WARP_INDEX), Const(1)))
        rank, ranges = _cheapest(found, whole, lambda side, facts: price(side, (*facts, here)))
        if ranges is None or _rank(ranges, price) <= rank:
            return ranges
    return _cheapest(found, whole, price)[1]


def _rank(ranges: Ranges, price: Callable[[bool, P], Fraction]) -> Fraction:
    """The most that both sides cost together in one of the ranges."""
    several = (numbers for numbers in _together(ranges.ends) if any(k is not None for k in numbers[0]))
    sides = ((ranges.passed(ends), ranges.failed(firsts)) for ends, firsts in several)
    return max(price(not ranges.turned, passed) + price(ranges.turned, failed) for passed, failed in sides)


def _cheapest(
    found: Ranges, whole: tuple[Fraction, Fraction], price: Callable[[bool, P], Fraction]
) -> tuple[Fraction, Ranges | None]:
    """The ranges that cost the least by a price, and what they cost; None where that is no less than the `whole`."""
    tests, turned = found.tests, found.turned

    @cache
    def cost(passing: bool, numbers: tuple[int | None, ...]) -> Fraction:
        """Of a side where some tests part lanes."""
        return price(passing != turned, found.passed(numbers) if passing else found.failed(numbers))

    def alone(k: int, passing: bool) -> Callable[[int], Fraction]:
        """The same where one does."""
        return lambda n: cost(passing, tuple(n if i == k else None for i in range(len(tests))))

    parted = [k for k, test in enumerate(tests) if test.gap]
    sides = {k: (alone(k, True), alone(k, False)) for k in parted}
    pieces, sums, least = dict[int, list[tuple[int, int]]](), set[Fraction](), max(whole)
    for k, (passed, failed) in sides.items():
        gap = tests[k].gap
        ends = sorted({gap, *_changes(passed, 1, gap), *_changes(failed, 1, gap)})
        pieces[k] = here = [(low + 1, high) for low, high in pairwise((0, *ends))]
        sums |= {passed(high) + failed(low) for low, _ in here for _, high in here if low <= high}
        least = max(least, *(passed(high) + failed(low) for low, high in here))
    best, ranges = (sum(whole, Fraction(0)), 0), None
    for most in sorted({least, *sums}):
        if not least <= most < best[0]:
            continue
        joined = tuple(tuple(_joined(pieces[k], *sides[k], most)) if k in sides else () for k in range(len(tests)))
        size = prod(len(ends) + 1 for ends in joined)
        if size <= limits.RANGES + 1:
            several = (numbers for numbers in _together(joined) if sum(k is not None for k in numbers[0]) > 1)
            rank = max([most, *(cost(True, ends) + cost(False, firsts) for ends, firsts in several)]), size
            if rank < best:
                best, ranges = rank, replace(found, ends=joined)
    return best[0], ranges


def _together(joined: Sequence[tuple[int, ...]]) -> Iterator[tuple[tuple[int | None, ...], tuple[int | None, ...]]]:
    """The ends and the firsts of ranges, one of each test, None beyond them."""
    each = [[(None, None), *((end, low + 1) for low, end in pairwise((0, *ends)))] for ends in joined]
    for one in product(*each):
        yield tuple(end for end, _ in one), tuple(first for _, first in one)


def _joined(
    pieces: Sequence[tuple[int, int]],
    passed: Callable[[int], Fraction],
    failed: Callable[[int], Fraction],
    most: Fraction,
) -> list[int]:
    """The ends of as few ranges of whole pieces as there are that cost no more than `most`, where no piece does."""
    first, ends = 1, list[int]()
    for (_, end), (low, high) in pairwise(pieces):
        if passed(high) + failed(first) > most:
            ends.append(end)
            first = low
    return [*ends, pieces[-1][1]]


def _tests(fork: Fork, uniform: Callable[[Expr], bool], context: Context) -> Ranges | None:
    """The tests of a branch that parts lanes, where its sides have no loops: one comparison, or several that all have
    to hold, or all to fail."""
    sides = [side.stmt if isinstance(side, Flow) else side for side in (fork.then, fork.orelse)]
    if any(isinstance(s, While) for side in sides for s in statements(side)):
        return None
    sigma, turned = context.sigma, False
    conds: tuple[Expr, ...] = (fork.cond,)
    idle = any(isinstance(side, Skip) for side in sides)
    if isinstance(fork.cond, Op) and fork.cond.op in ("&&", "||") and not idle and not opaque(fork.cond, sigma):
        turned = fork.cond.op == "||"
        conds = conj((Op("!", (fork.cond,)) if turned else fork.cond,), sigma)
    changed = frozenset(x for side in sides for x in written(side))
    tests = [_agreed(cond, changed, uniform) or _test(cond, fork.before, changed, Setting(context)) for cond in conds]
    if None in tests or not any(test and test.gap for test in tests):
        return None
    rows = rows_of(context)
    first = Op("*", (Const(rows), Param(WARP_INDEX)))
    inside = conj((Op(">=", (Tid("y"), first)), Op("<", (Tid("y"), Op("+", (first, Const(rows)))))), sigma)
    return Ranges(tuple(t for t in tests if t), (), turned, inside if rows else ())


def _agreed(cond: Expr, changed: frozenset[str], uniform: Callable[[Expr], bool]) -> Test | None:
    """A comparison that lanes agree on, if it is about nothing that is changed."""
    if isinstance(cond, Op) and cond.op in NEGATED and not local_vars(cond) & changed and uniform(cond):
        return Test(cond)
    return None


@lru_cache(maxsize=1 << 10)  # asked by all metrics, and by each attempt at one
def _test(cond: Expr, before: State, changed: frozenset[str], setting: Setting) -> Test | None:
    """A comparison that parts lanes, if it is about nothing that is changed."""
    if not isinstance(cond, Op) or cond.op not in ORDERS:
        return None
    context, p, x = setting.context, before.p, before.x
    sigma, facts = context.sigma, said(p, context)
    found = lane_ends(cond, x, context, facts, sigma, by_warps=True)
    if len(found) != 1:
        return None
    first, last = found[0]
    gap, far, shared = last - first, as_expr(last), variables(last)
    if far is None or not gap.is_constant or not shared <= x or shared & changed or gap.constant < 1:
        return None
    mine = [unfolded(by_lane(d, x, facts), facts.definitions) for d in distances(cond, sigma)]
    place = last - substitute(mine[0], facts.constants)
    told = as_expr(place) if all(isinstance(leaf, Tid | Param) for leaf in leaves(place)) else None
    return Test(cond, far, told, int(gap.constant))


def under(flow: Flow, facts: P, context: Context) -> Flow:
    """A flow without loops where facts hold, too, that are about nothing that it changes."""

    def at(state: State) -> State:
        return State(conj((*state.p, *facts), context.sigma), state.x)

    def node(one: Node) -> Node:
        match one:
            case Cut(state):
                return replace(one, state=at(state))
            case Fork(then=then, orelse=orelse):
                then, orelse = (under(s, facts, context) if isinstance(s, Flow) else s for s in (then, orelse))
                return replace(one, then=then, orelse=orelse, before=at(one.before), after=at(one.after))
            case Step():
                return replace(one, before=at(one.before), after=at(one.after))
        return one

    return Flow(at(flow.start), tuple(map(node, flow.nodes)), at(flow.end))
