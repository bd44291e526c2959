"""Ghost variables: the part of a loop counter without threadIdx, and the turns that a loop has left.

Under `for (i = tid; i < n; i += step)` no potential may mention i. But `i - tid` is the same at all lanes, and a ghost
that always equals it may stand in potentials: g <- 0 before the loop, g <- g + step after each step of i. A counter may
be uniform that starts at threadIdx.y, yet no potential says where it starts: it gets a ghost too.

Where lanes turn differently often, as in `for (j = max(0, i - r); j <= min(n - 1, i + r); j++)`, a ghost that begins at
what the distance j has to go is at most, here min(n, 2*r + 1), and falls by 1 a turn, is at least that distance always.
Where each turn halves the distance, as a binary search does whatever it finds, the ghost is halved, too. Where a flag
ends the loop, as `break` does, the ghost has to be at least the distance only as long as the flag says to go on.

Where a variable gets another value that is made from its own, as in `lo = max(lo, 0)`, a ghost keeps the one before:
what is known of other variables by that stays a polynomial, whatever it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import NamedTuple, cast

from checker import limits
from checker.kernel import Oracle
from checker.synthesis import chases
from checker.synthesis.counters import moves
from checker.synthesis.flags import flags, inverse
from checker.synthesis.guards import added, by_lane, gaps, relaxed, sized, uniform_bound
from checker.synthesis.lanewise import most as most_of
from checker.synthesis.nodes import Cycle, Flow, Fork, State, within
from checker.synthesis.outline import Block, Branch, Item, Loop, Outline, Partial, Plain, ghost_of, items, strip
from checker.synthesis.unrounded import unrounded
from logic.assertions import Context, Entails, P, Proved, X, conj, opaque, settled
from logic.comparisons import as_expr
from logic.contracts import elements, elements_in
from logic.facts import MAX_CHAIN, Facts, equations, numbers, said, unfolded
from logic.facts import value_where as worth
from logic.potentials import Leaf, Poly, const, leaves, of_expr, of_terms, sym, variables
from logic.potentials import substitute as substituted
from logic.source import Loc
from logic.syntax import (
    GHOST,
    INT,
    Assign,
    Const,
    Expr,
    Op,
    Param,
    Tid,
    Var,
    local_vars,
    mentions_tid,
    reads_array,
    substitute,
    subterms,
    written,
)
from logic.typing import Signature


class Left(NamedTuple):
    """A ghost for the turns that a loop has left."""

    ghost: Var
    most: Expr
    """Its value before the loop."""
    gap: Expr
    """Its least value where a turn begins."""
    less: Expr
    """Its value after a turn."""
    flag: Expr | None = None
    """The fact that the loop goes on, where the ghost is at least the gap only if it does."""
    wanted: tuple[Expr, ...] = ()
    """The facts needed at the end of a turn to see that, where that does not go by itself: that the ghost is at least
    the gap then, and what else is always so."""


def _unless(flag: Expr | None, fact: Expr) -> Expr:
    """The fact, or that a loop does not go on."""
    return fact if flag is None else Op("||", (Op("!", (flag,)), fact))


Parts = dict[tuple[str, Loc | None], tuple[Expr, Expr]]
"""Of a counter and the place of its loop: its value before, as what lanes share and what depends on the lane."""


def with_ghosts(
    outline: Outline,
    flow: Flow,
    oracle: Oracle,
    stuck: Collection[Loc | None] = (),
    more: bool = False,
    summed: bool = False,
) -> tuple[Outline, tuple[str, ...]]:
    """The outline with a ghost for each counter that needs one, or those that its writer chose, and the ghosts.

    A loop at a place in `stuck` gets one that counts the turns that are left at most, if there is a limit to them. With
    `more`, the outline may have ghosts that the writer did not choose, and gets these beside them. Of a limit to turns
    over parameters and one over elements of arrays the first is taken, or if costs are `summed` the second, as it
    telescopes.
    """
    chosen = tuple(x for x in outline.context.sigma.locals if x.startswith(GHOST))
    if chosen and not more:
        return outline, chosen
    lanes: Parts = {}
    wrong: set[tuple[str, Loc | None]] = set()
    context = outline.context
    known = said((), context).constants
    for cycle, entry in _entered(flow):
        for counter in sorted(_tested(cycle, context)):
            free = not counter.startswith(GHOST) and ghost_of(counter) not in chosen
            if free and context.sigma.locals[counter] == INT and moves(counter, cycle.body.stmt):
                place, p = (counter, cycle.loc), entry.p
                parts = lanes.get(place) or _parts(counter, entry, known)
                if parts is not None:
                    lanes[place] = parts
                    equal = Op("==", (Var(counter), Op("+", parts)))
                    if not isinstance(oracle(Entails(p, (equal,)), context), Proved):
                        wrong.add(place)
    lanes = {place: parts for place, parts in lanes.items() if place not in wrong}
    left: dict[Loc | None, Left] = {}
    for cycle, entry in _entered(flow):
        if cycle.loc in stuck and (found := _left(cycle, entry, len(left), outline, oracle, summed)):
            left.setdefault(cycle.loc, found)
    flagged = {loc for loc, one in left.items() if one.flag is not None}
    lanes = {place: parts for place, parts in lanes.items() if place[1] not in flagged}
    names = (*(ghost_of(counter) for counter, _ in lanes), *(one.ghost.name for one in left.values()))
    ghosts = tuple(dict.fromkeys(names))
    if not ghosts:
        return outline, chosen
    wider = replace(context.sigma, locals={**context.sigma.locals, **dict.fromkeys(ghosts, INT)})
    added = replace(outline, context=replace(context, sigma=wider), body=_block(outline.body, lanes, left, wider))
    return added, (*ghosts, *chosen)  # those that use others are left out first


def _tested(cycle: Cycle, context: Context) -> frozenset[str]:
    """The variables that a loop changes and its test depends on, also by a quotient that another variable is."""
    changed, facts = written(cycle.body.stmt), said(cycle.invariant.p, context)
    flat = (unrounded(p, changed, facts) for _, p in gaps(sized(cycle.guard, facts), context.sigma))
    return (local_vars(cycle.guard) | frozenset[str]().union(*(variables(p) for p in flat if p is not None))) & changed


def with_names(outline: Outline) -> Outline:
    """The outline with a ghost for each value that an assignment such as x <- max(x, 0) replaces, while steps such as
    x <- x + 1 need none; itself where there are none, or too many, or where its writer chose ghosts."""
    locals_ = outline.context.sigma.locals
    if any(x.startswith(GHOST) for x in locals_):
        return outline
    ghosts: list[str] = []

    def named(block: Block, counters: frozenset[str]) -> Iterator[Item]:
        for item in block:
            match item:
                case Plain(Assign(x, e)) if x in local_vars(e) - counters and locals_[x] == INT and not _step(x, e):
                    ghosts.append(f"{GHOST}was{len(ghosts)}")
                    yield Plain(Assign(ghosts[-1], Var(x)))
                    yield item
                case Loop():
                    yield replace(item, body=tuple(named(item.body, counters | local_vars(item.cond))))
                case Branch():
                    then, orelse = (tuple(named(side, counters)) for side in (item.then, item.orelse))
                    yield replace(item, then=then, orelse=orelse)
                case _:
                    yield item

    body = tuple(named(outline.body, frozenset()))
    if not 0 < len(ghosts) <= limits.NAMES:
        return outline
    sigma = replace(outline.context.sigma, locals={**locals_, **dict.fromkeys(ghosts, INT)})
    return replace(outline, context=replace(outline.context, sigma=sigma), body=body)


def with_flags(outline: Outline) -> Outline:
    """The outline with a ghost for each flag that ends a loop and gets constants alone: 1 while the flag says to go on,
    else 0. What a turn costs that lowers the flag is paid once by that. Itself where there are none, or where its
    writer chose ghosts."""
    locals_ = outline.context.sigma.locals
    loops = [item for item in items(outline.body) if isinstance(item, Loop)]
    wanted = dict.fromkeys(flag for item in loops for flag in flags(item.cond, strip(item.body), outline.context.sigma))
    values: dict[str, list[Expr]] = {}
    for item in items(outline.body):
        if isinstance(item, Plain) and isinstance(item.stmt, Assign):
            values.setdefault(item.stmt.var, []).append(item.stmt.value)
    ghosts: dict[str, tuple[Var, Expr]] = {}
    for flag in wanted:
        name = next(iter(local_vars(flag)))
        if name not in ghosts and all(isinstance(e, Const) for e in values.get(name, ())):
            ghosts[name] = Var(ghost_of(name)), flag
    if not ghosts or any(x.startswith(GHOST) for x in locals_):
        return outline

    def marked(block: Block) -> Iterator[Item]:
        for item in block:
            match item:
                case Plain(Assign(x, e)) if x in ghosts:
                    ghost, flag = ghosts[x]
                    yield item
                    yield Plain(Assign(ghost.name, Const(int(worth(substitute(flag, {x: e}), {}) is True))))
                    yield Partial((_unless(flag, Op(">=", (ghost, Const(1)))), Op(">=", (ghost, Const(0)))))
                case Loop():
                    yield replace(item, body=tuple(marked(item.body)))
                case Branch():
                    then, orelse = (tuple(marked(side)) for side in (item.then, item.orelse))
                    yield replace(item, then=then, orelse=orelse)
                case _:
                    yield item

    sigma = replace(outline.context.sigma, locals={**locals_, **{ghost.name: INT for ghost, _ in ghosts.values()}})
    context = replace(outline.context, sigma=sigma)
    return replace(outline, context=context, body=tuple(marked(outline.body)))


def _left(cycle: Cycle, entry: State, number: int, outline: Outline, oracle: Oracle, summed: bool) -> Left | None:
    """A ghost for the turns that are left at most, what it is before the loop, and what is at most that at each lane:
    how far a comparison in the test is from failing, or two of them together. What lanes share needs none, unless each
    turn halves it, or a flag ends the loop in a turn that does not move the counter."""
    p, x, context = entry.p, entry.x, outline.context
    facts = said(p, context)
    known = facts.definitions
    own = {leaf: value for leaf, value in known.items() if leaf.name not in x}
    changed, other = written(cycle.body.stmt), None

    def stands(test: tuple[Expr, Poly]) -> bool:
        return any(moves(x, cycle.body.stmt) is None for x in variables(test[1]) & changed)

    def bounds(gap: Expr, distance: Poly) -> list[Poly]:
        starts = [q for defined in (known, own) for q in relaxed(unfolded(distance, defined))]
        starts.sort(key=lambda q: (any(isinstance(leaf, Tid) for leaf in leaves(q)), len(variables(q))))
        found = (*(uniform_bound(q, x, facts) for q in starts), most_of(gap, x, facts, context))
        return [q for q in found if q is not None]

    tests = sorted(gaps(sized(cycle.guard, said((), context)), context.sigma), key=stands)
    sums = dict(added(tests, changed))
    chased = dict(chases.gaps(cycle, context.sigma))
    over = {gap: bounds(gap, distance) for gap, distance in (*tests, *chased.items()) if variables(distance) & changed}
    over |= {e: [p + q for p in over[e.args[0]] for q in over[e.args[1]]] for e in sums}
    for gap, distance in (*tests, *sums.items(), *chased.items()):
        moved = variables(distance) & changed
        if not moved or (gap not in sums and _grows(distance, cycle)):
            continue
        kinds = [[q for q in over[gap] if bool(elements_in([q])) == rows] for rows in (summed, not summed)]
        shown = next(filter(None, (_shown(gap, kind, p, context, oracle) for kind in kinds)), [])
        if shown and Const(0) not in shown:  # x != 0 has two sides, one of which is nowhere above 0
            order = Op("<=", (shown[0], shown[-1]))
            known_less = len(shown) == 1 or isinstance(oracle(Entails(p, (order,)), context), Proved)
            most = shown[0] if known_less else Op("min", (shown[0], shown[1]))
            ghost = Var(f"{GHOST}left{number}")
            differs = bool(moved - cycle.invariant.x)
            by_one, fall = Op("-", (ghost, Const(1))), _fall(distance, cycle)
            ends = flags(cycle.cond, cycle.body.stmt, context.sigma)
            ends = (*ends, *([reduce(lambda a, b: Op("&&", (a, b)), ends)] if len(ends) > 1 else []))
            halved = gap not in sums and gap not in chased and (fall is None or not differs)
            ways = [(flag, Op("/", (ghost, Const(2)))) for flag in (None, *ends) if halved]
            if fall not in (None, Const(1)):
                ways += [(flag, Op("-", (ghost, fall))) for flag in ((None, *ends) if differs else ends)]
            ways += [(flag, by_one) for flag in ((None, *ends) if gap in sums or chased else ends)]
            for flag, less in ways:
                if wanted := _lessened(cycle, p, Left(ghost, most, gap, less, flag), outline, oracle):
                    return Left(ghost, most, gap, less, flag, wanted)
            if differs and gap not in chased:
                one = Left(ghost, most, gap, by_one)
                if sums and gap not in sums and _lessened(cycle, p, one, outline, oracle):
                    return one  # it falls without the other
                other = other or one
    return other


def _shown(gap: Expr, bounds: Iterable[Poly], p: P, context: Context, oracle: Oracle) -> list[Expr]:
    """Those of the bounds that the gap is shown not to be above, as expressions; with minima, maxima and quotients in
    them only where there are no others."""
    known = [*bounds]
    plain = dict.fromkeys(as_expr(q, bases=bool(elements_in([q]))) for q in known)
    for some in (plain, dict.fromkeys(as_expr(q, bases=True) for q in known)):
        orders = ((e, Op("<=", (gap, e))) for e in some if e is not None)
        if shown := [e for e, order in orders if isinstance(oracle(Entails(p, (order,)), context), Proved)]:
            return shown
    return []


def _fall(distance: Poly, cycle: Cycle) -> Expr | None:
    """By how much each step of the counter, if there is one, takes from the distance."""
    fall = _taken(distance, cycle)
    return None if fall is None or (fall.is_constant and fall.constant <= 0) else as_expr(fall)


def _grows(distance: Poly, cycle: Cycle) -> bool:
    """Whether each step of the counter adds to the distance: of `i != n` the one that ends no loop."""
    fall = _taken(distance, cycle)
    return fall is not None and fall.is_constant and fall.constant < 0


def _taken(distance: Poly, cycle: Cycle) -> Poly | None:
    """The difference that each step of the counter makes to the distance, if there is one counter."""
    counters = variables(distance) & written(cycle.body.stmt)
    found = moves(min(counters), cycle.body.stmt) if len(counters) == 1 else None
    if not found or len(set(found)) > 1 or variables(found[0]):
        return None
    counter = Var(min(counters))
    return distance - substituted(distance, {counter: sym(counter) + found[0]})


def _lessened(cycle: Cycle, entry: P, left: Left, outline: Outline, oracle: Oracle) -> tuple[Expr, ...]:
    """A fact at the end of each turn by which the ghost may be lessened there, if one can be shown."""
    context, loops = outline.context, (item for item in items(outline.body) if isinstance(item, Loop))
    body = next((loop.body for loop in loops if loop.loc == cycle.loc), ())
    sigma = replace(context.sigma, locals={**context.sigma.locals, left.ghost.name: INT})
    moved = sorted(local_vars(left.gap) & written(cycle.body.stmt))
    known, enough = numbers(entry), Op("<=", (left.gap, left.ghost))
    lows = tuple(Op(">=", (Var(x), Const(known.get(Var(x), 0)))) for x in moved)
    lows = tuple(e for e in lows if isinstance(oracle(Entails(entry, (e,)), context), Proved))
    smaller = _unless(left.flag, Op("<=", (left.gap, left.less)))
    for kept in (lows, ()) if lows else ((),):
        wanted = (smaller, *kept)
        prepared = _prepared(body, wanted, left.flag, sigma)
        if prepared is not None:
            given = conj((*cycle.body.start.p, enough, *kept), sigma)
            shown = oracle(Entails(given, conj(prepared[1], sigma)), replace(context, sigma=sigma))
            if isinstance(shown, Proved):
                return wanted
    return ()


def _prepared(
    block: Block, wanted: tuple[Expr, ...], flag: Expr | None, sigma: Signature
) -> tuple[Block, tuple[Expr, ...]] | None:
    """A block with conditions before its branches, and at the end of each side, which imply what is wanted at its end,
    and what has to hold at its beginning; None where its statements do not tell. What is wanted only if a flag holds
    is wanted anyway where the flag is not assigned: so it can be shown without cases."""
    placed: list[Item] = []
    for item in reversed(block):
        match item:
            case Plain(Assign(x, e)) if any(x in local_vars(c) for c in wanted):
                if flag is not None and _lowers(flag, x, e):
                    wanted = tuple(c for c in wanted if _told(c, flag) == c)
                if opaque(e, sigma):
                    wanted = tuple(_told(c, flag) for c in wanted)
                    if any(x in local_vars(c) for c in wanted):
                        return None
                wanted = tuple(substitute(c, {x: settled(e, sigma)}) for c in wanted)
                lost = x in local_vars(e) and inverse(x, e) is None  # what was known of it before, as of x <- x / 2
                if lost or reads_array(e) or (sigma.stable and isinstance(e, Var)):
                    placed.append(item)
                    item = Partial(wanted)
            case Branch() if local_vars(Op("&&", wanted)) & written(strip((item,))):
                sides: list[Block] = []
                before: list[Expr] = []
                for side in (item.then, item.orelse):
                    stays = flag is not None and not local_vars(flag) & written(strip(side))
                    here = tuple(_told(c, flag) if stays else c for c in wanted)
                    if flag is not None and flag == item.cond and side is item.orelse:
                        here = tuple(c for c in wanted if _told(c, flag) == c)
                    found = _prepared(side, here, flag, sigma)
                    if found is None:
                        return None
                    sides.append((*found[0], *map(Partial, dict.fromkeys((here, wanted)))))
                    only = flag is not None and flag == item.cond and side is item.then
                    before += [_unless(flag, _told(c, flag)) if only else c for c in found[1]]
                wanted = tuple(dict.fromkeys(before))
                placed.append(replace(item, then=sides[0], orelse=sides[1]))
                item = Partial(wanted)
            case Loop() if local_vars(Op("&&", wanted)) & written(strip((item,))):
                return None
        placed.append(item)
    return tuple(reversed(placed)), wanted


def _lowers(flag: Expr, x: str, e: Expr) -> bool:
    """Whether a flag, or one of several, is down after x got this value."""
    parts = flag.args if isinstance(flag, Op) and flag.op == "&&" else (flag,)
    return (
        any(_lowers(part, x, e) for part in parts) if len(parts) > 1 else worth(substitute(flag, {x: e}), {}) is False
    )


def _told(c: Expr, flag: Expr | None) -> Expr:
    """The part of a condition that is left where the flag holds."""
    match c:
        case Op("||", (Op("!", (known,)), fact)) if known == flag:
            return fact
    return c


def cycles(flow: Flow) -> Iterator[Cycle]:
    """The loops of a flow that are not unrolled, outer ones first."""
    return (node for node in within(flow) if isinstance(node, Cycle))


def _entered(flow: Flow, entry: State | None = None) -> Iterator[tuple[Cycle, State]]:
    """The same with the state in which each begins: before its first turn, where that is taken apart."""
    for node in flow.nodes:
        begun = entry if node is flow.nodes[-1] else None
        match node:
            case Cycle():
                yield node, begun or node.before
                yield from _entered(node.body)
            case Fork():
                first = (begun or node.before) if node.loop is not None else None
                for side in (node.then, node.orelse):
                    if isinstance(side, Flow):
                        yield from _entered(side, first)


def windows(flow: Flow) -> frozenset[Loc | None]:
    """Where the loops are whose counter begins, and has its limit, at a place of each lane's own: what is known of
    either end alone pays for more turns than both are apart."""
    found = set()
    for cycle in cycles(flow):
        own, moved = local_vars(cycle.guard) - cycle.before.x, written(cycle.body.stmt)
        if own & moved and own - moved:
            found.add(cycle.loc)
    return frozenset(found)


def _parts(counter: str, state: State, sizes: Mapping[Leaf, Poly]) -> tuple[Expr, Expr] | None:
    """The counter's value before the loop, what lanes share and what depends on threadIdx, if P defines it."""
    facts = Facts(state.p)
    known = facts.definitions
    kept = _said(state)
    defined = {
        leaf: p
        for leaf, p in known.items()
        if leaf.name not in state.x
        or (leaf.name not in kept and any(isinstance(t, Tid) for t in leaves(unfolded(p, known))))
    }
    value = by_lane(unfolded(sym(Var(counter)), defined), state.x, facts)
    if any(isinstance(leaf, Var) and leaf.name not in state.x for leaf in leaves(value)):
        return None
    lane = of_terms(term for term in value.terms if any(isinstance(leaf, Tid) for leaf in leaves(Poly((term,)))))
    shared, own = as_expr(value - lane), as_expr(lane)
    if shared is None or own is None:
        return _summands(counter, state, sizes)
    return (shared, own) if lane.terms else None


