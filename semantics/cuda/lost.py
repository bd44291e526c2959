"""Declarations in texts that clang gave up on: host code that needs headers which are not there.

What a function's body, the parameters of a function, and the members of a structure declare, nobody sees from outside.
All other words of the text may be declared by it: there are more of them than are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

WORD: Final = re.compile(rb"(?<![\w$])(?:[A-Za-z_$\x80-\xff]|\\[uU])(?:[\w$\x80-\xff]|\\[uU])*")
_SKIPPED: Final = re.compile(
    rb"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])'|"(?:[^"\\\n]|\\.)*\"|(?<![\w$.'])\d+\.(?:e[+-]?\d+)?[fl]?(?![\w$.])""",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, literals, and numbers that end in a point and a letter: `2.f` has no word `f` in it."""
DIRECTIVE: Final = re.compile(rb"^[ \t]*(?:#|%:)(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_NOT_BLANK: Final = re.compile(rb"[^\n]")
_TOKEN: Final = re.compile(WORD.pattern + rb"|::|->|[^\s\w]")

_SPECIFIERS: Final = frozenset(
    b"static extern inline const volatile constexpr thread_local mutable friend virtual explicit register struct class"
    b" union enum typename signed unsigned typedef __global__ __device__ __host__ __forceinline__ __noinline__"
    b" __inline__ __restrict__ return else".split()
)
"""Words before a declarator that by themselves are no type; the next word is one, or the name of one."""

_TYPES: Final = frozenset(b"void bool char short int long float double auto".split())
_CALLED: Final = frozenset(b"decltype __attribute__ __declspec alignas typeof __typeof__ noexcept throw".split())
"""Words before parentheses that hold no parameters."""


def blanked(text: bytes) -> bytes:
    """A text with blanks for comments and literals. Nothing moves."""
    return _SKIPPED.sub(lambda m: _NOT_BLANK.sub(b" ", m[0]), text)


def without_directives(text: bytes) -> bytes:
    """A blanked text with blanks for the preprocessor's directives. Nothing moves."""
    return DIRECTIVE.sub(lambda m: _NOT_BLANK.sub(b" ", m[0]), text)


def may_declare(text: bytes, macros: Collection[bytes]) -> set[bytes] | None:
    """The words that a blanked text may declare for what follows it, or is outside of it. `macros` are the macros: of
    the words that are passed to one nothing is known. None where it ends inside of something that only seems to have
    an end, so that declarations in there look as if they were outside."""
    tokens, found, at = _TOKEN.findall(text), set[bytes](), 0
    while at < len(tokens):
        head, at = _head(tokens, at)
        found |= _declared(head, macros)
        if at >= len(tokens) or tokens[at] != b"{":
            at += 1
            continue
        if b"namespace" in head or head[-1:] == [b"extern"]:
            at += 1
            continue
        body, end = _body(tokens, at)
        if end is None:
            return None
        if {b"enum", b"union"} & {*_outside(head, macros)} or b"friend" in body:
            found |= _words(body)
        at = end
    return found


def _head(tokens: Sequence[bytes], at: int) -> tuple[list[bytes], int]:
    """The tokens of a declaration up to its `;`, to a brace, or the end, and where that is."""
    start, depth = at, 0
    while at < len(tokens):
        word = tokens[at]
        if depth <= 0 and word in (b";", b"{", b"}"):
            break
        depth = max(0, depth + _DEPTHS.get(word, 0))
        at += 1
    return [*tokens[start:at]], at


_DEPTHS: Final = {b"(": 1, b"[": 1, b")": -1, b"]": -1}


