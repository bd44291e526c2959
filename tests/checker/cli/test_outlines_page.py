"""docs/outlines.md does what it says: its derivations are accepted, its failure fails in these words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.cli import main

PAGE = Path("docs/outlines.md").read_text(encoding="utf-8")
Capture = pytest.CaptureFixture[str]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("kind", "suffix"), [("qhl", ".qhl"), ("cuda", ".cu")])
def test_its_derivations_are_accepted(kind: str, suffix: str, tmp_path: Path, capsys: Capture) -> None:
    (source,) = blocks(kind)
    path = tmp_path / f"copy{suffix}"
    path.write_text(source, encoding="utf-8")
    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out.startswith(blocks("text")[0])


def test_less_potential_fails_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    (source,) = blocks("qhl")
    assert source.count("4 + 4*|[0, n]|") == 1
    (tmp_path / "short.qhl").write_text(source.replace("4 + 4*|[0, n]|", "3 + 4*|[0, n]|"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "short.qhl"]) == 1
    assert capsys.readouterr().out.startswith(blocks("text")[1])


def test_what_it_says_of_the_language(tmp_path: Path, capsys: Capture) -> None:
    """Every form in its tables in one outline."""
    path = tmp_path / "all.qhl"
    path.write_text(
        "kernel all\nmetric divwarps\nhardware nvidia\nblock 16,16\ngrid _,2\nscope warp\nparam int w, h;\n"
        "global int A[], B[100];\nshared short S.x[] stride 16 offset 4;\nlocal int i, j;\nlocal int ghost:k;\n"
        "requires h >= 0;\nbegin\n  { true; 1 + |[0, h]|*0 + ceil(log2(w)/2)*0 + min(0, max(0, w)); {} }\n"
        "  ghost:k <- 0; i <- A[tid.x]; S.x[0] <- i; sync; j <- 0; split w > 0;\n"
        "  if [Q:If4] (i > 0) { skip; } else { j <- 1; }\n  { _; _; _ }\nend\n",
        encoding="utf-8",
    )
    assert main(["check", str(path)]) == 0, capsys.readouterr().out
