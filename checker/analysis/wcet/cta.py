"""Abstract CTA simulation (section 3.3): the paper's estimate, which is not a bound.

    time node        T += N_high * T_instr, T_SHIFT += T_shift
    memory node      the access goes to LOG with the stall max(0, T_memory - N_low), T_SHIFT += T_memory / N_low
    barrier node     LOG is flushed: T += its stalls; T_SHIFT = 0; N_low = N_high, for all have come
    loop             as long as any warp has turns left, with those warps: N_high is their number, N_low at most that;
                     behind it N_low is at most the number of the warps that left last
    the end          LOG is flushed

Each loop has its number of turns for every warp, from its test: one that depends on memory has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from checker.analysis.wcet.abstract import Memory, Nodes, Time, Turns, Wait


@dataclass(slots=True)
class _Simulation:
    latency: int
    turns: Mapping[int, tuple[int, ...]]
    warps: tuple[int, ...]
    low: int
    total: int = 0
    shift: int = 0
    largest: int = 0
    log: list[int] = field(default_factory=list)

    def drift(self, shift: int) -> None:
        self.shift += shift
        self.largest = max(self.largest, self.shift)

    def flush(self) -> None:
        self.total += sum(self.log)
        self.log.clear()

    def proceed(self, abstract: Nodes) -> None:
        for node in abstract:
            match node:
                case Time(instr, shift):
                    self.total += len(self.warps) * instr
                    self.drift(shift)
                case Memory():
                    self.log.append(max(0, self.latency - self.low))
                    self.drift(self.latency // self.low)
                case Wait():
                    self.flush()
                    self.shift, self.low = 0, len(self.warps)
                case Turns():
                    self.loop(node)

    def loop(self, node: Turns) -> None:
        before, counts = self.warps, self.turns[node.branch]
        most = max(counts[w] for w in before)
        for turn in range(most):
            self.warps = tuple(w for w in before if counts[w] > turn)
            self.low = min(self.low, len(self.warps))
            self.proceed(node.head)
            self.proceed(node.body)
        self.warps = before
        self.low = min(self.low, sum(counts[w] == most for w in before))


class Simulated(NamedTuple):
    """T_WCET in cycles, and the largest T_SHIFT: how many instructions warps may be apart in a round of the convoy."""

    cycles: int
    shift: int


def simulate(abstract: Nodes, warps: int, latency: int, turns: Mapping[int, tuple[int, ...]]) -> Simulated:
    """The simulation of an abstract warp; `turns` has for each loop's branch the turns of every warp."""
    state = _Simulation(latency, turns, tuple(range(warps)), warps)
    state.proceed(abstract)
    state.flush()
    return Simulated(state.total, state.largest)
