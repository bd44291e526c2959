"""How hypothesis searches: `ci` is the same every time, `long` (WARPBOUND_PROFILE=long) looks further and elsewhere, in
dear tests by `tests.examples`; it has all tests. Of the cases of what dear.txt lists, and of what costly.txt lists,
`ci` has an eighth: others after each commit. Which tests are slow: those that slow.txt lists, which `make slow`
measures anew, like the other two. Garbage is collected less often, and not at all before the first test."""

from __future__ import annotations

import gc
import os
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
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
LIMIT: Final = 0.03
"""Seconds of a processor that a test function takes on average, over its parameters, before it is slow: so that the
others take about a minute on two cores."""

DEAR: Final = Path(__file__).parent / "dear.txt"
DEAR_LIMIT: Final = 0.2
"""Seconds that a case takes on average, from which on a function with MANY cases is dear: of these cases a run of
everything has one of TURNS, the next ones after each commit. Functions that are merely slow keep all theirs, and so do
those that are marked `whole`."""
MANY: Final = 2

COSTLY: Final = Path(__file__).parent / "costly.txt"
COSTLY_LIMIT: Final = 1.5
"""Seconds from which on a function with one case is costly: of these a run of everything has one of TURNS, the next
ones after each commit. Those that are marked `whole` are in every run, as is what a command names."""
TURNS: Final = 8

_spent: dict[str, list[float]] = defaultdict(list)
_clock: Final = time.process_time
"""The clock itself: a test may put another in its place."""


def pytest_addoption(parser: pytest.Parser) -> None:
    told = "write slow.txt, dear.txt and costly.txt anew, from what all tests take"
    parser.addoption("--write-slow", action="store_true", help=told)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    turn = _turn()
    slow, dear, costly = (dict.fromkeys(path.read_text().splitlines()) for path in (SLOW, DEAR, COSTLY))
    if not (LONG or config.getoption("--write-slow")):
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        left = _thinned(items, dear, turn, named)
        if not named:
            left |= _others(items, [*costly], turn)
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    load: Counter[Path] = Counter()
    for item in items:
        if _function(item.nodeid) in slow:
            item.add_marker("slow")
            load[item.path] += 1
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: -load[item.path])  # so that no worker is left with much at the end


def _others(items: list[pytest.Item], costly: list[str], turn: int) -> set[pytest.Item]:
    """The tests whose turn it is not."""
    others = {name for i, name in enumerate(costly) if i % TURNS != turn % TURNS}
    return {item for item in items if _function(item.nodeid) in others and not item.get_closest_marker("whole")}


def _turn() -> int:
    """The number of the commit that is tested, so that its runs are all the same; WARPBOUND_TURN is another one."""
    count = os.environ.get("WARPBOUND_TURN", "")
    if not count:
        git = ["git", "rev-list", "--count", "HEAD"]
        with suppress(OSError):
            count = subprocess.run(git, cwd=COSTLY.parent, capture_output=True, text=True, check=False).stdout
    return int(count or 0)


def _thinned(items: list[pytest.Item], dear: Collection[str], turn: int, named: bool) -> set[pytest.Item]:
    """The cases of dear functions whose turn it is not. Where a command has `named` what it runs, there is one of each
    function."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("whole"):
            cases[_function(item.nodeid)].append(item)
    left, before = set[pytest.Item](), 0
    for name in dear:
        shares = min(TURNS, len(cases[name])) if named else TURNS
        left |= {item for i, item in enumerate(cases[name], 0 if named else before) if i % shares != turn % shares}
        before += len(cases[name])
    return left


@pytest.fixture(autouse=True, scope="session")
def _state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The user's state, such as keys, is not that of who runs the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


gc.disable()


def pytest_collection_finish() -> None:
    """The thousands of tests stay to the end. Without this, a quarter of the time goes into looking at them for
    garbage, again and again."""
    gc.freeze()
    gc.set_threshold(200_000, 10, 10)
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
    return _clock() + spent.children_user + spent.children_system


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        _spent[_function(report.nodeid)].append(float(str(dict(report.user_properties).get("seconds", 0))))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--write-slow") and not hasattr(session.config, "workerinput"):
        many = {name for name, each in _spent.items() if len(each) >= MANY}
        for path, limit, own in (
            (SLOW, LIMIT, _spent.keys()),
            (DEAR, DEAR_LIMIT, many),
            (COSTLY, COSTLY_LIMIT, _spent.keys() - many),
        ):
            names = sorted(name for name in own if sum(_spent[name]) > limit * len(_spent[name]))
            path.write_text("".join(f"{name}\n" for name in names))


def _function(nodeid: str) -> str:
    """The file and the function of a test, without its parameters."""
    return nodeid.partition("[")[0]
