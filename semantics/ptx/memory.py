"""The memory of a run of PTX: windows of global memory, a window for each array, and those of a block and of a thread.

An array begins at a multiple of 2^40, so that addresses say which array they are of, also before its beginning. As in
the semantics of the source, what is read outside of an array is 0, and what is written there is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semantics.ptx.numbers import Lanes

SPAN: Final = 40
"""The bits of an address inside an array's window."""

SHARED: Final = 1 << 60
LOCAL: Final = 1 << 61
PARAMETERS: Final = 1 << 59
"""Where generic addresses of shared, of local memory and of parameters begin."""

PAGE: Final = 1024
"""The bytes that are filled at once."""


@dataclass(frozen=True, slots=True)
class Region:
    """An array in global or constant memory: its bytes, None where it has no end, and what `count` bytes from an offset
    on hold before the run."""

    name: str
    size: int | None
    fill: Callable[[int, int], bytes]


def base(k: int) -> int:
    """The address of the k-th region."""
    return (k + 1) << SPAN


class Nowhere(Exception):
    """An address that is in no array."""


class Windows:
    """Global memory, filled where it is used."""

    def __init__(self, regions: Sequence[Region]) -> None:
        self.regions = regions
        self.outside: dict[str, int] = {}  # the first offset outside of each array
        self._pages: dict[int, NDArray[np.uint8]] = {}

    def region(self, address: int) -> int:
        """The number of the region that an address belongs to. Raises Nowhere."""
        k = (address + (1 << SPAN - 1) >> SPAN) - 1
        if not 0 <= k < len(self.regions):
            raise Nowhere
        return k

    def load(self, addresses: Lanes, kind: Any) -> Lanes:
        """The values at aligned addresses. Raises Nowhere."""
        found = np.empty(len(addresses), kind)
        for number, here, offsets in self._by_page(addresses, found.itemsize):
            found[here] = self._page(number).view(kind)[offsets]
        self._check(addresses, found.itemsize)
        return found

    def store(self, addresses: Lanes, values: Lanes) -> None:
        """Writes to aligned addresses; of several lanes that write to one, the last one stays. Raises Nowhere."""
        inside = self._check(addresses, values.itemsize)
        if not inside.all():
            addresses, values = addresses[inside], values[inside]
        for number, here, offsets in self._by_page(addresses, values.itemsize):
            self._page(number).view(values.dtype)[offsets] = values[here]

    def bytes_of(self, k: int, first: int, count: int) -> bytes:
        """The bytes of a region from an offset on."""
        return b"".join(
            self._page(base(k) + at >> 10)[at % PAGE : at % PAGE + 1].tobytes() for at in range(first, first + count)
        )

    def changed(self, k: int) -> list[int]:
        """The offsets of the pages of a region that were used."""
        first, last = base(k) >> 10, base(k) + (1 << SPAN - 1) >> 10
        return sorted((number << 10) - base(k) for number in self._pages if first <= number < last)

    def _by_page(self, addresses: Lanes, width: int) -> list[tuple[int, Any, Lanes]]:
        pages, offsets = addresses >> np.uint64(10), (addresses & np.uint64(PAGE - 1)) // np.uint64(width)
        if not len(pages):
            return []
        if (pages == pages[0]).all():
            return [(int(pages[0]), slice(None), offsets)]
        return [(n, pages == np.uint64(n), offsets[pages == np.uint64(n)]) for n in dict.fromkeys(pages.tolist())]

    def _check(self, addresses: Lanes, width: int) -> Lanes:
        """Which addresses are inside of their arrays; notes the first that is not."""
        inside = np.ones(len(addresses), bool)
        for i, a in enumerate(addresses.tolist()):
            k = self.region(a)
            size, offset = self.regions[k].size, a - base(k)
            if offset < 0 or (size is not None and offset + width > size):
                inside[i] = False
                self.outside.setdefault(self.regions[k].name, offset)
        return inside

    def _page(self, number: int) -> NDArray[np.uint8]:
        page = self._pages.get(number)
        if page is None:
            k = self.region(number << 10)
            region, first = self.regions[k], (number << 10) - base(k)
            count = PAGE if region.size is None else max(0, min(PAGE, region.size - first))
            held = region.fill(first, count) if first >= 0 and count else b""
            page = np.frombuffer(bytearray(held.ljust(PAGE, b"\0")), np.uint8)
            self._pages[number] = page
        return page


def load_flat(memory: NDArray[np.uint8], addresses: Lanes, kind: Any, rows: Lanes | None = None) -> Lanes:
    """The values at aligned addresses of one block's memory, or of each thread's row of it. Raises Nowhere."""
    width = np.dtype(kind).itemsize
    _inside(addresses, width, memory.shape[-1])
    at = (addresses // np.uint64(width)).astype(np.int64)
    found: Lanes = memory.view(kind)[at] if rows is None else memory.view(kind)[rows, at]
    return found


def store_flat(memory: NDArray[np.uint8], addresses: Lanes, values: Lanes, rows: Lanes | None = None) -> None:
    """Writes to aligned addresses of one block's memory, or of each thread's row of it. Raises Nowhere."""
    _inside(addresses, values.itemsize, memory.shape[-1])
    at = (addresses // np.uint64(values.itemsize)).astype(np.int64)
    if rows is None:
        memory.view(values.dtype)[at] = values
    else:
        memory.view(values.dtype)[rows, at] = values


def _inside(addresses: Lanes, width: int, size: int) -> None:
    if len(addresses) and int(addresses.max()) + width > size:
        raise Nowhere
