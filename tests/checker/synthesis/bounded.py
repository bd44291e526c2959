"""Bounds of programs that tests write as outlines' bodies."""

from __future__ import annotations

from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.synthesis.bound import Per, Result, find_bounds
from logic.metrics import METRICS
from logic.potentials import Poly

HEADER = """\
kernel k
metric sectors
block 32
param int n, m, k;
global int A[];
local int x, y, z; local bool go;
begin
"""


def result(body: str, given: str = "", block: str = "32", per: Per = "warp", metric: str = "sectors") -> Result:
    header = HEADER.replace("block 32", f"block {block}")
    if given:
        header = header.replace("begin", f"requires {given}; begin")
    outline = parse_outline(f"{header}{body}\nend", "k.qhl")
    (found,) = find_bounds(outline, (METRICS[metric],), Oracles(), per=per)
    return found


def rechecked(found: Result) -> str:
    """What the second checker said of a bound."""
    assert found.second is not None, found.problem
    return found.second.report.verdict


def valid(found: Result) -> Poly:
    """A bound that the second checker calls valid."""
    assert rechecked(found) == "valid"
    assert found.claim is not None
    return found.claim.pre.q
