"""Pictures of what the tool prints as pages: `python -m proofs.pages` makes docs/img anew, which wants chromium.

Every page is made by the command that stands beside it, and drawn at the widths of a phone, a tablet and a desk;
`paper` is the page by its rules for print, on the width of A4, without its breaks.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from checker.cli import main as warpbound

ROOT: Final = Path(__file__).resolve().parents[1]
IMAGES: Final = ROOT / "docs" / "img"

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")

MATMUL: Final = (
    "report",
    *(f"proofs/matMulTrans/{metric}.json" for metric in ("sectors", "conflicts", "divwarps", "steps")),
    "--source=proofs/matMulTrans/kernel.cu",
    "--at=wA=64,wB=64,gridDim.x=2",
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the page that a command prints: its width and height, and from where on down it is drawn. `paper` is
    whether it is drawn as printed, `unfolded` the texts of lines of a listing that are open."""

    name: str
    command: tuple[str, ...]
    width: int
    height: int
    top: int = 0
    paper: bool = False
    unfolded: tuple[str, ...] = ()


PICTURES: Final = (
    Picture("report-360", MATMUL, 360, 1300),
    Picture("report-800", MATMUL, 800, 1300),
    Picture("report-1400", MATMUL, 1400, 1000),
    Picture("report-listing", MATMUL, 1000, 1480, 1000, unfolded=("As[tx][ty] = A[a",)),
    Picture("report-paper", MATMUL, 794, 1123, paper=True),
)


def page(command: tuple[str, ...]) -> str:
    """The page that a command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        warpbound([*command, "--format=html"])
    return out.getvalue()


def shown(html: str, picture: Picture) -> str:
    """The page as the picture has it."""
    lines = html.split("\n")
    for i, line in enumerate(lines):
        if "<details><summary><code>" in line and any(text in line for text in picture.unfolded):
            lines[i] = line.replace("<details>", "<details open>")
    html = "\n".join(lines)
    if picture.paper:
        html = html.replace("@media print", "@media all").replace("@media screen", "@media speech")
        html = html.replace("</style>", "body { padding: 14mm; max-width: none; }</style>")
    scrolled = f"body {{ margin-top: -{picture.top}px; }}" if picture.top else ""
    return html.replace("</style>", f"{scrolled}</style>")


def drawn(html: Path, picture: Picture, browser: str, to: Path) -> None:
    """Draws a page. Raises CalledProcessError or TimeoutExpired where the browser fails."""
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]
    words += [f"--window-size={picture.width},{picture.height}", f"--screenshot={to}", html.as_uri()]
    subprocess.run([browser, *words], check=True, capture_output=True, timeout=120)  # noqa: S603 - ours


def main() -> int:
    """The command: 0, or 2 where there is no browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"There is no browser to draw pages with: install {BROWSERS[0]}.", file=sys.stderr)
        return 2
    IMAGES.mkdir(exist_ok=True)
    pages: dict[tuple[str, ...], str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for picture in PICTURES:
            if picture.command not in pages:
                pages[picture.command] = page(picture.command)
            file = Path(folder) / f"{picture.name}.html"
            file.write_text(shown(pages[picture.command], picture), encoding="utf-8")
            drawn(file, picture, browser, IMAGES / f"{picture.name}.png")
            print(f"docs/img/{picture.name}.png", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
