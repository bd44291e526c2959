"""Memory that a thread asks for: malloc, new, free, delete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import Expr, Op, show_stmt
from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.lowered import Lowered
from tests.semantics.cuda.native import COMPILER, differences

Reader = Callable[..., Reading]

BEFORE = """
#include <new>
struct P { int a, b; };
struct Node { int v; Node *next; __device__ Node(int x, Node *n) : v(x), next(n) {} };
struct Start { int a = 3; int b = 4; };
template <class T> __device__ T *many(int n) { return new T[n]; }
"""

BODIES = [
    "int *p = (int *)malloc(n * sizeof(int)); if (p == NULL) return; p[0] = 4; p[n - 1] = 6; A[0] = p[0] + p[2];",
    "int *p = new int[n], *q = new int[2]; for (int i = 0; i < n; i++) p[i] = i; q[1] = 7; A[0] = p[2] * 10 + q[1];",
    "int *p = new int(5), *q = new int(); *q += *p; A[0] = *q; delete p; delete q;",
    "Node *h = nullptr; for (int i = 0; i < n; i++) h = new Node(i, h); for (; h; h = h->next) A[h->v] = h->v;",
    "new (A + n) int(7); int *p = ::new ((void *)&A[1]) int(); *p += 4; new (A + 2) int; new (&B[n]) int{5};",
    "P *m = new P[3]; P *p = new (m + 1) P{n, 2}; p->b++; new (&m[2]) P(); A[0] = m[1].a * 10 + m[1].b; A[1] = m[2].a;",
    "Start s; s.a = 0; Start *p = new (&s) Start(); p->b += n; A[0] = s.a * 10 + s.b;",
    "P *p = new P(), *q = ::new P(); A[0] = p->a + q->b; p->b = 3; A[1] = p->b;",
    "int *p = new int[4]{n, 2}, *q = new int[3]; p[1] += p[0]; A[0] = p[1] * 10 + p[3]; q[0] = 1; A[1] = q[0];",
    "int *p = new int[2](); short *q = new short[3]{1, (short)(n * 40000), 3}; A[0] = p[1] + q[1]; delete[] p;",
    "P *p = new P{1, n}; P *q = new P; q->a = p->b; *p = P{q->a, 9}; A[0] = p->a * 10 + p->b;",
    "Start *s = new Start; A[1] = s->a * 10 + s->b; s = new Start(); delete s;",
    "int *p = many<int>(n); p[1] = 8; int **r = new int *[2]; r[1] = p + 1; A[0] = *r[1]; delete[] r;",
    "int *p = static_cast<int *>(std::malloc(8)); p[1] = threadIdx.x; int *q = p; q++; A[0] = *q; std::free(p);",
]  # fmt: skip


class Allocating(Lowered):
    """The same, with another address for each allocation."""

    def value(self, e: Expr) -> int | bool:
        match e:
            case Op("int", (Op("call:allocated"),)):
                self.names["allocations"] = int(self.names.get("allocations", 0)) + 1
                return 1000 * int(self.names["allocations"])
        return super().value(e)


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Reader, tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path, machine=Allocating) == []


def test_what_is_assumed(read: Reader) -> None:
    notes = read("__global__ void k(int *A) { int *p = new int; *p = 1; A[0] = *p; delete p; }").notes
    assert notes[0] == "what it takes to allocate memory is not counted; it is aligned to 16 bytes"
    assert "what it takes to free memory is not counted" in notes


def test_kernels_may_allocate_by_what_hosts_do(read: Reader) -> None:
    text = """struct S { int n; int *p; };
    __global__ void k(S *s, int *A) {
      int *q, i = threadIdx.x;
      if (cudaMalloc(&q, 8) == cudaSuccess) q[1] = i;
      cudaMalloc((void **)&s[i].p, s[i].n * sizeof(int));
      s[i].p[2] = q[0];
      if (cudaFree(q) != cudaSuccess) A[i] = 1;
    }
    int main() { S *s; int *a; cudaMalloc(&s, 8); cudaMalloc((void **)&a, 4); k<<<4, 64>>>(s, a); cudaFree(s); }"""
    found = read(text, "k")
    assert found.block == (64, 1, 1)
    assert "it is aligned to 16 bytes" in found.notes[0]


REFUSED = {
    "int *p = new int[n]{1, 2};": "an array of 'new' with values is not supported",
    "int *p = new int[n]();": "an array of 'new' with values is not supported",
    "Start *p = new Start[2]; A[0] = p->a;": "an array of 'new' with values is not supported",
    "D *d = new D[2]; delete[] d;": "the destructors of an array of 'D'",
    "int *p = new (A) int[3];": "an array of 'new' at a place is not supported",
    "V *v = new W; new (v) X;": "an object of another class where one was made is not supported",
    "Own *p = new (A) Own; A[0] = p->a;": "this 'new' is not supported",
    "Less *p = new Less; A[0] = p->a;": "this 'new' is not supported",
    "Calls *p = new Calls; A[0] = p->k;": "the initialiser of 'k' is not supported",
    "Bits *p = new Bits; A[0] = p->a;": "the initialiser of 'a' is not supported",
}


def test_an_object_that_is_made_with_parentheses_is_zero_and_paid_for(read: Callable[..., Reading]) -> None:
    reading = read("struct P { int a, b; }; __global__ void k(P *p) { new (p) P(); new (p + 1) P; new (p + 2) P{}; }")
    assert show_stmt(reading.kernel.body).split("\n") == [f"p.{f}[{i}] <- 0;" for i in (0, 2) for f in "ab"]


FIELDS = {
    "D d; int k; __device__ S() : d(), k(2) {}": ["s.d.a[0] <- 0;", "s.d.b[0] <- 0;", "s.k[0] <- 2;"],
    "D d{}; int k = 2;": ["s.d.a[0] <- 0;", "s.d.b[0] <- 0;", "s.k[0] <- 2;"],
    "D d = D(); __device__ S() {}": ["s.d.a[0] <- 0;", "s.d.b[0] <- 0;"],
    "D d; int k; __device__ S() : k(2) {}": ["s.k[0] <- 2;"],
    "F f; __device__ S() : f{} {}": ["s.f.a[0] <- 3;", "s.f.b[0] <- 0;"],
    "C c; __device__ S() : c() {}": ["s.c.a[0] <- 1;"],
    "H h; __device__ S() : h() {}": ["s.h.c.a[0] <- 0;", "s.h.b[0] <- 0;", "s.h.c.a[0] <- 1;"],
}


@pytest.mark.parametrize("fields", FIELDS)
def test_a_field_that_is_given_no_more_than_parentheses_is_zero(read: Callable[..., Reading], fields: str) -> None:
    before = """struct D { int a, b; }; struct F { int a = 3; int b; }; struct C { int a; __device__ C() : a(1) {} };
    struct H { C c; int b; };"""
    reading = read(f"{before} struct S {{ {fields} }}; __global__ void k(S *s) {{ new (s) S; }}")
    assert show_stmt(reading.kernel.body).split("\n") == FIELDS[fields]


def test_memory_of_another_type_holds_what_is_made_there(read: Callable[..., Reading]) -> None:
    body = "__shared__ char s[sizeof(C)]; C *p = new (s) C(A[0]); A[1] = p->a;"
    reading = read(f"struct C {{ int a; __device__ C(int x) : a(x) {{}} }}; __global__ void k(int *A) {{ {body} }}")
    assert show_stmt(reading.kernel.body) == "x <- A[0];\ns.as_C.a[0] <- x;\nA[1] <- s.as_C.a[0];"


PARTS = {
    "a field": "struct S { In i; int z; };",
    "a base": "struct S : In { int z; };",
    "a field of a base": "struct B { In i; }; struct S : B {};",
    "a constructor of a field": "struct S { Made m; int z; };",
    "a constructor of a base": "struct S : Made { int z; };",
}


@pytest.mark.parametrize("name", PARTS)
def test_what_parts_of_structures_are_made_with_is_paid_for(read: Callable[..., Reading], name: str) -> None:
    """Each of two elements of an array reads A once: where one thread has it, where a structure has it as a field that
    is given no value, and where memory does; `new` of an array is refused."""
    before = "__device__ int A[9]; struct In { int x = A[3]; }; struct Made { int x; __device__ Made() { x = A[3];"
    before += f" }} }}; {PARTS[name]} struct Q {{ S s[2]; __device__ Q() {{}} }};"
    bodies = ["S s[2]; B[0] = 1;", "Q q; B[0] = 1;", "Q *q = new Q; B[0] = 1;", "S s[2] = {}; B[0] = 1;"]
    for body in bodies[: 3 if "constructor" in name and "base" in name else 4]:
        text = show_stmt(read(f"{before} __global__ void k(int *B) {{ {body} }}", "k").kernel.body)
        assert text.count("A[3]") == 2, (body, text)
    with pytest.raises(CudaError, match="an array of 'new' with values"):
        read(f"{before} __global__ void k(int *B) {{ S *s = new S[2]; B[0] = 1; }}", "k")


LISTS = {
    "Made m[3] = {{}, Made()};": 3,
    "In m[2][2] = {{{}}};": 4,
    "In m[3] = {{A[4]}, In{A[4]}};": 1,
    "struct { In i; int z; } m[2] = {{{}, 1}};": 2,
}


@pytest.mark.parametrize("list_", LISTS)
def test_what_a_list_leaves_out_of_structures_is_made(read: Callable[..., Reading], list_: str) -> None:
    before = "__device__ int A[9]; struct In { int x = A[3]; }; struct Made { int x; __device__ Made() { x = A[3]; } };"
    text = show_stmt(read(f"{before} __global__ void k(int *B) {{ {list_} B[0] = 1; }}", "k").kernel.body)
    assert text.count("A[3]") == LISTS[list_], text


OWN_DELETE = {
    "of its class": ("struct T { int v; OPERATOR(void *p) { BODY } };", "T"),
    "of its class, with the size": ("struct T { int v; OPERATOR(void *p, size_t n) { BODY } };", "T"),
    "of a base class": ("struct S { OPERATOR(void *p) { BODY } }; struct T : S { int v; };", "T"),
    "of a class with a destructor": ("struct T { int v; __device__ ~T() { v = 0; } OPERATOR(void *p) { BODY } };", "T"),
    "of a class that derives from it": (
        "struct T { __device__ virtual ~T() {} }; struct S : T { OPERATOR(void *p) { BODY } };",
        "T",
    ),
    "of a template": ("template <class X> struct T { X v; OPERATOR(void *p) { BODY } };", "T<int>"),
    "of all types": ("OPERATOR(void *p) { BODY }", "int"),
}


@pytest.mark.parametrize("name", OWN_DELETE)
def test_an_operator_delete_of_the_users_is_not_left_out(refused: Callable[[str, str], None], name: str) -> None:
    classes, t = OWN_DELETE[name]
    static = "" if t == "int" else "static "
    text = classes.replace("OPERATOR", f"{static}__device__ void operator delete").replace("BODY", "B[0] = 1;")
    refused(
        f"__device__ int B[9]; {text}__global__ void k({t} **p) {{ delete p[0]; }}", "this 'delete', which may call"
    )


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    dies = "struct D { int x; __device__ ~D() { x = 0; } };\n"
    dies += "struct V { __device__ virtual ~V() {} }; struct W : V { int *p; __device__ ~W() { *p = 1; } };\n"
    dies += "struct Own { int a; __device__ void *operator new(size_t, void *p) { return (int *)p + 2; } };\n"
    dies += "struct Base { __device__ void *operator new(size_t n) { return malloc(n + 4); } };\n"
    dies += "struct Less : Base { int a; }; struct X : V { int k; }; struct Bits { unsigned a : 3 = 5; };\n"
    dies += "struct Calls { __device__ int f() { return 1; } int k = f(); };\n"
    refused(f"{BEFORE}{dies}__global__ void k(int *A, int n) {{ {body} }}", REFUSED[body])
