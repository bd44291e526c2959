"""The work of a worker of `bound PATH..`: it reads a source once, and bounds its kernels. What it finds are
certificates; the one who asked has them judged."""

from __future__ import annotations

import argparse
import io
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from checker.cli.assumed import assumptions_about
from checker.cli.bounded import (
    certificate_of,
    chosen_kernels,
    in_vain,
    origin_of,
    outlined,
    proved,
    signed_here,
    told_of,
)
from checker.cli.bounded import with_hints as hinted_result
from checker.cli.options import read_kernel
from checker.cli.points import check_point
from checker.notation.problem import OptionProblem
from logic.source import SourceError

if TYPE_CHECKING:
    from checker.certificates.origin import Origin
    from checker.certificates.seconded import Check
    from checker.fleet.files import Source
    from checker.fleet.rows import Read
    from checker.fleet.workers import Talk
    from checker.oracles import Oracles
    from checker.recheck import Report
    from checker.synthesis.bound import Result
    from checker.synthesis.outline import Outline
    from logic.metrics import Hardware, Metric
    from logic.syntax import Kernel
    from semantics.cuda import Choice, Reading


SEARCHED: Final = 0.2
"""The share of a kernel's time that is left for its search, however long its reading took."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that all sources are bounded with: the command's options by their names, metrics, hardware, and the
    point; and the options that a configuration has for kernels by their names."""

    options: Mapping[str, Any]
    metrics: tuple[Metric, ...]
    hardware: Hardware
    at: Mapping[str, int]
    kernels: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Search:
    """A kernel that was read, and what is wanted of it: all that a search needs. `hinted` is the metric that its
    annotations are for, `reading` the kernel as read, `kept` its `bare` kernel, `made` what certificates say of the
    source; `known` are the certificates that were found of its other metrics, where something is assumed that all may
    do without."""

    outline: Outline
    reading: Reading
    kept: Kernel
    metrics: tuple[Metric, ...]
    hinted: str | None
    options: argparse.Namespace
    made: Origin
    known: tuple[str, ...] = ()


def work(what: tuple[Source, Settings], done: frozenset[int], talk: Talk) -> None:
    """Bounds the kernels of a source but those that are done."""
    _each(what, done, talk, lambda search, oracle: _searched(search, oracle, talk, partial(_asked, talk, search.made)))


def reading(what: tuple[Source, Settings], done: frozenset[int], talk: Talk) -> None:
    """Reads the kernels of a source but those that are done, and tells what is to be searched elsewhere."""
    from checker.fleet import cluster

    _each(what, done, talk, lambda search, _: talk.tell(cluster.Search(pickle.dumps(search))))


def searching(content: bytes, _: frozenset[int], talk: Talk) -> None:
    """The search of a kernel that was read elsewhere."""
    from checker.oracles import Oracles

    talk.begin(0)
    _searched(pickle.loads(content), Oracles(), talk)  # noqa: S301 - from the one who asked, who may run code here


def _each(
    what: tuple[Source, Settings], done: frozenset[int], talk: Talk, then: Callable[[Search, Oracles], None]
) -> None:
    """Reads the kernels of a source but those that are done, and does with each what is to be done."""
    from checker.fleet.desk import Listed, Seen
    from semantics.cuda import watched
    from semantics.cuda.inputs import watching

    watched()
    source, settings = what
    args = options_of(source, settings.options)
    with watching() as watch:
        try:
            chosen = kernels_in(args)
        except SourceError as problem:
            chosen = None
            talk.tell(_refused(problem))
        talk.tell(Seen(watch.inputs()))
        if chosen is None:
            return
        talk.tell(Listed(tuple(c.name for c in chosen)))
        for part, choice in enumerate(chosen):
            if part not in done:
                talk.begin(part)
                try:
                    _one(args, choice, settings, talk, then)
                except SourceError as problem:
                    talk.tell(_refused(problem))
                except (MemoryError, OSError):
                    raise
                except RecursionError:
                    talk.tell(_refused(OptionProblem("it is too large or too deeply nested")))
                except Exception as problem:  # noqa: BLE001  # a fault of ours ends no run
                    told = f"internal error: {type(problem).__name__}: {problem}"
                    talk.tell(_refused(OptionProblem(told, advice="This is a fault in warpbound."), ours=True))


def options_of(source: Source, options: Mapping[str, Any]) -> argparse.Namespace:
    """A command's options for one source, with those that a compilation database has for it."""
    args = argparse.Namespace(**{**options, "file": source.path, "found": source.found, "shown": None, "warned": set()})
    flags = source.flags
    args.includes, args.defines = [*flags.includes, *args.includes], [*flags.defines, *args.defines]
    args.std = flags.std or args.std
    return args


def kernels_in(args: argparse.Namespace) -> Sequence[Choice] | None:
    """The kernels and instances of a source that are asked for; None for host code without any, which may be full of
    errors for lack of its headers where nobody named the source. Raises SourceError."""
    from semantics.cuda import NoKernel

    try:
        chosen = chosen_kernels(args)
        if not chosen and args.kernel is None:
            read_kernel(args)  # says why there is none
    except NoKernel as problem:
        if problem.loc is None or args.found:
            return None
        raise
    return chosen


def naming(what: tuple[Source, Settings], done: frozenset[int], talk: Talk) -> None:
    """Tells the names of a source's kernels and instances, if it is not done; None where it cannot be read."""
    source, settings = what
    if done:
        return
    talk.begin(0)
    try:
        talk.tell([choice.name for choice in chosen_kernels(options_of(source, settings.options))])
    except SourceError:
        talk.tell(None)


