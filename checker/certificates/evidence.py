"""Evidence for a side condition, as a certificate has it: an arithmetic proof, or facts that follow from P, each with a
proof, by which the second checker sees in the lanes what the oracles saw.

The second checker knows no bounds and searches for nothing. It is asked here what it sees, first as it is, then told
more: that e holds everywhere, or nowhere; the signs of what stands in divisions, max and comparisons; where threadIdx
ends; and windows, where an index is at most so much more than one that it sees through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from math import ceil, floor
from typing import Any, Final

from checker import recheck
from checker.certificates.judge import decided, facts, frozen, implied, judge
from checker.oracles import farkas, known
from checker.oracles.terms import with_fresh
from checker.oracles.windows import windows
from logic.assertions import AtMost, Context, Entails, Obligation, P, Uniform, X, abstracted, assume, opaque
from logic.comparisons import as_expr
from logic.facts import numbers
from logic.potentials import Leaf, Poly, const, leaves, of_expr, of_terms, sym
from logic.syntax import BOOL, INT, Const, Expr, Op, Param, Read, Tid, Var, local_vars, replace_part, subterms
from logic.terms_as_json import expression
from logic.typing import type_of

Json = Any

MAX_STEPS: Final = 4
"""Of quotients in an index."""

ROUNDS: Final = 3
"""Signs that are known show others: so often."""


def proof(obligation: Obligation, context: Context) -> Json:
    """The evidence for an obligation, or None where nothing is needed, or nothing was found."""
    if isinstance(obligation, Entails):
        return next((rows or None for rows in _entailed(obligation, context) if rows is not None), None)
    if not isinstance(obligation, Uniform | AtMost):
        return farkas.proof(obligation, context)
    if decided(obligation, None, context):
        return None
    with suppress(recheck.Bad):  # what is too large for the second checker is left to it
        return next((way for way in _ways(obligation, context) if decided(obligation, way, context)), None)
    return None


def _entailed(o: Entails, context: Context) -> Iterator[Json]:
    """Proofs of the goals, or of what they are with the numbers that P tells in place of leaves, which the lanes see to
    be the same: of tid.x % (2 * s) where s is 32."""
    rows = farkas.proof(o, context, implied)
    goals = [expression(g) for g in o.goal]
    if rows is not None and (all(row["goal"] in goals for row in rows) or decided(o, rows, context)):
        yield rows
    told = o.goal
    for leaf, number in numbers(o.p).items():
        told = tuple(replace_part(goal, leaf, Const(number)) for goal in told)
    if told != o.goal:
        rows = farkas.entails(o.p, told, context, implied)
        if rows is not None and decided(o, rows, context):
            yield rows


def _ways(o: Uniform | AtMost, context: Context) -> Iterator[Json]:
    e = o.expr if isinstance(o, Uniform) else o.index
    sigma = with_fresh(context.sigma, (*o.p, e))
    if isinstance(o, Uniform) and type_of(e, sigma) == BOOL and not opaque(e, sigma):
        for holds in (True, False):
            rows = farkas.entails(o.p, assume((), e, sigma, holds), context, implied)
            if rows is not None:
                yield rows
    if isinstance(o, AtMost):
        for ways in (_unreduced, _by_thread, _windows, _near):
            with suppress(recheck.Bad):  # one is too much work, and the next may not be
                yield from ways(o, abstracted(e, sigma), context)
    with suppress(recheck.Bad):
        yield _told(o.p, o.x, e, context)
    if isinstance(o, AtMost):
        yield from _windows(o, abstracted(e, sigma), context, moved=True)


# --- signs ------------------------------------------------------------------------------------------------------------


def _told(p: P, x: X, e: Expr, context: Context) -> list[Json]:
    """Facts that follow from P, with their proofs, about all that stands in the way of seeing the value of e."""
    have = known.given(p, context)
    if (contradiction := farkas.absurd(have)) is not None:
        return [{"goal": expression(farkas.NEVER), "by": [contradiction]}]
    to, goals, rows = judge(context), list[Expr](), list[Json]()
    tried, told = set[Expr](), set[Leaf]()
    ends, beside = [*_ends(have, context)], _beside(p, x, e, context)
    for _ in range(ROUNDS):
        view = to.lanes(facts(to, (*p, *goals)), x)
        new = [side for side in (*_signs(view, e), *ends) if side not in tried]
        tried |= {*new}
        for leaf in (_fixed(view, e) | beside) - told:
            told |= {leaf}
            low, high = (farkas.least(sym(leaf) * sign, have) for sign in (1, -1))
            if low is not None and low == -(high or 0) and low.denominator == 1:
                goal = Op("==", (leaf, Const(int(low))))
                found = farkas.entails(p, (goal,), context)
                goals += [goal] if found else []
                rows += found or []
        for side in new:
            poly = of_expr(side)
            by = None if poly is None else farkas.plain(poly, have)
            if by is not None:
                goals.append(Op(">=", (side, Const(0))))
                rows.append({"goal": expression(goals[-1]), "by": [by]})
    return rows


def _signs(view: recheck.Lanes, e: Expr) -> list[Expr]:
    """Polynomials that may be nonnegative, and then show more of e, and of the facts that tell lanes apart."""
    values = [view.value_at(view.program.worth(frozen(e)), view.known, view.together), *(f for f, _ in view.local)]
    sides: set[recheck.Potential] = set()
    for a in {a for v in values for a in recheck.atoms(v)}:
        match a:
            case ("max0", d):
                sides |= {d, d * -1}
            case ("op", "<", d, 0):
                sides |= {d, -1 - d}
            case ("op", "==", d, 0):
                sides |= {d - 1, -1 - d}
    divided = [t.args[0] for t in subterms(e) if isinstance(t, Op) and t.op in ("/", "%")]
    return [*(side for q in sorted(sides, key=recheck.show) if (side := _spelled(q)) is not None), *divided]


def _fixed(view: recheck.Lanes, e: Expr) -> set[Leaf]:
    """The leaves in the value of e that all lanes share: it helps to know those that are one number."""
    value = view.value_at(view.program.worth(frozen(e)), view.known, view.together)
    shared = set(map(_atom, recheck.leaves(value) - {*recheck.TIDS}))
    return {of for of in shared if isinstance(of, Var | Param)}


def _beside(p: P, x: X, e: Expr, context: Context) -> set[Leaf]:
    """The leaves that lanes share of facts by which a truth value in e may hold: a number there may settle it, as
    z == 0 does in `go || z >= 1`."""
    sigma = context.sigma
    flags = {name for name in local_vars(e) - x if sigma.locals.get(name) == BOOL}
    found = (c for c in p if isinstance(c, Op) and c.op == "||" and local_vars(c) & flags)
    return {t for c in found for t in subterms(c) if isinstance(t, Var) and t.name in x and sigma.locals[t.name] == INT}


def _ends(have: known.Given, context: Context) -> Iterator[Expr]:
    """Polynomials that are nonnegative because of where threadIdx begins and ends by P."""
    for tid, size in zip((Tid("x"), Tid("y"), Tid("z")), context.launch.block, strict=True):
        low, high = (farkas.least(sym(tid) * sign, have) for sign in (1, -1))
        if low is not None and ceil(low) > 0:
            yield Op("-", (tid, Const(ceil(low))))
        if high is not None and (size is None or floor(-high) < size - 1):
            yield Op("-", (Const(floor(-high)), tid))


def _spelled(p: recheck.Potential) -> Expr | None:
    """A potential of the second checker as an expression; None where one cannot say it."""
    total: Expr | None = None
    for mono, c in sorted(recheck.terms(p), key=lambda term: recheck.show(recheck.Poly(frozenset({term})))):
        factors = [_atom(a) for a, e in sorted(mono, key=lambda part: recheck.show(part[0])) for _ in range(e)]
        if c.denominator != 1 or None in factors:
            return None
        known = [f for f in factors if f is not None]
        term: Expr = Const(abs(int(c)))
        if known:
            term, *known = known if abs(c) == 1 else [term, *known]
        for f in known:
            term = Op("*", (term, f))
        total = Op("+" if c > 0 else "-", (Const(0) if total is None else total, term)) if total or c < 0 else term
    return Const(0) if total is None else total


def _atom(a: recheck.Atom) -> Expr | None:
    match a:
        case ("var", name):
            return Var(name)
        case ("param", name):
            return Param(name)
        case ("tid", axis):
            return Tid(axis)
        case ("as it is", inside):
            return _atom(inside)
        case ("max0", d):
            arg = _spelled(d)
            return None if arg is None else Op("max", (arg, Const(0)))
        case ("floor", d, k):
            arg = _spelled(d)
            return None if arg is None else Op("/", (arg, Const(k)))
        case ("op", op, *parts) if op not in recheck.TRUTHS:
            args = [_spelled(part) for part in parts]
            return None if None in args else Op(op, tuple(arg for arg in args if arg is not None))
    return None


# --- windows ----------------------------------------------------------------------------------------------------------


def _unreduced(o: AtMost, index: Expr, context: Context) -> Iterator[Json]:
    """The index without a reduction that changes nothing, as P says: x for (x ^ (m & 7)) % 200 where x is less."""
    for t in dict.fromkeys(subterms(index)):
        match t:
            case Op("%" | "&", (Op("^" | "|") as whole, Const())):
                same = replace_part(index, t, whole)
                found = farkas.entails(o.p, (Op("==", (index, same)),), context, implied)
                if found is not None:
                    yield {"is": expression(same), "first": expression(same), "span": 0, "by": found}


def _by_thread(o: AtMost, index: Expr, context: Context) -> Iterator[Json]:
    """The index with what P says of threadIdx in place of variables that a warp shares: tid.y for a y that is that."""
    same = index
    for v in dict.fromkeys(t for t in subterms(index) if isinstance(t, Var) and t.name in o.x):
        told = (value for value in _definitions(v, o.p) if any(isinstance(t, Tid) for t in subterms(value)))
        same = replace_part(same, v, next(told, v))
    if same != index:
        found = farkas.entails(o.p, (Op("==", (index, same)),), context, implied)
        if found is not None:
            yield {"is": expression(same), "first": expression(same), "span": 0, "by": found}


def _windows(o: AtMost, index: Expr, context: Context, moved: bool = False) -> Iterator[Json]:
    """Indices that the second checker sees through, and how much more o may be: as much as the claim allows. With
    `moved` those for an index with what its variables are, and these as far from threadIdx as P says."""
    to = judge(context)
    view = to.lanes(facts(to, o.p), o.x)
    base, size, block = _base(o.index, o, view, moved), context.hardware.warp, context.launch.block[0]
    warp = Op("*", (Const(size), Op("/", (Tid("x"), Const(size)))))
    first: Expr = Const(0) if block is not None and block <= size else warp
    last = Const(block - 1) if block is not None and block <= size else Op("+", (warp, Const(size - 1)))
    plain = (base, replace_part(base, Tid("x"), first), replace_part(base, Tid("x"), last))
    if moved:
        yield from _from((replace_part(base, Tid("x"), first), base), [*_written_out(index, o)], o, index, context)
        return
    # each is looked for where none before it will do
    yield from _from(chain(plain, _shared(index, o, context)), (index, *_definitions(index, o.p)), o, index, context)


def _near(o: AtMost, index: Expr, context: Context) -> Iterator[Json]:
    """Windows from what lanes share and an index is near to, as facts and contracts say."""
    unit = context.hardware.sector if o.what == "MemReads" else context.hardware.word * context.hardware.banks
    most = min(recheck.MAX_SPAN - 1, o.n * unit // context.sigma.arrays[o.array].stride)
    starts = (start for start, _ in windows(o.index, o.p, o.x, context, most))
    yield from _from(starts, (index, *_definitions(index, o.p), *_written_out(index, o)), o, index, context)


def _from(starts: Iterable[Expr], sames: Sequence[Expr], o: AtMost, index: Expr, context: Context) -> Iterator[Json]:
    """Windows that begin at one of these indices, where o's index is the same as one of `sames`."""
    to = judge(context)
    view, array = to.lanes(facts(to, o.p), o.x), to.arrays[o.array]
    tried: set[Expr] = set()
    for start in starts:
        if start in tried:
            continue
        tried.add(start)
        ends = of_expr(start)
        # large numbers in facts may hide a proof from who looks for it, where none is needed
        enough = dict.fromkeys((o.p, ())) if ends is not None and ends.is_constant else (o.p,)

        def fits(span: int, start: Expr = start) -> bool:
            return view.most(array, frozen(start), range(span + 1), o.n) <= o.n

        def told(same: Expr, span: int, start: Expr = start, enough: Iterable[P] = enough) -> Json:
            goals = _within(index, same, start, span)
            proofs = (farkas.entails(p, goals, context, implied, steps=partial(_steps, same, start)) for p in enough)
            return next((proof for proof in proofs if proof is not None), None)

        if start == o.index or not fits(0):
            continue
        near = [same for same in sames if told(same, recheck.MAX_SPAN) is not None]
        if not near:
            continue
        low, high = 0, recheck.MAX_SPAN
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        for same in near:
            found = told(same, low)
            if found is not None:
                yield {"is": expression(same), "first": expression(start), "span": low, "by": found}


