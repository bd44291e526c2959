"""What workers and judges do, in the process that asks: their limits and ends have tests of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from typing import Any

import pytest

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

    def ask(self, what: Any) -> Any:
        answer = self.desk.asked(self.job, self.part, what)
        self.desk.turn()
        return answer.result(timeout=0)


class Judge(Executor):
    """Does at once what it is asked for."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **more))
        return done


def alone(jobs: Iterable[Job], work: Work, desk: Desk, *_: object) -> None:
    desk.start(lambda: None)
    for job in jobs:
        work(job.work, job.done, Told(desk, job))
        desk.ended(job)


def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on neither workers nor judges are processes: for tests of what is said of what they find."""
    monkeypatch.setattr("checker.fleet.workers.run", alone)
    monkeypatch.setattr("checker.fleet.tray.run", alone)
    monkeypatch.setattr("checker.fleet.judge.court", lambda _: Judge())
    monkeypatch.setattr("semantics.cuda.parse._watched", [False])
