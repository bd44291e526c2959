"""The committed certificates are valid for the second checker, about their kernels, and what docs/proofs.md says."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from checker.certificates.claims import known_sizes, shown, wording
from checker.certificates.document import canonical, read
from checker.oracles import Oracles
from checker.recheck import MAX_WORK, Work, recheck
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Poly, const, substitute
from logic.syntax import Kernel, same
from proofs.data.make import certificates, path_of
from proofs.features.make import FEATURES, HOME
from proofs.make import BLOCKS, PAGE, ROOT, TABLE, Row, Written, bounds, committed, judged, main, page, text_of, written
from semantics.cuda import read_cuda

COMMITTED = committed()
KERNEL_TAKES_PART = ("vectorAdd", "addSub0", "addSub3", "reduce2")
"""The kernel judges these here too; it judges all of them in `make proofs`."""


@cache
def source(name: str) -> Kernel:
    return read_cuda(str(ROOT / name / "kernel.cu")).kernel


def lines(columns: int) -> list[list[str]]:
    """The rows about kernels in the table of docs/proofs.md that has this many columns."""
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| [")]
    return [[cell.strip("| ") for cell in row] for row in rows if len(row) == columns]


def linked(cell: str) -> str:
    """The text of a link that leads to a file."""
    text, _, target = cell[1:].partition("](../")
    assert (ROOT.parent / target.partition(")")[0]).is_file()
    return text


@cache
def said() -> dict[tuple[str, str], Row]:
    """The lines of docs/proofs.md about certificates."""
    rows = {}
    for name, _, metric, bound, first, second, by_solver, kept in lines(8):
        size = kept.partition(", ")[2].removesuffix(" bytes")
        assert (linked(kept) if kept else "") == (f"{metric}.json" if size else "")
        rows[linked(name), metric] = Row(linked(name), metric, bound, first, second, by_solver, size)
    return rows


@cache
def written_down() -> dict[Path, Written]:
    """The lines of docs/proofs.md about outlines."""
    rows = [(ROOT / linked(row[0]) / linked(row[1]), row[2:]) for row in lines(7)]
    return {path: Written(path, *rest) for path, rest in rows}


def test_every_kernel_and_metric_has_its_line() -> None:
    assert {path.parent.name for path in ROOT.glob("*/kernel.cu")} == set(BLOCKS)
    assert list(said()) == [(name, metric) for name in BLOCKS for metric in TABLE]
    assert list(written_down()) == written()
    assert PAGE.read_text(encoding="utf-8") == page(said().values(), written_down().values())


def test_no_certificate_is_without_a_line() -> None:
    others = {HOME / f"{name}.json" for name in FEATURES} | {path_of(*row) for row in certificates()}
    assert {path for _, _, path in COMMITTED} | others == set(ROOT.glob("*/*.json"))
    assert {(name, metric) for name, metric, _ in COMMITTED} == {key for key, row in said().items() if row.first}
    assert len(COMMITTED) >= 50


@pytest.mark.parametrize(("name", "metric", "path"), COMMITTED, ids=lambda v: v if isinstance(v, str) else "")
def test_certificate(name: str, metric: str, path: Path) -> None:
    text, row = path.read_text(encoding="ascii"), said()[name, metric]
    document = json.loads(text)
    assert text == canonical(document) + "\n"
    second = recheck(document)
    assert Work.left >= MAX_WORK * 7 // 10, "three tenths of what any certificate may take, at most"
    assert (second.verdict, str(len(second.solver_backed)), str(len(text))) == (row.second, row.by_solver, row.size)
    assert (row.first, row.second, row.by_solver) == ("accepted", "valid", "0")
    given, kernel = read(text, str(path)), source(name)
    assert same(given.kernel.body, kernel.body)
    assert replace(given.kernel, body=kernel.body, loc=kernel.loc) == kernel
    assert (given.context.metric, given.context.hardware) == (METRICS[metric], HARDWARE["nvidia"])
    assert (given.context.launch.block, given.context.launch.grid) == (BLOCKS[name], (None, None, None))
    assert (given.context.launch.assumptions, given.context.scope, given.rules) == ((), "warp", "sound")
    bound = cast(Poly, given.derivation.substitution["Q1" if given.derivation.rule == "Q:Weak" else "Q"])
    known = {leaf: const(n) for leaf, n in known_sizes(given.context).items()}
    bound = substitute(bound, known)
    assert row.bound == f"`{bound}`"
    assert second.claim.startswith(f"{wording(name, 'warp', bound, METRICS[metric], HARDWARE['nvidia'])}; blocks of ")


@pytest.mark.parametrize(("name", "metric", "path"), [c for c in COMMITTED if c[0] in KERNEL_TAKES_PART])
def test_the_kernel_accepts(name: str, metric: str, path: Path) -> None:
    claim = judged(read(path.read_text(encoding="ascii"), str(path)), Oracles())
    assert claim is not None
    assert claim.unconditional
    assert f"`{shown(claim)}`" == said()[name, metric].bound


@pytest.mark.parametrize("name", ["vectorAdd", "addSub3"])
def test_certificates_are_made_the_same_again(name: str) -> None:
    for result in bounds(name):
        path = ROOT / name / f"{result.metric.name}.json"
        made, kept = json.loads(text_of(result)), json.loads(path.read_text(encoding="ascii"))
        for document in (made, kept):
            del document["tools"], document["digest"]
            for entry in document["evidence"]:
                del entry["engine"]
        assert made == kept


def test_a_kernel_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["fan3"])
    assert "no kernel is called 'fan3'; there are vectorAdd, " in capsys.readouterr().err
