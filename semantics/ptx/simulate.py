"""A grid of warps that run PTX, as a device without independent threads would: one instruction at a time for all lanes.

Where lanes part at a branch, those that jump go first, and they rejoin at its immediate post-dominator; that is how the
semantics of the source and the compiler's own analysis of divergence see a warp. A device that lets threads go their
own ways may rejoin them later, and then needs more. Blocks run one after another, the warps of a block in turns from
barrier to barrier. Each access to memory by a warp is one event, whose sectors or conflicts are counted by the same
functions as in the semantics of the source; accesses to constant memory are counted as to global memory, since the
front end does so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from logic.metrics import HARDWARE, Hardware, conflicts_by_lane, sectors
from semantics.ptx import memory, warps
from semantics.ptx.memory import LOCAL, PARAMETERS, SHARED, Nowhere, Region, Windows, load_flat, store_flat
from semantics.ptx.numbers import KINDS, RAW, Lanes, raw, size
from semantics.ptx.operations import Reader, Scope, Step, Warp, step, unknown
from semantics.ptx.program import (
    END,
    Function,
    Instruction,
    Memory,
    Module,
    Number,
    Operand,
    PtxProblem,
    Register,
    Symbol,
    Variable,
    Vector,
    rejoins,
    several,
    target,
)

Dim = tuple[int, int, int]

Kind = Literal["load", "store", "update"]
"""What an access does; an update is an atomic instruction, which reads and writes."""

STEPS: Final = 10_000_000
"""The most instructions of a warp."""

DYNAMIC: Final = 1 << 18
"""The bytes of shared memory whose size the launch gives: more than any device has."""


@dataclass(frozen=True, slots=True)
class Access:
    """An access to memory by a warp: the instruction, the warp (its block and its number there), what is accessed and
    at which bytes of it, by the lanes in order, each with a width. `count` is MemReads or Conflicts."""

    at: int
    warp: tuple[Dim, int]
    kind: Kind
    space: Literal["global", "shared", "local"]
    array: str
    offsets: tuple[int, ...]
    width: int
    count: int


Observer = Callable[[Access], None]


@dataclass(frozen=True, slots=True)
class Ran:
    """A run: memory after it, how often each instruction was executed by a warp, how often lanes parted at each branch,
    by warp; notes on what PTX leaves open."""

    windows: Windows
    executed: tuple[int, ...]
    parted: Mapping[tuple[Dim, int], int]
    undefined: frozenset[str]


def run(
    module: Module,
    function: Function,
    block: Dim,
    grid: Dim,
    arguments: Sequence[bytes],
    regions: Sequence[Region],
    hardware: Hardware = HARDWARE["nvidia"],
    observer: Observer | None = None,
    steps: int = STEPS,
) -> Ran:
    """Runs a kernel on every warp of a grid. `arguments` are the bytes of its parameters; those of a pointer are the
    `memory.base` of a region. Variables of the module that are no regions hold what the module says.

    Raises PtxProblem for what is not known or not defined.
    """
    with np.errstate(all="ignore"):
        return _Machine(module, function, block, grid, arguments, regions, hardware, observer, steps).run()


def layout(variables: Sequence[Variable], alignment: int) -> tuple[dict[str, int], int]:
    """The offsets of variables one after another, each aligned, and the bytes of all."""
    found, end = dict[str, int](), 0
    for v in sorted(variables, key=lambda v: v.size is None):
        step_ = max(alignment, v.align)
        end = -(-end // step_) * step_
        found[v.name] = end
        end += v.size or 0
    return found, end


class _Machine:
    def __init__(
        self,
        module: Module,
        function: Function,
        block: Dim,
        grid: Dim,
        arguments: Sequence[bytes],
        regions: Sequence[Region],
        hardware: Hardware,
        observer: Observer | None,
        steps: int,
    ) -> None:
        self.f, self.block, self.grid, self.hardware = function, block, grid, hardware
        self.observer, self.steps = observer, steps
        known = {r.name for r in regions}
        own = [v for v in module.variables if v.space in ("global", "const") and v.name not in known]
        self.windows = Windows([*regions, *(Region(v.name, v.size, _filled(v.data)) for v in own)])
        variables = [v for v in (*module.variables, *function.variables) if v.space == "shared"]
        self.shared_at, end = layout(variables, hardware.alignment)
        self.shared_names = sorted((at, name) for name, at in self.shared_at.items())
        self.shared_size = end + (DYNAMIC if any(v.size is None for v in variables) else 0)
        local = [v for v in (*module.variables, *function.variables) if v.space == "local"]
        local_at, self.local_size = layout(local, 16)
        self.parameters, places = _passed(function, arguments)
        regions_at = {r.name: memory.base(k) for k, r in enumerate(self.windows.regions)}
        self.addresses = {**regions_at, **self.shared_at, **local_at, **places}
        self.scope = Scope(function.registers)
        self.rejoin = rejoins(function)
        self.executed = [0] * len(function.code)
        self.parted: dict[tuple[Dim, int], int] = {}
        self.undefined: set[str] = set()
        self.shared: Any = None
        self.warp_now: tuple[Dim, int] = ((0, 0, 0), 0)
        self.counts: dict[tuple[str, int, bytes], int] = {}
        self.code = [self._decoded(at, i) for at, i in enumerate(function.code)]

    # --- a grid, a block, a warp

    def run(self) -> Ran:
        gx, gy, gz = self.grid
        for z in range(gz):
            for y in range(gy):
                for x in range(gx):
                    self._block((x, y, z))
        return Ran(self.windows, tuple(self.executed), self.parted, frozenset(self.undefined))

    def _block(self, index: Dim) -> None:
        self.shared = np.zeros(-(-self.shared_size // 16) * 16 + 16, np.uint8)
        bx, by, bz = self.block
        count = bx * by * bz
        numbers = range(-(-count // self.hardware.warp))
        made = {n: self._warp(index, n, count) for n in numbers}
        going = {n: self._phases(w, (index, n)) for n, w in made.items()}
        while going:
            waiting: dict[int, tuple[int, Instruction]] = {}
            for n, phases in list(going.items()):
                self.warp_now = (index, n)
                barrier = next(phases, None)
                if barrier is None:
                    del going[n]
                else:
                    waiting[n] = barrier
            if len({name for name, _ in waiting.values()}) > 1:
                told = f"warps of block {index} wait at different barriers"
                raise PtxProblem(told, next(iter(waiting.values()))[1].loc, "They would wait for ever.")

    def _warp(self, index: Dim, n: int, count: int) -> Warp:
        size_ = self.hardware.warp
        linear = np.arange(n * size_, (n + 1) * size_, dtype=np.uint32)
        lanes = np.arange(size_, dtype=np.uint32)
        bx, by, _ = self.block
        special = {
            "%tid.x": linear % np.uint32(bx),
            "%tid.y": linear // np.uint32(bx) % np.uint32(by),
            "%tid.z": linear // np.uint32(bx * by),
            "%laneid": lanes,
        }
        fixed = {"%warpid": n, "%nwarpid": -(-count // size_), "WARP_SZ": size_}
        for name, d in (("%ntid", self.block), ("%ctaid", index), ("%nctaid", self.grid)):
            fixed |= {f"{name}.{axis}": v for axis, v in zip("xyz", d, strict=True)}
        special |= {name: np.full(size_, v, np.uint32) for name, v in fixed.items()}
        everyone = (1 << size_) - 1
        masks = {
            "eq": [1 << lane for lane in range(size_)],
            "lt": [(1 << lane) - 1 for lane in range(size_)],
            "le": [(2 << lane) - 1 for lane in range(size_)],
            "gt": [everyone & ~((2 << lane) - 1) for lane in range(size_)],
            "ge": [everyone & ~((1 << lane) - 1) for lane in range(size_)],
        }
        special |= {f"%lanemask_{name}": np.array(m, np.uint32) for name, m in masks.items()}
        registers: dict[str, Lanes] = {name: np.zeros(size_, raw(t)) for name, t in self.f.registers.items()}
        local = np.zeros((size_, -(-self.local_size // 16) * 16), np.uint8)
        return Warp(size_, registers, linear >= count, special, self.addresses, local, np.zeros(size_, bool))

    def _phases(self, w: Warp, name: tuple[Dim, int]) -> Iterator[tuple[int, Instruction]]:
        """Runs a warp; stops at every barrier that it comes to, with the barrier's number."""
        code, left = self.f.code, self.steps
        stack: list[tuple[int, int, Lanes]] = [(0, END, ~w.ended)]
        while stack:
            at, until, mask = stack.pop()
            if at in (until, END):
                continue
            while mask.any():
                left -= 1
                if left < 0:
                    raise PtxProblem(f"a warp did not end within {self.steps} instructions", code[at].loc)
                i, act = code[at], self.code[at]
                self.executed[at] += 1
                active = mask
                if i.guard is not None:
                    active = mask & (w.registers[i.guard.name] ^ i.guard.negated)
                if isinstance(act, list):
                    ways = self._ways(w, i, act, active, mask, at)
                    if len(ways) > 1:
                        self.parted[name] = self.parted.get(name, 0) + 1
                        rejoin = self.rejoin[at]
                        stack.append((rejoin, until, mask))
                        stack.extend((there, rejoin, lanes) for there, lanes in reversed(ways))
                        break
                    ((at, mask),) = ways
                elif act is None:
                    w.ended = w.ended | active
                    mask = mask & ~w.ended
                    at = at + 1 if at + 1 < len(code) else END
                elif isinstance(act, int):
                    if (~active & ~w.ended).any():
                        told = (
                            f"lanes of warp {name[1]} of block {name[0]} wait at a barrier for other lanes of the warp"
                        )
                        raise PtxProblem(told, i.loc, "Here, a warp passes barriers with all its lanes together.")
                    yield act, i
                    at = at + 1 if at + 1 < len(code) else END
                else:
                    if active.any():
                        act(w, active)
                    at = at + 1 if at + 1 < len(code) else END
                if at in (until, END):
                    break
        self.undefined |= w.undefined

    def _ways(
        self, w: Warp, i: Instruction, targets: list[int], active: Lanes, mask: Lanes, at: int
    ) -> list[tuple[int, Lanes]]:
        """Where the lanes go from a branch, those that jump first."""
        after = at + 1 if at + 1 < len(self.f.code) else END
        if i.opcode.startswith("brx"):
            index = self.scope.reader(i.operands[0], "u32", i)(w)
            if (index[active] >= len(targets)).any():
                raise PtxProblem("an indexed branch beyond its table", i.loc)
            wanted = [(there, active & (index == n)) for n, there in enumerate(targets)]
        else:
            wanted = [(targets[0], active)]
        wanted.append((after, mask & ~active))
        found: dict[int, Lanes] = {}
        for there, lanes in wanted:
            if lanes.any():
                found[there] = found[there] | lanes if there in found else lanes
        return list(found.items())

    # --- instructions

    def _decoded(self, at: int, i: Instruction) -> Step | list[int] | int | None:
        """The form of an instruction that is run: a step, the targets of a branch, the number of a barrier, None for an
        end. Raises PtxProblem for what is not known."""
        name, *parts = i.opcode.split(".")
        match name:
            case "ret" | "exit":
                return None
            case "bra":
                return [target(self.f, i, i.operands[0])]
            case "brx":
                return several(self.f, i)
            case "bar" | "barrier":
                return self._barrier(i, parts)
            case "membar" | "fence" | "prefetch" | "prefetchu" | "discard" | "applypriority":
                return _nothing
            case "ld" | "ldu":
                return self._load(at, i, parts)
            case "st":
                return self._store(at, i, parts)
            case "atom" | "red":
                return self._update(at, i, parts)
            case "cvta":
                return self._window(i, parts)
        return step(i, self.scope)

    def _barrier(self, i: Instruction, parts: list[str]) -> Step | int:
        if parts[0] == "warp":
            return _nothing
        if [p for p in parts if p not in ("cta", "sync", "aligned")] or len(i.operands) != 1:
            raise unknown(i)
        if not isinstance(i.operands[0], Number):
            raise unknown(i, ": the number of the barrier is no constant")
        return i.operands[0].value

    def _window(self, i: Instruction, parts: list[str]) -> Step:
        """cvta: between addresses of a state space and generic ones."""
        back, space, t = parts[0] == "to", parts[-2], parts[-1]
        starts = {"global": 0, "const": 0, "shared": SHARED, "local": LOCAL, "param": PARAMETERS}
        if space not in starts:
            raise unknown(i)
        start = np.uint64(starts[space])
        write, get = self.scope.writer(i.operands[0], t, i), self.scope.reader(i.operands[1], t, i)
        if back:
            return lambda w, mask: write(w, mask, get(w) - start if start else get(w))
        return lambda w, mask: write(w, mask, get(w) + start if start else get(w))

    def _form(self, i: Instruction, parts: list[str]) -> tuple[str, str, int, list[str]]:
        """The space, the type and the number of elements of an access, and what else it says. Raises PtxProblem."""
        space, lanes, types, rest = "", 1, [], list[str]()
        for p in parts:
            if p in ("global", "shared", "shared::cta", "local", "const", "param", "param::entry"):
                space = p.partition("::")[0]
            elif p in ("v2", "v4", "v8"):
                lanes = int(p[1])
            elif p in KINDS:
                types.append(p)
            elif p not in _ORDERS and not p.startswith(("L1::", "L2::", "evict", "no_allocate")):
                rest.append(p)
        if len(types) != 1 or types[0] == "pred":
            raise unknown(i)
        return space, types[0], lanes, rest

    def _address(self, i: Instruction, o: Operand) -> Reader:
        """The addresses of a place in memory."""
        if not isinstance(o, Memory):
            raise unknown(i, ": it has no address")
        by = np.uint64(o.offset % (1 << 64))
        if o.base is None:
            return lambda w: np.full(w.lanes, by)
        kind = self.scope.kind(o.base, i) if isinstance(o.base, Register) else "u64"
        if isinstance(o.base, Symbol) and o.base.name not in self.addresses:
            raise unknown(i, f": there is no variable '{o.base.name}'")
        if size(kind) == 4:  # an address of 32 bits wraps around there
            short, offset = self.scope.reader(o.base, "u32", i), np.uint32(o.offset % (1 << 32))
            return lambda w: (short(w) + offset).astype(np.uint64)
        get = self.scope.reader(o.base, "u64", i)
        return lambda w: get(w) + by

    def _load(self, at: int, i: Instruction, parts: list[str]) -> Step:
        space, t, n, rest = self._form(i, parts)
        if rest:
            raise unknown(i)
        outs = i.operands[0].parts if isinstance(i.operands[0], Vector) else (i.operands[0],)
        writes = [self.scope.writer(o, t, i) for o in outs]
        where, width, bits = self._address(i, i.operands[1]), size(t), RAW[size(t)]
        if len(writes) != n:
            raise unknown(i)

        def load(w: Warp, mask: Lanes) -> None:
            addresses = where(w)[mask]
            self._touch(at, i, "load", space, addresses, width * n, mask)
            for k, write in enumerate(writes):
                found: Lanes = np.zeros(w.lanes, bits)
                found[mask] = self._get(w, mask, i, space, addresses + np.uint64(k * width), bits)
                write(w, mask, found.view(KINDS[t]))

        return load

    def _store(self, at: int, i: Instruction, parts: list[str]) -> Step:
        space, t, n, rest = self._form(i, parts)
        values = i.operands[1].parts if isinstance(i.operands[1], Vector) else (i.operands[1],)
        reads = [self.scope.reader(o, t, i) for o in values]
        where, width = self._address(i, i.operands[0]), size(t)
        if len(reads) != n or rest or space in ("const", "param"):
            raise unknown(i)

        def store(w: Warp, mask: Lanes) -> None:
            addresses = where(w)[mask]
            self._touch(at, i, "store", space, addresses, width * n, mask)
            for k, get in enumerate(reads):
                self._put(w, mask, i, space, addresses + np.uint64(k * width), get(w)[mask])

        return store

    def _update(self, at: int, i: Instruction, parts: list[str]) -> Step:
        """atom and red: lane after lane."""
        space, t, n, rest = self._form(i, parts)
        returns = i.opcode.startswith("atom")
        if len(rest) != 1 or n != 1:
            raise unknown(i)
        mode, (place, *values) = rest[0], i.operands[1:] if returns else i.operands
        t = "u" + t[1:] if t[0] == "b" else t
        write = self.scope.writer(i.operands[0], t, i) if returns else None
        reads = [self.scope.reader(o, t, i) for o in values]
        where = self._address(i, place)
        one: Lanes = np.ones(1, KINDS[t])
        known = len(reads) == 1 + (mode == "cas") and (t[0] != "f" or mode in ("add", "exch"))
        if not known or warps.updated(mode, one, one, one) is None:
            raise unknown(i)

        def update(w: Warp, mask: Lanes) -> None:
            addresses, given = where(w), [get(w) for get in reads]
            self._touch(at, i, "store" if mode == "exch" else "update", space, addresses[mask], size(t), mask)
            found: Lanes = np.zeros(w.lanes, KINDS[t])
            for lane in np.flatnonzero(mask).tolist():
                only = np.arange(w.lanes) == lane
                here = addresses[lane : lane + 1]
                old: Lanes = self._get(w, only, i, space, here, RAW[size(t)]).view(KINDS[t])
                b, *c = (x[lane : lane + 1] for x in given)
                new = warps.updated(mode, old, b, c[0] if c else None)
                if new is None:
                    raise unknown(i)
                self._put(w, only, i, space, here, new.astype(KINDS[t]))
                found[lane] = old[0]
            if write:
                write(w, mask, found)

        return update

    # --- memory

    def _placed(self, i: Instruction, space: str, addresses: Lanes) -> tuple[str, Lanes]:
        """The space that generic addresses are in, and the addresses there. Raises PtxProblem."""
        if space:
            if space == "param" and len(addresses) and int(addresses[0]) >= PARAMETERS:
                return space, addresses - np.uint64(PARAMETERS)
            return space, addresses
        for name, start in (("local", LOCAL), ("shared", SHARED), ("param", PARAMETERS)):
            there = addresses >= np.uint64(start)
            if there.all():
                return name, addresses - np.uint64(start)
            if there.any():
                raise PtxProblem("one instruction accesses several state spaces, which is not known here", i.loc)
        return "global", addresses

    def _get(self, w: Warp, mask: Lanes, i: Instruction, space: str, addresses: Lanes, kind: Any) -> Lanes:
        space, addresses = self._placed(i, space, addresses)
        self._aligned(i, addresses, np.dtype(kind).itemsize)
        try:
            match space:
                case "global" | "const":
                    return self.windows.load(addresses, kind)
                case "shared":
                    return load_flat(self.shared, addresses, kind)
                case "local":
                    return load_flat(w.local, addresses, kind, np.flatnonzero(mask))
            return load_flat(self.parameters, addresses, kind)
        except Nowhere:
            raise self._nowhere(i, space) from None

    def _put(self, w: Warp, mask: Lanes, i: Instruction, space: str, addresses: Lanes, values: Lanes) -> None:
        space, addresses = self._placed(i, space, addresses)
        self._aligned(i, addresses, values.itemsize)
        if space == "param":
            raise unknown(i, ": it writes to a parameter")
        try:
            if space == "global":
                self.windows.store(addresses, values)
            elif space == "shared":
                store_flat(self.shared, addresses, values)
            else:
                store_flat(w.local, addresses, values, np.flatnonzero(mask))
        except Nowhere:
            raise self._nowhere(i, space) from None

    def _nowhere(self, i: Instruction, space: str) -> PtxProblem:
        block, n = self.warp_now
        told = f"an access to {space or 'generic'} memory that holds no variable, by warp {n} of block {block}"
        return PtxProblem(told, i.loc, "A device would stop here.")

    def _aligned(self, i: Instruction, addresses: Lanes, width: int) -> None:
        if (addresses & np.uint64(width - 1)).any():
            raise PtxProblem(f"an address that is no multiple of the {width} bytes of the access", i.loc)

    def _touch(
        self, at: int, i: Instruction, kind: Kind, space: str, addresses: Lanes, width: int, mask: Lanes
    ) -> None:
        """Counts an access by the lanes of a mask, and tells the observer."""
        if self.observer is None or space == "param":
            return
        self._aligned(i, addresses, width)
        space, addresses = self._placed(i, space, addresses)
        if space == "param":
            return
        unit = np.uint64(self.hardware.sector * self.hardware.banks * self.hardware.word)
        apart = addresses - addresses[0] // unit * unit
        counted = "shared" if space == "shared" else "global"
        lanes = np.flatnonzero(mask).tolist() if counted == "shared" and self.hardware.phase else range(len(apart))
        key = (counted, width, apart.tobytes(), *(lanes if self.hardware.phase else ()))
        count = self.counts.get(key)
        if count is None:
            low = [int(a) for a in int(unit) * 4 + apart.astype(np.int64)]
            if counted == "shared":
                count = conflicts_by_lane(dict(zip(lanes, low, strict=True)), width, self.hardware)
            else:
                count = sectors(low, width, self.hardware)
            self.counts[key] = count
        offsets, array = addresses.tolist(), ""
        if space in ("global", "const"):
            try:
                k = self.windows.region(offsets[0])
            except Nowhere:
                raise self._nowhere(i, space) from None
            array, offsets = self.windows.regions[k].name, [a - memory.base(k) for a in offsets]
        elif space == "shared":
            start, array = max(((s, name) for s, name in self.shared_names if s <= offsets[0]), default=(0, ""))
            offsets = [a - start for a in offsets]
        named: Literal["global", "shared", "local"] = (
            "shared" if space == "shared" else "local" if space == "local" else "global"
        )
        self.observer(Access(at, self.warp_now, kind, named, array, tuple(offsets), width, count))


