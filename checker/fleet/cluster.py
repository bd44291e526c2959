"""Searches on other machines. Sources are read here; a kernel that is left to be searched goes to an executor as data,
and what comes back is a certificate, which is judged here like any other. So a worker needs no sources and no trust:
what it loses or does not speak of, what it says that is no certificate of what was asked, and what it is never heard of
again is searched here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any, Final

from checker.fleet import workers
from checker.fleet.desk import Desk
from checker.fleet.rows import Found, Read
from checker.fleet.workers import TURN, Failure, Job, Limits, Work

PATIENCE: Final = 120.0
"""Seconds beyond the limit of a kernel in which something is to be heard of what is searched elsewhere."""

LONGEST: Final = 1e9
"""Seconds that no search takes."""

Said = tuple[str, Any]
"""What a worker says of a kernel: `("found", Found)`, or `("failed", (how, why, seconds))`."""


@dataclass(frozen=True, slots=True)
class Search:
    """A kernel that was read, and is to be searched: the work of one part, as data."""

    content: bytes


# --- here -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Away:
    """A desk before the desk: what is to be searched goes to an executor, and comes back to the desk behind."""

    desk: Desk
    pool: Executor
    work: Work
    limits: Limits
    pending: dict[Future[Any], tuple[Job, int]] = field(default_factory=dict)
    here: dict[int, set[int]] = field(default_factory=dict)
    why: str = ""
    _wanted: dict[tuple[int, int | None], frozenset[str]] = field(default_factory=dict)
    _reading: set[int] = field(default_factory=set)
    _heard: float = 0.0
    _wake: Callable[[], None] = lambda: None

    def start(self, wake: Callable[[], None]) -> None:
        self._wake, self._heard = wake, time.monotonic()
        self.desk.start(wake)
        self.desk.again = lambda key: self._again(key[0], key[1], "what it said is no certificate of it")

    def turn(self) -> None:
        for future in [f for f in self.pending if f.done()]:
            self._heard = time.monotonic()
            job, part = self.pending.pop(future)
            said = _said(future)
            if isinstance(said, str):
                self._again(job.number, part, said)
            else:
                self._hear(job, part, said)
                if _lacks(said, self._wanted[job.number, part]):
                    self._again(job.number, part, "it did not say all that was asked")
            self._settle(job)
        self.desk.turn()

    def told(self, job: Job, part: int | None, what: Any) -> None:
        self._reading.add(job.number)
        if isinstance(what, Search) and part is not None:
            self._give(job, part, what)
        else:
            self.desk.told(job, part, what)

    def asked(self, job: Job, part: int | None, what: Any) -> Future[Any]:
        answer = self.desk.asked(job, part, what)
        if isinstance(what, Read):
            answer.add_done_callback(lambda said: self._wanted.update({(job.number, part): frozenset(said.result())}))
        return answer

    def failed(self, job: Job, part: int | None, how: Failure, why: str, seconds: float) -> None:
        self.desk.failed(job, part, how, why, seconds)

    def ended(self, job: Job, /) -> None:
        self._reading.discard(job.number)
        self._settle(job)

    def enough(self) -> bool:
        return self.desk.enough()

    def finish(self) -> None:
        """Waits for all that is searched elsewhere, as long as something comes."""
        patience = None if self.limits.seconds is None else self.limits.seconds + PATIENCE
        while self.pending and not self.desk.enough():
            wait(self.pending, TURN, FIRST_COMPLETED)
            self.turn()
            if patience is not None and self.pending and time.monotonic() - self._heard > patience:
                silent, self.pending = self.pending, {}
                for future, (job, part) in silent.items():
                    future.cancel()
                    self._again(job.number, part, "nothing was heard of it")
                for job in {job.number: job for job, _ in silent.values()}.values():
                    self._settle(job)
        for future in self.pending:
            future.cancel()
        self.desk.finish()

    def _give(self, job: Job, part: int, what: Search) -> None:
        try:
            future = self.pool.submit(searched, self.work, what.content, self.limits)
        except Exception:  # noqa: BLE001  # whatever an executor raises that takes no more work
            self._again(job.number, part, "it takes no more work")
            return
        self.pending[future] = job, part
        future.add_done_callback(lambda _: self._wake())

    def _hear(self, job: Job, part: int, said: Sequence[Said]) -> None:
        for kind, what in said:
            if kind == "found":
                self.desk.told(job, part, what)
            else:
                self.desk.failed(job, part, *what)

    def _again(self, job: int, part: int, why: str) -> bool:
        self.here.setdefault(job, set()).add(part)
        self.why = self.why or why
        return True

    def _settle(self, job: Job) -> None:
        """A source is done when it is read, and nothing of it is searched any more."""
        if job.number not in self._reading and all(other.number != job.number for other, _ in self.pending.values()):
            self.desk.ended(job)


def _said(future: Future[Any]) -> list[Said] | str:
    """The words of a worker; or a text that says why there are none."""
    try:
        said = future.result()
    except BaseException:  # noqa: BLE001  # cancelled with its scheduler, killed with its worker, or raised there
        return "its worker was lost"
    return said if isinstance(said, list) and all(_is_said(s) for s in said) else "what it said is not understood"


def _is_said(said: Any) -> bool:
    match said:
        case ("found", Found(str(), str() | None, str(), int() | float() as seconds, bool(), bool())):
            return 0 <= seconds <= LONGEST
        case ("failed", ("timeout" | "out of memory" | "crashed", str(), int() | float() as seconds)):
            return 0 <= seconds <= LONGEST
    return False


def _lacks(said: Sequence[Said], wanted: frozenset[str]) -> bool:
    """Whether nothing is said of some metric that was asked for; a failure is of all."""
    return all(kind == "found" for kind, _ in said) and not wanted <= {what.metric for _, what in said}


def run(
    jobs: Sequence[Job], works: tuple[Work, Work, Work], desk: Desk, limits: Limits, count: int, pool: Executor
) -> str:
    """Does the work of all jobs: `count` processes read the sources, the executor searches, and what it loses is done
    here. Works are what reads, what searches, and what does both. The words on what was done here; none where all came
    back."""
    reads, searches, both = works
    front = Away(desk, pool, searches, limits)
    workers.run(jobs, reads, front, limits, count)
    front.finish()
    desk.again = lambda _: False
    if desk.enough() or not front.here:
        return ""
    parts: dict[int, set[int]] = {}
    for job, part in desk.named:
        parts.setdefault(job, set()).add(part)
    rest = [
        Job(j.number, j.work, frozenset(parts[j.number] - front.here[j.number])) for j in jobs if j.number in front.here
    ]
    desk.ends -= len(rest)
    workers.run(rest, both, desk, limits, count)
    desk.finish()
    number = sum(map(len, front.here.values()))
    return f"{number} kernel{'s were' if number > 1 else ' was'} searched on this machine: {front.why}"


# --- on a worker ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Notes:
    """A desk that writes down what a process says of one kernel."""

    said: list[Said] = field(default_factory=list)

    def start(self, _: Callable[[], None], /) -> None:
        """Nothing ever ends a turn early."""

    def turn(self) -> None:
        """Nothing waits for its turn."""

    def told(self, _: Job, __: int | None, what: Any, /) -> None:
        if isinstance(what, Found):
            self.said.append(("found", what))

    def asked(self, *_: Any) -> Future[Any]:
        raise NotImplementedError("a search asks nothing")

    def failed(self, _: Job, __: int | None, how: Failure, why: str, seconds: float, /) -> None:
        self.said.append(("failed", (how, why, seconds)))

    def ended(self, _: Job, /) -> None:
        """The list is what there is."""

    def enough(self) -> bool:
        return False


_KEPT: Final = threading.local()


def searched(work: Work, content: bytes, limits: Limits) -> list[Said]:
    """On a worker: a search in a process of its own within limits, which is kept for the next one."""
    crew, kept = getattr(_KEPT, "crew", None), getattr(_KEPT, "limits", None)
    if crew is None or kept != (work, limits):
        if crew is not None:
            crew.leave()
        _KEPT.crew, _KEPT.limits = crew, kept = workers.Crew(), (work, limits)
    notes = _Notes()
    workers.run([Job(0, content)], work, notes, limits, 1, crew)
    return notes.said
