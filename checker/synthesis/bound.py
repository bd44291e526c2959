"""From a kernel to a certified bound: flow, search, elaboration, and the kernel's word on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Final, Literal

from checker import kernel as trusted
from checker import limits
from checker.certificates.evidence import proof as arithmetic_proof
from checker.certificates.seconded import Check, Prove, Remembered, Seconded, seconded, verdict
from checker.kernel import INDICES, Claim, Ledger, Oracle
from checker.oracles import Oracles
from checker.oracles.maxima import replaced
from checker.synthesis.asker import Access, Asker, Clock
from checker.synthesis.elaborate import Elaborator, by_cases, weaken
from checker.synthesis.flow import analyse
from checker.synthesis.ghosts import cycles, windows, with_flags, with_ghosts, with_names
from checker.synthesis.lanewise import cut_to
from checker.synthesis.nodes import Flow
from checker.synthesis.outline import Outline, bare, without
from checker.synthesis.rules import SOUND
from checker.synthesis.rules.transformer import Book
from checker.synthesis.search import Engine, find_potentials, is_solid, risen, with_potentials, without_potentials
from checker.synthesis.sums import antidifference
from checker.synthesis.turning import may_turn, turning
from checker.synthesis.walk import Point, Proof, Stuck, named
from checker.synthesis.zones import parts, with_zones
from logic.assertions import AtLeast, AtMost, Context, P, Proved, Unknown, assume, conj
from logic.contracts import Contract, elements_in
from logic.derivation import Derivation
from logic.facts import said
from logic.metrics import Metric
from logic.potentials import (
    ELEMENT,
    ZERO,
    Apply,
    Atom,
    Floor,
    Leaf,
    Log2,
    Max0,
    Monomial,
    Poly,
    applied,
    atom,
    atoms,
    const,
    element_of,
    evaluate,
    floor_div,
    leaves,
    log2,
    mapped,
    max0,
    minimum,
    of_expr,
    of_terms,
    substitute,
    sym,
)
from logic.refusals import Refusal, Rejected
from logic.rules import GHOST as GHOSTLY
from logic.rules import SOUND as CERTIFYING
from logic.source import Loc
from logic.syntax import BUILTINS, GHOST, WARP_INDEX, Const, Kernel, Op, Param

Verdict = Literal["certified", "solver-backed", "holey", "not-proved", "refuted", "unsupported", "on-trial"]

Per = Literal["warp", "block", "grid"]

MAX_WARPS: Final = 32
"""CUDA's limit on the warps of a block; larger hardware models are bounded by their worst warp."""


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


