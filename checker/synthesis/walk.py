"""The walk backward over a flow: from the potential that is wanted at the end to what has to be there before.

The rules (`checker.synthesis.rules`) say what each statement needs, over potentials of any kind: known ones, which give
a derivation (`checker.synthesis.elaborate`), or ones whose coefficients are unknowns of a linear program
(`checker.synthesis.search`). A kind of potential is a subclass of `Walk`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Generic, Protocol, Self, TypeVar, cast

from checker.synthesis.nodes import Cut, Cycle, Flow, Fork, Node, State, Step
from checker.synthesis.partial import Ranges
from logic.assertions import Context, P, X, assume
from logic.derivation import Derivation, Value
from logic.potentials import Poly
from logic.rules import SEQ, SKIP
from logic.source import Loc
from logic.syntax import Assign, Expr, Skip, Stmt, seq


class Amount(Protocol):
    """A potential, as far as rules compute with it."""

    def __add__(self, other: Self | Fraction | int, /) -> Self: ...

    def __sub__(self, other: Self | Fraction | int, /) -> Self: ...


A = TypeVar("A", bound=Amount)


Told = tuple[str, Loc | None, str]
"""A sentence, the place, and what a person could add."""


class Stuck(Exception):
    """No derivation could be completed here, and why: what takes time to find out is asked when somebody reads it, as
    most are caught by what tries another way."""

    def __init__(
        self, message: str | Callable[[], Told], loc: Loc | None = None, advice: str = "", rule: str = ""
    ) -> None:
        super().__init__()
        self._told = message if callable(message) else (lambda: (message, loc, advice))
        self.rule = rule

    @cached_property
    def told(self) -> Told:
        return self._told()

    @property
    def message(self) -> str:
        return self.told[0]

    @property
    def loc(self) -> Loc | None:
        return self.told[1]

    @property
    def advice(self) -> str:
        return self.told[2]

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return Stuck, (*self.told, self.rule)


@dataclass(frozen=True, slots=True)
class Point(Generic[A]):
    """{P; Q; X}, with a potential of some kind."""

    p: P
    q: A
    x: X


@dataclass(frozen=True, slots=True)
class Proof(Generic[A]):
    """{pre} stmt {post}, and the derivation that is meant to prove it. A walk that makes no derivations leaves the one
    that it was begun with."""

    pre: Point[A]
    stmt: Stmt
    post: Point[A]
    derivation: Derivation


def named(suffix: str, at: Point[A]) -> dict[str, Value]:
    """A condition with a known potential as values of P, Q and X with a suffix."""
    return {f"P{suffix}": at.p, f"Q{suffix}": told(at.q), f"X{suffix}": at.x}


def told(q: A) -> Poly:
    """A potential that is known: only walks over such ones make derivations."""
    return cast(Poly, q)


Parts = tuple[dict[str, Value], tuple[Derivation, ...]]
"""The terms of a rule's metavariables, and the derivations of its premises."""

Before = Callable[["Walk[A]", Node, Point[A]], Proof[A]]


