"""The accesses of a source in a run, and the memory instructions of its compiled code in theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from checker.analysis.coalescing.access import Key, keys
from checker.analysis.compiled.launch import source_name
from logic.metrics import Metric
from logic.stable import root
from logic.syntax import Kernel
from semantics.events import Dim, Event
from semantics.lockstep import linear
from semantics.ptx.simulate import Access

Warp = tuple[Dim, int]

Bytes = set[tuple[Warp, int]]
"""Bytes of an array, by the warps that access them."""

Space = Literal["global", "shared", "local"]


@dataclass(slots=True)
class Site:
    """An access of the source, or of the compiled code: what it accesses, with how many bytes in each lane.

    Of a run: how often each warp executes it, what that costs, the most that one execution costs, and the bytes where
    elements begin, for each warp.
    """

    kind: Literal["load", "store"]
    space: Space
    array: str
    width: int
    executions: Counter[Warp] = field(default_factory=Counter)
    costs: Counter[Warp] = field(default_factory=Counter)
    most: int = 0
    bytes: Bytes = field(default_factory=set)

    @property
    def times(self) -> int:
        return self.executions.total()

    @property
    def cost(self) -> int:
        return self.costs.total()

    def see(self, warp: Warp, offsets: Sequence[int], count: int) -> None:
        """Adds an execution: of a shared access its conflicts are the words of the busiest bank, less 1."""
        cost = count if self.space == "global" else max(0, count - 1) if self.space == "shared" else 0
        self.executions[warp] += 1
        self.costs[warp] += cost
        self.most = max(self.most, cost)
        self.bytes.update((warp, o) for o in offsets)

    @property
    def covered(self) -> Bytes:
        """Every byte that it accesses."""
        return {(warp, o + n) for warp, o in self.bytes for n in range(self.width)}


def metric_of(space: Space) -> str:
    """The metric that counts accesses to a space; "" for a thread's own memory, of which the source has none."""
    return {"global": "sectors", "shared": "conflicts", "local": ""}[space]


class Source:
    """An observer of a run of the source; `divergent` is what it pays for lanes that part."""

    def __init__(self, kernel: Kernel, block: Dim, warp: int) -> None:
        self.sites: dict[Key, Site] = {}
        self.parted: Counter[Warp] = Counter()
        self._kernel, self._block, self._warp = kernel, block, warp
        self._keys = keys(kernel)
        self._arrays = {a.name: a for a in kernel.arrays}
        for key in self._keys.values():
            array = self._arrays[key[2]]
            self.sites.setdefault(key, Site(key[1], array.space, root(array.name), array.width))

    def __call__(self, event: Event) -> None:
        """Notes an event."""
        warp = (event.threads[0].block, linear(event.threads[0].tid, self._block) // self._warp)
        if event.constant == "div":
            self.parted[warp] += 1
        key = self._keys.get(id(event.term))
        if key is None or event.count is None:
            return
        array = self._arrays[key[2]]
        self.sites[key].see(warp, [array.stride * i + array.offset for i in event.indices], event.count)


class Compiled:
    """An observer of a run of compiled code: its memory instructions by their address, of an atomic one what it reads
    and what it writes. `collided`: lanes of one atomic instruction met at one element."""

    def __init__(self, shared: Sequence[str]) -> None:
        self.sites: dict[tuple[int, str], Site] = {}
        self.collided = False
        self._shared = list(dict.fromkeys(map(root, shared)))

    def __call__(self, a: Access) -> None:
        """Notes an access."""
        array = source_name(a.array, self._shared) if a.space == "shared" else a.array
        kinds: tuple[Literal["load", "store"], ...] = ("load", "store") if a.kind == "update" else (a.kind,)
        self.collided = self.collided or (a.kind == "update" and len(set(a.offsets)) < len(a.offsets))
        for kind in kinds:
            site = self.sites.get((a.at, kind))
            if site is None:
                site = self.sites[a.at, kind] = Site(kind, a.space, array, a.width)
            site.see(a.warp, a.offsets, a.count)


def cost_of(sites: Sequence[Site], metric: Metric) -> Counter[Warp]:
    """The cost of accesses to each warp, in a metric."""
    found: Counter[Warp] = Counter()
    for s in sites:
        if metric_of(s.space) == metric.name:
            found += s.costs
    return found
