"""Kernels in two languages as data: their types of elements, their arrays, their launches, what stands before them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

Dim = tuple[int, int, int]
Dialect = Literal["cuda", "opencl"]
Number = int | float

READ: Final = 128
"""Elements of an array that is only read."""

BLOCKS: Final[tuple[Dim, ...]] = (
    (1, 1, 1), (7, 1, 1), (16, 1, 1), (31, 1, 1), (32, 1, 1), (33, 1, 1), (40, 1, 1), (64, 1, 1), (70, 1, 1),
    (8, 4, 1), (16, 2, 1), (5, 7, 1), (32, 2, 1), (33, 2, 1), (16, 3, 1), (4, 20, 1), (12, 5, 1),
    (4, 2, 5), (2, 3, 4), (8, 4, 2), (3, 3, 3), (5, 3, 3), (2, 2, 17),
)  # fmt: skip
GRIDS: Final[tuple[Dim, ...]] = ((1, 1, 1), (1, 1, 1), (1, 1, 1), (2, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 1), (1, 1, 2))


@dataclass(frozen=True, slots=True)
class Elem:
    """A type of elements: its names, its fields as `struct` has them ('i' one int), whether it is read as one."""

    cuda: str
    opencl: str
    form: str
    fields: tuple[str, ...] = ()
    whole: bool = False

    @property
    def size(self) -> int:
        return struct.calcsize(self.form)

    @property
    def real(self) -> bool:
        return self.form[-1] in "fd" and not self.fields


ELEMS: Final = (
    Elem("signed char", "char", "b"),
    Elem("unsigned char", "uchar", "B"),
    Elem("short", "short", "h"),
    Elem("unsigned short", "ushort", "H"),
    Elem("int", "int", "i"),
    Elem("int", "int", "i"),
    Elem("unsigned", "uint", "I"),
    Elem("float", "float", "f"),
    Elem("float", "float", "f"),
    Elem("long long", "long", "q"),
    Elem("unsigned long long", "ulong", "Q"),
    Elem("double", "double", "d"),
)
RECORDS: Final = (
    Elem("Mixed", "Mixed", "hbxi", ("a", "b", "c")),  # 8 bytes, one of them padding
    Elem("Pair", "Pair", "ii", ("x", "y")),  # as int2: read and written as one, too
    Elem("Three", "Three", "fff", ("x", "y", "z")),
    Elem("float4", "F4", "ffff", ("x", "y", "z", "w")),
    Elem("float4", "F4", "ffff", ("x", "y", "z", "w"), whole=True),
    Elem("int4", "I4", "iiii", ("x", "y", "z", "w"), whole=True),
)
INT: Final = ELEMS[4]

BEFORE: Final[dict[Dialect, str]] = {
    "cuda": """\
struct Mixed { short a; signed char b; int c; };
struct Pair { int x, y; };
struct Three { float x, y, z; };
""",
    "opencl": """\
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef struct { short a; char b; int c; } Mixed;
typedef struct { int x, y; } Pair;
typedef struct { float x, y, z; } Three;
typedef struct { float x, y, z, w; } __attribute__((aligned(16))) F4;
typedef struct { int x, y, z, w; } __attribute__((aligned(16))) I4;
#define M(op, id, v) (*mark = ((long)(op) << 56) | ((long)(id) << 32) | (uint)(v))
#define T(id, e) (M(1, id, (e) ? 1 : 0) & 1)
#define TURN(id) M(2, id, 0)
#define LEAVE(id) M(3, id, 0)
#define W(id, e) ((int)M(4, id, e))
#define SECTION(id, k) M(5, id, k)
#define END(id) M(6, id, 0)
#define IN(id) M(7, id, 0)
#define OUT(id) M(8, id, 0)
#define V(id, e) (M(9, id, (e) ? 1 : 0) & 1)
""",
}


@dataclass
class Global:
    """An array of the kernel: only read, owned (`index` of thread and slot), written with one value, or atomic: then
    lanes of a warp keep `apart`, or collide."""

    name: str
    elem: Elem
    role: Literal["read", "own", "blind", "atomic"]
    length: int
    data: list[Number] = field(default_factory=list)
    index: Callable[[str], str] = str
    op: str = ""
    apart: bool = True

    @property
    def bytes(self) -> bytes:
        """What it holds at first, padding as zeros."""
        per = len(self.elem.fields) or 1
        return b"".join(
            struct.pack("<" + self.elem.form, *self.data[i : i + per]) for i in range(0, len(self.data), per)
        )


@dataclass
class Shared:
    """A shared array with rows of `row` elements (0: one dimension) and the cell of a thread."""

    name: str
    elem: Elem
    rows: int
    row: int
    own: str
    mode: Literal["own", "read", "blind", "atomic"] = "own"
    op: str = ""
    apart: bool = True

    def cell(self, i: str) -> str:
        """The element with this number, row by row."""
        return f"[({i}) / {self.row}][({i}) % {self.row}]" if self.row else f"[{i}]"

    @property
    def length(self) -> int:
        return self.rows * (self.row or 1)


@dataclass(frozen=True)
class Case:
    """A kernel with its launch: its text in both languages, its arrays, the value of `n`."""

    name: str
    block: Dim
    grid: Dim
    n: int
    cuda: str
    opencl: str
    arrays: tuple[Global, ...]
