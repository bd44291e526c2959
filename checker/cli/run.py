"""`warpbound run`: the operational semantics on a whole grid, and what it cost."""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from checker.cli.options import (
    OptionProblem,
    add_output_options,
    add_source_options,
    emit,
    number,
    parse_bindings,
    parse_dim,
    parse_hardware,
    parse_metrics,
)

if TYPE_CHECKING:
    from logic.syntax import Array, Kernel, Type
    from semantics.grid import BarrierDivergence, Contents, Result
    from semantics.values import Value


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "run",
        help="execute a kernel on a grid and count its cost",
        description="Executes a kernel on every warp of a grid, by the operational semantics, and prints what it cost.",
    )
    add_source_options(parser)
    parser.add_argument("--block", metavar="X[,Y[,Z]]", help="threads in a block (default: the file's)")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", default="1", help="blocks in the grid (default: %(default)s)")
    parser.add_argument(
        "--arg", dest="args", action="append", default=[], metavar="NAME=VALUE", help="a parameter's value"
    )
    parser.add_argument(
        "--array",
        dest="arrays",
        action="append",
        default=[],
        metavar="NAME=WHAT",
        help="a global array before the run: zeros, ones, iota or random:SEED, each with :LEN for a fixed length, "
        "or @FILE.npy (default: zeros, unbounded)",
    )
    parser.add_argument(
        "--metric", dest="metrics", action="append", default=[], metavar="NAME|all", help="(default: all)"
    )
    parser.add_argument("--hardware", metavar="NAME", default="nvidia", help="(default: %(default)s)")
    parser.add_argument("--semantics", choices=("lockstep", "parallel"), default="lockstep")
    parser.add_argument("--engine", choices=("fast", "reference"), default="reference")
    parser.add_argument(
        "--step-limit",
        type=int,
        metavar="N",
        help="give a warp up after N steps (default: ten million)",
    )
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Runs the kernel; 0, or 3 where a barrier diverges. Raises SourceError for unusable input."""
    from semantics import grid
    from semantics.cuda import read_cuda
    from semantics.lockstep import STEP_LIMIT

    if args.semantics == "parallel":
        raise OptionProblem("--semantics parallel: not yet supported", advice="Use --semantics lockstep.")
    if args.engine == "fast":
        raise OptionProblem("--engine fast: not yet supported", advice="Use --engine reference.")
    if args.step_limit is not None and args.step_limit < 1:
        raise OptionProblem(f"--step-limit {args.step_limit}: not a positive number", advice="Choose a larger one.")
    metrics = parse_metrics(args.metrics)
    hardware = parse_hardware(args.hardware)
    given_args, given_arrays = parse_bindings(args.args, "--arg"), parse_bindings(args.arrays, "--array")
    given_block = parse_dim(args.block, "--block") if args.block else None
    blocks = parse_dim(args.grid, "--grid")

    reading = read_cuda(
        args.file,
        args.kernel,
        includes=tuple(args.includes),
        defines=tuple(args.defines),
        std=args.std,
        instantiate=args.instantiate,
    )
    kernel: Kernel = reading.kernel
    for note in reading.notes:
        print(f"note: {note}", file=sys.stderr)
    block = given_block or reading.block
    if block is None:
        raise OptionProblem("the size of a block is not known", kernel.loc, "Give it: --block 256.")

    started = time.monotonic()
    try:
        result = grid.run(
            kernel,
            block,
            blocks,
            read_args(kernel, given_args),
            read_arrays(kernel, given_arrays),
            metrics,
            hardware,
            args.step_limit or STEP_LIMIT,
        )
    except grid.BarrierDivergence as refuted:
        from checker.report.terminal import render_error

        print(render_error(refuted), file=sys.stderr)
        if args.format == "json":
            emit(
                json.dumps(_json(kernel, None, time.monotonic() - started) | {"error": _witness(refuted)}), args.output
            )
        return 3
    for access in result.out_of_bounds:
        print(f"{access.loc or args.file}: warning: out of bounds: {access}", file=sys.stderr)
    seconds = time.monotonic() - started
    if args.format == "json":
        emit(json.dumps(_json(kernel, result, seconds)), args.output)
    else:
        emit(_text(kernel, result, block, blocks, hardware.alignment, seconds), args.output)
    return 0


# --- values of parameters and arrays ---------------------------------------------------------------------------------


def read_args(kernel: Kernel, texts: dict[str, str]) -> dict[str, Value]:
    """The values of `--arg` by the types of the parameters; unknown names stay for `grid.run` to refuse."""
    types = {d.name: d.type for d in kernel.params}
    return {name: _scalar(name, text, types[name]) if name in types else 0 for name, text in texts.items()}


def _scalar(name: str, text: str, type_: Type) -> Value:
    from semantics.values import converted

    try:
        match type_.kind:
            case "bool":
                return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
            case "int":
                return int(text, 0)
            case "base":
                return converted(float(text), type_)
    except (KeyError, ValueError):
        raise OptionProblem(
            f"--arg {name}={text}: '{name}' is {type_}", advice=f"Give a value of type {type_}."
        ) from None


def read_arrays(kernel: Kernel, texts: dict[str, str]) -> dict[str, Contents]:
    """The contents of `--array` by the types of the arrays."""
    arrays = {a.name: a for a in kernel.arrays if a.space == "global"}
    return {name: _contents(text, arrays[name]) if name in arrays else () for name, text in texts.items()}


_FILLS = "Write zeros, ones, iota or random:SEED, each with :LEN for a fixed length, or @FILE.npy."


def _contents(text: str, array: Array) -> Contents:
    from semantics.lockstep import Initial
    from semantics.values import converted

    option = f"--array {array.name}={text}"
    if text.startswith("@"):
        return _npy(text[1:], array, option)
    kind, *numbers = text.split(":")
    wanted = 1 if kind == "random" else 0
    if kind not in ("zeros", "ones", "iota", "random") or not wanted <= len(numbers) <= wanted + 1:
        raise OptionProblem(f"{option}: not known", advice=_FILLS)
    if not all(re.fullmatch(r"\d{1,18}", n, re.ASCII) for n in numbers):
        raise OptionProblem(f"{option}: not a number of elements or a seed", advice="Both are whole numbers from 0.")
    length = int(numbers[wanted]) if len(numbers) > wanted else None
    match kind:
        case "zeros":
            return Initial(length=length)
        case "ones":
            return Initial(lambda _: converted(1, array.elem), length)
        case "iota":
            return Initial(lambda i: converted(i, array.elem), length)
        case _:
            return Initial(lambda i: _random(numbers[0], i, array), length)


def _random(seed: str, i: int, array: Array) -> Value:
    """A value that every element of this width can have: an int of 7 or 15 bits, a float in [0, 1)."""
    from semantics.values import converted

    source = random.Random(f"{seed}:{array.name}:{i}")
    if array.elem.kind == "base":
        return converted(source.random(), array.elem)
    return converted(source.getrandbits(1 if array.elem.kind == "bool" else min(8 * array.width, 16) - 1), array.elem)


def _npy(path: str, array: Array, option: str) -> Sequence[Value]:
    """The elements of a one-dimensional .npy file whose type suits the array's."""
    import numpy as np

    try:
        with Path(path).open("rb") as file:
            data = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise OptionProblem(f"{option}: {error.strerror or error}", advice="Check the path.") from None
    except (ValueError, EOFError, MemoryError, OverflowError):
        raise OptionProblem(f"{option}: not a .npy file of numbers", advice="Write it with numpy.save.") from None
    kinds = {"int": "iu", "bool": "b", "base": "f"}[array.elem.kind]
    if data.ndim != 1 or data.dtype.kind not in kinds:
        shape = "" if data.ndim == 1 else f" in {data.ndim} dimensions"
        raise OptionProblem(
            f"{option}: holds {data.dtype}{shape}, '{array.name}' is an array of {array.elem}",
            advice="Save a one-dimensional array of a suitable dtype.",
        )
    values: list[Value] = data.tolist()
    bits = 8 * array.width
    if array.elem.kind == "int" and any(not -(2 ** (bits - 1)) <= v < 2**bits for v in values):
        raise OptionProblem(f"{option}: a value does not fit into {array.width} bytes", advice="Check the file.")
    return values


