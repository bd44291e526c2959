"""Certified bounds of random C++ (`tests.oracles.programs`) beside the accesses that g++ counts.

`python -m tests.oracles.promised --programs 1000` tries the programs of 1,000 seeds. Lanes have cells of their own, at
least a sector apart, and so a warp pays for each access of each lane: what it costs is at least what g++ counts.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from checker.certificates.claims import shown, value_at
from checker.oracles import Oracles
from checker.synthesis.bound import Result, find_bounds
from checker.synthesis.outline import Outline, bare
from checker.synthesis.walk import Stuck
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.typing import check_kernel
from semantics.cuda import CudaError, Reading, read_cuda
from tests.oracles.compare import Told, apart
from tests.oracles.programs import Writer
from tests.oracles.written import BEFORE, N, Verdict, compiled

LANES: Final = 32
SECONDS: Final = 20
"""Of the clock for the bound of a program, unless others are given."""

WRONG: Final = ("below", "fault")
"""Verdicts on bounds that do not hold, and on internal errors."""


def promised(reading: Reading, counted: int, tell: Callable[[Told], None]) -> None:
    """Tells what became of the bound on the sectors of a warp that has so many accesses."""
    block, grid = (LANES, 1, 1), (1, 1, 1)
    reading = reading.under((), block, grid)
    sigma = check_kernel(reading.kernel)
    launch = Launch(block, grid, conj(reading.facts, sigma))
    context = Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], launch)

    def done(found: Result) -> None:
        if found.claim is None or found.verdict != "certified":
            tell(("none", ""))
            return
        at = {"n": N} | dict.fromkeys(("gridDim.x", "gridDim.y", "gridDim.z"), 1)
        value, lacking = value_at(shown(found.claim), found.claim.context, at)
        if value is None:
            tell(("about " + re.sub(r"\[.*", "", lacking[0]), ""))
        elif value < counted:
            tell(("below", f"{value} sectors are certified, and {counted} counted"))
        else:
            tell(("equal" if value == counted else "above", ""))

    try:
        find_bounds(
            Outline(reading.kernel, context, bare(reading.kernel.body)), [METRICS["sectors"]], Oracles(), done=done
        )
    except Stuck:
        tell(("none", ""))
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as e:
        tell(("fault", repr(e)))


def tried(seeds: Sequence[int], folder: Path, seconds: int = SECONDS) -> list[Verdict]:
    """The verdicts on the bounds of the programs of some seeds, which are compiled at once."""
    texts = {seed: Writer(seed).program() for seed in seeds}
    host = compiled(texts, folder, "-O1", LANES)  # else g++ finds some places twice
    path, found = folder / "batch.cu", []
    path.write_text(BEFORE + "".join(t for s, t in texts.items() if host[s]))
    for seed in seeds:
        if not (theirs := host[seed]):
            found.append(Verdict(seed, "invalid" if theirs is None else "undefined"))
            continue
        try:
            reading = read_cuda(str(path), f"k{seed}")
        except CudaError as e:
            found.append(Verdict(seed, "refused", e.message))
            continue
        if reading.facts:
            found.append(Verdict(seed, "facts"))
            continue
        counted = sum(t.loads + t.stores for t in theirs)
        told = apart(seconds, 1, lambda tell, r=reading, n=counted: promised(r, n, tell))  # type: ignore[misc]
        found += [Verdict(seed, kind, why) for kind, why in told] or [Verdict(seed, "not in time")]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=200, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--seconds", type=int, default=SECONDS, metavar="N", help=f"for a bound (default: {SECONDS})")
    args = parser.parse_args()
    start, kinds = time.monotonic(), Counter[str]()
    for first in range(args.first, args.first + args.programs, 25):
        seeds = range(first, min(first + 25, args.first + args.programs))
        with tempfile.TemporaryDirectory() as folder:
            for v in tried(seeds, Path(folder), args.seconds):
                kinds[v.kind] += 1
                if v.kind in WRONG:
                    print(f"{v.seed}: {v.kind}: {v.why}", flush=True)
    print(f"bounds of {kinds.total()} programs in {time.monotonic() - start:.0f} s: {dict(kinds)}")
    return 1 if any(kinds[kind] for kind in WRONG) else 0


if __name__ == "__main__":
    sys.exit(main())
