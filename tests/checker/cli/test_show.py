"""`warpbound show`: a certificate for a reader who has the source beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.certificates import document
from checker.cli import main

ROOT = Path(__file__).resolve().parents[3] / "proofs"
MATMUL = str(ROOT / "matMul" / "sectors.json")
Capture = pytest.CaptureFixture[str]


def shown(capsys: Capture, *words: str, code: int = 0) -> str:
    assert main(["show", *words]) == code
    return capsys.readouterr().out


def test_claim_assumptions_and_program(capsys: Capture) -> None:
    text = shown(capsys, MATMUL)
    assert text.startswith("every warp of matMul costs at most 5 + 10*max(0, ")
    assert "\n  second checker: valid\n" in text
    assert "  - blocks of 32 x 32\n" in text
    assert "  - every array starts at a multiple of 256 bytes\n" in text
    assert "    As[ty * 32 + tx] = A[a + wA * ty + tx];\n" in text
    assert "    __syncthreads();\n" in text
    assert text.rstrip().endswith(json.loads(Path(MATMUL).read_text())["digest"])


def test_all_that_is_assumed_is_there(capsys: Capture) -> None:
    """Contracts, assumptions inside, admitted barriers, and prices that are a user's own."""
    features = ROOT / "features"
    for name, told in {
        "contracts": "given: forall",
        "assumption": "given: ",
        "assumption-inside": "given: ",
        "admitted-barrier": "reach the barrier",
        "custom": "custom metric",
    }.items():
        assert told in shown(capsys, str(features / f"{name}.json")).partition("Of this program")[0], name


def test_what_is_invalid_is_no_claim(tmp_path: Path, capsys: Capture) -> None:
    changed = Path(MATMUL).read_text().replace('["5",[]]', '["4",[]]')
    path = tmp_path / "less.json"
    path.write_text(changed)
    assert main(["show", str(path)]) == 3
    assert "its digest is not that of its content" in capsys.readouterr().err
    made = json.loads(changed)
    path.write_text(json.dumps(made | {"digest": document.digest(made)}))
    text = shown(capsys, str(path), code=3)
    assert text.startswith("matMul, sectors: invalid: derivation[")
    assert "costs at most" not in text


def test_several_and_json(capsys: Capture) -> None:
    other = str(ROOT / "vectorAdd" / "steps.json")
    found = json.loads(shown(capsys, MATMUL, other, "--format", "json"))["results"]
    assert [(one["kernel"], one["metric"], one["verdict"]) for one in found] == [
        ("matMul", "sectors", "valid"),
        ("vectorAdd", "steps", "valid"),
    ]
    one: dict[str, Any] = json.loads(shown(capsys, other, "--format", "json"))
    assert one["program"].startswith("__global__ void vectorAdd(")
    assert one["applications"] > 1
    assert shown(capsys, MATMUL, "--format", "html").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("text", "message"), [("{}", "is no certificate"), ("[", "'{path}' is no"), ("{", "'{path}' is no")]
)
def test_what_is_no_certificate(text: str, message: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    assert main(["show", str(path)]) == 2
    assert message.format(path=path) in capsys.readouterr().err
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k() {}")
    assert main(["show", str(source)]) == 2
    assert f"It is a source: `warpbound bound {source} --certificate DIR` makes" in " ".join(
        capsys.readouterr().err.split()
    )
    assert main(["show", str(tmp_path / "none.json")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_bound_is_worded_as_bound_does(capsys: Capture) -> None:
    """Not in the second checker's spelling, which writes out what max, min and ceil stand for."""
    data = ROOT / "data" / "spmv_scalar-sectors.json"
    text = shown(capsys, str(data))
    claim, assumed = text.split("\n\n")[:2]
    assert "-1*" not in claim
    assert "?i0" not in text
    assert "  - given: forall i in [0, n): rowptr[i] <= rowptr[i + 1]" in assumed
    for name in ("addSub3", "reduce0"):
        path = str(ROOT / name / "sectors.json")
        told = shown(capsys, path).splitlines()[0]
        main(["check", path])
        assert f": {told}\n" in capsys.readouterr().out
