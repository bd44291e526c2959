"""The numbers of type `long double`. CUDA's compiler lays them out as the host does, in 16 bytes, and clang has 8 for
them: no kernel may use one, nor a size that depends on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from logic.source import Loc
from semantics.cuda.clang import Node, Unit
from semantics.cuda.errors import CudaError
from semantics.cuda.lost import WORD, blanked
from semantics.cuda.shim import own_files

_EXPONENT: Final = rb"[eE][-+]?\d[\d']*"
_LITERAL: Final = (
    rb"(?<![\w.])(?:\d[\d']*\.[\d']*(?:%b)?|\.\d[\d']*(?:%b)?|\d[\d']*%b|0[xX][\da-fA-F.']*[pP][-+]?\d+)[lL]\b"
    % (_EXPONENT, _EXPONENT, _EXPONENT)
)
_BETWEEN: Final = rb"(?:\s|\\\r?\n|\b(?:const|volatile|static|typedef|constexpr|inline)\b)+"
_NAMED: Final = rb"\bmax_align_t\b|\b__float(?:80|128)\b|\b_Float(?:64x|128)\b"


def check_widths(
    unit: Unit,
    used: Sequence[Node],
    words: Callable[[], Collection[bytes]],
    macros: Mapping[bytes, bytes],
    declarations: Callable[[Unit], Sequence[Node]],
) -> None:
    """Raises CudaError where `long double` is written in what a kernel uses, or in the declaration of something that
    its words name, over any number of steps."""
    pattern = _pattern(macros)
    texts = {name: blanked(unit.text(name)) for name in own_files(unit)}
    found = {name: [m.start() for m in pattern.finditer(text)] for name, text in texts.items()}
    named = {name for name, body in macros.items() if pattern.search(body)}
    if not named and not any(found.values()):
        return
    for decl in used:
        file, start, end = decl.span
        for at in found.get(file, ()):
            if start <= at <= end:
                raise _refused(unit.at(file, at))
    own = {}
    for decl in declarations(unit):
        file, start, end = decl.span
        if any(start <= at <= end for at in found.get(file, ())):
            named |= _names(decl)
        own[decl] = {*WORD.findall(texts.get(file, b"")[start:end])}
    while more := {n for d, said in own.items() if named & said for n in _names(d)} - named:
        named |= more
    if not named.isdisjoint(words()):
        raise _refused(used[0].loc)


def _pattern(macros: Mapping[bytes, bytes]) -> re.Pattern[bytes]:
    """The form of `long double` and of its numbers, also by words that macros stand for."""
    long_, double = ({word, *(name for name, body in macros.items() if word in WORD.findall(body))} for word in _HALVES)
    one, other = (rb"\b(?:%b)\b" % b"|".join(map(re.escape, sorted(names))) for names in (long_, double))
    either = rb"%b%b%b" % (one, _BETWEEN, other), rb"%b%b%b" % (other, _BETWEEN, one)
    return re.compile(b"|".join((*either, _LITERAL, _NAMED)))


_HALVES: Final = (b"long", b"double")


def _names(decl: Node) -> set[bytes]:
    return {name.encode() for name in (decl.name, *(c.name for c in decl.children if "ENUM" in c.kind)) if name}


def _refused(loc: Loc | None) -> CudaError:
    return CudaError(
        "'long double' is not supported",
        loc,
        "It is as large as the host has it, and computes as double does: write that.",
    )
