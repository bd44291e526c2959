"""Measures the kernels of proofs/data anew: their bounds against runs, the seconds that the search and both checkers
take, and the sizes of certificates; docs/data.md has what came of it.

python -m tests.bench.data [KERNEL..]

The search makes the certificates of all metrics a warp at once, as `bound --metric all` does, and leaves them where
nobody looks. Seconds are those of the processor, of all processes together.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from proofs.data.make import HOME, KERNELS, METRICS, SUMMED, timed
from tests.proofs.test_data import SHAPES, least_ratios

SETS: Final = 20
"""Data sets of each kernel, of all shapes alike."""

HEAD: Final = ("kernel", "sectors, divergences, steps", "sectors of the grid", "bound", "check", "recheck", "bytes")


def row(name: str) -> str:
    """The measurements of a kernel, as a row of the table. Raises ValueError where something is not certified."""
    ratios = least_ratios(name, SETS // len(SHAPES))
    warp = ", ".join(rounded(ratios[metric, "warp"]) for metric in METRICS if metric != "conflicts")
    grid = rounded(ratios["sectors", "grid"]) if name in SUMMED else ""
    with TemporaryDirectory() as folder:
        words = ["bound", str(HOME / f"{name}.cu"), "--metric", "all", "--format", "json", "--certificate", folder]
        code, text, search = timed(words)
        found = sorted(Path(folder).glob("*.json"))
        if code != 0 or len(found) != len(METRICS) or len(json.loads(text)["results"]) != len(METRICS):
            raise ValueError(f"{name} is not certified under all metrics")
        seconds = [search, *(sum(checked(command, path) for path in found) for command in ("check", "recheck"))]
        size = sum(path.stat().st_size for path in found)
    return f"| {name} | {warp} | {grid} | {' | '.join(f'{took:.1f}' for took in seconds)} | {size} |"


def checked(command: str, path: Path) -> float:
    """The seconds that a checker takes for a certificate. Raises ValueError where it does not accept it."""
    code, _, took = timed([command, str(path)])
    if code != 0:
        raise ValueError(f"{command} does not accept {path.name}")
    return took


def rounded(ratio: Fraction) -> str:
    return f"{float(ratio):.2f}"


def main(names: Sequence[str]) -> None:
    print(f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|", sep="\n", flush=True)
    for name in names or KERNELS:
        print(row(name), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
