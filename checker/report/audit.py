"""The audit report on certificates: one JSON object, and that object as text, Markdown, HTML and SARIF."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final

from checker.analysis.places import accesses, located
from checker.analysis.shares import Account, by_line
from checker.certificates import seconded
from checker.certificates.audit import Audited, Change
from checker.certificates.claims import (
    SUBJECTS,
    called,
    claimed,
    described,
    extent,
    hardware_called,
    is_known,
    named,
    shown,
    subject,
    value_at,
)
from checker.certificates.origin import as_row, sentences
from checker.kernel import Claim
from checker.notation.annotations import with_assumptions
from checker.notation.words import many, number, printable, shared
from checker.recheck import VACUOUS
from checker.refutation.contracts import in_launches, unfounded
from checker.refutation.diagnosis import Finding
from checker.refutation.replay import replayed
from checker.report.backed import as_json as backed_json
from checker.report.backed import backed
from checker.report.bounds import assumptions, turns
from checker.report.launches import Sizes, spoken_of
from checker.report.lines import closing, shared_out
from checker.report.page import clean, inline, plain
from checker.report.rejection import describe, explain, reason_of
from checker.report.sarif import Level, log, message, place
from checker.report.schemas import VERSION
from checker.report.terminal import wrapped
from logic.assertions import Context, Dim
from logic.derivation import applications
from logic.metrics import Metric
from logic.refusals import Refusal
from logic.source import Loc
from logic.syntax import Kernel, evaluated, show_stmt, statements, subterms
from semantics.cuda import Reading

Row = dict[str, Any]

COUNTS: Final = {
    "sectors": "sectors of global memory that are read or written",
    "conflicts": "turns that shared memory takes beyond the first, because lanes want different words of one bank",
    "divwarps": "branches and tests of loops at which a warp parts",
    "steps": "steps of the evaluation, and every sector and turn of a bank",
}
"""The units that the metrics of Table 1 count."""

MEANING: Final = {
    "rejected": "the certificate does not prove its claim",
    "vacuous": VACUOUS,
    "crashed": "the process that judged it ended: nothing is said of it",
    "out-of-memory": "it took more memory than it may: nothing is said of it",
    "timeout": "it took longer than it may: nothing is said of it",
    "not-proved": "a side condition could not be proved: the claim may be true",
    "holey": "both checkers accept it; barriers are assumed to be reached by whole blocks",
    "solver-backed": "both checkers accept it; what is listed the second one could not verify without a solver",
    "certified": "both checkers accept it, and the second one verified everything without a solver",
}
"""The verdicts, the worst first."""

LIMITED: Final = ("crashed", "out-of-memory", "timeout")
"""Those on certificates that no checker has judged to the end."""

UNREAD: Final = "the program is the one that the certificate holds; no source was given (--source) to compare it with"
"""The assumption that a report without a source rests on."""

UNSAID: Final = f"{UNREAD}, or to say for which sizes its unsigned values do not wrap around"
"""The same of a certificate that does not say what reading its source assumed."""

KINDS: Final = {"AtLeast": "Q >= Q'", "AtMost": "counts of accesses", "Entails": "P |- P'", "Uniform": "e unif"}
"""The names of side conditions, by the kind of obligation."""

ANY: Final = extent((None, None, None))


# --- the object ------------------------------------------------------------------------------------------------------


def verdict(a: Audited, found: Finding | None) -> str:
    """One of MEANING; `found` is what was found out about a refusal."""
    if a.ended:
        return a.ended.partition(":")[0].replace(" ", "-")
    if found is not None:
        return found.verdict
    if a.vacuous:
        return "vacuous"
    return seconded.verdict(a.second, a.ledger)


@dataclass(frozen=True, slots=True)
class Source:
    """A CUDA source, as far as a certificate is about it: the kernel as read, the launches whose sizes are known, the
    lines of the file that it is in, none if unreadable, and the digest of the file that was given."""

    file: str
    reading: Reading
    launches: tuple[Sizes, ...]
    lines: tuple[str, ...]
    digest: str

    @property
    def kernel(self) -> Kernel:
        """The kernel with what the source assumes inside it."""
        return with_assumptions(self.reading.kernel, "\n".join(self.lines))

    @property
    def notes(self) -> tuple[str, ...]:
        return self.reading.notes

    @property
    def block(self) -> Dim | None:
        return self.reading.block

    def under(self, context: Context) -> Source:
        """The kernel as it is in the launches that a certificate is about."""
        return replace(self, reading=in_launches(self.reading, context.launch, context.hardware))


def beside(a: Audited, source: Source | None) -> tuple[Audited, Source | None, str]:
    """A certificate with the source that it is held against: the kernel as it is in its launches, and the first
    difference. Where there is none the certificate's places are in the source's files."""
    if source is None:
        return a, None, ""
    made = a.certificate
    source = source.under(made.context)
    told = _difference(made.kernel, source.kernel) or unfounded(made.context.launch.contracts, source.reading)
    if told:
        return a, source, told
    derivation = located(made.derivation, source.kernel, made.context)
    outcome = a.outcome
    if isinstance(outcome, Refusal) and outcome.loc:
        here = (outcome.loc.line, outcome.loc.column)
        places = (d.loc for d in applications(derivation) if d.loc and (d.loc.line, d.loc.column) == here)
        outcome = replace(outcome, loc=next(places, outcome.loc))
    return replace(a, certificate=replace(made, derivation=derivation), outcome=outcome), source, ""


def beside_all(a: Audited, sources: Sequence[Source]) -> tuple[Audited, Source | None, str]:
    """A certificate with the first source whose kernel is another one, of several that have one of its name."""
    found = [beside(a, source) for source in sources or (None,)]
    return next((one for one in found if one[2]), found[0])


def row(
    a: Audited,
    at: Mapping[str, int],
    source: Source | None = None,
    difference: str = "",
    spent: Account | None = None,
) -> Row:
    """All that is said of a certificate, beside a source; `spent` are the shares of its bound in a run at the point."""
    made, context = a.certificate, a.certificate.context
    sigma = context.sigma
    claim = a.outcome if isinstance(a.outcome, Claim) else None
    bound = None if claim is None else shown(claim)
    value, missing = (None, []) if bound is None or not at else value_at(bound, context, at)
    kinds: dict[str, Counter[str]] = {}
    for line in a.ledger.discharged:
        kinds.setdefault(type(line.obligation).__name__, Counter())[line.verdict.engine] += 1
    program = source.kernel if source and not difference else None
    proved = [] if claim is None else [a]
    barriers = a.ledger.barriers if claim is not None else []
    wrong = _finding(a)
    origin = made.origin
    unread = (UNSAID,) if origin is None else (UNREAD, *origin.said)
    notes = unread if source is None else source.notes
    found: Row = {
        "file": a.file,
        "digest": made.digest,
        "kernel": made.name,
        "metric": context.metric.name,
        "counts": _counts(context.metric),
        "custom": [described(own) for own in (context.metric, context.hardware) if not is_known(own)],
        "per": subject(context, {0: "warp", 1: "block"}.get(len(made.sums), "grid")),
        "block": extent(context.launch.block),
        "grid": extent(context.launch.grid),
        "hardware": context.hardware.name,
        "bound": None if bound is None else str(bound),
        "claim": None if claim is None else claimed(claim),
        "value": None if value is None else number(value),
        "missing": missing,
        "at": {name: n for name, n in at.items() if name in sigma.params or name.partition("[")[0] in sigma.stable}
        or None,
        "verdict": verdict(a, wrong),
        "problem": a.ended or None,
        "explanation": None,
        "second_checker": a.second.verdict if a.second else None,
        "second_claim": (a.second.claim or None) if a.second else None,
        "solver_backed": a.second.solver_backed if a.second else [],
        "backed": backed_json(backed(a.second, a.ledger, a.certificate.context)) if a.second else [],
        "assumptions": assumptions(made.kernel, context, notes, barriers),
        "admitted": sorted(set(barriers)),
        "side_conditions": {kind: dict(sorted(count.items())) for kind, count in sorted(kinds.items())},
        "made": as_row(made.tools, origin),
        "source": None
        if source is None
        else {
            "file": source.file,
            "same": not difference,
            "difference": difference,
            "unchanged": None if origin is None else source.digest == origin.source,
        },
        "launches": [],
        "warnings": [],
        "accesses": [_at(loc) | {"access": name, "most": n} for loc, name, n in accesses(proved, context, program)],
        "turns": [_at(loc) | {"rule": rule, "told": told} for loc, rule, told in turns(proved)],
        "shares": None if spent is None else _shares(spent),
        "listing_of": None,
        "listing": [],
        "apart": [],
    }
    if wrong is not None and isinstance(a.outcome, Refusal):
        found["problem"] = describe(a.outcome, reason_of(wrong))
        found["explanation"] = explain(wrong).partition("\n")[2].strip("\n") or None
    if source is not None and not difference:
        found["listing_of"] = source.reading.kernel.loc.file if source.reading.kernel.loc else None
        refused = a.outcome if isinstance(a.outcome, Refusal) else None
        found["listing"], found["apart"] = _listing(source, found, refused)
    return found


def _shares(spent: Account) -> Row:
    """The shares of a bound by lines; what is of no line that is known comes last."""
    return shared_out(spent, sorted(by_line(spent).items(), key=lambda item: (item[0][1] == 0, item[0])))


def _finding(a: Audited) -> Finding | None:
    """A refusal, with a state that shows the failing side condition false where one is found; None where it holds."""
    if not isinstance(a.outcome, Refusal):
        return None
    context = a.certificate.context
    return Finding(a.outcome, context, replayed(a.outcome, a.derivation, context))


def _difference(ours: Kernel, theirs: Kernel) -> str:
    """The first difference between a certificate's kernel and a source's, in words; "" where there is none."""
    if ours == replace(theirs, name=ours.name):  # it was chosen by that
        return ""
    if ours.params != theirs.params:
        return "its parameters are others"
    for a, b in zip_longest(ours.arrays, theirs.arrays):
        if a != b:
            return f"the array {(a or b).name} has another type or layout"
    lines = zip_longest(show_stmt(ours.body).split("\n"), show_stmt(theirs.body).split("\n"), fillvalue="nothing")
    found = (f"the certificate has `{a.strip()}`, the source `{b.strip()}`" for a, b in lines if a != b)
    return next(found, "its local variables are others")


def _places(kernel: Kernel) -> Iterator[Loc]:
    for s in statements(kernel.body):
        yield from (t.loc for t in (s, *(t for e in evaluated(s) for t in subterms(e))) if t.loc is not None)


def _counts(metric: Metric) -> str:
    """The unit that a metric counts."""
    return COUNTS[metric.name] if is_known(metric) else f"by the {described(metric)}"


def _at(loc: Loc | None) -> Row:
    """A place; its file where it is known."""
    return {
        "file": loc.file or None if loc else None,
        "line": loc.line if loc else None,
        "column": loc.column if loc else None,
    }


def _listing(source: Source, found: Row, refused: Refusal | None) -> tuple[list[Row], list[Row]]:
    """The lines of the kernel and the others of its file that something is said of, each with that; and what is said of
    no line of that file. A line without a number stands for a gap."""
    notes: dict[int, list[str]] = {}
    apart = []
    first = source.kernel.loc
    told = [(access, [f"{access['access']}: {access['most']}"]) for access in found["accesses"]]
    told += [(turn, [turn["rule"], *turn["told"]]) for turn in found["turns"]]
    told += [(_at(refused.loc), [f"{found['verdict']} here"])] if refused is not None and refused.loc else []
    for where, texts in told:
        if first is not None and where["file"] == first.file and 1 <= where["line"] <= len(source.lines):
            notes.setdefault(where["line"], []).extend(texts)
        else:
            apart.append({key: where[key] for key in ("file", "line", "column")} | {"told": texts})
    if first is None or not 1 <= first.line <= len(source.lines):
        return [], apart
    numbers = sorted({*range(first.line, _last(source, first) + 1), *notes})
    listing: list[Row] = []
    for i in numbers:
        if listing and listing[-1]["line"] != i - 1:
            listing.append({"line": None, "text": "", "notes": []})
        listing.append({"line": i, "text": source.lines[i - 1].rstrip(), "notes": notes.get(i, [])})
    return listing, apart


def _last(source: Source, first: Loc) -> int:
    """The line on which the kernel ends: that of the brace that closes its body, as far as braces tell."""
    last = max((loc.line for loc in _places(source.kernel) if loc.file == first.file), default=first.line)
    return closing(source.lines, first.line, last)


def change_row(change: Change) -> Row:
    """The row of a change: what became of a claim, or a new one."""
    old, new = change.old, change.new

    def side(a: Audited) -> Row:
        bound = str(shown(a.outcome)) if isinstance(a.outcome, Claim) else None
        return {"file": a.file, "digest": a.certificate.digest, "bound": bound}

    return {
        "kernel": new.certificate.name,
        "metric": named(new.metric),
        "old": side(old),
        "new": side(new),
        "change": change.bound,
        "engine": change.engine or None,
        "at": dict(change.at) or None,
        "before": None if change.before is None else number(change.before),
        "after": None if change.after is None else number(change.after),
        "added": list(change.added),
        "dropped": list(change.dropped),
        "worse": change.worse,
    }


def document(
    rows: Sequence[Row],
    changes: Sequence[Row],
    sources: Mapping[str, str],
    reading: Sequence[str],
    at: Mapping[str, int],
    accept: Sequence[str] = (),
) -> Row:
    """The one object, of which all formats are made. `sources` are CUDA sources with the SHA-256 of each, `reading` the
    options with which they were read, `at` is where bounds are evaluated. `good` is what the exit code says: a claim
    that an older one is compared with may rest on what that rests on, and any on what the words in `accept` name."""
    found = {r["verdict"] for r in rows}
    kept = {(c["new"]["file"], v) for c in changes for v in ("solver-backed", "holey")}
    enough = all(r["verdict"] in ("certified", *accept) or (r["file"], r["verdict"]) in kept for r in rows)
    same = all((r["source"] is None or r["source"]["same"]) and spoken_of(r) for r in rows)
    return {
        "verdict": next(v for v in MEANING if v in found),
        "good": enough and same and not any(c["worse"] for c in changes),
        "sources": [{"file": file, "sha256": digest} for file, digest in sources.items()],
        "reading": list(reading),
        "at": dict(at) or None,
        "certificates": list(rows),
        "comparison": list(changes),
    }


# --- words that all formats use --------------------------------------------------------------------------------------


def groups(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows that are about one kernel under one launch, and rest on the same, in the order of the first."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for r in rows:
        key = (r["kernel"], r["block"], r["grid"], r["hardware"], *r["assumptions"], r["per"] == "span")
        found.setdefault(key, []).append(r)
    return list(found.values())


def launch(r: Row) -> str:
    """Blocks, grid and hardware."""
    sizes = ((f"{what}s of", r[what]) for what in ("block", "grid"))
    known = [f"any {of.split('s of')[0]}" if size == ANY else f"{of} {size}" for of, size in sizes]
    return ", ".join((*known, hardware_called(r["hardware"])))


def label(r: Row) -> str:
    """The metric's name, which says whether it is a built-in one."""
    return called(str(r["metric"]))


