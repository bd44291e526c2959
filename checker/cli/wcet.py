"""`warpbound wcet`: how many cycles a program or a kernel takes at most on the mini-SIMT machine."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from checker.cli.assumed import check_assumptions, launch_of
from checker.cli.machine import (
    SUFFIX,
    add_machine_options,
    kernel_title,
    program_title,
    read_program,
    read_values,
    refuse_kernel_options,
    refuse_program_options,
)
from checker.cli.options import (
    add_accept_option,
    add_output_options,
    add_reading_options,
    annotated,
    as_declared,
    evaluated_grid,
    for_run,
    known_sizes,
    parse_bindings,
    read_kernel,
    tell,
)
from checker.cli.points import add_point_option, point
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from checker.analysis.wcet.estimate import Job
    from checker.cli.options import Sizes
    from checker.notation.annotations import Annotations
    from logic.syntax import Kernel
    from semantics.values import Value

MOST_CYCLES = 200_000
"""The machine is run for launches that are estimated to take no more."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "wcet",
        help="bound the cycles of a program or a kernel on the mini-SIMT machine",
        description="Bounds the cycles that a mini-SIMT program, or a kernel compiled to one, takes on the machine "
        "that `warpbound machine` runs, whatever memory holds; beside it the cycles of one run. Exit code 1: no bound "
        "was found, or a barrier may wait for ever; 3: in the run one does.",
    )
    kernel = add_machine_options(parser, "a global array in the machine's run, as for `run`; the bound holds for all")
    parser.add_argument(
        "--mode",
        choices=("sound", "paper"),
        default="sound",
        help="a bound, or the estimate of Hirvisalo (2014), which is none (default: %(default)s)",
    )
    add_point_option(parser, "values of parameters: --at w=256,h=256")
    kernel.add_argument(
        "--assume", action="append", default=[], metavar="EXPR", help='a fact about parameters: --assume "w %% 8 == 0"'
    )
    add_accept_option(parser)
    add_reading_options(parser)
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0; 1 where no bound is found, where it rests on a solver's word (save with --accept), or where it is not proved
    that all barriers let go; 3 where the machine's run stops at one. Raises SourceError for unusable input."""
    import json

    from checker.analysis.wcet.estimate import estimate
    from checker.analysis.wcet.lanes import Unbounded
    from checker.report import timing
    from checker.report.page import Fault, Page, Section
    from checker.report.terminal import render_error
    from logic.source import SourceError
    from semantics.machine.trace import Deadlock

    texts = parse_bindings(args.args, "--arg")
    for name, n in point(args.at).items():
        if texts.setdefault(name, str(n)) != str(n):
            raise OptionProblem(f"--at {name}={n}: --arg gives it another value", advice="Leave one of the two out.")
    job, machine, title = _program(args, texts) if args.file.endswith(SUFFIX) else _kernel(args, texts)
    try:
        found = estimate(job, args.mode)
    except Unbounded as problem:
        told = render_error(SourceError(problem.message, problem.loc, problem.advice))
        print(told, file=sys.stderr)
        nothing = {"estimate": None, "mode": args.mode, "machine": None, "work_span": None}
        faults = [Fault("not-proved", problem.message, problem.loc or args.file)]
        tell(args, None, lambda: json.dumps(nothing, indent=2), lambda: Page(title, [Section(fixed=told)], faults))
        return 1
    faults = [] if found.ends else [Fault("not-proved", f"not proved: {timing.ENDS}", args.file)]
    if found.evidence == "solver-backed" and not args.accept:
        told = f"{title}: the bound rests on the word of {', '.join(found.engines)}"
        faults.append(Fault("solver-backed", told, args.file))
    cycles, code = None, int(bool(faults))
    if not job.missing and found.cycles is not None and found.cycles <= MOST_CYCLES:
        try:
            cycles = machine()
        except Deadlock as problem:
            print(render_error(problem), file=sys.stderr)
            faults, stopped = [Fault("deadlock", problem.message, problem.loc or args.file)], problem
            tell(
                args,
                lambda: timing.stopped_text(title, stopped),
                lambda: json.dumps(timing.stopped(found, stopped), indent=2),
                lambda: Page(title, [Section(text=stopped.message)], faults),
            )
            return 3
        except SourceError as problem:  # the bound holds for what ends; this run does not
            told = f"{problem.message}. {problem.advice}" if problem.advice else problem.message
            print(f"note: the machine does not run it: {told}", file=sys.stderr)
    tell(
        args,
        lambda: timing.as_text(job, found, cycles, title),
        lambda: json.dumps(timing.as_json(job, found, cycles), indent=2),
        lambda: replace(timing.as_page(job, found, cycles, title), faults=faults),
    )
    return code


