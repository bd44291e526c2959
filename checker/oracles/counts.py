"""MemReads and Conflicts of index values at the lanes of a warp: closed forms first, residues otherwise (section 10).

The unknown uniform part of an index matters by its residue only, because whole sectors, and whole words within the
banks, can be shifted without changing a count. Bases are aligned to `Hardware.alignment`, a multiple of both units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from math import gcd, prod
from typing import Literal

from checker.oracles.forms import Atoms, Form, Mono, Number, const_of, minus, plus, scaled, terms_of, times
from logic.metrics import Hardware, conflicts, sectors, touched
from logic.syntax import Array

What = Literal["MemReads", "Conflicts"]

MAX_COMBINATIONS = 4096
"""The number of joint residues of the uniform unknowns that are tried before their rows are bounded one by one."""


MAX_WAYS = 64
"""Ways in which each min and max of an index may be one of its sides."""

MAX_SPAN = 4096
"""Of the indices in a window."""


@dataclass(frozen=True, slots=True)
class Count:
    """An upper bound, `loose` where it may not be the least: rows were taken as disjoint or lanes as unknown."""

    n: int
    engine: str
    loose: bool


def gcd_lemma(stride: int, lanes: int, banks: int) -> int:
    """Theorem 5 with half-open lanes (erratum 7): Conflicts of stride * lane + c, stride not 0, one-word elements."""
    return -(-lanes // min(lanes, banks // gcd(stride, banks)))


def stride_lemma(stride: int, lanes: int, per_sector: int) -> int:
    """Theorem 4 repaired (errata 7, 8): MemReads of stride * lane + c for the worst c, elements dividing a sector."""
    return min(lanes, -(-abs(stride) * (lanes - 1) // per_sector) + 1)


def one_access(what: What, array: Array, hw: Hardware) -> int:
    """The most sectors, or the most words in one bank, that a single element can touch wherever it lies."""
    return span_count(what, array, hw, 0)


@lru_cache(maxsize=4096)
def span_count(what: What, array: Array, hw: Hardware, span: int) -> int:
    """The count when the lanes touch every element of index c .. c + span, for the worst c."""
    unit, count = (hw.sector, sectors) if what == "MemReads" else (hw.word, conflicts)
    return max(
        count([array.stride * (c + i) + array.offset for i in range(span + 1)], array.width, hw)
        for c in range(unit // gcd(unit, array.stride))
    )


Groups = dict[tuple[tuple[Mono, int], ...], tuple[int, ...]]
"""Symbolic part of an index, to the constants that lanes add to it."""


def worst(what: What, values: Iterable[Number | None], array: Array, hw: Hardware, atoms: Atoms) -> Count:
    """The most that active lanes with these index values can touch; None is a lane that may be anywhere.

    Equal values are given once only, except None, which is given once a lane.
    """
    given = [*values]
    found = _worst(what, given, array, hw, atoms)
    known = [v for v in given if v is not None]
    for ways_of in (_clamped, _sided) if len(known) == len(given) else ():
        if found.n > 1:
            ways = ways_of(known, atoms)
            most = max((_worst(what, way, array, hw, atoms) for way in ways), key=lambda c: c.n, default=found)
            found = min(found, most, key=lambda c: c.n)
    return found


def _clamped(values: Sequence[Number], atoms: Atoms, step: int = 0) -> list[list[Number]]:
    """Of values that are each w or one u, all the lesser or all the greater of both: ways of which one has all that
    they are.

    Where the w differ by constants, let s divide these and what u - w is a multiple of. The values are all u, or are in
    steps of s between the least and the largest w: if u is between these, it is in a step, and else beyond all of
    them. The same holds of what is so clamped once more. No ways for all else.
    """
    for up, _, u, _ in _ends(values[0], atoms) if len(values) > 1 else ():
        ends = [next(((c, w) for way, c, end, w in _ends(v, atoms) if (way, end) == (up, u)), (0, v)) for v in values]
        if all(c for c, _ in ends) and (
            ways := _clamped([w for _, w in ends], atoms, gcd(step, *(c for c, _ in ends)))
        ):
            return [*ways, [u]]
    if not step or len({terms_of(v) for v in values}) > 1:
        return []
    numbers = [const_of(v) - const_of(values[0]) for v in values]
    window = range(min(numbers), max(numbers) + 1, gcd(step, *numbers))
    return [] if window[MAX_SPAN:] else [[plus(values[0], n) for n in window]]  # len is for numbers of 64 bits


def _sided(values: Sequence[Number], atoms: Atoms, most: int = MAX_WAYS) -> list[list[Number]]:
    """Values with what each min(a, b) and max(a, b) is, for each r of which a - b is r + c for several c: ways of which
    one has all that they are.

    Either r + c is at most 0 for all c, or at least 0 for all, or r is one of the numbers between. No ways for many.
    """
    found: dict[tuple[tuple[Mono, int], ...], dict[int, tuple[bool, Number, Number, int]]] = {}
    for n in sorted({n for v in values for n in _clamps(v, atoms)}):
        match atoms.keys[n]:
            case ("min" | "max" as op, Form() | int() as a, Form() | int() as b) if isinstance(d := minus(a, b), Form):
                if d.terms[0][1] < 0:
                    a, b, d = b, a, scaled(d, -1)
                found.setdefault(terms_of(d), {})[n] = op == "max", a, b, const_of(d)
    ends = {r: sorted(c for *_, c in of.values()) for r, of in found.items()}
    between = {r: range(1 - cs[-1], -cs[0]) for r, cs in ends.items() if cs[0] < cs[-1]}
    number = prod(numbers.stop - numbers.start + 2 for numbers in between.values())
    if not between or number > most:
        return []
    ways = [list(values)]
    for r, numbers in between.items():
        lesser = {n: b if is_max else a for n, (is_max, a, b, _) in found[r].items()}  # where a is at most b
        larger = {n: a if is_max else b for n, (is_max, a, b, _) in found[r].items()}
        signs = {n: (1 if is_max else -1, c) for n, (is_max, _, _, c) in found[r].items()}
        images = [lesser, larger]
        images += [{n: plus(lesser[n], sign * max(0, k + c)) for n, (sign, c) in signs.items()} for k in numbers]
        ways = [[_replaced(v, image, atoms) for v in way] for way in ways for image in images]
    return [inner for way in ways for inner in _sided(way, atoms, most // number) or [way]]


def _clamps(v: Number, atoms: Atoms) -> Iterator[int]:
    """The atoms min(a, b) and max(a, b) in a value, at every depth of these."""
    for n in (n for m, _ in terms_of(v) for n in m):
        match atoms.keys[n]:
            case ("min" | "max", Form() | int() as a, Form() | int() as b):
                yield n
                yield from _clamps(a, atoms)
                yield from _clamps(b, atoms)


def _replaced(v: Number, image: Mapping[int, Number], atoms: Atoms) -> Number:
    """v with values in place of atoms, also inside of min and max."""
    found: Number = const_of(v)
    for m, c in terms_of(v):
        term: Number = c
        for n in m:
            term = times(term, _image(n, image, atoms))
        found = plus(found, term)
    return found


def _image(n: int, image: Mapping[int, Number], atoms: Atoms) -> Number:
    if n in image:
        return image[n]
    match atoms.keys[n]:
        case ("min" | "max" as op, Form() | int() as a, Form() | int() as b):
            return atoms.apply(op, (_replaced(a, image, atoms), _replaced(b, image, atoms)))
    return Form((((n,), 1),), 0)


def _ends(v: Number, atoms: Atoms) -> Iterator[tuple[bool, int, Number, Number]]:
    """Both ends of each c*min(a, b) or c*max(a, b) in a sum, in either order: whether it is their larger one, and c."""
    for m, c in terms_of(v):
        match atoms.keys[m[0]] if len(m) == 1 else None:
            case ("min" | "max" as op, Form() | int() as a, Form() | int() as b):
                rest = minus(v, Form(((m, c),), 0))
                one, other = plus(rest, scaled(a, c)), plus(rest, scaled(b, c))
                up = (op == "max") == (c > 0)
                yield from ((up, c, one, other), (up, c, other, one))


def _worst(what: What, values: Iterable[Number | None], array: Array, hw: Hardware, atoms: Atoms) -> Count:
    """The same by rows, whatever is clamped."""
    rows: dict[tuple[tuple[Mono, int], ...], set[int]] = {}
    anywhere = 0
    for v in values:
        if v is None:
            anywhere += 1
        else:
            rows.setdefault(terms_of(v), set()).add(const_of(v))
    groups: Groups = {terms: tuple(sorted(row)) for terms, row in rows.items()}
    extra = anywhere * one_access(what, array, hw)
    if not groups:
        return Count(extra, "closed-form", anywhere > 1)
    found = _of_rows(what, groups, anywhere, extra, array, hw, atoms)
    kinds = _unreduced(what, groups, array, hw, atoms)
    parts = [_of_rows(what, part, 0, 0, array, hw, atoms) for part in kinds.values()]
    whole = sum(part.n for part in parts) + extra + (_multiples(kinds, array, hw) if what == "MemReads" else 0)
    if not parts or found.n <= whole:
        return found
    return Count(whole, parts[0].engine, anywhere > 0 or len(parts) > 1 or parts[0].loose)


@dataclass(frozen=True, slots=True)
class Truncated:
    """Of rows that are g*(d % k) + r with C's %, for d of any sign: g*k and r."""

    size: int
    rest: Number


