"""Where arrays are in memory, by a host compiler: kernels with accesses to arrays of every space, shape and element, by
every way that C has to say one, compiled by g++ with its loads and stores observed, and run by our semantics.

Each lane runs alone on the host. Its loads and stores, as bytes from the beginning of an array, and what it stores have
to be those of the same lane in the semantics. `python -m tests.semantics.cuda.laid 100` tries random kernels.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from random import Random
from typing import Final

from logic.metrics import METRICS
from logic.syntax import Array, Read, Write
from semantics.cuda import CudaError, read_cuda
from semantics.events import Event
from semantics.grid import run
from semantics.values import Value

COMPILER: Final = shutil.which("g++")
BLOCK: Final = (4, 2, 1)
LANES: Final = [(x, y) for y in range(BLOCK[1]) for x in range(BLOCK[0])]
N: Final = 5
"""The kernel's argument n."""

SIZE: Final = 4096
"""Bytes of every array that is passed."""

TYPES: Final = """\
struct P { char c; double d; short s; };
struct B { int b; char e; };
struct D : B { float f; };
struct E : D { short g; };
struct N { int m[3]; P p[2]; float2 v; };
struct V { float4 w; unsigned char u; };
struct C { int c; };
struct M : C, B { short h; };
"""

ELEMENTS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    **dict.fromkeys(("char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long long"), (("", "i"),)),
    **dict.fromkeys(("float", "double"), (("", "d"),)),
    "float2": ((".x", "d"), (".y", "d")),
    "float4": ((".x", "d"), (".w", "d")),
    "int3": ((".y", "i"), (".z", "i")),
    "P": ((".c", "i"), (".d", "d"), (".s", "i")),
    "M": ((".h", "i"),),
    "D": ((".f", "d"),),
    "E": ((".g", "i"),),
    "N": ((".m[2]", "i"), (".m[{i}]", "i"), (".p[1].d", "d"), (".p[{j}].s", "i"), (".v.y", "d")),
    "V": ((".w.z", "d"), (".u", "i")),
}
"""The types of elements, with the scalars in each and whether they are whole numbers; `{i}` is below 3, `{j}` below 2.
What they derive from is refused by itself."""

SHAPES: Final = ((5,), (3, 4), (3, 2, 4))
SPACES: Final = ("parameter", "shared", "dynamic", "constant", "device", "local")
INDICES: Final = (
    "n % {d}",
    "tx % {d}",
    "ty % {d}",
    "(tx + n) % {d}",
    "(3 * tx + ty) % {d}",
    "(tx ^ ty) % {d}",
    "{d} - 1",
    "0",
)
MOST: Final = 16
"""The most elements of an array of one thread that may have an index which is not known."""

