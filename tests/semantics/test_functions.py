"""Values of CUDA's functions on numbers: what IEEE 754 and CUDA's manual define to the last bit."""

from __future__ import annotations

import math
import struct
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logic.syntax import DOUBLE, FLOAT, INT, Type
from semantics.functions import FUNCTIONS, WORDS
from semantics.rounding import DIRECTIONS, SINGLE, rounded
from semantics.rounding import DOUBLE as WIDE
from semantics.values import ValueProblem, operation
from semantics.vectorised.values import Unsupported, Val, lanewise

INF, NAN = math.inf, math.nan
TINY = 2.0**-149
ULP = 2.0**-23


@pytest.mark.parametrize(
    ("name", "args", "value"),
    [
        ("isinf", (INF,), 1), ("isinf", (-INF,), 1), ("isinf", (NAN,), 0), ("isinff", (1.0,), 0),
        ("isnan", (NAN,), 1), ("isnan", (INF,), 0), ("isfinite", (INF,), 0), ("isfinite", (2.0,), 1),
        ("__finitef", (NAN,), 0), ("signbit", (-0.0,), 1), ("signbit", (0.0,), 0), ("frexp", (24.0,), 0.75),
        ("frexp_exponent", (24.0,), 5), ("frexp_exponent", (0.0,), 0), ("modf", (-2.5,), -0.5),
        ("modf_whole", (-2.5,), -2.0), ("modf", (INF,), 0.0), ("modf_whole", (INF,), INF), ("ldexp", (3.0, 4), 48.0),
        ("scalbn", (1.0, -1), 0.5), ("scalbln", (1.0, 5000), INF), ("ldexp", (-1.0, -5000), -0.0),
        ("logb", (10.0,), 3.0), ("logb", (0.0,), -INF), ("logb", (-INF,), INF), ("ilogbf", (0.3,), -2),
        ("ilogb", (0.0,), -(2**31)), ("ilogb", (INF,), 2**31 - 1), ("ilogb", (NAN,), -(2**31)),
        ("remainder", (5.0, 3.0), -1.0), ("remainder", (1.0, 0.0), NAN), ("remainder", (INF, 1.0), NAN),
        ("remquo", (29.0, 3.0), -1.0), ("remquo_quotient", (29.0, 3.0), 2), ("remquo_quotient", (-29.0, 3.0), -2),
        ("nextafter", (1.0, 2.0), 1 + 2.0**-52), ("nextafter", (1.0, 1.0), 1.0), ("fdim", (5.0, 3.0), 2.0),
        ("fdim", (3.0, 5.0), 0.0), ("fdim", (NAN, 5.0), NAN), ("hypot", (3.0, 4.0), 5.0), ("rhypot", (3.0, 4.0), 0.2),
        ("norm3d", (2.0, 3.0, 6.0), 7.0), ("norm3d", (INF, NAN, 1.0), INF), ("rnorm3d", (2.0, 3.0, 6.0), 1 / 7),
        ("rcbrt", (8.0,), 0.5), ("cbrt", (-27.0,), -3.0), ("cbrt", (375.0**3,), 375.0),
        ("cbrt", (-0.0,), -0.0), ("exp10", (3.0,), 1000.0), ("sinpi", (1.0,), 0.0),
        ("sinpi", (0.5,), 1.0), ("sinpi", (1.5,), -1.0), ("sinpi", (-0.5,), -1.0), ("cospi", (1.0,), -1.0),
        ("cospi", (0.5,), 0.0), ("cospi", (2.0,), 1.0), ("cospi", (INF,), NAN), ("tgamma", (5.0,), 24.0),
        ("tgamma", (-0.0,), -INF), ("tgamma", (-1.0,), NAN), ("tgamma", (1000.0,), INF), ("tgamma", (-INF,), NAN),
        ("lgamma", (1.0,), 0.0), ("lgamma", (-3.0,), INF), ("lgamma", (-INF,), INF), ("normcdf", (0.0,), 0.5),
        ("erf", (INF,), 1.0), ("lround", (2.5,), 3), ("llrint", (2.5,), 2), ("nearbyint", (-1.5,), -2.0),
        ("__saturatef", (1.5,), 1.0), ("__saturatef", (-1.5,), 0.0), ("__saturatef", (NAN,), 0.0),
        ("__saturatef", (0.25,), 0.25), ("__float_as_int", (1.0,), 0x3F800000), ("__float_as_int", (-0.0,), -(2**31)),
        ("__float_as_uint", (-0.0,), 2**31), ("__float_as_int", (-INF,), -0x00800000),
        ("__int_as_float", (0x3F800000,), 1.0), ("__int_as_float", (-(2**31),), -0.0),
        ("__uint_as_float", (0x7F800000,), INF), ("__double2hiint", (1.0,), 0x3FF00000),
        ("__double2hiint", (-2.0,), -0x40000000), ("__double2loint", (0.1,), -0x66666666),
        ("__hiloint2double", (0x3FF00000, 0), 1.0), ("__hiloint2double", (0x3FB99999, -0x66666666), 0.1),
        ("__longlong_as_double", (0,), 0.0), ("__popcll", (2**40 - 1,), 40), ("__clzll", (1,), 63),
        ("__clzll", (-1,), 0), ("__ffsll", (-(2**40),), 41), ("__ffs", (0,), 0), ("__brev", (3,), 3 << 30),
        ("__brevll", (2**63 - 2**63 + 4096,), 2**51), ("__mulhi", (-1, 1), -1),
        ("__mulhi", (2**31 - 1, 2**31 - 1), 2**30 - 1), ("__umulhi", (2**32 - 1, 2**32 - 1), 2**32 - 2),
        ("__mul64hi", (-1, 2**40), -1), ("__umul64hi", (2**50, 2**50), 2**36), ("mul64hi", (2**50, 2**50), 2**36),
        ("__byte_perm", (0x33221100, 0x77665544, 0x7531), 0x77553311),
        ("__byte_perm", (0x80, 0, 0x0080), 0x8080FF80 & 0xFFFF | 0x80800000),
        ("__funnelshift_l", (0x80000000, 1, 1), 3), ("__funnelshift_l", (5, 7, 32), 7),
        ("__funnelshift_lc", (5, 7, 40), 5), ("__funnelshift_r", (0x80000000, 1, 1), 0xC0000000),
        ("__funnelshift_r", (5, 7, 32), 5), ("__funnelshift_rc", (5, 7, 40), 7), ("__sad", (-3, 4, 5), 12),
        ("__usad", (3, 4, 2**32 - 1), 0), ("__hadd", (-3, 0), -2), ("__rhadd", (-3, 0), -1),
        ("__uhadd", (2**32 - 1, 1), 2**31), ("__urhadd", (2, 3), 3), ("__fns", (0b1010, 0, 2), 3),
        ("__fns", (0b1010, 3, -2), 1), ("__fns", (0b1010, 0, 3), 2**32 - 1), ("__fns", (0b1010, 1, 0), 1),
        ("__fadd_ru", (1.0, TINY), 1 + ULP), ("__fadd_rz", (1.0, TINY), 1.0), ("__fadd_rd", (-1.0, -TINY), -1 - ULP),
        ("__fadd_rn", (1.0, TINY), 1.0), ("__fadd_rd", (1.0, -1.0), -0.0), ("__fadd_rn", (1.0, -1.0), 0.0),
        ("__fadd_rd", (0.0, 0.0), 0.0), ("__fsub_rd", (0.0, 0.0), -0.0),
        ("__fadd_rz", (3e38, 3e38), float(np.finfo(np.float32).max)), ("__fadd_ru", (3e38, 3e38), INF),
        ("__fadd_ru", (-3e38, -3e38), -float(np.finfo(np.float32).max)), ("__fadd_rn", (INF, -INF), NAN),
        ("__fmul_ru", (TINY, 0.25), TINY), ("__fmul_rn", (TINY, 0.25), 0.0), ("__fmul_rz", (-TINY, 0.25), -0.0),
        ("__fdiv_rd", (1.0, 3.0), 0.3333333134651184), ("__fdiv_ru", (1.0, 3.0), 0.3333333432674408),
        ("__fdiv_rn", (1.0, 0.0), INF), ("__frcp_rz", (3.0,), 0.3333333134651184), ("__frcp_rn", (-0.0,), -INF),
        ("__fsqrt_rd", (2.0,), 1.4142135381698608), ("__fsqrt_ru", (4.0,), 2.0), ("__fsqrt_rn", (-1.0,), NAN),
        ("__fsqrt_rn", (-0.0,), -0.0), ("__frsqrt_rn", (4.0,), 0.5), ("__frsqrt_rn", (0.0,), INF),
        ("__dadd_ru", (1.0, 1e-30), 1 + 2.0**-52), ("__dsqrt_rz", (2.0,), math.nextafter(math.sqrt(2), 0)),
        ("__ddiv_rd", (1.0, 3.0), 1 / 3), ("__fma_rn", (1 + 2.0**-52, 1 - 2.0**-52, -1.0), -(2.0**-104)),
        ("fma", (INF, 0.0, 1.0), NAN), ("fma", (1e300, 1e300, -INF), -INF),
        ("__fmaf_rn", (1 + ULP, 1 - ULP, -1.0), -(2.0**-46)), ("__fmaf_ieee_rd", (1.0, 1.0, -1.0), -0.0),
        ("__fmaf_rd", (0.0, 1.0, 0.0), 0.0), ("__double2float_ru", (0.1,), 0.10000000149011612),
        ("__double2float_rd", (0.1,), 0.09999999403953552), ("__double2float_rz", (NAN,), NAN),
        ("__int2float_rz", (2**24 + 1,), 2.0**24), ("__int2float_ru", (2**24 + 1,), 2.0**24 + 2),
        ("__uint2float_rd", (2**32 - 1,), 2.0**32 - 256), ("__ll2float_rn", (2**24 + 3,), 2.0**24 + 4),
        ("__ull2double_rz", (7,), 7.0),
    ],
)  # fmt: skip
def test_values(name: str, args: tuple[float, ...], value: float) -> None:
    first, *rest = args
    got = operation(f"call:{name}", DOUBLE, DOUBLE)((float(first), *rest))
    assert struct.pack("<d", got) == struct.pack("<d", value) or (math.isnan(value) and math.isnan(got)), got


