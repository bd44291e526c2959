"""docs/run-time.md is what `make run-time` makes: its words, samples of its tables, and its plots."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from proofs.run_time import BANKS, PAGE, ROOT, STRIDES, ms, plot, predicted

SVG = "{http://www.w3.org/2000/svg}"


def rows(heading: str) -> list[list[str]]:
    """The rows of the table in the section of the page that has this heading."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {heading}")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_words_are_those_of_the_template() -> None:
    template = (ROOT / "run_time.template.md").read_text(encoding="utf-8")
    parts = re.split(r"@[A-Z]+@", template)
    assert len(parts) == 6
    page = PAGE.read_text(encoding="utf-8")
    for part in parts:
        before, found, page = page.partition(part)
        assert found
        assert all(line.startswith("|") for line in before.splitlines())
    assert page == ""


@pytest.mark.parametrize(
    ("heading", "number", "kernel", "words"),
    [
        ("Experiment 1", STRIDES.index(8), "strideSweep", ("-D", "STRIDE=8", "--at", "count=1024")),
        ("Experiment 2", BANKS.index(4), "bankSweep", ("-D", "BANK=4", "--at", "repeats=64000")),
    ],
)
def test_a_row_of_an_experiment(heading: str, number: int, kernel: str, words: tuple[str, ...]) -> None:
    found = predicted(kernel, *words)
    bounds = found["kernels"][0]["bounds"]
    row = rows(heading)[number]
    assert row[1:4] == [f"`{bounds['N_comp']}`", f"`{bounds['N_memory']}`", ms(found["milliseconds"])]


def test_a_row_of_list_ranking() -> None:
    assert rows("Case study 2")[-1][:3] == [
        "2^22",
        "13",
        ms(predicted("listRanking", "--at", f"N={2**22}")["milliseconds"]),
    ]


def test_a_row_of_the_matrix_product() -> None:
    assert rows("Case study 1")[1][2] == ms(predicted("matMul16", "--at", "N=128")["milliseconds"])


def test_a_row_of_the_histogram() -> None:
    found = predicted("histogramShared", "--at", f"N={2**20}", "--random-bins", "256")
    assert rows("Case study 3")[0][1:3] == [ms(found["milliseconds"]), ms(found["estimate"]["milliseconds"])]


def test_a_plot() -> None:
    root = ET.fromstring(plot("Title", "axis", (1, 2, 4), {"A": (4.0, 2.0, 1.0), "B": (1.0, 1.0, 1.0)}))  # noqa: S314
    lines = root.findall(f"{SVG}polyline")
    assert len(lines) == 2
    points = [tuple(map(float, p.split(","))) for p in lines[0].attrib["points"].split()]
    first, second, third = (x for x, _ in points)
    assert third - second == pytest.approx(2 * (second - first), abs=0.2)
    heights = [250 - y for _, y in points]
    assert heights[0] == pytest.approx(4 * heights[2], rel=0.01)
    assert heights[1] == pytest.approx(2 * heights[2], rel=0.01)
    assert "axis" in {t.text for t in root.findall(f"{SVG}text")}


@pytest.mark.parametrize("name", ["stride", "bank"])
def test_the_plots_are_there(name: str) -> None:
    path = PAGE.with_name(f"run-time-{name}.svg")
    assert f"({path.name})" in PAGE.read_text(encoding="utf-8")
    root = ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314
    assert len(root.findall(f"{SVG}polyline")) == 2
    assert Path(path).stat().st_size < 10_000
