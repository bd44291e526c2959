"""Structures as values: what their copies become, to the letter, and random programs against Python's own records."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading
from semantics.cuda.shim import in_shim
from semantics.grid import run
from tests.examples import examples
from tests.semantics.cuda.lowered import Lowered

Reader = Callable[..., Reading]
Lower = Callable[..., str]

BEFORE = """
#include <cuda_fp16.h>
#include "cuda_bf16.h"
struct S { int x; float y; };
struct __align__(8) Q { float value; int at; };
struct N { S s; int2 t; int a[2]; };
union U { int i; float f; };
struct D : S { int z; };
struct L { S *next; int x; };
struct C { int x; __device__ C(int v) : x(v + 1) {} };
__constant__ float taps[4];
__constant__ Q limits;
__device__ float3 operator+(float3 a, const float3 &b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ void operator+=(float3 &a, float3 b) { a.x += b.x; a.y += b.y; a.z += b.z; }
__device__ S pick(S a, S b) { if (a.x > b.x) return a; return b; }
__device__ int first(const S &s) { return s.x; }
__device__ int inner(L l) { return l.x; }
__device__ void set(float4 &v) { v.w = 1.0f; }
__device__ void twice(S *p) { p[0] = p[1]; }
"""
PARAMS = "half *H, float4 *V, S *P, Q *R, N *M, float *F, int n, S g, L l"

CASES = {
    # one access for what is as large as its alignment, one a field for the others
    "float4 v = V[n]; V[n + 1] = v;": """\
        t <- V[n];
        v.x <- t;
        v.y <- part(t, 4);
        v.z <- part(t, 8);
        v.w <- part(t, 12);
        V[n + 1] <- pack(pack(v.x, v.y, v.z), v.w);""",
    "S s = P[n]; P[0] = s;": """\
        s.x <- P.x[n];
        s.y <- P.y[n];
        P.x[0] <- s.x;
        P.y[0] <- s.y;""",
    "Q q = R[n]; F[q.at] = q.value;": """\
        t <- R[n];
        q.value <- t;
        q.at <- int(part(t, 4));
        F[q.at] <- q.value;""",
    "F[n] = V[n].y;": "F[n] <- V.y[n];",
    "V[0] = V[n];": "t <- V[n];\nV[0] <- pack(pack(t, part(t, 4), part(t, 8)), part(t, 12));",
    "int2 t; t.x = n; t.y = 2; M[n].t = t;": """\
        t.x <- n;
        t.y <- 2;
        M.t[n] <- int(pack(as_double(t.x), t.y));""",
    # with hints for the caches; some reads happen even where nobody uses their value
    "__stcs(V + n, __ldcs(&V[1])); __ldcg(V);": """\
        t <- V[1];
        V[n] <- pack(pack(t, part(t, 4), part(t, 8)), part(t, 12));""",
    "__ldcv((float2 *)F);": """\
        t_1 <- F.as_float2[0];
        t.x <- t_1;
        t.y <- part(t_1, 4);""",
    # nothing that is evaluated is lost where a structure is written at once
    "V[n] = make_float4(F[0], F[1], 0, F[n]);": "V[n] <- pack(pack(F[0], F[1], 0.0f), F[n]);",
    "float3 a = make_float3(1, 2.5f, n);": "a.x <- 1.0f;\na.y <- 2.5f;\na.z <- as_float(n);",
    # what is assigned is read before
    "int2 v = {1, 2}; v = make_int2(v.y, v.x);": """\
        v.x <- 1;
        v.y <- 2;
        t <- v.y;
        t_1 <- v.x;
        v.x <- t;
        v.y <- t_1;""",
    "P[n] = S{P[0].x, 1.0f};": "t <- P.x[0];\nP.x[n] <- t;\nP.y[n] <- 1.0f;",
    "S s = {n++, 1}, u = {n, F[n++]};": """\
        n_0 <- n;
        t <- n_0;
        n_0 <- t + 1;
        s.x <- t;
        s.y <- 1.0f;
        t_2 <- n_0;
        t_1 <- n_0;
        n_0 <- t_1 + 1;
        u.x <- t_2;
        u.y <- F[t_1];""",
    "S s; S u{}; u = s;": "u.x <- 0;\nu.y <- 0.0f;\nu.x <- s.x;\nu.y <- s.y;",
    "S s = n > 2 ? P[0] : g;": """\
        if (n > 2) {
          s.x <- P.x[0];
          s.y <- P.y[0];
        } else {
          s.x <- g.x;
          s.y <- g.y;
        }""",
    "N m = M[n], o = {g, {n, 2}}; m.a[1] = m.t.y; o.s = m.s;": """\
        t <- M.s.x[n];
        t_1 <- M.s.y[n];
        t_2 <- M.t.x[n];
        t_3 <- M.t.y[n];
        t_4 <- M.a[n * 6];
        t_5 <- M.a[n * 6 + 1];
        m.s.x <- t;
        m.s.y <- t_1;
        m.t.x <- t_2;
        m.t.y <- t_3;
        m.a_0 <- t_4;
        m.a_1 <- t_5;
        o.s.x <- g.x;
        o.s.y <- g.y;
        o.t.x <- n;
        o.t.y <- 2;
        o.a_0 <- 0;
        o.a_1 <- 0;
        m.a_1 <- m.t.y;
        o.s.x <- m.s.x;
        o.s.y <- m.s.y;""",
    # a structure that the kernel is passed needs no copy while nobody assigns to it
    "S s = g; F[s.x] = s.y;": "F[g.x] <- g.y;",
    "S s = g; s.x = 1; F[s.x] = s.y;": "s.x <- g.x;\ns.y <- g.y;\ns.x <- 1;\nF[s.x] <- s.y;",
    "g = P[n]; F[0] = g.y;": """\
        g_1.x <- g.x;
        g_1.y <- g.y;
        g_1.x <- P.x[n];
        g_1.y <- P.y[n];
        F[0] <- g_1.y;""",
    "F[inner(l)] = 0;": "F[l.x] <- 0.0f;",
    "uint3 t = threadIdx; F[t.y] = 0;": """\
        threadIdx_x <- tid.x;
        threadIdx_y <- tid.y;
        threadIdx_z <- tid.z;
        F[threadIdx_y] <- 0.0f;""",
    "const uint3 &b = blockIdx; F[b.x] = 0;": """\
        blockIdx_x <- blockIdx.x;
        blockIdx_y <- blockIdx.y;
        blockIdx_z <- blockIdx.z;
        F[blockIdx_x] <- 0.0f;""",
    # functions, operators among them
    "float3 c = make_float3(0, 1, 2), d = c + c; d += c;": """\
        c.x <- 0.0f;
        c.y <- 1.0f;
        c.z <- 2.0f;
        a.x <- c.x;
        a.y <- c.y;
        a.z <- c.z;
        operator_result.x <- a.x + c.x;
        operator_result.y <- a.y + c.y;
        operator_result.z <- a.z + c.z;
        d.x <- operator_result.x;
        d.y <- operator_result.y;
        d.z <- operator_result.z;
        b.x <- c.x;
        b.y <- c.y;
        b.z <- c.z;
        d.x <- d.x + b.x;
        d.y <- d.y + b.y;
        d.z <- d.z + b.z;""",
    "S s = pick(P[0], g);": """\
        a.x <- P.x[0];
        a.y <- P.y[0];
        if (a.x > g.x) {
          pick_result.x <- a.x;
          pick_result.y <- a.y;
        } else {
          pick_result.x <- g.x;
          pick_result.y <- g.y;
        }
        s.x <- pick_result.x;
        s.y <- pick_result.y;""",
    "F[pick(g, l.next[0]).x] = first(P[n]);": """\
        b.x <- l.next.x[0];
        b.y <- l.next.y[0];
        if (g.x > b.x) {
          pick_result.x <- g.x;
          pick_result.y <- g.y;
        } else {
          pick_result.x <- b.x;
          pick_result.y <- b.y;
        }
        F[pick_result.x] <- as_float(P.x[n]);""",
    "float4 v; set(v); V[0] = v; set(V[1]);": """\
        v.w <- 1.0f;
        V[0] <- pack(pack(v.x, v.y, v.z), v.w);
        V.w[1] <- 1.0f;""",
    "twice(P + n);": """\
        t <- P.x[n + 1];
        t_1 <- P.y[n + 1];
        P.x[n] <- t;
        P.y[n] <- t_1;""",
    # views of memory as other types, constant memory
    "float4 v = ((float4 *)F)[n]; *(float4 *)&F[4 * n] = v;": """\
        t <- F.as_float4[n * 4];
        v.x <- t;
        v.y <- part(t, 4);
        v.z <- part(t, 8);
        v.w <- part(t, 12);
        F.as_float4[4 * n] <- pack(pack(v.x, v.y, v.z), v.w);""",
    # half precision: two bytes in memory; functions of structures
    "half a = H[n]; H[n] = __hadd(a, __float2half(2.f)); if (__hgt(a, a)) F[0] = __half2float(a) + (float)a;": """\
        a <- H[n];
        H[n] <- half(a + half(2.f));
        if (a > a) {
          F[0] <- a + a;
        }""",
    # 2049 is 2048 as a half: what is rounded is any number to a bound
    "half a = 2049, b = 256, c = F[0]; a += b; a++; F[1] = c + a; H[n] = __hmax(a, b); H[0] = a * b;": """\
        a <- half(2049.0f);
        b <- 256.0f;
        c <- half(F[0]);
        a <- half(a + b);
        a <- half(a + 1.0f);
        F[1] <- half(c + a);
        H[n] <- max(a, b);
        H[0] <- half(a * b);""",
    "half2 v = ((half2 *)H)[n]; float2 f = __half22float2(v); F[0] = __low2float(v) + f.y; v = __hmul2(v, v);": """\
        t <- H.as_half2[n * 2];
        v.x <- t;
        v.y <- part(t, 2);
        t_1.x <- v.x;
        t_1.y <- v.y;
        f.x <- t_1.x;
        f.y <- t_1.y;
        F[0] <- v.x + f.y;
        t_2.x <- half(v.x * v.x);
        t_2.y <- half(v.y * v.y);
        v.x <- t_2.x;
        v.y <- t_2.y;""",
    "n = __dp4a(n, 3, n);": "n_0 <- n;\nn_0 <- int(__dp4a(as_double(n_0), 3, n_0));",
    # arrays of one thread that variables are no good for: what is evaluated is kept, and an element may be anything
    "S s[2]; s[n + 1] = P[0]; F[0] = s[1].y;": """\
        t <- P.x[0];
        t_1 <- P.y[0];
        t_2 <- n + 1;
        t_3 <- n + 1;
        F[0] <- local(local(0.0f, tid.x, tid.y), tid.z, 1);""",
    "float v[4]; *(float4 *)v = V[0]; v[n * n] = F[n]; F[0] = v[2] * v[2];": """\
        t <- V[0];
        t_1 <- part(t, 4);
        t_2 <- part(t, 8);
        t_3 <- part(t, 12);
        t_4 <- F[n];
        t_5 <- n * n;
        F[0] <- local(local(0.0f, tid.x, tid.y), tid.z, 1) * local(local(0.0f, tid.x, tid.y), tid.z, 2);""",
    "int a[17]; a[n] = 1; bool b[100]; if (b[n]) F[a[3]] = 1;": """\
        if (local(local(0.0, tid.x, tid.y), tid.z, 1) != 0.0) {
          F[int(local(local(0.0, tid.x, tid.y), tid.z, 2))] <- 1.0f;
        }""",
    "float a[100]; F[n] = a[n * n];": """\
        t <- n * n;
        F[n] <- local(local(0.0f, tid.x, tid.y), tid.z, 1);""",
    "float a[100]; float *p = a; for (int i = 0; i < n; i++) *p++ = F[i];": """\
        p <- 0;
        i <- 0;
        while (i < n) {
          t <- p;
          p <- p + 1;
          t_1 <- F[i];
          i <- i + 1;
        }""",
    "int a[2][2] = {1, 2, 3}; int b[2][2] = {{1}, {2}}; float c[9][9] = {0.f}; F[a[1][0]] = b[1][0] + c[n][1];": """\
        a_0 <- 1;
        a_1 <- 2;
        a_2 <- 3;
        a_3 <- 0;
        b_0 <- 1;
        b_1 <- 0;
        b_2 <- 2;
        b_3 <- 0;
        F[a_2] <- as_float(b_2) + local(local(0.0f, tid.x, tid.y), tid.z, 1);""",
    "F[n] = taps[n & 3] * limits.value;": "F[n] <- taps[n & 3] * limits.value;",
    "float2 v = __ldg(&((float2 *)V)[n]);": """\
        t <- V.as_float2[n];
        v.x <- t;
        v.y <- part(t, 4);""",
}


@pytest.mark.parametrize("body", CASES)
def test_copies(lower: Lower, body: str) -> None:
    assert lower(body, BEFORE, PARAMS) == dedent(CASES[body])


REFUSED = {
    "S s = {.y = 1.0f, .x = 2};": "an initialiser with a field's name",
    "N m = {g, {1, 2}, 3};": "a value for the field 'a'",
    "limits.at = 1;": "assigning to 'limits.at'",
    "auto f = [](int x) { return x; }; int (*p)(int) = f;": "a lambda as a pointer",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(lower: Lower, body: str) -> None:
    with pytest.raises(CudaError) as caught:
        lower(body, BEFORE, PARAMS)
    assert REFUSED[body] in caught.value.message


# --- random programs -------------------------------------------------------------------------------------------------

TYPES = """
struct I { int u, v; };
struct R { int x; I in; };
struct T { R r; int a[2]; };
__device__ R mk(int x, int u, int v) { R r = {x, {u, v}}; return r; }
__device__ R pick(R a, const R &b) { a.x += b.in.u; if (a.x & 1) return b; a.in = b.in; return a; }
__device__ void push(R &a, R b) { b.x = a.in.v; a = b; a.in.u += b.x; }
"""
Record = dict[str, Any]
VAR = st.sampled_from(["p", "q", "t.r"])
LEAF = st.sampled_from(["p.x", "p.in.u", "q.in.v", "q.x", "t.r.in.u", "t.a[1]", "n", "3"])
STATEMENT = st.one_of(
    st.tuples(st.just("copy"), VAR, VAR),
    st.tuples(st.just("inner"), VAR, VAR),
    st.tuples(st.just("leaf"), VAR, LEAF),
    st.tuples(st.just("list"), VAR, LEAF, LEAF, LEAF),
    st.tuples(st.just("make"), VAR, LEAF, LEAF, LEAF),
    st.tuples(st.just("choose"), VAR, LEAF, VAR, VAR),
    st.tuples(st.just("pick"), VAR, VAR, VAR),
    st.tuples(st.just("push"), VAR, VAR),
    st.tuples(st.just("write"), VAR, st.integers(0, 2)),
    st.tuples(st.just("read"), VAR, st.integers(0, 2)),
    st.tuples(st.just("move"), st.integers(0, 2), st.integers(0, 2)),
    st.tuples(st.just("swap"), VAR, st.integers(0, 2)),
    st.tuples(st.just("whole")),
)


def c_text(s: tuple[Any, ...]) -> str:
    match s:
        case ("copy", a, b):
            return f"{a} = {b};"
        case ("inner", a, b):
            return f"{a}.in = {b}.in;"
        case ("leaf", a, e):
            return f"{a}.in.v = {e} + 1; t.a[1] = {a}.x;"
        case ("list", a, e, f, g):
            return f"{a} = {{{e}, {{{f}, {g}}}}};"
        case ("make", a, e, f, g):
            return f"{a} = mk({e}, {f}, {g});"
        case ("choose", a, e, b, c):
            return f"{a} = {e} & 1 ? {b} : {c};"
        case ("pick", a, b, c):
            return f"{a} = pick({b}, {c});"
        case ("push", a, b):
            return f"push({a}, {b});"
        case ("write", a, i):
            return f"A[{i}] = {a};"
        case ("read", a, i):
            return f"{a} = A[{i}];"
        case ("move", i, j):
            return f"A[{i}] = A[{j}];"
        case ("swap", a, i):
            return f"A[{i}] = R{{A[{i}].in.u, {{A[{i}].x, {a}.x}}}};"
        case _:
            return "{ T w = t; w.r.x++; w.a[0] = n; t = w; }"


class Direct:
    """C's meaning of a program."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.roots: Record = {"p": record(1, 2, 3), "q": record(4, 5, 6), "t": {"r": record(7, 8, 9), "a": [10, 11]}}
        self.cells = [record(0, 0, 0) for _ in range(3)]

    def leaf(self, e: str) -> int:
        if e in ("n", "3"):
            return self.n if e == "n" else 3
        if e == "t.a[1]":
            return int(self.roots["t"]["a"][1])
        found: Any = self.roots
        for part in e.split("."):
            found = found[part]
        return int(found)

    def get(self, a: str) -> Record:
        return deepcopy(self.roots["t"]["r"] if a == "t.r" else self.roots[a])

    def put(self, a: str, value: Record) -> None:
        if a == "t.r":
            self.roots["t"]["r"] = deepcopy(value)
        else:
            self.roots[a] = deepcopy(value)

    def run(self, s: tuple[Any, ...]) -> None:
        match s:
            case ("copy", a, b):
                self.put(a, self.get(b))
            case ("inner", a, b):
                self.put(a, self.get(a) | {"in": self.get(b)["in"]})
            case ("leaf", a, e):
                value = self.get(a)
                value["in"]["v"] = self.leaf(e) + 1
                self.put(a, value)
                self.roots["t"]["a"][1] = self.get(a)["x"]
            case ("list" | "make", a, e, f, g):
                self.put(a, record(self.leaf(e), self.leaf(f), self.leaf(g)))
            case ("choose", a, e, b, c):
                self.put(a, self.get(b if self.leaf(e) & 1 else c))
            case ("pick", a, b, c):
                left, right = self.get(b), self.get(c)
                left["x"] += right["in"]["u"]
                self.put(a, right if left["x"] & 1 else left | {"in": right["in"]})
            case ("push", a, b):
                value = self.get(b)
                value["x"] = self.get(a)["in"]["v"]
                x = value["x"]
                value["in"]["u"] += x
                self.put(a, value)
            case ("write", a, i):
                self.cells[i] = self.get(a)
            case ("read", a, i):
                self.put(a, self.cells[i])
            case ("move", i, j):
                self.cells[i] = deepcopy(self.cells[j])
            case ("swap", a, i):
                here = self.cells[i]
                self.cells[i] = record(here["in"]["u"], here["x"], self.get(a)["x"])
            case _:
                self.roots["t"]["r"]["x"] += 1
                self.roots["t"]["a"][0] = self.n


def record(x: int, u: int, v: int) -> Record:
    return {"x": x, "in": {"u": u, "v": v}}


START = "R p = {1, {2, 3}}, q = {4, {5, 6}}; T t; t.r = R{7, {8, 9}}; t.a[0] = 10; t.a[1] = 11;"
LEAVES = (*(f"{a}.{part}" for a in ("p", "q", "t.r") for part in ("x", "in.u", "in.v")), "t.a[0]", "t.a[1]")


def both(read: Reader, program: list[tuple[Any, ...]], n: int, text: str | None = None) -> tuple[list[int], list[int]]:
    """What is in all fields at the end, by C and by miniCUDA."""
    direct = Direct(n)
    for s in program:
        direct.run(s)
    wanted = [direct.leaf(e) if e != "t.a[0]" else direct.roots["t"]["a"][0] for e in LEAVES]
    wanted += [v for c in direct.cells for v in (c["x"], c["in"]["u"], c["in"]["v"])]
    body = text if text is not None else "\n".join(map(c_text, program))
    out = " ".join(f"B[{i}] = {e};" for i, e in enumerate(LEAVES))
    lowered = Lowered({"n": n})
    lowered.run(read(f"{TYPES}\n__global__ void k(R *A, int *B, int n) {{ {START}\n{body}\n{out} }}", "k").kernel.body)
    found = [lowered.cells["B", i] for i in range(len(LEAVES))]
    arrays = ("A.x", "A.in.u", "A.in.v")
    at_once = "A.in" in {a for a, _ in lowered.cells}
    assert not at_once  # two ints are aligned as one
    return wanted, found + [lowered.cell(a, i) for i in range(3) for a in arrays]


@pytest.mark.whole
@examples(16, 5000)
@given(program=st.lists(STATEMENT, min_size=1, max_size=6), n=st.integers(0, 9))
def test_random_programs(read: Reader, program: list[tuple[Any, ...]], n: int) -> None:
    wanted, found = both(read, program, n)
    assert found == wanted


def test_the_comparison_can_fail(read: Reader) -> None:
    wanted, found = both(read, [("copy", "p", "q")], 0, "p.x = q.x;")
    assert found != wanted


@pytest.mark.parametrize(("align", "at_once"), [("", False), ("__align__(2)", True), ("__align__(4)", True)])
def test_two_bytes_that_are_aligned_are_accessed_at_once(read: Reader, align: str, at_once: bool) -> None:
    text = f"struct {align} Z {{ signed char x, y; }}; __global__ void k(Z *z, int n) {{ Z q = z[n]; z[0] = q; }}"
    found = read(text)
    assert show_stmt(found.kernel.body).count("z[n]") == (1 if at_once else 0)
    assert any("is accessed at once" in note for note in found.notes) == at_once


def test_a_constructor_of_a_header_is_called_unless_it_gives_each_field_its_value(
    read: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if these classes were of a header of ours: none has to be named anywhere."""
    text = """struct Twice { int x; __device__ Twice(int a) : x(2 * a) {} };
struct Both { int x, y; __device__ Both(int a, int b) : x(a), y(b) { x += 1; } };
struct Swap { int x, y; __device__ Swap(int a, int b) : x(b), y(a) {} };
struct Same { int x, y; __device__ Same(int a, int b) : x(a), y(b) {} };
template <class T> __device__ T given(T x) { return x; }
__global__ void k(int *A, int n) {
  Twice t = given(Twice(n)); Both b = given(Both(n, 3)); Swap s = given(Swap(n, 5)); Same e = given(Same(n, 7));
  A[0] = t.x; A[1] = b.x; A[2] = s.x; A[3] = e.x; A[4] = e.y;
}
"""
    names = ("Twice", "Both", "Swap", "Same")
    monkeypatch.setattr("semantics.cuda.records.in_shim", lambda node: in_shim(node) or node.name in names)
    ran = run(read(text).kernel, (1, 1, 1), (1, 1, 1), {"n": 10}, {})
    assert [ran.arrays["A"][i] for i in range(5)] == [20, 11, 5, 10, 7]
