"""The kernels under proofs/ compute what they say, and a CUDA compiler takes them."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from semantics.cuda import read_cuda
from semantics.grid import Contents, Result
from semantics.values import Value
from semantics.vectorised import run

ROOT = Path(__file__).parents[2] / "proofs"
NAMES = sorted(path.parent.name for path in ROOT.glob("*/kernel.cu"))
Dim = tuple[int, int, int]


def launch(
    name: str, block: Dim, grid: Dim, args: Mapping[str, Value], arrays: Mapping[str, Contents] | None = None
) -> Result:
    result = run(read_cuda(str(ROOT / name / "kernel.cu")).kernel, block, grid, args, arrays)
    assert result.out_of_bounds == ()
    return result


def draw(n: int, seed: int = 1, most: int = 100) -> list[int]:
    source = random.Random(seed)
    return [source.randrange(most) for _ in range(n)]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs a CUDA compiler")
def test_a_cuda_compiler_takes_every_kernel(tmp_path: Path) -> None:
    source = tmp_path / "all.cu"
    source.write_text("".join(f'#include "{ROOT / name / "kernel.cu"}"\n' for name in NAMES))
    compiled = subprocess.run(
        ["nvcc", "-ptx", "-o", "all.ptx", source.name],  # noqa: S607
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (compiled.returncode, compiled.stderr) == (0, "")
    assert (tmp_path / "all.ptx").read_text().count(".visible .entry") == len(NAMES)


@pytest.mark.parametrize("name", ["reduce0", "reduce1", "reduce2", "reduce3"])
@pytest.mark.parametrize("n", [256, 150])
def test_reductions_sum(name: str, n: int) -> None:
    data, each = draw(n), 128 if name == "reduce3" else 64
    got = launch(name, (64, 1, 1), (-(-n // each), 1, 1), {"n": n}, {"g_idata": data}).arrays["g_odata"]
    assert got == {b: sum(data[b * each : (b + 1) * each]) for b in range(-(-n // each))}


@pytest.mark.parametrize("name", ["reduce2a", "reduce3a"])
def test_reductions_of_racuda_leave_the_last_addition_out(name: str) -> None:
    data, each = draw(128), 128 if name == "reduce3a" else 64
    got = launch(name, (64, 1, 1), (128 // each, 1, 1), {"n": 128}, {"g_idata": data}).arrays["g_odata"]
    assert got == {b: sum(data[b * each : (b + 1) * each : 2]) for b in range(128 // each)}


@pytest.mark.parametrize("name", ["addSub0", "addSub1", "addSub2", "addSub3"])
def test_rows_are_added_and_subtracted(name: str) -> None:
    w, h = 40, 10
    a, b = draw(w), draw(w * h, 2)
    threads = {"addSub0": h, "addSub1": h // 2}.get(name, w)
    got = launch(name, (threads, 1, 1), (1, 1, 1), {"w": w, "h": h}, {"A": a, "B": b}).arrays["B"]
    assert got == {j * w + i: b[j * w + i] + (-1) ** j * a[i] for j in range(h) for i in range(w)}


@pytest.mark.parametrize("name", ["matMul", "matMulTrans"])
def test_products_of_matrices(name: str) -> None:
    a, b = np.reshape(draw(64 * 32), (32, 64)), np.reshape(draw(64 * 32, 2), (64, 32))
    arrays = {"A": [float(v) for v in a.ravel()], "B": [float(v) for v in b.ravel()]}
    got = launch(name, (32, 32, 1), (1, 1, 1), {"wA": 64, "wB": 32}, arrays).arrays["C"]
    assert [got[i] for i in range(1024)] == (a @ b).ravel().tolist()


def test_the_bad_product_takes_ones_for_a_short_cut() -> None:
    a, b = np.reshape(draw(1024), (32, 32)), np.reshape(draw(1024, 2, 3), (32, 32))
    arrays = {"A": [float(v) for v in a.ravel()], "B": [float(v) for v in b.ravel()]}
    got = launch("matMulBad", (32, 32, 1), (1, 1, 1), {"wA": 32, "wB": 32}, arrays).arrays["C"]
    assert [got[i] for i in range(1024)] == (a @ np.maximum(b, 1)).ravel().tolist()


def test_a_histogram_without_collisions() -> None:
    """The updates race in a warp (footnote 7), so its threads get bins of their own here."""
    words = [t % 64 * 0x01010101 for t in range(256)]
    arrays: dict[str, Contents] = {"d_Data": words}
    got = launch("histogram256", (64, 1, 1), (2, 1, 1), {"dataCount": 250}, arrays).arrays["d_PartialHistograms"]
    counts = [[words[p : min(p + 64, 250)] for p in range(64 * b, 250, 128)] for b in range(2)]
    assert got == {
        256 * b + i: 4 * sum(w.count(i * 0x01010101) for w in counts[b]) for b in range(2) for i in range(256)
    }


@pytest.mark.parametrize("name", ["fan2", "fan2Fixed"])
def test_a_step_of_elimination(name: str) -> None:
    n, t = 9, 2
    a, m = np.reshape(draw(n * n), (n, n)), np.reshape(draw(n * n, 2), (n, n))
    b = np.array(draw(n, 3))
    arrays = {
        "A": a.astype(float).ravel().tolist(),
        "B": b.astype(float).tolist(),
        "M": m.astype(float).ravel().tolist(),
    }
    got = launch(name, (4, 1, 1), (2, 1, 1), {"N": n, "t": t}, arrays).arrays
    below = slice(t + 1, n)
    b[below] -= m[below, t] * b[t]
    a[below, t:] -= np.outer(m[below, t], a[t, t:])
    assert [got["A"][i] for i in range(n * n)] == a.ravel().tolist()
    assert [got["B"][i] for i in range(n)] == b.tolist()


def test_a_list_is_ranked_from_splitter_to_splitter() -> None:
    n, spacing = 64, 6
    order = list(range(1, n))
    random.Random(5).shuffle(order)
    order = [0, *order]
    successor = dict(zip(order, [*order[1:], -1], strict=True))
    got = launch(
        "listRanking", (8, 1, 1), (2, 1, 1), {"N": n, "len": n}, {"next": [successor[i] for i in range(n)]}
    ).arrays
    first = rank = -1
    for node in order:
        first, rank = (node, 0) if node % spacing == 0 else (first, rank + 1)
        assert (got["splitter"][node], got["rank"][node]) == (first, rank)
    short = launch("listRanking", (8, 1, 1), (2, 1, 1), {"N": n, "len": 2}, {"next": [successor[i] for i in range(n)]})
    assert set(short.arrays["rank"].values()) == {0, 1}


VIEW: dict[str, Value] = {
    "width": 20,
    "height": 12,
    "crunch": 200,
    "left": -0.7436,
    "top": 0.1318,
    "scale": 0.00001,
}
"""A corner of the set's edge so small that float and double disagree about it."""


