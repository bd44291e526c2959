"""`warpbound predict`: the formula, the figure, each term, and what is said of bad input."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from checker.analysis.device_files import FOLDER
from checker.cli import main
from checker.notation.formulas import parse_formula
from logic.formulas import evaluate

pytestmark = pytest.mark.usefixtures("bounds_once")

ROOT = Path(__file__).parents[3]
RANKING = str(ROOT / "proofs/listRanking/kernel.cu")
COPY = "__global__ void copy(int *A, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) A[i] = i; }\n"
LAUNCH = "//@ launch block = 64, grid = ceil(n / 64);\n"
Capture = pytest.CaptureFixture[str]


def predict(capsys: Capture, *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["predict", *words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def written(tmp_path: Path, text: str, name: str = "k.cu") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def in_milliseconds(formula: str, **at: int) -> Fraction:
    """What a printed formula says at a point."""
    return evaluate(parse_formula(formula, at, "formula"), at)


def test_list_ranking(capsys: Capture) -> None:
    code, found = predict(capsys, RANKING, "--device", "gtx280", "--at", "N=4194304")
    assert code == 0
    assert found["milliseconds"] == 21.12
    assert Fraction(found["exact"]) == in_milliseconds(found["formula"], N=4194304) == Fraction(2112, 100)
    terms = {"N_B": 13, "N_w": 16, "N_t": 32, "N_C": 8, "D": 4, "R": 1_300_000_000, "C_T": 4 * 22 * 3 * 500}
    assert terms.items() <= found["terms"].items()
    (kernel,) = found["kernels"]
    assert kernel["bounds"] == {"N_comp": "92 + 288*max(0, log2(N))", "N_memory": "6000*max(0, log2(N))"}
    assert kernel["verdict"] == "certified"
    assert "given, and not checked: len <= 4 * log2(N)" in kernel["assumptions"]


def test_sum_is_both_terms(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, LAUNCH + COPY)
    _, most = predict(capsys, path, "--device", "gtx280", "--at", "n=4096")
    _, both = predict(capsys, path, "--device", "gtx280", "--model", "sum", "--at", "n=4096")
    comp, mem = Fraction(most["terms"]["N_comp"]), Fraction(most["terms"]["N_memory"])
    assert Fraction(most["terms"]["C_T"]) == max(comp, mem) > min(comp, mem) > 0
    assert Fraction(both["terms"]["C_T"]) == comp + mem
    assert Fraction(both["exact"]) == in_milliseconds(both["formula"], n=4096) > Fraction(most["exact"])


def test_an_argument_that_is_given_needs_no_limit(capsys: Capture) -> None:
    _, found = predict(capsys, RANKING, "--device", "gtx280", "--at", "N=4194304,len=20")
    assert found["terms"]["C_T"] == 20 * 1500
    assert not any("len <=" in text for text in found["kernels"][0]["assumptions"])


def test_text(capsys: Capture) -> None:
    assert main(["predict", RANKING, "--device", "gtx280", "--at", "N=4194304"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "21.12 ms, an estimate: gtx280, model max at N = 4194304"
    assert [line.split()[-1] for line in lines if line.startswith("  N_B ")] == ["13"]
    assert any(line.startswith("  - caches") for line in lines)
    assert "  - given, and not checked: len <= 4 * log2(N)" in lines


def test_kernels_are_added_up(tmp_path: Path, capsys: Capture) -> None:
    both = written(tmp_path, LAUNCH + COPY + LAUNCH + COPY.replace("copy", "again").replace("= i;", "= A[i] + 1;"))
    other = COPY.replace("copy", "other").replace("int n", "int m").replace("< n", "< m")
    third = written(tmp_path, LAUNCH.replace("ceil(n", "ceil(m") + other, "m.cu")
    _, found = predict(capsys, both, third, "--device", "gtx280", "--at", "n=1000,m=5000")
    names = [row["kernel"] for row in found["kernels"]]
    assert names == ["copy", "again", "other"]
    single = []
    for name, path, at in zip(names, (both, both, third), ("n=1000", "n=1000", "m=5000"), strict=True):
        _, one = predict(capsys, path, "--kernel", name, "--device", "gtx280", "--at", at)
        single.append(Fraction(one["exact"]))
    assert Fraction(found["exact"]) == sum(single) == in_milliseconds(found["formula"], n=1000, m=5000)
    assert "C_T" not in found["terms"]
    assert found["terms"]["N_C"] == 8


def test_the_launch_comes_from_host_code(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, COPY + "void host(int *A, int n) { copy<<<62, 64>>>(A, n); }\n")
    _, found = predict(capsys, path, "--device", "gtx280")
    assert (found["terms"]["N_B"], found["terms"]["N_w"]) == (3, 2)


@pytest.mark.parametrize(("grid", "blocks"), [("61", 3), ("ceil(n/64)", 2), ("n,2", 67), ("min(n, 7)*30", 7)])
def test_grids_by_option(grid: str, blocks: int, tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, LAUNCH.replace("64)", "2)") + COPY)
    _, found = predict(capsys, path, "--device", "gtx280", "--grid", grid, "--block", "32", "--at", "n=1001")
    expected = {"ceil(n/64)": 1}.get(grid, blocks)
    assert found["terms"]["N_B"] == expected
    assert found["terms"]["N_w"] == 1
    assert Fraction(found["exact"]) == in_milliseconds(found["formula"], n=1001)
    assert sum("a grid of " in text for text in found["kernels"][0]["assumptions"]) == 1


def test_grid_sizes_in_bounds(tmp_path: Path, capsys: Capture) -> None:
    """The bound speaks of gridDim.x, the formula of n alone."""
    source = "__global__ void k(int *A, int n) { for (int i = 0; i < gridDim.x; i++) A[i] = 0; }\n"
    path = written(tmp_path, "//@ launch block = 32, grid = ceil(n / 50);\n" + source)
    code, found = predict(capsys, path, "--device", "gtx280", "--at", "n=1001")
    assert code == 0
    assert found["kernels"][0]["bounds"]["N_comp"] == "4 + 8*(ceil(n/50))"
    assert found["terms"]["N_comp"] == 4 + 8 * 21
    assert Fraction(found["exact"]) == in_milliseconds(found["formula"], n=1001)


@pytest.mark.whole
def test_random_bins_are_an_estimate(capsys: Capture) -> None:
    histogram = str(ROOT / "proofs/histogramShared/kernel.cu")
    _, found = predict(capsys, histogram, "--device", "gtx280", "--at", "N=1048576", "--random-bins", "256")
    estimate = found["estimate"]
    assert estimate["certified"] is False
    assert 3 < estimate["contention"] < 3.2
    assert 0 < estimate["milliseconds"] < found["milliseconds"]


def test_text_of_an_estimate(tmp_path: Path, capsys: Capture) -> None:
    source = "__global__ void k(const int *A) { __shared__ int s[64]; s[A[threadIdx.x] & 63] = 0; }\n"
    path = written(tmp_path, "//@ launch block = 32, grid = 3;\n" + source)
    assert main(["predict", path, "--device", "gtx280", "--random-bins", "64"]) == 0
    assert "Expected with 64 bins taken at random: " in (out := capsys.readouterr().out)
    assert "Nothing certifies this" in out


def test_what_has_no_certified_terms(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, LAUNCH + COPY + "__global__ void stuck(int *A) { while (A[0]) A[1] = 0; }\n")
    code = main(
        ["predict", path, "--device", "gtx280", "--grid", "4", "--block", "64", "--at", "n=9", "--format", "json"]
    )
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert code == 1
    assert (found["milliseconds"], found["formula"], found["exact"]) == (None, None, None)
    assert [row["verdict"] for row in found["kernels"]] == ["certified", "not-proved"]
    assert "stuck has no certified run-time terms: N_comp:" in err
    assert "copy has" not in err


# --- bad input -------------------------------------------------------------------------------------------------------


def complaint(capsys: Capture, *words: str) -> str:
    assert main(["predict", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) <= 5
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            (RANKING, "--device", "gtx281"),
            "--device gtx281: no such device\n  Did you mean 'gtx280'? Known: gtx280, h100",
        ),
        ((RANKING, "--device", "none.toml"), "cannot read 'none.toml'"),
        (("k.simt", "--device", "gtx280"), "k.simt: a program for the mini-SIMT machine"),
        ((RANKING, "--device", "gtx280", "--grid", "warpSize", "--at", "N=8"), "no parameter is called 'warpSize'"),
        ((RANKING, "--device", "gtx280"), "--at lacks N, which the run time of listRanking depends on"),
        ((RANKING, "--device", "gtx280", "--at", "N=many"), "--at N=many: not a whole number"),
        ((RANKING, "--device", "gtx280", "--at", "N=8,M=3"), "--at: 'M' is no parameter of listRanking"),
        ((RANKING, "--device", "gtx280", "--at", "N=8,len=13"), "len <= 4 * log2(N) is assumed, and does not hold"),
        ((RANKING, "--device", "gtx280", "--at", "N=1"), "kernel.cu:3:39: error: a division by zero"),
        ((RANKING, "--device", "gtx280", "--at", "N=-5"), "division by zero"),
        ((RANKING, "--device", "gtx280", "--grid", "N/3", "--at", "N=8"), "N/3 = 8/3 blocks at N=8"),
        (
            (RANKING, "--device", "gtx280", "--grid", "M", "--at", "N=8"),
            "--grid:1:1: error: no parameter is called 'M'",
        ),
        ((RANKING, "--device", "gtx280", "--grid", "N,1,1,1", "--at", "N=8"), "a grid has one to three sizes"),
        ((RANKING, "--device", "gtx280", "--block", "0", "--at", "N=8"), "--block 0: not a dimension"),
        ((RANKING, "--device", "gtx280", "--random-bins", "0", "--at", "N=8"), "--random-bins 0: not from 1"),
        ((RANKING, "--device", "gtx280", "--assume", "len <= floor(", "--at", "N=8"), "--assume:1:"),
        ((RANKING, "--device", "gtx280", "--kernel", "rank", "--at", "N=8"), "rank"),
        ((RANKING, "--device", "gtx280", "--grid", "*".join(["N"] * 9), "--at", f"N={10**50}"), "more digits"),
        (("none.cu", "--device", "gtx280"), "none.cu"),
    ],
)
def test_bad_options(words: tuple[str, ...], sentence: str, capsys: Capture) -> None:
    assert sentence in complaint(capsys, *words)


def test_no_launch(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, COPY)
    err = complaint(capsys, path, "--device", "gtx280", "--at", "n=9")
    assert f"{path}:1:" in err
    assert "the grid of copy is not known" in err
    assert "//@ launch" in err
    assert "the block of copy is not known" in complaint(
        capsys, path, "--device", "gtx280", "--grid", "4", "--at", "n=9"
    )


def test_what_no_launch_satisfies(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, LAUNCH + COPY.replace("int n", "int n, int m"))
    words = (path, "--device", "gtx280", "--assume", "n > m", "--assume", "n < m", "--at", "n=9")
    assert "no launch satisfies what is assumed" in complaint(capsys, *words)


def test_no_device(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["predict", RANKING, "--at", "N=8"])
    assert ended.value.code == 2
    assert "--device" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        ("depth = 4 ", "# depth = 4", "", "'depth' is missing"),
        ("clock = 1_300_000_000 ", "clock = -1 ", "clock", "'clock' is a whole number from 1"),
        ("cores = 8 ", "cores = 8.5 ", "cores", "'cores' is a whole number from 1"),
        ("global = 500 ", "# global = 500", "[cycles]", "'global' is missing in [cycles]"),
        ("global = 500 ", "global = -500 ", "global", "the price of 'global' is negative"),
        ("add = 4 ", "add = 0 ", "add", "'cycles.add' has to be positive"),
        ("add = 4 ", 'add = "1/1000"', "[cycles]", "multiples"),
        ("group = 16 ", "group = 12 ", "group", "whole groups"),
        ("segment = 128 ", "segment = 96 ", "segment", "multiple of the sector"),
        ("shared = 4 ", "shared = 4\nlocal = 3 ", "local", "'local' is not known in [cycles]"),
        ("[cycles]", "[cycle]", "[cycle]", "'cycle' is not known here"),
        ("warp = 32 ", "warp = ", "warp", "this is no TOML"),
    ],
)
def test_bad_devices(old: str, new: str, place: str, sentence: str, tmp_path: Path, capsys: Capture) -> None:
    text = (FOLDER / "gtx280.toml").read_text()
    assert old in text
    text = text.replace(old, new, 1)
    path = written(tmp_path, text, "mine.toml")
    err = complaint(capsys, RANKING, "--device", path, "--at", "N=8")
    line = next(n for n, words in enumerate(text.splitlines(), 1) if words.startswith(place))
    assert err.startswith(f"{path}:{line}:")
    assert sentence in err


def test_a_device_of_one_s_own(tmp_path: Path, capsys: Capture) -> None:
    kernel, text = written(tmp_path, LAUNCH + COPY), (FOLDER / "gtx280.toml").read_text()
    fast = written(tmp_path, text.replace("clock = 1_300_000_000", "clock = 2_600_000_000"), "fast.toml")
    _, found = predict(capsys, kernel, "--device", fast, "--at", "n=9999")
    _, slow = predict(capsys, kernel, "--device", "gtx280", "--at", "n=9999")
    assert 2 * Fraction(found["exact"]) == Fraction(slow["exact"])


def test_no_kernels(tmp_path: Path, capsys: Capture) -> None:
    assert "kernel" in complaint(capsys, written(tmp_path, "int x;\n"), "--device", "gtx280")
