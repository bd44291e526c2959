"""Constructs of C++11 to C++17 in statements and declarations, as a host compiler has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
#include <utility>
template <class F, class... T> __device__ int call(F f, T &&... t) { return f(std::forward<T>(t)...); }
#define EACH(x, v) for (x : v)
#define COUNTED(x, v) for (int count = bump(A); x : v)
struct P { int a, b; };
struct Q { int v[2]; int *p; short s; };
struct Start { int a = 3; int *p = nullptr; bool on = false; int v[2] = {1, 2}; };
__device__ P both(int i) { return {i, 10 * i}; }
__device__ int lift(P &p) { return p.a++; }
__device__ int twice(int x) { return 2 * x; }
__device__ int next(int x) { return x + 1; }
__device__ int bump(int *p) { return ++*p; }
__device__ int look(int *p) { return *p; }
using Function = int (*)(int);
template <Function F> __device__ int apply(int x) { x = F(x); return F(x) + 1; }
template <int (*F)(int *)> __device__ int through(int *p) { return F(p); }
template <class T, int N> __device__ T sum(const T (&v)[N]) { T s = 0; for (T x : v) s += x; return s; }
template <int N> __device__ void clear(int (&v)[N]) { for (auto &x : v) x = 0; }
struct Bag { int v[4]; int n;
  __device__ void fill(int x) { for (auto &y : v) y = x++; n = x; }
  __device__ int total() const { int s = 0; for (const int &x : v) { if (x < 0) continue; s += x; } return s; } };
struct V { int x, y, z;
  __device__ int &operator[](int i) { return (&x)[i]; }
  __device__ int operator[](int i) const { return *(&x + i); } };
template <class D> struct Shape { __device__ int area(int k) const { return static_cast<const D *>(this)->of(k); }
  __device__ D &self() { return static_cast<D &>(*this); } };
struct Square : Shape<Square> { int a; __device__ int of(int k) const { return k * a * a; } };
struct Counted { int n; __device__ void count(); };
struct Box : Counted { int w, h; __device__ int of() { count(); return w * h; } };
__device__ void Counted::count() { n++; static_cast<Box *>(this)->w += n; }
template <class F> __device__ int area(const Shape<F> &f, int k) { return f.area(k); }
template <class T> __device__ T braced(T x, int n) { T y{}; T z{x}; return n > 3 ? z + T{1} : y + T{}; }
template <class T, int N> __device__ T counted(T x = T{}) { return x + T{N}; }
__device__ int given(int n) { if (n > 2) return {}; return {n}; }
template <class T> __device__ T none() { T x = T(); return x + T(); }
struct Four { int v[4]; };
__device__ int *pick(int *p, int n) {
  if (n < 2) return p + n;
  for (int i = 0; i < n; i++) if (p[i] == 2) return p + i;
  return p;
}
__device__ int ahead(int *p, int n) {
  int r = 0;
  if (n < 0) goto bad;
  for (int i = 0; i < n; i++) { if (p[i] == 3) goto found; if (p[i] == 5) return 50; r += p[i]; }
  return r;
found:
  r = 1000 + r;
bad:
  return r - 1;
}
#define WHOLE(k) if (n > k) A[0] = k; else { A[1] = k; } if (A[k] == 1) return; else bump(A + k); \\
  int b; if (n > k) b = 5; else b = 6; A[7] = b;
template <class T, int R, int C> struct Grid { T v[R][C]; typedef T type; };
struct View { int *p; int n; __device__ int *begin() const { return p;
  } __device__ int *end() const { return p + n; } };
struct It { int i; __device__ int operator*() const { return i; } __device__ It &operator++() { i += 2; return *this; }
  __device__ bool operator!=(const It &o) const { return i < o.i; } };
struct Range { int a, b; __device__ It begin() const { return It{a}; } __device__ It end() const { return {b}; } };
template <class T> struct Row { T v[4]; __device__ T *begin() { return v; } __device__ T *end() { return v + 4; }
  __device__ const T *begin() const { return v + 1; } __device__ const T *end() const { return v + 3; } };
namespace far { struct Own { int *p; }; __device__ int *begin(Own &o) { return o.p; }
  __device__ int *end(Own &o) { return o.p + 3; } }
template <class T> struct Steps { struct Iter { T i, s; __device__ T operator*() const { return i; }
    __device__ Iter &operator++() { i += s; return *this; }
    __device__ bool operator!=(const Iter &o) const { return i < o.i; } };
  T a, b, s; __device__ Iter begin() const { return {a, s}; } __device__ Iter end() const { return {b, s}; } };
template <class T> __device__ Steps<T> steps(T a, T b) { return {a, b, 2}; }
struct Base { int x, z; __device__ Base(int a, int b = 5) : x(a), z(b) {} };
struct Own { int o; __device__ Own() : o(9) {} };
struct Der : Base, Own { using Base::Base; int y = 4; };
__device__ void away(const int &r) { int *p = const_cast<int *>(&r); *p = 5; }
__device__ void cast(const int &r) { int *p = (int *)&r; *p = 5; }
struct Away { int x; __device__ void out() const { *(int *)&x = 5; }
  __device__ void self() const { ((Away *)this)->x = 5; }
  __device__ unsigned bits() const { const short s = x; return *(unsigned *)&x + *(unsigned short *)&s; } };
constexpr int log2of(int n) { return n <= 1 ? 0 : 1 + log2of(n / 2); }
template <int N> __device__ int levels() { constexpr int l = log2of(N); int s = 0; for (int i = 0;
  i < l; i++) s += i; return s; }
__device__ int search(int x) { for (int y : {4, 8, 15, 16}) if (y > x) return y; return -1; }
"""

