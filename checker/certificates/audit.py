"""Certificates judged by both checkers, and new ones held against old ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, product
from random import Random
from typing import Any, Final, Literal

from checker import kernel as trusted
from checker.certificates.claims import assumed_inside, described, excluder, extent, is_known, known_sizes, shown
from checker.certificates.document import Certificate, read
from checker.certificates.stopped import refusal
from checker.kernel import Claim, Ledger, Theorem
from checker.oracles import Oracles
from checker.recheck import Report, recheck
from logic.assertions import MAX_BLOCK, AtLeast, Context, Dim, Entails, Launch, Proved, Refuted, Unknown, conj
from logic.contracts import elements_in
from logic.derivation import Derivation
from logic.metrics import Metric
from logic.potentials import Leaf, Poly, const, evaluate, leaves, substitute
from logic.refusals import Refusal, Rejected
from logic.rules import SOUND, RuleSet
from logic.syntax import FALSE, INT, WARP_INDEX, Expr, Kernel, Param, show, subterms

SOLVERS: Final = 4.0
"""Seconds that solvers may take for all questions about one certificate: none that is committed needs a tenth of it."""


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
    """A certificate, and what both checkers say of it; `second` is None for a derivation without evidence. `vacuous` is
    whether no launch satisfies what it assumes, so that anything follows. `ended` says why there is no outcome: the
    process that judged it was ended by a limit, or crashed."""

    file: str
    certificate: Certificate
    outcome: Claim | Theorem | Refusal | None
    ledger: Ledger
    second: Report | None
    vacuous: bool = False
    ended: str = ""

    @property
    def invalid(self) -> bool:
        """Whether the second checker says so."""
        return self.second is not None and self.second.verdict == "invalid"

    @property
    def metric(self) -> Metric:
        """The metric that the claim counts in."""
        return self.certificate.context.metric

    @property
    def derivation(self) -> Derivation:
        """The derivation that the certificate rests on."""
        return self.certificate.derivation


def audit(
    text: str, path: str, rules: RuleSet, oracle: Oracles, again: Callable[[Any], Report] | None = None
) -> Audited:
    """A certificate, judged by the second checker, and by the kernel where that does not refuse it: they have to agree.
    `again` asks the second checker elsewhere.

    A document without a digest is a derivation that somebody wrote: it is judged by the kernel alone, under `rules`.
    Raises BadCertificate for what is neither.
    """
    oracle.allow(SOLVERS)
    made = read(text, path)
    second = (again or recheck)(json.loads(text)) if made.digest else None
    ledger = Ledger()
    outcome: Claim | Theorem | Refusal
    # the kernel is not asked about what is refused anyway: how long it takes for that has no bound
    if made.rules != rules.name:
        return Audited(path, made, Refusal("rule set", expected=rules.name, got=made.rules), ledger, second)
    if second is not None and second.verdict == "invalid":
        rows = json.loads(text)["derivation"]
        outcome = refusal(second, rows, made.derivation, rules, made.context)
        return Audited(path, made, outcome, ledger, second)
    try:
        outcome = decide(made.kernel, made.context, made.derivation, rules, oracle, ledger, made.sums)
    except Rejected as problem:
        outcome = problem.refusal
    if isinstance(outcome, Claim) and sorted(set(ledger.barriers)) != made.admitted:
        outcome = Refusal("admitted", got=made.admitted)
    vacuous = isinstance(oracle(Entails((), (FALSE,)), made.context), Proved)
    vacuous = vacuous or (second is not None and second.verdict == "vacuous")
    return Audited(path, made, outcome, ledger, second, vacuous)


# --- old and new -----------------------------------------------------------------------------------------------------

TRIED: Final = (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 128, 255, 256, 257, 1000, 1024, 4096, 10**6)
"""Values of parameters at which two bounds are compared; their negatives too."""

POINTS: Final = 2000
"""The most points that are tried."""


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a claim. `same`, `lower` and `not higher` hold of all parameters that both launches allow, by the
    word of `engine` where the bounds differ; `grew` and `lower` are shown at a point, where the bound was `before` and
    is `after`; `unclear` is none of these. `added` and `dropped` are what the claim rests on and did not, and what it
    did and does not."""

    old: Audited
    new: Audited
    bound: Literal["same", "lower", "not higher", "grew", "unclear"]
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    at: Mapping[str, int] = field(default_factory=dict)
    before: Fraction | None = None
    after: Fraction | None = None
    engine: str = ""

    @property
    def worse(self) -> bool:
        """Whether the bound grew, or is not shown not to have, or rests on more."""
        return self.bound in ("grew", "unclear") or bool(self.added)


def about(a: Audited) -> tuple[str, ...]:
    """The subject of a certificate: claims about the same can be compared."""
    context, made = a.certificate.context, a.certificate
    prices = (*sorted(context.metric.fixed.items()), *sorted(context.metric.counted.items()))
    return (made.name, context.metric.name, context.scope, str(len(made.sums)), str(prices))


def compare(old: Audited, new: Audited, oracle: Oracles) -> Change:
    """Two certificates about the same cost, the second newer. Raises TypeError where one does not prove its claim."""
    if not isinstance(old.outcome, Claim) or not isinstance(new.outcome, Claim):
        raise TypeError("a certificate that does not prove its claim cannot be compared")
    added, dropped = _more(old, new, oracle), _more(new, old, oracle)
    was, now = shown(old.outcome), shown(new.outcome)
    found = grown(was, now, old.certificate.context, new.certificate.context, oracle)
    return Change(old, new, found.bound, added, dropped, found.at, found.before, found.after, found.engine)


