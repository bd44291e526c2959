"""From a kernel to a certified bound: flow, search, elaboration, and the kernel's word on it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from checker import kernel as trusted
from checker.elaborate import Elaborator, Stuck
from checker.flow import Flow, analyse
from checker.inference.search import Engine, find_potentials, without_potentials
from checker.kernel import Claim, Ledger, Rejected
from checker.oracles import Oracles
from checker.outline import Outline
from logic.assertions import Condition, Context
from logic.derivation import Derivation
from logic.metrics import Metric
from logic.potentials import ZERO
from logic.rules import SOUND
from logic.syntax import Kernel

Verdict = Literal["certified", "holey", "not-proved", "refuted", "unsupported"]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one metric, in how many seconds.

    `claim` is there exactly when the kernel accepted; `problem` says why it is not.
    """

    metric: Metric
    verdict: Verdict
    claim: Claim | None
    derivation: Derivation | None
    ledger: Ledger
    problem: Stuck | Rejected | None
    seconds: float


def find_bounds(
    outline: Outline,
    metrics: Sequence[Metric],
    oracle: Oracles,
    hinted: str | None = None,
    search: Engine = "lp",
) -> list[Result]:
    """A bound for each metric: one flow serves them all. The context's own metric is not looked at.

    `hinted` names the metric that the potentials in the outline are for; None means all of them.
    """
    start = time.perf_counter()
    kernel, context = outline.kernel, outline.context
    flow = analyse(outline, oracle)
    shared = time.perf_counter() - start
    results = []
    for metric in metrics:
        start = time.perf_counter()
        own = flow if hinted in (None, metric.name) else without_potentials(flow)
        result = _one(kernel, replace(context, metric=metric), own, oracle, search)
        results.append(replace(result, seconds=time.perf_counter() - start + shared / len(metrics)))
    return results


def derive(flow: Flow, context: Context, oracle: Oracles, search: Engine = "lp") -> Derivation:
    """A derivation for a flow, with potentials at the loop heads that have none. Raises Stuck."""
    elaborator = Elaborator(context, oracle, oracle.least)
    complete = find_potentials(flow, elaborator, search)
    return elaborator.block(complete, Condition(flow.end.p, ZERO, flow.end.x)).derivation


def _one(kernel: Kernel, context: Context, flow: Flow, oracle: Oracles, search: Engine) -> Result:
    ledger = Ledger()
    derivation = None
    try:
        derivation = derive(flow, context, oracle, search)
        theorem = trusted.check(derivation, SOUND, context, oracle, ledger)
        claim = trusted.claim(kernel, theorem, context, oracle, ledger)
    except (Stuck, Rejected) as problem:
        return Result(context.metric, "not-proved", None, derivation, ledger, problem, 0.0)
    if not claim.unconditional:
        needs = Stuck("the derivation needs a precondition that not every store satisfies", kernel.loc)
        return Result(context.metric, "not-proved", None, derivation, ledger, needs, 0.0)
    return Result(context.metric, "holey" if ledger.barriers else "certified", claim, derivation, ledger, None, 0.0)
