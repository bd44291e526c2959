"""The outcomes of `warpbound check`, as text, JSON and pages."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.cli.options import reading_words, source_text
from checker.notation.words import many

if TYPE_CHECKING:
    from checker.certificates.document import Certificate
    from checker.kernel import Claim, Ledger, Theorem
    from checker.recheck import Report
    from checker.refutation.diagnosis import Finding
    from checker.report.backed import Backed
    from checker.report.page import Page
    from checker.report.tree import Line
    from checker.synthesis.outline import Outline
    from checker.synthesis.walk import Stuck
    from logic.assertions import Context
    from logic.derivation import Derivation
    from logic.refusals import Refusal
    from logic.rules import RuleSet
    from logic.syntax import Kernel

    Outcome = Claim | Theorem | Refusal | Stuck


@dataclass(frozen=True, slots=True)
class Judged:
    """A thing that was checked, and the outcome: a claim under the sound rules, a theorem under others, or a problem.
    `second` is what the second checker says of a certificate, `notes` are what a source was read under. `vacuous`: no
    state satisfies what is assumed. `certificate` is there where one was judged. `refuted` tells of a run that costs
    more than was accepted by rules that certify nothing."""

    kernel: Kernel
    context: Context
    rules: RuleSet
    ledger: Ledger
    outcome: Outcome
    derivation: Derivation | None = None
    outline: Outline | None = None
    second: Report | None = None
    vacuous: bool = False
    notes: tuple[str, ...] = ()
    certificate: Certificate | None = None
    refuted: str = ""

    @property
    def short(self) -> str:
        """The word for what is missing: `refuted` or `on-trial` by rules that certify nothing, else `holey` or
        `solver-backed`; nothing where a claim is certified."""
        from checker.certificates.seconded import verdict
        from checker.kernel import Claim, Theorem

        if isinstance(self.outcome, Theorem):
            return "refuted" if self.refuted else "on-trial"
        if self.ledger.barriers:
            return "holey"
        said = verdict(self.second, self.ledger) if isinstance(self.outcome, Claim) else "certified"
        return "" if said == "certified" else said


def verdict_of(found: Finding | None) -> str:
    """Accepted, rejected, vacuous or not-proved."""
    return "accepted" if found is None else found.verdict


def _judgement(outcome: Outcome) -> str | None:
    """The judgement that was proved, as text; None where nothing was."""
    from checker.kernel import Claim, Theorem
    from checker.report.rejection import as_text

    if isinstance(outcome, Claim):
        return as_text(outcome.theorem.judgement)
    return as_text(outcome.judgement) if isinstance(outcome, Theorem) else None


def _tree(judged: Judged, args: argparse.Namespace) -> list[Line]:
    """The lines of the derivation's tree, where that is asked for and there is one."""
    from checker.report.tree import DEPTH, tree
    from logic.refusals import Refusal

    if not args.tree or judged.derivation is None:
        return []
    refused = judged.outcome.path if isinstance(judged.outcome, Refusal) else None
    return tree(judged.derivation, judged.rules, judged.context, args.depth or DEPTH, refused)


def drawn(judged: Judged, args: argparse.Namespace) -> list[str]:
    from checker.report.tree import as_text

    lines = _tree(judged, args)
    return [as_text(lines)] if lines else []


def as_json(judged: Judged, warned: list[str], found: Finding | None, args: argparse.Namespace) -> dict[str, Any]:
    """The one object of `check --format json`; `admitted` has the numbers of barriers, from 0 in program order."""
    from checker.certificates.claims import claimed
    from checker.kernel import Claim
    from checker.report.backed import as_json as as_rows_backed
    from checker.report.bounds import assumptions
    from checker.report.tree import as_rows

    outcome, ledger = judged.outcome, judged.ledger
    return {
        "verdict": verdict_of(found),
        "judgement": _judgement(outcome),
        "claim": claimed(outcome) if isinstance(outcome, Claim) else None,
        "rules": judged.rules.name,
        "certifies": not uncertified(judged),
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
        "second_checker": judged.second.verdict if judged.second else None,
        "solver_backed": judged.second.solver_backed if judged.second else [],
        "backed": as_rows_backed(_backed(judged)),
        "warnings": warned,
        "admitted": sorted(set(ledger.barriers)),
        "assumptions": assumptions(judged.kernel, judged.context, judged.notes, ledger.barriers),
        "made": _made(judged),
        "error": None if found is None else _error(found, args),
        **({"tree": as_rows(_tree(judged, args))} if args.tree else {}),
    }


