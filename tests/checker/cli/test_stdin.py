"""`-` for standard input, in each command that reads a file; messages and documents call it so."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Final

import pytest

from checker.cli import main

PROOFS: Final = Path(__file__).resolve().parents[3] / "proofs"
Capture = pytest.CaptureFixture[str]
KERNEL: Final = (PROOFS / "vectorAdd" / "kernel.cu").read_text()
COMMANDS: Final = {
    "bound - --metric sectors --block 256 --format json": KERNEL,
    "coalesce - --block 256": KERNEL,
    f"compare {PROOFS}/vectorAdd/kernel.cu - --metric conflicts": KERNEL,
    "run - --block 256 --grid 1 --arg numElements=64": KERNEL,
    "check - --metric sectors --block 32": "__global__ void k(int *A) {\n//@ potential 4;\nA[threadIdx.x] = 1; }",
    "check -": (PROOFS / "vectorAdd" / "sectors.json").read_text(),
    "check - --tree": (PROOFS / "addSub3" / "sectors.qhl").read_text(),
    "recheck -": (PROOFS / "vectorAdd" / "sectors.json").read_text(),
    "show -": (PROOFS / "vectorAdd" / "sectors.json").read_text(),
    "report -": (PROOFS / "vectorAdd" / "sectors.json").read_text(),
    f"report {PROOFS}/vectorAdd/sectors.json --source -": KERNEL,
    "machine - --threads 4 --warp-size 4": (PROOFS / "triangleSum" / "kernel.simt").read_text(),
    "machine - --block 32 --arg numElements=8": KERNEL,
}


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize(("words", "text"), COMMANDS.items(), ids=COMMANDS)
def test_each_command(words: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    given(monkeypatch, text)
    assert main(words.split()) == 0
    told = capsys.readouterr()
    assert told.out
    assert "warpbound-" not in told.out + told.err


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        ("bound -", "", "there is no kernel in '-'"),
        ("bound -", "__global__ void k(int *A) {\n  A[0] = x;\n}", "-:2:10: error: use of undeclared identifier 'x'"),
        ("recheck -", "[", "-:1:2: error: '-' is no JSON document"),
        ("check -", "kernel k begin x <- 1; end", "-:1:"),
        ("report - -", "", "'-' is standard input, which can be read once"),
    ],
)
def test_messages(words: str, text: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    given(monkeypatch, text)
    assert main([*words.split(), "--format", "json"]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert "warpbound-" not in told.out + told.err
    assert json.loads(told.out)


def test_a_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    text = '{"format": "warpbound baseline", "version": 1, "rows": []}'
    new = tmp_path / "new.json"
    new.write_text(text)
    given(monkeypatch, text)
    assert main(["diff", "-", str(new)]) == 0
    assert capsys.readouterr().out == "nothing to compare\n"


def test_closed(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["bound", "-"]) == 2
    assert "cannot read standard input: it is closed" in capsys.readouterr().err


def test_words_that_are_left_over_are_told_by_the_command(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as left:
        main(["recheck", "x.json", "--nope"])
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert told.splitlines() == [
        "warpbound recheck: error: unrecognized arguments: --nope",
        "  warpbound recheck --help tells more.",
        "  usage: warpbound recheck [OPTIONS] CERT.json [CERT.json ...]",
    ]


def test_a_table_is_measured_by_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Columns are as wide as what is printed, not as the path of the file behind `-`."""
    other = tmp_path / "k.cu"
    other.write_text("__global__ void k(int *A) { A[0] = 1; }\n")
    monkeypatch.chdir(tmp_path)
    given(monkeypatch, "__global__ void first(int *A) { A[0] = 1; }\n")
    assert main(["bound", "-", "k.cu", "--metric", "sectors", "--block", "32", "--no-cache", "--jobs", "1"]) == 0
    head, one, two = capsys.readouterr().out.splitlines()[:3]
    assert one.index("sectors") == two.index("sectors") == head.index("metric") == len("kernel  k.cu:1  ")
