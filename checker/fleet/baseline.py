"""Baselines: what holds of a code base, as a file, and what changed between two of them.

A row holds a bound with its launch and what it assumes, as a document without a proof: two baselines are compared
without being proved again. Who doubts one makes it anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath
from typing import Any, Final, Literal, cast

from checker.certificates.audit import grown
from checker.certificates.claims import called
from checker.certificates.document import read
from checker.fleet.desk import Desk
from checker.fleet.rows import Row
from checker.notation.problem import OptionProblem
from checker.notation.words import number
from checker.oracles import Oracles
from checker.report.page import Fault, Page, Section
from logic.assertions import Context
from logic.potentials import Poly
from logic.source import Loc, SourceError

FORMAT: Final = "warpbound baseline"
VERSION: Final = 1

Kind = Literal["same", "shrank", "grew", "unclear", "lost", "found", "appeared", "disappeared", "open"]

BAD: Final = ("grew", "unclear", "lost")
"""Changes that turn a pipeline red: a higher bound, one that is not known to be no higher, and none where one was."""

TOLD: Final[Mapping[str, str]] = {
    "grew": "grew",
    "unclear": "may have grown",
    "lost": "is no longer certified",
    "shrank": "shrank",
    "found": "is certified now",
    "appeared": "appeared",
    "disappeared": "disappeared",
    "same": "is as it was",
    "open": "is not certified, as before",
}


# --- a baseline -------------------------------------------------------------------------------------------------------


def made(desk: Desk, root: str = "") -> dict[str, Any]:
    """The baseline of what a run found; `root` is left out of paths."""
    rows = []
    for key, row in desk.in_order():
        kept = {name: row[name] for name in ("kernel", "metric", "per", "bound", "verdict", "certificate", "line")}
        kept |= {"file": _within(str(row["file"]), root)}
        good = row["verdict"] in ("certified", *desk.accepted)
        if good and (claim := desk.claim(key)) is not None:
            kept |= {"claim": claim, "subject": desk.subject(key), "assumptions": row["assumptions"]}
        else:
            kept |= {"bound": None, "certificate": None}
        rows.append(kept)
    return {"format": FORMAT, "version": VERSION, "rows": rows}


def _within(path: str, root: str) -> str:
    return path.removeprefix(root).lstrip("/") if root and path.startswith(root) else path


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a baseline; the bound and its context where there is one that holds."""

    row: Row
    bound: Poly | None = None
    context: Context | None = None


def entries(document: Any, path: str) -> list[Entry]:
    """The rows of a baseline. Raises OptionProblem for what is none."""
    advice = "`warpbound baseline PATH.. -o FILE` writes one."
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise OptionProblem(f"'{path}' is no baseline", advice=advice)
    if document.get("version") != VERSION:
        told = f"'{path}' is a baseline of version {str(document.get('version'))[:40]}, not {VERSION}"
        raise OptionProblem(told, advice="Make it anew.")
    try:
        return [_entry(row, path) for row in document["rows"]]
    except (KeyError, TypeError, AttributeError, SourceError) as error:
        raise OptionProblem(f"'{path}' is no baseline: {error!s:.200}", advice=advice) from None


def _entry(row: Any, path: str) -> Entry:
    own = {name: row[name] for name in ("kernel", "file", "line", "metric", "per", "bound", "verdict")}
    own |= {"assumptions": list(row.get("assumptions", ())), "certificate": row.get("certificate")}
    if row.get("claim") is None:
        return Entry(own | {"bound": None})
    certificate = read(json.dumps(row["claim"]), path)
    return Entry(own, cast(Poly, certificate.derivation.substitution["Q"]), certificate.context)


# --- two of them ------------------------------------------------------------------------------------------------------


def difference(old: Sequence[Entry], new: Sequence[Entry]) -> list[Row]:
    """The change of each bound, in the order of the new ones; those that are gone come last."""
    pairs, gone = _paired(old, new)
    oracle = Oracles()
    return [_change(before, after, oracle) for before, after in pairs] + [_change(e, None, oracle) for e in gone]


def _paired(old: Sequence[Entry], new: Sequence[Entry]) -> tuple[list[tuple[Entry | None, Entry]], list[Entry]]:
    """Each new row with the old one that is about the same kernel: by name and metric, and where several kernels are
    called so, by the file whose path ends most alike."""
    left = list(old)

    def same(e: Entry) -> tuple[Any, ...]:
        return e.row["kernel"], e.row["metric"], e.row["per"]

    def take(e: Entry) -> Entry | None:
        found = [o for o in left if same(o) == same(e)]
        several = len(found) > 1 or sum(same(n) == same(e) for n in new) > 1
        if several:
            alike = [_alike(o.row["file"], e.row["file"]) for o in found]
            best = max(alike, default=0)
            found = [o for o, n in zip(found, alike, strict=True) if n == best > 0]
        if len(found) > 1:
            found = [o for o in found if o.row["file"] == e.row["file"]][:1]
        if found:
            left.remove(found[0])
        return found[0] if found else None

    pairs = [(take(e), e) for e in new]
    return pairs, left


