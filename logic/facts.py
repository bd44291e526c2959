"""Knowledge from facts, which are conditions that hold: the numbers that leaves are, the polynomials that they are, and
what is nonnegative. `Facts` is all of it, of P in a launch.

>>> from logic.syntax import Const, Op, Param, Var
>>> n, x, y = Param("n"), Var("x"), Var("y")
>>> facts = [Op("==", (x, Const(3))), Op("==", (Op("-", (y, Const(1))), n)), Op("<", (x, n))]
>>> numbers(facts)
{Var(name='x'): 3}
>>> {leaf.name: str(p) for leaf, p in definitions(facts).items()}
{'y': '1 + n', 'x': '3'}
>>> [str(p) for p in Facts(tuple(facts)).nonnegative]
['3 - x', 'x - 3', '1 + n - y', 'y - 1 - n', 'n - 1 - x']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import permutations
from math import ceil, prod
from typing import Final

from logic.assertions import Context, Launch, P, Scope, launch_facts
from logic.comparisons import differences
from logic.metrics import Hardware
from logic.operators import FLIPPED, denote
from logic.potentials import Leaf, Poly, Sym, const, leaves, of_expr, substitute, sym
from logic.syntax import Const, Expr, Op, Param, Tid, Type, Var

MAX_CHAIN: Final = 8
"""The longest chain of definitions within definitions that is followed."""

MAX_BITS: Final = 256
"""The most bits of a number that a fact may give: a certificate has no larger ones, and squares of squares would grow
for ever."""


@dataclass(frozen=True)
class Facts:
    """Facts that hold together, read once. Variables that are `changed` since are left out.

    >>> n, x, y = Param("n"), Var("x"), Var("y")
    >>> facts = Facts((Op("==", (x, Op("*", (n, Const(2))))), Op(">=", (n, Const(8))), Op("==", (y, Const(3)))))
    >>> facts.plain(sym(x) + sym(y)) == sym(n) * 2 + 3
    True
    >>> facts.least(sym(n) * 2 + 1), facts.least(sym(x)), facts.moved(sym(n) * -1)
    (17, 16, 8)
    >>> print(facts.without({"x"}).plain(sym(x) + sym(y)))
    3 + x
    """

    conditions: P
    changed: frozenset[str] = frozenset()

    def __iter__(self) -> Iterator[Expr]:
        return iter(self.conditions)

    @cached_property
    def numbers(self) -> dict[Leaf, int]:
        """The numbers that leaves are."""
        return {leaf: n for leaf, n in numbers(self.conditions).items() if leaf.name not in self.changed}

    @cached_property
    def constants(self) -> dict[Leaf, Poly]:
        """The numbers that leaves are, as potentials."""
        return {leaf: const(n) for leaf, n in self.numbers.items()}

    @cached_property
    def definitions(self) -> dict[Leaf, Poly]:
        """The polynomials that variables are."""
        return {leaf: p for leaf, p in definitions(self.conditions).items() if leaf.name not in self.changed}

    @cached_property
    def settled(self) -> dict[Leaf, Poly]:
        """The numbers that leaves are, and the sums of parameters that variables are, as a function's own variables are
        the arguments that it is called with."""
        whole = {leaf: unfolded(p, self.definitions) for leaf, p in self.definitions.items()}
        return {leaf: p for leaf, p in whole.items() if _is_over_parameters(p)} | self.constants

    @cached_property
    def nonnegative(self) -> tuple[Poly, ...]:
        """The polynomials that are not negative by a comparison."""
        found = (p for fact in self.conditions for p, _ in differences(fact))
        return tuple(p for p in found if all(leaf.name not in self.changed for leaf in leaves(p)))

    @cached_property
    def lows(self) -> dict[Leaf, int]:
        """The least number that each leaf can be: where a comparison has it alone, or says that it is no less than a
        sum of those."""
        found: dict[Leaf, int] = {}
        for p in self.nonnegative:
            match [t for t in p.terms if t[0]]:
                case [((Sym(leaf),), c)] if c > 0:
                    low = ceil(-p.constant / c)
                    found[leaf] = max(low, found.get(leaf, low))
        alone = dict(found)
        for p in self.nonnegative:
            match [t for t in p.terms if t[0] and t[1] > 0]:
                case [((Sym(leaf),), c)] if (
                    len(p.terms) > 1 and (least := _least(sym(leaf) * c - p, alone)) is not None
                ):
                    low = ceil(least / c)
                    found[leaf] = max(low, found.get(leaf, low))
        return found

    def without(self, changed: Iterable[str]) -> Facts:
        """The facts that still hold where variables may have changed."""
        return replace(self, changed=self.changed | {*changed})

    def plain(self, p: Poly) -> Poly:
        """p with what variables are in their place, and numbers at last."""
        return substitute(unfolded(p, self.definitions), self.constants)

    def least(self, p: Poly) -> int | None:
        """A lower bound of a polynomial with nonnegative coefficients, from those of its leaves; None of others."""
        low = _least(p, self.lows) if p.constant >= 0 else None
        return None if low is None else ceil(low)

    def moved(self, p: Poly) -> int | None:
        """The least distance of p, which is not 0, from 0, where its sign is known."""
        return self.least(p) or self.least(p * -1)


def _least(p: Poly, lows: Mapping[Leaf, int]) -> Fraction | None:
    """A lower bound of a polynomial with nonnegative coefficients, its number aside, from those of its leaves; None of
    others."""
    total = Fraction(0)
    for m, c in p.terms:
        bounds = [lows.get(a.leaf, -1) if isinstance(a, Sym) else -1 for a in m]
        if (m and c < 0) or any(low < 0 for low in bounds):
            return None
        total += c * prod(bounds)
    return total


def _is_over_parameters(p: Poly) -> bool:
    """Whether this is a sum of multiples of parameters and a number."""
    return all(len(m) < 2 and all(isinstance(a, Sym) and isinstance(a.leaf, Param) for a in m) for m, _ in p.terms)


def said(p: P, context: Context) -> Facts:
    """The facts of P and of a launch."""
    return _said(p, context.launch, context.hardware, context.scope)


@lru_cache(maxsize=4096)
def _said(p: P, launch: Launch, hardware: Hardware, scope: Scope) -> Facts:
    return Facts((*p, *launch_facts(launch, hardware, scope)))


def numbers(facts: Iterable[Expr]) -> dict[Leaf, int]:
    """The variables, parameters and axes of tid that facts equate with a number, or with what is known to be one."""
    found: dict[Leaf, int] = {}
    equations = [(a, b) for c in facts if isinstance(c, Op) and c.op == "==" for a, b in permutations(c.args)]
    for _ in range(MAX_CHAIN):
        before = len(found)
        for leaf, e in equations:
            if isinstance(leaf, Var | Param | Tid) and leaf not in found:
                known = value_where(e, found)
                if known is not None and not isinstance(known, bool):
                    found[leaf] = known
        if len(found) == before:
            break
    return found


def value_where(e: Expr, known: Mapping[Leaf, int]) -> int | bool | None:
    """The value of e where these leaves have these values; None where that is not enough to tell.

    >>> value_where(Op("*", (Var("x"), Const(4))), {Var("x"): 3})
    12
    >>> value_where(Op("<", (Var("x"), Const(4))), {Var("x"): 3})
    True
    >>> value_where(Op("+", (Var("x"), Var("y"))), {Var("x"): 3}) is None
    True
    """
    match e:
        case Const(int() as number, Type("int" | "bool")):
            return number
        case Var() | Param() | Tid():
            return known.get(e)
        case Op(op, args):
            values = [value_where(a, known) for a in args]
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
    """The equations that define variables, parameters and axes of tid, as pairs: left side and right side.

    >>> facts = [Op("==", (Var("x"), Const(3))), Op("<", (Var("y"), Const(4)))]
    >>> [(leaf.name, e.value) for leaf, e in equations(facts)]
    [('x', 3)]
    """
    return ((leaf, e) for leaf, op, e in compared(facts) if op == "==")


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
    """An equation solved for a variable that it is linear in, with coefficient 1 or -1.

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


