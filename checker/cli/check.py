"""`warpbound check`: a derivation or outline that a person wrote, judged by the kernel."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.cli.options import OptionProblem, add_output_options, emit

if TYPE_CHECKING:
    from checker.elaborate import Stuck
    from checker.kernel import Claim, Ledger, Rejected
    from checker.outline import Outline


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Registers the subcommand."""
    parser = subparsers.add_parser(
        "check",
        help="check a derivation that a person wrote",
        description="Completes a proof outline (.qhl) to a derivation and lets the kernel judge it.",
    )
    parser.add_argument("file", metavar="FILE.qhl", help="the outline")
    parser.add_argument("--rules", default="sound", metavar="SET", help="the rule set (default: %(default)s)")
    add_output_options(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0 when the kernel accepts, else 1. Raises SourceError for a file that cannot be read as an outline."""
    import json

    from checker.notation import parse_outline
    from logic.rules import RULE_SETS

    if args.rules not in RULE_SETS:
        raise OptionProblem(f"--rules {args.rules}: no such rule set", advice=f"Known: {', '.join(RULE_SETS)}.")
    outline = parse_outline(_text(args.file), args.file)

    from checker.kernel import Ledger

    ledger = Ledger()
    outcome = _judge(outline, args.rules, ledger)
    if args.format == "json":
        emit(json.dumps(_as_json(outcome, outline, args.rules, ledger), indent=2), args.output)
    else:
        emit(_as_text(outcome, outline, args.rules, ledger), args.output)
    return 0 if _verdict(outcome) == "accepted" else 1


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise OptionProblem(f"cannot read '{path}': it is not UTF-8 text", advice="Save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OptionProblem(f"cannot read '{path}': {reason}", advice="Give the path of a .qhl file.") from None


def _judge(outline: Outline, rules: str, ledger: Ledger) -> Claim | Rejected | Stuck:
    from checker import kernel as trusted
    from checker.elaborate import Elaborator, Stuck
    from checker.flow import analyse
    from checker.inference.search import find_potentials
    from checker.kernel import Rejected
    from checker.oracles import Oracles
    from logic.assertions import Condition
    from logic.potentials import ZERO
    from logic.rules import RULE_SETS

    oracle = Oracles()
    elaborator = Elaborator(outline.context, oracle, oracle.least)
    try:
        flow = find_potentials(analyse(outline, oracle), elaborator)
        proof = elaborator.block(flow, Condition(flow.end.p, ZERO, flow.end.x))
        theorem = trusted.check(proof.derivation, RULE_SETS[rules], outline.context, oracle, ledger)
        return trusted.claim(outline.kernel, theorem, outline.context, oracle, ledger)
    except (Rejected, Stuck) as problem:
        return problem


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


def _as_json(outcome: Claim | Rejected | Stuck, outline: Outline, rules: str, ledger: Ledger) -> dict[str, Any]:
    from checker.kernel import Claim
    from checker.report.bounds import assumptions

    return {
        "verdict": _verdict(outcome),
        "judgement": _judgement(outcome),
        "rules": rules,
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
        "assumptions": assumptions(outline.context, (), ledger.barriers),
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


def _as_text(outcome: Claim | Rejected | Stuck, outline: Outline, rules: str, ledger: Ledger) -> str:
    from checker.kernel import Claim, Rejected
    from checker.report.bounds import assumptions
    from checker.report.rejection import explain

    context = outline.context
    if isinstance(outcome, Claim):
        engines = sorted({line.verdict.engine for line in ledger.discharged})
        lines = [
            f"accepted: {outline.kernel.name} costs at most {outcome.pre.q} {context.metric.name} a {context.scope}",
            *([] if outcome.unconditional else [f"  from states with {outcome.pre}"]),
            "",
            f"  rules '{rules}', {len(ledger.discharged)} side conditions proved ({', '.join(engines)})",
            "",
            "This assumes:",
            *(f"  - {a}" for a in assumptions(context, (), ledger.barriers)),
        ]
        return "\n".join(lines)
    if isinstance(outcome, Rejected):
        return f"{_verdict(outcome)}: {explain(outcome)}"
    where = f"{outcome.loc}: " if outcome.loc else ""
    return f"not-proved: {where}{outcome.message}" + (f"\n  {outcome.advice}" if outcome.advice else "")
