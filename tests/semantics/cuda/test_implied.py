"""Tests of loops that read arrays: what they say of the rest is added to them, and changes nothing."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from logic.assertions import opaque
from logic.syntax import BOOL, INT, Array, Assign, Const, Expr, Op, Read, Var, While, show, statements
from logic.typing import Signature, type_of
from semantics.cuda import read_cuda
from semantics.cuda.ctype import CType
from semantics.cuda.implied import implied, kept, told
from semantics.cuda.modular import Integer, reduced
from semantics.cuda.state import State
from tests.semantics.cuda.lowered import Lowered

TYPES = {
    "int": CType("int", "int", 4),
    "unsigned": CType("int", "unsigned int", 4, signed=False),
    "byte": CType("int", "unsigned char", 1, signed=False),
    "char": CType("int", "signed char", 1),
}
INTEGERS = {"i": Integer(32, True), "n": Integer(32, True), "u": Integer(32, False), "c": Integer(8, False)}


def reading() -> State:
    """What of a kernel's state is asked: four integers, a flag and an array."""
    sigma = Signature(dict.fromkeys(INTEGERS, INT) | {"b": BOOL}, {}, {"A": Array("A", "global", INT, 4)})
    asked = SimpleNamespace(
        sigma=sigma, integers=INTEGERS, implied={}, reals={}, is_int=lambda e: type_of(e, sigma) == INT
    )
    return cast(State, asked)


