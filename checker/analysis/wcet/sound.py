"""Bounds on the machine's cycles from certified bounds on what a block issues and what it loads.

A cycle issues an instruction or is idle. What a block issues is the sum of what its warps issue, W. In an idle cycle
no warp is ready: each one that has not ended waits for a load or at a barrier. Walk back from the warp that finishes
last. In an idle cycle it waits for a load of its own, at most `latency - 1` such cycles a load; or it waits at a
barrier, and then the walk goes on with the warp that came last: in the cycle of the release it issued, so no cycle is
left out. On this walk the number of barriers passed falls by one each time, so idle cycles are at most `latency - 1` a
load, for the loads of one warp between each two barriers:

    cycles <= W + (latency - 1) * L,    L = the sum over intervals between barriers of the largest number of loads

which is RaCuda's Theorem 2 for one instruction a cycle, with the span of the loads alone. L is bounded by a derivation
at scope `block`; without barriers by the loads of one warp; always by those of all warps.

W is what the kernel costs when each instruction that it is compiled to is paid for: `visible` makes those cost that a
metric has no name for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapreplace
from math import ceil
from typing import Final

from checker.analysis.idle import idle, with_idle
from checker.analysis.wcet.lanes import Unbounded
from checker.oracles import Oracles
from checker.synthesis.bound import Per, Result, find_bounds
from checker.synthesis.outline import Block, Branch, Item, Loop, Outline, Plain, strip
from checker.synthesis.walk import Stuck
from logic.assertions import Scope
from logic.metrics import Linear, Metric
from logic.potentials import Leaf, Poly, const, evaluate, leaves, substitute
from logic.syntax import (
    WARP_INDEX,
    Assign,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Stmt,
    Sync,
    While,
    Write,
    statements,
    subterms,
)
from semantics.events import Dim
from semantics.machine.compile import compile_kernel

ONE: Final = Fraction(1)


def _constant(n: int) -> Linear:
    """n for every count."""
    return Linear(Fraction(0), Fraction(n))


@dataclass(frozen=True, slots=True)
class Prices:
    """The metrics of instructions issued and of loads.

    A test costs two: the branch and the jump back, or the sync where its ways meet; threads that part at it sync once
    more.
    """

    issued: Metric
    loads: Metric

    def span(self, latency: int) -> Metric:
        """Cycles from an instruction to its warp's next one."""
        both = self.issued.counted.keys() | self.loads.counted.keys()
        counted = {c: _constant(int(self.issued.count(c, 1) + (latency - 1) * self.loads.count(c, 1))) for c in both}
        return Metric("cycles", self.issued.fixed, counted)


_CONTROL: Final = {"if": Fraction(2), "div": ONE, "sync": ONE}

COMPILED: Final = Prices(
    Metric(
        "instructions", {"op": ONE, **_CONTROL}, dict.fromkeys(("gread", "sread", "gwrite", "swrite"), _constant(2))
    ),
    Metric("loads", counted=dict.fromkeys(("gread", "sread"), _constant(1))),
)
"""For `visible` kernels: an instruction an operator, two an access, for the address is computed."""

# --- kernels whose instructions all cost -----------------------------------------------------------------------------

TICK: Final = idle(1)


def visible(outline: Outline, block: Dim) -> Outline:
    """The outline with an operator for each instruction of the compiled kernel that is no operator, access or test:
    copies, jumps over the other way of an `if`, and what computes threadIdx.

    Raises ValueError where the compiler lays out less than is counted here.
    """
    before = len(compile_kernel(outline.kernel, block).program.instructions) - _length(outline.kernel.body)
    if before < 0:
        raise ValueError("the compiled kernel has fewer instructions than its source pays for")
    return with_idle(outline, (*[TICK] * before, *_visible(outline.body)))


def _visible(block: Block) -> Block:
    items: list[Item] = []
    for item in block:
        match item:
            case Plain(Assign(_, e)) if not isinstance(e, Op | Read):
                items += [TICK, item]
            case Branch(_, then, orelse):
                other = _visible(orelse)
                items.append(replace(item, then=_visible(then), orelse=(TICK, *other) if _leaps(orelse) else other))
            case Loop(_, _, body):
                items.append(replace(item, body=_visible(body)))
            case _:
                items.append(item)
    return tuple(items)


def _leaps(orelse: Block) -> bool:
    return strip(orelse) != Skip()


def _length(body: Stmt) -> int:
    """The instructions of a body, each counted once, as the compiler lays them out."""
    count = 0
    for s in statements(body):
        match s:
            case Assign(_, e):
                count += _instructions(e) + (not isinstance(e, Op | Read))
            case Write(_, index, value):
                count += _instructions(index) + _instructions(value) + 2
            case If(cond, _, orelse):
                count += _instructions(cond) + 2 + (orelse != Skip())
            case While(cond):
                count += _instructions(cond) + 3
            case Sync():
                count += 1
    return count


def _instructions(e: Expr) -> int:
    return sum(2 if isinstance(t, Read) else 1 for t in subterms(e) if isinstance(t, Read | Op))


