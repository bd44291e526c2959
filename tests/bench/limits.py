"""The worth of the limits of searches: docs/limits.md, made by `python -m tests.bench.limits`.

Each limit of `checker.limits` is set to the least, and with `--more` to ten times its value, in a process of its own,
and bounds of kernels and loops are found anew; for limits of the search for dear runs, the dearest runs; for limits on
refusals, what is found out about outlines with one mistake each.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final

from checker import limits
from logic.assertions import Dim
from logic.metrics import METRICS

if TYPE_CHECKING:
    from checker.synthesis.outline import Outline
    from logic.syntax import Kernel

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "limits.md"
METRIC: Final = METRICS["sectors"]

KERNELS: Final = {
    "bounds": ("addSub3",),
    "dear runs": ("addSub3",),
    "refusals": (),
}
"""Kernels of the suite that are looked at."""

EVERY: Final = 3
"""One of so many loops is looked at."""

MISTAKES: Final = 2
"""Outlines with a mistake, of those that the tests of `check` have."""
HEAD: Final = """# Limits of searches

Made by `make limits` (`python -m tests.bench.limits`), which sets each limit of `checker/limits.py` to the least and
searches anew; `--more` also tries ten times its value. None decides anything: with a smaller one less is found, with a
larger one it may take longer. To turn one, change its line in `checker/limits.py`.

Seconds are processor time for the whole collection.

The collection is small: "none" says that none of it needs the limit, not that nothing does. That each of these is of
use to something is for the tests of the search to say.
"""

KINDS: Final = {
    "bounds": "Bounds that are lost, or another one, of {count}: {kernels}, and loops of the "
    "tests of the search, one of three; metric sectors.",
    "dear runs": "Costs of the dearest run that is found, lost or other ones, of {count}: {kernels}, at the sizes of "
    "the suite.",
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
        least = (
            (0 if self.name in ("PEELED", "UNROLLED", "NAMES", "LOOPS", "CASES", "LEFT_OUT") else 1) if whole else 0.01
        )
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
    return found


# --- one measurement -------------------------------------------------------------------------------------------------


def texts() -> Iterator[tuple[str, str]]:
    """Loops that the tests of the search bound, as outlines: the first of each test."""
    from tests.checker.synthesis import test_flags, test_logarithms, test_search
    from tests.checker.synthesis.bounded import HEADER

    found = []
    for module in (test_search, test_logarithms, test_flags):
        for name, test in vars(module).items():
            for mark in getattr(test, "pytestmark", ()):
                if mark.name == "parametrize" and mark.args[0] in (("body", "bound"), "body", ("body", "turns")):
                    row = next(iter(mark.args[1]))
                    body = row if isinstance(row, str) else row[0]
                    found.append((name.removeprefix("test_"), f"{HEADER}{body}\nend"))
    yield from found[::EVERY]


def found_bounds(_: Path) -> dict[str, str | None]:
    """The bounds of kernels and loops, by name."""
    from checker.certificates.claims import shown
    from checker.notation import parse_outline
    from checker.notation.problem import SyntaxProblem
    from checker.oracles import Oracles
    from checker.synthesis.bound import find_bounds
    from tests.bench.growth import in_sequence, kernel_of, nested

    outlines = {name: outline(name) for name in KERNELS["bounds"]}
    outlines |= {
        name: bare_outline(kernel_of(text), (32, 1, 1))
        for name, text in (("nest", nested(2)), ("sequence", in_sequence(2)))
    }
    for name, text in texts():
        with suppress(SyntaxProblem):  # a part that the test makes a program of
            outlines[name] = parse_outline(text, name)
    told: dict[str, str | None] = {}
    for name, one_ in outlines.items():
        (r,) = find_bounds(one_, [METRIC], Oracles(), judge=False)
        told[name] = None if r.claim is None else str(shown(r.claim))
    return told


def outline(name: str) -> Outline:
    """A kernel of the suite, to be bounded."""
    from proofs.make import BLOCKS
    from semantics.cuda import read_cuda

    return bare_outline(read_cuda(str(ROOT / "proofs" / name / "kernel.cu")).kernel, BLOCKS[name])


def bare_outline(kernel: Kernel, block: Dim) -> Outline:
    from checker.synthesis.outline import Outline, bare
    from logic.assertions import Context, Launch
    from logic.metrics import HARDWARE
    from logic.typing import check_kernel

    return Outline(kernel, Context(check_kernel(kernel), METRIC, HARDWARE["nvidia"], Launch(block)), bare(kernel.body))


def found_runs(_: Path) -> dict[str, str | None]:
    """The costs of the dearest runs, by kernel."""
    from checker.cli.run import read_arrays
    from checker.oracles import Oracles
    from checker.refutation.witness import find_witnesses
    from checker.suites.runner import read_suite
    from checker.synthesis.bound import find_bounds

    told: dict[str, str | None] = {}
    cases = read_suite()[0]
    for name in KERNELS["dear runs"]:
        here = outline(name)
        claims = [r.claim for r in find_bounds(here, [METRIC], Oracles(), judge=False) if r.claim is not None]
        fill = lambda texts, kernel=here.kernel: read_arrays(kernel, texts)  # noqa: E731
        for seen in find_witnesses(here.kernel, claims, fill, cases[name].at, (), limits.INPUTS, limits.EFFORT):
            told[name] = None if seen is None else str(seen.cost)
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


MEASURES: Final = {"bounds": found_bounds, "dear runs": found_runs, "refusals": found_mistakes}


def measured(kind: str, name: str = "", value: float = 0) -> tuple[dict[str, str | None], float]:
    """What is found with a limit at a value, and seconds of processor time, by a process of its own."""
    with get_context("fork").Pool(1) as pool:
        return pool.apply(one, (kind, name, value))


def one(kind: str, name: str, value: float) -> tuple[dict[str, str | None], float]:
    """The same in this process, which is of no other use after that."""
    if name:
        setattr(limits, name, value)
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
    example = (lost + other + more)[:1]
    return ", ".join(told) + (f" ({example[0]})" if example else "") or "none"


def table(kind: str, more: bool) -> Iterator[str]:
    """The section of one kind of searches."""
    base, seconds = measured(kind)
    count = sum(v is not None for v in base.values())
    yield f"## {kind.capitalize()}\n"
    told = KINDS[kind].format(count=count, kernels=", ".join(KERNELS[kind]))
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
