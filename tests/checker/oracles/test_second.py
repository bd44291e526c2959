"""cvc5 decides some of what Z3 leaves open; nothing else it says or does becomes a claim."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from typing import Any

import cvc5
import pytest

from checker.oracles import Oracles, samples, second, smt
from checker.oracles.desk import Answer, Desk
from logic.assertions import AtMost, Context, Entails, Launch, Proved, Refuted, Uniform, Unknown, Verdict, conj
from logic.metrics import HARDWARE, METRICS
from logic.syntax import BOOL, BUILTINS, INT, Array, Const, Expr, Op, Param, Tid, Var
from logic.typing import Signature

SIGMA = Signature(
    dict.fromkeys(("x", "y", "i"), INT) | {"u": BOOL, "v": BOOL},
    dict.fromkeys((*BUILTINS, "n"), INT),
    {"A": Array("A", "global", INT, 4)},
)
CONTEXT = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch((64, 1, 1)))
x, y, i, n = Var("x"), Var("y"), Var("i"), Param("n")


def op(name: str, *args: Expr | int) -> Op:
    return Op(name, tuple(Const(a) if isinstance(a, int) else a for a in args))


def entails(goal: Expr, *p: Expr, limit: float = 2.0) -> Verdict:
    return Oracles(limit)(Entails(conj(p, SIGMA), (goal,)), CONTEXT)


@pytest.fixture(autouse=True)
def nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "TRIES", 0)


@pytest.fixture
def z3_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Z3 writes its text and then says that it does not know."""
    ask = smt._ask
    monkeypatch.setattr(smt, "_ask", lambda *args: Answer("unknown", {}, ask(*args).text))


EITHER = op("<", x, i), op("||", op("<=", x, y), op("<=", x, 2)), op("<", y, i), op(">", i, 2)
"""What is proved by cases alone: no short arithmetic proof shows it."""


def test_a_remainder_that_z3_does_not_find() -> None:
    """(x + i * n) mod n = x mod n for n > 0: cvc5 needs 0.2 s, Z3 has no answer after ten times that."""
    desk = Desk()

    def claims(encoding: smt.Encoding) -> list[Any]:
        a, b, c = (encoding.leaf(leaf, 0) for leaf in (x, i, n))
        return [c > 0, (a + b * c) % c != a % c]

    sampler = samples.Sampler((), (), SIGMA)
    verdict = smt.Question(SIGMA, frozenset(), True, sampler, claims, lambda _: False, desk).answer()
    assert isinstance(verdict, Proved), verdict
    assert verdict.engine == f"cvc5 {cvc5.__version__}"
    first, other = desk.asked
    assert (first.said, other.said, other.engine) == ("unknown", "unsat", verdict.engine)
    assert first.text == other.text
    assert first.digest == hashlib.sha256(first.text.encode()).hexdigest()
    assert first.seconds > other.seconds > 0


@pytest.mark.usefixtures("z3_gives_up")
def test_what_follows_is_proved_and_what_does_not_is_refuted() -> None:
    proved = entails(*EITHER)
    assert isinstance(proved, Proved)
    assert re.fullmatch(r"cvc5 \d+\.\d+\.\d+", proved.engine)
    refuted = entails(op("<", x, 4), op("<", x, 5), op(">=", op("%", x, 3), 1))
    assert isinstance(refuted, Refuted)
    assert refuted.engine == proved.engine
    assert refuted.witness["x"] == 4
    negative = entails(op(">=", op("%", x, 2), 0), op("==", x, -7))
    assert isinstance(negative, Refuted)
    assert negative.witness["x"] == -7


@pytest.mark.usefixtures("z3_gives_up")
def test_booleans_and_two_threads() -> None:
    flags = entails(op("==", Var("u"), Var("v")), Var("u"))
    assert isinstance(flags, Refuted)
    assert (flags.witness["u"], flags.witness["v"]) == (1, 0)
    halves = op("<", Tid("x"), n)
    assert isinstance(Oracles()(Uniform((), frozenset(), halves), CONTEXT), Refuted)
    same = Oracles()(Uniform(conj([op("==", x, y)], SIGMA), frozenset({"y"}), op("+", x, 1)), CONTEXT)
    assert isinstance(same, Proved)


@pytest.mark.usefixtures("z3_gives_up")
def test_a_model_that_needs_an_uninterpreted_function_is_checked() -> None:
    """1 << x is never 5 and x | y not always 0, but what cvc5 thinks of them is its own."""
    assert isinstance(entails(op("!=", op("<<", 1, x), 5)), Unknown)
    either = op("==", op("|", x, y), 0)
    assert isinstance(entails(either, op("==", op("|", x, y), op("|", y, x))), Refuted | Unknown)
    assert isinstance(entails(either, either, op(">=", x, 0)), Proved)


