"""`warpbound compare`: a new version of a kernel held against the old one, by certificates and by runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.analysis import compared
from checker.cli import main
from checker.recheck import Report
from checker.synthesis.bound import judged
from logic.metrics import METRICS

Capture = pytest.CaptureFixture[str]

OLD = """__global__ void k(const int *a, int *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { int v = a[i]; c[i] = v + v; }
}
"""


@pytest.fixture
def rows(tmp_path: Path, capsys: Capture) -> Any:
    """The exit code and the rows of a comparison of two sources."""

    def told(old: str, new: str, *words: str, code: int) -> list[dict[str, Any]]:
        (tmp_path / "old.cu").write_text(old)
        (tmp_path / "new.cu").write_text(new)
        paths = [str(tmp_path / "old.cu"), str(tmp_path / "new.cu")]
        assert main(["compare", *paths, "--block", "256", "--format", "json", *words]) == code
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
        return found

    return told


def test_no_dearer(rows: Any) -> None:
    found = rows(OLD, OLD.replace("v + v", "2 * v"), code=0)
    assert [(r["metric"], r["verdict"]) for r in found] == [(metric, "certified") for metric in METRICS]
    bounds = {r["metric"]: (r["old"], r["new"]) for r in found}
    known = {"sectors": ("8", "8"), "conflicts": ("0", "0"), "divwarps": ("1", "1"), "steps": ("25", "25")}
    assert bounds | known == bounds
    assert "blocks of 256" in found[0]["assumptions"]


def test_cheaper_is_certified_with_the_old_bound(rows: Any) -> None:
    """The certificate is of the new program: its claim is the old bound, by Q:Weak."""
    old = OLD.replace("int v = a[i];", "int v = a[i]; for (int j = 0; j < n; j++) v += a[i + j];")
    (row,) = rows(old, OLD, "--metric", "sectors", code=0)
    assert (row["verdict"], row["new"]) == ("certified", "8")
    assert row["old"].startswith("8 + 5*max(0, n")
    assert row["after"] == 8 < row["before"]


def test_a_dearer_run(rows: Any, capsys: Capture) -> None:
    """The commands run the input again: that of the new version costs what is told."""
    (row,) = rows(OLD, OLD.replace("c[i]", "c[2 * i]"), "--metric", "sectors", code=3)
    run = row["run"]
    assert (row["verdict"], run["before"], run["after"]) == ("dearer", 8, 12)
    for words, cost in zip(run["commands"], (8, 12), strict=True):
        assert main([*words.split()[1:], "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["max_per_warp"]["sectors"] == cost


def test_runs_are_looked_at_where_bounds_are_equal(rows: Any) -> None:
    """A bound above what the old version costs hides a dearer one: only runs tell them apart."""
    old = OLD.replace("int v = a[i]", "int v = a[i]; if (v == 123456789) v += a[i + n]")
    new = OLD.replace("int v = a[i]", "int v = a[i]; v += a[i + n]")
    (row,) = rows(old, new, "--metric", "sectors", "--assume", "n % 8 == 0", code=3)
    assert row["old"] == row["new"]
    assert (row["verdict"], row["at"]) == ("dearer", None)


def test_not_known(rows: Any) -> None:
    """The new bound is higher, and the run that would cost more needs numbers that no search finds."""
    rare = "int v = a[i]; if (v == 123456789 && n == 987654321) c[i + n * i] = 1"
    (row,) = rows(OLD, OLD.replace("int v = a[i]", rare), "--metric", "sectors", code=1)
    assert (row["verdict"], row["run"]) == ("not-known", None)
    assert row["why"].endswith("; no run was found that costs more")


def test_bounds_over_data(rows: Any) -> None:
    """Of bounds that speak of what arrays hold there are no points to tell."""
    new = """//@ requires forall i in [0, 9): 0 <= r[i];
