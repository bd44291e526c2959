"""Refusals in words: the rule with its terms, both sides of a disagreement, the state, the run, the change."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from checker.refutation.diagnosis import Finding
from checker.refutation.replay import Replay
from checker.refutation.states import State
from checker.refutation.whole import Dearer
from checker.report.rejection import (
    AROUND,
    as_text,
    describe,
    draw,
    draw_filled,
    expected_and_got,
    explain,
    failing,
    in_place,
    reason_of,
    run_of,
    witness,
)
from checker.synthesis.walk import Stuck
from logic.assertions import (
    AtLeast,
    AtMost,
    Cost,
    Entails,
    Launch,
    Obligation,
    Refuted,
    Triple,
    Uniform,
    Unknown,
    Verdict,
)
from logic.derivation import Value as Letter
from logic.refusals import Fault, Refusal
from logic.rules import RULE_SETS, SOUND, RuleSet
from logic.schema import kind
from logic.schema import show as show_schema
from logic.source import Loc
from logic.syntax import Const, Sync, Tid, Var
from semantics.events import Thread
from semantics.lockstep import Store
from semantics.values import Value
from tests.logic.rules.applications import CONTEXT, at, expr, facts, named, pot, stmt

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
    assert as_text(x) == text


def test_a_launch_has_a_text_too() -> None:
    assert "(0, 1, 1)" in as_text(Launch((0, 1, 1)))


@pytest.mark.parametrize("rule", SOUND.rules.values(), ids=lambda r: r.name)
def test_a_rule_is_drawn_with_its_bar_as_wide_as_its_widest_line(rule: object) -> None:
    lines = draw(rule)  # type: ignore[arg-type]
    (bar,) = [line for line in lines if line.endswith(f" {rule.name}") and line.startswith("---")]  # type: ignore[attr-defined]
    width = len(bar) - len(f" {rule.name}")  # type: ignore[attr-defined]
    assert bar[:width] == "-" * width
    assert max(len(line) for line in lines if line != bar) <= width
    assert lines.index(bar) == len(lines) - 2


def error(fault: Fault = "end", **parts: object) -> Refusal:
    rule = SOUND.rules["Q:Weak"]
    return Refusal(fault, rule=rule, name=rule.name, loc=Loc("k.qhl", 3, 5), **parts)  # type: ignore[arg-type]


def seen(claimed: str = "so", actual: str = "otherwise", **values: int) -> Replay:
    """A state of one thread with these locals and parameters."""
    t = Thread((0, 0, 0), (0, 0, 0))
    params: dict[str, Value] = {n: values.pop(n) for n in ("n", "m") if n in values}
    store = Store(locals={n: {t: v} for n, v in values.items()})
    return Replay(State((32, 1, 1), (1, 1, 1), params, (t,), store), claimed, actual)


GAP = AtLeast(facts("x > 0"), X, pot("|[x, n]|"), pot("2 + |[x, n]|"))


def test_a_failed_comparison_of_potentials() -> None:
    e = error(obligation=GAP, verdict=Refuted("z3", {"x": 1, "n": 4}))
    found = Finding(e, CONTEXT, seen(x=1, n=4))
    assert found.verdict == "rejected"
    assert expected_and_got(found) == ("at least 2 + max(0, n - x)  (= 5)", "max(0, n - x)  (= 3)")
    text = explain(found)
    assert text.startswith("k.qhl:3:5: Q:Weak: that nothing is owed at the end, Q' >= 0, does not hold\n")
    for line in ("    thread (0,0,0): n = 4; x = 1", "    claimed    so", "    in truth   otherwise, short by 2"):
        assert line in text.splitlines()
    assert describe(e) == f"k.qhl:3:5: Q:Weak: that nothing is owed at the end, Q' >= 0, does not hold: {GAP}"


@pytest.mark.parametrize("verdict", [Unknown("z3", "time-out"), Refuted("z3", {"x": 1, "n": 4})])
def test_what_no_run_confirms_is_not_called_false(verdict: Verdict) -> None:
    """Not even with a solver's model."""
    owed = "that nothing is owed at the end, Q' >= 0,"
    found = Finding(error(obligation=GAP, verdict=verdict), CONTEXT)
    assert (found.verdict, witness(found.replay)) == ("not-proved", None)
    assert reason_of(found) == f"{owed} could not be proved"
    text = explain(found)
    assert "no counterexample found: the potential is probably too weak here" in text
    assert "does not hold" not in text
    assert "in truth" not in text
    confirmed = Finding(error(obligation=GAP, verdict=verdict), CONTEXT, seen(x=1, n=4))
    assert (confirmed.verdict, reason_of(confirmed)) == ("rejected", f"{owed} does not hold")


