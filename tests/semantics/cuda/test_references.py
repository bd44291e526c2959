"""References are other names for places, copies are copies, and what C leaves open or hides is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.native import COMPILER, differences

Lower = Callable[..., str]

BEFORE = """
struct S { int x, y; };
struct G { int x; __device__ ~G() {} };
struct D { int x = 3; };
struct V { int x; __device__ V &operator=(const V &o) { x = o.x + 1; return *this; } };
struct W { V v; int y; };
struct R { int &r; };
struct T { int a[2]; int b; };
#define MADE(N) struct N { int x; __device__ N(const N &o) { x = o.x + 1; } };
MADE(Made)
#define LOOP for (; n < 10;)
#define WHEN(c) if (c)
__device__ S f(S s) { s.x++; return s; }
__device__ void set(int &x) { x = 0; }
__device__ void both(S &s, const int &x) { s.x = 5; s.y = x; }
__device__ int take(S &&s) { s.x = 0; return s.y; }
__device__ int get(const int &x) { return x + x; }
__device__ int put(const int &v, int *p) { p[0] = 2; return v; }
__device__ int fill(int *p) { p[0] = 5; return 1; }
template <class T> __device__ T most(const T &a, const T &b) { return a > b ? a : b; }
using Const = const int &;
template <class T> using Ref = const T &;
template <class T> struct Wrap { using type = T &; };
#define CREF const int &
#define ID(x) x
#define unused cleanup(leave)
#define SEMI ;
#define GONE(x)
#define TWO(a, b) a SEMI b
#define SWITCH(a, b) switch (a; b)
#define LEAVES __attribute__((cleanup(leave)))
struct Mu { mutable int x; int y; };
__device__ void leave(int *p) { *p = 0; }
__device__ void unconst(const int &x) { (int &)x = 0; }
__device__ void unconst(const S &s) { ((S &)s).x = 0; }
__device__ void reset(const Mu &s) { s.x = 0; }
__device__ int f2(int &x) { x = 0; return 1; }
__device__ int f3(int x) { return x; }
template <class T> __device__ int same_bits(short (&h)[2]) { return f3((T)h[0]); }
#define IREF int &
"""
PARAMS = "int *A, S *P, Made *M, int n"

CASES = {
    "int s[99]; s[n] = n; for (; n < 9; n++) { const S &r = P[s[n]]; A[r.x] = r.y; }": """\
        n_0 <- n;
        while (n_0 < 9) {
          r <- int(local(local(0.0, tid.x, tid.y), tid.z, 1));
          A[P.x[r]] <- P.y[r];
          n_0 <- n_0 + 1;
        }""",
    "const int c = 4; const int &r = c; A[r] = get(c);": """\
        r <- 4;
        x <- 4;
        A[r] <- x + x;""",
    "const int c = 4; auto f = [&](auto &x) { return x; }; A[f(c)] = 1;": """\
        x <- 4;
        A[x] <- 1;""",
    "const int &r = (int)n; n = 5; A[r] = 1;": """\
        n_0 <- n;
        r <- n_0;
        n_0 <- 5;
        A[r] <- 1;""",
    "const unsigned &r = n; n = 5; A[r] = 1;": """\
        n_0 <- n;
        r <- n_0;
        n_0 <- 5;
        A[r] <- 1;""",
    "const int &r = n; n = 5; A[r] = 1;": """\
        n_0 <- n;
        n_0 <- 5;
        A[n_0] <- 1;""",
    "S s = {1, 2}; const S &q = S(s); s.x = 3; A[q.x] = 1;": """\
        s.x <- 1;
        s.y <- 2;
        q.x <- s.x;
        q.y <- s.y;
        s.x <- 3;
        A[q.x] <- 1;""",
    "S s = {1, 2}; S &&q = S(s); q.x = 7; A[s.x] = 1;": """\
        s.x <- 1;
        s.y <- 2;
        q.x <- s.x;
        q.y <- s.y;
        q.x <- 7;
        A[s.x] <- 1;""",
    "const int &r = n > 5 ? n : 7; n = 5; A[r] = most(n, 3);": """\
        n_0 <- n;
        r <- n_0 > 5 ? n_0 : 7;
        n_0 <- 5;
        b <- 3;
        A[r] <- n_0 > b ? n_0 : b;""",
    "int x = n; int *p = A + x; (int &)x = 0; *p = x;": """\
        x <- n;
        p <- x;
        x <- 0;
        A[p] <- x;""",
    "int x = n; int *p = A + x; volatile int &r = x; r = 0; *p = x;": """\
        x <- n;
        p <- x;
        x <- 0;
        A[p] <- x;""",
    "S s = {n, 2}; int *p = A + s.x; set(s.x); *p = s.x;": """\
        s.x <- n;
        s.y <- 2;
        p <- s.x;
        s.x <- 0;
        A[p] <- s.x;""",
    "S s = {1, 2}; both(s, s.x); A[0] = s.y;": """\
        s.x <- 1;
        s.y <- 2;
        s.x <- 5;
        s.y <- s.x;
        A[0] <- s.y;""",
    "A[0] = get(A[n]);": "A[0] <- A[n] + A[n];",
    "A[0] = put(A[n], A);": """\
        A[0] <- 2;
        A[0] <- A[n];""",
    "int x = 1; T t = {{x, x = 0}, x}; A[t.a[0]] = t.b;": """\
        x <- 1;
        t_1 <- x;
        x <- 0;
        t_2 <- x;
        t_3 <- x;
        t.a_0 <- t_1;
        t.a_1 <- t_2;
        t.b <- t_3;
        A[t.a_0] <- t.b;""",
    "P[P[0].x] = S{1, 2};": """\
        t <- P.x[0];
        P.x[t] <- 1;
        P.y[t] <- 2;""",
    "S s; s.x = 1; f(s);": """\
        s.x <- 1;
        s_1.x <- s.x;
        s_1.y <- s.y;
        s_1.x <- s_1.x + 1;
        f_result.x <- s_1.x;
        f_result.y <- s_1.y;""",
    "const int &r = A[n]; n = 3; A[0] = r + r;": """\
        n_0 <- n;
        r <- n_0;
        n_0 <- 3;
        A[0] <- A[r] + A[r];""",
    "enum E : unsigned char { X = 200 }; E e = (E)(threadIdx.x + n); if (e == X) A[0] = 1;": """\
        e <- tid.x + n & 255;
        if (e == 200) {
          A[0] <- 1;
        }""",
    "unsigned m = ~(unsigned)n; A[m] = ~n;": """\
        m <- 4294967295 - n;
        A[m] <- ~n;""",
    "unsigned char c = n; A[0] = ~c;": """\
        c <- n & 255;
        A[0] <- ~c;""",
    "signed char r[2] = {-56, 0}; unsigned char *u = (unsigned char *)r; A[u[0]] = 1;": """\
        A[int(local(local(0.0, tid.x, tid.y), tid.z, 1))] <- 1;""",
    "unsigned r[2] = {1, 0}; const unsigned *u = (const unsigned *)r; A[u[0]] = 1;": """\
        r_0 <- 1;
        r_1 <- 0;
        A[r_0] <- 1;""",
    "__shared__ int w[4][2]; reinterpret_cast<S &>(w[n & 3]).y = 1; A[n] = w[1][0];": """\
        w.as_S.y[(n & 3) * 2] <- 1;
        A[n] <- w[2];""",
    "WHEN(n > 3) A[0] = 1;": """\
        if (n > 3) {
          A[0] <- 1;
        }""",
    "for (; n < 3; n++) A[n] = 1;": """\
        n_0 <- n;
        while (n_0 < 3) {
          A[n_0] <- 1;
          n_0 <- n_0 + 1;
        }""",
}


@pytest.mark.parametrize("body", CASES)
def test_names_and_copies(lower: Lower, body: str) -> None:
    assert lower(body, BEFORE, PARAMS) == dedent(CASES[body])


ORDER = "a variable or an array is changed and used in one expression, and not every C++ says which comes first"
REFUSED = {
    "const int c = 4; const int *p = &c; A[0] = *p;": "the address of the constant 'c' is not supported",
    # a variable is one that never changes, since nobody assigns to it but through a const reference: 32 sectors, not 1
    "int x = n; int *p = A + x; unconst(x); *p = 0;": "a cast that takes 'const' away is not supported",
    "S s = {n, 1}; int *p = A + s.x; unconst(s); *p = 0;": "a cast that takes 'const' away is not supported",
    "int x = n; A[x] = 1; const int &r = x; const_cast<int &>(r)++;": "a cast that takes 'const' away is not supported",
    "Mu s = {n, 1}; int *p = A + s.x; reset(s); *p = 0;": "the mutable member 'x' is not supported",
    # a call that libclang does not show, where the scope ends
    "int g __attribute__((cleanup(leave))) = n; A[g] = 1;": "this attribute of 'g' is not supported",
    "[[gnu::cleanup(leave)]] int g = n; A[g] = 1;": "this attribute of 'g' is not supported",
    "int g LEAVES = n; A[g] = 1;": "this attribute of 'g' is not supported",
    # statements that macros, directives and pragmas hide
    "if (n SEMI n > 5 GONE(else)) A[n] = 1;": "a statement in a condition is not supported",
    "if (n SEMI n > 5)\n#if 0\nelse\n#endif\nA[n] = 1;": "a statement in a condition is not supported",
    "switch (n SEMI n > 5) { case 1: A[n] = 1; }": "a statement in a condition is not supported",
    "switch (TWO(A[n] = 1, n)) { case 1: A[0] = 1; }": "a statement in a condition is not supported",
    "SWITCH(A[n] = 1, n) { case 1: A[0] = 1; }": "a 'switch' in a macro is not supported",
    "for (\n#if 0\n;\n#endif\n0; n < 5 SEMI) { A[n] = 1; n++; }": "the head of this 'for' is not supported",
    "\n#pragma clang __debug captured\n{ A[n] = 1; }": "this statement is not supported",
    "switch (ID(A[n] = 1;) n) { default: A[0] = 1; }": "a statement in a condition is not supported",
    "switch (\n#line 1\nn) { default: A[0] = 1; }": "a statement in a condition is not supported",
    "switch (\n%:if 1\nn\n%:endif\n) { default: A[0] = 1; }": "a statement in a condition is not supported",
    "int g __attribute__((unused)) = n; A[g] = 1;": "this attribute of 'g' is not supported",
    "W w, u; w = u;": (
        "a field without a name or with a copy or destructor of its own in 'W' as a value is not supported"
    ),
    "R r{n}; A[0] = n + r.r++;": ORDER,
    "LOOP { n++; A[0]++; }": "a 'for' with its parts in a macro is not supported",
    "WHEN(n++; n > 3) A[0] = 1;": "an 'if' with several of its parts in one macro is not supported",
    **dict.fromkeys(
        [
            f"int x = n, y = 0; const int &r = {e}; y = 100; A[r] = 1;"
            for e in ("static_cast<const int &>(y)", "(const int &)y", "static_cast<Const>(y)", "++y", "(y += 2)")
        ]
        + [
            f"int x = n, y = 0; const int &r = {e}; y = 100; A[r] = 1;"
            for e in (
                "static_cast<Ref<int>>(y)",
                "static_cast<CREF>(y)",
                "(const Wrap<int>::type)y",
                "(Ref<int>)y",
                "(Wrap<const int>::type)y",
            )
        ]
        + [
            f"int x = n, y = 0; const int &r = {e}; y = 100; A[r] = 1;"
            for e in ("(y = 3)", "{y}", "((((const int &)(y))))")
        ],
        "what the reference 'r' refers to is not supported",
    ),
    **dict.fromkeys(
        [
            f"unsigned char t[4] = {{1, 2, 3, 4}}; short h[2] = {{1, 1}}; {use}"
            for use in (
                "int x = (int &)t[0]; A[x] = 1;",
                "A[static_cast<int &&>((int &)t[0])] = 1;",
                "using I = int &; A[I(h[0])] = 1;",
                "switch ((IREF)h[0]) { case 1: A[0] = 1; }",
                "A[same_bits<int &>(h)] = 1;",
                "A[(Wrap<int &>::type)h[0]] = 1;",
                "A[f3((int &)h[0])] = 1;",
                "bool b = (volatile int &)A[n] && false;",
            )
        ],
        "a cast to a reference is not supported",
    ),
    "char c = 0; (unsigned char &)c = 200;": "a cast by '(T)x' as a place in memory is not supported",
    "int r[2] = {0, 0}; int x = r[0] + fill(r);": "a call changes 'r_0', which is also used in this expression, "
    "and C++ does not say which comes first",
    "T t = {{0, 0}, 1}; int x = t.a[0] + fill(t.a);": "a call changes 't.a_0', which is also used in this "
    "expression, and C++ does not say which comes first",
    "if (n = 3 SEMI n > 2) A[0] = 1;": "a statement in a condition is not supported",
    "int x = n; A[0] = x * f2(x);": ORDER,
    "switch (n++; n) { case 1: A[0] = 1; }": "a statement in a condition is not supported",
    "int y = 0; set((Wrap<int>::type)y); A[y] = 1;": "what the reference 'x' refers to is not supported",
    "set((int &)n);": "what the reference 'x' refers to is not supported",
    "set(n + 1);": "no matching function for call to 'set'",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(lower: Lower, body: str) -> None:
    with pytest.raises(CudaError) as caught:
        lower(body, BEFORE, PARAMS)
    assert caught.value.message == REFUSED[body]


FAMILY = """
struct P { int x, y; __device__ int sum() const { return x + y; } __device__ int lift() { return ++x; } };
struct Q : P { int z; };
__device__ Q m[4];
struct E0 {};
struct R : E0, Q { int w; };
template <class T> struct Crtp {
  __device__ int twice() { T &t = static_cast<T &>(*this); t.v += 3; return t.v * 2; }
  __device__ int look() const { const T &t = static_cast<const T &>(*this); return t.v; }
};
struct K : Crtp<K> { int v; };
template <class T> __device__ int seen(const Crtp<T> &e) { const T &t = static_cast<const T &>(e); return t.v; }
__device__ int lift(P &p) { p.y += 10; return p.lift(); }
__device__ int lift(P *p) { p->x += 10; return p->lift(); }
__device__ int look(const P &p, int &x) { x = 50; return p.x; }
__device__ int take(P &&p) { p.x = 0; return p.y; }
"""
RENAMED = [
    "Q q{{n, 1}, 2}; P &p = static_cast<P &>(q); p.x = 5; p.lift(); A[0] = q.x; q.y = 7; A[1] = p.sum();",
    "Q q{{n, 1}, 2}; const P &p = static_cast<const P &>(q); q.x = 4; A[0] = p.sum();",
    "Q q{{n, 1}, 2}; const P &p = static_cast<P>(q); q.x = 4; A[0] = p.sum();",
    "Q q{{n, 1}, 2}; P &&p = static_cast<P &&>(q); p.x = 4; A[0] = q.x; A[1] = take(static_cast<P &&>(q)); A[2] = q.x;",
    "Q q{{n, 1}, 2}; P &p = ((P &)((q))); Q &r = static_cast<Q &>(p); r.z = 9; r.x++; A[0] = q.x * 10 + q.z;",
    "Q q{{n, 1}, 2}; A[0] = lift(static_cast<P &>(q)); A[1] = q.x + q.y; A[2] = lift(&q); A[3] = q.x;",
    "Q q{{n, 1}, 2}; A[0] = look(static_cast<const P &>(q), q.x); A[1] = look((P &)q, q.x); A[2] = q.x;",
    "Q q{{n, 1}, 2}; A[0] = look(static_cast<P>(q), q.x); A[1] = q.x;",
    "R r; r.x = n; r.y = 1; P &p = static_cast<Q &>(r); p.x++; P *s = &r; A[0] = lift(s); A[1] = lift(*s); A[2] = r.x;",
    (
        "m[n].x = 5; m[n].y = 1; P &p = static_cast<P &>(m[n]); p.lift(); Q &q = static_cast<Q &>(p); q.z = 70;"
        "A[0] = m[3].x; A[1] = lift(static_cast<P &>(m[n])); A[2] = m[n].x + m[n].z;"
    ),
    "K k; k.v = n; A[0] = k.twice(); A[1] = k.look(); const Crtp<K> &b = k; k.v++; A[2] = seen(b) * 10 + seen(k);",
    (
        "Q q[2] = {{{n, 1}, 2}, {{4, 5}, 6}}; Q a = Q{{n, 1}, 2}; P &p = n > 2 ? static_cast<P &>(a) : (P &)a; p.x = 8;"
        "A[0] = a.x;"
    ),
    "int b = n, c = b + 1; int *p = A + b; (A[9]++, b) = 1; *p = 90; (c++, b) += 2; p[c] = b;",
    "Q q{{n, 1}, 2}; Q &r = static_cast<Q &>(q); r.z = 4; Q &&s = static_cast<Q &&>(q); s.x = 6; A[0] = q.x + q.z;",
    (
        "int a = 1, b = n; int &r = (a++, b); r += 4; (a, b)++; A[0] = b * 10 + a; const int &q = (A[1]++, a); a = 7;"
        "A[2] = q; (A[4]++, A[n]) = 40; int *p = &(a++, b); *p = 2; A[5] = a + b;"
    ),
]


UNORDERED = [
    "A[0] = q.x + static_cast<P &>(q).x++;",
    "A[0] = ((P &)q).x++ * q.x;",
    "A[0] = q.x + lift(static_cast<P &>(q));",
]


@pytest.mark.parametrize("body", UNORDERED)
def test_what_casts_in_a_family_change_is_seen(read: Callable[..., Reading], body: str) -> None:
    with pytest.raises(CudaError, match=r"used in (one|this) expression"):
        read(f"{FAMILY} __global__ void k(int *A, int n) {{ Q q{{{{n, 1}}, 2}}; {body} }}")


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_casts_in_a_family_and_commas_name_the_object(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, FAMILY, RENAMED, tmp_path) == []


LISTED = """
struct A2 { int x, y; };
struct W { A2 a; int k; };
struct V { int v[3]; __device__ int operator[](int i) const { return v[i]; } };
struct D3 : A2 { int z; };
union U { int i; unsigned u; };
template <class T> struct Pair { T a, b; __device__ T sum() const { return a + b; } };
template <class T> __device__ T total(T a, T b) { return Pair<T>{a, b}.sum() + Pair<T>{b, a}.b; }
__device__ A2 make(int i) { A2 a; a.x = i; a.y = i * 2; return a; }
__device__ A2 operator+(const A2 &a, const A2 &b) { return A2{a.x + b.x, a.y + b.y}; }
__device__ int first(const A2 &a) { return a.x; }
__device__ int last(A2 a) { return a.y; }
__device__ int bump(int &n) { return n++; }
"""
PARTS = [
    "A[0] = A2{1, n}.y; A[1] = make(n).y; A2 d{3, 4}; A[2] = (A2{1, n} + d).y; A[3] = A2{}.x + A2().y;",
    "A[0] = W{{1, n}, 3}.a.y; A[1] = (W{{1, n}, 3}).k; A[2] = first({n, 6}) + last({5, 6}) + last(A2{n});",
    "const int &r = A2{n, 2}.x; int &&s = A2{1, 2}.y; s += n; A[0] = r * 10 + s;",
    "A[0] = V{{1, n, 3}}.v[n % 3]; A[1] = V{{1, 2, n}}[n - 1]; A[2] = (n > 2 ? A2{n, 1} : make(4)).x;",
    "A[0] = D3{{1, n}, 3}.y; A[1] = first(D3{{n, 2}, 3}) + last(D3{{1, n}, 3}); D3 b = D3{{n, 2}, 4}; A[2] = b.z;",
    "A[0] = U{n}.i; A[1] = U{-1}.u > 5u; A[2] = total(n, 4); A[3] = Pair<int>{n, 2}.a;",
    "int m = n; A[0] = A2{bump(m), bump(m)}.y; A[1] = m; A2{bump(m), 1}.x; A[2] = m; A[3] = A2{m++, m}.y;",
    "A2 a{n, 1}; A[0] = A2{a}.x; a.x = 9; A[1] = A2{a}.x;",
]


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_parts_of_values_in_braces(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, LISTED, PARTS, tmp_path) == []


PICKED = """#include <algorithm>
__device__ void turns(int *a, int &n, const int &m) { n = 20; for (int i = 0; i < m; i++) a[i] = 1; }
__device__ int both(const int &x, const int &y) { return x + y; }
__global__ void k(int *a, int n) { int t = threadIdx.x, m = 2, k = 1; BODY }
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("const int &r = std::max(m, k); m = 20; a[0] = r;", True),
        ("auto &&r = std::min(m, k); m = 20; a[0] = r;", True),
        ("decltype(auto) r = std::max(m, k); m = 20; a[0] = r;", True),
        ("const int &r = std::clamp(m, 1, 50); m = 20; a[0] = r;", True),
        ("const int &r = std::max((n, m), k); m = 20; a[0] = r;", True),
        ("const int &r = std::min(a[t], a[t + 1]); a[0] = r; a[1] = r;", True),
        ("turns(a, m, std::max(m, k));", True),
        ("const int &r = n ? std::max(m, k) : k; m = 20; a[0] = r;", True),
        ("const int &r = std::max(std::min(m, k), k); m = 20; a[0] = r;", True),
        ("const int &r = std::max(m, k, [](int x, int y) { return y < x; }); m = 20; a[0] = r;", True),
        ("const int &r = std::max(n, k); m = 20; a[0] = r;", False),
        ("const int &r = std::max({m, k, 3}); m = 20; a[0] = r;", False),
        ("auto r = std::max(m, k); m = 20; a[0] = r + std::min(a[t], a[t + 1]);", False),
        ("const int &r = max(m, k); m = 20; a[0] = r;", False),
        ("turns(a, m, std::max(n, k)); a[0] = both(std::min(n, 4), std::max(2 * m, n));", False),
    ],
)
def test_a_reference_to_the_least_is_one_to_an_argument(read: Callable[..., Reading], body: str, told: bool) -> None:
    """It has what the argument has later, and is read from memory anew: these functions give numbers here."""
    text = PICKED.replace("BODY", body)
    if not told:
        read(text, std="c++17")
        return
    with pytest.raises(CudaError, match=r"a reference to what '(min|max|clamp)' gives, which is one of its arguments"):
        read(text, std="c++17")
