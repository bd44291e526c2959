"""Extensions of PyTorch: which instances its macros dispatch to, and what accessors are in a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from semantics import vectorised
from semantics.cuda import Reading, choices
from semantics.grid import run

Read = Callable[..., Reading]
Write = Callable[[str], str]

SCALE: Final = """#include <torch/extension.h>
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
        (f'AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.type(), "s", {LAUNCH});', "double, float, __fp16"),
        (f'AT_DISPATCH_FLOATING_TYPES_AND2({HALVES}, x.type(), "s", {LAUNCH});', "double, float, __fp16, __bf16"),
        (f'AT_DISPATCH_INTEGRAL_TYPES(x.type(), "s", {LAUNCH});', "unsigned char, signed char, int, long long, short"),
        (NESTED, "int, long long"),
    ],
)
def test_a_dispatch_makes_an_instance_of_each_of_its_types(here: Write, dispatch: str, types: str) -> None:
    found = choices(here(SCALE.replace("DISPATCH", dispatch)))
    assert [choice.name for choice in found] == [f"scale<{t}>" for t in types.split(", ")]


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
