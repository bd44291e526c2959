"""Limits of loops as they stand in kernels that people wrote, form by form: each is certified, and no run costs more.

Limits that differ between the lanes of a warp, quotients, counters in fields and in arrays of registers, ends inside of
bodies.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Final

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Leaf, evaluate
from logic.syntax import Const, Op, Param
from logic.typing import check_kernel
from semantics.grid import run
from semantics.lockstep import Initial
from tests.checker.synthesis.bounded import storing

FORMS: Final = {
    # the loop, and its bound in sectors: 4 of the store, and 1 for each read; None where that is not the point
    "for (int i = 0; i < t % 5; i++) x += A[0];": "8",
    "for (int i = 0; i < (t & 3); i++) x += A[0];": "7",
    "for (int i = 0; i < (n >> (t & 1)); i++) x += A[0];": "4 + max(0, n)",
    "for (int i = 0; i <= t % m; i++) x += A[0];": "4 + max(0, m)",
    "for (int i = 0; i < t % 7 + n; i++) x += A[0];": "4 + max(0, 6 + n)",
    "int hs = n / m; for (int i = 0; i < hs; i++) x += A[0];": "4 + max(0, trunc(n/m))",
    "for (int i = 0; i < (n + m - 1) / m; i++) x += A[0];": "4 + max(0, trunc((m + n - 1)/m))",
    "for (int i = 0; i < int(ceil(n / 16.0)); i++) x += A[0];": "4 + max(0, floor((15 + n)/16))",
    "int q = ceil((double)n / 12); for (int i = 0; i < q; i++) x += A[0];": None,
    "int q = n / 5.0; while (q-- > 0) x += A[0];": None,
    "int i = n; while (true) { i -= 20; if (i <= 0) break; x += A[0]; }": "4 + max(0, ceil(n/20) - 1)",
    "struct S { int i, end; } s; s.end = n; for (s.i = 0; s.i < s.end; s.i++) x += A[0];": "4 + max(0, n)",
    "int r[2]; r[1] = n; for (r[0] = 0; r[0] < r[1]; r[0]++) x += A[0];": "4 + max(0, n)",
}
GIVEN: Final = (Op(">", (Param("m"), Const(0))), Op(">=", (Param("n"), Const(0))))


@pytest.mark.parametrize("body", FORMS)
def test_a_loop_as_people_write_it(body: str, tmp_path: Path) -> None:
    """Sectors and divergences, against 20 runs of random sizes on random data."""
    k = storing(tmp_path, body)
    sigma = check_kernel(k)
    launch = Launch((32, 1, 1), assumptions=conj(GIVEN, sigma))
    outline = Outline(k, Context(sigma, METRICS["steps"], HARDWARE["nvidia"], launch), bare(k.body))
    found = find_bounds(outline, [METRICS["sectors"], METRICS["divwarps"]], Oracles())
    bounds: dict[str, object] = {}
    rng = Random(1)
    for result in found:
        assert (result.verdict, result.problem) == ("certified", None)
        assert result.claim is not None
        bounds[result.metric.name] = result.claim.bound
    assert FORMS[body] in (None, str(bounds["sectors"]))
    for _ in range(20):
        n, m, seed = rng.randrange(50), rng.randrange(1, 9), rng.randrange(99)
        cost = run(k, (32, 1, 1), (1, 1, 1), {"n": n, "m": m}, {"A": Initial(lambda i, s=seed: (i + s) * 7 % 11)})  # type: ignore[misc]
        at: dict[Leaf, int] = {Param("n"): n, Param("m"): m}
        for result in found:
            assert result.claim is not None
            worth: Fraction = evaluate(result.claim.bound, at)
            assert cost.max_per_warp[result.metric.name] <= worth, (result.metric.name, n, m)
            if result.metric.name == "sectors":
                assert worth <= cost.max_per_warp["sectors"] + 10, (n, m)
