"""What the census of a collection says of a small one."""

from __future__ import annotations

from pathlib import Path

from tests.bench.collection import Row, bounded, kernels, page, roots

GOOD = "__global__ void k(int *A) { A[threadIdx.x] = 1; }\n"
BAD = '__global__ void bad(int *A) { asm("unknown %0;" : : "r"(A[0])); }\n'


def test_included_sources_are_no_roots(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text('#include <stdio.h>\n#include <more.cu>\n#include "kernel.cu"\nint main() {}\n')
    (tmp_path / "kernel.cu").write_text(GOOD)
    (tmp_path / "more.cu").write_text("int g();\n")
    (tmp_path / "host.cu").write_text("int f() { return 1; }\n")
    assert [p.name for p in roots(tmp_path)] == ["host.cu", "main.cu"]
    assert list(kernels(tmp_path, [])) == [(tmp_path / "main.cu", "k", "")]


def test_a_kernel_is_certified_and_another_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.cu"
    path.write_text(GOOD + BAD)
    good, bad = (bounded(tmp_path, path, name, 20, ["--block", "32"]) for name in ("k", "bad"))
    assert good.certified
    assert not bad.read
    assert "not supported" in bad.why
    text = page([good, bad, Row("y.cu", "?", (), 0.0, "expected '}'")])
    assert text.startswith("3 kernels: 1 read (33.3 %), 1 certified under all metrics (33.3 %)")
    assert "| expected '..' | 1 |" in text
    assert "| x.cu | k |" not in text


def test_each_instance_has_its_own_time_and_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.cu"
    own = "template <int N> __global__ void t(int *A) { for (int i = 0; i < (N ? N : A[0]); i++) A[i * N] = 1; }\n"
    path.write_text(f"namespace n {{ {own} }} void f(int *A) {{ n::t<2><<<1, 32>>>(A); n::t<3><<<1, 32>>>(A); }}\n")
    found = bounded(tmp_path, path, "t", 20, [])
    assert (found.kernel, found.certified, found.verdicts) == ("t", True, ("certified",) * 8)
    path.write_text(path.read_text().replace("t<3>", "t<0>"))
    found = bounded(tmp_path, path, "t", 20, [])
    assert (found.read, found.certified, found.verdicts[:4]) == (True, False, ("certified",) * 4)
    assert found.why.startswith("sectors: ")
