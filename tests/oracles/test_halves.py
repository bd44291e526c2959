"""Half precision beside a host compiler's `_Float16`, and both formats of two bytes beside a table of all their
numbers: arithmetic and conversions, on smallest, largest and infinite numbers, too, bit for bit."""

from __future__ import annotations

import math
import operator
import shutil
import struct
import subprocess
from bisect import bisect_left
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from logic.metrics import METRICS
from semantics.cuda import read_cuda
from semantics.vectorised import run

COMPILER: Final = shutil.which("g++")

PATTERNS: Final = (
    0, 0x8000, 0x3C00, 0xBC00, 0x3E00, 0x2E66, 0x7BFF, 0xFBFF, 1, 0x8003, 0x400, 0x3FF, 0x67FF, 0x3555, 0x7C00, 0xFC00,
    0x7E00, 0x5BFF, 0x1234, 0xABCD, 0x6801, 0xE802, 0x0C01, 0x4A17, 0xC2F0, 0x7801, 0x0203, 0x35AA, 0x8400, 0x4248,
    0x2C7B, 0x9FFF,
)  # fmt: skip
"""Numbers of two bytes."""
SIDE: Final = len(PATTERNS)
CELLS: Final = SIDE * SIDE
WIDE: Final = (
    0.1,
    65519.99,
    65520.0,
    2.98e-8,
    8.9e-8,
    1.00048828125,
    1.0014648437,
    -2049.0,
    2051.0,
    1e-9,
    123456.0,
    -0.3,
)
"""Numbers between those of a format."""

ARITHMETIC: Final = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
OF_HOST: Final = {
    **{f"a {op} b": f"a {op} b" for op in ARITHMETIC},
    "-a": "-a",
    "a * b + b": "(T)((float)(T)((float)a * (float)b) + (float)b)",  # each rounded, as CUDA does
    "a < b ? a : b": "a < b ? a : b",
    "__hadd(a, b)": "a + b",
    "__float2half((float)x)": "(T)(float)x",
    "__double2half(x)": "(T)x",
    "__int2half_rn((int)x * 7)": "(T)((int)x * 7)",
    "(float)a + (float)b": "(T)((float)a + (float)b)",
}
"""Our expressions, and the host's."""


def halves() -> list[float]:
    return [struct.unpack("<e", struct.pack("<H", bits))[0] for bits in PATTERNS]


def of_bfloat(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])


def ours(kind: str, expressions: list[str], numbers: list[float], folder: Path) -> list[list[float]]:
    """What a run has, an expression a row and a pair a column."""
    to_float = "__half2float" if kind == "__half" else "__bfloat162float"
    outs = ", ".join(f"float *R{k}" for k in range(len(expressions)))
    body = "\n".join(f"R{k}[t] = {to_float}({e});" for k, e in enumerate(expressions))
    (folder / "halves.cu").write_text(
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        f"__global__ void k(const {kind} *A, const double *X, {outs}) {{ int t = threadIdx.x;\n"
        f"{kind} a = A[t / {SIDE}], b = A[t % {SIDE}]; double x = X[t % {len(WIDE)}];\n{body}\n}}\n"
    )
    kernel = read_cuda(str(folder / "halves.cu"), "k").kernel
    result = run(kernel, (CELLS, 1, 1), (1, 1, 1), {}, {"A": numbers, "X": WIDE}, [METRICS["sectors"]])
    return [[float(result.arrays[f"R{k}"][t]) for t in range(CELLS)] for k in range(len(expressions))]


