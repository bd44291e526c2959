"""Loops: Q:While1 where the lanes leave together, Q:WhileCase where a condition tells that they do, Q:While2 where
they may not; and Q:Unroll, a turn by itself.

`forward` gets a loop whose invariant is found (`checker.synthesis.flow`): a node without a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from checker.synthesis.nodes import Cycle, Fork, State
from checker.synthesis.outline import Branch, Loop, strip
from checker.synthesis.rules.transformer import Analysis, Transformer
from checker.synthesis.walk import Amount, Parts, Point, Proof, Walk, named, told
from logic.assertions import assume
from logic.derivation import Value
from logic.syntax import While, written

A = TypeVar("A", bound=Amount)


def _left(a: Analysis, node: Cycle, together: bool) -> State:
    """What holds after a loop; where lanes leave it one by one, nothing that it writes is uniform."""
    x = node.invariant.x
    x = x if together else x - written(node.body.stmt)
    return State(assume(node.invariant.p, node.cond, a.sigma, False), x)


def _agreed(a: Analysis, node: Cycle, _: State, forced: bool) -> Cycle | None:
    if not forced and not a.uniform(node.invariant.p, node.invariant.x, node.cond):
        return None
    return replace(node, rule="Q:While1", after=_left(a, node, together=True))


def _known(a: Analysis, node: Cycle, _: State, forced: bool) -> Cycle | None:
    case = None if forced else a.undivided(node.cond, node.invariant)
    return None if case is None else replace(node, rule="Q:WhileCase", after=_left(a, node, together=False), case=case)


def apart(a: Analysis, node: Cycle, _: State, __: bool) -> Cycle:
    """Q:While2, where no other rule applies."""
    return replace(node, rule="Q:While2", after=_left(a, node, together=False))


def turns(
    w: Walk[A], node: Cycle, post: Point[A], div: Fraction, end: Callable[[A, State], tuple[Point[A], dict[str, Value]]]
) -> Proof[A]:
    """A proof of a loop from the potential at its head. `div` is what the test is charged besides itself; `end` gives
    the postcondition, and what the rule calls its parts, from the potential that the test leaves."""
    p, x = node.invariant.p, node.invariant.x
    c, d = w.cost(p, x, node.cond)
    price = w.context.metric.cost("if") + c + div
    head = Point(p, w.head(node, price, post.q), x)
    q = head.q - price
    body = w.turn(node, q, head)
    after, more = end(q, w.opposite(node.invariant, node.cond))

    def parts() -> Parts:
        here: dict[str, Value] = {"e": node.cond, "C": c, "s": body.stmt}
        if node.case is not None:
            here |= {"e1": node.case, "Q1": told(body.pre.q)}
        return named("", Point(p, q, x)) | here | more, (d, body.derivation)

    loop = w.conclude(node.rule, head, While(node.cond, body.stmt, node.loc), after, node.loc, parts)
    return w.weaken(loop, Point(node.before.p, head.q, node.before.x), post)


def _agree(w: Walk[A], node: Cycle, post: Point[A]) -> Proof[A]:
    return turns(w, node, post, Fraction(0), lambda q, left: (Point(left.p, q, node.invariant.x), {}))


def _leave(w: Walk[A], node: Cycle, post: Point[A]) -> Proof[A]:
    div = w.context.metric.cost("div") if node.rule == "Q:While2" else Fraction(0)

    def end(_: A, left: State) -> tuple[Point[A], dict[str, Value]]:
        after = Point(left.p, post.q, node.after.x)
        return after, {"Q'": told(after.q), "X'": after.x}

    return turns(w, node, post, div, end)


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
    Transformer("Q:WhileCase", _known, _leave),
    Transformer("Q:While2", apart, _leave),
    Transformer("Q:Unroll", _once, _unroll),
)