def _made(judged: Judged) -> dict[str, Any] | None:
    """The tools and the source that a certificate names, for JSON; None for a file that is none."""
    from checker.certificates.origin import as_row

    made = judged.certificate
    return None if made is None or not made.digest else as_row(made.tools, made.origin)


def _told(judged: Judged) -> list[str]:
    """The same as sentences."""
    from checker.certificates.origin import sentences

    made = _made(judged)
    return [] if made is None else sentences(made)


def _error(found: Finding, args: argparse.Namespace) -> dict[str, Any]:
    """The error, as JSON; `checker.report.rejection` says what `witness` and `run` hold."""
    from checker.report.rejection import expected_and_got, reason_of, run_of, witness
    from logic.refusals import Refusal

    problem = found.error
    expected, got = expected_and_got(found)
    return {
        "rule": problem.name if isinstance(problem, Refusal) else problem.rule,
        "path": list(problem.path) if isinstance(problem, Refusal) else [],
        "line": problem.loc.line if problem.loc else None,
        "column": problem.loc.column if problem.loc else None,
        "reason": reason_of(found),
        "expected": expected or None,
        "got": got or None,
        "witness": witness(found.replay),
        "run": run_of(found, args.file, _words(args)),
        "advice": found.advice or None,
    }


def _words(args: argparse.Namespace) -> list[str]:
    """The options with which `run` has the same kernel, metric and hardware."""
    words = reading_words(args) + [f"--metric={name}" for name in args.metrics if name.endswith(".toml")]
    return words + ([f"--hardware={args.hardware}"] if args.hardware else [])


def as_text(judged: Judged, found: Finding | None, args: argparse.Namespace) -> str:
    from checker.kernel import Claim
    from checker.report import backed
    from checker.report.bounds import assumptions

    outcome, context, ledger = judged.outcome, judged.context, judged.ledger
    if isinstance(outcome, Claim):
        lines = [
            _sentence(judged, found, args),
            *([] if outcome.unconditional else [f"  {_from(outcome)}"]),
            "",
            f"  {_checked(judged)}",
            *(f"  {line}" for line in _second(judged)),
            *("", *backed.as_text(_backed(judged), "  ")) * bool(_backed(judged)),
            "",
            "This assumes:",
            *(f"  - {a}" for a in assumptions(judged.kernel, context, judged.notes, ledger.barriers)),
            *("", "It says of itself:") * bool(_told(judged)),
            *(f"  - {text}" for text in _told(judged)),
        ]
        return "\n".join(lines)
    told = _sentence(judged, found, args).rstrip()
    again = judged.second is not None and judged.second.problem and judged.second.problem in told
    return "\n\n".join((told, *(f"  {line}" for line in ([] if again else _second(judged)))))


def told_in_short(judged: Judged, found: Finding | None, args: argparse.Namespace) -> str:
    """The text on one of several: the claim, or why it is refused; and the second checker's word."""
    from checker.certificates.claims import claimed
    from checker.kernel import Claim
    from checker.report import backed

    outcome = judged.outcome
    if isinstance(outcome, Claim):
        from_ = [] if outcome.unconditional else [_from(outcome)]
        rests = _backed(judged)
        return "\n".join((claimed(outcome), *from_, *_second(judged), *(backed.as_text(rests, "") if rests else [])))
    return "\n".join((_sentence(judged, found, args).rstrip().partition(": ")[2], *_second(judged)))


