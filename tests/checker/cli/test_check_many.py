"""`warpbound check` of several derivations and of folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main
from checker.fleet import tray
from tests.checker.cli.one_process import alone

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
GOOD = (PROOFS / "vectorAdd/sectors.json").read_text()
WEAK = (PROOFS / "addSub3/sectors.qhl").read_text().replace("4 + 10", "3 + 10")

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "found/deep").mkdir(parents=True)
    (tmp_path / "found/good.json").write_text(GOOD)
    (tmp_path / "found/deep/other.json").write_bytes((PROOFS / "matMul/sectors.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path / "found"


def test_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(tray, "run", alone)
    assert main(["check", "found"]) == 0
    text, lines = (out := capsys.readouterr().out), out.splitlines()
    assert [line for line in lines if line.startswith("accepted")] == [
        "accepted  found/deep/other.json",
        "accepted  found/good.json",
    ]
    assert "  every warp of vectorAdd costs at most 12 sectors" in lines
    assert text.count("every array starts at a multiple of 256 bytes") == 1
    assert text.count("    - blocks of ") == 2
    assert lines[-1] == "2 derivations: 2 accepted"
    (folder / "weak.qhl").write_text(WEAK)
    (folder / "cut.json").write_text(GOOD[:-100])
    (folder / "package.json").write_text("{}")
    assert main(["check", "found", "--format", "json"]) == 2
    printed = capsys.readouterr()
    assert "warning: 'found/package.json' is no certificate, and left out\n" in printed.err
    assert "error: 'found/cut.json' is no JSON document" in printed.err
    found = json.loads(printed.out)
    assert found["verdict"] == "unreadable"
    assert {row["file"]: row["verdict"] for row in found["results"]} == {
        "found/weak.qhl": "rejected",
        "found/cut.json": "unreadable",
        "found/deep/other.json": "accepted",
        "found/good.json": "accepted",
    }


def test_files(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(tray, "run", alone)
    (folder / "weak.qhl").write_text(WEAK)
    words = ["check", "found/good.json", "found/weak.qhl"]
    assert main(words) == 1
    text = capsys.readouterr().out
    assert text.splitlines()[-1] == "2 derivations: 1 rejected, 1 accepted"
    assert "  found/weak.qhl:15:3: Q:Weak" in text
    assert main([*words, "--format", "sarif"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["ruleId"] == "rejected"
    assert main([*words, "--tree"]) == 2
    assert "--tree is for one derivation alone" in capsys.readouterr().err
    (folder / "none").mkdir()
    assert main(["check", "found/none"]) == 2
    assert "there is no certificate and no outline in 'found/none'" in capsys.readouterr().err


def test_what_ends_or_takes_too_long_leaves_the_others(folder: Path, capsys: Capture) -> None:
    assert main(["check", "found", "--time-limit", "0.001", "--jobs", "1", "--format", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [(row["verdict"], row["problem"]) for row in rows] == [("timeout", "timeout: more than 0.001 s")] * 2
    assert main(["check", "found/good.json", "--memory-limit", "20", "--format", "sarif"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["ruleId"] == "out-of-memory"


def test_a_run_stops_at_the_first_that_is_refused(folder: Path, capsys: Capture) -> None:
    (folder / "a.qhl").write_text(WEAK)
    assert main(["check", "found", "--fail-fast", "--jobs", "1"]) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "1 derivation: 1 rejected"
    assert printed.err.endswith("warning: 3 derivations left out, not looked at to the end\n")
    assert main(["check", "found", "--jobs", "0"]) == 2
    assert "--jobs 0: not a positive number" in capsys.readouterr().err


def test_what_is_wrong_with_rules_is_told_once(folder: Path, capsys: Capture) -> None:
    Path("bad.rules").write_text("{P; Q; X} s {P'; Q'; X'}\n")
    assert main(["check", str(folder), "--rules", "bad.rules"]) == 2
    assert capsys.readouterr().err.count("a rule with no bar") == 1
    (folder / "weak.qhl").write_text(WEAK)
    Path("open.rules").write_text("--- Q:Open\n{P; Q; X} x <- e {P'; Q; X}\n")
    assert main(["check", str(folder), "--rules", "open.rules"]) == 1
    assert capsys.readouterr().err.count("the search cannot use Q:Open") == 1