def test_a_function_on_float_is_rounded_once() -> None:
    """The sum is 1 + 2^-23 + 2^-24 - 2^-54: as a double it is in the middle of two floats, and below it is not."""
    args = (2.0**-12 * (1 + 2.0**-15), 2.0**-12 * (1 - 2.0**-15), 1 + ULP)
    exact = Fraction(args[0]) * Fraction(args[1]) + Fraction(args[2])
    assert operation("call:fma", FLOAT, FLOAT)(args) == rounded(exact, SINGLE, "rn") == 1 + ULP
    assert float(np.float32(args[0] * args[1] + args[2])) == 1 + 2 * ULP
    assert operation("call:nextafter", FLOAT, FLOAT)((1.0, 2.0)) == 1 + ULP
    assert operation("call:nextafterf", FLOAT, FLOAT)((0.0, -1.0)) == -TINY


floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(floats, floats)
def test_directions_enclose_what_is_exact(a: float, b: float) -> None:
    for sign, exact in (("add", Fraction(a) + Fraction(b)), ("mul", Fraction(a) * Fraction(b))):
        down, up, nearest, zero = (
            operation(f"call:__f{sign}_{r}", FLOAT, FLOAT)((a, b)) for r in ("rd", "ru", "rn", "rz")
        )
        assert down <= exact <= up
        assert (down == up) == (down == exact) or math.isinf(down) or math.isinf(up)
        with np.errstate(all="ignore"):
            assert down == up or float(np.nextafter(np.float32(down), np.float32(INF))) == up
        assert nearest in (down, up)
        assert zero == (down if exact >= 0 else up)
        with np.errstate(all="ignore"):
            plain = np.float32(a) + np.float32(b) if sign == "add" else np.float32(a) * np.float32(b)
        assert nearest == float(plain)


