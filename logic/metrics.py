"""Cost metrics (Table 1, p. 7, with the sync column of M^sync in Fig. 6) and hardware models.

A metric maps resource constants to nonnegative rationals. The four that depend on a count n are `slope * n + offset`
clamped at 0, which is monotone in n by construction when the slope is nonnegative; that is checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeVar

T = TypeVar("T")

# The resource constants of Table 1, by whether their price depends on a count.
FIXED: Final = ("var", "const", "param", "op", "if", "div", "vwrite", "sync")
COUNTED: Final = ("gread", "sread", "gwrite", "swrite")

ZERO: Final = Fraction(0)


@dataclass(frozen=True, slots=True)
class Linear:
    """n |-> max(0, slope * n + offset), a count's price.

    >>> Linear(Fraction(1), Fraction(-1))(4)
    Fraction(3, 1)
    >>> Linear(Fraction(1), Fraction(-1))(0)
    Fraction(0, 1)
    """

    slope: Fraction
    offset: Fraction

    def __call__(self, n: int) -> Fraction:
        return max(ZERO, self.slope * n + self.offset)


@dataclass(frozen=True, slots=True)
class Metric:
    """A resource metric M. `fixed` prices the constants of FIXED, `counted` those of COUNTED; absent ones are free.

    Raises ValueError for an unknown constant, a price that is no Fraction, a negative one or one that falls with n.

    >>> METRICS["sectors"].count("gread", 4)
    Fraction(4, 1)
    >>> METRICS["conflicts"].count("sread", 1), METRICS["conflicts"].count("sread", 8)
    (Fraction(0, 1), Fraction(7, 1))
    >>> METRICS["divwarps"].cost("div"), METRICS["divwarps"].cost("if")
    (Fraction(1, 1), Fraction(0, 1))
    >>> Metric("writes", counted={"gwrite": Linear(Fraction(2), Fraction(0))}).count("gwrite", 3)
    Fraction(6, 1)
    >>> Metric("bad", {"op": Fraction(-1)})
    Traceback (most recent call last):
        ...
    ValueError: metric bad: the price -1 of 'op' is negative
    """

    name: str
    fixed: dict[str, Fraction] = field(default_factory=dict)
    counted: dict[str, Linear] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for constant, price in self.fixed.items():
            if constant not in FIXED:
                raise ValueError(f"metric {self.name}: no resource constant is called '{constant}'")
            self._exact(constant, price)
            if price < 0:
                raise ValueError(f"metric {self.name}: the price {price} of '{constant}' is negative")
        for constant, line in self.counted.items():
            if constant not in COUNTED:
                raise ValueError(f"metric {self.name}: no counted resource constant is called '{constant}'")
            self._exact(constant, line.slope)
            self._exact(constant, line.offset)
            if line.slope < 0:
                raise ValueError(f"metric {self.name}: the price of '{constant}' falls with n; it must be monotone")

    def _exact(self, constant: str, number: object) -> None:
        if type(number) is not Fraction:
            raise ValueError(f"metric {self.name}: {number!r} in the price of '{constant}' is not a Fraction")

    def cost(self, constant: str) -> Fraction:
        """M.constant"""
        return self.fixed.get(constant, ZERO)

    def count(self, constant: str, n: int) -> Fraction:
        """M.constant(n)"""
        line = self.counted.get(constant)
        return line(n) if line else ZERO


_N: Final = Linear(Fraction(1), ZERO)
_N_MINUS_1: Final = Linear(Fraction(1), Fraction(-1))
_SHARED: Final = {"sread": _N_MINUS_1, "swrite": _N_MINUS_1}
_GLOBAL: Final = {"gread": _N, "gwrite": _N}

METRICS: Final = {
    m.name: m
    for m in (
        Metric("sectors", counted=_GLOBAL),
        Metric("conflicts", counted=_SHARED),
        Metric("divwarps", {"div": Fraction(1)}),
        Metric("steps", dict.fromkeys(FIXED, Fraction(1)), {**_GLOBAL, **_SHARED}),
    )
}
"""The four metrics of Table 1."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """A hardware model, which says what is counted: sizes in bytes, `banks` of `word` bytes each, `warp` lanes.

    `alignment` is what every array's base address is a multiple of (cudaMalloc guarantees 256): an assumption.
    `phase` is how many bytes an access to shared memory moves at once: wide elements go in phases of fewer lanes each
    (`lanes_at_once`), as NVIDIA's guides describe for 64 and 128 bits a lane. None: all lanes at once, as in the paper.

    Raises ValueError for sizes that are no positive integers, or an alignment that cuts sectors or words apart.

    >>> HARDWARE["nvidia"].sector, HARDWARE["nvidia"].banks, HARDWARE["nvidia"].warp
    (32, 32, 32)
    >>> Hardware("tiny", sector=16, banks=4, warp=4).alignment
    256
    """

    name: str
    sector: int = 32
    banks: int = 32
    word: int = 4
    warp: int = 32
    alignment: int = 256
    phase: int | None = None

    def __post_init__(self) -> None:
        for unit in sizes_of(self):
            size = getattr(self, unit)
            if type(size) is not int or size < 1:
                raise ValueError(f"hardware {self.name}: '{unit}' has to be a positive integer")
        if self.alignment % self.sector or self.alignment % self.word:
            raise ValueError(f"hardware {self.name}: the alignment has to be a multiple of the sector and the word")


def sizes_of(hardware: Hardware) -> tuple[str, ...]:
    """The names of the numbers that a hardware model has."""
    return ("sector", "word", "alignment", "banks", "warp", *(() if hardware.phase is None else ("phase",)))


HARDWARE: Final = {h.name: h for h in (Hardware("nvidia"),)}
"""The hardware models by name."""


def touched(first_bytes: list[int], width: int, unit: int) -> set[int]:
    """The numbers of the `unit`-byte blocks that accesses of `width` bytes at these byte addresses touch.

    >>> sorted(touched([0, 30], 4, 32))
    [0, 1]
    >>> sorted(touched([64], 16, 32))
    [2]
    """
    return {block for a in first_bytes for block in range(a // unit, (a + width - 1) // unit + 1)}


def sectors(first_bytes: list[int], width: int, hardware: Hardware) -> int:
    """MemReads: the distinct sectors that the accesses touch (erratum 8: floor).

    >>> sectors([4 * lane for lane in range(32)], 4, HARDWARE["nvidia"])
    4
    >>> sectors([4 * lane + 4 for lane in range(32)], 4, HARDWARE["nvidia"])
    5
    >>> sectors([128 * lane for lane in range(32)], 4, HARDWARE["nvidia"])
    32
    >>> sectors([0] * 32, 4, HARDWARE["nvidia"])
    1
    """
    return len(touched(first_bytes, width, hardware.sector))


def conflicts(first_bytes: list[int], width: int, hardware: Hardware) -> int:
    """Conflicts: the most distinct words that the accesses touch in one bank (erratum 8: words, not threads).

    >>> conflicts([4 * lane for lane in range(32)], 4, HARDWARE["nvidia"])
    1
    >>> conflicts([8 * lane for lane in range(32)], 4, HARDWARE["nvidia"])
    2
    >>> conflicts([128 * lane for lane in range(32)], 4, HARDWARE["nvidia"])
    32
    >>> conflicts([0] * 32, 4, HARDWARE["nvidia"])
    1
    """
    per_bank = [0] * hardware.banks
    for w in touched(first_bytes, width, hardware.word):
        per_bank[w % hardware.banks] += 1
    return max(per_bank)


def lanes_at_once(width: int, hardware: Hardware) -> int:
    """The lanes of a phase of an access to shared memory, `width` bytes a lane: the first ones, then as many more.

    >>> phased = Hardware("phased", phase=128)
    >>> [lanes_at_once(width, phased) for width in (1, 4, 8, 16, 256)]
    [32, 32, 16, 8, 1]
    >>> lanes_at_once(16, HARDWARE["nvidia"])
    32
    """
    return hardware.warp if hardware.phase is None else min(hardware.warp, max(1, hardware.phase // width))


def phase_count(width: int, hardware: Hardware) -> int:
    """The phases of an access to shared memory by a whole warp.

    >>> phased = Hardware("phased", phase=128)
    >>> phase_count(4, phased), phase_count(16, phased), phase_count(16, HARDWARE["nvidia"])
    (1, 4, 1)
    """
    return -(-hardware.warp // lanes_at_once(width, hardware))


def by_phase(lanes: Iterable[tuple[int, T]], width: int, hardware: Hardware) -> list[list[T]]:
    """The values of lanes, given by their numbers in the warp, in a list for each phase of an access to shared memory.

    >>> by_phase([(0, "a"), (7, "b"), (8, "c"), (31, "d")], 16, Hardware("phased", phase=128))
    [['a', 'b'], ['c'], ['d']]
    >>> by_phase([(0, "a"), (31, "d")], 16, HARDWARE["nvidia"])
    [['a', 'd']]
    """
    at_once, found = lanes_at_once(width, hardware), dict[int, list[T]]()
    for lane, one in lanes:
        found.setdefault(lane // at_once, []).append(one)
    return [*found.values()]


def conflicts_by_lane(first_bytes: Mapping[int, int], width: int, hardware: Hardware) -> int:
    """Conflicts of a warp's access, whose first bytes are given by the lane's number in the warp: 1, and of each phase
    the words of its busiest bank beyond 1.

    >>> rows = {lane: 16 * lane for lane in range(32)}
    >>> conflicts_by_lane(rows, 16, HARDWARE["nvidia"]), conflicts_by_lane(rows, 16, Hardware("phased", phase=128))
    (4, 1)
    >>> conflicts_by_lane({lane: 512 * lane for lane in rows}, 16, Hardware("phased", phase=128))
    29
    """
    if lanes_at_once(width, hardware) == hardware.warp:
        return conflicts(list(first_bytes.values()), width, hardware)
    phases = by_phase(first_bytes.items(), width, hardware)
    return 1 + sum(conflicts(phase, width, hardware) - 1 for phase in phases)
