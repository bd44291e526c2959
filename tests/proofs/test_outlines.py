"""Every outline under proofs/ is about its kernel as the front end reads it, both checkers accept it, and it bounds
what runs cost, tightly."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from checker.cli import main
from checker.recheck import recheck
from logic.potentials import evaluate
from logic.syntax import Kernel, Param, same
from proofs.make import BLOCKS, ROOT, completed, read_outline, text_of, written, written_row
from semantics.cuda import read_cuda
from semantics.vectorised import run
from tests.examples import LONG

OUTLINES = written()
LATER = {"mandelbrot0/sectors"}
"""Dear ones that only the long run completes: `make proofs` does, too, and their certificates are judged anyway."""
EXTENTS = ((5, 7), (0, 1), (8, 8), (33, 2))
SIZES = (5, 300, 520)
POINTS: dict[str, list[dict[str, int]]] = {
    **{f"addSub{k}": [{"w": w, "h": h} for w, h in EXTENTS] for k in range(4)},
    **{name: [{"n": n} for n in SIZES] for name in BLOCKS if name.startswith("reduce")},
    **{name: [{"wA": 33, "wB": 33}, {"wA": 0, "wB": 5}] for name in ("matMul", "matMulTrans", "matMulBad")},
    **{name: [{"N": 3, "M": 2}, {"N": -1, "M": 4}, {"N": 2, "M": -1}] for name in ("synBrdis", "synBrdisOpt")},
    "vectorAdd": [{"numElements": n} for n in (300, 0, 256, 40)],
    "fan2": [{"N": 300, "t": 0}, {"N": 5, "t": 7}],
    "fan2Fixed": [{"N": 600, "t": 0}, {"N": 5, "t": 7}],
    "listRanking": [{"N": 100, "len": 2}, {"N": 100, "len": -1}],
    "mandelbrot": [
        {"width": 20, "height": 1, "crunch": 3, "left": -2, "top": 0, "scale": 1, "across": 1, "numBlocks": 1},
    ],
    "mandelbrot0": [
        {"width": 64, "height": 1, "crunch": 20, "left": 0, "top": 0, "scale": 1, "frame": 1, "shift": 0, "across": 1}
        | {"shades.x": 3, "shades.y": 5, "shades.z": 7, "numBlocks": 1},
    ],
    "histogram256": [{"dataCount": n} for n in (256, 0, 65)],
    "matMul/sectors-aligned": [{"wA": 40, "wB": 8}],
    "matMul16": [{"N": 32}, {"N": 16}],
    "strideSweep": [{"count": n} for n in (3, 0, 8)],
    "bankSweep": [{"repeats": n} for n in (3, 0)],
    "histogramShared": [{"N": n} for n in (512, 0, 65)],
}
"""What the kernels get in the runs, by kernel or by outline."""

SLACK = {
    "addSub2/sectors": 2,  # row 0 is aligned, and is read and written with one sector less each
    "addSub3/sectors": 2,
    "mandelbrot/divwarps": 2,  # the first test of a pixel fails for no lane, the last for all
    "mandelbrot0/sectors": 6,  # row 0 is aligned
    "reduce3/divwarps": 1,  # a warp diverges at one of the tests against n at most
    "reduce3a/divwarps": 1,
}
"""How far the bound is above the dearest run, where it is."""


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@cache
def source(kernel: str) -> Kernel:
    return read_cuda(str(ROOT / kernel / "kernel.cu")).kernel


@cache
def paid(kernel: str, args: tuple[tuple[str, int], ...]) -> dict[str, Fraction]:
    """What the dearest warp pays in a run, by metric."""
    x, y, z = (1 if d is None else d for d in BLOCKS[kernel])
    return run(source(kernel), (x, y, z), (2, 1, 1), dict(args)).max_per_warp


def test_every_kernel_has_an_outline() -> None:
    assert {path.parent.name for path in OUTLINES} == set(BLOCKS)


@pytest.mark.parametrize("path", [path for path in OUTLINES if LONG or name_of(path) not in LATER], ids=name_of)
def test_outline(path: Path) -> None:
    name, kernel = name_of(path), path.parent.name
    outline = read_outline(path)
    assert outline.context.metric.name == path.stem.partition("-")[0]
    assert outline.context.launch.block == BLOCKS[kernel]
    assert same(outline.kernel.body, source(kernel).body)
    result = completed(outline)
    assert (result.verdict, result.problem) == ("certified", None)
    assert result.claim is not None
    assert result.second is not None
    second = result.second.report
    assert (second.verdict, second.problem) == ("valid", "")
    slack = set()
    for point in POINTS.get(name, POINTS[kernel]):
        cost = paid(kernel, tuple(point.items()))[outline.context.metric.name]
        bound = evaluate(result.claim.pre.q, {Param(parameter): v for parameter, v in point.items()})
        assert cost <= bound
        slack.add(bound - cost)
    assert min(slack) == SLACK.get(name, 0)


def test_what_is_written_of_an_outline_is_valid() -> None:
    result = completed(read_outline(ROOT / "addSub0" / "sectors.qhl"))
    second = recheck(json.loads(text_of(result)))
    assert (second.verdict, second.problem) == ("valid", "")


def test_check_takes_an_annotated_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(ROOT / "reduce3" / "sectors.cu")]) == 0
    assert capsys.readouterr().out.startswith("accepted: every warp of reduce3 costs at most 9 sectors")


def test_an_outline_that_promises_too_little_gets_no_bound(tmp_path: Path) -> None:
    folder = tmp_path / "addSub0"
    folder.mkdir()
    text = (ROOT / "addSub0" / "sectors.qhl").read_text(encoding="utf-8")
    (folder / "sectors.qhl").write_text(text.replace("66*", "65*"), encoding="utf-8")
    row = written_row(folder / "sectors.qhl")
    assert (row.bound, row.first, row.second) == ("none: the kernel rejects it", "rejected", "")
