"""Which of the costly tests a run has."""

from __future__ import annotations

import pytest

from tests.conftest import TURNS, _others, _turn


def test_each_costly_test_has_its_turn(request: pytest.FixtureRequest) -> None:
    """In as many commits as there are turns each has one; what is marked `whole`, or not costly, has all."""
    me = request.node
    mine = [me.nodeid, *(f"other{i}" for i in range(2 * TURNS))]
    assert [bool(_others([me], mine, turn)) for turn in range(TURNS)] == [turn != 0 for turn in range(TURNS)]
    assert [bool(_others([me], ["other", *mine], turn)) for turn in range(TURNS)] == [
        turn != 1 for turn in range(TURNS)
    ]
    assert not any(_others([me], mine[1:], turn) for turn in range(TURNS))
    me.add_marker("whole")
    assert not any(_others([me], mine, turn) for turn in range(TURNS))


def test_whose_turn_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPBOUND_TURN", "5")
    assert _turn() == 5 % TURNS
    monkeypatch.delenv("WARPBOUND_TURN")
    assert _turn() in range(TURNS)
    monkeypatch.setenv("PATH", "")
    assert _turn() == 0
