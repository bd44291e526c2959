"""Fields that are references or arrays of structures, tuples and lists, as a host compiler has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading
from tests.semantics.cuda.lowered import Lowered
from tests.semantics.cuda.native import COMPILER, N, differences, hosted

BEFORE = """
#include <algorithm>
#include <optional>
#include <array>
#include <tuple>
#include <utility>
struct P { int a, b; };
struct Cell { int &u; const int &v; int k; __device__ void bump() const { u += v; }
  __device__ void set(int x) { u = x; } };
struct Bound { int &x; int y; __device__ Bound(int &q, int r) : x(q), y(r) { x++; } };
struct Two { Cell c; int &w; };
struct Whole { P &p; int (&row)[4]; };
struct Grid { int *u, *v; __device__ Cell operator()(int i) const { return {u[i], v[i], i}; } };
struct Proxy { int &x; __device__ Proxy &operator=(int v) { x = v; return *this; } __device__ operator int() const {
  return x; } };
struct Bits { int *p; __device__ Proxy operator[](int i) const { return {p[i]}; } };
struct Rows { P p[2]; int n; };
struct Buffer { int v[8]; __device__ int &operator[](int i) { return v[i]; } };
struct Loader { int last; __device__ int next(const int *p) { last += 2; return p[last]; } };
struct Column { int offset; Loader loader; };
template <class L, class R> struct Sum { L l; R r; __device__ Sum(const L &a, const R &b) : l(a), r(b) {}
  __device__ int at(int i) const { return l.at(i) + r.at(i); } };
struct Leaf { const int *p; __device__ explicit Leaf(const int *q) : p(q) {} __device__ int at(int i) const {
  return p[i]; } };
