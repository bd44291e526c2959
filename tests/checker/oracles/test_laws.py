"""Laws of operators that no closed form says: true of all numbers, the same in both checkers, and no more than that."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from checker import recheck
from checker.certificates.judge import facts, judge
from checker.notation import parse_expr
from checker.oracles import farkas
from checker.oracles.laws import laws
from logic.assertions import AtLeast, Context, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.operators import denote
from logic.potentials import OPERATED, Apply, Leaf, Poly, const, evaluate, max0, minimum, of_expr, operated, sym
from logic.syntax import INT, Const, Expr, Op, Param
from logic.terms_as_json import potential
from logic.typing import Signature

N, M = Param("n"), Param("m")
P, Q = sym(N), sym(M)
STORES: list[dict[Leaf, int]] = [{N: a, M: b} for a, b in product(range(-9, 10), repeat=2)]


@pytest.mark.parametrize("op", OPERATED)
def test_a_law_holds_wherever_what_it_needs_does(op: str) -> None:
    for name, poly, needs in laws(Apply(op, (P, Q))):
        there = [s for s in STORES if all(evaluate(need, s) >= 0 for need in needs)]
        assert there
        assert all(evaluate(poly, s) >= 0 for s in there), name
        for need in needs:  # and not where one of them is left out
            rest = [s for s in STORES if all(evaluate(other, s) >= 0 for other in needs if other != need)]
            assert any(evaluate(poly, s) < 0 for s in rest), (name, str(need))


@pytest.mark.parametrize("op", [*OPERATED, "%"])
def test_an_operator_is_worth_what_it_denotes(op: str) -> None:
    p = of_expr(Op(op, (N, M)))
    assert p is not None
    for s in STORES:
        wanted = denote(op, (s[N], s[M]))
        assert evaluate(p, s) == wanted
        assert operated(op, const(s[N]), const(s[M])) == const(int(wanted))
        assert recheck.operated(op, s[N], s[M]) == wanted


class _Reader(recheck.Program):
    """Potentials of the one checker as the other one has them."""

    def __init__(self) -> None:
        recheck.start()
        self.leaves = {("param", "n"): recheck.INT, ("param", "m"): recheck.INT}


def read(p: Poly) -> Any:
    return _Reader().potential(recheck.frozen(potential(p)))


@pytest.mark.parametrize("op", OPERATED)
def test_both_checkers_have_the_same_laws(op: str) -> None:
    ours = {name: tuple(map(read, (poly, *needs))) for name, poly, needs in laws(Apply(op, (P, Q)))}
    assert ours == recheck.laws(op, read(P), read(Q))


def context(*assumed: Expr) -> Context:
    sigma = Signature(params={"n": INT, "m": INT}, locals={}, arrays={})
    return Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1), assumptions=assumed))


def positive(e: Param) -> Expr:
    return Op(">", (e, Const(0)))


@pytest.mark.parametrize(
    ("goal", "assumed"),
    [
        (Q - 1 - operated("%", P, Q), (positive(M),)),
        (P - operated("/", P, Q), (positive(N),)),
        (max0(P) - operated(">>", P, Q), ()),
        (operated("/", P + Q - 1, Q) * Q - P, (positive(M),)),
        (Q - operated("&", P, Q), (positive(M),)),
    ],
)
def test_an_arithmetic_proof_uses_laws(goal: Poly, assumed: tuple[Expr, ...]) -> None:
    assert farkas.proof(AtLeast((), frozenset(), goal, const(0)), context(*assumed)) is not None
    if assumed:
        assert farkas.proof(AtLeast((), frozenset(), goal, const(0)), context()) is None


@pytest.mark.parametrize("op", OPERATED)
def test_the_second_checker_wants_what_a_law_needs_and_knows_no_other(op: str) -> None:
    known = recheck.Arithmetic(_Reader(), frozenset())
    for name, _, needs in laws(Apply(op, (P, Q))):
        if needs:
            row = ("law", op, name, *map(recheck.frozen, map(potential, (P, Q))), ((("1", ()),),) * len(needs))
            with pytest.raises(recheck.Bad, match="what a factor needs: the sum is"):
                known._factor(row)
    unknown = ("law", op, "all is well", *map(recheck.frozen, map(potential, (P, Q))), ())
    with pytest.raises(recheck.Bad, match="has no law"):
        known._factor(unknown)


X, K = Param("x"), Param("k")


def turns(left: Poly, step: Poly) -> Poly:
    """The turns of a loop that has so much left, and takes so much in each."""
    return max0(operated("/", left + step - 1, step))


BEFORE, AFTER = turns(P - sym(X), Q), turns(P - sym(X) - Q, Q)


@pytest.mark.parametrize(
    ("goal", "assumed", "least"),
    [
        (BEFORE - AFTER, "x < n", 1),
        (BEFORE * 5 - AFTER * 5, "x < n", 5),
        ((BEFORE - AFTER) * max0(sym(K)) - max0(sym(K)) + BEFORE * 2 - AFTER * 2, "x < n", 2),
        (BEFORE - AFTER - minimum(const(1), max0(sym(K))), "x < n", 0),
        (turns(P, Q) - turns(P - sym(X), Q), "x >= 0", 0),  # over the first lanes
        (max0(P - sym(X)) - BEFORE, "x < n", 0),
        (turns(P, Q * sym(K)) - turns(P - sym(X), Q * sym(K)), "x >= 0 && k > 0", 0),
    ],
)
def test_quotients_by_what_is_no_number(goal: Poly, assumed: str, least: int) -> None:
    """What a step of a loop takes from them is shown to both checkers, and is no less; more is not shown."""
    sigma = Signature(params=dict.fromkeys(("n", "m", "x", "k"), INT), locals={}, arrays={})
    p = conj((parse_expr(assumed, sigma), positive(M)), sigma)
    here = Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    found = farkas.proof(AtLeast(p, frozenset(), goal - least, const(0)), here)
    assert found is not None
    judged = judge(here)
    judged.arithmetic(facts(judged, p)).prove(
        judged.potential(recheck.frozen(potential(goal - least))), recheck.frozen(found), "it"
    )
    assert farkas.proof(AtLeast(p, frozenset(), goal - least - 1, const(0)), here) is None
