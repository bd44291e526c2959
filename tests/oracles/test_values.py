"""Every operator on every pair of number types, at the ends of their ranges, beside a host compiler: promotion,
wrap-around, shifts, division, comparison, choice, casts, arithmetic in float and double, bit for bit.

What C leaves undefined (signed overflow, a cast of a float out of range) is left out by the host's program, cell by
cell. `tests/semantics/cuda/test_modular.py` has random kernels of integers of 32 and 64 bits, `test_halves.py` half
precision.
"""

from __future__ import annotations

import math
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from logic.metrics import METRICS
from semantics.cuda import read_cuda
from semantics.vectorised import run

COMPILER: Final = shutil.which("g++")
LONG: Final = os.environ.get("WARPBOUND_PROFILE") == "long"
PAIRS: Final = 9
"""Of types, of which the short run has one of so many."""

TYPES: Final[dict[str, str]] = {
    "signed char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H", "int": "i", "unsigned": "I",
    "long long": "q", "unsigned long long": "Q", "float": "f", "double": "d",
}  # fmt: skip
SIDE: Final = 8
CELLS: Final = SIDE * SIDE


def values(kind: str) -> list[int | float]:
    """Eight numbers of a type, its ends among them."""
    if kind == "f":
        return [0.0, 1.0, -2.5, 0.10000000149011612, 16777216.0, 3.4028234663852886e38, -1e-45 * 1.4, 123456.7890625]
    if kind == "d":
        return [0.0, -1.0, 2.5, 0.1, 9007199254740993.0, 1.7e308, 5e-324, -98765.4321]
    bits = 8 * struct.calcsize(kind)
    if kind.isupper():
        return [0, 1, 2, 7, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, 100]
    return [0, 1, -1, 7, (1 << (bits - 1)) - 1, -(1 << (bits - 1)), 100, -77]


def integral(t: str) -> bool:
    return TYPES[t] not in "fd"


def operations(a: str, b: str) -> Iterator[str]:
    """Expressions of two variables, a and b, of these types."""
    yield from (f"a {op} b" for op in ("+", "-", "*", "<", "<=", "==", "!=", "&&", "||"))
    yield from ("a > b ? a : b", "-a", "!b")
    if integral(a) and integral(b):
        yield from ("a & b", "a | b", "a ^ b", "~a", "a / (b | 1)", "a % (b | 1)", "a << (b & 7)", "a >> (b & 7)")
    else:
        yield "a / b"
    yield from (f"({t})a" for t in TYPES)
    yield from (f"({t})(a + b)" for t in TYPES)
    if integral(a):
        yield from ("(char)(a * 3)", "(signed char)a + (unsigned short)b", "a - (unsigned)b")


def host(a: str, b: str, k: int) -> str:
    """A function that prints each expression for all pairs of values; '-' for what C leaves undefined."""
    lines = [f"static void f{k}() {{"]
    lines += [
        f"{t} {n}s[] = {{ {', '.join(literal(v, t) for v in values(TYPES[t]))} }};" for n, t in (("a", a), ("b", b))
    ]
    for e in operations(a, b):
        lines.append(f"for (int t = 0; t < {CELLS}; t++) {{ {a} a = as[t / {SIDE}]; {b} b = bs[t % {SIDE}]; (void)b;")
        lines.append(f'if ({defined(e, a, b)}) put({e}); else printf("- "); }} printf("\\n");')
    return "\n".join([*lines, "}", ""])


def literal(v: float, t: str) -> str:
    """C's text of a value."""
    if TYPES[t] in "fd":
        return f"({t}){v!r}"
    return f"({t}){v}ull" if v >= 0 else f"({t})(-{-v - 1}ll - 1)"


def defined(e: str, a: str, b: str) -> str:
    """C++ that says whether C defines the expression."""
    real = not (integral(a) and integral(b))
    match e.replace("(b | 1)", "(b)").replace("(b & 7)", "(b)").split():
        case ["a", ("+" | "-" | "*" | "/" | "%" | "<<") as op, "b" | "(b)"]:
            right = {"/": "(b | 1)", "%": "(b | 1)", "<<": "(b & 7)"}.get(op, "b")
            return "true" if real else f"plain([&] {{ return fine<decltype({e})>(a, {right}, '{op[0]}'); }})"
        case ["-a"]:
            return "true" if not integral(a) else "(fine<decltype(-a)>(0, a, '-'))"
        case ["a", ">", "b", *_]:
            return "true"
    if e.startswith("(") and e.endswith(")a"):
        return f"inside<{e[1:-2]}>(a)"
    if e.endswith("(a + b)"):
        sound = "true" if real else "(fine<decltype(a + b)>(a, b, '+'))"
        return f"({sound} && inside<{e[1 : e.index(')')]}>(a + b))"
    if e == "(char)(a * 3)":
        return "(fine<decltype(a * 3)>(a, 3, '*'))"
    if e == "(signed char)a + (unsigned short)b":
        return "inside<unsigned short>(b)"
    if e == "a - (unsigned)b":
        return "(inside<unsigned>(b) && fine<decltype(a - (unsigned)b)>(a, inside<unsigned>(b) ? (unsigned)b : 0, '-'))"
    return "true"


