"""Worker processes that Ctrl-C does not reach: it is the command's to end them, which it does at once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import active_children
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers(ProcessPoolExecutor):
    """An executor whose processes hear no SIGINT. Left by an exception, it ends them, whatever they do."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
        """Runs fn in a process, which may be begun for it."""
        with unheard():
            return super().submit(fn, *args, **more)

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is not None:
            for process in list((self._processes or {}).values()):
                process.kill()
        self.shutdown(wait=True, cancel_futures=kind is not None)


def each(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int, show: Callable[[int], None] | None = None
) -> list[Result | None]:
    """What work gives on each of several items, in their order, from processes; None where the process ended. What
    others left when one ended is done again, each by itself."""
    found: dict[int, Result | None] = {}
    with Workers(min(jobs, len(items)) or 1) as pool, suppress(BrokenExecutor):
        for i, future in enumerate([pool.submit(work, item) for item in items]):
            found[i] = future.result()
            if show:
                show(len(found))
    for i in (i for i in range(len(items)) if i not in found):
        found[i] = None
        with Workers(1) as pool, suppress(BrokenExecutor):
            found[i] = pool.submit(work, items[i]).result()
    return [found[i] for i in range(len(items))]


def end_children() -> None:
    """Kills all worker processes of this one."""
    for child in active_children():
        child.kill()


@contextmanager
def unheard() -> Iterator[None]:
    """SIGINT waits, and does not come to processes that are begun here: a mask is inherited."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
