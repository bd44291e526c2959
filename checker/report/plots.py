"""Bounds against the dearest runs that are found, over each parameter: as data, and as pictures in a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
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
    """A bound and runs over one parameter, the others as they are at the point of the report."""

    parameter: str
    points: tuple[Point, ...]


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
            found.append(curve)
    return found


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
    top = max(float(max(p.bound, p.cost or 0)) for p in curve.points) or 1.0
    wide, high = _WIDE - _LEFT - _RIGHT, _HIGH - _TOP - _BOTTOM

    def place(x: int, y: Fraction | int) -> tuple[float, float]:
        right = (x - xs[0]) / (xs[-1] - xs[0])
        return _LEFT + wide * right, _TOP + high * (1 - float(y) / top)

    told = f"{unit}: the bound, and the dearest runs found, over {curve.parameter} from {xs[0]} to {xs[-1]}"
    lines = [f'<svg class="plot" viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="{escape(told)}">']
    for k in range(_STEPS + 1):
        y = _TOP + high * (1 - k / _STEPS)
        lines.append(f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + wide}" y2="{y:.1f}"/>')
        lines.append(_text(_LEFT - 8, y + 4, f"{top * k / _STEPS:.4g}", "end"))
    marks = dict.fromkeys((xs[0], xs[len(xs) // 2], xs[-1]))
    lines += [_text(place(n, 0)[0], _HIGH - _BOTTOM + 18, str(n), "middle") for n in marks]
    lines.append(_text(_LEFT + wide / 2, _HIGH - 6, curve.parameter, "middle"))
    path = " ".join("{:.1f},{:.1f}".format(*place(p.at, p.bound)) for p in curve.points)
    lines.append(f'<polyline class="limit" points="{path}"/>')
    for p in curve.points:
        if p.cost is not None:
            right, y = place(p.at, p.cost)
            lines.append(f'<circle class="run" cx="{right:.1f}" cy="{y:.1f}" r="4"/>')
    return "\n".join((*lines, "</svg>"))


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def table(curve: Curve) -> list[Sequence[str]]:
    """The same as rows: the parameter, the bound, the dearest run, and how much of the bound that is."""
    return [
        (
            str(p.at),
            str(number(p.bound)),
            "-" if p.cost is None else str(number(p.cost)),
            f"{float(p.cost / p.bound):.0%}" if p.cost is not None and p.bound else "-",
        )
        for p in curve.points
    ]
