"""The lines of a source that a bound is spent on, by its derivation, in one run: of one warp, or of all that it sums.

A derivation says at every point of the program how much is left to be spent: its potential, which a store gives a
value. So a run spends, between two points that follow each other, what the values differ by, and all of it together is
the bound there, exactly: sum of the shares = bound. What the run pays is never more (soundness), and the rest is what
the derivation gives away at that line. A sum over warps is spent by one after the other; what it is more than their
potentials together is of no line. The run goes through the derivation node by node, with the rules of the
lock-step semantics; nothing that is claimed rests on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product
from math import prod
from typing import Final, cast

from checker.kernel import Claim, judgement_of
from checker.refutation.contracts import element
from checker.refutation.states import UNFIT
from checker.refutation.witness import Input
from logic.assertions import Context, Triple
from logic.contracts import as_reads
from logic.derivation import Derivation
from logic.potentials import Leaf, Poly, evaluate, leaves
from logic.rules import SOUND
from logic.source import Loc
from logic.syntax import (
    GHOST,
    WARP_INDEX,
    Assign,
    Expr,
    If,
    Param,
    Read,
    Tid,
    Var,
    While,
    Write,
    show,
)
from semantics import lockstep
from semantics.events import Dim, Event, Threads
from semantics.grid import Contents, machines, prepare, threads_of, warps_of
from semantics.lockstep import Machine, Store
from semantics.values import Value, default

STEPS: Final = 6_000
"""The most statements of a warp that is run."""

ALL_STEPS: Final = 40_000
"""Those of all warps of a run together."""

Place = Loc | None
"""The place of a statement; None for what is left when the run has ended."""


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a bound that is spent at a statement, and what the run pays there."""

    spent: Fraction
    paid: Fraction

    def __add__(self, other: Share) -> Share:
        return Share(self.spent + other.spent, self.paid + other.paid)


