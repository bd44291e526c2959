"""The laws of operators that no closed form says, each with what has to be at least 0 for it.

>>> from logic.potentials import sym
>>> from logic.syntax import Param
>>> n, m = sym(Param("n")), sym(Param("m"))
>>> [(name, str(p), [*map(str, needs)]) for name, p, needs in laws(Apply("/", (n, m)))][:2]
[('over', 'm + m*trunc(n/m) - 1 - n', ['m - 1']), ('under', 'm + n - 1 - m*trunc(n/m)', ['m - 1'])]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from logic.potentials import Apply, Poly, atom

Law = tuple[str, Poly, tuple[Poly, ...]]
"""A law's name, what is at least 0 by it, and what has to be for that."""


def laws(a: Apply) -> Iterator[Law]:
    """The laws of an operator's value v."""
    (p, q), v = cast("tuple[Poly, Poly]", a.args), atom(a)
    match a.op:
        case "/":
            rest = p - q * v  # has the sign of p, and is less than q
            yield "over", q - 1 - rest, (q - 1,)
            yield "under", q - 1 + rest, (q - 1,)
            yield "rest", rest, (p,)
            yield "sign", v, (p, q)
            yield "less", p - v, (p,)
            yield "negative", v * -1, (p * -1, q)
        case ">>":
            yield "sign", v, (p,)
            yield "less", p - v, (p,)
            yield "negative", v * -1, (p * -1,)
        case "&":
            yield "sign", v, (p,)
            yield "less", p - v, (p,)
            yield "sign of 2nd", v, (q,)
            yield "less than 2nd", q - v, (q,)
        case "|":
            yield "more", v - p, (q,)
            yield "more than 2nd", v - q, (p,)
            yield "sum", p + q - v, (p,)
            yield "sum by 2nd", p + q - v, (q,)
        case "^":
            yield "sign", v, (p, q)
            yield "sum", p + q - v, (p,)
            yield "sum by 2nd", p + q - v, (q,)
