"""Trials: they find what is wrong in the print, say so in few words, and fail checkers that judge nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checker.cli import main
from checker.kernel import Ledger, Oracle, Rejected, judgement_of
from checker.testbed import trial
from checker.testbed.derivations import rules_used
from checker.testbed.search import rank, search, smaller, weight
from checker.testbed.trial import Coverage, Trial, derive, judged, performed, run_case, starts, tried
from logic.assertions import Context
from logic.derivation import Derivation
from logic.rules import SOUND, RuleSet
from logic.syntax import Assign, Const, If, Op, Skip, Tid, While, seq

Capture = pytest.CaptureFixture[str]
EXAMPLES = 1500

ONCE = """from logic.schema import Rule

RULES = (Rule("Q:Once", '''
    P; X |- e : C   P |- e   P' |- !e
    {P; Q; X} s {P'; Q'; X'}
    ---------------------------------------------
    {P; Q + M.if + C; X} while (e) s {P'; Q'; X'}
''', "ours"),)
"""


@pytest.mark.parametrize("rule", ["If4", "While2"])
def test_a_printed_rule_is_refuted_on_its_own(rule: str) -> None:
    """Errata 1 to 3."""
    about = tried(f"paper/{rule}")
    report = search(about, range(EXAMPLES), small=False)
    v = report.violation
    assert v is not None
    assert report.case is not None
    assert v.actual > v.claimed
    assert f"Q:{rule}" in rules_used(v.case.derivation)
    again = run_case(about, report.case, Coverage())
    assert again is not None
    assert (again.claimed, again.actual, again.start) == (v.claimed, v.actual, v.start)


def test_the_end_of_the_printed_if4_is_refuted_on_its_own() -> None:
    """Erratum 2: with Q >= Q' and Q1 >= Q' asked for, but the end taken from s2 alone."""
    from checker.testbed.bugs import BUGS
    from checker.testbed.mutants import mutants

    bug = next(b for b in BUGS if b.name == "if4-printed-end")
    mutant = next(m for m in mutants() if m.bug is bug)
    assert search(mutant.trial(0), range(EXAMPLES), small=False).violation


@pytest.mark.parametrize("rule", ["OQ:Param", "Q:VWrite2", "Q:Seq"])
def test_where_nothing_is_wrong_nothing_is_found(rule: str) -> None:
    report = search(Trial(SOUND, (rule,), 5), range(60))
    assert report.violation is None
    assert report.coverage.rules[rule] >= 10


def test_counterexamples_shrink() -> None:
    about = tried("paper/While2")
    large = search(about, range(EXAMPLES), small=False).violation
    small = search(about, range(EXAMPLES)).violation
    assert large is not None
    assert small is not None
    assert rank(small) <= rank(large)
    assert weight(small.case.program) <= 20
    assert judged(small.case, small.start, True) is not None


def test_smaller_programs_are_smaller() -> None:
    body = seq(
        While(Op("<", (Tid("x"), Const(2))), Assign("x", Const(3))),
        If(Op("!", (Op("<", (Tid("x"), Const(1))),)), Skip(), Skip()),
    )
    options = list(smaller(body))
    assert len(options) > 8
    assert all(weight(s) <= weight(body) for s in options)
    assert any(weight(s) < weight(body) for s in options)


def test_states_satisfy_the_precondition() -> None:
    found = 0
    for index in range(20):
        case, rng = derive(Trial(SOUND, (), 3), index)
        for start in starts(case, rng, 5) if case else ():
            assert case is not None
            found += 1
            for x in case.claim.pre.x & start.locals.keys():
                assert len({start.locals[x][i] for i in start.threads}) == 1
            assert performed(case, start).cost >= 0
    assert found >= 30


def test_jobs_do_not_change_what_is_found() -> None:
    about = tried("paper/If4")
    one, two = (search(about, range(200), jobs, small=False) for jobs in (1, 2))
    assert (one.case, one.violation) == (two.case, two.violation)


# --- calibration: what the trials measure -----------------------------------------------------------------------------


def accepts_everything(root: Derivation, rules: RuleSet, context: Context, oracle: Oracle, ledger: Ledger) -> Any:
    """A checker that believes what the last rule concludes."""

    class Believed:
        judgement = judgement_of(rules.rules[root.rule].conclusion, dict(root.substitution), context)

    return Believed


def rejects_everything(root: Derivation, rules: RuleSet, context: Context, oracle: Oracle, ledger: Ledger) -> Any:
    """A checker that believes nothing."""
    raise Rejected("no")


def test_a_checker_that_accepts_everything_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert search(Trial(SOUND, (), 0), range(100), small=False).violation is None
    monkeypatch.setattr(trial, "check", accepts_everything)
    assert search(Trial(SOUND, (), 0), range(100), small=False).violation is not None


@pytest.mark.parametrize(("checker", "code"), [(rejects_everything, 1), (accepts_everything, 3)])
def test_the_command_fails_checkers_that_judge_nothing(
    checker: Callable[..., Any], code: int, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(trial, "check", checker)
    assert main(["trial", "sound", "--examples", "100", "--jobs", "1"]) == code
    assert capsys.readouterr().out


# --- the command ------------------------------------------------------------------------------------------------------


def test_survivors_are_told_of(capsys: Capture) -> None:
    assert main(["trial", "sound", "--examples", "40", "--jobs", "1", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rules"], told["examples"], told["violations"], told["counterexample"]) == ("sound", 40, 0, None)
    assert told["covered"]["derivations"] >= 15
    assert set(told["covered"]["rules"]) <= set(SOUND.rules)
    assert main(["trial", "sound", "--examples", "40", "--jobs", "1"]) == 0
    assert capsys.readouterr().out.startswith("sound survived 40 cases: ")


def test_a_counterexample_is_shown_and_found_again(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "once.py"
    path.write_text(ONCE)
    assert main(["trial", str(path), "--examples", "400", "--jobs", "1", "--format", "json"]) == 3
    told = json.loads(capsys.readouterr().out)
    found = told["counterexample"]
    assert told["violations"] == 1
    assert set(found) >= {"program", "derivation", "store", "threads", "claimed", "actual", "replay"}
    assert "Q:Once" in json.dumps(found["derivation"])
    words = found["replay"].split()
    assert words[:2] == ["warpbound", "trial"]
    assert main([*words[1:], "--format", "json"]) == 3
    again = json.loads(capsys.readouterr().out)["counterexample"]
    assert {k: again[k] for k in ("program", "claimed", "actual", "store")} == {
        k: found[k] for k in ("program", "claimed", "actual", "store")
    }
    assert main(words[1:]) == 3
    text = capsys.readouterr().out
    assert "---- Q:Once" in text
    assert "again     warpbound trial" in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["none"], "no rule set is called 'none'"),
        (["paper/If9"], "no rule is called 'If9' in 'paper'"),
        (["no-such.py"], "no such file"),
        (["sound", "--examples", "0"], "'0' is no number"),
        (["sound", "--page", "x.md"], "--page goes with --mutants"),
        (["paper", "--mutants"], "'paper' has no mutants"),
    ],
)
def test_what_cannot_be_tried_is_said(words: list[str], sentence: str, capsys: Capture) -> None:
    assert main(["trial", *words]) == 2
    assert sentence in capsys.readouterr().err