def subject_of(r: Row) -> str:
    """The subject of a bound."""
    return SUBJECTS[r["per"]][0]


def checked(r: Row) -> str:
    """A sentence on who checked how much."""
    if r["verdict"] in LIMITED:
        return "not judged to the end"
    counts = {kind: sum(engines.values()) for kind, engines in r["side_conditions"].items()}
    total = sum(counts.values())
    by = ", ".join(sorted({engine for engines in r["side_conditions"].values() for engine in engines}))
    kinds = ", ".join(f"{n} {KINDS[kind]}" for kind, n in counts.items())
    kernel = f"{many(total, 'side condition')} ({kinds}), decided by {by}" if total else "no side conditions"
    return f"{kernel}; second checker: {r['second_checker']}"


def remarks(r: Row) -> list[str]:
    """Remarks on a certificate besides its claim: why it does not hold, and whether the source is its."""
    found: list[str] = [r["problem"]] if r["problem"] else []
    if r["source"] is not None and not r["source"]["same"]:
        found.append(f"{r['source']['file']} has another kernel of this name: {r['source']['difference']}")
    elif r["source"] is not None:
        made = {True: ", and is the file that the certificate was made of", False: ", in a file that was changed since"}
        found.append(f"{r['source']['file']} has this kernel{made.get(r['source']['unchanged'], '')}")
    found += [f"--at lacks {', '.join(r['missing'])}"] if r["missing"] else []
    return [*found, *r["warnings"], *map(_unverified, r["backed"])]


