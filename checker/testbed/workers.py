"""Worker processes that Ctrl-C does not reach: it is the command's to end them, which it does at once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children
from typing import Any


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
