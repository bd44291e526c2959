"""The suite: kernels bounded, checked twice, run, and compared with what others published.

`proofs/published.toml` says which kernels, at which points, and what was published of them.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

from checker import kernel as trusted
from checker import limits
from checker.certificates import document as certificate
from checker.certificates.claims import claimed, described, is_known, shown, value_at
from checker.certificates.seconded import Remembered
from checker.kernel import Claim, Ledger
from checker.notation import parse_assumption, parse_potential
from checker.oracles import Oracles
from checker.refutation.witness import Fill, Input, Overrun, Ran, Witness, find_witnesses
from checker.report.rejection import describe
from checker.synthesis.bound import Per, Result, find_bounds, judged
from checker.synthesis.outline import Outline, bare
from checker.synthesis.walk import Stuck
from logic.assertions import Context, Dim, Launch, conj
from logic.metrics import HARDWARE, METRICS, Metric
from logic.refusals import Rejected
from logic.rules import SOUND
from logic.source import SourceError
from logic.syntax import Kernel
from logic.typing import Signature, check_kernel
from semantics.cuda import read_cuda

PROOFS: Final = Path(__file__).parents[2] / "proofs"

SOURCES: Final = ("racuda", "pico")

CLASSES: Final = ("32N", "32N+1", "random")
"""Of input sizes, as in the paper's Tables 3 to 7."""

NO_BOUND: Final = "n/b"
"""The word that tables print where the tool found no bound."""

FEW: Final = 24
"""Inputs tried at a point of a class, after the best ones of the row's own point."""

LITTLE: Final = 6_000
"""The effort of a search there."""

CLOSE: Final = Fraction(5, 4)
"""The ratio up to which a bound is close to what runs cost."""

Compared = Literal["below", "equal", "above", "unsound"]


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel of the suite as published.toml describes it; `given` are the assumptions of its rows, as text."""

    name: str
    block: Dim
    at: Mapping[str, int] = field(default_factory=dict)
    sizes: tuple[str, ...] = ()
    values: tuple[int, ...] = ()
    beside: Mapping[str, int] = field(default_factory=dict)
    sharper: tuple[str, ...] = ()
    published: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    given: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return PROOFS / self.name / "kernel.cu"

    def assuming(self) -> Case:
        """The case under its `sharper` assumptions, at a point that satisfies them."""
        at = {name: self.values[-1] if name in self.sizes else n for name, n in self.at.items()}
        return replace(self, at=at, given=self.sharper)

    def points(self) -> dict[str, list[dict[str, int]]]:
        """For each class of sizes its points; rows with assumptions look at those that were assumed."""
        if not self.sizes:
            return {}
        drawn = random.Random(self.name)
        sizes = {
            "32N": self.values,
            "32N+1": tuple(n + 1 for n in self.values),
            "random": tuple(drawn.randint(1, 2 * max(self.values)) for _ in self.values),
        }
        chosen = CLASSES[:1] if self.given else CLASSES
        return {name: [{**self.beside, **dict.fromkeys(self.sizes, n)} for n in sizes[name]] for name in chosen}


@dataclass(frozen=True, slots=True)
class Point:
    """Bounds at a point, and what the dearest run found there costs. None: not known there, or not a number."""

    at: Mapping[str, int]
    bound: Fraction | None
    cost: Fraction | None
    published: Mapping[str, Fraction | None]


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel and a metric.

    `published` are the texts of the bounds that others have, `marks` the notes on them. `verdict` is `bound`'s, `check`
    the kernel's on the certificate once it was written and read, `recheck` the second checker's. `here` is the row's
    own point, `classes` those of the classes of sizes. `claim` is what is certified, as a sentence, `counted` the
    metric with its prices where it is not a built-in one.
    """

    kernel: str
    metric: str
    per: Per
    block: Dim
    given: tuple[str, ...]
    bound: str | None
    verdict: str
    check: str
    recheck: str
    digest: str | None
    seconds: float
    problem: str
    published: Mapping[str, str]
    marks: Mapping[str, str]
    here: Point
    witness: Witness | None
    classes: Mapping[str, tuple[Point, ...]]
    claim: str = ""
    counted: str = ""

    @property
    def ratio(self) -> Fraction | None:
        """The bound over the dearest run at the row's own point."""
        return self.witness.ratio if self.witness else None

    @property
    def certified(self) -> bool:
        """Whether the bound is certified and both checkers agree."""
        return (self.verdict, self.check, self.recheck) == ("certified", "accepted", "valid")

    def taken(self, accept: Sequence[str]) -> bool:
        """Whether it is certified, or solver-backed for both checkers where `accept` has that word."""
        agreed = (self.verdict, self.check, self.recheck) == ("solver-backed", "accepted", "solver-backed")
        return self.certified or (agreed and "solver-backed" in accept)

    @property
    def everywhere(self) -> tuple[Point, ...]:
        """The row's own point and those of all classes."""
        return (self.here, *(point for points in self.classes.values() for point in points))

    def compared(self, source: str) -> Compared | None:
        """The bound against a published one, at all points: "unsound" where a run of our kernel costs more than that
        one says, "below" where ours is lower somewhere and higher nowhere. None where there is nothing to compare."""
        pairs = [(p.bound, p.published.get(source), p.cost) for p in self.everywhere]
        known = [(ours, theirs, cost) for ours, theirs, cost in pairs if ours is not None and theirs is not None]
        if self.published.get(source) == NO_BOUND:
            return "below" if self.bound else None
        if not known:
            return None
        if any(cost is not None and cost > theirs for _, theirs, cost in known):
            return "unsound"
        if any(ours > theirs for ours, theirs, _ in known):
            return "above"
        return "below" if any(ours < theirs for ours, theirs, _ in known) else "equal"


