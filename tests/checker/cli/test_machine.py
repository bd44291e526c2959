"""`warpbound machine`, from a file to what is printed; nothing that can be typed ends in a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from checker.cli import main

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
TRIANGLE = str(PROOFS / "triangleSum/kernel.simt")
ADDSUB = str(PROOFS / "addSub3/kernel.cu")
FOUR = ("--threads", "4", "--warp-size", "4", "--latency", "10")
Go = Callable[..., tuple[int, str, str]]


@pytest.fixture
def go(capsys: pytest.CaptureFixture[str]) -> Go:
    """The exit code, standard output and standard error of `warpbound machine`."""

    def run(*words: str) -> tuple[int, str, str]:
        try:
            code = main(["machine", *words])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else -1
        printed = capsys.readouterr()
        assert "internal error" not in printed.err
        assert "Traceback" not in printed.err
        return code, printed.out, printed.err

    return run


@pytest.fixture
def simt(tmp_path: Path) -> Callable[[str], str]:
    """The path of a program of this text."""

    def write(text: str) -> str:
        path = tmp_path / "k.simt"
        path.write_text(text)
        return str(path)

    return write


def found(go: Go, *words: str) -> Any:
    code, out, _ = go(*words, "--format", "json")
    assert code == 0
    return json.loads(out)


# --- programs --------------------------------------------------------------------------------------------------------


def test_cycles_as_json(go: Go) -> None:
    got = found(go, TRIANGLE, *FOUR)
    assert (got["cycles"], got["trace"], got["issued"]) == (91, [], 73)
    assert {k: got["memory"][k] for k in ("15", "16", "17", "18", "19")} == {
        "15": 15,
        "16": 1,
        "17": 2,
        "18": 13,
        "19": 15,
    }


def test_the_trace_as_json(go: Go) -> None:
    trace = found(go, TRIANGLE, *FOUR, "--trace")["trace"]
    assert [row["cycle"] for row in trace] == list(range(91))
    assert trace[35] == {
        "cycle": 35,
        "warp": 0,
        "label": "l09",
        "line": 21,
        "opcode": "binop",
        "instruction": "binop p = d % Tp",
        "mask": "0111",
        "stalled": [],
        "waiting": [],
        "ended": [],
    }
    assert (trace[16]["warp"], trace[16]["opcode"], trace[16]["mask"], trace[16]["stalled"]) == (None, None, None, [0])


def test_barriers_and_ended_warps_in_the_trace(go: Go) -> None:
    trace = found(go, TRIANGLE, "--threads", "16", "--warp-size", "4", "--trace")["trace"]
    assert (trace[81]["opcode"], trace[81]["warp"], trace[81]["waiting"]) == ("barrier", 3, [0, 1, 2])
    assert trace[-1]["ended"] == [0, 1, 2]


def test_the_text(go: Go) -> None:
    code, out, err = go(TRIANGLE, *FOUR)
    assert (code, err) == (0, "")
    assert out == (
        f"{TRIANGLE}: 4 threads in 1 warp, latency 10\n"
        "91 cycles, 73 instructions issued\n"
        "\n"
        "memory:\n"
        "   0: 0 1 2 3 4 5 6 7\n"
        "   8: 8 9 10 11 12 13 14 15\n"
        "  16: 1 2 13 15\n"
    )


def test_the_trace_as_text(go: Go) -> None:
    _, out, _ = go(TRIANGLE, *FOUR, "--trace")
    lines = out.splitlines()
    assert lines[0].split() == ["cycle", "warp", "mask", "instruction", "stalled", "at", "barrier"]
    assert lines[16].split() == ["15", "0", "1111", "l15:", "load", "x", "=", "i"]
    assert lines[17].split() == ["16", "stall", "0"]
    assert lines[36].split() == ["35", "0", "0111", "l09:", "binop", "p", "=", "d", "%", "Tp"]
    assert "91 cycles" in out


def test_a_picture(go: Go, tmp_path: Path) -> None:
    where = tmp_path / "t.svg"
    assert go(TRIANGLE, *FOUR, "-o", str(where)) == (0, "", "")
    told = [e.text for e in ET.parse(where).getroot().iter("{http://www.w3.org/2000/svg}title")]  # noqa: S314
    assert "cycle 34: warp 0 l23: sync 1000" in told
    assert "cycles 16 to 24: warp 0 waits for a load" in told
    _, out, _ = go(TRIANGLE, *FOUR, "--format", "svg")
    assert out == where.read_text()


def test_a_page(go: Go, tmp_path: Path) -> None:
    where = tmp_path / "t.html"
    assert go(TRIANGLE, *FOUR, "-o", str(where)) == (0, "", "")
    page = where.read_text()
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert "91 cycles" in page
    assert "l23: sync" in page
    assert "<script" not in page


def test_parameters(go: Go, simt: Callable[[str], str]) -> None:
    path = simt(".param n\nstore 0 = n\n")
    assert found(go, path, "--arg", "n=-0x10")["memory"] == {"0": -16}
    code, _, err = go(path)
    assert (code, f"{path}:1:8: error: parameter 'n' has no value" in err) == (2, True)


def test_values_that_json_does_not_have(go: Go, simt: Callable[[str], str]) -> None:
    path = simt("binop.double x = 1e999 - 1e999\nstore 0 = x\nstore 1 = 1e999\n")
    assert found(go, path)["memory"] == {"0": "nan", "1": "inf"}


def test_accesses_outside_memory_are_told(go: Go, simt: Callable[[str], str]) -> None:
    path = simt("binop a = Tid - 1\nstore a = 1\n")
    code, _, err = go(path)
    assert code == 1
    assert err == f"{path}:2:1: warning: a store of thread 0 at address -1 is lost: memory begins at 0\n"
    code, out, _ = go(path, "--format", "sarif")
    (result,) = json.loads(out)["runs"][0]["results"]
    assert (code, result["ruleId"]) == (1, "out-of-bounds")


def test_a_kernel_that_leaves_its_array_ends_as_in_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *A) { A[threadIdx.x + 5] = 1; }")
    words = [str(path), "--block", "32", "--array"]
    for command, sizes in (("machine", []), ("run", ["--grid", "1"])):
        assert [main([command, *words, f"A=zeros:{n}", *sizes]) for n in (37, 16)] == [0, 1]
        assert "out of bounds: store of A[16]" in capsys.readouterr().err


DEADLOCK = "binop p = Tid < 4\nbz p, e\nbarrier 1, threads\ne: sync\n"


def test_a_deadlock_is_explained(go: Go, simt: Callable[[str], str]) -> None:
    path = simt(DEADLOCK)
    words = (path, "--threads", "8", "--warp-size", "4")
    code, out, err = go(*words)
    assert (code, out) == (3, "")
    assert err.startswith(
        f"{path}:3:1: error: deadlock in cycle 6: warp 0 waits at barrier 1 in line 3 "
        "(4 of the 8 threads that it needs), warp 1 ended\n    barrier 1, threads\n    ^\n"
    )
    code, out, _ = go(*words, "--format", "json", "--trace")
    got = json.loads(out)
    assert (code, got["cycles"], len(got["trace"])) == (3, None, 6)
    assert got["deadlock"]["waiting"] == [{"warp": 0, "threads": [0, 1, 2, 3], "barrier": 1, "expected": 8, "line": 3}]
    assert got["deadlock"]["ended"] == [1]
    code, out, _ = go(*words, "--trace")
    assert (code, len(out.splitlines())) == (3, 7 + 2)
    code, out, _ = go(*words, "--format", "svg")
    assert (code, "cycle 4: warp 0 barrier 1, threads 1111" in out) == (3, True)


# --- kernels ---------------------------------------------------------------------------------------------------------

LAUNCH = ("--block", "8", "--grid", "3", "--arg", "w=24", "--arg", "h=2", "--array", "A=iota", "--warp-size", "4")


def test_a_kernel(go: Go) -> None:
    one = found(go, ADDSUB, *LAUNCH)
    two = found(go, ADDSUB, *LAUNCH, "--processors", "2")
    assert one["memory"] == two["memory"]
    assert one["memory"]["B"] == {str(i): (i % 24) * (1 - 2 * (i // 24)) for i in range(48)}
    assert one["issued"] == two["issued"]
    assert one["cycles"] * 2 == two["cycles"] * 3  # three blocks alike, two at a time
    code, out, _ = go(ADDSUB, *LAUNCH, "--processors", "2")
    assert code == 0
    assert out.startswith("addSub3: 3 blocks of 8 threads in 2 warps on 2 processors, latency 10\n")


def test_the_trace_of_a_kernel(go: Go) -> None:
    got = found(go, ADDSUB, *LAUNCH, "--processors", "2", "--trace")
    places = {(tuple(row["block"]), row["processor"]) for row in got["trace"]}
    assert places == {((0, 0, 0), 0), ((1, 0, 0), 1), ((2, 0, 0), 0)}
    assert max(row["cycle"] for row in got["trace"]) == got["cycles"] - 1
    assert {row["opcode"] for row in got["trace"]} >= {"load", "store", "binop", None}
    _, out, _ = go(ADDSUB, *LAUNCH, "--trace")
    assert out.splitlines()[0].split()[:4] == ["cycle", "block", "processor", "warp"]


BLOCK = ("--arg", "w=8", "--arg", "h=2", "--arg", "blockIdx.x=0")


def test_the_assembly_of_a_kernel_is_a_program(go: Go, simt: Callable[[str], str]) -> None:
    code, out, _ = go(ADDSUB, "--block", "8", "--assembly")
    assert code == 0
    got = found(go, simt(out), "--threads", "8", "--warp-size", "4", *BLOCK)
    kernel = found(go, ADDSUB, "--block", "8", "--warp-size", "4", "--arg", "w=8", "--arg", "h=2")
    assert got["cycles"] == kernel["cycles"]


def test_barrier_divergence_of_a_kernel_is_a_deadlock(go: Go, tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *A) {\n  if (threadIdx.x < 2)\n    __syncthreads();\n}\n")
    code, _, err = go(str(path), "--block", "4")
    assert code == 3
    assert f"{path}:3:5: error: deadlock" in err


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("frob x\n", "1:1"),
        ("jump nowhere\n", "1:6"),
        ("const x = 1\nsync\n", "2:1"),
        ("bz Tid, e\ne: const x = 1\n", "1:1"),
        ("barrier 0, 3\n", "1:1"),
        ("binop x = 1 +\n", "1:14"),
        ("l: const x = 1\nl: const x = 2\n", "2:1"),
        ("l: jump l\n", "1:4"),
        ("binop x = 1 << 99999\n", "1:1"),
        ("store 0 = nobody\n", "1:11"),
    ],
)
def test_bad_programs(text: str, place: str, go: Go, simt: Callable[[str], str]) -> None:
    path = simt(text)
    code, out, err = go(path, "--step-limit", "50")
    assert (code, out) == (2, "")
    first, source, caret, *advice = err.splitlines()
    assert first.startswith(f"{path}:{place}: error: ")
    line, column = map(int, place.split(":"))
    assert source.strip() == text.splitlines()[line - 1].strip()
    assert caret == " " * (3 + column) + "^"
    assert advice
    assert advice[0].strip()


@pytest.mark.parametrize(
    "words",
    [
        ["no such file.simt"],
        ["/.simt"],
        ["a\0b.simt"],
        [TRIANGLE, "--threads", "0"],
        [TRIANGLE, "--threads", "-4"],
        [TRIANGLE, "--threads", "four"],
        [TRIANGLE, "--threads", "9" * 5000],
        [TRIANGLE, "--threads", "1000000"],
        [TRIANGLE, "--warp-size", "0"],
        [TRIANGLE, "--warp-size", "99999"],
        [TRIANGLE, "--latency", "0"],
        [TRIANGLE, "--latency", "-1"],
        [TRIANGLE, "--latency", "1e9"],
        [TRIANGLE, "--latency", "99999999"],
        [TRIANGLE, "--step-limit", "0"],
        [TRIANGLE, "--step-limit", "5"],
        [TRIANGLE, "--arg", "n=1"],
        [TRIANGLE, "--arg", "n"],
        [TRIANGLE, "--arg", "n=x"],
        [TRIANGLE, "--arg", "n=" + "9" * 5000],
        [TRIANGLE, "--arg", "n=18446744073709551616"],
        [TRIANGLE, "--block", "4"],
        [TRIANGLE, "--grid", "4"],
        [TRIANGLE, "--processors", "4"],
        [TRIANGLE, "--array", "m=iota"],
        [TRIANGLE, "--assembly"],
        [TRIANGLE, "--kernel", "k"],
        [TRIANGLE, "--format", "yaml"],
        [TRIANGLE, "-o", "/no/such/dir/out.svg"],
        [TRIANGLE, "--threads", "65536", "--trace"],
        [ADDSUB],
        [ADDSUB, "--block", "0"],
        [ADDSUB, "--block", "2048", "--arg", "w=1", "--arg", "h=1"],
        [ADDSUB, "--block", "32", "--threads", "4"],
        [ADDSUB, "--block", "32"],
        [ADDSUB, "--block", "32", "--arg", "w=1", "--arg", "h=x"],
        [ADDSUB, "--block", "32", "--arg", "w=1", "--arg", "h=1", "--warp-size", "0"],
        [ADDSUB, "--block", "32", "--arg", "w=1", "--arg", "h=1", "--latency", "0"],
        [ADDSUB, "--block", "32", "--arg", "w=1", "--arg", "h=1", "--processors", "0"],
        [ADDSUB, "--block", "32", "--arg", "w=1", "--arg", "h=1", "--array", "C=iota"],
    ],
)
def test_bad_words_are_one_clear_sentence(words: list[str], go: Go) -> None:
    code, out, err = go(*words)
    assert (code, out) == (2, "")
    assert "error: " in err


def test_a_file_that_is_no_text(go: Go, tmp_path: Path) -> None:
    path = tmp_path / "k.simt"
    path.write_bytes(b"\xff\xfe\x00")
    code, _, err = go(str(path))
    assert (code, "not a text" in err) == (2, True)
