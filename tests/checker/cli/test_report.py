"""`warpbound report`: what an auditor reads, in all formats, and exit codes."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from hashlib import sha256
from html.parser import HTMLParser
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import pytest

from checker.certificates.audit import audit
from checker.certificates.document import canonical, digest
from checker.cli import main, options
from checker.cli import report as module
from checker.fleet.workers import Desk, Job, Work
from checker.oracles import Oracles
from checker.recheck import Report, recheck
from checker.report.audit import MEANING, UNSAID, row
from checker.testbed import workers
from logic.assertions import Entails, Refuted
from logic.refusals import Refusal
from logic.rules import SOUND
from logic.syntax import FALSE
from tests.checker.cli.one_process import alone

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
SECTORS, CONFLICTS = (str(PROOFS / "addSub3" / f"{metric}.json") for metric in ("sectors", "conflicts"))
SOURCE = str(PROOFS / "addSub3" / "kernel.cu")
Capture = pytest.CaptureFixture[str]

pytestmark = pytest.mark.usefixtures("audits_once")


def report(capsys: Capture, *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["report", *words, "--format", "json"])
    printed = capsys.readouterr()
    assert printed.err == ""
    found: dict[str, Any] = json.loads(printed.out)
    return code, found


def written(path: Path, source: str, **parts: Any) -> str:
    """A certificate with other parts, its digest made anew."""
    document = json.loads(Path(source).read_text()) | parts
    document["digest"] = digest(document)
    path.write_text(canonical(document))
    return str(path)


@pytest.fixture
def unproved(tmp_path: Path) -> str:
    """A certificate without its arithmetic proofs."""
    evidence = [entry | {"proof": None} for entry in json.loads(Path(SECTORS).read_text())["evidence"]]
    return written(tmp_path / "unproved.json", SECTORS, evidence=evidence)


def test_json(capsys: Capture) -> None:
    code, found = report(capsys, SECTORS, CONFLICTS, "--at", "h=5,w=32")
    assert code == 0
    assert list(found) == ["version", "verdict", "good", "sources", "reading", "at", "certificates", "comparison"]
    assert found["at"] == {"h": 5, "w": 32}
    assert (found["verdict"], found["good"], found["sources"], found["comparison"]) == ("certified", True, [], [])
    first, second = found["certificates"]
    assert (first["file"], first["kernel"], first["metric"], first["per"]) == (SECTORS, "addSub3", "sectors", "warp")
    assert first["digest"] == json.loads(Path(SECTORS).read_text())["digest"]
    assert (first["bound"], first["value"]) == ("4 + 20*max(0, ceil(h/2))", 64)
    assert (first["verdict"], first["second_checker"], first["solver_backed"]) == ("certified", "valid", [])
    assert first["second_claim"].startswith("every warp of addSub3 costs at most ")
    assert (first["block"], first["problem"], first["source"], first["listing"]) == ("32", None, None, [])
    assert set(first["side_conditions"]) == {"AtLeast", "AtMost", "Entails", "Uniform"}
    assert sum(first["side_conditions"]["AtMost"].values()) == 8
    (access, *_) = first["accesses"]
    assert (access["line"], access["access"]) == (8, "A[i]")
    assert access["most"].startswith("MemReads <= 4")
    (loop,) = first["turns"]
    assert (loop["line"], loop["rule"]) == (9, "Q:While1")
    assert any(text.startswith("sectors left, once inside: ") for text in loop["told"])
    assert "blocks of 32" in first["assumptions"]
    assert "every array starts at a multiple of 256 bytes" in first["assumptions"]
    assert UNSAID in first["assumptions"]
    assert (second["metric"], second["bound"]) == ("conflicts", "0")


def test_a_point_is_told_of_the_kernels_that_have_its_parameters(capsys: Capture) -> None:
    """w and h are of addSub3, n is of reduce0."""
    other = str(PROOFS / "reduce0" / "sectors.json")
    given = [SECTORS, other, "--at", "w=32,h=64,n=128"]
    _, found = report(capsys, *given)
    names = {row["kernel"]: sorted(row["at"]) for row in found["certificates"]}
    assert names == {"addSub3": ["h", "w"], "reduce0": ["n"]}
    main(["report", *given])
    printed = capsys.readouterr().out
    assert " at w = 32, h = 64\n" in printed
    assert "n = 128" in printed
    assert "h = 64, n" not in printed


def test_a_point_that_lacks_a_parameter(capsys: Capture) -> None:
    code, found = report(capsys, SECTORS, "--at", "w=32")
    (row,) = found["certificates"]
    assert (code, row["value"], row["missing"]) == (0, None, ["h"])
    main(["report", SECTORS, "--at", "w=32"])
    assert "      --at lacks h\n" in capsys.readouterr().out


def test_the_source_is_the_certificates(capsys: Capture) -> None:
    code, found = report(capsys, SECTORS, "--source", SOURCE)
    (row,) = found["certificates"]
    assert (code, row["source"]) == (0, {"file": SOURCE, "same": True, "difference": "", "unchanged": None})
    assert found["sources"] == [{"file": SOURCE, "sha256": sha256(Path(SOURCE).read_bytes()).hexdigest()}]
    assert UNSAID not in row["assumptions"]
    lines = Path(SOURCE).read_text().splitlines()
    assert [(line["line"], line["text"]) for line in row["listing"]] == [(i, lines[i - 1]) for i in range(4, 14)]
    notes = {line["line"]: line["notes"] for line in row["listing"] if line["notes"]}
    assert set(notes) == {8, 9, 10, 11}
    assert notes[8][0].startswith("A[i]: MemReads <= 4")
    assert row["apart"] == []


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("j += 2", "j += 1", "the certificate has `j <- j + 2;`, the source `j <- j + 1;`"),
        ("int h)", "int h, int k)", "its parameters are others"),
        ("int *A", "char *A", "the array A has another type or layout"),
        ("    for (", "    __syncthreads();\n    for (", "the certificate has `j <- 0;`, the source `sync;`"),
    ],
)
def test_another_source(old: str, new: str, difference: str, capsys: Capture, tmp_path: Path) -> None:
    other = str(tmp_path / "other.cu")
    Path(other).write_text(Path(SOURCE).read_text().replace(old, new))
    words = (SECTORS, "--source", other)
    code, found = report(capsys, *words)
    (row,) = found["certificates"]
    assert (code, found["good"], row["verdict"], row["listing"]) == (1, False, "certified", [])
    assert row["source"] == {"file": other, "same": False, "difference": difference, "unchanged": None}
    told = f"other.cu has another kernel of this name: {difference}"
    assert told in " ".join(shown(capsys, "text", *words).split())
    assert "1 certificate: 1 certified; 1 of another source" in shown(capsys, "text", *words)
    assert "another kernel of this name" in shown(capsys, "markdown", *words)
    assert "another kernel of this name" in shown(capsys, "html", *words)
    (run,) = json.loads(shown(capsys, "sarif", *words))["runs"]
    assert [(r["ruleId"], r["kind"]) for r in run["results"]] == [("certified", "pass"), ("other-source", "fail")]


def shown(capsys: Capture, form: str, *words: str) -> str:
    main(["report", *words, "--format", form])
    return capsys.readouterr().out


def test_what_reading_assumed(capsys: Capture, tmp_path: Path) -> None:
    text = (
        '#include "sizes.h"\n__global__ void k(int *A) {\n    atomicAdd(&A[threadIdx.x], 1);\n    __threadfence();\n}\n'
    )
    path = bound(tmp_path, "k", text, capsys)
    _, found = report(capsys, path, "--source", str(tmp_path / "k.cu"))
    told = " ".join(found["certificates"][0]["assumptions"])
    assert "collisions of lanes are not counted" in told
    assert "memory fences" in told
    assert "sizes.h" in told


OTHER = "the source launches blocks of {}, and this is about blocks of {}: it does not speak of that launch"


UNTOLD = "the source launches blocks of a size that is not told, and this is about blocks of 32"


def launching(tmp_path: Path, *launches: str) -> str:
    """addSub3 with host code that launches it so."""
    calls = " ".join(f"addSub3<<<{sizes}>>>(A, B, 1, 2);" for sizes in launches)
    (tmp_path / "launched.cu").write_text(f"{Path(SOURCE).read_text()}void f(int *A, int *B, int n) {{ {calls} }}\n")
    return str(tmp_path / "launched.cu")


@pytest.mark.parametrize(
    ("launches", "told"),
    [
        (["10, 32"], []),
        (["10, 256"], [OTHER.format(256, 32)]),
        (["10, dim3(8, 8)"], [OTHER.format("8 x 8", "32")]),
        (["10, dim3(32, 2)"], [OTHER.format("32 x 2", "32")]),
        (["10, n"], [UNTOLD]),
        (["10, 32", "n, 32"], []),
        (["10, 32", "10, 64", "n, n"], [OTHER.format(64, 32), UNTOLD]),
        (["10, 64", "n, dim3(8, 4)"], [OTHER.format(64, 32), OTHER.format("8 x 4", "32")]),
    ],
)
def test_launches_in_the_source(launches: list[str], told: list[str], capsys: Capture, tmp_path: Path) -> None:
    """A certificate of blocks of 32 does not speak of launches of others."""
    source = launching(tmp_path, *launches)
    code, found = report(capsys, SECTORS, "--source", source)
    (row,) = found["certificates"]
    assert (row["verdict"], row["source"]["same"], row["warnings"]) == ("certified", True, told)
    others = [text for text in told if text != UNTOLD]
    assert (code, found["good"]) == (bool(others), not others)
    assert sum(not launch["covered"] for launch in row["launches"]) == len(others)


def test_each_source_with_a_kernel_of_the_name_counts(capsys: Capture, tmp_path: Path) -> None:
    """In whatever order they are given: one that differs is told, and so are the launches of all."""
    other = tmp_path / "other.cu"
    other.write_text(Path(SOURCE).read_text().replace("+= 2", "+= 1"))
    for files in ((SOURCE, str(other)), (str(other), SOURCE)):
        code, found = report(capsys, SECTORS, "--source", files[0], "--source", files[1])
        source = found["certificates"][0]["source"]
        assert (code, source["file"], source["same"]) == (1, str(other), False)
    code, found = report(capsys, SECTORS, "--source", SOURCE, "--source", launching(tmp_path, "10, 256"))
    assert (code, found["certificates"][0]["warnings"]) == (1, [OTHER.format(256, 32)])


GIVEN = """__constant__ int T[4] = {0, 1, 2, 3};
__global__ void k(const unsigned char *c, int *B, int n) {
    for (int i = 0; i < T[threadIdx.x & 3]; i++) B[i] = 1;
    for (int i = 0; i < n; i += c[i] + 1) B[i] = 1;
}
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (", 3}", ", 2}", ""),
        (", 3}", ", 4}", "the constant tables of the source do not keep what is given: forall i in [0, 4): T[i] <= 3"),
        ("{0", "{-1", "the constant tables of the source do not keep what is given: forall i in [0, 4): 0 <= T[i]"),
        (
            "const unsigned",
            "const volatile unsigned",
            "the source reads 'c' as what others may change meanwhile, so nothing is given of it: forall i: 0 <= c[i]",
        ),
    ],
)
def test_a_source_on_which_what_is_given_does_not_hold(
    old: str, new: str, told: str, capsys: Capture, tmp_path: Path
) -> None:
    """Its kernel is the same, but not what its certificate takes from tables and types."""
    path = bound(tmp_path, "k", GIVEN, capsys)
    (tmp_path / "other.cu").write_text(GIVEN.replace(old, new))
    code, found = report(capsys, path, "--source", str(tmp_path / "other.cu"))
    assert (code, found["certificates"][0]["source"]["difference"]) == (int(bool(told)), told)