_CHECKS: Final = """\
#include <cstdio>
#include <limits>
#include <type_traits>
typedef __int128 wide;
template <class F> static bool plain(F f) { return f(); }
// Whether an operation in the common type C does not overflow.
template <class C, class A, class B> static bool fine(A a, B b, char op) {
  if (!std::is_integral<C>::value || !std::is_signed<C>::value) return true;
  wide x = (wide)(C)a, y = (wide)(C)b, v;
  switch (op) {
    case '+': v = x + y; break;
    case '-': v = x - y; break;
    case '*': v = x * y; break;
    case '<': if (x < 0) return false; v = x << (int)y; break;
    default: v = x / y;
  }
  return v >= (wide)std::numeric_limits<C>::min() && v <= (wide)std::numeric_limits<C>::max();
}
// Whether a cast to T is defined: of floats, what fits.
template <class T, class A> static bool inside(A a) {
  if (!std::is_floating_point<A>::value || std::is_floating_point<T>::value) return true;
  long double x = a;
  return x > (long double)std::numeric_limits<T>::min() - 1 && x < (long double)std::numeric_limits<T>::max() + 1;
}
template <class T> static void put(T v) {
  if (std::is_floating_point<T>::value) printf("%a ", (double)v);
  else printf("%lld ", (long long)v);
}
"""


def hosted(pairs: list[tuple[str, str]], folder: Path) -> list[list[list[str]]]:
    """For each pair and expression the cells, as text."""
    assert COMPILER is not None
    calls = "".join(f"f{k}(); " for k in range(len(pairs)))
    text = _CHECKS + "".join(host(a, b, k) for k, (a, b) in enumerate(pairs)) + f"int main() {{ {calls}}}\n"
    (folder / "values.cpp").write_text(text)
    command = [COMPILER, "-std=c++17", "-O0", "-w", "-ffp-contract=off", "-o", "values", "values.cpp"]
    subprocess.run(command, cwd=folder, check=True, timeout=300)
    out = subprocess.run([folder / "values"], capture_output=True, text=True, check=True, timeout=60).stdout
    lines = iter([line.split() for line in out.splitlines()])
    return [[next(lines) for _ in operations(a, b)] for a, b in pairs]


def ours(a: str, b: str, folder: Path) -> list[list[int | float]]:
    """The same of a run: integers as `long long`, floats as `double`."""
    body, names = [], []
    for k, e in enumerate(operations(a, b)):
        real = not whole(e, a, b)
        names.append(f"F{k}" if real else f"R{k}")
        body.append(f"{names[-1]}[t] = ({'double' if real else 'long long'})({e});")
    outs = ", ".join(f"{'double' if name[0] == 'F' else 'long long'} *{name}" for name in names)
    text = (
        f"__global__ void k(const {a} *A, const {b} *B, {outs}) {{ int t = threadIdx.x; "
        f"{a} a = A[t / {SIDE}]; {b} b = B[t % {SIDE}];\n" + "\n".join(body) + "\n}\n"
    )
    (folder / "values.cu").write_text(text)
    kernel = read_cuda(str(folder / "values.cu"), "k").kernel
    given = {"A": values(TYPES[a]), "B": values(TYPES[b])}
    result = run(kernel, (CELLS, 1, 1), (1, 1, 1), {}, given, [METRICS["sectors"]])
    return [[result.arrays[name][t] for t in range(CELLS)] for name in names]


def whole(e: str, a: str, b: str) -> bool:
    """Whether an expression is an integer."""
    if e.startswith("(") and (e.endswith((")a", "(a + b)"))):
        return integral(e[1 : e.index(")")])
    if (e.split()[1:2] and e.split()[1] in ("<", "<=", "==", "!=", "&&", "||")) or e.startswith("!"):
        return True
    if e == "-a":
        return integral(a)
    return (integral(a) and integral(b)) or e in (
        "(char)(a * 3)",
        "(signed char)a + (unsigned short)b",
        "a - (unsigned)b",
    )


def same(theirs: str, own: float, real: bool) -> bool:
    """Whether a cell is the same, bit for bit; a NaN is a NaN."""
    if theirs == "-":
        return True
    if not real:
        return int(theirs) % (1 << 64) == int(own) % (1 << 64)
    v = float.fromhex(theirs) if "nan" not in theirs else math.nan
    if math.isnan(v):
        return math.isnan(own)
    return struct.pack("<d", v) == struct.pack("<d", float(own))


def differences(pairs: list[tuple[str, str]], folder: Path) -> list[str]:
    """Expressions that are something else in a run, with the values."""
    found = []
    for (a, b), theirs in zip(pairs, hosted(pairs, folder), strict=True):
        for e, cells, own in zip(operations(a, b), theirs, ours(a, b, folder), strict=True):
            for t, (x, y) in enumerate(zip(cells, own, strict=True)):
                if not same(x, y, not whole(e, a, b)):
                    at = f"a = {values(TYPES[a])[t // SIDE]}, b = {values(TYPES[b])[t % SIDE]}"
                    found.append(f"{e} of {a} and {b}, {at}: {y}, not {x}")
                    break
    return found


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="there is no g++ to compile for the host with")
def test_operators_are_what_a_host_compiler_makes_of_them(tmp_path: Path) -> None:
    pairs = [(a, b) for a in TYPES for b in TYPES]
    assert differences(pairs if LONG else pairs[:: len(TYPES) + 1] + pairs[4 :: 3 * PAIRS], tmp_path) == []


@pytest.mark.skipif(COMPILER is None, reason="there is no g++ to compile for the host with")
def test_another_value_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Types that promote in another way: `unsigned short` where the host has `short`."""
    cells = hosted([("short", "int")], tmp_path)
    monkeypatch.setattr("tests.oracles.test_values.hosted", lambda *_: cells)
    assert any(
        line.startswith("a + b of unsigned short") for line in differences([("unsigned short", "int")], tmp_path)
    )
