"""Literals, conversions and IEEE arithmetic on base types."""

import math

import pytest

from logic.syntax import BOOL, DOUBLE, FLOAT, INT, Const, Type
from semantics.values import Value, ValueProblem, converted, literal, operation

INF = math.inf
FLT_MAX = 3.4028234663852886e38


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("0.5f", FLOAT, 0.5),
        ("1.0", DOUBLE, 1.0),
        ("1.F", FLOAT, 1.0),
        (".5", DOUBLE, 0.5),
        ("1e-3", DOUBLE, 0.001),
        ("1e-3f", FLOAT, 0.0010000000474974513),
        ("2.5L", DOUBLE, 2.5),
        ("-2.5f", FLOAT, -2.5),
        ("0x1.8p1f", FLOAT, 3.0),
        ("1e39f", FLOAT, INF),
        ("3", FLOAT, 3.0),
    ],
)
def test_literals_keep_the_text_of_c(text: str, type_: Type, value: float) -> None:
    assert literal(Const(text, type_)) == value


@pytest.mark.parametrize("text", ["", "f", "one", "1.0.0", "0x", "1e"])
def test_a_text_that_is_no_number(text: str) -> None:
    with pytest.raises(ValueProblem, match="is not a number"):
        literal(Const(text, FLOAT))


@pytest.mark.parametrize(
    ("x", "type_", "value"),
    [
        (2.9, INT, 2),
        (-2.9, INT, -2),
        (math.nan, INT, 0),
        (INF, INT, 0),
        (True, INT, 1),
        (10**400, INT, 10**400),
        (0.0, BOOL, False),
        (-3, BOOL, True),
        (0.1, FLOAT, 0.10000000149011612),
        (0.1, DOUBLE, 0.1),
        (10**400, DOUBLE, INF),
        (-(10**400), FLOAT, -INF),
        (1e300, FLOAT, INF),
    ],
)
def test_conversions(x: Value, type_: Type, value: Value) -> None:
    got = converted(x, type_)
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("op", "args", "value"),
    [
        ("+", (0.1, 0.2), 0.30000000000000004),
        ("/", (1.0, 0.0), INF),
        ("/", (1.0, -0.0), -INF),
        ("/", (-1.0, 0.0), -INF),
        ("/", (0.0, 0.0), math.nan),
        ("/", (math.nan, 0.0), math.nan),
        ("*", (1e300, 1e300), INF),
        ("min", (math.nan, 1.0), 1.0),
        ("max", (2.0, math.nan), 2.0),
        ("min", (2.0, 1.0), 1.0),
        ("max", (2.0, 1.0), 2.0),
        ("neg", (1.5,), -1.5),
        ("abs", (-1.5,), 1.5),
        ("call:sqrt", (2.25,), 1.5),
        ("call:sqrtf", (-1.0,), math.nan),
        ("call:__logf", (0.0,), -INF),
        ("call:exp", (1000.0,), INF),
        ("call:pow", (0.0, -1.0), INF),
        ("call:rsqrt", (0.25,), 2.0),
        ("call:__popc", (-1.0,), 32.0),
        ("call:__popc", (6.0,), 2.0),
        ("call:__clz", (1.0,), 31.0),
        ("call:__clz", (0.0,), 32.0),
        ("call:__clz", (-5.0,), 0.0),
        ("call:__ffs", (0.0,), 0.0),
        ("call:__ffs", (-8.0,), 4.0),
        ("call:__brev", (1.0,), 2.0**31),
        ("call:__brev", (-2.0,), 2.0**31 - 1),
        ("call:__mulhi", (-1.0, 1.0), -1.0),
        ("call:__umulhi", (2.0**31, 6.0), 3.0),
        ("call:round", (-2.5,), -3.0),
        ("call:sin", (INF,), math.nan),
        ("call:atan2f", (0.0, 1.0), 0.0),
        ("call:fma", (2.0, 3.0, 1.0), 7.0),
    ],
)
def test_arithmetic_never_raises(op: str, args: tuple[float, ...], value: float) -> None:
    got = operation(op, DOUBLE, DOUBLE)(args)
    assert got == value or (math.isnan(value) and math.isnan(got))
    assert type(got) is float


def test_float_is_rounded_after_every_operation() -> None:
    assert operation("+", FLOAT, FLOAT)((16777216.0, 1.0)) == 16777216.0
    assert operation("+", DOUBLE, DOUBLE)((16777216.0, 1.0)) == 16777217.0
    assert operation("*", FLOAT, FLOAT)((FLT_MAX, 2.0)) == INF
    assert operation("call:sqrtf", FLOAT, FLOAT)((2.0,)) == 1.4142135381698608


@pytest.mark.parametrize(
    ("op", "value"), [("<", False), ("<=", False), (">", False), (">=", False), ("==", False), ("!=", True)]
)
def test_a_nan_compares_with_nothing(op: str, value: bool) -> None:
    assert operation(op, FLOAT, BOOL)((math.nan, 1.0)) is value


def test_comparisons() -> None:
    got = {op: operation(op, FLOAT, BOOL)((1.0, 2.0)) for op in ("<", "<=", ">", ">=", "==", "!=")}
    assert got == {"<": True, "<=": True, ">": False, ">=": False, "==": False, "!=": True}


def test_a_choice_between_floats_is_made_by_its_condition() -> None:
    assert operation("?:", FLOAT, FLOAT)((False, 1.0, 2.0)) == 2.0


def test_casts() -> None:
    assert operation("int", FLOAT, INT)((-1.5,)) == -1
    assert operation("as:float", INT, FLOAT)((16777217,)) == 16777216.0


def test_an_unknown_function_is_named() -> None:
    with pytest.raises(ValueProblem, match="a run cannot tell what 'atomicAdd' gives"):
        operation("call:atomicAdd", FLOAT, FLOAT)
    with pytest.raises(ValueProblem, match="a run does not keep this array of one thread"):
        operation("call:local", FLOAT, FLOAT)
    with pytest.raises(ValueProblem, match="a run cannot tell what 'addc_u32' gives in inline assembly"):
        operation("call:ptx_addc_u32", INT, INT)
    with pytest.raises(ValueProblem, match="a run does not know where arrays lie in memory"):
        operation("call:address", FLOAT, INT)
    for name, advice in (("frobf", ""), ("sinnf", "Did you mean 'sin'? ")):
        with pytest.raises(ValueProblem, match=f"the value of the function '{name}' is not known") as caught:
            operation(f"call:{name}", FLOAT, FLOAT)
        assert caught.value.advice == f"{advice}A bound holds whatever it gives."
