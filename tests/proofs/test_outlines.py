"""Every outline under proofs/ is about its kernel as the front end reads it, is accepted, and bounds what runs cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.check import judge
from checker.kernel import Claim
from checker.notation import parse_outline
from logic.potentials import evaluate
from logic.rules import SOUND
from logic.syntax import Param, same
from semantics.cuda import read_cuda
from semantics.grid import run

ROOT = Path(__file__).parents[2] / "proofs"
OUTLINES = sorted(ROOT.glob("*/*.qhl"))
POINTS = [{"w": w, "h": h, "numElements": n} for w, h, n in ((5, 7, 300), (0, 1, 0), (8, 8, 256), (33, 2, 40))]

ROW_0_IS_ALIGNED = {"addSub2": 2, "addSub3": 2}
"""The bounds take every row as misaligned; row 0 never is, and is read and written with one sector less each."""


def test_there_are_outlines() -> None:
    assert {path.parent.name for path in OUTLINES} >= {"vectorAdd", "addSub0", "addSub1", "addSub2", "addSub3"}


@pytest.mark.parametrize("path", OUTLINES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_outline(path: Path) -> None:
    outline = parse_outline(path.read_text(), str(path))
    kernel = read_cuda(str(path.parent / "kernel.cu")).kernel
    assert same(outline.kernel.body, kernel.body)
    claim = judge(outline, SOUND).outcome
    assert isinstance(claim, Claim)
    assert claim.unconditional
    block = outline.context.launch.block
    assert None not in block
    slack = set()
    for point in POINTS:
        args = {d.name: point[d.name] for d in kernel.params}
        paid = run(kernel, block, (2, 1, 1), args).max_per_warp[outline.context.metric.name]  # type: ignore[arg-type]
        bound = evaluate(claim.pre.q, {Param(name): v for name, v in args.items()})
        assert paid <= bound
        slack.add(bound - paid)
    assert min(slack) <= ROW_0_IS_ALIGNED.get(path.parent.name, 0)
