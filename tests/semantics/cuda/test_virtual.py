"""Virtual functions: which one is called, of objects of one thread and in memory, and what finding it costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.native import COMPILER, differences
from tests.semantics.cuda.test_heap import Allocating

Reader = Callable[..., Reading]

BEFORE = """
#include <new>
__device__ int tally;
struct P { int a, b; };
struct Shape { int id; __device__ Shape(int i) : id(i) {} __device__ virtual int area() const = 0;
  __device__ virtual void grow(int f) { id += f; } __device__ int twice() const { return 2 * area(); }
  __device__ virtual P pair() { return P{id, 1}; } __device__ virtual int *at(int i) { return new int(id + i); }
  __device__ virtual void touch() {} __device__ void all() { touch(); }
  __device__ int calls() { grow(1); return this->area(); } __device__ virtual ~Shape() {} };
struct Circle : Shape { int r; __device__ Circle(int i, int r) : Shape(i), r(r) {}
  __device__ int area() const override { return 3 * r * r; } __device__ void grow(int f) override { r *= f + 1; }
  __device__ void touch() override { r += 7; }
  __device__ P pair() override { if (r > 2) return P{r, id}; return P{id, r}; } };
struct Square : Shape { int a; __device__ Square(int i, int a) : Shape(i), a(a) {} __device__ int area() const final;
  __device__ int *at(int i) override { return new int(a * i); } };
__device__ int Square::area() const { return a * a; }
struct Rect final : Square { int b = 4; __device__ Rect(int i, int a) : Square(i, a) { b += Shape::id; }
  __device__ void grow(int f) override { Square::grow(f); b += f; }
  __device__ P pair() override { return P{b, Shape::pair().a}; } };
struct Tag { };
struct Op : Tag { __device__ virtual int operator()(int a, int b) const { return a - b; } };
struct Add : Op { int k = 2; __device__ int operator()(int a, int b) const override { return a + b + k; } };
template <class T> struct Base { T v; __device__ Base(T x) : v(x) {} __device__ virtual T get() const { return v; } };
struct Twice : Base<int> { __device__ Twice(int x) : Base<int>(x) {} __device__ int get() const { return 2 * v; } };
__device__ int fold(const Op &f, int *p, int n) { int s = 1; for (int i = 0; i < n; i++) s = f(s, p[i]); return s; }
__device__ Shape *make(int i, int n) { if (i == 0) return new Circle(i, n); if (i == 1) return new Square(i, n);
  return new Rect(i, n); }
struct Log { int *p; __device__ Log(int *q) : p(q) {} __device__ virtual ~Log() { *p += 1; } };
struct Loud : Log { int k; __device__ Loud(int *q) : Log(q), k(7) {} __device__ ~Loud() override { p[1] += k; } };
struct Early { int k; __device__ Early() : k(1) { set(3); } __device__ virtual void set(int v) { k += v; } };
struct Later : Early { __device__ Later() { set(5); } __device__ void set(int v) override { k *= v + 7; } };
template <class T> struct Box { T v; __device__ Box(T x) : v(x) {} __device__ virtual T get(T x) = 0;
  __device__ virtual const T *at(const T *p, T &q) const { q += 2; return p; }
  __device__ virtual ~Box() { tally += v; } __device__ int both(T x) { T y = get(x); return y * 10 + get(x + 1); } };
template <class T> class Sum : public Box<T> { T w; public: __device__ Sum(T x, T w) : Box<T>(x), w(w) {}
  __device__ T get(T x) override { return x + w + this->v; } __device__ T get(T x, int y) { return 7; } };
template <class A> struct Last : Box<A> { __device__ Last(A x) : Box<A>(x) {} __device__ ~Last() { tally += 5; }
  __device__ A get(A x) { A y = this->v; this->v = x; return y; }
  __device__ const A *at(const A *p, A &q) const override { q = *p; return p + 1; } };
template <class T> struct Lost final : Last<T> { __device__ Lost(T x) : Last<T>(x + 1) {}
  __device__ T get(T x) override { return Last<T>::get(x) * 2; } };
struct Fixed : Sum<int> { __device__ Fixed() : Sum<int>(3, 4) {} __device__ int get(int x) override { return x - w(); }
  __device__ int w() const { return v; } };
template <class T> __device__ Box<T> *box(int i, T n) { if (i == 0) return new Sum<T>(n, 2);
  if (i == 1) return new Last<T>(n); return new Lost<T>(n); }
