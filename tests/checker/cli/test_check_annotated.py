"""`warpbound check` of annotated CUDA C: the metric, launch and assumptions it is checked for."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from checker.cli import main
from tests.checker.cli.test_check import OUTLINE, Capture, checked

ROW = """//@ metric sectors;
//@ launch block = 32;
__global__ void k(int *A, int w)
{
    //@ potential 4;
    A[blockIdx.x * blockDim.x + threadIdx.x] = w;
}
"""
BARE = ROW.replace("//@ metric sectors;\n//@ launch block = 32;\n", "")


def row(tmp_path: Path, text: str = BARE) -> Path:
    path = tmp_path / "row.cu"
    path.write_text(text)
    return path


def test_options_say_what_it_is_checked_for(tmp_path: Path, capsys: Capture) -> None:
    words = ["--block", "32", "--grid", "8", "--metric", "sectors", "--assume", "w > 2"]
    code, result = checked(row(tmp_path), capsys, *words)
    assert (code, result["verdict"]) == (0, "accepted")
    assert {"blocks of 32", "a grid of 8", "given: w > 2"} <= set(result["assumptions"])
    code, result = checked(row(tmp_path), capsys, "--metric", "sectors")
    assert (code, result["verdict"]) == (1, "rejected")  # blocks of 33 threads are not aligned
    assert result["error"]["run"]["command"]
    assert not any("blocks of" in fact for fact in result["assumptions"])
    code, _ = checked(row(tmp_path), capsys, "--metric", "conflicts", "--block", "32")
    assert code == 0


def test_assumptions_are_added_to_those_of_the_file(tmp_path: Path, capsys: Capture) -> None:
    text = ROW.replace("__global__", "//@ requires w > 5;\n__global__")
    _, result = checked(row(tmp_path, text), capsys, "--assume", "w < 9")
    assert {"given: w > 5", "given: w < 9"} <= set(result["assumptions"])


def test_hardware_is_what_counts(tmp_path: Path, capsys: Capture) -> None:
    """Sectors of 64 bytes: a warp needs half as many."""
    profile = tmp_path / "wide.toml"
    profile.write_text('name = "wide"\nsector = 64\n')
    text = ROW.replace("potential 4", "potential 2")
    code, result = checked(row(tmp_path, text), capsys, "--hardware", str(profile))
    assert (code, result["verdict"]) == (0, "accepted")
    assert any(fact.startswith("custom hardware wide (sector 64, ") for fact in result["assumptions"])
    assert " on the custom hardware wide (sector 64, " in result["claim"]
    weak = row(tmp_path, ROW.replace("potential 4", "potential 1"))
    code, result = checked(weak, capsys, "--hardware", str(profile))
    command = result["error"]["run"]["command"]
    assert (code, f"--hardware={profile}" in shlex.split(command)) == (1, True)
    assert main([*shlex.split(command)[1:], "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["max_per_warp"] == {"sectors": result["error"]["run"]["actual"]}


def test_a_metric_file_is_named_in_the_run(tmp_path: Path, capsys: Capture) -> None:
    metric = tmp_path / "mine.toml"
    metric.write_text('name = "mine"\nvwrite = 1\ngwrite = "n"\n')
    path = row(tmp_path, BARE.replace("potential 4", "potential 1"))
    code, result = checked(path, capsys, "--block", "32", "--metric", str(metric))
    command = shlex.split(result["error"]["run"]["command"])
    assert (code, f"--metric={metric}" in command) == (1, True)
    assert main([*command[1:], "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["max_per_warp"]["mine"] == result["error"]["run"]["actual"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--block", "64"], "--block 64: '{}' says //@ launch block = 32;"),
        (["--block", "32,2"], "--block 32,2: '{}' says //@ launch block = 32;"),
        (["--grid", "4"], "--grid 4: '{}' says //@ launch grid = 2,3;"),
        (["--metric", "steps"], "--metric steps: '{}' says //@ metric sectors;"),
        (["--metric", "all"], "--metric: a derivation counts one metric"),
        (["--metric", "time"], "--metric time: no such metric"),
        (["--hardware", "abacus"], "--hardware abacus: no such model"),
        (["--assume", "w < 5"], "no launch satisfies what is assumed: "),
        (["--assume", "x < 5"], "error: "),
        (["--block", "2048"], "--block 2048: more than 1024 threads"),
    ],
)
def test_options_that_the_file_contradicts(words: list[str], message: str, tmp_path: Path, capsys: Capture) -> None:
    text = ROW.replace("block = 32;", "block = 32, grid = 2, 3;").replace("__global__", "//@ assume w > 5;\n__global__")
    path = row(tmp_path, text)
    assert main(["check", str(path), *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message.format(path) in err
    if "--assume" in words and "x" not in words[1]:
        assert "w > 5" in err
        assert "w < 5" in err


def test_options_that_say_the_same_as_the_file(tmp_path: Path, capsys: Capture) -> None:
    code, _ = checked(row(tmp_path, ROW), capsys, "--block", "32,1", "--metric", "sectors", "--hardware", "nvidia")
    assert code == 0


@pytest.mark.parametrize(
    "words",
    [["--block", "32"], ["--grid", "4"], ["--assume", "w > 2"], ["--metric", "sectors"], ["--hardware", "nvidia"]],
)
@pytest.mark.parametrize("path", [OUTLINE, OUTLINE.with_name("sectors.json")], ids=["outline", "certificate"])
def test_outlines_and_certificates_name_their_own(path: Path, words: list[str], capsys: Capture) -> None:
    """But for what is assumed, which an outline takes."""
    if words[0] == "--assume" and path == OUTLINE:
        assert main(["check", str(path), *words]) == 0
        assert "given: w > 2" in capsys.readouterr().out
        return
    assert main(["check", str(path), *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error: {words[0]} is for annotated CUDA C: '{path}' names its own\n" in err


LANES = """//@ metric sectors;
//@ launch block = 32;
__global__ void f(float *out, const float *x, int n) {{
    //@ potential {};
    float m = 0;
    for (int i = threadIdx.x; i < n; i += 32) m += x[i];
}}
"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [("4*|[0, ceil(n/32)]|", "accepted"), ("7 + 4*|[0, n]|", "accepted"), ("3*|[0, ceil(n/32)]|", "rejected")],
)
def test_a_loop_that_is_left_to_the_tool_gets_ghosts_too(
    claim: str, verdict: str, tmp_path: Path, capsys: Capture
) -> None:
    """What `bound` finds `check` finds, but only the claim that is written there is accepted."""
    path = tmp_path / "k.cu"
    path.write_text(LANES.format(claim))
    code, result = checked(path, capsys)
    assert (code, result["verdict"]) == (int(verdict != "accepted"), verdict)
    if verdict == "accepted":
        told = {"4": "4*max(0, ceil(n/32))", "7": "7 + 4*max(0, n)"}[claim[0]]
        assert result["judgement"].startswith(f"{{true; {told}; {{}}}}")
    else:
        assert result["error"]["run"]["actual"] == 4


