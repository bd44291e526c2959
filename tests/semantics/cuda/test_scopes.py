"""Objects with destructors, called where their blocks are left, as a host compiler has it; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Leaf, evaluate
from logic.syntax import Param, show_stmt
from logic.typing import check_kernel
from semantics.cuda import Reading
from semantics.grid import run
from tests.examples import LONG
from tests.semantics.cuda.native import COMPILER, differences

BEFORE = """
struct Log { int *p, v; __device__ Log(int *q, int x) : p(q), v(x) { *p += x; }
  __device__ ~Log() { *p = *p * 3 % 10007 + v; } __device__ int of() { return ++v; } };
struct Early { int *p; __device__ explicit Early(int *q) : p(q) {}
  __device__ ~Early() { if (*p % 2) return; for (int i = 0; i < 3; i++) { if (i == 2) return; p[i + 1]++; } } };
struct Plain { int on = 0; int *p; __device__ ~Plain() { if (on) *p += 7; } };
template <class T, int N> struct Of { T *p; __device__ Of(T *q) : p(q) {} __device__ ~Of() { *p = *p * 2 + N; } };
namespace ns { template <class T> struct In { Of<T, 3> x; int k; __device__ In(int *q) : x(q), k(2) {}
  __device__ ~In() { *x.p += k; } }; }
template <class T> struct Outer { struct Inner { T *p;
  __device__ Inner(T *q) : p(q) {} __device__ ~Inner() { *p += sizeof(T); } }; };
template <class T, int N> struct Part {}; template <class T> struct Part<T, 2> { T *p; int k = 3;
  __device__ Part(T *q) : p(q) {} __device__ ~Part() { *p *= k; } };
template <class T> struct Whole {}; template <> struct Whole<int> { int *p; __device__ Whole(int *q) : p(q) {}
  __device__ ~Whole() { *p += 11; } };
template <class T> __device__ int within(T *A, int n) { Of<T, 5> g(A); if (n > 1) return A[0]; return A[1]; }
struct Both { Log a, b; int k; __device__ Both(int *q) : a(q, 2), b(q, 5), k(4) {}
  __device__ ~Both() { *a.p += 100; } };
