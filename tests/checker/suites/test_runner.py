"""The suite: what is compared with what, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from checker.cli.suite import _fill
from checker.kernel import Claim
from checker.refutation.witness import Fill, Overrun, find_witnesses
from checker.report.page import render
from checker.suites import runner as suite
from checker.suites.page import as_json, as_markdown, as_page, as_text, cells, summary_lines
from checker.suites.runner import CLASSES, Case, Compared, Point, Row, error, read_suite, rows_of, summary
from logic.metrics import METRICS
from logic.syntax import Kernel
from proofs.make import BLOCKS, ROOT, TABLE

CASES, ORIGINS, NOTES = read_suite()
ZERO = Fraction(0)


@cache
def rows(name: str, *metrics: str) -> list[Row]:
    return rows_of(CASES[name], [METRICS[m] for m in metrics], "warp", _fill, "test")


def point(bound: int | None, cost: int | None, theirs: int | None = None) -> Point:
    numbers = [None if n is None else Fraction(n) for n in (bound, cost, theirs)]
    return Point({}, numbers[0], numbers[1], {"racuda": numbers[2]})


def row(*points: Point, published: Mapping[str, str] | None = None) -> Row:
    here, *others = points
    return Row(
        "k",
        "sectors",
        "warp",
        (32, 1, 1),
        (),
        "9*n",
        "certified",
        "accepted",
        "valid",
        None,
        0.5,
        "",
        {"racuda": "f(n)"} if published is None else published,
        {},
        here,
        None,
        {"32N": tuple(others)},
    )


def test_every_kernel_is_there_with_the_block_of_its_certificates() -> None:
    assert set(CASES) == {path.parent.name for path in ROOT.glob("*/kernel.cu")}
    assert {name: case.block for name, case in CASES.items()} == BLOCKS


@pytest.mark.parametrize(
    ("kernel", "metric", "source", "text"),
    [
        # RaCuda, POPL 2021, Tables 4 to 7; Pico, POPL 2026, Table 1
        ("reduce1", "conflicts", "racuda", "23715"),
        ("reduce2", "steps", "racuda", "n/b"),
        ("synBrdisOpt", "steps", "racuda", "9 + 69*M*N + 62*N"),
        ("histogram256", "conflicts", "pico", "3.88*dataCount + 244"),
        ("addSub0", "sectors", "pico", "66*w"),
    ],
)
def test_published_bounds(kernel: str, metric: str, source: str, text: str) -> None:
    assert CASES[kernel].published[source][metric] == text


def test_every_mark_leads_to_a_note_and_every_figure_to_its_source() -> None:
    assert {note for case in CASES.values() for note in case.marks.values()} == set(NOTES)
    assert {source for case in CASES.values() for source in case.published} == set(ORIGINS) == set(suite.SOURCES)


def test_what_others_published_of_mandelbrot_is_of_the_kernel_of_the_samples() -> None:
    """Of ours, which is simpler, nobody else published a bound, and the page says so."""
    assert CASES["mandelbrot"].published == {}
    theirs = CASES["mandelbrot0"].published["racuda"]
    assert {CASES["mandelbrot0"].marks[f"racuda.{metric}"] for metric in theirs} == {"unrolled"}
    assert "our mandelbrot is a simpler kernel" in NOTES["unrolled"]
    text = (DOCS / "suite.md").read_text(encoding="utf-8")
    assert NOTES["unrolled"] in text
    rows = re.findall(r"^\| mandelbrot \| 32 \|.*", text, re.MULTILINE)
    assert rows
    assert all(re.match(r"(?:[^|]*\|){6} - \| - \|", row) for row in rows)


def test_classes_of_sizes() -> None:
    case = Case("k", (32, 1, 1), {"w": 5}, ("w", "h"), (64, 96), {"k": 7}, ("w % 32 == 0",))
    points = case.points()
    assert tuple(points) == CLASSES
    assert points["32N"] == [{"k": 7, "w": 64, "h": 64}, {"k": 7, "w": 96, "h": 96}]
    assert points["32N+1"] == [{"k": 7, "w": 65, "h": 65}, {"k": 7, "w": 97, "h": 97}]
    assert all(p["w"] == p["h"] and 1 <= p["w"] <= 192 for p in points["random"])
    assert points == case.points()
    assumed = case.assuming()
    assert (assumed.at, tuple(assumed.points())) == ({"w": 96}, ("32N",))
    for each in CASES.values():
        assert all(n % 32 == 0 for n in each.values)


@pytest.mark.parametrize(
    ("points", "mean"),
    [
        ([(15, 10), (12, 12)], Fraction(1, 4)),
        ([(15, 10), (3, 0)], Fraction(1, 2)),  # what costs nothing has no relative error
        ([(0, 0)], ZERO),
        ([(3, 0)], None),
        ([(None, 4), (4, None)], None),
        ([], None),
    ],
)
def test_errors(points: list[tuple[int | None, int | None]], mean: Fraction | None) -> None:
    assert error([point(bound, cost) for bound, cost in points]) == mean


def test_errors_of_others() -> None:
    assert error([point(10, 10, 30), point(10, 10, None)], "racuda") == 2


@pytest.mark.parametrize(
    ("points", "kind"),
    [
        ([(10, 10, 10), (5, 5, 5)], "equal"),
        ([(10, 9, 10), (5, 5, 6)], "below"),
        ([(10, 9, 12), (7, 6, 6)], "above"),
        ([(10, 9, 12), (7, 7, 6)], "unsound"),
        ([(10, None, 10)], "equal"),
        ([(10, 9, None)], None),
    ],
)
def test_compared(points: list[tuple[int | None, int | None, int | None]], kind: Compared | None) -> None:
    assert row(*(point(*p) for p in points)).compared("racuda") == kind


def test_no_bound_is_worse_than_any() -> None:
    assert row(point(1000, 1), published={"racuda": "n/b"}).compared("racuda") == "below"
    assert replace(row(point(None, 1), published={"racuda": "n/b"}), bound=None).compared("racuda") is None


def test_all_three_have_to_agree() -> None:
    whole = row(point(1, 1))
    assert whole.certified
    assert not replace(whole, verdict="holey").certified
    assert not replace(whole, check="rejected").certified
    assert not replace(whole, recheck="solver-backed").certified


def test_what_solvers_say_is_taken_where_it_may_be() -> None:
    backed = replace(row(point(1, 1)), verdict="solver-backed", recheck="solver-backed")
    assert backed.taken(["solver-backed"])
    assert not backed.taken([])
    for other in (
        replace(backed, verdict="holey"),
        replace(backed, verdict="certified"),
        replace(backed, check="rejected"),
        replace(backed, recheck="invalid"),
    ):
        assert not other.taken(["solver-backed"])
    assert row(point(1, 1)).taken([])


def test_rows_of_a_kernel() -> None:
    """addSub3: 4 + 10h sectors for an even h (RaCuda: 4 + 10(h+1)), fewer where rows are aligned."""
    sectors, divwarps, aligned = rows("addSub3", "sectors", "divwarps")
    assert [r.metric for r in (sectors, divwarps, aligned)] == ["sectors", "divwarps", "sectors"]
    assert sectors.bound == "4 + 20*max(0, ceil(h/2))"
    assert sectors.here.published == {"racuda": 4 + 10 * 65, "pico": 10 * 64 + 14}
    assert sectors.here.at == {"h": 64}
    assert sectors.here.bound == 4 + 10 * 64
    assert sectors.here.cost is not None
    assert 0.95 < sectors.here.cost / (4 + 10 * 64) <= 1
    assert (sectors.compared("racuda"), sectors.compared("pico")) == ("below", "below")
    assert (divwarps.bound, divwarps.compared("racuda")) == ("0", "equal")
    assert divwarps.ratio == 1
    assert (aligned.given, aligned.bound) == (("w % 8 == 0",), "4 + 16*max(0, ceil(h/2))")
    assert aligned.ratio == 1
    assert error(aligned.classes["32N"]) == 0
    assert all(r.certified and r.digest and r.digest.startswith("sha256:") for r in rows("addSub3", "sectors"))
    for r in (sectors, divwarps, aligned):
        assert all(p.cost is not None and p.bound is not None and p.cost <= p.bound for p in r.everywhere)


def test_points_of_the_classes_are_run_where_they_say() -> None:
    sectors = rows("addSub3", "sectors", "divwarps")[0]
    for name, points in CASES["addSub3"].points().items():
        assert [dict(p.at) for p in sectors.classes[name]] == points
        for p in sectors.classes[name]:
            assert p.bound == 4 + 20 * -(-p.at["h"] // 2)


def test_a_bound_that_a_run_exceeds_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the semantics to charge more than the logic says, the row would say so."""

    def overrun(
        kernel: Kernel, claims: Sequence[Claim], fill: Fill, at: Mapping[str, int], *rest: Any, **more: Any
    ) -> None:
        (found,) = find_witnesses(kernel, claims, fill, at)
        if found:
            raise Overrun(claims[0], replace(found, cost=found.bound + 1))

    monkeypatch.setattr(suite, "find_witnesses", overrun)
    (vector,) = rows_of(replace(CASES["vectorAdd"], sharper=()), [METRICS["sectors"]], "warp", _fill, "test")
    assert (vector.verdict, vector.certified) == ("refuted", False)
    assert vector.witness is not None
    assert vector.witness.cost == 13


