"""Declarations of `cuda_shim.h` and `headers/`, in place of the CUDA headers, and their meaning in miniCUDA."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from semantics.cuda.clang import PREPROCESSED, UNITS, Node, Unit

PATH: Final = str(Path(__file__).with_name("cuda_shim.h"))

HEADERS: Final = str(Path(__file__).with_name("headers"))
"""Headers that declare what the shim does not, since its names are others' where they are not included."""

INDICES: Final = ("threadIdx", "blockIdx", "blockDim", "gridDim")

OPERATORS: Final = {
    **dict.fromkeys(("min", "umin", "llmin", "ullmin", "fmin", "fminf"), "min"),
    **dict.fromkeys(("max", "umax", "llmax", "ullmax", "fmax", "fmaxf"), "max"),
    **dict.fromkeys(("abs", "labs", "llabs", "fabs", "fabsf"), "abs"),
    **dict.fromkeys(("__mul24", "__umul24", "mul24", "umul24", "__fmul_rn", "__dmul_rn"), "*"),
    **dict.fromkeys(("__fadd_rn", "__dadd_rn"), "+"), **dict.fromkeys(("__fsub_rn", "__dsub_rn"), "-"),
    **dict.fromkeys(("__fdividef", "fdividef", "__fdiv_rn", "__ddiv_rn", "__hdiv"), "/"),
    "__hadd": "+", "__hsub": "-", "__hmul": "*", "__hmax": "max", "__hmin": "min", "__hneg": "neg", "__habs": "abs",
    "__hgt": ">", "__hlt": "<", "__hge": ">=", "__hle": "<=", "__heq": "==",
}  # fmt: skip
"""Functions that are operators."""

_HALVES: Final = ("half", "bfloat16")
_NUMBERS: Final = ("float", "double", "int", "uint", "ll", "ull", "short", "ushort")

SAME: Final = frozenset(
    name for h in _HALVES for t in _NUMBERS for name in (f"__{t}2{h}", f"__{t}2{h}_rn", f"__{h}2float")
)
"""Conversions between types that miniCUDA does not tell apart."""

_ROUNDINGS: Final = {"rz": "", "rn": "rint", "rd": "floor", "ru": "ceil"}

TO_INT: Final = {
    f"__{source}2{t}_{way}": rounding and rounding + ("" if source == "double" else "f")
    for source in ("float", "double", *_HALVES)
    for t in ("int", "uint", "ll", "ull", "short", "ushort", "char", "uchar")
    for way, rounding in _ROUNDINGS.items()
}
"""Conversions to int, with the rounding that comes before the truncation."""

READS: Final = ("__ldg", "__ldcs", "__ldcg", "__ldca")
"""Reads with a hint for the caches."""

READS_ALWAYS: Final = ("__ldlu", "__ldcv")
"""The same, of structures also where nobody uses their value."""

WRITES: Final = ("__stcs", "__stcg", "__stwb", "__stwt")
"""Writes with a hint for the caches."""

FENCES: Final = ("__threadfence", "__threadfence_block", "__threadfence_system", "__syncwarp")

FREE: Final = ("__threadfence_cluster", "__trap", "__brkpt", "__prof_trigger", "__nanosleep", "cudaGraphSetConditional")
"""Functions that cost nothing; after a trap there are no costs at all."""

MOVES: Final = ("move", "forward")
"""Functions of C++ that give the place that they are given."""

OURS: Final = {
    "__w_grid_sync": "a barrier of the whole grid costs what one of the block does: the wait for other blocks is not "
    "counted, and in runs blocks run one after the other",
    "__w_one_row": "the blocks of a grid are in a row",
    "__w_grid": "a kernel runs on one device",
    "__w_in_order": "memcpy_async copies element by element, by threads in a row: wider copies may cost a warp more",
    "__w_starts": "what starting or skipping random numbers reads of its tables and computes is not counted",
    "__w_state": "what barriers and pipelines do to their state in shared memory is not counted",
    "__pipeline_commit": "an asynchronous copy is a read and a write where it is started",
    "__pipeline_wait_prior": "an asynchronous copy is a read and a write where it is started",
    "__pipeline_arrive_on": "what barriers and pipelines do to their state in shared memory is not counted",
}
"""Functions that cost nothing, most of which only our headers call: what each assumes."""

_CLUSTER: Final = ("a cluster of blocks", "Use the groups of a block.")

