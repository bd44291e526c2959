"""What is assumed inside a kernel: `//@ assume e;` at a statement, `//@ loop turns <= q;` before a loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker import recheck
from checker.certificates.document import digest
from checker.cli import main
from tests.checker.cli.one_process import here

LIMITED = """__global__ void k(const int *A, int *B, int m) {
    int t = threadIdx.x, x = 0, e = A[t];
    //@ assume e <= m;
    for (int i = 0; i < e; i++) x += A[0];
    B[t] = x;
}
"""
HANDED = """//@ requires forall i: 0 <= len[i];
__global__ void k(const int *len, float *A) {
    __shared__ int n;
    if (threadIdx.x == 0) n = len[blockIdx.x];
    __syncthreads();
    int m = n;
    //@ assume m == len[blockIdx.x];
    for (int i = threadIdx.x; i < m; i += 32) A[i] = 1;
}
"""
CHASE = """__global__ void k(const int *next, int *out, int limit) {
    int p = threadIdx.x;
    //@ loop turns <= limit;
    while (p != 0) p = next[p];
    out[threadIdx.x] = p;
}
"""


def written(folder: Path, text: str) -> str:
    path = folder / "k.cu"
    path.write_text(text)
    return str(path)


def bound(path: str, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    main(["bound", path, "--metric", "sectors", "--block", "32", "--format", "json", *more])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["results"]
    return found[0]


@pytest.mark.parametrize(
    ("text", "told", "given"),
    [
        (LIMITED, "8 + max(0, m)", "e <= m, at "),
        (CHASE, "4 + 32*max(0, limit)", "turns.line3 < limit, at "),
        (HANDED, "1 + 4*max(0, ceil(len[blockIdx.x]/32))", "m == len[blockIdx.x], at "),
    ],
)
def test_a_bound_by_what_is_assumed_inside(
    text: str, told: str, given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is printed as given, in words of both checkers; without it there is no bound."""
    path, cert = written(tmp_path, text), tmp_path / "c.json"
    row = bound(path, capsys, "--certificate", str(cert))
    assert (row["verdict"], row["bound"]) == ("certified", told)
    assert any(a.startswith(f"given: {given}") for a in row["assumptions"])
    report = recheck.recheck(json.loads(cert.read_text()))
    assert report.verdict == "valid"
    assert f"assumed wherever a thread comes to it: {given.removesuffix(', at ')}" in report.claim
    without = written(tmp_path, "\n".join(line for line in text.splitlines() if "//@" not in line))
    assert bound(without, capsys)["verdict"] == "not-proved"