def value(rng: random.Random, depth: int) -> Expr:
    """A random integer, often masked, with reads."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(
            (Var(rng.choice("inuc")), Const(rng.randint(-9, 9)), Read("A", Var("i")), Read("A", Const(1)))
        )
    a, b = value(rng, depth - 1), value(rng, depth - 1)
    match rng.randrange(11):
        case 0 | 1:
            return Op("&", (a, Const(rng.choice((1, 3, 7, 12)))))
        case 2:
            return Op("%", (a, Const(rng.choice((3, 5, -4)))))
        case 3:
            return Op(rng.choice(("+", "-")), (a, b))
        case 4:
            return Op("*", (Const(rng.randint(-2, 3)), b) if rng.random() < 0.5 else (a, Const(rng.randint(-2, 3))))
        case 5:
            return Op(rng.choice(("min", "max")), (a, b))
        case 6:
            return Op("?:", (condition(rng, 0), a, b))
        case 7:
            return reduced(a, TYPES[rng.choice(("int", "unsigned"))])
        case 8:
            return reduced(reduced(a, TYPES["int"]), TYPES["unsigned"], TYPES["int"])
        case 9:
            return Op(rng.choice((">>", "<<", "/")), (a, Const(rng.randint(0, 3))))
        case _:
            return Op("int", (condition(rng, 0),)) if rng.random() < 0.5 else Op("neg", (a,))


def condition(rng: random.Random, depth: int) -> Expr:
    if depth and rng.random() < 0.4:
        a, b = condition(rng, depth - 1), condition(rng, depth - 1)
        return Op("!", (a,)) if rng.random() < 0.3 else Op(rng.choice(("&&", "||")), (a, b))
    if rng.random() < 0.1:
        return Var("b")
    op = rng.choice(("<", "<=", ">", ">=", "<", "<=", ">", ">=", "==", "!="))
    return Op(op, (value(rng, 2), value(rng, 2)))


def store(rng: random.Random) -> Lowered:
    names = {x: rng.choice((t.low, t.high, rng.randint(max(-9, t.low), 9))) for x, t in INTEGERS.items()}
    found = Lowered(names)
    found.names["b"] = rng.random() < 0.5
    for index in (1, int(names["i"])):
        found.cells["A", index] = rng.choice((-(1 << 31), (1 << 31) - 1, rng.randint(-9, 9), rng.randint(-9, 9)))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_what_a_test_implies_holds_wherever_it_does(seed: int) -> None:
    rng, st, said = random.Random(seed), reading(), 0
    for _ in range(100):
        c = condition(rng, 2)
        known, both, goes, ends = implied(st, c), kept(st, c), told(st, c, True), told(st, c, False)
        assert known is None or not opaque(known, st.sigma)
        assert goes == both
        said += known is not None and opaque(c, st.sigma)
        for _ in range(15):
            at = store(rng)
            holds = at.value(c)
            assert at.value(both) == holds == at.value(ends), show(c)
            assert known is None or not holds or at.value(known), f"{show(c)} does not imply {show(known)}"
    assert said > 10  # the trial says something


@pytest.mark.parametrize(
    ("loop", "guard"),
    [
        ("for (int i = 0; i < (A[t] & 3); i++) B[t] = i;", "i < 3 && i < (A[t] & 3)"),
        ("for (int i = 9; i > A[t] % 5; i--) B[t] = i;", "i > -4 && i > A[t] % 5"),
        ("for (int i = n; i < n + 2 * (A[t] & 3); i++) B[t] = i;", "i < n + 6 && i < n + 2 * (A[t] & 3)"),
        ("for (int i = 0; i < (A[t] & 3) - (B[t] & 7); i++) B[t] = i;", "i < 3 && i < (A[t] & 3) - (B[t] & 7)"),
        ("for (int i = 0; i < C[t]; i++) B[t] = i;", "i < 255 && i < (C[t] & 255)"),
        ("for (int i = 0; i < min(A[t], n); i++) B[t] = i;", "i < n && i < min(A[t], n)"),
        ("for (int i = 0; (A[t] & 3) > i && B[t] != 3; i++) B[t] = i;", "3 > i && t_1"),
        ("for (int i = 0; B[t] != 3 && (A[t] & 3) > i; i++) B[t] = i;", "3 > i && t_1"),
        ("int i = 0; for (;;) { if (i >= (A[t] & 3)) break; i++; }", "i < 3 && i < (A[t] & 3)"),
        ("int i = 0; do B[t] = i++; while (!(i >= (A[t] & 3)));", "i < 3 && !(i >= (A[t] & 3))"),
        ("for (unsigned i = 0; i < u + (A[t] & 3); i++) B[t] = i;", "i < u + 3 && i < (u + (A[t] & 3) & 4294967295)"),
        ("float f = 0; for (int i = 0; i < n && f < 4.0f; i++) f += A[i];", "i < n && f < 4.0f"),
        ("for (int i = 0; i < log2f(n); i++) B[t] = i;", "i < 32 && as_float(i) < log2f(as_float(n))"),
        ("for (int i = 1; i <= __log2f(16); i++) B[t] = i;", "i <= 4 && as_float(i) <= __log2f(16.0f)"),
        ("double m = log((double)n) / log(2.0); for (int i = 0; i < m; i++) B[t] = i;", "i < 32 && as_double(i) < m"),
        ("for (int i = 64; i > sqrtf(64.0f); i--) B[t] = i;", "i > 7 && as_float(i) > sqrtf(64.0f)"),
        ("for (int i = 0; i < 31 - __clz(n); i++) B[t] = i;", "i < 31 && i < 31 - int(__clz(as_double(n)))"),
        ("for (int i = 1; i < pow(2.0, 5); i *= 2) B[t] = i;", "i < 33 && as_double(i) < pow(2.0, 5)"),
        # nothing is known, or nothing is hidden
        ("float m = A[t]; for (int i = 0; i < m; i++) B[t] = i;", "as_float(i) < m"),
        ("for (int i = 0; i < n * 0.5f; i++) B[t] = i;", "as_float(i) < as_float(n) * 0.5f"),
        ("for (int i = 0; i < -logf(n); i++) B[t] = i;", "as_float(i) < -logf(as_float(n))"),
        ("for (int i = 0; i < A[t]; i++) B[t] = i;", "i < A[t]"),
        ("for (int i = 0; i < max(A[t], n); i++) B[t] = i;", "i < max(A[t], n)"),
        ("for (int i = 0; i < n - (A[t] & 3); i++) B[t] = i;", "i < n && i < n - (A[t] & 3)"),
        ("for (int i = 0; i < n - A[t]; i++) B[t] = i;", "i < n - A[t]"),
        ("for (int i = 0; i != (A[t] & 3); i++) B[t] = i;", "i != (A[t] & 3)"),
        ("for (unsigned i = 9; i > u + (A[t] & 3); i--) B[t] = i;", "i > 0 && i > (u + (A[t] & 3) & 4294967295)"),
        ("for (int i = 0; i < (n & 3); i++) B[t] = i;", "i < (n & 3)"),
    ],
)
def test_loops_have_what_their_tests_imply(tmp_path: Path, loop: str, guard: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(int *A, int *B, unsigned char *C, int n, unsigned u) { int t = threadIdx.x; " + loop + " }",
    )
    (found,) = [s for s in statements(read_cuda(str(path)).kernel.body) if isinstance(s, While)]
    assert show(found.cond) == guard


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("int m = log2f(n);", "min(int(log2f(as_float(n))), 31)"),
        ("int m = (int)ceil(log2(1000.0));", "min(int(ceil(log2(1000.0))), 10)"),
        ("const int m = 32 - __clz(n - 1);", "min(32 - int(__clz(as_double(n - 1))), 32)"),
        ("int m = __popcll(n) / 2;", "min(int(__popcll(as_double(n))) / 2, 32)"),
        # as the source says it, once or twice
        ("int m = min((int)log2f(n), 7);", "min(int(log2f(as_float(n))), 7)"),
        ("int m = min((int)log2f(n), 31);", "min(int(log2f(as_float(n))), 31)"),
        ("int m = min(min((int)log2f(n), 31), 31);", "min(min(int(log2f(as_float(n))), 31), 31)"),
        ("int m = min((int)log2f(n), 32);", "min(min(int(log2f(as_float(n))), 31), 32)"),
        ("int m = min(32 - __clz(n), 32);", "min(32 - int(__clz(as_double(n))), 32)"),
        # a limit beyond those of bits, none, and conversions to types that may take it for another number
        ("int m = sqrtf(n);", "int(sqrtf(as_float(n)))"),
        ("int m = expf(n);", "int(expf(as_float(n)))"),
        ("unsigned m = log2f(n);", "int(log2f(as_float(n)))"),
        ("short m = log2f(64.0f) - (n & 1023);", "int(log2f(64.0f) - as_float(n & 1023))"),
    ],
)
def test_numbers_of_bits_have_their_limits(tmp_path: Path, declared: str, value: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *B, int n) { " + declared + " B[threadIdx.x] = m; }")
    (found,) = [s for s in statements(read_cuda(str(path)).kernel.body) if isinstance(s, Assign)]
    assert show(found.value) == value
