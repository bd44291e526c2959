"""Certificates judged by both checkers, and new ones held against old ones."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, product
from random import Random
from typing import Final, Literal

from checker import kernel as trusted
from checker.certificate import Certificate, read
from checker.kernel import Claim, Ledger, Rejected, Theorem
from checker.oracles import Oracles
from checker.oracles.terms import value_of
from checker.recheck import Report, recheck
from checker.report.bounds import extent, known_sizes, shown
from logic.assertions import AtLeast, Context, Entails, Proved, Refuted, Unknown, conj, launch_facts
from logic.derivation import Derivation
from logic.metrics import Metric
from logic.potentials import Leaf, Poly, evaluate, leaves
from logic.rules import SOUND, RuleSet
from logic.syntax import INT, Expr, Kernel, Param, Tid, show, subterms


def decide(
    kernel: Kernel,
    context: Context,
    derivation: Derivation,
    rules: RuleSet,
    oracle: Oracles,
    ledger: Ledger,
    sums: tuple[tuple[str, Poly], ...] = (),
) -> Claim | Theorem:
    """The kernel's word on a derivation: a claim under the sound rules, a theorem under others. Raises Rejected."""
    theorem = trusted.check(derivation, rules, context, oracle, ledger)
    return trusted.claim(kernel, theorem, context, oracle, ledger, sums) if rules is SOUND else theorem


@dataclass(frozen=True, slots=True)
class Audited:
    """A certificate, and what both checkers say of it; `second` is None for a derivation without evidence."""

    file: str
    certificate: Certificate
    outcome: Claim | Theorem | Rejected
    ledger: Ledger
    second: Report | None

    @property
    def metric(self) -> Metric:
        """What is counted."""
        return self.certificate.context.metric

    @property
    def derivation(self) -> Derivation:
        """What the certificate rests on."""
        return self.certificate.derivation


def audit(text: str, path: str, rules: RuleSet, oracle: Oracles) -> Audited:
    """A certificate, judged by the kernel and by the second checker, which have to agree.

    A document without a digest is a derivation that somebody wrote: it is judged by the kernel alone, under `rules`.
    Raises BadCertificate for what is neither.
    """
    made = read(text, path)
    second = recheck(json.loads(text)) if made.digest else None
    ledger = Ledger()
    outcome: Claim | Theorem | Rejected
    try:
        outcome = decide(made.kernel, made.context, made.derivation, rules, oracle, ledger, made.sums)
    except Rejected as problem:
        outcome = problem
    if made.rules != rules.name:
        outcome = Rejected("it was written for another rule set", expected=rules.name, got=made.rules)
    elif second is not None and second.verdict == "invalid":
        outcome = Rejected(f"the second checker refuses it: {second.problem}")
    elif isinstance(outcome, Claim) and sorted(set(ledger.barriers)) != made.admitted:
        outcome = Rejected("what the certificate admits is not what its derivation needs", got=made.admitted)
    return Audited(path, made, outcome, ledger, second)


# --- old and new -----------------------------------------------------------------------------------------------------

TRIED: Final = (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 128, 255, 256, 257, 1000, 1024, 4096, 10**6)
"""Values of parameters at which two bounds are compared; their negatives too."""

POINTS: Final = 2000
"""The most points that are tried."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a claim. `same`, `lower` and `not higher` are proved of all parameters that both claims allow,
    `grew` and `lower` are shown at a point, where the bound was `before` and is `after`; `unclear` is none of these.
    `added` and `dropped` is what the claim rests on and did not, or did and does not."""

    old: Audited
    new: Audited
    bound: Literal["same", "lower", "not higher", "grew", "unclear"]
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    at: Mapping[str, int] = field(default_factory=dict)
    before: Fraction | None = None
    after: Fraction | None = None

    @property
    def worse(self) -> bool:
        """Whether the bound grew, or is not shown not to have, or rests on more."""
        return self.bound in ("grew", "unclear") or bool(self.added)


def about(a: Audited) -> tuple[str, ...]:
    """What a certificate bounds: claims about the same can be compared."""
    context, made = a.certificate.context, a.certificate
    prices = (*sorted(context.metric.fixed.items()), *sorted(context.metric.counted.items()))
    return (made.kernel.name, context.metric.name, context.scope, str(len(made.sums)), str(prices))


