"""Pointers to functions that are declared, chosen from a table or by `?:`, as a host compiler has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
typedef int (*Op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int mul(int a, int b) { return a * b; }
__device__ int sub(int a, int b) { if (a < b) return b - a; return a - b; }
__device__ int by(Op f, int x) { return f(x, 5) * 100 + f(x + 1, x); }
__device__ void put(int *p, int x) { *p = x; }
__device__ void twice(int *p, int x) { p[0] = x; p[1] += x; }
__device__ Op table[] = {add, &mul, sub};
__constant__ Op fixed[2] = {mul, add};
__device__ Op one = sub;
__device__ void (*puts_[2])(int *, int) = {put, twice};
__device__ Op holes[4] = {nullptr, add, NULL, mul}; __device__ Op ends[] = {sub, mul, 0};
static const Op kept[3] = {sub, add, mul};
__device__ int fold(Op f, int *p, int n) { int s = 1; for (int i = 0; i < n; i++) s = f(s, p[i]); return s; }
enum Kind { ADD, MUL, SUB };
constexpr __device__ Op named(Kind k) {
  switch (k) { case ADD: return add; case MUL: return mul; default: return sub; } }
constexpr __device__ Op picked(int k) { return k == 0 ? add : k == 1 ? mul : sub; }
template <int k> __device__ int by(int a, int b) { constexpr Op f = picked(k); return f(a, b); }
template <Kind k> __device__ int known(int a, int b) { constexpr Op f = named(k); return f(a, b) + named(MUL)(a, b); }
"""

BODIES = [
    "Op f = [](int a, int b) { return a * 10 + b; }; A[0] = f(n, 4); A[1] = by([](int a, int b) { return a - b; }, n);",
    (
        "A[0] = by(+[](int a, int b) { int s = 0; for (int i = 0; i < b; i++) { if (i == a) return s; s += i; } "
        "return s; }, n); void (*f)(int *, int) = [](int *p, int x) { *p += x; }; int s = 1; f(&s, n); f(A + 1, s); "
        "A[2] = s;"
    ),
    "A[0] = table[1](n, 5) + table[0](n, 5); A[1] = (*table[2])(n, 7); A[2] = fixed[0](n, n);",
    "A[0] = table[threadIdx.x % 3](n, 5);",
    "A[0] = table[A[threadIdx.x] % 3](A[n], A[5]) + 1; A[1] = fixed[threadIdx.x & 1](n, 4);",
    "puts_[threadIdx.x & 1](A + 4, n); puts_[1](A + 8, n); (*puts_[n == 3])(A, 7);",
    "for (int i = 0; i < 3; i++) A[i] = table[i](A[i + 1], i);",
    "Op f = table[threadIdx.x % 3]; A[0] = f(1, 2); A[1] = f(n, n); int t = 2; A[2] = table[t](4, 9);",
    "Op f = threadIdx.x ? add : mul; A[0] = f(n, 7); A[1] = f(2, 4) - (n > 5 ? sub : mul)(2, 4);",
    "A[0] = one(n, 9); A[1] = fold(one, A, n) + fold(add, A, 4); A[2] = fold(table[threadIdx.x % 3], A, 3);",
    "const Op t[2] = {mul, sub}; A[0] = t[0](n, 2) + t[threadIdx.x & 1](n, 9);",
    "static const Op u[] = {add}; A[1] = u[0](1, n);",
    "if (table[1] != nullptr) A[0] = 4; if (!one) A[1] = 5; A[2] = kept[1](n, 3);",
    "Op f = holes[threadIdx.x]; if (f) A[0] = f(n, 5); A[1] = holes[1](n, 4); if (holes[3]) A[2] = holes[3](n, 7);",
    "if (!holes[2]) A[2]++; int i = threadIdx.x; if (holes[i] != NULL) A[3] = holes[i](1, n); if (!holes[i]) A[4]++;",
    "int i = threadIdx.x % 3; A[1] = ends[i] ? ends[i](n, 9) : 70; A[2] = ends[n - 3](n, 8);",
    "Op f = add; if (n == threadIdx.x + 1) f = mul; A[0] = f(n, 5); f = sub; A[1] = f(n, 9) + fold(f, A, 3);",
    (
        "Op f; for (int i = 0; i < n; i++) { f = i == threadIdx.x ? &mul : sub; A[i] = f(i, 7); "
        "if (i) f = add; A[8] = f(n, i); }"
    ),
    (
        "Op f = add, g = f; if (n) f = mul; A[0] = g(n, 7) + 100 * f(n, 7); auto h = [&] { f = sub; }; h(); "
        "A[1] = f(1, n);"
    ),
    "A[0] = by<0>(n, 4) + by<1>(n, 4) * 100; A[1] = by<2>(n, 9); A[2] = known<ADD>(n, 4) + known<SUB>(n, 9) * 100;",
]


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []


