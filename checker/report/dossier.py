"""The parts of a report's page on a certificate besides the report's one object: its bound against runs, the run that
comes nearest to it with the shares of the bound there, pictures of its accesses, and its derivation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from checker.analysis.shares import Account, account
from checker.certificates.audit import Audited
from checker.kernel import Claim
from checker.refutation.witness import Fill, Witness, command, find_witnesses
from checker.report.pictures import access
from checker.report.plots import EFFORT, RUNS, Curve, curves
from checker.report.steps import Step, steps

MOST: Final = 300
"""The applications of rules to statements that are shown of a certificate, if it is one of few."""

ALL: Final = 3000
"""Those that are shown on a page, about."""


@dataclass(frozen=True, slots=True)
class Dossier:
    """`witness` is the dearest run at the point that was found, `again` the command for it; `spent` are the shares of
    the bound in it, `pictures` its accesses, by file, line and text; None and empty where there is no such run."""

    steps: Sequence[Step] = ()
    curves: Sequence[Curve] = ()
    witness: Witness | None = None
    again: str = ""
    spent: Account | None = None
    pictures: Mapping[tuple[str, int, str], str] = field(default_factory=dict)


def run_at(a: Audited, at: Mapping[str, int], fill: Fill, file: str, options: Sequence[str]) -> Dossier:
    """The dearest run at a point, with the shares of the bound there. `file` and `options` are how `run` reads the
    source. Raises Overrun."""
    made, claim = a.certificate, a.outcome
    if not isinstance(claim, Claim) or not at or _of_data(at):
        return Dossier()
    (best,) = find_witnesses(made.kernel, [claim], fill, at, runs=RUNS, effort=EFFORT)
    if best is None:
        return Dossier()
    again = command(file, best.input, [*options, f"--metric={made.context.metric.name}"])
    spent = account(made.derivation, claim, best.input, fill(best.input.arrays), at)
    drawn: dict[tuple[str, int, str], str] = {}
    for seen in spent.accesses if spent else ():
        if seen.place and len(seen.lanes) > 1:
            array = made.context.sigma.arrays[seen.array]
            picture = access(array, seen.lanes, made.context.hardware, seen.count)
            drawn[seen.place.file, seen.place.line, seen.text] = picture
    return Dossier(witness=best, again=again, spent=spent, pictures=drawn)


def _of_data(at: Mapping[str, int]) -> bool:
    """Whether a point has elements of arrays: the contents of runs are drawn, so that no run is at such a point."""
    return any("[" in name for name in at)


def dossier(a: Audited, ran: Dossier, at: Mapping[str, int], fill: Fill, certificates: int) -> Dossier:
    """All of it: `ran` is what the run gave. Raises Overrun."""
    claim = a.outcome
    if not isinstance(claim, Claim):
        return ran
    most = max(8, min(MOST, ALL // max(certificates, 1)))
    plots = curves(a.certificate.kernel, claim, at, fill) if at and not _of_data(at) else ()
    return Dossier(steps(a, most), plots, ran.witness, ran.again, ran.spent, ran.pictures)