@pytest.mark.parametrize(
    ("obligation", "expected", "got"),
    [
        (Entails(facts("x > 0"), facts("x > 0", "x > 1")), "x > 1", "x > 0"),
        (Uniform((), X, Var("z")), "z with one value in a warp", "two threads that differ"),
        (AtMost("MemReads", (), X, "A", Var("z"), 4), "MemReads <= 4", "7 sectors"),
    ],
)
def test_the_other_side_conditions(obligation: Obligation, expected: str, got: str) -> None:
    e = error(obligation=obligation, verdict=Refuted("z3", {"z@1": 0, "z@2": 1}))
    assert expected_and_got(Finding(e, CONTEXT, seen(actual="7 sectors"))) == (expected, got)
    assert f"expected   {expected}" in explain(Finding(e, CONTEXT))
    assert expected_and_got(Finding(e, CONTEXT)) == (expected, got if isinstance(obligation, Entails) else "")
    assert "no counterexample found: it may hold" in explain(Finding(e, CONTEXT))


def test_a_state_as_json() -> None:
    state = seen(x=1, n=4)
    row = witness(replace(state, arrays={"A": {7: 2}}, notes=("a note",)))
    assert row == {
        "block": [32, 1, 1],
        "grid": [1, 1, 1],
        "block_index": [0, 0, 0],
        "threads": [[0, 0, 0]],
        "params": {"n": 4},
        "store": {"locals": {"x": [1]}, "arrays": {"A": {"7": 2}}},
        "claimed": "so",
        "actual": "otherwise",
        "notes": ["a note"],
    }


def test_a_run_that_refutes_the_bound_is_shown_with_the_command_that_repeats_it() -> None:
    worse = Dearer((33, 1, 1), (2, 1, 1), {"n": -4}, {"A": "random:1"}, Fraction(3), Fraction(7, 2), ended=False)
    found = Finding(error(obligation=GAP, verdict=Unknown("z3")), CONTEXT, None, at("", "3 + n"), worse, "Do this.")
    lines = explain(found, "my file.cu").splitlines()
    assert lines[-5:] == [
        "  The claimed bound is false. With block 33x1x1, grid 2x1x1, n = -4, A: random:1",
        "    a warp costs 7/2 and more primes; 3 + n is 3.",
        "    warpbound run 'my file.cu' --block 33,1,1 --grid 2,1,1 --metric primes --arg n=-4 --array A=random:1",
        "",
        "  Do this.",
    ]
    assert run_of(found, "k.qhl") == {
        "block": [33, 1, 1],
        "grid": [2, 1, 1],
        "params": {"n": -4},
        "arrays": {"A": "random:1"},
        "claimed": 3,
        "actual": "7/2",
        "ended": False,
        "command": None,
    }
    none = explain(Finding(found.error, CONTEXT, None, found.claimed))
    assert "No counterexample to the bound itself, 3 + n primes, was found: the potential is probably" in none
    assert run_of(Finding(found.error, CONTEXT), "") is None


def test_an_application_is_drawn_with_its_terms() -> None:
    values = named("1", at("x > 0", "|[x, n]|", "x")) | named("2", at("x > 0", "1 + |[x, n]|", "x"))
    values |= named("2'", at("x > 1", "0", "x")) | named("1'", at("x > 0", "0", "x"))
    values |= {"s": stmt("x <- x + 1;"), "c": Fraction(0)}
    weak = SOUND.rules["Q:Weak"]
    (failed,) = (t for t in weak.side_conditions if show_schema(t) == "P1; X1 |- Q1 >= Q2")
    refusal = Refusal("side condition", failed, rule=weak, substitution=values)
    lines = draw_filled(weak, values, CONTEXT, refusal)
    assert lines[0] == "    {P2; 1 + max(0, n - x); {x}} `x <- x + 1` {P2'; 0; {x}}"
    assert [line for line in lines if line.startswith("  >")] == ["  > P1; {x} |- max(0, n - x) >= 1 + max(0, n - x)"]
    assert failing(refusal, CONTEXT) == ["P1; {x} |- max(0, n - x) >= 1 + max(0, n - x)"]
    assert failing(replace(refusal, rule=None), CONTEXT) == []
    assert lines[-2:] == ["    P2 = P1 = P1' = x > 0", "    P2' = x > 1"]
    assert any(line.endswith("- Q:Weak") for line in lines)
    del values["c"]
    assert draw_filled(weak, values, CONTEXT, refusal) == [f"    {line}" for line in draw(weak)]
    assert failing(refusal, CONTEXT) == []


