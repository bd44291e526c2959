"""What is said to mend an access was tried: on the program, which is analysed again, and in runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from checker.analysis.coalescing import layouts
from checker.analysis.coalescing import remedies as module
from checker.analysis.coalescing.exact import analyse
from checker.analysis.coalescing.observed import observe
from checker.analysis.coalescing.remedies import Tried, remedies
from checker.notation import parse_assumption
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics import grid
from semantics.cuda import read_cuda

Block = tuple[int, int, int]
LINE: Final = (32, 1, 1)
SQUARE: Final = (32, 32, 1)


def tried(folder: Path, body: str, block: Block, facts: Sequence[str] = ()) -> tuple[Kernel, dict[str, Tried]]:
    """The best remedies of a kernel, by the text that is told."""
    kernel, found = every(folder, body, block, facts)
    return kernel, {several[0].text: several[0] for several in found}


HEAD: Final = "int t = threadIdx.x, y = threadIdx.y;"


def every(
    folder: Path, body: str, block: Block, facts: Sequence[str] = (), head: str = HEAD
) -> tuple[Kernel, list[list[Tried]]]:
    """All remedies of a kernel, by access."""
    path = folder / "k.cu"
    parameters = "float *A, const float *B, const double *D, int *I, float3 *V, int n, int m"
    path.write_text(f"__global__ void k({parameters}) {{\n{head}\n{body}\n}}\n")
    reading = read_cuda(str(path))
    sigma = check_kernel(reading.kernel)
    given = conj((parse_assumption(f, sigma, "--assume") for f in facts), sigma)
    context = Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], Launch(block, assumptions=given))
    found = remedies(analyse(reading.kernel, context), reading.kernel, context, reading.rows)
    return reading.kernel, [*found.values()]


HELPS: Final[dict[str, tuple[Block, str]]] = {
    "__shared__ float s[32][32]; s[t][0] = 1;": (LINE, "pad the rows of s to 33: conflicts 31 -> 0 an access"),
    "__shared__ float s[32][32]; for (int k = 0; k < 32; k++) s[k][t] += s[t][k];": (
        LINE,
        "pad the rows of s to 33: conflicts 31 -> 0 an access",
    ),
    "__shared__ float s[32][32]; s[t][y] = A[t]; A[y] = s[t][y];": (
        SQUARE,
        "pad the rows of s to 33: conflicts 31 -> 0 an access",
    ),
    "__shared__ float s[16][16]; s[t][y] = 1;": ((16, 16, 1), "pad the rows of s to 18: conflicts 7 -> 0 an access"),
    "__shared__ float s[1024]; s[32 * t] = 1;": (
        LINE,
        "leave one element free after every 32: s[i + i / 32] for s[i]: conflicts 31 -> 0 an access",
    ),
    "__shared__ char s[4096]; s[128 * t] = 1;": (
        LINE,
        "leave 4 elements free after every 128: s[i + i / 128 * 4] for s[i]: conflicts 31 -> 0 an access",
    ),
    "__shared__ float s[4][33]; if (t < 4) for (int k = 0; k < n; k++) s[t][k % 32] = 1;": (LINE, ""),
    "__shared__ float s[64][64]; s[t][n] = 1;": (LINE, "pad the rows of s to 65: conflicts 31 -> 0 an access"),
    "V[t].y = 1;": (LINE, "a structure of arrays: lines 3 -> 1 an access"),
    "A[t * n + y] = 1;": (SQUARE, "swap x and y of the threads: lines 32 -> 2 an access"),
    "A[t + n] = 1;": (LINE, "let n be a multiple of 32: lines 2 -> 1 an access"),
    "A[y * n + t] = 1;": (SQUARE, "let n be a multiple of 32: lines 2 -> 1 an access"),
    "A[I[t]] = 1;": (LINE, ""),
    "A[8 * t] = 1;": (LINE, ""),
    "A[0] = B[4*t] + B[4*t+1] + B[4*t+2] + B[4*t+3];": (
        LINE,
        "read the 4 neighbours in B at once, as float4: lines 16 -> 4 for the 4 accesses",
    ),
    "float b = B[2*t]; A[t] = b; A[t] = b * B[2*t+1];": (
        LINE,
        "read the 2 neighbours in B at once, as float2: lines 4 -> 2 for the 2 accesses",
    ),
    "A[t] = B[2*t+1] * B[2*t+2];": (LINE, ""),  # no float2 starts there
    "float b = B[2*t]; t++; A[t] = b * B[2*t+1];": (LINE, ""),
    "float b = B[2*t]; t = n; A[y] = b * B[2*t+1];": (LINE, ""),
    "float b = B[2*t]; if (n > 3) A[y] = b * B[2*t+1];": (LINE, ""),
    "float b = B[2*t]; __syncthreads(); A[y] = b * B[2*t+1];": (LINE, ""),
    "A[y] = A[2*t] + A[2*t+1];": (LINE, ""),  # which the kernel writes
    "A[y] = D[4*t] + D[4*t+1] + D[4*t+2] + D[4*t+3];": (
        LINE,
        "read the 2 neighbours in D at once, as double2: lines 16 -> 8 for the 2 accesses",
    ),
    "__shared__ float s[99][32]; s[n * t][0] = 1;": (LINE, ""),  # 33 n apart: where n is even, that is no better
}


@pytest.mark.parametrize(("body", "wanted"), HELPS.items())
def test_what_helps_is_told_with_by_how_much(body: str, wanted: tuple[Block, str], tmp_path: Path) -> None:
    block, text = wanted
    _, found = tried(tmp_path, body, block)
    assert list(found) == ([text] if text else [])


MADE: Final = [body for body, (_, text) in HELPS.items() if text and not text.startswith(("let", "swap", "read"))]


@pytest.mark.parametrize("body", MADE)
def test_a_program_that_was_mended_does_and_needs_what_is_said(body: str, tmp_path: Path) -> None:
    """In a run: the same in global memory, and no more transactions than were told."""
    block = HELPS[body][0]
    kernel, found = tried(tmp_path, body, block)
    (told,) = found.values()
    values = {"n": 5, "m": 3}
    before, after = (
        grid.run(k, block, (1, 1, 1), values, {"A": [1.0] * 4096, "I": [0] * 64}).arrays
        for k in (kernel, told.remedy.kernel)
    )
    assert before == after
    seen = observe(told.remedy.kernel, block, (1, 1, 1), values, {}, HARDWARE["nvidia"])
    most = max(o.most for o in seen.values())
    assert most <= told.after + (told.what == "conflicts")


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [(372, ["pad", "swap", "swizzle"]), (373, ["swap", "swizzle"])],  # 372*33*4 + 32 bytes fit into 49,152
)
def test_a_padded_array_that_does_not_fit_is_no_remedy(rows: int, kinds: list[str], tmp_path: Path) -> None:
    body = f"__shared__ float s[{rows}][32]; __shared__ char c[29]; c[t] = 0; s[t][0] = 1;"
    _, (several,) = every(tmp_path, body, LINE)
    assert [told.remedy.kind for told in several] == kinds


def test_what_a_remedy_assumes_is_said(tmp_path: Path) -> None:
    def assumed(body: str, block: Block = LINE) -> dict[str, tuple[str, ...]]:
        _, found = every(tmp_path, body, block)
        return {told.remedy.kind: told.remedy.assumes for told in found[0]}

    row = "no index of s leaves its row"
    assert assumed("__shared__ float s[32][32]; s[t][0] = 1;") == {
        "pad": (row, "4224 bytes of shared memory are there for the kernel (4096 before)"),
        "swap": (row,),
        "swizzle": (row,),
    }
    assert assumed("extern __shared__ float s[]; s[32 * t] = 1;") == {
        "pad": ("the launch gives s as much more shared memory, which is there",),
        "swizzle": ("s has a multiple of 32 elements",),
    }
    assert assumed("A[t * n + y] = 1;", SQUARE)["threads"] == (
        "the grid is launched with x and y swapped",
        layouts.RACES,
    )
    assert assumed("A[0] = B[2*t] + B[2*t+1];")["vector"] == ("what the kernel writes is no part of B",)
    assert assumed("V[t].y = 1;")["arrays"] == ("all that fills or reads V has it so, too",)
    assert assumed("A[t + n] = 1;")["align"] == ("every launch passes such n",)


def test_what_makes_another_access_dearer_is_no_remedy(tmp_path: Path) -> None:
    """Rows of 33 are good for columns and for rows; swapped indices would only change sides."""
    _, found = tried(tmp_path, "__shared__ float s[32][32]; s[t][0] = 1; s[0][t] = 2;", LINE)
    assert list(found) == ["pad the rows of s to 33: conflicts 31 -> 0 an access"]


def test_swapped_indices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where padding is not tried, and nothing else reads the array by rows."""
    relaid = layouts._relaid
    monkeypatch.setattr(layouts, "_relaid", lambda *x: (r for r in relaid(*x) if r.kind == "swap"))
    kernel, found = tried(tmp_path, "__shared__ float s[32][64]; s[t][y] = A[t]; A[t] = s[t][y];", SQUARE)
    (told,) = found.values()
    assert told.text == "swap the indices of s: conflicts 31 -> 0 an access"
    runs = [
        grid.run(k, SQUARE, (1, 1, 1), {"n": 1, "m": 1}, {"A": [float(i) for i in range(32)]}).arrays
        for k in (kernel, told.remedy.kernel)
    ]
    assert runs[0] == runs[1]
    _, both = tried(tmp_path, "__shared__ float s[32][32]; s[t][y] = 1; s[y][t] = 2;", SQUARE)
    assert both == {}


