"""Branches that may part the threads of a warp: chains of definitions over gated single assignment (section 3.1).

    gamma(p, v1, v2)    behind a choice: v1 where p holds, else v2
    mu(v1, v2)          at the head of a loop: v1 the first time, then v2
    eta(p, v)           behind a loop: v as it was when p ended the loop

A branch is divergent when its test chains to `Tid`. It depends on memory when its test chains to a load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from checker.analysis.wcet.structure import Block, Choice, Loop, Step, nodes
from logic.syntax import Var
from semantics.machine.program import TID, Load, Program, operands, variables, written

Gate = Literal["launch", "tid", "memory", "instruction", "test", "gamma", "mu", "eta"]


class Definition(NamedTuple):
    """A definition, which gives a variable a value: a gate at an address, for a variable. `launch` is a value from
    before the run."""

    gate: Gate
    address: int = 0
    var: str = ""


THREAD: Final = Definition("tid")
MEMORY: Final = Definition("memory")


@dataclass(frozen=True, slots=True)
class Chains:
    """The definitions of a program, each with those that its value depends on."""

    uses: dict[Definition, frozenset[Definition]] = field(default_factory=dict)

    def reach(self, start: Definition) -> frozenset[Definition]:
        """The definitions that a definition chains to, itself included."""
        seen, todo = {start}, [start]
        while todo:
            new = self.uses.get(todo.pop(), frozenset()) - seen
            seen |= new
            todo += new
        return frozenset(seen)

    def divergent(self, branch: int) -> bool:
        """Whether threads of a warp may part at the branch."""
        return THREAD in self.reach(Definition("test", branch))


def chains(p: Program, tree: Block) -> Chains:
    """The chains of a program."""
    found = Chains()
    start = {x: Definition("launch", var=x) for x in variables(p)}
    _walk(p, tree, start | {TID: THREAD}, found.uses)
    return found


_Names = Mapping[str, Definition]


def _walk(p: Program, block: Block, names: _Names, uses: dict[Definition, frozenset[Definition]]) -> _Names:
    """Adds the definitions of a block; the definitions that its variables have behind it."""
    names = dict(names)
    for node in block:
        match node:
            case Step(address):
                i = p.instructions[address]
                if (target := written(i)) is not None:
                    own = Definition("instruction", address, target)
                    read = _read(p, address, names)
                    uses[own] = read | {MEMORY} if isinstance(i, Load) else read
                    names[target] = own
            case Choice(branch, behind, jumped):
                test = Definition("test", branch)
                uses[test] = _read(p, branch, names)
                one, other = _walk(p, behind, names, uses), _walk(p, jumped, names, uses)
                for x in names:
                    names[x] = one[x]
                    if one[x] != other[x]:
                        names[x] = Definition("gamma", branch, x)
                        uses[names[x]] = frozenset((test, one[x], other[x]))
            case Loop(head, branch, body):
                inside = {y for n in nodes(head + body) if isinstance(n, Step) and (y := _writes(p, n)) is not None}
                mus = {x: Definition("mu", branch, x) for x in inside}
                at_test = _walk(p, head, {**names, **mus}, uses)
                test = Definition("test", branch)
                uses[test] = _read(p, branch, at_test)
                again = _walk(p, body, at_test, uses)
                for x, mu in mus.items():
                    uses[mu] = frozenset((names[x], again[x]))
                etas = {x: Definition("eta", branch, x) for x in inside}
                uses.update({eta: frozenset((test, at_test[x])) for x, eta in etas.items()})
                names = {**at_test, **etas}
    return names


def _writes(p: Program, step: Step) -> str | None:
    return written(p.instructions[step.address])


def _read(p: Program, address: int, names: _Names) -> frozenset[Definition]:
    return frozenset(names[o.name] for o in operands(p.instructions[address]) if isinstance(o, Var))
