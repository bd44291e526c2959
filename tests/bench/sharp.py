"""How tight and how fast bounds are on kernels that nobody tuned the tool for: a section of docs/benchmarks.md.

    python -m tests.bench.sharp [--from SEED] [--count N] [--seconds 120] [--jobs 1] [--rows R.jsonl] [--page FILE.md]

Each kernel of `tests.bench.unseen` is bounded under the four metrics in a process of its own, which is killed after so
many seconds of processor time, and `--tight` looks for its dearest runs. With --rows what is measured is kept there,
and what is there is not measured again. --show SEED prints a kernel.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from logic.metrics import METRICS
from tests.bench.growth import replaced
from tests.bench.unseen import kernel
from tests.mutants.limited import limited, workers

ADDRESSES: Final = 16 << 30

TITLE: Final = "## Kernels that nobody tuned for"

LONGEST: Final = 40_000
EFFORT: Final = 400_000
"""Of the search for dear runs, more than `--tight` takes: kernels with loops in loops cost little in its short runs."""

WORST: Final = 12
"""Rows of the table of the loosest bounds."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """A metric's verdict and bound, and what the dearest run that was found costs and is allowed: None where none was.
    The numbers are fractions as text."""

    verdict: str
    bound: str | None
    cost: str | None
    allowed: str | None

    @property
    def ratio(self) -> float | None:
        """Bound over run; infinite where only the bound is above 0; None where there is no bound or no run."""
        if self.cost is None or self.allowed is None or self.verdict != "certified":
            return None
        cost, allowed = Fraction(self.cost), Fraction(self.allowed)
        if cost == allowed:
            return 1.0
        return float(allowed / cost) if cost else float("inf")


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel by its seed: what became of each metric, and the processor seconds of the bounds, all four together.
    `why` says why it was not read, or not in time."""

    seed: int
    metrics: Mapping[str, Bounded]
    seconds: float
    why: str = ""

    @property
    def certified(self) -> bool:
        return [b.verdict for b in self.metrics.values()] == ["certified"] * len(METRICS)


def measured(seed: int, seconds: int) -> Row:
    """The kernel of a seed, bounded within so many seconds."""
    from checker import limits
    from checker.refutation import witness

    drawn = kernel(seed)
    with tempfile.TemporaryDirectory() as folder:
        source, out, clock = (Path(folder, name) for name in ("k.cu", "out.json", "clock"))
        source.write_text(drawn.source, encoding="utf-8")
        block = ",".join(map(str, drawn.block))
        find = witness.find_witnesses

        def timed(*given: Any, **options: Any) -> Any:
            clock.write_text(str(time.process_time()))
            short = find(*given, **options)
            with patch.object(limits, "LONGEST", LONGEST):
                long = find(*given, **{**options, "effort": EFFORT})
            return [min((w for w in both if w), key=_ratio, default=None) for both in zip(short, long, strict=True)]

        def main() -> int:
            from checker.cli import main as cli

            options = ["--block", block, "--tight", "--format", "json", "-o", str(out)]
            with patch.object(witness, "find_witnesses", timed):
                return cli(["bound", str(source), *options])

        used = limited(main, seconds, ADDRESSES)
        spent = float(clock.read_text()) if clock.exists() else used.cpu
        document = json.loads(out.read_text()) if out.exists() else {}
    found = {r["metric"]: _bounded(r) for r in document.get("results", [])}
    why = "" if len(found) == len(METRICS) else "out of time" if used.code < 0 else used.said.strip()[-200:]
    return Row(seed, found, spent, why)


def _ratio(found: Any) -> float:
    """A witness's bound over its cost."""
    return float("inf") if found.ratio is None else float(found.ratio)


def _bounded(r: Mapping[str, Any]) -> Bounded:
    found = r.get("witness") or {}
    cost, allowed = (None if found.get(key) is None else str(found[key]) for key in ("cost", "bound"))
    return Bounded(r["verdict"], r["bound"], cost, allowed)


def _kept(path: Path | None) -> Iterator[Row]:
    """The rows that a file has."""
    if path is None or not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Row(row["seed"], {m: Bounded(**b) for m, b in row["metrics"].items()}, row["seconds"], row["why"])


