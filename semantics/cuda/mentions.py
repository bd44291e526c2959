"""Uses of a variable in host code. clang leaves out what it cannot resolve for lack of a header, so its tree is held
against the text: a variable is known only where each word of the text that names it is a mention in the tree."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from semantics.cuda.clang import Node, Unit
from semantics.cuda.diagnostics import Reach
from semantics.cuda.macros import pastes
from semantics.cuda.shim import in_shim

Token = tuple[str, int]

_WORD: Final = re.compile(rb"[^\W\d]\w*")
_NAMING: Final = ("DECL_REF_EXPR", "MEMBER_REF_EXPR", "TYPE_REF", "TEMPLATE_REF")
_UNDECLARED: Final = re.compile(r"use of undeclared identifier '(\w+)'")
_DEFINED: Final = re.compile(rb"\s*([^\W\d]\w*)\(([^()\n]*)\)([^\n]*)")
"""The definition of a macro with parameters, and no other."""
_SIZED: Final = re.compile(r"dim3|(u?(char|short|int|long|longlong)|float|double)[1-4]|u?int\d+_t|size_t")
"""Types of the shim that are as large as CUDA's."""
_TYPES: Final = frozenset(b"const static constexpr unsigned signed int long short char size_t".split())
_DECLARATOR: Final = re.compile(rb"((?:[^\W\d]\w*\s+)+)[^\W\d]\w*\s*[=,({]")
"""The words of a type, and a declarator, after which others follow."""
_NUMBERS: Final = ("min", "max", "ceil", "ceilf", "floor", "floorf", "atoi")
"""Functions of the shim that give numbers."""
_PRINTED: Final = re.compile(r"(?:std :: )?(?:cout|cerr|clog)(?: (?:<<|::|\.|\w+))*")


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a variable, and the nodes around it from the innermost to the function."""

    node: Node
    around: tuple[Node, ...]

    @property
    def moved(self) -> bool:
        """Whether a macro puts it where it is: what the text has around it says nothing then."""
        file, at = self.node.written
        word = _WORD.match(self.node.unit.text(file), at)
        return at != self.node.offset or word is None or word[0] != self.node.name.encode()


def mentions(decl: Node, host: Node) -> list[Mention] | None:
    """Where a function mentions a variable, its declaration aside, without what only prints a field of it. None where
    the text of the function may do so elsewhere, too."""
    unit, name = host.unit, decl.name
    tokens = code(host)
    words = [word for word, _ in tokens]
    hiding = unit.macros.saying(lambda text: names(text, name) and names(_without_parameters(text), name))
    moved = {at: _mentioned_in(unit, word, name, hiding) for word, at in tokens if word in hiding}
    if "include" in words or None in moved.values() or not unit.macros.saying(pastes).isdisjoint(words):
        return None
    places = {at for i, (word, at) in enumerate(tokens) if word == name and not _printed(tokens, i)}
    found, seen = [], set[int]()
    for mention in _named(host, name):
        node = mention.node
        file, at = node.written
        refers = node.kind in ("DECL_REF_EXPR", "TYPE_REF") and _is(node.referenced, decl)
        if file == host.span[0] and (left := moved.get(at)):
            if not refers:
                return None  # it declares another one
            moved[at] = left - 1
        if refers:
            if (
                file != host.span[0]
                or at not in (places | moved.keys())
                or (mention.moved and _loses(host, node.offset))
            ):
                return None
            found.append(mention)
        if file == host.span[0]:
            seen.add(at)
    return found if places <= seen and not any(moved.values()) else None


def _mentioned_in(unit: Unit, macro: str, name: str, hiding: Collection[str]) -> int | None:
    """How often what a macro stands for has a word, by itself; None where others that it names have it, or may."""
    text = unit.macros.texts[macro].strip()
    body = _without_parameters(text)
    found = _WORD.findall(body if _DEFINED.fullmatch(text) else body[len(macro) :])
    if not text.isascii() or b"\\" in text or b"$" in text or macro.encode() in found:
        return None
    return found.count(name.encode()) if {w.decode() for w in found}.isdisjoint(hiding) else None


def _is(found: Node | None, decl: Node) -> bool:
    return found is not None and found.identity == decl.identity


def _loses(host: Node, at: int) -> bool:
    """Whether clang may have left out a part of what a macro stands for at a place: it keeps calls of what is not
    declared."""
    unit, file = host.unit, host.span[0]
    tokens = [word for word, _ in code(host)]
    for error in unit.errors:
        if error.loc is None or (error.loc.file, error.offset) != (file, at):
            continue
        missing = _UNDECLARED.fullmatch(error.message)
        if missing is None:
            return True
        if _once(unit, _macros_at(host, at)):
            continue  # all that it stands for of the text is there, as one part is
        name = missing[1]
        other = re.compile(rf"\b{name}\b(?!\s*\()".encode())
        called = all(after == "(" for word, after in pairwise(tokens) if word == name)
        if not called or any(other.search(text) for text in unit.macros.texts.values()):
            return True
    return False


def _macros_at(host: Node, at: int) -> Iterator[str]:
    """The macro at a place, and the words in its parentheses."""
    tokens = code(host)
    for i, (word, place) in enumerate(tokens):
        if place == at:
            yield word
            yield from enclosed(tokens, i)


def enclosed(tokens: list[Token], at: int) -> Iterator[str]:
    """The parentheses after a word, and the words in them."""
    if at + 1 < len(tokens) and tokens[at + 1][0] == "(":
        yield from (word for word, _ in tokens[at + 1 : closed(tokens, at + 1)])


def closed(tokens: Sequence[Token], at: int) -> int:
    """The place after the parentheses that open at one."""
    depth = 0
    while at < len(tokens):
        depth += {"(": 1, ")": -1}.get(tokens[at][0], 0)
        at += 1
        if depth < 1:
            break
    return at


def _once(unit: Unit, words: Iterable[str]) -> bool:
    """Whether the macros among some words use each of their arguments at most once, but for its text."""
    todo, seen = [*words], set[str]()
    while todo:
        name = todo.pop()
        text = unit.macros.texts.get(name)
        if text is None or name in seen:
            continue
        seen.add(name)
        m = _DEFINED.fullmatch(text)
        if m is None and b"(" in text:
            return False
        parameters, body = (_WORD.findall(m[2]), m[3]) if m else ([], text.strip()[len(name) :])
        found = _WORD.findall(re.sub(rb"(?<!#)#\s*\w+", b"", body))
        if name.encode() in found or pastes(body) or not body.isascii() or b"\\" in body:
            return False
        if any(found.count(p) > 1 for p in (*parameters, b"__VA_ARGS__")):
            return False
        todo += (word.decode() for word in found if word not in parameters)
    return True


def code(host: Node) -> list[Token]:
    """The tokens of a function; see `Unit.code`."""
    file, start, end = host.span
    return [token for token in host.unit.code(file) if start <= token[1] < end]


def names(text: bytes, name: str) -> bool:
    """Whether a text has a word, or may have it in another spelling."""
    word = name.encode()
    if b"\\u" in text or b"\\U" in text:
        return True
    return word in text and (not _WORD.fullmatch(word) or word in _WORD.findall(text))


def _without_parameters(text: bytes) -> bytes:
    """The words that a macro stands for without its parameters: for these there is what its uses have. The whole
    text where it has more than one definition."""
    m = _DEFINED.fullmatch(text)
    if m is None or m[1] in (words := _WORD.findall(m[3])) or not text.isascii() or b"\\" in text or b"$" in text:
        return text
    return b" ".join(word for word in words if word not in _WORD.findall(m[2]))


def settled(node: Node, host: Node, typed: bool = False) -> bool:
    """Whether each name in an expression is surely the declaration that clang takes it for, and that as it is written:
    one that hides it, or a part of it, may be among what clang leaves out. Nor may one be of the shim, but for what is
    as large as CUDA's, or up to the compiler (`Reach.sure`). Where only its type is asked for (`typed`), variables of
    integers may have any value."""
    (file, start, end), todo, seen, spans = host.span, [node], set[int](), [node.spelled]
    while todo:
        for here in todo.pop().walk():
            decl = here.referenced if here.kind in _NAMING else None
            if decl is None:
                continue
            if in_shim(decl):
                if typed and (decl.name in _NUMBERS or _is_extent(decl)):
                    continue
                if decl.kind not in ("CONSTRUCTOR", "VAR_DECL") and not _SIZED.fullmatch(decl.name):
                    return False
                continue
            inside = file == here.written[0] and start <= here.written[1] < end
            if inside and mentions(decl, host) is None:
                return False
            if decl.identity not in seen:
                seen.add(decl.identity)
                whole = decl.parent if decl.kind == "ENUM_CONSTANT_DECL" else decl.definition
                if (whole or decl).is_invalid:
                    return False
                if typed and _says_its_type(decl):
                    continue
                todo.append(whole or decl)
                spans.append((whole or decl).span)
    return Reach(host.unit, spans).sure


def _is_extent(decl: Node) -> bool:
    """Whether this is a field of dim3, which is an unsigned number."""
    return decl.kind == "FIELD_DECL" and decl.parent is not None and decl.parent.name == "dim3"


def _says_its_type(decl: Node) -> bool:
    """Whether this declares a variable of integers in words of the language, before the first of its declarators."""
    if decl.kind not in ("VAR_DECL", "PARM_DECL") or decl.type.kind != "int":
        return False
    file, start, _ = decl.span
    text = decl.unit.text(file)[start : decl.offset]
    first = _DECLARATOR.match(text)
    words = _WORD.findall(text if first is None else first[1])
    return {*words} <= _TYPES and not {*words} <= {b"const", b"static"}


def reads(mention: Mention) -> bool:
    """Whether a mention of a dim3 surely takes no more than its value, or that of one of its fields."""
    outer = [n for n in mention.around if n.kind != "PAREN_EXPR"]
    if outer[0].kind == "MEMBER_REF_EXPR":
        field, load = outer[:2]
        plain = load.type.kind == "int" and not load.type.const and not load.type.volatile
        return plain and _converts(load, field)
    call = outer[1] if _converts(outer[0], mention.node) else outer[0]
    if call.kind == "CALL_EXPR" and call.name == "operator=" and call.referenced and in_shim(call.referenced):
        written = len(call.arguments) == 2 and not mention.moved  # in a macro, all has one span
        return written and call.arguments[1].span == mention.node.span
    made = call.referenced if call.kind == "CALL_EXPR" and len(call.arguments) == 1 else None
    return made is not None and made.kind == "CONSTRUCTOR" and made.name == "dim3" and in_shim(made)


def loads(mention: Mention) -> bool:
    """Whether a mention of a number surely takes no more than its value."""
    outer = [n for n in mention.around if n.kind != "PAREN_EXPR"]
    load = outer[0]
    return load.type.kind == "int" and not load.type.const and _converts(load, mention.node)


def _converts(node: Node, inner: Node) -> bool:
    """Whether a node is a conversion that is not written. libclang names these by what they convert, without
    parentheses."""
    if node.kind != "UNEXPOSED_EXPR" or len(node.children) != 1:
        return False
    return node.name == inner.name or node.children[0].kind == "PAREN_EXPR"


def assignment(mention: Mention, host: Node) -> tuple[str, Node] | None:
    """The field and the value, where a mention of a dim3 is that of `b.x = value`, or of a part of `b.x = c.y = value`,
    a statement that a function runs once, whatever else it does."""
    outer = [n for n in mention.around if n.kind != "PAREN_EXPR"]
    if mention.moved or outer[0].kind != "MEMBER_REF_EXPR" or len(outer) < 4 or not _assigns(outer[1]):
        return None
    field, statement, *rest = outer
    first, value = statement.children[0].span == field.span, _value(statement, field.type.name)
    while rest[0].kind == "UNEXPOSED_EXPR" and len(rest) > 1 and _assigns(rest[1]):
        first = first and rest[1].children[1].span == statement.span
        statement, *rest = rest[1:]
    straight = [n.kind for n in rest[:1]] == ["COMPOUND_STMT"] and len(rest) == 2
    straight = straight and rest[0].span == host.children[-1].span and _straight(host, statement.span[1])
    return (field.name, value) if first and straight and value is not None else None


def _assigns(node: Node) -> bool:
    return node.kind == "BINARY_OPERATOR" and node.operator == "="


def _value(assigned: Node, kind: str) -> Node | None:
    """The value of an assignment, also through others; None where one is of what may be of another type, or of less
    bits than its type has."""
    value = assigned.children[1]
    while value.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR") and len(value.children) == 1 and _assigns(value.children[0]):
        value = value.children[0]
    if not _assigns(value):
        return assigned.children[1]
    target = value.children[0].referenced
    whole = target is not None and target.kind in ("VAR_DECL", "PARM_DECL", "FIELD_DECL") and not target.is_bitfield
    return _value(value, kind) if whole and value.type.name == kind else None


def given(mention: Mention, host: Node) -> Node | None:
    """The value, where a mention of a structure, or that of one of its fields, is what is assigned in a statement that
    a function runs once: `b = value`, `c.blockDim = value`."""
    outer = [n for n in mention.around if n.kind not in ("PAREN_EXPR", "UNEXPOSED_EXPR")]
    target, outer = (outer[0], outer[1:]) if outer[0].kind == "MEMBER_REF_EXPR" else (mention.node, outer)
    if mention.moved or [n.kind for n in outer[:2]] != ["CALL_EXPR", "COMPOUND_STMT"] or len(outer) != 3:
        return None
    call, body = outer[:2]
    made = call.referenced is not None and call.name == "operator=" and in_shim(call.referenced)
    if not made or len(call.arguments) != 2 or call.arguments[0].span != target.span:
        return None
    return call.arguments[1] if body.span == host.children[-1].span and _straight(host, call.span[1]) else None


def passes(mention: Mention) -> bool:
    """Whether a mention of a pointer surely takes no more than its value."""
    outer = [n for n in mention.around if n.kind != "PAREN_EXPR"]
    return outer[0].type.kind == "pointer" and not outer[0].type.const and _converts(outer[0], mention.node)


def _straight(host: Node, at: int) -> bool:
    """Whether the text has a statement of its own at a place, in the braces of the function and in no others."""
    depth, before = 0, ""
    for word, place in code(host):
        if place == at:
            return depth == 1 and before in (";", "{", "}")
        depth += {"{": 1, "}": -1}.get(word, 0)
        before = word
    return False


def jumps(host: Node) -> bool:
    """Whether a function may jump over its statements."""
    labels = ("LABEL_STMT", "GOTO_STMT", "INDIRECT_GOTO_STMT")
    return any(word == "goto" for word, _ in code(host)) or any(node.kind in labels for node in host.walk())


def _printed(tokens: list[Token], at: int) -> bool:
    """Whether a word is all that is shifted to std::cout, but for its field: `std::cout << b.x << ..`."""
    words = [word for word, _ in tokens[at - 1 : at + 4]]
    if len(words) < 5 or words[0] != "<<" or words[2] != "." or words[4] not in ("<<", ";"):
        return False
    start = at
    while start and tokens[start - 1][0] not in (";", "{", "}", ")", "else"):
        start -= 1
    return _PRINTED.fullmatch(" ".join(word for word, _ in tokens[start : at - 1])) is not None


def _named(host: Node, name: str) -> Iterator[Mention]:
    """The declarations and uses of a name in a function."""
    stack: list[tuple[Node, tuple[Node, ...]]] = [(host, ())]
    while stack:
        node, around = stack.pop()
        own = re.split(r"[\s:]", node.name)[-1] if node.kind == "TYPE_REF" else node.name  # struct std::S
        if (node.kind.endswith("_DECL") or node.kind in _NAMING) and own == name:
            yield Mention(node, around)
        stack.extend((c, (node, *around)) for c in reversed(node.children))
