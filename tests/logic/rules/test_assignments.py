"""Assignments: to locals that stay or become uniform, to locals that do not, to global and shared arrays."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checker.report.sentences import sentence
from logic.assertions import AtLeast, Condition, Entails, Refuted, Unknown
from logic.derivation import Derivation, Value
from logic.rules import assignments
from logic.syntax import Stmt
from tests.logic.rules.applications import (
    Bad,
    assert_every_item_is_refused,
    assert_refused,
    at,
    but,
    cost,
    expr,
    facts,
    instead,
    judged,
    named,
    pot,
    premise,
    price,
    refusal,
    stmt,
    triple,
)


def write1(pre: Condition, x: str, text: str, post: Condition) -> Derivation:
    """Q:VWrite1 with pre.q for Q."""
    e = expr(text)
    values: dict[str, Value] = {"e": e, "C": price(e), "x": x, "P'": post.p, "Q'": post.q}
    return Derivation("Q:VWrite1", named("", pre) | values, (cost(pre.p, pre.x, e),))


def write2(pre: Condition, x: str, text: str, post: Condition) -> Derivation:
    e = expr(text)
    values: dict[str, Value] = {"e": e, "C": price(e), "x": x, "P'": post.p}
    return Derivation("Q:VWrite2", named("", pre) | values, (cost(pre.p, pre.x, e),))


def store(rule: str, letter: str, array: str, at_: Condition, index: str, value: str, n: int) -> Derivation:
    o, e = expr(index), expr(value)
    values: dict[str, Value] = {letter: array, "o": o, "e": e, "C1": price(o), "C2": price(e), "n": n}
    return Derivation(rule, named("", at_) | values, (cost(at_.p, at_.x, o), cost(at_.p, at_.x, e)))


STEP = write1(at("x >= 0", "2*|[x + 1, n]|", "x"), "x", "x + 1", at("x >= 1", "2*|[x, n]|", "x"))
LANE = write2(at("y >= 0", "|[z, n]|", "x z"), "x", "tid.x + y", at("x >= 0, y >= 0"))
GLOBAL = store("Q:GWrite", "G", "A", at("x >= 0", "|[x, n]|", "x"), "tid.x", "x", 4)
SHARED = store("Q:SWrite", "S", "S", at("x >= 0", "|[x, n]|", "x"), "2 * tid.x", "x", 2)


def test_a_uniform_value_keeps_the_variable_in_the_potential() -> None:
    pre = at("x >= 0", "13 + (1 + 2 + 5) + 2*|[x + 1, n]|", "x")
    assert judged(STEP) == triple(pre, "x <- x + 1;", at("x >= 1", "2*|[x, n]|", "x"))


def test_a_uniform_value_makes_a_variable_uniform() -> None:
    """x need not be in X beforehand (erratum 6): a counter that is reset after a divergent branch."""
    reset = write1(at("", "|[0, n]|"), "x", "0", at("x == 0", "|[x, n]|"))
    assert judged(reset) == triple(at("", "13 + 2 + |[0, n]|"), "x <- 0;", at("x == 0", "|[x, n]|", "x"))


def test_a_value_that_is_alike_within_a_warp_is_uniform_though_it_mentions_tid() -> None:
    one = write1(at("", "1"), "x", "tid.x / 32", at("", "1"))
    assert judged(one) == triple(at("", "1 + 13 + 8"), "x <- tid.x / 32;", at("", "1", "x"))
    assert refusal(but(one, (cost((), frozenset(), expr("tid.x / 16")),), e=expr("tid.x / 16"))).obligation is not None


def test_a_divergent_value_leaves_x() -> None:
    assert judged(LANE) == triple(
        at("y >= 0", "13 + (1 + 1 + 5) + |[z, n]|", "x z"),
        "x <- tid.x + y;",
        at("x >= 0, y >= 0", "|[z, n]|", "z"),
    )


def test_arrays_are_written_at_the_price_of_the_access_and_of_both_expressions() -> None:
    post = at("x >= 0", "|[x, n]|", "x")
    assert judged(GLOBAL) == triple(at("x >= 0", f"|[x, n]| + {29 * 4 + 1 + 1}", "x"), "A[tid.x] <- x;", post)
    assert judged(SHARED) == triple(at("x >= 0", f"|[x, n]| + {31 * 2 + 8 + 1}", "x"), "S[2 * tid.x] <- x;", post)


UNIF = "P; X |- e unif"
BAD = [
    Bad(premise("Q:VWrite1", 0), but(STEP, C=Fraction(7))),
    Bad(premise("Q:VWrite1", 0), instead(STEP, 0, cost(facts("x >= 0"), frozenset({"x"}), expr("x + 2")))),
    Bad(UNIF, write1(at(), "x", "tid.x", at()), Refuted),
    Bad(UNIF, write1(at(), "x", "y", at()), Refuted),
    Bad(UNIF, write1(at(), "x", "A[y]", at()), Unknown),
    Bad("P |- P'[x <- e]", but(STEP, P_=facts("x >= 2")), Refuted),
    Bad("P; X |- Q >= Q'[x <- e]", but(STEP, Q=pot("2*|[x + 2, n]|")), Refuted),
    Bad("P; X |- Q >= Q'[x <- e]", but(STEP, Q=pot("|[x + 1, n]|")), Refuted),
    Bad(premise("Q:VWrite2", 0), but(LANE, C=Fraction(0))),
    Bad("P |- P'[x <- e]", but(LANE, P_=facts("x >= 1")), Refuted),
    Bad("P |- P'[x <- e]", but(LANE, P_=facts("x <= 31", "y >= 0")), Refuted),
    Bad("vars(Q) <= X \\ {x}", but(LANE, Q=pot("|[x, n]|"))),
    Bad(premise("Q:GWrite", 0), but(GLOBAL, C1=Fraction(0))),
    Bad(premise("Q:GWrite", 1), but(GLOBAL, C2=Fraction(0))),
    Bad("P; X |- MemReads(G[o]) <= n", but(GLOBAL, n=3), Unknown),
    Bad(premise("Q:SWrite", 0), but(SHARED, C1=Fraction(0))),
    Bad(premise("Q:SWrite", 1), but(SHARED, C2=Fraction(0))),
    Bad("P; X |- Conflicts(S[o]) <= n", but(SHARED, n=1), Unknown),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_refused_for_the_right_reason(bad: Bad) -> None:
    assert_refused(bad)


def test_every_item_above_the_bars_has_its_case() -> None:
    assert_every_item_is_refused(assignments.RULES, BAD)


def test_the_potential_may_not_keep_what_stopped_being_uniform() -> None:
    """Erratum 13: with `|[0, x]|` kept over `x <- tid`, the loop after `x <- n` would be paid by nothing."""
    error = refusal(write2(at("", "|[0, x]|", "x"), "x", "tid.x", at()))
    assert sentence(error) == "vars(Q) <= X \\ {x} does not hold"
    assert (error.got, error.expected) == (frozenset({"x"}), frozenset())


@pytest.mark.parametrize("text", ["A[0]", "A[0] % 16", "A[A[0]] + 1"])
def test_what_an_array_holds_may_be_anything(text: str) -> None:
    """P'[x <- e] is asked for every value of the read, and Q' may not lean on it (erratum 13)."""
    free = write1(at("", "5"), "x", text, at("", "5"))
    assert judged(free).post == at("", "5", "x")  # type: ignore[union-attr]
    fact = refusal(but(free, P_=facts("x == 0")))
    assert isinstance(fact.obligation, Entails)
    assert "?i0" in str(fact.obligation)
    leaning = refusal(but(free, Q_=pot("|[0, x]|")))
    assert isinstance(leaning.obligation, AtLeast)
    assert "?i" in str(leaning.obligation)
    assert sentence(leaning) == "the side condition P; X |- Q >= Q'[x <- e] does not hold"


def test_two_reads_of_one_place_may_differ() -> None:
    """Another warp may write in between: y <- A[x] - A[x] is not 0 (section 5)."""
    error = refusal(write1(at("", "0", "x"), "y", "A[x] - A[x]", at("y == 0")))
    assert sentence(error) == "the side condition P |- P'[x <- e] does not hold"


def test_what_is_masked_is_known_whatever_was_read() -> None:
    masked = write1(at("", "0", "x"), "y", "A[x] & 15", at("y >= 0, y <= 15"))
    assert judged(masked).post.p == facts("y >= 0", "y <= 15")  # type: ignore[union-attr]


def test_a_write_to_an_array_forgets_nothing_because_nothing_is_known() -> None:
    """Facts about contents never enter P (erratum 4), not even stated ones."""
    told = store("Q:GWrite", "G", "A", at("A[0] == 0, x > 0"), "0", "1", 1)
    assert judged(told).post.p == facts("x > 0")  # type: ignore[union-attr]


def test_the_conclusion_is_about_the_assignment_that_was_named() -> None:
    s: Stmt = stmt("y <- x + 1;")
    error = refusal(but(STEP, x="y"))  # Q' then mentions x, P' too: nothing shows x >= 1
    assert sentence(error) == "the side condition P |- P'[x <- e] does not hold"
    moved = but(STEP, x="y", P_=facts("y >= 1"), Q_=pot("0"))
    assert judged(moved).stmt == s  # type: ignore[union-attr]
