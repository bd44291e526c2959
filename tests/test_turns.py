"""Which of the costly tests, and of the cases of dear ones, a run has."""

from __future__ import annotations

import pytest

from tests.conftest import TURNS, _function, _others, _thinned, _turn


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
    assert _turn() == 5
    monkeypatch.delenv("WARPBOUND_TURN")
    assert _turn() >= 0
    monkeypatch.setenv("PATH", "")
    assert _turn() == 0


@pytest.mark.parametrize("case", range(11))
def test_each_case_of_a_dear_test_has_its_turn(case: int, request: pytest.FixtureRequest) -> None:
    """In as many commits as there are turns each has one; of what is named, there is one of few cases in each run."""
    me, name = request.node, _function(request.node.nodeid)
    some = [item for item in request.session.items if _function(item.nodeid) == name][case:]
    for named in (False, True):
        shares = min(TURNS, len(some)) if named else TURNS
        kept = [[i for i in some if i not in _thinned(some, ["other", name], turn, named)] for turn in range(TURNS)]
        assert all(any(item in each for each in kept) for item in some)
        assert {len(each) for each in kept} <= {len(some) // shares, -(-len(some) // shares)}
    assert not any(_thinned(some, [], turn, True) for turn in range(TURNS))
    me.add_marker("whole")
    assert not any(me in _thinned(some, [name], turn, False) for turn in range(TURNS))


def test_turns_go_on_from_function_to_function(request: pytest.FixtureRequest) -> None:
    """So that functions with a case each are not all in the same runs."""
    mine = [item for item in request.session.items if item.path == request.path and item.name.startswith("test_turns")]
    mine += [item for item in request.session.items if item.path == request.path and item.name.startswith("test_whose")]
    names = [_function(item.nodeid) for item in mine]
    kept = [[item for item in mine if item not in _thinned(mine, names, turn, False)] for turn in range(TURNS)]
    assert kept[: len(mine)] == [[item] for item in mine]
    assert not any(kept[len(mine) :])
