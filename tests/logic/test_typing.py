"""The type checker: what is well-typed, and the place of what is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from logic.source import Loc
from logic.syntax import (
    BOOL,
    BUILTINS,
    DOUBLE,
    FLOAT,
    INT,
    Array,
    Assign,
    Const,
    Decl,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Stmt,
    Tid,
    Type,
    Var,
    While,
    Write,
    seq,
)
from logic.typing import TypeProblem, check_kernel, signature, type_of

VEC = Type("base", "float4", 16)
KERNEL = Kernel(
    "k",
    (Decl("n", INT), Decl("g", FLOAT), Decl("u", BOOL)),
    (Array("A", "global", INT, 4), Array("C", "global", INT, 1), Array("F", "shared", FLOAT, 4)),
    (Decl("x", INT), Decl("b", BOOL), Decl("f", FLOAT), Decl("d", DOUBLE), Decl("v", VEC)),
    Skip(),
)
SIGMA = signature(KERNEL)
x, n, b, f, d, v = Var("x"), Param("n"), Var("b"), Var("f"), Var("d"), Var("v")
HERE = Loc("k.cu", 3, 7)


def op(name: str, *args: Expr) -> Op:
    return Op(name, args)


@pytest.mark.parametrize(
    ("e", "type_"),
    [
        (x, INT),
        (n, INT),
        (Param("blockIdx.y"), INT),
        (Tid("z"), INT),
        (Const(3), INT),
        (Const(True, BOOL), BOOL),
        (Const("1.5f", FLOAT), FLOAT),
        (Read("A", x), INT),
        (Read("C", Read("A", x)), INT),
        (Read("F", Const(0)), FLOAT),
        *((op(o, x, n), INT) for o in ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "min", "max")),
        *((op(o, f, f), FLOAT) for o in ("+", "-", "*", "/", "min", "max")),
        *((op(o, x, n), BOOL) for o in ("<", "<=", ">", ">=", "==", "!=")),
        *((op(o, f, Param("g")), BOOL) for o in ("<", "==")),
        (op("==", b, Param("u")), BOOL),
        (op("&&", b, b), BOOL),
        (op("||", b, b), BOOL),
        (op("!", b), BOOL),
        (op("?:", b, x, n), INT),
        (op("?:", b, v, v), VEC),
        (op("neg", x), INT),
        (op("neg", f), FLOAT),
        (op("~", x), INT),
        (op("int", b), INT),
        (op("int", f), INT),
        (op("bool", x), BOOL),
        (op("as:float", x), FLOAT),
        (op("as:double", f), DOUBLE),
        (op("call:sqrtf", f), FLOAT),
    ],
)
def test_well_typed(e: Expr, type_: Type) -> None:
    assert type_of(e, SIGMA) == type_


ILL: list[tuple[Expr, str]] = [
    (Var("n"), "no local variable is called 'n'"),
    (Param("x"), "no parameter is called 'x'"),
    (Read("B", x), "no array is called 'B'"),
    (Read("A", b), "the index b of 'A' is not an int"),
    (Read("A", f), "the index f of 'A' is not an int"),
    (op("+", x, b), "'+' does not take int and bool"),
    (op("+", b, b), "'+' does not take bool and bool"),
    (op("+", x, f), "'+' does not take int and float"),
    (op("+", f, d), "'+' does not take float and double"),
    (op("%", f, f), "'%' does not take float and float"),
    (op("&", b, b), "'&' does not take bool and bool"),
    (op("<", b, b), "'<' does not take bool and bool"),
    (op("==", x, b), "'==' does not take int and bool"),
    (op("&&", x, x), "'&&' does not take int and int"),
    (op("!", x), "'!' does not take int"),
    (op("~", b), "'~' does not take bool"),
    (op("?:", x, x, x), "'?:' does not take int and int and int"),
    (op("?:", b, x, f), "'?:' does not take bool and int and float"),
    (op("int", x), "'int' does not take int"),
    (op("bool", b), "'bool' does not take bool"),
    (op("+", x), "'+' does not take int"),
    (op("+", x, x, x), "'+' does not take int and int and int"),
    (op("+"), "'+' does not take "),
    (op("bogus", x, x), "'bogus' does not take int and int"),
    (op("call:abs", x), "'call:abs' does not take int"),
]


@pytest.mark.parametrize(("e", "message"), ILL)
def test_ill_typed(e: Expr, message: str) -> None:
    with pytest.raises(TypeProblem) as caught:
        type_of(replace(e, loc=HERE), SIGMA)
    assert caught.value.message == message
    assert caught.value.loc in (HERE, None)
    with pytest.raises(TypeProblem) as inner:
        type_of(op("-", x, op("-", replace(e, loc=HERE), x)), SIGMA)
    assert inner.value.message == message


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (True, INT), (1.0, INT), ("1", INT), (None, INT), (1, BOOL), ("true", BOOL), (1, FLOAT), (1.5, FLOAT),
        (1, Type("real", "real", 4)),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_a_literal_is_of_its_type(value: Any, type_: Type) -> None:
    """Const(True) would equal Const(1), and a float would round."""
    with pytest.raises(TypeProblem, match="is not of type"):
        type_of(Const(value, type_), SIGMA)


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (Assign("n", x), "'n' is not a local variable"),
        (Assign("y", x), "'y' is not a local variable"),
        (Assign("x", b), "'x' is int, the value is bool"),
        (Assign("f", d), "'f' is float, the value is double"),
        (Assign("x", Var("q")), "no local variable is called 'q'"),
        (Write("B", x, x), "no array is called 'B'"),
        (Write("A", b, x), "the index b of 'A' is not an int"),
        (Write("A", x, f), "'A' holds int, the value is float"),
        (Write("F", x, x), "'F' holds float, the value is int"),
        (If(x, Skip(), Skip()), "the condition x is int, not bool"),
        (While(f, Skip()), "the condition f is float, not bool"),
        (While(Const(True, BOOL), If(b, seq(Skip(), Assign("b", x)), Skip())), "'b' is bool, the value is int"),
        (If(b, Skip(), Assign("b", x)), "'b' is bool, the value is int"),
    ],
)
def test_ill_typed_statements(s: Stmt, message: str) -> None:
    with pytest.raises(TypeProblem) as caught:
        check_kernel(replace(KERNEL, body=seq(Assign("x", n), s)))
    assert caught.value.message == message


def test_a_well_typed_kernel_has_its_signature() -> None:
    body = seq(Assign("x", Read("C", n)), Write("F", x, f), While(op("<", x, n), If(b, Assign("b", b), Skip())))
    sigma = check_kernel(replace(KERNEL, body=body))
    assert sigma == SIGMA
    assert sigma.locals == {"x": INT, "b": BOOL, "f": FLOAT, "d": DOUBLE, "v": VEC}
    assert set(sigma.params) == {*BUILTINS, "n", "g", "u"}
    assert set(sigma.arrays) == {"A", "C", "F"}


@pytest.mark.parametrize("name", ["n", "x", "A", "f"])
@pytest.mark.parametrize("field", ["params", "locals", "arrays"])
def test_a_name_is_declared_once(name: str, field: str) -> None:
    more = Array(name, "global", INT, 4) if field == "arrays" else Decl(name, INT, HERE)
    changes: dict[str, Any] = {field: (*getattr(KERNEL, field), more)}
    with pytest.raises(TypeProblem, match=f"^'{name}' is declared twice$"):
        signature(replace(KERNEL, **changes))


@pytest.mark.parametrize("name", [*BUILTINS, "tid.x", "tid.y", "tid.z", "true", "false"])
def test_names_with_a_meaning_are_not_declared(name: str) -> None:
    with pytest.raises(TypeProblem) as caught:
        signature(replace(KERNEL, params=(Decl(name, INT, HERE),)))
    assert (caught.value.message, caught.value.loc) == (f"'{name}' has a meaning of its own", HERE)


@pytest.mark.parametrize(
    "name", ["", "?i", "x@1", "A#1", "a b", "1x", "x.", ".x", "x\n", "const:1", "\u00e9", "\u03bf"]
)
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(TypeProblem, match="is not a name"):
        signature(replace(KERNEL, locals=(Decl(name, INT),)))


@pytest.mark.parametrize("name", ["k", "n::k", "k<int, 3>", "k<unsigned int, p<q<float> > >", "k<..>"])
def test_names_of_kernels(name: str) -> None:
    assert signature(replace(KERNEL, name=name)).params


@pytest.mark.parametrize(
    "name", ["", "k\n", "k l", "\u03ba", "k<3> l<4>", "k<3>, l<4>", "k<a\x1b[2J>", "k<p<q<r<s>>>>"]
)
def test_names_of_no_kernel(name: str) -> None:
    with pytest.raises(TypeProblem, match="is not a name"):
        signature(replace(KERNEL, name=name))


def test_types_have_names_that_look_like_no_others() -> None:
    with pytest.raises(TypeProblem, match="is not a name of a type"):
        signature(replace(KERNEL, locals=(Decl("x", Type("base", "fl\u03bfat", 4)),)))


@pytest.mark.parametrize("name", ["x_1", "p.x", "p.x.y", "_"])
def test_names_that_front_ends_make(name: str) -> None:
    assert name in signature(replace(KERNEL, locals=(Decl(name, INT),))).locals
