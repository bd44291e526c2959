"""What is changed and used in one expression: refused where C++ leaves the order open, or has not always had one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.lowered import Lowered
from tests.semantics.cuda.native import COMPILER, differences
from tests.semantics.cuda.test_heap import Allocating

Reader = Callable[..., Reading]

BEFORE = """
struct P { int x, y; };
__device__ int total[32], others[32];
__device__ void put(int *p, int v) { p[0] = v; }
__device__ int sum(int a, int b) { return a + b; }
__device__ int all() { return total[0]; }
__device__ P operator+(P a, P b) { P r = {a.x + b.x, a.y + b.y}; return r; }
__device__ P both(int x) { P r = {x, x}; return r; }
__device__ P later(P a, int &x) { x++; return a; }
struct Q {
  int *p;
  __device__ int value() const { return *p; }
  __device__ void step() { *p++ = *p; }
  __device__ int twice() { return *p + (*p)++; }
};
struct G {
  int &x;
  __device__ int value() const { return x; }
  __device__ void put(int *a) { a[x++] = x; }
  __device__ int twice() { return x + x++; }
};
struct H { G *g; };
struct D : Q {
  int k;
  __device__ int less() { return k - (*p)++; }
  __device__ void next() { *p++ = *p; }
};
struct C : P { struct { int z; }; };
__device__ int next(int &s) { s = s * 5 + 3; return s & 7; }
__device__ int bump(int *p, int i) { p[i] += 1; return p[i]; }
__device__ int value(H h) { return h.g->value(); }
"""
HEAD = "int x = 1, y = 2; int &r = x; P p = {n, n}; int *a = A, *b = B; a++; b++; int t[2] = {0, 0};"

ORDERED = [  # since C++17; what was in another order before
    "x = 4 - (x << x++); A[0] = x; x = 40 - (x >> --x); A[1] = x; A[n] = A[7] << A[2]++; A[4] = (y = 3) << y;",
    "x += x++; A[0] = x; x = x++ + 1; A[1] = x; x = y ? x++ : 3; A[2] = x; p.x = p.x++; A[3] = p.x;",
    "A[x] = x++; A[x] += ++x; A[x++] = x; A[x++] = B[x]; A[x++] = A[x++]; A[x++] -= A[x] = x; A[20] = x;",
    "A[B[0]] += B[1]++; A[B[n]] = (put(B + n, 5), 1); A[7] <<= A[6] = 2;",
    "a++[x] = x--; *a++ = *a; *a = *a++; *a++ += *a = 5; A[9] = *a + 10 * (a - A);",
    "__shared__ P v[4]; for (P &q : v) q = P{n, x++}; v[x -= 4] = v[x++] = p; A[3] = v[1].x + 9 * v[2].x; A[4] = x;",
    "__shared__ P v[4]; for (P &q : v) q = P{n, x++}; v[x -= 3].x = v[1].y++; v[x++] = v[x]; A[3] = v[2].y + 9 * x;",
    "__shared__ P v[4]; for (P &q : v) q = P{n, x++}; (v[0] = v[1]) = v[0]; A[9] = v[0].x;",
    "Q q{A}; q.step(); A[9] = *q.p; G g{x}; g.put(A); D c; c.p = A + 4; c.next(); A[8] = *c.p;",
    "C c; c.z = 1; A[c.z] = c.z++; y = A[x = 3] = x; A[7] = y;",
    "x = 1; x += next(x); A[0] = x; A[n] += bump(A, n); A[A[n]] = (bump(A, 3), 6);",
    "B[x] += next(x); A[x = 2] = next(x); A[0] = x;",
    "int d[2] = {0, 0}, e[2] = {0, 0}, *q = e; A[d[0] == 0 ? 0 : 8] = (q = d, q[0] = 5, 1); B[0] = e[0];",
    "int d[2] = {0, 0}, *q; A[d[0] == 0 ? 0 : 8] = (q = d, q[0] = 5, 1);",
    "int d[2] = {0, 0}, e[2] = {0, 0}, *q = e; A[d[0] == 0 ? 0 : 8] = (q = d, *q++ = 5, 1);",
    "int *q = A; A[B[0]] += (q = B, q[0] = 5, 1);",
    "int *q = A; auto f = [&] { q = B; q[0] = 5; return 1; }; A[B[0]] += f();",
    "auto f = [&](int i) { return x += i; }; A[x] -= f(3); auto h = [&](int i) { return f(i); }; A[x] += h(1);",
]

REFUSED = [
    "A[A[0]++] = n;",
    "a = B; a[atomicAdd((a = A), 1)] = n;",
    "(a += 2)[a - A] = 1;",
    "y = (a = B) == a;",
    "y = (a = B) == b;",
    "x = x++ + x++;",
    "y = x + x++;",
    "y = (x = 3) + x;",
    "y = r + x++;",
    "A[0] = *a + *a++;",
    "A[0] = a++ - a;",
    "y = p.x + p.x++;",
    "A[A[x]++] = A[0];",
    "A[0] = B[x]++ + B[y];",
    "A[0] = total[x]++ + all();",
    "A[0] = sum(x, x++);",
    "A[0] = sum(x++, x);",
    "A[0] = min(x, x++);",
    "A[0] = sum(B[0]++, B[1]);",
    "A[0] = B[0] + atomicAdd(&B[0], 1);",
    "A[0] = B[1] + atomicAdd(B + 1, 1);",
    "A[0] = x++ + atomicAdd(&B[x], 1);",
    "A[0] = x + (y ? x++ : 2);",
    "A[0] = t[x] + t[0]++;",
    "int2 v = make_int2(x, x++);",
    "A[0] = total[x]++ + total[y];",
    "A[total[x]] = others[y]++ + others[n];",
    "A[0] = A[1] + (put(A, 5), 1);",
    "A[0] = all() + (put(A, 5), 1);",
    "A[0] = (put(A, 5), 1) + total[0];",
    "A[0] = B[0] + (__syncthreads(), 1);",
    "A[0] = B[0] + (__stcs(B, 5), 1);",
    "__stcs(A + x, x++);",
    "__stcs(&A[B[0]], B[0]++);",
    "P q = p + both(x++) + both(x);",
    "P q = p + (both(x) + both(x++));",
    "P q = p + p + (p = both(1));",
    "P q = both(B[0]++) + p + both(B[1]);",
    "P q = p + later(p, x) + both(x);",
    "P q = p + later(p, p.x);",
    # what pointers and references in a structure lead to, named in its methods or used by what it is passed to
    "Q q{&x}; A[0] = q.value() - x++;",
    "Q q{&x}; A[0] = q.twice();",
    "G g{x}; A[0] = g.value() - (x = 4);",
    "G g{x}; A[0] = g.twice();",
    "D c; c.p = &c.k; c.k = 1; A[0] = c.less();",
    "D c; c.p = &x; A[0] = x - (*c.p)++;",
    "C c; c.x = 1; A[0] = c.x - c.x++;",
    "G g{x}; H h{&g}; A[0] = value(h) - x++;",
    "G g{x}; auto f = [g] { return g.value(); }; A[0] = f() - x++;",
]

READ = [
    "x = x + 1;",
    "A[atomicAdd(A, 1) + 1] = n;",
    "A[n] = A[atomicAdd(&A[0], 1) & 7];",
    "__shared__ int s[9]; s[atomicAdd(s, 1)] = n;",
    "x = y = x;",
    "x = ++x % n;",
    "x = (x = 5) + 1;",
    "x = (x++, x + 1);",
    "x = x++ > 0 ? x : 7;",
    "A[x++] = y;",
    "A[x++] = B[y++];",
    "A[B[x]++] = n;",
    "A[B[x]++] = total[x];",
    "A[atomicAdd(&B[0], 1)] = total[x];",
    "A[0] = atomicAdd(B, 1) - atomicAdd(B + 1, 1) + atomicAdd(&B[x], n);",
    "A[x] = B[x]++;",
    "A[x] = (y = B[x]);",
    "*a++ = *b++;",
    "*a++ += *b++;",
    "y = x++ + y;",
    "A[0] = x++ && x;",
    "A[0] = x++ < 3 || x > 5;",
    "A[0] = x ? x++ : x--;",
    "A[0] = p.x++ + p.y;",
    "A[0] = sizeof(x++) + x;",
    "A[0] = min(B[x], y++);",
    "int2 v = {x++, x};",
    "for (int i = 0, j = n; i < j; i++, j--) A[i] = j;",
    "while (x-- > y) A[x] = 1;",
    "y = sum(x, x) + (x, n++);",
    "A[0] = total[x]++ + others[y];",
    "A[0] = x + threadIdx.x + (put(A, 5), 1);",
    "put(A, 5), A[0] = B[1] + B[2];",
    "P q = p + p + p;",
    "P q = p + (p + both(x)) + both(y);",
    "p = p + both(B[x]) + p + both(all());",
    "C c; c.x = c.y = c.z = n; A[c.x] = c.y++ + c.z;",
    "Q q{&y}; A[0] = q.value() - x++;",
    "int *c; if ((c = B) != nullptr && NULL != (c = A + x)) c[1] = 2;",
    "G g{x}; A[g.value()] = g.value() + y++;",
]


STACK = """
#include <new>
struct S { int *data; int top; int own[4];
  __device__ void push(int x) { data[top++] = x; own[this->top] = (x); } __device__ int look() { return own[--top]; }
  __device__ bool pop(int &x) { if (top > 0) { x = data[--top]; return true; } return false; } };