Zones = Literal["ghosts", "sides"]
"""How a search looks at when branches part lanes: with ghosts that tell when loops do, or only where sides access
arrays."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to search, by the ghosts that it uses: those that count turns at places where loops are in the way, those
    of counters that begin where another one is that has a ghost, and those that keep what variables were before. Of
    loops at the places `apart` the first turn is taken apart. A solid one counts what is inside the rows of triangles,
    a sharp one looks at what branches tell, too, and one by zones at when they part lanes."""

    stuck: frozenset[Loc | None] = frozenset()
    again: bool = False
    named: bool = False
    apart: frozenset[Loc | None] = frozenset()
    solid: bool = False
    sharp: bool = False
    zones: Zones | None = None


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
    `book`: a kernel that is bounded by them has the verdict `on-trial`, and no claim. Raises Stuck where none of these
    applies to a statement.

    Metrics that charge little come first, lest the time is spent before them. After a part of so many `seconds` of a
    `clock` for all metrics together, or of processor time where none are given, the search hurries (`asker`); where it
    finds no bound in haste, one without solvers is tried. Where the second checker refuses a bound, as it is too much
    work, one is tried in which each access costs the most that it may. Where it knows nothing of how much some accesses
    cost, one in which these cost the most that they may, and where it knows nothing of other facts, one without
    solvers, unless a bound may be `backed` by a solver's word.
    """
    start = time.perf_counter()

    if seconds is None:
        seconds, clock = limits.BOUND_SECONDS, time.process_time

    @cache
    def searched(plain: bool, blunt: bool = False) -> tuple[Search, Asker]:
        asker = Asker(oracle, clock(), seconds / 2 if plain else seconds, clock, plain, blunt)
        return _search(outline, asker, hinted, search, per, book), asker

    def best(metric: Metric, capped: frozenset[Access] = frozenset()) -> Result:
        for plain in (False, True):
            found, asker = searched(plain)
            asker.capped = capped
            result = found(metric)
            if result.q is not None or not result.hurried:
                break
        return result

    own = book is not SOUND or outline.body != bare(outline.kernel.body)
    costly = [metric for metric in metrics if own or charges(metric, outline.kernel)]
    if costly:
        searched(plain=False)
    shared = time.perf_counter() - start
    results, prove = [], Remembered()
    for metric in sorted(metrics, key=lambda m: len(m.fixed) + len(m.counted)):
        start = time.perf_counter()
        if show:
            show(metric.name)
        result = best(metric) if metric in costly else for_nothing(outline, metric, oracle, per)
        if metric not in costly and result.claim is None:
            result = best(metric)
        result, plainer = replace(result, plainer=None), result.plainer
        result = judged(result, outline.kernel, prove, check) if judge else result
        if judge and plainer is not None and result.verdict != "certified":
            coarse = judged(plainer, outline.kernel, prove, check)
            result = coarse if coarse.verdict == "certified" or result.claim is None else result
        if judge and result.second is not None and result.claim is None:
            coarse = judged(searched(plain=True, blunt=True)[0](metric), outline.kernel, prove, check)
            result = coarse if coarse.claim is not None else result
        if judge and not backed and (counts := unverified_counts(result)):
            coarse = judged(best(metric, counts), outline.kernel, prove, check)
            result = replace(coarse, backed=result.claim) if coarse.verdict == "certified" else result
        if judge and not backed and result.verdict == "solver-backed":
            coarse = judged(searched(plain=True)[0](metric), outline.kernel, prove, check)
            if coarse.verdict == "certified":
                sharper = result.claim if coarse.q != result.q else None
                result = replace(coarse, backed=sharper, hurried=result.hurried)
        took = time.perf_counter() - start + (shared / len(costly) if metric in costly else 0)
        results.append(replace(result, seconds=took))
        if done:
            done(results[-1])
    return sorted(results, key=lambda result: metrics.index(result.metric))


Search = Callable[[Metric], Result]
"""The best bound that a search finds for a metric, not yet judged by the second checker."""


def _search(outline: Outline, oracle: Asker, hinted: str | None, search: Engine, per: Per, book: Book) -> Search:
    """The search for the bounds of an outline, by one flow for all metrics. Raises Stuck."""
    cases, kept, flagged = _cases(outline.context, per), with_names(outline), with_flags(outline)

    @cache
    def plain(p: P, apart: frozenset[Loc | None] = frozenset(), sharp: bool = False) -> Flow:
        return analyse(outline, oracle, p, book, apart, sharp)

    @cache
    def ghosted(way: Way) -> tuple[Outline, tuple[str, ...]]:
        if way.solid:
            return ghosted(replace(way, solid=False))
        if way.zones:
            before, ghosts = ghosted(whole := replace(way, zones=None))
            found = with_zones(before, flow(whole, cases[0]), way.zones == "ghosts")
            return found, (*(x for x in found.context.sigma.locals if x not in before.context.sigma.locals), *ghosts)
        if way.sharp and flagged is not outline:
            first = analyse(flagged, oracle, cases[0], book, way.apart, sharp=True)
            return with_ghosts(flagged, first, oracle, way.stuck, more=True)
        if not way.again:
            first = plain(cases[0], way.apart, way.sharp)
            if way.named:
                first = analyse(kept, oracle, cases[0], book, way.apart, way.sharp)
            return with_ghosts(kept if way.named else outline, first, oracle, way.stuck, way.named, per != "warp")
        once = replace(way, again=False)
        found, ghosts = ghosted(once)
        own = not ghosts or outline.context.sigma.locals.keys() & {*ghosts}
        return (found, ghosts) if own else with_ghosts(found, flow(once, cases[0]), oracle, more=True)

    @cache
    def flow(way: Way, p: P) -> Flow:
        if way.solid:
            return flow(replace(way, solid=False), p)
        wider, ghosts = ghosted(way)
        if not ghosts and not way.zones:
            return plain(p, way.apart, way.sharp)
        return analyse(wider, oracle, p, book, way.apart, way.sharp)

    def bounded(metric: Metric, way: Way) -> Result:
        """With ghosts that count turns at the places where loops were found to be in the way."""
        wider, ghosts = ghosted(way)
        context = replace(wider.context, metric=metric)

        @cache
        def proof(warp: int | None) -> Proof[Poly]:
            """Of one warp, of none for the last number, or of all alike."""
            found = flow(way, () if warp is None else cases[warp])
            own = found if hinted in (None, metric.name) else without_potentials(found)
            return _proof(own, context, oracle, search, warp, book, way.sharp, way.solid)

        def one(apart: bool, anywhere: bool) -> Result:
            def whole() -> Proof[Poly]:
                return _by_warps([proof(k) for k in range(len(cases))], context) if apart else proof(None)

            return _one(outline.kernel, context, whole, ghosts, oracle, per, anywhere, book)

        result = one(len(cases) > 1 and not _alike(proof, len(cases) - 1), per == "warp")
        again = one(False, True) if result.q is None and per != "warp" else result
        return again if again.q is not None else result  # or the dearest warp, times their number

    def other(way: Way, at: Loc, tried: bool) -> Way | None:
        """Another way where a loop is in the way of this one."""
        inside = {inner.loc for cycle in cycles(plain(cases[0])) if cycle.loc == at for inner in cycles(cycle.body)}
        more = [replace(way, stuck=way.stuck | places) for places in ({at}, {at, *inside})]
        more += [replace(w, named=True) for w in more if kept is not outline]
        many = sum(1 for _ in cycles(plain(cases[0]))) > limits.LOOPS
        ways = more if tried or many else [replace(way, again=True), *more]
        if found := next((w for w in ways if ghosted(w)[1] != ghosted(way)[1]), None):
            return found
        first = replace(way, apart=way.apart | {at})
        return first if flow(first, cases[0]) != flow(way, cases[0]) else None

    def told(sharp: Way) -> bool:
        """Whether flags or branches, if they are not too many, tell more in a sharp way."""
        if flagged is outline and not may_turn(outline.body):
            return False
        found = turning(flow(sharp, cases[0]), ghosted(sharp)[0].context)
        few = len(found.forks) <= limits.TURNS and sum(map(len, found.heads.values())) <= limits.SHARPER
        return few and (len(found.forks) > 0 or flagged is not outline)

    def by_rows(metric: Metric) -> tuple[Way, Result] | None:
        """A sum over a block or a grid in elements of arrays, which telescopes: nothing else needs to be looked at."""
        way = Way(stuck=windows(plain(cases[0]))) if per != "warp" else Way()
        if way == Way() or ghosted(way)[1] == ghosted(Way())[1]:
            return None
        found = bounded(metric, way)
        return (way, found) if found.q is not None and elements_in([found.q]) else None

    def best(metric: Metric) -> Result:
        tried = False
        way, result = by_rows(metric) or (Way(), bounded(metric, Way()))
        first = result
        while result.q is None and result.problem and (at := result.problem.loc) and not oracle.late:
            here = other(way, at, tried)
            if here is None:
                break
            found, tried = bounded(metric, here), True
            useless = found.q is None and found.problem and found.problem.loc == at
            if not (useless and here.again and not way.again):
                way, result = here, found
        if result.q is None and (result.problem is None or result.problem.loc in way.stuck):
            result = first
        if oracle.late:
            return replace(result, hurried=True)
        narrow = replace(way, stuck=way.stuck | windows(plain(cases[0])))
        if result.q is not None and not way.again and ghosted(narrow)[1] != ghosted(way)[1]:
            found = bounded(metric, narrow)
            if found.q is not None and lower(found.q, result.q):
                result = found
        solid = replace(way, solid=True)
        if result.q is not None and is_solid(flow(way, cases[0]), ghosted(way)[0].context):
            found = bounded(metric, solid)
            if found.q is not None and lower(found.q, result.q):
                way, result = solid, replace(found, plainer=result)
        sharp = replace(way, sharp=True)
        if result.q is not None and told(sharp):
            found = bounded(metric, sharp)
            if found.q is not None and lower(found.q, result.q):
                result = replace(found, plainer=result.plainer)
        price = metric.cost
        parted = replace(sharp, zones="ghosts" if price("div") and not price("vwrite") else "sides")
        known = parts(flow(way, cases[0]), ghosted(way)[0].context)
        if result.q is not None and known and ghosted(parted)[0] is not ghosted(sharp)[0]:
            found = bounded(metric, parted)
            if found.q is not None and lower(found.q, result.q):
                result = replace(found, plainer=result.plainer or result)
        return replace(result, hurried=oracle.hurried)

    flow(Way(), cases[0])
    return best


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
    report, found = result.second.report, list[Access]()
    for i in report.open:
        o = result.ledger.discharged[i].obligation if i < len(result.ledger.discharged) else None
        if not isinstance(o, AtMost):
            return frozenset()
        found.append((o.what, o.array, o.index))
    return frozenset(found) if len(report.solver_backed) == len(report.open) else frozenset()


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
) -> Result:
    """The result for the context's metric, without the time, by a proof that may raise Stuck.

    `anywhere` asks for a potential that does not depend on the block, where there is one.
    """
    ledger = Ledger()
    derivation = None
    try:
        proof = _without_ghosts(whole(), ghosts, kernel)
        if anywhere:
            proof = _wherever(proof, context, oracle)
        known = Point(proof.pre.p, told_by_contracts(proof.pre.q, context, oracle), proof.pre.x)
        proof = _plain(weaken(proof, known, proof.post), context, oracle, per)
        if per != "warp":
            proof = _summable(proof, context, oracle)
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


END: Final = Point((), ZERO, frozenset())


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


def _wherever(proof: Proof[Poly], context: Context, oracle: Oracle) -> Proof[Poly]:
    """The proof with a potential that holds for every warp and block, where one is as easily said: that of the first or
    last."""
    q = proof.pre.q
    for name in INDICES:
        index, size = Param(name), trusted.extent(name, context)
        for at in () if index in {leaf for a in elements_in([q]) for leaf in leaves(a.args[0])} else (ZERO, size - 1):
            worst = substitute(q, {index: at})
            enough = AtLeast((), frozenset(), worst, q)
            if worst != q and isinstance(oracle(enough, context), Proved):
                for m, c in q.terms if arithmetic_proof(enough, context) is None else ():  # one by one it may be shown
                    term = Poly(((m, c),))
                    q = q - term + substitute(term, {index: at})
                    proof = weaken(proof, Point(proof.pre.p, q, proof.pre.x), proof.post)
                q = worst
                break
    return weaken(proof, Point(proof.pre.p, q, proof.pre.x), proof.post)


def told_by_contracts(q: Poly, context: Context, oracle: Oracle) -> Poly:
    """A potential that has what elements of arrays are, by contracts such as row[0] == 0, in place of these elements,
    where that is shown to be no less. Where an array rises to an element that is known, as row[n] == nnz, that is what
    row[min(m, n)] is at most; an index with a warp's or block's number in it stays, as it telescopes."""
    if not elements_in([q]):
        return q
    given = said((), context)
    values: dict[Atom, Poly] = {}
    for c in context.launch.contracts:
        match c:
            case Contract((), Op("==", (a, b))):
                p, other = of_expr(a), of_expr(b)
                for one, value in ((p, other), (other, p)):
                    if one is not None and value is not None and not elements_in([value]):
                        values |= {x: value for x in elements_in([one]) if one == atom(x)}

    def image(a: Atom) -> Poly:
        match a:
            case Apply(op, args) if op.startswith(ELEMENT):
                if leaves(args[0]) & NUMBERED:
                    return values.get(a, atom(a))
                element = element_of(op, mapped(args[0], image))
                return next((value for known, value in values.items() if element == atom(known)), element)
            case Apply(op, args):
                return applied(op, *(mapped(p, image) for p in args))
            case Max0(arg):
                inside = mapped(arg, image)
                return max0(inside) if given.least(inside) is None else inside
            case Floor(arg, k):
                return floor_div(mapped(arg, image), k)
            case Log2(arg):
                return log2(mapped(arg, image))
        return atom(a)

    def most(m: Monomial, c: Fraction) -> Poly:
        """A term, or what it is at most where it is an element up to one that is known."""
        for i, a in enumerate(m if c > 0 else ()):
            for known, value in values.items():
                match a, known:
                    case Apply(op, (index,)), Apply(array, (end,)) if (
                        op == array and cut_to(index, end) is not None and not leaves(index) & NUMBERED
                    ):
                        return value * Poly((((*m[:i], *m[i + 1 :]), c),))
        return Poly(((m, c),))

    stands = mapped(q, image)
    for other in (sum((most(m, c) for m, c in stands.terms), ZERO), stands):
        enough = AtLeast((), frozenset(), other, q)
        if other != q and arithmetic_proof(enough, context) is not None and isinstance(oracle(enough, context), Proved):
            return other
    return q


NUMBERED: Final = frozenset[Leaf](map(Param, INDICES))
"""What tells warps and blocks apart."""


def _plain(proof: Proof[Poly], context: Context, oracle: Oracle, per: Per) -> Proof[Poly]:
    """The proof with a potential that is worth the same and is said in fewer words: without the cases that make no
    difference, as that of a negative n in |[0, n/2]|, where C rounds up. In what is to be summed, indices of elements
    stay: at row[min(0, max(0, n))] a sum begins with row[0]."""
    q = proof.pre.q
    indices = {b for a in elements_in([q] if per != "warp" else []) for b in atoms(a.args[0])}

    def plainer(other: Poly) -> bool:
        more, less = (AtLeast((), frozenset(), a, b) for a, b in ((other, q), (q, other)))
        shorter = len(str(other)) < len(str(q))
        return shorter and arithmetic_proof(more, context) is not None and isinstance(oracle(less, context), Proved)

    outer = {a for m, _ in q.terms for a in m}
    cases = dict.fromkeys(a for a in atoms(q) if isinstance(a, Max0) and a not in indices)
    if len(cases) > limits.CASES:
        return proof
    for a in cases:
        known = a.arg in (sym(Param(name)) for name in BUILTINS)
        if known or a not in outer or any(isinstance(b, Max0 | Log2) for b in atoms(a.arg)):
            others = (replaced(q, a.arg, a.arg), replaced(q, a.arg, ZERO))
            q = next(filter(plainer, others), q)
    for capped in _capped(q) if per == "warp" else ():
        q = next(filter(plainer, (q + more for more in capped)), q)
    return weaken(proof, Point(proof.pre.p, q, proof.pre.x), proof.post)


def _capped(q: Poly) -> Iterator[tuple[Poly, ...]]:
    """For each pair of terms such as max(0, p) - max(0, p - 2) what is to be added to have min(2, max(0, p)) instead;
    where that is 1 or 0 also by what p is a part of, rounded up. It would not telescope."""
    own = [(m[0].arg, c) for m, c in q.terms if len(m) == 1 and isinstance(m[0], Max0)]
    for p, c in own:
        for other, d in own:
            gap = p - other
            if c > 0 and c == -d and gap.is_constant and gap.constant > 0:
                whole = of_terms(t for t in p.terms if not any(isinstance(a, Floor) for a in t[0]))
                wholes = (whole, p) if gap == const(1) else (p,)
                yield tuple((minimum(gap, max0(whole)) - max0(p) + max0(other)) * c for whole in wholes)


def _summable(proof: Proof[Poly], context: Context, oracle: Oracle) -> Proof[Poly]:
    """The proof with a potential in which elements of arrays stand by themselves, where it is no less: then it
    telescopes, as the lengths of rows do."""

    def known(p: Poly) -> bool:
        return isinstance(oracle(AtLeast((), frozenset(), p, ZERO), context), Proved)

    def end(a: Atom, up: bool) -> Poly:
        """The most (up) or least value of an atom."""
        match a:
            case Max0(arg) if known(arg):
                return ends(arg, up)
            case Max0(arg) if up and known(const(1) - arg):
                return const(1)
            case Max0(_) if not up:
                return ZERO
            case Floor(arg, k) if all(c.denominator == 1 for _, c in arg.terms):
                return ends((arg if up else arg - (k - 1)) * Fraction(1, k), up)
        return atom(a)

    def ends(p: Poly, up: bool) -> Poly:
        total = ZERO
        for m, c in p.terms:
            term = Poly(((m, Fraction(1)),))
            own = len(m) == 1 and elements_in([term]) and not isinstance(m[0], Apply)
            total = total + (end(m[0], up == (c > 0)) if own else term) * c
        return total

    q = ends(proof.pre.q, True)
    return weaken(proof, Point(proof.pre.p, q, proof.pre.x), proof.post)


# --- warp by warp ----------------------------------------------------------------------------------------------------


def _is(op: str, warp: int) -> Op:
    return Op(op, (Param(WARP_INDEX), Const(warp)))


def _cases(context: Context, per: Per) -> list[P]:
    """{true}, or where a sum over warps is asked for and they are known: the first warp, the second, .., no warp."""
    x, y, z = context.launch.block
    if per == "warp" or x is None or y is None or z is None:
        return [()]
    warps = -(-x * y * z // context.hardware.warp)
    if not 1 < warps <= MAX_WARPS:
        return [()]
    each = [conj((_is(">", k - 1), _is("<=", k)) if k else (_is("<=", 0),), context.sigma) for k in range(warps)]
    return [*each, conj((_is(">", warps - 1),), context.sigma)]


def _alike(proof: Callable[[int | None], Proof[Poly]], warps: int) -> bool:
    """Whether the first, second and last warp, by themselves, cost what is found for all, or that is in elements of
    arrays, whose sum telescopes only where a warp's number is in it."""
    try:
        q = proof(None).pre.q
        return bool(elements_in([q])) or all(proof(k).pre.q == q for k in (0, 1, warps - 1))
    except Stuck:
        return False


def _by_warps(proofs: Sequence[Proof[Poly]], context: Context) -> Proof[Poly]:
    """One proof from one for each warp by Q:CaseSplit; its potential is a sum over `warp.index <= k` for all k."""
    proofs = [weaken(proof, proof.pre, END) for proof in proofs]
    index = sym(Param(WARP_INDEX))
    q = proofs[-2].pre.q
    for k in range(len(proofs) - 2):
        q = q + (proofs[k].pre.q - proofs[k + 1].pre.q) * (max0(const(k + 1) - index) - max0(const(k) - index))
    whole = weaken(proofs[-1], Point(proofs[-1].pre.p, q, frozenset()), END)
    for k in reversed(range(len(proofs) - 1)):
        before = conj((_is(">", k - 1),) if k else (), context.sigma)
        rest = Point(assume(before, _is("<=", k), context.sigma, False), q, frozenset())
        yes = weaken(proofs[k], Point(proofs[k].pre.p, q, frozenset()), END)
        no = weaken(whole, rest, END)
        whole = by_cases(Point(before, q, frozenset()), _is("<=", k), yes, no)
    return whole


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
