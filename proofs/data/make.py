"""Makes the certificates of the kernels here, whose loops end by data, and prints their table (docs/data.md).

python -m proofs.data.make
"""

from __future__ import annotations

import contextlib
import io
import json
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


def main() -> None:
    """Writes them. Raises ValueError where one is not certified."""
    for name, metric, per in certificates():
        words = ["bound", str(HOME / f"{name}.cu"), "--metric", metric, "--per", per, "--format", "json"]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = warpbound([*words, "--certificate", str(path_of(name, metric, per))])
        if code != 0:
            raise ValueError(f"{name}: {metric} per {per} is not certified")
        (row,) = json.loads(out.getvalue())["results"]
        print(f"| {name} | {metric} | {per} | `{row['bound']}` | {path_of(name, metric, per).stat().st_size} |")


if __name__ == "__main__":
    main()
