"""Weakening: more may be known, owed and listed before, less after."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checker.report.sentences import sentence
from logic.assertions import Refuted, Triple, Uniform
from logic.derivation import Derivation
from logic.rules import structural
from logic.syntax import Skip, Sync
from tests.logic.rules.applications import (
    Bad,
    assert_every_item_is_refused,
    assert_refused,
    at,
    but,
    facts,
    instead,
    judged,
    named,
    pot,
    premise,
    refusal,
    skip,
    weak,
)

INNER = at("x >= 1", "|[x, n]|", "x y")
OUTER_PRE, OUTER_POST = at("x >= 2, z > 0", "3 + |[x, n]|", "x y z"), at("x >= 0", "|[x, n]| - 1", "x")
WEAK = weak(skip(INNER), Skip(), (OUTER_PRE, OUTER_POST), (INNER, INNER))


def test_weakening_forgets() -> None:
    assert judged(WEAK) == Triple(OUTER_PRE, Skip(), OUTER_POST)


def test_a_frame_is_added_on_both_sides() -> None:
    pre, post = at("x >= 2, z > 0", "15/2 + |[x, n]|", "x y z"), at("x >= 0", "7/2 + |[x, n]|", "x")
    assert judged(but(WEAK, c=Fraction(9, 2))) == Triple(pre, Skip(), post)


def test_what_the_facts_make_uniform_joins_the_uniform_variables() -> None:
    """X2 may hold what X1 lacks where P1 shows it uniform (ours, erratum 13)."""
    known = at("x == n, y == 2*x + 1", "3 + |[0, n]|")
    inner = at("x == n, y == 2*x + 1", "3 + |[0, x]|", "x y")
    root = weak(skip(inner), Skip(), (known, at("", "0")), (inner, inner))
    assert judged(root) == Triple(known, Skip(), at("", "0"))
    lanes = at("x == n, y == 2*tid.x", "3 + |[0, n]|")
    other = at("x == n, y == 2*tid.x", "3 + |[0, x]|", "x y")
    error = refusal(weak(skip(other), Skip(), (lanes, at("", "0")), (other, other)))
    assert sentence(error) == "the side condition P1; X1 |- X2 unif does not hold"
    assert isinstance(error.obligation, Uniform)
    assert (error.obligation.expr.name, error.obligation.x) == ("y", frozenset())  # type: ignore[union-attr]


BAD = [
    Bad(premise("Q:Weak", 0), instead(WEAK, 0, skip(OUTER_PRE))),
    Bad(premise("Q:Weak", 0), but(WEAK, s=Sync())),
    Bad(premise("Q:Weak", 0), but(WEAK, Q2=pot("1 + |[x, n]|"))),
    Bad("P1 |- P2", but(WEAK, P1=facts("x >= 0", "z > 0")), Refuted),
    Bad("P1; X1 |- Q1 >= Q2", but(WEAK, Q1=pot("|[x, n]| - 1")), Refuted),
    Bad("P1; X1 |- Q1 >= Q2", but(WEAK, Q1=pot("|[x + 1, n]|")), Refuted),
    Bad("P1; X1 |- X2 unif", but(WEAK, X1=frozenset("xz")), Refuted),
    Bad("P2' |- P1'", but(WEAK, P1_=facts("x >= 2")), Refuted),
    Bad("P2'; X2' |- Q2' >= Q1'", but(WEAK, Q1_=pot("|[x - 1, n]|")), Refuted),
    Bad("X1' <= X2'", but(WEAK, X1_=frozenset("xyz"))),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_refused_for_the_right_reason(bad: Bad) -> None:
    assert_refused(bad)


def test_every_item_above_the_bars_has_its_case() -> None:
    """`c >= 0` is refused with the substitution already: a cost is never negative."""
    error = refusal(but(WEAK, c=Fraction(-1)))
    assert (error.name, sentence(error), error.got) == ("Q:Weak", "c has to be nonnegative", Fraction(-1))
    (rule,) = structural.RULES
    assert [t.head for t in rule.items].count("nonnegative") == 1
    assert_every_item_is_refused(structural.RULES, [*BAD, Bad("c >= 0", WEAK)])


def test_the_sides_are_not_exchanged() -> None:
    """What is known before does not follow from what is known after."""
    back = Derivation(
        "Q:Weak", {**WEAK.substitution, **named("1", OUTER_POST), **named("1'", OUTER_PRE)}, WEAK.premises
    )
    assert sentence(refusal(back)) == "the side condition P1 |- P2 does not hold"
