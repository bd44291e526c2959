"""`warpbound compiled`: what became of accesses, and whether bounds cover it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from checker.analysis.nvcc import Machine, needed
from checker.cli import main
from tests.checker.analysis.compiled import sources

Capture = pytest.CaptureFixture[str]

PROOFS: Final = Path(__file__).resolve().parents[3] / "proofs"

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="not here: nvcc")

LAUNCH: Final = ("--block", "32", "--arg", "n=3", "--array", "B=iota")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WARPBOUND_NVCC", raising=False)
    return tmp_path


def compared(source: str, ptx: str, *words: str, code: int = 0) -> Any:
    Path("k.cu").write_text(source)
    Path("k.ptx").write_text(ptx.replace("sum.cu", "k.cu").replace("quarters.cu", "k.cu"))
    assert main(["compiled", "k.cu", "--ptx", "k.ptx", *words, "--format", "json", "-o", "out.json"]) == code
    return json.loads(Path("out.json").read_text())


def fates(found: Any) -> list[tuple[int, int, str, list[str]]]:
    return [(row["line"], row["column"], row["kind"], row["became"]) for row in found["accesses"]]


def test_code_as_it_is_written() -> None:
    found = compared(sources.SUM, sources.PTX, *LAUNCH)
    assert fates(found) == [
        (4, 9, "load", ["as written"]),
        (4, 9, "store", ["as written"]),
        (4, 27, "load", ["as written"]),
    ]
    row = found["accesses"][2]
    assert [i["opcode"] for i in row["instructions"]] == ["ld.global.u32"]
    assert (row["bound"], row["allowed"], row["run"]) == (4, 12, {"most": 4, "executions": 3, "cost": 12})
    sectors = found["metrics"][0]
    assert (sectors["metric"], sectors["value"], sectors["run"], sectors["compiled"]) == ("sectors", 36, 36, 36)
    assert (found["differences"], found["problems"]) == ([], [])


def test_what_is_moved_out_of_a_loop() -> None:
    found = compared(sources.SUM, sources.HOISTED, *LAUNCH)
    assert [row[3] for row in fates(found)] == [["hoisted"]] * 3
    assert found["metrics"][0]["compiled"] == 12
    assert found["differences"] == []


def test_code_that_needs_more_than_the_bound_is_an_error() -> None:
    found = compared(sources.SUM, sources.TWICE, *LAUNCH, code=4)
    load = found["accesses"][2]
    assert load["became"] == ["unrolled", "repeated"]
    assert load["exceeded"]
    assert found["metrics"][0]["exceeded"]
    assert "certified of the source are 36" in found["problems"][0]


def test_one_access_that_needs_more_is_not_made_up_for_by_another() -> None:
    """In all, the code needs less than the bound."""
    ptx = sources.HOISTED.replace("TURN:\n", "TURN:\n    ld.global.u32 %r4, [%rd5];\n    ld.global.u32 %r4, [%rd5];\n")
    found = compared(sources.SUM, ptx, *LAUNCH, code=4)
    assert [m["exceeded"] for m in found["metrics"]] == [False] * 3
    assert [row["exceeded"] for row in found["accesses"]] == [False, False, True]


def test_a_bound_that_is_of_a_block_is_held_against_that_block(capsys: Capture) -> None:
    """What a block pays depends on an element. Where blocks take those of others, the dearest is as dear as before, and
    what is left behind is the same."""
    given = ("--assume", "forall i: C[i] >= 0")
    source = sources.SUM.replace("int n", "const int *C").replace("i < n", "i < C[blockIdx.x]")
    own = sources.PTX.replace(".param .u32 _Z1kPiPKii_param_2", ".param .u64 _Z1kPiPKii_param_2").replace(
        "    ld.param.u32 %r1, [_Z1kPiPKii_param_2];\n",
        """    ld.param.u64 %rd6, [_Z1kPiPKii_param_2];
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd7, %r2, 4;
    add.s64 %rd6, %rd6, %rd7;
    .loc 1 3 25
    ld.global.u32 %r1, [%rd6];
