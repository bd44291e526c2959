"""Transformers: how a rule is used in the walk forward and in the walk backward."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from checker.kernel import Oracle
from checker.synthesis.nodes import Flow, Fork, Node, State
from checker.synthesis.outline import Block, Branch
from checker.synthesis.walk import Point, Proof, Walk
from logic.assertions import Context, P, X
from logic.derivation import Derivation
from logic.rules import RuleSet
from logic.syntax import Assign, Assume, Expr, Skip, Sync, Write
from logic.typing import Signature

Statement = Skip | Sync | Assign | Write | Assume


class Analysis(ABC):
    """Questions that the forward halves may ask of the walk that they are part of."""

    context: Context
    sigma: Signature
    printed: bool
    """Whether the rules are those as printed."""
    sharp: bool
    """Whether what branches tell is looked at closely."""
    costing: frozenset[str]
    """The variables on which any cost may depend."""

    @abstractmethod
    def entails(self, p: P, goal: Expr) -> bool:
        """Whether the oracle proves P |- goal."""

    @abstractmethod
    def uniform(self, p: P, x: X, e: Expr) -> bool:
        """Whether the oracle proves P; X |- e unif."""

    @abstractmethod
    def after_assignment(self, p: P, x: str, e: Expr) -> P:
        """Facts that hold after x <- e, each of them such that P |- fact[x <- e]."""

    @abstractmethod
    def join(self, a: P, b: P) -> P:
        """Facts of either that both entail."""

    @abstractmethod
    def merged(self, item: Branch, before: P, a: P, b: P) -> P:
        """The join of both sides of a branch, with what they say of a variable together."""

    @abstractmethod
    def block(self, block: Block, start: State) -> Flow:
        """The flow of a block."""

    @abstractmethod
    def fork(self, item: Branch, state: State) -> Fork:
        """The branch by the first rule that applies."""


@dataclass(frozen=True, slots=True)
class Transformer:
    """A rule's two halves. `forward` is asked whether the rule applies, unless `forced`: the outline names it. Of the
    rules of a family, the first that applies is taken; those `by_name` only where the walk asks for them.

    The item that a rule is about is a statement, a branch, or a loop, which comes with its invariant found. A split
    comes with the rest of its block; a loop that is to be unrolled, with the branch that it becomes.
    """

    rule: str
    forward: Callable[[Analysis, Any, State, bool], Node | None]
    before: Callable[[Walk[Any], Any, Point[Any]], Proof[Any]]
    by_name: bool = False


Cost = Callable[[Walk[Any], Oracle, P, X, Expr], tuple[Fraction, Derivation] | None]
"""A rule for the costs of expressions: what one costs, with the derivation; None where the rule does not apply."""


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """The rules that a search goes by, and in which order those for a kind of statement are tried.

    `judged` is the set that the kernel judges by. `straight` are rules for loops that need no invariant, `costs` rules
    for expressions that are tried before those of Fig. 4. `printed`: its rules are those as printed.
    """

    judged: RuleSet
    rules: Mapping[str, Transformer]
    steps: tuple[str, ...]
    branches: tuple[str, ...]
    loops: tuple[str, ...]
    straight: tuple[str, ...] = ()
    costs: tuple[Cost, ...] = ()
    printed: bool = False
