"""What the types of elements say: bounds where they lead to elements of which contracts speak, and none where they do
not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from checker import recheck
from checker.cli import main
from checker.refutation.contracts import of_types, within
from logic.contracts import Contract, element, unchanging
from logic.syntax import Const, Op, Var
from semantics.cuda import read_cuda

CONTRACT: Final = "//@ requires forall k in [0, HIGH): 1 <= len[k] && len[k] <= 4;\n"
KERNEL: Final = """__global__ void decode(const TYPE *code, const int *len, TYPE *out, int n, TYPE *other) {
    int at = 0;
    while (at < n) { BODY }
    out[threadIdx.x] = at;
}
"""


def bound(source: str, folder: Path, *more: str) -> int:
    path = folder / "k.cu"
    path.write_text(source)
    return main(["bound", str(path), "--metric", "sectors", "--block", "128", *more])


def found(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[Any, str]:
    """The bound of a kernel, and what is said beside it; both checkers judge its certificate."""
    certificate = tmp_path / "c.json"
    rc = bound(source, tmp_path, "--format", "json", "--certificate", str(certificate), *more)
    out, err = capsys.readouterr()
    (one,) = json.loads(out)["results"]
    if rc == 0:
        assert recheck.recheck(json.loads(certificate.read_text())).verdict == "valid"
        assert main(["check", str(certificate)]) == 0
        capsys.readouterr()
    return one["bound"], err


def source(kind: str, high: int | str, body: str) -> str:
    return (CONTRACT + KERNEL).replace("TYPE", kind).replace("HIGH", str(high)).replace("BODY", body)


@pytest.mark.parametrize(
    ("kind", "high", "body"),
    [
        ("unsigned char", 256, "at += len[code[at]];"),
        ("unsigned char", 16, "at += len[code[at] & 15];"),
        ("unsigned char", 16, "int c = code[at] >> 4; at += len[c];"),
        ("signed char", 256, "at += len[code[at] + 128];"),
        ("unsigned short", 65536, "at += len[code[at]];"),
        ("int", 16, "at += len[code[at] & 15];"),
        ("unsigned", 16, "at += len[code[at] >> 28];"),
    ],
)
def test_elements_of_which_contracts_speak_at_elements(
    kind: str, high: int, body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    q, err = found(source(kind, high, body), tmp_path, capsys)
    assert q is not None
    assert "max(0, n)" in q
    assert "no small data" not in err


@pytest.mark.parametrize(
    ("kind", "high", "body"),
    [
        ("signed char", 256, "at += len[code[at]];"),
        ("char", 256, "at += len[code[at]];"),
        ("unsigned char", 255, "at += len[code[at]];"),
        ("unsigned short", 256, "at += len[code[at]];"),
        ("unsigned char", 256, "at += len[code[at] + 1];"),
        ("unsigned char", 256, "at += len[code[at] - 1];"),
        ("int", 16, "at += len[code[at] & 31];"),
        ("int", 16, "at += len[code[at] % 16];"),
        ("unsigned char", 256, "at += out[code[at]];"),
    ],
)
def test_elements_that_may_lead_elsewhere(
    kind: str, high: int, body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert found(source(kind, high, body), tmp_path, capsys)[0] is None


@pytest.mark.parametrize("kind", ["int", "long long", "unsigned"])
def test_any_element_leads_to_one_that_a_contract_is_about(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the contract is about all of them."""
    text = source(kind, 9, "at += len[code[at]];")
    assert found(text, tmp_path, capsys)[0] is None
    assert found(text.replace(" k in [0, 9)", " k"), tmp_path, capsys)[0] is not None
    changed = (
        text.replace(" k in [0, 9)", " k").replace("at += len", "code[at]++; at += len").replace("const TYPE", "TYPE")
    )
    assert found(changed.replace("const ", ""), tmp_path, capsys)[0] is None


