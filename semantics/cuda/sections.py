"""The sections of a `switch`, as C reads them."""

from __future__ import annotations

from dataclasses import dataclass

from logic.source import Loc
from semantics.cuda.clang import Node
from semantics.cuda.errors import unsupported

LABELS = ("CASE_STMT", "DEFAULT_STMT")


@dataclass(frozen=True, slots=True)
class Section:
    """Labels, and the statements up to the next label. `cases` are ranges of values, `default` is whether one of the
    labels is that."""

    cases: tuple[tuple[int, int], ...]
    default: bool
    parts: tuple[Node, ...]
    loc: Loc | None


def sections(node: Node) -> list[Section]:
    """The sections of a `switch` in order; the first has no label and is there for its declarations alone.

    Raises CudaError for a label that is no constant, or in the middle of another statement.
    """
    _, body = node.children
    found = [Section((), False, (), node.loc)]
    for part in body.children if body.kind == "COMPOUND_STMT" else (body,):
        cases: list[tuple[int, int]] = []
        default, here = False, part
        while here.kind in LABELS:
            *values, inner = here.children
            default |= here.kind == "DEFAULT_STMT"
            if values:
                low, high = _constant(values[0]), _constant(values[-1])
                cases.append((low, high))
            here = inner
        if any(n.kind in LABELS for n in _own(here)):
            raise unsupported("a label inside another statement", part.loc, "Put it in the block of the 'switch'.")
        if part is not here:
            found.append(Section(tuple(cases), default, (), part.loc))
        last = found[-1]
        found[-1] = Section(last.cases, last.default, (*last.parts, here), last.loc)
    return found


def following(found: list[Section], i: int) -> tuple[Node, ...]:
    """The statements from the section with a number on."""
    return tuple(part for section in found[i:] for part in section.parts)


def _own(node: Node) -> list[Node]:
    """A statement and what is in it, but not in another `switch` in it."""
    if node.kind == "SWITCH_STMT":
        return []
    return [node, *(n for c in node.children for n in _own(c))]


def _constant(node: Node) -> int:
    value = node.evaluate()
    if not isinstance(value, int):
        raise unsupported("this label", node.loc, "Write it as a constant.")
    return int(value)
