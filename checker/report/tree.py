"""A derivation as a tree: a line a rule application, with the judgement that it proves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from checker.kernel import judgement_of
from logic.assertions import Context, Cost, Triple
from logic.derivation import Derivation, size
from logic.refusals import Rejected
from logic.rules import RuleSet
from logic.source import Loc
from logic.syntax import Stmt, show, show_stmt

DEPTH: Final = 4
"""The levels that are shown where nothing else is asked for."""

WIDEST: Final = 60
"""The most characters of a statement or expression."""


@dataclass(frozen=True, slots=True)
class Line:
    """A rule application at its level, 0 for the root, and whether it is the last one at that level under its parent.
    `hidden` counts the applications above it that are not shown; `refused` is where a checker stopped."""

    level: int
    last: bool
    rule: str
    loc: Loc | None
    judgement: str
    hidden: int = 0
    refused: bool = False


Path = tuple[int, ...] | None
"""The way to the application that was refused; None off that way."""


def tree(root: Derivation, rules: RuleSet, context: Context, depth: int = DEPTH, refused: Path = None) -> list[Line]:
    """The applications of a derivation, each before its premises, to a depth; further on the way to one that was
    refused, which `refused` leads to by the numbers of premises."""
    found: list[Line] = []
    left: list[tuple[Derivation, int, bool, Path]] = [(root, 0, True, refused)]
    while left:
        node, level, last, path = left.pop()
        premises = list(premises_of(node, rules, path))
        shown = premises if level + 1 < depth or path else []
        hidden = 0 if shown else size(node) - 1
        judgement = _judgement(node, rules, context)
        found.append(Line(level, last, node.rule, node.loc, judgement, hidden, refused=path == ()))
        ends = [i == len(shown) - 1 for i in range(len(shown))]
        left += reversed([(p, level + 1, end, way) for (p, way), end in zip(shown, ends, strict=True)])
    return found


def premises_of(node: Derivation, rules: RuleSet, path: Path = None) -> Iterator[tuple[Derivation, Path]]:
    """The premises, those of statements in a row at one level, and the ways on to what was refused, if `path` leads to
    something."""
    left = [(node, path)]
    while left:
        inner, way = left.pop()
        if inner is not node and (way == () or not (_in_a_row(inner, rules) and _in_a_row(node, rules))):
            yield inner, way
            continue
        on = [(p, way[1:] if way and way[0] == i else None) for i, p in enumerate(inner.premises)]
        left += reversed(on)


def _in_a_row(node: Derivation, rules: RuleSet) -> bool:
    """Whether it is an application of a rule for statements in a row."""
    rule = rules.rules.get(node.rule)
    return rule is not None and rule.shape == "seq"


def _judgement(node: Derivation, rules: RuleSet, context: Context) -> str:
    """The judgement that an application is to prove, with potentials alone of conditions; as far as it can be said."""
    rule = rules.rules.get(node.rule)
    try:
        told = None if rule is None else judgement_of(rule.conclusion, node.substitution, context)
    except (Rejected, KeyError):
        return "its letters do not fit the rule"
    match told:
        case Triple(pre, stmt, post):
            return f"{{{pre.q}}} {_short(_first(stmt))} {{{post.q}}}"
        case Cost(_, _, e, cost):
            return f"{_short(show(e))} : {cost}"
    return "no rule of this set"


def _first(stmt: Stmt) -> str:
    first, *rest = show_stmt(stmt).splitlines()
    return f"{first} .." if rest else first


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 2]}.."


def as_text(lines: list[Line]) -> str:
    """The tree, drawn with lines."""
    told: list[str] = []
    open_: list[bool] = []
    for line in lines:
        del open_[max(line.level - 1, 0) :]
        bars = "".join("|  " if more else "   " for more in open_)
        branch = "" if line.level == 0 else "`- " if line.last else "|- "
        if line.level:
            open_.append(not line.last)
        place = f" {line.loc.line}:{line.loc.column}" if line.loc else ""
        more = f"  ({line.hidden} more)" if line.hidden else ""
        told.append(f"{bars}{branch}{line.rule}{place}  {line.judgement}{more}{'  <- refused' if line.refused else ''}")
    return "\n".join(told)


def as_rows(lines: list[Line]) -> list[dict[str, Any]]:
    """The tree for programs: a row an application, in the same order."""
    return [
        {
            "level": line.level,
            "rule": line.rule,
            "line": line.loc.line if line.loc else None,
            "column": line.loc.column if line.loc else None,
            "judgement": line.judgement,
            "hidden": line.hidden,
            "refused": line.refused,
        }
        for line in lines
    ]
