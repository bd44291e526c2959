"""The costs of a run by the lines of its source, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from semantics.profile import LineCost

_WIDEST = 72  # characters of a source line that are shown


def lines_text(lines: Sequence[LineCost], totals: Mapping[str, Fraction], sources: Mapping[str, Sequence[str]]) -> str:
    """Lines, executions, each metric's cost and its share of the total, the line itself; a heading a file."""
    head = ["line", "executions", *(word for m in totals for word in (m, "")), "source"]
    rows: list[list[str]] = []
    for cost in lines:
        cells = [cell for m, total in totals.items() for cell in (str(cost.costs[m]), _share(cost.costs[m], total))]
        rows.append([str(cost.line) if cost.line else "-", str(cost.executions), *cells, _source(cost, sources)])
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    text = []
    for n, row in enumerate((head, *rows)):
        if n and (n == 1 or lines[n - 1].file != lines[n - 2].file):
            text.append(f"  {lines[n - 1].file or 'without a place'}")
        *numbers, source = row
        text.append("  " + "  ".join(f"{c:>{w}}" for c, w in zip(numbers, widths, strict=False)) + f"  {source}")
    return "\n".join(line.rstrip() for line in text)


def _share(part: Fraction, total: Fraction) -> str:
    """A part in percent of the total, rounded for the eye."""
    if not part:
        return ""
    percent = round(100 * part / total)
    return f"{percent}%" if percent else "<1%"


def _source(cost: LineCost, sources: Mapping[str, Sequence[str]]) -> str:
    lines = sources.get(cost.file, ())
    text = lines[cost.line - 1].strip() if 0 < cost.line <= len(lines) else ""
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