def rows(seeds: Iterable[int], seconds: int, jobs: int, keep: Path | None) -> Iterator[Row]:
    """The row of each seed, in order."""
    kept = {row.seed: row for row in _kept(keep)}
    with workers(jobs) as pool:
        found = [(seed, None if seed in kept else pool.submit(measured, seed, seconds)) for seed in seeds]
        for seed, later in found:
            if later is None:
                yield kept[seed]
                continue
            row = later.result()
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
            yield row


def share(values: Sequence[float], part: float) -> float:
    """The value that this part of all values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def _number(x: float) -> str:
    return "only the bound is above 0" if x == float("inf") else f"{x:.2f}"


def section(found: Sequence[Row], seconds: int) -> str:
    """The section of the page."""
    good = sum(row.certified for row in found)
    seeds = f"{found[0].seed} to {found[-1].seed}"
    spent = [row.seconds for row in found]
    made = f"`python -m tests.bench.sharp --from {found[0].seed} --count {len(found)}`"
    told = f"{len(found)} kernels, seeds {seeds}: {good} certified under all metrics ({good / len(found):.1%})."
    times = ", ".join(
        (f"median {statistics.median(spent):.1f}", f"ninth tenth {share(spent, 0.9):.1f}", f"worst {max(spent):.1f}")
    )
    lines = [
        TITLE,
        "",
        f"Made by {made}: random kernels of `tests/bench/unseen.py` (element",
        "types, shared tiles, blocks of one and two dimensions, loops inside loops, early exits), bounded a warp.",
        "The run is the dearest that `--tight` finds, also with ten times its effort: where it finds too cheap a one,",
        "a bound looks looser than it is.",
        "",
        f"{told} Processor seconds for the four: {times}, with a limit of {seconds}.",
        "",
        "| metric | certified | with a run | exact | median | ninth tenth | worst |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for metric in METRICS:
        bounds = [row.metrics[metric] for row in found if metric in row.metrics]
        ratios = [b.ratio for b in bounds if b.ratio is not None]
        cells = [metric, f"{sum(b.verdict == 'certified' for b in bounds)}", f"{len(ratios)}"]
        cells += [f"{sum(r == 1 for r in ratios)}"]
        cells += [_number(share(ratios, p)) for p in (0.5, 0.9, 1)] if ratios else ["", "", ""]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "The loosest (`--show SEED` prints a kernel):", "", "| seed | metric | bound | run | ratio |"]
    lines.append("| ---: | --- | --- | ---: | ---: |")
    loose = [(b.ratio, row.seed, m, b) for row in found for m, b in row.metrics.items() if b.ratio and b.ratio > 1]
    for ratio, seed, metric, b in sorted(loose, key=lambda t: t[:3], reverse=True)[:WORST]:
        lines.append(f"| {seed} | {metric} | `{b.bound}` | {b.cost} of {b.allowed} | {_number(ratio)} |")
    bad = [row for row in found if not row.certified]
    if bad:
        lines += ["", "Not certified:", ""]
        for row in bad:
            told = ", ".join(f"{m} {b.verdict}" for m, b in row.metrics.items() if b.verdict != "certified")
            lines.append(f"- seed {row.seed}: {told or row.why}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures and writes the section."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="SEED")
    parser.add_argument("--count", type=int, default=200, metavar="N")
    parser.add_argument("--seconds", type=int, default=120, metavar="S")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--rows", type=Path, metavar="ROWS.jsonl")
    parser.add_argument("--page", type=Path, metavar="FILE.md")
    parser.add_argument("--show", type=int, metavar="SEED")
    args = parser.parse_args()
    if args.show is not None:
        drawn = kernel(args.show)
        print(f"// --block {','.join(map(str, drawn.block))}\n{drawn.source}", end="")
        return
    found = []
    for row in rows(range(args.first, args.first + args.count), args.seconds, args.jobs, args.rows):
        found.append(row)
        told = {m: (b.verdict, b.ratio) for m, b in row.metrics.items()}
        print(row.seed, f"{row.seconds:.1f}", told, row.why, file=sys.stderr, flush=True)
    text = section(found, args.seconds)
    print(text, end="")
    if args.page:
        replaced(args.page, text)


if __name__ == "__main__":
    main()
