"""What a claim says, and that it says nothing, in the same words from every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.certificate import canonical, digest
from checker.cli import main

VECTOR = Path(__file__).resolve().parents[3] / "proofs/vectorAdd"
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("numElements", 5, 5), ("blockDim.x", 32, 300)],
    ids=["each other", "the launch"],
)
def test_vacuous_certificates_are_called_so_by_all(
    name: str, low: int, high: int, tmp_path: Path, capsys: Capture
) -> None:
    """The claim of no launch: the same word and exit code from `check`, `recheck` and `report`."""
    document = json.loads((VECTOR / "sectors.json").read_text())
    parameter = ["param", name]
    number = [["const", ["int", "int", 4], n] for n in (low, high)]
    document["launch"]["assumptions"] = [["op", "<", parameter, number[0]], ["op", ">", parameter, number[1]]]
    path = tmp_path / "vacuous.json"
    path.write_text(canonical(document | {"digest": digest(document)}))
    for command in ("check", "recheck", "report"):
        assert main([command, str(path)]) == 1
        out = capsys.readouterr().out
        assert "vacuous" in out
        assert "accepted:" not in out
        assert main([command, str(path), "--format", "json"]) == 1
        found = json.loads(capsys.readouterr().out)["verdict"]
        assert found == {"check": "not-proved", "recheck": "solver-backed", "report": "vacuous"}[command]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scope", "block"), "the span of a block of vectorAdd is at most 12 sectors"),
        (("--per", "block"), "the warps of a block of vectorAdd together cost at most "),
        (("--per", "grid"), "all warps of a grid of vectorAdd together cost at most "),
        ((), "every warp of vectorAdd costs at most 12 sectors"),
    ],
)
def test_what_a_certificate_claims_is_said_by_all(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: Capture
) -> None:
    source, path = str(VECTOR / "kernel.cu"), str(tmp_path / "c.json")
    bounding = ["bound", source, "--metric", "sectors", "--block", "256", *words, "--certificate", path]
    assert main(bounding) == 0
    assert capsys.readouterr().out.startswith(f"vectorAdd, {said.partition(' of vectorAdd')[0]} (")
    assert main([*bounding, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert row["claim"].startswith(said)
    for command in ("check", "recheck"):
        assert main([command, path]) == 0
        assert capsys.readouterr().out.split("\n")[command == "recheck"].removeprefix("accepted: ").startswith(said)
    assert main(["report", path]) == 0
    assert f"  {said.partition(' of vectorAdd')[0]}  <= " in capsys.readouterr().out
    assert main(["report", path, "--format", "sarif"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["message"]["text"].startswith(said)
