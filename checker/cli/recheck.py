"""`warpbound recheck`: the second checker, on its own."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from checker.cli.options import add_accept_option, add_output_options, certificates, tell
from checker.cli.several import WORST
from checker.notation.words import many, shared
from logic.source import Loc, SourceError

if TYPE_CHECKING:
    from checker.report.page import Page

Report = dict[str, Any]


class Unreadable(SourceError):
    """A file that is no certificate."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "recheck",
        help="check certificates with the second checker",
        description="Checks certificates without the kernel, without a solver, with Python's standard library alone. "
        "Exit code 0: valid; 1: right so far, but a solver's word is needed, or vacuous: of no launch; 3: invalid; 2: "
        "unreadable; of several certificates, the worst.",
    )
    parser.add_argument("files", metavar="CERT.json", nargs="+", help="the certificates, or folders of them")
    add_accept_option(parser)
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 valid, 1 solver-backed (0 with --accept) or vacuous, 3 invalid, 2 unreadable; of several the worst. Raises
    Unreadable for a single file."""
    args.files = certificates(args.files)
    codes, found = [], []
    for file, (code, out, error) in zip(args.files, _all(args.files), strict=True):
        if not out and len(args.files) == 1:
            raise _unreadable(file, error)
        sys.stderr.write(error)
        nothing: dict[str, Any] = dict.fromkeys(("claim", "digest"), "") | {"solver_backed": [], "reading": []}
        unread = {"verdict": "unreadable", **nothing, "problem": error.strip()}
        found.append({"file": file, **(json.loads(out) if out else unread)})
        codes.append(0 if _accepted(found[-1], args.accept) else code)
    worst = next(code for code in WORST if code in codes)
    read = [one for one in found if one["verdict"] != "unreadable"]
    if len(args.files) > 1:
        verdict = next(one["verdict"] for one, code in zip(found, codes, strict=True) if code == worst)
        document = {"verdict": verdict, "results": found}
        told = (lambda: f"{_text(read)}\n{_counted(found)}") if read else None
        tell(args, told, lambda: json.dumps(document, indent=2), lambda: _page(read, args.accept))
    else:
        (row,) = ({name: value for name, value in one.items() if name != "file"} for one in found)
        tell(args, lambda: _text(found), lambda: json.dumps(row, indent=2), lambda: _page(found, args.accept))
    return worst


def _accepted(found: Report, accept: Sequence[str]) -> bool:
    """Whether a certificate rests on a solver's word, and that is enough."""
    return found["verdict"] in accept


_WRITTEN: Final = "Give a file that `bound --certificate` wrote."


def _unreadable(file: str, error: str) -> Unreadable:
    """The second checker's sentence about a file that it cannot read, without the words of Python's library."""
    told = error.strip().removeprefix("error: ")
    if place := re.search(r"line (\d+) column (\d+) \(char \d+\)$", told):
        where = Loc(file, int(place[1]), int(place[2]))
        return Unreadable(f"'{file}' is no JSON document", where, _WRITTEN)
    if "codec can't decode" in told:
        return Unreadable(f"cannot read '{file}': it is not UTF-8 text", advice=_WRITTEN)
    return Unreadable(told)


def _all(files: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The second checker's word on each file: in this process of one, in others of several."""
    if len(files) == 1:
        yield _one(files[0])
        return
    from checker.cli.progress import progress_bar
    from checker.testbed.workers import Workers

    with Workers() as pool, progress_bar("certificates", len(files)) as show:
        for done, one in enumerate(pool.map(_one, files, chunksize=4), 1):
            yield one
            if show:
                show(done)


def _one(file: str) -> tuple[int, str, str]:
    """The second checker's exit code, JSON and errors for a file."""
    from checker.recheck import main

    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main(["--format", "json", "--", file])
    return code, out.getvalue(), error.getvalue()


SAID: Final = "said of the source, not checked: "


def _text(found: Sequence[Report]) -> str:
    """The verdict on each certificate, and what is said of it; what all of several say of their sources, once."""
    every = shared([one["reading"] for one in found])
    lines = [line for one in found for line in _lines(one, every)]
    return "\n".join((*lines, *(f"all: {SAID}{text}" for text in every)))


def _lines(found: Report, every: Sequence[str]) -> list[str]:
    told = (str(found[name]) for name in ("claim", "problem") if found[name])
    read = (f"{SAID}{text}" for text in found["reading"] if text not in every)
    return [f"{found['verdict']}  {found['file']}", *(f"  {t}" for t in (*told, *found["solver_backed"], *read))]


def _counted(found: Sequence[Report]) -> str:
    """The counts by verdict in a line."""
    count = Counter(one["verdict"] for one in found)
    told = ", ".join(
        f"{count[v]} {v}" for v in ("unreadable", "invalid", "vacuous", "solver-backed", "valid") if count[v]
    )
    return f"{many(len(found), 'certificate')}: {told}"


def _page(found: Sequence[Report], accept: Sequence[str]) -> Page:
    """A line for each certificate; a fault for each that is invalid, and for what each needs a solver's word for."""
    from checker.report.page import Fault, Page, Section

    head = ("certificate", "verdict", "claim", "digest")
    rows = [(one["file"], one["verdict"], one["claim"], one["digest"]) for one in found]
    faults, sections = [], [Section(head=head, rows=rows, code=("certificate", "claim", "digest"))]
    for one in found:
        problems = [*filter(None, [one["problem"]]), *one["solver_backed"]]
        sections += [Section(one["file"], fixed="\n".join(problems))] if problems else []
        if not _accepted(one, accept):
            faults += [Fault(one["verdict"], f"{one['verdict']}: {text}", one["file"]) for text in problems]
    return Page(f"Second checker: {_counted(found) if found else 'nothing to judge'}", sections, faults)
