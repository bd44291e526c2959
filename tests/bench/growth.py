"""How time and memory grow with the work, as the page docs/benchmarks.md (`make growth`): the search, the two checkers,
the two engines of runs, the whole suite."""

from __future__ import annotations

import argparse
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest.mock import patch

from checker.certificates.claims import shown
from checker.certificates.document import write
from checker.certificates.evidence import proof
from checker.kernel import Ledger, check, claim
from checker.oracles import Oracles, lp
from checker.oracles.programs import Program
from checker.recheck import recheck
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.derivation import size
from logic.metrics import HARDWARE, METRICS
from logic.rules import SOUND
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics.cuda import read_cuda
from tests.bench.test_growth import chain

SEQUENCES: Final = (1, 10, 100)

DEPTHS: Final = (1, 2, 3, 4, 5, 6)

BODY: Final = "A[blockDim.x * {i} + threadIdx.x] = {i};"

CHECKS: Final = """
## How checking grows

Derivations for `j <- j + 1; i <- h; ...`, about four rule applications a statement: the kernel's time, and the second
checker's for the certificate.

| statements | rule applications | kernel, seconds | second checker, seconds |
| ---: | ---: | ---: | ---: |
"""

RUNS: Final = """
## How runs grow

Whole processes of `warpbound run`, blocks of 256 threads, one element a thread; the fast engine, and the reference.

| kernel | blocks | fast, seconds | MiB | reference, seconds | MiB |
| --- | ---: | ---: | ---: | ---: | ---: |
"""

LONGER: Final = """
## How long programs grow

Seconds of processor time for the four metrics together, blocks of 32: branches one after the other, each with a test of
a parameter of its own and an access on both sides (twice as many ways through with each), and assignments, every fourth
an access.

| program | sectors | steps | verdicts | seconds |
| --- | ---: | ---: | --- | ---: |
"""

WHOLE: Final = """
## The suite

| command | seconds | CPU seconds | MiB, largest process |
| --- | ---: | ---: | ---: |
"""

COMMANDS: Final = (
    ("warpbound recheck proofs/*/*.json", ("recheck", *sorted(str(p) for p in Path("proofs").glob("*/*.json")))),
    ("warpbound suite", ("suite",)),
)

# Runs a command; prints the seconds, the CPU seconds and the MiB of its largest process.
MEASURED: Final = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)
"""

HEAD: Final = """# Benchmarks

Made by `make growth` (`python -m tests.bench.growth`), on {machine}, Python {python}; other benchmarks: `make bench`.

## How the search grows

Programs of loops `for (i = 0; i < n; i++)` around `A[blockDim.x * i + threadIdx.x] = i`, blocks of 32, metric
`steps`; the loops of a nest have a bound each. Time is processor time from the kernel to the certified bound: what
holds where, potentials, derivation, both checkers' judgement. Size is that of the largest linear program: unknowns x
equations. Where the unknowns that suffice for most programs do not, the search tries again with more. Solvers have a
time limit: on a busy machine the deepest nest may end not-proved.

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


def branching(count: int) -> str:
    """The source of branches one after the other, each with a test of its own parameter and both sides."""
    params = ", ".join(f"int p{k}" for k in range(count))
    ifs = "".join(f"    if (p{k} > {k}) A[threadIdx.x] = {k}; else A[2 * threadIdx.x] = {k};\n" for k in range(count))
    return f"__global__ void branches(int *A, {params})\n{{\n{ifs}}}\n"


def straight(count: int) -> str:
    """The source of assignments and accesses one after the other, three of four without an access."""
    kinds = ("x = x + n;", "y = x - y;", "x = y & 1023;", "A[blockDim.x * n + threadIdx.x] = x;")
    lines = "".join(f"    {kinds[k % 4]}\n" for k in range(count))
    return f"__global__ void straight(int *A, int n)\n{{\n    int x = 0, y = 0;\n{lines}}}\n"


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

    def seen(program: Program, again: bool = True) -> object:
        if again:  # else it looks for an arithmetic proof
            sizes.append((len(program.variables()), len(program.equations)))
        return solve(program, again)

    with patch.object(lp, "solve", seen):
        yield sizes


def measured(name: str, source: str) -> Measured:
    kernel = kernel_of(source)
    context = Context(
        check_kernel(kernel), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1), (None, None, None), ())
    )
    start = time.process_time()
    with sizes_of_programs() as sizes:
        (result,) = find_bounds(Outline(kernel, context, bare(kernel.body)), [context.metric], Oracles())
    seconds = time.process_time() - start
    bound = None if result.claim is None else str(shown(result.claim))
    return Measured(name, bound, result.verdict, tuple(sizes), seconds)


def programs() -> Iterator[tuple[str, str]]:
    """Their names and sources."""
    for count in SEQUENCES:
        yield f"{count} loop{'s' if count > 1 else ''} in sequence", in_sequence(count)
    for depth in DEPTHS:
        yield f"nest of depth {depth}", nested(depth)


