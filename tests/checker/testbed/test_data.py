"""The trial of contracts on data: it finds what is wrong in how they are used, and draws contents that keep them."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final
from unittest import mock

import pytest

from checker.report.trials import as_json, as_text
from checker.testbed.data import DATA, contents, contracts, held_at, with_data
from checker.testbed.programs import SIGMA_DATA, Programs, Wanted
from checker.testbed.search import search
from checker.testbed.trial import CONTRACTS, derive, tried
from checker.testbed.world import CHOSEN, HELD, SmallWorld
from logic.contracts import Contract, element
from logic.potentials import Poly, evaluate, of_expr
from logic.syntax import Const, Op, Param, Tid, Var

TRIAL: Final = tried(CONTRACTS)
CASES: Final = 150

_within, _telescope, _instance = Contract._within, Contract.telescope, Contract.instance


def _no_order(self: Contract, sign: str, s: Poly, t: Poly) -> tuple[Poly, ...]:
    return tuple(q for q in _telescope(self, sign, s, t) if q != t - s)


FAULTS: Final[dict[str, tuple[float, str, Any, int]]] = {
    "an array that is written counts as stable": (1.0, "checker.testbed.trial.unwritten", lambda _: {DATA}, 515),
    "contents break the contracts": (0.05, "checker.testbed.data.keeps", lambda *_: True, 28),
    "sums without ranges": (0.05, "logic.contracts.Contract.telescope", lambda *a: _telescope(*a)[:1], 4),
    "sums from a later index": (0.05, "logic.contracts.Contract.telescope", _no_order, 11),
    "instances without ranges": (0.05, "logic.contracts.Contract.instance", lambda *a: _instance(*a)[:1], 15),
    "ranges one too long": (0.05, "logic.contracts.Contract._within", lambda self, i, t, _: _within(self, i, t, 0), 50),
}
"""Faults: how many programs write to the array, what is wrong instead, and a case by which trials find it."""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Oracles keep what they find by a fault: it would be known to the next test, and what was known hides a fault."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    for module in [module for name, module in sys.modules.items() if name.startswith("checker.oracles")]:
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    written, target, wrong, first = FAULTS[fault]
    with mock.patch(target, wrong):
        report = search(replace(TRIAL, written=written), range(first, first + CASES), small=False)
    assert report.violation is not None


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    report = search(TRIAL, range(60), small=False)
    assert report.violation is None
    assert report.coverage.elements >= 5
    assert as_json(CONTRACTS, TRIAL, report)["covered"]["elements"] == report.coverage.elements
    assert "contracts survived 60 cases" in as_text(CONTRACTS, TRIAL, report)


def test_contracts_are_left_out_where_a_program_may_write() -> None:
    cases = [case for i in range(12) if (case := derive(replace(TRIAL, written=1.0), i)[0])]
    assert cases
    writes = [DATA in case.context.sigma.stable for case in cases if f"{DATA}[" in str(case.program)]
    for case in cases:
        assert bool(case.context.launch.contracts) == (DATA in case.context.sigma.stable)
    assert not any(writes)


def kept(data: Sequence[int], n: int, c: Contract) -> bool:
    """Whether contents keep a contract, by its potentials."""
    ends = [[of_expr(e) for e in pair if e is not None] for pair in c.ranges]
    spans = [range(*(int(evaluate(q, {Param("n"): n})) for q in pair if q is not None)) for pair in ends]
    return all(
        evaluate(q, {Param("n"): n, Var("?i0"): i}, lambda _, k: held_at(data, k)) >= 0
        for i in (spans[0] if spans else range(1))
        for q in c.quantities.values()
    )


def test_contents_keep_their_contracts() -> None:
    rng, found, rejected = random.Random(5), 0, 0
    for _ in range(60):
        given = contracts(rng)
        for n in range(-1, 5):
            data = contents(rng, n, given)
            found += data is not None
            rejected += not all(kept([rng.randint(-1, 4) for _ in HELD], n, c) for c in given)
            assert data is None or all(kept(data, n, c) for c in given)
    assert found > 200
    assert rejected > 50


def test_the_small_world_knows_elements() -> None:
    programs = Programs(random.Random(1), Wanted(data=True))
    world, context = with_data(*programs.context(), random.Random(2))
    assert context.sigma.arrays == SIGMA_DATA.arrays
    oracle = SmallWorld(world, context)
    index, n = Op("+", (Tid("x"), Const(1))), Param("n")
    values = oracle.in_every_state(element(DATA, index))
    for size, row in enumerate(world.data):
        for k, data in enumerate(row):
            for lane in range(world.lanes):
                at = {n: size, CHOSEN: k, Tid("x"): lane}
                place = tuple(at.get(leaf, 0) for leaf in reversed(oracle.leaves))
                place = tuple(min(i, d - 1) for i, d in zip(place[-values.ndim :], values.shape, strict=True))
                assert values[place] == held_at(data, lane + 1)
    assert held_at((), 3) == held_at((7,) * len(HELD), -1) == held_at((7,) * len(HELD), HELD[-1] + 1) == 0
