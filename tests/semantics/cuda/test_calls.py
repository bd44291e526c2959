"""Calls: CUDA's own functions and inlined device functions."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.lowered import Lowered

Lower = Callable[..., str]
Read = Callable[..., Reading]

WARP = "(tid.x + blockDim.x * (tid.y + blockDim.y * tid.z)) / warpSize"
PART = WARP.replace("/ warpSize", "% warpSize / 32")

BUILTIN = {
    "A[0] = min(n, 3) + max(n, 2) + abs(n) + __mul24(n, 2);": "A[0] <- min(n, 3) + max(n, 2) + abs(n) + n * 2;",
    "A[0] = __umul24(-1, 5); A[1] = __umul24(A[2], 3); A[3] = __mul24(0x1800000, 3);": (
        "A[0] <- 16777215 * 5;\nA[1] <- (A[2] & 16777215) * 3;\nA[3] <- -8388608 * 3;"
    ),
    "F[n] = fminf(fabsf(F[n]), 1.0f);": "F[n] <- min(abs(F[n]), 1.0f);",
    "F[n] = sqrtf(F[n]) + powf(F[0], 2.0f);": "F[n] <- sqrtf(F[n]) + powf(F[0], 2.0f);",
    "F[n] = sqrt((double)n) + sqrt(n);": "F[n] <- as_float(sqrt(as_double(n)) + sqrt(as_double(n)));",
    "A[n] = __float2int_rz(F[n]) + __float2int_rd(F[n]);": "A[n] <- int(F[n]) + int(floorf(F[n]));",
    "F[n] = __int2float_rn(n);": "F[n] <- __int2float_rn(as_float(n));",
    "F[n] = __ldg(F + n) + __fdividef(F[0], F[1]);": "F[n] <- F[n] + F[0] / F[1];",
    "__stcs(F + n, __ldcs(&F[0]) + __ldcg(F + 1)); __stcg(&A[n], 2.5f); __stwb(A, __ldca(A + n));": (
        "F[n] <- F[0] + F[1];\nA[n] <- 2;\nA[0] <- A[n];"
    ),
    "__stwt((unsigned char *)A + n, n);": "A.as_unsigned_char[n] <- n & 255;",
    "__stcs(A + n++, __ldcs(A));": "n_0 <- n;\nt <- n_0;\nn_0 <- t + 1;\nA[t] <- A[0];",
    # these happen even where nobody uses their value
    "A[1] = __ldcv(A); __ldcv(A + n); __ldlu(F), __ldcs(F + 1); f = 0 && __ldcv(F) > 1;": (
        "f_0 <- f;\nA[1] <- A[0];\nt <- A[n];\nt_1 <- F[0];\nt_2 <- F[1];\nf_0 <- false;"
    ),
    "A[n] = isnan(F[n]);": "A[n] <- int(isnan(F[n]) != 0.0f);",
    "__syncthreads(); __syncthreads(), A[0] = 1;": "sync;\nsync;\nA[0] <- 1;",
    "atomicAdd(&A[n], 2); atomicMax(A + 1, n); atomicExch(&A[1], n); atomicSub(A, 1);": (
        "A[n] <- A[n] + 2;\nA[1] <- max(A[1], n);\nA[1] <- n;\nA[0] <- A[0] - 1;"
    ),
    "atomicAdd(&A[A[n]], 1);": "t <- A[n];\nA[t] <- A[t] + 1;",
    "int old = atomicAdd(&A[n], 2); A[old] = 1;": (
        "A[n] <- A[n] + 2;\nold <- int(atomicAdd(atomicAdd(0.0, tid.x, tid.y), tid.z, 1));\nA[old] <- 1;"
    ),
    "F[0] = atomicAdd(&F[n], F[1]);": (
        "F[n] <- F[n] + F[1];\nF[0] <- atomicAdd(atomicAdd(0.0f, tid.x, tid.y), tid.z, 1);"
    ),
    "atomicCAS(&A[0], n, 2); atomicInc((unsigned *)A, n);": (
        "A[0] <- int(atomicCAS(as_double((A[0] + 2147483648 & 4294967295) - 2147483648), n, 2));\n"
        "A[0] <- int(atomicInc(as_double(A[0] & 4294967295), n));"
    ),
    # what other lanes pass is evaluated, and the value is one that depends on the thread, or on the warp
    "F[0] = __shfl_down_sync(0xffffffff, F[1], n);": (
        "t <- F[1];\nt_1 <- __shfl_down_sync(__shfl_down_sync(0.0f, tid.x, tid.y), tid.z, 1);\nF[0] <- t_1;"
    ),
    "F[0] = __shfl_xor_sync(A[0], F[1], n, A[1]) * __shfl_sync(-1, F[1], n, 16);": (  # the same in a part of 16 lanes
        "t <- A[0];\nt_1 <- F[1];\nt_2 <- A[1];\n"
        "t_3 <- __shfl_xor_sync(__shfl_xor_sync(0.0f, tid.x, tid.y), tid.z, 1);\nt_4 <- F[1];\n"
        f"t_5 <- __shfl_sync(__shfl_sync(0.0f, n, {WARP}), {PART.replace('32', '16')}, 2);\nF[0] <- t_3 * t_5;"
    ),
    "A[0] = __shfl(A[1], 3) + __shfl_sync(n, n, n, 32);": (
        f"t <- A[1];\nt_1 <- int(__shfl(__shfl(0.0, 3, {WARP}), 1));\n"
        f"t_2 <- int(__shfl_sync(__shfl_sync(0.0, n, {WARP}), {PART}, 2));\nA[0] <- t_1 + t_2;"
    ),
    "A[0] = __popc(n) + __mulhi(n, A[0]) - __mulhi(n, 10);": (
        "A[0] <- int(__popc(as_double(n))) + int(__mulhi(as_double(n), A[0])) - int(__mulhi(as_double(n), 10));"
    ),
    "A[0] = __any(n > 2); A[1] = __all_sync(n, n);": (
        f"t <- int(n > 2);\nt_1 <- int(__any(0.0, {WARP}, 1));\nA[0] <- t_1;\n"
        f"t_2 <- int(__all_sync(__all_sync(0.0, n, {WARP}), 2));\nA[1] <- t_2;"
    ),
    "A[0] = __ballot_sync(1, n); A[1] = __activemask();": (
        f"t <- int(__ballot_sync(__ballot_sync(0.0, 1, {WARP}), 1));\nA[0] <- t;\n"
        "t_1 <- int(__activemask(__activemask(0.0, tid.x, tid.y), tid.z, 2));\nA[1] <- t_1;"
    ),
    "F[0] = fmaf(F[1], F[2], F[3]);": "F[0] <- fmaf(F[1], F[2], F[3]);",
    "__syncwarp(); __syncwarp(n); __syncwarp(A[5]); __syncwarp(A[0]++);": (
        "t <- A[5];\nt_1 <- A[0];\nA[0] <- t_1 + 1;"
    ),
}


@pytest.mark.parametrize("body", BUILTIN)
def test_builtin(lower: Lower, body: str) -> None:
    assert lower(body) == BUILTIN[body]


BEFORE = """
texture<int> t;
texture<float4, 2> t4;
struct C { const int *p; int n; };
__device__ __constant__ C c;
__constant__ __device__ int limit;
__constant__ int table[4];
__device__ int look(int i) { return tex1Dfetch(t, i); }
"""

OUTSIDE = {
    "if (A) A[0] = 1; if (!F) A[1] = 2;": """\
        if (given(0.0, 0) != 0.0) {
          A[0] <- 1;
        }
        if (!(given(0.0, 1) != 0.0)) {
          A[1] <- 2;
        }""",
    "int *p = A + n; if (p != nullptr && NULL == A) A[0] = F ? 1 : 2; if (A == 0) A[1] = 1;": """\
        if (given(0.0, 0) != 0.0 && !(given(0.0, 0) != 0.0)) {
          A[0] <- given(0.0, 1) != 0.0 ? 1 : 2;
        }
        if (!(given(0.0, 0) != 0.0)) {
          A[1] <- 1;
        }""",
    "__shared__ int s[4]; int r[2] = {0, 0}; if (s && table != 0) A[0] = 1; if (r) A[1] = 2;": """\
        r_0 <- 0;
        r_1 <- 0;
        A[0] <- 1;
        A[1] <- 2;""",
    "A[0] = look(n) + tex1Dfetch(t, 3) + (int)tex2D(t4, 1.5f, 2.0f).y;": """\
        i <- n;
        t.x <- as_float(tex2D(tex2D(as_double(1), 1.5f, 2.0f), 0));
        t.y <- as_float(tex2D(tex2D(as_double(1), 1.5f, 2.0f), 1));
        t.z <- as_float(tex2D(tex2D(as_double(1), 1.5f, 2.0f), 2));
        t.w <- as_float(tex2D(tex2D(as_double(1), 1.5f, 2.0f), 3));
        A[0] <- int(tex1Dfetch(as_double(0), i)) + int(tex1Dfetch(as_double(0), 3)) + int(t.y);""",
    "A[0] = limit + c.n + c.p[n] + table[n];": "A[0] <- limit + c.n + c.p[n] + table[n];",
    "float a; sincosf(F[n], &a, F + n); sincosf(a, &F[0], &F[1]);": """\
        t <- F[n];
        a <- sinf(t);
        F[n] <- cosf(t);
        t_1 <- a;
        F[0] <- sinf(t_1);
        F[1] <- cosf(t_1);""",
    # s changes: the pointer is to where s led when it was made, and both are of the old s
    "float s = n, c; float *p = F + (int)s; sincosf(s, &s, &c); *p = c;": """\
        s <- as_float(n);
        p <- int(s);
        t <- s;
        s <- sinf(t);
        c <- cosf(t);
        F[p] <- c;""",
    "float s = n; sincosf(2.f, &s, &F[(int)s]);": """\
        s <- as_float(n);
        t <- int(s);
        s <- sinf(2.f);
        F[t] <- cosf(2.f);""",
    "F[0] = -INFINITY; F[1] = NAN;": "F[0] <- -(1.0f / 0.0f);\nF[1] <- 0.0f / 0.0f;",
}


@pytest.mark.parametrize("body", OUTSIDE)
def test_what_the_kernel_cannot_tell(lower: Lower, body: str) -> None:
    """Pointers that may be null, the same for all threads; textures; constant memory however it is declared."""
    assert lower(body, BEFORE) == dedent(OUTSIDE[body])


def test_notes(read: Read) -> None:
    reading = read("__global__ void k(int *A) { atomicAdd(&A[0], 1); atomicExch(&A[1], 1); __threadfence(); }")
    assert reading.notes == (
        "atomicAdd is a read and a write of one lock-step instruction: collisions of lanes are not counted",
        "atomicExch is a write, and what it gives back costs nothing: collisions of lanes are not counted",
        "memory fences and __syncwarp cost nothing and order nothing",
    )
    reading = read("__global__ void k(int *A, int n) { A[0] = __mul24(n, 3); A[1] = min(n, 2); }")
    assert reading.notes == (
        "the operands of __mul24 fit in 24 bits",
        "given, as unsigned values wrap around if not: n <= 8388607",
        "given, as unsigned values wrap around if not: n >= -8388608",
    )


FUNCTIONS = """
__device__ int sq(int v) { int w = v * v; return w; }
__device__ int clamp(int v) { if (v < 0) return 0; if (v > 9) { return 9; } return v; }
__device__ void put(int *p, int v) { if (v < 0) return; p[0] = v; p[1] += v; }
__device__ void swap(int &a, int &b) { int t = a; a = b; b = t; }
__device__ int inc(int *p) { return ++*p; }
__device__ int second(int *p) { p++; return p[1]; }
template <class T> __device__ T twice(const T &x) { return x + x; }
__device__ int find(int *p, int m) { for (int i = 0; i < m; i++) if (p[i]) return i; return -1; }
__device__ int plus(int v, int w = 3) { v += w; return v; }
__device__ int first(int a, int b) { return a; }
__device__ int at(int *p, int v) { return p[v]; }
__device__ int both(const int &a, int &b) { b = 32; return a; }
"""

INLINED = {
    # a call of the same function in an argument
    "A[0] = first(5, first(1, n));": """\
        a <- 5;
        a_1 <- 1;
        b <- n;
        b_1 <- a_1;
        A[0] <- a;""",
    "A[0] = at(A, at(A + 8, n));": """\
        v <- n;
        v_1 <- A[8 + v];
        A[0] <- A[v_1];""",
    # the reference to something constant sees what the other changes
    "int x = 0; int y = both(x, x);": """\
        x <- 0;
        x <- 32;
        y <- x;""",
    "A[0] = sq(n + 1) + sq(2);": """\
        v <- n + 1;
        w <- v * v;
        v_1 <- 2;
        w_1 <- v_1 * v_1;
        A[0] <- w + w_1;""",
    "A[0] = clamp(n);": """\
        v <- n;
        if (v < 0) {
          clamp_result <- 0;
        } else {
          if (v > 9) {
            clamp_result <- 9;
          } else {
            clamp_result <- v;
          }
        }
        A[0] <- clamp_result;""",
    "put(A + 2 * n, n);": """\
        v <- n;
        if (v >= 0) {
          A[2 * n] <- v;
          A[2 * n + 1] <- A[2 * n + 1] + v;
        }""",
    "int x = 1, y = 2; swap(x, y); A[x] = y;": """\
        x <- 1;
        y <- 2;
        t <- x;
        x <- y;
        y <- t;
        A[x] <- y;""",
    "int x = inc(A + 1);": """\
        t <- A[1] + 1;
        A[1] <- t;
        x <- t;""",
    "if (inc(A)) A[1] = 2;": """\
        t <- A[0] + 1;
        A[0] <- t;
        if (t != 0) {
          A[1] <- 2;
        }""",
    "A[n] = second(A + n);": """\
        p <- n;
        p <- p + 1;
        A[n] <- A[p + 1];""",
    "F[0] = twice(F[1]); A[0] = twice(n);": """\
        F[0] <- F[1] + F[1];
        A[0] <- n + n;""",
    "A[0] = find(A, n);": """\
        m <- n;
        live <- true;
        i <- 0;
        while (live && i < m) {
          if (A[i] != 0) {
            find_result <- i;
            live <- false;
          }
          i <- i + 1;
        }
        if (live) {
          find_result <- -1;
        }
        A[0] <- find_result;""",
    "A[0] = plus(n);": """\
        v <- n;
        w <- 3;
        v <- v + w;
        A[0] <- v;""",
    "if (n > 2 && sq(n) > 3) A[0] = 1;": """\
        if (n > 2) {
          v <- n;
          w <- v * v;
          if (w > 3) {
            A[0] <- 1;
          }
        }""",
}


@pytest.mark.parametrize("body", INLINED)
def test_inlined(lower: Lower, body: str) -> None:
    assert lower(body, FUNCTIONS) == dedent(INLINED[body])


def test_default_arguments_that_are_no_integers(read: Read) -> None:
    """libclang gives the value of an integer where the function is called, of others nothing."""
    reading = read("""template <class T> __device__ T twice(T a, T b = T(2)) { return a * b; }
        __device__ int scaled(int a, double d = 2.5, float q = 3) { return (int)(a * d * q); }
        __global__ void k(int *A, float *F) { A[0] = scaled(2); F[0] = twice(2.0f); A[1] = twice(3); }""")
    assert show_stmt(reading.kernel.body).splitlines() == [
        "a <- 2;",
        "d <- 2.5;",
        "q <- 3.0f;",
        "A[0] <- int(as_double(a) * d * as_double(q));",
        "a_1 <- 2.0f;",
        "b <- 2.0f;",
        "F[0] <- a_1 * b;",
        "a_2 <- 3;",
        "b_1 <- 2;",
        "A[1] <- a_2 * b_1;",
    ]


def test_a_value_of_a_type_is_no_default_argument(read: Read) -> None:
    before = "__device__ void f(int *A, float s = 5.0f) { if (s > 1) A[0] = 1; }"
    lowered = show_stmt(read(f"{before} __global__ void k(int *A) {{ f(A, float()); }}").kernel.body)
    assert lowered.splitlines()[0] == "s <- 0.0f;"
    assert "5" not in lowered


def test_a_call_that_gives_nothing_is_returned(lower: Lower) -> None:
    before = "__device__ void g(int *p) { p[0] = 1; } __device__ void h(int *p) { return g(p + 1); }"
    assert lower("h(A);", before) == "A[1] <- 1;"


def test_what_is_only_read_by_reference_is_no_effect(lower: Lower) -> None:
    before = "__device__ int peek(int &v, int *p) { int w = v * v; return w + p[0]; }"
    assert lower("int x = n; A[0] = 1 + peek(x, A);", before) == "x <- n;\nw <- x * x;\nA[0] <- 1 + (w + A[0]);"
    with pytest.raises(CudaError, match="is changed and used in one expression"):
        lower("int x = n; A[0] = x + poke(x);", "__device__ int poke(int &v) { int w = v++; return w; }")


POINTED = """
__device__ int twice(int x) { return 2 * x; }
__device__ int plus(int x, int *p) { p[0] = x; return x + 1; }
template <class T> __device__ T id(T x) { return x; }
template <class F> __device__ int apply(F f, int x) { return f(x); }
template <class F> __device__ int through(F &&f, int x) { return apply(f, x) + (*f)(x); }
__device__ int changing(int (*f)(int), int x) { f = twice; return f(x); }
struct Op { __device__ static int of(int x) { return x - 1; } };
"""


def test_pointers_to_functions(read: Read) -> None:
    """Each is the function that it leads to, where that is known."""
    body = """A[0] = apply(twice, n); A[1] = apply(&twice, n) + apply(id<int>, n); A[2] = through(twice, n);
      int (*f)(int) = twice; int (*const g)(int, int *) = &plus; A[3] = f(n) + (*f)(1);
      int r = g(n, A + 5); A[4] = r;"""
    lowered = Lowered({"n": 5})
    lowered.run(read(f"{POINTED}__global__ void k(int *A, int n) {{ {body} }}").kernel.body)
    assert [lowered.cell("A", i) for i in range(6)] == [10, 15, 20, 12, 6, 5]


@pytest.mark.parametrize(
    "body",
    [
        "int (*f)(int) = twice; f = n ? id<int> : n > 3 ? twice : 0; A[0] = f(n);",
        "int (*f)(int) = n > 0 ? twice : n < 5 ? twice : id<int>; A[0] = f(n);",
        "A[0] = changing(id<int>, n);",
    ],
)
def test_pointers_to_functions_that_are_not_known_are_refused(read: Read, body: str) -> None:
    with pytest.raises(CudaError):
        read(f"{POINTED}__global__ void k(int *A, int n, int (*g)(int)) {{ {body} }}")


OUTSIDE_OF_THE_FILE = """struct P { float x, y; }; struct Q { int *p; }; struct R { P p; int a[2]; };
__device__ float w(float, int); __device__ P g(P); __device__ void h(int); template <class T> __device__ T t(T);
__device__ int by_pointer(int *); __device__ int by_reference(int &); __device__ int by_field(Q); __device__ int all(R);
__device__ int *gives();
"""

UNKNOWN = {
    "F[0] = w(F[1], n);": ("F[0] <- unknown_w(unknown_w(unknown_w(0.0f, tid.x, tid.y), tid.z, F[1]), n, 1);"),
    # what it is passed is evaluated, also where nobody uses what it gives
    "h(A[2]); w(F[0], 1); A[n] = t(n);": """\
        t <- A[2];
        t_1 <- F[0];
        A[n] <- int(unknown_t(unknown_t(unknown_t(0.0, tid.x, tid.y), tid.z, n), 1));""",
    "P p = {1, 2}; P q = g(p); F[2] = q.y;": """\
        p.x <- 1.0f;
        p.y <- 2.0f;
        t.x <- unknown_g(unknown_g(unknown_g(0.0f, tid.x, tid.y), tid.z, p.x), p.y, 1);
        t.y <- unknown_g(unknown_g(unknown_g(0.0f, tid.x, tid.y), tid.z, p.x), p.y, 2);
        q.x <- t.x;
        q.y <- t.y;
        F[2] <- q.y;""",
}


@pytest.mark.parametrize("body", UNKNOWN)
def test_functions_without_a_body_give_any_value(lower: Lower, body: str) -> None:
    assert lower(body, OUTSIDE_OF_THE_FILE) == dedent(UNKNOWN[body])


def test_functions_without_a_body_are_an_assumption_or_refused(read: Read, refused: Callable[[str, str], None]) -> None:
    kernel = OUTSIDE_OF_THE_FILE + "__global__ void k(int *A, R r) { A[0] = CALL; }"
    notes = read(kernel.replace("CALL", "all(r)")).notes
    assert "'all' has no body here: it gives any value, accesses no memory, waits for none, costs nothing" in notes
    for call in ("by_pointer(A)", "by_reference(A[0])", "by_field(Q{A})", "*gives()"):
        refused(kernel.replace("CALL", call), "has no body in this file")
