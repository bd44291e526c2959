"""Pages: what a command says, as data, and as Markdown, HTML and SARIF; one way for all commands.

The audit report has a page of its own (`checker.report.audit`), made with what stands here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from checker.notation.words import many, printable
from checker.recheck import VACUOUS
from checker.report.sarif import Level, log, message, place
from checker.report.terminal import TAB
from logic.source import Loc

RULES: Final[Mapping[str, tuple[Level, str]]] = {
    "not-proved": ("warning", "could not be proved: it may be true"),
    "vacuous": ("error", VACUOUS),
    "holey": ("warning", "proved, where the barriers listed are reached by all threads of a block together"),
    "timeout": ("warning", "it took longer than it may: nothing is said of it"),
    "out-of-memory": ("warning", "it took more memory than it may: nothing is said of it"),
    "crashed": ("warning", "the process that looked at it ended: nothing is said of it"),
    "budget": ("error", "a kernel costs more than its budget, or is no longer proved to keep to it"),
    "grew": ("error", "the bound is higher than before"),
    "dearer": ("error", "a run of the new version costs more than the same one of the old version"),
    "lost": ("error", "there was a certified bound, and is none any more"),
    "refuted": ("error", "a run shows it to be false"),
    "unsupported": ("warning", "the kernel cannot be read: nothing is said of what it costs"),
    "rejected": ("error", "the derivation or the certificate does not prove its claim"),
    "unreadable": ("error", "the file cannot be read"),
    "invalid": ("error", "the second checker does not accept the certificate"),
    "solver-backed": ("warning", "right so far, but the second checker needs a solver's word"),
    "not-certified": ("warning", "not verified by both checkers, or they do not agree"),
    "divergence": ("error", "some threads of a block reach a barrier that others do not"),
    "broken": ("error", "what is assumed inside the kernel, or required of data, does not hold"),
    "out-of-bounds": ("error", "an access is outside of its array: reads give 0 there, and writes are lost"),
    "deadlock": ("error", "the machine waits at a barrier for ever"),
    "unsound": ("error", "the rules allow a derivation that a run does not keep to"),
    "untried": ("warning", "no derivation could be tried"),
    "survived": ("warning", "no trial tells the changed rule from the rule"),
    "uncoalesced": ("warning", "a warp needs more lines than its lanes would in consecutive places, wherever they lie"),
    "conflicting": ("warning", "lanes of a warp need more words of one bank than they would in consecutive places"),
    "misaligned": ("note", "a warp needs more lines than its lanes would if all of them were moved by one distance"),
    "exceeded": ("error", "the compiled code needs more than is certified of the source"),
    "on-trial": ("warning", "a bound by rules on trial: it certifies nothing"),
    "unknown": ("note", "not proved to be good, and no example shows that it is bad"),
}
"""The kinds of faults: the level of a SARIF result, and what it means."""

GOOD: Final = ("certified", "accepted", "valid")


@dataclass(frozen=True, slots=True)
class Section:
    """A section under a heading, or under none, in this order and as far as there is any: a picture (SVG, of HTML
    alone, which is put there as it is), a sentence, a table, lines that keep their layout, and a list. `code` names the
    columns of the table that hold program text or formulas; `links` are where the first cells of its rows lead, in
    HTML, "" for those that lead nowhere."""

    title: str = ""
    text: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    code: Sequence[str] = ()
    fixed: str = ""
    items: Sequence[str] = ()
    picture: str = ""
    links: Sequence[str] = ()


UNREAD: Final = ("unsupported", "unreadable")
"""Rules of what is exit code 2."""


def rule_of(verdict: str) -> str:
    """The rule of a verdict that is no good one.

    >>> rule_of("out of memory")
    'out-of-memory'
    """
    return verdict.replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong: one of RULES, what the text output says of it, and a place, a file, or neither."""

    rule: str
    text: str
    where: Loc | str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page: what a command says. No faults: all is well. `up` is the page that leads to it and its name, in HTML."""

    title: str
    sections: Sequence[Section] = ()
    faults: Sequence[Fault] = ()
    assumptions: Sequence[str] = ()
    up: tuple[str, str] | None = None


def render(page: Page, form: str) -> str:
    """A page as `markdown`, `html` or `sarif`."""
    forms: dict[str, Callable[[Page], str]] = {"markdown": as_markdown, "html": as_html, "sarif": as_sarif}
    return forms[form](page)


def _sections(page: Page) -> list[Section]:
    """All sections; the last is what the page assumes."""
    last = [Section("This assumes", items=page.assumptions)] if page.assumptions else []
    return [*page.sections, *last]


# --- Markdown --------------------------------------------------------------------------------------------------------


def as_markdown(page: Page) -> str:
    """A page of Markdown."""
    blocks = [f"# {plain(page.title)}"]
    for s in _sections(page):
        blocks += [f"## {plain(s.title)}"] if s.title else []
        blocks += [plain(s.text)] if s.text else []
        blocks += [_table(s)] if s.head else []
        blocks += [fenced(s.fixed)] if s.fixed else []
        blocks += ["\n".join(f"- {plain(item)}" for item in s.items)] if s.items else []
    return clean("\n\n".join(blocks))


def _table(s: Section) -> str:
    head = [[plain(name) for name in s.head], ["---"] * len(s.head)]
    body = [[inline(cell) if name in s.code else plain(cell) for name, cell in _pairs(s, row)] for row in s.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (*head, *body))


def _pairs(s: Section, row: Sequence[str]) -> Iterable[tuple[str, str]]:
    return zip(s.head, row, strict=True)


def plain(text: str) -> str:
    """Text in which Markdown sees no markup, on one line."""
    text = " ".join(text.splitlines())
    escaped = "".join(f"\\{c}" if c in "\\`*_[]<>|#&~" else c for c in text)
    return re.sub(r"^(\d*)([-+.)])(?=[-\s]|$)", r"\1\\\2", escaped)  # the marks of lists and rules


def inline(text: str) -> str:
    """Text as code, in a cell of a table: between more backticks than it has in a row. Nothing for nothing."""
    if not text:
        return ""
    ticks = "`" * _more_ticks(text, 1)
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}".replace("|", "\\|").replace("\n", " ")


def fenced(text: str) -> str:
    """Lines that keep their layout, between fences longer than any in them."""
    ticks = "`" * _more_ticks(text, 3)
    return f"{ticks}text\n{text}\n{ticks}"


def _more_ticks(text: str, least: int) -> int:
    return max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


def clean(text: str) -> str:
    """The lines without control characters."""
    return "\n".join(printable(line.expandtabs(TAB)) for line in text.split("\n"))


# --- HTML ------------------------------------------------------------------------------------------------------------


_RULE: Final = re.compile(r"( *)(-{3,}) (\S+)")
_BEGIN: Final = re.compile(r"[> ]*(?:\d+  )?[\s^]*")
_WITHIN: Final = 16
"""The most characters before the text of a line that its other lines begin below, where the page is narrow."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A line that keeps its layout: where its text begins, whether it is marked as what fails, and of the bar of a rule
    the bar and the rule's name."""

    text: str
    within: int
    wrong: bool
    bar: str = ""
    rule: str = ""