def test_lanes_with_functions_of_their_own_part(read: Callable[..., Reading]) -> None:
    source = f"{BEFORE}__global__ void k(int *A, int n) {{ A[0] = table[n](1, n); }}"
    reading = read(source, "k")
    text = show_stmt(reading.kernel.body)
    assert text.count("if (n == 0)") == 1, text
    assert text.count("if (n == 1)") == 1, text
    assert "if (n == 2)" not in text, text
    assert "'table' holds the functions that it is declared with" in reading.notes


FILLED = """
typedef int (*Op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int called(int a, int b) { return a % b; }
__device__ int mul(int a, int b) { return called(a, 1) * b; }
__device__ long other(int a, int b) { return a / b; }
int host(int a, int b) { return a - b; }
__device__ Op first = add, second = &mul; __device__ long (*third)(int, int) = other; Op fourth = host;
__device__ Op filled[2]; __device__ Op one_of;
"""

GIVEN = {
    "A[0] = f(n, 4);": "n f",
    "A[0] = (*filled[n & 1])(n, 4);": "n",
    "auto g = one_of; A[0] = g(n, 4);": "n one_of",
}
NULL = {
    "if (f) A[0] = f(n, 4);": "if (f != -1)",
    "if (!f) A[0] = 4;": "if (!(f != -1))",
    "if (filled[n] != nullptr) A[0] = 4;": "t <- filled[n];\nif (t != -1)",
    "Op g = filled[n]; if (NULL == g) A[0] = 4;": "t <- filled[n];\nif (!(t != -1))",
    "A[0] = one_of ? 4 : A[1];": "if (one_of != -1)",
    "if (single) A[0] = single(n);": "if (single != -1)",
}


@pytest.mark.parametrize("body", GIVEN)
def test_what_the_host_fills_in_is_one_of_the_functions_that_are_named(read: Callable[..., Reading], body: str) -> None:
    """Of its type, for the device, and not only called; which one it is, a number says, of a table one that is read."""
    reading = read(f"{FILLED}__global__ void k(int *A, int n, Op f) {{ {body} }}", "k")
    text = show_stmt(reading.kernel.body)
    assert text.count("if (") == 1, text
    assert ("filled[n & 1]" in text) == ("filled" in body), text
    assert " + " in text, text
    assert " * " in text, text
    assert " ".join(p.name for p in reading.kernel.params if p.name != "f" or "f(" in body) == GIVEN[body]
    named = "is one of the functions of its type that this file names: add, mul"
    assert any(note.endswith(named) for note in reading.notes), reading.notes


