"""Extensions of PyTorch: which instances its macros dispatch to, and what accessors are in a kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from logic.syntax import show_stmt
from semantics import vectorised
from semantics.cuda import Reading, choices, read_cuda
from semantics.grid import run

Read = Callable[..., Reading]
Write = Callable[[str], str]

SCALE: Final = """#include <torch/extension.h>
#include "gone.h"
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
template <class T> __global__ void scale(const T *x, T *y, float a, int64_t n) {
  CUDA_KERNEL_LOOP(i, n) { y[i] = static_cast<T>(a * static_cast<float>(x[i])); }
}
torch::Tensor scaled(torch::Tensor x, double a) {
  TORCH_CHECK(x.is_cuda() && x.dim() == 2, "a matrix on a device");
  const at::cuda::OptionalCUDAGuard guard(device_of(x));
  x = x.view({x.size(0), -1}).contiguous();
  auto y = torch::empty({x.size(0), x.size(1)}, x.options().dtype(torch::kFloat32));
  auto longest = std::get<0>(x.max(0)).item<int64_t>();
  auto stream = at::cuda::getCurrentCUDAStream();
  DISPATCH
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scaled", &scaled, "scaled"); }
"""
LAUNCH: Final = """[&] {
    scale<scalar_t><<<longest, 256, 0, stream>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), a, x.numel()); }"""
HALVES: Final = "at::ScalarType::Half, at::kBFloat16"
NESTED: Final = f"""AT_DISPATCH_SWITCH(x.scalar_type(), "s", AT_DISPATCH_CASE(at::ScalarType::Float, [&] {{
    AT_DISPATCH_INDEX_TYPES(y.scalar_type(), "i", {LAUNCH.replace("scalar_t", "index_t")}); }}));"""


@pytest.mark.parametrize(
    ("dispatch", "types"),
    [
        (f'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "s", ({LAUNCH}));', "double, float"),
        (f'AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.type(), "scale", {LAUNCH});', "double, float, half"),
        (f'AT_DISPATCH_FLOATING_TYPES_AND2({HALVES}, x.type(), "s", {LAUNCH});', "double, float, half, __nv_bfloat16"),
        (f'AT_DISPATCH_INTEGRAL_TYPES(x.type(), "s", {LAUNCH});', "unsigned char, signed char, int, long long, short"),
        (NESTED, "int, long long"),
        (f'MY_DISPATCH_HALF_TYPES(x.type(), "scale", {LAUNCH});', "float, half, __nv_bfloat16"),
        (
            f'DISPATCH_INTS(at::ScalarType(x.type()), "s", {LAUNCH});',
            "unsigned char, signed char, int, long long, short",
        ),
    ],
)
def test_a_dispatch_makes_an_instance_of_each_of_its_types(here: Write, dispatch: str, types: str) -> None:
    """Those that PyTorch does not have are taken for such, where a header was not found that may have them."""
    path, macro = here(SCALE.replace("DISPATCH", dispatch)), dispatch.partition("(")[0]
    found = choices(path)
    assert [choice.name for choice in found] == [f"scale<{t}>" for t in types.split(", ")]
    if '"scale"' in dispatch:  # a name for errors, by which nothing is launched
        assert read_cuda(path, instantiate=found[0].instantiate).block == (256, 1, 1)
        own = path.replace("x.cu", "y.cu")
        Path(own).write_text(
            Path(path)
            .read_text()
            .replace(macro, "MINE_DISPATCH")
            .replace('#include "gone.h"', f"#define MINE_DISPATCH(T, N, ...) drive(N); {macro}(T, N, __VA_ARGS__)")
        )
        assert read_cuda(own, instantiate=found[0].instantiate).block is None
    if not macro.startswith("AT_"):
        of = "integers" if "unsigned char" in types else "float, half and __nv_bfloat16"
        notes = read_cuda(path, instantiate=found[0].instantiate).remarks
        assert f"the macro '{macro}' of a header that was not found is taken for a dispatch over {of}" in notes


def test_accessors_are_a_pointer_and_parameters(read: Read) -> None:
    """The sizes and strides of what a kernel is passed cost nothing, as its other parameters."""
    text = """#include <torch/extension.h>
