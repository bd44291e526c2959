"""What a kernel costs when a host compiler says what each lane does, and a graph of the program where lanes meet.

Every lane runs alone, compiled by g++, and leaves a trace of its tests and accesses. A small machine then lets a warp
go through the graph of the source, taking outcomes and addresses from the traces: lanes part at tests, and meet where
statements, sections, loops and functions end; those that leave a loop without a test meet at its nearest
post-dominator in its body, if it has one. It shares nothing with the front end.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from logic.metrics import METRICS
from logic.syntax import Read, Write
from semantics.cuda import read_cuda
from semantics.events import Event
from semantics.grid import run
from tests.semantics.cuda.wild import CELLS, Function, Printer, Program, Stmt, Test

LANES: Final = 16
N: Final = 3
"""The kernel's argument."""

CONTENTS: Final = [(i * 7 + i // 5) % 11 for i in range(CELLS)]
"""Of the array A."""

COMPILER: Final = shutil.which("g++")
ARRAYS: Final = ("A", "B", "S", "Z")
GLOBAL: Final = ("A", "B")
COUNTED: Final = ("sectors", "conflicts", "divwarps")

# --- traces ----------------------------------------------------------------------------------------------------------

_BEFORE: Final = """\
#include <cstdio>
#include <vector>
struct Index { int x; };
static Index threadIdx;
static std::vector<int> trace;
static void put(int a, int b, int c, int d) { for (int v : {a, b, c, d}) trace.push_back(v); }
static bool T(int id, bool value) { put(0, id, value, 0); return value; }
static int W(int id, int value) { put(0, id, value, 0); return value; }
static int R(int id, int value) { put(0, id, value, 0); return value; }
static void X(int id) { put(0, id, 0, 0); }
struct Cell {
  int site, array, index, *memory;
  operator int() const { put(1, site, array, index); return memory[index]; }
  int operator=(int value) { put(2, site, array, index); return memory[index] = value; }
  int operator=(const Cell &other) { return *this = (int)other; }
  int operator+=(int value) { put(1, site, array, index); put(2, site, array, index); return memory[index] += value; }
};
struct Array { int number, *memory; Cell at(int site, int index) { return Cell{site, number, index, memory}; } };
"""

_AFTER: Final = """\
static int memory[4][{cells}];
int main() {{
  void (*kernels[])(Array, Array, Array, Array, int) = {{ {names} }};
  for (auto kernel : kernels) for (int lane = 0; lane < {lanes}; lane++) {{
    for (int a = 0; a < 4; a++) for (int i = 0; i < {cells}; i++) memory[a][i] = a ? 0 : (i * 7 + i / 5) % 11;
    threadIdx.x = lane;
    trace.clear();
    kernel(Array{{0, memory[0]}}, Array{{1, memory[1]}}, Array{{2, memory[2]}}, Array{{3, memory[3]}}, {n});
    for (int v : trace) printf("%d ", v);
    printf("\\n");
  }}
}}
"""

Step = tuple[int, int, int, int]
"""A test or a value (0, id, value, 0), a load (1, site, array, index), a store (2, ..)."""


def traces(programs: Sequence[Program], folder: Path) -> list[list[list[Step]]]:
    """What each lane of each program does, compiled at once."""
    assert COMPILER is not None
    names = ", ".join(p.name for p in programs)
    text = "".join(Printer(True).program(p) for p in programs)
    after = _AFTER.format(cells=CELLS, lanes=LANES, names=names, n=N)
    (folder / "hosted.cpp").write_text(_BEFORE + text + after)
    command = [COMPILER, "-std=c++17", "-O0", "-w", "-o", "hosted", "hosted.cpp"]
    subprocess.run(command, cwd=folder, check=True, timeout=600)
    out = subprocess.run([folder / "hosted"], capture_output=True, check=True, timeout=120).stdout
    lanes = [list(map(int, line.split())) for line in out.decode().splitlines()]
    steps = [[(v[i], v[i + 1], v[i + 2], v[i + 3]) for i in range(0, len(v), 4)] for v in lanes]
    return [steps[i : i + LANES] for i in range(0, len(steps), LANES)]


# --- graphs ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Point:
    """A point of a program: `do`, `call`, `if`, `switch`, `loop` (its head), `join` (nothing: where lanes meet)."""

    kind: str
    id: int = 0
    to: list[Point] = field(default_factory=list)
    test: Test | None = None
    call: Function | None = None
    labels: list[list[str]] = field(default_factory=list)
    end: Point | None = None
    again: Point | None = None
    late: bool = False
    inside: frozenset[Point] = frozenset()


@dataclass(eq=False)
class Graph:
    entry: Point
    exit: Point

    def points(self) -> list[Point]:
        return list({self.exit: None} | dict.fromkeys(_from(self.entry)))


def _from(entry: Point, *beyond: Point) -> list[Point]:
    """The points that a way leads to from one, but for those beyond others."""
    found, stack = {entry: None}, [entry]
    while stack:
        for p in stack.pop().to:
            if p not in found and p not in beyond:
                found[p] = None
                stack.append(p)
    return list(found)


@dataclass
class _Targets:
    leave: Point | None
    next: Point | None
    exit: Point


def graph(body: list[Stmt]) -> Graph:
    end = Point("join")
    return Graph(_row(body, end, _Targets(None, None, end)), end)


def _row(stmts: Iterable[Stmt], then: Point, targets: _Targets) -> Point:
    for s in reversed(list(stmts)):
        then = _point(s, then, targets)
    return then


def _point(s: Stmt, then: Point, targets: _Targets) -> Point:
    match s.kind:
        case "do":
            return Point("do", s.id, [then])
        case "call":
            return Point("call", s.id, [then], call=s.call)
        case "block":
            return _row(s.body, then, targets)
        case "return":
            return Point("do", s.id, [targets.exit]) if s.text else targets.exit
        case "break" | "continue":
            to = targets.leave if s.kind == "break" else targets.next
            assert to is not None
            return to
        case "if":
            end = Point("join", to=[then])
            branches = [_row(s.body, end, targets), _row(s.other, end, targets)]
            return Point("if", s.id, branches, test=s.test, end=end)
        case "switch":
            end = Point("join", to=[then])
            inner, entries, after = _Targets(end, targets.next, targets.exit), list[Point](), end
            for _, body in reversed(s.sections):
                after = Point("join", to=[_row(body, after, inner)])
                entries.insert(0, after)
            return Point("switch", s.id, [*entries, end], labels=[labels for labels, _ in s.sections], end=end)
    end, again = Point("join", to=[then]), Point("join")
    head = Point("loop", s.id, test=s.test, end=end, again=again, late=s.form == "do")
    again.to = [head]
    first = _row(s.body, again, _Targets(end, again, targets.exit))
    head.to = [first, end] if s.test else [first]
    head.inside = frozenset(_from(first, head, end, targets.exit))
    return head


def meetings(g: Graph) -> dict[Point, Point]:
    """For the heads of loops where the lanes meet that leave: where nothing leads back, but all ways out lead through,
    the nearest such point; else the end of the loop."""
    found = dict[Point, Point]()
    for head in (p for p in g.points() if p.kind == "loop"):
        end = head.end
        assert end is not None
        beyond = {p: _from(p, end, g.exit) for p in head.inside}
        past = [p for p in beyond if head not in beyond[p] and (head.inside | {head}).issuperset(_from(head, p))]
        found[head] = max(past, key=lambda p: len(beyond[p]), default=end)
    return found


# --- a warp ----------------------------------------------------------------------------------------------------------

Lanes = tuple[int, ...]
Waiting = dict[Point, Lanes]


class Warp:
    """Lanes that go through graphs together; `costs` by metric, and `accesses` of each lane: (kind, array, index)."""

    def __init__(self, steps: list[list[Step]]) -> None:
        self.left: list[Iterator[Step]] = [iter(s) for s in steps]
        self.costs = Counter[str](dict.fromkeys(COUNTED, 0))
        self.accesses = [Counter[tuple[str, str, int]]() for _ in steps]
        self.graphs: dict[int, tuple[Graph, dict[Point, Point]]] = {}

    def go(self, body: list[Stmt]) -> None:
        lanes = tuple(range(len(self.left)))
        self.function(body, lanes)
        for lane in lanes:
            assert next(self.left[lane], None) is None, "a trace that goes on"

    def function(self, body: list[Stmt], lanes: Lanes) -> None:
        if id(body) not in self.graphs:
            g = graph(body)
            self.graphs[id(body)] = g, meetings(g)
        g, meets = self.graphs[id(body)]
        arrived = self.run(g.entry, lanes, frozenset({g.exit}), meets)
        assert {p: len(v) for p, v in arrived.items()} == {g.exit: len(lanes)}

    def run(self, at: Point, lanes: Lanes, stops: frozenset[Point], meets: dict[Point, Point]) -> Waiting:
        """Where the lanes come to that start at a point, and stop at the next one of these."""
        waiting: Waiting = {}
        while at not in stops:
            match at.kind:
                case "do":
                    self.take(lanes, at.id)
                case "call":
                    assert at.call is not None
                    self.function(at.call.body, lanes)
                    self.take(lanes, at.id)
                case "if" | "switch" | "loop":
                    assert at.end is not None
                    arrived = getattr(self, f"_{at.kind}")(at, lanes, stops | {at.end}, meets)
                    lanes = arrived.pop(at.end, ())
                    _merge(waiting, arrived)
                    if not lanes:
                        return waiting
                    at = at.end
                    continue
            (at,) = at.to
        _merge(waiting, {at: lanes})
        return waiting

    def _if(self, at: Point, lanes: Lanes, stops: frozenset[Point], meets: dict[Point, Point]) -> Waiting:
        held = self.tested(at, lanes)
        sides = [tuple(i for i in lanes if bool(held[i]) == side) for side in (True, False)]
        self.costs["divwarps"] += all(sides) and _leads(at.to[0]) is not _leads(at.to[1])
        waiting: Waiting = {}
        for to, side in zip(at.to, sides, strict=True):
            if side:
                _merge(waiting, self.run(to, side, stops, meets))
        return waiting

    def _switch(self, at: Point, lanes: Lanes, stops: frozenset[Point], meets: dict[Point, Point]) -> Waiting:
        values = self.take(lanes, at.id)
        waiting: Waiting = {}
        for lane in lanes:
            _merge(waiting, {at.to[_section(at.labels, values[lane])]: (lane,)})
        self.costs["divwarps"] += len({_leads(entry) for entry in waiting}) - 1
        for i, entry in enumerate(at.to[:-1]):
            here = waiting.pop(entry, ())
            if here:
                _merge(waiting, self.run(entry, here, stops | {*at.to[i + 1 :]}, meets))
        return waiting

    def _loop(self, at: Point, lanes: Lanes, stops: frozenset[Point], meets: dict[Point, Point]) -> Waiting:
        waiting: Waiting = {}
        assert at.again is not None
        first, meeting = True, meets[at]
        while lanes:
            if at.test is not None and not (at.late and first):
                held = self.tested(at, lanes)
                _merge(waiting, {at.to[1]: tuple(i for i in lanes if not held[i])})
                inside = tuple(i for i in lanes if held[i])
                self.costs["divwarps"] += 0 < len(inside) < len(lanes)
                lanes = inside
            if lanes:
                arrived = self.run(at.to[0], lanes, stops | {at.again, meeting}, meets)
                lanes = arrived.pop(at.again, ())
                _merge(waiting, arrived)
            first = False
        left = waiting.pop(meeting, ()) if meeting is not at.end else ()
        if left:
            _merge(waiting, self.run(meeting, left, stops, meets))
        return waiting

    def tested(self, at: Point, lanes: Lanes) -> dict[int, int]:
        t = at.test
        assert t is not None
        if t.call is not None:
            called = lanes
            if t.text:
                left = self.take(lanes, at.id + 1)
                called = tuple(i for i in lanes if bool(left[i]) == (t.op == "&&"))
            if called:
                self.function(t.call.body, called)
        return self.take(lanes, at.id)

    def take(self, lanes: Lanes, mark: int) -> dict[int, int]:
        """What the lanes do up to a mark, and its value: an access is done at once by all that do it."""
        values: dict[int, int] = {}
        together: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for lane in lanes:
            for kind, number, array, index in self.left[lane]:
                if kind == 0:
                    assert number == mark, f"lane {lane} is at {number}, not at {mark}"
                    values[lane] = array
                    break
                together.setdefault((number, kind), []).append((array, index))
                self.accesses[lane]["load" if kind == 1 else "store", ARRAYS[array], index] += 1
            else:
                raise AssertionError(f"the trace of lane {lane} ends before {mark}")
        for done in together.values():
            words = {index for _, index in done}
            if ARRAYS[done[0][0]] in GLOBAL:
                self.costs["sectors"] += len({4 * w // 32 for w in words})
            else:
                self.costs["conflicts"] += max(Counter(w % 32 for w in words).values()) - 1
        return values


def _merge(waiting: Waiting, more: Waiting) -> None:
    for point, lanes in more.items():
        if lanes:
            waiting[point] = (*waiting.get(point, ()), *lanes)


def _leads(at: Point) -> Point:
    """The next point at which something is done."""
    while at.kind == "join" and at.to:
        (at,) = at.to
    return at


def _section(labels: list[list[str]], value: int) -> int:
    """The number of the section that a value leads to; the one after the last for none."""
    for i, here in enumerate(labels):
        for label in here:
            low, *high = label.removeprefix("case ").split(" ... ") if label != "default" else ("1", "0")
            if int(low) <= value <= int((high or [low])[0]):
                return i
    return next((i for i, here in enumerate(labels) if "default" in here), len(labels))


# --- both ------------------------------------------------------------------------------------------------------------


def ours(text: str, name: str, folder: Path) -> tuple[Counter[str], list[Counter[tuple[str, str, int]]]]:
    """The costs of a run of the lowered kernel, and the accesses of each lane."""
    accesses = [Counter[tuple[str, str, int]]() for _ in range(LANES)]

    def see(event: Event) -> None:
        if isinstance(event.term, Read | Write):
            kind = "load" if isinstance(event.term, Read) else "store"
            for thread, index in zip(event.threads, event.indices, strict=True):
                accesses[thread.tid[0]][kind, event.term.array, index] += 1

    file = folder / "hosted.cu"
    file.write_text(text)
    kernel = read_cuda(str(file), name).kernel
    given = {"A": CONTENTS} if any(a.name == "A" for a in kernel.arrays) else {}
    args = {"n": N} if any(d.name == "n" for d in kernel.params) else {}
    metrics = [METRICS[name] for name in COUNTED]
    result = run(kernel, (LANES, 1, 1), (1, 1, 1), args, given, metrics, observer=see)
    return Counter({m: int(total) for m, total in result.totals.items()}), accesses


def problems(program: Program, steps: list[list[Step]], folder: Path, text: str | None = None) -> list[str]:
    """Where a run of the lowered program does other than the compiled one, or costs less."""
    warp = Warp(steps)
    warp.go(program.body)
    costs, accesses = ours(text or Printer(False).program(program), program.name, folder)
    found = [f"{m}: {costs[m]}, compiled {warp.costs[m]}" for m in COUNTED if costs[m] < warp.costs[m]]
    for lane in range(LANES):
        if accesses[lane] != warp.accesses[lane]:
            more, less = accesses[lane] - warp.accesses[lane], warp.accesses[lane] - accesses[lane]
            found.append(f"lane {lane} does {dict(more)} more and {dict(less)} less than compiled")
            break
    return found
