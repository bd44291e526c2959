"""`warpbound wcet`: how many cycles a program or a kernel takes at most on the mini-SIMT machine."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from checker.cli.bound import check_assumptions, launch_of, point
from checker.cli.machine import SUFFIX, read_program, read_values
from checker.cli.options import (
    OptionProblem,
    add_output_options,
    add_reading_options,
    emit,
    parse_bindings,
    parse_dim,
    source_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.analysis.wcet.estimate import Job
    from logic.assertions import Context

MOST_CYCLES = 200_000
"""The machine is run for launches that are estimated to take no more."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "wcet",
        help="bound the cycles of a program or a kernel on the mini-SIMT machine",
        description="Bounds the cycles that a mini-SIMT program, or a kernel compiled to one, takes on the machine "
        "that `warpbound machine` runs, whatever memory holds; beside it the cycles of one run. Exit code 1: no bound "
        "was found.",
    )
    parser.add_argument("file", metavar="FILE", help=f"a program ({SUFFIX}), or a CUDA source")
    parser.add_argument("--threads", type=int, metavar="N", help=f"{SUFFIX}: threads (default: one warp)")
    parser.add_argument(
        "--warp-size", type=int, default=32, metavar="N", help="threads of a warp (default: %(default)s)"
    )
    parser.add_argument(
        "--latency",
        type=int,
        default=10,
        metavar="N",
        help="cycles from a load to its warp's next instruction (default: %(default)s)",
    )
    parser.add_argument(
        "--mode",
        choices=("sound", "paper"),
        default="sound",
        help="a bound, or the estimate of Hirvisalo (2014), which is none (default: %(default)s)",
    )
    parser.add_argument("--at", default="", metavar="NAME=N,...", help="values of parameters: --at w=256,h=256")
    parser.add_argument(
        "--arg", dest="args", action="append", default=[], metavar="NAME=VALUE", help="a parameter's value"
    )
    kernel = parser.add_argument_group("kernels")
    kernel.add_argument("--block", metavar="X[,Y[,Z]]", help="threads in a block (default: the file's)")
    kernel.add_argument("--grid", metavar="X[,Y[,Z]]", help="blocks in the grid (default: 1)")
    kernel.add_argument(
        "--array",
        dest="arrays",
        action="append",
        default=[],
        metavar="NAME=WHAT",
        help="a global array in the machine's run, as for `run`; the bound holds for all",
    )
    kernel.add_argument(
        "--processors", type=int, metavar="N", help="machines, each with one block at a time (default: 1)"
    )
    kernel.add_argument(
        "--assume", action="append", default=[], metavar="EXPR", help='a fact about parameters: --assume "w %% 8 == 0"'
    )
    add_reading_options(parser)
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0, or 1 where no bound is found. Raises SourceError for unusable input."""
    import json

    from checker.analysis.wcet.estimate import estimate
    from checker.analysis.wcet.lanes import Unbounded
    from checker.report import timing
    from checker.report.terminal import render_error
    from logic.source import SourceError

    texts = parse_bindings(args.args, "--arg")
    for name, n in point(args.at).items():
        if texts.setdefault(name, str(n)) != str(n):
            raise OptionProblem(f"--at {name}={n}: --arg gives it another value", advice="Leave one of the two out.")
    job, machine, title = _program(args, texts) if args.file.endswith(SUFFIX) else _kernel(args, texts)
    try:
        found = estimate(job, args.mode)
    except Unbounded as problem:
        print(render_error(SourceError(problem.message, problem.loc, problem.advice)), file=sys.stderr)
        if args.format == "json":
            emit(json.dumps({"estimate": None, "mode": args.mode, "machine": None, "work_span": None}), args.output)
        return 1
    cycles = None
    if not job.missing and found.cycles is not None and found.cycles <= MOST_CYCLES:
        try:
            cycles = machine()
        except SourceError as problem:  # the bound holds for what ends; this run does not
            print(f"note: the machine does not run it: {problem.message}", file=sys.stderr)
    if args.format == "json":
        emit(json.dumps(timing.as_json(job, found, cycles)), args.output)
    else:
        emit(timing.as_text(job, found, cycles, title), args.output)
    return 0


def _program(args: argparse.Namespace, texts: dict[str, str]) -> tuple[Job, Callable[[], int], str]:
    """The job of a mini-SIMT program, its run, and a heading. Raises SourceError."""
    from checker.analysis.wcet.estimate import program_job
    from semantics.machine.launch import Launch
    from semantics.machine.simulate import run

    given = ("block", "grid", "processors", "arrays", "assume", "kernel", "instantiate", "includes", "defines")
    for option in given:
        if getattr(args, option):
            told = {"arrays": "--array", "includes": "-I", "defines": "-D"}.get(option, f"--{option}")
            raise OptionProblem(f"{told} is for kernels, {args.file} is a program", advice="Leave it out.")
    threads = args.warp_size if args.threads is None else args.threads
    launch = Launch(threads, args.warp_size, args.latency)
    p = read_program(args.file)
    values = read_values([f"{name}={text}" for name, text in texts.items()])
    job = program_job(p, values, launch, "program")

    def machine() -> int:
        return run(p, replace(launch, params=values)).cycles

    return job, machine, f"{args.file}: {_many(threads, 'thread')} in {_many(launch.warps, 'warp')}, {_latency(args)}"


def _kernel(args: argparse.Namespace, texts: dict[str, str]) -> tuple[Job, Callable[[], int], str]:
    """The job of a kernel, its run, and a heading. Raises SourceError."""
    from checker.analysis.wcet import sound
    from checker.analysis.wcet.estimate import kernel_job
    from checker.cli.run import read_args, read_arrays
    from checker.notation import read_annotations
    from checker.oracles import Oracles
    from checker.outline import Outline
    from checker.report import bounds as report
    from logic.assertions import Context, conj
    from logic.metrics import HARDWARE
    from logic.typing import check_kernel
    from semantics.cuda import read_cuda
    from semantics.grid import check_launch
    from semantics.machine.blocks import run_kernel
    from semantics.machine.launch import Launch

    if args.threads is not None:
        advice = f"Give --block, or a program ({SUFFIX})."
        raise OptionProblem(f"--threads is for programs, {args.file} is no {SUFFIX} file", advice=advice)
    Launch(1, args.warp_size, args.latency)
    reading = read_cuda(args.file, args.kernel, tuple(args.includes), tuple(args.defines), args.std, args.instantiate)
    kernel = reading.kernel
    sigma = check_kernel(kernel)
    hints = read_annotations(kernel, source_text(args.file), sigma)
    launch = launch_of(args, kernel, hints.block or reading.block, parse_dim(args.grid or "1", "--grid"))
    launch = replace(launch, assumptions=conj((*hints.assumptions, *launch.assumptions), sigma))
    x, y, z = launch.block
    if x is None or y is None or z is None:
        raise OptionProblem("the size of a block is not known", kernel.loc, "Give it: --block 256.")
    i, j, k = (n or 1 for n in launch.grid)
    block, blocks = (x, y, z), (i, j, k)
    check_launch(block, blocks)
    context = Context(sigma, sound.COMPILED.issued, replace(HARDWARE["nvidia"], warp=args.warp_size), launch)
    names = {d.name for d in kernel.params}
    for name in texts:
        if name not in names:
            raise OptionProblem(f"'{name}' is no parameter of {kernel.name}", advice=report.parameters(kernel))
    values = read_args(kernel, texts)
    arrays = read_arrays(kernel, parse_bindings(args.arrays, "--array"))
    known = [a.name for a in kernel.arrays if a.space == "global"]
    for name in arrays:
        if name not in known:
            told = f"It has: {', '.join(known)}." if known else "It has none."
            raise OptionProblem(f"--array {name}: {kernel.name} has no such global array", advice=told)
    processors = 1 if args.processors is None else args.processors
    job = kernel_job(Outline(kernel, context, hints.body), block, blocks, values, args.latency, processors)
    check_assumptions(context, Oracles())
    _check_point(job, context)

    def machine() -> int:
        return run_kernel(kernel, block, blocks, values, arrays, args.warp_size, args.latency, processors).cycles

    shape = f"{_many(job.number, 'block')} of {_many(job.threads, 'thread')}"
    warps = f"in {_many(-(-job.threads // args.warp_size), 'warp')}"
    where = f" on {_many(processors, 'processor')}" if args.processors else ""
    return job, machine, f"{kernel.name}: {shape} {warps}{where}, {_latency(args)}"


def _check_point(job: Job, context: Context) -> None:
    """Raises OptionProblem where an assumption is false at the parameters' values for one of the blocks."""
    from checker.report.bounds import excluded

    at = {name: int(v) for name, v in job.at.items() if not isinstance(v, float)}
    for index in job.indices():
        at |= {f"blockIdx.{axis}": n for axis, n in zip("xyz", index, strict=True)}
        broken = excluded(at, context)
        if broken is not None:
            raise OptionProblem(f"{broken} is assumed, and does not hold there", advice="Choose another point.")


def _latency(args: argparse.Namespace) -> str:
    return f"latency {args.latency}"


def _many(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
