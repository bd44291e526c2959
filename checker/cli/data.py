"""The contents of parameters and arrays, as a command line says, and whether they keep what is assumed of them."""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.notation.problem import OptionProblem
from logic.source import Loc, SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from checker.notation.contracts import Contract
    from checker.notation.contracts import Contract as Stated
    from logic.assertions import Dim
    from logic.syntax import Array, Kernel, Type
    from semantics.cuda import Reading
    from semantics.grid import Contents
    from semantics.values import Value


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
    for c, row in rows:
        if row["verdict"] == "broken":
            raise BrokenContract(
                f"the arrays break the contract {told(row)}", c.loc, "No bound or finding speaks of such a run."
            )
        if row["verdict"] == "untested":
            print(f"note: {told(row)}: its indices have no end, or are too many", file=sys.stderr)


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


def told(row: Mapping[str, Any]) -> str:
    """A contract, and where it does not hold."""
    at = ", ".join(f"{name} = {i}" for name, i in (row["index"] or {}).items())
    short = f": {row['outside']}" if row.get("outside") else ""
    short += "".join(
        f"; '{name}' is {n} element{'s' * (n > 1)} short of that" for name, n in row.get("short", {}).items()
    )
    return f"{row['text']}{f', at {at}' if at else ''}{short}"


def tested(c: Stated, values: Mapping[str, Value], arrays: Mapping[str, Contents]) -> dict[str, Any]:
    """The outcome of a contract: kept, broken at the first index, as it is, too, where it speaks of an element that an
    array does not have, or untested. Raises OptionProblem."""
    from checker.refutation.contracts import Missing, Untested, broken, missing, outside

    index, verdict, short = None, "kept", dict[str, int]()
    try:
        found = [(at, one) for one in c.contracts if (at := broken(one, values, arrays, whole=True)) is not None]
        first, wrong = min(found, key=lambda one: one[0], default=((), None))
        beyond = wrong and outside(wrong, first, values, arrays)
        if beyond and wrong:
            short = missing(wrong, values, arrays)
    except Untested:
        verdict, found, beyond = "untested", [], None
    except Missing as name:
        raise OptionProblem(f"'{name}' has no value", advice=f"Give it: --arg {name}=64.") from None
    if found:
        index, verdict = dict(zip((name for name, *_ in c.ranges), first, strict=True)), "broken"
    row = {"text": c.text, "verdict": verdict, "index": index}
    row |= {"outside": str(beyond)} if beyond else {}
    return row | {"short": short} if short else row
