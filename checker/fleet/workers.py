"""Work in processes of its own, each part within limits: whatever becomes of a process, the others go on.

A job has parts. A worker takes a job at a time and tells what it is at: `begin` a part, `tell` something, `ask` and
wait for the answer, `end`. A part that takes too long or too much memory ends its process, and another one goes on with
the parts that are left. What a worker says is data, and nothing of it is believed here.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from checker.testbed.workers import become_worker, unheard

Failure = Literal["timeout", "out of memory", "crashed"]

TURN: Final = 0.1
"""Seconds between two looks at clocks and memory."""

OLD: Final = 1 << 30
"""Bytes of memory after which a worker that is done with a job is followed by a new one."""

START: Final = 60.0
"""Seconds that a process may take to begin, besides what a part may."""

HEADROOM: Final = 1 << 30
"""Bytes that a process may ask for beyond its limit: so that one that asks for too much at once is refused, and one
that grows is seen before."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of each part: seconds on the clock, and bytes of memory; None is none."""

    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A job: what the work gets, and the numbers of its parts that are not to be done (again)."""

    number: int
    work: Any
    done: frozenset[int] = frozenset()


class Talk:
    """The worker's end: what it tells."""

    began: float | None = None
    """When the part began that it is at, on the clock."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def begin(self, part: int) -> None:
        """From now on the clock runs for this part."""
        self.began = time.monotonic()
        self.connection.send(("begin", part))

    def tell(self, what: Any) -> None:
        self.connection.send(("tell", what))

    def ask(self, what: Any) -> Any:
        """Tells, and waits for the answer, while the clock stands."""
        self.connection.send(("ask", what))
        return self.connection.recv()


Work = Callable[[Any, frozenset[int], Talk], None]
"""What a worker does with a job: what it is about, the parts that are done, and whom to tell."""


class Desk(Protocol):
    """Who takes what workers tell, all in the thread of `run`; `wake` ends a turn early, from any thread."""

    def start(self, wake: Callable[[], None]) -> None: ...
    def turn(self) -> None: ...
    def told(self, job: Job, part: int | None, what: Any, /) -> None: ...
    def asked(self, job: Job, part: int | None, what: Any, /) -> Future[Any]: ...
    def failed(self, job: Job, part: int | None, how: Failure, why: str, seconds: float, /) -> None: ...
    def ended(self, _: Job, /) -> None: ...
    def enough(self) -> bool:
        """Whether nothing more is to be begun, and what is at work is to be left."""
        ...


@dataclass(slots=True)
class _Slot:
    process: Any
    connection: Connection
    job: Job | None = None
    part: int | None = None
    since: float = 0.0
    spent: float = 0.0
    """Seconds of the part until the question that it waits for an answer to."""
    answer: Future[Any] | None = None
    fresh: bool = True
    over: bool = False
    done: set[int] = field(default_factory=set)
    highest: int = 0


@dataclass(slots=True)
class Crew:
    """Processes that are kept from one run to the next, of the same work and limits."""

    slots: list[_Slot] = field(default_factory=list)

    def leave(self) -> None:
        """Ends them."""
        for slot in list(self.slots):
            _dismiss(slot, self.slots)


def run(jobs: Iterable[Job], work: Work, desk: Desk, limits: Limits, count: int, crew: Crew | None = None) -> None:
    """Has `count` processes do the work of all jobs, a crew's if there is one. Ended by an exception, it ends them, as
    it does at the end those that are at work or of no crew."""
    ours = crew or Crew()
    waiting, slots = deque(jobs), ours.slots
    bell, ring = get_context("spawn").Pipe(duplex=False)
    desk.start(_ringing(ring))
    try:
        while (waiting or any(s.job for s in slots)) and not desk.enough():
            _hire(slots, waiting, work, limits, count)
            _hear(slots, bell, desk)
            for slot in list(slots):
                _look(slot, slots, waiting, desk, limits)
    finally:
        if crew is None or any(s.job for s in slots):
            ours.leave()
        bell.close()


def _hire(slots: list[_Slot], waiting: deque[Job], work: Work, limits: Limits, count: int) -> None:
    """Gives a job to whoever has none."""
    while waiting and len(slots) < count and all(s.job for s in slots):
        slots.append(_begun(work, limits))
    for slot in (s for s in slots if s.job is None and waiting):
        slot.job, slot.part, slot.done = waiting.popleft(), None, set()
        slot.since = time.monotonic() + (START if slot.fresh else 0)
        with suppress(OSError):  # one that is dead is seen below
            slot.connection.send((slot.job.work, slot.job.done))


def _begun(work: Work, limits: Limits) -> _Slot:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, work, limits.memory), daemon=True)
    with unheard(), _allowed():
        process.start()
    theirs.close()
    return _Slot(process, ours)


@contextmanager
def _allowed() -> Iterator[None]:
    """Lets a daemonic process begin others, which multiprocessing does not: a worker of a cluster is one, and processes
    here end with the one that began them."""
    own = current_process()
    if not own.daemon:
        yield
        return
    config: dict[str, Any] = own._config  # type: ignore[attr-defined]  # noqa: SLF001
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = True


def _hear(slots: list[_Slot], bell: Connection, desk: Desk) -> None:
    """Takes what there is to hear, or waits a turn for it."""
    heard = wait([bell, *(s.connection for s in slots)], TURN)
    while bell.poll():
        bell.recv_bytes()
    desk.turn()
    for slot in slots:
        if slot.answer is not None and slot.answer.done():
            answer, slot.answer, slot.since = slot.answer.result(), None, time.monotonic() - slot.spent
            with suppress(OSError):
                slot.connection.send(answer)
        if slot.connection not in heard or slot.job is None:
            continue
        for _ in range(100):  # no worker keeps all others waiting
            if slot.job is None or desk.enough() or not slot.connection.poll():
                break
            try:
                kind, what = slot.connection.recv()
            except Exception:  # noqa: BLE001  # it ended, or says what is no message
                slot.over = True
                slot.process.kill()
                break
            slot.fresh = False
            match kind:
                case "begin":
                    slot.part, slot.since = int(what), time.monotonic()
                    slot.done.add(slot.part)
                case "tell":
                    desk.told(slot.job, slot.part, what)
                case "ask":
                    slot.answer, slot.spent = desk.asked(slot.job, slot.part, what), time.monotonic() - slot.since
                case "end":
                    desk.ended(slot.job)
                    slot.job = None


def _ringing(ring: Connection) -> Callable[[], None]:
    """A function that wakes the one that hears, who may have left."""

    def rung() -> None:
        with suppress(OSError):
            ring.send_bytes(b"!")

    return rung


def _look(slot: _Slot, slots: list[_Slot], waiting: deque[Job], desk: Desk, limits: Limits) -> None:
    """Ends a worker that is over its limits, and sees what became of one that ended."""
    how: Failure | None = None
    why, dead = "", not slot.process.is_alive()
    used = 0 if dead else _resident(slot.process.pid)
    slot.highest = max(slot.highest, used)
    if dead and slot.job is not None and not slot.over and slot.connection.poll():
        return  # it said something before it ended
    if dead:
        slot.process.join()
        how, why = _end(slot, limits)
    elif slot.job is None:
        if used > OLD:
            _dismiss(slot, slots)
        return
    elif limits.memory is not None and used > limits.memory:
        how, why = "out of memory", f"more than {limits.memory >> 20} MiB"
    elif limits.seconds is not None and slot.answer is None and time.monotonic() - slot.since > limits.seconds:
        how, why = "timeout", f"more than {limits.seconds:g} s"
    if how is None:
        return
    _dismiss(slot, slots)
    if slot.job is None:
        return
    desk.failed(slot.job, slot.part, how, why, max(0.0, time.monotonic() - slot.since))
    if slot.part is None:
        desk.ended(slot.job)
    else:
        waiting.appendleft(Job(slot.job.number, slot.job.work, slot.job.done | slot.done))


def _dismiss(slot: _Slot, slots: list[_Slot]) -> None:
    slot.process.kill()
    slot.process.join()
    slot.connection.close()
    slots.remove(slot)


def _end(slot: _Slot, limits: Limits) -> tuple[Failure, str]:
    """How a process ended that ended by itself."""
    code = slot.process.exitcode
    if limits.memory is not None and (code == NO_MEMORY or (code < 0 and 2 * slot.highest > limits.memory)):
        return "out of memory", f"more than {limits.memory >> 20} MiB"
    if code < 0:
        with suppress(ValueError):
            return "crashed", f"ended by {signal.Signals(-code).name}"
    return "crashed", f"ended with exit code {code}"


def _resident(pid: int) -> int:
    """The bytes of a process that are in memory; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    return 0


# --- in the worker ----------------------------------------------------------------------------------------------------

NO_MEMORY: Final = 77
"""The exit code of a worker that got no memory."""

FAULT: Final = 78
"""The exit code of a worker whose work raised something."""


def serve(connection: Connection, work: Work, memory: int | None) -> None:
    """A worker: jobs as they come, until there are no more."""
    if memory is not None:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory + HEADROOM, memory + HEADROOM))
    become_worker()
    with suppress(EOFError, OSError):
        while True:
            what, done = connection.recv()
            try:
                with _silence():
                    work(what, done, Talk(connection))
            except MemoryError:
                os._exit(NO_MEMORY)
            except (EOFError, OSError):
                raise
            except BaseException:  # noqa: BLE001  # a fault of ours ends no run
                os._exit(FAULT)
            connection.send(("end", None))


@contextmanager
def _silence() -> Iterator[None]:
    """Nothing that a library prints goes anywhere: warnings of ours are told."""
    before = sys.stdout, sys.stderr
    with Path(os.devnull).open("w") as nowhere:
        saved = os.dup(1), os.dup(2)
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        sys.stdout = sys.stderr = nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before
            for number, kept in enumerate(saved, 1):
                os.dup2(kept, number)
                os.close(kept)
