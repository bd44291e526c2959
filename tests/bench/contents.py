"""A long trial of the certificates of proofs/data: contents that keep a kernel's contracts are drawn, and a run on them
that costs more than the certified bounds is looked for; docs/data.md says what came of it.

A case is a kernel on one data set, by all of its certificates. Cases are numbered, and depend on their number alone.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from checker.kernel import Claim
from checker.refutation.contracts import broken
from checker.refutation.witness import worth
from logic.syntax import Kernel
from proofs.data.make import HOME, KERNELS, certificates
from semantics import vectorised
from semantics.cuda import read_cuda
from tests.proofs.test_data import SHAPES, claim, given

MOST_ROWS: Final = 40
MOST_LONG: Final = 12
TOLD: Final = 1000
"""Cases after which it is said how many there were."""


@cache
def certified(name: str) -> tuple[Kernel, tuple[Claim, ...]]:
    """A kernel, and what is certified of it."""
    own = tuple(claim(*row) for row in certificates() if row[0] == name)
    return read_cuda(str(HOME / f"{name}.cu")).kernel, own


def violations(number: int) -> Iterator[dict[str, Any]]:
    """The certificates that a case refutes, with what shows it. Raises ValueError where its data keep no contract."""
    rng = random.Random(number)
    name, shape = KERNELS[number % len(KERNELS)], rng.choice(SHAPES)
    kernel, own = certified(name)
    launch, arrays = given(name, shape, number, rng.randint(1, MOST_ROWS), rng.randint(0, MOST_LONG))
    if any(broken(c, launch.args, arrays) for c in own[0].context.launch.contracts):
        raise ValueError(f"case {number}: the data of {name} break a contract")
    metrics = [c.context.metric for c in own if c.per == "warp"]
    run = vectorised.run(kernel, launch.block, launch.grid, launch.args, arrays, metrics, own[0].context.hardware)
    for c in own:
        metric = c.context.metric.name
        cost, bound = run.totals[metric] if c.per == "grid" else run.max_per_warp[metric], worth(c, launch, arrays)
        if cost > bound:
            yield {"case": number, "kernel": name, "metric": metric, "per": c.per, "bound": bound, "run": cost}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first case")
    parser.add_argument("--cases", type=int, default=100_000, metavar="N")
    options = parser.parse_args()
    for done, number in enumerate(range(options.first, options.first + options.cases), 1):
        if found := [*violations(number)]:
            print(*found, sep="\n")
            return 3
        if done % TOLD == 0 or done == options.cases:
            print(f"cases {options.first} to {number}: 0 violations", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
