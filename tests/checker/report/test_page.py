"""Pages as Markdown, HTML and SARIF: what nobody's text can turn into markup, and what must not be missing."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest

from checker.report.audit import MEANING
from checker.report.page import GOOD, RULES, Fault, Page, Section, as_html, fenced, inline, kept, plain, render
from logic.source import Loc

ODD = "<script>alert('&')</script> | `x` ``y`` *b* _i_ [a](javascript:b) #1 {0} \x1b[31m\u202e"


class Reader(HTMLParser):
    """The texts of a page by their element, and the elements that it has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.here: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.texts.setdefault(tag, []).append("")
        if tag != "meta":
            self.here.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.here.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.here:
            self.texts[self.here[-1]][-1] += data


def full(text: str) -> Page:
    """A page with this text at every place that a page has."""
    table = Section("", "", (text, "code"), [(text, text), ("b", "")], ("code",))
    sections = [Section(text, text), table, Section(fixed=f"{text}\n{text}", items=[text, "second"])]
    return Page(text, sections, [Fault("rejected", text)], [text])


def visible(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def sarif(page: Page) -> dict[str, Any]:
    log = json.loads(render(page, "sarif"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    found: dict[str, Any] = run
    return found


def test_html_says_everything_and_escapes_it() -> None:
    page = Reader(render(full(ODD), "html"))
    odd = visible(ODD)
    assert page.here == []
    assert page.texts["h1"] == page.texts["title"] == [odd]
    assert page.texts["h2"] == [odd, "This assumes"]
    assert page.texts["p"] == [odd]
    assert page.texts["th"] == [odd, "code"]
    assert page.texts["td"] == [odd, odd, "b", ""]
    assert page.texts["span"] == [f"{odd}\n", f"{odd}\n"]
    assert page.texts["li"] == [odd, "second", odd]
    assert page.texts.keys().isdisjoint(("script", "a", "link", "img"))


def test_html_needs_nothing_else() -> None:
    page = render(full("x"), "html")
    assert page.startswith("<!doctype html>")
    assert not re.search(r"https?:|src=|href=|url\(|@import", page)
    assert "var(--line)" in page  # the style of the audit report


def test_html_marks_verdicts_and_nothing_else() -> None:
    page = render(Page("t", [Section(head=("a", "b"), rows=[("holey", "holey"), ("holy", "")], code=("b",))]), "html")
    assert page.count('class="verdict holey"') == 1
    assert 'class="bound">holey</td>' in page
    assert '<td role="cell" data-of="a">holy</td>' in page
    for verdict in (*RULES, *GOOD):
        assert f'class="verdict {verdict}"' in render(Page("t", [Section(head=("a",), rows=[(verdict,)])]), "html")


def test_a_picture_is_for_html_alone() -> None:
    page = Page("t", [Section(picture="<svg><title>a &lt; b</title></svg>", fixed="below")])
    assert "<svg><title>a &lt; b</title></svg>" in render(page, "html")
    assert "svg" not in render(page, "markdown")
    assert "below" in render(page, "markdown")


def test_markdown_says_everything() -> None:
    table = Section("Costs", "In short.", ("metric", "at most"), [("a|b", "m|ax(0, n)"), ("c", "")], ("at most",))
    page = Page("k", [table, Section(fixed="line 1\n  line 2", items=["i1", "i2"])], assumptions=["w > 2"])
    assert render(page, "markdown") == (
        "# k\n\n## Costs\n\nIn short.\n\n"
        "| metric | at most |\n| --- | --- |\n| a\\|b | `m\\|ax(0, n)` |\n| c |  |\n\n"
        "```text\nline 1\n  line 2\n```\n\n- i1\n- i2\n\n## This assumes\n\n- w \\> 2"
    )


def test_markdown_escapes_everything() -> None:
    lines = render(full(ODD), "markdown").split("\n")
    fences = [n for n, line in enumerate(lines) if line.startswith("```")]
    assert [lines[n] for n in range(fences[0] + 1, fences[1])] == [visible(ODD)] * 2  # these stay as they are
    outside = lines[: fences[0]] + lines[fences[1] + 1 :]
    for line in outside:
        told = re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "", line)  # without code
        bare = re.sub(r"\\.", "", told)
        assert not re.search(r"[<>*_`\[\]]", bare), line
        assert bare.count("|") in (0, 3), line
        assert "\x1b" not in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- x", "\\- x"),
        ("+ x", "\\+ x"),
        ("1. x", "1\\. x"),
        ("12) x", "12\\) x"),
        ("---", "\\---"),
        ("# x", "\\# x"),
        ("> x", "\\> x"),
        ("0.12", "0.12"),
        ("-3", "-3"),
        ("two\nlines", "two lines"),
    ],
)
def test_no_text_begins_a_list_or_a_heading(text: str, said: str) -> None:
    assert plain(text) == said


def test_code_and_fences_are_longer_than_what_is_in_them() -> None:
    assert inline("a``b|c") == "``` a``b\\|c ```"
    assert inline("a\nb") == "`a b`"
    assert inline("") == ""
    assert fenced("a") == "```text\na\n```"
    assert fenced("````\na") == "`````text\n````\na\n`````"


