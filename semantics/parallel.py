"""The parallel cost semantics of a block (Muller and Hoffmann, POPL 2021, section 5 and Fig. 6): work and span.

    sigma; C; s  =>_T  sigma'; C'        execute(s, store, T, machine, C) = (sigma', C')

A cost is a pair (work, span), a metric a pair (M_w, M_s), and a collection C holds one cost for each warp of the block.
`C (+)_T c` adds c to every warp with a thread in T. All threads of the block go through the program together:

    sync     every warp's span becomes the largest span, then M.sync is added
    if       M.if for every warp of T, M.div for those with threads on both sides; then s1 on T_true, s2 on T_false
    while    likewise; then the body and the loop again on T_true
    others   as in Fig. 3 on the same T: `semantics.lockstep`, on a machine whose costs are collections

    W(C) = the sum of the works        S(C) = the largest span        blocks are independent: a grid's work is
                                                                      the sum, its span the largest of its blocks'

Choices where the paper leaves one:
- The figure adds M.if and M.div after the branches, here they come before: a barrier changes nothing, because those who
  wait at it have all paid the same.
- Each warp pays for the sectors or conflicts of its own threads.
- Nothing runs on an empty T (as printed, `while` never ends, and a `sync` that nobody reaches levels the spans).
- `sync` reached by a part of the threads is barrier divergence, an error. Only threads that come to no barrier any
  more may be missing, in whole warps: they run to their end first, since the barrier waits for that.

Without data races between barriers, works, stores and spans are those of warps on their own (`semantics.grid`). With
races this is one order out of many: warps that interleave may see other values, and a block's span may be larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Final, NamedTuple

from logic.metrics import COUNTED, FIXED, HARDWARE, Hardware, Linear, Metric
from logic.syntax import Expr, If, Kernel, Stmt, Sync, While
from semantics import grid
from semantics.events import Dim, Event, Observer, Thread, Threads
from semantics.grid import Contents, torn_warp, two_barriers
from semantics.lockstep import (
    STEP_LIMIT,
    Access,
    Barrier,
    Cost,
    Machine,
    Step,
    StepLimit,
    Store,
    Warp,
    expression,
    ordered,
    sides,
    step,
    warp_of,
)
from semantics.values import Value

# --- pairs of metrics ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Profile:
    """A metric of pairs: M_w is what an operation takes of the machine, M_s the time until it is done.

    Raises ValueError where an operation would be done before it was issued: its latency is M_s - M_w.
    """

    name: str
    work: Metric
    span: Metric

    def __post_init__(self) -> None:
        for constant in FIXED:
            if self.span.cost(constant) < self.work.cost(constant):
                raise ValueError(f"profile {self.name}: the span of '{constant}' is less than its work")
        for constant in COUNTED:
            if not _at_least(self.span.counted.get(constant), self.work.counted.get(constant)):
                raise ValueError(f"profile {self.name}: the span of '{constant}' can be less than its work")


def _at_least(span: Linear | None, work: Linear | None) -> bool:
    """Whether the line of one price is above that of another for every n >= 1, or the other is free."""
    if work is None or (work.slope == 0 and work.offset <= 0):
        return True
    return span is not None and span.slope >= work.slope and span.slope + span.offset >= work.slope + work.offset


def alone(metric: Metric) -> Profile:
    """(M, M): operations without latency."""
    return Profile(metric.name, metric, metric)


def _prices(name: str, fixed: int, shared: int, far: int) -> Metric:
    one = Fraction(1)
    return Metric(
        name,
        dict.fromkeys(("op", "if", "div", "sync"), Fraction(fixed)),
        dict.fromkeys(("sread", "swrite"), Linear(one, Fraction(shared)))
        | dict.fromkeys(("gread", "gwrite"), Linear(one, Fraction(far))),
    )


ISSUE: Final = _prices("issue", fixed=1, shared=0, far=0)
"""Issue slots: one an instruction, one for every sector or conflict; variables and constants are in registers."""

LATENCY: Final = _prices("latency", fixed=4, shared=30, far=400)
"""Cycles until a result is there. Round figures of the size that GPUs have, not measured on any."""

TIME: Final = Profile("issue,latency", ISSUE, LATENCY)


def time_bound(work: Fraction, span: Fraction, issue: int) -> Fraction:
    """Theorem 2: a block takes at most W/P + S on an SM that issues P instructions a cycle, greedily.

    Raises ValueError unless P is positive.
    """
    if issue < 1:
        raise ValueError(f"a machine cannot issue {issue} instructions a cycle")
    return work / issue + span


# --- collections -----------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """A cost (c_w, c_s)."""

    work: Fraction
    span: Fraction


@dataclass(frozen=True, slots=True)
class BlockMachine(Machine):
    """A machine whose costs are collections: for each warp of the block, for each profile, work and span."""

    profiles: tuple[Profile, ...] = (TIME,)

    @property
    def warps(self) -> int:
        """The number of warps of the block."""
        x, y, z = self.block
        return -(-x * y * z // self.hardware.warp)

    @property
    def width(self) -> int:
        """The number of parts of a collection that one warp has."""
        return 2 * len(self.profiles)

    @property
    def nothing(self) -> Cost:
        """The empty collection: (0, 0) for every warp."""
        return Cost((Fraction(0),) * (self.width * self.warps))

    def pay(self, constant: str, term: Expr | Stmt, threads: Threads, access: Access | None = None) -> Cost:
        """(+)_T (M_w.constant, M_s.constant): each warp with a thread in T, by its own count. An event a warp."""
        lanes: dict[Warp, list[int]] = {}
        for lane, t in enumerate(threads):
            lanes.setdefault(warp_of(t, self), []).append(lane)
        parts = list(self.nothing.parts)
        for w, mine in lanes.items():
            n = access.counts[w] if access else None
            parts[self.width * w[1] : self.width * (w[1] + 1)] = self._price(constant, n)
            if self.observer:
                indices = tuple(access.indices[lane] for lane in mine) if access else ()
                values = tuple(access.values[lane] for lane in mine) if access and access.values else ()
                self.observer(Event(constant, n, term, tuple(threads[lane] for lane in mine), indices, values))
        return Cost(tuple(parts))

    def _price(self, constant: str, n: int | None) -> tuple[Fraction, ...]:
        """The price that one warp pays: for each profile, work and span."""
        price = self._prices.get((constant, n))
        if price is None:
            both = [m for p in self.profiles for m in (p.work, p.span)]
            price = Cost(tuple(m.cost(constant) if n is None else m.count(constant, n) for m in both))
            self._prices[constant, n] = price
        return price.parts


def pairs(c: Cost, m: BlockMachine) -> list[dict[str, Pair]]:
    """A collection as a table: the cost of each warp by the profile's name."""
    starts = [m.width * w for w in range(m.warps)]
    names = [p.name for p in m.profiles]
    return [{name: Pair(*c.parts[i + 2 * j : i + 2 * j + 2]) for j, name in enumerate(names)} for i in starts]


