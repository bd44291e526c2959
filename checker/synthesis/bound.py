"""From a kernel to a certified bound: flow, search, elaboration, and the kernel's word on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Final, Literal

from checker import kernel as trusted
from checker import limits
from checker.certificates.judge import decided
from checker.certificates.seconded import Check, Prove, Remembered, Seconded, seconded, verdict
from checker.kernel import INDICES, Claim, Ledger, Oracle
from checker.oracles import Oracles
from checker.synthesis.asker import Access, Asker, Clock
from checker.synthesis.elaborate import Elaborator, weaken
from checker.synthesis.flow import analyse
from checker.synthesis.ghosts import cycles, windows
from checker.synthesis.nodes import Flow
from checker.synthesis.outline import Outline, bare, without
from checker.synthesis.rules import SOUND
from checker.synthesis.rules.transformer import Book
from checker.synthesis.search import Engine, find_potentials, is_solid, risen, with_potentials, without_potentials
from checker.synthesis.stated import shortened, summable, told_by_contracts, wherever, without_rests
from checker.synthesis.sums import antidifference
from checker.synthesis.walk import Point, Proof, Stuck, named
from checker.synthesis.warps import END, alike, by_warps, cases_of, dearest, parts_by, told_apart
from checker.synthesis.ways import Way, Ways
from checker.synthesis.zones import parts
from logic.assertions import AtMost, Context, Entails, Obligation, P, Uniform, Unknown
from logic.contracts import elements_in
from logic.derivation import Derivation
from logic.metrics import Metric
from logic.potentials import ZERO, Poly, evaluate, leaves, substitute
from logic.refusals import Refusal, Rejected
from logic.rules import GHOST as GHOSTLY
from logic.rules import SOUND as CERTIFYING
from logic.syntax import GHOST, Kernel, Op, Param

Verdict = Literal["certified", "solver-backed", "holey", "not-proved", "refuted", "unsupported", "on-trial"]

Per = Literal["warp", "block", "grid"]


@dataclass(frozen=True, slots=True)
class Result:
    """The result for one metric, and the seconds it took.

    `claim` is there exactly when the kernel accepted and the second checker did not refuse; `problem` says why it is
    not. `second` is what the second checker said of the certificate, where the kernel accepted. By rules on trial there
    is no claim: `tried` is the potential that the kernel accepted by them, and the verdict is `on-trial`. A search that
    `hurried` may find a lower bound with more time. `backed` claims one that rests on the word of a solver, where
    `claim` does not. `plainer` is a bound that is no lower, and whose proof is shorter.
    """

    metric: Metric
    verdict: Verdict
    claim: Claim | None
    derivation: Derivation | None
    ledger: Ledger
    problem: Stuck | Refusal | None
    seconds: float
    second: Seconded | None = None
    tried: Poly | None = None
    hurried: bool = False
    backed: Claim | None = None
    plainer: Result | None = None

    @property
    def q(self) -> Poly | None:
        """The bound, claimed or tried."""
        return self.tried if self.claim is None else self.claim.pre.q


def find_bounds(
    outline: Outline,
    metrics: Sequence[Metric],
    oracle: Oracles,
    hinted: str | None = None,
    search: Engine = "lp",
    per: Per = "warp",
    show: Callable[[str], None] | None = None,
    judge: bool = True,
    done: Callable[[Result], None] | None = None,
    book: Book = SOUND,
    seconds: float | None = None,
    clock: Clock = time.monotonic,
    backed: bool = False,
    check: Check | None = None,
) -> list[Result]:
    """A bound for each metric: one flow serves them all, and both checkers judge each. The context's own metric is not
    looked at.

    `hinted` names the metric that the potentials in the outline are for; None means all of them. `show` is told what is
    worked on, `done` gets each result as soon as it is there. `check` asks the second checker elsewhere; without
    `judge` it is left to the caller (`judged`), and nothing is certified. Nor is anything by the rules of another
    `book`: a kernel that is bounded by them has the verdict `on-trial`, and no claim. A bound may be `backed` by a
    solver's word. The searches have so many `seconds` of a `clock` for all metrics together, or of processor time where
    none are given (`Searches`). Raises Stuck where none of these applies to a statement.

    Metrics that charge little come first, lest the time is spent before them; and each has a bound, if one is found,
    before lower ones are looked for.
    """
    start = time.perf_counter()
    if seconds is None:
        seconds, clock = limits.BOUND_SECONDS, time.process_time
    searches = Searches(outline, oracle, hinted, search, per, book, seconds, clock, check, backed)
    own = book is not SOUND or outline.body != bare(outline.kernel.body)
    ordered = sorted(metrics, key=lambda m: len(m.fixed) + len(m.counted))
    costly = [metric for metric in ordered if own or charges(metric, outline.kernel)]
    if costly:
        searches.named(plain=False)
    shared = time.perf_counter() - start
    results, took = list[Result](), dict[int, float]()

    def secure(*some: Metric) -> None:
        """Has first bounds judged where time is short: who is asked knows them from then on, whatever comes after."""
        if judge and check is not None and searches.short_of_time:
            searches.secure(some)

    def begun() -> Iterator[Metric]:
        """The metrics that charge something; their first bounds are looked for before any is gone on with."""
        for i, metric in enumerate(costly, 1):
            start = time.perf_counter()
            if show:
                show(metric.name)
            searches.begin(metric)
            secure(*costly[:i])
            took[id(metric)] = time.perf_counter() - start + shared / len(costly)
        yield from costly

    for metric in chain((m for m in ordered if m not in costly), begun()):
        start = time.perf_counter()
        if show:
            show(metric.name)
        if metric in costly:
            secure(*(m for m in costly if all(m is not r.metric for r in results)))
        result = searches.best(metric) if metric in costly else for_nothing(outline, metric, oracle, per)
        if metric not in costly and result.claim is None:
            result = searches.best(metric)
        if judge:
            result = searches.judged(result, backed)
        spent = took.get(id(metric), 0.0) + time.perf_counter() - start
        results.append(replace(result, plainer=None, seconds=spent))
        if done:
            done(results[-1])
    return sorted(results, key=lambda result: metrics.index(result.metric))


class Searches:
    """The searches for the bounds of an outline: by all oracles, and a plain one without solvers.

    After a part of so many `seconds` of a `clock` for a flow, and then for all metrics together, a search hurries
    (`asker`); where it finds no bound in haste, a plain one is tried."""

    def __init__(
        self,
        outline: Outline,
        oracle: Oracles,
        hinted: str | None,
        engine: Engine,
        per: Per,
        book: Book,
        seconds: float,
        clock: Clock,
        check: Check | None = None,
        backed: bool = False,
    ) -> None:
        self._prove, self._check, self._kernel = Remembered(), check, outline.kernel
        self._clock, self._start, self._seconds = clock, clock(), seconds
        self._judged: dict[int, tuple[Derivation, Result]] = {}
        """What was judged, by the identity of its derivation."""
        self._dark: set[Dark] = set()
        """Counts of accesses of which the second checker is left in the dark, whatever evidence was looked for."""

        def named(*, plain: bool, blunt: bool = False, solved: bool = False) -> Finder:
            asker = Asker(oracle, clock(), seconds / 2 if plain or solved else seconds, clock, plain, blunt, backed)
            asker.shown = None if backed or solved else self._shown
            search = Finder(outline, asker, hinted, engine, per, book)
            asker.start = clock()
            asker.flowed = asker.start - self._start
            return search

        self.named = cache(named)

    def _shown(self, obligation: Obligation, context: Context) -> bool:
        """Whether the second checker sees that an obligation holds, with the evidence that is found for it."""
        alone = isinstance(obligation, Entails | Uniform | AtMost) and decided(obligation, None, context)
        return alone or self._prove(obligation, context) is not None

    def begin(self, metric: Metric) -> None:
        """The first bound of a metric is looked for; `best` goes on from there."""
        self.named(plain=False).first(metric)

    def best(self, metric: Metric, capped: frozenset[Access] = frozenset()) -> Result:
        """The bound that is found, in which `capped` accesses cost the most that they may; if there is no other, one
        that rests on what a solver says."""
        search = self.named(plain=False)
        result = self._found(metric, search, capped)
        if result.q is None and result.hurried and not search.hopeless(metric):
            result = self._found(metric, self.named(plain=True), capped)
        if result.q is None and search.asker.unshown:
            result = self._found(metric, self.named(plain=False, solved=True), capped)
        return result

    @staticmethod
    def _found(metric: Metric, search: Finder, capped: frozenset[Access] = frozenset()) -> Result:
        search.asker.capped = capped
        return search(metric)

    @property
    def short_of_time(self) -> bool:
        """Whether each metric should have a bound that was judged before anything else is begun: of all the time, that
        of the flow included."""
        return self._clock() - self._start >= SECURED * self._seconds

    def secure(self, metrics: Sequence[Metric]) -> None:
        """Has the first bounds of metrics judged, if they have some."""
        for metric in metrics:
            _, first = self.named(plain=False).first(metric)
            if first.claim is not None:
                self._judge(first)

    def _judge(self, result: Result) -> Result:
        """A result as the second checker judges it; asked once of each derivation."""
        if result.claim is None or result.derivation is None:
            return result
        known = self._judged.get(id(result.derivation))
        if known is None:
            found = judged(result, self._kernel, self._prove, self._check)
            known = self._judged[id(result.derivation)] = result.derivation, found
            asked = found.ledger.discharged
            report = found.second.report.open if found.second is not None else ()
            left = {asked[o.entry].obligation for o in report if o.entry < len(asked)}
            vain = (o for o in left if isinstance(o, AtMost) and self._prove.in_vain(o, result.claim.context))
            self._dark |= {((o.what, o.array, o.index), o.n) for o in vain}
        return replace(known[1], hurried=result.hurried, plainer=result.plainer)

    def _in_the_dark(self, result: Result) -> frozenset[Access]:
        """The accesses whose counts a bound rests on and no certificate shows to the second checker."""
        asked = (d.obligation for d in result.ledger.discharged) if self._dark and result.claim is not None else ()
        counted = (((o.what, o.array, o.index), o.n) for o in asked if isinstance(o, AtMost))
        return frozenset(count[0] for count in counted if count in self._dark)

    def judged(self, result: Result, backed: bool) -> Result:
        """A result as the second checker judges it, or another bound where it does not vouch for this one. Where it
        refuses, as a bound is too much work, one is tried in which each access costs the most that it may. Where it
        knows nothing of some facts, one without solvers, and if these are all about how much accesses cost, one in
        which these cost the most that they may: the lower one, unless a bound may be `backed` by a solver's word. No
        certificate is written of what is sure not to be vouched for, while there may be another bound."""
        metric, plainer, found = result.metric, result.plainer, result
        alone = not backed and plainer is None and result.verdict == "solver-backed"
        counts = self._in_the_dark(result) if alone else frozenset[Access]()
        if not counts:
            result = self._judge(result)
            if plainer is not None and result.verdict != "certified":
                coarse = self._judge(plainer)
                result = coarse if coarse.verdict == "certified" or result.claim is None else result
            if result.second is not None and result.claim is None:
                coarse = self._judge(self.named(plain=True, blunt=True)(metric))
                result = coarse if coarse.claim is not None else result
            counts = unverified_counts(result)
        if not backed and result.verdict == "solver-backed":
            best, tried = result, frozenset[Access]()
            while best.verdict == "solver-backed" and not counts <= tried:
                tried |= counts
                best = self._judge(self.best(metric, tried))
                counts = unverified_counts(best)
            plain = self._found(metric, self.named(plain=True))
            if best.verdict != "certified" or (plain.q is not None and best.q is not None and lower(plain.q, best.q)):
                plain = plain if self._in_the_dark(plain) else self._judge(plain)
                best = plain if plain.verdict == "certified" else best
            if best.verdict == "certified":
                sharper = result.claim if best.q != result.q else None
                result = replace(best, backed=sharper, hurried=result.hurried)
            elif result is found:
                result = self._judge(result)
        return result


class Finder:
    """A search for the bounds of an outline, by one flow for all metrics: the best that it finds for a metric, not yet
    judged by the second checker. Raises Stuck."""

    def __init__(
        self, outline: Outline, asker: Asker, hinted: str | None, engine: Engine, per: Per, book: Book
    ) -> None:
        self.asker, self._outline, self._hinted, self._engine = asker, outline, hinted, engine
        self._per, self._book, self._cases = per, book, [()] if per == "warp" else cases_of(outline.context)
        self._ways = Ways(outline, asker, self._cases, per == "warp", book)
        self._apart = cache(lambda way: told_apart(self._flow(way), self._ways.ghosted(way)[0].context))
        self._first: list[tuple[Metric, frozenset[Access], tuple[Way, Result]]] = []
        self._hopeless: list[Metric] = []
        self._flow(Way())

    def first(self, metric: Metric) -> tuple[Way, Result]:
        """The first bound that is found for a metric, where accesses are capped as they are now, and its way."""
        for one, capped, found in self._first:
            if (one, capped) == (metric, self.asker.capped):
                return found
        self._first.append((metric, self.asker.capped, self._free(metric)))
        return self._first[-1][2]

    def __call__(self, metric: Metric) -> Result:
        way, result = self.first(metric)
        if self.asker.late:
            return replace(result, hurried=True)
        refused = isinstance(result.problem, Refusal)
        told = sharp(way if refused else Way())
        if result.q is None and (refused or self._ways.flagged) and self._ways.tells_more(told, refused=True):
            found = self._bounded(metric, told)  # what was found is too low, or pays for no last turn
            result = found if found.q is not None else result
        elif result.q is not None and result.q != ZERO:  # of which nothing is lower
            way, result = self._finer(metric, way, result)
        return replace(result, hurried=self.asker.hurried)

    def hopeless(self, metric: Metric) -> bool:
        """Whether a loop is in the way of a bound though all oracles were asked, and no other way is left to try."""
        return any(one is metric for one in self._hopeless)

    def _flow(self, way: Way) -> Flow:
        return self._ways.flow(way, self._cases[0])

    def _bounded(self, metric: Metric, way: Way, below: Poly | None = None, tests: Sequence[Op] = ()) -> Result:
        """The bound that one way finds, of one warp only where it is `below` another; by parts of the warps, where
        there are tests."""
        wider, ghosts = self._ways.ghosted(way)
        context = replace(wider.context, metric=metric)
        cases, per, book, oracle = self._cases, self._per, self._book, self.asker

        def proven(p: P, warp: int | None) -> Proof[Poly]:
            found = self._ways.flow(way, p)
            own = found if self._hinted in (None, metric.name) else without_potentials(found)
            return _proof(own, context, oracle, self._engine, warp, book, way.sharp, way.solid)

        @cache
        def proof(warp: int | None) -> Proof[Poly]:
            """Of one warp, of none for the last number, or of all alike."""
            return proven(() if warp is None else cases[warp], warp)

        def parted() -> Proof[Poly]:
            return dearest([proven(p, None) for p in parts_by(tests, context)], tests, context)

        if tests:
            return _one(self._outline.kernel, context, parted, ghosts, oracle, per, True, book, below)

        def one(apart: bool, anywhere: bool) -> Result:
            def whole() -> Proof[Poly]:
                return by_warps([proof(k) for k in range(len(cases))], context) if apart else proof(None)

            limit = below if per == "warp" else None
            return _one(self._outline.kernel, context, whole, ghosts, oracle, per, anywhere, book, limit)

        result = one(len(cases) > 1 and not alike(proof, len(cases) - 1), per == "warp")
        again = one(False, True) if result.q is None and per != "warp" else result
        return again if again.q is not None else result  # or the dearest warp, times their number

    def _free(self, metric: Metric) -> tuple[Way, Result]:
        """The first way in which no loop is in the way of a bound; else the bound that is missing."""
        self.asker.missing = True
        way, result = self._by_rows(metric) or (Way(), self._bounded(metric, Way()))
        first, tried, asked = result, False, not self.asker.hurried
        while result.q is None and result.problem and (at := result.problem.loc) and not self.asker.over:
            here = self._ways.other(way, at, tried)
            if here is None:
                self._hopeless += [metric] if asked and isinstance(first.problem, Stuck) else []
                break
            found, tried = self._bounded(metric, here), True
            useless = found.q is None and found.problem and found.problem.loc == at
            if not (useless and here.again and not way.again):
                way, result = here, found
        if result.q is None and (result.problem is None or result.problem.loc in way.stuck):
            result = first
        self.asker.missing = False
        return way, result

    def _by_rows(self, metric: Metric) -> tuple[Way, Result] | None:
        """A sum over a block or a grid in elements of arrays, which telescopes: nothing else needs to be looked at."""
        way = Way(stuck=windows(self._ways.own)) if self._per != "warp" else Way()
        if way == Way() or self._ways.ghosted(way)[1] == self._ways.ghosted(Way())[1]:
            return None
        found = self._bounded(metric, way)
        return (way, found) if found.q is not None and elements_in([found.q]) else None

    def _finer(self, metric: Metric, way: Way, result: Result) -> tuple[Way, Result]:
        """A lower bound by a way that looks at more, where there is one."""
        ways = self._ways

        def lowered(other: Way, plainer: Result | None, tests: Sequence[Op] = ()) -> bool:
            """Whether the other way finds a lower bound, which is then kept with a plainer one."""
            nonlocal result
            found = self._bounded(metric, other, result.q, tests)
            if found.q is None or result.q is None or not lower(found.q, result.q):
                return False
            result = replace(found, plainer=plainer)
            return True

        narrow, last = replace(way, stuck=way.stuck | windows(ways.own)), way
        if not way.again and ways.ghosted(narrow)[1] != ways.ghosted(way)[1] and lowered(narrow, None):
            last = narrow
        if is_solid(self._flow(way), ways.ghosted(way)[0].context):
            solid = replace(way, solid=True)
            if lowered(solid, result):
                way = last = solid
        sharper = sharp(way)
        if ways.tells_more(sharper) and lowered(sharper, result.plainer):
            last = sharper
        parted = replace(sharper, zones="ghosts" if metric.cost("div") and not metric.cost("vwrite") else "sides")
        known = parts(self._flow(way), ways.ghosted(way)[0].context)
        known = known and ways.ghosted(parted)[0] is not ways.ghosted(sharper)[0]
        if known and lowered(parted, result.plainer or result):
            last = parted
        if self._per == "warp" and result.q != ZERO and (tests := self._apart(last)) and not self.asker.late:
            lowered(last, result.plainer or result, tests)
        return way, result


def sharp(way: Way) -> Way:
    """The way that looks at what branches tell, too."""
    return replace(way, sharp=True)


def charges(metric: Metric, kernel: Kernel) -> bool:
    """Whether a metric may charge anything of a kernel: a price of what all programs do, or of a space that it has."""
    spaces = {a.space[0] for a in kernel.arrays}  # of gread, swrite
    counted = (name for name, line in metric.counted.items() if line.slope or line.offset)
    return any(metric.fixed.values()) or any(name[0] in spaces for name in counted)


def for_nothing(outline: Outline, metric: Metric, oracle: Oracles, per: Per) -> Result:
    """The bound 0 of a program of which a metric charges nothing: its proof needs no facts, so none are looked for."""
    context = replace(outline.context, metric=metric)

    def whole() -> Proof[Poly]:
        found = analyse(outline, lambda *_: Unknown("none"))
        known = with_potentials(found, {id(loop): ZERO for loop in cycles(found)})
        return Elaborator(context, oracle, oracle.least).block(known, Point(found.end.p, ZERO, found.end.x))

    return _one(outline.kernel, context, whole, (), Asker(oracle), per, False, SOUND)


def judged(result: Result, kernel: Kernel, prove: Prove, check: Check | None = None) -> Result:
    """The claim that the kernel accepted, judged by the second checker; `check` asks it elsewhere."""
    if result.claim is None or result.derivation is None:
        return result
    second = seconded(result.claim, result.derivation, result.ledger, prove, check)
    if second.verdict == "not-proved":
        problem = Stuck(second.problem, kernel.loc, second.advice)
        return replace(result, verdict="not-proved", claim=None, problem=problem, second=second)
    return replace(result, verdict=second.verdict, second=second)


def unverified_counts(result: Result) -> frozenset[Access]:
    """The accesses whose counts are all that a bound takes from a solver; none where it takes anything else."""
    if result.verdict != "solver-backed" or result.second is None:
        return frozenset()
    found = list[Access]()
    for i in (o.entry for o in result.second.report.open):
        o = result.ledger.discharged[i].obligation if i < len(result.ledger.discharged) else None
        if not isinstance(o, AtMost):
            return frozenset()
        found.append((o.what, o.array, o.index))
    return frozenset(found)


Dark = tuple[Access, int]
"""An access, and what it costs at most."""

SECURED: Final = 0.2
"""The share of the time after which each metric's first bound is judged before lower ones are looked for."""