struct Has { int x; Circle c; Add add; __device__ Has(int n) : x(n), c(n, 2) {} };
"""

BODIES = [
    "Circle c(1, n); Square q(2, 3); Rect r(n, 5); A[0] = c.area() + q.area() * 100; A[1] = r.area() + r.b;",
    "Circle c(1, n); Shape *p = &c; Shape &q = c; p->grow(2); A[0] = q.area(); A[1] = p->twice(); A[2] = c.calls();",
    "Rect r(n, 5); Shape *p = &r; Square &s = r; p->grow(2); s.Shape::grow(100); A[0] = r.b * 1000 + r.id + s.area();",
    "Rect r(n, 5); Circle c(2, 9); Shape *p = &r; A[0] = p->pair().a + c.pair().b * 100; A[1] = *p->at(9);",
    "Circle c(n, 1), d = c; d.grow(4); c = d; Shape &s = c; A[0] = s.area(); A[1] = c.id;",
    "Circle c(1, n), d = c; int y = d.r, &x = A[d.r]; d.all(); x = d.r * 10 + y + c.r;",
    "Add add; add.k = 5; Op op; A[0] = fold(add, A, 4); A[1] = fold(op, A, 4); A[2] = add(n, 1) - op(n, 1);",
    "Twice t(n); Base<int> &b = t, c(4); A[0] = b.get() + c.get() * 10; A[1] = b.Base<int>::get();",
    "for (int i = 0; i < 3; i++) { auto s = make(i, n); s->grow(2); A[i] = s->area(); A[i+4] = s->twice(); delete s; }",
    "for (int i = 0; i < 3; i++) { auto s = make(i, n); P p = s->pair(); A[i] = p.a + 9 * p.b; A[9 + *s->at(n)] = 7; }",
    "Shape *s[3]; for (int i = 0; i < 3; i++) s[i] = make(i, 4); for (int i = 0; i < 3; i++) A[i] = s[i]->calls();",
    "Shape *s = new Circle(n, 2); A[0] = s->area(); Square *q = new Rect(1, n); q->grow(3); A[1] = q->area() + q->id;",
    "Has *h = new Has(n); Shape *s = &h->c; const Op &f = h->add; s->grow(2); A[0] = s->area() + f(1, n) + h->x;",
    "Circle *c = new Circle(1, n); Shape *s = new Circle(*c); s->grow(1); *c = Circle(7, 2); A[0] = s->area() + c->id;",
    "int *q = new int[9](); Log *a = new Loud(q), *b = nullptr; if (n) a = new Log(q); delete a; delete b; *A = *q;",
    "int *q = new int[9](); { Loud l(q); Log *b = &l; b->p += 2; } A[0] = q[2] + 9 * q[3]; delete new Loud(q);",
    "Op *op[2] = {new Op, new Add()}; A[0] = fold(*op[0], A, n) + (*op[1])(n, 5); A[1] = fold(*op[n & 1], A, n);",
    "Early *e = new Later; A[0] = e->k; e->set(2); A[1] = e->k; Early *f = new Early; f->set(2); A[2] = f->k;",
    "for (int i = 0; i < 3; i++) { auto b = box<int>(i, n); A[i] = b->get(4); A[i+3] = b->both(2); A[i+6] = b->v; }",
    "for (int i = 0; i < 3; i++) { int q = 1; auto p = box(i, n)->at(new int[2](), q); A[i] = *p + 10 * q; }",
    "Box<int> *b = new Fixed; A[0] = b->get(n); A[1] = b->both(2); Box<long> *c = new Lost<long>(n); A[2] = c->get(3);",
    "Lost<int> l(n); Box<int> &b = l; Last<int> &m = l; A[0] = b.get(3); A[1] = m.get(4); A[2] = b.both(1);",
    "tally = 0; for (int i = 0; i < 3; i++) { Box<int> *b = box(i, i + n); delete b; } A[0] = tally;",
    "A[0] = fold(Add(), A, 4) + fold(Add{}, A, n); const Op &f = Add(); A[1] = f(n, 2) + fold(Op(), A, 3);",
    "const Shape &s = Circle(n, 2); Base<int> &&b = Twice(n); A[2] = s.area() + s.id; A[3] = b.get() * b.v;",
    "bool first = threadIdx.x & 1; Shape *s = first ? make(0, 2) : make(2, 3); A[0] = s->area() + s->id;",
]  # fmt: skip


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Reader, tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path, machine=Allocating) == []


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_a_function_that_using_names_may_not_be_the_one_that_is_called(read: Reader, tmp_path: Path) -> None:
    """The one that is named changes nothing, the one that is called does: what was kept of the object is gone."""
    before = """struct B { int x; __device__ B(int v) : x(v) {} __device__ virtual void f() {} };
    struct C : B { using B::B; __device__ void f() override { x += 7; } };
    struct D : C { using B::f; __device__ D(int v) : C(v) {} };"""
    body = "D c(n), d = c; int y = d.x, &z = A[d.x]; d.f(); z = d.x * 10 + y + c.x;"
    assert differences(read, before, [body], tmp_path) == []


def test_a_call_reads_the_class_of_an_object_and_a_table_for_each(read: Reader) -> None:
    reading = read(f"{BEFORE}__global__ void k(Shape **s, int *A) {{ s[A[0]]->grow(A[1]); }}", "k")
    assert show_stmt(reading.kernel.body).split("\n") == [
        "object <- s[A[0]];",
        "t <- memory.int64[object];",
        "if (t == 0) {",
        "  t_1 <- class_tables[0];",
        "  f <- A[1];",
        "  memory.int32[3 + object * 2] <- memory.int32[3 + object * 2] * (f + 1);",
        "} else {",
        "  if (t == 1) {",
        "    t_2 <- class_tables[32];",
        "    f_1 <- A[1];",
        "    memory.int32[2 + object * 2] <- memory.int32[2 + object * 2] + f_1;",
        "  } else {",
        "    t_3 <- class_tables[64];",
        "    f_2 <- A[1];",
        "    f_3 <- f_2;",
        "    memory.int32[2 + object * 2] <- memory.int32[2 + object * 2] + f_3;",
        "    memory.int32[4 + object * 2] <- memory.int32[4 + object * 2] + f_2;",
        "  }",
        "}",
    ]
    assert "an object in memory that is used as a 'Shape' is one of: Circle, Square, Rect" in reading.notes
    assert (
        "a virtual call reads 8 bytes of the object, and 8 of a table in global memory for each class" in reading.notes
    )


def test_classes_with_one_function_have_one_branch(read: Reader) -> None:
    text = show_stmt(read(f"{BEFORE}__global__ void k(Shape **s, int *A) {{ A[0] = *s[0]->at(3); }}", "k").kernel.body)
    assert text.count("if (") == 1, text
    assert "class_tables[t * 32]" in text, text


def test_objects_in_memory_are_marked_with_their_class(read: Reader) -> None:
    """By each constructor, the base class first; a copy keeps what it is assigned to."""
    body = "Circle *c = new (s) Circle(1, 2); *c = s[1];"
    text = show_stmt(read(f"{BEFORE}__global__ void k(Circle *s) {{ {body} }}", "k").kernel.body)
    assert [line for line in text.split("\n") if "class" in line] == ["s.class[0] <- 0;", "s.class[0] <- 1;"], text


def test_copies_leave_the_class_alone(read: Reader) -> None:
    before = "struct alignas(16) S { int a, b; __device__ virtual int f() { return a; } };"
    text = show_stmt(read(f"{before} __global__ void k(S *s) {{ s[0] = s[1]; }}", "k").kernel.body)
    assert text == "t <- s.a[1];\nt_1 <- s.b[1];\ns.a[0] <- t;\ns.b[0] <- t_1;", text


def test_a_call_may_do_what_any_class_does(read: Reader) -> None:
    """What is kept of an object over a call that one class leaves alone and another one changes, is read again."""
    source = """struct B { int x = 1; __device__ virtual void f() {} __device__ virtual int g() = 0; };
    struct D : B { __device__ void f() override { x = 5; } __device__ int g() override { return x++; } };
    __device__ int both(D &d, B &b) { int y = d.x; b.f(); y = y * 10 + d.x; return y + 100 * b.g(); }"""
    reading = read(f"{source} __global__ void k(int *A) {{ D d; A[0] = both(d, d); A[1] = d.x; }}", "k")
    text = show_stmt(reading.kernel.body)
    assert text.count("d_1.x <- ") == 3, text
    with pytest.raises(CudaError):
        read(f"{source} __global__ void k(int *A) {{ D d; B &b = d; A[0] = b.g() + d.x; }}", "k")


@pytest.mark.parametrize(("other", "mine"), [("&&", "&"), ("volatile", ""), ("&& noexcept", "&")])
def test_an_override_has_the_qualifiers_of_what_it_overrides(read: Reader, other: str, mine: str) -> None:
    source = f"""struct B {{ __device__ virtual int f() {other} {{ return 1; }}
    __device__ virtual int f() {mine} {{ return 2; }} }};
    struct D : B {{ __device__ int f() {other} override {{ return 3; }}
    __device__ int f() {mine} noexcept(true) override {{ return 4; }} }};
    struct Some : B {{ __device__ int f() {other} override {{ return 5; }} }};
    __global__ void k(int *A) {{ D d; B &b = d; A[0] = b.f(); Some s; B &t = s; A[1] = t.f(); }}"""
    text = show_stmt(read(source, "k").kernel.body)
    assert "<- 4" in text, text
    assert "<- 2" in text, text


def test_an_override_is_found_through_classes_without_one_and_spelled_otherwise(read: Reader) -> None:
    source = """using T = int;
    struct B { __device__ virtual int f(T x, const int *p) { return 1; } };
    struct Middle : B { __device__ int f(int, int const *) override; };
    struct Plain : Middle {};
    struct D : Plain { using Number = T; __device__ int f(const Number n, const T p[4]) override { return 3; } };
    __device__ int Middle::f(int x, const int *p) { return 2; }
    __global__ void k(int *A) { Plain m; D d; B &b = m, &c = d; A[0] = b.f(0, A); A[1] = c.f(0, A); }"""
    written = [line for line in show_stmt(read(source, "k").kernel.body).splitlines() if line.startswith("A[")]
    assert written == ["A[0] <- 2;", "A[1] <- 3;"]


def test_kernels_have_no_dynamic_cast(read: Reader) -> None:
    body = "Circle *c = dynamic_cast<Circle *>(s[0]); A[0] = c ? c->r : 0;"
    with pytest.raises(CudaError, match="'dynamic_cast' as a pointer is not supported") as caught:
        read(f"{BEFORE}__global__ void k(Shape **s, int *A) {{ {body} }}", "k")
    assert caught.value.advice == "Kernels have none: ask the object by a virtual function."


DERIVING = {
    "A<int>::Node": "template <class T> struct A { struct Node { F }; struct Leaf : Node {}; };",
    "A<int>": "template <> struct A<int> { F }; template <class T> struct B : A<T *>, A<T> {};",
    "A<int *>": "template <class T> struct A<T *> { F }; template <class T, int> struct B : public ::A<T> {};",
    "A<bool>": "template <class T> struct B : A<T> {}; template <> struct B<bool> {};",
    "A<double>": "template <class T> struct B {}; template <class T> struct B<T *> : A<T> {};",
    "A<const P *>": "struct P {}; namespace n { struct P {}; template <class T> struct B : A<const T *> {}; }",
    "A<long>": "template <class T> using C = A<T>; template <class T> struct B : C<T> {};",
    "A<char>": "template <class T> struct C { using D = A<T>; }; template <class T> struct B : C<T>::D {};",
    "A<short>": "template <template <class> class T> struct B : T<short> {};",
    "A<unsigned>": "template <class... T> struct B : A<T>... {};",
    "A<char *>": "\n#define PACK ...\ntemplate <class PACK T> struct B : A<T> PACK {};\n",
    "A<float>": "template <class T, int = (sizeof(T) > 4)> struct C { F }; template <class T> struct B : C<T> {};",
}


@pytest.mark.parametrize("of", DERIVING)
def test_templates_of_classes_that_may_derive_from_one_are_found(read: Reader, of: str) -> None:
    """Also from what is a part of an instance, or a specialisation, and under another name; others do not matter."""
    before = "" if "Node" in of else "template <class T> struct A { F };"
    source = f"{before}{DERIVING[of]} __global__ void k({of} **s, int *A) {{ A[0] = s[0]->f(); }}"
    source = source.replace("F }", "__device__ virtual int f() { return 1; } }")
    if of == "A<float>":
        assert "A[0] <- 1;" in show_stmt(read(source, "k").kernel.body)
        return
    with pytest.raises(CudaError, match="from which a template of classes may derive"):
        read(source, "k")


@pytest.mark.parametrize(
    "deriving",
    [
        "template <class T> struct B { struct I; }; template <class T> struct B<T>::I : A<T> {};",
        "template <class T> struct B { struct M { struct I; }; }; template <class T> struct B<T>::M::I : A<int> {};",
        "template <class T> struct B { void f(); }; template <class T> void B<T>::f() { struct L : A<int> {}; }",
        "template <class T> struct B { B(); }; template <class T> B<T>::B() { auto f = [] { struct L : A<int> {}; }; }",
        "void f() { auto g = [](auto x) { struct L : A<int> {}; return x; }; }",
        "void f() { auto g = []<class T>(int x) { struct L : A<int> {}; return x; }; }",
    ],
)
def test_classes_are_other_ones_in_each_instance_of_what_they_stand_in(read: Reader, deriving: str) -> None:
    """A member of a template has instances also where it is defined outside of it; a lambda of any type has them."""
    before = "template <class T> struct A { __device__ virtual int f() { return 1; } };"
    with pytest.raises(CudaError, match="from which a template of classes may derive"):
        read(f"{before}{deriving} __global__ void k(A<int> **s, int *A) {{ A[0] = s[0]->f(); }}", "k")


def test_a_specialisation_of_a_member_has_one_class(read: Reader) -> None:
    before = """struct A { __device__ virtual int f() { return 1; } }; template <class T> struct B { A *f(); };
    template <> A *B<int>::f() { struct L : A { __device__ int f() override { return 2; } }; return new L; }\n"""
    assert "2;" in show_stmt(
        read(f"{before} __global__ void k(A **s, int *A) {{ A[0] = s[0]->f(); }}", "k").kernel.body
    )


REFUSED = {
    "A[0] = l->f();": "the recursive function 'f' is not supported",
    "M<int> m; T &t = m; A[0] = t.f() + m.f();": "",
    "Q<int> q; T &t = q; A[0] = t.f();": "the function 'f' of 'Q', an instance of a template, is not supported",
    "O<int> o; T &t = o; A[0] = t.f();": "the function 'f' of 'O', an instance of a template, is not supported",
    "T *t = (T *)A; A[0] = t->f();": "a virtual function of 'T', from which a template of classes may derive,",
    "A[0] = p_n->f();": "an object of 'N', from which this file derives no class, is not supported",
    "A[0] = two->g();": "the base class 'Second', which may begin anywhere in 'Two', is not supported",
    "A[0] = b->x;": "the base class 'Data', which may begin anywhere in 'Behind', is not supported",
    "Early e; A[0] = e.x;": "a virtual function of this object is not supported",
    "Early *e = new Early; A[0] = e->x;": "",
    "Late *p = new Late; delete p;": "a virtual function of this object is not supported",
    "S s[2]; A[0] = s[n].f();": "an array of 'S', which has functions of its own, is not supported",
    "A[0] = known(*s);": "the function 'known' has no body in this file",
    "A[0] = r->f();": "the function 'f' of 'R' has no body in this file",
    "A[0] = v->x;": "the base class 'S', which may begin anywhere in 'V', is not supported",
    "V w; A[0] = w.x;": "a base class in 'V'",
    "H h; A[0] = h.f();": "use of undeclared identifier 'gone'",
    "A[0] = (A[1] = 5) + reads->f();": "changed and used in one expression",
    "delete dies;": "use of undeclared identifier 'gone'",
    "A[0] = g->f();": "use of undeclared identifier 'gone'",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(read: Reader, body: str) -> None:
    before = """struct S { int x; __device__ virtual int f() { return 1; } }; __device__ int known(S s);
    struct L { L *next; __device__ virtual int f() { return 1; } };
    struct More : L { __device__ int f() override { return next->f(); } };
    struct T { __device__ virtual int f() { return 1; } };
    template <class X> struct M : T { __device__ int f() override { return 2; } };
    template <class X> class O : public T { __device__ int f() override { return 2; } };
    template <class X> struct Q : T { __device__ int f() const { return 2; } };
    struct N { __device__ virtual int f() = 0; };
    struct First { int x; __device__ virtual int f() { return 1; } };
    struct Second { __device__ virtual int g() { return 2; } }; struct Two : First, Second {};
    struct Data { int x; }; struct Behind : Data { __device__ virtual int f() { return 2; } };
    struct Early { int x; __device__ Early() { x = f(); } __device__ virtual int f() { return 1; } };
    struct Late { int x; __device__ virtual int f() { return 1; } __device__ virtual ~Late() { x = f(); } };
    struct R { __device__ virtual int f(); }; struct V : virtual S {};
    struct G { __device__ virtual int f() { return 1; } }; struct H : G { __device__ int f() { return gone; } };
    struct Any { int *p; __device__ virtual int f() = 0; };
    struct Reads : Any { __device__ int f() override { return *p; } };
    struct Dies { __device__ virtual ~Dies() {} }; struct Wrong : Dies { __device__ ~Wrong(); };
    __device__ Wrong::~Wrong() { gone = 1; } __device__ Any *reads; __device__ Dies *dies;
    __device__ L *l; __device__ N *p_n; __device__ Two *two; __device__ Behind *b; __device__ R *r; __device__ V *v;
    __device__ S *s; __device__ G *g;\n"""
    source = f"{before} __global__ void k(int *A, int n) {{ {body} }}"
    if not REFUSED[body]:
        read(source, "k")
        return
    with pytest.raises(CudaError) as caught:
        read(source, "k")
    assert REFUSED[body] in caught.value.message
