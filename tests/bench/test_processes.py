"""What a person waits for: whole processes, against the clock and against the bare interpreter's start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Final

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.bench

ROOT: Final = Path(__file__).resolve().parents[2]
WARPBOUND: Final = str(Path(sys.executable).with_name("warpbound"))
BARE: Final = (sys.executable, "-I", "-c", "pass")


def run(*command: str) -> str:
    """The standard output of a command that succeeds."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def bare_start() -> float:
    """Seconds that the interpreter alone needs, the best of ten."""

    def once() -> float:
        start = perf_counter()
        run(*BARE)
        return perf_counter() - start

    return min(once() for _ in range(10))


@pytest.mark.parametrize(
    ("arguments", "seconds", "starts"),
    [
        pytest.param("--version", 0.15, 8, id="version"),
        pytest.param(
            "bound proofs/addSub3/kernel.cu --metric all --block 32 --format json", 1.5, 100, id="bound-addSub3"
        ),
    ],
)
def test_is_fast(benchmark: BenchmarkFixture, arguments: str, seconds: float, starts: int) -> None:
    output = benchmark.pedantic(run, args=(WARPBOUND, *arguments.split()), rounds=5, warmup_rounds=1)
    if arguments.startswith("bound"):
        assert [row["verdict"] for row in json.loads(output)["results"]] == ["certified"] * 4
    else:
        assert output.startswith("warpbound ")
    assert benchmark.stats is not None
    best = benchmark.stats.stats.min
    ratio = best / bare_start()
    benchmark.extra_info["bare starts"] = round(ratio, 1)
    assert best <= seconds
    assert ratio <= starts
