"""`warpbound compiled`: what a compiler makes of a kernel's accesses, and whether bounds of the source cover it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from checker.cli.assumed import add_launch_options
from checker.cli.bounded import outlined
from checker.cli.options import (
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
    read_text,
    required,
    run_sizes,
    tell,
)
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.analysis.compiled.compare import Launched
    from checker.analysis.nvcc import Machine
    from checker.cli.options import Sizes
    from checker.report.compiled import Compared
    from checker.synthesis.bound import Result
    from checker.synthesis.outline import Outline
    from logic.metrics import Hardware, Metric
    from semantics.cuda import Reading
    from semantics.ptx.program import Module

METRICS: Final = ("sectors", "conflicts", "divwarps")
"""The metrics that compiled code can be counted in: its steps are others than those of the source."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "compiled",
        help="compare a source's bounds and runs with what nvcc makes of it",
        description="Compiles a kernel with nvcc, runs the PTX warp by warp on a launch, and says for every access of "
        "the source which instructions it became, and what it costs by the certified bound, in a run of the source, "
        "and in the compiled code. Exit code 4: some warp of the compiled code needs more than is certified of the "
        "source; 3: the two runs leave different integers behind, or the source needs more; 1: no certified bound.",
    )
    add_source_options(parser)
    add_launch_options(parser)
    parser.add_argument(
        "--arch", metavar="sm_NN", default="sm_90", help="the architecture to compile for (default: %(default)s)"
    )
    parser.add_argument("--nvcc", metavar="PATH", help="the compiler (default: WARPBOUND_NVCC, else the first on PATH)")
    parser.add_argument("--ptx", metavar="FILE.ptx", help="what it made, instead of compiling")
    parser.add_argument(
        "--fmad", choices=("true", "false"), default="true", help="nvcc's option of this name (default: %(default)s)"
    )
    add_data_options(
        parser,
        "a parameter's value, as in `run`",
        "a global array before the run, as in `run`",
    )
    parser.add_argument(
        "--metric",
        dest="metrics",
        action="append",
        default=[],
        metavar="NAME|all",
        help=f"{', '.join(METRICS)} (default: all of them)",
    )
    parser.add_argument("--hardware", metavar="NAME|FILE.toml", default="nvidia", help="(default: %(default)s)")
    add_output_options(parser)
    parser.set_defaults(func=run, scope="warp", shown=None)


def run(args: argparse.Namespace) -> int:
    """Prints the comparison; `Compared.code`. Raises SourceError for unusable input."""
    import json

    from checker.report import compiled as report

    found = compared(args)
    tell(
        args,
        lambda: report.as_text(found),
        lambda: json.dumps(report.as_json(found), indent=2),
        lambda: report.as_page(found),
    )
    for rule, text in report.problems(found):
        if rule == "refuted":
            sys.stderr.write(f"warpbound: {text}\n  Either the source has a data race, or warpbound is at fault.\n")
    return found.code


def compared(args: argparse.Namespace) -> Compared:
    """The comparison that the options describe. Raises SourceError."""
    return against(job(args), args)


@dataclass(frozen=True, slots=True)
class Job:
    """A kernel that was run on a launch, with its bounds there, whatever it is compiled for."""

    launched: Launched
    results: Sequence[Result]
    outline: Outline
    notes: tuple[str, ...]

    @property
    def at(self) -> dict[str, int]:
        """The point of the launch: its integers, and the sizes of its grid."""
        sizes = dict(zip(("gridDim.x", "gridDim.y", "gridDim.z"), self.launched.blocks, strict=True))
        return {name: int(v) for name, v in self.launched.values.items() if isinstance(v, int)} | sizes


