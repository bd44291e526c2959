"""`warpbound wcet`, from a file to what is printed; nothing that can be typed ends in a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checker.analysis.wcet import sound
from checker.cli import main, wcet

pytestmark = pytest.mark.usefixtures("bounds_once")

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
TRIANGLE = str(PROOFS / "triangleSum/kernel.simt")
GCD = str(PROOFS / "gcdSteps/kernel.simt")
COLUMNS = str(PROOFS / "columnNorms/kernel.simt")
VECTOR = str(PROOFS / "vectorAdd/kernel.cu")
LIST = str(PROOFS / "listRanking/kernel.cu")
SIXTEEN = ("--threads", "16", "--warp-size", "4", "--latency", "10")
Go = Callable[..., tuple[int, str, str]]


@pytest.fixture
def go(capsys: pytest.CaptureFixture[str]) -> Go:
    """The exit code, standard output and standard error of `warpbound wcet`."""

    def run(*words: str) -> tuple[int, str, str]:
        try:
            code = main(["wcet", *words])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else -1
        printed = capsys.readouterr()
        assert "internal error" not in printed.err
        assert "Traceback" not in printed.err
        return code, printed.out, printed.err

    return run


def found(go: Go, *words: str) -> Any:
    code, out, _ = go(*words, "--format", "json")
    assert code == 0
    return json.loads(out)


@pytest.fixture
def simt(tmp_path: Path) -> Callable[[str], str]:
    """The path of a program of this text."""

    def write(text: str) -> str:
        path = tmp_path / "k.simt"
        path.write_text(text)
        return str(path)

    return write


# --- estimates -------------------------------------------------------------------------------------------------------


def test_the_paper_as_json(go: Go) -> None:
    got = found(go, TRIANGLE, *SIXTEEN, "--mode", "paper")
    assert (got["estimate"], got["mode"], got["machine"], got["work_span"]) == (804, "paper", 685, None)
    assert got["abstract_warp"] == "(7,0) [(2,0) (7,1) mem (3,0) bar (4,0)] (4,0)"
    assert got["iterations"] == [{"line": 19, "warps": [4, 8, 12, 16]}]
    assert got["divergent"] == [19, 22]


def test_the_bound_as_json(go: Go) -> None:
    got = found(go, GCD, "--threads", "16", "--warp-size", "8")
    assert (got["estimate"], got["mode"], got["machine"], got["evidence"]) == (83, "sound", 83, "enumerated")
    assert (got["work_span"], got["work_span_evidence"]) == (134, "enumerated")
    assert "its guard depends on 'b'" in got["problem"]


def test_a_formula_without_values(go: Go) -> None:
    got = found(go, COLUMNS, *SIXTEEN)
    assert (got["estimate"], got["machine"], got["formula"]) == (None, None, "32 + 41*max(0, n)")


def test_as_text(go: Go) -> None:
    code, out, _ = go(COLUMNS, *SIXTEEN, "--arg", "n=0xA")
    assert code == 0
    assert out.splitlines() == [
        f"{COLUMNS}: 16 threads in 4 warps, latency 10",
        "",
        "  formula    32 + 41*max(0, n) cycles (certified)",
        "  estimate   442 cycles (a bound, certified)",
        "  machine    412 cycles, estimate / machine 1.073",
        "  W/P + S    530 cycles (certified)",
    ]


@pytest.mark.parametrize(
    ("limit", "told"), [("blockIdx.x + n", " cycles each block (certified)"), ("n", " cycles (certified)")]
)
def test_a_formula_of_each_block_says_so(go: Go, tmp_path: Path, limit: str, told: str) -> None:
    source = tmp_path / "k.cu"
    source.write_text(f"__global__ void k(int n) {{ int x = 0; for (int i = 0; i < {limit}; i++) x = x + i; }}")
    _, out, _ = go(str(source), "--block", "32", "--grid", "3")
    assert next(line for line in out.splitlines() if "formula" in line).endswith(told)


def test_the_paper_as_text(go: Go) -> None:
    _, out, _ = go(TRIANGLE, *SIXTEEN, "--mode", "paper")
    assert "  estimate   804 cycles (the paper's estimate, no bound)" in out
    assert "  iterations of the loop in line 19: 4, 8, 12, 16" in out
    assert "  divergent branches: in line 19, in line 22" in out


def test_branches_of_one_line_are_counted(go: Go, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(
        "__global__ void k(int *A, int n) {\n"
        "if (threadIdx.x < n) A[threadIdx.x] = 1; if (threadIdx.x == 3) A[0] = 2;\n"
        "if (threadIdx.x == 5) A[1] = 2;\n}\n"
    )
    _, out, _ = go(str(source), "--block", "32", "--arg", "n=7")
    assert "  divergent branches: 2 in line 2, in line 3\n" in out


def test_a_kernel_on_processors(go: Go) -> None:
    launch = (VECTOR, "--block", "64", "--warp-size", "8", "--grid", "3", "--at", "numElements=160")
    two = found(go, *launch, "--processors", "2")
    one = found(go, *launch)
    assert two["formula"] == "244"
    assert one["formula"] == "366"
    for got in (one, two):
        assert got["machine"] <= got["estimate"] <= min(got["bounds"].values())
    assert two["machine"] < one["machine"]


def test_memory_may_end_a_loop_earlier(go: Go) -> None:
    got = found(go, LIST, "--block", "8", "--warp-size", "8", "--at", "N=64,len=12", "--array", "next=ones")
    assert got["evidence"] == "certified"
    assert got["machine"] <= got["estimate"] <= 1.3 * got["machine"]


def test_what_is_assumed_is_told(go: Go) -> None:
    launch = (VECTOR, "--block", "64", "--assume", "numElements <= 64")
    code, out, _ = go(*launch, "--at", "numElements=60")
    assert code == 0
    assert out.endswith("given: numElements <= 64\n")
    assert found(go, *launch)["assumptions"] == ["numElements <= 64"]
    code, out, err = go(*launch, "--at", "numElements=65")
    assert (code, out) == (2, "")
    assert "numElements <= 64 is assumed, and does not hold there" in err


DEADLOCKS = {
    "a part of a warp": "bz Tid, e\nbarrier 0\ne: sync",
    "more than there are": "barrier 0, 17",
    "barriers of their own": "binop w = Tid / 8\nbarrier w",
    "two barriers": "binop w = Tid / 8\nbz w, e\nbarrier 1\njump m\ne: barrier 0\nm: sync",
    "not the last time": "barrier 0\nbinop w = Tid / 8\nbz w, e\nbarrier 0, 16\ne: sync",
}


@pytest.mark.parametrize(
    ("mode", "text"),
    [*(("sound", text) for text in DEADLOCKS.values()), ("paper", DEADLOCKS["barriers of their own"])],
    ids=[*DEADLOCKS, "in mode paper"],
)
def test_a_barrier_that_waits_for_ever(text: str, mode: str, go: Go, simt: Callable[[str], str]) -> None:
    """What never ends takes no number of cycles: there is no figure."""
    path = simt(text)
    code, out, err = go(path, "--threads", "16", "--warp-size", "8", "--mode", mode, "--format", "json")
    assert (code, ": error: deadlock in cycle" in err) == (3, True)
    got = json.loads(out)
    assert (got["estimate"], got["machine"], got["work_span"], got["verdict"]) == (None, None, None, "deadlock")
    assert "certified" not in out
    code, out, _ = go(path, "--threads", "16", "--warp-size", "8", "--mode", mode)
    assert (code, "deadlock in cycle" in out, "bound" in out, "certified" in out) == (3, True, False, False)


@pytest.mark.parametrize("text", [*DEADLOCKS.values(), "barrier Tid", "barrier 0, Tid", "load w = 0\nbarrier w"])
def test_what_is_said_where_a_barrier_may_wait(
    text: str, go: Go, simt: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where the machine is not run, or stops for another reason."""
    monkeypatch.setattr(wcet, "MOST_CYCLES", 0)
    path = simt(text)
    for form in ("text", "json", "markdown"):
        code, out, _ = go(path, "--threads", "16", "--warp-size", "8", "--format", form)
        assert (code, "certified" in out, "enumerated" in out) == (1, False, False)
        assert "no barrier waits for ever, which is not proved" in out
    code, out, _ = go(simt(f".param n\n{text}\nbinop x = n + 1"), "--threads", "16", "--warp-size", "8")
    assert (code, "certified" in out) == (1, False)