SWIZZLED: Final = {
    "__shared__ float s[32][32]; s[t][3] = A[t]; A[t + 32] = s[t][3];": (
        LINE,
        "swizzle s: column c ^ r % 32 for column c of row r: conflicts 31 -> 0 an access",
    ),
    "__shared__ double s[32][32]; s[t][3] = A[t]; A[t + 32] = s[t][3];": (
        LINE,
        "swizzle s: column c ^ r % 32 for column c of row r: conflicts 31 -> 1 an access",
    ),
    "__shared__ float s[1024]; s[32 * t] = A[t]; A[t + 32] = s[32 * t];": (
        LINE,
        "swizzle s: s[i ^ i / 32 % 32] for s[i]: conflicts 31 -> 0 an access",
    ),
}


@pytest.mark.parametrize(("body", "wanted"), SWIZZLED.items())
def test_columns_are_moved_within_their_rows(body: str, wanted: tuple[Block, str], tmp_path: Path) -> None:
    """That takes no room, and the program computes the same."""
    block, text = wanted
    kernel, found = every(tmp_path, body, block)
    told = next(t for several in found for t in several if t.remedy.kind == "swizzle")
    assert told.text == text
    assert [a.length for a in told.remedy.kernel.arrays] == [a.length for a in kernel.arrays]
    values, data = {"n": 5, "m": 3}, {"A": [float(i) for i in range(64)]}
    before, after = (grid.run(k, block, (1, 1, 1), values, data).arrays for k in (kernel, told.remedy.kernel))
    assert before["A"] == after["A"]
    seen = observe(told.remedy.kernel, block, (1, 1, 1), values, {}, HARDWARE["nvidia"])
    assert max(o.most for o in seen.values() if o.verdict != "coalesced") <= told.after + 1


