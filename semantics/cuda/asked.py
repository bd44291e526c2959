"""Questions that texts ask of types and calls, and that libraries answer otherwise than our headers, or may."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final

from semantics.cuda.clang import UNITS, Unit
from semantics.cuda.lost import DIRECTIVE, WORD, blanked, without_directives
from semantics.cuda.macros import SPLICE
from semantics.cuda.shim import own, own_files

_CALLED: Final = re.compile(
    rb"\b(?:decltype|(?:__)?typeof|declval|enable_if|void_t|invoke_result|result_of"
    rb"|\w*is_(?:\w*(?:invocable|constructible|convertible|assignable|swappable|destructible)|(?:trivial|pod|standard_)\w*"
    rb"|empty|polymorphic|abstract|final|aggregate|literal)\w*|has_(?:virtual|unique)\w*|__int128(?:_t)?)"
    rb"|\bnoexcept\s*\(|\bsizeof\b(?!\s*(?:\.\.\.|\([^(){};]*\)|[\w.\[\]]+\s*[^\s\w.\[\](<:{]))|##|%:%:"
)
"""Questions by which templates are chosen where that depends on what can be called, no `sizeof` of a type."""
_TRAIT: Final = re.compile(
    rb"\b__(is_(?:\w*trivial\w*|nothrow_\w+|pod|standard_layout|empty|polymorphic|abstract|final|aggregate|literal\w*"
    rb"|constructible|assignable|destructible|class|arithmetic|floating_point|scalar|fundamental|compound|signed)"
    rb"|has_(?:trivial|nothrow|virtual|unique)_\w+)\s*\("
)
"""A question that a compiler answers of a type, if it depends on how the library has a class."""
_CONSTANT: Final = re.compile(rb"\w*is_constant_evaluated\b|\bif\s*!?\s*consteval\b|\bif\s+not\s+consteval\b")
"""A question whether an expression is evaluated as a constant, by the language's rules for where it stands."""
CONCEPTS: Final = re.compile(
    rb"\b(?:concept|requires|same_as|derived_from|convertible_to|\w*integral|floating_point|\w*invocable|predicate"
    rb"|\w*constructible(?:_from)?|default_initializable)\b"
)
"""The words of concepts, and the names of those that our headers have."""

_ONE: Final = {
    **{
        name: name.decode()
        for name in b"plus minus multiplies divides modulus negate equal_to not_equal_to less less_equal greater"
        b" greater_equal logical_and logical_or logical_not bit_and bit_or bit_xor bit_not byte array complex".split()
    },
    **dict.fromkeys((b"pair", b"make_pair"), "pair"),
    **dict.fromkeys((b"tuple", b"make_tuple", b"tie", b"forward_as_tuple"), "tuple"),
    **dict.fromkeys((b"optional", b"nullopt", b"nullopt_t", b"make_optional"), "optional"),
    **dict.fromkeys((b"integral_constant", b"bool_constant", b"true_type", b"false_type"), "integral_constant"),
    **dict.fromkeys((b"integer_sequence", b"index_sequence", b"make_index_sequence"), "integer_sequence"),
}
"""Names of the standard library that stand for one class of our headers, whatever namespace they are looked for in, and
the class."""
_PATH: Final = re.compile(rb"(?<![\w$:.>])(?:::\s*)?((?:[A-Za-z_]\w*\s*::\s*)*)([A-Za-z_]\w*)")
_ALIAS: Final = re.compile(rb"\bnamespace\s+(\w+)\s*=\s*(?:::\s*)?([\w:\s]+);")
_USED: Final = re.compile(rb"\busing\s+namespace\s+(?:::\s*)?([\w:\s]+);")
_APART: Final = re.compile(rb"\b(?:cuda\s*::\s*std|thrust)\b")
_TELLS: Final = re.compile(
    rb"\b(?:template|decltype|(?:__)?is_same\w*|same_as|\w*is_(?:base|conv|constr|assign)\w*|operator)\b"
)
"""The words of what tells types apart."""
_LAUNCH: Final = re.compile(rb"[^;{}]*<<<[^;]*")
_DEVICE: Final = ("CUDADEVICE_ATTR", "CUDAGLOBAL_ATTR")
_LIBRARIES: Final = {b"std": "std", b"cuda::std": "cuda::std", b"thrust": "thrust"}

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


def mixed(codes: Collection[bytes]) -> tuple[int, int, str, str] | None:
    """The first place where blanked texts name a class of one library that they have of another, too, and both names:
    our headers have one class for the two. As numbers, as in `throws`. None where nothing tells the two apart."""
    whole = b"\n".join(codes)
    if _APART.search(whole) is None or _TELLS.search(whole) is None:
        return None
    short = {m[1]: _joined(m[2]) for m in _ALIAS.finditer(whole)}
    opened = {_LIBRARIES.get(_joined(m[1]), "") for m in _USED.finditer(whole)} - {""}
    seen: dict[str, str] = {}
    for i, code in enumerate(codes):
        for m in _PATH.finditer(code):
            if (name := _ONE.get(m[2])) is None:
                continue
            path = _joined(m[1]).removesuffix(b"::")
            head, _, rest = path.partition(b"::")
            path = b"::".join(filter(None, (short.get(head, head), rest)))
            follows = code[m.end() :].lstrip()[:1] == b"<"
            for library in {_LIBRARIES[path]} if path in _LIBRARIES else sorted(opened) if not path and follows else ():
                other = seen.setdefault(name, library)
                if other != library and not (name == "complex" and "std" in (other, library)):
                    return i, m.start(), f"{other}::{name}", f"{library}::{name}"
    return None


def _joined(path: bytes) -> bytes:
    return b"".join(path.split())


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