__global__ void k(torch::PackedTensorAccessor32<float, 3, torch::RestrictPtrTraits> x,
                  at::PackedTensorAccessor64<float, 1> y) {
  int t = threadIdx.x; auto plane = x[1]; float s = 0;
  for (int c = 0; c < x.size(2); c++) s += plane[t][c] * y.size(0);
  y[t] = s;
}
"""
    kernel = read(text).kernel
    assert sorted(a.name for a in kernel.arrays) == ["x.__w_at", "y.__w_at"]
    strides, sizes = (100, 10, 2), (2, 4, 3)
    args = {
        f"x.__w_{what}.d{i}": n for what, own in (("strides", strides), ("sizes", sizes)) for i, n in enumerate(own)
    }
    args |= {"y.__w_sizes.d0": 4, "y.__w_strides.d0": 3}
    args = {p.name: args[p.name] for p in kernel.params}
    expected = [sum(100 + 10 * t + 2 * c for c in range(3)) * 4 for t in range(4)]
    for engine in (run, vectorised.run):
        arrays = engine(kernel, (4, 1, 1), (1, 1, 1), args, {"x.__w_at": [float(i) for i in range(200)]}).arrays
        assert [arrays["y.__w_at"][3 * t] for t in range(4)] == expected


HELPERS: Final = """#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraphsUtils.cuh>
#include <ATen/cuda/DeviceUtils.cuh>
#include <ATen/cuda/detail/IndexUtils.cuh>
#include <ATen/native/cuda/block_reduce.cuh>
#include <ATen/NumericLimits.cuh>
#include <c10/cuda/CUDAMathCompat.h>
"""


def test_offsets_of_tensors_are_found_by_their_sizes(read: Read) -> None:
    """A structure with arrays that the kernel is passed: each of its elements that is used is read."""
    text = f"""{HELPERS}
template <int D> __global__ void k(at::cuda::detail::TensorInfo<float, unsigned> a, unsigned n) {{
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
    a.data[at::cuda::detail::IndexToOffset<float, unsigned, D>::get(i, a)] = i;
}}
void host(at::Tensor x) {{
  auto a = at::cuda::detail::getTensorInfo<float, unsigned>(x);
  k<3><<<1, 32>>>(a, 24u); k<-1><<<1, 32>>>(a, 24u);
}}
"""
    for instance in ("k<3>", "k<-1>"):
        kernel = read(text, None, instantiate=instance).kernel
        given = {p.name: {"n": 24, "a.dims": 3}[p.name] for p in kernel.params}
        sizes, strides = [2, 3, 4], [100, 20, 3]
        arrays = run(kernel, (32, 1, 1), (1, 1, 1), given, {"a.sizes": sizes, "a.strides": strides}).arrays
        own = arrays["a.data"]
        assert [own[100 * (i // 12) + 20 * (i // 4 % 3) + 3 * (i % 4)] for i in range(24)] == list(range(24))


def test_sums_of_blocks_and_what_kernels_are_told_of_types(read: Read) -> None:
    text = f"""{HELPERS}
