"""The second checker's words for a bound: those that the other checker prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker import recheck
from checker.certificates.reread import potential
from checker.recheck import (
    ELEMENT,
    Potential,
    floor_of,
    formula,
    integral,
    log2_of,
    max0,
    normal_op,
    plus,
    single,
    times,
)

PROOFS = Path(__file__).resolve().parents[3] / "proofs"

LEAVES = (single("param", "n"), single("param", "blockIdx.x"), single("var", "warp.index"))


def potentials() -> st.SearchStrategy[Potential]:
    small = st.integers(-5, 5)

    def more(inner: st.SearchStrategy[Potential]) -> st.SearchStrategy[Potential]:
        pairs = st.tuples(inner, inner)
        return st.one_of(
            st.tuples(inner, inner, small).map(lambda t: plus(t[0], times(t[1], t[2]))),
            pairs.map(lambda t: times(*t)),
            inner.map(max0),
            inner.map(lambda p: max0(p * -1)),
            st.tuples(inner, st.sampled_from([2, 32, 128])).map(lambda t: floor_of(*t)),
            st.tuples(inner, st.sampled_from([2, 32])).map(lambda t: floor_of(t[0] * -1, t[1]) * -1),
            st.tuples(small, inner).map(lambda t: plus(t[0], max0(plus(t[0], t[1] * -1)) * -1)),
            pairs.map(lambda t: plus(t[0], max0(plus(t[0], t[1] * -1)) * -1)),
            inner.filter(integral).map(log2_of),
            inner.filter(integral).map(lambda p: normal_op(f"{ELEMENT}row", p)),
            st.tuples(st.sampled_from(["/", "&", ">>"]), *[inner.filter(integral)] * 2).map(lambda t: normal_op(*t)),
        )

    return st.recursive(st.one_of(small, st.sampled_from(LEAVES)), more, max_leaves=5)


@given(potentials())
def test_a_formula_is_in_the_words_of_the_other_checker(p: Potential) -> None:
    recheck.Work.left = recheck.MAX_WORK
    assert formula(p) == str(potential(p))


@pytest.mark.parametrize(
    "name",
    ["addSub3/sectors", "data/spmv_vector-sectors", "histogramShared/steps", "features/quotient", "fan2/sectors"],
)
def test_claims_are_in_the_words_of_the_other_checker(name: str) -> None:
    report, bound = recheck.rechecked(json.loads((PROOFS / f"{name}.json").read_text()))
    assert bound is not None
    assert f" at most {potential(bound)} " in report.claim
    assert "-1*" not in report.claim


def test_a_formula_that_may_be_long_is_left_as_it_is() -> None:
    """Written with its minima it could double with each."""
    recheck.start()
    p: Potential = LEAVES[0]
    for k in range(recheck.MAX_NESTED + 2):
        p = max0(p * -1 + k)
    assert recheck.deep(p)
    assert recheck.in_words(p) == recheck.show(p)
