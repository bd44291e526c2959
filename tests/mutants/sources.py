"""Hostile CUDA sources: kernels that are truncated, mangled, spliced, or made to keep a front end busy.

    python -m tests.mutants.sources [--count 10000] [--from FOLDER] [FAMILY ...]

Each is read in a process of its own, every kernel of it. It has to be read or refused, with a place and in words,
within SECONDS of processor time and MEMORY; a traceback, a signal or anything else is a fault. The table tells the
worst of each family.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from logic.source import SourceError
from semantics.cuda import kernel_names, read_cuda
from tests.mutants.limited import Used, limited

SECONDS: Final = 10
MEMORY: Final = 2 << 20
"""The most resident memory, in KiB."""

ADDRESSES: Final = 8 << 30
"""The most address space, in bytes."""

READ, REFUSED = 0, 2
ROOT: Final = Path(__file__).parents[2]
SEEDS: Final = ("proofs", "tests")
"""Folders whose `.cu` files the sources are made of."""

WORDS: Final = """
    if else for while do switch case default break continue return goto { } ( ) [ ] ; , : ? = == != <= >= << >> -> . ::
    + - * / % & | ^ ~ ! && || ++ -- += <<< >>> # ## \\ ' " // /* */ 0 1 -1 0x7fffffff 4294967296 1e308 'a' "s"
    int unsigned float double char bool void long auto const volatile static extern struct union class enum template
    typename operator new delete this sizeof alignas __global__ __device__ __shared__ __constant__ __restrict__
    __syncthreads() threadIdx.x blockDim.x *p &x #include #define #if #endif #pragma //@ asm goto
