"""`warpbound machine`: a program or a kernel on the mini-SIMT machine, cycle by cycle."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from checker.cli.options import (
    add_output_options,
    add_reading_options,
    as_declared,
    emit,
    for_run,
    parse_bindings,
    read_kernel,
    run_sizes,
    tell,
)
from checker.notation.problem import OptionProblem
from checker.notation.words import many

if TYPE_CHECKING:
    from checker.report.page import Page
    from checker.report.trace import Trace
    from logic.source import Loc
    from semantics.machine.launch import Launch
    from semantics.machine.program import Program
    from semantics.machine.trace import Deadlock, Outside
    from semantics.values import Value

SUFFIX = ".simt"
_WORD = 2**64


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "machine",
        help="run a program or a kernel on the mini-SIMT machine, cycle by cycle",
        description="Runs a mini-SIMT program, or a kernel compiled to one, and prints the cycles that it takes and "
        "what memory holds afterwards. One instruction is issued a cycle, round robin over the ready warps; loads "
        "stall their warp. Exit code 3: a deadlock at a barrier.",
    )
    kernel = add_machine_options(parser, "a global array, as for `run`")
    parser.add_argument("--trace", action="store_true", help="print what happens in every cycle")
    parser.add_argument("--step-limit", type=int, metavar="N", help="instructions of a block (default: one million)")
    kernel.add_argument("--assembly", action="store_true", help="print the program that the kernel becomes, and stop")
    add_reading_options(parser)
    add_output_options(parser, "svg")
    parser.set_defaults(func=run)


def add_machine_options(parser: argparse.ArgumentParser, array: str) -> argparse._ArgumentGroup:
    """Adds the options that say what is run, and on which machine; `array` is the help of --array. Returns the group of
    options for kernels."""
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
        help="cycles from a load to its warp's next instruction, 1 for all others (default: %(default)s)",
    )
    parser.add_argument(
        "--arg", dest="args", action="append", default=[], metavar="NAME=VALUE", help="a parameter's value"
    )
    kernel = parser.add_argument_group("kernels")
    kernel.add_argument("--block", metavar="X[,Y[,Z]]", help="threads in a block (default: the file's)")
    kernel.add_argument(
        "--grid", metavar="X[,Y[,Z]]", help="blocks in the grid (default: the file's //@ launch, else 1)"
    )
    kernel.add_argument(
        "--processors", type=int, metavar="N", help="machines, each with one block at a time (default: 1)"
    )
    kernel.add_argument("--array", dest="arrays", action="append", default=[], metavar="NAME=WHAT", help=array)
    return kernel


@dataclass(frozen=True, slots=True)
class _Done:
    """A run that ended."""

    title: str
    cycles: int
    issued: int
    memory: dict[str, dict[int, Value]]
    """By array; a program has one, without a name."""
    warnings: tuple[tuple[Loc | None, str], ...]


def run(args: argparse.Namespace) -> int:
    """Runs the program or the kernel; 0, 1 for an access outside of what there is, or 3 for a deadlock. Raises
    SourceError for unusable input."""
    from checker.report.page import Fault
    from checker.report.trace import trace_json, trace_page, trace_text
    from semantics.machine.trace import Deadlock

    if args.step_limit is not None and args.step_limit < 1:
        raise OptionProblem(f"--step-limit {args.step_limit}: not a positive number", advice="Choose a larger one.")
    if args.format == "text" and args.output and Path(args.output).suffix in (".svg", ".html"):
        args.format = Path(args.output).suffix.removeprefix(".")
    traces: list[Trace] = []
    simt = args.file.endswith(SUFFIX)
    wanted = traces if args.trace or args.format in ("svg", "html") else None
    try:
        done = _program(args, wanted) if simt else _kernel(args, wanted)
    except Deadlock as refuted:
        _deadlock(args, refuted, traces)
        return 3
    if done is None:
        return 0
    for loc, warning in done.warnings:
        print(f"{loc or args.file}: warning: {warning}", file=sys.stderr)
    (trace,) = traces or (None,)

    def document() -> str:
        found: dict[str, object] = {"cycles": done.cycles, "trace": trace_json(trace, not simt) if trace else []}
        named = {name: {str(a): _number(v) for a, v in cells.items()} for name, cells in done.memory.items()}
        found |= {"issued": done.issued, "memory": named[""] if simt else named}
        return json.dumps(found, indent=2)

    told = "\n".join(_lines(done))

    def text() -> str:
        return (f"{trace_text(trace, not simt)}\n\n" if trace else "") + f"{done.title}\n{told}"

    def page() -> Page:
        found = trace_page(trace, done.title, told, not simt, args.format == "html")
        return replace(found, faults=[Fault("out-of-bounds", text, loc or args.file) for loc, text in done.warnings])

    _show(args, trace, done.title, text, document, page)
    return 1 if done.warnings else 0


def _deadlock(args: argparse.Namespace, refuted: Deadlock, traces: Sequence[Trace]) -> None:
    """Prints a deadlock, and how it came to it where that was kept."""
    from checker.report.page import Fault
    from checker.report.terminal import render_error
    from checker.report.trace import trace_json, trace_page, trace_text

    told, title, blocks = render_error(refuted), f"{args.file}: deadlock", not args.file.endswith(SUFFIX)
    print(told, file=sys.stderr)
    trace = traces[0] if traces else None

    def document() -> str:
        rows = trace_json(trace, blocks) if trace else []
        return json.dumps({"cycles": None, "trace": rows, "deadlock": _witness(refuted)}, indent=2)

    def page() -> Page:
        found = trace_page(trace, title, told, blocks, args.format == "html")
        return replace(found, faults=[Fault("deadlock", refuted.message, refuted.loc or args.file)])

    text = None if trace is None else lambda: f"{trace_text(trace, blocks)}\n\n{refuted.message}"
    _show(args, trace, title, text, document, page)


def _show(
    args: argparse.Namespace,
    trace: Trace | None,
    title: str,
    text: Callable[[], str] | None,
    document: Callable[[], str],
    page: Callable[[], Page],
) -> None:
    """Writes a run in the format asked for, which here may be a picture alone."""
    from checker.report.trace import trace_svg

    if args.format != "svg":
        tell(args, text, document, page)
    elif trace:
        emit(trace_svg(trace, title), args.output)


# --- what it is run on ------------------------------------------------------------------------------------------------

_SHARED = ("block", "grid", "processors", "arrays", "kernel", "instantiate", "includes", "defines")
_SPELT = {"arrays": "--array", "includes": "-I", "defines": "-D"}


def refuse_kernel_options(args: argparse.Namespace, *more: str) -> None:
    """Raises OptionProblem for an option that says nothing of a program."""
    for option in (*_SHARED, *more):
        if getattr(args, option):
            told = _SPELT.get(option, f"--{option}")
            raise OptionProblem(f"{told} is for kernels, {args.file} is a program", advice="Leave it out.")


def refuse_program_options(args: argparse.Namespace) -> None:
    """Raises OptionProblem for an option that says nothing of a kernel."""
    if args.threads is not None:
        advice = f"Give --block, or a program ({SUFFIX})."
        raise OptionProblem(f"--threads is for programs, {args.file} is no {SUFFIX} file", advice=advice)


def program_title(args: argparse.Namespace, launch: Launch) -> str:
    """A program and its launch, in a line."""
    shape = f"{many(launch.threads, 'thread')} in {many(launch.warps, 'warp')}"
    return f"{args.file}: {shape}, latency {args.latency}"


def kernel_title(args: argparse.Namespace, name: str, block: tuple[int, int, int], blocks: tuple[int, int, int]) -> str:
    """A kernel and its launch, in a line."""
    threads = math.prod(block)
    shape = f"{many(math.prod(blocks), 'block')} of {many(threads, 'thread')}"
    warps = f"in {many(-(-threads // args.warp_size), 'warp')}"
    where = f" on {many(args.processors, 'processor')}" if args.processors else ""
    return f"{name}: {shape} {warps}{where}, latency {args.latency}"


# --- programs --------------------------------------------------------------------------------------------------------


def read_program(path: str) -> Program:
    """The mini-SIMT program in a file. Raises SourceError."""
    from semantics.machine.text import assemble

    try:
        text = Path(path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise OptionProblem(f"{path}: not a text ({error.reason})", advice="Save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OptionProblem(f"{path}: {reason}", advice="Check the path.") from None
    return assemble(text, path)


def read_values(texts: list[str]) -> dict[str, Value]:
    """The values of `--arg` for a program's parameters: whole numbers of at most 64 bits. Raises OptionProblem."""
    found: dict[str, Value] = {}
    for name, text in parse_bindings(texts, "--arg").items():
        if not re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})", text) or not -_WORD < _whole(text) < _WORD:
            raise OptionProblem(f"--arg {name}={text}: not a whole number of 64 bits", advice="Write --arg n=1024.")
        found[name] = _whole(text)
    return found