__device__ std::tuple<int, int> both(int a, int b) { int s = a + b; return {s, a - b}; }
__device__ std::array<int, 2> half(int a, int b) { return {a ^ b, a & b}; }
__device__ std::pair<int, int> ends(int *p, int n) { return {p[0], p[n]}; }
struct Tag { __device__ int operator()(int x) const { return x + 1; } };
static constexpr Tag tag{};
__device__ int tagged(int x, Tag t) { return t(2 * x); }
__device__ std::optional<int> found(const int *p, int x) {
  for (int i = 0; i < 4; i++) if (p[i] == x) return i;
  return std::nullopt;
}
struct Made { int v; bool k; __device__ Made(const int &x) : v(x), k(x > 2) {} };
__device__ Made made(const int *p, int n) { for (int i = 0; i < n; i++) if (p[i] == 3) return i; return 7; }
"""

BODIES = [
    # a field by its address, and by its name
    ("__shared__ P s[4]; int *q = &s[n & 3].b; *q = n; s[1].b++; A[0] = s[n & 3].b; s[2].a = 4; int *r = &s[2].a; "
     "A[1] = *r + *&s[2].a;"),
    "__shared__ P s[4]; s[1].a = n; *(unsigned *)&s[1].a += 5; A[0] = s[1].a; *(unsigned *)&s->b = 7; A[1] = s->b;",
    ("int x = n; Cell c{x, n, 2}; c.u = 5; c.bump(); A[x] = c.u; Cell d = c; d.u += 7; A[c.k] = x; d.set(1); "
     "A[3] = x + d.v;"),
    "int x = 4; const Cell c{A[x], B[n], 1}; x = 0; c.u = 70; c.bump(); A[0] = c.v + x;",
    "Grid g{A, B}; auto [u, v, k] = g(n); u *= 2; A[k + 1] = v; auto w = g(threadIdx.x); w.u = w.v + n; g(5).bump();",
    "int x = 2; Bound b(x, n); b.x += b.y; Bound c{A[x], 1}; c.x = x; A[0] = b.x;",
    ("int x = 2, y = 3; Two t{{x, y, 1}, A[n]}; t.w = t.c.u; t.c.bump(); A[x] = t.c.k; Two s{t.c, y}; s.w = 9; "
     "A[0] = t.c.v;"),
    ("P p{1, n}; int v[4] = {4, 5, 6, 7}; Whole w{p, v}; w.p.b++; w.row[n] = p.b; w.row[threadIdx.x] += 2; "
     "A[0] = v[3]; A[1] = v[1];"),
    "Bits b{A}; b[n] = 9; b[1] = (int)b[n]; int x = b[2] + b[threadIdx.x]; A[0] = x; auto r = b[5]; r = 4; A[6] = r;",
    ("auto f = [&](Cell c) { c.u += c.v; return c.u; }; int x = n; A[0] = f({x, B[2], 0}); A[1] = x; "
     "A[2] = f(Cell{A[5], x, 1});"),
    # what a constructor of several arguments does is no copy
    ("Sum<Leaf, Sum<Leaf, Leaf>> s(Leaf(A), Sum<Leaf, Leaf>(Leaf(B), Leaf(A + 1))); A[0] = s.at(n); "
     "auto t = s; A[1] = t.at(1);"),
    # the index of an operator, and what the right side changes
    ("Buffer b{}; Column c{1, {n}}; b[c.offset + 1] = b[c.offset] = c.loader.next(B); A[0] = b[1] * 10 + b[2]; "
     "A[1] = c.loader.last;"),
    "__shared__ Buffer b; Column c{1, {n}}; b[c.offset + 3] = b[c.offset + 1] = c.loader.next(A); A[0] = b[2] + b[4];",
    # tuples, arrays, lists
    ("auto [h, l] = both(A[4], n); A[h] = l; auto t = std::make_tuple(1, n, h); "
     "A[1] = std::get<0>(t) + 10 * std::get<2>(t);"),
    "int x = 1, y = 2; std::tie(x, y) = std::make_tuple(y, n); A[x] = y; std::tie(A[1], A[2]) = both(x, y); A[3] = x;",
    ("int x = 1, y = 2; std::tie(x, y) = both(y, x); std::tie(y, A[3]) = ends(B, n); "
     "std::tie(x, y, A[4]) = std::make_tuple(y, x, n); A[x & 7] = y;"),
    ("std::tuple t{4, n, 6}; std::get<1>(t) += 5; auto &[a, b, c] = t; c = a; "
     "A[0] = b * 10 + std::get<2>(t);"),
    ("auto [h, l] = half(A[6], n); A[0] = 10 * h + l; std::array<int, 3> v{1, n, 3}; auto &[a, b, c] = v; "
     "b += 4; A[1] = v[1] + a * c;"),
    ("std::array<int, 2> v{5, n}; std::get<1>(v) = 8; A[0] = std::get<0>(v) + 10 * v[1]; "
     "std::pair<int, int> p{1, n}; std::get<0>(p) = 7; A[1] = p.first + std::get<1>(p);"),
    ("std::pair<int, int> p(A[1], n), q; q = n > 2 ? p : std::make_pair(n, 4); if (q < p || p == q) q.second += 3; "
     "std::pair<long long, int> r(p); A[0] = q.first * 10 + q.second; A[1] = (int)r.first + (p != q) + 2 * (p > q);"),
    ("std::pair<int, int> p(n + 300, A[2]); std::pair<unsigned char, long long> q(p), r; r = p; A[0] = q.first; "
     "A[1] = r.first + (int)q.second; __shared__ std::pair<int, int> s[4]; s[n & 3] = p; s[n & 3].first++; "
     "A[2] = s[3].first; A[3] = s[3].second;"),
    # one of two structures, which is made, or whose test calls a function
    ("__shared__ P s[2]; s[0].a = n; s[0].b = 3; P z{7, n}, v; v = tagged(n, tag) > 5 ? s[0] : z; A[0] = v.a + v.b; "
     "v = n > 2 ? P{n, 2} : s[0]; A[1] = v.a; A[2] = (n > 1 ? s[0] : P{5, A[4]}).b; "
     "Made m(n); m = n > 3 ? Made(A[5]) : m; A[3] = m.v + m.k;"),
    ("auto r = found(B, n); if (r) A[0] = *r; A[1] = r.value_or(-4) + 2 * r.has_value(); r = 3; "
     "if (auto q = found(A, 3)) A[2] = q.value(); r.reset(); r = std::optional<int>(n); A[3] = r ? *r : 9; "
     "A[4] = Made(n).k + made(A, n).v;"),
    "A[0] = tag(n) + tagged(A[1], tag); auto t = tag; A[2] = t(4);",
    "A[0] = std::max({A[1], n, 2}) + 10 * std::min({B[2], n + 4}); A[1] = std::min({n, 8, (int)threadIdx.x, 2});",
]  # fmt: skip


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []


REFUSED = {
    "int x = n; const Cell c{x, n, 1}; A[x + c.u++] = 1;": "changed and used in one expression",
    "int x = n; Cell c{x, n, 1}; A[0] = x + (c.set(4), 1);": "a call changes 'x', which is also used",
    "Cell *c = (Cell *)A; c[0].u = 1;": "the reference 'u' in a structure is not supported",
    "Cell c{A[0], A[1] + 1, 2}; A[0] = c.v;": "what the reference 'v' refers to is not supported",
    "std::array<int, 3> v{1, n, 3}; A[0] = v[1] + (std::get<1>(v) = 5);": "changed and used in one expression",
    "__shared__ std::tuple<int, int> t[32]; std::get<1>(t[n]) = 1;": "a tuple in memory",
    "A[0] = std::get<0>(*(std::tuple<int, char, int> *)B);": "a tuple in memory",
    "auto t = ((std::tuple<int, int> *)B)[n]; A[0] = std::get<1>(t);": "a tuple in memory",
    "std::tuple<int, int> t{1, n}; auto &[a, b] = t; A[0] = a + (std::get<0>(t) = 5);": "changed and used",
    "int x = 1, y = 2; A[0] = x + (std::tie(x, y) = both(y, n), 1);": "a call changes 'x', which is also used",
    "struct W { int v[8], i; __device__ int &operator[](int k) { return v[k + i]; } }; __shared__ W w; "
    "w[0] + (w.i = 1);": "changed and used in one expression",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(f"{BEFORE}__global__ void k(int *A, int *B, int n) {{ {body} }}", REFUSED[body])


def test_what_a_reference_in_a_structure_is_given_may_change(read: Callable[..., Reading]) -> None:
    """So what is computed from it before, and used after, is what it was."""
    body = "int x = n; int *p = A + x; Cell c{x, n, 1}; c.u = 0; *p = 1; A[x] = 2;"
    text = show_stmt(read(f"{BEFORE}__global__ void k(int *A, int *B, int n) {{ {body} }}", "k").kernel.body)
    assert "x <- 0;\nA[p] <- 1;\nA[x] <- 2;" in text, text


def test_a_structure_that_holds_an_array_of_structures_is_accessed_where_these_lie(
    read: Callable[..., Reading],
) -> None:
    text = "__global__ void k(Rows *r) { Rows x = r[threadIdx.x]; r[0] = x; }"
    found = show_stmt(read(BEFORE + text, "k").kernel.body)
    assert found.count("r.p.a[tid.x * 5") == found.count("r.p.b[tid.x * 5") == 2, found
    assert found.count("<- r.n[tid.x]") == 1, found
    assert found.count("r.p.a[0 * 5") + found.count("r.p.a[0]") + found.count("r.p.a[2]") >= 2, found


@pytest.mark.parametrize("first", ["atomicAdd(&p[n].x, 5); A[0] = p[n].x;", "A[0] = p[n].x; atomicAdd(&p[n].x, 5);"])
def test_a_field_is_one_array_by_its_address_and_by_its_name(read: Callable[..., Reading], first: str) -> None:
    head = "struct S { int k; volatile int x; int y; };\n__global__ void k(S *p, int *A, int n) { "
    last = " atomicAdd((int *)&p[n].x, 5); A[1] = p[n].x; p->x = 3; }"
    found = read(f"{head}{first.replace('&p', '(int *)&p')}{last}", "k")
    (array,) = (a for a in found.kernel.arrays if a.name == "p.x")
    steps = {12: "n", 4: "n * 3"}
    assert (array.offset, array.width) == (4, 4)
    written = show_stmt(found.kernel.body)
    assert written.count(f"p.x[{steps[array.stride]}]") >= 4
    assert "p.x[0]" in written


def test_a_structure_as_large_as_its_alignment_is_accessed_at_once_whatever_is_in_it(
    read: Callable[..., Reading],
) -> None:
    """Vectors of a library's own, `T v[N]`, are what people write for this."""
    vector = "template <class T, int N> struct alignas(sizeof(T) * N) Vec { T v[N]; };"
    text = "__global__ void k(Vec<short, 8> *A, Vec<P, 2> *B, int n) { Vec<short, 8> x = A[n]; A[1] = x; B[2] = B[1]; }"
    found = read(f"{BEFORE}{vector}{text}", "k")
    lines = [line for line in show_stmt(found.kernel.body).splitlines() if "A[" in line or "B[" in line]
    assert len(lines) == 4, lines
    assert {(a.name, a.stride, a.width) for a in found.kernel.arrays} == {("A", 16, 16), ("B", 16, 16)}


