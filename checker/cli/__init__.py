"""The command line: one function a subcommand, and one place where errors become messages and exit codes.

Exit codes: 0 certified, accepted, clean; 1 could not prove, rejected, findings; 2 unusable input; 3 refuted; 4 the code
that a compiler makes needs more than is certified of its source; 130 ended by Ctrl-C.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NoReturn

from checker import GARBAGE
from checker import VERSION as VERSION
from checker.notation.words import meant
from logic.source import Loc, SourceError

MAX_DIGITS = 100_000
"""Of the integers that are printed where --at may be given: a bound at a large point has more than Python's 4,300."""


class Usage(SystemExit):
    """A command line that does not follow the grammar; a SystemExit with code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(2)
        self.message = message


class _Parser(argparse.ArgumentParser):
    """argparse, with its complaints in the form of all others, and options by their full names only."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 - argparse calls it so
        """On standard output, which is for documents."""
        from checker.cli.options import emit

        emit(self.format_help().rstrip("\n"), None)

    def error(self, message: str) -> NoReturn:
        """Ends with the sentence, what was probably meant, how to see all that there is, and the usage in a line: under
        a page of it the sentence would go unseen."""
        told = self._meant(message)
        sys.stderr.write(f"{self.prog}: error: {message}\n  {told}{self.prog} --help tells more.\n")
        sys.stderr.write(f"  {self._usage(message, told)}\n")
        raise Usage(message)

    def _usage(self, message: str, told: str) -> str:
        """The usage with the options that have to be given, and the one that the problem is about or that was meant."""
        named = re.match(r"argument (?:\S+/)?(-\S+): |Did you mean '(-\S+)'", told or message)
        about = named[1] or named[2] if named else ""
        shown = [a for a in self._actions if not a.option_strings or a.required or about in a.option_strings]
        lines = argparse.HelpFormatter(f"{self.prog}{' [OPTIONS]' * (len(shown) < len(self._actions))}", width=10_000)
        lines.add_usage(None, shown, [])
        return lines.format_help().strip()

    def _meant(self, message: str) -> str:
        """Advice for a word that is not known, by what was probably meant: an option, or one of a choice."""
        if found := re.match(r"argument \S+: invalid choice: '(.*?)' \(choose from (.*)\)", message):
            return meant(found[1], re.findall(r"'(.*?)'", found[2]))
        words = message.removeprefix("unrecognized arguments: ").split() if message.startswith("unrec") else []
        for word, after in zip(words, [*words[1:], ""], strict=False):
            if word.startswith("--"):
                name, equals, value = word.partition("=")
                if told := self._told_of(name):
                    return told
                given = value if equals else "" if after.startswith("-") else after
                return meant(name, (o for o, a in self._option_string_actions.items() if self._takes(a, given)))
        for_names = (o for o, a in self._option_string_actions.items() if a.dest in ("paths", "kernels"))
        return "".join(f"Did you mean '{o}'? " for o in for_names if words and not words[0].startswith("-"))

    def _told_of(self, name: str) -> str:
        """The question whether the option was meant whose help begins with the word that was given."""
        for option, action in self._option_string_actions.items():
            if option.startswith("--") and (action.help or "").partition(" ")[0] == name.strip("-"):
                return f"Did you mean '{option}'? "
        return ""

    def _takes(self, action: argparse.Action, given: str) -> bool:
        """Whether an option may have been meant that this was given to; nothing may be given by mistake."""
        if not given:
            return True
        if action.nargs == 0:
            return False
        try:
            value = self._get_value(action, given)
        except argparse.ArgumentError:
            return False
        return action.choices is None or value in action.choices


class _Version(argparse.Action):
    """--version among other words."""

    def __call__(self, top: argparse.ArgumentParser, *_: object) -> NoReturn:
        from checker.cli.options import emit

        emit(f"warpbound {VERSION}", None)
        top.exit()


def parser() -> argparse.ArgumentParser:
    """The parser of command lines."""
    return grammar()[0]