def test_summary() -> None:
    exact = replace(row(point(10, 10, 12)), witness=rows("vectorAdd", "sectors")[0].witness)
    aside = replace(exact, given=("n > 0",))
    total = summary([exact, replace(exact, check="rejected", witness=None), aside])
    assert (total.rows, total.certified, total.exact, total.close) == (2, 1, 1, 1)
    assert total.compared["racuda"] == {"below": 2, "equal": 0, "above": 0, "unsound": 0}
    lines = summary_lines([exact, replace(exact, witness=None)])
    assert lines[0].startswith("2 of 2 bounds are certified")
    assert lines[1] == "  k sectors: 10, the dearest run costs 10"


def test_where_we_are_above_is_said() -> None:
    lines = summary_lines([row(point(10, 9, 12), point(7, 6, 6))])
    assert lines[-1] == "  k sectors: above RaCuda's f(n): 7, not 6, at any, where a run costs 6"


def test_reports_say_the_same() -> None:
    found = rows("addSub3", "sectors", "divwarps")
    line = cells(found[0], [])
    assert line[:5] == ("addSub3", "32", "4 + 20*max(0, ceil(h/2))", "h=64", "644")
    assert line[5:7] == ("654", "654")
    assert line[-2] == "accepted, valid"
    page = render(as_page(found, NOTES, ORIGINS), "html")
    for text in (as_text(found, NOTES), as_markdown(found, NOTES, ORIGINS, "x"), page):
        assert all(cell in text for cell in line)
        assert all(said.strip() in text for said in summary_lines(found))
    document = as_json(found)
    assert [r["value"] for r in document["rows"]] == [644, 0, 4 + 16 * 48]
    assert document["summary"]["rows"] == 2