def _said(state: State) -> set[str]:
    """The variables that lanes share and that P equates with what is over parameters alone, where P speaks of elements
    of arrays: there they may stay, and be known again."""
    if not any(map(elements, state.p)):
        return set()
    values = ((leaf.name, of_expr(e)) for leaf, e in equations(state.p) if leaf.name in state.x)
    return {x for x, p in values if p is not None and all(isinstance(leaf, Param) for leaf in leaves(p))}


def _summands(counter: str, state: State, sizes: Mapping[Leaf, Poly]) -> tuple[Expr, Expr] | None:
    """The same where the lane's part is no polynomial, as in threadIdx.x % 32: by the summands as they are written."""
    defined: dict[str, Expr] = {}
    for leaf, e in equations(state.p):
        if isinstance(leaf, Var) and not reads_array(e):
            defined.setdefault(leaf.name, e)
    lanes, value = _lanes(defined) - _said(state), cast("Expr", Var(counter))
    for _ in range(MAX_CHAIN):
        value = substitute(value, {x: e for x, e in defined.items() if x not in state.x or x in lanes})
        if sum(1 for _ in subterms(value)) > limits.VALUE:
            return None
    total: dict[bool, Expr] = {}
    for e, minus in _summed(value, sizes):
        own = mentions_tid(e)
        total[own] = _plus(total.get(own, Const(0)), e, minus)
    if True not in total or not local_vars(value) <= state.x:
        return None
    return total.get(False, Const(0)), total[True]


