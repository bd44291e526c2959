"""The worth of the limits of searches: docs/limits.md, made by `python -m tests.bench.limits`.

Each limit of `checker.limits` is set to the least, and with `--more` to ten times its value, in a process of its own,
and bounds of kernels and loops are found anew; for limits of the search for dear runs, the dearest runs; for limits on
refusals, what is found out about outlines with one mistake each. Those that stand in the files of oracles and of the
search are set there.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final

from checker import limits
from logic.assertions import Dim, Launch
from logic.metrics import METRICS

if TYPE_CHECKING:
    from checker.synthesis.bound import Per
    from checker.synthesis.outline import Outline
    from logic.syntax import Kernel

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "limits.md"
METRIC: Final = METRICS["sectors"]

DEAR: Final = ("addSub3",)
"""Kernels of the suite whose dearest runs are looked for."""

MISTAKES: Final = 2
"""Outlines with a mistake, of those that the tests of `check` have."""

NOTHING: Final = ("FEW", "PEELED", "UNROLLED", "NAMES", "LOOPS", "CASES", "LEFT_OUT", "ZONES", "RANGES", "FAMILY")
"""Limits that may be 0; of others the least is 1, or a hundredth of a second."""


@dataclass(frozen=True, slots=True)
class Example:
    """A kernel that a limit is known to buy a bound of, by the body of its function: B gets what t, the thread, comes
    to."""

    body: str
    metric: str = "sectors"
    per: Per = "warp"
    block: Dim = (32, 1, 1)
    grid: Dim = (None, None, None)


EXAMPLES: Final = {
    "UNROLLED": Example("for (int i = 1; i < 200; i *= 3) B[t + 32 * i] = i;"),
    "PEELED": Example("int i = 0; do { x += A[0]; i++; if (i == 9) break; } while (i < n); B[t] = x;"),
    "FEW": Example(
        "int s = blockDim.x * gridDim.x, i = t; for (; i + s < n; i += 2 * s) x++; for (; i < n; i += s) B[i] = x;"
    ),
    "MODULUS": Example(
        "for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) B[i] = A[i];",
        per="grid",
        block=(64, 1, 1),
        grid=(4, 1, 1),
    ),
    "ENDS": Example("int e = min(A[blockIdx.x], 100); for (int i = 0; i < e; i++) B[0] = i;"),
    "DEFINITION": Example("int y = t % n; x = t / n; int z = x % m; x = x / m; B[(x * m + z) * n + y] = 1;"),
    "FLAGGED": Example("for (int i = 0; i < n; i++) { if (i == 5) break; x += A[0]; } B[t] = x;"),
    "RELAXED": Example(
        "int lo = t - m < 0 ? 0 : t - m, hi = n < t + m ? n : t + m; for (int i = lo; i < hi; i++) B[0] = i;"
    ),
    "SHARPER": Example("for (int i = 0; i < n; i++) { if (i < m) x += A[0]; } B[t] = x;"),
    "FACTORS": Example("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x += A[0]; B[t] = x;"),
    "NAMES": Example(
        "int y = A[t]; x = max(0, y - m); y = min(n, y + m); for (; x < y; x++) A[0] = 1;",
    ),
    "TURNS": Example("for (int i = 0; i < n; i++) { if (i < m) x += A[0]; if (i < 9) x += A[1]; } B[t] = x;"),
    "LOOPS": Example("for (int i = t; i < 32; i += blockDim.x) for (int j = i; j < n; j += 32) B[j] = 1;"),
    "CASES": Example(
        "int e = max(n, 0); for (int i = 0; i < e; i++) x += A[0]; for (int i = e; i < m; i++) x += A[0]; B[t] = x;"
    ),
    "VALUE": Example("for (int i = t % 32 + t / 32 * 4; i < n; i += 64) B[i] = 1;", block=(64, 1, 1)),
    "PARTED": Example("if (t == 0) x += A[0]; if (t == 127) x += A[127]; B[t] = x;", block=(128, 1, 1)),
    "RANGES": Example("if (t < n) B[16 * t] = 1; else B[t + 2] = 1;"),
    "ZONES": Example("for (int j = n - 1; j >= 0; j--) { if (t + j >= m) break; x += 3; } B[t] = x;", "divwarps"),
    "FAMILY": Example("if (t < n) B[t] = 1;", per="block", block=(128, 1, 1)),
}
"""For each limit of searches for bounds a kernel that needs it."""

ELSEWHERE: Final = {
    "oracles": ("MANY", "SPAN_PATIENCE", "MAX_CASES"),
    "oracles.arithmetic": ("DEEPEST", "CHAIN"),
    "oracles.counts": ("MAX_COMBINATIONS", "MAX_WAYS"),
    "oracles.desk": ("MAX_EXAMPLES", "HOPELESS"),
    "oracles.farkas": ("MAX_SPLITS", "MAX_FACTORS", "MAX_CHOICES", "NEAR", "MAX_RATE", "MAX_EXPONENT"),
    "oracles.forms": ("MAX_TERMS",),
    "oracles.instances": ("MOST",),
    "oracles.lanes": ("MAX_THREADS",),
    "oracles.samples": ("TRIES", "MANY"),
    "oracles.second": ("STEPS",),
    "oracles.smt": ("QUICK", "STEPS", "SOON", "LOG_STEPS"),
    "oracles.windows": ("MOST", "ROUNDS"),
    "synthesis.asker": ("SOLVED", "ASKED"),
    "synthesis.bound": ("SECURED",),
    "synthesis.lanewise": ("DEEPEST",),
}
"""Limits that stand in other files of `checker`."""

HEAD: Final = """# Limits of searches

