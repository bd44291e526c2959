"""The floating-point instructions of PTX (ISA 9.0, 9.7.3), exact where the ISA is: rounded once.

What is `.approx` or `.full` there has some bits that only a device knows; here it is the correctly rounded result of
the double-precision function, within the error that the ISA allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from semantics.ptx.numbers import KINDS, RAW, Lanes
from semantics.rounding import operations

_EXACT: Final = operations()
_DIRECTIONS: Final = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru"}
"""PTX's letters for directions, and CUDA's."""


def flushed(x: Lanes) -> Lanes:
    """`.ftz`: subnormal numbers are 0 of their sign."""
    tiny = np.finfo(x.dtype).tiny
    found: Lanes = np.where(np.abs(x) < tiny, np.copysign(x.dtype.type(0), x), x)
    return found


def saturated(x: Lanes) -> Lanes:
    """`.sat`: between 0 and 1; of a NaN 0."""
    found: Lanes = np.where(
        np.isnan(x), x.dtype.type(0), np.clip(x, x.dtype.type(0), x.dtype.type(1)) + x.dtype.type(0)
    )
    return found


def _one_by_one(name: str, kind: str) -> Callable[..., Lanes]:
    """An operation on each lane by `semantics.rounding`, which rounds exact results."""
    f = _EXACT[name]
    return lambda *xs: np.array([f(*map(float, lane)) for lane in zip(*xs, strict=True)], KINDS[kind])


def _fused_single(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """a * b + c on singles or halves, rounded once: the product is a double, and the sum is rounded to an odd double
    first, which has more than twice the bits, so that the second rounding goes where one alone would."""
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    s: Lanes = product + addend
    part = s - product
    rest = (product - (s - part)) + (addend - part)
    bits = s.view(np.int64)
    inexact = np.isfinite(s) & (rest != 0) & (bits & 1 == 0)
    outward = (rest > 0) == (s > 0)
    odd = np.where(inexact, np.where(outward, bits + 1, bits - 1), bits).view(np.float64)
    return odd.astype(a.dtype)


_PLAIN: Final[dict[str, Callable[..., Lanes]]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "rcp": lambda x: x.dtype.type(1) / x,
    "sqrt": np.sqrt,
}
"""What a processor rounds to nearest, as IEEE 754 asks for."""

_APPROXIMATE: Final[dict[str, Callable[..., Lanes]]] = {
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "rcp": lambda x: 1.0 / x,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "div": np.divide,
}


def _approximate(f: Callable[..., Lanes]) -> Callable[..., Lanes]:
    return lambda *xs: f(*(x.astype(np.float64) for x in xs)).astype(xs[0].dtype)


def _smaller(a: Lanes, b: Lanes) -> Lanes:
    both = (a.view(RAW[a.dtype.itemsize]) | b.view(RAW[b.dtype.itemsize])).view(a.dtype)
    return np.where((a == b) & (a == 0), both, np.fmin(a, b))


def _larger(a: Lanes, b: Lanes) -> Lanes:
    both = (a.view(RAW[a.dtype.itemsize]) & b.view(RAW[b.dtype.itemsize])).view(a.dtype)
    return np.where((a == b) & (a == 0), both, np.fmax(a, b))


_SIMPLE: Final[dict[str, Callable[..., Lanes]]] = {
    "neg": np.negative,
    "abs": np.abs,
    "min": _smaller,
    "max": _larger,
    "copysign": lambda a, b: np.copysign(b, a),
}


def operation(name: str, modifiers: tuple[str, ...], type_: str) -> Callable[..., Lanes] | None:
    """The function of an instruction on floats; None where it is not known."""
    left = [m for m in modifiers if m not in ("ftz", "sat")]
    f = _chosen(name, left, type_)
    if f is None:
        return None
    flush, saturate = "ftz" in modifiers, "sat" in modifiers
    if not flush and not saturate:
        return f

    def apply(*xs: Lanes) -> Lanes:
        found = f(*(flushed(x) for x in xs)) if flush else f(*xs)
        found = flushed(found) if flush else found
        return saturated(found) if saturate else found

    return apply


def _chosen(name: str, modifiers: list[str], type_: str) -> Callable[..., Lanes] | None:
    direction = next((m for m in modifiers if m in _DIRECTIONS), "rn")
    left = [m for m in modifiers if m not in _DIRECTIONS]
    if left in (["approx"], ["full"]):
        return _approximate(_APPROXIMATE[name]) if name in _APPROXIMATE and type_ != "f16" else None
    if left:
        return None
    if name in _SIMPLE and direction == "rn":
        return _SIMPLE[name]
    if name in ("fma", "mad"):
        if direction == "rn" and type_ in ("f32", "f16"):
            return _fused_single
        named = "fma" if type_ == "f64" else "fmaf"
        return _one_by_one(f"{named}_{_DIRECTIONS[direction]}", type_) if type_ != "f16" else None
    if name not in _PLAIN:
        return None
    if direction == "rn":
        return _PLAIN[name]
    letter = {"f32": "f", "f64": "d"}.get(type_)
    return _one_by_one(f"{letter}{name}_{_DIRECTIONS[direction]}", type_) if letter else None


# --- conversions -----------------------------------------------------------------------------------------------------

_WHOLE: Final[dict[str, Callable[[Lanes], Lanes]]] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def to_integer(x: Lanes, how: str, to: str) -> Lanes | None:
    """A float as an integer: what is out of range becomes the nearest one, a NaN 0, or the bit of the sign where 64
    bits are on either side."""
    if how not in _WHOLE:
        return None
    wide = x.dtype.itemsize == 8 or KINDS[to]().dtype.itemsize == 8
    limits = np.iinfo(KINDS[to])
    whole = _WHOLE[how](x.astype(np.float64))
    odd = 1 << limits.bits - 1 if limits.min == 0 else limits.min
    found = [
        (odd if wide else 0) if v != v else limits.max if v > limits.max else limits.min if v < limits.min else int(v)
        for v in whole.tolist()
    ]
    return np.array(found, dtype=object).astype(KINDS[to])


def to_float(x: Lanes, how: str, to: str) -> Lanes | None:
    """A number as a float of another type, or a float rounded to a whole number."""
    if how in _WHOLE:
        return _WHOLE[how](x).astype(KINDS[to])
    if how in ("", "rn"):
        return x.astype(KINDS[to])
    if x.dtype.kind == "f" and how in _DIRECTIONS and to == "f32":
        from semantics.rounding import SINGLE, converter

        f = converter(SINGLE, _DIRECTIONS[how])  # type: ignore[arg-type]
        return np.array([f(v) for v in x.tolist()], np.float32)
    return None
