"""Bounds from contracts on data: what both checkers make of them, and of certificates that were tampered with.

`CSR` is a sparse matrix by vector product with a thread for each row, as libraries have it; the figures are counted by
hand: 4 sectors for 32 aligned ints, 5 for those one int on, 32 for lanes that are anywhere.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checker import recheck
from checker.certificates import document as certificate
from checker.cli import main
from tests.checker.cli.test_contracts import KERNEL, RISING
from tests.examples import LONG

CSR = """//@ requires forall i in [0, n): rowptr[i] <= rowptr[i + 1];
//@ requires forall i in [0, n): rowptr[i + 1] - rowptr[i] <= width;
__global__ void csr(const int *rowptr, const int *col, const float *val, const float *x, float *y, int n, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {
        float s = 0;
        for (int j = rowptr[r]; j < rowptr[r + 1]; j++) s += val[j] * x[col[j]];
        y[r] = s;
    }
}
"""

Json = dict[str, Any]


def bound(source: str, folder: Path, *more: str) -> int:
    path = folder / "k.cu"
    path.write_text(source)
    return main(["bound", str(path), "--metric", "divwarps", "--block", "128", *more])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """The certificate of CSR's divergences: 2 + max(0, width)."""
    folder = tmp_path_factory.mktemp("csr")
    assert bound(CSR, folder, "--certificate", str(folder / "c.json")) == 0
    found: Json = json.loads((folder / "c.json").read_text())
    return found


def judged(document: Json, folder: Path) -> tuple[str, str, int]:
    """The second checker's verdict and problem, and the exit code of `check`, which asks the kernel first."""
    signed = document | {"digest": certificate.digest(document)}
    report = recheck.recheck(signed)
    path = folder / "tampered.json"
    path.write_text(certificate.canonical(signed))
    return report.verdict, report.problem, main(["check", str(path)])


