"""GPUDrano (Alur et al., CAV 2017): Figs. 1, 2 and 4, and the theorem of section 4.3, as the paper has them."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.analysis.coalescing.access import Key, best_placed, keys, with_lines
from checker.analysis.coalescing.exact import analyse
from checker.analysis.coalescing.gpudrano import merged, reported
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics import grid
from semantics.cuda import read_cuda
from semantics.events import Event
from semantics.lockstep import Initial, StepLimit
from tests.checker.analysis.coalescing.test_soundness import Programs
from tests.examples import examples

PROOFS = Path(__file__).parents[2] / "proofs"


def of(kernel: Kernel) -> set[tuple[str, str]]:
    """What is reported, by kind and array."""
    return {(kind, array) for _, kind, array in reported(kernel)}


@pytest.mark.parametrize(("index", "found"), [("0", set()), ("tid", set()), ("8 * tid", {("load", "array")})])
def test_fig_1(tmp_path: Path, index: str, found: set[tuple[str, str]]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(const int *array, int *out) {\n"
        f"  int tid = blockIdx.x * blockDim.x + threadIdx.x;\n  int a = array[{index}];\n  out[tid] = a;\n}}\n"
    )
    assert of(read_cuda(str(path)).kernel) == found


def test_fig_2a() -> None:
    """A[xy] and M[xt] are reported, and nothing else."""
    kernel = read_cuda(str(PROOFS / "fan2/kernel.cu")).kernel
    assert of(kernel) == {("load", "A"), ("store", "A"), ("load", "M")}
    assert {loc.line for loc, _, array in reported(kernel) if array == "A"} == {13}
    assert len(reported(kernel)) == 4  # A[xy] twice, M[xt] on two lines: A[ty] and B are not among them


def test_fig_2b() -> None:
    """Nothing is reported in the repaired kernel."""
    assert of(read_cuda(str(PROOFS / "fan2Fixed/kernel.cu")).kernel) == set()


@pytest.mark.parametrize(
    ("name", "uncoalesced", "misaligned"), [("fan2", {"A", "M"}, {"B"}), ("fan2Fixed", set(), {"A"})]
)
def test_fig_2_exactly(name: str, uncoalesced: set[str], misaligned: set[str]) -> None:
    """The exact domain adds what only alignment costs: B[x] as printed, A[xy] and A[ty] in the repaired kernel."""
    kernel = read_cuda(str(PROOFS / name / "kernel.cu")).kernel
    context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], Launch((256, 1, 1)))
    found = analyse(kernel, context).findings
    assert {f.access.array.name for f in found if f.verdict == "uncoalesced"} == uncoalesced
    assert {f.access.array.name for f in found if f.verdict == "misaligned"} == misaligned
    assert all(f.verdict != "unknown" for f in found)


def test_fig_4_ite() -> None:
    """Phi joins where the predicate does not depend on tid, and gives TOP to what is assigned where it does."""
    one, two = {"l": "1", "m": "0"}, {"l": "1", "m": "1"}
    assert merged("TF", one, two, frozenset("lm")) == {"l": "1", "m": "top"}
    assert merged("FF-", one, two, frozenset("lm")) == {"l": "top", "m": "top"}
    assert merged("FF-", one, one, frozenset()) == one


def test_fig_4_while(tmp_path: Path) -> None:
    """The fixpoint: y is 0 in the first turn, and what the loop makes of it in the next ones."""
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *a, float *b, int n) {\n  int tid = threadIdx.x, y = 0;\n"
        "  while (n > 0) { a[y] = 1; b[tid] = 1; y = y + tid; }\n}\n"
    )
    assert of(read_cuda(str(path)).kernel) == {("store", "a")}


class Ranges:
    """An observer: the accesses that some warp needs more than one line for wherever they are placed."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.keys, self.found = kernel, keys(kernel), set[Key]()
        self.arrays = {a.name: a for a in kernel.arrays}

    def __call__(self, event: Event) -> None:
        key = self.keys.get(id(event.term))
        if key is None or self.arrays[key[2]].space != "global":
            return
        array = self.arrays[key[2]]
        first = {array.stride * i + array.offset for i in event.indices}
        if best_placed(first, array.width, LINES) > 1:
            self.found.add(key)


LINES = with_lines(HARDWARE["nvidia"])


@examples(30, 2000)
@given(st.integers(0, 10**6), st.sampled_from([(32, 1, 1), (64, 1, 1), (33, 1, 1)]))
def test_theorem_4_3(seed: int, block: tuple[int, int, int]) -> None:
    """No range-based uncoalesced access is missed, in kernels over threadIdx.x."""
    rng = random.Random(seed)
    kernel = Programs(rng, x_only=True).kernel()
    ranges = Ranges(kernel)
    some = Initial(lambda i: random.Random(seed + i).choice((0, 1, 5, 31, 100, -7)))
    args = {"n": rng.choice((0, 1, 2, 31, 64)), "m": rng.choice((0, 1, 3, 32, -5))}
    with contextlib.suppress(StepLimit):
        grid.run(kernel, block, (2, 1, 1), args, {"I": some, "C": some}, (), HARDWARE["nvidia"], 300, ranges)
    assert ranges.found <= reported(kernel)


def test_the_theorem_needs_one_dimension(tmp_path: Path) -> None:
    """Section 6: what depends on threadIdx.y is missed where rows of the block are short."""
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(float *a, int n) { a[threadIdx.y * n + threadIdx.x] = 1; }\n")
    kernel = read_cuda(str(path)).kernel
    ranges = Ranges(kernel)
    grid.run(kernel, (8, 8, 1), (1, 1, 1), {"n": 100}, {}, (), HARDWARE["nvidia"], 300, ranges)
    assert ranges.found
    assert not reported(kernel)