SIZES: Final = (1, 3, 8, 60, 1000)
"""Values of parameters at which two bounds are compared."""


def lower(q: Poly, r: Poly) -> bool:
    """Whether q is less than r, all in all, at the points where they are looked at."""
    names = sorted(leaves(q - r), key=str)
    points = [{x: SIZES[(i * k + i) % len(SIZES)] for k, x in enumerate(names)} for i in range(len(SIZES) * 2)]
    return sum(evaluate(r - q, point, risen) for point in points) > 0


def derive(flow: Flow, outline: Outline, oracle: Oracles, search: Engine = "lp", book: Book = SOUND) -> Derivation:
    """A derivation for the flow of an outline, with potentials at the loop heads that have none; by the rules of the
    book that the flow was made for. Raises Stuck."""
    proof = _proof(flow, outline.context, oracle, search, None, book)
    ghosts = tuple(x for x in outline.context.sigma.locals if x.startswith(GHOST))
    return _without_ghosts(proof, ghosts, outline.kernel).derivation


def _proof(
    flow: Flow,
    context: Context,
    oracle: Oracles | Asker,
    search: Engine,
    warp: int | None,
    book: Book = SOUND,
    turns: bool = False,
    solid: bool = False,
) -> Proof[Poly]:
    if isinstance(oracle, Asker):
        oracle.begin()
    elaborator = Elaborator(context, oracle, oracle.least, warp, book)
    complete = find_potentials(flow, elaborator, search, turns, solid)
    return elaborator.block(complete, Point(flow.end.p, ZERO, flow.end.x))