"""
"""Tokens that are put where others were."""

Make = Callable[[Random, Sequence[bytes]], bytes]
FAMILIES: dict[str, Make] = {}

_TOKEN: Final = re.compile(rb"[A-Za-z_]\w*|\d[\w.]*|\s+|.", re.DOTALL)


def family(make: Make) -> Make:
    """Registers a way of making a source."""
    FAMILIES[make.__name__.replace("_", " ")] = make
    return make


# --- changes of a source ----------------------------------------------------------------------------------------------


def span(random: Random, n: int, most: int) -> tuple[int, int]:
    start = random.randrange(max(1, n))
    return start, min(n, start + random.randint(1, most))


@family
def truncated(random: Random, seeds: Sequence[bytes]) -> bytes:
    text = random.choice(seeds)
    return text[: random.randrange(len(text))]


@family
def beheaded(random: Random, seeds: Sequence[bytes]) -> bytes:
    text = random.choice(seeds)
    return text[random.randrange(len(text)) :]


@family
def with_gaps(random: Random, seeds: Sequence[bytes]) -> bytes:
    text = random.choice(seeds)
    for _ in range(random.randint(1, 4)):
        start, end = span(random, len(text), 40)
        text = text[:start] + text[end:]
    return text


@family
def doubled(random: Random, seeds: Sequence[bytes]) -> bytes:
    text = random.choice(seeds)
    start, end = span(random, len(text), 400)
    return text[:end] + text[start:end] * random.randint(1, 3) + text[end:]


@family
def spliced(random: Random, seeds: Sequence[bytes]) -> bytes:
    one, other = random.choice(seeds), random.choice(seeds)
    return one[: random.randrange(len(one))] + other[random.randrange(len(other)) :]


@family
def mixed_lines(random: Random, seeds: Sequence[bytes]) -> bytes:
    lines = random.choice(seeds).splitlines(keepends=True)
    others = random.choice(seeds).splitlines(keepends=True)
    for _ in range(random.randint(1, 6)):
        lines.insert(random.randrange(len(lines) + 1), random.choice(others))
    return b"".join(lines)


@family
def flipped_bytes(random: Random, seeds: Sequence[bytes]) -> bytes:
    text = bytearray(random.choice(seeds))
    for _ in range(random.randint(1, 5)):
        text[random.randrange(len(text))] = random.randrange(256)
    return bytes(text)


def _tokens(text: bytes) -> list[bytes]:
    return _TOKEN.findall(text)


@family
def other_tokens(random: Random, seeds: Sequence[bytes]) -> bytes:
    tokens = _tokens(random.choice(seeds))
    for _ in range(random.randint(1, 5)):
        tokens[random.randrange(len(tokens))] = random.choice(WORDS.split()).encode()
    return b"".join(tokens)


@family
def more_tokens(random: Random, seeds: Sequence[bytes]) -> bytes:
    tokens = _tokens(random.choice(seeds))
    for _ in range(random.randint(1, 5)):
        tokens.insert(random.randrange(len(tokens) + 1), b" " + random.choice(WORDS.split()).encode() + b" ")
    return b"".join(tokens)


@family
def fewer_tokens(random: Random, seeds: Sequence[bytes]) -> bytes:
    tokens = _tokens(random.choice(seeds))
    for _ in range(random.randint(1, 5)):
        del tokens[random.randrange(len(tokens))]
    return b"".join(tokens)


@family
def exchanged_tokens(random: Random, seeds: Sequence[bytes]) -> bytes:
    tokens = _tokens(random.choice(seeds))
    for _ in range(random.randint(1, 5)):
        i, j = random.randrange(len(tokens)), random.randrange(len(tokens))
        tokens[i], tokens[j] = tokens[j], tokens[i]
    return b"".join(tokens)


# --- sources that are made to be hard ---------------------------------------------------------------------------------


def kernel(body: str, before: str = "", params: str = "int *A, int n") -> bytes:
    return f"{before}\n__global__ void k({params}) {{\n  int t = threadIdx.x, x = 0;\n  {body}\n}}\n".encode()


@family
def deep_expressions(random: Random, _: Sequence[bytes]) -> bytes:
    n = int(10 ** random.uniform(1, 4.5))
    opened, closed = random.choice(
        [("(", ")"), ("-(", ")"), ("!", ""), ("(int)", ""), ("~", ""), ("A[", "]"), ("x ? 1 : ", ""), ("1 + (", ")")]
    )
    return kernel(f"x = {opened * n}t{closed * n}; A[t] = x;")


@family
def deep_statements(random: Random, _: Sequence[bytes]) -> bytes:
    n = int(10 ** random.uniform(1, 4))
    head = random.choice(
        ["{", "if (t < n) {", "for (int i = 0; i < n; i++) {", "while (x < n) {", "do {", "switch (t) { case 1: {"]
    )
    tail = {"do {": "} while (x < n);", "switch (t) { case 1: {": "}}"}.get(head, "}")
    return kernel(f"{head * n} A[t] = x; {tail * n}")


@family
def long_bodies(random: Random, _: Sequence[bytes]) -> bytes:
    n = int(10 ** random.uniform(2, 3.7))
    one = random.choice(
        ["x += t;", "A[t] = x;", "if (t < n) x++;", "x = f(x);", "int y%d = x;", "case %d: x++;", "l%d: x++;"]
    )
    many = " ".join(one % i if "%d" in one else one for i in range(n))
    return kernel(f"switch (t) {{ {many} }}" if "case" in one else many, "__device__ int f(int a) { return a + 1; }")


@family
def calls_of_calls(random: Random, _: Sequence[bytes]) -> bytes:
    n = random.randint(2, 40)
    twice = "\n".join(f"__device__ int f{i + 1}(int a) {{ return f{i}(a) + f{i}(a + 1); }}" for i in range(n))
    return kernel(f"A[t] = f{n}(t);", f"__device__ int f0(int a) {{ return a; }}\n{twice}")


@family
def macros_of_macros(random: Random, _: Sequence[bytes]) -> bytes:
    n = random.randint(2, 24)
    head = "\n".join(f"#define M{i + 1} M{i} M{i}" for i in range(n))
    return kernel(f"M{n}", f"#define M0 {random.choice(['x++;', 'A[t] = x;', '{', '+'])}\n{head}")


@family
def templates_of_templates(random: Random, _: Sequence[bytes]) -> bytes:
    n = int(10 ** random.uniform(1, 4))
    how = random.choice(["f<N - 1>(a) + 1", "f<N - 1>(a) + f<N - 2>(a)", "f<N + 1>(a)"])
    ends = "template <> __device__ int f<0>(int a) { return a; }\ntemplate <> __device__ int f<1>(int a) { return a; }"
    return kernel(f"A[t] = f<{n}>(t);", f"template <int N> __device__ int f(int a) {{ return {how}; }}\n{ends}")


@family
def large_types(random: Random, _: Sequence[bytes]) -> bytes:
    n = int(10 ** random.uniform(1, 19))
    m = int(10 ** random.uniform(1, 4))
    return random.choice(
        [
            kernel(f"__shared__ int s[{n}]; s[t] = x;"),
            kernel(f"int s[{n}]; s[t] = x; A[0] = s[0];"),
            kernel("A[t] = p[t].a[0];", f"struct P {{ int a[{n}]; }};", "int *A, P *p"),
            kernel("A[t] = s.f0;", f"struct S {{ {' '.join(f'int f{i};' for i in range(m))} }};", "int *A, S s"),
            kernel(f"A[{n}] = {n}u * {n}; x = {'9' * min(m, 5000)};"),
        ]
    )


@family
def odd_bytes(random: Random, seeds: Sequence[bytes]) -> bytes:
    text = random.choice(seeds)
    odd = random.choice(
        [
            b"\0",
            b"\xef\xbb\xbf",
            b"\r",
            b"\xff\xfe",
            b"\\\n",
            b"??/\n",
            "\u202e".encode(),
            b"\x1b[2J",
            "é".encode("latin-1"),
        ]
    )
    how = random.randrange(3)
    at = random.randrange(len(text))
    return odd + text if how == 0 else text.replace(b"\n", odd + b"\n") if how == 1 else text[:at] + odd + text[at:]


@family
def directives(random: Random, seeds: Sequence[bytes]) -> bytes:
    lines = random.choice(seeds).splitlines(keepends=True)
    odd = [
        *(
            '#include "x.cu"',
            "#include <x",
            "#include",
            "#if",
            "#if 1/0",
            "#else",
            "#endif",
            "#elif",
            "#error no",
            "#line 7",
        ),
        *(
            '#line 9 "y.cu"',
            "#define",
            "#define int float",
            "#define __global__",
            "#define if while",
            "#undef threadIdx",
        ),
        *("#pragma once", "#pragma unroll -1", "#pragma unroll n", '_Pragma("unroll")', "#define threadIdx blockIdx"),
        *(
            "//@ requires n >= 0;",
            "//@ loop potential ((;",
            "//@",
            "//@ loop invariant x <= ;",
            "#import <a>",
            "#include_next <b>",
        ),
    ]
    for _ in range(random.randint(1, 3)):
        lines.insert(random.randrange(len(lines) + 1), random.choice(odd).encode() + b"\n")
    return b"".join(lines)


# --- the run ----------------------------------------------------------------------------------------------------------


@functools.cache
def found(folders: tuple[Path, ...]) -> tuple[bytes, ...]:
    """The sources below folders, in the order of their paths."""
    return tuple(p.read_bytes() for folder in folders for p in sorted(folder.rglob("*.cu")) if p.stat().st_size)


def source(name: str, seed: int, seeds: Sequence[bytes]) -> bytes:
    """One of a family, the same for the same seed."""
    return FAMILIES[name](Random(f"{name} {seed}"), seeds)


def read(path: Path) -> int:
    """Reads every kernel of a file, or tells why not: READ where one was read, else REFUSED."""
    try:
        names = kernel_names(str(path))
    except SourceError as e:
        print(_told(e))
        return REFUSED
    refused = 0
    for name in names:
        try:
            read_cuda(str(path), name)
        except SourceError as e:
            refused += 1
            print(_told(e))
    return READ if refused < len(names) else REFUSED


def _told(e: SourceError) -> str:
    if not e.message.strip() or "Error(" in e.message:
        raise ValueError(f"not in words: {e.message!r}")
    return e.message


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a source."""

    family: str
    seed: int
    size: int
    used: Used

    @property
    def fault(self) -> str:
        """What is wrong with it, or nothing."""
        if self.used.code not in (READ, REFUSED) or "Traceback" in self.used.said:
            return f"ended with {self.used.code}: {self.used.said.strip().splitlines()[-1:]}"
        if self.used.cpu > SECONDS:
            return f"took {self.used.cpu:.1f} s"
        return f"took {self.used.memory // 1024} MiB" if self.used.memory > MEMORY else ""