def _summed(e: Expr, sizes: Mapping[Leaf, Poly]) -> Iterator[tuple[Expr, bool]]:
    """The summands of an expression, and whether they are taken away: of (256 * blockIdx.x + threadIdx.x) / 32 too,
    which are 8 * blockIdx.x and threadIdx.x / 32."""
    match e:
        case Op("+" | "-" as op, (a, b)):
            yield from _summed(a, sizes)
            yield from ((part, minus != (op == "-")) for part, minus in _summed(b, sizes))
        case Op("/" | "%" | ">>" | "&" as op, (a, Const(int(k)))) if k > 0:
            size = {">>": 1 << min(k, 64), "&": k + 1 if k & (k + 1) == 0 else 0}.get(op, k)
            if not size:
                yield e, False
                return
            whole, rest = const(0), cast("Expr", Const(0))
            for part, minus in _summed(a, sizes):
                p = None if mentions_tid(part) else of_expr(part)
                p = None if p is None else substituted(p, sizes) * Fraction(-1 if minus else 1, size)
                if p is None or any(c.denominator > 1 for _, c in p.terms):
                    rest = _plus(rest, part, minus)
                else:
                    whole += p
            shared = as_expr(whole)
            if shared is None or not whole.terms:
                yield e, False
                return
            if op in ("/", ">>"):
                yield shared, False
            yield Op(op, (rest, Const(k))), False
        case _:
            yield e, False


