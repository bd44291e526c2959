"""One file judged by both checkers: an outline, a source with annotations, or a certificate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NoReturn

from checker.cli.assumed import (
    as_launched,
    as_passed,
    assumed_of_data,
    check_assumptions,
    facts_alone,
    launch_of,
    warn_of_data,
)
from checker.cli.checked import Judged, verdict_of
from checker.cli.options import (
    annotated,
    contracts_of,
    parse_hardware,
    parse_metrics,
    read_kernel,
    read_text,
)
from checker.notation.problem import OptionProblem

if TYPE_CHECKING:
    from checker.cli.checked import Outcome
    from checker.notation.annotations import Annotations
    from checker.oracles import Oracles
    from checker.refutation.diagnosis import Finding
    from checker.synthesis.outline import Outline
    from checker.synthesis.rules.transformer import Book
    from logic.assertions import Dim, Launch
    from logic.derivation import Derivation
    from logic.metrics import Metric
    from logic.rules import RuleSet
    from logic.syntax import Kernel


CHECKED: Final = "Give the path of a .qhl, .cu or .json file."


BRIEFLY: Final = 0.2
"""Seconds that a solver query may take where a change of a refused outline is tried."""


def judged_file(args: argparse.Namespace, rules: RuleSet) -> tuple[Judged, list[str], Finding | None]:
    """The file that the options name, as it was judged by rules; what is assumed in vain, and why it is refused, if it
    is. Raises SourceError."""
    from checker.notation import parse_outline
    from checker.oracles import Oracles
    from checker.report.queries import write_queries

    if args.depth is not None and (args.depth < 1 or not args.tree):
        raise OptionProblem("--depth: the levels of a --tree, 1 or more", advice="Say --tree --depth 8.")
    if not args.file.endswith(".cu"):
        _refuse_source_options(args)
    oracle = Oracles()
    if args.file.endswith(".json"):
        judged = _certificate(args.file, rules, oracle)
    elif args.file.endswith(".cu"):
        outline, notes = _annotated(args, oracle)
        judged = replace(_seconded(_with_ghosts(judge(outline, rules, oracle), oracle)), notes=notes)
    else:
        outline = parse_outline(read_text(args.file, CHECKED), args.file, args.assume, rules)
        warn_of_data(outline.context.launch.contracts, outline.context.launch.assumptions, args.file)
        judged = _seconded(_with_ghosts(judge(outline, rules, oracle), oracle))
    if args.queries:
        write_queries(oracle.log, args.queries)
    judged = _run(_not_vacuous(judged, oracle))
    return judged, _warnings(judged, oracle), _finding(judged, oracle)


def warn(file: str, warned: Sequence[str]) -> None:
    """Says what is assumed in vain."""
    for text in warned:
        print(f"{file}: warning: {text}", file=sys.stderr)


def exit_code(args: argparse.Namespace, judged: Judged, found: Finding | None) -> int:
    """0 accepted, or as far as --accept has it; 3 where a run refutes it, or a certificate is invalid; else 1."""
    if judged.refuted or (judged.certificate and judged.second and judged.second.verdict == "invalid"):
        return 3
    return 0 if verdict_of(found) == "accepted" and judged.short in ("", *args.accept) else 1


def _annotated(args: argparse.Namespace, oracle: Oracles) -> tuple[Outline, tuple[str, ...]]:
    """The outline that the annotations of a CUDA source make, with what the options add to them, and what it was read
    under. Raises OptionProblem where the two contradict each other."""
    from logic.assertions import Context, Launch, conj
    from logic.contracts import arrays_of
    from logic.typing import check_kernel

    path = args.file
    reading = read_kernel(args, path)
    sigma = check_kernel(reading.kernel)
    given = annotated(args, reading.kernel)
    metric = _metric(args, given, reading.kernel)
    asked = launch_of(facts_alone(args), reading.kernel, None, None)
    block = _agreed("block", args.block and asked.block, given.block, path)
    grid = _agreed("grid", args.grid and asked.grid, given.grid, path)
    symbolic = (None, None, None)
    facts = conj(as_passed(reading, (*given.assumptions, *asked.assumptions)), sigma)
    stated = assumed_of_data(reading, (*given.contracts, *contracts_of(args, sigma)), facts)
    launch = Launch(block or reading.block or symbolic, grid or symbolic, facts, stated)
    context = Context(
        replace(sigma, stable=arrays_of(stated)), metric, parse_hardware(args.hardware or "nvidia"), launch
    )
    if args.assume:
        check_assumptions(context, oracle)
    outline, reading = as_launched(args, reading, context, oracle)
    return outline, reading.notes


def _metric(args: argparse.Namespace, given: Annotations, kernel: Kernel) -> Metric:
    """The metric that the source names, or the options. Raises OptionProblem."""
    asked = parse_metrics(args.metrics) if args.metrics else ()
    if len(asked) > 1:
        raise OptionProblem("--metric: a derivation counts one metric", advice="Name one: --metric sectors.")
    if asked and given.metric is not None and given.metric != asked[0]:
        _disagree(f"--metric {args.metrics[0]}", f"metric {given.metric.name}", args.file)
    metric = given.metric or next(iter(asked), None)
    if metric is None:
        raise OptionProblem(
            f"'{args.file}' does not say what its derivation counts", kernel.loc, "Add //@ metric sectors; before it."
        )
    return metric


def _agreed(what: str, asked: Dim | None, given: Dim | None, path: str) -> Dim | None:
    """The sizes that an option or a source names. Raises OptionProblem where these are not the same."""
    if asked and given and asked != given:
        theirs, ours = (",".join(map(str, sizes)).removesuffix(",1").removesuffix(",1") for sizes in (given, asked))
        _disagree(f"--{what} {ours}", f"launch {what} = {theirs}", path)
    return asked or given


def _disagree(option: str, annotation: str, path: str) -> NoReturn:
    raise OptionProblem(
        f"{option}: '{path}' says //@ {annotation};", advice="Leave the option out, or change the file."
    )


def judge(outline: Outline, rules: RuleSet, oracle: Oracles) -> Judged:
    """An outline, completed to a derivation and judged under a rule set: with rules on trial tried first, and with the
    sound rules alone where that is not accepted."""
    from checker.kernel import Claim, Theorem
    from checker.synthesis.rules import PRINTED, SOUND
    from checker.testbed.bought import books_of, own
    from logic import rules as logic

    known = {logic.SOUND: SOUND, logic.PAPER: PRINTED}
    first, *others = [known[rules]] if rules in known else books_of(rules)
    judged = _by(first, outline, rules, oracle)
    for book in others if _tells(judged, own(rules)) else ():
        if isinstance(judged.outcome, Claim | Theorem):
            break
        other = _by(book, outline, rules, oracle)
        judged = other if isinstance(other.outcome, Claim | Theorem) else judged
    return judged


def _tells(judged: Judged, names: set[str]) -> bool:
    """Whether rules of these names have to do with what came of an outline."""
    from checker.testbed.bought import uses

    return judged.derivation is None or any(True for _ in uses(judged.derivation, names))


def _by(book: Book, outline: Outline, rules: RuleSet, oracle: Oracles) -> Judged:
    """The same by one book."""
    from checker.certificates.audit import decide
    from checker.kernel import Ledger
    from checker.synthesis.bound import derive
    from checker.synthesis.flow import analyse
    from checker.synthesis.walk import Stuck
    from logic.refusals import Rejected

    ledger = Ledger()
    derivation: Derivation | None = None
    outcome: Outcome
    try:
        flow = analyse(outline, oracle, book=book)
        derivation = derive(flow, outline, oracle, book=book)
        outcome = decide(outline.kernel, outline.context, derivation, rules, oracle, ledger)
    except Stuck as problem:
        outcome = problem
    except Rejected as error:
        outcome = error.refusal
    return Judged(outline.kernel, outline.context, rules, ledger, outcome, derivation, outline)


def _with_ghosts(judged: Judged, oracle: Oracles) -> Judged:
    """The same outline once more, by all that the search for bounds can do, where a loop is left to the tool and no
    potential was found; as it was, where that proves something else than the outline claims."""
    from checker.certificates.audit import decide
    from checker.kernel import Ledger
    from checker.refutation.diagnosis import claimed
    from checker.synthesis.bound import find_bounds
    from checker.synthesis.walk import Stuck
    from logic.rules import SOUND

    outline = judged.outline
    if outline is None or judged.rules is not SOUND or not isinstance(judged.outcome, Stuck):
        return judged
    (found,) = find_bounds(outline, (judged.context.metric,), oracle)
    if found.claim is None or found.derivation is None or claimed(outline) not in (None, found.claim.pre):
        return judged
    context, ledger = found.claim.context, Ledger()
    outcome = decide(outline.kernel, context, found.derivation, SOUND, oracle, ledger)
    return replace(judged, context=context, ledger=ledger, outcome=outcome, derivation=found.derivation)


def _seconded(judged: Judged) -> Judged:
    """The same with the second checker's word on the certificate of what the kernel accepts, which it may refuse."""
    from checker.certificates.seconded import seconded
    from checker.certificates.stopped import refusal
    from checker.kernel import Claim
    from checker.synthesis.walk import Stuck

    if not isinstance(judged.outcome, Claim) or judged.derivation is None:
        return judged
    second = seconded(judged.outcome, judged.derivation, judged.ledger)
    if second.verdict == "not-proved" and not second.vacuous:
        rows = second.document.get("derivation", ())
        stopped = refusal(second.report, rows, judged.derivation, judged.rules, judged.context)
        refused = Stuck(second.problem, stopped.loc or judged.kernel.loc, second.advice)
        return replace(judged, outcome=refused, second=second.report)
    return replace(judged, second=second.report, vacuous=second.vacuous)


