"""The trace of a run of the mini-SIMT machine: its cycles, its result, or why it came to none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from logic.source import Loc, SourceError
from semantics.values import Value

# --- cycles ----------------------------------------------------------------------------------------------------------

State = Literal["issue", "ready", "stall", "barrier", "ended"]
"""The state of a warp in a cycle: it issues, could issue, waits for a load, waits at a barrier, has ended."""


class Row(NamedTuple):
    """A cycle: the warp that issued, the instruction's address and the active threads' lanes; and every warp's state.

    `warp` is None in a cycle without an instruction.
    """

    cycle: int
    warp: int | None
    address: int
    lanes: tuple[int, ...]
    states: tuple[State, ...]


Observer = Callable[[Row], None]


class Outside(NamedTuple):
    """An access to an address that memory does not have: a load gives 0, a store is lost."""

    kind: Literal["load", "store"]
    address: int
    thread: int
    loc: Loc | None


@dataclass(frozen=True, slots=True)
class Result:
    """`cycles` and the instructions issued in them, the cells of memory that were given or written, and the first
    access outside memory at each place."""

    cycles: int
    issued: int
    memory: dict[int, Value]
    outside: tuple[Outside, ...]


# --- faults ----------------------------------------------------------------------------------------------------------


class Endless(SourceError):
    """The machine issued as many instructions as the step limit allows; `cycles` had passed by then."""

    def __init__(self, limit: int, cycles: int, loc: Loc | None) -> None:
        super().__init__(f"the program did not end within {limit} steps", loc, "Raise --step-limit if it does end.")
        self.cycles = cycles


class Waiting(NamedTuple):
    """The threads of a warp that wait at a barrier, and how many threads it expects (None: all that have not ended)."""

    warp: int
    threads: tuple[int, ...]
    ident: int
    expected: int | None
    loc: Loc | None


class Deadlock(SourceError):
    """No warp can ever go on: each has ended or waits at a barrier. Refuted with this witness."""

    def __init__(self, cycle: int, waiting: tuple[Waiting, ...], ended: tuple[int, ...], unfinished: int) -> None:
        groups: dict[tuple[int, Loc | None], list[Waiting]] = {}
        for w in waiting:
            groups.setdefault((w.ident, w.loc), []).append(w)
        parts = []
        for (ident, loc), there in groups.items():
            wait = f"wait{'s' if len(there) == 1 else ''} at barrier {ident}{f' in line {loc.line}' if loc else ''}"
            come, wanted = sum(len(w.threads) for w in there), there[0].expected
            needed = f"({come} of the {unfinished if wanted is None else wanted} threads that it needs)"
            parts.append(f"{_warps([w.warp for w in there])} {wait} {needed}")
        if ended:
            parts.append(f"{_warps(ended)} ended")
        message = f"deadlock in cycle {cycle}: {', '.join(parts)}"
        super().__init__(message, waiting[0].loc, "Nobody is left who could come to it.")
        self.cycle = cycle
        self.waiting = waiting
        self.ended = ended


def _warps(numbers: Sequence[int]) -> str:
    return f"warp{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
