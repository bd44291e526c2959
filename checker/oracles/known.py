"""The knowledge that an arithmetic proof may use: values of leaves, and what is nonnegative, by P and the launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from checker.oracles.instances import Instance, instances, with_ends
from checker.oracles.terms import numeric, truths
from logic.assertions import Context, P, launch_facts
from logic.comparisons import differences
from logic.contracts import Contract
from logic.facts import MAX_CHAIN, equations
from logic.potentials import ZERO, Apply, Atom, Floor, Leaf, Poly, Sym, atom, atoms, leaves, of_expr, substitute
from logic.syntax import Expr, Op, Param, Var
from logic.terms_as_json import expression, named_leaves

Json = Any

MAX_GIVEN: Final = 256
"""Sets of facts whose knowledge is kept: a proof asks of the same ones for each of its side conditions there."""

MAX_KEPT: Final = 2**14
"""Conditions of which what they say is kept: each holds at many points. Proofs tell no places, so what equal ones say
is the same."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A polynomial that is nonnegative, and how the certificate names it; or what is `told` of elements of arrays, by
    contracts; or one that is not 0: `apart`."""

    poly: Poly
    name: Json
    told: Callable[[tuple[Apply, ...]], Iterable[Instance]] | None = None
    apart: Poly | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """The knowledge from P and the launch: the values of leaves, as the facts `leaf == value`, and all that is
    nonnegative, in which these are put: variables first, and then numbers, also in what variables are worth."""

    values: tuple[tuple[Leaf, Poly, Expr], ...]
    facts: list[Fact]
    others: tuple[tuple[Leaf, Poly, Expr], ...] = ()
    """The variables that facts say more of than a polynomial in parameters."""

    def with_values(self, p: Poly) -> Poly:
        """p with what leaves are worth."""
        return _put(p, self.values)

    def defined(self, goal: Poly) -> Given | None:
        """The same without contracts, and with the definitions of variables in a goal's floor(.): as they are of more
        than parameters, they make polynomials longer. None where there are none."""
        rows, chain = dict[Leaf, tuple[Leaf, Poly, Expr]](), list[tuple[Leaf, Poly, Expr]]()
        todo = sorted({x for a in atoms(goal) if isinstance(a, Floor | Apply) for x in leaves(atom(a))}, key=str)
        while todo and len(rows) < MAX_CHAIN:
            leaf = todo.pop(0)
            row = next((row for row in self.others if row[0] == leaf and leaf not in leaves(row[1])), None)
            if row is not None and leaf not in rows:
                rows[leaf] = row
                todo += sorted(leaves(row[1]), key=str)
        while free := [x for x in rows if not any(x in leaves(p) for _, p, _ in rows.values())]:
            chain.append(rows.pop(free[0]))  # before what it is defined by
        if not chain:
            return None
        values = (*chain, *self.values)
        facts = [
            replace(f, poly=_put(f.poly, values), apart=None if f.apart is None else _put(f.apart, values))
            for f in self.facts
            if f.told is None
        ]
        return Given(values, facts)

    def without_values(self, proof: Json, goal: Poly) -> Json:
        """A proof of what a goal is with the leaves' worth, as one of the goal; None of None."""
        if proof is None:
            return None
        used, facts = named_leaves(proof) | {*leaves(goal)}, []
        for leaf, value, fact in self.values:
            if leaf in used:
                used |= {*leaves(value)}
                facts.append(fact)
        for fact in reversed(facts):
            proof = {"put": expression(fact), "then": proof}
        return proof


def given(p: P, context: Context) -> Given:
    """The knowledge from P and the launch facts: of leaves that are one number, of variables that are one polynomial in
    parameters, and in every comparison of integers."""
    return _given(stated(p, context), context.launch.contracts, truths(context.sigma))


@lru_cache(maxsize=MAX_GIVEN)
def _given(all_: P, contracts: tuple[Contract, ...], named: frozenset[str]) -> Given:
    said = [_said(e) for e in all_]
    equal = [(leaf, q, e) for e, s in zip(all_, said, strict=True) for leaf, q in s.equal]
    numbers = _once((leaf, q, q, e) for leaf, q, e in equal if q.is_constant)
    known = {leaf for leaf, _, _ in numbers}
    told = ((x, _put(q, numbers), q, e) for x, q, e in equal if isinstance(x, Var) and x not in known)
    values = (*_once(row for row in told if all(_is_parameter(a) for a in atoms(row[1]))), *numbers)
    own = [s for e, s in zip(all_, said, strict=True) if numeric(e, named)]
    facts = [Fact(_put(poly, values), ["fact", s.name, sign]) for s in own for poly, sign in s.pairs]
    facts += [Fact(ZERO, s.name, apart=_put(s.apart, values)) for s in own if s.apart is not None]

    @lru_cache(maxsize=MAX_GIVEN)
    def of_contracts(elements: tuple[Apply, ...]) -> list[Instance]:
        some = instances(contracts, with_ends(contracts, elements))
        return [Instance(_put(poly, values), tuple(_put(p, values) for p in needs), name) for poly, needs, name in some]

    facts += [Fact(ZERO, [], of_contracts)] * bool(contracts)
    plain = {leaf for leaf, _, _ in values}
    return Given(values, facts, tuple((x, q, e) for x, q, e in equal if isinstance(x, Var) and x not in plain))


class Said(NamedTuple):
    """The content of a condition: leaves' values, what is nonnegative, a difference that is not 0; and its name."""

    equal: tuple[tuple[Leaf, Poly], ...]
    pairs: tuple[tuple[Poly, str], ...]
    apart: Poly | None
    name: Json


@lru_cache(maxsize=MAX_KEPT)
def _said(e: Expr) -> Said:
    equal = tuple((leaf, q) for leaf, value in equations((e,)) if (q := of_expr(value)) is not None)
    p, q = map(of_expr, e.args) if isinstance(e, Op) and e.op == "!=" else (None, None)
    return Said(equal, (*differences(e),), None if p is None or q is None else p - q, expression(e))


def stated(p: P, context: Context) -> P:
    """All conditions that a proof may use."""
    return (*p, *launch_facts(context.launch, context.hardware, context.scope))


def _once(rows: Iterable[tuple[Leaf, Poly, Poly, Expr]]) -> tuple[tuple[Leaf, Poly, Expr], ...]:
    """Leaves, values and facts of those leaves of which all rows say the same: leaf, what it comes to, value, fact."""
    found: dict[Leaf, dict[Poly, tuple[Poly, Expr]]] = {}
    for leaf, worth, value, fact in rows:
        found.setdefault(leaf, {}).setdefault(worth, (value, fact))
    return tuple((leaf, *next(iter(ways.values()))) for leaf, ways in found.items() if len(ways) == 1)


def _put(p: Poly, values: Iterable[tuple[Leaf, Poly, Expr]]) -> Poly:
    """p with the values of leaves, one after the other."""
    for leaf, value, _ in values:
        p = substitute(p, {leaf: value})
    return p


def _is_parameter(a: Atom) -> bool:
    return isinstance(a, Sym) and isinstance(a.leaf, Param)
