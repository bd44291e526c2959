"""Values at every lane of a warp: integer polynomials over unknowns, one for all lanes or one each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import gcd

from checker.oracles.forms import (
    MAX_SHIFT,
    Atoms,
    Form,
    Mono,
    Number,
    const_of,
    content,
    minus,
    plus,
    scaled,
    terms_of,
    times,
)
from logic.operators import denote

Vec = Number | tuple[Number, ...]
"""A value at every lane of a cohort, in their order: one for all of them, or one each."""

Terms = tuple[tuple[Mono, int], ...]
"""Monomials with their coefficients."""


def at(v: Vec, i: int) -> Number:
    """The value at the lane in position i."""
    return v[i] if isinstance(v, tuple) else v


def common(v: Vec, lanes: Iterable[int]) -> Number | None:
    """The value that these lanes share, None where they do not; they are at least one."""
    if not isinstance(v, tuple):
        return v
    first, *others = (v[i] for i in lanes)
    return first if all(o == first for o in others) else None


def linear(a: Vec, b: Vec, sign: int) -> Vec | None:
    """a + b, or a - b, of values that are the same at all lanes but for a constant; None where they are not."""
    (p, x), (q, y) = _split(a), _split(b)
    if p is None or q is None:
        return None
    terms = terms_of(plus(Form(p, 0) if p else 0, scaled(Form(q, 0), sign) if q else 0))
    if isinstance(x, int) and isinstance(y, int):
        return _number(terms, x + sign * y)
    size = len(x) if not isinstance(x, int) else len(y) if not isinstance(y, int) else 0
    xs, ys = [x] * size if isinstance(x, int) else x, [y] * size if isinstance(y, int) else y
    consts = [m + sign * n for m, n in zip(xs, ys, strict=True)]
    return (
        tuple(_number(terms, c) for c in consts) if any(c != consts[0] for c in consts) else _number(terms, consts[0])
    )


def _number(terms: Terms, const: int) -> Number:
    return Form(terms, const) if terms else const


def _split(v: Vec) -> tuple[Terms | None, int | list[int]]:
    """The terms that all lanes share, one object, and the constants."""
    if not isinstance(v, tuple):
        return terms_of(v), const_of(v)
    first = terms_of(v[0])
    if any(terms_of(n) is not first for n in v):
        return None, 0
    return first, [const_of(n) for n in v]


def shifted(base: Number, by: Iterable[int]) -> Vec:
    """base + c for each constant."""
    terms, const = terms_of(base), const_of(base)
    return tuple(_number(terms, const + c) for c in by)


def applied(op: str, args: tuple[Number, ...], atoms: Atoms) -> Number:
    """An operator on integers. Of a = g * b + c with 0 <= c < g, where g divides k, more is known than `Atoms` says:
    floor(a / k) is floor(b / (k / g)), and the rest g * (b mod k / g) + c. Operators on bits are likewise taken apart
    where g is a power of two."""
    match op, args:
        case "/" | "%", (Form() as a, int() as k) if k > 0 and (low := atoms.bounds(a)[0]) is not None and low >= 0:
            rest = op == "%"
        case "&", (Form() as a, int() as mask) | (int() as mask, Form() as a) if mask > 0 and mask & (mask + 1) == 0:
            rest, k = True, mask + 1
        case "&", (Form() as a, int() as mask) | (int() as mask, Form() as a) if mask < 0 and -mask & (-mask - 1) == 0:
            return minus(a, applied("&", (a, -mask - 1), atoms)) if mask < -1 else a
        case "^" | "|" | "&", (Form() as a, int() as mask) | (int() as mask, Form() as a) if (
            unit := content(a) & -content(a)
        ) > 1:  # a power of two: the bits below it are those of the constant
            low_bits = int(denote(op, (a.const % unit, mask % unit)))
            high_bits = Form(tuple((m, f // unit) for m, f in a.terms), a.const // unit)
            return plus(scaled(atoms.apply(op, (high_bits, mask // unit)), unit), low_bits)
        case ">>", (Form() as a, int() as n) if 0 <= n <= MAX_SHIFT:
            rest, k = False, 1 << n
        case _:
            return atoms.apply(op, args)
    g = gcd(content(a), k)
    c = a.const % g
    b = plus(Form(tuple((m, f // g) for m, f in a.terms), 0), a.const // g)
    return plus(scaled(atoms.residue(b, k // g), g), c) if rest else atoms.floor(b, k // g)


def implied(v: Number, atoms: Atoms, holds: bool = True) -> Iterator[tuple[int, bool]]:
    """The unknown truth values that follow from one, by atom."""
    match v:
        case Form((((number,), 1),), 0):
            yield number, holds
            match atoms.keys[number]:
                case ("&&", Form() | int() as a, Form() | int() as b) if holds:
                    yield from (*implied(a, atoms), *implied(b, atoms))
                case ("||", Form() | int() as a, Form() | int() as b) if not holds:
                    yield from (*implied(a, atoms, False), *implied(b, atoms, False))
                case ("?:", Form() | int() as c, int() as a, Form() | int() as b) if bool(a) != holds:
                    yield from (*implied(c, atoms, False), *implied(b, atoms, holds))
                case ("?:", Form() | int() as c, Form() | int() as a, int() as b) if bool(b) != holds:
                    yield from (*implied(c, atoms), *implied(a, atoms, holds))
        case Form((((number,), -1),), 1):
            yield from implied(minus(1, v), atoms, not holds)


def substituted(v: Number, values: Mapping[int, Number]) -> Number:
    """A value with others in the place of some unknowns."""
    if isinstance(v, int) or not values:
        return v
    total: Number = v.const
    for monomial, c in v.terms:
        part: Number = c
        for number in monomial:
            part = times(part, values.get(number, Form((((number,), 1),), 0)))
        total = plus(total, part)
    return total


def origins(values: Iterable[Number], atoms: Atoms) -> set[str]:
    """The kinds of the unknowns that have a part in values."""
    todo = [a for v in values for m, _ in terms_of(v) for a in m]
    seen: set[int] = set()
    kinds: set[str] = set()
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            match atoms.keys[number]:
                case (str() as kind, *parts):
                    kinds.add(kind)
                    todo.extend(a for p in parts if isinstance(p, Form) for m, _ in p.terms for a in m)
    return kinds
