"""Loops: Q:While1 where the lanes leave together, Q:WhileCase where a condition tells that they do, Q:While2 where
they may not; and Q:Unroll, a turn by itself.

`forward` gets a loop whose invariant is found (`checker.synthesis.flow`): a node without a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import TypeVar

from checker.synthesis.flags import parted
from checker.synthesis.guards import distances, in_rows, lane_ends, some
from checker.synthesis.measures import lengths, partings
from checker.synthesis.nodes import Cycle, Fork, State
from checker.synthesis.outline import Branch, Loop, strip
from checker.synthesis.rules.transformer import Analysis, Transformer
from checker.synthesis.walk import Amount, Parts, Point, Proof, Walk, named, told
from logic.assertions import X, assume, conj
from logic.comparisons import as_expr
from logic.derivation import Value
from logic.facts import said
from logic.operators import ORDERS
from logic.potentials import Poly, const, leaves, sym, variables
from logic.syntax import FALSE, Const, Expr, Op, Tid, Var, While, written
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
    ends = lane_ends(node.cond, x, a.context, facts, a.sigma)
    if any(partings(node, *pair, a.context) is not None for pair in ends):  # else the lanes of a block leave together
        ends = lane_ends(node.cond, x, a.context, facts, a.sigma, by_warps=in_rows(a.context))
        last += tuple(partings(node, *pair, a.context) or some(pair[1]) for pair in ends)
    firsts = [as_expr(first, bases=True) for first, _ in ends]
    marks = [(sym(Var(z)), end) for z, end in parted(node.cond, p) if z in x]
    last += tuple(mark for mark, _ in marks)
    firsts += [as_expr(const(1) - mark) for mark, end in marks if not end]
    firsts += [as_expr(over) for over in _shared(node.cond, x, a.sigma)] if marks else []
    if not firsts or None in firsts:
        return None
    known, zero = [e for e in firsts if e is not None], Const(0)
    if marks:
        case = Op(">", (reduce(lambda b, c: Op("min", (b, c)), known), zero))
    else:
        case = reduce(lambda b, c: Op("&&", (b, c)), [Op(">", (e, zero)) for e in known])
    if not a.uniform(p, x, case):
        return None
    there = assume(p, case, a.sigma)
    if a.entails(there, FALSE) or not a.uniform(there, x, node.cond):
        return None
    return replace(node, rule="Q:WhileCase", after=_left(a, node, together=False), parts={"e1": case}, bases=last)


def _shared(cond: Expr, x: X, sigma: Signature) -> Iterator[Poly]:
    """How far the orders in a test that lanes share are from failing."""
    for c in conj((cond,), sigma):
        if isinstance(c, Op) and c.op in ORDERS:
            found = (p for p in distances(c, sigma) if variables(p) <= x)
            yield from (p for p in found if not any(isinstance(leaf, Tid) for leaf in leaves(p)))


def _least(case: Expr) -> Iterator[Expr]:
    """The conditions that all hold where a case does: that each of several is positive, if the least of them is."""
    match case:
        case Op(">", (Op("min", args), zero)):
            for e in args:
                yield from _least(Op(">", (e, zero)))
        case _:
            yield case


def _by_cases(w: Walk[A], node: Cycle, q: A, head: Point[A]) -> tuple[Proof[A], dict[str, Value]]:
    """A turn that pays for the test's splitting the warp only where that may be."""
    body, start, div = w.body(node.body, head), node.body.start, w.context.metric.cost("div")
    together = node.parts["e1"]
    w.covers(State(assume(start.p, together, w.context.sigma), start.x), q, body.pre.q)
    for part in _least(together):
        here = assume(start.p, part, w.context.sigma, False)
        w.covers(State(here, start.x), q, body.pre.q + div)
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
