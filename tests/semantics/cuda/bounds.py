"""Bounds of kernels given as text, over one warp."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Leaf, evaluate
from logic.typing import check_kernel
from semantics.cuda import read_cuda

WARP = Launch((32, 1, 1), (1, 1, 1), ())


def bound(text: str, metric: str, folder: Path, at: dict[Leaf, int] | None = None, name: str | None = None) -> Fraction:
    """The certified bound of a kernel of a text, the only one where none is named, at a point."""
    path = folder / "k.cu"
    path.write_text(text)
    kernel = read_cuda(str(path), name).kernel
    context = Context(check_kernel(kernel), METRICS[metric], HARDWARE["nvidia"], WARP)
    (found,) = find_bounds(Outline(kernel, context, bare(kernel.body)), [METRICS[metric]], Oracles())
    assert found.verdict == "certified"
    assert found.claim is not None
    return evaluate(found.claim.pre.q, at or {})
