"""`warpbound predict`: the run time of kernels on a device, from certified counts and a model: an estimate."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from checker.cli.assumed import add_launch_options, check_assumptions, launch_of, told_of_launches, under
from checker.cli.machine import SUFFIX
from checker.cli.options import (
    add_output_options,
    add_reading_options,
    annotated,
    known_sizes,
    read_kernel,
    refuse_others,
    tell,
)
from checker.cli.points import add_point_option, point
from checker.notation.problem import OptionProblem
from logic.source import SourceError

if TYPE_CHECKING:
    from checker.analysis.runtime import Device
    from checker.notation.annotations import Annotations, Limit, Sizes
    from checker.oracles import Oracles
    from checker.report.prediction import Row
    from checker.synthesis.outline import Outline
    from logic.syntax import Kernel
    from logic.typing import Signature
    from semantics.cuda import Reading


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "predict",
        help="estimate a run time from a device profile",
        description="Estimates how long kernels take one after the other (the model of HiPC 2009): the cycles of a "
        "thread are certified bounds, the time is an estimate. docs/run-time.md says what it leaves out.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE.cu", help="CUDA sources; all their kernels are added up")
    add_reading_options(parser)
    parser.add_argument("--device", required=True, metavar="NAME|FILE.toml", help="a device profile, such as gtx280")
    parser.add_argument(
        "--model",
        choices=("max", "sum"),
        default="max",
        help="memory hidden well, or not at all (default: %(default)s)",
    )
    add_launch_options(parser)
    add_point_option(parser, "where to evaluate: --at N=4194304")
    parser.add_argument(
        "--random-bins",
        type=int,
        metavar="B",
        help="also estimate with shared accesses that go to B words at random, not for the worst case",
    )
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0, or 1 where a kernel has no certified counts. Raises SourceError for unusable input."""
    import json

    from checker.analysis.device_files import find_device
    from checker.analysis.runtime import Uncertified, expected_contention, find_terms
    from checker.oracles import Oracles
    from checker.report import prediction as report
    from semantics.cuda import kernel_names

    device, at = find_device(args.device), point(args.at)
    bins = args.random_bins
    if bins is not None and not 1 <= bins <= MOST_BINS:
        raise OptionProblem(f"--random-bins {bins}: not from 1 to {MOST_BINS}", advice="Give the number of bins.")
    contention = expected_contention(device.group, device.banks, bins) if bins else None
    oracle = Oracles()
    jobs: list[tuple[Row, Outline, list[Limit]]] = []
    for path in args.files:
        if path.endswith(SUFFIX):
            advice = f"Give CUDA sources; `warpbound wcet {path}` bounds its cycles."
            raise OptionProblem(f"{path}: a program for the mini-SIMT machine, which no device runs", advice=advice)
        refuse_others(path)
        names: list[str | None] = [args.kernel] if args.kernel or args.instantiate else []
        names += [] if names else kernel_names(path, tuple(args.includes), tuple(args.defines), args.std)
        jobs += [_job(args, path, name, device, at, oracle) for name in names or [None]]
    report.check_names(at, [row for row, _, _ in jobs])
    rows = []
    for row, outline, limits in jobs:
        terms = find_terms(outline, device, oracle, limits, contention)
        if isinstance(terms, Uncertified):
            rows.append(replace(row, problem=report.reason(terms)))
        else:
            rows.append(report.evaluated(replace(row, terms=terms), device, args.model, at))
    found = report.Prediction(device, args.model, at, tuple(rows), contention, bins)
    tell(
        args,
        lambda: report.as_text(found),
        lambda: json.dumps(report.as_json(found), indent=2),
        lambda: report.as_page(found),
    )
    for row in rows:
        if row.terms is None:
            print(f"{row.path}: {row.kernel.name} has no certified run-time terms: {row.problem}", file=sys.stderr)
    return 0 if all(row.terms is not None for row in rows) else 1


MOST_BINS: Final = 10**6


def _job(
    args: argparse.Namespace, path: str, name: str | None, device: Device, at: dict[str, int], oracle: Oracles
) -> tuple[Row, Outline, list[Limit]]:
    """A kernel with its launch, as it is to be bounded, and the limits that count there. Raises SourceError."""
    from checker.analysis.runtime import hardware
    from checker.certificates.claims import excluded, with_facts
    from checker.report import prediction as report
    from checker.synthesis.outline import Outline
    from logic.assertions import Context, conj
    from logic.metrics import METRICS
    from logic.typing import check_kernel

    reading = read_kernel(args, path, name)
    kernel = reading.kernel
    sigma = check_kernel(kernel)
    hints = annotated(args, kernel)
    grid = _grid(args, kernel, sigma, hints, reading)
    assumed, limits = _limits(args, sigma)
    launch = launch_of(assumed, kernel, hints.block or reading.block, report.constant(grid))
    launch = replace(launch, assumptions=conj((*hints.assumptions, *launch.assumptions), sigma))
    block = known_sizes(launch.block)
    if block is None:
        raise OptionProblem(f"the block of {kernel.name} is not known", kernel.loc, _LAUNCH)
    context = Context(sigma, METRICS["sectors"], hardware(device), launch)
    check_assumptions(context, oracle)
    reading = under(reading, context, oracle)
    hints = annotated(args, reading.kernel)
    kernel, context = hints.kernel, replace(context, sigma=check_kernel(hints.kernel))
    reading = told_of_launches(replace(reading, kernel=kernel), context, path)
    row = report.Row(path, kernel, context, block, grid, reading.notes)
    limits = [*hints.limits, *limits]
    broken = excluded(report.point(row, at), with_facts(context, reading.facts)) or report.broken(limits, at)
    if broken is not None:
        raise OptionProblem(f"--at: {broken} is assumed, and does not hold there", advice="Choose another point.")
    # An argument that is given needs no limit.
    return row, Outline(kernel, context, hints.body), [limit for limit in limits if limit.name not in at]


_LAUNCH: Final = "Give --block and --grid, or write //@ launch block = 256, grid = ceil(n/256); above the kernel."


def _grid(args: argparse.Namespace, kernel: Kernel, sigma: Signature, hints: Annotations, reading: Reading) -> Sizes:
    """The sizes of the grid. Raises SourceError where they are not known."""
    from checker.notation.annotations import parse_sizes
    from logic.formulas import Number

    if args.grid:
        try:
            return parse_sizes(args.grid, "grid", sigma, "--grid")
        except SourceError as error:
            error.source = args.grid
            raise
    if hints.formulas is not None:
        return hints.formulas
    known = hints.grid or reading.grid
    if known is None or None in known:
        raise OptionProblem(f"the grid of {kernel.name} is not known", kernel.loc, _LAUNCH)
    x, y, z = (Number(Fraction(n or 1)) for n in known)
    return x, y, z


def _limits(args: argparse.Namespace, sigma: Signature) -> tuple[argparse.Namespace, list[Limit]]:
    """The options without limits and without --grid, which may be a formula, and the limits. Raises SourceError."""
    from checker.notation.annotations import parse_limit

    facts, limits = [], []
    for text in args.assume:
        try:
            limit = parse_limit(text, sigma, "--assume")
        except SourceError as error:
            error.source = text
            raise
        if limit is None:
            facts.append(text)
        else:
            limits.append(limit)
    return argparse.Namespace(**{**vars(args), "assume": facts, "grid": None}), limits
