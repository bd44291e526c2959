"""What whole code bases cost: generated folders of 10, 100 and 1,000 files, cold, warm and after a change; folders of
kernels that are named; and a cluster of one worker and of two.

    python -m tests.bench.fleet [--files 10 100 1000] [--folder SRC:NAME ..] [--cluster 24]
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "pipeline.md"
MARK: Final = "## What it takes"

HEAD: Final = """## What it takes

Made by `python -m tests.bench.fleet`, on {machine}, {cores} cores. Whole processes: seconds on the clock, CPU seconds
of all processes together, and memory of the largest one. Generated files have 200 lines and three kernels each; the
options are `--metric sectors --metric conflicts --block 256`. *Changed* is after a change in one kernel of one file.

| files | | seconds | CPU seconds | a file | MiB |
| ---: | --- | ---: | ---: | ---: | ---: |
"""

CLUSTER: Final = """
{files} of these files, nothing kept, their search by a Dask cluster on this machine of workers of a thread:

| workers | seconds |
| ---: | ---: |
"""

WORKERS: Final = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=int(sys.argv[1]), threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process and those that it began took: seconds on the clock and of processors, and bytes of the largest."""

    seconds: float
    cpu: float
    memory: int


def source(number: int, change: int = 0) -> str:
    """A source of 200 lines: three kernels, functions that they call, and host code that launches them."""
    draw = random.Random(number)
    a, b, c = (draw.randint(1, 9) for _ in range(3))
    lines = [
        f"// Part {number} of a code base.",
        f"__device__ int mixed{number}(int x, int y) {{ return {a} * x + {b} * y + {change}; }}",
        f"__global__ void scale{number}(const int *in, int *out, int n) {{",
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;",
        "  if (i < n) {",
        f"    out[i] = mixed{number}(in[i], {c});",
        "  }",
        "}",
        f"__global__ void rows{number}(const float *in, float *out, int width) {{",
        "  float sum = 0;",
        f"  for (int j = {a}; j < width; j += {b}) {{",
        "    sum += in[blockIdx.x * width + j];",
        "  }",
        f"  out[{c} * (blockIdx.x * blockDim.x + threadIdx.x)] = sum;",
        "}",
        f"__global__ void tile{number}(const float *in, float *out, int n) {{",
        "  __shared__ float part[256];",
        "  int t = threadIdx.x;",
        f"  part[t] = in[blockIdx.x * 256 + t + {a}];",
        "  __syncthreads();",
        f"  out[blockIdx.x * 256 + t] = part[({2 * b + 1} * t) % 256];",
        "}",
        f"void launch{number}(const float *in, float *out, int n) {{",
        f"  rows{number}<<<n, 256>>>(in, out, n);",
        f"  tile{number}<<<n / 256, 256>>>(in, out, n);",
        "}",
    ]
    filler = 0
    while len(lines) < 199:
        filler += 1
        lines += [
            f"static int host{number}_{filler}(int x) {{",
            f"  // step {filler}",
            f"  return x * {draw.randint(2, 99)} + {filler};",
            "}",
        ]
    return "\n".join(lines[:200]) + "\n"


def measured(words: Sequence[str], allowed: Sequence[int] = (0, 1)) -> Cost:
    """A run of `warpbound`. Raises RuntimeError where its exit code is not allowed."""
    command = [sys.executable, "-m", "warpbound", *words]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        raise RuntimeError(f"{' '.join(command)} exits with {process.returncode}")
    return Cost(time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss << 10)


OPTIONS: Final = ("--metric", "sectors", "--metric", "conflicts", "--block", "256")


def folder_costs(count: int) -> Iterator[tuple[str, Cost]]:
    """A generated folder: cold, warm, and after a change of one kernel."""
    with tempfile.TemporaryDirectory() as where:
        sources = Path(where) / "src"
        sources.mkdir()
        for number in range(count):
            (sources / f"part{number}.cu").write_text(source(number), encoding="utf-8")
        words = ["bound", str(sources), *OPTIONS, "--cache", f"{where}/cache"]
        yield "cold", measured(words)
        yield "warm", measured(words)
        (sources / "part0.cu").write_text(source(0, change=1), encoding="utf-8")
        yield "changed", measured(words)


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """The address of a Dask cluster on this machine."""
    with tempfile.TemporaryDirectory() as where:
        (Path(where) / "cluster.py").write_text(WORKERS, encoding="utf-8")
        command = [sys.executable, f"{where}/cluster.py", str(workers)]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            if process.stdout is None:
                raise RuntimeError("nothing was heard of the cluster")
            yield process.stdout.readline().strip()
            process.kill()


