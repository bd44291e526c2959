"""`warpbound coalesce`: uncoalesced accesses to global memory, and bank conflicts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.cli import fleet
from checker.cli.assumed import add_launch_options, check_assumptions, launch_of, told_of_launches, under
from checker.cli.bound import certificate_of, chosen_kernels, file_name, origin_of, told_of
from checker.cli.options import (
    add_data_options,
    add_output_options,
    add_reading_options,
    annotated,
    check_sizes,
    emit,
    known_sizes,
    parse_bindings,
    parse_dim,
    parse_hardware,
    read_kernel,
    required,
    source_text,
    tell,
)
from checker.cli.several import add_limit_options, asked
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


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "coalesce",
        help="find uncoalesced accesses and bank conflicts",
        description="Says for every access how many 128-byte lines (or turns of a bank) a warp may need, how many its "
        "lanes would need in consecutive places, why, and what mends it, of what was tried and bounded again. Exits "
        "with 1 where an access is not coalesced or conflict-free. Of a file, or of several files and folders, all "
        "kernels are looked at.",
    )
    parser.add_argument("files", nargs="+", metavar="PATH", help="CUDA sources, and folders of them")
    add_reading_options(parser, several=True)
    add_launch_options(parser)
    group = parser.add_argument_group("several kernels, each within limits, a process for each source")
    fleet.add_choice_options(group)
    add_limit_options(group, "kernel", "access that is not good")
    parser.add_argument(
        "--domain",
        choices=("exact", "gpudrano"),
        default="exact",
        help="whose verdict counts: the lanes of a warp one by one, or the published lattice (default: %(default)s)",
    )
    parser.add_argument(
        "--threshold",
        choices=("fewest", "paper"),
        default="fewest",
        help="how many lines an access may need: as many as its lanes in consecutive places, or one, as in the paper "
        "on the lattice (default: %(default)s)",
    )
    parser.add_argument("--hardware", metavar="NAME|FILE.toml", default="nvidia", help="(default: %(default)s)")
    parser.add_argument(
        "--confirm",
        action="store_true",
        help="run the kernel, with --block, --grid (default: 1), --arg and --array as in `run`, and say which findings "
        "the run bears out",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="do not bound the program again with what mends an access: nothing of that is certified then",
    )
    parser.add_argument(
        "--certificate",
        metavar="DIR",
        help="write the certificates that remedies rest on, of the program before and after each",
    )
    add_data_options(
        parser,
        "a parameter's value in that run",
        "a global array before that run, as in `run`",
    )
    add_output_options(parser)
    parser.set_defaults(func=run, shown=None)


def run(args: argparse.Namespace) -> int:
    """Prints the findings; 0 where every access is good, else 1; 3 where a run needs more than was stated.

    Raises SourceError for unusable input.
    """
    import json

    from checker.cli import coalesce_many
    from checker.fleet.files import what_is

    check_sizes(args)
    parse_hardware(args.hardware)
    if not args.confirm and (args.args or args.arrays):
        option = "--arg" if args.args else "--array"
        raise OptionProblem(f"{option} is for a run that confirms findings", advice="Add --confirm.")
    if args.quick and args.certificate:
        raise OptionProblem("--quick makes no certificates", advice="Leave out --quick, or --certificate.")
    filtered = args.include or args.exclude or args.database or asked(args)
    if len(args.files) > 1 or what_is(args.files[0]) == "folder" or filtered:
        return coalesce_many.run(args)
    (args.file,) = args.files
    chosen = chosen_kernels(args)
    if len(chosen) > 1:
        return coalesce_many.run(args)
    args = told_of(args, chosen[0], args.assume) if chosen else args
    done = analysed(args, read_kernel(args))
    tell(args, done.text, lambda: json.dumps(done.document(), indent=2), done.page)
    for text, _ in done.wrong:
        sys.stderr.write(
            f"warpbound: internal error: {text}\n"
            "  This is a fault in warpbound, and nothing it says of this kernel is to be relied on.\n"
        )
    return done.code


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
    from checker.cli.contracts import tested
    from checker.cli.progress import progress_bar
    from checker.cli.run import check_data, read_args, read_arrays

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
