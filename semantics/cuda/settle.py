"""The body of a kernel with only those reductions modulo 2^bits left in it that may change a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from logic.syntax import BUILTINS, INT, Assign, Const, Expr, If, Op, Param, Read, Seq, Stmt, While, Write, show
from logic.typing import Signature
from semantics.cuda.modular import Reduced
from semantics.cuda.ranges import WORK, Needs, Types, Walk, left, of_ordinary_sizes
from semantics.cuda.stores import Sizes, Store, launched, negation

MOST_FACTS: Final = 12
"""Of which it is asked whether the others say the same."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A body without reductions, and the propositions that it is right under."""

    body: Stmt
    facts: tuple[Expr, ...]


def settled(
    body: Stmt,
    types: Types,
    sigma: Signature,
    given: Sequence[Expr] = (),
    block: Sizes = (None, None, None),
    grid: Sizes = (None, None, None),
    assume: bool = True,
    split: bool = True,
) -> Settled:
    """The body of a kernel without reductions that change nothing, in launches of which `given` holds; what has to be
    assumed besides, if it may be. Comparisons are `split` where it helps a proof, for some more operators."""
    usual = Walk(types, sigma, of_ordinary_sizes(_start(types, sigma, (), block, grid)), None, False)
    _, _, doubts = usual.run(body, usual.start.copy())
    fitting = frozenset(_signed(body) - {d.unfit for d in doubts})

    def walked(facts: Sequence[Expr]) -> tuple[Stmt, Needs, int]:
        start = _start(types, sigma, facts, block, grid)
        start.dead = False
        loose: set[str] = set()
        while True:
            walk = Walk(types, sigma, start, fitting, assume, split, set(loose))
            made, _, needs = walk.run(body, start.copy())
            if walk.loose == loose:
                return made, needs, walk.work
            loose = set(walk.loose)

    found, needs, work = walked(given)
    extra: list[Expr] = []
    if assume and left(needs):
        extra = [
            Op(">=", (Param(name), Const(0))) for name in _sizes(types, sigma, _start(types, sigma, given, block, grid))
        ]
        other = walked([*given, *extra]) if extra else (found, needs, work)
        if left(other[1]) < left(needs):
            found, needs, work = other
            for fact in list(extra) if work <= WORK // 4 else []:
                without = [f for f in extra if f != fact]
                other = walked([*given, *without])
                if left(other[1]) <= left(needs):
                    (found, needs, work), extra = other, without
        else:
            extra = []
    facts = sorted({*extra, *(n.fact for n in needs if n.fact is not None)}, key=show)
    for fact in list(facts) if len(facts) <= MOST_FACTS else []:
        others = [f for f in facts if f != fact]
        there = _start(types, sigma, [*given, *others, negated], block, grid) if (negated := negation(fact)) else None
        facts = others if there is not None and there.dead else facts
    return Settled(found, tuple(facts))


def _sizes(types: Types, sigma: Signature, start: Store) -> list[str]:
    """The parameters of signed types that may be negative, and need not."""
    return [
        name
        for name, t in sigma.params.items()
        if t == INT
        and name not in BUILTINS
        and name in types.scalars
        and start.range(Param(name))[0] < 0 <= start.range(Param(name))[1]
    ]


def _start(
    types: Types,
    sigma: Signature,
    given: Sequence[Expr] = (),
    block: Sizes = (None, None, None),
    grid: Sizes = (None, None, None),
) -> Store:
    """The store at the start: what holds in the launches that a body is settled for."""
    store = launched(block, grid)
    for name, t in sigma.params.items():
        if t == INT and name not in BUILTINS and (own := types.scalars.get(name)) is not None:
            store.ranges[Param(name)] = (own.low, own.high)
    walk = Walk(types, sigma, store, frozenset(), False)
    for fact in given:
        store = walk.assumed(fact, True, store)
    return store


def _signed(s: Stmt) -> set[int]:
    """The numbers of all reductions to signed types."""
    found: set[int] = set()
    stack: list[Stmt | Expr] = [s]
    while stack:
        here = stack.pop()
        match here:
            case Seq(stmts):
                stack.extend(stmts)
            case If(c, a, b):
                stack.extend((c, a, b))
            case While(c, body):
                stack.extend((c, body))
            case Assign(_, e):
                stack.append(e)
            case Write(_, i, e):
                stack.extend((i, e))
            case Reduced():
                if here.to.signed:
                    found.add(id(here))
                stack.append(here.value)
            case Op(_, args):
                stack.extend(args)
            case Read(_, i):
                stack.append(i)
    return found
