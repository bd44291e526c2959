"""The dearest runs: what the search finds, that it is true, and that it is the same every time."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pytest

from checker import limits
from checker.cli import main
from checker.cli.data import read_arrays
from checker.kernel import Claim
from checker.notation import parse_assumption
from checker.oracles import Oracles
from checker.refutation.contracts import element
from checker.refutation.witness import FILLS, Input, Overrun, Ran, Witness, command, find_witnesses, influential, worth
from checker.synthesis.bound import Per, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Dim, Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.potentials import Poly, const, sym
from logic.syntax import Kernel, Param
from logic.typing import check_kernel
from semantics import vectorised
from semantics.cuda import read_cuda
from semantics.grid import Contents
from semantics.vectorised import run

TWOS = """
__global__ void twos(int *A, const int *B, int n, int unused) {
    __shared__ int S[64];
    for (int i = 0; i < n; i++) {
        if (B[threadIdx.x] > 0) A[2 * threadIdx.x] = i;
    }
    S[B[threadIdx.x] % 64] = unused;
}
"""

READING = """
__global__ void reading(int *A, int n) {
    if (threadIdx.x < n) A[threadIdx.x] = 1;
}
"""


@pytest.fixture
def twos(tmp_path: Path) -> Path:
    path = tmp_path / "twos.cu"
    path.write_text(TWOS)
    return path


def source(text: str, folder: Path) -> Kernel:
    path = folder / "k.cu"
    path.write_text(text)
    return read_cuda(str(path)).kernel


def claims_of(kernel: Kernel, block: Dim, *metrics: str, per: Per = "warp", given: tuple[str, ...] = ()) -> list[Claim]:
    sigma = check_kernel(kernel)
    facts = conj([parse_assumption(text, sigma, "test") for text in given], sigma)
    context = Context(sigma, METRICS["sectors"], HARDWARE["nvidia"], Launch(block, (None, None, None), facts))
    results = find_bounds(
        Outline(kernel, context, bare(kernel.body)), [METRICS[name] for name in metrics], Oracles(), per=per
    )
    return [r.claim for r in results if r.claim is not None]


def searched(kernel: Kernel, claims: list[Claim], **options: Any) -> list[Witness]:
    def fill(texts: Mapping[str, str]) -> Mapping[str, Contents]:
        return read_arrays(kernel, dict(texts))

    found = find_witnesses(kernel, claims, fill, **options)
    assert None not in found
    return cast(list[Witness], found)


def test_what_cost_depends_on(twos: Path) -> None:
    assert influential(read_cuda(str(twos)).kernel) == {"B", "i", "n", "threadIdx.x"}


def test_parameters_are_found(tmp_path: Path) -> None:
    kernel = source(READING, tmp_path)
    claims = claims_of(kernel, (32, 1, 1), "sectors", "divwarps")
    sectors, divwarps = searched(kernel, claims)
    assert sectors.cost == sectors.bound == 4
    assert sectors.exact
    assert sectors.ratio == 1
    assert divwarps.exact
    assert divwarps.cost == 1
    n = divwarps.input.args["n"]
    assert isinstance(n, int)
    assert 0 < n < 32


def test_loops_in_one_another_are_tried_where_they_are_short(tmp_path: Path) -> None:
    """With one size for both, nothing is done; with a large n it takes too long."""
    body = "for (int i = n; i > 0; i--) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) A[threadIdx.x] = i;"
    kernel = source(f"__global__ void k(int *A, int n, int m) {{ if (n > m) {{ {body} }} }}", tmp_path)
    (found,) = searched(kernel, claims_of(kernel, (32, 1, 1), "sectors"))
    assert found.exact
    assert found.cost > 0


def test_parameters_are_found_that_no_list_has(tmp_path: Path) -> None:
    """Where both accesses begin late in a sector: n modulo 32 is 19, 20 or 21."""
    body = "if (threadIdx.x < 8) A[n + 10 + threadIdx.x] = A[3 * n + threadIdx.x];"
    kernel = source(f"__global__ void k(char *A, int n) {{ {body} }}", tmp_path)
    assert searched(kernel, claims_of(kernel, (32, 1, 1), "sectors"))[0].exact


def test_data_are_found_that_a_test_of_sums_parts(tmp_path: Path) -> None:
    """Lanes leave the loop one after the other, in sums that pass 1000 in different turns: no filling of the list has
    that, and few of the turns part lanes where all elements are random."""
    body = "int s = 0; for (int i = 0; i < 8; i++) { s += A[threadIdx.x]; if (s > 1000) break; } A[threadIdx.x] = s;"
    kernel = source(f"__global__ void k(int *A) {{ {body} }}", tmp_path)
    (found,) = searched(kernel, claims_of(kernel, (32, 1, 1), "divwarps"), stale=limits.PATIENCE)
    assert found.cost >= 8
    assert found.input.arrays["A"].startswith("cycle:")
    assert found.input.arrays["A"] not in FILLS


def test_numbers_of_tests_are_sizes(tmp_path: Path) -> None:
    """Both tests part the first warp where n is from 1001 to 1015."""
    body = "if (1000 + threadIdx.x < n) A[threadIdx.x] = 1; if (n == 1001 && threadIdx.x < 16) A[threadIdx.x] = 2;"
    kernel = source(f"__global__ void k(int *A, int n) {{ {body} }}", tmp_path)
    (found,) = searched(kernel, claims_of(kernel, (32, 1, 1), "divwarps"))
    assert found.cost == 2


def test_contents_of_arrays_are_found(twos: Path) -> None:
    kernel = read_cuda(str(twos)).kernel
    (divwarps,) = searched(kernel, claims_of(kernel, (32, 1, 1), "divwarps"), at={"n": 5})
    assert divwarps.exact
    assert divwarps.cost == 5
    assert set(divwarps.input.arrays) == {"B"}


def test_a_point_is_kept(twos: Path) -> None:
    kernel = read_cuda(str(twos)).kernel
    claims = claims_of(kernel, (32, 1, 1), "sectors", "steps")
    for claim, found in zip(claims, searched(kernel, claims, at={"n": 3}), strict=True):
        assert (found.input.args["n"], found.input.block) == (3, (32, 1, 1))
        assert found.bound == worth(claim, found.input, {})


def test_runs_have_the_elements_of_the_point(twos: Path) -> None:
    """A run of other data says nothing of a point with elements of arrays."""
    kernel = read_cuda(str(twos)).kernel
    claims = claims_of(kernel, (64, 1, 1), "sectors")
    for elements in ({1: 17, 3: 51}, {0: 0, 1: 0, 2: 0}, {0: 4, 1: 4, 2: 9}, {7: 5}):
        (found,) = searched(kernel, claims, at={"n": 3, **{f"B[{i}]": n for i, n in elements.items()}})
        held = read_arrays(kernel, dict(found.input.arrays))["B"] if "B" in found.input.arrays else ()
        assert {i: element(held, i) for i in elements} == elements
    assert find_witnesses(
        kernel, claims, lambda texts: read_arrays(kernel, dict(texts)), {"B[2]": 9, "B[5]": 3, "B[6]": 4}
    ) == [None]


def test_blocks_have_several_rows(tmp_path: Path) -> None:
    """With a block of any size, where something speaks of the second dimension."""
    text = "__global__ void tall(int *A, int n) { if (threadIdx.y == 3 && threadIdx.x > 31) A[n * threadIdx.x] = 1; }"
    kernel = source(text, tmp_path)
    (found,) = searched(kernel, claims_of(kernel, (None, None, None), "sectors"))
    assert found.cost > 0
    assert found.input.block[1] > 3


def test_assumptions_are_kept(tmp_path: Path) -> None:
    kernel = source(READING, tmp_path)
    (divwarps,) = searched(kernel, claims_of(kernel, (32, 1, 1), "divwarps", given=("n % 32 == 0",)))
    assert divwarps.exact
    assert divwarps.cost == 0
    n = divwarps.input.args["n"]
    assert isinstance(n, int)
    assert n % 32 == 0


@pytest.mark.parametrize(("per", "bound"), [("warp", 4), ("block", 8), ("grid", None)])
def test_costs_are_what_the_bound_is_about(tmp_path: Path, per: Per, bound: int | None) -> None:
    """Of a warp, of a block, of the grid: at n = 64 a block of two warps writes 8 sectors."""
    kernel = source(READING, tmp_path)
    (found,) = searched(kernel, claims_of(kernel, (64, 1, 1), "sectors", per=per), at={"n": 64})
    x, y, z = found.input.grid
    assert found.exact
    assert found.cost == (8 * x * y * z if bound is None else bound)
    result = run(kernel, found.input.block, found.input.grid, found.input.args)
    assert found.cost == (result.max_per_warp if per == "warp" else result.totals)["sectors"] / (
        x * y * z if per == "block" else 1
    )


def test_twice_the_same_and_no_input_run_twice(twos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = list[object]()

    def watched(*about: Any) -> Any:
        runs.append(about)
        return run(*about)

    kernel = read_cuda(str(twos)).kernel
    claims, ran = claims_of(kernel, (64, 1, 1), "sectors", "conflicts"), Ran()
    first = searched(kernel, claims, runs=20)
    assert searched(kernel, claims, runs=20, ran=ran) == first
    monkeypatch.setattr(vectorised, "run", watched)
    assert searched(kernel, claims, runs=20, ran=ran) == first
    assert not runs
    searched(kernel, claims, at={"n": 4}, runs=2, ran=ran)
    assert runs, "another point has other inputs"


def test_inputs_to_begin_with_come_first(tmp_path: Path) -> None:
    kernel = source(READING, tmp_path)
    mine = Input((32, 1, 1), (1, 1, 1), {"n": 17})
    (found,) = searched(kernel, claims_of(kernel, (32, 1, 1), "divwarps"), first=[mine], runs=1)
    assert found.input == mine
    assert found.cost == 1


@dataclass
class Lie:
    """A claim that the kernel never made."""

    context: Context
    bound: Poly
    per: str = "warp"


def test_a_run_above_the_bound_is_an_alarm(tmp_path: Path) -> None:
    kernel = source(READING, tmp_path)
    (claim,) = claims_of(kernel, (32, 1, 1), "sectors")
    lie = cast(Claim, Lie(claim.context, const(3)))
    with pytest.raises(Overrun, match=r"^a run costs 4 sectors, the bound there is 3$") as caught:
        searched(kernel, [lie])
    assert caught.value.claim is lie
    assert run(kernel, caught.value.found.input.block, (1, 1, 1), caught.value.found.input.args).totals["sectors"] == 4


def test_the_worst_block_counts(tmp_path: Path) -> None:
    """A bound over blockIdx is evaluated for every block of the grid."""
    kernel = source(READING, tmp_path)
    (claim,) = claims_of(kernel, (32, 1, 1), "sectors")
    over = cast(Claim, Lie(claim.context, sym(Param("blockIdx.x")) * 4 + 1))
    assert worth(over, Input((32, 1, 1), (3, 1, 1), {"n": 1}), {}) == 9


def test_ratios() -> None:
    given = Input((32, 1, 1), (1, 1, 1), {})
    assert Witness(given, Fraction(4), Fraction(5)).ratio == Fraction(5, 4)
    assert Witness(given, Fraction(0), Fraction(5)).ratio is None
    assert Witness(given, Fraction(0), Fraction(0)).ratio == 1


def test_the_command_runs_the_input_again(twos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = read_cuda(str(twos)).kernel
    (found,) = searched(kernel, claims_of(kernel, (32, 1, 1), "conflicts"))
    assert found.cost > 0
    name, *words = shlex.split(command(str(twos), replace(found.input, grid=(2, 1, 1)), ("--metric=conflicts",)))
    assert (name, main(words)) == ("warpbound", 0)
    out = capsys.readouterr().out
    assert f"{found.cost}" in out.split()