def run(names: Sequence[str], count: int, seeds: Sequence[bytes], start: int = 0) -> Iterator[Outcome]:
    """Reads so many sources, in turn from each family."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.cu"
        for i in range(start, start + count):
            name, seed = names[i % len(names)], i // len(names)
            path.write_bytes(source(name, seed, seeds))
            used = limited(lambda: read(path), 3 * SECONDS, ADDRESSES)
            yield Outcome(name, seed, path.stat().st_size, used)


def table(outcomes: Sequence[Outcome]) -> str:
    """The worst of each family, and every fault."""
    lines = ["| family | sources | read | largest, bytes | worst s | most MiB | faults |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in dict.fromkeys(o.family for o in outcomes):
        ours = [o for o in outcomes if o.family == name]
        cells = [name, len(ours), sum(o.used.code == READ for o in ours), max(o.size for o in ours)]
        cells += [f"{max(o.used.cpu for o in ours):.1f}", max(o.used.memory for o in ours) // 1024]
        lines.append(f"| {' | '.join(map(str, [*cells, sum(bool(o.fault) for o in ours)]))} |")
    faults = [f"- {o.family} {o.seed}, {o.size} bytes: {o.fault}" for o in outcomes if o.fault]
    return "\n".join([*lines, "", *faults])


def main() -> int:
    parser = argparse.ArgumentParser(description="Reads hostile CUDA sources within limits of time and memory.")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of: {', '.join(FAMILIES)} (default: all)")
    parser.add_argument("--count", type=int, default=10_000, help="sources (default: %(default)s)")
    parser.add_argument(
        "--start", type=int, default=0, metavar="N", help="the first one's number (default: %(default)s)"
    )
    parser.add_argument("--from", dest="folders", type=Path, action="append", help="make them of this folder's sources")
    parser.add_argument("--keep", nargs=2, metavar=("SEED", "FILE"), help="only write one source")
    options = parser.parse_args()
    names = options.families or list(FAMILIES)
    if unknown := set(names) - FAMILIES.keys():
        parser.error(f"there is no family called {min(unknown)}")
    seeds = found(tuple(options.folders or (ROOT / each for each in SEEDS)))
    if options.keep:
        Path(options.keep[1]).write_bytes(source(names[0], int(options.keep[0]), seeds))
        return 0
    outcomes: list[Outcome] = []
    for outcome in run(names, options.count, seeds, options.start):
        outcomes.append(outcome)
        if outcome.fault:
            print(f"{outcome.family} {outcome.seed}: {outcome.fault}", file=sys.stderr, flush=True)
    print(table(outcomes))
    reasons = Counter(re.sub(r"'[^']*'|\d+", "..", line) for o in outcomes for line in o.used.said.splitlines()[:1])
    print("\nWhy, most frequent first:\n")
    print("\n".join(f"- {n}: {why}" for why, n in reasons.most_common(30)))
    return 1 if any(o.fault for o in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
