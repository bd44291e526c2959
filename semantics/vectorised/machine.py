"""The rules of `semantics.lockstep` on many warps at once.

A `Unit` is some warps that execute a statement together, where any of their lanes is active; each warp pays what it
would pay alone. It keeps a stack of statements as `semantics.lockstep.phases` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logic.metrics import Hardware
from logic.syntax import (
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    reads_array,
    statements,
    subterms,
)
from logic.typing import Signature, type_of
from semantics import exchange
from semantics.events import Dim, Thread
from semantics.grid import OutOfBounds
from semantics.lockstep import Barrier, Cost, StepLimit
from semantics.values import Value, ValueProblem, default, literal, unknown
from semantics.vectorised.counts import Prices, Tally, access
from semantics.vectorised.memory import BLOCK_SHIFT, PHASE_SHIFT, Cells, Keys, OutOfOrder
from semantics.vectorised.values import Data, Mask, Unsupported, Val, dtype, lanewise, passed, uniform


class Narrow(Exception):
    """Fewer warps have to run at once: an error, or what may be one, that the reference would meet in its order."""


class Active(NamedTuple):
    """Active lanes: the numbers of their warps in the unit (None: all), and which lanes of those (None: all).

    `whole`: all threads of these warps. Every warp has an active lane.
    """

    rows: NDArray[np.int64] | None
    mask: Mask
    whole: bool


# --- the program -----------------------------------------------------------------------------------------------------

Evaluate = Callable[["Unit", Active], Val]


@dataclass(slots=True)
class Program:
    """The expressions of a kernel's statements as functions, and their fixed costs, by the ids of the statements."""

    kernel: Kernel
    sigma: Signature
    evaluate: dict[int, tuple[Evaluate, ...]] = field(default_factory=dict)
    costs: dict[int, Counter[str]] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)


_OWN: Final = {Assign: "vwrite", If: "if", While: "if", Sync: "sync"}


def program(kernel: Kernel, sigma: Signature) -> Program:
    """The kernel, ready to run. Raises Unsupported."""
    p = Program(kernel, sigma)
    for s in statements(kernel.body):
        match s:
            case Assign(_, value):
                terms = [value]
            case Write(_, index, value):
                terms = [index, value]
                p.written.add(s.array)
            case If(cond) | While(cond):
                terms = [cond]
            case Assume():  # the reference tells where one does not hold
                raise Unsupported
            case _:
                terms = []
        fixed: Counter[str] = Counter([_OWN[type(s)]] if type(s) in _OWN else [])
        match s:
            case Write(_, index, value) if not reads_array(index):
                p.evaluate[id(s)] = (_remembered(_compiled(index, p)), _compiled(value, p, index))
            case _:
                p.evaluate[id(s)] = tuple(_compiled(e, p) for e in terms)
        for e in terms:
            for part in subterms(e):
                match part:
                    case Var() | Tid():
                        fixed["var"] += 1
                    case Const():
                        fixed["const"] += 1
                    case Param():
                        fixed["param"] += 1
                    case Op():
                        fixed["op"] += 1
                    case Read(array):
                        p.read.add(array)
        p.costs[id(s)] = fixed
    return p


def _remembered(evaluate: Evaluate) -> Evaluate:
    def remember(u: Unit, t: Active) -> Val:
        u.written_at = evaluate(u, t)
        return u.written_at

    return remember


def _compiled(e: Expr, p: Program, written_at: Expr | None = None) -> Evaluate:
    """An expression as a function; the unit remembers the value of `written_at`, an index: `A[i] <- A[i] + 1`."""
    match e:
        case Var() | Param() | Tid():
            name = e.name
            return lambda u, t: u.named(name, t)
        case Const(_, type_):
            try:
                constant = uniform(literal(e), type_)
            except ValueProblem as problem:
                return _raising(problem, ())
            return lambda _u, _t: constant
        case Op(op, args):
            parts = tuple(_compiled(a, p, written_at) for a in args)
            try:
                if exchange.kind(e):
                    return _exchanged(e, p, parts)
                function = lanewise(op, tuple(type_of(a, p.sigma) for a in args), type_of(e, p.sigma), e.loc)
            except ValueProblem as problem:
                return _raising(problem, parts)
            return lambda u, t: function(tuple([part(u, t) for part in parts]), t.mask)
        case Read(_, index):
            if index == written_at:
                return lambda u, t: u.load(e, u.written_at, t)
            at = _compiled(index, p, written_at)
            return lambda u, t: u.load(e, at(u, t), t)


