"""`warpbound show`: what a certificate is about, for a reader who has the source beside it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from checker.cli.options import add_output_options, certificates, read_text, tell

if TYPE_CHECKING:
    from checker.certificates.document import Certificate
    from checker.report.page import Page

Shown = dict[str, Any]

AGAIN = "Give the path of a file that `bound --certificate` wrote."


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "show",
        help="print the program, the claim and the assumptions of certificates",
        description="Prints what a certificate is about: its claim, with the second checker's word on it, all that it "
        "assumes, and its program as CUDA-like text, to hold against the source. Exit code 0: valid or solver-backed; "
        "3: invalid; 2: unreadable.",
    )
    parser.add_argument("files", metavar="CERT.json", nargs="+", help="the certificates")
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0, or 3 where the second checker calls a certificate invalid. Raises SourceError for what is no certificate."""
    found = [_shown(file) for file in certificates(args.files)]
    document = found[0] if len(found) == 1 else {"results": found}
    tell(
        args,
        lambda: "\n\n".join(map(_text, found)),
        lambda: json.dumps(document, indent=2),
        lambda: _page(found),
    )
    return 3 if any(one["verdict"] == "invalid" for one in found) else 0


def _shown(file: str) -> Shown:
    """A certificate in words. What is no claim yet, as nobody checked it, is said to be none."""
    from checker.certificates.claims import named
    from checker.certificates.document import read
    from checker.certificates.origin import as_row
    from checker.recheck import rechecked
    from checker.report.bounds import assumptions
    from checker.report.program import as_cuda
    from logic.derivation import size

    text = read_text(file, AGAIN)
    made = read(text, file)
    context = made.context
    second, proved = rechecked(json.loads(text)) if made.digest else (None, None)
    return {
        "file": file,
        "kernel": made.kernel.name,
        "metric": named(context.metric),
        "claim": "" if second is None or proved is None else _worded(made, proved, second.verdict),
        "verdict": second.verdict if second else "unchecked",
        "problem": second.problem if second else "it has no digest: a derivation that somebody wrote",
        "solver_backed": second.solver_backed if second else [],
        "assumptions": assumptions(made.kernel, context, made.origin.said if made.origin else (), made.admitted),
        "program": as_cuda(made.kernel),
        "rules": made.rules,
        "applications": size(made.derivation),
        "digest": made.digest,
        "made": as_row(made.tools, made.origin),
    }


def _worded(made: Certificate, proved: Any, verdict: str) -> str:
    """The bound that the second checker finds proved, in the words of `bound`."""
    from checker.certificates.claims import known_sizes, subject, wording
    from checker.certificates.reread import potential
    from logic.potentials import const, substitute

    context = made.context
    sizes = {leaf: const(n) for leaf, n in known_sizes(context).items()}
    bound = substitute(potential(proved), sizes)
    per = {0: "warp", 1: "block"}.get(len(made.sums), "grid")
    claim = wording(made.kernel.name, subject(context, per), bound, context.metric, context.hardware)
    return claim if verdict == "valid" else f"not verified: {claim}"


def _claim(one: Shown) -> str:
    """The claim with the second checker's word on it."""
    if one["verdict"] == "unchecked":
        return f"{one['kernel']}, {one['metric']}: not checked: {one['problem']}; `warpbound check {one['file']}` does."
    if one["verdict"] == "invalid":
        return f"{one['kernel']}, {one['metric']}: invalid: {one['problem']}"
    return f"{one['claim']}\n  second checker: {one['verdict']}"


def _text(one: Shown) -> str:
    from checker.certificates.origin import sentences

    lines = [
        _claim(one),
        *(f"  not verified: {line}" for line in one["solver_backed"]),
        "",
        "This assumes:",
        *(f"  - {a}" for a in one["assumptions"]),
        "",
        "Of this program, which is to be what the source says:",
        "",
        *one["program"].rstrip().splitlines(),
        "",
        *(f"{text}" for text in sentences(one["made"])),
        f"rules '{one['rules']}', {one['applications']} applications; digest {one['digest'] or 'none'}",
    ]
    return "\n".join(lines)


def _page(found: list[Shown]) -> Page:
    """The same, a section a certificate; a fault for each that is invalid."""
    from checker.certificates.origin import sentences
    from checker.report.page import Fault, Page, Section

    sections, faults = [], []
    for one in found:
        sections += [Section(one["file"], text=_claim(one)), Section("This assumes", items=one["assumptions"])]
        sections += [Section("The program", fixed=one["program"])]
        sections += [Section("It says of itself", items=sentences(one["made"]))] if sentences(one["made"]) else []
        if one["verdict"] == "invalid":
            faults.append(Fault("invalid", f"invalid: {one['problem']}", one["file"]))
    return Page(f"{len(found)} certificate{'' if len(found) == 1 else 's'}", sections, faults)
