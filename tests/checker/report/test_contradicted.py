"""Launches in a source that are not as its bounds assume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main

pytestmark = pytest.mark.usefixtures("bounds_once")

KERNELS = """
struct V { float *p; };
__global__ void k(float *a, const float *b, int n, unsigned u) { if (threadIdx.x < n) a[threadIdx.x] = b[u]; }
//@ assume n <= 32;
__global__ void few(int *a, int n) { for (int i = 0; i < n; i++) a[threadIdx.x] = i; }
__global__ void data(const int *len, int *out) { for (int i = 0; i < len[0]; i++) out[threadIdx.x] = i; }
struct A { int n; V v; };
__global__ void s(A a) { a.v.p[threadIdx.x] = a.n; }
template <class T> __global__ void t(T *a, const T *b) { a[threadIdx.x] = b[threadIdx.x]; }
"""

AT = "and this assumes that it is at a multiple of 256 bytes"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source by the same name in each test, so that a kernel that is the same is bounded once."""
    monkeypatch.chdir(tmp_path)
    return Path("k.cu")


def _host(code: str) -> str:
    return f"{KERNELS}void go(float *d, float *e, int *i, int *j, V v, int m) {{ {code}\n}}"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("k<<<1, 32>>>(d + 1, e, m, 1);", f"passes d + 1 as 'a', {AT}"),
        ("k<<<1, 32>>>(d, e - 8, m, 1);", f"passes e - 8 as 'b', {AT}"),
        ("k<<<1, 32>>>(&d[m], e, m, 1);", f"passes &d[m] as 'a', {AT}"),
        ("k<<<1, 32>>>(v.p + 3, e, m, 1);", f"passes v.p + 3 as 'a', {AT}"),
        ("k<<<1, 32>>>((float *)((char *)d + 4), e, m, 1);", f"as 'a', {AT}"),
        ("float *q = d + 3; k<<<1, 32>>>(q, e, m, 1);", f"passes q as 'a', {AT}"),
        ("float *q; q = &d[63]; k<<<1, 32>>>(q, e, m, 1);", f"passes q as 'a', {AT}"),
        ("float *q = d; q++; k<<<1, 32>>>(q, e, m, 1);", f"passes q as 'a', {AT}"),
        ("for (int s = 0; s < 4; s++, d += m) k<<<1, 32>>>(d, e, m, 1);", f"passes d as 'a', {AT}"),
        ("d = d + m; k<<<1, 32>>>(d, e, m, 1);", f"passes d as 'a', {AT}"),
        ("const int n = 8; k<<<1, 32>>>(d + n, e, m, 1);", f"passes d + n as 'a', {AT}"),
        ("s<<<1, 32>>>(A{m, {d + 1}});", f"passes d + 1 as 'a.v.p', {AT}"),
        ("V w; w.p = d + 1; s<<<1, 32>>>(A{m, w});", f"passes d + 1 as 'a.v.p', {AT}"),
        ("A a{m, {d + 1}}; s<<<1, 32>>>(a);", f"passes d + 1 as 'a.v.p', {AT}"),
        (
            "d++; void *p[] = {&d, &e, &m, &m}; cudaLaunchKernel((void *)k, 1, 32, p, 0, 0); // k<<<",
            f"passes d as 'a', {AT}",
        ),
        (
            "cudaLaunchConfig_t c{1, 32}; cudaLaunchKernelEx(&c, k, d + 1, e, m, 1); // k<<<",
            f"passes d + 1 as 'a', {AT}",
        ),
        (
            (
                "d++; void *p[] = {&d, &e, &m, &m}; cudaLaunchConfig_t c{1, 32};"
                " cudaLaunchKernelExC(&c, (void *)k, p); // k<<<"
            ),
            f"passes d as 'a', {AT}",
        ),
        ("t<float><<<1, 32>>>(d, d + 1);", f"passes d + 1 as 'b', {AT}"),
        ("few<<<1, 32>>>(i, 33);", "launches it with n = 33, and this assumes n <= 32"),
        ("int n = 40; few<<<1, 32>>>(i, n);", "launches it with n = 40, and this assumes n <= 32"),
        (
            "k<<<1, 64>>>(d, e, m, 1); k<<<1, 32>>>(d, e, m, 1);",
            "launches blocks of 64, and this is about blocks of 32",
        ),
        (
            "data<<<1, 32>>>(i, i);",
            "passes i as 'len' and i as 'out', and this assumes that what the kernel writes is no part of 'len'",
        ),
        ("data<<<1, 32>>>(i, i + 64);", "passes i as 'len' and i + 64 as 'out'"),
        ("int *l = i; data<<<1, 32>>>(l, i);", "passes l as 'len' and i as 'out'"),
    ],
)
def test_a_launch_that_is_not_as_assumed_is_told(
    code: str, told: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source.write_text(_host(code))
    name = code.partition("<<<")[0].split()[-1].partition("<")[0]
    kernel = ["--instantiate", "t<float>"] if name == "t" else ["--kernel", name]
    if "k<<<" in code:
        kernel = ["--kernel", "k"]
    main(["bound", str(source), *kernel, "--metric", "sectors", "--block", "32", "--format", "json"])
    out, err = capsys.readouterr()
    (warning,) = [line for line in err.splitlines() if "the source" in line]
    assert told in warning
    assert warning.startswith(f"{source}:10:")
    assert any(told in note for note in json.loads(out)["results"][0]["assumptions"])


@pytest.mark.parametrize(
    "code",
    [
        "k<<<1, 32>>>(d, e, m, 1);",
        "k<<<1, 32>>>(d + 64, e - 128, m, 1);",
        "const int n = 32; k<<<1, 32>>>(&d[2 * n], e, m, 1);",
        "k<<<1, 32>>>((float *)((char *)d + 512), v.p, m, 1);",
        "k<<<1, 32>>>(nullptr, 0, m, 1);",
        "float *q = nullptr; cudaMalloc(&q, 4); k<<<1, 32>>>(q, e, m, 1);",
        "float *q = d; d = e; e = q; k<<<1, 32>>>(d, e, m, 1);",
        "k<<<1, 32>>>(d, d, m, 1);",
        "few<<<1, 32>>>(i, 32); few<<<1, 32>>>(i, m);",
        "data<<<1, 32>>>(i, j);",
        "k<<<1, 32>>>(d, e, m, -1);",
        "A a{m, {d}}; s<<<1, 32>>>(a); s<<<1, 32>>>(A{m, v}); s<<<1, 32>>>({3, {d + 64}});",
        "void *p[] = {&d, &e, &m, &m}; cudaLaunchKernel((void *)k, 1, 32, p, 0, 0);",
        "other<<<1, 32>>>(d + 1);",
    ],
)
def test_nothing_is_told_of_others(code: str, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source.write_text(_host(code))
    for kernel in ("k", "few", "data", "s"):
        main(["bound", str(source), "--kernel", kernel, "--metric", "sectors", "--block", "32"])
        assert "the source" not in capsys.readouterr().err


@pytest.fixture
def shifted(source: Path) -> Path:
    """A source whose kernel has an annotated bound, launched with an array that does not begin where it should."""
    source.write_text(
        "//@ metric sectors;\n//@ launch block = 32, grid = 4;\n"
        "__global__ void k(float *a, int n) {\n    //@ potential 4;\n    a[threadIdx.x] = n;\n}\n"
        "void go(float *d) { k<<<4, 32>>>(d + 1, 3); }\n"
    )
    return source


@pytest.mark.parametrize(
    "command",
    [("bound",), ("check",), ("coalesce", "--quick"), ("predict", "--device", "gtx280", "--at", "n=3")],
    ids=lambda command: command[0],
)
def test_every_command_that_reads_launches_tells(
    command: tuple[str, ...], shifted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([command[0], str(shifted), *command[1:], "--format", "json"])
    out, err = capsys.readouterr()
    (warning,) = [line for line in err.splitlines() if "the source" in line]
    assert warning == f"{shifted}:7:22: warning: k: the source passes d + 1 as 'a', {AT}"
    assert f"passes d + 1 as 'a', {AT}" in out


def test_a_report_tells_of_the_source_that_it_is_given(shifted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof = shifted.with_suffix(".json")
    main(["bound", str(shifted), "--metric", "sectors", "--certificate", str(proof)])
    capsys.readouterr()
    main(["report", str(proof), "--source", str(shifted), "--format", "json"])
    (row,) = json.loads(capsys.readouterr().out)["certificates"]
    assert any(f"passes d + 1 as 'a', {AT}" in text for text in row["warnings"])


TABLES = """
__constant__ int t[4] = {1, 9, 2, 3};
//@ requires CONTRACT;
__global__ void k(int *a, int n) { for (int i = 0; i < t[n & 3]; i++) a[8 * threadIdx.x + i] = i; }
"""


@pytest.mark.parametrize(
    ("contract", "told"),
    [
        ("forall i in [0, 4): t[i] <= 2", "t[1] as 9"),
        ("forall i: t[i] <= 8", "t[1] as 9"),
        ("forall i in [2, n): t[i] <= 2", "t[3] as 3"),
        ("forall i in [0, 3): t[i] <= t[i + 1]", "t[1] as 9 and t[2] as 2"),
        ("forall i in [0, n): t[i] <= 9", ""),
        ("forall i in [2, n): t[i] <= t[i + 1]", ""),
        ("forall i in [n, 4): t[i] <= 3", ""),
        ("forall i: t[i] <= n", ""),
    ],
)
def test_a_contract_that_constant_data_break_is_told(
    contract: str, told: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source.write_text(TABLES.replace("CONTRACT", contract))
    main(["bound", str(source), "--metric", "sectors", "--block", "32"])
    warned = [line for line in capsys.readouterr().err.splitlines() if "the source declares" in line]
    assert len(warned) == bool(told)
    assert all(f"{source}:4:17: warning: k: the source declares {told}, and this assumes forall " in w for w in warned)
