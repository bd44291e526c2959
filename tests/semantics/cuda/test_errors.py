"""Everything that can't be read: the place, the sentence, the advice."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from logic.source import Loc
from logic.syntax import Write as ArrayWrite
from logic.syntax import show_stmt, statements
from semantics.cuda import CudaError, choices, diagnostics, kernel_names, read_cuda, state

Write = Callable[[str | bytes], str]
ONE = "__global__ void k(int *A) { A[0] = 1; }\n"
TWO = ONE + "__global__ void k2(int *A) { A[0] = 1; }\n"


def failure(path: str, name: str | None = None, **options: object) -> CudaError:
    with pytest.raises(CudaError) as caught:
        read_cuda(path, name, **options)  # type: ignore[arg-type]
    return caught.value


BODIES = {
    # column of the place, message, part of the advice
    "switch (n) { case 1: if (n) { case 2: n = 1; } }": (
        14,
        "a label inside another statement is not supported",
        "in the block of the 'switch'",
    ),
    "switch (int x = n) { case 1: break; }": (1, "a declaration in a 'switch' is not supported", "before"),
    "for (;;) { l: if (A[0]) goto l; if (A[1]) goto l; break; }": (
        12,
        "a way out of a loop between 'goto l' and its label is not supported",
        "with loops",
    ),
    "if (n) goto l; { l: A[0] = 1; }": (8, "a 'goto' that leads into a block is not supported", "with loops"),
    'asm("nope;");': (1, "the instruction 'nope' in inline assembly is not supported", ""),
    "A[0] = n ?: 4;": (8, "this kind of expression is not supported", ""),
    "__atomic_fetch_add(A, 1, 0);": (1, "this kind of expression is not supported", ""),
    "if (n; n > 5) A[0] = 1;": (1, "a statement in a condition is not supported", "Write it before."),
    "A[0] = fact(n);": (None, "the recursive function 'fact' is not supported", ""),
    "A[0] = proto(A);": (8, "the function 'proto' has no body in this file", "Include its definition."),
    "atomicAdd(A, inc(A));": (
        14,
        "a call of 'inc', which has effects, inside an expression is not supported",
        "Assign its result to a variable first.",
    ),
    "A[0] = n + m.get(n++);": (
        8,
        "a variable or an array is changed and used in one expression, and not every C++ says which comes first",
        "Use two statements.",
    ),
    "int a[4]; a[4] = 1;": (11, "'a' has no element 4", ""),
    "U[n] = U[0];": (8, "a copy of the union 'W' is not supported", "Use the member that it holds."),
    "static int s = 1;": (12, "the static variable 's' is not supported", "All threads share it."),
    "thread_local int s = 1;": (18, "the static variable 's' is not supported", "All threads share it."),
    "__shared__ int s[2]; int *p = A; if (n) p = s; p[0] = 1;": (
        41,
        "one pointer into shared and into global memory is not supported",
        "Use a pointer for each.",
    ),
    "int *p; *p = 1; p = A;": (10, "the pointer 'p' is used before it is assigned", ""),
    "float (*p)[n] = (float (*)[n])F; p[n][0] = 1;": (
        11,
        "cannot use variable-length arrays in __global__ functions",
        "",
    ),
    "for (; int x = A[n];) A[x] = 0;": (
        12,
        "a declaration in a condition is not supported",
        "Declare the variable in the body.",
    ),
    "int v[2]; auto g = [v](int x) mutable { return v[0] += x; }; A[0] = g(1);": (
        20,
        "a lambda that changes its copy of 'v' is not supported",
        "Capture it by reference.",
    ),
    "__shared__ int q[8][n];": (
        16,
        "the row length of the shared array 'q' is not a constant",
        "Give the block (--block), or flatten the array.",
    ),
    "extern __shared__ float s[]; float *a = s; int *b = (int *)s; a[1] = b[1];": (
        63,
        "the array 's' with elements of two types or sizes is not supported",
        "Use two arrays.",
    ),
    # what libclang cannot tell: it gives the last 64 bits, and the element that an offset is of by its number
    "if (n + ((__int128)1 << 70) > n) A[n] = 0;": (
        10,
        "a constant of type '__int128' is not supported",
        "Use 64 bits, or take it as an argument.",
    ),
    "if ((unsigned __int128)-1 > n) A[n] = 0;": (
        24,
        "a constant of type 'unsigned __int128' is not supported",
        "64 bits",
    ),
    "if ((__int128)1e30 > n) A[n] = 0;": (15, "a constant of type '__int128' is not supported", "64 bits"),
    "A[__builtin_offsetof(Q, a[n]) - n] = 0;": (3, "this kind of expression is not supported", ""),
    # clang's
    "A[0] = foo(n);": (8, "use of undeclared identifier 'foo'", ""),
    "A[0] = 1": (9, "expected ';' after expression", ""),
    "/* éü */ A[0] = foo;": (17, "use of undeclared identifier 'foo'", ""),
}


@pytest.mark.parametrize("body", BODIES)
def test_unsupported(here: Write, body: str) -> None:
    before = """texture<int> tex;
        __device__ int fact(int v) { return v < 2 ? 1 : v * fact(v - 1); }
        __device__ int proto(int *);
        __device__ int inc(int *p) { return ++*p; } __device__ int put(const int &v, int *p) { p[0] = 2; return v; }
        struct M { int z; __device__ int get(int i) { return z + i; } };
        struct S { int x, y; }; struct Q { int x, a[9]; };
        union W { int a; double b; };
        __constant__ int T[4];
        __constant__ M m;
        """
    path = here(f"{before}\n__global__ void k(int *A, int *B, float *F, S *V, W *U, int **PP, int n) {{\n{body}\n}}\n")
    column, message, advice = BODIES[body]
    error = failure(path)
    assert error.message == message
    assert advice in error.advice
    place = Loc("x.cu", 2, 61) if column is None else Loc("x.cu", 12, column)
    assert error.loc == place


def test_rows_whose_length_is_a_parameter(here: Write) -> None:
    """`A[i][0]` is in another row for each i."""
    error = failure(here("__global__ void k(int n, float (*A)[n]) { A[0][1] = 1; A[threadIdx.x][0] = 1; }"))
    assert error.message == "a step over elements of which the size is not known is not supported"
    assert (error.loc and error.loc.column) == 58


@pytest.mark.parametrize(
    ("text", "name", "message", "loc", "advice"),
    [
        ("", None, "there is no kernel in 'x.cu'", None, "A kernel is a function marked __global__."),
        ("int x;", None, "there is no kernel in 'x.cu'", None, "A kernel is a function marked __global__."),
        ("int f() { return g(); }", None, "use of undeclared identifier 'g'", (1, 18), ""),
        ("hello world", None, "unknown type name 'hello'", (1, 1), ""),
        (b"\0\1\2\xff\xfe" * 50, None, "cannot read 'x.cu': it is no text", None, "Give CUDA C, saved as UTF-8."),
        (TWO, None, "'x.cu' has 2 kernels: say which", None, "There are k, k2. Use --kernel NAME."),
        (TWO, "zz", "there is no kernel 'zz' in 'x.cu'", None, "There are k, k2."),
        (ONE, "zz", "there is no kernel 'zz' in 'x.cu'", None, "There is k."),
        (b"// \xe9\n__global__ void k(int *A) { /* \xe9\xe9 */ foo(); }", None,
         "use of undeclared identifier 'foo'", (2, 38), ""),
        ("struct P { foo z; int y; };\n__global__ void k(P *A) { A[0].y = 1; }", None,
         "unknown type name 'foo'", (1, 12), ""),
        ("typedef foo T;\n__global__ void k(T *A) { A[0] = 1; }", None, "unknown type name 'foo'", (1, 9), ""),
        ('#include "z.h"\n__global__ void k(real *A) { A[0] = 1; }', None,
         "unknown type name 'real'", (2, 19), "'z.h' was not found: give its folder with -I."),
        ("__device__ int f(int x) { return bad; }\n__global__ void k(int *A) { A[0] = f(2); }", None,
         "use of undeclared identifier 'bad'", (1, 34), ""),
        ("struct S { int x; };\n\nstruct S { int y; };\n__global__ void k(S *A) { A[0].x = 1; }", None,
         "redefinition of 'S'", (3, 8), "It is first declared at x.cu:1:8."),
        ("#define N 4\nenum { A = 1 };\nint A;\n__global__ void k(int *B) { B[A] = N; }", None,
         "redefinition of 'A' as different kind of symbol", (3, 5), "It is first declared at x.cu:2:8."),
        ("namespace a { __global__ void k(int *A) {} }\n" + ONE, "k", "there are 2 kernels called 'k'", (2, 17),
         "Say which by its namespace, such as --kernel 'a::k'."),
        ("__global__ void k(float *A) {}\n" + ONE, "k", "there are 2 kernels called 'k'", (2, 17),
         "Say which by its parameters, such as --kernel 'k(float *)'."),
        ("__global__ void k(float *A) {}\n" + ONE, "k(int)", "there is no kernel 'k(int)' in 'x.cu'", None,
         "Did you mean 'k(int *)'? There is k(float *) and k(int *)."),
    ],
)  # fmt: skip
def test_file(
    here: Write, text: str | bytes, name: str | None, message: str, loc: tuple[int, int] | None, advice: str
) -> None:
    error = failure(here(text), name)
    assert (error.message, error.advice) == (message, advice)
    assert error.loc == (None if loc is None else Loc("x.cu", *loc))


def test_errors_elsewhere_do_not_matter(here: Write) -> None:
    path = here("#include <iostream>\nfoo T;\nvoid h() { std::cout << bar(); }\n" + ONE)
    assert read_cuda(path).notes == ()


F = "A[threadIdx.x * 32 + f(1)] = 0;"
LOST = {
    "the type that a function returns": ("__device__ real f(int i) { return 3; }", F, "unknown type name 'real'"),
    "the same after the name": ("__device__ auto f(int i) -> real { return 3; }", F, "unknown type name 'real'"),
    "a header that the shim stands in for": (
        "#include <cuda_fp8.h>\n__device__ __nv_fp8_e9m9 f(int i);", F, "unknown type name '__nv_fp8_e9m9'"
    ),
    "the type of a parameter": ("__device__ int f(real x) { return 3; }", F, "unknown type name 'real'"),
    "a default argument": (
        "__device__ int f(int x, int y = N);\n__device__ int f(int x, int y) { return x * y; }", F,
        "use of undeclared identifier 'N'",
    ),
    "what a function's type is made from": ("__device__ auto f(int i) { return real(i); }", F,
                                            "use of undeclared identifier 'real'"),
    "a macro that names it": ("#define W g(1)\n__device__ real g(int i);", "A[threadIdx.x * W] = 0;",
                              "unknown type name 'real'"),
    "a macro that makes its name": (
        "#define CALL(n) f##n(1)\n__device__ real f2(int i);", "A[threadIdx.x * CALL(2)] = 0;",
        "unknown type name 'real'",
    ),
    "an enumerator": ("enum { W = N };", "A[threadIdx.x * W] = 0;", "use of undeclared identifier 'N'"),
    "an enumerator after it": ("enum { V = N, W };", "A[threadIdx.x * W] = 0;", "use of undeclared identifier 'N'"),
    "the length of an array type": ("typedef int row[N];", "A[threadIdx.x * sizeof(row)] = 0;",
                                    "use of undeclared identifier 'N'"),
    "the type of a field": ("typedef char pad[N]; struct C { pad p; int x; };", "C c; A[threadIdx.x * sizeof(c)] = 0;",
                            "use of undeclared identifier 'N'"),
    "an attribute of a type": (
        "typedef int big __attribute__((aligned(N)));", "A[threadIdx.x * sizeof(big)] = 0;",
        "use of undeclared identifier 'N'",
    ),
    "a condition of the preprocessor": ("#if FOO(3)\n#define W 32\n#else\n#define W 1\n#endif",
                                        "A[threadIdx.x * W] = 0;", "function-like macro 'FOO' is not defined"),
    "an operator": ("struct P { int x; };\n__device__ real operator+(P a, P b);", "P p; A[0] = (p + p).x;",
                    "unknown type name 'real'"),
}  # fmt: skip


@pytest.mark.parametrize("what", LOST)
def test_errors_in_what_the_text_names_matter(what: str, here: Write) -> None:
    """clang leaves out statements that use a declaration with an error in it, without a word: `A[..] = f(1);` costs
    32 sectors, and nothing where it is not there."""
    before, statement, message = LOST[what]
    error = failure(here(f"{before}\n__global__ void k(int *A) {{ A[0] = 1; {statement} }}"))
    assert error.message == message
    assert error.loc is not None


def test_a_declaration_that_clang_calls_invalid_matters_wherever_its_error_is(
    here: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnostics.Reach, "matters", lambda *_: False)
    error = failure(here(f"__device__ real f(int i);\n__global__ void k(int *A) {{ A[0] = 1; {F} }}"))
    assert error.message == "'f' is declared with an error"
    assert error.loc == Loc("x.cu", 1, 17)


def test_errors_in_a_file_that_is_included_in_a_body_matter(here: Write, tmp_path: Path) -> None:
    (tmp_path / "body.inc").write_text("A[threadIdx.x * W] = 0;\n")
    error = failure(here('__global__ void k(int *A) {\n  A[0] = 1;\n#include "body.inc"\n}'))
    assert error.message == "use of undeclared identifier 'W'"
    (tmp_path / "body.inc").write_text("A[threadIdx.x * f(1)] = 0;\n")
    error = failure(here('__device__ real f(int);\n__global__ void k(int *A) {\n#include "body.inc"\n}'))
    assert error.message == "unknown type name 'real'"


INSTANCES = """
template <class T> __device__ T odd(T z) { return z % 2; }
template <class T, int N> __global__ void k(T *x) { x[threadIdx.x] = odd(x[N]); }
template __global__ void k<int, 1>(int *); template __global__ void k<unsigned, 2>(unsigned *);
template __global__ void k<float, 1>(float *); template __global__ void k<double, 1>(double *);
__global__ void both(int *x, double *y) { x[0] = odd(3); y[0] = odd(1.0); }
"""


@pytest.mark.parametrize("name", ["k<int, 1>", "k<unsigned int, 2>", "k<float, 1>", "k<double, 1>", "both"])
def test_errors_of_other_instances_do_not_matter(name: str, here: Write) -> None:
    """clang tells an error in each instance that has it; what the type of a function is made from matters to all."""
    if name in ("k<int, 1>", "k<unsigned int, 2>"):
        assert read_cuda(here(INSTANCES), name).kernel.name == name
    else:
        assert failure(here(INSTANCES), name).loc == Loc("x.cu", 2, 53)
    assert failure(here(INSTANCES.replace("T odd", "auto odd")), name).loc is not None


@pytest.mark.parametrize("said", ["__builtin_is_constant_evaluated()", "ASKS", "__builtin_is_constant_##evaluated"])
def test_whether_something_is_a_constant_is_not_asked(said: str, here: Write) -> None:
    """`const int w = f(1)` is 32, whatever `f(1)` is at run time."""
    before = "#define P(A, B) A##B()\n" if "##" in said else ""
    said = "P(__builtin_is_constant_, evaluated)" if "##" in said else said
    text = f"{before}__device__ constexpr int f(int x) {{ return {said} ? 32 : x; }}\n"
    text += "__global__ void k(int *A) { const int w = f(1); A[w * threadIdx.x] = 1; }"
    error = failure(here(text), defines=("ASKS=__builtin_is_constant_evaluated()",) if said == "ASKS" else ())
    assert "is_constant_evaluated" in error.message or "evaluated as a constant" in error.message


HOST = """
#include <iostream>
#include <vector>
#include <helper_cuda.h>
using namespace std;
class Timer { string name; cudaEvent_t start; void begin() { cudaEventRecord(start); n = 3; } };
vector<int> sizes;
typedef thrust::device_vector<float> Vector;
static void check(cublasHandle_t h, const char *A) { cublasDestroy(h); }
vector<float> make(int n) { vector<float> A(n); return A; }
float A0(float *A, int n) { float sum = 0; for (auto x : make(n)) sum += x; return sum; }
__device__ Vector unused(int n) { return n; }
__global__ void other(Vector A) { A[0] = bad; }
int main(int argc, char **argv) {
  int *d; CHECK(cudaMalloc(&d, 4 * n)); cout << sum << endl; sizes.push_back(1);
  k<<<1, 64>>>(d, 5);
}
"""


def test_errors_in_host_code_do_not_matter(here: Write) -> None:
    kernel = "__global__ void k(int *A, int n) { int sum = n, start = 0; A[threadIdx.x] = sum + start; }"
    reading = read_cuda(here(kernel + HOST), "k")
    assert reading.block == (64, 1, 1)
    assert reading.notes == ("the header 'helper_cuda.h' was not found and is taken as empty",)


def test_the_shim_has_no_names_of_its_own(here: Write) -> None:
    """`saturate` and `uchar` are not CUDA's: a program may have its own, which read, or are longer."""
    own = "__device__ float saturate(float x) { return LUT[(int) x]; }"
    path = here(f"__constant__ float LUT[256];\n{own}\n__global__ void k(float *A) {{ A[0] = saturate(A[1]); }}")
    assert "LUT[" in show_stmt(read_cuda(path).kernel.body)
    path = here("typedef float uchar;\n__global__ void k(uchar *A) { A[0] = 1; }")
    assert read_cuda(path).kernel.arrays[0].stride == 4


