"""Rule files: what they add, and what is said of files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.rulefile import RuleFileProblem, rule_set
from logic.rules import SOUND

GOOD = '''from logic.schema import Rule

RULES = (Rule("Q:Mine", """
    --------------------------
    {P; Q; X} skip {P; Q; X}
""", "mine"),)
'''


def written(folder: Path, text: str, name: str = "mine.py") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_file_adds_to_the_sound_rules(tmp_path: Path) -> None:
    rules = rule_set(written(tmp_path, GOOD))
    assert rules.rules.keys() - SOUND.rules.keys() == {"Q:Mine"}
    assert rules is not SOUND


def test_no_file_can_call_itself_sound(tmp_path: Path) -> None:
    assert rule_set(written(tmp_path, GOOD, "sound.py")).name == "sound.py"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("RULES = (", "this is no Python"),
        ("RULES = ()", "defines no rules"),
        ("x = 1", "defines no rules"),
        ("RULES = ('Q:Odd',)", "defines no rules"),
        ("raise ValueError('why not')", "ValueError: why not"),
        ("raise SystemExit(0)", "SystemExit"),
        (GOOD.replace("skip", "hop"), "is no statement"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(RuleFileProblem) as caught:
        rule_set(written(tmp_path, text))
    assert sentence in caught.value.message


@pytest.mark.parametrize("name", ["nope", "no-such.py"])
def test_what_is_not_there_is_said(name: str) -> None:
    with pytest.raises(RuleFileProblem):
        rule_set(name)
