"""The suite by rules on trial: what they would buy on each kernel, and whether a run refutes them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from checker.certificates.claims import value_at
from checker.notation import parse_assumption
from checker.notation.words import many, number
from checker.oracles import Oracles
from checker.refutation.witness import Fill, Input, Witness, command
from checker.report.bounds import as_witness
from checker.report.on_trial import used, why
from checker.report.page import Fault, Page, Section
from checker.report.terminal import wrapped
from checker.suites.runner import FEW, LITTLE, Case
from checker.synthesis.outline import Outline, bare
from checker.testbed.bought import Bought, buy, dear, dearest, verdict
from checker.testbed.rulefile import NOTHING
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, Metric
from logic.potentials import Poly
from logic.rules import SOUND, RuleSet
from logic.schema import Rule
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics.cuda import read_cuda

Texts = tuple[tuple[str, str, str, str], ...]
"""Rules on trial as data that goes to other processes: name, bar, source, notes."""

HEAD: Final = ("kernel", "metric", "at", "sound", "on trial", "costs", "verdict", "used")


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel and a metric: the bounds by both, as texts and as numbers at the row's point, where they are used, and
    the dearest run that was found there, or one anywhere that costs more than the bound on trial."""

    kernel: str
    metric: str
    at: Mapping[str, int]
    bound: str | None
    sound: str | None
    lower: bool
    value: Fraction | None
    sound_value: Fraction | None
    used: str
    witness: Witness | None
    problem: str

    @property
    def verdict(self) -> str:
        """`refuted`, `not-proved` or `on-trial`."""
        return verdict(self.bound is not None, self.witness)

    @property
    def run(self) -> str:
        """The command that runs the witness again."""
        if self.witness is None:
            return ""
        return command(f"proofs/{self.kernel}/kernel.cu", self.witness.input, (f"--metric={self.metric}",))


def texts(rules: Sequence[Rule]) -> Texts:
    """Rules as data."""
    return tuple((rule.name, rule.bar, rule.source, rule.notes) for rule in rules)


def rows_of(
    case: Case, metrics: Sequence[Metric], name: str, rules: Texts, fill: Callable[[Kernel], Fill]
) -> list[Row]:
    """The rows of a kernel by the sound rules and those of a file of that name. Raises RuleFileProblem."""
    made = RuleSet(name, {**SOUND.rules, **{text[0]: Rule(*text) for text in rules}})
    kernel = read_cuda(str(case.path)).kernel
    sigma = check_kernel(kernel)
    given = conj([parse_assumption(text, sigma, "proofs/published.toml") for text in case.given], sigma)
    context = Context(sigma, metrics[0], HARDWARE["nvidia"], Launch(case.block, (None, None, None), given))
    found = buy(Outline(kernel, context, bare(kernel.body)), metrics, Oracles(), made)
    contents = fill(kernel)
    here = dear(kernel, found, contents, case.at)
    points: list[tuple[Mapping[str, int], list[Input]]] = [(case.at, here)]
    if lower := [b for b in found if b.lower]:
        each = (at for points in case.points().values() for at in points)
        points += [(at, dear(kernel, lower, contents, at, here, FEW, LITTLE)) for at in each]

    def held(b: Bought) -> Witness | None:
        """The dearest run at the row's point; else one that costs more than the bound, at another point."""
        best: Witness | None = None
        for at, inputs in points if b.lower else points[:1]:
            run = dearest(kernel, b, context, contents, at, inputs, len(inputs))
            if run is not None and (best is None or run.cost > run.bound):
                best = run
            if best is not None and best.cost > best.bound:
                break
        return best

    return [_row(case, context, b, held(b)) for b in found]


def _row(case: Case, context: Context, b: Bought, found: Witness | None) -> Row:
    def at_point(q: Poly | None) -> Fraction | None:
        return None if q is None else value_at(q, context, dict(case.at))[0]

    bound, sound = (None if q is None else str(q) for q in (b.bound, b.sound.q))
    here, there = at_point(b.bound), at_point(b.sound.q)
    own = used(b.used)
    return Row(case.name, b.metric.name, case.at, bound, sound, b.lower, here, there, own, found, why(b.problem))


