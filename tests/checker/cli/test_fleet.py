"""`warpbound bound PATH..`: a table of many kernels, whatever becomes of one of them, and again from the cache."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Final

import pytest

from checker.cli import main
from tests.checker.cli import one_process
from tests.checker.cli.test_process import ROOT, program
from tests.checker.fleet import hazards
from tests.load import patience

ONE: Final = "__global__ void one(int *A) { A[threadIdx.x] = 1; }\n"
TWO: Final = "__global__ void two(int *A, int n) { for (int i = 0; i < n; i++) A[i] = 1; }\n"
FAST: Final = ("--metric", "sectors", "--block", "32", "--jobs", "1")
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for sources, which processes of their own read and judge."""
    monkeypatch.setattr("checker.fleet.workers.get_context", hazards.quick)
    return entered(tmp_path, monkeypatch)


@pytest.fixture
def here(tmp_path: Path, bounds_once: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, where all that happens in this process: for tests of what is said of it."""
    one_process.here(monkeypatch)
    return entered(tmp_path, monkeypatch)


def entered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder as the current one, with one for sources, and another for the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    (folder / "src").mkdir()
    monkeypatch.chdir(folder)
    return folder


def bound(capsys: Capture, *words: str) -> tuple[int, dict[str, Any], str]:
    code = main(["bound", *words, *FAST, "--format", "json"])
    printed = capsys.readouterr()
    return code, json.loads(printed.out), printed.err


def rows(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(r["kernel"], r["file"], r["line"], r["bound"], r["verdict"], r["cached"]) for r in document["results"]]


def test_what_is_assumed_in_vain_is_named(here: Path, capsys: Capture) -> None:
    """Contracts, too."""
    held = ("forall i in [0, n): A[i] <= m", "forall i in [0, n): C[i] >= 5")
    stated = "".join(f"//@ requires {fact};\n" for fact in (*held, "n > 3", "m > 2"))
    body = "int t = threadIdx.x; if (t < n) for (int i = 0; i < A[t]; i++) B[0] = C[t];"
    (here / "src/k.cu").write_text(
        f"{stated}__global__ void k(const int *A, const int *C, int *B, int n, int m) {{ {body} }}\n"
    )
    told = "".join(
        f"src/k.cu: warning: the {what} is not needed for this bound\n"
        for what in ("assumption m > 2", "assumption n > 3", f"contract {held[1]}")
    )
    for more in ((), (), ("--recheck",)):  # also where nothing has changed, or the certificate comes from the cache
        assert main(["bound", "src", *FAST, *more]) == 0
        printed = capsys.readouterr()
        assert printed.err == told
    assert "1 bound from the cache" in printed.out


@pytest.mark.parametrize(
    ("paths", "title"),
    [
        (["a/one.cu", "b/two.cu"], "one.cu, two.cu"),
        (["a/k.cu", "b/k.cu"], "a/k.cu, b/k.cu"),
        (["1.cu", "2.cu", "3.cu", "4.cu", "5.cu"], "1.cu, 2.cu, 3.cu and 2 more"),
    ],
)
def test_titles_tell_files_apart(paths: list[str], title: str) -> None:
    from checker.cli.fleet import _title

    assert _title(paths) == title


def test_names_of_files_tell_kernels_apart() -> None:
    from checker.cli.bounded import file_name

    assert (file_name("k<float, 256>"), file_name("a::k")) == ("k-float-256", "a-k")
    names = ("k<1>", "k<-1>", "k<&f>", "k<f>", "k<a::b>", "k<a, b>", "k<unsigned int>", "k<unsigned, int>")
    assert len({file_name(name) for name in names}) == len(names)


def test_a_folder_and_again_after_a_change(here: Path, capsys: Capture) -> None:
    (here / "src/a.cu").write_text(ONE + TWO)
    (here / "src/b.cu").write_text("__global__ void b(int *A) { A[threadIdx.x] = ; }\n")
    (here / "src/c.cu").write_text('#include "common.cuh"\nint main() {}\n')
    (here / "src/common.cuh").write_text("__global__ void three(int *A) { A[2 * threadIdx.x] = 1; }\n")
    code, document, error = bound(capsys, "src", "--at", "n=3", "--certificate", "proofs")
    assert code == 2
    assert rows(document) == [
        ("one", "src/a.cu", 1, "4", "certified", False),
        ("two", "src/a.cu", 2, "max(0, n)", "certified", False),
        ("b", "src/b.cu", 1, None, "unsupported", False),
        ("three", "src/common.cuh", 1, "8", "certified", False),
    ]
    assert [r["value"] for r in document["results"]] == [4, 3, None, 8]
    summary = document["summary"]
    assert {"files": 3, "kernels": 4, "certified": 3, "unsupported": 1, "cached": 0}.items() <= summary.items()
    assert summary["reasons"] == [{"reason": "unsupported: expected expression", "kernels": 1}]
    assert "src/b.cu:1:46: error: expected expression" in error
    assert sorted(p.name for p in (here / "proofs").iterdir()) == [f"{k}-sectors.json" for k in ("one", "three", "two")]
    assert main(["recheck", *(str(p) for p in (here / "proofs").iterdir())]) == 0
    capsys.readouterr()

    # a comment, and another kernel of the file: what is as it was is a hit
    (here / "src/a.cu").write_text(
        "// one\n" + ONE.replace("= 1", "= 1 /* thread */") + TWO.replace("A[i]", "A[2 * i]")
    )
    (here / "src/b.cu").unlink()
    code, document, _ = bound(capsys, "src", "--at", "n=3")
    assert code == 0
    assert [(name, line, cached) for name, _, line, _, _, cached in rows(document)] == [
        ("one", 2, True),
        ("two", 3, False),
        ("three", 1, True),
    ]
    assert document["summary"]["cached"] == 2


def test_what_has_not_changed_is_not_read_again(here: Path, capsys: Capture) -> None:
    """Rows, warnings, budgets, certificates and baselines are as they were; one that was tampered with is not used, nor
    is one of another user, of other macros, or from before a header came that hides another."""
    for folder in ("inc", "first"):
        (here / folder).mkdir()
    (here / "inc/n.cuh").write_text("#define N 2\n")
    (here / "src/a.cu").write_text("#include <n.cuh>\n" + ONE.replace("threadIdx.x", "N * threadIdx.x") + TWO)
    (here / "src/bad.cu").write_text("__global__ void bad(int *A) { A[threadIdx.x] = ; }\n")
    (here / "warpbound.toml").write_text('[[budget]]\nkernel = "one"\nmetric = "sectors"\nmost = 7\n')
    words = ("src", "-I", "first", "-I", "inc", "--at", "n=3")
    code, first, error = bound(capsys, *words)
    assert (code, [r["bound"] for r in first["results"]]) == (2, ["8", "max(0, n)", None])

    again, second, told = bound(capsys, *words, "--certificate", "proofs")
    assert (again, told, second["budgets"]) == (code, error, first["budgets"])
    same = ("kernel", "metric", "bound", "verdict", "value", "assumptions", "certificate", "claim", "file", "line")
    assert [[r[key] for key in same] for r in second["results"]] == [[r[key] for key in same] for r in first["results"]]
    assert {"cached": 2, "unchanged": 3, "judged": 0}.items() <= second["summary"].items()
    assert all(row["since"] for row in second["results"])
    assert main(["recheck", *(str(p) for p in (here / "proofs").iterdir())]) == 0
    capsys.readouterr()
    assert main(["bound", *words, *FAST, "--format", "sarif"]) == 2
    (invocation,) = json.loads(capsys.readouterr().out)["runs"][0]["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    assert "1 part of the input cannot be read" in str(invocation["toolExecutionNotifications"])
    for more in ("old.json", "new.json"):
        assert main(["baseline", *words[:-2], *FAST, "-o", more, *(["--recheck"] if more == "new.json" else [])]) == 0
    assert (here / "old.json").read_text() == (here / "new.json").read_text()

    def unchanged(*more: str) -> int:
        _, document, _ = bound(capsys, *words, *more)
        assert [r["bound"] for r in document["results"]] == ["8", "max(0, n)", None]
        return int(document["summary"].get("unchanged", 0))

    assert unchanged("--recheck") == 0
    assert unchanged("-D", "M=1") == 0
    assert unchanged() == 3
    notes = [path for path in (here / "cache").rglob("*.sealed") if b"max(0, n)" in path.read_bytes()]
    for path in notes:
        path.write_bytes(path.read_bytes().replace(b'"bound": "8"', b'"bound": "7"'))
    assert unchanged() == 1
    assert unchanged() == 3, "it was written anew"
    assert main(["cache", "verify", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["valid"] == found["certificates"]
    assert 0 < found["sealed"] < found["notes"], "what was tampered with has no seal"

    (here / "first/n.cuh").write_text("#define N 3\n")
    _, document, _ = bound(capsys, *words)
    assert [(r["bound"], bool(r["since"])) for r in document["results"]] == [
        ("12", False),
        ("max(0, n)", False),
        (None, True),
    ]
    state = Path(os.environ["XDG_STATE_HOME"], "warpbound/seal.key")
    state.unlink()
    assert not bound(capsys, *words)[1]["summary"].get("unchanged"), "another user's key"


def test_a_bound_in_haste_is_warned_of_and_found_anew_with_more_time(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its certificate is not kept; a note of its source is, for runs that have no more time. There is a sharper one."""
    (here / "src/a.cu").write_text(ONE)
    told = "src/a.cu: warning: one, sectors: there was no time for a sharper bound: a larger --time-limit gives it more"
    with monkeypatch.context() as hasty:
        for seconds, unchanged in ((1e-9, None), (1e-9, 1), (5e-10, 1)):
            hasty.setattr("checker.limits.BOUND_SECONDS", seconds)
            code, document, error = bound(capsys, "src")
            assert (code, error.splitlines()) == (0, [told])
            assert [(r["bound"], r["verdict"]) for r in document["results"]] == [("32", "certified")]
            assert document["summary"].get("unchanged") == unchanged
        assert not [*(here / "cache").rglob("*.json")]
        assert main(["bound", "src/a.cu", "--explain", *FAST[:4]]) == 0
        assert capsys.readouterr().err.splitlines() == [told]
    more = ("src", "--time-limit", "70")
    _, document, error = bound(capsys, *more)
    assert (error, rows(document)) == ("", [("one", "src/a.cu", 1, "4", "certified", False)])
    for words in (more, ("src",)):
        _, document, error = bound(capsys, *words)
        assert (error, document["summary"]["unchanged"], document["results"][0]["bound"]) == ("", 1, "4")


def test_a_bound_that_no_solver_is_needed_for_goes_before_a_lower_one(here: Path, capsys: Capture) -> None:
    """Which is said, and found where a solver's word is accepted: the other one is not in its way in the cache."""
    index = "(t + n * n) & 7"
    (here / "src/a.cu").write_text(f"__global__ void one(int *A, int n) {{ int t = threadIdx.x; A[{index}] = 1; }}\n")
    told = (
        "one, sectors: that it is at most 1 rests on the word of a solver: --accept solver-backed takes it for enough"
    )
    for more in ((), ("--recheck",)):
        code, document, error = bound(capsys, "src", *more)
        assert (code, error) == (0, f"src/a.cu: warning: {told}\n")
        assert rows(document) == [("one", "src/a.cu", 1, "32", "certified", False)]
    assert main(["bound", "src/a.cu", "--explain", *FAST[:4]]) == 0
    assert told in capsys.readouterr().err
    for words in (("src", *FAST), ("src/a.cu", "--explain", *FAST[:4])):
        assert main(["bound", *words, "--accept", "solver-backed", "--format", "json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["results"]
        assert (row["verdict"], row["bound"]) == ("solver-backed", "1")


def test_lines_as_they_come_budgets_and_what_a_configuration_says(here: Path, capsys: Capture) -> None:
    (here / "src/a.cu").write_text(ONE + TWO)
    (here / "warpbound.toml").write_text(
        'metrics = ["sectors"]\n[kernel.two]\nassume = ["n >= 1"]\n'
        + "".join(
            f'[[budget]]\nkernel = "{kernel}"\nmetric = "sectors"\n{rest}\n'
            for kernel, rest in [
                ("one", "most = 4"),
                ("two", 'most = "n"'),
                ("two", 'at = "n=9"\nmost = 9'),
                ("two", 'at = "n=10"\nmost = 9'),
                ("two", 'most = "n - 1"'),
            ]
        )
    )
    words = ["--block", "32", "--jobs", "1", "--no-cache", "--format", "jsonl", "-o", "out.jsonl"]
    assert main(["bound", "src", *words]) == 1
    assert capsys.readouterr().out == ""
    *lines, last = [json.loads(line) for line in (here / "out.jsonl").read_text().splitlines()]
    assert [(row["kernel"], row["bound"]) for row in lines] == [("one", "4"), ("two", "max(0, n)")]
    budgets = [(b["kernel"], b["at"], b["most"], b["value"], b["verdict"]) for b in last["budgets"]]
    assert budgets == [
        ("one", None, 4, 4, "kept"),
        ("two", None, "n", "max(0, n)", "kept"),
        ("two", "n=9", 9, 9, "kept"),
        ("two", "n=10", 9, 10, "exceeded"),
        ("two", None, "n - 1", "max(0, n)", "exceeded"),
    ]
    assert last["budgets"][3]["line"] == 2
    assert not (here / "cache").exists()


def test_a_budget_in_a_metric_of_ones_own(here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file is named as from the configuration's folder; what it is called inside is the metric's name."""
    (here / "src/a.cu").write_text(ONE)
    (here / "src/own.toml").write_text('name = "consts"\nconst = 1\n')
    budget = '[[budget]]\nkernel = "one"\nmetric = "own.toml"\nmost = 0\n'
    (here / "src/warpbound.toml").write_text(f'metrics = ["own.toml"]\n{budget}')
    words = ["--block", "32", "--jobs", "1"]
    assert main(["bound", "src", *words, "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["budgets"]
    assert (row["metric"], row["verdict"]) == ("consts", "exceeded")
    monkeypatch.chdir(here / "src")
    assert main(["bound", ".", *words, "--metric", "own.toml"]) == 1
    assert "one consts: exceeded, 1 of at most 0" in capsys.readouterr().out
    (here / "src/steps.toml").write_text('name = "consts"\nconst = 2\n')
    assert main(["bound", ".", *words, "--metric", "steps.toml"]) == 2
    assert "own.toml: another metric is called 'consts'" in capsys.readouterr().err


def test_text_page_and_fail_fast(apart: Path, capsys: Capture) -> None:
    (apart / "src/a.cu").write_text(ONE + "__global__ void spin(int n) { int x = 0; while (n > 0) { x = x + 1; } }\n")
    words = ["bound", "src/a.cu", "--metric", "steps", "--block", "32", "--jobs", "1"]
    assert main([*words, "--fail-fast"]) == 1
    text = capsys.readouterr().out.splitlines()
    assert text[0].split() == ["kernel", "at", "metric", "at", "most", "verdict", "seconds"]
    assert text[1].split()[:3] == ["one", "src/a.cu:1", "steps"]
    assert text[2].split()[:6] == ["spin", "src/a.cu:2", "steps", "no", "bound", "not-proved"]
    assert text[-1] == "1 file, 2 kernels: 1 certified, 1 not proved"
    assert "     1  not-proved: no potential was found for this loop" in text
    (apart / "src/a.cu").write_text((apart / "src/a.cu").read_text() + TWO)
    (apart / "src/z.cu").write_text("__global__ void last(int *A) {}\n")
    assert main([*words[:1], "src", *words[2:], "--fail-fast", "--exclude", "b.cu"]) == 1
    told = "1 certified, 1 not proved, 1 file left out, 1 kernel left out"
    assert capsys.readouterr().out.splitlines()[-1].partition(": ")[2].partition(", 1 bound")[0] == told
    (apart / "src/z.cu").unlink()
    assert main([*words, "--format", "sarif"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert (result["ruleId"], result["locations"][0]["physicalLocation"]["region"]["startLine"]) == ("not-proved", 2)


def test_a_kernel_that_hangs_is_a_row(apart: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    from checker.cli import fleet_work

    monkeypatch.setattr(fleet_work, "work", hazards.stuck)
    (apart / "src/stuck.cu").write_text(ONE + TWO)
    (apart / "src/z.cu").write_text(ONE)
    limit = round(patience(3))
    code, document, _ = bound(capsys, "src", "--time-limit", str(limit))
    assert code == 1
    assert [(r["kernel"], r["verdict"], r.get("problem")) for r in document["results"]] == [
        ("stuck", "timeout", f"more than {limit} s"),
        ("two", "certified", None),
        ("one", "certified", None),
    ]
    assert {"certified": 2, "timeout": 1}.items() <= document["summary"].items()
    assert document["results"][0]["seconds"] >= limit


def test_a_source_of_which_nothing_can_be_read_is_a_row(apart: Path, capsys: Capture) -> None:
    """No kernel is found in it, as clang gives up before; a source of host code has none and is no problem."""
    deep = "(" * 5_000 + "1" + ")" * 5_000
    (apart / "src/deep.cu").write_text(f"int f() {{ return {deep}; }}\n{ONE}")
    (apart / "src/host.cu").write_text("int main() { return open(0); }\n")
    code, document, error = bound(capsys, "src", "--no-cache")
    ((name, file, _, _, verdict, _),) = rows(document)
    assert (code, name, file, verdict) == (2, None, "src/deep.cu", "unsupported")
    assert {"files": 2, "kernels": 0, "unreadable": 1}.items() <= document["summary"].items()
    assert "src/deep.cu:1:" in error
    (apart / "src/deep.cu").unlink()
    code, document, error = bound(capsys, "src", "--no-cache")
    assert (code, document["results"]) == (2, [])
    assert "there is no kernel in 'src'" in error
    code, document, error = bound(capsys, "src/host.cu", "--no-cache")
    assert (code, [row[4] for row in rows(document)]) == (2, ["unsupported"])
    assert "src/host.cu:1:21: error: use of undeclared identifier 'open'" in error


INTERRUPTED: Final = """
from checker.cli import fleet_work
from tests.checker.fleet import hazards
fleet_work.work = hazards.stuck
"""


def test_ctrl_c_prints_what_is_done_and_the_next_run_goes_on(here: Path, capsys: Capture) -> None:
    (here / "src/a.cu").write_text(ONE + "// the longest is the first\n" * 5)
    (here / "src/stuck.cu").write_text(TWO)
    words = ("bound", str(here / "src"), *FAST, "--format", "jsonl")
    command = program(*words, before=INTERRUPTED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=here, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        row = json.loads(process.stdout.readline())
        most = patience(1.5)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=20 * most)
        assert time.monotonic() - sent < most
    assert (row["kernel"], row["verdict"]) == ("one", "certified")
    summary = json.loads(out)["summary"]
    assert summary.pop("left", 0) + summary.pop("kernels_left", 0) == 1  # it may have been listed, or not
    assert summary | {"seconds": 0} == {
        "files": 2, "kernels": 1, "certified": 1, "cached": 0, "seconds": 0, "reasons": [],
    }  # fmt: skip
    assert (process.returncode, error) == (130, "warpbound: interrupted\n")
    _, document, _ = bound(capsys, str(here / "src"))
    assert {row[0]: row[5] for row in rows(document)} == {"one": True, "two": False}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["src"], "there is no CUDA source in 'src'"),
        (["c.json", "--config", "grid.toml"], "A certificate is no source: `warpbound check c.json` takes it."),
        (["c.json", "k.qhl"], "A certificate is no source"),
        (["a.cu", "nowhere.cu"], "cannot read 'nowhere.cu': no such file or folder"),
        (["a.cu", "src", "--tight"], "--tight is for one source alone"),
        (["a.cu", "src", "--explain"], "--explain is for one source alone\n  Name one source, no folder.\n"),
        (["a.cu", "--tight", "-p", "src", "--no-cache"], "no folder, and leave out -p and --no-cache."),
        (["a.cu", "src", "--certificate", "x.json"], "--certificate x.json is for one bound"),
        (["a.cu", "--jobs", "0"], "--jobs 0: not a positive number"),
        (["a.cu", "--jobs", "2", "--time-limit", "-1"], "--time-limit -1: not a positive number"),
        (["a.cu", "--time-limit", "nan"], "--time-limit nan: not a positive number"),
        (["a.cu", "--cache", "a.cu"], "cannot use the cache 'a.cu'"),
        (["a.cu", "-p", "src"], "there is no compile_commands.json"),
        (["a.cu", "--cluster", "tcp://nowhere:1"], "--cluster tcp://nowhere:1"),
        (["a.cu", "--config", "none.toml"], "cannot read 'none.toml'"),
        (["a.cu", "--config", "wrong.toml"], "wrong.toml:2:1: error: 'kernel' is a text"),
        (["a.cu", "--config", "metric.toml"], "metric.toml:2:1: error: metrics: joules: no such metric"),
        (["a.cu", "--config", "model.toml"], "model.toml:1:1: error: hardware: abacus: no such model"),
        (["a.cu", "--config", "budget.toml"], "budget.toml:4:1: error: metric: joules: no such metric"),
        (["a.cu", "--config", "budget.toml", "--metric", "steps"], "budget.toml:4:1: error: metric: joules: no such"),
        (["a.cu", "--config", "every.toml"], "every.toml:3:1: error: metric: all: a budget is for one metric"),
        (["a.cu", "src", "--block", "256x"], "--block 256x: not a dimension"),
        (["a.cu", "--block", "2048"], "--block 2048: more than 1024 threads"),
        (["a.cu", "--config", "block.toml"], "block.toml:2:1: error: block: a: not a dimension"),
        (["a.cu", "--jobs", "1", "--assume", "n > 1 &&"], "--assume:1:9: error: expected an expression"),
        (["a.cu", "--jobs", "1", "--assume", "n > warp.index"], "    n > warp.index\n        ^"),
        (["a.cu", "--jobs", "1", "--assume", "threadIdx.x > n"], "'threadIdx.x' differs between threads"),
        (["a.cu", "--config", "assume.toml"], "assume.toml:2:1: error: assume: 'n >': expected an expression"),
        (["src", "--exclude", "*"], "there is no CUDA source in 'src'"),
        ([".", "--exclude", "*"], "--include and --exclude leave none of 1 CUDA source in '.'"),
        (["a.cu", "--jobs", "1", "--scope", "block", "--per", "grid"], "--scope block bounds a span"),
    ],
)
def test_unusable_input(words: list[str], problem: str, here: Path, capsys: Capture) -> None:
    (here / "a.cu").write_text(ONE)
    (here / "c.json").write_text("{}")
    (here / "k.qhl").write_text("kernel k\n")
    (here / "grid.toml").write_text("grid = 2\n")
    (here / "wrong.toml").write_text("[[budget]]\nkernel = 3\n")
    (here / "metric.toml").write_text('jobs = 1\nmetrics = ["joules"]\n')
    (here / "model.toml").write_text('hardware = "abacus"\n')
    (here / "budget.toml").write_text('metrics = ["steps"]\n[[budget]]\nkernel = "one"\nmetric = "joules"\nmost = 1\n')
    (here / "every.toml").write_text('[[budget]]\nkernel = "one"\nmetric = "all"\nmost = 1\n')
    (here / "block.toml").write_text('[kernel.one]\nblock = "a"\n')
    (here / "assume.toml").write_text('grid = 2\nassume = ["n >"]\n')
    assert main(["bound", *words, "--format", "json"]) == 2
    printed = capsys.readouterr()
    assert problem in printed.err
    assert json.loads(printed.out)["error"]["message"] in printed.err


def test_options_that_are_about_no_kernel(here: Path, capsys: Capture) -> None:
    """What was found is printed all the same."""
    (here / "src/a.cu").write_text(f"// gone\n{ONE}")
    (here / "warpbound.toml").write_text('[[budget]]\nkernel = "gone"\nmetric = "sectors"\nmost = 1\n')
    code, document, error = bound(capsys, ".", "--at", "m=1", "--assume", "k > 0")
    assert (code, [r["verdict"] for r in document["results"]]) == (2, ["certified"])
    assert "warpbound.toml:2:1: error: a budget is for 'gone', and no kernel here is called so" in error
    (here / "warpbound.toml").write_text('[[budget]]\nkernel = "one"\nmetric = "sectors"\nmost = 1\nat = "m=3"\n')
    code, document, error = bound(capsys, "src", "--at", "m=1")
    assert (code, [r["cached"] for r in document["results"]]) == (2, [True])
    assert "warpbound.toml:5:1: error: at: 'm' is no parameter of one" in error
    (here / "src/a.cu").write_text(f"// gone\n{TWO}")
    (here / "warpbound.toml").write_text('[[budget]]\nkernel = "two"\nmetric = "sectors"\nmost = "4*i + n"\n')
    code, error = main(["bound", "src", *FAST]), capsys.readouterr().err
    assert (code, "'i' is no parameter of two\n" in error, "Its parameters: n." in error) == (2, True, True)
    assert "warpbound.toml:4:1: error: 'most' is no number or formula here" in error
    (here / "warpbound.toml").write_text('[kernel.two]\nblock = 32\n[kernel."tow"]\nblock = 64\n')
    code, error = main(["bound", "src", *FAST]), capsys.readouterr().err
    assert (code, "warpbound.toml:3:9: error: no kernel here is called 'tow'" in error) == (2, True)
    (here / "b.cu").write_text("__global__ void tow(int *A) {}\n")
    assert main(["bound", "src", *FAST]) == 0, "it is a kernel of a source that was not asked for"
    (here / "b.cu").unlink()
    (here / "warpbound.toml").write_text('metrics = ["steps"]\nassume = ["n > 0", "k > 0"]\n')
    code, error = main(["bound", ".", *FAST]), capsys.readouterr().err
    assert (code, "warpbound.toml:2:1: error: assume: no kernel here has the parameters" in error) == (2, True)
    assert main(["bound", "src", *FAST]) == 0, "it may be for another source"
    capsys.readouterr()
    (here / "warpbound.toml").unlink()
    code, _, error = bound(capsys, "src", "--at", "m=1")
    assert code == 2
    assert "--at: 'm' is no parameter of a kernel here" in error


def test_several_instances_of_a_template(here: Path, capsys: Capture) -> None:
    (here / "t.cu").write_text("template <int N> __global__ void t(int *A) { A[N * threadIdx.x] = 1; }\n")
    wanted = ("--instantiate", "t<1>", "--instantiate", "t<2>", "--instantiate", "t<1>")
    for more in (("--no-cache",), ()):
        code, document, _ = bound(capsys, "t.cu", *wanted, *more)
        assert code == 0
        assert [(r["kernel"], r["bound"]) for r in document["results"]] == [("t<1>", "4"), ("t<2>", "8")]
    assert main(["bound", "t.cu", *wanted, "--metric", "sectors", "--block", "32"]) == 0
    assert "t<2>" in capsys.readouterr().out


def test_a_budget_for_the_kernel_of_one_file(here: Path, capsys: Capture) -> None:
    (here / "src/a.cu").write_text(ONE)
    (here / "src/b.cu").write_text(ONE.replace("A[", "A[64 * "))
    budget = '[[budget]]\nkernel = "one"\nmetric = "sectors"\nmost = 4\n'
    for more, code, judged in (
        ("", 1, {"src/a.cu": "kept", "src/b.cu": "exceeded"}),
        ('file = "src/a.cu"\n', 0, {"src/a.cu": "kept"}),
        ('file = "src/b.cu"\n', 1, {"src/b.cu": "exceeded"}),
    ):
        (here / "warpbound.toml").write_text(budget + more)
        found, document, _ = bound(capsys, "src")
        assert (found, {b["file"]: b["verdict"] for b in document["budgets"]}) == (code, judged)
    assert main(["bound", "src/a.cu", *FAST, "--jobs=1"]) == 0, "the other one was not asked for"
    assert "warning: 'src/b.cu' is no source that was looked at" in capsys.readouterr().err.replace(f"{here}/", "")
    (here / "warpbound.toml").write_text(f'{budget}file = "src/c.cu"\n')
    assert main(["bound", "src", *FAST]) == 2
    assert "toml:5:1: error: a budget is for a kernel of 'src/c.cu', and there is no such file" in (
        capsys.readouterr().err.replace(f"{here}/", "")
    )
    (here / "warpbound.toml").write_text(f'{budget}file = "src/a.cu"\n'.replace("one", "oen"))
    assert main(["bound", "src", *FAST]) == 2
    error = capsys.readouterr().err.replace(f"{here}/", "")
    assert "no kernel of 'src/a.cu' is called so" in error
    assert "Did you mean 'one'? There are: one." in error


def test_budgets_say_which_file_and_which_point(here: Path, capsys: Capture) -> None:
    (here / "src/a.cu").write_text(ONE + TWO)
    (here / "src/b.cu").write_text(ONE.replace("A[", "A[64 * "))
    (here / "warpbound.toml").write_text(
        '[[budget]]\nkernel = "one"\nmetric = "sectors"\nmost = 4\n'
        '[[budget]]\nkernel = "two"\nmetric = "sectors"\nmost = "n"\n'
    )
    assert main(["bound", "src", *FAST]) == 1
    out = capsys.readouterr().out
    assert "\n  one of src/a.cu sectors: kept, 4 of at most 4\n" in out
    assert "\n  one of src/b.cu sectors: exceeded, 32 of at most 4; most of it at src/b.cu:1\n" in out
    assert re.search(r"\n  two sectors: exceeded, max\(0, n\) of at most n \(0 at n=-\d+, of at most -\d+\); most", out)
    (here / "warpbound.toml").write_text('[[budget]]\nkernel = "one"\nmetric = "sectors"\nmost = 4\nfile = "a.cu"\n')
    assert main(["bound", "src", *FAST]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "Paths are as from the configuration's folder. 'one' is in: src/a.cu, src/b.cu." in error
    (here / "warpbound.toml").write_text("[kernel.oen]\nblock = 32\n")
    assert main(["bound", "src", *FAST]) == 2
    assert "Did you mean 'one'? There are: one, two." in capsys.readouterr().err


def test_one_source_beside_a_configuration(here: Path, capsys: Capture) -> None:
    """What README has for one source works in the folder of a configuration, too."""
    (here / "a.cu").write_text(ONE)
    (here / "warpbound.toml").write_text('metrics = ["sectors"]\nblock = 32\njobs = 1\n')
    assert main(["bound", "a.cu", "--certificate", "one.json"]) == 0
    assert json.loads((here / "one.json").read_text())
    capsys.readouterr()
    assert main(["bound", "a.cu", "--explain", *FAST[:4]]) == 0
    printed = capsys.readouterr()
    assert "Accesses, for one warp:" in printed.out
    assert "warpbound.toml: warning: not read with --explain: say here what it has, such as --block\n" in printed.err
    (here / "a.cu").write_text(ONE + TWO)
    assert main(["bound", "a.cu", "--certificate", "two.json"]) == 2
    printed = capsys.readouterr()
    assert "2 kernels: 2 certified" in printed.out
    assert "--certificate two.json is for one bound" in printed.err
    assert not (here / "two.json").exists()


def test_formulas_of_budgets_know_parameters_alone(here: Path, capsys: Capture) -> None:
    (here / "src/a.cu").write_text(TWO)
    (here / "warpbound.toml").write_text('[[budget]]\nkernel = "two"\nmetric = "sectors"\nmost = "4*wide"\n')
    assert main(["bound", "src", *FAST]) == 2
    error = capsys.readouterr().err
    assert "  Known here: n.\n" in error


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ('[[budget]]\nkernel = "oen"\nmetric = "sectors"\nmost = 1\n', "2:1", "a budget is for 'oen'"),
        ("[kernel.oen]\nblock = 32\n", "1:9", "no kernel here is called 'oen'"),
        ('[[budget]]\nkernel = "one"\nmetric = "sector"\nmost = 1\n', "3:1", "metric: sector: no such metric"),
    ],
)
def test_misspelt_names_are_told_before_anything_is_searched(
    text: str, place: str, told: str, here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels of headers and of macros are found by reading, which has to find that they are there."""
    (here / "src/a.cu").write_text(ONE)
    (here / "warpbound.toml").write_text(text)
    with monkeypatch.context() as patched:
        patched.setattr("checker.fleet.workers.run", hazards.stuck)
        assert main(["bound", "src", *FAST]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"warpbound.toml:{place}: error: {told}" in printed.err
    assert "Did you mean 'one'?" in printed.err or "Did you mean 'sectors'?" in printed.err
    (here / "src/a.cu").write_text(ONE.replace("one", "K(o)").replace("__global__", "#define K(x) x##en\n__global__"))
    if place != "3:1":
        assert main(["bound", "src", *FAST, "--no-cache"]) in (0, 1)


def test_an_index_with_a_page_a_kernel(here: Path, capsys: Capture) -> None:
    """The worst first; each row leads to the page of its kernel, and that back; nothing is fetched."""
    (here / "src/a.cu").write_text(f"{ONE}{TWO}__global__ void index(int *A) {{ A[3] = 1; }}\n")
    (here / "src/b.cu").write_text("__global__ void one(int *A) {\n    // }\n    A[0] = n;\n}\n")
    (here / "warpbound.toml").write_text('[[budget]]\nkernel = "two"\nmetric = "sectors"\nmost = 7\n')
    words = ["bound", "src", *FAST]
    assert main([*words, "--format", "html", "-o", "site/"]) == 2
    capsys.readouterr()
    index = (here / "site/index.html").read_text()
    names = ["one-1-0.html", "one-0-0.html", "two.html", "index-0-2.html"]
    assert re.findall('href="(.*?)"', index) == names
    assert sorted(p.name for p in (here / "site").iterdir()) == sorted(["index.html", *names])
    assert re.findall(r'<td [^<>]*class="verdict [a-z-]+">([a-z-]+)<', index) == ["unsupported", *["certified"] * 3]
    assert "2 files, 4 kernels" in index
    two = (here / "site/two.html").read_text()
    assert '<a href="index.html">src</a>' in two
    assert "every warp of two costs at most max(0, n) sectors" in two
    assert "two sectors: exceeded" in two
    assert "Q:Loop" in two or "Q:While" in two
    assert re.search(r'>2</td><td[^<>]*>1</td><td[^<>]* class="bound code">__global__ void two', two)
    broken = (here / "site/one-1-0.html").read_text()
    assert "sectors: src/b.cu:3:12: use of undeclared identifier" in broken
    assert ">    A[0] = n;<" in broken
    for page in (index, two, broken):
        assert not re.search(r"<script|<link|src=|https?:", page)
    assert main([*words, "--format", "json", "-o", "site"]) == 2
    assert "-o site: Is a directory" in capsys.readouterr().err