struct L { S s; int *data; };
"""
STACKS = [
    "S *s = new S{new int[9](), 1, {}}; s->push(n); s->push(7); int x; A[0] = s->pop(x); A[1] = x + 10 * s->top;",
    "S *s = new S{new int[9](), 1, {}}; (s)->data[(s->top++)] = n; int x = s->data[s->top--]; A[0] = x + s->data[1];",
    "S *s = new S{new int[9](), 1, {4, 5}}; S &r = *s; r.own[r.top--] += 7; A[0] = s->look(); A[1] = s->own[1];",
    "L *l = new L{{new int[9](), 1, {}}}; l->s.push(n); A[0] = l->s.data[--l->s.top]; A[1] = l->s.top;",
]


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_fields_of_one_object_are_apart(read: Reader, tmp_path: Path) -> None:
    assert differences(read, STACK, STACKS, tmp_path, machine=Allocating) == []


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ("int *data; int top;", "s->data[t->top++] = 7;"),  # they may be one
        ("union { int *data; long top; };", "s->data[s->top++] = 7;"),
        ("int *data; int &top;", "s->data[s->top++] = 7;"),
        ("int *data; int k, top : 3;", "s->data[s->top++] = 7;"),
        ("int data[4];", "s->data[s->data[1]++] = 7;"),
        ("int *data; int top;", "s->data[s->top++ + s->top] = 7;"),
        ("int *data; int top; S *next;", "s->next->data[s->next->top++] = 7;"),
    ],
)
def test_other_parts_of_objects_are_not(read: Reader, fields: str, body: str) -> None:
    with pytest.raises(CudaError, match="is changed and used in one expression"):
        read(f"struct S {{ {fields} }}; __global__ void k(S *s, S *t, int n) {{ t = s; {body} }}")


def text(body: str) -> str:
    return f"{BEFORE}__global__ void k(int *A, int *B, int n) {{ {HEAD} {body} }}"


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_the_right_side_of_an_assignment_and_the_left_one_of_a_shift_come_first(read: Reader, tmp_path: Path) -> None:
    before = BEFORE.replace("total[32]", "total[32] = {}").replace("others[32]", "others[32] = {}")
    assert differences(read, before, [HEAD + body for body in ORDERED], tmp_path) == []


@pytest.mark.parametrize("body", ORDERED)
def test_an_older_standard_leaves_that_open(read: Reader, body: str) -> None:
    with pytest.raises(CudaError, match=r"used in (one|this) expression|not every C"):
        read(text(body), std="c++14")


def test_a_call_comes_before_an_index_that_it_changes(read: Reader) -> None:
    """As CUDA's compiler has it, and the standard; g++ takes such an index before the call."""
    found = read(f"{BEFORE} __global__ void k(int *A, int i) {{ A[i] = next(i); }}").kernel.body
    assert show_stmt(found).splitlines()[-1] == "A[i_0] <- i_0 & 7;"


