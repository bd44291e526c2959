"""Printing, checking, clocks, counting barriers and advice to the compiler: what they become, cost and assume."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from logic.syntax import show_stmt
from semantics.cuda import Reading

Lower = Callable[..., str]
Read = Callable[..., Reading]
Refused = Callable[[str, str], None]

BLOCK = "blockIdx.x, blockIdx.y), blockIdx.z"

CASES = {
    # what is printed is evaluated, but for strings; a variable that is passed stays one that nothing changes
    'printf("%d %s %s %p\\n", n, n > 2 ? "a" : "b", __func__, A + n); printf("%d", A[n]); puts("x");': "t <- A[n];",
    'if (n < 0) printf("%d\\n", n);': "if (n < 0) {\n  skip;\n}",
    'A[0] = printf("x");': "A[0] <- int(printf(printf(0.0, tid.x, tid.y), tid.z, 1));",
    # so is what is asserted, though nobody uses it; a text in it is true
    'assert(n > 3 && "more"); assert(A[n] > F[0]); assert(A);': """\
        t <- n > 3;
        t_1 <- as_float(A[n]) > F[0];
        t_2 <- given(0.0, 0) != 0.0;""",
    "long long c = clock64(); A[0] = clock64() - c > 3;": """\
        c <- int(clock64(clock64(0.0, tid.x, tid.y), tid.z, 1));
        A[0] <- int(int(clock64(clock64(0.0, tid.x, tid.y), tid.z, 2)) - c > 3);""",
    # a barrier, and a value that all threads of the block have
    "if (__syncthreads_or(A[n])) A[1] = __syncthreads_count(n > 2); __syncthreads_and(n);": f"""\
        t <- A[n];
        sync;
        if (int(__syncthreads_or(__syncthreads_or(0.0, {BLOCK}, 1)) != 0) {{
          t_1 <- int(n > 2);
          sync;
          A[1] <- int(__syncthreads_count(__syncthreads_count(0.0, {BLOCK}, 2));
        }}
        sync;""",
    "if (__builtin_expect(n == 3, 1)) A[0] = 1; if (__builtin_expect(!!n, 0)) A[0] = 2;": """\
        if (n == 3) {
          A[0] <- 1;
        }
        if (!(n == 0)) {
          A[0] <- 2;
        }""",
    "__builtin_assume(A[n] > 3); __assume(n > 2); if (n > 4) __builtin_unreachable();": "if (n > 4) {\n  skip;\n}",
    "int *p = (int *)__builtin_assume_aligned(A, 16); p[n] = 1;": "A[n] <- 1;",
    "A[0] = __builtin_popcount(n); F[0] = __builtin_fmaxf(F[1], 2.f) + __builtin_sqrtf(F[2]) + __builtin_inff();": (
        "A[0] <- int(__builtin_popcount(as_double(n)));\nF[0] <- max(F[1], 2.f) + __builtin_sqrtf(F[2]) + 1.0f / 0.0f;"
    ),
    "if (__isShared(A)) A[0] = 1;": """\
        if (int(__isShared(__isShared(0.0, tid.x, tid.y), tid.z, 1)) != 0) {
          A[0] <- 1;
        }""",
}


@pytest.mark.parametrize("body", CASES)
def test_contents(lower: Lower, body: str) -> None:
    assert lower(body) == dedent(CASES[body])


NOTES = {
    'printf("x");': "what printf writes to its buffer is not counted",
    'printf("%s", (char *)A + n);': "what printf reads of texts in memory is not counted",
    "assert(n);": "where an assertion fails the kernel ends: what that costs is not counted",
    "A[0] = clock();": "clock may give any value at each thread",
    "A[0] = __syncthreads_or(n);": "for bounds __syncthreads_or may give any value, the same at all threads of a block",
    "__builtin_assume(n > 2);": "what the source tells the compiler by __builtin_assume is not used",
    "__builtin_unreachable();": "__builtin_unreachable costs nothing",
}


@pytest.mark.parametrize("body", NOTES)
def test_what_is_assumed(read: Read, body: str) -> None:
    notes = read(f"__global__ void k(int *A, int n) {{ {body} }}").notes
    assert NOTES[body] in notes
    assert ("texts in memory" in "".join(notes)) == ("%s" in body)


KERNEL = "__global__ void k(int *A) { assert(A[0] > 2); }"
ASSERTED = {
    f"#include <cassert>\n{KERNEL}": "t <- A[0] > 2;",
    f"#define NDEBUG\n#include <assert.h>\n{KERNEL}": "skip;",
    f"#define NDEBUG\n#include <cassert>\n#undef NDEBUG\n#include <cassert>\n{KERNEL}": "t <- A[0] > 2;",
    f"#undef assert\n#define assert(e) if (!(e)) __trap()\n{KERNEL}": "if (!(A[0] > 2)) {\n  skip;\n}",
}


@pytest.mark.parametrize("text", ASSERTED)
def test_what_assert_is_depends_on_ndebug(read: Read, text: str) -> None:
    assert show_stmt(read(text).kernel.body) == ASSERTED[text]


def test_assert_on_the_command_line(read: Read) -> None:
    for define in ("assert(e)=", "NDEBUG"):
        assert show_stmt(read(f"#include <cassert>\n{KERNEL}", defines=[define]).kernel.body) == "skip;"


def test_norms_read_what_they_are_of(lower: Lower) -> None:
    assert lower("F[0] = normf(n, F + 8);") == dedent("""\
        n_1 <- n;
        s <- 0.0f;
        i <- 0;
        while (i < n_1) {
          s <- s + F[8 + i] * F[8 + i];
          i <- i + 1;
        }
        F[0] <- sqrtf(s);""")


def test_which_one_was_larger(lower: Lower) -> None:
    assert lower("bool b; A[0] = __vibmax_s32(A[1], n, &b); A[2] = b; A[3] = __viaddmax_s32(n, 2, 3);") == dedent("""\
        t <- A[1];
        b <- __vib_first(as_double(t), n) != 0.0;
        A[0] <- int(__vibmax_s32(as_double(t), n));
        A[2] <- int(b);
        A[3] <- int(__viaddmax_s32(as_double(n), 2, 3));""")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("__cluster_barrier_arrive();", "a cluster of blocks is not supported"),
        ("A[0] = __clusterRelativeBlockRank();", "a cluster of blocks is not supported"),
        ("__barrier_sync(1);", "a barrier of some threads is not supported"),
        ("int *p = (int *)__cvta_shared_to_generic(4); p[0] = 1;", "a number as a pointer is not supported"),
    ],
)
def test_refused_by_name(refused: Refused, call: str, words: str) -> None:
    refused(f"__global__ void k(int *A, int n) {{ {call} }}", words)


def test_refused(refused: Refused) -> None:
    text = "__device__ int f(int v) {{ return v; }} __global__ void k(int *A, int n) {{ {} }}"
    refused(text.format("__builtin_return_address(0);"), "the function '__builtin_return_address'")
