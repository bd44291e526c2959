"""Random kernels are what they are said to be, and the section of docs/benchmarks.md says of them what was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from logic.metrics import METRICS
from semantics.cuda import read_cuda
from tests.bench.growth import replaced
from tests.bench.sharp import Bounded, Row, measured, rows, section, share
from tests.bench.unseen import kernel


@pytest.mark.parametrize("first", [0, 10, 20])
def test_kernels_are_read(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 10):
        path = tmp_path / f"{seed}.cu"
        path.write_text(kernel(seed).source)
        assert read_cuda(str(path)).kernel.name == "k"


def test_kernels_differ_and_stay_the_same() -> None:
    assert kernel(3) == kernel(3)
    assert len({kernel(seed).source for seed in range(50)}) == 50
    every = "".join(kernel(seed).source for seed in range(50))
    assert all(word in every for word in ("__shared__", "break;", "continue;", "return;", "threadIdx.y", "float4 *"))


def test_a_kernel_is_measured_and_kept(tmp_path: Path) -> None:
    row = measured(6, 60)
    assert row.certified
    assert {b.ratio for b in row.metrics.values()} == {1.0}
    assert 0 < row.seconds < 60
    kept = tmp_path / "rows.jsonl"
    assert next(rows([6], 60, 1, kept)).metrics == row.metrics
    kept.write_text(kept.read_text().replace('"certified"', '"not-proved"'))
    assert not next(rows([6], 60, 1, kept)).certified  # what is kept is not measured again


def test_what_is_out_of_time_is_not_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("checker.cli.main", endless)
    row = measured(17, 1)
    assert (row.certified, row.why) == (False, "out of time")


def test_ratios() -> None:
    assert Bounded("certified", "0", "0", "0").ratio == 1
    assert Bounded("certified", "n", "5/2", "5").ratio == 2
    assert Bounded("certified", "n", "0", "5").ratio == float("inf")
    assert Bounded("certified", "n", None, None).ratio is None
    assert Bounded("solver-backed", "n", "1", "5").ratio is None
    assert [share([3, 1, 2, 4], p) for p in (0.5, 0.9, 1)] == [3, 4, 4]


def test_the_section(tmp_path: Path) -> None:
    good = dict.fromkeys(METRICS, Bounded("certified", "n", "2", "3"))
    found = [
        Row(4, good, 1.0),
        Row(5, {**good, "steps": Bounded("not-proved", None, None, None)}, 3.0),
        Row(6, {}, 9.0, "out of time"),
    ]
    text = section(found, 9)
    assert "3 kernels, seeds 4 to 6: 1 certified under all metrics (33.3%)" in text
    assert "median 3.0, ninth tenth 9.0, worst 9.0, with a limit of 9" in text
    assert "| steps | 1 | 1 | 0 | 1.50 | 1.50 | 1.50 |" in text
    assert "- seed 5: steps not-proved\n- seed 6: out of time\n" in text
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nText.\n\n## A\n\na\n\n## B\n\nb\n")
    replaced(page, "## A\n\nother\n")
    assert page.read_text() == "# Title\n\nText.\n\n## A\n\nother\n\n## B\n\nb\n"
    replaced(page, "## C\n\nc\n")
    replaced(page, "## B\n\nmore\n")
    assert page.read_text() == "# Title\n\nText.\n\n## A\n\nother\n\n## B\n\nmore\n\n## C\n\nc\n"