def test_a_launch_of_others_in_all_formats(capsys: Capture, tmp_path: Path) -> None:
    words = (SECTORS, "--source", launching(tmp_path, "10, dim3(8, 8)"))
    sentence = OTHER.format("8 x 8", "32")
    text = " ".join(shown(capsys, "text", *words).split())
    assert sentence in text
    assert "1 certificate: 1 certified; 1 of another launch" in text
    assert sentence in shown(capsys, "markdown", *words)
    assert sentence in shown(capsys, "html", *words)
    (run,) = json.loads(shown(capsys, "sarif", *words))["runs"]
    assert [(r["ruleId"], r["kind"]) for r in run["results"]] == [("certified", "pass"), ("other-launch", "fail")]


def test_launches_that_options_describe(capsys: Capture, tmp_path: Path) -> None:
    """--block and --grid stand for the launches of the source, or for those of no source at all."""
    source = launching(tmp_path, "10, 256")
    assert report(capsys, SECTORS, "--source", source, "--block", "32")[0] == 0
    assert report(capsys, SECTORS, "--block", "32", "--grid", "7")[0] == 0
    code, found = report(capsys, SECTORS, "--block", "8,8")
    told = "the launch asked for has blocks of 8 x 8, and this is about blocks of 32: it does not speak of that launch"
    assert (code, found["certificates"][0]["warnings"]) == (1, [told])
    assert "not a dimension" in refused(capsys, SECTORS, "--block", "0")


