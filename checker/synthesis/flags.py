"""Flags that end loops: `go` of `while (go) {..; if (i >= n) go = false; ..}`, which a `break` or `return` in a body
leaves. What the test of the jump says of the lanes that stay is kept as `!go || i < n`: from the second turn
on that is known where a turn begins, and bounds the loop as a test of its own would.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeGuard

from checker import limits
from logic.assertions import P, conj, opaque
from logic.comparisons import differences
from logic.facts import Facts
from logic.operators import ORDERS
from logic.potentials import of_expr, variables
from logic.syntax import (
    BOOL,
    FALSE,
    GHOST,
    INT,
    TRUE,
    Assign,
    Const,
    Expr,
    Op,
    Stmt,
    Var,
    local_vars,
    reads_array,
    statements,
    substitute,
    written,
)
from logic.typing import Signature


def flags(cond: Expr, body: Stmt, sigma: Signature) -> P:
    """The flags that a loop's test asks for, with the values it wants: truth values, and numbers that the body sets to
    constants alone."""
    return tuple(c for c in conj((cond,), sigma) if _is_flag(c, body, sigma))


def _is_flag(c: Expr, body: Stmt, sigma: Signature) -> bool:
    match c:
        case Var(name) | Op("!", (Var(name),)):
            return sigma.locals.get(name) == BOOL and name in written(body)
        case Op("==" | "!=", (Var(name), Const(int()))) if sigma.locals.get(name) == INT and name in written(body):
            values = (s.value for s in statements(body) if isinstance(s, Assign) and s.var == name)
            return all(isinstance(value, Const) for value in values)
    return False


def lowered(flag: Expr, sigma: Signature) -> Expr:
    """The condition under which the loop does not go on."""
    return next(iter(conj((Op("!", (flag,)),), sigma)), TRUE)


def holds(p: P, fact: Expr) -> bool:
    """Whether P says, word for word, what a flag is."""
    match fact:
        case Var():
            return fact in p or Op("==", (fact, TRUE)) in p
        case Op("!", (Var() as own,)):
            return fact in p or Op("==", (own, FALSE)) in p
    return fact in p


def kept(wanted: Sequence[Expr], gone: P, stays: P, sigma: Signature) -> Iterator[Expr]:
    """The knowledge of lanes that stay where they meet those that are gone, if one of these flags tells them apart."""
    outs = [lowered(flag, sigma) for flag in wanted]
    for flag, out in zip(wanted, outs, strict=True):
        if holds(gone, out) and not holds(stays, out):
            found = (c for c in stays if c not in gone and (_compares(c) or _unless(c, outs) is not None))
            new = [c for c in found if not local_vars(c) & local_vars(out)]
            yield from (Op("||", (out, c)) for c in new[: limits.FLAGGED])
            others = [conj((Op("!", (c,)),), sigma) for c in stays if _compares(c)]
            yield from (Op("||", (flag, c)) for c in gone if (c,) in others and not local_vars(c) & local_vars(out))


def weaker(wanted: Sequence[Expr], known: Iterable[Expr], sigma: Signature) -> Iterator[Expr]:
    """Orders as what holds while flags are up."""
    for c in known:
        if _compares(c):
            yield from (Op("||", (lowered(flag, sigma), c)) for flag in wanted if not local_vars(c) & local_vars(flag))


def assigned(wanted: Iterable[Expr], x: str, e: Expr, sigma: Signature) -> Iterator[Expr]:
    """The facts that a flag stands for after it got this value: go <- i < n that i < n, unless it is lowered."""
    for flag in wanted:
        match flag:
            case Var(name) | Op("!", (Var(name),)) if name == x and sigma.locals[x] == BOOL:
                up = e if isinstance(flag, Var) else Op("!", (e,))
                told = [c for c in conj((up,), sigma) if _compares(c) and x not in local_vars(c)]
                yield from (Op("||", (lowered(flag, sigma), c)) for c in told[: limits.FLAGGED])


def inverse(x: str, e: Expr) -> Expr | None:
    """The old x in terms of the new one, for e = x + d or x - d with d free of x."""
    match e:
        case Op("+", (Var(name), d)) if name == x and x not in local_vars(d) and not reads_array(d):
            return Op("-", (Var(x), d))
        case Op("+", (d, Var(name))) if name == x and x not in local_vars(d) and not reads_array(d):
            return Op("-", (Var(x), d))
        case Op("-", (Var(name), d)) if name == x and x not in local_vars(d) and not reads_array(d):
            return Op("+", (Var(x), d))
    return None


def moved(x: str, e: Expr, known: Iterable[Expr]) -> list[Expr]:
    """Orders of a variable after x <- x + d, in its new value: so do those of a turn that begins with a number, which
    else would be about that number alone."""
    before = inverse(x, e)
    return [] if before is None else [substitute(c, {x: before}) for c in known if _compares(c)]


def told(wanted: Iterable[Expr], p: P, sigma: Signature) -> tuple[P, P]:
    """Facts where a turn begins, by what P says of flags and as all of these are up then; and which ghosts are positive
    by that."""
    outs = [lowered(flag, sigma) for flag in wanted]
    found = [said for c in p if (said := _unless(c, outs)) is not None]
    known = (*found, *(c for c in p if _compares(c))) if found else ()
    left = (c.args for c in known if _is_left(c))
    positive = [Op(">", (ghost, Const(0))) for e, ghost in left if any(_positive(e, c) for c in known)]
    return conj(found, sigma), conj(positive, sigma)


def moving(told: Iterable[Expr], p: P, changed: frozenset[str]) -> list[str]:
    """The variables of facts that a loop changes, and those that P says they are made of."""
    known = {leaf.name: variables(d) for leaf, d in Facts(p).definitions.items()}
    names = sorted(frozenset[str]().union(*(local_vars(c) for c in told)) & changed)
    return [x for own in names for x in (own, *sorted(known.get(own, frozenset()) & changed))]


def about(wanted: Iterable[Expr], p: P, changed: frozenset[str], sigma: Signature) -> Iterator[Expr]:
    """The facts of P about flags and about what a loop changes."""
    outs = [lowered(flag, sigma) for flag in wanted]
    yield from (c for c in p if (said := _unless(c, outs)) is not None and local_vars(said) & changed)


def _unless(c: Expr, outs: Sequence[Expr]) -> Op | None:
    """The order that holds unless one of these flags is lowered, where a fact says so."""
    match c:
        case Op("||", (a, b)):
            for out, rest in ((a, b), (b, a)):
                if out in outs:
                    return rest if _compares(rest) else _unless(rest, outs)
    return None


def _is_left(c: Op) -> bool:
    """Whether a fact says that a ghost is at least something."""
    return c.op == "<=" and isinstance(c.args[1], Var) and c.args[1].name.startswith(GHOST)


def _positive(e: Expr, fact: Expr) -> bool:
    """Whether a fact says, as it stands, that e is above 0."""
    p = of_expr(e)
    return p is not None and any(q == p - 1 for q, _ in differences(fact))


def counts(cond: Expr, body: Stmt, sigma: Signature) -> bool:
    """Whether a loop's test compares what the body changes with something: it may bound the loop by itself."""
    changed = written(body)
    own = flags(cond, body, sigma)
    tests = (c for c in conj((cond,), sigma) if c not in own)
    return any(local_vars(c) & changed and not opaque(c, sigma) for c in tests)