Made by `make limits` (`python -m tests.bench.limits`), which sets each limit of `checker/limits.py` to the least and
searches anew; `--more` also tries ten times its value. None decides anything: with a smaller one less is found, with a
larger one it may take longer. To turn one, change its line in `checker/limits.py`, or in the file of `checker` that its
name begins with.

Seconds are processor time for the whole collection.

The collections are small: "none" says that none of theirs needs the limit, not that nothing does.
"""

KINDS: Final = {
    "bounds": "Bounds of {count} small kernels, one for a limit, that are lost or become others.",
    "dear runs": "Costs of the dearest run that is found of addSub3 at the sizes of the suite, lost or other ones, of "
    "{count}: by a search that ends early and by that of `--tight`.",
    "oracles": "Claims of proofs/features, of {count}, that are lost, become others or need a solver's word, by limits "
    "of the oracles and of how long they are asked.",
    "refusals": "Answers on outlines with a mistake, lost or other ones, of {count}: a state that shows it, a run that "
    "costs more than is claimed, a change that would do.",
}
"""What is measured of each kind."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit: its section, name, value and what it bounds."""

    kind: str
    name: str
    value: int | float
    told: str

    def turned(self, more: bool) -> tuple[int | float, ...]:
        """The values that are tried."""
        whole = isinstance(self.value, int)
        least = (0 if self.name in NOTHING else 1) if whole else 0.01
        return (least, self.value * 10) if more else (least,)