def _within(index: Expr, same: Expr, start: Expr, span: int) -> tuple[Expr, ...]:
    """Goals that say that an index, which is the same as another one, is in a window."""
    above, below = same, start
    match same, start:
        case Op("/", (a, c)), Op("/", (b, d)) if c == d:  # quotients are no farther apart, or closer
            above, below = a, b
            span *= c.value if isinstance(c, Const) and isinstance(c.value, int) and c.value > 0 else 1
    return Op("==", (index, same)), Op(">=", (above, below)), Op("<=", (above, Op("+", (below, Const(span)))))


def _steps(same: Expr, start: Expr, have: known.Given) -> Iterator[Poly]:
    """The facts, one by one, that a quotient in an index is at least that in its least, and at most as much more as its
    dividend is, rounded up."""
    for (a, k), (b, d) in islice(zip(_quotients(same), _quotients(start), strict=False), MAX_STEPS):
        apart = of_expr(Op("-", (a, b)))
        low, most = (None, None) if apart is None or k != d else (farkas.least(p, have) for p in (apart, apart * -1))
        more = None if low != 0 or most is None else of_expr(Op("-", (Op("/", (a, Const(k))), Op("/", (b, Const(k))))))
        if more is not None and most is not None:
            yield more
            yield const(ceil(-most / k)) - more


