"""Conditionals: uniform, decided, divergent. Q:If4 is refused wherever a branch that did not run would pay."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import pytest

from checker.kernel import Ledger, check
from checker.report.sentences import sentence
from logic.assertions import Condition, Entails, Refuted, Triple, Unknown, assume
from logic.derivation import Derivation, Value
from logic.rules import SOUND, conditionals
from logic.schema import show
from logic.syntax import If, Skip, Stmt, Sync
from tests.logic.rules.applications import (
    CONTEXT,
    ORACLE,
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


class Side(NamedTuple):
    """A branch: its program, the derivation of it, and the condition after it."""

    stmt: Stmt
    derivation: Derivation
    post: Condition


def sync(pre: Condition, post: Condition) -> Side:
    """A barrier from pre to post, weakened to fit: pre.q has 17 for it."""
    inner = Condition(pre.p, pre.q - 17, pre.x)
    bare = Derivation("Q:Sync", named("", inner))
    return Side(Sync(), weak(bare, Sync(), (pre, post), (pre, inner)), post)


def nothing(c: Condition) -> Side:
    return Side(Skip(), skip(c), c)


def branch(rule: str, pre: Condition, text: str, post: Condition, *sides: Side, **values: Value) -> Derivation:
    """Q:If1, Q:If2 or Q:If3; pre.q is Q."""
    e = expr(text)
    common: dict[str, Value] = {"e": e, "C": price(e), **values}
    derivations = (cost(pre.p, pre.x, e), *(s.derivation for s in sides))
    return Derivation(rule, named("", pre) | named("'", post) | common, derivations)


def if4(pre: Condition, text: str, left: Side, middle: Condition, right: Side, post: Condition) -> Derivation:
    e = expr(text)
    values: dict[str, Value] = {"e": e, "C": price(e), "s1": left.stmt, "s2": right.stmt}
    values |= named("", pre) | named("1", left.post) | named("'", middle) | named("2", right.post) | named("''", post)
    return Derivation("Q:If4", values, (cost(pre.p, pre.x, e), left.derivation, right.derivation))


def inside(pre: Condition, text: str, holds: bool) -> Condition:
    """The condition at the beginning of a branch."""
    return Condition(assume(pre.p, expr(text), SIGMA, holds), pre.q, pre.x)


# --- one warp, one way ------------------------------------------------------------------------------------------------

PRE, POST = at("y >= 0", "17 + |[z, n]|", "z"), at("y >= 0", "|[z, n]|", "z")
THEN, ELSE = (sync(inside(PRE, "z > 0", holds), POST) for holds in (True, False))
IF1 = branch("Q:If1", PRE, "z > 0", POST, THEN, ELSE, s1=Sync(), s2=Sync())

SURE = at("z >= 1", "17 + |[z, n]|", "z")
AFTER = at("z >= 1", "|[z, n]|", "z")
DEAD = stmt("while (true) { sync; }")
IF2 = branch("Q:If2", SURE, "z > 0", AFTER, sync(SURE, AFTER), s1=Sync(), s2=DEAD)
IF3 = branch("Q:If3", SURE, "z <= 0", AFTER, sync(SURE, AFTER), s1=DEAD, s2=Sync())


def test_a_uniform_branch_pays_for_the_dearer_side_only() -> None:
    whole = If(expr("z > 0"), Sync(), Sync())
    assert judged(IF1) == Triple(at("y >= 0", "7 + 8 + 17 + |[z, n]|", "z"), whole, POST)


def test_a_decided_branch_pays_for_the_live_side_only() -> None:
    pre = at("z >= 1", "7 + 8 + 17 + |[z, n]|", "z")
    assert judged(IF2) == Triple(pre, If(expr("z > 0"), Sync(), DEAD), AFTER)
    assert judged(IF3) == Triple(pre, If(expr("z <= 0"), DEAD, Sync()), AFTER)


# --- one warp, both ways ----------------------------------------------------------------------------------------------

LANES = "tid.x < 16"
TOP = at("z >= 0", "15 + |[z, n]|", "z")
LEFT_POST = at("z >= 0, x == 1", "|[z, n]|", "x z")
MIDDLE = at("z >= 0, tid.x >= 16", "|[z, n]|", "z")
END = at("z >= 0", "|[z, n]|", "z")


def one(pre: Condition, post: Condition) -> Side:
    """x <- 1, for 15."""
    return Side(stmt("x <- 1;"), write1(Condition(pre.p, pre.q - 15, pre.x), "x", "1", post), post)


LEFT = one(inside(TOP, LANES, True), LEFT_POST)
IF4 = if4(TOP, LANES, LEFT, MIDDLE, nothing(MIDDLE), END)


def middle(c: Condition) -> Derivation:
    """IF4 with another condition before and after its second branch."""
    return if4(TOP, LANES, LEFT, c, nothing(c), END)


def test_a_divergent_branch_pays_for_both_sides_and_for_diverging() -> None:
    whole = If(expr(LANES), stmt("x <- 1;"), Skip())
    assert judged(IF4) == Triple(at("z >= 0", "7 + 8 + 11 + 15 + |[z, n]|", "z"), whole, END)


def test_the_second_branch_need_not_follow_from_the_first() -> None:
    """P1 |- P' is in the print, not in the repaired rule: LEFT_POST does not imply tid.x >= 16."""
    entailments = [show(t) for t in SOUND.rules["Q:If4"].side_conditions if t.head == "entails"]
    assert entailments == ["P & !e |- P'", "P1 |- P''", "P2 |- P''"]
    assert isinstance(ORACLE(Entails(LEFT_POST.p, MIDDLE.p), CONTEXT), Refuted)
    judged(IF4)