def _unverified(fact: Row) -> str:
    """A fact that the second checker did not verify, in words."""
    at = fact["place"]
    where = f"{Loc(at['file'], at['line'], at['column'])}: " if at else ""
    by = f" (by the word of {fact['engine']})" if fact["engine"] else ""
    return f"not verified: {where}{fact['fact']}{by}"


def summary(report: Row) -> str:
    """The number of certificates by verdict, and what else is wrong."""
    rows, changes = report["certificates"], report["comparison"]
    count = Counter(r["verdict"] for r in rows)
    found = [f"{many(len(rows), 'certificate')}: {', '.join(f'{count[v]} {v}' for v in MEANING if count[v])}"]
    others = sum(r["source"] is not None and not r["source"]["same"] for r in rows)
    found += [f"{others} of another source"] if others else []
    unspoken = sum(not spoken_of(r) for r in rows)
    found += [f"{unspoken} of another launch"] if unspoken else []
    worse = sum(c["worse"] for c in changes)
    return "; ".join(found + ([f"{worse} worse than before"] if worse else []))


def point(at: Mapping[str, int] | None) -> str:
    """Values of parameters, in words; "" for none. That a grid has one dimension goes without saying."""
    told = {name: n for name, n in (at or {}).items() if (name, n) not in (("gridDim.y", 1), ("gridDim.z", 1))}
    return ", ".join(f"{name} = {n}" for name, n in (told or at or {}).items())


