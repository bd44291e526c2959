"""Points that a launch allows, and those that it does not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from checker.certificates import document as certificate
from checker.certificates.claims import SUBJECTS, Excluded, claimed, described, excluded, named, wording
from checker.certificates.evidence import proof
from checker.notation import parse_assumption, parse_kernel, parse_outline
from checker.oracles import Oracles
from checker.recheck import PRICES, SIZES, recheck, sentence
from checker.synthesis.bound import Per, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Dim, Launch, Scope, conj
from logic.metrics import HARDWARE, METRICS, Hardware, Linear, Metric
from logic.typing import check_kernel

KERNEL = parse_kernel("kernel k\nparam int n;\nglobal int A[];\nbegin\nA[n] <- 1;\nend", "k")
SIGMA = check_kernel(KERNEL)


def context(block: Dim = (96, 1, 1), grid: Dim = (None, 1, 1), given: str = "n >= 0") -> Context:
    facts = conj((parse_assumption(given, SIGMA, "given"),), SIGMA)
    return Context(SIGMA, METRICS["sectors"], HARDWARE["nvidia"], Launch(block, grid, facts))


@pytest.mark.parametrize(
    ("at", "fact"),
    [
        ({"n": 0}, None),
        ({"n": -1}, "n >= 0"),
        ({"blockDim.x": 96}, None),
        ({"blockDim.x": 64}, "blockDim.x == 96"),
        ({"gridDim.x": 0}, "gridDim.x >= 1"),
        ({"blockIdx.x": 2, "gridDim.x": 2}, "blockIdx.x < gridDim.x"),
        ({"blockIdx.x": 2}, None),
        ({"warp.index": 2}, None),
        ({"warp.index": 3}, "warp.index < 3"),
        ({"warp.index": -1}, "warp.index >= 0"),
    ],
)
def test_points(at: dict[str, int], fact: str | None) -> None:
    found = excluded(at, context())
    assert (found and found.text) == fact


def test_blocks_whose_size_is_given_with_the_point() -> None:
    symbolic = context(block=(None, 1, 1))
    assert excluded({"blockDim.x": 2000}, symbolic) == Excluded("blockDim.x <= 1024", frozenset({"blockDim.x"}))
    assert excluded({"blockDim.x": 33, "warp.index": 1}, symbolic) is None
    assert excluded({"blockDim.x": 32, "warp.index": 1}, symbolic) == Excluded(
        "warp.index < 1", frozenset({"warp.index"})
    )
    assert excluded({"warp.index": 1}, symbolic) is None


ROWS = """kernel k
metric sectors
param int n, m;
global int row[], col[], A[];
requires forall i in [0, n): row[i] <= row[i + 1];
requires row[0] >= 2 && row[n] == m;
requires forall j in [0, m): 0 <= col[j] && col[j] < n;
begin
A[n] <- 1;
end
"""


@pytest.mark.parametrize(
    ("at", "fact"),
    [
        ({"n": 3, "row[0]": 5, "row[3]": 9}, None),
        ({"n": 3, "row[0]": 5, "row[1]": 4}, "forall i in [0, n): row[i] <= row[i + 1]"),
        ({"n": 3, "row[0]": 5, "row[3]": 4}, "forall i in [0, n): row[i] <= row[i + 1]"),
        ({"n": 3, "row[3]": 5, "row[4]": 4}, None),
        ({"n": 4, "row[3]": 5, "row[4]": 4}, "forall i in [0, n): row[i] <= row[i + 1]"),
        ({"row[3]": 5, "row[4]": 4}, None),
        ({"row[0]": 1}, "row[0] >= 2"),
        ({"n": 2, "m": 7, "row[2]": 8}, "row[n] == m"),
        ({"n": 2, "m": 7, "row[2]": 7, "col[0]": 1}, None),
        ({"n": 2, "m": 7, "row[2]": 7, "col[0]": 2}, "forall i in [0, m): col[i] < n"),
        ({"n": 2, "m": 7, "col[-1]": 2, "col[7]": -5}, None),
        ({"m": 7, "col[6]": -5}, "forall i in [0, m): 0 <= col[i]"),
    ],
)
def test_elements_that_break_a_contract(at: dict[str, int], fact: str | None) -> None:
    found = excluded(at, parse_outline(ROWS, "k.qhl").context)
    assert (found and found.text) == fact


def test_a_fact_that_is_not_worked_out_excludes_nothing() -> None:
    shifted = context(given="1 << n >= 0")
    assert excluded({"n": 100_000}, shifted) is None


# --- the words of a claim ---------------------------------------------------------------------------------------------

PRICED = Metric(
    "mine",
    {"op": Fraction(1, 3), "div": Fraction(2)},
    {"gwrite": Linear(Fraction(2), Fraction(-1)), "gread": Linear(Fraction(0), Fraction(4))},
)
SIZED = Hardware("big", sector=64, banks=16, word=8, warp=32, alignment=512)

SHAPES: list[tuple[Scope, Per, str]] = [
    ("warp", "warp", "every warp of k costs at most 3"),
    ("warp", "block", "the warps of a block of k together cost at most 9"),
    ("warp", "grid", "all warps of a grid of k together cost at most 18"),
    ("block", "warp", "the span of a block of k is at most 3"),
]
"""What is said of A[n] <- 1 in 2 blocks of 96 threads, at 3 a warp."""


def test_both_checkers_know_the_same_by_name() -> None:
    """A metric or hardware that is added has to be known to the second checker, too, or is called custom there."""
    assert PRICES.keys() == METRICS.keys()
    assert SIZES.keys() == HARDWARE.keys()


@pytest.mark.parametrize(
    "hardware", [HARDWARE["nvidia"], replace(SIZED, phase=128), replace(HARDWARE["nvidia"], name="NVIDIA")]
)
@pytest.mark.parametrize("metric", [*METRICS.values(), PRICED, Metric("Sectors"), replace(PRICED, name="sector")])
@pytest.mark.parametrize(("scope", "per", "said"), SHAPES)
def test_both_checkers_say_the_same(scope: Scope, per: Per, said: str, metric: Metric, hardware: Hardware) -> None:
    own = replace(context(grid=(2, 1, 1), given="true"), scope=scope, metric=metric, hardware=hardware)
    (result,) = find_bounds(Outline(KERNEL, own, bare(KERNEL.body)), (metric,), Oracles(), per=per, judge=False)
    assert result.claim is not None
    assert result.derivation is not None
    document = certificate.write(result.claim, result.derivation, result.ledger, proof, {})
    found = recheck(document)
    assert found.verdict == "valid"
    assert found.claim.partition("; ")[0] == claimed(result.claim)
    what = "span" if scope == "block" else per
    for bound in ("1", "0", "7/2", "max(0, n)"):
        assert sentence(document, bound) == wording("k", what, bound, metric, hardware)
    known = metric.name in METRICS and hardware.name in HARDWARE
    assert ("custom" in claimed(result.claim)) != known
    if metric == PRICED:
        assert claimed(result.claim).startswith(f"{said.rpartition(' ')[0]} ")


@pytest.mark.parametrize(("scope", "per", "said"), SHAPES)
def test_what_is_said(scope: Scope, per: Per, said: str) -> None:
    what = "span" if scope == "block" else per
    bound = said.rpartition(" ")[2]
    assert wording("k", what, bound, METRICS["sectors"], HARDWARE["nvidia"]) == f"{said} sectors"
    assert wording("k", what, bound, PRICED, SIZED) == (
        f"{said} of the custom metric mine (div 2, op 1/3, gread(n) max(0, 0*n + 4), gwrite(n) max(0, 2*n + -1)) "
        "on the custom hardware big (sector 64, word 8, alignment 512, banks 16, warp 32)"
    )


def test_every_subject_is_tried() -> None:
    assert {"span" if scope == "block" else per for scope, per, _ in SHAPES} == SUBJECTS.keys()


def test_a_name_that_looks_like_a_known_one_is_a_custom_one() -> None:
    assert described(Metric("Sectors")) == "custom metric Sectors (all is free)"
    assert named(Metric("Sectors")) == "custom Sectors"
    assert named(METRICS["sectors"]) == "sectors"
    assert named(Metric("sectors")) == "custom sectors"
