"""A command as a process: on standard output its document and nothing else, and Ctrl-C ends it within a second."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from typing import Any, Final, NoReturn, Protocol, TextIO, cast

INTERRUPTED: Final = 130
"""The exit code of a command that Ctrl-C ended: 128 and the number of the signal, as shells have it."""

PATIENCE: Final = 0.4
"""Seconds that Python gets to leave in good order: a library that computes hears nothing, and may swallow it."""


MORE: Final = 0.5
"""Seconds that a command gets on top to print what it has, if it says that it is about to."""


class Stream(Protocol):
    """The stream that documents are written to."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> object: ...


class _Descriptor:
    """Standard output under another number, without a buffer that a failure would leave full."""

    def __init__(self, number: int, encoding: str) -> None:
        self.number, self.encoding = number, encoding

    def write(self, text: str, /) -> None:
        data = text.encode(self.encoding, "backslashreplace")
        while data:
            data = data[os.write(self.number, data) :]

    def flush(self) -> None:
        """There is nothing to write."""


_kept: list[Stream | None] = []
"""The streams that documents go to while a command works, the innermost last; None where standard output is closed."""


def document() -> Stream | None:
    """The stream that a document is written to; None where standard output is closed."""
    return _kept[-1] if _kept else sys.stdout


@contextmanager
def own_output(process: bool) -> Iterator[None]:
    """Within, standard output is for documents (`document`) alone: what a library prints there, in Python or in C, goes
    to standard error. With `process`, it stays so: a C library may print what it kept when the process ends."""
    before = sys.stdout
    saved = _turned_to_errors() if before is not None and _number(before) == 1 else None
    _kept.append(document() if saved is None else _Descriptor(saved, before.encoding))
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout = before
        _kept.pop()
        if saved is not None and not process:
            _flush_c()
            os.dup2(saved, 1)
            os.close(saved)


class _Renamed:
    """A stream on which a file has another name."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str, /) -> object:
        return self.stream.write(named(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


_names: dict[str, str] = {}
"""The names that files have for a reader, by their paths."""


def named(text: str) -> str:
    """The text with the names that files have for a reader."""
    for path, name in _names.items():
        text = text.replace(path, name)
    return text


@contextmanager
def renamed(path: str, name: str) -> Iterator[None]:
    """Within, standard error and documents call a file by another name."""
    before, _names[path] = sys.stderr, name
    if before is not None:
        sys.stderr = cast(TextIO, _Renamed(before))
    try:
        yield
    finally:
        sys.stderr = before
        del _names[path]


def _number(stream: object) -> int | None:
    """A stream's file descriptor; None where it has none."""
    with suppress(OSError, ValueError, AttributeError):
        found = getattr(stream, "fileno", lambda: None)()
        return found if isinstance(found, int) else None
    return None


def _turned_to_errors() -> int | None:
    """Points descriptor 1 at standard error, or at nothing where that is closed. The number of another descriptor for
    what it was; None where it was closed."""
    with suppress(OSError, ValueError):
        sys.__stdout__.flush()  # type: ignore[union-attr]
    try:
        saved = fcntl(1, F_DUPFD_CLOEXEC, 3)  # not 2, where that is free
    except OSError:
        saved = None
    try:
        os.dup2(2, 1)
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        if nothing != 1:
            os.close(nothing)
    return saved


def _flush_c() -> None:
    """Has the C library write what it keeps for standard output."""
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).fflush(None)


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------


def hear_interrupts() -> None:
    """From now on SIGINT raises KeyboardInterrupt, and ends the process by itself where that is not enough: a solver
    that works does not let Python run, a callback or a destructor swallows what is raised in it. Where SIGINT is
    ignored, as in the background of a shell, it stays so."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _interrupted)
    threading.Thread(target=_watch, args=(heard,), daemon=True).start()


def _interrupted(number: int, frame: object) -> NoReturn:
    """Raises KeyboardInterrupt; the second time, it leaves."""
    if heard_interrupt():
        leave()
    sys.unraisablehook = _silent
    raise KeyboardInterrupt


def heard_interrupt() -> bool:
    """Whether Ctrl-C was heard. KeyboardInterrupt may not be what arrives: `ctypes` raises ArgumentError of its own for
    whatever is raised while it converts arguments."""
    return sys.unraisablehook is _silent


def _silent(problem: object) -> None:
    """Says nothing of exceptions that nobody can catch."""


def _watch(heard: int) -> None:
    """Leaves some time after SIGINT came, in a thread: bytes are the numbers of signals, written as they come."""
    while signal.SIGINT not in os.read(heard, 1):
        pass
    time.sleep(PATIENCE)
    if _granted.is_set():
        time.sleep(MORE)
    leave()


_granted: Final = threading.Event()


def grant() -> None:
    """After Ctrl-C was heard: time to print what is done (MORE)."""
    _granted.set()


_leaving: Final = threading.Lock()


def leave() -> NoReturn:
    """Ends the process and its workers with one line on standard error and exit code 130."""
    if not _leaving.acquire(blocking=False):  # by another thread, which is at it
        time.sleep(60)
    if "multiprocessing" in sys.modules:
        from checker.testbed.workers import end_children

        with suppress(Exception):
            end_children()
    cursor = "\x1b[?25h" if os.isatty(2) else ""  # a progress bar hides it
    with suppress(OSError):
        os.write(2, f"{cursor}warpbound: interrupted\n".encode())
    os._exit(INTERRUPTED)


def errors_to_nowhere(process: bool) -> None:
    """Where standard error is closed, what would be said there is lost. With `process`, no file that is opened gets the
    number of a standard stream that is closed, and what a library prints there."""
    while process and (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    if process:
        os.close(number)
    sys.stderr = sys.stderr or io.StringIO()
