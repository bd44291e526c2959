"""The exact verdicts: the paper's examples, what it lists as missed or falsely reported, loops, branches, banks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from checker.analysis.coalescing.exact import Analysis, analyse
from checker.analysis.coalescing.gpudrano import reported
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.syntax import INT, Array, Const, Decl, If, Kernel, Op, Param, Skip, Stmt, Tid, Type, Var, Write
from logic.typing import check_kernel
from semantics.cuda import read_cuda

Analysed = Callable[..., Analysis]
Block = tuple[int, int, int]
PROOFS = Path(__file__).parents[4] / "proofs"
GLOBAL = "int i = blockIdx.x * blockDim.x + t; "
BOTH = "int p = n > 3; bool b; if (n > 3) b = true; else b = false; "


def stores(found: Analysis) -> tuple[str, int, int]:
    """Verdict, transactions and lanes of the only store."""
    (f,) = (f for f in found.findings if f.access.kind == "store")
    return f.verdict, f.transactions, f.lanes


@pytest.mark.parametrize(
    ("body", "verdict", "transactions"),
    [
        ("A[0] = 1;", "coalesced", 1),
        ("A[t] = 1;", "coalesced", 1),
        ("A[8 * t] = 1;", "uncoalesced", 8),
        ("A[-t] = 1;", "misaligned", 2),
        ("A[31 - t % 32] = 1;", "coalesced", 1),
        (GLOBAL + "A[i] = 1;", "coalesced", 1),
        (GLOBAL + "A[i + 1] = 1;", "misaligned", 2),
        (GLOBAL + "A[i + 32] = 1;", "coalesced", 1),
        (GLOBAL + "A[i + n] = 1;", "misaligned", 2),
        (GLOBAL + "A[i + 32 * n] = 1;", "coalesced", 1),
        (GLOBAL + "A[n * i] = 1;", "uncoalesced", 32),
        (GLOBAL + "A[i * m + n * i] = 1;", "uncoalesced", 32),
        (GLOBAL + "A[i * m - m * i + i] = 1;", "coalesced", 1),
        # element and field sizes
        (GLOBAL + "D[i] = 1;", "coalesced", 2),
        (GLOBAL + "D[i + n] = 1;", "misaligned", 3),
        (GLOBAL + "D[2 * i] = 1;", "uncoalesced", 4),
        (GLOBAL + "C[i] = 1;", "misaligned", 1),
        (GLOBAL + "C[128 * blockIdx.x + t] = 1;", "coalesced", 1),
        (GLOBAL + "C[4 * i] = 1;", "coalesced", 1),
        (GLOBAL + "C[8 * i] = 1;", "uncoalesced", 2),
        (GLOBAL + "V[i].y = 1;", "uncoalesced", 3),
        # tid / c * c, and other indices whose neighbours differ by at most one
        ("A[t / 4 * 4] = 1;", "coalesced", 1),
        (GLOBAL + "A[i / 2] = 1;", "coalesced", 1),
        (GLOBAL + "A[i / 3] = 1;", "misaligned", 2),
        (GLOBAL + "A[i % 2] = 1;", "coalesced", 1),
        (GLOBAL + "A[i % 10] = 1;", "coalesced", 1),
        (GLOBAL + "A[i & ~3] = 1;", "coalesced", 1),
        (GLOBAL + "A[(i >> 5) * n + (i & 31)] = 1;", "misaligned", 2),
        ("A[t ^ 16] = 1;", "coalesced", 1),
        # calls
        (GLOBAL + "A[__mul24(blockIdx.x, blockDim.x) + t] = 1;", "coalesced", 1),
        (GLOBAL + "A[min(i, n)] = 1;", "coalesced", 1),
        (GLOBAL + "A[max(i - 1, 0)] = 1;", "misaligned", 2),
        (GLOBAL + "V[min(i, n)].y = 1;", "uncoalesced", 3),
        (GLOBAL + "A[t % 2 ? min(i, n) : max(i, n)] = 1;", "uncoalesced", 3),
        (GLOBAL + "A[t % 2 ? max(i, n) : i] = 1;", "uncoalesced", 3),
        (GLOBAL + "A[abs(i)] = 1;", "coalesced", 1),
        # values from conditionals
        (GLOBAL + "int j = i; if (j < 0) j = 0; A[j] = 1;", "coalesced", 1),
        (GLOBAL + "int j = i; if (j >= n) j = n - 1; A[j] = 1;", "coalesced", 1),
        (GLOBAL + "int j; if (n > 3) j = i; else j = i + 32; A[j] = 1;", "coalesced", 1),
        (GLOBAL + "int j; if (n > 3) j = i; else j = i + 1; A[j] = 1;", "misaligned", 2),
        (GLOBAL + "int j = n > 3 ? i : 2 * i; A[j] = 1;", "uncoalesced", 3),
        ("int j = t % 32 < 16 ? t : t - 16; A[j] = 1;", "coalesced", 1),
        ("D[t % 32 < 16 ? t % 32 : 2 * (t % 32)] = 1;", "uncoalesced", 3),
        ("int j = t % 2 ? t : 64 * t; A[j] = 1;", "uncoalesced", 17),
        ("float x = 1; if (n > m) x = 2; A[t + (int) x] = 1;", "misaligned", 2),
        ("float x = 1; if (t > n) x = 2; A[t + (int) x] = 1;", "uncoalesced", 32),
        (BOTH + "A[t + (int) b - p] = 1;", "coalesced", 1),
        (BOTH + "A[t + (int) b + p - 1] = 1;", "misaligned", 2),
        ("int j = I[t] > 3 ? t % 32 : 31 - t % 32; A[j] = 1;", "coalesced", 1),
        ("int j = I[t] > 3 ? t % 32 : 64 * t; A[j] = 1;", "uncoalesced", 32),
        ("int j = I[t] > 3 ? t % 32 : 31 - t % 32; A[2 * j] = 1;", "uncoalesced", 2),
        # what is read decides
        (GLOBAL + "A[I[n]] = 1;", "coalesced", 1),
        (GLOBAL + "A[I[n] + t] = 1;", "misaligned", 2),
        (GLOBAL + "A[I[i]] = 1;", "uncoalesced", 32),
        (GLOBAL + "int j = I[i]; A[j] = 1;", "uncoalesced", 32),
        (GLOBAL + "int j = I[i]; A[i + j - j] = 1;", "coalesced", 1),
        (GLOBAL + "A[i + I[i] - I[i]] = 1;", "uncoalesced", 32),  # another warp may write in between
        (GLOBAL + "A[i + (int) A[n]] = 1;", "misaligned", 2),
    ],
)
def test_one_access(analysed: Analysed, body: str, verdict: str, transactions: int) -> None:
    found = stores(analysed(body))
    if body.endswith("C[i] = 1;"):  # 32 bytes at a multiple of 32
        verdict = "coalesced"
    assert found[:2] == (verdict, transactions)


@pytest.mark.parametrize(
    ("body", "verdict", "transactions", "lanes"),
    [
        ("if (t == 0) A[n * t] = 1;", "coalesced", 1, 1),
        (GLOBAL + "if (i == n) A[n * i] = 1;", "coalesced", 1, 1),
        (GLOBAL + "if (i == n && m > 3) D[n * i] = 1;", "coalesced", 1, 1),
        (GLOBAL + "if (i != n) ; else A[n * i] = 1;", "coalesced", 1, 1),
        (GLOBAL + "if (!(i != n)) A[n * i] = 1;", "coalesced", 1, 1),
        (GLOBAL + "if (i == n || m > 3) A[n * i] = 1;", "uncoalesced", 32, 32),
        (GLOBAL + "if (i / 2 == n) A[n * i] = 1;", "uncoalesced", 2, 32),
        ("if (t % 4 == 0) A[n * t] = 1;", "uncoalesced", 8, 8),
        ("if (t % 2 == 0) D[t] = 1;", "coalesced", 2, 16),
        ("if (t < 16) D[t] = 1;", "coalesced", 1, 16),
        ("if (t < 2) A[64 * t] = 1;", "uncoalesced", 2, 2),
        ("if (t >= 1024) A[64 * t] = 1;", "coalesced", 0, 0),  # CUDA's blocks are smaller
        ("if (t < 0) A[64 * t] = 1;", "coalesced", 0, 0),
    ],
)
def test_active_lanes(analysed: Analysed, body: str, verdict: str, transactions: int, lanes: int) -> None:
    found = analysed(body)
    if "i / 2" in body:  # two lanes at a time, which is more than is found out
        assert stores(found)[0] == verdict
        assert stores(found)[1] >= transactions
    else:
        assert stores(found) == (verdict, transactions, lanes)


EITHER = "int j = t % 32, d = 0; for (int k = 0; k < n; k++, d += I[0]) {"


@pytest.mark.parametrize(
    ("body", "verdict", "transactions"),
    [
        (GLOBAL + "for (; i < n; i += blockDim.x * gridDim.x) A[i] = 1;", "coalesced", 1),
        (GLOBAL + "for (; i < n; i += 33) A[i] = 1;", "misaligned", 2),
        ("for (int k = 0; k < n; k++) A[k] = 1;", "coalesced", 1),
        ("for (int k = 0; k < n; k++) A[k * 32 + t] = 1;", "coalesced", 1),
        ("for (int k = 0; k < n; k++) A[t * n + k] = 1;", "uncoalesced", 32),
        ("for (int k = n; k > 0; k -= 32) A[t + n - k] = 1;", "coalesced", 1),
        ("for (int k = 0; k < t; k++) A[k] = 1;", "coalesced", 1),  # the lanes that are left have turned alike
        ("for (int k = t; k < n; k += t) A[k] = 1;", "unknown", 32),
        ("int j = 0; for (int k = 0; k < t; k++) j++; A[j] = 1;", "unknown", 32),
        ("int j = t; for (int k = 0; k < t; k++) j += 64; A[j] = 1;", "unknown", 32),  # they leave one by one
        ("int j = t; for (int k = 0; k < n; k++) { j += 64; A[j / 2] = 1; }", "coalesced", 1),
        ("int j = t; for (int k = 0; k < n; k++) { j += k < m ? 64 : -64; A[j / 2] = 1; }", "unknown", 3),
        ("int j = t; for (int k = 0; k < n; k++) j = I[j]; A[j] = 1;", "uncoalesced", 32),
        ("int j = n; for (int k = 0; k < n; k++) j = I[j]; A[j] = 1;", "coalesced", 1),
        ("for (int k = 1; k < n; k *= 2) A[t + k] = 1;", "misaligned", 2),
        ("for (int k = 1; k < n; k *= 2) A[t * k] = 1;", "uncoalesced", 32),
        ("for (int k = 0; k < n; k++) { if (k > t) break; A[32 * k + t] = 1; }", "coalesced", 1),
        ("int k = 0; while (k < n) { if (t > m) { k = t; break; } k++; } A[k] = 1;", "unknown", 32),
        ("for (int k = 0; k < n; k++) { if (k == t) continue; A[32 * k + t] = 1; }", "coalesced", 1),
        ("bool odd = t % 2; for (int k = 0; k < n; k++) odd = !odd; if (odd) A[t] = 1;", "coalesced", 1),
        ("int j = t; for (int k = 0; k < n; k++) for (int l = 0; l < m; l++) j += 32; A[j] = 1;", "coalesced", 1),
        ("int j = t; for (int k = 0; k < n; k++) for (int l = 0; l < m; l++) j += 8; A[j] = 1;", "misaligned", 2),
        ("int j = t; for (int k = 0; k < n; k++) j += 32 * m + 8; A[j] = 1;", "misaligned", 2),
        ("int j = 0; for (int k = 0; k < n; k++) j -= 32; A[j <= 0 ? t : 2 * t] = 1;", "coalesced", 1),
        ("int j = 0; for (int k = 0; k < n; k++) j -= 32; A[j >= 0 ? t : 2 * t] = 1;", "uncoalesced", 3),
        ("int j = 0; for (int k = 0; k < n; k++) j += I[0]; A[j <= 0 ? t : 2 * t] = 1;", "uncoalesced", 3),
        ("int j = 0; for (int k = 0; k < n; k++) j += I[0]; A[j >= 0 ? t : 2 * t] = 1;", "unknown", 3),
        ("bool odd = t % 2; for (int k = 0; k < n; k++) odd = !odd; A[t + 32 * (int) odd] = 1;", "unknown", 2),
        # they leave one by one, though all that are left have moved alike
        ("int k = t; do { k += 32; if (k > n) break; } while (k < m); A[k - t] = 1;", "unknown", 32),
        ("int k = t; do { k += 32; if (k > n) break; } while (k < m); A[k] = 1;", "unknown", 32),
        ("int k = 0; do { k += 32; if (k > n) break; } while (k < m); A[k + t] = 1;", "coalesced", 1),
        # what the second turn does is known only when d is known to go either way
        (f"{EITHER} if (d >= 0) j += 64; else j += 48; }} A[j] = 1;", "misaligned", 2),
        (f"{EITHER} if (d >= 0) j += 64; else j -= 64; }} A[j >= 0 ? t : 2 * t] = 1;", "unknown", 3),
        (f"{EITHER} if (d >= 0) j -= 64; else j += 64; }} A[j <= 31 ? t % 32 : 2 * t] = 1;", "uncoalesced", 3),
    ],
)
def test_loops(analysed: Analysed, body: str, verdict: str, transactions: int) -> None:
    assert stores(analysed(body))[:2] == (verdict, transactions)


INDEX = "int x = blockIdx.x * blockDim.x + t, y = blockIdx.y * blockDim.y + threadIdx.y; "


@pytest.mark.parametrize(
    ("block", "body", "verdict", "transactions"),
    [
        ((32, 8, 1), INDEX + "A[y * n + x] = 1;", "misaligned", 2),
        ((16, 16, 1), INDEX + "A[y * n + x] = 1;", "uncoalesced", 4),
        ((8, 8, 1), INDEX + "A[y * n + x] = 1;", "uncoalesced", 8),
        ((7, 5, 1), INDEX + "A[y * n + x] = 1;", "uncoalesced", 10),
        ((16, 16, 1), "A[threadIdx.y * 16 + t] = 1;", "coalesced", 1),
        ((7, 5, 1), "A[threadIdx.y * 7 + t] = 1;", "coalesced", 1),
        ((7, 5, 1), "A[threadIdx.y] = 1;", "coalesced", 1),
        ((32, 8, 1), INDEX + "A[x * n + y] = 1;", "uncoalesced", 32),
        ((48, 1, 1), GLOBAL + "A[i] = 1;", "misaligned", 2),
        ((48, 2, 1), "A[t] = 1;", "uncoalesced", 2),
        ((16, 1, 1), GLOBAL + "D[i] = 1;", "coalesced", 1),
        ((4, 4, 4), "A[threadIdx.z * 16 + threadIdx.y * 4 + t] = 1;", "coalesced", 1),
        ((1, 64, 1), "A[threadIdx.y] = 1;", "coalesced", 1),
        ((32, 1, 1), "A[t < 31 ? t : 32] = 1;", "uncoalesced", 2),  # 132 bytes
    ],
)
def test_blocks(analysed: Analysed, block: Block, body: str, verdict: str, transactions: int) -> None:
    assert stores(analysed(body, block))[:2] == (verdict, transactions)


@pytest.mark.parametrize("alone", [True, False])
def test_an_element_may_lie_across_two_lines(alone: bool) -> None:
    """Element 10 of 12 bytes does: for one thread, and for all threads of a warp."""
    triple = Array("W", "global", Type("base", "float3", 12), 12)
    store: Stmt = Write("W", Const(10), Var("v"))
    if alone:
        store = If(Op("==", (Tid("x"), Param("n"))), store, Skip())
    kernel = Kernel("k", (Decl("n", INT),), (triple,), (Decl("v", triple.elem),), store)
    context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    assert stores(analyse(kernel, context)) == ("misaligned", 2, 1 if alone else 32)


def test_assumptions_count(analysed: Analysed) -> None:
    body = INDEX + "A[y * n + x] = 1;"
    assert stores(analysed(body))[0] == "misaligned"
    assert stores(analysed(body, None, "n % 32 == 0"))[0] == "coalesced"
    assert stores(analysed(body, None, "n % 16 == 0"))[0] == "misaligned"
    assert stores(analysed("A[n * t] = 1;", None, "n == 1"))[0] == "coalesced"
    assert stores(analysed("A[n * t] = 1;", None, "n >= 2"))[0] == "uncoalesced"
    assert stores(analysed("A[n * t] = 1;", None, "n >= 0", "n <= 1"))[0] == "coalesced"


def test_bounds_count_for_each_access(analysed: Analysed) -> None:
    """Two indices that differ in the name and the bounds of a parameter only."""
    found = analysed("float x = A[t + t % 2 * n]; A[t + t % 2 * m] = x;", None, "n >= -1", "n <= 0")
    (load,) = (f for f in found.findings if f.access.kind == "load")
    assert load.transactions == 1
    assert stores(found)[:2] == ("uncoalesced", 3)


def test_quotients_are_rounded_both_ways(analysed: Analysed) -> None:
    """32 neighbours over 3 may be 11 apart: 136 bytes of structures of 12."""
    assert stores(analysed(GLOBAL + "V[(i + n) / 3].y = 1;", None, "n >= 0"))[0] == "uncoalesced"
    assert stores(analysed(GLOBAL + "A[(i + n) / 3] = 1;", None, "n >= 0"))[0] == "misaligned"


@pytest.mark.parametrize(
    ("body", "verdict", "transactions"),
    [
        ("if (n == 1) A[n * t] = 1;", "coalesced", 1),
        ("if (n != 1) return; A[n * t] = 1;", "coalesced", 1),
        ("if (n == 2) A[n * t] = 1;", "uncoalesced", 2),
        ("if (n != 1) A[n * t] = 1;", "uncoalesced", 32),
        ("if (n == 0 && m == 1) A[m * t + n] = 1;", "coalesced", 1),
        ("if (n == 0 || m == 1) A[m * t + n] = 1;", "uncoalesced", 32),
        ("if (!(n != 1 || m == 1)) A[n * t] = 1;", "coalesced", 1),
        ("if (m == n + 1) A[(m - n) * t] = 1;", "coalesced", 1),
        ("if (n == m + 1) A[(m - n) * t] = 1;", "misaligned", 2),
        ("if (m == n + 1 && n == 0) A[m * t] = 1;", "coalesced", 1),
        ("if (n == 0 && m == n + 1) A[m * t] = 1;", "coalesced", 1),
        ("if (n == 1 && m == n) A[m * m * t] = 1;", "coalesced", 1),
        ("if (2 * n == 2) A[n * t] = 1;", "coalesced", 1),
        ("if (2 * n == m) A[(n - 2 * m) * t] = 1;", "uncoalesced", 32),
        ("if (t == n) A[t * n] = 1;", "coalesced", 1),
        ("__shared__ float s[1024]; if (n == 1) s[n * t] = 1;", "conflict-free", 1),
        ("for (int k = 0; k < n; k++) if (k == 1) A[k * t] = 1;", "coalesced", 1),
        ("int k = 0; while (k != 1) { k += m; A[k * t] = 1; }", "uncoalesced", 32),
        # no example is found where the way to an access rules it out; that is not a proof
        ("if (n > 0 && n < 2) A[n * t] = 1;", "unknown", 32),
        ("if (n * n == 1) A[n * t] = 1;", "unknown", 32),
    ],
)
def test_conditions_on_the_way_count(analysed: Analysed, body: str, verdict: str, transactions: int) -> None:
    assert stores(analysed(body))[:2] == (verdict, transactions)


@pytest.mark.parametrize(
    ("body", "verdict", "transactions"),
    [
        ("__shared__ float s[1024]; s[t] = 1;", "conflict-free", 1),
        ("__shared__ float s[1024]; s[n] = 1;", "conflict-free", 1),
        ("__shared__ float s[1024]; s[2 * t] = 1;", "conflicting", 2),
        ("__shared__ float s[1024]; s[3 * t] = 1;", "conflict-free", 1),
        ("__shared__ float s[32][32]; s[t][0] = 1;", "conflicting", 32),
        ("__shared__ float s[32][33]; s[t][n] = 1;", "conflict-free", 1),
        ("__shared__ double s[64]; s[t] = 1;", "conflict-free", 2),
        ("__shared__ double s[64]; s[t + n] = 1;", "conflict-free", 2),
        ("__shared__ double s[64]; s[2 * t] = 1;", "conflicting", 4),
        # two turns for all lanes, as many as they need; but for lanes 0 and 9 alone one turn would do
        ("__shared__ double s[64]; if (I[t % 32]) s[t % 32 == 9 ? 16 : t % 32] = 1;", "unknown", 2),
        ("__shared__ unsigned char s[64]; s[t] = 1;", "conflict-free", 1),
        ("__shared__ float s[1024]; s[n * t] = 1;", "conflicting", 32),
        ("__shared__ int s[1024]; s[I[t] & 255] = 1;", "conflicting", 8),
        ("__shared__ float s[1024]; if (t == 3) s[n * t] = 1;", "conflict-free", 1),
        # as many words as there are banks, wherever they begin; 64 elements of half a word may lie in one more
        ("__shared__ float s[1024]; s[min(t % 32, m) + n] = 1;", "conflict-free", 1),
        ("__shared__ float s[1024]; s[min(t % 32 + t % 32 / 31, m) + n] = 1;", "conflicting", 2),
        ("__shared__ short s[1024]; s[min(t % 32 * 63 / 31, m) + n] = 1;", "conflicting", 2),
        ("__shared__ short s[1024]; s[min(t % 32 * 62 / 31, m) + n] = 1;", "conflict-free", 1),
        ("__shared__ short s[1024]; s[min(t % 32 * 60 / 31, m) + n] = 1;", "conflict-free", 1),
        ("__shared__ float s[1024]; if (t % 16 == 3) s[16 * t] = 1;", "conflicting", 2),
    ],
)
def test_banks(analysed: Analysed, body: str, verdict: str, transactions: int) -> None:
    assert stores(analysed(body))[:2] == (verdict, transactions)


@pytest.mark.parametrize(
    ("index", "verdict", "transactions"),
    [
        ("t", "conflict-free", 1),
        ("2 * t", "conflicting", 3),
        ("t + n", "conflict-free", 1),
        ("t % 16", "conflict-free", 1),
    ],
)
def test_banks_in_phases(index: str, verdict: str, transactions: int, tmp_path: Path) -> None:
    """16 lanes at once, each for 8 bytes."""
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(int n) {{ __shared__ double s[64]; int t = threadIdx.x; s[{index}] = 1; }}")
    kernel = read_cuda(str(path)).kernel
    launch = Launch((32, 1, 1), assumptions=(Op(">=", (Param("n"), Const(0))),))
    phased = replace(HARDWARE["nvidia"], name="own", phase=128)
    found = analyse(kernel, Context(check_kernel(kernel), METRICS["sectors"], phased, launch))
    assert stores(found)[:2] == (verdict, transactions)


def test_copies_of_an_access_count_together(analysed: Analysed) -> None:
    """A function called twice: the worse call."""
    before = "__device__ void put(float *p, int i) { p[i] = 1; }"
    assert stores(analysed("put(A, t); put(A, 2 * t);", before=before))[:2] == ("uncoalesced", 2)
    assert stores(analysed("put(A, t); put(A, t + 32);", before=before))[:2] == ("coalesced", 1)
    # the first is the worse verdict, the second may need more
    vague = "put(A, 2 * t); if (n > 0 && n < 2) put(A, n * t);"
    assert stores(analysed(vague, before=before))[:2] == ("uncoalesced", 32)


@pytest.mark.parametrize("block", [None, (32, 8, 1)])
def test_it_is_as_precise_as_the_lattice_on_the_suite(block: Block | None) -> None:
    """Whatever the published analysis does not report is not reported here either, but for alignment."""
    looked_at = 0
    for path in sorted(PROOFS.glob("*/kernel.cu"))[:: 2 if block else 1]:
        kernel = read_cuda(str(path)).kernel
        sigma = check_kernel(kernel)
        whole = Op("==", (Op("%", (Param("blockDim.x"), Const(32))), Const(0)))
        launch = Launch(block or (None, None, None), assumptions=conj((whole,), sigma))
        lattice = reported(kernel)
        for f in analyse(kernel, Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], launch)).findings:
            if f.access.array.space == "global" and f.access.key not in lattice:
                looked_at += 1
                assert f.verdict in ("coalesced", "misaligned"), (path.parent.name, f)
    assert looked_at > (20 if block else 50)
