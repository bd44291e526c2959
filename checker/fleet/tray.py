"""Several things that are judged in processes of their own, within limits: what became of each is kept in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from checker.fleet.workers import Failure, Job, Limits, Work, run


@dataclass(frozen=True, slots=True)
class Ended:
    """A part of a job that gave nothing: its name, if one was told, how its process ended, and why it did."""

    name: str | None
    how: Failure
    why: str


@dataclass(slots=True)
class Tray:
    """Where the results of jobs lie. A worker tells the names of a job's parts before it begins one, if it has any to
    tell, and then one result a part. `bad` says of a result that the run is to stop there; `shows` gets how many jobs
    are done, `gives` each result with its job as soon as all before it are known."""

    bad: Callable[[Any], bool] = lambda _: False
    shows: Callable[[int], None] | None = None
    gives: Callable[[int, Any], None] = lambda *_: None
    names: dict[tuple[int, int], str] = field(default_factory=dict)
    found: dict[tuple[int, int], Any] = field(default_factory=dict)
    ends: set[int] = field(default_factory=set)
    stopped: bool = False
    given: set[tuple[int, int]] = field(default_factory=set)
    next: tuple[int, int] = (0, 0)

    def start(self, wake: Callable[[], None]) -> None:
        """Nothing comes from other threads."""

    def turn(self) -> None:
        """Nothing is waited for."""

    def told(self, job: Job, part: int | None, what: Any) -> None:
        if part is None:
            self.names |= {(job.number, i): name for i, name in enumerate(what)}
        else:
            self._put(job.number, part, what)

    def asked(self, job: Job, part: int | None, what: Any) -> Future[Any]:
        raise NotImplementedError(f"no answer to {what!r} about part {part} of job {job.number}")

    def failed(self, job: Job, part: int | None, how: Failure, why: str, _: float) -> None:
        name = None if part is None else self.names.get((job.number, part))
        self._put(job.number, -1 if part is None else part, Ended(name, how, why))

    def ended(self, job: Job) -> None:
        self.ends.add(job.number)
        if self.shows:
            self.shows(len(self.ends))
        self._give()

    def enough(self) -> bool:
        return self.stopped

    def _put(self, job: int, part: int, result: Any) -> None:
        self.found.setdefault((job, part), result)
        self.stopped = self.stopped or self.bad(result)
        self._give()

    def of(self, job: int) -> list[Any]:
        """The results of a job's parts, in their order."""
        return [self.found[key] for key in self._keys(job)]

    def give_rest(self) -> None:
        """Gives what waits for results that will not come."""
        for job in sorted({job for job, _ in self.found}):
            self._give_all(job)

    def _keys(self, job: int) -> list[tuple[int, int]]:
        return sorted(key for key in self.found if key[0] == job)

    def _give(self) -> None:
        """Gives the results that wait for none any more."""
        while self.next in self.found or self.next[0] in self.ends:
            job, part = self.next
            if self.next in self.found:
                self._give_one(self.next)
                self.next = job, part + 1
            else:
                self._give_all(job)
                self.next = job + 1, 0

    def _give_all(self, job: int) -> None:
        for key in self._keys(job):
            self._give_one(key)

    def _give_one(self, key: tuple[int, int]) -> None:
        if key not in self.given:
            self.given.add(key)
            self.gives(key[0], self.found[key])


def fill(tray: Tray, items: Sequence[Any], work: Work, limits: Limits, count: int) -> None:
    """Has `count` processes work on the items, each of which is a job."""
    run([Job(i, item) for i, item in enumerate(items)], work, tray, limits, min(count, len(items)) or 1)
