"""Questions that texts ask of types and calls, and that libraries answer otherwise than our headers, or may."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from semantics.cuda.clang import UNITS, Unit
from semantics.cuda.lost import DIRECTIVE, WORD, blanked, without_directives
from semantics.cuda.macros import SPLICE
from semantics.cuda.shim import HEADERS, PATH, in_shim, own, own_files, own_nodes

_CALLED: Final = re.compile(
    rb"\b(?:decltype|(?:__)?typeof|declval|enable_if|void_t|invoke_result|result_of"
    rb"|\w*is_(?:\w*(?:invocable|constructible|convertible|assignable|swappable|destructible)|(?:trivial|pod|standard_)\w*"
    rb"|empty|polymorphic|abstract|final|aggregate|literal)\w*|has_(?:virtual|unique)\w*|\w+_iterator_tag|iterator_category"
    rb"|__int128(?:_t)?)"
    rb"|\bnoexcept\s*\(|\bsizeof\b(?!\s*(?:\.\.\.|\([^(){};]*\)|[\w.\[\]]+\s*[^\s\w.\[\](<:{]))|##|%:%:"
)
"""Questions by which templates are chosen where that depends on what can be called, no `sizeof` of a type."""
_TRAIT: Final = re.compile(
    rb"\b__(is_(?:\w*trivial\w*|nothrow_\w+|pod|standard_layout|empty|polymorphic|abstract|final|aggregate|literal\w*"
    rb"|constructible|assignable|destructible|class|arithmetic|floating_point|scalar|fundamental|compound|signed)"
    rb"|has_(?:trivial|nothrow|virtual|unique)_\w+)\s*\("
)
"""A question that a compiler answers of a type, if it depends on how the library has a class."""
_CONSTANT: Final = re.compile(
    rb"\w*is_constant_evaluated\b|\b__builtin_constant_p\b|\bif\s*!?\s*consteval\b|\bif\s+not\s+consteval\b"
)
"""A question whether an expression is evaluated as a constant, by the language's rules for where it stands, or is one
for a compiler."""
_ANY: Final = re.compile(rb"\btemplate\s*<[^;{}]{0,200}?\bauto\b")
_OF_FUNCTION: Final = re.compile(
    rb"\btemplate\s*<[^;{}]{0,200}?\([^;{}()*]{0,99}\*[^;{}]{0,200}?>\s*(?:struct|class|union)\b[^;{}()<]{0,99}<"
)
"""A specialisation for pointers to functions."""
CONCEPTS: Final = re.compile(
    rb"\b(?:concept|requires|same_as|derived_from|convertible_to|\w*integral|floating_point|\w*invocable|predicate"
    rb"|\w*constructible(?:_from)?|default_initializable)\b"
)
"""The words of concepts, and the names of those that our headers have."""

_LIBRARY: Final = re.compile(rb"(?<!/)(?<!\w::)\b(cuda|thrust)\b(?!\s*[/.])")
"""The outermost namespaces of libraries, where they are no part of a path."""
_CALL: Final = re.compile(rb"\s*(?:<[^;{}()]*>\s*)?\(")
"""What follows the name of a function that is called."""
_NUMBERS: Final = f"{HEADERS}/warpbound_math.h"
_VALUES: Final = ("FUNCTION_DECL", "FUNCTION_TEMPLATE", "OVERLOADED_DECL_REF")
_NO_FUNCTIONS: Final = frozenset(
    b"int unsigned signed char short long float double bool void const constexpr inline static template typename class"
    b" struct enum using namespace operator return if else for while sizeof true false auto decltype this nullptr"
    b" __host__ __device__ x y z w n p s a b T R F".split()
)
"""Words of the language, and what else no function is called."""
_LAUNCH: Final = re.compile(rb"[^;{}]*<<<[^;]*")
_DEVICE: Final = ("CUDADEVICE_ATTR", "CUDAGLOBAL_ATTR")

_NOEXCEPT: Final = b"noexcept"
_SURE: Final = re.compile(rb"\w+\s*\(\s*(?:true|false|0|1)\s*\)")
_NAMED: Final = re.compile(rb"\s*(?:#|%:)\s*define\s+([A-Za-z_]\w*)(?:\(.*?\))?(.*)", re.DOTALL)
"""The name of a macro that a directive defines, and what it stands for."""
_QUALIFIED: Final = re.compile(rb"(?:\)|\b(?:const|volatile|mutable|constexpr|consteval))\s*$")
"""The end of what stands before the `noexcept` of a function's declaration."""
_HEAD: Final = re.compile(rb"(?:(?:^|[^\w$])(?P<word>[A-Za-z_$][\w$]*)|\boperator\s*(?:\(\s*\)|[^\w\s()]{1,3})|\])\s*$")
"""The end of what stands before the parameters of a function's declaration."""
_NO_NAMES: Final = frozenset(
    b"return if while for switch case else do and or not xor bitand bitor compl throw co_return co_yield".split()
)