CONDITIONS = "__global__ void k(int *A) {\n#if %s\n  A[0] = 1;\n#else\n  A[0] = 2;\n#endif\n}"


@pytest.mark.parametrize(
    ("condition", "before", "value", "note"),
    [
        ("__CUDA_ARCH__ >= 900", "", 2, "'__CUDA_ARCH__' is taken as 800: -D __CUDA_ARCH__=.. says otherwise"),
        ("CUDART_VERSION >= 9000", "", 1, "'CUDART_VERSION' is taken as 12000: -D CUDART_VERSION=.. says otherwise"),
        ("defined(__NVCC__)", "", 1, None),
        (
            "VOLTA",
            "#define VOLTA (ARCH < 700)\n#define ARCH __CUDA_ARCH__\n",
            2,
            "'__CUDA_ARCH__' is taken as 800: -D __CUDA_ARCH__=.. says otherwise",
        ),
        (
            "1\n/* why */ #endif\n/* why */ #if __CUDACC_VER_MINOR__ > 3",
            "",
            2,
            "'__CUDACC_VER_MINOR__' is taken as 0: -D __CUDACC_VER_MINOR__=.. says otherwise",
        ),
        ("__CUDA__", "", 1, "'__CUDA__' is taken as clang has it"),
        ("__has_feature(modules)", "", 2, "'__has_feature' is taken as clang has it"),
        ("__cplusplus > 201800", "", 2, "'__cplusplus' is what --std says"),
        ("defined(__MINE__)", "", 2, "'__MINE__' is taken as not defined: -D __MINE__=.. says otherwise"),
        ("defined(__MINE__)", "#define __MINE__\n", 1, None),
        ("defined(BIG)", "", 2, "'BIG' is taken as not defined: -D BIG=.. says otherwise"),
        ("'a' == 97 and not 1'0 xor 10 /* '\"' */", "", 1, None),
        ("A$ > 1", "", 2, "'A$' is taken as not defined: -D A$=.. says otherwise"),
        (
            "UINT_FAST16_MAX > 0xffffu",
            "#include <stdint.h>\n",
            2,
            "'UINT_FAST16_MAX' is taken as not defined: -D UINT_FAST16_MAX=.. says otherwise",
        ),
        (
            "defined(BIG)",
            '#include "memory.h"\n',
            2,
            "'BIG', which a header that was not found may define, is taken as not defined",
        ),
        (
            "defined(CUDART_INF_F)",
            "",
            1,
            "'CUDART_INF_F' is taken as defined, as some header of CUDA's or of the language does it",
        ),
        ("1\n#endif\n%:ifndef BIG", "", 1, "'BIG' is taken as not defined: -D BIG=.. says otherwise"),
        ("1\n#endif\n#\\\nifndef BIG", "", 1, "'BIG' is taken as not defined: -D BIG=.. says otherwise"),
        ("1\n#endif\nif (__GNUC_MINOR__ > 1)\n#if 1", "", 1, "'__GNUC_MINOR__' is taken as clang has it"),
        # nvcc has "void k(int *)", and in templates what is longer than clang's
        (
            "1\n#endif\nif (sizeof(__PRETTY_FUNCTION__) == 14)\n#if 1",
            "",
            1,
            "'__PRETTY_FUNCTION__' is taken as clang has it",
        ),
        ("1\n#endif\nif (sizeof(__TIME__) == 9)\n#if 1", "", 1, "'__TIME__' is taken as clang has it"),
        (
            "1\n#endif\nif (D == 12)\n#if 1",
            "constexpr int D = sizeof(__DATE__);\n",
            1,
            "'__DATE__' is taken as clang has it",
        ),
        (
            "1\n#endif\nif (sizeof(NAME) > 1)\n#if 1",
            "#define NAME __FILE__\n",
            1,
            "'__FILE__' is taken as clang has it",
        ),
        (
            "defined(BIG)",
            '#include "cuda_config.h"\n',
            2,
            "'BIG', which a header that was not found may define, is taken as not defined",
        ),
        ("defined(BIG)", '#include "cuda_config.h"\n#define BIG 1\n', 1, None),
        ("1\n#endif\n#ifndef REAL\n#define REAL double\n#endif\n#if 1", "", 1, None),
    ],
)
def test_conditions_that_ask_for_what_is_not_known(
    here: Write, condition: str, before: str, value: int, note: str | None
) -> None:
    reading = read_cuda(here(before + CONDITIONS % condition))
    assert show_stmt(reading.kernel.body) == f"A[0] <- {value};"
    assert [n for n in reading.notes if "header '" not in n] == ([note] if note else [])


