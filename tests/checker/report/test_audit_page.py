"""The page of a report: one listing whose columns add up to the bounds, derivations that link to it and back."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest

from checker.certificates.audit import audit
from checker.certificates.document import canonical, digest
from checker.cli import main
from checker.oracles import Oracles
from checker.report.pictures import access
from checker.report.steps import EVIDENCE, steps
from logic import metrics as known
from logic.derivation import size
from logic.metrics import HARDWARE
from logic.rules import SOUND
from logic.syntax import FLOAT, INT, Array

ROOT: Final = Path(__file__).resolve().parents[3] / "proofs"
METRICS: Final = tuple(name for name in known.METRICS if (ROOT / "matMul" / f"{name}.json").is_file())
"""The metrics of which there are certificates."""

MATMUL: Final = [str(ROOT / "matMul" / f"{metric}.json") for metric in METRICS]
SOURCE: Final = str(ROOT / "matMul" / "kernel.cu")
POINT: Final = "wA=96,wB=64"

pytestmark = pytest.mark.usefixtures("audits_once")


class Page(HTMLParser):
    """A page: its identifiers, its links, the cells of its listings, and whether its elements nest."""

    VOID: Final = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.ids += [named["id"] or ""] if "id" in named else []
        self.links += [named["href"] or ""] if "href" in named else []
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert "href" not in dict(attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & {*self.open}:
            self.rows[-1][-1] += data.strip()


def written(folder: Path, *words: str, code: int = 0) -> str:
    path = folder / "page.html"
    assert main(["report", *words, "--format", "html", "-o", str(path)]) == code
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, audits_once: None) -> str:
    return written(tmp_path_factory.mktemp("page"), *MATMUL, "--source", SOURCE, "--at", POINT)


def test_the_listing_stands_there_once(page: str) -> None:
    found = Page(page)
    assert found.open == []
    assert page.count("As[ty][tx] = A[a + wA * ty + tx];") == 1
    (head,) = (row for row in found.rows if row[:1] == ["line"])
    assert head[2:] == ["sectorsof 35", "conflictsof 0", "divwarpsof 0", "stepsof 2337"]
    assert page.count('<table class="source"') == 1
    assert found.tags.count("main") == 1
    assert found.tags.count("svg") >= 4


def test_the_columns_add_up_to_the_bounds(page: str) -> None:
    rows = Page("<table" + page.partition('<table class="source"')[2].partition("</table>")[0]).rows
    lines = [row for row in rows if row[0].isdigit()]
    (total,) = (row for row in rows if row[1].startswith("the bound there"))
    for column in range(2, 6):
        amounts = [Fraction(row[column]) for row in rows if row[column] and row not in (total, rows[0])]
        assert sum(amounts) == Fraction(total[column])
    assert [row[0] for row in lines] == [str(n) for n in range(5, 36)]


def test_the_shares_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", *MATMUL, "--source", SOURCE, "--at", POINT, "--format", "json"]) == 0
    found: Any = json.loads(capsys.readouterr().out)
    for r in found["certificates"]:
        told = r["shares"]
        assert told["of"] == r["value"]
        assert sum(Fraction(x["spent"]) for x in told["lines"]) == told["of"]
        assert all(Fraction(x["paid"]) <= Fraction(x["spent"]) for x in told["lines"])
    assert {x["line"] for x in found["certificates"][0]["shares"]["lines"]} == {23, 24, 34}
    assert main(["report", MATMUL[0], "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificates"][0]["shares"] is None


def test_links_lead_somewhere_and_identifiers_are_unique(page: str) -> None:
    found = Page(page)
    assert len(found.ids) == len({*found.ids})
    assert {link for link in found.links if not link.startswith("#")} == set()
    assert {link[1:] for link in found.links} <= {*found.ids}
    lines = {link for link in found.links if re.fullmatch(r"#g0-L\d+", link)}
    applications = {link for link in found.links if re.fullmatch(r"#c\d-\d+", link)}
    assert {"#g0-L23", "#g0-L28"} <= lines  # from the derivation to the listing
    assert {link.partition("-")[0] for link in applications} == {"#c0", "#c1", "#c2", "#c3"}  # and back


def test_side_conditions_have_an_engine_and_evidence(page: str) -> None:
    assert 'MemReads(A[a + wA * ty + tx]) &lt;= 5</code> <span class="dim">closed-form, ' in page
    assert EVIDENCE["proof"] in page
    assert EVIDENCE["open"] not in page
    assert "P; X |- e unif" in page.partition("The rules that are used")[2]


def test_weight_and_what_a_page_may_not_have(page: str) -> None:
    assert len(page.encode()) < 300 * 1024
    assert not re.search(r"https?:|<script|<link|@import|url\(", page)
    for wanted in (
        "prefers-color-scheme: dark",
        "@media print",
        "size: A4",
        'name="viewport"',
        "overflow-wrap: anywhere",
    ):
        assert wanted in page


def test_an_index_with_the_worst_first(tmp_path: Path) -> None:
    worse = json.loads(Path(MATMUL[1]).read_text())
    barrier = str(ROOT / "features" / "admitted-barrier.json")
    found = written(tmp_path, MATMUL[0], str(ROOT / "vectorAdd" / "steps.json"), barrier, code=1)
    index = found.partition("<nav")[2].partition("</nav>")[0]
    kernels = re.findall(r'<a href="#g\d">(\w+)</a>', index)
    assert kernels[1:] == ["matMul", "vectorAdd"]
    assert "holey" in index.partition("matMul")[0]
    assert re.findall(r"<h2[^>]*>(\w+)</h2>\n<p class", found)[1:] == ["matMul", "vectorAdd"]
    assert worse["kernel"]["name"] == "matMul"
    assert "<nav" not in written(tmp_path, *MATMUL)


VECTORS: Final = ("--source", str(ROOT / "vectorAdd" / "kernel.cu"))


def test_without_a_source_or_a_point(tmp_path: Path) -> None:
    bare = written(tmp_path, MATMUL[0])
    assert '<table class="source"' not in bare
    assert "A[a + wA * ty + tx]: MemReads &lt;= 5" in bare
    assert Page(bare).open == []
    source = written(tmp_path, MATMUL[0], "--source", SOURCE)
    assert "this has each line's share of the bounds there" in source
    style = source.partition("</style>")[0]
    preserving = [rule for rule in re.findall(r"([^{};]*)\{[^}]*white-space: pre[;-]", style) if "td.code" in rule]
    assert preserving == [" .wide td.code "]  # the lines of the source are no such table: their markup has line ends
    assert 'class="share"' not in source
    data = ROOT / "data"
    point = "n=64, blockIdx.x=0, warp.index=0, rowptr[0]=0, rowptr[1]=17"
    words = (str(data / "spmv_vector-sectors.json"), "--source", str(data / "spmv_vector.cu"), "--at", point)
    elements = written(tmp_path, *words)
    assert "= 46" in elements
    assert "shuffles and votes have none, one of many threads takes too long, and none is looked for where" in elements
    for shown in ("which is their sum", "dearest run", 'class="share"', "<svg"):
        assert shown not in elements
    zero = written(tmp_path, str(ROOT / "vectorAdd" / "conflicts.json"), *VECTORS, "--at", "numElements=64")
    assert "With --at" not in zero
    assert "No line has a share here" not in zero
    assert '<br><span class="dim">of 0</span>' in zero


def test_a_derivation_is_cut_at_a_level_and_says_so() -> None:
    path = ROOT / "matMul" / "steps.json"
    a = audit(path.read_text(encoding="ascii"), str(path), SOUND, Oracles())
    whole = steps(a, 10**6)
    assert len(whole) + sum(s.costs for s in whole) + sum(s.hidden for s in whole) <= size(a.derivation)
    assert sum(s.hidden for s in whole) == 0
    assert sum(len(s.conditions) + s.plain for s in whole) == sum(line.rule != "claim" for line in a.ledger.discharged)
    assert sum(s.closes for s in whole) == len(whole)
    few = steps(a, 25)
    assert len(few) <= 25
    assert sum(s.hidden for s in few) > 0
    assert sum(s.closes for s in few) == len(few)
    assert [s.level for s in whole[:2]] == [0, 1]


def test_pictures_of_accesses() -> None:
    nvidia = HARDWARE["nvidia"]
    wide, banks = Array("A", "global", INT, 4), Array("S", "shared", INT, 4)
    together = access(wide, {lane: 4 * lane for lane in range(32)}, nvidia, 4)
    assert "4 sectors" in together
    assert together.count("L") == 32
    apart = access(wide, {lane: 128 * lane for lane in range(32)}, nvidia, 32)
    assert "32 sectors" in apart
    clash = access(banks, {lane: 128 * lane for lane in range(32)}, nvidia, 32)
    assert "one bank has 32 words to give" in clash
    assert 'class="crowd"' in clash
    assert 'class="crowd"' not in access(banks, {lane: 4 * lane for lane in range(32)}, nvidia, 1)
    quads, phased = Array("S", "shared", FLOAT, 16), replace(nvidia, name="own", phase=128)
    row = access(quads, {lane: 16 * lane for lane in range(32)}, phased, 1)
    assert "no bank has more than one word to give, 8 lanes at once" in row
    assert 'class="crowd"' not in row
    column = access(quads, {lane: 512 * lane for lane in range(32)}, phased, 29)
    assert "28 words have to wait for others of their bank, 8 lanes at once" in column
    assert 'class="crowd"' in column
    far = access(wide, {lane: 4096 * lane for lane in range(16)} | {16: 1, 17: 30}, nvidia, 17)
    assert far.count("L") == 20 - 1  # a lane across two sectors touches both


def test_the_worst_comes_first_in_a_kernel_too(tmp_path: Path) -> None:
    document = json.loads(Path(MATMUL[3]).read_text())
    document["evidence"] = []
    document["digest"] = digest(document)
    wrong = tmp_path / "wrong.json"
    wrong.write_text(canonical(document))
    other = str(ROOT / "addSub3" / "sectors.json")
    whole = written(tmp_path, other, *MATMUL[:3], str(wrong), code=3)
    assert "This is what" not in whole
    index = Page(whole.partition("</nav>")[0])
    assert [row[-3:] for row in index.rows[1:3]] == [["steps", "-", "rejected"], [*index.rows[2][-3:-1], "certified"]]


def test_two_certificates_of_one_cost_are_told_apart(tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    again.write_text(Path(MATMUL[1]).read_text())
    text = written(tmp_path, *MATMUL[:2], str(again))
    assert text.count("This is what <code>") == 2
    assert f"This is what <code>{again}</code> says." in text


def test_counts_of_one_are_said_as_such(tmp_path: Path) -> None:
    text = written(tmp_path, str(ROOT / "features" / "sum-of-a-grid.json"), "--at", "gridDim.y=1,n=9,gridDim.x=2")
    assert "1 application of rules to statements" in text
    assert "at n = 9, gridDim.x = 2" in text