def work_and_span(c: Cost, m: BlockMachine) -> dict[str, Pair]:
    """W(C) and S(C), by the profile's name."""
    table = pairs(c, m)
    names = [p.name for p in m.profiles]
    return {x: Pair(sum((w[x].work for w in table), Fraction(0)), max(w[x].span for w in table)) for x in names}


# --- statements ------------------------------------------------------------------------------------------------------


def execute(
    s: Stmt, store: Store, threads: Iterable[Thread], machine: BlockMachine, c: Cost | None = None
) -> tuple[Store, Cost]:
    """sigma; C; s =>_T sigma'; C', from the empty collection unless C is given. The store given stays as it was.

    A step of the step limit is one use of a rule by the threads together. Raises BarrierDivergence, StepLimit, and
    ValueError for a T that is empty or not of one block.
    """
    t = ordered(threads, machine.block)
    if t[0].block != t[-1].block:
        raise ValueError("the threads of T are of several blocks")
    after = store.copy()
    return after, _run(s, after, t, machine, machine.nothing if c is None else c)


class _Frame(NamedTuple):
    stmt: Stmt
    threads: Threads
    split: Stmt | None  # the last statement that parted these threads from others
    again: bool  # a loop that has run its body before


def _run(s: Stmt, sigma: Store, t: Threads, m: BlockMachine, c: Cost) -> Cost:
    """C' with sigma; C; s =>_T sigma'; C'. The store is updated in place."""
    return _finish([_Frame(s, t, None, False)], sigma, t, m, c, count(1), None)