struct Derived : Log { int w; __device__ Derived(int *q) : Log(q, 3), w(1) {} __device__ ~Derived() { *p += w; } };
struct Holds { int n; Log x; __device__ Holds(int *q) : n(2), x(q, 4) {} };
struct Nothing { __device__ Nothing(int *) {} __device__ ~Nothing() {} };
__device__ int early(int *A, int n) { Log g(A, n); if (n > 2) return A[0] + 1; Log h(A, 3); return h.of() + A[0]; }
__device__ int &at(int *A, int i) { Log g(A, i); return A[i]; }
__device__ void nothing(int *A, int n) { if (n < 2) return; Log g(A, 1); if (n > 2) return; A[1] = 5; }
struct P { int a, b; };
__device__ P pair(int *A, int n) { Log g(A, n); if (n == 1) return {1, A[0]}; return {A[0], 2}; }
__device__ int *pick(int *A, int n) { Early g(A); if (n) return A + n; return A + 2; }
"""

BODIES = [
    "Log g(A, n); A[1] = A[0];",
    "Log g(A, n); if (threadIdx.x > 1) return; Log h(A, 1); A[0] += 2;",
    "{ Log g(A, n); A[0]++; { Log h(A, 2); } A[0] += 5; } A[1] = A[0];",
    "for (int i = 0; i < 6; i++) { Log g(A, i); if (i == threadIdx.x) continue; if (i == n) break; A[0]++; } A[1] = 9;",
    "for (int i = 0; i < 6; i++) { Log g(A, i); if (i == threadIdx.x) return; A[0]++; } A[1] = 9;",
    "int i = 0; while (true) { Log g(A, i); if (i++ > n) break; A[0]++; } A[1] = 9;",
    "int i = 0; while (true) { { Log g(A, i); if (i++ > n) break; } A[0]++; } A[1] = A[0];",
    "int i = 0; for (;;) { Log g(A, i); if (i++ > n) { A[4] = 5; return; } A[0]++; }",
    "int i = 0; do { Log g(A, i); i++; if (i == 2) continue; A[0]++; } while (i < 4); A[1] = 9;",
    "int i = 0; do { Log g(A, i); if (i == threadIdx.x) break; } while (++i < 3); do { Log g(A, 2); } while (0);",
    "switch (threadIdx.x) { case 0: { Log g(A, 1); break; } case 1: { Log g(A, 2); A[0]++; } case 2: A[0] += 3; }",
    "for (int i = 0; i < 4; i++) switch (i) { case 1: { Log g(A, 1); break; } default: { Log h(A, i); continue; } }",
    "for (int i = 0; i < 4; i++) { Log g(A, i); for (int j = 0; j < 3; j++) { Log h(A, j); if (i == 2) return; } }",
    "for (int i = 0; i < 4; i++) { Log g(A, i); for (int j = 0; j < n; j++) { Log h(A, j); if (j == i) break; } }",
    "A[1] = early(A, threadIdx.x + 1) + 1; A[2] = early(A, 2); nothing(A, threadIdx.x);",
    "P p = pair(A, threadIdx.x); A[1] = p.a * 10 + p.b; *pick(A, threadIdx.x) = 5;",
    "Early e(A + threadIdx.x); A[threadIdx.x] += n; Early f(A + 4);",
    "Plain p; p.p = A + 2; if (threadIdx.x) p.on = 1; Plain q; q.p = A; A[1] = 3;",
    "Of<int, 4> g(A); if (threadIdx.x) return; ns::In<int> h(A + 1); A[1] += h.k;",
    ("Outer<int>::Inner g(A); Part<int, 2> h(A + 1); Whole<int> w(A + 2); A[2]++; "
     "if (n == threadIdx.x) return; A[0] = 1;"),
    "A[2] = within(A, 2); A[3] = within(A, 1);",
    "{ Both b(A); A[0] += b.k; if (threadIdx.x) return; } Derived d(A); A[0] *= d.w + d.of();",
    "Holds h(A); A[0] += h.n + h.x.v; Nothing no(A);",
    "Log g(A, 1), h(A, 2); Log i(A, 3); if (threadIdx.x == 2) return; g.v += 4; A[0]++;",
    "auto f = [&](int k) { Log g(A, k); if (k > 2) return k; return A[0]; }; A[1] = f(threadIdx.x) + 1; A[2] = f(3);",
    "if (threadIdx.x) { Log g(A, 1); A[0]++; } else { Log g(A, 2); return; } A[1] = A[0];",
    "const int x = early(A, 1); for (int i = 0; i < early(A, i); i++) if (i > 3) break; else A[5] += x;",
    "int i = 0; while (i < 5) { Log g(A, i); if (++i == 3) { Log h(A, 9); continue; } A[0] += i; } A[1] = i;",
    "int v[3] = {1, n, 5}; for (int x : v) { Log g(A, x); if (x == n) continue; A[0] += x; }",
    "while (1) { if (A[0] > 50) break; Log g(A, 3); if (A[0] > 30) break; A[0] += 9; } A[1] = A[0];",
]  # fmt: skip


@pytest.mark.whole
@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_as_a_host_compiler_has_it(read: Callable[..., Reading], tmp_path: Path) -> None:
    assert differences(read, BEFORE, BODIES, tmp_path) == []


class _Writer:
    """Nests of blocks, loops and jumps, with objects in them, that end."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def test(self) -> str:
        of = self.random.choice(("threadIdx.x", "A[0]", "n", "A[2]"))
        return f"{of} % {self.random.randint(2, 4)} == {self.random.randint(0, 2)}"

    def block(self, depth: int, loop: bool, switch: bool = False) -> str:
        parts = []
        for _ in range(self.random.randint(1, 4)):
            kinds = ["object", "object", "step", "jump", "jump"] + ["if", "for", "while", "switch", "block", "do"] * (
                depth > 0
            )
            parts.append(self.statement(self.random.choice(kinds), depth - 1, loop, switch))
        return "{ " + " ".join(parts) + " }"

    def statement(self, kind: str, depth: int, loop: bool, switch: bool) -> str:
        x, k = self.fresh(), self.random.randint(1, 5)
        match kind:
            case "object":
                return self.random.choice((f"Log {x}(A, {k});", f"Early {x}(A + {k});", f"Holds {x}(A + {k});"))
            case "step":
                return f"A[{k - 1}] += {k};"
            case "jump":
                ways = ["return;"] + ["break;"] * (loop or switch) + ["continue;"] * loop
                return f"if ({self.test()}) {self.random.choice(ways)}"
            case "if":
                other = f" else {self.block(depth, loop, switch)}" if k > 2 else ""
                return f"if ({self.test()}) {self.block(depth, loop, switch)}{other}"
            case "for":
                return f"for (int {x} = 0; {x} < {k}; {x}++) {self.block(depth, True)}"
            case "while":
                body = self.block(depth, True)
                return f"int {x} = 0; while (true) {{ if ({x}++ > {k}) break; {body[1:]}"
            case "do":
                return f"int {x} = 0; do {self.block(depth, True)} while ({x}++ < {k});"
            case "switch":
                end = self.random.choice(("break;", ""))
                cases = f"case 0: {self.block(depth, loop, True)} {end} case 1: {self.block(depth, loop, True)}"
                return f"switch (A[{k}] & 3) {{ {cases} }}"
        return self.block(depth, loop, switch)