def _one(
    kernel: Kernel,
    context: Context,
    whole: Callable[[], Proof[Poly]],
    ghosts: tuple[str, ...],
    oracle: Asker,
    per: Per,
    anywhere: bool,
    book: Book,
    below: Poly | None = None,
) -> Result:
    """The result for the context's metric, without the time, by a proof that may raise Stuck.

    `anywhere` asks for a potential that does not depend on the block, where there is one. A potential that is not
    `below` another is not checked: it is no result.
    """
    ledger = Ledger()
    derivation = None
    try:
        proof = _without_ghosts(whole(), ghosts, kernel)
        if anywhere:
            proof = wherever(without_rests(proof, context, oracle), context, oracle)
        known = Point(proof.pre.p, told_by_contracts(proof.pre.q, context, oracle), proof.pre.x)
        proof = shortened(weaken(proof, known, proof.post), context, oracle, per != "warp")
        if per != "warp":
            proof = summable(proof, context, oracle)
        if below is not None and not lower(proof.pre.q, below):
            needless = Stuck("the bound is no lower than another", kernel.loc)
            return Result(context.metric, "not-proved", None, None, ledger, needless, 0.0)
        derivation = proof.derivation
        theorem = trusted.check(derivation, book.judged, context, oracle.oracle, ledger)
        if book.judged is not CERTIFYING:
            return Result(context.metric, "on-trial", None, derivation, ledger, None, 0.0, tried=proof.pre.q)
        sums = _sums(proof.pre.q, context, per, oracle)
        claim = trusted.claim(kernel, theorem, context, oracle.oracle, ledger, sums)
    except (Stuck, Rejected) as error:
        problem = error.refusal if isinstance(error, Rejected) else error
        return Result(context.metric, "not-proved", None, derivation, ledger, problem, 0.0)
    if not claim.unconditional:
        needs = Stuck("the derivation needs a precondition that not every store satisfies", kernel.loc)
        return Result(context.metric, "not-proved", None, derivation, ledger, needs, 0.0)
    return Result(context.metric, verdict(None, ledger), claim, derivation, ledger, None, 0.0)