def _plus(a: Expr, b: Expr, minus: bool) -> Expr:
    return b if a == Const(0) and not minus else a if b == Const(0) else Op("-" if minus else "+", (a, b))


def _lanes(defined: Mapping[str, Expr]) -> set[str]:
    """The variables with threadIdx in their definitions, or in those of variables in them."""
    found: set[str] = set()
    for _ in defined:
        grown = {x for x, e in defined.items() if local_vars(e) & found or mentions_tid(e)}
        if grown == found:
            break
        found = grown
    return found


def _limited(item: Loop, own: Mapping[str, Expr], sigma: Signature) -> Iterator[Expr]:
    """The test of a loop about ghosts, as about counters that are no less, where a loop in it goes up to these: a row
    of a triangle that all lanes see is no longer than the last one."""
    changed = written(strip(item.body))
    inner = {x for one in items(item.body) if isinstance(one, Loop) for x in local_vars(one.cond)}
    for test in conj((item.cond,), sigma):
        match test:
            case Op("<" | "<=" as op, (Var(x), limit)) if x in own and x in inner and not local_vars(limit) & changed:
                p = of_expr(own[x])
                if p is not None and not mentions_tid(limit) and all(c > 0 for _, c in p.terms):
                    yield Op(op, (Var(ghost_of(x)), limit))


