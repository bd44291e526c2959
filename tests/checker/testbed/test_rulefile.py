"""Rule files, as text and as Python: what they add, and what is said of files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main
from checker.report.rejection import draw
from checker.testbed.rulefile import NOTHING, RuleFileProblem, rule_set
from logic.rules import PAPER, SOUND, RuleSet

Capture = pytest.CaptureFixture[str]

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
    rules = rule_set(written(tmp_path, GOOD), trust=True)
    assert rules.rules.keys() - SOUND.rules.keys() == {"Q:Mine"}
    assert rules is not SOUND


def test_no_file_can_call_itself_sound(tmp_path: Path) -> None:
    assert rule_set(written(tmp_path, GOOD, "sound.py"), trust=True).name == "sound.py"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("RULES = (", "this is no Python"),
        ("RULES = ()", "defines no rules"),
        ("x = 1", "defines no rules"),
        ("RULES = ('Q:Odd',)", "defines no rules"),
        ("raise ValueError('why not')", "ValueError: why not"),
        ("raise SystemExit(0)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("class Odd(BaseException): pass\nraise Odd(7)", "Odd: 7"),
        (GOOD.replace("skip", "hop"), "is no statement"),
        ("import os; os._exit(0)", "ended the process"),
        ("import os; os.kill(os.getpid(), 9)", "ended the process"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(RuleFileProblem) as caught:
        rule_set(written(tmp_path, text), trust=True)
    assert sentence in caught.value.message


@pytest.mark.parametrize("name", ["nope", "no-such.py"])
def test_what_is_not_there_is_said(name: str) -> None:
    with pytest.raises(RuleFileProblem):
        rule_set(name)


# --- rules as text ----------------------------------------------------------------------------------------------------

TEXT = """# A rule of mine.

    X <= X'
    --- Q:Mine
    {P; Q; X} skip {P; Q; X}
    ours
    for a test
"""


def test_rules_as_text(tmp_path: Path) -> None:
    rules = rule_set(written(tmp_path, TEXT, "sound.rules"))
    assert rules is not SOUND
    assert rules.name == "sound.rules"
    (mine,) = (rules.rules[name] for name in rules.rules.keys() - SOUND.rules.keys())
    assert (mine.name, mine.source, mine.notes, len(mine.side_conditions)) == ("Q:Mine", "ours", "for a test", 1)


@pytest.mark.parametrize("known", [SOUND, PAPER], ids=["sound", "paper"])
def test_what_rules_prints_is_a_rule_file(known: RuleSet, tmp_path: Path) -> None:
    printed = "\n\n".join("\n".join([*draw(r), f"  {r.source}", r.notes]) for r in known.rules.values())
    found = rule_set(written(tmp_path, printed, "all.rules")).rules
    assert found.keys() == SOUND.rules.keys() | known.rules.keys()
    for name, rule in known.rules.items():
        assert (found[name].items, found[name].conclusion) == (rule.items, rule.conclusion)


@pytest.mark.parametrize(
    ("text", "sentence", "line", "column"),
    [
        ("", "defines no rules", None, None),
        ("# only this", "defines no rules", None, None),
        ("\n{P; Q; X} skip {P; Q; X}", "no bar with a name", 2, 1),
        ("----\n{P; Q; X} skip {P; Q; X}", "no bar with a name", 1, 1),
        ("--- Q:A\n--- Q:B\n{P; Q; X} skip {P; Q; X}", "more than one bar", 1, 1),
        ("---- Q:A", "has no conclusion", 1, 6),
        ("---- A\n{P; Q; X} skip {P; Q; X}", "'A' is no name for a rule", 1, 6),
        ("---- Q:A\n X <= X", "a conclusion is a triple or a cost judgement", 1, 6),
        ("---- Q:A\n {P; Q; X} hop {P; Q; X}", "is no statement", 2, 2),
        ("X <= X   X <= ?\n---- Q:A\n{P; Q; X} skip {P; Q; X}", "'?'", 1, 10),
        (f"---- Q:A\n{'{'} P; Q; {'(' * 5000}X", "nested too deeply", 2, 1),
        (TEXT + "\n" + TEXT, "two rules called Q:Mine", 12, 9),
    ],
)
def test_what_is_wrong_with_a_text_is_said_at_its_place(
    tmp_path: Path, text: str, sentence: str, line: int | None, column: int | None
) -> None:
    with pytest.raises(RuleFileProblem) as caught:
        rule_set(written(tmp_path, text, "mine.rules"))
    assert sentence in caught.value.message
    place = caught.value.loc
    assert (place and place.line, place and place.column) == (line, column)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "mine.rules").write_bytes(b"\xff")
    with pytest.raises(RuleFileProblem, match="not UTF-8"):
        rule_set(str(tmp_path / "mine.rules"))
    with pytest.raises(RuleFileProblem, match="no name for a rule file"):
        rule_set(written(tmp_path, TEXT, "x', which is certified\n.rules"))


# --- rules as Python --------------------------------------------------------------------------------------------------

LOUD = (
    """import atexit, os, sys
