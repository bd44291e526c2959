"""The certificates of proofs/features/: valid for both checkers, made the same again, and about what they are for."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from checker.certificates.document import canonical, read
from checker.oracles import Oracles
from checker.recheck import recheck
from proofs.features.make import FEATURES, HOME, made
from proofs.make import judged, text_of
from tests.mutants.certificates import leaves, mutant, other
from tests.mutants.quick import plain, signed

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
}
"""For each, what its text has, and what its claim says."""

EVERY: Final = 29
"""Of so many mutants one is tried here, and of a large certificate about MOST."""

MOST: Final = 25


def text(name: str) -> str:
    return (HOME / f"{name}.json").read_text(encoding="ascii")


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_certified(name: str) -> None:
    document = json.loads(text(name))
    assert text(name) == canonical(document) + "\n"
    second = recheck(document)
    assert (second.verdict, second.problem, second.solver_backed) == ("valid", "", [])
    has, says = SHOWS[name]
    assert has in text(name)
    assert says in second.claim
    assert judged(read(text(name), name), Oracles()) is not None


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_made_the_same_again(name: str) -> None:
    ours, kept = json.loads(text_of(made(FEATURES[name], Oracles()))), json.loads(text(name))
    for document in (ours, kept):
        del document["tools"], document["digest"]
        for entry in document["evidence"]:
            del entry["engine"]
    assert ours == kept


@pytest.mark.parametrize("name", FEATURES)
def test_mutants_of_a_feature(name: str) -> None:
    """What the second checker calls valid, the kernel accepts."""
    document = json.loads(text(name))
    refused = 0
    places = list(leaves(document))
    for route, old in places[:: max(EVERY, len(places) // MOST)]:
        changed = mutant(document, route, other(document, route, old))
        if recheck(signed(changed)).verdict == "valid":
            assert plain(changed)[0] is not None, (route, old)
        else:
            refused += 1
    assert refused > 0
