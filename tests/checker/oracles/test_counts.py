"""Theorems 4 and 5 and Lemma 4, repaired, against enumeration (errata 7 and 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import gcd, prod
from operator import add, mul
from random import Random
from typing import Any, Final

import pytest

from checker import recheck
from checker.oracles import counts, forms
from checker.oracles.counts import gcd_lemma, one_access, span_count, stride_lemma, worst
from checker.oracles.forms import Atoms, Number, plus, scaled
from logic.metrics import HARDWARE, Hardware, conflicts, sectors
from logic.operators import c_mod
from logic.syntax import DOUBLE, FLOAT, INT, Array

NVIDIA = HARDWARE["nvidia"]
FLOATS = Array("A", "global", FLOAT, 4)


def test_lemma_4_a_run_of_multiples_hits_as_many_classes_as_the_gcd_allows() -> None:
    for n in range(1, 17):
        for a in range(20):
            c = n // gcd(a, n)
            for start in range(-3, 4):
                for m in range(1, 20):
                    assert len({i * a % n for i in range(start, start + m)}) == min(m, c)


@pytest.mark.parametrize("stride", [a for a in range(-33, 34) if a])
def test_theorem_5_half_open_is_exact_at_every_offset(stride: int) -> None:
    for lanes in range(1, 33):
        for offset in (0, 1, 5, 31):
            addresses = [4 * (stride * t + offset) for t in range(lanes)]
            assert gcd_lemma(stride, lanes, 32) == conflicts(addresses, 4, NVIDIA)


def test_theorem_5_on_32_lanes_of_stride_32_is_32_not_31() -> None:
    assert gcd_lemma(32, 32, 32) == 32


@pytest.mark.parametrize("stride", range(-33, 34))
def test_theorem_4_repaired_is_exact_for_the_worst_offset(stride: int) -> None:
    for lanes in range(1, 33):
        truth = max(sectors([4 * (stride * t + c) for t in range(lanes)], 4, NVIDIA) for c in range(8))
        assert stride_lemma(stride, lanes, 8) == truth


def test_theorem_4_as_printed_is_negative_where_two_lanes_touch_two_sectors() -> None:
    assert -3 * (2 - 1) // 1 + 1 == -2
    assert stride_lemma(-3, 2, 1) == 2


SIZES = (
    FLOATS,
    Array("D", "global", DOUBLE, 8),
    Array("C", "global", INT, 1),
    Array("F", "shared", FLOAT, 12, 4, 4),
    Array("Q", "global", FLOAT, 16),
    Array("T", "shared", INT, 3, 1, 2),
    Array("W", "global", FLOAT, 40, 0, 40),
    Array("V", "shared", FLOAT, 4, 0, 8),
    Array("H", "global", DOUBLE, 8, 4),
    Array("E", "global", FLOAT, 4, 8),
)


@pytest.mark.parametrize("array", SIZES)
@pytest.mark.parametrize("what", ["MemReads", "Conflicts"])
def test_one_row_is_exact_for_every_size_of_element(what: str, array: Array) -> None:
    count = sectors if what == "MemReads" else conflicts
    for stride in (-9, -1, 0, 1, 2, 3, 7, 8, 32, 127):
        for lanes in (1, 2, 16, 32):
            atoms = Atoms()
            row = {plus(atoms.atom("c"), stride * t) for t in range(lanes)}
            truth = max(
                count([array.stride * (stride * t + c) + array.offset for t in range(lanes)], array.width, NVIDIA)
                for c in range(128)
            )
            assert worst("MemReads" if what == "MemReads" else "Conflicts", row, array, NVIDIA, atoms).n == truth


def test_aligned_rows_are_seen_as_aligned() -> None:
    atoms = Atoms()
    row = [plus(scaled(atoms.atom("b"), 32), t) for t in range(32)]
    assert worst("MemReads", row, FLOATS, NVIDIA, atoms).n == 4
    assert worst("MemReads", [plus(v, 4) for v in row], FLOATS, NVIDIA, atoms).n == 5
    assert worst("MemReads", [plus(v, 8) for v in row], FLOATS, NVIDIA, atoms).n == 4


def rows(unit: int) -> tuple[Atoms, list[Number]]:
    atoms = Atoms()
    n, c = atoms.atom("n"), atoms.atom("c")
    return atoms, [plus(plus(scaled(n, unit * y), c), x) for y in range(2) for x in range(16)]


def test_rows_an_unknown_distance_apart_count_as_disjoint() -> None:
    atoms, values = rows(1)
    truth = max(
        sectors([4 * (n * y + c + x) for y in range(2) for x in range(16)], 4, NVIDIA)
        for n in range(16, 40)
        for c in range(8)
    )
    assert worst("MemReads", values, FLOATS, NVIDIA, atoms).n == truth == 6
    atoms, values = rows(8)
    assert worst("MemReads", values, FLOATS, NVIDIA, atoms).n == 6
    assert worst("Conflicts", values, FLOATS, NVIDIA, atoms).n == 2


@pytest.mark.parametrize("slopes", [(1, 8), (8, 1), (2, 8), (8, 12)])
def test_one_unknown_shifts_rows_by_different_amounts(slopes: tuple[int, int]) -> None:
    atoms = Atoms()
    n = atoms.atom("n")
    values = [plus(scaled(n, slope), x) for slope in slopes for x in range(16)]
    truth = max(sum(sectors([4 * (s * c + x) for x in range(16)], 4, NVIDIA) for s in slopes) for c in range(8))
    assert worst("MemReads", values, FLOATS, NVIDIA, atoms).n == truth > 4


def test_rows_too_far_apart_for_numbers_of_64_bits_are_counted() -> None:
    atoms = Atoms()
    near, far = atoms.atom("near", 0, 3), atoms.atom("far", 0, 1 << 70)
    assert worst("MemReads", [near, far, plus(near, 1), plus(far, 1)], FLOATS, NVIDIA, atoms).n == 3


def test_too_many_unknowns_are_bounded_row_by_row() -> None:
    atoms = Atoms()
    values = [plus(atoms.atom(f"u{t}"), t) for t in range(8)]
    assert worst("Conflicts", values, FLOATS, NVIDIA, atoms).n == 8


SMALL: Final = Hardware("small", sector=16, banks=4, word=4, warp=4, alignment=16)


@pytest.mark.parametrize(
    "array", [Array("S", "shared", INT, *row) for row in ((4,), (1,), (8,), (12, 4, 4), (3, 1, 2))]
)
@pytest.mark.parametrize("step", [1, 2, 4, 8, 12, 16])
def test_lanes_that_move_by_some_banks_each_by_itself(monkeypatch: pytest.MonkeyPatch, array: Array, step: int) -> None:
    """Rows of a histogram: what is read picks the row. No less than any choice of rows; exact for whole words. The
    second checker counts the same."""
    monkeypatch.setattr(counts, "MAX_COMBINATIONS", 15)  # a row alone has no more
    bytes_ = (array.stride * step) % 16
    rounds = 4 * 16 // gcd(16, bytes_)
    places = range(4), range(rounds, rounds + 4), range(2 * rounds, 2 * rounds + 4)
    for a, b in product((0, 1, 4, 13), range(4)):
        lanes = ((0, 0), (0, 2), (0, a), (1, b), (2, 1))  # the row of each, and the rest of its index
        atoms = Atoms()
        values = [plus(scaled(atoms.atom(f"u{row}"), step), c) for row, c in lanes]
        found = worst("Conflicts", values, array, SMALL, atoms).n
        truth = max(
            conflicts([array.stride * (step * us[row] + c) + array.offset for row, c in lanes], array.width, SMALL)
            for us in product(*places)
        )
        phases: Any = {
            recheck.times(recheck.single("var", f"u{row}"), step): {0: {c for r, c in lanes if r == row}}
            for row in range(3)
        }
        other = recheck.Array("shared", recheck.INT, array.stride, array.offset, array.width, SMALL.word, SMALL.banks)
        apart = sum(recheck.touched(other, phase, rows.values()) for phase, rows in phases.items())
        second = min(apart, recheck.by_class(other, phases))
        assert min(found, second) >= truth
        assert found == second == truth or bytes_ % 4 or array.width > 4


REDUCED: Final = (
    # k, g and r of the rows, and the constants of each
    ((8, 1, 0, (0, 1, 2, 3)),),
    ((8, 1, 0, (0, 3, 7, 2, 5)),),
    ((8, 1, 4, (0, 1, 2, 3)),),
    ((8, 1, 3, (0, 1, 2, 3)),),
    ((8, 2, 0, (0, 1, 2, 3)),),
    ((4, 2, 8, (0, 1, 2, 3)),),
    ((6, 1, 0, (0, 1, 2, 3)),),
    ((3, 4, 0, (0, 1, 2, 3)),),
    ((3, 1, 0, (0, 1, 2)),),
    ((16, 1, 0, (0, 1, 2, 3)), (16, 1, 4, (0, 1))),
    ((16, 1, 4, (0,)), (16, 1, 0, (4, 5))),
    ((16, 1, 0, (4, 0)), (8, 1, 0, (4, 5))),
    ((16, 1, 0, (0, 1, 2)), (None, 1, 0, (3, 16))),
)


@pytest.mark.parametrize("row", [(4,), (2,), (8,), (12, 4, 4), (4, 0, 8), (4, 4, 4), (16,)])
@pytest.mark.parametrize(("what", "space"), [("MemReads", "global"), ("Conflicts", "shared")])
def test_what_is_reduced_modulo_a_number_touches_no_more(
    monkeypatch: pytest.MonkeyPatch, what: Any, space: Any, row: tuple[int, ...]
) -> None:
    """The residue lemma, by enumeration: g*((u + c) % k) + r for every u, beside both checkers' counts."""
    monkeypatch.setattr(forms, "LOW", 1)  # small ones are written out, too
    array = Array("S", space, INT, *row)
    count, unit, banks = (sectors, SMALL.sector, 1) if what == "MemReads" else (conflicts, SMALL.word, SMALL.banks)
    other = recheck.Array(space, recheck.INT, array.stride, array.offset, array.width, unit, banks)
    for rows in REDUCED:
        atoms = Atoms()
        u, v = atoms.atom("u"), recheck.single("var", "u")
        values: list[Number] = []
        others: list[recheck.Potential] = []
        for k, g, r, consts in rows:
            for c in consts:
                d, e = plus(u, c), v + c
                values.append(plus(scaled(d if k is None else atoms.residue(d, k), g), r))
                others.append((e if k is None else e - recheck.floor_of(e, k) * k) * g + r)
        truth = max(
            count(
                [
                    array.stride * (g * (u + c if k is None else (u + c) % k) + r) + array.offset
                    for k, g, r, consts in rows
                    for c in consts
                ],
                array.width,
                SMALL,
            )
            for u in range(-48, 48)
        )
        kinds = [recheck.unreduced(other, p) for p in others]
        plain = recheck.at_indices(other, [(p, ()) for p in others], range(1), 0)
        assert worst(what, dict.fromkeys(values), array, SMALL, atoms).n >= truth
        assert recheck.at_indices(other, kinds, range(1), 0) >= truth
        assert plain >= truth