def _quotients(e: Expr) -> Iterator[tuple[Expr, int]]:
    """The dividends in e, also of rests, and the numbers that divide them."""
    for t in subterms(e):
        match t:
            case Op("/" | "%", (a, Const(int() as k, _))) if k > 0:
                yield a, k


def _shared(e: Expr, o: AtMost, context: Context) -> Iterator[Expr]:
    """The part of a sum that lanes share, and the least value of the rest."""
    poly = of_expr(e)
    if poly is None:
        return
    mine = {a for a in leaves(poly) if not isinstance(a, Param) and not (isinstance(a, Var) and a.name in o.x)}
    own = of_terms(t for t in poly.terms if leaves(Poly((t,))) & mine)
    low, rest = farkas.least(own, known.given(o.p, context)), as_expr(poly - own, bases=True)
    if low is not None and rest is not None:
        yield Op("+", (rest, Const(ceil(low)))) if ceil(low) else rest


def _base(e: Expr, o: AtMost, view: recheck.Lanes, solved: bool = False) -> Expr:
    """e with the least value in place of what lanes have of their own: 0 for x & 63 and x % 64, or what P says; and
    with what P says that variables are, where they differ along a row; also where that is to be solved for them."""
    match e:
        case Op("&" | "%", (a, Const(int() as k, _))) if k > 0 and _own(a, o.x, view):
            return Const(0)
        case Op(op, args):
            return Op(op, tuple(_base(a, o, view, solved) for a in args))
        case Var(name) if name not in o.x:
            for value in _definitions(e, o.p):
                rest = tuple(f for f in o.p if not (isinstance(f, Op) and f.args == (e, value)))
                value = _base(value, replace(o, p=rest), view, solved)
                return value if isinstance(value, Const) or Tid("x") in subterms(value) else e
            if solved and (found := next(_solved(e, o.p), None)) is not None:
                return found
            if frozen(e) in view.known:
                return _spelled(view.known[frozen(e)]) or e
            lows = [f.args[1] for f in o.p if isinstance(f, Op) and f.op == ">=" and f.args[0] == e]
            return max((low for low in lows if isinstance(low, Const)), key=lambda low: int(low.value), default=e)
    return e


