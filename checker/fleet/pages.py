"""An index in HTML with a page a kernel, in one folder: the worst kernel first, and on each page its bounds, its source
with what lines cost, its loops, and what that rests on."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from checker.certificates.claims import SUBJECTS, called
from checker.certificates.document import read
from checker.fleet import table
from checker.fleet.desk import Key
from checker.fleet.lines import costs
from checker.fleet.rows import VERDICTS, Row
from checker.kernel import Ledger
from checker.notation.words import number
from checker.report.bounds import turns
from checker.report.lines import closing
from checker.report.page import Page, Section, render
from logic.derivation import Derivation
from logic.metrics import Metric
from logic.source import Loc, SourceError

INDEX: Final = "index.html"

LONGEST: Final = 400
"""The most lines of a kernel that are shown."""

Kernel = tuple[tuple[int, int], list[tuple[Key, Row]]]
"""A kernel's number, by its source and its place there, and its rows."""


def pages(
    title: str,
    rows: Sequence[tuple[Key, Row]],
    found: Mapping[str, Any],
    budgets: Sequence[Row],
    accepted: Collection[str],
    texts: Mapping[Key, str],
) -> dict[str, str]:
    """The pages by their files' names, the index among them; `texts` are the certificates of bounds."""
    each: dict[tuple[int, int], list[tuple[Key, Row]]] = {}
    for key, row in rows:
        each.setdefault(key[:2], []).append((key, row))
    kernels = sorted(each.items(), key=lambda item: VERDICTS.index(_worst(item)))
    names = _names(kernels)
    made = {names[k[0]]: render(_kernel(title, k, budgets, texts), "html") for k in kernels if k[0] in names}
    whole = table.as_page(title, [row for _, row in rows], found, budgets, accepted)
    metrics = list(dict.fromkeys(row["metric"] for _, row in rows))
    lines, told = [_line(k, metrics) for k in kernels], [called(m) for m in metrics]
    links = [names.get(k[0], "") for k in kernels]
    first = Section(
        text=f"{table.counted(found)}. The worst come first.",
        head=("kernel", "at", "verdict", *told),
        rows=lines,
        code=told,
        links=links,
    )
    return {INDEX: render(replace(whole, sections=[first, *whole.sections[1:]]), "html"), **made}


def _worst(kernel: Kernel) -> str:
    return table.worst([row for _, row in kernel[1]])


def _names(kernels: Sequence[Kernel]) -> dict[tuple[int, int], str]:
    """The files' names of the kernels' pages; none for a source that cannot be read."""
    known = {number: str(rows[0][1]["kernel"]) for number, rows in kernels if rows[0][1]["kernel"]}
    plain = {number: "-".join(re.findall(r"\w+", name, re.ASCII)) for number, name in known.items()}
    several = [*plain.values(), Path(INDEX).stem]
    own = {n: name if several.count(name) == 1 else f"{name}-{n[0]}-{n[1]}" for n, name in plain.items()}
    return {number: f"{name}.html" for number, name in own.items()}


def _at(row: Row) -> str:
    return f"{row['file']}:{row['line']}" if row["line"] else str(row["file"])


def _bound(row: Row) -> str:
    bound = "no bound" if row["bound"] is None else str(row["bound"])
    return bound if row["value"] is None or str(row["value"]) == bound else f"{bound} = {row['value']}"


def _line(kernel: Kernel, metrics: Sequence[str]) -> tuple[str, ...]:
    """The row of the index: the kernel, its place, the worst verdict, and a bound a metric."""
    bounds = {row["metric"]: _bound(row) for _, row in kernel[1]}
    first = kernel[1][0][1]
    return (first["kernel"] or "-", _at(first), _worst(kernel), *(bounds.get(m, "") for m in metrics))


def _kernel(title: str, kernel: Kernel, budgets: Sequence[Row], texts: Mapping[Key, str]) -> Page:
    """The page of a kernel."""
    rows = [row for _, row in kernel[1]]
    first = rows[0]
    head = ("metric", "at most", "verdict", "seconds")
    cells = [
        (called(r["metric"]), _bound(r), r["verdict"], "cached" if r["cached"] else f"{r['seconds']:.2f}") for r in rows
    ]
    sections = [Section(text=f"{_at(first)}, {SUBJECTS[first['per']][0]}.", head=head, rows=cells, code=head[1:2])]
    sections += [Section(items=claims)] if (claims := [r["claim"] for r in rows if r["claim"]]) else []
    problems = dict.fromkeys(f"{r['metric']}: {r['problem']}" for r in rows if r.get("problem"))
    sections += [Section("What is in the way", items=[*problems])] if problems else []
    about = [b for b in budgets if (b["kernel"], b["file"]) == (first["kernel"], first["file"])]
    sections += [Section("Budgets", items=table.budget_texts(about, rows))] if about else []
    proved = [one for key, row in kernel[1] if key in texts and (one := _explained(texts[key], row["metric"]))]
    sections += [source] if (source := _source(first, proved)) else []
    if told := turns(proved):
        lines = [x for loc, rule, more in told for x in (f"{_place(loc)}{rule}", *(f"    {text}" for text in more))]
        sections.append(Section("Loops and branches", fixed="\n".join(lines)))
    assumed = dict.fromkeys(text for row in rows for text in row["assumptions"])
    return Page(str(first["kernel"]), sections, assumptions=[*assumed], up=(INDEX, title))


def _place(loc: Loc | None) -> str:
    return f"{loc.line}:{loc.column}  " if loc else ""


@dataclass(frozen=True, slots=True)
class _Proved:
    """The derivation of a certificate, for a kernel's page: it was judged before."""

    metric: Metric
    derivation: Derivation | None
    ledger: Ledger


def _explained(text: str, metric: str) -> _Proved | None:
    try:
        made = read(text, metric)
    except SourceError:
        return None
    return _Proved(made.context.metric, made.derivation, Ledger())


def _source(row: Row, proved: Sequence[_Proved]) -> Section | None:
    """The kernel's lines, and what one execution of each costs; none where they cannot be read. A certificate has no
    names of files: beside what is included, a line says nothing of its cost."""
    try:
        text = Path(row["file"]).read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
    lines, start = text.split("\n"), row["line"] or 0
    if not 1 <= start <= len(lines):
        return None
    last = min(closing(lines, start), start + LONGEST)
    alone = not re.search(r'^\s*#\s*include\s*"', text, re.MULTILINE)
    each = {p.metric.name: costs(p.derivation, p.metric) for p in proved if p.derivation is not None and alone}
    told = {name: found for name, found in each.items() if any(found.get(n) for n in range(start, last + 1))}
    rows = [
        (str(n), *(_amount(found.get(n)) for found in told.values()), lines[n - 1].rstrip())
        for n in range(start, last + 1)
    ]
    said = "What stands in a line costs so much, as the derivation counts it; in a loop, in one turn." if told else ""
    return Section("The source", said, head=("line", *told, "source"), rows=rows, code=("source",))


def _amount(cost: Fraction | None) -> str:
    return str(number(cost)) if cost else ""