class Walk(ABC, Generic[A]):
    """The walk over one flow, for one metric."""

    def __init__(self, context: Context, rules: Mapping[str, Before[A]]) -> None:
        self.context = context
        self.rules = rules

    # --- what a kind of potential has to tell ---

    @abstractmethod
    def cost(self, p: P, x: X, e: Expr) -> tuple[Fraction, Derivation]:
        """The cost of e and its derivation, P; X |- e : C."""

    @abstractmethod
    def count(self, price: str, p: P, x: X, array: str, index: Expr) -> int:
        """The n of an access that is priced by `price`."""

    @abstractmethod
    def larger(self, a: State, q: A, b: State, r: A, at: Fork | None = None) -> A:
        """A potential that covers q in a's states and r in b's: in front of both sides of a branch, if one is given."""

    @abstractmethod
    def clamped(self, state: State, q: A, /) -> A:
        """q with no element of an array beyond the range of a contract, A[min(i, n)] for A[i]: in the state as much."""

    @abstractmethod
    def within(self, state: State, q: A, /) -> A:
        """q, as far as it can be said by what is uniform in the state."""

    @abstractmethod
    def assigned(self, node: Step, stmt: Assign, q: A) -> A:
        """q[x <- e], where e is uniform."""

    @abstractmethod
    def renamed(self, node: Step, stmt: Assign, q: A, /) -> A:
        """q after an assignment, with what P says that the variable is where its value before cannot be said."""

    @abstractmethod
    def equated(self, node: Step, q: A, /) -> A:
        """q after an assumption, with what variables are by it in their place."""

    @abstractmethod
    def stated(self, node: Cut, q: A) -> A:
        """The potential that an outline states, which has to cover q; q where it states none."""

    @abstractmethod
    def head(self, node: Cycle, price: Fraction, post: A) -> A:
        """The potential at the head of a loop, whose test costs `price`: after it `post` has to be left."""

    @abstractmethod
    def turn(self, node: Cycle, q: A, head: Point[A]) -> Proof[A]:
        """A proof of a loop's body that ends in its head; q is what the test leaves of that."""

    @abstractmethod
    def ranges(self, node: Fork, /) -> Ranges | None:
        """The ranges of how many lanes take a branch in which it is proved by itself; None where it is in one go."""

    @abstractmethod
    def paid(self, flow: Flow, q: A, proof: Proof[A], /) -> Proof[A]:
        """A proof of a block that begins with q, where the conditions that it begins with show that q is enough."""

    @abstractmethod
    def covers(self, state: State, q: A, r: A, /) -> None:
        """Takes in that q has to be at least r in the state, where a rule asks for that."""

    @abstractmethod
    def conclude(
        self, rule: str, pre: Point[A], stmt: Stmt, post: Point[A], loc: Loc | None, parts: Callable[[], Parts], /
    ) -> Proof[A]:
        """The proof that ends in a rule's application."""

    @abstractmethod
    def weaken(self, proof: Proof[A], pre: Point[A], post: Point[A]) -> Proof[A]:
        """The proof with Q:Weak around it that gives these conditions."""

    # --- the walk ---

    def is_global(self, array: str) -> bool:
        """Whether an access to the array is counted in sectors; else in bank conflicts."""
        return self.context.sigma.arrays[array].space == "global"

    def where(self, state: State, cond: Expr) -> State:
        """The state where a condition holds."""
        return State(assume(state.p, cond, self.context.sigma), state.x)

    def opposite(self, state: State, cond: Expr) -> State:
        """The state where a condition fails."""
        return State(assume(state.p, cond, self.context.sigma, False), state.x)

    def node(self, node: Node, post: Point[A]) -> Proof[A]:
        """A proof of one statement that ends in `post`; P and X of its precondition are those before the node."""
        if isinstance(node, Cut):
            raise Stuck("a condition stands where a statement is meant", node.loc)
        rule = node.by if isinstance(node, Fork) else node.rule
        return self.rules[rule](self, node, post)

    def block(self, flow: Flow, post: Point[A]) -> Proof[A]:
        """A proof of the block that ends in `post`; its precondition has the flow's start for P and X."""
        chain = [post]
        proofs: list[Proof[A]] = []
        state = flow.end
        for node in reversed(flow.nodes):
            if isinstance(node, Cut):
                if (cut := Point(node.state.p, self.stated(node, chain[0].q), node.state.x)) != chain[0]:
                    chain.insert(0, cut)
                continue
            proof = self.node(node, Point(node.after.p, self.within(node.after, chain[0].q), node.after.x))
            for condition in chain:
                proof = self.weaken(proof, proof.pre, condition)
            proofs.append(proof)
            chain, state = [proof.pre], node.before
        if not proofs:
            last = Point(state.p, chain[0].q, state.x)
            proof = self.skip(last)
            for condition in chain:
                proof = self.weaken(proof, proof.pre, condition)
            proofs, chain = [proof], [last]
        whole = self._sequence(proofs[::-1])
        for condition in reversed(chain[:-1]):
            whole = self.weaken(whole, condition, whole.post)
        start = Point(flow.start.p, whole.pre.q, flow.start.x)
        return self.weaken(whole, start, whole.post)

    def body(self, flow: Flow, head: Point[A]) -> Proof[A]:
        """A proof of a loop's body that ends in its head."""
        return self.block(flow, head)

    def skip(self, at: Point[A], stmt: Stmt | None = None, loc: Loc | None = None) -> Proof[A]:
        """{P; Q; X} skip {P; Q; X}"""
        return self.conclude(SKIP.name, at, stmt or Skip(), at, loc, lambda: (named("", at), ()))

    def _sequence(self, proofs: list[Proof[A]]) -> Proof[A]:
        """One proof of statements that follow each other: a balanced tree of Q:Seq, so that its depth is
        logarithmic."""
        while len(proofs) > 1:
            paired = [self._pair(a, b) for a, b in zip(proofs[::2], proofs[1::2], strict=False)]
            proofs = paired + proofs[len(paired) * 2 :]
        return proofs[0]

    def _pair(self, a: Proof[A], b: Proof[A]) -> Proof[A]:
        def parts() -> Parts:
            values = named("", a.pre) | named("1", b.pre) | named("'", b.post) | {"s1": a.stmt, "s2": b.stmt}
            return values, (a.derivation, b.derivation)

        return self.conclude(SEQ.name, a.pre, seq(a.stmt, b.stmt), b.post, a.derivation.loc, parts)