def test_sarif_has_a_result_for_every_fault() -> None:
    faults = [
        Fault("holey", "a {x}", Loc("k.cu", 3, 7)),
        Fault("refuted", "b", "a b.json"),
        Fault("holey", "c"),
        Fault("holey", "d", Loc("", 1, 1)),
    ]
    run = sarif(Page("t", [], faults, ["w > 2"]))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["holey", "refuted"]
    assert [(r["ruleId"], r["level"], r["message"]["text"]) for r in run["results"]] == [
        ("holey", "warning", "a {{x}}."),
        ("refuted", "error", "b."),
        ("holey", "warning", "c."),
        ("holey", "warning", "d."),
    ]
    places = [[p["physicalLocation"] for p in r["locations"]] for r in run["results"]]
    assert places == [
        [{"artifactLocation": {"uri": "k.cu"}, "region": {"startLine": 3, "startColumn": 7}}],
        [{"artifactLocation": {"uri": "a%20b.json"}, "region": {"startLine": 1}}],
        [],
        [],
    ]
    assert run["properties"] == {"assumptions": ["w > 2"]}


def test_sarif_without_faults_is_an_empty_run() -> None:
    run = sarif(Page("t", [Section("s", fixed="rejected")]))
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    assert "properties" not in run


def test_a_row_that_is_too_short_is_a_mistake() -> None:
    page = Page("t", [Section(head=("a", "b"), rows=[("only one",)])])
    for form in ("markdown", "html"):
        with pytest.raises(ValueError, match="zip"):
            render(page, form)


def test_the_documentation_has_every_rule_with_its_level() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/formats.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    told = {name: cells[1] for cells in rows for name in re.findall("`([^`]*)`", cells[0])}
    assert {name: told.get(name) for name in RULES} == {name: level for name, (level, _) in RULES.items()}


def test_what_scrolls_is_reached_by_keys_and_has_a_name() -> None:
    """And a place breaks nowhere within its file, line and column."""
    page = render(Page("t", [Section("T", head=("place", "b"), rows=[("a/k.cu:12:34", "x")])]), "html")
    assert '<div class="wide rows" tabindex="0" role="group" aria-label="T, a table">' in page
    assert 'class="bound place">a/<wbr><span>k.cu:12:34</span></td>' in page
    assert 'data-of="b">x</td>' in page
    assert ".place span { white-space: nowrap; }" in page


def _luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_words_stand_out_from_the_page_in_light_and_dark() -> None:
    """WCAG 2.2, 1.4.3: at least 4.5 to 1."""
    page = render(Page("t"), "html")
    light = dict(re.findall(r"--(good|mid|bad|ink|paid|paper): (#[0-9a-f]+)", page.partition("@media")[0]))
    dark = dict(re.findall(r"--(good|mid|bad|ink|paid|paper): (#[0-9a-f]+)", page.partition("@media")[2]))
    assert len(light) == len(dark) == 6
    for colours in (light, dark):
        paper = _luminance(colours.pop("paper"))
        for colour in map(_luminance, colours.values()):
            assert (max(paper, colour) + 0.05) / (min(paper, colour) + 0.05) >= 4.5


FAILED: Final = """rejected: 4:3: it does not hold

    {P; 0; {}} s {P; 1; {}}
  > P |- 0 >= 1
    -------------------- Q:Weak
    {P; 1; {}} s {P; 1; {}}

    3  x <- 1;
>   4    y <- 2;
         ^ P |- 0 >= 1"""


def test_lines_begin_below_their_text_and_what_fails_is_marked() -> None:
    lines = kept(FAILED)
    assert [line.text for line in lines] == FAILED.split("\n")
    assert [line.text for line in lines if line.wrong] == [
        "  > P |- 0 >= 1",
        ">   4    y <- 2;",
        "         ^ P |- 0 >= 1",
    ]
    assert [(line.within, line.bar, line.rule) for line in lines if line.rule] == [(4, "-" * 20, "Q:Weak")]
    assert [line.within for line in lines] == [0, 0, 4, 4, 4, 4, 0, 7, 9, 11]


def test_html_draws_the_bar_of_a_rule_and_keeps_all_text() -> None:
    html = as_html(Page("p", [Section(fixed=FAILED)]))
    assert f"<span>{'-' * 20}</span> Q:Weak" in html
    pre = re.search(r"<pre>(.*?)</pre>", html, re.DOTALL)
    assert pre is not None
    told = unescape(re.sub(r"<[^>]*>", "", pre[1])).splitlines()
    assert [line.split() for line in told] == [line.split() for line in FAILED.splitlines()]


@pytest.mark.parametrize("verdict", [*RULES, *GOOD, *MEANING, "out of memory"])
def test_every_verdict_has_a_colour(verdict: str) -> None:
    page = render(Page("t", [Section(head=("a",), rows=[(verdict,)])]), "html")
    coloured = {
        name for names in re.findall(r"((?:\.[a-z-]+,? )+){ color: var", page) for name in re.findall(r"[a-z-]+", names)
    }
    assert coloured & {*verdict.split()}
