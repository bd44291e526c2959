"""`warpbound contracts`: the contracts on data of a kernel, tested on given arrays."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from checker.cli.data import tested, told
from checker.cli.options import (
    add_assume_option,
    add_data_options,
    add_output_options,
    add_source_options,
    as_declared,
    emit,
    parse_bindings,
    read_kernel,
    required,
    tell,
)
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.report.page import Page

CODES: Final = {"kept": 0, "untested": 1, "broken": 3}


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "contracts",
        help="test the contracts on data of a kernel",
        description="Tests what //@ requires forall ..; states of arrays on given ones. Exit code 0: kept; 3: broken, "
        "with the first index; 1: untested, as there is no end to the indices, or too many.",
    )
    add_source_options(parser)
    add_data_options(
        parser,
        "a parameter",
        "what an array holds, as for run",
    )
    add_assume_option(parser, 'another contract to test: --assume "forall i in [0, n): row[i] <= row[i + 1]"')
    parser.add_argument(
        "--emit", choices=("c++", "python"), help="print a function that tests the contracts in a host program instead"
    )
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 kept, 3 broken, 1 untested. Raises SourceError for unusable input."""
    from checker.cli.data import check_assumed, read_args, read_arrays
    from checker.report.page import Fault, Page, Section

    reading = read_kernel(args)
    kernel = reading.kernel
    found = required(args, reading)
    if not found:
        raise OptionProblem(
            f"{kernel.name} has no contract", kernel.loc, "State one: //@ requires forall i in [0, n): ..;"
        )
    if args.emit:
        if args.format != "text" or args.args or args.arrays:
            raise OptionProblem(
                "--emit prints a program, and tests nothing itself",
                advice="Leave out --format, --arg and --array, or --emit.",
            )
        from checker.report.contracts import as_code

        emit(as_code(kernel, found, args.emit), args.output)
        return 0
    values = as_declared(reading, read_args(kernel, parse_bindings(args.args, "--arg")))
    check_assumed(args, reading, values)
    arrays = read_arrays(kernel, parse_bindings(args.arrays, "--array"))
    rows = [tested(c, values, arrays) for c in found]
    for name in sorted({name for c in found for name in c.arrays} - arrays.keys()):
        print(f"{args.file}: warning: no --array {name}: its elements are taken to be 0", file=sys.stderr)

    def line(row: Mapping[str, Any]) -> str:
        return f"{row['verdict']:8}  {told(row)}"

    def page() -> Page:
        faults = [Fault("broken", line(row), kernel.loc or args.file) for row in rows if row["verdict"] == "broken"]
        return Page(f"{kernel.name}: contracts", [Section(items=[line(row) for row in rows])], faults)

    tell(args, lambda: "\n".join(map(line, rows)), lambda: json.dumps({"contracts": rows}, indent=2), page)
    return max(CODES[row["verdict"]] for row in rows)
