"""The labelled set: accesses of the kernels in `labelled`, their labels computed by running them.

`python -m tests.checker.analysis.coalescing.labels` writes labels.toml anew: for every access the worst verdict of all
runs in launches.toml, which is what the semantics says and no opinion. Runs cannot show that nothing worse happens
elsewhere, so their sizes are chosen for the worst.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checker.analysis.coalescing.access import Access, Verdict, accesses
from checker.analysis.coalescing.observed import Watch
from checker.cli.data import read_args, read_arrays
from logic.syntax import Kernel
from semantics import grid
from semantics.cuda import Reading, read_cuda
from semantics.events import Dim, Event

HOME = Path(__file__).parent / "labelled"
LABELS = HOME / "labels.toml"


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel with the block that it is launched with, and its launches in the notation of `warpbound run`."""

    file: str
    kernel: str
    block: Dim
    runs: tuple[Mapping[str, Any], ...] = field(compare=False)

    @property
    def path(self) -> Path:
        return HOME / f"{self.file}.cu"

    def __str__(self) -> str:
        return f"{self.file}.{self.kernel} {'x'.join(map(str, self.block))}"


@dataclass(frozen=True, slots=True)
class Label:
    """What the runs of a case say of one access; `paper` is the verdict by the paper's threshold."""

    at: str
    kind: str
    array: str
    space: str
    verdict: Verdict
    most: int
    fewest: int
    average: str
    paper: Verdict


def cases() -> list[Case]:
    """All cases, in the order of their file."""
    data = tomllib.loads((HOME / "launches.toml").read_text())
    return [
        Case(file, kernel, tuple(case["block"]), tuple(case["runs"]))
        for file, kernels in data.items()
        for kernel, given in kernels.items()
        for case in given
    ]


def read(case: Case) -> Reading:
    """The kernel of a case."""
    return read_cuda(str(case.path), case.kernel)


def place(access: Access) -> str:
    """Line and column of an access."""
    return f"{access.loc.line}:{access.loc.column}"


def labels(case: Case, kernel: Kernel) -> list[Label]:
    """What the runs of a case say of its accesses. Raises KeyError for one that no run executes."""
    ours, paper = Watch(kernel, case.block), Watch(kernel, case.block, threshold="paper")

    def both(event: Event) -> None:
        ours(event)
        paper(event)

    for run in case.runs:
        args, arrays = read_args(kernel, run.get("args", {})), read_arrays(kernel, run.get("arrays", {}))
        grid.run(kernel, case.block, tuple(run["grid"]), args, arrays, (), observer=both)
    return [
        Label(place(a), a.kind, a.array.name, a.array.space, o.verdict, o.most, o.fewest, str(o.average), p.verdict)
        for a in accesses(kernel)
        for o, p in ((ours.found[a.key], paper.found[a.key]),)
    ]


def recorded() -> dict[str, list[Label]]:
    """The labels of labels.toml by their case."""
    data = tomllib.loads(LABELS.read_text())
    return {name: [Label(**label) for label in case["accesses"]] for name, case in data.items()}


def _text(found: Mapping[str, list[Label]]) -> Iterator[str]:
    yield "# Written by `python -m tests.checker.analysis.coalescing.labels`: what the runs in launches.toml say."
    for name, of_case in found.items():
        yield f'\n["{name}"]\naccesses = ['
        for label in of_case:
            fields = (f"{f} = {_value(getattr(label, f))}" for f in Label.__slots__)
            yield f"  {{ {', '.join(fields)} }},"
        yield "]"


def _value(v: str | int) -> str:
    return str(v) if isinstance(v, int) else f'"{v}"'


def main() -> None:
    """Writes labels.toml."""
    started = time.process_time()
    found = {str(case): labels(case, read(case).kernel) for case in cases()}
    LABELS.write_text("\n".join(_text(found)) + "\n")
    total = sum(map(len, found.values()))
    print(f"{total} accesses of {len(found)} cases in {time.process_time() - started:.1f} s of CPU time: {LABELS.name}")


if __name__ == "__main__":
    main()