def test_trigraphs_are_not_read(here: Write) -> None:
    """As by the compilers that CUDA programs are made with."""
    body = show_stmt(read_cuda(here("__global__ void k(int *A) {\n  // why??/\n  A[0] = 1;\n}")).kernel.body)
    assert body == "A[0] <- 1;"


def test_missing_header_is_noted(here: Write) -> None:
    path = here('#include <stdio.h>\n#include <cuda_runtime.h>\n#include "mine.h"\n' + ONE)
    assert read_cuda(path).notes == ("the header 'mine.h' was not found and is taken as empty",)


def test_a_missing_header_may_include_some_of_cuda(here: Write) -> None:
    source = """{}
        typedef __nv_bfloat16 real;
        namespace cg = cooperative_groups;
        __global__ void k(const real *A, half *B, float *C) {{
          int t = cg::this_thread_block().thread_rank();
          B[t] = __float2half(C[t] + __bfloat162float(A[t]));
          float3 v = make_float3(C[t]);
          C[t] = (v * 2.f).x;
        }}"""
    assumed = ("cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h", "helper_math.h")
    includes = "\n".join(f"#include <{name}>" for name in assumed)
    known = read_cuda(here(source.format(includes)))
    guessed = read_cuda(here(source.format('#include "common.h"')))
    assert show_stmt(guessed.kernel.body) == show_stmt(known.kernel.body)
    assert [n for n in guessed.notes if n not in known.notes] == [
        *(f"the header '{name}' is taken as included by one that was not found" for name in assumed),
        "the header 'common.h' was not found and is taken as empty",
    ]
    assert "unknown type name" in failure(here(source.format(""))).message  # no header may include it
    own = "float3 make_float3(float);\n__device__ float3 operator*(float3 v, float a) {{ return v; }}\n"
    bad = "typedef int float4x;\n__global__ void j(float4 *A) {{ A[0] = A[1] % A[2]; }}\n" + own
    assert read_cuda(here(f'#include "a.h"\n{bad}{ONE}'.replace("{{", "{").replace("}}", "}")), "k").notes == (
        "the header 'a.h' was not found and is taken as empty",
    )


