"""The suite's table as text, JSON, Markdown and a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from checker.certificates.claims import SUBJECTS
from checker.notation.words import number
from checker.refutation.witness import command
from checker.report.bounds import as_witness
from checker.report.page import RULES, Fault, Page, Section
from checker.suites.runner import CLASSES, CLOSE, SOURCES, Row, error, summary
from logic.metrics import METRICS

NAMES: Final = {"racuda": "RaCuda", "pico": "Pico"}

UNSOUND: Final = "!"
"""Marks a published figure that a run of our kernel exceeds."""

_COLUMNS: Final = (
    "kernel",
    "block",
    "bound",
    "at",
    "value",
    "RaCuda",
    "Pico",
    "costs",
    "ratio",
    *CLASSES,
    *(f"RaCuda {name}" for name in CLASSES),
    "checkers",
    "seconds",
)

LEGEND: Final = (
    (
        "bound: certified, for any grid and any arguments, or those assumed beside the kernel's name; value: what it "
        "is at the point, beside the published bounds there; costs: the dearest run found, over all that the point "
        "leaves open; ratio: value over costs, 1 is exact"
    ),
    (
        "32N, 32N+1, random: mean of (bound - cost) / cost over inputs of such sizes, 0 is exact; for RaCuda's bounds "
        "against the same runs"
    ),
    "checkers: the kernel's word on the certificate, and the second checker's",
    f"{UNSOUND} a run of the kernel as we have it costs more than this figure",
)


def decimal(value: Fraction | None) -> str:
    """With three digits where it is not whole; - for None."""
    if value is None:
        return "-"
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.3g}"


def _exactly(value: Fraction | None) -> str:
    """A figure: whole, or with up to two decimals."""
    if value is None:
        return "-"
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.2f}"


def _ratio(row: Row) -> str:
    return "-" if row.ratio is None else "1" if row.ratio == 1 else f"{float(row.ratio):.3f}"


def _point(at: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={n}" for name, n in at.items()) or "any"


def _theirs(row: Row, source: str, notes: Sequence[str]) -> str:
    """A published bound at the row's point, with its marks."""
    if source not in row.published:
        return "-"
    value = row.here.published.get(source)
    text = row.published[source] if value is None else _exactly(value)
    if row.compared(source) == "unsound":
        text += f" {UNSOUND}"
    return text + (f" [{notes.index(row.marks[source]) + 1}]" if source in row.marks else "")


def _checkers(row: Row) -> str:
    if not row.check:
        return row.verdict
    first = row.check if row.verdict in ("certified", "solver-backed") else row.verdict
    return f"{first}, {row.recheck}"


def cells(row: Row, notes: Sequence[str]) -> tuple[str, ...]:
    """A line of the table. `notes` are the names of those that are used, in order."""
    ours = [decimal(error(row.classes[name])) if name in row.classes else "-" for name in CLASSES]
    theirs = [
        decimal(error(row.classes[name], "racuda")) if name in row.classes and "racuda" in row.published else "-"
        for name in CLASSES
    ]
    return (
        row.kernel + (f" ({', '.join(row.given)})" if row.given else ""),
        " x ".join(str(n) for n in row.block if n != 1),
        row.bound or "no bound",
        _point(row.here.at),
        _exactly(row.here.bound),
        *(_theirs(row, source, notes) for source in SOURCES),
        _exactly(row.here.cost),
        _ratio(row),
        *ours,
        *theirs,
        _checkers(row),
        f"{row.seconds:.2f}",
    )


def used_notes(rows: Iterable[Row]) -> list[str]:
    """The names of the notes that the rows lead to."""
    return list(dict.fromkeys(row.marks[source] for row in rows for source in SOURCES if source in row.marks))


def summary_lines(rows: Sequence[Row]) -> list[str]:
    """The summary of the table, and each bound that is above a published one."""
    total = summary(rows)
    lines = [
        (
            f"{total.certified} of {total.rows} bounds are certified, with both checkers agreeing; "
            f"{total.exact} are exact: a run reaches them; {total.close} are within {float(CLOSE)} of a run."
        )
    ]
    far = (row for row in rows if row.bound and not row.given and (row.ratio is None or row.ratio > CLOSE))
    lines += [
        f"  {row.kernel} {row.metric}: {_exactly(row.here.bound)}, the dearest run costs {_exactly(row.here.cost)}"
        for row in far
    ]
    for source in SOURCES:
        counts = total.compared[source]
        compared = sum(counts.values())
        if compared:
            lines.append(
                f"{NAMES[source]}: of {compared} figures we are below {counts['below']}, at {counts['equal']}, above "
                f"{counts['above']}; {counts['unsound']} are exceeded by a run of our kernel."
            )
    for row in rows:
        for source in SOURCES:
            kind = None if row.given else row.compared(source)
            if kind in ("above", "unsound"):
                word = "above" if kind == "above" else "a run costs more than"
                theirs = f"{NAMES[source]}'s {row.published[source]}"
                lines.append(f"  {row.kernel} {row.metric}: {word} {theirs}{_where(row, source)}")
    return lines


def _where(row: Row, source: str) -> str:
    """The first point at which ours is above a published bound."""
    for p in row.everywhere:
        theirs = p.published.get(source)
        if p.bound is not None and theirs is not None and p.bound > theirs:
            ours, other, cost = map(_exactly, (p.bound, theirs, p.cost))
            return f": {ours}, not {other}, at {_point(p.at)}, where a run costs {cost}"
    return ""


