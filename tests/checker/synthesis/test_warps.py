"""Warps that branches tell apart, each bounded by itself."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from checker import limits
from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.flow import analyse
from checker.synthesis.outline import Outline, bare
from checker.synthesis.warps import _before, told_apart
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Poly
from logic.syntax import Const, Expr, Op, Tid
from logic.typing import check_kernel
from tests.checker.synthesis.bounded import of_body, valid

HALO = "if (t == 0) x += A[0]; if (t == 127) x += A[127]; B[t] = x;"
CORNERS = "if (t == 0 && threadIdx.y == 0) x += A[0]; if (t == 23 && threadIdx.y == 3) x += A[127]; B[t] = x;"
SIDES = "if (threadIdx.y == 0) B[t] = A[t]; else for (int i = 0; i < n; i++) x += A[i];"


def outline(folder: Path, body: str, block: tuple[int, int, int], metric: str) -> Outline:
    kernel = of_body(folder, body)
    context = Context(check_kernel(kernel), METRICS[metric], HARDWARE["nvidia"], Launch(block), "warp")
    return Outline(kernel, context, bare(kernel.body))


def bound(folder: Path, body: str, block: tuple[int, int, int], metric: str) -> Poly:
    (found,) = find_bounds(outline(folder, body, block, metric), (METRICS[metric],), Oracles())
    return valid(found)


@pytest.mark.parametrize(
    ("body", "block", "metric", "apart", "together"),
    [
        (HALO, (128, 1, 1), "sectors", "5", "6"),
        (HALO, (128, 1, 1), "divwarps", "1", "2"),
        ("if (t < 8) { if (t < 4) x = A[t]; B[8 * t] = x; } else B[8 * t] = x;", (64, 1, 1), "sectors", "33", "41"),
        (SIDES, (32, 4, 1), "sectors", "8 + max(0, n - 8)", "8 + max(0, n)"),
        (CORNERS, (24, 4, 1), "divwarps", "1", "2"),
    ],
)
def test_no_warp_pays_for_what_another_one_does(
    body: str,
    block: tuple[int, int, int],
    metric: str,
    apart: str,
    together: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert str(bound(tmp_path, body, block, metric)) == apart
    monkeypatch.setattr(limits, "PARTED", 1)
    assert str(bound(tmp_path, body, block, metric)) == together


@pytest.mark.parametrize(
    ("body", "block"),
    [
        ("if (t < 32) x = A[t]; if (t == 0) x = A[0]; B[t] = x;", (128, 1, 1)),  # the first warp does it all
        ("if (t < 96) x = A[t]; B[t] = x;", (128, 1, 1)),  # as much as the third one
        ("if (t / 32 % 2) x = A[t]; else x = 0; B[t] = x;", (256, 1, 1)),  # too many parts
        ("if (A[t] < 32) x = A[t]; B[t] = x;", (128, 1, 1)),  # nobody knows
        (HALO, (32, 1, 1)),  # a warp
    ],
)
def test_where_nothing_is_to_be_told_apart(body: str, block: tuple[int, int, int], tmp_path: Path) -> None:
    found = outline(tmp_path, body, block, "steps")
    assert told_apart(analyse(found, Oracles()), found.context) == ()


def value(e: Expr, tid: dict[str, int]) -> int:
    match e:
        case Const(int() as k):
            return k
        case Tid(axis):
            return tid[axis]
        case Op("+", (a, b)):
            return value(a, tid) + value(b, tid)
        case Op("*", (a, b)):
            return value(a, tid) * value(b, tid)
    raise AssertionError(e)


@pytest.mark.parametrize("block", [(64, 1, 1), (16, 8, 1), (24, 8, 1), (1, 64, 1), (8, 4, 4), (4, 5, 6), (1, 1, 64)])
def test_a_thread_is_in_front_of_another_by_its_number(block: tuple[int, int, int]) -> None:
    x, y, z = block
    for end in range(32, x * y * z, 32):
        test = _before(end, x, y, z)
        assert test.op == "<"
        for i, j, k in product(range(x), range(y), range(z)):
            left, right = (value(a, {"x": i, "y": j, "z": k}) for a in test.args)
            assert (left < right) == (i + x * (j + y * k) < end), (test, i, j, k)
