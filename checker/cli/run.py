"""`warpbound run`: the operational semantics on a whole grid, and what it cost."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from logic.source import Loc, SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from checker.notation.contracts import Contract
    from logic.assertions import Dim
    from logic.metrics import Hardware, Metric
    from logic.syntax import Array, Kernel, Type
    from semantics import grid, parallel
    from semantics.cuda import Reading
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
    from checker.cli.contracts import tested
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


def check_assumed(
    args: argparse.Namespace,
    reading: Reading,
    values: Mapping[str, Value],
    block: Dim = (None, None, None),
    blocks: tuple[int, int, int] | None = None,
) -> None:
    """Raises OptionProblem where a fact of --assume about parameters is false of a run, or of what is known of one;
    says so of one that the source states, which may be run nevertheless."""
    from checker.certificates.claims import excluded, excluded_in_run
    from checker.cli.options import annotated, known_sizes, stated
    from logic.assertions import Context, Launch, conj
    from logic.metrics import HARDWARE, METRICS
    from logic.syntax import Expr
    from logic.typing import check_kernel, signature

    kernel, threads = reading.kernel, known_sizes(block)
    own = [fact for text in args.assume if isinstance(fact := stated(text, signature(kernel)), Expr)]
    at = {name: int(v) for name, v in values.items() if isinstance(v, int)}
    at |= {f"gridDim.{axis}": n for axis, n in zip("xyz", blocks or (), strict=False)}
    for facts, theirs in ((own, False), (annotated(args, kernel).assumptions, True)):
        launch = Launch(block, blocks or (None, None, None), conj(facts, signature(kernel)))
        context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], launch)
        false = None
        if facts:
            false = excluded_in_run(at, threads, blocks, context) if threads and blocks else excluded(at, context)
        if false and not theirs:
            raise OptionProblem(f"--assume: {false} does not hold with these arguments", advice="Choose others.")
        if false:
            print(f"{args.file}: warning: {false} is required, and does not hold here", file=sys.stderr)


class BrokenContract(SourceError):
    """A contract on data that arrays break: the run is not one of those that a claim speaks of."""

    code, rule = 3, "broken"
    block: tuple[int, ...] = ()
    split: Loc | None = None


def check_data(rows: Sequence[tuple[Contract, Mapping[str, Any]]]) -> None:
    """Raises BrokenContract where an array does not hold what the source requires; says what could not be tested."""
    from checker.cli.contracts import told

    for c, row in rows:
        if row["verdict"] == "broken":
            raise BrokenContract(
                f"the arrays break the contract {told(row)}", c.loc, "No bound or finding speaks of such a run."
            )
        if row["verdict"] == "untested":
            print(f"note: {told(row)}: its indices have no end, or are too many", file=sys.stderr)


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


def read_args(kernel: Kernel, texts: dict[str, str]) -> dict[str, Value]:
    """The values of `--arg` by the types of the parameters. Raises SourceError."""
    from semantics.grid import check_names

    check_names(kernel, texts)
    types = {d.name: d.type for d in kernel.params}
    return {name: _scalar(name, text, types[name]) for name, text in texts.items()}


def _scalar(name: str, text: str, type_: Type) -> Value:
    from semantics.values import converted

    try:
        match type_.kind:
            case "bool":
                return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
            case "int":
                value = int(text, 0)
                if not -(2**63) <= value < 2**64:
                    raise OptionProblem(
                        f"--arg {name}={text}: this takes more than 64 bits", advice="CUDA C has no such number."
                    )
                return value
            case "base":
                return converted(float(text), type_)
    except (KeyError, ValueError):
        raise OptionProblem(
            f"--arg {name}={text}: '{name}' is {type_}", advice=f"Give a value of type {type_}."
        ) from None


def read_arrays(kernel: Kernel, texts: Mapping[str, str]) -> dict[str, Contents]:
    """The contents of `--array` by the types of the arrays. Raises SourceError."""
    from semantics.grid import check_names

    check_names(kernel, arrays=texts)
    arrays = {a.name: a for a in kernel.arrays if a.space == "global"}
    return {name: _contents(text, arrays[name]) for name, text in texts.items()}


def read_arrays_of(kernel: Kernel) -> set[str]:
    """The names of the arrays in global memory that a kernel reads."""
    from logic.syntax import arrays_read, evaluated, statements

    own = {a.name for a in kernel.arrays if a.space == "global"}
    read = (a for s in statements(kernel.body) for e in evaluated(s) for a in arrays_read(e))
    return own.intersection(read)


def declared(kernel: Kernel, tables: Mapping[str, Sequence[int]]) -> dict[str, Contents]:
    """The contents of arrays in constant memory, by their declarations."""
    from semantics.lockstep import Initial

    def initial(table: Sequence[int]) -> Contents:
        return Initial(lambda i: table[i] if 0 <= i < len(table) else 0, len(table))

    plain = {a.name for a in kernel.arrays if (a.stride == a.width and a.offset == 0) or "." in a.name}
    return {name: initial(table) for name, table in tables.items() if name in plain}


_FILLS = (
    "Write zeros, ones, iota, random:SEED or cycle:START:STEP:COUNT, with :LEN for a fixed length, a list as 0,3,5, or "
    "@FILE.npy."
)


def _contents(text: str, array: Array) -> Contents:
    from semantics.lockstep import Initial
    from semantics.values import converted

    option = f"--array {array.name}={text}"
    if text.startswith("@"):
        return read_npy(text[1:], array, option)
    if re.fullmatch(r"[+-]?[\d.]+(,[+-]?[\d.]+)*,?", text, re.ASCII):
        return _listed(text, array, option)
    kind, *numbers = text.split(":")
    wanted = {"zeros": 0, "ones": 0, "iota": 0, "random": 1, "cycle": 3}.get(kind)
    if wanted is None or not wanted <= len(numbers) <= wanted + 1:
        raise OptionProblem(f"{option}: not known", advice=_FILLS)
    if not all(re.fullmatch(r"\d{1,18}", n, re.ASCII) for n in numbers):
        raise OptionProblem(
            f"{option}: not a number of elements, a seed or a value", advice="All are whole numbers from 0."
        )
    if kind == "cycle" and not int(numbers[2]):
        raise OptionProblem(f"{option}: a cycle of no elements", advice="COUNT is at least 1.")
    length = int(numbers[wanted]) if len(numbers) > wanted else None
    match kind:
        case "zeros":
            return Initial(length=length)
        case "ones":
            return Initial(lambda _: converted(1, array.elem), length)
        case "iota":
            return Initial(lambda i: converted(i, array.elem), length)
        case "cycle":
            start, step, count = map(int, numbers[:3])
            return Initial(
                lambda i: converted((start + step * (i % count)) % 2 ** (8 * array.width), array.elem), length
            )
        case _:
            return Initial(lambda i: _random(numbers[0], i, array), length)


def _listed(text: str, array: Array, option: str) -> list[Value]:
    """Elements one by one: 0,3,5."""
    from semantics.values import converted

    whole, bits = array.elem.kind != "base", 8 * array.width
    found: list[Value] = []
    for part in text.removesuffix(",").split(","):
        try:
            value = int(part) if whole else float(part)
        except ValueError:
            told = f"{option}: '{part}' is no {'whole ' if whole else ''}number"
            raise OptionProblem(told, advice=_FILLS) from None
        if whole and not -(2 ** (bits - 1)) <= value < 2**bits:
            raise OptionProblem(f"{option}: {part} does not fit into {array.width} bytes", advice="Check the list.")
        found.append(converted(value, array.elem))
    return found


def _random(seed: str, i: int, array: Array) -> Value:
    """A value that every element of this width can have: an int of 7 or 15 bits, a float in [0, 1)."""
    from semantics.values import converted

    source = random.Random(f"{seed}:{array.name}:{i}")
    if array.elem.kind == "base":
        return converted(source.random(), array.elem)
    return converted(source.getrandbits(1 if array.elem.kind == "bool" else min(8 * array.width, 16) - 1), array.elem)


def read_npy(path: str, array: Array, option: str) -> NDArray[Any]:
    """The elements of a one-dimensional .npy file whose type suits the array's."""
    import numpy as np

    try:
        with Path(path).open("rb") as file:
            data = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise OptionProblem(f"{option}: {error.strerror or error}", advice="Check the path.") from None
    except MemoryError:
        raise OptionProblem(f"{option}: too large for this machine's memory", advice="Give a shorter array.") from None
    except (ValueError, EOFError, OverflowError):
        raise OptionProblem(f"{option}: not a .npy file of numbers", advice="Write it with numpy.save.") from None
    kinds = {"int": "iu", "bool": "b", "base": "f"}[array.elem.kind]
    if data.ndim != 1 or data.dtype.kind not in kinds:
        shape = "" if data.ndim == 1 else f" in {data.ndim} dimensions"
        raise OptionProblem(
            f"{option}: holds {data.dtype}{shape}, '{array.name}' is an array of {array.elem}",
            advice="Save a one-dimensional array of a suitable dtype.",
        )
    low, high = -(2 ** (8 * array.width - 1)), 2 ** (8 * array.width)
    if array.elem.kind == "int" and len(data) and not low <= int(data.min()) <= int(data.max()) < high:
        at, odd = next((i, value) for i, value in enumerate(data.tolist()) if not low <= value < high)
        told = f"{option}: element {at} is {odd}, which does not fit into {array.width} bytes"
        raise OptionProblem(told, advice="Check the file.")
    found: NDArray[Any] = data
    return found


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
