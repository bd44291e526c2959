"""The costs of a run by the lines of its source, as a table, of text or of a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from checker.analysis.shares import Account, Share, by_line, gaps
from checker.notation.words import number
from checker.report.page import Section
from semantics.profile import LineCost

_WIDEST = 72  # characters of a source line that are shown


def line_cells(
    lines: Sequence[LineCost], totals: Mapping[str, Fraction], sources: Mapping[str, Sequence[str]]
) -> list[list[str]]:
    """The table's head and rows: line, executions, each metric's cost and its share of the total, the line itself."""
    rows = [["line", "executions", *(word for m in totals for word in (m, "")), "source"]]
    for cost in lines:
        cells = [cell for m, total in totals.items() for cell in (str(cost.costs[m]), _share(cost.costs[m], total))]
        rows.append([str(cost.line) if cost.line else "-", str(cost.executions), *cells, _source(cost, sources)])
    return rows


def lines_text(lines: Sequence[LineCost], totals: Mapping[str, Fraction], sources: Mapping[str, Sequence[str]]) -> str:
    """The table as text; a heading a file."""
    rows = line_cells(lines, totals, sources)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    text = []
    for n, row in enumerate(rows):
        if n and (n == 1 or lines[n - 1].file != lines[n - 2].file):
            text.append(f"  {lines[n - 1].file or 'without a place'}")
        *numbers, source = row
        text.append("  " + "  ".join(f"{c:>{w}}" for c, w in zip(numbers, widths, strict=False)) + f"  {source}")
    return "\n".join(line.rstrip() for line in text)


def lines_section(
    lines: Sequence[LineCost], totals: Mapping[str, Fraction], sources: Mapping[str, Sequence[str]]
) -> Section:
    """The table as a part of a page, with the file of each line."""
    head, *rows = line_cells(lines, totals, sources)
    names = [name or f"{head[n - 1]} %" for n, name in enumerate(head)]
    table = [[cost.file, *row] for cost, row in zip(lines, rows, strict=True)]
    return Section("By line", head=["file", *names], rows=table, code=("file", "source"))


def shares_text(spent: Mapping[str, Account], own: str, source: Sequence[str]) -> str:
    """A table of what lines take of the bounds of some metrics; `own` is the file of which `source` has the lines.
    What is of no line comes last, and their sum."""
    lines: dict[tuple[str, int], dict[str, Fraction]] = {}
    for metric, found in spent.items():
        for key, share in by_line(found).items():
            lines.setdefault(key, {})[metric] = share.spent
    rows = [["line", *(word for m in spent for word in (m, "")), "source"]]
    for (file, line), amounts in sorted(lines.items(), key=lambda row: (row[0][1] == 0, row[0][0] != own, row[0])):
        if not any(amounts.values()):
            continue
        cells = [cell for m, a in spent.items() for cell in _amount(amounts.get(m, Fraction(0)), a.bound)]
        rows.append([_label(file, line, own), *cells, _text(file, line, own, source)])
    rows.append(["all", *(cell for a in spent.values() for cell in (str(number(a.bound)), "")), ""])
    return "\n".join(f"  {line}".rstrip() for line in _laid(rows))


def gaps_text(found: Account, own: str, source: Sequence[str]) -> list[str]:
    """A table of what lines take of a bound and what the run pays there, the greatest difference first."""
    rows = [["line", "bound", "run", "more", "source"]]
    for (file, line), share in gaps(found):
        amounts = (share.spent, share.paid, share.spent - share.paid)
        rows.append([_label(file, line, own), *(str(number(n)) for n in amounts), _text(file, line, own, source)])
    return [line.rstrip() for line in _laid(rows)]


def _laid(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of a table of numbers, with a text at the end of each."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{c:>{w}}" for c, w in zip(row[:-1], widths, strict=False)) + f"  {row[-1]}" for row in rows]


def with_gaps(row: dict[str, Any], found: Account | None) -> dict[str, Any]:
    """The row with what lines take of the bound, and what the dearest run pays there."""
    return {**row, "shares": None if found is None else shared_out(found, gaps(found))}


def shared_out(found: Account, lines: Iterable[tuple[tuple[str, int], Share]]) -> dict[str, Any]:
    """The shares of a bound by these lines, for JSON."""
    return {
        "of": number(found.bound),
        "block": None if found.block is None else list(found.block),
        "warp": found.warp,
        "lines": [
            {"file": file or None, "line": line or None, "spent": number(share.spent), "paid": number(share.paid)}
            for (file, line), share in lines
        ],
    }


def _label(file: str, line: int, own: str) -> str:
    """The number of a line, with its file where that is another than `own`."""
    return "none" if not line else str(line) if file == own else f"{Path(file).name}:{line}"


def _text(file: str, line: int, own: str, source: Sequence[str]) -> str:
    """The text of a line of the file that is the source."""
    return _cut(source[line - 1]) if file == own and 0 < line <= len(source) else ""


def _amount(part: Fraction, total: Fraction) -> tuple[str, str]:
    return (str(number(part)), _share(part, total)) if part else ("", "")


def closing(lines: Sequence[str], first: int, least: int = 0) -> int:
    """The line, not before `least`, with the brace that closes the body which begins at line `first`, as far as braces
    tell: comments and texts of one line are left out."""
    depth, opened = 0, False
    for i in range(first, len(lines) + 1):
        code = re.sub(r"//.*|/\*.*?\*/|\"(\\.|[^\"])*\"|'(\\.|[^'])*'", "", lines[i - 1])
        depth += code.count("{") - code.count("}")
        opened |= "{" in code
        if opened and depth <= 0 and i >= least:
            return i
    return min(max(least, first), len(lines))


def _share(part: Fraction, total: Fraction) -> str:
    """A part in percent of the total, rounded for the eye."""
    if not part:
        return ""
    percent = round(100 * part / total)
    return f"{percent}%" if percent else "<1%"


def _source(cost: LineCost, sources: Mapping[str, Sequence[str]]) -> str:
    lines = sources.get(cost.file, ())
    return _cut(lines[cost.line - 1]) if 0 < cost.line <= len(lines) else ""


def _cut(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
