"""The shim as it was parsed before gives a file the same tree as the shim that is parsed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from logic.source import SourceError
from semantics.cuda import precompiled, read_cuda
from semantics.cuda.clang import Node, Unit
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
    included = [each for each in unit.inclusions if each[0] != PATH]
    return [told(n) for n in own_nodes(unit)], errors, included, unit.macros, unit.predefined


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_the_tree_is_the_same(text: bytes, host: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompiled, "_kept", {})
    plain = tuple(Request("x.cu", defines=("SIZE=4",), host=host).args)
    precompiled.precompiled(plain)
    quick = precompiled.precompiled(plain)
    assert "-include-pch" in quick
    assert said(Unit("x.cu", text, quick)) == said(Unit("x.cu", text, plain))


def test_it_is_kept_for_options_that_come_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompiled, "_kept", {})
    options = [tuple(Request("x.cu", defines=(f"N={i}",)).args) for i in range(precompiled.MOST + 1)]
    for each in options:
        assert precompiled.precompiled(each) == each
    quick = [precompiled.precompiled(each) for each in options]
    assert quick[-1] == options[-1]
    assert len({each[-1] for each in quick[:-1]}) == precompiled.MOST
    assert [precompiled.precompiled(each) for each in options] == quick


@pytest.mark.parametrize("broken", ["dim3=(", "float4=("])
def test_a_shim_with_errors_is_parsed_each_time(broken: str, tmp_path: Path) -> None:
    options = tuple(Request("x.cu", defines=(broken,)).args)
    assert [precompiled.precompiled(options) for _ in range(3)] == [options] * 3
    path = tmp_path / "x.cu"
    path.write_bytes(TEXTS[0])
    words = set()
    for _ in range(3):
        with pytest.raises(SourceError) as caught:
            read_cuda(str(path), defines=(broken,))
        words.add(caught.value.message)
    assert len(words) == 1


def test_where_files_have_no_numbers_it_is_parsed_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompiled, "_kept", {})
    monkeypatch.setattr(precompiled, "DESCRIPTORS", tmp_path)
    options = tuple(Request("x.cu").args)
    assert [precompiled.precompiled(options) for _ in range(3)] == [options] * 3


def test_what_was_kept_and_does_not_work_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.cu"
    path.write_bytes(TEXTS[0])
    plain = tuple(Request(str(path), defines=("LEFT",)).args)
    bad = (*plain, "-include-pch", str(tmp_path / "gone"))
    monkeypatch.setattr(precompiled, "_kept", {plain: bad})
    assert read_cuda(str(path), defines=("LEFT",)).kernel.name == "k"
