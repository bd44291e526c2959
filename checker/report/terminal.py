"""Errors for a person: the sentence with its place, the line of the source with a caret, and advice."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from pathlib import Path
from typing import Final

from checker.notation.words import printable
from logic.source import Loc, SourceError

WIDTH: Final = 100
"""The most columns of the terminal that a source line, or a line of prose, takes."""

TAB: Final = 4


def render_error(err: SourceError, source: str | None = None) -> str:
    """The error as text; `source` is what the file holds where it is not to be read again.

        addSub3.qhl:12:13: error: expected ';' after the assignment
              i <- i + 1
                        ^
          advice

    Nothing of a source can move the cursor: control characters are shown as U+FFFD.
    """
    head = f"{err.loc or 'warpbound'}: error: {err.message}"
    lines = excerpt(err.loc, source) if err.loc else []
    advice = [wrapped(printable(err.advice), "  ")] if err.advice else []
    return "\n".join([printable(head), *(f"    {line}" for line in lines), *advice])


TO_COPY: Final = re.compile(r"(?<=: )((?://@ [^;]*;)|(?:--assume \"[^\"]*\"))[. ]*")
"""What advice says to write, behind a colon: an annotation, or an option."""


def wrapped(text: str, indent: str = "", more: str | None = None) -> str:
    """Prose in lines of WIDTH; each after the first begins with `more`, or `indent` again. Words stay whole, and what
    is to be copied stands on a line of its own, however long that is."""
    later = indent if more is None else more
    lines: list[str] = []
    for i, part in enumerate(TO_COPY.split(text)):
        first = later if lines else indent
        if i % 2:
            lines.append(f"{later}  {part}")
        elif part.strip():
            lines.append(
                textwrap.fill(
                    part.strip(),
                    WIDTH,
                    initial_indent=first,
                    subsequent_indent=later,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            )
    return "\n".join(lines)


def excerpt(loc: Loc, source: str | None) -> list[str]:
    """The line with a caret under the column; nothing where there is no such line."""
    if source is None:
        try:
            source = Path(loc.file).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return []
    lines = source.split("\n")
    if not 1 <= loc.line <= len(lines):
        return []
    cells = _cells(lines[loc.line - 1].rstrip())
    here = min(max(loc.column, 1) - 1, len(cells))
    first, last = _window([width for _, width in cells], here)
    left, right = "…" if first else "", "…" if last < len(cells) else ""
    indent = len(left) + sum(width for _, width in cells[first:here])
    text = left + "".join(shown for shown, _ in cells[first:last]) + right
    return [text.rstrip(), " " * indent + "^"]


def _cells(line: str) -> list[tuple[str, int]]:
    """Each character as it is shown, and the columns that it takes."""
    cells: list[tuple[str, int]] = []
    column = 0
    for c in line:
        if c == "\t":
            width = TAB - column % TAB
            cells.append((" " * width, width))
        elif unicodedata.combining(c):
            width = 0
            cells.append((c, width))
        else:
            width = 2 if unicodedata.east_asian_width(c) in "WF" else 1
            cells.append((printable(c), width))
        column += width
    return cells


def _window(widths: list[int], here: int) -> tuple[int, int]:
    """The range of characters around `here` to show: the whole line if it fits, else about WIDTH columns of it."""
    if sum(widths) <= WIDTH:
        return 0, len(widths)
    first = last = here
    room = WIDTH
    while room > 0 and (first > 0 or last < len(widths)):
        if first > 0 and (here - first <= last - here or last == len(widths)):
            first -= 1
            room -= widths[first]
        else:
            room -= widths[last]
            last += 1
    return first, last
