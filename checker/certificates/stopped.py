"""Where the second checker stops: the application that it refuses, with what of it is not as the rule needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from checker.kernel import judgement_of
from logic.assertions import Context
from logic.derivation import Derivation
from logic.refusals import Refusal, Rejected
from logic.rules import RuleSet


def refusal(
    problem: str, rows: Sequence[Any], root: Derivation, rules: RuleSet, context: Context, about: str = ""
) -> Refusal:
    """The second checker's refusal of a derivation whose applications are these rows of a document; `about` is what is
    said of it, else the problem in its own words."""
    node = _application(problem, rows, root)
    if node is None or (rule := rules.rules.get(node.rule)) is None:
        return Refusal("second checker", about=about or problem)
    wrong: dict[str, Any] = {}
    with suppress(Rejected, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        for schema, premise in zip(rule.premises, node.premises, strict=True):
            wanted = judgement_of(schema, node.substitution, context)
            proved = judgement_of(rules.rules[premise.rule].conclusion, premise.substitution, context)
            if wanted != proved:
                wrong = {"premise": schema, "expected": wanted, "got": proved}
                break
    said, values = about or problem, node.substitution
    return Refusal("second checker", about=said, rule=rule, loc=node.loc, substitution=values, **wrong)


def _application(problem: str, rows: Sequence[Any], root: Derivation) -> Derivation | None:
    """The application that a problem names by the number of its row; None where it is of none."""
    if (named := re.match(r"derivation\[(\d+)\] ", problem)) is None:
        return None
    todo = [(len(rows) - 1, root)]
    while todo:
        i, node = todo.pop()
        if i == int(named[1]):
            return node
        todo += zip(rows[i]["from"], node.premises, strict=True)
    return None
