"""`warpbound contracts`: the contracts on data of a kernel, tested on given arrays."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final

from checker.cli.options import add_output_options, add_source_options, parse_bindings, read_kernel, source_text, tell
from checker.notation.problem import OptionProblem
from logic.operators import denote
from logic.syntax import Const, Op, Param, Read, Var, show

if TYPE_CHECKING:
    from checker.notation.contracts import Contract
    from checker.report.page import Page
    from logic.syntax import Expr
    from semantics.grid import Contents
    from semantics.values import Value

MOST: Final = 10_000_000
"""Indices that one contract is tested at."""

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
    parser.add_argument("--arg", dest="args", metavar="NAME=VALUE", action="append", default=[], help="a parameter")
    parser.add_argument(
        "--array",
        dest="arrays",
        metavar="NAME=WHAT",
        action="append",
        default=[],
        help="what an array holds, as for run",
    )
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 kept, 3 broken, 1 untested. Raises SourceError for unusable input."""
    from checker.cli.run import read_args, read_arrays
    from checker.notation import read_annotations
    from checker.report.bounds import parameters
    from checker.report.page import Fault, Page, Section
    from logic.typing import check_kernel

    reading = read_kernel(args)
    kernel = reading.kernel
    found = read_annotations(kernel, source_text(args.file), check_kernel(kernel)).contracts
    if not found:
        raise OptionProblem(
            f"{kernel.name} has no contract", kernel.loc, "State one: //@ requires forall i in [0, n): ..;"
        )
    given = parse_bindings(args.args, "--arg")
    for name in sorted(given.keys() - {d.name for d in kernel.params}):
        raise OptionProblem(f"--arg {name}: no such parameter", kernel.loc, parameters(kernel))
    values = read_args(kernel, given)
    arrays = read_arrays(kernel, parse_bindings(args.arrays, "--array"))
    for name in sorted(arrays.keys() - {a.name for a in kernel.arrays}):
        raise OptionProblem(f"--array {name}: no such array", kernel.loc, "Give arrays of the kernel.")
    rows = [tested(c, values, arrays) for c in found]

    def told(row: Mapping[str, Any]) -> str:
        at = ", ".join(f"{name} = {i}" for name, i in (row["index"] or {}).items())
        return f"{row['verdict']:8}  {row['text']}{f'   at {at}' if at else ''}"

    def page() -> Page:
        faults = [Fault("broken", told(row), kernel.loc or args.file) for row in rows if row["verdict"] == "broken"]
        return Page(f"{kernel.name}: contracts", [Section(items=[told(row) for row in rows])], faults)

    tell(args, lambda: "\n".join(map(told, rows)), lambda: json.dumps({"contracts": rows}, indent=2), page)
    return max(CODES[row["verdict"]] for row in rows)


class _Missing(Exception):
    """A parameter without a value."""


def tested(c: Contract, values: Mapping[str, Value], arrays: Mapping[str, Contents]) -> dict[str, Any]:
    """What becomes of a contract: kept, broken at the first index, or untested. Raises OptionProblem."""
    try:
        ranges = [_range(c, low, high, values, arrays) for _, low, high in c.ranges]
        if None in ranges or prod(len(r) for r in ranges if r is not None) > MOST:
            return {"text": c.text, "verdict": "untested", "index": None}
        names = [name for name, *_ in c.ranges]
        for at in product(*(r for r in ranges if r is not None)):
            here = dict(zip(names, at, strict=True))
            if not _value(c.fact, {**values, **here}, arrays):
                return {"text": c.text, "verdict": "broken", "index": here}
    except _Missing as missing:
        raise OptionProblem(f"'{missing}' has no value", advice=f"Give it: --arg {missing}=64.") from None
    return {"text": c.text, "verdict": "kept", "index": None}


def _range(
    c: Contract, low: Expr | None, high: Expr | None, values: Mapping[str, Value], arrays: Mapping[str, Contents]
) -> range | None:
    """The indices of a variable: those of the shortest array that is given, where the contract has no limits."""
    if low is not None and high is not None:
        return range(int(_value(low, values, arrays)), int(_value(high, values, arrays)))
    lengths = [_length(arrays[name]) for name in c.arrays if name in arrays]
    known = [n for n in lengths if n is not None]
    return range(min(known)) if known else None


def _length(contents: Contents) -> int | None:
    from semantics.lockstep import Initial

    return contents.length if isinstance(contents, Initial) else len(contents)


def _value(e: Expr, values: Mapping[str, Value], arrays: Mapping[str, Contents]) -> int | bool:
    """The value of an expression. Raises _Missing."""
    match e:
        case Const(int() as value):
            return value
        case Var(name) | Param(name):
            if name not in values:
                raise _Missing(name)
            return int(values[name])
        case Read(array, index):
            return _element(arrays.get(array, ()), int(_value(index, values, arrays)))
        case Op(op, args):
            return denote(op, tuple(_value(a, values, arrays) for a in args))
    raise _Missing(show(e))


def _element(contents: Contents, i: int) -> int:
    """What an array holds at an index: 0 outside of it, and where nothing is given."""
    from semantics.lockstep import Initial

    length = _length(contents)
    if i < 0 or (length is not None and i >= length):
        return 0
    if isinstance(contents, Initial):
        return int(contents.value(i)) if contents.value else 0
    return int(contents[i])