def richer() -> Derivation:
    """Both branches cost; the end asks for one more than the second leaves, though not than the first leaves."""
    top, after = at("z >= 0", "32 + |[z, n]|", "z"), at("z >= 0, x == 1", "17 + |[z, n]|", "x z")
    second = at("z >= 0, tid.x >= 16", "17 + |[z, n]|", "z")
    right = sync(second, Condition(second.p, pot("|[z, n]|"), second.x))
    return if4(top, LANES, one(inside(top, LANES, True), after), second, right, at("z >= 0", "1 + |[z, n]|", "z"))


def uniform_before() -> Derivation:
    """x is uniform before and after s1, which writes it: still not in X'."""
    top, after = Condition(TOP.p, TOP.q, frozenset("xz")), LEFT_POST
    second = Condition(MIDDLE.p, MIDDLE.q, frozenset("xz"))
    return if4(top, LANES, one(inside(top, LANES, True), after), second, nothing(second), END)


def written_last() -> Derivation:
    """s2 makes x uniform for the lanes that ran it, and only for them."""
    second, after = Condition(MIDDLE.p, pot("15 + |[z, n]|"), MIDDLE.x), at("z >= 0", "|[z, n]|", "x z")
    top = at("z >= 0", "30 + |[z, n]|", "z")
    left = one(inside(top, LANES, True), at("z >= 0", "15 + |[z, n]|", "x z"))
    return if4(top, LANES, left, second, one(second, after), Condition(END.p, END.q, frozenset("xz")))