def kept(text: str) -> list[Kept]:
    """The lines of a text: what fails is marked by `>` before it, or by `^` below."""
    found = []
    for line in text.split("\n"):
        if drawn := _RULE.fullmatch(line):
            found.append(Kept(line, len(drawn[1]), False, drawn[2], drawn[3]))
            continue
        begin = _BEGIN.match(line)
        wrong = line.lstrip().startswith(("> ", "^ "))
        found.append(Kept(line, min(_WITHIN, begin.end() if begin else 0), wrong))
    return found


def as_html(page: Page) -> str:
    """One page that needs nothing else."""
    words = frozenset((*RULES, *GOOD))
    return filled("page.html.jinja", page=page, sections=_sections(page), pairs=_pairs, kept=kept, words=words)


def filled(template: str, **values: Any) -> str:
    """A template of this folder, with values that are escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("checker.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return clean(templates.get_template(template).render(**values))


# --- SARIF -----------------------------------------------------------------------------------------------------------


def as_sarif(page: Page) -> str:
    """A SARIF 2.1.0 log: a result for each fault; the rules are those that there are results of. A run of which
    something could not be read was not successful."""
    unread = [f for f in page.faults if f.rule in UNREAD]
    problem = f"{many(len(unread), 'part')} of the input cannot be read: {unread[0].text}" if unread else ""
    rules = [(name, *RULES[name]) for name in dict.fromkeys(f.rule for f in page.faults)]
    properties = {"assumptions": list(page.assumptions)} if page.assumptions else {}
    return json.dumps(log(rules, [_result(f) for f in page.faults], properties, problem), indent=2)


def _result(f: Fault) -> dict[str, Any]:
    match f.where:
        case Loc(file, line, column) if file:
            where = [place(file, line, column)]
        case str() as file if file:
            where = [place(file)]
        case _:
            where = []
    return {"ruleId": f.rule, "level": RULES[f.rule][0], "message": message(f.text), "locations": where}