@lru_cache(maxsize=UNITS)
def trait(text: bytes) -> re.Match[bytes] | None:
    """The first question in a text that a compiler answers otherwise than a library."""
    return _TRAIT.search(text) or _TRAIT.search(SPLICE.sub(b"", text))


@lru_cache(maxsize=UNITS)
def constant(text: bytes) -> re.Match[bytes] | None:
    """The first question in a text whether something is evaluated as a constant."""
    return _CONSTANT.search(_code(text)) or _CONSTANT.search(blanked(SPLICE.sub(b"", text)))


@lru_cache(maxsize=UNITS)
def specialises(text: bytes) -> re.Match[bytes] | None:
    """The first specialisation for pointers to functions, in a text with a template over values of any type: whether it
    takes a function that throws nothing differs between compilers."""
    codes = blanked(text), blanked(SPLICE.sub(b"", text))
    return next((m for code in codes if _ANY.search(code) and (m := _OF_FUNCTION.search(code))), None)


@lru_cache(maxsize=UNITS)
def constrains(text: bytes) -> bool:
    """Whether a text may say by concepts which templates are chosen."""
    return CONCEPTS.search(SPLICE.sub(b"", text)) is not None


@lru_cache(maxsize=UNITS)
def calls(text: bytes) -> bool:
    """Whether a text may choose templates by what can be called."""
    return _CALLED.search(SPLICE.sub(b"", text)) is not None


def throws(texts: Collection[bytes]) -> tuple[int, int] | None:
    """The first place where a text asks whether an expression throws, as the number of the text and an offset: neither
    in the declaration of a function, where that says something, nor in the name of a type. Macros are taken to ask that
    stand for more than the word."""
    if not any(_NOEXCEPT in SPLICE.sub(b"", text) for text in texts):
        return None
    codes = [*map(_code, texts)]
    macros = [(name, rest) for code in codes for name, rest in _macros(code)]
    words = {_NOEXCEPT}
    while more := {name for name, rest in macros if _has(rest, words)} - words:
        words |= more
    begin = words - {name for name, rest in macros if _has(rest, words) and _first(rest) not in words}
    for i, code in enumerate(codes):
        for m in WORD.finditer(without_directives(code)):
            asks = m[0] in words and (m[0] not in begin or code[m.end() :].lstrip().startswith(b"("))
            if asks and not (m[0] in begin and _says(code, m.start())):
                return i, m.start()
    return None


def _code(text: bytes) -> bytes:
    """A text without comments and literals; without joined lines where these join the word."""
    joined = SPLICE.sub(b"", text)
    return blanked(text if text.count(_NOEXCEPT) == joined.count(_NOEXCEPT) else joined)


