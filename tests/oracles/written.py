"""Random C++ (`tests.oracles.programs`), compiled by g++ and run, beside what we read.

`python -m tests.oracles.written --programs 1000` tries the programs of 1,000 seeds.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from logic.metrics import METRICS
from logic.syntax import Const, Expr, Kernel, Op, Read, Stmt, Write
from semantics.cuda import CudaError, Reading, read_cuda
from semantics.cuda.parse import STD, Request, find, parse
from semantics.cuda.reader import _lower
from semantics.grid import run
from tests.oracles.classes import CELLS
from tests.oracles.programs import Writer
from tests.semantics.cuda.lowered import Lowered, at_lane
from tests.semantics.cuda.native import COMPILER

LANES: Final = 3
N: Final = 3
TABLE: Final = 64
"""Elements of the table Z."""

WRONG: Final = ("different", "fewer", "fault")
"""Verdicts on programs that we misread: other contents, fewer accesses, and an internal error."""

BEFORE: Final = f"#include <new>\n__device__ int Z[{TABLE}];\n"
_HOST: Final = """\
#include <initializer_list>
#define __device__
#define __global__ static
struct Index { unsigned x, y, z; };
Index threadIdx;
"""
_WATCH: Final = """\
#include <cstdio>
#include <cstdlib>
#include <csetjmp>
#include <csignal>
#include <initializer_list>
struct Index { unsigned x, y, z; };
extern Index threadIdx;
extern int Z[];
extern void (*kernels[])(int *, int);
static int G[LANES * CELLS + 64];
static long counts[2];
static bool counting;
static sigjmp_buf out;
static void caught(int) { siglongjmp(out, 1); }
static void *last;
static void access(int kind, void *p) {
  if (!counting || p < (void *)G || p >= (void *)(G + LANES * CELLS)) return;
  if (kind || p != last) counts[kind]++;
  last = kind ? p : nullptr;
}
extern "C" {
#define WATCH(n) void __tsan_read##n(void *p) { access(0, p); } void __tsan_write##n(void *p) { access(1, p); } \\
  void __tsan_unaligned_read##n(void *p) { access(0, p); } void __tsan_unaligned_write##n(void *p) { access(1, p); }
WATCH(1) WATCH(2) WATCH(4) WATCH(8) WATCH(16)
void __tsan_read_range(void *p, size_t n) { access(0, p); }
void __tsan_write_range(void *p, size_t n) { access(1, p); }
void __tsan_init() {} void __tsan_func_entry(void *) {} void __tsan_func_exit() {}
void __tsan_vptr_update(void *, void *) {} void __tsan_vptr_read(void *) {}
}
static char other[1 << 16];
int main() {
  stack_t s = {}; s.ss_sp = other; s.ss_size = sizeof other; sigaltstack(&s, 0);
  struct sigaction a = {}; a.sa_handler = caught; a.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (int n : {SIGILL, SIGSEGV, SIGFPE, SIGABRT, SIGALRM, SIGBUS, SIGTRAP}) sigaction(n, &a, 0);
  for (int k = 0; kernels[k]; k++) for (unsigned lane = 0; lane < LANES; lane++) {
    for (int i = 0; i < LANES * CELLS + 64; i++) G[i] = (i * 7 + i / 5) % 11;
    for (int i = 0; i < TABLE; i++) Z[i] = i % 7;
    threadIdx.x = lane;
    counts[0] = counts[1] = 0;
    alarm(2);
    if (sigsetjmp(out, 1)) { counting = false; printf("undefined\\n"); continue; }
    counting = true; last = nullptr; kernels[k](G, N); counting = false;
    alarm(0);
    printf("%ld %ld ", counts[0], counts[1]);
    for (int i = 0; i < CELLS; i++) printf("%d ", G[lane * CELLS + i]);
    for (int i = 0; i < TABLE; i++) printf("%d ", Z[i]);
    printf("\\n");
  }
}
"""


@dataclass(frozen=True, slots=True)
class Trace:
    """What one lane does: loads and stores of its cells, and what is in these and in the table in the end."""

    loads: int
    stores: int
    cells: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A seed and what became of its program, with the reason where there is one."""

    seed: int
    kind: str
    why: str = ""


