"""Random CUDA kernels as people write them, for `tests.bench.sharp`: what nobody has tuned the tool for.

Elements of several types, in global and shared memory, tiles with and without a pad, blocks of one and two dimensions,
loops inside loops, grid strides, halving, swizzles and remainders in indices, tests of threads, parameters and data,
early exits. A kernel is drawn from its seed alone. All its loops end, its barriers are reached by all threads, and its
shared indices are within their arrays.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

BLOCKS: Final[tuple[tuple[int, ...], ...]] = (
    (32,),
    (64,),
    (96,),
    (128,),
    (256,),
    (48,),
    (100,),
    (16, 16),
    (32, 8),
    (8, 8),
    (32, 32),
    (64, 4),
)

ELEMENTS: Final = ("int", "float", "unsigned char", "short", "double", "float2", "float4", "unsigned int")

SCALARS: Final = ("int", "float", "double", "unsigned int")


@dataclass(frozen=True, slots=True)
class Unseen:
    """A kernel's source and the block that it is written for."""

    source: str
    block: tuple[int, ...]


def kernel(seed: int) -> Unseen:
    """The kernel of a seed."""
    return _Writer(random.Random(seed)).kernel()


class _Writer:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.block = draw.choice(BLOCKS)
        self.flat = len(self.block) == 1
        self.counters: list[str] = []
        self.loops = 0
        self.params = ["n", "m", "w"]
        self.globals = {f"g{i}": draw.choice(ELEMENTS) for i in range(draw.choice((1, 2, 2, 3)))}
        self.shared: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.uniform = True  # whether all threads of the block are here, and barriers may be
        self.left = draw.randint(3, 9)
        self.locals = 0

    def kernel(self) -> Unseen:
        threads = 1
        for size in self.block:
            threads *= size
        lines = []
        if self.draw.random() < 0.55:
            self.shared["s0"] = self.tile(threads)
            if self.draw.random() < 0.3:
                self.shared["s1"] = self.tile(threads)
        for name, (kind, sizes) in self.shared.items():
            lines.append(f"__shared__ {kind} {name}{''.join(f'[{size}]' for size in sizes)};")
        if self.flat:
            lines += ["int tx = threadIdx.x;", "int idx = blockIdx.x * blockDim.x + tx;"]
        else:
            lines += ["int tx = threadIdx.x, ty = threadIdx.y;", "int idx = blockIdx.x * blockDim.x + tx;"]
            lines += ["int row = blockIdx.y * blockDim.y + ty;"]
        lines.append("int acc = 0;")
        if not self.shared and self.draw.random() < 0.4:
            lines.append(self.draw.choice(("if (idx >= n) return;", "if (idx < m || idx >= n) return;")))
            self.uniform = False
        lines += self.body(0)
        name = self.draw.choice(list(self.globals))
        lines.append(self.store(f"{name}[{self.index()}]", self.globals[name]))
        arrays = ", ".join(f"{kind} *{name}" for name, kind in self.globals.items())
        text = "\n".join("    " + line for line in lines)
        ints = ", ".join(f"int {p}" for p in self.params)
        return Unseen(f"__global__ void k({arrays}, {ints})\n{{\n{text}\n}}\n", self.block)

    def tile(self, threads: int) -> tuple[str, tuple[int, ...]]:
        kind = self.draw.choice(("int", "float", "float", "double", "float4"))
        if self.flat:
            return kind, (self.draw.choice((threads, 2 * threads)),)
        return kind, (self.block[1] * (self.block[0] // self.block[1] or 1), self.block[0] + self.draw.choice((0, 1)))

    # --- statements ---

    def body(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.draw.choice((1, 1, 2, 2, 3)) if depth else self.draw.choice((2, 3, 4))):
            if self.left > 0:
                self.left -= 1
                lines += self.statement(depth)
        return lines or [self.read()]

    def statement(self, depth: int) -> list[str]:
        roll = self.draw.random()
        if roll < 0.22 and depth < 3:
            return self.loop(depth)
        if roll < 0.42 and depth < 3:
            return self.branch(depth)
        if roll < 0.62:
            return [self.read()]
        if roll < 0.8 and self.shared:
            name = self.draw.choice(list(self.shared))
            lines = [self.store(f"{name}{self.cell(name)}", self.shared[name][0])]
            if self.uniform:
                lines.append("__syncthreads();")
            return [*lines, self.use(name, self.cell(name), self.shared[name][0])]
        if roll < 0.9:
            name = self.draw.choice(list(self.globals))
            return [self.store(f"{name}[{self.index()}]", self.globals[name])]
        return [
            self.draw.choice(("acc = max(acc, tx);", "acc = acc * 2 + 1;", "acc ^= idx;", "acc = acc > n ? m : acc;"))
        ]

    def read(self) -> str:
        name = self.draw.choice(list(self.globals))
        return self.use(name, f"[{self.index()}]", self.globals[name])

    def use(self, name: str, index: str, kind: str) -> str:
        return f"acc += (int){name}{index}{'' if kind in SCALARS or ' ' in kind or kind == 'short' else '.x'};"

    def store(self, place: str, kind: str) -> str:
        if kind == "float2":
            return f"{place} = make_float2(acc, idx);"
        if kind == "float4":
            return f"{place} = make_float4(acc, idx, 0.0f, 1.0f);"
        return f"{place} = acc;"

    def inside(self, lines: list[str]) -> list[str]:
        return ["    " + line for line in lines]

    def loop(self, depth: int) -> list[str]:
        i = "ijkl"[len(self.counters)] if len(self.counters) < 4 else f"i{self.loops}"
        self.loops += 1
        uniform = self.uniform
        form = self.draw.choice(("n", "n", "m", "fixed", "fixed", "stride", "halve", "tid", "down", "triangle"))
        outer = self.draw.choice(self.counters) if self.counters else "m"
        head = {
            "n": f"for (int {i} = 0; {i} < n; {i}++)",
            "m": f"for (int {i} = m; {i} < n; {i} += {self.draw.choice((1, 2, 4))})",
            "fixed": f"for (int {i} = 0; {i} < {self.draw.choice((3, 4, 8, 16))}; {i}++)",
            "stride": f"for (int {i} = idx; {i} < n; {i} += blockDim.x * gridDim.x)",
            "halve": f"for (int {i} = {self.block[0]} / 2; {i} > 0; {i} >>= 1)",
            "tid": f"for (int {i} = tx; {i} < w; {i} += blockDim.x)",
            "down": f"for (int {i} = n - 1; {i} >= 0; {i}--)",
            "triangle": f"for (int {i} = 0; {i} <= {outer}; {i}++)",
        }[form]
        self.uniform = uniform and form not in ("stride", "tid")
        exits = []
        if self.draw.random() < 0.25:
            test = self.draw.choice((f"{i} == 5", f"{i} > m", f"{i} == m", "acc > 1000", f"idx + {i} >= w"))
            word = self.draw.choice(("break", "break", "continue"))
            exits = [f"if ({test}) {word};"]
            if test.startswith(("acc", "idx")):
                self.uniform = False
        self.counters.append(i)
        body = self.body(depth + 1)
        self.counters.pop()
        self.uniform = uniform and (not exits or self.uniform or form in ("stride", "tid"))
        if exits and exits[0].endswith("continue;"):
            self.uniform = uniform
        lines = [*exits, *body] if self.draw.randint(0, 1) else [*body, *exits]
        return [f"{head} {{", *self.inside(lines), "}"]

    def branch(self, depth: int) -> list[str]:
        uniform = self.uniform
        test, same = self.test()
        self.uniform = uniform and same
        then = self.body(depth + 1)
        other = self.body(depth + 1) if self.draw.random() < 0.35 else []
        self.uniform = uniform
        lines = [f"if ({test}) {{", *self.inside(then), "}"]
        return [*lines[:-1], "} else {", *self.inside(other), "}"] if other else lines

    def test(self) -> tuple[str, bool]:
        """A condition, and whether it is the same for all threads of the block."""
        i = self.draw.choice(self.counters) if self.counters else "m"
        half = max(self.block[0] // 2, 1)
        tests = [
            ("idx < n", False),
            (f"tx < {half}", False),
            ("tx < 16", False),
            ("tx % 2 == 0", False),
            ("tx == 0", False),
            ("tx < w", False),
            (f"(tx & {self.draw.choice((1, 3, 7, 15, 31))}) == 0", False),
            ("n > m", True),
            (f"{i} < w", i == "m" or self.uniform),
            ("blockIdx.x > 0", True),
            ("idx > 0 && idx < n - 1", False),
            ("acc > 0", False),
            (f"tx < {i}", False),
            ("tx / 32 == 0", False),
        ]
        if not self.flat:
            tests += [("row < n && idx < m", False), ("ty == 0", False), ("tx < ty", False), ("row < n", False)]
        return self.draw.choice(tests)

    # --- indices ---

    def index(self) -> str:
        """An index into a global array."""
        i = self.draw.choice(self.counters) if self.counters else self.draw.choice(("0", "m", "n"))
        forms = ["idx", "idx", f"idx + {i}", f"idx * {self.draw.choice((2, 3, 4, 8))}", f"idx + {i} * n", f"{i}"]
        forms += [
            f"idx * w + {i}",
            f"{i} * blockDim.x + tx",
            "idx ^ 1",
            f"(idx + {i}) & 1023",
            f"idx % {self.block[0]}",
        ]
        forms += ["tx", f"idx / {self.draw.choice((2, 4, 32))}", f"idx + {self.draw.choice((1, 2, 32))}", "blockIdx.x"]
        forms += [
            f"tx * {self.draw.choice((2, 16, 33))} + {i}",
            f"min(idx + {i}, n - 1)",
            "n - 1 - idx",
            f"{i} + 2 * tx",
        ]
        if not self.flat:
            forms += [
                "row * n + idx",
                "idx * n + row",
                f"row * w + {i}",
                f"{i} * w + idx",
                "row * 1024 + idx",
                "row",
            ] * 2
        return self.draw.choice(forms)

    def cell(self, name: str) -> str:
        """The index of a cell of a shared array."""
        _, sizes = self.shared[name]
        i = self.draw.choice(self.counters) if self.counters else self.draw.choice(("m", "n"))
        if len(sizes) == 1:
            size = sizes[0]
            power = 1 << (size.bit_length() - 1)
            forms = ["tx", "tx", f"{size} - 1 - tx", f"(tx * {self.draw.choice((2, 3, 4, 16, 32))}) % {size}"]
            forms += [f"tx ^ {self.draw.choice((1, 2, 4))}" if size & (size - 1) == 0 else "tx", "tx / 2"]
            forms += [f"(tx + {i}) & {power - 1}", f"(tx + ({i} & 15)) % {size}", "0", f"(tx & 7) * {size // 8}"]
            forms += [f"((tx & 31) * 32 + (tx >> 5)) % {size}", f"(tx ^ ({i} & 7)) % {size}"]
            return f"[{self.draw.choice(forms)}]"
        rows, columns = sizes
        place = self.draw.choice(
            (
                ("ty", "tx"),
                ("ty", "tx"),
                (f"tx % {rows}", f"ty % {columns}"),
                ("ty", "tx ^ (ty & 3)" if columns & (columns - 1) == 0 else "tx"),
                (f"{i} & {1 if rows < 4 else 3}", "tx"),
                ("ty", f"({i} & 7) % {columns}"),
                (f"tx % {rows}", f"(tx + ty) % {columns}"),
                ("0", "tx"),
            )
        )
        return "".join(f"[{e}]" for e in place)
