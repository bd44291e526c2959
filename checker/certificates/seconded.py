"""The word of both checkers on a claim that the kernel accepts: its certificate, judged by the second one.

`certified` is said nowhere else: it means that the second checker verified everything without a solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from checker.certificates import document as certificate
from checker.certificates.evidence import proof
from checker.certificates.judge import decided
from checker.kernel import Claim, Ledger
from checker.recheck import VACUOUS, Bad, Report, recheck
from logic.assertions import AtMost, Context, Obligation, Uniform
from logic.derivation import Derivation

Said = Literal["certified", "solver-backed", "holey", "not-proved"]

Prove = Callable[[Obligation, Context], Any]

Check = Callable[[dict[str, Any]], Report]
"""The second checker, or who asks it."""

REPORT: Final = (
    "The certificate is too large for the second checker, or this is a fault in warpbound: please report it, with the "
    "source, the command line and what --certificate writes."
)
"""Advice for where the checkers do not agree."""

NOT_VACUOUS: Final = "Do the assumptions and the precondition contradict each other, or the launch?"
"""Advice for where no launch is as assumed."""


@dataclass(frozen=True, slots=True)
class Seconded:
    """The certificate of a claim, that no tool has signed yet, and what the second checker says of it."""

    document: dict[str, Any]
    report: Report
    ledger: Ledger

    @property
    def verdict(self) -> Said:
        """`holey` where barriers are admitted; `not-proved` where the second checker refuses it, or no launch is as
        assumed."""
        return verdict(self.report, self.ledger)

    @property
    def engines(self) -> list[str]:
        """Whose word it rests on, where it is solver-backed: the engines that decided what is not verified."""
        evidence = self.document["evidence"]
        return sorted({evidence[o.entry]["engine"] for o in self.report.open if o.entry < len(evidence)})

    @property
    def vacuous(self) -> bool:
        """Whether it sees that no launch is as assumed."""
        return self.report.verdict == "vacuous"

    @property
    def advice(self) -> str:
        """Advice for where it is not proved."""
        return NOT_VACUOUS if self.vacuous else REPORT

    @property
    def problem(self) -> str:
        """Why it is not proved, a sentence without its full stop."""
        if self.vacuous:
            return f"vacuous: {VACUOUS}"
        return f"the kernel accepts the bound, and the second checker refuses it: {self.report.problem}"


def verdict(second: Report | None, ledger: Ledger) -> Said:
    """The verdict on a claim that the kernel accepts, by the second checker's word; None is no word."""
    if second is not None and second.verdict in ("invalid", "vacuous"):
        return "not-proved"
    if ledger.barriers:
        return "holey"
    return "certified" if second is not None and second.verdict == "valid" else "solver-backed"


def seconded(
    claim: Claim, derivation: Derivation, ledger: Ledger, prove: Prove | None = None, check: Check | None = None
) -> Seconded:
    """The claim's certificate, judged by the second checker. `prove` is `proof`, or remembers what that said.

    Of counts of accesses, and of what is uniform, the second checker sees almost all by itself. So it is not asked of
    each of them first: the certificate is written without evidence for them, and written again, with evidence for those
    that it leaves open, or for all where it refuses it.
    """
    if not isinstance(prove, Remembered):
        prove = Remembered(prove)
    check = check or recheck
    try:
        document = certificate.write(claim, derivation, ledger, prove.first, {})
        first = Seconded(document, check(document), ledger)
        asked = [d.obligation for d in ledger.discharged]
        left = {asked[o.entry] for o in first.report.open if isinstance(asked[o.entry], Unaided)}
        refused = first.report.verdict == "invalid"
        if not refused and not left:
            return first
        more = _until_hopeless(prove)
        document = certificate.write(
            claim, derivation, ledger, lambda o, c: more(o, c) if refused or o in left else prove.first(o, c), {}
        )
    except (RecursionError, Bad) as error:
        why = str(error) if isinstance(error, Bad) else "it is nested too deeply to be written"
        return Seconded({"evidence": []}, Report("invalid", "", [], why, ""), ledger)
    return first if document == first.document else Seconded(document, check(document), ledger)


MOST_OPEN: Final = 3
"""Counts of accesses without a proof, after which no more are looked for: it is solver-backed, and each takes long."""


def _until_hopeless(prove: Prove) -> Prove:
    """`prove`, until that many counts have been left open."""
    left = MOST_OPEN

    def proved(obligation: Obligation, context: Context) -> Any:
        nonlocal left
        if not isinstance(obligation, AtMost):
            return prove(obligation, context)
        found = prove(obligation, context) if left else None
        left -= bool(left) and found is None and not decided(obligation, None, context)
        return found

    return proved


Unaided = Uniform | AtMost
"""The obligations that the second checker mostly sees by itself."""


@dataclass(slots=True)
class Remembered:
    """`proof`, or another function, of each obligation once: for one launch and hardware, on which the obligations of
    all metrics are."""

    prove: Prove | None = None
    known: dict[tuple[Obligation, tuple[str, ...]], Any] = field(default_factory=dict)

    def __call__(self, obligation: Obligation, context: Context) -> Any:
        key = _key(obligation, context)
        if key not in self.known:
            self.known[key] = (self.prove or proof)(obligation, context)
        return self.known[key]

    def in_vain(self, obligation: Obligation, context: Context) -> bool:
        """Whether evidence for an obligation was looked for, and none was found."""
        return self.known.get(_key(obligation, context), False) is None

    def first(self, obligation: Obligation, context: Context) -> Any:
        """The evidence that is tried first: of what may do without, what was found before."""
        if isinstance(obligation, Unaided):
            return self.known.get(_key(obligation, context))
        return self(obligation, context)


def _key(obligation: Obligation, context: Context) -> tuple[Obligation, tuple[str, ...]]:
    return obligation, tuple(context.sigma.locals)
