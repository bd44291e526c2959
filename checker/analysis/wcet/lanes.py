"""The most that the warps of a launch issue, whatever memory holds: their lanes followed with loaded values unknown.

The control of a warp depends on its own values and on what it loads, never on the schedule. So each warp is followed
on its own. Where a lane's way depends on memory it goes both ways, one after the other: no run issues more than that,
since adding lanes to a way adds ways, syncs and turns, and takes none off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from checker.analysis.wcet.structure import Block, Choice, Loop, Step, nodes
from logic.operators import denote
from logic.source import Loc
from logic.syntax import INT, Const
from semantics.machine.arithmetic import MOST_BITS
from semantics.machine.launch import Launch, initial_values
from semantics.machine.program import TID, Barrier, Branch, Compute, Copy, Load, Operand, Program, written
from semantics.values import Value, literal

MOST_STEPS: Final = 300_000
"""Instructions that are followed before giving up."""

Known = int | None
"""A lane's value: a whole number, or None where it depends on memory or is no whole number."""


class Unbounded(Exception):
    """No bound was found; the message says why, `loc` where."""

    def __init__(self, message: str, loc: Loc | None, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.loc = loc
        self.advice = advice


class Crossing(NamedTuple):
    """A warp's arrival at a barrier: with how many threads, which barrier (None: not known), and how many threads that
    expects (None: not known, or `everyone`)."""

    threads: int
    ident: Known
    expected: Known
    everyone: bool


@dataclass(slots=True)
class Counts:
    """The most that one warp does.

    `issued` and `loads` count before the first barrier, between the first and the second, and so on; None in
    `crossings` stands for a barrier that is not reached for certain. `turns` has, by a loop's branch, how often the
    rest of the loop is run at most.
    """

    issued: list[int] = field(default_factory=lambda: [0])
    loads: list[int] = field(default_factory=lambda: [0])
    crossings: list[Crossing | None] = field(default_factory=list)
    turns: dict[int, int] = field(default_factory=dict)


def follow(p: Program, tree: Block, launch: Launch, steps: int = MOST_STEPS) -> tuple[Counts, ...]:
    """The most that each warp of a launch does.

    Raises Unbounded, also where all of them together issue more than `steps` instructions, and LaunchProblem for
    parameters that do not fit.
    """
    values = initial_values(p, launch)
    found: list[Counts] = []
    left = steps
    for start in range(0, launch.threads, launch.warp_size):
        threads = range(start, min(start + launch.warp_size, launch.threads))
        warp = _Warp(p, {x: [_known(v)] * len(threads) for x, v in values.items()}, len(threads), left)
        warp.variables[TID] = list(threads)
        warp.block(tree, tuple(range(len(threads))))
        left = warp.left
        found.append(warp.counts)
    return tuple(found)


def _known(value: Value) -> Known:
    return None if isinstance(value, float) else int(value)


def aligned(warps: Sequence[Counts]) -> bool:
    """Whether the k-th barrier of every warp is provably released together with the k-th of all others.

    So it is where every barrier waits for all threads that have not ended: it lets nobody go before all are there. With
    counts, it is where all expect, at their k-th barrier, exactly the threads that come to a k-th one.
    """
    crossings = [c for w in warps for c in w.crossings]
    if all(c is not None and c.everyone for c in crossings):
        return True
    for k in range(max(len(w.crossings) for w in warps)):
        there = [w.crossings[k] for w in warps if k < len(w.crossings)]
        certain = [c for c in there if c is not None and c.ident is not None and c.expected is not None]
        if len(certain) < len(there) or any(c.everyone for c in certain):
            return False
        if {c.ident for c in certain} != {certain[0].ident} or {c.expected for c in certain} != {
            sum(c.threads for c in certain)
        }:
            return False
    return len({c.ident for c in crossings if c is not None}) <= 1


def released(warps: Sequence[Counts], launch: Launch) -> bool:
    """Whether every barrier provably lets everybody go who comes to it, whatever memory holds.

    So it does where the k-th barrier of all warps that have a k-th one is the same, and waits either for as many
    threads as come to it there, or for all threads that are left, with none of a warp left behind: nobody comes to a
    k-th barrier before all have gone on from the one before, and whoever has no k-th one ends. Warps that keep to a
    barrier of their own, with counts, have nothing to do with the others; nor have any where each waits for itself.
    """
    idents = [{None if c is None else c.ident for c in w.crossings} for w in warps]
    if any(None in own for own in idents):
        return False
    if all(c.threads == c.expected for w in warps for c in w.crossings if c is not None):
        return True
    full = [min(launch.warp_size, launch.threads - n * launch.warp_size) for n in range(len(warps))]
    apart = {own for own in map(frozenset, idents) if own}
    groups = apart if all(len(own) == 1 for own in apart) else {frozenset().union(*apart)}
    return all(
        _in_step(
            [(w, n) for w, n, own in zip(warps, full, idents, strict=True) if own and own <= group], len(groups) > 1
        )
        for group in groups
    )


def _in_step(warps: Sequence[tuple[Counts, int]], counted: bool) -> bool:
    """Whether warps, each with its number of threads, pass their barriers together; `counted`: by counts only."""
    for k in range(max(len(w.crossings) for w, _ in warps)):
        there = [(c, n) for w, n in warps for c in w.crossings[k : k + 1] if c is not None]
        if len({c.ident for c, _ in there}) > 1:
            return False
        if all(c.everyone for c, _ in there):
            if counted or any(c.threads < n for c, n in there):
                return False
        elif {c.expected for c, _ in there} != {sum(c.threads for c, _ in there)}:
            return False
    return True


def issued(warps: Sequence[Counts]) -> int:
    """The instructions that all warps issue."""
    return sum(sum(w.issued) for w in warps)


def longest(warps: Sequence[Counts], cost: Callable[[int, int], int]) -> int:
    """The most that comes one after the other from barrier to barrier: for each interval the dearest warp's cost, from
    what it issues and loads there; or the cost of all intervals of all warps, where they do not provably match."""
    costs = [[cost(*parts) for parts in zip(w.issued, w.loads, strict=True)] for w in warps]
    if not aligned(warps):
        return sum(map(sum, costs))
    return sum(max(c[k] for c in costs if k < len(c)) for k in range(max(map(len, costs))))


def stalling_loads(warps: Sequence[Counts]) -> int:
    """The loads whose stalls may follow one another with no other warp ready."""
    return longest(warps, lambda _, loads: loads)


def span(warps: Sequence[Counts], latency: int) -> int:
    """The cycles from the first instruction to the last with a processor for each warp."""
    return longest(warps, lambda issues, loads: issues + (latency - 1) * loads)


Lanes = tuple[int, ...]


@dataclass(slots=True)
class _Warp:
    """A warp that is followed. `unsure` counts the choices around that depend on memory."""

    program: Program
    variables: dict[str, list[Known]]
    lanes: int
    left: int
    counts: Counts = field(default_factory=Counts)
    unsure: int = 0

    def column(self, var: str) -> list[Known]:
        return self.variables.setdefault(var, [0] * self.lanes)

    def read(self, o: Operand, lane: int) -> Known:
        return _known(literal(o)) if isinstance(o, Const) else self.column(o.name)[lane]

    def write(self, var: str, active: Lanes, value: Callable[[int], Known]) -> None:
        column = self.column(var)
        for lane in active:
            column[lane] = value(lane)

    def issue(self, n: int, loc: Loc | None) -> None:
        self.counts.issued[-1] += n
        self.left -= n
        if self.left < 0:
            advice = "Is there a loop that does not end? Launch fewer threads."
            raise Unbounded("the launch issues more instructions than are followed", loc, advice)

    def block(self, block: Block, active: Lanes) -> None:
        for node in block:
            match node:
                case Step(address):
                    self.step(address, active)
                case Choice():
                    self.choice(node, active)
                case Loop():
                    self.loop(node, active)

    def step(self, address: int, active: Lanes) -> None:
        i = self.program.instructions[address]
        self.issue(1, i.loc)
        match i:
            case Load(var):
                self.counts.loads[-1] += 1
                self.write(var, active, lambda _: None)
            case Copy(var, value):
                self.write(var, active, lambda lane: self.read(value, lane))
            case Compute(var):
                self.write(var, active, lambda lane: self.computed(i, lane))
            case Barrier():
                self.counts.crossings.append(self.crossing(i, active))
                self.counts.issued.append(0)
                self.counts.loads.append(0)

    def computed(self, i: Compute, lane: int) -> Known:
        args = [self.read(a, lane) for a in i.args]
        if i.type != INT or i.op.startswith(("call:", "as:")):
            return None
        if i.op == "?:":
            return None if args[0] is None else args[1] if args[0] else args[2]
        known = tuple(a for a in args if a is not None)
        if len(known) < len(args) or (i.op == "<<" and not -1 < known[1] <= MOST_BITS):
            return None
        try:
            value = int(denote(i.op, known))
        except KeyError:
            return None
        return value if value.bit_length() <= MOST_BITS else None

    def crossing(self, i: Barrier, active: Lanes) -> Crossing | None:
        idents = {self.read(i.ident, lane) for lane in active}
        expected = {None if i.count is None else self.read(i.count, lane) for lane in active}
        if self.unsure or len(idents) > 1 or len(expected) > 1:
            return None
        return Crossing(len(active), idents.pop(), expected.pop(), i.count is None)

    def test(self, address: int, active: Lanes) -> tuple[Lanes, Lanes, Lanes]:
        """Issues a branch; who jumps, who does not, and of whom that is not known."""
        i = self.program.instructions[address]
        if not isinstance(i, Branch):
            raise TypeError(f"instruction {address} is no branch")
        self.issue(1, i.loc)
        ways: tuple[list[int], list[int], list[int]] = ([], [], [])
        for lane in active:
            value = self.read(i.cond, lane)
            ways[2 if value is None else 0 if (value != 0) != i.zero else 1].append(lane)
        jumps, stays, either = map(tuple, ways)
        return jumps, stays, either

    def choice(self, node: Choice, active: Lanes) -> None:
        loc = self.program.instructions[node.branch].loc
        jumps, stays, either = self.test(node.branch, active)
        saved = {x: list(self.column(x)) for x in self.writes(node)} if either else {}
        self.unsure += bool(either)
        if jumps or either:
            self.block(node.jumped, tuple(sorted(jumps + either)))
            self.issue(1, loc)
        parted = {x: list(self.column(x)) for x in saved}
        for x, column in saved.items():
            self.write(x, either, column.__getitem__)
        if stays or either:
            self.block(node.behind, tuple(sorted(stays + either)))
            self.issue(1 + (node.leap is not None), loc)
        for x, column in parted.items():
            own = self.column(x)
            for lane in either:
                own[lane] = own[lane] if own[lane] == column[lane] else None
        self.unsure -= bool(either)

    def writes(self, node: Choice) -> set[str]:
        steps = (n for n in nodes(node.behind + node.jumped) if isinstance(n, Step))
        return {x for n in steps if (x := written(self.program.instructions[n.address])) is not None}

    def loop(self, node: Loop, active: Lanes) -> None:
        loc = self.program.instructions[node.branch].loc
        turns, left = 0, False
        while active:
            self.block(node.head, active)
            jumps, stays, either = self.test(node.branch, active)
            if either:
                message = "no bound on the turns of this loop: its test depends on what memory holds"
                raise Unbounded(message, loc, "Bound it by a counter.")
            stay, leave = (jumps, stays) if node.jump is None else (stays, jumps)
            if leave and (node.jump is not None or not stay):
                self.issue(1 + (node.jump is None and left), loc)
            left = left or bool(leave)
            if stay:
                turns += 1
                self.block(node.body, stay)
                self.issue(int(node.jump is not None), loc)
            elif node.jump is None:
                turns += 1  # the head has run once more than the branch has jumped
            active = stay
        self.counts.turns[node.branch] = max(turns, self.counts.turns.get(node.branch, 0))
