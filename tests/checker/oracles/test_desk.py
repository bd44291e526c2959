"""What stores tell before a solver is asked, or lanes are looked at."""

from __future__ import annotations

import pytest

from checker.oracles import Oracles, smt
from checker.oracles.samples import Sampler
from logic.assertions import AtLeast, AtMost, Context, Entails, Launch, Proved, Refuted, Uniform, Unknown, conj
from logic.metrics import HARDWARE, METRICS
from logic.potentials import max0, sym
from logic.syntax import BUILTINS, INT, Array, Const, Expr, Op, Param, Read, Tid, Var
from logic.typing import Signature

SIGMA = Signature(dict.fromkeys("xy", INT), dict.fromkeys((*BUILTINS, "n"), INT), {"A": Array("A", "global", INT, 4)})
CONTEXT = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch((64, 1, 1)))
x, y, n = Var("x"), Var("y"), Param("n")


def op(name: str, *args: Expr | int) -> Op:
    return Op(name, tuple(Const(a) if isinstance(a, int) else a for a in args))


def asked(e: Expr, *facts: Expr) -> tuple[str, list[str]]:
    """The verdict on whether threads of a warp agree on e, and what solvers said."""
    oracle = Oracles()
    verdict = oracle(Uniform(conj(facts, SIGMA), frozenset(), e), CONTEXT)
    return type(verdict).__name__, [query.said for record in oracle.log for query in record.queries]


def test_no_solver_is_asked_whether_threads_read_the_same_at_indices_that_differ() -> None:
    apart, together = Read("A", x), Read("A", y)
    assert asked(op("<=", apart, 3), op("==", x, Tid("x"))) == ("Unknown", [])
    assert asked(op("<=", together, 3), op("==", y, op("*", n, n)))[0] == "Proved"


def test_no_solver_is_asked_how_far_apart_values_are_of_which_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    monkeypatch.setattr(Sampler, "apart", lambda *_: iter(()))
    for _ in range(2):
        oracle = Oracles()
        count = AtMost("MemReads", (op(">=", x, n),), frozenset(), "A", op("+", x, n), 31)
        assert isinstance(oracle(count, CONTEXT), Unknown)
        found.append(" ".join(query.said for record in oracle.log for query in record.queries))
        monkeypatch.undo()
    assert found == ["sat", ""]


def test_no_lanes_are_looked_at_for_what_a_store_refutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Oracles, "_view")
    assert isinstance(Oracles()(Entails((op(">=", x, n),), (op(">", x, n),)), CONTEXT), Refuted)
    assert isinstance(Oracles()(Uniform((op(">=", x, n),), frozenset(), op(">", x, n)), CONTEXT), Refuted)


def test_facts_are_looked_at_where_two_threads_differ_and_no_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked(op("+", y, 1), op("==", y, op("*", n, n)), op(">=", x, y)), asked(x, op(">=", x, y))
    monkeypatch.delattr(smt, "_really_two_threads")
    assert asked(op("+", y, 1), op("==", y, op("*", n, n)), op(">=", x, y)) == found[0] == ("Proved", [])
    assert found[1] == ("Refuted", [])
    with pytest.raises(NameError):
        asked(x, op(">=", x, y))


def test_an_example_that_refutes_as_it_is_is_not_made_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = Oracles()
    assert isinstance(oracle(Entails((op(">=", x, n),), (op(">", x, n),)), CONTEXT), Refuted)
    monkeypatch.delattr(Sampler, "refitted")
    assert isinstance(oracle(Entails((op(">=", x, n),), (op("!=", x, n),)), CONTEXT), Refuted)


def test_no_solver_is_asked_what_a_short_arithmetic_proof_shows() -> None:
    """Facts are added up, or a few signs are split on; what neither shows is asked, whether it holds or not."""
    chain = op("<=", y, op("+", n, 1)), op("<=", x, op("-", y, 9)), op(">=", n, 7)
    cases = op("||", op("<=", x, y), op("<=", x, 2)), op("<", y, n), op(">", n, 2)
    for facts, goal, verdict, said in (
        (chain, op("<=", op("+", x, 8), n), "Proved", []),
        (chain, op("<=", op("+", x, 9), n), "Refuted", ["sat"]),
        (cases, op("<", x, n), "Proved", ["unsat"]),
    ):
        oracle = Oracles()
        assert type(oracle(Entails(facts, (goal,)), CONTEXT)).__name__ == verdict
        assert [query.said for record in oracle.log for query in record.queries] == said
    a, b, c = (sym(leaf) for leaf in (x, y, n))
    for low, holds in ((max0(a) + max0(b) - max0(a + b), True), (max0(a) + max0(b) - max0(a + b) - 1, False)):
        oracle = Oracles()
        proved = isinstance(oracle(AtLeast((op(">=", n, 0),), frozenset(), low + max0(c), c), CONTEXT), Proved)
        assert (proved, any(record.queries for record in oracle.log)) == (holds, False)
