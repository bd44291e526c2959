"""Random kernels whose warps branches part, under all metrics: certified bounds beside the dearest runs at many points.

`python -m tests.oracles.branches --kernels 1000` tries the kernels of 1,000 seeds, in blocks of 8 to 96 threads.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from random import Random
from typing import Final

from checker.certificates.claims import excluded_in_run, shown, value_at
from checker.oracles import Oracles
from checker.refutation.contracts import of_tables, of_types
from checker.synthesis.bound import Result, find_bounds
from checker.synthesis.outline import Outline, bare
from checker.synthesis.walk import Stuck
from logic.assertions import Context, Launch, conj
from logic.contracts import elements_in
from logic.metrics import HARDWARE, METRICS
from logic.source import SourceError
from logic.syntax import WARP_INDEX, Kernel
from logic.typing import check_kernel
from semantics.cuda import CudaError, Reading, read_cuda
from semantics.lockstep import Initial
from semantics.vectorised import run

Dim = tuple[int, int, int]
Point = Mapping[str, int]

BLOCKS: Final[tuple[Dim, ...]] = (
    (32, 1, 1), (64, 1, 1), (96, 1, 1), (8, 1, 1), (40, 1, 1), (16, 2, 1), (16, 4, 1), (8, 8, 1), (32, 2, 1), (4, 8, 1),
    (5, 7, 1), (24, 2, 1), (8, 4, 2),
)  # fmt: skip
NUMBERS: Final = (-3, 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 96, 97, 130)
POINTS: Final = 16
SECONDS: Final = 4
"""Of the processor for the bounds of a kernel."""

START: Final = "int x = threadIdx.x, y = threadIdx.y, i = blockIdx.x * blockDim.x + x, v = 0;"


class Writer:
    """Draws the body of a kernel `k(const int *A, int *B, const int *L, int n, int m)`, with a tile S."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.block = self.draw.choice(BLOCKS)
        self.grid = (self.draw.choice((1, 1, 2, 3)), 1, 1)
        self.lanes = (
            ["x", "x", "x", "i", "i"] + ["y", "y"] * (self.block[1] > 1) + ["(int)threadIdx.z"] * (self.block[2] > 1)
        )
        self.shared = ["n", "m", "n - 1", "n - m", "L[blockIdx.x]", "L[m]"]
        self.count = 0
        self.written = self.draw.random() < 0.1
        """Whether something may write to L."""

    def one(self, *given: str) -> str:
        return self.draw.choice(given)

    def odds(self, p: float) -> bool:
        return self.draw.random() < p

    def left(self) -> str:
        e, k = self.draw.choice(self.lanes), self.draw.randint(1, 9)
        if self.odds(0.55):
            return e
        return self.one(
            f"{e} + {k}", f"{e} - {k}", f"{k} * {e}", f"{e} + {self.draw.choice(self.lanes)}", f"({e} & {k})",
            f"{e} % {k + 1}", f"{e} / {k + 1}", f"{e} + m", f"{k} - {e}", f"n - {e}", f"(unsigned){e}", f"{e} * m",
            f"({e} ^ {k})", f"A[{e}]", f"min({e}, n)", f"(unsigned)({e} - m)", "v",
        )  # fmt: skip

    def right(self) -> str:
        if self.odds(0.45):
            return self.draw.choice(self.shared[:2])
        return self.one(str(self.draw.choice(NUMBERS)), *self.shared, *self.lanes)

    def atom(self) -> str:
        if self.odds(0.08):
            return self.one("n > m", "n & 1", "m > 3", "L[0] > 2", f"{self.draw.choice(self.lanes)} & 3")
        return f"{self.left()} {self.one('<', '<', '<=', '>', '>=', '==', '!=')} {self.right()}"

    def test(self, depth: int = 2) -> str:
        if depth and self.odds(0.5):
            both = f"{self.inner(depth - 1)} {self.one('&&', '&&', '||')} {self.inner(depth - 1)}"
            return f"!({both})" if self.odds(0.15) else both
        return self.atom()

    def inner(self, depth: int) -> str:
        text = self.test(depth)
        return f"({text})"

    def index(self) -> str:
        e, k = self.draw.choice(self.lanes), self.draw.choice((1, 2, 3, 4, 8, 8, 16, 33))
        if self.block[1] > 1 and self.odds(0.4):
            return self.one(f"x + {self.block[0]} * y", f"8 * x + {8 * self.block[0]} * y", "y + 64 * x", "x * m + y",
                            f"x + {k} * y + n", "16 * y")  # fmt: skip
        return self.one(
            e, f"{k} * {e}", f"{k} * {e}", f"{e} + n", f"{e} + {k}", f"{k} * {e} + m", f"{e} * m", f"{e} / {k}",
            f"{k} * {e} - n", f"n - {e}", f"({e} ^ {k})", f"({e} & {k})", f"min({e}, n)", "n", "v", f"{e} % {k}",
            f"max({k} * {e}, m)", f"({e} < m ? {e} : {k} * {e})",
        )  # fmt: skip

    def cell(self) -> str:
        e, k = self.draw.choice(self.lanes), self.draw.choice((1, 2, 3, 4, 8, 32, 33))
        return f"({self.one(e, f'{k} * {e}', f'{k} * {e} + n', f'{k} * x + y', f'{e} / {k}')}) & 1023"

    def access(self) -> str:
        if self.written and self.odds(0.3):
            return self.one(f"L[{self.index()}] = 3;", "atomicAdd(&L[m], 1);", "int *p = n > m ? B : L; p[x] = 70;")
        roll = self.draw.random()
        if roll < 0.15:
            return self.one(f"S[{self.cell()}] = x;", f"v += S[{self.cell()}];")
        if roll < 0.5:
            return f"B[{self.index()}] = v;"
        if roll < 0.55:
            return f"v += B[{self.index()}];"
        return f"v += A[{self.index()}];"

    def block_of(self, depth: int) -> str:
        return "{ " + " ".join(self.statement(depth) for _ in range(self.draw.choice((1, 1, 2)))) + " }"

    def fresh(self) -> str:
        self.count += 1
        return f"j{self.count}"

    def statement(self, depth: int) -> str:
        roll = self.draw.random()
        if not depth or roll < 0.2:
            return self.access()
        if roll < 0.65:
            text = f"if ({self.test()}) {self.block_of(depth - 1)}"
            if self.odds(0.6):
                text += f" else {self.block_of(depth - 1)}"
            return text
        if roll < 0.72:
            return f"if ({self.test()}) {self.one('return;', f'{{ {self.access()} return; }}')}"
        if roll < 0.78:
            return self.strides(depth)
        return self.turns(depth)

    def turns(self, depth: int) -> str:
        j = self.fresh()
        start, least = self.one("0", "0", "x", "i", "m", "x + 1"), self.draw.choice((1, 1, 2, 4, 8, 32))
        limit = self.one("n", "m", "3", "n - m", "L[blockIdx.x]", "L[0]", "min(n, m)", "x", "n + x")
        step = f"{j} += {self.one(str(least), str(least), 'blockDim.x', '32')}"
        step = self.one(step, step, f"{j}++")
        self.lanes.append(j)
        body = self.block_of(depth - 1)
        if self.odds(0.25):
            jump = f"if ({self.test(1)}) {self.one('break', 'continue', 'break')};"
            body = "{ " + (f"{jump} {body}" if self.odds(0.5) else f"{body} {jump}") + " }"
        self.lanes.remove(j)
        return f"for (int {j} = {start}; {j} < {limit}; {step}) {body}"

    def strides(self, depth: int) -> str:
        """A loop that takes several steps at once, and one for what it leaves."""
        j, k = self.fresh(), self.draw.choice((2, 4))
        s = self.one("blockDim.x", "32", "8", "(int)(blockDim.x * gridDim.x)", "1")
        self.lanes.append(j)
        first, last = self.access(), self.one(self.access(), self.statement(depth - 1))
        self.lanes.remove(j)
        guard = self.one(f"{j} + {k - 1} * {s} < n", f"{j} + {k - 1} * {s} < n", f"{j} + {k} * {s} <= n")
        return (
            f"int {j} = {self.one('x', 'i', '0', 'm')}; for (; {guard}; {j} += {k} * {s}) {{ {first} }} "
            f"for (; {j} < n; {j} += {s}) {{ {last} }}"
        )

    def kernel(self, name: str) -> str:
        body = " ".join(self.statement(self.draw.choice((1, 1, 2))) for _ in range(self.draw.choice((1, 1, 2))))
        const = "" if self.written else "const "
        end = self.one("", "B[x] = v;", "B[0] = v;")
        return (
            f"__global__ void {name}(const int *A, int *B, {const}int *L, int n, int m) "
            f"{{ __shared__ int S[1024]; {START} {body} {end} }}\n"
        )

    def points(self) -> Iterator[Point]:
        for _ in range(POINTS):
            n, m = self.draw.choice(NUMBERS), self.draw.choice(NUMBERS)
            yield {"n": n, "m": m, "L": self.draw.choice((0, 1, 2, 5, 31, 33, 70)), "A": self.draw.randint(0, 40)}