@lru_cache(maxsize=UNITS)
def device_code(unit: Unit) -> dict[str, bytes]:
    """The blanked texts of a unit's files, without functions that are the host's alone: of these the launches."""
    texts = {file: bytearray(blanked(unit.text(file))) for file in own_files(unit)}
    todo = list(own(unit))
    while todo:
        node = todo.pop()
        if node.kind in ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL"):
            todo += node.children
        if node.kind != "FUNCTION_DECL" or any(c.kind in _DEVICE for c in node.children):
            continue
        file, start, end = node.span
        part = bytes(texts.get(file, b"")[start:end])
        if b"constexpr" not in part:
            kept = [(m.start(), m.end()) for m in _LAUNCH.finditer(part)]
            for at, to in zip((0, *(b for _, b in kept)), (*(a for a, _ in kept), len(part)), strict=True):
                texts[file][start + at : start + to] = b" " * (to - at)
    return {file: bytes(text) for file, text in texts.items()}


def several(codes: Collection[bytes]) -> bool:
    """Whether blanked texts may have classes of two libraries that are the same in some versions of these."""
    return len({m[1] for code in codes for m in _LIBRARY.finditer(code)}) > 1


def taken(unit: Unit, codes: Collection[bytes]) -> bool:
    """Whether blanked texts take a function of our headers as a value: whether it throws is in its type."""
    if not any(m[0] in _functions() and not _CALL.match(code, m.end()) for code in codes for m in WORD.finditer(code)):
        return False
    for node in own_nodes(unit):
        if node.kind in ("DECL_REF_EXPR", "OVERLOADED_DECL_REF") and (decl := node.referenced or node).kind in _VALUES:
            file, at = node.written
            ours = decl.kind == "OVERLOADED_DECL_REF" or in_shim(decl)
            if ours and (m := WORD.match(unit.text(file), at)) and not _CALL.match(unit.text(file), m.end()):
                return True
    return False


@lru_cache(maxsize=1)
def _functions() -> frozenset[bytes]:
    """The words that may be names of functions on numbers in our headers."""
    words = {m[0] for file in (PATH, _NUMBERS) for m in WORD.finditer(Path(file).read_bytes())}
    return frozenset(words | {word + b"f" for word in words}) - _NO_FUNCTIONS


def _macros(code: bytes) -> Iterator[tuple[bytes, bytes]]:
    for directive in DIRECTIVE.finditer(code):
        if named := _NAMED.match(SPLICE.sub(b"", directive[0])):
            yield named[1], named[2].strip()


def _first(text: bytes) -> bytes:
    found = WORD.match(text)
    return found[0] if found else b""


def _has(text: bytes, words: Collection[bytes]) -> bool:
    """Whether what a macro stands for has one of these words in it, but for a declaration that says `noexcept`."""
    found = [m for m in WORD.finditer(text) if m[0] in words]
    asked = (m for m in found if text[m.end() :].lstrip()[:1] in (b"", b"("))
    return any(not _says(text, m.start()) for m in asked)


def _says(code: bytes, at: int) -> bool:
    """Whether a `noexcept` at a place belongs to the declaration of a function, or is in what says that of one, or of a
    constant, which throws nothing."""
    around = _around(code, at)
    return bool(_SURE.match(code, at)) or _specifies(code[:at]) or (around is not None and _says(code, around))


def _around(code: bytes, at: int) -> int | None:
    """The `noexcept` in whose parentheses a place is; None for a place in no such."""
    depth = 0
    for i in range(at - 1, -1, -1):
        depth += (code[i] == ord(")")) - (code[i] == ord("("))
        if depth < 0:
            before = code[:i].rstrip()
            if before.endswith(_NOEXCEPT):
                return len(before) - len(_NOEXCEPT)
            depth = 0
        if depth == 0 and code[i] in b";{}":
            return None
    return None


def _specifies(before: bytes) -> bool:
    """Whether what stands before a `noexcept` is the declaration of a function, not a cast or what a test is of."""
    if (qualified := _QUALIFIED.search(before[-64:])) is None:
        return False
    if not qualified[0].startswith(b")"):
        return True
    depth = 0
    for i in range(before.rindex(b")"), -1, -1):
        depth += (before[i] == ord(")")) - (before[i] == ord("("))
        if depth == 0:
            head = _HEAD.search(before[max(0, i - 128) : i])
            return head is not None and head["word"] not in _NO_NAMES
    return False
