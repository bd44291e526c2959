"""What `cuda_shim.h` and `headers/` declare in place of the CUDA headers, and what it is in miniCUDA."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from semantics.cuda.clang import Node

PATH: Final = str(Path(__file__).with_name("cuda_shim.h"))

HEADERS: Final = str(Path(__file__).with_name("headers"))
"""Headers that declare what the shim does not, since its names are others' where they are not included."""

INDICES: Final = ("threadIdx", "blockIdx", "blockDim", "gridDim")

OPERATORS: Final = {
    **dict.fromkeys(("min", "umin", "llmin", "ullmin", "fmin", "fminf"), "min"),
    **dict.fromkeys(("max", "umax", "llmax", "ullmax", "fmax", "fmaxf"), "max"),
    **dict.fromkeys(("abs", "labs", "llabs", "fabs", "fabsf"), "abs"),
    **dict.fromkeys(("__mul24", "__umul24", "__fmul_rn", "__dmul_rn"), "*"),
    **dict.fromkeys(("__fadd_rn", "__dadd_rn"), "+"),
    **dict.fromkeys(("__fdividef", "fdividef", "__fdiv_rn", "__hdiv"), "/"),
    "__hadd": "+", "__hsub": "-", "__hmul": "*", "__hmax": "max", "__hmin": "min", "__hneg": "neg", "__habs": "abs",
    "__hgt": ">", "__hlt": "<", "__hge": ">=", "__hle": "<=", "__heq": "==",
}  # fmt: skip
"""Functions that are operators."""

SAME: Final = ("__float2half", "__float2half_rn", "__half2float", "__float2bfloat16", "__bfloat162float")
"""Conversions between types that miniCUDA does not tell apart."""

TO_INT: Final = {
    "__half2int_rn": "rintf",
    "__float2int_rz": "", "__float2uint_rz": "", "__double2int_rz": "", "__float2int_rn": "rintf",
    "__float2int_rd": "floorf", "__float2int_ru": "ceilf", "__float2uint_rn": "rintf", "__float2uint_rd": "floorf",
    "__float2uint_ru": "ceilf", "__double2int_rn": "rint", "__double2int_rd": "floor", "__double2int_ru": "ceil",
}  # fmt: skip
"""Conversions to int, with the rounding that comes before the truncation."""

READS: Final = ("__ldg", "__ldcs", "__ldcg", "__ldca")
"""Reads with a hint for the caches."""

READS_ALWAYS: Final = ("__ldlu", "__ldcv")
"""The same, which happen even where nobody uses their value."""

WRITES: Final = ("__stcs", "__stcg", "__stwb", "__stwt")
"""Writes with a hint for the caches."""

FENCES: Final = ("__threadfence", "__threadfence_block", "__threadfence_system", "__syncwarp")

BITS: Final = ("__popc", "__clz", "__ffs", "__brev", "__mulhi", "__umulhi", "__popcll", "__clzll", "__ffsll",
               "__float_as_int", "__float_as_uint", "__double_as_longlong", "__dp4a", "__byte_perm",
               "__funnelshift_l", "__funnelshift_r")  # fmt: skip
"""Functions to int that no operator is."""

SINES: Final = {
    "sincosf": ("sinf", "cosf"), "__sincosf": ("__sinf", "__cosf"), "sincos": ("sin", "cos"),
    "sincospif": ("sinpif", "cospif"),
}  # fmt: skip
"""Functions that give two results, by the functions that give one each."""

ATOMICS: Final = {
    "atomicAdd": "+", "atomicSub": "-", "atomicMin": "min", "atomicMax": "max", "atomicAnd": "&", "atomicOr": "|",
    "atomicXor": "^", "atomicExch": "", "atomicCAS": "call", "atomicInc": "call", "atomicDec": "call",
}  # fmt: skip
"""Read-modify-write functions, with their operator; the empty one only writes, and of a `call` nothing is known."""


def in_shim(decl: Node) -> bool:
    """Whether the shim declares this."""
    loc = decl.loc
    return loc is not None and is_shim(loc.file)


def is_shim(file: str) -> bool:
    """Whether a file is the shim, or one of its headers."""
    return file == PATH or file.startswith(HEADERS)


def is_index(node: Node) -> bool:
    """Whether this names threadIdx, blockIdx, blockDim or gridDim."""
    decl = node.referenced
    return decl is not None and decl.name in INDICES and in_shim(decl)
