"""The power of a trial: of rules that are known to be wrong, how many a trial of as many cases finds.

The rules are in wrong.rules, what was measured of them in power.toml: for each, the case at which trials with different
seeds found it, or nothing. docs/power.md has both; `make power` makes them anew.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from checker.testbed.rulefile import text_rules
from checker.testbed.trial import Trial
from logic.rules import SOUND, RuleSet
from logic.schema import Rule

RULES: Final = Path(__file__).with_name("wrong.rules")
MEASURED: Final = Path(__file__).with_name("power.toml")

SHAPES: Final[Mapping[str, str]] = {
    "if": "branches",
    "while": "loops",
    "set": "assignments",
    "write": "writes",
    "seq": "sequences",
    "sync": "barriers",
    "skip": "skip",
    "assume": "assumptions",
    "meta": "any statement",
    "cost": "costs of expressions",
}
"""What a rule is about, by the head of the statement in its conclusion."""


@dataclass(frozen=True, slots=True)
class Power:
    """The power of a trial: of so many wrong rules about these shapes (all, where there is none), how many are found by
    a trial of this many cases, whatever its seed of those that were tried."""

    shapes: tuple[str, ...]
    cases: int
    known: int
    found: int


def shape(rule: Rule) -> str:
    """The kind of thing that a rule is about.

    >>> shape(SOUND.rules["Q:If4"]), shape(SOUND.rules["Q:Weak"]), shape(SOUND.rules["OQ:Var"])
    ('branches', 'any statement', 'costs of expressions')
    """
    return SHAPES["cost" if rule.shape == "cost" else rule.conclusion.at(3).head]


@cache
def wrong() -> tuple[Rule, ...]:
    """The rules that are known to be wrong."""
    return tuple(text_rules(str(RULES)))


def on_trial(rule: Rule, seed: int) -> Trial:
    """A trial of one of them, beside the sound rules."""
    return Trial(RuleSet(rule.name, {**SOUND.rules, rule.name: rule}), (rule.name,), seed)


def measured() -> Mapping[str, Sequence[int]]:
    """The cases at which each was found, by its name: one a seed, -1 where it was not."""
    found: dict[str, list[int]] = tomllib.loads(MEASURED.read_text(encoding="utf-8"))["cases"]
    return found


def power(trial: Trial, cases: int) -> Power:
    """The power of a trial with this many cases; of one of all rules, by all wrong ones."""
    rules = {name: rule for name, rule in trial.rules.rules.items() if name in trial.focus}
    shapes = tuple(dict.fromkeys(shape(rule) for rule in rules.values()))
    alike = [rule for rule in wrong() if not shapes or shape(rule) in shapes]
    at = measured()
    found = [rule for rule in alike if all(0 <= n < cases for n in at[rule.name])]
    return Power(shapes, cases, len(alike), len(found))
