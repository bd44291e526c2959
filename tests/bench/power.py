"""Trials of rules that are wrong on purpose: at which case each is found; docs/power.md and checker/testbed/power.toml.

python -m tests.bench.power [--seeds N] [--cases N] [--jobs N]
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from checker.report.rejection import draw
from checker.testbed.power import MEASURED, on_trial, shape, wrong
from checker.testbed.search import search

PAGE: Final = Path(__file__).parents[2] / "docs" / "power.md"

Row = list[tuple[int, float]]
"""For each seed: the case, or -1, and the seconds of processor time that were spent."""

HEAD: Final = """# What a trial finds

Made by `make power` (`python -m tests.bench.power`), on {machine}.

`warpbound trial` says that a rule *survived*. How much that is worth is measured with {rules} rules that are wrong on
purpose, each as a person might get it wrong (`checker/testbed/wrong.rules`, printed below). Each is tried beside the
sound rules with {seeds} seeds, up to {cases} cases. The verdict of a trial names the part of the wrong rules of its
shape that a trial of as many cases found with every seed.

| | |
| --- | ---: |
| trials | {trials} |
| that found the mistake | {found} |
| within 10 s of processor time | {ten} |
| within 60 s | {sixty} |
| cases until then, median | {median} |
| cases until then, worst | {worst} |
"""


def one(most: int, task: tuple[int, int]) -> tuple[int, int, float]:
    """A trial of a rule by its number, with a seed: the case that refutes it, and the seconds."""
    number, seed = task
    started = time.process_time()
    report = search(on_trial(wrong()[number], seed), range(most), small=False)
    return number, -1 if report.case is None else report.case, time.process_time() - started


def page(rows: Sequence[Row], cases: int) -> str:
    """The page: figures over all trials, then each rule with its cases."""
    rules = wrong()
    all_ = [trial for row in rows for trial in row]
    hits = sorted((case, seconds) for case, seconds in all_ if case >= 0)
    figures = {
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "rules": len(rules),
        "seeds": len(rows[0]),
        "cases": f"{cases:,}",
        "trials": len(all_),
        "found": len(hits),
        "ten": sum(seconds <= 10 for _, seconds in hits),
        "sixty": sum(seconds <= 60 for _, seconds in hits),
        "median": hits[len(hits) // 2][0] if hits else "-",
        "worst": f"{hits[-1][0]:,}" if hits else "-",
    }
    lines = [HEAD.format(**figures), "## Rules, and the cases that refute them", ""]
    lines += ["| rule | about | the mistake | cases, a seed each |", "| --- | --- | --- | --- |"]
    for rule, row in zip(rules, rows, strict=True):
        told = ", ".join("not found" if case < 0 else f"{case:,}" for case, _ in row)
        lines.append(f"| {rule.name} | {shape(rule)} | {' '.join(f'{rule.source} {rule.notes}'.split())} | {told} |")
    lines += ["", "## The rules", ""]
    for rule in rules:
        lines += ["```text", *draw(rule), "```", ""]
    return "\n".join(lines)


def table(rows: Sequence[Row]) -> str:
    """The measured cases as TOML."""
    cells = [f'"{rule.name}" = {[case for case, _ in row]}' for rule, row in zip(wrong(), rows, strict=True)]
    head = (
        "# Made by `make power`: the cases at which trials found each rule of wrong.rules, one a seed; -1: not found."
    )
    return "\n".join([head, "", "[cases]", *cells, ""])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, and writes the page and the table."""
    parser = argparse.ArgumentParser(description="Trials of rules that are wrong on purpose.")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    tasks = [(n, seed) for n in range(len(wrong())) for seed in range(options.seeds)]
    rows: list[Row] = [[] for _ in wrong()]
    with ProcessPoolExecutor(options.jobs) as pool:
        for number, case, seconds in pool.map(partial(one, options.cases), tasks):
            rows[number].append((case, seconds))
            print(f"{wrong()[number].name:<22} {case:>6} {seconds:6.1f} s", flush=True)
    MEASURED.write_text(table(rows), encoding="utf-8")
    PAGE.write_text(page(rows, options.cases), encoding="utf-8")


if __name__ == "__main__":
    main()
