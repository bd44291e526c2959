"""Operands: each is charged its own resource constant, and is what the rule's letter says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checker.report.sentences import sentence
from logic.assertions import Cost
from logic.derivation import Derivation, Value
from logic.rules import operands
from logic.syntax import Const, Expr, Param, Tid, Var
from tests.logic.rules.applications import facts, judged, refusal

P, X = facts("x >= 0"), frozenset({"x"})
HERE: dict[str, Value] = {"P": P, "X": X}


@pytest.mark.parametrize(
    ("rule", "letter", "value", "e", "price"),
    [
        ("OQ:Var", "x", "y", Var("y"), 1),
        ("OQ:Const", "k", Const(-4), Const(-4), 2),
        ("OQ:Param", "p", "n", Param("n"), 3),
        ("OQ:Param", "p", "blockIdx.x", Param("blockIdx.x"), 3),
        ("OQ:Tid", "a", "y", Tid("y"), 1),
    ],
)
def test_an_operand_costs_its_constant(rule: str, letter: str, value: Value, e: Expr, price: int) -> None:
    assert judged(Derivation(rule, {**HERE, letter: value})) == Cost(P, X, e, Fraction(price))


@pytest.mark.parametrize(
    ("rule", "letter", "value", "reason"),
    [
        ("OQ:Var", "x", "n", "x has to be a local variable"),
        ("OQ:Var", "x", "A", "x has to be a local variable"),
        ("OQ:Param", "p", "x", "p has to be a parameter"),
        ("OQ:Param", "p", "tid.x", "p has to be a parameter"),
        ("OQ:Const", "k", Var("x"), "k has to be of kind 'literal'"),
        ("OQ:Tid", "a", "w", "a has to be x, y or z"),
    ],
)
def test_nothing_else_passes_for_it(rule: str, letter: str, value: Value, reason: str) -> None:
    error = refusal(Derivation(rule, {**HERE, letter: value}))
    assert (error.name, sentence(error), error.got) == (rule, reason, value)


def test_there_are_no_premises() -> None:
    assert all(rule.items == () for rule in operands.RULES)
    leaf = Derivation("OQ:Var", {**HERE, "x": "x"})
    error = refusal(Derivation("OQ:Var", {**HERE, "x": "x"}, (leaf,)))
    assert (sentence(error), error.expected, error.got) == ("the number of premises is wrong", 0, 1)