def _refused(problem: SourceError, ours: bool = False) -> Any:
    from checker.fleet.desk import Refused
    from checker.report.terminal import render_error

    return Refused(problem.message, problem.loc, render_error(problem, problem.source), ours)


def _one(
    args: argparse.Namespace, choice: Choice, settings: Settings, talk: Talk, then: Callable[[Search, Oracles], None]
) -> None:
    """One kernel: reads it, asks which metrics are left, and does with those what is to be done."""
    from checker.fleet.desk import Known, Seen
    from checker.oracles import Oracles
    from semantics.cuda.inputs import watch

    said, oracle = io.StringIO(), Oracles()
    try:
        with redirect_stderr(said):
            outline, hinted, reading, read, own, made = _read(args, choice, settings, oracle)
    finally:
        seen = watch()
        talk.tell(Seen(None if seen is None else seen.inputs()))
    wanted = talk.ask(replace(read, said=said.getvalue()))
    metrics = tuple(m for m in settings.metrics if m.name in wanted)
    launch = outline.context.launch
    assumed = len(metrics) < len(settings.metrics) and (launch.assumptions or launch.contracts)
    known = tuple(talk.ask(Known())) if assumed else ()
    search = Search(outline, reading, read.bare, metrics, hinted, own, made, known)
    if metrics:
        then(search, oracle)
    elif known:
        _vain(search, (), oracle, talk)


def _asked(talk: Talk, made: Origin, document: dict[str, Any]) -> Report:
    """The second checker's word on a certificate, by the one who asked for that: it is asked there anyway."""
    from checker.certificates.document import canonical
    from checker.fleet.judge import reported
    from checker.fleet.rows import Claimed

    text = canonical(signed_here(document, made))
    return reported(talk.ask(Claimed(document["metric"]["name"], text)))


def _searched(search: Search, oracle: Oracles, talk: Talk, check: Check | None = None) -> None:
    """Tells what is found under each metric; the second checker is asked here, or elsewhere by `check`."""
    from checker.certificates.document import canonical
    from checker.fleet.rows import Found
    from checker.report.bounds import as_json, sharper
    from checker.synthesis.bound import find_bounds

    outline, hinted, args = search.outline, search.hinted, search.options

    def found(result: Result) -> None:
        if hinted in (None, result.metric.name):
            with redirect_stderr(io.StringIO()) as warned:
                result = hinted_result(outline, result, oracle, args)
            if warned.getvalue():
                talk.tell(warned.getvalue().rstrip())
        for told in sharper(result, search.kept.name):
            talk.tell(f"{args.file}: warning: {told}")
        document = certificate_of(result, search.made)
        row = as_json(search.kept, outline.context, result, args.per, {}, (), None)
        text = canonical(document) if document is not None else None
        problem = row.get("problem", "no bound was found")
        coarse = result.backed is not None
        talk.tell(Found(result.metric.name, text, problem, result.seconds, result.hurried, coarse))

    own = (outline, search.metrics, oracle, hinted, args.search, args.per)
    backed = "solver-backed" in args.accept
    results = find_bounds(*own, done=found, seconds=_left(args.seconds, talk), backed=backed, check=check)
    _vain(search, results, oracle, talk)


def _left(seconds: float | None, talk: Talk) -> float | None:
    """The seconds that a search may take of those of a kernel, some of which its reading took."""
    if seconds is None or talk.began is None:
        return seconds
    return max(seconds * SEARCHED, seconds - (time.monotonic() - talk.began))


def _vain(search: Search, results: Sequence[Result], oracle: Oracles, talk: Talk) -> None:
    """Tells what is assumed that all of its bounds do without, those that were known, too."""
    from checker.certificates.document import read

    known = [(found.context, found.derivation) for found in (read(text, "certificate") for text in search.known)]
    for text in in_vain([*known, *proved(results)], search.reading, oracle):
        talk.tell(f"{search.options.file}: warning: {text}")


def _read(
    args: argparse.Namespace, choice: Choice, settings: Settings, oracle: Oracles
) -> tuple[Outline, str | None, Reading, Read, argparse.Namespace, Origin]:
    """A kernel under its launch, the metric that its annotations are for, what is to be said of it, its options, and
    what its certificates say of the source."""
    from checker.certificates.claims import with_facts
    from checker.certificates.reread import subject_of
    from checker.fleet.rows import Read, bare
    from logic.typing import signature

    table = next((n for n in (choice.name, *sorted(choice.names)) if n in settings.kernels), None)
    more = settings.kernels[table] if table is not None else {}
    own = told_of(args, choice)
    own.block = args.block or more.get("block") or args.usual_block
    own.grid = args.grid or more.get("grid") or args.usual_grid
    reading = read_kernel(own, settle=False)
    sigma = signature(reading.kernel)
    took = set[str]() if table is None else {f"[kernel.{table}]"}
    given = assumptions_about(args.assume, sigma)
    took.update(given)
    own.assume = [*given, *more.get("assume", ())]
    arrays = {a.name for a in reading.kernel.arrays}
    at = {name: n for name, n in settings.at.items() if name in sigma.params or name.partition("[")[0] in arrays}
    outline, hinted, reading = outlined(own, reading, settings.metrics[0], settings.hardware, oracle)
    context, made = outline.context, origin_of(own, reading, settings.hardware)
    check_point(at, reading.kernel, with_facts(context, reading.facts))
    subjects = {m.name: subject_of(outline.kernel, replace(context, metric=m), args.per) for m in settings.metrics}
    kept = bare(outline.kernel, choice.name)
    named = frozenset(took) | at.keys()
    read = Read(choice.name, kept, context, args.per, reading.notes, subjects, at, named, facts=reading.facts)
    return outline, hinted, reading, read, own, made