def hosted(expressions: list[str], folder: Path) -> list[list[float]]:
    """The same of the host's compiler; skips where it has no such type."""
    assert COMPILER is not None
    bits, wide = ", ".join(map(str, PATTERNS)), ", ".join(map(repr, WIDE))
    loops = "".join(
        f"for (int t = 0; t < {CELLS}; t++) {{ T a = n[t / {SIDE}], b = n[t % {SIDE}]; double x = w[t % {len(WIDE)}]; "
        f'(void)x; T r = {e}; printf("%a ", (double)r); }} printf("\\n");\n'
        for e in expressions
    )
    (folder / "halves.cpp").write_text(
        "#include <cstdio>\n#include <cstring>\nusing T = _Float16;\n"
        f"int main() {{ unsigned short p[] = {{ {bits} }}; T n[{SIDE}]; memcpy(n, p, sizeof p);\n"
        f"double w[] = {{ {wide} }};\n{loops}}}\n"
    )
    done = subprocess.run([COMPILER, "-O0", "-w", "-o", "halves", "halves.cpp"], cwd=folder, check=False, timeout=300)
    if done.returncode:
        pytest.skip("this g++ has no _Float16")
    out = subprocess.run([folder / "halves"], capture_output=True, text=True, check=True, timeout=60).stdout
    return [[math.nan if "nan" in x else float.fromhex(x) for x in line.split()] for line in out.splitlines()]


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or struct.pack("<d", a) == struct.pack("<d", b)


def different(expressions: list[str], own: list[list[float]], theirs: list[list[float]]) -> list[str]:
    return [
        f"{e} of {PATTERNS[t // SIDE]:#x} and {PATTERNS[t % SIDE]:#x}: {x}, not {y}"
        for e, mine, others in zip(expressions, own, theirs, strict=True)
        for t, (x, y) in enumerate(zip(mine, others, strict=True))
        if not same(x, y)
    ]


@pytest.mark.skipif(COMPILER is None, reason="there is no g++ to compile for the host with")
def test_half_precision_is_what_a_host_compiler_makes_of_it(tmp_path: Path) -> None:
    own = ours("__half", list(OF_HOST), halves(), tmp_path)
    theirs = hosted(list(OF_HOST.values()), tmp_path)
    assert different(list(OF_HOST), own, theirs) == []
    assert different(["a + b"], own[1:2], theirs[:1])  # another operator is seen


@cache
def table(kind: str) -> tuple[list[Fraction], Fraction]:
    """All numbers of a format that are not negative, by their bits, and from where on a number is infinite."""
    if kind == "__half":
        found = [Fraction(struct.unpack("<e", struct.pack("<H", bits))[0]) for bits in range(0x7C00)]
    else:
        found = [Fraction(of_bfloat(bits)) for bits in range(0x7F80)]
    return found, found[-1] + (found[-1] - found[-2]) / 2


def nearest(q: Fraction, kind: str) -> float:
    """The number of a format that is next to q, of two the one with even bits."""
    numbers, end = table(kind)
    if abs(q) >= end:
        return math.inf if q > 0 else -math.inf
    above = min(bisect_left(numbers, abs(q)), len(numbers) - 1)
    low = numbers[max(above - 1, 0)]
    down, up = abs(q) - low, numbers[above] - abs(q)
    found = low if above and (down < up or (down == up and above % 2 == 1)) else numbers[above]
    return math.copysign(float(found), q)


@pytest.mark.parametrize("kind", ["__half", "__nv_bfloat16"])
def test_arithmetic_of_two_bytes_is_rounded_to_the_nearest_number(kind: str, tmp_path: Path) -> None:
    numbers = halves() if kind == "__half" else list(map(of_bfloat, PATTERNS))
    own = ours(kind, [f"a {op} b" for op in ARITHMETIC], numbers, tmp_path)
    wrong, looked = [], 0
    for op, row in zip(ARITHMETIC, own, strict=True):
        for t, x in enumerate(row):
            a, b = numbers[t // SIDE], numbers[t % SIDE]
            if not (math.isfinite(a) and math.isfinite(b)) or (op == "/" and b == 0):
                continue
            exact = ARITHMETIC[op](Fraction(a), Fraction(b))
            looked += 1
            if x != nearest(exact, kind):
                wrong.append(f"{a} {op} {b} is {x}, not {nearest(exact, kind)}")
    assert wrong == []
    assert looked > 3 * 28 * 28