@pytest.mark.parametrize(
    "text",
    [
        "barrier 0",
        "barrier 0, 16",
        "binop w = Tid / 8\nbarrier w, 8",
        "binop w = 1 + 2\nbarrier w\nbarrier 0, threads",
        "binop w = Tid / 8\nbz w, e\nbarrier 1\ne: sync",
    ],
)
def test_barriers_that_let_all_go(text: str, go: Go, simt: Callable[[str], str]) -> None:
    code, out, _ = go(simt(text), "--threads", "16", "--warp-size", "8")
    assert (code, "given" in out) == (0, False)


def test_a_value_that_the_machine_lacks_is_asked_for(go: Go, tmp_path: Path) -> None:
    path = tmp_path / "half.cu"
    path.write_text("__global__ void k(int *A, int w, int h) { for (int i = 0; i < w; i++) A[i] = 1; }")
    code, _, err = go(str(path), "--block", "32", "--at", "w=4")
    assert (code, err) == (
        0,
        "note: the machine does not run it: parameter 'h' has no value. Give one: --arg h=VALUE.\n",
    )


def test_barriers_that_a_part_of_a_block_may_reach(go: Go, tmp_path: Path) -> None:
    """Both sides have a barrier: the machine goes on where all threads take one side, and stops where they do not."""
    path = tmp_path / "apart.cu"
    sides = "{ A[0] = 1; __syncthreads(); } else { A[1] = 1; __syncthreads(); }"
    path.write_text(f"__global__ void k(int *A, int n) {{ if (threadIdx.x < n) {sides} }}")
    code, out, err = go(str(path), "--block", "64", "--at", "n=7")
    assert code == 3
    assert "deadlock in cycle" in err
    assert "bound" not in out
    code, out, err = go(str(path), "--block", "64")
    assert (code, err) == (1, "")
    assert out.endswith("given: no barrier waits for ever, which is not proved\n")
    assert "certified" not in out
    code, out, err = go(str(path), "--block", "64", "--at", "n=64")
    assert (code, err) == (0, "")
    assert "(if no barrier waits for ever)" in out  # the formula, which is for all n
    assert found(go, str(path), "--block", "64", "--at", "n=64")["formula_evidence"] == "conditional"
    path.write_text("__global__ void k(int *A, int n) { if (n > 3) { A[0] = 1; __syncthreads(); } }")
    code, out, _ = go(str(path), "--block", "64", "--at", "n=7")
    assert code == 0
    assert "given" not in out


