"""Makes docs/timing.md: the machine's cycles, the static estimates and W/P + S on one page.

python -m proofs.timing
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any, Final

from checker.cli import main as warpbound
from checker.report.timing import ratio

ROOT: Final = Path(__file__).parent
PAGE: Final = ROOT.parent / "docs" / "timing.md"
TEMPLATE: Final = ROOT / "timing.template.md"

LATENCY: Final = ("--latency", "10")


@dataclass(frozen=True, slots=True)
class Row:
    """A program of proofs/ and how it is launched; `words` are options of `wcet`."""

    name: str
    words: tuple[str, ...]
    suffix: str = "cu"

    @property
    def path(self) -> Path:
        """The source."""
        return ROOT / self.name / f"kernel.{self.suffix}"


def _simt(name: str, words: str) -> Row:
    return Row(name, tuple(words.split()), "simt")


def _cuda(name: str, words: str) -> Row:
    return Row(name, ("--warp-size", "8", *words.split()))


ROWS: Final = (
    _simt("triangleSum", "--threads 4 --warp-size 4"),
    _simt("triangleSum", "--threads 16 --warp-size 4"),
    _simt("treeSum", "--threads 32 --warp-size 4"),
    _simt("stencil", "--threads 16 --warp-size 4"),
    _simt("columnNorms", "--threads 16 --warp-size 4 --at n=10"),
    _simt("gcdSteps", "--threads 16 --warp-size 8"),
    _simt("pickOne", "--threads 16 --warp-size 4"),
    _simt("lastTest", "--threads 1 --warp-size 1"),
    _cuda("vectorAdd", "--block 64 --grid 3 --processors 2 --at numElements=160"),
    _cuda("addSub0", "--block 16 --at w=12,h=16"),
    _cuda("addSub1", "--block 16 --at w=12,h=32"),
    _cuda("addSub2", "--block 16 --at w=16,h=16"),
    _cuda("addSub3", "--block 16 --at w=16,h=16"),
    _cuda("matMul", "--block 32,2 --at wA=32,wB=32"),
    _cuda("matMulBad", "--block 32,2 --at wA=16,wB=32"),
    _cuda("matMulTrans", "--block 32,2 --at wA=32,wB=32"),
    _cuda("reduce0", "--block 64 --at n=64"),
    _cuda("reduce1", "--block 64 --at n=64"),
    _cuda("reduce2", "--block 64 --at n=64"),
    _cuda("reduce3", "--block 64 --at n=128"),
    _cuda("reduce2a", "--block 64 --at n=64"),
    _cuda("reduce3a", "--block 64 --at n=128"),
    _cuda("histogram256", "--block 64 --at dataCount=100"),
    _cuda("synBrdis", "--block 32 --at N=8,M=6"),
    _cuda("synBrdisOpt", "--block 32 --at N=8,M=6"),
    _cuda("fan2", "--block 32 --at N=30,t=2"),
    _cuda("fan2Fixed", "--block 32 --at N=30,t=2"),
    _cuda("listRanking", "--block 8 --at N=64,len=12 --array next=ones"),
)


def measured(row: Row, mode: str = "sound") -> dict[str, Any] | None:
    """The estimate of `warpbound wcet`; None where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "found.json")
        line = ["wcet", str(row.path), *LATENCY, *row.words, "--mode", mode, "--format", "json", "-o", str(out)]
        with contextlib.redirect_stderr(io.StringIO()):  # why there is none
            if warpbound(line) != 0:
                return None
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found


def table(rows: Iterable[tuple[Row, dict[str, Any], dict[str, Any] | None]]) -> str:
    """The table of the page."""
    lines = [
        "| program | launch | machine | estimate | by | over machine | paper's estimate | W/P + S | formula |",
        "|---|---|---:|---:|---|---:|---:|---:|---|",
    ]
    for row, sound, paper in rows:
        over = ratio(sound["estimate"], sound["machine"])
        other = "-" if paper is None else str(paper["estimate"])
        if paper is not None and paper["estimate"] < sound["machine"]:
            other = f"**{other}**"
        span = f"{sound['work_span']}{'' if sound['work_span_evidence'] == 'certified' else ' (e)'}"
        formula = f"`{sound['formula']}`" if sound["formula"] else "-"
        cells = (
            f"[{row.name}](../proofs/{row.name}/kernel.{row.suffix})",
            f"`{' '.join(row.words)}`",
            *(str(sound[key]) for key in ("machine", "estimate", "evidence")),
            over,
            other,
            span,
            formula,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def middle(found: Sequence[dict[str, Any]]) -> Fraction:
    """The median of estimate over machine."""
    return median(Fraction(row["estimate"], row["machine"]) for row in found)


def page() -> str:
    """The page, from its template."""
    rows: list[tuple[Row, dict[str, Any], dict[str, Any] | None]] = []
    for row in ROWS:
        sound = measured(row)
        if sound is None or sound["machine"] is None:
            raise ValueError(f"{row.name} has no figures")
        rows.append((row, sound, measured(row, "paper")))
    found = [sound for _, sound, _ in rows]
    worst = max(Fraction(f["estimate"], f["machine"]) for f in found)
    half = middle(found)
    filled = TEMPLATE.read_text(encoding="utf-8")
    for name, text in (
        ("TABLE", table(rows)),
        ("MEDIAN", ratio(half.numerator, half.denominator)),
        ("WORST", ratio(worst.numerator, worst.denominator)),
        ("ROWS", str(len(rows))),
    ):
        filled = filled.replace(f"{{{name}}}", text)
    return filled


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
