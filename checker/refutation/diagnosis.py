"""Diagnosis of a refused outline or derivation, for the one who wrote it: a state that shows the failing side condition
false, a whole run that shows the claimed bound false, the smallest change that would do; and about an accepted one:
assumptions that it does without."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from checker import kernel as trusted
from checker import limits
from checker.kernel import Claim, Ledger, Theorem
from checker.oracles import Oracles
from checker.refutation.repair import Judge, advice
from checker.refutation.replay import Replay, replayed
from checker.refutation.whole import Dearer, dearer
from checker.synthesis.outline import Outline, Partial
from checker.synthesis.walk import Stuck
from logic.assertions import Condition, Context, Entails, Launch, Obligation, Proved, Triple, Unknown, Verdict
from logic.contracts import Contract, arrays_of
from logic.derivation import Derivation
from logic.refusals import Refusal, Rejected
from logic.rules import RuleSet
from logic.syntax import FALSE, Expr, Kernel
from semantics.grid import Contents


@dataclass(frozen=True, slots=True)
class Finding:
    """A refusal and what was found out about it.

    replay     a state that makes the side condition false, run in the semantics
    claimed    the precondition that the outline states, with the bound that it claims
    dearer     a run that costs more than that bound
    advice     why a variable is not uniform, and the smallest change that would do
    vacuous    whether nothing else is wrong than that no launch is as assumed
    """

    error: Refusal | Stuck
    context: Context
    replay: Replay | None = None
    claimed: Condition | None = None
    dearer: Dearer | None = None
    advice: str = ""
    vacuous: bool = False

    @property
    def verdict(self) -> str:
        """`vacuous`, `rejected` where the derivation is wrong as it stands, `not-proved` where nobody knows."""
        if self.vacuous:
            return "vacuous"
        open_ = isinstance(self.error, Stuck) or (self.error.obligation is not None and self.replay is None)
        return "not-proved" if open_ and self.dearer is None else "rejected"


def diagnose(
    problem: Refusal | Stuck,
    kernel: Kernel,
    context: Context,
    root: Derivation | None,
    outline: Outline | None,
    judge: Judge,
    oracle: Oracles,
    arrays: Callable[[dict[str, str]], Mapping[str, Contents]],
) -> Finding:
    """All that can be found out in a few seconds; `arrays` makes contents of texts as `run --array` takes them."""
    seen = replayed(problem, root, context) if isinstance(problem, Refusal) else None
    found = Finding(problem, context, seen)
    if outline is None:
        return found
    pre = claimed(outline)
    worse = None if pre is None else dearer(kernel, context, pre, arrays, near=seen.state if seen else None)
    return replace(found, claimed=pre, dearer=worse, advice=advice(outline, problem, judge, oracle))


def claimed(outline: Outline) -> Condition | None:
    """The precondition that an outline begins with; None where it states no potential there."""
    match outline.body:
        case (Partial(p, q, x), *_) if q is not None:
            return Condition(p or (), q, x or frozenset())
    return None


def contradictory(outcome: Claim | Theorem, oracle: Oracles) -> bool:
    """Whether no state satisfies the precondition and the assumptions, so that anything follows from them."""
    judgement = outcome.theorem.judgement if isinstance(outcome, Claim) else outcome.judgement
    p = judgement.pre.p if isinstance(judgement, Triple) else judgement.p
    return isinstance(oracle(Entails(p, (FALSE,)), outcome.context), Proved)


def unneeded(
    derivations: Sequence[tuple[Context, Derivation]],
    rules: RuleSet,
    oracle: Oracles,
    again: Callable[[Launch], bool] = lambda _: False,
    kept: Collection[Contract] = (),
) -> tuple[Expr | Contract, ...]:
    """Assumptions and contracts without which, all together, the kernel accepts the same derivations, which share one
    launch; or without which `again`, given a launch with the others, finds that the same can be derived otherwise.
    Those that are `kept` are not looked at."""
    if not derivations:
        return ()
    end = time.thread_time() + limits.UNNEEDED_SECONDS
    needed = derivations[0][0].launch
    dropped: list[Expr | Contract] = []
    for one in (*needed.assumptions, *(c for c in needed.contracts if c not in kept)):
        rest = without(needed, one)
        if time.thread_time() > end:
            break
        if all(_holds(fewer(context, rest), root, rules, oracle, end) for context, root in derivations) or again(rest):
            dropped.append(one)
            needed = rest
    return tuple(dropped)


def without(launch: Launch, one: Expr | Contract) -> Launch:
    """The launch without an assumption or a contract."""
    facts = tuple(f for f in launch.assumptions if f != one)
    return replace(launch, assumptions=facts, contracts=tuple(c for c in launch.contracts if c != one))


def fewer(context: Context, launch: Launch) -> Context:
    """The context of a launch that assumes less."""
    return replace(context, launch=launch, sigma=replace(context.sigma, stable=arrays_of(launch.contracts)))


def _holds(context: Context, root: Derivation, rules: RuleSet, oracle: Oracles, end: float) -> bool:
    """Whether the kernel accepts a derivation, and has asked all it needs to know by then."""

    def asked(o: Obligation, c: Context) -> Verdict:
        return oracle(o, c) if time.thread_time() <= end else Unknown("nobody", "there is no time left")

    try:
        trusted.check(root, rules, context, asked, Ledger())
    except Rejected:
        return False
    return True