TILES = """//@ metric sectors;
//@ launch block = 32;
__global__ void k(int *A, int n, int m)
{{
    //@ potential {0}*|[0, n]|{1};
    for (int t = blockIdx.x; t < n; t += gridDim.x) {{
        for (int i = 0; i < m; i++)
            A[threadIdx.x + t] = 1;
        A[threadIdx.x + t] = 2;
    }}
}}
"""


@pytest.mark.parametrize(
    ("claim", "code"),
    [(("5", " + 5*|[0, m]|*|[0, n]|"), 0), (("4", " + 5*|[0, m]|*|[0, n]|"), 1), (("5", " + 4*|[0, m]|*|[0, n]|"), 1)],
)
def test_a_bound_that_is_stated_over_more_than_the_loop_begins_with(
    claim: tuple[str, str], code: int, tmp_path: Path, capsys: Capture
) -> None:
    """|[0, n]| is at least |[blockIdx.x, n]|, which is what the loop needs; so are products of both with others."""
    path = tmp_path / "k.cu"
    path.write_text(TILES.format(*claim))
    got, result = checked(path, capsys)
    assert (got, result["verdict"] == "accepted") == (code, code == 0)


BY_CONTRACT = """//@ metric sectors;
//@ launch block = 32;
//@ requires forall i in [0, n): len[i] <= w;
//@ requires n > 0;
__global__ void lengths(const int *len, float *y, int n, int w) {
    //@ potential 1 + max(0, w);
    int m = len[n - 1];
    //@ loop potential max(0, m - j);
    for (int j = 0; j < m; j++) y[0] = 1;
}
"""


def test_a_derivation_uses_contracts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(BY_CONTRACT)
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "second checker: valid" in out
    assert "- given: forall i in [0, n): len[i] <= w" in out
    for old, new in (("potential 1 + ", "potential "), ("<= w;", "<= w + 1;"), ("[0, n)", "[0, n - 1)")):
        path.write_text(BY_CONTRACT.replace(old, new, 1))
        assert main(["check", str(path)]) != 0
        assert "accepted" not in capsys.readouterr().out
    path.write_text(BY_CONTRACT.replace("y[0] = 1;", "y[0] = 1, len[0] = 1;").replace("const int", "int"))
    assert main(["check", str(path)]) == 2
    assert "k.cu:3:14: error: the kernel may write to 'len'" in capsys.readouterr().err
