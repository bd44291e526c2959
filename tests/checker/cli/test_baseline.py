"""`warpbound baseline`, `diff` and `cache`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from checker.cli import main
from checker.fleet import cache
from tests.checker.cli.test_fleet import FAST, ONE, here
from tests.checker.fleet.test_judge import ABOUT, GOOD, OTHER

__all__ = ["here"]
Capture = pytest.CaptureFixture[str]


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], check=True, capture_output=True)  # noqa: S607


def test_a_baseline_a_change_and_a_revision(here: Path, capsys: Capture) -> None:
    source = here / "src/a.cu"
    source.write_text(ONE)
    assert main(["baseline", "src", *FAST, "-o", "old.json"]) == 0
    git("init", "-q")
    git("add", "src", "old.json")
    git("commit", "-q", "-m", "one")
    assert main(["diff", "old.json", "HEAD", "--path", "src", *FAST]) == 0
    assert capsys.readouterr().out == "1 same\n"
    source.write_text(ONE.replace("[threadIdx.x]", "[2 * threadIdx.x]"))
    assert main(["diff", "old.json", "src", *FAST, "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["kernel"], row["change"], row["old"], row["new"]) == ("one", "grew", "4", "8")
    assert list((here / "cache/warpbound").glob("*/*.json"))  # what was known before is not searched again


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["diff", "old.json", "nothing"], "'nothing' is no file, folder or git revision"),
        (["diff", "old.json", "--", "-x"], "'-x' is no file, folder or git revision"),
        (["diff", "src/a.cu", "old.json"], "'src/a.cu' is no baseline"),
        (["diff", "other.json", "old.json"], "a baseline of version 7, not 1"),
        (["baseline", "nowhere"], "cannot read 'nowhere'"),
        (["baseline", "src", "-o", "no/old.json"], "-o no/old.json: No such file or directory"),
        (["cache", "info", "--cache", "old.json"], "--cache old.json: Not a directory"),
    ],
)
def test_unusable_input(words: list[str], problem: str, here: Path, capsys: Capture) -> None:
    (here / "src/a.cu").write_text(ONE)
    (here / "old.json").write_text('{"format": "warpbound baseline", "version": 1, "rows": []}')
    (here / "other.json").write_text('{"format": "warpbound baseline", "version": 7, "rows": []}')
    assert main(words) == 2
    assert problem in capsys.readouterr().err


def test_both_sides_are_there_before_one_is_bounded(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (here / "src/a.cu").write_text(ONE)
    monkeypatch.setattr("checker.cli.fleet.analysed", lambda _: pytest.fail("the old side is bounded"))
    assert main(["diff", "src", "nothing"]) == 2
    assert "'nothing' is no file, folder or git revision" in capsys.readouterr().err


def test_the_cache_is_looked_at_judged_and_cleared(here: Path, capsys: Capture) -> None:
    kept = cache.opened(here / "c", "1")
    cache.keep(kept, ABOUT, GOOD)
    cache.keep(kept, "other", OTHER.replace('"sound"', '"paper"'))
    cache.keep(kept, "broken", "{")
    assert main(["cache", "info", "--cache", "c", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificates"] == 3
    assert main(["cache", "verify", "--cache", "c", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["valid"] == 1
    problems = sorted(one["problem"] for one in found["refused"])
    assert problems == ["it is no certificate", "the digest is not that of the content"]
    assert main(["cache", "clear", "--cache", "c"]) == 0
    assert "removed: 3" in capsys.readouterr().out
    assert main(["cache", "verify", "--cache", "nowhere"]) == 0
