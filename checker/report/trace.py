"""A run of the mini-SIMT machine, cycle by cycle: as text, JSON, a page, and a picture of warps over cycles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import groupby
from typing import Final

from checker.notation.problem import OptionProblem
from checker.report.page import Page, Section
from semantics.machine.blocks import Place
from semantics.machine.program import Program, opcode
from semantics.machine.text import show_instruction
from semantics.machine.trace import Observer, Row, State
from semantics.values import Value

MOST: Final = 2_000_000
"""The most states (cycles times warps) that are kept."""

DRAWN: Final = 50_000
"""The most states of a picture, runs of one state in a row counting once."""


@dataclass(slots=True)
class Trace:
    """The trace of a machine: rows with the place of their block; cycles count from the block's own first."""

    program: Program
    warp_size: int
    rows: list[tuple[Place, Row]] = field(default_factory=list)
    states: int = 0

    def observer(self, place: Place) -> Observer:
        """An observer of one block. It raises OptionProblem where the trace gets too long to keep."""

        def see(row: Row) -> None:
            self.states += len(row.states)
            if self.states > MOST:
                message = f"the trace has more than {MOST} states of warps"
                raise OptionProblem(message, advice="Ask for fewer threads, or for no trace.")
            self.rows.append((place, row))

        return see

    def mask(self, row: Row) -> str:
        """The active threads of the warp, thread 0 first: 1 active, 0 passive."""
        lanes = set(row.lanes)
        return "".join("1" if lane in lanes else "0" for lane in range(self.warp_size))

    def instruction(self, row: Row) -> str:
        """The row's instruction with its label."""
        i = show_instruction(self.program.instructions[row.address], self.program.labels)
        label = self.program.labels.get(row.address)
        return f"{label}: {i}" if label else i


# --- text and JSON ---------------------------------------------------------------------------------------------------


def trace_table(trace: Trace, blocks: bool) -> list[list[str]]:
    """A line a cycle, the head first: the instruction that was issued or `stall`, and who could not issue one."""
    where: tuple[str, ...] = ("block", "processor") if blocks else ()
    table = [["cycle", *where, "warp", "mask", "instruction", "stalled", "at barrier"]]
    for place, row in trace.rows:
        issued = ["", "", "stall"]
        if row.warp is not None:
            issued = [str(row.warp), trace.mask(row), trace.instruction(row)]
        where = (_index(place.block), str(place.processor)) if blocks else ()
        kinds = (" ".join(map(str, _numbers(row, state))) for state in ("stall", "barrier"))
        table.append([str(place.start + row.cycle), *where, *issued, *kinds])
    return table


