"""Arithmetic on the values of lanes."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from checker.analysis.coalescing.trial import Valuation
from checker.analysis.coalescing.vectors import applied, at, linear
from checker.oracles.forms import Atoms, Number, plus, scaled
from logic.operators import denote
from tests.examples import examples

OPERATORS = ("/", "%", "&", "|", "^", ">>", "+", "-")


COEFFICIENTS = st.sampled_from([0, 1, 2, 4, 8, 16, 32, 64, 96])


OPERANDS = st.sampled_from([1, 2, 3, 4, 5, 8, 16, 31, 32, 63, 64, 127, -1, -2, -4, -7, -32])


@examples(100, 5000)
@given(st.sampled_from(OPERATORS), COEFFICIENTS, COEFFICIENTS, st.integers(-70, 70), OPERANDS, st.booleans(), st.data())
def test_operators_are_exact(op: str, f: int, g: int, c: int, k: int, turned: bool, data: st.DataObject) -> None:
    atoms = Atoms()
    a, b = atoms.atom(("leaf", "a"), data.draw(st.sampled_from([None, 0, -5]))), atoms.atom(("leaf", "b"), 0)
    form = plus(plus(scaled(a, f), scaled(b, g)), c)
    other = k % 8 if op == ">>" else k
    args: tuple[Number, ...] = (other, form) if turned and op in ("&", "|", "^", "+") else (form, other)
    found = applied(op, args, atoms)
    here = Valuation(atoms, random.Random(0), 1)
    for number, (low, _) in enumerate(atoms.sizes[:2]):
        here.values[number] = data.draw(st.integers(-100 if low is None else low, 100))
    assert here.drawn(found) == denote(op, tuple(here.drawn(x) for x in args))


def test_more_is_known_than_of_any_number() -> None:
    """(32 * w + 5) % 512 is 32 * (w % 16) + 5: neighbours stay neighbours."""
    atoms = Atoms()
    w = atoms.atom(("leaf", "w"), 0)
    for op, k in (("%", 512), ("&", 511), ("^", 64), ("/", 96)):
        first, second = (applied(op, (plus(scaled(w, 32), c), k), atoms) for c in (4, 5))
        assert plus(second, scaled(first, -1)) == (0 if op == "/" else 1)


@given(st.lists(st.integers(-9, 9), min_size=3, max_size=3), st.integers(-9, 9), st.sampled_from([1, -1]))
def test_linear_is_lane_by_lane(consts: list[int], c: int, sign: int) -> None:
    atoms = Atoms()
    n = atoms.atom(("leaf", "n"))
    uniform = plus(scaled(n, 3), c)
    found = linear(tuple(consts), uniform, sign)
    assert found is not None
    assert [at(found, i) for i in range(3)] == [plus(x, scaled(uniform, sign)) for x in consts]
    assert linear((n, plus(n, 1), 0), uniform, sign) is None  # they share no terms