LENT = """
struct Arr { int v[4]; int k; int *p[2];
  __device__ int &operator[](int i) { return v[i]; } __device__ int *row(int i) { return p[i]; } };
__device__ int read(Arr &a, int i) { return a.v[i] + a.k; }
__device__ int grown(Arr a) { a[0] += 7; a.k++; return a[0]; }
__device__ int last(Arr a) { int x = a[3]; return x - a.k; }
__device__ int stepped(Arr a) { a.v[2] -= 5; return a.v[2]; }
template <class F> __device__ int sum(Arr a, F f) { int s = 0; for (int i = 0; i < a.k; i++) s += f(a[i]); return s; }
"""

LENT_BODIES = {  # to whether there is a copy
    "A[0] = g[n]; A[1] = read(g, 1); A[2] = last(g);": False,
    "Arr a = g; A[0] = a[1]; A[1] = last(a); A[2] = g.k; A[3] = sum(a, [&](int x) { return x * a.k; });": False,
    "A[0] = grown(g); A[1] = last(g); A[2] = g[0];": True,
    "g[1] = n; A[0] = g[1]; A[1] = read(g, 1);": True,
    "Arr a = g; int &x = a[1]; x = 2; A[0] = a[1]; A[1] = g[1];": True,
    "Arr a = g; A[0] = last(a); g.k = 9; A[1] = last(a); A[2] = last(g);": True,
    "g.v[n]++; A[0] = g.v[3]; A[1] = stepped(g); A[2] = g.v[2];": True,
    "memset(&g.v[1], 0, 8); A[0] = g.v[1]; A[1] = g.v[3];": True,
    "while (g.k--) A[g.k] = g[0]; A[5] = g.k;": True,
    "int *q = &g.v[1]; *q = 5; A[0] = g[1]; A[1] = g[2];": True,
}


