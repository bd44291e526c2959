"""What a range-based `for` over an object calls: the same as a host compiler has it, or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
struct At { int i; __device__ int operator*() const { return i; } __device__ At &operator++() { i++; return *this; }
  __device__ bool operator!=(const At &o) const { return i < o.i; } };
struct Free { int i; __device__ int operator*() const { return i; } };
__device__ Free &operator++(Free &x) { x.i += 2; return x; }
__device__ bool operator!=(const Free &a, const Free &b) { return a.i < b.i; }
namespace m {
struct M { int *b; };
__device__ int *begin(const M &v) { return v.b; }
__device__ int *end(const M &v) { return v.b + 3; }
struct It { int i; __device__ int operator*() const { return i; } };
__device__ It &operator++(It &x) { x.i++; return x; }
__device__ bool operator!=(const It &a, const It &b) { return a.i < b.i; }
struct N { int n; __device__ It begin() { return {0}; } __device__ It end() { return {n}; } };
__device__ int own(N v) { int s = 0; for (int x : v) s = s * 10 + x; return s; }
}
struct L { int n; __device__ At begin() { return {0}; } __device__ At end() { return {n}; } };
struct F { int n; __device__ Free begin() { return {0}; } __device__ Free end() { return {n}; } };
namespace around { __device__ int all(F v) { int s = 0; for (int x : v) s = s * 10 + x; return s; } }
"""

BODIES = [
    "m::M v{A + 1}; for (int &x : v) x += 4;",
    "A[0] = m::own({4}); for (int x : m::N{n}) A[x + 1]++;",
    "L l{5}; for (int x : l) A[x] = 1; F f{n}; for (int x : f) A[x]++; A[9] = around::all(F{6});",
]


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []


V = "namespace v { struct V { int *b; };"
FREE = (
    f"{V} __device__ int *begin(const V &x) {{ return x.b; }} __device__ int *end(const V &x) {{ return x.b + 9; }} }}"
)
USES = "__device__ int all(v::V x) { int s = 0; for (int y : x) s += y; return s; }"
FEW = "__device__ int *begin(v::V &x) { return x.b + 8; }"
STEP = "__device__ Free &operator++(Free &x) { x.i++; return x; }"
LESS = "__device__ bool operator!=(const Free &a, const Free &b) { return a.i < b.i; }"
FREES = "struct F { int n; __device__ Free begin() { return {0}; } __device__ Free end() { return {n}; } };"
OVER = "__device__ int all(F x) { int s = 0; for (int y : x) s += y; return s; }"
WIDE = "__device__ Free &operator++(Free &x) { x.i += 9; return x; }"
ANY = "template <class T> __device__ T &operator++(T &x) { x.i += 9; return x; }"
ITEM = "struct Free { int i; __device__ int operator*() const { return i; } };"

ELSEWHERE = {
    "a function of no namespace": f"{FREE} {FEW} {USES}",
    "a function that is declared later": f"{FREE} {USES} namespace v {{ {FEW} }}",
    "an object that is called": (
        f"{FREE} struct Call {{ __device__ int *operator()(v::V &x) const {{ return x.b + 8; }} }};"
        f"__device__ Call begin; {USES}"
    ),
    "methods that only a friend may call": (
        "struct V { int *b; friend __device__ int all(V); private: __device__ int *begin() { return b; }"
        "__device__ int *end() { return b + 9; } }; __device__ int *begin(V &x); __device__ int *end(V &x);"
        "__device__ int all(V x) { int s = 0; for (int y : x) s += y; return s; }"
    ),
    "a macro that is defined later": (
        "struct V { int *b; __device__ int *begin() { return b; } __device__ int *end() { return b + 9; }"
        "__device__ int *few() { return b + 8; } };"
        "__device__ int all(V x) { int s = 0; for (int y : x) s += y; return s; }\n#define begin few\n"
    ),
    "an operator that is declared later": (
        "struct Free { int i; __device__ int operator*() const { return i; } __device__ Free(int k) : i(k) {} };"
        "template <class T> __device__ T &operator++(T &x) { x.i++; return x; }"
        f"{LESS} {FREES} {OVER} {WIDE}"
    ),
    "an operator of a namespace around": f"{ITEM} {ANY} {LESS} {FREES} namespace w {{ {STEP} {OVER} }}",
    "an operator of a namespace that is used there": (
        f"{ITEM} {ANY} {LESS} {FREES}namespace w {{ {STEP} }} namespace u {{ using namespace w; {OVER} }}"
    ),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_looked_for_elsewhere(refused: Callable[[str, str], None], name: str) -> None:
    """A hidden function at the end of the text sees other functions than the `for`: a bound would be false."""
    text = ELSEWHERE[name]
    space = "u::" if "namespace u" in text else "w::" if "namespace w" in text else ""
    made = "F{9}" if FREES in text else "v::V{A}" if "v::V" in text else "V{A}"
    kernel = f"__global__ void k(int *A) {{ A[0] = {space}all({made}); }}"
    refused(f"{text} {kernel}", "a range-based 'for' over what is no array is not supported")
