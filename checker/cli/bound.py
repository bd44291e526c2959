"""`warpbound bound`: synthesise a bound for a kernel, let the checker judge it, print it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from checker.cli import fleet
from checker.cli.assumed import (
    usable_assumptions,
)
from checker.cli.bounded import (
    alarm,
    certificate_of,
    chosen_kernels,
    command_again,
    file_name,
    in_vain,
    origin_of,
    outlined,
    proved,
    told_of,
    with_hints,
)
from checker.cli.options import (
    add_output_options,
    add_queries_option,
    add_trust_option,
    check_sizes,
    emit,
    parse_hardware,
    parse_metrics,
    read_kernel,
    tell,
    versioned,
)
from checker.cli.points import add_point_option, check_point, point
from checker.cli.progress import working
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.certificates.origin import Origin
    from checker.oracles import Oracles
    from checker.refutation.witness import Witness
    from checker.report.kernels import Done
    from checker.synthesis.bound import Result
    from checker.synthesis.outline import Outline
    from logic.assertions import Context
    from logic.metrics import Hardware, Metric
    from logic.syntax import Kernel
    from semantics.cuda import Choice, Reading


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "bound",
        help="find a bound on a kernel's cost and certify it",
        description="Finds a symbolic upper bound on what a warp of each kernel costs, and has its derivation checked. "
        "Exit code 0: certified, by both checkers; 1: no bound was found, or it is solver-backed, resting on the word "
        "of a solver, or holey, with something taken for granted that is not proved; 3: a run that --tight found "
        "costs more. With --rules never 0.",
    )
    parser.add_argument("files", nargs="+", metavar="PATH", help="CUDA sources, and folders of them")
    fleet.add_bound_options(parser)
    add_point_option(parser, "evaluate the bound there: --at w=256,h=256")
    parser.add_argument(
        "--tight", action="store_true", help="search for the dearest run: an input that shows what the bound is worth"
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say what the bound rests on: accesses, loops, branches; with --at what each line takes of it",
    )
    parser.add_argument(
        "--certificate", metavar="OUT.json|DIR", help="write what proves the bound; to a folder where there are several"
    )
    parser.add_argument(
        "--rules",
        metavar="FILE",
        help="bounds by rules on trial, too, beside those by the sound rules: FILE.rules (rules as text), or FILE.py, "
        "which --trust RUNS AS PYTHON; certifies nothing",
    )
    add_trust_option(parser)
    add_queries_option(parser)
    add_output_options(parser, "jsonl", told="; of HTML a folder, for an index and a page a kernel")
    parser.set_defaults(func=run, shown=None)


def run(args: argparse.Namespace) -> int:
    """Bounds every metric of every kernel; the worst exit code of them. Raises SourceError for unusable input."""
    import json

    from checker.cli import on_trial

    check_sizes(args)
    if fleet.is_fleet(args):
        return fleet.run(args)
    if args.rules is not None:
        return on_trial.run(args)
    (args.file,) = args.files
    metrics, hardware, at = parse_metrics(args.metrics), parse_hardware(args.hardware), point(args.at)
    chosen = chosen_kernels(args)
    _check_options(args, metrics, len(chosen))

    from checker.report import kernels as report

    if len(chosen) < 2:
        own = told_of(args, chosen[0], args.assume) if chosen and chosen[0].instantiate else args
        done = _bounded(own, _read(own, metrics), metrics, hardware, at)
        tell(args, lambda: report.alone(done), lambda: json.dumps({"results": done.rows}, indent=2), lambda: done.page)
        return done.code

    all_done = _each(args, chosen, metrics, hardware, at)
    tell(
        args,
        lambda: report.as_text(all_done),
        lambda: json.dumps(report.as_json(all_done), indent=2),
        lambda: report.as_page(Path(args.file).name, all_done),
    )
    return report.exit_code(all_done)


def _each(
    args: argparse.Namespace,
    chosen: Sequence[Choice],
    metrics: Sequence[Metric],
    hardware: Hardware,
    at: dict[str, int],
) -> list[Done]:
    """The outcome for each of several kernels: one that cannot be read leaves the others. Options are for the kernels
    that have the parameters that they name. Raises SourceError where none has."""
    from checker.report.kernels import refused
    from checker.report.terminal import render_error
    from logic.source import SourceError

    per = "span" if args.scope == "block" else args.per
    args = argparse.Namespace(**vars(args), warned=set())
    read: dict[Choice, Reading | SourceError] = {}
    for choice in chosen:
        try:
            read[choice] = read_kernel(told_of(args, choice), settle=False)
        except SourceError as problem:
            read[choice] = problem
    kernels = {c: r.kernel for c, r in read.items() if not isinstance(r, SourceError)}
    _check_named(at, list(kernels.values()))
    assumed = usable_assumptions(args.assume, kernels)
    done = []
    for choice, reading in read.items():
        try:
            if isinstance(reading, SourceError):
                raise reading
            arrays = {a.name for a in reading.kernel.arrays}
            named = _parameters(reading.kernel)
            own = {name: n for name, n in at.items() if name in named or name.partition("[")[0] in arrays}
            done.append(_bounded(told_of(args, choice, assumed[choice]), reading, metrics, hardware, own, several=True))
        except SourceError as problem:
            sys.stderr.write(render_error(problem, problem.source) + "\n")
            done.append(refused(choice.name, metrics, per, problem))
    return done


def _parameters(kernel: Kernel) -> frozenset[str]:
    from logic.typing import signature

    return frozenset(signature(kernel).params)


def _check_named(at: Mapping[str, int], kernels: Sequence[Kernel]) -> None:
    """Raises OptionProblem where --at names what no kernel has."""
    known = frozenset[str]().union(*map(_parameters, kernels))
    arrays = {a.name for kernel in kernels for a in kernel.arrays}
    unknown = sorted(name for name in at.keys() - known if name.partition("[")[0] not in arrays)
    if unknown and kernels:
        raise OptionProblem(f"--at: '{unknown[0]}' is no parameter of a kernel in this file")


def _bounded(
    args: argparse.Namespace,
    reading: Reading,
    metrics: Sequence[Metric],
    hardware: Hardware,
    at: dict[str, int],
    several: bool = False,
) -> Done:
    """The outcome for one kernel, which may be one of several. Raises SourceError."""
    from checker.certificates.claims import with_facts
    from checker.cli.explained import dearest_runs
    from checker.oracles import Oracles
    from checker.report.queries import write_queries

    oracle = Oracles()
    outline, hinted, reading = outlined(args, reading, metrics[0], hardware, oracle)
    kernel = _shown(args, reading)
    check_point(at, kernel, with_facts(outline.context, reading.facts))
    _warn_of_widths(args, reading, at)
    results = _results(args, kernel.name, outline, metrics, hinted, oracle)
    made = origin_of(args, reading, hardware)
    certificates = _certificates(results, args.certificate, kernel.name, several, made)
    if args.queries:
        write_queries(oracle.log, str(Path(args.queries) / file_name(kernel.name)) if several else args.queries)
    _warn_of_bounds(args, reading, outline.context, results, oracle)
    runs = args.tight or (args.explain and bool(at))
    none: list[Witness | None] = [None] * len(results)
    dearest, results = dearest_runs(reading.kernel, results, at, args.tight) if runs else (none, results)
    return _done(args, reading, outline.context, results, dearest, certificates, at)


def _shown(args: argparse.Namespace, reading: Reading) -> Kernel:
    """The kernel by the name that it is shown with."""
    return replace(reading.kernel, name=args.shown or reading.kernel.name)


def _results(
    args: argparse.Namespace,
    name: str,
    outline: Outline,
    metrics: Sequence[Metric],
    hinted: str | None,
    oracle: Oracles,
) -> list[Result]:
    """The bounds that are found, while a terminal shows which; warns of sharper ones that rest on a solver's word."""
    from checker.report.bounds import sharper
    from checker.synthesis.bound import find_bounds

    with working(f"{name}: reading") as now:
        results = find_bounds(
            outline,
            metrics,
            oracle,
            hinted,
            args.search,
            args.per,
            lambda metric: now(f"{name}: {metric}"),
            backed="solver-backed" in args.accept,
        )
        results = [with_hints(outline, r, oracle, args) if hinted in (None, r.metric.name) else r for r in results]
    for told in chain.from_iterable(sharper(result, name) for result in results):
        print(f"{args.file}: warning: {told}", file=sys.stderr)
    return results


