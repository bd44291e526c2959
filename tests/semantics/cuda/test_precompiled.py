"""The shim as it was parsed before gives a file the same tree as the shim that is parsed again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from logic.source import SourceError
from semantics.cuda import precompiled, read_cuda
from semantics.cuda.clang import PREPROCESSED, Node, Prefix, Unit
from semantics.cuda.macros import braces, given, pastes, separates
from semantics.cuda.parse import Request
from semantics.cuda.shim import PATH, own_nodes

TEXTS = (
    b"__global__ void k(int *A) { A[threadIdx.x] = min(1, 2); }",
    b"""#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __global__ void k(float4 *A) { cg::thread_block b = cg::this_thread_block(); b.sync(); A[b.thread_rank()].x = 0; }
    """,
    b"""#include <cuda_fp16.h>
    #define N INT_MAX
    __global__ void k(half *A) { A[0] = __float2half(N); }
    void h(half *A) { dim3 b(32, 2); k<<<1, b>>>(A); }
    """,
    b"""#define min(a, b) ((a) < (b) ? (a) : (b))
    #define SUM(a) { a; }
    #define TWICE(a) SUM(a) SUM(a)
    template <typename T, int N> struct S { static int n; T x[N]; __device__ T f() { return x[0]; } };
    template <typename T, int N> int S<T, N>::n = N;
    namespace q { template <typename T> __device__ T g(T x) { S<T, SIZE> s{{x}}; return s.f() + S<T, 2>::n; } }
    template <> __device__ double q::g(double x) { return x; }
    template <typename T> constexpr int width = sizeof(T);
    struct V { template <typename T> __device__ T f(T x) { return x; } };
    template <typename T> __global__ void k(T *A) { SUM(A[0] = q::g(A[width<T>]) + V().f(width<V>)) }
    template __global__ void k(float *A);
    template <> __global__ void k(int *A) { A[0] = min(A[1], 2); }
    void h(double *A) { k<<<1, 32>>>(A); auto f = [](auto x) { return x; }; f(1); f(2.0); }
    """,
    b"""#include <gone.h>
    template <typename T> __global__ void k(T *A) { A[0] = std::max<T>(A[1], T()); undeclared(); }
    """,
)


def said(unit: Unit) -> object:
    """All that the front end asks of a unit: of the shim, what a file's nodes lead to, in which the order of methods
    and the ends of parameters without names may differ."""

    def told(node: Node) -> object:
        used = node.referenced
        known = used and (used.kind, used.name, used.file, used.offset, used.type, [p.type for p in used.arguments])
        return node.kind, node.name, node.span, node.type, [(f.name, f.type) for f in node.fields], known

    errors = [(e.message, e.loc, e.offset) for e in unit.errors]
    says = (pastes, braces, separates, lambda text: b"min" in text, lambda text: b"SUM(" in text)
    macros = unit.macros.texts, unit.macros.predefined, [unit.macros.saying(f) for f in says]
    included = [each for each in unit.inclusions if each[0] != PATH]
    return [told(n) for n in own_nodes(unit)], errors, included, macros


@pytest.mark.parametrize(("std", "host"), [("c++17", False), ("c++17", True), ("c++20", False)])
@pytest.mark.parametrize("text", TEXTS)
def test_the_tree_is_the_same(text: bytes, std: str, host: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh(monkeypatch)
    plain = tuple(Request("x.cu", defines=("SIZE=4",), std=std, host=host).args)
    *_, (quick, prefix) = (precompiled.precompiled(plain) for _ in range(precompiled.OFTEN))
    assert "-include-pch" in quick
    short, whole = Unit("x.cu", text, quick, prefix), Unit("x.cu", text, plain)
    assert said(short) == said(whole)
    assert len(short.root().children) * 10 < len(whole.root().children)
    assert prefix is not None
    elsewhere = Unit("x.cu", text, quick, replace(prefix, last=None))  # nothing is left out then
    assert len(elsewhere.root().children) == len(short.root().children) + prefix.declared
    assert [n.kind for n in elsewhere.root().children if n.kind in PREPROCESSED] == [
        n.kind for n in short.root().children if n.kind in PREPROCESSED
    ]


def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept, nor known to have come."""
    monkeypatch.setattr(precompiled, "_kept", {})
    monkeypatch.setattr(precompiled, "_came", {})


def options(i: int) -> tuple[str, ...]:
    return tuple(Request("x.cu", defines=(f"N={i}",)).args)


def test_it_is_kept_for_options_that_come_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """And come last: those that came first are as they were, and their file is closed."""
    fresh(monkeypatch)
    monkeypatch.setattr(precompiled, "MOST", 3)
    every = [options(i) for i in range(precompiled.MOST + 1)]
    for each in every * (precompiled.OFTEN - 1):
        assert precompiled.precompiled(each) == (each, None)
    quick = [precompiled.precompiled(each)[0][-1] for each in every[:-1]]
    assert len(set(quick)) == precompiled.MOST
    assert [precompiled.precompiled(each)[0][-1] for each in every[:-1]] == quick
    assert Path(quick[0]).exists()
    last = precompiled.precompiled(every[-1])[0][-1]
    assert last not in quick
    assert not Path(quick[0]).exists()
    assert [precompiled.precompiled(each)[0][-1] for each in every[1:]] == [*quick[1:], last]
    assert precompiled.precompiled(every[0]) == (every[0], None)


def test_options_that_come_once_stand_in_nobodys_way(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh(monkeypatch)
    monkeypatch.setattr(precompiled, "COUNTED", 8)
    for i in range(100):
        assert precompiled.precompiled(options(i)) == (options(i), None)
    assert len(precompiled._came) == precompiled.COUNTED
    *_, (quick, _) = (precompiled.precompiled(options(100)) for _ in range(precompiled.OFTEN))
    assert "-include-pch" in quick
    assert options(100) not in precompiled._came


@pytest.mark.parametrize("broken", ["dim3=(", "float4=("])
def test_a_shim_with_errors_is_parsed_each_time(broken: str, tmp_path: Path) -> None:
    own = tuple(Request("x.cu", defines=(broken,)).args)
    assert [precompiled.precompiled(own) for _ in range(5)] == [(own, None)] * 5
    path = tmp_path / "x.cu"
    path.write_bytes(TEXTS[0])
    words = set()
    for _ in range(5):
        with pytest.raises(SourceError) as caught:
            read_cuda(str(path), defines=(broken,))
        words.add(caught.value.message)
    assert len(words) == 1


def test_where_files_have_no_numbers_it_is_parsed_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh(monkeypatch)
    monkeypatch.setattr(precompiled, "DESCRIPTORS", tmp_path)
    own = tuple(Request("x.cu").args)
    assert [precompiled.precompiled(own) for _ in range(5)] == [(own, None)] * 5


def test_what_was_kept_and_does_not_work_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.cu"
    path.write_bytes(TEXTS[0])
    plain = tuple(Request(str(path), defines=("LEFT",)).args)
    bad = (*plain, "-include-pch", str(tmp_path / "gone"))
    monkeypatch.setattr(precompiled, "_kept", {plain: (bad, Prefix([], given(()), 0, [], {}))})
    assert read_cuda(str(path), defines=("LEFT",)).kernel.name == "k"
