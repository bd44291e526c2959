"""`warpbound check`: an outline that a person wrote, or a certificate, judged by the kernel."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.cli.options import OptionProblem, add_output_options, emit

if TYPE_CHECKING:
    from checker.elaborate import Stuck
    from checker.kernel import Claim, Ledger, Rejected
    from checker.outline import Outline
    from logic.assertions import Context
    from logic.syntax import Kernel


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
    """0 when the kernel accepts, else 1. Raises SourceError for a file that is neither an outline nor a certificate."""
    import json

    from checker.notation import parse_outline
    from logic.rules import RULE_SETS

    if args.rules not in RULE_SETS:
        raise OptionProblem(f"--rules {args.rules}: no such rule set", advice=f"Known: {', '.join(RULE_SETS)}.")
    if args.file.endswith(".json"):
        judged = _certificate(args.file)
    elif args.file.endswith(".cu"):
        judged = judge(_annotated(args.file), args.rules)
    else:
        judged = judge(parse_outline(_text(args.file), args.file), args.rules)
    if args.format == "json":
        emit(json.dumps(_as_json(judged), indent=2), args.output)
    else:
        emit(_as_text(judged), args.output)
    return 0 if _verdict(judged.outcome) == "accepted" else 1


@dataclass(frozen=True, slots=True)
class Judged:
    """What was checked, and what became of it. `second` is the second checker's verdict, for certificates."""

    kernel: Kernel
    context: Context
    rules: str
    ledger: Ledger
    outcome: Claim | Rejected | Stuck
    second: str = ""


def _annotated(path: str) -> Outline:
    """The outline that the annotations of a CUDA source make."""
    from checker.cli.bound import source_text
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


def judge(outline: Outline, rules: str) -> Judged:
    """An outline, completed to a derivation and judged under a rule set."""
    from checker import kernel as trusted
    from checker.elaborate import Elaborator, Stuck
    from checker.flow import analyse
    from checker.inference.search import find_potentials
    from checker.kernel import Ledger, Rejected
    from checker.oracles import Oracles
    from logic.assertions import Condition
    from logic.potentials import ZERO
    from logic.rules import RULE_SETS

    oracle, ledger = Oracles(), Ledger()
    elaborator = Elaborator(outline.context, oracle, oracle.least)
    outcome: Claim | Rejected | Stuck
    try:
        flow = find_potentials(analyse(outline, oracle), elaborator)
        proof = elaborator.block(flow, Condition(flow.end.p, ZERO, flow.end.x))
        theorem = trusted.check(proof.derivation, RULE_SETS[rules], outline.context, oracle, ledger)
        outcome = trusted.claim(outline.kernel, theorem, outline.context, oracle, ledger)
    except (Rejected, Stuck) as problem:
        outcome = problem
    return Judged(outline.kernel, outline.context, rules, ledger, outcome)


def _certificate(path: str) -> Judged:
    """A certificate, judged by the kernel and by the second checker, which have to agree."""
    import json

    from checker import kernel as trusted
    from checker.certificate import read
    from checker.kernel import Ledger, Rejected
    from checker.oracles import Oracles
    from checker.recheck import recheck
    from logic.rules import RULE_SETS

    text = _text(path)
    certificate = read(text, path)
    oracle, ledger = Oracles(), Ledger()
    second = recheck(json.loads(text))
    rules, context = RULE_SETS.get(certificate.rules), certificate.context
    outcome: Claim | Rejected | Stuck
    if rules is None:
        outcome = Rejected(f"the certificate names a rule set '{certificate.rules}' that is not there")
        return Judged(certificate.kernel, context, certificate.rules, ledger, outcome, second.verdict)
    try:
        theorem = trusted.check(certificate.derivation, rules, context, oracle, ledger)
        outcome = trusted.claim(certificate.kernel, theorem, context, oracle, ledger)
    except Rejected as problem:
        outcome = problem
    if sorted(set(ledger.barriers)) != certificate.admitted and isinstance(outcome, trusted.Claim):
        outcome = Rejected("what the certificate admits is not what its derivation needs", got=certificate.admitted)
    elif second.verdict == "invalid":
        outcome = Rejected(f"the second checker refuses it: {second.problem}")
    return Judged(certificate.kernel, certificate.context, certificate.rules, ledger, outcome, second.verdict)


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


def _verdict(outcome: Claim | Rejected | Stuck) -> str:
    from checker.kernel import Claim, Rejected
    from checker.report.rejection import verdict_of

    if isinstance(outcome, Claim):
        return "accepted"
    return verdict_of(outcome) if isinstance(outcome, Rejected) else "not-proved"


def _judgement(outcome: Claim | Rejected | Stuck) -> str | None:
    from checker.kernel import Claim
    from checker.report.rejection import value

    return value(outcome.theorem.judgement) if isinstance(outcome, Claim) else None


def _as_json(judged: Judged) -> dict[str, Any]:
    from checker.kernel import Claim
    from checker.report.bounds import assumptions

    outcome, ledger = judged.outcome, judged.ledger
    return {
        "verdict": _verdict(outcome),
        "judgement": _judgement(outcome),
        "rules": judged.rules,
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
        "assumptions": assumptions(judged.kernel, judged.context, (), ledger.barriers),
        "error": None if isinstance(outcome, Claim) else _error(outcome),
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
    from checker.kernel import Claim, Rejected
    from checker.report.bounds import assumptions
    from checker.report.rejection import explain

    outcome, context, ledger = judged.outcome, judged.context, judged.ledger
    if isinstance(outcome, Claim):
        engines = sorted({line.verdict.engine for line in ledger.discharged})
        lines = [
            f"accepted: {judged.kernel.name} costs at most {outcome.pre.q} {context.metric.name} a {context.scope}",
            *([] if outcome.unconditional else [f"  from states with {outcome.pre}"]),
            "",
            f"  rules '{judged.rules}', {len(ledger.discharged)} side conditions proved ({', '.join(engines)})",
            *([f"  second checker: {judged.second}"] if judged.second else []),
            "",
            "This assumes:",
            *(f"  - {a}" for a in assumptions(judged.kernel, context, (), ledger.barriers)),
        ]
        return "\n".join(lines)
    if isinstance(outcome, Rejected):
        return f"{_verdict(outcome)}: {explain(outcome)}"
    where = f"{outcome.loc}: " if outcome.loc else ""
    return f"not-proved: {where}{outcome.message}" + (f"\n  {outcome.advice}" if outcome.advice else "")