def _without_ghosts(proof: Proof[Poly], ghosts: tuple[str, ...], kernel: Kernel) -> Proof[Poly]:
    """The proof about the program without its ghosts."""
    if not ghosts:
        return proof
    proof = weaken(proof, proof.pre, END)
    left = proof.stmt
    for ghost in ghosts:
        left = kernel.body if ghost == ghosts[-1] else without(left, ghost)
        substitution = named("", proof.pre) | named("'", END) | {"s": left, "s1": proof.stmt, "x": ghost}
        proof = Proof(proof.pre, left, END, Derivation(GHOSTLY.name, substitution, (proof.derivation,), kernel.loc))
    return proof


def _sums(q: Poly, context: Context, per: Per, oracle: Oracle) -> tuple[tuple[str, Poly], ...]:
    """For each index that is summed over, a potential that telescopes: of what the sum over the one before is at most,
    by what contracts say of the elements that are left at its ends. Raises Stuck."""
    found: list[tuple[str, Poly]] = []
    for name in INDICES[: {"warp": 0, "block": 1, "grid": 4}[per]]:
        f = antidifference(q, name)
        if f is None:
            raise Stuck(f"what a warp costs depends on {name} in a way that has no sum in closed form: {q}")
        found.append((name, f))
        i = Param(name)
        q = told_by_contracts(
            substitute(f, {i: ZERO}) - substitute(f, {i: trusted.extent(name, context)}), context, oracle
        )
    return tuple(found)
