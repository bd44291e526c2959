"""Heads of statements: which part is which, where libclang lists them without the empty ones and without a word."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import accumulate, takewhile
from typing import Final

from semantics.cuda.clang import Node
from semantics.cuda.errors import unsupported
from semantics.cuda.lost import WORD, blanked
from semantics.cuda.shapes import CASTS, bare
from semantics.cuda.shim import is_index


def in_order(declared: tuple[Node, ...], parts: tuple[Node, ...]) -> tuple[Node, ...]:
    """The declarations in the head of an `if`, in the order of C: libclang has the variable that is the test first.
    Raises where a statement is before that."""
    tested = next((d for d in declared if d.kind == "VAR_DECL"), None)
    if tested is None:
        return declared
    named = (n.referenced for n in parts[0].walk() if n.kind == "DECL_REF_EXPR")
    if not any(decl is not None and decl.identity == tested.identity for decl in named):
        raise unsupported("a statement in a condition", parts[0].loc, "Write it before.")
    return (*(d for d in declared if d is not tested), tested)


def check_if(node: Node) -> None:
    """Raises for an `if` of which nothing says whether its three parts are a test and two branches, or a statement, a
    test and a branch."""
    if len(node.children) == 3 and _with_else(*node.children):
        return
    check_condition(node)
    if len(node.children) == 3:
        test, then, other = (part.span for part in node.children)
        if test[:2] == then[:2]:
            raise unsupported("an 'if' with several of its parts in one macro", node.loc, "Write it out.")
        end, begin = then[2], other[1]  # a statement and a test would be three parts, too
        before = takewhile(lambda token: token[1] < begin, _nested(node))
        code = [text for text, at, depth in before if depth == 0 and end <= at and not text.startswith(("//", "/*"))]
        if code[-1:] != ["else"] or {"#", "%:"} & {*code}:
            raise unsupported("an 'if' with three parts and no 'else' in sight", node.loc, "Write it out.")


def _with_else(test: Node, then: Node, _: Node) -> bool:
    """Whether three parts are a test, which is a truth value, and two branches for certain: the second is none."""
    return test.type.kind == "bool" and (then.kind.endswith("_STMT") or then.type.kind not in ("bool", "other"))


def _nested(node: Node) -> Iterator[tuple[str, int, int]]:
    """The tokens of a statement with their offsets, and how many parentheses and braces each is in."""
    depth = 0
    for text, offset in node.tokens():
        depth -= text in ")]}"
        yield text, offset, depth
        depth += text in "([{"


def check_condition(node: Node) -> None:
    """Raises where the parentheses of an `if` or `switch` hold a statement, too: libclang does not show that of a
    `switch`."""
    tokens = _nested(node)
    if next(tokens, ("", 0, 0))[:2] not in (("if", node.span[1]), ("switch", node.span[1])):
        if node.kind == "SWITCH_STMT":
            raise unsupported("a 'switch' in a macro", node.loc, "Write it out.")
        return
    macro = False
    for text, _, depth in tokens:
        if text == ")" and depth == 0:
            break
        macro = macro or text in node.unit.macros.predefined
        if text in node.unit.macros.splitting or (text == ";" and (depth == 1 or macro)):
            raise unsupported("a statement in a condition", node.loc, "Write it before.")


def check_range(node: Node) -> None:
    """Raises where the parentheses of a `for` over a range may hold a statement before that: libclang does not show it.
    Of a loop that a macro makes, the text is the macro's name and arguments."""
    (file, start, end), (_, body, _) = node.span, node.children[-1].span
    text = blanked(node.unit.text(file)[start : body if body > start else end])
    words = {word.decode("latin-1") for word in WORD.findall(text)}
    depths = accumulate((c in b"([{") - (c in b")]}") for c in text)
    if words & node.unit.macros.splitting or any(c == 0x3B and d <= 1 for c, d in zip(text, depths, strict=True)):
        raise unsupported("a statement in the head of a range-based 'for'", node.loc, "Write it before.")


_HEADS: Final = {"SWITCH_STMT": "switch", "CXX_FOR_RANGE_STMT": "for"}


