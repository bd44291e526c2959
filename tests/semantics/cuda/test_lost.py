"""Host code that clang cannot read for lack of its headers: it breaks no kernel that does not use it, and a kernel that
does is never read as another one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading
from semantics.cuda.lost import may_declare

Read = Callable[..., Reading]

HELPER = "__device__ int helper(int n, int i) { return n + i; }\n"
KERNEL = """__global__ void k(const int *a, int *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { int v = helper(a[i], n); c[i] = v + v; }
}
"""

HOSTS = [
    "#include <vector>\nvoid f(std::vector<int> &r, float *d, int n, int top);",
    "void f(std::vector<int> &r, int n) { for (int i = 0; i < n; i++) r.push_back(i); if (n) { r[0] = a[n]; } }",
    "using namespace std;\nvoid f(vector<int> &r, float *a, int n, int i) { for (int i = 0; i < n; i++) r[i] = a[i]; }",
    "std::vector<int> f(int n, float *a) { std::vector<int> i(n); return i; }",
    "static std::map<std::string, std::vector<int>> cache;\nstatic int n2 = cache.size(), n3 = foo(n);",
    "void f(const std::string &a, int n) { std::cout << n << a << std::endl; }",
    "#include <cv.hpp>\ncv::Mat f(const cv::Mat &a, int n) { cv::Mat c; return c; }\nvoid g(cv::Mat n, int i);",
    "void f(thrust::device_vector<float> &a, thrust::host_vector<int> i, int n) { thrust::sort(a.begin(), a.end()); }",
    "#define CHECK(e) do { auto err = (e); if (err) exit(1); } while (0)\nvoid f(int n) { CHECK(cudaMalloc(&a, n)); }",
    '#include "helper_cuda.h"\nvoid f(int n) { float *a; checkCudaErrors(cudaMalloc(&a, n)); }\nDECLARE_THING(n, i);',
    "void f(int n) { auto g = [&](int i) { return std::max(i, n); }; std::function<int(int)> h = g; h(n); }",
    "class Buf : public Base<int> { std::vector<int> a; Buf(int n) : a(n), Base(n) {} int i() { return a[n]; } };",
    "template <typename T> void f(const std::vector<T> &a, int n) { for (auto &i : a) foo(i, n); }",
    "template <typename T, typename = std::enable_if_t<std::is_integral<T>::value>> T f(T a, int n) { return a; }",
    "namespace util { std::vector<int> a; void f(std::vector<int> &n) {} namespace { std::string i; } }",
    "typedef std::vector<std::pair<int, int>> pairs; using Vec = std::vector<int>; Vec f(pairs &a, int n);",
    "void f(int n = std::numeric_limits<int>::max(), float *a = nullptr);",
    "std::ostream &operator<<(std::ostream &a, const float3 &n) { return a << n.x; }",
    'extern "C" { void f(std::vector<int> &a, int n); FILE *g(int i); }',
    "[[nodiscard]] std::vector<int> f(int n);\n__attribute__((unused)) static Foo a2(int n);",
    "EXPORT void f(float *a, int n) { a[n] = 0; }\nMY_API int g(float *a, int n);",
    "TEST(Suite, Name) { int n = 3; EXPECT_EQ(n, 3); }\nBENCHMARK(BM_x)->Range(8, 8 << 10);",
    'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("a", &f, "n"); }',
    "static const std::string n4 = foo(n); Foo<int> bar(n, i); int i2 = foo(i, n); Matrix a4(n, i);",
    "void f(float *a, enum Mode n, union Way &i) { int c = i; switch (n) { case 0: helper(c); } }",
    "enum class E : std::uint8_t { a, n, i };\nunion U { std::string n; int i; };",
    'static_assert(std::is_same<int, n>::value, "n");\nCHECK_CUDA(cudaSetDevice(n));',
    "void f(void (*n)(std::vector<int> &), std::function<void(int n)> a);\nvoid g(std::array<int, 3> n[], int i);",
    "Foo::Foo(std::string n, int i) : a(n), c(i) { }\nvoid Foo::bar(std::vector<int> n) { a = n; }",
    "std::vector<std::vector<int>> tbl = { {1, 2}, {n, i} };\nstd::map<int, int> m2{{n, i}};",
    "auto f(std::vector<int> a, int n) -> decltype(a.size()) { return n; }",
    "void f(std::vector<int> &v) { const int n = 3; int i; k<<<1, n>>>(v.data(), i); }",
]


@pytest.fixture(scope="module")
def wanted(read: Read) -> str:
    return show_stmt(read(HELPER + KERNEL).kernel.body)


@pytest.mark.parametrize("host", [HOSTS[0], HOSTS[7], HOSTS[17], HOSTS[24]])
def test_host_code_breaks_no_kernel(read: Read, wanted: str, host: str) -> None:
    """Before, between and after what the kernel uses."""
    text = f"{host}\n{HELPER}{host.replace(' f(', ' f2(')}\n{KERNEL}{host.replace(' f(', ' f3(')}\n"
    assert show_stmt(read(text, "k").kernel.body) == wanted


def test_all_of_it_breaks_no_kernel(read: Read, wanted: str) -> None:
    hosts = [h.replace(" f(", f" f{i}(") for i, h in enumerate(HOSTS)]
    half = len(hosts) // 2
    before, after = "\n".join(hosts[:half]), "\n".join(hosts[half:])
    for text in (f"{before}\n{HELPER}{KERNEL}{after}\n", f"{after}\n{HELPER}{KERNEL}{before}\n"):
        assert show_stmt(read(text, "k").kernel.body) == wanted


OUTSIDE = "constexpr int W = 1;\n__device__ int step(float x) { return 1; }\ntypedef char T;\n"
USES = {
    "step": "A[threadIdx.x * step(int(threadIdx.x))] = 1;",
    "W": "A[threadIdx.x * W] = 1;",
    "T": "A[threadIdx.x * sizeof(T)] = 1;",
}
LOST = {
    "a function of another type": ("step", "__device__ lib::size step(int x) { return 32; }"),
    "the same with a body": ("step", "__device__ std::vector<int> step(int x) { std::vector<int> n; return n; }"),
    "after another declarator": ("W", "const int a = foo(3), W = 32;"),
    "after a prototype": ("W", "void f(lib::vector<int> &r), g(lib::vector<int> &n); const lib::size W = 32;"),
    "an enumerator": ("W", "enum : lib::uint8_t { V, W = 32 };"),
    "a type": ("T", "typedef lib::uint64_t T;"),
    "an alias": ("T", "using T = lib::uint64_t;"),
    "by a macro": ("step", "#define DECLARE(n) __device__ lib::size n##ep(int)\nDECLARE(st);"),
    "a function in parentheses": ("step", "__device__ Foo (step)(int x);"),
    "a pointer to a function": ("step", "__device__ Foo (*step)(std::vector<int>, int x);"),
    "a body that clang goes on in": (
        "W", "lib::ostream &operator<<(lib::ostream &a, const float3 &n) { const int W = 32; return a; }"
    ),
    "in braces of no function": ("W", "std::foo bar { const int W = 32; }"),
    "in a block of linkage": ("W", 'extern "C" { static const lib::size W = 32; }'),
    "a structure": ("T", "struct T : lib::pair<int, int> { long a[9]; };"),
}  # fmt: skip


@pytest.mark.parametrize("what", LOST)
def test_what_clang_may_have_lost_is_not_taken_for_something_else(read: Read, what: str) -> None:
    """Each of these hides something outside of the namespace, or is a better match."""
    name, lost = LOST[what]
    with pytest.raises(CudaError):
        read(f"{OUTSIDE}namespace q {{\n{lost}\n__global__ void k(int *A) {{ {USES[name]} }}\n}}\n", "k")
    for other in USES.keys() - {name}:
        if "go on" not in what and "goes on" not in what and "macro" not in what:
            text = f"{OUTSIDE}namespace q {{\n{lost}\n__global__ void k(int *A) {{ {USES[other]} }}\n}}\n"
            assert "A" in show_stmt(read(text, "k").kernel.body)


MEMBERS = """class Tester { lib::vector<float> W; bool off;
#define NOTED 3
#if defined(TESTING)
  void begin() { if (off) { W.clear(); } }
#elif 0
  void begin() { }
#else
  void begin() { return; }
# ifdef MORE
  int more() { return 0; }
# endif
#endif
};
"""


def test_what_is_lost_in_a_class_with_conditions_is_seen_in_it_alone(read: Read) -> None:
    text = OUTSIDE + "#include <vector>\n%s__global__ void k(int *A) { A[threadIdx.x * W] = 1; }\n"
    assert show_stmt(read(text % MEMBERS, "k").kernel.body) == "A[tid.x * 1] <- 1;"
    for change in (
        ("class Tester {", "class Before {\n#ifndef TESTING\n};\nclass Tester {\n#endif\n"),  # ends in a condition
        ("#define NOTED 3", "#if 0\n{\n#endif"),
        ("#define NOTED 3", "#include NOTED"),
        ("#define NOTED 3", "#if lib::size(3)\n#endif"),
        ("begin() { }", "begin() { "),
    ):
        assert change[0] in MEMBERS
        with pytest.raises(CudaError):
            read(text % MEMBERS.replace(*change), "k")


def test_a_word_is_a_function_s_own_only_where_all_of_its_mentions_are(read: Read) -> None:
    """`W` is a variable in one block, and something from outside in another."""
    lost = "constexpr int W = 1;\nnamespace q {\nstatic const lib::size W = 32;\n"
    own = "__global__ void k(int *A) { { int W = 3; A[W] = 1; } %s }\n}\n"
    assert show_stmt(read(lost + own % "", "k").kernel.body) == "W <- 3;\nA[W] <- 1;"
    with pytest.raises(CudaError, match="undeclared identifier 'lib'"):
        read(lost + own % "A[threadIdx.x * W] = 1;", "k")


def test_an_alias_that_is_lost_concerns_what_names_it(read: Read) -> None:
    """It declares its name, and what is declared within it: not what its type is made of."""
    text = "template <class T> struct Of {};\n%s\n__global__ void k(Of<int> a, int *A) { A[threadIdx.x * %s] = 1; }\n"
    for alias in (
        "using W = lib::Mat<Of<int>, dims<2>>;",
        "template <class T> using W = lib::Mat<Of<T>>;",
        "namespace W = lib::Of;",
    ):
        assert show_stmt(read(text % (alias, "3"), "k").kernel.body) == "A[tid.x * 3] <- 1;"
        with pytest.raises(CudaError):
            read(text % (f"constexpr int W = 2; namespace q {{ {alias}", "W") + "}", "k")
    with pytest.raises(CudaError):
        read(text % ("using W = lib::Mat<struct Of>;", "3"), "k")


def test_a_namespace_is_not_used_by_what_looks_up_a_name_there(read: Read) -> None:
    """So errors in one function of it are not the other's."""
    text = """namespace own {
template <class T> __device__ T other(T x) { return lib::of(x); }
__device__ int twice(int x) { return 2 * x; }
%s__global__ void k(int *A) { A[own::twice(threadIdx.x)] = 1; }
}
"""
    assert "A" in show_stmt(read(text % "", "k").kernel.body)
    with pytest.raises(CudaError, match="undeclared identifier 'lib'"):
        read(text % "__device__ lib::size twice(unsigned x) { return 1; }\n", "k")