BAD = [
    Bad(premise("Q:If1", 0), but(IF1, C=Fraction(0))),
    Bad(premise("Q:If1", 1), instead(IF1, 1, ELSE.derivation)),
    Bad(premise("Q:If1", 2), instead(IF1, 2, THEN.derivation)),
    Bad(premise("Q:If1", 1), but(IF1, Q=pot("16 + |[z, n]|"))),
    Bad(
        "P; X |- e unif",
        branch(
            "Q:If1", PRE, LANES, POST, *(sync(inside(PRE, LANES, h), POST) for h in (True, False)), s1=Sync(), s2=Sync()
        ),
        Refuted,
    ),
    Bad(premise("Q:If2", 0), but(IF2, C=Fraction(0))),
    Bad(premise("Q:If2", 1), but(IF2, s1=DEAD)),
    Bad("P |- e", branch("Q:If2", PRE, "z > 0", POST, sync(PRE, POST), s1=Sync(), s2=DEAD), Refuted),
    Bad("P |- e", branch("Q:If2", PRE, "A[0] == A[0]", POST, sync(PRE, POST), s1=Sync(), s2=DEAD)),
    Bad("P |- e", branch("Q:If2", PRE, "f == f", POST, sync(PRE, POST), s1=Sync(), s2=DEAD)),
    Bad(premise("Q:If3", 0), but(IF3, C=Fraction(0))),
    Bad(premise("Q:If3", 1), but(IF3, s2=DEAD)),
    Bad("P |- !e", branch("Q:If3", PRE, "z > 0", POST, sync(PRE, POST), s1=DEAD, s2=Sync()), Refuted),
    Bad("P |- !e", branch("Q:If3", PRE, "A[0] != A[0]", POST, sync(PRE, POST), s1=DEAD, s2=Sync())),
    Bad(premise("Q:If4", 0), but(IF4, C=Fraction(0))),
    Bad(premise("Q:If4", 1), but(IF4, Q=pot("14 + |[z, n]|"))),
    Bad(premise("Q:If4", 2), instead(IF4, 2, skip(END))),
    Bad("P & !e |- P'", middle(at("z >= 0, tid.x >= 17", "|[z, n]|", "z")), Refuted),
    Bad("P & !e; X |- Q >= Q'", middle(at("z >= 0", "16 + |[z, n]|", "z")), Refuted),
    Bad("P1; X1 |- Q1 >= Q'", middle(at("z >= 0", "1 + |[z, n]|", "z")), Refuted),
    Bad("P1 |- P''", but(IF4, P__=facts("tid.x >= 16")), Refuted),
    Bad("P1; X1 |- Q1 >= Q''", but(IF4, Q__=pot("1 + |[z, n]|")), Refuted),
    Bad("P2 |- P''", but(IF4, P__=facts("x == 1")), Refuted),
    Bad("P2; X2 |- Q2 >= Q''", richer(), Refuted),
    Bad("X' <= (X & X1) \\ W(s1)", middle(Condition(MIDDLE.p, MIDDLE.q, frozenset("yz")))),
    Bad("X' <= (X & X1) \\ W(s1)", middle(Condition(MIDDLE.p, MIDDLE.q, frozenset("xz")))),
    Bad("X' <= (X & X1) \\ W(s1)", uniform_before()),
    Bad("X'' <= (X2 & X') \\ W(s2)", written_last()),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_refused_for_the_right_reason(bad: Bad) -> None:
    assert_refused(bad)


def test_every_item_above_the_bars_has_its_case() -> None:
    assert_every_item_is_refused(conditionals.RULES, BAD)


def test_a_uniform_condition_that_reads_an_array_is_no_fact() -> None:
    """P & e keeps nothing of an atom that reads an array."""
    pre = at("y >= 0", "17 + |[z, n]|", "z")
    sides = [sync(pre, POST), sync(pre, POST)]
    root = branch("Q:If1", pre, "A[z] == z", POST, *sides, s1=Sync(), s2=Sync())
    assert judged(root).pre == at("y >= 0", f"17 + 7 + {19 * 32 + 1 + 1 + 5} + |[z, n]|", "z")  # type: ignore[union-attr]


# --- counterexamples to the print (ERRATA.md, errata 1, 2, 6) ---------------------------------------------------------


def loop(x: str, start: Condition, end: Condition) -> Side:
    """while (x < 2) x <- x + 1, from |[x, 2]| under Q:While1, between weakened conditions."""
    head = at("", f"|[{x}, 2]|", x)
    body = write1(at(f"{x} < 2", f"|[{x} + 1, 2]|", x), x, f"{x} + 1", head)
    step = stmt(f"{x} <- {x} + 1;")
    inner = at(f"{x} < 2", f"1 + |[{x} + 1, 2]|", x)
    body = weak(body, step, (at(f"{x} < 2", f"|[{x}, 2]|", x), head), (inner, head))
    e = expr(f"{x} < 2")
    whole = stmt(f"while ({x} < 2) {{ {x} <- {x} + 1; }}")
    values: dict[str, Value] = named("", head) | {"e": e, "C": price(e), "s": step}
    root = Derivation("Q:While1", values, (cost(head.p, head.x, e), body))
    done = at(f"{x} >= 2", f"|[{x}, 2]|", x)
    return Side(whole, weak(root, whole, (start, end), (head, done)), end)


def test_erratum_1_a_branch_that_never_ran_does_not_pay_for_the_other() -> None:
    """`if (x >= 2) skip else while (x < 2) tick 1`: 0 >= |[x, 2]| where x >= 2, so the print claims 0; it costs 2."""
    pre, end = at("", "0", "x"), at("", "0", "x")
    gained = at("x >= 2", "|[x, 2]|", "x")
    yes = inside(pre, "x >= 2", True)
    left = Side(Skip(), weak(skip(yes), Skip(), (yes, gained), (yes, yes)), gained)
    start = at("", "|[x, 2]|", "x")
    claimed = if4(pre, "x >= 2", left, start, loop("x", start, at("x >= 2", "0")), Condition(end.p, end.q, frozenset()))
    error = refusal(free(claimed), TICK)
    assert (error.name, error.path) == ("Q:If4", ())
    assert sentence(error) == "the side condition P & !e; X |- Q >= Q' does not hold"
    assert isinstance(error.verdict, Refuted)
    assert error.verdict.witness["x"] < 2
    paid = at("", "|[x, 2]|", "x")
    yes = inside(paid, "x >= 2", True)
    left = Side(Skip(), skip(yes), yes)
    honest = if4(paid, "x >= 2", left, start, loop("x", start, at("x >= 2", "0")), Condition(end.p, end.q, frozenset()))
    theorem = check(free(honest), SOUND, TICK, ORACLE, Ledger())
    assert theorem.judgement.pre.q == pot("|[x, 2]|")  # type: ignore[union-attr]


def test_erratum_2_a_branch_that_never_ran_leaves_nothing_behind() -> None:
    """`if (b) skip else while (y < 2) skip`: after it 0 >= |[y, 2]|, which the print promises where b held too."""
    zero, gained = at("", "0", "y"), at("y >= 2", "|[y, 2]|", "y")
    e, whole = expr("y < 2"), stmt("while (y < 2) { skip; }")
    inner = at("y < 2", "0", "y")
    body = weak(skip(inner), Skip(), (inner, zero), (inner, inner))
    root = Derivation("Q:While1", named("", zero) | {"e": e, "C": price(e), "s": Skip()}, (cost((), zero.x, e), body))
    right = Side(whole, weak(root, whole, (zero, gained), (zero, at("y >= 2", "0", "y"))), gained)
    left = nothing(inside(zero, "b", True))
    error = refusal(free(if4(zero, "b", left, zero, right, at("", "|[y, 2]|", "y"))), TICK)
    assert (error.name, error.path) == ("Q:If4", ())
    assert sentence(error) == "the side condition P1; X1 |- Q1 >= Q'' does not hold"
    assert isinstance(error.verdict, Refuted)
    assert error.verdict.witness["y"] < 2
    judged_right = check(free(right.derivation), SOUND, TICK, ORACLE, Ledger()).judgement
    assert judged_right == Triple(zero, whole, gained)


def test_erratum_6_uniform_in_one_branch_is_not_uniform_in_the_other() -> None:
    """`if (y == 3) skip else ..`: where y == 3 the lanes agree on y; the others need not."""
    pre = at("", "0")
    yes = at("y == 3", "0")
    agreed = at("y == 3", "0", "y")
    told = weak(skip(agreed), Skip(), (yes, agreed), (agreed, agreed))
    second = at("y != 3", "0", "y")
    error = refusal(if4(pre, "y == 3", Side(Skip(), told, agreed), second, nothing(second), at("", "0")))
    assert sentence(error) == "X' <= (X & X1) \\ W(s1) does not hold"
    assert (error.got, error.expected) == (frozenset("y"), frozenset())


def test_an_oracle_that_cannot_tell_is_not_believed() -> None:
    root = branch("Q:If1", PRE, "A[tid.x] > 0", POST, sync(PRE, POST), sync(PRE, POST), s1=Sync(), s2=Sync())
    error = refusal(root)
    assert sentence(error) == "the side condition P; X |- e unif could not be proved"
    assert isinstance(error.verdict, Unknown)