@pytest.mark.parametrize("row", [(4,), (2,), (8,), (12, 4, 4), (4, 4, 4)])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_a_ring_may_begin_anywhere_in_a_unit(space: Any, row: tuple[int, ...]) -> None:
    """The second checker's residue lemma, by enumeration, for (m*u + c) % k, whose quotient is that of a part: no less
    than at any u, and where k elements are whole units as exact as without the modulus."""
    array = Array("S", space, INT, *row)
    count, unit, banks = (sectors, SMALL.sector, 1) if space == "global" else (conflicts, SMALL.word, SMALL.banks)
    other = recheck.Array(space, recheck.INT, array.stride, array.offset, array.width, unit, banks)
    for k, m, r, consts in product((8, 16), (1, 2, 4, 6), (0, 1, 5), ((0, 1, 2, 3), (1, 2, 6), (0, 5))):
        whole = [recheck.single("var", "u") * m + c for c in consts]
        ring = [p - recheck.floor_of(p, k) * k + r for p in whole]
        own = [array.stride * ((m * u + c) % k + r) + array.offset for u in range(48) for c in consts]
        truth = max(count(own[i : i + len(consts)], array.width, SMALL) for i in range(0, len(own), len(consts)))
        found = recheck.at_indices(other, [recheck.unreduced(other, p) for p in ring], range(1), 0)
        assert found >= truth
        if k * array.stride % (unit * banks) == 0 and r == 0 and array.offset + array.width <= array.stride:
            assert found <= recheck.at_indices(other, [(p, ()) for p in whole], range(1), 0)


