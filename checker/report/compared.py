"""Two versions of a kernel, as `warpbound compare` says what is known of them: text, JSON and a page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from checker.analysis.compared import Compared, Version
from checker.certificates.claims import called, shown
from checker.notation.words import number
from checker.report.bounds import assumptions
from checker.report.page import Fault, Page, Section
from logic.source import Loc, SourceError

Row = dict[str, Any]

TOLD: Final = {
    "certified": "certified: every warp of the new version costs at most the bound of the old one",
    "solver-backed": "by a solver's word every warp of the new version costs at most the bound of the old one",
    "holey": "every warp of the new version costs at most the bound of the old one, if whole blocks reach each barrier",
    "dearer": "a warp of the new version costs more than all of the old one",
    "not-known": "not known: neither a proof that it costs no more than the old bound, nor a run that costs more",
    "unsupported": "a version cannot be read",
}
"""The meanings of the verdicts, the good ones first."""

CODES: Final = {"certified": 0, "dearer": 3, "unsupported": 2}
"""The exit codes of verdicts; of others 1."""


def row(kernel: str, metric: str, file: str, loc: Loc | None) -> Row:
    """The row of two versions of which nothing is known, for one metric."""
    place = {"file": loc.file if loc and loc.file else file, "line": loc.line if loc else None}
    found = {
        "kernel": kernel,
        "metric": metric,
        "per": "warp",
        **place,
        "verdict": "not-known",
        "old": None,
        "new": None,
    }
    return found | {"at": None, "before": None, "after": None, "run": None, "why": None, "added": [], "assumptions": []}


def filled(empty: Row, old: Version, new: Version, found: Compared, runs: Sequence[str]) -> Row:
    """The row with what was found; `runs` are the commands that run an input again, on the old version and the new."""
    claims = {"old": old.result.claim, "new": new.result.claim}
    own: Row = {name: None if claim is None else str(shown(claim)) for name, claim in claims.items()}
    barriers = ((new, (found.result or new.result).ledger.barriers), (old, old.result.ledger.barriers))
    ours, theirs = (assumptions(v.kernel, v.context, v.notes, held) for v, held in barriers)
    own |= {"verdict": found.word, "why": found.why or None, "assumptions": list(dict.fromkeys((*ours, *theirs)))}
    own["added"] = [text.removeprefix("given: ") for text in ours if text not in theirs]
    growth = found.growth
    if growth is not None and growth.before is not None and growth.after is not None:
        own |= {"at": dict(growth.at), "before": number(growth.before), "after": number(growth.after)}
    if found.dearer is not None:
        given = found.dearer.input
        costs = {"before": number(found.dearer.before), "after": number(found.dearer.after)}
        launch = {"block": list(given.block), "grid": list(given.grid)}
        own["run"] = {**launch, "args": dict(given.args), "arrays": dict(given.arrays), **costs, "commands": [*runs]}
    return empty | own


def unread(empty: Row, problem: SourceError) -> Row:
    """The row of a version that cannot be read."""
    where = f"{problem.loc}: " if problem.loc else ""
    return empty | {"verdict": "unsupported", "why": f"{where}{problem.message}"}


def exit_code(rows: Sequence[Row], accept: Collection[str] = ()) -> int:
    """The worst of the rows, in the order 2, 3, 1, 0; 1 where there is none."""
    codes = (0 if r["verdict"] in accept else CODES.get(r["verdict"], 1) for r in rows)
    return max(codes, key=(0, 1, 3, 2).index, default=1)


def _change(r: Row) -> str:
    """The bounds of both versions, and where they differ."""
    old, new = (r[name] if r[name] is not None else "no bound" for name in ("old", "new"))
    where = ", ".join(f"{name} = {n}" for name, n in (r["at"] or {}).items())
    return f"{old} -> {new}" + (f" ({r['before']} -> {r['after']} at {where})" if where else "")


def _more(r: Row) -> list[str]:
    """The rest that there is to say of a row, in lines."""
    told = [r["why"]] if r["why"] else []
    told += [f"it also assumes: {'; '.join(r['added'])}"] if r["added"] else []
    if r["run"]:
        told += [f"a warp costs {r['run']['before']} before, and {r['run']['after']} after:", *r["run"]["commands"]]
    return told


def _meanings(rows: Sequence[Row]) -> dict[str, str]:
    """The meanings of the verdicts of rows, each to stand behind its verdict."""
    met = {r["verdict"] for r in rows}
    return {word: told.removeprefix(f"{word}: ") for word, told in TOLD.items() if word in met}


def as_text(rows: Sequence[Row]) -> str:
    """For a person: a line for each metric of each kernel, and what each verdict means."""
    lines: list[str] = []
    columns = ([called(r["metric"]) for r in rows], [r["verdict"] for r in rows])
    widths = [max(map(len, column), default=0) for column in columns]
    for kernel in dict.fromkeys(r["kernel"] for r in rows):
        lines += [f"{kernel}, every warp", ""]
        for r in (r for r in rows if r["kernel"] == kernel):
            lines.append(f"  {called(r['metric']):<{widths[0]}}  {r['verdict']:<{widths[1]}}  {_change(r)}")
            lines += [f"      {text}" for text in _more(r)]
        lines.append("")
    met = _meanings(rows)
    width = max(map(len, met), default=0)
    lines += [f"{word:<{width}}  {told}" for word, told in met.items()] or ["nothing to compare"]
    assumed = list(dict.fromkeys(text for r in rows for text in r["assumptions"]))
    lines += ["", "This assumes:", *(f"  - {text}" for text in assumed)] if assumed else []
    return "\n".join(lines)


def as_page(rows: Sequence[Row], accept: Collection[str]) -> Page:
    """The same as a page, with a fault for each row that is not as it should be."""
    head = ("kernel", "metric", "verdict", "old bound", "new bound", "more")
    cells = []
    for r in rows:
        bounds = (r[name] if r[name] is not None else "no bound" for name in ("old", "new"))
        cells.append((r["kernel"], called(r["metric"]), r["verdict"], *bounds, "; ".join(_more(r))))
    sections = [Section(head=head if cells else (), rows=cells, code=("kernel", "old bound", "new bound"))]
    met = [f"{word}: {told}" for word, told in _meanings(rows).items()] or ["nothing to compare"]
    sections.append(Section("What the verdicts mean", items=met))
    faults = [_fault(r) for r in rows if r["verdict"] not in ("certified", *accept)]
    return Page("Two versions", sections, faults, list(dict.fromkeys(text for r in rows for text in r["assumptions"])))


def _fault(r: Row) -> Fault:
    rule = "not-proved" if r["verdict"] == "not-known" else str(r["verdict"])
    told = f"{r['kernel']} {r['metric']}: {TOLD[r['verdict']]}: {'; '.join([_change(r), *_more(r)])}"
    return Fault(rule, told, Loc(r["file"], r["line"], 1) if r["line"] else r["file"])