# --- output ----------------------------------------------------------------------------------------------------------


def _json(kernel: Kernel, result: Result | None, seconds: float) -> dict[str, object]:
    return {
        "kernel": kernel.name,
        "totals": {m: number(v) for m, v in result.totals.items()} if result else None,
        "max_per_warp": {m: number(v) for m, v in result.max_per_warp.items()} if result else None,
        "work": None,
        "span": None,
        "seconds": round(seconds, 3),
    }


def _witness(refuted: BarrierDivergence) -> dict[str, object]:
    return {
        "reason": refuted.message,
        "block": list(refuted.block),
        "places": [{"file": p.file, "line": p.line, "column": p.column} for p in (refuted.loc, refuted.split) if p],
    }


def _text(
    kernel: Kernel,
    result: Result,
    block: tuple[int, int, int],
    blocks: tuple[int, int, int],
    alignment: int,
    seconds: float,
) -> str:
    rows = [("metric", "total", "most of a warp")]
    rows += [(m, str(total), str(result.max_per_warp[m])) for m, total in result.totals.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = "\n".join(
        f"  {name:<{widths[0]}}  {total:>{widths[1]}}  {most:>{widths[2]}}".rstrip() for name, total, most in rows
    )
    shape = f"{'x'.join(map(str, blocks))} blocks of {'x'.join(map(str, block))} threads, {result.warps} warps"
    assumed = f"Assumed: arrays start at multiples of {alignment} bytes, integers do not overflow."
    return f"{kernel.name}: {shape}, {seconds:.2f} s\n\n{table}\n\n{assumed}"
