"""What lanes know: which warps a block has, and what a loop leaves."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.analysis.coalescing.lanes import _Walk, cohorts
from checker.analysis.coalescing.trial import Valuation
from checker.analysis.coalescing.vectors import applied, at, implied
from checker.oracles.forms import Atoms, Number, minus, plus, scaled
from checker.oracles.lanes import View
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import BOOL, INT
from logic.typing import Signature
from tests.examples import examples


@pytest.mark.parametrize(
    "block",
    [(32, 1, 1), (100, 1, 1), (256, 1, 1), (16, 1, 1), (8, 8, 1), (16, 16, 1), (7, 5, 1), (48, 2, 1), (4, 4, 8)],
)
def test_every_warp_is_covered(block: tuple[int, int, int]) -> None:
    """Each warp of the block is one of a cohort's, for some value of what is unknown of it."""
    context = Context(Signature({}, {}, {}), METRICS["sectors"], HARDWARE["nvidia"], Launch(block))
    view = View((), frozenset(), context, context.sigma)
    found = cohorts(view, 32)
    x, y, z = block
    threads = [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
    for start in range(0, len(threads), 32):
        warp = threads[start : start + 32]
        assert any(_fits(warp, c.numbers, c.tid, view) for c in found), warp


def _fits(warp: list[tuple[int, int, int]], numbers: tuple[int, ...], tid: object, view: View) -> bool:
    """Whether the lanes' indices are the cohort's, with each unknown at one value within its bounds."""
    assert isinstance(tid, dict)
    if len(numbers) < len(warp):
        return False
    solved: dict[int, int] = {}
    for position, thread in enumerate(warp):
        for axis, index in zip("xyz", thread, strict=True):
            value = at(tid[axis], position)
            if isinstance(value, int):
                if value != index:
                    return False
                continue
            (((number,), c),) = value.terms
            unknown, rest = divmod(index - value.const, c)
            low, high = view.atoms.sizes[number]
            if rest or solved.setdefault(number, unknown) != unknown or unknown < (low or 0):
                return False
            if high is not None and unknown > high:
                return False
    return True


# --- truth values -----------------------------------------------------------------------------------------------------

NAMES = range(3)


def walk() -> _Walk:
    """A walk whose first three atoms are unknown truth values."""
    context = Context(Signature({}, {}, {}), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    view = View((), frozenset(), context, context.sigma)
    view.atoms = Atoms()
    for i in NAMES:
        view.atoms.atom(("leaf", i), 0, 1)
    return _Walk(context, view, cohorts(view, 32)[0], {}, {}, [])


def atom(w: _Walk, i: int) -> Number:
    return w.view.atoms.atom(("leaf", i), 0, 1)


def truth(w: _Walk, data: st.DataObject, depth: int) -> Number:
    """A random truth value of the unknown ones."""
    kind = data.draw(st.sampled_from(["atom", "atom", "const", "!", "&&", "||", "?:"] if depth else ["atom"]))
    match kind:
        case "atom":
            return atom(w, data.draw(st.sampled_from(NAMES)))
        case "const":
            return data.draw(st.sampled_from([0, 1]))
        case "!":
            return minus(1, truth(w, data, depth - 1))
        case "?:":
            c, a, b = (truth(w, data, depth - 1) for _ in range(3))
            return w.between(c, a, b, BOOL)
    return applied(kind, (truth(w, data, depth - 1), truth(w, data, depth - 1)), w.view.atoms)


def worlds(w: _Walk) -> list[Valuation]:
    """Every way in which the three may be true."""
    found = []
    for values in product((0, 1), repeat=3):
        here = Valuation(w.view.atoms, random.Random(0), 1)
        here.values.update(enumerate(values))
        found.append(here)
    return found


@examples(80, 5000)
@given(st.data())
def test_what_follows_from_a_truth_value_is_true_with_it(data: st.DataObject) -> None:
    w = walk()
    v = truth(w, data, 3)
    other = w.between(truth(w, data, 2), 5, plus(scaled(atom(w, 0), 7), 1), INT)
    known = dict(implied(v, w.view.atoms))
    found = w.resolved(plus(scaled(other, 3), v), known)
    for here in worlds(w):
        if here.drawn(v):
            assert all(here.atom(number) == holds for number, holds in known.items())
            assert here.drawn(found) == 3 * here.drawn(other) + 1


def test_a_choice_is_worth_what_its_condition_says() -> None:
    w = walk()
    p, q, r = (atom(w, i) for i in NAMES)
    for t, options in ((BOOL, (0, 1, q, r)), (INT, (0, 1, 5, q, scaled(r, 3)))):
        for a, b in product(options, repeat=2):
            found = w.between(p, a, b, t)
            assert all(here.drawn(found) == here.drawn(a if here.drawn(p) else b) for here in worlds(w))


def test_as_much_follows_as_is_plain() -> None:
    w = walk()
    p, q, r = (atom(w, i) for i in NAMES)
    both, either = (applied(op, (p, q), w.view.atoms) for op in ("&&", "||"))

    def of_unknowns(v: Number) -> dict[int, bool]:
        return {number: holds for number, holds in implied(v, w.view.atoms) if number in NAMES}

    assert of_unknowns(both) == {0: True, 1: True}
    assert of_unknowns(either) == of_unknowns(minus(1, both)) == {}
    assert of_unknowns(minus(1, either)) == {0: False, 1: False}
    assert of_unknowns(w.between(r, 0, both, BOOL)) == {0: True, 1: True, 2: False}
    assert of_unknowns(w.between(r, minus(1, p), 0, BOOL)) == {0: False, 2: True}
    assert of_unknowns(w.between(r, p, 1, BOOL)) == {}
    assert w.resolved(w.between(both, 4, 6, INT), {0: True, 1: False}) != 4
    assert w.resolved(w.between(p, 4, plus(q, 6), INT), {0: False, 1: True}) == 7
