"""`warpbound coalesce` of several kernels: of a source, of several, of folders; each source in a process of its own."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from checker.cli.options import emit, tell
from checker.cli.several import WORST
from checker.notation.problem import OptionProblem
from checker.notation.words import many, shared

if TYPE_CHECKING:
    from checker.fleet.files import Source
    from checker.fleet.tray import Ended
    from checker.fleet.workers import Talk
    from checker.report.page import Page
    from logic.source import Loc, SourceError

WORDS: Final = {"unreadable": "cannot be read", **{word: word for word in ("timeout", "out of memory", "crashed")}}
"""The words for kernels and sources without an answer, and what is printed."""


@dataclass(frozen=True, slots=True)
class Part:
    """A kernel that was looked at, or a source that cannot be read: the exit code, its object, text, and page, what it
    assumes, which of --assume it took, what was said on standard error, and the word for it where there is no page."""

    file: str
    code: int
    row: dict[str, Any]
    text: str = ""
    page: Page | None = None
    assumes: Sequence[str] = ()
    took: frozenset[str] = frozenset()
    said: str = ""
    place: Loc | None = None
    word: str = ""


def run(args: argparse.Namespace) -> int:
    """The worst exit code of all kernels. Raises SourceError for options that do not fit, and where there is none."""
    from checker.cli.several import judged
    from checker.fleet import files

    alone = len(args.files) == 1 and files.what_is(args.files[0]) != "folder"
    if args.confirm:
        raise OptionProblem("--confirm runs one kernel", advice=_choose(args, alone))
    if args.certificate and not alone:
        raise OptionProblem("--certificate is for one file", advice="Name one: its kernels' names are those of files.")
    known = files.database(args.database) if args.database else None
    sources = files.sources(args.files, args.include, args.exclude, known)
    parts: list[Part] = []
    told_now = args.format == "text" and not args.output

    def gives(item: int, found: Part | Ended) -> None:
        part = found if isinstance(found, Part) else _ended(sources[item].name, found)
        sys.stderr.write(part.said)
        if told_now:
            emit(f"{_told(part, parts)}\n", None)
        parts.append(part)

    done = judged(args, "file", [(args, source) for source in sources], work, gives)
    done.say(())
    if not parts and not done.left:
        named = f" '{args.kernel}'" if args.kernel else ""
        told = f"there is no kernel{named} in {', '.join(map(repr, args.files[:3]))}"
        raise OptionProblem(told, advice="A kernel is a function marked __global__.")
    for text in args.assume:
        if not done.left and not any(text in part.took for part in parts) and any(part.page for part in parts):
            raise OptionProblem(f"--assume {text}: no kernel here has its parameters")
    counts = _counts(parts, len(sources))
    tell(
        args,
        lambda: _text(() if told_now else parts, _last(parts, counts)),
        lambda: json.dumps(
            {"results": [part.row for part in parts], "summary": _summary(parts, len(sources))}, indent=2
        ),
        lambda: _page(parts, counts),
    )
    if done.interrupted:
        raise KeyboardInterrupt
    return next(code for code in WORST if any(part.code == code for part in parts))


def _choose(args: argparse.Namespace, alone: bool) -> str:
    """Advice to choose a kernel; its names where there is one file. Raises SourceError."""
    from checker.cli.bounded import chosen_kernels

    own = argparse.Namespace(**{**vars(args), "file": args.files[0]})
    names = [choice.name for choice in chosen_kernels(own)] if alone else []
    told = f"There are {', '.join(names)}: choose one, --kernel '{names[0]}'." if names else ""
    return told or "Name one file, and its kernel: --kernel NAME."


def work(what: tuple[argparse.Namespace, Source], done: frozenset[int], talk: Talk) -> None:
    """Tells what became of each kernel of a source but those that are done."""
    from checker.cli.bounded import told_of
    from checker.cli.fleet_work import kernels_in, options_of
    from logic.source import SourceError
    from semantics.cuda import watched

    watched()
    args, source = what
    own = options_of(source, vars(args))
    try:
        chosen = kernels_in(own) or ()
    except SourceError as problem:
        talk.begin(0)
        talk.tell(_refused(source.name, None, problem))
        return
    talk.tell([choice.name for choice in chosen])
    for number, choice in enumerate(chosen):
        if number in done:
            continue
        talk.begin(number)
        with redirect_stderr(io.StringIO()) as said:
            try:
                part = _one(told_of(own, choice, args.assume), source.name)
            except SourceError as problem:
                part = _refused(source.name, choice.name, problem)
            except RecursionError:
                told = f"{source.name}: it is too large or too deeply nested"
                part = _refused(source.name, choice.name, OptionProblem(told))
        talk.tell(replace(part, said=said.getvalue() + part.said))


def _one(args: argparse.Namespace, file: str) -> Part:
    """One kernel, under those of the assumptions that it has the parameters for."""
    from checker.cli.assumed import assumptions_about
    from checker.cli.coalesced import analysed
    from checker.cli.options import read_kernel
    from logic.typing import signature

    reading = read_kernel(args)
    took = args.assume = assumptions_about(args.assume, signature(reading.kernel))
    done = analysed(args, reading)
    row = {"file": file, **done.document()}
    return Part(file, done.code, row, done.text(alone=False), done.page(), done.rests_on, frozenset(took))


def _refused(file: str, kernel: str | None, problem: SourceError) -> Part:
    from checker.report.terminal import render_error

    where = f"{problem.loc}: " if problem.loc else ""
    row = {"file": file, "kernel": kernel, "problem": f"{where}{problem.message}"}
    told = f"{kernel or file}: {problem.message}"
    said = render_error(problem, problem.source) + "\n"
    return Part(file, 2, row, told, said=said, place=problem.loc, word="unreadable")


def _ended(file: str, what: Ended) -> Part:
    """Of a kernel that took too long or too much memory, or a fault of ours: it has no answer, as in `bound`."""
    problem = f"{what.how}: {what.why}"
    row = {"file": file, "kernel": what.name, "problem": problem}
    return Part(file, 1, row, f"{what.name or file}: {problem}", word=what.how)


def _summary(parts: Sequence[Part], files: int) -> dict[str, int]:
    """How many files, kernels and accesses there are, and of each verdict."""
    accesses = [access for part in parts for access in part.row.get("accesses", ())]
    kernels = sum(part.row["kernel"] is not None for part in parts)
    found = {"files": files, "kernels": kernels, "accesses": len(accesses)}
    found |= Counter(access["verdict"] for access in accesses)
    return found | Counter(part.word for part in parts if part.word)


def _counts(parts: Sequence[Part], files: int) -> str:
    from checker.analysis.coalescing.access import SEVERITY

    found = _summary(parts, files)
    n = found["accesses"]
    head = f"{many(files, 'file')}, {many(found['kernels'], 'kernel')}, {n} access{'' if n == 1 else 'es'}"
    told = [f"{found[v]} {v}" for v in reversed(SEVERITY) if v in found]
    told += [f"{found[word]} {name}" for word, name in WORDS.items() if word in found]
    return f"{head}: {', '.join(told)}" if told else head


def _shared(parts: Sequence[Part]) -> list[str]:
    return shared([part.assumes for part in parts if part.page])


def _told(part: Part, before: Sequence[Part]) -> str:
    """A kernel with what it assumes, which is not said again where it is the same as of the one before."""
    if not part.assumes:
        return part.text
    above = next((other for other in reversed(before) if other.page), None)
    same = above is not None and above.assumes == part.assumes
    told = ["Assumed: as of the kernel above."] if same else ["Assumed:", *(f"  {text}" for text in part.assumes)]
    return "\n".join((part.text, "", *told))


def _text(parts: Sequence[Part], last: Sequence[str]) -> str:
    return "\n\n".join([*(_told(part, parts[:i]) for i, part in enumerate(parts)), *last])


def _last(parts: Sequence[Part], counts: str) -> list[str]:
    """The lines below all kernels."""
    return [*dict.fromkeys(f"Shares, in each kernel: {part.row['shares']}." for part in parts if part.page), counts]


def _page(parts: Sequence[Part], counts: str) -> Page:
    """A section a kernel; the faults of all, and one for each that cannot be read."""
    from checker.report.page import Fault, Page, Section, rule_of

    every, sections, faults = _shared(parts), [Section(text=f"{counts}.")], list[Fault]()
    for part in parts:
        if part.page is None:
            sections.append(Section(part.file, text=part.text))
            where = part.place if part.place and part.place.file else part.file
            faults.append(Fault(rule_of(part.word), part.text, where))
            continue
        own = [text for text in part.page.assumptions if text not in every]
        first, *others = part.page.sections
        sections += [replace(first, title=f"{part.file}: {part.page.title}"), *others]
        sections += [Section(items=own)] if own else []
        faults += part.page.faults
    return Page("Accesses to memory", sections, faults, every)