def listed() -> list[Limit]:
    """The limits, in their order, with their docstrings."""
    source = Path(limits.__file__).read_text(encoding="utf-8")
    sections = {
        number: line.strip("# -") for number, line in enumerate(source.splitlines(), 1) if line.startswith("# --- ")
    }
    body = ast.parse(source).body
    found = []
    for node, after in pairwise(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            kind = sections[max(number for number in sections if number < node.lineno)]
            match after:
                case ast.Expr(ast.Constant(str() as told)):
                    name = node.target.id
                    found.append(Limit(kind, name, getattr(limits, name), " ".join(told.split())))
    return found + [elsewhere(file, name) for file, names in ELSEWHERE.items() for name in names]


def elsewhere(file: str, name: str) -> Limit:
    """A limit that stands in another file of `checker`, with its docstring there."""
    module = importlib.import_module(f"checker.{file}")
    lines = Path(module.__file__ or "").read_text(encoding="utf-8")
    told = re.search(rf'^{name}(?:: Final)? = .*\n"""([^"]*)"""', lines, re.MULTILINE)
    return Limit("oracles", f"{file}.{name}", getattr(module, name), " ".join(told[1].split()) if told else "")


# --- one measurement -------------------------------------------------------------------------------------------------


def found_bounds(folder: Path) -> dict[str, str | None]:
    """The bounds of the examples, by the limits that they are for."""
    from checker.certificates.claims import shown
    from checker.oracles import Oracles
    from checker.synthesis.bound import find_bounds
    from tests.checker.synthesis.bounded import of_body

    told: dict[str, str | None] = {}
    for name, example in EXAMPLES.items():
        here = bare_outline(of_body(folder, example.body), Launch(example.block, example.grid))
        (r,) = find_bounds(here, [METRICS[example.metric]], Oracles(), per=example.per, judge=False)
        told[name] = None if r.claim is None else str(shown(r.claim))
    return told


def outline(name: str) -> Outline:
    """A kernel of the suite, to be bounded."""
    from proofs.make import BLOCKS
    from semantics.cuda import read_cuda

    return bare_outline(read_cuda(str(ROOT / "proofs" / name / "kernel.cu")).kernel, Launch(BLOCKS[name]))


def bare_outline(kernel: Kernel, launch: Launch) -> Outline:
    from checker.synthesis.outline import Outline, bare
    from logic.assertions import Context
    from logic.metrics import HARDWARE
    from logic.typing import check_kernel

    return Outline(kernel, Context(check_kernel(kernel), METRIC, HARDWARE["nvidia"], launch), bare(kernel.body))


def found_runs(_: Path) -> dict[str, str | None]:
    """The costs of the dearest runs, by kernel."""
    from checker.cli.data import read_arrays
    from checker.oracles import Oracles
    from checker.refutation.witness import find_witnesses
    from checker.suites.runner import read_suite
    from checker.synthesis.bound import find_bounds

    told: dict[str, str | None] = {}
    cases = read_suite()[0]
    for name in DEAR:
        here = outline(name)
        claims = [r.claim for r in find_bounds(here, [METRIC], Oracles(), judge=False) if r.claim is not None]
        fill = lambda texts, kernel=here.kernel: read_arrays(kernel, texts)  # noqa: E731
        for stale in ("STALE", "PATIENCE"):
            many = limits.INPUTS, limits.EFFORT, getattr(limits, stale)
            for seen in find_witnesses(here.kernel, claims, fill, cases[name].at, (), *many):
                told[f"{name} {stale}"] = None if seen is None else str(seen.cost)
    return told


def found_mistakes(folder: Path) -> dict[str, str | None]:
    """What is found out about outlines with a mistake: a state, a dearer run, a change that would do."""
    from io import StringIO

    from checker.cli import main
    from tests.checker.cli.test_check import BROKEN, written

    told: dict[str, str | None] = {}
    for name, broken in [*BROKEN.items()][:MISTAKES]:
        with redirect_stdout(StringIO()) as out:
            main(["check", str(written(folder, (broken.old, broken.new))), "--format", "json"])
        error = json.loads(out.getvalue())["error"]
        for part in ("witness", "run", "advice"):
            told[f"{name} {part}"] = None if error[part] is None else str(error[part])
    return told


def found_features(_: Path) -> dict[str, str | None]:
    """The claims of proofs/features, and what both checkers say of them."""
    from checker.certificates.claims import shown
    from checker.oracles import Oracles
    from logic.refusals import Rejected
    from proofs.features.make import FEATURES, made

    told: dict[str, str | None] = {}
    for name, feature in FEATURES.items():
        try:
            r = made(feature, Oracles())
        except (ValueError, Rejected):  # no bound, or none that Q:Frame or Q:CaseSplit go with
            told[name] = None
        else:
            told[name] = None if r.claim is None else f"{shown(r.claim)}, {r.verdict}"
    return told


MEASURES: Final = {
    "bounds": found_bounds,
    "oracles": found_features,
    "dear runs": found_runs,
    "refusals": found_mistakes,
}


def measured(kind: str, name: str = "", value: float = 0) -> tuple[dict[str, str | None], float]:
    """What is found with a limit at a value, and seconds of processor time, by a process of its own."""
    with get_context("fork").Pool(1) as pool:
        return pool.apply(one, (kind, name, value))


def one(kind: str, name: str, value: float) -> tuple[dict[str, str | None], float]:
    """The same in this process, which is of no other use after that."""
    if name:
        file, _, name = name.rpartition(".")
        setattr(importlib.import_module(f"checker.{file or 'limits'}"), name, value)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        return MEASURES[kind](Path(folder)), time.process_time() - start


# --- the page --------------------------------------------------------------------------------------------------------


def compared(before: dict[str, str | None], after: dict[str, str | None]) -> str:
    """What is lost, what is another one, what is found in addition."""
    lost = [k for k, v in before.items() if v is not None and after.get(k) is None]
    more = [k for k, v in before.items() if v is None and after.get(k) is not None]
    other = [k for k, v in before.items() if v is not None and after.get(k) not in (None, v)]
    told = [f"{len(keys)} {what}" for keys, what in ((lost, "lost"), (other, "other"), (more, "more")) if keys]
    example = next(iter(lost + other + more), None)
    if example is None:
        return "none"
    if " " not in example:  # a bound is told in full
        example += f": `{before[example] or 'none'}` becomes `{after.get(example) or 'none'}`"
    return f"{', '.join(told)} ({example})"


def table(kind: str, more: bool) -> Iterator[str]:
    """The section of one kind of searches."""
    base, seconds = measured(kind)
    count = sum(v is not None for v in base.values())
    yield f"## {kind.capitalize()}\n"
    told = KINDS[kind].format(count=count)
    yield f"{told} Today {seconds:.1f} seconds.\n"
    columns = ["limit", "what it bounds", "value", "with the least", "seconds"]
    yield f"| {' | '.join(columns + ['with ten times', 'seconds'] * more)} |"
    yield f"| --- | --- | ---: | --- | ---: |{' --- | ---: |' * more}"
    for limit in listed():
        if limit.kind == kind:
            cells = [f"`{limit.name}`", limit.told.rstrip("."), str(limit.value)]
            for value in limit.turned(more):
                found, seconds = measured(kind, limit.name, value)
                cells += [f"{value:g}: {compared(base, found)}", f"{seconds:.1f}"]
            print(*cells, sep=" | ", file=sys.stderr, flush=True)
            yield f"| {' | '.join(cells)} |"
    yield ""


def main() -> None:
    """Writes the page."""
    more = "--more" in sys.argv[1:]
    lines = [line for kind in KINDS for line in table(kind, more)]
    PAGE.write_text(HEAD + "\n" + "\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
