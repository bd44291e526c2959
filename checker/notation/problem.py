"""Problems of texts: what is wrong, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logic.source import Loc, SourceError

if TYPE_CHECKING:
    from lark import Token, Tree

    Node = Tree[Token] | Token


class SyntaxProblem(SourceError):
    """A text that is not what it should be, at its place."""


class NameProblem(SyntaxProblem):
    """A name that nothing has."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a text: its first character is in this line and column of the file."""

    file: str
    line: int = 1
    column: int = 1

    def at(self, line: int, column: int) -> Loc:
        """The place of a line and column of the text, both from 1."""
        return Loc(self.file, self.line + line - 1, column + self.column - 1 if line == 1 else column)

    def of(self, node: Node) -> Loc:
        """The place where a node of the parse tree begins."""
        meta = node if isinstance(node, str) else node.meta
        return self.at(meta.line or 1, meta.column or 1)


def words(nodes: Iterable[Node]) -> list[Token]:
    """The tokens among the nodes."""
    return [n for n in nodes if isinstance(n, str)]


def trees(nodes: Iterable[Node]) -> list[Tree[Token]]:
    """The nodes that are no tokens."""
    return [n for n in nodes if not isinstance(n, str)]


def shortened(text: str) -> str:
    """A word of the source in quotes, cut where it is long."""
    return f"'{text if len(text) <= 40 else text[:37] + '...'}'"


class OptionProblem(SourceError):
    """An option or its value cannot be used."""
