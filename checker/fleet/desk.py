"""The desk at which everything comes in: kernels as they are read, certificates as they are found or were kept, and
what became of workers. A row is there when the second checker has judged, and not before."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from checker.fleet import cache as kept
from checker.fleet.cache import Cache
from checker.fleet.files import Source
from checker.fleet.judge import Judged, judged
from checker.fleet.rows import CODES, Found, Read, Row, of_failure, of_judged, of_nothing, shown
from checker.fleet.workers import Failure, Job
from logic.metrics import Metric
from logic.potentials import Poly
from logic.source import Loc

Key = tuple[int, int, int]
"""The numbers of a source, of a kernel in it, and of a metric: rows are in this order."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The kernels of a source, in a worker's words."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A source or a kernel that cannot be read, or not with these options: the problem, as it is printed, too."""

    message: str
    loc: Loc | None
    printed: str


def tried(path: Path, about: str) -> tuple[Judged, str] | None:
    """The word on what a cache has at a place, and its text; None where it has nothing."""
    text = kept.found(path)
    return None if text is None else (judged(text, about), text)


def reconsidered(text: str, about: str) -> tuple[Judged, str]:
    """The word on a text, and the text."""
    return judged(text, about), text


@dataclass(slots=True)
class Desk:
    """Where the results of a run are. `shows` gets each row as it comes, `warns` what is to be said of one source;
    `again` takes what is to be searched again, if it does, where a certificate is refused."""

    sources: Sequence[Source]
    metrics: Sequence[Metric]
    per: str
    court: Callable[[], Executor]
    cache: Cache | None = None
    accepted: Collection[str] = ()
    fail_fast: bool = False
    shows: Callable[[Row], None] = lambda _: None
    warns: Callable[[str], None] = lambda _: None
    again: Callable[[Key], bool] = lambda _: False
    rows: dict[Key, Row] = field(default_factory=dict)
    reads: dict[tuple[int, int], Read] = field(default_factory=dict)
    texts: dict[Key, str] = field(default_factory=dict)
    bounds: dict[Key, Poly] = field(default_factory=dict)
    named: dict[tuple[int, int], str] = field(default_factory=dict)
    ends: int = 0
    hits: int = 0
    full: bool = False
    kept: int = 0
    stopped: bool = False
    keep_texts: bool = False
    _judges: Executor | None = None
    _pending: dict[Future[Any], Callable[[Any], None]] = field(default_factory=dict)
    _judging: set[Key] = field(default_factory=set)
    _seen: set[Any] = field(default_factory=set)
    _again: set[tuple[int, int]] = field(default_factory=set)
    _heard: set[int] = field(default_factory=set)
    _wake: Callable[[], None] = lambda: None

    def start(self, wake: Callable[[], None]) -> None:
        self._wake = wake

    # --- what workers say ---------------------------------------------------------------------------------------------

    def told(self, job: Job, part: int | None, what: Any) -> None:
        match what:
            case str(said):
                self.warns(said)
            case Listed(names):
                self._heard.add(job.number)
                self.named |= {(job.number, i): name for i, name in enumerate(names)}
            case Refused(message, loc, printed):
                self.warns(printed)
                told = f"{loc}: {message}" if loc else message
                self._failed(job.number, part, "unsupported", told, 0.0, loc)
            case Found(metric, text, problem, seconds) if (job.number, part) in self.reads and part is not None:
                self._found(job.number, part, metric, text, problem, seconds)

    def asked(self, job: Job, part: int | None, what: Any) -> Future[Any]:
        """Which metrics of a kernel are left to be searched."""
        answer: Future[Any] = Future()
        if part is None or not isinstance(what, Read):
            answer.set_result([])
            return answer
        self.warns(what.said)
        same = (what.loc, what.name, what.notes, *what.subjects.values())
        if (job.number, part) not in self.reads and what.loc is not None and same in self._seen:
            self._again.add((job.number, part))
            answer.set_result([])  # a kernel of a header, read before by way of another source
            return answer
        self._seen.add(same)
        self.reads[job.number, part] = what
        left, waiting = list[int](), 0

        def looked(i: int, start: float, found: tuple[Judged, str] | None) -> None:
            nonlocal waiting
            waiting -= 1
            if found is not None and found[0].certified:
                self.hits += 1
                self._judged((job.number, part, i), what, found[0], time.monotonic() - start, True, found[1])
            else:
                left.append(i)
            if not waiting:
                answer.set_result([self.metrics[i].name for i in sorted(left)])

        wanted = [i for i in range(len(self.metrics)) if (job.number, part, i) not in self.rows]
        if self.cache is None or not wanted:
            answer.set_result([self.metrics[i].name for i in wanted])
            return answer
        for i in wanted:
            about = what.subjects[self.metrics[i].name]
            waiting += 1
            then = partial(looked, i, time.monotonic())
            self._submit(tried, (kept.place(self.cache, about), about), then)
        return answer

    def failed(self, job: Job, part: int | None, how: Failure, why: str, seconds: float) -> None:
        self._failed(job.number, part, how, why, seconds, None)

    def ended(self, job: Job) -> None:
        self._heard.add(job.number)
        self.ends += 1

    def enough(self) -> bool:
        return self.stopped

    # --- what is judged -----------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Takes the words of the judges that are there."""
        for future in [f for f in self._pending if f.done()]:
            then = self._pending.pop(future)
            try:
                then(future.result())
            except BrokenExecutor:
                self._judges = None
                then(None)

    def finish(self) -> None:
        """Waits for all judges that are at work."""
        while self._pending:
            wait(self._pending)
            self.turn()

    def _submit(self, act: Callable[..., Any], about: tuple[Any, ...], then: Callable[[Any], None]) -> None:
        try:
            self._judges = self._judges or self.court()
            future = self._judges.submit(act, *about)
        except BrokenExecutor:
            self._judges = self.court()
            future = self._judges.submit(act, *about)
        self._pending[future] = then
        future.add_done_callback(lambda _: self._wake())

    def _found(self, job: int, part: int, name: str, text: Any, problem: Any, seconds: Any) -> None:
        index = next((i for i, m in enumerate(self.metrics) if m.name == name), None)
        if index is None or (job, part, index) in self._judging:
            return
        key, read = (job, part, index), self.reads[job, part]
        took = float(seconds) if isinstance(seconds, int | float) else 0.0
        if not isinstance(text, str):
            self._put(key, of_nothing(read, self.metrics[index], str(problem), took), None)
            return
        about = read.subjects[name]
        self._judging.add(key)

        def heard(found: tuple[Judged, str] | None) -> None:
            self._judging.discard(key)
            word = found[0] if found else Judged("not-proved", problem="the second checker was ended")
            if word.word == "not-proved" and self.again(key):
                return
            if word.certified and self.cache and not self.full:
                self._keep(self.cache, about, text)
            self._judged(key, read, word, took, False, text)

        self._submit(reconsidered, (text, about), heard)

    def _judged(self, key: Key, read: Read, word: Judged, seconds: float, cached: bool, text: str) -> None:
        if word.bound is not None:
            self.bounds[key] = shown(read, word.bound)
        row = of_judged(read, self.metrics[key[2]], word, seconds, cached)
        self._put(key, row, None if word.bound is None else text)

    def _keep(self, cache: Cache, about: str, text: str) -> None:
        try:
            kept.put(cache, about, text)
            self.kept += 1
        except OSError as error:
            self.full = True
            self.warns(f"warpbound: warning: nothing is cached from here on: '{cache.folder}': {error.strerror}")

    def _failed(self, job: int, part: int | None, verdict: str, why: str, seconds: float, loc: Loc | None) -> None:
        read = self.reads.get((job, part)) if part is not None else None
        name = self.named.get((job, part)) if part is not None else None
        for i, metric in enumerate(self.metrics):
            key = (job, -1 if part is None else part, i)
            if key not in self.rows and key not in self._judging:
                at = loc or (read.loc if read else None)
                self._put(
                    key, of_failure(name, metric, self.per, verdict, why, seconds, self.sources[job].name, at), None
                )

    def _put(self, key: Key, row: Row, text: str | None) -> None:
        row["file"] = row["file"] or self.sources[key[0]].name
        self.rows[key] = row
        if text is not None and self.keep_texts:
            self.texts[key] = text
        self.shows(row)
        bad = CODES[row["verdict"]] != 0 and row["verdict"] not in self.accepted
        self.stopped = self.stopped or (self.fail_fast and bad)

    # --- what there is ------------------------------------------------------------------------------------------------

    def left_out(self) -> tuple[int, int]:
        """The numbers of sources whose kernels are not known, and of kernels that have no row under some metric."""
        every = range(len(self.metrics))
        kernels = sum(any((*key, i) not in self.rows for i in every) for key in self.named.keys() - self._again)
        return len(self.sources) - len(self._heard), kernels

    def in_order(self) -> list[tuple[Key, Row]]:
        return sorted(self.rows.items(), key=lambda item: item[0])


def taken(reads: Iterable[Read]) -> frozenset[str]:
    """The options that some kernel took."""
    return frozenset[str]().union(*(r.took for r in reads))