def test_each_launch_has_its_certificate(capsys: Capture, tmp_path: Path) -> None:
    """What one leaves out another may speak of, if it is about the same cost."""
    source = launching(tmp_path, "1, 32", "1, 64")
    launch = json.loads(Path(SECTORS).read_text())["launch"]
    wide = str(tmp_path / "wide.json")
    assert main(["bound", SOURCE, "--metric", "sectors", "--block", "64", "--certificate", wide]) == 0
    capsys.readouterr()
    assert report(capsys, SECTORS, wide, "--source", source)[0] == 0
    code, found = report(capsys, CONFLICTS, wide, "--source", source)
    assert (code, [len(row["warnings"]) for row in found["certificates"]]) == (1, [1, 1])
    code, found = report(capsys, SECTORS, wide, "--source", launching(tmp_path, "1, 32"))  # of which one says nothing
    assert (code, [len(row["warnings"]) for row in found["certificates"]]) == (1, [0, 1])
    narrow = written(tmp_path / "narrow.json", SECTORS, launch=launch | {"grid": [7, 1, 1]})
    code, found = report(capsys, narrow, "--source", launching(tmp_path, "8, 32"))
    assert (code, found["certificates"][0]["warnings"]) == (
        1,
        ["the source launches a grid of 8, and this is about a grid of 7: it does not speak of that launch"],
    )


def test_a_grid_that_is_assumed_and_one_that_is_not_told(capsys: Capture, tmp_path: Path) -> None:
    launch = json.loads(Path(SECTORS).read_text())["launch"]
    few = ["op", "<", ["param", "gridDim.x"], ["const", ["int", "int", 4], 8]]
    path = written(tmp_path / "few.json", SECTORS, launch=launch | {"assumptions": [few]})
    assert report(capsys, path, "--source", launching(tmp_path, "7, 32"))[0] == 0
    code, found = report(capsys, path, "--source", launching(tmp_path, "8, 32"))
    told = "the source launches blocks of 32 in a grid of 8, and this assumes gridDim.x < 8"
    assert (code, found["certificates"][0]["warnings"]) == (1, [f"{told}: it does not speak of that launch"])
    path = written(tmp_path / "seven.json", SECTORS, launch=launch | {"grid": [7, 1, 1]})
    code, found = report(capsys, path, "--source", launching(tmp_path, "n, 32"))
    told = "the source launches a grid of a size that is not told, and this is about a grid of 7"
    assert (code, found["certificates"][0]["warnings"]) == (0, [told])
    code, found = report(capsys, path, "--block", "32")  # who asks for less knows what is asked for
    assert (code, found["certificates"][0]["warnings"]) == (0, [])


COPY = """\
{}template <int N> __global__ void k(int *A) {{ if (blockDim.x % 32 == 0) A[threadIdx.x] = N; }}
void f(int *A) {{ k<16><<<1, dim3(16, 16)>>>(A); k<32><<<1, dim3(32, 32)>>>(A); }}
"""


def test_symbolic_certificates_and_instances(capsys: Capture, tmp_path: Path) -> None:
    """One that holds for blocks of any size speaks of all that it assumes nothing else of; launches of another instance
    of a template are none of this one."""
    (tmp_path / "k.cu").write_text(COPY.format(""))
    path, source = str(tmp_path / "c.json"), str(tmp_path / "k.cu")
    words = ("--instantiate", "k<16>")
    bare = tmp_path / "bare.cu"
    bare.write_text(COPY.format("").split("void f")[0])

    def made(*more: str) -> str:
        options = ("--metric", "sectors", *words, "--certificate", path)
        assert main(["bound", str(bare), *options, *more]) == 0
        capsys.readouterr()
        return path

    assert report(capsys, made(), "--source", source, *words)[0] == 0
    assert report(capsys, made("--block", "16,16"), "--source", source, *words)[0] == 0
    code, found = report(capsys, made("--block", "32,32"), "--source", source, *words)
    assert (code, found["certificates"][0]["warnings"]) == (1, [OTHER.format("16 x 16", "32 x 32")])
    code, found = report(capsys, made("--assume", "blockDim.x % 32 == 0"), "--source", source, *words)
    told = "the source launches blocks of 16 x 16 in a grid of 1, and this assumes blockDim.x % 32 == 0"
    assert (code, found["certificates"][0]["warnings"]) == (1, [f"{told}: it does not speak of that launch"])


