"""How many of the names that CUDA's own headers declare for kernels are known here, by header, and which are not.

    pip install 'warpbound[headers]'
    python -m tests.bench.headers [--missing] [HEADER ..]

The vendor's headers come from packages that nothing else needs. A name is that of a function for the device, of a
method, or of a type; operators, and names that begin as those of the headers' insides do, are left out. libclang reads
the headers with errors, as they are made for another compiler; these concern no names.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from semantics.cuda.clang import Node, Unit
from semantics.cuda.parse import Request
from semantics.cuda.shim import in_shim

PACKAGES: Final = ("cuda_runtime", "cuda_nvcc", "cuda_cccl", "curand")

_OPTIONS: Final = (
    "-x", "cuda", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib", "--cuda-device-only", "-std=c++17",
    "-ferror-limit=0", "-Wno-everything", "-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=12",
    "-D__CUDACC_VER_MINOR__=9", "-fsyntax-only",
)  # fmt: skip


_INSIDE: Final = (
    r"__nv(?!_(atomic_(add|sub|and|or|xor|min|max|fetch|load|store|exchange|compare)|bfloat|half))|__cuda|__internal"
    r"|__(float|double)_simpl|__\w*Atomic|__pm\d|\w+_impl$|__(isinf|isnan|finite|signbit)[lf]?$|__builtin"
)


@dataclass(frozen=True, slots=True)
class Header:
    """A header: what is included for it, which files of the vendor's are its own, and the beginnings of names of its
    insides."""

    includes: tuple[str, ...]
    files: str
    inside: str = _INSIDE


_NONE: Final = r"_"
HEADERS: Final = {
    "the language: vectors, mathematics, atomics, textures": Header(
        ("cuda_runtime.h",),
        r"/(crt/(math_functions|device_functions|device_double_functions|sm_\w+)|(sm_\w+|device_atomic_functions"
        r"|texture_indirect_functions|surface_indirect_functions|vector_types|vector_functions|texture_types"
        r"|surface_types|device_launch_parameters|common_functions))\.(h|hpp)$",
    ),
    "cuda_fp16.h": Header(("cuda_fp16.h",), r"/cuda_fp16\.", r"__internal|__float_simpl|__nv_bfloat16"),
    "cuda_bf16.h": Header(("cuda_bf16.h",), r"/cuda_bf16\.", r"__internal|__h(cos|sin)_internal"),
    "cuda_fp8.h": Header(("cuda_fp8.h",), r"/cuda_fp8\.", r"__internal"),
    "cuda_fp6.h": Header(("cuda_fp6.h",), r"/cuda_fp6\.", r"__internal"),
    "cuda_fp4.h": Header(("cuda_fp4.h",), r"/cuda_fp4\.", r"__internal"),
    "cooperative_groups.h, reduce.h, scan.h, memcpy_async.h": Header(
        ("cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
         "cooperative_groups/memcpy_async.h"),
        r"/cooperative_groups", _NONE,
    ),
    "mma.h": Header(("mma.h",), r"/(crt/)?mma\.", _NONE),
    "cuda_pipeline.h": Header(("cuda_pipeline.h",), r"/cuda_pipeline(_primitives)?\.h$", r"_(?!_pipeline)"),
    "cuda_awbarrier.h": Header(("cuda_awbarrier.h",), r"/cuda_awbarrier(_primitives)?\.h$", r"_(?!_mbarrier)"),
    "cuComplex.h": Header(("cuComplex.h",), r"/cuComplex\.h$", _NONE),
    "curand_kernel.h": Header(("curand_kernel.h",),
        r"/curand_(kernel|uniform|normal|lognormal|poisson|discrete2?|philox4x32_x|mrg32k3a)\.h$",
        r"_|(curand_)?(box_muller|M2|MRG|Philox|binary|mtgp32|poisson_(knuth|gammainc|from))|curnand|curandDistribution"
        r"|curand(Histogram|Method|Direction|Discrete|DistributionM2)",
    ),
    "cuda/atomic": Header(("cuda/atomic",), r"/cuda/(std/__atomic/api|__atomic|atomic)", _NONE),
    "cuda/barrier, cuda/pipeline": Header(
        ("cuda/barrier", "cuda/pipeline"), r"/cuda/(__barrier|__memcpy_async|pipeline|barrier)", _NONE
    ),
    "cub: blocks and warps": Header(
        ("cub/block/block_reduce.cuh", "cub/block/block_scan.cuh", "cub/block/block_load.cuh",
         "cub/block/block_store.cuh", "cub/warp/warp_reduce.cuh", "cub/warp/warp_scan.cuh",
         "cub/block/block_exchange.cuh", "cub/block/block_radix_sort.cuh", "cub/block/block_histogram.cuh",
         "cub/block/block_merge_sort.cuh", "cub/block/block_shuffle.cuh", "cub/block/block_discontinuity.cuh",
         "cub/block/block_adjacent_difference.cuh", "cub/warp/warp_load.cuh", "cub/warp/warp_store.cuh",
         "cub/warp/warp_exchange.cuh", "cub/warp/warp_merge_sort.cuh"),
        r"/cub/(block|warp)/\w+\.cuh$", r"(?!(Block|Warp)\w+$)|Block\w*(Type|Strategy|Layout|Rank\w*)$",
    ),
}  # fmt: skip

_SCOPES: Final = ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL")
_FUNCTIONS: Final = ("FUNCTION_DECL", "FUNCTION_TEMPLATE")
_CLASSES: Final = (
    "STRUCT_DECL", "CLASS_DECL", "CLASS_TEMPLATE", "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION", "UNION_DECL",
)  # fmt: skip
_TYPES: Final = (*_CLASSES, "TYPEDEF_DECL", "TYPE_ALIAS_DECL", "ENUM_DECL")
_INSIDES: Final = re.compile(r"_(?!_(v?\d|gnu))|details?$|internal$|impl$|std$|ptx$|thrust$")
"""Namespaces whose names are not for kernels."""


@dataclass(slots=True)
class Found:
    """The names of a header, and those of them that are known here."""

    names: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)


def folders() -> list[str]:
    """The folders of the vendor's headers. Raises FileNotFoundError where they are not installed."""
    spec = importlib.util.find_spec("nvidia")
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    found = [str(p) for place in places for name in PACKAGES if (p := Path(place) / name / "include").is_dir()]
    if len(found) < len(PACKAGES):
        raise FileNotFoundError("the vendor's headers are not installed: pip install 'warpbound[headers]'")
    return found


