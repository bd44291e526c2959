"""Reductions modulo 2^bits: which of them change a value, and what becomes of those that may.

The body of a kernel is walked forward, with limits for all integers (`semantics.cuda.stores`); at a loop's head they
are those of an invariant, found by widening and then narrowing. A reduction of a value

1. is left out where the value is in the range of the type: the program is then the same as without it;
2. is left out, too, where that is so under a proposition over parameters and the launch alone (`n + gridDim.x *
   blockDim.x <= 4294967296`) that holds for all ordinary sizes: it is listed as an assumption of the reading;
3. to a signed type that no arithmetic is narrower than is left out where ordinary sizes keep the value in its range.
   That a value fits which a signed variable is to have is the assumption that signed arithmetic does not overflow: it
   makes no difference to it whether the sum was written with ints, or with the unsigned sizes that CUDA offers. What
   does not fit in ordinary launches,
   a hash or a sum that begins at the end of the range, is no such sum, and reduced. Neither is what was loaded,
   but for ints that are added: nothing of that is ordinary. That parameters of wider types fit is a proposition;
4. else is an operator. A comparison of e modulo 2^bits, where e may be below 0, is one of e with a test of its sign, if
   that says all: (unsigned)(t - 1) < n is 0 <= t - 1 && t - 1 < n.

Sums, products and bits modulo 2^bits depend on their operands modulo 2^bits only: what is in them is reduced once, and
where its value is used: compared, divided, shifted right, converted to a wider type, assigned, an index. What is
written to an array of unsigned elements may stay as it is, if everything that is read from it is then taken to be so.

A variable of a type has a value of that type, as signed overflow is undefined, and all else is reduced where it is
assigned. So do elements of arrays that are only accessed as one type, and what nothing is known of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from logic.operators import FLIPPED
from logic.syntax import (
    BOOL,
    INT,
    Assign,
    Const,
    Expr,
    If,
    Op,
    Param,
    Read,
    Seq,
    Stmt,
    Tid,
    Var,
    While,
    Write,
    local_vars,
    seq,
    subterms,
    written,
)
from logic.typing import Signature, type_of
from semantics.cuda.held import Held, leaf, told
from semantics.cuda.limits import limits
from semantics.cuda.made import Made
from semantics.cuda.modular import SHORT_BITS, Integer, Reduced
from semantics.cuda.moving import together
from semantics.cuda.remainders import Value, signed_case
from semantics.cuda.stores import ANY, INFINITE, ORDINARY, Range, Store, cut, negation, of_ordinary_sizes
from semantics.cuda.sums import (
    Sum,
    at_most,
    constant,
    leaves,
    over_launch,
    over_parameters,
    plus,
    product,
    single,
    variable,
)

TURNS: Final = 256
"""Of a loop that ordinary sizes give no end."""

WORK: Final = 15_000
"""Statements that are looked at before loops are taken as they come."""


@dataclass(frozen=True, slots=True)
class Types:
    """The integer types of variables, parameters and elements of arrays; of an array, all that it is accessed as. Of
    tables, the limits of what they are declared to hold."""

    scalars: Mapping[str, Integer]
    arrays: Mapping[str, frozenset[Integer]]
    tables: Mapping[str, Range] = field(default_factory=dict)

    def may_be(self, array: str, low: int, high: int) -> bool:
        """Whether nothing that is declared says that an element of an array is not within limits."""
        least, most = self.tables.get(array, (low, high))
        return low <= least and most <= high


@dataclass(frozen=True, slots=True)
class Need:
    """A need that a walk found: a proposition that a reduction is left out for, or, by its number, one to a signed type
    that ordinary sizes need, or one that is left."""

    fact: Expr | None = None
    unfit: int = 0
    left: int = 0


Needs = frozenset[Need]
NONE: Final[Needs] = frozenset()


class Seen(NamedTuple):
    """An expression without reductions, what is known of it and what that needs."""

    expr: Expr
    value: Value
    needs: Needs = NONE


@dataclass(slots=True)
class Walk:
    """One walk over a kernel. `fitting` has the numbers of reductions to signed types that ordinary sizes keep in their
    range; None while that is looked for. A walk may `assume` facts of sizes that hold for what is `passed` in launches,
    and `split` comparisons. `loose` are the arrays whose elements may be out of range, `trusted` those that were read
    as if theirs were not. `data` are contracts on arrays that no thread writes; of those `narrows` has the limits of
    signed types that their elements are taken to be in. `loaded` are the variables with something that was loaded in
    their values."""

    types: Types
    made: Made
    start: Store
    fitting: frozenset[int] | None
    assume: bool
    split: bool = True
    loose: set[str] = field(default_factory=set)
    data: tuple[Held, ...] = ()
    narrows: dict[str, Range] = field(default_factory=dict)
    loaded: frozenset[str] = frozenset()
    passed: Sequence[Store] = ()
    work: int = 0
    memo: dict[int, Seen] = field(default_factory=dict)
    trusted: set[str] = field(default_factory=set)

    @property
    def sigma(self) -> Signature:
        return self.made.sigma

    @property
    def ordinary(self) -> bool:
        return self.fitting is None

    # --- expressions ---------------------------------------------------------------------------------------------

    def expr(self, e: Expr, at: Store) -> Seen:
        """An expression as it is evaluated at a point."""
        if self.made.real(e):
            return Seen(e, Value())
        self.memo = {}
        return self._seen(e, at)

    def _seen(self, e: Expr, at: Store) -> Seen:
        if e.__class__ is Op and self.made.real(e):
            return Seen(e, Value())
        known = self.memo.get(id(e)) if isinstance(e, Reduced) else None
        if known is not None:
            return known
        found = self._see(e, at)
        if isinstance(e, Reduced):
            self.memo[id(e)] = found
        return found

    def _see(self, e: Expr, at: Store) -> Seen:
        match e:
            case Reduced():
                return self._reduce(e, at)
            case Const(int(k)) if e.type == INT:
                return Seen(e, Value((k, k), constant(k)))
            case Var() | Param() | Tid():
                own, alone = self.made.leaf(e)
                return Seen(e, Value(at.ranges.get(own, ANY), alone))
            case Read(array, index):
                i = self._seen(index, at)
                same = e if i.expr is index else Read(array, i.expr, e.loc)
                if array in at.elements and i.value.sum is not None:
                    for fact in told(self.data, array, i.value.sum, at):
                        at.fact(fact)
                    element = leaf(array, i.value.sum)
                    return Seen(same, Value(at.range(element), single(element)), i.needs)
                return Seen(same, Value(self._element(array)), i.needs)
            case Op("&&" | "||" as op, (a, b)):
                x = self._seen(a, at)
                outer, self.memo = self.memo, {}
                y = self._seen(b, self.assumed(x.expr, op == "&&", at))
                self.memo = outer
                return Seen(self.made.rebuilt(e, (x.expr, y.expr)), Value(), x.needs | y.needs)
            case Op("?:") if chosen := self.made.choice(e):
                return self._atom(e, at.among(chosen), at, NONE)
            case Op("?:", (c, a, b)):
                test = self._seen(c, at)
                x, y = self._side(a, test.expr, True, at), self._side(b, test.expr, False, at)
                ends = [*x.value.range, *y.value.range]
                made = self.made.rebuilt(e, (test.expr, x.expr, y.expr))
                return self._atom(made, (min(ends), max(ends)), at, test.needs | x.needs | y.needs)
            case Op("&", (a, Const(int(k)) as bits)) if k >= 0:
                return self._operated(
                    e, [self._seen(self.made.stripped(a, k.bit_length()), at), self._seen(bits, at)], at
                )
            case Op(_, args):
                parts = [self._seen(a, at) for a in args]
                return self._operated(e, parts, at)
        return Seen(e, Value())

    def _side(self, e: Expr, cond: Expr, holds: bool, at: Store) -> Seen:
        """A part that is evaluated only where a condition holds, or does not."""
        outer, self.memo = self.memo, {}
        found = self._seen(e, self.assumed(cond, holds, at))
        self.memo = outer
        return found

    def _element(self, array: str) -> Range:
        kinds = self.types.arrays.get(array, frozenset())
        if not kinds or array in self.loose:
            return ANY
        self.trusted.add(array)
        if self.ordinary and all(t.signed and t.bits <= 32 for t in kinds):  # in sums alone, see `_added`
            return -ORDINARY[1], ORDINARY[1]
        return min(t.low for t in kinds), max(t.high for t in kinds)

    def _atom(
        self, e: Expr, limits: Range, at: Store, needs: Needs, of: tuple[Expr, Value, Integer] | None = None
    ) -> Seen:
        """A value with limits of its own, known by the expression where that stands for it."""
        if isinstance(e, Const) or not self.made.steady(e):
            return Seen(e, Value(limits, None, of), needs)
        low, high = at.range(e)
        if (tight := (max(low, limits[0]), min(high, limits[1]))) != (low, high) and tight[0] <= tight[1]:
            at.ranges[e] = tight
        return Seen(e, Value(at.range(e), single(e), of), needs)

    def _operated(self, e: Op, parts: Sequence[Seen], at: Store) -> Seen:
        made = self.made.rebuilt(e, [p.expr for p in parts])
        needs = NONE.union(*(p.needs for p in parts))
        values = [p.value for p in parts]
        if e.op in ("<", "<=", ">", ">=", "==", "!=") and len(parts) == 2:
            return Seen(self._compared(made, parts, at), Value(), needs)
        if not self.made.is_int(made):
            return Seen(made, Value(), needs)
        sums = [v.sum for v in values]
        total: Sum | None = None
        match e.op, sums:
            case "+" | "-" as op, [dict(a), dict(b)]:
                total = plus(a, b, 1 if op == "+" else -1)
            case "*", [dict(a), dict(b)]:
                total = product(a, b)
            case "neg", [dict(a)]:
                total = plus({}, a, -1)
            case "<<", [dict(a), dict(b)] if not leaves(b) and 0 <= b.get((), 0) < 64:
                total = product(a, constant(1 << b.get((), 0)))
        own = limits(e.op, [v.range for v in values])
        if e.op == "int" and type_of(parts[0].expr, self.sigma) == BOOL:
            own = (0, 1)
        elif e.op == "int" and self.ordinary and not any(isinstance(t, Read | Var) for t in subterms(made)):
            own = (-ORDINARY[1], ORDINARY[1])  # of sizes
        if total is not None:
            low, high = at.of(total)
            return Seen(made, Value((max(low, own[0]), min(high, own[1])), total), needs)
        seen = self._atom(made, own, at, needs)
        if e.op in ("/", ">>", "%", "&") and values[0].range[0] >= 0 and self.made.steady(made):
            first = values[0].sum
            over = at.bounded(first, True) if first is not None else None
            if over is not None and all(isinstance(x, Param) for x in leaves(over)):
                at.upper.setdefault(made, (over,))
                match made.args[1], e.op:
                    case Const(int(k)), "/" if k > 0:
                        at.whole.setdefault(made, (k, over))
                    case Const(int(k)), ">>" if 0 <= k < 64:
                        at.whole.setdefault(made, (1 << k, over))
        return seen

    # --- reductions ----------------------------------------------------------------------------------------------

    def _reduce(self, e: Reduced, at: Store) -> Seen:
        t = e.to
        forms = self.made.forms(e)
        once = forms[0]
        seen: list[Seen] = []
        for form in forms:
            s = self._within_source(e, form, self._seen(form, at))
            other = form is e.inner and form is not once
            if other and not self.ordinary and left(s.needs) > left(seen[0].needs):
                continue  # it may be inside, but for what is reduced in it
            seen.append(s)
            if not self.ordinary and (inside := self._inside(s.value, t, at)) is not None:
                return s._replace(value=inside)
        every = NONE.union(*(s.needs for s in seen))
        plain = seen[int(len(forms) > 1 and forms[1] is not e.inner)]
        for s in () if not self.ordinary else seen if t.wraps else (plain,):
            if (inside := self._inside(s.value, t, at)) is not None:
                return s._replace(value=inside, needs=every)
        if self.assume and t.wraps and self._counts(e) and not self.ordinary:
            for s in seen:
                if (facts := self._facts(s.value, t, at)) is not None:
                    return self._taken(s, t, frozenset(Need(f) for f in facts))
        if not t.wraps:
            if self.ordinary:
                return self._taken(plain, t, every | {Need(unfit=id(e))})
            if self.fitting is not None and id(e) in self.fitting and (facts := self._usual(plain, t, at)) is not None:
                return self._taken(plain, t, frozenset(Need(f) for f in facts))
            if self.assume and (array := _element_of(plain.value, at)) and self.types.may_be(array, t.low, t.high):
                low, high = self.narrows.get(array, ANY)
                self.narrows[array] = max(low, t.low), min(high, t.high)
                return self._taken(plain, t, NONE)
        first = seen[0]
        needs = every if self.ordinary else first.needs | {Need(left=id(e))}
        return self._atom(self.made.masked(first.expr, t), (t.low, t.high), at, needs, (first.expr, first.value, t))

    def _counts(self, e: Reduced) -> bool:
        """Whether sizes may be assumed to fit what a value is reduced to: of shorts, where one is counted. What else
        becomes one, or a byte, is mostly no size."""
        own = [x.name for x in subterms(e.inner) if isinstance(x, Var)] if e.to.bits == SHORT_BITS else []
        return e.to.bits > SHORT_BITS or any(self.types.scalars.get(x) == e.to for x in own)

    def _within_source(self, e: Reduced, form: Expr, s: Seen) -> Seen:
        """The value, its range narrowed: what is converted from a signed type is in the range of that type, and a shift
        is by fewer bits than that type has of which it is, which no form without reductions says."""
        low, high = s.value.range
        if form is not e.inner:
            return s
        own = e.source or e.to
        if own is e.source and own.signed:
            low, high = max(low, own.low), min(high, own.high)
        match form:
            case Op("<<", (Const(int(k)), _)) if k >= 0:
                low, high = max(low, 0), min(high, k << own.bits - 1)
        return (
            s if (low, high) == s.value.range or low > high else s._replace(value=s.value._replace(range=(low, high)))
        )

    def _inside(self, v: Value, t: Integer, at: Store) -> Value | None:
        """The value, if it is in the range of a type."""
        low, high = v.range
        if low < t.low and v.sum is not None:
            low = max(low, *at.extremes(v.sum, False))
        if high > t.high and v.sum is not None:
            high = min(high, *at.extremes(v.sum, True))
        return v._replace(range=(low, high)) if low >= t.low and high <= t.high else None

    def _usual(self, s: Seen, t: Integer, at: Store) -> list[Expr] | None:
        """Propositions under which a value fits that fits usually: none of what is in range or of launches,
        else over parameters; None where these do not say it."""
        if not self._added(s.expr):
            return None
        own = {x.name for x in subterms(s.expr) if isinstance(x, Var | Param)}
        wide = {
            x for x in own if (kind := self.types.scalars.get(x)) and not (t.low <= kind.low and kind.high <= t.high)
        }
        usual = not wide or (not wide & self.sigma.params.keys() and self._of_launch(s.value, t, at))
        if usual and self._closed(s.expr, t, at):
            return []
        return self._facts(s.value, t, at) if self.assume else None

    def _closed(self, e: Expr, t: Integer, at: Store) -> bool:
        """Whether no operator on bits has an operand outside of a type: of ints that is one of unsigned numbers, which
        overflow nothing (`n & 0xfffffff8u` of a negative n)."""
        args = [a for x in subterms(e) if isinstance(x, Op) and x.op in ("&", "|", "^") for a in x.args]
        return all(t.low <= end <= t.high for a in args for end in self._seen(a, at).value.range)

    def _added(self, e: Expr) -> bool:
        """Whether what was loaded is in a value as a summand, if it is in it at all."""
        match e:
            case Op("+" | "-" | "neg", args):
                return all(map(self._added, args))
            case Var() | Read():
                return True
        return not any(isinstance(t, Read) or (isinstance(t, Var) and t.name in self.loaded) for t in subterms(e))

    def _of_launch(self, v: Value, t: Integer, at: Store) -> bool:
        """Whether sizes and indices that CUDA gives bound a value, in the range of a type where they are ordinary."""
        usual = of_ordinary_sizes(at)
        ends = (
            any(over_launch(s) and t.low <= usual.of(s)[up] <= t.high for s in at.bounds(v.sum or {}, bool(up)))
            for up in range(2)
        )
        return v.sum is not None and all(ends)

    def _facts(self, v: Value, t: Integer, at: Store) -> list[Expr] | None:
        """Propositions over parameters under which a value is in the range of a type, all of them true of ordinary
        sizes; None where there are none."""
        if v.sum is None:
            return None
        usual = of_ordinary_sizes(at)
        found: list[Expr] = []
        if v.range[0] < t.low and max(at.extremes(v.sum, False)) < t.low:
            fine = (s for s in at.bounds(v.sum, False) if over_parameters(s) and usual.of(s)[0] >= t.low)
            under = next(fine, None)
            if under is None:
                return None
            found.append(at_most(plus(constant(t.low), under, -1)))
        if v.range[1] > t.high and min(at.extremes(v.sum, True)) > t.high:
            fine = (s for s in at.bounds(v.sum, True) if over_parameters(s) and usual.of(s)[1] <= t.high)
            over = next(fine, None)
            if over is None:
                return None
            found.append(at_most(plus(over, constant(t.high), -1)))
        return None if any(self.assumed(fact, True, own).dead for fact in found for own in self.passed) else found

    def _taken(self, s: Seen, t: Integer, needs: Needs) -> Seen:
        """A value that is taken to be in the range of a type."""
        low, high = max(s.value.range[0], t.low), min(s.value.range[1], t.high)
        return Seen(s.expr, s.value._replace(range=(low, high) if low <= high else (t.low, t.high)), s.needs | needs)

    def _compared(self, e: Expr, parts: Sequence[Seen], at: Store) -> Expr:
        """A comparison with a remainder, as one with what it is a remainder of."""
        (a, b), op = parts, e.op if isinstance(e, Op) else ""
        if a.value.of is None and b.value.of is not None:
            mirrored = FLIPPED.get(op, op)
            found = signed_case(mirrored, b.value.of, a.value.range, a.expr, at, self.split)
            return e if found is None else found
        if a.value.of is not None and b.value.of is None:
            found = signed_case(op, a.value.of, b.value.range, b.expr, at, self.split)
            return e if found is None else found
        return e

    # --- what a condition says -----------------------------------------------------------------------------------

    def assumed(self, cond: Expr, holds: bool, at: Store) -> Store:
        """The store where a condition holds, or does not; the condition has no reductions any more."""
        there = at.copy()
        self._assume(cond, holds, there)
        return there

    def _assume(self, cond: Expr, holds: bool, at: Store) -> None:
        match cond:
            case Op("&&", (a, b)) if holds:
                self._assume(a, True, at)
                self._assume(b, True, at)
            case Op("||", (a, b)) if not holds:
                self._assume(a, False, at)
                self._assume(b, False, at)
            case Op("||", (a, b)) | Op("&&", (a, b)):
                one, other = self.assumed(a, holds, at), self.assumed(b, holds, at)
                both = one.join(other)
                at.ranges, at.upper, at.facts = both.ranges, both.upper, both.facts
                at.whole, at.dead = both.whole, both.dead
            case Op("!", (a,)):
                self._assume(a, not holds, at)
            case Op(_, (a, b)) if (test := cond if holds else negation(cond)) is not None and isinstance(test, Op):
                self._compare(test.op, a, b, at)

    def _compare(self, op: str, a: Expr, b: Expr, at: Store) -> None:
        if not (self.made.is_int(a) and self.made.is_int(b)):
            return
        x, y = self._seen(a, at).value, self._seen(b, at).value
        left, right = x.sum, y.sum
        if left is None and right is not None and op in ("<", "<=", ">", ">=", "=="):
            self._limited(right, op, x.range, at, True)
        elif right is None and left is not None and op in ("<", "<=", ">", ">=", "=="):
            self._limited(left, op, y.range, at, False)
        if left is None or right is None:
            return
        less, more = plus(right, left, -1), plus(left, right, -1)
        one = constant(-1)
        match op:
            case "<":
                at.fact(plus(less, one))
            case "<=":
                at.fact(less)
            case ">":
                at.fact(plus(more, one))
            case ">=":
                at.fact(more)
            case "==":
                at.fact(less)
                at.fact(more)
            case "!=":
                for s in (less, more):
                    if s in at.facts:
                        at.fact(plus(s, one))
                for s, t in ((left, right), (right, left)):
                    if len(s) == 1 and not leaves(t) and list(s.values()) == [1] and len(next(iter(s))) == 1:
                        at.differs(next(iter(s))[0], t.get((), 0))
        for e, k in at.quotients().items():
            if (divided := self._seen(e.args[0], at).value.sum) is not None:
                at.narrow(plus({(e,): k, (): k - 1}, divided, -1))

    def _limited(self, s: Sum, op: str, limits: Range, at: Store, mirrored: bool) -> None:
        """A sum compared with a value of which only the limits are known."""
        if mirrored:
            op = FLIPPED.get(op, op)
        low, high = limits
        if op in ("<", "<=", "==") and high < INFINITE:
            at.fact(plus(constant(high - (op == "<")), s, -1))
        if op in (">", ">=", "==") and low > -INFINITE:
            at.fact(plus(s, constant(-(low + (op == ">")))))

    # --- statements ----------------------------------------------------------------------------------------------

    def run(self, s: Stmt, at: Store) -> tuple[Stmt, Store, Needs]:
        """A statement without reductions, what holds after it, and what that needs. The store is used up."""
        self.work += 1
        match s:
            case Seq(stmts):
                found: list[Stmt] = []
                needs = NONE
                for part in stmts:
                    made, at, more = self.run(part, at)
                    found.append(made)
                    needs |= more
                return (s if all(a is b for a, b in zip(found, stmts, strict=True)) else seq(*found)), at, needs
            case Assign(x, e):
                return self._assign(s, x, e, at)
            case Write(array, index, e):
                i, v = self.expr(index, at), self._written(array, e, at)
                same = i.expr is index and v.expr is e
                return (s if same else Write(array, i.expr, v.expr, s.loc)), at, i.needs | v.needs
            case If(cond, then, orelse):
                c = self.expr(cond, at)
                a, one, first = self.run(then, self.assumed(c.expr, True, at))
                b, other, second = self.run(orelse, self.assumed(c.expr, False, at))
                same = c.expr is cond and a is then and b is orelse
                return (s if same else If(c.expr, a, b, s.loc)), one.join(other), c.needs | first | second
            case While():
                return self._loop(s, at)
        return s, at, NONE

    def _assign(self, s: Assign, x: str, e: Expr, at: Store) -> tuple[Stmt, Store, Needs]:
        seen = self.expr(e, at)
        made = s if seen.expr is e else Assign(x, seen.expr, s.loc)
        if self.sigma.locals[x] != INT:
            at.forget([x])
            return made, at, seen.needs
        low, high = seen.value.range
        own = variable(x)
        if (t := self.types.scalars.get(x)) is not None and not (t.low <= low and high <= t.high):
            low, high = max(low, t.low), min(high, t.high)
            if low > high:
                low, high = t.low, t.high
        if self.ordinary and (low <= -INFINITE or high >= INFINITE):
            low, high = max(low, -ORDINARY[1]), min(high, ORDINARY[1])
        total = seen.value.sum
        uppers: list[Sum] = []
        if total is not None:
            for choice in range(2):
                over = at.bounded(total, True, choice)
                if over is not None and over not in uppers and over_parameters(over):
                    uppers.append(over)
        if total is not None and total.get((own,)) == 1 and own not in leaves(by := plus(total, single(own), -1)):
            if not any(isinstance(f, Op | Read) and x in local_vars(f) for f in leaves(by)):
                at.moved(own, by)
            else:
                at.forget([x])
        else:
            at.forget([x])
            if total is not None and len(total) <= 4 and not any(x in local_vars(f) for f in leaves(total)):
                for f in (plus(single(own), total, -1), plus(total, single(own), -1)):
                    at.keep(f)
        at.ranges[own] = (low, high)
        if uppers:
            at.upper[own] = tuple(uppers)
        return made, at, seen.needs

    def _written(self, array: str, e: Expr, at: Store) -> Seen:
        """The value that is written to an array: as it is where its elements may be out of range."""
        seen = self.expr(e, at)
        kinds = self.types.arrays.get(array, frozenset())
        wide = isinstance(e, Reduced) and not e.to.signed and e.to.bits > SHORT_BITS
        if isinstance(e, Reduced) and wide and kinds == {e.to} and seen.value.of:
            self.loose.add(array)
            return seen._replace(expr=seen.value.of[0])
        return seen

    def _loop(self, s: While, at: Store) -> tuple[Stmt, Store, Needs]:
        beside = [] if self.work > WORK else together(s, at)
        while True:
            made, after, needs, end = self._invariant(s, at, beside)
            kept = beside if end.dead else [f for f in beside if f in end.facts]
            if len(kept) == len(beside):
                return made, after, needs
            beside = kept

    def _invariant(self, s: While, at: Store, beside: Sequence[Sum]) -> tuple[Stmt, Store, Needs, Store]:
        """A loop with facts that are to hold at its head; what holds after it, what it needs, and what holds after a
        turn."""
        changed = sorted(x for x in written(s.body) if self.sigma.locals[x] == INT)
        head = at.copy()
        head.forget(written(s.body), ranges=False)
        for fact in beside:
            head.keep(fact)
        if self.work > WORK:  # loops in it would be gone through again for each turn
            head.ranges |= {variable(x): ANY for x in changed}
            made, end, cond, needs = self._turn(s, head)
            return made, self.assumed(cond, False, head), needs, end
        steps = 2
        made, end, cond, needs = self._turn(s, head)
        grown: dict[str, Range] = {}
        for step in range(steps + 1):
            wider = _around(at, end, changed)
            if _covers(head, wider, changed):
                break
            for x in changed if step < steps else ():
                (low, high), (least, most) = head.range(variable(x)), wider.get(x, ANY)
                t = self.types.scalars.get(x)
                floor, top = (t.low, t.high) if t and t.low <= least and most <= t.high else ANY
                if self.ordinary and step == 0:
                    grown[x] = (low - least, most - high)
                    floor = max(floor, cut(low - TURNS * (low - least)))
                    top = min(top, cut(high + TURNS * (most - high)))
                head.ranges[variable(x)] = (low if least >= low else floor, high if most <= high else top)
            if step == steps:
                head.ranges |= {variable(x): ANY for x in changed}
            made, end, cond, needs = self._turn(s, head)
            if self.ordinary and step == 0 < steps:
                again = _around(at, end, changed)
                if all(
                    low - again.get(x, ANY)[0] <= grown[x][0] and again.get(x, ANY)[1] - high <= grown[x][1]
                    for x in changed
                    for low, high in [head.range(variable(x))]
                ):
                    break
        narrow = head.copy()
        for x, r in _around(at, end, changed).items():
            low, high = head.range(variable(x))
            narrow.ranges[variable(x)] = (max(low, r[0]), min(high, r[1])) if max(low, r[0]) <= min(high, r[1]) else r
        if narrow.ranges != head.ranges and self.work <= WORK:
            other = self._turn(s, narrow)
            if _covers(narrow, _around(at, other[1], changed), changed):
                head, (made, end, cond, needs) = narrow, other
            else:
                made, end, cond, needs = self._turn(s, head)
        return made, self.assumed(cond, False, head), needs, end

    def _turn(self, s: While, head: Store) -> tuple[Stmt, Store, Expr, Needs]:
        """A loop as it is with what holds at its head; what holds after a turn; its condition."""
        here = head.copy()
        c = self.expr(s.cond, here)
        body, end, needs = self.run(s.body, self.assumed(c.expr, True, here))
        same = c.expr is s.cond and body is s.body
        return (s if same else While(c.expr, body, s.loc)), end, c.expr, c.needs | needs


def left(needs: Needs) -> int:
    """The number of reductions that are left."""
    return len({n.left for n in needs if n.left})


def _around(entry: Store, end: Store, changed: Sequence[str]) -> dict[str, Range]:
    """The limits of variables at the head of a loop: those from before it and those after a turn."""
    if end.dead:
        return {x: entry.range(variable(x)) for x in changed}
    return {
        x: (min(entry.range(v)[0], end.range(v)[0]), max(entry.range(v)[1], end.range(v)[1]))
        for x in changed
        for v in [variable(x)]
    }


def _covers(head: Store, wider: Mapping[str, Range], changed: Sequence[str]) -> bool:
    return all(
        head.range(Var(x))[0] <= wider.get(x, ANY)[0] and wider.get(x, ANY)[1] <= head.range(Var(x))[1] for x in changed
    )


def _element_of(v: Value, at: Store) -> str | None:
    """The array that contracts speak of and a value is an element of, and nothing else."""
    parts = [e for e in leaves(v.sum or {}) if isinstance(e, Read) and e.array in at.elements]
    return parts[0].array if len(parts) == 1 and v.sum == single(parts[0]) else None
