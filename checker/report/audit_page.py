"""The audit report as one page that needs nothing else: claims first, one listing for all metrics with each line's
share of the bounds, bounds against runs, derivations that fold, and how to check all of it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from checker.certificates.origin import sentences
from checker.notation.words import many, shared
from checker.report.audit import (
    MEANING,
    Row,
    again,
    checked,
    groups,
    label,
    launch,
    place_of,
    point,
    remarks,
    subject_of,
    summary,
    told,
)
from checker.report.dossier import Dossier
from checker.report.page import filled, kept
from checker.report.plots import picture, table
from checker.report.steps import Step, bars
from logic.source import Loc

RULE: Final = str.maketrans({":": "-"})
"""Names of rules as identifiers of a page."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A line's share of a bound: the amount, its part of the bound in percent, and what the run pays of it."""

    spent: str
    percent: str
    paid: str


@dataclass(slots=True)
class Line:
    """A line of the listing; `number` is None where lines are left out. `notes` are what is said of it, each with the
    metrics that it is said for, `uses` the applications of rules to it, `pictures` its accesses."""

    number: int | None
    text: str
    cells: list[Cell | None] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)
    uses: list[tuple[str, int, Step]] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the page: certificates about one kernel and launch, by their numbers; the listing that they share;
    the metrics that have a column in it, each with its bound there, and the sums of its shares that are of no line of
    the listing."""

    number: int
    rows: list[tuple[int, Row, Dossier]]
    lines: list[Line]
    columns: list[tuple[str, str]]
    elsewhere: list[Cell | None]

    def listed(self, loc: Loc) -> bool:
        """Whether a place is in a line of the listing."""
        file = self.rows[0][1]["listing_of"]
        return loc.file == file and any(line.number == loc.line for line in self.lines)

    def outside(self, r: Row) -> list[Row]:
        """The shares of a bound that lines of other files have, or such as may be of several."""
        lines = r["shares"]["lines"] if r["shares"] and self.lines else []
        return [x for x in lines if x["line"] and x["file"] != r["listing_of"] and Fraction(x["spent"])]

    @property
    def common(self) -> list[str]:
        """The remarks that are the same for all of several certificates."""
        return shared([remarks(r) for _, r, _ in self.rows])

    @property
    def at(self) -> Row | None:
        """The part of --at that is about this kernel."""
        found: Row | None = self.rows[0][1]["at"]
        return found

    @property
    def worst(self) -> str:
        """The worst verdict."""
        found = {r["verdict"] for _, r, _ in self.rows}
        return next(v for v in MEANING if v in found)


def as_html(report: Row, dossiers: Sequence[Dossier]) -> str:
    """The page; `dossiers` belong to the certificates of the report, in their order."""
    numbers = {id(r): i for i, r in enumerate(report["certificates"])}
    parts = []
    worst = list(MEANING).index
    for number, group in enumerate(groups(report["certificates"])):
        group.sort(key=lambda r: worst(r["verdict"]))
        parts.append(part(number, [(numbers[id(r)], r, dossiers[numbers[id(r)]]) for r in group]))
    parts.sort(key=lambda p: worst(p.worst))
    every = [step for d in dossiers for step in d.steps]
    words: dict[str, Any] = {"launch": launch, "checked": checked, "told": told, "place": place_of, "remarks": remarks}
    words |= {
        "label": label,
        "subject_of": subject_of,
        "picture": picture,
        "table": table,
        "again": again,
        "kept": kept,
        "many": many,
    }
    words |= {"summary": summary(report), "meaning": MEANING, "point": point, "sentences": sentences, "RULE": RULE}
    return filled("audit.html.jinja", report=report, parts=parts, rules=bars(every), **words)


def part(number: int, rows: list[tuple[int, Row, Dossier]]) -> Part:
    """A part, with the one listing of its certificates."""
    lines: dict[int, Line] = {}
    file = next((r["listing_of"] for _, r, _ in rows if r["listing"]), None)
    for _, r, _ in rows:
        for x in r["listing"]:
            if x["line"] is not None:
                lines.setdefault(x["line"], Line(x["line"], x["text"]))
    for i, r, d in rows:
        for x in r["listing"]:
            for note in x["notes"]:
                lines[x["line"]].notes.setdefault(note, []).append(label(r))
        for n, used in _uses(d.steps, file).items():
            if n in lines:
                lines[n].uses += [(label(r), i, step) for step in used]
        for (where, at, text), drawn in d.pictures.items():
            if where == file and at in lines and all(text != other for other, _ in lines[at].pictures):
                lines[at].pictures.append((text, drawn))
    shared = [(r, r["shares"]) for _, r, _ in rows if r["shares"]]
    columns = [(label(r), str(shares["of"])) for r, shares in shared]
    elsewhere: list[Cell | None] = []
    for _, shares in shared if lines else ():
        total = Fraction(shares["of"])
        here = {x["line"]: x for x in shares["lines"] if x["file"] == file and x["line"] in lines}
        for n, line in lines.items():
            line.cells.append(_cell(here[n], total) if n in here and Fraction(here[n]["spent"]) else None)
        rest = [x for x in shares["lines"] if here.get(x["line"]) is not x]
        sums = {key: str(sum((Fraction(x[key]) for x in rest), Fraction(0))) for key in ("spent", "paid")}
        elsewhere.append(_cell(sums, total) if Fraction(sums["spent"]) else None)
    return Part(number, rows, _with_gaps(lines), columns if lines else [], elsewhere)


def _uses(steps: Sequence[Step], file: str | None) -> dict[int, list[Step]]:
    """The first application of each rule to a line of a file; those to a sequence where there are no others."""
    found: dict[int, dict[str, Step]] = {}
    for step in steps:
        if step.loc and step.loc.file == file:
            found.setdefault(step.loc.line, {}).setdefault(step.rule, step)
    return {n: [s for s in used.values() if not s.sequence] or [*used.values()] for n, used in found.items()}


def _cell(x: Row, total: Fraction) -> Cell:
    return Cell(str(x["spent"]), f"{float(100 * Fraction(x['spent']) / total):.1f}", str(x["paid"]))


def _with_gaps(lines: dict[int, Line]) -> list[Line]:
    found: list[Line] = []
    for n in sorted(lines):
        if found and found[-1].number != n - 1:
            found.append(Line(None, ""))
        found.append(lines[n])
    return found