class _Given(Lowered):
    """A machine with what the structure `g` holds."""

    def __init__(self, parameters: Mapping[str, int]) -> None:
        super().__init__(dict(parameters) | {"g.k": 3})
        self.cells |= {("g.v", i): 10 + i for i in range(4)}


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_structures_with_arrays_that_the_kernel_is_passed_as_a_host_compiler_has_them(
    read: Callable[..., Reading], tmp_path: Path
) -> None:
    """Something that may change one may also leave it as it is: then there is no copy."""
    given = [f"Arr g = {{{{10, 11, 12, 13}}, 3, {{A, A}}}}; {body}" for body in LENT_BODIES]
    for (body, copied), lanes in zip(LENT_BODIES.items(), hosted(LENT, given, tmp_path), strict=True):
        kernel = read(f"{LENT}\n__global__ void k(int *A, Arr g, int n) {{ {body} }}", "k").kernel
        assert ("g_1.k <- " in show_stmt(kernel.body) or "a.k <- " in show_stmt(kernel.body)) == copied, body
        machine = _Given({"n": N, "tid.x": 0} | {d.name: 0 for d in kernel.locals})
        machine.cells |= {("A", i): i for i in range(8)}
        machine.run(kernel.body)
        assert [machine.cell("A", i) for i in range(8)] == [a for a, _ in lanes[0][:8]], body


def test_large_arrays_of_pointers_that_the_kernel_is_passed_are_read_where_they_lie(
    read: Callable[..., Reading],
) -> None:
    before = "template <int n> struct List { void *rows[n][100]; int sizes[100]; unsigned char which[200]; };\n"
    before += "struct Op { __device__ void operator()(List<2> &l, float by) { int t = l.which[blockIdx.x];"
    before += " float *p = (float *)l.rows[0][t], *q = (float *)l.rows[1][t];"
    before += " for (int i = threadIdx.x; i < l.sizes[t]; i += blockDim.x) q[i] = p[i] * by; } };\n"
    text = before + "template <class T, class F, class... A> __global__ void k(T l, F f, A... a) { f(l, a...); }\n"
    found = show_stmt(read(text + "void host(List<2> l) { k<<<1, 32>>>(l, Op(), 2.0f); }").kernel.body)
    assert "q <- l.rows[100 + t] / 4;" in found, found
    assert "memory.float32[q + i] <- memory.float32[p + i] * by;" in found, found


def test_tuples_of_one_thread_are_in_no_memory(read: Callable[..., Reading]) -> None:
    body = "std::tuple<int, int> t[4]; for (int i = 0; i < 4; i++) t[i] = {A[i], i}; A[0] = std::get<0>(t[n & 3]);"
    found = read(f"{BEFORE}__global__ void k(int *A, int *B, int n) {{ {body} }}", "k")
    assert {a.name for a in found.kernel.arrays} == {"A", "B"}
