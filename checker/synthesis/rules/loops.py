"""Loops: Q:While1 where the lanes leave together, Q:WhileCase where a condition tells that they do, Q:While2 where
they may not; and Q:Unroll, a turn by itself.

`forward` gets a loop whose invariant is found (`checker.synthesis.flow`): a node without a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import TypeVar

from checker.synthesis.guards import by_extremes, by_lane, distances, some
from checker.synthesis.measures import lengths, partings
from checker.synthesis.nodes import Cycle, Fork, State
from checker.synthesis.outline import Branch, Loop, strip
from checker.synthesis.rules.transformer import Analysis, Transformer
from checker.synthesis.walk import Amount, Parts, Point, Proof, Walk, named, told
from logic.assertions import Context, X, assume
from logic.comparisons import as_expr
from logic.derivation import Value
from logic.facts import Facts, said, unfolded
from logic.potentials import ZERO, Leaf, Poly, leaves, substitute, sym, variables
from logic.syntax import FALSE, WARP_INDEX, Const, Expr, Op, Param, Tid, While, written
from logic.typing import Signature

A = TypeVar("A", bound=Amount)


def _left(a: Analysis, node: Cycle, together: bool) -> State:
    """The facts and X after a loop; where lanes leave it one by one, nothing that it writes is uniform."""
    x = node.invariant.x
    x = x if together else x - written(node.body.stmt)
    return State(assume(node.invariant.p, node.cond, a.sigma, False), x)


def _agreed(a: Analysis, node: Cycle, _: State, forced: bool) -> Cycle | None:
    if not forced and not a.uniform(node.invariant.p, node.invariant.x, node.cond):
        return None
    return replace(node, rule="Q:While1", after=_left(a, node, together=True))


def apart(a: Analysis, node: Cycle, _: State, __: bool) -> Cycle:
    """Q:While2, where no other rule applies."""
    return replace(node, rule="Q:While2", after=_left(a, node, together=False))


Turn = Callable[[Walk[A], Cycle, A, Point[A]], tuple[Proof[A], dict[str, Value]]]
"""How a turn is proved, from the potential that the test leaves to the loop's head; and what the rule calls its
parts."""


def _whole(w: Walk[A], node: Cycle, q: A, head: Point[A]) -> tuple[Proof[A], dict[str, Value]]:
    return w.turn(node, q, head), {}


def turns(
    w: Walk[A],
    node: Cycle,
    post: Point[A],
    div: Fraction,
    end: Callable[[A, State], tuple[Point[A], dict[str, Value]]],
    turn: Turn[A] = _whole,
) -> Proof[A]:
    """A proof of a loop from the potential at its head. `div` is what the test is charged besides itself; `end` gives
    the postcondition, and what the rule calls its parts, from the potential that the test leaves."""
    p, x = node.invariant.p, node.invariant.x
    c, d = w.cost(p, x, node.cond)
    price = w.context.metric.cost("if") + c + div
    head = Point(p, w.head(node, price, post.q), x)
    q = head.q - price
    body, within = turn(w, node, q, head)
    after, more = end(q, w.opposite(node.invariant, node.cond))

    def parts() -> Parts:
        here: dict[str, Value] = {"e": node.cond, "C": c, "s": body.stmt, **node.parts, **within, **more}
        return named("", Point(p, q, x)) | here, (d, body.derivation)

    loop = w.conclude(node.rule, head, While(node.cond, body.stmt, node.loc), after, node.loc, parts)
    return w.weaken(loop, Point(node.before.p, head.q, node.before.x), post)


def _agree(w: Walk[A], node: Cycle, post: Point[A]) -> Proof[A]:
    return turns(w, node, post, Fraction(0), lambda q, left: (Point(left.p, q, node.invariant.x), {}))


def leave(w: Walk[A], node: Cycle, post: Point[A], div: Fraction, turn: Turn[A] = _whole) -> Proof[A]:
    """The same where lanes leave the loop one by one."""

    def end(_: A, left: State) -> tuple[Point[A], dict[str, Value]]:
        after = Point(left.p, post.q, node.after.x)
        return after, {"Q'": told(after.q), "X'": after.x}

    return turns(w, node, post, div, end, turn)


def _leave(w: Walk[A], node: Cycle, post: Point[A]) -> Proof[A]:
    return leave(w, node, post, w.context.metric.cost("div"))


# --- together in a case ----------------------------------------------------------------------------------------------


def _in_a_case(a: Analysis, node: Cycle, _: State, forced: bool) -> Cycle | None:
    p, x = node.invariant.p, node.invariant.x
    if forced or a.printed:
        return None
    facts, last = said(p, a.context), tuple(some(length) for length in lengths(node, a.context))
    ends = _ends(node.cond, x, a.context, facts, a.sigma)
    if any(partings(node, *pair, a.context) is not None for pair in ends):  # else the lanes of a block leave together
        ends = _ends(node.cond, x, a.context, facts, a.sigma, by_warps=_in_rows(a.context))
        last += tuple(partings(node, *pair, a.context) or some(pair[1]) for pair in ends)
    firsts = [as_expr(first, bases=True) for first, _ in ends]
    if not firsts or None in firsts:
        return None
    case = reduce(lambda b, c: Op("&&", (b, c)), [Op(">", (e, Const(0))) for e in firsts if e is not None])
    if not a.uniform(p, x, case):
        return None
    there = assume(p, case, a.sigma)
    if a.entails(there, FALSE) or not a.uniform(there, x, node.cond):
        return None
    return replace(node, rule="Q:WhileCase", after=_left(a, node, together=False), parts={"e1": case}, bases=last)


def _in_rows(context: Context) -> bool:
    """Whether blocks are rows of several warps."""
    x, *others = context.launch.block
    return others == [1, 1] and (x is None or x > context.hardware.warp)


def _ends(
    cond: Expr, x: X, context: Context, facts: Facts, sigma: Signature, by_warps: bool = False
) -> list[tuple[Poly, Poly]]:
    """Of the comparisons in a test that lanes may disagree on: how far they are from failing at the lane that is the
    first to fail, and at the last, uniform both; of the lanes of a block, or of a warp where it lies in one row.
    Nothing where that is not seen of one. A guess: the test keeps a warp together while the first of
    all are positive."""
    known, found = facts.constants, list[tuple[Poly, Poly]]()
    differing = {leaf: p for leaf, p in facts.definitions.items() if leaf.name not in x}
    for distance in distances(cond, sigma):
        own = unfolded(by_lane(distance, x, facts), differing)
        if variables(own) <= x and not any(isinstance(leaf, Tid) for leaf in leaves(own)):
            continue
        ends = []
        for most in (False, True):
            end = by_extremes(own, facts, most=most)
            lanes = {leaf for leaf in leaves(end) if isinstance(leaf, Tid)}
            at: dict[Leaf, Poly] = {}
            for lane in lanes:
                rate = next((c for m, c in end.terms if m == sym(lane).terms[0][0]), None)
                if rate is None:
                    return []
                in_row = by_warps and lane == Tid("x")
                warp = sym(Param(WARP_INDEX)) * context.hardware.warp
                low = warp if in_row else ZERO
                high = warp + (context.hardware.warp - 1) if in_row else sym(Param(f"blockDim.{lane.axis}")) - 1
                at[lane] = low if (rate > 0) != most else high
            ends.append(substitute(substitute(end, at), known))
        first, last = ends
        if not variables(first) <= x:
            return []
        found.append((first, last))
    return found


def _by_cases(w: Walk[A], node: Cycle, q: A, head: Point[A]) -> tuple[Proof[A], dict[str, Value]]:
    """A turn that pays for the test's splitting the warp only where that may be."""
    body, start, div = w.body(node.body, head), node.body.start, w.context.metric.cost("div")
    for holds, more in ((True, Fraction(0)), (False, div)):
        here = assume(start.p, node.parts["e1"], w.context.sigma, holds)
        w.covers(State(here, start.x), q, body.pre.q + more)
    return w.weaken(body, Point(start.p, body.pre.q, head.x), body.post), {"Q1": told(body.pre.q)}


def _leave_last(w: Walk[A], node: Cycle, post: Point[A]) -> Proof[A]:
    return leave(w, node, post, Fraction(0), _by_cases)


# --- a turn by itself ------------------------------------------------------------------------------------------------


def _once(a: Analysis, item: tuple[Loop, Branch], state: State, _: bool) -> Fork | None:
    loop, again = item
    fork = a.fork(again, state)
    return replace(fork, loop=While(loop.cond, strip(loop.body), loop.loc))


def _unroll(w: Walk[A], node: Fork, post: Point[A]) -> Proof[A]:
    if node.loop is None:
        raise TypeError("a loop is meant")
    loop = node.loop
    once = w.node(replace(node, loop=None), post)

    def parts() -> Parts:
        return named("", once.pre) | named("'", once.post) | {"e": loop.cond, "s": loop.body}, (once.derivation,)

    return w.conclude("Q:Unroll", once.pre, loop, once.post, node.loc, parts)


RULES = (
    Transformer("Q:While1", _agreed, _agree),
    Transformer("Q:WhileCase", _in_a_case, _leave_last),
    Transformer("Q:While2", apart, _leave),
    Transformer("Q:Unroll", _once, _unroll, by_name=True),
)
