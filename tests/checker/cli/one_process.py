"""What workers do, in the process that asks: their limits and ends are tested with `check`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from checker.fleet.workers import Desk, Job, Talk, Work


class Told(Talk):
    """A worker's end in the process of its desk."""

    def __init__(self, desk: Desk, job: Job) -> None:
        self.desk, self.job = desk, job
        self.part: int | None = None

    def begin(self, part: int) -> None:
        self.part = part

    def tell(self, what: Any) -> None:
        self.desk.told(self.job, self.part, what)


def alone(jobs: Iterable[Job], work: Work, desk: Desk, *_: object) -> None:
    for job in jobs:
        work(job.work, job.done, Told(desk, job))
        desk.ended(job)
