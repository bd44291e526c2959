"""A progress bar for what takes long, where a person looks on."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

PATIENCE: Final = 1.0
"""Seconds before a bar appears."""


@contextmanager
def progress_bar(unit: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """A function that takes how many of `total` are done and draws them on standard error; None where that is no
    terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    started = time.monotonic()
    draw: Callable[[int], None] | None = None
    with ExitStack() as stack:

        def show(done: int) -> None:
            nonlocal draw
            if draw is None and time.monotonic() - started >= PATIENCE:
                draw = stack.enter_context(_bar(unit, total))
            if draw:
                draw(done)

        yield show


@contextmanager
def _bar(unit: str, total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(unit, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """A function that takes the name of what is being worked on; on a terminal the name stands on standard error,
    beside the time that has passed, once the work has taken a while."""
    told = [text]
    if not sys.stderr.isatty():
        yield lambda text: told.__setitem__(0, text)
        return
    done, drawn = threading.Event(), ExitStack()

    def draw() -> None:
        if done.wait(PATIENCE):
            return
        show = drawn.enter_context(_spinner())
        while not done.wait(_TURN):
            show(told[0])

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    try:
        yield lambda text: told.__setitem__(0, text)
    finally:
        done.set()
        thread.join()
        drawn.close()


_TURN: Final = 0.1
"""Seconds until what is shown is shown anew."""


@contextmanager
def _spinner() -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("")
        yield lambda text: bar.update(task, description=text, refresh=True)
