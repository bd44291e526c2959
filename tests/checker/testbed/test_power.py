"""The power of trials: rules that are wrong on purpose are found, and a verdict says how many of its kind are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from checker.cli import main
from checker.testbed.power import MEASURED, SHAPES, Power, measured, on_trial, power, shape, wrong
from checker.testbed.search import search
from checker.testbed.trial import Trial, derive, used_by
from logic.rules import SOUND
from tests.bench.power import page, table

FEW: Final = 24
"""A rule that is found within so many cases is tried here again."""


def test_all_are_measured_and_a_sample_is_found_where_the_table_says() -> None:
    at = measured()
    assert [rule.name for rule in wrong()] == list(at)
    assert len(wrong()) >= 60
    assert {shape(rule) for rule in wrong()} == {*SHAPES.values()} - {"assumptions"}
    cheap = [rule for rule in wrong() if 0 <= at[rule.name][0] <= FEW]
    assert len(cheap) >= 40
    for rule in cheap[::3]:
        found = search(on_trial(rule, 0), range(FEW + 1), small=False)
        assert found.case == at[rule.name][0], rule.name


def test_a_rule_that_says_what_is_left_begins_with_no_more_than_it_needs() -> None:
    """Potentials elsewhere are raised afterwards; with a rule that ends with 0 they begin with what suffices."""
    (rule,) = (rule for rule in wrong() if rule.name == "Q:IfDearerToNothing")
    for seed in (0, 2):
        report = search(on_trial(rule, seed), range(50), small=False)
        assert report.violation is not None, f"seed {seed}"
        claimed, actual = report.violation.claimed, report.violation.actual
        assert claimed < actual <= 2 * claimed + 1


def test_letters_wait_for_what_bounds_them() -> None:
    """X' <= X'' \\ W(s2) bounds X', which comes first in the rule, by X'', which only side conditions speak of."""
    (rule,) = (rule for rule in wrong() if rule.name == "Q:IfDearer")
    trial = on_trial(rule, 0)
    used = [case for i in range(60) if (case := derive(trial, i)[0]) is not None and used_by(trial, case)]
    assert len(used) >= 20


def test_a_verdict_says_what_such_a_trial_finds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.rules"
    text = SOUND.rules["Q:If2"].bar.replace("P |- e", "P |- e   P |- e")
    bar = next(line for line in text.splitlines() if line.strip().startswith("---"))
    own.write_text(text.replace(bar, f"{bar} Q:Mine").strip() + "\n  ours\n")
    assert main(["trial", str(own), "--examples", "40", "--jobs", "1"]) == 0
    found = power(Trial(SOUND, ("Q:If2",), 0), 40)
    assert (found.shapes, found.known) == (("branches",), 15)
    assert 10 <= found.found < 15
    told = f"of 15 wrong rules about branches a trial of 40 cases finds {found.found} (docs/power.md)"
    assert told in " ".join(capsys.readouterr().out.split())
    assert main(["trial", str(own), "--examples", "40", "--jobs", "1", "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)["power"]
    assert printed == {"shapes": ["branches"], "cases": 40, "known": 15, "found": found.found}
    assert power(Trial(SOUND, ("Q:Assume",), 0), 40) == Power(("assumptions",), 40, 0, 0)
    assert power(Trial(SOUND, ("Q:If2", "Q:Skip"), 0), 10**6).known == 16


def test_the_page_and_the_table_say_what_was_measured() -> None:
    rows = [[(3, 0.5), (-1, 20.0)] for _ in wrong()]
    told = page(rows, 100)
    assert f"| trials | {2 * len(wrong())} |" in told
    assert f"| that found the mistake | {len(wrong())} |" in told
    assert "| Q:SyncFree | barriers | A barrier that costs nothing. | 3, not found |" in told
    assert '"Q:SyncFree" = [3, -1]' in table(rows)
    assert MEASURED.read_text().startswith(table(rows).split("[cases]")[0])