def _finish(
    todo: list[_Frame],
    sigma: Store,
    live: Threads,
    m: BlockMachine,
    c: Cost,
    steps: Iterator[int],
    barrier: Barrier | None,
) -> Cost:
    """C after all that is left to do, by threads that are live; `barrier` is where others wait for them to end."""
    while todo:
        stmt, t, split, _ = frame = todo.pop()
        if isinstance(stmt, Sync):
            here = Barrier(stmt, t, split)
            if barrier:
                raise two_barriers(warp_of(barrier.threads[0], m)[1], barrier, warp_of(t[0], m)[1], here)
            if t != live:
                waiting = set(t)
                others = tuple(u for u in live if u not in waiting)
                _check_whole_warps(here, others, m)
                c = _finish(_of(todo, others), sigma, others, m, c, steps, here)
                todo, live = _of(todo, t), t
        if next(steps) > m.step_limit:
            loops = (f.stmt for f in (*todo, frame) if f.again and isinstance(f.stmt, While))
            raise StepLimit(m.step_limit, next(loops, None), c)
        c, rest = _step(stmt, sigma, c, t, m)
        todo.extend(
            _Frame(after, active, split if len(active) == len(t) else stmt, after is stmt)
            for after, active in reversed(rest)
            if active
        )
    return c


def _of(todo: Iterable[_Frame], threads: Threads) -> list[_Frame]:
    """The statements that these threads have left to run."""
    mine = set(threads)
    frames = (f._replace(threads=tuple(t for t in f.threads if t in mine)) for f in todo)
    return [f for f in frames if f.threads]


def _check_whole_warps(barrier: Barrier, missing: Threads, m: BlockMachine) -> None:
    """Raises BarrierDivergence where some threads of a warp have come to a barrier and others have not."""
    torn = {warp_of(t, m) for t in barrier.threads} & {warp_of(t, m) for t in missing}
    if torn:
        w = min(torn)
        here, absent = (tuple(t for t in some if warp_of(t, m) == w) for some in (barrier.threads, missing))
        raise torn_warp(w[1], barrier._replace(threads=here), absent)


def _step(s: Stmt, sigma: Store, c: Cost, t: Threads, m: BlockMachine) -> Step:
    """C', as far as the rule for s itself makes it, and what is left to run."""
    match s:
        case Sync():
            return sc_sync(s, c, t, m)
        case If(cond):
            r, c1 = expression(cond, sigma, t, m)
            return sc_if(s, c + c1, t, *sides(t, r), m)
        case While(cond):
            r, c1 = expression(cond, sigma, t, m)
            return sc_while(s, c + c1, t, *sides(t, r), m)
        case _:
            own, rest = step(s, sigma, t, m)
            return c + own, rest


def sc_sync(s: Sync, c: Cost, t: Threads, m: BlockMachine) -> Step:
    """SC:Sync    sigma; (W, S); sync =>_T sigma; (W, (max S)_Warps) (+)_T M.sync"""
    return level(c, m) + m.pay("sync", s, t), ()


