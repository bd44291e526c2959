"""`import warpbound`: what the commands say, for Python programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import warpbound
from checker.recheck import recheck

ROOT = Path(__file__).resolve().parents[2]

ADD = """__global__ void {0}(const {1} *a, {1} *c, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {{ {1} v = a[i]; c[i] = v + v; }} }}
"""
TWO = ADD.format("one", "int") + ADD.format("two", "double")
LOOP = "__global__ void k(int *A, int n) { for (int i = 0; i < n; i++) A[i] = 1; }"
SPIN = "__global__ void k(int *A) { while (A[0]) A[1] = 1; }"


def test_a_bound_of_a_text_and_of_a_path(tmp_path: Path) -> None:
    found = warpbound.bound(TWO, "sectors", kernel="one", block=256)
    assert (found.kernel, found.verdict, found.bound, found.at(n=1000)) == ("one", "certified", "8", 8)
    assert found.claim == "every warp of one costs at most 8 sectors"
    assert "blocks of 256" in found.assumptions
    path = tmp_path / "loop.cu"
    path.write_text(LOOP)
    for source in (path, str(path)):
        assert warpbound.bound(source, "steps", block=(16, 16)).at(n=3) == 6 + 11 * 3


def test_the_certificate_is_what_recheck_judges() -> None:
    found = warpbound.bound(LOOP, "sectors", block=32)
    assert found.certificate is not None
    report = recheck(dict(found.certificate))
    assert (report.verdict, report.digest) == ("valid", found.certificate["digest"])
    assert "tmp" not in str(found.certificate)


def test_a_sum_over_a_grid() -> None:
    found = warpbound.bound(LOOP, "sectors", block=64, grid=2, per="grid")
    assert (found.per, found.at(n=3)) == ("grid", 2 * 2 * 3)


def test_an_object_with_code() -> None:
    class RawKernel:
        code, name = TWO, "two"

    found = warpbound.bound(RawKernel(), "sectors", block=256)
    assert (found.kernel, found.at(n=64)) == ("two", 16)


def test_a_run() -> None:
    assert warpbound.run(TWO, kernel="one", block=256, grid=4, n=1000).totals["sectors"] == 250
    source = (
        "__global__ void k(int *A, int *B, int n, bool block) { for (int i = 0; i < A[n]; i++) if (block) B[i] = 1; }"
    )
    arrays = {"A": np.array([1, 2, 3], dtype=np.int32), "B": "zeros:2"}
    with pytest.warns(UserWarning, match="out of bounds: store of B"):
        found = warpbound.run(source, block=32, arrays=arrays, args={"block": True}, n=2)
    assert found.max_per_warp["sectors"] == 4 + 3
    assert "'B' has 2 elements" in found.out_of_bounds[0]


def test_two_versions() -> None:
    (row,) = warpbound.compare(TWO, TWO.replace("c[i]", "c[2 * i]"), kernel="one", block=64)
    assert (row.verdict, row.old, row.new) == ("dearer", "8", "12")
    assert row.run is not None
    assert " new.cu " in row.run["commands"][1]


@pytest.mark.parametrize(
    ("call", "told", "advice"),
    [
        (lambda: warpbound.bound("nowhere.cu"), "cannot read 'nowhere.cu': no such file", None),
        (lambda: warpbound.bound(SPIN + "x"), "source.cu:1:53", None),
        (lambda: warpbound.bound(TWO), "there are 2 bounds, of one, two", "Name one kernel"),
        (lambda: warpbound.bound(LOOP, "nope"), "--metric nope: no such metric", "Known: sectors"),
        (lambda: warpbound.run(LOOP, block=32, m=3), "kernel k has no parameter 'm'", "It has: n."),
        (lambda: warpbound.bound(SPIN).at(), "there is no bound of k", "no potential was found for this loop"),
        (lambda: warpbound.bound(LOOP).at(), "the bound needs values for n", None),
        (lambda: warpbound.bound(LOOP).at(n=1.5), "n=1.5: not a whole number", None),  # type: ignore[arg-type]
        (lambda: warpbound.bound(LOOP).at(n=3, m=1), "'m' is no parameter of k", "Its parameters: n."),
        (lambda: warpbound.bound(LOOP, block=32.0), "--block 32.0: not a dimension", None),  # type: ignore[arg-type]
        (lambda: warpbound.bound(LOOP, assume=["n > 3"]).at(n=2), "n > 3 is assumed, and does not hold there", None),
        (lambda: warpbound.bound(LOOP, options=["--nope"]), "unrecognized arguments: --nope", None),
        (
            lambda: warpbound.run("__global__ void k() { if (threadIdx.x < 3) __syncthreads(); }", block=64),
            "source.cu:1:44: barrier divergence",
            None,
        ),
    ],
)
def test_what_cannot_be_used(call: Callable[[], object], told: str, advice: str | None) -> None:
    with pytest.raises(warpbound.Unusable) as caught:
        call()
    assert told in str(caught.value)
    assert advice is None or advice in (caught.value.advice or "")
    assert getattr(caught.value, "__notes__", []) == ([caught.value.advice] if caught.value.advice else [])


def test_the_names_are_listed_before_one_is_used() -> None:
    words = [sys.executable, "-c", "import warpbound; print(*dir(warpbound))"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert set(warpbound.__all__) < set(listed)


def test_numbers_are_numpys_too_and_sizes_are_not_read_by_the_digit() -> None:
    assert warpbound.bound(LOOP, block=np.int64(32)).at(n=np.int32(9)) == 9
    assert warpbound.bound(LOOP, block="256").assumptions[0] == "blocks of 256"


def test_processes_that_a_command_starts_do_not_run_the_script_again(tmp_path: Path) -> None:
    (tmp_path / "loops").mkdir()
    (tmp_path / "loops" / "k.cu").write_text(LOOP, "utf-8")
    script = tmp_path / "script.py"
    script.write_text("import warpbound; print(warpbound.bound('loops', options=['--no-cache']).at(n=9))", "utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("9\n", "")


def test_importing_it_loads_nothing() -> None:
    code = "import sys, warpbound; print([m for m in ('checker', 'z3', 'numpy', 'argparse') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        warpbound.nope  # noqa: B018