@pytest.mark.parametrize(
    ("stride", "rest", "whole"),
    [(4, 8, True), (4, 16, True), (4, 4, False), (12, 8, True), (12, Fraction(8, 3), False)],
)
def test_a_residue_is_told_from_whole_units_beside_it(stride: int, rest: Fraction | int, whole: bool) -> None:
    """As exact as can be: d % 8 + r*n gives way to d + r*n, where each r is whole elements, and these whole sectors."""
    array = recheck.Array("global", recheck.INT, stride, 0, 4, 32, 1)
    d, more = recheck.single("var", "u"), recheck.single("param", "n") * rest
    reduced = d - recheck.floor_of(d, 8) * 8 + more
    assert recheck.unreduced(array, reduced) == ((d + more, (8, more)) if whole else (reduced, ()))


TRUNCATED: Final = (
    *(((k, g, r, c),) for k in (4, 8, 16) for g in (1, 2, -1) for r in (0, 8) for c in ((0, 1, 2, 3), (0, 3, 6), (0,))),
    ((16, 1, 8, (0, 1, 2)), (16, 1, 8, (5,)), (16, 1, 0, (0, 1))),
    ((8, 2, 0, (0, 1, 2)), (None, 1, 0, (3, 16))),
)


def _truncated(p: recheck.Potential, k: int) -> recheck.Potential:
    """p % k as the second checker has it at a lane: max(0, .) of what is leading, and what is more."""

    def part(q: recheck.Potential) -> recheck.Potential:
        return recheck.max0(q) if recheck.leading(q) else q + recheck.max0(q * -1)

    return p - (recheck.floor_of(part(p), k) - recheck.floor_of(part(p * -1), k)) * k


