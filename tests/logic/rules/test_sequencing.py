"""Skip, barriers and sequences."""

from __future__ import annotations

import pytest

from checker.report.sentences import sentence
from logic.assertions import Triple
from logic.derivation import Derivation
from logic.rules import sequencing
from logic.syntax import Skip, Sync, seq
from tests.logic.rules.applications import (
    Bad,
    assert_every_item_is_refused,
    assert_refused,
    at,
    but,
    instead,
    judged,
    named,
    premise,
    refusal,
    skip,
    stmt,
)

START, MIDDLE, END = (
    at("x >= 0", "34 + |[x, n]|", "x"),
    at("x >= 0", "17 + |[x, n]|", "x"),
    at("x >= 0", "|[x, n]|", "x"),
)
SYNC = Derivation("Q:Sync", named("", END))
FIRST = Derivation("Q:Sync", named("", MIDDLE))
SEQ = Derivation(
    "Q:Seq",
    named("", START) | named("1", MIDDLE) | named("'", END) | {"s1": Sync(), "s2": Sync()},
    (FIRST, SYNC),
)


def test_skip_is_free_and_changes_nothing() -> None:
    assert judged(skip(START)) == Triple(START, Skip(), START)


def test_a_barrier_costs_its_price() -> None:
    assert judged(SYNC) == Triple(MIDDLE, Sync(), END)


def test_a_sequence_joins_two_triples() -> None:
    assert judged(SEQ) == Triple(START, stmt("sync; sync;"), END)


def test_sequences_nest_either_way() -> None:
    """Sequencing is associative in the syntax, so both trees prove the same triple."""
    top = at("x >= 0", "51 + |[x, n]|", "x")
    three = seq(Sync(), Sync(), Sync())
    first = Derivation("Q:Sync", named("", START))
    left = Derivation(
        "Q:Seq", named("", top) | named("1", MIDDLE) | named("'", END) | {"s1": stmt("sync; sync;"), "s2": Sync()},
        (but(SEQ, (first, FIRST), P=top.p, Q=top.q, P1=START.p, Q1=START.q, P_=MIDDLE.p, Q_=MIDDLE.q), SYNC),
    )  # fmt: skip
    right = Derivation(
        "Q:Seq", named("", top) | named("1", START) | named("'", END) | {"s1": Sync(), "s2": stmt("sync; sync;")},
        (first, SEQ),
    )  # fmt: skip
    assert judged(left) == judged(right) == Triple(top, three, END)


BAD = [
    Bad(premise("Q:Seq", 0), instead(SEQ, 0, SYNC)),
    Bad(premise("Q:Seq", 1), instead(SEQ, 1, FIRST)),
    Bad(premise("Q:Seq", 0), but(SEQ, s1=Skip())),
    Bad(premise("Q:Seq", 1), but(SEQ, s2=Skip())),
    Bad(premise("Q:Seq", 0), but(SEQ, Q=at(q="33 + |[x, n]|").q)),
    Bad(premise("Q:Seq", 0), but(SEQ, P1=())),
    Bad(premise("Q:Seq", 0), but(SEQ, X1=frozenset())),
    Bad(premise("Q:Seq", 1), but(SEQ, X_=frozenset())),
    Bad(premise("Q:Seq", 1), but(SEQ, Q_=at(q="1 + |[x, n]|").q)),
]


@pytest.mark.parametrize("bad", BAD)
def test_refused_for_the_right_reason(bad: Bad) -> None:
    assert_refused(bad)


def test_every_item_above_the_bars_has_its_case() -> None:
    assert_every_item_is_refused(sequencing.RULES, BAD)


def test_the_premises_are_not_exchanged() -> None:
    other = Derivation("Q:Seq", SEQ.substitution, (SYNC, FIRST))
    assert sentence(refusal(other)) == f"the premise {premise('Q:Seq', 0)} is not what its derivation proves"