def _whole(text: str) -> int:
    return int(text, 16 if "x" in text.lower() else 10)


def _program(args: argparse.Namespace, traces: list[Trace] | None) -> _Done:
    from checker.report.trace import Trace
    from semantics.machine.blocks import Place
    from semantics.machine.launch import Launch
    from semantics.machine.simulate import STEP_LIMIT, run

    refuse_kernel_options(args, "assembly")
    p = read_program(args.file)
    threads = args.warp_size if args.threads is None else args.threads
    launch = Launch(threads, args.warp_size, args.latency, read_values(args.args))
    observer = None
    if traces is not None:
        traces.append(Trace(p, min(args.warp_size, threads)))
        observer = traces[0].observer(Place((0, 0, 0), 0, 0))
    result = run(p, launch, step_limit=args.step_limit or STEP_LIMIT, observer=observer)
    title = program_title(args, launch)
    return _Done(title, result.cycles, result.issued, {"": result.memory}, tuple(map(_outside, result.outside)))


def _outside(o: Outside) -> tuple[Loc | None, str]:
    lost = "gives 0" if o.kind == "load" else "is lost"
    return o.loc, f"a {o.kind} of thread {o.thread} at address {o.address} {lost}: memory begins at 0"


# --- kernels ---------------------------------------------------------------------------------------------------------


