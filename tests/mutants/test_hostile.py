"""A small sample of the hostile certificates (`python -m tests.mutants.hostile` tries large ones, with limits)."""

from __future__ import annotations

import itertools
import json
import sys
import time
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from checker import recheck
from checker.cli import main
from tests.mutants import certificates, hostile
from tests.mutants.hostile import (
    FAMILIES,
    MEMORY,
    RUNS,
    SECONDS,
    TRUTHFUL,
    Draft,
    Outcome,
    document,
    judged,
    op,
    table,
    tried,
    under,
    var,
)

LARGEST = 20_000

REPORTED = ("mutated", "flipped", "hardware", "scaled", "puts", "wide arrays")
"""Families that are quick to judge by the kernel, too, where the second checker does not refuse them."""

NO_ZERO = {"huge numbers", "truncated", "odd json", "deep json"}
"""Families without a document that is a certificate."""


@pytest.mark.parametrize("name", FAMILIES)
def test_a_hostile_certificate_is_judged(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recheck, "MAX_WORK", 500_000)
    path = tmp_path / "hostile.json"
    for seed in (1, 4):
        path.write_bytes(document(name, seed, LARGEST))
        for command in ("recheck", *(["report"] if name in REPORTED else [])):
            start = time.process_time()
            code = main([command, str(path)])
            assert time.process_time() - start < SECONDS
            assert code in ((1, 2, 3) if name in NO_ZERO else (0, 1, 2, 3))
            told = capsys.readouterr()
            assert "Traceback" not in told.err
            assert told.out + told.err


def test_documents_are_the_same_again() -> None:
    for name in FAMILIES:
        assert document(name, 7, 5000) == document(name, 7, 5000)


def test_out_of_budget_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    good = json.loads(document("scaled", 0, LARGEST))
    assert recheck.recheck(good).verdict == "valid"
    monkeypatch.setattr(recheck, "MAX_WORK", 100)
    report = recheck.recheck(good)
    assert (report.verdict, report.claim) == ("invalid", "")
    assert report.problem.endswith("too much work: this is not decided")


