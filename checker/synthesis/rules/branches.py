"""Branches: Q:If2 and Q:If3 where the outcome is known, Q:If1 where the lanes agree, Q:If4 where they may not; and
Q:CaseSplit, which proves one program twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from checker.synthesis.nodes import Flow, Fork, State, begun, flowing
from checker.synthesis.outline import Block, Branch, Cases, Split, strip
from checker.synthesis.partial import Ranges, under
from checker.synthesis.rules.transformer import Analysis, Transformer
from checker.synthesis.walk import Amount, Parts, Point, Proof, Walk, named
from logic.assertions import P, assume, conj
from logic.derivation import Value
from logic.facts import compared
from logic.source import Loc
from logic.syntax import Expr, If, Op, Var, written

A = TypeVar("A", bound=Amount)

ALWAYS, NEVER = "Q:If2", "Q:If3"
"""The rules for branches that are known to go one way."""


# --- one way ---------------------------------------------------------------------------------------------------------


def _always(a: Analysis, item: Branch, state: State, forced: bool) -> Fork | None:
    if not forced and not a.entails(state.p, item.cond):
        return None
    then = a.block(item.then, state)
    return Fork(ALWAYS, item.cond, then, strip(item.orelse), state, then.end, item.loc)


def _never(a: Analysis, item: Branch, state: State, forced: bool) -> Fork | None:
    if not forced and not a.entails(state.p, Op("!", (item.cond,))):
        return None
    orelse = a.block(item.orelse, state)
    return Fork(NEVER, item.cond, strip(item.then), orelse, state, orelse.end, item.loc)


def _one_way(w: Walk[A], node: Fork, post: Point[A]) -> Proof[A]:
    p, x = node.before.p, node.before.x
    live, dead = (node.then, node.orelse) if node.rule == ALWAYS else (node.orelse, node.then)
    if not isinstance(live, Flow) or isinstance(dead, Flow):
        raise TypeError(f"{node.rule} has a flow of the side that is taken, and the program of the other")
    taken = w.block(live, post)
    c, d = w.cost(p, x, node.cond)
    s1, s2 = (taken.stmt, dead) if node.rule == ALWAYS else (dead, taken.stmt)

    def parts() -> Parts:
        here = named("", Point(p, taken.pre.q, x)) | named("'", post) | {"e": node.cond, "C": c, "s1": s1, "s2": s2}
        return here, (d, taken.derivation)

    pre = Point(p, taken.pre.q + (w.context.metric.cost("if") + c), x)
    return w.conclude(node.rule, pre, If(node.cond, s1, s2, node.loc), post, node.loc, parts)


# --- both ways -------------------------------------------------------------------------------------------------------


def sides(a: Analysis, item: Branch, state: State) -> tuple[State, State]:
    """The facts where the condition holds, and where it does not."""
    yes, no = (assume(state.p, item.cond, a.sigma, holds) for holds in (True, False))
    return State(yes, state.x), State(no, state.x)


def _as_told(state: State, a: Analysis) -> State:
    """A state with what P says that the flags are which hold or fail: n > 3 where p does, and p == (n > 3)."""
    found = state.p
    for f in state.p:
        flag, holds = (f.args[0], False) if isinstance(f, Op) and f.op == "!" else (f, True)
        if isinstance(flag, Var):
            told = (e for x, op, e in compared(state.p) if op == "==" and x == flag)
            found = conj((*found, *(c for e in told for c in assume((), e, a.sigma, holds))), a.sigma)
    return State(found, state.x)


def _agreed(a: Analysis, item: Branch, state: State, forced: bool) -> Fork | None:
    if not forced and not a.uniform(state.p, state.x, item.cond):
        return None
    yes, no = sides(a, item, state)
    if a.sharp:
        yes, no = _as_told(yes, a), _as_told(no, a)
    then, orelse = a.block(item.then, yes), a.block(item.orelse, no)
    after = State(a.merged(item, state.p, then.end.p, orelse.end.p), then.end.x & orelse.end.x)
    return Fork("Q:If1", item.cond, then, orelse, state, after, item.loc, agreed=True)


def _agree(w: Walk[A], node: Fork, post: Point[A]) -> Proof[A]:
    p, x = node.before.p, node.before.x
    then, orelse = flowing(node)
    yes, no = then.start, orelse.start
    second = w.block(orelse, post)
    first = w.block(then, post)
    sides = w.clamped(yes, first.pre.q), w.clamped(no, second.pre.q)
    q = w.within(node.before, w.larger(begun(then, yes), sides[0], begun(orelse, no), sides[1], node))
    first, second = w.paid(then, q, first), w.paid(orelse, q, second)
    c, d = w.cost(p, x, node.cond)
    for yes_p, no_p in ((yes.p, no.p), (w.where(node.before, node.cond).p, w.opposite(node.before, node.cond).p)):
        first = w.weaken(first, Point(yes_p, q, x), post)
        second = w.weaken(second, Point(no_p, q, x), post)

    def parts() -> Parts:
        here: dict[str, Value] = {"e": node.cond, "C": c, "s1": first.stmt, "s2": second.stmt}
        return named("", Point(p, q, x)) | named("'", post) | here, (d, first.derivation, second.derivation)

    pre = Point(p, q + (w.context.metric.cost("if") + c), x)
    return w.conclude("Q:If1", pre, If(node.cond, first.stmt, second.stmt, node.loc), post, node.loc, parts)


def _apart(a: Analysis, item: Branch, state: State, _: bool) -> Fork:
    yes, no = sides(a, item, state)
    then = a.block(item.then, yes)
    middle = State(no.p, (state.x & then.end.x) - written(strip(item.then)))
    orelse = a.block(item.orelse, middle)
    x = (orelse.end.x & middle.x) - written(strip(item.orelse))
    after = State(a.merged(item, state.p, then.end.p, orelse.end.p), x)
    return Fork("Q:If4", item.cond, then, orelse, state, after, item.loc)


def _part(w: Walk[A], node: Fork, post: Point[A]) -> Proof[A]:
    """By how many lanes take the branch, where that costs less."""
    ranges = w.ranges(node)
    return _both(w, node, post) if ranges is None else _by_ranges(w, node, post, ranges)


def _by_ranges(w: Walk[A], node: Fork, post: Point[A], ranges: Ranges) -> Proof[A]:
    """By each test, one in the other: no lanes pass it, or so many, or all do."""
    then, orelse = flowing(node)
    context, x, sigma = w.context, node.before.x, w.context.sigma
    passing, failing = (orelse, then) if ranges.turned else (then, orelse)
    none, all_ = (ALWAYS, NEVER) if ranges.turned else (NEVER, ALWAYS)

    def one(rule: str, live: Flow, p: P, *facts: Expr) -> Proof[A]:
        live = replace(under(live, facts, context), start=State(p, x))
        first, second = (live, orelse.stmt) if rule == ALWAYS else (then.stmt, live)
        return _one_way(w, replace(node, before=State(p, x), rule=rule, then=first, orelse=second), post)

    def both(p: P, ends: Sequence[int | None], firsts: Sequence[int | None]) -> Proof[A]:
        sure = (test.told for test, end in zip(ranges.tests, ends, strict=True) if end is None)
        here = State(conj((*p, *sure), sigma) if len(ends) > 1 else p, x)
        sides = under(passing, ranges.passed(ends), context), under(failing, ranges.failed(firsts), context)
        first, second = reversed(sides) if ranges.turned else sides
        first = replace(first, start=State(assume(here.p, node.cond, sigma), x))
        proof = _both(w, replace(node, before=here, then=first, orelse=second), post)
        return w.weaken(proof, Point(p, proof.pre.q, x), post)

    def cases(p: P, ends: tuple[int | None, ...] = (), firsts: tuple[int | None, ...] = ()) -> Proof[A]:
        """The proof where the ranges of the first tests are known, None beyond them."""
        k = len(ends)
        if k == len(ranges.tests):
            if any(end is not None for end in ends):
                return both(p, ends, firsts)
            return one(all_, passing, p, *ranges.passed(ends))
        borders = 0, *ranges.ends[k]
        tests = [ranges.tests[k].within(end) for end in borders]
        told = [conj((*p, *(Op("!", (e,)) for e in tests[:i])), sigma) for i in range(len(tests) + 1)]
        rest = cases(told[-1], (*ends, None), (*firsts, None))
        for i in reversed(range(len(tests))):
            here = conj((*told[i], tests[i]), sigma)
            case = (
                cases(here, (*ends, borders[i]), (*firsts, borders[i - 1] + 1))
                if i
                else one(none, failing, here, tests[0])
            )
            rest = _either(w, State(told[i], x), tests[i], (case, rest), node.loc)
        return rest

    whole = cases(conj((*node.before.p, *ranges.rows), sigma))
    return w.weaken(whole, Point(node.before.p, whole.pre.q, x), post)


def _both(w: Walk[A], node: Fork, post: Point[A]) -> Proof[A]:
    """Either side may be all that runs, and the second after the first: each is paid for."""
    p, x = node.before.p, node.before.x
    then, orelse = flowing(node)
    yes, no = then.start, w.opposite(node.before, node.cond)
    second = w.block(orelse, Point(orelse.end.p, post.q, orelse.end.x))
    middle = w.within(then.end, w.larger(then.end, second.pre.q, then.end, post.q))
    first = w.block(then, Point(then.end.p, middle, then.end.x))
    q = w.within(node.before, w.larger(yes, w.clamped(yes, first.pre.q), no, w.clamped(no, second.pre.q)))
    c, d = w.cost(p, x, node.cond)
    first = w.weaken(first, Point(yes.p, q, x), first.post)

    def parts() -> Parts:
        here: dict[str, Value] = {"e": node.cond, "C": c, "s1": first.stmt, "s2": second.stmt}
        here |= named("", Point(p, q, x)) | named("1", first.post) | named("'", second.pre)
        return here | named("2", second.post) | named("''", post), (d, first.derivation, second.derivation)

    pre = Point(p, q + (w.context.metric.cost("if") + c + w.context.metric.cost("div")), x)
    return w.conclude("Q:If4", pre, If(node.cond, first.stmt, second.stmt, node.loc), post, node.loc, parts)


# --- one program, twice ----------------------------------------------------------------------------------------------


def _split(a: Analysis, item: tuple[Split | Cases, Block], state: State, _: bool) -> Fork:
    split, rest = item
    sides = (split.then, split.orelse) if isinstance(split, Cases) else (rest, rest)
    bases = split.bases if isinstance(split, Cases) else ()
    cases = (assume(state.p, split.cond, a.sigma, holds) for holds in (True, False))
    yes, no = (a.block(side, State(p, state.x)) for side, p in zip(sides, cases, strict=True))
    after = State(a.join(yes.end.p, no.end.p), yes.end.x & no.end.x)
    return Fork("Q:CaseSplit", split.cond, yes, no, state, after, split.loc, agreed=True, bases=bases)


def _twice(w: Walk[A], node: Fork, post: Point[A]) -> Proof[A]:
    then, orelse = flowing(node)
    no = w.block(orelse, post)
    yes = w.block(then, post)
    return _either(w, node.before, node.cond, (yes, no), node.loc, node if node.bases else None)


def _either(
    w: Walk[A], before: State, cond: Expr, sides: tuple[Proof[A], Proof[A]], loc: Loc | None, at: Fork | None = None
) -> Proof[A]:
    """One proof from two of a program, where a condition holds and where it does not."""
    yes, no = sides
    q = w.within(before, w.larger(_start(yes), yes.pre.q, _start(no), no.pre.q, at))
    pre, post = Point(before.p, q, before.x), yes.post
    yes, no = (w.weaken(side, Point(side.pre.p, q, side.pre.x), post) for side in sides)

    def parts() -> Parts:
        return named("", pre) | named("'", post) | {"e": cond, "s": yes.stmt}, (yes.derivation, no.derivation)

    return w.conclude("Q:CaseSplit", pre, yes.stmt, post, loc, parts)


def _start(proof: Proof[A]) -> State:
    return State(proof.pre.p, proof.pre.x)


RULES = (
    Transformer(ALWAYS, _always, _one_way),
    Transformer(NEVER, _never, _one_way),
    Transformer("Q:If1", _agreed, _agree),
    Transformer("Q:If4", _apart, _part),
    Transformer("Q:CaseSplit", _split, _twice, by_name=True),
)
