"""Abstract warps (section 3.2): what a warp does, as time, memory and barrier nodes and loops over them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from checker.analysis.wcet.divergence import Chains
from checker.analysis.wcet.lanes import Unbounded
from checker.analysis.wcet.structure import Block, Choice, Loop, Step
from semantics.machine.program import Barrier, Load, Program


@dataclass(frozen=True, slots=True)
class Time:
    """T_instr, the cycles of a region of code at most, and T_shift, by how much they vary because threads diverge."""

    instr: int
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """A place where a warp may stall for memory."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A place where a warp waits at a barrier."""


@dataclass(frozen=True, slots=True)
class Turns:
    """A loop: what a warp does up to its branch in each turn, and what behind it."""

    head: Nodes
    body: Nodes
    branch: int


Node = Time | Memory | Wait | Turns
Nodes = tuple[Node, ...]

TICK = Time(1)


def join(parts: Iterable[Node]) -> Nodes:
    """Join: neighbouring time nodes become one, with the sums of their times and shifts."""
    found: list[Node] = []
    for node in parts:
        last = found[-1] if found else None
        if isinstance(node, Time) and isinstance(last, Time):
            found[-1] = Time(last.instr + node.instr, last.shift + node.shift)
        else:
            found.append(node)
    return tuple(found)


def construct(p: Program, tree: Block, chains: Chains) -> Nodes:
    """The abstract warp of a program. Raises Unbounded where the paper's constructors are not defined."""
    parts: list[Node] = []
    for node in tree:
        match node:
            case Step(address):
                i = p.instructions[address]
                parts.append(TICK)
                parts += [Memory()] if isinstance(i, Load) else [Wait()] if isinstance(i, Barrier) else []
            case Choice(branch, behind, jumped, leap):
                one = construct(p, behind, chains)
                if leap is not None:
                    one = join((*one, TICK))
                other = construct(p, jumped, chains)
                both = _both if chains.divergent(branch) else _lub
                parts += [TICK, *both(p, branch, one, other), TICK]
            case Loop(head, branch, body, jump):
                test = join((*construct(p, head, chains), TICK))
                rest = construct(p, body, chains)
                parts += [Turns(test, rest if jump is None else join((*rest, TICK)), branch), TICK]
    return join(parts)


def _lub(p: Program, branch: int, one: Nodes, other: Nodes) -> Nodes:
    """LUB: the worse of two ways that all threads of a warp go together."""
    if not one or not other:
        return one or other
    if not all(isinstance(n, Time | Memory) for n in one + other):
        _undefined(p, branch, "the worse of two ways is not defined where both have loops or barriers")
    more, less = sorted((one, other), key=lambda way: (sum(isinstance(n, Memory) for n in way), _instr(way)))[::-1]
    shift = max(_shift(one), _shift(other)) - _shift(more)
    return join((*more, Time(max(_instr(less) - _instr(more), 0), shift)))


def _both(p: Program, branch: int, one: Nodes, other: Nodes) -> Nodes:
    """Both ways, one after the other, of which a warp may go only the shorter."""
    if any(isinstance(n, Wait | Turns) for n in one + other):
        _undefined(p, branch, "this branch is divergent, and what it guards is not resolved statically")
    return join((*one, *other, Time(0, max(_instr(one), _instr(other)))))


def _instr(way: Nodes) -> int:
    return sum(n.instr for n in way if isinstance(n, Time))


def _shift(way: Nodes) -> int:
    return sum(n.shift for n in way if isinstance(n, Time))


def _undefined(p: Program, branch: int, message: str) -> NoReturn:
    raise Unbounded(f"the paper's method has no estimate: {message}", p.instructions[branch].loc, "Leave --mode out.")


def show(abstract: Nodes) -> str:
    """An abstract warp as text: (T_instr, T_shift) for time, `mem`, `bar`, and loops in brackets."""
    words = []
    for node in abstract:
        match node:
            case Time(instr, shift):
                words.append(f"({instr},{shift})")
            case Memory():
                words.append("mem")
            case Wait():
                words.append("bar")
            case Turns(head, body):
                words.append(f"[{show((*head, *body))}]")
    return " ".join(words)
