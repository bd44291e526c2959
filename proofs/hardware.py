"""docs/hardware.md: what a GPU counted, beside what the semantics says of the same launch.

    python -m proofs.hardware

The figures that were counted are in hardware.toml; what they are compared with is run anew, every warp of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from logic.metrics import METRICS
from semantics import vectorised
from semantics.cuda import read_cuda
from semantics.events import Dim
from semantics.grid import Result
from semantics.values import Value

ROOT: Final = Path(__file__).parent
PAGE: Final = ROOT.parent / "docs" / "hardware.md"

BLOCKS_OF_HISTOGRAM: Final = 240
"""As the CUDA SDK launches it; 32 of the counted sectors are each block's partial histogram."""

_HEAD: Final = """# Against hardware

Made by `make hardware` (`python -m proofs.hardware`) from `proofs/hardware.toml`; `tests/proofs/test_hardware.py` keeps
it true. {source}

`warpbound run` counts what the lock-step semantics pays, warp by warp, over the whole grid. Nothing is fitted: the
launch and the arguments are those of the profile, arrays start at multiples of 256 bytes, there are no caches, and the
program is the source, not what a compiler makes of it. The error is (simulated - counted) / counted. A table quotes
some rows of the profile; below it stands what came of all of them.
"""


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel's launch; `arrays` are the contents that matter, all others are 0."""

    block: Dim
    grid: Dim
    args: Mapping[str, Value]
    arrays: Mapping[str, Any]

    def __str__(self) -> str:
        grid, block = (" x ".join(str(d) for d in dim if d != 1) or "1" for dim in (self.grid, self.block))
        return f"{grid} block{'s' if grid != '1' else ''} of {block}"


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one kernel and metric: the arguments of a launch, and what was counted there.

    `compared` says how many rows of the profile were compared once, `result` what came of it; `why` explains errors.
    """

    kernel: str
    metric: str
    arguments: tuple[str, ...]
    counted: tuple[tuple[tuple[int | str, ...], int], ...]
    compared: int
    result: str
    why: str


def source_and_tables() -> tuple[str, tuple[Table, ...]]:
    """The content of hardware.toml: a source, and tables of counts."""
    document = tomllib.loads((ROOT / "hardware.toml").read_text(encoding="utf-8"))
    tables = tuple(
        Table(
            t["kernel"],
            t["metric"],
            tuple(t["arguments"]),
            tuple((tuple(key), count) for *key, count in t["counted"]),
            t["compared"],
            t["result"],
            t.get("why", ""),
        )
        for t in document["table"]
    )
    return document["source"], tables


# --- launches --------------------------------------------------------------------------------------------------------


def _vector_add(n: int) -> Launch:
    return Launch((256, 1, 1), (-(-n // 256), 1, 1), {"numElements": n}, {})


def _reduce(each: int) -> Callable[[int], Launch]:
    """A block sums `each` elements."""
    return lambda n: Launch((256, 1, 1), (n // each, 1, 1), {"n": n}, {})


def _mat_mul(n: int) -> Launch:
    return Launch((32, 32, 1), (n // 32, n // 32, 1), {"wA": n, "wB": n}, {})


def _add_sub(threads: Callable[[int, int], int]) -> Callable[[int, int], Launch]:
    return lambda w, h: Launch((threads(w, h), 1, 1), (1, 1, 1), {"w": w, "h": h}, {})


def _mandelbrot(tiles: int, crunch: int) -> Launch:
    """The tiles in a row; the view, which nothing counted depends on, is the whole set's."""
    view = {"left": -2.0, "top": -0.1, "scale": 3.0 / (16 * tiles), "width": 16 * tiles, "height": 16}
    return Launch((16, 16, 1), (64, 1, 1), view | {"crunch": crunch, "across": tiles, "numBlocks": tiles}, {})


def _histogram(words: int, data: str) -> Launch:
    """`worst`: the lanes of a warp take turns in the 8 bins of one bank. `random`: every byte, alike and on its own."""
    worst = 0x20202020 * (np.arange(words, dtype=np.uint32) % 8)
    drawn = np.random.default_rng(1).integers(0, 2**32, words, dtype=np.uint32)
    contents = {"worst": worst, "random": drawn}[data]
    return Launch((64, 1, 1), (BLOCKS_OF_HISTOGRAM, 1, 1), {"dataCount": words}, {"d_Data": contents})


LAUNCHES: Final[dict[str, Callable[..., Launch]]] = {
    "vectorAdd": _vector_add,
    **dict.fromkeys(("reduce0", "reduce1", "reduce2"), _reduce(256)),
    "reduce3": _reduce(512),
    **dict.fromkeys(("matMul", "matMulTrans", "matMulBad"), _mat_mul),
    "addSub0": _add_sub(lambda _, h: h),
    "addSub1": _add_sub(lambda _, h: h // 2),
    **dict.fromkeys(("addSub2", "addSub3"), _add_sub(lambda w, _: w)),
    "mandelbrot": _mandelbrot,
    "histogram256": _histogram,
}
"""The launch of each kernel in the profile, by what its rows give."""


def simulate(kernel: str, key: tuple[int | str, ...]) -> Result:
    """Every warp of that launch."""
    launch = LAUNCHES[kernel](*key)
    program = read_cuda(str(ROOT / kernel / "kernel.cu")).kernel
    metrics = (METRICS["sectors"], METRICS["conflicts"])
    return vectorised.run(program, launch.block, launch.grid, launch.args, launch.arrays, metrics)


# --- the page --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the page."""

    kernel: str
    metric: str
    key: tuple[int | str, ...]
    counted: int
    simulated: Fraction

    @property
    def error(self) -> Fraction:
        """Relative to what was counted."""
        return (self.simulated - self.counted) / self.counted


def rows(table: Table, runs: dict[tuple[Any, ...], Result]) -> list[Row]:
    """The lines of a table; `runs` keeps what was run, for tables of the same launches."""
    found = []
    for key, counted in table.counted:
        run = table.kernel, *key
        if run not in runs:
            runs[run] = simulate(table.kernel, key)
        found.append(Row(table.kernel, table.metric, key, counted, runs[run].totals[table.metric]))
    return found


def shown(error: Fraction) -> str:
    """An error with two digits."""
    return f"{float(error):+.1e}".replace("e-0", "e-") if error else "0"


def section(table: Table, lines: Iterable[Row]) -> str:
    """A table of the page, with what there is to say of it."""
    head = (*table.arguments, "launch", "counted", "simulated", "error")
    cells = [head, tuple("---" for _ in head)]
    for row in lines:
        launch = LAUNCHES[table.kernel](*row.key)
        key = tuple(str(k) for k in row.key)
        cells.append((*key, str(launch), f"{row.counted:,}", f"{int(row.simulated):,}", shown(row.error)))
    text = "\n".join(f"| {' | '.join(line)} |" for line in cells)
    compared = f"All {table.compared} rows of the profile: {table.result}."
    return "\n\n".join((f"## {table.kernel}, {table.metric}", text, compared, *filter(None, [table.why.strip()])))


def page(source: str, sections: Iterable[str]) -> str:
    """docs/hardware.md."""
    return "\n".join((_HEAD.format(source=source.strip()), "\n\n".join(sections))) + "\n"


def main() -> None:
    """Makes the page anew."""
    source, tables = source_and_tables()
    runs: dict[tuple[Any, ...], Result] = {}
    PAGE.write_text(page(source, [section(t, rows(t, runs)) for t in tables]), encoding="utf-8")


if __name__ == "__main__":
    main()
