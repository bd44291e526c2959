"""Baselines: what grew, shrank, came, went, and what is no baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.fleet import baseline
from checker.fleet.judge import judged
from checker.notation.problem import OptionProblem
from tests.checker.fleet.test_judge import ABOUT, GOOD, desk


def document(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    """The baseline of vectorAdd, with other values in its row."""
    found, job, read = desk(tmp_path)
    found.asked(job, 0, read)
    found.finish()
    found._judged((0, 0, 0), read, judged(GOOD, ABOUT), 1.0, False, GOOD)
    made = json.loads(json.dumps(baseline.made(found)))
    made["rows"][0].update(changes)
    return dict(made)


def dearer(made: dict[str, Any], by: int = 1) -> dict[str, Any]:
    """The same, with a bound that is higher by so much a thread of the vector."""
    claim = json.loads(json.dumps(made))
    row = claim["rows"][0]
    row["claim"]["potentials"][0].append([str(by), [["param", "numElements"]]])
    row["bound"] = f"12 + {by}*numElements"
    return dict(claim)


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[dict[str, Any]]:
    return baseline.difference(baseline.entries(old, "old"), baseline.entries(new, "new"))


def test_what_changed(tmp_path: Path) -> None:
    made = document(tmp_path)
    (row,) = changes(made, made)
    assert (row["change"], row["old"], row["new"], row["at"]) == ("same", "12", "12", None)
    (row,) = changes(made, dearer(made))
    assert (row["change"], row["at"], row["before"], row["after"]) == ("grew", {"numElements": 1}, 12, 13)
    (row,) = changes(
        dearer(made, 2), dearer(made)
    )  # less where the vector has elements, more where it has less than none
    assert row["change"] == "grew"
    assert row["at"]["numElements"] < 0
    (lost,) = changes(made, document(tmp_path, claim=None, verdict="not-proved"))
    (found,) = changes(document(tmp_path, claim=None), made)
    (still,) = changes(document(tmp_path, claim=None), document(tmp_path, claim=None))
    assert [r["change"] for r in (lost, found, still)] == ["lost", "found", "open"]
    both = changes(document(tmp_path, kernel="before"), made)
    assert [(r["kernel"], r["change"]) for r in both] == [("vectorAdd", "appeared"), ("before", "disappeared")]
    assert [baseline.exit_code([r]) for r in (lost, found, still, *both)] == [1, 0, 0, 0, 0]


def test_kernels_of_one_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    one, two = document(tmp_path), dearer(document(tmp_path, file="b.cu"))
    old = one | {"rows": [*one["rows"], *two["rows"]]}
    new = one | {"rows": [*two["rows"], *one["rows"]]}
    assert [(r["file"], r["change"]) for r in changes(old, new)] == [("b.cu", "same"), ("a.cu", "same")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["src/a.cu", "src/b.cu"], ["a.cu", "b.cu"]),  # the folder, looked at from inside
        (["a.cu", "b.cu"], ["src/b.cu", "src/a.cu"]),
        (["old/x/k.cu", "old/y/k.cu"], ["new/y/k.cu", "new/x/k.cu"]),
    ],
)
def test_a_folder_may_be_looked_at_from_elsewhere(before: list[str], after: list[str], tmp_path: Path) -> None:
    """None appears where one of its name and file grew."""
    one = document(tmp_path)
    old = one | {"rows": [row for file in before for row in document(tmp_path, file=file)["rows"]]}
    new = one | {"rows": [row for file in after for row in dearer(document(tmp_path, file=file))["rows"]]}
    found = changes(old, new)
    assert [(r["file"], r["change"]) for r in found] == [(file, "grew") for file in after]
    other = one | {"rows": [{**row, "file": f"{i}.cu"} for i, row in enumerate(new["rows"])]}
    assert [r["change"] for r in changes(old, other)] == ["appeared", "appeared", "disappeared", "disappeared"]


def test_what_is_assumed_on_top_is_said(tmp_path: Path) -> None:
    made = document(tmp_path)
    more = document(tmp_path, assumptions=[*made["rows"][0]["assumptions"], "given: numElements > 0"])
    (row,) = changes(made, more)
    assert (row["change"], row["added"]) == ("same", ["given: numElements > 0"])
    assert "it also assumes: given: numElements > 0" in baseline.as_text([row])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda _: None, "is no baseline"),
        (lambda _: [], "is no baseline"),
        (lambda d: d | {"format": "x"}, "is no baseline"),
        (lambda d: d | {"version": 9}, "is a baseline of version 9, not 1"),
        (lambda d: d | {"rows": 3}, "is no baseline"),
        (lambda d: d | {"rows": [{}]}, "is no baseline"),
        (lambda d: d | {"rows": [d["rows"][0] | {"claim": {"format": "warpbound certificate"}}]}, "is no baseline"),
    ],
)
def test_what_is_no_baseline(change: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(OptionProblem, match=problem):
        baseline.entries(change(document(tmp_path)), "b.json")
