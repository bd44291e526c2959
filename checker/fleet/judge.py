"""The word on a certificate that a worker, a cache or another machine gave: the second checker's word on it, and
whether it is about the program, launch and metric that were asked about. Nobody else's word counts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final, Literal

from checker import recheck
from checker.certificates.reread import potential, subject
from checker.testbed.workers import Workers
from logic.potentials import Poly

Word = Literal["certified", "solver-backed", "holey", "not-proved"]

NO_LAUNCH: Final = f"vacuous: {recheck.VACUOUS}"
"""Why the claim of a certificate that is about no launch is not proved."""

MAX_TEXT: Final = 64 << 20
"""The longest certificate that is read, in characters."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The word on a certificate. `bound` is what it proves, nothing where that is nothing; `digest` is its own;
    `admitted` are the barriers, and `backed` the side conditions by `engines`, that it rests on, the first one at
    `place`, a line and column of the source, `open` the same as data; `problem` says why it is refused;
    `vacuous` is whether it is about no launch."""

    word: Word
    digest: str = ""
    bound: Poly | None = None
    admitted: tuple[int, ...] = ()
    backed: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    place: tuple[int, int] | None = None
    problem: str = ""
    open: tuple[recheck.Open, ...] = ()
    vacuous: bool = False

    @property
    def certified(self) -> bool:
        return self.word == "certified"


def judged(text: str, about: str) -> Judged:
    """The word on the text of a certificate about a subject (`reread.subject`). Never raises."""
    try:
        if len(text) > MAX_TEXT:
            return Judged("not-proved", problem="the certificate is too long")
        document = json.loads(text)
        found = subject(document)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        return Judged("not-proved", problem=f"this is no certificate: {recheck.plain(f'{error!s:.200}')}")
    if found != about:
        return Judged("not-proved", problem="the certificate is about another program, launch or metric")
    report, bound = recheck.rechecked(document)
    if report.verdict == "vacuous":
        return Judged("not-proved", report.digest, problem=NO_LAUNCH, vacuous=True)
    if report.verdict == "invalid" or bound is None:
        return Judged("not-proved", report.digest, problem=f"the second checker refuses it: {report.problem}")
    try:
        proved = potential(bound)
    except (RecursionError, TypeError, ValueError) as error:
        return Judged("not-proved", report.digest, problem=f"the bound cannot be said: {error!s:.200}")
    admitted = tuple(sorted(set(document["admitted"])))
    evidence = document["evidence"]
    engines = sorted({str(evidence[o.entry]["engine"]) for o in report.open if o.entry < len(evidence)})
    backed = tuple(report.solver_backed)
    word: Word = "holey" if admitted else "certified" if report.verdict == "valid" else "solver-backed"
    place = _place(document, report.open)
    return Judged(word, report.digest, proved, admitted, backed, tuple(engines), place, open=report.open)


def reported(word: Judged) -> recheck.Report:
    """The second checker's report by a word that was heard of it."""
    if word.word == "not-proved":
        if word.vacuous:
            return recheck.Report("vacuous", word.digest, [], recheck.VACUOUS, "")
        return recheck.Report("invalid", word.digest, [], word.problem, "")
    return recheck.Report("solver-backed" if word.backed else "valid", word.digest, [*word.backed], "", "", word.open)


def _place(document: dict[str, Any], left: Sequence[recheck.Open]) -> tuple[int, int] | None:
    """The line and column of what is not verified: the first that has some."""
    for row in (o.row for o in left):
        if row is not None:
            at = document["derivation"][row]["at"]
            if isinstance(at, list) and len(at) == 2:
                return int(at[0]), int(at[1])
    return None


def court(count: int) -> AbstractContextManager[Workers]:
    """Processes that judge, begun when they are needed."""
    return Workers(count, get_context("spawn"))
