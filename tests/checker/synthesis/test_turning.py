"""Branches that tell what is paid for: loops that end early, and two tests of one condition, exact at every size."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from checker.oracles import Oracles
from checker.synthesis.flow import analyse
from checker.synthesis.ghosts import cycles, with_flags
from checker.synthesis.nodes import Flow
from checker.synthesis.outline import Outline, bare
from checker.synthesis.turning import may_turn, turning
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.syntax import GHOST
from logic.typing import check_kernel
from semantics.cuda import read_cuda
from tests.checker.synthesis.test_flags import bounded, valid

Cost = Callable[[int, int], int]


def up(n: int) -> int:
    return max(0, n)


EXACT: list[tuple[str, Cost]] = [
    # a loop that ends early, at a number, at a parameter, upwards and downwards, with what the last turn does
    ("for (int i = 0; i < n; i++) { if (i == 5) break; x += A[0]; }", lambda n, _: min(5, up(n)) + 4),
    ("for (int i = 0; i < n; i++) { if (i >= m) break; x += A[0]; }", lambda n, m: min(up(n), up(m)) + 4),
    ("for (int i = n; i > 0; i--) { if (i == n - 5) break; x += A[0]; }", lambda n, _: min(5, up(n)) + 4),
    ("int i = 0; do { x += A[0]; i++; if (i == 9) break; } while (i < n);", lambda n, _: min(9, max(1, n)) + 4),
    ("for (int i = 0; i < n; i++) { x += A[0]; break; }", lambda n, _: min(1, up(n)) + 4),
    # with other loops inside, which may end early, too
    ("for (int i = 0; i < n; i++) { if (i >= 5) break; for (int j = 0; j < n; j++) { if (j == 3) break; x += A[0]; } }",
     lambda n, _: min(5, up(n)) * min(3, up(n)) + 4),
    ("for (int i = 0; i < n; i++) { if (i == 5) break; for (int j = 0; j < m; j++) x += A[0]; }",
     lambda n, m: min(5, up(n)) * up(m) + 4),
    # copies of one that is inside a loop that is unrolled
    ("for (int i = 4; i > 0; i >>= 1) for (int j = 0; j < n; j++) { if (j == 5) break; x += A[i]; }",
     lambda n, _: 3 * min(5, up(n)) + 4),
    # rows of a triangle, up to where it ends early
    ("for (int i = 0; i < n; i++) { if (i < m) for (int j = 0; j <= i; j++) x += A[0]; }",
     lambda n, m: min(up(n), up(m)) * (min(up(n), up(m)) + 1) // 2 + 4),
    ("for (int i = 0; i < n; i++) { if (i >= m) break; for (int j = 0; j <= i; j++) x += A[0]; }",
     lambda n, m: min(up(n), up(m)) * (min(up(n), up(m)) + 1) // 2 + 4),
    # two ways out
    ("for (int i = 0; i < n; i++) { if (i == 5) break; if (i == 9) continue; x += A[0]; if (i == 7) break; }",
     lambda n, _: min(5, up(n)) + 4),
    # what leaves a loop is paid once, whatever makes it leave
    ("for (int i = 0; i < n; i++) if (A[i] == 7) { x += A[0]; x += A[1]; x += A[2]; break; }",
     lambda n, _: up(n) + 4 + 3),
    ("for (int i = 0; i < n; i++) { x += A[0]; if (A[0] == 7) { x += A[0]; x += A[1]; return; } }",
     lambda n, _: 2 * up(n) + 4),
    # turns that go on without the rest
    ("for (int i = 0; i < n; i++) { if (i > 5) continue; x += A[0]; }", lambda n, _: min(6, up(n)) + 4),
    ("for (int i = 0; i < n; i++) { if (i < m) x += A[0]; }", lambda n, m: min(up(n), up(m)) + 4),
    # two tests of one condition, and of two that leave each other out
    ("if (n > 3) x += A[0]; if (n <= 3) x += A[0];", lambda *_: 5),
    ("if (n == 3) x += A[0]; if (n != 3) x += A[0];", lambda *_: 5),
    ("if (n > m) { x += A[0]; x += A[1]; } if (n <= m) x += A[0]; else x += A[0];", lambda n, m: 7 if n > m else 5),
    ("if (n > 3) x += A[0]; x += 1; if (n < 2) x += A[0];", lambda n, _: 4 + (n > 3) + (n < 2)),
    ("if (n > 3) { x += A[0]; x += A[1]; } else x += A[2]; if (n > 3) x += A[0]; else { x += A[0]; x += A[1]; }",
     lambda *_: 7),
    # by flags that keep what was compared, also in a loop
    ("bool p = n > 3; if (p) x += A[0]; if (!p) { x += A[0]; x += A[1]; }", lambda n, _: 5 if n > 3 else 6),
    ("bool p = n > 3, q = m > 0; if (p && q) x += A[0]; if (n <= 3) { x += A[0]; x += A[1]; }",
     lambda n, _: 6 if n <= 3 else 5),
    ("for (int i = 0; i < n; i++) { bool p = i < m; if (p) x += A[0]; }", lambda n, m: min(up(n), up(m)) + 4),
]  # fmt: skip


@pytest.mark.parametrize(("body", "cost"), EXACT, ids=[body for body, _ in EXACT])
def test_exact(tmp_path: Path, body: str, cost: Cost) -> None:
    found = bounded(tmp_path, body, "sectors")
    for n, m in product((-2, 0, 1, 2, 3, 4, 5, 6, 7, 12), (-1, 0, 3, 5, 20)):
        assert valid(found, n, m) == cost(n, m), (n, m, found.claim)


@pytest.mark.parametrize(
    ("body", "cost"),
    [  # dearest where it does not look so: none of these may be less
        ("if (n > 3) x += A[0]; n -= 2; if (n <= 3) x += A[0];", lambda n, _: 4 + (n > 3) + (n <= 5)),
        ("bool p = n > 3; if (p) x += A[0]; n -= 2; if (n <= 3) x += A[0];", lambda n, _: 4 + (n > 3) + (n <= 5)),
        ("bool p = n > 3; if (p) x += A[0]; p = m > 0; if (!p) x += A[0];", lambda n, m: 4 + (n > 3) + (m <= 0)),
        ("for (int i = 0; i < n; i++) { if (i == m) break; x += A[0]; }",
         lambda n, m: 4 + (min(up(n), m) if m >= 0 else up(n))),
        ("for (int i = 0; i < n; i += 2) { if (i == 5) break; x += A[0]; }", lambda n, _: 4 + (up(n) + 1) // 2),
        ("for (int i = 0; i < n; i++) { if (i == m) { x += A[0]; x += A[1]; break; } x += A[0]; }",
         lambda n, m: 4 + (m + 2 if 0 <= m < n else up(n))),
    ],
)  # fmt: skip
def test_no_less_than_it_costs(tmp_path: Path, body: str, cost: Cost) -> None:
    found = bounded(tmp_path, body, "sectors")
    for n, m in product((-2, 0, 1, 2, 3, 4, 5, 6, 7, 12), (-1, 0, 3, 5, 20)):
        assert valid(found, n, m) >= cost(n, m), (n, m, found.claim)


def flow_of(folder: Path, body: str) -> tuple[Outline, Flow, Context]:
    path = folder / "k.cu"
    path.write_text(f"__global__ void k(int *A, int n, int m) {{ int x = 0; {body} A[0] = x; }}")
    kernel = read_cuda(str(path)).kernel
    sigma = check_kernel(kernel)
    context = Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1), (None, None, None)), "warp")
    outline = Outline(kernel, context, bare(kernel.body))
    return outline, analyse(outline, Oracles()), context


def test_branches_alone_add_nothing(tmp_path: Path) -> None:
    """No other test says anything of these, and no loop turns them."""
    _, flow, context = flow_of(tmp_path, "if (n > 3) x += A[0]; if (m > 3) x += A[0]; if (n * m > 3) x += A[1];")
    assert not turning(flow, context).forks


@pytest.mark.parametrize(
    ("body", "may"),
    [
        ("x += A[n];", False),
        ("if (n > 3) x += A[0];", False),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) x += A[j];", False),
        ("if (n > 3) for (int i = 0; i < n; i++) x += A[i];", False),
        ("for (int i = 0; i < n; i++) if (i < m) x += A[i];", True),
        ("if (n > 3) { if (n > 4) x += A[0]; }", True),
        ("if (n > 3) x += A[0]; else if (m > 3) x += A[1];", True),
    ],
)
def test_branches_that_cannot_turn_are_seen_without_a_flow(tmp_path: Path, body: str, may: bool) -> None:
    outline, flow, context = flow_of(tmp_path, body)
    assert may_turn(outline.body) == may
    assert may or not turning(flow, context).forks


@pytest.mark.parametrize(
    ("body", "bases"),
    [
        ("if (n > 3) x = 1; if (n < 2) x = 2;",
         ["max(0, n - 1)", "max(0, n - 2)", "max(0, n - 3)", "max(0, n - 4)"]),
        ("if (3 > n) x = 1; if (n < 3) x = 2;", ["max(0, n - 2)", "max(0, n - 3)"]),
        ("for (int i = 0; i < n; i++) { if (i < m) x += A[0]; }", ["max(0, m - 1 - i)", "max(0, m - i)"]),
        ("for (int i = 0; i < n; i++) { if (i >= m) x += A[0]; }", ["max(0, m - 1 - i)", "max(0, m - i)"]),
    ],
)  # fmt: skip
def test_bases(tmp_path: Path, body: str, bases: list[str]) -> None:
    _, flow, context = flow_of(tmp_path, body)
    found = turning(flow, context)
    assert sorted({str(base) for turn in found.forks.values() for base in turn.bases}) == bases
    assert all(id(cycle) in found.heads for cycle in cycles(flow))


def test_heads_see_tests_after_steps(tmp_path: Path) -> None:
    """A test of i after i++ is one of i + 1 where the turn begins."""
    _, flow, context = flow_of(tmp_path, "int i = 0; while (i < n) { i++; if (i < m) x += A[0]; }")
    (head,) = turning(flow, context).heads.values()
    assert {"max(0, m - 1 - i)", "max(0, m - 2 - i)"} <= {str(base) for base in head}


def test_flags_get_ghosts_where_they_get_constants(tmp_path: Path) -> None:
    outline, _, _ = flow_of(tmp_path, "for (int i = 0; i < n; i++) if (A[i]) break;")
    assert [x for x in with_flags(outline).context.sigma.locals if x.startswith(GHOST)] == [f"{GHOST}go"]
    outline, _, _ = flow_of(tmp_path, "bool on = n > 0; for (int i = 0; on && i < n; i++) on = i < m;")
    assert with_flags(outline) is outline
