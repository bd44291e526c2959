"""What is legal CUDA C, by nvcc and by us: agreement on random kernels, and disagreement that is seen."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.oracles import legal
from tests.oracles.cases import BEFORE
from tests.oracles.kernels import case
from tests.oracles.legal import FAULTS, Compiled, faults, of_files, ours, trials

NVCC = shutil.which("nvcc")


@pytest.mark.skipif(NVCC is None, reason="nvcc is not here")
def test_random_kernels_are_legal(tmp_path: Path) -> None:
    found = Counter(kind for kind, _ in trials(4, 40, tmp_path))
    assert found.keys() <= {"equal bytes", "fewer bytes by nvcc", "padding"}
    assert found.total() == 4


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_refused_by_us(fault: str, tmp_path: Path) -> None:
    c = case(3)
    text = FAULTS[fault](c.cuda)
    assert text != c.cuda
    file = tmp_path / "fault.cu"
    file.write_text(BEFORE["cuda"] + text)
    assert ours(file, c.name)


@pytest.mark.parametrize(
    ("word", "body", "kind"),
    [
        (Compiled(True, "", {}), "*A = 1;", "both accept"),
        (Compiled(False, "error: no", {}), "*A = 1;", "only we accept"),
        (Compiled(True, "", {}), "*A = nothing;", "only nvcc accepts"),
        (Compiled(False, "error: no", {}), "*A = nothing;", "both refuse"),
    ],
)
def test_disagreement_is_seen(
    word: Compiled, body: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legal, "compiled", lambda *_, **__: word)
    file = tmp_path / "one.cu"
    file.write_text(f"__global__ void k(int *A) {{ {body} }}\n")
    assert [k for k, _ in of_files([file])] == [kind]


def test_a_fault_that_a_compiler_takes_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legal, "compiled", lambda *_, **__: Compiled(True, "", {}))
    assert [kind for kind, _ in faults(2, 0, tmp_path)] == ["only nvcc accepts"] * 2


def test_bytes_that_differ_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = next(s for s in range(100) if "__shared__" in case(s).cuda)
    used = {f"_Z{len(f'k{seed}')}k{seed}PKi": (32, 1 << 20)}
    monkeypatch.setattr(legal, "compiled", lambda *_, **__: Compiled(True, "", used))
    assert [kind for kind, _ in trials(1, seed, tmp_path)] == ["shared memory"]
