"""Expressions: C's precedence, the names of a signature, and back."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.notation import SyntaxProblem, parse_assumption, parse_expr
from logic.source import Loc, SourceError
from logic.syntax import DOUBLE, FLOAT, TRUE, Const, Expr, Op, Param, Read, Tid, Var, show, subterms
from tests.checker.notation.terms import SIGMA, bools, doubles, floats, ints

X, N, W = Var("i"), Param("n"), Param("w")


def op(name: str, *args: Expr) -> Op:
    return Op(name, args)


TREES = {
    "i + n * w": op("+", X, op("*", N, W)),
    "i - n - w": op("-", op("-", X, N), W),
    "i - (n - w)": op("-", X, op("-", N, W)),
    "(i & n) == w": op("==", op("&", X, N), W),
    "i | n ^ w & 1": op("|", X, op("^", N, op("&", W, Const(1)))),
    "i << 1 + n": op("<<", X, op("+", Const(1), N)),
    "flag || b && flag": op("||", Param("flag"), op("&&", Var("b"), Param("flag"))),
    "i < n == b": op("==", op("<", X, N), Var("b")),
    "!b == flag": op("==", op("!", Var("b")), Param("flag")),
    "-i % n": op("%", op("neg", X), N),
    "-3 % n": op("%", Const(-3), N),
    "-(3)": op("neg", Const(3)),
    "- -3": op("neg", Const(-3)),
    "~-3": op("~", Const(-3)),
    "b ? i : flag ? n : w": op("?:", Var("b"), X, op("?:", Param("flag"), N, W)),
    "i<-1": op("<", X, Const(-1)),
    "A[i]|n": op("|", Read("A", X), N),
    "P.x[tid.x]": Read("P.x", Tid("x")),
    "threadIdx.y + tid": op("+", Tid("y"), Var("tid")),
    "blockIdx.x * blockDim.x": op("*", Param("blockIdx.x"), Param("blockDim.x")),
    "0x1F": Const(31),
    "1.50f": Const("1.50f", FLOAT),
    "-1e-3": Const("-1e-3", DOUBLE),
    "as_float(i) / s.gain": op("/", op("as:float", X), Param("s.gain")),
    "fmaf(f, 1.f, f)": op("call:fmaf", Var("f"), Const("1.f", FLOAT), Var("f")),
    "min(abs(i), int(f))": op("min", op("abs", X), op("int", Var("f"))),
    "true /* no\n comment ends here * / */ && b // at all": op("&&", TRUE, Var("b")),
}


@pytest.mark.parametrize("text", TREES)
def test_precedence_and_names_are_those_of_c(text: str) -> None:
    assert parse_expr(text, SIGMA) == TREES[text]


def test_bit_operators_bind_weaker_than_comparisons_as_in_c() -> None:
    with pytest.raises(SourceError, match="'&' does not take int and bool"):
        parse_expr("i & n == w", SIGMA)


@given(st.one_of(ints(4), bools(4), floats(3), doubles()))
def test_what_is_shown_is_read_back(e: Expr) -> None:
    assert parse_expr(show(e), SIGMA) == e


@given(st.one_of(ints(3), bools(3)))
def test_every_part_has_its_place(e: Expr) -> None:
    text = f"\n  {show(e)}"
    for t in subterms(parse_expr(text, SIGMA, "f.qhl")):
        assert t.loc is not None
        assert (t.loc.file, t.loc.line) == ("f.qhl", 2)
        rest = text.split("\n")[1][t.loc.column - 1 :]
        match t:
            case Var() | Param() | Tid():
                assert rest.startswith(t.name)
            case Read():
                assert rest.startswith(f"{t.array}[")
            case Const():
                assert rest.startswith(show(t))


def test_a_text_inside_another_file_has_places_there() -> None:
    e = parse_expr("i +\n n", SIGMA, origin=Loc("k.cu", 7, 20))
    assert isinstance(e, Op)
    assert [a.loc for a in e.args] == [Loc("k.cu", 7, 20), Loc("k.cu", 8, 2)]
    with pytest.raises(SyntaxProblem) as caught:
        parse_expr("i + nn", SIGMA, origin=Loc("k.cu", 7, 20))
    assert caught.value.loc == Loc("k.cu", 7, 24)


def test_assumptions_are_about_parameters() -> None:
    chained = op("&&", op("&&", op("<=", Const(0), W), op("<", W, N)), op("<=", N, Const(100)))
    assert parse_assumption("0 <= w < n <= 100", SIGMA, "--assume") == chained
    assert parse_assumption("w == n == 8", SIGMA, "x") == op("&&", op("==", W, N), op("==", N, Const(8)))
    assert parse_assumption("(w < n) == flag", SIGMA, "x") == op("==", op("<", W, N), Param("flag"))
    assert parse_assumption("w < n == flag", SIGMA, "x") == op("==", op("<", W, N), Param("flag"))


@pytest.mark.parametrize(
    ("text", "column", "fragment"),
    [
        ("w > i", 5, "'i' differs between threads"),
        ("w > tid.x", 5, "'tid.x' differs between threads"),
        ("w > warp.index", 5, "'warp.index' differs between warps"),
        ("w > A[0]", 5, "cannot speak of array contents"),
        ("s.gain > 1.0f", 1, "cannot speak of values of type float"),
        ("w + 1", 1, "this is int, not bool"),
        ("0 < w > flag", 1, "does not take bool and bool"),
        ("w = 8", 3, "expected an operator or the end after 'w', not '='"),
    ],
)
def test_what_is_no_assumption_is_refused_at_its_place(text: str, column: int, fragment: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_assumption(text, SIGMA, "--assume")
    assert fragment in caught.value.message
    assert caught.value.loc == Loc("--assume", 1, column)


def test_an_unknown_name_in_an_assumption() -> None:
    """Locals are no help there: they differ between threads."""
    with pytest.raises(SourceError) as caught:
        parse_assumption("zzz == 8", SIGMA, "--assume")
    known = caught.value.advice.removeprefix("Known here: ").removesuffix(".").split(", ")
    assert set(known) <= set(SIGMA.params)
    with pytest.raises(SourceError) as caught:
        parse_expr("zzz == 8", SIGMA, "x")
    assert set(caught.value.advice.removeprefix("Known here: ").removesuffix(".").split(", ")) & set(SIGMA.locals)


def test_a_program_may_not_chain_comparisons() -> None:
    with pytest.raises(SyntaxProblem, match="result of a comparison") as caught:
        parse_expr("0 < i < n", SIGMA)
    assert caught.value.loc == Loc("<text>", 1, 7)
    assert "&&" in caught.value.advice


@pytest.mark.parametrize(
    "text",
    [
        "-" * 201 + "i",
        "+".join("i" * 202),
        "A[" * 201 + "i" + "]" * 201,
        "b ? 1 : " * 201 + "i",
        "abs(" * 9999 + "i" + ")" * 9999,
    ],
)
def test_an_expression_may_not_be_too_deep(text: str) -> None:
    with pytest.raises(SyntaxProblem, match="more than 200 levels deep"):
        parse_expr(text, SIGMA)


def test_the_deepest_expression_is_read() -> None:
    deepest = parse_expr("-" * 199 + "i", SIGMA)
    assert show(deepest) == "-" * 199 + "i"
    assert parse_expr("(" * 10_000 + "i" + ")" * 10_000, SIGMA) == X
    assert len(list(subterms(parse_expr("+".join("i" * 200), SIGMA)))) == 399


def test_types_are_checked() -> None:
    with pytest.raises(SourceError, match="the index f of 'A' is not an int") as caught:
        parse_expr("1 + A[f]", SIGMA)
    assert caught.value.loc == Loc("<text>", 1, 7)


def test_lark_is_imported_by_reading_only() -> None:
    code = "import sys, checker.notation, checker.report.terminal; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