__global__ void k(const float *x, float *y, at::PhiloxCudaState rng) {{
  __shared__ float s[32];
  float sum = at::cuda_utils::BlockReduceSum<float>(x[threadIdx.x], s), m = at::numeric_limits<float>::lowest();
  m = max(m, WARP_SHFL_DOWN(x[threadIdx.x], 1)) + c10::cuda::compat::sqrt(4.0f);
  auto [seed, offset] = at::cuda::philox::unpack(rng);
  if (threadIdx.x == 0) {{ y[0] = sum; y[1] = m; y[2] = seed + offset; y[3] = at::numeric_limits<int>::upper_bound(); }}
}}
"""
    kernel = read(text).kernel
    for captured, total in ((0, 10.0), (1, 111.0)):
        values = {"rng.seed_": 7, "rng.offset_": 3, "rng.offset_intragraph_": 1, "rng.captured_": captured}
        given = {p.name: values[p.name] for p in kernel.params}
        filled: dict[str, list[float]] = {"x": [*map(float, range(64))], "rng.__w_seed": [100], "rng.__w_offset": [10]}
        arrays = run(kernel, (64, 1, 1), (1, 1, 1), given, filled).arrays
        assert [arrays["y"][i] for i in range(4)] == [2016.0, 3.0, total, 2147483648.0]


def test_a_block_reduces_what_a_source_says_how_to_combine(read: Read) -> None:
    text = f"""{HELPERS}
namespace at::native {{
struct Most {{
  C10_DEVICE float combine(float a, float b) const __ubsan_ignore_undefined__ {{ return a < b ? b : a; }}
  C10_DEVICE float warp_shfl_down(float v, int d) const {{ return WARP_SHFL_DOWN(v, d); }}
}};
__global__ void k(const float *x, float *y) {{
  __shared__ float s[32];
  float v = x[threadIdx.x];
  CUDA_KERNEL_ASSERT_MSG(!at::_isnan(v), "a number");
  float most = cuda_utils::BlockReduce(v, Most(), -1.f, s), same = cuda_utils::BlockReduceMax(v, s);
  if (threadIdx.x == 0) {{ y[0] = most; y[1] = same; }}
}}
}}
"""
    kernel = read(text).kernel
    filled: dict[str, list[float]] = {"x": [float(5 * i % 64) for i in range(64)]}
    arrays = run(kernel, (64, 1, 1), (1, 1, 1), {}, filled).arrays
    assert [arrays["y"][i] for i in range(2)] == [63.0, 63.0]


def test_a_vector_that_a_function_loads_is_one_access(read: Read) -> None:
    text = """#include <ATen/native/cuda/MemoryAccess.cuh>
__global__ void k(const float *x, float *y) {
  auto v = at::native::memory::load_vector<2>(x, threadIdx.x);
  y[threadIdx.x] = v.val[1];
}"""
    (whole,) = [a for a in read(text).kernel.arrays if a.name.startswith("x.as")]
    assert whole.width == 8
    assert show_stmt(read(text).kernel.body).count(f"{whole.name}[i * 2]") == 1


def test_functions_on_numbers_of_two_bytes(read: Read) -> None:
    """Functions of all take them for float; those of std give the type that they take. The widths count bytes."""
    text = """#include <torch/extension.h>
template <class T> __global__ void k(const T *x, char *y) {
  T z = -x[0];
  y[sizeof(exp(z))] = y[10 + sizeof(std::exp(z))] = 1.0 / (1.0 + exp(z)) + max(z, x[1]) + pow(z, z) + tanh(z);
}
void host(at::Tensor x) { k<at::Half><<<1, 1>>>(0, 0); k<at::BFloat16><<<1, 1>>>(0, 0); k<double><<<1, 1>>>(0, 0); }
"""
    for name, widths in (("half", "4 12"), ("__nv_bfloat16", "4 12"), ("double", "8 18")):
        body = show_stmt(read(text, None, instantiate=f"k<{name}>").kernel.body)
        assert all(f"y[{at}] <- " in body for at in widths.split()), body


def test_an_array_of_offsets_is_one_of_a_thread(read: Read) -> None:
    text = "#include <ATen/ATen.h>\nusing Offsets = at::detail::Array<unsigned, 2>;\n"
    text += "__device__ Offsets offsets(unsigned i) { Offsets o(i); o[1] = 2 * i; return o; }\n"
    text += "__global__ void k(int *A) { auto o = offsets(threadIdx.x); A[o[0]] = A[o[1]] + o.size(); }\n"
    assert show_stmt(read(text).kernel.body).endswith("? o.data_0 : o.data_1] + 2;")
