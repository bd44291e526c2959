"""The oracles: what a derivation claims beyond its shape, decided by arithmetic, by enumeration or by a solver.

Closed forms come first, then the lanes of the warps, then Z3, then cvc5. What cannot be decided is `Unknown`, never an
acceptance.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from time import perf_counter
from typing import Final, Literal

from checker.oracles import arithmetic, smt
from checker.oracles.counts import MAX_SPAN, Count, What, one_access
from checker.oracles.desk import KNOWN, Desk, Query
from checker.oracles.instances import shown
from checker.oracles.lanes import View
from checker.oracles.terms import alike, facts_of, inputs, leaf_type, prepared, with_fresh
from logic.assertions import (
    AtLeast,
    AtMost,
    Context,
    Entails,
    Launch,
    Obligation,
    P,
    Proved,
    Refuted,
    Uniform,
    Unknown,
    Verdict,
    X,
    opaque,
)
from logic.comparisons import differences
from logic.contracts import elements_in, nested
from logic.metrics import Hardware
from logic.potentials import OPERATED, ZERO, Apply, Log2, Poly, Sym, atoms, leaves
from logic.source import SourceError
from logic.syntax import BOOL, INT, Const, Expr, Op, Param, Read, Type, Var, show, subterms
from logic.typing import Signature, TypeProblem, type_of

MAX_CASES: Final = 2**16
"""The number of lanes, over all values of one small unknown, that a count may look at."""

MAX_VIEWS: Final = 64

MANY: Final = 32
"""Assumptions that are not linear, past which a question is asked without these first: solvers get slow by them."""

SPAN_PATIENCE: Final = 0.25
"""The share of the time limit for a count that would only be sharper than one at hand."""


Pace = Literal["all", "quick", "plain", "known"]
"""Who answers: all oracles; those that are no solvers, and what is known already; these without what solvers said; or
nobody, what is known already aside."""

SOLVER_FREE: Final = ("syntactic", "closed-form", "lanes")
"""The engines that a certificate needs no solver for."""

BY_PROOF: Final = "an arithmetic proof shows it"
"""The reason of a verdict that a proof of `farkas` shows."""


@dataclass(frozen=True, slots=True)
class Record:
    """A question that was asked, for the ledger, with the queries that solvers were asked for it."""

    asked: Obligation
    verdict: Verdict
    seconds: float
    queries: tuple[Query, ...] = ()
    deep: bool = False
    """Whether it is nested too deeply to be shown."""

    @property
    def kind(self) -> str:
        return type(self.asked).__name__

    @property
    def claim(self) -> str:
        return "..." if self.deep else str(self.asked)

    @property
    def engine(self) -> str:
        return self.verdict.engine


@dataclass
class Oracles:
    """Decides obligations, each once. `limit` is the time in seconds that a solver query may take.

    `log` gets a record for every question, the ones answered before included. Answers are kept as long as this object
    lives and not on disk, where anyone could write one.
    """

    limit: float = 2.0
    log: list[Record] = field(default_factory=list)
    pace: Pace = "all"
    _desk: Desk = field(default_factory=Desk, repr=False)
    _answers: dict[Hashable, Record] = field(default_factory=dict, repr=False)
    _parts: dict[tuple[P, int], dict[Expr, Record]] = field(default_factory=dict, repr=False)
    _views: dict[Hashable, View] = field(default_factory=dict, repr=False)
    _counts: dict[Hashable, Count] = field(default_factory=dict, repr=False)
    _proofs: dict[tuple[P, Poly, int], Proved | None] = field(default_factory=dict, repr=False)
    _scenes: dict[Hashable, int] = field(default_factory=dict, repr=False)
    _numbers: dict[tuple[int, int, int, str], tuple[tuple[Signature, Hardware, Launch], int]] = field(
        default_factory=dict, repr=False
    )
    _facts: dict[tuple[P, int], tuple[Expr, ...]] = field(default_factory=dict, repr=False)
    _types: dict[tuple[Expr, int], Type] = field(default_factory=dict, repr=False)

    def __call__(self, obligation: Obligation, context: Context) -> Verdict:
        """The verdict on an obligation. Never raises for one that is merely too hard or ill-formed."""
        try:
            record = self._record(obligation, context)
        except RecursionError:
            deep = Unknown("syntactic", "the expressions are nested too deeply")
            record = Record(obligation, deep, 0.0, deep=True)
        self.log.append(record)
        return record.verdict

    def allow(self, seconds: float) -> None:
        """From now on solver queries may take so many seconds together: past them, nothing is known of a question that
        has to be put to a solver."""
        self._desk.patience.left = seconds

    @contextmanager
    def at(self, pace: Pace) -> Iterator[None]:
        """Answers at another pace. What is unknown for want of an oracle is not remembered."""
        before, self.pace = self.pace, pace
        try:
            yield
        finally:
            self.pace = before

    def _record(self, obligation: Obligation, context: Context) -> Record:
        key = obligation, self._scene(context)
        known = self._answers.get(key)
        if known is not None and (self.pace != "plain" or known.engine in SOLVER_FREE):
            return known
        if known is not None or self.pace == "known":
            return Record(obligation, Unknown("none", "there is no time for it"), 0.0)
        start, fewer = perf_counter(), _fewer(context.launch)
        if fewer is not None:
            plain = self._record(obligation, replace(context, launch=fewer))
            if isinstance(plain.verdict, Proved):
                return plain
        desk = replace(self._desk, limit=self.limit, asked=[])
        verdict = self._try(obligation, context, desk)
        record = Record(obligation, verdict, perf_counter() - start, tuple(desk.asked))
        hurried = desk.patience.left <= 0 or self.pace != "all"
        if not hurried or not isinstance(verdict, Unknown):
            self._answers[key] = record
            if isinstance(obligation, Entails) and len(obligation.goal) == 1:
                self._parts.setdefault((obligation.p, key[1]), {})[obligation.goal[0]] = record
        return record

    def _try(self, obligation: Obligation, context: Context, desk: Desk) -> Verdict:
        try:
            self._check_types(obligation, context)
            return self._decide(obligation, context, desk)
        except SourceError as problem:
            return Unknown("syntactic", problem.message)
        except RecursionError:
            return Unknown("syntactic", "the terms are nested too deeply")
        except KeyError as problem:
            return Unknown("syntactic", f"nothing is called {problem}")

    def outside(self, p: P, x: X, array: str, index: Expr, context: Context) -> str:
        """Who may be outside of an array at an access, in words; "" where nobody is known to be."""
        length = context.sigma.arrays[array].length
        found = None if length is None else self._view(p, x, context).outside(index, length)
        if found is None:
            return ""
        (lane, i), ends = found, [v for v in found[0].tid.values() if isinstance(v, int)]
        who = f"thread ({', '.join(map(str, ends))})" if len(ends) == len(lane.tid) else "a thread"
        return f"{who} has the index {i}, and '{array}' has {length} elements"

    def least(self, what: What, p: P, x: X, array: str, index: Expr, context: Context) -> int:
        """The smallest n found for which AtMost is proved, at most what all lanes of a warp can touch apart.

        Raises KeyError for an unknown array.
        """
        here = context.sigma.arrays[array]
        cap = context.hardware.warp * one_access(what, here, context.hardware)
        if self.pace == "known" and (what, p, x, array, index, self._scene(context)) not in self._counts:
            return cap

        def proved(n: int) -> bool:
            return isinstance(self(AtMost(what, p, x, array, index, n), context), Proved)

        try:
            count = self._count(what, p, x, array, index, context)
        except (SourceError, KeyError, RecursionError):
            return cap
        low, high = 1, min(count.n, cap)
        if not count.loose or high == 1 or self.pace != "all" or not proved(high - 1):
            return high
        high -= 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if proved(middle) else (middle + 1, high)
        return high

    # --- the portfolio --------------------------------------------------------------------------------------------

    def _decide(self, o: Obligation, context: Context, desk: Desk) -> Verdict:
        match o:
            case Entails():
                sigma = with_fresh(context.sigma, (*o.p, *o.goal))
                if any(opaque(g, sigma) for g in o.goal):
                    return Unknown("syntactic", "the goal depends on array contents or base-typed values")
                facts = self._facts_of(o.p, context)
                if len(o.goal) > 1 and (told := self._by_parts(o, context, desk)):
                    return told
                if exact := arithmetic.entails(facts, o.goal):
                    return exact
                facts = (*facts, *self._by_contracts(o.p, [p for g in o.goal for p, _ in differences(g)], context))
                question = smt.entails(o, facts, sigma, desk)
                if hopeless := question.hopeless:
                    return hopeless
                alone = self._view(o.p, frozenset(), context, alone=True)
                open_ = tuple(g for g in o.goal if not alone.implies(g))
                if not open_ or (len(open_) < len(o.goal) and arithmetic.entails(facts, open_)):
                    return Proved("lanes", "it has this value at every thread")
                return self._soon(o, question, context) or self._solved(question.answer)
            case AtLeast():
                sigma = with_fresh(context.sigma, o.p)
                if any(leaf_type(leaf, sigma) != INT for leaf in leaves(o.q) | leaves(o.r)):
                    return Unknown("syntactic", "a potential is over integers")
                facts = (*self._facts_of(o.p, context), *self._by_contracts(o.p, [o.q - o.r], context))
                if exact := arithmetic.at_least(facts, o.q, o.r):
                    return exact
                question = smt.at_least(o, facts, sigma, desk)
                # a store may not keep contracts, of which the facts say a part
                if not context.launch.contracts and (hopeless := question.hopeless):
                    return hopeless
                shown = self._by_arithmetic(o, context) or self._soon(o, question, context)
                found = shown or self._solved(question.answer)
                products = any(len(m) > 1 for m, _ in (o.q - o.r).terms)  # of which solvers may know too little
                return (self._shown(o, context) if products and isinstance(found, Unknown) else None) or found
            case Uniform():
                return self._uniform(o, context, desk)
            case AtMost():
                return self._at_most(o, context, desk)

    def _by_parts(self, o: Entails, context: Context, desk: Desk) -> Verdict | None:
        """The verdict on what is left of a goal without the parts that were proved by themselves before, as a search
        asks for them one by one; None where there are none of these. The engine is one that says the least."""
        parts = self._parts.get((o.p, self._scene(context)))
        if parts is None:
            return None
        given = set(o.p)
        words, left = list[Verdict](), list[Expr]()
        for g in o.goal:
            known = parts.get(g) if g not in given else None
            free = known is not None and (self.pace != "plain" or known.engine in SOLVER_FREE)
            if known is not None and free and isinstance(known.verdict, Proved):
                words.append(known.verdict)
            else:
                left.append(g)
        if not words:
            return None
        rest = self._decide(Entails(o.p, tuple(left)), context, desk) if left else words[0]
        words.append(rest)
        if not all(isinstance(word, Proved) for word in words):
            return rest
        return max(words, key=lambda word: (*SOLVER_FREE, word.engine).index(word.engine))

    def _by_contracts(self, p: P, polys: Sequence[Poly], context: Context) -> tuple[Expr, ...]:
        """Facts: what contracts say of the elements of arrays in polynomials, and in P where these have some; of none
        that is nested deeper. So what is asked for that, about the indices, is nested less deep, and this ends."""
        contracts = context.launch.contracts
        asked = elements_in(polys)
        if not contracts or not asked:
            return ()
        known = elements_in([q for f in p for q, _ in differences(f)])
        deepest = max(map(nested, asked))

        def ask(said: P, need: Poly) -> Verdict:
            return self._record(AtLeast(said, frozenset(), need, ZERO), context).verdict

        spoken = dict.fromkeys((*asked, *(a for a in known if nested(a) <= deepest)))
        return shown(contracts, spoken, p, ask)

    def _uniform(self, o: Uniform, context: Context, desk: Desk) -> Verdict:
        if alike(o.expr, o.x, context.scope):
            return Proved("syntactic", "nothing in it depends on the thread")
        pair = self._pair(o.p, o.x, context)
        question, own = smt.uniform(o, pair, desk), inputs(o.expr, pair.sigma)
        if own is None and (hopeless := question.hopeless):
            return hopeless
        known = isinstance(o.expr, Read) and o.expr.array in pair.sigma.stable  # P may say what it is
        for part in () if known else own or ():
            if isinstance(self._record(replace(o, expr=part), context).verdict, Refuted):
                return Unknown(KNOWN, "what arrays or base types make of it may differ")
        view = pair.view()
        if view.uniform(prepared(o.expr, view.sigma)[0]):
            return Proved("lanes", "the active lanes agree")
        parts = own if pair.same_warp() else None
        if parts is None:
            return self._solved(question.answer)
        verdicts: list[Verdict] = []
        for part in parts:
            verdicts.append(self(replace(o, expr=part), context))
            if not isinstance(verdicts[-1], Proved):
                break
        open_ = [v for v in verdicts if not isinstance(v, Proved)]
        if open_ or not verdicts:
            return Unknown(open_[0].engine if open_ else "syntactic", "what arrays or base types make of it may differ")
        return next((v for v in verdicts if v.engine not in ("syntactic", "lanes")), verdicts[0])

    def _at_most(self, o: AtMost, context: Context, desk: Desk) -> Verdict:
        cap = context.hardware.warp * one_access(o.what, context.sigma.arrays[o.array], context.hardware)
        if o.n >= cap:
            return Proved("closed-form", f"a warp cannot touch more than {cap}")
        count = self._count(o.what, o.p, o.x, o.array, o.index, context)
        if count.n <= o.n:
            return Proved(count.engine, f"at most {count.n}")
        if not count.loose:
            return Unknown(count.engine, f"the lanes may touch {count.n}")
        quick = replace(desk, limit=self.limit * SPAN_PATIENCE)
        return self._solved(lambda: smt.at_most(o, self._pair(o.p, o.x, context), quick))

    def _soon(self, o: AtLeast | Entails, question: smt.Question, context: Context) -> Proved | None:
        """The verdict by a short arithmetic proof, which takes less time than the solver that is asked next; where a
        longer one was not found, or a store refutes it, none is looked for."""
        tried = isinstance(o, AtLeast) and self._asked(o, context) in self._proofs
        if self.pace != "all" or tried or question.hopeless:
            return None
        from checker.oracles import farkas

        return Proved(arithmetic.EXACT, BY_PROOF) if farkas.soon(o, context) else None

    def _by_arithmetic(self, o: AtLeast, context: Context) -> Proved | None:
        """Where there are logarithms, or operators without a closed form, of which solvers know little, what an
        arithmetic proof shows: in the question, or in facts that have to do with it."""
        said = [p for f in o.p for p, _ in differences(f)]
        at_start = not o.p and elements_in([o.q - o.r])  # where few questions are asked: contracts may need cases
        if (
            not at_start
            and not any(isinstance(a, Log2) for a in atoms(o.q - o.r))
            and not any(isinstance(a, Apply) and a.op in OPERATED for p in _about(o.q - o.r, said) for a in atoms(p))
        ):
            return None
        return self._shown(o, context)

    def _shown(self, o: AtLeast, context: Context) -> Proved | None:
        """The verdict of an arithmetic proof, if there is one; looked for once, however little time there is."""
        key = self._asked(o, context)
        if key not in self._proofs:
            from checker.oracles import farkas

            found = farkas.proof(o, context) is not None
            self._proofs[key] = Proved(arithmetic.EXACT, BY_PROOF) if found else None
        return self._proofs[key]

    def _asked(self, o: AtLeast, context: Context) -> tuple[P, Poly, int]:
        """The key of an obligation among `_proofs`."""
        return o.p, o.q - o.r, self._scene(context)

    def _solved(self, ask: Callable[[], Verdict]) -> Verdict:
        """A solver's answer, where solvers are asked."""
        return ask() if self.pace == "all" else Unknown("none", "no solver is asked for lack of time")

    def _pair(self, p: P, x: X, context: Context) -> smt.Pair:
        return smt.Pair(context, with_fresh(context.sigma, p), p, x, lambda: self._view(p, x, context))

    # --- lanes ----------------------------------------------------------------------------------------------------

    def _count(self, what: What, p: P, x: X, array: str, index: Expr, context: Context) -> Count:
        """The lanes' count; by cases over an unknown with few values where that helps."""
        key = what, p, x, array, index, self._scene(context)
        if key not in self._counts:
            view = self._view(p, x, context)
            found = view.count(what, array, prepared(index, view.sigma)[0])
            for cases in (_smallest_range, _residues):
                found = self._by_cases(cases, found, view, what, p, x, array, index, context) or found
            self._counts[key] = self._by_windows(found, view, what, p, x, array, index, context)
        return self._counts[key]

    def _by_cases(
        self,
        split: Callable[[View, Expr, P], Sequence[Expr]],
        plain: Count,
        view: View,
        what: What,
        p: P,
        x: X,
        array: str,
        index: Expr,
        context: Context,
    ) -> Count | None:
        """The count by cases, of which one holds; None where that is no better than what is at hand."""
        cases = split(view, index, p) if plain.loose else ()
        if not cases or len(cases) * (view.threads or context.hardware.warp) > MAX_CASES:
            return None
        most = Count(1, "lanes", False)
        for fact in cases:
            case = View((fact, *p), x, context, view.sigma)
            here = case.count_case(what, array, prepared(index, view.sigma)[0])
            if here.n > most.n:
                most = here
            if most.n >= plain.n:
                return None
        return Count(most.n, "lanes", most.loose)

    def _by_windows(
        self, plain: Count, view: View, what: What, p: P, x: X, array: str, index: Expr, context: Context
    ) -> Count:
        """The count of an index that is near to one that lanes share, where that is less."""
        if plain.n <= 1:
            return plain
        from checker.oracles.windows import windows

        here, hardware = context.sigma.arrays[array], context.hardware
        unit = hardware.sector if what == "MemReads" else hardware.word * hardware.banks
        found = plain
        for start, span in windows(index, p, x, context, min(MAX_SPAN, plain.n * unit // here.stride)):
            least = min(span + 1, (span * here.stride + here.width - 1) // unit + 1)  # of one lane's
            if least < found.n:
                n = view.count(what, array, prepared(start, view.sigma)[0], span, found.n).n
                found = Count(n, "lanes", True) if n < found.n else found
        return found

    def _view(self, p: P, x: X, context: Context, alone: bool = False) -> View:
        key = p, x, alone, self._scene(context)
        if key not in self._views:
            while len(self._views) >= MAX_VIEWS:
                del self._views[next(iter(self._views))]
            self._views[key] = View(p, x, context, with_fresh(context.sigma, p), alone)
        return self._views[key]

    def _scene(self, context: Context) -> int:
        """The number of the part of a context that answers depend on besides the obligation: everything in the context
        but the metric."""
        sigma, hardware, launch = parts = context.sigma, context.hardware, context.launch
        key = id(sigma), id(hardware), id(launch), context.scope
        if key not in self._numbers:  # the entry keeps its parts alive, so their ids stay their own
            names = tuple(tuple(sorted(part.items())) for part in (sigma.locals, sigma.params))
            scene = names, tuple(sorted(sigma.arrays.items())), sigma.stable, hardware, launch, context.scope
            self._numbers[key] = parts, self._scenes.setdefault(scene, len(self._scenes))
        return self._numbers[key][1]

    def _facts_of(self, p: P, context: Context) -> tuple[Expr, ...]:
        """P and what holds of the launch, as `facts_of` has them. Universally quantified values make no difference."""
        key = p, self._scene(context)
        if key not in self._facts:
            self._facts[key] = facts_of(p, context, with_fresh(context.sigma, p))
        return self._facts[key]

    def _check_types(self, o: Obligation, context: Context) -> None:
        """An ill-typed question has no answer: raises TypeProblem."""
        scene = self._scene(context)

        def typed(e: Expr) -> Type:
            if (e, scene) not in self._types:
                self._types[e, scene] = type_of(e, with_fresh(context.sigma, (e,)))
            return self._types[e, scene]

        for e in (*o.p, *o.goal) if isinstance(o, Entails) else o.p:
            if typed(e) != BOOL:
                raise TypeProblem(f"{show(e)} is no truth value")
        for e in (o.expr,) if isinstance(o, Uniform) else (o.index,) if isinstance(o, AtMost) else ():
            if typed(e) != INT and isinstance(o, AtMost):
                raise TypeProblem(f"{show(e)} is no index")


@lru_cache(maxsize=8)
def _fewer(launch: Launch) -> Launch | None:
    """The launch without what is assumed and is not linear, where that is much: what holds with fewer assumptions
    holds with all."""
    linear = tuple(f for f in launch.assumptions if _is_linear(f))
    return replace(launch, assumptions=linear) if len(launch.assumptions) - len(linear) > MANY else None


def _is_linear(e: Expr) -> bool:
    """Whether an expression compares sums of numbers and of multiples of unknowns."""
    found = [m for p, _ in differences(e) for m, _ in p.terms if m]
    return bool(found) and all(len(m) == 1 and isinstance(m[0], Sym) for m in found)


def _smallest_range(view: View, index: Expr, p: P) -> Sequence[Expr]:
    """The values of the uniform unknown in an index, or in what P says of others, that has the fewest by P."""
    found: list[tuple[int, str, Var | Param, range]] = []
    definitions = (f for f in p if isinstance(f, Op) and f.op == "==")
    for t in (t for e in (index, *definitions) for t in subterms(e)):
        if not isinstance(t, Var | Param) or t.name.startswith("blockDim."):
            continue
        low, high = view.ranges.get(t.name, (None, None))
        if low is not None and high is not None and low < high <= low + MAX_CASES:
            found.append((high - low, t.name, t, range(low, high + 1)))
    if not found:
        return ()
    _, _, leaf, values = min(found, key=lambda f: f[:2])
    return [Op("==", (leaf, Const(v))) for v in values]


def _residues(view: View, index: Expr, _: P) -> Sequence[Expr]:
    """The residues, modulo a power of two, of a uniform unknown that an index has inside of operators."""
    name, k = view.hidden(prepared(index, view.sigma)[0])
    leaf = Var(name) if name in view.sigma.locals else Param(name)
    return [Op("==", (Op("&", (leaf, Const(k - 1))), Const(r))) for r in range(k)] if k > 1 else ()


def _about(goal: Poly, facts: Sequence[Poly]) -> list[Poly]:
    """A goal, and the facts that have to do with it: by leaves, or by variables in these."""
    found, left, near = [goal], [*facts], leaves(goal)
    while near:
        found += (more := [p for p in left if leaves(p) & near])
        left = [p for p in left if not leaves(p) & near]
        near = frozenset(leaf for p in more for leaf in leaves(p) if isinstance(leaf, Var))
    return found
