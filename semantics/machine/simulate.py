"""The mini-SIMT machine, cycle by cycle (Hirvisalo, WCET 2014, section 4).

A cycle issues at most one instruction, of one warp, for all its active threads. The policy, where the paper leaves it
open:
- Loose round robin: the next warp behind the last one issued that is ready. A warp that is not ready costs nothing.
- A load issued in cycle t lets its warp go on in cycle t + latency; all else lets it go on in the next cycle.
- A branch pushes a frame, also where all threads agree; at a branch whose own frame is the top one (a loop's) that
  frame is extended. Where the threads part, those who jump go first and the others are the frame's todo.
- `sync` adds the active threads to the top frame's done set; the todo set resumes behind the branch; without one the
  frame is popped and all its threads go on together.
- The last arrival at a barrier releases all who wait there: they are ready in the next cycle.
- The run ends when the last warp has ended and the last load is back.

Variables are 0 before they are written. Where several threads of a warp store to one address, the highest one wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from logic.syntax import INT, Const, Type
from semantics.machine.arithmetic import RunProblem, apply, whole
from semantics.machine.launch import Launch, initial_memory, initial_values
from semantics.machine.program import (
    TID,
    Barrier,
    Branch,
    Compute,
    Copy,
    Instruction,
    Jump,
    Load,
    Operand,
    Program,
    Store,
    Sync,
    written,
)
from semantics.machine.trace import Deadlock, Endless, Observer, Outside, Result, Row, State, Waiting
from semantics.values import Value, default, literal

STEP_LIMIT: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Segment:
    """Cells from address `base` on; `value(i)` is what cell `base + i` holds before the run, by default 0 or 0.0."""

    base: int = 0
    length: int | None = None
    type: Type = INT
    value: Callable[[int], Value] | None = None

    def __contains__(self, address: int) -> bool:
        return address >= self.base and (self.length is None or address < self.base + self.length)

    def initial(self, address: int) -> Value:
        return self.value(address - self.base) if self.value else default(self.type)


# --- the machine -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Frame:
    """A frame of the synchronization stack: the branch, who is at its sync, and who resumes behind the branch."""

    branch: int
    done: list[int] = field(default_factory=list)
    todo: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Warp:
    number: int
    lanes: int
    active: list[int]
    variables: dict[str, list[Value]]
    pc: int = 0
    ready_at: int = 0
    stack: list[_Frame] = field(default_factory=list)
    waits: Waiting | None = None
    ended: bool = False

    def read(self, o: Operand) -> list[Value]:
        """The active threads' values, in their order."""
        if isinstance(o, Const):
            return [literal(o)] * len(self.active)
        column = self.variables[o.name]
        return [column[lane] for lane in self.active]

    def write(self, var: str, values: Sequence[Value]) -> None:
        column = self.variables[var]
        for lane, value in zip(self.active, values, strict=True):
            column[lane] = value


