"""The types of PTX, as numpy has them, and operands as numbers of these."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Lanes = NDArray[Any]
"""A value for each lane of a warp."""

KINDS: Final[dict[str, type]] = {
    **{f"{letter}{bits}": getattr(np, f"uint{bits}") for letter in "bu" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": getattr(np, f"float{bits}") for bits in (16, 32, 64)},
    "pred": np.bool_,
}
"""The numpy type of every PTX type that is known here."""

RAW: Final[dict[int, type]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""What registers hold: bits, by their bytes."""


def size(type_: str) -> int:
    """The bytes of a type."""
    return int(np.dtype(KINDS[type_]).itemsize)


def is_float(type_: str) -> bool:
    return type_[0] == "f"


def raw(type_: str) -> type:
    """The type of a register that holds one."""
    return np.bool_ if type_ == "pred" else RAW[size(type_)]


def read(register: Lanes, type_: str) -> Lanes:
    """A register's bits as a type, the lowest of them where it is wider."""
    if type_ == "pred":
        return register
    wanted = KINDS[type_]
    if register.dtype.itemsize != np.dtype(wanted).itemsize:
        register = register.astype(RAW[size(type_)])
    return register.view(wanted)


def held(value: Lanes, type_: str, register: type) -> Lanes:
    """A value of a type as bits for a register, which may be wider: then by its sign where it has one."""
    if register is np.bool_:
        return value
    value = np.ascontiguousarray(value, dtype=KINDS[type_])
    if value.dtype.itemsize == np.dtype(register).itemsize:
        return value.view(register)
    if is_float(type_):
        return value.view(RAW[value.dtype.itemsize]).astype(register)
    return value.astype(register)


def constant(bits: int, type_: str, lanes: int) -> Lanes:
    """A number of the text for every lane; that of a float is written as its bits."""
    if type_ == "pred":
        return np.full(lanes, bool(bits))
    n = size(type_)
    return np.full(lanes, bits % (1 << 8 * n), RAW[n]).view(KINDS[type_])
