"""Q:If4, Q:While2 and Q:VWrite1 as printed: for derivations that show what is wrong with them (ERRATA.md, errata 1, 2,
3 and 6)."""

from __future__ import annotations

from typing import TypeVar

from checker.synthesis.nodes import Cycle, Fork, State, Step, flowing
from checker.synthesis.outline import Branch, strip
from checker.synthesis.rules.branches import sides
from checker.synthesis.rules.loops import apart, turns
from checker.synthesis.rules.steps import assign, uniform
from checker.synthesis.rules.transformer import Analysis, Statement, Transformer
from checker.synthesis.walk import Amount, Parts, Point, Proof, Walk, named
from logic.derivation import Value
from logic.syntax import Assign, If, written

A = TypeVar("A", bound=Amount)


def _apart(a: Analysis, item: Branch, state: State, _: bool) -> Fork:
    yes, no = sides(a, item, state)
    then = a.block(item.then, yes)
    middle = State(a.join(no.p, then.end.p), then.end.x - written(strip(item.then)))
    orelse = a.block(item.orelse, middle)
    after = State(a.merged(item, state.p, then.end.p, orelse.end.p), orelse.end.x - written(strip(item.orelse)))
    return Fork("Q:If4", item.cond, then, orelse, state, after, item.loc)


def _part(w: Walk[A], node: Fork, post: Point[A]) -> Proof[A]:
    """The second side starts from what the first one leaves, and the end has what the second leaves."""
    p, x = node.before.p, node.before.x
    c, d = w.cost(p, x, node.cond)
    then, orelse = flowing(node)
    second = w.block(orelse, Point(orelse.end.p, post.q, orelse.end.x))
    first = w.block(then, Point(then.end.p, second.pre.q, then.end.x))
    first = w.weaken(first, Point(then.start.p, first.pre.q, x), first.post)

    def parts() -> Parts:
        here: dict[str, Value] = {"e": node.cond, "C": c, "s1": first.stmt, "s2": second.stmt}
        here |= named("", Point(p, first.pre.q, x)) | named("1", first.post) | named("2", second.post)
        here |= {"P'": second.pre.p, "P''": post.p}
        return here, (d, first.derivation, second.derivation)

    pre = Point(p, first.pre.q + (w.context.metric.cost("if") + c + w.context.metric.cost("div")), x)
    return w.conclude("Q:If4", pre, If(node.cond, first.stmt, second.stmt, node.loc), post, node.loc, parts)


def _leave(w: Walk[A], node: Cycle, post: Point[A]) -> Proof[A]:
    div = w.context.metric.cost("div")
    return turns(w, node, post, div, lambda q, left: (Point(left.p, q, node.after.x), {}))


def _uniform(a: Analysis, stmt: Statement, state: State, forced: bool) -> Step | None:
    return uniform(a, stmt, state, forced) if isinstance(stmt, Assign) and stmt.var in state.x else None


RULES = (
    Transformer("Q:If4", _apart, _part),
    Transformer("Q:While2", apart, _leave),
    Transformer("Q:VWrite1", _uniform, assign),
)
