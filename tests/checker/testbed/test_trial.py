"""Trials: they find what is wrong in the print, say so in few words, and fail checkers that judge nothing."""

from __future__ import annotations

import functools
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker.cli import main
from checker.kernel import Ledger, Oracle, judgement_of
from checker.testbed import trial
from checker.testbed.derivations import rules_used
from checker.testbed.search import Report, rank, search, smaller, smallest, weight
from checker.testbed.trial import Coverage, Trial, derive, judged, performed, run_case, starts, tried
from logic.assertions import Context
from logic.derivation import Derivation
from logic.refusals import Refusal, Rejected
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


def about(name: str) -> Trial:
    """A trial with a seed that finds something soon."""
    return replace(tried(name), seed=3)


@functools.cache
def refuted(name: str) -> Report:
    """The first counterexample to a rule, as large as it comes."""
    return search(about(name), range(EXAMPLES), small=False)


@pytest.mark.parametrize("rule", ["If4", "While2"])
def test_a_printed_rule_is_refuted_on_its_own(rule: str) -> None:
    """Errata 1 to 3."""
    report = refuted(f"paper/{rule}")
    v = report.violation
    assert v is not None
    assert report.case is not None
    assert v.actual > v.claimed
    assert f"Q:{rule}" in rules_used(v.case.derivation)
    again = run_case(about(f"paper/{rule}"), report.case, Coverage())
    assert again is not None
    assert (again.claimed, again.actual, again.start) == (v.claimed, v.actual, v.start)


def test_the_end_of_the_printed_if4_is_refuted_on_its_own() -> None:
    """Erratum 2: with Q >= Q' and Q1 >= Q' asked for, but the end taken from s2 alone."""
    from checker.testbed.bugs import BUGS
    from checker.testbed.mutants import mutants

    bug = next(b for b in BUGS if b.name == "if4-printed-end")
    mutant = next(m for m in mutants() if m.bug is bug)
    assert search(mutant.trial(0), range(EXAMPLES), small=False).violation


@pytest.mark.parametrize("rule", ["OQ:Param", "Q:Seq"])
def test_where_nothing_is_wrong_nothing_is_found(rule: str) -> None:
    report = search(Trial(SOUND, (rule,), 5), range(40))
    assert report.violation is None
    assert report.coverage.rules[rule] >= 5


def test_counterexamples_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of all they lose negative claims, of which this trial's first has one."""
    monkeypatch.setattr("checker.testbed.search.MOST", 200)
    monkeypatch.setattr("checker.testbed.search.POLISH", 10)
    large = refuted("paper/If4").violation
    assert large is not None
    assert large.claimed < 0
    small = smallest(about("paper/If4"), large, random.Random(0))
    assert rank(small) < rank(large)
    assert small.claimed >= 0
    assert weight(small.case.program) < weight(large.case.program)
    assert judged(small.case, small.start, unrestricted=True) is not None


@pytest.mark.parametrize(
    ("rule", "case", "program", "claimed", "actual"),
    [
        ("If4", 21, "if (tid.x < 0) { x <- n; } else { x <- tid.x; }", 0, 1),
        ("While2", 48, "while (y < tid.x) { y <- y + 1; } if (tid.x == 0) { t <- 0; }", 1, 2),
    ],
)
def test_what_errata_quotes_is_what_is_shown(
    rule: str, case: int, program: str, claimed: int, actual: int, capsys: Capture
) -> None:
    """Errata 1 and 3: no negative claim, nothing to take away."""
    name = f"paper/{rule}"
    assert main(["trial", name, "--case", str(case), "--examples", "1", "--jobs", "1", "--format", "json"]) == 3
    found = json.loads(capsys.readouterr().out)["counterexample"]
    assert (" ".join(found["program"].split()), found["claimed"], found["actual"]) == (program, claimed, actual)
    assert (found["metric"], found["threads"]) == ("tick", [0, 1] if rule == "While2" else [1])


DERIVED = """
from checker.testbed.trial import derive, tried
for i in range(8, 16):
    case, rng = derive(tried("sound"), i)
    print(case and f"{case.claim.pre} {case.claim.post}", rng.random())
"""


def test_a_case_is_the_same_in_every_process() -> None:
    """Sets of names come in another order in each process, which must not matter."""

    def told(seed: str) -> str:
        env = os.environ | {"PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", DERIVED], env=env, capture_output=True, text=True, check=True
        ).stdout

    assert len(told("1").splitlines()) == 8
    assert told("1") == told("2")


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
    one, two = refuted("paper/If4"), search(about("paper/If4"), range(EXAMPLES), 2, small=False)
    assert one.violation is not None
    assert two.violation is not None
    assert (one.case, one.violation.start) == (two.case, two.violation.start)


# --- calibration: what the trials measure -----------------------------------------------------------------------------


def accepts_everything(root: Derivation, rules: RuleSet, context: Context, oracle: Oracle, ledger: Ledger) -> Any:
    """A checker that believes what the last rule concludes."""

    class Believed:
        judgement = judgement_of(rules.rules[root.rule].conclusion, dict(root.substitution), context)

    return Believed


def rejects_everything(root: Derivation, rules: RuleSet, context: Context, oracle: Oracle, ledger: Ledger) -> Any:
    """A checker that believes nothing."""
    raise Rejected(Refusal("depth"))


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
    text = capsys.readouterr().out
    assert text.startswith("sound survived 40 cases: ")
    assert max(map(len, text.splitlines())) <= 100
    assert set(told["covered"]["rules"]) <= {word.strip(",") for word in text.split()}


def test_a_counterexample_is_shown_and_found_again(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checker.testbed.search.MOST", 30)
    monkeypatch.setattr("checker.testbed.search.POLISH", 5)
    path = tmp_path / "once.py"
    path.write_text(ONCE)
    assert main(["trial", str(path), "--trust", "--examples", "400", "--jobs", "1", "--format", "json"]) == 3
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
        (["no-such.py"], "No such file or directory"),
        (["sound", "--page", "x.md"], "--page goes with --mutants"),
        (["paper", "--mutants"], "'paper' has no mutants"),
    ],
)
def test_what_cannot_be_tried_is_said(words: list[str], sentence: str, capsys: Capture) -> None:
    assert main(["trial", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_number_of_cases_is_a_number(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["trial", "sound", "--examples", "0"])
    assert caught.value.code == 2
    assert "'0' is no number" in capsys.readouterr().err
