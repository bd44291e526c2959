"""`warpbound compare`: whether a new version of a kernel costs no more than the old one may, or more on some run."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from checker.cli.assumed import add_launch_options
from checker.cli.bounded import chosen_kernels, outlined, told_of
from checker.cli.options import (
    add_accept_option,
    add_output_options,
    add_reading_options,
    check_sizes,
    parse_hardware,
    parse_metrics,
    read_kernel,
    reading_words,
    tell,
)
from checker.cli.progress import working
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from checker.analysis.compared import Version
    from checker.oracles import Oracles
    from checker.refutation.witness import Input
    from checker.report.compared import Row
    from logic.metrics import Hardware, Metric
    from semantics.cuda import Choice, Reading
    from semantics.grid import Contents


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "compare",
        help="say whether a new version of a kernel costs no more than the old one",
        description="Bounds the kernels of two sources, and has both checkers judge whether every warp of the new "
        "version costs at most what the old one is bounded by; runs of both on the same inputs may show that it costs "
        "more. Kernels are compared by their names, two files of one kernel each whatever their names. Exit code 0: "
        "certified, for each metric; 1: not known for one; 3: dearer on a run.",
    )
    parser.add_argument("old", metavar="OLD.cu", help="the CUDA source as it was")
    parser.add_argument("new", metavar="NEW.cu", help="the CUDA source as it is")
    add_reading_options(parser, several=True)
    add_launch_options(parser)
    parser.add_argument(
        "--metric", dest="metrics", action="append", default=[], metavar="NAME|all|FILE.toml", help="(default: all)"
    )
    parser.add_argument("--hardware", metavar="NAME|FILE.toml", default="nvidia", help="(default: %(default)s)")
    add_accept_option(parser)
    add_output_options(parser)
    parser.set_defaults(func=run, scope="warp", shown=None)


def run(args: argparse.Namespace) -> int:
    """0 certified, 1 not known, 3 dearer; of several the worst. Raises SourceError."""
    from checker.report import compared as report

    check_sizes(args)
    metrics, hardware = parse_metrics(args.metrics), parse_hardware(args.hardware)
    rows: list[Row] = []
    for name, old, new in _pairs(args):
        rows += _rows(args, name, old, new, metrics, hardware)
    tell(
        args,
        lambda: report.as_text(rows),
        lambda: json.dumps({"rows": rows}, indent=2),
        lambda: report.as_page(rows, args.accept),
    )
    return report.exit_code(rows, args.accept)


def _pairs(args: argparse.Namespace) -> list[tuple[str, Choice | None, Choice | None]]:
    """The kernels of both sources by their names, in the order of the new one; None where one has none of the name.
    Raises SourceError."""
    old, new = ({c.name: c for c in chosen_kernels(_about(args, path))} for path in (args.old, args.new))
    for path, found in ((args.old, old), (args.new, new)):
        if not found:
            what = f"no kernel '{args.kernel}'" if args.kernel else "no kernel"
            raise OptionProblem(f"'{path}' has {what}", advice="Name one that both have, with --kernel.")
    if len(old) == len(new) == 1:
        return [(name, next(iter(old.values())), choice) for name, choice in new.items()]
    return [(name, old.get(name), new.get(name)) for name in dict.fromkeys((*new, *old))]


def _about(args: argparse.Namespace, path: str) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(args), "file": path})


def _rows(
    args: argparse.Namespace,
    name: str,
    old: Choice | None,
    new: Choice | None,
    metrics: tuple[Metric, ...],
    hardware: Hardware,
) -> list[Row]:
    """A row for each metric of two versions of a kernel. Raises SourceError for options that are not for them."""
    from checker.analysis.compared import compared, inputs_of
    from checker.oracles import Oracles
    from checker.report import compared as report
    from checker.report.terminal import render_error
    from logic.source import SourceError

    if old is None or new is None:
        path, other = (args.new, args.old) if old is None else (args.old, args.new)
        told = {"why": f"'{other}' has no kernel of this name"}
        return [report.row(name, metric.name, path, None) | told for metric in metrics]
    read: list[tuple[argparse.Namespace, Reading]] = []
    for path, choice in ((args.old, old), (args.new, new)):
        own = told_of(_about(args, path), choice, args.assume)
        try:
            read.append((own, read_kernel(own)))
        except SourceError as problem:
            sys.stderr.write(render_error(problem, problem.source) + "\n")
            return [report.unread(report.row(name, m.name, path, problem.loc), problem) for m in metrics]
    oracle, rows = Oracles(), []
    with working(f"{name}: reading") as now:
        before, after = (_versions(own, reading, metrics, hardware, oracle, now) for own, reading in read)
        for metric, one, other in zip(metrics, before, after, strict=True):
            now(f"{name}: {metric.name}, runs of both")
            found, runs = compared(one, other, oracle), []
            if found.dearer is not None:
                inputs = (inputs_of(one.kernel, found.dearer.input), found.dearer.input)
                runs = [_command(own, metric, given) for (own, _), given in zip(read, inputs, strict=True)]
            empty = report.row(name, metric.name, args.new, other.kernel.loc)
            rows.append(report.filled(empty, one, other, found, runs))
    return rows


def _versions(
    args: argparse.Namespace,
    reading: Reading,
    metrics: tuple[Metric, ...],
    hardware: Hardware,
    oracle: Oracles,
    now: Callable[[str], None],
) -> list[Version]:
    """A version of a kernel with its bound, for each metric. Raises SourceError."""
    from checker.analysis.compared import Version
    from checker.certificates.claims import with_facts
    from checker.cli.data import declared, read_arrays
    from checker.synthesis.bound import find_bounds

    outline, hinted, reading = outlined(args, reading, metrics[0], hardware, oracle)
    kernel, context = reading.kernel, with_facts(outline.context, reading.facts)
    tables = declared(kernel, reading.tables)

    def fill(texts: Mapping[str, str]) -> Mapping[str, Contents]:
        return {**read_arrays(kernel, texts), **tables}

    def show(name: str) -> None:
        now(f"{kernel.name} of {args.file}: {name}")

    results = find_bounds(outline, metrics, oracle, hinted, show=show, backed="solver-backed" in args.accept)
    return [Version(kernel, replace(context, metric=r.metric), fill, r, reading.notes) for r in results]


def _command(args: argparse.Namespace, metric: Metric, given: Input) -> str:
    """The command that runs an input of a version again."""
    from checker.refutation.witness import command

    files = [f"--metric={name}" for name in args.metrics if name.endswith(".toml")]
    options = reading_words(args)
    options += [f"--hardware={args.hardware}"] if args.hardware != "nvidia" else []
    return command(args.file, given, [*options, *(files or [f"--metric={metric.name}"])])
