"""Arithmetic on vectors by `helper_math.h`, against the same component by component."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, hosted, lowered

Read = Callable[..., Reading]

HEAD: Final = '#include "helper_math.h"\n'

PAIRS: Final = {
    "int3 a = make_int3(A[1], n, 5), b = make_int3(2); b -= a * 3; A[0] = b.x; A[1] = b.y; A[2] = b.z;":
        "A[0] = 2 - A[1] * 3; A[1] = 2 - n * 3; A[2] = 2 - 15;",
    "int2 a = make_int2(make_int3(n, 7, 8)), b = 10 - a; b += 2; a = -b; A[0] = b.x * 100 + a.y;":
        "A[0] = (10 - n + 2) * 100 - (10 - 7 + 2);",
    "int4 a = make_int4(make_int3(make_int2(n, 4), 5), 6); a *= a + 1; A[0] = a.x + 10 * a.y + 100 * a.z + a.w;":
        "A[0] = n * (n + 1) + 10 * 20 + 100 * 30 + 42;",
    "int4 a = make_int4(make_int3(make_int2(n, 4))); A[0] = a.x; A[1] = a.y; A[2] = a.z; A[3] = a.w;":
        "A[0] = n; A[1] = 4; A[2] = 0; A[3] = 0;",
    "A[0] = dot(make_int3(n, 2, 3), make_int3(4, 5, n)) + dot(make_int2(1, n), make_int2(n, 2));":
        "A[0] = n * 4 + 10 + 3 * n + n + n * 2;",
    "A[0] = clamp(A[9], 2, n) + clamp(-n, 2, 5); int2 v = clamp(make_int2(n, 9), make_int2(4, 1), make_int2(8, 7));"
    "A[1] = v.x * 10 + v.y; v = clamp(v, 5, 6); A[2] = v.x * 10 + v.y;":
        "A[0] = n + 2; A[1] = 47; A[2] = 56;",
    "int3 v = max(make_int3(n, -4, 9), make_int3(1, 2, 3)) - min(make_int3(5), abs(make_int3(-n, 9, 1)));"
    "A[0] = v.x; A[1] = v.y; A[2] = v.z;":
        "A[0] = n - n; A[1] = 2 - 5; A[2] = 9 - 1;",
    "uint2 u = make_uint2(make_int2(n, 7)) * 3u + make_uint2(threadIdx.x); A[0] = u.x; A[1] = (3u + u).y;":
        "A[0] = n * 3 + threadIdx.x; A[1] = 24 + threadIdx.x;",
}  # fmt: skip


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_by_components(read: Read, tmp_path: Path) -> None:
    theirs = hosted("", list(PAIRS.values()), tmp_path)
    for body, cells in zip(PAIRS, theirs, strict=True):
        assert lowered(read, HEAD, body) == cells, body


FLOATS: Final = (
    "F[0] = length(V[n]);",
    "F[0] = lerp(F[1], F[2], 0.5f);",
    "F[0] = fracf(F[1]) / clamp(F[2], 0.0f, 1.0f);",
    "V[n] = normalize(cross(V[0], V[1])) - reflect(V[2], V[3]) / 2.0f;",
    "V[n] = smoothstep(V[0], V[1], V[2]) + fminf(fabs(V[0]), floorf(V[1])) * lerp(V[0], fracf(V[1]), F[0]);",
    "F4[n] = make_float4(make_float3(make_int3(1, 2, n)), 1.0f); F[0] = make_float2(V[1]).y + make_float3(F4[1]).z;",
)


@pytest.mark.parametrize("header", ["helper_math.h", "cutil_math.h"])
def test_floats_are_read(read: Read, header: str) -> None:
    body = f"#include <{header}>\n__global__ void k(float *F, float3 *V, float4 *F4, int n) {{ {' '.join(FLOATS)} }}"
    text = show_stmt(read(body, "k").kernel.body)
    assert "F[0] <- sqrtf(a_1.x * b.x + a_1.y * b.y + a_1.z * b.z);" in text
    assert "rsqrtf" in text
    assert "floorf" in text
    assert "fminf" not in text


def test_one_that_the_program_brings_along_comes_first(read: Read, tmp_path: Path) -> None:
    (tmp_path / "helper_math.h").write_text("inline __device__ int clamp(int v, int a, int b) { return v + 1; }\n")
    source = "#include <helper_math.h>\n__global__ void k(int *A, int n) { A[0] = clamp(n, 0, 1); }"
    assert "A[0] <- v + 1;" in show_stmt(read(source, "k", includes=[str(tmp_path)]).kernel.body)
