"""Which variables are live: read later, before they are assigned again; and on which any cost depends. What is known
of others only costs time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from checker import limits
from checker.synthesis.outline import Block, Branch, Cases, Item, Loop, Partial, Plain, Split, items
from logic.assertions import P
from logic.potentials import leaves
from logic.syntax import (
    GHOST,
    Assign,
    Assume,
    Expr,
    Op,
    Read,
    Skip,
    Sync,
    Var,
    Write,
    evaluated,
    local_vars,
    made_of,
    sources,
    subterms,
)

Names = frozenset[str]


def before(block: Block, after: Names) -> Names:
    """The variables live before a block, of those that are after it."""
    return points(block, after)[0]


def points(block: Block, after: Names) -> list[Names]:
    """The variables live before each item of a block, and after the last one."""
    found = [after]
    for item in reversed(block):
        found.append(_before(item, found[-1]))
    return found[::-1]


def turning(loop: Loop, after: Names) -> Names:
    """The variables live at the head of a loop: those that its test or a turn reads, and those live after it."""
    head = after | local_vars(loop.cond) | _stated(loop.invariant)
    return head | before(loop.body, head)


def within(branch: Branch, after: Names) -> Names:
    """The variables live at the end of a side of a branch: lanes of the other side may be still to come."""
    return after | before(branch.orelse, after)


def _before(item: Item, after: Names) -> Names:
    match item:
        case Plain(stmt):
            return _by(stmt, after)
        case Branch(cond, then):
            return local_vars(cond) | (both := within(item, after)) | before(then, both)
        case Loop():
            return turning(item, after)
        case Split(cond):
            return after | local_vars(cond)
        case Cases(cond, then, orelse):
            return local_vars(cond) | before(then, after) | before(orelse, after)
        case Partial():
            return after | _stated(item)


def _by(stmt: Skip | Sync | Assign | Write | Assume, after: Names) -> Names:
    match stmt:
        case Assign(x, e) if x.startswith(GHOST):  # facts alone read a ghost
            return after | {x} | local_vars(e)
        case Assign(x, e):
            return (after - {x}) | local_vars(e)
        case Assume(e):
            return after | local_vars(e)
        case Write(_, index, value):
            return after | local_vars(index) | local_vars(value)
    return after


def costing(block: Block) -> Names:
    """The variables on which any cost may depend: those in tests, in indices, in what the outline states and in ghosts,
    and those from which these get their values. What is loaded, summed up and stored mostly is not among them."""
    found: list[str] = []
    for item in items(block):
        match item:
            case Plain(Assign(x, e)):
                found += [x] if x.startswith(GHOST) else _places(e)
            case Plain(Write(_, index, value)):
                found += (*local_vars(index), *_places(value))
            case Plain(stmt):
                found += (x for e in evaluated(stmt) for x in local_vars(e))
            case Branch(cond) | Split(cond) | Cases(cond):
                found += local_vars(cond)
            case Loop(cond, invariant):
                found += (*local_vars(cond), *_stated(invariant))
            case Partial():
                found += _stated(item)
    return made_of(found, sources(item.stmt for item in items(block) if isinstance(item, Plain)))


def _places(e: Expr) -> Iterator[str]:
    """The variables in the indices of an expression."""
    return (x for t in subterms(e) if isinstance(t, Read) for x in local_vars(t.index))


def _stated(condition: Partial) -> Names:
    potential = () if condition.q is None else (x.name for x in leaves(condition.q) if isinstance(x, Var))
    return frozenset().union(*map(local_vars, condition.p or ()), condition.x or (), potential)


def spoken(p: P, live: Names) -> P:
    """The facts of P, if they are many, without equations for dead variables that no other fact mentions: those take
    nothing from what is known of the rest. Ghosts stay."""
    left = list(p)
    while len(p) > limits.KNOWN:
        times = Counter(x for c in left for x in local_vars(c))
        once = frozenset(x for x, n in times.items() if n == 1 and x not in live and not x.startswith(GHOST))
        more = [c for c in left if not _defines(c, once)]
        if len(more) == len(left):
            break
        left = more
    return tuple(left)


def _defines(c: Expr, names: Names) -> bool:
    """Whether a fact says what one of these variables is, by others."""
    match c:
        case Op("==", (Var(x), e)):
            return x in names and x not in local_vars(e)
    return False


def kept(p: P, dead: Names, changed: Names) -> P:
    """The facts of P that tell something of what is not dead: those that mention nothing dead, and those that link a
    dead variable, maybe by others, to one of `changed` that is not."""
    told: set[str] = set()
    about: list[tuple[Expr, Names]] = [(c, local_vars(c)) for c in p]
    grown = True
    while grown:
        grown = False
        for _, names in about:
            if names & dead and not names & dead <= told and names & ((changed - dead) | told):
                told |= names & dead
                grown = True
    return tuple(c for c, names in about if names & dead <= told)
