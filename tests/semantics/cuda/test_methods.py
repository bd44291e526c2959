"""Methods are inlined, with the fields of the object that they are called for; those that change it are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading, classes
from semantics.cuda.clang import Node
from tests.semantics.cuda.lowered import Lowered

Reader = Callable[..., Reading]

BEFORE = """
struct In { int v; __device__ int get() const { return v; } };
struct S {
  int x, y; In in; static const int N = 4; mutable int hits;
  __device__ int sum() const { return x + this->y + (*this).x + N; }
  __device__ int both() const { int x = 50; return x + S::x + twice(y) + other() + this->other(); }
  __device__ static int twice(int n) { return 2 * n; }
  __device__ int other() const { return in.get() + in.v; }
  __device__ int early(int i) const {
    if (i < x) return i;
    for (int k = 0; k < 9; k++) if (k * y > i) return k;
    return -1;
  }
  __device__ int out(int i) const;
  __device__ int changes(int &v) const { v = 3; return x; }
  __device__ int zero(S &o) const { o.x = 0; return x; }
  __device__ int uses(int &v) const { return sum() + v++; }
  __device__ S me() const { return *this; }
  __device__ S with(int v) const { S r = *this; r.x = v; return r; }
  __device__ S operator+(const S &o) const { S r = {x + o.x, y + o.y, {0}, 0}; return r; }
  __device__ int operator()(int a, int b = 7) const { return x * a + b; }
  __device__ operator int() const { return x; }
  __device__ int again(int i) const { return i ? again(i - 1) : x; }
  template <class F> __device__ int after(F f) const { f(); return x; }
  __device__ void set(int v) { x = v; }
  __device__ void two(int v) { set(v); }
  __device__ void inner(int v) { in.v = v; }
  __device__ void self(S o) { *this = o; }
  __device__ void pointer() { int *p = &x; *p = 1; }
  __device__ void escapes() { S *p = this; p->x = 1; }
  __device__ void cast() const { const_cast<S *>(this)->x = 1; }
  __device__ void reference() { int &r = y; r = 1; }
  __device__ void passes() { bump(x); }
  __device__ void passes_all() { bump_all(*this); }
  __device__ int count() const { return hits++; }
  __device__ static void bump(int &v) { v++; }
  __device__ static void bump_all(S &s) { s.x++; }
  __device__ const int &name() const { return x; }
};
__device__ int S::out(int i) const { return x + i; }
struct View {
  int *p; int n;
  __device__ int get(int i) const { return p[i * n]; }
  __device__ void put(int i, int v) { p[i * n] = v; p[n] += v; }
  __device__ int *at(int i) const { return p + i * n; }
};
struct Own { int v[2]; int w[2][2]; };
struct Add { __device__ int operator()(int a, int b) const { return a + b; } };
struct Scale { int n; __device__ int operator()(int a, int b) const { return a + b * n; } };
template <class F> __device__ int reduce(F f, const int *p, int n) {
  int r = 0;
  for (int i = 0; i < n; i++) r = f(r, p[i]);
  return r;
}
template <class F> __device__ int nested(const F &f, int x) { return f(f(x, 1), f(2, x)); }
template <class T> struct Box { T v; __device__ T get() const { return v; } __device__ operator T() { return v + 1; } };
struct Base { int x; __device__ int get() const { return x; } };
struct Derived : Base { int z; __device__ int more() const { return x + z; } };
__device__ int touch(S &s) { s.x++; return s.x; }
__device__ int put(int *p, int v) { p[0] = v; return 1; }
__device__ S make(int v) { S r = {v, v, {v}, 0}; return r; }
__device__ int G[64];
__device__ int filled(int *p = nullptr, int v = (G[0] = 1, 3)) { return v; }
__device__ S save(int *p) { p[0] = 1; return make(2); }
"""


def kernel(*bodies: str) -> str:
    """The kernel `k`, or of several bodies `k0`, `k1` and so on."""
    params = "int *A, int *B, S *P, S g, View w, Scale c, Derived d, Derived *D, int n"
    names = ["k"] if len(bodies) == 1 else [f"k{i}" for i in range(len(bodies))]
    made = (
        f"__global__ void {k}({params}) {{ S s = {{1, 2, {{5}}, 0}}; {b} }}\n"
        for k, b in zip(names, bodies, strict=True)
    )
    return BEFORE + "".join(made)


NAMES = {"n": 3, "g.x": 10, "g.y": 20, "g.in.v": 30, "g.hits": 0, "w.n": 2, "c.n": 100, "d.Base.x": 4, "d.z": 5}
CELLS = (
    {("B", i): i + 1 for i in range(6)}
    | {("P.x", 3): 7, ("P.y", 3): 8, ("P.in.v", 3): 9, ("w.p", 4): 6}
    | {("D.x", 1): 6, ("D.z", 1): 8}
)

RUN: dict[str, dict[tuple[str, int], int]] = {
    "A[0] = s.sum(); A[1] = g.sum(); A[2] = P[n].sum(); A[3] = (P + n)->sum();": {
        ("A", 0): 8, ("A", 1): 44, ("A", 2): 26, ("A", 3): 26,
    },
    "s.set(3); A[0] = s.x; s.two(4); A[1] = s.x; s.inner(6); A[2] = s.in.v; s.self(g); A[3] = s.x + s.in.v;": {
        ("A", 0): 3, ("A", 1): 4, ("A", 2): 6, ("A", 3): 40,
    },
    "s.x = 7; s.pointer(); A[0] = s.x; s.reference(); A[1] = s.y; s.passes(); s.passes_all(); A[2] = s.x;": {
        ("A", 0): 1, ("A", 1): 1, ("A", 2): 3,
    },
    "A[0] = s.name() + d.get(); A[1] = d.more(); A[2] = D[1].get() + D[1].more(); A[3] = save(B).sum();": {
        ("A", 0): 5, ("A", 1): 9, ("A", 2): 6 + 6 + 8, ("A", 3): 10,
    },
    "A[0] = s.both(); A[1] = P[n].both();": {("A", 0): 50 + 1 + 4 + 20, ("A", 1): 50 + 7 + 16 + 36},
    "A[0] = S::twice(n) + s.twice(2);": {("A", 0): 10},
    # the object is a copy, and stays as it was
    "int m = S(s).zero(s); A[0] = m * 10 + s.x;": {("A", 0): 10},
    "int m = static_cast<S>(s).zero(s); A[0] = m * 10 + s.x;": {("A", 0): 10},
    "int m = ((S)s).zero(s); A[0] = m * 10 + s.x;": {("A", 0): 10},
    "A[0] = s.early(0) + 10 * s.early(5) + 1000 * s.early(17);": {("A", 0): 0 + 30 - 1000},
    "A[0] = s.out(n); s.x = 9; A[1] = s.out(n);": {("A", 0): 4, ("A", 1): 12},
    "int r = s.changes(s.x); A[0] = r;": {("A", 0): 3},
    "int i = n; const S &r = P[i]; i = 0; A[i] = r.sum();": {("A", 0): 26},
    "int i = n; auto f = [&]() { i = 0; s.x = 4; }; int r = P[i].after(f); A[i] = r; r = s.after(f); A[1] = r;": {
        ("A", 0): 7, ("A", 1): 4,
    },
    "S t = s.me(), u = s.with(6); t.y = 0; A[0] = t.sum() + 100 * u.sum() + 10000 * s.sum();": {("A", 0): 81806},
    "A[0] = (s + g + P[n]).sum() + make(2).with(3).sum();": {("A", 0): 18 + 30 + 18 + 4 + 12},
    "A[0] = s(5) + s(1, 2) + s.operator()(2, 3) + s + int(s);": {("A", 0): 12 + 3 + 5 + 2},
    "A[0] = (s = g)(3);": {("A", 0): 37},
    "if (g) A[g] = 1; for (int i = 0; i < s.x; i += s) A[i] = g;": {("A", 10): 1, ("A", 0): 10},
    "w.put(3, w.get(2)); *w.at(1) = 5; int *p = w.at(2); p++; *p = w.at(3)[0];": {
        ("w.p", 6): 6, ("w.p", 2): 5, ("w.p", 5): 6,
    },
    "A[0] = Add()(2, 3) + Add{}(4, 5) + Scale{10}(1, 2) + Scale()(1, 2);": {("A", 0): 5 + 9 + 21 + 1},
    "A[0] = reduce(Add(), B, 4); A[1] = reduce(c, B, n); A[2] = nested(Scale{n}, 4); A[3] = nested(c, 1);": {
        ("A", 0): 10, ("A", 1): 600, ("A", 2): 7 + 3 * 14, ("A", 3): 101 + 100 * 102,
    },
    "Box<int> b = {n}; const Box<char> e = {4}; A[0] = b.get() + 10 * b + 100 * e.get();": {("A", 0): 443},
    "A[0] = n > 5 && P[99].sum(); A[1] = n ? s.sum() : P[n].sum(); A[2] = n < 5 && P[n].sum() > 20;": {
        ("A", 0): 0, ("A", 1): 8, ("A", 2): 1,
    },
    "while (s.sum() < 20) { s.x++; A[s] = s.other(); }": {("A", i): 10 for i in range(2, 8)},
}  # fmt: skip


@pytest.mark.parametrize("std", ["c++14", "c++17"])
@pytest.mark.parametrize("body", RUN)
def test_contents(read: Reader, body: str, std: str) -> None:
    lowered = Lowered(NAMES)
    lowered.cells |= CELLS
    lowered.run(read(kernel(*RUN), f"k{[*RUN].index(body)}", std=std).kernel.body)
    assert {at: value for at, value in lowered.cells.items() if CELLS.get(at) != value} == RUN[body]


COPY = "the reference 'r' to a part of a copy is not supported"
REFUSED = {
    "s.escapes();": "'this' as a pointer is not supported",
    "s.cast();": "'this' as a pointer is not supported",
    "A[0] = s.count();": "the mutable member 'hits' is not supported",
    "A[0] = s.again(2);": "the recursive function 'again' is not supported",
    "A[0] = P[n++].sum();": "an object whose expression changes something is not supported",
    "A[0] = P[n++].twice(2);": "an object whose expression changes something is not supported",
    # what finds the object of a static method is evaluated, and nobody lowers it
    "A[0] = save(B).twice(2);": "an object that is found by more than its name is not supported",
    "A[0] = P[put(B, 1)].twice(2);": "an object that is found by more than its name is not supported",
    "A[0] = (put(B, 1), s).twice(2);": "an object that is found by more than its name is not supported",
    "A[0] = (*(P + put(B, 1))).twice(2);": "an object that is found by more than its name is not supported",
    "A[0] = (P + put(B, 1))->twice(2);": "an object that is found by more than its name is not supported",
    "A[0] = P[A[3]].twice(2);": "an object that is found by more than its name is not supported",
    # a default argument has effects, of which libclang shows nothing
    "A[0] = filled(B);": "this default argument is not supported",
    "auto f = [](int a = put(G, 2)) { return a; }; A[0] = f();": "this default argument is not supported",
    # a part of a copy is not a part of what is copied
    "const int &r = S(s).x; s.x = 0; A[0] = r;": COPY,
    "Own o; const int &r = Own(o).v[1]; o.v[1] = 0; A[0] = r;": COPY,
    "Own o; const int &r = (Own(o).w[1])[0]; A[0] = r;": COPY,
    "const int &r = static_cast<S>(s).x; s.x = 0; A[0] = r;": COPY,
    "w.put(0, 1), A[0] = A[1] + (w.put(1, 2), 3);": "is changed and used in one expression",
    "A[0] = P[n].out(n++);": "is changed and used in one expression",
    "A[0] = s.uses(s.x);": "is changed and used in one expression",
    "A[0] = s.sum() + (s.x = 3);": "is changed and used in one expression",
    "A[0] = s(s.x++);": "is changed and used in one expression",
    "A[0] = s * touch(s);": "is changed and used in one expression",
    "A[0] = s.sum() - s.x++;": "is changed and used in one expression",
    "A[0] = w.get(1) + put(w.p, 5);": "a call changes 'w.p', which is also used in this expression",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(kernel(body), REFUSED[body])


SHARED = """
template <class T> struct SharedMemory {
  __device__ inline operator T *() { extern __shared__ int __smem[]; return (T *)__smem; }
  __device__ inline operator const T *() const { extern __shared__ int __smem[]; return (T *)__smem; }
};
template <> struct SharedMemory<double> {
  __device__ inline operator double *() { extern __shared__ double __smem_d[]; return (double *)__smem_d; }
  __device__ inline operator const double *() const { extern __shared__ double __smem_d[]; return (double *)__smem_d; }
};
template <class T> __global__ void k(T *A) {
  T *s = SharedMemory<T>();
  const SharedMemory<T> again = {};
  const T *t = again;
  s[threadIdx.x] = A[threadIdx.x];
  __syncthreads();
  A[0] = t[1];
}
"""


@pytest.mark.parametrize(("type_", "array"), [("float", "__smem"), ("double", "__smem_d"), ("short", "__smem")])
def test_shared_memory_by_conversion(read: Reader, type_: str, array: str) -> None:
    """The idiom of the CUDA samples: one array, with the elements that it is used with."""
    reading = read(SHARED, instantiate=f"k<{type_}>")
    assert show_stmt(reading.kernel.body) == f"{array}[tid.x] <- A[tid.x];\nsync;\nA[0] <- {array}[1];"
    assert [(a.name, a.stride) for a in reading.kernel.arrays if a.space == "shared"] == [
        (array, {"float": 4, "double": 8, "short": 2}[type_])
    ]


def test_shared_memory_of_two_types(read: Reader) -> None:
    kernel = "__global__ void m() { int *a = SharedMemory<int>(); float *b = SharedMemory<float>(); a[0] = b[1]; }"
    with pytest.raises(CudaError, match="'__smem' with elements of two types or sizes"):
        read(SHARED + kernel, "m")


def test_shared_arrays_of_a_function_that_is_called_twice(read: Reader) -> None:
    """They are one array each, one for each instance of a template."""
    text = """
    __device__ void fill(int v) { __shared__ int s[32]; extern __shared__ int d[]; s[v] = d[v]; }
    template <class T> __device__ void typed(int v) { __shared__ T t[32]; t[v] = v; }
    __global__ void k() { extern __shared__ int d[]; d[0] = 1; fill(1); fill(2); typed<int>(3); typed<long>(4);
                          typed<int>(5); }
    """
    kernel = read(text).kernel
    assert [a.name for a in kernel.arrays] == ["d", "s", "t", "t_1"]
    lowered = Lowered({})
    lowered.run(kernel.body)
    assert set(lowered.cells) == {("d", 0), ("s", 1), ("s", 2), ("t", 3), ("t_1", 4), ("t", 5)}


def test_a_method_of_what_a_member_points_to_does_not_change_the_object(read: Reader) -> None:
    """So `h.p` stays the argument it was made with."""
    text = """
    struct Cell { int v; __device__ void set(int i) { v = i; } };
    struct Holder { Cell *p; int x; __device__ int get() { p->set(1); return x; } };
    __global__ void k(int *A, Cell *c, int n) { Holder h{c, n}; A[h.x] = h.get(); }
    """
    assert show_stmt(read(text).kernel.body) == "h.x <- n;\ni <- 1;\nc.v[0] <- i;\nA[h.x] <- h.x;"


def test_a_structure_is_looked_at_once_for_all_calls_of_its_methods(
    read: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = list[str]()
    plain = classes._odd

    def counted(node: Node, decl: Node, lives: bool) -> str:
        looked.append(f"{decl.name} {lives}")
        return plain(node, decl, lives)

    monkeypatch.setattr(classes, "_odd", counted)
    read(
        "struct P { int v; __device__ int get() const { return v; } };\n"
        "__global__ void k(int *A) { P p; p.v = 1; A[0] = p.get() + p.get(); A[1] = p.get(); }"
    )
    assert sorted({*looked}) == sorted(looked)
    assert "P True" in looked