@pytest.mark.parametrize(("text", "array", "arg"), [(LIMITED, "A", "m"), (CHASE, "next", "limit")])
@pytest.mark.parametrize("more", [(), ("--engine", "reference"), ("--semantics", "parallel"), ("--by-line",)])
def test_a_run_checks_it_at_every_pass(
    text: str, array: str, arg: str, more: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that breaks it is refuted, with the place and the thread; one that keeps it costs what it costs."""
    path = written(tmp_path, text)
    args = ["run", path, "--block", "32", "--arg", f"{arg}=5", *more]
    assert main([*args, "--array", f"{array}=iota"]) == 3
    told = capsys.readouterr().err
    assert "k.cu:3:5: error: the assumption " in told
    assert "does not hold at thread (" in told
    assert main(args) == 0


def test_a_mutant_that_assumes_less_than_its_derivation_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The assumption is part of the program: changed there, or there and where it is used, nothing fits any more."""
    cert = tmp_path / "c.json"
    bound(written(tmp_path, LIMITED), capsys, "--certificate", str(cert))
    made = json.loads(cert.read_text())
    (at,) = [i for i, s in enumerate(made["statements"]) if s[0] == "assume"]
    e = made["statements"][at][1]
    weak = ["op", "<=", ["var", "e"], ["op", "+", ["param", "m"], ["const", ["int", "int", 4], 1]]]

    def judged(change: Any) -> recheck.Report:
        document = json.loads(json.dumps(made))
        change(document)
        document["digest"] = digest(document)
        return recheck.recheck(document)

    def skipped(document: Any) -> None:
        document["statements"][at] = ["skip"]

    def weakened(document: Any) -> None:
        document["statements"][at] = ["assume", len(document["expressions"])]
        document["expressions"].append(weak)

    def weakened_everywhere(document: Any) -> None:
        document["expressions"][e] = weak

    assert judged(lambda _: None).verdict == "valid"
    for change in (skipped, weakened, weakened_everywhere):
        assert judged(change).verdict == "invalid", change.__name__


def test_what_no_thread_can_keep_is_vacuous(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, LIMITED.replace("e <= m", "e < e - threadIdx.x"))
    assert bound(path, capsys)["verdict"] != "certified"


def body(*lines: str) -> str:
    inside = "".join(f"    {line}\n" for line in lines)
    return f"__global__ void k(int *A, int n) {{\n    int j = A[0], t = threadIdx.x;\n{inside}}}\n"


LOOP = "for (int i = 0; i < j; i++) A[8 * t] = i;"


@pytest.mark.parametrize(
    "lines",
    [
        ("//@ assume j < 3;", "//@ assume j > 5;", LOOP),
        ("//@ assume j < 3;", "t = t + 1;", "//@ assume j > 5;", LOOP),
        ("j = t;", "//@ assume j < 0;", LOOP),
        ("j = n * 2;", "//@ assume j % 2 == 1;", LOOP),
    ],
)
def test_assumptions_that_no_run_keeps_are_vacuous_for_all(
    lines: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each thread comes to them, and none goes on."""
    path, cert = written(tmp_path, body(*lines)), str(tmp_path / "c.json")
    args = ["bound", path, "--block", "32", "--metric", "sectors", "--certificate", cert]
    assert main(args) == 1
    assert "certified" not in capsys.readouterr().out
    for command in ("check", "recheck", "report"):
        assert main([command, cert]) == 1
        assert "vacuous" in capsys.readouterr().out


@pytest.mark.parametrize(
    "lines",
    [
        ("//@ assume j < 3;", "j = A[1];", "//@ assume j > 5;", "j = 2;", LOOP),
        ("//@ assume j < 3;", "if (n > 3) j = 7;", "//@ assume j > 5;", "j = 2;", LOOP),
        ("if (n > 3) {", "//@ assume n < 0;", "j = 7; }", "j = 2;", LOOP),  # runs with another n are spoken of
        ("j = t;", "j = j + 5;", "//@ assume j < 7;", LOOP),
        ("j = n; n = 4;", "//@ assume j != n;", "j = 2;", LOOP),
    ],
)
def test_assumptions_that_some_run_keeps_are_not(
    lines: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, cert = written(tmp_path, body(*lines)), str(tmp_path / "c.json")
    assert main(["bound", path, "--block", "32", "--metric", "sectors", "--certificate", cert]) == 0
    for command in ("check", "recheck", "report"):
        assert main([command, cert]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "vacuous" not in said
        assert "wherever a thread comes to it" in said  # a certificate has no place for it


@pytest.mark.parametrize(
    ("line", "place", "told"),
    [
        ("//@ assume e <= k;", ":3:21: error: no variable or parameter is called 'k'", ""),
        ("//@ assume e + 1;", ":3:16: error: this is int, not bool", ""),
        ("//@ loop turns < m;", ":3:20: error: turns are limited as in: loop turns <= n", "Write <= before"),
        ("//@ loop turns <= k;", ":3:23: error: no variable or parameter is called 'k'", ""),
    ],
)
def test_bad_assumptions(line: str, place: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, LIMITED.replace("//@ assume e <= m;", line))
    assert main(["bound", path, "--metric", "sectors", "--block", "32"]) == 2
    err = capsys.readouterr().err
    assert place in err
    assert told in err


DEAD = """__global__ void k(float *out, int n, int m) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) out[32 * i + threadIdx.x] = 1;
    for (int i = 0; i < m; i++) out[32 * i + threadIdx.x] = 1;
}
"""


@pytest.mark.parametrize("given", ["n == 0", "n <= 0", "n < -4"])
def test_a_loop_that_no_launch_enters_costs_nothing(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = bound(written(tmp_path, DEAD), capsys, "--assume", given)
    assert (row["verdict"], row["bound"]) == ("certified", "4*max(0, m)")


def test_points_that_a_reading_excludes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a negative n the unsigned one wraps around, and the bound says nothing: no command gives it a value there."""
    here(monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text("__global__ void k(int *B, int n) { if (threadIdx.x < (unsigned)n) B[threadIdx.x] = n; }\n")
    Path("b.toml").write_text('[[budget]]\nkernel = "k"\nmetric = "sectors"\nat = "n=-5"\nmost = "4"\n')
    words = ["k.cu", "--block", "32"]
    assert main(["bound", *words, "--metric", "sectors", "--certificate", "k.json"]) == 0
    for command in (
        ["report", "k.json", "--at", "n=-5"],
        ["coalesce", *words, "--quick", "--confirm", "--arg", "n=-5"],
        ["predict", *words, "--device", "h100", "--grid", "1", "--at", "n=-5"],
        ["compiled", *words, "--ptx", "none.ptx", "--arg", "n=-5", "--metric", "conflicts"],
        ["bound", *words, "--config", "b.toml", "--metric", "sectors", "--cache", "cache"],
    ):
        capsys.readouterr()
        assert main(command) == 2
        assert "n >= 0 is assumed" in capsys.readouterr().err, command


SIZED = """__global__ void k(float *A, int C, int n) {
    for (int i = threadIdx.x; i < C; i += n) A[i] = 0;
}
void f(float *A, int C, int n) { k<<<1, n>>>(A, C, n); }
"""


@pytest.mark.parametrize(("options", "given"), [([], ["n == blockDim.x"]), (["--assume", "n > 0"], ["n > 0"])])
def test_a_parameter_that_is_launched_as_the_size_of_its_block(
    options: list[str], given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a person says of it stands in place of that."""
    (tmp_path / "k.cu").write_text(SIZED)
    line = ["bound", str(tmp_path / "k.cu"), "--kernel", "k", "--metric", "sectors", "--format", "json", *options]
    assert main(line) == 0
    told = capsys.readouterr()
    (row,) = json.loads(told.out)["results"]
    assert "trunc((C + n - 1)/n)" in row["bound"]
    assert [a.removeprefix("given: ") for a in row["assumptions"] if a.startswith("given: ")] == given
    assert "not needed" not in told.err


def test_what_launches_say_is_not_told_as_not_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No person has said it, who could leave it out."""
    (tmp_path / "k.cu").write_text(SIZED)
    line = ["bound", str(tmp_path / "k.cu"), "--kernel", "k", "--metric", "conflicts"]
    for options, told in ([], False), (["--assume", "n > 0"], True):
        assert main([*line, *options]) == 0
        assert ("not needed" in capsys.readouterr().err) == told
