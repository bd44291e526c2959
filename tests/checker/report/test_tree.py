"""Derivations as trees: every application is shown or counted, each with its judgement, and where a checker stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from checker.certificates import document
from checker.cli import main
from checker.report.tree import as_rows, as_text, tree
from logic.derivation import Derivation, size
from logic.rules import SOUND

PROOFS: Final = Path(__file__).resolve().parents[3] / "proofs"
ADD: Final = PROOFS / "addSub3" / "sectors.json"
Capture = pytest.CaptureFixture[str]


def read(path: Path = ADD) -> document.Certificate:
    return document.read(path.read_text(), str(path))


@pytest.mark.parametrize("name", ["addSub3", "matMul", "histogram256", "reduce2"])
@pytest.mark.parametrize("depth", [1, 2, 4, 7, 100])
def test_every_application_is_shown_or_counted(name: str, depth: int) -> None:
    """Those of statements in a row stand for all applications of their rule."""
    made = read(PROOFS / name / "sectors.json")
    lines = tree(made.derivation, SOUND, made.context, depth)
    below, row = 0, [made.derivation]
    while row:
        node = row.pop()
        row += node.premises
        below += sum(node.rule == one.rule == "Q:Seq" for one in node.premises)
    assert max(line.level for line in lines) < depth
    assert len(lines) + sum(line.hidden for line in lines) <= size(made.derivation)
    if depth == 100:
        assert not any(line.hidden for line in lines)
        assert len(lines) == size(made.derivation) - below
    assert not any("fit" in line.judgement or "no rule" in line.judgement for line in lines)


def test_text() -> None:
    made = read()
    assert as_text(tree(made.derivation, SOUND, made.context, 3)).splitlines() == [
        "Q:Seq 7:9  {4 + 20*max(0, ceil(h/2))} i <- blockIdx.x * blockDim.x + tid.x; .. {0}",
        "|- Q:VWrite2 7:9  {4 + 20*max(0, ceil(h/2))} i <- blockIdx.x * blockDim.x + tid.x; {4 + 20*max(0, ceil(h/2))}",
        "|  `- EQ:Op 7:13  blockIdx.x * blockDim.x + tid.x : 0  (4 more)",
        "|- Q:SWrite 8:5  {4 + 20*max(0, ceil(h/2))} As[tid.x] <- A[i]; {20*max(0, ceil(h/2))}",
        "|  |- OQ:Tid 8:8  tid.x : 0",
        "|  `- EQ:GArray 8:23  A[i] : 4  (1 more)",
        "|- Q:VWrite1 9:14  {20*max(0, ceil(h/2))} j <- 0; {20*max(0, ceil((h - j)/2))}",
        "|  `- OQ:Const 9:18  0 : 0",
        "`- Q:Weak 9:5  {20*max(0, ceil((h - j)/2))} while (j < h) { .. {0}",
        "   `- Q:While1 9:5  {20*max(0, ceil((h - j)/2))} while (j < h) { .. {20*max(0, ceil((h - j)/2))}  (45 more)",
    ]


def changed(root: Derivation, path: tuple[int, ...], rule: str) -> Derivation:
    """The derivation with another rule's name at the end of a path."""
    if not path:
        return replace(root, rule=rule)
    first, *rest = path
    inner = changed(root.premises[first], tuple(rest), rule)
    return replace(root, premises=(*root.premises[:first], inner, *root.premises[first + 1 :]))


@pytest.mark.parametrize("path", [(), (0,), (1,), (1, 1, 0), (0, 0, 0, 0)])
def test_the_way_to_what_was_refused_is_shown(path: tuple[int, ...]) -> None:
    made = read()
    wrong = changed(made.derivation, path, "Q:Nothing")
    lines = tree(wrong, SOUND, made.context, 1, path)
    (there,) = (line for line in lines if line.refused)
    assert (there.rule, there.judgement) == ("Q:Nothing", "no rule of this set")
    assert as_text(lines).count("  <- refused") == 1
    assert [row["refused"] for row in as_rows(lines)].count(True) == 1


def test_the_command(tmp_path: Path, capsys: Capture) -> None:
    assert main(["check", str(ADD), "--tree", "--depth", "2"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("`- Q:Weak 9:5  ")
    assert main(["check", str(ADD), "--tree", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["tree"]
    assert rows[0]["rule"] == "Q:Seq"
    assert (rows[1]["line"], rows[1]["column"], rows[1]["level"]) == (7, 9, 1)
    assert main(["check", str(ADD), "--tree", "--format", "html"]) == 0
    assert "Derivation" in capsys.readouterr().out
    outline = tmp_path / "low.qhl"
    outline.write_text((PROOFS / "addSub3" / "sectors.qhl").read_text().replace("{ j < h; 20 +", "{ j < h; 19 +"))
    assert main(["check", str(outline), "--tree"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.endswith("  <- refused")
    assert "Q:Weak 21:5" in last
    for words in (["--depth", "3"], ["--tree", "--depth", "0"]):
        assert main(["check", str(ADD), *words]) == 2
        assert "--depth: the levels of a --tree, 1 or more" in capsys.readouterr().err
