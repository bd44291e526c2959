"""`warpbound cache`: what certificates are kept from earlier runs, whether they are any good, and their end."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from checker.cli.options import add_output_options, tell
from checker.notation.problem import OptionProblem


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "cache",
        help="look at the certificates that bound keeps, judge them, or remove them",
        description="The certificates that bound keeps from earlier runs. info: how many there are; verify: has the "
        "second checker judge each (exit code 1 where it refuses one); clear: removes them all.",
    )
    parser.add_argument("action", choices=("info", "clear", "verify"), help="what to do")
    parser.add_argument("--cache", metavar="DIR", help="the folder (default: the user's cache folder)")
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0; 1 where a certificate is refused. Raises SourceError."""
    from checker.fleet import cache
    from checker.report.page import Fault, Page, Section

    try:
        folder = Path(args.cache) if args.cache else cache.usual()
    except RuntimeError:
        raise OptionProblem("there is no home folder for a cache", advice="Name one: --cache DIR.") from None
    if folder.exists() and not folder.is_dir():
        raise OptionProblem(f"--cache {folder}: Not a directory", advice="Choose another folder.")
    kept = list(cache.entries(folder))
    found: dict[str, Any] = {"folder": str(folder), "certificates": len(kept), "bytes": sum(s.st_size for _, s in kept)}
    refused: list[tuple[str, str]] = []
    if args.action == "clear":
        found["removed"] = cache.clear(folder)
    if args.action == "verify":
        refused = [(str(path), why) for path, _ in kept if (why := _problem(path))]
        found |= {"valid": len(kept) - len(refused), "refused": [{"file": f, "problem": why} for f, why in refused]}
    told = [f"{key}: {len(value) if isinstance(value, list) else value}" for key, value in found.items()]
    lines = [f"{file}: {why}" for file, why in refused]
    faults = [Fault("invalid", f"{file}: {why}", file) for file, why in refused]
    tell(
        args,
        lambda: "\n".join([*told, *lines]),
        lambda: json.dumps(found, indent=2),
        lambda: Page("The cache", [Section(items=told), *([Section("Refused", items=lines)] if lines else [])], faults),
    )
    return int(bool(refused))


def _problem(path: Path) -> str:
    """Why the second checker refuses what is kept at a place; "" where it does not."""
    from checker.fleet import cache
    from checker.recheck import recheck

    text = cache.found(path)
    if text is None:
        return "it cannot be read"
    try:
        report = recheck(json.loads(text))
    except (ValueError, RecursionError):
        return "it is no certificate"
    return "" if report.verdict == "valid" else report.problem or "it rests on a solver's word"
