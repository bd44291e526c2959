"""The accesses of one kernel, judged, tried and compared with a run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.cli.assumed import check_assumptions, launch_of, told_of_launches, under
from checker.cli.bounded import certificate_of, file_name, origin_of
from checker.cli.options import (
    annotated,
    emit,
    known_sizes,
    parse_bindings,
    parse_dim,
    parse_hardware,
    required,
    source_text,
)
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.analysis.coalescing.access import Key
    from checker.analysis.coalescing.bounded import Judged
    from checker.analysis.coalescing.exact import Finding
    from checker.analysis.coalescing.observed import Observed
    from checker.certificates.origin import Origin
    from checker.report.coalescing import Row
    from checker.report.page import Page
    from checker.synthesis.outline import Block
    from logic.assertions import Context, P
    from logic.metrics import Hardware
    from logic.source import Loc
    from logic.syntax import Kernel
    from semantics.cuda import Reading


@dataclass(frozen=True, slots=True)
class Found:
    """The findings on a kernel, in each form; `wrong` is where a run needed more than was stated."""

    kernel: Kernel
    rows: Sequence[Row]
    shares: str
    rests_on: Sequence[str]
    wrong: Sequence[tuple[str, Loc]]
    options: argparse.Namespace

    @property
    def code(self) -> int:
        from checker.report.coalescing import GOOD

        return 3 if self.wrong else int(any(r.verdict not in GOOD for r in self.rows))

    def text(self, alone: bool = True) -> str:
        """For a person; of one of several without what is said of all."""
        from checker.report.coalescing import as_text

        sources = {self.options.file: source_text(self.options.file)}
        last = (self.rests_on, self.shares) if alone else ((), "")
        return as_text(self.kernel, self.rows, *last, sources, self.options.threshold)

    def document(self) -> dict[str, Any]:
        from checker.report.coalescing import as_json

        o = self.options
        return as_json(self.kernel, o.domain, self.rows, self.rests_on, self.shares, o.threshold)

    def page(self) -> Page:
        from checker.report.coalescing import as_page

        return as_page(self.kernel, self.rows, self.rests_on, self.shares, self.wrong, self.options.threshold)


def analysed(args: argparse.Namespace, reading: Reading) -> Found:
    """The findings on one kernel of args.file. Raises SourceError."""
    from checker.analysis.coalescing.advice import advise
    from checker.analysis.coalescing.bounded import judge, uncertified
    from checker.analysis.coalescing.exact import analyse
    from checker.analysis.coalescing.gpudrano import reported
    from checker.analysis.coalescing.remedies import remedies
    from checker.report import coalescing as report

    hardware = parse_hardware(args.hardware)
    context, stated, reading, notes, body = _context(args, reading, hardware)
    kernel = reading.kernel
    try:
        analysis = analyse(kernel, context, args.threshold)
    except ValueError as problem:
        raise OptionProblem(f"--hardware {args.hardware}: {problem}", advice="Lines have 128 bytes.") from None
    observed = _run(args, reading, context) if args.confirm else None
    tried = remedies(analysis, kernel, context, reading.rows, args.threshold)
    if args.quick:
        mended = {key: [uncertified(t) for t in found] for key, found in tried.items()}
    else:
        mended = judge(tried, kernel, context, body)
    if args.certificate:
        _write(args.certificate, mended, origin_of(args, reading, hardware))
    advice = [advise(f, analysis.view, hardware, mended.get(f.access.key, ())) for f in analysis.findings]
    rows = report.rows(analysis.findings, frozenset(reported(kernel)), advice, args.domain, observed)
    shares = "of the transactions in the run" if observed is not None else report.ESTIMATED
    rests_on = report.assumptions(context, stated, notes, analysis.findings)
    wrong = [] if observed is None else _exceeded(analysis.findings, observed)
    return Found(replace(kernel, name=args.shown or kernel.name), rows, shares, rests_on, wrong, args)


def _context(
    args: argparse.Namespace, reading: Reading, hardware: Hardware
) -> tuple[Context, P, Reading, list[str], Block]:
    """The context that the kernel is judged under, the part of it that the user stated, the kernel as it is then, what
    else that rests on, and the kernel with its annotations. Raises SourceError."""
    from checker.oracles import Oracles
    from logic.assertions import Context, conj
    from logic.metrics import METRICS
    from logic.syntax import Const, Op, Param
    from logic.typing import check_kernel

    sigma = check_kernel(reading.kernel)
    hints = annotated(args, reading.kernel)
    launch = launch_of(args, reading.kernel, hints.block or reading.block, hints.grid or reading.usual_grid)
    stated = given = conj((*hints.assumptions, *launch.assumptions), sigma)
    notes = []
    if launch.block[0] is None:
        given = conj((*given, Op("==", (Op("%", (Param("blockDim.x"), Const(hardware.warp))), Const(0)))), sigma)
        notes.append(f"without --block, blockDim.x is taken for a multiple of {hardware.warp}")
    context = Context(sigma, METRICS["sectors"], hardware, replace(launch, assumptions=given))
    oracle = Oracles()
    check_assumptions(context, oracle)
    reading = under(reading, context, oracle)
    hints = annotated(args, reading.kernel)
    reading = replace(reading, kernel=hints.kernel)
    context = replace(context, sigma=check_kernel(reading.kernel))
    reading = told_of_launches(reading, context, args.file)
    return context, stated, reading, [*reading.notes, *notes], hints.body


def _write(folder: str, mended: Mapping[Key, Sequence[Judged]], made: Origin) -> None:
    """Writes the certificates of the bounds before and after remedies, each once: NAME-lines-0.json is that of the
    program as it is, those with other numbers are in the order of the remedies. Raises OSError."""
    from checker.certificates.document import canonical

    numbers: dict[str, dict[str, int]] = {}
    for j in (j for found in mended.values() for j in found if j.proofs):
        known = numbers.setdefault(j.tried.what, {"": 0})
        known.setdefault(j.tried.remedy.text, len(known))
        for text, result in zip(("", j.tried.remedy.text), j.proofs or (), strict=True):
            document = certificate_of(result, made)
            if document is not None and result.claim is not None:
                name = f"{file_name(result.claim.kernel.name)}-{j.tried.what}-{known[text]}.json"
                Path(folder).mkdir(parents=True, exist_ok=True)
                emit(canonical(document), str(Path(folder) / name), "--certificate")


def _run(args: argparse.Namespace, reading: Reading, context: Context) -> Mapping[Key, Observed]:
    """The observations of a run with the options' inputs. Raises SourceError, too where arrays break a contract."""
    from checker.analysis.coalescing.observed import observe
    from checker.certificates.claims import excluded_in_run, with_facts
    from checker.cli.data import check_data, read_args, read_arrays, tested
    from checker.cli.progress import progress_bar

    kernel, block = reading.kernel, known_sizes(context.launch.block)
    if block is None:
        raise OptionProblem("--confirm: the size of a block is not known", kernel.loc, "Give it: --block 256.")
    blocks = parse_dim(args.grid, "--grid") if args.grid else known_sizes(context.launch.grid) or (1, 1, 1)
    values = read_args(kernel, parse_bindings(args.args, "--arg"))
    arrays = read_arrays(kernel, parse_bindings(args.arrays, "--array"))
    check_data([(c, tested(c, values, arrays)) for c in required(args, reading)])
    at = {name: int(v) for name, v in values.items() if isinstance(v, int)}
    at |= dict(zip(("gridDim.x", "gridDim.y", "gridDim.z"), blocks, strict=True))
    if fact := excluded_in_run(at, block, blocks, with_facts(context, reading.facts)):
        raise OptionProblem(
            f"--confirm: {fact} is assumed, and does not hold in this run", advice="Choose another one."
        )
    with progress_bar("blocks", blocks[0] * blocks[1] * blocks[2]) as progress:
        return observe(
            kernel, block, blocks, values, arrays, context.hardware, progress=progress, threshold=args.threshold
        )


def _exceeded(findings: Sequence[Finding], observed: Mapping[Key, Observed]) -> list[tuple[str, Loc]]:
    """Where a run needs more than was stated of all runs, and what is to be said of it: this must not be."""
    wrong = [(f, seen) for f in findings if (seen := observed.get(f.access.key)) and seen.most > f.transactions]
    return [
        (f"{f.access.loc}: {seen.most} transactions in the run, {f.transactions} stated of all runs", f.access.loc)
        for f, seen in wrong
    ]
