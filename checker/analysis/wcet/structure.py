"""A mini-SIMT program as a tree: sequences, choices and loops, found by where threads rejoin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from logic.source import SourceError
from semantics.machine.program import Branch, Jump, Program, Sync, opcode


class ShapeProblem(SourceError):
    """Jumps that make no tree of choices and loops."""


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction that the next one follows."""

    address: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A branch whose ways meet at a sync: what comes behind the branch, and what is jumped to.

    `leap` has the address of the jump that leads over the second way, where there is one.
    """

    branch: int
    behind: Block
    jumped: Block
    leap: int | None
    sync: int


@dataclass(frozen=True, slots=True)
class Loop:
    """head; the branch; body; the jump back; and a sync for those who leave at the branch.

    A loop that is tested at its end has no body and no jump: the branch itself jumps back to its head.
    """

    head: Block
    branch: int
    body: Block
    jump: int | None
    sync: int


Node = Step | Choice | Loop
Block = tuple[Node, ...]


def first(node: Node) -> int:
    """The address where a node begins."""
    match node:
        case Step(address):
            return address
        case Choice(branch):
            return branch
        case Loop(head, branch):
            return first(head[0]) if head else branch


def structure(p: Program) -> Block:
    """The tree of a program. Raises ShapeProblem."""
    return _block(p, 0, len(p.instructions))


def _block(p: Program, at: int, end: int) -> Block:
    """The instructions from `at` to before `end`."""
    nodes: list[Node] = []
    while at < end:
        i = p.instructions[at]
        match i:
            case Branch():
                node = _branch(p, at, end, nodes)
                nodes = [n for n in nodes if first(n) < first(node)] + [node]
                at = node.sync + 1
            case Jump() | Sync():
                raise _problem(p, at)
            case _:
                nodes.append(Step(at))
                at += 1
    return tuple(nodes)


def _branch(p: Program, at: int, end: int, before: list[Node]) -> Choice | Loop:
    """The node of a branch, behind the nodes `before` of its block."""
    i, sync = p.instructions[at], p.rejoin.get(at, -1)
    if not isinstance(i, Branch) or not at < sync < end:
        raise _problem(p, at)
    last = p.instructions[sync - 1]
    if i.target <= at and sync == at + 1:
        return Loop(_head(p, at, i.target, before), at, (), None, sync)
    if i.target == sync and isinstance(last, Jump) and last.target <= at:
        return Loop(_head(p, at, last.target, before), at, _block(p, at + 1, sync - 1), sync - 1, sync)
    if i.target == sync:
        return Choice(at, _block(p, at + 1, sync), (), None, sync)
    if at + 1 < i.target < sync:
        leap = p.instructions[i.target - 1]
        if isinstance(leap, Jump) and leap.target == sync:
            jumped = _block(p, i.target, sync)
            return Choice(at, _block(p, at + 1, i.target - 1), jumped, i.target - 1, sync)
    raise _problem(p, at)


def _head(p: Program, at: int, start: int, before: list[Node]) -> Block:
    head = tuple(n for n in before if first(n) >= start)
    if (first(head[0]) if head else at) != start:
        raise _problem(p, at)
    return head


def _problem(p: Program, at: int) -> ShapeProblem:
    i = p.instructions[at]
    message = f"this {opcode(i)} is part of no choice or loop whose shape is known"
    return ShapeProblem(message, i.loc, "Lay the code out as `warpbound machine FILE.cu --assembly` does.")


def nodes(block: Block) -> Iterator[Node]:
    """Every node of a tree, in the order of the addresses where they begin."""
    for node in block:
        yield node
        match node:
            case Choice(_, behind, jumped):
                yield from nodes(behind)
                yield from nodes(jumped)
            case Loop(head, _, body):
                yield from nodes(head)
                yield from nodes(body)
