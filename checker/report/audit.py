"""The audit report on certificates: one JSON object, and that object as text, Markdown, HTML and SARIF."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from checker.audit import Audited, Change
from checker.cli.options import number
from checker.diagnosis import Finding
from checker.kernel import Claim, Rejected
from checker.report.bounds import accesses, assumptions, extent, shown, turns, value_at
from checker.report.rejection import describe, reason_of
from checker.report.sarif import log, place
from checker.report.terminal import wrapped
from logic.metrics import Linear, Metric
from logic.source import Loc
from logic.syntax import Kernel, statements

Row = dict[str, Any]

COUNTS: Final = {
    "sectors": "sectors of global memory that are read or written",
    "conflicts": "turns that shared memory takes beyond the first, because lanes want different words of one bank",
    "divwarps": "branches and tests of loops at which a warp parts",
    "steps": "steps of the evaluation, and every sector and turn of a bank",
}
"""What the metrics of Table 1 count."""

OF_WHAT: Final = {
    "warp": "a warp",
    "block": "the warps of a block",
    "grid": "all warps of a grid",
    "span": "a block, from its first thread to its last",
}
"""What a bound is on."""

WORST_FIRST: Final = ("rejected", "not-proved", "holey", "solver-backed", "certified")
"""The verdicts. `certified`: both checkers accept, nothing is admitted, and nothing rests on a solver's word."""

MEANING: Final = {
    "certified": "both checkers accept it; the second one needs no solver",
    "solver-backed": "both checkers accept it; what is listed rests on a solver's word",
    "holey": "both checkers accept it; barriers are assumed to be reached by whole blocks",
    "not-proved": "a side condition could not be proved: the claim may be true",
    "rejected": "the certificate does not prove its claim",
}


KINDS: Final = {"AtLeast": "Q >= Q'", "AtMost": "counts of accesses", "Entails": "P |- P'", "Uniform": "e unif"}
"""Side conditions."""

ANY: Final = extent((None, None, None))


# --- the object ------------------------------------------------------------------------------------------------------


def verdict(a: Audited) -> str:
    """One of WORST_FIRST."""
    if isinstance(a.outcome, Rejected):
        open_ = a.outcome.obligation is not None and (a.second is None or a.second.verdict != "invalid")
        return "not-proved" if open_ else "rejected"
    if a.ledger.barriers:
        return "holey"
    return "certified" if a.second is not None and a.second.verdict == "valid" else "solver-backed"


def row(a: Audited, at: Mapping[str, int], source: Kernel | None, lines: Sequence[str]) -> Row:
    """All that is said of a certificate. `source` is the kernel of its name in a CUDA source, `lines` that file's."""
    made, context = a.certificate, a.certificate.context
    claim = a.outcome if isinstance(a.outcome, Claim) else None
    bound = None if claim is None else shown(claim)
    value, missing = (None, []) if bound is None or not at else value_at(bound, context, dict(at))
    kinds: dict[str, Counter[str]] = {}
    for line in a.ledger.discharged:
        kinds.setdefault(type(line.obligation).__name__, Counter())[line.verdict.engine] += 1
    same = None if source is None else source == made.kernel
    proved = [] if claim is None else [a]
    found: Row = {
        "file": a.file,
        "digest": made.digest,
        "kernel": made.kernel.name,
        "metric": context.metric.name,
        "counts": _counts(context.metric),
        "per": "span" if context.scope == "block" else None if claim is None else claim.per,
        "block": extent(context.launch.block),
        "grid": extent(context.launch.grid),
        "hardware": context.hardware.name,
        "bound": None if bound is None else str(bound),
        "value": None if value is None else number(value),
        "missing": missing,
        "verdict": verdict(a),
        "problem": None,
        "second_checker": a.second.verdict if a.second else None,
        "second_claim": (a.second.claim or None) if a.second else None,
        "solver_backed": a.second.solver_backed if a.second else [],
        "assumptions": assumptions(made.kernel, context, (), made.admitted),
        "admitted": made.admitted,
        "side_conditions": {kind: dict(sorted(count.items())) for kind, count in sorted(kinds.items())},
        "source": None if same is None else "same" if same else "differs",
        "accesses": [_at(loc) | {"access": name, "most": n} for loc, name, n in accesses(proved, context)],
        "turns": [_at(loc) | {"rule": rule, "told": told} for loc, rule, told in turns(proved)],
    }
    if isinstance(a.outcome, Rejected):
        found["problem"] = describe(a.outcome, reason_of(Finding(a.outcome, context)))
    found["listing"] = _listing(source, found, lines) if same and source is not None else []
    return found


def _counts(metric: Metric) -> str:
    """What a metric counts."""
    if metric.name in COUNTS:
        return COUNTS[metric.name]
    prices = [f"{name} {price}" for name, price in metric.fixed.items()]
    prices += [f"{name} {_price(f)}" for name, f in metric.counted.items()]
    return f"a metric of its own: {', '.join(prices) or 'everything is free'}"


def _price(f: Linear) -> str:
    """The price of n as text, the least of it being 0."""
    return "n" if f == Linear(Fraction(1), Fraction(0)) else f"max(0, {f.slope}*n + {f.offset})"