def congruences(fact: Expr) -> Iterator[tuple[Expr, Expr, Expr]]:
    """(e, k, r) where the fact implies that k divides e - r.

    >>> x, m = Var("x"), Param("m")
    >>> list(congruences(Op("==", (Op("%", (x, m)), Const(0))))) == [(x, m, Const(0))]
    True
    >>> list(congruences(Op("==", (Const(3), Op("&", (x, Const(7))))))) == [(x, Const(8), Const(3))]
    True
    """
    match fact:
        case Op("==", (a, b)):
            for u, v in ((a, b), (b, a)):
                match u:
                    case Op("%", (e, k)):
                        yield e, k, v
                    case Op("&", (e, Const(int() as mask, _))) | Op("&", (Const(int() as mask, _), e)):
                        if mask > 0 and mask & (mask + 1) == 0:
                            yield e, Const(mask + 1), v


def compared(facts: Iterable[Expr], either: bool = False) -> Iterator[tuple[Leaf, str, Expr]]:
    """Orders and equations with a leaf on the left side, leaf op e; with `either`, also those with one on the right.

    >>> [(x.name, op, e.name) for x, op, e in compared([Op("<", (Var("x"), Param("n")))], either=True)]
    [('x', '<', 'n'), ('n', '>', 'x')]
    """
    for c in facts:
        if isinstance(c, Op) and c.op in FLIPPED:
            a, b = c.args
            for op, leaf, e in ((c.op, a, b), (FLIPPED[c.op], b, a))[: 1 + either]:
                if isinstance(leaf, Var | Param | Tid):
                    yield leaf, op, e
