"""The fast engine against the clock and against the reference (`make bench`), each run in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.bench

ROOT: Final = Path(__file__).resolve().parents[2]
WARPBOUND: Final = str(Path(sys.executable).with_name("warpbound"))

# Runs a command and adds the most memory that it held, in KiB.
MEASURED: Final = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True)
print(done.stdout.strip())
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measured(*words: str) -> tuple[dict[str, Any], int]:
    """The JSON of a run and the MiB that it took."""
    command = (sys.executable, "-c", MEASURED, WARPBOUND, "run", *words, "--format", "json")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    result, memory = done.stdout.splitlines()
    return json.loads(result), int(memory) // 1024


def worst_words(path: Path) -> None:
    """All bytes of a word are one of eight bins of bank 0, neighbouring lanes take different ones: 8-way conflicts."""
    bins = np.arange(2**20, dtype=np.uint32) % 8 * 32
    np.save(path, bins * np.uint32(0x01010101))


@pytest.mark.parametrize(
    ("words", "metric", "total", "mebibytes"),
    [
        pytest.param(
            "matMul --block 32,32 --grid 10,10 --arg wA=320 --arg wB=320", "sectors", 268_800, 2048, id="matMul"
        ),
        pytest.param(
            "vectorAdd --block 256 --grid 62500 --arg numElements=16000000",
            "sectors",
            6_000_000,
            2048,
            id="vectorAdd",
        ),
        *(
            # 2**20 words, 32 lanes a warp, four reads and four writes a word, 7 conflicts each
            pytest.param(
                f"histogram256 --block 64 --grid {blocks} --arg dataCount=1048576 --array d_Data=@{{}}",
                "conflicts",
                2**20 // 32 * 8 * 7,
                2048,
                id=f"histogram256-{blocks}",
            )
            for blocks in (1, 64, 4096)
        ),
    ],
)
def test_large_runs(
    benchmark: BenchmarkFixture, tmp_path: Path, words: str, metric: str, total: int, mebibytes: int
) -> None:
    data = tmp_path / "worst.npy"
    worst_words(data)
    name, *rest = words.format(data).split()
    result, memory = benchmark.pedantic(measured, args=(f"proofs/{name}/kernel.cu", *rest), rounds=1)
    benchmark.extra_info["MiB"] = memory
    assert (result["engine"], result["totals"][metric]) == ("fast", total)
    assert memory < mebibytes


@pytest.mark.parametrize("blocks", [1, 10, 100, 1000])
@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("vectorAdd", "numElements={threads}"), ("reduce1", "n={threads}")],
    ids=["vectorAdd", "reduce1"],
)
def test_growth(benchmark: BenchmarkFixture, name: str, arguments: str, engine: str, blocks: int) -> None:
    """Costs grow linearly in the blocks, and so does the time once it is not all the process's start."""
    words = ("--block", "256", "--grid", str(blocks), "--arg", arguments.format(threads=256 * blocks))
    result, memory = benchmark.pedantic(
        measured, args=(f"proofs/{name}/kernel.cu", *words, "--engine", engine), rounds=1
    )
    benchmark.extra_info["MiB"] = memory
    assert result["engine"] == engine
    one = {"vectorAdd": (96, 0), "reduce1": (33, 105)}[name]
    assert (result["totals"]["sectors"], result["totals"]["conflicts"]) == tuple(n * blocks for n in one)