REFUSED: Final = {
    **dict.fromkeys(
        (
            "__clusterDim",
            "__clusterDimIsSpecified",
            "__clusterGridDimInClusters",
            "__clusterIdx",
            "__clusterRelativeBlockIdx",
            "__clusterRelativeBlockRank",
            "__clusterSizeInBlocks",
            "__cluster_barrier_arrive",
            "__cluster_barrier_arrive_relaxed",
            "__cluster_barrier_wait",
            "__cluster_map_shared_rank",
            "__cluster_query_shared_rank",
            "__isClusterShared",
            "__isCtaShared",
        ),
        _CLUSTER,
    ),
    **dict.fromkeys(
        (
            "__cvta_shared_to_generic",
            "__cvta_global_to_generic",
            "__cvta_local_to_generic",
            "__cvta_constant_to_generic",
            "__cvta_grid_constant_to_generic",
        ),
        ("a number as a pointer", "Pass the pointer to the kernel."),
    ),
    **dict.fromkeys(("__barrier_sync", "__barrier_sync_count"), ("a barrier of some threads", "Use __syncthreads().")),
    "__w_cluster": _CLUSTER,
    "__w_spins": ("waiting for an atomic to change", "How often that is looked for is not known."),
    "__w_algorithm": ("this algorithm", "Of loads and stores direct ones are known, of exchanges those in one piece."),
    "__w_sorts": ("sorting by CUB in a kernel", "How it moves keys is not said: write it out, or count by atomics."),
    "__w_attempts": ("a discrete distribution", "How many numbers it takes, or how far it looks, is not known."),
    "__w_roles": ("a pipeline with roles for its threads", "Let all threads of the block produce and consume."),
    "__w_bulk": ("a copy in bulk", "Copy with memcpy_async, or element by element."),
    "__w_one_warp": ("this function on a tile of more than 32 threads", "Use cg::reduce, or a tile of a warp."),
}
"""Functions that are refused, some of which only our headers call: what of, with advice."""

ADDRESSES: Final = tuple(f"__cvta_generic_to_{space}" for space in ("shared", "global"))
"""Functions that give the number of an address in a space of its own."""

OF_BITS: Final = ("__float_as_int", "__float_as_uint")
"""Functions of a float to all its bits, which no float holds."""

SEVERAL: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    **{f"{p}sincos{f}": ("", (f"{p}sin{f}", f"{p}cos{f}")) for p, f in (("", ""), ("", "f"), ("__", "f"))},
    **{f"sincospi{f}": ("", (f"sinpi{f}", f"cospi{f}")) for f in ("", "f")},
    **{f"frexp{f}": (f"frexp{f}", ("frexp_exponent",)) for f in ("", "f")},
    **{f"modf{f}": (f"modf{f}", ("modf_whole",)) for f in ("", "f")},
    **{f"__vib{m}_{t}": (f"__vib{m}_{t}", ("__vib_first",)) for m in ("max", "min") for t in ("s32", "u32")},
    **{
        f"__vib{m}_{t}": (f"__vib{m}_{t}", ("__vib_first", "__vib_second"))
        for m in ("max", "min")
        for t in ("s16x2", "u16x2")
    },
    **{f"remquo{f}": (f"remquo{f}", ("remquo_quotient",)) for f in ("", "f")},
}
"""Functions that give several results: one as their value, or "" for none, and one for each of the pointers at the end
of their arguments; by the functions that give one each."""

_ATOMIC: Final = {
    "Add": "+", "Sub": "-", "Min": "min", "Max": "max", "And": "&", "Or": "|", "Xor": "^", "Exch": "", "CAS": "call",
    "Inc": "call", "Dec": "call",
}  # fmt: skip

ATOMICS: Final = {f"atomic{name}{end}": op for name, op in _ATOMIC.items() for end in ("", "_block", "_system")} | {
    f"__w_atomic_{name.lower()}": op for name, op in _ATOMIC.items()
}
"""Read-modify-write functions, with their operator; the empty one only writes, and of a `call` nothing is known."""


def in_shim(decl: Node) -> bool:
    """Whether the shim declares this."""
    return is_shim(decl.file)


def is_shim(file: str) -> bool:
    """Whether a file is the shim, or one of its headers."""
    return file == PATH or file.startswith(HEADERS)


def own_files(unit: Unit) -> list[str]:
    """The file and those that it includes, without the shim's."""
    included = (name for name, by, _ in unit.inclusions if not is_shim(name) and not is_shim(by))
    return list(dict.fromkeys((unit.path, *included)))


@lru_cache(maxsize=UNITS)
def own(unit: Unit) -> tuple[Node, ...]:
    """The declarations right below the root of a unit, in source order, without those of the shim, which are most."""
    return tuple(n for n in unit.root().children if n.kind not in PREPROCESSED and not in_shim(n))


@lru_cache(maxsize=UNITS)
def own_nodes(unit: Unit) -> tuple[Node, ...]:
    """All nodes in them."""
    return tuple(node for declared in own(unit) for node in declared.walk())


def is_index(node: Node) -> bool:
    """Whether this names threadIdx, blockIdx, blockDim or gridDim."""
    decl = node.referenced
    return decl is not None and decl.name in INDICES and in_shim(decl)
