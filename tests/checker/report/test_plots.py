"""Bounds against runs over a parameter: every run is a run, none above the bound, and the picture shows both."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from checker.certificates.audit import audit
from checker.cli import main
from checker.cli.data import read_arrays
from checker.kernel import Claim
from checker.oracles import Oracles
from checker.refutation import witness
from checker.report.plots import POINTS, Curve, Point, curves, picture, table
from logic.rules import SOUND

PROOFS: Final = Path(__file__).resolve().parents[3] / "proofs"


def made(name: str, at: dict[str, int]) -> list[Curve]:
    path = PROOFS / f"{name}.json"
    found = audit(path.read_text(), str(path), SOUND, Oracles())
    assert isinstance(found.outcome, Claim)
    kernel = found.certificate.kernel
    return curves(kernel, found.outcome, at, partial(read_arrays, kernel))


def test_a_curve() -> None:
    (curve,) = made("matMul/sectors", {"wA": 96})
    assert curve.parameter == "wA"
    assert [p.at for p in curve.points] == [12 * k for k in range(1, POINTS + 1)]
    assert [p.bound for p in curve.points] == [15, 15, 25, 25, 25, 35, 35, 35]
    assert all(p.cost is not None and 0 < p.cost <= p.bound for p in curve.points)
    assert curve.points[0].cost == 15


def test_a_curve_a_parameter() -> None:
    found = made("synBrdis/steps", {"N": 16, "M": 8})
    assert [c.parameter for c in found] == ["M", "N"]
    assert all(p.cost is not None and p.cost <= p.bound for c in found for p in c.points)


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("matMul/conflicts", {"wA": 96}),  # 0, whatever wA is
        ("matMul/sectors", {"wB": 96}),  # no parameter of the bound
        ("synBrdis/steps", {"N": 16}),  # M has no value
        ("matMul/sectors", {"wA": 0}),
    ],
)
def test_no_curve(name: str, at: dict[str, int]) -> None:
    assert made(name, at) == []


def test_points_that_are_excluded_are_none() -> None:
    (curve,) = made("features/assumption", {"n": 160})
    assert [p.at for p in curve.points] == [20, 40, 60, 80, 100]


def test_the_picture() -> None:
    curve = Curve(
        "n", (Point(1, Fraction(2), Fraction(1)), Point(3, Fraction(4), None), Point(5, Fraction(4), Fraction(4)))
    )
    root = ET.fromstring(picture(curve, "a < b"))  # noqa: S314 - it is ours
    assert root.get("aria-label") == "a < b: the bound, and the dearest runs found, over n from 1 to 5"
    (line,) = root.iter("polyline")
    assert line.get("points") == "64.0,116.0 284.0,16.0 504.0,16.0"
    assert [(c.get("cx"), c.get("cy")) for c in root.iter("circle")] == [("64.0", "166.0"), ("504.0", "16.0")]
    assert table(curve) == [("1", "2", "1", "50%"), ("3", "4", "-", "-"), ("5", "4", "4", "100%")]


def test_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ["report", str(PROOFS / "matMul" / "sectors.json"), "--format", "html", "-o", str(page)]
    assert main(words) == 0
    assert "<main>" in page.read_text()
    assert "<svg" not in page.read_text()
    assert main([*words, "--at", "wA=64"]) == 0
    assert page.read_text().count('<svg class="plot"') == 1
    assert "http" not in page.read_text()


def test_a_run_above_the_bound_ends_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which no certificate of ours has: the semantics of this test charges twice."""
    attempt = witness._Search.attempt

    def dearer(self: witness._Search, given: witness.Input) -> None:
        attempt(self, given)
        for claim, found in zip(self.claims, self.best, strict=True):
            if found is not None:
                raise witness.Overrun(claim, replace(found, cost=2 * found.bound))

    monkeypatch.setattr(witness._Search, "attempt", dearer)
    assert main(["report", str(PROOFS / "matMul" / "sectors.json"), "--format", "html", "--at", "wA=64"]) == 2
    assert "is refuted: a run costs 50 sectors, the bound there is 25" in capsys.readouterr().err
