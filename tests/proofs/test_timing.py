"""docs/timing.md says what `warpbound wcet` says, and its figures are in order."""

from __future__ import annotations

import re
from fractions import Fraction
from statistics import median

import pytest

from proofs import timing
from proofs.timing import PAGE, ROWS, Row, measured, table

LINES = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| [")]


def cells(line: str) -> list[str]:
    return [c.strip() for c in line.strip("|").split(" | ")]


def figures(line: str) -> tuple[int, int, int]:
    """The machine, the estimate, and W/P + S."""
    c = cells(line)
    return int(c[2]), int(c[3]), int(c[7].removesuffix(" (e)"))


def test_the_page_has_every_row() -> None:
    assert [cells(line)[1].strip("`") for line in LINES] == [" ".join(row.words) for row in ROWS]


@pytest.mark.parametrize("line", LINES)
def test_the_machine_is_below_both_bounds(line: str) -> None:
    machine, estimate, work_span = figures(line)
    assert machine <= estimate
    assert machine <= work_span


def test_the_median_is_close() -> None:
    half = median(Fraction(estimate, machine) for machine, estimate, _ in map(figures, LINES))
    assert half <= Fraction(13, 10)
    told = re.search(r"Median of estimate over machine: \*\*([\d.]+)\*\*", PAGE.read_text(encoding="utf-8"))
    assert told is not None
    assert abs(Fraction(told[1]) - half) < Fraction(1, 1000)


QUICK = ("stencil", "lastTest", "addSub3")


@pytest.mark.parametrize("row", [row for row in ROWS if row.name in QUICK], ids=lambda row: row.name)
def test_rows_made_anew(row: Row) -> None:
    sound = measured(row)
    assert sound is not None
    assert table([(row, sound, measured(row, "paper"))]).splitlines()[2] in LINES


def test_what_has_no_estimate_has_none() -> None:
    assert measured(Row("lastTest", (), "simt"), "paper") is not None
    assert measured(Row("stencil", ("--at", "n=1"), "simt")) is None


def test_a_row_without_figures_stops_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "ROWS", (Row("stencil", ("--at", "n=1"), "simt"),))
    with pytest.raises(ValueError, match="stencil has no figures"):
        timing.page()