def test_output_to_a_file(go: Go, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    assert go(TRIANGLE, *SIXTEEN, "--mode", "paper", "--format", "json", "-o", str(path)) == (0, "", "")
    assert json.loads(path.read_text())["estimate"] == 804


# --- no estimate -----------------------------------------------------------------------------------------------------


def test_no_bound_says_which_loop(go: Go, simt: Callable[[str], str]) -> None:
    path = simt("load k = Tid\nl: bz k, e\nload k = k\njump l\ne: sync")
    code, out, err = go(path, "--threads", "4", "--format", "json")
    assert (code, json.loads(out)["estimate"]) == (1, None)
    assert f"{path}:2:4: error: no bound on the instructions: no potential was found for this loop" in err
    assert "Bound its loops by parameters" in err
    code, _, err = go(path, "--threads", "4", "--mode", "paper")
    assert code == 1
    assert "its test depends on what memory holds" in err


def test_no_bound_without_values(go: Go, simt: Callable[[str], str]) -> None:
    path = simt(".param n\nconst b = n\nl: bz b, e\nbinop b = b / 2\njump l\ne: sync")
    code, _, err = go(path, "--threads", "4")
    assert (code, "--at n=8" in err or "loop invariant" in err) == (1, True)
    assert found(go, path, "--threads", "4", "--at", "n=-8")["estimate"] > 0


def assumed(*facts: str) -> tuple[str, ...]:
    return tuple(word for fact in facts for word in ("--assume", fact))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((TRIANGLE, "--threads", "0"), "--threads 0: not a sensible number"),
        ((TRIANGLE, "--threads", "-4"), "--threads -4: not a sensible number"),
        ((TRIANGLE, "--threads", "99999999"), "--threads 99999999: not a sensible number"),
        ((TRIANGLE, "--threads", "4", "--warp-size", "0"), "--warp-size 0: not a sensible number"),
        ((TRIANGLE, "--warp-size", "0"), "--warp-size 0: not a sensible number"),
        ((TRIANGLE, "--latency", "0"), "--latency 0: not a sensible number"),
        ((TRIANGLE, "--latency", "99999999999"), "--latency 99999999999: not a sensible number"),
        ((TRIANGLE, "--latency", "ten"), "invalid int value"),
        ((TRIANGLE, "--mode", "exact"), "invalid choice"),
        ((TRIANGLE, "--block", "32"), "--block is for kernels"),
        ((TRIANGLE, "--processors", "2"), "--processors is for kernels"),
        ((TRIANGLE, "--assume", "n > 0"), "--assume is for kernels"),
        ((TRIANGLE, "--at", "n=4"), "no parameter 'n'"),
        ((TRIANGLE, "--at", "n"), "not NAME=VALUE"),
        ((COLUMNS, "--at", "n=4", "--arg", "n=5"), "--arg gives it another value"),
        ((COLUMNS, "--at", f"n={10**30}"), "not a whole number of 64 bits"),
        ((COLUMNS, "--mode", "paper"), "--mode paper needs the values of n"),
        (("no.simt",), "no.simt"),
        (("no.cu", "--block", "8"), "no.cu"),
        ((str(PROOFS),), "proofs"),
        ((VECTOR, "--threads", "8"), "--threads is for programs"),
        ((VECTOR, "--block", "0"), "not a dimension"),
        ((VECTOR, "--block", "2048"), "more than 1024 threads"),
        ((VECTOR, "--block", "64", "--at", "n=3"), "kernel vectorAdd has no parameter 'n'"),
        ((VECTOR, "--block", "64", "--arg", "numElements=x"), "'numElements' is int"),
        ((VECTOR, "--block", "64", "--processors", "0"), "--processors 0"),
        ((VECTOR, "--block", "64", "--warp-size", "-1"), "--warp-size -1"),
        ((VECTOR, "--block", "64", "--latency", "0"), "--latency 0"),
        ((VECTOR, "--block", "64", "--grid", "70000"), "70000 blocks"),
        ((VECTOR, "--block", "64", "--grid", "99999999999"), "not a dimension"),
        ((VECTOR, "--block", "64", "--assume", "numElements >"), "--assume"),
        ((VECTOR, "--block", "64", "--array", "A=what"), "--array A=what: not known"),
        ((VECTOR, "--block", "64", "--array", "Z=ones"), "kernel vectorAdd has no global array 'Z'"),
        (
            (VECTOR, "--block", "64", *assumed("numElements > 5", "numElements < 3")),
            "no launch satisfies what is assumed",
        ),
        (
            (VECTOR, "--block", "64", "--grid", "3", *assumed("blockIdx.x <= 1")),
            "blockIdx.x <= 1 is assumed, and does not",
        ),
    ],
)
def test_what_cannot_be_used_is_told_in_a_sentence(go: Go, words: tuple[str, ...], told: str) -> None:
    code, out, err = go(*words)
    assert (code, out) == (2, "")
    assert told in err


def test_a_program_of_no_known_shape(go: Go, simt: Callable[[str], str]) -> None:
    path = simt("const x = 1\njump l\nl: const x = 2")
    code, _, err = go(path)
    assert code == 2
    assert err.startswith(f"{path}:2:1: error: this jump is part of no choice or loop")
    assert "    jump l\n    ^" in err


def test_a_solvers_word_is_enough_where_the_user_says_so(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound.Certified, "engines", ("z3",))
    code, out, _ = go(COLUMNS, *SIXTEEN, "--arg", "n=10")
    assert code == 1
    assert "  estimate   442 cycles (a bound, solver-backed)" in out.splitlines()
    assert go(COLUMNS, *SIXTEEN, "--arg", "n=10", "--accept", "solver-backed")[0] == 0
