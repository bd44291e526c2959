"""Bounds against the dearest runs that are found, over each parameter: as data, and as pictures in a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from math import floor
from typing import Final

from checker import limits
from checker.certificates.claims import excluded, shown, value_at
from checker.kernel import Claim
from checker.notation.words import number
from checker.refutation.witness import Fill, find_witnesses
from logic.potentials import leaves
from logic.syntax import Kernel, Param

POINTS: Final = 8
"""The most points of a curve."""

LINE: Final = 64
"""Values between which a bound is drawn as a straight line."""

RUNS: Final = 6
"""The runs that are tried for a point."""

EFFORT: Final = limits.EFFORT // 32
"""What these may take together (`checker.refutation.witness`)."""


@dataclass(frozen=True, slots=True)
class Point:
    """A parameter's value, the bound there, and the cost of the dearest run that was found; None where none could be
    run."""

    at: int
    bound: Fraction
    cost: Fraction | None


@dataclass(frozen=True, slots=True)
class Curve:
    """A bound and runs over one parameter, the others as they are at the point of the report; `limit` is the bound at
    more values than runs were looked for."""

    parameter: str
    points: tuple[Point, ...]
    limit: tuple[tuple[int, Fraction], ...] = ()

    @property
    def remark(self) -> str:
        """Why dots are missing; "" where none is."""
        missing = sum(p.cost is None for p in self.points)
        if not missing:
            return ""
        where = "No run is shown" if missing == len(self.points) else "Where a dot is missing no run is shown"
        return f"{where}: the kernel cannot be run there, or only for longer than is tried."


def curves(kernel: Kernel, claim: Claim, at: Mapping[str, int], fill: Fill) -> list[Curve]:
    """A curve for each parameter of a bound that the point has a value for, from an eighth of that on. None where the
    bound has other parameters, too. Raises Overrun."""
    bound = shown(claim)
    names = sorted({leaf.name for leaf in leaves(bound) if isinstance(leaf, Param)} & at.keys())
    found = []
    for name in names:
        values = sorted({at[name] * k // POINTS for k in range(1, POINTS + 1)}) if at[name] > 0 else []
        points = (_point(kernel, claim, {**at, name: n}, name, fill) for n in values)
        curve = Curve(name, tuple(p for p in points if p is not None))
        if len(curve.points) > 1:
            found.append(replace(curve, limit=_limit(claim, at, name, curve.points)))
    return found


def _limit(claim: Claim, at: Mapping[str, int], name: str, points: Sequence[Point]) -> tuple[tuple[int, Fraction], ...]:
    """The bound from the first to the last point, at these and at values between them."""
    first, last = points[0].at, points[-1].at
    values = {first + (last - first) * k // LINE for k in range(LINE + 1)} | {p.at for p in points}
    found = []
    for n in sorted(values):
        here = {**at, name: n}
        value = None if excluded(here, claim.context) is not None else value_at(shown(claim), claim.context, here)[0]
        if value is not None:
            found.append((n, Fraction(value)))
    return tuple(found)


def _point(kernel: Kernel, claim: Claim, at: Mapping[str, int], name: str, fill: Fill) -> Point | None:
    """None where the launch excludes the point, or the bound has no number there."""
    if excluded(dict(at), claim.context) is not None:
        return None
    value, _ = value_at(shown(claim), claim.context, dict(at))
    if value is None:
        return None
    (best,) = find_witnesses(kernel, [claim], fill, at, runs=RUNS, effort=EFFORT)
    return Point(at[name], Fraction(value), None if best is None else best.cost)


# --- pictures --------------------------------------------------------------------------------------------------------

_WIDE: Final = 520
_HIGH: Final = 260
_LEFT: Final = 64
_RIGHT: Final = 16
_TOP: Final = 16
_BOTTOM: Final = 44
_STEPS: Final = 4


def picture(curve: Curve, unit: str) -> str:
    """The curve as SVG to stand in a page: the bound a line, runs as dots. Its colours are the page's."""
    xs = [p.at for p in curve.points]
    limit = curve.limit or tuple((p.at, p.bound) for p in curve.points)
    step = _step(max(*(y for _, y in limit), *(p.cost or 0 for p in curve.points)))
    top = step * _STEPS
    wide, high = _WIDE - _LEFT - _RIGHT, _HIGH - _TOP - _BOTTOM

    def place(x: int, y: Fraction | int) -> tuple[float, float]:
        right = (x - xs[0]) / (xs[-1] - xs[0])
        return _LEFT + wide * right, _TOP + high * (1 - float(y / top))

    told = f"{unit}: the bound, and the dearest runs found, over {curve.parameter} from {xs[0]} to {xs[-1]}"
    lines = [f'<svg class="plot" viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="{escape(told)}">']
    for k in range(_STEPS + 1):
        y = _TOP + high * (1 - k / _STEPS)
        lines.append(f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + wide}" y2="{y:.1f}"/>')
        lines.append(_text(_LEFT - 8, y + 4, str(number(step * k)), "end"))
    marks = dict.fromkeys((xs[0], xs[len(xs) // 2], xs[-1]))
    lines += [_text(place(n, 0)[0], _HIGH - _BOTTOM + 18, str(n), "middle") for n in marks]
    lines.append(_text(_LEFT + wide / 2, _HIGH - 6, curve.parameter, "middle"))
    path = " ".join("{:.1f},{:.1f}".format(*place(*corner)) for corner in _corners(limit))
    lines.append(f'<polyline class="limit" points="{path}"/>')
    for p in curve.points:
        if p.cost is not None:
            right, y = place(p.at, p.cost)
            lines.append(f'<circle class="run" cx="{right:.1f}" cy="{y:.1f}" r="4"/>')
    return "\n".join((*lines, "</svg>"))


def _step(most: Fraction | int) -> Fraction:
    """The distance of the lines of a grid: 1, 2, 2.5 or 5 times a power of ten, so that they go up to the most."""
    least, power = Fraction(most) / _STEPS or Fraction(1, _STEPS), Fraction(1)
    while power * 10 < least:
        power *= 10
    return next(power * f for f in (1, 2, Fraction(5, 2), 5, 10) if power * f >= least)


def _corners(limit: Sequence[tuple[int, Fraction]]) -> list[tuple[int, Fraction]]:
    """A line without the points between two others of its height."""
    return [
        p for i, p in enumerate(limit) if not (0 < i < len(limit) - 1 and limit[i - 1][1] == p[1] == limit[i + 1][1])
    ]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def table(curve: Curve) -> list[Sequence[str]]:
    """The same as rows: the parameter, the bound, the dearest run, and how much of the bound that is."""
    return [
        (
            str(p.at),
            str(number(p.bound)),
            "-" if p.cost is None else str(number(p.cost)),
            _percent(p.cost / p.bound) if p.cost is not None and p.bound else "-",
        )
        for p in curve.points
    ]


def _percent(part: Fraction) -> str:
    """In percent, rounded down: 100 % is said of a bound that is reached."""
    return f"{floor(1000 * part) / 10:g}%"