def names_in(root: Node, own: re.Pattern[str] | None) -> Iterator[str]:
    """The names of functions, methods and types of a tree that are declared in files of a pattern, or else in ours."""
    todo = list(root.children)
    while todo:
        node = todo.pop()
        if node.kind in _SCOPES:
            if node.kind != "NAMESPACE" or own is None or not _INSIDES.match(node.name):
                todo += node.children
            continue
        loc = node.loc
        if loc is None or not (in_shim(node) if own is None else own.search(loc.file)):
            continue
        device = any(c.kind == "CUDADEVICE_ATTR" for c in node.children)
        if node.kind in _TYPES or (node.kind in _FUNCTIONS and (device or own is None)):
            yield node.name.partition("<")[0]
        if node.kind in _CLASSES:
            bases = [c.type_decl for c in node.children if c.kind == "CXX_BASE_SPECIFIER" and c.type.kind == "record"]
            for c in (c for part in (node, *(bases if own is None else ())) for c in part.members):
                if c.kind in ("CXX_METHOD", "FUNCTION_TEMPLATE") and c.name.isidentifier():
                    yield f"{node.name.partition('<')[0]}::{c.name}"


def measured(header: Header, inside: Sequence[str]) -> Found:
    """The names of one header."""
    text = "".join(f"#include <{name}>\n" for name in header.includes).encode()
    system = [str(p) for p in Path("/usr/lib/gcc").glob("*/*/include")]
    args = [*_OPTIONS, *(f"-isystem{p}" for p in (*system, *inside))]
    own, skipped = re.compile(header.files), re.compile(header.inside)
    theirs = {
        name
        for name in names_in(Unit("theirs.cu", text, args).root(), own)
        if name and not skipped.match(name.rpartition("::")[2]) and not skipped.match(name) and "operator" not in name
        and "(" not in name
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ours.cu"
        path.write_bytes(text)
        ours = set(names_in(Unit(str(path), text, Request(str(path), std="c++17").args).root(), None))
    return Found(theirs, theirs & ours)


def main(args: Sequence[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.headers", description=__doc__.partition("\n")[0])
    parser.add_argument("header", nargs="*", help="a part of the name of one; all of them if there is none")
    parser.add_argument("--missing", action="store_true", help="list the names that are not known")
    given = parser.parse_args(args)
    inside = folders()
    total = Found()
    print("| header | names | known | |\n|---|---:|---:|---:|")
    missing: dict[str, list[str]] = {}
    for name, header in HEADERS.items():
        if given.header and not any(part in name for part in given.header):
            continue
        found = measured(header, inside)
        missing[name] = sorted(found.names - found.known)
        total = Found(total.names | found.names, total.known | found.known)
        print(f"| {name} | {len(found.names)} | {len(found.known)} | {_share(found)} |", flush=True)
    print(f"| all | {len(total.names)} | {len(total.known)} | {_share(total)} |")
    for name, lost in missing.items() if given.missing else ():
        print(f"\n{name}: {', '.join(lost)}")
    return 0


def _share(found: Found) -> str:
    return f"{100 * len(found.known) // max(1, len(found.names))} %"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