def _written_out(e: Expr, o: AtMost) -> Iterator[Expr]:
    """An index with what P says that a variable of lanes' own is in its place: a proof compares max(0, .) with
    max(0, .), and not with a name."""
    for v in dict.fromkeys(t for t in subterms(e) if isinstance(t, Var) and t.name not in o.x and t != e):
        yield from (replace_part(e, v, value) for value in _definitions(v, o.p))


def _solved(e: Expr, p: P) -> Iterator[Expr]:
    """The values of a variable by equations that say how far it is from threadIdx.x, as those of ghosts of loops do:
    ghost == i - tid.x."""
    for f in p:
        match f:
            case Op("==", (Var() as ghost, Op("-", (left, Tid("x") as tid)))) if left == e:
                yield Op("+", (ghost, tid))


def _definitions(e: Expr, p: P) -> list[Expr]:
    """The definitions of a variable in P, as they stand there."""
    return [f.args[1] for f in p if isinstance(f, Op) and f.op == "==" and f.args[0] == e]


def _own(e: Expr, x: X, view: recheck.Lanes) -> bool:
    """Whether a value is of each lane's own, as far as lanes show."""
    leaves = [t for t in subterms(e) if isinstance(t, Var | Read)]
    return any(isinstance(t, Read) or (t.name not in x and frozen(t) not in view.known) for t in leaves)
