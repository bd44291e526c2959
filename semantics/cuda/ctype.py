"""C types, as far as layout and meaning go: what libclang says about a type, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from logic.syntax import BOOL, DOUBLE, FLOAT, INT, Type


@dataclass(frozen=True, slots=True)
class CType:
    """A canonical C type.

    `size` is in bytes (0 where incomplete); `inner` is what a pointer, reference or array holds. `align` is what
    addresses of it are multiples of. `count` is the length of an array type, None where the type does not say.
    Enumerations are `int`; `base` are the floating types; `other` is everything that miniCUDA has no use for.
    """

    kind: Literal["int", "bool", "base", "record", "void", "pointer", "reference", "array", "other"]
    name: str
    size: int = 0
    signed: bool = True
    inner: CType | None = None
    count: int | None = None
    const: bool = False
    volatile: bool = False
    align: int = 0


HALVES: Final = {"__fp16": "half", "__bf16": "bfloat16"}
"""The floating types of two bytes, and the functions that round a float to them."""

_FLOATS: Final = {"float": FLOAT, "double": DOUBLE, **dict.fromkeys(HALVES, FLOAT)}


def scalar(t: CType) -> Type | None:
    """The miniCUDA type of a value of this C type, None for what is no scalar. Every integer type is `int`; a half is
    a `float` that takes two bytes in memory."""
    match t.kind:
        case "int":
            return INT
        case "bool":
            return BOOL
        case "base":
            return _FLOATS.get(t.name, Type("base", t.name, t.size))
        case "reference":
            return scalar(t.inner) if t.inner else None
    return None


def innermost(t: CType) -> CType:
    """The element type of an array of arrays of ...; t itself if it is no array."""
    while t.kind == "array" and t.inner:
        t = t.inner
    return t


def compatible(a: CType, b: CType) -> bool:
    """Whether a pointer to one may be read as a pointer to the other without changing layout or meaning."""
    return a.kind == b.kind and a.size == b.size and (a.kind in ("int", "bool", "void") or a.name == b.name)


def same(a: CType, b: CType) -> bool:
    """Whether the variables of one thread may be read as either: the numbers are the same, too."""
    return compatible(a, b) and a.signed == b.signed