def _certificate(path: str, rules: RuleSet, oracle: Oracles) -> Judged:
    """A certificate, judged by both checkers; a derivation that somebody wrote, by the kernel alone."""
    from checker.certificates.audit import audit
    from checker.synthesis.walk import Stuck

    found = audit(read_text(path, CHECKED), path, rules, oracle)
    made = found.certificate
    ledger, notes = found.ledger, made.origin.said if made.origin else ()
    outcome = found.outcome or Stuck(found.ended)
    judged = Judged(made.kernel, made.context, rules, ledger, outcome, made.derivation, None, found.second)
    return replace(judged, vacuous=found.vacuous, notes=notes, certificate=made)


def _not_vacuous(judged: Judged, oracle: Oracles) -> Judged:
    """The same, where some state satisfies what is assumed; else nothing is said of any run, and nothing proved."""
    from checker.certificates.seconded import NOT_VACUOUS
    from checker.kernel import Claim, Theorem
    from checker.recheck import VACUOUS
    from checker.refutation.diagnosis import contradictory
    from checker.synthesis.walk import Stuck

    outcome = judged.outcome
    if not isinstance(outcome, Claim | Theorem) or not (judged.vacuous or contradictory(outcome, oracle)):
        return judged
    return replace(judged, outcome=Stuck(VACUOUS, judged.kernel.loc, NOT_VACUOUS), vacuous=True)


