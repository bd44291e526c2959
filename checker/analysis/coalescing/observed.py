"""The dynamic analysis (Alur et al., GPUDrano, CAV 2017, section 5): what the accesses of a kernel need in a run.

Every execution of an access by a warp is judged as `access` says, exactly; an access has the worst verdict of all. A
run proves that an access is not coalesced, never that it is. The paper calls an access uncoalesced where its executions
need more than one line on average; that average is told, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from checker.analysis.coalescing.access import LINE, Key, Seen, Threshold, Verdict, judged, keys, with_lines, worst
from logic.metrics import HARDWARE, Hardware
from logic.syntax import Array, Kernel
from semantics import grid
from semantics.events import Dim, Event
from semantics.grid import Contents
from semantics.lockstep import STEP_LIMIT, linear
from semantics.values import Value


@dataclass(frozen=True, slots=True)
class Observed:
    """The needs of an access, as found in its executions by warps.

    `transactions` are those of all executions together: lines, or words of the busiest bank. `most` are those of the
    dearest execution; `fewest` and `lanes` are that one's: what its lanes would need in consecutive places, and how
    many they are. `racy`: two lanes of one execution wrote different values into one element, so a device may keep
    either; atomic updates by different values count, since the semantics drops all but one of those, too.
    """

    verdict: Verdict
    executions: int
    transactions: int
    most: int
    fewest: int
    lanes: int
    racy: bool = False

    @property
    def average(self) -> Fraction:
        """The transactions of an execution on average."""
        return Fraction(self.transactions, self.executions)

    def __add__(self, other: Observed) -> Observed:
        """The needs that either found."""
        dearest = max(self, other, key=lambda o: (o.most, -o.fewest, o.lanes))
        return replace(
            dearest,
            verdict=worst((self.verdict, other.verdict)),
            executions=self.executions + other.executions,
            transactions=self.transactions + other.transactions,
            racy=self.racy or other.racy,
        )


class Watch:
    """An observer of runs of one kernel that notes what its accesses need. It wants the events of one warp at a time.

    Raises ValueError for a hardware model whose arrays need not start a line.
    """

    def __init__(
        self,
        kernel: Kernel,
        block: Dim,
        hardware: Hardware = HARDWARE["nvidia"],
        threshold: Threshold = "fewest",
    ) -> None:
        self.found: dict[Key, Observed] = {}
        self._block = block
        self._hardware = with_lines(hardware)
        self._threshold: Threshold = threshold
        self._kernel = kernel  # keeps the terms alive, so that their ids stay their own
        self._keys = keys(kernel)
        self._arrays = {a.name: a for a in kernel.arrays}
        self._judged: dict[tuple[str, tuple[int, ...], tuple[int, ...]], Seen] = {}

    def __call__(self, event: Event) -> None:
        """Notes an event."""
        at = self._keys.get(id(event.term))
        if at is None:
            return
        lanes = tuple(linear(t.tid, self._block) % self._hardware.warp for t in event.threads)
        seen = self._judge(self._arrays[at[2]], lanes, event.indices)
        here = Observed(seen.verdict, 1, seen.transactions, seen.transactions, seen.fewest, len(lanes), _collide(event))
        self.found[at] = self.found[at] + here if at in self.found else here

    def _judge(self, array: Array, lanes: tuple[int, ...], indices: tuple[int, ...]) -> Seen:
        """`judged`, remembered for addresses that differ from earlier ones by whole lines or rows of banks."""
        h = self._hardware
        unit = LINE if array.space == "global" else h.banks * h.word
        addresses = [array.stride * i + array.offset for i in indices]
        first = min(addresses) // unit * unit
        apart = tuple(a - first for a in addresses)
        what = (array.name, lanes, apart)
        if what not in self._judged:
            self._judged[what] = judged(array, dict(zip(lanes, apart, strict=True)), h, self._threshold)
        return self._judged[what]


def _collide(event: Event) -> bool:
    """Whether two lanes write different values into one element."""
    written: dict[int, Value] = {}
    for i, value in zip(event.indices, event.values, strict=False):  # a read has no values
        other = written.setdefault(i, value)
        if other != value and not (other != other and value != value):  # but for two NaN
            return True
    return False


def observe(
    kernel: Kernel,
    block: Dim,
    blocks: Dim,
    args: Mapping[str, Value],
    arrays: Mapping[str, Contents] | None = None,
    hardware: Hardware = HARDWARE["nvidia"],
    step_limit: int = STEP_LIMIT,
    progress: Callable[[int], None] | None = None,
    threshold: Threshold = "fewest",
) -> dict[Key, Observed]:
    """Runs a kernel on a grid of blocks, by the reference semantics: what each access that is executed needs.

    `progress` is told how many blocks have run. Raises what `semantics.grid.run` raises, and ValueError for a hardware
    model whose arrays need not start a line.
    """
    watch = Watch(kernel, block, hardware, threshold)
    grid.run(kernel, block, blocks, args, arrays, (), hardware, step_limit, watch, progress)
    return watch.found
