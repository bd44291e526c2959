"""Potentials that a source states, as hints for a search: left out where they are too low, told of where too high."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from checker import limits
from checker.synthesis.bound import Result, lower
from checker.synthesis.outline import Block, Branch, Item, Loop, Outline, Partial
from logic.metrics import Metric
from logic.potentials import Poly
from logic.source import Loc

Search = Callable[[Outline, Metric], Result]


@dataclass(frozen=True, slots=True)
class Judged:
    """A result; the places of hints that were left out for it, and the bound that the search finds without any, where
    that is lower."""

    result: Result
    wrong: tuple[Loc, ...] = ()
    better: Poly | None = None


def hints(outline: Outline) -> list[Loc]:
    """The places at which an outline states potentials, in the order of the text."""
    found = {_place(item): None for item in _items(outline.body) if _stated(item) is not None}
    return sorted(loc for loc in found if loc is not None)


def judged(outline: Outline, result: Result, search: Search) -> Judged:
    """A bound that was found with hints, held against what is found without them. A search is only done over where
    there are some."""
    places = hints(outline)
    if not places:
        return Judged(result)
    free = search(without(outline, places), result.metric)

    def beside(found: Result, wrong: tuple[Loc, ...]) -> Judged:
        here, alone = found.claim, free.claim
        less = here is not None and alone is not None and lower(alone.pre.q, here.pre.q)
        return Judged(found, wrong, alone.pre.q if alone is not None and less else None)

    if result.claim is not None:
        return beside(result, ())
    best = Judged(result)
    for place in places if 1 < len(places) <= limits.LEFT_OUT else ():
        found, known = search(without(outline, [place]), result.metric), best.result.claim
        if found.claim is not None and (known is None or lower(found.claim.pre.q, known.pre.q)):
            best = beside(found, (place,))
    if best.result.claim is None and free.claim is not None:
        return Judged(free, tuple(places))
    return best


def without(outline: Outline, places: Sequence[Loc]) -> Outline:
    """The outline without the potentials that are stated at these places."""

    def bare(block: Block) -> Block:
        return tuple(_bare(item) for item in block)

    def _bare(item: Item) -> Item:
        gone = _stated(item) is not None and _place(item) in places
        match item:
            case Partial():
                return replace(item, q=None) if gone else item
            case Loop(invariant=invariant):
                left = replace(invariant, q=None) if gone else invariant
                return replace(item, invariant=left, body=bare(item.body))
            case Branch():
                return replace(item, then=bare(item.then), orelse=bare(item.orelse))
        return item

    return replace(outline, body=bare(outline.body))


def _stated(item: Item) -> Poly | None:
    match item:
        case Partial(q=q) | Loop(invariant=Partial(q=q)):
            return q
    return None


def _place(item: Item) -> Loc | None:
    match item:
        case (Partial() as at) | Loop(invariant=at):
            return at.q_loc or at.loc
    return None


def _items(block: Block) -> Iterator[Item]:
    for item in block:
        yield item
        match item:
            case Loop():
                yield from _items(item.body)
            case Branch():
                yield from (*_items(item.then), *_items(item.orelse))
