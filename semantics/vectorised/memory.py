"""Arrays as numpy arrays, and whether accesses come in the order of the reference engine.

The reference runs block after block and, between two barriers, warp after warp: its order is that of the keys
(block, barriers passed, warp). Many warps at once reach an element in another order, which shows only where one of
them writes. So every element of an array that the kernel writes remembers the highest keys that read and wrote it: an
access that comes after a conflicting one of a higher key raises `OutOfOrder`, before it is made. Without one, all
reads gave what they give in the reference's order: the first in that order that did not would itself be out of order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logic.syntax import Array
from semantics.lockstep import Initial
from semantics.values import Value, converted
from semantics.vectorised.values import LIMIT, Data, Mask, Unsupported, Val, dtype, uniform

MOST_ELEMENTS: Final = 2**27
"""Arrays with higher indices than this are left to the reference."""

BLOCK_SHIFT: Final = 43
PHASE_SHIFT: Final = 11
"""A key is block << 43 | barriers passed << 11 | warp + 1; 0 is no key."""

Keys = NDArray[np.int64]


class OutOfOrder(Exception):
    """Warps reached an element in another order than in the reference; `across`: warps of different blocks."""

    def __init__(self, across: bool) -> None:
        super().__init__()
        self.across = across


class Elements(Mapping[int, Value]):
    """The elements of an array that were given or written: a mapping that takes no more memory than the array."""

    def __init__(self, data: Data, there: NDArray[np.bool_]) -> None:
        self._data = data
        self._there = there

    def __getitem__(self, i: int) -> Value:
        if not 0 <= i < len(self._there) or not self._there[i]:
            raise KeyError(i)
        value: Value = self._data[i].item()
        return value

    def __iter__(self) -> Iterator[int]:
        for start in range(0, len(self._there), 2**16):
            yield from (np.flatnonzero(self._there[start : start + 2**16]) + start).tolist()

    def __len__(self) -> int:
        return int(np.count_nonzero(self._there))

    def __repr__(self) -> str:
        return repr(dict(self))


class Cells:
    """An array of one kernel: one for the grid in global memory, one a block in shared memory.

    `known` marks the elements whose value was given, written or computed, `there` those that were given or written.
    """

    def __init__(self, array: Array, written: bool, read: bool) -> None:
        self.array = array
        self.written = written
        self.read = read
        self.length = array.length
        self.blocks = 1
        self.size = 0  # the elements a block that are kept
        self.value: Callable[[int], Value] | None = None
        self.data: Data = np.zeros(0, dtype(array.elem))
        self.there: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.known: NDArray[np.bool_] | None = None
        self.lo = self.hi = 0
        self.tracked = False
        self.writers: Keys = np.zeros(0, np.int64)
        self.readers: Keys = np.zeros(0, np.int64)
        self.undo: list[tuple[Data, Data, Data, Data | None]] = []
        self.seen: list[NDArray[np.int64]] = []

    # --- before the run and between chunks ---

    def give(self, contents: Sequence[Value] | Mapping[int, Value] | Initial | Data) -> None:
        """The contents before the run. Raises Unsupported for integers and indices that are too large."""
        elem = self.array.elem
        match contents:
            case Initial():
                self.value, self.length = contents.value, contents.length
                if self.value:
                    self.known = np.zeros(0, np.bool_)
                return
            case Mapping():
                if any(not 0 <= i < MOST_ELEMENTS for i in contents):
                    raise Unsupported
                if contents:
                    self._grow(max(contents))
                for i, v in contents.items():
                    self.data[i], self.there[i] = _kept(converted(v, elem)), True
            case np.ndarray() if contents.dtype.kind in {"int": "iu", "bool": "b", "base": "f"}[elem.kind]:
                if elem.kind == "int" and len(contents) and int(contents.max()) > LIMIT:
                    raise Unsupported
                with np.errstate(over="ignore"):
                    single = contents.dtype.itemsize > 8
                    self.data = (contents.astype(np.float64) if single else contents).astype(self.data.dtype)
                self.size = self.length = len(contents)
                self.there = np.ones(self.size, np.bool_)
            case _:
                self.data = np.array([_kept(converted(v, elem)) for v in contents], self.data.dtype)
                self.size = self.length = len(contents)
                self.there = np.ones(self.size, np.bool_)
        if elem.kind == "int" and self.data.size:
            self.lo, self.hi = int(self.data.min()), int(self.data.max())
            if max(-self.lo, self.hi) > LIMIT:
                raise Unsupported

    def begin(self, blocks: int, tracked: bool) -> None:
        """A chunk of blocks begins: shared arrays are fresh. `tracked`: the order of accesses has to be watched."""
        self.tracked = tracked and self.written
        if self.array.space == "shared":
            self.blocks = blocks
            self.lo = self.hi = 0
            self.data = np.zeros(blocks * self.size, self.data.dtype)
            self.writers = np.zeros(len(self.data) if self.tracked else 0, np.int64)
            self.readers = np.zeros(len(self.data) if self.tracked and self.read else 0, np.int64)
        elif self.tracked and len(self.writers) < len(self.data):
            self.writers = np.zeros(len(self.data), np.int64)
            self.readers = np.zeros(len(self.data) if self.read else 0, np.int64)

    def end(self, keep: bool) -> None:
        """The chunk ends; its writes stay, or are taken back."""
        for positions, before, was_there, was_known in self.undo:
            if not keep:
                self.data[positions] = before
                self.there[positions] = was_there
                if self.known is not None:
                    self.known[positions] = was_known
            self.writers[positions] = 0
        for positions in self.seen:
            self.readers[positions] = 0
        self.undo.clear()
        self.seen.clear()

    def elements(self) -> Elements:
        """The elements that were given or written."""
        return Elements(self.data, self.there)

    # --- reads and writes ---

    def load(self, index: Val, blocks: Keys, keys: Keys, mask: Mask) -> Val:
        """sigma(A, i) for every lane; `blocks` and `keys` are columns of the warps' blocks and keys."""
        if not (self.written or self.value or self.size):
            return uniform(False, self.array.elem)
        i = index.data
        if self.value or self.tracked:
            self._reserve(i, index, mask)
        safe = index.lo >= 0 and index.hi < self.size
        valid = None if safe else (i >= 0) & (i < self.size)
        if self.size == 0:
            return uniform(False, self.array.elem)
        position = i if valid is None else np.where(valid, i, 0)
        if self.blocks > 1:
            position = position + blocks * self.size
        if self.tracked or self.value:
            touched, at = _selected(position, keys, mask if valid is None else valid if mask is None else valid & mask)
            if self.value:
                self._compute(touched)
            if self.tracked:
                self._note_read(touched, at)
        data = self.data.take(position)
        return Val(
            data if valid is None else np.where(valid, data, data.dtype.type(0)), min(self.lo, 0), max(self.hi, 0)
        )

    def store(self, index: Val, value: Val, blocks: Keys, keys: Keys, mask: Mask) -> None:
        """sigma[(A, i) |-> v] in every active lane; the last lane that writes an element wins."""
        i = index.data
        self._reserve(i, index, mask)
        if index.lo < 0 or index.hi >= self.size:
            valid = (i >= 0) & (i < self.size)
            mask = valid if mask is None else mask & valid
        shape = (len(keys), max(a.shape[1] for a in (i, value.data, *(() if mask is None else (mask,)))))
        position = _wide(i + blocks * self.size if self.blocks > 1 else i, shape)
        data = _wide(value.data, shape)
        touched, at = _selected(position, keys, mask)
        if mask is not None:
            data = data[_wide(mask, shape)]
        if self.tracked:
            self._note_write(touched, at)
        self.data[touched] = data
        if self.array.space == "global":
            self.there[touched] = True
        if self.known is not None:
            self.known[touched] = True
        self.lo, self.hi = min(self.lo, value.lo), max(self.hi, value.hi)

    def _reserve(self, i: Data, index: Val, mask: Mask) -> None:
        """Makes room for the highest active index that is in bounds."""
        if index.hi < self.size or self.size == self.length:
            return
        highest = int(i.max() if mask is None else np.where(mask, i, 0).max())
        if self.length is not None:
            highest = min(highest, self.length - 1)
        if highest >= self.size:
            self._grow(highest)

    def _grow(self, highest: int) -> None:
        if highest >= MOST_ELEMENTS:
            raise Unsupported
        size = max(highest + 1, min(2 * self.size, MOST_ELEMENTS), 64)
        size = size if self.length is None else min(size, self.length)
        if self.blocks * size > 2 * MOST_ELEMENTS:
            raise Unsupported

        def grown(a: NDArray[Any]) -> NDArray[Any]:
            wider = np.zeros((self.blocks, size), a.dtype)
            wider[:, : self.size] = a.reshape(self.blocks, -1)
            return wider.reshape(-1)

        self.data = grown(self.data)
        if self.tracked:
            self.writers = grown(self.writers)
            self.readers = grown(self.readers) if self.read else self.readers
        if self.array.space == "global":
            self.there = grown(self.there)
            self.known = None if self.known is None else grown(self.known)
        self.size = size

    def _compute(self, positions: NDArray[np.int64]) -> None:
        """Asks for the values of elements that are not known yet."""
        if self.known is None or self.value is None:
            return
        unknown = np.unique(positions[~self.known[positions]])
        if len(unknown):
            values = [_kept(self.value(i)) for i in unknown.tolist()]
            self.data[unknown] = values
            self.known[unknown] = True
            if self.array.elem.kind == "int":
                self.lo, self.hi = min(self.lo, *map(int, values)), max(self.hi, *map(int, values))

    def _note_read(self, touched: Data, at: Keys) -> None:
        before = self.writers[touched]
        _check(before, at)
        seen = self.readers[touched]
        if self.array.space == "global":
            self.seen.append(np.broadcast_to(touched, seen.shape)[seen == 0])
        self.readers[touched] = np.maximum(seen, at)

    def _note_write(self, touched: Data, at: Keys) -> None:
        before = self.writers[touched]
        _check(before, at)
        if self.read:
            _check(self.readers[touched], at)
        if self.array.space == "global":
            fresh = touched[before == 0]
            known = None if self.known is None else self.known[fresh]
            self.undo.append((fresh, self.data[fresh], self.there[fresh], known))
        self.writers[touched] = at


def _wide(a: Data, shape: tuple[int, int]) -> Data:
    return a if a.shape == shape else np.broadcast_to(a, shape)


def _selected(position: Data, keys: Keys, mask: Mask) -> tuple[Data, Keys]:
    """The positions in active lanes and the keys that reach them, in the order of the keys."""
    if mask is None:
        return np.ascontiguousarray(_wide(position, (len(keys), position.shape[1]))), keys
    shape = (len(keys), max(position.shape[1], mask.shape[1]))
    chosen = _wide(mask, shape)
    return _wide(position, shape)[chosen], _wide(keys, shape)[chosen]


def _check(before: Keys, at: Keys) -> None:
    late = before > at
    if late.any():
        raise OutOfOrder(bool((((before ^ at) >> BLOCK_SHIFT != 0) & late).any()))


def _kept(value: Value) -> Value:
    """The value, if it can be kept. Raises Unsupported."""
    if isinstance(value, int) and abs(value) > LIMIT:
        raise Unsupported
    return value