def declared_in(node: Node) -> Node | None:
    """The variable that the head of a `switch`, or of a `for` over a range, declares before its `;`, which libclang
    shows only where it is named; None where that is not certain: the text from the parenthesis to the `;` has to be
    this declaration and no other. None for other nodes, too."""
    if node.kind not in _HEADS:
        return None
    tokens = _nested(node)
    if next(tokens, ("", 0, 0))[:2] != (_HEADS[node.kind], node.span[1]):
        return None
    head = [*takewhile(lambda token: (token[0], token[2]) != (")", 0), tokens)]
    ends = [at for text, at, depth in head if text == ";" and depth == 1]
    odd = any(text in node.unit.macros.predefined or text in node.unit.macros.splitting for text, _, _ in head)
    if len(ends) != 1 or odd or any(text == "," and depth == 1 for text, _, depth in head):
        return None
    begin = next((at for text, at, depth in head if depth == 1 and at > node.span[1]), None)
    last = max((at + len(text.encode()) for text, at, _ in head if at < ends[0]), default=None)
    named = (n.referenced for n in node.walk() if n.kind == "DECL_REF_EXPR")
    found = (decl for decl in named if decl is not None and decl.kind == "VAR_DECL")
    return next((decl for decl in found if decl.span == (node.span[0], begin, last)), None)


def header(node: Node) -> tuple[Node | None, Node | None, Node | None, Node]:
    """The parts of a `for`, which libclang lists without the empty ones: they are told apart by the two semicolons."""
    *head, body = node.children
    for part in head:
        if part.kind == "VAR_DECL":
            raise unsupported("a declaration in a condition", part.loc, "Declare the variable in the body.")
    if len(head) == 3 and not head[1].kind.endswith(("_DECL", "_STMT")):
        return head[0], head[1], head[2], body
    semicolons: list[int] = []
    depth = 0
    tokens = node.tokens()
    if next(tokens, None) != ("for", node.span[1]) or len({part.span[1] for part in head}) < len(head):
        raise unsupported("a 'for' with its parts in a macro", node.loc, "Write it as a 'while'.")
    for text, offset in tokens:
        depth += (text in "([{") - (text in ")]}")
        if depth == 0:
            break
        if text in node.unit.macros.splitting:
            raise unsupported("the head of this 'for'", node.loc, "Write it without directives, and macros with ';'.")
        if text == ";" and depth == 1:
            semicolons.append(offset)
    if len(semicolons) != 2 or len(head) > 3:
        raise unsupported("this 'for'", node.loc, "Write it as a 'while'.")
    found: list[Node | None] = [None, None, None]
    for part in head:
        _, start, _ = part.span
        found[sum(start > s for s in semicolons)] = part
    return found[0], found[1], found[2], body


def counts_alone(counters: AbstractSet[int], init: Node | None, increment: Node | None) -> bool:
    """Whether an increment is arithmetic on variables that nothing but the loop sees, `counters` or those that its head
    declares, and does nothing else."""
    if init is None or increment is None:
        return False
    if init.kind == "DECL_STMT":
        declared = {n.identity for n in init.walk() if n.kind == "VAR_DECL" and n.type.kind in ("int", "bool")}
    else:
        assigns = init.kind == "BINARY_OPERATOR" and init.operator == "="
        named = bare(init.children[0]).referenced if assigns else None
        declared = {named.identity} & counters if named is not None else set()
    return all(
        n.kind in (*CASTS, "PAREN_EXPR", "INTEGER_LITERAL", "BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR")
        or (n.kind == "UNARY_OPERATOR" and n.operator != "*")
        or (n.kind == "DECL_REF_EXPR" and (n.type.kind in ("int", "bool") or is_index(n)))
        or (n.kind == "MEMBER_REF_EXPR" and n.children and all(map(is_index, n.children)))
        for n in increment.walk()
    ) and all(
        (target := bare(n.children[0])).kind == "DECL_REF_EXPR"
        and target.referenced is not None
        and target.referenced.identity in declared
        for n in increment.walk()
        if (n.kind.endswith("_OPERATOR") and n.operator in ("x++", "++x", "x--", "--x", "="))
        or n.kind == "COMPOUND_ASSIGNMENT_OPERATOR"
    )
