"""Makes docs/run-time.md and its two plots: what the run-time model says of the paper's experiments and case studies.

python -m proofs.run_time
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from checker.analysis.device_files import find_device
from checker.analysis.runtime import seconds
from checker.cli import main as warpbound

ROOT: Final = Path(__file__).parent
PAGE: Final = ROOT.parent / "docs" / "run-time.md"
STRIDES: Final = (1, 2, 4, 8, 16, 32)
BANKS: Final = (1, 2, 4, 8, 16)
MATRICES: Final = (64, 128, 256, 512, 1024, 2048)
LISTS: Final = (18, 19, 20, 21, 22)
OBSERVATIONS: Final = (1, 2, 4, 8)
"""Millions."""


def predicted(name: str, *words: str, device: str = "gtx280") -> dict[str, Any]:
    """The prediction of `warpbound predict` for a kernel of proofs/. Raises ValueError where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder, "found.json"))
        line = ["predict", str(ROOT / name / "kernel.cu"), "--device", device, *words, "--format", "json", "-o", out]
        if warpbound(line) != 0:
            raise ValueError(f"no prediction: {' '.join(line)}")
        found: dict[str, Any] = json.loads(Path(out).read_text(encoding="utf-8"))
        return found


# --- plots -----------------------------------------------------------------------------------------------------------

_COLOURS: Final = ("#1f6f8b", "#c8553d", "#6a994e")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 520, 300, 70, 50


