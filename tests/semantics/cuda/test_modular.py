"""Unsigned arithmetic wraps around as a host compiler has it, and so do integers of 8 and 16 bits: random kernels with
these and with those of 32 and 64 bits, signed and unsigned, are compiled with g++ and run by both engines, and what
each lane stores is the same."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from logic.syntax import Const, Op, Param, show_stmt
from semantics import grid, vectorised
from semantics.cuda import Reading, read_cuda
from semantics.values import Value

Reader = Callable[..., Reading]

LONG = os.environ.get("WARPBOUND_PROFILE") == "long"
GXX = shutil.which("g++") or ""
LANES = 4
CELLS = 12

SPELLED = {"i": "int", "u": "unsigned", "l": "long long", "v": "unsigned long long"}
SPELLED |= {"s": "short", "t": "unsigned short", "c": "signed char", "b": "unsigned char"}
ORDER = "iulv"
NARROW = "stcb"
"""What is an int as soon as something is done to it."""
BITS = {"i": 32, "u": 32, "l": 64, "v": 64, "s": 16, "t": 16, "c": 8, "b": 8}


@dataclass
class Program:
    """Random statements. The values of signed types stay far from their ends, as C leaves open what is there; `wild`
    programs get any arguments, and convert to a signed type only what fits."""

    rng: random.Random
    wild: bool
    names: dict[str, str] = field(default_factory=lambda: {"a": "i", "b": "u", "c": "l", "d": "v"})
    fixed: set[str] = field(default_factory=lambda: {"a", "b", "c", "d"})
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def constant(self, t: str) -> str:
        some = [0, 1, 2, 3, 7, 31, 32, 100, 255, 1000]
        if t in "uv":
            some += [0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x9E3779B9, 0x10000001]
        if t == "v":
            some += [2**63, 2**64 - 1, 6364136223846793005, 2**32]
        k = self.rng.choice(some)
        sign = "-" if t in "il" and self.rng.random() < 0.4 else ""
        return f"({sign}{k}{ {'i': '', 'u': 'u', 'l': 'll', 'v': 'ull'}[t] })"

    def leaf(self, t: str) -> str:
        known = [x for x, own in self.names.items() if own == t]
        if t == "u":
            known += ["threadIdx.x", "blockDim.x", "D[threadIdx.x]", "((unsigned *)E)[threadIdx.x]"]
        if t == "i":
            known += ["E[threadIdx.x]", *(x for x, own in self.names.items() if own in NARROW)]
        return self.rng.choice(known) if known and self.rng.random() < 0.7 else self.constant(t)

    def small(self, t: str, depth: int) -> str:
        return f"({self.expr(t, depth)} % 1000)"

    def cast(self, t: str, depth: int) -> str:
        """A conversion to t, from any type that it may be from."""
        source = self.rng.choice(ORDER)
        inner = self.expr(source, depth)
        if self.wild and t in "il" and not (source in "il" and BITS[source] <= BITS[t]) and (source, t) != ("u", "l"):
            inner = f"({inner} & 1048575)"
        return f"({SPELLED[t]})({inner})"

    def expr(self, t: str, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.15:
            return self.leaf(t)
        kind = self.rng.random()
        inner = depth - 1
        if kind < 0.2:
            return self.cast(t, inner)
        if kind < 0.3:
            return f"({self.test(inner)} ? {self.expr(t, inner)} : {self.expr(t, inner)})"
        if t in "il":
            op = self.rng.choice(["+", "-", "*", "/", "%", "&", "|", "^", ">>", "neg", "~"])
            if op == "neg":
                return f"(-{self.small(t, inner)})"
            if op == "~":
                return f"(~{self.expr(t, inner)})"
            if op in "/%":
                return f"({self.expr(t, inner)} {op} ({self.small(t, inner)} + 1001))"
            if op == ">>":
                return f"({self.expr(t, inner)} >> ({self.expr(self.rng.choice(ORDER), inner)} & 15))"
            if op in "+-*":
                return f"({self.small(t, inner)} {op} {self.small(t, inner)})"
            return f"({self.expr(t, inner)} {op} {self.expr(t, inner)})"
        op = self.rng.choice(["+", "-", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "neg", "~"])
        if op in ("neg", "~"):
            return f"({'-' if op == 'neg' else '~'}{self.expr(t, inner)})"
        if op in ("<<", ">>"):
            return f"({self.expr(t, inner)} {op} ({self.expr(self.rng.choice(ORDER), inner)} & 15))"
        other = self.rng.choice([s for s in ORDER if s == t or ORDER.index(s) < ORDER.index(t)])
        left, right = self.expr(t, inner), self.expr(other, inner)
        if op in "/%":
            return f"({left} {op} ({self.expr(t, inner)} | 1))"
        return f"({left} {op} {right})" if self.rng.random() < 0.5 else f"({right} {op} {left})"

    def test(self, depth: int) -> str:
        if depth and self.rng.random() < 0.2:
            return f"({self.test(depth - 1)} {self.rng.choice(['&&', '||'])} {self.test(depth - 1)})"
        a, b = self.rng.choice(ORDER), self.rng.choice(ORDER)
        op = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"({self.expr(a, depth)} {op} {self.expr(b, depth)})"

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def declare(self, indent: str) -> None:
        t = self.rng.choice(ORDER + "uu" + NARROW)
        if t in NARROW:
            x = self.fresh()
            self.lines.append(f"{indent}{SPELLED[t]} {x} = {self.expr(self.rng.choice(ORDER), 2)};")
            self.names[x] = t
            return
        value = self.expr(t, 3) if self.rng.random() < 0.6 else self.cast(t, 2)
        x = self.fresh()
        self.lines.append(f"{indent}{SPELLED[t]} {x} = {value};")
        self.names[x] = t

    def change(self, indent: str) -> None:
        known = [x for x, t in self.names.items() if x not in self.fixed and t in "uv" + NARROW]
        if not known:
            return
        x = self.rng.choice(known)
        t = self.names[x]
        if t in NARROW:
            step = self.rng.choice(
                ["x++;", "--x;", "x += V;", "x -= V;", "x *= V;", "x = V;", "x = x + V;", "x <<= 3;"]
            )
            value = self.rng.choice([self.small("i", 2), "threadIdx.x", "7", self.expr("u", 2)])
            self.lines.append(f"{indent}{step.replace('x', x).replace('V', value)}")
            return
        kind = self.rng.choice(["=", "+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "/=", "%=", "x++", "--x", "old"])
        if kind in ("x++", "--x"):
            self.lines.append(f"{indent}{kind.replace('x', x)};")
        elif kind == "old":
            other = self.fresh()
            step = self.rng.choice([f"{x}--", f"++{x}", f"{x}++"])
            self.lines.append(f"{indent}{SPELLED[t]} {other} = {step};")
        elif kind in ("<<=", ">>="):
            self.lines.append(f"{indent}{x} {kind} {self.expr('u', 1)} & 7;")
        elif kind in ("/=", "%="):
            self.lines.append(f"{indent}{x} {kind} {self.expr(t, 1)} | 1;")
        else:
            self.lines.append(f"{indent}{x} {kind} {self.expr(self.rng.choice('i' + t), 2)};")

    def statements(self, n: int, indent: str, depth: int) -> None:
        outer = dict(self.names)
        for _ in range(n):
            kind = self.rng.random()
            if kind < 0.4:
                self.declare(indent)
            elif kind < 0.75 or depth == 0:
                self.change(indent)
            elif kind < 0.88:
                self.lines.append(f"{indent}if ({self.test(2)}) {{")
                self.statements(2, indent + "  ", depth - 1)
                self.lines.append(f"{indent}}}")
            else:
                self.loop(indent, depth)
        if depth < 2:
            self.names = outer

    def loop(self, indent: str, depth: int) -> None:
        i = self.fresh()
        t = self.rng.choice("uv")
        head = self.rng.choice(
            [
                f"for ({SPELLED[t]} {i} = 5; {i} > 1; {i}--)",
                f"for ({SPELLED[t]} {i} = {self.leaf('u')} & 3; {i}-- > 0; )",
                f"for ({SPELLED[t]} {i} = ({SPELLED[t]})threadIdx.x - 2; {i} != 3; {i}++)",
                f"for (int {i} = -2; {i} < (int)blockDim.x; {i}++)",
                f"for ({SPELLED[t]} {i} = blockDim.x; {i} > 0; {i} >>= 1)",
                *(
                    f"for ({SPELLED[t]} {i} = {begin}; {i} < {limit}; {i} {step})"
                    for t in NARROW
                    for begin, limit, step in (
                        ("threadIdx.x", "20", "+= blockDim.x"),
                        ("-3", "3u", "++"),
                        ("threadIdx.x", "(a & 15)", "++"),
                        ("threadIdx.x", "(a & 15)" if self.wild or t in "cb" else "a", "+= 7"),
                    )
                    if self.rng.random() < 0.3
                ),
            ]
        )
        self.lines.append(f"{indent}{head} {{")
        outer = dict(self.names)
        spelled = head.removeprefix("for (").partition(f" {i}")[0]
        self.names[i] = next(letter for letter, name in SPELLED.items() if name == spelled)
        self.fixed.add(i)
        self.statements(2, indent + "  ", depth - 1)
        self.names = outer
        self.lines.append(f"{indent}}}")

    def body(self) -> str:
        for _ in range(2):
            self.declare("  ")
        self.statements(5, "  ", 2)
        cells = []
        for x, t in list(self.names.items())[-CELLS // 2 :]:
            cells.append(f"(unsigned){x}")
            cells += [f"(unsigned)((unsigned long long){x} >> 32)"] if BITS[t] == 64 else []
        at = "threadIdx.x * " + str(CELLS)
        stores = [f"  O[{at} + {i}] = {e};" for i, e in enumerate(cells[:CELLS])]
        return "\n".join([*self.lines, *stores])


PARAMETERS = "int a, unsigned b, long long c, unsigned long long d"


def arguments(rng: random.Random, wild: bool) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, t in zip("abcd", ORDER, strict=True):
        low, high = (-(1 << BITS[t] - 1), (1 << BITS[t] - 1) - 1) if t in "il" else (0, (1 << BITS[t]) - 1)
        ends = [low, high, high - 3, 0, 1, 5, rng.randint(low, high)]
        found[name] = rng.choice(ends) if wild else rng.randint(1, 256)
    return found


def contents(rng: random.Random, wild: bool) -> dict[str, list[int]]:
    if not wild:
        return {"D": [rng.randint(0, 256) for _ in range(LANES)], "E": [rng.randint(-256, 256) for _ in range(LANES)]}
    return {
        "D": [rng.choice([0, 1, 2**31, 2**32 - 1, rng.randrange(2**32)]) for _ in range(LANES)],
        "E": [rng.choice([0, -1, -(2**31), 2**31 - 1, rng.randrange(2**31)]) for _ in range(LANES)],
    }


@dataclass(frozen=True)
class Case:
    body: str
    args: dict[str, Value]
    arrays: dict[str, list[int]]


def cases(n: int, seed: int) -> list[Case]:
    found = []
    for i in range(n):
        rng = random.Random(seed * 1_000_003 + i)
        wild = i % 2 == 1
        found.append(Case(Program(rng, wild).body(), arguments(rng, wild), contents(rng, wild)))
    return found


def compiled(found: list[Case], folder: Path) -> list[list[int]]:
    """What g++ makes of the kernels, one lane after another."""
    text = ["#include <cstdio>", "struct { unsigned x, y, z; } threadIdx, blockDim = {4, 1, 1};"]
    for i, case in enumerate(found):
        text.append(f"void k{i}(unsigned *O, unsigned *D, int *E, {PARAMETERS}) {{\n{case.body}\n}}")
    text.append("int main() {")
    for i, case in enumerate(found):
        given = ", ".join(f"({SPELLED[t]}){int(v) % 2**64}ull" for t, v in zip(ORDER, case.args.values(), strict=True))
        d = ", ".join(f"{v}u" for v in case.arrays["D"])
        e = ", ".join(f"(int){v % 2**32}u" for v in case.arrays["E"])
        text.append(f"  {{ unsigned O[{LANES * CELLS}] = {{0}}, D[] = {{{d}}}; int E[] = {{{e}}};")
        text.append(f"    for (threadIdx.x = 0; threadIdx.x < {LANES}; threadIdx.x++) k{i}(O, D, E, {given});")
        text.append('    for (unsigned x : O) printf("%u ", x); puts(""); }')
    text.append("}")
    source, program = folder / "host.cpp", folder / "host"
    source.write_text("\n".join(text))
    flags = ("-w", "-O0", "-fwrapv", "-fno-strict-aliasing")
    subprocess.run([GXX, *flags, str(source), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60)
    return [[int(x) for x in line.split()] for line in done.stdout.splitlines()]


def stored(reading: Reading, case: Case, engine: Callable[..., grid.Result]) -> list[int]:
    """What a run stores; what unsigned elements hold may be told by any number that is the same modulo 2^32."""
    arrays = {**case.arrays, "O": [0] * (LANES * CELLS)}
    given = {a.name: arrays[a.name] for a in reading.kernel.arrays if a.name in arrays}
    args = {d.name: case.args[d.name] for d in reading.kernel.params}
    result = engine(reading.kernel, (LANES, 1, 1), (1, 1, 1), args, given)
    assert not result.out_of_bounds
    out = result.arrays["O"]
    return [int(out[i]) % 2**32 for i in range(LANES * CELLS)]


@pytest.mark.whole
@pytest.mark.skipif(not GXX, reason="there is no g++")
def test_as_a_host_compiler_has_it(tmp_path: Path) -> None:
    n, seed = (1_000, random.randrange(10**6)) if LONG else (24, 1)
    found = cases(n, seed)
    expected = compiled(found, tmp_path)
    wrong = []
    for i, (case, host) in enumerate(zip(found, expected, strict=True)):
        file = tmp_path / f"k{i}.cu"
        file.write_text(f"__global__ void k(unsigned *O, unsigned *D, int *E, {PARAMETERS})\n{{\n{case.body}\n}}\n")
        reading = read_cuda(str(file))
        known = [Op("==", (Param(name), Const(int(v)))) for name, v in case.args.items()]
        readings = [reading.under(known, (LANES, 1, 1), (1, 1, 1), assume=False)]
        readings += [reading] if i % 2 == 0 else [reading.under(assume=False)]
        for r in readings:
            for engine in (grid.run, vectorised.run):
                got = stored(r, case, engine)
                if got != host:
                    wrong.append((i, case, got, host, show_stmt(r.kernel.body)))
    for i, case, got, host, lowered in wrong[:2]:
        print(f"seed {seed}, program {i}, {case.args} {case.arrays}\n{case.body}\n{lowered}\n{got}\n{host}")
    assert not wrong
