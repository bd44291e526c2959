"""The shares of a bound by lines: they add up to it, and no line is charged more than it is given."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Final

import pytest

from checker.analysis import shares
from checker.analysis.shares import NOTHING, Account, Share, account
from checker.certificates.audit import Audited, audit
from checker.certificates.claims import value_at
from checker.cli.data import read_arrays
from checker.kernel import Claim
from checker.oracles import Oracles
from checker.refutation.witness import Input, find_witnesses
from logic.derivation import Derivation
from logic.rules import SOUND
from logic.source import Loc
from semantics.grid import run

ROOT: Final = Path(__file__).resolve().parents[3] / "proofs"

KEPT: Final = {
    "matMul/sectors": {"wA": 96, "wB": 64},
    "matMul/steps": {"wA": 64, "wB": 64},
    "addSub3/steps": {"w": 32, "h": 33},
    "reduce3/divwarps": {"n": 64},
    "bankSweep/conflicts": {"n": 64},
    "mandelbrot/divwarps": {"w": 32, "h": 2, "max_iter": 9},
    "histogram256/sectors": {"dataCount": 200},
    "data/run_lengths-steps": {"n": 64},
    "data/merge_path-steps": {"n": 64, "m": 33},
    "features/case-split": {},
    "features/choice": {},
    "features/frame": {},
    "features/log2": {},
    "features/scope-block": {},
    "features/mask": {},
}


def of_line(found: Account) -> dict[int | None, Share]:
    """The shares of lines."""
    lines: dict[int | None, Share] = {}
    for place, share in found.shares.items():
        line = place.line if place else None
        lines[line] = lines.get(line, NOTHING) + share
    return lines


@cache
def audited(name: str) -> Audited:
    path = ROOT / f"{name}.json"
    return audit(path.read_text(encoding="ascii"), str(path), SOUND, Oracles())


def spent(a: Audited, at: dict[str, int]) -> tuple[Account | None, Fraction]:
    """The shares in the dearest run found, and the bound there."""
    claim, made = a.outcome, a.certificate
    assert isinstance(claim, Claim)
    names = {d.name for d in made.kernel.params}
    at = {d.name: at.get(d.name, 64) for d in made.kernel.params if d.type.kind == "int"} | {
        name: n for name, n in at.items() if name not in names
    }
    fill = partial(read_arrays, made.kernel)
    (best,) = find_witnesses(made.kernel, [claim], fill, at, runs=6)
    if best is None:
        return None, Fraction(0)
    arrays = fill(dict(best.input.arrays))
    return account(a.derivation, claim, best.input, arrays, at), best.bound


@pytest.mark.parametrize(("name", "at"), KEPT.items())
def test_shares_add_up_and_pay_for_their_lines(name: str, at: dict[str, int]) -> None:
    a = audited(name)
    found, bound = spent(a, {n: v for n, v in at.items() if n in {d.name for d in a.certificate.kernel.params}})
    assert found is not None
    assert isinstance(a.outcome, Claim)
    mentions = str(a.outcome.bound)
    assert found.bound == bound or "blockIdx" in mentions or "warp.index" in mentions
    assert sum((s.spent for s in found.shares.values()), Fraction(0)) == found.bound
    assert sum((s.spent for s in of_line(found).values()), Fraction(0)) == found.bound
    assert [where for where, s in found.shares.items() if not 0 <= s.paid <= s.spent] == []


def test_lines_of_a_kernel() -> None:
    found, _ = spent(audited("matMul/sectors"), {"wA": 96, "wB": 64})
    assert found is not None
    lines = {line: (int(s.spent), int(s.paid)) for line, s in of_line(found).items()}
    assert lines == {23: (15, 12), 24: (15, 12), 34: (5, 4)}
    dearest = {(seen.text, seen.count) for seen in found.accesses}
    assert ("A[a + wA * ty + tx]", 4) in dearest
    (read,) = (seen for seen in found.accesses if seen.text == "A[a + wA * ty + tx]")
    assert read.lanes == {lane: 4 * lane for lane in range(32)}


def test_a_run_that_takes_too_long_or_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    a = audited("addSub3/sectors")
    claim = a.outcome
    assert isinstance(claim, Claim)
    launch = Input((32, 1, 1), (1, 1, 1), {"w": 32, "h": 4})
    told = partial(account, a.derivation, claim)
    assert told(launch, {}, {}) is not None
    assert told(launch, {}, {"blockIdx.x": 3}) is None
    assert told(replace(launch, args={}), {}, {}) is None
    monkeypatch.setattr(shares, "STEPS", 20)
    assert told(launch, {}, {}) is None


def test_what_is_framed_is_left_over() -> None:
    a = audited("features/frame")
    claim = a.outcome
    assert isinstance(claim, Claim)
    launch = Input((64, 1, 1), (1, 1, 1), {"n": 5})
    found = account(a.derivation, claim, launch, {}, {})
    assert found is not None
    told = {where: (int(s.spent), int(s.paid)) for where, s in found.shares.items()}
    assert told == {Loc("", 7, 1): (4, 4), None: (15, 0)}


def moved(d: Derivation) -> Derivation:
    """The same derivation of a statement at another line."""
    return Derivation(d.rule, d.substitution, tuple(map(moved, d.premises)), Loc("", 99, 1))


@pytest.mark.parametrize(("n", "line"), [(5, 7), (0, 99)])
def test_the_case_that_holds(n: int, line: int) -> None:
    a = audited("features/case-split")
    claim, root = a.outcome, a.derivation
    assert isinstance(claim, Claim)
    assert root.rule == "Q:CaseSplit"
    *others, first, second = root.premises
    told = Derivation(root.rule, root.substitution, (*others, first, moved(second)), root.loc)
    launch = Input((64, 1, 1), (1, 1, 1), {"n": n})
    found = account(told, claim, launch, {}, {})
    assert found is not None
    assert {x: s.spent for x, s in of_line(found).items()} == {line: 4}


@pytest.mark.parametrize("name", ["sum-of-a-block", "sum-of-a-grid"])
@pytest.mark.parametrize("n", [0, 5, 33, 40, 64, 100])
def test_sums_over_warps(name: str, n: int) -> None:
    """The shares are those of all warps, one after the other, and add up to the bound; what the warps pay does, too."""
    a = audited(f"features/{name}")
    claim = a.outcome
    assert isinstance(claim, Claim)
    grid = (2, 1, 1) if claim.per == "grid" else (1, 1, 1)
    launch = Input((64, 1, 1), grid, {"n": n})
    found = account(a.derivation, claim, launch, {}, {})
    assert found is not None
    assert (found.block, found.warp) == (None if claim.per == "grid" else (0, 0, 0), None)
    sizes = {"n": n} | dict(zip(("gridDim.x", "gridDim.y", "gridDim.z"), grid, strict=True))
    sizes |= {"blockIdx.x": 0, "blockIdx.y": 0, "blockIdx.z": 0}
    bound, _ = value_at(claim.bound, claim.context, sizes)
    assert sum(s.spent for s in found.shares.values()) == found.bound == bound
    assert [where for where, s in found.shares.items() if not 0 <= s.paid <= s.spent] == []
    (ran,) = run(claim.kernel, (64, 1, 1), grid, {"n": n}, {}, [claim.context.metric]).totals.values()
    assert sum(s.paid for s in found.shares.values()) == ran


def test_a_sum_of_many_warps_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    a = audited("features/sum-of-a-grid")
    assert isinstance(a.outcome, Claim)
    launch = Input((64, 1, 1), (2, 1, 1), {"n": 100})
    monkeypatch.setattr(shares, "ALL_STEPS", 2)
    assert account(a.derivation, a.outcome, launch, {}, {}) is None
