"""The polynomials that lanes compute with: C's operators, and what bounds may be believed."""

from __future__ import annotations

from itertools import product

import pytest

from checker.oracles import forms
from checker.oracles.forms import Atoms, Form, Number, const_of, minus, plus, scaled, terms_of, times
from logic.operators import COMPARISONS, c_div, c_mod, denote

KS = (-8, -3, -2, -1, 0, 1, 2, 3, 4, 6, 7, 8)


def real(v: Number, atoms: Atoms, values: dict[object, int]) -> int:
    """The value of a form, by the meaning of its atoms' keys."""
    if isinstance(v, int):
        return v
    total = v.const
    for m, c in v.terms:
        for number in m:
            c *= meaning(atoms, number, values)
        total += c
    return total


def meaning(atoms: Atoms, number: int, values: dict[object, int]) -> int:
    match atoms.keys[number]:
        case ("floor", (int() | Form()) as a, int() as k):
            result = real(a, atoms, values) // k
        case ("residue", (int() | Form()) as a, int() as k):
            result = real(a, atoms, values) % k
        case (">=0", Form() as a):
            result = int(real(a, atoms, values) >= 0)
        case ("==0", Form() as a):
            result = int(real(a, atoms, values) == 0)
        case (str() as op, *args):
            result = int(denote(op, tuple(real(a, atoms, values) for a in args if isinstance(a, int | Form))))
        case key:
            result = values[key]
    low, high = atoms.sizes[number]
    assert low is None or low <= result, atoms.keys[number]
    assert high is None or result <= high, atoms.keys[number]
    return result


@pytest.mark.parametrize("op", ["/", "%", ">>", "<<", "&", "|", "^", "min", "max", "+", "-", "*", *COMPARISONS])
@pytest.mark.parametrize("bounds", [(None, None), (0, None), (None, 0), (-2, 5), (3, 3)])
def test_operators_on_forms_mean_what_c_means(op: str, bounds: tuple[int | None, int | None]) -> None:
    low, high = bounds
    for slope, shift, k, swap in product((1, -1, 2, 4, 6), (-5, 0, 1, 4), KS, (False, True)):
        atoms = Atoms()
        a = plus(scaled(atoms.atom("a", low, high), slope), shift)
        v = atoms.apply(op, (k, a) if swap else (a, k))
        for x in range(-9 if low is None else low, 10 if high is None else high + 1):
            here = slope * x + shift
            if swap and op in ("<<", ">>") and here > 64:
                continue
            want = denote(op, (k, here) if swap else (here, k))
            assert real(v, atoms, {"a": x}) == want, (slope, shift, k, swap, x)


@pytest.mark.parametrize("c", [0, 1, 3, 5, 15, 31])
def test_masks_that_clear_bits_leave_lanes_told_apart(c: int) -> None:
    """a & ~c is known but for a multiple of what is below the highest bit of c."""
    for t in range(40):
        atoms = Atoms()
        v = atoms.apply("&", (plus(scaled(atoms.atom("n"), 32), t), -1 - c))
        assert (terms_of(v), const_of(v)) == ((((0,), 32),), t & ~c)


@pytest.mark.parametrize(("op", "k"), [("&", 63), ("&", 127), ("%", 64), ("%", 96), ("&", 31)])
@pytest.mark.parametrize("low", [None, 0, 40])
def test_large_residues_are_what_is_left_of_multiples(op: str, k: int, low: int | None) -> None:
    """They are in their range, whatever is added; and what is added by multiples of k is not seen in them."""
    for slope, shift in product((1, 32, 40, -33), (0, 5, -70)):
        atoms = Atoms()
        a = plus(scaled(atoms.atom("a", low), slope), shift)
        v = atoms.apply(op, (a, k))
        bounds = atoms.bounds(v)
        for x in range(-200 if low is None else low, 200):
            want = denote(op, (slope * x + shift, k))
            assert real(v, atoms, {"a": x}) == want
            assert bounds[0] is None or bounds[0] <= want
            assert bounds[1] is None or want <= bounds[1]
        if op == "&":
            assert bounds[0] is not None
            assert bounds[1] is not None
            assert 0 <= bounds[0] <= bounds[1] <= k


