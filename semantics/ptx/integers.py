"""The integer, logic and bit instructions of PTX (ISA 9.0, 9.7.1, 9.7.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from semantics.ptx.numbers import KINDS, Lanes, size


class Undefined(Exception):
    """A result that PTX leaves open, of a lane that is active."""


def _wide(x: Lanes) -> Lanes:
    """As Python's integers, which have all bits."""
    return x.astype(object)


def _wrapped(x: Lanes, type_: str) -> Lanes:
    """Python's integers, modulo the bits of a type."""
    bits = 8 * size(type_)
    return np.array([int(v) % (1 << bits) for v in x.tolist()], KINDS[f"u{bits}"]).view(KINDS[type_])


def product(part: str, type_: str) -> Callable[[Lanes, Lanes], Lanes]:
    """`mul`: the low or the high half of a product, or all of it in a type twice as wide."""
    bits = 8 * size(type_)
    double = f"{type_[0]}{2 * bits}"
    if part == "lo":
        return lambda a, b: a * b
    if bits < 64:
        whole = KINDS[double]
        if part == "wide":
            return lambda a, b: a.astype(whole) * b.astype(whole)
        return lambda a, b: (a.astype(whole) * b.astype(whole) >> np.array(bits, whole)).astype(KINDS[type_])
    return lambda a, b: _wrapped(_wide(a) * _wide(b) >> bits, type_)


