"""Pictures of pages: what is drawn, as far as no browser is needed, and that docs/report.md shows what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofs import pages
from proofs.pages import IMAGES, PICTURES, ROOT, Picture, shown

PAGE = "<style>@media screen and (max-width: 9px) { a } @media print { b }</style>\n" + "\n".join(
    f"<details><summary><code>{text}</code></summary></details>" for text in ("x = 1;", "y = 2;")
)


def test_the_pictures_are_those_that_are_shown() -> None:
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    names = {f"{picture.name}.png" for picture in PICTURES}
    assert set(re.findall(r"\(img/([^)]+)\)", text)) == names == {path.name for path in IMAGES.iterdir()}
    assert sum(path.stat().st_size for path in IMAGES.iterdir()) < 1_000_000
    for picture in PICTURES:
        data = (IMAGES / f"{picture.name}.png").read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert [int.from_bytes(data[i : i + 4]) for i in (16, 20)] == [picture.width, picture.height]


def test_a_page_as_a_picture_has_it() -> None:
    assert shown(PAGE, Picture("p", (), 1, 1)) == PAGE
    open_ = shown(PAGE, Picture("p", (), 1, 1, top=7, unfolded=("y =",)))
    assert "<details><summary><code>x = 1;" in open_
    assert "<details open><summary><code>y = 2;" in open_
    assert "margin-top: -7px" in open_
    paper = shown(PAGE, Picture("p", (), 1, 1, paper=True))
    assert "@media all { b }" in paper
    assert "@media screen" not in paper


def test_what_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every picture, each page made once; and what is said where there is no browser."""
    made: list[tuple[str, ...]] = []

    def page(command: tuple[str, ...]) -> str:
        made.append(command)
        return PAGE

    monkeypatch.setattr(pages, "page", page)
    monkeypatch.setattr(pages, "drawn", lambda html, _, browser, to: to.write_text(browser + html.read_text()))
    monkeypatch.setattr(pages, "IMAGES", tmp_path / "img")
    monkeypatch.setattr("shutil.which", lambda name: name if name == "chromium" else None)
    assert pages.main() == 0
    assert {path.stem for path in (tmp_path / "img").iterdir()} == {picture.name for picture in PICTURES}
    assert len(made) == len({picture.command for picture in PICTURES})
    capsys.readouterr()
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert pages.main() == 2
    assert capsys.readouterr().err == "There is no browser to draw pages with: install chromium.\n"
