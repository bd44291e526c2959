"""The launch that a command line describes, and what is assumed of it: of sizes, of parameters, of data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from checker.cli.options import (
    add_assume_option,
    annotated,
    parse_dim,
    stated,
)
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.notation.contracts import Contract as Stated
    from checker.oracles import Oracles
    from checker.synthesis.outline import Outline
    from logic.assertions import Context, Dim, Launch
    from logic.contracts import Contract
    from logic.source import Loc
    from logic.syntax import Expr, Kernel
    from logic.typing import Signature
    from semantics.cuda import Choice, Reading


def add_launch_options(parser: argparse._ActionsContainer) -> None:
    """--block, --grid, --assume."""
    parser.add_argument("--block", metavar="X[,Y[,Z]]", help="threads in a block (default: the file's, else symbolic)")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="blocks in the grid (default: symbolic)")
    add_assume_option(parser, 'a fact about parameters: --assume "w %% 8 == 0"')


def launch_of(args: argparse.Namespace, kernel: Kernel, block: Dim | None, grid: Dim | None) -> Launch:
    """The launch that the options describe. Raises SourceError."""
    from checker.certificates.claims import extent
    from checker.notation.contracts import Contract as Stated
    from logic.assertions import MAX_BLOCK, Launch, conj
    from logic.typing import signature

    sigma, facts = signature(kernel), []
    for text in args.assume:
        if isinstance(given := stated(text, sigma), Stated):
            raise OptionProblem(f"--assume {text}: this command uses no contracts on data", advice="bound does.")
        facts.append(given)
    if args.block:
        block = parse_dim(args.block, "--block")
    if block and None not in block and (block[0] or 1) * (block[1] or 1) * (block[2] or 1) > MAX_BLOCK:
        what = f"--block {args.block}" if args.block else f"a launch in the file has blocks of {extent(block)}"
        raise OptionProblem(f"{what}: more than {MAX_BLOCK} threads", advice="CUDA allows no more in a block.")
    if args.grid:
        grid = parse_dim(args.grid, "--grid")
    return Launch(block or (None, None, None), grid or (None, None, None), conj(facts, sigma))


def as_passed(reading: Reading, stated: Sequence[Expr]) -> tuple[Expr, ...]:
    """The facts stated of parameters, and of those of which none is stated that they are the size of the block, where
    all launches in the file pass them as that."""
    from logic.syntax import Param, subterms

    spoken = {t.name for e in stated for t in subterms(e) if isinstance(t, Param)}
    return (*stated, *(e for e in reading.sized if spoken.isdisjoint(_named(e))))


def _named(e: Expr) -> set[str]:
    """The parameters that the host passes, which an expression names."""
    from logic.syntax import BUILTINS, Param, subterms

    return {t.name for t in subterms(e) if isinstance(t, Param) and t.name not in BUILTINS}


def assumed_of_data(reading: Reading, stated: Sequence[Stated], assumed: Sequence[Expr]) -> tuple[Contract, ...]:
    """The contracts that bounds may use, beside what else is assumed, with those of constant tables. Raises
    OptionProblem for those on arrays that the kernel may write to, and on elements that are not of one type."""
    from checker.refutation.contracts import changing, granted, of_tables, stable

    kernel, steady = reading.kernel, stable(reading)
    for c in stated:
        for array in sorted(c.arrays & steady):
            types = reading.types.arrays.get(array, frozenset())
            if not types or (len(types) > 1 and any(t.bits > 31 + t.signed for t in types)):
                told = f"the elements of '{array}' are of several types, or of none that is an integer"
                advice = "Read it as an array of one type of integers; or leave the contract out."
                raise OptionProblem(f"{told}: {c.text}", _stated(c, kernel), advice)
    for c in stated:
        for array in sorted(c.arrays - steady):
            reads = f"the kernel reads '{array}' as what others may change meanwhile"
            told = reads if changing(array, reading) else f"the kernel may write to '{array}'"
            told = f"{told}, so a contract cannot say what it holds: {c.text}"
            raise OptionProblem(told, _stated(c, kernel), "Copy it, or leave out the contract.")
    found = tuple(dict.fromkeys(one for c in stated for one in c.contracts if one.quantities))
    where = reading.kernel.loc.file if reading.kernel.loc else kernel.name
    warn_of_data(granted(found, reading), assumed, where)
    return tuple(dict.fromkeys((*found, *of_tables(reading))))


def warn_of_data(given: Sequence[Contract], assumed: Sequence[Expr], where: str) -> None:
    """Warns where no small data keep contracts, sizes being as assumed."""
    from checker.refutation.contracts import doubt

    if told := doubt(tuple(given), tuple(assumed)):
        print(f"{where}: warning: {told}", file=sys.stderr)


def facts_alone(args: argparse.Namespace) -> argparse.Namespace:
    """The options without the contracts on data among what --assume says."""
    from checker.notation.contracts import is_contract

    return argparse.Namespace(**{**vars(args), "assume": [text for text in args.assume if not is_contract(text)]})


def _stated(c: Stated, kernel: Kernel) -> Loc | None:
    """The place of a contract in the source, else of the kernel: an option has no line."""
    return kernel.loc if c.loc is None or c.loc.file == "--assume" else c.loc


def check_assumptions(context: Context, oracle: Oracles) -> None:
    """Raises OptionProblem where what is assumed contradicts itself."""
    from logic.assertions import show_p

    given = context.launch.assumptions
    if given and _contradictory(context, oracle):
        message = f"vacuous: no launch satisfies what is assumed: {show_p(given)}"
        raise OptionProblem(message, advice="Anything would follow from it.")


def _contradictory(context: Context, oracle: Oracles) -> bool:
    from logic.assertions import Entails, Proved
    from logic.syntax import FALSE

    return isinstance(oracle(Entails((), (FALSE,)), context), Proved)


def under(reading: Reading, context: Context, oracle: Oracles) -> Reading:
    """A kernel for the launches of a context. What has to be assumed of sizes, lest unsigned values wrap around, is, if
    it does not contradict what is assumed already; nor do limits of elements, where the ranges of contracts have an
    index."""
    from checker.certificates.claims import with_facts
    from checker.refutation.contracts import contradicted, in_launches

    launch, hardware = context.launch, context.hardware
    found = in_launches(reading, launch, hardware)
    apart = contradicted(launch.contracts, found, launch.assumptions)
    if apart or (found.facts and _contradictory(with_facts(context, found.facts), oracle)):
        return in_launches(reading, launch, hardware, assume=False)
    return found


def told_of_launches(reading: Reading, context: Context, file: str) -> Reading:
    """The reading with what its source says against the assumptions of a context among its remarks; warns of that."""
    from checker.certificates.claims import with_facts
    from checker.report.launches import contradicted

    name = reading.kernel.name
    for place, told in contradicted(reading, with_facts(context, reading.facts)):
        print(f"{place or file}: warning: {name}: {told}", file=sys.stderr)
        reading = replace(reading, remarks=tuple(dict.fromkeys((*reading.remarks, told))))
    return reading


def as_launched(
    args: argparse.Namespace, reading: Reading, context: Context, oracle: Oracles
) -> tuple[Outline, Reading]:
    """A kernel as it is for its launch, with its annotations and what contracts its reading takes for granted, and the
    reading of that. Raises SourceError."""
    from checker.refutation.contracts import granted
    from checker.synthesis.outline import Outline
    from logic.contracts import arrays_of
    from logic.typing import check_kernel

    reading = under(reading, context, oracle)
    hints = annotated(args, reading.kernel)
    reading = replace(reading, kernel=hints.kernel)
    launch = replace(context.launch, contracts=granted(context.launch.contracts, reading))
    sigma = replace(check_kernel(hints.kernel), stable=arrays_of(launch.contracts))
    context = replace(context, sigma=sigma, launch=launch)
    return Outline(hints.kernel, context, hints.body), told_of_launches(reading, context, args.file)


def assumptions_about(texts: Sequence[str], sigma: Signature) -> list[str]:
    """The --assume texts for which a kernel has the parameters and arrays."""
    from logic.source import SourceError

    found = []
    for text in texts:
        with suppress(SourceError):
            stated(text, sigma)
            found.append(text)
    return found


def usable_assumptions(texts: Sequence[str], kernels: Mapping[Choice, Kernel]) -> dict[Choice, list[str]]:
    """The assumptions that are about each kernel; says what is left out. Raises SourceError for what no kernel has the
    parameters for."""
    from logic.source import SourceError
    from logic.typing import signature

    found: dict[Choice, list[str]] = {choice: [] for choice in kernels}
    for text in texts:
        lacking: dict[str, SourceError] = {}
        for choice, kernel in kernels.items():
            try:
                stated(text, signature(kernel))
                found[choice].append(text)
            except SourceError as problem:
                lacking[choice.name] = problem
        if len(lacking) == len(kernels) > 0:
            raise next(iter(lacking.values()))
        if lacking:
            told = ", ".join(lacking)
            sys.stderr.write(f"warpbound: warning: --assume '{text}' is not used for {told}: it lacks the parameters\n")
    return found
