"""Spellings that CUDA's compiler takes and clang does not: attributes after `__device__` and the like, and blanks in
the `<< <` and `>> >` of launches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from semantics.cuda.clang import Unit
from semantics.cuda.inputs import HEADERS

_WRONG: Final = re.compile(r"an attribute list cannot appear here|'\w+' attribute cannot be applied to types")
_NAME: Final = (
    rb"\s*(?:gnu\s*::\s*)?(?:nodiscard|maybe_unused|deprecated|noreturn|always_inline|noinline|unused|flatten|pure|const)"
    rb'\s*(?:\(\s*(?:"(?:[^"\\\n]|\\.)*"\s*)*\)\s*)?'
)
_LIST: Final = re.compile(rb"\[\s*\[%b(?:,%b)*\]\s*\](?:\s*\[\s*\[%b(?:,%b)*\]\s*\])*" % ((_NAME,) * 4))
"""Attributes that say nothing of what a program does."""
_ALIGNED: Final = re.compile(rb"alignas(?=\s*\()")
_INSTEAD: Final = b"__w_als"
"""clang's word there for `alignas`, as long as that (`cuda_shim.h`)."""
_MACRO: Final = re.compile(rb"[A-Za-z_]\w*(?=\s*(\())?")


def mended(unit: Unit) -> Mapping[str, bytes]:
    """The texts of files with such spellings, without them or with what clang takes there: of the same length."""
    found: dict[str, bytearray] = {}
    for error in unit.errors:
        if error.loc is None or error.loc.file.startswith(HEADERS):
            continue
        text = unit.text(error.loc.file)
        if error.message == "expected expression":
            edit = _launching(text, error.offset)
        elif _WRONG.fullmatch(error.message):
            edit = _attributed(unit, text, _beginning(text, error.offset))
        else:
            edit = None
        if edit is not None:
            start, new = edit
            found.setdefault(error.loc.file, bytearray(text))[start : start + len(new)] = new
    return {name: bytes(text) for name, text in found.items()}


def _launching(text: bytes, at: int) -> tuple[int, bytes] | None:
    """The place where a `<< <` begins that ends at `at`, and `<<<` for it; `>> >` likewise."""
    sign = text[at : at + 1]
    start = text.rfind(sign * 2, 0, at) if sign in (b"<", b">") else -1
    blanks = text[start + 2 : at]
    return (start, sign * 3 + blanks) if start >= 0 and blanks and not blanks.strip(b" \t") else None


def _attributed(unit: Unit, text: bytes, start: int) -> tuple[int, bytes] | None:
    """The beginning of attributes, or of a macro's name that stands for some, and the text that clang takes there."""
    if _ALIGNED.match(text, start):
        return start, _INSTEAD
    m = _LIST.match(text, start) or _standing_for_one(unit, text, start)
    return None if m is None else (start, re.sub(rb"[^\r\n]", b" ", m[0]))


def _beginning(text: bytes, at: int) -> int:
    """Where the list of attributes begins that has one at `at`."""
    before = text.rfind(b"[", 0, at)
    begun = text[:before].rstrip() if before >= 0 else b""
    inside = begun.endswith(b"[") and b"]" not in text[before:at]
    return len(begun) - 1 if inside else at


def _standing_for_one(unit: Unit, text: bytes, at: int) -> re.Match[bytes] | None:
    """The name of a macro at a place, if all its definitions are a list of attributes."""
    m = _MACRO.match(text, at)
    if m is None or m[1]:
        return None
    said = unit.macros.texts.get(m[0].decode(), b"")
    lists = [part.strip() for part in re.split(rb"(?:^|\s)%b(?!\w)" % m[0], said)[1:]]
    return m if lists and all(map(_LIST.fullmatch, lists)) else None