def trace_text(trace: Trace, blocks: bool) -> str:
    """The table as text."""
    table = trace_table(trace, blocks)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for number, *cells in table:
        rest = (f"{cell:<{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        lines.append("  ".join([f"{number:>{widths[0]}}", *rest]).rstrip())
    return "\n".join(lines)


def trace_json(trace: Trace, blocks: bool) -> list[dict[str, object]]:
    """An object a cycle; `warp`, `label`, `line`, `opcode`, `instruction` and `mask` are null where none was issued."""
    rows = []
    for place, row in trace.rows:
        where = {"block": list(place.block), "processor": place.processor} if blocks else {}
        issued = row.warp is not None
        i = trace.program.instructions[row.address]
        rows.append(
            {
                "cycle": place.start + row.cycle,
                **where,
                "warp": row.warp,
                "label": trace.program.labels.get(row.address) if issued else None,
                "line": i.loc.line if issued and i.loc else None,
                "opcode": opcode(i) if issued else None,
                "instruction": show_instruction(i, trace.program.labels) if issued else None,
                "mask": trace.mask(row) if issued else None,
                "stalled": _numbers(row, "stall"),
                "waiting": _numbers(row, "barrier"),
                "ended": _numbers(row, "ended"),
            }
        )
    return rows


def _numbers(row: Row, state: str) -> list[int]:
    return [w for w, s in enumerate(row.states) if s == state]


def _index(block: Sequence[int]) -> str:
    return ",".join(map(str, block))


# --- memory ----------------------------------------------------------------------------------------------------------

CELLS: Final = 8
LINES: Final = 100


def memory_text(memory: Mapping[int, Value]) -> str:
    """Cells in the order of their addresses, up to eight neighbours a line, LINES lines at most."""
    lines: list[list[int]] = []
    for address in sorted(memory):
        if lines and lines[-1][-1] == address - 1 and len(lines[-1]) < CELLS:
            lines[-1].append(address)
        else:
            lines.append([address])
    shown = lines[:LINES]
    width = max((len(str(line[0])) for line in shown), default=0)
    text = [f"  {line[0]:>{width}}: {' '.join(str(memory[a]) for a in line)}" for line in shown]
    hidden = sum(map(len, lines[LINES:]))
    return "\n".join([*text, *([f"  and {hidden} cells more"] if hidden else [])])


# --- the picture -----------------------------------------------------------------------------------------------------

COLOURS: Final[dict[State, str]] = {
    "issue": "#1f77b4",
    "ready": "#d9d9d9",
    "stall": "#ff9f1c",
    "barrier": "#c1121f",
}
_TOLD: Final[dict[State, str]] = {
    "issue": "issues an instruction",
    "ready": "ready, another warp issues",
    "stall": "waits for a load",
    "barrier": "waits at a barrier",
}
STRIP: Final = 150
"""Cycles that are drawn side by side."""
_CYCLE: Final = 8
_ROW: Final = 20
_TOP: Final = 54
_LEFT: Final = 130


@dataclass(frozen=True, slots=True)
class _Bar:
    row: int
    start: int
    end: int
    state: State
    told: str
    share: float  # of the warp's threads that are active


def trace_svg(trace: Trace, title: str) -> str:
    """Warps over cycles in strips of STRIP cycles, a bar for each time that a warp spends in one state.

    A bar of an instruction is paler where threads are passive; each says what it is. Raises OptionProblem where there
    is too much to draw.
    """
    places = sorted({(place.processor, w) for place, row in trace.rows for w in range(len(row.states))})
    rows = {key: n for n, key in enumerate(places)}
    bars = [piece for bar in _bars(trace, rows) for piece in _cut(bar)]
    if len(bars) > DRAWN:
        message = f"the picture would have more than {DRAWN} bars"
        raise OptionProblem(message, advice="Ask for fewer threads or blocks.")
    cycles = max((bar.end for bar in bars), default=1)
    strips = -(-cycles // STRIP)
    tall = len(rows) * _ROW + 26  # of a strip
    width, height = _LEFT + min(cycles, STRIP) * _CYCLE + 30, _TOP + strips * tall
    several = len({processor for processor, _ in places}) > 1
    size = f'width="{max(width, 720)}" height="{height}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
        f'<title>{_text(title)}</title><rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="8" y="16" font-size="13">{_text(title)}</text>',
    ]
    at = 8
    for state, told in _TOLD.items():
        out.append(f'<rect x="{at}" y="26" width="11" height="11" fill="{COLOURS[state]}"/>')
        out.append(f'<text x="{at + 16}" y="36">{told}</text>')
        at += 40 + 6 * len(told)
    for strip in range(strips):
        top = _TOP + strip * tall
        for (processor, w), n in rows.items():
            name = f"processor {processor}, warp {w}" if several else f"warp {w}"
            out.append(f'<text x="8" y="{top + n * _ROW + 12}">{name}</text>')
        for cycle in range(strip * STRIP, min((strip + 1) * STRIP, cycles) + 1, 10):
            x, foot = _LEFT + (cycle - strip * STRIP) * _CYCLE, top + len(rows) * _ROW
            out.append(f'<path d="M{x} {top - 2}V{foot}" stroke="#000000" opacity="0.2"/>')
            out.append(f'<text x="{x}" y="{foot + 12}" text-anchor="middle">{cycle}</text>')
    for bar in bars:
        strip, start = divmod(bar.start, STRIP)
        pale = f' fill-opacity="{0.35 + 0.65 * bar.share:.2f}"' if bar.share < 1 else ""
        out.append(
            f'<rect x="{_LEFT + start * _CYCLE}" y="{_TOP + strip * tall + bar.row * _ROW}" '
            f'width="{(bar.end - bar.start) * _CYCLE}" height="{_ROW - 4}" fill="{COLOURS[bar.state]}"{pale}>'
            f"<title>{_text(bar.told)}</title></rect>"
        )
    return "\n".join([*out, "</svg>"])


def _cut(bar: _Bar) -> Iterator[_Bar]:
    """The parts of a bar in their strips."""
    for start in range(bar.start - bar.start % STRIP, bar.end, STRIP):
        yield replace(bar, start=max(start, bar.start), end=min(start + STRIP, bar.end))


def _bars(trace: Trace, rows: Mapping[tuple[int, int], int]) -> Iterator[_Bar]:
    """Every instruction by itself, and neighbouring cycles of one warp in one other state together."""
    columns: dict[tuple[Place, int], list[tuple[int, State, str, float]]] = {}
    for place, row in trace.rows:
        for w, state in enumerate(row.states):
            if state == "ended":
                continue
            told, share = _TOLD[state], 1.0
            if state == "issue":
                told, share = f"{trace.instruction(row)} {trace.mask(row)}", len(row.lanes) / trace.warp_size
            columns.setdefault((place, w), []).append((place.start + row.cycle, state, told, share))
    for (place, w), column in columns.items():
        for state, group in groupby(column, key=lambda c: c[:2] if c[1] == "issue" else c[1]):
            cells = list(group)
            start, end, (_, state, told, share) = cells[0][0], cells[-1][0] + 1, cells[0]
            when = f"cycle {start}" if end == start + 1 else f"cycles {start} to {end - 1}"
            yield _Bar(rows[place.processor, w], start, end, state, f"{when}: warp {w} {told}", share)


def trace_page(trace: Trace | None, title: str, text: str, blocks: bool, picture: bool) -> Page:
    """A run as a page: on request its picture, then what text says, and what was kept of it as a table."""
    sections = [Section(picture=trace_svg(trace, title) if trace and picture else "", fixed=text)]
    if trace:
        head, *rows = trace_table(trace, blocks)
        sections.append(Section("Cycles", head=head, rows=rows, code=("mask", "instruction")))
    return Page(title, sections)


def _text(text: str) -> str:
    return escape("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text))
