"""Both checkers write terms, and so claims, in the same words, each by a printer of its own."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker import recheck
from checker.certificates import document as certificate
from logic import syntax, terms_as_json
from logic.assertions import show_p
from logic.contracts import Contract, element
from logic.potentials import (
    ELEMENT,
    OPERATED,
    ceil_div,
    const,
    element_of,
    floor_div,
    log2,
    max0,
    minimum,
    operated,
    sym,
)
from logic.potentials import Poly as Potential
from logic.syntax import BOOL, FLOAT, Const, Expr, Op, Param, Read, Tid, Var

PROOFS: Final = Path(__file__).resolve().parents[3] / "proofs"
EVERY: Final = 9
"""Of so many certificates the terms of one are looked at."""


@cache
def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
    return found


@cache
def second(path: Path) -> recheck.Checker:
    return recheck.Checker(recheck.frozen(document(path)))


def fresh(path: Path) -> recheck.Checker:
    found = second(path)
    recheck.start()
    return found


@pytest.mark.parametrize("path", sorted(PROOFS.glob("*/*.json"))[::EVERY], ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_terms_of_certificates(path: Path) -> None:
    first, tables = certificate._Reader(document(path)), fresh(path).tables
    assert [*map(str, first.potentials)] == [*map(recheck.show, tables["potentials"])]
    assert [*map(syntax.show, first.expressions)] == [*map(recheck.show, tables["expressions"])]
    assert [*map(show_p, first.assertions)] == [*map(recheck.show, tables["assertions"])]


RAGGED: Final = PROOFS / "data/ragged-sectors.json"
LEAVES: Final = (Param("batches"), Param("longest"), Var("b"), Var("t"), Tid("y"))
WHOLE: Final = st.recursive(
    st.one_of(st.integers(-9, 9).map(const), st.sampled_from([sym(leaf) for leaf in LEAVES])),
    lambda p: st.one_of(
        st.builds(lambda a, b: a + b, p, p),
        st.builds(lambda a, b: a - b, p, p),
        st.builds(lambda a, b: a * b, p, p),
        st.builds(minimum, p, p),
        st.builds(max0, p),
        st.builds(floor_div, p, st.integers(1, 9)),
        st.builds(ceil_div, p, st.integers(1, 9)),
        st.builds(lambda a, k: operated("/", a, const(k)), p, st.integers(1, 9)),
        st.builds(log2, p),
        st.builds(operated, st.sampled_from(OPERATED), p, p),
        st.builds(lambda a: element_of(f"{ELEMENT}len", a), p),
    ),
    max_leaves=8,
)
POTENTIALS: Final = st.builds(lambda p, q, c: p + q * c, WHOLE, WHOLE, st.fractions(-4, 4, max_denominator=6))


@given(POTENTIALS)
def test_any_potential(p: Potential) -> None:
    row = recheck.frozen(terms_as_json.potential(p))
    assert recheck.show(fresh(RAGGED).potential(row, inside_proof=True)) == str(p)


EXPRESSIONS: Final[st.SearchStrategy[Expr]] = st.recursive(
    st.one_of(
        st.sampled_from([*LEAVES, Const(True, BOOL), Const("-0.5f", FLOAT), Const("2.5f", FLOAT)]),
        st.integers(-3, 3).map(Const),
    ),
    lambda e: st.one_of(
        st.builds(lambda op, a, b: Op(op, (a, b)), st.sampled_from([*syntax._PRECEDENCE, "min", "max"][1:]), e, e),
        st.builds(lambda op, a: Op(op, (a,)), st.sampled_from([*syntax._UNARY, "abs", "call:sinf", "as:int"]), e),
        st.builds(lambda a, b, c: Op("?:", (a, b, c)), e, e, e),
        st.builds(lambda a: Read("x", a), e),
        st.builds(lambda a: element("len", a), e),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_any_expression(e: Expr) -> None:
    recheck.start()
    assert recheck.show(recheck.frozen(terms_as_json.expression(e))) == syntax.show(e)


I0, I1, N = Var("?i0"), Var("?i1"), Param("n")


@pytest.mark.parametrize(
    ("contract", "text"),
    [
        (Contract((), Op("<=", (Const(0), element("row", N)))), "0 <= row[n]"),
        (Contract(((Const(0), N),), Op("<", (element("row", I0), N))), "forall i in [0, n): row[i] < n"),
        (Contract(((None, None),), Op("<", (element("row", I0), N))), "forall i: row[i] < n"),
        (Contract(((None, N),), Op("<", (element("row", I0), N))), "forall i in [, n): row[i] < n"),
        (Contract(((Const(1), None),), Op("<", (element("row", I0), N))), "forall i in [1, ): row[i] < n"),
        (Contract(((Const(0), Param("i")),), Op("<", (element("j", I0), N))), "forall k in [0, i): j[k] < n"),
        (
            Contract(((Const(0), N), (Const(0), Const(9))), Op("<", (element("m", Op("+", (I0, I1))), N))),
            "forall i in [0, n), j in [0, 9): m[i + j] < n",
        ),
    ],
)
def test_contracts(contract: Contract, text: str) -> None:
    recheck.start()
    assert str(contract) == text == recheck.show_contract(recheck.frozen(certificate._contract(contract)))
