"""Refusals in words: every kind of value, both sides of a disagreement, the witness, and the shortfall."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checker.kernel import Rejected
from checker.report.rejection import describe, draw, expected_and_got, explain, value, verdict_of, witness
from logic.assertions import AtLeast, AtMost, Cost, Entails, Launch, Refuted, Triple, Uniform, Unknown
from logic.rules import SOUND
from logic.source import Loc
from logic.syntax import Sync, Tid, Var
from tests.logic.rules.applications import at, expr, facts, pot, stmt

X = frozenset({"x", "y"})


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (None, ""),
        (at("x > 0", "|[x, n]|", "x y"), "{x > 0; max(0, n - x); {x, y}}"),
        (pot("n/2"), "1/2*n"),
        (Triple(at(), Sync(), at("x > 0")), "{true; 0; {}} sync; {x > 0; 0; {}}"),
        (Triple(at(), stmt("sync; sync;"), at()), "{true; 0; {}} sync; ... {true; 0; {}}"),
        (Cost(facts("x > 0"), X, expr("x + n"), Fraction(9, 2)), "x > 0; {x, y} |- x + n : 9/2"),
        (X, "{x, y}"),
        (frozenset(), "{}"),
        (("P", "Q", "X"), "P, Q, X"),
        ((), "true"),
        (facts("x > 0", "y > 0"), "x > 0 && y > 0"),
        ("text", "text"),
        (3, "3"),
        (Fraction(1, 3), "1/3"),
        (expr("A[x] + 1"), "A[x] + 1"),
        (Tid("x"), "tid.x"),
        (stmt("while (x > 0) { sync; }"), "while (x > 0) {"),
        (1.5, "1.5"),
        ([1], "[1]"),
        ((1, 2), "(1, 2)"),
    ],
)
def test_every_value_has_a_text(x: object, text: str) -> None:
    assert value(x) == text


def test_a_launch_has_a_text_too() -> None:
    assert "(0, 1, 1)" in value(Launch((0, 1, 1)))


@pytest.mark.parametrize("rule", SOUND.rules.values(), ids=lambda r: r.name)
def test_a_rule_is_drawn_with_its_bar_as_wide_as_its_widest_line(rule: object) -> None:
    lines = draw(rule)  # type: ignore[arg-type]
    (bar,) = [line for line in lines if line.endswith(f" {rule.name}") and line.startswith("---")]  # type: ignore[attr-defined]
    width = len(bar) - len(f" {rule.name}")  # type: ignore[attr-defined]
    assert bar[:width] == "-" * width
    assert max(len(line) for line in lines if line != bar) <= width
    assert lines.index(bar) == len(lines) - 2


def error(reason: str = "no", **parts: object) -> Rejected:
    e = Rejected(reason, **parts)  # type: ignore[arg-type]
    e.rule, e.rule_name, e.loc = SOUND.rules["Q:Weak"], "Q:Weak", Loc("k.qhl", 3, 5)
    return e


GAP = AtLeast(facts("x > 0"), X, pot("|[x, n]|"), pot("2 + |[x, n]|"))


def test_a_failed_comparison_of_potentials() -> None:
    e = error(obligation=GAP, verdict=Refuted("z3", {"x": 1, "n": 4}))
    assert (verdict_of(e), witness(e)) == ("rejected", {"x": 1, "n": 4})
    assert expected_and_got(e) == ("at least 2 + max(0, n - x)  (= 5)", "max(0, n - x)  (= 3)")
    text = explain(e)
    assert text.startswith("k.qhl:3:5: Q:Weak: no\n")
    for line in ("under      x > 0; uniform: {x, y}", "fails at   n = 4, x = 1", "short by   2"):
        assert line in text
    assert describe(e) == f"k.qhl:3:5: Q:Weak: no: {GAP}"


def test_the_shortfall_needs_no_more_than_the_difference_does() -> None:
    e = error(obligation=GAP, verdict=Refuted("z3", {"tid.x": 0}))
    assert expected_and_got(e) == ("at least 2 + max(0, n - x)", "max(0, n - x)")
    assert "short by   2" in explain(e)
    other = AtLeast((), X, pot("0"), pot("|[x, n]|"))
    assert "short by" not in explain(error(obligation=other, verdict=Refuted("z3", {"x": 1})))


def test_what_was_not_decided_is_not_called_false() -> None:
    e = error(obligation=GAP, verdict=Unknown("z3", "time-out"))
    assert (verdict_of(e), witness(e)) == ("not-proved", None)
    assert "no counterexample was found (time-out): it may hold" in explain(e)
    assert "fails at" not in explain(e)


@pytest.mark.parametrize(
    ("obligation", "expected", "got"),
    [
        (Entails(facts("x > 0"), facts("x > 1")), "x > 1", "x > 0"),
        (Uniform((), X, Var("z")), "z with one value in a warp", "two threads that differ"),
        (AtMost("MemReads", (), X, "A", Var("z"), 4), "MemReads <= 4", "more"),
        (AtMost("Conflicts", (), X, "S", Var("z"), 2), "Conflicts <= 2", "more"),
    ],
)
def test_the_other_side_conditions(obligation: object, expected: str, got: str) -> None:
    e = error(obligation=obligation, verdict=Refuted("z3", {"z@1": 0, "z@2": 1}))
    assert expected_and_got(e) == (expected, got)
    assert f"expected   {expected}" in explain(e)
    open_ = expected_and_got(error(obligation=obligation, verdict=Unknown("z3")))
    assert open_ == (expected, got if isinstance(obligation, Entails) else "")


def test_a_disagreement() -> None:
    e = error(expected=frozenset(), got=X)
    assert expected_and_got(e) == ("{}", "{x, y}")
    assert "  expected   {}\n  found      {x, y}" in explain(e)
    assert verdict_of(e) == "rejected"
    bare = Rejected("why")
    assert describe(bare) == "why"
    assert explain(bare).strip() == "why"
