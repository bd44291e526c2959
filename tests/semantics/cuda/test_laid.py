"""Accesses to arrays are where a host compiler puts them, and have its values: `tests.semantics.cuda.laid`."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.semantics.cuda.laid import COMPILER, SPACES, Case, cases, casts, differences, lowered, observed

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
LONG = os.environ.get("WARPBOUND_PROFILE") == "long"


def test_arrays_of_every_space_shape_and_element(tmp_path: Path) -> None:
    """One kernel for each space and number of dimensions, all of them accepted."""
    some = list(cases(Random(1), 1))
    assert {f"{space}{d}" for space in SPACES for d in (1, 2, 3)} == {c.name.partition("_")[0] for c in some}
    assert differences(some, tmp_path) == ([], len(some))


def test_casts_of_arrays(tmp_path: Path) -> None:
    some = list(casts(every=False))
    found, compared = differences(some, tmp_path)
    assert found == []
    assert compared > 20


@pytest.mark.skipif(not LONG, reason="only with WARPBOUND_PROFILE=long")
@pytest.mark.parametrize("seed", range(2, 200))
def test_random_accesses(tmp_path: Path, seed: int) -> None:
    assert differences(list(cases(Random(seed))), tmp_path)[0] == []


@pytest.mark.skipif(not LONG, reason="only with WARPBOUND_PROFILE=long")
def test_every_cast_in_every_space(tmp_path: Path) -> None:
    assert differences(list(casts(every=True)), tmp_path)[0] == []


def test_the_comparison_sees_a_wrong_place_and_a_wrong_value(tmp_path: Path) -> None:
    """The host is given another kernel than our semantics."""
    body = "REGISTER(s, 0); s[n % 4][ty][tx] = {};"
    right = Case("k", "", (), "__shared__ int s[4][2][4]; " + body.format("tx"))
    for wrong in (right.body.replace("[n % 4]", "[0]"), right.body.replace("= tx", "= ty")):
        (lanes,) = observed([Case("k", "", (), wrong)], tmp_path)
        assert lanes != lowered(right, tmp_path)
    (lanes,) = observed([right], tmp_path)
    assert lanes == lowered(right, tmp_path)