def test_launches_that_annotations_describe(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(f"//@ launch block = 64;\n{Path(SOURCE).read_text()}")
    code, found = report(capsys, SECTORS, "--source", str(tmp_path / "k.cu"))
    assert (code, found["certificates"][0]["warnings"]) == (1, [OTHER.format(64, 32)])


def with_header(capsys: Capture, tmp_path: Path, header: str, text: str) -> tuple[str, list[Any]]:
    """The certificate of a kernel with a header, and the places that the report on it puts on no line of the source."""
    (tmp_path / "h.cuh").write_text(header)
    path = bound(tmp_path, "k", f'#include "h.cuh"\n{text}', capsys)
    _, found = report(capsys, path, "--source", str(tmp_path / "k.cu"))
    (row,) = found["certificates"]
    assert not any(line["notes"] for line in row["listing"])
    return path, row["apart"]


def test_places_in_other_files(capsys: Capture, tmp_path: Path) -> None:
    """A place in a certificate has no file: what the source does not have there is not put on a line."""
    header = "\n\n\n__device__ void put(int *A, int i) {\n    A[i] = 1;\n}\n"
    text = "__global__ void k(int *A, int n) {\n    int i = 32 * threadIdx.x;\n    put(A, i);\n}\n"
    path, apart = with_header(capsys, tmp_path, header, text)
    assert [(x["file"], x["line"]) for x in apart] == [(str(tmp_path / "h.cuh"), 5)]
    assert ": MemReads &lt;= 32" in shown(capsys, "html", path, "--source", str(tmp_path / "k.cu"))


def test_places_that_two_files_have(capsys: Capture, tmp_path: Path) -> None:
    header = "__device__ void put(int *A) {\n\n    A[0] = 1;\n}\n"
    text = "__global__ void k(int *A, int n) {\n    A[0] = 1; put(A);\n}\n"
    _, apart = with_header(capsys, tmp_path, header, text)
    assert {(x["file"], x["line"], x["column"]) for x in apart} == {(None, 3, 5)}


def test_different_accesses_at_one_place_of_two_files(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "h.cuh").write_text("__device__ void put(int *A, int i) {\n    i += 1;\n    A[i] = 1;\n}\n")
    text = '#include "h.cuh"\n__global__ void k(int *A, int n) {\n    A[n] = 5; put(A, n);\n}\n'
    _, found = report(capsys, bound(tmp_path, "k", text, capsys), "--source", str(tmp_path / "k.cu"))
    (row,) = found["certificates"]
    files = {a["access"]: (a["file"], a["line"], a["column"]) for a in row["accesses"]}
    assert files == {"A[n]": (str(tmp_path / "k.cu"), 3, 5), "A[i]": (str(tmp_path / "h.cuh"), 3, 5)}


def test_shares_of_one_place_of_two_files(capsys: Capture, tmp_path: Path) -> None:
    """What the kernel's own line takes is not added to what that of the header takes, in no command."""
    put = "__device__ void put(int *A, int n) {\n    for (int j = 0; j < n; j++)\n    A[j] = 1;\n}\n"
    (tmp_path / "h.cuh").write_text(put)
    kernel = "__global__ void k(int *A, int *B, int n) {\n    B[32 * threadIdx.x] = 5;\n    put(A, n);\n}\n"
    text = f'#include "h.cuh"\n{kernel}'
    made = bound(tmp_path, "k", text, capsys)
    words = (made, "--source", str(tmp_path / "k.cu"), "--at", "n=8")
    _, found = report(capsys, *words)
    (row,) = found["certificates"]
    lines = {(x["file"], x["line"]): (x["spent"], x["paid"]) for x in row["shares"]["lines"]}
    assert lines == {(str(tmp_path / "k.cu"), 3): (32, 32), (str(tmp_path / "h.cuh"), 3): (8, 8)}
    page = shown(capsys, "html", *words)
    assert f"{tmp_path / 'h.cuh'} line 3 takes 8 of 40</li>" in page
    listing = page.partition('<table class="source"')[2].partition("</table>")[0]
    (own,) = (row for row in listing.split("<tr") if "-L3" in row)
    assert re.findall(r">(Q:\w+)</a>", own) == ["Q:GWrite"]
    assert main(["bound", str(tmp_path / "k.cu"), "--metric=sectors", "--block=32", "--at=n=8", "--explain"]) == 0
    told = capsys.readouterr().out
    assert re.findall(r"^ +(\S+) +([AB]\[)", told, re.MULTILINE) == [("h.cuh:3:5", "A["), ("3:5", "B[")]
    rows = re.findall(r"^ +(\S+) +(\d+) +\d+%", told.split("What each line takes")[1], re.MULTILINE)
    assert rows == [("3", "32"), ("h.cuh:3", "8")]


def test_places_outside_of_the_kernel(capsys: Capture, tmp_path: Path) -> None:
    text = """\
__device__ void put(int *A, int i) {
    A[i] = 1;
}

int unrelated;

__global__ void k(int *A, int n) {
    put(A, 32 * threadIdx.x);
    if (n > 2) { A[0] = 2;
        // the last line

    }
}
int another;
"""
    path = bound(tmp_path, "k", text, capsys)
    _, found = report(capsys, path, "--source", str(tmp_path / "k.cu"))
    (row,) = found["certificates"]
    assert [line["line"] for line in row["listing"]] == [2, None, *range(7, 14)]
    assert {line["line"] for line in row["listing"] if line["notes"]} == {2, 9}


def test_a_kernel_in_an_included_file(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text('\n\n\n\n\n\n#include "k.cu"\n')
    path = bound(tmp_path, "k", Path(SOURCE).read_text(), capsys)
    code, found = report(capsys, path, "--source", str(tmp_path / "main.cu"))
    (row,) = found["certificates"]
    assert (code, row["source"]["same"]) == (0, True)
    assert row["listing"][0]["text"].startswith("__global__ void addSub3")


def test_forged_places(capsys: Capture, tmp_path: Path) -> None:
    """What the source has nothing at stands apart."""
    document = json.loads(Path(SECTORS).read_text())
    nodes = [node | {"at": [4, 1]} for node in document["derivation"]]
    path = written(tmp_path / "forged.json", SECTORS, derivation=nodes)
    code, found = report(capsys, path, "--source", SOURCE)
    (row,) = found["certificates"]
    assert code == 0
    assert not any(line["notes"] for line in row["listing"])
    assert len(row["apart"]) >= 2


def test_several_sources(capsys: Capture) -> None:
    matmul = (str(PROOFS / "matMul" / "sectors.json"), str(PROOFS / "matMul" / "kernel.cu"))
    code, found = report(capsys, SECTORS, matmul[0], "--source", SOURCE, "--source", matmul[1])
    assert code == 0
    assert [row["source"]["file"] for row in found["certificates"]] == [SOURCE, matmul[1]]
    assert "there is no kernel 'matMul' in" in refused(capsys, SECTORS, matmul[0], "--source", SOURCE)


def test_what_nothing_satisfies(tmp_path: Path, capsys: Capture) -> None:
    launch = json.loads(Path(SECTORS).read_text())["launch"]
    facts = [["op", op, ["param", "h"], ["const", ["int", "int", 4], 5]] for op in ("<", ">")]
    path = written(tmp_path / "none.json", SECTORS, launch=launch | {"assumptions": facts})
    code, found = report(capsys, path)
    assert (code, found["verdict"]) == (1, "vacuous")


def test_control_characters_are_not_printed(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "\x1b[2Jname.json"
    path.write_text(Path(SECTORS).read_text())
    for form in ("text", "markdown", "html"):
        page = shown(capsys, form, str(path))
        assert "\x1b" not in page
        assert "\ufffd[2J" in page.replace("\\[", "[")


def test_layout_is_not_the_program(capsys: Capture, tmp_path: Path) -> None:
    other = tmp_path / "other.cu"
    other.write_text("// moved\n\n" + Path(SOURCE).read_text().replace("j < h", "j  <  h"))
    assert report(capsys, SECTORS, "--source", str(other))[0] == 0


def test_what_rests_on_a_solver_may_be_enough(unproved: str, tmp_path: Path, capsys: Capture) -> None:
    """By --accept, in all commands; and where it did before. That no launch satisfies what is assumed never is."""
    for command in ("check", "recheck", "report"):
        assert main([command, unproved]) == 1
        assert main([command, unproved, "--accept", "solver-backed"]) == 0
    assert main(["report", unproved, "--compare", unproved]) == 0
    assert main(["report", unproved, "--compare", SECTORS]) == 1
    assert main(["report", unproved, CONFLICTS, "--compare", CONFLICTS]) == 1
    capsys.readouterr()
    main(["recheck", unproved, "--accept", "solver-backed", "--format", "sarif"])
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []
    launch = json.loads(Path(unproved).read_text())["launch"]
    number = ["const", ["int", "int", 4], 2]
    never = launch | {"assumptions": [["op", op, ["param", "h"], number] for op in ("<", ">")]}
    vacuous = written(tmp_path / "vacuous.json", unproved, launch=never)
    for command in ("check", "recheck", "report"):
        assert main([command, vacuous, "--accept", "solver-backed"]) == 1, command


def test_what_rests_on_a_solver(unproved: str, capsys: Capture) -> None:
    code, found = report(capsys, unproved)
    (row,) = found["certificates"]
    assert (code, row["verdict"], found["verdict"]) == (1, "solver-backed", "solver-backed")
    assert row["solver_backed"]
    assert 0 < len(row["backed"]) <= len(row["solver_backed"]), "each fact once"
    assert main(["report", unproved]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "not verified: line " in out
    assert "not verified: derivation[" not in out
    assert row["bound"] == "4 + 20*max(0, ceil(h/2))"


def test_a_certificate_that_proves_nothing(tmp_path: Path, capsys: Capture) -> None:
    wrong = written(tmp_path / "wrong.json", SECTORS, evidence=[])
    code, found = report(capsys, wrong, SECTORS)
    assert (code, found["verdict"]) == (3, "rejected")
    row = found["certificates"][0]
    assert (row["bound"], row["accesses"], row["turns"]) == (None, [], [])
    assert "the second checker refuses it: " in row["problem"]


def test_what_the_second_checker_refuses_is_shown(capsys: Capture, tmp_path: Path) -> None:
    """The rule as it is applied, the premise that fails, what that says and what is proved, and the line."""
    nodes = json.loads(Path(SECTORS).read_text())["derivation"]
    i = next(i for i, node in enumerate(nodes) if node["rule"] == "EQ:GArray")
    nodes[i]["with"]["n"] -= 1
    wrong = written(tmp_path / "wrong.json", SECTORS, derivation=nodes)
    code, found = report(capsys, wrong, "--source", SOURCE)
    (row,) = found["certificates"]
    told = row["explanation"].splitlines()
    assert (code, row["verdict"], row["second_checker"]) == (3, "rejected", "invalid")
    (needed,) = (line for line in told if line.startswith("  > "))
    (proved,) = (line for line in told if line.startswith("  found "))
    assert int(needed.rpartition(" ")[2]) == int(proved.rpartition(" ")[2]) + 1
    (line,) = (x for x in row["listing"] if "rejected here" in x["notes"])
    assert f"kernel.cu:{line['line']}:" in row["problem"]
    page = shown(capsys, "html", wrong, "--source", SOURCE)
    assert '<span class="kept wrong"' in page
    assert main(["check", wrong, "--format", "html"]) == 3
    assert '<span class="kept wrong"' in capsys.readouterr().out


def test_what_the_kernel_cannot_prove(tmp_path: Path, capsys: Capture) -> None:
    """A bound that is too small by one is not called wrong: nothing shows that it is."""
    document = json.loads(Path(SECTORS).read_text())
    (row,) = [row for row in document["potentials"] if ["4", []] in row and len(row) == 2]
    row[row.index(["4", []])][0] = "3"
    wrong = written(tmp_path / "wrong.json", SECTORS, potentials=document["potentials"])
    code, found = report(capsys, wrong)
    (told,) = found["certificates"]
    assert (code, told["bound"]) == (3, None)
    assert "does not hold" not in told["problem"]


def test_what_the_kernel_refutes_and_a_run_shows(tmp_path: Path, capsys: Capture) -> None:
    """A count that nothing pays for, too small: the second checker leaves it open, and `check` shows it false."""
    document = json.loads(Path(CONFLICTS).read_text())
    (node, *_) = [node for node in document["derivation"] if node["rule"] == "EQ:GArray"]
    node["with"]["n"] = 0
    wrong = written(tmp_path / "wrong.json", CONFLICTS, derivation=document["derivation"])
    code, found = report(capsys, wrong)
    (told,) = found["certificates"]
    assert (code, told["verdict"], told["second_checker"]) == (1, "rejected", "solver-backed")
    assert "MemReads(G[o]) <= n does not hold" in told["problem"]
    assert main(["check", wrong]) == 1
    assert capsys.readouterr().out.startswith("rejected: ")


def test_what_no_run_shows_is_not_called_false() -> None:
    a = audit(Path(SECTORS).read_text(), SECTORS, SOUND, Oracles())
    refuted = Refusal("end", obligation=Entails((FALSE,), (FALSE,)), verdict=Refuted("z3"))
    told = row(replace(a, outcome=refuted), {})
    assert (told["verdict"], told["problem"]) == (
        "not-proved",
        "that nothing is owed at the end, Q' >= 0, could not be proved: false |- false",
    )


def test_more_is_admitted_than_needed(tmp_path: Path, capsys: Capture) -> None:
    """The second checker has nothing against it."""
    wrong = written(tmp_path / "wrong.json", str(PROOFS / "matMul" / "conflicts.json"), admitted=[0])
    code, found = report(capsys, wrong)
    (told,) = found["certificates"]
    assert (code, told["verdict"], told["second_checker"]) == (1, "rejected", "valid")


@pytest.mark.parametrize("number", [-1, 0, 7])
def test_barriers_that_are_not_there(number: int, tmp_path: Path, capsys: Capture) -> None:
    code, found = report(capsys, written(tmp_path / "wrong.json", SECTORS, admitted=[number]))
    assert (code, found["verdict"]) == (3, "rejected")


@pytest.mark.usefixtures("grammar_anew")
def test_a_value_of_many_digits(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Where --at may be given, and nowhere else, numbers may be that long."""
    before = sys.get_int_max_str_digits()
    for command, code in (("report", 0), ("recheck", 2)):
        monkeypatch.setattr(f"checker.cli.{command}.run", lambda _: len(str(10**before)) * 0)
        assert main([command, SECTORS]) == code
        assert sys.get_int_max_str_digits() == before
    assert "internal error" in capsys.readouterr().err


def test_hardware_of_ones_own(tmp_path: Path, capsys: Capture) -> None:
    hardware = json.loads(Path(SECTORS).read_text())["hardware"] | {"name": "mine"}
    assert main(["report", written(tmp_path / "mine.json", SECTORS, hardware=hardware), SECTORS]) == 0
    out = capsys.readouterr().out
    assert "addSub3: blocks of 32, any grid, custom hardware mine\n" in out
    assert "addSub3: blocks of 32, any grid, hardware nvidia\n" in out


def test_a_metric_of_ones_own(tmp_path: Path, capsys: Capture) -> None:
    metric = json.loads(Path(SECTORS).read_text())["metric"] | {"name": "mine"}
    code, found = report(capsys, written(tmp_path / "mine.json", SECTORS, metric=metric))
    (told,) = found["certificates"]
    assert (code, told["metric"]) == (0, "mine")
    prices = "gread(n) max(0, 1*n + 0), gwrite(n) max(0, 1*n + 0)"
    assert told["counts"] == f"by the custom metric mine ({prices})"
    assert told["custom"] == [f"custom metric mine ({prices})"]


def test_barriers_that_are_admitted(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "k.cu").write_text("__global__ void k(int *A)\n{\n    if (threadIdx.x < 5) __syncthreads();\n}\n")
    path = str(tmp_path / "k.json")
    assert main(["bound", str(tmp_path / "k.cu"), "--metric", "sectors", "--certificate", path]) == 1
    capsys.readouterr()
    code, found = report(capsys, path)
    (row,) = found["certificates"]
    assert (code, row["verdict"], row["admitted"], row["second_checker"]) == (1, "holey", [0], "valid")
    assert any(text.startswith("all threads of a block reach the barrier") for text in row["assumptions"])


def test_what_rests_on_something_else_stands_apart(tmp_path: Path, capsys: Capture) -> None:
    grid = json.loads(Path(SECTORS).read_text())["launch"] | {"grid": [7, 1, 1]}
    assume = json.loads(Path(SECTORS).read_text())["launch"] | {
        "assumptions": [["op", ">=", ["param", "w"], ["const", ["int", "int", 4], 0]]]
    }
    files = [written(tmp_path / f"{i}.json", SECTORS, launch=launch) for i, launch in enumerate((grid, assume))]
    assert main(["report", SECTORS, CONFLICTS, *files]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("addSub3: ")]
    assert heads == [
        "addSub3: blocks of 32, any grid, hardware nvidia",
        "addSub3: blocks of 32, grids of 7, hardware nvidia",
        "addSub3: blocks of 32, any grid, hardware nvidia",
    ]


def test_nothing_to_compare_with(tmp_path: Path, capsys: Capture) -> None:
    wrong = written(tmp_path / "wrong.json", SECTORS, evidence=[])
    code, found = report(capsys, wrong, "--compare", SECTORS)
    assert (code, found["comparison"]) == (3, [])


def test_compared(tmp_path: Path, capsys: Capture) -> None:
    grid = json.loads(Path(SECTORS).read_text())["launch"] | {"grid": [7, 1, 1]}
    narrow = written(tmp_path / "narrow.json", SECTORS, launch=grid)
    code, found = report(capsys, SECTORS, CONFLICTS, "--compare", narrow)
    (row,) = found["comparison"]
    assert (code, row["change"], row["worse"], row["dropped"]) == (0, "same", False, ["a grid of 7"])
    code, found = report(capsys, narrow, "--compare", SECTORS)
    (row,) = found["comparison"]
    assert (code, row["worse"], row["added"]) == (1, True, ["a grid of 7"])
    assert row["old"] == {
        "file": SECTORS,
        "digest": json.loads(Path(SECTORS).read_text())["digest"],
        "bound": "4 + 20*max(0, ceil(h/2))",
    }


def bound(tmp_path: Path, name: str, source: str, capsys: Capture) -> str:
    (tmp_path / f"{name}.cu").write_text(source)
    path = str(tmp_path / f"{name}.json")
    words = ["--metric", "sectors", "--block", "32", "--certificate", path]
    assert main(["bound", str(tmp_path / f"{name}.cu"), *words]) == 0
    capsys.readouterr()
    return path


def test_a_bound_that_grew(tmp_path: Path, capsys: Capture) -> None:
    text = Path(SOURCE).read_text()
    old = bound(tmp_path, "old", text, capsys)
    new = bound(tmp_path, "new", text.replace("j += 2", "j += 1"), capsys)
    code, found = report(capsys, new, "--compare", old)
    (row,) = found["comparison"]
    assert (code, row["change"], row["before"], row["after"]) == (1, "grew", 24, 44)
    assert row["at"] == {"h": 2}
    code, found = report(capsys, old, "--compare", new)
    assert (code, found["comparison"][0]["change"]) == (0, "lower")
    main(["report", new, "--compare", old])
    told = capsys.readouterr().out.split("Compared:\n")[1]
    assert " ".join(told.split()).startswith("addSub3 sectors: grew: 4 + 20*max(0, h), was 4 + 20*max(0, ceil(h/2))")


# --- the page that describes it --------------------------------------------------------------------------------------

PAGE = PROOFS.parent / "docs" / "report.md"


def test_the_page_shows_what_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(PROOFS.parent)
    words, *_ = re.findall(r"^    warpbound (report .*)$", PAGE.read_text(), re.MULTILINE)
    (shown_,) = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert main(words.split()) == 0
    assert capsys.readouterr().out.startswith(shown_)


def test_the_page_names_every_verdict_and_field(capsys: Capture) -> None:
    page = PAGE.read_text()
    _, found = report(capsys, SECTORS, "--compare", SECTORS)
    fields = {*found, *found["certificates"][0], *found["comparison"][0]}
    assert [name for name in (*MEANING, *fields) if f"`{name}`" not in page] == []


# --- formats ---------------------------------------------------------------------------------------------------------


def test_text(capsys: Capture) -> None:
    assert main(["report", SECTORS, CONFLICTS, "--at", "h=5,w=32"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "2 certificates: 2 certified",
        "",
        "addSub3: blocks of 32, any grid, hardware nvidia",
        "  sectors    every warp  <= 4 + 20*max(0, ceil(h/2))  certified  = 64 at h = 5, w = 32",
        "  conflicts  every warp  <= 0                         certified  = 0 at h = 5, w = 32",
    ]
    assert not any("MemReads" in line for line in lines)
    assert main(["report", SECTORS, "--explain"]) == 0
    assert "MemReads <= 4" in capsys.readouterr().out


def test_what_all_assume_is_there_once(capsys: Capture) -> None:
    """Of certificates of several kernels, in text and in Markdown."""
    other = str(PROOFS / "vectorAdd/sectors.json")
    for words in ((), ("--format", "markdown")):
        assert main(["report", SECTORS, CONFLICTS, other, *words]) == 0
        text = capsys.readouterr().out
        assert text.count("every array starts at a multiple of 256 bytes") == 1
        assert text.count("blocks of 32") > 1
        assert "All of these assume" in text
    assert main(["report", SECTORS, other]) == 0
    assert capsys.readouterr().out.count("made by warpbound") == 1


class Page(HTMLParser):
    """The elements that are open, and what is not allowed in a page that stands alone."""

    VOID = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe")
        assert all((value or "").startswith("#") for name, value in attrs if name in ("src", "href"))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "page.html"
    words = ["--source", SOURCE, "--at", "h=0", "--compare", SECTORS, "--format", "html", "-o", str(path)]
    assert main(["report", SECTORS, CONFLICTS, *words]) == 0
    assert capsys.readouterr().out == ""
    page = Page()
    page.feed(path.read_text())
    assert page.open == []
    assert "2 certificates: 2 certified" in page.text
    assert "4 + 20*max(0, ceil(h/2))" in page.text
    assert "the same bound" in page.text
    assert "A[i]: MemReads <= 4" in page.text
    assert "for (int j = 0; j < h; j += 2) {" in page.text
    assert json.loads(Path(SECTORS).read_text())["digest"] in page.text


def test_a_grid_of_one_dimension(capsys: Capture) -> None:
    assert main(["report", SECTORS, "--at", "h=5", "--at", "gridDim.x=2"]) == 0
    assert "= 64 at h = 5, gridDim.x = 2\n" in capsys.readouterr().out


def test_html_says_values_of_0(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert main(["report", CONFLICTS, "--at", "h=1,w=1", "--format", "html", "-o", str(path)]) == 0
    page = path.read_text()
    assert "<strong>= 0</strong> at h = 1, w = 1" in page
    assert 'class=""' not in page


def test_names_are_no_markup(tmp_path: Path, capsys: Capture) -> None:
    document = json.loads(Path(CONFLICTS).read_text())
    name = "k<b*, _c>"
    path = written(tmp_path / "k.json", CONFLICTS, kernel=document["kernel"] | {"name": name})
    main(["report", path, "--format", "html"])
    page = Page()
    page.feed(capsys.readouterr().out)
    assert "b" not in page.open
    assert name in page.text
    main(["report", path, "--format", "markdown"])
    assert "## k\\<b\\*, \\_c\\>: " in capsys.readouterr().out


def test_markdown(capsys: Capture) -> None:
    assert main(["report", SECTORS, "--compare", SECTORS, "--format", "markdown"]) == 0
    page = capsys.readouterr().out
    assert "| sectors | every warp | `4 + 20*max(0, ceil(h/2))` |  | certified | valid |" in page
    assert "- **addSub3 sectors**: the same bound" in page
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in page.splitlines() if line.startswith("| sectors")}
    assert widths == {7}


def test_markdown_of_odd_names(tmp_path: Path, capsys: Capture) -> None:
    metric = json.loads(Path(SECTORS).read_text())["metric"] | {"name": "a_b_"}
    path = written(tmp_path / "a`|b.json", SECTORS, metric=metric)
    page = shown(capsys, "markdown", path)
    assert "| custom a\\_b\\_ | " in page
    assert "a`\\|b.json ``" in page


def test_commands_can_be_pasted(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "sp ace$(touch x).json"
    path.write_text(Path(SECTORS).read_text())
    page = Page()
    page.feed(shown(capsys, "html", str(path)))
    assert f"warpbound recheck '{path}'" in page.text


def test_sarif_of_odd_names(unproved: str, capsys: Capture) -> None:
    """Braces in a message stand for arguments; what a claim rests on is in it, with its place."""
    (run,) = json.loads(shown(capsys, "sarif", unproved))["runs"]
    (result,) = run["results"]
    text = result["message"]["text"]
    assert "not verified: line 10, column 9 of the source: " in text
    assert re.sub(r"\{\{|\}\}", "", text).count("{") == 0


def test_sarif(unproved: str, tmp_path: Path, capsys: Capture) -> None:
    grid = json.loads(Path(SECTORS).read_text())["launch"] | {"grid": [7, 1, 1]}
    narrow = written(tmp_path / "narrow.json", CONFLICTS, launch=grid)
    files = [SECTORS, unproved, narrow]
    assert main(["report", *files, "--compare", CONFLICTS, "--source", SOURCE, "--format", "sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    told = [(r["ruleId"], r["kind"], r["level"]) for r in run["results"]]
    assert told == [
        ("certified", "pass", "none"),  # of two metrics, at one place
        ("solver-backed", "fail", "note"),
        ("worse", "fail", "error"),
    ]
    assert run["results"][0]["message"]["text"].count("every warp of addSub3") == 2
    assert len(run["results"][0]["properties"]["digest"]) == 2
    main(["report", SECTORS, "--compare", SECTORS, "--format", "sarif"])
    (same,) = json.loads(capsys.readouterr().out)["runs"]
    assert [r["ruleId"] for r in same["results"]] == ["certified"]
    assert {r["ruleId"] for r in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("addSub3/kernel.cu")
    assert place["region"]["startLine"] == 4


# --- unusable input --------------------------------------------------------------------------------------------------


def refused(capsys: Capture, *words: str, code: int = 2) -> str:
    assert main(["report", *words]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "internal error" not in printed.err
    return printed.err


def test_what_is_no_certificate(tmp_path: Path, capsys: Capture) -> None:
    assert "cannot read 'nosuch.json'" in refused(capsys, "nosuch.json")
    assert "no JSON document" in refused(capsys, SOURCE)
    (tmp_path / "list.json").write_text("[]")
    assert "no certificate" in refused(capsys, str(tmp_path / "list.json"))
    document = json.loads(Path(SECTORS).read_text())
    document["hardware"]["banks"] = 16
    (tmp_path / "changed.json").write_text(json.dumps(document))
    assert "digest" in refused(capsys, str(tmp_path / "changed.json"), code=3)
    text = Path(SECTORS).read_text()
    (tmp_path / "twice.json").write_text(text[:-1].rstrip("}") + ',"version":3}')
    assert "no JSON document" in refused(capsys, str(tmp_path / "twice.json"))
    document["hardware"]["banks"] = 32
    del document["digest"]
    (tmp_path / "draft.json").write_text(json.dumps(document))
    assert "a derivation without a digest" in refused(capsys, str(tmp_path / "draft.json"))


def test_options_that_do_not_fit(tmp_path: Path, capsys: Capture) -> None:
    assert "Add --source" in refused(capsys, SECTORS, "-D", "X=1")
    assert "that would overwrite what is read" in refused(capsys, SECTORS, "-o", SECTORS)
    assert "nosuch.cu" in refused(capsys, SECTORS, "--source", "nosuch.cu")
    assert str(tmp_path) in refused(capsys, SECTORS, "--source", str(tmp_path))
    assert "gridDim.x >= 1" in refused(capsys, SECTORS, "--at", "gridDim.x=0")
    assert "'q' is no parameter" in refused(capsys, SECTORS, "--at", "q=1")
    assert "does not hold there" in refused(capsys, SECTORS, "--at", "blockDim.x=64,h=1")
    assert "no certificate here for the same cost" in refused(capsys, SECTORS, "--compare", CONFLICTS)
    assert "2 certificates here for the same cost" in refused(capsys, SECTORS, SECTORS, "--compare", SECTORS)
    wrong = written(tmp_path / "wrong.json", SECTORS, evidence=[])
    assert "does not prove its claim" in refused(capsys, SECTORS, "--compare", wrong, code=3)
    assert "there is no kernel 'addSub3'" in refused(capsys, SECTORS, "--source", str(PROOFS / "matMul" / "kernel.cu"))


def test_a_folder_stands_for_the_certificates_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """As for `recheck` and `show`; other JSON is left alone, and said to be."""
    folder = tmp_path / "found"
    (folder / "deep").mkdir(parents=True)
    for name in ("a.json", "deep/b.json"):
        (folder / name).write_bytes((PROOFS / "vectorAdd/sectors.json").read_bytes())
    (folder / "other.json").write_text("{}")
    (folder / "latin.json").write_bytes(b"\xe9")
    for command, key in (("report", "certificates"), ("recheck", "results"), ("show", "results")):
        assert main([command, str(folder), "--format", "json"]) == 0
        printed = capsys.readouterr()
        told = f"'{folder / 'latin.json'}', '{folder / 'other.json'}' are no certificates, and left out"
        assert printed.err == f"warpbound: warning: {told}\n"
        found = json.loads(printed.out)[key]
        assert [Path(row["file"]).relative_to(folder).as_posix() for row in found] == ["a.json", "deep/b.json"]
        (tmp_path / "empty").mkdir(exist_ok=True)
        assert main([command, str(tmp_path / "empty")]) == 2
        assert f"there is no certificate in '{tmp_path / 'empty'}'" in capsys.readouterr().err
    monkeypatch.setattr(options, "MOST_FILES", 3)
    assert main(["report", str(folder)]) == 2
    assert "there are more than 3 files in" in capsys.readouterr().err


def _ended(text: str) -> Report:
    """Ends a process that was begun for this; here it is as ever."""
    if parent_process() is not None:
        os._exit(9)
    return recheck(json.loads(text))


class _Late(Future[Any]):
    """What is done no sooner than somebody waits for it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self.work = work

    def result(self, timeout: float | None = None) -> Any:  # noqa: ARG002
        return self.work()


class _Idle(workers.Workers):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
        return _Late(partial(fn, *args, **more))


@pytest.mark.parametrize("cores", [1, 2])
def test_many_are_judged_by_the_second_checker_elsewhere(
    cores: int, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same outcome: of those that are right, of one that is not, where a process comes to an end, and where
    it is late, so that the last ones are judged here before."""
    paths = sorted((PROOFS / "vectorAdd").glob("*.json"))[:4]
    wrong = written(tmp_path / "wrong.json", str(paths[0]), evidence=[])
    monkeypatch.setattr("checker.certificates.audit.audit", audit)  # as it is, which asks the second checker as told
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert main(["report", *map(str, paths), "--format", "json"]) == 0
    right = json.loads(capsys.readouterr().out)["certificates"]
    assert [(row["verdict"], row["second_checker"]) for row in right] == [("certified", "valid")] * 4
    assert main(["report", wrong, *map(str, paths[1:]), "--format", "json"]) == 3
    rows = json.loads(capsys.readouterr().out)["certificates"]
    assert [row["second_checker"] for row in rows] == ["invalid", "valid", "valid", "valid"]
    with monkeypatch.context() as patch:
        patch.setattr(module, "_rechecked", _ended)
        assert main(["report", *map(str, paths), "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["certificates"] == right
    asked, ask, texts = list[str](), module._rechecked, [path.read_text() for path in paths]

    def here(text: str) -> Report | None:
        asked.append(text)
        return ask(text)

    with monkeypatch.context() as patch:
        patch.setattr(workers, "Workers", _Idle)
        patch.setattr(module, "_rechecked", here)
        assert main(["report", *map(str, paths), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificates"] == right
    assert [*map(texts.index, asked)] == ([3, 2, 0, 1] if cores > 1 else [])


def test_a_certificate_says_of_which_instance_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In its kernel's name; older ones among the options. The launches of the other instance are not its own."""
    source, folder = tmp_path / "t.cu", tmp_path / "c"
    source.write_text(
        "template <int N> __global__ void k(float *A) { A[threadIdx.x + 8 * N] = N; }\n"
        "void go(float *A) { k<1><<<1, 64>>>(A); k<2><<<1, 32>>>(A); }\n"
    )
    assert main(["bound", str(source), "--metric", "sectors", "--certificate", str(folder)]) == 0
    old = tmp_path / "old.json"
    document = json.loads((folder / "k-1-sectors.json").read_text())
    assert document["kernel"]["name"] == "k<1>"
    document["kernel"]["name"] = "k"
    old.write_text(canonical(document | {"digest": digest(document)}))
    capsys.readouterr()
    for files in ([folder], [old, folder / "k-2-sectors.json"]):
        assert main(["report", *map(str, files), "--source", str(source), "--format", "json"]) == 0
        rows = json.loads(capsys.readouterr().out)["certificates"]
        assert [(r["kernel"], r["source"]["same"], r["launches"][0]["block"]) for r in rows] == [
            ("k<1>", True, "64"),
            ("k<2>", True, "32"),
        ]
    assert main(["report", str(folder / "k-1-sectors.json"), "--compare", str(old)]) == 0
    source.write_text(source.read_text().replace("= N", "= 0").replace("k<1><<<1, 64", "k<1><<<1, 32"))
    capsys.readouterr()
    assert main(["report", str(folder), "--source", str(source), "--format", "json"]) == 1
    assert not any(r["source"]["same"] for r in json.loads(capsys.readouterr().out)["certificates"])


def test_a_misspelt_parameter_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "proofs/matMul/sectors.json", "--at", "wa=77"]) == 2
    assert "Did you mean 'wA'? Known: blockDim.x" in capsys.readouterr().err


# --- limits -----------------------------------------------------------------------------------------------------------


def folder_of_two(tmp_path: Path) -> str:
    """One certificate that counts too little, and one that is certified."""
    (tmp_path / "found").mkdir()
    nodes = json.loads(Path(SECTORS).read_text())["derivation"]
    next(node for node in nodes if node["rule"] == "EQ:GArray")["with"]["n"] -= 1
    written(tmp_path / "found" / "a.json", SECTORS, derivation=nodes)
    written(tmp_path / "found" / "b.json", SECTORS)
    return str(tmp_path / "found")


def test_a_report_by_processes_with_limits_is_the_same(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that may stop leaves out the rest, which is said."""
    monkeypatch.setattr("checker.fleet.tray.run", alone)
    folder = folder_of_two(tmp_path)
    assert main(["report", folder]) == main(["report", folder, "--jobs", "2"]) == 3
    usual, limited = capsys.readouterr().out.split("2 certificates")[1:]
    assert limited == usual
    monkeypatch.setattr("checker.fleet.tray.run", first)
    assert main(["report", folder, "--fail-fast"]) == 3
    printed = capsys.readouterr()
    assert printed.out.startswith("1 certificate: 1 rejected")
    assert printed.err == "warpbound: warning: 1 certificate left out, not looked at to the end\n"


def first(jobs: list[Job], work: Work, desk: Desk, *_: object) -> None:
    """Works until there is enough."""
    for job in jobs:
        if not desk.enough():
            alone([job], work, desk)


def test_globs_choose_among_the_certificates_of_a_folder(capsys: Capture, tmp_path: Path) -> None:
    folder = folder_of_two(tmp_path)
    assert main(["report", folder, "--include", "b*"]) == main(["report", folder, "--exclude", "a.json"]) == 0
    assert capsys.readouterr().out.count("1 certificate: 1 certified") == 2
    assert main(["report", folder, "--exclude", "*"]) == 2
    assert f"leave none of 2 certificates in '{folder}'" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "json", "html", "markdown", "sarif"])
def test_what_is_not_judged_to_the_end_is_told(form: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """No word on its claim, in every format, and exit code 1, also where a solver's word is enough."""

    def never(jobs: list[Job], _: Work, desk: Desk, *__: object) -> None:
        for job in jobs:
            desk.failed(job, 0, "out of memory", "it took more than 1 MiB", 0.0)
            desk.ended(job)

    monkeypatch.setattr("checker.fleet.tray.run", never)
    words = ["report", SECTORS, "--jobs", "1", "--at", "h=64", "--accept", "solver-backed"]
    assert main([*words, "--format", form]) == 1
    out = capsys.readouterr().out
    if form == "json":
        (row,) = json.loads(out)["certificates"]
        assert (row["verdict"], row["bound"], row["claim"]) == ("out-of-memory", None, None)
        assert row["problem"] == "out of memory: it took more than 1 MiB"
    else:
        assert "it took more than 1 MiB" in out
        assert "at most 4" not in out
