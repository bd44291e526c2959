"""Values that the lanes of a warp pass to one another: shuffles and votes, as PTX has them (`shfl` and `vote`).

The logic knows no more of such a value than that it is some value, `call:NAME(.., k)` with a number k of its own. A run
looks up at `Kernel.exchanges` what k stands for.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final

from logic.syntax import Const, Op

Value = int | bool | float

SHUFFLES: Final = ("shfl", "shfl_up", "shfl_down", "shfl_xor")
VOTES: Final = ("any", "all", "ballot")
MATCHES: Final = ("match_any", "match_all")
_REDUCED: Final[dict[str, Callable[[int, int], int]]] = {
    "reduce_add": operator.add,
    "reduce_min": min,
    "reduce_max": max,
    "reduce_and": operator.and_,
    "reduce_or": operator.or_,
    "reduce_xor": operator.xor,
}
REDUCTIONS: Final = tuple(_REDUCED)
FUNCTIONS: Final = (
    {f"__{name}{end}": name for name in (*SHUFFLES, *VOTES) for end in ("", "_sync")}
    | {f"__{name}_sync": name for name in (*MATCHES, *REDUCTIONS)}
    | {"__activemask": "activemask"}
)
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


def voted(name: str, lane: int, passed: Mapping[int, Value], mask: int | None) -> int:
    """The value of a vote, a match or a reduction for a lane that asks with this mask, `passed` being what each active
    lane passes; None is no mask. Sums are those of whole numbers: their reader reduces them."""
    lanes = {other: value for other, value in passed.items() if mask is None or mask >> other & 1}
    match name:
        case "any":
            return int(any(lanes.values()))
        case "all":
            return int(all(lanes.values()))
        case "match_any" | "match_all":
            alike = {other for other, value in lanes.items() if bits(value) == bits(passed[lane])}
            return sum(1 << other for other in alike) if name == "match_any" or len(alike) == len(lanes) else 0
        case reduction if reduction in _REDUCED:
            return reduce(_REDUCED[reduction], (int(value) for value in lanes.values())) if lanes else 0
    return sum(1 << other for other, value in lanes.items() if value)


def bits(value: Value) -> tuple[float, float]:
    """A key that tells two values of one type apart by their bits: zeros by their signs. NaNs are all alike."""
    return (value, math.copysign(1.0, value)) if not math.isnan(value) else (0.0, 0.0)
