"""Work in a process of its own, within limits of time and memory."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

Act = Callable[[], int]
"""What a process does; its exit code."""


@dataclass(frozen=True, slots=True)
class Used:
    """What a process and its own children used: seconds of processor time and on the clock, KiB of resident memory
    besides what its parent gave it; its exit code, negative for a signal, and what it printed."""

    code: int
    cpu: float
    wall: float
    memory: int
    said: str


def workers(jobs: int) -> ProcessPoolExecutor:
    """Processes in which `limited` may be called, many at once: in one of several threads of a process it may make a
    child that waits forever for what another thread has locked."""
    return ProcessPoolExecutor(jobs, get_context("spawn"))


def limited(act: Act, seconds: int, addresses: int) -> Used:
    """Runs `act` in a child that is killed after so many seconds of processor time, or twenty times as many on the
    clock, and gets no more than so many bytes of address space."""
    with tempfile.TemporaryFile() as out:
        start, before = time.monotonic(), _resident()
        child = os.fork()
        if child == 0:
            _become(act, seconds, addresses, out.fileno())
        _, status, used = os.wait4(child, 0)
        wall = time.monotonic() - start
        out.seek(0)
        said = out.read(1 << 20).decode("utf-8", "replace")
    code, cpu = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    return Used(code, cpu, wall, max(0, used.ru_maxrss - before), said)


def _resident() -> int:
    """KiB of this process that are in memory; 0 where the system does not say."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() // 1024
    return 0


def _become(act: Act, seconds: int, addresses: int, out: int) -> None:
    """The child: never returns."""
    code = 70
    gc.freeze()  # what the parent has is not searched for garbage here, on the child's time
    try:
        resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        signal.alarm(seconds * 20)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(os.fdopen(fd, "wb", closefd=False), encoding="utf-8", write_through=True) for fd in (1, 2)
        )
        code = act()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 70
    except BaseException:  # noqa: BLE001  # whatever it is, it is told and judged
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code & 255)
