"""Accesses by part of a warp: how many lanes a guard lets through, and what that many cost.

Under `i < n` the lanes from the first on are active, min(32, y) of them for a y over parameters. What a statement costs
is then no number but a step function of y, and its sum over all warps has a closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from logic.assertions import Context, P, X
from logic.comparisons import as_expr
from logic.facts import Facts, said, unfolded
from logic.potentials import (
    Poly,
    const,
    floor_div,
    leaves,
    max0,
    substitute,
    sym,
)
from logic.syntax import WARP_INDEX, Const, Expr, Op, Param, Tid, Var


@dataclass(frozen=True, slots=True)
class Steps:
    """y, the ends of the intervals of y in which the cost is the same, and a potential that is the cost.

    The last interval has no end; `cost` is less what the first lane's interval costs anyway.
    """

    active: Expr
    ends: tuple[int, ...]
    cost: Poly


def steps_of(p: P, x: X, price: Callable[[Expr], Fraction], context: Context, warp: int) -> Steps | None:
    """The cost by the number of active lanes, if it depends on that; `price` is the cost under one more fact."""
    size = context.hardware.warp
    for y in _active(p, x, context, warp):
        active = as_expr(y)
        if active is None:
            continue
        costs: dict[int, Fraction] = {}

        def at(lanes: int, costs: dict[int, Fraction] = costs, active: Expr = active) -> Fraction:
            if lanes not in costs:
                costs[lanes] = price(Op("==", (active, Const(lanes))))
            return costs[lanes]

        ends = tuple(_changes(at, 1, size))
        if ends:
            return Steps(active, ends, _cost(y, ends, [at(end) for end in ends] + [at(size)], size))
    return None


def _changes(at: Callable[[int], Fraction], low: int, high: int) -> Iterator[int]:
    """The places at which a monotone function changes: each n with at(n) != at(n + 1)."""
    if low == high or at(low) == at(high):
        return
    if high == low + 1:
        yield low
        return
    middle = (low + high) // 2
    yield from _changes(at, low, middle)
    yield from _changes(at, middle, high)


def _cost(y: Poly, ends: tuple[int, ...], costs: list[Fraction], size: int) -> Poly:
    """The step function, without its value in the first interval: as a division where its steps are even."""
    rises = [b - a for a, b in pairwise(costs)]
    width = ends[0]
    if len(set(rises)) == 1 and size % width == 0 and ends == tuple(range(width, size, width)):
        return (_ceiling(y, width) - _ceiling(y - size, width) - 1) * rises[0]
    total = const(0)
    for end, rise in zip(ends, rises, strict=True):
        total = total + (max0(y - end) - max0(y - end - 1)) * rise
    return total


def _ceiling(y: Poly, k: int) -> Poly:
    """ceil(max(0, y) / k)"""
    return floor_div(max0(y) + (k - 1), k)


def _active(p: P, x: X, context: Context, warp: int) -> Iterator[Poly]:
    """Polynomials y over parameters and uniform locals such that a fact of P holds at lane l only if l < y."""
    first = first_of_warp(context, warp)
    if first is None:
        return
    known = {leaf: c for leaf, c in said(p, context).constants.items() if leaf != Param(WARP_INDEX)}
    facts, tid = Facts(p), sym(Tid("x"))
    defined = {leaf: value for leaf, value in facts.definitions.items() if leaf.name not in x}
    for rest in facts.nonnegative:
        rest = substitute(unfolded(rest, defined), known) + tid
        shared = all(isinstance(a, Param) or (isinstance(a, Var) and a.name in x) for a in leaves(rest))
        if shared and leaves(rest):
            yield rest - first + 1


def first_of_warp(context: Context, warp: int) -> Poly | None:
    """threadIdx.x of a warp's first lane, where its lanes have consecutive ones."""
    x, y, z = context.launch.block
    size = context.hardware.warp
    if y == z == 1:
        return sym(Param(WARP_INDEX)) * size
    return const(size * (warp % (x // size))) if x is not None and x % size == 0 else None
