"""Bounds of random C++ beside counted accesses: bounds that hold, and a front end that misreads, which is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from logic.syntax import Stmt, Write
from semantics.cuda.state import State
from tests.oracles.promised import tried
from tests.semantics.cuda.native import COMPILER

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not here")

SEEDS = (90008, 90011, 90012, 90018, 90019, 90024)


@pytest.mark.whole
def test_bounds_are_no_less_than_what_a_host_compiler_counts(tmp_path: Path) -> None:
    kinds = [v.kind for v in tried(SEEDS, tmp_path)]
    assert kinds == ["equal", "equal", "above", "above", "equal", "equal"]


def test_bounds_of_programs_that_are_misread_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where writes are left out, say."""
    emit = State.emit

    def emitted(st: State, *statements: Stmt) -> None:
        emit(st, *(s for s in statements if not isinstance(s, Write)))

    monkeypatch.setattr(State, "emit", emitted)
    assert [v.kind for v in tried(SEEDS[:1], tmp_path)] == ["below"]