# --- bounds ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Certified:
    """Bounds for one block, over parameters and blockIdx: the instructions issued, the loads that stall one after the
    other, and the span in cycles, which may be missing; whether it is proved that no barrier waits for ever."""

    issued: Poly
    loads: Poly
    span: Poly | None
    results: tuple[Result, ...]
    ends: bool

    def cycles(self, latency: int) -> Poly:
        """The most cycles that a block takes."""
        return self.issued + self.loads * (latency - 1)

    @property
    def work_span(self) -> Poly | None:
        """W/P + S, for P = 1."""
        return None if self.span is None else self.issued + self.span

    @property
    def engines(self) -> tuple[str, ...]:
        """The solvers on whose word the bounds rest; none where both checkers verified all."""
        return tuple(sorted({name for r in self.results if r.second is not None for name in r.second.engines}))


def certify(outline: Outline, prices: Prices, latency: int, meet: bool = True, alike: bool = False) -> Certified:
    """Certified bounds for a block of a kernel. Raises Unbounded.

    `meet` says that every barrier waits for all threads that are left, so that all warps pass the same barriers
    together. With `alike`, nothing is expected of a bound for each warp, and one for all is multiplied by their number.

    That a barrier is not proved to be reached together is no gap in W: the machine stops at it, or it goes on. That it
    goes on is then assumed (`ends`).
    """
    oracle = Oracles()
    (issued,) = _find(outline, [prices.issued], oracle, "warp", "warp" if alike else "block")
    work = shown(issued)
    if work is None or (alike and Param(WARP_INDEX) in leaves(work)):
        raise _unbounded(issued, outline.kernel)
    if alike:
        work = work * _warps(outline)
    span = loads = None
    if meet:
        span, loads = _find(outline, [prices.span(latency), prices.loads], oracle, "block", "warp")
    if _warps(outline) == 1 or not any(isinstance(s, Sync) for s in statements(outline.kernel.body)):
        (loads,) = _find(outline, [prices.loads], oracle, "warp", "warp")
    if loads is None or not _together(loads):
        (loads,) = _find(outline, [prices.loads], oracle, "warp", "block")
    stalls = shown(loads)
    if stalls is None:
        raise _unbounded(loads, outline.kernel)
    ends = not issued.ledger.barriers
    if span is None or not _together(span):
        return Certified(work, stalls, None, (issued, loads), ends)
    return Certified(work, stalls, shown(span), (issued, loads, span), ends)


def _warps(outline: Outline) -> int:
    x, y, z = (n or 1 for n in outline.context.launch.block)
    return ceil(x * y * z / outline.context.hardware.warp)


def _together(result: Result) -> bool:
    """Whether it is proved that all threads meet at the barriers, and one bound is for all warps."""
    bound = shown(result)
    return bound is not None and not result.ledger.barriers and Param(WARP_INDEX) not in leaves(bound)


def shown(result: Result) -> Poly | None:
    """A certified bound with the launch's sizes filled in."""
    if result.claim is None:
        return None
    context = result.claim.context
    sizes: dict[Leaf, Poly] = {Param("warpSize"): const(context.hardware.warp)}
    for name, dims in (("blockDim", context.launch.block), ("gridDim", context.launch.grid)):
        sizes |= {Param(f"{name}.{axis}"): const(n) for axis, n in zip("xyz", dims, strict=True) if n is not None}
    return substitute(result.claim.bound, sizes)


def _find(outline: Outline, metrics: list[Metric], oracle: Oracles, scope: Scope, per: Per) -> list[Result]:
    own = replace(outline, context=replace(outline.context, metric=metrics[0], scope=scope))
    return find_bounds(own, metrics, oracle, hinted="", per=per)


def _unbounded(result: Result, kernel: Kernel) -> Unbounded:
    problem = result.problem
    if isinstance(problem, Stuck):
        return Unbounded(f"no bound on the {result.metric.name}: {problem.message}", problem.loc or kernel.loc)
    return Unbounded(f"no bound on the {result.metric.name} was accepted", kernel.loc)


# --- blocks on processors --------------------------------------------------------------------------------------------


def makespan(cycles: Sequence[int], processors: int) -> int:
    """When the last block has ended, where block k takes `cycles[k]` and goes to the processor that is free first.

    Blocks that take less never make it later: in order, the times when processors are free stay below.
    """
    free = [0] * min(processors, len(cycles))
    for taken in cycles:
        heapreplace(free, free[0] + taken)
    return max(free)


def bound_at(bound: Poly, at: dict[str, int], index: Dim = (0, 0, 0)) -> int | None:
    """A bound at a point, rounded down, for the block of this index; None where a parameter is missing."""
    store: dict[Leaf, int] = {Param(name): n for name, n in at.items()}
    store |= {Param(f"blockIdx.{axis}"): n for axis, n in zip("xyz", index, strict=True)}
    if any(leaf not in store for leaf in leaves(bound)):
        return None
    return evaluate(bound, store).__floor__()


def depends_on_block(bounds: Iterable[Poly]) -> bool:
    """Whether blocks have bounds of their own."""
    return any(isinstance(x, Param) and x.name.startswith("blockIdx.") for b in bounds for x in leaves(b))