def _quotient(a: Lanes, b: Lanes, remainder: bool) -> Lanes:
    """The quotient or the remainder of C, which rounds towards 0."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    if a.dtype.kind == "u":
        found: Lanes = a % safe if remainder else a // safe
        return found
    rest: Lanes = np.fmod(a, safe)
    if remainder:
        return rest
    exact: Lanes = (a - rest) // safe
    return exact


def quotient(remainder: bool) -> Callable[[Lanes, Lanes], Lanes]:
    return lambda a, b: _quotient(a, b, remainder)


def _left(a: Lanes, by: Lanes) -> Lanes:
    bits = 8 * a.dtype.itemsize
    safe = np.minimum(by, bits - 1).astype(a.dtype)
    found: Lanes = np.where(by >= bits, a.dtype.type(0), a << safe)
    return found


def _right(a: Lanes, by: Lanes) -> Lanes:
    bits = 8 * a.dtype.itemsize
    safe = np.minimum(by, bits - 1).astype(a.dtype)
    found: Lanes = a >> safe if a.dtype.kind == "i" else np.where(by >= bits, a.dtype.type(0), a >> safe)
    return found


def _counted(f: Callable[[int, int], int]) -> Callable[[Lanes], Lanes]:
    """A function of the bits of each lane, and of how many there are, as a u32."""

    def apply(a: Lanes) -> Lanes:
        bits = 8 * a.dtype.itemsize
        return np.array([f(int(v) % (1 << bits), bits) % 2**32 for v in a.tolist()], np.uint32)

    return apply


def _highest(signed: bool, shift: bool) -> Callable[[int, int], int]:
    def apply(v: int, bits: int) -> int:
        v = v ^ ((1 << bits) - 1) if signed and v >> bits - 1 else v
        at = v.bit_length() - 1
        return -1 if at < 0 else bits - 1 - at if shift else at

    return apply


def _extracted(a: Lanes, at: Lanes, length: Lanes) -> Lanes:
    """`bfe`: some bits, the rest filled with their sign, or where they reach beyond the last one, with that of all."""
    bits, signed = 8 * a.dtype.itemsize, a.dtype.kind == "i"
    found = []
    for v, p, n in zip(a.tolist(), (at & 255).tolist(), (length & 255).tolist(), strict=True):
        v %= 1 << bits
        sign = v >> min(p + n - 1, bits - 1) & 1 if signed and n else 0
        part = v >> p if p < bits else 0
        part &= (1 << n) - 1
        kept = max(0, min(n, bits - p))
        found.append((part | sign * ((1 << bits) - (1 << kept))) % (1 << bits))
    return np.array(found, KINDS[f"u{bits}"]).view(a.dtype)


def _inserted(a: Lanes, b: Lanes, at: Lanes, length: Lanes) -> Lanes:
    """`bfi`: b with some bits of a put into it."""
    bits = 8 * a.dtype.itemsize
    found = []
    for v, w, p, n in zip(a.tolist(), b.tolist(), (at & 255).tolist(), (length & 255).tolist(), strict=True):
        mask = ((1 << n) - 1 << p) % (1 << bits)
        found.append(w & ~mask | v << p & mask)
    return np.array(found, a.dtype)


def permuted(a: Lanes, b: Lanes, choice: Lanes) -> Lanes:
    """`prmt`: bytes of two words, each chosen by a digit; where that has its first bit, the sign of that byte."""
    found = []
    for x, y, c in zip(a.tolist(), b.tolist(), choice.tolist(), strict=True):
        both, word = x | y << 32, 0
        for i in range(4):
            digit = c >> 4 * i & 15
            byte = both >> 8 * (digit & 7) & 255
            word |= (255 * (byte >> 7) if digit & 8 else byte) << 8 * i
        found.append(word)
    return np.array(found, np.uint32)


def looked_up(a: Lanes, b: Lanes, c: Lanes, table: Lanes) -> Lanes:
    """`lop3`: any function of three bits, by its table."""
    found = np.zeros_like(a)
    n = int(table[0])
    for row in range(8):
        if n >> row & 1:
            parts = [x if row >> bit & 1 else ~x for x, bit in ((a, 2), (b, 1), (c, 0))]
            found |= parts[0] & parts[1] & parts[2]
    return found


def funnel(left: bool, clamp: bool) -> Callable[[Lanes, Lanes, Lanes], Lanes]:
    """`shf`: a word of two that are shifted together."""

    def apply(low: Lanes, high: Lanes, by: Lanes) -> Lanes:
        both = low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)
        n = (np.minimum(by, 32) if clamp else by & 31).astype(np.uint64)
        moved = both << n >> np.uint64(32) if left else both >> n
        if left and clamp:
            moved = np.where(n == 32, low.astype(np.uint64), moved)
        return moved.astype(np.uint32)

    return apply


def _bytes_of(a: Lanes, type_: str) -> Lanes:
    return np.ascontiguousarray(a).view(np.int8 if type_ == "s32" else np.uint8).reshape(-1, 4).astype(np.int64)


def dotted(first: str, second: str) -> Callable[[Lanes, Lanes, Lanes], Lanes]:
    """`dp4a`: the sum of four products of bytes and a word."""
    return lambda a, b, c: (c + (_bytes_of(a, first) * _bytes_of(b, second)).sum(axis=1)).astype(c.dtype)


PLAIN: Final[dict[str, Callable[..., Lanes]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "cnot": lambda a: (a == 0).astype(a.dtype),
    "neg": lambda a: (-a.view(f"i{a.dtype.itemsize}")).view(a.dtype),
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "brev": lambda a: _reversed(a),  # noqa: PLW0108 - it is defined below
    "sad": lambda a, b, c: c + np.where(a < b, b - a, a - b).astype(c.dtype),
    "bfe": _extracted,
    "bfi": _inserted,
    "shl": _left,
    "shr": _right,
}

COUNTS: Final[dict[str, Callable[[Lanes], Lanes]]] = {
    "popc": _counted(lambda v, _: v.bit_count()),
    "clz": _counted(lambda v, bits: bits - v.bit_length()),
}


def _reversed(a: Lanes) -> Lanes:
    bits = 8 * a.dtype.itemsize
    return np.array([int(f"{v:0{bits}b}"[::-1], 2) for v in a.tolist()], a.dtype)


def highest(signed: bool, shift: bool) -> Callable[[Lanes], Lanes]:
    """`bfind`: the place of the highest bit that is not the sign, or how far it is from the first; -1 where none is."""
    return _counted(_highest(signed, shift))


def carried(name: str, type_: str, *xs: Lanes, carry: Lanes) -> tuple[Lanes, Lanes]:
    """`add.cc`, `addc`, `sub.cc`, `subc`, `mad.lo.cc`, `madc.hi`: the sum with the carry that came in, and the one that
    goes out. Of a difference the carry is what was borrowed."""
    bits = 8 * size(type_)
    own = [[int(v) % (1 << bits) for v in x.tolist()] for x in xs]
    came = [int(c) for c in carry.tolist()]
    if name == "sub":
        whole = [a - b - c for a, b, c in zip(own[0], own[1], came, strict=True)]
        return _wrapped(np.array(whole, object), type_), np.array([v < 0 for v in whole])
    if name in ("lo", "hi"):
        signed = [[int(v) for v in x.tolist()] for x in xs[:2]]
        products = [a * b for a, b in zip(*signed, strict=True)]
        own = [[(p if name == "lo" else p >> bits) % (1 << bits) for p in products], own[2]]
    whole = [a + b + c for a, b, c in zip(own[0], own[1], came, strict=True)]
    return _wrapped(np.array(whole, object), type_), np.array([v >> bits > 0 for v in whole])