@pytest.mark.parametrize("std", ["c++14", "c++17"])
@pytest.mark.parametrize("body", REFUSED)
def test_refused(read: Reader, body: str, std: str) -> None:
    with pytest.raises(CudaError, match="is changed and used in one expression") as caught:
        read(text(body), std=std)
    assert caught.value.advice == "Use two statements."


@pytest.mark.parametrize("body", READ)
def test_what_has_an_order_is_read(read: Reader, body: str) -> None:
    assert read(text(body)).kernel.name == "k"


def test_sums_of_structures(read: Reader) -> None:
    """What is passed is a copy, which nothing changes: memory is read once for each time that it is named."""
    kernel = f"{BEFORE}__global__ void k(P *o, P *x, int i) {{ o[0] = x[i] + x[i] + (x[1] + both(7)) + x[0]; }}"
    body = read(kernel).kernel.body
    assert show_stmt(body).count("x.x[") == 4
    lowered = Lowered({"i": 1})
    lowered.cells |= {("x.x", 0): 1, ("x.y", 0): 20, ("x.x", 1): 300, ("x.y", 1): 4000}
    lowered.run(body)
    assert (lowered.cells["o.x", 0], lowered.cells["o.y", 0]) == (3 * 300 + 7 + 1, 3 * 4000 + 7 + 20)