def error(points: Sequence[Point], source: str | None = None) -> Fraction | None:
    """The mean of (bound - cost) / cost, of our bound or a published one, over points that cost something (POPL 2021,
    p. 22); 0 where none does and the bound says so, None where there is none."""
    pairs = [(p.bound if source is None else p.published.get(source), p.cost) for p in points]
    known = [(bound, cost) for bound, cost in pairs if bound is not None and cost is not None]
    errors = [(bound - cost) / cost for bound, cost in known if cost]
    if not errors:
        return Fraction(0) if known and all(bound == 0 for bound, _ in known) else None
    return sum(errors, Fraction(0)) / len(errors)


def read_suite() -> tuple[dict[str, Case], dict[str, str], dict[str, str]]:
    """The kernels in their order, where the published bounds are from, and the notes. Raises SourceError."""
    path = PROOFS / "published.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise SourceError(f"cannot read '{path}': {problem}", advice="Run warpbound from its own tree.") from None
    cases = {name: _case(name, entry) for name, entry in document["kernel"].items()}
    return cases, document["sources"], document["notes"]


def _case(name: str, entry: Mapping[str, Any]) -> Case:
    x, y, z = (*entry["block"], 1, 1)[:3]
    return Case(
        name,
        (x, y, z),
        entry.get("at", {}),
        tuple(entry.get("sizes", ())),
        tuple(entry.get("values", ())),
        entry.get("with", {}),
        tuple(entry.get("given", ())),
        {source: entry[source] for source in SOURCES if source in entry},
        entry.get("marks", {}),
    )


def rows_of(case: Case, metrics: Sequence[Metric], per: Per, fill: Callable[[Kernel], Fill], version: str) -> list[Row]:
    """The rows of a kernel, and more of them for bounds that its `sharper` assumptions lower.

    `fill` makes array contents of texts, `version` goes into the certificates.
    """
    kernel = read_cuda(str(case.path)).kernel
    contents = fill(kernel)
    rows = _rows(kernel, case, metrics, per, contents, version, frozenset())
    if case.sharper:
        dear = [metric for metric, row in zip(metrics, rows, strict=True) if row.bound != "0"]
        said = frozenset((row.metric, row.bound) for row in rows)
        rows += _rows(kernel, case.assuming(), dear, per, contents, version, said) if dear else []
    return rows


def _rows(
    kernel: Kernel,
    case: Case,
    metrics: Sequence[Metric],
    per: Per,
    fill: Fill,
    version: str,
    said: AbstractSet[tuple[str, str | None]],
) -> list[Row]:
    """The rows whose bounds are not among those said before."""
    sigma = check_kernel(kernel)
    given = conj([parse_assumption(text, sigma, "proofs/published.toml") for text in case.given], sigma)
    launch = Launch(case.block, (None, None, None), given)
    context = Context(sigma, metrics[0], HARDWARE["nvidia"], launch)
    oracle = Oracles()
    results = find_bounds(Outline(kernel, context, bare(kernel.body)), metrics, oracle, per=per, judge=False)
    if said:
        results = [r for r in results if r.claim and (r.metric.name, str(shown(r.claim))) not in said]
    prove = Remembered()
    results = [judged(r, kernel, prove) for r in results]
    runs = _Runs(kernel, case, results, fill)
    return [_row(case, sigma, result, per, runs, oracle, version) for result in results]


