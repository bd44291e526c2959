"""Types and functions of CUDA's libraries: sizes, what they become, values of runs, and what is refused by name."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from logic.syntax import Write, show_stmt, statements
from semantics import vectorised
from semantics.cuda import CudaError, Reading
from semantics.grid import run
from tests.semantics.cuda.native import COMPILER

Read = Callable[..., Reading]
Lower = Callable[..., str]

HALVES = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


def test_halves_of_two_formats_are_two_types(read: Read) -> None:
    text = HALVES + (
        "template <class T> struct Is { static const int v = 0; };\n"
        "template <> struct Is<half> { static const int v = 1; };\n"
        "template <> struct Is<__nv_bfloat16> { static const int v = 2; };\n"
        "__device__ int f(half) { return 3; } __device__ int f(nv_bfloat16) { return 4; }\n"
        "__global__ void k(__half *h, __nv_bfloat16 *b, int *A) {\n"
        "  A[0] = Is<__half>::v; A[1] = Is<nv_bfloat16>::v; A[2] = f(h[0]); A[3] = f(b[0]);\n"
        "  h[1] = float(b[1]); b[2] = float(h[2]) * 2; }\n"
    )
    kernel = read(text).kernel
    assert {a.name: (a.stride, a.width) for a in kernel.arrays} == {"h": (2, 2), "b": (2, 2), "A": (4, 4)}
    contents: dict[str, list[float]] = {"h": [0.0, 0.0, 65504.0], "b": [0.0, 1.00390625, 0.0], "A": [0] * 4}
    for engine in (run, vectorised.run):
        arrays = engine(kernel, (1, 1, 1), (1, 1, 1), {}, contents).arrays
        assert [arrays["A"][i] for i in range(4)] == [1, 2, 3, 4]
        assert (arrays["h"][1], arrays["b"][2]) == (1.00390625, 131072.0)


def test_what_is_computed_of_halves_is_a_half_to_their_functions(read: Read) -> None:
    text = HALVES + (
        "__global__ void k(half *h) { half x = h[0], y = h[1]; h[2] = __hadd(x * y, x + y);\n"
        "  if (__hgt(x * x, y + y)) h[3] = __hmax(x - y, y - x); h[4] = __hmul(x * y, x - y); }\n"
    )
    kernel, x, y = read(text).kernel, np.float16(3.3), np.float16(1.7)
    expected = [x * y + (x + y), x - y, x * y * (x - y)]
    for engine in (run, vectorised.run):
        arrays = engine(kernel, (1, 1, 1), (1, 1, 1), {}, {"h": [float(x), float(y), 0.0, 0.0, 0.0]}).arrays
        assert [arrays["h"][i] for i in range(2, 5)] == list(map(float, expected))
    more = "h[2] = hexp(-x); h[3] = hrcp(x + hexp(-x)); h[4] = __hfma(x * x, x + x, -x); A[0] = __hisnan(x + x);"
    read(f"{HALVES}__global__ void k(half *h, int *A) {{ half x = h[0]; {more} }}")


@pytest.mark.parametrize("kind", ["half", "nv_bfloat16"])
def test_a_template_called_with_what_is_computed_of_halves_has_one(read: Read, kind: str) -> None:
    text = HALVES + (
        "template <class T> __device__ int f(T) { return sizeof(T); }\n"
        f"__global__ void k({kind} *h, int *A) {{ auto x = -h[0]; auto y = h[1]; y += h[2];\n"
        "  A[0] = f(h[0] + h[1]); A[1] = f(x); A[2] = f(y * y); A[3] = sizeof(h[0] / x); A[4] = f(h[0] * 2.f); }\n"
    )
    arrays = run(read(text).kernel, (1, 1, 1), (1, 1, 1), {}, {"h": [1.0, 2.0, 3.0], "A": [0] * 5}).arrays
    assert [arrays["A"][i] for i in range(5)] == [2, 2, 2, 2, 4]


def test_runs_round_to_halves_as_numpy_does(read: Read) -> None:
    text = HALVES + (
        "__global__ void k(const half *a, half *s, half *p, half *q, half2 *v, const half2 *w, const double *d) {\n"
        "  int t = threadIdx.x; half x = a[2 * t], y = a[2 * t + 1];\n"
        "  s[t] = x + y; p[t] = __hmul(x, y); x -= y; q[t] = x; q[t + 8] = __double2half(d[t]); }\n"
    )
    generator = np.random.default_rng(3)
    a = generator.normal(scale=50, size=16).astype(np.float16)
    d = np.array([2049.0, 1e-8, 65519.999, 65520.0, 1 + 2**-11 + 2**-40, 5.9e-8, -3.0, 0.1])
    zeros = [0.0] * 16
    contents = {"a": [float(x) for x in a], "s": zeros, "p": zeros, "q": zeros, "d": list(map(float, d))}
    with np.errstate(over="ignore"):
        expected = [*map(float, a[::2] - a[1::2]), *map(float, d.astype(np.float16))]
    for engine in (run, vectorised.run):
        arrays = engine(read(text).kernel, (8, 1, 1), (1, 1, 1), {}, contents).arrays
        assert [arrays["s"][i] for i in range(8)] == list(map(float, a[::2] + a[1::2]))
        assert [arrays["p"][i] for i in range(8)] == list(map(float, a[::2] * a[1::2]))
        assert [arrays["q"][i] for i in range(16)] == expected


PAIRS = {
    "v = v + w; A[0] = v.y;": ".x <- half(v.x + w.x)",
    "v += w;": "half(v.y + w.y)",
    "v = half2(w.x, 3); ": "v.y <- 3.0f",
    "half2 u = {w.y, w.x}; v = u;": "u.x <- w.y",
    "v = __lowhigh2highlow(w);": "<- w.y",
    "v = -w;": "-w.x",
    "if (v == w) A[0] = 1;": "__hbeq2(",
    "float2 f = __half22float2(v); A[0] = f.y;": "f.x <- ",
    "v = h2exp(w);": "h2exp(w.x, w.y, 0)",
    "half2 u[2]; u[1] = v; A[0] = u[1].x;": "A[0] <-",
    "struct S { half2 p; int n; } s; s.p = w; A[0] = s.p.y;": "s.p.x <- w.x",
}


@pytest.mark.parametrize("body", PAIRS)
def test_pairs_of_halves(read: Read, body: str) -> None:
    from logic.syntax import show_stmt

    text = f"{HALVES}__global__ void k(half2 *V, float *A) {{ half2 v = V[0], w = V[1]; {body} V[2] = v; }}"
    kernel = read(text).kernel
    assert PAIRS[body] in show_stmt(kernel.body)
    assert next(a for a in kernel.arrays if a.name == "V").width == 4
    other = text.replace("half2", "nv_bfloat162").replace("__nv_bfloat1622float2", "__bfloat1622float2")
    assert PAIRS[body].replace("half(", "bfloat16(") in show_stmt(read(other).kernel.body)


def test_an_operator_on_pairs_that_is_not_known_is_named(refused: Callable[[str, str], None]) -> None:
    refused(f"{HALVES}__global__ void k(half2 *V) {{ half2 v = V[0]; v++; V[0] = v; }}", "operator '++'")


TEXTURES = "texture<float, 2> t; texture<uchar4, 2, cudaReadModeNormalizedFloat> n; surface<void, 2> s;\n"


@pytest.mark.parametrize(
    ("body", "lowered"),
    [
        ("F[0] = tex2D(t, 1.f, 2.f);", "F[0] <- as_float(tex2D(as_double(0), 1.f, 2.f));"),
        ("F[0] = tex2DLod<float>(o, F[1], 2.f, 3.f);", "as_float(tex2DLod(tex2DLod(as_double(o), F[1], 2.f), 3.f))"),
        ("F[0] = tex2D(n, 1.f, 2.f).w;", "tex2D(tex2D(as_double(0), 1.f, 2.f), 3)"),
        ("float4 v = texCubemap<float4>(o, 1.f, 2.f, 3.f); F[0] = v.z;", "F[0] <- v.z;"),
        ("float x; surf2Dread(&x, s, 4 * i, i); F[i] = x;", "F[i] <- x;"),
        ("surf2Dread(F + i, p, 4 * i, i);", "F[i] <- surf2Dread("),
        ("uchar4 u = surf2Dread<uchar4>(p, i, i, cudaBoundaryModeClamp); F[0] = u.y;", "F[0] <- as_float(u.y);"),
        ("surf3Dwrite(F[i], p, i, i, i); F[0] = 1;", "F[0] <- 1.0f;"),
        ("bool r; F[0] = tex2D<float>(o, 1.f, 2.f, &r); F[1] = r;", "F[1] <- as_float(r)"),
    ],
)
def test_textures_and_surfaces_cost_nothing(read: Read, body: str, lowered: str) -> None:
    from logic.syntax import show_stmt

    head = (
        f"{TEXTURES}__global__ void k(cudaTextureObject_t o, cudaSurfaceObject_t p, float *F) {{ int i = threadIdx.x; "
    )
    found = read(f"{head}{body} }}")
    assert lowered in show_stmt(found.kernel.body)
    assert any("cost nothing" in note for note in found.notes)


def test_what_a_surface_gives_may_differ_between_lanes(read: Read) -> None:
    from logic.syntax import show_stmt

    text = "__global__ void k(cudaSurfaceObject_t p, int *A) { if (surf2Dread<int>(p, 0, 0)) A[0] = 1; }"
    assert "tid.x" in show_stmt(read(text).kernel.body)


STD = {
    "F[0] = std::sqrt(F[1]) + std::max(F[2], F[3]);": "sqrt(F[1]) + max(F[2], F[3])",
    "F[0] = std::numeric_limits<float>::max();": "3.402823466e+38f",
    "int x = std::numeric_limits<int>::max(); A[0] = x;": "2147483647",
    "int x = 5 + std::numeric_limits<int>::infinity(); A[0] = x;": "x <- 5;",
    "F[0] = -std::numeric_limits<float>::infinity();": "F[0] <- -(1.0f / 0.0f);",
    "constexpr float x = std::numeric_limits<float>::quiet_NaN(); F[0] = x;": "x <- 0.0f / 0.0f;",
    "float x = F[0], y = F[1]; std::swap(x, y); F[2] = x;": "x <- ",
    "std::uint8_t b = n; A[0] = b;": "A[0] <- b",
    "A[0] = std::is_same<int, int>::value + std::is_floating_point_v<float>;": "A[0] <- 2",
    "A[0] = cuda::std::min(n, 3);": "min(n, 3)",
    "std::plus<int> p; A[0] = p(n, 2);": "+",
}


@pytest.mark.parametrize("body", STD)
def test_the_standard_library_on_the_device(lower: Lower, body: str) -> None:
    assert STD[body] in lower(body)


HOSTED = """
#include <memory>
#include <string>
#include <thrust/device_vector.h>
#include <vector>
typedef std::vector<float> Vec;
struct Cfg { std::string name; float s; };
struct Own { Vec v; float s; };
struct Derived : std::vector<int> { float s; };
struct Ok { float s; std::string told() const; void load(const Vec &v) { std::vector<int> w(3); s = v[0] + w[0]; } };
template <class T> struct Held { T t; float s; };
template <int n> struct Number { static const int value = n; };
const int SIZE = sizeof(Vec);
enum { BYTES = sizeof(Cfg) };
extern std::vector<int> outside;
"""

OF_THE_HOST = {
    "Cfg *c": ("c[threadIdx.x].s = 1;", "string"),
    "Own c": ("A[0] = c.s;", "vector"),
    "Held<std::string> *c": ("c[threadIdx.x].s = 1;", "string"),
    "Held<std::unique_ptr<int[]>> *c": ("c[threadIdx.x].s = 1;", "unique_ptr"),
    "Held<thrust::device_vector<int>> *c": ("c[threadIdx.x].s = 1;", "device_vector"),
    "Derived *c": ("c[threadIdx.x].s = 1;", "vector"),
    "Vec c": ("A[0] = 1;", "vector"),
    "int a": ("A[sizeof(Vec) * threadIdx.x] = 1;", "vector"),
    "int b": ("A[Number<sizeof(std::string)>::value * threadIdx.x] = 1;", "string"),
    "int c": ("A[SIZE * threadIdx.x] = 1;", "vector"),
    "int d": ("A[BYTES * threadIdx.x] = 1;", "string"),
    "int e": ("A[sizeof(outside) * threadIdx.x] = 1;", "vector"),
    "int f": ("A[sizeof(*(Held<Vec> *)0) * threadIdx.x] = 1;", "vector"),
}


def test_constants_that_are_no_numbers(lower: Callable[..., str]) -> None:
    before = "constexpr float most = std::numeric_limits<float>::infinity(), least = -most;\n"
    before += "template <class T> struct Limits { static constexpr T none = std::numeric_limits<T>::quiet_NaN(); };\n"
    assert lower("F[0] = most; F[1] = least; F[2] = Limits<float>::none;", before).splitlines() == [
        "F[0] <- 1.0f / 0.0f;", "F[1] <- -1.0f / 0.0f;", "F[2] <- 0.0f / 0.0f;",
    ]  # fmt: skip


@pytest.mark.parametrize("params", OF_THE_HOST)
def test_what_holds_something_of_the_host_is_refused_by_its_name(read: Read, params: str) -> None:
    """Nothing is known of the size of a string, so neither of what holds one."""
    body, name = OF_THE_HOST[params]
    with pytest.raises(CudaError, match=f"'(std::)?{name}' is of the host"):
        read(f"{HOSTED}__global__ void k(int *A, {params}) {{ {body} }}")


def test_what_only_functions_of_the_host_hold_stops_no_kernel(read: Read) -> None:
    assert read(HOSTED + "__global__ void k(Ok *c) { c[threadIdx.x].s = 1; }").kernel.name == "k"
    with pytest.raises(CudaError):
        read(HOSTED + "__global__ void k(int *A) { std::vector<int> v; A[0] = v[1]; }")


CONCEPTS = """
#include <concepts>
#include <cstddef>
#include <type_traits>
struct Base {}; struct Derived : Base {}; struct Bare { int x; };
struct Fixed { const int x; }; struct Made { Made(int); }; struct Less { bool operator()(int, int) const; };
struct Gives { Bare operator()(int) const; };
struct Only { Only(Only &&); Only(const Only &) = delete; }; struct Held { Held(); int x; };
struct Said { Said(Said &&); explicit Said(const Said &); }; struct Mute { Mute(const Mute &); Mute(Mute &) = delete; };
struct Ends { ~Ends() noexcept(false); }; struct Kept { Kept(int); private: ~Kept(); };
struct No { explicit operator bool() const; }; struct Asks { No operator()(int) const; bool operator()(int *); };
struct Hidden : private Base {}; union Both { int x; float y; };
"""

HOLD = (
    "std::same_as<int, int>", "!std::same_as<int, unsigned>", "std::derived_from<Derived, Base>",
    "!std::derived_from<Base, Derived>", "std::convertible_to<float, int>", "!std::convertible_to<Bare, int>",
    "std::integral<char>", "!std::integral<float>", "std::signed_integral<long>", "!std::signed_integral<unsigned>",
    "std::unsigned_integral<unsigned char>", "!std::unsigned_integral<int>", "!std::signed_integral<float>",
    "std::floating_point<double>", "!std::floating_point<int>", "std::constructible_from<Made, int>",
    "!std::constructible_from<Made, Bare>", "std::default_initializable<Bare>", "!std::default_initializable<Made>",
    "std::copy_constructible<Fixed>", "!std::copy_constructible<Only>", "std::move_constructible<Only>",
    "std::invocable<Less, int, int>", "!std::invocable<Less, Bare>", "std::predicate<Less, int, int>",
    "!std::predicate<Made, int>", "!std::predicate<Gives, int>", "std::invocable<Gives, int>",
    "std::is_invocable_v<Gives, int>", "!std::is_invocable_r_v<int, Gives, int>",
    "std::is_invocable_r_v<void, Gives, int>",
    # void, and what is const
    "std::convertible_to<void, void>", "!std::convertible_to<int, void>", "!std::convertible_to<void, int>",
    "!std::default_initializable<const int>", "!std::default_initializable<const Bare>",
    "std::default_initializable<const Held>", "!std::default_initializable<const int[2]>",
    "std::default_initializable<int[2]>", "!std::default_initializable<int &>", "!std::default_initializable<void>",
    # copies from what is const and what is not, and what may be ended
    "std::move_constructible<Said>", "!std::copy_constructible<Said>", "!std::copy_constructible<Mute>",
    "std::copy_constructible<int &>", "!std::constructible_from<Ends>", "!std::constructible_from<Kept, int>",
    "!std::move_constructible<Ends>", "std::constructible_from<const int &, int>",
    "!std::constructible_from<int &, int>",
    "!std::predicate<Asks, int>", "std::predicate<Asks, int *>", "!std::predicate<const Asks, int *>",
    "!std::derived_from<Hidden, Base>", "!std::derived_from<Both, Both>", "!std::derived_from<int, int>",
    "std::derived_from<const Derived, volatile Base>", "!std::integral<int &>", "std::integral<const volatile bool>",
    "std::unsigned_integral<bool>", "!std::same_as<int, const int>", "!std::convertible_to<int *, int>",
    # traits, as values and as types
    "!std::is_copy_constructible_v<Only>", "std::is_move_constructible<Only>::value",
    "std::is_copy_constructible_v<int &>",
    "!std::is_copy_assignable_v<Fixed>", "!std::is_move_assignable<Fixed>::value", "std::is_move_assignable_v<Bare>",
    "!std::is_default_constructible_v<void>", "!std::is_copy_constructible<void>::value",
    "!std::is_copy_assignable_v<void>",
    "std::is_trivially_copy_constructible_v<Bare>", "!std::is_trivially_copy_constructible_v<Mute>",
    "!std::is_trivially_default_constructible_v<Held>", "std::is_trivially_constructible_v<Bare, const Bare &>",
    "std::is_nothrow_default_constructible_v<int>", "!std::is_nothrow_constructible_v<int *, int>",
    "std::is_trivially_move_assignable_v<Bare>", "std::is_nothrow_copy_assignable_v<int *>",
    "std::is_trivially_assignable<int &, int>::value", "!std::is_assignable_v<int, int>",
    "std::is_assignable_v<Bare, Bare>",
    "std::is_destructible_v<Ends>", "!std::is_nothrow_destructible_v<Ends>", "!std::is_destructible<Kept>::value",
    "std::is_null_pointer_v<const std::nullptr_t>", "std::is_member_object_pointer_v<int Bare::*>",
    "std::is_member_function_pointer<bool (Less::*)(int, int)>::value", "!std::is_member_object_pointer_v<int *>",
    "std::is_bounded_array_v<int[2]>", "std::is_unbounded_array_v<int[]>", "!std::has_virtual_destructor_v<Derived>",
    "std::has_unique_object_representations_v<int>", "!std::has_unique_object_representations_v<float>",
    "std::is_same_v<std::add_cv_t<int>, const volatile int>",
)  # fmt: skip


def test_concepts_hold_where_a_host_compiler_has_it(tmp_path: Path, read: Read) -> None:
    """Each as a number of the program; the same claims are given to g++."""
    writes = "".join(f"A[{i}] = {claim}; " for i, claim in enumerate(HOLD))
    lowered = show_stmt(read(f"{CONCEPTS}__global__ void k(int *A) {{ {writes}}}\n").kernel.body)
    assert lowered.splitlines() == [f"A[{i}] <- 1;" for i in range(len(HOLD))]
    if COMPILER is not None:
        path = tmp_path / "concepts.cpp"
        path.write_text(CONCEPTS + "".join(f"static_assert({claim});\n" for claim in HOLD))
        done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", str(path)], check=False, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("claim", ["std::is_invocable_v<int Bare::*, Bare>", "std::predicate<int Bare::*, Bare>"])
def test_a_member_is_not_taken_for_what_cannot_be_called(refused: Callable[[str, str], None], claim: str) -> None:
    refused(f"{CONCEPTS}__global__ void k(int *A) {{ A[0] = {claim}; }}\n", "a pointer to a member")


def test_a_concept_chooses_the_template(read: Read) -> None:
    whole = "template <std::integral T> __device__ T f(T x) { return x + x; }\n"
    other = "template <class T> __device__ T f(T x) requires std::floating_point<T> { return x * x; }\n"
    for kind, what in (("int", "x + x"), ("float", "x * x")):
        text = f"{CONCEPTS}{whole}{other}__global__ void k({kind} *A) {{ A[0] = f(A[1]); }}\n"
        assert what in show_stmt(read(text).kernel.body)


def test_a_requires_with_parts_is_answered_as_a_compiler_does_it(
    refused: Callable[[str, str], None], read: Read
) -> None:
    """clang keeps the first answer, and the host may not call what only a kernel may: here it is asked first."""
    text = "template <class F> concept Fn = requires(F f) { f(1); };\n"
    text += "struct G { __device__ int operator()(int x) { return x; } };\nvoid host() { HOST }\n"
    text += "template <class F> __global__ void k(int *A, F f) { if constexpr (Fn<F>) A[threadIdx.x * 9] = f(1); }\n"
    text += "template __global__ void k<G>(int *, G);\n"
    assert "A[tid.x * 9] <- " in show_stmt(read(text.replace("HOST", "")).kernel.body)
    refused(text.replace("HOST", "static_assert(Fn<G>);"), "a template is chosen by what may be called")
    own = text.replace("concept Fn = requires(F f) { f(1); }", "concept Fn = std::invocable<F, int>")
    reading = read("#include <concepts>\n" + own.replace("HOST", "static_assert(Fn<G>);"))
    assert "A[tid.x * 9] <- " in show_stmt(reading.kernel.body)


def test_what_host_code_launches_is_found_where_all_may_call_all(read: Read) -> None:
    """Instances that launches make, of a source that is read a second time: by a template, in a structure, of a lambda,
    from a function whose name others see."""
    text = (
        "template <class T, class F> __global__ void k(T *A, F f) { decltype(*A) r = A[threadIdx.x * 9]; r = f(2); }\n"
    )
    text += "struct F { __device__ int operator()(int x) const { return x + 3; } };\n"
    text += "struct S { int *A; void go() const { 1 } };\ntemplate <class T> void with(T *A) { 2 }\n"
    text += 'extern "C" void host(int *A) { 3 }\ntemplate void with<int>(int *);\n'
    for where in "123":
        for f in ("F{}", "[=] __device__(int x) { return x + 3; }")[: 1 if where == "2" else 2]:
            one = re.sub("[123] }", "}", text.replace(f"{where} }}", f"k<<<1, 32>>>(A, {f}); }}"))
            assert "A[tid.x * 9]" in show_stmt(read(one).kernel.body)


def test_a_function_of_the_shim_may_be_defined_again(read: Read) -> None:
    text = "__device__ double atomicAdd(double *p, double v) { return *p += v; }\n"
    text += "__global__ void k(double *A) { decltype(*A) r = A[0]; atomicAdd(&r, 1.0); }\n"
    assert "A[0] <- " in show_stmt(read(text).kernel.body)


ASKS: Final = {
    "alias": "template <class F> using R = decltype(std::declval<F>()(1));\n"
    "template <class F> concept Fn = !std::is_void_v<R<F>>;",
    "size": "template <class F> concept Fn = sizeof(std::declval<F>()(1)) > 0;",
    "comment": "template <class F> concept Fn = requires /* that */ (F f) { f(1); };",
    "macro": "#define ASK requires\ntemplate <class F> concept Fn = ASK(F f) { f(1); };",
    "pasted": "#define ASK(a) re##a\ntemplate <class F> concept Fn = ASK(quires)(F f) { f(1); };",
}


@pytest.mark.parametrize("way", ASKS)
@pytest.mark.parametrize("first", ["host", "kernel"])
def test_a_concept_that_depends_on_who_asks_is_refused(
    read: Read, refused: Callable[[str, str], None], way: str, first: str
) -> None:
    """clang keeps the first answer, by what may be called from there; a CUDA compiler has another one."""
    text = f"#include <concepts>\n{ASKS[way]}\nstruct G {{ SIDE int operator()(int); }};\n"
    text += "void host() { static_assert(Fn<G> || !Fn<G>); }\n" if first == "host" else ""
    text += "template <class F> __global__ void k(int *A) { if constexpr (Fn<F>) A[threadIdx.x * 9] = 1; }\n"
    text += "template __global__ void k<G>(int *);\n"
    other = "__device__" if first == "host" else "__host__"
    refused(text.replace("SIDE", other), "a template is chosen by what may be called")
    both = read(text.replace("SIDE", "__host__ __device__"))
    assert show_stmt(both.kernel.body) == "A[tid.x * 9] <- 1;"


CHOSEN: Final = {
    "type": "template <class F> __device__ auto pick(F f, int) -> decltype(f(1)) { return 9; }",
    "size": "template <class F> __device__ std::enable_if_t<sizeof(F{}(1)) != 0, int> pick(F, int) { return 9; }",
    "typeof": "template <class F> __device__ __typeof__(F{}(1)) pick(F, int) { return 9; }",
    "yes": "template <class F> __device__ char (&has(char (*)[sizeof F{}(1)]))[2];\n"
    "template <class> __device__ char has(...);\n"
    "template <class F> __device__ int pick(F, int) { return sizeof has<F>(nullptr) == 2 ? 9 : 0; }",
    "spliced": "template <class F> __device__ auto pick(F f, int) -> decl\\\ntype(f(1)) { return 9; }",
    "pasted": "#define T(a) decl##a\ntemplate <class F> __device__ auto pick(F f, int) -> T(type)(f(1)) { return 9; }",
}


@pytest.mark.parametrize("way", CHOSEN)
def test_a_template_that_is_chosen_by_what_host_code_calls_is_refused(
    read: Read, refused: Callable[[str, str], None], way: str
) -> None:
    """f(1) is not executed, so that a CUDA compiler takes 9 for what only the host may call, too."""
    text = f"struct G {{ SIDE int operator()(int); }};\n{CHOSEN[way]}\n"
    text += "template <class F> __device__ int pick(F, long) { return 0; }\n"
    text += "__global__ void k(int *A) { A[threadIdx.x * pick(G{}, 0)] = 1; }\n"
    refused(text.replace("SIDE", ""), "a template is chosen by what may be called")
    for side in ("__device__", "__host__ __device__"):
        assert "A[tid.x * 9] <- 1;" in show_stmt(read(text.replace("SIDE", side)).kernel.body)


@pytest.mark.parametrize(
    "claim",
    [
        "std::is_convertible_v<X, int>",
        "__is_convertible(X, int)",
        "std::is_assignable_v<X &, int>",
    ],
)
def test_a_trait_that_both_sides_answer_for_is_refused(
    read: Read, refused: Callable[[str, str], None], claim: str
) -> None:
    """nvcc 13 says no to all of these, as two functions would do: clang takes the one of the side that asks."""
    text = "#include <type_traits>\nstruct X { HOST operator long() const; DEVICE operator unsigned long() const;\n"
    text += "HOST X &operator=(long); DEVICE X &operator=(unsigned long); };\n"
    text += f"__global__ void k(int *A) {{ if constexpr ({claim}) A[0] = 1; else A[threadIdx.x * 9] = 1; }}\n"
    refused(
        text.replace("HOST", "__host__").replace("DEVICE", "__device__"), "a template is chosen by what may be called"
    )
    both = read(text.replace("HOST", "__host__ __device__").replace("DEVICE", "__host__ __device__"))
    assert show_stmt(both.kernel.body) == "A[tid.x * 9] <- 1;"


LIBRARY = (
    "#include <cuda_fp16.h>\n#include <cuda/atomic>\n#include <cuda/barrier>\n#include <cuda/std/mdspan>\n"
    "#include <cub/cub.cuh>\n#include <cooperative_groups.h>\n#include <mma.h>\n#include <tuple>\n#include <utility>\n"
    "#include <type_traits>\nstruct Pair { int n; std::pair<int, int> p; }; struct Halves { half2 h[4]; };\n"
    "struct Late : std::tuple<int, float> { ~Late(); };\n"
    "template <class T> struct Own { T t; Own &operator=(const Own &); };\n"
    "struct Tile { cooperative_groups::thread_block_tile<32> t; }; struct One { One(cuda::std::optional<int>); };\n"
    "struct Root { Root(const Root &) noexcept(noexcept(sqrtf(1.0f))); };\n"
    "struct S { float t[4]; Tile x; }; typedef cub::BlockScan<int, 128> Scan;\n"
    "using namespace nvcuda::wmma; typedef fragment<accumulator, 16, 16, 16, float> Sum;\n"
)


ASKED: Final = (
    "std::is_trivially_copyable_v<std::pair<int, int>>", "std::is_trivially_copy_assignable<Pair>::value",
    "std::is_trivially_copyable_v<Halves>", "std::is_trivially_copyable_v<Halves[2]>", "std::is_trivial_v<Pair>",
    "std::is_trivially_default_constructible_v<Pair>", "std::is_standard_layout_v<Late>",
    "std::is_trivially_copy_assignable_v<Late>", "std::is_trivially_copy_constructible_v<Own<half2>>",
    "std::is_copy_assignable_v<cuda::atomic<int>>", "std::is_aggregate_v<std::tuple<int>>", "std::is_empty_v<Tile>",
    "sizeof(Tile) > 16", "alignof(Sum) == 8", "sizeof(Scan::TempStorage) < 660", "sizeof(S) > 32",
    "std::is_integral_v<const __int128>", "std::is_compound_v<unsigned __int128>",
    "sizeof(Tile) == 16", "sizeof(cooperative_groups::grid_group) != 16",
    "std::is_nothrow_copy_assignable_v<half2>", "std::is_nothrow_constructible<float, half>::value",
    "std::is_nothrow_copy_constructible_v<Root>", "std::is_convertible_v<half, cuda::std::optional<float>>",
    "std::is_assignable_v<half &, long>", "std::is_constructible_v<One, std::integral_constant<int, 3>>",
    "std::is_trivially_constructible_v<half, float>",
    "std::has_unique_object_representations_v<cooperative_groups::thread_block_tile<32>>",
)  # fmt: skip


def test_what_a_library_has_otherwise_is_not_asked(read: Read, refused: Callable[[str, str], None]) -> None:
    """The answers of nvcc 13 with libstdc++ are others than those of our headers, which are as good as any: libraries
    differ. What a compiler is asked without a library is refused wherever it stands."""
    kernels = "".join(
        f"__global__ void k{i}(int *A) {{ if constexpr ({asked}) A[0] = 1; else A[threadIdx.x * 9] = 1; }}\n"
        for i, asked in enumerate(ASKED)
    )
    for i in range(len(ASKED)):
        with pytest.raises(CudaError, match="library"):
            read(LIBRARY + kernels, f"k{i}")
    asked = "noexcept(sqrtf(1.0f)) ? 8 : 1"  # nvcc says yes
    refused(f"{LIBRARY}__global__ void k(int *A) {{ A[threadIdx.x * ({asked})] = 1; }}\n", "library")
    table = f"__constant__ int rows[2] = {{0, {ASKED[0]} ? 1 : 8}};\n"
    table += "__global__ void k(int *A) { A[rows[threadIdx.x & 1]] = 1; }\n"
    refused(f"{LIBRARY}{table}", "library")
    for asked in ("__is_trivially_copyable(int)", "__has_trivial_assign (Pair)", "__is_\\\n" + "empty(Pair)"):
        refused(f"{LIBRARY}__global__ void k(int *A) {{ A[0] = {asked}; }}\n", "library")


def test_classes_of_two_libraries_are_two(read: Read) -> None:
    """As nvcc 13 has them, whatever they are called by."""
    text = "#include <cuda/std/utility>\n#include <functional>\n#include <type_traits>\n#include <utility>\n"
    text += "namespace cu = cuda; namespace cs = cu::std;\n#define OF(N) N::pair<int, int>\n"
    asked = (
        *("std::is_same_v<OF(std), OF(cs)>", "std::is_same_v<std::remove_cv<int>, cs::remove_cv<int>>"),
        *("std::is_base_of_v<std::true_type, cs::is_integral<int>>", "std::is_same_v<std::hash<int>, cs::hash<int>>"),
    )
    text += "__global__ void k(int *A) { " + "".join(f"A[{i}] = {q}; " for i, q in enumerate(asked)) + "}\n"
    assert show_stmt(read(text).kernel.body).splitlines() == [f"A[{i}] <- 0;" for i in range(len(asked))]


@pytest.mark.parametrize(
    "asked",
    [
        "std::is_same_v<thrust::pair<int, int>, cuda::std::pair<int, int>> ? 1 : 8",
        "std::is_same_v<std::input_iterator_tag, cuda::std::input_iterator_tag> ? 1 : 8",
        "f(sqrtf)",
    ],
)
def test_what_is_in_some_versions_of_a_library_is_not_asked(asked: str, refused: Callable[[str, str], None]) -> None:
    """Functions on numbers throw nothing in CUDA, which is in their types, and may in others."""
    text = "#include <cuda/std/utility>\n#include <thrust/pair.h>\n#include <type_traits>\n"
    text += "__device__ constexpr int f(float (*)(float)) { return 1; }\n"
    text += "template <class T> __device__ constexpr int f(T) { return 8; }\n"
    refused(f"{text}__global__ void k(int *A) {{ A[threadIdx.x * ({asked})] = 1; }}\n", "library")


def test_functions_and_classes_of_libraries_may_be_used_together(read: Read) -> None:
    text = "#include <cuda/std/array>\n#include <cuda/std/tuple>\n#include <thrust/pair.h>\n#include <utility>\n"
    text += "template <float (*F)(float), class G> __device__ float f(G g, float x) { return F(g(x)); }\n"
    text += "__global__ void k(float *A, std::pair<int, int> p, cuda::std::pair<int, int> q) {\n"
    text += "  thrust::pair<int, int> r = thrust::make_pair(q.first, 3);\n"
    text += "  auto [b, c] = cuda::std::array<int, 2>{1, 2}; auto [d, e] = cuda::std::make_tuple(1, 2); A[b] = e;\n"
    text += "  A[p.first + r.second] = f<sqrtf>(expf, 2.0f); }\n"
    assert "A[b_c.elems_0] <- as_float(d_e.e1);\nx_2 <- 2.0f;\nA[p.first + r.second] <- sqrtf(expf(x_2));" in show_stmt(
        read(text).kernel.body
    )


def test_an_array_of_what_has_another_size_in_a_library_is_refused(refused: Callable[[str, str], None]) -> None:
    refused(
        f"{LIBRARY}__global__ void k(S *p) {{ p[threadIdx.x].t[0] = 1; }}\n",
        "library",
    )
    shared = "__shared__ Scan::TempStorage s[4]; s[threadIdx.x & 3].__w_total = 1; A[0] = s[1].__w_total;"
    refused(f"{LIBRARY}__global__ void k(int *A) {{ {shared} }}\n", "library")
    rows = "extern __shared__ int raw[]; raw[threadIdx.x * sizeof(Tile)] = 1; A[0] = raw[sizeof(Tile) * threadIdx.x];"
    refused(f"{LIBRARY}__global__ void k(int *A) {{ {rows} }}\n", "library")
    refused(f"{LIBRARY}__global__ void k(int *A) {{ A[threadIdx.x + sizeof(Tile)] = 1; }}\n", "library")
    odd = "extern __shared__ char raw[]; raw[threadIdx.x + sizeof(Tile) / 8] = 1;"  # 2 or 32768 bytes further
    refused(f"{LIBRARY}__global__ void k(int *A) {{ {odd} }}\n", "library")


def test_fields_beside_what_has_another_size_are_read(read: Read) -> None:
    """Where a field is moves all lanes alike."""
    body = "__shared__ struct { float x[128]; Scan::TempStorage s; int y[128]; } u; int v = threadIdx.x; u.y[v] = v;"
    body += "u.x[v] = v; Scan(u.s).InclusiveSum(v, v); A[v] = u.x[127 - threadIdx.x] + u.y[v & 127];"
    assert "u.y[v] <- v;" in show_stmt(read(f"{LIBRARY}__global__ void k(int *A) {{ {body} }}\n").kernel.body)
    body = "extern __shared__ char raw[]; Scan::TempStorage &s = *(Scan::TempStorage *)raw; int v = A[threadIdx.x];"
    body += "int *more = (int *)(raw + sizeof(Scan::TempStorage)); more[v & 63] = v; Scan(s).InclusiveSum(v, v);"
    body += "if (more[threadIdx.x + 1] > v) more[3] = v; A[v & 63] = more[2];"
    assert "more" not in show_stmt(read(f"{LIBRARY}__global__ void k(int *A) {{ {body} }}\n").kernel.body)


def test_arrays_of_halves_and_bytes_may_be_in_what_has_another_size(read: Read) -> None:
    """As in bitsandbytes: what CUB keeps them in begins at a word, and how long it is says nothing."""
    text = (
        "#include <cub/cub.cuh>\n#include <cuda_fp16.h>\ntemplate <class T> __global__ void k(T *A, unsigned char *B) {"
    )
    text += "  typedef cub::BlockLoad<T, 32, 2, cub::BLOCK_LOAD_WARP_TRANSPOSE> Load;\n"
    text += "  typedef cub::BlockStore<unsigned char, 32, 2, cub::BLOCK_STORE_WARP_TRANSPOSE> Store;\n"
    text += "  __shared__ typename Load::TempStorage load; __shared__ typename Store::TempStorage store; T x[2];\n"
    text += "  Load(load).Load(A, x); unsigned char b[2] = {3, (unsigned char)(int)x[1]}; Store(store).Store(B, b); }\n"
    for t in ("half", "__nv_bfloat16", "short", "signed char"):
        more = "#include <cuda_bf16.h>\n" if "bf" in t else ""
        assert "load.__w_part" in show_stmt(
            read(f"{more}{text}template __global__ void k({t} *, unsigned char *);").kernel.body
        )


ARE: Final = (
    "!std::is_floating_point_v<half>", "!std::is_arithmetic<const half>::value", "std::is_class_v<__nv_bfloat16>",
    "!std::is_scalar_v<half>", "!std::is_fundamental_v<half>", "std::is_compound_v<half>", "!std::is_signed_v<half>",
    "std::is_trivially_copyable_v<half>", "!std::is_floating_point_v<nv_bfloat16>", "!std::floating_point<half>",
    "std::has_unique_object_representations_v<half[2]>", "std::is_floating_point_v<float>", "!std::is_class_v<float>",
    "sizeof(std::array<int, 0>) == 1", "sizeof(cuda::std::span<int, 4>) == 8", "sizeof(cuda::std::span<int>) == 16",
    "!std::is_default_constructible_v<cuda::std::span<int, 4>>", "!std::is_default_constructible_v<std::nullopt_t>",
    "std::is_nothrow_default_constructible_v<int[2]>", "std::is_trivially_copyable_v<std::optional<int>>",
    "sizeof(cub::WarpExchange<int, 3, 16>::TempStorage) == 196",
    "sizeof(cub::WarpExchange<int, 8, 8>::TempStorage) == 268",
    "sizeof(cub::WarpMergeSort<char, 4, 32, int>::TempStorage) == 516",
    "sizeof(cub::BlockMergeSort<int, 128, 4>::TempStorage) == 2052",
    "std::tuple_size<std::pair<int, int>>::value == 2", "std::tuple_size_v<const std::tuple<int, float>> == 2",
    "std::is_same_v<std::tuple_element_t<1, const std::pair<int, float>>, const float>",
    "std::is_same_v<decltype(std::optional<int>().emplace()), int &>",
)  # fmt: skip


def test_what_is_told_of_types_is_as_libraries_have_it(read: Read) -> None:
    """As nvcc 13 has it, with the headers of CUDA 13 and libstdc++."""
    head = HALVES + "#include <array>\n#include <cuda/std/span>\n#include <optional>\n#include <concepts>\n"
    head += "#include <type_traits>\n#include <cub/cub.cuh>\n"
    writes = "".join(f"A[{i}] = {claim}; " for i, claim in enumerate(ARE))
    lowered = show_stmt(read(f"{head}__global__ void k(int *A) {{ {writes}}}\n").kernel.body)
    assert lowered.splitlines() == [f"A[{i}] <- 1;" for i in range(len(ARE))]
    older = "std::is_same_v<std::less<int>::result_type, bool> && std::is_same_v<std::negate<int>::argument_type, int>"
    text = f"#include <functional>\n#include <type_traits>\n__global__ void k(int *A) {{ A[0] = {older}; }}\n"
    assert show_stmt(read(text).kernel.body) == "A[0] <- 1;"


ARRAYS: Final = """#include <array>
struct P { float x, y; }; struct Seg { P ends[2]; int id; };
struct Own { int n; __device__ Own() : n(1) {} }; struct Has { Own own[2]; };
__global__ void k(float *A, int n) { BODY }
"""


def test_lists_for_arrays_of_structures(read: Read, refused: Callable[[str, str], None]) -> None:
    """What is in a list is evaluated, once and in its order."""
    for body, written in (
        ("std::array<std::array<float, 4>, 4> m{}; m[n & 3][1] = A[2]; A[0] = m[1][n & 3];", "t <- A[2];"),
        ("P q{4.f, 5.f}; Seg s{{q, {A[n]}}, 8}; A[s.id] = s.ends[n & 1].x;", "s.id <- 8;"),
        (
            "Seg s{{{A[1], A[2]}, {A[3]}}, 7}; Seg t = s; A[t.id] = t.ends[1].y;",
            "t <- A[1];\nt_1 <- A[2];\nt_2 <- A[3];\n",
        ),
    ):
        found = show_stmt(read(ARRAYS.replace("BODY", body)).kernel.body)
        assert written in found, found
        assert found.count("A[2]") + found.count("A[n]") == 1, found
    refused(ARRAYS.replace("BODY", "Has h{{Own()}}; A[h.own[0].n] = 1;"), "a value for the field 'own'")
    refused(ARRAYS.replace("BODY", "Seg s{1, 2, 3, 4}; A[s.id] = 1;"), "a value for the field 'ends'")


def test_comparisons_go_part_by_part(read: Read) -> None:
    """Of arrays, tuples and values that may be missing, as Python has it of tuples."""
    text = "#include <array>\n#include <tuple>\n#include <optional>\n"
    text += "__global__ void k(int *A, int p, int q, int r, int s) {\n"
    text += "  std::array<int, 2> a{p, q}, b{r, s}; std::tuple<int, int> t{p, q}, u{r, s};\n"
    text += "  std::optional<int> o, e; if (p) o = q; if (r) e = s;\n"
    text += "  A[0] = (a == b) + 2 * (a < b) + 4 * (a != b) + 8 * (a > b);\n"
    text += "  A[1] = (t == u) + 2 * (t < u) + 4 * (t != u) + 8 * (t > u);\n"
    text += "  A[2] = (o == e) + 2 * (o < e) + 4 * (o != e); }\n"
    kernel = read(text).kernel
    for p, q, r, s in product((0, 1), repeat=4):
        arrays = run(kernel, (1, 1, 1), (1, 1, 1), {"p": p, "q": q, "r": r, "s": s}, {"A": [0] * 3}).arrays
        a, b, o, e = (p, q), (r, s), (p, q * p), (r, s * r)
        ordered = (a == b) + 2 * (a < b) + 4 * (a != b) + 8 * (a > b)
        assert [arrays["A"][i] for i in range(3)] == [ordered, ordered, (o == e) + 2 * (o < e) + 4 * (o != e)]


@pytest.mark.parametrize(
    "asks", ["#include <cooperative_groups.h>", "template <class T> struct Q { decltype(T()) x; };"]
)
def test_what_is_read_twice_may_be_as_deep_as_what_is_read_once(read: Read, asks: str) -> None:
    deep, inside = "(n ^ " * 190 + "1" + ")" * 190, "".join(f"if (n > {i}) {{ A[{i}] = {i}; " for i in range(190))
    body = f"__shared__ int s[32]; s[threadIdx.x & 31] = n; {inside} A[threadIdx.x] = {deep}; {'}' * 190}"
    kernel = read(f"{asks}\n__global__ void k(int *A, int n) {{ {body} }}\n").kernel
    assert sum(isinstance(s, Write) for s in statements(kernel.body)) == 192
