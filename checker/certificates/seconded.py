"""The word of both checkers on a claim that the kernel accepts: its certificate, judged by the second one.

`certified` is said nowhere else: it means that the second checker verified everything without a solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from checker.certificates import document as certificate
from checker.certificates.evidence import proof
from checker.certificates.judge import decided
from checker.kernel import Claim, Ledger
from checker.recheck import VACUOUS, Bad, Report, recheck
from logic.assertions import AtMost, Context, Obligation
from logic.derivation import Derivation

Said = Literal["certified", "solver-backed", "holey", "not-proved"]

Prove = Callable[[Obligation, Context], Any]

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
        if self.report.verdict != "solver-backed":
            return []
        evidence = self.document["evidence"]
        return sorted({evidence[i]["engine"] for i in self.report.open if i < len(evidence)})

    @property
    def vacuous(self) -> bool:
        """Whether it sees that no launch is as assumed."""
        return VACUOUS in self.report.solver_backed

    @property
    def advice(self) -> str:
        """What to do where it is not proved."""
        return NOT_VACUOUS if self.vacuous else REPORT

    @property
    def problem(self) -> str:
        """Why it is not proved, a sentence without its full stop."""
        if self.vacuous:
            return VACUOUS
        return f"the kernel accepts the bound, and the second checker refuses it: {self.report.problem}"


def verdict(second: Report | None, ledger: Ledger) -> Said:
    """The verdict on a claim that the kernel accepts, by the second checker's word; None is no word."""
    if second is not None and (second.verdict == "invalid" or VACUOUS in second.solver_backed):
        return "not-proved"
    if ledger.barriers:
        return "holey"
    return "certified" if second is not None and second.verdict == "valid" else "solver-backed"


def seconded(claim: Claim, derivation: Derivation, ledger: Ledger, prove: Prove = proof) -> Seconded:
    """The claim's certificate, judged by the second checker. `prove` is `proof`, or remembers what that said."""
    try:
        document = certificate.write(claim, derivation, ledger, _until_hopeless(prove), {})
    except (RecursionError, Bad) as error:
        why = str(error) if isinstance(error, Bad) else "it is nested too deeply to be written"
        return Seconded({"evidence": []}, Report("invalid", "", [], why, ""), ledger)
    return Seconded(document, recheck(document), ledger)


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


def remembered() -> Prove:
    """`proof`, each obligation once: for one launch and hardware, on which the obligations of all metrics are."""
    known: dict[tuple[Obligation, tuple[str, ...]], Any] = {}

    def prove(obligation: Obligation, context: Context) -> Any:
        key = obligation, tuple(context.sigma.locals)
        if key not in known:
            known[key] = proof(obligation, context)
        return known[key]

    return prove
