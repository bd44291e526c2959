"""A search that runs out of time ends with a coarser bound, and what it was not told is not remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from checker import recheck
from checker.notation import parse_kernel
from checker.oracles import Oracles, Pace, farkas
from checker.synthesis import bound
from checker.synthesis.asker import ASKED, SOLVED, Asker
from checker.synthesis.bound import SECURED, Finder, Result, find_bounds
from checker.synthesis.outline import Outline, bare
from checker.synthesis.ways import Way
from logic.assertions import AtLeast, Context, Entails, Launch, Obligation, Proved, Unknown, Verdict
from logic.metrics import HARDWARE, METRICS, Metric
from logic.potentials import sym
from logic.syntax import Const, Expr, Kernel, Op, Param, Tid
from logic.typing import check_kernel


def kernel(body: str) -> Kernel:
    arrays = "global int A[];\n" + "shared int S[4];\n" * ("S[" in body)
    text = f"kernel k\nparam int n;\nlocal int i;\n{arrays}begin\n{body}\nend"
    return parse_kernel(text, "k")


MASKED = kernel("i <- (tid.x * 5) % 8; if (tid.x < n) { A[i] <- 1; } else { A[tid.x] <- 2; }")
LOOP = kernel("i <- 0; while (i < n) { A[tid.x] <- i; i <- i + 1; }")


def outline_of(k: Kernel) -> Outline:
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    return Outline(k, context, bare(k.body))


def found(k: Kernel, oracle: Oracles, clock: Callable[[], float]) -> Result:
    (result,) = find_bounds(outline_of(k), [METRICS["sectors"]], oracle, seconds=1.0, clock=clock)
    return result


def over() -> Callable[[], float]:
    """A clock by which each look takes an hour."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 3600.0
        return now

    return clock


def test_a_search_without_time_has_a_coarser_bound_and_later_the_same_oracles_the_sharp_one() -> None:
    oracle = Oracles()
    coarse, sharp = found(MASKED, oracle, over()), found(MASKED, oracle, lambda: 0.0)
    assert (coarse.verdict, coarse.hurried) == ("certified", True)
    assert (sharp.verdict, sharp.hurried) == ("certified", False)
    assert coarse.q is not None
    assert sharp.q is not None
    assert (coarse.q - sharp.q).constant > 0
    assert found(MASKED, Oracles(), lambda: 0.0).q == sharp.q


def test_a_loop_has_a_bound_however_little_time_there_is() -> None:
    coarse, sharp = found(LOOP, Oracles(), over()), found(LOOP, Oracles(), lambda: 0.0)
    assert (coarse.verdict, coarse.hurried) == ("certified", True)
    assert str(sharp.q) == "4*max(0, n)"
    assert str(coarse.q) == "32*max(0, n)"


