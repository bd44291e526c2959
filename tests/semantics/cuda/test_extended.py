"""The numbers of type `long double`, which are of another size for clang than for CUDA's compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from semantics.cuda import CudaError, read_cuda

BEFORE = """
typedef long double R; using Q = R; struct S { char a; Q b; }; enum { N = sizeof(S), M };
template <class X> struct T { X a; };
#define LD long double
#define LONG long
namespace B { const int w = sizeof(LD); }
template <class X> __device__ int f() { return sizeof(X); }
__device__ int g(int x) { const int m = alignof(LONG double); return m; }
template <int Z> struct U { enum { v = 1 }; }; template <> struct U<sizeof(R)> { enum { v = 9 }; };
long double host(long double x) { return x; } int sum() { return host(1.0L); }
__device__ long h() { double d = 1; return (long)d; }
"""


def _read(size: str, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    body = f"double sum = n; for (int i = 0; i < {size}; i++) p[i] = (long)sum;"
    source.write_text(f"{BEFORE}__global__ void k(int *p, long n) {{ {body} }}\n")
    read_cuda(str(source), "k")


@pytest.mark.parametrize(
    "size",
    [
        "sizeof(long double)", "sizeof(double long)", "sizeof(long const double)", "sizeof(1.0L)", "sizeof(1e3l)",
        "sizeof(0x1p3L)", "sizeof(R)", "alignof(Q)", "sizeof(S)", "N", "M", "sizeof(T<R>)", "sizeof(LD)",
        "sizeof(LONG double)", "B::w", "f<S>()", "g(1)", "U<16>::v",
    ],
)  # fmt: skip
def test_what_depends_on_the_size_of_a_long_double_is_refused(size: str, tmp_path: Path) -> None:
    with pytest.raises(CudaError, match="'long double' is not supported"):
        _read(size, tmp_path)


@pytest.mark.parametrize("size", ["10L", "sizeof(long)", "sizeof(double)", "h()"])
def test_others_are_read(size: str, tmp_path: Path) -> None:
    _read(size, tmp_path)


def test_the_place_is_told(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(int *p) {\n  /* \u00e4 */ p[0] = sizeof(long double);\n}\n")
    with pytest.raises(CudaError) as told:
        read_cuda(str(source), "k")
    assert str(told.value.loc) == f"{source}:2:25"