def test_a_run_above_a_published_figure_is_marked() -> None:
    """RaCuda's 4 + 10(31+N)/32 counts 4 sectors for a write that touches 5 (POPL 2021, Table 4)."""
    sectors = rows("matMul", "sectors")[0]
    assert sectors.compared("racuda") == "unsound"
    assert "44.94 !" in cells(sectors, ["final-write", "rounded"])[5]
    assert "a run costs more than RaCuda's" in "\n".join(summary_lines([sectors]))


# --- the page --------------------------------------------------------------------------------------------------------

DOCS = ROOT.parent / "docs"
SUITE_LINE = re.compile(r"^\| (\w+) \| ([\dx ]+) \| `([^`]*)` \|", re.MULTILINE)
INDEX_LINE = re.compile(r"^\| \[(\w+)\]\([^)]*\) \| ([\dx ]+) \| (\w+) \| `([^`]*)` \|", re.MULTILINE)


def test_the_page_has_the_bounds_of_the_certificates() -> None:
    """As docs/proofs.md lists them, which tests/proofs keeps true: `make suite` makes the page anew."""
    sections = re.split(r"^## (\w+)(?:, .*)?$", (DOCS / "suite.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    tables = dict(zip(sections[1::2], sections[2::2], strict=True))
    said = {(k, block, m, bound) for m in TABLE for k, block, bound in SUITE_LINE.findall(tables[m])}
    assert said == set(INDEX_LINE.findall((DOCS / "proofs.md").read_text(encoding="utf-8")))