def checks() -> Iterator[str]:
    """The rows of the table on checking."""
    for statements in (25, 250, 2500):
        kernel, context, derivation, _ = chain(statements)
        start, ledger = time.perf_counter(), Ledger()
        oracle = Oracles()
        theorem = check(derivation, SOUND, context, oracle, ledger)
        by_kernel = time.perf_counter() - start
        document = write(claim(kernel, theorem, context, oracle, ledger), derivation, ledger, proof, {})
        start = time.perf_counter()
        verdict = recheck(document).verdict
        again = time.perf_counter() - start
        if verdict != "valid":
            raise RuntimeError(verdict)
        yield f"| {statements:,} | {size(derivation):,} | {by_kernel:.2f} | {again:.2f} |"


def process(*words: str) -> tuple[float, float, int]:
    """Seconds, CPU seconds and MiB of a command of the tool."""
    command = (sys.executable, "-c", MEASURED, str(Path(sys.executable).with_name("warpbound")), *words)
    seconds, cpu, memory = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(cpu), int(memory)


def longer() -> Iterator[str]:
    """The rows of the table on long programs."""
    for source, count, what in [
        *((branching(n), n, "branches in sequence") for n in (8, 16, 32)),
        *((straight(n), n, "statements") for n in (30, 300, 3000)),
    ]:
        kernel = kernel_of(source)
        launch = Launch((32, 1, 1), (None, None, None), ())
        context = Context(check_kernel(kernel), METRICS["steps"], HARDWARE["nvidia"], launch)
        start = time.process_time()
        found = find_bounds(Outline(kernel, context, bare(kernel.body)), [*METRICS.values()], Oracles())
        seconds = time.process_time() - start
        bounds = {r.metric.name: "none" if r.claim is None else f"`{shown(r.claim)}`" for r in found}
        verdicts = ", ".join(dict.fromkeys(r.verdict for r in found))
        yield f"| {count} {what} | {bounds['sectors']} | {bounds['steps']} | {verdicts} | {seconds:.2f} |"


def runs() -> Iterator[str]:
    """The rows of the table on runs."""
    for name, size_ in (("vectorAdd", "numElements"), ("reduce1", "n")):
        for blocks in (1, 10, 100, 1000):
            launch = ("--block", "256", "--grid", str(blocks), "--arg", f"{size_}={256 * blocks}")
            words = ("run", f"proofs/{name}/kernel.cu", *launch, "--engine")
            (fast, _, mib), (slow, _, more) = process(*words, "fast"), process(*words, "reference")
            yield f"| {name} | {blocks:,} | {fast:.2f} | {mib} | {slow:.2f} | {more} |"


def whole() -> Iterator[str]:
    """The rows of the table on the suite."""
    for shown_as, words in COMMANDS:
        seconds, cpu, memory = process(*words)
        yield f"| `{shown_as}` | {seconds:.1f} | {cpu:.1f} | {memory} |"


def replaced(page: Path, section: str) -> None:
    """Writes a section into a page, from its line `## ..` to the next one: in the place of the one with that line, else
    at the end."""
    head, *others = _sections(page.read_text(encoding="utf-8"))
    found = [k for k, other in enumerate(others) if _title(other) == _title(section)]
    if found:
        others[found[0]] = section + ("\n" if found[0] < len(others) - 1 else "")
    else:
        others[-1:] = [others[-1].rstrip("\n") + "\n\n", section] if others else [section]
    page.write_text(head + "".join(others), encoding="utf-8")


def _sections(page: str) -> list[str]:
    """What stands before the first line `## ..`, and what each has up to the next."""
    return re.split(r"^(?=## )", page, flags=re.MULTILINE)


def _title(section: str) -> str:
    return section.split("\n", maxsplit=1)[0]


def searches() -> Iterator[str]:
    """The rows of the table on the search."""
    for name, source in programs():
        yield measured(name, source).line


def main() -> None:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description="Measures how the search grows, and writes a page.")
    parser.add_argument("--page", type=Path, default=Path("docs/benchmarks.md"), metavar="FILE.md")
    parser.add_argument("--part", choices=("search", "longer"), help="measure this alone, and write its section")
    args = parser.parse_args()
    head = HEAD.format(machine=f"{platform.system()} {platform.machine()}", python=platform.python_version())
    if args.part:
        text, rows = (_sections(head)[1], searches()) if args.part == "search" else (LONGER.lstrip("\n"), longer())
        replaced(args.page, text + "".join(f"{row}\n" for row in rows))
        return
    page = ""
    for text, rows in ((head, searches()), (LONGER, longer()), (CHECKS, checks()), (RUNS, runs()), (WHOLE, whole())):
        page += text
        for row in rows:
            print(row, flush=True)
            page += f"{row}\n"
    found = _sections(args.page.read_text(encoding="utf-8"))[1:] if args.page.exists() else []
    page += "".join(f"\n{s}" for s in found if f"\n{_title(s)}\n" not in page)  # others make them
    args.page.write_text(page.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
