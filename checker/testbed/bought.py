"""The gain by rules on trial: bounds by them beside those by the sound rules. Nothing here is ever a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from checker import limits
from checker.oracles import Oracles
from checker.refutation.witness import Fill, Input, Overrun, Witness, find_witnesses
from checker.synthesis.bound import Result, find_bounds, lower
from checker.synthesis.outline import Outline
from checker.synthesis.rules.transformer import Book
from checker.synthesis.search import Engine
from checker.synthesis.walk import Stuck
from checker.testbed.applied import always, book_of, own_rules, unusable
from logic.assertions import Context
from logic.derivation import Derivation, applications
from logic.metrics import Metric
from logic.potentials import Poly
from logic.refusals import Refusal
from logic.rules import RuleSet
from logic.source import Loc
from logic.syntax import Kernel

MOST: Final = 12
"""The most places at which rules on trial are given up, one after the other, before they are given up everywhere."""


@dataclass(frozen=True, slots=True)
class Used:
    """A place where a rule on trial is used, and how often the derivation does so there."""

    rule: str
    loc: Loc | None
    times: int


@dataclass(frozen=True, slots=True)
class Left:
    """A place where a rule on trial was tried and the kernel refused it: the sound rules are used there."""

    rule: str
    loc: Loc | None
    why: Refusal


@dataclass(frozen=True, slots=True)
class Bought:
    """The bound by rules on trial for one metric, None where there is none by them; and the result by the sound rules.
    `problem` says why there is none."""

    metric: Metric
    sound: Result
    bound: Poly | None
    used: tuple[Used, ...]
    left: tuple[Left, ...]
    problem: Stuck | Refusal | None = None
    derivation: Derivation | None = field(default=None, repr=False)

    @property
    def lower(self) -> bool:
        """Whether it is a lower bound than that by the sound rules, or there is none by these."""
        return self.bound is not None and (self.sound.q is None or lower(self.bound, self.sound.q))


def buy(
    outline: Outline,
    metrics: Sequence[Metric],
    oracle: Oracles,
    rules: RuleSet,
    hinted: str | None = None,
    search: Engine = "lp",
    show: Callable[[str], None] | None = None,
) -> list[Bought]:
    """The gain by the rules of a set, for each metric. The lowest bound is taken that is found with them tried first,
    or where they ask for nothing, also only where nothing better than the sound rule for all that is left applies.
    Raises RuleFileProblem for rules whose use their text leaves open."""
    book_of(rules)  # says what cannot be used, before anything takes long
    sound = find_bounds(outline, metrics, oracle, hinted, search, show=show, judge=False)
    ways = (False, True) if any(always(rule) for rule in own_rules(rules)) else (False,)
    found: list[Bought] = []
    for result in sound:
        tried = [_tried(outline, result, oracle, rules, hinted, search, last, show) for last in ways]
        best = tried[0]
        for other in tried[1:]:
            if best.bound is None or (other.bound is not None and lower(other.bound, best.bound)):
                best = other
        found.append(best)
    return found


def _tried(
    outline: Outline,
    sound: Result,
    oracle: Oracles,
    rules: RuleSet,
    hinted: str | None,
    search: Engine,
    last: bool,
    show: Callable[[str], None] | None,
) -> Bought:
    """The bound for a metric. Where the kernel refuses a rule on trial, that one is given up there."""
    names = own(rules)
    left: list[Left] = []
    while True:
        blocked = {(one.rule, one.loc) for one in left}
        everywhere = len(left) > MOST
        book = book_of(rules, _Everywhere() if everywhere else blocked, last)
        try:
            (result,) = find_bounds(outline, (sound.metric,), oracle, hinted, search, show=show, book=book)
        except Stuck as stuck:
            return Bought(sound.metric, sound, None, (), tuple(left), stuck)
        problem, root = result.problem, result.derivation
        if not isinstance(problem, Refusal) or root is None:
            break
        refused = culprit(root, problem, names)
        if refused is None or everywhere or (refused.rule, refused.loc) in blocked:
            break
        left.append(Left(refused.rule, refused.loc, problem))
    used = () if result.q is None or root is None else tuple(uses(root, names))
    return Bought(sound.metric, sound, result.q, used, tuple(left), problem, root)


@dataclass(frozen=True, slots=True)
class _OnTrial:
    """A bound by rules on trial, to hold runs against."""

    context: Context
    bound: Poly
    per: str = "warp"


def dear(
    kernel: Kernel,
    bought: Sequence[Bought],
    fill: Fill,
    at: Mapping[str, int],
    first: Iterable[Input] = (),
    runs: int = limits.INPUTS,
    effort: int = limits.EFFORT,
) -> list[Input]:
    """Inputs of dear runs: those that come nearest to the bounds by the sound rules, which are the higher ones."""
    claims = [b.sound.claim for b in bought if b.sound.claim is not None]
    found = find_witnesses(kernel, claims, fill, at, first, runs, effort)
    return list({str(w.input): w.input for w in found if w is not None}.values())


def dearest(
    kernel: Kernel,
    b: Bought,
    context: Context,
    fill: Fill,
    at: Mapping[str, int],
    first: Iterable[Input] = (),
    runs: int = limits.INPUTS,
    effort: int = limits.EFFORT,
) -> Witness | None:
    """The run that comes nearest to a bound by rules on trial, of those that a search finds, or one that costs more:
    then the rules are refuted. None where nothing could be run, or there is no bound."""
    if b.bound is None:
        return None
    held = _OnTrial(replace(context, metric=b.metric), b.bound)
    try:
        return find_witnesses(kernel, [held], fill, at, first, runs, effort)[0]
    except Overrun as problem:
        return problem.found


def verdict(bounded: bool, found: Witness | None) -> str:
    """`not-proved` where there is no bound, `refuted` where a run costs more than it, else `on-trial`."""
    if not bounded:
        return "not-proved"
    return "refuted" if found is not None and found.cost > found.bound else "on-trial"


class _Everywhere(frozenset[tuple[str, Loc | None]]):
    """All rules at all places."""

    def __contains__(self, _: object) -> bool:
        return True


def own(rules: RuleSet) -> set[str]:
    """The names of the rules on trial in a set."""
    return {rule.name for rule in own_rules(rules)}


def culprit(root: Derivation, problem: Refusal, names: set[str]) -> Derivation | None:
    """The application of a rule on trial that is nearest to what the kernel refused: that itself, one around it, or one
    that it rests on."""
    path, node = [root], root
    for i in problem.path:
        node = node.premises[i]
        path.append(node)
    around = next((d for d in reversed(path) if d.rule in names), None)
    return around or next((d for d in applications(node) if d.rule in names), None)


def uses(root: Derivation, names: set[str]) -> Iterator[Used]:
    """Where a derivation uses rules on trial, in the order of the source."""
    counts = Counter((d.rule, d.loc) for d in applications(root) if d.rule in names)
    for (rule, loc), n in sorted(counts.items(), key=lambda item: (_place(item[0][1]), item[0][0])):
        yield Used(rule, loc, n)


def _place(loc: Loc | None) -> tuple[int, int]:
    return (loc.line, loc.column) if loc else (0, 0)


def books_of(rules: RuleSet) -> list[Book]:
    """The books by which an outline is completed under a rule set, in the order in which they are tried; without rules
    whose use their text leaves open."""
    open_ = unusable(rules)
    ways = [book_of(rules, last=last, without=open_) for last in (False, True)]
    return [*ways, book_of(rules, _Everywhere(), without=open_)]
