"""Where the second checker stops: the application that it refuses, with what of it is not as the rule needs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from checker.kernel import judgement_of
from checker.recheck import Report
from logic.assertions import Context
from logic.derivation import Derivation
from logic.refusals import Refusal, Rejected
from logic.rules import RuleSet


def refusal(report: Report, rows: Sequence[Any], root: Derivation, rules: RuleSet, context: Context) -> Refusal:
    """The second checker's refusal, by its report, of a derivation whose applications are these rows of a document."""
    node = None if report.row is None else _application(report.row, rows, root)
    if node is None or (rule := rules.rules.get(node.rule)) is None:
        return Refusal("second checker", about=report.problem)
    wrong: dict[str, Any] = {}
    with suppress(Rejected, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        for schema, premise in zip(rule.premises, node.premises, strict=True):
            wanted = judgement_of(schema, node.substitution, context)
            proved = judgement_of(rules.rules[premise.rule].conclusion, premise.substitution, context)
            if wanted != proved:
                wrong = {"premise": schema, "expected": wanted, "got": proved}
                break
    said, values = report.problem, node.substitution
    return Refusal("second checker", about=said, rule=rule, loc=node.loc, substitution=values, **wrong)


def _application(row: int, rows: Sequence[Any], root: Derivation) -> Derivation | None:
    """The application of this row; None where the derivation has none."""
    todo = [(len(rows) - 1, root)]
    while todo:
        i, node = todo.pop()
        if i == row:
            return node
        todo += zip(rows[i]["from"], node.premises, strict=True)
    return None
