"""`warpbound suite`: options, output, exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from checker.certificates import seconded
from checker.cli import main
from checker.recheck import Report
from checker.refutation.witness import Fill, Overrun, find_witnesses
from checker.suites import runner as suite

pytestmark = pytest.mark.usefixtures("bounds_once")

Capture = pytest.CaptureFixture[str]
ONE: Final = ("suite", "--kernel", "addSub3", "--metric", "sectors", "--jobs", "1")
KEYS: Final = {
    "kernel",
    "metric",
    "bound",
    "value",
    "racuda",
    "pico",
    "simulated",
    "ratio",
    "errors",
    "verdict",
    "check",
    "recheck",
    "certificate",
    "seconds",
}


def test_json(capsys: Capture) -> None:
    assert main([*ONE, "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    document = json.loads(printed.out)
    assert list(document) == ["version", "rows", "summary"]
    plain, aligned = document["rows"]
    assert set(plain) >= KEYS
    assert (plain["kernel"], plain["metric"], plain["per"]) == ("addSub3", "sectors", "warp")
    assert (plain["verdict"], plain["check"], plain["recheck"]) == ("certified", "accepted", "valid")
    assert (plain["value"], plain["racuda"], plain["pico"]) == (644, 654, 654)
    assert plain["simulated"] <= 644
    assert set(plain["errors"]) == {"32N", "32N+1", "random"}
    assert (aligned["given"], aligned["ratio"], aligned["exact"]) == (["w % 8 == 0"], 1, True)


def test_the_run_of_a_row_runs_again(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(suite.PROOFS.parent)
    main([*ONE, "--format", "json"])
    row = json.loads(capsys.readouterr().out)["rows"][0]
    command, *words = row["run"].split()
    assert (command, main([*words, "--format", "json"])) == ("warpbound", 0)
    assert json.loads(capsys.readouterr().out)["max_per_warp"]["sectors"] == row["simulated"]


@pytest.mark.parametrize("per", ["block", "grid"])
def test_blocks_and_grids(capsys: Capture, monkeypatch: pytest.MonkeyPatch, per: str) -> None:
    """Then there is nothing published to compare with; runs are of what the bound is about. Two warps show it."""
    known, *rest = suite.read_suite()
    small = replace(known["vectorAdd"], block=(64, 1, 1), sharper=())
    monkeypatch.setattr(suite, "read_suite", lambda: ({"vectorAdd": small}, *rest))
    words = ("suite", "--kernel", "vectorAdd", "--metric", "sectors", "--jobs", "1", "--per", per, "--format", "json")
    assert main(list(words)) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["per"], row["published"], row["racuda"], row["verdict"]) == (per, {}, None, "certified")
    assert row["ratio"] == 1


def test_formats(capsys: Capture, tmp_path: Path) -> None:
    page = tmp_path / "suite.md"
    words = ["suite", "--kernel", "vectorAdd", "--metric", "sectors", "--jobs", "1"]
    assert main([*words, "--format", "markdown", "-o", str(page)]) == 0
    assert capsys.readouterr().out == ""
    head = (
        "Made by `warpbound suite --format markdown --kernel vectorAdd --metric sectors` from `proofs/published.toml`."
    )
    assert head in page.read_text().splitlines()
    assert main([*words, "--format", "html"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")
    assert main(words) == 0
    assert "1 of 1 bounds are certified" in capsys.readouterr().out


def test_processes_give_the_same_in_the_same_order(capsys: Capture) -> None:
    def told(jobs: str) -> list[dict[str, Any]]:
        words = ["suite", "--metric", "divwarps", "--jobs", jobs, "--format", "json"]
        assert main([*words, "--kernel", "addSub1", "--kernel", "vectorAdd"]) == 0
        rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
        return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]

    two = told("2")
    assert [row["kernel"] for row in two] == ["vectorAdd", "vectorAdd", "addSub1"]
    assert two == told("1")


def test_not_every_row_agrees(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The exit code is 1 where the second checker says anything but `valid`."""

    monkeypatch.setattr(seconded, "recheck", lambda _: Report("solver-backed", "", ["one (by z3)"], "", ""))
    assert main([*ONE, "--format", "json"]) == 1
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (row["verdict"], row["check"], row["recheck"]) == ("solver-backed", "accepted", "solver-backed")
    assert main([*ONE, "--format", "sarif"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert found["ruleId"] == "solver-backed"
    assert main([*ONE, "--format", "sarif", "--accept", "solver-backed"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []
    monkeypatch.setattr(seconded, "recheck", lambda _: Report("invalid", "", [], "no", ""))
    assert main([*ONE, "--format", "json", "--accept", "solver-backed"]) == 1
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (row["verdict"], row["bound"], row["check"]) == ("not-proved", None, "")


def test_a_run_above_its_bound_is_told(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def overrun(kernel: Any, claims: Any, fill: Fill, at: Any, *rest: Any, **more: Any) -> None:
        (found,) = find_witnesses(kernel, claims, fill, at)
        if found:
            raise Overrun(claims[0], found)

    monkeypatch.setattr(suite, "find_witnesses", overrun)
    assert main([*ONE, "--format", "json"]) == 3
    err = capsys.readouterr().err
    assert "addSub3 sectors: a run costs more than the certified bound 4 + 20*max(0, ceil(h/2))" in err
    assert "warpbound run proofs/addSub3/kernel.cu --metric=sectors --block 32" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kernel", "addSub9"], "--kernel addSub9: not in the suite"),
        (["--jobs", "0"], "--jobs 0: not a positive number"),
        (["--metric", "time"], "--metric time: no such metric"),
    ],
)
def test_bad_options(capsys: Capture, words: list[str], message: str) -> None:
    assert main(["suite", *words]) == 2
    assert message in capsys.readouterr().err


def test_without_its_tree(monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    monkeypatch.setattr(suite, "PROOFS", tmp_path)
    assert main(["suite"]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_a_file_that_is_no_toml(monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "published.toml").write_text("[kernel.addSub3\n")
    monkeypatch.setattr(suite, "PROOFS", tmp_path)
    assert main(["suite"]) == 2
    assert "published.toml" in capsys.readouterr().err