@dataclass(slots=True)
class _Machine:
    program: Program
    launch: Launch
    memory: dict[int, Value]
    segments: Sequence[Segment]
    warps: list[_Warp]
    cycle: int = 0
    outside: dict[object, Outside] = field(default_factory=dict)

    # --- memory ---

    def _segment(self, address: int) -> Segment | None:
        return next((s for s in self.segments if address in s), None)

    def _missed(self, kind: Literal["load", "store"], address: int, w: _Warp, lane: int, i: Instruction) -> None:
        thread = w.number * self.launch.warp_size + lane
        self.outside.setdefault((kind, i.loc or w.pc), Outside(kind, address, thread, i.loc))

    def load(self, address: int, w: _Warp, lane: int, i: Load) -> Value:
        if address in self.memory:
            return self.memory[address]
        segment = self._segment(address)
        if segment is None:
            self._missed("load", address, w, lane, i)
            return 0
        return segment.initial(address)

    def store(self, address: int, value: Value, w: _Warp, lane: int, i: Store) -> None:
        if address in self.memory or self._segment(address):
            self.memory[address] = value
        else:
            self._missed("store", address, w, lane, i)

    # --- a cycle ---

    def issue(self, w: _Warp) -> None:
        """The warp's next instruction, for its active threads."""
        i = self.program.instructions[w.pc]
        w.ready_at = self.cycle + 1
        after = w.pc + 1
        match i:
            case Copy(var, value):
                w.write(var, w.read(value))
            case Compute(var, op, args, type_):
                columns = zip(*map(w.read, args), strict=True)
                w.write(var, [apply(op, type_, values, i.result, i.loc) for values in columns])
            case Load(var, address):
                places = zip(w.active, w.read(address), strict=True)
                w.write(var, [self.load(whole(a, i.loc, "an address"), w, lane, i) for lane, a in places])
                w.ready_at = self.cycle + self.launch.latency
            case Store(address, value):
                for lane, a, v in zip(w.active, w.read(address), w.read(value), strict=True):
                    self.store(whole(a, i.loc, "an address"), v, w, lane, i)
            case Jump(target):
                after = target
            case Branch(zero, cond, target):
                after = _branch(w, [bool(v) != zero for v in w.read(cond)], target)
            case Sync():
                after = _sync(w)
            case Barrier():
                self._arrive(w, i)
        w.pc = after
        self._settle(w)
        if w.ended or w.waits:
            self._release()

    def _settle(self, w: _Warp) -> None:
        """A warp has ended when it is behind the last instruction and waits at no barrier."""
        w.ended = w.pc == len(self.program.instructions) and not w.waits

    # --- barriers ---

    def _arrive(self, w: _Warp, i: Barrier) -> None:
        ident = self._agreed(w, i.ident, i, "barrier")
        expected = None if i.count is None else self._agreed(w, i.count, i, "number of threads")
        if expected is not None and expected < 1:
            raise RunProblem(f"barrier {ident} expects {expected} threads", i.loc, "At least the one that came.")
        first = w.number * self.launch.warp_size
        w.waits = Waiting(w.number, tuple(first + lane for lane in w.active), ident, expected, i.loc)
        there = [v.waits for v in self.warps if v.waits and v.waits.ident == ident]
        for other in there:
            if other.expected != expected:
                wants = [f"{'all' if n is None else n} threads" for n in (expected, other.expected)]
                message = f"at barrier {ident} warp {w.number} expects {wants[0]}, warp {other.warp} {wants[1]}"
                raise RunProblem(message, i.loc, "All who wait at a barrier have to expect the same number.")
        come = sum(len(v.threads) for v in there)
        if expected is not None and come > expected:
            message = f"{come} threads come to barrier {ident}, which expects {expected}"
            raise RunProblem(message, i.loc, "A whole warp arrives at once: give the number that is a sum of warps.")

    def _agreed(self, w: _Warp, o: Operand, i: Barrier, what: str) -> int:
        values = w.read(o)
        if any(v != values[0] for v in values):
            message = f"the threads of warp {w.number} do not agree on the {what}: {values[0]} and others"
            raise RunProblem(message, o.loc or i.loc, "It has to be the same for all threads of a warp.")
        return whole(values[0], i.loc, f"a {what}")

    def _release(self) -> None:
        """Lets those go on whose barrier has all the threads that it expects."""
        unfinished = sum(w.lanes for w in self.warps if not w.ended)
        there: dict[int, list[tuple[_Warp, Waiting]]] = {}
        for w in self.warps:
            if w.waits:
                there.setdefault(w.waits.ident, []).append((w, w.waits))
        for waiting in there.values():
            expected = waiting[0][1].expected
            if sum(len(v.threads) for _, v in waiting) == (unfinished if expected is None else expected):
                for w, _ in waiting:
                    w.waits = None
                    w.ready_at = self.cycle + 1
                    self._settle(w)
                if any(w.ended for w, _ in waiting):
                    self._release()
                    return

    # --- what is seen ---

    def row(self, issued: _Warp | None, address: int, lanes: tuple[int, ...]) -> Row:
        """This cycle, with the states as they were when it began."""
        number = issued.number if issued else None
        return Row(self.cycle, number, address, lanes, tuple(self._state(w, number) for w in self.warps))

    def _state(self, w: _Warp, issued: int | None) -> State:
        if w.number == issued:
            return "issue"
        if w.waits:
            return "barrier"
        if w.ready_at > self.cycle:
            return "stall"
        return "ended" if w.ended else "ready"


