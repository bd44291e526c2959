"""`warpbound coalesce`: options, output, exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from checker.cli import main

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
FAN2, FIXED, VECTOR = (str(PROOFS / name / "kernel.cu") for name in ("fan2", "fan2Fixed", "vectorAdd"))
KEYS = [
    "file", "line", "column", "kind", "array", "space", "access", "verdict", "transactions", "fewest", "lanes",
    "exact", "gpudrano", "confirmed", "reason", "advice", "remedies", "tried", "share", "depth", "observed",
]  # fmt: skip
pytestmark = pytest.mark.usefixtures("bounds_once", "analysed_once")
CONSECUTIVE = "consecutive threads access consecutive elements"
Capture = pytest.CaptureFixture[str]


def coalesce(capsys: Capture, *words: str, quick: bool = True) -> tuple[int, dict[str, Any]]:
    code = main(["coalesce", *words, *(["--quick"] if quick else []), "--format", "json"])
    printed = capsys.readouterr()
    assert printed.err == ""
    result: dict[str, Any] = json.loads(printed.out)
    return code, result


def found(result: dict[str, Any], verdict: str) -> set[str]:
    return {row["array"] for row in result["accesses"] if row["verdict"] == verdict}


@pytest.fixture
def cu(tmp_path: Path) -> Path:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *A, const int *I, int n)\n"
        "{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) A[I[i]] = 1;\n"
        "}\n"
    )
    return path


def test_json(capsys: Capture) -> None:
    code, result = coalesce(capsys, FAN2)
    assert code == 1
    assert list(result) == ["version", "kernel", "domain", "threshold", "accesses", "shares", "assumptions"]
    assert [list(row) for row in result["accesses"]] == [KEYS] * 8
    assert found(result, "uncoalesced") == {"A", "M"}
    assert found(result, "misaligned") == {"B"}
    first = result["accesses"][0]
    assert (first["line"], first["column"], first["kind"], first["access"]) == (13, 9, "load", "A[xy]")
    assert (first["transactions"], first["fewest"], first["lanes"]) == (32, 1, 32)
    assert first["reason"] == "consecutive threads are N elements apart"
    assert first["gpudrano"] == "uncoalesced"
    assert first["confirmed"] is None
    assert any("multiple of 32" in a for a in result["assumptions"])


def test_rows_come_by_their_share(capsys: Capture) -> None:
    _, result = coalesce(capsys, FAN2)
    shares = [Fraction(row["share"]) for row in result["accesses"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == 1
    assert shares[0] == Fraction(32, 4 * 32 + 1 + 2 + 2 + 1)


def test_the_lattice_as_the_domain(capsys: Capture) -> None:
    code, result = coalesce(capsys, FAN2, "--domain", "gpudrano")
    assert code == 1
    assert found(result, "uncoalesced") == {"A", "M"}
    assert found(result, "misaligned") == set()
    assert {row["exact"] for row in result["accesses"] if row["array"] == "B"} == {"misaligned", "coalesced"}
    code, result = coalesce(capsys, FIXED, "--domain", "gpudrano")
    assert (code, found(result, "uncoalesced")) == (0, set())


LARGE = """\
struct P {{ double x, y; }};
__global__ void k({t} *A, double *S, int n) {{
    __shared__ double s[64];
    int t = threadIdx.x;
    s[t] = S[n];
    if ({guard}) A[{index}] = A[0];
}}
"""


@pytest.mark.parametrize(
    ("t", "guard", "index", "lines", "fewest", "paper"),
    [
        ("float", "true", "t", 1, "coalesced", "coalesced"),
        ("float", "true", "t + 1", 2, "misaligned", "misaligned"),
        ("double", "true", "t", 2, "coalesced", "uncoalesced"),
        ("double", "true", "t + 1", 3, "misaligned", "uncoalesced"),
        ("double", "t < 16", "t", 1, "coalesced", "coalesced"),
        ("double", "t < 16", "t + 1", 2, "misaligned", "misaligned"),
        ("double", "true", "t / 2", 1, "coalesced", "coalesced"),
        ("double", "t < 17", "t", 2, "coalesced", "uncoalesced"),
        ("float4", "true", "t", 4, "coalesced", "uncoalesced"),
        ("float4", "t < 8", "t", 1, "coalesced", "coalesced"),
        ("P", "true", "t", 4, "uncoalesced", "uncoalesced"),
    ],
)
def test_the_papers_threshold(
    t: str, guard: str, index: str, lines: int, fewest: str, paper: str, capsys: Capture, tmp_path: Path
) -> None:
    """More than one line is too many there, for elements of any size; of shared memory nothing else is said."""
    path = tmp_path / "k.cu"
    path.write_text(LARGE.format(t=t, guard=guard, index=index))
    for threshold, verdict in (("fewest", fewest), ("paper", paper)):
        code, result = coalesce(
            capsys, str(path), "--block", "32", "--threshold", threshold, "--confirm", "--arg", "n=0"
        )
        (row, *_) = (r for r in result["accesses"] if r["kind"] == "store" and r["space"] == "global")
        assert (row["verdict"], row["transactions"], row["observed"]["verdict"]) == (verdict, lines, verdict)
        assert {r["verdict"] for r in result["accesses"] if r["space"] == "shared"} == {"conflict-free"}
        assert (code, result["threshold"]) == (int(verdict != "coalesced"), threshold)
    assert main(["coalesce", str(path), "--block", "32", "--threshold", "paper"]) == int(paper != "coalesced")
    assert "Uncoalesced is what needs more than one line (CAV 2017, section 3.2)." in capsys.readouterr().out


def test_shared_memory_is_not_for_the_lattice(capsys: Capture) -> None:
    tiled = str(PROOFS / "matMulTrans/kernel.cu")
    _, result = coalesce(capsys, tiled, "--block", "32,32")
    assert found(result, "conflicting") == {"As"}
    assert {row["gpudrano"] for row in result["accesses"] if row["space"] == "shared"} == {None}
    _, result = coalesce(capsys, tiled, "--domain", "gpudrano")
    assert {row["space"] for row in result["accesses"]} == {"global"}


def test_clean(capsys: Capture) -> None:
    code, result = coalesce(capsys, VECTOR, "--block", "256")
    assert code == 0
    assert {row["verdict"] for row in result["accesses"]} == {"coalesced"}
    assert "blocks of 256" in result["assumptions"]
    code, result = coalesce(capsys, VECTOR, "--block", "100")
    assert (code, found(result, "misaligned")) == (1, {"A", "B", "C"})


def test_assumptions(capsys: Capture) -> None:
    _, result = coalesce(capsys, FIXED, "--assume", "N % 32 == 0", "--assume", "t % 32 == 0")
    assert found(result, "misaligned") == set()
    assert "given: N % 32 == 0" in result["assumptions"]
    assert not any(a.startswith("given: blockDim") for a in result["assumptions"])


@pytest.mark.parametrize(("index", "matters"), [("t", False), ("n * t", True), ("A[t]", True), ("n", False)])
def test_arrays_that_are_too_small_for_conflicts(index: str, matters: bool, tmp_path: Path, capsys: Capture) -> None:
    """Of 32 words each is in a bank of its own: that holds of indices inside alone, and is said."""
    path = tmp_path / "k.cu"
    path.write_text(
        f"__global__ void k(int *A, int n) {{ __shared__ int s[32]; int t = threadIdx.x; A[n] = s[{index}]; }}"
    )
    _, result = coalesce(capsys, str(path), "--block", "32", "--quick")
    (row,) = (row for row in result["accesses"] if row["space"] == "shared")
    assert (row["verdict"], row["transactions"]) == ("conflict-free", 1)
    assert ("no index is outside of the shared array s" in result["assumptions"]) == matters


def test_confirm(capsys: Capture) -> None:
    words = ("--confirm", "--block", "32", "--arg", "N=50", "--arg", "t=3")
    code, result = coalesce(capsys, FAN2, *words)
    assert code == 1
    rows = {(row["kind"], row["access"], row["line"]): row for row in result["accesses"]}
    assert rows["load", "A[xy]", 13]["confirmed"] is True
    assert rows["load", "A[xy]", 13]["observed"]["most"] == 32
    assert rows["load", "A[ty]", 13]["confirmed"] is None
    assert rows["store", "B[x]", 15]["confirmed"] is True
    assert result["shares"] == "of the transactions in the run"
    _, result = coalesce(capsys, FAN2, "--confirm", "--block", "32", "--arg", "N=3", "--arg", "t=3")
    assert {row["confirmed"] for row in result["accesses"]} == {False, None}
    assert {row["share"] for row in result["accesses"]} == {0}


def test_a_run_keeps_the_contracts(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "k.cu").write_text(
        "//@ requires forall i: 0 <= c[i] && c[i] < 8;\n"
        "__global__ void k(const int *c, int *A) { A[c[threadIdx.x]] = 1; }\n"
    )
    words = ["coalesce", str(tmp_path / "k.cu"), "--quick", "--confirm", "--block", "32"]
    assert main([*words, "--array", "c=0,9"]) == 3
    assert "the arrays break the contract forall i: 0 <= c[i] && c[i] < 8, at i = 1" in capsys.readouterr().err
    assert main([*words, "--array", "c=0,7"]) == 1
    assert "coalesced load of c" in capsys.readouterr().out


def test_what_a_run_does_not_show_is_said(cu: Path, capsys: Capture) -> None:
    words = ["coalesce", str(cu), "--confirm", "--block", "64", "--arg", "n=64"]
    assert main([*words, "--array", "I=iota"]) == 1
    text = capsys.readouterr().out
    assert "not confirmed: coalesced in the run, at most 1, 1 on average over 2 executions" in text
    assert main([*words, "--array", "I=random:1"]) == 1
    assert "confirmed: " in capsys.readouterr().out
    assert main(["coalesce", str(cu), "--confirm", "--block", "64", "--arg", "n=0"]) == 1
    assert "not confirmed: the run does not get here" in capsys.readouterr().out


def test_two_threads_that_write_one_element_are_a_race(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *A, int n) { A[n * (threadIdx.x / 2)] = threadIdx.x; }\n")
    assert main(["coalesce", str(path), "--confirm", "--block", "32", "--arg", "n=40"]) == 1
    assert "two threads wrote different values into one element" in capsys.readouterr().out


def test_the_other_analysis_is_named_where_it_is_about_that(tmp_path: Path, capsys: Capture) -> None:
    """It looks for uncoalesced accesses: that it does not report a misaligned one says nothing."""
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *A, int *B) { A[threadIdx.x + 1] = 1; B[threadIdx.x * 64 % 128] = 1; }\n")
    assert main(["coalesce", str(path), "--block", "32"]) == 1
    text = capsys.readouterr().out
    assert "misaligned store of A" in text
    assert "does not report it" not in text


def test_text(cu: Path, capsys: Capture) -> None:
    assert main(["coalesce", str(cu)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "k: 2 accesses: 1 uncoalesced, 1 coalesced",
        "",
        f"{cu}:4:16: uncoalesced store of A[I[i]]: 32 lines, 1 at best, 32 lanes, 97 % of all",
        "        if (i < n) A[I[i]] = 1;",
        "                   ^",
        "  the index comes from I[..], so that threads may access any elements",
        "  GPUDrano's analysis reports it, too",
        "",
        "Nothing to mend:",
        f"  {cu}:4:18: coalesced load of I[i]: 1 line, 32 lanes, 3 % of all: {CONSECUTIVE}",
        "",
        "Shares: of the transactions, estimated with 10 turns a loop.",
        "Assumed:",
        "  without --block, blockDim.x is taken for a multiple of 32",
        "  every array starts at a multiple of 256 bytes",
        "  signed integers do not overflow; no caches",
    ]


def test_sarif(cu: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["coalesce", str(cu), "--format", "sarif"]) == 1
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "warpbound"
    assert any("blockDim.x" in fact for fact in run["properties"]["assumptions"])
    (result,) = run["results"]  # the load of I is good
    assert (result["ruleId"], result["level"]) == ("uncoalesced", "warning")
    assert "32 lines, 1 at best" in result["message"]["text"]
    assert "To mend it: " not in result["message"]["text"]  # nothing that was tried helps where the index is data
    (place,) = result["locations"]
    assert place["physicalLocation"]["region"] == {"startLine": 4, "startColumn": 16}
    assert place["physicalLocation"]["artifactLocation"]["uri"] == cu.as_uri()
    monkeypatch.chdir(cu.parent)
    cu.rename("a b.cu")
    main(["coalesce", "a b.cu", "--format", "sarif"])
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.cu"


def test_sarif_has_a_rule_for_every_result(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *A, int n)\n{\n    __shared__ float s[64];\n    int t = threadIdx.x, j = 0;\n"
        "    s[2 * t] = 1;\n    A[t + 1] = 1;\n    A[2 * t] = 1;\n"
        "    while (j < t) j++;\n    A[j] = 1;\n    A[t] = 1;\n}\n"
    )
    assert main(["coalesce", str(path), "--block", "32", "--format", "sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    levels = {rule["id"]: rule["defaultConfiguration"]["level"] for rule in run["tool"]["driver"]["rules"]}
    found = {(r["ruleId"], r["level"]) for r in run["results"]}
    assert found == set(levels.items())
    assert {rule for rule, _ in found} == {"uncoalesced", "misaligned", "conflicting", "unknown"}


def test_markdown(cu: Path, capsys: Capture) -> None:
    cu.write_text(cu.read_text().replace("A[I[i]]", "A[I[i] | 1]"))
    assert main(["coalesce", str(cu), "--format", "markdown"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# k: 2 accesses: 1 uncoalesced, 1 coalesced"
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 4
    assert {line.replace("\\|", "").count("|") for line in table} == {9}
    assert table[2].startswith(f"| `{cu}:4:16` | store | `A[I[i] \\| 1]` | uncoalesced | 32 | 1 | ")
    assert "- signed integers do not overflow; no caches" in lines
    words = ["--block", "64", "--arg", "n=64", "--array", "I=iota", "--confirm", "--format", "markdown"]
    assert main(["coalesce", str(cu), *words]) == 1
    assert "| uncoalesced (not confirmed: coalesced in the run" in capsys.readouterr().out


def test_html_has_a_row_for_every_access(cu: Path, capsys: Capture) -> None:
    cu.write_text(cu.read_text().replace("A[I[i]]", "A[I[i] & 1 << 9]"))
    assert main(["coalesce", str(cu), "--format", "html"]) == 1
    page = capsys.readouterr().out
    assert page.count("<tr role=") == 3
    assert 'class="bound">A[I[i] &amp; 512]</td>' in page
    assert 'class="verdict uncoalesced">uncoalesced</td>' in page
    assert "<li>signed integers do not overflow; no caches</li>" in page


def test_a_run_has_to_keep_to_what_is_assumed_of_blocks(cu: Path, capsys: Capture) -> None:
    words = ["coalesce", str(cu), "--confirm", "--block", "64", "--arg", "n=64", "--assume", "blockIdx.x == 0"]
    assert main([*words, "--grid", "1"]) == 1
    capsys.readouterr()
    assert main([*words, "--grid", "2"]) == 2
    assert "blockIdx.x == 0 is assumed, and does not hold" in capsys.readouterr().err


def test_a_kernel_without_accesses(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int n) { int x = n; }\n")
    assert main(["coalesce", str(path)]) == 0
    assert capsys.readouterr().out.startswith("k: no accesses\n")


def test_output_to_a_file(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "found.json"
    assert main(["coalesce", "--quick", FAN2, "--format", "json", "-o", str(out)]) == 1
    assert capsys.readouterr().out == ""
    assert len(json.loads(out.read_text())["accesses"]) == 8


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["no-such-file.cu"], "no-such-file.cu"),
        ([FAN2, "--kernel", "nothing"], "nothing"),
        ([FAN2, "--block", "0"], "not a dimension"),
        ([FAN2, "--block", "32,64"], "more than 1024 threads"),
        ([FAN2, "--hardware", "nothing"], "no such model"),
        ([FAN2, "--arg", "N=3"], "Add --confirm"),
        ([FAN2, "--array", "A=ones"], "Add --confirm"),
        ([FAN2, "--confirm", "--arg", "N=3"], "the size of a block is not known"),
        ([FAN2, "--confirm", "--block", "32", "--arg", "N=3"], "'t'"),
        ([FAN2, "--confirm", "--block", "32", "--arg", "N=x", "--arg", "t=0"], "is int"),
        ([FAN2, "--confirm", "--block", "32", "--arg", "N=3", "--arg", "t=0", "--assume", "N > 5"], "does not hold"),
        ([FAN2, "--assume", "N > 5", "--assume", "N < 3"], "no launch satisfies"),
        ([FAN2, "--assume", "N >"], "--assume"),
        ([FAN2, "--domain", "other"], "invalid choice"),
    ],
)
def test_unusable_input(words: list[str], says: str, capsys: Capture) -> None:
    try:
        code = main(["coalesce", *words])
    except SystemExit as stop:  # argparse
        code = int(str(stop.code))
    assert code == 2
    assert says in capsys.readouterr().err


def test_hardware_whose_arrays_do_not_start_lines(tmp_path: Path, capsys: Capture) -> None:
    model = tmp_path / "tight.toml"
    model.write_text('name = "tight"\nalignment = 32\n')
    assert main(["coalesce", "--quick", FAN2, "--hardware", str(model)]) == 2
    assert "128 bytes" in capsys.readouterr().err


def test_a_smaller_warp(tmp_path: Path, capsys: Capture) -> None:
    model = tmp_path / "small.toml"
    model.write_text('name = "small"\nwarp = 8\n')
    _, result = coalesce(capsys, FAN2, "--hardware", str(model))
    assert {row["transactions"] for row in result["accesses"] if row["verdict"] == "uncoalesced"} == {8}
    assert any("multiple of 8" in a for a in result["assumptions"])


def test_a_run_that_needs_more_than_was_stated_is_an_alarm(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    from checker.analysis.coalescing import observed

    def inflated(*args: Any, **options: Any) -> dict[Any, observed.Observed]:
        return {key: replace(seen, most=33) for key, seen in honest(*args, **options).items()}

    honest = observed.observe
    monkeypatch.setattr(observed, "observe", inflated)
    assert main(["coalesce", "--quick", VECTOR, "--confirm", "--block", "32", "--arg", "numElements=32"]) == 3
    assert "33 transactions in the run, 1 stated of all runs" in capsys.readouterr().err
    words = ["--confirm", "--block", "32", "--arg", "numElements=32", "--format", "sarif"]
    assert main(["coalesce", "--quick", VECTOR, *words]) == 3
    found = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert {(r["ruleId"], r["level"]) for r in found} == {("refuted", "error")}
    assert len(found) == 3


def test_remedies_are_tried_before_they_are_printed(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "t.cu"
    path.write_text(
        "__global__ void k(float *A) { __shared__ float s[32][32]; int t = threadIdx.x; s[t][0] = A[t]; "
        "A[t] = s[0][t]; }"
    )
    told = "pad the rows of s to 33: conflicts 31 -> 0 an access, certified"
    assert main(["coalesce", str(path), "--block", "32"]) == 1
    told_of = "    conflicts of a warp: at most 31 before, 0 after\n"
    assert f"  to mend it: {told}\n{told_of}" in capsys.readouterr().out
    assert main(["coalesce", str(path), "--block", "32", "--format", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)["accesses"]
    assert [row["advice"] for row in rows if row["verdict"] == "conflicting"] == [told]
    assert main(["coalesce", str(path), "--block", "32", "--format", "sarif"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    mend = result["message"]["text"].partition("To mend it: ")[2]
    assert mend.startswith(f"{told} (assumes: no index of s leaves its row; ")
    assert "; or swizzle" in mend
    path.write_text(path.read_text().replace("s[32][32]", "s[32][33]"))  # as it says
    assert main(["coalesce", str(path), "--block", "32"]) == 0


TRANSPOSE = """\
__global__ void t(const float *A, float *B, int n) {
    __shared__ float s[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = A[y * n + x];
    __syncthreads();
    B[y * n + x] = s[x][y];
}
"""


def test_remedies_are_certified(capsys: Capture, tmp_path: Path) -> None:
    """The certificates that are written say what is told, and the second checker accepts them."""
    path, folder = tmp_path / "t.cu", tmp_path / "certificates"
    path.write_text(TRANSPOSE)
    _, result = coalesce(capsys, str(path), "--block", "32,32", "--certificate", str(folder), quick=False)
    told = {row["access"]: row["remedies"] for row in result["accesses"] if row["remedies"]}
    padded, *_ = told["s[x * 32 + y]"]
    assert padded == {
        "remedy": "pad the rows of s to 33",
        "counts": "conflicts",
        "before": 31,
        "after": 0,
        "accesses": 1,
        "verdict": "certified",
        "problem": None,
        "bound_before": "31",
        "bound_after": "0",
        "assumes": [
            "no index of s leaves its row",
            "4224 bytes of shared memory are there for the kernel (4096 before)",
        ],
    }
    assert told["A[y * n + x]"][0]["verdict"] == "certified"
    documents = sorted(folder.iterdir())
    assert {"t-conflicts-0.json", "t-conflicts-1.json", "t-lines-0.json"} <= {p.name for p in documents}
    assert main(["recheck", *map(str, documents)]) == 0


def test_quick_certifies_nothing(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "t.cu"
    path.write_text(TRANSPOSE)
    _, result = coalesce(capsys, str(path), "--block", "32,32")
    assert not any(row["advice"] or row["remedies"] for row in result["accesses"])
    assert {r["verdict"] for row in result["accesses"] for r in row["tried"]} == {"not-proved"}
    for form in ("text", "sarif", "html"):
        assert main(["coalesce", str(path), "--quick", "--block", "32,32", "--format", form]) == 1
        out = capsys.readouterr().out.lower()
        assert "pad the rows of s" not in out if form == "sarif" else "tried, not proved" in out
        assert "mend it" not in out
        assert "may mend" not in out
    assert main(["coalesce", str(path), "--quick", "--certificate", "x"]) == 2
    assert "--quick makes no certificates" in capsys.readouterr().err
