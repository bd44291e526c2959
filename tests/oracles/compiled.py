"""Random kernels, run by us and, as PTX that nvcc makes of them, by our interpreter: what arrays hold in the end.

`python -m tests.oracles.compiled --kernels 1000` tries the kernels of 1,000 seeds, from `--first` on: those of
`tests.oracles.kernels`. nvcc keeps products and sums apart (`-fmad=false`), so floats have to be equal, too. Counts are
told as they are: the compiler may merge accesses and move them, or need more.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from checker.analysis.compiled.launch import entry, placed
from checker.analysis.compiled.sites import Compiled, cost_of
from checker.analysis.nvcc import compile_ptx
from checker.notation.ptx import read_ptx
from logic.metrics import HARDWARE, METRICS
from logic.source import SourceError
from semantics import grid, vectorised
from semantics.cuda import CudaError, read_cuda
from semantics.ptx import simulate
from semantics.ptx.program import Module
from tests.oracles.cases import BEFORE, Case
from tests.oracles.compare import batches, contents, differs
from tests.oracles.kernels import case

COUNTED: Final = ("sectors", "conflicts")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a case ended: 'equal', 'different', 'refused' by the front end, or 'unknown' to the interpreter; `why` in
    words. `counts` says of each metric whether the compiled code needs less, as much or more in all."""

    name: str
    kind: str
    why: str = ""
    counts: Sequence[str] = field(default_factory=tuple)


def _filled(data: bytes) -> Callable[[int, int], bytes]:
    """The bytes of an array with all fields of its structures; a run of the source knows the first where it moves them
    whole."""
    return lambda first, count: data[first : first + count].ljust(count, b"\0")


def judged(c: Case, module: Module, path: str) -> Verdict:
    """A run of the source beside one of the compiled code."""
    hardware = HARDWARE["nvidia"]
    try:
        reading = read_cuda(path, c.name)
    except CudaError as e:
        return Verdict(c.name, "refused", e.message)
    kernel = reading.kernel
    given, args = contents(kernel, c.arrays), {"n": c.n} if kernel.params else {}
    compiled = Compiled([a.name for a in kernel.arrays if a.space == "shared"])
    try:
        f = entry(module, kernel.name, reading.symbol)
        launch = grid.prepare(kernel, c.block, c.grid, args, given, hardware)
        memory = placed(module, f, launch, reading.passed, reading.fields, {})
        whole = {a.name: a.bytes for a in c.arrays}
        regions = [replace(r, fill=_filled(whole[r.name])) if r.name in whole else r for r in memory.regions]
        ran = simulate.run(module, f, c.block, c.grid, memory.arguments, regions, hardware, compiled)
    except SourceError as e:
        return Verdict(c.name, "unknown", f"{e.loc}: {e.message}")
    result = vectorised.run(kernel, c.block, c.grid, args, given, [METRICS[m] for m in COUNTED], hardware)
    names = [r.name for r in memory.regions]
    for a in c.arrays:
        if a.role != "read" and a.apart and a.name in names:
            left = ran.windows.bytes_of(names.index(a.name), 0, len(a.bytes))
            if why := differs(a, result, left):
                return Verdict(c.name, "different", why)
    counts = []
    for m in COUNTED:
        ours, theirs = int(result.totals[m]), cost_of(list(compiled.sites.values()), METRICS[m]).total()
        counts.append(f"{m} {'as many' if ours == theirs else 'fewer' if theirs < ours else 'more'}")
    return Verdict(c.name, "equal", "", counts)


def tried(seeds: Sequence[int], nvcc: str, arch: str) -> list[Verdict]:
    """The verdicts of a batch of kernels."""
    cases = [case(seed) for seed in seeds]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "batch.cu"
        file.write_text(BEFORE["cuda"] + "".join(c.cuda for c in cases))
        module = read_ptx(compile_ptx(nvcc, str(file), arch, ["-fmad=false", "-w"]), "batch.ptx")
        return [judged(c, module, str(file)) for c in cases]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=1000, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--arch", default="sm_90")
    args = parser.parse_args()
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        print("nvcc is not here")
        return 1
    start, kinds, counts = time.process_time(), Counter[str](), Counter[str]()
    for seeds in batches(args.first, args.kernels):
        for v in tried(seeds, nvcc, args.arch):
            kinds[v.kind] += 1
            counts.update(v.counts)
            if v.kind != "equal":
                print(f"{v.name}: {v.kind}: {v.why}", flush=True)
    print(f"{sum(kinds.values())} kernels in {time.process_time() - start:.0f} s of a processor: {dict(kinds)}")
    print(dict(sorted(counts.items())))
    return 1 if kinds["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
