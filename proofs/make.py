"""Makes the evidence: a certificate for every bound that is found, judged by both checkers, and docs/proofs.md.

    python -m proofs.make

Every file is the same on every run: nothing in it tells the time, the machine or the folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from checker import certificate
from checker import kernel as trusted
from checker.bound import Result, find_bounds
from checker.certificate import Certificate
from checker.cli import VERSION
from checker.kernel import Claim, Ledger, Rejected
from checker.oracles import Oracles
from checker.oracles.farkas import proof
from checker.outline import Outline, bare
from checker.recheck import recheck
from checker.report.bounds import shown
from logic.assertions import Context, Dim, Launch
from logic.metrics import HARDWARE, METRICS
from logic.rules import RULE_SETS
from logic.typing import check_kernel
from semantics.cuda import read_cuda

ROOT: Final = Path(__file__).parent
PAGE: Final = ROOT.parent / "docs" / "proofs.md"

LARGEST: Final = 300_000
"""A longer certificate, in bytes, is not kept."""

BLOCKS: Final[dict[str, Dim]] = {
    "vectorAdd": (256, 1, 1),
    "addSub0": (256, 1, 1),
    "addSub1": (128, 1, 1),
    "addSub2": (32, 1, 1),
    "addSub3": (32, 1, 1),
    "matMul": (32, 32, 1),
    "matMulTrans": (32, 32, 1),
    "matMulBad": (32, 32, 1),
    "reduce0": (256, 1, 1),
    "reduce1": (256, 1, 1),
    "reduce2": (256, 1, 1),
    "reduce3": (256, 1, 1),
    "reduce2a": (256, 1, 1),
    "reduce3a": (256, 1, 1),
    "histogram256": (64, 1, 1),
    "synBrdis": (32, 1, 1),
    "synBrdisOpt": (32, 1, 1),
}
"""The block that each kernel is bounded for, as in RaCuda's evaluation (POPL 2021, section 6)."""

_HEAD: Final = """# The evidence

Made by `make proofs` (`python -m proofs.make`); `tests/proofs/test_certificates.py` keeps it true. For each kernel of
`proofs/` and each metric: the bound that `bound` finds for one warp, for any grid and any arguments; what the kernel
that issues certificates and the second checker say of the certificate once it is written and read again; how many of
its side conditions rest on a solver's word alone; its size; and the outline that a person wrote for the metric, if
there is one.

To check one again: `warpbound check proofs/addSub3/sectors.json`, or, with nothing but Python,
`python -I checker/recheck.py proofs/addSub3/sectors.json`.
"""

_COLUMNS: Final = (
    "kernel",
    "block",
    "metric",
    "bound",
    "kernel says",
    "second checker",
    "by solver",
    "bytes",
    "outline",
)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the page. Where no certificate is kept, `bound` says so and the verdicts are empty."""

    kernel: str
    metric: str
    bound: str
    first: str = ""
    second: str = ""
    by_solver: str = ""
    size: str = ""

    def cells(self) -> tuple[str, ...]:
        block = " x ".join(str(d) for d in BLOCKS[self.kernel] if d != 1)
        outline = f"{self.metric}.qhl" if (ROOT / self.kernel / f"{self.metric}.qhl").is_file() else ""
        return (
            self.kernel,
            block,
            self.metric,
            self.bound,
            self.first,
            self.second,
            self.by_solver,
            self.size,
            outline,
        )


def bounds(name: str) -> list[Result]:
    """What is found for a kernel, a result for each metric."""
    kernel = read_cuda(str(ROOT / name / "kernel.cu")).kernel
    launch = Launch(BLOCKS[name], (None, None, None), ())
    context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], launch)
    return find_bounds(Outline(kernel, context, bare(kernel.body)), tuple(METRICS.values()), Oracles())


def judged(given: Certificate, oracle: Oracles) -> Claim | None:
    """What the kernel accepts of a certificate that was read; None for nothing."""
    ledger = Ledger()
    if given.rules not in RULE_SETS:
        return None
    try:
        theorem = trusted.check(given.derivation, RULE_SETS[given.rules], given.context, oracle, ledger)
        claim = trusted.claim(given.kernel, theorem, given.context, oracle, ledger)
    except Rejected:
        return None
    return claim if sorted(set(ledger.barriers)) == given.admitted else None


def text_of(result: Result) -> str:
    """The text of a result's certificate, as `bound --certificate` writes it. Raises ValueError where there is none."""
    if result.claim is None or result.derivation is None:
        raise ValueError("no claim, no certificate")
    tools = {"warpbound": VERSION, **{name: version(name) for name in ("z3-solver", "highspy")}}
    document = certificate.write(result.claim, result.derivation, result.ledger, proof, tools)
    return certificate.canonical(document) + "\n"


def row_of(name: str, metric: str, text: str) -> Row:
    """The line for a certificate: it is read and judged again, by both checkers and with new oracles."""
    given = certificate.read(text, f"{metric}.json")
    claim, second = judged(given, Oracles()), recheck(json.loads(text))
    bound = "none: the kernel rejects it" if claim is None else f"`{shown(claim)}`"
    verdict = "rejected" if claim is None else "accepted"
    return Row(name, metric, bound, verdict, second.verdict, str(len(second.solver_backed)), str(len(text)))


def make(name: str) -> Iterator[Row]:
    """Writes the certificates of a kernel, removes those that no longer are, and yields its lines."""
    for result in bounds(name):
        path = ROOT / name / f"{result.metric.name}.json"
        path.unlink(missing_ok=True)
        if result.verdict != "certified":
            yield Row(name, result.metric.name, "no bound yet")
            continue
        text = text_of(result)
        if len(text) > LARGEST:
            yield Row(name, result.metric.name, f"certificate left out: {len(text)} bytes")
            continue
        path.write_text(text, encoding="ascii")
        yield row_of(name, result.metric.name, text)


def page(rows: Iterable[Row]) -> str:
    """docs/proofs.md."""
    rows = list(rows)
    cells = [_COLUMNS, tuple("---" for _ in _COLUMNS), *(row.cells() for row in rows)]
    certified = sum(row.first == "accepted" and row.second == "valid" for row in rows)
    count = (
        f"{certified} of {len(rows)} bounds are certified: accepted by the kernel, and valid for the second checker.\n"
    )
    return "\n".join((_HEAD, count, *(f"| {' | '.join(line)} |" for line in cells))) + "\n"


def committed() -> list[tuple[str, str, Path]]:
    """Kernel, metric and path of the certificates that are there, in the order of the page."""
    paths = [(name, metric, ROOT / name / f"{metric}.json") for name in BLOCKS for metric in METRICS]
    return [row for row in paths if row[2].is_file()]


def main() -> None:
    """Makes everything anew."""
    PAGE.write_text(page(row for name in BLOCKS for row in make(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
