"""The kernels of proofs/data, whose loops end by data: both checkers accept their certificates, no run costs more.

Data: rows of random lengths, skewed ones, nearly all empty, one long row, all equal; what is above the bound in a run
would be a false certificate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, Final

import numpy as np
import pytest

from checker.certificates.claims import claimed
from checker.certificates.document import read
from checker.kernel import Claim
from checker.oracles import Oracles
from checker.recheck import recheck
from checker.refutation.contracts import broken
from checker.refutation.witness import Input, worth
from logic.assertions import Proved, Verdict
from logic.potentials_as_text import show
from proofs.data.make import HOME, KERNELS, certificates, path_of
from proofs.make import judged
from semantics import vectorised
from semantics.cuda import read_cuda
from tests.examples import LONG
from tests.mutants.certificates import leaves, mutant, other
from tests.mutants.quick import Quick, plain

KERNEL_TAKES_PART: Final = [*KERNELS][::3]
"""The kernel decides the side conditions of all certificates for these here, and of those that have mutants; it decides
all in `make proofs`."""

ROWS: Final = 70
WIDTH: Final = 40
SHAPES: Final = ("random", "skewed", "empty", "long", "equal")
SEEDS: Final = 20 if LONG else 2
MOST: Final = 12
"""Mutants that are tried of a certificate."""


@cache
def checkers(name: str) -> Quick:
    """Both checkers for the certificate of a kernel of which mutants are tried, and for these."""
    return Quick(json.loads(path_of(name, "divwarps", "warp").read_text(encoding="ascii")))


@cache
def claim(name: str, metric: str, per: str) -> Claim:
    path = path_of(name, metric, per)
    if (metric, per) == ("divwarps", "warp"):
        found = checkers(name).claim
    else:
        oracle = Oracles() if name in KERNEL_TAKES_PART else Taken()
        found = judged(read(path.read_text(encoding="ascii"), str(path)), oracle)
    assert found is not None
    return found


class Taken(Oracles):
    """Takes every side condition for proved."""

    def __call__(self, *_: object) -> Verdict:
        return Proved("taken", "the second checker has the proof")


def lengths(shape: str, seed: int, n: int, most: int) -> Any:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, most + 1, n)
    match shape:
        case "skewed":
            rows = np.minimum(rng.pareto(1.0, n) * 2, most).astype(int)
        case "empty":
            rows = np.where(rng.random(n) < 0.9, 0, rows)
        case "long":
            rows = np.where(np.arange(n) == rng.integers(n), most, rng.integers(0, 2, n))
        case "equal":
            rows = np.full(n, rng.integers(0, most + 1))
    return rows


def given(name: str, shape: str, seed: int, n: int = ROWS, most: int = WIDTH) -> tuple[Input, dict[str, Any]]:
    """A launch on data that keep the contracts of a kernel, and these: n rows, none longer than `most`."""
    rng, rows = np.random.default_rng(seed + 1), lengths(shape, seed, n, most)
    starts = np.concatenate([[0], np.cumsum(rows)]) + (rng.integers(0, 9) if name == "run_lengths" else 0)
    columns = rng.integers(0, n, max(1, int(starts[-1])))
    width = int(rows.max(initial=0))
    kernel = claim(name, "sectors", "warp").kernel
    known: Mapping[str, Any] = {
        **dict.fromkeys(("rowptr", "first", "row", "start"), starts),
        **dict.fromkeys(("col", "from"), columns),
        "len": rows,
        "level": rng.integers(-1, 1, n),
        "around": rng.integers(0, n, 9 * n),
        "cell": rng.integers(0, n, n),
        **{name: np.sort(rng.integers(0, 100, n)) for name in "ab"},
        "volume": rng.random(n * max(1, most) * 4) * rng.choice([0.01, 0.3]),
    }
    if name == "ell":
        known = {"col": rng.integers(-1, n, n * max(1, most))}
    if name == "coo_segments":
        known = {"row": np.repeat(np.arange(n), rows), "col": columns}
    arrays = {a.name: known[a.name].tolist() for a in kernel.arrays if a.name in known}
    sizes = {"n": n, "batches": n, "now": 0, "damping": 0.85, "longest": width, "degree": width, "crowd": width}
    sizes |= {"entries": int(rows.sum()), "particles": n, "cells": n, "reach": 0.5, "na": n, "part": 1 + seed % 20}
    sizes |= {
        "nb": width,
        "width": width,
        "height": 8,
        "depth": 4,
        "steps": 9,
        "scale": 0.1,
        "limit": 9 + 4 * (seed % 20),
    }
    x, y, z = claim(name, "sectors", "warp").context.launch.block
    assert x is not None
    assert y is not None
    assert z is not None
    per_row = {"spmv_vector": 32, "pagerank_pull": 32, "spmv_block": x, "run_lengths": x}.get(name, 1)
    threads = int(rows.sum()) if name == "coo_segments" else n * per_row
    grid = (2, n, 1) if name == "ragged" else (-(-max(1, threads) // x), 1, 1)
    return Input((x, y, z), grid, {d.name: sizes[d.name] for d in kernel.params}), arrays


@pytest.mark.parametrize(("name", "metric", "per"), certificates())
def test_both_checkers_accept(name: str, metric: str, per: str) -> None:
    document = json.loads(path_of(name, metric, per).read_text(encoding="ascii"))
    found = recheck(document)
    assert (found.verdict, found.problem) == ("valid", "")
    contracts = "requires forall" in (HOME / f"{name}.cu").read_text(encoding="ascii")
    assert ("assumed of data: forall" in found.claim) == contracts
    first = claim(name, metric, per)
    assert first.per == per
    assert found.claim.startswith(f"{claimed(first)}; blocks of ")
    assert all(str(contract) in found.claim for contract in first.context.launch.contracts)


def test_a_warp_is_bounded_by_the_width_and_a_grid_by_the_rows() -> None:
    """Of two limits of a loop: a warp's turns are nearer to the width, the rows' lengths telescope."""
    warp, grid = (str(claim("spmv_scalar", "sectors", per).bound) for per in ("warp", "grid"))
    assert "width" in warp
    assert "rowptr" not in warp
    assert "width" not in grid
    assert "*rowptr[0] + 101*gridDim.y*gridDim.z*rowptr[min(128*gridDim.x, max(0, n))]" in grid


def least_ratios(name: str, seeds: int) -> dict[tuple[str, str], Fraction]:
    """The least bound over a run, by metric and what it is per, on so many data sets of each shape. Raises
    AssertionError where a run costs more."""
    own = [claim(*row) for row in certificates() if row[0] == name]
    context, metrics = own[0].context, [c.context.metric for c in own if c.per == "warp"]
    kernel = read_cuda(str(HOME / f"{name}.cu")).kernel
    least: dict[tuple[str, str], Fraction] = {}
    for shape, seed in product(SHAPES, range(seeds)):
        launch, arrays = given(name, shape, seed)
        assert all(broken(c, launch.args, arrays) is None for c in context.launch.contracts)
        sizes = launch.block, launch.grid, launch.args
        run = vectorised.run(kernel, *sizes, arrays, metrics, context.hardware)
        for c in own:
            metric = c.context.metric.name
            cost = run.totals[metric] if c.per == "grid" else run.max_per_warp[metric]
            bound = worth(c, launch, arrays)
            assert cost <= bound, (metric, c.per, shape, seed)
            ratio = bound / cost if cost else bound + 1
            least[metric, c.per] = min(least.get((metric, c.per), ratio), ratio)
    return least


@pytest.mark.parametrize("name", KERNELS)
def test_no_run_costs_more(name: str) -> None:
    """Two data sets of each shape, and sectors of the grid where they are summed."""
    assert least_ratios(name, SEEDS)


@pytest.mark.parametrize("name", KERNELS)
def test_mutants(name: str) -> None:
    """What the second checker calls valid, the kernel accepts."""
    document, refused = checkers(name).document, 0
    places = list(leaves(document))
    for route, old in places[7 :: max(1, len(places) // MOST)]:
        changed = mutant(document, route, other(document, route, old))
        if checkers(name).judged(changed).verdict == "valid":
            assert plain(changed)[0] is not None, (route, old)
        else:
            refused += 1
    assert refused > 0


def test_every_kernel_is_on_the_page() -> None:
    page = (HOME.parent.parent / "docs" / "data.md").read_text(encoding="utf-8")
    for name in KERNELS:
        assert re.search(rf"^\| \[{name}\]", page, re.MULTILINE)


def test_the_bounds_on_the_page_are_those_of_the_kernel_in_it() -> None:
    page = (HOME.parent.parent / "docs" / "data.md").read_text(encoding="utf-8")
    own = (HOME / "spmv_scalar.cu").read_text(encoding="utf-8")
    shown = page.split("```c\n")[1].split("```")[0].replace("csr", "spmv_scalar")
    assert shown.split() == re.sub(r"^//(?!@ requires).*$", "", own, flags=re.MULTILINE).split()
    for metric in ("sectors", "divwarps"):
        assert f"`{show(claim('spmv_scalar', metric, 'warp').bound)}` {metric[:3]}" in " ".join(page.split())
