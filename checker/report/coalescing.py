"""Findings on coalescing as text, as JSON and as a page: both verdicts, the transactions and the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from checker.analysis.coalescing.access import SEVERITY, Key, Threshold, Verdict
from checker.analysis.coalescing.advice import Advice
from checker.analysis.coalescing.bounded import Judged
from checker.analysis.coalescing.exact import Finding
from checker.analysis.coalescing.observed import Observed
from checker.certificates.claims import extent
from checker.notation.words import number
from checker.report.page import Fault, Page, Section
from checker.report.terminal import excerpt
from logic.assertions import Context, P, show_p
from logic.metrics import HARDWARE
from logic.source import Loc
from logic.syntax import Kernel, show

Domain = Literal["exact", "gpudrano"]

GOOD: Final[tuple[Verdict, ...]] = ("coalesced", "conflict-free")

MOST: Final = 2
"""The most remedies that are told of an access; JSON has all that were bounded again."""

TURNS: Final = 10
"""The number of turns of every loop where no run says how often an access is executed."""

ESTIMATED: Final = f"of the transactions, estimated with {TURNS} turns a loop"


@dataclass(frozen=True, slots=True)
class Row:
    """An access with all that is known of it.

    `verdict` is that of the domain asked for; `reported` is the published analysis's, None for shared memory.
    `observed` is what a run showed, None where there was no run or the access was not executed in it.
    """

    finding: Finding
    verdict: Verdict
    reported: bool | None
    advice: Advice
    share: Fraction
    observed: Observed | None
    confirmed: bool | None


def rows(
    findings: Sequence[Finding],
    reported: frozenset[Key],
    advice: Sequence[Advice],
    domain: Domain,
    run: Mapping[Key, Observed] | None,
) -> list[Row]:
    """The rows of a report, those with the largest share first; `run` is what a run showed, by the access's key."""
    found = []
    weights = [_weight(f, run) for f in findings]
    total = sum(weights, Fraction(0))
    for f, words, weight in zip(findings, advice, weights, strict=True):
        key, shared = f.access.key, f.access.array.space == "shared"
        if domain == "gpudrano" and shared:
            continue
        verdict = f.verdict
        if domain == "gpudrano":
            verdict = "uncoalesced" if key in reported else "coalesced"
        seen = None if run is None else run.get(key)
        confirmed = None if run is None or verdict in GOOD else seen is not None and _shows(seen, verdict)
        share = weight / total if total else Fraction(0)
        found.append(Row(f, verdict, None if shared else key in reported, words, share, seen, confirmed))
    return sorted(found, key=lambda r: (-r.share, r.finding.access.loc, r.finding.access.kind))


def _weight(f: Finding, run: Mapping[Key, Observed] | None) -> Fraction:
    """Transactions of an access in the run, or what they may be with every loop taking TURNS turns."""
    if run is not None:
        seen = run.get(f.access.key)
        return Fraction(seen.transactions if seen else 0)
    return Fraction(f.transactions * TURNS ** (f.met.depth if f.met else 0))


def _shows(seen: Observed, verdict: Verdict) -> bool:
    """Whether a run bears out a verdict that is not good; `unknown` is borne out by any that is bad."""
    return seen.verdict not in GOOD if verdict == "unknown" else SEVERITY.index(seen.verdict) >= SEVERITY.index(verdict)


def assumptions(context: Context, stated: P, notes: Sequence[str], findings: Sequence[Finding]) -> list[str]:
    """The assumptions of the findings; `stated` are the assumptions that a person made."""
    inside = sorted({f.access.array.name for f in findings if f.inside})
    launch, hw = context.launch, context.hardware
    return [
        *(f"given: {show_p((fact,))}" for fact in stated),
        *([f"blocks of {extent(launch.block)}"] if any(launch.block) else []),
        *([f"a grid of {extent(launch.grid)}"] if any(launch.grid) else []),
        *(
            []
            if hw == HARDWARE["nvidia"]
            else [f"hardware {hw.name}: {hw.banks} banks of {hw.word}, warps of {hw.warp}"]
        ),
        *notes,
        *(
            [f"no index is outside of the shared {'array' if len(inside) == 1 else 'arrays'} {', '.join(inside)}"]
            if inside
            else []
        ),
        f"every array starts at a multiple of {hw.alignment} bytes",
        "signed integers do not overflow; no caches",
    ]


# --- JSON ------------------------------------------------------------------------------------------------------------


def as_json(
    kernel: Kernel, domain: Domain, found: Sequence[Row], rests_on: Sequence[str], shares: str, threshold: Threshold
) -> dict[str, Any]:
    """The document of `coalesce --format json`."""
    return {
        "kernel": kernel.name,
        "domain": domain,
        "threshold": threshold,
        "accesses": [_json_row(r) for r in found],
        "shares": shares,
        "assumptions": list(rests_on),
    }


