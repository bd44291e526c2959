"""`warpbound check` of several derivations, and of folders: each is judged in a process, and all are told."""

from __future__ import annotations

import argparse
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.cli.options import WRITES, certificates_in, tell
from checker.cli.several import WORST
from checker.notation.problem import OptionProblem
from checker.notation.words import many, shared

if TYPE_CHECKING:
    from checker.fleet.tray import Ended
    from checker.fleet.workers import Talk
    from checker.report.page import Page


@dataclass(frozen=True, slots=True)
class Checked:
    """A file that was checked: the word for it, the exit code, its object, the text that is told of it, what it
    assumes, its page, and what was said on standard error. `page` is None for one that cannot be read."""

    file: str
    word: str
    code: int
    row: dict[str, Any]
    text: str
    assumes: Sequence[str] = ()
    page: Page | None = None
    said: str = ""


def run(args: argparse.Namespace) -> int:
    """The worst exit code of all files. Raises SourceError for options that do not fit, and an empty folder."""
    from checker.cli.on_trial import usable_rules
    from checker.cli.several import judged

    for name in ("tree", "queries", "depth"):
        if getattr(args, name):
            raise OptionProblem(f"--{name} is for one derivation alone", advice="Name one file.")
    files = list(dict.fromkeys(_files(args.files)))
    usable_rules(args)
    done = judged(args, "derivation", [(args, file) for file in files], work)
    found = [
        one if isinstance(one, Checked) else _ended(file, one)
        for file, own in zip(files, done.found, strict=True)
        for one in own
    ]
    done.say(one.said for one in found)
    code = next((code for code in WORST if any(one.code == code for one in found)), 0)
    tell(args, lambda: _text(found), lambda: json.dumps(_as_json(found, code), indent=2), lambda: _page(found))
    if done.interrupted:
        raise KeyboardInterrupt
    return code


def work(what: tuple[argparse.Namespace, str], done: frozenset[int], talk: Talk) -> None:
    """Tells the word on one file, if it is not done."""
    if not done:
        talk.begin(0)
        talk.tell(_one(*what))


def _files(paths: Sequence[str]) -> Iterator[str]:
    """The files that paths mean: of folders the certificates and the outlines in them and below."""
    from checker.fleet.files import what_is

    for path in paths:
        if what_is(path) != "folder":
            yield path
            continue
        outlines = sorted(map(str, Path(path).rglob("*.qhl")))
        inside = certificates_in(path)
        if not outlines and not inside:
            told = f"there is no certificate and no outline in '{path}'"
            raise OptionProblem(told, advice=f"{WRITES} An outline ends in .qhl.")
        yield from (*outlines, *inside)


def _one(args: argparse.Namespace, file: str) -> Checked:
    """The word on one file; a problem of it is one, too."""
    from checker.cli import checked
    from checker.cli.judged import exit_code, judged_file, warn
    from checker.report.bounds import assumptions
    from checker.report.terminal import render_error
    from checker.testbed.rulefile import rule_set
    from logic.source import SourceError

    own = argparse.Namespace(**{**vars(args), "file": file, "warned": set()})
    with redirect_stderr(io.StringIO()) as said:
        try:
            judged, warned, found = judged_file(own, rule_set(args.rules, args.trust))
        except SourceError as problem:
            told = render_error(problem, problem.source)
            return _unread(file, problem.message, f"{said.getvalue()}{told}\n", problem.code)
        except RecursionError:
            told = "it is too large or too deeply nested"
            return _unread(file, told, f"{said.getvalue()}{file}: error: {told}\n")
        warn(file, warned)
        verdict, short = checked.verdict_of(found), judged.short
        word = f"{verdict}, but {short}" if verdict == "accepted" and short else verdict
        assumed = assumptions(judged.kernel, judged.context, judged.notes, judged.ledger.barriers)
        return Checked(
            file=file,
            word=word,
            code=exit_code(own, judged, found),
            row={"file": file, **checked.as_json(judged, warned, found, own)},
            text=checked.told_in_short(judged, found, own),
            assumes=assumed if verdict == "accepted" else (),
            page=checked.as_page(judged, warned, found, own),
            said=said.getvalue(),
        )


def _unread(file: str, problem: str, said: str, code: int = 2) -> Checked:
    """Of a file that is not judged: it is none that can be, or a certificate that was changed."""
    word = "invalid" if code == 3 else "unreadable"
    return Checked(file, word, code, {"file": file, "verdict": word, "problem": problem}, problem, said=said)


def _ended(file: str, what: Ended) -> Checked:
    """Of a derivation that took too long or too much memory, or a fault of ours: there is no word on it."""
    problem = f"{what.how}: {what.why}"
    return Checked(file, what.how, 1, {"file": file, "verdict": what.how, "problem": problem}, problem)


def _counts(found: Sequence[Checked]) -> str:
    count = Counter(one.word for one in sorted(found, key=lambda one: WORST.index(one.code)))
    told = ", ".join(f"{n} {word}" for word, n in count.items())
    return f"{many(len(found), 'derivation')}: {told or 'none is judged'}"


def _shared(found: Sequence[Checked]) -> list[str]:
    """The assumptions that all accepted ones have."""
    return shared([one.assumes for one in found if one.assumes])


def _text(found: Sequence[Checked]) -> str:
    """Each with what it assumes besides what all do, which comes last; and counts."""
    every, blocks = _shared(found), list[str]()
    for one in found:
        told = "\n".join(f"  {line}".rstrip() for line in one.text.splitlines())
        own = [f"    - {text}" for text in one.assumes if text not in every]
        blocks.append("\n".join((f"{one.word}  {one.file}", told, *(["  This assumes:", *own] if own else []))))
    blocks += ["\n".join(["All of these assume:", *(f"  - {text}" for text in every)])] if every else []
    return "\n\n".join([*blocks, _counts(found)])


def _as_json(found: Sequence[Checked], code: int) -> dict[str, Any]:
    verdict = next((one.row["verdict"] for one in found if one.code == code), None)
    return {"verdict": verdict, "results": [one.row for one in found]}


def _page(found: Sequence[Checked]) -> Page:
    """A table, then each file; a fault for each that is not accepted, or cannot be read."""
    from dataclasses import replace

    from checker.report.page import Fault, Page, Section, rule_of

    every = _shared(found)
    rows = [(one.file, one.word, one.row.get("claim") or one.text.partition("\n")[0]) for one in found]
    sections, faults = [Section(head=("file", "verdict", "claim"), rows=rows, code=("file",))], list[Fault]()
    for one in found:
        if one.page is None:
            faults.append(Fault(rule_of(one.word), f"{one.file}: {one.text}", one.file))
            continue
        first, *others = one.page.sections
        own = [text for text in one.page.assumptions if text not in every]
        sections += [replace(first, title=f"{one.file}: {one.page.title}"), *others]
        sections += [Section(f"{one.file} assumes", items=own)] if own else []
        faults += one.page.faults
    return Page(_counts(found), sections, faults, every)
