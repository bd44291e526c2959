"""Loops that end somewhere in their bodies: by break and return, by flags of the lowering and of the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.notation import parse_assumption
from checker.oracles import Oracles
from checker.synthesis.bound import Result, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.potentials import evaluate
from logic.syntax import Param
from logic.typing import check_kernel
from semantics.cuda import read_cuda


def bounded(folder: Path, body: str, metric: str, given: str = "") -> Result:
    """What a warp of 32 costs that runs the body and stores x, 4 sectors, where it gets there."""
    path = folder / "k.cu"
    path.write_text(
        f"__global__ void k(const int *A, int *B, int n, int m) {{ int t = threadIdx.x, x = 0; {body} B[t] = x; }}"
    )
    kernel = read_cuda(str(path)).kernel
    sigma = check_kernel(kernel)
    facts = conj((parse_assumption(given, sigma, "given"),) if given else (), sigma)
    launch = Launch((32, 1, 1), (None, None, None), facts)
    context = Context(sigma, METRICS[metric], HARDWARE["nvidia"], launch, "warp")
    (found,) = find_bounds(Outline(kernel, context, bare(kernel.body)), (METRICS[metric],), Oracles())
    return found


def valid(found: Result, n: int, m: int) -> int:
    """A bound at these parameters, which the second checker calls valid."""
    assert found.claim is not None, found.problem
    assert found.second is not None
    assert found.second.report.verdict == "valid"
    return int(evaluate(found.claim.pre.q, {Param("n"): n, Param("m"): m}))


@pytest.mark.parametrize(
    ("body", "sectors"),
    [
        # one way out in the middle or at the end, uniform: what it costs, exactly
        ("int i = n; while (true) { i -= 20; if (i <= 0) break; x += A[0]; }", 4 + 4),
        ("int i = n; while (true) { i -= 20; if (i > 0) x += A[0]; else break; }", 4 + 4),
        ("int i = n; do { { i -= 20; if (i <= 0) break; } x += A[0]; } while (1);", 4 + 4),
        ("int i = n; while (true) { i -= 20; if (i <= 0) return; x += A[0]; }", 4 + 0),
        ("for (int i = 0;; i++) { x += A[0]; if (i >= n) break; }", 101 + 4),
        ("for (int i = 0;;) { x += A[0]; if (++i >= n) break; x += A[0]; }", 199 + 4),
        ("int i = 1; while (true) { x += A[0]; i *= 2; if (i > n) break; x += A[0]; }", 13 + 4),
        ("int i = 0; while (true) { i++; if (i >= n) break; if (A[i] == 7) continue; x += A[0]; }", 198 + 4),
        ("while (n-- > 0) { x += A[0]; if (A[t] == n) break; }", 500 + 4),
        ("for (int i = 0; i < n && 7 != 7; i++) { x += A[0]; if (m & i) break; }", 0 + 4),  # which never turns
        # lanes that differ
        ("int i = t; while (true) { x += A[0]; i += 32; if (i >= n) break; x += A[0]; }", 7 + 4),
        ("int i = 0; while (true) { x += A[0]; i += 1; if (i >= t) break; x += A[0]; }", 61 + 4),
    ],
)
def test_one_way_out(tmp_path: Path, body: str, sectors: int) -> None:
    assert valid(bounded(tmp_path, body, "sectors"), 100, 7) == sectors


@pytest.mark.parametrize(("steps", "size", "sectors"), [(2, 20, 4 + 4), (3, 9, 11 + 4)])
def test_steps_that_are_unrolled(tmp_path: Path, steps: int, size: int, sectors: int) -> None:
    """Each step is paid for by itself, not by the turn that it is in."""
    step = f"i -= {size}; if (i <= 0) break; x += A[0];"
    body = f"int i = n; while (true) {{ {' '.join([step] * steps)} }}"
    assert valid(bounded(tmp_path, body, "sectors"), 100, 7) == sectors


@pytest.mark.parametrize(
    ("body", "least", "most"),
    [
        # nested ifs, and one that does more than leave
        ("int i = n; while (1) { if (m) { i -= 1; if (i < 1) break; } else { i -= 2; if (i < 1) break; } x += A[0]; }",
         99 + 4, 100 + 4),
        ("int i = n; while (true) { i -= 20; if (i <= 0) { x += 5; break; } x += A[0]; }", 8, 9),
        # two ways out: that of the counter first, or last; before it moves, or after
        ("int i = 0; while (true) { x += A[0]; if (i >= n) break; i++; if (i == m) break; }", 7 + 4, 101 + 4),
        ("int i = 0; while (true) { if (A[i] == 0) break; x += A[0]; i++; if (i >= n) break; x++; }", 200 + 4, 209),
        ("int i = 0; while (true) { if (A[i + t] == 0) break; if (i >= n) break; i++; x += A[0]; }", 604, 614),
        ("int i = n; while (i != m) { i -= 20; if (i <= 0) break; x += A[0]; }", 4 + 4, 9),
        ("int i = 0; while (i < n) { x += A[0]; if (x == 5) break; i++; }", 100 + 4, 104),
        # do, also with early returns
        ("int i = 0; do { x += A[t]; if (x == 5) break; i++; } while (i < n);", 400 + 4, 404),
        ("int i = 0; do { if (i >= n) return; x += A[0]; i++; if (i >= m) return; x += A[0]; i++; } while (true);",
         7, 8),
        ("int i = 0; do { int j = 0; do { x += A[0]; j++; } while (j < m); i++; } while (i < n);", 704, 704),
        # tests that read: what they imply ends the loop
        ("for (int i = 0; i < (A[t] & 3); i++) x += A[0];", 16 + 3 + 4, 23),
        ("int i = n; do { x += A[0]; if (x == 5) break; i--; } while (i > n - A[t] % 4);", 12 + 3 + 4, 19),
        ("for (int i = (A[t] & 7) * 2 + n; i < n + 6; i++) x += A[0];", 4 + 6 + 4, 14),
        ("for (int i = n - A[t] % 4; i < n; i++) x += A[0];", 4 + 3 + 4, 11),
        ("int l = 3; for (int i = 0; i < (l & 7); i++) { l = A[i]; x += A[0]; }", 7 + 7 + 4, 18),
        # flags of the user's own
        ("bool on = true; int i = 0; while (on) { x += A[0]; i++; if (i >= n) on = false; }", 104, 104),
        ("bool on = true; int i = 0; while (on) { x += A[0]; i++; on = i < n && x != 3; }", 104, 104),
        ("bool done = false; int i = n; while (!done) { if (A[i] > 0) x += A[0]; i -= 2; if (i <= 0) done = true; }",
         104, 104),
    ],
)  # fmt: skip
def test_other_ways_out(tmp_path: Path, body: str, least: int, most: int) -> None:
    assert least <= valid(bounded(tmp_path, body, "sectors"), 100, 7) <= most


@pytest.mark.parametrize(
    ("body", "divwarps"),
    [
        ("int i = t; while (true) { x += A[0]; i += 32; if (i >= n) break; x += A[0]; }", 1),
        ("int i = 0; while (true) { x += A[0]; i += 1; if (i >= t) break; x += A[0]; }", 31),
        ("int i = 0; while (i < n) { x += A[t]; if (x == 5) break; i++; }", 201),
    ],
)
def test_lanes_that_leave_apart(tmp_path: Path, body: str, divwarps: int) -> None:
    assert valid(bounded(tmp_path, body, "divwarps"), 100, 7) == divwarps


def test_a_flag_that_is_a_number(tmp_path: Path) -> None:
    body = "int on = 1, i = 0; while (on) { x += A[0]; i++; if (i >= n) on = 0; }"
    found = bounded(tmp_path, body, "sectors")
    assert found.claim is not None
    assert evaluate(found.claim.pre.q, {Param("n"): 100, Param("m"): 7}) == 104


@pytest.mark.parametrize(
    "body",
    [
        "int i = 0; while (true) { i++; if (A[i] == 7) continue; if (i >= n) break; x += A[0]; }",
        "int i = 0; while (true) { if (A[i] > 3) { i++; if (i >= n) break; } x += A[0]; }",
        "int i = 0; while (true) { if (i >= n) { if (A[i] == 2) break; } i++; x += A[0]; }",
        "int i = n; while (true) { i >>= 1; if (i == 0) break; x += A[0]; }",
        "bool on = true; int i = 0; while (on) { if (A[0] == 2) on = i < n; i++; x += A[0]; }",
    ],
)
def test_what_does_not_end_has_no_bound(tmp_path: Path, body: str) -> None:
    assert bounded(tmp_path, body, "sectors").claim is None


def test_halving_ends_where_it_begins_above_zero(tmp_path: Path) -> None:
    body = "int i = n; while (true) { i >>= 1; if (i == 0) break; x += A[0]; }"
    assert 6 + 4 <= valid(bounded(tmp_path, body, "sectors", "n >= 1"), 100, 7) <= 7 + 4


NEXT = (
    "auto next = [&](int i, int &at) -> bool { if (i >= n) return false; at = i * 2; return true; }; int at = 0; "
    "auto step = [&](int &i, int &at) -> bool { if (i >= n) return false; at = i; i += m; return true; };"
)


@pytest.mark.parametrize(
    ("body", "exact", "most"),
    [
        # at n = 100, m = 8: what a loop costs whose test a function gives, and what it is bounded by
        ("int i = 0; bool end; do { x += A[0]; i += 8; end = i >= n; } while (!end);", 13 + 4, 13 + 4),
        ("int i = 0; bool on; do { x += A[0]; i += m; on = i < n; } while (on);", 13 + 4, 13 + 4),
        (f"{NEXT} for (int i = 0; next(i, at); i += m) x += A[at];", 13 + 4, 13 + 4),
        (f"{NEXT} for (int i = 5; next(i, at); i++) x += A[at];", 95 + 4, 95 + 4),
        (f"{NEXT} int i = 0; while (true) {{ if (!next(i, at)) break; x += A[at]; i += m; }}", 13 + 4, 13 + 4),
        (f"{NEXT} int i = 0; while (step(i, at)) x += A[at];", 13 + 4, 109 + 4),
    ],
)
def test_loops_that_a_function_ends(tmp_path: Path, body: str, exact: int, most: int) -> None:
    found = bounded(tmp_path, body, "sectors", "n >= 1 && m >= 1")
    assert exact <= valid(found, 100, 8) <= most