def test_includes_and_defines(here: Write, tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "z.h").write_text("typedef int real;\n__global__ void other(real *A) { A[0] = bad; }\n")
    path = here('#include "z.h"\n__global__ void k(real *A) { A[0] = N; }')
    assert read_cuda(path, "k", includes=["inc"], defines=["N=7"]).notes == ()
    error = failure(path, "other", includes=["inc"], defines=["N=7"])
    assert error.loc is not None
    assert (Path(error.loc.file).name, error.loc.line, error.loc.column) == ("z.h", 2, 41)


def test_variable_length_in_a_header(here: Write, tmp_path: Path) -> None:
    """Only the file itself is edited: in a header such an array is clang's error."""
    (tmp_path / "z.h").write_text("__global__ void other(int *A, int n) { __shared__ int s[n]; A[0] = s[0]; }\n")
    path = here('#include "z.h"\n__global__ void k(int *A, int n) { A[n] = n + n; }')
    assert show_stmt(read_cuda(path, "k").kernel.body) == "A[n] <- n + n;"
    assert "variable-length array" in failure(path, "other").message


def test_bad_standard(here: Write) -> None:
    error = failure(here(ONE), std="c99")
    assert (error.message, error.loc) == ("clang cannot parse 'x.cu'", None)
    assert error.advice == "Check -I, -D and --std."


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("no.cu", "no such file"),
        (".", "it is a directory"),
        ("a\0b", "embedded null byte"),
        ("elf.cu", "it is no text"),
        ("utf16.cu", "it is no text"),
    ],
)
def test_unreadable(here: Write, path: str, reason: str) -> None:
    for name, data in (("elf.cu", b"\x7fELF\2\0"), ("utf16.cu", ONE.encode("utf-16"))):
        Path(name).write_bytes(data)
    error = failure(path)
    assert (error.message, error.loc) == (f"cannot read '{path}': {reason}", None)