def cluster_costs(count: int) -> Iterator[tuple[int, Cost]]:
    """A generated folder, searched by one worker and by two; they are warm."""
    with tempfile.TemporaryDirectory() as where:
        for number in range(count):
            (Path(where) / f"part{number}.cu").write_text(source(number), encoding="utf-8")
        for workers in (1, 2):
            with cluster(workers) as address:
                words = ["bound", where, *OPTIONS, "--no-cache", "--cluster", address]
                measured(words)
                yield workers, measured(words)


def rows(counts: Sequence[int], folders: Sequence[tuple[Path, str]]) -> Iterator[str]:
    """The table's rows, as they are measured."""
    for count in counts:
        for what, cost in folder_costs(count):
            yield row(count, what, cost)
    for folder, name in folders:
        files = sum(1 for _ in folder.rglob("*.cu"))
        with tempfile.TemporaryDirectory() as where:
            for what in ("cold", "warm"):
                words = ["bound", str(folder), "--cache", where, "--time-limit", "30"]
                yield row(files, f"{name}, {what}", measured(words, (0, 1, 2)))


def row(files: int, what: str, cost: Cost) -> str:
    each = cost.cpu / files
    return f"| {files:,} | {what} | {cost.seconds:.1f} | {cost.cpu:.1f} | {each:.2f} | {cost.memory >> 20} |"


def key(line: str) -> tuple[str, int, int]:
    """What a row is about: how many files, and what of them; files of our own come first."""
    files, what = (cell.strip() for cell in line.split("|")[1:3])
    name, _, how = what.rpartition(", ")
    return name, int(files.replace(",", "")), ("cold", "warm", "changed").index(how)


def written(new: Sequence[str], clustered: int, workers: Sequence[str]) -> None:
    """Writes the section: these rows, and those that it had of others."""
    before, _, section = PAGE.read_text(encoding="utf-8").partition(MARK)
    old = [line for line in section.splitlines() if line.startswith("| ") and line[2].isdigit() and line.count("|") > 3]
    of_workers = [
        line for line in section.splitlines() if line.startswith("| ") and line[2].isdigit() and line.count("|") == 3
    ]
    of_files = next((line.split()[0] for line in section.splitlines() if " of these files, " in line), clustered)
    table = sorted({key(line): line for line in [*old, *new]}.values(), key=key)
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    text = HEAD.format(machine=machine, cores=os.cpu_count()) + "\n".join(table) + "\n"
    if workers or of_workers:
        text += CLUSTER.format(files=clustered if workers else of_files) + "\n".join(workers or of_workers) + "\n"
    PAGE.write_text(f"{before.rstrip()}\n\n{text}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, nargs="*", default=[10, 100, 1000], metavar="N")
    parser.add_argument(
        "--folder",
        action="append",
        metavar="FOLDER:NAME",
        help="a code base (default: the kernels of the suite, proofs:the suite's)",
    )
    parser.add_argument("--cluster", type=int, default=24, metavar="N", help="files that a cluster searches; 0: none")
    options = parser.parse_args()
    chosen = [f"{ROOT / 'proofs'}:the suite's"] if options.folder is None else options.folder
    folders = [(Path(folder), name) for folder, _, name in (text.partition(":") for text in chosen)]
    new, workers = list[str](), list[str]()
    for line in rows(options.files, folders):
        new.append(line)
        print(line, flush=True)
        written(new, options.cluster, workers)
    for count, cost in cluster_costs(options.cluster) if options.cluster else ():
        workers.append(f"| {count} | {cost.seconds:.1f} |")
        print(workers[-1], flush=True)
    if workers:
        written(new, options.cluster, workers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
