"""Templates: which instances a file makes, what they are called, and in what blocks they are launched."""

from __future__ import annotations

from pathlib import Path

import pytest

from semantics.cuda import CudaError, choices, read_cuda

K = "template <class T> __global__ void k(T *a, int n) { a[threadIdx.x] = n; }\n"
N = "template <int N> __global__ void k(int *a) { a[threadIdx.x * N] = 1; }\n"

# a launch in a template says no size of an instance: its callee is not known where it stands; 0 is a row of any length
CASES: dict[str, tuple[str, dict[str, int | None]]] = {
    "explicit instances of what launches": (
        K
        + """
template <class T> void go(T *a, int n) { cudaMemset(a, 0, n); k<<<1, 64>>>(a, n); }
template void go<float>(float *, int); template void go(double *a, int n);
""",
        {"k<float>": 64, "k<double>": 64},
    ),
    "explicit instances of what takes types of the runtime": (
        K
        + """
template <class T> void go(T *a, cudaGraphicsResource **r, const cudaDeviceProp &p, cudaExtent e,
                           cudaMemcpy3DParms *m) {
  cudaGraphicsMapResources(1, r, 0); k<T><<<p.multiProcessorCount, p.maxThreadsPerBlock>>>(a, int(e.width)); }
template void go(float *, cudaGraphicsResource **, const cudaDeviceProp &, cudaExtent, cudaMemcpy3DParms *);
""",
        {"k<float>": None},
    ),
    "explicit instances in namespaces": (
        """
namespace m { namespace {
template <class T> __global__ void k(T *a, int n) { a[threadIdx.x] = n; }
template __global__ void k<float>(float *, int);
template __global__ void k<int>(int *, int);
} }
""",
        {"k<float>": None, "k<int>": None},
    ),
    "an explicit instance of a structure": (
        K
        + """
template <class T> struct L { T *a; void go() { k<<<1, 64>>>(a, 1); } void no(); };
template struct L<float>;
template class L<double>;
""",
        {"k<float>": 64, "k<double>": 64},
    ),
    "enumerators": (
        """
enum Mode { ADD, SUB }; namespace e { enum class On : char { NO, YES }; }
template <Mode M, e::On O> __global__ void k(int *a) { a[M] = (int)O; }
void f(int *a) { k<ADD, e::On::YES><<<1, 32>>>(a); k<SUB, e::On::NO><<<1, 64>>>(a);
  k<(Mode)7, e::On::NO><<<1, 8>>>(a); }
""",
        {"k<ADD, e::On::YES>": 32, "k<SUB, e::On::NO>": 64, "k<(Mode)7, e::On::NO>": 8},
    ),
    "arguments from containers": (
        K
        + """
#include <string>
#include <thrust/device_vector.h>
#include <vector>
struct Net { std::vector<std::vector<short>> layers; std::unique_ptr<char[]> p; std::string name; };
void run(Net &n) { k<<<1, 64>>>(n.layers[0].data(), n.layers.size()); k<<<2, 96>>>(n.p.get(), (int)n.name.size());
  k<<<1, 96>>>(n.name.data(), std::stoi(n.name) + (int)std::stod("3")); }
void f(const std::shared_ptr<int[]> &s) { std::vector<int> v(10, 1); thrust::device_vector<double> d(v.size());
  k<<<s.use_count(), 32>>>(s.get(), v.at(0));
  k<<<2, 160>>>(thrust::raw_pointer_cast(d.data()), 1); auto w = std::vector<float>{1, 2}; w.resize(std::stoul("7"));
  k<<<1, 192>>>(&w[0], static_cast<int>(w.size()));
  k<<<1, 224>>>(thrust::raw_pointer_cast(&thrust::host_vector<long>(3)[0]), 1); }
""",
        {"k<short>": 64, "k<char>": 96, "k<int>": 32, "k<double>": 160, "k<float>": 192, "k<long>": 224},
    ),
    "arguments from containers, in a template": (
        K
        + """
#include <vector>
template <class T> void go(std::vector<T> &v) { k<<<(v.size() + 31) / 32, 32>>>(v.data(), v.size()); }
void f() { std::vector<int> v(10, 1); go(v); }
""",
        {"k<int>": 32},
    ),
    "templates and packs": (
        """
template <class T> struct Twice { __device__ T operator()(T x) const { return x + x; } };
template <template <class> class F, class T> __global__ void k(T *a) { F<T> f; a[0] = f(a[1]); }
template <class... A> __global__ void p(float *o, A... a) { o[threadIdx.x] = sizeof...(a); }
void f(int *a, float *o) { k<Twice, int><<<1, 32>>>(a); p<<<1, 32>>>(o, 1, 2.f); p<int><<<1, 64>>>(o, 3); }
""",
        {"k<Twice, int>": 32, "p<int, float>": 32, "p<int>": 64},
    ),
    "numbers of all types": (
        """
template <bool B, char C, unsigned long long U, int *P, class T = float> __global__ void k(T *a) {
  a[U] = B + C; }
void f(float *a) { k<true, ',', 5ull, nullptr><<<1, 32>>>(a); k<false, '<', 1ull << 63, nullptr><<<1, 8>>>(a); }
""",
        {"k<true, 44, 5, nullptr, float>": 32, "k<false, 60, 9223372036854775808, nullptr, float>": 8},
    ),
    "macros and switches": (
        N
        + """
#define CASE(N) case N: k<N><<<1, N>>>(a); break;
void f(int *a, int b) { switch (b) { CASE(32) CASE(64) } }
""",
        {"k<32>": 32, "k<64>": 64},
    ),
    "tables and pointers": (
        N
        + """
typedef void (*F)(int *); F table[] = {k<1>, &k<2>}; F other = k <4>;
void f(int *a, int i) { F p = k<8>; table[i]<<<1, 32>>>(a); p<<<1, 64>>>(a); g((void *)k<16>, a); }
""",
        {"k<4>": None, "k<8>": None, "k<16>": None, "k<1>": None, "k<2>": None},
    ),
    "templates of templates and lambdas": (
        K
        + """
template <class T, int N> struct R { static void go(T *a) { k<<<1, N>>>(a, N); } };
template <class T> void all(T *a) { R<T, 32>::go(a); }
void f(float *a) { all(a); auto g = [&](auto x) { k<<<1, 16>>>((decltype(x) *)a, 1); }; g(1.0); }
""",
        {"k<double>": 16, "k<float>": 32},
    ),
    "structures that a file declares": (
        """
namespace ops { template <class T> struct Mul { __device__ T operator()(T a, T b) const { return a * b; } }; }
template <class Op> __global__ void k(float *a, Op op) { a[threadIdx.x] = op(a[0], 2); }
template <class Op, class... X> void go(Op op, X... x) { k<<<1, 32>>>(x..., op); }
void f(float *a) { go(ops::Mul<float>(), a); k<<<1, 64>>>(a, ops::Mul<double>()); }
""",
        {"k<ops::Mul<double>>": 64, "k<ops::Mul<float>>": 32},
    ),
    "members": (
        """
struct S { static __global__ void k(int *b) { b[threadIdx.x] = 1; } };
namespace { __global__ void h(int *a) { a[0] = 1; } }
template <class T> struct L { void run(T *a) { j<<<1, 8>>>(a); } static __global__ void j(T *b) { b[0] = 1; } };
template <class T> struct O { T operator()(T *a) { o<<<1, 24>>>(a); return 0; } static __global__ void o(T *a) {} };
template struct O<int>; template struct L<float>;
void f(int *a) { S::k<<<1, 64>>>(a); h<<<1, 32>>>(a); L<int>::j<<<1, 16>>>(a); }
""",
        {"k": 64, "h": 32, "L<int>::j": 0, "L<float>::j": 0, "O<int>::o": 24},
    ),
    "kernels of one name, with other parameters": (
        """
typedef float real;
__global__ void k(real *a);
namespace n { template <class T> __global__ void k(T *a, int i) { a[i] = 1; } template <int B> __global__ void k() {}
__global__ void k(const int *a) {} __global__ void k(int2 *b) { b[0].x = 1; } __global__ void alone(int *a) {} }
void f(int *a, real *b) { n::k<<<1, 32>>>((const int *)a); n::k<<<1, 64>>>((int2 *)a); k<<<1, 8>>>(b); }
__global__ void k(float *a) { a[0] = 1; }
void g(int *a) { n::k<<<1, 96>>>(a, 1); n::alone<<<1, 16>>>(a); }
""",
        {"n::k(const int *)": 32, "n::k(int2 *)": 64, "n::k<int>": 96, "alone": 16, "k": 8},
    ),
    "several launches in several blocks": (
        N
        + """
void f(int *a) { k<1><<<1, 32>>>(a); k<1><<<1, 64>>>(a); k<2><<<1, 96>>>(a); }
""",
        {"k<1>": 0, "k<2>": 96},
    ),
    "default arguments": (
        """
template <class T = float, int N = 4> __global__ void k(T *a) { a[0] = N; }
""",
        {"k<float, 4>": None},
    ),
    "a specialisation": (
        N
        + """
template <> __global__ void k<3>(int *a) { a[1] = 5; }
void f(int *a) { k<1><<<1, 32>>>(a); }
""",
        {"k<1>": 32, "k<3>": None},
    ),
    "what macros instantiate": (
        """
namespace m { template <class T, int N> __global__ void k(T *a, int n) { a[threadIdx.x] = n + N; }
template <class T> __global__ void zero(T *a) { a[0] = 0; } }
template <class T, int N> void go(T *a) { m::k<T, N><<<1, N>>>(a, 1); }
#define GO(T, N) template void go<T, N>(T *)
#define ALL(M, ...) M(float, __VA_ARGS__); M(double, __VA_ARGS__)
ALL(GO, 64);
#undef GO
#define GO(T, N) template void go<unsigned T, N>(unsigned T *);
GO(int, 32)
namespace m { typedef float yes_s;
#define REAL(letter) template __global__ void zero<yes_##letter>(yes_##letter *);
REAL(s) }
""",
        {"k<float, 64>": 64, "k<double, 64>": 64, "k<unsigned int, 32>": 32, "zero<float>": None},
    ),
    "launches in functions that clang gives up on": (
        N
        + """
template <class T, int M> __global__ void j(T *a) { a[threadIdx.x] = M; }
namespace q { enum E { A }; template <E V> __global__ void h(int *a) { a[0] = V; }
namespace r { void f(int *a) { FOR_ALL([&] { h<A><<<1, 32>>>(a); h<B><<<1, 32>>>(a); }); } } }
template <int N> void go(int *a, Gone g) { k<N><<<1, 96>>>(a); g.ask(N); }
template <int N> void to(int *a, int g) { GONE(1); k<N><<<1, 96>>>(a); }
template <int N> void by(int *a) { to<N>(a, 1); }
void f(float *a, int n) { FOR_ALL(n, "n", [&] { k <4><<<n, 64>>>((int *)a); j<T, 8><<<n, 32>>>(a);
  j<float, 64> <<<n, 32>>>(a); by<16>(a); go<8>(a, 1); }); }
void known(int *a) { k<2><<<1, 32>>>(a); }
""",
        {"k<4>": None, "k<2>": None, "k<16>": None, "j<float, 64>": None, "h<q::A>": None},
    ),
    "a choice of true or false in a macro that is lost": (
        """
#include "gone.h"
template <class T, bool B> __global__ void k(T *a) { a[threadIdx.x] = B; }
template <class T> void go(T *a, int n) { EVEN_SWITCH((n % 2) == 0, Even, [&] {
  k<T, Even><<<n, 64>>>(a); C10_CUDA_KERNEL_LAUNCH_CHECK(); }); }
void f(int *a, int n) { go(a, n); }
""",
        {"k<int, true>": 64, "k<int, false>": 64},
    ),
    "a lambda is called by its place": (
        """
template <class F> __global__ void k(int *a, F f) { a[0] = 1; }
void f(int *a) { k<<<1, 8>>>(a, [] { return 1; }); }
""",
        {"k<(lambda at k.cu:3:33)>": 8},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_instances(name: str, tmp_path: Path) -> None:
    text, rows = CASES[name]
    path = tmp_path / "k.cu"
    path.write_text(text)
    found = choices(str(path))
    assert [c.name for c in found] == list(rows)
    for choice in found:
        reading = read_cuda(str(path), choice.kernel, instantiate=choice.instantiate)
        block = rows[choice.name]
        assert reading.block == (None if block is None else (block or None, 1, 1)), choice.name


def test_macros_of_macros_that_double_are_left_alone(tmp_path: Path) -> None:
    lines = ["#define A0", *(f"#define A{i + 1} {' '.join([f'A{i}'] * 9)}" for i in range(6))]
    kernel = "template <class T> __global__ void k(T *p) { *p = 1; }\n#define B A6 template A6\n"
    path = tmp_path / "k.cu"
    path.write_text("\n".join(lines) + f"\n{kernel}B __global__ void k<float>(float *);\n")
    assert [c.name for c in choices(str(path))] == ["k"]


def test_two_instances_are_not_taken_for_each_other(tmp_path: Path) -> None:
    """Types of one name in two functions: neither is read as the other."""
    path = tmp_path / "k.cu"
    one = "void f%d(int *a) {{ struct S {{ int x; }}; k<S><<<1, 32>>>(a); }}\n".replace("{{", "{").replace("}}", "}")
    path.write_text("template <class T> __global__ void k(int *a) { a[0] = sizeof(T); }\n" + one % 1 + one % 2)
    (choice,) = choices(str(path))
    with pytest.raises(CudaError, match="there are 2 instances called 'k<S>'"):
        read_cuda(str(path), choice.kernel, instantiate=choice.instantiate)


ADVISED = {
    "template <class T, int N, bool B> __global__ void k(T *a) { if (B) a[0] = N; }": "k<float,256,true>",
    "namespace q { namespace r { template <class T> __global__ void k(T *a) { a[0] = 1; } } }": "q::r::k<float>",
    "enum M { A }; template <M V> __global__ void k(int *a) { a[0] = V; }": "k<(M)0>",
    "struct Op { __device__ int operator()(int x) const { return -x; } };\n"
    "template <class F> __global__ void k(int *a, F f) { a[0] = f(a[1]); }": "k<Op>",
    "template <class T> struct V { T x; };\n"
    "template <template <class> class F> __global__ void k(F<int> *a) { a[0].x = 1; }": "k<V>",
    "template <class T, class... A> __global__ void k(T *a, A...) { a[0] = sizeof...(A); }": "k<float>",
    "template <class T> __device__ T two() { return 2; }\n"
    "namespace q { template <class T> __device__ T one(T x) { return x; } }\n"
    "template <class T, T (*F)(T)> __global__ void k(T *a) { a[0] = F(a[1]); }": "k<float,q::one<float>>",
    "__device__ int none() { return 0; } __device__ int one(int x) { return x; } typedef int (*P)(int);\n"
    "template <P F> __global__ void k(int *a) { a[0] = F(a[1]); }": "k<one>",
}


@pytest.mark.parametrize("text", ADVISED)
def test_the_instance_that_is_advised_is_one(text: str, tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(text)
    with pytest.raises(CudaError) as caught:
        read_cuda(str(path))
    assert caught.value.advice == f"Choose one, such as --instantiate '{ADVISED[text]}'."
    named = read_cuda(str(path), instantiate=ADVISED[text]).kernel.name
    assert named.replace(" ", "") == ADVISED[text].removeprefix("q::r::").replace("(M)0", "A").replace(
        "k<one", "k<&one"
    ).replace("q::one<float>", "&q::one")
    assert read_cuda(str(path), ADVISED[text]).kernel.name == named  # --kernel names an instance, too


def test_what_only_looks_like_an_instance_breaks_nothing(tmp_path: Path) -> None:
    """A line that libclang does not take is left out, with what it would say of the kernel."""
    path = tmp_path / "k.cu"
    path.write_text(N + "int nothing;\nvoid f(int *a, int n) { bool b = g(k<n>, 3); k<2><<<1, 32>>>(a); }")
    assert [c.name for c in choices(str(path))] == ["k<2>"]
    assert read_cuda(str(path), "k").block is None


def test_parameters_of_a_pack_are_apart(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <class... T> __global__ void k(float *o, T *...a) { o[0] = (0.f + ... + float(a[threadIdx.x])); }\n"
        "template __global__ void k<int, double, int>(float *, int *, double *, int *);\n"
        "template <class... T> __global__ void n(float *o, T... a) { o[0] = (0.f + ... + float(a)); }\n"
        "template __global__ void n<int, int>(float *, int, int);\n"
    )
    kernel = read_cuda(str(path), "k", instantiate="k<int, double, int>").kernel
    assert [a.name for a in kernel.arrays if a.name.startswith("a")] == ["a", "a_1", "a_2"]
    assert [p.name for p in read_cuda(str(path), "n", instantiate="n<int, int>").kernel.params] == ["a", "a_1"]


def test_a_structure_as_an_argument_of_a_template_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "x.cu"
    file.write_text(
        "struct S { int x; }; template <S s> __global__ void k(int *A) { A[s.x] = 1; }\n"
        "void f(int *A) { k<S{4}><<<1, 32>>>(A); }\n"
    )
    with pytest.raises(CudaError, match="a structure that a template is passed"):
        read_cuda(str(file), std="c++20")
