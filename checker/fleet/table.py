"""The table of a run, with counts by verdict, the reasons for what is not certified, and budgets: as text, as JSON and
as a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from checker.certificates.claims import called
from checker.fleet.rows import CODES, VERDICTS, Row
from checker.notation.words import many
from checker.report.page import Fault, Page, Section, rule_of
from logic.source import Loc

HEAD: Final = ("kernel", "at", "metric", "at most", "verdict", "seconds")

MANY: Final = 20
"""Reasons, and assumptions of some kernels, that a text names; JSON has all."""

_LEFT: Final = {"left": "file", "kernels_left": "kernel"}
"""What may be left out, by the keys of a summary."""

WIDEST: Final = 60
"""Characters of a bound in a column of the text; JSON has all."""


def exit_code(rows: Sequence[Row], budgets: Sequence[Row], accepted: Collection[str] = ()) -> int:
    """The worst exit code."""
    codes = [0 if row["verdict"] in accepted else CODES[row["verdict"]] for row in rows]
    codes += [0 if b["verdict"] in ("kept", "not looked at") else 1 for b in budgets]
    return max(codes, key=(0, 1, 3, 2).index, default=0)


# --- counts -----------------------------------------------------------------------------------------------------------


def worst(rows: Sequence[Row]) -> str:
    """The worst verdict of a kernel's rows."""
    return str(min((row["verdict"] for row in rows), key=VERDICTS.index))


def kernels(rows: Sequence[Row]) -> dict[tuple[str, str | None, int | None], list[Row]]:
    """The rows of each kernel, those of a source that cannot be read by themselves."""
    found: dict[tuple[str, str | None, int | None], list[Row]] = {}
    for row in rows:
        found.setdefault((row["file"], row["kernel"], row["line"]), []).append(row)
    return found


def summary(rows: Sequence[Row], files: int, left: tuple[int, int], seconds: float) -> dict[str, Any]:
    """How many files and kernels there are, and of each verdict that one has; why what is not certified is not. `left`
    are files, and kernels that are listed, which were not looked at to the end. Of bounds: how many are `cached`;
    where some rows are `unchanged`, how many, `since` when the first of these was found, and how many bounds are
    `judged` in this run."""
    each = {key: worst(own) for key, own in kernels(rows).items()}
    counts = Counter(verdict for (_, name, _), verdict in each.items() if name is not None)
    unreadable = sum(name is None for _, name, _ in each)
    found: dict[str, Any] = {"files": files, "kernels": counts.total()}
    found |= {verdict: counts[verdict] for verdict in reversed(VERDICTS) if counts[verdict]}
    found |= {"unreadable": unreadable} if unreadable else {}
    found |= {key: n for key, n in zip(_LEFT, left, strict=True) if n}
    old = [row["since"] for row in rows if row["since"]]
    judged = sum(row["bound"] is not None and not row["since"] for row in rows)
    found |= {"unchanged": len(old), "since": min(old), "judged": judged} if old else {}
    cached = sum(row["cached"] for row in rows)
    return found | {"cached": cached, "seconds": round(seconds, 3), "reasons": reasons(rows)}


