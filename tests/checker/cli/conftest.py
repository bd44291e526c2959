"""`bounds_once`: bounds that many tests print, each in its own way, are found once."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import Per, Result, find_bounds
from checker.synthesis.outline import Outline
from checker.synthesis.search import Engine
from logic.metrics import Metric

USERS: Final = ("synthesis.bound", "suites.runner", "analysis.runtime", "analysis.wcet.sound")
"""The modules of checker that know `find_bounds`."""

_found: Final[dict[bytes, tuple[list[Result], dict[str, Any]]]] = {}
"""Bounds, and what the oracle was told meanwhile, by all that they depend on, places in the source included."""


def _once(
    outline: Outline,
    metrics: Sequence[Metric],
    oracle: Oracles,
    hinted: str | None = None,
    search: Engine = "lp",
    per: Per = "warp",
    show: Callable[[str], None] | None = None,
    judge: bool = True,
    done: Callable[[Result], None] | None = None,
) -> list[Result]:
    key = pickle.dumps((outline, tuple(metrics), hinted, search, per, judge, oracle.limit, len(oracle.log)))
    if key in _found:
        results, told = _found[key]
        vars(oracle).update({name: copy.copy(value) for name, value in told.items()})
        for result in results:
            if show:
                show(result.metric.name)
            if done:
                done(result)
        return list(results)
    results = find_bounds(outline, metrics, oracle, hinted, search, per, show, judge, done)
    _found[key] = list(results), {name: copy.copy(value) for name, value in vars(oracle).items()}
    return results


@pytest.fixture
def bounds_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what is printed that change nothing that bounds depend on."""
    for name in USERS:
        monkeypatch.setattr(f"checker.{name}.find_bounds", _once)