def _of_truncated(what: Any, row: tuple[int, ...], rows: Any) -> tuple[int, int, int]:
    """What lanes touch at the worst u, and what the two checkers say."""
    space: Any = "global" if what == "MemReads" else "shared"
    array = Array("S", space, INT, *row)
    count, unit, banks = (sectors, SMALL.sector, 1) if what == "MemReads" else (conflicts, SMALL.word, SMALL.banks)
    other = recheck.Array(space, recheck.INT, array.stride, array.offset, array.width, unit, banks)
    atoms = Atoms()
    u, v = atoms.atom("u"), recheck.single("var", "u")
    lanes = [(k, g, r, c) for k, g, r, consts in rows for c in consts]
    values = [plus(scaled(plus(u, c) if k is None else atoms.remainder(plus(u, c), k), g), r) for k, g, r, c in lanes]
    others = [(v + c if k is None else _truncated(v + c, k)) * g + r for k, g, r, c in lanes]
    kinds = [recheck.unreduced(other, p) for p in others]
    found = recheck.at_indices(other, kinds, range(1), 0) + recheck.multiples(other, kinds)

    def addresses(u: int) -> list[int]:
        indices = [g * (u + c if k is None else c_mod(u + c, k)) + r for k, g, r, c in lanes]
        return [array.stride * i + array.offset for i in indices]

    truth = max(count(addresses(u), array.width, SMALL) for u in range(-48, 48))
    return truth, worst(what, dict.fromkeys(values), array, SMALL, atoms).n, found


@pytest.mark.parametrize("row", [(4,), (2,), (8,), (12, 4, 4), (16, 8, 8), (16,), (32, 4, 24)])
@pytest.mark.parametrize("what", ["MemReads", "Conflicts"])
def test_a_remainder_of_any_sign_touches_one_element_more(what: Any, row: tuple[int, ...]) -> None:
    """C's u % k, by enumeration of u, beside both checkers' counts."""
    for rows in TRUNCATED:
        truth, ours, second = _of_truncated(what, row, rows)
        assert ours >= truth
        assert second >= truth


@pytest.mark.parametrize("what", ["MemReads", "Conflicts"])
def test_a_remainder_of_any_sign_is_counted_exactly(what: Any) -> None:
    lanes = ((16, 1, 0, tuple(range(8))),)
    truth, ours, second = _of_truncated(what, (4,), lanes)
    assert truth == ours == second == (2 if what == "Conflicts" else 4)