def escape_times(real: type[np.floating]) -> list[int]:
    """How soon each pixel of VIEW escapes, in numbers of this kind."""
    with np.errstate(over="ignore", invalid="ignore"):
        left, top, scale = (real(VIEW[name]) for name in ("left", "top", "scale"))
        times = []
        for py in range(12):
            for px in range(20):
                cx, cy = left + real(px) * scale, top + real(py) * scale
                x = y = real(0)
                time = 0
                while time < 200 and x * x + y * y < real(4):
                    x, y = x * x - y * y + cx, real(2) * x * y + cy
                    time += 1
                times.append(time)
    return times


@pytest.mark.parametrize(("block", "grid", "across", "tiles"), [((32, 1, 1), 3, 1, 12), ((8, 4, 1), 2, 3, 9)])
def test_mandelbrot_escapes_in_float32(block: Dim, grid: int, across: int, tiles: int) -> None:
    times = escape_times(np.float32)
    assert times != escape_times(np.float64)
    assert len(set(times)) > 20
    got = launch("mandelbrot", block, (grid, 1, 1), VIEW | {"across": across, "numBlocks": tiles}).arrays["image"]
    shades = [time * 255 // 200 if time < 200 else 0 for time in times]
    assert [got[i] for i in range(240)] == [s << 16 | s * 5 % 256 << 8 | s * 13 % 256 for s in shades]


def test_mandelbrot0_returns_from_the_middle_of_twenty_steps() -> None:
    mixing: dict[str, Value] = {"frame": 1, "shift": 4, "shades.x": 3, "shades.y": 5, "shades.z": 7}
    tiles: dict[str, Value] = {"across": 1, "numBlocks": 12}
    got = launch("mandelbrot0", (32, 1, 1), (3, 1, 1), VIEW | mixing | tiles).arrays
    times = [time if time < 200 else 0 for time in escape_times(np.float32)]
    assert 0 in times
    for channel, shade in (("x", 3), ("y", 5), ("z", 7)):
        mixed = [(time + 4) * shade % 256 // 2 if time else 0 for time in times]
        assert [got[f"image.{channel}"][i] for i in range(240)] == mixed


def test_a_product_by_small_tiles() -> None:
    a, b = np.reshape(draw(1024), (32, 32)), np.reshape(draw(1024, 2), (32, 32))
    arrays = {"A": [float(v) for v in a.ravel()], "B": [float(v) for v in b.ravel()]}
    got = launch("matMul16", (16, 16, 1), (2, 2, 1), {"N": 32}, arrays).arrays["C"]
    assert [got[i] for i in range(1024)] == (a @ b).ravel().tolist()


def test_a_histogram_for_each_block() -> None:
    """Lanes that hit one bin at once would lose counts in the semantics, so a warp's observations differ."""
    data = [(37 * i) % 256 for i in range(700)]
    got = launch("histogramShared", (256, 1, 1), (2, 1, 1), {"N": 700}, {"data": data}).arrays["partial"]
    mine = [[data[i] for i in range(700) if i // 256 % 2 == b] for b in range(2)]
    assert got == {256 * b + v: mine[b].count(v) for b in range(2) for v in range(256)}


def test_every_element_is_doubled_whatever_the_stride() -> None:
    for stride in (1, 8, 32):
        kernel = read_cuda(str(ROOT / "strideSweep" / "kernel.cu"), defines=(f"STRIDE={stride}",)).kernel
        got = run(kernel, (64, 1, 1), (2, 1, 1), {"count": 32}, {"a": [float(i) for i in range(4096)]}).arrays["a"]
        assert got == {i: 2.0 * i for i in range(4096)}
