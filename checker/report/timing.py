"""Estimates of `wcet` as text, as JSON and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from checker.analysis.wcet import abstract
from checker.analysis.wcet.estimate import Estimate, Evidence, Job
from checker.analysis.wcet.sound import depends_on_block
from checker.report.page import Page, Section
from logic.assertions import show_p
from logic.source import Loc, SourceError

EVIDENCE: Final[Mapping[Evidence, str]] = {
    "certified": "a bound, certified",
    "solver-backed": "a bound, solver-backed",
    "enumerated": "a bound, by the lanes followed with loaded values unknown",
    "paper": "the paper's estimate, no bound",
}


ENDS: Final = "no barrier waits for ever"

IF: Final = f"a bound if {ENDS}"

WAITS: Final = f"{ENDS}, which is not proved"

CONDITIONAL: Final = "conditional"
"""The evidence for a figure that holds of runs in which no barrier waits for ever, where these are not all."""


def assumptions(job: Job, found: Estimate) -> list[str]:
    """The assumptions of an estimate about this launch."""
    given = [show_p((fact,)) for fact in job.outline.context.launch.assumptions]
    return given if found.ends or found.mode == "paper" else [*given, WAITS]


def as_json(job: Job, found: Estimate, machine: int | None) -> dict[str, object]:
    """An estimate as `wcet --format json` prints it."""
    row: dict[str, object] = {
        "estimate": found.cycles,
        "mode": found.mode,
        "machine": machine,
        "work_span": found.work_span,
        "evidence": found.evidence if found.ends else CONDITIONAL,
        "formula": None if found.formula is None else str(found.formula),
        "formula_evidence": _evidence(found),
        "problem": None if found.problem is None or found.formula is not None else found.problem.message,
        "bounds": dict(found.bounds) if found.ends or not found.bounds else {CONDITIONAL: found.cycles},
        "engines": list(found.engines),
        "work_span_evidence": found.span_evidence if found.ends else CONDITIONAL,
        "assumptions": assumptions(job, found),
        "divergent": [_line(job, at) for at in found.divergent],
    }
    if found.mode == "paper":
        row["abstract_warp"] = abstract.show(found.warp)
        row["shift"] = found.shift
        row["iterations"] = [{"line": _line(job, at), "warps": list(n)} for at, n in found.turns.items()]
    return row


def as_text(job: Job, found: Estimate, machine: int | None, title: str) -> str:
    """An estimate as `wcet` prints it."""
    lines = [title, ""]
    for what, told, more in _figures(job, found, machine):
        comma = "" if more.startswith("(") else ","
        lines.append(f"  {what:<11}{told}{f'{comma} {more}' if more else ''}")
    if notes := _paper(job, found):
        lines += ["", *(f"  {note}" for note in notes)]
    if found.divergent:
        lines += ["", f"  {_divergent(job, found)}"]
    if given := _given(job, found):
        lines += ["", f"  given: {'; '.join(given)}"]
    return "\n".join(lines)


def as_page(job: Job, found: Estimate, machine: int | None, title: str) -> Page:
    """The same as a page."""
    rows = [(what, told, more.strip("()")) for what, told, more in _figures(job, found, machine)]
    items = [*_paper(job, found), *([_divergent(job, found)] if found.divergent else [])]
    sections = [Section(head=("", "cycles", "how it is known"), rows=rows), Section(items=items)]
    return Page(title, [s for s in sections if s.head or s.items], assumptions=_given(job, found))


def _figures(job: Job, found: Estimate, machine: int | None) -> list[tuple[str, str, str]]:
    """The figures of the cycles, each with its name and more about it."""
    rows = []
    if found.formula is not None:
        each = " each block" if depends_on_block((found.formula,)) else ""
        how = _by(found) if found.formula_ends else f"if {ENDS}"
        rows.append(("formula", f"{found.formula} cycles{each}", f"({how})"))
    elif found.problem is not None:
        loc = f"{found.problem.loc}: " if found.problem.loc else ""
        rows.append(("formula", f"none certified: {loc}{found.problem.message}", ""))
    if found.cycles is not None:
        rows.append(("estimate", _cycles(found.cycles), f"({EVIDENCE[found.evidence] if found.ends else IF})"))
    if machine is not None:
        over = f"estimate / machine {ratio(found.cycles, machine)}" if found.cycles is not None and machine else ""
        rows.append(("machine", _cycles(machine), over))
    if found.work_span is not None:
        rows.append(("W/P + S", _cycles(found.work_span), f"({found.span_evidence if found.ends else IF})"))
    return rows


def _evidence(found: Estimate) -> str | None:
    """A word for what shows the formula."""
    if found.formula is None:
        return None
    return CONDITIONAL if not found.formula_ends else "solver-backed" if found.engines else "certified"


def _by(found: Estimate) -> str:
    """A phrase on what the formula rests on."""
    return f"solver-backed: it rests on the word of {', '.join(found.engines)}" if found.engines else "certified"


def _paper(job: Job, found: Estimate) -> list[str]:
    """A phrase on what the published estimate rests on."""
    if found.mode != "paper":
        return []
    return [
        f"abstract warp: {abstract.show(found.warp)}, largest convoying shift {found.shift}",
        *(f"iterations of the loop {_where(job, at)}: {', '.join(map(str, n))}" for at, n in found.turns.items()),
    ]


def _divergent(job: Job, found: Estimate) -> str:
    places = Counter(_where(job, at) for at in found.divergent)
    return f"divergent branches: {', '.join(f'{n} {at}' if n > 1 else at for at, n in places.items())}"


def _given(job: Job, found: Estimate) -> list[str]:
    """The assumptions of the estimate, as far as they are printed."""
    return assumptions(job, found) if found.formula is not None or not found.ends else []


def stopped(found: Estimate, problem: SourceError) -> dict[str, object]:
    """A launch that stops at a barrier, as `wcet --format json` prints it: it takes no number of cycles."""
    nothing = dict.fromkeys(("estimate", "machine", "work_span"))
    return {**nothing, "mode": found.mode, "verdict": "deadlock", "problem": problem.message}


def stopped_text(title: str, problem: SourceError) -> str:
    """The same as text."""
    return f"{title}\n\n  {problem.message}"


def _cycles(n: int) -> str:
    return f"{n} cycle" if n == 1 else f"{n} cycles"


def ratio(estimate: int, machine: int) -> str:
    """Estimate over machine with three decimals, rounded up."""
    thousandths = -(-1000 * estimate // machine)
    return f"{thousandths // 1000}.{thousandths % 1000:03d}"


def _loc(job: Job, at: int) -> Loc | None:
    return job.program.instructions[at].loc


def _line(job: Job, at: int) -> int | None:
    loc = _loc(job, at)
    return loc.line if loc else None


def _where(job: Job, at: int) -> str:
    loc = _loc(job, at)
    return f"in line {loc.line}" if loc else f"at {at}"