def _warn_of_widths(args: argparse.Namespace, reading: Reading, at: Mapping[str, int]) -> None:
    """Warns of values of --at that no variable of the source's type has."""
    for name, t in reading.types.scalars.items():
        if name in at and not t.low <= at[name] <= t.high:
            told = f"'{name}' has {t.bits} bits, and is at most {t.high}: no launch has this value of the formula"
            print(f"{args.file}: warning: --at {name}={at[name]:.3e}: {told}", file=sys.stderr)


def _warn_of_bounds(
    args: argparse.Namespace, reading: Reading, context: Context, results: Sequence[Result], oracle: Oracles
) -> None:
    """Warns of what was assumed in vain, and of accesses that may be out of bounds."""
    from checker.analysis.places import outside

    for text in in_vain(proved(results), reading, oracle):
        print(f"{args.file}: warning: {text}", file=sys.stderr)
    for (loc, access), told in outside(results, context, reading.kernel, oracle).items():
        where = loc if loc and loc.file else args.file
        print(f"{where}: warning: {access} may be out of bounds: {told}", file=sys.stderr)


def _done(
    args: argparse.Namespace,
    reading: Reading,
    context: Context,
    results: list[Result],
    dearest: Sequence[Witness | None],
    certificates: Sequence[str | None],
    at: dict[str, int],
) -> Done:
    """The outcome of a kernel, in every format."""
    from checker.certificates.claims import shown
    from checker.cli.explained import gaps, shares, source_of
    from checker.report import bounds as report
    from checker.report.kernels import Done
    from checker.report.lines import gaps_text, with_gaps

    kernel, notes = _shown(args, reading), reading.notes
    again = [command_again(args, result.metric, found) for result, found in zip(results, dearest, strict=True)]
    lines = []
    spent = gaps(results, dearest, at) if args.tight else [None] * len(results)
    for r, found, words, parts in zip(results, dearest, again, spent, strict=True):
        lines += report.witness_text(r.metric.name, found, words, at) if args.tight and r.claim else []
        if parts is not None and found is not None and not found.exact:
            lines += ["", *(f"      {line}" for line in gaps_text(parts, *source_of(reading.kernel))), ""]
    rows = [
        report.as_json(kernel, context, r, args.per, at, notes, certificate)
        for r, certificate in zip(results, certificates, strict=True)
    ]
    if args.tight:
        rows = [report.with_witness(*parts) for parts in zip(rows, dearest, again, strict=True)]
        rows = [with_gaps(*parts) for parts in zip(rows, spent, strict=True)]
    text = report.as_text(kernel, context, results, at, args.explain, args.per)
    taken = shares(reading.kernel, results, dearest, at) if args.explain else ""
    text += f"\n\n{taken}" if taken else ""
    if lines:
        lines = ["", "Dearest runs found:", *lines]
    for result, found, words in zip(results, dearest, again, strict=True):
        if result.verdict == "refuted" and result.claim is not None and found is not None:
            alarm(f"{kernel.name} {result.metric.name}", f"{shown(result.claim)}", words)
    page = report.as_page(kernel, context, results, at, notes, args.explain, lines[2:], args.accept, args.per, taken)
    return Done(kernel.name, rows, text, "\n".join(lines), page, report.exit_code(results, args.accept))


