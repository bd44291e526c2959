"""Zones: the turns of a loop in which the test of a branch in it may part the lanes of a warp.

In `for (i = tid; i < w; i += 256)` the test `i > m` is false at all lanes of a warp for some turns, then true at some,
then at all: what moves past 32 lanes in steps of 256 parts them once. So the branch is proved by cases, before, in and
behind its zone, and pays for parting them in the zone alone: max(0, t) - max(0, t - k), where t turns are left until
the test is behind it, is at most k, and falls by 1 in each turn that is in the zone.

Where such a branch lowers the flag that ends the loop, as `break` does, the loop's own test parts lanes in the turn
after the zone alone. A ghost, which lanes share, is 1 after such a turn and 0 else; another is 0 once all have left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil

from checker import limits
from checker.synthesis.counters import moves
from checker.synthesis.elaborate import accesses
from checker.synthesis.flags import HERE, PARTED, flags, marked
from checker.synthesis.guards import gaps, in_rows, lane_ends, some
from checker.synthesis.nodes import Cycle, Flow, Fork
from checker.synthesis.outline import Block, Branch, Cases, Item, Loop, Outline, Partial, Plain, strip
from logic.assertions import Context
from logic.comparisons import as_expr
from logic.facts import Facts, said
from logic.facts import value_where as worth
from logic.operators import ORDERS
from logic.potentials import Poly, ceil_div, max0, substitute, sym, variables
from logic.source import Loc
from logic.syntax import INT, Assign, Const, Expr, Op, Stmt, Var, local_vars, statements, written
from logic.syntax import substitute as replaced

Place = tuple[Loc | None, Expr]
"""Of a branch: where it is, and its test."""


@dataclass(frozen=True, slots=True)
class Zone:
    """Where a branch parts lanes: not while `before` is positive, nor once `until` is not; what its test is then, and
    the turns in the zone that are left."""

    before: Expr
    until: Expr
    first: bool
    last: bool
    turns: Poly


@dataclass(frozen=True, slots=True)
class Ending:
    """The ghosts of a flag that a branch lowers, on which side, and what they say of it."""

    parted: Var
    here: Var
    side: bool
    said: tuple[Expr, ...]
    once: bool
    """Whether lanes leave by it in one turn alone, the first: what stays then stays."""


@dataclass(frozen=True, slots=True)
class Parting:
    """A branch that parts lanes, in a loop: its zone, if it has one; and by the side that lowers a flag, what is not
    positive at the lanes that stay, nor in later turns."""

    zone: Zone | None
    stays: Mapping[bool, Expr]


def parting(fork: Fork, loop: Cycle, context: Context) -> Parting:
    """A branch that parts lanes, as it is in its loop."""
    stays: dict[bool, Expr] = {}
    for e, distance in gaps(fork.cond, context.sigma) if isinstance(fork.cond, Op) and fork.cond.op in ORDERS else ():
        fall = _fall(distance, loop, said(fork.before.p, context))
        if fall is not None:
            stays[fall > 0] = e if fall > 0 else Op("-", (Const(1), e))
    return Parting(zone(fork, loop, context), stays)


def zone(fork: Fork, loop: Cycle, context: Context) -> Zone | None:
    """The zone of a branch in a loop, if its test is one comparison, of what each turn moves by the same least step."""
    match fork.cond:
        case Op(op) if op in ORDERS:
            cond, equal = fork.cond, None
        case Op("==" | "!=" as op, (a, b)):
            cond, equal = Op("<", (a, b)), op == "=="
        case _:
            return None
    facts = said(fork.before.p, context)
    found = lane_ends(cond, fork.before.x, context, facts, context.sigma, by_warps=in_rows(context))
    if len(found) != 1:
        return None
    first, last = found[0]
    gap, fall = last - first, _fall(first, loop, facts)
    if fall is None or not gap.is_constant or not variables(last) <= fork.before.x:
        return None
    signs = True, False
    if fall < 0 and equal is None:
        first, last, signs = last * -1 + 1, first * -1 + 1, (False, True)
    elif fall < 0:
        first, last = last * -1, first * -1
    if equal is not None:
        last, gap, signs = last + 1, gap + 1, (not equal, not equal)
    size = abs(fall)
    long = ceil(gap.constant / size)
    before, until, turns = as_expr(last - size * long), as_expr(last), ceil_div(last, size)
    if before is None or until is None:
        return None
    return Zone(before, until, *signs, some(last) if long == 1 else max0(turns) - max0(turns - long))


def _fall(distance: Poly, loop: Cycle, facts: Facts) -> int | None:
    """The least that each step of a loop takes from a distance; negative where it adds so much; None where that is not
    known, or nothing moves it."""
    body = loop.body.stmt
    changed = written(body)
    kept, falls = facts.without(changed), set[int]()
    for x in sorted(variables(distance) & changed):
        found = moves(x, body)
        if found is None:
            return None
        for d in found:
            step = kept.plain(distance - substitute(distance, {Var(x): sym(Var(x)) + d}))
            up, down = kept.least(step), kept.least(step * -1)
            if up and up > 0:
                falls.add(up)
            elif down and down > 0:
                falls.add(-down)
            else:
                return None
    same = len({n > 0 for n in falls}) == 1
    return min(falls, key=abs) if same else None


def _zones(flow: Flow, context: Context, loop: Cycle | None = None) -> Iterator[tuple[Place, Parting]]:
    """The partings of branches in the innermost loops around them, by place and test."""
    for node in flow.nodes:
        match node:
            case Cycle():
                yield from _zones(node.body, context, node)
            case Fork():
                sides = [side for side in (node.then, node.orelse) if isinstance(side, Flow)]
                if loop is not None and len(sides) > 1 and not node.agreed and node.loop is None:
                    yield (node.loc, node.cond), parting(node, loop, context)
                for side in sides:
                    yield from _zones(side, context, loop)


def parts(flow: Flow, context: Context) -> bool:
    """Whether of a branch in a loop more is known than that it parts lanes."""
    return any(known.zone is not None or known.stays for _, known in _zones(flow, context))


def with_zones(outline: Outline, flow: Flow, marks: bool) -> Outline:
    """The outline with branches by cases, where they part lanes and where not, and the ghosts of the loops that these
    end; itself where there are none. Without `marks` there are no ghosts, and cases of branches alone that access
    arrays: to part lanes costs less than a ghost where assignments cost something."""
    context = outline.context
    sigma, known = context.sigma, dict(_zones(flow, context))
    ghosts, cases = list[str](), list[Item]()

    def parted(block: Block, ends: Mapping[Place, Ending]) -> Iterator[Item]:
        for item in block:
            match item:
                case Loop():
                    yield from looped(item)
                case Branch():
                    sides = tuple(parted(item.then, ends)), tuple(parted(item.orelse, ends))
                    place = item.loc, item.cond
                    item = replace(item, then=sides[0], orelse=sides[1])
                    cut = place in known and (marks or _accesses(strip((item,))))
                    found = _by_cases(item, known[place].zone, ends.get(place)) if cut else item
                    cases.extend((found,) if isinstance(found, Cases) else ())
                    yield found
                case _:
                    yield item

    def looped(item: Loop) -> Iterator[Item]:
        body, ends = strip(item.body), dict[Place, Ending]()
        for flag in flags(item.cond, body, sigma) if marks else ():
            site = _site(item.body, flag)
            if site is None or site[0] not in known or site[0] in ends:
                continue
            place, side = site
            found = known[place]
            parts, here = Var(f"{PARTED}{len(ghosts)}"), Var(f"{HERE}{len(ghosts)}")
            if side in found.stays:
                said = marked(flag, parts, here, found.stays[side], sigma)
            elif found.zone is not None:
                said = marked(flag, parts, here, None, sigma)
            else:
                continue
            ghosts.extend((parts.name, here.name))
            ends[place] = Ending(parts, here, side, said, side in found.stays)
            yield from (Plain(Assign(x.name, Const(k))) for k, x in enumerate((parts, here)))
            yield Partial(said)
        again = (Plain(Assign(one.parted.name, Const(0))) for one in ends.values())
        yield replace(item, body=(*again, *parted(item.body, ends)))

    body = tuple(parted(outline.body, {}))
    if not 0 < len(cases) <= limits.ZONES:
        return outline
    locals_ = {**sigma.locals, **dict.fromkeys(ghosts, INT)}
    return replace(outline, context=replace(context, sigma=replace(sigma, locals=locals_)), body=body)


def _by_cases(item: Branch, known: Zone | None, end: Ending | None) -> Item:
    """A branch in its first turn and later, or before, in and behind its zone."""
    zero = Const(0)
    if end is not None and end.once:
        marks = Plain(Assign(end.parted.name, end.here)), Plain(Assign(end.here.name, zero))
        first, later = (
            (*marks, Partial(_are((end.parted, k), (end.here, 0))), item, Partial(end.said)) for k in (1, 0)
        )
        return Cases(Op(">", (end.here, zero)), first, later, (sym(end.here),), item.loc)
    if known is None:
        return item
    before, within, behind = _marked(item, known, end)
    bases = (known.turns,)
    rest = Cases(Op(">", (known.until, zero)), within, behind, bases, item.loc)
    return Cases(Op(">", (known.before, zero)), before, (rest,), bases, item.loc)


def _accesses(s: Stmt) -> bool:
    return any(True for t in statements(s) for _ in accesses(t))


def _are(*numbers: tuple[Var, int]) -> tuple[Expr, ...]:
    return tuple(Op("==", (x, Const(k))) for x, k in numbers)


def _marked(item: Branch, known: Zone, end: Ending | None) -> tuple[Block, Block, Block]:
    """A branch with its ghosts, before, in and behind its zone: what they are there, as lanes part or all have left."""
    if end is None:
        return (item,), (item,), (item,)
    one = Const(1)
    before, until = (Op("min", (one, Op("max", (Const(0), e)))) for e in (known.before, known.until))
    first, last = known.first == end.side, known.last == end.side
    parted = Op("-", (one if last else until, Const(0) if first else before))
    here = Op("-", (until if last else one, before if first else Const(0)))
    marks = Plain(Assign(end.parted.name, parted)), Plain(Assign(end.here.name, here))

    def case(gone: bool, parts: bool) -> Block:
        known = _are((end.parted, int(gone or parts)), (end.here, int(not gone)))
        return (*marks, Partial(known), item, Partial(end.said))

    return case(first, False), case(False, True), case(last, False)


def _site(body: Block, flag: Expr) -> tuple[Place, bool] | None:
    """The one branch in a loop that lowers its flag, and on which side."""
    x = next(iter(local_vars(flag)))
    found: list[tuple[Place, bool]] = []

    def look(block: Block) -> None:
        for item in block:
            if isinstance(item, Branch):
                for side, holds in ((item.then, True), (item.orelse, False)):
                    if any(isinstance(one, Plain) and _lowers(one.stmt, flag) for one in side):
                        found.append(((item.loc, item.cond), holds))
                    look(side)

    look(body)
    sites = sum(1 for s in statements(strip(body)) if isinstance(s, Assign) and s.var == x)
    return found[0] if len(found) == sites == 1 else None


def _lowers(s: Stmt, flag: Expr) -> bool:
    return isinstance(s, Assign) and s.var in local_vars(flag) and worth(replaced(flag, {s.var: s.value}), {}) is False
