"""Quotients of integers that are made in double and rounded: what they become, and that a double gives the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

import pytest

from logic.operators import denote
from logic.syntax import Const, Expr, Op, Param, Seq
from semantics.cuda import Reading

Lower = Callable[..., str]

EXACT: Final = {
    "int(ceil(n / 512.0))": "n + 511 >> 9",
    "(int)floor((double)n / 512)": "n >> 9",
    "ceil((n + 1) / 48.)": "(max(n + 1, 0) + 47) / 48 + min(n + 1, 0) / 48",
    "(int)floor(n / 5.0)": "max(n, 0) / 5 + (min(n, 0) - 4) / 5",
    "n / 4.0": "n / 4",
    "trunc(n / 3.0)": "n / 3",
    "ceil(u / 3.0)": "(u + 2) / 3",
    "floor(u / 8.0)": "u / 8",
    "ceil(u / (double)blockDim.x)": "(u + (blockDim.x - 1)) / blockDim.x",
    "ceil((double)s / 1.0)": "(max(s, 0) + 0) / 1 + min(s, 0) / 1",
}

OPEN: Final = [
    "ceil(l / 4.0)",  # 64 bits are not all in a double
    "ceil((double)(float)n / 4.0)",
    "ceilf(n / 4.0f)",  # nor 32 bits in a float
    "ceil(n / 4.0f)",
    "ceil(n / 0.5)",
    "ceil(n / 0.0)",
    "ceil(n / -4.0)",
    "ceil(n / (double)n)",  # which may be 0
    "ceil(n / 4.0 + 1.0)",
    "ceil(n / 4.0) / 2",
    "rint(n / 4.0)",
    "expf(2.0f)",  # off by one unit in the last place, by the vendor's word
]


@pytest.mark.parametrize("text", EXACT)
def test_what_integers_tell(lower: Lower, text: str) -> None:
    got = lower(f"int q = {text}; A[q] = 1;", params="int *A, int n, unsigned u, short s, long long l")
    assert got.splitlines()[0] == f"q <- {EXACT[text]};"


@pytest.mark.parametrize("text", OPEN)
def test_what_they_do_not(lower: Lower, text: str) -> None:
    got = lower(f"int q = {text}; A[q] = 1;", params="int *A, int n, unsigned u, short s, long long l")
    assert got.splitlines()[0].startswith("q <- int(")


def value(e: Expr, at: Mapping[str, int]) -> int:
    match e:
        case Const(int(k)):
            return k
        case Param(name):
            return at[name]
        case Op(op, args):
            return int(denote(op, tuple(value(a, at) for a in args)))
    raise ValueError(e)


ROUNDED: Final[Mapping[str, Callable[[float], int]]] = {"ceil": math.ceil, "floor": math.floor, "trunc": math.trunc}


@pytest.mark.parametrize("how", ROUNDED)
@pytest.mark.parametrize("kind", ["int", "unsigned"])
def test_a_double_gives_the_same(read: Callable[..., Reading], how: str, kind: str) -> None:
    """At the ends of the range, around multiples of the divisor, and anywhere."""
    rng = Random(1)
    low, high = (-(1 << 31), (1 << 31) - 1) if kind == "int" else (0, (1 << 32) - 1)
    divisors = [1, 2, 3, 7, 512, 1000, 65537, (1 << 31) - 1, rng.randrange(1, 1 << 31)]
    body = "".join(f"q = {how}(n / {d}.0); A[q] = 1; " for d in divisors)
    reading = read(f"__global__ void k(int *A, {kind} n) {{ long long q; {body} }}")
    assert isinstance(reading.kernel.body, Seq)
    made = [s.value for s in reading.kernel.body.stmts[::2]]  # type: ignore[union-attr]
    for d, e in zip(divisors, made, strict=True):
        near = [k * d + i for k in (0, 1, -1, low // d, high // d, rng.randrange(low, high) // d) for i in (-1, 0, 1)]
        for n in (low, high, *near, *(rng.randrange(low, high) for _ in range(50))):
            if low <= n <= high:
                assert value(e, {"n": n}) == ROUNDED[how](n / float(d)), (n, d)
