"""Makes the evidence: a certificate for every bound that is found, judged by both checkers like the outlines that
persons wrote, and docs/proofs.md.

    python -m proofs.make [KERNEL ..]

Certificates of kernels that are not named stay; they are judged again.
Every file is the same on every run: nothing in it tells the time, the machine or the folder.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from checker import kernel as trusted
from checker.certificates import document as certificate
from checker.certificates.claims import shown
from checker.certificates.document import Certificate
from checker.certificates.origin import Origin, origin
from checker.cli import VERSION
from checker.kernel import Claim, Ledger
from checker.notation import parse_outline, read_annotations
from checker.oracles import Oracles
from checker.recheck import recheck
from checker.report.bounds import idealised
from checker.synthesis.bound import Result, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Dim, Launch, show_p
from logic.metrics import HARDWARE, METRICS
from logic.refusals import Rejected
from logic.rules import RULE_SETS
from logic.typing import check_kernel
from semantics.cuda import read_cuda

ROOT: Final = Path(__file__).parent
PAGE: Final = ROOT.parent / "docs" / "proofs.md"

TABLE: Final = ("sectors", "conflicts", "divwarps", "steps")
"""The metrics that the index is about, those of Table 1 (POPL 2021, p. 7)."""

LARGEST: Final = 640_000
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
    "mandelbrot": (32, 1, 1),
    "mandelbrot0": (32, 1, 1),
    "synBrdis": (32, 1, 1),
    "synBrdisOpt": (32, 1, 1),
    "fan2": (256, 1, 1),
    "fan2Fixed": (256, 1, 1),
    "listRanking": (512, 1, 1),
    "matMul16": (16, 16, 1),
    "strideSweep": (512, 1, 1),
    "bankSweep": (512, 1, 1),
    "histogramShared": (256, 1, 1),
}
"""The block that each kernel is bounded for: as in RaCuda's evaluation (POPL 2021, section 7), as in the paper on run
times (HiPC 2009, sections 4 and 5), and 256 threads for both of Fan2."""

_HEAD: Final = """# The evidence

Made by `make proofs` (`python -m proofs.make`); `tests/proofs/` keeps it true.

## Certificates

For each kernel of `proofs/` and each metric: the bound that `bound` finds for one warp, for any grid and any arguments;
what the kernel that issues certificates and the second checker say of the certificate once it is written and read
again; how many of its side conditions rest on a solver's word alone; its size. A kernel's name leads to its source.

To check one again: `warpbound check proofs/addSub3/sectors.json`, or, with nothing but Python,
`python -I checker/recheck.py proofs/addSub3/sectors.json`.
"""

_COLUMNS: Final = ("kernel", "block", "metric", "bound", "kernel says", "second checker", "by solver", "certificate")

_OUTLINES: Final = """
## Outlines by hand

Derivations that a person wrote down, with the reasons: `warpbound check proofs/addSub3/sectors.qhl`. A `.cu` is the
source of its kernel with the outline in comments. The second checker is asked about the certificate that the outline
gives.
"""

_OUTLINE_COLUMNS: Final = ("kernel", "outline", "assumes", "bound", "kernel says", "second checker", "by solver")


def _link(text: str, path: Path) -> str:
    return f"[{text}](../{path.relative_to(ROOT.parent)})"


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
        folder = ROOT / self.kernel
        block = " x ".join(str(d) for d in BLOCKS[self.kernel] if d != 1)
        kept = f"{_link(f'{self.metric}.json', folder / f'{self.metric}.json')}, {self.size} bytes" if self.size else ""
        said = (self.bound, self.first, self.second, self.by_solver)
        return _link(self.kernel, folder / "kernel.cu"), block, self.metric, *said, kept


@dataclass(frozen=True, slots=True)
class Written:
    """A line about an outline that a person wrote."""

    path: Path
    assumes: str
    bound: str
    first: str
    second: str
    by_solver: str

    def cells(self) -> tuple[str, ...]:
        folder = self.path.parent
        kernel, outline = _link(folder.name, folder / "kernel.cu"), _link(self.path.name, self.path)
        return kernel, outline, self.assumes, self.bound, self.first, self.second, self.by_solver


def written() -> list[Path]:
    """The outlines by hand, METRIC.qhl or METRIC-NOTE.qhl, and annotated sources, METRIC.cu."""
    names = list(BLOCKS)
    found = [path for name in names for path in (ROOT / name).glob("*") if path.suffix in (".qhl", ".cu")]
    found = [path for path in found if path.name != "kernel.cu"]
    return sorted(found, key=lambda path: (names.index(path.parent.name), path.name))


def read_outline(path: Path) -> Outline:
    """An outline by hand."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".qhl":
        return parse_outline(text, str(path))
    kernel = read_cuda(str(path)).kernel
    sigma = check_kernel(kernel)
    given = read_annotations(kernel, text, sigma)
    launch = Launch(given.block or (None, None, None), given.grid or (None, None, None), given.assumptions)
    sigma = check_kernel(given.kernel)
    return Outline(given.kernel, Context(sigma, METRICS[path.stem], HARDWARE["nvidia"], launch), given.body)


def completed(outline: Outline) -> Result:
    """The outcome of an outline: its derivation, judged by the kernel."""
    return find_bounds(outline, (outline.context.metric,), Oracles())[0]