__global__ void k(int *c, const int *r) { for (int i = 0; i < r[1]; i++) c[i] = 1; }
"""
    (row,) = rows(new.replace("r[1]; i++", "r[1] + 1; i++"), new, "--metric", "sectors", code=0)
    assert (row["verdict"], row["new"], row["at"]) == ("certified", "1 + 2*max(0, r[1])", None)


def test_the_second_checker_has_the_last_word(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    old = OLD.replace("int v = a[i];", "int v = a[i]; v += a[i + n];")
    refused = Report("invalid", "", [], "no", "")
    monkeypatch.setattr(compared, "judged", lambda r, k, p: judged(r, k, p, lambda _: refused))
    (row,) = rows(old, OLD, "--metric", "sectors", code=1)
    assert row["verdict"] == "not-known"
    backed = Report("solver-backed", "", ["one (by z3)"], "", "")
    monkeypatch.setattr(compared, "judged", lambda r, k, p: judged(r, k, p, lambda _: backed))
    (row,) = rows(old, OLD, "--metric", "sectors", code=1)
    assert row["verdict"] == "solver-backed"
    (row,) = rows(old, OLD, "--metric", "sectors", "--accept", "solver-backed", code=0)
    assert row["verdict"] == "solver-backed"


@pytest.mark.parametrize(
    ("old", "new", "words", "why"),
    [
        (OLD.replace("int n)", "int n, int m)").replace("i < n", "i < m"), OLD, (), "the new version has no 'm'"),
        ("//@ launch block = 128;\n" + OLD, "//@ launch block = 256;\n" + OLD, (), "the blocks differ"),
        ("//@ requires n <= 0;\n" + OLD, OLD.replace("c[i]", "c[2 * i]"), (), "no run was found that costs more"),
        (OLD.replace("int v", "while (a[i]) c[0] = 1; int v"), OLD, (), "there is no bound of the old version"),
    ],
)
def test_what_cannot_be_compared(
    old: str, new: str, words: tuple[str, ...], why: str, tmp_path: Path, capsys: Capture
) -> None:
    paths = [str(tmp_path / name) for name in ("old.cu", "new.cu")]
    for path, text in zip(paths, (old, new), strict=True):
        Path(path).write_text(text)
    code = main(["compare", *paths, "--metric", "sectors", "--format", "json", *words])
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert code == (0 if row["verdict"] == "certified" else 1)
    assert row["verdict"] == "certified" or why in row["why"]


def test_kernels_by_name(rows: Any, tmp_path: Path) -> None:
    two = OLD + OLD.replace(" k(", " other(")
    found = rows(two, two.replace(" other(", " third("), "--metric", "conflicts", code=1)
    assert [(r["kernel"], r["verdict"]) for r in found] == [
        ("k", "certified"),
        ("third", "not-known"),
        ("other", "not-known"),
    ]
    assert found[1]["why"] == f"'{tmp_path / 'old.cu'}' has no kernel of this name"
    (row,) = rows(OLD, OLD.replace(" k(", " renamed("), "--metric", "conflicts", code=0)
    assert (row["kernel"], row["verdict"]) == ("renamed", "certified")


def test_what_only_the_new_version_assumes_is_said(rows: Any) -> None:
    (row,) = rows(OLD, "//@ requires n <= 64;\n" + OLD, "--metric", "sectors", code=0)
    assert (row["verdict"], row["added"]) == ("certified", ["n <= 64"])
    (row,) = rows("//@ requires n <= 64;\n" + OLD, OLD, "--metric", "sectors", code=0)
    assert row["added"] == []


def test_what_cannot_be_read(rows: Any, tmp_path: Path, capsys: Capture) -> None:
    (row,) = rows(OLD, OLD.replace("v + v", "nothing(v)"), "--metric", "sectors", code=2)
    assert row["verdict"] == "unsupported"
    empty = tmp_path / "empty.cu"
    empty.write_text("int x;\n")
    assert main(["compare", str(tmp_path / "old.cu"), str(empty)]) == 2
    assert f"'{empty}' has no kernel" in capsys.readouterr().err


def test_as_text(tmp_path: Path, capsys: Capture) -> None:
    old, new = tmp_path / "old.cu", tmp_path / "new.cu"
    old.write_text(OLD)
    new.write_text(OLD.replace("c[i]", "c[2 * i]"))
    words = ["compare", str(old), str(new), "--block", "256", "--metric", "sectors", "--metric", "conflicts"]
    assert main(words) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "k, every warp",
        "",
        "  sectors    dearer     8 -> 12",
        "      a warp costs 8 before, and 12 after:",
    ]
    assert "dearer     a warp of the new version costs more than all of the old one" in lines
