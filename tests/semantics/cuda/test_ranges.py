"""What becomes of reductions modulo 2^bits: those that change nothing are left out, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from logic.operators import ARITHMETIC, COMPARISONS, CONNECTIVES
from logic.syntax import BOOL, FLOAT, INT, Array, Const, Expr, Op, Param, Read, Tid, Var, show, show_stmt
from logic.typing import Signature, type_of
from semantics.cuda import Reading, made, ranges
from semantics.cuda.modular import Integer, Reduced
from semantics.cuda.stores import launched
from tests.semantics.cuda import native
from tests.semantics.cuda.native import COMPILER

Reader = Callable[..., Reading]

MASK = "4294967295"
PARAMETERS = "int *A, unsigned *U, int n, unsigned m, unsigned w, size_t z, int *out"


def read_body(read: Reader, body: str) -> Reading:
    return read(f"__global__ void k({PARAMETERS}) {{ {body} }}\n")


# the body, what it becomes, and what that takes for granted
LEFT_OUT: dict[str, tuple[str, tuple[str, ...]]] = {
    "out[blockIdx.x * blockDim.x + threadIdx.x] = 1;": ("out[blockIdx.x * blockDim.x + tid.x] <- 1;", ()),
    "out[blockDim.x - 1 - threadIdx.x] = 1;": ("out[blockDim.x - 1 - tid.x] <- 1;", ()),
    "if (threadIdx.x >= m) out[threadIdx.x - m] = 1;": ("if (tid.x >= m) {\n  out[tid.x - m] <- 1;\n}", ()),
    "if (m > threadIdx.x) out[m - threadIdx.x - 1] = 1;": ("if (m > tid.x) {\n  out[m - tid.x - 1] <- 1;\n}", ()),
    "unsigned u = threadIdx.x; u += 5; out[u + -1] = u;": ("u <- tid.x;\nu <- u + 5;\nout[u - 1] <- u;", ()),
    "int i = threadIdx.x - 1; out[n] = i;": ("i <- tid.x - 1;\nout[n] <- i;", ()),
    "out[n] = m > 3 && m - 3 < w;": ("out[n] <- int(m > 3 && m - 3 < w);", ()),
    "out[n] = (m & 15) + 4294967280u;": ("out[n] <- (m & 15) - 16;", ()),
    "out[n] = (unsigned char)(threadIdx.x - 9);": ("out[n] <- tid.x - 9 & 255;", ()),
    "out[n] = 1u << threadIdx.y > 9;": ("out[n] <- int(1 << tid.y > 9);", ()),
    "out[n] = U[n + 1] / 3 > 5; U[n] = m * 2654435761u;": (  # which another warp may read
        f"out[n] <- int((U[n + 1] & {MASK}) / 3 > 5);\nU[n] <- m * 2654435761;",
        (),
    ),
    "U[n]++;": ("U[n] <- U[n] + 1;", ()),
    "if (threadIdx.x < n) out[0] = 1;": ("if (tid.x < n) {\n  out[0] <- 1;\n}", ("n >= 0",)),
    "out[m * 4] = 1;": ("out[m * 4] <- 1;", ("4 * m <= 4294967295",)),
    "if (threadIdx.x < w && threadIdx.y < m) out[threadIdx.y * w + threadIdx.x] = 1;": (
        "if (tid.x < w && tid.y < m) {\n  out[tid.y * w + tid.x] <- 1;\n}",
        ("blockDim.x + blockDim.y * w <= w + 4294967296",),
    ),
    "unsigned x = threadIdx.x; for (int r = 0; r < n; r++) { out[x] = 1; x += w; }": (
        "x <- tid.x;\nr <- 0;\nwhile (r < n) {\n  out[x] <- 1;\n  x <- x + w;\n  r <- r + 1;\n}",
        ("blockDim.x + n * w <= 4294967296",),
    ),
    "for (unsigned i = m; i-- > 0;) out[i] = 1;": (
        f"i <- m;\nwhile (i > 0) {{\n  i <- i - 1;\n  out[i] <- 1;\n}}\ni <- i - 1 & {MASK};",
        (),
    ),
    "for (size_t i = threadIdx.x; i < z; i += blockDim.x) out[i] = 1;": (
        "i <- tid.x;\nwhile (i < z) {\n  out[i] <- 1;\n  i <- i + blockDim.x;\n}",
        ("z <= 9223372036854775808",),  # and so i + blockDim.x stays below 2^64, too
    ),
    "for (unsigned i = threadIdx.x;; i += blockDim.x) { unsigned y = i >> 5; if (y >= m) return; out[y] = i & 31; }": (
        "i <- tid.x;\ny <- i >> 5;\nwhile (y < m) {\n  out[y] <- i & 31;\n  i <- i + blockDim.x;\n  y <- i >> 5;\n}",
        ("blockDim.x + 32 * m <= 4294967296",),
    ),
    "for (unsigned p = blockIdx.x;; p += gridDim.x) { unsigned y = p * 8 / 64 * 8; if (y > 255) break; out[y] = 1; }": (
        (
            "p <- blockIdx.x;\ny <- p * 8 / 64 * 8;\nwhile (y <= 255) {\n  out[y] <- 1;\n  p <- p + gridDim.x;\n"
            "  y <- p * 8 / 64 * 8;\n}"
        ),
        ("8 * gridDim.x <= 4294965255",),  # p is 255 at most where the loop goes on
    ),
    "for (short i = 0; i < 100; i++) out[i] = 1;": (
        "i <- 0;\nwhile (i < 100) {\n  out[i] <- 1;\n  i <- i + 1;\n}",
        (),
    ),
    "for (short i = threadIdx.x; i < n; i += blockDim.x) out[i] = 1;": (
        "i <- tid.x;\nwhile (i < n) {\n  out[i] <- 1;\n  i <- i + blockDim.x;\n}",
        ("blockDim.x + n <= 32768",),
    ),
    "for (unsigned short i = 0; i < n; i++) out[i] = 1;": (
        "i <- 0;\nwhile (i < n) {\n  out[i] <- 1;\n  i <- i + 1;\n}",
        ("n <= 65535",),
    ),
    "for (unsigned char i = 0; i < (n & 127); ++i) out[i] = 1;": (
        "i <- 0;\nwhile (i < (n & 127)) {\n  out[i] <- 1;\n  i <- i + 1;\n}",
        (),
    ),
    "out[(m + 31) / 32 * 32] = 1;": ("out[(m + 31) / 32 * 32] <- 1;", ("m <= 4294967264",)),
    "out[(m + 31) / 32 * 64] = 1;": ("out[(m + 31) / 32 * 64] <- 1;", ("2 * m <= 4294967233",)),
    "out[(m + 31 >> 5) * 64] = 1;": ("out[(m + 31 >> 5) * 64] <- 1;", ("2 * m <= 4294967233",)),
    "out[m << 2] = 1;": ("out[m << 2] <- 1;", ("4 * m <= 4294967295",)),
    "out[(m << 0) - m] = 1;": ("out[(m << 0) - m] <- 1;", ()),
    "out[(m << (n - n)) - m] = 1;": ("out[(m << n - n) - m] <- 1;", ()),
    "out[n] = (m << -1) > 4u;": ("out[n] <- int(m << -1 > 4);", ()),  # which gives 0
    "out[n] = (m >> -1) > 4u;": ("out[n] <- int(m >> -1 > 4);", ()),
    "if (threadIdx.x > 0) out[(threadIdx.x << 2) - 4] = 1;": ("if (tid.x > 0) {\n  out[(tid.x << 2) - 4] <- 1;\n}", ()),
    # (unsigned) of what may be below 0
    "int t = threadIdx.x; if ((unsigned)(t - 1) < m) out[0] = 1;": (
        "t <- tid.x;\nif (t - 1 >= 0 && t - 1 < m) {\n  out[0] <- 1;\n}",
        (),
    ),
    "if (threadIdx.x - 7 > 100) out[0] = 1;": ("if (tid.x - 7 < 0 || tid.x - 7 > 100) {\n  out[0] <- 1;\n}", ()),
    "if (threadIdx.x - 7 == 100) out[0] = 1;": ("if (tid.x - 7 == 100) {\n  out[0] <- 1;\n}", ()),
}


@pytest.mark.parametrize("body", LEFT_OUT)
def test_what_changes_nothing_is_left_out(read: Reader, body: str) -> None:
    found = read_body(read, body)
    assert (show_stmt(found.kernel.body), tuple(map(show, found.facts))) == LEFT_OUT[body]


def test_what_launches_contradict_is_not_taken_for_granted(read: Reader) -> None:
    body = "if (threadIdx.x < n) out[m * 4] = 1;"
    launch = "void h(int *A, unsigned *U) {{ k<<<1, 32>>>(A, U, {}, {}, 1, 1, A); }}"

    def facts(n: str, m: str) -> tuple[str, ...]:
        text = f"__global__ void k({PARAMETERS}) {{ {body} }}\n{launch.format(n, m)}"
        return tuple(map(show, read(text).facts))

    assert facts("3", "4") == facts("*A", "*U") == ("4 * m <= 4294967295", "n >= 0")
    assert facts("-3", "4") == ("4 * m <= 4294967295",)
    assert facts("3", "1073741824") == ("n >= 0",)


LEFT = {
    "out[n] = ((size_t)(m - w) + (z & 255)) / 3 > 5;": f"out[n] <- int(((m - w & {MASK}) + (z & 255)) / 3 > 5);",
    "if (m > 0) out[(m << (n - n)) - m - 1] = 1;": (f"if (m > 0) {{\n  out[(m << n - n) - m - 1 & {MASK}] <- 1;\n}}"),
    "out[n] = (m << 64) / 3;": f"out[n] <- (m << 64 & {MASK}) / 3;",
    "unsigned char i = 1 << n; out[i] = 1;": "i <- 1 << n & 255;\nout[i] <- 1;",  # n may be 31
    "unsigned i = 1ull << n; out[i] = 1;": f"i <- 1 << n & {MASK};\nout[i] <- 1;",  # n may be 63
    "unsigned char i = (unsigned)(1ull << n); out[i] = 1;": "i <- 1 << n & 255;\nout[i] <- 1;",
    "out[n] = (3u << (n & 31)) / 5 > 5;": f"out[n] <- int((3 << (n & 31) & {MASK}) / 5 > 5);",
    "if (threadIdx.x > 0) out[(threadIdx.x << 2) - 5] = 1;": (
        f"if (tid.x > 0) {{\n  out[(tid.x << 2) - 5 & {MASK}] <- 1;\n}}"
    ),
    "out[threadIdx.x - 1] = 1;": f"out[tid.x - 1 & {MASK}] <- 1;",
    "out[n] = m - w > 3;": f"out[n] <- int((m - w & {MASK}) > 3);",
    "out[n] = (m - 5) / 2;": f"out[n] <- (m - 5 & {MASK}) / 2;",
    "out[n] = m * 0x9e3779b9u >> 7;": f"out[n] <- (m * 2654435769 & {MASK}) >> 7;",
    "out[n] = A[0] * 3u > m;": f"out[n] <- int((A[0] * 3 & {MASK}) > m);",
    "U[0]--; if (U[1] > m) out[0] = 1;": f"U[0] <- U[0] - 1;\nif ((U[1] & {MASK}) > m) {{\n  out[0] <- 1;\n}}",
    "short i = n; out[i] = 1;": "i <- (n + 32768 & 65535) - 32768;\nout[i] <- 1;",  # mostly no size
    "short i = 32000; out[0] = i + 1; i += threadIdx.x; out[i] = 1;": (
        "i <- 32000;\nout[0] <- i + 1;\ni <- (i + tid.x + 32768 & 65535) - 32768;\nout[i] <- 1;"
    ),
    "unsigned i = threadIdx.x, y = i / 4; while (y < m) { out[y] = 1; i += w; y = i / 4 + w; }": (  # i is 4*y no more
        f"i <- tid.x;\ny <- i / 4;\nwhile (y < m) {{\n  out[y] <- 1;\n  i <- i + w & {MASK};\n"
        f"  y <- i / 4 + w & {MASK};\n}}"
    ),
    "for (unsigned char i = 0; i < n; i++) out[i] = 1;": (  # n may be 256
        "i <- 0;\nwhile (i < n) {\n  out[i] <- 1;\n  i <- i + 1 & 255;\n}"
    ),
    "unsigned x = 0; for (int r = 0; r < n; r++) x += A[r]; out[x] = 1;": (
        f"x <- 0;\nr <- 0;\nwhile (r < n) {{\n  x <- x + A[r] & {MASK};\n  r <- r + 1;\n}}\nout[x] <- 1;"
    ),
    "if (((unsigned *)A)[0] > m) A[0] = 1;": f"if ((A[0] & {MASK}) > m) {{\n  A[0] <- 1;\n}}",
    "int h = threadIdx.x * 0x10000001u; out[n] = h;": (
        f"h <- (tid.x * 268435457 + 2147483648 & {MASK}) - 2147483648;\nout[n] <- h;"
    ),
    "for (unsigned i = 9; i >= 0; i--) out[i] = 1;": (
        f"i <- 9;\nwhile (i >= 0) {{\n  out[i] <- 1;\n  i <- i - 1 & {MASK};\n}}"
    ),
}


@pytest.mark.parametrize("body", LEFT)
def test_what_may_change_a_value_is_an_operator(read: Reader, body: str) -> None:
    found = read_body(read, body)
    assert (show_stmt(found.kernel.body), found.facts) == (LEFT[body], ())


def test_shorts_are_named_in_what_is_given(read: Reader) -> None:
    found = read_body(read, "for (short i = 0; i < n; i++) out[i] = 1;")
    assert "given, as unsigned and short values wrap around if not: n <= 32767" in found.notes


def test_an_array_of_bytes_has_bytes(read: Reader) -> None:
    """What is written is reduced, as what is read from it may be an index."""
    text = "__global__ void k(unsigned char *b, int *A, int n) { b[n] = n + 3; A[b[0]] = 1; }"
    assert show_stmt(read(text).kernel.body) == "b[n] <- n + 3 & 255;\nA[b[0] & 255] <- 1;"


def test_under_what_is_given(read: Reader) -> None:
    found = read_body(read, "if (threadIdx.x < m - 4) out[m - 16 * threadIdx.x] = 1;")
    assert show_stmt(found.kernel.body).count(MASK) == 1
    sized = found.under([Op(">", (Param("m"), Const(500)))], (32, 1, 1))
    assert (show_stmt(sized.kernel.body), sized.facts) == ("if (tid.x < m - 4) {\n  out[m - 16 * tid.x] <- 1;\n}", ())
    again = sized.under()
    assert again.kernel == found.kernel


@pytest.mark.parametrize("lanes", [4, 32])
def test_the_size_of_warps_is_a_number_where_it_is_known(read: Reader, lanes: int) -> None:
    """In indices, too, at the place where it is written."""
    found = read_body(read, "int i = threadIdx.x % warpSize; if (i < n) out[i] = out[i + warpSize];").under(warp=lanes)
    body = f"i <- tid.x % {lanes};\nif (i < n) {{\n  out[i] <- out[i + {lanes}];\n}}"
    assert body in show_stmt(found.kernel.body)


def test_without_assumptions(read: Reader) -> None:
    """What is right for all launches, with a reduction for each that an assumption was made for."""
    found = read_body(read, "if (threadIdx.x < n) out[m * 4] = 1;")
    assert tuple(map(show, found.facts)) == ("4 * m <= 4294967295", "n >= 0")
    all_launches = found.under(assume=False)
    assert all_launches.facts == ()
    assert show_stmt(all_launches.kernel.body) == f"if (n < 0 || n > tid.x) {{\n  out[m * 4 & {MASK}] <- 1;\n}}"
    here = found.under([Op("==", (Param("n"), Const(-1))), Op("==", (Param("m"), Const(2**30)))], assume=False)
    assert show_stmt(here.kernel.body) == f"if (n < 0 || n > tid.x) {{\n  out[m * 4 & {MASK}] <- 1;\n}}"


def test_an_array_of_ints_that_is_only_read_without_a_sign(read: Reader) -> None:
    body = show_stmt(read("__global__ void k(int *A, int *out) { out[0] = ((unsigned *)A)[1] >> 3; }").kernel.body)
    assert body == f"out[0] <- (A[1] & {MASK}) >> 3;"


NEGATIVE = [
    "int f = n & ~31u; A[0] = f / 2; f = n & 0xfffffe00u; A[1] = f >> 1;",
    "int f = n & ~(sizeof(B[0]) - 1); for (int i = 0; i < 3; i++) f = ((unsigned)f & ~15u) | (f + i & 15u); A[1] = f;",
    "int f = n ^ 0x80000000u; A[0] = f / 2; f = n | 0xff000000u; A[1] = f / 2; f = (n & ~7u) + 3; A[2] = f >> 1;",
    "int f = (unsigned)n & (unsigned)(n * 3); A[0] = f / 2; f = ((unsigned)n ^ (unsigned)B[1]) - 1; A[1] = f / 2;",
    "unsigned g = n & ~31u; A[1] = g >> 4; long long f = n & ~31u; A[2] = f >> 4;",
]


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
@pytest.mark.parametrize("n", [-5, -700])
def test_bits_of_negative_numbers(read: Reader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, n: int) -> None:
    """No int overflows where its bits are those of an unsigned number: it may have a sign."""
    monkeypatch.setattr(native, "N", n)
    assert native.differences(read, "", NEGATIVE, tmp_path) == []


WIDE = Integer(32, False)
FAR = Op(">=", (Tid("x"), Const(16)))
LESS = Op("-", (Tid("x"), Const(16)))
MAYBE = Reduced("&", (LESS, Const((1 << 32) - 1)), None, WIDE)
NEAR = Op("<", (MAYBE, Const(5)))
BEHIND = {
    "&&": (Op("int", (Op("&&", (FAR, NEAR)),)), "int(tid.x >= 16 && tid.x - 16 < 5)"),
    "||": (Op("int", (Op("||", (Op("!", (FAR,)), NEAR)),)), "int(!(tid.x >= 16) || tid.x - 16 < 5)"),
    "?": (Op("?:", (FAR, MAYBE, Const(0))), "(tid.x >= 16 ? tid.x - 16 : 0)"),
    ":": (Op("?:", (Op("<", (Tid("x"), Const(16))), Const(0), MAYBE)), "(tid.x < 16 ? 0 : tid.x - 16)"),
    "? :": (Op("?:", (FAR, MAYBE, MAYBE)), f"(tid.x >= 16 ? tid.x - 16 : tid.x - 16 & {MASK})"),
}


@pytest.mark.parametrize("what", BEHIND)
def test_what_a_test_says_is_known_behind_it_alone(what: str) -> None:
    """Of one expression that occurs before, behind and after it: what was seen of it there is not what it is here."""
    guarded, wanted = BEHIND[what]
    walk = ranges.Walk(ranges.Types({}, {}), made.Made(Signature({}, {}, {})), launched((32, 1, 1)), frozenset(), False)
    once = f"(tid.x - 16 & {MASK})"
    for e, text in (
        (Op("+", (guarded, MAYBE)), f"{wanted} + {once}"),
        (Op("+", (MAYBE, guarded)), f"{once} + {wanted}"),
    ):
        seen = walk.expr(e, launched((32, 1, 1)))
        assert (show(seen.expr), len(seen.needs)) == (text, 1)


def test_what_is_too_much_work_is_left_as_it_is(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    loops = "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) A[j] += x; x += 2; }"
    text = f"__global__ void k(int *A, int n) {{ int x = 0; {loops} }}"
    wanted = show_stmt(read(text, "k").kernel.body)
    monkeypatch.setattr(ranges, "WORK", -1)
    assert show_stmt(read(text, "k").kernel.body) == wanted


X, F, C = Var("i"), Var("f"), Op("<", (Var("i"), Param("n")))
SIGMA = Signature({"i": INT, "f": FLOAT, "b": BOOL}, {"n": INT}, {"A": Array("A", "global", FLOAT, 4)})
TYPED: list[Expr] = [
    X, F, Param("n"), Tid("x"), Const(3), C, Read("A", X), Var("b"),
    *(Op(op, (X, Op("+", (X, Const(1))))) for op in (*ARITHMETIC, *COMPARISONS)),
    *(Op(op, (F, Op("-", (F, F)))) for op in ("+", "-", "*", "/", "min", "max", *COMPARISONS)),
    *(Op(op, (C, C)) for op in CONNECTIVES), Op("!", (C,)),
    *(Op("?:", (C, a, a)) for a in (X, F, C)),
    *(Op(op, (a,)) for op in ("neg", "abs") for a in (X, F)), Op("~", (X,)),
    Op("int", (F,)), Op("int", (C,)), Op("bool", (X,)), Op("as:float", (X,)), Op("call:sqrtf", (F,)),
    Op("+", (Op("int", (F,)), Op("?:", (C, X, Op("neg", (X,)))))), Op("neg", (Op("as:double", (X,)),)),
]  # fmt: skip


@pytest.mark.parametrize("e", TYPED, ids=show)
def test_what_is_an_integer(e: Expr) -> None:
    assert made.is_int(e, SIGMA) == (type_of(e, SIGMA) == INT)


def test_loops_in_one_another_take_no_work_without_end(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit, each is gone through once, whatever is around it."""
    body = "unsigned x = 0; " + "for (int i = 0; i < n; i++) { " * 10 + "x = x * x + n; " + "}" * 10 + " out[0] = x;"
    works: list[int] = []
    monkeypatch.setattr(ranges, "WORK", 100)
    run = ranges.Walk.run

    def counted(own: ranges.Walk, *args: Any) -> Any:
        found = run(own, *args)
        works.append(own.work)
        return found

    monkeypatch.setattr(ranges.Walk, "run", counted)
    read_body(read, body)
    assert max(works) < 2000