def _exchanged(e: Op, p: Program, parts: tuple[Evaluate, ...]) -> Evaluate:
    """A shuffle or a vote. Raises ValueProblem where the kernel does not say what is passed."""
    k, type_ = exchange.number(e), type_of(e, p.sigma)
    if k is not None and k not in p.kernel.exchanges:
        raise unknown(e, "")
    if k is None:
        return _after(parts, lambda _u, _t: uniform(0.0, type_))
    x = p.kernel.exchanges[k]
    value, *rest = (_compiled(part or Const(0), p) for part in (x.value, x.by, x.width, x.mask))
    masked = x.mask is not None

    def evaluate(u: Unit, t: Active) -> Val:
        by, width, mask = (part(u, t) for part in rest)
        asked = (by, width, mask if masked else None)
        return Val(passed(e, value(u, t), asked, t.mask, u.chunk.hardware.warp).astype(dtype(type_)))

    return _after(parts, evaluate)


def _after(parts: tuple[Evaluate, ...], then: Evaluate) -> Evaluate:
    """A term whose operands are evaluated for their costs only."""

    def evaluate(u: Unit, t: Active) -> Val:
        for part in parts:
            part(u, t)
        return then(u, t)

    return evaluate


def _raising(problem: ValueProblem, parts: tuple[Evaluate, ...]) -> Evaluate:
    """The evaluation of a term without a value: it raises the problem once the operands have their values."""

    def evaluate(u: Unit, t: Active) -> Val:
        for p in parts:
            p(u, t)
        raise problem

    return evaluate


# --- a chunk of blocks -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Chunk:
    """Consecutive blocks that run at once: what their units share.

    `exact`: one block, warp by warp, as the reference runs it; then errors are raised. Otherwise they raise Narrow.
    """

    program: Program
    sigma: Signature
    params: Mapping[str, Value]
    block: Dim
    grid: Dim
    hardware: Hardware
    prices: tuple[Prices, ...]
    step_limit: int
    cells: Mapping[str, Cells]
    first: int
    blocks: int
    columns: bool
    exact: bool
    outside: dict[object, tuple[int, int, OutOfBounds]] = field(default_factory=dict)
    accesses: int = 0
    barriers: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    places: dict[object, int] = field(default_factory=dict)

    def arrive(self, sync: Sync, blocks: NDArray[np.int64], phases: NDArray[np.int64]) -> None:
        """Warps of these blocks come to a barrier, having passed so many. Raises Narrow if others wait elsewhere."""
        place = self.places.setdefault(sync.loc or id(sync), len(self.places) + 1)
        for phase in np.unique(phases).tolist():
            here = blocks[phases == phase]
            waiting = self.barriers.setdefault(phase, np.zeros(self.blocks, np.int64))
            if ((waiting[here] != 0) & (waiting[here] != place)).any():
                raise Narrow
            waiting[here] = place

    def index(self, block: int) -> Dim:
        """The index of a block of the chunk in the grid."""
        n = self.first + block
        return n % self.grid[0], n // self.grid[0] % self.grid[1], n // (self.grid[0] * self.grid[1])


