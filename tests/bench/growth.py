"""How the search grows with a program: loops in sequence, and nests of loops (`make growth`).

The page says for each program what was found, how long it took from the kernel to the certified bound, and how large
the linear programs were.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest.mock import patch

from checker.bound import find_bounds
from checker.oracles import Oracles, lp
from checker.outline import Outline, bare
from checker.report.bounds import shown
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics.cuda import read_cuda

SEQUENCES: Final = (1, 10, 100)

DEPTHS: Final = (1, 2, 3, 4, 5)

BODY: Final = "A[blockDim.x * {i} + threadIdx.x] = {i};"

HEAD: Final = """# Benchmarks

Made by `make growth` (`python -m tests.bench.growth`), on {machine}, Python {python}; other benchmarks: `make bench`.

## How the search grows

Programs of loops `for (i = 0; i < n; i++)` around `A[blockDim.x * i + threadIdx.x] = i`, blocks of 32, metric
`steps`; the loops of a nest have a bound each. Time is that from the kernel to the certified bound: what holds where,
potentials, derivation, the kernel's judgement. Size is that of the largest linear program: unknowns x equations. Where
the unknowns that suffice for most programs do not, the search tries again with more. Solvers have a time limit: on a
busy machine the deepest nest may end not-proved.

| program | bound | verdict | linear programs | unknowns x equations | seconds |
| --- | --- | --- | ---: | ---: | ---: |
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """A program, what became of it, the sizes of its linear programs as (unknowns, equations), and the time."""

    name: str
    bound: str | None
    verdict: str
    sizes: tuple[tuple[int, int], ...]
    seconds: float

    @property
    def line(self) -> str:
        largest = max(self.sizes, default=(0, 0), key=lambda s: s[0] * s[1])
        bound = f"`{self.bound}`" if self.bound else "none"
        size = "{} x {}".format(*largest)
        return f"| {self.name} | {bound} | {self.verdict} | {len(self.sizes)} | {size} | {self.seconds:.2f} |"


def in_sequence(count: int) -> str:
    """The source of loops one after the other."""
    loop = f"    for (int i = 0; i < n; i++) {BODY.format(i='i')}\n"
    return f"__global__ void sequence(int *A, int n)\n{{\n{loop * count}}}\n"


def nested(depth: int) -> str:
    """The source of loops one in the other, each with its own bound."""
    params = ", ".join(f"int n{k}" for k in range(depth))
    loops = "".join(f"for (int i{k} = 0; i{k} < n{k}; i{k}++) " for k in range(depth))
    return f"__global__ void nest(int *A, {params})\n{{\n    {loops}{BODY.format(i=f'i{depth - 1}')}\n}}\n"


def kernel_of(source: str) -> Kernel:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "k.cu")
        path.write_text(source, encoding="utf-8")
        return read_cuda(str(path)).kernel


@contextmanager
def sizes_of_programs() -> Iterator[list[tuple[int, int]]]:
    """The sizes of the linear programs that are solved meanwhile."""
    sizes: list[tuple[int, int]] = []
    solve = lp.solve

    def seen(program: lp.Program, again: bool = True) -> object:
        sizes.append((len(program.variables()), len(program.equations)))
        return solve(program, again)

    with patch.object(lp, "solve", seen):
        yield sizes


def measured(name: str, source: str) -> Measured:
    kernel = kernel_of(source)
    context = Context(
        check_kernel(kernel), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1), (None, None, None), ())
    )
    start = time.perf_counter()
    with sizes_of_programs() as sizes:
        (result,) = find_bounds(Outline(kernel, context, bare(kernel.body)), [context.metric], Oracles())
    seconds = time.perf_counter() - start
    bound = None if result.claim is None else str(shown(result.claim))
    return Measured(name, bound, result.verdict, tuple(sizes), seconds)


def programs() -> Iterator[tuple[str, str]]:
    """Their names and sources."""
    for count in SEQUENCES:
        yield f"{count} loop{'s' if count > 1 else ''} in sequence", in_sequence(count)
    for depth in DEPTHS:
        yield f"nest of depth {depth}", nested(depth)


def page(found: Sequence[Measured]) -> str:
    """The page as Markdown."""
    head = HEAD.format(machine=f"{platform.system()} {platform.machine()}", python=platform.python_version())
    return head + "".join(f"{m.line}\n" for m in found)


def main() -> None:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description="Measures how the search grows, and writes a page.")
    parser.add_argument("--page", type=Path, default=Path("docs/benchmarks.md"), metavar="FILE.md")
    args = parser.parse_args()
    found = []
    for name, source in programs():
        found.append(measured(name, source))
        print(found[-1].line, flush=True)
    args.page.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
