"""Kernels that a text has and clang does not: for an error before their bodies it took them for something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from semantics.cuda.clang import Unit
from semantics.cuda.errors import CudaError
from semantics.cuda.libclang import MISSING
from semantics.cuda.mentions import closed
from semantics.cuda.shim import own_files
from semantics.cuda.templates import functions

_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_UNKNOWN: Final = re.compile(r"\b(?:named|undeclared|unknown)\b")
_NO_NAMES: Final = (
    "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__", "__attribute__", "__declspec__",
    "alignas", "decltype",
)  # fmt: skip
"""Words before parentheses that name no function."""


def unseen(unit: Unit) -> dict[str, CudaError]:
    """The errors that kernels are lost by, by their names, in the order of the texts."""
    found: dict[str, CudaError] = {}
    errors = [e for e in unit.errors if not MISSING.match(e.message)]
    known = {f.written for f in functions(unit, members=True)} if errors else set()
    for file in dict.fromkeys(e.loc.file for e in errors if e.loc is not None):
        for name, at, begin, end in _defined(unit.code(file)) if file in own_files(unit) else ():
            inside = [e for e in errors if e.loc is not None and e.loc.file == file and begin <= e.offset < end]
            if (file, at) not in known and inside:
                error = next((e for e in inside if _UNKNOWN.search(e.message)), inside[0])
                found.setdefault(name, CudaError(error.message, error.loc))
    return found


def _defined(tokens: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int, int, int]]:
    """The names of the kernels that a text defines, with the places of the name, of `__global__` and of the body."""
    for i, (word, begin) in enumerate(tokens):
        named = _named(tokens, i) if word == "__global__" else None
        if named is None:
            continue
        end = closed(tokens, named + 1)
        while end < len(tokens) and tokens[end][0] in ("const", "noexcept"):
            end += 1
        if end < len(tokens) and tokens[end][0] == "{":
            yield *tokens[named], begin, tokens[end][1]


def _named(tokens: Sequence[tuple[str, int]], at: int) -> int | None:
    """Where the name of a function stands that is declared from a place on."""
    while at + 1 < len(tokens) and (word := tokens[at][0]) not in (";", "{", "}"):
        if tokens[at + 1][0] == "(" and _NAME.fullmatch(word):
            if word not in _NO_NAMES:
                return at
            at = closed(tokens, at + 1)
        else:
            at += 1
    return None
