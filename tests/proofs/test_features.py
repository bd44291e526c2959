"""The certificates of proofs/features/: valid for both checkers, made the same again, and about what they are for."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from checker.certificates.claims import claimed
from checker.certificates.document import canonical, read
from checker.oracles import Oracles
from checker.recheck import recheck
from proofs.features.make import FEATURES, HOME, made
from proofs.make import judged, text_of
from tests.mutants.certificates import leaves, mutant, other
from tests.mutants.quick import Quick, plain
from tests.proofs.statements import exercised, statements

Json = Any

SHOWS: Final[dict[str, tuple[str, str]]] = {
    "sum-of-a-block": ('"warp.index",', "the warps of a block of feature together cost at most"),
    "sum-of-a-grid": ('"blockIdx.z",', "all warps of a grid of feature together cost at most"),
    "assumption": ('"assumptions":[[', "assumed: "),
    "scope-block": ('"scope":"block"', "the span of a block of feature"),
    "symbolic-block": ('"block":[null,1,1]', "any"),
    "log2": ('["log2",', "log2(n)"),
    "choice": ('["op","?:",', "at most"),
    "choice-in-a-condition": ('"if":[', "at most 0"),
    "frame": ('"Q:Frame"', "4 + 3*max(0, n)"),
    "case-split": ('"Q:CaseSplit"', "at most 4"),
    "quotient": ('["law","/",', "at most 4*max(0, trunc(n/m))"),
    "quotient-by-a-constant": ('["op","/",[["1",[["param","n"]]]]', "at most 4*max(0, floor(n/4))"),
    "quotients-in-a-row": ('"span":32', "at most 5"),
    "rows-of-pairs": ('"block":[16,16,1]', "at most 18"),
    "mask": ('["law","&",', "at most 4*max(0, and(n, 12))"),
    "swizzle": ('["op","^",', "at most 0"),
    "border": ('["op","==",["var","i"],', "at most 0 conflicts"),
    "sides": ('["op","max",["op","-",["tid","y"],', "at most 0 conflicts"),
    "swizzled-rows": ('["op","^",["tid","x"],["op","+",', "at most 0 conflicts"),
    "bins": ('["read","A",["tid","x"]]', "at most 3 conflicts"),
    "ranks": ('"block":[null,null,null]', "at most 0 conflicts"),
    "ring": ('["op","&",', "at most 5 sectors"),
    "any-sign": ('["op","/",["op","+",["tid","x"],["param","n"]],["const"', "at most 18 sectors"),
    "apart": ('["apart",', "at most 4*max(0, n) sectors"),
    "cases": ('"grid":[2,1,1]', "at most 21 sectors"),
    "flags": ('["op","int",', "at most 16 sectors"),
    "reads": ('["op","+",["read","A",["param","n"]],["tid","x"]]', "at most 15"),
    "base-types": ('["base","float",4]', "at most 10"),
    "conditions": ('["op","bool",', "at most 6"),
    "assumption-inside": ('["assume",', "; assumed wherever a thread comes to it: j <= m"),
    "admitted-barrier": ('"admitted":[0]', "; assumed besides: all threads of a block reach the barriers #0 together"),
    "any-block": ('"block":[null,null,null]', "; any blocks, any grid"),
    "the-same-in-a-block": ('"scope":"block"', "the span of a block of feature"),
    "contracts": ('"version":4', "; assumed of data: forall i in [0, n): row[i] <= row[i + 1], forall "),
    "custom": (
        '"gwrite":["7/2","-1"]',
        "max(0, 7/2*n + -1)) on the custom hardware half (sector 64, word 4, alignment 256, banks 16, warp 16)",
    ),
}
"""For each, what its text has, and what its claim says."""

EVERY: Final = 29
"""Of so many mutants one is tried here, and of a large certificate about MOST."""

MOST: Final = 25


def text(name: str) -> str:
    return (HOME / f"{name}.json").read_text(encoding="ascii")


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_made_the_same_again(name: str) -> None:
    ours, kept = json.loads(text_of(made(FEATURES[name], Oracles()))), json.loads(text(name))
    for document in (ours, kept):
        del document["tools"], document["digest"]
        for entry in document["evidence"]:
            del entry["engine"]
    assert ours == kept


@pytest.mark.parametrize("name", FEATURES)
def test_places_of_a_feature_are_of_its_kernel(name: str) -> None:
    """A name in a contract or in a precondition is not in the text of the kernel: the ghost that is it has no place."""
    lines = FEATURES[name].kernel.splitlines()
    for row in json.loads(text(name))["derivation"]:
        if row["rule"] in {"OQ:Var", "OQ:Param"} and row["at"] is not None:
            line, column = row["at"]
            (named,) = (value for key, value in row["with"].items() if key in {"x", "p"})
            assert lines[line - 1][column - 1 :].startswith(named)


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_certified(name: str) -> None:
    document = json.loads(text(name))
    assert text(name) == canonical(document) + "\n"
    second = recheck(document)
    assert (second.verdict, second.problem, second.solver_backed) == ("valid", "", [])
    has, says = SHOWS[name]
    assert has in text(name)
    assert says in second.claim
    first = judged(read(text(name), name), Oracles())
    assert first is not None
    assert second.claim.startswith(f"{claimed(first)}; ")


def test_features_exercise_the_second_checker() -> None:
    """Nearly all but its command, what it refuses or leaves open, and words for what they do not say."""
    reached = exercised([HOME / f"{name}.json" for name in FEATURES])
    assert len(reached) > 0.91 * len(statements())


@pytest.mark.parametrize("name", FEATURES)
def test_mutants_of_a_feature(name: str) -> None:
    """What the second checker calls valid, the kernel accepts."""
    document = json.loads(text(name))
    refused, checkers = 0, Quick(document)
    places = list(leaves(document))
    for route, old in places[:: max(EVERY, len(places) // MOST)]:
        changed = mutant(document, route, other(document, route, old))
        if checkers.judged(changed).verdict == "valid":
            assert plain(changed)[0] is not None, (route, old)
        else:
            refused += 1
    assert refused > 0
