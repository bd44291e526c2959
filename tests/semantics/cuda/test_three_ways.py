"""Comparisons in three ways, and those that C++20 makes of them, as a host compiler has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
#include <compare>
#include <cstdint>
struct Version { int major, minor; unsigned patch;
  __host__ __device__ constexpr auto operator<=>(const Version &) const = default; };
struct Cents { long long n;
  __host__ __device__ friend constexpr std::strong_ordering operator<=>(Cents a, Cents b) { return a.n <=> b.n; }
  __host__ __device__ friend constexpr bool operator==(Cents a, Cents b) = default; };
struct Near { int at;
  __host__ __device__ constexpr std::weak_ordering operator<=>(const Near &o) const { return at / 4 <=> o.at / 4; }
  __host__ __device__ constexpr bool operator==(const Near &o) const { return at / 4 == o.at / 4; }
  __host__ __device__ constexpr int operator<=>(int x) const { return at - x; } };
constexpr Version first{1, -2, 7u};
constexpr int lowest[] = {INT8_MIN, INT32_MIN, UINT8_MAX};
"""

BODIES = [
    """for (int i = 0; i < 2; i++) {
      Version a{A[i] % 3, B[i] % 2, (unsigned)B[i + n]}, b{A[i + 2] % 3, 1, (unsigned)B[i]};
      A[i] = (a < b) + 2 * (a > b) + 4 * (a <= b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b) + 64 * (first < a);
      if (auto c = a <=> b; c != 0) B[i] = c < 0 ? -5 : 0 < c;
      if (a <=> b == std::strong_ordering::less) B[i + 8] = 3; }""",
    """Cents a{n}, b{B[2]}; if (a < b) A[0] = 9; else if (b < a) A[0] = 8; if ((a <=> b) == 0) A[1] = 7;
    Near p{n}, q{B[4] + 1}, r{n + 1}; A[2] = p < q; A[3] = p == r; A[4] = std::is_lteq(p <=> r);
    A[11] = (p < 3) + 2 * (2 < p);
    std::partial_ordering o = a <=> b; A[5] = (o <= 0) + 2 * std::is_gt(o);
    A[12] = o == std::partial_ordering::unordered;
    unsigned u = n; long long w = -n; A[6] = (u <=> 5u < 0) + 2 * (w <=> 0ll >= 0) + 4 * ((A[n] <=> A[n + 1]) > 0);
    A[7] = INT16_MAX + INT8_MIN; A[8] = INT32_MIN + n; A[9] = UINT8_MAX; A[10] = INT64_MAX > UINT32_MAX;""",
]


@pytest.mark.skipif(COMPILER is None, reason="g++ is missing")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path, "c++20") == []
