"""Trials on several processes, and the smallest counterexample that can be found once there is one."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from checker.testbed.cluster import Cluster, results
from checker.testbed.programs import PRICES, SIGMA, TICK, Programs
from checker.testbed.trial import Case, Coverage, Start, Trial, Violation, derived, judged, run_case, starts, used_by
from checker.testbed.workers import Workers
from checker.testbed.world import TINY, World
from logic.assertions import Context, Launch
from logic.derivation import size as size_of
from logic.syntax import Assign, Const, Expr, If, Op, Read, Seq, Skip, Stmt, While, Write, seq, statements, subterms

CHUNK: Final = 20
ATTEMPTS: Final = 14
"""Derivations that are tried for a smaller program before it counts as harmless."""
LIGHT: Final = 10
"""The weight of a program that is tried twice as often: its derivations cost little."""
POLISH: Final = 60
"""Derivations that are tried for the smallest program."""
MOST: Final = 1000
"""Derivations that are tried in all to find a smaller counterexample."""


@dataclass(slots=True)
class Report:
    """How a trial ended: after how many cases, with what seen, at which case a counterexample turned up."""

    examples: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    case: int | None = None
    violation: Violation | None = None
    seconds: float = 0.0


_TRIAL: Trial | None = None


def _begin(trial: Trial) -> None:
    global _TRIAL  # noqa: PLW0603 - what a worker process works on
    _TRIAL = trial


def _chunk(numbers: range) -> tuple[int, Coverage, tuple[int, Violation] | None]:
    if _TRIAL is None:
        raise RuntimeError("no trial was given to this process")
    return chunk(_TRIAL, numbers)


def _is_chunk(numbers: range, found: object) -> bool:
    """Whether something is what `chunk` gives for these numbers."""
    match found:
        case (int(done), Coverage(), None):
            return done == len(numbers)
        case (int(done), Coverage(), (int(number), Violation())):
            return 0 < done <= len(numbers) and number == numbers[done - 1]
    return False


def chunk(trial: Trial, numbers: range) -> tuple[int, Coverage, tuple[int, Violation] | None]:
    """Cases with these numbers, up to the first violation: how many, what was seen, the violation."""
    coverage = Coverage()
    for done, i in enumerate(numbers, 1):
        violation = run_case(trial, i, coverage)
        if violation:
            return done, coverage, (i, violation)
    return len(numbers), coverage, None


def search(
    trial: Trial,
    numbers: range,
    jobs: int = 1,
    show: Callable[[int], None] | None = None,
    small: bool = True,
    cluster: Cluster | None = None,
) -> Report:
    """Cases with these numbers up to the first one that is violated, which `jobs` and `cluster` do not change; `small`
    asks for a smaller counterexample then."""
    started, report = time.monotonic(), Report()
    parts = [numbers[i : i + CHUNK] for i in range(0, len(numbers), CHUNK)]
    for done, coverage, found in _results(trial, parts, jobs, cluster):
        report.examples += done
        report.coverage.add(coverage)
        if show:
            show(report.examples)
        if found:
            report.case, report.violation = found
            break
    if report.violation and small:
        report.violation = smallest(trial, report.violation, random.Random(f"{trial.seed}/{report.case}/smaller"))
    report.seconds = time.monotonic() - started
    return report


def _results(
    trial: Trial, parts: list[range], jobs: int, cluster: Cluster | None
) -> Iterator[tuple[int, Coverage, tuple[int, Violation] | None]]:
    if cluster is not None:
        yield from results(cluster, partial(chunk, trial), parts, _is_chunk)
        return
    if jobs == 1 or len(parts) == 1:
        yield from (chunk(trial, part) for part in parts)
        return
    with Workers(jobs, initializer=_begin, initargs=(trial,)) as pool:
        ahead = 4 * jobs
        running = [pool.submit(_chunk, part) for part in parts[:ahead]]
        for i in range(len(parts)):
            yield running[i].result()
            if i + ahead < len(parts):
                running.append(pool.submit(_chunk, parts[i + ahead]))


# --- smaller ---------------------------------------------------------------------------------------------------------


def weight(s: Stmt) -> int:
    """The size of a program: statements and the nodes of their expressions; small numbers weigh less."""
    total = 0
    for t in statements(s):
        total += 2 if not isinstance(t, Skip) else 1
        for e in _parts(t):
            for u in subterms(e):
                total += 1 + (isinstance(u, Const) and u.value not in (0, 1)) + isinstance(u, Read)
    return total


def _parts(s: Stmt) -> tuple[Expr, ...]:
    match s:
        case Assign(_, e) | If(e) | While(e):
            return (e,)
        case Write(_, index, e):
            return (index, e)
    return ()


def smaller(s: Stmt) -> Iterator[Stmt]:
    """Programs with something taken out of s."""
    if not isinstance(s, Skip):
        yield Skip()
    match s:
        case Seq(stmts):
            for i, t in enumerate(stmts):
                yield seq(*stmts[:i], *stmts[i + 1 :])
                yield from (seq(*stmts[:i], u, *stmts[i + 1 :]) for u in smaller(t))
        case If(e, s1, s2):
            yield from (s1, s2)
            yield from (If(f, s1, s2) for f in _simpler(e))
            yield from (If(e, t, s2) for t in smaller(s1))
            yield from (If(e, s1, t) for t in smaller(s2))
        case While(e, body):
            yield body
            yield from (While(f, body) for f in _simpler(e))
            yield from (While(e, t) for t in smaller(body))
        case Assign(x, e):
            yield from (Assign(x, f) for f in _simpler(e))
        case Write(a, index, e):
            yield from (Write(a, f, e) for f in _simpler(index))
            yield from (Write(a, index, f) for f in _simpler(e))


def _simpler(e: Expr) -> Iterator[Expr]:
    match e:
        case Op("&&" | "||", (a, b)):
            yield from (a, b)
        case Op("!", (a,)):
            yield a
        case Op(op, args):
            for i, a in enumerate(args):
                if op in "+-*/%" and i == 0:
                    yield a
                yield from (Op(op, (*args[:i], b, *args[i + 1 :])) for b in _simpler(a))
        case Read(_, index):
            yield index
        case Const(int() as k) if not isinstance(k, bool) and k > 0:
            yield Const(k - 1)


def rank(v: Violation) -> tuple[int, ...]:
    """The rank of a counterexample, lower where it is easier to read: no negative claim, a small program, a short
    derivation, few threads."""
    values = [abs(n) for by_thread in v.start.locals.values() for n in by_thread.values()]
    return (
        v.kind == "cost" and v.claimed < 0,
        weight(v.case.program),
        v.case.context.metric != PRICES[0],
        size_of(v.case.derivation),
        len(v.start.threads),
        sum(values) + abs(v.start.n),
    )


def _simplest() -> tuple[World, Context]:
    return World(lanes=2), Context(SIGMA, PRICES[0], replace(TINY, warp=2), Launch((2, 1, 1), (1, 1, 1)), "warp")


def _attempt(trial: Trial, body: Stmt, like: Case, rng: random.Random) -> Violation | None:
    surroundings = (like.world, like.context) if trial.data or rng.random() < 0.5 else _simplest()
    focus = rng.choice(trial.focus) if trial.focus else None
    pre = like.claim.pre
    start = (pre.p, pre.x) if rng.random() < 0.4 else (pre.p[:-1], pre.x) if rng.random() < 0.2 else None
    case = derived(body, Programs(rng), trial, focus, rng, surroundings, start, rng.random() < 0.7)
    if case is None or not used_by(trial, case):
        return None
    found = [v for start in starts(case, rng, 12) if (v := judged(case, start, trial.rules.unrestricted))]
    return min(found, key=rank) if found else None


def smallest(trial: Trial, violation: Violation, rng: random.Random) -> Violation:
    """A violation by a smaller program, if one of a limited number of derivations gives one; then the plainest."""
    best, left = violation, MOST
    ticks = [Assign(TICK, Const(0))] * 2
    first = best.case.program
    for body in (first, seq(first, *ticks[:1]), seq(first, *ticks)) * (2 if violation.kind == "cost" else 0):
        for _ in range(ATTEMPTS):
            if best.claimed >= 0:
                break
            found = _attempt(trial, body, violation.case, rng)
            if found and found.kind == violation.kind and found.claimed >= 0:
                best = found
    again = True
    while again and left > 0:
        again = False
        options = {t: weight(t) for t in smaller(best.case.program)}
        for body in sorted(options, key=lambda t: options[t]):
            if options[body] >= weight(best.case.program):
                break
            for _ in range(ATTEMPTS if options[body] > LIGHT else 2 * ATTEMPTS):
                left -= 1
                found = _attempt(trial, body, best.case, rng)
                if found and found.kind == violation.kind and rank(found) < rank(best):
                    best, again = found, True
                    break
            if again or left <= 0:
                break
    for _ in range(POLISH):
        found = _attempt(trial, best.case.program, best.case, rng)
        if found and found.kind == violation.kind and rank(found) < rank(best):
            best = found
    return replace(best, start=plainest(trial, best, rng))


def plainest(trial: Trial, v: Violation, rng: random.Random) -> Start:
    """A violating state with small numbers and few threads."""
    options = [v, *(w for s in starts(v.case, rng, 60) if (w := judged(v.case, s, trial.rules.unrestricted)))]
    worst = [w for w in options if w.kind == v.kind and (w.claimed, w.actual) == (v.claimed, v.actual)]
    return min(worst or [v], key=rank).start