def test_an_array_that_is_accessed_in_two_widths_is_not_laid_out_anew(tmp_path: Path) -> None:
    """Indices of the one are not those of the other."""
    for body in (
        "__shared__ float s[32][32]; s[t][0] = 1; float4 v = *(float4 *)&s[t][4]; A[t] = v.x;",
        "V[t].x = 1; float *q = (float *)V; A[t] = q[3 * t];",
        "V[t].x = 1; A[t] = ((int2 *)V)[3 * t].y;",
    ):
        _, found = every(tmp_path, body, LINE)
        assert found == []


@pytest.mark.parametrize(
    ("members", "text"), [("float f; int i;", "a structure of arrays"), ("float f; double d;", "")]
)
def test_members_of_a_union_stay_in_one_place(members: str, text: str, tmp_path: Path) -> None:
    other = members.split()[3].rstrip(";")
    path = tmp_path / "k.cu"
    path.write_text(
        f"struct U {{ union {{ {members} }}; int more; }};\n"
        f"__global__ void k(U *u, float *A) {{ int t = threadIdx.x; u[t].{other} = 2; A[t] = u[t].f; }}"
    )
    kernel = read_cuda(str(path)).kernel
    context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], Launch(LINE))
    found = remedies(analyse(kernel, context), kernel, context, {})
    assert {t.remedy.text for several in found.values() for t in several} == ({text} if text else set())