_ORDERS: Final = frozenset(
    (
        *("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sys", "gpu", "cta", "cluster", "nc"),
        *("ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified", "noftz"),
    )
)
"""What an access says of caches and of its order among others: nothing that is counted."""


def _nothing(w: Warp, mask: Lanes) -> None:
    """An instruction that only waits, or tells caches something."""


def _filled(data: bytes) -> Callable[[int, int], bytes]:
    return lambda first, count: data[first : first + count].ljust(count, b"\0")


def _passed(f: Function, arguments: Sequence[bytes]) -> tuple[Any, dict[str, int]]:
    """The bytes of the parameters, each at its alignment, and where they are. Raises PtxProblem."""
    places, end = layout(f.parameters, 1)
    if len(arguments) != len(f.parameters):
        told = f"{f.name} has {len(f.parameters)} parameters, and is passed {len(arguments)}"
        raise PtxProblem(told, f.loc)
    held = np.zeros(-(-max(end, 1) // 16) * 16, np.uint8)
    for v, value in zip(f.parameters, arguments, strict=True):
        if v.size != len(value):
            raise PtxProblem(f"{v.name} has {v.size} bytes, and is passed {len(value)}", f.loc)
        held[places[v.name] : places[v.name] + len(value)] = np.frombuffer(value, np.uint8)
    return held, places