@pytest.mark.skipif(os.name != "posix", reason="a name that is no text")
def test_name_that_is_no_text(here: Write, tmp_path: Path) -> None:
    Path("\udcff.cu").write_text(ONE)
    assert failure("\udcff.cu").loc is None


def test_file_name_like_an_option(here: Write) -> None:
    Path(here("")).rename("-x.cu")
    Path("-x.cu").write_text("__global__ void k(int *A) { foo(); }")
    error = failure("-x.cu")
    assert error.loc == Loc("-x.cu", 1, 29)


def test_kernel_names(here: Write) -> None:
    text = TWO + 'template <class T> __global__ void t(T *a) {}\nextern "C" { __global__ void e() {} }\nvoid h() {}\n'
    assert kernel_names(here(text)) == ["k", "k2", "t", "e"]
    with pytest.raises(CudaError, match=r"cannot read 'no\.cu': no such file"):
        kernel_names("no.cu")


HEAD = "__global__ void k(int *A, int a) { "
DEEP: dict[str, Callable[[int], str]] = {
    "sum": lambda n: "A[0] = " + "+".join(["a"] * n) + ";",
    "minus": lambda n: "A[0] = " + "- " * n + "a;",
    "if": lambda n: "if (a)\n" * n + "A[0] = 1;",
    "else": lambda n: "if (a == 1) A[0] = 1; else\n" * n + "A[0] = 1;",
    "return": lambda n: "if (a == 1) return;\n" * n + "A[0] = 1;",
    "and": lambda n: "A[0] = " + "&&\n".join(["a"] * n) + ";",
}