def _by_metric(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    names = [name for name in METRICS if any(row.metric == name for row in rows)]
    names += [name for name in dict.fromkeys(row.metric for row in rows) if name not in names]
    return [(name, [row for row in rows if row.metric == name]) for name in names]


def _heading(metric: str, rows: Sequence[Row]) -> str:
    """The heading of a table: what its bounds count, and what they are on."""
    return f"{rows[0].counted or metric}, {SUBJECTS[rows[0].per][0]}"


def _problems(rows: Sequence[Row]) -> list[str]:
    return [f"{row.kernel} {row.metric}: {row.problem}" for row in rows if row.problem]


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """{"rows": [..], "summary": {..}}; numbers are exact: whole, or "p/q"."""
    total = summary(rows)
    counts = {"rows": total.rows, "certified": total.certified, "exact": total.exact, "close": total.close}
    return {"rows": [_json(row) for row in rows], "summary": {**counts, **total.compared}}


def _json(row: Row) -> dict[str, Any]:
    def exactly(value: Fraction | None) -> int | str | None:
        return None if value is None else number(value)

    witness = row.witness
    return {
        "kernel": row.kernel,
        "metric": row.metric,
        "per": row.per,
        "block": list(row.block),
        "given": list(row.given),
        "at": dict(row.here.at),
        "bound": row.bound,
        "claim": row.claim or None,
        "value": exactly(row.here.bound),
        **{source: _json_theirs(row, source) for source in SOURCES},
        "published": dict(row.published),
        "compared": {source: row.compared(source) for source in SOURCES},
        "simulated": exactly(row.here.cost),
        "ratio": exactly(row.ratio),
        "exact": row.ratio == 1,
        "witness": None if witness is None else as_witness(witness),
        "run": replay(row) or None,
        "errors": {name: exactly(error(points)) for name, points in row.classes.items()},
        "racuda_errors": {name: exactly(error(points, "racuda")) for name, points in row.classes.items()},
        "verdict": row.verdict,
        "check": row.check,
        "recheck": row.recheck,
        "certificate": row.digest,
        "problem": row.problem or None,
        "seconds": round(row.seconds, 4),
    }


def replay(row: Row) -> str:
    """The command that runs the row's witness again; empty where there is none."""
    if row.witness is None:
        return ""
    return command(f"proofs/{row.kernel}/kernel.cu", row.witness.input, (f"--metric={row.metric}",))


def _json_theirs(row: Row, source: str) -> int | str | None:
    value = row.here.published.get(source)
    return number(value) if value is not None else row.published.get(source)


def as_text(rows: Sequence[Row], notes: Mapping[str, str]) -> str:
    """Tables for a terminal, a metric each."""
    used = used_notes(rows)
    lines: list[str] = []
    for metric, group in _by_metric(rows):
        table = [_COLUMNS, *(cells(row, used) for row in group)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines += [
            _heading(metric, group),
            *("  " + "  ".join(map(str.ljust, line, widths)).rstrip() for line in table),
            "",
        ]
    lines += [f"[{i}] {notes[name]}" for i, name in enumerate(used, 1)]
    return "\n".join([*lines, "", *_problems(rows), *summary_lines(rows)])


def as_markdown(rows: Sequence[Row], notes: Mapping[str, str], sources: Mapping[str, str], how: str) -> str:
    """A page."""
    used = used_notes(rows)
    lines = ["# The suite", "", f"Made by `{how}` from `proofs/published.toml`.", ""]
    lines += [line for text in summary_lines(rows) for line in (_item(text), "")]
    for metric, group in _by_metric(rows):
        table = [_COLUMNS, tuple("---" for _ in _COLUMNS), *(_code(cells(row, used)) for row in group)]
        lines += [f"## {_heading(metric, group)}", "", *(f"| {' | '.join(line)} |" for line in table), ""]
    lines += [*_problems(rows), "## How to read it", "", *(f"- {text}" for text in LEGEND)]
    lines += [f"- {NAMES[source]}: {text}" for source, text in sources.items()]
    lines += [f"- [{i}] {notes[name]}" for i, name in enumerate(used, 1)]
    return "\n".join(lines)


def _item(text: str) -> str:
    return f"- {text.strip()}" if text.startswith(" ") else text


def _code(line: tuple[str, ...]) -> tuple[str, ...]:
    return (*line[:2], f"`{line[2]}`", *line[3:])


def as_page(
    rows: Sequence[Row], notes: Mapping[str, str], sources: Mapping[str, str], accept: Sequence[str] = ()
) -> Page:
    """The same as a page; a fault for each row that is not certified, or that the checkers do not agree on. `accept`
    is --accept's word."""
    used = used_notes(rows)
    sections = [Section(items=[text.strip() for text in summary_lines(rows)])]
    sections += [
        Section(_heading(metric, group), head=_COLUMNS, rows=[cells(row, used) for row in group], code=("bound",))
        for metric, group in _by_metric(rows)
    ]
    said = [*LEGEND, *(f"{NAMES[source]}: {text}" for source, text in sources.items())]
    said += [f"[{i}] {notes[name]}" for i, name in enumerate(used, 1)]
    sections += [Section(fixed=problem) for problem in _problems(rows)] + [Section("How to read it", items=said)]
    return Page("The suite", sections, [_fault(row) for row in rows if not row.taken(accept)])


def _fault(row: Row) -> Fault:
    rule = row.verdict if row.verdict in RULES else "not-certified"
    told = [f"{row.kernel} {row.metric}: {_checkers(row)}", *([row.problem] if row.problem else [])]
    return Fault(rule, ": ".join(told), f"proofs/{row.kernel}/kernel.cu")
