"""What statements of C++ do to arrays of integers, by a host compiler and as lowered: one thread after another, each by
itself. It shares nothing with the front end."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.lowered import Lowered, at_lane

COMPILER: Final = shutil.which("g++")
LANES: Final = 4
CELLS: Final = 64
TOGETHER: Final = 20
"""Kernels that are read from one file, of which most is the same: it is parsed once for all of them."""
N: Final = 3
"""The kernel's argument n."""

SIGNATURE: Final = "int *A, int *B, int n"
_HOST: Final = f"""\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __restrict__
struct Index {{ unsigned x, y, z; }};
static Index threadIdx, blockIdx = {{2, 0, 0}}, blockDim = {{{LANES}, 1, 1}}, gridDim = {{5, 1, 1}};
static int A[{CELLS}], B[{CELLS}];
"""
_MAIN: Final = """\
int main() {{
  void (*kernels[])({signature}) = {{ {names} }};
  for (auto kernel : kernels) for (int lane = 0; lane < {lanes}; lane++) {{
    for (int i = 0; i < {cells}; i++) A[i] = {a}, B[i] = {b};
    threadIdx.x = lane;
    kernel(A, B, {n});
    for (int i = 0; i < {cells}; i++) printf("%d %d ", A[i], B[i]);
    printf("\\n");
  }}
}}
"""
_A: Final = "i"
_B: Final = "(i * 7 + i / 5) % 11"

Cells = list[tuple[int, int]]
"""A and B, element by element."""


def hosted(before: str, bodies: Sequence[str], folder: Path, std: str = "c++17") -> list[list[Cells]]:
    """What A and B hold in the end, for each body and lane, all compiled at once."""
    assert COMPILER is not None
    names = ", ".join(f"k{i}" for i in range(len(bodies)))
    kernels = "".join(f"static void k{i}({SIGNATURE}) {{ {body} }}\n" for i, body in enumerate(bodies))
    after = _MAIN.format(signature=SIGNATURE, names=names, lanes=LANES, cells=CELLS, a=_A, b=_B, n=N)
    (folder / "native.cpp").write_text(_HOST + before + kernels + after)
    command = [COMPILER, f"-std={std}", "-O0", "-w", "-fpermissive", "-o", "native", "native.cpp"]
    subprocess.run(command, cwd=folder, check=True, timeout=300)
    out = subprocess.run([folder / "native"], capture_output=True, check=True, timeout=60).stdout
    lines = [list(map(int, line.split())) for line in out.decode().splitlines()]
    cells = [list(zip(line[::2], line[1::2], strict=True)) for line in lines]
    return [cells[i : i + LANES] for i in range(0, len(cells), LANES)]


def lowered(
    read: Callable[..., Reading], before: str, body: str, std: str = "c++17", machine: type[Lowered] = Lowered
) -> list[Cells]:
    """The same of the lowered kernel."""
    return executed(read(f"{before}\n__global__ void k({SIGNATURE}) {{ {body} }}", "k", std=std), machine)


def executed(reading: Reading, machine: type[Lowered] = Lowered) -> list[Cells]:
    """What A and B hold in the end, for each lane."""
    kernel, found = reading.kernel, []
    for lane in range(LANES):
        state = machine(at_lane(kernel, lane, N, LANES, block=2, blocks=5))
        for i in range(CELLS):
            state.cells["A", i], state.cells["B", i] = i, (i * 7 + i // 5) % 11
        state.cells |= {(name, i): v for name, values in reading.tables.items() for i, v in enumerate(values)}
        state.run(kernel.body)
        found.append([(state.cell("A", i), state.cell("B", i)) for i in range(CELLS)])
    return found


def differences(
    read: Callable[..., Reading],
    before: str,
    bodies: Sequence[str],
    folder: Path,
    std: str = "c++17",
    machine: type[Lowered] = Lowered,
) -> list[str]:
    """Bodies that leave something else than a host compiler has, with the first lane and cell that differ."""
    found = []
    for i, (body, lanes) in enumerate(zip(bodies, hosted(before, bodies, folder, std), strict=True)):
        first = i - i % TOGETHER
        beside = enumerate(bodies[first : first + TOGETHER], first)
        kernels = (f"\n__global__ void k{j}({SIGNATURE}) {{ {other} }}" for j, other in beside)
        try:
            ours = executed(read(before + "".join(kernels), f"k{i}", std=std), machine)
        except CudaError as e:
            found.append(f"{body} {e}")
            continue
        for lane, (theirs, own) in enumerate(zip(lanes, ours, strict=True)):
            other = [f"cell {i}: {b}, not {a}" for i, (a, b) in enumerate(zip(theirs, own, strict=True)) if a != b]
            if other:
                found.append(f"{body} lane {lane}: {other[0]}")
                break
    return found
