"""Ghost variables: the part of a loop counter without threadIdx.

Under `for (i = tid; i < n; i += step)` no potential may mention i. But `i - tid` is the same at all lanes, and a ghost
that always equals it may stand in potentials: g <- 0 before the loop, g <- g + step after each step of i. A counter may
be uniform that starts at threadIdx.y, yet no potential says where it starts: it gets a ghost too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from checker.flow import Cycle, Flow, Fork, State
from checker.inference.counters import definitions, moves, unfolded
from checker.inference.linear import poly
from checker.inference.partial import as_expr
from checker.outline import Block, Branch, Item, Loop, Outline, Partial, Plain, strip
from logic.potentials import Poly, leaves, of_expr, sym
from logic.syntax import GHOST, INT, Assign, Expr, Op, Tid, Var, local_vars, written

Parts = dict[str, tuple[Expr, Expr]]
"""A counter's value before its loop, as what lanes share and what depends on the lane."""


def with_ghosts(outline: Outline, flow: Flow) -> tuple[Outline, tuple[str, ...]]:
    """The outline with a ghost for each counter that needs one, or those that its writer chose, and the ghosts."""
    chosen = tuple(x for x in outline.context.sigma.locals if x.startswith(GHOST))
    if chosen:
        return outline, chosen
    lanes: Parts = {}
    for cycle in cycles(flow):
        for counter in sorted(local_vars(cycle.cond) & written(cycle.body.stmt)):
            if outline.context.sigma.locals[counter] == INT and moves(counter, cycle.body.stmt):
                parts = _parts(counter, cycle.before)
                if parts is not None:
                    lanes[counter] = parts
    if not lanes:
        return outline, ()
    ghosts = tuple(GHOST + counter for counter in lanes)
    sigma = outline.context.sigma
    wider = replace(sigma, locals={**sigma.locals, **dict.fromkeys(ghosts, INT)})
    context = replace(outline.context, sigma=wider)
    return replace(outline, context=context, body=_block(outline.body, lanes)), ghosts


def cycles(flow: Flow) -> Iterator[Cycle]:
    """The loops of a flow that are not unrolled, outer ones first."""
    for node in flow.nodes:
        match node:
            case Cycle():
                yield node
                yield from cycles(node.body)
            case Fork():
                for side in (node.then, node.orelse):
                    if isinstance(side, Flow):
                        yield from cycles(side)


def _parts(counter: str, state: State) -> tuple[Expr, Expr] | None:
    """The counter's value before the loop, what lanes share and what depends on threadIdx, if P defines it."""
    known = definitions(state.p)
    defined = {
        leaf: p
        for leaf, p in known.items()
        if leaf.name not in state.x or any(isinstance(t, Tid) for t in leaves(unfolded(p, known)))
    }
    value = unfolded(sym(Var(counter)), defined)
    if any(isinstance(leaf, Var) and leaf.name not in state.x for leaf in leaves(value)):
        return None
    lane = poly(term for term in value.terms if any(isinstance(leaf, Tid) for leaf in leaves(Poly((term,)))))
    shared, own = as_expr(value - lane), as_expr(lane)
    return None if shared is None or own is None or not lane.terms else (shared, own)


def _block(block: Block, lanes: Parts) -> Block:
    return tuple(new for item in block for new in _item(item, lanes))


def _item(item: Item, lanes: Parts) -> Iterator[Item]:
    match item:
        case Loop():
            for counter in sorted(local_vars(item.cond) & written(strip(item.body)) & lanes.keys()):
                shared, own = lanes[counter]
                ghost = Var(GHOST + counter)
                yield Plain(Assign(ghost.name, shared))
                yield Partial((Op("==", (ghost, Op("-", (Var(counter), own)))),))
            yield replace(item, body=_block(item.body, lanes))
        case Branch():
            yield replace(item, then=_block(item.then, lanes), orelse=_block(item.orelse, lanes))
        case Plain(Assign(counter, value)) if counter in lanes:
            yield item
            after = of_expr(value)
            step = None if after is None else as_expr(after - sym(Var(counter)))
            if step is not None and counter not in local_vars(step):
                yield Plain(Assign(GHOST + counter, Op("+", (Var(GHOST + counter), step))))
        case _:
            yield item
