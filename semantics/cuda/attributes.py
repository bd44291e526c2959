"""Attributes that CUDA's compiler takes after `__device__` and the like, where clang takes none."""

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
    """The texts of files with such attributes, without them or with what clang takes there: of the same length."""
    found: dict[str, bytearray] = {}
    for error in unit.errors:
        if error.loc is None or error.loc.file.startswith(HEADERS) or not _WRONG.fullmatch(error.message):
            continue
        text = unit.text(error.loc.file)
        start = _beginning(text, error.offset)
        if m := _ALIGNED.match(text, start):
            new = _INSTEAD
        elif m := _LIST.match(text, start) or _standing_for_one(unit, text, start):
            new = re.sub(rb"[^\r\n]", b" ", m[0])
        else:
            continue
        found.setdefault(error.loc.file, bytearray(text))[m.start() : m.end()] = new
    return {name: bytes(text) for name, text in found.items()}


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
