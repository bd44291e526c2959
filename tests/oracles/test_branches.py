"""Bounds of random branches beside runs: bounds that hold at all points, and ones that are too low, which is seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from logic.metrics import HARDWARE
from tests.oracles import branches
from tests.oracles.branches import Writer, tried

SEEDS = (5, 8, 9, 12, 19, 23)


def test_a_seed_has_one_kernel() -> None:
    assert Writer(3).kernel("k") == Writer(3).kernel("k") != Writer(4).kernel("k")


@pytest.mark.whole
def test_no_run_costs_more_than_its_bound(tmp_path: Path) -> None:
    kinds = [v.kind for v in tried(SEEDS, tmp_path)]
    assert {*kinds} == {"exact", "above"}
    assert len(kinds) == 4 * len(SEEDS)


def test_bounds_that_are_too_low_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a device whose sectors are larger than those of the one that runs."""
    monkeypatch.setattr(branches, "HARDWARE", {"nvidia": replace(HARDWARE["nvidia"], name="other", sector=128)})
    assert "false" in [v.kind for v in tried(SEEDS[:2], tmp_path)]