def grammar() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The command line's grammar: the parser, and those of the subcommands by their names."""
    from checker.cli import (
        baseline,
        bound,
        cache,
        check,
        coalesce,
        compare,
        compiled,
        contracts,
        machine,
        predict,
        recheck,
        report,
        rules,
        run,
        schema,
        show,
        suite,
        trial,
        wcet,
    )

    top = _Parser(prog="warpbound", description="Certified bounds on what GPU kernels cost.")
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    subparsers = top.add_subparsers(title="subcommands", dest="command", metavar="COMMAND", required=True)
    for module in (
        bound,
        baseline,
        compare,
        cache,
        check,
        recheck,
        report,
        show,
        run,
        contracts,
        coalesce,
        compiled,
        machine,
        wcet,
        predict,
        rules,
        suite,
        trial,
        schema,
    ):
        module.add(subparsers)
    return top, subparsers.choices


def main(argv: list[str] | None = None) -> int:
    """Run a command line and return its exit code. Nothing that a person can type ends in a traceback.

    Without `argv` it is that of the process, which then is the command's: Ctrl-C ends it.
    """
    from checker.cli import process
    from checker.cli.stdin import standard_input

    process.errors_to_nowhere(argv is None)
    if argv is None:
        process.hear_interrupts()
        gc.set_threshold(*GARBAGE)
    try:
        with process.own_output(argv is None), standard_input() as take:
            return _run(sys.argv[1:] if argv is None else argv, take)
    except KeyboardInterrupt:
        if argv is None:
            process.leave()
        sys.stderr.write("warpbound: interrupted\n")
        return process.INTERRUPTED


def _parsed(words: list[str]) -> argparse.Namespace:
    """The options of a command line. What is left over is a fault in the subcommand's usage."""
    top, commands = grammar()
    args, left = top.parse_known_args(words)
    if left:
        commands[args.command].error(f"unrecognized arguments: {' '.join(left)}")
    return args


def _run(words: list[str], take: Callable[[argparse.Namespace], None]) -> int:
    """A command line's exit code; `take` puts standard input in place of `-`."""
    digits = sys.get_int_max_str_digits()
    try:
        from checker.cli.options import check_paths, emit

        if words == ["--version"]:
            emit(f"warpbound {VERSION}", None)
            return 0
        args = _parsed(words)
        take(args)
        check_paths(args)
        if "at" in args:
            sys.set_int_max_str_digits(MAX_DIGITS)
        return int(args.func(args))
    except SourceError as error:
        from checker.report.terminal import render_error

        sys.stderr.write(render_error(error, error.source) + "\n")
        if not error.told:
            _tell(words, error.message, error.loc, error.advice, error.rule)
        return error.code
    except Usage as error:
        _tell(words, error.message)
        raise
    except BrokenPipeError:
        sys.stderr.close()
        return 2
    except (RecursionError, MemoryError):
        problem = "the input is too large or too deeply nested"
        sys.stderr.write(f"warpbound: error: {problem}\n")
        _tell(words, problem)
        return 2
    except Exception as error:
        from checker.cli.process import heard_interrupt

        if heard_interrupt():
            raise KeyboardInterrupt from error
        if os.environ.get("WARPBOUND_TRACEBACK"):
            raise
        sys.stderr.write(f"warpbound: internal error: {type(error).__name__}: {error}\n")
        sys.stderr.write("  This is a fault in warpbound; WARPBOUND_TRACEBACK=1 shows where.\n")
        return 2
    finally:
        sys.set_int_max_str_digits(digits)


def _tell(words: Sequence[str], message: str, loc: Loc | None = None, advice: str = "", rule: str = "unusable") -> None:
    """The problem as a JSON object on standard output, where --format asks for that; as a SARIF log where -o says,
    which a pipeline uploads whatever the exit code."""
    from checker.cli.options import emit, versioned

    formats = [new for old, new in pairwise(words) if old == "--format"]
    formats += [word.removeprefix("--format=") for word in words if word.startswith("--format=")]
    with suppress(SourceError):  # what cannot be written may be the problem itself
        if formats[-1:] == ["json"]:
            place = {"file": loc.file, "line": loc.line, "column": loc.column} if loc else None
            told = json.dumps({"error": {"message": message, "place": place, "advice": advice or None}}, indent=2)
            emit(versioned(told), None)
        elif formats[-1:] == ["sarif"]:
            from checker.report.sarif import unusable

            files = [new for old, new in pairwise(words) if old == "-o"]
            files += [word[2:] for word in words if word.startswith("-o") and word != "-o"]
            told = f"{message}. {advice}" if advice else message
            log = unusable(told, loc, rule)
            emit(json.dumps(log, indent=2), files[-1] if files else None)