def test_rows_of_a_sparse_matrix(made: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict, _, code = judged(made, tmp_path)
    assert (verdict, code, made["version"]) == ("valid", 0, 4)
    out = capsys.readouterr().out
    assert "every warp of csr costs at most 2 + max(0, width) divwarps" in out
    first, second, third = [line.strip() for line in out.split("This assumes:\n")[1].splitlines()[:3]]
    assert first == "- given: forall i in [0, n): rowptr[i] <= rowptr[i + 1]"
    assert second == "- given: forall i in [0, n): rowptr[i + 1] - rowptr[i] <= width"
    assert third == "- what the kernel writes is no part of rowptr, which nothing else changes meanwhile"
    claim = recheck.recheck(made).claim
    assert "assumed of data: forall i in [0, n): rowptr[i] <= rowptr[i + 1]" in claim
    assert "what is written is no part of rowptr" in claim


@pytest.mark.parametrize("kind", ["equal", "random", "empty", "one long row"])
def test_no_run_costs_more(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A warp splits once for n, and as often as a row ends before the longest one of the warp: at most 5 times for rows
    of 4 and less."""
    rng = np.random.default_rng(7)
    rows = {
        "equal": np.full(64, 4),
        "random": rng.integers(0, 5, 64),
        "empty": np.zeros(64),
        "one long row": np.eye(1, 64, 9)[0] * 4,
    }[kind]
    np.save(tmp_path / "rows.npy", np.concatenate([[0], np.cumsum(rows)]).astype(np.int32))
    (tmp_path / "k.cu").write_text(CSR)
    given = ["--arg", "n=64", "--arg", "width=4", "--array", f"rowptr=@{tmp_path / 'rows.npy'}", "--format", "json"]
    assert main(["run", str(tmp_path / "k.cu"), "--block", "128", "--metric", "divwarps", *given]) == 0
    cost = json.loads(capsys.readouterr().out)["max_per_warp"]["divwarps"]
    assert cost <= 2 + 4
    assert (cost > 0) == (kind in ("random", "one long row"))


def test_a_run_outside_the_contract_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cu").write_text(CSR)
    given = ["--arg", "n=64", "--arg", "width=4", "--array", "rowptr=random:1"]
    assert main(["run", str(tmp_path / "k.cu"), "--block", "128", *given]) == 3
    err = capsys.readouterr().err
    assert "the arrays break the contract forall i in [0, n): rowptr[i] <= rowptr[i + 1], at i = 0" in err
    assert "k.cu:1:14" in err
    given[1] = "m=64"
    assert main(["run", str(tmp_path / "k.cu"), "--block", "128", *given]) == 2
    assert "has no parameter 'm'\n" in capsys.readouterr().err


def without_the_width(d: Json) -> None:
    del d["launch"]["contracts"][1]


def narrower(d: Json) -> None:
    d["launch"]["contracts"][1][0][0][1] = ["op", "-", ["param", "n"], ["const", ["int", "int", 4], 1]]


def another_array(d: Json) -> None:
    text = json.dumps(d["launch"]["contracts"]).replace("elem:rowptr", "elem:col")
    d["launch"]["contracts"] = json.loads(text)


def of_the_thread(d: Json) -> None:
    text = json.dumps(d["launch"]["contracts"][1][1]).replace('["param", "width"]', '["tid", "x"]')
    d["launch"]["contracts"][1][1] = json.loads(text)


def of_the_block(d: Json) -> None:
    text = json.dumps(d["launch"]["contracts"][1][1]).replace('["param", "width"]', '["param", "blockIdx.x"]')
    d["launch"]["contracts"][1][1] = json.loads(text)


def written(d: Json, array: str) -> None:
    """The value y[r] goes to another array, of the same layout."""
    names = [row[0] for row in d["kernel"]["arrays"]]
    d["kernel"]["arrays"].append(
        [array, *d["kernel"]["arrays"][names.index("rowptr")][1:]]
    ) if array not in names else 0
    for row in d["statements"]:
        if row[0] == "write":
            row[1] = array
            row[3] = next(i for i, e in enumerate(d["expressions"]) if e[0] == "const" and e[1][0] == "int")


def over_other_ranges(d: Json) -> None:
    """The evidence says that the index r + 1 is in the range, too."""
    text = json.dumps(d["evidence"])
    changed = text.replace('[["1", [["var", "r"]]]]', '[["1", []], ["1", [["var", "r"]]]]')
    assert changed != text
    d["evidence"] = json.loads(changed)


def not_counted(d: Json) -> None:
    d["launch"]["contracts"][1][0] = []


def of_an_older_version(d: Json) -> None:
    d["version"] = 3


def of_no_comparison(d: Json) -> None:
    fact = d["launch"]["contracts"][1][1]
    d["launch"]["contracts"][1][1] = ["op", "||", fact, fact]


def free(d: Json) -> None:
    """The program does not read the first element of a row, it knows it."""
    read = next(e for e in d["expressions"] if e[0] == "read" and e[1] == "rowptr")
    read[:] = ["op", "elem:rowptr", read[2]]


def launching(d: Json) -> None:
    """The program launches another kernel, which may write to what it is given."""
    row = next(row for row in d["statements"] if row[0] == "write")
    d["expressions"][row[3]] = ["op", "call:launch", d["expressions"][row[3]]]


@pytest.mark.parametrize(
    "tamper",
    [
        free,
        without_the_width,
        narrower,
        another_array,
        of_the_thread,
        of_the_block,
        lambda d: written(d, "rowptr"),
        lambda d: written(d, "rowptr.as_char"),
        lambda d: written(d, "memory.int32"),
        lambda d: written(d, "memory_1.int32"),
        launching,
        over_other_ranges,
        not_counted,
        of_an_older_version,
        of_no_comparison,
    ],
)
def test_tampered_certificates_are_refused_twice(
    tamper: Callable[[Json], None], made: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = copy.deepcopy(made)
    tamper(changed)
    verdict, problem, code = judged(changed, tmp_path)
    assert verdict == "invalid", problem
    assert "malformed" not in problem
    assert code != 0
    assert "internal error" not in capsys.readouterr().err


def test_a_contract_on_what_the_kernel_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = CSR.replace("const int *rowptr", "int *rowptr").replace("y[r] = s;", "y[r] = s; rowptr[r] = 0;")
    assert bound(own, tmp_path) == 2
    assert "the kernel may write to 'rowptr', so a contract cannot say what it holds" in capsys.readouterr().err
    view = own.replace("rowptr[r] = 0;", "((char *)rowptr)[r] = 0;")
    assert bound(view, tmp_path) == 2
    assert "the kernel may write to 'rowptr'" in capsys.readouterr().err


LOOP = "for (int j = row[r]; j < row[r + 1]; j++) y[r] = j;"
WIDTH = "//@ requires forall i in [0, n): row[i + 1] - row[i] <= width;\n"
HEAD = "__global__ void k(int *row, int *other, float *y, int n, int width) { int r = threadIdx.x; "


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (  # what unknown pointers lead to has another name where the user's own takes it
            f"{WIDTH}{HEAD} int memory = other[r]; int *p = memory > 0 ? row : other; p[r] = 9; if (r < n) {LOOP} }}",
            "the kernel may write to 'row'",
        ),
        (
            f"__global__ void child(int *p) {{ p[0] = 9; }}\n{WIDTH}{HEAD} child<<<1, 1>>>(row); if (r < n) {LOOP} }}",
            "the kernel may write to 'row'",
        ),
        (
            (
                f"{WIDTH.replace('row', 'memory.int32')}{HEAD} const int *p = r & 1 ? row : other; row[r] = 1; "
                f"if (r < n) {LOOP.replace('row', 'p')} }}"
            ),
            "the kernel may write to 'memory.int32'",
        ),
        (
            WIDTH
            + (HEAD + f" if (r < n) {LOOP} y[r] += ((int *)row)[r]; }}").replace("int *row", "const unsigned *row"),
            "are of several types",
        ),
        (
            WIDTH + (HEAD + " if (r < n) y[r] = *row[r]; }").replace("int *row", "int *const *row"),
            "or of none that is an integer",
        ),
    ],
)
def test_what_a_contract_cannot_be_about(
    source: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arrays that may be written in a roundabout way, and elements that are no integers of one type."""
    (tmp_path / "k.cu").write_text(source)
    assert main(["bound", str(tmp_path / "k.cu"), "--kernel", "k", "--metric", "divwarps", "--block", "32"]) == 2
    assert told in capsys.readouterr().err


def test_what_is_no_contract_is_told_where_it_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = HEAD.replace("int *row", "const unsigned *row") + f" if (r < n) {LOOP} y[r] += ((int *)row)[r]; }}"
    assert bound("\n" + WIDTH + source, tmp_path) == 2
    assert ".cu:2:14: error: the elements of 'row' are of several types" in capsys.readouterr().err
    assert bound(source, tmp_path, "--assume", WIDTH.removeprefix("//@ requires ").rstrip(";\n")) == 2
    assert ".cu:1:17: error: the elements of 'row' are of several types" in capsys.readouterr().err
    assert bound("\n" + WIDTH.replace("row", "other") + HEAD + " other[r] = n; }", tmp_path) == 2
    assert ".cu:2:14: error: the kernel may write to 'other'" in capsys.readouterr().err


def test_a_contract_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = CSR.split("\n", 2)[2]
    assert bound(plain, tmp_path) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "its guard reads 'rowptr', and what an array holds is not known" in told
    assert "Or say what it holds: //@ requires forall i in [0, n): rowptr[i] <= rowptr[i + 1];" in told
    assert bound(plain.replace("float s", "((int *)rowptr)[0] = 0; float s"), tmp_path) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "its guard reads 'rowptr'" in told
    assert "Or say what it holds" not in told, "the kernel writes to it"
    given = [line.removeprefix("//@ requires ").rstrip(";") for line in CSR.splitlines()[:2]]
    assert bound(plain, tmp_path, "--assume", given[0], "--assume", given[1]) == 0
    assert "2 + max(0, width)" in capsys.readouterr().out
    assert bound(plain, tmp_path, "--assume", "forall i in [0, n): rows[i] <= 3") == 2
    assert "--assume" in capsys.readouterr().err


def test_values_at_single_indices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A loop over all elements, and what the bound is worth where elements are given."""
    source = """//@ requires 0 <= row[0] && row[n] <= nnz;
    //@ requires forall i in [0, n): row[i] <= row[i + 1];
    __global__ void all(const int *row, float *y, int n, int nnz) {
        for (int j = row[0]; j < row[n]; j++) y[j] = 1;
    }
    """
    assert bound(source, tmp_path, "--metric", "sectors", "--assume", "n >= 0", "--at", "row[n]=7,n=3,row[0]=2") == 0
    out = capsys.readouterr().out
    assert re.search(r"<= 2 \+ 2\*max\(0, row\[n\] - row\[0\]\) +certified +[\d.]+ s +=  *12", out), out
    assert bound(source, tmp_path, "--metric", "sectors", "--at", "n=3,row[0]=2") == 0
    assert "(--at lacks row[3])" in capsys.readouterr().out
    assert bound(source, tmp_path, "--at", "rows[0]=2") == 2
    assert "'rows[0]' is no parameter" in capsys.readouterr().err


def test_reads_of_other_arrays_stay_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two reads of an array of which no contract speaks may differ."""
    source = (
        "__global__ void k(const int *A, int *B, int n) { int a = A[n], b = A[n]; if (a != b) B[threadIdx.x] = 1; }"
    )
    stable = "//@ requires A[n] == A[n];\n" + source
    assert bound(source, tmp_path, "--metric", "sectors") == 0
    assert "sectors   <= 6 " in capsys.readouterr().out
    assert bound(stable, tmp_path, "--metric", "sectors") == 0
    assert "sectors   <= 2 " in capsys.readouterr().out


def test_a_contract_that_is_kept_by_a_bound_without_it(tmp_path: Path) -> None:
    """It is assumed, and nothing rests on it."""
    assert bound(f"//@ requires {RISING};\n" + KERNEL, tmp_path) == 0


def test_rows_telescope_over_a_grid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a warp for each row, what rows cost together depends on where the first begins and the last ends: 6/32
    sectors for each element, and what rounding up takes."""
    source = """//@ requires forall i in [0, n): rowptr[i] <= rowptr[i + 1];
    __global__ void rows(const int *rowptr, const float *val, float *y, int n) {
        int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
        if (row < n) {
            float s = 0;
            for (int j = rowptr[row] + lane; j < rowptr[row + 1]; j += 32) s += val[j];
            y[row] = s;
        }
    }
    """
    at = "n=100,gridDim.x=25,rowptr[0]=0,rowptr[n]=3200"
    (tmp_path / "k.cu").write_text(source)
    words = ["--metric", "sectors", "--block", "128", "--per", "grid", "--at", at]
    assert main(["bound", str(tmp_path / "k.cu"), *words, "--certificate", str(tmp_path / "c.json")]) == 0
    out = capsys.readouterr().out
    assert "*rowptr[0] + 3/16*gridDim.y*gridDim.z*rowptr[min(4*gridDim.x, max(0, n))]" in out
    document = json.loads((tmp_path / "c.json").read_text())
    assert recheck.recheck(document).verdict == "valid"
    assert any('"instance"' in json.dumps(e) for e in document["evidence"])
    shifted = json.loads(json.dumps(document).replace('"instance", 0, "+"', '"instance", 0, "-"'))
    assert judged(shifted, tmp_path)[0] != "valid"


def test_contracts_that_no_data_keep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = CSR.split("\n", 2)[2]
    small = "//@ requires forall i in [0, n): rowptr[i] < 3;\n//@ requires n > 0;\n"
    assert bound(small + plain, tmp_path) == 1
    assert "no small data keep the contracts" not in capsys.readouterr().err
    assert bound("//@ requires forall i in [0, n]: rowptr[i] < 3;\n" + plain, tmp_path) == 2
    capsys.readouterr()
    bound("//@ requires rowptr[0] < 3 && rowptr[0] > 3;\n" + plain, tmp_path)
    assert "no small data keep the contracts" in capsys.readouterr().err


def test_contracts_that_contradict_each_other_prove_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does it help to accept a solver's word, as none was asked: in one file, and in a folder."""
    kernel = "__global__ void k(const int *A, int *B) { B[0] = A[0]; }\n"
    source = f"//@ requires A[0] < 0;\n//@ requires A[0] > 0;\n{kernel}"
    assert bound(source, tmp_path, "--accept", "solver-backed", "--format", "json") == 1
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert (found["verdict"], found["bound"]) == ("not-proved", None)
    assert recheck.VACUOUS in found["problem"]
    assert main(["bound", str(tmp_path), "--metric", "divwarps", "--accept", "solver-backed"]) == 1
    assert recheck.VACUOUS in " ".join(capsys.readouterr().out.split())


def test_contracts_that_contradict_each_other_where_there_are_elements(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether a range has an element is for the other assumptions to say: at an end of it, or where one is named.
    Where they leave that open there is a warning."""
    kernel = "__global__ void k(const int *A, int *B, int n) { B[0] = A[0]; }\n"
    positive, i = "//@ requires forall i in [0, n): A[i] > 0;\n", "i in [0, n): A[i]"
    path = tmp_path / "k.json"
    for other, assumed, vacuous in (
        (f"forall {i} <= 0", None, False),
        (f"forall {i} <= 0", "n >= 0", False),
        (f"forall {i} <= 0", "n >= 1", True),
        ("A[3] == 0", "n >= 3", False),
        ("A[3] == 0", "n >= 4", True),
        ("A[n - 1] < 0", "n >= 1", True),
        ("A[n] < 0", "n >= 1", False),
        ("A[0 - 1] < 0", "n >= 1", False),
    ):
        source = f"{positive}//@ requires {other};\n{kernel}"
        more = ("--assume", assumed) if assumed else ()
        assert bound(source, tmp_path, "--certificate", str(path), *more) == vacuous, (other, assumed)
        told = capsys.readouterr().err
        assert "no small data keep" in told or not vacuous, (other, assumed)
        assert ("where their ranges have an index" in told) == (other.startswith("forall") and not vacuous)
        for command in ("check", "recheck", "report"):
            assert main([command, str(path)]) == vacuous, (command, other, assumed)
            assert ("vacuous" in capsys.readouterr().out) == vacuous


def test_contracts_on_neighbours_that_contradict_what_is_far_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What they say from one element that is named, or end of the range, to another."""
    kernel = "__global__ void k(const int *A, int *B, int n) { B[0] = A[0]; }\n"
    slow = "//@ requires forall i in [0, n): A[i + 1] - A[i] <= 1;\n"
    path = tmp_path / "k.json"
    for others, assumed, vacuous in (
        (("A[0] == 0", "A[n] > n"), "n >= 0", True),
        (("A[0] == 0", "A[n] >= n"), "n >= 0", False),
        (("A[0] == 0", "A[n] > n"), "n >= 0 - 3", False),  # nothing is between n and 0
        (("A[3] == 0", "A[n] > n"), "n >= 4", True),
        (("A[n] == 0", "A[3] > n"), "n >= 4", False),  # it may fall
        (("A[0] == 0", "A[n + 1] > n + 1"), "n >= 0", False),
        (("A[0] == 0", "forall i in [2, n + 1): A[i] > 2 * i"), "n >= 2", True),
        (("forall i in [0, n + 1): A[i] >= 3 * i", "A[0] <= 0"), "n >= 1", True),
    ):
        source = "".join((slow, *(f"//@ requires {other};\n" for other in others), kernel))
        assert bound(source, tmp_path, "--certificate", str(path), "--assume", assumed) == vacuous, (others, assumed)
        capsys.readouterr()
        for command in ("check", "recheck"):
            assert main([command, str(path)]) == vacuous, (command, others, assumed)
            assert ("vacuous" in capsys.readouterr().out) == vacuous


ROWS = """//@ requires forall i in [0, n): rowptr[i] <= rowptr[i + 1];
__global__ void rows(const int *rowptr, int *y, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    if (r < n)
        for (int j = rowptr[r]; j < rowptr[r + 1]; j++) s++;
    y[r] = s;
}
"""


def test_rows_of_lanes_are_between_those_of_the_warp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A warp turns as often as its longest row is long: at most what all of its rows hold together, and that telescopes
    over the grid: two for each of eight warps, and 500. So it does where a row's ends are read into variables."""
    ends = "{ int start = rowptr[r], end = rowptr[r + 1]; for (int j = start; j < end; j++) s++; }"
    source = ROWS.replace("for (int j = rowptr[r]; j < rowptr[r + 1]; j++) s++;", ends)
    at = "n=200,gridDim.x=8,rowptr[0]=3,rowptr[200]=503"
    assert bound(source, tmp_path, "--per", "grid", "--at", at, "--block", "32") == 0
    assert re.search(r"certified .* = 516\n", capsys.readouterr().out)


@pytest.mark.parametrize("contract", ["[0, n): rowptr[i] <= rowptr[i + 1] + 1", "[1, n): rowptr[i] <= rowptr[i + 1]"])
def test_rows_that_may_overlap_have_no_such_bound(
    contract: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing says that a later row ends later, or not of the first row."""
    source = ROWS.replace("[0, n): rowptr[i] <= rowptr[i + 1]", contract)
    assert bound(source, tmp_path) == 1
    assert "no bound" in capsys.readouterr().out


def test_elements_nested_in_elements_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a contract asks of an index that is an element is asked once, not for ever."""
    source = """//@ requires forall c in [0, n): first[c] <= first[c + 1];
//@ requires forall c in [0, n): first[c + 1] - first[c] <= most;
//@ requires forall k: 0 <= near[k] && near[k] < n;
__global__ void cells(const int *first, const int *near, int *y, int n, int most) {
    int p = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    int c = near[p];
    for (int j = first[c]; j < first[c + 1]; j++) s++;
    y[p] = s;
}
"""
    assert bound(source, tmp_path) == 0
    assert "<= 1 + max(0, most)  certified" in capsys.readouterr().out


NESTED = """//@ requires forall i in [0, n): 0 <= c[i] && c[i] < m;
//@ requires forall i in [0, 3 * m): 0 <= b[i] && b[i] < k;
//@ requires forall i in [0, k): a[i] <= w;
__global__ void nested(const int *a, const int *b, const int *c, int *y, int n, int m, int k, int w) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n)
        for (int q = 0; q < a[b[3 * c[p] + 2]]; q++) y[p] = q;
}
"""


def test_elements_in_indices_of_indices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Certified: that an index is in the range of one contract is shown by what another one says of its elements."""
    assert bound(NESTED, tmp_path) == 0
    assert "divwarps  <= 2 + max(0, w)  certified" in capsys.readouterr().out
    for wrong in (("m * 3", "c[i] < m", "c[i] <= m"), ("", "3 * m)", "3 * m - 1)"), ("", "0 <= b[i]", "0 - 1 <= b[i]")):
        assert bound(NESTED.replace(*wrong[1:]), tmp_path) == 1


LENGTHS = """__global__ void lengths(const int *len, const int *of, float *y, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    int m = len[r];
    for (int j = 0; j < m; j++) y[r] += 1;
}
"""


def test_a_contract_for_one_of_several_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is for the kernels that have its arrays; a command that uses no contracts says so, and drops none."""
    source = LENGTHS + "__global__ void other(float *y) { y[threadIdx.x] = 1; }\n"
    given = ["--assume", "forall i in [0, n): len[i] <= 64"]
    assert bound(source, tmp_path, *given) == 0
    out, err = capsys.readouterr()
    assert "<= 66 " in out
    assert "is not used for other" in err
    assert main(["coalesce", str(tmp_path / "k.cu"), "--kernel", "lengths", "--block", "32", *given]) == 2
    assert "this command uses no contracts on data" in capsys.readouterr().err


SEARCHED = """
__global__ void searched(const int *ptr, const int *col, int *out, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    int low = ptr[r], high = ptr[r + 1];
    while (low < high) {
        int middle = (low + high) / 2;
        if (col[middle] < n) low = middle + 1;
        else high = middle;
    }
    out[r] = low;
}
"""


def test_a_binary_search_in_each_row_needs_a_first_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rises, begins = "//@ requires forall i in [0, n): ptr[i] <= ptr[i + 1];", "//@ requires ptr[0] >= 0;"
    assert bound(rises + SEARCHED, tmp_path) == 1
    assert f"Say where its rows begin: {begins}" in " ".join(capsys.readouterr().out.split())
    if LONG:  # dear
        assert bound(rises + begins.replace("//@", "\n//@") + SEARCHED, tmp_path) == 0
        assert "log2(ptr[" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "advised"),
    [
        ("len[r]", "len[r]", "forall i in [0, n): len[i] <= 64"),
        ("len[r]", "len[r / 2]", "forall i: len[i] <= 64"),
        ("j < m", "j < len[r]", "forall i in [0, n): len[i] <= 64"),
    ],
)
def test_the_contract_that_would_help_is_told_as_it_can_be_put(
    old: str, new: str, advised: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = LENGTHS.replace(old, new)
    assert bound(source, tmp_path) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert f"Or say what it holds, with what is most in place of 64: //@ requires {advised};" in told
    assert bound(f"//@ requires {advised};\n{source}", tmp_path) == 0
    assert "<= 66 " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("loop", "advised"),
    [
        ("int j = 0; while (len[r] != 3) j++;", False),
        ("int j = 0; while (len[r + j] < 3) j++;", False),
        ("int j = 0; while (len[r + j]) j++;", False),
        ("int j = 0; while (j < len[r]) j++;", True),
        ("int m = len[r], j = 0; while (m != 3) j++;", False),
    ],
)
def test_a_contract_is_told_where_it_helps(
    loop: str, advised: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = re.sub(r"int m.*\n.*\n", f"{loop}\n", LENGTHS)
    assert bound(source, tmp_path) == 1
    out = " ".join(capsys.readouterr().out.split())
    told = re.search(r"//@ requires forall [^;]*;", out)
    assert bool(told) == advised, out
    if told:
        assert bound(f"{told[0]}\n{source}", tmp_path) == 0


def test_where_rows_are_said_to_rise_their_width_is_advised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rows of neighbours are anywhere: that rows rise gives no bound."""
    source = CSR.split("\n", 2)[2].replace("rowptr[r]", "rowptr[col[r]]").replace("rowptr[r + 1]", "rowptr[col[r] + 1]")
    assert bound(CSR.split("\n", 1)[0] + "\n" + source, tmp_path) == 1
    assert "//@ requires forall i: rowptr[i + 1] - rowptr[i] <= 64;" in " ".join(capsys.readouterr().out.split())


ENDS = """
//@ requires forall i in [0, n): row[i] <= row[i + 1];
//@ requires row[0] == 0 && row[n] == m;
//@ requires n >= 1;
__global__ void k(const int *row, int *out, int n, int m) {
    //@ potential 1 + |[row[0], row[n]]|;
    for (int j = row[0]; j < row[n]; j++) out[j] = 1;
}
"""


def test_what_elements_are_known_to_be_stands_in_their_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.cu").write_text("\n".join(line for line in ENDS.splitlines() if "potential" not in line))
    assert main(["bound", str(tmp_path / "k.cu"), "--metric", "steps", "--block", "32"]) == 0
    assert "steps  <= 8 + 12*max(0, m)  certified" in capsys.readouterr().out
    unknown = ENDS.replace("row[0] == 0 && row[n] == m", "row[0] == 0").replace("1 + |", "8 + 12*|")
    (tmp_path / "k.cu").write_text(unknown)
    assert main(["check", str(tmp_path / "k.cu"), "--metric", "steps", "--block", "32"]) == 0
    assert "every warp of k costs at most 8 + 12*max(0, row[n] - row[0]) steps" in capsys.readouterr().out


OUTLINE = """kernel k
metric steps
block 32
param int n;
global int row[], out[];
local int j, e;
requires forall i in [0, n): row[i] <= row[i + 1];
requires n >= 1;
begin
  { true; 10 + 12*|[row[0], row[n]]|; {} }
  j <- row[0];
  e <- row[n];
  while (j < e) invariant { e == row[n]; 12*|[j, row[n]]| + 4; {j, e} } {
    out[j] <- 1;
    j <- j + 1;
  }
end
"""
CONTRACT = "forall i in [0, n): row[i] <= row[i + 1]"


def test_outlines_speak_of_elements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, without = tmp_path / "k.qhl", OUTLINE.replace(f"requires {CONTRACT};\n", "")
    path.write_text(OUTLINE)
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "accepted: every warp of k costs at most 10 + 12*max(0, row[n] - row[0]) steps" in out
    assert "second checker: valid" in out
    path.write_text(without)
    assert main(["check", str(path), "--assume", CONTRACT]) == 0
    assert "second checker: valid" in capsys.readouterr().out
    path.write_text(OUTLINE.replace("12*|[row[0], row[n]]|", "12*|[row[0], row[n]]| - 1"))
    assert main(["check", str(path)]) == 1


@pytest.mark.parametrize("edit", [("requires forall", "requires n < 5; //"), ("out[j] <- 1", "row[j] <- 1")])
def test_outlines_speak_of_no_other_elements(edit: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "k.qhl"
    path.write_text(OUTLINE.replace(*edit))
    assert main(["check", str(path)]) == 2


PARTS = """//@ requires forall g in [0, groups): moff[g] <= moff[g + 1];
__global__ void parts(const int *moff, float *C, int groups) {
    __shared__ float s[128];
    for (int i = moff[blockIdx.x]; i < moff[blockIdx.x + 1]; i += 128) {
        s[threadIdx.x] = C[i + threadIdx.x];
        __syncthreads();
        C[i + threadIdx.x] = s[127 - threadIdx.x];
        __syncthreads();
    }
}
"""


def test_blocks_reach_barriers_together_in_loops_that_end_by_stable_arrays(tmp_path: Path) -> None:
    """Each thread of a block turns as often as the others: the limits are elements at one index for all of them."""
    assert bound(PARTS, tmp_path, "--certificate", str(tmp_path / "c.json")) == 0
    assert json.loads((tmp_path / "c.json").read_text())["admitted"] == []
    with_write = PARTS.replace("C[i + threadIdx.x] = s", "((int *)moff)[i] = i; C[i + threadIdx.x] = s")
    assert bound(with_write, tmp_path) != 0


STEPPED = """
//@ requires forall i in [0, n): start[i] <= start[i + 1] && start[i + 1] - start[i] <= bits;
__global__ void stepped(const int *start, const int *in, const int *len, int *out, int n, int bits) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, at = start[c];
    if (c >= n) return;
    while (at < start[c + 1]) at += len[in[at]];
    out[c] = at;
}
"""


def test_no_contract_is_advised_that_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Steps of any length are in the way, not the width of rows, for which no other number is advised."""
    assert bound(STEPPED, tmp_path) == 1
    assert "start[i + 1] - start[i] <= 64" not in " ".join(capsys.readouterr().out.split())
