"""What a worker of `bound PATH..` asks of the one who has it judged."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from checker.cli import fleet, fleet_work, parser
from checker.fleet.files import Source
from checker.fleet.judge import Judged, judged
from checker.fleet.rows import Claimed, Found
from checker.fleet.workers import Talk
from logic.potentials import const
from logic.syntax import Stmt
from semantics.cuda import reader, settle


class Asked(Talk):
    """Takes what a worker tells, and answers what it asks about certificates: refuses the first ones."""

    def __init__(self, refused: int) -> None:
        self.refused, self.claimed, self.found, self.about = refused, list[Claimed](), list[Found](), ""

    def begin(self, part: int) -> None:
        """It may take as long as it likes."""

    def tell(self, what: Any) -> None:
        if isinstance(what, Found):
            self.found.append(what)

    def ask(self, what: Any) -> Any:
        if isinstance(what, Claimed):
            self.claimed.append(what)
            refused = len(self.claimed) <= self.refused
            return Judged("not-proved", problem="too much work") if refused else Judged("certified", "d", const(1))
        self.about = what.subjects["sectors"]
        return ["sectors"]


@pytest.mark.parametrize(("refused", "asked"), [(0, 1), (1, 2), (2, 2)])
def test_a_worker_asks_no_second_checker_of_its_own(
    refused: int, asked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where what it found is refused, it tries a coarser one, and tells what was accepted."""
    monkeypatch.setattr("checker.certificates.seconded.recheck", None)
    (tmp_path / "a.cu").write_text("__global__ void k(int *A) { A[threadIdx.x] = 1; }")
    args = parser().parse_args(["bound", str(tmp_path / "a.cu"), "--metric", "sectors", "--block", "32"])
    settings, _ = fleet._settings(args, fleet.configuration(args))
    talk, timed = Asked(refused), list[Talk]()
    monkeypatch.setattr(fleet_work, "_left", lambda _, of: timed.append(of))
    fleet_work.work((Source(args.files[0], "a.cu"), settings), frozenset(), talk)
    assert (len(talk.claimed), timed) == (asked, [talk])
    (found,) = talk.found
    assert found.text == talk.claimed[-1 if refused == 1 else 0].text
    bound = judged(str(found.text), talk.about).bound
    assert str(bound) == ("32" if refused == 1 else "4")


def test_a_kernel_is_settled_for_the_launches_that_it_is_bounded_in_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks: list[object] = []

    def settled(body: Stmt, types: Any, sigma: Any, given: Any, block: Any, *more: Any) -> settle.Settled:
        blocks.append(block)
        return own(body, types, sigma, given, block, *more)

    own = settle.settled
    monkeypatch.setattr(reader, "settled", settled)
    (tmp_path / "a.cu").write_text("__global__ void k(int *A, unsigned n) { A[n + threadIdx.x] = 1; }")
    args = parser().parse_args(["bound", str(tmp_path / "a.cu"), "--metric", "sectors", "--block", "32"])
    settings, _ = fleet._settings(args, fleet.configuration(args))
    fleet_work.work((Source(args.files[0], "a.cu"), settings), frozenset(), Asked(0))
    assert blocks == [(32, 1, 1)]


@pytest.mark.parametrize(
    ("seconds", "began", "left"),
    [(None, 0.0, None), (10.0, None, 10.0), (10.0, 100.0, 10.0), (10.0, 97.0, 7.0), (10.0, 1.0, 2.0)],
)
def test_a_search_has_what_reading_leaves_of_the_time(
    seconds: float | None, began: float | None, left: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_work, "time", SimpleNamespace(monotonic=lambda: 100.0))
    talk = Asked(0)
    talk.began = began
    assert fleet_work._left(seconds, talk) == left
