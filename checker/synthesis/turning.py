"""Where branches turn: what tells their sides apart, as base functions for the potentials in front of them.

A test a < b holds where the integer d = b - a is at least 1, and max(0, d) - max(0, d - 1) is 1 there and 0 elsewhere.
With both as base functions a potential in front of a branch can be what either side needs; so two tests of one
condition do not both pay for their dearer sides. In a loop that moves d, max(0, d) at its head pays for the turns in
which the test still holds, as the distance of a loop's own test does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from checker import limits
from checker.synthesis.counters import moves, per_turn
from checker.synthesis.flags import inverse
from checker.synthesis.measures import lengths
from checker.synthesis.nodes import Cycle, Flow, Fork, Step
from checker.synthesis.outline import Block, Branch, Loop, Split, ghost_of
from logic.assertions import Context, P, conj, opaque
from logic.facts import Facts, compared, said
from logic.potentials import (
    Leaf,
    Max0,
    Poly,
    atoms,
    ceil_div,
    is_closed,
    max0,
    minimum,
    of_expr,
    substitute,
    sym,
    variables,
)
from logic.syntax import BOOL, Assign, Expr, Op, Var, local_vars, written


@dataclass(frozen=True, slots=True)
class Turn:
    """The part that a branch adds to the potential in front of it: base functions; and the innermost loop around it,
    with what variables were at its head in terms of what they are here, as far as that can be said."""

    bases: tuple[Poly, ...]
    loop: Cycle | None = None
    earlier: Mapping[Leaf, Poly] = field(default_factory=dict)
    unsaid: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Turning:
    """Of the branches and loops of a flow, by the identity of the first side and of the loop: what each adds to the
    template in front of it."""

    forks: Mapping[int, Turn]
    heads: Mapping[int, tuple[Poly, ...]]
    ends: Mapping[int, tuple[Poly, ...]] = field(default_factory=dict)
    """Of those at a loop's head: the turns that are left until its end or until a branch turns, whichever is first."""
    zones: bool = False
    """Whether some are of zones (`checker.synthesis.zones`)."""

    def cut(self) -> Turning:
        """The same with no more at the head of each loop than a search looks at: what its first branches add."""
        return replace(self, heads={key: found[: limits.SHARPER] for key, found in self.heads.items()})


NOWHERE = Turning({}, {})


@dataclass(frozen=True, slots=True)
class _Seen:
    """A branch with the distances of its test, as they are in front of it."""

    fork: Fork
    distances: tuple[Poly, ...]
    marks: tuple[Poly, ...]
    """The ghosts of the flags that it tests: 1 or 0."""
    loop: Cycle | None
    earlier: Mapping[Leaf, Poly]
    unsaid: frozenset[str]


def may_turn(block: Block) -> bool:
    """Whether `turning` may find something in a flow of a block: it has a branch in a loop, or two that may say
    something of each other. Cheap: no flow is needed."""

    def branches(items: Block, inside: bool) -> Iterator[bool]:
        """For each branch, whether it is in a loop."""
        for item in items:
            match item:
                case Loop():
                    yield from branches(item.body, True)
                case Branch():
                    yield inside
                    yield from branches((*item.then, *item.orelse), inside)
                case Split():
                    yield inside

    found = [*branches(block, False)]
    return any(found) or len(found) > 1


def turning(flow: Flow, context: Context) -> Turning:
    """The parts that branches of a flow add to templates: those that a loop turns, and those whose tests say something
    of each other."""
    seen = list(_branches(flow, context, None))
    forks: dict[int, Turn] = {}
    heads: dict[int, dict[Poly, None]] = {}
    ends: dict[int, dict[Poly, None]] = {}
    for one in seen:
        turned = one.loop is not None and any(variables(d) & written(one.loop.body.stmt) for d in one.distances)
        related = any(_related(one.distances, other.distances) for other in seen if other is not one)
        if not (turned or related or one.marks or one.fork.bases):
            continue
        bases = dict.fromkeys(base for d in one.distances for base in (max0(d), max0(d - 1)) if turned or related)
        bases |= dict.fromkeys((*one.marks, *one.fork.bases))
        around = one.loop if turned or one.fork.bases else None
        forks[id(one.fork.then)] = Turn(tuple(bases), around, one.earlier, one.unsaid)
        if one.loop is not None and one.fork.bases:
            heads.setdefault(id(one.loop), {}).update(dict.fromkeys(_there(one, one.loop, one.fork.bases)))
        if turned and one.loop is not None:
            found = heads.setdefault(id(one.loop), {})
            early = tuple(_ends(one, one.loop, context))
            found |= dict.fromkeys((*_at_head(one, one.loop), *early))
            ends.setdefault(id(one.loop), {}).update(dict.fromkeys(early))
    first, last = ({key: tuple(found) for key, found in these.items()} for these in (heads, ends))
    return Turning(forks, first, last, any(one.fork.bases for one in seen))


def _related(some: tuple[Poly, ...], others: tuple[Poly, ...]) -> bool:
    return any((a - b).is_constant for a in some for b in others)


def _branches(flow: Flow, context: Context, loop: Cycle | None) -> Iterator[_Seen]:
    """The branches by uniform tests that potentials can speak of, in the innermost loops around them."""

    def walk(part: Flow, earlier: Mapping[Leaf, Poly], unsaid: frozenset[str]) -> Iterator[_Seen]:
        for node in part.nodes:
            match node:
                case Step(Assign(x, e)) if loop is not None:
                    back = inverse(x, e)
                    old = None if back is None else of_expr(back)
                    if old is None or variables(old) - {x} & written(loop.body.stmt):
                        unsaid |= {x}
                    else:
                        earlier = {leaf: substitute(p, {Var(x): old}) for leaf, p in earlier.items()}
                        earlier = {Var(x): old, **earlier}
                case Fork():
                    if node.agreed and node.loop is None:
                        found = () if node.bases else _distances(node, loop, context)
                        marks = _marks(node, context)
                        if found or marks or node.bases:
                            yield _Seen(node, found, marks, loop, earlier, unsaid)
                    for side in (node.then, node.orelse):
                        if isinstance(side, Flow):
                            yield from walk(side, earlier, unsaid)
                            unsaid |= written(side.stmt)
                case Cycle():
                    yield from _branches(node.body, context, node)
                    unsaid |= written(node.body.stmt)

    yield from walk(flow, {}, frozenset())


