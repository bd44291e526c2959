"""Whether a text asks if an expression throws or is a constant, or may have classes of two libraries. Kernels try the
other questions."""

from __future__ import annotations

import pytest

from semantics.cuda.asked import constant, several, specialises, throws


@pytest.mark.parametrize(
    "text",
    [
        "bool b = noexcept(f(x));",
        "int a = (int)noexcept(f());",
        "int g() { return (int) noexcept (f()); }",
        "int v = a && noexcept(f(x)), w = a > (int)noexcept(f());",
        "X<noexcept(f())> x;",
        "template <bool b = noexcept(f())> struct X;",
        "int v = noex\\\ncept(f());",
        "void f() noexcept { g(noexcept(h())); }",
        "void f() noexcept(true), g(int x = noexcept(h()));",
        "#define Q(x) noexcept(x)\nint a = Q(f());",
        "#define A(x) B(x)\n#define B(x) (1 + noexcept(x))\nint y = A(f());",
        "#define N noexcept\n#define M N\nint a = M (f());",
        "#if 1\n#define N noexcept\n#else\n#define N\n#endif\nint a = 1 + N\n(f());",
    ],
)
def test_a_question_whether_something_throws(text: str) -> None:
    assert throws([text.encode()]) is not None


def test_where_it_is_asked() -> None:
    assert throws([b"#define N noexcept", b"int a;", b"int b = N(f());"]) == (2, 8)


@pytest.mark.parametrize(
    "text",
    [
        "void f() noexcept { } // noexcept(g())",
        'const char *s = "noexcept(f())";',
        "void f(int (*g)(int)) const noexcept(noexcept(g(1)) && true) { }",
        "S &operator=(S &&) noexcept(is_nothrow<T>::value); S operator+(S a) noexcept(true);",
        "bool operator()(int) const noexcept(true); operator bool() const noexcept(true); ~S() noexcept(false);",
        "auto l = [&](int x) noexcept(noexcept(f(x))) { }, m = []() mutable noexcept(true) { };",
        "#define N noexcept\nvoid f() N; void g() N(true);",
        "#define N(x) noexcept(x)\nvoid f() N(true);",
        "#define F(T) void g(T) noexcept(true); void h(T) noexcept;\nF(int)",
        "void f() && noexcept(true), g() volatile & noexcept( false ) override;",
        "f(int x) // a comment\n  noexcept(true);",
    ],
)
def test_what_is_said_of_a_function_is_no_question(text: str) -> None:
    assert throws([text.encode()]) is None


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("int f() { return __builtin_is_constant_evaluated() ? 1 : 2; }", True),
        ("int f() { return std::is_constant_evaluated() ? 1 : 2; }", True),
        ("enum { F = __builtin_constant_p(table[1]) };", True),  # clang says yes, nvcc no
        ("using std::is_constant_evaluated; #define Q is_constant_evaluated()", True),
        ("int f() { if consteval { return 1; } else { return 2; } }", True),
        ("int f() { if ! consteval { return 1; } return 2; }", True),
        ("int f() { if not consteval { return 1; } return 2; }", True),
        ("// is_constant_evaluated\nconsteval int f() { return 1; }", False),
    ],
)
def test_a_question_whether_something_is_a_constant(text: str, asked: bool) -> None:
    """It is one where a const int is made of it: what is read as a call there says otherwise."""
    assert (constant(text.encode()) is not None) == asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("template <auto G> struct F { }; template <float (*G)(float)> struct F<G> { };", True),
        ("template <class T, auto... G> struct F; template <class T, T (* const G) (T)> class F<T, G> { };", True),
        ("template <auto G> struct F { }; template <float (*G)(float)> \\\nstruct F<G> { };", True),
        ("template <auto G> struct F { }; template <class R, class... A, R (*G)(A...)> struct F<G> { };", True),
        ("template <auto G> struct F { }; template <float (*G)(float)> struct E { };", False),
        ("template <class T> struct F { }; template <float (*G)(float)> struct E<G> { };", False),
        ("template <auto N> struct F { }; template <class T> struct E<T *> { };", False),
    ],
)
def test_a_specialisation_for_functions(text: str, asked: bool) -> None:
    """nvcc takes none without noexcept for &sqrtf, clang does."""
    assert (specialises(text.encode()) is not None) == asked


@pytest.mark.parametrize(
    ("text", "two"),
    [
        ("namespace a = cuda; thrust::pair<int, int> p;", True),
        ("#define NS cuda::std\nusing namespace thrust;", True),
        ("Is<thrust::pair<int, int>, ::cuda::std::pair<int, int>> x;", True),
        ("std::pair<int, int> p; thrust::pair<int, int> q;", False),
        (
            "#include <ATen/cuda/CUDAContext.h>\n#include <cuda.h>\n#include <thrust/pair.h>\nstd::pair<int, int> p;",
            False,
        ),
        ("at::cuda::f(); thrust::pair<int, int> p; cudaError_t e;", False),
    ],
)
def test_classes_of_two_libraries_may_be_there(text: str, two: bool) -> None:
    assert several([text.encode()]) == two