def _of_rows(what: What, groups: Groups, anywhere: int, extra: int, array: Array, hw: Hardware, atoms: Atoms) -> Count:
    if anywhere == 0 and len(groups) == 1 and (closed := _closed_form(what, groups, array, hw)):
        return closed
    known = _known_lanes(what, groups, array, hw, atoms)
    if len(groups) > 1 and (window := _window(groups, atoms)):
        known = min(known, _known_lanes(what, window, array, hw, atoms))
    if len(groups) > 1:
        joined = (near.items() for near in _near(groups, atoms))
        known = min(known, max(sum(_known_lanes(what, {t: c}, array, hw, atoms) for t, c in near) for near in joined))
    return Count(known + extra, "lanes", anywhere > 0 or len(groups) > 1)


def _multiples(kinds: Iterable[object], array: Array, hw: Hardware) -> int:
    """The sectors of the multiples of k in C's d % k: those of one element for each kind, which is r."""
    return sectors([array.offset], array.width, hw) * sum(isinstance(kind, Truncated) for kind in kinds)


def _unreduced(what: What, groups: Groups, array: Array, hw: Hardware, atoms: Atoms) -> dict[object, Groups]:
    """The rows with g*d + r in place of each g*(d % k) + r, those of each g*k and r by themselves; none without these.

    They touch no less (the residue lemma): where g*k elements are whole sectors, or rounds of the banks, and r whole
    sectors, or words, then the sector, or word, of an element of g*d + r says how often k was taken away, so it says
    the one that is touched, too, which is a whole number of sectors, or of rounds, away. Rows with another g*k
    or r, or that are not reduced, are any number of these away: what is near to what says nothing about them.

    C's % takes k away once less from a negative d, but not from a multiple of k. All of these become r: that is one
    sector more, and no word more, where each element has words of its own.
    """
    unit = hw.sector if what == "MemReads" else hw.word
    period = unit if what == "MemReads" else unit * hw.banks
    if array.offset + array.width > array.stride:
        return {}
    found: dict[object, dict[tuple[tuple[Mono, int], ...], set[int]]] = {}
    for terms, consts in groups.items():
        for const in consts:
            whole, kind = _whole(Form(terms, const), what, array.stride, unit, period, atoms)
            found.setdefault(kind, {}).setdefault(terms_of(whole), set()).add(const_of(whole))
    if not any(found):
        return {}
    return {kind: {terms: tuple(sorted(row)) for terms, row in rows.items()} for kind, rows in found.items()}


