"""The common part of commands that take several files and folders: limits, processes, and what was left out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from checker.cli import process
from checker.notation.problem import OptionProblem
from checker.notation.words import many

if TYPE_CHECKING:
    from checker.fleet.workers import Limits, Work

WORST: Final = (2, 3, 1, 0)
"""Exit codes, the worst first."""

SECONDS: Final = 300
"""The time limit of a kernel, on the clock, where none is given."""

MEBIBYTES: Final = 4096
"""The memory limit of a kernel, where none is given."""


def add_limit_options(group: argparse._ActionsContainer, what: str, bad: str) -> None:
    """--jobs, --fail-fast, --time-limit and --memory-limit, for each `what`; a run may stop at the first `bad` one."""
    group.add_argument("--jobs", type=int, metavar="N", help="processes (default: a core each)")
    group.add_argument("--fail-fast", action="store_true", help=f"stop at the first {bad}")
    group.add_argument("--time-limit", type=float, metavar="S", help=f"seconds for a {what} (default: {SECONDS})")
    group.add_argument("--memory-limit", type=int, metavar="MB", help=f"of a {what}, in MiB (default: {MEBIBYTES})")


def add_glob_options(group: argparse._ActionsContainer, what: str) -> None:
    """--include and --exclude, which leave out `what` of folders."""
    group.add_argument("--include", action="append", default=[], metavar="GLOB", help=f"only {what} that match")
    group.add_argument("--exclude", action="append", default=[], metavar="GLOB", help=f"no {what} that match")


def limits(args: argparse.Namespace, usual: Mapping[str, Any]) -> tuple[int, Limits]:
    """How many processes, and the limits of each part: of the command line, else the usual ones. Raises OptionProblem
    for what is no positive number."""
    from checker.fleet.workers import Limits

    jobs = int(_positive(args.jobs, "--jobs", 4) or usual.get("jobs") or os.cpu_count() or 1)
    seconds = _positive(args.time_limit, "--time-limit", 600) or usual.get("time-limit") or SECONDS
    memory = _positive(args.memory_limit, "--memory-limit", 600) or usual.get("memory-limit") or MEBIBYTES
    return jobs, Limits(float(seconds), int(memory) << 20)


def _positive(value: float | None, option: str, example: int) -> float | None:
    if value is not None and not 0 < value < 1 << 40:
        told = f"{option} {value:g}: not a positive number"
        raise OptionProblem(told, advice=f"Write it like {option} {example}.")
    return value


def asked(args: argparse.Namespace) -> bool:
    """Whether an option asks for processes with limits, for one file, too."""
    given = args.jobs, args.time_limit, args.memory_limit
    return args.fail_fast or any(value is not None for value in given)


@dataclass(frozen=True, slots=True)
class Several:
    """The results of each item's parts, in order: what the work told, which has an exit code, or `Ended`. `left`
    says what was left out of the run, if something was; after Ctrl-C it was `interrupted`."""

    found: Sequence[Sequence[Any]]
    left: str
    interrupted: bool

    def say(self, texts: Iterable[str]) -> None:
        """Prints what was said of each part, and what was left out, on standard error."""
        sys.stderr.write("".join(texts) + (f"warpbound: warning: {self.left}\n" if self.left else ""))


def judged(
    args: argparse.Namespace,
    unit: str,
    items: Sequence[Any],
    work: Work,
    gives: Callable[[int, Any], None] = lambda *_: None,
) -> Several:
    """Has processes work on items, each part within limits; `gives` gets each result in order, with the number of its
    item, as soon as it is its turn. With --fail-fast the first result whose exit code is not 0 ends the run, and Ctrl-C
    does. Raises OptionProblem for limits that are none."""
    from checker.cli.progress import aside, progress_bar
    from checker.fleet.tray import Ended, Tray, fill

    jobs, limit = limits(args, {})
    interrupted = False

    def give(item: int, result: Any) -> None:
        with aside():
            gives(item, result)

    with progress_bar(f"{unit}s", len(items)) as show:
        tray = Tray(lambda one: args.fail_fast and (isinstance(one, Ended) or one.code != 0), show, give)
        try:
            fill(tray, items, work, limit, jobs)
        except KeyboardInterrupt:
            interrupted = True
            process.grant()
        tray.give_rest()
    out = len(items) - len(tray.ends)
    left = f"{many(out, unit)} left out, not looked at to the end" if out else ""
    return Several([tray.of(i) for i in range(len(items))], left, interrupted)