def _body(tokens: Sequence[bytes], at: int) -> tuple[Sequence[bytes], int | None]:
    """The text in braces that open at a place, and the place after them; None where they do not close."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += {b"{": 1, b"}": -1}.get(tokens[i], 0)
        if depth == 0:
            return tokens[at + 1 : i], i + 1
    return tokens[at + 1 :], None


def _words(tokens: Sequence[bytes]) -> set[bytes]:
    return {word for word in tokens if WORD.fullmatch(word)}


def _declared(head: Sequence[bytes], macros: Collection[bytes]) -> set[bytes]:
    """The words of a declaration without its body, without those in parentheses after its name, arguments of the
    templates that its type is made of, and names of what others are looked up in."""
    if b"static_assert" in head[:1]:
        return set()
    if (alias := _alias(head, macros)) is not None:
        return {alias}
    if {b"operator", b"typedef", b"using", b"namespace"} & {*head}:
        return _words(head)
    found = _outside(_without_arguments(head, macros), macros)
    return _words([a for a, b in zip(found, [*found[1:], b""], strict=False) if b != b"::" or a in macros])


def _alias(head: Sequence[bytes], macros: Collection[bytes]) -> bytes | None:
    """The name of `using NAME = ..`, which may be a template, or of `namespace NAME = ..`, where nothing else in it may
    declare anything."""
    if any(token in macros for token in head):
        return None
    if head[:1] == [b"namespace"] and head[2:3] == [b"="]:
        return head[1]
    plain = _without_arguments(head, macros)
    at = 3 if plain[:3] == [b"template", b"<", b">"] else 0
    named = plain[at : at + 1] == [b"using"] and plain[at + 2 : at + 3] == [b"="]
    return plain[at + 1] if named and not _CLASSES & {*plain} else None


def _without_arguments(head: Sequence[bytes], macros: Collection[bytes]) -> list[bytes]:
    """The tokens of a declaration without arguments of templates before its name, and parameters of its own template.
    All of them from the first macro on, and those of arguments that may declare a structure, as in `T<struct S>`."""
    found, at = list[bytes](), 0
    while at < len(head) and (WORD.fullmatch(head[at]) or head[at] in (b"::", b"<", b"*", b"&")):
        end = _angles(head, at) if head[at] == b"<" else at + 1
        if end is None or any(token in macros for token in head[at:end]):
            break
        inside = head[at:end]
        kept = inside[inside.index(b"=") :] if b"=" in inside else []  # `class` before it begins a parameter
        own = kept if head[at - 1 : at] == [b"template"] and not _CLASSES - {b"class"} & {*inside} else inside
        found += inside if len(inside) == 1 or _CLASSES & {*own} else (b"<", b">")
        at = end
    return [*found, *head[at:]]


def _angles(tokens: Sequence[bytes], at: int) -> int | None:
    """The place after the `>` that closes the `<` at a place; None where there is none."""
    depth, parts = 0, list[bytes]()
    for i in range(at, len(tokens)):
        token = tokens[i]
        if token in _OPENING:
            parts.append(_OPENING[token])
        elif token in _OPENING.values():
            if not parts or parts.pop() != token:
                return None
        elif not parts:
            depth += {b"<": 1, b">": -1}.get(token, 0)
        if depth == 0:
            return i + 1
    return None


_OPENING: Final = {b"(": b")", b"[": b"]"}
_CLASSES: Final = frozenset((b"struct", b"class", b"union", b"enum"))


def _outside(head: Sequence[bytes], macros: Collection[bytes]) -> list[bytes]:
    """The tokens of a declaration that are no parameters or arguments."""
    found, at = list[bytes](), 0
    while at < len(head):
        end = _closing(head, at) if head[at] == b"(" else at + 1
        if head[at] != b"(" or not _parameters(head, at, end, macros):
            found += head[at:end]
        at = end + (head[at] == b"(")
    return found


def _closing(tokens: Sequence[bytes], at: int) -> int:
    depth = 0
    for i in range(at, len(tokens)):
        depth += {b"(": 1, b")": -1}.get(tokens[i], 0)
        if depth == 0:
            return i
    return len(tokens)


def _parameters(head: Sequence[bytes], at: int, end: int, macros: Collection[bytes]) -> bool:
    """Whether parentheses hold parameters or arguments: they are after a name that is after a type, or qualified, and
    are no part of a declarator, such as `(*f)(int)`."""
    name, before = (head[i] if i >= 0 else b"" for i in (at - 1, at - 2))
    if not WORD.fullmatch(name) or name in macros or name in _CALLED | _TYPES | _SPECIFIERS:
        return False
    if head[at + 1 : at + 2] in ([b"*"], [b"&"], [b"^"]) or head[end + 1 : end + 2] in ([b"("], [b"["]):
        return False
    typed = WORD.fullmatch(before) is not None and before not in macros and before not in _SPECIFIERS | _CALLED
    return typed or before in (b"*", b"&", b">", b"::", b"~", b".", b"->")
