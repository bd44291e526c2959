"""Unsigned values that are below 0 in every launch: what is assumed of them, that none wraps around, is never so."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from checker.oracles import Oracles
from checker.synthesis.flow import analyse
from checker.synthesis.nodes import Cycle, Flow, Fork, Step
from checker.synthesis.outline import Outline
from logic.assertions import Entails, P, Proved, assume, opaque
from logic.source import Loc
from logic.syntax import BUILTINS, FALSE, INT, WARP_INDEX, Assign, Const, Expr, Op, Param, Read, Tid, Write
from logic.typing import Signature

Place = tuple[Loc | None, Expr]

_LEAVES: Final[tuple[Expr, ...]] = (
    Tid("x"), Tid("y"), Tid("z"), *(Param(f"blockIdx.{axis}") for axis in "xyz"), Param(WARP_INDEX)
)  # fmt: skip

FIRST: Final[P] = tuple(Op("==", (leaf, Const(0))) for leaf in _LEAVES)
"""The first thread of the first block, which every launch has."""


def wrapping(outline: Outline, unsigned: Collection[Place], oracle: Oracles) -> list[Expr]:
    """Of values that are taken as not negative, those that are below 0 in the first thread of a grid if it gets there,
    which it may with parameters that are not negative; of one line, once."""
    if not unsigned:
        return []
    sigma = outline.context.sigma
    sizes = [Op(">=", (Param(name), Const(0))) for name, t in sigma.params.items() if t == INT and name not in BUILTINS]
    found: dict[tuple[Loc | None, Expr], Expr] = {}
    for p, e in _evaluated(analyse(outline, oracle), sigma):
        line = (e.loc and replace(e.loc, column=0), e)
        if (e.loc, e) in unsigned and line not in found and not opaque(e, sigma):
            here = (*p, *FIRST)
            usual = (*here, *sizes)
            if _proved(here, Op("<", (e, Const(0))), outline, oracle) and not _proved(usual, FALSE, outline, oracle):
                found[line] = e
    return list(found.values())


def _proved(p: P, goal: Expr, outline: Outline, oracle: Oracles) -> bool:
    return isinstance(oracle(Entails(p, (goal,)), outline.context), Proved)


def _evaluated(flow: Flow, sigma: Signature) -> Iterator[tuple[P, Expr]]:
    """Every part of an expression of a program, with what holds where it is evaluated."""
    for node in flow.nodes:
        match node:
            case Step(Assign(_, e), before):
                yield from _parts(before.p, e, sigma)
            case Step(Write(_, index, e), before):
                yield from _parts(before.p, index, sigma)
                yield from _parts(before.p, e, sigma)
            case Fork():
                yield from _parts(node.before.p, node.cond, sigma)
                for side in (node.then, node.orelse):
                    if isinstance(side, Flow):
                        yield from _evaluated(side, sigma)
            case Cycle():
                yield from _parts(node.before.p, node.cond, sigma)
                for stays in (True, False):  # where a loop ends, its condition was evaluated, too
                    yield from _parts(assume(node.invariant.p, node.cond, sigma, stays), node.cond, sigma)
                yield from _evaluated(node.body, sigma)


def _parts(p: P, e: Expr, sigma: Signature) -> Iterator[tuple[P, Expr]]:
    yield p, e
    match e:
        case Op("&&" | "||", (a, b)):
            yield from _parts(p, a, sigma)
            yield from _parts(assume(p, a, sigma, e.op == "&&"), b, sigma)
        case Op("?:", (c, a, b)):
            yield from _parts(p, c, sigma)
            yield from _parts(assume(p, c, sigma), a, sigma)
            yield from _parts(assume(p, c, sigma, False), b, sigma)
        case Op(_, args):
            for a in args:
                yield from _parts(p, a, sigma)
        case Read(_, index):
            yield from _parts(p, index, sigma)
