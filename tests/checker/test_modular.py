"""Bounds of random kernels whose unsigned values wrap around: no run costs more."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from checker.certificates.claims import shown, value_at
from checker.oracles import Oracles
from checker.oracles.terms import value_of
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import Const, Op, Param, show_stmt
from logic.typing import check_kernel
from semantics import vectorised
from semantics.cuda import read_cuda

LONG = os.environ.get("WARPBOUND_PROFILE") == "long"
BLOCK = (32, 1, 1)
COUNTED = ("sectors", "divwarps", "steps")
POINTS = ((0, 0), (1, 3), (5, 1), (40, 7), (300, 255), (-1, 12))


def kernel(rng: random.Random) -> str:
    """Branches on unsigned values, accesses at them, and loops between them."""

    def value(depth: int) -> str:
        if depth == 0:
            return rng.choice(["threadIdx.x", "t", "n", "m", "3u", "5", "u", "16", "blockDim.x", "0x10000001u"])
        op = rng.choice(["+", "-", "-", "*", "/", ">>", "&", "%"])
        right = rng.choice(["1", "2u", "7", "5u"]) if op in "/>>%" else value(depth - 1)
        made = f"({value(depth - 1)} {op} {right})"
        return f"({rng.choice(['unsigned', 'int', 'size_t'])}){made}" if rng.random() < 0.25 else made

    def unsigned(depth: int) -> str:
        return f"(unsigned)({value(depth)})"

    def test() -> str:
        return f"{unsigned(2)} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} {value(1)}"

    def access() -> str:
        return f"A[{rng.choice(['8 * t', 't', '(t & 15) * 3', unsigned(1) + ' & 63', unsigned(1)])}] = 1;"

    lines = ["int t = threadIdx.x; unsigned u = t - 3;"]
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if kind < 0.25:
            lines.append(f"u = {value(2)};")
        elif kind < 0.6:
            lines.append(f"if ({test()}) {access()}")
        elif kind < 0.75:
            lines.append(f"if ({test()}) {{ {access()} }} else {{ u -= {value(1)}; {access()} }}")
        else:
            first, step = rng.choice(["0", "t", "m & 7"]), rng.choice(["i++", "i += 2", "i += 5u"])
            limit = rng.choice(["n", "m - 1", "(m - n) & 31", "m / 5u", "(n - 7u) & 15", "(unsigned)n % 9"])
            lines.append(f"for (unsigned i = {first}; i < ({limit}); {step}) {access()}")
    return "\n  ".join([*lines, "if (u > 9) A[8 * t] = 2;"])


@pytest.mark.parametrize("seed", range(400) if LONG else range(6))
def test_no_run_costs_more(seed: int, tmp_path: Path) -> None:
    rng = random.Random(random.randrange(10**9) if LONG else seed)
    file = tmp_path / "k.cu"
    file.write_text(f"__global__ void k(int *A, int n, unsigned m)\n{{\n  {kernel(rng)}\n}}\n")
    reading = read_cuda(str(file)).under((), BLOCK, (1, 1, 1))
    sigma = check_kernel(reading.kernel)
    metrics = tuple(METRICS[name] for name in COUNTED)
    context = Context(sigma, metrics[0], HARDWARE["nvidia"], Launch(BLOCK, (1, 1, 1), ()))
    found = find_bounds(Outline(reading.kernel, context, bare(reading.kernel.body)), metrics, Oracles())
    tried = 0
    for n, m in POINTS:
        known = {"n": n, "m": m}
        given = [Op("==", (Param(name), Const(v))) for name, v in known.items()]
        here = reading.under(given, BLOCK, (1, 1, 1), assume=False, split=False)
        if not all(value_of(fact, {**known, "gridDim.x": 1, "blockDim.x": 32}) for fact in reading.facts):
            continue
        args = {d.name: known[d.name] for d in here.kernel.params}
        result = vectorised.run(here.kernel, BLOCK, (1, 1, 1), args, {}, metrics)
        for r in found:
            if r.claim is not None:
                most, missing = value_at(shown(r.claim), context, {**known, "blockIdx.x": 0, "gridDim.x": 1})
                told = f"{file.read_text()}\n{known}\n{show_stmt(reading.kernel.body)}"
                assert most is not None, missing
                assert result.max_per_warp[r.metric.name] <= most, told
                tried += 1
    assert tried