@pytest.mark.usefixtures("z3_gives_up")
@pytest.mark.parametrize("name", ["mod", "and", "let", "as", "assert", "select", "exp", "int.pow2", "RNE"])
def test_variables_called_like_something_of_smt_lib(name: str) -> None:
    sigma = Signature({name: INT}, SIGMA.params, {})
    context = Context(sigma, CONTEXT.metric, CONTEXT.hardware, CONTEXT.launch)
    goal = op("!=", op("%", op("*", Var(name), Var(name)), 5), 1)
    assert not isinstance(Oracles()(Entails((), (goal,)), context), Proved)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        "(check-sat",
        "(declare-fun x () Int)(assert (< x x))",
        "(declare-fun x () Int)(assert (< x x))(check-sat)(check-sat)",
        "(declare-fun x () Int)(assert (< x y))(check-sat)",
        "(declare-fun x () Int)(get-model)(assert (< x x))(check-sat)",
        "(declare-fun x () Int)(assert (< x x))(exit)(check-sat)(push",
        "(declare-fun |a\\| () Int)(assert (< |a\\| |a\\|))(check-sat)",
    ],
)
def test_texts_that_are_no_query_are_unknown(text: str) -> None:
    assert second.ask(text, 1.0) == ("unknown", {})


CUBES = "(+ (* x x x) (* y y y) (* z z z))"
HARD = f"(declare-fun x () Int)(declare-fun y () Int)(declare-fun z () Int)(assert (= {CUBES} 42))(check-sat)"


def test_a_query_too_hard_is_unknown_within_the_limit() -> None:
    for limit in (0.1, 0.0):
        assert second.ask(HARD, limit) == ("unknown", {})


@pytest.mark.parametrize(("steps", "longer"), [(1_000, 10_000), (10**9, 1)])
def test_a_query_ends_by_its_steps_and_by_the_clock(steps: int, longer: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second, "STEPS", steps)
    monkeypatch.setattr(second, "LONGER", longer)
    start = time.process_time()
    assert second.solve(HARD, 0.5) == ("unknown", {})
    assert time.process_time() - start < 5


@pytest.mark.usefixtures("z3_gives_up")
@pytest.mark.parametrize("problem", [RuntimeError("out of luck"), ValueError("no number"), UnicodeError("no text")])
def test_a_solver_that_fails_is_unknown(problem: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(second, "_ask", fail)
    assert isinstance(entails(*EITHER), Unknown)


@pytest.mark.usefixtures("z3_gives_up")
@pytest.mark.parametrize("said", ["unknown", "unknown (TIMEOUT)", "", "timeout", "UNSAT", "unsat\n", "not unsat"])
def test_only_unsat_is_a_yes(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second, "ask", lambda *_: (said, {}))
    verdict = entails(*EITHER)
    assert isinstance(verdict, Unknown)
    assert "cvc5" in verdict.engine


@pytest.mark.usefixtures("z3_gives_up")
@pytest.mark.parametrize("store", [{}, {"x": 1, "y": 2}, {"x": 9, "y": 9}, {"nobody": 1}])
def test_a_model_that_is_wrong_is_not_believed(store: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second, "ask", lambda *_: ("sat", store))
    assert isinstance(entails(*EITHER), Unknown)


def test_what_z3_decides_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second, "ask", pytest.fail)
    assert isinstance(entails(*EITHER), Proved)
    assert isinstance(entails(op("<", x, 4), op("<", x, 5)), Refuted)


@pytest.mark.usefixtures("z3_gives_up")
def test_a_span_is_counted_by_it_too() -> None:
    index = op("/", op("+", op("*", n, n), Tid("x")), 8)
    verdict = Oracles(8.0)(AtMost("MemReads", (), frozenset(), "A", index, 2), CONTEXT)
    assert isinstance(verdict, Proved)


@pytest.mark.whole
def test_it_is_imported_at_the_first_query_that_z3_leaves_open() -> None:
    code = (
        "import sys\nfrom checker.cli import main\n"
        "main(['bound', 'proofs/addSub3/kernel.cu', '--metric', 'sectors', '--block', '32'])\n"
        "print({'z3', 'cvc5', 'pysmt'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] in ("{'z3'}", "set()")


def test_the_process_of_cvc5_may_take_no_more_than_its_share_of_memory(z3_gives_up: None) -> None:
    resource = pytest.importorskip("resource")
    assert entails(op("<", x, y), *EITHER).engine == second.engine()
    child = second._PROCESSES[os.getpid()].child
    assert resource.prlimit(child.pid, resource.RLIMIT_AS) == (second.ADDRESSES, second.ADDRESSES)
