"""`warpbound suite`: every kernel of proofs/ bounded, checked, run, and compared with published bounds."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from checker.cli.bounded import alarm
from checker.cli.options import add_accept_option, add_output_options, add_trust_option, emit, parse_metrics, tell
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.refutation.witness import Fill
    from checker.suites.on_trial import Row as Tried
    from checker.suites.on_trial import Texts
    from checker.suites.runner import Case, Row
    from checker.synthesis.bound import Per
    from logic.metrics import Metric
    from logic.syntax import Kernel


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "suite",
        help="bound the kernels of the literature and compare with what was published",
        description="Bounds every kernel under proofs/, has both checkers judge the certificates, searches for the "
        "dearest runs, and compares with published bounds at the same points. 0 when every row is certified and both "
        "checkers agree, or with --accept rest on a solver's word; with --rules never.",
    )
    parser.add_argument("--kernel", dest="kernels", action="append", default=[], metavar="NAME", help="(default: all)")
    parser.add_argument(
        "--metric", dest="metrics", action="append", default=[], metavar="NAME|all|FILE.toml", help="(default: all)"
    )
    parser.add_argument("--per", choices=("warp", "block", "grid"), default="warp", help="(default: %(default)s)")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: a core each)")
    parser.add_argument(
        "--rules",
        metavar="FILE",
        help="what rules on trial would buy: FILE.rules (rules as text), or FILE.py, which --trust RUNS AS PYTHON; "
        "certifies nothing",
    )
    add_trust_option(parser)
    add_accept_option(parser)
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 all certified and agreed (--accept: or solver-backed), 1 not all, 3 where a run costs more than its
    bound. Raises SourceError."""
    import json

    from checker.cli.progress import progress_bar
    from checker.suites import page as report
    from checker.suites.runner import read_suite

    metrics = parse_metrics(args.metrics)
    if args.jobs is not None and args.jobs < 1:
        raise OptionProblem(f"--jobs {args.jobs}: not a positive number", advice="Give the number of processes.")
    known, sources, notes = read_suite()
    for name in args.kernels:
        if name not in known:
            raise OptionProblem(f"--kernel {name}: not in the suite", advice=f"It has: {', '.join(known)}.")
    cases = [case for name, case in known.items() if name in args.kernels or not args.kernels]
    if args.rules is not None:
        return _on_trial(args, cases, metrics)
    rows: list[Row] = []
    with progress_bar("kernels", len(cases)) as progress:
        tasks = [(case, tuple(metrics), args.per) for case in cases]
        for done, found in enumerate(_in_parallel(_work, tasks, args.jobs), 1):
            rows += found
            if progress:
                progress(done)
    for row in rows:
        if row.verdict == "refuted" and row.witness is not None:
            alarm(f"{row.kernel} {row.metric}", row.bound, report.replay(row))
    if args.format == "markdown":
        emit(report.as_markdown(rows, notes, sources, _command(args)), args.output)
    else:
        tell(
            args,
            lambda: report.as_text(rows, notes),
            lambda: json.dumps(report.as_json(rows), indent=2),
            lambda: report.as_page(rows, notes, sources, args.accept),
        )
    if any(row.verdict == "refuted" for row in rows):
        return 3
    return 0 if all(row.taken(args.accept) for row in rows) else 1


def _command(args: argparse.Namespace) -> str:
    words = ["warpbound suite --format markdown"]
    words += [f"--kernel {name}" for name in args.kernels] + [f"--metric {name}" for name in args.metrics]
    return " ".join([*words, *([f"--per {args.per}"] if args.per != "warp" else [])])


def _on_trial(args: argparse.Namespace, cases: Sequence[Case], metrics: Sequence[Metric]) -> int:
    """The suite by rules on trial. 1, for nothing is certified; 3 where a run costs more. Raises SourceError."""
    import json

    from checker.cli.on_trial import trial_rules
    from checker.cli.progress import progress_bar
    from checker.suites import on_trial as report
    from checker.testbed.applied import book_of, own_rules

    if args.accept:
        raise OptionProblem("--accept: rules on trial certify nothing", advice="Leave out one of the two.")
    if args.per != "warp":
        raise OptionProblem("--per: rules on trial are for bounds on warps", advice="Leave it out.")
    rules = trial_rules(args)
    book_of(rules)
    texts = report.texts(own_rules(rules))
    rows: list[report.Row] = []
    with progress_bar("kernels", len(cases)) as progress:
        tasks = [(case, tuple(metrics), rules.name, texts) for case in cases]
        for done, found in enumerate(_in_parallel(_tried, tasks, args.jobs), 1):
            rows += found
            if progress:
                progress(done)
    tell(
        args,
        lambda: report.as_text(args.rules, rows),
        lambda: json.dumps(report.as_json(args.rules, rows), indent=2),
        lambda: report.as_page(args.rules, rows),
    )
    return report.exit_code(rows)


Task = TypeVar("Task", bound=tuple[Any, ...])
Found = TypeVar("Found")


def _in_parallel(work: Callable[[Task], Found], tasks: Sequence[Task], count: int | None) -> Iterator[Found]:
    """The result of each task, in order; a task begins with its case, and the longest sources are begun first."""
    workers = min(count or os.cpu_count() or 1, len(tasks))
    if workers == 1:
        yield from map(work, tasks)
        return
    from multiprocessing import get_context

    from checker.testbed.workers import Workers

    with Workers(workers, get_context("spawn")) as pool:
        by_length = sorted(tasks, key=lambda task: -task[0].path.stat().st_size)
        running = {task[0].name: pool.submit(work, task) for task in by_length}
        yield from (running[task[0].name].result() for task in tasks)


def _work(task: tuple[Case, tuple[Metric, ...], Per]) -> list[Row]:
    from checker import VERSION
    from checker.suites.runner import rows_of

    return rows_of(*task, _fill, VERSION)


def _tried(task: tuple[Case, tuple[Metric, ...], str, Texts]) -> list[Tried]:
    from checker.suites.on_trial import rows_of

    return rows_of(*task, _fill)


def _fill(kernel: Kernel) -> Fill:
    from checker.cli.data import read_arrays

    return partial(read_arrays, kernel)