NAMED = {
    "with noexcept": "__device__ int dear(int a, int b) noexcept { return a ^ b; } __device__ Op hidden = dear;",
    "as an argument of a template that is called": "__device__ int dear(int a, int b) { return a ^ b; } "
    "template <Op f> __device__ Op got() { return f; } void host(Op *p) { *p = got<dear>(); }",
    "in host code that lacks a header": "__device__ int dear(int a, int b) { return a ^ b; } "
    "void host(Op *p) { nothing.set(dear); }",
    "by a macro": "#define MAKE(n) __device__ int fun_##n(int a, int b) { return a ^ b; } "
    "__device__ Op ptr_##n = fun_##n;\nMAKE(dear)",
    "as an instance": "template <int N> __device__ int dear(int a, int b) { return a ^ b; } __device__ Op x = dear<1>;",
}
UNKNOWN = {
    "a lambda": "__device__ Op hidden = [](int a, int b) { return a ^ b; };",
    "a static member": "struct H { static __device__ int dear(int a, int b) { return 0; } };__device__ Op x = H::dear;",
    "what is declared alone": "extern __device__ int dear(int a, int b); __device__ Op hidden = dear;",
    "an instance that a template makes": "template <int N> __device__ int dear(int a, int b) { return a ^ N; } "
    "template <int N> void host(Op *p) { *p = dear<N>; }",
    "a static member of what a template makes": "template <class T> struct H { static __device__ T dear(T a, T b) "
    "{ return 0; } }; template <class T> void host(Op *p) { *p = H<T>::dear; }",
    "one of what a partial specialisation makes": "template <class T> struct H; template <class T> struct H<T *> "
    "{ static __device__ T dear(T a, T b) { return 0; } }; void host(Op *p) { *p = missing(H<int *>::dear); }",
    "one of a union": "union H { static __device__ int dear(int a, int b) { return 0; } }; "
    "void host(Op *p) { *p = missing(H::dear); }",
    "an instance in host code that lacks a header": "template <int N> __device__ int dear(int a, int b) "
    "{ return a ^ N; } void host(Op *p) { *p = missing(dear<3>); }",
}


@pytest.mark.parametrize("name", NAMED)
def test_a_function_is_named_also_where_that_is_hard_to_see(read: Callable[..., Reading], name: str) -> None:
    reading = read(f"{FILLED}{NAMED[name]}\n__global__ void k(int *A, int n, Op f) {{ A[0] = f(n, 4); }}", "k")
    assert " ^ " in show_stmt(reading.kernel.body), reading.notes


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_named_without_a_body_may_do_anything(refused: Callable[[str, str], None], name: str) -> None:
    refused(f"{FILLED}{UNKNOWN[name]}\n__global__ void k(int *A, int n, Op f) {{ A[0] = f(n, 4); }}", "a call by 'f'")


@pytest.mark.parametrize("body", NULL)
def test_what_the_host_fills_in_may_be_null(read: Callable[..., Reading], body: str) -> None:
    before = f"{FILLED}__device__ int neg(int a) {{ return -a; }} __device__ int (*first_of_all)(int) = neg;"
    reading = read(f"{before} __global__ void k(int *A, int n, Op f, int (*single)(int)) {{ {body} }}", "k")
    assert NULL[body] in show_stmt(reading.kernel.body)