def _json_row(r: Row) -> dict[str, Any]:
    f = r.finding
    row: dict[str, Any] = {
        "file": f.access.loc.file,
        "line": f.access.loc.line,
        "column": f.access.loc.column,
        "kind": f.access.kind,
        "array": f.access.array.name,
        "space": f.access.array.space,
        "access": text_of(f),
        "verdict": r.verdict,
        "transactions": f.transactions,
        "fewest": f.fewest,
        "lanes": f.lanes,
        "exact": f.verdict,
        "gpudrano": None if r.reported is None else "uncoalesced" if r.reported else "coalesced",
        "confirmed": r.confirmed,
        "reason": r.advice.reason,
        "advice": r.advice.mend[0].text if r.advice.mend else None,
        "remedies": [_json_remedy(j) for j in r.advice.mend],
        "tried": [_json_remedy(j) for j in r.advice.unproved],
        "share": number(r.share),
        "depth": f.met.depth if f.met else 0,
        "observed": None,
    }
    if o := r.observed:
        row["observed"] = {
            "verdict": o.verdict,
            "executions": o.executions,
            "transactions": o.transactions,
            "most": o.most,
            "average": number(o.average),
            "racy": o.racy,
        }
    return row


def _json_remedy(j: Judged) -> dict[str, Any]:
    before, after = j.bounds or (None, None)
    return {
        "remedy": j.tried.remedy.text,
        "counts": j.tried.what,
        "before": j.tried.before,
        "after": j.tried.after,
        "accesses": len(j.tried.accesses),
        "verdict": j.verdict,
        "problem": j.problem or None,
        "bound_before": before,
        "bound_after": after,
        "assumes": list(j.tried.remedy.assumes),
    }


def text_of(f: Finding) -> str:
    """The access as miniCUDA has it; the first of its copies."""
    return f"{f.access.array.name}[{show(f.access.indices[0])}]"


# --- the page --------------------------------------------------------------------------------------------------------

_HEAD: Final = ("place", "kind", "access", "verdict", "needs", "at best", "share", "why")

_MENDED: Final = ("place", "to mend it", "a warp before", "after", "assumes")


def as_page(
    kernel: Kernel,
    found: Sequence[Row],
    rests_on: Sequence[str],
    shares: str,
    wrong: Sequence[tuple[str, Loc]] = (),
    threshold: Threshold = "fewest",
) -> Page:
    """A table of all accesses; a fault for each that is not good, and for each `wrong`, where a run needed more."""
    table = [Section(head=_HEAD, rows=[*map(_cells, found)], code=("place", "access"))] if found else []
    faults = [_fault(kernel, r) for r in found if r.verdict not in GOOD]
    faults += [Fault("refuted", text, loc) for text, loc in wrong]
    said = [Section(text=text) for text in (*_by(threshold), f"Shares: {shares}.")]
    return Page(f"{kernel.name}: {_summary(found)}", [*table, *said, *_remedies(found)], faults, rests_on)


def _remedies(found: Sequence[Row]) -> list[Section]:
    """Sections of certified remedies, and of those that were tried and are not proved."""
    mended = [
        (_where(r.finding.access.loc), j.text, *(j.bounds or ("", "")), "; ".join(j.tried.remedy.assumes))
        for r in found
        for j in _told(r.advice.mend)
    ]
    tried = [(_where(r.finding.access.loc), j.text) for r in found for j in _unproved(r)]
    return [
        *([Section("What mends them", head=_MENDED, rows=mended, code=_MENDED[:1])] if mended else []),
        *([Section("Tried, not proved", head=("place", "tried"), rows=tried, code=("place",))] if tried else []),
    ]


def _cells(r: Row) -> tuple[str, ...]:
    f = r.finding
    return (
        _where(f.access.loc),
        f.access.kind,
        text_of(f),
        r.verdict if r.confirmed is None else f"{r.verdict} ({_run(r)})",
        str(f.transactions),
        str(f.fewest),
        _percent(r.share),
        r.advice.reason,
    )


def _fault(kernel: Kernel, r: Row) -> Fault:
    told = _told(r.advice.mend)
    mend = f" To mend it: {'; or '.join(f'{j.text}{_given(j)}' for j in told)}." if told else ""
    return Fault(r.verdict, f"{kernel.name}: {_headline(r)}: {r.advice.reason}.{mend}", r.finding.access.loc)


# --- text ------------------------------------------------------------------------------------------------------------