WAYS: Final = (
    "direct", "dereferenced", "row", "flat", "moved", "stepped", "reference", "rows", "called", "called with rows",
    "address", "swapped", "back",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel: what is declared before it, its parameters that are arrays (declarator and name), its body, and the
    arrays that the host has to define. One that `may` be refused is no failure where it is."""

    name: str
    before: str
    parameters: tuple[tuple[str, str], ...]
    body: str
    dynamic: str = ""
    may: bool = False


@dataclass
class _Writer:
    random: Random
    space: str
    before: list[str] = field(default_factory=list)
    parameters: list[tuple[str, str]] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    dynamic: str = ""
    count: int = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def array(self, element: str, shape: tuple[int, ...], *, filled: bool) -> str:
        """Declare an array. What is filled at the start has to be only read, as the lanes share it."""
        name, lengths = f"a{self.number()}", "".join(f"[{d}]" for d in shape)
        rows = "".join(f"[{d}]" for d in shape[1:])
        match self.space:
            case "parameter":
                declared = f"{element} (*{name}){rows}" if rows else f"{element} *{name}"
                self.parameters.append((declared, name))
            case "shared" | "local":
                self.body.append(f"{'__shared__ ' if self.space == 'shared' else ''}{element} {name}{lengths};")
            case "dynamic":
                self.body.append(f"extern __shared__ {element} {name}[]{rows};")
                self.dynamic = f"{element} {name}{lengths};"
            case _:
                self.before.append(f"__{self.space}__ {element} {name}{lengths};")
        if self.space not in ("parameter", "local"):
            self.body.append(f"REGISTER({name}, {int(self.space in ('constant', 'device'))});")
        if filled and self.space in ("shared", "dynamic", "local"):
            self.fill(name, element, shape)
        return name

    def fill(self, name: str, element: str, shape: tuple[int, ...]) -> None:
        """Every thread writes the same to all elements."""
        loops = "".join(f"for (int i{k} = 0; i{k} < {d}; i{k}++) " for k, d in enumerate(shape))
        at = "".join(f"[i{k}]" for k in range(len(shape)))
        number = " + ".join(f"{(17, 5, 1)[k]} * i{k}" for k in range(len(shape)))
        places = [p.format(i=i, j=j) for p, _ in ELEMENTS[element] for i, j in ((0, 0), (1, 1))]
        stores = "".join(f"{name}{at}{p} = {number} + {k};" for k, p in enumerate(dict.fromkeys(places)))
        self.body.append(f"{loops}{{ {stores} }}")

    def indices(self, shape: tuple[int, ...]) -> list[str]:
        return [self.random.choice(INDICES).format(d=d) for d in shape]

    def use(self, name: str, element: str, shape: tuple[int, ...], way: str, *, store: bool) -> None:
        """An access to one of the scalars of an element, in a way; directly, to each of them."""
        places = ELEMENTS[element]
        for place, kind in places if way == "direct" else [self.random.choice(places)]:
            inner = {"i": self.random.choice(("tx % 2", "0", "1")), "j": self.random.choice(("ty", "1", "n % 2"))}
            if way.startswith("called"):
                inner = {"i": "1", "j": "0"}
            self.one(name, element, shape, way, place.format(**inner), _OUT[kind], store)

    def one(self, name: str, t: str, shape: tuple[int, ...], way: str, place: str, out: str, store: bool) -> None:
        at, k = self.indices(shape), self.number()
        lengths, last, p = "".join(f"[{d}]" for d in shape[1:]), at[-1], f"p{k}"
        row = name + "".join(f"[{i}]" for i in at[:-1])
        value = f"{row}[{last}]{place}"
        arrow = f"{p}->{place[1:]}" if place else f"*{p}"
        flat, dereferenced = "0", name
        for d, i in zip(shape, at, strict=True):
            flat, dereferenced = f"({flat}) * {d} + {i}", f"*({dereferenced} + {i})"
        made, found = {
            "dereferenced": ("", f"({dereferenced}){place}"),
            "swapped": ("", f"({last})[{row}]{place}"),
            "row": (f"{t} *{p} = {row};", f"{p}[{last}]{place}"),
            "address": (f"{t} *{p} = &{row}[0] + {last};", arrow),
            "flat": (f"{t} *{p} = ({t} *){name};", f"{p}[{flat}]{place}"),
            "moved": (f"{t} *{p} = {row}; {p} += {last};", arrow),
            "stepped": (f"{t} *{p} = {row}; for (int s = 0; s < {last}; s++) {p}++;", arrow),
            "back": (f"{t} *{p} = ({t} *){name} + 9; {p} -= 9 - ({flat});", arrow),
            "reference": (f"{t} &{p} = {row}[{last}];", f"{p}{place}"),
            "rows": (f"{t} (*{p}){lengths} = {name} + {at[0]};", f"(*{p}){''.join(f'[{i}]' for i in at[1:])}{place}"),
            "called": ("", f"f{k}(&{row}[{last}])"),
            "called with rows": ("", f"f{k}({', '.join([name, *at])})"),
        }.get(way, ("", value))
        if way == "rows" and not lengths:
            made, found = f"{t} *{p} = {name} + {at[0]};", arrow
        if self.space == "local" and way not in ("dereferenced", "swapped"):  # no pointers into what is variables
            made, found = "", value
        if found.startswith("f"):
            inner = f"p->{place[1:]}" if place else "*p"
            given = f"{t} *p"
            if way == "called with rows":
                given = ", ".join([f"{t} p[]{lengths}", *(f"int i{j}" for j in range(len(shape)))])
                inner = "p" + "".join(f"[i{j}]" for j in range(len(shape))) + place
            does = f"{inner} = {k % 100}; return 0" if store else f"return {inner}"
            self.before.append(f"__device__ {out} f{k}({given}) {{ {does}; }}")
        self.body += [made] if made else []
        read = not store or found.startswith("f")
        self.body.append(f"o{out[0]}[{k}] = {found};" if read else f"{found} = {k % 100} + tx;")


_OUT: Final = {"i": "long long", "d": "double"}


def cases(random: Random, more: int = 3) -> Iterator[Case]:
    """A kernel for each space and shape, with an array of each element and accesses to it, directly and in some `more`
    ways; a dynamic array is alone in its kernel, and what is local is made of scalars."""
    turn = random.randrange(len(WAYS))
    for space in SPACES:
        for shape in SHAPES:
            groups = [list(ELEMENTS)]
            if space == "dynamic":
                groups = [[e] for e in random.sample(groups[0], 3)]
            elif space == "local":
                groups = [[e for e, places in ELEMENTS.items() if places[0][0] == ""]]
            for group in groups:
                w = _Writer(random, space)
                stores = {"constant": [False], "local": [False], "dynamic": [random.random() < 0.5]}.get(
                    space, [False, True]
                )
                for element, store in ((e, stored) for e in group for stored in stores):
                    small = tuple(min(d, 2) for d in shape) if space == "local" else shape
                    name = w.array(element, small, filled=not store)
                    for way in ("direct", *(WAYS[(turn + i) % len(WAYS)] for i in range(more))):
                        w.use(name, element, small, way, store=store or (space == "local" and random.random() < 0.4))
                    turn += more
                name = f"{space}{len(shape)}_{turn}"
                yield Case(name, "\n".join(w.before), tuple(w.parameters), "\n  ".join(w.body), w.dynamic)


_CASTS: Final = {
    # the array, what it is cast to, accesses to that; whether it may be refused
    "float2": [("float *", "{0}[{f}]", 0), ("float (*)[2]", "{0}[{f}][tx % 2]", 1), ("unsigned *", "{0}[{f}]", 1)],
    "float4": [("float2 *", "{0}[{f}].y", 1), ("float *", "{0}[2 * {f} + 1]", 0), ("V *", "{0}[{f} / 2].w.y", 1)],
    "int": [("unsigned char *", "{0}[3 * {f}]", 0), ("short *", "{0}[{f}]", 0), ("unsigned *", "{0}[{f}]", 0),
            ("int (*)[2]", "{0}[{f} / 2][ty]", 1), ("int (*)[2][2]", "{0}[{f} / 4][ty][tx % 2]", 1),
            ("float *", "{0}[{f}]", 1), ("int3 *", "{0}[{f} / 3].y", 1), ("B *", "{0}[{f} / 2].e", 1)],
    "unsigned char": [("char *", "{0}[{f}]", 0), ("int *", "{0}[{f} / 4]", 1)],
    "long long": [("int *", "{0}[{f}]", 1), ("int2 *", "{0}[{f}].y", 1), ("unsigned long long *", "{0}[{f}]", 0)],
    "double": [("float *", "{0}[{f}]", 1), ("P *", "{0}[{f} / 3].d", 1)],
    "P": [("char *", "{0}[{f}]", 1), ("double *", "{0}[3 * {f} + 1]", 1)],
    "B": [("int *", "{0}[{f}]", 1), ("D *", "{0}[{f} / 2].f", 1), ("D (*)[2]", "{0}[{f} / 4][tx % 2].f", 1)],
    "D": [("B *", "{0}[{f}].b", 1), ("B (*)[4]", "{0}[{f} / 4][tx].e", 1), ("E *", "{0}[{f} / 2].g", 1),
          ("float *", "{0}[{f}]", 1), ("D *", "{0}[{f}].f", 1)],
    "E": [("D *", "{0}[{f}].f", 1), ("B *", "{0}[{f} / 2].b", 1), ("D (*)[4]", "{0}[{f} / 4][tx].f", 1)],
    "M": [("B *", "{0}[{f}].b", 1), ("C *", "{0}[{f}].c", 1), ("M *", "{0}[{f}].h", 0)],
    "N": [("int *", "{0}[{f}]", 1), ("char *", "{0}[{f}]", 1)],
}  # fmt: skip


def casts(*, every: bool) -> Iterator[Case]:
    """Arrays read by pointers to something else: each is read as the host does, or refused. Every cast in every space
    and shape, or each in one of them, and what is derived in some."""
    all_ = [(element, *cast) for element, given in _CASTS.items() for cast in given]
    kinds = [(s, d) for d in SHAPES for s in ("parameter", "shared", "device")]
    for k, (element, target, access, may) in enumerate(all_):
        derived = element in ("D", "E", "M")
        for space, shape in kinds if every else [*kinds[:3], kinds[3 + k % 6]] if derived else [kinds[k % 9]]:
            w = _Writer(Random(0), space)
            name, row = w.array(element, shape, filled=False), "[ty]" * (len(shape) - 1) if derived else ""
            most = shape[-1] if row else prod(shape)
            flat = f"({most // 2 - 2} + (tx + ty) % 3)"
            declared = target.replace("(*)", "(*p)") if "(*)" in target else f"{target}p"
            w.body.append(f"{declared} = ({target}){name}{row};")
            place = access.format("p", f=flat)
            out = "od" if "float" in target or "double" in target or place.endswith((".f", ".d", ".y")) else "ol"
            w.body.append(f"{out}[0] = {place};" if space != "shared" else f"{place} = tx + 1;")
            label = f"cast{k}_{element.replace(' ', '')}_{space}{len(shape)}"
            yield Case(label, "\n".join(w.before), tuple(w.parameters), "\n  ".join(w.body), may=bool(may))


# --- the text, for the host and for us -------------------------------------------------------------------------------


def kernel(case: Case) -> str:
    given = ", ".join([*(declared for declared, _ in case.parameters), "long long *ol", "double *od", "int n"])
    head = f"{case.before}\n__global__ void {case.name}({given}) {{\n  int tx = threadIdx.x, ty = threadIdx.y;\n"
    return f"{head}  {case.body}\n}}\n"


_HOST: Final = """\
#include <cstddef>
#define __global__
#define __device__
#define __constant__
#define __shared__ static
#define REGISTER(name, filled) seen(#name, name, sizeof name, filled)
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct int3 { int x, y, z; };
struct alignas(8) int2 { int x, y; };
struct Index { unsigned x, y, z; };
extern Index threadIdx;
void seen(const char *name, void *start, size_t size, int filled);
void *passed(const char *name);
"""

_WATCH: Final = """\
#include <cstdio>
#include <cstring>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
struct Index { unsigned x, y, z; };
Index threadIdx;
struct Seen { std::string name; char *start; size_t size; };
static std::vector<Seen> arrays;
static std::vector<std::vector<char>> memory;
struct Store { std::string name; size_t at, size; char *place; };
static std::vector<Store> stores;
static bool on = true;
void seen(const char *name, void *start, size_t size, int filled) {
  arrays.push_back({name, (char *)start, size});
  if (filled) for (size_t i = 0; i < size; i++) ((char *)start)[i] = (i * 73 + 41) %% 127;
}
void *passed(const char *name) {
  void *start = aligned_alloc(256, %(size)d);
  seen(name, start, %(size)d, 1);
  return start;
}
static void access(bool store, void *place, size_t size) {
  for (Seen &a : arrays) {
    long at = (char *)place - a.start;
    if (at < 0 || at >= (long)a.size) continue;
    if (store) stores.push_back({a.name, (size_t)at, size, (char *)place});
    else printf("load %%s %%zu %%zu\\n", a.name.c_str(), (size_t)at, size);
  }
}
extern "C" {
#define WATCH(n) \\
  void __tsan_read##n(void *p) { access(false, p, n); } void __tsan_write##n(void *p) { access(true, p, n); } \\
  void __tsan_unaligned_read##n(void *p) { access(false, p, n); } \\
  void __tsan_unaligned_write##n(void *p) { access(true, p, n); }
WATCH(1) WATCH(2) WATCH(4) WATCH(8) WATCH(16)
void __tsan_read_range(void *p, size_t n) { access(false, p, n); }
void __tsan_write_range(void *p, size_t n) { access(true, p, n); }
void __tsan_init() {} void __tsan_func_entry(void *) {} void __tsan_func_exit() {}
void __tsan_vptr_update(void *, void *) {} void __tsan_vptr_read(void *) {}
}
%(declared)s
int main() {
  void (*all[])() = { %(names)s };
  for (auto one : all) for (unsigned y = 0; y < %(y)d; y++) for (unsigned x = 0; x < %(x)d; x++) {
    threadIdx = {x, y, 0};
    arrays.clear(); stores.clear();
    one();
    std::map<void *, Store> last;
    for (Store &s : stores) { printf("store %%s %%zu %%zu\\n", s.name.c_str(), s.at, s.size); last[s.place] = s; }
    for (auto &[place, s] : last) {
      printf("value %%s %%zu %%zu ", s.name.c_str(), s.at, s.size);
      for (size_t i = 0; i < s.size; i++) printf("%%02x", (unsigned char)s.place[i]);
      printf("\\n");
    }
    printf("end\\n");
    for (Seen &a : arrays) if (a.size == %(size)d) free(a.start);
  }
}
"""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a lane does: how often it loads and stores which bytes of an array, and the bytes it leaves there."""

    accesses: Counter[tuple[str, str, int, int]] = field(default_factory=Counter)
    values: dict[tuple[str, int], bytes] = field(default_factory=dict)


def observed(some: Sequence[Case], folder: Path) -> list[list[Trace]]:
    """What the lanes of each kernel do, compiled by the host's compiler."""
    text, names = _HOST + TYPES, []
    for case in some:
        body = re.sub(r"extern __shared__ [^;]*;", "", kernel(case))
        passed = [f'({d.replace(n, "", 1)})passed("{n}")' for d, n in case.parameters]
        given = ", ".join([*passed, '(long long *)passed("ol")', '(double *)passed("od")', str(N)])
        text += f"namespace {case.name}_ {{\n{case.dynamic}\n{body}}}\n"
        text += f"void run_{case.name}() {{ {case.name}_::{case.name}({given}); }}\n"
        names.append(f"run_{case.name}")
    declared = "".join(f"void {n}();\n" for n in names)
    fields = {"size": SIZE, "declared": declared, "names": ", ".join(names), "x": BLOCK[0], "y": BLOCK[1]}
    (folder / "kernels.cpp").write_text(text)
    (folder / "watch.cpp").write_text(_WATCH % fields)
    for command in (
        ["-fsanitize=thread", "-c", "kernels.cpp", "-o", "kernels.o"],
        ["watch.cpp", "kernels.o", "-o", "watch"],
    ):
        subprocess.run([str(COMPILER), "-std=c++17", "-O0", "-w", *command], cwd=folder, check=True, timeout=600)
    out = subprocess.run([folder / "watch"], capture_output=True, check=True, timeout=600).stdout.decode()
    lanes = [_trace(lane.splitlines()) for lane in out.split("end\n")[:-1]]
    return [lanes[i : i + len(LANES)] for i in range(0, len(lanes), len(LANES))]


def _trace(lines: Sequence[str]) -> Trace:
    trace = Trace()
    for line in lines:
        kind, name, at, size, *value = line.split()
        if kind == "value":
            trace.values[name, int(at)] = bytes.fromhex(value[0])
        else:
            trace.accesses[kind, name, int(at), int(size)] += 1
    return trace


def lowered(case: Case, folder: Path) -> list[Trace]:
    """What they do in our semantics. Raises CudaError."""
    path = folder / "case.cu"
    path.write_text(TYPES + kernel(case))
    read = read_cuda(str(path), defines=["REGISTER(name, filled)="]).kernel
    arrays = {a.name: a for a in read.arrays}
    contents = {a.name: [_pattern(a, i) for i in range(_length(a))] for a in read.arrays if a.space == "global"}
    traces = {(x, y, 0): Trace() for x, y in LANES}

    def observe(event: Event) -> None:
        if not isinstance(event.term, Read | Write):
            return
        array = arrays[event.term.array]
        kind, root = ("load" if isinstance(event.term, Read) else "store"), array.name.partition(".")[0]
        for place, (thread, i) in enumerate(zip(event.threads, event.indices, strict=True)):
            at = array.offset + i * array.stride
            traces[thread.tid].accesses[kind, root, at, array.width] += 1
            if kind == "store":
                traces[thread.tid].values[root, at] = _bytes(event.values[place], array)

    run(read, BLOCK, (1, 1, 1), {"n": N}, contents, (METRICS["sectors"],), observer=observe)
    return [traces[x, y, 0] for x, y in LANES]


_FORMATS: Final = {("int", 1): "b", ("int", 2): "h", ("int", 4): "i", ("int", 8): "q"}
_FLOATS: Final = {4: "f", 8: "d"}


def _format(a: Array) -> str:
    return "<" + (_FLOATS[a.width] if a.elem.kind == "base" else _FORMATS["int", a.width])


def _length(a: Array) -> int:
    return (SIZE - a.offset - a.width) // a.stride + 1


def _pattern(a: Array, i: int) -> Value:
    start = a.offset + i * a.stride
    found = bytes((at * 73 + 41) % 127 for at in range(start, start + a.width))
    return struct.unpack(_format(a), found)[0]  # type: ignore[no-any-return]


def _bytes(value: Value, a: Array) -> bytes:
    """A stored value as the host has it in memory."""
    if a.elem.kind == "base":
        return struct.pack(_format(a), value)
    return (int(value) % (1 << 8 * a.width)).to_bytes(a.width, "little")


def differences(some: Sequence[Case], folder: Path) -> tuple[list[str], int]:
    """What differs between the two, a line for each kernel and lane, and how many kernels were compared: those that may
    be refused, and are, are not."""
    found, compared = [], 0
    for case, lanes in zip(some, observed(some, folder), strict=True):
        try:
            own = lowered(case, folder)
        except CudaError as e:
            if not case.may:
                found.append(f"{case.name} is refused: {e}")
            continue
        compared += 1
        for lane, (theirs, ours) in enumerate(zip(lanes, own, strict=True)):
            if theirs.accesses != ours.accesses:
                only = (
                    sorted((theirs.accesses - ours.accesses).items()),
                    sorted((ours.accesses - theirs.accesses).items()),
                )
                found.append(f"{case.name}, lane {lane}: only the host has {only[0][:4]}, only we have {only[1][:4]}")
            elif theirs.values != ours.values:
                wrong = [k for k, v in theirs.values.items() if ours.values.get(k) != v][:4]
                said = [(k, theirs.values[k].hex(), ours.values.get(k, b"").hex()) for k in wrong]
                found.append(f"{case.name}, lane {lane}: values of the host and ours {said}")
    return found, compared


def main(count: int) -> int:
    """Try every cast, then random kernels, so many times each space and shape."""
    for seed in range(-1, count):
        with tempfile.TemporaryDirectory() as folder:
            some = list(cases(Random(seed)) if seed >= 0 else casts(every=True))
            found, compared = differences(some, Path(folder))
            name = f"seed {seed}" if seed >= 0 else "casts"
            print(f"{name}: {compared} of {len(some)} kernels, {len(found)} differences", flush=True)
            print("".join(f"{line}\n" for line in found[:8]), end="")
            if found:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
