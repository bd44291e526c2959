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
    are done."""

    bad: Callable[[Any], bool] = lambda _: False
    shows: Callable[[int], None] | None = None
    names: dict[tuple[int, int], str] = field(default_factory=dict)
    found: dict[tuple[int, int], Any] = field(default_factory=dict)
    ends: set[int] = field(default_factory=set)
    stopped: bool = False

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

    def enough(self) -> bool:
        return self.stopped

    def _put(self, job: int, part: int, result: Any) -> None:
        self.found.setdefault((job, part), result)
        self.stopped = self.stopped or self.bad(result)

    def of(self, job: int) -> list[Any]:
        """The results of a job's parts, in their order."""
        return [self.found[key] for key in sorted(self.found) if key[0] == job]


def fill(tray: Tray, items: Sequence[Any], work: Work, limits: Limits, count: int) -> None:
    """Has `count` processes work on the items, each of which is a job."""
    run([Job(i, item) for i, item in enumerate(items)], work, tray, limits, min(count, len(items)) or 1)
