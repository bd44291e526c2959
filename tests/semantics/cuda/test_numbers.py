"""Numbers of CUDA's headers that C has not: complex ones, and floats of 8, 6 and 4 bits. What they become."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import Final

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading
from semantics.grid import run

Read = Callable[..., Reading]

HEAD: Final = """#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cuComplex.h>
#include <math_constants.h>
#include <cub/cub.cuh>
#include <thrust/complex.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/swap.h>
#include <cuda/std/complex>
#include <cuda/cmath>
#include <cuda/ptx>
#include <cuda/std/bit>
#include <cuda/std/span>
#include <cuda/std/type_traits>
#include <cublas_v2.h>
"""


def kernel(body: str) -> str:
    parameters = "__nv_fp8_e4m3 *A, __nv_fp8x4_e4m3 *A4, __nv_fp8x2_e5m2 *A2, unsigned char *S, cuComplex *Z, float *F"
    parameters += ", thrust::complex<float> *T, cuda::std::complex<double> *D"
    return f"{HEAD}__global__ void k({parameters}, int n) {{ {body} }}"


CASES: Final = {
    "F[n] = float(A[n]) * (float)A[0];": (
        "F[n] <- as_float(to_float_of___nv_fp8_e4m3(as_double(A.__x[n] & 255)))"
        " * as_float(to_float_of___nv_fp8_e4m3(as_double(A.__x[0] & 255)));"
    ),
    # a value that is made of another one, not the other one itself
    "A[n] = __nv_fp8_e4m3(F[n]);": """\
        t.__x <- int(converted_to___nv_fp8_e4m3(F[n], 0));
        A.__x[n] <- t.__x;""",
    # four at once are read once
    "float4 v = static_cast<float4>(A4[n]); F[n] = v.y;": """\
        t <- A4.__x[n];
        t_1.x <- as_float(to_float4_of___nv_fp8x4_e4m3(as_double(t), 0));
        t_1.y <- as_float(to_float4_of___nv_fp8x4_e4m3(as_double(t), 1));
        t_1.z <- as_float(to_float4_of___nv_fp8x4_e4m3(as_double(t), 2));
        t_1.w <- as_float(to_float4_of___nv_fp8x4_e4m3(as_double(t), 3));
        v.x <- t_1.x;
        v.y <- t_1.y;
        v.z <- t_1.z;
        v.w <- t_1.w;
        F[n] <- v.y;""",
    "S[n] = __nv_cvt_float_to_fp8(F[n], __NV_SATFINITE, __NV_E4M3);": "S[n] <- int(__nv_cvt_float_to_fp8(F[n], 1, 0));",
    "half h = __half(__nv_cvt_fp8_to_halfraw(S[n], __NV_E5M2)); F[n] = h;": """\
        t.x <- int(__nv_cvt_fp8_to_halfraw(as_double(S[n] & 255), 1, 0));
        h <- as_float(to___fp16_of___half_raw(as_double(t.x)));
        F[n] <- h;""",
    "F[n] = cuCrealf(cuCmulf(Z[n], make_cuFloatComplex(1.f, 2.f)));": """\
        t <- Z[n];
        a_1.x <- t;
        a_1.y <- part(t, 4);
        t_1.x <- 1.f;
        t_1.y <- 2.f;
        b.x <- t_1.x;
        b.y <- t_1.y;
        t_2.x <- a_1.x * b.x - a_1.y * b.y;
        t_2.y <- a_1.x * b.y + a_1.y * b.x;
        a.x <- t_2.x;
        a.y <- t_2.y;
        F[n] <- a.x;""",
    # one access, as they are aligned
    "thrust::complex<float> a = T[n]; a *= 2.f; T[0] = conj(a); F[n] = a.imag() + norm(a);": """\
        t <- T[n];
        a.__w_re <- t;
        a.__w_im <- part(t, 4);
        b <- 2.f;
        a.__w_re <- a.__w_re * b;
        a.__w_im <- a.__w_im * b;
        a_1.__w_re <- a.__w_re;
        a_1.__w_im <- a.__w_im;
        made.__w_im <- -a_1.__w_im;
        T[0] <- pack(a_1.__w_re, made.__w_im);
        a_2.__w_re <- a.__w_re;
        a_2.__w_im <- a.__w_im;
        F[n] <- a.__w_im + (a_2.__w_re * a_2.__w_re + a_2.__w_im * a_2.__w_im);""",
    "cuda::std::complex<double> z(1., 2.); D[n] = z;": """\
        z.__w_re <- 1.;
        z.__w_im <- 2.;
        D[n] <- pack(z.__w_re, z.__w_im);""",
    "__shared__ float s[32]; cuda::std::span<float> a(s); for (float &x : a.first(2)) x = a.size(); "
    "float b[3]; cuda::std::span<const float> v(b); F[0] = v.size() + v.empty();": """\
        a.at <- 0;
        a.count <- 32;
        m <- 2;
        made.at <- a.at;
        r.count <- m;
        b <- made.at;
        while (b != made.at + r.count) {
          x <- b;
          s[x] <- as_float(a.count);
          b <- b + 1;
        }
        v.at <- 0;
        v.count <- 3;
        F[0] <- as_float(v.count + int(v.count == 0));""",
    "using namespace cuda::std; enum { E0 = countr_zero(64u) + 10 * countl_zero((unsigned char)1) + "
    "100 * popcount(255ull) + 1000 * bit_width(9u), E1 = bit_floor(100u) + 10 * bit_ceil(100u) + "
    "100 * countl_zero(0ull) + 1000 * countr_zero((unsigned short)0) }; F[E0] = E1;": """\
        F[4876] <- 23744.0f;""",
    "F[n] = cuda::std::bit_cast<float>(n) + cuda::std::popcount((unsigned)n) + cuda::std::bit_ceil(5u);": """\
        y_0 <- n;
        x <- n;
        x_1 <- 5;
        if (x_1 < 2) {
          t <- 1;
        } else {
          x_2 <- x_1 - 1;
          x_3 <- x_2;
          t <- 1 << 32 - (int(__clz(as_double(x_3))) - 0);
        }
        F[n] <- as_float(__int_as_float(as_double(y_0))) + as_float(int(__popc(as_double(x)))) + as_float(t);""",
    "F[0] = cuda::ceil_div(n, 3) + cuda::round_down(n, 4); "
    "cuda::ptx::fence(cuda::ptx::sem_release, cuda::ptx::scope_gpu);": """\
        a <- n;
        b <- 3;
        a_1 <- n;
        b_1 <- 4;
        F[0] <- as_float(a / b + int(a % b != 0) + a_1 / b_1 * b_1);""",
    "F[n] = thrust::maximum<float>()(F[0], 2.f); thrust::swap(F[1], F[2]); auto i = thrust::make_counting_iterator(n); "
    "F[3] = i[3] + *(i + 1); cub::KeyValuePair<int, float> p(n, 2.f), q{3, F[0]}; F[4] = cub::ArgMax()(p, q).value"
    ";": """\
        a <- F[0];
        b <- 2.f;
        F[n] <- a < b ? b : a;
        t_1 <- F[1];
        F[1] <- F[2];
        F[2] <- t_1;
        x <- n;
        i.at <- x;
        i_1 <- 3;
        i_2 <- 1;
        made_1.at <- i.at + i_2;
        F[3] <- as_float(i.at + i_1 + made_1.at);
        q.value <- F[0];
        other <- q.value > 2.f || 2.f == q.value && 3 < n;
        c.key <- other ? 3 : n;
        c.value <- other ? q.value : 2.f;
        made_2.key <- c.key;
        made_2.value <- c.value;
        F[4] <- made_2.value;""",
    "const auto [x, y] = Z[n]; auto &[u, v] = Z[1]; u = x + y; auto [a, b, c] = make_int3(n, 2, 3); F[0] = a + c;": """\
        t <- Z[n];
        x_y.x <- t;
        x_y.y <- part(t, 4);
        Z.x[1] <- x_y.x + x_y.y;
        a_b_c.x <- n;
        a_b_c.y <- 2;
        a_b_c.z <- 3;
        F[0] <- as_float(a_b_c.x + a_b_c.z);""",
    "cuda::std::span<float> s(F, 8); s[n] = 3; if (s.size() > n) s.subspan(2, 3)[1] = s.back();": """\
        s.count <- 8;
        i <- n;
        F[i] <- 3.0f;
        if (s.count > n) {
          i_1 <- 2;
          m <- 3;
          i_2 <- 1;
          F[i_1 + i_2] <- F[s.count - 1];
        }""",
    "F[0] = CUDART_PIO2_F; F[1] = CUDART_PI; F[2] = CUDART_ZERO_F;": """\
        F[0] <- 1.5707963705062866f;
        F[1] <- as_float(3.141592653589793);
        F[2] <- 0.0f;""",
}


@pytest.mark.parametrize("body", CASES)
def test_contents(read: Read, body: str) -> None:
    reading = read(kernel(body))
    assert show_stmt(reading.kernel.body) == dedent(CASES[body])
    assert not any("header" in note for note in reading.notes)


FORMATS: Final = [("8", "e4m3"), ("8", "e5m2"), ("6", "e2m3"), ("6", "e3m2"), ("4", "e2m1")]


@pytest.mark.parametrize(("bits", "form"), FORMATS)
def test_every_format_is_made_and_read(read: Read, bits: str, form: str) -> None:
    one, two = f"__nv_fp{bits}_{form}", f"__nv_fp{bits}x2_{form}"
    body = f"{one} a(F[0]), b(half(2)), c(3); {two} d(make_float2(1, 2)); half2 h = half2(d); float2 f = (float2)d;"
    reading = read(kernel(f"{body} F[1] = float(a) + float(b) + (float)half(c) + f.x + __low2float(h);"))
    assert "F[1] <-" in show_stmt(reading.kernel.body)


VIEWS = """#include <cuda/std/mdspan>
using Rows = cuda::std::mdspan<const int, cuda::std::extents<int, cuda::std::dynamic_extent, 8>>;
__global__ void k(Rows from, int *to, int n) {
  cuda::std::mdspan<int, cuda::std::dextents<int, 2>, cuda::std::layout_left> t(to, n, from.extent(0));
  cuda::std::mdspan<int, cuda::std::extents<int, 2, 3, 4>> last(to + 64, cuda::std::extents<int, 2, 3, 4>());
  for (int i = 0; i < from.extent(0); i++)
    if (threadIdx.x < t.extent(0)) t(threadIdx.x, i) = from(i, threadIdx.x) + 100 * i;
  if (threadIdx.x == 0) last(1, 2, 3) = t.size() + last.rank();
}
"""


def test_views_of_arrays_with_several_dimensions(read: Read) -> None:
    reading = read(VIEWS)
    rows = [p.name for p in reading.kernel.params if p.name != "n"]
    arrays = {"from.__w_at": [7 * i % 64 for i in range(64)]}
    ran = run(reading.kernel, (32, 1, 1), (1, 1, 1), {"n": 8, **dict.fromkeys(rows, 5)}, arrays).arrays["to"]
    assert [ran.get(i, 0) for i in range(40)] == [7 * i % 64 + 100 * (i // 8) for i in range(40)]
    assert {i: x for i, x in ran.items() if i >= 40} == {64 + 23: 40 + 3}
