"""`warpbound recheck`: the second checker, on its own."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys

_WORST_FIRST = (2, 3, 1, 0)


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "recheck",
        help="check certificates with the second checker",
        description="Checks certificates without the kernel, without a solver, with Python's standard library alone. "
        "Exit code 0: valid; 1: right so far, but a solver's word is needed; 3: invalid; 2: unreadable; of several "
        "certificates, the worst.",
    )
    parser.add_argument("files", metavar="CERT.json", nargs="+", help="the certificates")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print (default: %(default)s)"
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 valid, 1 solver-backed, 3 invalid, 2 unreadable; of several the worst."""
    from checker.recheck import main

    if len(args.files) == 1:
        return main([args.files[0], "--format", args.format])
    from concurrent.futures import ProcessPoolExecutor

    codes = []
    told = []
    with ProcessPoolExecutor() as pool:
        for file, (code, out, error) in zip(args.files, pool.map(_one, args.files, chunksize=4), strict=True):
            codes.append(code)
            sys.stderr.write(error)
            if out and args.format == "json":
                told.append({"file": file, **json.loads(out)})
            elif out:
                verdict, *rest = _text(json.loads(out))
                print("\n".join((f"{verdict}  {file}", *(f"  {line}" for line in rest))))
    if args.format == "json":
        print(json.dumps(told, indent=2))
    return next(code for code in _WORST_FIRST if code in codes)


def _one(file: str) -> tuple[int, str, str]:
    """The second checker's exit code, JSON and errors for a file."""
    from checker.recheck import main

    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main([file, "--format", "json"])
    return code, out.getvalue(), error.getvalue()


def _text(report: dict[str, str | list[str]]) -> list[str]:
    told = (str(report[name]) for name in ("claim", "problem") if report[name])
    return [str(report["verdict"]), *told, *report["solver_backed"]]
