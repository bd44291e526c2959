"""What is certified of a remedy: what both checkers say of the program before and after it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

import pytest

from checker.analysis.coalescing import bounded as module
from checker.analysis.coalescing.bounded import Judged, judge, with_body
from checker.analysis.coalescing.exact import analyse
from checker.analysis.coalescing.remedies import remedies
from checker.analysis.places import counts
from checker.certificates import seconded
from checker.recheck import Report
from checker.synthesis.outline import Branch, Loop, Partial, Plain, bare, strip
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import Const, If, Read, Skip, Tid, Var, While, Write, seq
from logic.typing import check_kernel
from semantics.cuda import read_cuda

TILE: Final = "__shared__ float s[32][32]; s[t][0] = 1;"


def judged(folder: Path, body: str, facts: tuple[str, ...] = ()) -> list[Judged]:
    """The remedies of the first bad access."""
    path = folder / "k.cu"
    path.write_text(f"__global__ void k(float *A, const float *B, int n) {{ int t = threadIdx.x;\n{body}\n}}\n")
    reading = read_cuda(str(path))
    context = Context(check_kernel(reading.kernel), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    found = remedies(analyse(reading.kernel, context), reading.kernel, context, reading.rows)
    return next(iter(judge(found, reading.kernel, context, bare(reading.kernel.body)).values()))


@pytest.mark.parametrize(
    ("body", "text", "bounds"),
    [
        (TILE, "pad the rows of s to 33: conflicts 31 -> 0 an access, certified", ("31", "0")),
        ("A[t + n] = 1;", "let n be a multiple of 32: lines 2 -> 1 an access, certified", ("2", "1")),
        (
            "for (int i = 0; i < n; i++) A[t] += B[2 * t] * B[2 * t + 1];",
            "read the 2 neighbours in B at once, as float2: lines 4 -> 2 for the 2 accesses, certified",
            ("6*max(0, n)", "4*max(0, n)"),
        ),
    ],
)
def test_what_both_checkers_accept_is_certified(body: str, text: str, bounds: tuple[str, str], tmp_path: Path) -> None:
    first = judged(tmp_path, body)[0]
    assert (first.verdict, first.text, first.bounds) == ("certified", text, bounds)
    assert first.proofs is not None
    assert all(r.second is not None and r.second.report.verdict == "valid" for r in first.proofs)


@pytest.mark.parametrize("word", ["invalid", "solver-backed"])
def test_without_the_second_checkers_word_nothing_is_certified(
    word: Literal["invalid", "solver-backed"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seconded, "recheck", lambda _: Report(word, "", ["something"], "a fault", ""))
    found = judged(tmp_path, TILE)
    assert found
    assert not any(j.certified or "certified" in j.text.split() for j in found)


def test_a_program_without_a_bound_is_not_certified(tmp_path: Path) -> None:
    first = judged(tmp_path, TILE + " while (B[n] > 0) s[t][0] += 1;")[0]
    assert (first.verdict, first.bounds) == ("not-proved", None)
    assert "31 -> 0 an access by the analysis alone: no bound is found at" in first.text


def test_a_bound_that_proves_more_of_the_access_is_not_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "counts", lambda *x: {key: n + 1 for key, n in counts(*x).items()})
    first = judged(tmp_path, TILE)[0]
    assert (first.verdict, first.problem) == ("not-proved", "of the program as it is the bound proves 32 conflicts")


def test_only_so_many_programs_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROGRAMS", 2)
    found = judged(tmp_path, TILE)
    assert [j.certified for j in found] == [True, *[False] * (len(found) - 1)]
    assert len(found) > 1
    monkeypatch.setattr(module, "LONGEST", 1)
    assert not any(j.certified for j in judged(tmp_path, TILE))


def test_annotations_stay_at_their_places() -> None:
    def program(read: str) -> While:
        write = Write("A", Var("i"), Read(read, Var("i")))
        return While(Var("c"), seq(write, If(Var("c"), write, Skip())))

    note = Partial(x=frozenset({"i"}))
    old, new = seq(Skip(), program("A")), seq(Skip(), program("B"))
    plain, loop = bare(old)
    assert isinstance(loop, Loop)
    block = (plain, note, replace(loop, invariant=note, body=(note, *loop.body)))
    found = with_body(block, new)
    assert strip(found) == new
    assert found[1] == note
    assert isinstance(found[2], Loop)
    assert (found[2].invariant, found[2].body[0]) == (note, note)
    other = seq(new, Write("A", Tid("x"), Const(1)))
    assert with_body(block, other) == bare(other)
    assert not any(isinstance(item, Branch) for item in with_body((Plain(Skip()),), new))