def held(p: Point) -> dict[str, Initial]:
    """What arrays hold at a point."""
    return {
        "L": Initial(lambda i: (p["L"] + i * 3) % 71),
        "A": Initial(lambda i: (p["A"] + i * 7 + i // 5) % 41 - 3),
        "B": Initial(lambda i: (i * 5 + i // 7) % 13),
    }


@dataclass(frozen=True, slots=True)
class Verdict:
    """A seed, a metric and what became of it."""

    seed: int
    metric: str
    kind: str
    why: str = ""


def judged(seed: int, path: Path, per: str = "warp") -> list[Verdict]:
    """The verdicts on the kernel of a seed, by its runs."""
    draws = Writer(seed)
    draws.kernel(f"k{seed}")
    try:
        reading = read_cuda(str(path), f"k{seed}").under((), draws.block, draws.grid)
        found = bounds(reading, draws, per)
    except CudaError as e:
        return [Verdict(seed, "", "refused", e.message)]
    except Stuck as e:
        return [Verdict(seed, "", "stuck", str(e).split("\n")[0])]
    good = [r for r in found if r.verdict == "certified" and r.claim is not None]
    verdicts = [Verdict(seed, r.metric.name, "none") for r in found if r not in good]
    if not good:
        return verdicts
    dearest = dict.fromkeys((r.metric.name for r in good), Fraction(0))
    worth = {r.metric.name: Fraction(0) for r in good}
    kinds: dict[str, tuple[str, str]] = {}
    for p in draws.points():
        costs = cost(reading.kernel, draws, p, per)
        if costs is None:
            continue
        for r in good:
            assert r.claim is not None
            name, bound = r.metric.name, shown(r.claim)
            if excluded_in_run({"n": p["n"], "m": p["m"]}, draws.block, draws.grid, r.claim.context):
                continue
            arrays = held(p) if elements_in([bound]) else {}
            values = [value_at(bound, r.claim.context, at) for at in point(draws, p, arrays)]
            if any(v is None for v, _ in values):
                kinds.setdefault(name, ("about", ", ".join(values[0][1])))
                continue
            value = max(v for v, _ in values if v is not None)
            if value < costs[name]:
                kinds[name] = ("false", f"{value} at {dict(p)}, where a run costs {costs[name]}: {bound}")
            dearest[name], worth[name] = max(dearest[name], costs[name]), max(worth[name], value)
    for name in dearest:
        kind, why = kinds.get(name, ("exact" if dearest[name] == worth[name] else "above", ""))
        verdicts.append(Verdict(seed, name, kind, why or f"{worth[name]} {dearest[name]}"))
    return verdicts


def bounds(reading: Reading, draws: Writer, per: str) -> list[Result]:
    sigma = check_kernel(reading.kernel)
    contracts = (*of_tables(reading), *of_types((), reading))
    launch = Launch(draws.block, draws.grid, conj(reading.facts, sigma), contracts)
    context = Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], launch)
    outline = Outline(reading.kernel, context, bare(reading.kernel.body))
    metrics = tuple(METRICS.values())
    return find_bounds(outline, metrics, Oracles(), per=per, seconds=SECONDS, clock=time.process_time)  # type: ignore[arg-type]


def point(draws: Writer, p: Point, arrays: Mapping[str, Initial]) -> list[dict[str, int]]:
    """What a bound is evaluated at: for each warp, as far as a bound says which one it is about."""
    items = {
        f"{name}[{i}]": int(a.value(i)) for name, a in arrays.items() if a.value is not None for i in range(-10, 300)
    }
    sizes = {"n": p["n"], "m": p["m"], "gridDim.x": draws.grid[0], "gridDim.y": 1, "gridDim.z": 1}
    blocks = range(draws.grid[0])
    warps = range(-(-draws.block[0] * draws.block[1] * draws.block[2] // 32))
    return [
        items | sizes | {"blockIdx.x": b, "blockIdx.y": 0, "blockIdx.z": 0, WARP_INDEX: w}
        for b in blocks
        for w in warps
    ]


def cost(kernel: Kernel, draws: Writer, p: Point, per: str) -> Mapping[str, Fraction] | None:
    """The cost of a run; nothing where it has an error."""
    names = {a.name for a in kernel.arrays if a.space == "global"}
    arrays = {name: a for name, a in held(p).items() if name in names}
    args = {d.name: p[d.name] for d in kernel.params if d.name in p}
    try:
        result = run(kernel, draws.block, draws.grid, args, arrays, step_limit=200_000)
    except SourceError:
        return None
    return result.max_per_warp if per == "warp" else result.totals


def tried(seeds: Sequence[int], folder: Path, per: str = "warp") -> Iterator[Verdict]:
    """The verdicts on the kernels of some seeds, from one file."""
    path = folder / "batch.cu"
    path.write_text("".join(Writer(seed).kernel(f"k{seed}") for seed in seeds))
    return chain.from_iterable(judged(seed, path, per) for seed in seeds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=200, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--per", choices=("warp", "grid"), default="warp")
    args = parser.parse_args()
    start, kinds = time.process_time(), Counter[str]()
    for first in range(args.first, args.first + args.kernels, 25):
        seeds = range(first, min(first + 25, args.first + args.kernels))
        with tempfile.TemporaryDirectory() as folder:
            for v in tried(seeds, Path(folder), args.per):
                kinds[v.kind] += 1
                if v.kind in ("false", "fault"):
                    print(f"{v.seed}: {v.metric}: {v.kind}: {v.why}", flush=True)
    print(f"bounds of {args.kernels} kernels in {time.process_time() - start:.0f} s: {dict(kinds)}")
    return 1 if kinds["false"] or kinds["fault"] else 0


if __name__ == "__main__":
    sys.exit(main())
