"""Every command names an access by the same file, line and column: those where its text begins."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from checker.cli import main

pytestmark = pytest.mark.usefixtures("bounds_once")

Capture = pytest.CaptureFixture[str]
Place = tuple[str, int, int]

HEADER = "__device__ float half_of(const float *p, int i) { return p[i] / 2; }\n"

KERNELS = {
    "expressions": """
struct P { float x, y; };
__global__ void k(float *A, float *B, P *S, int n) {
    __shared__ float s[32][33];
    int t = threadIdx.x;
    s[t][0] = A[2 * t] + *(B + t);
    if (A[t] > 0) S[t].x = S[t].y + 1;
    *(A + n) = (B[t + 1]);
    float4 v = ((float4 *)B)[t];
    ((float4 *)B)[t] = v;
}
""",
    "equal": """
__global__ void k(float *A, float *B, int n) {
    int t = threadIdx.x;
    float x = A[t];
    x = A[t] + 1;
    B[t] = x + A[t] * A[t];
    if (A[t] > 0)
        B[t + n] = A[t];
}
""",
    "effects": """
__global__ void k(float *A, float *B, int *I, int n) {
    int t = threadIdx.x;
    float x = 0;
    B[t] = A[t] = 1;
    if ((x = B[2 * t]) > 0) (A)[3 * t] = x;
    atomicAdd(&I[t], 1);
    A[t]++;
    float *p = A + t;
    *p++ = 3; p[1] = 2;
}
""",
    "loops": """
__global__ void k(float *A, float *B, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        s[t + 32 * (i & 1)] += B[i] * A[t];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) A[32 * i + t] = s[2 * i];
    do { A[t] += s[t ^ 1]; n--; } while (n > 0);
}
""",
    "structures": """
struct P { float x, y; };
__global__ void k(float4 *A, float *B, P *S, uint3 *U, int n) {
    __shared__ float4 s[64];
    int t = threadIdx.x;
    s[t] = A[t];
    A[t] = s[2 * t];
    S[t + n] = S[t];
    S[t] = n > 0 ? S[3] : S[4];
    *(U + t) = make_uint3(1, 2, B[t]);
    __stcg(&A[n],
        A[3]);
    __stcg(B + t, __ldcg(&B[n]));
}
""",
    "files": """
