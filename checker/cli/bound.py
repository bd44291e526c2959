"""`warpbound bound`: synthesise a bound for a kernel, let the checker judge it, print it."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from checker.cli.options import (
    OptionProblem,
    add_output_options,
    add_source_options,
    emit,
    parse_bindings,
    parse_dim,
    parse_hardware,
    parse_metrics,
    source_text,
)

if TYPE_CHECKING:
    from checker.bound import Result
    from logic.assertions import Dim, Launch
    from logic.syntax import Kernel


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "bound",
        help="find a bound on a kernel's cost and certify it",
        description="Finds a symbolic upper bound on what a warp of the kernel costs, and has its derivation checked.",
    )
    add_source_options(parser)
    add_launch_options(parser)
    parser.add_argument(
        "--metric", dest="metrics", action="append", default=[], metavar="NAME|all", help="(default: all)"
    )
    parser.add_argument("--hardware", metavar="NAME", default="nvidia", help="(default: %(default)s)")
    parser.add_argument("--per", choices=("warp", "block", "grid"), default="warp", help="(default: %(default)s)")
    parser.add_argument("--scope", choices=("warp", "block"), default="warp", help="(default: %(default)s)")
    parser.add_argument(
        "--search", choices=("lp", "smt"), default="lp", help="what solves for loop potentials (default: %(default)s)"
    )
    parser.add_argument("--at", default="", metavar="NAME=N,...", help="evaluate the bound there: --at w=256,h=256")
    parser.add_argument("--explain", action="store_true", help="say what the bound rests on: accesses, loops, branches")
    parser.add_argument("--certificate", metavar="OUT.json", help="write what proves the bound (one metric)")
    add_output_options(parser)
    parser.set_defaults(func=run)


def add_launch_options(parser: argparse.ArgumentParser) -> None:
    """--block, --grid, --assume."""
    parser.add_argument("--block", metavar="X[,Y[,Z]]", help="threads in a block (default: the file's, else symbolic)")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="blocks in the grid (default: symbolic)")
    parser.add_argument(
        "--assume", action="append", default=[], metavar="EXPR", help='a fact about parameters: --assume "w %% 8 == 0"'
    )


def launch_of(args: argparse.Namespace, kernel: Kernel, block: Dim | None, grid: Dim | None) -> Launch:
    """The launch that the options describe. Raises SourceError."""
    from checker.notation import parse_assumption
    from logic.assertions import MAX_BLOCK, Launch, conj
    from logic.source import SourceError
    from logic.typing import signature

    sigma = signature(kernel)
    facts = []
    for text in args.assume:
        try:
            facts.append(parse_assumption(text, sigma, "--assume"))
        except SourceError as error:
            error.source = text
            raise
    if args.block:
        block = parse_dim(args.block, "--block")
    if block and None not in block and (block[0] or 1) * (block[1] or 1) * (block[2] or 1) > MAX_BLOCK:
        raise OptionProblem(
            f"--block {args.block}: more than {MAX_BLOCK} threads", advice="CUDA allows no more in a block."
        )
    if args.grid:
        grid = parse_dim(args.grid, "--grid")
    return Launch(block or (None, None, None), grid or (None, None, None), conj(facts, sigma))


def run(args: argparse.Namespace) -> int:
    """Bounds every metric; the worst exit code of them. Raises SourceError for unusable input."""
    import json

    metrics, hardware, at = parse_metrics(args.metrics), parse_hardware(args.hardware), _point(args.at)
    if args.scope == "block":
        raise OptionProblem("--scope block: not yet supported", advice="Use --scope warp.")
    if args.certificate and len(metrics) != 1:
        raise OptionProblem("--certificate is for one bound", advice="Name one metric: --metric sectors.")
    if args.per != "warp":
        raise OptionProblem(f"--per {args.per}: not yet supported", advice="Use --per warp.")

    from checker.bound import find_bounds
    from checker.notation import read_annotations
    from checker.oracles import Oracles
    from checker.outline import Outline
    from checker.report import bounds as report
    from logic.assertions import Context, Entails, Proved, conj, show_p
    from logic.syntax import FALSE
    from logic.typing import check_kernel
    from semantics.cuda import read_cuda

    reading = read_cuda(args.file, args.kernel, tuple(args.includes), tuple(args.defines), args.std, args.instantiate)
    kernel = reading.kernel
    sigma = check_kernel(kernel)
    hints = read_annotations(kernel, source_text(args.file), sigma)
    launch = launch_of(args, kernel, hints.block or reading.block, hints.grid)
    launch = replace(launch, assumptions=conj((*hints.assumptions, *launch.assumptions), sigma))
    context = Context(sigma, metrics[0], hardware, launch, args.scope)
    unknown = sorted(at.keys() - context.sigma.params.keys())
    if unknown:
        raise OptionProblem(f"--at: '{unknown[0]}' is no parameter of {kernel.name}", advice=report.parameters(kernel))
    excluded = report.excluded(at, context)
    if excluded is not None:
        raise OptionProblem(f"--at: {excluded} is assumed, and does not hold there", advice="Choose another point.")
    oracle = Oracles()
    if launch.assumptions and isinstance(oracle(Entails((), (FALSE,)), context), Proved):
        given = show_p(launch.assumptions)
        raise OptionProblem(f"no launch satisfies what is assumed: {given}", advice="Anything would follow from it.")
    results = find_bounds(Outline(kernel, context, hints.body), metrics, oracle, hints.metric, args.search)
    certificate = _write_certificate(results[0], args.certificate) if args.certificate else None
    if args.format == "json":
        rows = [report.as_json(kernel, context, r, args.per, at, reading.notes, certificate) for r in results]
        emit(json.dumps({"results": rows}, indent=2), args.output)
    else:
        emit(report.as_text(kernel, context, results, at, reading.notes, args.explain), args.output)
    return max((report.EXIT[r.verdict] for r in results), key=(0, 1, 3, 2).index)


def _write_certificate(result: Result, path: str) -> str | None:
    """Writes the certificate of a bound and returns its digest; None where there is no bound to certify."""
    if result.claim is None or result.derivation is None:
        return None
    from importlib.metadata import version

    from checker import certificate
    from checker.cli import VERSION
    from checker.oracles.farkas import proof

    tools = {"warpbound": VERSION, **{name: version(name) for name in ("z3-solver", "cvc5", "highspy", "pysmt")}}
    document = certificate.write(result.claim, result.derivation, result.ledger, proof, tools)
    emit(certificate.canonical(document), path)
    return str(document["digest"])


def _point(text: str) -> dict[str, int]:
    """`w=256,h=-3` as numbers. Raises OptionProblem."""
    found = {}
    for name, value in parse_bindings([t for t in text.split(",") if t.strip()], "--at").items():
        if not re.fullmatch(r"[+-]?\d{1,99}", value, re.ASCII):
            raise OptionProblem(f"--at {name}={value}: not a whole number", advice="Write it like --at w=256,h=64.")
        found[name] = int(value)
    return found