def _program(args: argparse.Namespace, texts: dict[str, str]) -> tuple[Job, Callable[[], int], str]:
    """The job of a mini-SIMT program, its run, and a heading. Raises SourceError."""
    from checker.analysis.wcet.estimate import program_job
    from semantics.machine.launch import Launch
    from semantics.machine.simulate import run

    refuse_kernel_options(args, "assume")
    threads = args.warp_size if args.threads is None else args.threads
    launch = Launch(threads, args.warp_size, args.latency)
    p = read_program(args.file)
    values = read_values([f"{name}={text}" for name, text in texts.items()])
    job = program_job(p, values, launch, "program")

    def machine() -> int:
        return run(p, replace(launch, params=values)).cycles

    return job, machine, program_title(args, launch)


def _formula_grid(hints: Annotations, kernel: Kernel, values: Mapping[str, Value]) -> Sizes:
    """The grid that the source's launch gives by formulas; one block where it does not. Raises OptionProblem."""
    from logic.formulas import names

    missing = sorted(frozenset().union(*map(names, hints.formulas or ())) - values.keys())
    if missing:
        told = f"the grid of the launch in the source depends on '{missing[0]}', which has no value"
        raise OptionProblem(told, kernel.loc, f"Give one: --at {missing[0]}=VALUE. Or give the grid: --grid 1.")
    return evaluated_grid(hints.formulas, kernel, values)


def _kernel(args: argparse.Namespace, texts: dict[str, str]) -> tuple[Job, Callable[[], int], str]:
    """The job of a kernel, its run, and a heading. Raises SourceError."""
    from checker.analysis.wcet import sound
    from checker.analysis.wcet.estimate import kernel_job
    from checker.certificates.claims import excluded_in_run
    from checker.cli.data import read_args, read_arrays
    from checker.oracles import Oracles
    from checker.synthesis.outline import Outline
    from logic.assertions import Context, conj
    from logic.metrics import HARDWARE
    from logic.typing import check_kernel
    from semantics.grid import check_launch
    from semantics.machine.blocks import run_kernel
    from semantics.machine.launch import Launch

    refuse_program_options(args)
    Launch(1, args.warp_size, args.latency)
    reading = read_kernel(args)
    kernel = reading.kernel
    sigma = check_kernel(kernel)
    hints = annotated(args, kernel)
    values = as_declared(reading, read_args(kernel, texts))
    grid = None if args.grid else hints.grid or _formula_grid(hints, kernel, values)
    launch = launch_of(args, kernel, hints.block or reading.block, grid)
    launch = replace(launch, assumptions=conj((*hints.assumptions, *launch.assumptions), sigma))
    block, blocks = known_sizes(launch.block), known_sizes(launch.grid) or (1, 1, 1)
    if block is None:
        raise OptionProblem("the size of a block is not known", kernel.loc, "Give it: --block 256.")
    check_launch(block, blocks)
    kernel = for_run(reading, values, block, blocks).kernel
    hints = annotated(args, kernel)
    if hints.kernel != kernel:
        raise OptionProblem(
            "what is assumed inside a kernel is not for wcet", kernel.loc, "Leave //@ assume out of the kernel's body."
        )
    context = Context(
        sigma, sound.COMPILED.issued, replace(HARDWARE["nvidia"], name="mini-SIMT", warp=args.warp_size), launch
    )
    arrays = read_arrays(kernel, parse_bindings(args.arrays, "--array"))
    processors = 1 if args.processors is None else args.processors
    job = kernel_job(Outline(kernel, context, hints.body), block, blocks, values, args.latency, processors)
    check_assumptions(context, Oracles())
    at = {name: int(v) for name, v in job.at.items() if not isinstance(v, float)}
    if (fact := excluded_in_run(at, block, blocks, context)) is not None:
        raise OptionProblem(f"{fact} is assumed, and does not hold there", advice="Choose another point.")

    def machine() -> int:
        return run_kernel(kernel, block, blocks, values, arrays, args.warp_size, args.latency, processors).cycles

    return job, machine, kernel_title(args, kernel.name, block, blocks)
