"""How C statements end: at their end, or by a jump; and which statements of a loop's body lead out of it alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from semantics.cuda.clang import Node
from semantics.cuda.classes import guards
from semantics.cuda.errors import unsupported
from semantics.cuda.sections import LABELS, sections

Part = Node | Callable[[], None]
Kinds = frozenset[str]

JUMPS: Final = {"RETURN_STMT": "return", "BREAK_STMT": "break", "CONTINUE_STMT": "continue"}
LOOPS: Final = ("FOR_STMT", "WHILE_STMT", "DO_STMT", "CXX_FOR_RANGE_STMT")
GOTO: Final = "goto "
"""The prefix of the kind of a jump to a label; the label's name follows."""

_INNER: Final = frozenset({"break", "continue"})
_THROUGH: Final = frozenset({"through"})


def jumps(part: Part) -> Kinds:
    """The kinds of jump that may leave a statement."""
    if not isinstance(part, Node):
        return frozenset()
    if (kind := jump(part)) is not None:
        return frozenset({kind})
    if part.kind == "COMPOUND_STMT":
        return of_row(part.children)
    if part.kind in ("IF_STMT", "UNEXPOSED_STMT", "SWITCH_STMT", "LABEL_STMT", *LABELS, *LOOPS):
        found = frozenset().union(*(jumps(c) for c in part.children))
        return found - (_INNER if part.kind in LOOPS else {"break"} if part.kind == "SWITCH_STMT" else frozenset())
    return frozenset()


def jump(node: Node) -> str | None:
    """The kind of jump that a statement is, None for all else."""
    return f"{GOTO}{node.children[0].name}" if node.kind == "GOTO_STMT" else JUMPS.get(node.kind)


def leaving(kinds: Kinds) -> Kinds:
    """The kinds of jump that leave a loop which they are in."""
    return kinds - {"continue"}


def label(part: Part) -> str:
    """The kind of the jumps that lead to a statement; empty where it has no label."""
    return f"{GOTO}{part.name}" if isinstance(part, Node) and part.kind == "LABEL_STMT" else ""


def of_row(parts: tuple[Part, ...]) -> Kinds:
    """The kinds of jump that may leave statements in a row: not those to a label of one of them."""
    return frozenset().union(*map(jumps, parts)) - {*map(label, parts)}


def check_labels(body: Node) -> None:
    """Raise for a jump to a label that is in no block around it."""
    wrong = {kind for kind in jumps(body) if kind.startswith(GOTO)}
    for node in body.walk() if wrong else ():
        if node.kind == "GOTO_STMT" and jump(node) in wrong:
            raise unsupported("a 'goto' that leads into a block", node.loc, "Write it with loops and 'if'.")


def goes_back(parts: tuple[Part, ...]) -> bool:
    """Whether a jump leads to the first of statements in a row, from it or one behind it."""
    kind = label(parts[0])
    return bool(kind) and any(kind in jumps(part) for part in parts)


class Back(NamedTuple):
    """Statements from a label on, `before; if (test) { body; goto label; } rest`, with no other jump to it; `node` is
    the `if`."""

    before: tuple[Part, ...]
    node: Node
    body: tuple[Part, ...]
    rest: tuple[Part, ...]


def way_back(kind: str, parts: tuple[Part, ...]) -> Back | None:
    """The parts of a loop that one `goto` at the end of an `if` makes, which nothing else leaves in the middle of a
    turn but what leaves it for good; None of all else."""
    at = [i for i, part in enumerate(parts) if kind in jumps(part)]
    node = parts[at[0]]
    if len(at) > 1 or not isinstance(node, Node) or node.kind != "IF_STMT" or len(node.children) != 2:
        return None
    before, body = parts[: at[0]], tuple(flat(node.children[1]))
    if any(map(jumps, before)) or jump(body[-1]) != kind or of_row(body[:-1]) & {kind, *_INNER}:
        return None
    return Back(before, node, body[:-1], parts[at[0] + 1 :])


def last_label(parts: tuple[Part, ...]) -> int:
    """The number of the last statement to which one of those before it jumps; 0 if there is none."""
    last, before = 0, set[str]()
    for i, part in enumerate(parts):
        if label(part) in before:
            last = i
        before |= jumps(part)
    return last


def acts(node: Node) -> bool:
    """Whether an expression may do anything."""
    return node.kind.endswith(("_OPERATOR", "CALL_EXPR"))


def endless(test: Node | None) -> bool:
    """Whether the test of a loop always holds, and does nothing."""
    return test is None or (not any(map(acts, test.walk())) and test.evaluate() not in (0, None))


def ends(parts: tuple[Part, ...], without: Node | None = None) -> Kinds:
    """How statements in a row may end: "through", or by a kind of jump. Ways that pass a statement may be left out."""
    found = _THROUGH
    for part in parts:
        if label(part) in found:
            found = found - {label(part)} | _THROUGH
        if "through" in found:
            found = found - _THROUGH | _ends(part, without)
    return found


