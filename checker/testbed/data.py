"""Contracts on data, drawn at random, with contents of a small array that keep them: for trials of stable arrays."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from checker.oracles.instances import instances
from checker.testbed.world import HELD, World
from logic.assertions import Context
from logic.contracts import BOUND, Contract, element, elements_in
from logic.operators import denote
from logic.potentials import ELEMENT, Poly
from logic.syntax import Const, Expr, Op, Param, Var

DATA: Final = "R"
"""The array that contracts are about."""
CHOICES: Final = 4
"""Contents that the array may have, for each size."""
TRIES: Final = 40

_I: Final = Var(f"{BOUND}0")
_N: Final = Param("n")
_NEXT: Final = Op("+", (_I, Const(1)))
_HERE, _THERE = element(DATA, _I), element(DATA, _NEXT)
_WITHIN: Final = ((Const(0), _N),)


def held_at(data: Sequence[int], index: int) -> int:
    """The element at an index, of an array with these contents."""
    return data[index - HELD[0]] if data and index in HELD else 0


def contracts(rng: random.Random) -> tuple[Contract, ...]:
    """One contract or two: on neighbours, on single elements, on the ends."""
    step: Expr = Op("-", (_THERE, _HERE))
    more: Expr = Const(rng.randint(1, 3))
    one: list[Contract] = [
        Contract(_WITHIN, Op("<=", (_HERE, _THERE))),
        Contract(_WITHIN, Op("<=", (_HERE, _THERE))),
        Contract(_WITHIN, Op("<", (_HERE, _THERE))),
        Contract(_WITHIN, Op(">=", (_HERE, _THERE))),
        Contract(_WITHIN, Op("<=", (step, more))),
        Contract(_WITHIN, Op(">=", (step, Const(-1)))),
    ]
    other: list[Contract] = [
        Contract(_WITHIN, Op("<=", (step, more))),
        Contract(_WITHIN, Op(">=", (_HERE, Const(0)))),
        Contract(((Const(0), Op("+", (_N, Const(1)))),), Op("<=", (_HERE, rng.choice((_N, Const(4)))))),
        Contract(_WITHIN, Op("<", (_HERE, Const(rng.randint(1, 4))))),
        Contract((), Op("==", (element(DATA, Const(0)), Const(0)))),
        Contract((), Op("<=", (element(DATA, _N), Op("+", (_N, Const(1)))))),
    ]
    first, second = rng.choice(one), rng.choice(other)
    return (first, second) if rng.random() < 0.5 else (rng.choice((first, first, second)),)


def keeps(data: Sequence[int], n: int, given: Iterable[Contract]) -> bool:
    """Whether contents keep contracts at a size."""

    for c in given:
        ends = [tuple(HELD[0] if e is None else _worth(e, n, 0, data) for e in one) for one in c.ranges]
        if not all(_worth(c.fact, n, i, data) for i in (range(*ends[0]) if ends else range(1))):
            return False
    return True


def _worth(e: Expr, n: int, i: int, data: Sequence[int]) -> int:
    """The value of an expression in a contract."""
    match e:
        case Const(int() as value):
            return value
        case Op(op, (index,)) if op.startswith(ELEMENT):
            return held_at(data, _worth(index, n, i, data))
        case Op(op, args):
            return int(denote(op, tuple(_worth(a, n, i, data) for a in args)))
    return i if e == _I else n


def contents(rng: random.Random, n: int, given: Sequence[Contract]) -> tuple[int, ...] | None:
    """Contents for an array at a size; None where no try keeps the contracts. Nothing is said of most indices."""
    for _ in range(TRIES):
        found = [rng.randint(-1, 4) for _ in HELD]
        value, steps = rng.choice([0, 0, 0, 1, 2, 4]), rng.choice([(0, 1), (0, 0, 2), (1, 1, 2), (-1, 0), (-1, 0, 1)])
        for i in range(n + 1):
            found[i - HELD[0]] = value
            value += rng.choice(steps)
        if keeps(found, n, given):
            return tuple(found)
    return None


def with_data(world: World, context: Context, rng: random.Random) -> tuple[World, Context]:
    """The world with contracts, and contents that keep them."""
    while True:
        given = contracts(rng)
        data = [[contents(rng, n, given) for _ in range(CHOICES)] for n in world.sizes]
        if all(None not in row for row in data):
            kept = tuple(tuple(one for one in row if one is not None) for row in data)
            sigma = replace(context.sigma, stable=frozenset((DATA,)))
            launch = replace(context.launch, contracts=given)
            return replace(world, data=kept), replace(context, sigma=sigma, launch=launch)


def told(context: Context, polys: Iterable[Poly]) -> list[tuple[Poly, ...]]:
    """The instances of contracts at the elements in potentials: what is nonnegative, and what has to be for that."""
    spoken = elements_in(polys)
    return [(one.poly, *one.needs) for one in instances(context.launch.contracts, spoken)]
