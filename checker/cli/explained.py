"""`warpbound bound --explain --at`: what each line takes of the bounds there; and the dearest runs, of --tight, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from checker import limits
from checker.cli.options import source_text

if TYPE_CHECKING:
    from checker.analysis.shares import Account
    from checker.refutation.witness import Witness
    from checker.synthesis.bound import Result
    from logic.syntax import Kernel


def dearest_runs(
    kernel: Kernel, results: Sequence[Result], at: dict[str, int], long: bool
) -> tuple[list[Witness | None], list[Result]]:
    """For each result the dearest run found, by a `long` search or a short one, None where there is no bound; a bound
    that a run exceeds is refuted."""
    from checker.cli.data import read_arrays
    from checker.refutation.witness import Overrun, find_witnesses
    from checker.report.plots import EFFORT, RUNS

    runs, effort, stale = (limits.INPUTS, limits.EFFORT, limits.PATIENCE) if long else (RUNS, EFFORT, limits.STALE)
    claims = [r.claim for r in results if r.claim is not None]
    try:
        fill = partial(read_arrays, kernel)
        found = iter(find_witnesses(kernel, claims, fill, at, runs=runs, effort=effort, stale=stale))
    except Overrun as problem:
        wrong = problem.claim.context.metric
        dearest = [problem.found if r.metric == wrong else None for r in results]
        return dearest, [replace(r, verdict="refuted") if r.metric == wrong else r for r in results]
    return [next(found) if r.claim is not None else None for r in results], list(results)


def gaps(results: Sequence[Result], dearest: Sequence[Witness | None], at: Mapping[str, int]) -> list[Account | None]:
    """The shares of lines in each bound, in the dearest run found; None where no derivation follows it."""
    from checker.analysis.shares import dearest as dearest_warp
    from checker.cli.data import read_arrays

    found: list[Account | None] = []
    for r, best in zip(results, dearest, strict=True):
        if r.claim is None or r.derivation is None or best is None or r.verdict == "refuted":
            found.append(None)
            continue
        arrays = read_arrays(r.claim.kernel, best.input.arrays)
        found.append(dearest_warp(r.derivation, r.claim, best.input, arrays, at, best.cost))
    return found


def source_of(kernel: Kernel) -> tuple[str, list[str]]:
    """The file of a kernel, and its lines; none where it cannot be read."""
    own = kernel.loc.file if kernel.loc else ""
    return own, source_text(own).splitlines() if own and Path(own).is_file() else []


def shares(kernel: Kernel, results: Sequence[Result], dearest: Sequence[Witness | None], at: Mapping[str, int]) -> str:
    """A table of the lines that take a part of bounds in the dearest runs found at a point; "" where there are none."""
    from checker.analysis.shares import account
    from checker.cli.data import read_arrays
    from checker.report.lines import shares_text

    if not at or any("[" in name for name in at):
        return ""
    spent = {}
    for r, best in zip(results, dearest, strict=True):
        if r.claim is None or r.derivation is None or best is None:
            continue
        if found := account(r.derivation, r.claim, best.input, read_arrays(kernel, best.input.arrays), at):
            spent[r.metric.name] = found
    if not any(found.bound for found in spent.values()):
        return ""
    own, lines = source_of(kernel)
    point = ", ".join(f"{name} = {n}" for name, n in at.items())
    return f"What each line takes of the bounds at {point}:\n{shares_text(spent, own, lines)}"