def test_multiples_that_are_forgotten_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants: the sector of the multiples left out, in either checker."""
    for module, name in ((recheck, "multiples"), (counts, "_multiples")):
        monkeypatch.setattr(module, name, lambda *_: 0)
    truth, ours, second = _of_truncated("MemReads", (4,), ((16, 1, 0, tuple(range(8))),))
    assert ours < truth
    assert second < truth


@pytest.mark.parametrize(("what", "space"), [("MemReads", "global"), ("Conflicts", "shared")])
@pytest.mark.parametrize(("k", "other"), [(16, None), (16, 8), (8, 16), (None, 16), (16, 16)])
def test_what_is_reduced_is_not_near_what_is_not(
    monkeypatch: pytest.MonkeyPatch, what: Any, space: Any, k: int | None, other: int | None
) -> None:
    """(u + c) % k in some lanes and (u + m + c) % other, with an m from 0 to 3, in others: by enumeration."""
    monkeypatch.setattr(forms, "LOW", 1)
    array = Array("S", space, INT, 4)
    count = sectors if what == "MemReads" else conflicts

    def addresses(u: int, m: int) -> list[int]:
        found = [i if n is None else i % n for c in range(4) for i, n in ((u + 2 * c, k), (u + m + 2 * c, other))]
        return [4 * i for i in found]

    atoms = Atoms()
    u, m = atoms.atom("u"), atoms.atom("m", 0, 3)
    rows = [(plus(at, 2 * c), n) for c in range(4) for at, n in ((u, k), (plus(u, m), other))]
    values = [i if n is None else atoms.residue(i, n) for i, n in rows]
    truth = max(count(addresses(u, m), array.width, SMALL) for u in range(32) for m in range(4))
    assert worst(what, dict.fromkeys(values), array, SMALL, atoms).n >= truth


def test_a_ring_of_whole_sectors_is_read_like_a_row() -> None:
    atoms = Atoms()
    u = atoms.atom("u")
    values = [atoms.residue(plus(u, lane), 1024) for lane in range(32)]
    assert worst("MemReads", values, FLOATS, NVIDIA, atoms).n == 5
    assert worst("MemReads", [plus(v, 8) for v in values], FLOATS, NVIDIA, atoms).n == 5
    assert worst("MemReads", [plus(v, 4) for v in values], FLOATS, NVIDIA, atoms).n == 32
    halves = [atoms.residue(plus(scaled(u, 2), 2 * lane), 64) for lane in range(32)]
    assert worst("Conflicts", halves, FLOATS, NVIDIA, atoms).n == 2


def test_a_lane_that_may_be_anywhere_adds_a_whole_access() -> None:
    answer = worst("MemReads", [0, 1, None, None], FLOATS, NVIDIA, Atoms())
    assert answer.n == 3
    assert answer.loose
    fields = Array("F", "global", FLOAT, 12, 4, 8)
    assert one_access("MemReads", fields, NVIDIA) == 2
    assert worst("MemReads", [None] * 4, fields, NVIDIA, Atoms()).n == 8


def test_a_bounded_unknown_takes_only_its_values() -> None:
    atoms = Atoms()
    c = atoms.atom("c", 0, 2)
    row = [plus(c, t) for t in range(4)]
    assert worst("MemReads", row, Array("A", "global", DOUBLE, 8), NVIDIA, atoms).n == 2
    assert worst("MemReads", [plus(scaled(c, 4), t) for t in range(4)], FLOATS, NVIDIA, atoms).n == 1


def test_span_counts_neighbours_at_the_worst_alignment() -> None:
    assert [span_count("MemReads", FLOATS, NVIDIA, d) for d in (0, 1, 8, 9, 16, 17)] == [1, 2, 2, 3, 3, 4]
    assert [span_count("Conflicts", FLOATS, NVIDIA, d) for d in (0, 31, 32, 63, 64)] == [1, 1, 2, 2, 3]
    odd = Hardware("odd", sector=8, banks=4, word=4, warp=4, alignment=8)
    assert span_count("MemReads", Array("D", "global", DOUBLE, 8), odd, 3) == 4


Clamp = tuple[str, int, tuple[int, int], int]
"""c*op(inside, u) + r: op, c, what u is of q and as a constant, and r."""


def _clamps(inside: Any, clamps: Sequence[Clamp], q: Any, ops: Mapping[str, Any]) -> Any:
    """Inside of some clamps, by a checker's own operations."""
    for op, c, (of_q, const), r in clamps:
        u = ops["+"](ops["*"](q, of_q), const)
        inside = ops["+"](ops["*"](ops[op](inside, u), c), r)
    return inside


PLAIN: Final[dict[str, Any]] = {"+": add, "*": mul, "min": min, "max": max}