@pytest.mark.parametrize("shape", DEEP)
def test_nesting(here: Write, shape: str) -> None:
    assert read_cuda(here(f"{HEAD}{DEEP[shape](150)} }}")).kernel.name == "k"
    for n in (210, 6_000):
        assert "nest" in failure(here(f"{HEAD}{DEEP[shape](n)} }}")).message


def test_many_statements(here: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing calls itself once a statement: the limit of Python's own stack, 1000, is left as it is."""
    monkeypatch.setattr(sys, "setrecursionlimit", lambda _: None)
    kernel = read_cuda(here(HEAD + "A[0] = a;\n" * 2_500 + "}")).kernel
    assert len(kernel.body.stmts) == 2_500  # type: ignore[union-attr]


def test_calls_of_calls_are_bounded(here: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MOST_PARTS", 256)
    twice = "\n".join(f"__device__ int f{i}(int x) {{ return f{i - 1}(x) + f{i - 1}(x + 1); }}" for i in range(1, 30))
    first = "__device__ int f0(int x) { return x; }"
    error = failure(here(f"{first}\n{twice}\n__global__ void k(int *A) {{ A[0] = f29(2); }}"))
    assert error.message.startswith("the kernel has more than 256 calls")
    assert error.loc == Loc("x.cu", 3, 35)


def test_the_architecture_in_code_is_noted(here: Write) -> None:
    reading = read_cuda(here("__global__ void k(int *A) { if (__CUDA_ARCH__ >= 900) A[0] = 1; }"))
    assert reading.notes == ("'__CUDA_ARCH__' is taken as 800: -D __CUDA_ARCH__=.. says otherwise",)


@pytest.mark.parametrize(("name", "used"), [("été", "été"), ("a$b", "a$b"), ("\\u00e9t", "ét"), ("ét", "\\u00e9t")])
def test_names_with_other_letters_are_names(here: Write, name: str, used: str) -> None:
    """What clang leaves out for an error in an enumerator's value: a factor that is read as 0."""
    path = here(f"enum E {{ {name} = undef }};\n__global__ void k(int *A) {{ A[threadIdx.x * {used}] = 1; }}")
    with pytest.raises(CudaError, match="use of undeclared identifier 'undef'"):
        read_cuda(path)


def test_what_is_read_twice_at_every_level_has_an_end(here: Write) -> None:
    """Bodies of do loops. Sections of a switch that others fall through to are read once."""
    calls = "".join(
        f"__device__ void f{i}(int *A, int n) {{ int i = 0; do {{ f{i - 1}(A, n); i++; }} while (i < n); }}\n"
        for i in range(1, 30)
    )
    do = (
        f"__device__ void f0(int *A, int n) {{ A[n] = 1; }}\n{calls}__global__ void k(int *A, int n) {{ f29(A, n); }}\n"
    )
    assert failure(here(do)).message.startswith("the body of this loop, which is read twice, has more than")
    cases = "".join(f"switch (n) {{ case {i}: A[{i}] = 1; case {i + 50}: " for i in range(30))
    body = read_cuda(here(f"__global__ void k(int *A, int n) {{ {cases} {'}' * 30} }}\n")).kernel.body
    assert sum(isinstance(s, ArrayWrite) for s in statements(body)) == 30


def test_a_for_in_two_files(here: Write, tmp_path: Path) -> None:
    (tmp_path / "body.inc").write_text("{ A[i] = 1; if (i > 3) break; i++; }\n")
    path = here('__global__ void k(int *A) { int i = 0; for (;;)\n#include "body.inc"\n}\n')
    assert failure(path).message == "a 'for' with its parts in a macro is not supported"


def test_macros_that_double_one_another_are_refused(here: Write) -> None:
    """clang would take gigabytes for them, or end the process."""
    head = "#define M0 x++;\n" + "".join(f"  # define M{i + 1} M{i} \\\n M{i}\n" for i in range(20))
    error = failure(here(f"{head}__global__ void k(int *A) {{ int x = 0; M20 A[0] = x; }}"))
    assert error.message == "the macro 'M15' stands for more than 65536 tokens"
    assert error.loc == Loc("x.cu", 30, 12)
    few = head[: head.index("  # define M8 ")].replace("x++;", "1 +") + "#define SELF SELF SELF\n"
    assert read_cuda(str(here(f"{few}__global__ void k(int *A) {{ A[0] = M6 0; }}")), None).kernel.name == "k"


def test_errors_on_other_lines_are_told_too(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    lines = ["__global__ void k(int *A) {", *(f"    int x{i} = no{i};" for i in range(6)), "}"]
    source.write_text("\n".join(lines))
    with pytest.raises(CudaError) as found:
        read_cuda(str(source))
    assert (found.value.message, found.value.loc) == (
        "use of undeclared identifier 'no0'",
        Loc(str(source), 2, 14),
    )
    told = [f"{source}:{i + 2}:14: use of undeclared identifier 'no{i}'" for i in (1, 2)]
    assert found.value.advice.startswith(f"There are others: {told[0]}; ")
    source.write_text("\n".join([*lines[:2], "}"]))
    with pytest.raises(CudaError) as found:
        read_cuda(str(source))
    assert found.value.advice == ""


def test_names_beyond_ascii(here: Write) -> None:
    """No two names may look alike, in claims or in certificates."""
    for source, name in (
        (ONE.replace(" k(", " größe("), "größe"),
        (ONE.replace("A", "\u0410"), "\u0410"),
        (ONE.replace("A[0] = 1", "int ß = 1; A[0] = ß"), "ß"),
    ):
        error = failure(here(source))
        assert error.message == f"in miniCUDA '{name}' is not a name"
        assert error.loc is not None
        assert "letters a to z" in error.advice


HIDDEN = """
#define BOUNDS(n) __launch_bounds__(n)
__global__ void head(none::pair<int, float> *p, int n);
%s
__global__ void k(int *A) { A[0] = 1; }
#if 0
__global__ void out(none::pair<int, float> *p) { p[0] = 1; }
#endif
namespace n { __global__ void m(int *A) { none::pair<int, float> p; A[0] = 2; } }
"""


@pytest.mark.parametrize(
    ("kernel", "lost"),
    [
        ("__global__ void a(none::pair<int, float> *p, int n) { if (n) p[0] = 1; }", True),
        ("__global__ void __launch_bounds__(64, 2)\n  a(int m, none::pair<int, float> *p, int n) { p[0] = 1; }", True),
        (
            "static __global__ BOUNDS(64) void a(const none::pair<int, float> *__restrict__ p, int n)\n{ p[0] = 1; }",
            True,
        ),
        ("__global__ void a(int *p, int n) { p[0] = 1; }", False),
        ("// __global__ void b(none::pair<int, float> *p, int n) { }\n__global__ void a(int *p);", None),
    ],
)
def test_a_kernel_that_an_error_hides(here: Write, kernel: str, lost: bool | None) -> None:
    """It is one of the file's all the same."""
    path = here(HIDDEN % kernel)
    assert sorted(c.name for c in choices(path)) == [*(["a"] if lost is not None else []), "k", "m"]
    assert show_stmt(read_cuda(path, "k").kernel.body) == "A[0] <- 1;"
    if lost:
        error = failure(path, "a")
        assert error.message == "use of undeclared identifier 'none'"
        assert error.loc is not None
        assert error.loc.line == 4 + kernel[: kernel.index("none")].count("\n")
