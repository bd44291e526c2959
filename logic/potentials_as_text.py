"""Potentials as text."""

from __future__ import annotations

from typing import Final

from logic.polynomials import Rational
from logic.potentials import ELEMENT, ZERO, Apply, Atom, Floor, Log2, Max0, Poly, Sym, floor_div, max0


def _show_atom(a: Atom) -> str:
    match a:
        case Sym(leaf):
            return leaf.name
        case Max0(arg):
            return f"max(0, {show(arg)})"
        case Floor(arg, k):
            return f"floor({_numerator(arg)}/{k})"
        case Log2(arg):
            return f"log2({show(arg)})"
        case Apply(op, (p,)):
            return f"{op.removeprefix(ELEMENT)}[{show(p)}]"
        case Apply(op, args):
            return f"{_NAMES[op]}({('/' if op == '/' else ', ').join(map(_numerator, args))})"


_NAMES: Final = {"/": "trunc", ">>": "shr", "&": "and", "|": "or", "^": "xor"}


def _numerator(p: Poly) -> str:
    text, (rest, minima) = show(p), _fold_minima(p)
    whole = rest == ZERO and len(minima) == 1 and minima[0][0] == 1
    return text if whole or (len(p.terms) == 1 and not text.startswith("-") and "*" not in text) else f"({text})"


def _fold_ceilings(p: Poly) -> tuple[Poly, list[tuple[Rational, str]]]:
    """Split off what reads better as c * ceil(q / k): a negative floor together with the whole multiples beside it."""
    ceilings: list[tuple[Rational, str]] = []
    for m, c in p.terms:
        if len(m) != 1 or not isinstance(m[0], Floor) or c > 0:
            continue
        inner, k = m[0].arg, m[0].k
        have = dict(p.terms)
        inside = inner * -1
        left = p - Poly(((m, c),))
        for n, _ in inner.terms:
            if n and have.get(n, 0) >= -c:
                inside = inside + Poly(((n, k),))
                left = left - Poly(((n, -c),))
        if left == p - Poly(((m, c),)) and any(x < 0 for n, x in inside.terms if n):
            continue
        if inside.constant < 0 and left.constant >= -c:
            inside, left = inside + k, left + c
        p = left
        ceilings.append((-c, f"ceil({_numerator(inside)}/{k})"))
    return p, ceilings


def _fold_quotients(p: Poly) -> tuple[Poly, list[tuple[Rational, str]]]:
    """Split off what C calls c * (q / k): c * floor(max(0, q) / k) - c * floor(max(0, -q) / k)."""
    quotients: list[tuple[Rational, str]] = []
    have = dict(p.terms)
    for m, c in p.terms:
        match m:
            case (Floor(Poly((((Max0(q),), 1),)), k),) if c > 0:
                up, down = Poly(((m, 1),)), floor_div(max0(q * -1), k)
                if have.get(down.terms[0][0]) == -c:
                    p = p - up * c + down * c
                    sign = -1 if next(x for n, x in q.terms if n) < 0 else 1
                    quotients.append((c * sign, f"trunc({_numerator(q * sign)}/{k})"))
    return p, quotients


def _fold_minima(p: Poly) -> tuple[Poly, list[tuple[Rational, str]]]:
    """Split off what reads better as c * min(k, q), neither with a minus sign: -c * max(0, k - q) beside c * k."""
    minima: list[tuple[Rational, str]] = []
    for m, c in p.terms:
        if len(m) != 1 or not isinstance(m[0], Max0) or c > 0:
            continue
        have, most = dict(p.terms), Poly(tuple((n, x) for n, x in m[0].arg.terms if x > 0))
        if all(have.get(n, 0) >= -c * x for n, x in most.terms) and most not in (ZERO, m[0].arg):
            p = p - Poly(((m, c),)) + most * c
            minima.append((-c, f"min({show(most)}, {show(most - m[0].arg)})"))
    return p, minima


def show(p: Poly) -> str:
    """p as text: `+ - *`, exact `/`, max, min, floor, ceil and log2; `checker.notation` reads it back.

    >>> from fractions import Fraction
    >>> from logic.potentials import const, floor_div, log2, sym
    >>> from logic.syntax import Param
    >>> n = sym(Param("n"))
    >>> show(n * Fraction(1, 2) - 1)
    '1/2*n - 1'
    >>> show(const(0))
    '0'
    >>> show(floor_div(n + 1, 2))
    'floor((1 + n)/2)'
    >>> show(log2(n * 2 - 1))
    'log2(2*n - 1)'
    """
    p, quotients = _fold_quotients(p)
    p, minima = _fold_minima(p)
    p, ceilings = _fold_ceilings(p)
    parts = [(c, "*".join(map(_show_atom, m))) for m, c in p.terms] + quotients + ceilings + minima
    if not parts:
        return "0"
    if parts[0][0] < 0:
        parts.sort(key=lambda part: part[0] < 0)
    text = ""
    for c, name in parts:
        size = abs(c)
        number = str(size)
        body = name if size == 1 and name else number if not name else f"{number}*{name}"
        text += (" - " if c < 0 else " + ") if text else ("-" if c < 0 else "")
        text += body
    return text
