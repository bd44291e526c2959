"""What workers may do to those who wait for them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from multiprocessing import get_context
from typing import Any, Final

from checker.fleet.workers import Talk

LOADED: Final = ("checker.cli.fleet_work", "checker.synthesis.bound", "clang.cindex", "highspy", "numpy", "z3")
"""What a worker needs, and takes a second to load."""


def quick(_: str) -> Any:
    """Processes that have all that they need loaded as they begin: for tests of what they do, not of how they begin."""
    context = get_context("forkserver")
    context.set_forkserver_preload([*LOADED])
    return context


def work(acts: Sequence[str], done: frozenset[int], talk: Talk) -> None:
    """Does what each part says."""
    for part, act in enumerate(acts):
        if part in done:
            continue
        if act != "silent":
            talk.begin(part)
        match act:
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "leave":
                os._exit(3)
            case "loop" | "silent":
                while True:
                    time.sleep(0.01)
            case "eat":
                kept = []
                while True:
                    kept.append(bytearray(os.urandom(1 << 10) * (4 << 10)))
            case "swallow":
                bytearray(64 << 30)
            case "garbage":
                talk.connection.send_bytes(b"\x80\x05garbage")
                time.sleep(60)
            case "raise":
                raise ValueError("no reason")
            case "ask":
                talk.tell(talk.ask(("question", part)))
            case "curious":
                for _ in range(4000):
                    time.sleep(0.05)
                    talk.ask("whether this goes on")
                talk.tell("as long as it asks")
            case _:
                print("what a library prints")
                talk.tell(act)


def stuck(what: tuple[Any, Any], done: frozenset[int], talk: Talk) -> None:
    """Bounds the kernels of a source; in one that is called so it never ends with the first."""
    from checker.cli import fleet_work
    from checker.fleet.desk import Listed

    if what[0].name.endswith("stuck.cu") and 0 not in done:
        talk.tell(Listed(("stuck",)))
        talk.begin(0)
        while True:
            time.sleep(0.01)
    fleet_work.work(what, done, talk)
