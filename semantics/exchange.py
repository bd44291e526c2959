"""Values that the lanes of a warp pass to one another: shuffles and votes, as PTX has them (`shfl` and `vote`).

The logic knows no more of such a value than that it is some value, `call:NAME(.., k)` with a number k of its own. A run
looks up at `Kernel.exchanges` what k stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from logic.syntax import Const, Op

SHUFFLES: Final = ("shfl", "shfl_up", "shfl_down", "shfl_xor")
VOTES: Final = ("any", "all", "ballot")
FUNCTIONS: Final = {f"__{name}{end}": name for name in (*SHUFFLES, *VOTES) for end in ("", "_sync")} | {
    "__activemask": "activemask"
}
"""CUDA's names for them; those in `_sync` pass a mask first."""

_OPERATORS: Final = {f"call:{function}": name for function, name in FUNCTIONS.items()}


def kind(e: Op) -> str:
    """`shfl_down` of `call:__shfl_down_sync`; "" for other operators."""
    return _OPERATORS.get(e.op, "")


def number(e: Op) -> int | None:
    """The number of the value that an exchange gives; None for those of its operators that only stand inside."""
    match e.args[-1]:
        case Const(int(k)):
            return k
    return None


def source(name: str, lane: int, by: int, width: int, warp: int) -> int | None:
    """The lane whose value a shuffle gives: its own where the other one is beyond its part of the warp. A width of 0
    is that of the warp; None for widths that PTX does not define."""
    width = width or warp
    if not 0 < width <= warp or width & (width - 1):
        return None
    first, by = lane - lane % width, by % warp
    last = first + width - 1
    match name:
        case "shfl":
            return first + by % width
        case "shfl_up":
            return lane - by if lane - by >= first else lane
        case "shfl_down":
            return lane + by if lane + by <= last else lane
    return lane ^ by if lane ^ by <= last else lane


def voted(name: str, passed: Mapping[int, object], mask: int | None) -> int:
    """The result of a vote for the lanes with this mask; `passed` has the value of each of them; None is no mask."""
    lanes = {lane: bool(value) for lane, value in passed.items() if mask is None or mask >> lane & 1}
    match name:
        case "any":
            return int(any(lanes.values()))
        case "all":
            return int(all(lanes.values()))
    return sum(1 << lane for lane, value in lanes.items() if value)