def _branch(w: _Warp, jumps: Sequence[bool], target: int) -> int:
    """The place at which the warp goes on; its stack has the branch's frame on top afterwards."""
    if not w.stack or w.stack[-1].branch != w.pc:
        w.stack.append(_Frame(w.pc))
    taken = [lane for lane, jump in zip(w.active, jumps, strict=True) if jump]
    if not taken:
        return w.pc + 1
    if len(taken) < len(w.active):
        w.stack[-1].todo += [lane for lane, jump in zip(w.active, jumps, strict=True) if not jump]
        w.active = taken
    return target


def _sync(w: _Warp) -> int:
    """The place at which the warp goes on, and the threads that do."""
    frame = w.stack[-1]
    frame.done += w.active
    if frame.todo:
        w.active, frame.todo = sorted(frame.todo), []
        return frame.branch + 1
    w.stack.pop()
    w.active = sorted(frame.done)
    return w.pc + 1


def run(
    p: Program,
    launch: Launch,
    memory: Mapping[int, Value] | None = None,
    segments: Sequence[Segment] = (Segment(),),
    step_limit: int = STEP_LIMIT,
    observer: Observer | None = None,
) -> Result:
    """Runs one block of threads on one processor until all have ended.

    `memory` has cells that hold something before the run, `segments` says which addresses there are. Raises
    LaunchProblem, RunProblem, Endless and Deadlock.
    """
    values = initial_values(p, launch)
    cells = dict(memory or {}) | initial_memory(p, values)
    m = _Machine(p, launch, cells, segments, _warps_of(p, launch, values))
    turns, issued = list(range(len(m.warps))), 0  # whose turn it is, first to last
    while True:
        w = next((m.warps[k] for k in turns if _ready(m.warps[k], m.cycle)), None)
        if w is None:
            wake = min((w.ready_at for w in m.warps if not w.waits and w.ready_at > m.cycle), default=None)
            if wake is None:
                break
            if observer:
                observer(m.row(None, 0, ()))
            m.cycle = m.cycle + 1 if observer else wake
            continue
        if issued == step_limit:
            raise Endless(step_limit, m.cycle, p.instructions[w.pc].loc)
        issued += 1
        row = m.row(w, w.pc, tuple(w.active)) if observer else None
        m.issue(w)
        if observer and row:
            observer(row)
        m.cycle += 1
        behind = turns.index(w.number) + 1
        turns = turns[behind:] + turns[:behind]
    waiting = tuple(w.waits for w in m.warps if w.waits)
    if waiting:
        ended = tuple(w.number for w in m.warps if w.ended)
        raise Deadlock(m.cycle, waiting, ended, sum(w.lanes for w in m.warps if not w.ended))
    return Result(m.cycle, issued, m.memory, tuple(m.outside.values()))


def _ready(w: _Warp, cycle: int) -> bool:
    return not w.ended and not w.waits and w.ready_at <= cycle


def _warps_of(p: Program, launch: Launch, values: Mapping[str, Value]) -> list[_Warp]:
    names = {x for i in p.instructions if (x := written(i))} | values.keys()
    warps = []
    for number in range(launch.warps):
        first = number * launch.warp_size
        lanes = min(launch.warp_size, launch.threads - first)
        variables = {x: [values.get(x, 0)] * lanes for x in names}
        variables[TID] = list(range(first, first + lanes))
        warps.append(_Warp(number, lanes, list(range(lanes)), variables))
    return warps