def _warnings(judged: Judged, oracle: Oracles) -> list[str]:
    """Warnings about what an accepted derivation assumes in vain."""
    from checker.cli.bounded import told_unneeded
    from checker.kernel import Claim, Theorem
    from checker.refutation.diagnosis import fewer, unneeded

    outcome = judged.outcome
    if not isinstance(outcome, Claim | Theorem) or judged.derivation is None:
        return []

    def again(rest: Launch) -> bool:
        if judged.outline is None or not isinstance(outcome, Claim):
            return False
        other = judge(replace(judged.outline, context=fewer(judged.context, rest)), judged.rules, oracle).outcome
        return isinstance(other, Claim) and other.pre == outcome.pre

    found = unneeded([(judged.context, judged.derivation)], judged.rules, oracle, again)
    return [*told_unneeded(found, 1), *([judged.refuted] if judged.refuted else [])]


def _run(judged: Judged) -> Judged:
    """The same, with a run that costs more than rules accept which certify nothing, where one is found."""
    from checker.certificates.claims import amount
    from checker.cli.data import read_arrays
    from checker.kernel import Theorem
    from checker.refutation.diagnosis import claimed
    from checker.refutation.whole import dearer
    from checker.report.rejection import allowed, launched

    pre = claimed(judged.outline) if judged.outline and isinstance(judged.outcome, Theorem) else None
    worse = pre and dearer(judged.kernel, judged.context, pre, lambda texts: read_arrays(judged.kernel, texts))
    if not pre or not worse:
        return judged
    costs = f"a warp costs {amount(worse.actual, judged.context.metric)}, {allowed(pre.q, worse)}"
    return replace(judged, refuted=f"what these rules accept is false: with {launched(worse)} {costs}")


def _finding(judged: Judged, oracle: Oracles) -> Finding | None:
    """The diagnosis of a refusal; None where there is none."""
    from checker.cli.data import read_arrays
    from checker.refutation.diagnosis import Finding, diagnose
    from checker.synthesis.walk import Stuck
    from logic.refusals import Refusal

    quick = replace(oracle, limit=BRIEFLY)  # the same memory

    def again(outline: Outline) -> tuple[Outcome, Derivation | None]:
        other = judge(outline, judged.rules, quick)
        return other.outcome, other.derivation

    kernel, context, problem = judged.kernel, judged.context, judged.outcome
    if not isinstance(problem, Refusal | Stuck):
        return None
    if judged.vacuous:
        return Finding(problem, context, vacuous=isinstance(problem, Stuck))
    root, outline = judged.derivation, judged.outline
    return diagnose(problem, kernel, context, root, outline, again, quick, lambda texts: read_arrays(kernel, texts))


def _refuse_source_options(args: argparse.Namespace) -> None:
    """Raises OptionProblem for options that say nothing of an outline or a certificate."""
    if args.kernel or args.includes or args.defines or args.instantiate:
        raise OptionProblem(
            "--kernel, -I, -D and --instantiate say how CUDA C is read",
            advice=f"'{args.file}' is no .cu file: leave them out.",
        )
    options = ("block", "grid", "metrics", "hardware", *([] if args.file.endswith(".qhl") else ["assume"]))
    for option in options:
        if getattr(args, option):
            raise OptionProblem(
                f"--{option.removesuffix('s')} is for annotated CUDA C: '{args.file}' names its own",
                advice="Leave it out.",
            )
