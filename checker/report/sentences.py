"""A refusal as a sentence: the kernel gives terms, and words are found here."""

from __future__ import annotations

from typing import Final

from logic.assertions import Refuted
from logic.potentials import Poly, variables
from logic.refusals import Fault, Refusal
from logic.schema import kind, show
from logic.syntax import GHOST

SENTENCES: Final[dict[Fault, str]] = {
    "rule": "the rule set '{about}' has no rule called '{name}'",
    "letters": "the substitution does not fit the rule",
    "count": "the number of premises is wrong",
    "premise": "the premise {premise} is not what its derivation proves",
    "side condition": "the side condition {premise} {tail}",
    "condition": "{premise} does not hold",
    "ghost": "{premise} does not hold: {letter} depends on '{about}'",
    "depth": "the terms are nested too deeply",
    "kind": "{letter} has to be of kind '{expected}'",
    "domain": "{letter} has to be {domain}",
    "type": "{letter} is ill-typed: {about}",
    "truth": "a conjunct of {letter} is not a truth value",
    "canonical": "{letter} is not in canonical form",
    "reserved": "{letter} mentions a name that is reserved",
    "uniform": "the potential depends on {stray}, which X does not list as uniform",
    "thread": "the potential depends on tid",
    "integer": "the potential depends on '{about}', which is not an int",
    "term": "the rule has no {about} at {premise}",
    "cost": "{premise} does not give a constant cost",
    "opaque": "{premise} is never provable where e reads an array or a base-typed value",
    "access": "{premise} does not name an access",
    "unknown": "the rule has a side condition of no known kind, {premise}",
    "ghost name": f"only what is called '{GHOST}..' is a ghost",
    "ghost read": "the program would use the ghost '{about}'",
    "ghost type": "the ghost '{about}' is an integer",
    "rules": "a claim rests on the sound rules only",
    "triple": "a claim needs a triple about the kernel's body",
    "context": "the theorem was derived in another context",
    "ill-typed": "the claim is ill-typed: {about}",
    "signature": "the derivation is about another signature than the kernel's",
    "program": "the theorem is about another program than the kernel's body",
    "launch": "the launch is not one",
    "contract": "a contract compares integers, over parameters and arrays of integers that the kernel does not write",
    "assumption": "an assumption has to be a fact about parameters",
    "end": "that nothing is owed at the end, Q' >= 0, {tail}",
    "sums": "costs are summed over the warps of a block, or over these and then all blocks",
    "summand": "only what every warp costs is summed",
    "sum canonical": "a potential of a sum is not in canonical form",
    "sum assumption": "an assumption about {about} leaves out what the sum is over",
    "sum": "that F covers the sum over {about} {tail}",
    "second checker": "the second checker refuses it: {about}",
    "rule set": "it was written for another rule set",
    "admitted": "what the certificate admits is not what its derivation needs",
}

DOMAINS: Final = {
    "variable": "a local variable",
    "variables": "a set of local variables",
    "parameter": "a parameter",
    "axis": "x, y or z",
    "array": "an array",
    "global array": "a global array",
    "shared array": "a shared array",
    "cost": "nonnegative",
    "count": "nonnegative",
}
"""The values that metavariables of a kind stand for, where these are not all values of that kind."""


def sentence(refusal: Refusal, refuted: bool | None = None) -> str:
    """A sentence for a refusal. A side condition is called false where it is refuted, by the oracle if nothing better
    is known."""
    if refuted is None:
        refuted = isinstance(refusal.verdict, Refuted)
    q, x = refusal.got, refusal.expected
    stray = variables(q) - x if isinstance(q, Poly) and isinstance(x, frozenset) else ()
    return SENTENCES[refusal.fault].format(
        about="set of variables" if refusal.about == "variables" and refusal.fault == "term" else refusal.about,
        domain=DOMAINS.get(kind(refusal.letter), "") if refusal.letter else "",
        expected=refusal.expected,
        letter=refusal.letter,
        name=refusal.name,
        premise="" if refusal.premise is None else show(refusal.premise),
        stray=", ".join(sorted(stray)),
        tail="does not hold" if refuted else "could not be proved",
    )