@pytest.mark.parametrize("array", ["other", "code"])
def test_arrays_that_are_written(array: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a signed element is said to be rests on a contract, which a written array can have none of."""
    text = source("signed char", 256, f"{array}[at] = 3; at += len[code[at] + 128];").replace("const signed", "signed")
    q, _ = found(text, tmp_path, capsys)
    assert (q is None) == (array == "code")


ANEW = """#include <cuda/atomic>
struct Pair { unsigned char x, y; };
__device__ int by_assembly(const unsigned char *p) {
  int v;
  asm volatile("ld.HOW.global.u8 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__global__ void k(QUALIFIED unsigned char *code, int *out, int n) {
  int d = SECOND - code[0];
  for (int j = 0; j < d + 1; j++) out[j] = 1;
  for (int at = 0; at < n; at += 1 + code[at]) out[at] = 1;
}
"""


@pytest.mark.parametrize(
    ("qualified", "second", "how", "held"),
    [
        ("const", "code[0]", "weak", True),
        ("const volatile", "code[0]", "weak", False),
        ("const", "((const volatile unsigned char *)code)[0]", "weak", False),
        ("const", "__ldcv(code)", "weak", False),
        ("", "cuda::atomic_ref<unsigned char>(code[0]).load()", "weak", False),
        ("", "((volatile Pair *)code)->x", "weak", False),
        ("const", "__ldcv((const uchar4 *)code).x", "weak", False),
        *(("const", "by_assembly(code)", how, False) for how in ("volatile", "relaxed.gpu", "acquire.gpu")),
    ],
)
def test_arrays_that_others_may_change_meanwhile(
    qualified: str, second: str, how: str, held: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two reads of them may be two values, whatever their types say."""
    text = ANEW.replace("QUALIFIED", qualified).replace("SECOND", second).replace("HOW", how)
    q, _ = found(text, tmp_path, capsys)
    assert (q is not None) == held
    stated = bound(text.replace("__global__", "//@ requires forall i: code[i] >= 1;\n__global__"), tmp_path)
    told = "the kernel reads 'code' as what others may change meanwhile, so a contract cannot say what it holds"
    assert (stated == 0, told not in capsys.readouterr().err) == (held, held)


def test_counters_that_narrow_elements_raise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = KERNEL.replace("TYPE", "unsigned char")
    q, _ = found(plain.replace("BODY", "at += 1 + code[at];"), tmp_path, capsys)
    assert q is not None
    assert "max(0, n)" in q
    assert found(plain.replace("BODY", "at += code[at];"), tmp_path, capsys)[0] is None
    signed = KERNEL.replace("TYPE", "signed char").replace("BODY", "at += 128 + code[at];")
    assert found(signed, tmp_path, capsys)[0] is None
    assert found(signed.replace("128", "129"), tmp_path, capsys)[0] is not None


@pytest.mark.parametrize(
    ("body", "arrays"),
    [
        ("out[0] = x[a[0]];", []),
        ("out[0] = row[a[0]];", ["a"]),
        ("int m = a[0]; out[0] = row[m];", ["a"]),
        ("out[0] = row[a[0]]; a[1] = 0;", []),
        ("out[0] = row[x[0]];", []),
        ("out[0] = row[x[0] & 7];", ["x"]),
        ("int m = a[0]; for (int j = 0; j < m; j++) out[j] = 0;", []),
        ("int m = 0; for (int j = 0; j < n; j++) m += a[j]; out[0] = m;", []),
        ("int m = 0; for (int j = 0; j < n; j++) m += a[j]; while (m < n) m++;", ["a"]),
        ("for (int j = 0; j < n; j += a[j]) out[j] = 0;", ["a"]),
        ("for (int j = 0; j < n; j += x[j]) out[j] = 0;", []),
        ("for (int j = 0; j < n; j += x[j] & 7) out[j] = 0;", ["x"]),
    ],
)
def test_elements_whose_limits_are_told(body: str, arrays: list[str], tmp_path: Path) -> None:
    """Those that nothing writes, where they lead to elements of which a contract speaks, or count a loop on."""
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(unsigned char *a, int *x, int *row, int *out, int n) {{ {body} }}")
    rising = Contract(((None, None),), Op("<=", (Const(0), element("row", Var("?i0")))))
    told = [c for c in of_types([rising], read_cuda(str(path))) if c not in map(unchanging, c.arrays)]
    assert sorted({a for c in told for a in c.arrays}) == arrays
    limits = {"a": (0, 255), "x": (-(2**31), 2**31 - 1)}
    assert list(told) == [c for a in arrays for c in within(a, limits[a])]


def test_limits_by_elements_are_what_they_were(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An element that only limits a loop has the number of its type as a limit, and there is nothing to assume."""
    text = KERNEL.replace("TYPE", "unsigned char").replace("at < n", "at < code[n]").replace("BODY", "at++;")
    assert bound(text, tmp_path) == 0
    out = capsys.readouterr().out
    assert "code[" not in out
    assert "forall" not in out


def test_contracts_that_types_contradict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = source("unsigned char", 256, "at += len[code[at]];")
    found(f"//@ requires forall k in [0, n): code[k] < 0;\n//@ requires n > 0;\n{text}", tmp_path, capsys)
    _, err = found(f"//@ requires code[0] < 0;\n{text}", tmp_path, capsys)
    assert "no small data keep the contracts" in err


@pytest.mark.parametrize(
    ("high", "fact", "kept"),
    [
        ("256", "1 <= len[k]", True),
        ("65536", "1 <= len[k]", True),
        ("40 * n", "1 <= len[k]", True),
        ("256", "1 <= len[2 * k + 1]", True),
        ("256", "len[k] < len[k + 1]", True),
        ("256", "1 <= len[k] && len[k] < 1", False),
        ("256", "k < 255 && 1 <= len[k]", False),
    ],
)
def test_small_data_are_as_long_as_ranges_are(
    high: str, fact: str, kept: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = KERNEL.replace("TYPE", "int").replace("BODY", "at++;")
    bound(f"//@ requires forall k in [0, {high}): {fact};\n//@ requires n > 0;\n{text}", tmp_path)
    assert ("no small data" in capsys.readouterr().err) != kept


LIMITS: Final = """struct Part { int start, count; float w; };
__global__ void k(const int *len, const unsigned *size, const long long *wide, const Part *part, int *out, int n,
                  float *const *rows, int *const *cells) { BODY }
"""


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("int m = len[blockIdx.x]; for (int j = 0; j < m; j++) out[j] = 0;", "1 + max(0, len[blockIdx.x])"),
        ("unsigned m = size[n]; for (unsigned j = 0; j < m; j++) out[j] = 0;", "1 + max(0, size[n])"),
        ("for (long long j = 0; j < wide[0]; j += 2) out[j] = 0;", "1 + 2*max(0, ceil(wide[0]/2))"),
        ("for (int j = len[n]; j < len[n + 1]; j++) out[j] = 0;", "2 + 2*max(0, len[1 + n] - len[n])"),
        (
            "Part p = part[blockIdx.x]; for (int j = p.start; j < p.start + p.count; j++) out[j] = 0;",
            "3 + max(0, part.count[blockIdx.x])",
        ),
        ("int r = len[n]; for (int j = 0; j < size[r]; j++) out[j] = 0;", "2 + 2*max(0, size[len[n]])"),
        ("int m = len[n]; for (int j = 0; j < m; j++) rows[n][j] = 0;", "1 + 2*max(0, len[n])"),
        ("int m = len[n]; for (int j = 0; j < m; j++) cells[n][j] = 0;", None),
        ("len[n]; int m = ((int *)len)[n]; for (int j = 0; j < m; j++) ((int *)len)[j] = 0;", None),
        ("int m = ((volatile int *)len)[n]; for (int j = 0; j < m; j++) out[j] = 0;", None),
        ("int m = out[n]; for (int j = 0; j < m; j++) out[j] = 0;", None),
        ("int m = len[threadIdx.x]; for (int j = 0; j < m; j++) out[j] = 0;", None),
    ],
)
def test_loops_to_what_an_array_holds_at_one_index(
    body: str, bound: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a contract, where the whole warp reads one element, which nothing changes meanwhile: that is assumed, and
    nothing else."""
    q, _ = found(LIMITS.replace("BODY", body), tmp_path, capsys)
    assert q == bound
    main(["bound", str(tmp_path / "k.cu"), "--metric", "sectors", "--block", "128"])
    out = capsys.readouterr().out
    assert "forall i: len[i] <= len[i]" not in out
    assert ("what the kernel writes is no part of" in out) == (bound is not None or "threadIdx" in body)
