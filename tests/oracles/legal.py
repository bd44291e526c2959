"""What is legal CUDA C: nvcc's word beside ours, kernel by kernel, and the shared memory that it reports.

`python -m tests.oracles.legal FILE.cu ..` (or folders) prints where the two disagree. A source that nvcc refuses and we
accept is a fault; one that we refuse with words and nvcc accepts is a limit. `--random N` writes N kernels and tries
these, and N sources with a fault that no compiler may accept.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from checker.analysis.nvcc import needed
from logic.source import SourceError
from logic.syntax import Kernel
from semantics.cuda import CudaError, read_cuda
from semantics.cuda.reader import kernel_names
from tests.oracles.cases import BEFORE
from tests.oracles.kernels import case

BATCH: Final = 25


@dataclass(frozen=True, slots=True)
class Compiled:
    """nvcc's word: whether it accepts a file, its first error, registers and bytes of shared memory by kernel."""

    accepted: bool
    error: str
    used: dict[str, tuple[int, int]]


def compiled(file: Path, arch: str = "sm_90", more: Sequence[str] = ()) -> Compiled:
    """A file, compiled to machine code that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["nvcc", "-std=c++17", f"-arch={arch}", "-w", "-cubin", "-Xptxas", "-v", *more]
        done = subprocess.run(
            [*command, "-o", f"{folder}/out", str(file)], capture_output=True, text=True, timeout=600, check=False
        )
    used = {name: (m.registers, m.shared) for name, m in needed(done.stderr).items()}
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return Compiled(done.returncode == 0, errors[0] if errors else "", used)


def shared(kernel: Kernel) -> tuple[int, int]:
    """Bytes of the kernel's static shared arrays, and how many more alignment may take: of what nvcc may not leave out.

    A structure's fields are arrays of their own that lie in each other, and count once."""
    arrays: dict[str, tuple[int, int]] = {}
    for a in kernel.arrays:
        if a.space == "shared" and a.length is not None:
            arrays[a.name.split(".")[0]] = (a.length * a.stride, 16)
    return sum(size for size, _ in arrays.values()), sum(more for _, more in arrays.values())


# --- faults ----------------------------------------------------------------------------------------------------------


def _declared(text: str) -> str:
    return text.replace("int g = l", "int h = l", 1)


FAULTS: Final[dict[str, Callable[[str], str]]] = {
    "a name that is not declared": _declared,
    "a semicolon that is missing": lambda text: text.replace(
        "int x = l & 7, y = 1, z = n;", "int x = l & 7, y = 1, z = n", 1
    ),
    "a write to what is const": lambda text: text.replace("  float f =", "  A0[0] = A0[1];\n  float f =", 1),
    "a structure as a number": lambda text: text.replace("  float f =", "  Pair pair; x = pair + 1;\n  float f =", 1),
    "break outside a loop": lambda text: text.replace("  float f =", "  break;\n  float f =", 1),
    "a number too many": lambda text: text.replace("  float f =", "  __syncthreads(1);\n  float f =", 1),
    "a name declared twice": lambda text: text.replace("  float f =", "  int x = 3;\n  float f =", 1),
    "a pointer as a number": lambda text: text.replace("  float f =", "  x = A0;\n  float f =", 1),
    "a float's remainder": lambda text: text.replace("  float f =", "  x = 2.5f % 2;\n  float f =", 1),
    "a kernel that returns a value": lambda text: text.replace("__global__ void", "__global__ int", 1),
    "a field that is not there": lambda text: text.replace("  float f =", "  Pair pair; pair.q = 1;\n  float f =", 1),
    "a label twice": lambda text: text.replace(
        "  float f =", "  switch (x) { case 1: break; case 1: break; }\n  float f =", 1
    ),
    "a call of nothing": lambda text: text.replace("  float f =", "  x = nothing(3);\n  float f =", 1),
}


def ours(file: Path, name: str | None = None) -> str:
    """Our word: '' where the kernel is read, else why not."""
    try:
        read_cuda(str(file), name)
    except SourceError as e:
        return str(e).replace("\n", " ") or "refused"
    return ""


def trials(number: int, first: int, folder: Path) -> Iterator[tuple[str, str]]:
    """Kind and words of each disagreement; '' for what both say."""
    for start in range(first, first + number, BATCH):
        cases = [case(seed) for seed in range(start, min(start + BATCH, first + number))]
        file = folder / f"batch{start}.cu"
        file.write_text(BEFORE["cuda"] + "".join(c.cuda for c in cases))
        word = compiled(file)
        if not word.accepted:
            yield "nvcc refuses", f"{file.name}: {word.error}"
            continue
        for c in cases:
            try:
                kernel = read_cuda(str(file), c.name).kernel
            except CudaError as e:
                yield "we refuse", f"{c.name}: {e}"
                continue
            least, more = shared(kernel)
            _, theirs = next((used for name, used in word.used.items() if f"{len(c.name)}{c.name}P" in name), (0, 0))
            if theirs > least + more:
                yield "shared memory", f"{c.name}: {theirs} bytes by nvcc, {least} by us"
            else:
                yield ("equal bytes" if theirs == least else "fewer bytes by nvcc" if theirs < least else "padding"), ""


def faults(number: int, first: int, folder: Path) -> Iterator[tuple[str, str]]:
    """The same of sources with a fault."""
    draw = random.Random(first)
    for seed in range(first, first + number):
        name = draw.choice(sorted(FAULTS))
        c = case(seed)
        text = FAULTS[name](c.cuda)
        file = folder / f"fault{seed}.cu"
        file.write_text(BEFORE["cuda"] + text)
        word, own = compiled(file), ours(file, c.name)
        if word.accepted != (not own):
            who = "only nvcc accepts" if word.accepted else "only we accept"
            yield who, f"{c.name}, {name}: {own or word.error}"
        else:
            yield "both refuse" if own else "both accept", ""


def of_files(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The same of files, kernel by kernel."""
    for path in paths:
        for file in sorted(path.rglob("*.cu")) if path.is_dir() else [path]:
            word = compiled(file, more=["-I", str(file.parent)])
            try:
                names: list[str] = kernel_names(str(file))
            except SourceError as e:
                yield ("both refuse" if not word.accepted else "only nvcc accepts"), f"{file}: {e}"
                continue
            for name in names:
                own = ours(file, name)
                kind = {(True, True): "both accept", (True, False): "only nvcc accepts"}.get(
                    (word.accepted, not own), "only we accept" if not own else "both refuse"
                )
                yield kind, f"{file}: {name}: {own or word.error}" if kind.startswith("only") else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="so many kernels, and so many with a fault")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    args = parser.parse_args()
    if shutil.which("nvcc") is None:
        print("nvcc is not here: install a CUDA toolkit, and have it on the PATH")
        return 1
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for found in (
            of_files(args.files),
            trials(args.random, args.first, Path(folder)),
            faults(args.random, args.first, Path(folder)),
        ):
            for kind, words in found:
                counts[kind] += 1
                if words:
                    print(f"{kind}: {words}", flush=True)
    print(", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