def _sentence(judged: Judged, found: Finding | None, args: argparse.Namespace) -> str:
    """The outcome: a sentence where it was accepted, an explanation of several lines where it was not."""
    from checker.certificates.claims import claimed
    from checker.kernel import Claim, Theorem
    from checker.report.rejection import explain

    outcome = judged.outcome
    if isinstance(outcome, Claim):
        accepted = f"accepted, but {judged.short}" if judged.short else "accepted"
        return f"{accepted}: {claimed(outcome)}"
    if isinstance(outcome, Theorem):
        return f"accepted under the rule set '{judged.rules.name}', which certifies nothing: {_judgement(outcome)}"
    return "" if found is None else f"{found.verdict}: {explain(found, args.file, _words(args))}"


def uncertified(judged: Judged) -> list[str]:
    """The warning that other rules than the sound ones certify nothing; empty for those."""
    from checker.testbed.rulefile import NOTHING
    from logic.rules import SOUND

    return [] if judged.rules is SOUND else [NOTHING]


def _from(outcome: Claim) -> str:
    return f"from states with {outcome.pre}"


def _backed(judged: Judged) -> tuple[Backed, ...]:
    """The facts that a claim rests on besides what the second checker verified."""
    from checker.kernel import Claim
    from checker.report.backed import backed

    if judged.second is None or not isinstance(judged.outcome, Claim):
        return ()
    return backed(judged.second, judged.ledger, judged.context)


def _second(judged: Judged) -> list[str]:
    """The second checker's word, in a line; none where it was not asked."""
    said = judged.second
    return [f"second checker: {': '.join(filter(None, (said.verdict, said.problem)))}"] if said else []


def _checked(judged: Judged) -> str:
    proved = judged.ledger.discharged
    engines = sorted({line.verdict.engine for line in proved})
    by = f" ({', '.join(engines)})" if engines else ""
    return f"rules '{judged.rules.name}', {many(len(proved), 'side condition')} proved{by}"


def as_page(judged: Judged, warned: list[str], found: Finding | None, args: argparse.Namespace) -> Page:
    """The outcome, and every side condition that was proved on the way. A fault where it is refused or holey."""
    from checker.certificates.claims import named
    from checker.kernel import Claim
    from checker.report.backed import rests_on
    from checker.report.bounds import assumptions
    from checker.report.page import Fault, Page, Section
    from checker.report.rejection import failing, in_place
    from checker.synthesis.walk import Stuck

    outcome, told = judged.outcome, _sentence(judged, found, args)
    texts = [told] if found is None else []
    texts += [_from(outcome)] if isinstance(outcome, Claim) and not outcome.unconditional else []
    texts += [_checked(judged), *_second(judged)]
    texts += [f"{rests_on(_backed(judged))}."] if _backed(judged) else []
    rows = [
        (str(line.obligation), type(line.obligation).__name__, line.verdict.engine, f"{line.seconds:.3f}")
        for line in judged.ledger.discharged
    ]
    head = ("side condition", "kind", "proved by", "seconds")
    sections = [Section(text=text) for text in texts]
    sections += [Section(fixed=told)] if found is not None else []
    at = found.error.loc if found is not None else None
    if found is not None and at is not None and at.file and Path(at.file).is_file():  # a certificate holds no files
        parts = [] if isinstance(found.error, Stuck) else failing(found.error, found.context)
        sections.append(
            Section("Where it fails", fixed=in_place(source_text(at.file), at, parts or told.splitlines()[:1]))
        )
    sections += [Section("It says of itself", items=_told(judged))] if _told(judged) else []
    sections += [Section("Warnings", items=warned)] if warned else []
    sections += [Section("Derivation", fixed=drawn) for drawn in drawn(judged, args)]
    sections += [Section("Side conditions", head=head, rows=rows, code=head[:1])] if rows else []
    faults = []
    if found is not None or judged.short not in ("", *args.accept):
        loc = found.error.loc if found is not None else judged.kernel.loc
        rule = judged.short if found is None else found.verdict
        said = f"{told}; {_checked(judged)}; {rests_on(_backed(judged))}" if rule == "solver-backed" else told
        faults = [Fault(rule, said, loc if loc and loc.file else args.file)]
    resting = [
        *uncertified(judged),
        *assumptions(judged.kernel, judged.context, judged.notes, judged.ledger.barriers),
    ]
    return Page(f"{judged.kernel.name} {named(judged.context.metric)}: {verdict_of(found)}", sections, faults, resting)
