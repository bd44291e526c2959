"""`warpbound cache`: what is kept from earlier runs, whether it is any good, and its end."""

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
        description="The certificates that bound keeps from earlier runs, and its notes of sources that have not "
        "changed. info: how many there are; verify: has the second checker judge each certificate (exit code 1 where "
        "it refuses one), and counts the notes that you have sealed, as no others are used; clear: removes them all.",
    )
    parser.add_argument("action", choices=("info", "clear", "verify"), help="what to do")
    parser.add_argument("--cache", metavar="DIR", help="the folder (default: the user's cache folder)")
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0; 1 where a certificate is refused. Raises SourceError."""
    from checker.fleet import cache, memory
    from checker.report.page import Fault, Page, Section

    try:
        folder = Path(args.cache) if args.cache else cache.usual()
    except RuntimeError:
        raise OptionProblem("there is no home folder for a cache", advice="Name one: --cache DIR.") from None
    if folder.exists() and not folder.is_dir():
        raise OptionProblem(f"--cache {folder}: Not a directory", advice="Choose another folder.")
    both = list(cache.entries(folder))
    kept, notes = ([path for path, _ in both if (path.suffix == cache.NOTES) is of] for of in (False, True))
    found: dict[str, Any] = {"folder": str(folder), "certificates": len(kept), "notes": len(notes)}
    found["bytes"] = sum(about.st_size for _, about in both)
    refused: list[tuple[str, str]] = []
    if args.action == "clear":
        found["removed"] = cache.clear(folder)
    if args.action == "verify":
        refused = [(str(path), why) for path in kept if (why := _problem(path))]
        own = memory.key(folder, make=False)
        found["sealed"] = sum(memory.is_sealed(own, path) for path in notes)
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
