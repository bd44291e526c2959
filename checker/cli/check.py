"""`warpbound check`: an outline that a person wrote, or a certificate, judged by the kernel."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from checker.cli.assumed import (
    add_launch_options,
)
from checker.cli.checked import as_json, as_page, as_text, drawn, uncertified
from checker.cli.judged import exit_code, judged_file, warn
from checker.cli.on_trial import usable_rules
from checker.cli.options import (
    add_accept_option,
    add_output_options,
    add_queries_option,
    add_reading_options,
    add_trust_option,
    tell,
)
from checker.cli.several import add_limit_options, asked

if TYPE_CHECKING:
    pass


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "check",
        help="check a derivation or a certificate",
        description="Completes an outline (.qhl, or annotations in .cu) to a derivation, or reads one from a "
        "certificate (.json), and has the kernel and the second checker judge it. Exit code 0: accepted by both; 1: "
        "rejected, not proved, holey, or solver-backed: resting on the word of a solver; 3: an invalid certificate.",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="PATH",
        help="outlines (.qhl, annotated .cu) and certificates (.json), and folders of them",
    )
    add_reading_options(parser)
    launch = parser.add_argument_group("annotated .cu", "what it is checked for, where its annotations leave it open")
    add_launch_options(launch)
    launch.add_argument("--metric", dest="metrics", action="append", default=[], metavar="NAME|FILE.toml")
    launch.add_argument("--hardware", metavar="NAME|FILE.toml", help="(default: nvidia)")
    add_accept_option(parser, "on-trial", told=", or what was accepted by rules that certify nothing")
    parser.add_argument(
        "--rules",
        default="sound",
        metavar="SET",
        help="the rule set: sound, paper, FILE.rules (rules as text), or FILE.py, which --trust RUNS AS PYTHON; all "
        "but sound certify nothing (default: %(default)s)",
    )
    add_trust_option(parser)
    parser.add_argument("--tree", action="store_true", help="print the derivation as a tree, too")
    parser.add_argument("--depth", type=int, metavar="N", help="the levels of the tree that are shown (default: 4)")
    add_queries_option(parser)
    group = parser.add_argument_group("several files, each judged in a process with limits")
    add_limit_options(group, "file", "that is not accepted")
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 when both checkers accept, nothing is admitted and nothing rests on a solver's word, else 1; 3 for an invalid
    certificate; of several files the worst. Raises SourceError for a file that is neither an outline nor a certificate.
    """
    import json

    from checker.cli.progress import working
    from checker.fleet.files import what_is

    if len(args.files) > 1 or what_is(args.files[0]) == "folder" or asked(args):
        from checker.cli import check_many

        return check_many.run(args)
    (args.file,) = args.files
    with working(args.file):
        judged, warned, found = judged_file(args, usable_rules(args))
    warn(args.file, warned)
    tell(
        args,
        lambda: "\n\n".join((as_text(judged, found, args), *uncertified(judged), *drawn(judged, args))),
        lambda: json.dumps(as_json(judged, warned, found, args), indent=2),
        lambda: as_page(judged, warned, found, args),
    )
    return exit_code(args, judged, found)