def as_text(
    kernel: Kernel,
    found: Sequence[Row],
    rests_on: Sequence[str],
    shares: str,
    sources: Mapping[str, str],
    threshold: Threshold = "fewest",
) -> str:
    """The report for a terminal: what is not good in full, the others a line each."""
    lines = [f"{kernel.name}: {_summary(found)}"]
    for r in found:
        if r.verdict in GOOD:
            continue
        lines += ["", f"{_where(r.finding.access.loc)}: {_headline(r)}"]
        lines += [f"    {line}" for line in excerpt(r.finding.access.loc, sources.get(r.finding.access.loc.file))]
        lines += [f"  {line}" for line in _explained(r)]
    good = [r for r in found if r.verdict in GOOD]
    if good:
        lines += ["", "Nothing to mend:"]
        lines += [f"  {_where(r.finding.access.loc)}: {_headline(r)}: {r.advice.reason}{_aside(r)}" for r in good]
    last = [*_by(threshold), f"Shares: {shares}."] if shares else []
    last += ["Assumed:", *(f"  {line}" for line in rests_on)] if rests_on else []
    lines += ["", *last] if last else []
    return "\n".join(lines)


def _by(threshold: Threshold) -> list[str]:
    """A phrase on the threshold; empty for our own."""
    return [] if threshold == "fewest" else ["Uncoalesced is what needs more than one line (CAV 2017, section 3.2)."]


def _summary(found: Sequence[Row]) -> str:
    if not found:
        return "no accesses"
    count = Counter(r.verdict for r in found)
    parts = [f"{count[v]} {v}" for v in reversed(SEVERITY) if count[v]]
    return f"{len(found)} {'access' if len(found) == 1 else 'accesses'}: {', '.join(parts)}"


def _where(loc: Loc) -> str:
    return str(loc) if loc.file else "somewhere"


def _headline(r: Row) -> str:
    f = r.finding
    units = {"global": "line", "shared": "turn of a bank"}[f.access.array.space]
    needs = (
        f"{f.transactions} {units if f.transactions == 1 else units.replace('line', 'lines').replace('turn', 'turns')}"
    )
    fewest = f", {f.fewest} at best" if f.fewest != f.transactions else ""
    lanes = f"{f.lanes} {'lane' if f.lanes == 1 else 'lanes'}"
    return f"{r.verdict} {f.access.kind} of {text_of(f)}: {needs}{fewest}, {lanes}, {_percent(r.share)} of all"


def _explained(r: Row) -> list[str]:
    lines = [r.advice.reason]
    for n, j in enumerate(_told(r.advice.mend)):
        lines.append(f"{'or' if n else 'to mend it'}: {j.text}")
        if j.bounds:
            was, now = j.bounds
            lines.append(f"  {j.tried.what} of a warp: at most {was} before, {now} after")
        lines += [f"  assumes: {text}" for text in j.tried.remedy.assumes]
    lines += [f"tried, not proved: {j.text}" for j in _unproved(r)]
    lines += _both(r)
    if r.confirmed is not None:
        lines.append(_run(r))
    return lines


def _told(found: Sequence[Judged]) -> Sequence[Judged]:
    """Of remedies the best, and others of another kind that are as good."""
    return [j for j in found if j.tried.after == found[0].tried.after][:MOST]


def _unproved(r: Row) -> Sequence[Judged]:
    """The remedies that seemed to help, which are told, though not as advice, where none is proved to."""
    return [] if r.advice.mend else _told(r.advice.unproved)


def _given(j: Judged) -> str:
    """The assumptions of a remedy, in brackets."""
    return f" (assumes: {'; '.join(j.tried.remedy.assumes)})" if j.tried.remedy.assumes else ""


def _both(r: Row) -> list[str]:
    """The other domain's verdict, where it tells something: the published analysis is about uncoalesced accesses."""
    if r.reported is None:
        return []
    if r.verdict != r.finding.verdict:
        return [f"the exact domain: {r.finding.verdict}"]
    if r.reported:
        return ["GPUDrano's analysis reports it, too"]
    return ["GPUDrano's analysis does not report it"] if r.verdict == "uncoalesced" else []


def _aside(r: Row) -> str:
    if r.verdict != r.finding.verdict:
        return f" (the exact domain: {r.finding.verdict})"
    return " (GPUDrano's analysis reports it)" if r.reported else ""


def _run(r: Row) -> str:
    o = r.observed
    if o is None:
        return "not confirmed: the run does not get here"
    average = f"{float(o.average):.3g} on average over {o.executions} executions"
    racy = "; two threads wrote different values into one element" if o.racy else ""
    if r.confirmed:
        return f"confirmed: {o.most} in the run, {average}{racy}"
    return f"not confirmed: {o.verdict} in the run, at most {o.most}, {average}{racy}"


def _percent(share: Fraction) -> str:
    percent = round(100 * share)
    return f"{percent} %" if percent or not share else "under 1 %"