def test_long_certificates_may_take_more_work(monkeypatch: pytest.MonkeyPatch) -> None:
    good = json.loads(document("scaled", 0, LARGEST))
    content = {name: part for name, part in good.items() if name != "digest"}
    size = len(json.dumps(content, separators=(",", ":")))
    recheck.recheck(good)
    monkeypatch.setattr(recheck, "MAX_WORK", (recheck.MAX_WORK - recheck.Work.left) // 2 + 1)
    assert recheck.recheck(good).problem.endswith("too much work: this is not decided")
    monkeypatch.setattr(recheck, "LONG", size + 1)
    assert recheck.recheck(good).verdict == "invalid"
    monkeypatch.setattr(recheck, "LONG", size)
    assert recheck.recheck(good).verdict == "valid"


def test_what_is_no_megabyte_may_take_no_more_work() -> None:
    """So that each hostile certificate is judged as soon."""
    assert recheck.LONG > 1_000_000


def test_without_barriers_no_walk_keeps_what_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names that it keeps at each statement made long programs take work as the square of their length."""
    monkeypatch.setattr(recheck.Checker, "meet", lambda *_: pytest.fail("it was walked"))
    assert recheck.recheck(json.loads(document("scaled", 0, LARGEST))).verdict == "valid"


def lines(n: int) -> int:
    """How many lines run for n definitions x_i == x_(i+1) and x_n == 7: steps that nobody counts are among them."""
    names = [f"x{i}" for i in range(n + 1)]
    facts = [op("==", var(a), var(b)) for a, b in itertools.pairwise(names)]
    facts.append(op("==", var(names[-1]), ["const", ["int", "int", 4], 7]))
    document = json.loads(under(Draft(names), facts, op("<", var("x0"), ["tid", "x"])))
    found = 0

    def line(_frame: FrameType, event: str, _: object) -> Any:
        nonlocal found
        found += event == "line"
        return line

    sys.settrace(lambda frame, *_: line if frame.f_code.co_filename == recheck.__file__ else None)
    try:
        assert recheck.recheck(document).verdict == "solver-backed"
    finally:
        sys.settrace(None)
    return found


def test_definitions_take_work_as_they_are_many() -> None:
    """Those of 50 more take as much as those of 50 more before them."""
    few, more, most = (lines(n) for n in (50, 100, 150))
    assert most - more < 1.05 * (more - few)


def test_deep_potentials_that_are_the_same_are_told_at_once() -> None:
    """Written out, each is twice as long as the one before."""
    recheck.start()
    p: recheck.Potential = recheck.single("param", "n")
    q: recheck.Potential = recheck.single("param", "n")
    for i in range(200):
        p, q = (recheck.max0(r) + recheck.max0(r * 2 - i - 1) for r in (p, q))
    assert p == q
    assert recheck.MAX_WORK - recheck.Work.left < 40_000


def test_deep_potentials_are_written_once_or_not_at_all() -> None:
    """To sort them takes as much as the text is long, and to show them more than that."""
    recheck.start()
    p: recheck.Potential = recheck.single("param", "n")
    for _ in range(12):
        p = recheck.max0(p) + recheck.max0(p * 2 - 1)
    before = recheck.Work.left
    assert len(recheck.order(p)) > 60_000
    assert before - recheck.Work.left < 60_000
    pairs = sum((recheck.single("op", "&", p, p + i) for i in range(1, 20)), 0)
    before = recheck.Work.left
    text = recheck.order(pairs)  # each half of a pair, each pair and all of them are kept, and the last made of parts
    assert before - recheck.Work.left > 3.5 * len(text) / 16
    for _ in range(14):
        p = recheck.max0(p) + recheck.max0(p * 2 - 1)
    for told in (recheck.order, recheck.show):
        recheck.start()
        with pytest.raises(recheck.TooMuch):
            told(p)


def product(width: int) -> int:
    """What it takes to multiply sums of 8 monomials, each of so many atoms."""
    recheck.start()
    p, q = (
        recheck.poly(frozenset((frozenset((("var", f"{x}{i}_{j}"), 1) for j in range(width)), 1) for i in range(8)))
        for x in "ab"
    )
    assert len(recheck.terms(p * q)) == 64
    return recheck.MAX_WORK - recheck.Work.left


def test_products_take_work_as_their_monomials_are_long() -> None:
    assert product(60) > 20 * product(1)


def test_products_take_work_as_their_coefficients_are_long() -> None:
    """Each of 4,096 bits, over another denominator."""
    recheck.start()
    p, q = (
        recheck.poly(frozenset((frozenset({(("var", f"x{i}"), 1)}), Fraction(1, 2**4096 + k + i)) for i in range(8)))
        for k in (1, 99)
    )
    with pytest.raises(recheck.Bad, match="too large coefficients"):
        p * q
    assert recheck.MAX_WORK - recheck.Work.left > 200


def outcome(**parts: object) -> Outcome:
    usual = {"family": "lanes", "seed": 1, "command": "recheck", "size": 9, "code": 3, "cpu": 1.0, "wall": 1.0}
    return Outcome(**(usual | {"memory": 1024, "said": "invalid"} | parts))  # type: ignore[arg-type]


def test_what_is_a_fault() -> None:
    assert outcome().fault == ""
    assert outcome(code=-9).fault.startswith("ended with -9")
    assert outcome(said="Traceback (most recent call last)").fault
    assert outcome(said="warpbound: internal error: KeyError", code=2).fault
    assert outcome(code=0).fault == "was accepted"
    assert outcome(code=0, command=RUNS).fault == ""
    assert outcome(code=9, command=RUNS, said="a run costs 3").fault == "ended with 9: ['a run costs 3']"
    assert outcome(code=0, family=min(TRUTHFUL)).fault == ""
    assert outcome(cpu=11.0).fault == "took 11.0 s"
    assert outcome(memory=600 * 1024).fault == "took 600 MiB"
    assert "| lanes | 1 | 9 | 11.0 | recheck | 1 | recheck | 3 | 1 |" in table([outcome(cpu=11.0)])


def test_a_run_that_is_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged_now: list[tuple[str, int, str]] = []

    def judge(name: str, seed: int, command: str, path: Path) -> Outcome:
        judged_now.append((name, seed, command))
        if len(judged_now) == 3:
            raise KeyboardInterrupt
        return outcome(family=name, seed=seed, command=command, said="x" * 2000)

    monkeypatch.setattr(hostile, "judged", judge)
    argv = ["hostile", "odd json", "huge numbers", "--count", "3", "--command", "check", "--command", "recheck"]
    monkeypatch.setattr(sys, "argv", [*argv, "--largest", "2000", "--log", str(tmp_path / "log")])
    with pytest.raises(KeyboardInterrupt):
        hostile.main()
    assert hostile.main() == 0
    whole = [
        (name, seed, c) for name, seed in (("odd json", 0), ("huge numbers", 0), ("odd json", 1)) for c in argv[-3::2]
    ]
    assert judged_now == [*whole[:3], *whole[2:]]
    assert [(o.family, o.seed, o.command) for o in hostile.logged(tmp_path / "log")] == whole
    assert all(len(o.said) == 1000 for o in hostile.logged(tmp_path / "log"))


WORST: Final = (
    ("products", 42),  # long monomials
    ("doubling", 34),  # states are looked for that there are none of
    ("choices", 56),  # an assertion that grows, at many nodes
    ("deep terms", 63),  # Z3 asks for 2 GiB
    ("assumptions", 30),  # 256 of them, of each of which solvers are told in each question
    ("dead branches", 8),  # what a statement writes, which is long where it is written out, at many nodes
)
"""Documents that took a command more than 10 seconds or 512 MiB, each for a reason of its own."""


@pytest.mark.parametrize(("name", "seed"), WORST)
def test_what_once_took_too_much(name: str, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_bytes(document(name, seed, 1_000_000))
    found = judged(name, seed, "check", path)
    assert (found.fault, found.code) == (
        "",
        {"dead branches": 0, "doubling": 1, "deep terms": 1, "choices": 1}.get(name, 3),
    )
    assert found.cpu < SECONDS
    assert found.memory < MEMORY


def test_a_claim_that_is_accepted_is_tried_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path("proofs/vectorAdd/sectors.json")
    assert tried("sums", 0, path).fault == ""
    monkeypatch.setattr(certificates, "refutation", lambda *_: "a run with {} costs 13, more than 12")
    assert "more than 12" in tried("sums", 0, path).fault
