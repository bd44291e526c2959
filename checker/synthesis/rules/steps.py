"""Statements without statements inside them: Q:Skip, Q:Sync, Q:Assume, Q:VWrite1, Q:VWrite2, Q:GWrite, Q:SWrite."""

from __future__ import annotations

from typing import TypeVar

from checker.synthesis.nodes import State, Step
from checker.synthesis.rules.transformer import Analysis, Statement, Transformer
from checker.synthesis.walk import Amount, Parts, Point, Proof, Walk, named, told
from logic.assertions import assume
from logic.derivation import Value
from logic.syntax import Assign, Assume, Skip, Sync, Write

A = TypeVar("A", bound=Amount)


def _skipped(_: Analysis, stmt: Statement, state: State, forced: bool) -> Step | None:
    return Step(stmt, state, state, "Q:Skip") if isinstance(stmt, Skip) or forced else None


def _skip(w: Walk[A], node: Step, post: Point[A]) -> Proof[A]:
    return w.skip(post, node.stmt, node.stmt.loc)


def _synced(_: Analysis, stmt: Statement, state: State, forced: bool) -> Step | None:
    return Step(stmt, state, state, "Q:Sync") if isinstance(stmt, Sync) or forced else None


def _sync(w: Walk[A], node: Step, post: Point[A]) -> Proof[A]:
    p, x = node.before.p, node.before.x
    pre = Point(p, post.q + w.context.metric.cost("sync"), x)
    values = named("", Point(p, post.q, x))
    return w.conclude("Q:Sync", pre, node.stmt, post, node.stmt.loc, lambda: (values, ()))


def _assumed(a: Analysis, stmt: Statement, state: State, _: bool) -> Step | None:
    if not isinstance(stmt, Assume):
        return None
    return Step(stmt, state, State(assume(state.p, stmt.cond, a.sigma), state.x), "Q:Assume")


def _assume(w: Walk[A], node: Step, post: Point[A]) -> Proof[A]:
    stmt = node.stmt
    if not isinstance(stmt, Assume):
        raise TypeError("an assumption is meant")
    if (other := w.equated(node, post.q)) != post.q:
        proof = _assume(w, node, Point(post.p, other, post.x))
        return w.weaken(proof, proof.pre, post)
    pre = Point(node.before.p, post.q, node.before.x)
    values: dict[str, Value] = named("", pre) | {"e": stmt.cond}
    return w.conclude("Q:Assume", pre, stmt, post, stmt.loc, lambda: (values, ()))


def _assigned(a: Analysis, stmt: Statement, state: State, rule: str, uniform: bool) -> Step | None:
    if not isinstance(stmt, Assign):
        return None
    x = state.x | {stmt.var} if uniform else state.x - {stmt.var}
    p = a.after_assignment(state.p, stmt.var, stmt.value) if stmt.var in a.costing else state.p
    return Step(stmt, state, State(p, x), rule)


def uniform(a: Analysis, stmt: Statement, state: State, forced: bool) -> Step | None:
    if not isinstance(stmt, Assign):
        return None
    agree = forced or (stmt.var in a.costing and a.uniform(state.p, state.x, stmt.value))
    return _assigned(a, stmt, state, "Q:VWrite1", uniform=True) if agree else None


def _apart(a: Analysis, stmt: Statement, state: State, _: bool) -> Step | None:
    return _assigned(a, stmt, state, "Q:VWrite2", uniform=False)


def assign(w: Walk[A], node: Step, post: Point[A]) -> Proof[A]:
    p, x, stmt = node.before.p, node.before.x, node.stmt
    if not isinstance(stmt, Assign):
        raise TypeError("an assignment is meant")
    if node.uniform and (other := w.renamed(node, stmt, post.q)) != post.q:
        proof = assign(w, node, Point(post.p, other, post.x))
        return w.weaken(proof, proof.pre, post)
    c, d = w.cost(p, x, stmt.value)
    q = w.assigned(node, stmt, post.q) if node.uniform else post.q

    def parts() -> Parts:
        here: dict[str, Value] = {"e": stmt.value, "C": c, "P'": post.p, "x": stmt.var}
        return named("", Point(p, q, x)) | here | ({"Q'": told(post.q)} if node.uniform else {}), (d,)

    pre = Point(p, q + (w.context.metric.cost("vwrite") + c), x)
    return w.conclude(node.rule, pre, stmt, post, stmt.loc, parts)


def _written(a: Analysis, stmt: Statement, state: State, rule: str, space: str) -> Step | None:
    if not isinstance(stmt, Write) or a.sigma.arrays[stmt.array].space != space:
        return None
    return Step(stmt, state, state, rule)


def _write(w: Walk[A], node: Step, post: Point[A], letter: str, price: str) -> Proof[A]:
    p, x, stmt = node.before.p, node.before.x, node.stmt
    if not isinstance(stmt, Write):
        raise TypeError("a write is meant")
    c1, d1 = w.cost(p, x, stmt.index)
    c2, d2 = w.cost(p, x, stmt.value)
    n = w.count(price, p, x, stmt.array, stmt.index)

    def parts() -> Parts:
        here: dict[str, Value] = {"o": stmt.index, "e": stmt.value, "C1": c1, "C2": c2, letter: stmt.array, "n": n}
        return named("", Point(p, post.q, x)) | here, (d1, d2)

    pre = Point(p, post.q + (w.context.metric.count(price, n) + c1 + c2), x)
    return w.conclude(node.rule, pre, stmt, post, stmt.loc, parts)


RULES = (
    Transformer("Q:Skip", _skipped, _skip),
    Transformer("Q:Sync", _synced, _sync),
    Transformer("Q:Assume", _assumed, _assume),
    Transformer("Q:VWrite1", uniform, assign),
    Transformer("Q:VWrite2", _apart, assign),
    Transformer(
        "Q:GWrite",
        lambda a, stmt, state, _: _written(a, stmt, state, "Q:GWrite", "global"),
        lambda w, node, post: _write(w, node, post, "G", "gwrite"),
    ),
    Transformer(
        "Q:SWrite",
        lambda a, stmt, state, _: _written(a, stmt, state, "Q:SWrite", "shared"),
        lambda w, node, post: _write(w, node, post, "S", "swrite"),
    ),
)
