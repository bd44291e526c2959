"""Every function that stands for one of CUDA's can be used; some write by their pointers."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from checker.oracles import Oracles
from checker.synthesis.bound import find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch
from logic.metrics import HARDWARE, METRICS
from logic.potentials import evaluate
from logic.typing import check_kernel
from semantics import vectorised
from semantics.cuda import CudaError, Reading, read_cuda, shim
from semantics.cuda.clang import Node, Unit
from semantics.cuda.intrinsics import FUNCTIONS
from semantics.cuda.nested import CALLS, LAUNCH
from semantics.cuda.parse import Request, parse
from semantics.cuda.shim import ADDRESSES, ATOMICS, REFUSED, in_shim
from semantics.grid import run

Read = Callable[..., Reading]
Lower = Callable[..., str]

HEAD: Final = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
HOST: Final = ("warpbound_host.h", "warpbound_containers.h")
ELSEWHERE: Final = {"memcpy", "memmove", "memset", "malloc", "free", "operator++", "operator--", "declval"} | {
    "cudaConfigureCall",
    "__cudaPushCallConfiguration",
    LAUNCH,
    *CALLS,
    *FUNCTIONS,
    *ADDRESSES,
    *REFUSED,
}
"""What a kernel is told to do without, what stands for a launch, and what has tests of its own."""

TEMPLATES: Final = {
    **dict.fromkeys(("__ldg", "__ldcs", "__ldcg", "__ldca", "__ldlu", "__ldcv"), "f[t] = {}(g + t);"),
    **dict.fromkeys(("__stcs", "__stcg", "__stwb", "__stwt"), "{}(f + t, 1);"),
    **dict.fromkeys(("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor"), "f[t] = {}(g[t], 1);"),
    **dict.fromkeys(("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"), "f[t] = {}(1, g[t], 1);"),
    "__match_any_sync": "i[t] = {}(1, i[t]);", "__match_all_sync": "{ int e; i[t] = {}(1, i[t], &e); i[t] = e; }",
    "min": "f[t] = std::{}(g[t], 1);", "max": "f[t] = std::{}(g[t], 1);",
    **dict.fromkeys(("fmod", "atan2", "hypot", "fmin", "fmax", "fdim", "copysign", "remainder", "nextafter", "rhypot",
                     "pow"), "f[t] = {}(i[t], g[t]) + {}(g[t], 3u) + {}(i[t], t);"),
    **dict.fromkeys((f"__w_atomic_{op}" for op in ("add", "sub", "min", "max", "and", "or", "xor", "exch")),
                    "i[t] = {}(i + t, 1);"),
    "__w_atomic_cas": "i[t] = {}(i + t, 1, 2);", "fma": "f[t] = {}(i[t], g[t], 3u) + {}(1, 2, i[t]);",
    **dict.fromkeys(("ldexp", "scalbn", "scalbln"), "f[t] = {}(i[t], t);"),
}  # fmt: skip
"""How each template is used; others take one number of any type."""


GIVEN: Final = {
    "type-parameter-0-0 *": "&x", "bool *": "&b", "type-parameter-0-0": "g[t]", "float": "g[t]", "int": "i[t]",
    "float2": "make_float2(g[t], 1)", "float4": "make_float4(g[t], 1, 2, 3)", "unsigned long long": "o",
    "cudaSurfaceBoundaryMode": "cudaBoundaryModeZero",
}  # fmt: skip
"""What functions on textures and surfaces are given, by the types of their parameters."""


def textured(f: Node) -> str:
    """A statement that calls a function on textures or surfaces."""
    types = [p.type.name for p in f.children if p.kind == "PARM_DECL"]
    reference = "sf" if f.name.startswith("surf") else "tex"
    given = ", ".join(GIVEN.get(t, reference) for t in types)
    deduced = any(t.startswith("type-parameter") or t not in GIVEN for t in types[:1])
    called = f"{f.name}{'' if deduced and not f.name.endswith('read') else '<float>'}({given})"
    return (
        f"{{ float x; bool b; {called}; f[t] = x; }}" if f.result.kind == "void" else f"{{ bool b; f[t] = {called}; }}"
    )


def statement(f: Node, k: int) -> tuple[list[str], str]:
    """Parameters of a kernel and a statement that calls a function with elements of arrays."""
    if f.kind == "FUNCTION_TEMPLATE" and f.name.startswith(("tex", "surf")):
        return [], textured(f)
    if f.kind == "FUNCTION_TEMPLATE":
        return [], TEMPLATES.get(f.name, "f[t] = {}(i[t]) + {}(i[t] + 3ull);").replace("{}", f.name)
    arrays, given, after, before = list[str](), list[str](), "", ""
    own = f.name if f.name.isidentifier() else "operator_"
    for j, t in enumerate(p.type for p in f.arguments):
        inner = t.inner.name.removeprefix("const ") if t.inner is not None else t.name
        array = f"{own}_{k}_{j}"
        if inner == "char":
            given.append('""')
            continue
        arrays.append(f"{inner} *{array}")
        if t.kind != "pointer":
            given.append(f"{array}[t]")
        elif f.name in ATOMICS:
            given.append(f"&{array}[t]")
        else:
            before += f"{inner} v{j}; "
            given.append(f"&v{j}")
            after += f" {array}[t] = v{j};"
    called = f"{f.name}({', '.join(given)})"
    if f.result.kind == "void":
        return arrays, f"{{ {before}{called};{after} }}"
    result = f"{own}_{k}"
    given_type = f.result.inner.name if f.result.kind == "reference" and f.result.inner else f.result.name
    return [*arrays, f"{given_type} *{result}"], f"{{ {before}{result}[t] = {called};{after} }}"


def test_every_function_that_is_declared_can_be_used_and_bounded(tmp_path: Path) -> None:
    """In kernels of 250 calls each, all of them bounded: smaller ones take longer together."""
    source = tmp_path / "shim.cu"
    unit = Unit(str(source), HEAD.encode(), Request(str(source)).args)  # with the shim's declarations
    todo, found = list(unit.root().children), list[Node]()
    while todo:
        node = todo.pop()
        if node.kind in ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL"):
            todo += node.children
        elif node.kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE") and in_shim(node) and node.name not in ELSEWHERE:
            host = node.loc is None or node.loc.file.endswith(HOST) or "deduction" in node.name
            found += [] if host or node.definition is not None else [node]  # with a body it is as the user's own
    names = {f.name for f in found}
    assert len(found) > 1000
    assert names > {"isinf", "frexp", "__fmaf_rz", "__float2ull_ru", "__hfma2", "__byte_perm", "norm4d", "j0", "__shfl"}
    assert TEMPLATES.keys() <= names
    calls = [statement(f, k) for k, f in enumerate(found)]
    for part in (calls[start : start + 250] for start in range(0, len(calls), 250)):
        parameters = ", ".join(
            ["float *f", "float *g", "int *i", "cudaTextureObject_t o", *(p for given, _ in part for p in given)]
        )
        body = "\n  ".join(text for _, text in part)
        head = f"{HEAD}texture<float> tex; surface<void, 2> sf;\n__global__ void k({parameters}) {{\n"
        source.write_text(f"{head}  int t = threadIdx.x;\n  {body}\n}}\n")
        kernel = read_cuda(str(source)).kernel
        launch = Launch((32, 1, 1), (1, 1, 1), ())
        context = Context(check_kernel(kernel), METRICS["sectors"], HARDWARE["nvidia"], launch)
        outline = Outline(kernel, context, bare(kernel.body))
        (bound,) = find_bounds(outline, [METRICS["sectors"]], Oracles(), judge=False)
        assert bound.claim is not None
        assert evaluate(bound.claim.pre.q, {}) >= len(part)


SEVERAL = {
    "int e; F[n] = frexpf(F[0], &e); A[e] = 1;": (
        "t <- F[0];\ne <- int(frexp_exponent(t));\nF[n] <- frexpf(t);\nA[e] <- 1;"
    ),
    "float w; float m = modff(F[0], &w) * 2; F[n] = m + w;": (
        "t <- F[0];\nw <- modf_whole(t);\nm <- modff(t) * 2.0f;\nF[n] <- m + w;"
    ),
    "double d = F[0], w; d = modf(d, &w) + 1;": (
        "d <- as_double(F[0]);\nt <- d;\nw <- modf_whole(t);\nd <- modf(t) + 1.0;"
    ),
    "F[n] = remquof(F[0], F[1], A + n);": (
        "t <- F[0];\nt_1 <- F[1];\nA[n] <- int(remquo_quotient(t, t_1));\nF[n] <- remquof(t, t_1);"
    ),
    "int e[2]; frexpf(F[0], &e[1]); A[e[1]] = 1;": "t <- F[0];\ne_1 <- int(frexp_exponent(t));\nA[e_1] <- 1;",
    "float s, c; sincospif(F[n], &s, &c); F[n] = s - c;": (
        "t <- F[n];\ns <- sinpif(t);\nc <- cospif(t);\nF[n] <- s - c;"
    ),
    "F[0] = nanf(\"\"); A[0] = __isinff(F[1]); if (isfinite(F[2])) A[1] = signbit(F[3]);": (
        "F[0] <- 0.0f / 0.0f;\nA[0] <- int(__isinff(F[1]));\nif (isfinite(F[2]) != 0.0f) {\n"
        "  A[1] <- int(signbit(F[3]) != 0.0f);\n}"
    ),
    "A[0] = __float_as_int(F[0]) + __hadd(n, 2) + mulhi(n, 3);": (
        "A[0] <- int(__float_as_int(as_double(F[0]))) + int(__hadd(as_double(n), 2)) + int(mulhi(as_double(n), 3));"
    ),
    "F[0] = __int2float_rz(n) + __fsub_rn(F[1], F[2]) + __fadd_rd(F[1], F[2]);": (
        "F[0] <- as_float(__int2float_rz(as_double(n))) + (F[1] - F[2]) + __fadd_rd(F[1], F[2]);"
    ),
}  # fmt: skip


@pytest.mark.parametrize("body", SEVERAL)
def test_what_functions_of_numbers_become(lower: Lower, body: str) -> None:
    assert lower(body) == SEVERAL[body]


@pytest.mark.parametrize(
    "body",
    [
        "int e = 0; A[0] = int(frexpf(F[0], &e)) + e;",
        "float w = 1; F[n] = w * modff(F[0], &w);",
        "int e[2] = {0, 1}; A[0] = e[1] + int(frexpf(F[0], &e[1]));",
        "F[0] = F[n] + modff(F[1], F + n);",
        "float w; F[0] = modff(F[1], &w) - w;",
        "float w; F[0] = powf(modff(F[1], &w), w);",
    ],
)
def test_a_result_that_is_used_beside_its_call_is_refused(read: Read, body: str) -> None:
    """C++ does not say which comes first."""
    with pytest.raises(CudaError, match="is changed and used in one expression"):
        read(f"__global__ void k(int *A, float *F, int n) {{ {body} }}")


def test_values_in_a_run(read: Read) -> None:
    text = """__global__ void k(const float *a, float *f, int *i) {
      int t = threadIdx.x, e; float w;
      f[3 * t] = frexpf(a[t], &e); i[4 * t] = e;
      f[3 * t + 1] = modff(a[t], &w); f[3 * t + 2] = w;
      i[4 * t + 1] = isinf(a[t]) ? 1 : isnan(a[t]) ? 2 : isfinite(a[t]) ? 3 : 4;
      i[4 * t + 2] = signbit(a[t]); i[4 * t + 3] = __float_as_int(a[t]);
    }"""
    inf = float("inf")
    contents: dict[str, list[float]] = {"a": [1.0, -2.5, inf, -0.0], "f": [0.0] * 12, "i": [0] * 16}
    for engine in (run, vectorised.run):
        arrays = engine(read(text).kernel, (4, 1, 1), (1, 1, 1), {}, contents).arrays
        assert [arrays["f"][n] for n in range(12)] == [
            0.5,
            0.0,
            1.0,
            -0.625,
            -0.5,
            -2.0,
            inf,
            0.0,
            inf,
            -0.0,
            -0.0,
            -0.0,
        ]
        assert [arrays["i"][n] for n in range(16)] == [
            1, 3, 0, 0x3F800000, 2, 3, 1, -0x3FE00000, 0, 1, 0, 0x7F800000, 0, 3, 1, -(2**31),
        ]  # fmt: skip


NUMBERS = {
    "M_E": math.e,
    "M_LOG2E": 1 / math.log(2),
    "M_LOG10E": 1 / math.log(10),
    "M_LN2": math.log(2),
    "M_LN10": math.log(10),
    "M_PI": math.pi,
    "M_PI_2": math.pi / 2,
    "M_PI_4": math.pi / 4,
    "M_1_PI": 1 / math.pi,
    "M_2_PI": 2 / math.pi,
    "M_2_SQRTPI": 2 / math.sqrt(math.pi),
    "M_SQRT2": math.sqrt(2),
    "M_SQRT1_2": math.sqrt(0.5),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_mathematics(read: Read, name: str) -> None:
    read(f"__global__ void k(int *A) {{ static_assert((long long)({name} * 1e9) == {int(NUMBERS[name] * 1e9)}); }}")


@pytest.mark.parametrize("std", ["gnu++11", "c++14", "c++17", "gnu++20"])
def test_headers_are_of_every_language(tmp_path: Path, std: str) -> None:
    """But for views of arrays with several dimensions, which C++11 has not."""
    folder = Path(shim.__file__).parent / "headers"
    names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    own = [n for n in names if not n.startswith("warpbound_") and (std != "gnu++11" or n != "cuda/std/mdspan")]
    source = tmp_path / "k.cu"
    source.write_text("".join(f"#include <{name}>\n" for name in own) + "__global__ void k(int *A) { A[0] = 1; }\n")
    assert [e.message for e in parse(Request(str(source), (), (), std)).unit.errors] == []