print("accepted: certified", flush=True)
os.write(1, b"certified\\n")
atexit.register(print, "certified")
os.close(1)
sys.stdout = sys.stderr = None
import checker.cli, logic.rules
logic.rules.SOUND.rules.clear()
checker.cli.check = None
"""
    + GOOD
)


@pytest.mark.parametrize(
    "words",
    ["check proofs/addSub3/sectors.qhl --rules", "bound proofs/addSub3/kernel.cu --rules", "rules --set", "trial"],
)
def test_a_file_of_python_is_run_with_trust_alone(words: str, tmp_path: Path, capsys: Capture) -> None:
    """Without, nothing of it runs, and a sentence says what it would do."""
    path, ran = written(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')\n{GOOD}"), tmp_path / "ran"
    assert main([*words.split(), path]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        f"warpbound: error: '{path}' would be run as Python, and may do whatever you may\n"
        "  Read it and say --trust, or write rules as text, FILE.rules: no code runs.\n"
    )
    assert not ran.exists()
    rule_set(path, trust=True)
    assert ran.exists()
    rule_set(written(tmp_path, TEXT, "mine.rules"))
    assert capsys.readouterr().err == ""


def test_nothing_that_a_file_does_reaches_the_result(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It prints, closes and changes what it likes: in a process of its own."""
    path, before = written(tmp_path, LOUD), len(SOUND.rules)
    outline = "proofs/addSub3/sectors.qhl"
    assert main(["check", outline, "--rules", path, "--trust"]) == 1
    printed = capfd.readouterr()
    assert printed.out.startswith("accepted under the rule set 'mine.py', which certifies nothing: ")
    assert printed.out.endswith(f"\n\n{NOTHING}\n")
    said = [line for line in printed.err.splitlines() if "certified" in line]
    assert said
    assert all(line.startswith("mine.py prints: ") for line in said)
    assert len(SOUND.rules) == before


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html", "sarif"])
@pytest.mark.parametrize("words", ["check proofs/addSub3/sectors.qhl --rules", "trial --examples 3 --jobs 1"])
def test_every_result_says_that_nothing_is_certified(words: str, form: str, tmp_path: Path, capsys: Capture) -> None:
    """Accepted, survived or not, in every format."""
    main([*words.split(), written(tmp_path, TEXT, "mine.rules"), "--format", form])
    printed = capsys.readouterr().out
    if form == "json":
        assert json.loads(printed)["certifies"] is False
    else:
        assert "This certifies nothing" in printed


@pytest.mark.parametrize("rules", ["paper", "sound"])
@pytest.mark.parametrize("words", ["check proofs/addSub3/sectors.qhl --rules", "trial --examples 3 --jobs 1"])
def test_only_the_sound_rules_certify(words: str, rules: str, capsys: Capture) -> None:
    main([*words.split(), rules, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["certifies"] is (rules == "sound")
