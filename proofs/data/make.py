"""Makes the certificates of the kernels here, whose loops end by data, and prints their table (docs/data.md): bounds,
bytes, and the CPU seconds of the search and of both checkers.

python -m proofs.data.make [KERNEL..]

Without names those of all kernels.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from checker.cli import main as warpbound

HOME: Final = Path(__file__).parent

KERNELS: Final = tuple(sorted(path.stem for path in HOME.glob("*.cu")))

METRICS: Final = ("sectors", "conflicts", "divwarps", "steps")

SUMMED: Final = ("pagerank_pull", "run_lengths", "spmv_block", "spmv_scalar", "spmv_vector")
"""The kernels whose sectors are summed over the grid, too: there row lengths telescope."""


def certificates() -> list[tuple[str, str, str]]:
    """The kernel, the metric and what the costs are summed over, for each certificate."""
    return [
        *((name, metric, "warp") for name in KERNELS for metric in METRICS),
        *((name, "sectors", "grid") for name in SUMMED),
    ]


def path_of(name: str, metric: str, per: str) -> Path:
    """The path of a certificate."""
    return HOME / f"{name}-{metric}{'' if per == 'warp' else f'-{per}'}.json"


def timed(words: list[str]) -> tuple[int, str, float]:
    """The exit code of a command, what it prints, and its CPU seconds, those of its processes included."""
    out, start = io.StringIO(), os.times()
    with contextlib.redirect_stdout(out):
        code = warpbound(words)
    return code, out.getvalue(), sum(os.times()[:4]) - sum(start[:4])


def main(names: Sequence[str]) -> None:
    """Writes them. Raises ValueError where one is not certified, or not accepted by a checker."""
    unknown = {*names} - {*KERNELS}
    if unknown:
        raise ValueError(f"no kernel here: {', '.join(sorted(unknown))}")
    for name, metric, per in certificates():
        if names and name not in names:
            continue
        path = path_of(name, metric, per)
        words = ["bound", str(HOME / f"{name}.cu"), "--metric", metric, "--per", per, "--format", "json"]
        code, text, search = timed([*words, "--certificate", str(path)])
        if code != 0:
            raise ValueError(f"{name}: {metric} per {per} is not certified")
        (row,) = json.loads(text)["results"]
        seconds = [search]
        for checker in ("check", "recheck"):
            code, _, took = timed([checker, str(path)])
            if code != 0:
                raise ValueError(f"{name}: {metric} per {per} is not accepted by {checker}")
            seconds.append(took)
        times = " | ".join(f"{took:.1f}" for took in seconds)
        print(f"| {name} | {metric} | {per} | `{row['bound']}` | {path.stat().st_size} | {times} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