@pytest.mark.skipif(COMPILER is None, reason="no g++ to compare with")
def test_nests_that_are_drawn(read: Callable[..., Reading], tmp_path: Path) -> None:
    bodies = [_Writer(seed).block(3, False) for seed in range(400 if LONG else 15)]
    assert differences(read, BEFORE, bodies, tmp_path) == []


def test_each_way_out_has_the_call(read: Callable[..., Reading]) -> None:
    before = "struct G { int *p; __device__ G(int *q) : p(q) { *p = 1; } __device__ ~G() { *p = 2; } };"
    source = f"{before}__global__ void k(int *A, int n) {{ G g(A + threadIdx.x); if (n) return; A[0] = 5; }}"
    text = show_stmt(read(source, "k").kernel.body)
    assert text.count("A[g.p] <- 2") == 2, text


BOUNDED = {
    "G g(A + i); if (A[i] > 3) return; A[n + i] = 5;": 29,
    "for (int j = 0; j < n; j++) { G g(A + 32 * j + i); if (j == i) break; if (A[j] == 2) continue; A[i] = 1; }": 608,
    "for (int &x : View{A + 64 * blockIdx.x + 2 * i, 2}) x += table[n & 1](x, i);": 54,
    "A[i] = table[i % 2](A[i], A[n + i]);": 22,
}
"""Bodies, with sectors a warp for n = 40 that the bound is to keep to."""

DEAR = "for (int j = 0"
"""How a body begins whose divergences only the long run bounds: it takes twice the time of all else here."""


