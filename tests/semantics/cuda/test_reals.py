"""Tests of the limits of floating-point values: the exact value and that of runs lie in them, and they are close."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from logic.syntax import Const, Expr, Op, Var
from semantics.cuda.reals import UNKNOWN, Limits, enclosed
from semantics.cuda.stores import ANY, Range
from semantics.functions import FUNCTIONS


def exact(name: str, x: int, y: int = 0) -> Fraction:
    """The value of a function, to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        n = Decimal(x)
        match name:
            case "log2":
                return Fraction(n.ln() / Decimal(2).ln())
            case "log":
                return Fraction(n.ln())
            case "log10":
                return Fraction(n.log10())
            case "pow":
                return Fraction(n ** (Decimal(y) / 7))
        return Fraction(n.sqrt())


def integer(e: Expr) -> Range:
    return (int(e.value), int(e.value)) if isinstance(e, Const) and isinstance(e.value, int) else ANY


def limits(e: Expr) -> tuple[Fraction, Fraction]:
    low, high = enclosed(e, integer, {})
    assert low is not None
    assert high is not None
    return low, high


def call(name: str, *args: Expr) -> Expr:
    return Op(f"call:{name}", args)


def real(n: int) -> Expr:
    return Op("as:float", (Const(n),))


@pytest.mark.parametrize("name", ["log2", "log", "log10", "sqrt"])
def test_functions_lie_within_their_limits(name: str) -> None:
    rng = random.Random(name)
    for n in (1, 2, 3, 4, 1 << 20, (1 << 31) - 1, *(rng.randint(1, 1 << rng.randint(1, 60)) for _ in range(200))):
        low, high = limits(call(f"{name}f", real(n)))
        run = Fraction(float(FUNCTIONS[name](np.float32(n))))
        for value in (exact(name, n), run):
            assert low <= value <= high
        assert high - low <= (high + 1) / (1 << 17)


def test_powers_lie_within_their_limits() -> None:
    rng = random.Random(1)
    for _ in range(200):
        x, y = rng.randint(1, 40), rng.randint(-40, 40)
        exponent = Op("/", (real(y), Const("7.0f")))
        low, high = limits(call("__powf", real(x), exponent))
        value = exact("pow", x, y)
        assert low <= value <= high
        assert high - low <= (high + 1) / (1 << 10)


def test_sums_and_quotients_and_whole_numbers() -> None:
    x, y = call("log2f", real(1000)), call("log10", real(1000))
    assert [round(n, 3) for n in map(float, limits(Op("-", (Op("+", (x, y)), Op("/", (x, y))))))] == [9.644, 9.644]
    whole = {"floorf": 9, "ceil": 10, "truncf": 9, "rintf": 10, "round": 10}
    assert {f: limits(call(f, x)) for f in whole} == {f: (Fraction(n), Fraction(n)) for f, n in whole.items()}


def test_literals_with_long_exponents_take_no_time() -> None:
    low, high = limits(Const("1e-99999999f"))
    assert low < 0 < high


def test_what_may_be_anything() -> None:
    n, x = Op("as:float", (Var("n"),)), Const("1.0f")
    known: dict[str, Limits] = {"x": (Fraction(1), None)}
    for e in (
        call("log2f", real(-1)),
        call("expf", x),
        call("log2f", call("__half", real(8))),
        call("sqrtf", n),
        Op("/", (x, real(0))),
        Op("*", (x, x)),
        call("pow", Const("0.5"), real(3)),
        call("powf", Const("2.0f"), real(200)),
        Const("1e40f"),
        Const("1e99999999"),
        Const("0x1.8p3f"),
    ):
        assert enclosed(e, integer, known) == UNKNOWN
    assert enclosed(Var("x"), integer, known) == known["x"]
    assert enclosed(call("log2f", Op("+", (Var("x"), x))), integer, known)[1] is None
    assert enclosed(call("log2f", n), lambda _: (-5, 8), known)[0] is None