def _whole(a: Form, what: What, stride: int, unit: int, period: int, atoms: Atoms) -> tuple[Number, object]:
    """g*d + r, and which g*k and r, for an a that is g*(d % k) + r; a, and None, for all else."""
    for m, c in a.terms:
        key = atoms.keys[m[0]] if len(m) == 1 else None
        match key:
            case ("floor", Form() | int() as d, int() as k) if c < 0 and c % k == 0 and c * stride % period == 0:
                whole = minus(a, Form(((m, c),), 0))
                rest = minus(whole, scaled(d, -c // k))
                if _in_units(rest, stride, unit):
                    return whole, (c, rest)
            case ("%", Form() as d, int() as k) if c * k * stride % period == 0:
                rest = minus(a, Form(((m, c),), 0))
                if _in_units(rest, stride, unit) and (what == "MemReads" or stride % unit == 0):
                    return plus(rest, scaled(d, c)), Truncated(abs(c) * k, rest)
    return a, None


def _in_units(rest: Number, stride: int, unit: int) -> bool:
    return all(c * stride % unit == 0 for c in (const_of(rest), *(c for _, c in terms_of(rest))))


def _closed_form(what: What, groups: Groups, array: Array, hw: Hardware) -> Count | None:
    ((terms, consts),) = groups.items()
    steps = {b - a for a, b in pairwise(consts)}
    lanes, stride = len(consts), next(iter(steps), 1)
    if len(steps) > 1 or array.width != array.stride:
        return None
    if what == "Conflicts" and array.stride == hw.word and array.offset % hw.word == 0:
        return Count(gcd_lemma(stride, lanes, hw.banks), "gcd-lemma", False)
    if what == "MemReads" and hw.sector % array.stride == 0 and array.offset % array.stride == 0:
        per_sector = hw.sector // array.stride
        if terms and gcd(per_sector, *(c for _, c in terms)) == 1:
            return Count(stride_lemma(stride, lanes, per_sector), "closed-form", False)
    return None


def _window(groups: Groups, atoms: Atoms) -> Groups | None:
    """All indices between the least and the largest, from what the rows have in common; None for too many."""
    common = frozenset(next(iter(groups))).intersection(*groups)
    ends: list[int] = []
    for terms, consts in groups.items():
        own = tuple(term for term in terms if term not in common)
        low, high = atoms.bounds(Form(own, 0)) if own else (0, 0)
        if low is None or high is None:
            return None
        ends += [low + consts[0], high + consts[-1]]
    shared = tuple(term for term in next(iter(groups)) if term in common)
    span = range(min(ends), max(ends) + 1)
    return None if span[MAX_SPAN:] else {shared: tuple(span)}


def _near(groups: Groups, atoms: Atoms) -> list[Groups]:
    """The rows, each joined to the first one whose distance from it has bounds, with all indices in these bounds; once
    for each sign of the one divisor in them that is not known, if there is one (by 0, quotients are 0)."""
    keys = (atoms.keys[a] for terms in groups for m, _ in terms for a in m)
    divisor = next((k[2] for k in keys if isinstance(k, tuple) and k[0] == "/" and isinstance(k[2], Form)), 1)
    return [_joined(groups, atoms, divisor, sign) for sign in ((1, -1) if isinstance(divisor, Form) else (1,))]


def _joined(groups: Groups, atoms: Atoms, divisor: Number, sign: int) -> Groups:
    found: dict[tuple[tuple[Mono, int], ...], set[int]] = {}
    weight = {terms: sum(c for _, c in terms) for terms in groups}  # rows of another one are in no way near
    for terms, consts in sorted(groups.items()):  # by atoms: from the first lane on, where these are of lanes
        like = (first for first in found if weight[first] == weight[terms])
        ends = ((first, atoms.apart(minus(Form(terms, 0), Form(first, 0)), divisor, sign)) for first in like)
        first, (low, high) = next(((f, e) for f, e in ends if e and e[1] - e[0] < MAX_SPAN), (terms, (0, 0)))
        found.setdefault(first, set()).update(i for c in consts for i in range(c + low, c + high + 1))
    return {terms: tuple(sorted(row)) for terms, row in found.items()}


def _known_lanes(what: What, groups: Groups, array: Array, hw: Hardware, atoms: Atoms) -> int:
    unit = hw.sector if what == "MemReads" else hw.word
    period = unit if what == "MemReads" or len(groups) == 1 else hw.banks * unit
    shifts = _shifts(groups, array.stride, period, unit, atoms)
    if shifts is None:
        known = sum(_known_lanes(what, {terms: consts}, array, hw, atoms) for terms, consts in groups.items())
        return known if what == "MemReads" else min(known, _by_class(groups, array, hw) or known)
    if len(groups) == 1:
        ((consts,), step) = groups.values(), period // gcd(period, array.stride)
        start = consts[0] - consts[0] % step  # whole periods away
        near = tuple(array.stride * (c - start) + array.offset for c in consts)
        return _of_row(what, near, tuple(shift for (shift,) in shifts), array.width, hw)
    units = _touched_sectors if what == "MemReads" else _touched_banks
    memo: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
    most, cap = 0, sum(map(len, groups.values())) * one_access(what, array, hw)
    for shift_of in shifts:
        total: dict[int, int] = {}
        for row, (consts, shift) in enumerate(zip(groups.values(), shift_of, strict=True)):
            here = memo.get((row, shift))
            if here is None:
                here = (*units([array.stride * c + array.offset + shift for c in consts], array.width, hw).items(),)
                memo[row, shift] = here
            for bank, n in here:
                total[bank] = total.get(bank, 0) + n
        most = max(most, *total.values())
        if most == cap:
            break
    return most


@lru_cache(maxsize=1 << 14)
def _of_row(what: What, addresses: tuple[int, ...], shifts: tuple[int, ...], width: int, hw: Hardware) -> int:
    """The most that one row touches, moved by any of the shifts."""
    units = _touched_sectors if what == "MemReads" else _touched_banks
    return max(max(units([a + shift for a in addresses], width, hw).values()) for shift in shifts)


def _by_class(groups: Groups, array: Array, hw: Hardware) -> int | None:
    """The most words in one bank where each row moves by a multiple of so many banks, and by itself: the classes of
    banks modulo that number keep their words, and of each row the worst bank of a class counts. None where rows may
    move by a part of a word."""
    moved = gcd(hw.banks * hw.word, *(array.stride * c for terms in groups for _, c in terms))
    if moved % hw.word:
        return None
    total: Counter[int] = Counter()
    for consts in groups.values():
        most: dict[int, int] = {}
        for bank, n in _touched_banks([array.stride * c + array.offset for c in consts], array.width, hw).items():
            of = bank % (moved // hw.word)
            most[of] = max(n, most.get(of, 0))
        total.update(most)
    return max(total.values())


def _touched_sectors(addresses: list[int], width: int, hw: Hardware) -> Counter[int]:
    return Counter({0: sectors(addresses, width, hw)})


def _touched_banks(addresses: list[int], width: int, hw: Hardware) -> Counter[int]:
    return Counter(w % hw.banks for w in touched(addresses, width, hw.word))


def _shifts(groups: Groups, stride: int, period: int, unit: int, atoms: Atoms) -> Iterable[tuple[int, ...]] | None:
    """Every way in which the unknowns can shift the rows' addresses modulo `period`; None for too many. Ways that move
    several rows together by a number of units touch the same, in other banks, and are one."""
    coefficients: dict[Mono, int] = {}
    for terms in groups:
        for m, c in terms:
            coefficients[m] = gcd(c, coefficients.get(m, 0))
    if len(groups) == 1 and len(coefficients) > 1:
        return [(shift,) for shift in range(0, period, gcd(period, stride * gcd(*coefficients.values())))]
    values: list[range] = []
    for m, c in coefficients.items():
        size = period // gcd(period, stride * c)
        low, high = atoms.bounds(Form(((m, 1),), 0))
        few = low is not None and high is not None and low <= high < low + size
        values.append(range(low, high + 1) if few and low is not None and high is not None else range(size))
    if prod(map(len, values)) > MAX_COMBINATIONS:
        return None
    return _moves(groups, stride, period, unit, dict(zip(coefficients, values, strict=True)))


def _moves(
    groups: Groups, stride: int, period: int, unit: int, values: Mapping[Mono, range]
) -> Iterator[tuple[int, ...]]:
    seen: set[tuple[int, ...]] = set()
    place = {m: i for i, m in enumerate(values)}
    for chosen in product(*values.values()):
        found = [stride * sum(c * chosen[place[m]] for m, c in terms) for terms in groups]
        whole = found[0] - found[0] % unit
        move = tuple([(shift - whole) % period for shift in found])
        if move not in seen:
            seen.add(move)
            yield move
