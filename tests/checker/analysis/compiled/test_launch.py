"""Which function of compiled code is a kernel's."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from unittest import mock

import pytest

from checker.analysis.compiled.launch import NotComparable, entry
from semantics.cuda import choices, read_cuda

SOURCE: Final = """\
namespace a { namespace {
template <typename T, int N> __global__ void g(T *C) { C[0] = N; }
__global__ void ka(float *C) { C[0] = 1; }
} __global__ void k(float *C) { C[0] = 1; } }
__global__ void a3k(float *C) { C[0] = 1; }
extern "C" __global__ void ee(float *C) { C[0] = 1; }
template <int N> __global__ void gemm(float *C, const float *A, int n) { C[n] = A[N]; }
void go(float *C, float *A, int n) {
    gemm<16><<<1, 32>>>(C, A, n); gemm<32><<<1, 32>>>(C, A, n); a::g<float, 3><<<1, 32>>>(C);
}
"""

COMPILED: Final = {  # by nvcc 13.0
    "g<float, 3>": "_ZN1a39_GLOBAL__N__bd970288_7_mang_cu_a51febbb1gIfLi3EEEvPT_",
    "ka": "_ZN1a39_GLOBAL__N__bd970288_7_mang_cu_a51febbb2kaEPf",
    "k": "_ZN1a1kEPf",
    "a3k": "_Z3a3kPf",
    "ee": "ee",
    "gemm<16>": "_Z4gemmILi16EEvPfPKfi",
    "gemm<32>": "_Z4gemmILi32EEvPfPKfi",
}


def module(*symbols: str) -> mock.Mock:
    functions = {s: mock.Mock(entry=True) for s in symbols}
    for symbol, f in functions.items():
        f.name = symbol
    return mock.Mock(functions=functions)


def test_a_kernel_is_found_by_its_symbol(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    found = choices(str(path))
    assert [c.name for c in found] == [*COMPILED]
    for c in found:
        reading = read_cuda(str(path), c.kernel, instantiate=c.instantiate)
        assert reading.kernel.name == c.name
        assert entry(module(*COMPILED.values()), c.name, reading.symbol).name == COMPILED[c.name]


def test_a_part_of_a_name_is_no_name() -> None:
    """Where the symbol is another, a kernel is found by its whole name, if it is the only one of that."""
    assert entry(module("_Z3a1kPf", "_Z1kPi"), "k", "_Z1kPf").name == "_Z1kPi"
    for symbols, told in ((["_Z3a1kPf"], "no kernels"), (["_Z1kPi", "_ZN1a1kEv"], "2 kernels")):
        with pytest.raises(NotComparable, match=f"the compiled code has {told} that are called 'k'"):
            entry(module(*symbols), "k", "_Z1kPf")