def told(change: Row) -> str:
    """The change of a claim, in words."""
    new, old = change["new"]["bound"], change["old"]["bound"]
    at = point(change["at"])
    there = f"{f'at {at}: ' if at else ''}{change['after']}, was {change['before']}"
    said = {
        "same": f"the same bound, {new}",
        "lower": f"lower: {new}, was {old} ({there}; never higher, by {change['engine']})",
        "not higher": f"not higher: {new}, was {old} (by {change['engine']})",
        "grew": f"grew: {new}, was {old} ({there})",
        "unclear": f"not shown not to have grown: {new}, was {old}",
    }[change["change"]]
    more = [f"it rests on more: {'; '.join(change['added'])}"] if change["added"] else []
    less = [f"it no longer rests on: {'; '.join(change['dropped'])}"] if change["dropped"] else []
    return "; ".join((said, *more, *less))


def place_of(r: Row) -> str:
    """Line and column; nothing where they are not known."""
    return f"{r['line']}:{r['column']}" if r["line"] else ""


def again(r: Row) -> str:
    """The command that checks a certificate again."""
    return f"warpbound recheck {'-- ' if r['file'].startswith('-') else ''}{shlex.quote(r['file'])}"


# --- formats ---------------------------------------------------------------------------------------------------------


def as_format(report: Row, name: str, *, explain: bool) -> str:
    """The report in a format; `explain` adds to the text where the cost comes from. The page is made by
    `checker.report.audit_page`."""
    match name:
        case "json":
            return json.dumps({"version": VERSION, **report}, indent=2)
        case "sarif":
            return json.dumps(as_sarif(report), indent=2)
        case "markdown":
            return as_markdown(report)
    return as_text(report, explain)


