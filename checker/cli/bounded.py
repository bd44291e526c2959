"""Kernels read for a search of bounds, and what is said and written of the bounds that it finds."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.cli.assumed import (
    as_launched,
    as_passed,
    assumed_of_data,
    check_assumptions,
    facts_alone,
    launch_of,
)
from checker.cli.options import (
    annotated,
    contracts_of,
    reading_words,
    refuse_others,
)

if TYPE_CHECKING:
    from checker.certificates.origin import Origin
    from checker.oracles import Oracles
    from checker.refutation.witness import Witness
    from checker.synthesis.bound import Result
    from checker.synthesis.outline import Outline
    from logic.assertions import Context
    from logic.contracts import Contract
    from logic.derivation import Derivation
    from logic.metrics import Hardware, Metric
    from logic.syntax import Expr
    from semantics.cuda import Choice, Reading


def told_of(args: argparse.Namespace, choice: Choice, assumed: Sequence[str] = ()) -> argparse.Namespace:
    """The options for one of several kernels."""
    own = {"kernel": choice.kernel, "instantiate": choice.instantiate, "assume": list(assumed), "shown": choice.name}
    return argparse.Namespace(**{**vars(args), **own})


def chosen_kernels(args: argparse.Namespace) -> list[Choice]:
    """The kernels and instances that --kernel and --instantiate leave of a file; none where that is for the reader to
    say. Raises SourceError."""
    from semantics.cuda import Choice, choices

    if args.instantiate:
        return [Choice(name, args.kernel, name) for name in dict.fromkeys(args.instantiate)]
    refuse_others(args.file)
    found = choices(args.file, tuple(args.includes), tuple(args.defines), args.std)
    if args.kernel is None:
        return found
    return [c for c in found if args.kernel.replace(" ", "") in c.names]


def outlined(
    args: argparse.Namespace, reading: Reading, metric: Metric, hardware: Hardware, oracle: Oracles
) -> tuple[Outline, str | None, Reading]:
    """The kernel with its annotations, under the launch that these and the options describe; the metric that the
    annotations are for, None for all; and the kernel as it is for that launch. Raises SourceError."""
    from logic.assertions import Context, conj
    from logic.contracts import arrays_of
    from logic.typing import check_kernel

    sigma = check_kernel(reading.kernel)
    hints = annotated(args, reading.kernel)
    for limit in hints.limits:
        print(f"{args.file}: warning: the assumption {limit.text} is for predict alone, and not used", file=sys.stderr)
    launch = launch_of(
        facts_alone(args), reading.kernel, hints.block or reading.block, hints.grid or reading.usual_grid
    )
    facts = conj(as_passed(reading, (*hints.assumptions, *launch.assumptions)), sigma)
    given = assumed_of_data(reading, (*hints.contracts, *contracts_of(args, sigma)), facts)
    launch = replace(launch, assumptions=facts, contracts=given)
    context = Context(replace(sigma, stable=arrays_of(given)), metric, hardware, launch, args.scope)
    check_assumptions(context, oracle)
    outline, reading = as_launched(args, reading, context, oracle)
    return outline, hints.metric.name if hints.metric else None, reading


def with_hints(outline: Outline, result: Result, oracle: Oracles, args: argparse.Namespace) -> Result:
    """The result, or that without the potentials in the source that are too low; says so, and which are too high."""
    from checker.synthesis.bound import find_bounds
    from checker.synthesis.hints import hints, judged

    def search(other: Outline, metric: Metric) -> Result:
        return find_bounds(other, (metric,), oracle, None, args.search, args.per)[0]

    found, name = judged(outline, result, search), result.metric.name
    for place in found.wrong:
        told = "the potential that is stated here could not be shown to be enough, and is left out"
        print(f"{place}: warning: {name}: {told}", file=sys.stderr)
    kept = (place for place in hints(outline) if place not in found.wrong)
    for place in kept if found.better is not None else ():
        told = f"the bound is kept to what is stated here; the search alone finds {found.better}"
        print(f"{place}: warning: {name}: {told}", file=sys.stderr)
    return found.result


def command_again(args: argparse.Namespace, metric: Metric, found: Witness | None) -> str:
    """The command that runs a witness again."""
    from checker.refutation.witness import command

    if found is None:
        return ""
    given = [f"--metric={name}" for name in args.metrics if name == metric.name or name.endswith(".toml")]
    options = reading_words(args)
    options += [f"--hardware={args.hardware}"] if args.hardware != "nvidia" else []
    return command(args.file, found.input, [*options, *(given or [f"--metric={metric.name}"])])


def alarm(what: str, bound: str | None, again: str) -> None:
    """Says that a certified bound was exceeded."""
    sys.stderr.write(f"warpbound: internal error: {what}: a run costs more than the certified bound {bound}\n")
    sys.stderr.write(
        f"  This is a fault in warpbound, and nothing it says of this kernel is to be relied on: {again}\n"
    )


def proved(results: Sequence[Result]) -> list[tuple[Context, Derivation]]:
    """The bounds among results, with what proves them."""
    return [(r.claim.context, r.derivation) for r in results if r.claim is not None and r.derivation is not None]


def in_vain(bounds: Sequence[tuple[Context, Derivation]], reading: Reading, oracle: Oracles) -> list[str]:
    """The assumptions that all of the bounds do without, together, and the reading of the kernel, too."""
    from checker.refutation.contracts import implied, in_launches, of_tables, of_types
    from checker.refutation.diagnosis import unneeded, without
    from logic.rules import SOUND

    if not bounds:
        return []
    found, launch, hardware = [], bounds[0][0].launch, bounds[0][0].hardware
    kept = (*of_tables(reading), *of_types(launch.contracts, reading))
    for one in unneeded(bounds, SOUND, oracle, kept=kept):
        if one in reading.sized:
            continue  # the source says so, not a person
        other = in_launches(reading, without(launch, one), hardware)
        same = (other.kernel.body, other.facts, other.spans) == (reading.kernel.body, reading.facts, reading.spans)
        if same and one not in implied(launch.contracts, reading):  # else by it a value is known not to wrap around
            found.append(one)
    return told_unneeded(found, len(bounds))


def told_unneeded(found: Sequence[Expr | Contract], bounds: int) -> list[str]:
    """Sentences on assumptions that so many bounds do without."""
    from logic.assertions import show_p
    from logic.contracts import Contract

    these = "this bound" if bounds == 1 else "these bounds"
    told = [f"the contract {f}" if isinstance(f, Contract) else f"the assumption {show_p((f,))}" for f in found]
    return [f"{text} is not needed for {these}" for text in told]


def file_name(name: str) -> str:
    """A kernel's name as part of a path: `k<float, 256>` is k-float-256. Where that may be the name of another kernel,
    too, as `k<-1>` and `k<1>`, a digest tells them apart."""
    from hashlib import sha256

    plain = "-".join(re.findall(r"\w+", name, re.ASCII))
    if re.fullmatch(r"(\w+::)*\w+(<\w+(, ?\w+)*>)?", name, re.ASCII):
        return plain
    return f"{plain}-{sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def origin_of(args: argparse.Namespace, reading: Reading, hardware: Hardware) -> Origin:
    """The origin that a certificate names, the source of its kernel. Raises OSError where the file is gone."""
    from checker.certificates.origin import origin
    from checker.cli.options import source_text
    from checker.report.bounds import idealised
    from semantics.cuda.inputs import note

    loc = reading.kernel.loc
    lines = source_text(loc.file).split("\n") if loc and loc.file else []
    assumed = [*reading.notes, *idealised(hardware)]
    data = Path(args.file).read_bytes()
    note(args.file, data)
    return origin(data, reading_words(args), loc, lines, assumed)


def certificate_of(result: Result, made: Origin) -> dict[str, Any] | None:
    """The certificate of a bound, signed by the tools that made it, of that source; None where the kernel accepts no
    bound."""
    return None if result.second is None else signed_here(result.second.document, made)


def signed_here(document: dict[str, Any], made: Origin) -> dict[str, Any]:
    """A certificate signed by the tools that made it, of that source."""
    from importlib.metadata import version

    from checker import VERSION
    from checker.certificates.document import signed

    tools = {"warpbound": VERSION, **{name: version(name) for name in ("z3-solver", "cvc5", "highspy", "pysmt")}}
    return signed(document, tools, made)
