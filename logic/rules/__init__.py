"""The rules of the logic, a file a family, and the rule sets made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from logic.rules import (
    assignments,
    conditionals,
    expressions,
    extensions,
    loops,
    operands,
    paper,
    sequencing,
    structural,
)
from logic.schema import Rule


@dataclass(frozen=True, slots=True, eq=False)
class RuleSet:
    """Rules by name. Two sets are the same only when they are one object: a set that is called `sound` need not be
    SOUND."""

    name: str
    rules: dict[str, Rule]
    unrestricted: bool = False
    """Whether potentials may mention variables outside X, which the print does not rule out (section 4, p. 11)."""

    def for_costs(self) -> dict[str, Rule]:
        """The rules for the costs of expressions, by their forms."""
        return {rule.form: rule for rule in self.rules.values() if rule.form}


def rule_set(name: str, *families: tuple[Rule, ...]) -> RuleSet:
    """A rule set; a later rule replaces an earlier one of the same name."""
    return RuleSet(name, {rule.name: rule for family in families for rule in family})


SOUND: Final = rule_set(
    "sound",
    operands.RULES,
    expressions.RULES,
    sequencing.RULES,
    conditionals.RULES,
    loops.RULES,
    assignments.RULES,
    structural.RULES,
    extensions.RULES,
)
"""The repaired rules of Fig. 4 and the extensions: the only set that a certificate may rest on."""

PAPER: Final = RuleSet("paper", {**SOUND.rules, **{rule.name: rule for rule in paper.RULES}}, unrestricted=True)
"""Fig. 4 as printed, so that its errors can be shown. It certifies nothing."""

SKIP, SEQ, WEAK, FRAME, SPLIT, GHOST, UNROLL = (
    SOUND.rules[f"Q:{name}"] for name in ("Skip", "Seq", "Weak", "Frame", "CaseSplit", "Ghost", "Unroll")
)
"""Rules that hold a derivation together, whatever its program: all that others ask for by name."""

RULE_SETS: Final = {rules.name: rules for rules in (SOUND, PAPER)}