def _distances(fork: Fork, loop: Cycle | None, context: Context) -> tuple[Poly, ...]:
    """For each comparison of a test, integers that are at least 1 exactly where it holds, or fails; in a loop those
    that fall from turn to turn, by 1."""
    facts = said(fork.before.p, context)
    found: dict[Poly, None] = {}
    for distance in _compared(fork.cond, fork.before.p, context, facts):
        d = substitute(distance, {leaf: p for leaf, p in facts.constants.items() if leaf.name not in fork.before.x})
        if variables(d) <= fork.before.x and is_closed(d) and all(c.denominator == 1 for _, c in d.terms):
            found |= dict.fromkeys(_falling(d, loop, facts))
    return tuple(d for d in found if not d.is_constant)


def _marks(fork: Fork, context: Context) -> tuple[Poly, ...]:
    """The ghosts of the flags that a branch tests."""
    flags = (x for c in conj((fork.cond,), context.sigma) for x in local_vars(c) if context.sigma.locals[x] == BOOL)
    return tuple(sym(Var(ghost)) for ghost in map(ghost_of, flags) if ghost in fork.before.x)


def _compared(cond: Expr, before: P, context: Context, facts: Facts) -> Iterator[Poly]:
    """Integers that are at least 1 where a comparison holds, or fails, for each in a test; two for tests of equality,
    or one where facts say which side is not the less. A flag is tested as what P says that it is."""
    stack, told = list(conj((cond,), context.sigma)), set[Expr]()
    while stack:
        match stack.pop():
            case Op("&&" | "||" | "!", args):
                stack.extend(args)
            case Var() as flag if flag not in told:
                told |= {flag}
                stack.extend(e for x, op, e in compared(before, either=True) if op == "==" and x == flag)
            case Op("<" | "<=" | ">" | ">=" | "==" | "!=" as op, (a, b)) if not (
                opaque(a, context.sigma) or opaque(b, context.sigma)
            ):
                p, q = of_expr(a), of_expr(b)
                if p is None or q is None:
                    continue
                match op:
                    case "<" | ">=":
                        yield q - p
                    case ">" | "<=":
                        yield p - q
                    case _ if q - p in facts.nonnegative:
                        yield q - p
                    case _ if p - q in facts.nonnegative:
                        yield p - q
                    case _:
                        yield from (q - p + 1, q - p)


def _falling(d: Poly, loop: Cycle | None, facts: Facts) -> Iterator[Poly]:
    """The distance, or 1 less it, which is at least 1 where the distance is not: the one that falls in the loop, in
    its steps; else the one whose first term is positive."""
    if loop is not None and variables(d) & written(loop.body.stmt):
        taken = per_turn(d, loop.body.stmt, Facts(loop.invariant.p))
        if taken is None:
            found = {x: moves(x, loop.body.stmt) for x in variables(d) & written(loop.body.stmt)}
            steps = {d - substitute(d, {Var(x): sym(Var(x)) + m}) for x, own in found.items() for m in own or ()}
            known = {int(p.constant) for p in steps if p.is_constant and p.constant.denominator == 1}
            taken = known.pop() if len(known) == 1 and len(steps) == 1 and None not in found.values() else None
        if taken is None:
            return
        if taken < 0:
            d, taken = d * -1 + 1, -taken
        if taken:
            yield ceil_div(d, taken)
            return
    first = next((c for m, c in d.terms if m), 1)
    yield d if first > 0 else d * -1 + 1


def _there(one: _Seen, loop: Cycle, those: Iterable[Poly]) -> Iterator[Poly]:
    """The distances of a branch, or its other base functions, at the head of its loop."""
    changed, later = written(loop.body.stmt), _later(one.earlier)
    for d in those:
        if variables(d) & changed and not variables(d) & one.unsaid:
            at = substitute(d, later)
            if variables(at) <= loop.invariant.x:
                yield at


def _at_head(one: _Seen, loop: Cycle) -> Iterator[Poly]:
    """The base functions of a branch at the head of its loop."""
    for at in _there(one, loop, one.distances):
        yield from (max0(at), max0(at - 1))


def _ends(one: _Seen, loop: Cycle, context: Context) -> Iterator[Poly]:
    """The less of each distance of a branch and how far the loop is from its end by one of its tests."""
    changed = written(loop.body.stmt)
    measured = list(dict.fromkeys(lengths(loop, context)))
    for over in measured:
        if any(isinstance(a, Max0) for a in atoms(over)):
            continue
        taken = per_turn(over, loop.body.stmt, Facts(loop.invariant.p))
        over = ceil_div(over, taken) if taken is not None and taken > 0 else over
        for at in _there(one, loop, one.distances):
            gap = over - at
            if not (variables(gap) & changed or gap.is_constant):
                yield max0(next((p for p in measured if p == minimum(at, over)), minimum(over, at)))


def _later(earlier: Mapping[Leaf, Poly]) -> dict[Leaf, Poly]:
    """The values of variables now in terms of those before, for steps by what does not change."""
    return {x: sym(x) * 2 - p for x, p in earlier.items()}
