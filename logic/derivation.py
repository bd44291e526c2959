"""Derivations: trees of rule applications, each with its explicit substitution. Data only; the kernel judges them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from logic.assertions import P, X
from logic.potentials import Poly
from logic.source import Loc
from logic.syntax import Expr, Stmt

Value = P | Poly | X | Expr | Stmt | Fraction | int | str
"""The terms that a metavariable may stand for; `logic.schema.KINDS` says which letter takes which."""


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """The application of a rule to premises, in the order in which the rule lists its judgements.

    `loc` is where the conclusion's program text stands in the source, for messages.
    """

    rule: str
    substitution: dict[str, Value]
    premises: tuple[Derivation, ...] = ()
    loc: Loc | None = None


def size(root: Derivation) -> int:
    """The number of rule applications in a derivation."""
    return sum(1 for _ in applications(root))


def applications(root: Derivation) -> Iterator[Derivation]:
    """All rule applications in a derivation, each before its premises, of which the last comes first."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.premises)
