"""The behaviour of a warp, lane by lane: one symbolic execution of a kernel for all its runs.

A local variable has a value at every lane: an integer polynomial over unknowns (`checker.oracles.forms`), which may be
parameters, what a read returned, or how often a loop has turned. Where a branch may go either way both sides are
followed, each with the lanes that may take it. A loop is followed once, from a state that holds at the start of every
turn: each variable that it changes is where it started plus a distance that all lanes share, since lanes that are still
in a loop have made equally many turns, with the steps that divide the distance; or, where that is not inductive, it is
anything. So everything that a run of the semantics does is covered by what is found here, and nothing is certified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Final

from checker.analysis.coalescing.access import Key, keys
from checker.analysis.coalescing.vectors import Vec, applied, at, common, implied, linear, origins, shifted, substituted
from checker.oracles.forms import (
    Form,
    Number,
    const_of,
    content,
    minus,
    plus,
    scaled,
    terms_of,
    times,
)
from checker.oracles.lanes import MAX_THREADS, View
from logic.assertions import Context
from logic.syntax import (
    BOOL,
    INT,
    Array,
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Sync,
    Tid,
    Type,
    Var,
    While,
    Write,
    subterms,
    written,
)
from logic.typing import type_of

State = dict[str, Vec]

FEW_WARPS: Final = 2
"""Warps that are looked at one by one; of more, the first and any other."""

MAX_CHOICES: Final = 4
"""Values that one lane may have after branches, before it may have any."""

SMALL: Final = 8
"""Terms of a polynomial that is worth multiplying."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """A warp, or one that stands for many: the numbers of its lanes, and threadIdx at each."""

    numbers: tuple[int, ...]
    tid: dict[str, Vec]


@dataclass(frozen=True, slots=True)
class Active:
    """The lanes of a cohort, by position, that may be active; `single` where never two of them are at once.

    `path` has the conditions on the way here, each with its value at every lane and what it has to be.
    """

    lanes: tuple[int, ...]
    single: bool = False
    path: tuple[tuple[Vec, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Met:
    """An access on the way: its index at every lane, which lanes may take part, how many loops it is in."""

    key: Key
    array: Array
    index: Vec
    active: Active
    cohort: Cohort
    depth: int


Where = tuple[Active, int]
"""The active lanes, and in how many loops they are."""


def cohorts(view: View, warp: int) -> list[Cohort]:
    """The warps of a block: each by itself; or, where rows hold whole warps or warps hold whole rows, the first ones of
    a row or a layer and any other."""
    x, y, _ = view.dims
    if view.in_rows:
        return _in_rows(view, warp)
    if isinstance(x, int) and isinstance(y, int) and warp % x == 0 and y % (warp // x) == 0:
        return _of_rows(view, warp, x, y)
    if view.threads is None or view.threads > MAX_THREADS:  # nothing is known but that indices are not negative
        each = {axis: tuple(view.atoms.atom(("tid", axis, i), 0) for i in range(warp)) for axis in "xyz"}
        return [Cohort(tuple(range(warp)), {**each})]
    wide, high = x if isinstance(x, int) else 1, y if isinstance(y, int) else 1
    found = []
    for first in range(0, view.threads, warp):
        threads = range(first, min(first + warp, view.threads))
        tid: dict[str, Vec] = {
            "x": tuple(i % wide for i in threads),
            "y": tuple(i // wide % high for i in threads),
            "z": tuple(i // (wide * high) for i in threads),
        }
        found.append(Cohort(tuple(range(len(threads))), tid))
    return found


def _in_rows(view: View, warp: int) -> list[Cohort]:
    """Warps that lie in a row each."""
    rows: dict[str, Vec] = {axis: _index(view, axis, size) for axis, size in zip("yz", view.dims[1:], strict=True)}
    low, high = (None, None) if view.dims[0] is None else view.atoms.bounds(view.dims[0])
    known = low if low == high else None
    return [
        Cohort(ids, {"x": shifted(base, ids), **rows})
        for base in _starts(view, warp, None if high is None else -(-high // warp))
        if (ids := tuple(i for i in range(warp) if known is None or not isinstance(base, int) or base + i < known))
    ]


def _of_rows(view: View, warp: int, x: int, y: int) -> list[Cohort]:
    """Warps of several rows each."""
    rows, lanes = warp // x, range(warp)
    return [
        Cohort(
            tuple(lanes),
            {
                "x": tuple(i % x for i in lanes),
                "y": shifted(base, [i // x for i in lanes]),
                "z": _index(view, "z", view.dims[2]),
            },
        )
        for base in _starts(view, rows, y // rows)
    ]


def _index(view: View, axis: str, size: Number | None) -> Number:
    return view.atoms.atom(("tid", axis), 0, size - 1 if isinstance(size, int) else None)


def _starts(view: View, step: int, count: int | None) -> list[Number]:
    """The starts of `count` warps that lie `step` apart: each of a few, or the first and any other."""
    if count is not None and count <= FEW_WARPS:
        return [step * w for w in range(count)]
    return [0, scaled(view.atoms.atom(("row",), 1, None if count is None else count - 1), step)]


def followed(kernel: Kernel, context: Context, view: View) -> tuple[list[Met], dict[int, tuple[Number, ...]]]:
    """The accesses that the warps of a launch meet, and the choices that some unknowns are between, by atom.

    Raises TypeProblem for an ill-typed kernel.
    """
    choices: dict[int, tuple[Number, ...]] = {}
    met: list[Met] = []
    names = keys(kernel)
    for cohort in cohorts(view, context.hardware.warp):
        walk = _Walk(context, view, cohort, names, choices, met)
        everyone = tuple(range(len(cohort.numbers)))
        unset = {kind: walk.anything("unset", t) for kind, t in (("int", INT), ("bool", BOOL))}  # in fact 0
        start: State = {
            x: walk.opaque(False) if t.kind == "base" else unset[t.kind] for x, t in context.sigma.locals.items()
        }
        walk.run(kernel.body, start, Active(everyone), 0)
    return met, choices


@dataclass
class _Distance:
    """The way a loop moves a variable: by multiples of `step`, upward (1), downward (-1) or either way (0)."""

    step: int = 1
    sign: int = 1
    seen: bool = False


@dataclass
class _Walk:
    """The execution of one cohort."""

    context: Context
    view: View
    cohort: Cohort
    keys: dict[int, Key]
    choices: dict[int, tuple[Number, ...]]
    met: list[Met]
    distances: dict[tuple[int, str], _Distance] = field(default_factory=dict)
    """Of variables by the loop that changes them."""
    wild: dict[tuple[int, str], str] = field(default_factory=dict)
    """Variables that a loop changes in a way that lanes do not share: `data` if memory has a part in it, or `any`."""
    astray: set[tuple[int, str]] = field(default_factory=set)
    """Variables that lanes may leave a loop with in a state that no turn starts from: after a `break`, say."""
    types: dict[int, Type] = field(default_factory=dict)

    # --- values -------------------------------------------------------------------------------------------------------

    def fresh(self, kind: str, *about: object, low: int | None = None, high: int | None = None) -> Number:
        """An unknown of its own."""
        return self.view.atoms.atom((kind, len(self.view.atoms.keys), *about), low, high)

    def each(self, kind: str, *about: object, low: int | None = None, high: int | None = None) -> Vec:
        """An unknown of its own at every lane."""
        return tuple(self.fresh(kind, *about, low=low, high=high) for _ in self.cohort.numbers)

    def anything(self, kind: str, t: Type) -> Vec:
        """Any value of a type at every lane."""
        if t.kind == "base":
            return self.opaque(False)
        return self.each(kind, low=0, high=1) if t.kind == "bool" else self.each(kind)

    def opaque(self, uniform: bool) -> Vec:
        """A value of a base type: all that is kept is whether the lanes share it. No two are the same object."""
        return self.fresh("base") if uniform else tuple(range(len(self.cohort.numbers)))

    def type(self, e: Expr) -> Type:
        found = self.types.get(id(e))
        if found is None:
            found = self.types[id(e)] = type_of(e, self.context.sigma)
        return found

    def values(self, e: Expr, state: State, here: Where | None = None) -> Vec:
        """The value of e at the lanes; what a read returns is new each time. With `here`, its reads are noted.

        A right side that the left one decides is evaluated all the same, as in the semantics.
        """
        match e:
            case Const(value, type_):
                return self.opaque(True) if isinstance(value, str) or type_.kind == "base" else int(value)
            case Tid(axis):
                return self.cohort.tid[axis]
            case Param():
                found = self.view.value_at(e, self.view.nowhere)
                return self.fresh("param", e.name) if found is None else found
            case Var(name):
                return state[name]
            case Read(array, index):
                i = self.values(index, state, here)
                if here:
                    self.note(e, i, here)
                if self.type(e).kind == "base":
                    return self.opaque(not isinstance(i, tuple))
                k = len(self.view.atoms.keys)
                low, high = (0, 1) if self.type(e).kind == "bool" else (None, None)
                return self.over(lambda n: self.view.atoms.atom(("read", k, array, n), low, high), i)
            case Op(op, args):
                parts = [self.values(a, state, here) for a in args]
                if op == "?:":
                    return self.chosen(e, parts, state)
                if self.type(e).kind == "base":
                    return self.opaque(not any(isinstance(p, tuple) for p in parts))
                if any(self.type(a).kind == "base" for a in args):
                    low, high = (0, 1) if self.type(e).kind == "bool" else (None, None)
                    uniform = not any(isinstance(p, tuple) for p in parts)
                    return self.fresh("base", low=low, high=high) if uniform else self.each("base", low=low, high=high)
                if op in ("+", "-"):
                    return self.moved(parts[0], parts[1], -1 if op == "-" else 1)
                return self.over(lambda *ns: applied(op, ns, self.view.atoms), *parts)

    def over(self, f: Callable[..., Number], *parts: Vec) -> Vec:
        """f at every lane."""
        if not any(isinstance(p, tuple) for p in parts):
            return f(*parts)
        found: list[Number] = []
        before: tuple[Number, ...] = ()
        for i in range(len(self.cohort.numbers)):
            arguments = tuple(p[i] if isinstance(p, tuple) else p for p in parts)
            found.append(found[-1] if arguments == before else f(*arguments))
            before = arguments
        return tuple(found) if any(n != found[0] for n in found) else found[0]

    def moved(self, a: Vec, b: Vec, sign: int = 1) -> Vec:
        """a + b, or a - b"""
        total = linear(a, b, sign)
        return self.over(plus if sign > 0 else minus, a, b) if total is None else total

    def chosen(self, e: Op, parts: Sequence[Vec], state: State) -> Vec:
        """c ? a : b"""
        c, a, b = parts
        lanes = range(len(self.cohort.numbers))
        yes = {i for i in lanes if at(c, i) != 0}
        no = {i for i in lanes if at(c, i) != 1}
        return self.merged(e.args[0], c, a, b, yes, no, Active(tuple(lanes)), state, self.type(e))

    def merged(
        self, cond: Expr, c: Vec, a: Vec, b: Vec, yes: set[int], no: set[int], active: Active, before: State, t: Type
    ) -> Vec:
        """a at the lanes where c holds and b at the others; `yes` and `no` are those where it may and may not."""
        if not yes or not no or a is b:
            return a if yes else b
        if t.kind == "base":
            return self.opaque(all(common(v, active.lanes) is not None for v in (a, b, c)))
        open_ = [i for i in active.lanes if i in yes and i in no and at(a, i) != at(b, i)]
        value = [at(a, i) if i in yes else at(b, i) for i in range(len(self.cohort.numbers))]
        if open_ and t.kind == "int":
            self._resolve(cond, c, a, b, open_, before, value)
        else:
            for i in open_:
                value[i] = self.between(at(c, i), at(a, i), at(b, i), t)
        first = value[active.lanes[0]]
        return tuple(value) if any(value[i] != first for i in active.lanes) else first

    def _resolve(
        self, cond: Expr, c: Vec, a: Vec, b: Vec, open_: list[int], before: State, value: list[Number]
    ) -> None:
        """The integers at the lanes where it is open which of a and b they are."""
        together = common(c, open_)
        gaps = {minus(at(a, i), at(b, i)) for i in open_}
        if together is not None and len(gaps) == 1 and len(terms_of(gap := gaps.pop())) <= SMALL:
            for i in open_:
                value[i] = plus(at(b, i), times(together, gap))
            return
        extreme = self._extreme(cond, a, b, open_, before)
        for i in open_:
            if extreme:
                value[i] = self.view.atoms.apply(extreme, (at(a, i), at(b, i)))
            else:
                value[i] = self.between(at(c, i), at(a, i), at(b, i), INT)

    def _extreme(self, cond: Expr, a: Vec, b: Vec, open_: list[int], before: State) -> str | None:
        """`min` or `max` where that is what the condition chooses of the two: u >= v ? a : b with a - b = u - v is the
        larger one, for example, and so it is with a - b = u - v + 1."""
        match cond:
            case Op("<" | "<=" | ">" | ">=" as op, (u, v)) if self.type(u).kind == "int" and not any(
                isinstance(t, Read) for t in subterms(cond)
            ):
                more, less = (u, v) if op in (">", ">=") else (v, u)
                strict = int(op in (">", "<"))
                left, right = self.values(more, before), self.values(less, before)
                ahead = [plus(minus(at(left, i), at(right, i)), -strict) for i in open_]  # holds where this is >= 0
                gaps = [minus(at(a, i), at(b, i)) for i in open_]
                for beyond in (0, 1):
                    if gaps == [plus(e, beyond) for e in ahead]:
                        return "max"
                    if gaps == [minus(-beyond, e) for e in ahead]:
                        return "min"
        return None

    def between(self, c: Number, a: Number, b: Number, t: Type) -> Number:
        """a where c holds, else b: an unknown, with the values that it is known to be one of."""
        if t.kind == "bool" and (a, b) in ((0, 1), (1, 0)):
            return c if a else minus(1, c)
        low, high = (0, 1) if t.kind == "bool" else (None, None)
        found = self.view.atoms.atom(("?:", c, a, b), low, high)
        options = tuple(dict.fromkeys((*self.options(a), *self.options(b))))
        if t.kind == "int" and len(options) <= MAX_CHOICES:
            ((number,), _), *_ = terms_of(found)
            self.choices[number] = options
        return found

    def options(self, a: Number) -> tuple[Number, ...]:
        """The values that a value is one of: itself, unless it is a choice."""
        match a:
            case Form((((number,), 1),), 0) if number in self.choices:
                return self.choices[number]
        return (a,)

    # --- statements ---------------------------------------------------------------------------------------------------

    def run(self, s: Stmt, state: State, active: Active, depth: int) -> State:
        """The state after s; the one given stays as it was."""
        match s:
            case Skip() | Sync() | Assume():
                return state
            case Seq(stmts):
                for t in stmts:
                    state = self.run(t, state, active, depth)
                return state
            case Assign(x, e):
                return {**state, x: self.values(e, state, (active, depth))}
            case Write(_, index, e):
                here = active, depth
                at_index = self.values(index, state, here)
                self.values(e, state, here)
                self.note(s, at_index, here)
                return state
            case If():
                return self.branch(s, state, active, depth)
            case While():
                return self.loop(s, state, active, depth)

    def note(self, term: Read | Write, index: Vec, here: Where) -> None:
        active, depth = here
        array = self.context.sigma.arrays[term.array]
        self.met.append(Met(self.keys[id(term)], array, index, active, self.cohort, depth))

    def sides(self, cond: Expr, c: Vec, state: State, active: Active) -> tuple[Active, Active]:
        """The lanes that may find a condition true, and false."""
        yes = tuple(i for i in active.lanes if at(c, i) != 0)
        no = tuple(i for i in active.lanes if at(c, i) != 1)
        one, other = self.at_most_one(cond, state, active)
        return (
            Active(yes, active.single or one or len(yes) < 2, (*active.path, (c, True))),
            Active(no, active.single or other or len(no) < 2, (*active.path, (c, False))),
        )

    def at_most_one(self, cond: Expr, state: State, active: Active) -> tuple[bool, bool]:
        """Whether a condition is true, or false, at one lane at most: an equation that no two lanes can satisfy."""
        match cond:
            case Op("!", (e,)):
                one, other = self.at_most_one(e, state, active)
                return other, one
            case Op("&&" | "||" as op, (a, b)):
                sides = [self.at_most_one(e, state, active) for e in (a, b)]
                return (any(s[0] for s in sides), False) if op == "&&" else (False, any(s[1] for s in sides))
            case Op("==" | "!=" as op, (a, b)) if self.type(a).kind == "int" and not any(
                isinstance(t, Read) for t in subterms(cond)
            ):
                u, v = self.values(a, state), self.values(b, state)
                gaps = [minus(at(u, i), at(v, i)) for i in active.lanes]
                alone = len({terms_of(g) for g in gaps}) == 1 and len({const_of(g) for g in gaps}) == len(gaps)
                return (alone, False) if op == "==" else (False, alone)
        return False, False

    def branch(self, s: If, state: State, active: Active, depth: int) -> State:
        c = self.values(s.cond, state, (active, depth))
        yes, no = self.sides(s.cond, c, state, active)
        if not yes.lanes:
            return self.run(s.orelse, state, no, depth)
        if not no.lanes:
            return self.run(s.then, state, yes, depth)
        one, two = self.run(s.then, state, yes, depth), self.run(s.orelse, state, no, depth)
        if one is two:
            return one
        ins, outs = set(yes.lanes), set(no.lanes)
        after = dict(one)
        for x, a in one.items():
            if a is not two[x]:
                t = self.context.sigma.locals[x]
                after[x] = self.merged(s.cond, c, a, two[x], ins, outs, active, state, t)
        return after

    def loop(self, s: While, state: State, active: Active, depth: int) -> State:
        changed = sorted(written(s.body))
        first = self.values(s.cond, state)
        entering = tuple(i for i in active.lanes if at(first, i) != 0)
        mark = len(self.met)
        while True:
            del self.met[mark:]
            head = {**state, **{x: self.head(s, x, state[x], active) for x in changed}} if entering else state
            end = self.strayed(s, changed, head)
            c = self.values(s.cond, end, (active, depth + bool(entering)))
            if not entering:
                return state
            inside = c if end is head else self.values(s.cond, head)
            body, _ = self.sides(s.cond, inside, head, Active(entering, active.single, active.path))
            if not body.lanes:
                break
            after = self.run(s.body, head, body, depth + 1)
            again = self.values(s.cond, after)
            on = [i for i in body.lanes if at(again, i) != 0]  # the lanes that may go on
            known = {v: dict(implied(v, self.view.atoms)) for v in {at(again, i) for i in on}}
            going = {i: known[at(again, i)] for i in on}
            if not [x for x in changed if not self.holds(s, x, head[x], after[x], going, body)]:  # each is looked at
                break
        if common(c, active.lanes) is not None:
            return end
        left = dict(end)
        for x in changed:
            if (id(s), x) not in self.astray:
                left[x] = self.left(s, x, state[x], self.source(c, active.lanes), set(entering))
        return left

    def strayed(self, s: While, changed: list[str], head: State) -> State:
        """The state at the head of a loop for lanes that are about to leave it, too."""
        stray = [x for x in changed if (id(s), x) in self.astray]
        return {**head, **{x: self.anything("any", self.context.sigma.locals[x]) for x in stray}} if stray else head

    def head(self, s: While, x: str, start: Vec, active: Active) -> Vec:
        """A variable at the start of any turn: its distance from where it started, or anything."""
        t = self.context.sigma.locals[x]
        if t.kind == "base" and (id(s), x) not in self.wild and common(start, active.lanes) is not None:
            return self.opaque(True)
        if t.kind != "int" and common(start, active.lanes) is None:
            self.wild.setdefault((id(s), x), self.source(start, active.lanes))
        if (id(s), x) in self.wild:
            return self.anything(self.wild[id(s), x], t)
        if t.kind != "int":
            return self.fresh("turn", low=0 if t.kind == "bool" else None, high=1 if t.kind == "bool" else None)
        far = self._far(self.distances.setdefault((id(s), x), _Distance()), "turn")
        return self.moved(start, far)

    def _far(self, d: _Distance, kind: str) -> Number:
        if d.step == 0:
            return 0
        return scaled(self.fresh(kind, low=0 if d.sign else None), d.step * (d.sign or 1))

    def holds(self, s: While, x: str, before: Vec, after: Vec, going: dict[int, dict[int, bool]], body: Active) -> bool:
        """Whether what `head` says of a variable holds after a turn, too; if not, less is said of it next time.

        Only lanes that go on count: those in `going`, with the truth values that follow from it.
        """
        if (id(s), x) in self.wild:
            return True
        if self.shared(x, before, after, body.lanes):
            return self.stepped(s, x, minus(at(after, body.lanes[0]), at(before, body.lanes[0])))
        on = list(going)
        ends = tuple(self.resolved(at(after, i), going.get(i, {})) for i in range(len(self.cohort.numbers)))
        if on and not self.shared(x, before, ends, on):
            self.wild[id(s), x] = self.source(after, body.lanes)
            return False
        known_before = (id(s), x) in self.astray
        self.astray.add((id(s), x))
        return (not on or self.stepped(s, x, minus(ends[on[0]], at(before, on[0])))) and known_before

    def shared(self, x: str, before: Vec, after: Vec, lanes: Sequence[int]) -> bool:
        """Whether a turn moves an integer by one distance at all these lanes, or gives them all one other value."""
        if self.context.sigma.locals[x].kind != "int":
            return common(after, lanes) is not None
        gap = linear(after, before, -1)
        if gap is not None:
            return common(gap, lanes) is not None
        return len({minus(at(after, i), at(before, i)) for i in lanes}) == 1

    def stepped(self, s: While, x: str, gap: Number) -> bool:
        """Takes in that a turn moves a variable by `gap`; whether that was known."""
        if self.context.sigma.locals[x].kind != "int":
            return True
        step = abs(gap) if isinstance(gap, int) else gcd(content(gap), gap.const)
        low, high = self.view.atoms.bounds(gap)
        d = self.distances[id(s), x]
        old = d.step, d.sign
        up, down = low is not None and low >= 0, high is not None and high <= 0
        if not d.seen:
            d.step, d.sign, d.seen = step, 1 if up else -1 if down else 0, True
        else:
            d.step = gcd(d.step, step)
            if (d.sign == 1 and not up) or (d.sign == -1 and not down):
                d.sign = 0
        return old == (d.step, d.sign)

    def resolved(self, v: Number, known: dict[int, bool]) -> Number:
        """A value where some truth values are known."""
        if not known:
            return v
        return substituted(v, {a: self._resolved(a, known) for m, _ in terms_of(v) for a in m})

    def _resolved(self, number: int, known: dict[int, bool]) -> Number:
        """An unknown where some truth values are known."""
        if number in known:
            return int(known[number])
        match self.view.atoms.keys[number]:
            case ("?:", Form() | int() as c, Form() | int() as a, Form() | int() as b):
                decided = self.resolved(c, known)
                if isinstance(decided, int):
                    return self.resolved(a if decided else b, known)
        return Form((((number,), 1),), 0)

    def left(self, s: While, x: str, start: Vec, kind: str, entering: set[int]) -> Vec:
        """A variable after a loop that lanes may leave at different turns."""
        t = self.context.sigma.locals[x]
        wild = self.wild.get((id(s), x))
        far: Vec = 0
        if wild or t.kind != "int":
            ends = self.anything(wild or kind, t)
        else:
            far = tuple(self._far(self.distances[id(s), x], kind) for _ in self.cohort.numbers)
            ends = self.moved(start, far)
        return tuple(at(ends if i in entering else start, i) for i in range(len(self.cohort.numbers)))

    def source(self, v: Vec, lanes: Iterable[int]) -> str:
        """The source of the lanes' values: `data` if contents of memory have a part in them, else `any`."""
        return "data" if origins((at(v, i) for i in lanes), self.view.atoms) & {"read", "data", "base"} else "any"
