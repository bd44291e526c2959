"""Worker processes that Ctrl-C does not reach: it is the command's to end them, which it does at once. They end, too,
when it is ended by anything else."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, parent_process
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from typing import Any

from checker import GARBAGE


class Workers(ProcessPoolExecutor):
    """An executor whose processes hear no SIGINT. Left by an exception, it ends them, whatever they do."""

    def __init__(
        self,
        max_workers: int | None = None,
        mp_context: BaseContext | None = None,
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
    ) -> None:
        super().__init__(max_workers, mp_context, _begin, (initializer, initargs))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
        """Runs fn in a process, which may be begun for it."""
        with unheard():
            return super().submit(fn, *args, **more)

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is not None:
            for process in list((self._processes or {}).values()):
                process.kill()
        self.shutdown(wait=True, cancel_futures=kind is not None)


def _begin(initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    become_worker()
    if initializer is not None:
        initializer(*initargs)


def become_worker() -> None:
    """Has this process end when the one that began it does, and look for garbage as seldom as a command does."""
    gc.set_threshold(*GARBAGE)

    def watch() -> None:
        if (parent := parent_process()) is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
