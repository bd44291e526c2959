"""Loops: uniform ones keep their potential, divergent ones only what every lane still has."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checker.report.sentences import sentence
from logic.assertions import Condition, Refuted, Triple, Unknown, assume
from logic.derivation import Derivation, Value
from logic.rules import loops
from logic.syntax import Skip, While
from tests.logic.rules.applications import (
    SIGMA,
    TICK,
    Bad,
    assert_every_item_is_refused,
    assert_refused,
    at,
    but,
    cost,
    expr,
    facts,
    free,
    instead,
    judged,
    named,
    pot,
    premise,
    price,
    refusal,
    skip,
    stmt,
    weak,
)
from tests.logic.rules.test_assignments import write1

GUARD, STEP = expr("x < n"), stmt("x <- x + 1;")
K1 = 7 + (1 + 3 + 5)
K2 = K1 + 11
TURN = 13 + (1 + 2 + 5)
"""What the guard and one turn of the body cost under the prices."""


def cond(c: Condition, text: str, holds: bool) -> Condition:
    return Condition(assume(c.p, expr(text), SIGMA, holds), c.q, c.x)


def body(k: int, x: str = "x") -> Derivation:
    """{x <= n & x < n; (k + TURN) * |[x, n]|; {x}} x <- x + 1 {x <= n; k + (k + TURN) * |[x, n]|; {x}}"""
    c = k + TURN
    pre, post = cond(at("x <= n", f"{c}*|[x, n]|", x), "x < n", True), at("x <= n", f"{k} + {c}*|[x, n]|", x)
    inner = write1(Condition(pre.p, pot(f"{k} + {c}*|[x + 1, n]|"), pre.x), "x", "x + 1", post)
    return weak(inner, STEP, (pre, post), (Condition(pre.p, pot(f"{c} + {c}*|[x + 1, n]|"), pre.x), post))


HEAD1, HEAD2 = at("x <= n", f"{K1 + TURN}*|[x, n]|", "x"), at("x <= n", f"{K2 + TURN}*|[x, n]|", "x")
WHILE1 = Derivation(
    "Q:While1",
    named("", HEAD1) | {"e": GUARD, "C": price(GUARD), "s": STEP},
    (cost(HEAD1.p, HEAD1.x, GUARD), body(K1)),
)
WHILE2 = Derivation(
    "Q:While2",
    named("", HEAD2) | named("'", at("", "0")) | {"e": GUARD, "C": price(GUARD), "s": STEP},
    (cost(HEAD2.p, HEAD2.x, GUARD), body(K2)),
)
del WHILE2.substitution["P'"]


def test_a_uniform_loop_keeps_its_potential() -> None:
    pre = at("x <= n", f"{K1} + {K1 + TURN}*|[x, n]|", "x")
    assert judged(WHILE1) == Triple(pre, While(GUARD, STEP), at("x <= n, x >= n", f"{K1 + TURN}*|[x, n]|", "x"))


def test_a_loop_that_may_diverge_pays_for_it_every_time_and_keeps_what_no_lane_changed() -> None:
    pre = at("x <= n", f"{K2} + {K2 + TURN}*|[x, n]|", "x")
    assert judged(WHILE2) == Triple(pre, While(GUARD, STEP), at("x <= n, x >= n", "0"))


def negative(root: Derivation, k: int) -> Derivation:
    """The loop with a potential that is below 0 at its head: each turn still covers the next."""
    head = Condition(facts("x <= n"), pot(f"{k + TURN}*|[x, n]| - 1000"), frozenset("x"))
    pre = cond(head, "x < n", True)
    post = Condition(head.p, head.q + k, head.x)
    inner = Condition(pre.p, pot(f"{k} + {k + TURN}*|[x + 1, n]| - 1000"), pre.x)
    turn = write1(inner, "x", "x + 1", post)
    turn = weak(turn, STEP, (pre, post), (Condition(inner.p, inner.q + TURN, inner.x), post))
    return instead(but(root, Q=head.q), 1, turn)


def idle(rule: str, text: str) -> Derivation:
    """while (e) skip, for nothing under TICK."""
    e, head = expr(text), at("", "0", "x")
    inside = cond(head, text, True)
    turn = weak(skip(inside), Skip(), (inside, head), (inside, inside))
    values: dict[str, Value] = {"e": e, "C": Fraction(0), "s": Skip()}
    if rule == "Q:While2":
        values |= {"Q'": pot("0"), "X'": frozenset("x")}
    return free(Derivation(rule, named("", head) | values, (cost(head.p, head.x, e), turn)))


BAD = [
    Bad(premise("Q:While1", 0), but(WHILE1, C=Fraction(8))),
    Bad(premise("Q:While1", 1), instead(WHILE1, 1, body(K2))),
    Bad(premise("Q:While1", 1), but(WHILE1, s=stmt("x <- x + 2;"))),
    Bad(premise("Q:While1", 1), but(WHILE1, Q=pot(f"{K1 + TURN - 1}*|[x, n]|"))),
    Bad("P; X |- e unif", idle("Q:While1", "x < tid.x"), Refuted, TICK),
    Bad("P; X |- e unif", idle("Q:While1", "y < n"), Refuted, TICK),
    Bad("P; X |- e unif", idle("Q:While1", "A[y] < n"), Unknown, TICK),
    Bad("P; X |- Q + M.if + C >= 0", negative(WHILE1, K1), Refuted),
    Bad(premise("Q:While2", 0), but(WHILE2, C=Fraction(8))),
    Bad(premise("Q:While2", 1), instead(WHILE2, 1, body(K1))),
    Bad("P; X |- Q + M.if + C + M.div >= 0", negative(WHILE2, K2), Refuted),
    Bad("P & !e; X |- Q >= Q'", but(WHILE2, Q_=pot("1")), Refuted),
    Bad("P & !e; X |- Q >= Q'", but(WHILE2, Q_=pot("|[0, n]|")), Refuted),
    Bad("X' <= X \\ W(s)", but(WHILE2, X_=frozenset("x"))),
    Bad("X' <= X \\ W(s)", but(WHILE2, X_=frozenset("y"))),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_refused_for_the_right_reason(bad: Bad) -> None:
    assert_refused(bad)


def test_every_item_above_the_bars_has_its_case() -> None:
    assert_every_item_is_refused(loops.RULES, BAD)


@pytest.mark.parametrize("text", ["x < n", "A[x] < n", "x < 3 || n > 2"])
def test_a_guard_is_uniform_where_the_lanes_agree_on_its_variables(text: str) -> None:
    """Erratum 5: X counts, else no loop counter is ever uniform."""
    e = expr(text)
    assert judged(idle("Q:While1", text), TICK).stmt == While(e, Skip())  # type: ignore[union-attr]
    assert judged(idle("Q:While2", text), TICK).stmt == While(e, Skip())  # type: ignore[union-attr]


def test_a_guard_that_reads_an_array_leaves_no_fact_behind() -> None:
    """`while (A[tid]) { A[0] <- true; A[tid] <- false }`: another lane may set what this one has found false."""
    assert judged(idle("Q:While2", "A[tid.x] != 0"), TICK).post == at("", "0", "x")  # type: ignore[union-attr]
    assert judged(idle("Q:While2", "x < tid.x"), TICK).post == at("x >= tid.x", "0", "x")  # type: ignore[union-attr]


TICKS = stmt("z <- 0; x <- x + 1;")


def erratum_3(q: str, x: str) -> Derivation:
    """`while (x < tid.x) { tick 1; x <- x + 1 }` with 2*(n - x) at its head and {.; q; x} after it.

    Erratum 3, under 0 <= x <= tid.x < n and with x uniform at the head: lanes leave early and late.
    """
    e = expr("x < tid.x")
    head = at("0 <= x, x <= tid.x, tid.x < n", "2*(n - x)", "x")
    inside = cond(head, "x < tid.x", True)
    middle = Condition(inside.p, pot("1 + 2*(n - x - 1)"), frozenset("xz"))
    zero = write1(Condition(inside.p, middle.q, inside.x), "z", "0", middle)
    step = write1(
        Condition(middle.p, pot("2*(n - x - 1)"), middle.x), "x", "x + 1", Condition(head.p, head.q, middle.x)
    )
    start, end = Condition(inside.p, middle.q + 1, inside.x), Condition(head.p, head.q, middle.x)
    both = Derivation(
        "Q:Seq",
        named("", start) | named("1", middle) | named("'", end) | {"s1": stmt("z <- 0;"), "s2": STEP},
        (zero, step),
    )
    turn = weak(both, TICKS, (inside, head), (start, end))
    values: dict[str, Value] = {"e": e, "C": Fraction(0), "s": TICKS, "Q'": pot(q), "X'": frozenset(x.split())}
    return free(Derivation("Q:While2", named("", head) | values, (cost(head.p, head.x, e), turn)))


def test_erratum_3_a_potential_over_what_the_body_wrote_is_gone() -> None:
    """The print keeps n - x, of which the lane that left first still "has" n."""
    kept = refusal(erratum_3("2*(n - x)", "x"), TICK)
    assert (kept.name, sentence(kept)) == ("Q:While2", "X' <= X \\ W(s) does not hold")
    assert (kept.got, kept.expected) == (frozenset("x"), frozenset())
    loose = refusal(erratum_3("2*(n - x)", ""), TICK)
    assert sentence(loose) == "the potential depends on x, which X does not list as uniform"
    early = refusal(erratum_3("2*n", ""), TICK)
    assert sentence(early) == "the side condition P & !e; X |- Q >= Q' does not hold"
    assert isinstance(early.verdict, Refuted)
    assert early.verdict.witness["x"] > 0
    post = judged(erratum_3("0", ""), TICK).post  # type: ignore[union-attr]
    assert (post.q, post.x) == (pot("0"), frozenset())