class Unit:
    """Some warps of every block of a chunk, a row each, in the order of blocks and warps."""

    def __init__(self, chunk: Chunk, warps: range) -> None:
        lanes = chunk.hardware.warp
        self.chunk = chunk
        self.rows = chunk.blocks * len(warps)
        self.block = np.repeat(np.arange(chunk.blocks), len(warps))
        self.warp = np.tile(np.arange(warps.start, warps.stop), chunk.blocks)
        self.phase = np.zeros(self.rows, np.int64)
        self.key: Keys = (self.block << BLOCK_SHIFT) + self.warp + 1
        self.ordered = self.level = True
        self.tally = Tally(self.rows)
        self.steps = 0
        self.written_at = Val(np.zeros((1, 1), np.int64))
        self._owned: set[str] = set()  # locals whose array nobody else holds
        self._taken: tuple[object, dict[str, Val]] = (None, {})
        self._counted: tuple[object, object, object, NDArray[np.int64]] | None = None

        number = np.arange(warps.start, warps.stop)[:, None] * lanes + np.arange(lanes)
        exists = number < chunk.block[0] * chunk.block[1] * chunk.block[2]
        mask = None if exists.all() else self._over_blocks(exists)
        self.root = Active(None, mask, True)
        sigma = chunk.sigma
        self._names = {x: uniform(default(type_), type_) for x, type_ in sigma.locals.items()}
        for name, value in chunk.params.items():
            self._names[name] = uniform(value, sigma.params[name])
        grid, block = chunk.grid, chunk.block
        linear = (chunk.first + self.block)[:, None]
        strides = {"x": 1, "y": grid[0], "z": grid[0] * grid[1]}
        for axis, extent, most, within in zip("xyz", block, grid, (1, block[0], block[0] * block[1]), strict=True):
            self._names[f"blockDim.{axis}"] = uniform(extent, sigma.params[f"blockDim.{axis}"])
            self._names[f"gridDim.{axis}"] = uniform(most, sigma.params[f"gridDim.{axis}"])
            self._names[f"blockIdx.{axis}"] = _val(linear // strides[axis] % most)
            tid = number // within % extent
            self._names[f"tid.{axis}"] = _val(self._over_blocks(np.where(exists, tid, tid[:, :1])))
        self._names["warpSize"] = uniform(lanes, sigma.params["warpSize"])

    def _over_blocks(self, pattern: NDArray[Any]) -> NDArray[Any]:
        """The values for the warps of one block, for those of all; one row for all if they agree."""
        if (pattern == pattern[:1]).all():
            return pattern[:1]
        return np.tile(pattern, (self.chunk.blocks, 1))

    # --- expressions ---

    def named(self, name: str, t: Active) -> Val:
        """The value of a local, a parameter or tid.*"""
        v = self._names[name]
        if t.rows is None:
            self._owned.discard(name)
            return v
        if len(v.data) == 1:
            return v
        if self._taken[0] is not t.rows:
            self._taken = (t.rows, {})
        taken = self._taken[1]
        if name not in taken:
            taken[name] = Val(v.data[t.rows], v.lo, v.hi)
        return taken[name]

    def load(self, e: Read, index: Val, t: Active) -> Val:
        """EC:GArr, EC:SArr"""
        cells = self.chunk.cells[e.array]
        self._pay(e, cells, index, t)
        return cells.load(index, *self._order(cells, t), t.mask)

    def _pay(self, term: Read | Write, cells: Cells, index: Val, t: Active) -> None:
        """The cost of an access, which may be out of bounds."""
        array = cells.array
        layout = (array.space, array.stride, array.offset, array.width)
        last = self._counted
        if last and last[0] is index.data and last[1] is t.mask and last[2] == layout:
            n = last[3]
        else:
            n = access(array, index, t.mask, self.chunk.hardware)
            self._counted = (index.data, t.mask, layout, n)
        constant = array.space[0] + ("read" if isinstance(term, Read) else "write")
        self.tally.access(constant, t.rows, n)
        length = cells.length
        if index.lo < 0 or (length is not None and index.hi >= length):
            i = index.data
            outside = (i < 0) if length is None else (i < 0) | (i >= length)
            if t.mask is not None:
                outside = outside & t.mask
            if outside.any():
                self._note(term, cells, index, t, outside)

    def _note(self, term: Read | Write, cells: Cells, index: Val, t: Active, outside: Data) -> None:
        """Keeps the access out of bounds that the reference meets first at this place."""
        chunk = self.chunk
        chunk.accesses += 1
        rows = np.arange(self.rows) if t.rows is None else t.rows
        where = np.broadcast_to(outside, (len(rows), outside.shape[1]))
        candidates = np.flatnonzero(where.any(axis=1))
        at = int(candidates[np.argmin(self.key[rows[candidates]])])
        row, lane = int(rows[at]), int(np.argmax(where[at]))
        key = int(self.key[row])
        kind: Any = "load" if isinstance(term, Read) else "store"
        place = (kind, term.array, term.loc or id(term))
        if place in chunk.outside and chunk.outside[place][0] <= key:
            return
        i = int(np.broadcast_to(index.data, where.shape)[at, lane])
        found = OutOfBounds(kind, term.array, i, cells.length, self._thread(row, lane), term.loc)
        chunk.outside[place] = (key, chunk.accesses, found)

    def _thread(self, row: int, lane: int) -> Thread:
        n = int(self.warp[row]) * self.chunk.hardware.warp + lane
        x, y, _ = self.chunk.block
        return Thread(self.chunk.index(int(self.block[row])), (n % x, n // x % y, n // (x * y)))

    def _order(self, cells: Cells, t: Active) -> tuple[NDArray[np.int64], Keys]:
        """Columns of the warps' blocks and keys, which have to rise."""
        blocks, keys = (self.block, self.key) if t.rows is None else (self.block[t.rows], self.key[t.rows])
        if cells.tracked and not self.ordered and (keys[1:] < keys[:-1]).any():
            raise OutOfOrder(across=False)
        return blocks[:, None], keys[:, None]

    # --- statements ---

    def run(self) -> Iterator[Barrier]:
        """Runs the kernel; stops before each `sync` where units of a block take turns."""
        chunk, evaluate = self.chunk, self.chunk.program.evaluate
        todo: list[tuple[Stmt, Active, Stmt | None, bool]] = [(chunk.program.kernel.body, self.root, None, False)]
        while todo:
            s, t, split, _ = frame = todo.pop()
            if isinstance(s, Sync):
                if not chunk.exact:
                    self._arrive(s, t)
                if chunk.columns:
                    yield Barrier(s, self._threads(t) if chunk.exact else (), split)
                self._pass(t)
            self.steps += 1
            if self.steps > chunk.step_limit:
                self._limit([f[0] for f in (*todo, frame) if f[3]])
            self.tally.visit(id(s), t.rows)
            match s:
                case Seq(stmts):
                    todo.extend((after, t, split, False) for after in reversed(stmts))
                case Assign(x):
                    (value,) = evaluate[id(s)]
                    self._assign(x, value(self, t), t)
                case Write(array):
                    i, v = [e(self, t) for e in evaluate[id(s)]]
                    cells = chunk.cells[array]
                    self._pay(s, cells, i, t)
                    cells.store(i, v, *self._order(cells, t), t.mask)
                case If(_, then, orelse):
                    (cond,) = evaluate[id(s)]
                    t_true, t_false = self._sides(cond(self, t), t)
                    if t_false:
                        todo.append((orelse, t_false, split if t_false is t else s, False))
                    if t_true:
                        todo.append((then, t_true, split if t_true is t else s, False))
                case While(_, body):
                    (cond,) = evaluate[id(s)]
                    t_true, _ = self._sides(cond(self, t), t)
                    if t_true:
                        split = split if t_true is t else s
                        todo += [(s, t_true, split, True), (body, t_true, split, False)]
                case Skip() | Sync():
                    pass

    def _assign(self, x: str, value: Val, t: Active) -> None:
        old = self._names[x]
        if t.rows is None:
            self._owned.discard(x)
            if t.whole or t.mask is None:
                self._names[x] = value
            else:
                data = np.where(t.mask, value.data, old.data)
                self._names[x] = Val(data, min(old.lo, value.lo), max(old.hi, value.hi))
            return
        mask = None if t.whole else t.mask
        columns = max(old.data.shape[1], value.data.shape[1], 1 if mask is None else mask.shape[1])
        data = old.data
        if x not in self._owned or data.shape != (self.rows, columns):
            data = np.broadcast_to(data, (self.rows, columns)).copy()
            self._owned.add(x)
        data[t.rows] = value.data if mask is None else np.where(mask, value.data, data[t.rows])
        self._names[x] = Val(data, min(old.lo, value.lo), max(old.hi, value.hi))
        if self._taken[0] is not None:
            self._taken[1].pop(x, None)

    def _sides(self, cond: Val, t: Active) -> tuple[Active | None, Active | None]:
        """T_true and T_false, T itself where the other is empty; warps with lanes in both pay M.div."""
        c: NDArray[np.bool_] = cond.data
        mixed: NDArray[np.bool_] | None = None
        lanes_yes, lanes_no = c, ~c
        if c.size == 1:
            return (t, None) if c[0, 0] else (None, t)
        if c.shape[1] == 1:  # all lanes of a warp agree
            yes, no = c[:, 0], ~c[:, 0]
        else:
            if t.mask is not None:
                lanes_yes, lanes_no = t.mask & c, t.mask & ~c
            yes, no = np.any(lanes_yes, axis=1), np.any(lanes_no, axis=1)
            mixed = np.logical_and(yes, no)
        if not no.any():
            return t, None
        if not yes.any():
            return None, t
        if mixed is None or not mixed.any():
            return self._some(t, yes, t.mask, t.whole), self._some(t, no, t.mask, t.whole)
        everyone = t.rows if mixed.all() else self._some(t, mixed, None, False).rows
        self.tally.visit("div", everyone)
        return self._some(t, yes, lanes_yes, False), self._some(t, no, lanes_no, False)

    def _some(self, t: Active, chosen: NDArray[np.bool_], mask: Mask, whole: bool) -> Active:
        """These warps of T, with lanes by `mask`."""
        if chosen.all():
            return Active(t.rows, mask, whole)
        rows = np.flatnonzero(chosen) if t.rows is None else t.rows[chosen]
        return Active(rows, mask[chosen] if mask is not None and len(mask) > 1 else mask, whole)

    # --- barriers and limits ---

    def _arrive(self, s: Sync, t: Active) -> None:
        """Raises Narrow unless all threads of these warps are here, and those of others not elsewhere."""
        if not t.whole:
            threads = np.ones((1, self.lanes), np.bool_) if self.root.mask is None else self.root.mask
            if len(threads) > 1 and t.rows is not None:
                threads = threads[t.rows]
            if t.mask is not None and (threads & ~t.mask).any():
                raise Narrow
        if t.rows is None and self.level and not self.chunk.columns:
            return  # all warps of all blocks
        blocks, phases = (self.block, self.phase) if t.rows is None else (self.block[t.rows], self.phase[t.rows])
        self.chunk.arrive(s, blocks, phases)

    def _pass(self, t: Active) -> None:
        where = slice(None) if t.rows is None else t.rows
        self.phase[where] += 1
        self.key[where] += 1 << PHASE_SHIFT
        if not (t.rows is None and self.level):
            self.level = bool((self.phase == self.phase[0]).all())
            self.ordered = bool((self.key[1:] > self.key[:-1]).all())

    @property
    def lanes(self) -> int:
        """The lanes of a warp."""
        return self.chunk.hardware.warp

    def _threads(self, t: Active) -> tuple[Thread, ...]:
        """The active threads of a unit of one warp."""
        threads = self.chunk.block[0] * self.chunk.block[1] * self.chunk.block[2]
        some = [True] * self.lanes if t.mask is None else t.mask[0].tolist()
        first = int(self.warp[0]) * self.lanes
        return tuple(self._thread(0, lane) for lane in range(self.lanes) if some[lane] and first + lane < threads)

    def _limit(self, loops: list[Stmt]) -> None:
        chunk = self.chunk
        if not chunk.exact:
            self.steps = self.tally.steps(chunk.program.costs) + 1
            if self.steps > chunk.step_limit:
                raise Narrow
            return
        loop = next((s for s in loops if isinstance(s, While)), None)
        raise StepLimit(chunk.step_limit, loop, Cost(tuple(p.exact(int(c[0])) for p, c in self.costs())))

    def costs(self) -> list[tuple[Prices, NDArray[Any]]]:
        """For every metric what the warps paid, in units of its prices."""
        return [(p, p.costs(self.tally, self.chunk.program.costs)) for p in self.chunk.prices]


def _val(data: NDArray[np.int64]) -> Val:
    """Integers in the smallest shape."""
    if (data == data[:, :1]).all():
        data = data[:, :1]
    if (data == data[:1]).all():
        data = data[:1]
    return Val(data, int(data.min()), int(data.max()))