BODIES = [
    ("struct M { int m[2][3]; } x{{{1, 2, n}, {4}}}, y{{1, 2, 3, n}}; A[0] = x.m[0][2] * 9 + x.m[1][0];"
    " A[1] = x.m[1][2] + y.m[1][0];"),
    ("static constexpr int t[3] = {1, 2, 4}; constexpr int c = 5; auto f = [](int x) { return x + t[x % 3] * c; };"
    " A[n] = f(n);"),
    ("int x = n; A[0] = call([](int a, int &b) { return a + b++; }, 2, A[4]); "
     "A[1] = call([](int &a) { return a++; }, x); A[2] = x;"),
    # numbers in braces
    "A[0] = n > 3 ? B[1] : int{}; A[1] = braced(B[2], n) + braced<unsigned>(7u, n); A[2] = braced<short>(5, n);",
    "A[0] = counted<int, 4>() + counted<unsigned char, 5>(254) + int{n} * int{7}; A[1] = {}; A[2] = {n};",
    "A[0] = given(n); bool q{}; short s = short{}; unsigned u = unsigned{3} - 4u; A[1] = q + s; A[2] = u > 5u;",
    # range-based for
    "int v[4] = {1, 2, 3, n}; int s = 0; for (int x : v) s = 10 * s + x; A[0] = s;",
    "int v[3]; for (auto &x : v) x = n; for (int &x : v) x += threadIdx.x; A[0] = v[0] + v[1] * v[2];",
    "int s = 0; for (int x : {3, 1, n}) { if (x == 1) continue; s = 10 * s + x; } A[0] = s;",
    "int v[5] = {2, 7, 1, 8, 2}, s = 0; for (auto x : v) { if (x > n + 3) break; s += x; } A[0] = s;",
    "int m[2][3] = {{1, 2, 3}, {4, 5, n}}, s = 0; for (auto &row : m) for (int x : row) s = 3 * s + x; A[0] = s;",
    "Bag b; b.fill(n); A[0] = b.total(); A[1] = b.n; for (int &x : b.v) x = -1; A[2] = b.v[2] + b.total();",
    "A[0] = search(n) + search(9) + search(100); A[1] = search(threadIdx.x * 7);",
    "__shared__ int s[4]; for (auto &x : s) x = n; s[1] = 5; int t = 0; for (int x : s) t = t * 10 + x; A[0] = t;",
    "int s = 0; for (int x : View{A, n}) s += x; View v{A + 4, 5}; for (auto &x : v) x += 2; A[0] = s;",
    ("int s = 0; for (int x : Range{(int)threadIdx.x, 9}) { if (x == 4) continue; "
     "if (x > n + 3) break; s += x; } A[0] = s;"),
    ("Row<int> r = {1, n, 3, 4}; for (int &x : r) x *= 2; const Row<int> &c = r; "
     "for (int x : c) A[0] += x; A[1] = r.v[3];"),
    "far::Own o{A + 2}; for (int x : o) { if (x == n) return; A[9] += x; } View v{A, 0}; for (int x : v) A[x] = 5;",
    "for (int i : steps<int>(threadIdx.x, 12)) for (int j : steps(i, 7)) A[i] += j;",
    "const View v{B, 6}; int s = 0, k = 0; for (const int &x : v) { if (k++ == 2) A[k] = x; s = 3 * s + x; } A[0] = s;",
    # for (init; x : array)
    "int v[3] = {1, n, 5}, s = 0; EACH(auto x, v) s = 3 * s + x; A[0] = s;",
    "int v[3] = {1, n, 5}, s = 0; for (int i = n++; int x : v) { s += i * x; i++; } A[0] = s; A[1] = n;",
    ("int s = 0, m = n; for (int i = bump(A); int x : View{A, n}) s += x - i; for (int i{m++}; auto &x : View{A, 2}) "
     "x += i; A[7] = s + m;"),
    "int i, s = 0; for (i = 0; i < n; i++) s += i; for (int j = i; int x : {1, 2}) s += j * x; A[0] = s;",
    # switch (init; x)
    "switch (int x = n + threadIdx.x; x & 3) { case 0: A[0] = x; break; case 3: A[1] = 5; default: A[2] = x; }",
    "switch (int x = n; x) { case 1: A[0] = 1; } switch (const int x = bump(A); x % 2) { case 1: A[3] = x; }",
    ("for (int i = 0; i < 4; i++) switch (int y = i * i; y) { case 4: continue; case 9: A[9] = y; "
     "break; default: A[i]++; }"),
    # constructors of base classes, numbers that a compiler knows
    "Der d(n); A[0] = d.x + d.y * 10 + d.z * 100 + d.o * 1000; Der e{n, 2}; A[1] = e.x + e.y * 10 + e.z * 100;",
    "auto f = [&](Der d) { return d.x * d.y + d.o; }; A[0] = f(Der(n, 3)); Der *p = nullptr; if (p) A[1] = p->x;",
    "A[0] = levels<16>() + levels<1>(); constexpr int l = log2of(1 << 5); A[l] = 7;",
    # casts that change nothing but const
    "Away s{n}; A[0] = s.bits() + ((unsigned *)&s.x)[0];",
    ("const int *p = A + 2; int *q = const_cast<int *>(p); q[1] = n; const_cast<int *>(B)[n] = 4; "
     "A[0] = *const_cast<int *>(p);"),
    ("int x = n; reinterpret_cast<int &>(A[1]) = x; reinterpret_cast<int &>(x) += 4; "
     "A[2] = x + reinterpret_cast<int &>(A[5]);"),
    # another name of a namespace
    "namespace g = far; using namespace g; g::Own o{A + 2}; for (int x : o) A[9] += x; A[0] = n;",
    # arrays by reference
    "int v[3] = {1, n, 5}; A[0] = sum(v); clear(v); A[1] = sum(v); const int w[2] = {1, 2}; A[2] = sum(w);",
    # declarations in heads
    "if (int i = threadIdx.x; i < n - 1) A[i] = 70; else if (int j = i - 1; j) A[j] = 80; else A[9] = i + j;",
    "if (int v = A[n] - 3) A[0] = v; else A[1] = v + 1; if (P *p = nullptr) A[2] = 1; if (int v = n) A[3] = v;",
    "if (int y = n; int x = A[y] - 1) A[2] = x; else A[4] = y; if (int y = n; y > 3) A[5] = 1; else A[6] = y;",
    "WHOLE(2) if (A[2] > 3) A[3] = 50; else bump(A + 4);",
    "int i = 5; while (int v = A[i] - 2) { i--; A[20 + i] = v; } A[0] = i;",
    "int i = 0; while (int v = B[i]) { if (v == 3) break; i++; if (v == 7) continue; A[i] = v; } A[0] = i;",
    "for (;;) { if (int v = A[0]; v > 4) break; A[0]++; } while (1) { A[1]++; if (int v = A[1]; v > 9) break; }",
    # constant tables
    "static const int T[4] = {3, 1, 4, 1}; A[0] = T[threadIdx.x & 3] + T[2]; for (int x : T) A[1] += x;",
    "static constexpr unsigned char T[] = {200, 100, 50}; constexpr int U[2] = {7, 8}; A[0] = T[n % 3] + T[0] + U[1];",
    "static const int T[2][2] = {{1, 2}, {3, 4}}; A[0] = n; static const int k = 5; A[1] = k;",
    # structured bindings
    "auto [x, y] = both(n); A[0] = x + y; y += 2; A[1] = y; const auto [z, w] = both(y); A[2] = z - w;",
    "P p = {1, n}; auto &[x, y] = p; x += 5; p.b++; A[0] = p.a * y; const auto &[z, w] = p; A[1] = z + w;",
    "int v[3] = {n, 2, 3}; auto [x, y, z] = v; x = 9; A[0] = v[0] + 10 * (x + y + z);",
    "int v[3] = {n, 2, 3}; auto &[a, b, c] = v; b = 8; A[1] = v[1];",
    "Q q = {{1, 2}, A, 4}; auto [v, p, s] = q; v[0] = n; p[s] = v[0] + q.v[0]; A[0] = s;",
    "auto [x, y] = both(2); auto f = [&]() { x++; return x + y; }; A[1] = f(); A[2] = f();",
    # ?: as a place
    "int a = 1, b = 2; (n > 2 ? a : b) = 7; (n > threadIdx.x + 1 ? b : a) += 2; A[0] = 10 * a + b;",
    "int v[2] = {1, n}, w[3] = {4, 5, 6}; (threadIdx.x > 1 ? v[1] : w[threadIdx.x]) = 9; A[0] = sum(v) * 100 + sum(w);",
    "(n & threadIdx.x ? A[0] : A[1]) = 50; int i = (threadIdx.x ? A : A + 4)[2]; A[3] = i;",
    "int a = 1, b = 2, c = 3; int &r = threadIdx.x == 1 ? a : threadIdx.x == 2 ? b : c; r = 8; r++; A[0] = a + b * c;",
    "int a = 1, b = 2; const int &r = threadIdx.x ? a : b; a = 5; A[0] = r;",
    "int a = 1; const int &s = threadIdx.x ? a : 4; a = 6; A[1] = s;",
    ("P a{1, n}, b{5, 6}; const P &x = threadIdx.x & 1 ? a : b, &y = threadIdx.x & 1 ? b : a; A[0] = 10 * x.a + y.b; "
     "a.a = 7; P &w = n > threadIdx.x + 1 ? a : b; w.b += x.a; w = P{w.b, 3}; "
     "A[1] = a.a + 10 * a.b + 100 * b.a + b.b;"),
    ("struct N { P q; int v[2]; } s, t; s.v[1] = 6; t.v[1] = n; N &r = threadIdx.x ? s : t; r.v[n & 1] = 4; "
     "A[0] = s.v[1] + 10 * t.v[1];"),
    "int a = 1, b = 2; ++(threadIdx.x ? a : b); int c = (threadIdx.x < 2 ? a : b)--; A[0] = a + 10 * b + 100 * c;",
    # initialisers of fields
    "Start s; s.p = A; s.p[s.a] = s.on + s.v[1]; Start t{}; if (t.p) A[1] = 1; t.v[0] = n; A[2] = t.v[0] + t.v[1];",
    "int *p = nullptr; if (!p) A[1] = 4; p = A; *p = 3; p++; p[1] = 6;",
    # fields in a row, and classes that know what is derived from them
    "V v = {1, n, 5}; for (int i = 0; i < 3; i++) v[i] *= i + 2; const V &c = v; A[0] = c[n % 3] + c[2] * 10;",
    "V v = {1, 2, 3}; int *p = &v.y; p[1] = 7; *p += 2; A[0] = v.y * 10 + v.z; A[1] = *(&v.x + threadIdx.x % 3);",
    "Square s; s.a = n; A[0] = s.area(2) + area(s, 3); s.self().a = 4; A[1] = s.a;",
    "Box b; b.n = 2; b.w = n; b.h = 5; A[0] = b.of(); A[1] = b.w * 10 + b.n;",
    "Box b = {}; Counted &c = b; static_cast<Box &>(c).h = 9; A[2] = b.h;",
    "A[0] = none<int>() + int(); Four f = {1, 2, n}; A[1] = f.v[2] * 10 + f.v[3];",
    "P p = {.a = n, .b = 2}; A[2] = p.a + p.b;",
    # literals of C
    "P p = (P){n, 2}; A[0] = p.b; p = (struct P){.a = n + 1}; A[1] = 10 * p.a + p.b + ((P){n, 7}).b + (int){n};",
    "Q q = (Q){{1, n}, A}; A[0] = both((P){n, 4}.a).b + q.v[1]; A[2] = (Four){n, 5}.v[1] + (P){}.b;",
    "struct N { P p; short s; } x = (struct N){{n, 3}, (short)70000}; x.p = (P){x.s + n, 2}; A[0] = x.p.a;",
    "A[0] = sum((const int[]){n, 2, 3}); for (int x : (int[3]){n, 4}) A[x] = 50;",
    # strings
    "const char h[] = \"xyz\", *p = \"ab\" \"c\\n\"; A[0] = h[n - 1] + p[3];",
    "char e[6] = \"\\303x\"; e[1] += n; for (char c : e) A[0] += c;",
    "A[0] = \"\\0\\4\\2\"[1] + *(\"q\" + 1) + 0[\"r\"] + sizeof(\"four\");",
    "A[0] = *pick(A, threadIdx.x); *pick(A + 1, n) = 70; int *p = pick(B, 9); p++; A[8] = *p; A[9] = p - B;",
    # jumps ahead
    "if (threadIdx.x > 1) goto out; A[0] = 1; if (A[n] == 3) goto out; A[1] = 2; out: A[2]++;",
    "int i, j; for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (A[i * n + j] == 7) goto f; return; f: A[0] = i;",
    "for (int i = 0; i < 6; i++) { if (i % 2) goto next; A[i] = 70; if (i == threadIdx.x) break; next:; }",
    "for (int i = 0; i < 6; i++) { if (i == 2) goto next; if (i == 4) continue; A[i] = 70; next: A[10 + i] = i; }",
    "A[0] = ahead(A, n) + ahead(A + 2, n) * 2 + ahead(A + 4, n); A[1] = ahead(A, -1);",
    "int x = 1; if (n) { x = 2; goto a; } x = 3; a: x *= 2; if (threadIdx.x) goto b; x *= 5; b: A[0] = x;",
    "A[0] = 5; { goto c; } A[1] = 9; c:;",
    "int s = 0; while (1) { s++; if (s == 2) goto on; if (s > 4) break; A[s] = 60; on: A[s + 10] = s; } A[0] = s;",
    "do { if (threadIdx.x == 1) goto e; if (threadIdx.x == 2) break; A[0] = 5; e: A[1]++; } while (A[1] < 4);",
    "switch (n) { case 3: if (threadIdx.x) goto d; A[0] = 1; break; default: A[1] = 2; } A[2] = 3; d: A[3] = 4;",
    "int i = 0; do { if (A[i] > 2) goto x; i++; } while (i < 9); x: A[0] = i;",
    "int i = 0; for (;;) { if (++i > 8) goto y; } y: A[1] = i;",
    "int i = threadIdx.x; again: if (i < 9) { A[i] = i * 2; i += 3; goto again; } A[i] = 50;",
    "int i = 0; again: A[i] += 20; i++; if (A[i] < n + threadIdx.x) goto again; A[i] = 60; A[20] = i;",
    "int i = 0; l: i += 2; if (A[i] < 12) { A[i]++; if (i > 9) return; goto l; } if (i > 9) goto m; A[1]++; m: A[2]++;",
    "int i = 0; l: i++; if (i % 3 == 1) goto l; A[i] = 7; if (i < 9) goto l; A[0] = i;",
    "int i = 1, s{}; l: for (int j = 3; j--;) if (s++ > 7) goto o; else if (s == 3) goto l; if (i--) goto l; o: *A=s;",
    "for (int i = 0; i < n; i++) { int t = 0; r: t++; if (t < i + 2) goto r; if (t == 3) continue; A[i] = t; }",
    "int s = n, *p = A; { again: s--; } p += s; if (s > 0) goto end; A[0] = s; end: A[1] = *p;",
    "int *p = A, i = 0; l: *p = 90 + i; p = i ? A + 5 : A + 7; if (++i < 4) goto l; *p = 8;",
    "int i = 0; while (true) { i++; l: if (i == 4) { i++; goto l; } if (i > 7) { A[i] = 80; break; } } A[0] = i;",
    # a loop that both flags of its own end
    "int i = 0; while (i++ < 4) { if (threadIdx.x == 1) return; if (A[i] == n) break; A[20 + i] = 7; } A[0] = i;",
    "int i = 0; while (i++ < 4) { return; break; A[1] = 2; } A[0] = 3;",
    # casts to types with numbers in them
    "int (*row)[16] = (int (*)[16])A; row[n][2] = 70; auto r = reinterpret_cast<int (*)[4]>(A + 1); A[0] = r[2][3];",
    "A[0] = (typename Grid<int, 9, 9>::type)(n) + typename Grid<int, 5, 5>::type() + Grid<char, 7, 7>::type(300);",
    "auto &t = *reinterpret_cast<int (*)[3][8]>(A); t[1][n] = 90; int (&u)[4] = *(int (*)[4])(A + 20); u[2] = 5;",
    # functions that are arguments of templates
    "A[0] = (twice)(n) + (*next)(2) + (&twice)(3); (bump)(A);",
    "int x = n, y = 0; const int &r = (n > 5 ? x : y); y = 100; A[0] = r;",
    "A[0] = apply<twice>(n) + apply<&next>(n); A[1] = through<bump>(A + 2);",
    "const int *c = A; const_cast<int &>(c[n]) = 70; const_cast<int &>(c[n + 1])++; A[0] = c[n] + A[4];",
]  # fmt: skip


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []


