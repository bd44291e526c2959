"""Indices that are read from memory, x[col[j]], and contracts that say what they are: certified, above every run on
data that keep these, and reached by some.

The figures are counted by hand: 4 sectors for 32 aligned ints, 5 for those that are not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from checker import recheck
from checker.certificates import document as certificate
from checker.cli import main

GATHER: Final = """__global__ void k(const int *q, const float *x, float *y, int low, int n) {
    int t = threadIdx.x;
    y[t] = x[INDEX];
}
"""

SHARED: Final = """__global__ void k(const int *q, const float *x, float *y, int low, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = x[t];
    tile[t + 128] = x[t + 128];
    __syncthreads();
    y[t] = tile[INDEX];
}
"""

ROWS: Final = """__global__ void k(const int *row, const int *q, const float *x, float *y, int low, int n) {
    if (blockIdx.x >= n) return;
    float s = 0;
    for (int j = row[blockIdx.x] + threadIdx.x; j < row[blockIdx.x + 1]; j += blockDim.x) s += x[q[j]];
    y[threadIdx.x] = s;
}
"""

NEAR: Final = "//@ requires forall j in [0, 256): 0 <= q[j + 1] - q[j] && q[j + 1] - q[j] <= 1;\n"
TILE: Final = "//@ requires forall j: low <= q[j] && q[j] < low + 16;\n"
FIRST: Final = "//@ requires forall j: 0 <= q[j] && q[j] < 64;\n"
INSIDE: Final = "//@ requires forall i in [0, n + 1): 0 <= row[i] && row[i] <= 256;\n"

N: Final = 260


def near(rng: np.random.Generator) -> Any:
    return rng.integers(0, 9) + np.cumsum(rng.random(N) < rng.choice([0.2, 0.9, 1.0]))


def tile(rng: np.random.Generator) -> Any:
    return 5 + rng.integers(0, 16, N)


def first(rng: np.random.Generator) -> Any:
    return rng.integers(0, 64, N) if rng.random() < 0.8 else np.arange(N) * 32 % 64


CASES: Final[dict[str, tuple[str, str, str, str, Callable[[np.random.Generator], Any]]]] = {
    # 4 of q, 4 of y, and of x: 16 floats are in 3 sectors at most, 61 in 9, 64 that begin a sector in 8, 32 in 5
    "a tile": (TILE + GATHER, "q[t]", "sectors", "11", tile),
    "a tile, every fourth": (TILE + GATHER, "4 * q[t] + 1", "sectors", "17", tile),
    "a tile, downwards": (TILE + GATHER, "900 - q[t]", "sectors", "11", tile),
    "the first elements": (FIRST + GATHER, "q[t]", "sectors", "16", first),
    "neighbours": (NEAR + GATHER, "q[t]", "sectors", "13", near),
    # two words of each bank for 64, one for 16 or 32
    "conflicts in the first elements": (FIRST + SHARED, "q[t]", "conflicts", "1", first),
    "conflicts in a tile": (TILE + SHARED, "q[t]", "conflicts", "0", tile),
    "conflicts of neighbours": (NEAR + SHARED, "q[t]", "conflicts", "0", near),
    # a turn reads 32 elements of q, and 32 neighbours of x, 5 sectors each, and where the row ends
    "rows of neighbours": (INSIDE + NEAR + ROWS, "", "sectors", "6 + 11*max(0, ceil((row[", near),
}


def bounded(case: str, folder: Path, source: str | None = None) -> tuple[int, Path, Path]:
    text, index, metric, _, _ = CASES[case]
    path, to = folder / "k.cu", folder / "c.json"
    path.write_text((source or text).replace("INDEX", index))
    words = ["bound", str(path), "--metric", metric, "--block", "128", "--format", "json"]
    return main([*words, "--certificate", str(to)]), path, to


@pytest.mark.parametrize("case", CASES)
def test_certified_and_above_runs(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, _, metric, most, draw = CASES[case]
    code, path, written = bounded(case, tmp_path)
    assert code == 0
    said = json.loads(capsys.readouterr().out)["results"][0]
    assert said["verdict"] == "certified"
    assert said["bound"].startswith(most) if case.startswith("rows") else said["bound"] == most
    assert main(["check", str(written)]) == 0
    dearest = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        np.save(tmp_path / "q.npy", draw(rng).astype(np.int32))
        np.save(tmp_path / "row.npy", rng.integers(0, 257, N).astype(np.int32))
        arrays = [f"q=@{tmp_path / 'q.npy'}", *([f"row=@{tmp_path / 'row.npy'}"] if case.startswith("rows") else [])]
        given = [word for a in arrays for word in ("--array", a)]
        capsys.readouterr()
        words = ["run", str(path), "--metric", metric, "--block", "128", "--arg", "n=8", "--arg", "low=5", *given]
        assert main([*words, "--format", "json"]) == 0
        dearest = max(dearest, json.loads(capsys.readouterr().out)["max_per_warp"][metric])
    if not case.startswith("rows"):
        assert int(most) - 2 <= dearest <= int(most)


@pytest.mark.parametrize(
    ("case", "old", "new"),
    [
        ("a tile", "low <= q[j] && ", ""),
        ("a tile", "low + 16", "low + 256"),
        ("neighbours", "0 <= q[j + 1] - q[j] && ", ""),
        ("neighbours", "[0, 256)", "[0, n)"),
        ("neighbours", "q[j + 1] - q[j] <= 1", "q[j + 1] - q[j] <= 8"),
    ],
)
def test_what_says_too_little(
    case: str, old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lanes are anywhere then, a sector for each."""
    text, *_ = CASES[case]
    assert old in text
    bounded(case, tmp_path, text.replace(old, new))
    said = json.loads(capsys.readouterr().out)["results"][0]
    assert (said["bound"], said["verdict"]) == ("40", "certified")


def test_a_certificate_for_another_tile_is_refused(tmp_path: Path) -> None:
    _, _, path = bounded("a tile", tmp_path)
    document = json.loads(path.read_text())
    assert recheck.recheck(document).verdict == "valid"
    said = json.dumps(document["launch"]["contracts"])
    assert ", 16]" in said, said
    document["launch"]["contracts"] = json.loads(said.replace(", 16]", ", 17]"))
    signed = document | {"digest": certificate.digest(document)}
    assert recheck.recheck(signed).verdict == "invalid"
