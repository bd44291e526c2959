/* What kernels use of CUDA's header of this name. */
#pragma once
#include "halves.h"
HALVES(half, half2, __float2half, __half2float, __halves2half2)
extern "C++" {
__host__ __device__ half __float2half_rn(float); __host__ __device__ half2 make_half2(half, half);
__host__ __device__ half2 __float2half2_rn(float); __host__ __device__ half2 __floats2half2_rn(float, float);
__host__ __device__ float2 __half22float2(half2); __host__ __device__ half __int2half_rn(int);
__host__ __device__ int __half2int_rn(half);
}