def _at(loc: Loc | None) -> Row:
    return {"line": loc.line if loc else None, "column": loc.column if loc else None}


def _listing(kernel: Kernel, found: Row, lines: Sequence[str]) -> list[Row]:
    """The kernel's lines, each with what is said of it."""
    first = kernel.loc
    if first is None:
        return []
    places = [s.loc for s in statements(kernel.body) if s.loc is not None and s.loc.file == first.file]
    notes: dict[int | None, list[str]] = {}
    for access in found["accesses"]:
        notes.setdefault(access["line"], []).append(f"{access['access']}: {access['most']}")
    for turn in found["turns"]:
        notes.setdefault(turn["line"], []).extend((turn["rule"], *turn["told"]))
    last = max((loc.line for loc in places), default=first.line)
    while last < len(lines) and lines[last].strip().startswith("}"):
        last += 1
    return [{"line": i, "text": lines[i - 1].rstrip(), "notes": notes.get(i, [])} for i in range(first.line, last + 1)]


def change_row(change: Change) -> Row:
    """What became of a claim."""
    old, new = (shown(a.outcome) if isinstance(a.outcome, Claim) else None for a in (change.old, change.new))
    return {
        "kernel": change.new.certificate.kernel.name,
        "metric": change.new.metric.name,
        "old": {"file": change.old.file, "digest": change.old.certificate.digest, "bound": str(old)},
        "new": {"file": change.new.file, "digest": change.new.certificate.digest, "bound": str(new)},
        "change": change.bound,
        "at": dict(change.at) or None,
        "before": None if change.before is None else number(change.before),
        "after": None if change.after is None else number(change.after),
        "added": list(change.added),
        "dropped": list(change.dropped),
        "worse": change.worse,
    }


