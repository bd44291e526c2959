"""A small sample of the hostile sources (`python -m tests.mutants.sources` tries thousands)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.mutants.limited import Used, limited
from tests.mutants.sources import FAMILIES, READ, REFUSED, ROOT, Outcome, found, run, source, table

SEEDS = found((ROOT / "proofs",))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_hostile_source_is_read_or_refused(name: str) -> None:
    for outcome in run([name], 1, SEEDS, start=1):
        assert not outcome.fault or outcome.fault.startswith("took"), outcome  # seconds are for `main`, not for CI


def test_sources_are_the_same_again_and_differ() -> None:
    for name in FAMILIES:
        assert source(name, 7, SEEDS) == source(name, 7, SEEDS)
        assert len({source(name, seed, SEEDS) for seed in range(20)}) > 3


def test_what_a_process_used_is_told() -> None:
    def tells() -> int:
        print("told")
        return 2

    used = limited(tells, 5, 8 << 30)
    assert (used.code, used.said.strip()) == (2, "told")

    def raises() -> int:
        raise KeyError("lost")

    assert limited(raises, 5, 8 << 30).code == 70

    def dies() -> int:
        signal.raise_signal(signal.SIGKILL)
        return 0

    assert limited(dies, 5, 8 << 30).code == -9


@pytest.mark.parametrize(
    ("code", "cpu", "memory", "said", "fault"),
    [
        (READ, 1.0, 1000, "", ""),
        (REFUSED, 1.0, 1000, "a word", ""),
        (-11, 1.0, 1000, "", "ended with -11: []"),
        (70, 1.0, 1000, "Traceback ..\nKeyError: 'x'", "ended with 70: [\"KeyError: 'x'\"]"),
        (READ, 11.0, 1000, "", "took 11.0 s"),
        (READ, 1.0, 3 << 20, "", "took 3072 MiB"),
    ],
)
def test_what_a_fault_is(code: int, cpu: float, memory: int, said: str, fault: str) -> None:
    outcome = Outcome("truncated", 0, 10, Used(code, cpu, cpu, memory, said))
    assert outcome.fault == fault
    assert table([outcome]).endswith(f"10 bytes: {fault}" if fault else "| 0 |\n")


def test_sources_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.cu").write_text("x")
    (tmp_path / "empty.cu").write_text("")
    assert found((tmp_path,)) == (b"x",)