def as_text(report: Row, explain: bool) -> str:
    """The report for a terminal; what all of it assumes, or says of its making, is there once."""
    lines = [summary(report)]
    rows = report["certificates"]
    every = shared([group[0]["assumptions"] for group in groups(rows)])
    making = shared([sentences(r["made"]) for r in rows])
    for group in groups(rows):
        lines += ["", f"{group[0]['kernel']}: {launch(group[0])}"]
        cells = [(label(r), subject_of(r), f"<= {r['bound']}" if r["bound"] else "no bound") for r in group]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        said = shared([remarks(r) for r in group])
        for r, columns in zip(group, cells, strict=True):
            value = "" if r["value"] is None else f"  = {r['value']} at {point(r['at'])}"
            padded = (f"{text:<{width}}" for text, width in zip(columns, widths, strict=True))
            lines += [f"  {'  '.join(padded)}  {r['verdict']}{value}"]
            lines += [wrapped(text, "      ") for text in remarks(r) if text not in said]
            if explain:
                lines += [f"      {place_of(x):<8}{x['access']}  {x['most']}" for x in r["accesses"]]
                for x in r["turns"]:
                    lines += [f"      {place_of(x):<8}{x['rule']}", *(f"              {text}" for text in x["told"])]
        lines += [wrapped(text, "  ") for text in said]
        own = [text for text in group[0]["assumptions"] if text not in every]
        lines += ["  Assumed:", *(f"    - {text}" for text in own)] if own else []
        lines += ["  Checked:"]
        for r in group:
            lines += [f"    {r['file']}", f"      {r['digest']}", wrapped(checked(r), "      ")]
            lines += [wrapped(text, "      ") for text in sentences(r["made"]) if text not in making]
    lines += ["", "All of these assume:", *(f"  - {text}" for text in every)] if every else []
    lines += ["", "All of these say of themselves:", *(wrapped(t, "  - ", "    ") for t in making)] if making else []
    if report["comparison"]:
        lines += ["", "Compared:"]
        lines += [wrapped(f"{c['kernel']} {c['metric']}: {told(c)}", "  ", "      ") for c in report["comparison"]]
    return "\n".join(map(printable, "\n".join(lines).split("\n")))


