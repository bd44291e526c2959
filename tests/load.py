"""How much slower a busy machine is, for tests that hold something against the clock."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path


def patience(seconds: float) -> float:
    """So many seconds of a machine that does nothing else, in seconds of this one now: twice as many as a process takes
    to start, where that is much longer than it works."""
    before, start = _worked(), time.monotonic()
    subprocess.run([sys.executable, "-c", "import argparse, json"], check=True)
    longer = (time.monotonic() - start) / (_worked() - before)
    return seconds * 2 * longer if longer > 1.5 else seconds


def until(pid: int, seconds: float) -> None:
    """Waits until a process has had so many seconds of a processor, or, as it may wait for others, could have had twice
    as many."""
    end = time.monotonic() + patience(2 * seconds)
    while time.monotonic() < end and _had(pid) < seconds:
        time.sleep(0.02)


def _had(pid: int) -> float:
    """The seconds of a processor that a process has had; 0 where the system has no such file."""
    path = Path(f"/proc/{pid}/stat")
    fields = path.read_text().rpartition(")")[2].split() if path.exists() else ["0"] * 13
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _worked() -> float:
    """The seconds that processes which have ended have had of a processor."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
