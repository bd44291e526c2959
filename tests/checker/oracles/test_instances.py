"""Instances of contracts: what is asked of P before one is a fact."""

from __future__ import annotations

import pytest

from checker.oracles.instances import shown
from logic.assertions import P, Proved, Refuted, Unknown, Verdict
from logic.comparisons import differences
from logic.contracts import BOUND, Contract, element, elements_in
from logic.potentials import Apply, Poly
from logic.syntax import Const, Expr, Op, Param, Var

AT, R, J, N, NNZ = Var(f"{BOUND}0"), Var("r"), Var("j"), Param("n"), Param("nnz")


def one_on(e: Expr) -> Op:
    return Op("+", (e, Const(1)))


RISING = Contract(((Const(0), N),), Op("<=", (element("row", AT), element("row", one_on(AT)))))
COLUMNS = Contract(((Const(0), NNZ),), Op("<=", (Const(0), element("col", AT))))
ROW, NEXT, COLUMN = element("row", R), element("row", one_on(R)), element("col", J)


def element_at(e: Op) -> Poly:
    ((p, _),) = differences(Op(">=", (e, Const(0))))
    return p


class Asked:
    """Answers by what P is asked of, and what was asked."""

    def __init__(self, answer: Verdict) -> None:
        self.answer = answer
        self.questions: list[tuple[P, str]] = []

    def __call__(self, p: P, need: Poly) -> Verdict:
        self.questions.append((p, str(need)))
        return self.answer


def elements(*es: Op) -> tuple[Apply, ...]:
    return elements_in(map(element_at, es))


INSIDE = (Op("<", (R, N)), Op(">=", (R, Const(0))))
BESIDE = (Op("<", (J, NEXT)), Op(">=", (J, ROW)), Op("<=", (Var("k"), Const(9))))


def test_indices_are_asked_of_without_what_p_says_of_elements_and_of_other_variables() -> None:
    ask = Asked(Proved("here", "told"))
    found = shown([RISING], elements(ROW, NEXT), (*INSIDE, *BESIDE), ask)
    assert len(found) == 1
    assert {p for p, _ in ask.questions} == {INSIDE}


@pytest.mark.parametrize("answer", [Refuted("here", {}), Unknown("here", "told")])
def test_that_is_all_that_is_asked_of_what_has_nothing_to_do_with_elements(answer: Verdict) -> None:
    ask = Asked(answer)
    assert shown([RISING], elements(ROW, NEXT), (*INSIDE, *BESIDE), ask) == ()
    assert len(ask.questions) == 1


def test_an_index_that_is_compared_with_elements_is_asked_of_with_all_of_p() -> None:
    """That j is below nnz follows from row[r + 1] <= nnz alone."""
    p = (*INSIDE, *BESIDE, Op("<=", (NEXT, NNZ)))
    ask = Asked(Unknown("here", "told"))
    assert shown([COLUMNS], elements(COLUMN), p, ask) == ()
    assert [said == p for said, _ in ask.questions] == [False, True]


def test_what_p_says_is_not_asked_again() -> None:
    ask = Asked(Proved("here", "told"))
    (fact,) = shown([RISING], elements(ROW, NEXT), INSIDE, ask)
    asked = len(ask.questions)
    assert shown([RISING], elements(ROW, NEXT), (*INSIDE, fact), ask) == ()
    assert len(ask.questions) == asked > 0


def test_neighbours_are_asked_of_once() -> None:
    """From r to r + 1 the sum over rows is the instance at r, and from r + 1 to r it is none."""
    ask = Asked(Proved("here", "told"))
    assert len(shown([RISING], elements(ROW, NEXT), INSIDE, ask)) == 1
    assert [need for _, need in ask.questions] == ["r", "n - 1 - r"]


def test_a_row_begins_at_the_first_row_at_least() -> None:
    """What is known of rowptr[0] alone is told of an element beside which it does not stand."""
    first = Contract((), Op("==", (element("row", Const(0)), Const(0))))
    assert shown([first], elements(COLUMN), INSIDE, Asked(Proved("here", "told"))) == ()
    found = shown([first, RISING], elements(ROW), INSIDE, Asked(Proved("here", "told")))
    told = {str(p) for fact in found for p, _ in differences(fact)}
    assert {"row[0]", "row[r] - row[0]"} <= told, told


def test_an_index_with_a_product_is_asked_of_by_its_name() -> None:
    """Solvers know little of products, and arithmetic proofs take long to be given up."""
    place = Op("+", (Op("*", (Param("blockIdx.x"), Param("blockDim.x"))), J))
    ask = Asked(Unknown("here", "told"))
    shown([RISING], elements(ROW, element("row", place)), (*INSIDE, Op("==", (Var("v"), place))), ask)
    asked = {need for _, need in ask.questions}
    assert "v" in asked
    assert not any("blockIdx" in need for need in asked), asked