def _alike(one: str, other: str) -> int:
    """The number of names in which the ends of two paths agree: a folder may be looked at from elsewhere."""
    pairs = zip(reversed(PurePath(one).parts), reversed(PurePath(other).parts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _change(old: Entry | None, new: Entry | None, oracle: Oracles) -> Row:
    row = (new or cast(Entry, old)).row
    found: Row = {name: row[name] for name in ("kernel", "metric", "per", "file", "line")}
    found |= {"change": "", "old": old.row["bound"] if old else None, "new": new.row["bound"] if new else None}
    found |= {"at": None, "before": None, "after": None, "added": []}
    kind: Kind
    if old is None or new is None:
        kind = "appeared" if old is None else "disappeared"
    elif old.bound is None or old.context is None:
        kind = "open" if new.bound is None else "found"
    elif new.bound is None or new.context is None:
        kind = "lost"
    else:
        growth = grown(old.bound, new.bound, old.context, new.context, oracle)
        kinds: Mapping[str, Kind] = {"lower": "shrank", "not higher": "shrank", "grew": "grew", "unclear": "unclear"}
        kind = kinds.get(growth.bound, "same")
        if growth.before is not None and growth.after is not None:
            found |= {"at": dict(growth.at), "before": number(growth.before), "after": number(growth.after)}
        found["added"] = [a for a in new.row["assumptions"] if a not in old.row["assumptions"]]
    return found | {"change": kind}


def exit_code(rows: Iterable[Row]) -> int:
    """1 where a bound grew, or is not known not to have, or is lost."""
    return int(any(row["change"] in BAD for row in rows))


def sentence(row: Row) -> str:
    """A change in a line."""
    told = f"{row['kernel']} {row['metric']} {TOLD[row['change']]}"
    if row["old"] is not None and row["new"] is not None and row["old"] != row["new"]:
        told += f": {row['old']} -> {row['new']}"
    elif (one := row["new"] if row["new"] is not None else row["old"]) is not None:
        told += f": {one}"
    if row["at"]:
        where = ", ".join(f"{name}={n}" for name, n in row["at"].items())
        told += f" ({row['before']} -> {row['after']} at {where})"
    return told + (f"; it also assumes: {'; '.join(row['added'])}" if row["added"] else "")


def counted(rows: Sequence[Row]) -> str:
    """How many there are of each change."""
    counts = {kind: sum(row["change"] == kind for row in rows) for kind in TOLD}
    return ", ".join(f"{n} {kind}" for kind, n in counts.items() if n) or "nothing to compare"


def _changed(rows: Sequence[Row]) -> list[Row]:
    """The rows that changed, the worst first."""
    order = list(TOLD)
    shown = [row for row in rows if row["change"] not in ("same", "open") or row["added"]]
    return sorted(shown, key=lambda row: order.index(row["change"]))


def as_text(rows: Sequence[Row]) -> str:
    """For a person: what changed, and counts."""
    lines = [f"{_place(row)}{sentence(row)}" for row in _changed(rows)]
    return "\n".join([*lines, *([""] if lines else []), counted(rows)])


def _place(row: Row) -> str:
    return f"{row['file']}:{row['line']}: " if row["line"] else f"{row['file']}: "


def as_page(rows: Sequence[Row]) -> Page:
    """The same as a page, for a pull request: a fault for each bound that grew or is lost."""
    head = ("kernel", "place", "metric", "change", "before", "after", "at")
    cells = []
    for row in _changed(rows):
        where = ", ".join(f"{name}={n}" for name, n in (row["at"] or {}).items())
        at = f"{where}: {row['before']} -> {row['after']}" if where else ""
        old, new = (row[name] if row[name] is not None else "" for name in ("old", "new"))
        cells.append(
            (str(row["kernel"]), _place(row).removesuffix(": "), called(row["metric"]), row["change"], old, new, at)
        )
    section = Section(
        text=f"{counted(rows)}.", head=head if cells else (), rows=cells, code=("kernel", "before", "after")
    )
    kinds = {"grew": "grew", "unclear": "grew", "lost": "lost"}
    faults = [
        Fault(kinds[row["change"]], sentence(row), Loc(row["file"], row["line"], 1) if row["line"] else row["file"])
        for row in rows
        if row["change"] in BAD
    ]
    return Page("Bounds, before and after", [section], faults)