def _step(counter: str, value: Expr) -> Expr | None:
    """The increment of the counter by an assignment of the value."""
    after = of_expr(value)
    step = None if after is None else as_expr(after - sym(Var(counter)))
    match value:
        case Op("+", (Var(name), e)) if step is None and name == counter:
            return e
    return step


def _block(
    block: Block, lanes: Parts, left: Mapping[Loc | None, Left], sigma: Signature, around: X = frozenset()
) -> Block:
    """A block with its ghosts; those `around` it belong to what its loops list as uniform, too."""
    return tuple(new for item in block for new in _item(item, lanes, left, sigma, around))


def _item(item: Item, lanes: Parts, left: Mapping[Loc | None, Left], sigma: Signature, around: X) -> Iterator[Item]:
    match item:
        case Loop():
            counters = {counter for counter, loc in lanes if loc == item.loc}
            own_ghosts = {ghost_of(counter) for counter in counters}
            inside = around | own_ghosts | ({left[item.loc].ghost.name} if item.loc in left else set())
            for counter in sorted(written(strip(item.body)) & counters):
                shared, own = lanes[counter, item.loc]
                ghost = Var(ghost_of(counter))
                yield Plain(Assign(ghost.name, shared))
                yield Partial((Op("==", (ghost, Op("-", (Var(counter), own)))),))
            body = _block(item.body, lanes, left, sigma, inside)
            if item.loc in left:
                found = left[item.loc]
                enough = Op("<=", (found.gap, found.ghost))
                yield Plain(Assign(found.ghost.name, found.most))
                yield from map(Partial, dict.fromkeys(((enough, *found.wanted[1:]), (_unless(found.flag, enough),))))
                prepared = _prepared(body, found.wanted, found.flag, sigma) if found.wanted else None
                told = () if found.flag is None else (Partial((enough,)),)
                body = (*told, *(prepared[0] if prepared else body), Plain(Assign(found.ghost.name, found.less)))
            limited = _limited(item, {counter: lanes[counter, item.loc][1] for counter in counters}, sigma)
            body = (*(Partial((e,)) for e in limited), *body)
            listed = None if item.invariant.x is None else item.invariant.x | inside
            yield replace(item, invariant=replace(item.invariant, x=listed), body=body)
        case Branch():
            then, orelse = (_block(side, lanes, left, sigma, around) for side in (item.then, item.orelse))
            yield replace(item, then=then, orelse=orelse)
        case Plain(Assign(counter, value)) if any(counter == name for name, _ in lanes):
            yield item
            step = _step(counter, value)
            if step is not None and counter not in local_vars(step):
                yield Plain(Assign(ghost_of(counter), Op("+", (Var(ghost_of(counter)), step))))
        case _:
            yield item
