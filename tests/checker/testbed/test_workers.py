"""Worker processes: Ctrl-C is not for them."""

from __future__ import annotations

import signal
import threading
from multiprocessing import get_context

from checker.testbed.workers import Workers, unheard


def held() -> set[int]:
    """The signals that wait in this process."""
    return {*signal.pthread_sigmask(signal.SIG_BLOCK, ())}


def test_workers_hear_no_interrupt() -> None:
    """Or they would tell of it, each by a traceback, before the command has ended them; the command itself hears it."""
    with Workers(1, get_context("fork")) as pool:
        assert signal.SIGINT in pool.submit(held).result()
        assert signal.SIGINT not in held()


def test_an_interrupt_that_came_while_a_process_began_is_heard() -> None:
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("late"))
    try:
        with unheard():
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # others, such as xdist's, do not hold it back
            heard.append("begun")
        assert heard == ["begun", "late"]
    finally:
        signal.signal(signal.SIGINT, before)
