"""Pointers that are numbers: read from memory, in structures there, or into one of several arrays."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import evaluate
from logic.syntax import Const, Expr, Op
from logic.typing import check_kernel
from semantics.cuda import Reading
from semantics.cuda.parse import Request, find, parse
from semantics.cuda.reader import _lower
from semantics.grid import run
from tests.semantics.cuda.lowered import Lowered
from tests.semantics.cuda.native import COMPILER

Reader = Callable[..., Reading]

BEFORE: Final = """
struct Node { int value; Node *next; };
struct View { int *data; int n; };
struct Pair { Node *first; int *second; };
__device__ int *row(int **p, int i) { return p[i]; }
__device__ void exchange(int *&a, int *&b) { int *t = a; a = b; b = t; }
__device__ int total(Node *p) { int s = 0; for (; p; p = p->next) s += p->value; return s; }
__device__ int first(const int *p, const int *q = nullptr) { if (q != nullptr) return q[0]; return p[0]; }
__device__ int *held;
__device__ void lead(int **p, int *to) { *p = to; }
__device__ void on(int *&p, int by) { *p += by; p += by; }
template <class T> __device__ const T &most(const T &a, const T &b) { return a < b ? b : a; }
template <class T> __device__ int second(const T &a) { return a[1]; }
__device__ View part(View v, int i) { View w; w.data = v.data + i; w.n = v.n - i; return w; }
"""
SIGNATURE: Final = "int *A, int *B, int **rows, Node **heads, View *views, int n"

BODIES: Final = [
    "int x = 1; rows[x++] = rows[0] + x; rows[x -= 2] += (A[5]++, x + 5); *rows[0] = 3; *rows[1] = 4;",
    "int x = 1; rows[x++] = rows[x]; *rows[0] = 7; *rows[x] = x; *rows[--x] = *rows[x];",
    "rows[0][0] = *(rows[0] = B); *views[0].data += *(views[0].data = B); int *&p = rows[1]; p[0] = (p = A, n);",
    "size_t a = (size_t)(A + n); *(int *)(a + 4) = 5; int *p = reinterpret_cast<int *>(a & ~3ul); *p += *(p + 1);",
    "A[0] = (size_t)(A + n) - (size_t)A; if (((unsigned long long)A & 3) == 0) A[1] = 7; A[2] = (long)B == (long)A;",
    "int *r = rows[1]; r[2] = 7; *r += r[1]; rows[2][n] -= 3; A[0] = *(rows[0] + 1);",
    "int **p = rows + 1; p++; **p = 5; (*p)[1] = p[1][2]; A[1] = p - rows;",
    "int *r = rows[0]; r += 2; *r++ = 4; *r = 9; A[0] = r - rows[0]; --r; for (int i = 0; i < n; i++) *r++ = i;",
    "rows[1]++; rows[1] += 2; *rows[1] = 3; rows[2] = rows[0] + 5; *rows[2] = 6; A[2] = rows[2] == rows[0] + 5;",
    "Node *p = heads[0]; int s = 0; while (p) { s = s * 10 + p->value; p->value = s; p = p->next; } A[0] = s;",
    "A[0] = total(heads[0]) + total(heads[2]->next); A[1] = heads[1]->next->value; heads[1]->next->next->value = 8;",
    "Node *p = heads[0], *last = nullptr; while (p != NULL) { Node *q = p->next; p->next = last; last = p; p = q; }",
    "Node *p = heads[1]; p->next->next = nullptr; A[0] = total(p); A[1] = p->next == nullptr ? 1 : 2; heads[0] = p;",
    "for (Node *p = heads[0]; p && p->value != n; p = p->next) p->value = 0;",
    "View v = views[1]; v.data[1] = v.n; v.data += 2; v.data[0] = 7; A[0] = views[1].data[0]; views[0].data[n] = v.n;",
    "View *v = views + 1; for (int i = 0; i < v->n; i++) v->data[i] = i; v->data = rows[2]; v->data[1] = 4; v->n--;",
    "views[0] = views[1]; views[0].data[0] = 3; View w = {rows[2], n}; views[1] = w; views[1].data[n] = 5;",
    "int *p = n > 2 ? A : B; p[1] = 5; int *q = n > 5 ? A : B; q[2] = 6;",
    "int *p = A, *q = B; for (int i = 0; i < n; i++) { q[i] = 10 * i; int *t = p; p = q; q = t; }",
    "int *p = A, *q = B; for (int i = 0; i < n; i++) { exchange(p, q); p[i] = 7 + i; }",
    "int *p; if (n > 4) p = A; else p = B + 1; p[2] = 3; p = rows[0]; p[1] = 9;",
    "int *p = nullptr; for (int i = 0; i < 5; i++) if (i == n) p = B + i; if (p) *p = 77; if (!p) A[0] = 1;",
    "int *list[3] = {A, B + 1, rows[1]}; for (int i = 0; i < 3; i++) list[i][i] = 40 + i;",
    "int *list[2]; list[0] = A; list[1] = B; int *t = list[0]; list[0] = list[1]; list[1] = t; list[0][5] = 6;",
    "A[0] = first(rows[1]); A[1] = first(rows[1], rows[2]); A[2] = first(B, n > 1 ? rows[0] : nullptr);",
    "View v = {A, 8}, w = part(v, 3); w.data[0] = w.n; View u = part(part(w, 1), 1); u.data[1] = u.n; v.data[0] = 2;",
    "View v = {A, 1}; View &r = v; r.data++; r.data[0] = 9; View *p = &v; p->data[1] = 8; p->data = B; v.data[0] = 7;",
    "Pair p = {heads[0], rows[0]}; p.first->next->value = 3; *p.second = 4; p.first = p.first->next; p.first->value++;",
    "A[0] = row(rows, 1)[1] + *row(rows, 2); row(rows, 0)[2] = 5; *(row(rows, 1) + 1) = 6;",
    "int *p = (n & 1) ? rows[0] : rows[1]; *p = 2; *(n > 7 ? rows[1] : rows[2]) = 3; A[0] = (n ? A : B)[4];",
    "int *p = A; if (n) p = B; p[0] = 1;",
    "int *p = A; if (n) { p = B; } else { p[0] = 1; } p = B; p++; p = A;",
    "int *p; if (n) p = A; else p = B; *p = 1;",
    "int *p = A; if (n) { if (n > 1) p = B; } *p++ = 1;",
    "int *p = A; for (int i = 0; i < n; i++) { *p = 1; p = B; }",
    "int *p = A, *q = B; for (int i = 0; i < n; i++) { int *t = p; p = q; q = t; } p[2] = q[3];",
    "int *p = A; while (n--) p = n ? A : B; *p = 9;",
    "int *p = A; do { p[0] = 1; p = B; } while (n--);",
    "int *p = A; switch (n) { case 1: p = B; default: *p = 1; }",
    "int *p = A; for (int i = 0; i < n; i++) { if (i) break; p = B; } *p = 9;",
    "int *p = A; auto f = [&] { p = B; }; f(); *p = 1;",
    "int *p = A; auto f = [&] { p = B; }; for (int i = 0; i < n; i++) { *p = 1; f(); }",
    "int *p = A; n && (p = B); *p = 1;",
    "int *p = A; n ? (p = B, 0) : 0; *p = 1;",
    ("__shared__ int *p, *q[2]; p = rows[1]; q[1] = p + 1; p[2] = 7; *p += n; A[0] = p[1] + q[1][1]; "
     "p = A; p++; *p = 5;"),
    ("__shared__ int *p; p = n ? B : A; int *q = p + 1; p = nullptr; if (!p) q[1] = 6; p = q; "
     "A[0] = p == q; A[1] = p - q;"),
    "rows[0][0] = rows[0][1] = n; views[1].data[0] = views[1].data[n] = 6; rows[1] = rows[2] = B;",
    "A[0] = rows[0] != rows[1]; A[1] = rows[1] < rows[2]; A[2] = rows[2] - rows[1]; A[3] = &rows[1][3] - rows[1];",
    "held = rows[1]; held[2] = 7; held++; *held += n; A[0] = held == rows[1] + 1; if (!held) A[1] = 1; *held++ = 2;",
    "held = A; int *&r = held; r[1] = 4; r = B; held[2] = 5; r++; *held = 6; (held += 2)[0] = 8; A[3] = held - B;",
    "lead(&held, rows[2]); held[1] = 9; lead(&held, B); *held = 3; int **p = &held; (*p)[n] = 1; ++*p; *held = 2;",
    "int *&r = rows[1]; r[1] = 8; r++; *r = 4; r = rows[0]; rows[1][2] = 6; auto &q = rows[2]; q[n] = 3;",
    "int *list[2] = {rows[0], rows[1]}; int *&r = list[1]; r[1] = 2; r++; *r = n; list[0] = r; *list[0] += 5;",
    "on(rows[1], 2); on(rows[1], n); on(views[0].data, 1); View v = views[1]; on(v.data, 1); *v.data = 7;",
    ("A[0] = second(rows[1]) + second(A + n) + second(B) + second(views[1].data); *most(A, A + 1) = 9; held = B;"
    "A[1] = second(held) + second(&held[2]);"),
    "void *p = rows[1]; ((int *)p)[2] = 6; short *s = (short *)rows[0]; int *q = (int *)(s + 2); q[0] = 5;",
]  # fmt: skip

_HOST: Final = """\
#include <cstdio>
#define __device__
#define __shared__ static
{before}
static int A[32], B[32], M[64];
static Node nodes[8];
static int *rows[4];
static Node *heads[4];
static View views[2];
static int at(Node *p) {{ return p ? int(p - nodes) : -1; }}
{kernels}
int main() {{
  void (*kernels[])({signature}) = {{ {names} }};
  for (auto kernel : kernels) {{
    for (int i = 0; i < 32; i++) A[i] = i, B[i] = 50 - i;
    for (int i = 0; i < 64; i++) M[i] = i * 3 % 17;
    for (int i = 0; i < 8; i++) nodes[i].value = i + 1, nodes[i].next = i % 4 == 3 ? nullptr : nodes + i + 1;
    for (int i = 0; i < 4; i++) rows[i] = M + 12 * i, heads[i] = nodes + i;
    for (int i = 0; i < 2; i++) views[i].data = M + 30 + 8 * i, views[i].n = 4 + i;
    kernel(A, B, rows, heads, views, 3);
    for (int x : A) printf("%d ", x);
    for (int x : B) printf("%d ", x);
    for (int x : M) printf("%d ", x);
    for (Node &p : nodes) printf("%d %d ", p.value, at(p.next));
    for (View &v : views) printf("%d ", v.n);
    printf("\\n");
  }}
}}
"""

# where things are, as our semantics has them: numbers of bytes
_MEMORY: Final = 4000
_NODES: Final = 8192
_ARRAYS: Final = 1 << 16


def _number(which: int) -> int:
    """The address of an array, in bytes."""
    return _ARRAYS + 1024 * which


class _Memory(Lowered):
    """The same, with addresses for arrays, where their elements are to be found, too."""

    def value(self, e: Expr) -> int | bool:
        match e:
            case Op("int", (Op("call:address", (_, Const(int(which)))),)):
                return _number(which) // 256
        return super().value(e)


def _hosted(folder: Path) -> list[list[int]]:
    assert COMPILER is not None
    kernels = "".join(f"static void k{i}({SIGNATURE}) {{ {body} }}\n" for i, body in enumerate(BODIES))
    names = ", ".join(f"k{i}" for i in range(len(BODIES)))
    text = _HOST.format(before=BEFORE, kernels=kernels, signature=SIGNATURE, names=names)
    (folder / "regions.cpp").write_text(text)
    subprocess.run([COMPILER, "-w", "-O0", "-fno-strict-aliasing", "-o", "regions", "regions.cpp"], cwd=folder,
                   check=True, timeout=300)  # fmt: skip
    out = subprocess.run([folder / "regions"], capture_output=True, check=True, timeout=60).stdout
    return [list(map(int, line.split())) for line in out.decode().splitlines()]


def _ours(body: str, folder: Path) -> list[int]:
    file = folder / "regions.cu"
    file.write_text(f"{BEFORE}__global__ void k({SIGNATURE}) {{ {body} }}")
    request = Request(str(file), (), (), "c++17", None, None)
    parsed = parse(request)
    kernel, st = _lower(parsed, find(parsed, request, "k"))
    state = _Memory({"n": 3})
    starts = {name: _number(k) // 4 for name, k in st.numbers.items()}
    for name in ("A", "B"):
        for i in range(32):
            value = i if name == "A" else 50 - i
            state.cells[name, i] = value
            if f"address of {name}" in starts:
                state.cells["memory.int32", starts[f"address of {name}"] + i] = value
    for i in range(64):
        state.cells["memory.int32", _MEMORY // 4 + i] = i * 3 % 17
    for i in range(8):
        node = _NODES // 8 + 2 * i
        state.cells["memory.int32", 2 * node] = i + 1
        state.cells["memory.pointer", node + 1] = 0 if i % 4 == 3 else node + 2
    for i in range(4):
        state.cells["rows", i] = _MEMORY // 4 + 12 * i
        state.cells["heads", i] = _NODES // 8 + 2 * i
    for i in range(2):
        state.cells["views.data", i] = _MEMORY // 4 + 30 + 8 * i
        state.cells["views.n", i] = 4 + i
    before = dict(state.cells)
    state.run(kernel.body)
    found = []
    for name in ("A", "B"):
        start = starts.get(f"address of {name}")
        for i in range(32):
            both = [(name, i), *([] if start is None else [("memory.int32", start + i)])]
            changed = [at for at in both if state.cells.get(at) != before.get(at)]
            found.append(state.cell(*(changed or both)[0]))
    found += [state.cell("memory.int32", _MEMORY // 4 + i) for i in range(64)]
    for i in range(8):
        node = _NODES // 8 + 2 * i
        after = state.cell("memory.pointer", node + 1)
        found += [state.cell("memory.int32", 2 * node), (after - _NODES // 8) // 2 if after else -1]
    return [*found, *(state.cell("views.n", i) for i in range(2))]


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(tmp_path: Path) -> None:
    for body, theirs in zip(BODIES, _hosted(tmp_path), strict=True):
        ours = _ours(body, tmp_path)
        assert [(i, a, b) for i, (a, b) in enumerate(zip(theirs, ours, strict=True)) if a != b] == [], body


REFUSED = {
    "__shared__ int s[8]; A[0] = (size_t)s & 15;": "a pointer to shared memory among pointers to global memory",
    "int x = 0; A[0] = (size_t)&x & 15;": "a pointer to a variable of one thread among others",
    "A[0] = (unsigned)(size_t)A; A[1] = (short)(size_t)A; A[2] = *(int *)n;": "a number as a pointer",
    "__shared__ int s[8], *p; p = s; p[0] = 1;": "a pointer to shared memory among pointers to global memory",
    "A[0] = rows[0][0] + *(rows[0] = B);": "changed and used in one expression",
    "A[0] = *views[0].data + *(views[0].data = B);": "changed and used in one expression",
    "__shared__ int *p; p = A; B[0] = p[0] + (p = B, 1);": "changed and used in one expression",
    "__shared__ int s[8]; rows[0] = s;": "a pointer to shared memory among pointers to global memory",
    "__shared__ int s[8]; int *p = n ? s : A; p[0] = 1;": "a pointer to shared memory among pointers to global memory",
    "__shared__ int s[8]; int *p = A; for (int i = 0; i < n; i++) { p[i] = 1; p = s; }": (
        "one pointer into shared and into global memory"
    ),
    "int x = 0; rows[0] = &x;": "a pointer to a variable of one thread among others",
    "int v[4]; int *p = n ? v : A; p[0] = 1;": "a pointer to a variable of one thread among others",
}


BYTES = [
    "U u; u.p = s; A[0] = ((int *)u.n)[n];",
    "U u; u.p = s; U v; v.d = u.d; A[0] = v.p[n];",
    "U u; u.n = 0; for (int i = 0; i < n; i++) { A[i] = ((int *)u.n)[i]; u.p = s; }",
    "union { int *p; unsigned u[2]; } a, b; a.p = s; b.u[0] = a.u[0]; b.u[1] = a.u[1]; A[0] = b.p[n];",
    "union { View v; long long n; } u; u.v.data = s; A[0] = ((int *)u.n)[n];",
    "int *p = s; long long u; memcpy(&u, &p, 8); A[0] = ((int *)u)[n];",
    "int *p = s, *q; char c[8]; memcpy(c, &p, 8); memcpy(&q, c, 8); A[0] = q[n];",
    "View v{s}; long long u = *(long long *)&v; A[0] = ((int *)u)[n];",
    "View v{s}; *(int4 *)views = *(int4 *)&v; A[0] = views->data[n];",
    'long long u; asm("mov.u64 %0, %1;" : "=l"(u) : "l"(s)); A[0] = ((int *)u)[n];',
    'long long u; asm("add.u64 %0, %1, 4;" : "=l"(u) : "l"(s)); A[0] = ((int *)u)[n];',
    'asm("st.global.u64 [%0], %1;" :: "l"(rows), "l"(s)); A[0] = rows[0][n];',
    'long long u; asm("cvta.shared.u64 %0, %1;" : "=l"(u) : "l"(__cvta_generic_to_shared(s))); A[0] = ((int *)u)[n];',
]


@pytest.mark.parametrize("body", BYTES)
def test_the_bytes_of_a_pointer_to_shared_memory_are_no_number(refused: Callable[[str, str], None], body: str) -> None:
    """A number leads to global memory, where nothing has conflicts."""
    before = f"{BEFORE}union U {{ int *p; long long n; double d; }};"
    refused(f"{before}__global__ void k({SIGNATURE}) {{ __shared__ int s[1024]; {body} }}", "")


@pytest.mark.parametrize("body", REFUSED)
def test_refused(refused: Callable[[str, str], None], body: str) -> None:
    refused(f"{BEFORE}__global__ void k({SIGNATURE}) {{ {body} }}", REFUSED[body])


COSTS = {
    # numbers that pointers are, and pointers that numbers are
    "*(int *)((size_t)A + 4 * threadIdx.x) = 1;": 4,
    "size_t p = reinterpret_cast<uintptr_t>(&A[threadIdx.x]); *reinterpret_cast<int *>(p & ~size_t(3)) = 1;": 32,
    "if (((size_t)(A + n) & 15) == 0) A[threadIdx.x] = 1;": 4,
    # the pointer is shared by the warp: a sector for it, and five for 128 bytes that begin anywhere
    "rows[blockIdx.x][threadIdx.x] = 1;": 1 + 5,
    "rows[n][2 * threadIdx.x]++;": 1 + 2 * 9,
    # each lane has its own
    "*rows[threadIdx.x] = 1;": 8 + 32,
    "int *r = rows[threadIdx.x]; r[0] = r[1];": 8 + 64,
    "int *p = n ? A : B; p[threadIdx.x] = 1;": 5,
    "View v = views[threadIdx.x]; v.data[v.n] = 1;": 16 + 16 + 32,
    "heads[0]->next->value = 3;": 1 + 1 + 1,
}


@pytest.mark.parametrize("body", COSTS)
def test_sectors(read: Reader, body: str) -> None:
    """A bound of one warp, and a run in which the pointers lead far from one another that it is no less than."""
    kernel = read(f"{BEFORE}__global__ void k({SIGNATURE}) {{ {body} }}", "k").kernel
    context = Context(
        check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1), (None, None, None), ())
    )
    (found,) = find_bounds(Outline(kernel, context, bare(kernel.body)), [METRICS["sectors"]], Oracles())
    assert found.claim is not None
    assert evaluate(found.claim.pre.q, {}) == COSTS[body]
    if "call:address" in str(kernel.body):  # where it is, no run knows
        return
    far = [1003 + 100 * i for i in range(64)]
    arrays = {a.name: far for a in kernel.arrays if a.name in ("rows", "heads", "views.data")}
    args = {d.name: 3 for d in kernel.params}
    result = run(kernel, (32, 1, 1), (1, 1, 1), args, arrays, [METRICS["sectors"]])
    assert result.totals["sectors"] <= COSTS[body]
    assert body.startswith("int *p") or result.totals["sectors"] >= COSTS[body] - 1


def test_what_is_assumed(read: Reader) -> None:
    notes = read("__global__ void k(int **rows) { rows[0][threadIdx.x] = 1; }").notes
    assert notes == (
        "a pointer that is read from memory, or may lead into several arrays, may lead anywhere in global memory",
    )