OTHER = """
typedef int (*Op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int dear(int a, int b) { return a ^ b; }
namespace n { __device__ Op inner = add; }
__device__ Op one = add; __device__ Op both[2] = {add, add}; __constant__ Op fixed = add; __device__ Op named = dear;
struct H { static __device__ Op own; }; __device__ Op H::own = add;
"""
CHANGED = {
    "by another kernel": ("one", "__global__ void s() { one = dear; }"),
    "in a template, by what depends on its arguments": (
        "H::own",
        "template <class T> __global__ void s() { T::own = dear; }",
    ),
    "by a reference": ("one", "__device__ void g(Op &p) { p = dear; } __global__ void s() { g(one); }"),
    "in a lambda with parameters of any type": (
        "one",
        "__global__ void s() { auto f = [](auto &p) { p = dear; }; f(one); }",
    ),
    "by a reference to a constant": ("one", "__global__ void s() { const Op &r = one; const_cast<Op &>(r) = dear; }"),
    "as one of two places": ("one", "__global__ void s(int n) { Op o; (n ? one : o) = dear; }"),
    "by a pointer": ("both[1]", "__global__ void s(int n) { *(both + n) = dear; }"),
    "by a loop over references": ("both[n & 1]", "__global__ void s() { for (auto &p : both) p = dear; }"),
    "by a binding": ("both[0]", "__global__ void s() { auto &[p, q] = both; p = dear; }"),
    "by a pointer that is declared": ("one", "__device__ Op *where = &one;"),
    "by inline assembly": ("one", '__global__ void s(long f) { asm("st.global.u64 [one], %0;" :: "l"(f)); }'),
    "by a macro": ("one", "#define SET(f) one = f\n__global__ void s() { SET(dear); }"),
    "by a word that a macro makes": ("one", "#define CAT(a, b) a##b\n__global__ void s() { CAT(o, ne) = dear; }"),
    "by the host": ("fixed", "void s(Op f) { cudaMemcpyToSymbol(fixed, &f, 8); }"),
    "by the host and a function of both": (
        "fixed",
        "__host__ __device__ void s(Op f) {\n#ifndef __CUDA_ARCH__\ncudaMemcpyToSymbol(fixed, &f, 8);\n#endif\n}",
    ),
    "by a function of both": ("fixed", "__host__ __device__ void s(Op f) { cudaMemcpyToSymbol(fixed, &f, 8); }"),
    "by the host and its name in compiled code": (
        "n::inner",
        'void s(void *m, void *p) { cuModuleGetGlobal(p, 0, m, "_ZN1n5innerE"); }',
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_a_file_changes_may_lead_to_all_functions_that_it_names(read: Callable[..., Reading], name: str) -> None:
    """Of its type: `^` is of the one that nothing is declared with."""
    called, text = CHANGED[name]
    alone = "__device__ int f(Op *p) { Op g = one; *p = both[1]; return g(1, 2) + fixed(3, (both[0])(4, 5)); }"
    for more, known in (("", True), (alone, True), (text, False)):
        reading = read(f"{OTHER}{more}\n__global__ void k(int *A, int n) {{ A[0] = {called}(n, 4); }}", "k")
        assert (" ^ " not in show_stmt(reading.kernel.body)) == known, (more, reading.notes)
        assert any("declared with" in note for note in reading.notes) == known


REFUSED = {
    "a parameter of the kernel": (
        "int (*f)(int *, int), int *A, int n",
        "A[0] = f(A, n);",
        "a call by 'f', a pointer that may",
    ),
    "what is assigned from elsewhere": ("Op g, int *A, int n", "Op f = add; if (n) f = g; A[0] = f(1, n);", ""),
    "what a call changes": ("int *A, int n", "Op f = add; turn(f); A[0] = f(1, n);", ""),
    "what is null": ("int *A, int n", "Op f = 0; if (n) f = mul; A[0] = f(1, n);", ""),
    "what is changed and used": ("int *A, int n", "Op f = add; A[0] = f(1, n) + (f = mul, 1);", "changed and used"),
    "a table that changes": ("int *A, int n", "Op t[2] = {add, mul}; t[0] = sub; A[0] = t[0](1, n);", ""),
    "behind its end": ("int *A, int n", "A[0] = table[3](1, n);", "the element 3 of a table of 3 functions"),
    "one of several that reads and writes": ("int *A, int n", "A[0] = A[1] + Set[n](A);", ""),
    "a table without a list": ("int *A, int n", "A[0] = elsewhere[n](1, n);", ""),
    "a parameter that changes": ("Op f, int *A, int n", "if (n) f = mul; A[0] = f(1, n);", ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(refused: Callable[[str, str], None], name: str) -> None:
    parameters, body, message = REFUSED[name]
    more = "extern __device__ Op elsewhere[2]; __device__ int w(int *p) { return ++p[1]; } __device__ int v(int *p) "
    more += "{ return p[0]; } __device__ int (*Set[2])(int *) = {w, v}; "
    more += "__device__ void turn(Op &f) { f = mul; } "
    refused(f"{BEFORE}{more}__global__ void k({parameters}) {{ {body} }}", message)