def compare(old: Audited, new: Audited, oracle: Oracles) -> Change:
    """Two certificates about the same cost, the second newer. Raises TypeError where one does not prove its claim."""
    if not isinstance(old.outcome, Claim) or not isinstance(new.outcome, Claim):
        raise TypeError("a certificate that does not prove its claim cannot be compared")
    was, now = shown(old.outcome), shown(new.outcome)
    added, dropped = _more(old, new, oracle), _more(new, old, oracle)
    if was == now:
        return Change(old, new, "same", added, dropped)
    common = _common(old.certificate.context, new.certificate.context)
    shared = {leaf.name for leaf in (*leaves(was), *leaves(now))}
    said = all(_said(leaf, common) for leaf in leaves(was))
    verdict = oracle(AtLeast((), frozenset(), was, now), common) if said else Unknown("nobody")
    model = verdict.witness if isinstance(verdict, Refuted) else {}
    less: Change | None = None
    for values in _points(shared, common, model):
        store: dict[Leaf, int] = {Param(name): n for name, n in values.items()}
        before, after = evaluate(was, store), evaluate(now, store)
        point = {name: n for name, n in values.items() if name in shared}
        if after > before:
            return Change(old, new, "grew", added, dropped, point, before, after)
        if after < before and less is None:
            less = Change(old, new, "lower", added, dropped, point, before, after)
    if not isinstance(verdict, Proved):
        return Change(old, new, "unclear", added, dropped)
    return less or Change(old, new, "not higher", added, dropped)


def _common(old: Context, new: Context) -> Context:
    """The new launch, with what the old one assumes besides, over the parameters of both."""
    sigma = replace(new.sigma, params={**old.sigma.params, **new.sigma.params})
    facts = [f for f in old.launch.assumptions if _said(f, old) and _said(f, replace(new, sigma=sigma))]
    launch = replace(new.launch, assumptions=conj((*new.launch.assumptions, *facts), sigma))
    return replace(new, sigma=sigma, launch=launch)


def _points(shared: Collection[str], context: Context, model: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Values for parameters of these names, and for those that assumptions mention, which the launch allows: small ones
    first, and those that a solver proposes."""
    sizes = {leaf.name: n for leaf, n in known_sizes(context).items()}
    names = sorted({*shared, *_names(context.launch.assumptions)} - sizes.keys())
    facts = [
        f
        for f in launch_facts(context.launch, context.hardware, context.scope)
        if _names([f]) <= {*names, *sizes} and not any(isinstance(t, Tid) for t in subterms(f))
    ]
    few = product(TRIED, repeat=len(names)) if len(TRIED) ** len(names) <= POINTS else ()
    random, values = Random(0), (*TRIED, *(-n for n in TRIED[1:]))
    more = (tuple(random.choices(values, k=len(names))) for _ in range(POINTS))
    proposed = [tuple(model[name] for name in names)] if model.keys() >= set(names) else ()
    for row in chain(few, proposed, more):
        point = sizes | dict(zip(names, row, strict=True))
        if all(value_of(f, point) for f in facts):
            yield point


def _names(facts: Iterable[Expr]) -> set[str]:
    return {t.name for f in facts for t in subterms(f) if isinstance(t, Param)}


def _said(e: Expr, context: Context) -> bool:
    """Whether the parameters that an expression mentions are ints there."""
    return all(context.sigma.params.get(t.name) == INT for t in subterms(e) if isinstance(t, Param))


def _more(old: Audited, new: Audited, oracle: Oracles) -> tuple[str, ...]:
    """What the new one rests on and the old one does not."""
    before, after = old.certificate.context, new.certificate.context
    found = [
        f"given: {show(fact)}"
        for fact in after.launch.assumptions
        if not isinstance(oracle(Entails((), (fact,)), before), Proved)
    ]
    for what, was, now in (
        ("blocks", before.launch.block, after.launch.block),
        ("a grid", before.launch.grid, after.launch.grid),
    ):
        if any(n not in (None, m) for m, n in zip(was, now, strict=True)):
            found.append(f"{what} of {extent(now)}")
    if before.hardware != after.hardware:
        found.append(f"hardware {after.hardware.name}")
    for what, few, many in (
        (
            "barriers that a part of a block might reach alone",
            len(old.certificate.admitted),
            len(new.certificate.admitted),
        ),
        ("side conditions that rest on a solver's word", len(_backed(old)), len(_backed(new))),
    ):
        if many > few:
            found.append(f"{what}: {many}, were {few}")
    return tuple(found)


def _backed(audited: Audited) -> Sequence[str]:
    return audited.second.solver_backed if audited.second else ()