def plot(title: str, axis: str, xs: Sequence[int], series: dict[str, Sequence[float]], even: bool = False) -> str:
    """An SVG picture: a line a series over xs, in milliseconds from 0 up; `even` puts the xs at even distances."""
    top = max(max(values) for values in series.values()) * 1.08
    wide, high = _WIDTH - _LEFT - 20, _HEIGHT - _BOTTOM - 40

    def at(i: int, value: float) -> tuple[float, float]:
        right = i / (len(xs) - 1) if even else (xs[i] - xs[0]) / (xs[-1] - xs[0])
        return _LEFT + wide * right, 40 + high * (1 - value / top)

    def text(x: float, y: float, words: str, anchor: str = "middle") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"',
        '     font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        text(_WIDTH / 2, 20, title),
        text(_LEFT + wide / 2, _HEIGHT - 10, axis),
    ]
    for k in range(5):
        _, y = at(0, top * k / 4)
        lines.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + wide}" y2="{y:.1f}" stroke="#ddd"/>')
        lines.append(text(_LEFT - 8, y + 4, f"{top * k / 4:.3g} ms", "end"))
    lines += [text(at(i, 0)[0], _HEIGHT - _BOTTOM + 18, str(x)) for i, x in enumerate(xs)]
    for number, (name, values) in enumerate(series.items()):
        colour = _COLOURS[number]
        points = [at(i, value) for i, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        lines.append(f'<text x="{_LEFT + wide}" y="{56 + 16 * number}" text-anchor="end" fill="{colour}">{name}</text>')
    return "\n".join((*lines, "</svg>", ""))


# --- tables ----------------------------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def ms(value: float | Fraction) -> str:
    """Milliseconds with four digits."""
    return f"{float(value):.4g}"


def _bounds(found: dict[str, Any]) -> tuple[str, str]:
    bounds = found["kernels"][0]["bounds"]
    return f"`{bounds['N_comp']}`", f"`{bounds['N_memory']}`"


def list_rows() -> Iterable[Sequence[str]]:
    """Case study 2."""
    for power in LISTS:
        found = predicted("listRanking", "--at", f"N={2**power}")
        new = predicted("listRanking", "--at", f"N={2**power}", device="h100")
        yield f"2^{power}", str(found["terms"]["N_B"]), ms(found["milliseconds"]), ms(new["milliseconds"])


def matrix_rows() -> Iterable[Sequence[str]]:
    """Case study 1: the print's formula, with its hand counts, and what is certified."""
    device = find_device("gtx280")
    for n in MATRICES:
        printed = seconds(device, Fraction(n * n, 256 * 30), 8, Fraction(max(760, 240) * n, 16))
        found = predicted("matMul16", "--at", f"N={n}")
        both = predicted("matMul16", "--at", f"N={n}", "--model", "sum")
        new = predicted("matMul16", "--at", f"N={n}", device="h100")
        yield (
            str(n),
            ms(printed * 1000),
            ms(found["milliseconds"]),
            ms(both["milliseconds"]),
            f"{found['milliseconds'] / float(printed * 1000):.2f}",
            ms(new["milliseconds"]),
        )


def histogram_rows() -> Iterable[Sequence[str]]:
    """Case study 3: the certified worst case and the estimate for random bins."""
    for millions in OBSERVATIONS:
        found = predicted("histogramShared", "--at", f"N={millions * 2**20}", "--random-bins", "256")
        both = predicted("histogramShared", "--at", f"N={millions * 2**20}", "--random-bins", "256", "--model", "sum")
        yield (
            f"{millions} * 2^20",
            ms(found["milliseconds"]),
            ms(found["estimate"]["milliseconds"]),
            ms(both["estimate"]["milliseconds"]),
        )


def page() -> tuple[str, str, str]:
    """docs/run-time.md and its plots, of strides and of banks."""
    strides, banks = {}, {}
    for model in ("max", "sum"):
        words = ("--model", model, "--at")
        strides[model.upper()] = [predicted("strideSweep", "-D", f"STRIDE={s}", *words, "count=1024") for s in STRIDES]
        banks[model.upper()] = [predicted("bankSweep", "-D", f"BANK={b}", *words, "repeats=64000") for b in BANKS]

    def times(runs: dict[str, list[dict[str, Any]]]) -> dict[str, Sequence[float]]:
        return {name: [found["milliseconds"] for found in many] for name, many in runs.items()}

    by_stride, by_bank = times(strides), times(banks)
    text = (ROOT / "run_time.template.md").read_text(encoding="utf-8")
    parts = {
        "STRIDES": table(
            ("stride", "N_comp", "N_memory", "MAX, ms", "SUM, ms"),
            (
                (str(s), *_bounds(found), ms(by_stride["MAX"][i]), ms(by_stride["SUM"][i]))
                for i, (s, found) in enumerate(zip(STRIDES, strides["MAX"], strict=True))
            ),
        ),
        "BANKS": table(
            ("distance", "N_comp", "N_memory", "MAX, ms", "SUM, ms"),
            (
                (str(b), *_bounds(found), ms(by_bank["MAX"][i]), ms(by_bank["SUM"][i]))
                for i, (b, found) in enumerate(zip(BANKS, banks["MAX"], strict=True))
            ),
        ),
        "MATRICES": table(
            ("N", "printed formula, ms", "certified, MAX", "certified, SUM", "MAX over printed", "h100, MAX"),
            matrix_rows(),
        ),
        "LISTS": table(("N", "N_B", "gtx280, ms", "h100, ms"), list_rows()),
        "HISTOGRAM": table(("N", "certified, ms", "expected, MAX", "expected, SUM"), histogram_rows()),
    }
    for name, lines in parts.items():
        text = text.replace(f"@{name}@", "\n".join(lines))
    return (
        text,
        plot("Experiment 1 on gtx280, 1024 turns", "stride", STRIDES, by_stride, even=True),
        plot("Experiment 2 on gtx280, 64000 writes", "distance in words", BANKS, by_bank),
    )


def main() -> None:
    """Makes everything anew."""
    text, strides, banks = page()
    PAGE.write_text(text, encoding="utf-8")
    PAGE.with_name("run-time-stride.svg").write_text(strides, encoding="utf-8")
    PAGE.with_name("run-time-bank.svg").write_text(banks, encoding="utf-8")


if __name__ == "__main__":
    main()
