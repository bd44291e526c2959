"""Models run in the semantics: what is shown happens, and what does not happen is not shown."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import pytest

from checker.notation import parse_outline, parse_potential
from checker.refutation.replay import following, replay, replayed
from checker.refutation.replay import text as shown
from checker.refutation.states import worth_of
from checker.refutation.whole import Dearer, dearer
from logic.assertions import AtLeast, AtMost, Condition, Entails, Launch, Refuted, Uniform
from logic.derivation import Derivation
from logic.metrics import METRICS
from logic.potentials import const
from logic.refusals import Refusal
from logic.syntax import Const, Op, Var
from tests.logic.rules.applications import CONTEXT, at, expr, facts, named, pot, stmt

X = frozenset({"x", "y"})
SECTORS = replace(CONTEXT, metric=METRICS["sectors"])
AT_0 = {f"{name}.{axis}": int(name != "blockIdx") for name in ("blockIdx", "blockDim", "gridDim") for axis in "xyz"}


def model(**values: int) -> dict[str, int]:
    return {**AT_0, "blockDim.x": 32, "tid.x": 0, "tid.y": 0, "tid.z": 0, "warpSize": 32, **values}


def test_a_model_of_potentials() -> None:
    found = replay(AtLeast(facts("x > 0"), X, pot("|[x, n]|"), pot("2")), model(x=4, n=5, y=0), CONTEXT)
    assert found is not None
    (t,) = found.state.threads
    assert (found.state.params["n"], found.state.store.locals["x"][t], t.tid) == (5, 4, (0, 0, 0))
    assert found.actual == "1 is there, 2 is needed"
    assert worth_of(pot("|[x, n]| + n/2"), found.state, t, CONTEXT.sigma) == Fraction(7, 2)


def test_a_model_that_is_wrong_is_not_shown() -> None:
    """P fails at the model, and where the condition holds nothing else is found either."""
    o = AtLeast(facts("x > 0"), X, pot("|[0, x]|"), pot("1"))
    assert replay(o, model(x=0, n=5, y=0), CONTEXT) is None
    assert replay(o, model(x=3, n=5, y=0), CONTEXT) is None
    assert replay(Entails(facts("x > 3"), facts("x > 2")), model(x=4), CONTEXT) is None


@pytest.mark.parametrize(
    ("fact", "wrong"),
    [
        ("tid.x == 32", {"tid.x": 32}),
        ("blockDim.x == 64", {"blockDim.x": 64}),
        ("blockDim.y == 1000", {"blockDim.y": 1000}),
        ("warpSize == 16", {"warpSize": 16}),
    ],
)
def test_a_model_outside_the_launch_is_not_shown(fact: str, wrong: dict[str, int]) -> None:
    """It satisfies P, but no launch of 32 threads has such a state."""
    assert replay(Entails(facts(fact), facts("x < x")), model(**wrong), CONTEXT) is None
    assert replay(Entails(facts("x == 123457"), facts("x < x")), model(x=123457), CONTEXT) is not None


def test_a_conjunct_that_is_false() -> None:
    found = replay(Entails(facts("x > 0"), facts("x > 0", "x + y <= n")), model(x=2, y=5, n=6), CONTEXT)
    assert found is not None
    assert (found.claimed, found.actual) == ("x + y <= n", "x + y is 7 and n is 6")


def test_a_value_that_a_read_may_have() -> None:
    """`?i0` stands for a read in P[x <- A[0]]: some value refutes it."""
    goal = (Op("<", (Var("?i0"), Const(3))),)
    found = replay(Entails((), goal), {**model(), "?i0": 7}, CONTEXT)
    assert found is not None
    assert found.actual == "?i0 is 7"


def test_two_threads_that_differ() -> None:
    o = Uniform(facts("x == tid.x"), frozenset({"y"}), expr("x + y < 1"))
    store = {k: v for k, v in model().items() if not k.startswith("tid")}
    pair = {f"tid.{a}@{n}": 0 for a in "xyz" for n in (1, 2)} | {"tid.x@2": 1, "x@1": 0, "x@2": 1, "y": 0}
    found = replay(o, store | pair, CONTEXT)
    assert found is not None
    assert [t.tid[0] for t in found.state.threads] == [0, 1]
    assert found.actual == "it is true at thread (0,0,0) and false at thread (1,0,0)"


def test_two_threads_in_one_place_are_put_apart() -> None:
    """A solver may give two threads one lane and different locals; only two lanes are two threads."""
    pair = {f"tid.{a}@{n}": 0 for a in "xyz" for n in (1, 2)} | {"x@1": 0, "x@2": 1}
    store = {k: v for k, v in model().items() if not k.startswith("tid")}
    found = replay(Uniform((), frozenset(), expr("x < 1")), store | pair, CONTEXT)
    assert found is not None
    first, second = found.state.threads
    assert first != second
    assert replay(Uniform(facts("tid.x == 0"), frozenset(), expr("x < 1")), store | pair, CONTEXT) is None


def test_an_access_that_touches_more() -> None:
    """No oracle refutes a count; the lanes of a run do."""
    o = AtMost("MemReads", facts("x == 2 * tid.x"), frozenset(), "A", expr("x"), 7)
    found = replay(o, None, SECTORS)
    assert found is not None
    assert found.actual == "32 lanes access 0, 2, 4, 6, ..., 62: 8 sectors"
    assert replay(replace(o, n=8), None, SECTORS) is None
    shared = AtMost("Conflicts", facts("x == 4 * tid.x"), frozenset(), "S", expr("x"), 3)
    found = replay(shared, None, replace(CONTEXT, metric=METRICS["conflicts"]))
    assert found is not None
    assert found.actual.endswith(": 4 words of one bank")
    assert replay(replace(shared, n=4), None, CONTEXT) is None


def test_contents_that_part_threads() -> None:
    found = replay(Uniform((), frozenset(), expr("A[tid.x] > 2")), None, CONTEXT)
    assert found is not None
    first, second = (found.arrays["A"][t.tid[0]] for t in found.state.threads)
    assert (first > 2) != (second > 2)
    assert replay(Uniform((), frozenset(), expr("A[n] > 2")), None, CONTEXT) is None


def test_random_states_keep_to_the_assumptions(monkeypatch: pytest.MonkeyPatch) -> None:
    launch = Launch((32, 1, 1), assumptions=facts("n > 8", "n % 2 == 1"))
    context = replace(CONTEXT, launch=launch)
    with monkeypatch.context() as patient:
        patient.setattr("checker.limits.REPLAY_SECONDS", 60.0)
        found = replay(AtLeast((), frozenset(), pot("n"), pot("10")), None, context)
    assert found is not None
    assert found.state.params["n"] == 9
    assert replay(AtLeast((), frozenset(), pot("n"), pot("9")), None, context) is None


# --- what the statement beside it costs ------------------------------------------------------------------------------

WEAK = named("1", at("x == tid.x", "3")) | named("1'", at("", "0")) | named("2", at("x == tid.x", "4"))


def refused(o: AtLeast, rule: str = "Q:Weak", **values: object) -> Refusal:
    there = {**WEAK, "s": stmt("A[x] <- 1;"), **values}
    verdict = Refuted("z3", model(x=0, n=0))
    return Refusal("side condition", obligation=o, verdict=verdict, name=rule, substitution=there)  # type: ignore[arg-type]


def test_the_statement_costs_more_than_is_paid() -> None:
    """All 32 lanes that P allows write, though the model has one."""
    short = AtLeast(facts("x == tid.x"), frozenset(), const(3), const(4))
    found = replayed(refused(short), None, SECTORS)
    assert found is not None
    assert found.notes == ("this statement, `A[x] <- 1`, costs 4 sectors from there (32 threads); 3 is paid for it",)
    loose = refused(AtLeast(facts("x == tid.x"), frozenset(), const(4), const(5)), Q1=const(4), Q2=const(5))
    found = replayed(loose, None, SECTORS)
    assert found is not None
    assert "; 4 is paid for it: enough for this run, not for the proof" in found.notes[0]
    other = replayed(refused(short, "Q:VWrite1"), None, SECTORS)
    assert other is not None
    assert other.notes == ()


def test_a_loop_that_never_ends_has_a_cost_all_the_same() -> None:
    short = AtLeast((), frozenset(), const(3), const(4))
    spin = refused(short, s=stmt("while (true) { A[0] <- 1; }"), P1=(), P2=())
    found = replayed(spin, None, SECTORS)
    assert found is not None
    assert "and more sectors from there" in found.notes[0]


def test_what_follows_a_node() -> None:
    """The statement after it in the sequence, then longer stretches; after a body the loop; nothing at the end."""

    def write(n: int) -> Derivation:
        values = {
            **named("", at()),
            "G": "A",
            "o": Const(n),
            "e": Const(1),
            "C1": Fraction(0),
            "C2": Fraction(0),
            "n": 1,
        }
        return Derivation("Q:GWrite", values)

    def both(a: Derivation, b: Derivation, first: str, second: str) -> Derivation:
        values = {**named("", at()), **named("1", at()), **named("'", at()), "s1": stmt(first), "s2": stmt(second)}
        return Derivation("Q:Seq", values, (a, b))

    tree = both(write(0), both(write(1), write(2), "A[1] <- 1;", "A[2] <- 1;"), "A[0] <- 1;", "A[1] <- 1; A[2] <- 1;")
    assert [s for s, _ in following(tree, (0,), CONTEXT)] == [stmt("A[1] <- 1;"), stmt("A[1] <- 1; A[2] <- 1;")]
    assert [s for s, _ in following(tree, (1, 0), CONTEXT)] == [stmt("A[2] <- 1;")]
    assert list(following(tree, (1, 1), CONTEXT)) == []
    loop = Derivation(
        "Q:While1",
        {**named("", at()), "e": expr("x < n"), "s": stmt("A[0] <- 1;"), "C": Fraction(0)},
        (write(9), write(0)),
    )
    ((again, after),) = following(loop, (1,), CONTEXT)
    assert (again, after) == (stmt("while (x < n) { A[0] <- 1; }"), at("x >= n"))
    assert list(following(Derivation("Q:If4", {}, (write(0), write(1), write(2))), (1,), CONTEXT)) == []


# --- whole runs ------------------------------------------------------------------------------------------------------

LOOP = """kernel k
metric sectors
block 32
param int n;
global int A[];
local int i;
requires n > 2;
begin
  i <- 0;
  while (i < n) { A[32 * i + tid.x] <- i; i <- i + 1; }
