"""docs/own-rule.md does what it says: a rule refuted, the mended one, a derivation that uses it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from checker.cli import main

Capture = pytest.CaptureFixture[str]
PAGE = Path("docs/own-rule.md").read_text(encoding="utf-8")
BROKEN, MENDED = re.findall(r"```rules\n(.*?)```", PAGE, re.DOTALL)
(KERNEL,) = re.findall(r"```cuda\n(.*?)```", PAGE, re.DOTALL)
(SCRIPT,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
COUNTEREXAMPLE, BOUGHT, ACCEPTED = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def timeless(text: str) -> str:
    return re.sub(r"[\d.]+ s$", "", text, flags=re.MULTILINE)


def test_the_first_try_is_refuted(folder: Path, capsys: Capture) -> None:
    (folder / "once.rules").write_text(BROKEN)
    assert main(["trial", "once.rules", "--jobs", "1"]) == 3
    assert timeless(capsys.readouterr().out) == timeless(COUNTEREXAMPLE)


def test_the_mended_rule_survives(folder: Path, capsys: Capture) -> None:
    (folder / "once.rules").write_text(MENDED)
    assert main(["trial", "once.rules", "--examples", "60", "--jobs", "1"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("once.rules survived 60 cases")
    assert re.search(r"Q:Once ([5-9]|\d\d)", told)


def test_what_it_would_buy_is_said(folder: Path, capsys: Capture) -> None:
    (folder / "once.rules").write_text(MENDED)
    (folder / "own.cu").write_text(KERNEL)
    words = ["bound", "own.cu", "--rules", "once.rules", "--block", "256", "--metric", "steps", "--tight"]
    assert main(words) == 1
    assert capsys.readouterr().out == BOUGHT
    (folder / "once.rules").write_text(BROKEN)
    assert main(words) == 3
    told = capsys.readouterr().out
    assert "on trial  16\n" in told
    assert "refuted   a run costs 20 steps, where the bound on trial is 16\n" in told


def test_a_derivation_uses_it_and_is_no_certificate(folder: Path, capsys: Capture) -> None:
    (folder / "once.rules").write_text(MENDED)
    (folder / "apply.py").write_text(SCRIPT)
    subprocess.run([sys.executable, "apply.py"], check=True)
    assert main(["check", "own.json", "--rules", "once.rules"]) == 1
    told = capsys.readouterr().out
    assert told == ACCEPTED
    assert "certifies nothing" in told
    assert main(["check", "own.json"]) == 1
    assert "another rule set" in capsys.readouterr().out
    assert main(["recheck", "own.json"]) != 0
    capsys.readouterr()
    (folder / "once.rules").write_text(BROKEN)
    assert main(["check", "own.json", "--rules", "once.rules"]) == 1
    assert capsys.readouterr().out.startswith("rejected: Q:Once")
