"""Flows: programs with what holds (P) and what is uniform (X) at every point, and the rule for every statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

from checker.synthesis.outline import Block, Branch, Item, Loop, Partial, Plain, bare, strip
from logic.assertions import Context, P, X
from logic.derivation import Value
from logic.potentials import Poly
from logic.rules import SPLIT, UNROLL
from logic.source import Loc
from logic.syntax import Assign, Assume, Expr, Op, Skip, Stmt, Sync, While, Write


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """The context of a flow but for the metric: two are the same where they are made of the same objects."""

    context: Context

    def _parts(self) -> tuple[int, int, int, str]:
        context = self.context
        return id(context.sigma), id(context.launch), id(context.hardware), context.scope

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Setting) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())


@dataclass(frozen=True, slots=True)
class State:
    """P and X at a point."""

    p: P
    x: X


@dataclass(frozen=True, slots=True)
class Cut:
    """A condition that the outline states here, `state.p` with what is known besides; q is None where it says `_`."""

    state: State
    q: Poly | None
    loc: Loc | None


@dataclass(frozen=True, slots=True)
class Step:
    """A statement without statements inside it. `letters` are what a rule on trial was found to mean by its letters
    here; so of all nodes. `q` is a potential after an assignment in which the variable is not, where one is needed."""

    stmt: Skip | Sync | Assign | Write | Assume
    before: State
    after: State
    rule: str
    letters: Mapping[str, Value] = field(default_factory=dict)
    q: Poly | None = None

    @property
    def uniform(self) -> bool:
        """Whether it assigns what is uniform."""
        return isinstance(self.stmt, Assign) and self.stmt.var in self.after.x


@dataclass(frozen=True, slots=True)
class Fork:
    """A branch. Under Q:If2 and Q:If3 one side is dead: it has no flow, only its program.

    With `loop`, it is what Q:Unroll makes of that loop: its body and itself once more, or nothing; or, with `letters`,
    a loop whose body a rule on trial asks for once. Under Q:CaseSplit both sides are the same program, which does not
    test `cond`. `agreed`: its rule asks that all lanes agree on the test. `q` is a potential for where both sides
    begin, if one was found that serves either, `bases` what that may be made of.
    """

    rule: str
    cond: Expr
    then: Flow | Stmt
    orelse: Flow | Stmt
    before: State
    after: State
    loc: Loc | None
    loop: While | None = None
    q: Poly | None = None
    agreed: bool = False
    bases: tuple[Poly, ...] = ()
    letters: Mapping[str, Value] = field(default_factory=dict)

    @property
    def by(self) -> str:
        """The rule that proves it."""
        return UNROLL.name if self.loop is not None and not self.letters else self.rule


@dataclass(frozen=True, slots=True)
class Cycle:
    """A loop with its invariant; `q` is the potential at its head, where the outline states one. `told` is what the
    invariant and flags in the test say together where a turn begins. `parts` are what more of the rule's letters stand
    for, as it was found to apply, and `bases` what more its potential may be made of by that rule. `framed`: the
    potential was found to leave what the code after the loop needs."""

    rule: str
    cond: Expr
    invariant: State
    q: Poly | None
    body: Flow
    before: State
    after: State
    loc: Loc | None
    told: P = ()
    parts: Mapping[str, Expr] = field(default_factory=dict)
    bases: tuple[Poly, ...] = ()
    letters: Mapping[str, Value] = field(default_factory=dict)
    framed: bool = False

    @property
    def guard(self) -> Expr:
        """The loop's test, and what is known by its flags wherever it holds."""
        return reduce(lambda a, b: Op("&&", (a, b)), self.told, self.cond)


Node = Cut | Step | Fork | Cycle


@dataclass(frozen=True, slots=True)
class Flow:
    """A block with the states at its points."""

    start: State
    nodes: tuple[Node, ...]
    end: State

    @property
    def stmt(self) -> Stmt:
        return strip(tuple(_items(self)))


def within(flow: Flow) -> Iterator[Node]:
    """The nodes of a flow, and those inside them, outer ones first."""
    for node in flow.nodes:
        yield node
        inside = (node.body,) if isinstance(node, Cycle) else (node.then, node.orelse) if isinstance(node, Fork) else ()
        for part in inside:
            if isinstance(part, Flow):
                yield from within(part)


def cut(nodes: list[Node], state: State, after: State) -> State:
    """The state after, with a cut where it is another."""
    nodes += [Cut(after, None, None)] if after != state else []
    return after


def opening(flow: Flow) -> Iterator[Cut | Step]:
    """The conditions and assumptions that a flow begins with, up to the last assumption, or else all conditions."""
    first: list[Cut | Step] = []
    for node in flow.nodes:
        if not (isinstance(node, Cut) and node.q is None) and not (
            isinstance(node, Step) and isinstance(node.stmt, Assume)
        ):
            break
        first.append(node)
    last = max((i for i, node in enumerate(first) if isinstance(node, Step)), default=len(first) - 1)
    yield from first[: last + 1]


def begun(flow: Flow, start: State) -> State:
    """The state where a flow from this state has taken in the conditions that it begins with."""
    cuts = [node.state for node in opening(flow) if isinstance(node, Cut)]
    return cuts[-1] if cuts else start


def _items(flow: Flow) -> Iterator[Item]:
    for node in flow.nodes:
        match node:
            case Step(stmt):
                yield Plain(stmt)
            case Fork(loop=While(cond, body)):
                yield Loop(cond, Partial(), bare(body), None, node.loc)
            case Fork() if node.rule == SPLIT.name:
                yield from _block(node.then)
            case Fork():
                yield Branch(node.cond, _block(node.then), _block(node.orelse), None, node.loc)
            case Cycle():
                yield Loop(node.cond, Partial(), tuple(_items(node.body)), None, node.loc)


def _block(side: Flow | Stmt) -> Block:
    return tuple(_items(side)) if isinstance(side, Flow) else bare(side)


def flowing(node: Fork) -> tuple[Flow, Flow]:
    """Both sides of a branch that is not known to go one way. Raises TypeError where a side has no flow."""
    if not isinstance(node.then, Flow) or not isinstance(node.orelse, Flow):
        raise TypeError(f"{node.rule} needs a flow of both sides")
    return node.then, node.orelse