end
"""


def run_of(text: str, q: str, block: str = "block 32") -> Dearer | None:
    outline = parse_outline(text.replace("block 32", block), "k.qhl")
    pre = Condition((), parse_potential(q, outline.context.sigma, "q"), frozenset())
    return dearer(outline.kernel, outline.context, pre, lambda _: {})


def test_a_run_that_costs_more_than_claimed() -> None:
    found = run_of(LOOP, "4*n - 1")
    assert found is not None
    n = int(found.args["n"])
    assert n > 2
    assert (found.actual, found.claimed, found.ended) == (Fraction(4 * n), Fraction(4 * n - 1), True)
    assert run_of(LOOP, "4*n") is None
    assert run_of(LOOP, "4*n", "block _") is None
    free = run_of(LOOP, "4*n - 1", "block _")
    assert free is not None
    assert free.block[0] > 24


def test_a_run_without_an_end() -> None:
    found = run_of(LOOP.replace("i + 1", "i"), "100")
    assert found is not None
    assert found.actual > 100
    assert not found.ended


def test_a_bound_may_differ_from_block_to_block() -> None:
    """What any block is allowed counts: one that depends on blockIdx is not refuted by block 0."""
    assert run_of(LOOP, "4*n - 1 + blockIdx.x", "block 32\ngrid 3") is None
    assert run_of(LOOP, "4*n - 3 + blockIdx.x", "block 32\ngrid 3") is not None


def test_a_barrier_that_diverges_is_no_run() -> None:
    text = LOOP.replace("i <- 0;", "i <- 0; if (tid.x < 3) { sync; }")
    assert run_of(text, "0") is None


def test_numbers_that_explode_end_the_run_not_the_tool() -> None:
    """x*x*.. doubles its digits every step: the run is given up, and nobody waits for it."""
    text = LOOP.replace("local int i;", "local int i, x;").replace("i <- 0;", "i <- 0; x <- 7;")
    text = text.replace("i <- i + 1;", "i <- i + 1; x <- x * x;").replace("i < n", "i < 2000")
    start = time.process_time()
    assert run_of(text, "100") is None
    assert time.process_time() - start < 20


def test_values_in_words() -> None:
    assert [shown(v) for v in (True, False, 3, 1.5)] == ["true", "false", "3", "1.5"]