def test_prices_and_sets_are_worked_out_in_a_drawing() -> None:
    values: dict[str, Letter] = {
        **named("", at("x > 0", "n", "x")), **named("1", at("", "5", "x y")), **named("'", at("", "4", "x")),
        **named("2", at()), **named("''", at()),
        "e": expr("A[x] > 0"), "C": Fraction(2), "s1": stmt("y <- 0;"), "s2": stmt("skip;"),
    }  # fmt: skip
    rule = SOUND.rules["Q:If4"]
    (failed,) = (t for t in rule.side_conditions if show_schema(t) == "X' <= (X & X1) \\ W(s1)")
    lines = draw_filled(rule, values, CONTEXT, Refusal("condition", failed))
    assert "  > {x} <= {x}" in lines
    assert "    P & !(A[x] > 0) |- P'" in lines
    assert lines[lines.index(next(line for line in lines if line.endswith("Q:If4"))) + 1].startswith(
        "    {P; 20 + n; {x}}"
    )


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: rules.name)
def test_every_rule_can_be_drawn_with_terms(rules: RuleSet) -> None:
    """Each letter has a value of its kind; nothing of the schema but the letters of conditions is left."""
    kinds: dict[str, Letter] = {
        "assertion": (), "potential": pot("1"), "variables": frozenset("x"), "statement": stmt("skip;"),
        "expression": expr("x"), "variable": "x", "parameter": "n", "literal": Const(1), "axis": "x", "operator": "+",
        "array": "A", "global array": "A", "shared array": "S", "cost": Fraction(1), "count": 1,
    }  # fmt: skip
    for rule in rules.rules.values():
        lines = draw_filled(rule, {m: kinds[kind(m)] for m in rule.metavariables}, CONTEXT)
        assert lines != [f"    {line}" for line in draw(rule)]
        assert not any(left in line for line in lines for left in ("M.", "Q1", "s1", "W(", " e "))


def test_a_disagreement() -> None:
    e = error(expected=frozenset(), got=X)
    assert expected_and_got(Finding(e, CONTEXT)) == ("{}", "{x, y}")
    assert "  expected   {}\n  found      {x, y}" in explain(Finding(e, CONTEXT))
    assert Finding(e, CONTEXT).verdict == "rejected"
    bare = Refusal("context")
    assert describe(bare) == "the theorem was derived in another context"
    assert explain(Finding(bare, CONTEXT)).strip() == describe(bare)


def test_a_derivation_that_could_not_be_completed() -> None:
    stuck = Stuck("the loop has no potential", Loc("k.qhl", 3, 5), "State one.", "Q:While1")
    found = Finding(stuck, CONTEXT)
    assert (found.verdict, expected_and_got(found)) == ("not-proved", ("", ""))
    assert explain(found) == "k.qhl:3:5: Q:While1: the loop has no potential\n  State one."


def test_what_fails_in_place() -> None:
    """Below its line, at its column, the premises that are marked; lines that are far away are left out."""
    text = "\n".join(f"line {n}" for n in range(1, 200)).replace("line 100", "\tj <- 0;")
    lines = in_place(text, Loc("k.qhl", 100, 2), ["Q >= R", "Q' >= R'"]).split("\n")
    assert len(lines) == 2 * AROUND + 3
    first, last = 100 - AROUND, 100 + AROUND
    assert (lines[0], lines[-1]) == (f"   {first}  line {first}", f"  {last}  line {last}")
    i = next(i for i, line in enumerate(lines) if line.startswith("> 100"))
    assert lines[i].endswith("j <- 0;")
    assert lines[i + 1].index("^") == lines[i].index("j")
    assert (lines[i + 1].strip(), lines[i + 2].strip()) == ("^ Q >= R", "Q' >= R'")
    assert in_place(text, Loc("k.qhl", 900, 1), ["no"]) == ""