@given(st.fractions(), st.sampled_from(DIRECTIONS))
def test_rounding_to_nearest_is_the_processor_s(q: Fraction, way: Any) -> None:
    assert rounded(q, WIDE, "rn") == float(q)
    assert abs(Fraction(rounded(q, WIDE, way)) - q) <= abs(q) * Fraction(2) ** -52


@given(st.floats(min_value=0, width=32, allow_infinity=False))
def test_roots_to_nearest_are_the_processor_s(x: float) -> None:
    assert operation("call:__fsqrt_rn", FLOAT, FLOAT)((x,)) == float(np.sqrt(np.float32(x)))
    assert operation("call:__dsqrt_rn", DOUBLE, DOUBLE)((x,)) == math.sqrt(x)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("__popcll", (2.0**60,)),
        ("__float_as_int", (NAN,)),
        ("remquo_quotient", (1.0, 0.0)),
        ("__double_as_longlong", (0.1,)),
    ],
)
def test_what_is_not_known_is_said(name: str, args: tuple[float, ...]) -> None:
    with pytest.raises(ValueProblem, match=f"a run cannot tell what '{name}' gives for"):
        operation(f"call:{name}", DOUBLE, DOUBLE)(args)


TRIES = [
    (a, b, c)
    for a in (0.0, -0.0, 1.5, -3.0, 7.0, 2.0**100, INF, -INF, NAN)
    for b in (0.0, -2.0, NAN)
    for c in (1.0, -INF)
]


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *WORDS} - {"given", "part", "pack"}))
def test_functions_are_total_and_the_engines_agree(name: str) -> None:
    """Any numbers give a number, or are said to have no known value, one lane at a time and all at once."""
    taken = 0
    for count, kind in ((n, t) for n in (1, 2, 3) for t in (FLOAT, DOUBLE)):
        lanes, rest = [args[:count] for args in TRIES], (kind,) * count
        one, known = operation(f"call:{name}", kind, kind), dict[int, float]()
        try:
            for i, args in enumerate(lanes):
                with suppress(ValueProblem):
                    known[i] = one(args)
        except TypeError:  # it takes more or fewer
            continue
        taken += 1
        for i, args in enumerate(lanes):
            if i not in known:
                with pytest.raises(Unsupported):
                    _together(name, [args], rest)
        got = _together(name, [lanes[i] for i in known], rest)
        for a, b in zip(known.values(), got, strict=True):
            assert struct.pack("<d", a) == struct.pack("<d", b) or (math.isnan(a) and math.isnan(b))
    assert taken >= 2


def _together(name: str, lanes: list[tuple[float, ...]], types: tuple[Type, ...]) -> list[float]:
    kind = np.float32 if types[0] == FLOAT else np.float64
    with np.errstate(all="ignore"):
        columns = tuple(Val(np.array([column]).astype(kind)) for column in zip(*lanes, strict=True))
        found = lanewise(f"call:{name}", types, types[0], None)(columns, None)
    return [float(x) for x in found.data.ravel()]


def test_integers_that_no_double_holds_are_left_to_the_reference() -> None:
    large = 2**60 + 1
    apply = lanewise("call:ldexp", (DOUBLE, INT), DOUBLE, None)
    with pytest.raises(Unsupported):
        apply((Val(np.array([[1.0]])), Val(np.array([[large]]), large, large)), None)
