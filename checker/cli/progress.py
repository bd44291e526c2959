"""A progress bar for what takes long, where a person looks on."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, TypeVar

PATIENCE: Final = 1.0
"""Seconds before a bar appears."""


@contextmanager
def progress_bar(unit: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """A function that takes how many of `total` are done; on a terminal they stand on standard error, as a bar, once
    the work has taken a while. None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with _drawn(lambda: _bar(unit, total), 0) as show:
        yield show


T = TypeVar("T")


@contextmanager
def _drawn(
    opened: Callable[[], AbstractContextManager[Callable[[T], None]]], first: T
) -> Iterator[Callable[[T], None]]:
    """A function that takes what is to be shown; another thread draws it, by what is opened when it begins."""
    told, started = [first], time.monotonic()
    done, stack = threading.Event(), ExitStack()

    def draw() -> None:
        if done.wait(PATIENCE) and time.monotonic() - started < PATIENCE:
            return
        show = stack.enter_context(opened())
        show(told[0])
        while not done.wait(_TURN):
            show(told[0])
        show(told[0])

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    try:
        yield lambda what: told.__setitem__(0, what)
    finally:
        done.set()
        thread.join()
        stack.close()


@contextmanager
def _bar(unit: str, total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(unit, total=total)
        _bars.append(bar)
        try:
            yield lambda done: bar.update(task, completed=done)
        finally:
            _bars.remove(bar)


_bars: list[Any] = []
"""The bars that are on the terminal."""


@contextmanager
def aside() -> Iterator[None]:
    """Within, no bar is where something else is printed."""
    for bar in tuple(_bars):
        bar.stop()
    yield
    for bar in tuple(_bars):
        bar.start()


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """A function that takes the name of what is being worked on; on a terminal the name stands on standard error,
    beside the time that has passed, once the work has taken a while."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with _drawn(_spinner, text) as show:
        yield show


_TURN: Final = 0.1
"""Seconds until what is shown is shown anew."""


@contextmanager
def _spinner() -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", visible=False)
        yield lambda text: bar.update(task, description=text, visible=True, refresh=True)
