"""Arrays, pointers, structures and shared memory: the accesses and the arrays that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logic.syntax import BOOL, FLOAT, INT, Array, Decl, If, Var, show_stmt, statements
from semantics.cuda import CudaError, Reading
from tests.semantics.cuda.bounds import bound

Lower = Callable[..., str]
Read = Callable[..., Reading]

POINTERS = {
    "*A = 1; *(A + n) = 2; A[n - 1] = *(A + n - 1); (n + A)[2] = 3; (A + n)[-1] = 4;": (
        "A[0] <- 1;\nA[n] <- 2;\nA[n - 1] <- A[n - 1];\nA[n + 2] <- 3;\nA[n - 1] <- 4;"
    ),
    "int *q = A + 4 * n; q[1] = *q;": "A[4 * n + 1] <- A[4 * n];",
    "int *q = &A[n], *p = q + 1; p[n] = 1;": "A[n + 1 + n] <- 1;",
    "int j = n; j++; int *p = A + j; j = 2; p[j] = 1;": "j <- n;\nj <- j + 1;\np <- j;\nj <- 2;\nA[p + j] <- 1;",
    "int x = n; int &y = x; int *p = A + x; y = 3; p[1] = 1;": "x <- n;\np <- x;\nx <- 3;\nA[p + 1] <- 1;",
    "int x = n; int *p = A + x; set(x); p[1] = 1;": "x <- n;\np <- x;\nx <- 3;\nA[p + 1] <- 1;",
    "int *p = A + A[n]; A[n] = 7; p[1] = 2;": "p <- A[n];\nA[n] <- 7;\nA[p + 1] <- 2;",
    "int *r = A; r++; *r++ = 2; r += 3; *r = 4;": (
        "r <- 0;\nr <- r + 1;\nt <- r;\nr <- r + 1;\nA[t] <- 2;\nr <- r + 3;\nA[r] <- 4;"
    ),
    "int *r; r = A + n; *r = 1; r = A; *r = 2;": "r <- n;\nA[r] <- 1;\nr <- 0;\nA[r] <- 2;",
    "int *r = A + n; while (r - A < 9 && r != A + 7) *r++ = 1;": (
        "r <- n;\nwhile (r - 0 < 9 && r != 7) {\n  t <- r;\n  r <- r + 1;\n  A[t] <- 1;\n}"
    ),
    "F = F + 4; F[n] = 1.0f;": "F_0 <- 0;\nF_0 <- F_0 + 4;\nF[F_0 + n] <- 1.0f;",
    "const volatile int *v = A; A[0] = v[1];": "A[0] <- A[1];",
    "int x = 5; int &y = x; y = 3; int &z = A[n]; z += 2;": "x <- 5;\nx <- 3;\nA[n] <- A[n] + 2;",
}


ROWS = {
    "s[9]; s[n % 4] = 1;": "s[n % 4] <- 1;",
    "s[4][8]; s[n % 4][threadIdx.y] = 1;": "s[n % 4 * 8 + tid.y] <- 1;",
    "s[4][8][16]; s[n % 4][threadIdx.y][threadIdx.x] = 1;": "s[n % 4 * 128 + tid.y * 16 + tid.x] <- 1;",
    "s[4][8][16][2]; s[n % 4][threadIdx.y][threadIdx.x][n & 1] = 1;": (
        "s[n % 4 * 256 + tid.y * 32 + tid.x * 2 + (n & 1)] <- 1;"
    ),
}


@pytest.mark.parametrize("body", ROWS)
def test_every_index_of_an_array_counts(lower: Lower, body: str) -> None:
    """Of one dimension, two, three and four, none of whose terms is a number."""
    assert lower(f"__shared__ int {body}") == ROWS[body]


@pytest.mark.parametrize("body", POINTERS)
def test_pointer(lower: Lower, body: str) -> None:
    assert lower(body, "__device__ void set(int &r) { r = 3; }") == POINTERS[body]


def arrays(reading: Reading) -> dict[str, Array]:
    return {a.name: a for a in reading.kernel.arrays}


def kernel(params: str, body: str, before: str = "") -> str:
    return f"{before}\n__global__ void k({params}) {{ {body} }}\n"


def test_sizes_of_elements(read: Read) -> None:
    found = arrays(read(kernel("unsigned char *a, long long *b, bool *c, double *d, const float *e", "a[0] = b[0];")))
    assert found["a"] == Array("a", "global", INT, 1)
    assert found["b"] == Array("b", "global", INT, 8)
    assert found["c"] == Array("c", "global", BOOL, 1)
    assert (found["d"].elem.name, found["d"].stride) == ("double", 8)
    assert found["e"] == Array("e", "global", FLOAT, 4)


@pytest.mark.parametrize(
    ("use", "value"),
    [
        ("e[0] = a[1];", "a[1] & 255"),
        ("e[0] = b[1];", "b[1] & 65535"),
        ("e[0] = a[a[1]];", "a[a[1] & 255] & 255"),
        ("e[0] = c[1];", "c[1]"),
        ("e[0] = d[1];", "(d[1] + 2147483648 & 4294967295) - 2147483648"),  # no unsigned element is taken for an int
        ("e[0] = e[1];", "e[1]"),
    ],
)
def test_what_is_read_from_unsigned_bytes_is_not_negative(lower: Lower, use: str, value: str) -> None:
    """Whatever an array holds in a run: as when a value is converted to 8 or 16 bits."""
    params = "unsigned char *a, unsigned short *b, signed char *c, unsigned *d, int *e"
    assert lower(use, params=params) == f"e[0] <- {value};"


def test_signature(read: Read) -> None:
    k = read(kernel("int *A, int n, float x, bool f", "int i = n; float y; bool b = f;")).kernel
    assert k.name == "k"
    assert k.params == (Decl("n", INT), Decl("x", FLOAT), Decl("f", BOOL))
    assert k.locals == (Decl("i", INT), Decl("y", FLOAT), Decl("b", BOOL))
    assert k.loc is not None
    assert (k.loc.line, k.loc.column) == (2, 17)


def test_shared_arrays_are_flat(read: Read, lower: Lower) -> None:
    body = "__shared__ int s[4][8]; __shared__ int one; s[n][3] = s[2][threadIdx.y]; one = s[0][n]; *s[1] = one;"
    assert lower(body) == "s[n * 8 + 3] <- s[16 + tid.y];\none[0] <- s[n];\ns[8] <- one[0];"
    found = arrays(read(kernel("int n", body)))
    assert found == {
        "s": Array("s", "shared", INT, 4, length=32),
        "one": Array("one", "shared", INT, 4, length=1),
    }


def test_structures_in_structures(read: Read) -> None:
    """Strides of 88 and 24 bytes: an index counts 8 of them."""
    before = "struct N { int x, y, z, number; long offset; }; struct B { int n; N near[3]; long extra; };\n"
    text = before + kernel("const B *b, int n", "int i = b[n].near[threadIdx.x].number + b[n].near[0].number + b[n].n;")
    reading = read(text)
    assert show_stmt(reading.kernel.body) == "i <- b.near.number[n * 11 + tid.x * 3] + b.near.number[n * 11] + b.n[n];"
    found = arrays(reading)
    assert found["b.near.number"] == Array("b.near.number", "global", INT, 8, 20, 4)
    assert found["b.n"] == Array("b.n", "global", INT, 88, 0, 4)


def test_dynamic_shared_memory(read: Read, lower: Lower) -> None:
    assert lower("extern __shared__ float s[]; float *a = s, *b = &s[n]; b[1] = a[2];") == "s[n + 1] <- s[2];"
    found = read(kernel("int n", "extern __shared__ char raw[]; float *s = (float *)raw; s[threadIdx.x] = 1;"))
    assert arrays(found) == {"raw": Array("raw", "shared", FLOAT, 4)}


def test_dynamic_shared_arrays_are_one_memory(read: Read, lower: Lower) -> None:
    assert lower("extern __shared__ int a[]; extern __shared__ int b[]; a[1] = b[2];") == "a[1] <- a[2];"
    found = read(kernel("int n", "extern __shared__ int a[]; extern __shared__ double b[][4]; a[n] = 1; b[n][1] = 2;"))
    assert {"a", "a.as_double"} <= set(arrays(found))
    assert "b" not in arrays(found)
    assert "'b' is the memory of 'a' as 'double': in runs that is an array of its own" in found.notes


@pytest.mark.parametrize(
    ("declared", "block", "length"),
    [
        ("s[blockDim.x]", None, None),
        ("s[n]", (32, 1, 1), None),
        ("s[blockDim.x]", (32, 1, 1), 32),
        ("s[2 * blockDim . x + 1]", (32, 1, 1), 65),
        ("s[blockDim.y][8]", (None, 4), 32),
        ("s[blockDim.y][8]", (32, None), None),
        ("s[n][8]", None, None),
    ],
)
def test_variable_length(read: Read, declared: str, block: tuple[int | None, ...] | None, length: int | None) -> None:
    """Research CUDA declares `__shared__ int As[blockDim.x]` (POPL 2021, Fig. 1)."""
    two = declared.count("[") == 2
    text = kernel("int n", f"__shared__ int {declared}; s{'[1]' * two}[n] = 2;")
    reading = read(text, shared_block=block)
    assert arrays(reading) == {"s": Array("s", "shared", INT, 4, length=length)}
    write = reading.kernel.body
    assert write.loc is not None
    assert write.loc.column == text.splitlines()[1].index("s[1]" if two else "s[n] =") + 1


@pytest.mark.parametrize(
    "use",
    [
        "A[n * sizeof(s)] = 0;",  # 4 bytes, where the array has 4 n
        "A[n * sizeof s] = 0;",
        "A[n * sizeof((s))] = 0;",
        "A[n * sizeof(decltype(s))] = 0;",
        "typedef decltype(s) T; A[n * sizeof(T)] = 0;",
        "int t[sizeof(s)]; A[n] = t[0];",
        "int m = length(s); A[m] = 0;",
        "auto &r = s; A[n * sizeof(r)] = 0;",
        "auto p = &s; A[n * sizeof(*p)] = 0;",
    ],
)
def test_a_length_that_is_not_known_is_no_size(read: Read, use: str) -> None:
    before = "template<int N> __device__ int length(int (&a)[N]) { return N; }\n"
    text = before + kernel("int *A, int n", f"__shared__ int s[n]; s[0] = 1; {use}")
    with pytest.raises(CudaError, match=r"the size of 's', whose length is not a constant, is not supported"):
        read(text)
    assert read(text.replace("s[n]", "s[64]")).kernel.name == "k"


def test_a_length_that_is_not_known_does_not_matter_to_pointers(read: Read) -> None:
    use = (
        "int *p = s + n, *q = &s[1]; A[0] = *s + (s)[1] + 2[s] + p[0] + sizeof(*s) + sizeof(s[0]) + sizeof(s + 1) + *q;"
    )
    assert read(kernel("int *A, int n", f"__shared__ int s[n]; {use}")).kernel.name == "k"


def test_the_test_of_a_loop_is_where_it_stands(read: Read) -> None:
    """What a test costs is shown on the line of the test: that of the `break` which the loop begins with, too."""
    for head, place in (("while (A[n] != 0) {", (3, 8)), ("while (true) {\nif (A[n] == 0) break;", (4, 1))):
        body = read(kernel("int *A, int n", f"\n\n{head}\nn++; if (n > 9) break; }}")).kernel.body
        tests = [s for s in statements(body) if isinstance(s, If) and isinstance(s.cond, Var)]
        assert len(tests) == 2
        assert {s.loc and (s.loc.line - 1, s.loc.column) for s in tests} == {place}


def test_structures(read: Read, lower: Lower) -> None:
    before = "struct P { float x; int y; }; struct Q { int v[3]; P p; };"
    params = "P *a, Q *q, float4 *v, P s, int n"
    body = "a[n].x = a[n + 1].x; q[n].v[2] = q[n].v[n]; q[n].p.y = s.y; a->y = 3; v[n].w = s.x; P *z = &a[n]; z->y = 1;"
    assert lower(body, before, params) == (
        "a.x[n] <- a.x[n + 1];\nq.v[n * 5 + 2] <- q.v[n * 5 + n];\nq.p.y[n] <- s.y;\na.y[0] <- 3;\n"
        "v.w[n] <- s.x;\na.y[n] <- 1;"
    )
    reading = read(kernel(params, body, before))
    assert arrays(reading) == {
        "a.x": Array("a.x", "global", FLOAT, 8, 0, 4),
        "a.y": Array("a.y", "global", INT, 8, 4, 4),
        "q.v": Array("q.v", "global", INT, 4, 0, 4),
        "q.p.y": Array("q.p.y", "global", INT, 20, 16, 4),
        "v.w": Array("v.w", "global", FLOAT, 16, 12, 4),
    }
    assert reading.kernel.params == (Decl("n", INT), Decl("s.y", INT), Decl("s.x", FLOAT))


def test_array_of_structures_in_shared_memory(read: Read) -> None:
    reading = read(kernel("int n", "__shared__ float2 s[8]; s[n].y = 1;"))
    assert arrays(reading) == {"s.y": Array("s.y", "shared", FLOAT, 8, 4, 4, 8)}


def test_pointers_in_a_structure(read: Read, lower: Lower) -> None:
    assert lower("p.q[n] = p.n;", "struct R { int *q; int n; };", "R p, int n") == "p.q[n] <- p.n;"


def test_variables_outside(read: Read) -> None:
    before = "__constant__ int c; __device__ int d; __device__ int g[10]; __shared__ int s[4];"
    reading = read(kernel("int *A, int n", "A[0] = c + d; g[n] = s[n];", before))
    assert reading.kernel.params == (Decl("n", INT), Decl("c", INT))
    assert arrays(reading) == {
        "A": Array("A", "global", INT, 4),
        "d": Array("d", "global", INT, 4),
        "g": Array("g", "global", INT, 4),
        "s": Array("s", "shared", INT, 4, length=4),
    }
    assert reading.notes == ("'c', declared outside of the kernel, is taken as a parameter",)


KEPT = "in memory"


@pytest.mark.parametrize(
    ("body", "supported"),
    [
        ("p[n] = 1;", True),
        ("int *r = p; r++; r[n] = 1;", True),
        ("int *r = n > 3 ? p : q; *r = 1;", True),
        ("(n > 3 ? p : A)[n] = 1;", True),
        ("if (p) A[0] = p == q;", True),
        ("(n > 3 ? p : q) = A + 1; p[n] = 1;", KEPT),
        ("((long long *)&p)[0] += 4; p[n] = 1;", KEPT),
        ("atomicExch((unsigned long long *)&p, (unsigned long long)A); p[n] = 1;", KEPT),
        ('asm("st.global.u64 [%0], %1;" : : "l"(&p), "l"(A + 1)); p[n] = 1;', KEPT),
        ("int *&r = p; r = A + 1; p[n] = 1;", KEPT),
        ("p++; *p = 1;", KEPT),
        ("int **r = &c; **r = 1;", False),
        ("c = A;", False),
        ("a[n] = 1;", False),
    ],
)
def test_pointers_outside_stay_as_they_are(body: str, supported: bool | str, read: Read) -> None:
    """One is what the host gives it, or held in memory where its address is taken or it changes, never both: the
    address was taken for what it leads to, and so a change of it for another."""
    source = kernel(
        "int *A, int n", body, "__device__ int *p, *q = nullptr; __device__ int g[9], *a = g + 1; __constant__ int *c;"
    )
    if supported:
        text = show_stmt(read(source).kernel.body)
        assert supported != KEPT or ("p[0]" in text and "memory.int32" in text)
        return
    with pytest.raises(CudaError, match="declared outside of the kernel"):
        read(source)


MOVED = [
    "__global__ void i(int *a) { p = a + 1; }",
    "__device__ void i() { p = new int[9]; }",
    "__device__ void i() { p++; }",
    "__host__ __device__ void i(int *a) { p = a; }",
    "struct Z { int v; __device__ Z(int *a) : v(0) { p = a; } };",
    "template <class T> __device__ void i(T a) { p = a; }",
    "struct Q { static __device__ int *p; }; template <class T> __device__ void i(int *a) { T::p = a; }",
    "__device__ void to(int *&r) { r++; } __device__ void i() { to(p); }",
    "template <class T> __device__ void to(T &&r) { r++; } __device__ void i() { to(p); }",
    "__device__ int **i() { return &p; }",
    "__device__ void i() { auto f = [](auto &r) { r++; }; f(p); }",
    "__device__ void i(int n, int *a) { (n ? p : a) = a; }",
    "__device__ void i() { int *&q = p; q++; }",
    '__device__ void i(long a) { asm("st.global.u64 [p], %0;" :: "l"(a)); }',
    "#define MOVE p++\n__device__ void i() { MOVE; }",
    "#define NAME(a) a##p\n__device__ void i() { NAME()++; }",
]
LEFT = [
    "__device__ int i(int n) { int *q = p + n; return p[1] + *p + *q + (p == q) + (p ? 1 : (*(p))); }",
    "__device__ void i(int *p) { p++; } struct T { int *p; __device__ void m() { p = 0; this->p++; } };",
    "__device__ void i() { int *p = 0; p++; { short p = 1; p *= 2; } }",
    "void host(int *a) { cudaMemcpyToSymbol(p, &a, 8); }",
]


@pytest.mark.parametrize("other", MOVED + LEFT)
def test_pointers_that_other_code_moves_are_in_memory(other: str, tmp_path: Path) -> None:
    """Else one is the beginning of an array, whose rows take 4 sectors: here it is read, and may be 4 bytes further."""
    text = f"__device__ int *p;\n{other}\n__global__ void k(int n) {{ p[threadIdx.x] = 1; }}"
    assert bound(text, "sectors", tmp_path, name="k") == (6 if other in MOVED else 4)


@pytest.mark.parametrize(
    ("before", "pointer", "supported"),
    [
        ("__device__ int *p, *q{}, *r = {}, *s = (int *)0;", "(n > 3 ? p : n > 2 ? q : n ? r : s)", True),
        ("struct S { int *p; int n; }; __constant__ S s = {nullptr, 3};", "s.p", True),
        ("struct S { int *p; int k; }; __constant__ S s;", "s.p", True),
        ("struct Z { static __device__ int *p; }; __device__ int *Z::p = g + 1;", "Z::p", False),
        ("extern __device__ int *p; __device__ int *f() { return p; } __device__ int *p = g + 1;", "f()", False),
        ("template <class T> struct Z { static __device__ T *p; }; template <class T> __device__ T *Z<T>::p = g + 1;",
         "Z<int>::p", False),
        ("struct S { int *p; int n; }; __constant__ S s = {g + 1, 2};", "s.p", False),
        ("struct S { int n = 2, *p = g + 1; }; __constant__ S s;", "s.p", False),
        ("struct S { int *p; constexpr __device__ S() : p(g + 1) {} }; struct R { S s[2]; }; __constant__ R r;",
         "r.s[1].p", False),
    ],
)  # fmt: skip
def test_pointers_outside_that_lead_somewhere(before: str, pointer: str, supported: bool, read: Read) -> None:
    """By any declaration of them, or of the structure that they are in."""
    source = kernel("int *A, int n", f"{pointer}[n] = 1;", f"__device__ int g[9]; {before}")
    if supported:
        read(source)
        return
    with pytest.raises(CudaError, match="declared outside of the kernel with what a pointer leads to"):
        read(source)


def test_flat_two_dimensional_parameter(lower: Lower) -> None:
    assert lower("q[n][1] = 2;", "", "int (*q)[8], int n") == "q[n * 8 + 1] <- 2;"


@pytest.mark.parametrize(
    ("text", "lowered"),
    [
        (
            "__shared__ int s[512]; s[(A[n] >> 4) * 32 + n]++;",
            "t <- A[n];\ns[(t >> 4) * 32 + n] <- s[(t >> 4) * 32 + n] + 1;",
        ),
        ("__shared__ int s[512]; s[A[n]] += 2;", "t <- A[n];\ns[t] <- s[t] + 2;"),
        ("__shared__ int s[512]; s[A[A[n] + 1] - n]--;", "t <- A[A[n] + 1];\ns[t - n] <- s[t - n] - 1;"),
    ],
)
def test_what_an_index_reads_has_a_name_of_its_own(text: str, lowered: str, lower: Lower) -> None:
    """What is added to it is then known, as where a person names what is loaded."""
    assert lower(text) == lowered
