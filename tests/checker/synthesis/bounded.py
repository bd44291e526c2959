"""Bounds of programs that tests write as bodies: of outlines, and of kernels in CUDA C."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.synthesis.bound import Per, Result, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Dim, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Poly
from logic.syntax import Kernel
from logic.typing import check_kernel
from semantics.cuda import read_cuda

HEADER = """\
kernel k
metric sectors
block 32
param int n, m, k;
global int A[];
local int x, y, z; local bool go;
begin
"""


def result(body: str, given: str = "", block: str = "32", per: Per = "warp", metric: str = "sectors") -> Result:
    header = HEADER.replace("block 32", f"block {block}")
    if given:
        header = header.replace("begin", f"requires {given}; begin")
    outline = parse_outline(f"{header}{body}\nend", "k.qhl")
    (found,) = find_bounds(outline, (METRICS[metric],), Oracles(), per=per)
    return found


def bounds(k: Kernel, block: Dim, names: Sequence[str] = tuple(METRICS), launch: Launch | None = None) -> list[Result]:
    """The bounds of a kernel for a warp, by metric."""
    context = Context(check_kernel(k), METRICS["steps"], HARDWARE["nvidia"], launch or Launch(block))
    return find_bounds(Outline(k, context, bare(k.body)), [METRICS[n] for n in names], Oracles())


def rechecked(found: Result) -> str:
    """What the second checker said of a bound."""
    assert found.second is not None, found.problem
    return found.second.report.verdict


def valid(found: Result) -> Poly:
    """A bound that the second checker calls valid."""
    assert rechecked(found) == "valid"
    assert found.claim is not None
    return found.claim.pre.q


def of_body(folder: Path, body: str) -> Kernel:
    """A kernel in CUDA C that runs a body, in which t is the thread and x is 0 at first."""
    path = folder / "k.cu"
    path.write_text(f"__global__ void k(int *A, int *B, int n, int m) {{ int t = threadIdx.x, x = 0; {body} }}")
    return read_cuda(str(path)).kernel


def storing(folder: Path, body: str) -> Kernel:
    """One that stores x, 4 sectors a warp, where it gets there."""
    return of_body(folder, f"{body} B[t] = x;")