NOTHING: Final = Share(Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Seen:
    """The dearest execution of an access in the run: the first byte that each active lane touches, from the array's
    beginning on, by the lane's number, and the sectors, or words of the busiest bank."""

    array: str
    text: str
    place: Place
    count: int
    lanes: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Account:
    """The shares of a bound by the places of statements; their sum is `bound`. `block` and `warp` say whose run it is,
    None where it is that of all; `accesses` what it accesses where."""

    bound: Fraction
    shares: Mapping[Place, Share]
    block: Dim | None
    warp: int | None
    accesses: tuple[Seen, ...]

    @property
    def paid(self) -> Fraction:
        """The cost of the run."""
        return sum((share.paid for share in self.shares.values()), Fraction(0))


def by_line(found: Account) -> dict[tuple[str, int], Share]:
    """The shares by file and line; what is of no line is of line 0 of a file without a name."""
    lines: dict[tuple[str, int], Share] = {}
    for place, share in found.shares.items():
        key = (place.file, place.line) if place else ("", 0)
        lines[key] = lines.get(key, NOTHING) + share
    return lines


def gaps(found: Account) -> list[tuple[tuple[str, int], Share]]:
    """The lines that take of the bound, or at which the run pays, by what they take more than it pays, most first."""
    lines = [(key, share) for key, share in by_line(found).items() if share != NOTHING]
    return sorted(lines, key=lambda row: (row[1].paid - row[1].spent, row[0][1] == 0, row[0]))


WARPS: Final = 8
"""The warps of a run of which the dearest is looked for."""


def dearest(
    root: Derivation,
    claim: Claim,
    given: Input,
    arrays: Mapping[str, Contents],
    at: Mapping[str, int],
    cost: Fraction,
) -> Account | None:
    """`account` of the warp that pays this cost, else of the dearest of the first few; of the one that `at` names."""
    if claim.per != "warp" or any(name == WARP_INDEX or name.startswith("blockIdx.") for name in at):
        return account(root, claim, given, arrays, at)
    count = -(-prod(given.block) // claim.context.hardware.warp)
    best: Account | None = None
    for index, warp in islice(product(product(*map(range, given.grid)), range(count)), WARPS):
        place = {f"blockIdx.{axis}": n for axis, n in zip("xyz", index, strict=True)}
        found = account(root, claim, given, arrays, {**at, **place, WARP_INDEX: warp})
        if found is None:
            return best
        if found.paid == cost:
            return found
        best = found if best is None or found.paid > best.paid else best
    return best


def account(
    root: Derivation,
    claim: Claim,
    given: Input,
    arrays: Mapping[str, Contents],
    at: Mapping[str, int],
) -> Account | None:
    """The shares of the bound of a claim on one warp of an input, that of `at`, else the first; or on all warps of that
    block, or of the grid, if the bound is their sum. None where that cannot be run, or runs for too long."""
    kernel, context, per = claim.kernel, claim.context, claim.per
    index = (at.get("blockIdx.x", 0), at.get("blockIdx.y", 0), at.get("blockIdx.z", 0))
    warp = at.get(WARP_INDEX, 0)
    walk: _Walk | None = None
    try:
        launch = prepare(kernel, given.block, given.grid, given.args, arrays, context.hardware)
        for i, m in islice(machines(launch, [context.metric], STEPS, None), ALL_STEPS + 1):
            if per != "grid" and i != index:
                continue
            walk = walk or _Walk(context, m, arrays, launch.store)
            for n, threads in enumerate(warps_of(threads_of(i, given.block), context.hardware.warp)):
                if per == "warp" and n != warp:
                    continue
                params: dict[str, Value] = {**m.params, WARP_INDEX: n}
                walk.machine = replace(m, sigma=context.sigma, params=params, step_limit=STEPS, observer=walk.see)
                walk.run(root, claim.pre.q, threads)
        if walk is None or not walk.steps:
            return None
        total = sum((s.spent for s in walk.shares.values()), Fraction(0))
        rest = walk.worth(claim.bound, ()) - total if claim.sums else Fraction(0)
        if rest < 0:  # not all of what is summed was run
            return None
        if rest:
            walk.spend(None, rest)
        whose = (index if per != "grid" else None, warp if per == "warp" else None)
        return Account(total + rest, walk.shares, *whose, tuple(walk.seen.values()))
    except UNFIT:
        return None


@dataclass
class _Walk:
    """A run through a derivation; `now` is what is left to be spent, `aside` what rules keep out of a premise."""

    context: Context
    machine: Machine
    arrays: Mapping[str, Contents]
    store: Store
    now: Fraction = Fraction(0)
    aside: Fraction = Fraction(0)
    steps: int = 0
    shares: dict[Place, Share] = field(default_factory=dict)
    judgements: dict[int, Triple] = field(default_factory=dict)
    here: Place = None
    seen: dict[tuple[Place, str, str], Seen] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        """Keeps the dearest execution of each access."""
        if event.count is None or not isinstance(event.term, Read | Write):
            return
        text = f"{event.term.array}[{show(event.term.index)}]"
        key = (self.here, event.constant, text)
        if key in self.seen and self.seen[key].count >= event.count:
            return
        array, m = self.machine.sigma.arrays[event.term.array], self.machine
        numbers = [lockstep.linear(t.tid, m.block) % m.hardware.warp for t in event.threads]
        lanes = {n: array.stride * i + array.offset for n, i in zip(numbers, event.indices, strict=True)}
        self.seen[key] = Seen(array.name, text, self.here, event.count, lanes)

    def worth(self, q: Poly, threads: Threads) -> Fraction:
        """The value of a potential for these threads, in which its variables are uniform."""
        values = dict[Leaf, int]()
        for leaf in leaves(q):
            match leaf:
                case Var(name):
                    known = self.store.locals.get(name, {})
                    values[leaf] = int(known.get(threads[0], default(self.machine.sigma.locals[name])))
                case Param(name):
                    values[leaf] = int(self.machine.params[name])
                case Tid(axis):
                    values[leaf] = threads[0].tid["xyz".index(axis)]
        return evaluate(q, values, lambda array, i: element(self.arrays.get(array, ()), i))

    def run(self, root: Derivation, bound: Poly, threads: Threads) -> None:
        """Adds the shares of a warp. Raises what UNFIT has."""
        self.now, first = self.worth(bound, threads), self.steps
        todo: list[tuple[Iterator[tuple[Derivation, Threads]], Place]] = [(iter([(root, threads)]), None)]
        while todo:
            inner = next(todo[-1][0], None)
            if inner is None:
                todo.pop()
                continue
            node, active = inner
            place = node.loc or todo[-1][1]
            if self.steps - first > STEPS or self.steps > ALL_STEPS:
                raise lockstep.StepLimit(STEPS, None, self.machine.nothing)
            todo.append((self.node(node, active, place), place))
        if self.now:
            self.spend(None, self.now)

    def judgement(self, node: Derivation) -> Triple:
        if id(node) not in self.judgements:
            told = judgement_of(SOUND.rules[node.rule].conclusion, node.substitution, self.context)
            self.judgements[id(node)] = cast(Triple, told)
        return self.judgements[id(node)]

    def arrive(self, q: Poly, threads: Threads, place: Place) -> None:
        """Comes to a point with this potential."""
        value = self.worth(q, threads) + self.aside
        if value != self.now:
            self.spend(place, self.now - value)
        self.now = value

    def spend(self, place: Place, spent: Fraction, paid: Fraction = Fraction(0)) -> None:
        self.shares[place] = self.shares.get(place, NOTHING) + Share(spent, paid)

    def paid(self, place: Place, cost: lockstep.Cost) -> None:
        (amount,) = cost.parts
        if amount:
            self.spend(place, Fraction(0), amount)

    def node(self, node: Derivation, t: Threads, place: Place) -> Iterator[tuple[Derivation, Threads]]:
        """Runs an application of a rule on threads: yields its premises with theirs, where these are to run."""
        self.steps += 1
        rule, told, self.here = SOUND.rules[node.rule], self.judgement(node), place
        inner = [p for p, schema in zip(node.premises, rule.premises, strict=True) if schema.head == "triple"]
        self.arrive(told.pre.q, t, place)
        if rule.shape in ("if", "while") and (rule.shape == "if" or rule.turns):
            yield from self.test(told, inner, t, place)
        elif rule.shape == "meta" and len(inner) > 1:  # the same statement, where a condition holds and where not
            e = as_reads(cast(Expr, node.substitution["e"]))
            case = bool(lockstep.evaluate(e, self.store, t, self.machine)[0][t[0]])
            yield inner[0 if case else 1], t
        elif rule.shape == "seq":
            for premise in inner:
                yield premise, t
        elif inner:
            kept = self.kept(node, t)
            self.aside += kept
            yield inner[0], t
            self.aside -= kept
        else:
            s = told.stmt
            if isinstance(s, Assign) and s.var.startswith(GHOST):  # which only the derivation has: nobody pays
                r, _ = lockstep.expression(as_reads(s.value), self.store, t, self.machine)
                self.store.locals.setdefault(s.var, {}).update(r)
            else:
                self.paid(place, lockstep.step(s, self.store, t, self.machine)[0])
        self.arrive(told.post.q, t, place)

    def kept(self, node: Derivation, t: Threads) -> Fraction:
        """The amount that a rule does not hand to its premise: the constant of Q:Weak, the frame of Q:Frame."""
        found = Fraction(cast(Fraction, node.substitution.get("c", Fraction(0))))
        frame = node.substitution.get("F")
        return found + (self.worth(frame, t) if isinstance(frame, Poly) else 0)

    def test(
        self, told: Triple, inner: list[Derivation], t: Threads, place: Place
    ) -> Iterator[tuple[Derivation, Threads]]:
        """A branch, or a loop with its turns."""
        s = cast(If | While, told.stmt)
        while t:
            self.here = place
            r, _ = lockstep.expression(s.cond, self.store, t, self.machine)
            yes, no = lockstep.sides(t, r)
            cost, _ = lockstep.step(s, self.store, t, self.machine)
            self.paid(place, cost)
            if isinstance(s, While):
                branches, t = [(inner[0], yes)], yes
            else:
                branches = [(inner[0], yes), (inner[1], no)] if len(inner) > 1 else [(inner[0], t)]
                t = ()
            for premise, active in branches:
                if active:
                    self.arrive(self.judgement(premise).pre.q, active, place)
                    yield premise, active
