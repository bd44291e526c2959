"""What the paper tells of its benchmarks (POPL 2021, sections 2 and 7), told by certified bounds and by runs."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest

from checker.certificates.claims import shown, value_at
from checker.certificates.document import read
from checker.cli.data import read_arrays
from checker.kernel import Claim, Ledger, check, claim
from checker.oracles import Oracles
from checker.refutation.witness import SAME_BANK
from logic.rules import SOUND
from logic.syntax import Kernel
from proofs.make import BLOCKS, ROOT
from semantics.cuda import read_cuda
from semantics.vectorised import run

EXTENT = 256


@cache
def source(name: str) -> Kernel:
    return read_cuda(str(ROOT / name / "kernel.cu")).kernel


@cache
def dearest(name: str, metric: str, *args: tuple[str, int]) -> Fraction:
    """What the dearest warp of a block pays."""
    x, y, z = (1 if d is None else d for d in BLOCKS[name])
    return run(source(name), (x, y, z), (1, 1, 1), dict(args)).max_per_warp[metric]


@cache
def certified(name: str, metric: str) -> Claim:
    """What a certificate claims of a warp, once the kernel has accepted it."""
    path = ROOT / name / f"{metric}.json"
    given = read(path.read_text(encoding="utf-8"), str(path))
    oracle, ledger = Oracles(), Ledger()
    theorem = check(given.derivation, SOUND, given.context, oracle, ledger)
    return claim(given.kernel, theorem, given.context, oracle, ledger)


def bound(name: str, metric: str, **at: int) -> Fraction:
    """The certified bound on a warp at a point; where it is about the grid, of one block."""
    found = certified(name, metric)
    value, missing = value_at(shown(found), found.context, {"gridDim.x": 1, **at})
    assert value is not None, missing
    return value


# --- branch distribution (p. 26) -------------------------------------------------------------------------------------

MANY = [(n, m) for n in (2, 3, 10, 1000) for m in (2, 3, 20, 1000)]


def test_branch_distribution_takes_fewer_steps() -> None:
    assert all(bound("synBrdisOpt", "steps", N=n, M=m) < bound("synBrdis", "steps", N=n, M=m) for n, m in MANY)


def test_branch_distribution_diverges_twice_as_often() -> None:
    assert all(bound("synBrdisOpt", "divwarps", N=n, M=m) == 2 * n for n, m in MANY)
    assert all(bound("synBrdis", "divwarps", N=n, M=m) == n for n, m in MANY)


def test_branch_distribution_needs_loops_that_run() -> None:
    """Without a turn of the inner loops the second branch only costs."""
    assert bound("synBrdisOpt", "steps", N=10, M=0) > bound("synBrdis", "steps", N=10, M=0)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 5), (5, 2)])
@pytest.mark.parametrize("metric", ["steps", "divwarps"])
def test_branch_distribution_in_runs(n: int, m: int, metric: str) -> None:
    for name in ("synBrdis", "synBrdisOpt"):
        assert dearest(name, metric, ("N", n), ("M", m)) == bound(name, metric, N=n, M=m)


# --- addSub, version by version (p. 4) -------------------------------------------------------------------------------


def of_grid(name: str) -> tuple[int, Fraction, Fraction]:
    """The warps of the launch for a square of `EXTENT`, its bound (a warp's times the warps), and what it costs."""
    x = BLOCKS[name][0]
    assert x is not None
    threads = {"addSub0": EXTENT, "addSub1": EXTENT // 2}.get(name, EXTENT)  # a row, two rows or a column each
    result = run(source(name), (x, 1, 1), (threads // x, 1, 1), {"w": EXTENT, "h": EXTENT})
    return result.warps, bound(name, "sectors", w=EXTENT, h=EXTENT) * result.warps, result.totals["sectors"]


def test_each_version_of_add_sub_moves_less() -> None:
    found = [of_grid(f"addSub{k}") for k in range(4)]
    assert [warps for warps, _, _ in found] == [8, 4, 8, 8]
    for figures in ([b for _, b, _ in found], [c for _, _, c in found]):
        assert figures == sorted(figures, reverse=True)
        assert len(set(figures)) == 4
    assert all(cost <= bounded for _, bounded, cost in found)
    # 66 w h / 32 and 65 w h / 32 sectors are what the first two cost at any width
    assert [cost for _, _, cost in found][:2] == [66 * EXTENT * EXTENT // 32, 65 * EXTENT * EXTENT // 32]


def test_add_sub_0_diverges_and_the_others_do_not() -> None:
    divergent = [bound(f"addSub{k}", "divwarps", w=EXTENT, h=EXTENT) for k in range(4)]
    assert divergent == [EXTENT, 0, 0, 0]


# --- reductions, version by version (p. 26) --------------------------------------------------------------------------


def test_reduce1_trades_divergence_for_conflicts_and_reduce2_has_neither() -> None:
    divwarps, conflicts = ([bound(f"reduce{k}", metric) for k in range(3)] for metric in ("divwarps", "conflicts"))
    assert divwarps == [10, 7, 7]
    assert conflicts == [0, 87, 0]


def test_reduce3_reads_more_and_takes_more_steps_than_reduce2() -> None:
    """Of a warp: the trade that the paper finds in `steps`."""
    assert bound("reduce3", "sectors") > bound("reduce2", "sectors")
    assert bound("reduce3", "steps") > bound("reduce2", "steps")


# --- Fig. 8 (p. 25): bounds beside what the worst inputs cost, and random ones ---------------------------------------


@pytest.mark.parametrize("w", [32, 33, 64, 100, 129])
def test_fig8_left(w: int) -> None:
    """addSub1, sectors: RaCuda's line, 132w a warp, is above the crosses; ours, 130w, goes through them."""
    assert dearest("addSub1", "sectors", ("w", w), ("h", 512)) == bound("addSub1", "sectors", w=w) == 130 * w


@pytest.mark.parametrize("words", [64, 128, 320, 640])
def test_fig8_right(words: int) -> None:
    """histogram, conflicts: 7 an access where a warp's bytes are 8 bins of one bank; random bytes stay far below."""

    def conflicts(contents: str) -> Fraction:
        arrays = read_arrays(source("histogram256"), {"d_Data": contents})
        result = run(source("histogram256"), (64, 1, 1), (1, 1, 1), {"dataCount": words}, arrays)
        return result.max_per_warp["conflicts"]

    line = bound("histogram256", "conflicts", dataCount=words)
    assert conflicts(f"cycle:0:{SAME_BANK}:8") == line == 7 * 8 * words // 64
    assert all(0 < conflicts(f"random:{seed}") < line / 2 for seed in range(5))
