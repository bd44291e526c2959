"""Rules on trial in the search for bounds: what is read off their texts, and what they buy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.testbed import bought as testbed
from checker.testbed.applied import book_of
from checker.testbed.bought import Bought, buy, dear, dearest
from checker.testbed.plans import Bind, Prove, plan
from checker.testbed.rulefile import RuleFileProblem, text_rules
from logic.metrics import METRICS, Metric
from logic.rules import SOUND, RuleSet
from logic.schema import Rule
from semantics.grid import Contents

HEAD = "kernel k metric steps block 64 param int n, m; global int A[], B[]; local int i, j; begin "
APART = HEAD + "if (tid.x < m) { A[tid.x] <- 1; B[tid.x] <- 1; } else { A[tid.x] <- 2; B[tid.x] <- 2; } end"
ALIKE = HEAD + "if (n < m) { A[tid.x] <- 1; } else { A[2*tid.x] <- 1; B[tid.x] <- 2; } end"
COUNTED = HEAD + "i <- 0; while (i < n) { A[tid.x + 32*i] <- B[i]; i <- i + 1; } end"
STRIDED = HEAD + "i <- tid.x; while (i < n) { A[i] <- 1; i <- i + 32; } end"
ONCE = HEAD + "i <- tid.x; while (i <= tid.x) { A[i] <- 0; i <- i + 1; } end"


def with_rules(*rules: Rule) -> RuleSet:
    return RuleSet("mine.rules", {**SOUND.rules, **{rule.name: rule for rule in rules}})


def named(name: str, rule: Rule) -> Rule:
    return Rule(name, rule.bar, "ours")


def wrong(name: str) -> Rule:
    """A rule of wrong.rules."""
    return next(rule for rule in text_rules("checker/testbed/wrong.rules") if rule.name == name)


def bought(text: str, *rules: Rule, metric: Metric = METRICS["steps"]) -> Bought:
    outline = parse_outline(text, "k.qhl")
    (found,) = buy(outline, [metric], Oracles(), with_rules(*rules))
    return found


CASES = {
    "Q:If1": ALIKE,
    "Q:If4": ALIKE.replace(" end", " if (A[tid.x] < m) { A[tid.x] <- 1; } else { B[tid.x] <- 1; } end"),
    "Q:While1": COUNTED,
    "Q:While2": STRIDED,
    "Q:VWrite1": COUNTED,
    "Q:VWrite2": HEAD + "i <- tid.x; A[i] <- 1; end",
    "Q:GWrite": COUNTED,
    "EQ:GArray": COUNTED,
    "EQ:Op": COUNTED,
    "OQ:Var": COUNTED,
}


@pytest.mark.parametrize("name", CASES)
def test_a_sound_rule_by_another_name_buys_nothing(name: str) -> None:
    metric = METRICS["sectors" if name == "Q:While2" else "steps"]  # Q:WhileCase is better where M.div is not 0
    found = bought(CASES[name], named(f"{name.partition(':')[0]}:Mine", SOUND.rules[name]), metric=metric)
    assert found.bound == found.sound.q
    assert found.bound is not None
    assert not found.lower
    assert {one.rule.partition(":")[2] for one in found.used} == {"Mine"}
    assert (found.left, found.problem) == ((), None)


def test_a_rule_with_the_name_of_a_sound_one_takes_its_place() -> None:
    unordered = APART.replace("tid.x < m", "A[tid.x] < m")  # by lanes a sound one has a lower bound
    found = bought(unordered, Rule("Q:If4", SOUND.rules["Q:If4"].bar.replace(" + M.div", ""), "ours"))
    assert found.lower
    assert found.sound.q is not None
    assert found.bound == found.sound.q - 1
    assert [one.rule for one in found.used] == ["Q:If4"]


def nothing(_: Mapping[str, str]) -> Mapping[str, Contents]:
    return {}


@pytest.mark.parametrize("name", ["Q:IfDearer", "Q:IfDearerToNothing", "Q:IfDearerTwice", "Q:IfBothDiv"])
def test_a_wrong_rule_is_lower_and_a_run_refutes_it(name: str) -> None:
    found = bought(APART, wrong(name))
    assert found.lower
    outline = parse_outline(APART, "k.qhl")
    inputs = dear(outline.kernel, [found], nothing, {"m": 5}, runs=4)
    run = dearest(outline.kernel, found, outline.context, nothing, {"m": 5}, inputs, 4)
    assert run is not None
    assert run.cost > run.bound
    assert found.sound.q is not None
    assert run.cost <= found.sound.q.constant


def test_what_follows_is_paid_around_a_rule_that_leaves_nothing() -> None:
    plain, more = bought(APART, rule := wrong("Q:IfDearerToNothing")), "A[tid.x] <- 1; i <- 2; end"
    found = bought(APART.removesuffix("end") + more, rule)
    assert found.lower
    assert plain.bound is not None
    assert found.bound is not None
    assert plain.sound.q is not None
    assert found.sound.q is not None
    assert found.bound - plain.bound == found.sound.q - plain.sound.q
    assert [one.rule for one in found.used] == [rule.name]


def test_a_rule_is_never_certified() -> None:
    found = bought(APART, wrong("Q:IfDearer"))
    (made,) = buy(parse_outline(APART, "k.qhl"), [METRICS["steps"]], Oracles(), with_rules(SOUND.rules["Q:If4"]))
    assert made.bound == found.sound.q
    for rules in (with_rules(wrong("Q:IfDearer")), with_rules()):
        outline = parse_outline(APART, "k.qhl")
        (result,) = find_bounds(outline, [METRICS["steps"]], Oracles(), book=book_of(rules))
        assert (result.verdict, result.claim, result.second) == ("on-trial", None, None)
        assert result.q == result.tried is not None


def test_a_loop_that_turns_once() -> None:
    once = Rule(
        "Q:Once",
        """
        P; X |- e : C   P |- e   P' |- !e   P'; X' |- e : C'
        {P; Q; X} s {P'; Q' + M.if + C'; X'}
        ----------------------------------------------------
        {P; Q + M.if + C; X} while (e) s {P'; Q'; X'}
        """,
        "ours",
    )
    found = bought(ONCE, once)
    assert found.lower
    assert [one.rule for one in found.used] == ["Q:Once"]
    found = bought(STRIDED, once)
    assert (found.bound, found.used) == (found.sound.q, ())


def test_where_the_kernel_refuses_a_rule_the_sound_ones_are_used() -> None:
    found = bought(COUNTED, wrong("Q:LoopFactsOnce"))
    assert found.bound == found.sound.q
    assert found.bound is not None
    assert not found.used
    assert [one.rule for one in found.left] == ["Q:LoopFactsOnce"]


def test_rules_that_are_refused_too_often_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbed, "MOST", 0)
    twice = COUNTED.replace(" end", " i <- 0; while (i < m) { A[i] <- B[i]; i <- i + 1; } end")
    found = bought(twice, wrong("Q:LoopFactsOnce"))
    assert found.bound == found.sound.q
    assert len(found.left) == 1


def test_a_rule_that_applies_nowhere_in_the_place_of_the_last_one() -> None:
    rule = SOUND.rules["Q:If4"]
    never = Rule("Q:If4", rule.bar.replace("P; X |- e : C", "P; X |- e : C   P |- e   P |- !e"), "ours")
    found = bought(APART, never)
    assert found.bound is None
    assert "none of the rules for this applies" in str(found.problem)


TRIPLE = "{P; Q; X} s {P'; Q'; X'}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{TRIPLE}\n---\n{TRIPLE}", "Q:Mine: it is about statements of any kind"),
        ("{P; Q; X} s1 {P1; Q1; X1}\n---\n{P; Q; X} s1; s2 {P1; Q1; X1}", "it is about statements of any kind"),
        ("P |- e1\n---\n{P; Q; X} while (e) s {P; Q; X}", "e1 has no value, for it is no part of 'while \\(e\\) s'"),
        ("---\n{P; Q; X} while (e) s {P'; Q; X}", "P' has no value, for nothing in its text says"),
        ("---\n{P; Q; X} x <- e {P; Q; X'}", "X' has no value"),
        ("---\n{P; Q + C; X} x <- e {P; Q; X}", "C has no value"),
        ("---\n{P; Q + M.gwrite(n); X} G[o] <- e {P; Q; X}", "n has no value"),
        ("---\n{P; Q + F; X} skip {P; Q; X}", "'Q \\+ F' is not a letter with prices"),
        ("---\n{P; Q; X} skip {P; Q + F; X}", "'Q \\+ F' is not a letter with prices"),
        ("---\n{P & e; Q; X} if (e) s1 else s2 {P; Q; X}", "it begins with 'P & e'"),
        ("{P; Q; X} if (e) s else skip {P; Q'; X}\n---\n{P; Q; X} while (e) s {P; Q'; X}", "is no part of"),
        (
            "{P; Q; X} s1 {P; Q'; X}   {P & e; Q; X} s1 {P; Q'; X}\n---\n{P; Q; X} if (e) s1 else s2 {P; Q'; X}",
            "two premises are about s1",
        ),
        ("{P; Q; X} s {P; Q; X}\n---\n{P; Q; X} if (e) s else s {P; Q; X}", ""),
        (
            "{P; Q1; X} s1 {P; Q; X}   P; X |- Q >= Q1\n---\n{P; Q; X} if (e) s1 else s2 {P; Q'; X}",
            "Q depends on itself",
        ),
        ("{P; Q; X} s {P; Q; X}\n---\n{P; Q; X} while (e) s {P & !e; Q; X}", "a turn of the loop begins with 'P'"),
        ("s = s1 without x\n{P; Q; X} s1 {P; Q'; X}\n---\n{P; Q; X} s {P; Q'; X}", "statements of any kind"),
        ("P; X |- e : M.if\n---\n{P; Q; X} x <- e {P; Q; X}", "the cost in 'P; X |- e : M.if' is no letter"),
    ],
)
def test_a_rule_whose_use_is_open_is_refused(text: str, sentence: str) -> None:
    rule = Rule("Q:Mine", text, "ours")
    if not sentence:
        assert isinstance(plan(rule).ahead[0], Prove)
        return
    with pytest.raises(RuleFileProblem, match=sentence):
        book_of(with_rules(rule))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("---\nP; X |- e : C", "expressions of any kind"),
        ("---\nP; X |- G[o] : M.gread(n)", "n has no value"),
        ("---\nP; X |- e1 op e2 : C1", "C1 has no value"),
        ("---\nP & e; X |- x : M.var", "it begins with 'P & e; X'"),
    ],
)
def test_a_rule_for_costs_whose_use_is_open_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(RuleFileProblem, match=sentence):
        book_of(with_rules(Rule("EQ:Mine", text, "ours")))


def test_rules_that_hold_derivations_together_stay() -> None:
    with pytest.raises(RuleFileProblem, match="the search cannot use Q:Weak: derivations are held together"):
        book_of(with_rules(replace(SOUND.rules["Q:Weak"], source="ours")))


def test_the_order_in_which_letters_get_their_values() -> None:
    found = plan(SOUND.rules["Q:If4"])
    ahead = [step.letter if isinstance(step, Bind) else step.premise for step in found.ahead]
    assert ahead.index("P'") < ahead.index(2)
    assert ahead.index(1) < ahead.index("X'") < ahead.index(2) < ahead.index("P''")
    back = [step.letter if isinstance(step, Bind) else step.premise for step in found.back]
    assert back.index("Q2") < back.index(2) < back.index("Q'") < back.index("Q1") < back.index(1) < back.index("Q")
    assert (found.base, found.head) == ("Q", False)
    assert plan(SOUND.rules["Q:While2"]).head