def _kernel(args: argparse.Namespace, traces: list[Trace] | None) -> _Done | None:
    from checker.cli.data import read_args, read_arrays
    from checker.report.page import Page, Section
    from checker.report.trace import Trace
    from semantics.grid import check_launch
    from semantics.machine.blocks import run_kernel
    from semantics.machine.compile import compile_kernel
    from semantics.machine.simulate import STEP_LIMIT
    from semantics.machine.text import show

    refuse_program_options(args)
    given_args, given_arrays = parse_bindings(args.args, "--arg"), parse_bindings(args.arrays, "--array")
    reading = read_kernel(args)
    values = as_declared(reading, read_args(reading.kernel, given_args))
    block, blocks = run_sizes(args, reading, values)
    check_launch(block, blocks)
    reading = for_run(reading, values, block, blocks)
    for note in reading.notes:
        print(f"note: {note}", file=sys.stderr)
    compiled = compile_kernel(reading.kernel, block).program
    if args.assembly:
        assembly = show(compiled)
        args.format = "text" if args.format in ("json", "svg") else args.format
        tell(args, lambda: assembly, str, lambda: Page(reading.kernel.name, [Section(fixed=assembly)]))
        return None
    threads = block[0] * block[1] * block[2]
    if traces is not None:
        traces.append(Trace(compiled, min(args.warp_size, threads)))
    result = run_kernel(
        reading.kernel,
        block,
        blocks,
        values,
        read_arrays(reading.kernel, given_arrays),
        args.warp_size,
        args.latency,
        1 if args.processors is None else args.processors,
        args.step_limit or STEP_LIMIT,
        traces[0].observer if traces else None,
    )
    title = kernel_title(args, reading.kernel.name, block, blocks)
    warnings = tuple((o.loc, f"out of bounds: {o}") for o in result.out_of_bounds)
    return _Done(title, result.cycles, result.issued, result.arrays, warnings)


# --- output ----------------------------------------------------------------------------------------------------------


def _lines(done: _Done) -> list[str]:
    """The lines printed of a run, below its title."""
    from checker.report.trace import memory_text

    lines = [f"{many(done.cycles, 'cycle')}, {many(done.issued, 'instruction')} issued"]
    return lines + [f"\n{name or 'memory'}:\n{memory_text(cells)}" for name, cells in done.memory.items() if cells]


def _number(value: Value) -> int | float | str:
    """A value for JSON, which has no infinities and no NaN."""
    return value if math.isfinite(value) else str(value)


def _witness(refuted: Deadlock) -> dict[str, object]:
    return {
        "reason": refuted.message,
        "cycle": refuted.cycle,
        "waiting": [
            {
                "warp": w.warp,
                "threads": list(w.threads),
                "barrier": w.ident,
                "expected": w.expected,
                "line": w.loc.line if w.loc else None,
            }
            for w in refuted.waiting
        ],
        "ended": list(refuted.ended),
    }
