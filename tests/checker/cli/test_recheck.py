"""`warpbound recheck` on one certificate and on several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main

ROOT = Path(__file__).resolve().parents[3] / "proofs"
GOOD = [str(ROOT / "vectorAdd" / f"{metric}.json") for metric in ("sectors", "steps")]
CLAIM = "every warp of vectorAdd costs at most 12 sectors; blocks of 256, any grid"

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def tampered(tmp_path: Path) -> str:
    path = tmp_path / "tampered.json"
    path.write_text(Path(GOOD[0]).read_text().replace('"12"', '"11"'))
    return str(path)


def test_one(capsys: Capture) -> None:
    assert main(["recheck", GOOD[0]]) == 0
    assert capsys.readouterr().out == f"valid  {GOOD[0]}\n  {CLAIM}\n"


def test_several(tampered: str, capsys: Capture) -> None:
    assert main(["recheck", *GOOD]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [f"valid  {GOOD[0]}", f"  {CLAIM}"]
    assert main(["recheck", *GOOD, tampered]) == 3
    last = capsys.readouterr().out.splitlines()[-3:]
    found = ["  the digest is not that of the content", "3 certificates: 1 invalid, 2 valid"]
    assert last == [f"invalid  {tampered}", *found]


def test_several_as_json(tampered: str, capsys: Capture) -> None:
    assert main(["recheck", tampered, GOOD[0], "--format", "json"]) == 3
    whole = json.loads(capsys.readouterr().out)
    assert whole["verdict"] == "invalid"
    found = whole["results"]
    assert [(f["file"], f["verdict"], f["claim"]) for f in found] == [
        (tampered, "invalid", ""),
        (GOOD[0], "valid", CLAIM),
    ]


def test_what_cannot_be_read_is_the_worst(tampered: str, capsys: Capture) -> None:
    assert main(["recheck", tampered, "no.json", GOOD[0]]) == 2
    out, error = capsys.readouterr()
    assert error == "error: cannot read 'no.json': No such file or directory\n"
    assert [line.split()[0] for line in out.splitlines() if not line.startswith(" ")] == ["invalid", "valid", "3"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{\n  no", "2:3: error: '{}' is no JSON document\n      no\n      ^\n  Give a file that"),
        (b"\xff", "error: cannot read '{}': it is not UTF-8 text\n  Give a file that"),
        (b"[]", "error: '{}' is no certificate: "),
    ],
)
def test_what_is_no_certificate(content: bytes, told: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content)
    assert main(["recheck", str(path)]) == 2
    assert told.format(path) in capsys.readouterr().err


def test_unreadable_as_json(tampered: str, capsys: Capture) -> None:
    assert main(["recheck", "no.json", "--format", "json"]) == 2
    out, error = capsys.readouterr()
    message = "cannot read 'no.json': No such file or directory"
    assert json.loads(out) == {"version": 1, "error": {"message": message, "place": None, "advice": None}}
    assert error == f"warpbound: error: {message}\n"
    assert main(["recheck", tampered, "no.json", "--format", "json"]) == 2
    out, error = capsys.readouterr()
    assert [row["verdict"] for row in json.loads(out)["results"]] == ["invalid", "unreadable"]
    assert json.loads(out)["verdict"] == "unreadable"


def test_an_invalid_one_is_named(tampered: str, capsys: Capture) -> None:
    assert main(["recheck", tampered]) == 3
    assert capsys.readouterr().out == f"invalid  {tampered}\n  the digest is not that of the content\n"
