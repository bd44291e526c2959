"""`warpbound check`: an outline that a person wrote, or a certificate, judged by the kernel."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.cli.options import OptionProblem, add_output_options, emit, source_text

if TYPE_CHECKING:
    from checker.elaborate import Stuck
    from checker.kernel import Claim, Ledger, Rejected, Theorem
    from checker.oracles import Oracles
    from checker.outline import Outline
    from logic.assertions import Context
    from logic.derivation import Derivation
    from logic.rules import RuleSet
    from logic.syntax import Kernel

    Outcome = Claim | Theorem | Rejected | Stuck


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "check",
        help="check a derivation or a certificate",
        description="Completes an outline (.qhl, or annotations in .cu) to a derivation, or reads one from a "
        "certificate (.json), and has the kernel judge it; a certificate goes to the second checker too.",
    )
    parser.add_argument("file", metavar="FILE", help="an outline (.qhl, annotated .cu) or a certificate (.json)")
    parser.add_argument("--rules", default="sound", metavar="SET", help="the rule set (default: %(default)s)")
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 when the kernel accepts and nothing is admitted, else 1.

    Raises SourceError for a file that is neither an outline nor a certificate.
    """
    import json

    from checker.notation import parse_outline
    from checker.rulefile import rule_set

    rules = rule_set(args.rules)
    if args.file.endswith(".json"):
        judged = _certificate(args.file, rules)
    elif args.file.endswith(".cu"):
        judged = judge(_annotated(args.file), rules)
    else:
        judged = judge(parse_outline(_text(args.file), args.file), rules)
    if args.format == "json":
        emit(json.dumps(_as_json(judged), indent=2), args.output)
    else:
        emit(_as_text(judged), args.output)
    return 0 if _verdict(judged.outcome) == "accepted" and not judged.ledger.barriers else 1


@dataclass(frozen=True, slots=True)
class Judged:
    """What was checked, and what became of it: a claim under the sound rules, a theorem under others, or a problem.
    `second` is the second checker's verdict, for certificates."""

    kernel: Kernel
    context: Context
    rules: RuleSet
    ledger: Ledger
    outcome: Outcome
    second: str = ""


def _annotated(path: str) -> Outline:
    """The outline that the annotations of a CUDA source make."""
    from checker.notation import read_annotations
    from checker.outline import Outline
    from logic.assertions import Context, Launch
    from logic.metrics import HARDWARE, METRICS
    from logic.typing import check_kernel
    from semantics.cuda import read_cuda

    reading = read_cuda(path)
    sigma = check_kernel(reading.kernel)
    given = read_annotations(reading.kernel, source_text(path), sigma)
    if given.metric is None:
        raise OptionProblem(
            f"'{path}' does not say what its derivation counts",
            reading.kernel.loc,
            "Add //@ metric sectors; before it.",
        )
    symbolic = (None, None, None)
    launch = Launch(given.block or reading.block or symbolic, given.grid or symbolic, given.assumptions)
    context = Context(sigma, METRICS[given.metric], HARDWARE["nvidia"], launch)
    return Outline(reading.kernel, context, given.body)


def judge(outline: Outline, rules: RuleSet) -> Judged:
    """An outline, completed to a derivation and judged under a rule set."""
    from checker.bound import derive
    from checker.elaborate import Stuck
    from checker.flow import analyse
    from checker.kernel import Ledger, Rejected
    from checker.oracles import Oracles

    oracle, ledger = Oracles(), Ledger()
    outcome: Outcome
    try:
        derivation = derive(analyse(outline, oracle), outline.context, oracle)
        outcome = _decide(outline.kernel, outline.context, derivation, rules, oracle, ledger)
    except (Rejected, Stuck) as problem:
        outcome = problem
    return Judged(outline.kernel, outline.context, rules, ledger, outcome)


def _decide(
    kernel: Kernel, context: Context, derivation: Derivation, rules: RuleSet, oracle: Oracles, ledger: Ledger
) -> Claim | Theorem:
    """The kernel's word on a derivation. Raises Rejected."""
    from checker import kernel as trusted
    from logic.rules import SOUND

    theorem = trusted.check(derivation, rules, context, oracle, ledger)
    return trusted.claim(kernel, theorem, context, oracle, ledger) if rules is SOUND else theorem


def _certificate(path: str, rules: RuleSet) -> Judged:
    """A certificate, judged by the kernel and by the second checker, which have to agree.

    A document without a digest is a derivation that somebody wrote: it is judged by the kernel alone, under `rules`.
    """
    import json

    from checker.certificate import read
    from checker.kernel import Claim, Ledger, Rejected
    from checker.oracles import Oracles
    from checker.recheck import recheck

    text = _text(path)
    certificate = read(text, path)
    second = recheck(json.loads(text)) if certificate.digest else None
    oracle, ledger = Oracles(), Ledger()
    outcome: Outcome
    try:
        outcome = _decide(certificate.kernel, certificate.context, certificate.derivation, rules, oracle, ledger)
    except Rejected as problem:
        outcome = problem
    if certificate.rules != rules.name:
        outcome = Rejected("it was written for another rule set", expected=certificate.rules, got=rules.name)
    elif second is not None and second.verdict == "invalid":
        outcome = Rejected(f"the second checker refuses it: {second.problem}")
    elif isinstance(outcome, Claim) and sorted(set(ledger.barriers)) != certificate.admitted:
        outcome = Rejected("what the certificate admits is not what its derivation needs", got=certificate.admitted)
    verdict = second.verdict if second else ""
    return Judged(certificate.kernel, certificate.context, rules, ledger, outcome, verdict)


