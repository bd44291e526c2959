"""Random C++ by a host compiler and as read: programs that are equal, and a front end that misreads, which is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from semantics.cuda import libclang
from tests.oracles.programs import Writer
from tests.oracles.written import tried
from tests.semantics.cuda.native import COMPILER

EQUAL = (3, 9, 300082, 950191, 950018)
"""The third one has a template of a class with methods that are defined outside of it, the fourth one that derives from
an instance for its argument. The last one swaps pointers."""
hosted = pytest.mark.skipif(COMPILER is None, reason="g++ is not here")


def test_a_seed_has_one_program() -> None:
    assert Writer(3).program() == Writer(3).program() != Writer(9).program()
    assert "t<W>::" in Writer(300082).program()
    assert "struct C26t : C1t<W> {" in Writer(950191).program()
    assert "swapped(p" in Writer(950018).program()
    assert "struct L" in Writer(3).program()


@pytest.mark.whole
@hosted
def test_programs_are_read_as_a_host_compiler_has_them(tmp_path: Path) -> None:
    assert [v.kind for v in tried(EQUAL, tmp_path)] == ["equal"] * len(EQUAL)


@hosted
def test_a_front_end_that_misreads_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = next(n for n, op in libclang.BINARY.items() if op == "+")
    monkeypatch.setitem(libclang.BINARY, number, "-")
    assert "different" in [v.kind for v in tried(EQUAL, tmp_path)]