def document(rows: Sequence[Row], changes: Sequence[Row]) -> Row:
    """The one object, of which all formats are made."""
    found = {r["verdict"] for r in rows}
    return {
        "verdict": next(v for v in WORST_FIRST if v in found),
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
    return ", ".join((*known, f"hardware {r['hardware']}"))


def heading(r: Row) -> str:
    """The kernel and its launch."""
    return f"{r['kernel']}: {launch(r)}"


def sentence(r: Row) -> str:
    """The claim in words."""
    if r["bound"] is None:
        return f"{r['kernel']}: nothing is proved of {r['metric']}"
    value = "" if r["value"] is None else f", here {r['value']}"
    return f"{OF_WHAT[r['per']]} of {r['kernel']} costs at most {r['bound']} {r['metric']}{value}"


def checked(r: Row) -> str:
    """Who checked how much."""
    counts = {kind: sum(engines.values()) for kind, engines in r["side_conditions"].items()}
    total = sum(counts.values())
    by = ", ".join(sorted({engine for engines in r["side_conditions"].values() for engine in engines}))
    kinds = ", ".join(f"{n} {KINDS[kind]}" for kind, n in counts.items())
    return f"{total} side conditions ({kinds}), decided by {by}" if total else "no side conditions"


def summary(rows: Sequence[Row]) -> str:
    """How many certificates there are, by verdict."""
    count = Counter(r["verdict"] for r in rows)
    many = f"{len(rows)} certificate{'' if len(rows) == 1 else 's'}"
    return f"{many}: {', '.join(f'{count[v]} {v}' for v in WORST_FIRST if count[v])}"


def told(change: Row) -> str:
    """What became of a claim, in words."""
    new, old = change["new"]["bound"], change["old"]["bound"]
    at = ", ".join(f"{name} = {n}" for name, n in (change["at"] or {}).items())
    there = f"{f'at {at}: ' if at else ''}{change['after']}, was {change['before']}"
    parts = {
        "same": f"the same bound, {new}",
        "lower": f"lower: {new}, was {old} ({there})",
        "not higher": f"not higher: {new}, was {old}",
        "grew": f"grew: {new}, was {old} ({there})",
        "unclear": f"not shown not to have grown: {new}, was {old}",
    }[change["change"]]
    more = [f"it rests on more: {'; '.join(change['added'])}"] if change["added"] else []
    less = [f"it no longer rests on: {'; '.join(change['dropped'])}"] if change["dropped"] else []
    return "; ".join((parts, *more, *less))


def _place(r: Row) -> str:
    return f"{r['line']}:{r['column']}" if r["line"] else ""


def as_format(report: Row, name: str, source: str, *, explain: bool) -> str:
    """The report in a format; `source` is the CUDA source's path, "" where none is given."""
    match name:
        case "json":
            return json.dumps(report, indent=2)
        case "sarif":
            return json.dumps(as_sarif(report, source), indent=2)
        case "markdown":
            return as_markdown(report)
        case "html":
            return as_html(report)
    return as_text(report, explain)


# --- formats ---------------------------------------------------------------------------------------------------------


def as_text(report: Row, explain: bool) -> str:
    """The report for a terminal; `explain` adds where the cost comes from."""
    rows = report["certificates"]
    lines = [summary(rows)]
    for group in groups(rows):
        lines += ["", heading(group[0])]
        cells = [
            (r["metric"], OF_WHAT.get(r["per"], ""), f"<= {r['bound']}" if r["bound"] else "no bound") for r in group
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for r, columns in zip(group, cells, strict=True):
            value = "" if r["value"] is None else f"  = {r['value']}"
            value = f"  (--at lacks {', '.join(r['missing'])})" if r["missing"] else value
            padded = (f"{text:<{width}}" for text, width in zip(columns, widths, strict=True))
            lines += [f"  {'  '.join(padded)}  {r['verdict']}{value}"]
            lines += [wrapped(r["problem"], "      ")] if r["problem"] else []
            lines += [f"      {text}" for text in r["solver_backed"]]
            lines += (
                [f"      the source has another kernel of this name: {r['file']}"] if r["source"] == "differs" else []
            )
        if explain:
            for r in group:
                lines += [f"    {r['metric']}:"] if r["accesses"] or r["turns"] else []
                lines += [f"      {_place(x):<8}{x['access']}  {x['most']}" for x in r["accesses"]]
                for x in r["turns"]:
                    lines += [f"      {_place(x):<8}{x['rule']}", *(f"              {text}" for text in x["told"])]
        lines += ["  Assumed:", *(f"    - {text}" for text in group[0]["assumptions"])]
        lines += ["  Checked:"]
        for r in group:
            lines += [
                f"    {r['file']}",
                f"      {r['digest']}",
                f"      {checked(r)}; second checker: {r['second_checker']}",
            ]
    if report["comparison"]:
        lines += ["", "Compared:"]
        lines += [wrapped(f"{c['kernel']} {c['metric']}: {told(c)}", "  ", "      ") for c in report["comparison"]]
    return "\n".join(lines)


def as_markdown(report: Row) -> str:
    """The report as a page of Markdown."""
    rows = report["certificates"]
    lines = ["# Cost audit", "", f"{summary(rows)}.", ""]
    if report["comparison"]:
        lines += ["## Compared with before", ""]
        lines += [f"- **{_md(c['kernel'])} {_md(c['metric'])}**: {_md(told(c))}" for c in report["comparison"]]
        lines += [""]
    for group in groups(rows):
        lines += [f"## {_md(heading(group[0]))}", ""]
        lines += ["| metric | bound on | at most | value | verdict | second checker |", "|---|---|---|---|---|---|"]
        for r in group:
            value = "" if r["value"] is None else str(r["value"])
            bound = f"`{r['bound']}`" if r["bound"] else "-"
            cells = (r["metric"], OF_WHAT.get(r["per"], ""), bound, value, r["verdict"], r["second_checker"] or "")
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        lines += [""]
        for r in group:
            lines += [f"{r['metric']}: {_md(r['problem'])}", ""] if r["problem"] else []
            lines += [f"- rests on a solver's word: `{text}`" for text in r["solver_backed"]]
        lines += ["Assumed:", "", *(f"- {_md(text)}" for text in group[0]["assumptions"]), ""]
        lines += ["| certificate | digest | checked |", "|---|---|---|"]
        lines += [f"| `{r['file']}` | `{r['digest']}` | {_md(checked(r))} |" for r in group]
        lines += [""]
    return "\n".join(lines).rstrip()


def _md(text: str) -> str:
    """Text in which Markdown sees no markup."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)


def as_html(report: Row) -> str:
    """The report as one page that needs nothing else."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("checker.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = {
        "groups": groups,
        "launch": launch,
        "sentence": sentence,
        "checked": checked,
        "told": told,
        "place": _place,
    }
    facts = {"summary": summary(report["certificates"]), "of_what": OF_WHAT, "meaning": MEANING}
    return templates.get_template("audit.html.jinja").render(report=report, **words, **facts)


_LEVELS: Final = {"certified": "none", "solver-backed": "note", "holey": "warning"}


def as_sarif(report: Row, source: str) -> Row:
    """A SARIF 2.1.0 log: a result for each certificate, which passes where it is certified, and one for each claim that
    grew or rests on more. `source` is the CUDA source, "" where none is given."""
    rules = {**MEANING, "worse": "a bound grew, or rests on more than before"}
    results = []
    for r in report["certificates"]:
        where = place(source, r["listing"][0]["line"], 1) if source and r["listing"] else place(r["file"])
        passed = r["verdict"] == "certified"
        results.append(
            {
                "ruleId": r["verdict"],
                "kind": "pass" if passed else "fail",
                "level": _LEVELS.get(r["verdict"], "error"),
                "message": {"text": r["problem"] or sentence(r)},
                "locations": [where],
                "properties": {"digest": r["digest"], "assumptions": r["assumptions"]},
            }
        )
    for c in report["comparison"]:
        if c["worse"]:
            text = f"{c['kernel']} {c['metric']}: {told(c)}"
            results.append(
                {
                    "ruleId": "worse",
                    "kind": "fail",
                    "level": "error",
                    "message": {"text": text},
                    "locations": [place(c["new"]["file"])],
                }
            )
    levels = {name: _LEVELS.get(name, "error") for name in rules}
    return log([(name, levels[name], text) for name, text in rules.items()], results, {})