def _warnings(judged: Judged) -> list[str]:
    """What an accepted derivation is accepted for in vain."""
    from checker.kernel import Claim
    from checker.oracles import Oracles
    from logic.assertions import Entails, Proved
    from logic.syntax import FALSE

    if not isinstance(judged.outcome, Claim):
        return []
    vacuous = isinstance(Oracles()(Entails(judged.outcome.pre.p, (FALSE,)), judged.context), Proved)
    return ["no state satisfies the precondition and the assumptions: anything follows from them"] if vacuous else []


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise OptionProblem(f"cannot read '{path}': it is not UTF-8 text", advice="Save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OptionProblem(
            f"cannot read '{path}': {reason}", advice="Give the path of a .qhl or .json file."
        ) from None


def _verdict(outcome: Outcome) -> str:
    from checker.kernel import Claim, Rejected, Theorem
    from checker.report.rejection import verdict_of

    if isinstance(outcome, Claim | Theorem):
        return "accepted"
    return verdict_of(outcome) if isinstance(outcome, Rejected) else "not-proved"


def _judgement(outcome: Outcome) -> str | None:
    from checker.kernel import Claim, Theorem
    from checker.report.rejection import value

    if isinstance(outcome, Claim):
        return value(outcome.theorem.judgement)
    return value(outcome.judgement) if isinstance(outcome, Theorem) else None


def _as_json(judged: Judged) -> dict[str, Any]:
    from checker.kernel import Claim, Theorem
    from checker.report.bounds import assumptions

    outcome, ledger = judged.outcome, judged.ledger
    return {
        "verdict": _verdict(outcome),
        "judgement": _judgement(outcome),
        "rules": judged.rules.name,
        "obligations": [
            {
                "kind": type(line.obligation).__name__,
                "claim": str(line.obligation),
                "verdict": "proved",
                "engine": line.verdict.engine,
                "seconds": round(line.seconds, 6),
            }
            for line in ledger.discharged
        ],
        "second_checker": judged.second or None,
        "warnings": _warnings(judged),
        "admitted": sorted(set(ledger.barriers)),
        "assumptions": assumptions(judged.kernel, judged.context, (), ledger.barriers),
        "error": None if isinstance(outcome, Claim | Theorem) else _error(outcome),
    }


def _error(problem: Rejected | Stuck) -> dict[str, Any]:
    from checker.kernel import Rejected
    from checker.report.rejection import expected_and_got, witness

    expected, got = expected_and_got(problem) if isinstance(problem, Rejected) else ("", "")
    return {
        "rule": problem.rule_name if isinstance(problem, Rejected) else problem.rule,
        "path": list(problem.path) if isinstance(problem, Rejected) else [],
        "line": problem.loc.line if problem.loc else None,
        "column": problem.loc.column if problem.loc else None,
        "reason": problem.reason if isinstance(problem, Rejected) else problem.message,
        "expected": expected or None,
        "got": got or None,
        "witness": witness(problem) if isinstance(problem, Rejected) else None,
    }


def _as_text(judged: Judged) -> str:
    from checker.kernel import Claim, Rejected, Theorem
    from checker.report.bounds import assumptions
    from checker.report.rejection import explain

    outcome, context, ledger = judged.outcome, judged.context, judged.ledger
    if isinstance(outcome, Claim):
        engines = sorted({line.verdict.engine for line in ledger.discharged})
        accepted = "accepted, but holey" if ledger.barriers else "accepted"
        bound = f"{outcome.pre.q} {context.metric.name} a {context.scope}"
        lines = [
            f"{accepted}: {judged.kernel.name} costs at most {bound}",
            *([] if outcome.unconditional else [f"  from states with {outcome.pre}"]),
            "",
            f"  rules '{judged.rules.name}', {len(ledger.discharged)} side conditions proved ({', '.join(engines)})",
            *([f"  second checker: {judged.second}"] if judged.second else []),
            *(f"  warning: {text}" for text in _warnings(judged)),
            "",
            "This assumes:",
            *(f"  - {a}" for a in assumptions(judged.kernel, context, (), ledger.barriers)),
        ]
        return "\n".join(lines)
    if isinstance(outcome, Theorem):
        return f"accepted under the rule set '{judged.rules.name}', which certifies nothing: {_judgement(outcome)}"
    if isinstance(outcome, Rejected):
        return f"{_verdict(outcome)}: {explain(outcome)}"
    where = f"{outcome.loc}: " if outcome.loc else ""
    return f"not-proved: {where}{outcome.message}" + (f"\n  {outcome.advice}" if outcome.advice else "")
