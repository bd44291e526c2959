"""`warpbound coalesce` of several kernels and of folders."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from checker.cli import main
from checker.fleet import tray
from checker.fleet.workers import Desk, Job, Work
from tests.checker.cli.one_process import Told, alone

GOOD = "__global__ void good(int *A) { A[threadIdx.x] = 1; }\n"
BAD = "__global__ void bad(int *A, int w) { A[w * threadIdx.x] = 1; }\n"
BROKEN = "__global__ void broken(int *A) { A[0] = ; }\n"

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tray, "run", alone)
    (tmp_path / "src/deep").mkdir(parents=True)
    (tmp_path / "src/a.cu").write_text(GOOD + BAD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_kernels_of_a_source(here: Path, capsys: Capture) -> None:
    assert main(["coalesce", "src/a.cu", "--block", "32"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("good:", "bad:"))] == [
        "good: 1 access: 1 coalesced",
        "bad: 1 access: 1 uncoalesced",
    ]
    assert "src/a.cu:2:38: uncoalesced store of A[w * tid.x]: 32 lines, 1 at best, 32 lanes, 100 % of all" in lines
    assert lines.count("Assumed:") == 2
    assert sum(line.startswith("Shares") for line in lines) == 1
    assert lines[-1] == "1 file, 2 kernels, 2 accesses: 1 uncoalesced, 1 coalesced"
    assert main(["coalesce", "src/a.cu", "--kernel", "good", "--block", "32", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == "good"


def test_a_folder(here: Path, capsys: Capture) -> None:
    (here / "src/deep/b.cu").write_text(BROKEN)
    (here / "src/host.cu").write_text("int main() {}\n")
    assert main(["coalesce", "src", "--block", "32", "--assume", "w > 1", "--format", "json"]) == 2
    printed = capsys.readouterr()
    assert "src/deep/b.cu:1:41: error: expected expression" in printed.err
    found = json.loads(printed.out)
    assert [(row["file"], row["kernel"], "problem" in row) for row in found["results"]] == [
        ("src/a.cu", "good", False),
        ("src/a.cu", "bad", False),
        ("src/deep/b.cu", "broken", True),
    ]
    assert found["summary"] == {
        "files": 3, "kernels": 3, "accesses": 2, "coalesced": 1, "uncoalesced": 1, "unreadable": 1,
    }  # fmt: skip
    assert ["given: w > 1" in row.get("assumptions", ()) for row in found["results"]] == [False, True, False]
    assert main(["coalesce", "src", "--exclude", "deep", "--block", "32", "--kernel", "good"]) == 0
    capsys.readouterr()
    (here / "src/deep/b.cu").write_text("?")
    assert main(["coalesce", "src/deep/b.cu", "src/host.cu"]) == 2
    assert capsys.readouterr().out.startswith("src/deep/b.cu: expected unqualified-id\n")
    (here / "src/deep/b.cu").write_text(BROKEN)
    assert main(["coalesce", "src", "--format", "sarif"]) == 2
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert sorted(r["ruleId"] for r in results) == ["uncoalesced", "unreadable"]


def test_what_is_known_is_printed_at_once_and_in_order(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (here / "src/b.cu").write_text(BAD.replace("bad", "worse") + BAD.replace("bad", "worst"))
    (here / "src/c.cu").write_text(BROKEN)
    out: list[str] = []

    def shuffled(jobs: Iterable[Job], work: Work, desk: Desk, *_: object) -> None:
        first, second, third = jobs
        for job, done in ((third, None), (second, 1), (first, 1), (first, 0), (second, 0)):
            work(job.work, frozenset() if done is None else frozenset({done}), Told(desk, job))
            if done != 1:
                desk.ended(job)
            out.append("".join(capsys.readouterr()))

    monkeypatch.setattr(tray, "run", shuffled)
    assert main(["coalesce", "src", "--block", "32", "--quick"]) == 2
    starts = [[line.partition(":")[0] for line in text.splitlines() if ": 1 access" in line] for text in out]
    assert starts == [[], [], ["good"], ["bad", "worse"], ["worst"]]
    assert ["expected expression" in text for text in out] == [False, False, False, False, True]
    assert ["Assumed: as of the kernel above." in text for text in out] == [False, False, False, True, True]
    counts = "3 files, 5 kernels, 4 accesses: 3 uncoalesced, 1 coalesced, 1 cannot be read"
    assert capsys.readouterr().out.splitlines()[-1] == counts
    assert main(["coalesce", "src", "--block", "32", "--quick", "-o", "out.txt"]) == 2
    told = (here / "out.txt").read_text()
    assert [told.count(text) for text in (": 1 access", "Assumed", "Shares")] == [4, 4, 1]


def test_a_kernel_that_takes_too_long_is_one(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def late(jobs: Iterable[Job], work: Work, desk: Desk, *_: object) -> None:
        (job,) = jobs
        work(job.work, frozenset({1}), Told(desk, job))
        desk.failed(job, 1, "timeout", "more than 5 s", 5.0)
        desk.ended(job)

    monkeypatch.setattr(tray, "run", late)
    assert main(["coalesce", "src", "--block", "32"]) == 1
    text = capsys.readouterr().out
    assert text.splitlines()[-1] == "1 file, 2 kernels, 1 access: 1 coalesced, 1 timeout"
    assert "bad: timeout: more than 5 s" in text.splitlines()
    assert main(["coalesce", "src", "--block", "32", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["results"][1] == {"file": "src/a.cu", "kernel": "bad", "problem": "timeout: more than 5 s"}
    assert found["summary"]["timeout"] == 1
    assert main(["coalesce", "src", "--block", "32", "--format", "sarif"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["ruleId"] == "timeout"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["src/a.cu", "--confirm"], "--confirm runs one kernel"),
        (["src", "--certificate", "proofs"], "--certificate is for one file"),
        (["src", "--kernel", "none"], "there is no kernel 'none' in 'src'"),
        (["src", "--assume", "q > 1"], "--assume q > 1: no kernel here has its parameters"),
        (["src", "--block", "0"], "--block 0: not a dimension"),
        (["none"], "cannot read 'none': no such file"),
    ],
)
def test_what_does_not_fit(words: list[str], told: str, here: Path, capsys: Capture) -> None:
    assert main(["coalesce", *words]) == 2
    assert told in capsys.readouterr().err


def test_instances_of_a_template_have_their_certificates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = tmp_path / "t.cu", tmp_path / "certificates"
    path.write_text(
        "template <int N> __global__ void k(float *A, int n) { A[threadIdx.x + N * n] = 1; }\n"
        "void go(float *A) { k<1><<<1, 32>>>(A, 8); k<3><<<1, 32>>>(A, 8); }\n"
    )
    assert main(["coalesce", str(path), "--kernel", "k", "--certificate", str(folder)]) == 1
    assert [p.name for p in sorted(folder.iterdir())] == [f"k-{n}-lines-{i}.json" for n in (1, 3) for i in (0, 1)]
    assert capsys.readouterr().out.count("to mend it: let n be a multiple of 32: lines 2 -> 1") == 2
    assert main(["coalesce", str(path), "--kernel", "k", "--confirm"]) == 2
    assert "There are k<1>, k<3>: choose one, --kernel 'k<1>'." in capsys.readouterr().err
    assert main(["coalesce", str(path), "--kernel", "k<3>", "--quick", "--confirm", "--arg", "n=8"]) == 1
    assert main(["coalesce", str(tmp_path), "--certificate", str(folder)]) == 2
    assert "--certificate is for one file" in capsys.readouterr().err