def _in_both(lanes: Sequence[tuple[tuple[int, int], Sequence[Clamp]]]) -> tuple[Atoms, Any, Any]:
    """The values of a*p + b in clamps, for one checker, and for the other in each of its forms of a maximum."""
    atoms = Atoms()
    ops = {"+": plus, "*": scaled, **{op: partial(_applied, atoms, op) for op in ("min", "max")}}
    p, q = atoms.atom("p"), atoms.atom("q")
    first = [_clamps(plus(scaled(p, a), b), clamps, q, ops) for (a, b), clamps in lanes]
    one, two = recheck.single("param", "p"), recheck.single("param", "q")
    others = []
    for part in (recheck.max0, lambda d: d + recheck.max0(d * -1)):
        theirs = {"+": recheck.plus, "*": recheck.times, **{op: partial(_binary, part, op) for op in ("min", "max")}}
        others.append([_clamps(recheck.times(one, a) + b, clamps, two, theirs) for (a, b), clamps in lanes])
    return atoms, first, others


def _applied(atoms: Atoms, op: str, a: Any, b: Any) -> Any:
    return atoms.apply(op, (a, b))


def _binary(part: Any, op: str, a: Any, b: Any) -> Any:
    return recheck.binary(op, a, b, part)


def _number(v: Any, at: Mapping[str, int], atoms: Atoms) -> int:
    """What a value of either checker is where p and q are these."""
    if isinstance(v, forms.Form):
        return v.const + sum(c * prod(_known(atoms.keys[a], at, atoms) for a in m) for m, c in v.terms)
    return int(sum(c * prod(_known(a, at, atoms) ** e for a, e in m) for m, c in recheck.terms(v)))


def _known(key: Any, at: Mapping[str, int], atoms: Atoms) -> int:
    match key:
        case ("max0", d):
            return max(0, _number(d, at, atoms))
        case ("min" | "max" as op, a, b):
            return int(PLAIN[op](*(x if isinstance(x, int) else _number(x, at, atoms) for x in (a, b))))
        case _:
            return at[key if isinstance(key, str) else key[1]]


def _ways(lanes: Sequence[tuple[tuple[int, int], Sequence[Clamp]]], by: str = "clamped") -> list[bool]:
    """Whether each checker knows ways, of which one has all values wherever p and q are."""
    atoms, first, others = _in_both(lanes)
    known: list[Sequence[Any]] = [getattr(counts, f"_{by}")(list(dict.fromkeys(first)), atoms)]
    known += [[*getattr(recheck, by)(list(dict.fromkeys(values)))] for values in others]
    for p, q in product(range(-6, 7), range(-25, 26)):
        at = {"p": p, "q": q}
        truth = {_clamps(a * p + b, clamps, q, PLAIN) for (a, b), clamps in lanes}
        assert {_number(v, at, atoms) for v in first} == truth
        for ways in known:
            assert not ways or any(truth <= {_number(v, at, atoms) for v in way} for way in ways)
    return [bool(ways) for ways in known]


ROW: Final = tuple((1, n) for n in range(5))
EVEN: Final = tuple((4, 2 * n) for n in range(5))
CLAMPED: Final[dict[str, Any]] = {
    "min(p + l, q)": (ROW, [("min", 1, (1, 0), 0)]),
    "max(p + l, q)": (ROW, [("max", 1, (1, 0), 0)]),
    "3*min(p + l, q) + 1": (ROW, [("min", 3, (1, 0), 1)]),
    "1 - 2*max(p + l, q)": (ROW, [("max", -2, (1, 0), 1)]),
    "-min(p + l, q)": (ROW, [("min", -1, (1, 0), 0)]),
    "max(min(p + l, q), 0)": (ROW, [("min", 1, (1, 0), 0), ("max", 1, (0, 0), 0)]),
    "max(2*min(p + l, q), q)": (ROW, [("min", 2, (1, 0), 0), ("max", 1, (1, 0), 0)]),
    "2*max(3*min(p + l, q), 1)": (ROW, [("min", 3, (1, 0), 0), ("max", 2, (0, 1), 0)]),
    "min(max(min(p + l, q), 0), 7)": (ROW, [("min", 1, (1, 0), 0), ("max", 1, (0, 0), 0), ("min", 1, (0, 7), 0)]),
    "min(4*p + 2*l, q)": (EVEN, [("min", 1, (1, 0), 0)]),
    "min(4*p + 2*l, 2*q + 1)": (EVEN, [("min", 1, (2, 1), 0)]),
    "min(2*p + l, 2*q)": ([(2, n) for n in range(5)], [("min", 1, (2, 0), 0)]),
    "min(p + 3*l, q)": ([(1, 3 * n) for n in range(5)], [("min", 1, (1, 0), 0)]),
    "2*min(p + 3*l, q)": ([(1, 3 * n) for n in range(5)], [("min", 2, (1, 0), 0)]),
    "min(p + l, q), some lanes": ([(1, 0), (1, 1), (1, 5), (1, 6)], [("min", 1, (1, 0), 0)]),
    "min(p + l, q), two lanes": (ROW[:2], [("min", 1, (1, 0), 0)]),
    "max(p - l, q)": ([(1, -n) for n in range(5)], [("max", 1, (1, 0), 0)]),
}


