"""Warp by warp: one proof from proofs for some warps each, by Q:CaseSplit.

For a sum over a block each warp is looked at by itself. For the dearest warp those are that branches tell apart, as in
`if (t == 0) left(); if (t == 127) right();`: no warp of a block of 128 pays for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import Final

from checker import limits
from checker.oracles.lanes import View
from checker.synthesis.elaborate import by_cases, weaken
from checker.synthesis.nodes import Flow, Fork, within
from checker.synthesis.walk import Point, Proof, Stuck
from logic.assertions import Context, P, assume, conj
from logic.contracts import elements_in
from logic.potentials import ZERO, Poly, const, max0, sym
from logic.syntax import WARP_INDEX, Const, Expr, Op, Param, Skip, Stmt, Tid

END: Final = Point((), ZERO, frozenset())

MAX_WARPS: Final = 32
"""CUDA's limit on the warps of a block; larger hardware models are bounded by their worst warp."""


# --- for sums over warps ---------------------------------------------------------------------------------------------


def _is(op: str, warp: int) -> Op:
    return Op(op, (Param(WARP_INDEX), Const(warp)))


def cases_of(context: Context) -> list[P]:
    """The first warp of a block, the second, .., no warp, each by what holds there; where they are not known, what is
    true of all."""
    x, y, z = context.launch.block
    if x is None or y is None or z is None:
        return [()]
    warps = -(-x * y * z // context.hardware.warp)
    if warps > MAX_WARPS:
        return [()]
    each = [conj((_is(">", k - 1), _is("<=", k)) if k else (_is("<=", 0),), context.sigma) for k in range(warps)]
    return [*each, conj((_is(">", warps - 1),), context.sigma)]


def alike(proof: Callable[[int | None], Proof[Poly]], warps: int) -> bool:
    """Whether the first, second and last warp, by themselves, cost what is found for all, or that is in elements of
    arrays, whose sum telescopes only where a warp's number is in it."""
    try:
        q = proof(None).pre.q
        return bool(elements_in([q])) or all(proof(k).pre.q == q for k in {0, min(1, warps - 1), warps - 1})
    except Stuck:
        return False


def by_warps(proofs: Sequence[Proof[Poly]], context: Context) -> Proof[Poly]:
    """One proof from one for each warp by Q:CaseSplit; its potential is a sum over `warp.index <= k` for all k."""
    proofs = [weaken(proof, proof.pre, END) for proof in proofs]
    index = sym(Param(WARP_INDEX))
    q = proofs[-2].pre.q
    for k in range(len(proofs) - 2):
        q = q + (proofs[k].pre.q - proofs[k + 1].pre.q) * (max0(const(k + 1) - index) - max0(const(k) - index))
    whole = weaken(proofs[-1], Point(proofs[-1].pre.p, q, frozenset()), END)
    for k in reversed(range(len(proofs) - 1)):
        before = conj((_is(">", k - 1),) if k else (), context.sigma)
        rest = Point(assume(before, _is("<=", k), context.sigma, False), q, frozenset())
        yes = weaken(proofs[k], Point(proofs[k].pre.p, q, frozenset()), END)
        no = weaken(whole, rest, END)
        whole = by_cases(Point(before, q, frozenset()), _is("<=", k), yes, no)
    return whole


# --- for the dearest warp --------------------------------------------------------------------------------------------


Parting = tuple[tuple[int, int, int], ...]
"""For each branch at how many lanes of a warp its test holds, fails, or is not known."""


def told_apart(flow: Flow, context: Context) -> tuple[Op, ...]:
    """Tests of where a thread is in its block, each true at more warps than the one before, between which branches do
    the same to all warps. None where they are many, and where what they do to one warp is all that they do."""
    x, y, z = context.launch.block
    if x is None or y is None or z is None:
        return ()
    size = context.hardware.warp
    warps = -(-x * y * z // size)
    if not 1 < warps <= MAX_WARPS:
        return ()
    forks = [node for node in within(flow) if isinstance(node, Fork)]
    if len(forks) > limits.TURNS:
        return ()
    each = [*_partings(forks, context)]
    all_of_them = [tuple(found.get(k, (0, 0, 0)) for found in each) for k in range(warps)]
    if any(all(_covers(one, other) for other in all_of_them) for one in all_of_them):
        return ()
    runs = [len([*run]) for _, run in groupby(all_of_them)]
    ends = [sum(runs[: i + 1]) * size for i in range(len(runs) - 1)]
    return tuple(_before(end, x, y, z) for end in ends) if len(runs) <= limits.PARTED else ()


def _partings(forks: Sequence[Fork], context: Context) -> Iterator[dict[int, tuple[int, int, int]]]:
    """Of each branch whose test is known at some lanes, what it does to each warp; a side that does nothing counts no
    lanes, but that there are some."""
    for fork in forks:
        view = View(fork.before.p, fork.before.x, context, context.sigma)
        found: dict[int, tuple[int, int, int]] = {}
        for warp in view.warps:
            values = [view.value_at(fork.cond, lane) for lane in warp]
            yes, no = values.count(1), values.count(0)
            found[warp[0].warp or 0] = yes, no, len(values) - yes - no
        if any(yes or no for yes, no, _ in found.values()):
            idle = [_idle(side) for side in (fork.then, fork.orelse)]
            yield {k: _counted(lanes, idle) for k, lanes in found.items()}


def _idle(side: Flow | Stmt) -> bool:
    return isinstance(side.stmt if isinstance(side, Flow) else side, Skip)


def _counted(lanes: tuple[int, int, int], idle: Sequence[bool]) -> tuple[int, int, int]:
    yes, no, unknown = lanes
    return min(yes, int(no > 0)) if idle[0] else yes, min(no, int(yes > 0)) if idle[1] else no, unknown


def _covers(one: Parting, other: Parting) -> bool:
    """Whether each branch does at least as much to one warp as to another."""
    return all(a >= b for some, others in zip(one, other, strict=True) for a, b in zip(some, others, strict=True))


def _before(end: int, x: int, y: int, z: int) -> Op:
    """Whether a thread is in front of one of the block."""
    match x, y, z:
        case _, 1, 1:
            return Op("<", (Tid("x"), Const(end)))
        case _, _, 1 if end % x == 0:
            return Op("<", (Tid("y"), Const(end // x)))
        case _ if end % (x * y) == 0:
            return Op("<", (Tid("z"), Const(end // (x * y))))
    rows: Expr = Tid("y") if z == 1 else Op("+", (Tid("y"), Op("*", (Const(y), Tid("z")))))
    return Op("<", (Op("+", (Tid("x"), Op("*", (Const(x), rows)))), Const(end)))


def parts_by(tests: Sequence[Op], context: Context) -> list[P]:
    """The assertions that hold where each test is the first that is true, and where none is."""
    return [
        conj((*(Op("!", (e,)) for e in tests[max(0, k - 1) : k]), *tests[k : k + 1]), context.sigma)
        for k in range(len(tests) + 1)
    ]


def dearest(proofs: Sequence[Proof[Poly]], tests: Sequence[Op], context: Context) -> Proof[Poly]:
    """One proof from one for each part of the warps; its potential is at least that of each."""
    q = reduce(_more, (proof.pre.q for proof in proofs))
    each = [weaken(proof, Point(proof.pre.p, q, proof.pre.x), END) for proof in proofs]
    whole = each[-1]
    for k in reversed(range(len(tests))):
        before = parts_by(tests[:k], context)[-1]
        rest = Point(assume(before, tests[k], context.sigma, False), q, frozenset())
        yes = weaken(each[k], Point(assume(before, tests[k], context.sigma), q, frozenset()), END)
        whole = by_cases(Point(before, q, frozenset()), tests[k], yes, weaken(whole, rest, END))
    return whole


def _more(a: Poly, b: Poly) -> Poly:
    """A potential that is at least each of two."""
    signs = {c > 0 for _, c in (b - a).terms}
    return (b if signs == {True} else a) if len(signs) <= 1 else a + max0(b - a)
