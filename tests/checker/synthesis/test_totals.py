"""Sums of what arrays hold: loops that count to them have bounds that no run exceeds, and that dear runs reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import Result, find_bounds
from checker.synthesis.outline import Outline, bare
from checker.synthesis.totals import counted, moved, totals
from logic.assertions import Context, Launch
from logic.contracts import Contract, arrays_of, element
from logic.facts import Facts
from logic.metrics import HARDWARE, METRICS
from logic.potentials import evaluate
from logic.syntax import Const, Expr, Kernel, Op, Param, Read, Var, While, show, statements
from logic.typing import check_kernel
from semantics.cuda import read_cuda
from semantics.grid import run
from tests.checker.synthesis.bounded import valid

SIZES = (-3, 0, 1, 2, 31, 32, 33, 64, 65)


def limited(array: str, low: int, high: int) -> tuple[Contract, ...]:
    item = element(array, Var("?i0"))
    return tuple(Contract(((None, None),), Op(op, (item, Const(k)))) for op, k in ((">=", low), ("<=", high)))


CONTRACTS = (*limited("A", 0, 4), *limited("C", 0, 15))


def kernel(folder: Path, body: str, last: str = "for (int j = 0; j < x; j++) B[j] = t;") -> Kernel:
    path = folder / "k.cu"
    path.write_text(
        "__global__ void k(const bool *F, const int *A, const int *C, const int *D, int *B, int n)"
        f"{{ int t = threadIdx.x, x = 0; {body} {last} }}"
    )
    return read_cuda(str(path)).kernel


def bound(k: Kernel) -> Result:
    sigma = replace(check_kernel(k), stable=arrays_of(CONTRACTS))
    context = Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1), contracts=CONTRACTS))
    (found,) = find_bounds(Outline(k, context, bare(k.body)), [METRICS["sectors"]], Oracles())
    return found


STRIDE = "for (int i = t; i < n; i += blockDim.x)"
ROWS, LAST = "max(0, ceil(n/32))", "max(0, floor((31 + n)/32))"
LOOP = "for (int i = 0; i < n; i++)"


@pytest.mark.parametrize(
    ("body", "most", "all_of_it"),
    [
        (f"{LOOP} x += F[i];", "2*max(0, n)", True),
        (f"{STRIDE} x += F[i];", f"{ROWS} + {LAST}", True),
        (f"{LOOP} x += A[C[i]];", "6*max(0, n)", True),
        (f"{STRIDE} {{ if (D[i] > 3) x++; x += D[i] & 3; }}", f"8*{ROWS} + 4*{LAST}", False),
        ("for (int i = n; i > 0; i--) { int c = D[i] % 8; x += 7; x += c; }", "15*max(0, n)", True),
        (f"{LOOP} x += D[32 * i + t] > 3 ? 2 : 1;", "6*max(0, n)", True),
    ],
)  # fmt: skip
def test_loops_that_count_to_a_sum(tmp_path: Path, body: str, most: str, all_of_it: bool) -> None:
    k = kernel(tmp_path, body)
    q = valid(bound(k))
    assert str(q) == most
    data = {"F": [1] * 4096, "A": [4] * 16, "C": [1] * 4096, "D": [7] * 4096}
    for n in SIZES:
        cost, allowed = (
            run(k, (32, 1, 1), (1, 1, 1), {"n": n}, data).max_per_warp["sectors"],
            evaluate(q, {Param("n"): n}),
        )
        assert cost <= allowed
        assert cost == allowed or not all_of_it or n % 32


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) x += D[i];",
        "for (int i = 0; i < n; i++) x += A[D[i]];",
        "for (int i = 0; i < n; i++) { x += F[i]; x *= 2; }",
        "for (int i = 0; i < n; i++) for (int j = 0; j < D[i]; j++) x += F[i];",
        "for (int i = 0; i < n; i += F[i]) x += F[i];",
    ],
)
def test_sums_of_no_known_range(tmp_path: Path, body: str) -> None:
    assert bound(kernel(tmp_path, body)).q is None


@pytest.mark.parametrize(
    ("e", "ends"),
    [
        (Read("A", Var("i")), ["4"]),
        (Op("-", (Read("A", Var("i")), Read("C", Var("i")))), ["-15", "4"]),
        (Op("+", (Const(2), Op("%", (Read("D", Var("i")), Const(5))))), ["-2", "6"]),
        (Op("?:", (Op("<", (Read("D", Var("i")), Const(5))), Const(3), Param("n"))), []),
        (Op("&", (Const(12), Read("D", Var("i")))), ["12"]),
        (Read("D", Var("i")), []),
    ],
)
def test_what_a_variable_is_moved_by(e: Expr, ends: list[str]) -> None:
    assert [show(k) for k in moved("x", Op("+", (Var("x"), e)), CONTRACTS)] == ends
    assert moved("x", Op("*", (Var("x"), e)), CONTRACTS) == []


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ("for (int i = n - 1; i >= 0; i -= 2) x += D[t] & 1;", "4*max(0, ceil(n/2)) + 32*max(0, floor((1 + n)/2))"),
        ("for (int i = 0; i < n; i++) { int c = D[32 * i + t]; x += c > 9; }", "36*max(0, n)"),
        ("for (int i = 0; i < n; i++) { int c = D[32 * i + t]; x += c > 9 ? 5 : 2; }", "164*max(0, n)"),
        ("x = min(D[t], n / 2);", "4 + 32*max(0, floor(n/2))"),
    ],
)
def test_loops_that_count_down_from_a_sum(tmp_path: Path, body: str, most: str) -> None:
    """Lanes have different ones, and what limits these is no plain sum of parameters."""
    k = kernel(tmp_path, body, "while (x > 0) { B[x] = t; x--; }")
    q = valid(bound(k))
    assert str(q) == most
    data = {"D": [v % 12 for v in range(4096)]}
    for n in SIZES:
        cost = run(k, (32, 1, 1), (1, 1, 1), {"n": n}, data).max_per_warp["sectors"]
        assert cost <= evaluate(q, {Param("n"): n})


@pytest.mark.parametrize(
    ("after", "leads"), [("B[0] = m;", False), ("x = m;", True), ("int k = m - 3; while (x < k) x++;", True)]
)
def test_sums_that_loops_count_to(tmp_path: Path, after: str, leads: bool) -> None:
    body = kernel(tmp_path, f"int m = 0; for (int i = 0; i < n; i++) m += D[i] & 3; {after}").body
    assert ("m" in counted(body)) == leads


@pytest.mark.parametrize(
    ("added", "ends"), [("D[i] & 3", ["m >= 0", "m <= 3 * i", "m <= 3 * max(0, n)"]), ("D[i]", [])]
)
def test_guesses_where_a_range_is_known(tmp_path: Path, added: str, ends: list[str]) -> None:
    k = kernel(tmp_path, f"int m = 0; for (int i = 0; i < n; i++) m += {added}; x = m;")
    loop = next(s for s in statements(k.body) if isinstance(s, While))
    start = Facts(tuple(Op("==", (Var(x), Const(0))) for x in ("i", "m")))
    found, more = totals(loop.cond, loop.body, start, frozenset("im"), frozenset("m"), check_kernel(k), ())
    turns = ["i <= max(0, n)"] if ends else []
    assert [*map(show, found)] == turns + ends
    assert [*map(show, more)] == [t.replace("<=", "<") for t in turns]
