"""Oclgrind, a GPU emulator that is none of ours, beside `run`: known kernels, random ones, and faults that are seen.

The quick run has a few kernels, always the same; `python -m tests.oracles.compare` tries as many as it is told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from logic.metrics import HARDWARE, Hardware
from semantics.cuda import read_cuda
from tests.oracles import compare
from tests.oracles.cases import BEFORE, INT, Case, Global
from tests.oracles.compare import Seen, Told, Verdict, build, claimed, emulated, judged, missing, told, tried
from tests.oracles.kernels import case

here = pytest.mark.skipif(bool(missing()), reason="; ".join(missing()))
NVIDIA = HARDWARE["nvidia"]
RANDOM = range(20, 32)


def known(cuda: str, marked: str = "", block: tuple[int, int, int] = (32, 1, 1)) -> Case:
    """A kernel that writes an array B; `marked` is its body in OpenCL C, where it differs."""
    names = {"tx": 0, "ty": 1}
    ours = "".join(f"int {name} = threadIdx.{'xy'[axis]}; " for name, axis in names.items())
    theirs = "".join(f"int {name} = get_local_id({axis}); " for name, axis in names.items())
    body = (marked or cuda).replace("__shared__", "__local").replace("__syncthreads()", "barrier(CLK_LOCAL_MEM_FENCE)")
    b = Global("B", INT, "own", 2048, [i * 7 % 11 for i in range(2048)])
    return Case(
        "known",
        block,
        (1, 1, 1),
        3,
        f"__global__ void known(int *B, int n) {{ {ours}{cuda} }}\n",
        f"__kernel void known(__global int *B, int n, __global volatile long *mark) {{ {theirs}{body} }}\n",
        (b,),
    )


STRIDE = known("B[2 * tx] = tx;")
ROWS = known("__shared__ int S[32][32]; S[tx][0] = tx; __syncthreads(); B[tx] = S[tx][0];")
PADDED = known("__shared__ int S[32][33]; S[tx][0] = tx; __syncthreads(); B[tx] = S[tx][0];")
BESIDE = known("if (tx & 1) B[tx] = 1; B[tx + 32] = 2;", "if (T(1, tx & 1)) B[tx] = 1; B[tx + 32] = 2;")
TURNS = known(
    "for (int i = 0; i < (tx & 3); i++) B[tx + 32 * i] = i;",
    "for (int i = 0; TURN(1), T(2, i < (tx & 3)); i++) B[tx + 32 * i] = i; LEAVE(1);",
)
FLAT = known("B[tx + 8 * ty] += ty;", block=(8, 8, 1))
SWITCH = known(
    "switch (tx & 3) { case 0: B[tx] = 1; case 1: B[tx + 32] = 2; break; default: B[tx] = 3; }",
    "switch (W(1, tx & 3)) { case 0: SECTION(1, 0); B[tx] = 1; case 1: SECTION(1, 1); B[tx + 32] = 2; break; "
    "default: SECTION(1, 2); B[tx] = 3; } END(1);",
)
FALLEN = known(
    "switch (tx & 1) { case 0: B[tx] = 1; case 5: B[tx + 32] = 2; case 1: B[tx + 64] = 3; }",
    "switch (W(1, tx & 1)) { case 0: SECTION(1, 0); B[tx] = 1; case 5: SECTION(1, 1); B[tx + 32] = 2; "
    "case 1: SECTION(1, 2); B[tx + 64] = 3; } END(1);",
)
"""Of kernel 902: our test of a section that others fall into may part lanes once more, which the marks explain."""
WAY_OUT = known(
    "int i = 0; while (true) { i++; if (i > (tx & 3)) { B[tx] = i; break; } }",
    "int i = 0; while (true) { TURN(1); i++; if (T(2, i > (tx & 3))) { LEAVE(1); B[tx] = i; break; } } LEAVE(1);",
)

COSTS: dict[str, tuple[Case, tuple[int, int, int]]] = {
    # by hand: sectors, conflicts, divergences of all warps
    "stride": (STRIDE, (8, 0, 0)),
    "rows of 32": (ROWS, (4, 62, 0)),
    "rows of 33": (PADDED, (4, 0, 0)),
    "lanes that meet again": (BESIDE, (4 + 4, 0, 1)),
    "lanes that leave a loop in turn": (TURNS, (12, 0, 3)),
    "a block in two dimensions": (FLAT, (16, 0, 0)),
    "sections": (SWITCH, (12, 0, 2)),
    "sections that lanes fall into": (FALLEN, (4 + 4 + 4, 0, 1)),
    "the only way out of a loop": (WAY_OUT, (4, 0, 3)),
}


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("emulator"))


def verdict(
    c: Case, emulator: Path, folder: Path, options: tuple[str, ...] = (), hardware: Hardware = NVIDIA
) -> Verdict:
    (seen,) = emulated([c], emulator, options)
    file = folder / "known.cu"
    file.write_text(BEFORE["cuda"] + c.cuda)
    return judged(c, read_cuda(str(file), c.name).kernel, seen, hardware)


def test_a_log_is_gone_on_with(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert told(log) == (None, {})
    log.write_text("1250 1275 above 4 equal 21\n# k1280: different: sectors\n1275 1300 different 1 equal 24\n")
    assert told(log) == (1300, {"above": 4, "equal": 45, "different": 1})
    log.write_text(log.read_text() + "1310 1320 equal 10\n")
    with pytest.raises(ValueError, match="1300"):
        told(log)


@here
def test_known_costs(emulator: Path, tmp_path: Path) -> None:
    for name, (c, costs) in COSTS.items():
        (seen,) = emulated([c], emulator)
        assert tuple(sum(w[k] for w in seen.warps) for k in range(3)) == costs, name
        assert verdict(c, emulator, tmp_path).kind in ("equal", "above"), name


@pytest.mark.whole
@here
def test_random_kernels(emulator: Path) -> None:
    found = tried(RANDOM, str(emulator))
    assert [v for v in found if v.kind not in ("equal", "above")] == []
    assert sum(v.kind == "equal" for v in found) > len(RANDOM) // 2


FAULTS: dict[str, tuple[Case, tuple[str, ...]]] = {
    "sectors of another size": (STRIDE, ("--sector", "64")),
    "lanes in another order": (known("B[tx + 8 * ty] = 1;", block=(8, 12, 1)), ("--order", "yx")),
    "warps of another size": (ROWS, ("--warp", "16")),
    "lanes that meet too late": (BESIDE, ("--late",)),
}


@here
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_emulator_is_seen(fault: str, emulator: Path, tmp_path: Path) -> None:
    c, options = FAULTS[fault]
    assert verdict(c, emulator, tmp_path).kind == "equal"
    assert verdict(c, emulator, tmp_path, options).kind == "different"


CHANGED: dict[str, tuple[Case, Callable[[str], str], Hardware, str]] = {
    "sectors of another size": (STRIDE, str, replace(NVIDIA, sector=64), "sectors in all: 4, by the emulator 8"),
    "banks of another number": (PADDED, str, replace(NVIDIA, banks=16), ""),
    "lanes that meet too late": (
        BESIDE,
        lambda text: text.replace("B[tx] = 1; B[tx + 32] = 2;", "{ B[tx] = 1; B[tx + 32] = 2; } else B[tx + 32] = 2;"),
        NVIDIA,
        "",
    ),
    "lanes that do not meet at the way out": (
        WAY_OUT,
        lambda text: text.replace("B[tx] = i; break;", "B[tx] = i; n = 0; } if (!n) { break;"),
        NVIDIA,
        "sectors",
    ),
    "lanes in another order": (
        known("if (tx < 4) B[tx + 8 * ty] = 1;", "if (T(1, tx < 4)) B[tx + 8 * ty] = 1;", (8, 12, 1)),
        lambda text: text.replace("threadIdx.x", "(threadIdx.y * 8 + threadIdx.x) / 12").replace(
            "ty = threadIdx.y", "ty = (threadIdx.y * 8 + threadIdx.x) % 12"
        ),
        NVIDIA,
        "",
    ),
}


@here
@pytest.mark.parametrize("change", CHANGED)
def test_a_fault_of_ours_is_seen(change: str, emulator: Path, tmp_path: Path) -> None:
    c, edit, hardware, why = CHANGED[change]
    assert verdict(c, emulator, tmp_path).kind in ("equal", "above")
    found = verdict(replace(c, cuda=edit(c.cuda)), emulator, tmp_path, hardware=hardware)
    assert (edit(c.cuda) != c.cuda) or hardware != NVIDIA
    assert found.kind == "different"
    assert why in found.why


def test_a_bound_below_the_emulator_is_seen(tmp_path: Path) -> None:
    """The claim of 8 sectors stands beside 8 of an emulator, and not beside 9."""
    file = tmp_path / "known.cu"
    file.write_text(STRIDE.cuda)
    reading = read_cuda(str(file), "known")

    def told(sectors: int) -> list[Told]:
        found: list[Told] = []
        claimed(STRIDE, reading, Seen([(sectors, 0, 0, 0)]), found.append)
        return found

    assert [kind for kind, _ in told(8)] == ["equal to the dearest warp"] * 3
    assert ("false", "sectors is certified to be 8 at most, and is 9") in told(9)


@here
def test_another_value_is_seen(emulator: Path, tmp_path: Path) -> None:
    found = verdict(replace(TURNS, cuda=TURNS.cuda.replace("= i;", "= i + 1;")), emulator, tmp_path)
    assert found.why == "B[1] is 1, not 0"


@here
def test_what_is_not_lined_up_is_told(emulator: Path, tmp_path: Path) -> None:
    """A loop without marks: two turns would be one access."""
    c = replace(TURNS, opencl=TURNS.opencl.replace("TURN(1), T(2, i < (tx & 3))", "i < (tx & 3)"))
    assert verdict(c, emulator, tmp_path).why == "the emulator: an access that is not lined up"


def test_a_kernel_depends_on_its_seed_alone() -> None:
    case(8)
    first = case(7)
    assert (first.cuda, first.opencl) == (case(7).cuda, case(7).opencl)
    assert first.cuda != case(8).cuda


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(compare, "HEADER", Path("nowhere/Plugin.h"))
    monkeypatch.setattr("sys.argv", ["compare", "--kernels", "1"])
    assert compare.main() == 1
    out = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("nvcc")]
    assert out[0] == "g++ is not here: apt install g++"
    assert all(": apt install " in line for line in out)