def _compares(c: Expr) -> TypeGuard[Op]:
    """Whether a fact is an order of numbers that a potential can speak of."""
    match c:
        case Op(op, (a, b)) if op in (*ORDERS, "!=") and local_vars(c):
            return of_expr(a) is not None and of_expr(b) is not None
    return False


PARTED: Final = f"{GHOST}parted"
HERE: Final = f"{GHOST}here"


def marked(flag: Expr, parted: Expr, here: Expr, stays: Expr | None, sigma: Signature) -> tuple[Expr, ...]:
    """The facts by two ghosts on a flag that ends a loop. All lanes go on unless the one is 1; unless the
    other is, none does, or if given, `stays` is not positive at those that do."""
    zero, one = Const(0), Const(1)
    rest = Op(">=", (here, one)) if stays is None else Op("<=", (Op("min", (stays, Op("-", (one, here)))), zero))
    said = Op("||", (flag, Op(">=", (parted, one)))), Op("||", (lowered(flag, sigma), rest))
    return (*said, *(Op(op, (ghost, end)) for ghost in (parted, here) for op, end in ((">=", zero), ("<=", one))))


def parted(cond: Expr, p: P) -> Iterator[tuple[str, bool]]:
    """The ghosts by which P says that all lanes go on by the flags in a loop's test, and by which none does (True)."""
    for c in p:
        match c:
            case Op("||", (flag, Op(">=", (Var(ghost), Const(1))))) if ghost.startswith((PARTED, HERE)):
                if local_vars(flag) <= local_vars(cond):
                    yield ghost, ghost.startswith(HERE)