def as_markdown(report: Row) -> str:
    """The report as a page of Markdown."""
    lines = ["# Cost audit", "", f"{plain(summary(report))}.", ""]
    every = shared([group[0]["assumptions"] for group in groups(report["certificates"])])
    if report["comparison"]:
        lines += ["## Compared with before", ""]
        lines += [f"- **{plain(c['kernel'])} {plain(c['metric'])}**: {plain(told(c))}" for c in report["comparison"]]
        lines += [""]
    for group in groups(report["certificates"]):
        lines += [f"## {plain(group[0]['kernel'])}: {plain(launch(group[0]))}", ""]
        here = f"at {plain(point(group[0]['at']))}" if group[0]["at"] else "here"
        lines += [f"| metric | bound on | at most | {here} | verdict | second checker |", "|---|---|---|---|---|---|"]
        for r in group:
            cells = (
                plain(label(r)),
                subject_of(r),
                inline(r["bound"]) if r["bound"] else "no bound",
                "" if r["value"] is None else str(r["value"]),
                r["verdict"],
                r["second_checker"] or "",
            )
            lines.append(f"| {' | '.join(cells)} |")
        lines += [""]
        said = [f"- {plain(label(r))}: {plain(text)}" for r in group for text in remarks(r)]
        lines += [*said, ""] if said else []
        own = [text for text in group[0]["assumptions"] if text not in every]
        lines += ["Assumed:", "", *(f"- {plain(text)}" for text in own), ""] if own else []
        lines += ["| certificate | digest | checked |", "|---|---|---|"]
        for r in group:
            judged = "; ".join((checked(r), *sentences(r["made"])))
            lines.append(f"| {inline(r['file'])} | {inline(r['digest'])} | {plain(judged)} |")
        lines += [""]
    lines += ["## All of these assume", "", *(f"- {plain(text)}" for text in every), ""] if every else []
    return clean("\n".join(lines).rstrip())


_LEVELS: Final[Mapping[str, Level]] = {
    "certified": "none",
    "solver-backed": "note",
    "holey": "warning",
    "timeout": "warning",
    "out-of-memory": "warning",
    "crashed": "warning",
}


def as_sarif(report: Row) -> Row:
    """A SARIF 2.1.0 log: a result for each certificate, which passes where it is certified, one for each whose source
    has another kernel, and one for each claim that grew or rests on more."""
    rules = {
        **MEANING,
        "other-source": "the source given has another kernel than the certificate",
        "other-launch": "the kernel is launched with sizes that the certificate does not speak of",
        "worse": "a bound grew, or rests on more than before",
    }
    results = []

    def result(rule: str, text: str, where: Row, **properties: Any) -> None:
        kind = "pass" if rule == "certified" else "fail"
        level = _LEVELS.get(rule, "error")
        found = {"ruleId": rule, "kind": kind, "level": level, "message": message(text), "locations": [where]}
        results.append(found | ({"properties": properties} if properties else {}))

    for r in report["certificates"]:
        first = r["listing"][0]["line"] if r["listing"] else None
        file = r["source"]["file"] if first else r["file"]
        text = ". ".join(filter(None, (r["claim"], *remarks(r))))
        result(r["verdict"], text, place(file, first), digest=r["digest"], assumptions=r["assumptions"])
        if r["source"] is not None and not r["source"]["same"]:
            result("other-source", f"{r['file']}: {r['source']['difference']}", place(r["source"]["file"]))
        if not spoken_of(r):
            result("other-launch", f"{r['file']}: {'; '.join(r['warnings'])}", place(file, first))
    for c in report["comparison"]:
        if c["worse"]:
            result("worse", f"{c['kernel']} {c['metric']}: {told(c)}", place(c["new"]["file"]))
    return log([(name, _LEVELS.get(name, "error"), text) for name, text in rules.items()], results, {})
