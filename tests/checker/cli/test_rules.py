"""`warpbound rules`: the bars that the kernel reads, for people, for programs and for TeX."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main
from logic.rules import RULE_SETS, SOUND
from logic.schema import parse_item, show

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("name", RULE_SETS)
def test_json_says_what_the_rules_are(name: str, capsys: Capture) -> None:
    assert main(["rules", "--set", name, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == list(RULE_SETS[name].rules)
    for row in rows:
        rule = RULE_SETS[name].rules[row["name"]]
        assert set(row) == {"name", "premises", "side_conditions", "conclusion", "source", "notes"}
        assert [parse_item(t) for t in row["premises"]] == list(rule.premises)
        assert [parse_item(t) for t in row["side_conditions"]] == list(rule.side_conditions)
        assert parse_item(row["conclusion"]) == rule.conclusion
        assert row["source"]


@pytest.mark.parametrize("name", ["Q:If4", "If4"])
def test_one_rule_by_either_name(name: str, capsys: Capture) -> None:
    assert main(["rules", name]) == 0
    text = capsys.readouterr().out
    rule = SOUND.rules["Q:If4"]
    assert text.count("---- Q:If4\n") == 1
    assert "Q:If1" not in text
    for item in (*rule.items, rule.conclusion):
        assert show(item) in text
    assert rule.source in text
    assert " ".join(rule.notes.split()) in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100


def test_every_rule_has_its_bar(capsys: Capture) -> None:
    assert main(["rules"]) == 0
    text = capsys.readouterr().out
    for name in SOUND.rules:
        assert f"--- {name}\n" in text


def test_latex(capsys: Capture) -> None:
    assert main(["rules", "While1", "--format", "latex"]) == 0
    assert "\\" in capsys.readouterr().out


def test_a_file_takes_the_output(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "rules.json"
    assert main(["rules", "Q:Skip", "--format", "json", "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert [row["name"] for row in json.loads(out.read_text())] == ["Q:Skip"]


@pytest.mark.parametrize(("words", "known"), [(["If5"], "Q:If4"), (["q:if4"], "Q:If4"), (["--set", "best"], "sound")])
def test_what_is_not_there(words: list[str], known: str, capsys: Capture) -> None:
    assert main(["rules", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert known in printed.err