@pytest.mark.parametrize("op", ["^", "|"])
def test_low_bits_are_told_from_the_others(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes of a warp exchanged: a ^ (8*b + c) is a multiple of 4, the same for all c below 4, and what is below 4."""
    monkeypatch.setattr(forms, "LOW", 4)
    atoms = Atoms()
    lanes = [atoms.apply(op, (atoms.atom("a"), plus(scaled(atoms.atom("b"), 8), c))) for c in range(4)]
    for x, y, c in product(range(-9, 11), range(-9, 11), range(4)):
        assert real(lanes[c], atoms, {"a": x, "b": y}) == denote(op, (x, 8 * y + c))
    assert len({tuple((m, k) for m, k in terms_of(v) if k % 4 == 0) for v in lanes}) == 1
    rests = [Form(tuple((m, k) for m, k in terms_of(v) if k % 4), const_of(v)) for v in lanes]
    assert [atoms.bounds(v) for v in rests] == [(0, 3)] * 4


@pytest.mark.parametrize("op", ["/", "%", "&", "|", "^", "min", "max", "*", "==", "<"])
def test_operators_on_two_unknowns(op: str) -> None:
    for low in (None, 0, 1):
        atoms = Atoms()
        v = atoms.apply(op, (atoms.atom("a", low), atoms.atom("b", low)))
        for x, y in product(range(-9 if low is None else low, 10), repeat=2):
            assert real(v, atoms, {"a": x, "b": y}) == denote(op, (x, y))


@pytest.mark.parametrize("op", ["neg", "~", "abs", "bool", "int"])
def test_unary_operators(op: str) -> None:
    atoms = Atoms()
    v = atoms.apply(op, (plus(atoms.atom("a"), 1),))
    for x in range(-9, 10):
        assert real(v, atoms, {"a": x}) == int(denote(op, (x + 1,)))


def test_a_remainder_of_unknown_sign_is_not_a_residue() -> None:
    atoms = Atoms()
    a = plus(scaled(atoms.atom("n"), 16), 3)
    assert not isinstance(atoms.remainder(a, 16), int)
    assert atoms.remainder(plus(scaled(atoms.atom("p", 0), 16), 3), 16) == 3
    assert atoms.remainder(plus(scaled(atoms.atom("q", None, -1), 16), 3), 16) == -13


def test_a_congruence_is_decided_whatever_the_sign() -> None:
    atoms = Atoms()
    a = scaled(atoms.atom("n"), 32)
    assert atoms.apply("==", (atoms.remainder(plus(a, 3), 2), 0)) == 0
    assert atoms.apply("==", (atoms.remainder(plus(a, 4), 2), 0)) == 1
    assert atoms.apply("==", (atoms.remainder(plus(a, 3), 2), 2)) == 0
    assert not isinstance(atoms.apply("==", (atoms.remainder(plus(a, 3), 2), 1)), int)


def test_bounds_follow_from_facts() -> None:
    atoms = Atoms()
    s, n = atoms.atom("s"), atoms.atom("n", None, 256)
    atoms.at_least(plus(s, -1))
    atoms.at_least(plus(n, scaled(plus(scaled(s, 3), 1), -1)))
    assert atoms.bounds(s) == (1, 85)
    assert atoms.bounds(n) == (4, 256) or atoms.bounds(n) == (None, 256)
    assert atoms.bounds(plus(scaled(s, -2), 7)) == (-163, 5)
    assert atoms.bounds(times(atoms.atom("u", -2, 3), atoms.atom("v", -5, 1))) == (None, None)
    assert atoms.bounds(times(s, s)) == (1, 85 * 85)


def shaped(atoms: Atoms, v: Number, n: Number) -> list[Number]:
    """Functions of v that take no two values farther apart."""
    return [
        v,
        atoms.floor(v, 3),
        atoms.quotient(v, 4),
        atoms.quotient(v, n),
        atoms.apply("min", (v, n)),
        atoms.apply("max", (scaled(n, 2), v)),
        atoms.apply("min", (plus(n, 3), atoms.apply("max", (v, 0)))),
        plus(atoms.floor(v, 5), atoms.quotient(plus(v, n), n)),
    ]


@pytest.mark.parametrize("shape", range(8))
@pytest.mark.parametrize("far", [(0, 0), (0, 1), (1, 0), (7, 0), (-3, 4)])
def test_how_far_values_are_apart(shape: int, far: tuple[int, int]) -> None:
    """Of f(x + a) - f(x + b), for divisors of either sign: never more, and what is said is reached, or nearly."""
    atoms = Atoms()
    x, n = atoms.atom("x"), atoms.atom("n")
    u, v = (shaped(atoms, plus(x, d), n)[shape] for d in far)
    for sign in (1, -1):
        ends = atoms.apart(minus(u, v), n, sign)
        assert ends is not None
        seen = {
            real(u, atoms, {"x": i, "n": sign * j}) - real(v, atoms, {"x": i, "n": sign * j})
            for i, j in product(range(-30, 31), range(1, 9))
        }
        assert ends[0] <= min(seen) <= max(seen) <= ends[1]
        assert ends[1] - ends[0] <= 2 * abs(far[0] - far[1])


def test_values_that_may_be_anywhere_from_each_other() -> None:
    atoms = Atoms()
    x, y, n = atoms.atom("x"), atoms.atom("y"), atoms.atom("n")
    assert atoms.apart(minus(x, y)) is None
    assert atoms.apart(minus(atoms.quotient(plus(x, 1), n), atoms.quotient(x, n))) is None  # which sign has n?
    assert atoms.apart(minus(atoms.quotient(plus(x, 1), n), atoms.quotient(x, y)), n) is None
    assert atoms.apart(minus(atoms.quotient(plus(x, 1), y), atoms.quotient(x, y)), n) is None
    assert atoms.apart(minus(atoms.floor(plus(x, 1), 3), atoms.floor(x, 5))) is None
    assert atoms.apart(minus(atoms.floor(plus(x, 1), 3), scaled(atoms.floor(x, 3), 2))) is None
    assert atoms.apart(minus(times(x, plus(y, 1)), times(x, x))) is None


def test_division_by_zero_is_as_defined() -> None:
    atoms = Atoms()
    a = atoms.atom("a")
    assert atoms.quotient(a, 0) == c_div(5, 0)
    assert atoms.remainder(a, 0) == a
    assert c_mod(5, 0) == 5
