"""Refusals: why an application of a rule, or a claim, is not accepted. Terms only; reports make sentences of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from logic.assertions import Obligation, Verdict
from logic.derivation import Value
from logic.schema import Rule, Term
from logic.source import Loc

Fault = Literal[
    # of an application
    "rule",  # the rule set has no such rule
    "letters",  # the substitution has other metavariables than the rule
    "count",  # the rule has another number of premises
    "premise",  # a premise is not what its derivation proves
    "side condition",  # an oracle does not prove it
    "condition",  # a side condition that needs no oracle does not hold
    "ghost",  # a term depends on a ghost
    "depth",  # terms are nested too deeply to be looked at
    # of the value of a metavariable
    "kind",
    "domain",  # of the right kind, and yet not one of those that the metavariable stands for
    "type",
    "truth",
    "canonical",
    "reserved",
    # of a potential: vars(Q) <= X
    "uniform",
    "thread",
    "integer",
    # of a rule that says what no rule can
    "term",
    "cost",
    "opaque",
    "access",
    "unknown",
    # of a ghost
    "ghost name",
    "ghost read",
    "ghost type",
    # of a claim
    "rules",
    "triple",
    "context",
    "ill-typed",
    "signature",
    "program",
    "launch",
    "assumption",
    "contract",
    "end",
    "sums",
    "summand",
    "sum canonical",
    "sum assumption",
    "sum",
    # of a certificate
    "second checker",
    "rule set",
    "admitted",
]
"""The reasons for a refusal; `checker.report.rejection` has a sentence for each."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal by the kernel, as terms.

    premise        the premise or side condition of the rule that fails, or the part of it
    letter         the metavariable whose value is wrong
    about          a name that the fault is about, or the words of the type checker
    expected, got  the two things that should agree, where the fault is a disagreement
    obligation     the side condition that was not proved, with the oracle's verdict on it
    rule, name     the rule and its name, which the rule set may not know
    path           the way to its application: indices of premises from the root
    """

    fault: Fault
    premise: Term | None = None
    letter: str = ""
    about: str = ""
    expected: object = None
    got: object = None
    obligation: Obligation | None = None
    verdict: Verdict | None = None
    rule: Rule | None = None
    name: str = ""
    path: tuple[int, ...] = ()
    loc: Loc | None = None
    substitution: Mapping[str, Value] = field(default_factory=dict)


class Rejected(Exception):
    """A derivation that the kernel does not accept, with the refusal that says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.fault)
        self.refusal = refusal
