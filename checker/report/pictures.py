"""Pictures of accesses: which lanes of a warp touch which sectors of global memory, or which banks of shared memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

from logic.metrics import Hardware, by_phase, lanes_at_once, touched
from logic.syntax import Array

_WIDE: Final = 640
_EDGE: Final = 4
_LANE: Final = 12
_TOP: Final = 18
_GAP: Final = 44
_MOST: Final = 40
"""The most boxes that are drawn; more would not be told apart."""


def access(array: Array, lanes: Mapping[int, int], hardware: Hardware, count: int) -> str:
    """An access as SVG to stand in a page: a box for each lane of the warp above, one for each sector that is touched,
    or each bank, below, and a line from a lane to all that it touches. `lanes` has the first byte of each active
    lane."""
    shared = array.space == "shared"
    unit = hardware.word if shared else hardware.sector
    touches = {lane: sorted(touched([byte], array.width, unit)) for lane, byte in lanes.items()}
    words: dict[int, set[int]] = {}
    at_once = lanes_at_once(array.width, hardware) if shared else hardware.warp
    for units in touches.values():
        for u in units:
            words.setdefault(u % hardware.banks if shared else u, set()).add(u)
    boxes = list(range(hardware.banks)) if shared else sorted(words)
    drawn = {box: i for i, box in enumerate(boxes[:_MOST])}
    who, told = _told(
        array, len(lanes), len(boxes), count, "" if at_once == hardware.warp else f", {at_once} lanes at once"
    )
    low, label = _TOP + _LANE + _GAP, f"{escape(who)}: {escape(told)}"
    lines = [f'<svg class="access" viewBox="0 0 {_WIDE} {low + _LANE + 18}" role="img" aria-label="{label}">']
    lines.append(_label(_EDGE, _TOP - 5, f"{len(lanes)} lanes of a warp"))
    width = (_WIDE - 2 * _EDGE) / hardware.warp
    below = (_WIDE - 2 * _EDGE) / max(len(drawn), 8)
    lines.append(_boxes("lane", _TOP, width, [n for n in range(hardware.warp) if n in lanes]))
    lines.append(_boxes("idle", _TOP, width, [n for n in range(hardware.warp) if n not in lanes]))
    path = "".join(
        f"M{_EDGE + (lane + 0.5) * width:.0f} {_TOP + _LANE}L{_EDGE + (drawn[box] + 0.5) * below:.0f} {low}"
        for lane, units in sorted(touches.items())
        for box in dict.fromkeys(u % hardware.banks if shared else u for u in units)
        if box in drawn
    )
    lines.append(f'<path class="touch" d="{path}"/>')
    crowds = _crowds(by_phase(touches.items(), array.width, hardware), hardware) if shared else set()
    crowded = [i for box, i in drawn.items() if box in crowds]
    lines.append(_boxes("unit", low, below, [i for box, i in drawn.items() if box in words and i not in crowded]))
    lines.append(_boxes("crowd", low, below, crowded))
    lines.append(_boxes("idle", low, below, [i for box, i in drawn.items() if box not in words]))
    more = f"; {len(boxes) - len(drawn)} more are not drawn" if len(boxes) > len(drawn) else ""
    lines.append(_label(_EDGE, low + _LANE + 14, told + more))
    return "\n".join((*(line for line in lines if line), "</svg>"))


def _crowds(phases: Iterable[Sequence[Sequence[int]]], hardware: Hardware) -> set[int]:
    """The banks that have the most words to give in a phase, if any has more than one; of lanes, all their words."""
    each = [Counter(u % hardware.banks for u in {u for units in phase for u in units}) for phase in phases]
    busiest = max((n for found in each for n in found.values()), default=0)
    return {box for found in each for box, n in found.items() if n == busiest > 1}


def _told(array: Array, lanes: int, boxes: int, count: int, phases: str) -> tuple[str, str]:
    """The picture in words: what it is of, and what it shows; `phases` is how many lanes are served at once, if
    not all."""
    if array.space == "shared":
        most = "no bank has more than one word to give" if count < 2 else f"one bank has {count} words to give"
        if phases and count > 1:
            most = f"{count - 1} words have to wait for others of their bank"
        return f"{lanes} lanes and the banks of {array.name}", f"{most}{phases}"
    return f"{lanes} lanes and the sectors of {array.name}", f"{boxes} {'sector' if boxes == 1 else 'sectors'}"


def _boxes(kind: str, top: float, width: float, numbers: list[int]) -> str:
    path = "".join(f"M{_EDGE + n * width + 1:.0f} {top}h{width - 2:.0f}v{_LANE}h-{width - 2:.0f}z" for n in numbers)
    return f'<path class="{kind}" d="{path}"/>' if path else ""


def _label(x: float, y: float, words: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(words)}</text>'
