"""Expressions: the cost is the operands' and one constant more; accesses need their counts proved."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checker.report.sentences import sentence
from logic.assertions import Cost, Unknown
from logic.rules import expressions
from tests.logic.rules.applications import (
    Bad,
    assert_every_item_is_refused,
    assert_refused,
    but,
    cost,
    expr,
    facts,
    instead,
    judged,
    premise,
    refusal,
)

P, X = facts("x >= 0"), frozenset({"y"})
NEG, SUM, CHOICE, GLOBAL, SHARED = (
    cost(P, X, expr(t)) for t in ("-x", "x + n", "(x < 3 ? n : y)", "A[tid.x]", "S[2 * tid.x]")
)
GLOBAL, SHARED = but(GLOBAL, n=4), but(SHARED, n=2)
OTHER = cost(P, X, expr("z"))


@pytest.mark.parametrize(
    ("root", "text", "price"),
    [
        (NEG, "-x", 1 + 5),
        (SUM, "x + n", 1 + 3 + 5),
        (CHOICE, "(x < 3 ? n : y)", (1 + 2 + 5) + 3 + 1 + 5),
        (GLOBAL, "A[tid.x]", 1 + 19 * 4),
        (SHARED, "S[2 * tid.x]", (2 + 1 + 5) + 23 * 2),
    ],
)
def test_the_cost_is_structural(root: object, text: str, price: int) -> None:
    assert judged(root) == Cost(P, X, expr(text), Fraction(price))  # type: ignore[arg-type]


BAD = [
    Bad(premise("EQ:Op1", 0), but(NEG, C1=Fraction(0))),
    Bad(premise("EQ:Op", 0), but(SUM, C1=Fraction(2))),
    Bad(premise("EQ:Op", 1), instead(SUM, 1, OTHER)),
    Bad(premise("EQ:Op3", 0), instead(CHOICE, 0, OTHER)),
    Bad(premise("EQ:Op3", 1), but(CHOICE, C2=Fraction(2))),
    Bad(premise("EQ:Op3", 2), but(CHOICE, e3=expr("x"))),
    Bad(premise("EQ:GArray", 0), but(GLOBAL, C=Fraction(0))),
    Bad(premise("EQ:SArray", 0), instead(SHARED, 0, OTHER)),
    Bad("P; X |- MemReads(G[o]) <= n", but(GLOBAL, n=3), Unknown),
    Bad("P; X |- Conflicts(S[o]) <= n", but(SHARED, n=1), Unknown),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_refused_for_the_right_reason(bad: Bad) -> None:
    assert_refused(bad)


def test_every_item_above_the_bars_has_its_case() -> None:
    assert_every_item_is_refused(expressions.RULES, BAD)


def test_a_shared_array_is_not_counted_as_a_global_one() -> None:
    assert sentence(refusal(but(GLOBAL, G="S"))) == "G has to be a global array"
    assert sentence(refusal(but(SHARED, S="A"))) == "S has to be a shared array"


def test_a_premise_under_other_facts_is_no_premise() -> None:
    for p, x in ((facts("x >= 1"), X), (P, frozenset({"x"}))):
        error = refusal(instead(SUM, 0, cost(p, x, expr("x"))))
        assert sentence(error) == f"the premise {premise('EQ:Op', 0)} is not what its derivation proves"
        assert (error.expected, error.got) == (Cost(P, X, expr("x"), Fraction(1)), Cost(p, x, expr("x"), Fraction(1)))


def test_division_of_labour_between_operators() -> None:
    """The operator travels from the substitution to the conclusion, so another one proves another judgement."""
    assert judged(but(SUM, op="*")) == Cost(P, X, expr("x * n"), Fraction(9))
