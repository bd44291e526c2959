"""Bounds by rules on trial, beside those by the sound rules, as text, JSON and a page. All of them say that they
certify nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from checker.certificates.claims import amount, value_at
from checker.notation.words import many, number
from checker.refutation.witness import Witness
from checker.report.bounds import as_witness, assumptions
from checker.report.page import Fault, Page, Section
from checker.report.rejection import describe
from checker.report.terminal import wrapped
from checker.synthesis.walk import Stuck
from checker.testbed.bought import Bought, Left, Used, verdict
from checker.testbed.rulefile import NOTHING
from logic.assertions import Context
from logic.barriers import unproved_barriers
from logic.potentials import Poly
from logic.refusals import Refusal
from logic.source import Loc
from logic.syntax import Kernel

EXIT: Final = {"on-trial": 1, "not-proved": 1, "refuted": 3}
"""Exit codes by verdicts: never 0, which would say that something is certified."""

HEAD: Final = ("kernel", "metric", "verdict", "bound on trial", "by the sound rules", "used")


@dataclass(frozen=True, slots=True)
class Tried:
    """A kernel, the rules' name, and what they buy for each metric; `dearest` are runs that were found, by metric, and
    `again` the commands that repeat them."""

    kernel: Kernel
    context: Context
    rules: str
    bought: Sequence[Bought]
    at: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    dearest: Mapping[str, Witness] = field(default_factory=dict)
    again: Mapping[str, str] = field(default_factory=dict)

    def verdict(self, b: Bought) -> str:
        """The word for a bound, by the dearest run that was found."""
        return verdict(b.bound is not None, self.dearest.get(b.metric.name))

    @property
    def assumed(self) -> list[str]:
        """All that the bounds rest on besides the rules."""
        return assumptions(
            self.kernel, self.context, self.notes, unproved_barriers(self.kernel.body, self.context.sigma.stable)
        )


def exit_code(tried: Iterable[Tried]) -> int:
    """The worst of the exit codes."""
    return max((EXIT[t.verdict(b)] for t in tried for b in t.bought), default=1)


def why(problem: Stuck | Refusal | None) -> str:
    """A problem in a sentence."""
    if problem is None:
        return ""
    return problem.message if isinstance(problem, Stuck) else describe(problem)


# --- text -------------------------------------------------------------------------------------------------------------


def as_text(tried: Sequence[Tried]) -> str:
    """Kernel by kernel."""
    parts = []
    for t in tried:
        lines = [f"{t.kernel.name}, by rules on trial: {t.rules}"]
        for b in t.bought:
            lines += ["", f"  {b.metric.name}", *_lines(t, b)]
        lines += ["", "This assumes:", *(f"  - {a}" for a in t.assumed)]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, NOTHING])


def _lines(t: Tried, b: Bought) -> list[str]:
    bound = _formula(b.bound, t, b) if b.bound is not None else f"no bound: {why(b.problem)}"
    lines = [_row("on trial", bound), _row("sound", _sound(t, b)), _row("used", used(b.used))]
    lines += [_row("refused", refused(one)) for one in b.left]
    if b.bound is not None and not b.lower:
        lines.append(_row("", "the rules on trial give no lower bound here"))
    if (found := t.dearest.get(b.metric.name)) is not None:
        costs = f"a run costs {amount(found.cost, b.metric)}, where the bound on trial is {number(found.bound)}"
        word = "refuted" if t.verdict(b) == "refuted" else "dearest"
        lines += [_row(word, costs), f"              {t.again.get(b.metric.name, '')}"]
    return lines


def _row(label: str, text: str) -> str:
    return wrapped(text, f"    {label:<10}", 14 * " ")


def _formula(q: Poly, t: Tried, b: Bought) -> str:
    value = _value(q, t, b)
    return f"{q}" if value is None or q.is_constant else f"{q} = {number(value)} there"


def _value(q: Poly | None, t: Tried, b: Bought) -> Fraction | None:
    """The value at the point that is asked for; None where there is none."""
    return None if q is None or not t.at else value_at(q, t.context, t.at)[0]


def _sound(t: Tried, b: Bought) -> str:
    return _formula(b.sound.q, t, b) if b.sound.q is not None else "no bound"


def used(places: Sequence[Used]) -> str:
    """Where rules are used, a rule after the other: `Q:Mine in line 3 (2 times), 7`."""
    told = []
    for rule in dict.fromkeys(one.rule for one in places):
        counts: dict[int | None, int] = {}
        for one in places:
            if one.rule == rule:
                line = one.loc.line if one.loc else None
                counts[line] = counts.get(line, 0) + one.times
        lines = [_times(str(line), n) for line, n in sorted((k, n) for k, n in counts.items() if k is not None)]
        if None in counts:
            lines.append(_times("what has no line", counts[None]))
        told.append(f"{rule} in line {', '.join(lines)}" if counts.keys() - {None} else f"{rule} in {lines[0]}")
    return "; ".join(told) or "nowhere"


def _times(where: str, n: int) -> str:
    return where if n == 1 else f"{where} ({n} times)"


def refused(one: Left) -> str:
    """A place where the kernel refused a rule."""
    where = f" in line {one.loc.line}" if one.loc else ""
    return f"{one.rule}{where}, where the sound rules are used: {describe(one.why)}"


# --- JSON -------------------------------------------------------------------------------------------------------------


def as_json(tried: Sequence[Tried]) -> dict[str, Any]:
    """The object of `bound --rules FILE --format json`."""
    return {"results": [row(t, b) for t in tried for b in t.bought]}


def row(t: Tried, b: Bought) -> dict[str, Any]:
    """A row for a kernel and a metric."""
    found = t.dearest.get(b.metric.name)
    values = [_value(q, t, b) for q in (b.bound, b.sound.q)]
    return {
        "kernel": t.kernel.name,
        "metric": b.metric.name,
        "per": "warp",
        "verdict": t.verdict(b),
        "certifies": False,
        "rules": t.rules,
        "bound": None if b.bound is None else str(b.bound),
        "sound": None if b.sound.q is None else str(b.sound.q),
        "lower": b.lower,
        "value": None if values[0] is None else number(values[0]),
        "sound_value": None if values[1] is None else number(values[1]),
        "used": [{"rule": u.rule, **_place(u.loc), "times": u.times} for u in b.used],
        "refused": [{"rule": one.rule, **_place(one.loc), "reason": describe(one.why)} for one in b.left],
        "witness": None if found is None else as_witness(found),
        "run": t.again.get(b.metric.name) or None,
        "problem": why(b.problem) or None,
        "assumptions": t.assumed,
    }


def _place(loc: Loc | None) -> dict[str, int | None]:
    return {"line": loc.line if loc else None, "column": loc.column if loc else None}


# --- pages ------------------------------------------------------------------------------------------------------------


def as_page(title: str, tried: Sequence[Tried]) -> Page:
    """A table with a row for each kernel and metric; each is a fault, for none is certified."""
    rows, faults = [], []
    for t in tried:
        for b in t.bought:
            bound = "none" if b.bound is None else _formula(b.bound, t, b)
            rows.append((t.kernel.name, b.metric.name, t.verdict(b), bound, _sound(t, b), used(b.used)))
            told = f"{t.kernel.name} {b.metric.name}, by rules on trial: {' '.join(' '.join(_lines(t, b)).split())}"
            faults.append(Fault(t.verdict(b), told, t.kernel.loc))
    text = f"Bounds by rules on trial, {tried[0].rules}. {NOTHING}" if tried else NOTHING
    sections = [Section(text=text, head=HEAD, rows=rows, code=("kernel", "bound on trial", "by the sound rules"))]
    notes = dict.fromkeys(a for t in tried for a in t.assumed)
    return Page(f"{title}: {many(len(rows), 'bound')} on trial", sections, faults, [NOTHING, *notes])