def test_what_is_lost_in_an_included_file_matters(read: Read, tmp_path: Path) -> None:
    (tmp_path / "step.cuh").write_text("__device__ lib::size step(int x) { return 32; }\n")
    (tmp_path / "other.cuh").write_text("lib::size other(int x) { return 32; }\n")
    text = OUTSIDE + '#include "%s.cuh"\n__global__ void k(int *A) { ' + USES["step"] + " }\n"
    with pytest.raises(CudaError):
        read(text % "step", "k", includes=[str(tmp_path)])
    assert read(text % "other", "k", includes=[str(tmp_path)]).kernel.name == "k"


def test_errors_in_what_a_kernel_uses_are_errors(read: Read) -> None:
    for body in ("std::vector<int> v; c[0] = 1;", "c[0] = foo(n);", "c[0] = helper(lib::max(n, 1), n);", "CHECK(n);"):
        with pytest.raises(CudaError):
            read(f"{HOSTS[0]}\n{HELPER}__global__ void k(int *c, int n) {{ {body} }}\n")
    with pytest.raises(CudaError):
        read(f"__device__ int helper(int n) {{ std::vector<int> v; return n; }}\n{KERNEL.replace(', n)', ')')}", "k")


@pytest.mark.parametrize(
    ("text", "declared", "not_declared"),
    [
        (b"Foo f(Bar n), g(int i), (h), (*p)(int j);", b"f g h p", b"n"),
        (b"int (f)(int); unsigned (*g)(int); static Foo (*h)(int i);", b"f g h", b""),
        (b"DECLARE(f); static Foo DEFINE(g);", b"f g", b""),
        (b"void f(Foo n) { Bar W; } Bar x{n}, y = {n}, z;", b"f x y z", b"W n"),
        (b"enum E : Foo { A, B = n }; union { Foo u; }; struct S : Foo { Bar m; } s;", b"E A B u S s", b"m"),
        (b"struct S : Foo { friend Bar f(S n); };", b"S f n", b""),
        (b"namespace q { Foo f(Bar n) { Bar W; } } extern { Foo g; }", b"q f g", b"n W"),
        (b"Foo operator+(Bar n, Baz m);", b"Bar Baz n m", b""),
        (b"} Foo W; }", b"W", b""),
        (b"static_assert(Foo<n>, W);", b"", b"n W"),
        (b"template <class U> Foo f(U n, Bar (*m)(int i)) noexcept(W) { return n; }", b"f W", b"U n m i"),
        (b"A::B::Foo<R, S<Q>, (W > 1)> f(Bar n), C::g;", b"Foo f g", b"A B R S Q W n C"),
        (b"template <class U, int W, class V = Bar<U>> Foo<U> f(V n);", b"Foo f", b"U V W Bar n"),
        (
            b"Foo<struct S> a; template <struct P *p> Foo<p> b; template <class T = class Q> Foo<T> c;",
            b"S P Q a b c",
            b"",
        ),
        (b"using F = lib::Foo<Bar>; template <class T> using G = Foo<T>;", b"F G", b"lib Foo Bar T"),
        (b"namespace q = Foo::n;", b"q", b"Foo n"),
        (b"namespace DEFINE = Foo;", b"DEFINE Foo", b""),
        (b"using F = Foo<struct S>; using DEFINE = Foo; using a::Bar;", b"F S DEFINE Foo Bar", b""),
        (b"DEFINE<W, U> V; int a = b < c, d > e; DEFINE::f g;", b"W U V d e DEFINE g", b""),
    ],
)
def test_what_a_text_may_declare(text: bytes, declared: bytes, not_declared: bytes) -> None:
    found = may_declare(text, {b"DEFINE"})
    assert found is not None
    assert found >= {*declared.split()}
    assert found.isdisjoint(not_declared.split())


def test_a_text_that_ends_inside_of_a_body() -> None:
    assert may_declare(b"void f(Foo n) { Bar W; ", ()) is None
    assert may_declare(b"namespace q { Foo f; ", ()) is not None
