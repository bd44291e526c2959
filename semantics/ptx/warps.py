"""Values that lanes of a warp pass to one another (PTX ISA 9.0, 9.7.9 and 9.7.13): shuffles, votes, matches, sums."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from semantics.ptx.numbers import Lanes


def shuffled(mode: str, a: Lanes, by: Lanes, shape: Lanes, active: Lanes) -> tuple[Lanes, Lanes, bool]:
    """`shfl`: what each lane gets, whether it is from the lane that was asked for, and whether one that is not there
    was asked, whose value PTX leaves open: then a lane gets its own."""
    found, valid, open_ = a.copy(), np.zeros(len(a), bool), False
    for lane in np.flatnonzero(active).tolist():
        b, c = int(by[lane]) & 31, int(shape[lane])
        clamp, segment = c & 31, c >> 8 & 31
        most, least = lane & segment | clamp & ~segment & 31, lane & segment
        there, inside = {
            "up": (lane - b, lane - b >= most),
            "down": (lane + b, lane + b <= most),
            "bfly": (lane ^ b, lane ^ b <= most),
            "idx": (least | b & ~segment & 31, (least | b & ~segment & 31) <= most),
        }[mode]
        valid[lane] = inside
        if inside and there < len(a) and active[there]:
            found[lane] = a[there]
        elif inside:
            open_ = True
    return found, valid, open_


MODES: Final = ("up", "down", "bfly", "idx")


def mask_of(lanes: Lanes) -> int:
    """A bit for each lane."""
    return sum(1 << lane for lane in np.flatnonzero(lanes).tolist())


def voted(mode: str, p: Lanes, active: Lanes) -> Lanes | None:
    """`vote`; None for a mode that is not known."""
    of = p[active]
    match mode:
        case "any":
            return np.full(len(p), bool(of.any()))
        case "all":
            return np.full(len(p), bool(of.all()))
        case "uni":
            return np.full(len(p), bool(of.all() or not of.any()))
        case "ballot":
            return np.full(len(p), mask_of(p & active), np.uint32)
    return None


def matched(mode: str, a: Lanes, active: Lanes) -> tuple[Lanes, Lanes]:
    """`match`: the lanes that have the same value; of `all` 0 where not all have, and whether they do."""
    same = [mask_of(active & (a == a[lane])) for lane in range(len(a))]
    everyone = mask_of(active)
    if mode == "all":
        agreed = all(same[lane] == everyone for lane in np.flatnonzero(active).tolist())
        return np.full(len(a), everyone if agreed else 0, np.uint32), np.full(len(a), agreed)
    return np.array(same, np.uint32), np.ones(len(a), bool)


def reduced(mode: str, a: Lanes, active: Lanes) -> Lanes | None:
    """`redux`; None for a mode that is not known."""
    f = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or}
    f["xor"] = np.bitwise_xor
    if mode not in f:
        return None
    found: Lanes = np.full(len(a), f[mode].reduce(a[active], dtype=a.dtype), a.dtype)
    return found


def updated(mode: str, old: Lanes, b: Lanes, c: Lanes | None) -> Any:
    """The value that an atomic instruction writes, of one lane; None for a mode that is not known."""
    match mode:
        case "add":
            return old + b
        case "min":
            return np.minimum(old, b)
        case "max":
            return np.maximum(old, b)
        case "and":
            return old & b
        case "or":
            return old | b
        case "xor":
            return old ^ b
        case "exch":
            return b
        case "cas":
            return np.where(old == b, c, old) if c is not None else None
        case "inc":
            return np.where(old >= b, old.dtype.type(0), old + old.dtype.type(1))
        case "dec":
            return np.where((old == 0) | (old > b), b, old - old.dtype.type(1))
    return None
