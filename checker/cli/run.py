"""`warpbound run`: the operational semantics on a whole grid, and what it cost."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.cli.data import BrokenContract, check_assumed, check_data, declared, read_args, read_arrays, read_arrays_of
from checker.cli.options import (
    add_assume_option,
    add_data_options,
    add_output_options,
    add_source_options,
    as_declared,
    assuming,
    for_run,
    parse_bindings,
    parse_hardware,
    parse_metrics,
    read_kernel,
    required,
    run_sizes,
    source_text,
    tell,
)
from checker.notation.problem import OptionProblem
from checker.notation.words import many, number
from logic.source import Loc

if TYPE_CHECKING:
    from logic.metrics import Hardware, Metric
    from logic.syntax import Kernel
    from semantics import grid, parallel
    from semantics.grid import BarrierDivergence, Contents
    from semantics.lockstep import Broken
    from semantics.parallel import Profile
    from semantics.profile import LineCost, Lines
    from semantics.values import Value


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "run",
        help="execute a kernel on a grid and count its cost",
        description="Executes a kernel on every warp of a grid, by the operational semantics, and prints what it cost. "
        "Exit code 1: an access is outside of its array, which has a length; 3: threads of a block wait at different "
        "barriers, or what the source assumes does not hold.",
    )
    add_source_options(parser)
    parser.add_argument("--block", metavar="X[,Y[,Z]]", help="threads in a block (default: the file's)")
    parser.add_argument(
        "--grid", metavar="X[,Y[,Z]]", help="blocks in the grid (default: the file's //@ launch, else 1)"
    )
    add_data_options(
        parser,
        "a parameter's value",
        "a global array before the run: zeros, ones, iota, random:SEED or cycle:START:STEP:COUNT, whose element i "
        "is START + STEP * (i %% COUNT), each with :LEN for a fixed length, a list as 0,3,5, or @FILE.npy (default: "
        "zeros, unbounded)",
    )
    add_assume_option(
        parser, 'what a bound assumes, to be tested on this run: --assume "w %% 8 == 0", or a contract on data'
    )
    parser.add_argument(
        "--metric", dest="metrics", action="append", default=[], metavar="NAME|all|FILE.toml", help="(default: all)"
    )
    parser.add_argument("--hardware", metavar="NAME|FILE.toml", default="nvidia", help="(default: %(default)s)")
    parser.add_argument(
        "--semantics",
        choices=("lockstep", "parallel"),
        default="lockstep",
        help="lockstep: every warp by itself; parallel: the warps of a block together, with work (the sum over warps) "
        "and span (the longest way through a block, with its waits at barriers; of a grid, the longest of its blocks) "
        "in each metric asked for and in --profile (default: %(default)s)",
    )
    parser.add_argument(
        "--profile",
        metavar="WORK,SPAN",
        help="parallel: two metrics, what an operation takes of the machine and the time until it is done "
        "(default: issue,latency, round figures for a GPU)",
    )
    parser.add_argument(
        "--issue",
        type=int,
        metavar="P",
        help="parallel: bound a block's time by W/P + S of --profile, on a machine that issues P instructions a cycle "
        "(default: 1)",
    )
    parser.add_argument(
        "--by-line",
        action="store_true",
        help="what each line costs and how often warps executed it (by the reference engine)",
    )
    parser.add_argument(
        "--engine",
        choices=("fast", "reference"),
        default="fast",
        help="fast, many warps at once, or the reference, thread by thread; both say the same (default: %(default)s)",
    )
    parser.add_argument(
        "--step-limit",
        type=int,
        metavar="N",
        help="give a warp up after N steps, or a block with --semantics parallel (default: one million)",
    )
    add_output_options(parser)
    parser.set_defaults(func=run)


@dataclass(frozen=True, slots=True)
class _Done:
    """A run that ended: what was run, on what, what it cost, by line where that was asked for, in how many seconds, and
    which arrays that it reads are zeros, as nothing is said of them."""

    kernel: Kernel
    block: tuple[int, int, int]
    blocks: tuple[int, int, int]
    metrics: Sequence[Metric]
    pair: Profile | None
    hardware: Hardware
    result: grid.Result
    together: parallel.Result | None
    lines: Sequence[LineCost] | None
    seconds: float
    zeros: Sequence[str]


def run(args: argparse.Namespace) -> int:
    """Runs the kernel; 0, 1 where it accesses what is in no array, or 3 where a barrier diverges or an assumption is
    broken. Raises SourceError for what is unusable."""
    from checker.cli.data import tested
    from semantics import grid
    from semantics.lockstep import Broken
    from semantics.profile import Lines

    pair = parse_profile(args)
    if args.step_limit is not None and args.step_limit < 1:
        raise OptionProblem(f"--step-limit {args.step_limit}: not a positive number", advice="Choose a larger one.")
    metrics = parse_metrics(args.metrics)
    hardware = parse_hardware(args.hardware)
    given_args, given_arrays = parse_bindings(args.args, "--arg"), parse_bindings(args.arrays, "--array")
    reading = read_kernel(args)
    values = as_declared(reading, read_args(reading.kernel, given_args))
    block, blocks = run_sizes(args, reading, values)
    check_assumed(args, reading, values, block, blocks)
    arrays = declared(reading.kernel, reading.tables) | read_arrays(reading.kernel, given_arrays)
    rows = [(c, tested(c, values, arrays)) for c in required(args, reading)]
    kept = [c for c, row in rows if row["verdict"] == "kept"]
    reading = for_run(reading, values, block, blocks, kept, hardware.warp)
    kernel: Kernel = assuming(args, reading.kernel)
    for note in reading.notes:
        print(f"note: {note}", file=sys.stderr)

    started = time.monotonic()
    launch = (kernel, block, blocks, values, arrays)
    observer = Lines(kernel) if args.by_line else None
    try:
        check_data(rows)
        result, together = _execute(args, launch, metrics, pair, hardware, observer)
    except (grid.BarrierDivergence, Broken, BrokenContract) as refuted:
        _tell_divergence(args, kernel, metrics, refuted, time.monotonic() - started)
        return 3
    seconds = time.monotonic() - started
    zeros = sorted(read_arrays_of(kernel) - arrays.keys())
    lines = observer.table(metrics) if observer else None
    _tell(args, _Done(kernel, block, blocks, metrics, pair, hardware, result, together, lines, seconds, zeros))
    return 1 if result.out_of_bounds else 0


def _execute(
    args: argparse.Namespace,
    launch: tuple[Kernel, tuple[int, int, int], tuple[int, int, int], dict[str, Value], dict[str, Contents]],
    metrics: Sequence[Metric],
    pair: Profile | None,
    hardware: Hardware,
    observer: Lines | None,
) -> tuple[grid.Result, parallel.Result | None]:
    """The cost of a run, by the engine that the options name; that of whole blocks, too, where there is a pair of
    metrics. Raises BarrierDivergence, and SourceError for what cannot be run."""
    from checker.cli.progress import progress_bar
    from semantics import grid, parallel, vectorised
    from semantics.lockstep import STEP_LIMIT

    limit = args.step_limit or STEP_LIMIT
    with progress_bar("blocks", math.prod(launch[2])) as progress:
        if pair:
            profiles = (*map(parallel.alone, metrics), pair)
            together = parallel.run(*launch, profiles, hardware, limit, observer, progress)
            return together.whole, together
        if observer or args.engine == "reference":
            return grid.run(*launch, metrics, hardware, limit, observer, progress), None
        return vectorised.run(*launch, metrics, hardware, limit, progress), None


def _tell(args: argparse.Namespace, done: _Done) -> None:
    """Prints what a run cost."""
    from checker.report.lines import lines_section, lines_text
    from checker.report.page import Fault, Page, Section

    result, together, lines = done.result, done.together, done.lines
    outside = result.out_of_bounds
    warned = [f"{access.loc or args.file}: warning: out of bounds: {access}" for access in outside]
    for warning in warned:
        print(warning, file=sys.stderr)
    heading, table = _heading(done.kernel, result, done.block, done.blocks, done.seconds), _rows(result, together)
    bound = _bound_text(together, done.pair, args.issue or 1) if together and done.pair else ""
    by_line = None if lines is None else (lines, {m.name: result.totals[m.name] for m in done.metrics}, _sources(lines))
    rests_on = [f"no --array for {', '.join(done.zeros)}, so zeros there"] if done.zeros else []
    rests_on += [f"arrays start at multiples of {done.hardware.alignment} bytes", "signed integers do not overflow"]
    rests_on += ["no data races between barriers"] if together else []

    def text() -> str:
        parts = (heading, _table(table), bound, lines_text(*by_line) if by_line else "")
        return "\n\n".join([*filter(None, parts), f"Assumed: {', '.join(rests_on)}."])

    def document() -> str:
        found = _json(done.kernel, done.metrics, result, together, done.seconds)
        if together and done.pair:
            found["time_bound"] = number(together.time_bound(done.pair.name, args.issue or 1))
        if lines is not None:
            found["lines"] = [_json_line(line) for line in lines]
        if done.zeros:
            found["zeros"] = list(done.zeros)
        if outside:
            found["out_of_bounds"] = [{"place": _place(access.loc), "access": str(access)} for access in outside]
        return json.dumps(found, indent=2)

    def page() -> Page:
        sections = [Section(head=table[0], rows=table[1:]), Section(text=bound), Section("Warnings", items=warned)]
        sections += [lines_section(*by_line)] if by_line else []
        places = (a.loc if a.loc and a.loc.file else args.file for a in outside)
        faults = [Fault("out-of-bounds", f"out of bounds: {a}", at) for a, at in zip(outside, places, strict=True)]
        return Page(heading, [s for s in sections if s.head or s.text or s.items], faults, rests_on)

    tell(args, text, document, page)


def _tell_divergence(
    args: argparse.Namespace,
    kernel: Kernel,
    metrics: Sequence[Metric],
    refuted: BarrierDivergence | Broken | BrokenContract,
    seconds: float,
) -> None:
    """Prints where a barrier diverges, or an assumption is broken: on standard error, and in all formats but text."""
    from checker.report.page import Fault, Page, Section
    from checker.report.terminal import render_error
    from semantics.grid import BarrierDivergence

    kind = "divergence" if isinstance(refuted, BarrierDivergence) else "broken"
    told = render_error(refuted)
    print(told, file=sys.stderr)
    found = _json(kernel, metrics, None, None, seconds) | {"error": _witness(refuted)}
    faults = [Fault(kind, refuted.message, refuted.loc or args.file)]
    page = Page(f"{kernel.name}: refuted", [Section(fixed=told)], faults)
    tell(args, None, lambda: json.dumps(found, indent=2), lambda: page)


def parse_profile(args: argparse.Namespace) -> Profile | None:
    """The pair of metrics of a run of whole blocks, None for one of warps. Raises OptionProblem."""
    from semantics.parallel import TIME, Profile

    if args.semantics == "lockstep":
        for option in ("profile", "issue"):
            if getattr(args, option) is not None:
                raise OptionProblem(f"--{option}: warps by themselves have no span", advice="Add --semantics parallel.")
        return None
    if args.issue is not None and args.issue < 1:
        raise OptionProblem(f"--issue {args.issue}: not a positive number", advice="Choose a larger one.")
    if args.profile is None:
        return TIME
    names = args.profile.split(",")
    if len(names) != 2:
        raise OptionProblem(f"--profile {args.profile}: not two metrics", advice="Write --profile WORK,SPAN.")
    known = {m.name: m for m in (TIME.work, TIME.span)}
    work, span = (known.get(name) or _metric(name, f"--profile {args.profile}") for name in names)
    try:
        return Profile(f"{work.name},{span.name}", work, span)
    except ValueError as problem:
        advice = "An operation is not done before it is issued: the second metric must not be below the first."
        raise OptionProblem(f"--profile {args.profile}: {problem}", advice=advice) from None


def _metric(name: str, option: str) -> Metric:
    """One metric of those that --metric knows."""
    found = parse_metrics((name,), "--profile")
    if len(found) != 1:
        raise OptionProblem(f"{option}: '{name}' is several metrics", advice="Name one.")
    return found[0]


# --- values of parameters and arrays ---------------------------------------------------------------------------------


# --- output ----------------------------------------------------------------------------------------------------------


def _json(
    kernel: Kernel,
    metrics: Iterable[Metric],
    result: grid.Result | None,
    together: parallel.Result | None,
    seconds: float,
) -> dict[str, object]:
    names = [m.name for m in metrics]
    return {
        "kernel": kernel.name,
        "totals": {m: number(result.totals[m]) for m in names} if result else None,
        "max_per_warp": {m: number(result.max_per_warp[m]) for m in names} if result else None,
        "work": {p: number(v) for p, v in together.whole.totals.items()} if together else None,
        "span": {p: number(together.span(p)) for p in together.whole.totals} if together else None,
        "engine": result.engine if result else None,
        "seconds": round(seconds, 3),
    }


def _json_line(line: LineCost) -> dict[str, object]:
    totals = {m: number(v) for m, v in line.costs.items()}
    return {"file": line.file, "line": line.line, "executions": line.executions, "totals": totals}


def _witness(refuted: BarrierDivergence | Broken | BrokenContract) -> dict[str, object]:
    return {
        "reason": refuted.message,
        "block": list(refuted.block),
        "places": [_place(p) for p in (refuted.loc, refuted.split) if p],
    }


def _place(loc: Loc | None) -> dict[str, object] | None:
    return None if loc is None else {"file": loc.file, "line": loc.line, "column": loc.column}


def _heading(
    kernel: Kernel, result: grid.Result, block: tuple[int, int, int], blocks: tuple[int, int, int], seconds: float
) -> str:
    shape = f"{'x'.join(map(str, blocks))} blocks of {'x'.join(map(str, block))} threads"
    return f"{kernel.name}: {shape}, {many(result.warps, 'warp')}, {seconds:.2f} s"


def _rows(result: grid.Result, together: parallel.Result | None) -> list[tuple[str, ...]]:
    """The table of costs, a line a metric, its head first."""
    rows = [("metric", "work" if together else "total", "most of a warp", *(("span",) if together else ()))]
    for m, total in result.totals.items():
        rows.append((m, str(total), str(result.max_per_warp[m]), *((str(together.span(m)),) if together else ())))
    return rows


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"  {name:<{widths[0]}}  {'  '.join(f'{n:>{w}}' for n, w in zip(numbers, widths[1:], strict=True))}"
        for name, *numbers in rows
    )


def _bound_text(together: parallel.Result, pair: Profile, issue: int) -> str:
    bound = together.time_bound(pair.name, issue)
    issued = "1 instruction" if issue == 1 else f"{issue} instructions"
    return (
        f"A block takes at most W/P + S = {bound} in {pair.name}, by itself on a machine that greedily issues\n"
        f"{issued} a cycle (Theorem 2). The span of a grid is that of its longest block."
    )


def _sources(lines: Iterable[LineCost]) -> dict[str, list[str]]:
    """The texts that the lines are in, as far as they can be read."""
    found: dict[str, list[str]] = {}
    for name in {line.file for line in lines}:
        with contextlib.suppress(OSError, ValueError):
            found[name] = source_text(name).splitlines()
    return found
