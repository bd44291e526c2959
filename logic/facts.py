"""What facts say: of conditions that hold, the numbers that leaves are, the polynomials that they are, and what is
nonnegative.

>>> from logic.syntax import Const, Op, Param, Var
>>> n, x, y = Param("n"), Var("x"), Var("y")
>>> facts = [Op("==", (x, Const(3))), Op("==", (Op("-", (y, Const(1))), n)), Op("<", (x, n))]
>>> numbers(facts)
{Var(name='x'): 3}
>>> {leaf.name: str(p) for leaf, p in definitions(facts).items()}
{'y': '1 + n', 'x': '3'}
>>> [str(p) for fact in facts for p in nonnegative(fact)]
['3 - x', 'x - 3', '1 + n - y', 'y - 1 - n', 'n - 1 - x']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import permutations
from math import ceil, prod
from typing import Final

from logic.operators import denote
from logic.potentials import Leaf, Poly, Sym, const, leaves, of_expr, substitute, sym
from logic.syntax import Const, Expr, Op, Param, Tid, Type, Var

MAX_CHAIN: Final = 8
"""Of definitions by definitions."""

MAX_BITS: Final = 256
"""Of what is known to be a number: a certificate has no larger ones, and squares of squares would grow for ever."""


def numbers(facts: Iterable[Expr]) -> dict[Leaf, int]:
    """The variables, parameters and axes of tid that facts equate with a number, or with what is known to be one."""
    found: dict[Leaf, int] = {}
    equations = [(a, b) for c in facts if isinstance(c, Op) and c.op == "==" for a, b in permutations(c.args)]
    for _ in range(MAX_CHAIN):
        before = len(found)
        for leaf, e in equations:
            if isinstance(leaf, Var | Param | Tid) and leaf not in found:
                known = value(e, found)
                if known is not None and not isinstance(known, bool):
                    found[leaf] = known
        if len(found) == before:
            break
    return found


def constants(facts: Iterable[Expr]) -> dict[Leaf, Poly]:
    """The same as potentials."""
    return {leaf: const(value) for leaf, value in numbers(facts).items()}


def value(e: Expr, known: Mapping[Leaf, int]) -> int | bool | None:
    """What e is worth where these leaves have these values; None where that is not enough to tell.

    >>> value(Op("*", (Var("x"), Const(4))), {Var("x"): 3})
    12
    >>> value(Op("<", (Var("x"), Const(4))), {Var("x"): 3})
    True
    >>> value(Op("+", (Var("x"), Var("y"))), {Var("x"): 3}) is None
    True
    """
    match e:
        case Const(int() as number, Type("int" | "bool")):
            return number
        case Var() | Param() | Tid():
            return known.get(e)
        case Op(op, args):
            values = [value(a, known) for a in args]
            operands = tuple(v for v in values if v is not None)
            if len(operands) < len(values) or (op == "<<" and operands[1] > 64):
                return None
            try:
                result = denote(op, operands)
            except KeyError:
                return None
            return result if result.bit_length() <= MAX_BITS else None
    return None


def equations(facts: Iterable[Expr]) -> Iterator[tuple[Leaf, Expr]]:
    """What equations say that variables, parameters and axes of tid are: their left sides, and the right ones.

    >>> facts = [Op("==", (Var("x"), Const(3))), Op("<", (Var("y"), Const(4)))]
    >>> [(leaf.name, e.value) for leaf, e in equations(facts)]
    [('x', 3)]
    """
    for c in facts:
        match c:
            case Op("==", (Var() | Param() | Tid() as leaf, e)):
                yield leaf, e


def definitions(facts: Iterable[Expr]) -> dict[Leaf, Poly]:
    """The variables that a fact equates with a polynomial, by the first that does, as x - 1 == n does with n + 1."""
    defined: dict[Leaf, Poly] = {}
    moved: dict[Leaf, Poly] = {}
    for c in facts:
        match c:
            case Op("==", (Var() as leaf, e)) if (named := of_expr(e)) is not None:
                defined.setdefault(leaf, named)
            case Op("==", (Op("+" | "-"), _)):
                for leaf, p in solutions(c):
                    moved.setdefault(leaf, p)
    return moved | defined


def solutions(fact: Expr) -> Iterator[tuple[Var, Poly]]:
    """What an equation that is linear in a variable, with coefficient 1 or -1, says that the variable is.

    >>> fact = Op("==", (Op("-", (Var("x"), Const(1))), Param("n")))
    >>> [(leaf.name, str(p)) for leaf, p in solutions(fact)]
    [('x', '1 + n')]
    """
    match fact:
        case Op("==", (a, b)) if (p := of_expr(a)) is not None and (q := of_expr(b)) is not None:
            for m, rate in (p - q).terms:
                match m:
                    case (Sym(Var() as leaf),) if abs(rate) == 1:
                        rest = sym(leaf) - (p - q) * rate
                        if leaf not in leaves(rest):
                            yield leaf, rest


def unfolded(p: Poly, defined: Mapping[Leaf, Poly]) -> Poly:
    """p with definitions in place of variables, and of those in them, as far as MAX_CHAIN goes.

    >>> x, y, n = Var("x"), Var("y"), Param("n")
    >>> print(unfolded(sym(x) * 2, {x: sym(y) + 1, y: sym(n)}))
    2 + 2*n
    """
    for _ in range(MAX_CHAIN):
        inside = {leaf: defined[leaf] for leaf in leaves(p) if leaf in defined}
        if not inside:
            break
        p = substitute(p, inside)
    return p


def differences(e: Expr) -> Iterator[tuple[Poly, str]]:
    """The polynomials that a comparison makes nonnegative: `+` for b - a (strict: less 1), `-` for a - b.

    >>> x, n = Var("x"), Param("n")
    >>> [(str(p), sign) for p, sign in differences(Op("<", (x, n)))]
    [('n - 1 - x', '+')]
    >>> [(str(p), sign) for p, sign in differences(Op("==", (x, n)))]
    [('n - x', '+'), ('x - n', '-')]
    >>> list(differences(Op("!=", (x, n))))
    []
    """
    match e:
        case Op("<" | "<=" | ">" | ">=" | "==", (a, b)):
            p, q = of_expr(a), of_expr(b)
            if p is None or q is None:
                return
            if e.op in ("<", "<=", "=="):
                yield q - p - (1 if e.op == "<" else 0), "+"
            if e.op in (">", ">=", "=="):
                yield p - q - (1 if e.op == ">" else 0), "-"


def nonnegative(fact: Expr) -> Iterator[Poly]:
    """The polynomials that a comparison between integers makes nonnegative."""
    return (p for p, _ in differences(fact))


def least(p: Poly, facts: Iterable[Expr]) -> int | None:
    """A lower bound of a polynomial with nonnegative coefficients, from lower bounds of its leaves.

    >>> n, m = Param("n"), Param("m")
    >>> facts = [Op(">=", (n, Const(2))), Op(">", (m, Const(0)))]
    >>> least(sym(n) * 3 + sym(m), facts)
    7
    >>> least(sym(n) - sym(m), facts) is None
    True
    """
    lows: dict[Leaf, int] = {}
    for fact in facts:
        for q, _ in differences(fact):
            match [t for t in q.terms if t[0]]:
                case [((Sym(leaf),), Fraction(numerator=1, denominator=1))]:
                    lows[leaf] = max(int(-q.constant), lows.get(leaf, int(-q.constant)))
    total = Fraction(0)
    for m, c in p.terms:
        bounds = [lows.get(a.leaf, -1) if isinstance(a, Sym) else -1 for a in m]
        if c < 0 or any(low < 0 for low in bounds):
            return None
        total += c * prod(bounds)
    return ceil(total)
