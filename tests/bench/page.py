"""What a stranger meets who opens a report: `make first AXE=axe.min.js` (`python -m tests.bench.page`; wants chromium).

Of each kind of page it prints the weight, and, at 1,400 pixels in the light and 360 in the dark, how many words stand
before the claim and which of QUESTIONS are answered on the first screen: by where the text that answers them is, as the
browser laid it out. With --axe (the npm package axe-core, which is no part of this project; or WARPBOUND_AXE), axe-core
looks at each page with all of it unfolded, and what it finds serious is an error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, Final

from checker.certificates.document import canonical, digest
from proofs.pages import BROWSERS, MATMUL, page

KERNEL: Final = "proofs/matMulTrans/kernel.cu"
PAGES: Final[dict[str, tuple[str, ...]]] = {
    "report": MATMUL,
    "report of several": ("report", "proofs/addSub3/sectors.json", "proofs/matMulTrans/sectors.json"),
    "check": ("check", "proofs/addSub3/sectors.json"),
    "coalesce": ("coalesce", KERNEL, "--quick"),
    "bound": ("bound", "proofs/vectorAdd/kernel.cu", "--metric=sectors"),
    "bounds of several files": ("bound", "proofs/vectorAdd/kernel.cu", "proofs/addSub3/kernel.cu", "--metric=sectors"),
}
"""The kinds of pages, each with the command that makes one."""

REFUSED: Final = "check, refused"
"""The page of an outline that claims too little, which is written for it."""

INVALID: Final = "report, refused"
"""The page on a certificate with a count that is too small, which is written for it, in a folder with a long name."""


def pages() -> Iterator[tuple[str, str]]:
    """Each kind of page, and one."""
    for kind, command in PAGES.items():
        yield kind, page(command)
    outline = Path("proofs/addSub3/sectors.qhl").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "addSub3.qhl"
        file.write_text(outline.replace("true; 4 + 10", "true; 3 + 10"), encoding="utf-8")
        yield REFUSED, page(("check", str(file)))
        document = json.loads(Path("proofs/addSub3/sectors.json").read_text(encoding="utf-8"))
        next(row for row in document["derivation"] if row["rule"] == "EQ:GArray")["with"]["n"] -= 1
        long = Path(folder) / "a_folder_whose_name_is_longer_than_the_line_of_a_phone"
        long.mkdir()
        wrong, source = long / "sectors.json", long / "kernel.cu"
        source.write_text(Path("proofs/addSub3/kernel.cu").read_text(encoding="utf-8"), encoding="utf-8")
        wrong.write_text(canonical(document | {"digest": digest(document)}), encoding="utf-8")
        yield INVALID, page(("report", str(wrong), "--source", str(source)))


QUESTIONS: Final = {
    "which kernel": "matMulTrans",
    "what is counted": "sectors",
    "of whom": "every warp",
    "the bound": "at most",
    "is it certified": "certified",
    "its value here": "= ",
    "at which point": "wA = 64",
    "what it rests on": "It rests on",
    "which blocks": "blocks of",
    "what of overflow": "no signed overflow",
}
"""Ten questions, and a text that answers each on the page of MATMUL."""

SCREENS: Final = ((1400, 900, False), (360, 740, True))
"""Widths and heights in pixels, and whether the browser asks for a dark page."""

PROBE: Final = """<script>
addEventListener('load', () => setTimeout(async () => {
  const asked = QUESTIONS, found = {}, texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const box = document.createRange(); box.selectNodeContents(node);
    const at = box.getBoundingClientRect();
    if (at.height && !['STYLE', 'SCRIPT'].includes(node.parentElement.tagName)) texts.push([node.data, at.top]);
  }
  for (const [question, text] of Object.entries(asked)) {
    const has = t => t.replace(/\\s+/g, ' ').toLowerCase().includes(text.toLowerCase());
    const here = texts.filter(([t]) => has(t)).map(([, top]) => top);
    found[question] = here.length ? Math.round(Math.min(...here)) : null;
  }
  const claim = texts.findIndex(([t]) => t.includes('at most'));
  const before = texts.slice(0, claim).map(([t]) => t).join(' ').trim();
  const wide = document.documentElement.scrollWidth > innerWidth;
  document.querySelectorAll('details').forEach(d => { d.open = true; });
  const axe = window.axe ? (await window.axe.run()).violations : null;
  const told = {found, words: claim < 0 ? null : before.split(/\\s+/).filter(Boolean).length,
    wide,
    axe: axe && axe.map(v => [v.impact, v.id, v.nodes.length])};
  document.body.innerHTML = '';
  document.body.append(Object.assign(document.createElement('pre'), {id: 'told', textContent: JSON.stringify(told)}));
}, 300));
</script>"""


def looked_at(html: str, width: int, height: int, dark: bool, browser: str, axe: str) -> dict[str, Any]:
    """What the probe says of a page in a browser that is started for it. Raises CalledProcessError, TimeoutExpired."""
    probe = PROBE.replace("QUESTIONS", json.dumps(QUESTIONS))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(f"{html}{f'<script>{axe}</script>' if axe else ''}{probe}", encoding="utf-8")
        words = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        words += [f"--window-size={width},{height}", "--virtual-time-budget=20000", "--dump-dom"]
        words += [*(["--blink-settings=preferredColorScheme=0"] if dark else []), file.as_uri()]
        ran = subprocess.run([browser, *words], check=True, capture_output=True, text=True, timeout=120)
    told = re.search(r'<pre id="told">(.*?)</pre>', ran.stdout, re.DOTALL)
    if told is None:
        raise ValueError("the browser did not run the probe")
    found: dict[str, Any] = json.loads(unescape(told[1]))
    return found


def main() -> int:
    """0; 1 where axe-core finds something serious, or a page is wider than the screen; 2 where there is no browser."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--axe", default=os.environ.get("WARPBOUND_AXE"), metavar="axe.min.js")
    args = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"There is no browser to open pages with: install {BROWSERS[0]}.", file=sys.stderr)
        return 2
    if not args.axe:
        print("axe-core is not here: `npm pack axe-core`, and --axe package/axe.min.js.", file=sys.stderr)
    axe, wrong = Path(args.axe).read_text(encoding="utf-8") if args.axe else "", False
    for kind, html in pages():
        print(f"{kind}: {len(html.encode()):,} bytes")
        for width, height, dark in SCREENS:
            told = looked_at(html, width, height, dark, browser, axe)
            said = ["wider than the screen"] * told["wide"]
            if kind == "report":
                first = [q for q, top in told["found"].items() if top is not None and top < height]
                said += [f"{told['words']} words before the claim", f"{len(first)} of {len(QUESTIONS)} questions"]
                said += [f"not: {', '.join(q for q in QUESTIONS if q not in first)}"] * (len(first) < len(QUESTIONS))
            if told["axe"] is not None:
                bad = [f"{impact} {rule} ({n})" for impact, rule, n in told["axe"] if impact in ("serious", "critical")]
                said += [f"axe: {len(told['axe'])} findings, serious: {', '.join(bad) or 'none'}"]
                wrong |= bool(bad)
            wrong |= told["wide"]
            print(f"  {width} x {height}{', dark' * dark}: {'; '.join(said) or 'all of it fits'}")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