def exit_code(rows: Sequence[Row]) -> int:
    """3 where a run costs more than a bound, else 1: nothing is certified."""
    return 3 if any(row.verdict == "refuted" for row in rows) else 1


def summary(rows: Sequence[Row]) -> dict[str, int]:
    """Counts of the rows: with a bound on trial, lower than the sound one, refuted, and where a rule is used."""
    return {
        "rows": len(rows),
        "bounds": sum(row.bound is not None for row in rows),
        "lower": sum(row.lower for row in rows),
        "refuted": sum(row.verdict == "refuted" for row in rows),
        "used": sum(row.used != "nowhere" for row in rows),
    }


def _sentence(rows: Sequence[Row]) -> str:
    n = summary(rows)
    lower = f"the rules on trial are used in {n['used']} and give a lower bound in {n['lower']}"
    refuted = f"{n['refuted']} refuted: a run costs more" if n["refuted"] else "no run was found that refutes one"
    return f"Of {many(n['rows'], 'row')} {lower}; {refuted}."


def _number(value: Fraction | None) -> str:
    return "-" if value is None else str(number(value))


def _at(row: Row) -> str:
    return ", ".join(f"{name}={n}" for name, n in row.at.items()) or "any"


def as_text(name: str, rows: Sequence[Row]) -> str:
    """The rows in which a rule is used, or no bound is found; then the counts."""
    lines = list[str]()
    for row in rows:
        if row.used == "nowhere" and row.bound is not None:
            continue
        lines.append(f"{row.kernel} {row.metric}{'  LOWER' if row.lower else ''}")
        told = [("on trial", row.bound or f"no bound: {row.problem}"), ("sound", row.sound or "no bound")]
        told += [("used", row.used)]
        if row.value is not None or row.sound_value is not None:
            told.append(("there", f"{_number(row.value)}, not {_number(row.sound_value)}, at {_at(row)}"))
        if row.witness is not None:
            word = "refuted" if row.verdict == "refuted" else "dearest"
            costs = f"a run costs {_number(row.witness.cost)}, where the bound on trial is"
            told.append((word, f"{costs} {_number(row.witness.bound)}"))
        lines += [wrapped(text, f"  {label:<10}", 12 * " ") for label, text in told]
        lines += [f"            {row.run}"] if row.verdict == "refuted" else []
    rest = ["\n".join(lines)] if lines else []
    return "\n\n".join([f"The suite by rules on trial: {name}", *rest, wrapped(_sentence(rows)), NOTHING])


def as_json(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """{"rules", "certifies", "rows", "summary"}; numbers are exact."""

    def exactly(value: Fraction | None) -> int | str | None:
        return None if value is None else number(value)

    return {
        "rules": name,
        "certifies": False,
        "rows": [
            {
                "kernel": row.kernel,
                "metric": row.metric,
                "verdict": row.verdict,
                "at": dict(row.at),
                "bound": row.bound,
                "sound": row.sound,
                "lower": row.lower,
                "value": exactly(row.value),
                "sound_value": exactly(row.sound_value),
                "used": row.used,
                "witness": None if row.witness is None else as_witness(row.witness),
                "run": row.run or None,
                "problem": row.problem or None,
            }
            for row in rows
        ],
        "summary": summary(rows),
    }


def as_page(name: str, rows: Sequence[Row]) -> Page:
    """A table with all rows; each is a fault, for none is certified."""
    cells = [
        (
            row.kernel,
            row.metric,
            _at(row),
            f"{row.sound or 'no bound'}",
            f"{row.bound or 'no bound'}",
            "-" if row.witness is None else _number(row.witness.cost),
            row.verdict,
            row.used,
        )
        for row in rows
    ]
    faults = [
        Fault(row.verdict, f"{row.kernel} {row.metric}: {row.bound or row.problem}, by rules on trial", None)
        for row in rows
    ]
    text = f"{name}. {_sentence(rows)} {NOTHING}"
    section = Section(text=text, head=HEAD, rows=cells, code=("kernel", "sound", "on trial"))
    return Page("The suite by rules on trial", [section], faults, [NOTHING])
