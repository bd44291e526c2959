"""The long trial in parts: what it adds up, that it goes on where it stopped, and that it stops at a violation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.report.trials import as_json
from checker.testbed.search import search
from checker.testbed.trial import Trial
from logic.rules import SOUND
from tests.bench.million import contracts_section, million, page, part, together


def test_parts_are_the_whole(tmp_path: Path) -> None:
    total = million(2, 15, 7, 2, tmp_path)
    trial = Trial(SOUND, (), 7)
    whole = as_json("sound", trial, search(trial, range(30)))
    assert total["examples"] == 30
    assert total["violations"] == 0
    assert {name: total[name] for name in ("derivations", "runs", "divergent", "unended")} == {
        name: whole["covered"][name] for name in ("derivations", "runs", "divergent", "unended")
    }
    assert total["rules"] == whole["covered"]["rules"]
    assert total["loop depths"] == whole["covered"]["loop depths"]
    text = page(total, 7, 2, "A note.")
    assert f"| their runs | {total['runs']:,} |" in text
    assert "A note." in text


def test_a_part_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    made = part(0, 3, 7, tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(json.dumps(made | {"examples": 99}), encoding="utf-8")
    assert part(0, 3, 7, tmp_path)["examples"] == 99
    assert part(0, 2, 7, tmp_path)["examples"] == 2


def test_a_violation_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "warpbound"
    fake.write_text("#!/bin/sh\necho a counterexample\nexit 3\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(RuntimeError, match="a counterexample"):
        million(1, 5, 7, 1, tmp_path / "parts")
    assert not list((tmp_path / "parts").iterdir())


def test_each_trial_keeps_the_part_of_the_other(tmp_path: Path) -> None:
    total = million(1, 12, 7, 1, tmp_path, trial="contracts")
    assert total["examples"] == 12
    section = contracts_section(total, 7, 1, 1, 12, "A note.")
    assert "| cases | 12 |" in section
    assert "\nA note.\n" in section
    both = together("# A long trial\n\nold\n", section)
    assert both.startswith("# A long trial\n\nold\n\n## Contracts on data\n")
    again = together(both, "# A long trial\n\nnew\n")
    assert again.startswith("# A long trial\n\nnew\n\n## Contracts on data\n")
    assert again.partition("## ")[2] == both.partition("## ")[2]
    assert together(again, section) == again
    assert {file.name for file in tmp_path.iterdir()} == {"contracts-7-0-12.json"}
