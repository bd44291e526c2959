"""`bounds_once`: what many tests print, each in its own way, is found once. `audits_once`: certificates that the tests
of a file print are judged once. Each test has the second checker's work for one question before it: many ask its
functions, which `recheck` would begin anew. The grammar of command lines is made once for all tests."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import pytest

from checker import limits, recheck
from checker.certificates.audit import Audited, audit
from checker.cli import grammar
from checker.oracles import Oracles
from checker.synthesis.bound import Per, Result, find_bounds
from checker.synthesis.outline import Outline
from checker.synthesis.search import Engine
from logic.metrics import Metric
from logic.rules import RuleSet

USERS: Final = (
    "synthesis.bound",
    "suites.runner",
    "analysis.coalescing.bounded",
    "analysis.runtime",
    "analysis.wcet.sound",
)
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
    backed: bool = False,
    **more: Any,
) -> list[Result]:
    if any(value is not None for value in more.values()):  # by other rules: found each time
        return find_bounds(outline, metrics, oracle, hinted, search, per, show, judge, done, backed=backed, **more)
    key = pickle.dumps(
        (
            outline,
            tuple(metrics),
            hinted,
            search,
            per,
            judge,
            backed,
            oracle.limit,
            limits.BOUND_SECONDS,
            len(oracle.log),
        )
    )
    if key in _found:
        results, told = _found[key]
        vars(oracle).update({name: copy.copy(value) for name, value in told.items()})
        for result in results:
            if show:
                show(result.metric.name)
            if done:
                done(result)
        return list(results)
    results = find_bounds(outline, metrics, oracle, hinted, search, per, show, judge, done, backed=backed)
    _found[key] = list(results), {name: copy.copy(value) for name, value in vars(oracle).items()}
    return results


@pytest.fixture
def bounds_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what is printed that change nothing that bounds depend on."""
    for name in USERS:
        monkeypatch.setattr(f"checker.{name}.find_bounds", _once)


@pytest.fixture(autouse=True)
def work_anew() -> None:
    recheck.start()


@pytest.fixture(scope="module")
def audits_once() -> Iterator[None]:
    """For tests of what is printed that change nothing that the judgement depends on."""
    known: dict[tuple[str, str, str], tuple[Audited, dict[str, Any]]] = {}

    def judged(text: str, path: str, rules: RuleSet, oracle: Oracles, _: object = None) -> Audited:
        """What both checkers say of a certificate; the oracle has heard what it had when they said so."""
        key = text, path, rules.name
        if key not in known:
            known[key] = audit(text, path, rules, oracle), _copied(vars(oracle))
        found, heard = known[key]
        vars(oracle).update(_copied(heard))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("checker.certificates.audit.audit", judged)
        yield


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    return {name: copy.copy(value) for name, value in values.items()}


_grammar: Final = cache(grammar)


@pytest.fixture(autouse=True)
def grammar_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs a subcommand is a part of the grammar: who replaces that needs a new one (`grammar_anew`)."""
    monkeypatch.setattr("checker.cli.grammar", _grammar)


@pytest.fixture
def grammar_anew(grammar_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The grammar made again for each command line."""
    monkeypatch.setattr("checker.cli.grammar", grammar)
