"""Workers that die, hang, eat memory or say nonsense: each is a failure of its part, and the others are done."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from multiprocessing import Pipe
from types import SimpleNamespace
from typing import Any

import pytest

from checker.fleet import workers
from checker.fleet.workers import Failure, Job, Limits, run
from tests.checker.fleet import hazards
from tests.load import patience


@dataclass
class Notes:
    """A desk that writes down what it is told."""

    said: list[tuple[int, int | None, Any]] = field(default_factory=list)
    failures: list[tuple[int, int | None, str, str]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    until: int | None = None
    took: dict[tuple[int, int | None], float] = field(default_factory=dict)
    questions: list[Future[Any]] = field(default_factory=list)

    def start(self, wake: Callable[[], None]) -> None:
        self.wake = wake

    def turn(self) -> None:
        for question in self.questions:
            question.set_result("answer")
        self.questions = []

    def told(self, job: Job, part: int | None, what: Any) -> None:
        self.said.append((job.number, part, what))

    def asked(self, *_: object) -> Future[Any]:
        self.questions.append(Future())
        threading.Timer(0.05, self.wake).start()
        return self.questions[-1]

    def failed(self, job: Job, part: int | None, how: Failure, why: str, seconds: float) -> None:
        self.failures.append((job.number, part, how, why))
        self.took[job.number, part] = seconds

    def ended(self, job: Job, /) -> None:
        self.ends.append(job.number)

    def enough(self) -> bool:
        return self.until is not None and len(self.said) >= self.until


NONE = Limits()


def done(*jobs: Sequence[str], limits: Limits = NONE, count: int = 2, until: int | None = None) -> Notes:
    notes = Notes(until=until)
    run([Job(n, acts) for n, acts in enumerate(jobs)], hazards.work, notes, limits, count)
    return notes


def test_what_fails_is_a_row_and_the_rest_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    seconds = patience(1.5)
    notes = done(
        *(["a", "die", "b"], ["raise", "c"], ["garbage", "d"], ["e", "loop", "leave", "f"], ["curious"]),
        limits=Limits(seconds=seconds),
    )
    assert sorted(notes.said) == [(0, 0, "a"), (0, 2, "b"), (1, 1, "c"), (2, 1, "d"), (3, 0, "e"), (3, 3, "f")]
    failures = {(job, part): (how, why) for job, part, how, why in notes.failures}
    assert notes.took[3, 1] >= seconds
    assert failures == {
        (0, 1): ("crashed", "ended by SIGKILL"),
        (1, 0): ("crashed", "ended with exit code 78"),
        (2, 0): ("crashed", "ended by SIGKILL"),
        (3, 1): ("timeout", f"more than {seconds:g} s"),
        (3, 2): ("crashed", "ended with exit code 3"),
        (4, 0): ("timeout", f"more than {seconds:g} s"),
    }
    assert sorted(notes.ends) == [0, 1, 2, 3, 4]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("act", ["eat", "swallow"])
def test_who_eats_memory_is_ended(act: str) -> None:
    notes = done(["a", act, "b"], limits=Limits(memory=200 << 20))
    assert [what for _, _, what in notes.said] == ["a", "b"]
    assert notes.failures == [(0, 1, "out of memory", "more than 200 MiB")]


@pytest.mark.parametrize(
    ("code", "highest", "memory", "told"),
    [
        (77, 0, 1 << 30, ("out of memory", "more than 1024 MiB")),
        (-9, (1 << 29) + 1, 1 << 30, ("out of memory", "more than 1024 MiB")),
        (-9, 1 << 29, 1 << 30, ("crashed", "ended by SIGKILL")),
        (-9, 1 << 30, None, ("crashed", "ended by SIGKILL")),
        (-999, 0, None, ("crashed", "ended with exit code -999")),
        (0, 1 << 30, 1 << 30, ("crashed", "ended with exit code 0")),
        (1, 1 << 30, 1 << 30, ("crashed", "ended with exit code 1")),
        (77, 0, None, ("crashed", "ended with exit code 77")),
    ],
)
def test_why_a_process_ended(code: int, highest: int, memory: int | None, told: tuple[str, str]) -> None:
    slot = workers._Slot(SimpleNamespace(exitcode=code), Pipe()[0], highest=highest)
    assert workers._end(slot, Limits(memory=memory)) == told


def test_what_a_process_said_before_it_ended_is_heard_first() -> None:
    ours, theirs = Pipe()
    theirs.send(("end", None))
    slot, notes = workers._Slot(SimpleNamespace(is_alive=lambda: False), ours, Job(0, [])), Notes()
    slots = [slot]
    workers._look(slot, slots, deque(), notes, NONE)
    assert (slots, notes.failures) == ([slot], [])


def test_no_more_processes_than_are_asked_for() -> None:
    crew, notes = workers.Crew(), Notes()
    try:
        run([Job(n, ["a"]) for n in range(3)], hazards.work, notes, NONE, 1, crew)
        assert (len(crew.slots), sorted(notes.ends)) == (1, [0, 1, 2])
    finally:
        crew.leave()


def test_silence_ends(capfd: pytest.CaptureFixture[str]) -> None:
    for text in (b"a", b"b"):
        with workers._silence():
            os.write(1, b"lost")
            os.write(2, b"lost")
        os.write(1, text)
        os.write(2, text)
    assert capfd.readouterr() == ("ab", "ab")


def test_a_job_that_hangs_before_its_first_part_is_one_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = patience(1.0)
    monkeypatch.setattr("checker.fleet.workers.START", 2 * slow)
    notes = done(["silent"], ["a"], limits=Limits(seconds=slow / 2), count=1)
    assert notes.failures == [(0, None, "timeout", f"more than {slow / 2:g} s")]
    assert (sorted(notes.ends), notes.said) == ([0, 1], [(1, 0, "a")])


def test_the_clock_stands_while_a_worker_waits_for_an_answer() -> None:
    assert done(["ask", "ask"], count=1).said == [(0, 0, "answer"), (0, 1, "answer")]


def test_a_job_is_left_when_its_end_waits_behind_what_was_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many jobs are left must not depend on who is faster: here the worker's end is there already."""
    told = Notes.told

    def slowly(notes: Notes, job: Job, part: int | None, what: Any) -> None:
        time.sleep(0.5)
        told(notes, job, part, what)

    monkeypatch.setattr(Notes, "told", slowly)
    assert done(["a"], count=1, until=1).ends == []


def test_enough_is_enough() -> None:
    start, most = time.monotonic(), patience(30)
    notes = done(["a", "loop"], until=1, count=1)
    assert (notes.said, notes.ends) == ([(0, 0, "a")], [])
    assert time.monotonic() - start < most
    assert not [pid for pid in _children() if pid != os.getpid()]


def _children() -> list[int]:
    from multiprocessing import active_children

    return [child.pid for child in active_children() if child.pid and child.name.startswith("SpawnProcess")]