def level(c: Cost, m: BlockMachine) -> Cost:
    """(W, (max S)_Warps): every warp's span becomes the largest."""
    width = m.width
    largest = [max(c.parts[j::width]) for j in range(width)]
    return Cost(tuple(largest[i % width] if i % 2 else part for i, part in enumerate(c.parts)))


def sc_if(s: If, c1: Cost, t: Threads, t_true: Threads, t_false: Threads, m: BlockMachine) -> Step:
    """SC:If    C1 (+)_T M.if (+)_D M.div, then s1 on T_true, then s2 on T_false;  D: the warps on both sides"""
    d = diverging(t_true, t_false, m)
    return c1 + m.pay("if", s, t) + m.pay("div", s, d), ((s.then, t_true), (s.orelse, t_false))


def sc_while(s: While, c1: Cost, t: Threads, t_true: Threads, t_false: Threads, m: BlockMachine) -> Step:
    """SC:While    C1 (+)_T M.if (+)_D M.div, then the body and the loop on T_true;  D: the warps on both sides"""
    d = diverging(t_true, t_false, m)
    return c1 + m.pay("if", s, t) + m.pay("div", s, d), ((s.body, t_true), (s, t_true))


def diverging(t_true: Threads, t_false: Threads, m: BlockMachine) -> Threads:
    """The threads of warps with threads on both sides."""
    both = {warp_of(t, m) for t in t_true} & {warp_of(t, m) for t in t_false}
    return ordered((t for t in t_true + t_false if warp_of(t, m) in both), m.block) if both else ()


# --- a grid ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a launch: what it cost, and the store that it left behind.

    `whole` has the works by the profile's name: their sum, and the largest of a warp. `blocks` has W and S of every
    block, in the order of the blocks.
    """

    whole: grid.Result
    blocks: tuple[dict[str, Pair], ...]

    def span(self, profile: str) -> Fraction:
        """S of the grid: the largest of its blocks, which do not wait for each other."""
        return max(b[profile].span for b in self.blocks)

    def time_bound(self, profile: str, issue: int) -> Fraction:
        """Theorem 2's bound of the block where it is largest, each block by itself."""
        return max(time_bound(*b[profile], issue) for b in self.blocks)


def run(
    kernel: Kernel,
    block: Dim,
    blocks: Dim,
    args: Mapping[str, Value],
    arrays: Mapping[str, Contents] | None = None,
    profiles: Sequence[Profile] = (TIME,),
    hardware: Hardware = HARDWARE["nvidia"],
    step_limit: int = STEP_LIMIT,
    observer: Observer | None = None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Runs a kernel on every block of a grid, one after another, as `grid.run` does. The step limit is for one block.

    `progress` is told how many blocks have run. Raises TypeProblem, LaunchProblem, ValueProblem, StepLimit and
    BarrierDivergence.
    """
    launch = grid.prepare(kernel, block, blocks, args, arrays or {}, hardware)
    names = [p.name for p in profiles]
    costs: list[dict[str, Pair]] = []
    warps: list[dict[str, Pair]] = []
    for index, plain in grid.machines(launch, (), step_limit, observer):
        m = BlockMachine(
            plain.sigma,
            plain.params,
            plain.block,
            (),
            plain.hardware,
            plain.initial,
            plain.step_limit,
            plain.observer,
            plain.exchanges,
            profiles=tuple(profiles),
        )
        c = _run(kernel.body, launch.store, grid.threads_of(index, block), m, m.nothing)
        costs.append(work_and_span(c, m))
        warps += pairs(c, m)
        if progress:
            progress(len(costs))
    whole = grid.Result(
        {x: sum((b[x].work for b in costs), Fraction(0)) for x in names},
        {x: max(w[x].work for w in warps) for x in names},
        len(warps),
        launch.arrays(),
        tuple(launch.out_of_bounds.values()),
    )
    return Result(whole, tuple(costs))