def test_floats_are_gone_through_where_they_have_reductions_alone(
    read: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A choice between floats says nothing of integers; what an array is read at in one does."""
    assumed, seen = ranges.Walk.assumed, list[Expr]()

    def noted(own: ranges.Walk, cond: Expr, *args: Any) -> Any:
        seen.append(cond)
        return assumed(own, cond, *args)

    monkeypatch.setattr(ranges.Walk, "assumed", noted)
    floats = "float *F, float *G, int n"
    body = "float a = G[0], b = G[1]; for (unsigned k = 0; k < 2; k++) F[k + 1] = k == 1 ? a : b;"
    assert MASK not in show_stmt(read(f"__global__ void k({floats}) {{ {body} }}\n").kernel.body)
    assert not any(isinstance(c, Op) and c.op == "==" for c in seen)
    body = "int t = threadIdx.x; if (t < n) G[t] = F[t + 1u] * (t > 0 ? F[t - 1u] : 2.0f);"
    text = show_stmt(read(f"__global__ void k({floats}) {{ {body} }}\n").kernel.body)
    assert "F[t + 1]" in text
    assert "F[t - 1]" in text


def test_one_of_several_names_is_within_the_limits_of_all(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it would be if each was looked at where its number is the one, which takes a store for each."""
    assumed, seen = ranges.Walk.assumed, list[Expr]()

    def noted(own: ranges.Walk, cond: Expr, *args: Any) -> Any:
        seen.append(cond)
        return assumed(own, cond, *args)

    monkeypatch.setattr(ranges.Walk, "assumed", noted)
    body = "unsigned v[3] = {m & 7, w & 1, 9}; v[n] += 5u; out[v[n] + 1u] = v[n] - 5u > 4u; out[v[n] * m] = 1;"
    found = read_body(read, body)
    assert not any(isinstance(c, Op) and c.op == "==" for c in seen)
    lines = show_stmt(found.kernel.body).splitlines()
    assert MASK not in "".join(line for line in lines if line.startswith("out") and "m]" not in line)
    monkeypatch.setattr(made.Made, "choice", lambda *_: ())
    assert read_body(read, body + " ").under() == found.under()
    assert any(isinstance(c, Op) and c.op == "==" for c in seen)