class _Runs:
    """The dearest runs for all metrics of a kernel, at its point and at those of the classes."""

    def __init__(self, kernel: Kernel, case: Case, results: Sequence[Result], fill: Fill) -> None:
        self.overruns: dict[str, Witness] = {}
        self.claims = [result.claim for result in results if result.claim is not None]
        self.kernel, self.fill, self.ran = kernel, fill, Ran()
        self.here = self.dearest(case.at, ())
        first = list({str(w.input): w.input for w in self.here.values() if w is not None}.values())
        self.classes = {
            name: [(at, self.dearest(at, first, FEW, LITTLE)) for at in points]
            for name, points in case.points().items()
        }

    def dearest(
        self, at: Mapping[str, int], first: Sequence[Input], runs: int = limits.INPUTS, effort: int = limits.EFFORT
    ) -> dict[str, Witness | None]:
        """For each metric the witness at a point."""
        names = [claim.context.metric.name for claim in self.claims]
        try:
            found = find_witnesses(self.kernel, self.claims, self.fill, at, first, runs, effort, ran=self.ran)
        except Overrun as alarm:
            self.overruns[alarm.claim.context.metric.name] = alarm.found
            return {}
        return dict(zip(names, found, strict=True))


def _row(
    case: Case,
    sigma: Signature,
    result: Result,
    per: Per,
    runs: _Runs,
    oracle: Oracles,
    version: str,
) -> Row:
    name = result.metric.name
    published = {source: texts[name] for source, texts in case.published.items() if name in texts and per == "warp"}
    verdict, check, second, digest = result.verdict, "", "", None
    if result.claim is not None:
        check, second, digest = _judged(result, oracle, version)
    if name in runs.overruns:
        verdict = "refuted"

    def point(at: Mapping[str, int], found: Witness | None) -> Point:
        here = dict(at)
        bound = None if result.claim is None else value_at(shown(result.claim), result.claim.context, here)[0]
        others = {source: _published(text, sigma, case, here) for source, text in published.items()}
        return Point(here, found.bound if found and bound is None else bound, found.cost if found else None, others)

    witness = runs.overruns.get(name, runs.here.get(name))
    return Row(
        case.name,
        name,
        per,
        case.block,
        case.given,
        None if result.claim is None else str(shown(result.claim)),
        verdict,
        check,
        second,
        digest,
        result.seconds,
        _problem(result),
        published,
        {source: case.marks[f"{source}.{name}"] for source in published if f"{source}.{name}" in case.marks},
        point(case.at, witness),
        witness,
        {kind: tuple(point(at, found.get(name)) for at, found in points) for kind, points in runs.classes.items()},
        "" if result.claim is None else claimed(result.claim),
        name if is_known(result.metric) else described(result.metric),
    )


def _problem(result: Result) -> str:
    if isinstance(result.problem, Stuck):
        return result.problem.message
    return describe(result.problem) if result.problem else ""


def _published(text: str, sigma: Signature, case: Case, at: dict[str, int]) -> Fraction | None:
    """A published bound at a point; None for "n/b" and where a parameter is not known there."""
    if text == NO_BOUND:
        return None
    context = Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], Launch(case.block, (None, None, None), ()))
    return value_at(parse_potential(text, sigma, "proofs/published.toml"), context, at)[0]


def _judged(result: Result, oracle: Oracles, version: str) -> tuple[str, str, str]:
    """The kernel's word on the certificate once it was written and read, the second checker's word, and its digest."""
    if result.claim is None or result.second is None:
        raise ValueError("no claim, no certificate")
    document = certificate.signed(result.second.document, {"warpbound": version})
    text = certificate.canonical(document)
    given = certificate.read(text, f"{result.metric.name}.json")
    claim, ledger = _again(given, oracle)
    agreed = claim is not None and claim.bound == result.claim.bound and sorted(set(ledger.barriers)) == given.admitted
    return "accepted" if agreed else "rejected", result.second.report.verdict, str(document["digest"])


def _again(given: certificate.Certificate, oracle: Oracles) -> tuple[Claim | None, Ledger]:
    ledger = Ledger()
    try:
        theorem = trusted.check(given.derivation, SOUND, given.context, oracle, ledger)
        return trusted.claim(given.kernel, theorem, given.context, oracle, ledger, given.sums), ledger
    except Rejected:
        return None, ledger


@dataclass(frozen=True, slots=True)
class Summary:
    """How many rows there are, are certified with both checkers agreeing, are exact (a run reaches the bound) or at
    least close (`CLOSE`); and against each source how many are below, equal, above, or beside a figure that a run
    exceeds."""

    rows: int
    certified: int
    exact: int
    close: int
    compared: Mapping[str, Mapping[Compared, int]]


def summary(rows: Sequence[Row]) -> Summary:
    """Of rows without assumptions of their own."""
    plain = [row for row in rows if not row.given]
    compared: dict[str, dict[Compared, int]] = {}
    for source in SOURCES:
        found = [row.compared(source) for row in plain]
        compared[source] = {kind: found.count(kind) for kind in ("below", "equal", "above", "unsound")}
    exact = sum(row.ratio == 1 for row in plain)
    close = sum(row.ratio is not None and row.ratio <= CLOSE for row in plain)
    return Summary(len(plain), sum(row.certified for row in plain), exact, close, compared)
