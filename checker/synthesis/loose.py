"""Which values nothing ties to those of other threads: of these no oracle has to be asked whether they are uniform.

Most of what a kernel loads is of this kind, and most questions of a walk are about what is made of it. To answer here
can only lose a bound: that something is uniform is for the oracles to prove.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from checker.oracles.terms import is_function, leaves_in
from logic.assertions import P, X
from logic.facts import compared
from logic.operators import COMPARISONS, ORDERS
from logic.syntax import WARP_INDEX, Const, Expr, Op, Param, Read, Tid, Var
from logic.typing import Signature, type_of

Shown = Counter[str | Expr]
"""How often variables, and values of which nothing is known, occur in an expression; 2 where its value does not tell
what they are."""

ONTO: Final = frozenset({"+", "-", "neg", "~", "^", "!"})
"""Operators that reach every value by one operand alone."""
BY_LITERAL: Final = {"*": 0, "&": 0, "|": -1, "<<": None, ">>": None}
"""Operators whose value differs with the left operand where the right one is a literal, but for this one."""


def loose(p: P, x: X, e: Expr, sigma: Signature, rows: bool = False) -> bool:
    """Whether e is made of a variable that may differ between threads and of which P says nothing, such that it is not
    uniform wherever P holds of two threads at all. False says nothing: P may leave one thread. With `rows`, warps are
    full, and their threads differ in threadIdx.x alone.

    >>> from logic.syntax import INT
    >>> a, b, n = map(Var, "abn")
    >>> sigma = Signature(dict.fromkeys("abn", INT), {}, {})
    >>> p = (Op("==", (b, Op("+", (a, n)))),)
    >>> loose(p, frozenset("n"), b, sigma), loose(p, frozenset("n"), Op("-", (b, a)), sigma)
    (True, False)
    """
    values, tied, alone = _definitions(p, x, rows)
    if alone:
        return False
    known: dict[str, Shown] = {}

    def differs(t: Expr) -> bool:
        if isinstance(t, Op) and t.op == "?:":
            return differs(t.args[1]) and differs(t.args[2])
        return any(count == 1 and name not in tied for name, count in shown(t).items())

    def shown(t: Expr) -> Shown:
        match t:
            case Var(name) if name in x:
                return Counter()
            case Var(name) if name in values:
                if name not in known:
                    known[name] = shown(values[name])
                return known[name]
            case Var(name):
                return Counter({name: 1})
            case Read(array, index):
                return Counter({t: 1}) if array not in sigma.stable and differs(index) else _hidden([t], shown, x)
            case Op(op, args) if _opaque(t, sigma):
                return Counter({t: 1}) if any(map(differs, args)) else _hidden(args, shown, x)
            case Op(op, args) if op in ONTO or (op in COMPARISONS and all(map(_reaches_all, args))):
                return _sum(map(shown, args))
            case Op(op, (a, Const(n))) if op in BY_LITERAL and n != BY_LITERAL[op]:
                return shown(a)
            case Op(_, args):
                return _hidden(args, shown, x)
        return Counter()

    return differs(e)


def _opaque(e: Op, sigma: Signature) -> bool:
    """Whether all that is known of an operator's value is that it follows from its operands."""
    return is_function(e.op) or (e.op != "?:" and any(type_of(a, sigma).kind == "base" for a in e.args))


def _reaches_all(e: Expr) -> bool:
    """Whether e can be any number, or truth value, where one variable in it can be any."""
    match e:
        case Op(op, args):
            return (op in ONTO or op in COMPARISONS) and all(map(_reaches_all, args))
    return True


def _hidden(parts: Iterable[Expr], shown: Callable[[Expr], Shown], x: X) -> Shown:
    """The variables that occur in parts that an expression's value does not tell."""
    names = {leaf for part in parts for leaf in leaves_in(part) if isinstance(leaf, Var) and leaf.name not in x}
    return Counter({name: 2 for leaf in names for name in shown(leaf)})


def _sum(found: Iterable[Shown]) -> Shown:
    whole: Shown = Counter()
    for each in found:
        whole.update(each)
    return whole


@lru_cache(maxsize=16)
def _definitions(p: P, x: X, rows: bool) -> tuple[dict[str, Expr], frozenset[str], bool]:
    """The values of variables by P, without cycles; the variables that other facts speak of, or that these are made
    of; and whether such facts may leave one thread alone."""
    values: dict[str, Expr] = {}
    made: dict[str, frozenset[str]] = {}
    others: list[Expr] = []
    for fact in p:
        for leaf, op, e in compared((fact,), either=True):
            below = _names(e).union(*(made.get(name, ()) for name in _names(e)))
            if op == "==" and isinstance(leaf, Var) and leaf.name not in {*x, *values, *below}:
                values[leaf.name] = e
                made = {n: m | below if leaf.name in m else m for n, m in made.items()} | {leaf.name: below}
                break
        else:
            others.append(fact)
    said = frozenset(name for fact in others for name in _names(fact))
    own = {name for name, e in values.items() if _placed(e, rows)}
    own |= {name for name, below in made.items() if below & own}
    alone = any((_placed(fact, rows) or _names(fact) & own) and _tells_place(fact) for fact in others)
    return values, said.union(*(made.get(name, ()) for name in said)), alone


def _placed(e: Expr, rows: bool) -> bool:
    """Whether an expression speaks of a thread's place in its block, or of its warp; with `rows`, of that in a warp."""
    return any(t == Tid("x") if rows else isinstance(t, Tid) or t == Param(WARP_INDEX) for t in leaves_in(e))


def _tells_place(fact: Expr) -> bool:
    """Whether a fact about a thread's place may hold of one only: not by an order with what is no number."""
    order = isinstance(fact, Op) and fact.op in ORDERS
    return not order or not any(leaf for leaf in leaves_in(fact) if isinstance(leaf, Param) and leaf.name != WARP_INDEX)


def _names(e: Expr) -> frozenset[str]:
    return frozenset(leaf.name for leaf in leaves_in(e) if isinstance(leaf, Var))