def reasons(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Why rows are not certified, most frequent first: without places and names, which differ."""
    counted: Counter[str] = Counter()
    for own in kernels(rows).values():
        told = {reason(row) for row in own if row["verdict"] != "certified"}
        counted.update(told)
    return [{"reason": text, "kernels": n} for text, n in sorted(counted.items(), key=lambda c: (-c[1], c[0]))]


def reason(row: Row) -> str:
    """The reason why a row is not certified, such as others have, too."""
    text = re.sub(r"^\S+:\d+:\d+: ", "", str(row.get("problem", "")).partition("\n")[0])
    text = re.sub(r"'[^']*'", "'..'", text.partition(". ")[0])
    if row["verdict"] == "not-proved" and text.startswith("no potential was found"):
        text = text.partition(":")[0]
    return f"{row['verdict']}: {text}" if text else str(row["verdict"])


def counted(found: Mapping[str, Any]) -> str:
    """The counts in a line."""
    parts = [f"{found[v]} {v.replace('-p', ' p')}" for v in reversed(VERDICTS) if v in found]
    parts += [f"{many(found['unreadable'], 'file')} cannot be read"] if "unreadable" in found else []
    parts += [f"{many(found[key], what)} left out" for key, what in _LEFT.items() if key in found]
    parts += [f"{many(found['cached'], 'bound')} from the cache"] if found["cached"] else []
    if "since" in found:
        old = f"{many(found['unchanged'], 'row')} unchanged since {found['since'][:10]}"
        parts.append(f"{old}, {many(found['judged'], 'bound')} judged now (--recheck judges all)")
    told = f"{many(found['files'], 'file')}, {many(found['kernels'], 'kernel')}"
    return f"{told}: {', '.join(parts)}" if parts else told


# --- forms ------------------------------------------------------------------------------------------------------------


def as_json(rows: Sequence[Row], found: Mapping[str, Any], budgets: Sequence[Row]) -> dict[str, Any]:
    """`bound PATH.. --format json`."""
    return {"results": list(rows), "summary": dict(found), "budgets": list(budgets)}


def _cells(row: Row) -> tuple[str, ...]:
    place = f"{row['file']}:{row['line']}" if row["line"] else str(row["file"])
    bound = "no bound" if row["bound"] is None else row["bound"]
    if row["value"] is not None and str(row["value"]) != bound:
        bound = f"{bound} = {row['value']}"
    time = "unchanged" if row["since"] else "cached" if row["cached"] else f"{row['seconds']:.2f}"
    return row["kernel"] or "-", place, called(row["metric"]), bound, row["verdict"], time


def as_text(rows: Sequence[Row], found: Mapping[str, Any], budgets: Sequence[Row]) -> str:
    """For a person: a row each, the reasons, what is assumed, budgets, counts."""
    table = [HEAD, *(_cells(row) for row in rows)]
    table = [tuple(c if len(c) <= WIDEST else f"{c[: WIDEST - 3]}..." for c in line) for line in table]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(f"{c:<{w}}" for c, w in zip(line, widths, strict=True)).rstrip() for line in table]
    blocks = ["\n".join(lines)] if rows else []
    if assumed := _assumed(rows):
        blocks.append("\n".join(["These assume:", *(f"  - {text}" for text in assumed)]))
    if found["reasons"]:
        told = [f"  {r['kernels']:>4}  {r['reason']}" for r in found["reasons"][:MANY]]
        more = len(found["reasons"]) - MANY
        told += [f"        and {many(more, 'reason')} more"] if more > 0 else []
        blocks.append("\n".join(["Kernels that are not certified, by reason:", *told]))
    if budgets:
        blocks.append("\n".join(["Budgets:", *(f"  {text}" for text in budget_texts(budgets, rows))]))
    return "\n\n".join([*blocks, counted(found)])


def _assumed(rows: Sequence[Row]) -> list[str]:
    """The assumptions of bounds: what all of them do, then what some do, with how many kernels that is of."""
    bounded = [own for own in ([r for r in rows if r["bound"] is not None] for rows in kernels(rows).values()) if own]
    each = [dict.fromkeys(a for row in own for a in row["assumptions"]) for own in bounded]
    counts = Counter(a for own in each for a in own)
    shared = [a for a, n in counts.items() if n == len(each)]
    some = [f"({many(n, 'kernel')}) {a}" for a, n in counts.most_common() if n < len(each)]
    more = [f"and {len(some) - MANY} more of some kernels: --format json has them"] if len(some) > MANY else []
    return [*shared, *some[:MANY], *more]


def budget_texts(budgets: Sequence[Row], rows: Sequence[Row]) -> list[str]:
    """Budgets and what became of them, a line each; with the file where kernels of several files have one name."""
    files = {(row["kernel"], row["file"]) for row in rows}
    shared = {name for name, n in Counter(name for name, _ in files).items() if n > 1}
    return [_budget_text(b, b["kernel"] in shared) for b in budgets]


def _budget_text(b: Row, with_file: bool) -> str:
    where = f" at {b['at']}" if b["at"] else ""
    file = f" of {b['file']}" if with_file and b["file"] else ""
    most = f"{b['kernel']}{file} {b['metric']}{where}: "
    if b["verdict"] == "not looked at":
        return f"{most}not looked at: {b['problem']}"
    if b["value"] is None:
        return f"{most}{b['verdict']}, at most {b['most']}: {b['problem']}"
    line = f"; most of it at {b['file']}:{b['line']}" if b["verdict"] == "exceeded" and b["line"] else ""
    told = f"{b['value']} of at most {b['most']}"
    point = f" ({b['problem']})" if b["verdict"] == "exceeded" and b["problem"] not in (None, told) else ""
    return f"{most}{b['verdict']}, {told}{point}{line}"


def as_page(
    title: str, rows: Sequence[Row], found: Mapping[str, Any], budgets: Sequence[Row], accepted: Collection[str]
) -> Page:
    """The same as a page; a fault for each that is not certified, nor has a verdict in `accepted`, and each budget that
    is not kept."""
    sections = [
        Section(text=f"{counted(found)}.", head=HEAD, rows=[_cells(r) for r in rows], code=("kernel", "at most"))
    ]
    if found["reasons"]:
        why = [(str(r["kernels"]), r["reason"]) for r in found["reasons"]]
        sections.append(Section("What is not certified, by reason", head=("kernels", "reason"), rows=why))
    if budgets:
        sections.append(Section("Budgets", items=budget_texts(budgets, rows)))
    faults = [_fault(r) for r in rows if r["verdict"] not in ("certified", *accepted)]
    told = zip(budgets, budget_texts(budgets, rows), strict=True)
    faults += [Fault("budget", text, _loc(b)) for b, text in told if b["verdict"] not in ("kept", "not looked at")]
    return Page(title, sections, faults, _assumed(rows))


def _fault(row: Row) -> Fault:
    told = row.get("problem") or row["claim"] or "no bound"
    what = f"{row['kernel']} {row['metric']}" if row["kernel"] else f"{row['metric']}"
    return Fault(rule_of(row["verdict"]), f"{what}: {row['verdict']}: {told}", _loc(row))


def _loc(row: Row) -> Loc | str | None:
    return Loc(row["file"], row["line"], 1) if row["line"] else row["file"]