#include "half.h"
__global__ void k(float *A, float *B, int n) {
    int t = threadIdx.x;
    A[t] = half_of(B, t) + half_of(A, t + n) + B[t];
}
""",
}


@pytest.fixture(params=KERNELS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    (tmp_path / "half.h").write_text(HEADER)
    (tmp_path / "k.cu").write_text(KERNELS[request.param])
    return str(tmp_path / "k.cu")


TEMPLATE = """struct P { float x, y; };
template <int N> __global__ void gemm(const float4 *A, float4 *B, P *S, const int *I, float *F, int n) {
    __shared__ float s[N * 33];
    int t = threadIdx.x;
    s[N * t] = F[2 * t] + I[t];
    __syncthreads();
    B[t] = A[2 * t];
    S[t + n] = S[t];
    F[I[t]] = s[t];
}
template __global__ void gemm<32>(const float4 *, float4 *, P *, const int *, float *, int);
"""


@pytest.mark.parametrize("access", ["s[t] = A[t]", "A[t] = s[2 * t]", "S[t + n] = S[t]", "*(U + t) =", "__stcg(&A[n]"])
def test_a_structure_is_stored_where_its_text_begins(access: str, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(KERNELS["structures"])
    before, _, _ = KERNELS["structures"].partition(access)
    rows = coalesced_rows(str(tmp_path / "k.cu"), capsys)
    here = [row for row in rows if row["line"] == before.count("\n") + 1 and row["kind"] == "store"]
    assert {row["column"] for row in here} == {len(before) - before.rfind("\n")}


@pytest.fixture
def template(tmp_path: Path) -> str:
    (tmp_path / "k.cu").write_text(TEMPLATE)
    return str(tmp_path / "k.cu")


ALL: Final = {
    "bound": "bound k.cu --block 32 --metric sectors --metric conflicts --explain --tight",
    "bound as JSON": "bound k.cu --block 32 --metric sectors --format json",
    "bound as HTML": "bound k.cu --block 32 --metric sectors --explain --format html",
    "coalesce": "coalesce k.cu --block 32 --quick",
    "coalesce as HTML": "coalesce k.cu --block 32 --quick --format html",
    "coalesce as Markdown": "coalesce k.cu --block 32 --quick --format markdown",
    "coalesce as SARIF": "coalesce k.cu --block 32 --quick --format sarif",
    "coalesce, in runs": "coalesce k.cu --block 32 --quick --confirm --arg n=3",
    "run": "run k.cu --block 32 --arg n=3 --by-line --array F=zeros:20",
    "report": "report c.json --source k.cu",
    "report as JSON": "report c.json --source k.cu --format json",
    "report as HTML": "report c.json --source k.cu --format html",
    "report as Markdown": "report c.json --source k.cu --format markdown",
    "report as SARIF": "report c.json --source k.cu --format sarif",
    "show": "show c.json",
    "check": "check c.json",
    "machine": "machine k.cu --block 32 --arg n=3",
    "wcet": "wcet k.cu --block 32",
    "compiled": "compiled k.cu --block 32 --arg n=3",
}


@pytest.mark.parametrize("command", ALL)
def test_every_command_has_the_places_and_the_name_of_an_instance(
    command: str, template: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No command prints a place with a column that is not that of an access, and all name the instance."""
    monkeypatch.chdir(tmp_path)
    words = ALL[command].split()
    if words[0] == "compiled" and shutil.which("nvcc") is None:
        pytest.skip("not here: nvcc")
    places = {(row["line"], row["column"]) for row in coalesced_rows(template, capsys)}
    if "c.json" in words:
        printed(capsys, "bound", "k.cu", "--block=32", "--metric=steps", "--certificate=c.json")
    main(words)
    out, error = capsys.readouterr()
    plain = re.sub(r"</?(?:span|wbr|a|code)[^>]*>", "", out).replace("&lt;", "<").replace("&gt;", ">").replace("\\", "")
    assert "gemm<32>" in plain
    assert not re.search(r"\bgemm\b(?!<32>|-32|\()", plain)
    named = re.findall(r"k\.cu:(\d+):(\d+)", plain + error)
    named += re.findall(r'"startLine": (\d+),\s*"startColumn": (\d+)', out)
    named += re.findall(r'"line": (\d+),\s*"column": (\d+)', out)
    named += re.findall(r"^  (\d+):(\d+) ", plain, re.MULTILINE)
    assert {(int(line), int(column)) for line, column in named} <= places
    told = {"coalesce", "coalesce as HTML", "coalesce as Markdown", "coalesce as SARIF", "coalesce, in runs"}
    told |= {"bound", "bound as HTML", "run", "report as JSON", "compiled"}
    assert bool(named) == (command in told)


def printed(capsys: Capture, *words: str) -> str:
    main(list(words))
    return capsys.readouterr().out


def coalesced_rows(source: str, capsys: Capture) -> list[dict[str, Any]]:
    """The accesses of a source, as `coalesce` prints them."""
    told = printed(capsys, "coalesce", source, "--quick", "--block", "32", "--format", "json")
    rows: list[dict[str, Any]] = json.loads(told)["accesses"]
    return rows


def coalesced(source: str, capsys: Capture) -> dict[Place, set[str]]:
    """The accesses by place, as `coalesce` names them."""
    found: dict[Place, set[str]] = {}
    for row in coalesced_rows(source, capsys):
        found.setdefault((row["file"], row["line"], row["column"]), set()).add(row["access"])
    return found


