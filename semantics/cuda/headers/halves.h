/* What CUDA's headers for half precision share: a type T of two bytes, a structure T2 of two of them, and their
   functions. Nothing here has a body. */
#pragma once
#define HALVES(T, T2, TO, OF, TO2) \
  extern "C++" { \
  typedef __fp16 T; typedef __fp16 __##T; \
  struct __align__(4) T2 { T x, y; }; \
  typedef T2 __##T2; \
  __host__ __device__ T TO(float); __host__ __device__ float OF(T); __host__ __device__ T2 TO2(T, T); \
  __host__ __device__ T __hadd(T, T); __host__ __device__ T __hsub(T, T); __host__ __device__ T __hmul(T, T); \
  __host__ __device__ T __hdiv(T, T); __host__ __device__ T __hfma(T, T, T); __host__ __device__ T __hneg(T); \
  __host__ __device__ T __habs(T); __host__ __device__ T __hmax(T, T); __host__ __device__ T __hmin(T, T); \
  __host__ __device__ T hexp(T); __host__ __device__ T hlog(T); __host__ __device__ T hsqrt(T); \
  __host__ __device__ T hrsqrt(T); \
  __host__ __device__ bool __hgt(T, T); __host__ __device__ bool __hlt(T, T); __host__ __device__ bool __hge(T, T); \
  __host__ __device__ bool __hle(T, T); __host__ __device__ bool __heq(T, T); \
  __host__ __device__ T2 __hadd2(T2, T2); __host__ __device__ T2 __hsub2(T2, T2); \
  __host__ __device__ T2 __hmul2(T2, T2); __host__ __device__ T2 __hfma2(T2, T2, T2); \
  __host__ __device__ T __low2half(T2); __host__ __device__ T __high2half(T2); \
  __host__ __device__ float __low2float(T2); __host__ __device__ float __high2float(T2); \
  }