def _check_options(args: argparse.Namespace, metrics: Sequence[Metric], kernels: int) -> None:
    """Raises OptionProblem for options that do not go together."""
    if args.scope == "block" and args.per != "warp":
        raise OptionProblem(
            f"--scope block bounds a span, which --per {args.per} cannot sum", advice="Leave out --per."
        )
    if args.tight and args.scope == "block":
        raise OptionProblem("--tight is for costs of warps, not for a span", advice="Leave out --scope block.")
    if args.certificate and max(len(metrics), kernels) > 1 and args.certificate.endswith(".json"):
        told = "Name one: --kernel NAME --metric sectors; or give a folder for all of them."
        raise OptionProblem(f"--certificate {args.certificate} is for one bound", advice=told)
    if args.certificate and max(len(metrics), kernels) > 1 and Path(args.certificate).is_file():
        told = "There are several bounds: choose a folder for their certificates."
        raise OptionProblem(f"--certificate {args.certificate}: Not a directory", advice=told)


def _read(args: argparse.Namespace, metrics: Sequence[Metric]) -> Reading:
    """The kernel; what cannot be read is a verdict in JSON, too. Raises SourceError."""
    import json

    from checker.report import bounds as report
    from semantics.cuda import Unsupported

    try:
        return read_kernel(args, settle=False)
    except Unsupported as problem:
        if args.format == "json":
            rows = [
                report.unsupported(args.kernel, metric, "span" if args.scope == "block" else args.per, problem)
                for metric in metrics
            ]
            emit(versioned(json.dumps({"results": rows}, indent=2)), args.output)
            problem.told = True
        raise


def _certificates(
    results: Sequence[Result], path: str | None, name: str, several: bool, made: Origin
) -> list[str | None]:
    """Writes the certificates of bounds and returns their digests; None where there is no bound to certify. Those of
    several bounds go to a folder."""
    if path is None:
        return [None] * len(results)
    if len(results) == 1 and not several and not Path(path).is_dir():
        return [_write_certificate(results[0], path, made)]
    Path(path).mkdir(parents=True, exist_ok=True)
    paths = (str(Path(path) / f"{file_name(name)}-{r.metric.name}.json") for r in results)
    return [_write_certificate(r, to, made) for r, to in zip(results, paths, strict=True)]


def _write_certificate(result: Result, path: str, made: Origin) -> str | None:
    """Writes the certificate of a bound and returns its digest; None where there is no bound to certify. One that the
    second checker refuses is written, too, for those who look for the fault."""
    from checker.certificates.document import canonical

    document = certificate_of(result, made)
    if document is None:
        return None
    emit(canonical(document), path, "--certificate")
    return str(document["digest"]) if result.claim else None