@pytest.mark.parametrize(("spent", "told"), [(0.0, Proved), (SOLVED, Unknown), (ASKED, Unknown)])
def test_solvers_are_asked_while_there_is_time(spent: float, told: type) -> None:
    context = Context(check_kernel(MASKED), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    n = Param("n")
    hard, easy = Op("<=", (Const(0), Op("*", (n, n)))), Op("<", (n, Op("+", (n, Const(1)))))
    oracle = Oracles()
    asker = Asker(oracle, 0.0, 1.0, lambda: spent)
    assert isinstance(asker(Entails((), (hard,)), context), told)
    assert isinstance(asker(Entails((), (easy,)), context), Proved)  # no solver is needed
    assert isinstance(oracle(Entails((), (hard,)), context), Proved)
    assert asker.hurried == (spent > 0)
    assert isinstance(Asker(oracle, 0.0, 1.0, lambda: 0.9)(Entails((), (hard,)), context), Proved)  # known by now
    plain = Asker(oracle, 0.0, 1.0, lambda: spent, plain=True)
    assert isinstance(plain(Entails((), (hard,)), context), Unknown)


def test_what_was_proved_in_parts_is_proved_together() -> None:
    """However little is asked: by the word of a solver where one of the parts is, and of none in a plain search."""
    context = Context(check_kernel(MASKED), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    n = Param("n")
    squares = [Op("<=", (Const(-k), Op("*", (n, n)))) for k in range(3)]
    lanes = Op("<", (Op("&", (Op("*", (Tid("x"), Const(5))), Const(7))), Const(8)))
    oracle = Oracles()

    def told(pace: Pace, *goal: Expr) -> str | None:
        with oracle.at(pace):
            verdict = oracle(Entails((), goal), context)
        return verdict.engine.split()[0] if isinstance(verdict, Proved) else None

    assert told("quick", *squares[:2], lanes) is None
    assert [told("all", part) for part in (*squares[:2], lanes)] == ["z3", "z3", "lanes"]
    assert told("plain", *squares[:2], lanes) is None
    assert told("quick", *squares, lanes) is None
    assert told("quick", *squares[:2], lanes) == told("quick", lanes, squares[0]) == "z3"
    assert told("quick", lanes, Op("<", (n, Op("+", (n, Const(1)))))) == "lanes"


def test_parts_that_were_proved_are_found_in_time_that_grows_with_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not with that of facts as well: one who makes up a certificate has thousands of both."""
    context = Context(check_kernel(MASKED), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    facts = tuple(Op("<=", (Const(k), Param("n"))) for k in range(200))
    goals = tuple(Op("<=", (Const(-k), Param("n"))) for k in range(1, 100))
    oracle = Oracles()
    assert all(isinstance(oracle(Entails(facts, (goal,)), context), Proved) for goal in goals)
    hashed: list[Op] = []
    plain = Op.__hash__

    def hash_of(e: Op) -> int:
        hashed.append(e)
        return plain(e)

    monkeypatch.setattr(Op, "__hash__", hash_of)
    assert isinstance(oracle(Entails(facts, goals), context), Proved)
    assert len(hashed) < 20 * len(facts)


def test_without_time_an_access_costs_what_all_lanes_can_touch() -> None:
    context = Context(check_kernel(MASKED), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    oracle = Oracles()
    index = Const(3)
    least = Asker(oracle, 0.0, 1.0, lambda: SOLVED).least
    assert least("MemReads", (), frozenset(), "A", Const(4), context) == 1  # no solver is needed
    least = Asker(oracle, 0.0, 1.0, lambda: ASKED).least
    assert least("MemReads", (), frozenset(), "A", index, context) == 32
    assert oracle.least("MemReads", (), frozenset(), "A", index, context) == 1
    assert least("MemReads", (), frozenset(), "A", index, context) == 1


def test_potentials_and_their_derivation_are_of_the_same_counts() -> None:
    """What an access costs does not change while a proof is made, and a plain one that begins late knows nothing."""
    context = Context(check_kernel(MASKED), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    now = [0.0]

    def cost(asker: Asker) -> int:
        return asker.least("MemReads", (), frozenset(), "A", Const(3), context)

    asker = Asker(Oracles(), 0.0, 1.0, lambda: now[0])
    asker.begin()
    now[0] = 1.0
    assert cost(asker) == 1
    late = Asker(asker.oracle, 0.0, 1.0, lambda: now[0], plain=True)
    late.begin()
    assert cost(late) == 32


def test_a_bound_that_is_too_much_work_for_the_second_checker_gives_way_to_a_coarser_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = kernel("; ".join(f"A[(tid.x * {2 * k + 3}) % 32 + {k}] <- 1" for k in range(12)) + ";")
    sharp = found(many, Oracles(), lambda: 0.0)
    assert (sharp.verdict, str(sharp.q)) == ("certified", "58")
    monkeypatch.setattr(recheck, "MAX_WORK", 20_000)
    coarse = found(many, Oracles(), lambda: 0.0)
    assert (coarse.verdict, str(coarse.q)) == ("certified", str(32 * 12))


def test_each_metric_has_a_bound_before_lower_ones_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    order = list[tuple[str, str]]()
    free, finer = Finder._free, Finder._finer

    def first(self: Finder, metric: Metric) -> tuple[Way, Result]:
        order.append(("first", metric.name))
        return free(self, metric)

    def lower(self: Finder, metric: Metric, way: Way, result: Result) -> tuple[Way, Result]:
        order.append(("lower", metric.name))
        return finer(self, metric, way, result)

    monkeypatch.setattr(Finder, "_free", first)
    monkeypatch.setattr(Finder, "_finer", lower)
    context = Context(check_kernel(LOOP), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    metrics = [METRICS[name] for name in ("steps", "conflicts", "sectors")]
    find_bounds(Outline(LOOP, context, bare(LOOP.body)), metrics, Oracles())
    assert order == [(step, name) for step in ("first", "lower") for name in ("sectors", "steps")]


def test_metrics_of_one_name_have_bounds_of_their_own() -> None:
    sectors = METRICS["sectors"]
    context = Context(check_kernel(LOOP), sectors, HARDWARE["nvidia"], Launch((32, 1, 1)))
    metrics = [sectors, replace(METRICS["steps"], name="sectors")]
    results = find_bounds(Outline(LOOP, context, bare(LOOP.body)), metrics, Oracles())
    assert [result.metric for result in results] == metrics
    assert str(results[0].q) == "4*max(0, n)" != str(results[1].q)


class Forgetful(Oracles):
    """Oracles that have no time for what compares a term with itself."""

    def __call__(self, obligation: Obligation, context: Context) -> Verdict:
        match obligation:
            case Entails(_, (Op("<=", (a, b)),)) if a == b:
                return Unknown("none")
        return super().__call__(obligation, context)


def test_one_limit_of_a_loop_is_the_least_however_little_is_proved() -> None:
    lanes = kernel("i <- A[tid.x] % 5; while (i > 0) { A[0] <- i; i <- i - 2; }")
    assert found(lanes, Forgetful(), lambda: 0.0).verdict == "certified"


@pytest.mark.parametrize("pace", ["all", "plain"])
def test_an_arithmetic_proof_is_looked_for_once(pace: Pace, monkeypatch: pytest.MonkeyPatch) -> None:
    """In haste, too, where nobody remembers that nothing is known; also of products, about which it is asked twice."""
    tried: list[Obligation] = []

    def none(o: Obligation, _: Context) -> None:
        tried.append(o)

    monkeypatch.setattr(farkas, "proof", none)
    context = Context(check_kernel(MASKED), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    n = sym(Param("n"))
    square = Op("==", (Op("/", (Param("n"), Param("blockDim.x"))), Const(7)))
    question = AtLeast((square,), frozenset(), n * n * n, n * n + n - 1)
    oracle = Oracles()
    with oracle.at(pace):
        for _ in range(3):
            oracle(question, context)
    assert tried == [question]


def events(k: Kernel, names: Sequence[str], spent: float, after: int = 0) -> tuple[list[tuple[str, str]], list[Result]]:
    """Which metric the second checker is asked about, of which a result is told, and which is begun after that, where
    so much of the time is over once so many metrics have a bound, or all, or while the flow is looked for (-1)."""
    found: list[tuple[str, str]] = []
    shown: list[str] = []

    def show(name: str) -> None:
        if found and len(shown) < len(names):
            found.append(("begun", name))
        shown.append(name)

    looks = count()

    def clock() -> float:
        over = next(looks) > 0 if after < 0 else len(shown) > (after or len(names))
        return spent if over else 0.0

    def check(document: dict[str, Any]) -> recheck.Report:
        found.append(("asked", document["metric"]["name"]))
        return recheck.recheck(document)

    results = find_bounds(
        outline_of(k),
        [METRICS[name] for name in names],
        Oracles(),
        show=show,
        done=lambda result: found.append(("told", result.metric.name)),
        seconds=1.0,
        clock=clock,
        check=check,
    )
    return found, results


def test_each_metric_has_a_bound_that_was_judged_before_time_goes_into_another() -> None:
    names, orders = ("divwarps", "sectors", "steps"), ("asked", "told")
    slow, results = events(LOOP, names, SECURED)
    assert slow == [(order, name) for order in orders for name in names]
    quick, others = events(LOOP, names, 0.0)
    assert quick == [(order, name) for name in names for order in orders]
    flow, hasty = events(LOOP, names, SOLVED / 2, after=-1)  # another flow would take as long
    assert {(r.verdict, r.hurried) for r in hasty} == {("certified", True)}
    _, hasty = events(LOOP, names, SOLVED / 2 - 0.01, after=-1)
    assert not any(r.hurried for r in hasty)
    assert flow == [slow[0], ("begun", "sectors"), slow[1], ("begun", "steps"), *slow[2:]]
    begun, _ = events(LOOP, names, SECURED, after=1)
    assert begun == [*slow[:2], ("begun", "steps"), *slow[2:]]
    assert [(r.verdict, r.q) for r in results] == [(r.verdict, r.q) for r in others]
    assert {r.verdict for r in results} == {"certified"}


def test_no_plain_search_begins_where_a_loop_has_no_bound_by_all_that_oracles_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Late, but asked in full: the flow took the time. Where there is none left to ask, a plain one may find more."""
    begun: list[bool] = []

    class Counted(Finder):
        def __init__(self, outline: Outline, asker: Asker, *more: Any) -> None:
            begun.append(asker.plain)
            super().__init__(outline, asker, *more)

    monkeypatch.setattr(bound, "Finder", Counted)
    endless = kernel("i <- tid.x; while (A[i] != 0) { i <- A[i]; A[0] <- i; }")
    for after, spent, plain in ((-1, SOLVED, [False]), (1, ASKED, [False, True])):
        begun.clear()
        _, results = events(endless, ("sectors", "steps"), spent, after=after)
        assert [(r.q, r.hurried) for r in results] == [(None, True)] * 2
        assert begun == plain


def test_no_certificate_is_written_of_what_is_known_to_be_open() -> None:
    """The second checker does not see where lanes are that a square moves: one metric tells the other."""
    squared = kernel("A[(tid.x + n * n) & 7] <- 1;")
    asked, results = events(squared, ("sectors", "steps"), 0.0)
    assert [(r.verdict, r.backed is not None) for r in results] == [("certified", True)] * 2
    assert asked.count(("asked", "sectors")) > 1
    assert asked.count(("asked", "steps")) == 1
    alone, (steps,) = events(squared, ("steps",), 0.0)
    assert alone.count(("asked", "steps")) > 1
    assert (steps.q, steps.backed and steps.backed.bound) == (
        results[1].q,
        results[1].backed and results[1].backed.bound,
    )


def test_what_nobody_looked_at_is_not_known_to_be_open() -> None:
    """After three counts without evidence none is looked for, so that the first metric leaves open the last one, of
    which there is some; under the second metric it is there, and no more is charged for that access."""
    squared = " ".join(f"A[(tid.x + n * n) & {mask}] <- 1;" for mask in (7, 3, 15))
    last = "if (n > 0) { A[(n + tid.x) / n] <- 1; }"
    _, (sectors, steps) = events(kernel(f"{squared} {last}"), ("sectors", "steps"), 0.0)
    assert (str(sectors.q), sectors.backed and str(sectors.backed.pre.q)) == ("128", "9")
    assert (str(steps.q), steps.backed and str(steps.backed.pre.q)) == ("135", "43")


@pytest.mark.parametrize(
    ("body", "verdict", "asked"),
    [
        ("A[(tid.x + n * n) & 7] <- 1; S[(tid.x + n * n) & 3] <- 1;", "certified", 2),  # the first metric tells of A
        ("if (n * n >= 0) { A[(tid.x + n * n) & 7] <- 1; } else { A[tid.x * 8] <- 2; }", "certified", 1),
    ],
)
def test_what_else_is_open_is_asked(body: str, verdict: str, asked: int) -> None:
    """Beside what is known to be: a coarser bound may do without, or the one that was found is judged at last."""
    found, results = events(kernel(body), ("sectors", "steps"), 0.0)
    assert (results[1].verdict, found.count(("asked", "steps"))) == (verdict, asked)
    assert all(r.second is not None for r in results)
