"""`warpbound run --semantics parallel` and `--by-line`, from CUDA C to what is printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checker.cli import main

SOURCE = """\
__global__ void k(int *A, int n) {
    if (threadIdx.x < 32) {
        A[threadIdx.x] = 42;
    }
    __syncthreads();
    if (threadIdx.x >= 32) {
        A[threadIdx.x] = n;
    }
}
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command on `tricky` (POPL 2021, p. 15) or another source: exit code, standard output, standard error."""

    def go(*words: str, source: str = SOURCE) -> tuple[int, str, str]:
        path = tmp_path / "k.cu"
        path.write_text(source)
        code = main(["run", str(path), "--block", "64", "--arg", "n=7", *words])
        printed = capsys.readouterr()
        return code, printed.out.replace(str(path), "k.cu"), printed.err.replace(str(path), "k.cu")

    return go


def found(run: Run, *words: str) -> Any:
    code, out, _ = run("--format", "json", *words)
    assert code == 0
    return json.loads(out)


# --- parallel --------------------------------------------------------------------------------------------------------


def test_work_and_span_of_every_metric_and_of_the_pair(run: Run) -> None:
    result = found(run, "--semantics", "parallel", "--metric", "sectors", "--metric", "divwarps", "--grid", "3")
    assert result["totals"] == {"sectors": 3 * 8, "divwarps": 0}
    assert result["max_per_warp"] == {"sectors": 4, "divwarps": 0}
    # two comparisons, two branches and the barrier, two writes one after the other
    issued, span = 5 + 4, 5 * 4 + 2 * 404
    assert result["work"] == {"sectors": 24, "divwarps": 0, "issue,latency": 3 * 2 * issued}
    assert result["span"] == {"sectors": 8, "divwarps": 0, "issue,latency": span}
    assert result["time_bound"] == 2 * issued + span


def test_lock_step_runs_have_no_span(run: Run) -> None:
    result = found(run)
    assert (result["work"], result["span"], result["totals"]["sectors"]) == (None, None, 8)
    assert "time_bound" not in result


def test_the_text_has_a_column_more_and_the_bound_of_theorem_2(run: Run) -> None:
    code, out, _ = run("--semantics", "parallel", "--metric", "sectors", "--issue", "4")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("k: 1x1x1 blocks of 64x1x1 threads, 2 warps, ")
    assert lines[2:5] == [
        "  metric         work  most of a warp  span",
        "  sectors           8               4     8",
        "  issue,latency    18               9   828",
    ]
    assert lines[6].startswith("A block takes at most W/P + S = 1665/2 in issue,latency")
    assert "4 instructions a cycle (Theorem 2)" in lines[7]
    assert lines[-1].endswith("integers do not overflow, no data races between barriers.")
    assert "1 instruction a cycle" in run("--semantics", "parallel")[1]


def test_a_pair_of_ones_own(run: Run) -> None:
    result = found(
        run, "--semantics", "parallel", "--profile", "sectors,steps", "--metric", "conflicts", "--issue", "3"
    )
    assert result["work"] == {"conflicts": 0, "sectors,steps": 8}
    steps = 2 * (3 + 1) + 1 + (1 + 1 + 4) * 2
    assert result["span"] == {"conflicts": 0, "sectors,steps": steps}
    assert result["time_bound"] == f"{8 + 3 * steps}/3"


def test_the_second_metric_may_be_a_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text('name = "slow"\ngread = "2*n + 9"\ngwrite = "2*n + 9"\n')
    result = found(run, "--semantics", "parallel", "--profile", f"sectors,{path}", "--metric", "sectors")
    assert result["span"] == {"sectors": 8, "sectors,slow": 2 * (2 * 4 + 9)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--issue", "2"), "--issue: warps by themselves have no span"),
        (("--profile", "steps,steps"), "--profile: warps by themselves have no span"),
        (("--semantics", "parallel", "--issue", "0"), "--issue 0: not a positive number"),
        (("--semantics", "parallel", "--profile", "steps"), "--profile steps: not two metrics"),
        (("--semantics", "parallel", "--profile", "all,steps"), "--profile all,steps: 'all' is several metrics"),
        (("--semantics", "parallel", "--profile", "watts,steps"), "--profile watts: no such metric"),
        (("--semantics", "parallel", "--profile", "steps,sectors"), "the span of 'var' is less than its work"),
        (("--semantics", "parallel", "--step-limit", "3"), "did not end within 3 steps"),
        (("--semantics", "parallel", "--block", "0"), "--block 0: not a dimension"),
    ],
)
def test_unusable_options(run: Run, words: tuple[str, ...], message: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err


def test_barrier_divergence(run: Run) -> None:
    source = (
        SOURCE.replace("    __syncthreads();\n", "").replace("= 42;", "= 42; __syncthreads();").replace("< 32", "< 48")
    )
    code, out, err = run("--semantics", "parallel", "--format", "json", source=source)
    result = json.loads(out)
    assert (code, result["work"], result["span"], result["totals"]) == (3, None, None, None)
    assert [(p["line"], p["column"]) for p in result["error"]["places"]] == [(3, 30), (2, 5)]
    assert "16 of the 32 threads of warp 1 reach this __syncthreads()" in err


def test_accesses_out_of_bounds_are_warned_of(run: Run) -> None:
    code, _, err = run("--semantics", "parallel", "--array", "A=zeros:40")
    assert code == 1
    assert "out of bounds: store of A[40]" in err


# --- by line ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--semantics", "parallel"), ("--engine", "reference"), ("--engine", "fast")])
def test_lines_add_up(run: Run, words: tuple[str, ...]) -> None:
    result = found(run, "--by-line", *words)
    assert [(line["line"], line["executions"], line["totals"]["sectors"]) for line in result["lines"]] == [
        (2, 2, 0),
        (3, 1, 4),
        (5, 2, 0),
        (6, 2, 0),
        (7, 1, 4),
    ]
    assert {line["file"].rpartition("/")[2] for line in result["lines"]} == {"k.cu"}
    for metric, total in result["totals"].items():
        assert sum(line["totals"][metric] for line in result["lines"]) == total


def test_lines_as_text(run: Run) -> None:
    code, out, _ = run("--by-line", "--metric", "sectors")
    assert code == 0
    assert out.splitlines()[5:12] == [
        "  line  executions  sectors       source",
        "  k.cu",
        "     2           2        0       if (threadIdx.x < 32) {",
        "     3           1        4  50%  A[threadIdx.x] = 42;",
        "     5           2        0       __syncthreads();",
        "     6           2        0       if (threadIdx.x >= 32) {",
        "     7           1        4  50%  A[threadIdx.x] = n;",
    ]


def test_no_lines_unless_asked_for(run: Run) -> None:
    assert "lines" not in found(run)
    assert "executions" not in run()[1]
