"""PTX as data: a module with its variables and functions, as `checker.notation.ptx` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from logic.source import Loc, SourceError


class PtxProblem(SourceError):
    """Compiled code that is not known here, at its line of the PTX text, or that does what PTX leaves undefined."""


@dataclass(frozen=True, slots=True)
class Register:
    """A register; `negated` where its complement is read (`!%p1`)."""

    name: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """An integer as it is written, or the bits of a float (`0f3F800000`)."""

    value: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable, a label or a function."""

    name: str


@dataclass(frozen=True, slots=True)
class Memory:
    """A place in memory: `[base + offset]`; a base of None is 0."""

    base: Register | Symbol | None
    offset: int


@dataclass(frozen=True, slots=True)
class Vector:
    """Several operands as one: `{%f1, %f2}`."""

    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two results: `%r1|%p1`."""

    first: Register
    second: Register


Operand = Register | Number | Symbol | Memory | Vector | Pair


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: `loc` its line of the PTX text, `guard` the predicate under which it is executed.

    `places` are what `.loc` says of the source: where the text stands that it was made of, and then, from inside out,
    the calls that were inlined around that.
    """

    opcode: str
    operands: tuple[Operand, ...]
    guard: Register | None
    loc: Loc
    places: tuple[Loc, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or a parameter in a state space: its size in bytes, None where the launch gives it; what it holds."""

    name: str
    space: str
    size: int | None
    align: int
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Function:
    """A function; `entry` where it is a kernel. `registers` have their types, `labels` the instruction that they are
    before, `targets` the labels of each `.branchtargets`. A register of an inner scope has its number at its end."""

    name: str
    entry: bool
    parameters: tuple[Variable, ...]
    registers: Mapping[str, str]
    variables: tuple[Variable, ...]
    code: tuple[Instruction, ...]
    labels: Mapping[str, int]
    targets: Mapping[str, tuple[str, ...]]
    loc: Loc


@dataclass(frozen=True, slots=True)
class Module:
    """A PTX text: its version, the architecture that it is for, its variables and functions."""

    version: str
    target: str
    variables: tuple[Variable, ...]
    functions: Mapping[str, Function]


END: Final = -1
"""The address where lanes rejoin that nothing else rejoins: the end of the function."""


def leads_to(f: Function, at: int) -> tuple[int, ...]:
    """The instructions that may come after one, END for the end of the function. Raises PtxProblem."""
    i = f.code[at]
    name = i.opcode.partition(".")[0]
    after = at + 1 if at + 1 < len(f.code) else END
    if name in ("ret", "exit", "trap"):
        return (END,) if i.guard is None else (after, END)
    if name == "bra":
        there = target(f, i, i.operands[0])
        return (there,) if i.guard is None else (after, there)
    if name == "brx":
        return tuple(dict.fromkeys(several(f, i)))
    return (after,)


def target(f: Function, i: Instruction, label: Operand) -> int:
    """The instruction that a branch leads to; END where its label stands behind the last one. Raises PtxProblem."""
    if not isinstance(label, Symbol) or label.name not in f.labels:
        raise PtxProblem(f"'{i.opcode}' leads to no label of {f.name}", i.loc)
    there = f.labels[label.name]
    return there if there < len(f.code) else END


def several(f: Function, i: Instruction) -> list[int]:
    """The instructions that an indexed branch may lead to, by index. Raises PtxProblem."""
    table = i.operands[1] if len(i.operands) > 1 else None
    if not isinstance(table, Symbol) or table.name not in f.targets:
        raise PtxProblem(f"'{i.opcode}' has no table of labels", i.loc)
    return [target(f, i, Symbol(name)) for name in f.targets[table.name]]


def rejoins(f: Function) -> dict[int, int]:
    """For every branch the instruction where the lanes that it parts rejoin: its immediate post-dominator, the first
    that all ways from it to the end of the function pass. END where that is the end."""
    follow = [leads_to(f, at) for at in range(len(f.code))]
    later = _post_dominators(follow)
    return {at: later[at] for at, ways in enumerate(follow) if len(ways) > 1}


def _post_dominators(follow: list[tuple[int, ...]]) -> list[int]:
    """The immediate post-dominators (Cooper, Harvey and Kennedy, A simple, fast dominance algorithm, 2001), on the
    graph with its edges turned round. What does not lead to the end has END."""
    before: dict[int, list[int]] = {}
    for at, ways in enumerate(follow):
        for there in ways:
            before.setdefault(there, []).append(at)
    order: list[int] = []
    seen = {END}
    walk = [(END, iter(before.get(END, ())))]
    while walk:
        at, rest = walk[-1]
        nxt = next((b for b in rest if b not in seen), None)
        if nxt is None:
            order.append(walk.pop()[0])
        else:
            seen.add(nxt)
            walk.append((nxt, iter(before.get(nxt, ()))))
    rank = {at: n for n, at in enumerate(order)}
    found = {END: END}

    def meet(a: int, b: int) -> int:
        while a != b:
            while rank[a] < rank[b]:
                a = found[a]
            while rank[b] < rank[a]:
                b = found[b]
        return a

    changed = True
    while changed:
        changed = False
        for at in reversed(order[:-1]):
            known = [w for w in follow[at] if w in found]
            new = known[0]
            for other in known[1:]:
                new = meet(new, other)
            if found.get(at) != new:
                found[at], changed = new, True
    return [found.get(at, END) for at in range(len(follow))]