@pytest.mark.parametrize("text", CLAMPED)
def test_what_is_clamped_is_all_in_steps_or_one_value(text: str) -> None:
    rows, clamps = CLAMPED[text]
    assert all(_ways([(row, clamps) for row in rows]))


LOW_HIGH: Final[tuple[list[Clamp], list[Clamp]]] = ([("min", 1, (1, 0), 0)], [("max", 1, (1, 0), 0)])


@pytest.mark.parametrize(
    "lanes",
    [
        [(row, LOW_HIGH[row[1] % 2]) for row in ROW],
        [(row, LOW_HIGH[0] if row[1] else []) for row in ROW],
        [(row, LOW_HIGH[0] if row[1] < 4 else []) for row in ROW],
        [(row, [("min", 1, (1, row[1]), 0)]) for row in ROW],
        [(row, [("min", 1, (1, row[1] // 2), 0)]) for row in ROW],
        [((n, n), LOW_HIGH[0]) for n in range(5)],
        [((1 + n % 2, n), LOW_HIGH[0]) for n in range(5)],
        [((2, 0), [("max", 1, (2, 0), 0)]), ((1, 1), [("min", 2, (1, 0), 0)])],
        [((1, n), [("min", 1, (1, 0), n)]) for n in range(5)],
        [(row, []) for row in ROW],
        [((1, 0), LOW_HIGH[0])],
        [],
    ],
)
def test_nothing_is_said_of_lanes_that_are_clamped_apart(lanes: Any) -> None:
    """One at the greater and one at the lesser, one not at all, some at other values, rows apart, or just one value."""
    assert not any(_ways(lanes)) if lanes else counts._clamped([], Atoms()) == []


@pytest.mark.parametrize(
    "lanes",
    [
        *([(row, clamps) for row in rows] for rows, clamps in CLAMPED.values()),
        [(row, LOW_HIGH[row[1] % 2]) for row in ROW],
        [(row, LOW_HIGH[0] if row[1] else []) for row in ROW],
        [((1, n // 2), [("min", 1, (1, n % 2), 0)]) for n in range(6)],
        [((1, n // 2), [("max", 3, (1, 0), n % 2)]) for n in range(6)],
        [((1, n), [("max", 1, (0, n % 3), 0), ("min", 2, (1, 0), n)]) for n in range(4)],
    ],
)
def test_lanes_are_at_sides_of_what_clamps_them(lanes: Any) -> None:
    """All, some or none of the lanes are at one side, also where these are not the same for all lanes."""
    assert all(_ways(lanes, "sided"))


@pytest.mark.parametrize(
    "lanes", [[((n, n), LOW_HIGH[0]) for n in range(5)], [(row, []) for row in ROW], [(ROW[0], [])]]
)
def test_no_sides_are_known_of_lanes_that_are_apart_by_unknowns(lanes: Any) -> None:
    assert not any(_ways(lanes, "sided"))


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("what", ["MemReads", "Conflicts"])
def test_a_tile_with_clamped_rows_takes_no_more_than_its_dearest_rows(width: int, what: Any) -> None:
    """T[min(y + 1, q)][x] and T[max(y, p)][x] in tiles of so many columns, by both checkers and by enumeration."""
    atoms, lanes = Atoms(), [divmod(n, width) for n in range(32)]
    p, q = atoms.atom("p"), atoms.atom("q")
    here = [plus(scaled(atoms.apply("min", (atoms.apply("max", (y, p)), q)), width), x) for y, x in lanes]
    one, two = recheck.single("param", "p"), recheck.single("param", "q")
    there = []
    for y, x in lanes:
        low = recheck.binary("max", y, one, recheck.max0)
        assert low is not None
        row = recheck.binary("min", low, two, recheck.max0)
        assert row is not None
        there.append(row * width + x)
    unit, count = (NVIDIA.sector, sectors) if what == "MemReads" else (NVIDIA.word, conflicts)
    rows = range(-2, 34 // width + 2)
    truth = max(
        count([4 * (width * min(max(y, a), b) + x) for y, x in lanes], 4, NVIDIA) for a, b in product(rows, rows)
    )
    assert worst(what, here, FLOATS, NVIDIA, atoms).n == truth
    array = recheck.Array("global", recheck.INT, 4, 0, 4, unit, 1 if what == "MemReads" else NVIDIA.banks)
    ways = recheck.sided(there)
    assert max(recheck.at_indices(array, [(v, ()) for v in way], range(1), 0) for way in ways) == truth


def test_sides_are_not_looked_at_where_there_are_many() -> None:
    for most in (counts.MAX_WAYS, recheck.MAX_WAYS):
        for apart in (most - 1, most, 1 << 70):  # 0, all, and each number between
            atoms, first, others = _in_both([((1, n), LOW_HIGH[0]) for n in (0, apart)])
            assert bool(counts._sided(first, atoms)) == any(recheck.sided(others[0])) == (apart < most)


@pytest.mark.whole
def test_random_clamps_are_in_one_of_their_ways() -> None:
    random, known = Random(5), Counter[tuple[bool, ...]]()
    for _ in range(30):
        step, a = random.randint(1, 3), random.randint(0, 3)
        rows = [(a, step * n + random.randint(0, random.randint(0, 1))) for n in range(4)]
        clamps: list[Clamp] = [
            (
                random.choice(("min", "max")),
                random.choice((-2, -1, 1, 2, 3)),
                (random.randint(-1, 2), random.randint(-3, 3)),
                1,
            )
            for _ in range(random.randint(1, 2))
        ]
        spoilt = random.random() < 0.3
        other = [(op, random.choice((c, -c)), (f, k), r + random.randint(0, 1)) for op, c, (f, k), r in clamps]
        lanes = [(row, other if spoilt and not n else clamps) for n, row in enumerate(rows)]
        known[tuple(_ways(lanes))] += 1
        known[tuple(_ways(lanes, "sided"))] += 0  # only that one has all
    assert known[True, True, True] > 10


def test_steps_between_clamps_are_no_more_than_a_window() -> None:
    for most in (counts.MAX_SPAN, recheck.MAX_SPAN):
        for apart in (most - 1, most, 1 << 70):
            atoms, first, others = _in_both([((1, n), LOW_HIGH[0]) for n in (0, apart)])
            ways = counts._clamped(first, atoms) if most == counts.MAX_SPAN else recheck.clamped(others[0])
            assert bool(ways) == (apart < most)


@pytest.mark.parametrize("array", [FLOATS, Array("C", "global", INT, 1), Array("G", "global", FLOAT, 12, 4, 4)])
@pytest.mark.parametrize(
    "text", ["min(p + l, q)", "3*min(p + l, q) + 1", "1 - 2*max(p + l, q)", "max(min(p + l, q), 0)"]
)
def test_clamped_rows_touch_no_more_than_rows(text: str, array: Array) -> None:
    """Both checkers against enumeration: q before, among and behind the lanes."""
    lanes = [((32, n), CLAMPED[text][1]) for n in range(32)]
    truth = max(
        sectors(
            [array.stride * _clamps(32 * p + n, clamps, q, PLAIN) + array.offset for (_, n), clamps in lanes],
            array.width,
            NVIDIA,
        )
        for p, q in product(range(3), range(-2, 99))
    )
    atoms, first, others = _in_both(lanes)
    assert worst("MemReads", first, array, NVIDIA, atoms).n == truth
    unknown = worst("MemReads", [*first, None], array, NVIDIA, atoms).n
    assert unknown >= truth + one_access("MemReads", array, NVIDIA)
    other = recheck.Array("global", recheck.INT, array.stride, array.offset, array.width, NVIDIA.sector, 1)
    for values in others:
        here = [recheck.at_indices(other, [(v, ()) for v in way], range(1), 0) for way in recheck.clamped(values)]
        assert max(here) == truth
