"""The body of a kernel with only those reductions modulo 2^bits left in it that may change a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from logic.syntax import BUILTINS, INT, Assign, Const, Expr, If, Op, Param, Read, Seq, Stmt, While, Write, show
from logic.typing import Signature
from semantics.cuda.held import Held, at_start, limits, loaded
from semantics.cuda.made import Made
from semantics.cuda.modular import Integer, Reduced
from semantics.cuda.ranges import WORK, Needs, Types, Walk, left
from semantics.cuda.stores import ANY, Range, Sizes, Store, launched, negation, of_ordinary_sizes
from semantics.cuda.sums import parameter

MOST_FACTS: Final = 12
"""Of which it is asked whether the others say the same."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A body without reductions, and the propositions that it is right under."""

    body: Stmt
    facts: tuple[Expr, ...]
    spans: tuple[tuple[str, Range], ...] = ()
    """Limits of elements of arrays that contracts speak of, in which they have to be for that."""


def settled(
    body: Stmt,
    types: Types,
    sigma: Signature,
    given: Sequence[Expr] = (),
    block: Sizes = (None, None, None),
    grid: Sizes = (None, None, None),
    assume: bool = True,
    split: bool = True,
    data: Sequence[Held] = (),
) -> Settled:
    """The body of a kernel without reductions that change nothing, in launches of which `given` holds and on arrays of
    which `data` do; what has to be assumed besides, if it may be. Comparisons are `split` where it helps a proof, for
    some more operators."""
    reduced = _reductions(body)
    if not reduced:
        return Settled(body, ())
    expressions = Made(sigma)
    fitting = frozenset(number for number, to in reduced.items() if to.signed)
    if fitting:
        usual = Walk(types, expressions, of_ordinary_sizes(_start(types, sigma, (), block, grid)), None, False)
        _, _, doubts = usual.run(body, usual.start.copy())
        fitting -= {d.unfit for d in doubts}
    known = {a: _elements(types, data, a) for a in frozenset[str]().union(*(h.arrays for h in data))}
    of_arrays = loaded(body)

    def walked(facts: Sequence[Expr], spans: Mapping[str, Range]) -> tuple[Stmt, Needs, Walk]:
        start = _start(types, sigma, facts, block, grid, spans, data)
        start.dead = False
        loose: set[str] = set()
        while True:
            walk = Walk(types, expressions, start, fitting, assume, split, set(loose), tuple(data), loaded=of_arrays)
            made, _, needs = walk.run(body, start.copy())
            if not (walk.loose - loose) & walk.trusted:
                return made, needs, walk
            loose = set(walk.loose)

    found, needs, walk = walked(given, known)
    spans = dict(known)
    if assume and left(needs) and known:
        within = {a: _counted(types, a, span) for a, span in known.items()}
        other = walked(given, within)
        if left(other[1]) < left(needs):
            (found, needs, walk), spans = other, within
            for array, span in known.items():
                less = spans | {array: span}
                other = walked(given, less)
                if left(other[1]) <= left(needs):
                    (found, needs, walk), spans = other, less
    if assume and walk.narrows:
        narrow = {
            a: (max(low, walk.narrows[a][0]), min(high, walk.narrows[a][1]))
            for a, (low, high) in spans.items()
            if a in walk.narrows
        }
        spans |= narrow
        found, needs, walk = walked(given, spans)
    extra: list[Expr] = []
    if assume and left(needs):
        extra = [
            Op(">=", (Param(name), Const(0))) for name in _sizes(types, sigma, _start(types, sigma, given, block, grid))
        ]
        more = walked([*given, *extra], spans) if extra else (found, needs, walk)
        if left(more[1]) < left(needs):
            found, needs, walk = more
            for fact in list(extra) if walk.work <= WORK // 4 else []:
                without = [f for f in extra if f != fact]
                more = walked([*given, *without], spans)
                if left(more[1]) <= left(needs):
                    (found, needs, walk), extra = more, without
        else:
            extra = []
    facts = sorted({*extra, *(n.fact for n in needs if n.fact is not None)}, key=show)
    for fact in list(facts) if len(facts) <= MOST_FACTS else []:
        others = [f for f in facts if f != fact]
        there = _start(types, sigma, [*given, *others, negated], block, grid) if (negated := negation(fact)) else None
        facts = others if there is not None and there.dead else facts
    changed = tuple((a, span) for a, span in spans.items() if span != known[a])
    return Settled(found, tuple(facts), changed)


def _elements(types: Types, data: Sequence[Held], array: str) -> Range:
    """The limits of the elements of an array, by their types and by contracts."""
    kinds = types.arrays.get(array, frozenset())
    low, high = limits(data, array)
    own = (min(t.low for t in kinds), max(t.high for t in kinds)) if kinds else ANY
    return max(low, own[0]), min(high, own[1])


def _counted(types: Types, array: str, span: Range) -> Range:
    """The limits of elements that count something: not negative, and no more than a signed type of the size has. Those
    of a table are not assumed to be what they are declared not to be."""
    bits = min((t.bits for t in types.arrays.get(array, ())), default=32)
    low, high = max(span[0], 0), min(span[1], (1 << bits - 1) - 1)
    return (low, high) if low <= high and types.may_be(array, low, high) else span


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
    spans: Mapping[str, Range] | None = None,
    data: Sequence[Held] = (),
) -> Store:
    """The store at the start: what holds in the launches that a body is settled for, and of arrays with limits."""
    store = launched(block, grid)
    store.elements = spans or {}
    for name, t in sigma.params.items():
        if t == INT and name not in BUILTINS and (own := types.scalars.get(name)) is not None:
            store.ranges[parameter(name)] = (own.low, own.high)
    walk = Walk(types, Made(sigma), store, frozenset(), False)
    for fact in given:
        store = walk.assumed(fact, True, store)
    for s in at_start(data):
        store.fact(s)
    return store


def _reductions(s: Stmt) -> dict[int, Integer]:
    """The types that all reductions are to, by their numbers."""
    found: dict[int, Integer] = {}
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
                found[id(here)] = here.to
                stack.append(here.value)
            case Op(_, args):
                stack.extend(args)
            case Read(_, i):
                stack.append(i)
    return found
