"""Two versions of a kernel: whether the new one costs no more than the old one may, by a certificate, or more on a run.

The certificate is the new version's own, with the old version's bound in place of its bound: Q:Weak takes that, where
it is nowhere lower. A run shows the contrary where the new version costs more than the old one on the same input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from checker import kernel as trusted
from checker import limits
from checker.certificates.audit import Growth, grown
from checker.certificates.seconded import Remembered, verdict
from checker.kernel import Ledger
from checker.oracles import Oracles
from checker.refutation.witness import Bounded, Fill, Input, Overrun, allowed, find_witnesses, influential, kept
from checker.synthesis.bound import Result, judged
from checker.synthesis.elaborate import weaken
from checker.synthesis.walk import Point, Proof
from logic.assertions import Context, Triple
from logic.potentials import ZERO, Poly
from logic.refusals import Rejected
from logic.rules import SOUND
from logic.source import SourceError
from logic.syntax import Kernel
from semantics import vectorised
from semantics.grid import Contents
from semantics.values import Value

Word = Literal["certified", "solver-backed", "holey", "dearer", "not-known"]


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a kernel: its program under a launch, what arrays may hold before a run, its bound, and what reading
    its source assumed."""

    kernel: Kernel
    context: Context
    fill: Fill
    result: Result
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Dearer:
    """An input of a kernel, and what the dearest warp of each version costs on it."""

    input: Input
    before: Fraction
    after: Fraction


@dataclass(frozen=True, slots=True)
class Compared:
    """The knowledge of two versions for one metric.

    `result` is the new version's, with the old one's bound, where both checkers have judged that; `dearer` is a run.
    `growth` says where the bounds differ, `why` what is not known.
    """

    word: Word
    result: Result | None = None
    dearer: Dearer | None = None
    growth: Growth | None = None
    why: str = ""


def compared(old: Version, new: Version, oracle: Oracles) -> Compared:
    """The knowledge of two versions: a run is looked for first, for nothing is certified that a run contradicts."""
    found, untried = dearest(old, new)
    if found is not None:
        return Compared("dearer", dearer=found)
    before, after = old.result.claim, new.result.claim
    if before is None or after is None:
        which = "new" if before is not None else "old" if after is not None else "old and of the new"
        return Compared("not-known", why=f"there is no bound of the {which} version")
    growth = grown(before.bound, after.bound, before.context, after.context, oracle)
    result = at_most(new.result, before.bound, new.kernel, oracle)
    if result is None or result.claim is None:
        told = "is higher than the old one" if growth.bound == "grew" else "is not known to be at most the old one"
        runs = untried or "no run was found that costs more"
        return Compared("not-known", growth=growth, why=f"the new bound {told}; {runs}")
    words = (result.verdict, old.result.verdict)
    word: Word = "holey" if "holey" in words else "solver-backed" if "solver-backed" in words else "certified"
    return Compared(word, result, growth=growth)


def at_most(result: Result, q: Poly, kernel: Kernel, oracle: Oracles) -> Result | None:
    """The same with q for its bound, by Q:Weak, judged by both checkers; None where they don't accept that."""
    claim, derivation = result.claim, result.derivation
    if claim is None or derivation is None:
        return None
    said = claim.theorem.judgement
    if q == claim.bound or not isinstance(said, Triple):
        return result if q == claim.bound else None
    pre, post = (Point(c.p, c.q, c.x) for c in (said.pre, said.post))
    proof = weaken(Proof(pre, said.stmt, post, derivation), replace(pre, q=q), post)
    ledger = Ledger()
    try:
        theorem = trusted.check(proof.derivation, SOUND, claim.context, oracle, ledger)
        found = trusted.claim(claim.kernel, theorem, claim.context, oracle, ledger)
    except Rejected:
        return None
    wider = replace(result, verdict=verdict(None, ledger), claim=found, derivation=proof.derivation, ledger=ledger)
    wider = judged(wider, kernel, Remembered())
    return wider if wider.claim is not None else None


@dataclass(frozen=True, slots=True)
class _Free:
    """A kernel whose runs nothing bounds."""

    context: Context
    bound: Poly = ZERO
    per: str = "warp"


def dearest(old: Version, new: Version) -> tuple[Dearer | None, str]:
    """An input on which a warp of the new version costs more than any of the old one, if a search finds one; else why
    none could be looked for, "" where some were tried."""
    if unlike := _unlike(old, new):
        return None, unlike
    free = _Free(new.context, new.result.claim.bound if new.result.claim else ZERO)

    def most(_: Bounded, given: Input, __: Mapping[str, Contents]) -> Fraction:
        return _cost(old, given)

    try:
        (found,) = find_witnesses(new.kernel, [free], new.fill, most=most)
    except Overrun as problem:
        return Dearer(problem.found.input, problem.found.bound, problem.found.cost), ""
    return None, "" if found is not None else "no input was found that both versions run on"


def _unlike(old: Version, new: Version) -> str:
    """Why runs of two versions can't be compared: one has inputs that the other has not, or another block."""
    names = {d.name for d in new.kernel.params} | {a.name for a in new.kernel.arrays}
    inputs = {d.name for d in old.kernel.params} | {a.name for a in old.kernel.arrays if a.space == "global"}
    if missing := sorted((influential(old.kernel) & inputs) - names):
        return f"runs are not compared: the new version has no '{missing[0]}'"
    blocks = (old.context.launch.block, new.context.launch.block)
    if any(m is not None and n is not None and m != n for m, n in zip(*blocks, strict=True)):
        return "runs are not compared: the blocks differ"
    return ""


def _cost(old: Version, given: Input) -> Fraction:
    """The cost of the dearest warp of the old version on an input. Raises SourceError where it cannot be run on it, or
    may not."""
    mine = inputs_of(old.kernel, given)
    contents = old.fill(mine.arrays)
    if not allowed(old.context, mine) or not kept(old.context, mine, contents):
        raise SourceError("the old version is not for this input")
    metric = old.context.metric
    launch = (mine.block, mine.grid, mine.args, contents)
    result = vectorised.run(old.kernel, *launch, [metric], old.context.hardware, limits.LONGEST)
    return result.max_per_warp[metric.name]


def inputs_of(kernel: Kernel, given: Input) -> Input:
    """An input of the new version as one of the old, whose other parameters don't matter."""
    args: dict[str, Value] = {d.name: given.args.get(d.name, 1) for d in kernel.params}
    arrays = {a.name for a in kernel.arrays if a.space == "global"}
    return replace(given, args=args, arrays={name: text for name, text in given.arrays.items() if name in arrays})