def test_bound_and_coalesce(source: str, capsys: Capture) -> None:
    told = printed(capsys, "bound", source, "--block", "32", "--metric", "steps", "--assume", "n <= 9", "--explain")
    rows = re.findall(r"^  (?:(\S+):)?(\d+):(\d+) +(\S.*\]) +(?:MemReads|Conflicts) <= ", told, re.MULTILINE)
    expected = {
        ("" if file == source else Path(file).name, line, column, name)
        for (file, line, column), names in coalesced(source, capsys).items()
        for name in names
    }
    assert expected == {(file, int(line), int(column), name) for file, line, column, name in rows}


def test_reports_and_coalesce(source: str, capsys: Capture, tmp_path: Path) -> None:
    """A certificate has no files and no places of expressions: those come from the source, in all formats."""
    made = str(tmp_path / "c.json")
    words = ("bound", source, "--block", "32", "--metric", "steps", "--assume", "n <= 9", "--certificate", made)
    printed(capsys, *words)
    (row,) = json.loads(printed(capsys, "report", made, "--source", source, "--format", "json"))["certificates"]
    found: dict[Place, set[str]] = {}
    for access in row["accesses"]:
        found.setdefault((access["file"], access["line"], access["column"]), set()).add(access["access"])
    assert found == coalesced(source, capsys)
    assert row["source"]["same"]
    assert len(row["accesses"]) == sum(map(len, found.values()))
    assert [(a["line"], a["column"]) for a in row["accesses"] if a["file"] == source] == sorted(
        (a["line"], a["column"]) for a in row["accesses"] if a["file"] == source
    )


def test_lines_of_a_run_and_coalesce(source: str, capsys: Capture) -> None:
    """`run --by-line` charges the lines of accesses with memory, and no others."""
    words = ("run", source, "--block", "32", "--arg", "n=1", "--by-line", "--format", "json")
    lines = json.loads(printed(capsys, *words, *(f"--array={a}=ones" for a in "AB")))["lines"]
    paid = {(row["file"], row["line"]) for row in lines if row["totals"]["sectors"]}
    rows = json.loads(printed(capsys, "coalesce", source, "--quick", "--block", "32", "--format", "json"))["accesses"]
    assert paid == {(row["file"], row["line"]) for row in rows if row["space"] == "global"}


def test_sarif_and_coalesce(source: str, capsys: Capture) -> None:
    log = json.loads(printed(capsys, "coalesce", source, "--quick", "--block", "32", "--format", "sarif"))
    rows = json.loads(printed(capsys, "coalesce", source, "--quick", "--block", "32", "--format", "json"))["accesses"]
    bad = [row for row in rows if row["verdict"] not in ("coalesced", "conflict-free")]

    def place(result: dict[str, Any]) -> tuple[int, int]:
        region = result["locations"][0]["physicalLocation"]["region"]
        return region["startLine"], region["startColumn"]

    expected = dict.fromkeys((r["line"], r["column"]) for r in bad)  # one result for each place
    assert [place(result) for result in log["runs"][0]["results"]] == [*expected]


def test_a_refused_count_and_coalesce(capsys: Capture, tmp_path: Path) -> None:
    """`check` names the access of which too little is claimed by the place that `coalesce` has for it."""
    from checker.certificates.document import canonical, digest

    (tmp_path / "k.cu").write_text(KERNELS["expressions"])
    made = tmp_path / "c.json"
    printed(capsys, "bound", str(tmp_path / "k.cu"), "--block", "32", "--metric", "sectors", "--certificate", str(made))
    document = json.loads(made.read_text())
    counted = [n for n in document["derivation"] if n["rule"] == "EQ:GArray" and n["with"]["n"] == 16]
    assert len(counted) == 1
    counted[0]["with"]["n"] = 15
    document["digest"] = digest(document)
    made.write_text(canonical(document))
    error = json.loads(printed(capsys, "check", str(made), "--format", "json"))["error"]
    places = coalesced(str(tmp_path / "k.cu"), capsys)
    assert places[str(tmp_path / "k.cu"), error["line"], error["column"]] == {"B.as_float4[t * 4]"}
