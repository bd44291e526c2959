"""`warpbound report`: certificates judged again by both checkers, as a page for an audit."""

from __future__ import annotations

import argparse
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from checker.cli.options import (
    add_accept_option,
    add_output_options,
    add_reading_options,
    annotated,
    certificates,
    emit,
    parse_dim,
    read_kernel,
    read_text,
    reading_words,
    refuse_others,
    source_text,
)
from checker.cli.points import add_point_option, point
from checker.cli.progress import working
from checker.cli.several import Several, add_glob_options, add_limit_options, asked
from checker.notation.problem import OptionProblem
from checker.notation.words import last_word, meant

if TYPE_CHECKING:
    from concurrent.futures import Future

    from checker.certificates.audit import Audited, Change
    from checker.fleet.workers import Talk
    from checker.oracles import Oracles
    from checker.recheck import Report
    from checker.refutation.witness import Fill
    from checker.report.audit import Source
    from checker.report.dossier import Dossier
    from checker.report.launches import Sizes
    from logic.assertions import Context
    from semantics.cuda import Reading


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "report",
        help="the audit report on certificates",
        description="Has both checkers judge certificates, and says what they prove, of which source, what that rests "
        "on, and where the cost comes from. 0 where all are certified; 1 where one is not, where the source is another "
        "than the certificate's or launches the kernel with sizes that none speaks of, or where a bound grew since "
        "--compare or rests on more; 3 where one is invalid.",
    )
    parser.add_argument("files", metavar="CERT.json", nargs="+", help="certificates, or folders of them")
    parser.add_argument(
        "--compare",
        dest="old",
        action="append",
        default=[],
        metavar="OLD.json",
        help="an older certificate of the same kernel and metric (repeatable): 1 where the bound grew, or is not shown "
        "not to have grown, or where it rests on more",
    )
    parser.add_argument(
        "--source",
        dest="sources",
        action="append",
        default=[],
        metavar="FILE.cu",
        help="the kernels' CUDA source (repeatable): is it what the certificates are about?",
    )
    parser.add_argument(
        "--block", metavar="X[,Y[,Z]]", help="the blocks that are launched (default: those of the source's launches)"
    )
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="the grid that is launched (default: the source's)")
    add_point_option(parser, "evaluate the bounds there: --at w=256,h=256")
    parser.add_argument("--explain", action="store_true", help="say in the text, too, where the cost comes from")
    parser.add_argument(
        "--coq",
        action="store_true",
        help="instead of the report, a Coq file with the arithmetic proofs, for Coq to check against proofs/coq; 0 "
        "where the second checker finds all certificates valid, 3 where one is invalid",
    )
    add_accept_option(parser)
    add_reading_options(parser, kernel=False)
    group = parser.add_argument_group("several certificates, with an option for limits each judged in a process")
    add_glob_options(group, "certificates of folders")
    add_limit_options(group, "certificate", "that is not certified")
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 all certified, or no worse than before, 3 where one is invalid, else 1. Raises SourceError for what is no
    certificate."""
    from checker.oracles import Oracles
    from checker.report import audit as report
    from checker.report.launches import contradicted, judge

    args.files = certificates(args.files, args.include, args.exclude)
    at, launched = point(args.at), _asked(args)
    if not args.sources and (args.includes or args.defines or args.instantiate):
        raise OptionProblem("-I, -D and --instantiate say how a source is read", advice="Add --source FILE.cu.")
    if args.coq:
        if args.old or args.sources or at or args.format != "text" or asked(args):
            told = "--coq writes a Coq file, without --compare, --source, --at, --format and limits"
            raise OptionProblem(told, advice="Leave them out, or --coq.")
        return _as_coq(args)
    oracle = Oracles()
    texts = {path: read_text(path, "Give a certificate, a .json file.") for path in (*args.files, *args.old)}
    done = _limited(args, texts) if asked(args) else None
    every = _all(texts, oracle) if done is None else _each(texts, done)
    found, old = ([every[path] for path in paths if path in every] for paths in (args.files, args.old))
    if done is not None and done.interrupted and not found:
        raise KeyboardInterrupt
    if at:
        _check_point(at, found)
    changes = _compared(old, found, oracle)
    named = cache(partial(_named, args))
    for a in found:
        if args.sources and not named(a.certificate.name):
            raise OptionProblem(
                f"there is no kernel '{a.certificate.name}' in {', '.join(args.sources)}",
                advice=f"'{a.file}' is about it: give its source, too, with --source.",
            )
    held = [report.beside_all(a, named(a.certificate.name)) for a in found]
    found = [a for a, _, _ in held]
    with working("dearest runs"):
        ran = [_run(args, a, at) for a in found]
    rows = [report.row(a, at, other, told, d.spent) for (a, other, told), d in zip(held, ran, strict=True)]
    known = [launched or [launch for s in named(a.certificate.name) for launch in s.launches] for a in found]
    judge(rows, known, [a.certificate.context for a in found])
    for a, own in zip(found, rows, strict=True):
        against = [contradicted(s.reading, _context(a), sizes=False) for s in named(a.certificate.name)]
        own["warnings"] += dict.fromkeys(told for _, told in chain.from_iterable(against))
    digests = {path: sha256(Path(path).read_bytes()).hexdigest() for path in args.sources}
    options = reading_words(args)
    since = [report.change_row(change) for change in changes]
    document = report.document(rows, since, digests, options, at, args.accept)
    if args.format == "html":
        from checker.report.audit_page import as_html

        with working("plots and pictures"):
            text = as_html(document, [_dossier(a, d, at, len(found)) for a, d in zip(found, ran, strict=True)])
    else:
        text = report.as_format(document, args.format, explain=args.explain)
    emit(text, args.output)
    if done is not None and done.interrupted:
        raise KeyboardInterrupt
    return 3 if any(a.invalid for a in every.values()) else 0 if document["good"] else 1


def _all(texts: Mapping[str, str], oracle: Oracles) -> dict[str, Audited]:
    """Certificates, by their paths, judged by the kernel here. Raises SourceError for what is none."""
    from checker.certificates.audit import audit
    from logic.rules import SOUND

    found: dict[str, Audited] = {}
    with _second([*texts.values()]) as asked_again, working("") as now:
        for (path, text), again in zip(texts.items(), asked_again, strict=True):
            now(f"{len(found) + 1} of {len(texts)}: {path}")
            found[path] = audit(text, path, SOUND, oracle, again)
            if not found[path].certificate.digest:
                raise _unsigned(path)
    return found


@dataclass(frozen=True, slots=True)
class Word:
    """A certificate that a process judged, None for what is none, and whether that ends a run that may stop."""

    audited: Audited | None
    code: int


def _limited(args: argparse.Namespace, texts: Mapping[str, str]) -> Several:
    """The same judged each in a process of its own, within limits."""
    from checker.cli.several import judged

    done = judged(args, "certificate", [(*of, tuple(args.accept)) for of in texts.items()], work)
    done.say(())
    return done


def work(what: tuple[str, str, tuple[str, ...]], done: frozenset[int], talk: Talk) -> None:
    """Tells what both checkers say of a certificate, if it is not done."""
    from checker.certificates.audit import audit
    from checker.kernel import Claim
    from checker.oracles import Oracles
    from checker.report.audit import verdict
    from logic.rules import SOUND
    from logic.source import SourceError

    if done:
        return
    path, text, accept = what
    talk.begin(0)
    try:
        found = audit(text, path, SOUND, Oracles())
    except SourceError:
        talk.tell(Word(None, 2))  # whoever asked reads it, and says why it is none
        return
    good = isinstance(found.outcome, Claim) and verdict(found, None) in ("certified", *accept)
    talk.tell(Word(found, int(not good)))


def _each(texts: Mapping[str, str], done: Several) -> dict[str, Audited]:
    """Certificates as processes judged them, without those that were left out. Raises SourceError for what is none."""
    from checker.certificates.audit import Audited
    from checker.certificates.document import read
    from checker.fleet.tray import Ended
    from checker.kernel import Ledger

    found: dict[str, Audited] = {}
    for (path, text), told in zip(texts.items(), done.found, strict=True):
        for one in told:
            made = read(text, path)
            if not made.digest:
                raise _unsigned(path)
            if isinstance(one, Ended):
                found[path] = Audited(path, made, None, Ledger(), None, ended=f"{one.how}: {one.why}")
            else:
                found[path] = one.audited
    return found


FEW: Final = 4
"""Certificates that are judged in one process: another one takes a moment to begin."""


@contextmanager
def _second(texts: Sequence[str]) -> Iterator[list[Callable[[Any], Report]]]:
    """How to ask the second checker of each text: where they are many it is at work on them in other processes, one a
    core, while the kernel judges here. Where the kernel would have to wait, it is asked here, too, about the last that
    no process has been given."""
    from concurrent.futures import BrokenExecutor, CancelledError

    from checker.recheck import recheck
    from checker.testbed.workers import Workers

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = min(len(texts) // FEW, cores - 1)
    if count < 1:
        yield [recheck] * len(texts)
        return
    with Workers(max_workers=count) as workers:
        waiting = deque(range(len(texts)))
        given: dict[int, Future[Report | None]] = {}
        here: dict[int, Report | None] = {}

        def give(_: Future[Report | None] | None = None) -> None:
            """Gives the processes one more, and another one when that is done; none where they came to an end."""
            with suppress(IndexError, RuntimeError):
                i = waiting.popleft()
                given[i] = workers.submit(_rechecked, texts[i])
                given[i].add_done_callback(give)

        def ask(i: int, document: Any) -> Report:
            future = given.get(i)
            while future is not None and not future.done() and waiting:
                with suppress(IndexError):
                    last = waiting.pop()
                    here[last] = _rechecked(texts[last])
            try:
                # where a process came to an end, what it had is judged here
                return here.get(i) or (future and future.result()) or recheck(document)
            except (BrokenExecutor, CancelledError):
                return recheck(document)

        for _ in range(2 * count):  # so that none waits for the next
            give()
        yield [partial(ask, i) for i in range(len(texts))]


def _rechecked(text: str) -> Report | None:
    """The second checker's word on a document, None on what is no JSON."""
    from checker.recheck import recheck

    try:
        return recheck(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _unsigned(path: str) -> OptionProblem:
    return OptionProblem(
        f"'{path}' is a derivation without a digest, no certificate",
        advice="`warpbound check` judges it; `bound --certificate` writes certificates.",
    )


def _as_coq(args: argparse.Namespace) -> int:
    """Writes the arithmetic proofs of certificates as Coq: 0 where the second checker finds all valid, 3 where it
    finds one invalid, else 1."""
    from checker.certificates.document import read
    from checker.recheck import Bad, recheck
    from checker.report.coq import as_coq

    texts = [read_text(path, "Give a certificate, a .json file.") for path in args.files]
    for text, path in zip(texts, args.files, strict=True):
        if not read(text, path).digest:
            raise _unsigned(path)
    documents = [json.loads(text) for text in texts]
    try:
        text = as_coq(documents)
    except Bad as problem:
        told = f"the arithmetic proofs cannot be told from the rest of the certificate: {problem}"
        raise OptionProblem(told, advice="`warpbound recheck` says what is wrong with it.") from None
    emit(text, args.output)
    found = {recheck(document).verdict for document in documents}
    return 3 if "invalid" in found else int(found != {"valid"})


def _run(args: argparse.Namespace, a: Audited, at: Mapping[str, int]) -> Dossier:
    """The dearest run of a certificate at a point, as far as the format has it. Raises OptionProblem where it costs
    more than the bound."""
    from checker.report.dossier import Dossier, run_at

    if args.format not in ("html", "json"):
        return Dossier()
    with _refuting(a):
        return run_at(a, at, _fill(a), next(iter(args.sources), "kernel.cu"), reading_words(args))


def _dossier(a: Audited, ran: Dossier, at: Mapping[str, int], certificates: int) -> Dossier:
    """All that the page has of a certificate. Raises OptionProblem where a run costs more."""
    from checker.report.dossier import dossier

    with _refuting(a):
        return dossier(a, ran, at, _fill(a), certificates)


def _fill(a: Audited) -> Fill:
    from checker.cli.data import read_arrays

    return partial(read_arrays, a.certificate.kernel)


@contextmanager
def _refuting(a: Audited) -> Iterator[None]:
    from checker.refutation.witness import Overrun

    try:
        yield
    except Overrun as problem:
        raise OptionProblem(
            f"'{a.file}' is refuted: {problem}", advice="This is a fault in warpbound: do not rely on it."
        ) from None


def _named(args: argparse.Namespace, name: str) -> tuple[Source, ...]:
    """The kernel of a name, which may be an instance of a template, in each source that has it. The instance that
    --instantiate names is read for all of its template. Raises SourceError."""
    from checker.report.audit import Source
    from semantics.cuda import kernel_names

    last, found = last_word(name), []
    for path in args.sources:
        refuse_others(path)
        if last not in kernel_names(path, args.includes, args.defines, args.std):
            continue
        reading = read_kernel(args, path, last if args.instantiate else name)
        lines = source_text(reading.kernel.loc.file).split("\n") if reading.kernel.loc else []
        digest = f"sha256:{sha256(Path(path).read_bytes()).hexdigest()}"
        found.append(Source(path, reading, _launches(args, reading), tuple(lines), digest))
    return tuple(found)


def _asked(args: argparse.Namespace) -> tuple[Sizes, ...]:
    """The launch that the options describe; none without them. Raises OptionProblem."""
    from checker.report.launches import OPEN, Sizes

    grid = parse_dim(args.grid, "--grid") if args.grid else OPEN
    block = parse_dim(args.block, "--block") if args.block else OPEN
    return (Sizes(grid, block, "option"),) if args.grid or args.block else ()


def _launches(args: argparse.Namespace, reading: Reading) -> tuple[Sizes, ...]:
    """The launches of a kernel as read: that of `//@ launch`, else those of the host code. Raises SourceError."""
    from checker.report.launches import OPEN, Sizes

    hints = annotated(args, reading.kernel)
    if hints.block or hints.grid:
        return (Sizes(hints.grid or OPEN, hints.block or OPEN, "source"),)
    return tuple(Sizes(grid or OPEN, block or OPEN, "source") for grid, block in reading.launches)


def _context(a: Audited) -> Context:
    """The context of a certificate, with the facts that it says reading its source took for granted."""
    from checker.certificates.claims import with_facts
    from checker.notation.expressions import said_facts

    context, said = a.certificate.context, a.certificate.origin
    return with_facts(context, said_facts(said.assumed, context.sigma)) if said else context


def _check_point(at: dict[str, int], found: Sequence[Audited]) -> None:
    """Raises OptionProblem where --at is no point of any of the certificates, or one that a launch excludes."""
    from checker.certificates.claims import excluded

    known = {name for a in found for name in a.certificate.context.sigma.params}
    known |= {name for name in at for a in found if name.partition("[")[0] in a.certificate.context.sigma.stable}
    unknown = sorted(at.keys() - known)
    if unknown:
        told = f"{meant(unknown[0], known)}Known: {', '.join(sorted(known))}."
        raise OptionProblem(f"--at: '{unknown[0]}' is no parameter of these kernels", advice=told)
    for a in found:
        fact = excluded(at, _context(a))
        if fact is not None:
            message = f"--at: {fact} is assumed in '{a.file}', and does not hold there"
            raise OptionProblem(message, advice="Choose another point.")


def _compared(old: Sequence[Audited], new: Sequence[Audited], oracle: Oracles) -> list[Change]:
    """Each older certificate beside the new one about the same cost. Raises OptionProblem where there is not one."""
    from checker.certificates.audit import about, compare
    from checker.certificates.document import InvalidCertificate
    from checker.kernel import Claim

    changes = []
    for a in old:
        if not isinstance(a.outcome, Claim):
            problem = InvalidCertificate if a.invalid else OptionProblem
            raise problem(
                f"--compare {a.file}: it does not prove its claim", None, f"`warpbound check {a.file}` says why."
            )
        beside = [b for b in new if about(a) == about(b)]
        if len(beside) != 1:
            what = " ".join(about(a)[:2])
            many = "no certificate" if not beside else f"{len(beside)} certificates"
            raise OptionProblem(
                f"--compare {a.file}: {many} here for the same cost, {what}",
                advice="Give one new certificate of the same kernel, metric and scope, per warp, block or grid alike.",
            )
        if isinstance(beside[0].outcome, Claim):
            changes.append(compare(a, beside[0], oracle))
    return changes