CONST = "a cast that takes 'const' away is not supported"
"""Who is passed a reference to something constant may change it by such a cast: nobody counts that."""

HEAD = "a statement in the head of a range-based 'for' is not supported"
"""libclang does not show it."""

REFUSED = {
    "int x = n; int *q = A + x; away(x); q[0] = 100;": CONST,
    "int x = n; int *q = A + x; cast(x); q[0] = 100;": CONST,
    "Away s{n}; int *q = A + s.x; s.out(); q[0] = 100;": CONST,
    "Away s{n}; int *q = A + s.x; s.self(); q[0] = 100;": CONST,
    "int a = 1, b = 2; int &r = n ? a : b; A[0] = r - a++;": "is changed and used in one expression",
    "int a = 1, b = 2; int &r = n ? a : b; A[0] = a - r++;": "is changed and used in one expression",
    "int a = 1, v[2] = {}; int &r = n ? v[n] : a; int &s = n ? r : a; A[0] = v[0] - s++;":
        "is changed and used in one expression",
    "A[0] = through<look>(A) + (A[0] = 3);": "",
    "struct L { __device__ int *begin() { return 0; } __device__ int *end() { return 0; } } l; for (int x : l);":
        "a range-based 'for' over what is no array is not supported",
    "if (A[1] = 5; int x = A[n] - 3) A[2] = x;": "a statement in a condition is not supported",
    "if (twice(n); bool x = A[n] > 3) A[2] = x; else A[4] = 5;": "a statement in a condition is not supported",
    "if (twice(n); n > 3) A[2] = 1; else A[4] = 2;": "a statement in a condition is not supported",
    "if (n = 4; n > 3) A[2] = 1;": "a statement in a condition is not supported",
    "switch (int x = n, y = bump(A); x) { case 3: A[0] = 1; }": "a statement in a condition is not supported",
    "switch (bump(A); n) { case 3: A[1] = 2; }": "a statement in a condition is not supported",
    "switch (int x = bump(A); n) { case 3: A[1] = 2; }": "a statement in a condition is not supported",
    "int v[2] = {1, n}; for (int i = A[n]; int x : v) A[0] += x;": HEAD,
    "int v[2] = {1, n}; for (A[3] = n; int x : v) A[0] += x;": HEAD,
    "int v[2] = {1, n}; for (int i = n, j = bump(A); int x : v) A[0] += x * i;": HEAD,
    "int v[2] = {1, n}; EACH(int i = bump(A); int x, v) A[0] += x;": HEAD,
    "int v[2] = {1, n}; COUNTED(int x, v) A[0] += x;": HEAD,
    "static int t[2]; A[0] = t[1];": "the static variable 't' is not supported",
    "P a{1, 2}, b{3, n}; P &r = n ? a : b; A[0] = a.a - r.a++;": "is changed and used in one expression",
    "P a{1, 2}, b{3, n}; P &r = n ? a : b; A[0] = a.a - lift(r);": "is changed and used in one expression",
    "P a{1, 2}, b{3, n}; P &r = n ? a : b; A[0] = (&r.a)[1];": "",
    "P a{1, 2}; P *q = (P *)B; (n ? a : *q).a = 1;": "'?:' as a place is not supported",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_refused(read: Callable[..., Reading], refused: Callable[[str, str], None], body: str) -> None:
    refused(f"{BEFORE}__global__ void k(int *A, int *B, int n) {{ {body} }}", REFUSED[body])


def test_a_cast_to_an_instance_with_numbers_is_one_of_the_pointer(read: Callable[..., Reading]) -> None:
    body = "auto *f = reinterpret_cast<Grid<int, 2, 3> *>(A); f[n].v[1][2] = 1; B[1] = ((Grid<int, 4, 1> *)B)->v[n][0];"
    reading = read(f"{BEFORE}__global__ void k(int *A, int *B, int n) {{ {body} }}", "k")
    text = "A.as_Grid_int_2_3.v[n * 6 + 3 + 2] <- 1;\nB[1] <- B.as_Grid_int_4_1.v[n];"
    assert show_stmt(reading.kernel.body) == text
