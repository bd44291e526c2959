"""Results of `bound` for several kernels, with the worst of each and counts of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from checker.notation.words import many
from checker.report.bounds import unsupported
from checker.report.page import Fault, Page, Section
from checker.report.verdicts import EXIT
from logic.metrics import Metric
from logic.source import SourceError

WORST: Final = ("certified", "solver-backed", "holey", "not-proved", "refuted", "unsupported")
"""Verdicts, the worst last, in the order of their exit codes."""


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome for a kernel: rows for JSON; a text, and what follows what it assumes; a page, and an exit code."""

    name: str
    rows: Sequence[dict[str, Any]]
    text: str
    after: str
    page: Page
    code: int

    @property
    def verdict(self) -> str:
        """The worst of its metrics."""
        return str(max((row["verdict"] for row in self.rows), key=WORST.index))


def refused(name: str, metrics: Sequence[Metric], per: str, problem: SourceError) -> Done:
    """A kernel that cannot be read, or not with these options."""
    rows = [unsupported(name, metric, per, problem) for metric in metrics]
    told = f"{name}: unsupported: {problem.message}"
    text = "\n  ".join((told, *filter(None, (f"{problem.loc}" if problem.loc else "", problem.advice))))
    fault = Fault("unsupported", told, problem.loc)
    return Done(name, rows, text, "", Page(name, [Section(text=told)], [fault]), EXIT["unsupported"])


def counts(done: Sequence[Done]) -> dict[str, int]:
    """The number of kernels, and of each verdict that one has."""
    found = Counter(d.verdict for d in done)
    return {"kernels": len(done), **{verdict: found[verdict] for verdict in WORST if found[verdict]}}


def summary(done: Sequence[Done]) -> str:
    """The counts in a line."""
    found = counts(done)
    parts = [f"{n} {verdict.replace('-p', ' p')}" for verdict, n in found.items() if verdict != "kernels"]
    return f"{many(found['kernels'], 'kernel')}: {', '.join(parts)}"


def exit_code(done: Sequence[Done]) -> int:
    """The worst exit code."""
    return max((d.code for d in done), key=(0, 1, 3, 2).index, default=0)


def as_json(done: Sequence[Done]) -> dict[str, Any]:
    """`bound --format json` for several kernels."""
    return {"results": [row for d in done for row in d.rows], "summary": counts(done)}


def alone(done: Done) -> str:
    """The text of one kernel."""
    return "\n".join(
        [done.text, "", "This assumes:", *_items(done.page.assumptions), *([done.after] if done.after else [])]
    )


def as_text(done: Sequence[Done]) -> str:
    """One after the other, what all of them assume, and the counts."""
    read = [d.page.assumptions for d in done if d.page.assumptions]
    shared = [a for a in read[0] if all(a in others for others in read)] if len(read) > 1 else []
    parts = []
    for d in done:
        own = [a for a in d.page.assumptions if a not in shared]
        assumed = ["", "This assumes:", *_items(own)] if own else []
        parts.append("\n".join([d.text, *assumed, *([d.after] if d.after else [])]))
    if shared:
        parts.append("\n".join(["All of these assume:", *_items(shared)]))
    return "\n\n".join([*parts, summary(done)])


def _items(texts: Sequence[str]) -> list[str]:
    return [f"  - {text}" for text in texts]


def as_page(title: str, done: Sequence[Done]) -> Page:
    """A page of all: a table, then each kernel with what it assumes."""
    rows = [(d.name, d.verdict) for d in done]
    sections = [Section(text=f"{summary(done)}.", head=("kernel", "verdict"), rows=rows, code=("kernel",))]
    for d in done:
        first, *others = d.page.sections
        sections += [replace(first, title=d.page.title), *others]
        sections += (
            [Section(f"What the bounds of {d.name} assume", items=d.page.assumptions)] if d.page.assumptions else []
        )
    return Page(title, sections, [fault for d in done for fault in d.page.faults])