@pytest.mark.parametrize("body", BOUNDED)
def test_bounds_hold_in_runs(read: Callable[..., Reading], body: str) -> None:
    before = """struct G { int *p; __device__ G(int *q) : p(q) { *p = 1; } __device__ ~G() { if (*p) *p = 2; } };
struct View { int *b; int n; __device__ int *begin() const { return b; }
  __device__ int *end() const { return b + n; } };
__device__ int add(int a, int b) { return a + b; } __device__ int mul(int a, int b) { return a * b; }
__device__ int (*table[])(int, int) = {add, mul};"""
    reading = read(f"{before} __global__ void k(int *A, int n) {{ int i = threadIdx.x; {body} }}", "k")
    reading = reading.under(block=(32, 1, 1), grid=(2, 1, 1))
    names = ("sectors", "divwarps", "steps") if LONG or not body.startswith(DEAR) else ("sectors", "steps")
    metrics = [METRICS[name] for name in names]
    context = Context(check_kernel(reading.kernel), metrics[0], HARDWARE["nvidia"], Launch((32, 1, 1), (2, 1, 1), ()))
    found = find_bounds(Outline(reading.kernel, context, bare(reading.kernel.body)), metrics, Oracles())
    ran = run(reading.kernel, (32, 1, 1), (2, 1, 1), {"n": 40}, {"A": [i % 7 for i in range(2000)]})
    sizes: dict[Leaf, int] = {Param("blockDim.x"): 32, Param("blockDim.y"): 1, Param("blockDim.z"): 1, Param("n"): 40}
    for result, metric in zip(found, metrics, strict=True):
        assert result.claim is not None, metric.name
        claimed = evaluate(result.claim.pre.q, sizes)
        assert ran.max_per_warp[metric.name] <= claimed
        assert metric.name != "sectors" or claimed <= BOUNDED[body]


REFUSED = {
    "a temporary": ("Log(A, 1); A[0]++;", "the destructor of 'Log' as a value"),
    "a temporary's member": ("A[1] = Log(A, 1).v;", "the destructor of 'Log' as a value"),
    "an array": ("Log g[2] = {{A, 1}, {A, 2}};", "the destructor of 'Log'"),
    "a copy": ("Log g(A, 1); Log h(g);", "the destructor of 'Log' as a value"),
    "another copy": ("Log g(A, 1); Log h = g;", "the destructor of 'Log' as a value"),
    "what a function gives": ("Log g = make(A);", "the destructor of 'Log' as a value"),
    "a parameter": ("Log g(A, 1); take(g);", "the destructor of 'Log'"),
    "a reference to a temporary": ("const Log &g = Log(A, 1); A[0]++;", "the destructor of 'Log' as a value"),
    "a copy in a lambda": ("Log g(A, 1); auto f = [g]() { return g.v; }; A[0] = f();", "the destructor of 'Log'"),
    "a label": ("if (n) goto out; { Log g(A, 1); } out: A[0] = 1;", "a 'goto' beside the destructor of 'Log'"),
    "the head of a loop": ("for (Log g(A, 1); A[0] < 9; A[0]++) A[1]++;", "the destructor of 'Log' as a value"),
    "the body of a switch": ("switch (n) { case 3: Log g(A, 1); A[0]++; }", "the destructor of 'Log' as a value"),
    "an instance of what a function has": ("struct L {}; T<L> g(A);", "whose body is not known here"),
    "an array that is deleted": ("Log *p = nullptr; delete[] p;", "the destructors of an array of 'Log'"),
    "in a constructor": ("Uses u(A); A[1] = u.k;", "the destructor of 'Log' as a value"),
    "in an initialiser of a field": ("Starts u; A[1] = u.k;", "the destructor of 'Log' as a value"),
    "a reference in the middle": ("at(A, 2) = 7;", "a function that returns a reference in the middle"),
}

ODD = """
__device__ Log make(int *A) { return Log(A, 1); }
__device__ void take(Log g) { g.v++; }
template <class> struct T { int *p; __device__ T(int *q) : p(q) {} __device__ ~T() { *p = 1; } };
static int cells[4];
struct Uses { int k; __device__ Uses(int *q) : k(Log(q, 2).v) {} };
struct Starts { int k = Log(nullptr, 2).v; };
"""


@pytest.mark.parametrize("name", REFUSED)
def test_refused(refused: Callable[[str, str], None], name: str) -> None:
    body, message = REFUSED[name]
    refused(f"{BEFORE}{ODD}__global__ void k(int *A, int n) {{ {body} }}", message)
