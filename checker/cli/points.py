"""--at: the point at which formulas are evaluated."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from checker.cli.options import of_option, parse_bindings
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from logic.assertions import Context
    from logic.syntax import Kernel


def add_point_option(parser: argparse.ArgumentParser, told: str) -> None:
    """--at, which may be given several times."""
    parser.add_argument("--at", action="append", default=[], metavar="NAME=N,...", help=told)


def point(texts: Sequence[str], option: str = "--at") -> dict[str, int]:
    """`w=256,h=-3` as numbers, `row=@FILE.npy` as those of an array's elements; a grid of one dimension has the others
    1. `option` has them. Raises OptionProblem."""
    found: dict[str, int] = {}
    parts = [part for text in texts for part in text.split(",") if part.strip()]
    for name, value in parse_bindings(parts, option).items():
        if value.startswith("@"):
            found |= {f"{name}[{i}]": n for i, n in enumerate(_of_file(name, value[1:], option))}
            continue
        if not re.fullmatch(r"[+-]?\d{1,99}", value, re.ASCII):
            told = f"{of_option(option, name)}={value}: not a whole number"
            raise OptionProblem(told, advice="Write it like --at w=256,h=64.")
        found[name] = int(value)
    for name in [name for name in found if name.endswith("]")]:
        found[_element(name, found, option)] = found.pop(name)
    if "gridDim.x" in found:
        found |= {name: 1 for name in ("gridDim.y", "gridDim.z") if name not in found}
    return found


def _of_file(name: str, path: str, option: str) -> list[int]:
    """The elements of an array in a .npy file. Raises OptionProblem."""
    from checker.cli.data import read_npy
    from logic.syntax import INT, Array

    return [int(n) for n in read_npy(path, Array(name, "global", INT, 8), f"{of_option(option, name)}=@{path}")]


def _element(name: str, known: Mapping[str, int], option: str) -> str:
    """The name of an element with the number of its index: `row[n]` is row[64] where n is. Raises SourceError."""
    from checker.notation.formulas import parse_formula
    from logic.formulas import evaluate

    array, _, index = name.removesuffix("]").partition("[")
    i = evaluate(parse_formula(index, known.keys(), "--at"), known)
    if i.denominator != 1:
        raise OptionProblem(f"{of_option(option, name)}: {i} is no index", advice="An index is a whole number.")
    return f"{array}[{i}]"


def check_point(at: dict[str, int], kernel: Kernel, context: Context, option: str = "--at") -> None:
    """Raises OptionProblem where a point, which `option` has, is none of the kernel or one that the launch excludes."""
    from checker.certificates.claims import excluded
    from checker.report.bounds import parameters

    of, stable = option and f"{option}: ", context.sigma.stable
    unknown = sorted(x for x in at.keys() - context.sigma.params.keys() if x.partition("[")[0] not in stable)
    if unknown:
        raise OptionProblem(f"{of}'{unknown[0]}' is no parameter of {kernel.name}", advice=parameters(kernel))
    fact = excluded(at, context)
    if fact is not None:
        raise OptionProblem(f"{of}{fact} is assumed, and does not hold there", advice="Choose another point.")
