/* What kernels use of CUDA's header of this name: complex numbers, with the formulas of school. */
#pragma once
#define __w_C __host__ __device__ inline
#define __w_COMPLEX(R, T, F, C, ABS) \
  __host__ __device__ T make_##C(R, R); \
  __w_C R cuCreal##F(T a) { return a.x; } __w_C R cuCimag##F(T a) { return a.y; } \
  __w_C T cuConj##F(T a) { return make_##C(a.x, -a.y); } \
  __w_C T cuCadd##F(T a, T b) { return make_##C(a.x + b.x, a.y + b.y); } \
  __w_C T cuCsub##F(T a, T b) { return make_##C(a.x - b.x, a.y - b.y); } \
  __w_C T cuCmul##F(T a, T b) { return make_##C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } \
  __w_C T cuCfma##F(T a, T b, T c) { return make_##C(a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y); } \
  __w_C T cuCdiv##F(T a, T b) { \
    R s = b.x * b.x + b.y * b.y; \
    return make_##C((a.x * b.x + a.y * b.y) / s, (a.y * b.x - a.x * b.y) / s); \
  } \
  __w_C R cuCabs##F(T a) { return ABS(a.x, a.y); }
extern "C++" {
typedef float2 cuFloatComplex; typedef double2 cuDoubleComplex; typedef cuFloatComplex cuComplex;
__w_COMPLEX(float, cuFloatComplex, f, cuFloatComplex, hypotf)
__w_COMPLEX(double, cuDoubleComplex, , cuDoubleComplex, hypot)
__host__ __device__ cuComplex make_cuComplex(float, float);
__w_C cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return make_cuDoubleComplex(a.x, a.y); }
__w_C cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return make_cuFloatComplex(a.x, a.y); }
}
