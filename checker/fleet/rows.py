"""The rows of a table: what is said of a kernel under a metric, made here of what was judged, never of what a worker
says that it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from checker.report.verdicts import EXIT

if TYPE_CHECKING:
    from checker.fleet.judge import Judged
    from logic.assertions import Context
    from logic.metrics import Metric
    from logic.potentials import Poly
    from logic.source import Loc
    from logic.syntax import Expr, Kernel

Row = dict[str, Any]

CODES: Final[Mapping[str, int]] = {**EXIT, "timeout": 1, "out of memory": 1, "crashed": 1}
"""The exit code of each verdict."""

ORDER: Final = ("unsupported", "refuted", "crashed", "out of memory", "timeout", "not-proved", "holey")
"""Verdicts, the worst first; the others are `solver-backed` and `certified`."""

VERDICTS: Final = (*ORDER, "solver-backed", "certified")


@dataclass(frozen=True, slots=True)
class Read:
    """A kernel as it was read: what it is called, `bare` of all but what is assumed and barriers, the claims' context,
    what is noted and said of it; the digest of what a certificate would be about, for each metric; the point that it is
    looked at, and which of the options' assumptions and names it took; the `facts` about parameters that reading took
    for granted."""

    name: str
    bare: Kernel
    context: Context
    per: str
    notes: tuple[str, ...]
    subjects: Mapping[str, str]
    at: Mapping[str, int] = field(default_factory=dict)
    took: frozenset[str] = frozenset()
    said: str = ""
    facts: tuple[Expr, ...] = ()

    @property
    def loc(self) -> Loc | None:
        return self.bare.loc


def bare(kernel: Kernel, name: str) -> Kernel:
    """The kernel under a name, with nothing left of its body but what it assumes, and its barriers."""
    from logic.syntax import Assume, Sync, seq, statements

    kept = [s for s in statements(kernel.body) if isinstance(s, Assume | Sync)]
    return replace(kernel, name=name, body=seq(*kept), removed=())


@dataclass(frozen=True, slots=True)
class Claimed:
    """Asks for the second checker's word on the text of a certificate under a metric."""

    metric: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a worker under a metric: the text of a certificate, if there is one, what was in the way, and the
    seconds that it took; whether more may be found with more time; and whether a lower bound was left out, as it rests
    on a solver's word."""

    metric: str
    text: str | None
    problem: str
    seconds: float
    hurried: bool = False
    coarse: bool = False


def shown(read: Read, bound: Poly) -> Poly:
    """A bound with the launch's known sizes filled in."""
    from checker.certificates.claims import known_sizes
    from logic.potentials import const, substitute

    return substitute(bound, {leaf: const(n) for leaf, n in known_sizes(read.context).items()})


def of_judged(read: Read, metric: Metric, word: Judged, seconds: float, cached: bool) -> Row:
    """The row of a certificate that was judged. A bound that is refused is none."""
    from checker.certificates.claims import subject, value_at, wording
    from checker.notation.words import number
    from checker.report.bounds import assumptions

    context = replace(read.context, metric=metric)
    bound = None if word.bound is None else shown(read, word.bound)
    value = None if bound is None else value_at(bound, context, read.at)[0]
    row = _row(read.name, metric, subject(context, read.per), word.word, seconds, read.loc)
    row |= {
        "bound": None if bound is None else str(bound),
        "value": None if value is None else number(value),
        "assumptions": assumptions(read.bare, context, read.notes, word.admitted),
        "certificate": word.digest if bound is not None else None,
        "cached": cached,
    }
    if bound is not None:
        what = subject(context, read.per)
        row["claim"] = wording(read.name, what, bound, metric, context.hardware)
    if word.problem:
        row["problem"] = f"the second checker does not accept what was found: {word.problem}"
    if word.backed:
        row["engines"], row["solver_backed"] = list(word.engines), list(word.backed)
        row["problem"] = _backed(read, word) if word.engines else word.backed[0]
    elif word.word == "holey":
        row["problem"] = "barriers are assumed to be reached by whole blocks"
    return row


def _backed(read: Read, word: Judged) -> str:
    """Whose word a bound rests on, the place where it first does, and what can be done."""
    from checker.report.backed import SOLVERS
    from logic.source import Loc

    file = read.loc.file if read.loc else ""
    where = f"{Loc(file, *word.place)}: " if word.place and file else ""
    more = f"`warpbound bound {file}` says for what" if file else "`bound` of its source alone says for what"
    own = any(not engine.startswith(SOLVERS) for engine in word.engines)
    told = (
        f"it rests on the word of {', '.join(word.engines)}{', beyond what the second checker follows' if own else ''}"
    )
    return f"{where}{told}. {more}; --accept solver-backed takes that for enough"


def of_nothing(read: Read, metric: Metric, problem: str, seconds: float) -> Row:
    """The row where no bound was found."""
    from checker.certificates.claims import subject
    from checker.report.bounds import assumptions

    context = replace(read.context, metric=metric)
    row = _row(read.name, metric, subject(context, read.per), "not-proved", seconds, read.loc)
    row["assumptions"] = assumptions(read.bare, context, read.notes, ())
    row["problem"] = problem
    return row


def of_failure(
    name: str | None,
    metric: Metric,
    per: str,
    verdict: str,
    problem: str,
    seconds: float,
    file: str,
    loc: Loc | None = None,
) -> Row:
    """The row where there is no answer: what cannot be read, and what became of a worker."""
    row = _row(name, metric, per, verdict, seconds, loc)
    row["file"] = row["file"] or file
    row["problem"] = problem
    return row


def _row(name: str | None, metric: Metric, per: str, verdict: str, seconds: float, loc: Loc | None) -> Row:
    return {
        "kernel": name,
        "metric": metric.name,
        "per": per,
        "bound": None,
        "verdict": verdict,
        "value": None,
        "assumptions": [],
        "certificate": None,
        "seconds": round(seconds, 4),
        "claim": None,
        "file": loc.file if loc else None,
        "line": loc.line if loc else None,
        "cached": False,
        "since": None,
    }
