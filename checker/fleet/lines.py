"""The line of a program that costs most, as a certificate's derivation has it: what its accesses and tests cost each
time, in the innermost loop. It is a hint for a person, and part of no claim."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final, cast

from checker.certificates.document import read
from logic.derivation import Derivation
from logic.metrics import FIXED, Metric
from logic.rules import SOUND
from logic.source import SourceError

DEEPER: Final = 1000
"""How often what is in a loop is taken to be executed: more often than anything outside costs more."""


def dearest(text: str) -> int | None:
    """The line, of the text of a certificate; None where nothing in it has a place, or it cannot be read."""
    try:
        made = read(text, "certificate")
    except SourceError:
        return None
    spent: dict[int, Fraction] = {}
    for node, line, depth in _placed(made.derivation):
        if line is not None and (cost := _cost(node, made.context.metric)):
            spent[line] = spent.get(line, Fraction(0)) + cost * DEEPER**depth
    return max(spent, key=lambda line: (spent[line], -line), default=None)


def costs(root: Derivation, metric: Metric) -> dict[int, Fraction]:
    """The cost of each line, as a derivation counts it: in a loop, that of one turn."""
    spent: dict[int, Fraction] = {}
    for node, line, _ in _placed(root):
        if line is not None and (cost := _cost(node, metric)):
            spent[line] = spent.get(line, Fraction(0)) + cost
    return spent


def _placed(root: Derivation) -> Iterator[tuple[Derivation, int | None, int]]:
    """The applications of a derivation, each with its line and the number of loops around it."""
    todo: list[tuple[Derivation, int | None, int]] = [(root, None, 0)]
    while todo:
        node, line, depth = todo.pop()
        line = node.loc.line if node.loc else line
        yield node, line, depth
        inner = depth + SOUND.rules[node.rule].turns if node.rule in SOUND.rules else depth
        todo.extend((premise, line, inner) for premise in node.premises)


def _cost(node: Derivation, metric: Metric) -> Fraction:
    """The cost that an application adds to that of its premises."""
    rule = SOUND.rules.get(node.rule)
    if rule is None:
        return Fraction(0)
    cost = sum((metric.cost(c) for c in FIXED if rule.charges(c)), Fraction(0))
    values = node.substitution
    if "o" in values and "n" in values:
        kind = ("g" if "G" in values else "s") + ("read" if rule.shape == "cost" else "write")
        cost += metric.count(kind, cast(int, values["n"]))
    return cost
