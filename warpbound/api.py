"""Functions for Python programs: what the commands of these names say, as objects.

Each gives a command its options and reads the JSON that it prints, so that a program and a terminal are told the same.
What a command cannot use, and a run whose barriers diverge, raises `Unusable`; its warnings are Python's. One call at a
time in a process: standard error is the command's meanwhile.
"""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from operator import index
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Protocol, SupportsIndex

Number = int | Fraction

Dims = SupportsIndex | Sequence[SupportsIndex] | str
"""A size along x, or sizes along x, y and z, or the text of `--block`."""


class HasCode(Protocol):
    """An object with the source of a kernel, as a RawKernel of CuPy is."""

    code: str
    name: str


Source = str | os.PathLike[str] | HasCode
"""A path, CUDA C as text (which has several lines or a `__global__`), or an object that has a source."""


class Unusable(ValueError):
    """Input that a command cannot use: one sentence, with the place where that is known, and advice, which tracebacks
    show as a note."""

    def __init__(self, message: str, place: str | None = None, advice: str | None = None) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.place = place
        self.advice = advice
        if advice:
            self.add_note(advice)


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of a kernel in one metric, and what it rests on.

    `bound` is a formula, None where there is none: then `problem` says why. `verdict` is the command's: only
    "certified" is verified by both checkers without a solver. `certificate` is the document that `warpbound recheck`
    judges, None where there is nothing to judge.
    """

    kernel: str
    metric: str
    per: str
    verdict: str
    bound: str | None
    claim: str | None
    problem: str | None
    assumptions: tuple[str, ...]
    certificate: Mapping[str, Any] | None = field(repr=False)

    def at(self, **sizes: SupportsIndex) -> Number:
        """The value of the bound for parameters of the kernel, `n=1000`, and sizes of the launch, as
        `**{"gridDim.x": 4}`. Raises Unusable where there is no bound, one of its parameters has no value, a value is no
        whole number or of no parameter, or the launch excludes the point."""
        from checker.certificates.claims import value_at
        from checker.certificates.document import read
        from checker.cli.points import check_point
        from checker.notation import parse_potential
        from logic.source import SourceError

        if self.bound is None or self.certificate is None:
            raise Unusable(f"there is no bound of {self.kernel}", advice=self.problem)
        document = read(json.dumps(self.certificate), self.kernel)
        context, point = document.context, {name: _whole(name, value) for name, value in sizes.items()}
        try:
            check_point(point, document.kernel, context, "")
            value, missing = value_at(parse_potential(self.bound, context.sigma, self.kernel), context, point)
        except SourceError as problem:
            raise Unusable(problem.message, advice=problem.advice) from None
        if value is None:
            raise Unusable(f"the bound needs values for {', '.join(missing)}: {self.bound}")
        return _number(value)


@dataclass(frozen=True, slots=True)
class Run:
    """The costs of a run by metric: all warps together, and the dearest warp."""

    kernel: str
    totals: Mapping[str, Number]
    max_per_warp: Mapping[str, Number]
    out_of_bounds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A new version of a kernel held against the old one in one metric: `certified` says that every warp costs at most
    the old bound, `dearer` that a run costs more, which `run` is. `added` is what the new version assumes and the old
    one does not."""

    kernel: str
    metric: str
    verdict: str
    old: str | None
    new: str | None
    why: str | None
    run: Mapping[str, Any] | None
    added: tuple[str, ...] = ()


def bound(
    source: Source,
    metric: str = "sectors",
    *,
    kernel: str | None = None,
    block: Dims | None = None,
    grid: Dims | None = None,
    assume: Sequence[str] = (),
    per: str = "warp",
    options: Sequence[str] = (),
) -> Bound:
    """The bound that `warpbound bound` finds of one kernel in one metric; `options` are more of its options, as words.
    Raises Unusable."""
    with TemporaryDirectory(prefix="warpbound-") as folder:
        words = ["--metric", metric, "--per", per, "--certificate", folder, *_launch(block, grid), *options]
        words += [word for text in assume for word in ("--assume", text)]
        rows = _command("bound", (source,), kernel, words)["results"]
        certificates = [json.loads(path.read_text("utf-8")) for path in Path(folder).iterdir()]
    if len(rows) != 1:
        names = ", ".join(dict.fromkeys(str(row["kernel"]) for row in rows))
        raise Unusable(f"there are {len(rows)} bounds, of {names}", advice="Name one kernel, and one metric.")
    (row,), certificate = rows, certificates[0] if certificates and rows[0]["bound"] else None
    plain = {name: row.get(name) for name in ("kernel", "metric", "per", "verdict", "bound", "claim", "problem")}
    return Bound(**plain, assumptions=tuple(row["assumptions"]), certificate=certificate)