def written_row(path: Path) -> Written:
    """The line for an outline: both checkers judge it."""
    outline = read_outline(path)
    result = completed(outline)
    assumes = f"`{show_p(outline.context.launch.assumptions)}`" if outline.context.launch.assumptions else ""
    if result.claim is None or result.second is None:
        return Written(path, assumes, "none: the kernel rejects it", "rejected", "", "")
    second = result.second.report
    bound, by_solver = f"`{shown(result.claim)}`", str(len(second.solver_backed))
    return Written(path, assumes, bound, "accepted", second.verdict, by_solver)


def bounds(name: str) -> list[Result]:
    """The bounds found for a kernel, a result for each metric. Each is asked for alone: metrics asked for together
    share the time of one search."""
    kernel = read_cuda(str(ROOT / name / "kernel.cu")).kernel
    launch = Launch(BLOCKS[name], (None, None, None), ())
    context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], launch)
    outline = Outline(kernel, context, bare(kernel.body))
    return [result for m in TABLE for result in find_bounds(outline, (METRICS[m],), Oracles())]


def judged(given: Certificate, oracle: Oracles) -> Claim | None:
    """The claim that the kernel accepts of a certificate that was read; None for nothing."""
    ledger = Ledger()
    if given.rules not in RULE_SETS:
        return None
    try:
        theorem = trusted.check(given.derivation, RULE_SETS[given.rules], given.context, oracle, ledger)
        claim = trusted.claim(given.kernel, theorem, given.context, oracle, ledger, given.sums)
    except Rejected:
        return None
    return claim if sorted(set(ledger.barriers)) == given.admitted else None


def read_of(name: str) -> Origin | None:
    """The origin that certificates of a kernel name, where reading its source assumed something; else None."""
    path = ROOT / name / "kernel.cu"
    reading = read_cuda(str(path))
    lines = path.read_text(encoding="utf-8").split("\n")
    assumed = (*reading.notes, *idealised(HARDWARE["nvidia"]))
    return origin(path.read_bytes(), (), reading.kernel.loc, lines, assumed) if reading.notes else None


def text_of(result: Result, read: Origin | None = None) -> str:
    """The text of a result's certificate, as `bound --certificate` writes it. Raises ValueError where there is none."""
    if result.claim is None or result.second is None:
        raise ValueError("no claim, no certificate")
    tools = {"warpbound": VERSION, **{name: version(name) for name in ("z3-solver", "highspy")}}
    return certificate.canonical(certificate.signed(result.second.document, tools, read)) + "\n"


def row_of(name: str, metric: str, text: str) -> Row:
    """The line for a certificate: it is read and judged again, by both checkers and with new oracles."""
    given = certificate.read(text, f"{metric}.json")
    claim, second = judged(given, Oracles()), recheck(json.loads(text))
    bound = "none: the kernel rejects it" if claim is None else f"`{shown(claim)}`"
    verdict = "rejected" if claim is None else "accepted"
    return Row(name, metric, bound, verdict, second.verdict, str(len(second.solver_backed)), str(len(text)))


def make(name: str) -> Iterator[Row]:
    """Writes the certificates of a kernel, removes those that no longer are, and yields its lines."""
    read = read_of(name)
    for result in bounds(name):
        path = ROOT / name / f"{result.metric.name}.json"
        path.unlink(missing_ok=True)
        if result.verdict not in ("certified", "solver-backed"):
            yield Row(name, result.metric.name, "no bound yet")
            continue
        text = text_of(result, read)
        if len(text) > LARGEST:
            yield Row(name, result.metric.name, f"certificate left out: {len(text)} bytes")
            continue
        path.write_text(text, encoding="ascii")
        yield row_of(name, result.metric.name, text)


def page(rows: Iterable[Row], outlines: Iterable[Written]) -> str:
    """docs/proofs.md."""
    rows = list(rows)
    certified = sum(row.first == "accepted" and row.second == "valid" for row in rows)
    count = (
        f"{certified} of {len(rows)} bounds are certified: accepted by the kernel, and valid for the second checker.\n"
    )
    certificates = _table(_COLUMNS, (row.cells() for row in rows))
    return "\n".join(
        (_HEAD, count, *certificates, _OUTLINES, *_table(_OUTLINE_COLUMNS, (o.cells() for o in outlines)), "")
    )


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    return (f"| {' | '.join(line)} |" for line in (columns, tuple("---" for _ in columns), *rows))


def committed() -> list[tuple[str, str, Path]]:
    """Kernel, metric and path of the certificates that are there, in the order of the page."""
    paths = [(name, metric, ROOT / name / f"{metric}.json") for name in BLOCKS for metric in TABLE]
    return [row for row in paths if row[2].is_file()]


def kept(name: str) -> Iterator[Row]:
    """The lines of a kernel for the certificates that are there."""
    for kernel, metric, path in committed():
        if kernel == name:
            yield row_of(name, metric, path.read_text(encoding="ascii"))


def main(argv: list[str] | None = None) -> None:
    """Makes everything anew, or what is about some kernels."""
    parser = ArgumentParser("proofs.make", description="Makes certificates of kernels, and docs/proofs.md.")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="(default: all)")
    names = parser.parse_args(argv).kernels or list(BLOCKS)
    if unknown := sorted({*names} - BLOCKS.keys()):
        parser.error(f"no kernel is called '{unknown[0]}'; there are {', '.join(BLOCKS)}")
    rows = [row for name in BLOCKS for row in (make(name) if name in names else kept(name))]
    PAGE.write_text(page(rows, map(written_row, written())), encoding="utf-8")


if __name__ == "__main__":
    main()
