"""From expressions to potentials and back: what comparisons make nonnegative, and polynomials as C writes them."""

from __future__ import annotations

from functools import lru_cache

from logic.potentials import Apply, Atom, Floor, Max0, Poly, Sym, of_expr
from logic.syntax import Const, Expr, Op


@lru_cache(maxsize=2**14)
def differences(e: Expr) -> tuple[tuple[Poly, str], ...]:
    """The polynomials that a comparison makes nonnegative: `+` for b - a (strict: less 1), `-` for a - b.

    >>> from logic.syntax import Param, Var
    >>> x, n = Var("x"), Param("n")
    >>> [(str(p), sign) for p, sign in differences(Op("<", (x, n)))]
    [('n - 1 - x', '+')]
    >>> [(str(p), sign) for p, sign in differences(Op("==", (x, n)))]
    [('n - x', '+'), ('x - n', '-')]
    >>> differences(Op("!=", (x, n)))
    ()
    """
    match e:
        case Op("<" | "<=" | ">" | ">=" | "==" as op, (a, b)):
            p, q = of_expr(a), of_expr(b)
            if p is not None and q is not None:
                rises = ((q - p - (1 if op == "<" else 0), "+"),) if op in ("<", "<=", "==") else ()
                return (*rises, (p - q - (1 if op == ">" else 0), "-")) if op in (">", ">=", "==") else rises
    return ()


def as_expr(p: Poly, bases: bool = False) -> Expr | None:
    """A polynomial with integer coefficients as an expression; without base functions unless `bases` allows those that
    C has, too."""
    total: Expr | None = None
    for m, c in p.terms:
        factors = [_atom(a) if bases or isinstance(a, Sym) else None for a in m]
        if c.denominator != 1 or None in factors:
            return None
        term: Expr | None = None if m and c in (1, -1) else Const(abs(c.numerator))
        for e in factors:
            if e is not None:
                term = e if term is None else Op("*", (term, e))
        if term is not None:
            minus = c < 0
            if total is None:
                total = Op("-", (Const(0), term)) if minus else term
            else:
                total = Op("-" if minus else "+", (total, term))
    return Const(0) if total is None else total


def _atom(a: Atom) -> Expr | None:
    """C divides as floor does where nothing is negative, and shifts as it does everywhere."""
    match a:
        case Sym(leaf):
            return leaf
        case Max0(arg):
            e = as_expr(arg, True)
            return None if e is None else Op("max", (Const(0), e))
        case Floor(arg, k):
            e = as_expr(arg, True)
            if e is not None and k & (k - 1) == 0:
                return Op(">>", (e, Const(k.bit_length() - 1)))
            positive = all(c > 0 and all(isinstance(b, Max0) for b in m) for m, c in arg.terms)
            return Op("/", (e, Const(k))) if e is not None and positive else None
        case Apply(op, args):
            sides = [e for p in args if (e := as_expr(p, True)) is not None]
            return Op(op, tuple(sides)) if len(sides) == len(args) else None
    return None