def run(
    source: Source,
    *,
    kernel: str | None = None,
    block: Dims | None = None,
    grid: Dims | None = None,
    arrays: Mapping[str, Any] | None = None,
    args: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
    **params: Any,
) -> Run:
    """The costs of `warpbound run`: parameters by name, those that are called like an option of this function in
    `args`; arrays as the command takes them (`"iota"`), or as arrays of NumPy. Raises Unusable."""
    words = [*_launch(block, grid), *options]
    for name, value in {**params, **(args or {})}.items():
        words += ["--arg", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    with TemporaryDirectory(prefix="warpbound-") as folder:
        for name, contents in (arrays or {}).items():
            words += ["--array", f"{name}={_contents(contents, Path(folder) / f'{name}.npy')}"]
        found = _command("run", (source,), kernel, words)
    totals, dearest = ({m: _number(n) for m, n in found[key].items()} for key in ("totals", "max_per_warp"))
    outside = tuple(str(access["access"]) for access in found.get("out_of_bounds", ()))
    return Run(found["kernel"], totals, dearest, outside)


def compare(
    old: Source,
    new: Source,
    metric: str = "sectors",
    *,
    kernel: str | None = None,
    block: Dims | None = None,
    grid: Dims | None = None,
    assume: Sequence[str] = (),
    options: Sequence[str] = (),
) -> list[Comparison]:
    """The rows of `warpbound compare` for the kernels of two sources, one each. Raises Unusable."""
    words = ["--metric", metric, *_launch(block, grid), *options]
    words += [word for text in assume for word in ("--assume", text)]
    rows = _command("compare", (old, new), kernel, words)["rows"]
    names = ("kernel", "metric", "verdict", "old", "new", "why", "run")
    return [Comparison(**{name: row[name] for name in names}, added=tuple(row["added"])) for row in rows]


# --- commands --------------------------------------------------------------------------------------------------------


def _launch(block: Dims | None, grid: Dims | None) -> list[str]:
    """The options for the sizes of a launch."""
    words = []
    for option, sizes in (("--block", block), ("--grid", grid)):
        if sizes is not None:
            several = (sizes,) if isinstance(sizes, str) or not isinstance(sizes, Sequence) else sizes
            words += [option, ",".join(map(str, several))]
    return words


def _whole(name: str, value: SupportsIndex) -> int:
    """The value of a parameter, also one of NumPy's. Raises Unusable where it is no whole number."""
    try:
        return index(value)
    except TypeError:
        raise Unusable(f"{name}={value!r}: not a whole number") from None


def _number(value: int | str | Fraction) -> Number:
    """An exact number, as an integer where it is one."""
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact


def _contents(contents: Any, path: Path) -> str:
    """The contents of an array as --array takes them; what is no text goes to a file."""
    if isinstance(contents, str):
        return contents
    import numpy as np

    np.save(path, np.asarray(contents), allow_pickle=False)
    return f"@{path}"


def _command(name: str, sources: Sequence[Source], kernel: str | None, words: Sequence[str]) -> dict[str, Any]:
    """The object that a command prints as JSON about sources. Its warnings are Python's. Raises Unusable."""
    from checker.cli import main
    from checker.cli.process import INTERRUPTED

    told, printed = io.StringIO(), io.StringIO()
    with TemporaryDirectory(prefix="warpbound-") as folder, ExitStack() as stack:
        paths, names = [], ("old.cu", "new.cu") if len(sources) > 1 else ("source.cu",)
        for source, own in zip(sources, names, strict=True):
            path, called = stack.enter_context(_as_file(source, Path(folder) / own))
            paths.append(path)
            kernel = kernel or called
        out = Path(folder) / "out.json"
        chosen = ["--kernel", kernel] if kernel else []
        with _apart(), redirect_stderr(told), redirect_stdout(printed), suppress(SystemExit):
            if main([name, *paths, *chosen, *words, "--format", "json", "-o", str(out)]) == INTERRUPTED:
                raise KeyboardInterrupt
        text = out.read_text("utf-8") if out.is_file() else printed.getvalue()
    for line in told.getvalue().splitlines():
        if " warning: " in line:
            warnings.warn(line.partition(" warning: ")[2], stacklevel=3)
    found: dict[str, Any] = json.loads(text) if text else {"error": {"message": told.getvalue().strip()}}
    if error := found.get("error"):
        place = error.get("place") or next(iter(error.get("places", ())), None) or {}
        where = ":".join(str(place[key]) for key in ("file", "line", "column") if place.get(key))
        raise Unusable(error.get("message") or error["reason"], where or None, error.get("advice"))
    return found


@contextmanager
def _apart() -> Iterator[None]:
    """Within, a process that a command starts does not run the script of the program, as Python has it do."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _as_file(source: Source, path: Path) -> Iterator[tuple[str, str | None]]:
    """Within, the path of a source, and the name of the kernel where the object that has it tells one. What is no file
    is one for the while, and called by its last name in what is said."""
    from checker.cli.process import renamed

    if isinstance(source, os.PathLike):
        yield os.fspath(source), None
    elif isinstance(source, str) and "\n" not in source and "__global__" not in source:
        yield source, None
    else:
        text, called = (source, None) if isinstance(source, str) else (source.code, source.name)
        path.write_text(text, "utf-8")
        with renamed(str(path), path.name):
            yield str(path), called