SHAPED: Final = {
    "if (gx < n) A[gy * n + gx] = B[gy * n + gx];": (
        "launch blocks of 32 x 8, in a grid of as many threads: lines 4 -> 2 an access"
    ),
    "if (threadIdx.x < n) A[gy * n + gx] = B[gy * n + gx];": "",
    "__shared__ float s[256]; s[0] = 1; A[gy * n + gx] = B[gy * n + gx];": "",
    "A[gy * n + gx] = B[gy * n + gx] + blockDim.x;": "",
    "A[gy * n + gx] = __shfl_xor_sync(~0u, B[gy * n + gx], 1);": "",
    "A[gy * n + gx] = 1; __syncthreads();": "",
}


@pytest.mark.parametrize(("body", "text"), SHAPED.items())
def test_blocks_of_another_shape(body: str, text: str, tmp_path: Path) -> None:
    """Where a thread only asks for its place in the grid; the run of it computes the same."""
    block = (16, 16, 1)
    head = "int gx = blockIdx.x * blockDim.x + threadIdx.x, gy = blockIdx.y * blockDim.y + threadIdx.y;"
    kernel, found = every(tmp_path, body, block, head=head)
    told = {t.text: t for several in found for t in several if t.remedy.kind == "block"}
    assert list(told) == ([text] if text else [])
    if text:
        x, y, _ = told[text].remedy.context.launch.block
        values, data = {"n": 64, "m": 3}, {"B": [float(i) for i in range(4096)]}
        before, after = (
            grid.run(kernel, sizes, blocks, values, data).arrays["A"]
            for sizes, blocks in ((block, (4, 4, 1)), ((x or 0, y or 0, 1), (64 // (x or 1), 64 // (y or 1), 1)))
        )
        assert before == after


def test_a_launch_that_there_is_not_is_no_remedy(tmp_path: Path) -> None:
    _, found = tried(tmp_path, "A[t + n] = 1;", LINE, ["n % 32 == 5"])
    assert found == {}


def test_threads_are_not_swapped_where_lanes_pass_values(tmp_path: Path) -> None:
    body = "A[t * n + y] = __shfl_xor_sync(~0u, B[t], 1);"
    _, found = every(tmp_path, body, SQUARE)
    assert not any(t.remedy.kind == "threads" for several in found for t in several)


def test_threads_are_not_swapped_under_assumptions(tmp_path: Path) -> None:
    _, found = tried(tmp_path, "A[t * n + y] = 1;", SQUARE, ["n >= 32"])
    assert not any(text.startswith("swap") for text in found)


def test_a_remedy_that_cannot_be_analysed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("too large")

    body = "__shared__ float s[32][32]; s[t][0] = 1;"
    kernel, found = tried(tmp_path, body, LINE)
    assert len(found) == 1
    context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], Launch(LINE))
    analysis = analyse(kernel, context)
    monkeypatch.setattr(module, "analyse", fails)
    assert remedies(analysis, kernel, replace(context), {}) == {}
