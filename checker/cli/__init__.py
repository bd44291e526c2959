"""The command line: one function a subcommand, and one place where errors become messages and exit codes.

Exit codes: 0 certified, accepted, clean; 1 could not prove, rejected, findings; 2 unusable input; 3 refuted.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from logic.source import SourceError

VERSION = "0.1.0"

MAX_DIGITS = 100_000
"""Of the integers that are printed where --at may be given: a bound at a large point has more than Python's 4,300."""


class _Parser(argparse.ArgumentParser):
    """argparse, with its complaints in the form of all others."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        sys.stderr.write(f"{self.prog}: error: {message}\n")
        raise SystemExit(2)


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    from checker.cli import bound, check, coalesce, machine, predict, recheck, report, rules, run, suite, trial, wcet

    top = _Parser(prog="warpbound", description="Certified bounds on what GPU kernels cost.")
    top.add_argument("--version", action="version", version=f"warpbound {VERSION}")
    subparsers = top.add_subparsers(title="subcommands", dest="command", metavar="COMMAND", required=True)
    for module in (bound, check, recheck, report, run, coalesce, machine, wcet, predict, rules, suite, trial):
        module.add(subparsers)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run a command line and return its exit code. Nothing that a person can type ends in a traceback."""
    words = sys.argv[1:] if argv is None else argv
    if words == ["--version"]:
        print(f"warpbound {VERSION}")
        return 0
    digits = sys.get_int_max_str_digits()
    try:
        from checker.cli.options import check_outputs

        args = parser().parse_args(words)
        check_outputs(args)
        if "at" in args:
            sys.set_int_max_str_digits(MAX_DIGITS)
        code: int = args.func(args)
        sys.stdout.flush()
        return code
    except SourceError as error:
        from checker.report.terminal import render_error

        sys.stderr.write(render_error(error, error.source) + "\n")
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("warpbound: interrupted\n")
        return 2
    except (RecursionError, MemoryError):
        sys.stderr.write("warpbound: error: the input is too large or too deeply nested\n")
        return 2
    except Exception as error:
        if os.environ.get("WARPBOUND_TRACEBACK"):
            raise
        sys.stderr.write(f"warpbound: internal error: {type(error).__name__}: {error}\n")
        sys.stderr.write("  This is a fault in warpbound; WARPBOUND_TRACEBACK=1 shows where.\n")
        return 2
    finally:
        sys.set_int_max_str_digits(digits)