def _ends(part: Part, without: Node | None) -> Kinds:
    if not isinstance(part, Node):
        return _THROUGH
    if part is without:
        return frozenset()
    match part.kind:
        case "GOTO_STMT" | "RETURN_STMT" | "BREAK_STMT" | "CONTINUE_STMT":
            return jumps(part)
        case "COMPOUND_STMT" | "UNEXPOSED_STMT" | "LABEL_STMT":
            return ends(part.children, without)
        case "CASE_STMT" | "DEFAULT_STMT":
            return ends(part.children[-1:], without)
        case "IF_STMT":
            _, *branches = after_declarations(part)
            return frozenset().union(*(_ends(b, without) for b in branches), _THROUGH if len(branches) < 2 else ())
        case "SWITCH_STMT":
            return _of_switch(part, without)
        case kind if kind in LOOPS:
            inside = ends((_body(part),), without)
            test = part.children[1 if part.kind == "DO_STMT" else 0]
            forever = part.kind in ("WHILE_STMT", "DO_STMT") and endless(test) and "break" not in inside
            return inside - _INNER - _THROUGH | (frozenset() if forever else _THROUGH)
    return _THROUGH


def after_declarations(node: Node) -> tuple[Node, ...]:
    """The parts of an `if` without what its head declares before the test."""
    parts = node.children
    while parts[0].kind in ("VAR_DECL", "DECL_STMT"):
        parts = parts[1:]
    return parts


def _body(loop: Node) -> Node:
    return loop.children[0 if loop.kind == "DO_STMT" else -1]


def _of_switch(node: Node, without: Node | None) -> Kinds:
    _, *found = sections(node)
    own = [ends(section.parts, without) for section in found]
    default = any(section.default for section in found)
    falls = not default or (bool(own) and "through" in own[-1]) or any("break" in e for e in own)
    return frozenset().union(*own) - {"break", "through"} | (_THROUGH if falls else frozenset())


def turns_or_jumps(node: Node) -> bool:
    """Whether a jump leaves a statement, or it has a loop in it."""
    return bool(jumps(node)) or any(n.kind in LOOPS for n in node.walk())


def flat(node: Node) -> Iterator[Node]:
    """The statements of a body; those of a block with a jump in it one by one, as `block` has them, unless it has
    destructors to call."""
    for part in node.children if node.kind == "COMPOUND_STMT" and not guards(node) else (node,):
        if part.kind == "COMPOUND_STMT" and jumps(part) and not guards(part):
            yield from flat(part)
        else:
            yield part


class WayOut(NamedTuple):
    """`if (c) jump; else stays`, a jump out of a loop; or the other way around, where c `holds` for those that stay."""

    jump: Node
    holds: bool
    stays: tuple[Node, ...]


def way_out_of(node: Node) -> WayOut | None:
    """The parts of `if (c) break;` or `if (c) return e;`, with `else` or without, or in the `else`; None of all
    else."""
    parts = after_declarations(node) if node.kind == "IF_STMT" else ()
    if not 2 <= len(parts) <= 3:
        return None
    sides = parts[1:]
    for i, side in enumerate(sides):
        parts = side.children if side.kind == "COMPOUND_STMT" else (side,)
        if len(parts) == 1 and parts[0].kind in ("BREAK_STMT", "RETURN_STMT"):
            return WayOut(
                parts[0], i == 1, tuple(part for j, side in enumerate(sides) if j != i for part in flat(side))
            )
    return None


def breaks(node: Node) -> bool:
    """Whether a statement is `if (c) break;`"""
    found = way_out_of(node)
    return found is not None and found.jump.kind == "BREAK_STMT" and not found.stays


# --- ways out of a loop ----------------------------------------------------------------------------------------------


def sole_exit(parts: tuple[Node, ...]) -> Node | None:
    """The first statement in the body of a loop without a test that all lanes pass which leave it, and from which no
    way leads back to the head; None where there is none.

    In a graph of the program this statement is outside of the loop, and post-dominates it: there the lanes meet.
    """
    leads = {"through": True, "continue": True}
    if not _back(parts, leads):
        return None
    return next((p for p in _past(parts, leads) if not leaving(ends(parts, p)) - _THROUGH), None)


def _back(parts: tuple[Node, ...], leads: Mapping[str, bool]) -> bool:
    """Whether a way leads from the beginning of the parts to the head of the loop. `leads` says which of the ways that
    they may end does."""
    return any(leads.get(kind, False) for kind in ends(parts))


def _past(parts: tuple[Node, ...], leads: Mapping[str, bool]) -> Iterator[Node]:
    """The first statements in the parts, and in statements of them, that lead to the head of the loop no more."""
    for i, part in enumerate(parts):
        if not _back(parts[i:], leads):
            yield part
            return
        yield from _within(part, {**leads, "through": _back(parts[i + 1 :], leads)})


def _within(part: Node, leads: Mapping[str, bool]) -> Iterator[Node]:
    match part.kind:
        case "COMPOUND_STMT" | "UNEXPOSED_STMT" | "LABEL_STMT":
            yield from _past(part.children, leads)
        case "IF_STMT":
            for branch in part.children[1:]:
                yield from _past((branch,), leads)
        case "SWITCH_STMT":
            then = {**leads, "break": leads["through"]}
            for section in reversed(sections(part)[1:]):  # any may be jumped to
                yield from _past(section.parts, then)
                then = {**then, "through": _back(section.parts, then)}
        case kind if kind in LOOPS:
            again = leads["through"] and "through" in _ends(part, None)
            yield from _past((_body(part),), {"through": again, "continue": again, "break": leads["through"]})