@dataclass(frozen=True, slots=True)
class Growth:
    """The change of a bound, as `Change` has it."""

    bound: Literal["same", "lower", "not higher", "grew", "unclear"]
    at: Mapping[str, int] = field(default_factory=dict)
    before: Fraction | None = None
    after: Fraction | None = None
    engine: str = ""


def grown(was: Poly, now: Poly, old: Context, new: Context, oracle: Oracles) -> Growth:
    """Whether a bound grew, over the launches that both contexts allow. Where bounds speak of what arrays hold, there
    is no point at which to evaluate them."""
    context = _common(old, new)
    sizes = {leaf: const(n) for leaf, n in known_sizes(context).items()}
    was, now = (substitute(bound, sizes) for bound in (was, now))
    if was == now:
        return Growth("same")
    shared = {leaf.name for leaf in (*leaves(was), *leaves(now))}
    said = all(_said(leaf, context) for leaf in leaves(was))
    verdict = oracle(AtLeast((), frozenset(), was, now), context) if said else Unknown("nobody")
    model = verdict.witness if isinstance(verdict, Refuted) else {}
    less: Growth | None = None
    for values in () if elements_in([was, now]) else _points(shared, context, model):
        store: dict[Leaf, int] = {Param(name): n for name, n in values.items()}
        before, after = evaluate(was, store), evaluate(now, store)
        point = {name: n for name, n in values.items() if name in shared}
        if after > before:
            return Growth("grew", point, before, after)
        if after < before and less is None:
            less = Growth("lower", point, before, after)
    if not isinstance(verdict, Proved):
        return Growth("unclear")
    return replace(less or Growth("not higher"), engine=verdict.engine)


def _common(old: Context, new: Context) -> Context:
    """The launches that both allow, over the parameters of both; where sizes differ, those of the new one."""

    def sizes(before: Dim, after: Dim) -> Dim:
        x, y, z = (m if n is None else n for m, n in zip(before, after, strict=True))
        return x, y, z

    sigma = replace(new.sigma, params={**old.sigma.params, **new.sigma.params})
    facts = [f for f in old.launch.assumptions if _said(f, old) and _said(f, replace(new, sigma=sigma))]
    launch = Launch(
        sizes(old.launch.block, new.launch.block),
        sizes(old.launch.grid, new.launch.grid),
        conj((*new.launch.assumptions, *facts), sigma),
    )
    return replace(new, sigma=sigma, launch=launch)


def _points(shared: Collection[str], context: Context, model: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Values for parameters of these names, and for those that assumptions mention, which the launch allows: small ones
    first, and those that a solver proposes."""
    sizes = {leaf.name for leaf in known_sizes(context)}
    mentioned = {t.name for f in context.launch.assumptions for t in subterms(f) if isinstance(t, Param)}
    names = sorted({*shared, *mentioned} - sizes)
    if WARP_INDEX in names:  # how many warps there are is said by these
        names = sorted({*names, *(f"blockDim.{axis}" for axis in "xyz")} - sizes)
    few = product(TRIED, repeat=len(names)) if len(TRIED) ** len(names) <= POINTS else ()
    random, values = Random(0), (*TRIED, *(-n for n in TRIED[1:]))
    more = (tuple(random.choices(values, k=len(names))) for _ in range(POINTS))
    proposed = [tuple(model[name] for name in names)] if model.keys() >= set(names) else ()
    excluded = excluder(context)
    for row in chain(few, proposed, more):
        point = dict(zip(names, row, strict=True))
        if excluded(point) is None:
            yield point


def _said(e: Expr, context: Context) -> bool:
    """Whether the parameters that an expression mentions are ints there."""
    return all(context.sigma.params.get(t.name) == INT for t in subterms(e) if isinstance(t, Param))


def _more(old: Audited, new: Audited, oracle: Oracles) -> tuple[str, ...]:
    """The things that the new one rests on and the old one does not."""
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
    if any(
        m is not None and m > MAX_BLOCK and n is None
        for m, n in zip(before.launch.block, after.launch.block, strict=True)
    ):
        found.append(f"at most {MAX_BLOCK} threads along each axis of a block")
    if replace(before.hardware, name="") != replace(after.hardware, name=""):
        found.append(f"hardware {after.hardware.name}" if is_known(after.hardware) else described(after.hardware))
    read, again = old.certificate.origin, new.certificate.origin
    if read is not None and again is not None:  # else it is not known what reading assumed
        found += [text for text in again.assumed if text not in read.assumed]
    inside, here = (dict.fromkeys(assumed_inside(a.certificate.kernel)) for a in (old, new))
    found += [text for text in here if text not in inside]
    theirs, ours = ({d.name: d.type for d in a.certificate.kernel.params} for a in (old, new))
    kept = [name for name in ours if name in theirs]
    if kept != [name for name in theirs if name in ours] or any(ours[name] != theirs[name] for name in kept):
        found.append(f"a call with ({', '.join(f'{t} {name}' for name, t in ours.items())})")
    if more := set(new.certificate.admitted) - set(old.certificate.admitted):
        numbers = ", ".join(f"#{n}" for n in sorted(more))
        found.append(f"all threads of a block reach these barriers together: {numbers}")
    known = {said for said, _ in _backed(old)}
    return (*found, *(f"not verified: {text}" for said, text in _backed(new) if said not in known))


def _backed(audited: Audited) -> list[tuple[tuple[str, str], str]]:
    """The side conditions that are not verified: what each says, wherever it stands, and the sentence about it."""
    second = audited.second
    if second is None:
        return []
    return [((o.given, o.claim), text) for o, text in zip(second.open, second.solver_backed, strict=True)]
