"""`warpbound recheck`: the second checker, on its own."""

from __future__ import annotations

import argparse


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "recheck",
        help="check a certificate with the second checker",
        description="Checks a certificate without the kernel, without a solver, with Python's standard library alone.",
    )
    parser.add_argument("file", metavar="CERT.json", help="the certificate")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print (default: %(default)s)"
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 valid, 1 solver-backed, 3 invalid, 2 unreadable."""
    from checker.recheck import main

    return main([args.file, "--format", args.format])
