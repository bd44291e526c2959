"""How hypothesis searches: `ci` is the same every time, `long` (WARPBOUND_PROFILE=long) looks further and elsewhere, in
dear tests by `tests.examples`; it has all cases of slow functions, of which `ci` leaves out every second of many.
Which tests are slow: those that slow.txt lists, which `make slow` measures anew. Garbage is collected less often, and
not at all before the first test."""

from __future__ import annotations

import gc
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from tests.examples import LONG

settings.register_profile("ci", max_examples=60, derandomize=True, deadline=None, database=None)
settings.register_profile(
    "long", max_examples=5000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("WARPBOUND_PROFILE", "ci"))

SLOW: Final = Path(__file__).parent / "slow.txt"
LIMIT: Final = 0.05
"""Seconds of a processor that a test function takes on average, over its parameters, before it is slow: so that the
others take less than a minute on two cores."""

MANY: Final = 6
"""Cases of a slow function from which on every second is left to WARPBOUND_PROFILE=long."""

_spent: dict[str, list[float]] = defaultdict(list)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-slow", action="store_true", help="write tests/slow.txt anew, from what all tests take")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = frozenset(SLOW.read_text().splitlines())
    if not (LONG or config.getoption("--write-slow")):
        left = _thinned(items, slow)
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    dear: Counter[Path] = Counter()
    for item in items:
        if _function(item.nodeid) in slow:
            item.add_marker("slow")
            dear[item.path] += 1
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: -dear[item.path])  # so that no worker is left with much at the end


def _thinned(items: list[pytest.Item], slow: frozenset[str]) -> set[pytest.Item]:
    """The cases that only the long run has: every second of slow functions with many."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[_function(item.nodeid)].append(item)
    return {item for name, each in cases.items() if name in slow and len(each) >= MANY for item in each[1::2]}


gc.disable()


def pytest_collection_finish() -> None:
    """The thousands of tests stay to the end. Without this, a quarter of the time goes into looking at them for
    garbage, again and again."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    before = _seconds()
    try:
        return (yield)
    finally:
        item.user_properties.append(("seconds", _seconds() - before))


def _seconds() -> float:
    """What the processor has spent on this process and on those that it started and that have ended: clocks on walls
    also count what other processes do."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        _spent[_function(report.nodeid)].append(float(str(dict(report.user_properties).get("seconds", 0))))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--write-slow") and not hasattr(session.config, "workerinput"):
        slow = sorted(name for name, each in _spent.items() if sum(each) > LIMIT * len(each))
        SLOW.write_text("".join(f"{name}\n" for name in slow))


def _function(nodeid: str) -> str:
    """The file and the function of a test, without its parameters."""
    return nodeid.partition("[")[0]
