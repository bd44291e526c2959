"""`warpbound schema`: the JSON Schema of what a command prints."""

from __future__ import annotations

import argparse
import json

from checker.cli.options import emit


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand, after all others."""
    known = tuple(subparsers.choices)  # all that are registered before it
    parser = subparsers.add_parser(
        "schema",
        help="print the JSON Schema of what a command prints",
        description="Prints the JSON Schema (draft 2020-12) of what a command prints with --format json.",
    )
    parser.add_argument("command_", metavar="COMMAND", choices=known, help=f"one of {', '.join(known)}")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write to FILE")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0. Raises SourceError where the file cannot be written."""
    from checker.report.schemas import schema

    emit(json.dumps(schema(args.command_), indent=2), args.output)
    return 0