""",
    )
    words = ("--block", "32", "--grid", "3", "--array", "B=iota", "--array", "C=0,1,2")
    found = compared(source, own, *words, *given)
    keys = ("value", "run", "compiled", "exceeded")
    assert [found["metrics"][0][k] for k in keys] == [27, 27, 25, False]
    assert [compared(source, own, *words)["metrics"][0][k] for k in keys] == [27, 27, 25, False]  # the array is stable
    changing = source.replace("const int *C", "const volatile int *C")
    assert compared(changing, own, *words, code=1)["metrics"][0]["value"] is None
    assert main(["compiled", "k.cu", "--ptx", "k.ptx", *words]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "sectors: no potential was found for this loop: its guard reads 'C'" in said
    assert "`warpbound bound k.cu` says what would help." in said
    swapped = own.replace("%ctaid.x;\n", "%ctaid.x;\n    sub.s32 %r2, 2, %r2;\n")
    found = compared(source, swapped, *words, *given, code=4)
    assert [found["metrics"][0][k] for k in keys] == [27, 27, 25, True]
    assert found["differences"] == []
    assert "sectors: a warp of the compiled code pays 25, certified of the source are 1" in found["problems"]


def test_other_integers_refute(capsys: Capture) -> None:
    found = compared(sources.SUM, sources.WRONG, *LAUNCH, code=3)
    (apart,) = found["differences"]
    assert (apart["array"], apart["exact"], apart["index"], apart["run"], apart["compiled"]) == (
        "A",
        True,
        1,
        "3",
        "-3",
    )
    assert "integers differ" in capsys.readouterr().err


def test_what_is_gone() -> None:
    found = compared(sources.SUM, sources.GONE, "--block", "32", "--arg", "n=3")
    assert [row[3] for row in fates(found)] == [["gone"]] * 3
    unexecuted = compared(sources.SUM, sources.GONE, "--block", "32", "--arg", "n=0")
    assert [row[3] for row in fates(unexecuted)] == [["not executed"]] * 3


def test_what_is_made_wide_and_merged() -> None:
    found = compared(sources.QUARTERS, sources.WIDE, "--block", "32", "--array", "B=iota")
    assert fates(found) == [
        (3, 15, "load", ["made wide"]),
        (4, 15, "load", ["merged"]),
        (5, 5, "store", ["merged"]),
        (6, 5, "store", ["merged"]),
        (7, 5, "store", ["made wide"]),
    ]
    assert [row["merged_with"] for row in found["accesses"]] == [None, "k.cu:3:15", "k.cu:7:5", "k.cu:7:5", None]
    assert [row["allowed"] for row in found["accesses"] if row["instructions"]] == [32, 24]
    assert found["differences"] == []


def test_without_a_compiler_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    Path("k.cu").write_text(sources.SUM)
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("checker.analysis.nvcc.sysconfig.get_paths", lambda: {"purelib": "nowhere"})
    assert main(["compiled", "k.cu", *LAUNCH]) == 2
    said = capsys.readouterr().err
    assert "no nvcc is here" in said
    assert "--ptx" in said
    monkeypatch.setenv("WARPBOUND_NVCC", "none")
    assert main(["compiled", "k.cu", *LAUNCH]) == 2
    assert "WARPBOUND_NVCC none: no such compiler" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "ptx", "words", "told"),
    [
        (sources.SUM, sources.PTX, ("--metric", "steps"), "not counted"),
        (sources.SUM, sources.PTX.replace("_Z1kPiPKii(", "other("), (), "no kernels that are called 'k'"),
        (sources.SUM, sources.PTX.replace("add.s32 %r6", "frob.s32 %r6"), (), "'frob.s32' is not known"),
        (sources.SUM.replace("int n", "int n, int m"), sources.PTX, ("--arg", "m=1"), "passed 4 values"),
        (sources.SUM, sources.PTX, ("--arg", "m=1"), "no parameter 'm'"),
        (
            "struct P { int x; int *y; };\n__global__ void k(int *A, P p) { A[p.x] = p.y[1]; }\n",
            sources.PTX,
            ("--arg", "p.x=1"),
            "'p.y' of the structure 'p'",
        ),
        (
            "struct P { int x : 4, y : 4; };\n__global__ void k(int *A, P p) { A[p.x] = p.y; }\n",
            sources.PTX,
            ("--arg", "p.x=1"),
            "of the structure 'p'",
        ),
    ],
)
def test_what_cannot_be_compared(source: str, ptx: str, words: tuple[str, ...], told: str, capsys: Capture) -> None:
    Path("k.cu").write_text(source)
    Path("k.ptx").write_text(ptx)
    assert main(["compiled", "k.cu", "--ptx", "k.ptx", *LAUNCH, *words]) == 2
    assert told in capsys.readouterr().err


def test_text_says_all(capsys: Capture) -> None:
    Path("k.cu").write_text(sources.SUM)
    Path("k.ptx").write_text(sources.TWICE)
    assert main(["compiled", "k.cu", "--ptx", "k.ptx", *LAUNCH]) == 4
    said = capsys.readouterr().out
    assert "2 x ld.global.u32" in said
    assert "error: sectors: a warp of the compiled code pays 48, certified of the source are 36" in said
    assert "equal, bit for bit" in said


@needs_nvcc
def test_structures_by_value_and_what_machine_code_needs() -> None:
    Path("k.cu").write_text(
        "struct In { short h; double d; };\nstruct P { char c; In in; int x; };\n"
        "__global__ void k(int *A, P p, uchar4 u) {\n"
        "    __shared__ int S[64];\n"
        "    S[threadIdx.x] = p.in.h + (int)p.in.d;\n    __syncthreads();\n"
        "    A[threadIdx.x] = S[31 - threadIdx.x] + 1000 * p.x + u.y + p.c;\n}\n"
    )
    words = ["p.in.h=-3", "p.in.d=7.5", "p.x=9", "u.y=200", "p.c=-1"]
    launch = [w for word in words for w in ("--arg", word)]
    assert main(["compiled", "k.cu", "--block", "32", *launch, "--format", "json", "-o", "out.json"]) == 0
    found = json.loads(Path("out.json").read_text())
    assert found["differences"] == []
    assert found["machine"]["registers"] > 0
    assert (found["machine"]["shared"], found["machine"]["spilled"]) == (256, 0)


@needs_nvcc
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("1", "the final arrays are equal, bit for bit"),
        ("2", "the final arrays are equal, bit for bit"),
        ("3", "the final arrays are not compared: 'A' and 'A.x' are the same memory, two arrays in a run"),
    ],
)
def test_an_array_by_field_and_at_once_is_compared_as_it_was_accessed(how: str, told: str) -> None:
    Path("k.cu").write_text(
        "__global__ void k(short2 *A, int how) {\n"
        "    int t = threadIdx.x;\n"
        "    if (how & 1) A[t] = make_short2(t + 1, 7);\n"
        "    if (how & 2) { A[t].x += 3; A[t].y -= 1; }\n}\n"
    )
    words = ["--block", "32", "--arg", f"how={how}", "--metric", "sectors", "--format", "json", "-o", "out.json"]
    assert main(["compiled", "k.cu", *words]) == 0
    found = json.loads(Path("out.json").read_text())
    assert (found["differences"], found["problems"]) == ([], [])
    assert told in found["notes"]


def test_what_the_assembler_says() -> None:
    said = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kPi' for 'sm_90'
ptxas info    : Function properties for _Z1kPi
    96 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 96 bytes cumulative stack size, 4096 bytes smem
ptxas info    : Compiling entry function 'plain' for 'sm_90'
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""
    assert needed(said) == {"_Z1kPi": Machine(32, 4096, 24), "plain": Machine(8, 0, 0)}


@needs_nvcc
def test_a_compiler_that_refuses_a_source_is_told(capsys: Capture) -> None:
    Path("k.cu").write_text('#ifdef __CUDACC__\n#error "not for it"\n#endif\n' + sources.SUM)
    assert main(["compiled", "k.cu", "--arch", "sm_1", *LAUNCH]) == 2
    assert "sm_1" in capsys.readouterr().err
    assert main(["compiled", "k.cu", "--arch", "90", *LAUNCH]) == 2
    assert "no architecture" in capsys.readouterr().err


@needs_nvcc
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("vectorAdd", ("--block", "64", "--arg", "numElements=50", "--array", "A=random:1", "--array", "B=random:2")),
        ("addSub0", ("--block", "32", "--arg", "w=5", "--arg", "h=3", "--array", "A=random:1")),
        ("reduce3", ("--block", "64", "--arg", "n=99", "--array", "g_idata=random:1")),
    ],
)
def test_what_nvcc_makes_agrees_with_runs(name: str, words: tuple[str, ...], bounds_once: None) -> None:
    source = PROOFS / name / "kernel.cu"
    arch = os.environ.get("WARPBOUND_ARCH", "sm_90")
    code = main(
        ["compiled", str(source), "--arch", arch, *words, "--metric", "sectors", "--format", "json", "-o", "out.json"]
    )
    found = json.loads(Path("out.json").read_text())
    assert (code, found["differences"], found["problems"]) == (0, [], [])
    assert all(row["instructions"] or row["merged_with"] for row in found["accesses"])
