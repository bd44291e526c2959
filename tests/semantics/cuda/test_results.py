"""The types that functions of CUDA's and of C++'s headers give, as nvcc 13.0 has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pytest

from logic.syntax import Const, Write, statements
from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.lowered import Lowered, at_lane

TYPES: Final = ("int", "unsigned", "long", "long long", "unsigned long long", "float", "double")

BEFORE: Final = "#include <cmath>\n#include <cuda/std/cmath>\n#include <limits>\n#include <type_traits>\n" + "".join(
    [
        "template <class T> struct Which { enum { v = -1 }; };\n",
        *(f"template <> struct Which<{t}> {{ enum {{ v = {i} }}; }};\n" for i, t in enumerate(TYPES)),
        "enum E { e }; enum class S { s }; struct F { int x; };\n",
    ]
)


def _values(read: Callable[..., Reading], expressions: Sequence[str]) -> list[int]:
    """The constants that they are, all read at once."""
    writes = "".join(f" p[{i}] = {e};" for i, e in enumerate(expressions))
    body = read(f"{BEFORE}__global__ void k(int *p) {{{writes} }}").kernel.body
    found = []
    for write in statements(body):
        if isinstance(write, Write):
            assert isinstance(write.value, Const)
            found.append(int(write.value.value))
    assert len(found) == len(expressions)
    return found


CALLS: Final = (
    *((f"__shfl_sync(1u, ({t})1, 0)", "int") for t in ("bool", "char", "signed char", "unsigned char", "short")),
    ("__shfl_sync(1u, (unsigned short)1, 0)", "int"),
    ("__shfl_sync(1u, e, 0)", "int"),
    *((f"__shfl_sync(1u, ({t})1, 0)", t) for t in TYPES),
    ("__shfl_up_sync(1u, 'a', 1u)", "int"),
    ("__shfl_down_sync(1u, 'a', 1u, 16)", "int"),
    ("__shfl_xor_sync(1u, 'a', 1)", "int"),
    ("__shfl((short)1, 0)", "int"),
    ("__shfl_xor(true, 1, 8)", "int"),
    ("pow(2.f, 2)", "double"),
    ("std::pow(2.f, 2)", "double"),
    ("pow(2.f, 2.f)", "float"),
    ("pow(2.0, 2)", "double"),
    ("pow(2.f, e)", "float"),
    ("fma(1, 2.f, 1u)", "double"),
    ("std::fma(1.f, 2.f, 1.0)", "double"),
    ("fma(1.f, 2.f, 3.f)", "float"),
    ("cuda::std::copysign(2.f, 3)", "float"),
    ("cuda::std::copysign(2, 3)", "double"),
    ("clock()", "long"),
    ("clock64()", "long long"),
    ("finite(1.0)", "int"),
    ("jn(2, 1.f)", "float"),
    ("yn(2, 1.0)", "double"),
)


def test_a_call_has_the_type_that_cuda_gives_it(read: Callable[..., Reading]) -> None:
    found = _values(read, [f"Which<decltype({call})>::v" for call, _ in CALLS])
    assert [(call, TYPES[of]) for (call, _), of in zip(CALLS, found, strict=True)] == list(CALLS)


CONSTANTS: Final = {
    "std::rank<int>::value": 0,
    "std::rank<int[3]>::value": 1,
    "std::rank<const int[2][5]>::value": 2,
    "std::rank<int[][4]>::value": 2,
    "std::rank<int (*)[3]>::value": 0,
    "std::numeric_limits<wchar_t>::is_signed": 1,
    "std::numeric_limits<char16_t>::digits": 16,
    "std::numeric_limits<char32_t>::is_integer": 1,
    "std::numeric_limits<const int>::digits": 31,
    "std::numeric_limits<volatile float>::digits": 24,
    "std::numeric_limits<F>::is_specialized": 0,
}


def test_a_constant_of_a_type_is_as_the_language_has_it(read: Callable[..., Reading]) -> None:
    assert dict(zip(CONSTANTS, _values(read, [*CONSTANTS]), strict=True)) == CONSTANTS


HEAD: Final = """\
#include <cuda/atomic>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <thrust/functional.h>
struct Told {
  int v; __device__ Told(int v) : v(v) {} __device__ Told(const Told &x) : v(x.v + 100) {}
  __device__ Told(Told &&x) : v(x.v + 7) { x.v = -1; }
  __device__ void operator=(const Told &x) { v = x.v + 1000; }
  __device__ void operator=(Told &&x) { v = x.v + 70; x.v = -2; }
  __device__ int operator+(const Told &x) const { return v + x.v; }
};
struct Pair { int x = 5, y = 6; };
struct None {};
"""
"""A class that tells how it was copied."""

VALUES: Final = {
    "r = cuda::round_up((unsigned char)250, (unsigned char)16);": 0,
    "r = cuda::round_up((short)32767, (short)2);": -32768,
    "r = sizeof(cuda::ceil_div((unsigned char)9, (unsigned char)4));": 1,
    "r = cuda::round_down((unsigned char)250, 16);": 240,
    "r = thrust::maximum<unsigned char>()(300, 9);": 44,
    "r = thrust::minimum<unsigned char>()(300, 290);": 34,
    "r = thrust::maximum<>()(3, 4ll);": 4,
    "r = cuda::maximum<>()((short)3, 2u);": 3,
    "r = thrust::square<unsigned char>()(20);": 144,
    "r = thrust::square<>()((short)300);": 24464,
    "cuda::std::optional<int> o = 3; o = {}; r = o ? 5 : 6;": 6,
    "cuda::std::optional<Pair> o; o = {}; r = o ? 5 : 6;": 6,
    "cuda::std::optional<Pair> o; o = Pair{1, 2}; r = o->y;": 2,
    "cuda::std::optional<unsigned char> o; o = 300; r = *o;": 44,
    "Told a(5), b(6); cuda::std::swap(a, b); r = a.v * 1000 + b.v;": 76082,
    "Told a(5); r = cuda::std::identity()(a).v;": 5,
    "Told a(5), b(6); r = cuda::std::plus<>()(a, b);": 11,
    "r = cuda::std::min(3, 5, cuda::std::greater<int>());": 5,
    "r = cuda::std::max(3, 5, [](int x, int y) { return x > y; });": 3,
    "r = cuda::std::invoke([](Told x) { return x.v; }, Told(5));": 5 + 7,
    "r = sizeof(cuda::atomic<char>);": 4,
    "r = sizeof(cuda::atomic<short, cuda::thread_scope_block>);": 4,
    "r = alignof(cuda::atomic<Pair>);": 8,
    "r = sizeof(cuda::std::aligned_storage<3>::type);": 4,
    "r = sizeof(cuda::std::aligned_storage<12>::type) + alignof(cuda::std::aligned_storage<12>::type);": 24,
}
"""What statements leave in r, as nvcc 13.0 has it."""


def test_headers_compute_what_those_of_cuda_do(read: Callable[..., Reading]) -> None:
    body = "".join(f"{{ long long r; {s} A[{i}] = r; }}\n" for i, s in enumerate(VALUES))
    kernel = read(f"{HEAD}__global__ void k(long long *A) {{\n{body}}}\n").kernel
    state = Lowered(at_lane(kernel, lane=0, n=0, lanes=1))
    state.run(kernel.body)
    assert {s: state.cell("A", i) for i, s in enumerate(VALUES)} == VALUES


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("Told a(5), b = cuda::std::exchange(a, 9); A[0] = b.v;", "whose constructor says what a copy is"),
        ("Told a(5), b = cuda::std::clamp(a, a, a); A[0] = b.v;", "no matching function for call to 'clamp'"),
        ("Pair a, b; A[0] = cuda::std::max(a, b).x;", "'max' of structures"),
        ("A[0] = sizeof(cuda::std::tuple<int, None>);", "up to the library"),
        ("A[0] = sizeof(cuda::atomic<float4>);", "a large atomic has a lock"),
    ],
)
def test_what_is_up_to_the_library_is_refused(refused: Callable[[str, str], None], body: str, words: str) -> None:
    told = HEAD.replace("int operator+", "bool operator<(const Told &x) const; __device__ int operator+")
    refused(f"{told}__global__ void k(int *A) {{ {body} }}\n", words)


def test_an_error_in_a_header_of_ours_is_told_where_it_is_used(read: Callable[..., Reading]) -> None:
    text = "#include <algorithm>\nstruct S {};\n__global__ void k(int *A) {\n  A[0] = sizeof(std::tuple<S, int>);\n}\n"
    with pytest.raises(CudaError, match=r"^how large a tuple") as caught:
        read(text)
    assert caught.value.loc is not None
    assert (caught.value.loc.file.rpartition("/")[2], caught.value.loc.line) == ("x.cu", 4)