def compiled(
    texts: Mapping[int, str], folder: Path, level: str = "-O0", lanes: int = LANES
) -> dict[int, list[Trace] | None]:
    """What so many lanes do in programs by the host, by their seeds: nothing for those that it does not compile, none
    for those that leave what C++ defines."""
    assert COMPILER is not None
    left = dict(texts)
    while left:
        lines, owner = [], {}
        lines += f"{_HOST}{BEFORE}".splitlines()
        for seed, text in left.items():
            for line in text.splitlines():
                lines.append(line)
                owner[len(lines)] = seed
        lines.append(f"void (*kernels[])(int *, int) = {{{', '.join(f'k{s}' for s in left)}, 0}};")
        (folder / "host.cpp").write_text("\n".join(lines) + "\n")
        flags = [
            "-fsanitize=thread",
            "-fsanitize=signed-integer-overflow,shift,bounds,integer-divide-by-zero,null,return,unreachable",
            "-fsanitize-undefined-trap-on-error",
            "-fno-threadsafe-statics",
        ]
        first = [str(COMPILER), "-std=c++17", level, "-w", "-fmax-errors=0", *flags, "-c", "host.cpp", "-o", "host.o"]
        done = subprocess.run(first, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode == 0:
            break
        bad = {
            owner[int(n)]
            for n in re.findall(r"^host\.cpp:(\d+):\d+: (?:fatal )?error", done.stderr, re.MULTILINE)
            if int(n) in owner
        }
        if not bad:
            raise RuntimeError(done.stderr[:3000])
        for s in bad:
            left.pop(s)
    if not left:
        return dict.fromkeys(texts)
    given = [f"-D{name}={n}" for name, n in (("LANES", lanes), ("CELLS", CELLS), ("N", N), ("TABLE", TABLE))]
    (folder / "watch.cpp").write_text(_WATCH)
    subprocess.run(
        [str(COMPILER), "-O0", *given, "watch.cpp", "host.o", "-o", "host"], cwd=folder, check=True, timeout=600
    )
    out = subprocess.run([folder / "host"], capture_output=True, check=True, timeout=600).stdout.decode().splitlines()
    found: dict[int, list[Trace] | None] = dict.fromkeys(texts)
    for i, seed in enumerate(left):
        here = out[lanes * i : lanes * (i + 1)]
        if "undefined" in here:
            found[seed] = []
            continue
        numbers = [list(map(int, line.split())) for line in here]
        found[seed] = [Trace(v[0], v[1], tuple(v[2:])) for v in numbers]
    return found


_FAR: Final = 1 << 20
"""The bytes from the middle of one array to that of the next, where pointers are numbers."""


class Counting(Lowered):
    """The same, with the loads and stores of G, an address of its own for each allocation, and one for arrays, at which
    their integers are to be found, too."""

    def __init__(self, parameters: Mapping[str, int], arrays: Sequence[str] = ()) -> None:
        super().__init__(parameters)
        self.loads = self.stores = 0
        self.arrays = arrays

    def value(self, e: Expr) -> int | bool:
        match e:
            case Op("int", (Op("call:allocated"),)):
                self.names["allocations"] = int(self.names.get("allocations", 0)) + 1
                return 1000 * int(self.names["allocations"])
            case Op("int", (Op("call:address", (_, Const(int(which)))),)):
                return (which + 1) * _FAR // 256
            case Read(array, index):
                array, i = self.found(array, index)
                self.loads += array == "G"
                return self.cell(array, i)
        return super().value(e)

    def run(self, s: Stmt) -> None:
        match s:
            case Write(array, index, e):
                array, i = self.found(array, index)
                self.stores += array == "G"
                self.cells[array, i] = int(self.value(e))
            case _:
                super().run(s)

    def found(self, array: str, index: Expr) -> tuple[str, int]:
        """The array and the index of an element."""
        i = int(self.value(index))
        which, at = divmod(i + _FAR // 8, _FAR // 4)
        known = array == "memory.int32" and 0 < which <= len(self.arrays)
        return (self.arrays[which - 1], at - _FAR // 8) if known else (array, i)


def _numbered(reading: Reading, path: Path) -> list[str]:
    """The arrays of a program whose addresses are numbers, by these; "" for another number."""
    if not any(a.name == "memory.int32" for a in reading.kernel.arrays):
        return []
    request = Request(str(path), (), (), STD, None, None)
    parsed = parse(request)
    numbers = _lower(parsed, find(parsed, request, reading.kernel.name))[1].numbers
    return [name.removeprefix("address of ") if "address of " in name else "" for name in numbers]


def lowered(reading: Reading, path: Path) -> list[Trace]:
    """What each lane does in the program as it is read, one after another."""
    kernel, found, arrays = reading.kernel, list[Trace](), _numbered(reading, path)
    for lane in range(LANES):
        state = Counting(at_lane(kernel, lane, N, LANES), arrays)
        for i in range(LANES * CELLS + 64):
            state.cells["G", i] = (i * 7 + i // 5) % 11
        for i in range(TABLE):
            state.cells["Z", i] = i % 7
        state.cells |= {(name, i): v for name, values in reading.tables.items() for i, v in enumerate(values)}
        state.run(kernel.body)
        cells = [state.cell("G", lane * CELLS + i) for i in range(CELLS)] + [state.cell("Z", i) for i in range(TABLE)]
        found.append(Trace(state.loads, state.stores, tuple(map(int, cells))))
    return found


def together(kernel: Kernel) -> list[tuple[int, ...]]:
    """The cells of all lanes in the end, run as one warp."""
    given = {"G": [(i * 7 + i // 5) % 11 for i in range(LANES * CELLS + 64)]}
    args = {d.name: N for d in kernel.params}
    result = run(kernel, (LANES, 1, 1), (1, 1, 1), args, given, (METRICS["sectors"],))
    return [tuple(int(result.arrays["G"][lane * CELLS + i]) for i in range(CELLS)) for lane in range(LANES)]


def judged(seed: int, path: Path, theirs: Sequence[Trace]) -> Verdict:
    """The verdict on one program of a file, by what the host makes of it."""
    try:
        reading = read_cuda(str(path), f"k{seed}")
    except CudaError as e:
        return Verdict(seed, "refused", e.message)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as e:
        return Verdict(seed, "fault", repr(e))  # what a person would see as an internal error
    if reading.facts:
        return Verdict(seed, "facts")
    try:
        ours = lowered(reading, path)
    except (NotImplementedError, KeyError) as e:  # a function of which our semantics knows no value
        return Verdict(seed, "opaque", str(e)[:80])
    for lane, (a, b) in enumerate(zip(theirs, ours, strict=True)):
        if a.cells != b.cells:
            i = next(i for i in range(len(a.cells)) if a.cells[i] != b.cells[i])
            return Verdict(seed, "different", f"lane {lane} cell {i}: {b.cells[i]}, not {a.cells[i]}")
        if b.loads < a.loads or b.stores < a.stores:
            return Verdict(
                seed, "fewer", f"lane {lane}: {b.loads} loads and {b.stores} stores, not {a.loads} and {a.stores}"
            )
    names = {a.name for a in reading.kernel.arrays}
    if names <= {"G"}:
        for lane, (a, cells) in enumerate(zip(theirs, together(reading.kernel), strict=True)):
            if a.cells[:CELLS] != cells:
                return Verdict(seed, "different", f"lane {lane} in a warp")
    same = all((a.loads, a.stores) == (b.loads, b.stores) for a, b in zip(theirs, ours, strict=True))
    return Verdict(seed, "equal" if same else "more")


def tried(seeds: Sequence[int], folder: Path) -> list[Verdict]:
    """The verdicts on the programs of some seeds, which are compiled at once."""
    texts = {seed: Writer(seed).program() for seed in seeds}
    host = compiled(texts, folder)
    path = folder / "batch.cu"
    good = {s: t for s, t in texts.items() if host[s]}
    path.write_text(BEFORE + "".join(good.values()))
    found = []
    for seed in seeds:
        theirs = host[seed]
        if not theirs:
            found.append(Verdict(seed, "invalid" if theirs is None else "undefined"))
            continue
        verdict = judged(seed, path, theirs)
        if verdict.kind == "fewer":  # g++ finds some places twice, unless it optimises
            again = compiled({seed: texts[seed]}, folder, "-O1")[seed]
            verdict = judged(seed, path, again) if again else verdict
        found.append(verdict)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=200, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--refusals", action="store_true")
    args = parser.parse_args()
    start, kinds, why = time.process_time(), Counter[str](), Counter[str]()
    for first in range(args.first, args.first + args.programs, 25):
        seeds = range(first, min(first + 25, args.first + args.programs))
        with tempfile.TemporaryDirectory() as folder:
            for v in tried(seeds, Path(folder)):
                kinds[v.kind] += 1
                if v.kind in WRONG:
                    print(f"{v.seed}: {v.kind}: {v.why}", flush=True)
                if v.kind in ("refused", "opaque"):
                    why[re.sub(r"'[^']*'", "_", v.why)] += 1
    print(f"{sum(kinds.values())} programs in {time.process_time() - start:.0f} s: {dict(kinds)}")
    if args.refusals:
        for words, n in why.most_common(40):
            print(n, words)
    return 1 if any(kinds[kind] for kind in WRONG) else 0


if __name__ == "__main__":
    sys.exit(main())