def job(args: argparse.Namespace) -> Job:
    """The kernel, the launch and the bounds that the options describe. Raises SourceError."""
    from checker.analysis.compiled.compare import run_source
    from checker.analysis.compiled.launch import check_passed
    from checker.certificates.claims import excluded_in_run, with_facts
    from checker.cli.data import check_data, declared, read_args, read_arrays, tested

    metrics, hardware = _metrics(args), parse_hardware(args.hardware)
    _check_arch(args)
    reading = read_kernel(args)
    check_passed(reading.kernel, reading.passed, reading.fields)
    given_args, given_arrays = parse_bindings(args.args, "--arg"), parse_bindings(args.arrays, "--array")
    values = as_declared(reading, read_args(reading.kernel, given_args))
    block, blocks = run_sizes(args, reading, values)
    arrays = declared(reading.kernel, reading.tables) | read_arrays(reading.kernel, given_arrays)
    rows = [(c, tested(c, values, arrays)) for c in required(args, reading)]
    check_data(rows)
    kept = [c for c, row in rows if row["verdict"] == "kept"]
    own = for_run(reading, values, block, blocks, kept, hardware.warp)
    results, outline, read = _bounds(args, reading, metrics, hardware, block)
    kernel = assuming(args, own.kernel)
    launched = run_source(kernel, reading.passed, reading.fields, block, blocks, values, arrays, metrics, hardware)
    numbers = {name: min(t.bits for t in own) // 8 for name, own in reading.types.arrays.items()}
    found = Job(replace(launched, symbol=reading.symbol, numbers=numbers), results, outline, read.notes)
    if fact := excluded_in_run(found.at, block, blocks, with_facts(outline.context, read.facts)):
        raise OptionProblem(f"{fact} is assumed, and does not hold in this launch", advice="Choose another one.")
    return found


def against(j: Job, args: argparse.Namespace) -> Compared:
    """A job beside the code that it is compiled to. Raises SourceError."""
    from checker.analysis.compiled.compare import certified, rows, run_both, wholes
    from checker.analysis.places import counts
    from checker.report.compiled import Compared

    module, compiler, code = _module(args, args.fmad)
    both = run_both(module, j.launched)
    sure = [r for r in j.results if r.verdict == "certified"]
    known = certified(both, counts(sure, j.outline.context, j.outline.kernel))
    contracted = None
    if args.ptx is None and args.fmad == "true" and any(not d.exact for d in both.differences) and not both.collided:
        contracted = not run_both(_module(args, "false")[0], j.launched).differences
    return Compared(
        args.file,
        module.target,
        compiler,
        j.launched.block,
        j.launched.blocks,
        both,
        rows(both, known),
        wholes(both, j.results, j.at, j.launched.prepared()),
        contracted,
        code.get(both.function.name),
        [
            f"arrays start at multiples of {j.launched.hardware.alignment} bytes",
            "lanes that part rejoin at the immediate post-dominator",
            *j.notes,
        ],
    )


def _check_arch(args: argparse.Namespace) -> None:
    """Raises SourceError where nothing can be compiled: before any work is done."""
    from checker.analysis.nvcc import find_nvcc

    if args.ptx is None:
        if not re.fullmatch(r"(sm|compute)_\d+[af]?", args.arch):
            raise OptionProblem(f"--arch {args.arch}: no architecture", advice="Write it like --arch sm_90.")
        find_nvcc(args.nvcc)


def _module(args: argparse.Namespace, fmad: str) -> tuple[Module, str, Mapping[str, Machine]]:
    """The compiled code; the compiler's version, "" where the code is given; what machine code needs, by kernels.
    Raises SourceError."""
    from checker.analysis import nvcc
    from checker.notation.ptx import read_ptx

    if args.ptx is not None:
        return read_ptx(read_text(args.ptx, "Give what nvcc -ptx -lineinfo makes."), args.ptx), "", {}
    compiler = nvcc.find_nvcc(args.nvcc)
    words = [f"-I{Path(folder).resolve()}" for folder in args.includes] + [f"-D{macro}" for macro in args.defines]
    text = nvcc.compile_ptx(compiler, args.file, args.arch, [*words, f"-std={args.std}", f"-fmad={fmad}"])
    module = read_ptx(text, f"{Path(args.file).stem}.ptx")
    return module, nvcc.version(compiler), nvcc.machine_code(compiler, text, args.arch)


def _bounds(
    args: argparse.Namespace, reading: Reading, metrics: Sequence[Metric], hardware: Hardware, block: Sizes
) -> tuple[list[Result], Outline, Reading]:
    """Bounds for blocks of this size, the program that they are of, and the kernel as read for it. Raises
    SourceError."""
    from checker.oracles import Oracles
    from checker.synthesis.bound import find_bounds

    oracle = Oracles()
    sized = argparse.Namespace(**{**vars(args), "block": ",".join(map(str, block))})
    outline, hinted, reading = outlined(sized, reading, metrics[0], hardware, oracle)
    return find_bounds(outline, metrics, oracle, hinted), outline, reading


def _metrics(args: argparse.Namespace) -> tuple[Metric, ...]:
    wanted = [m for m in args.metrics if m != "all"] or list(METRICS)
    for name in wanted:
        if name not in METRICS:
            told = f"--metric {name}: compiled code is not counted in it"
            raise OptionProblem(told, advice=f"It is in {', '.join(METRICS)}.")
    return parse_metrics(wanted)
