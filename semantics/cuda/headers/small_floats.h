/* What CUDA's headers for numbers of 8, 6 and 4 bits share: a structure that holds one, two or four of them as bits S,
   made from numbers of other types, and these made from it. Nothing here has a body. */
#pragma once
#include "cuda_fp16.h"
#include "cuda_bf16.h"
#define __w_F __host__ __device__
#define __w_ONE(T, S) struct T { __w_LIBRARY \
  S __x; T() = default; \
  __w_F explicit T(float); __w_F explicit T(double); __w_F explicit T(half); __w_F explicit T(nv_bfloat16); \
  __w_F explicit T(int); __w_F explicit T(unsigned); __w_F explicit T(long); __w_F explicit T(unsigned long); \
  __w_F explicit T(short); __w_F explicit T(unsigned short); __w_F explicit T(long long); \
  __w_F explicit T(unsigned long long); \
  __w_F explicit operator float() const; __w_F explicit operator double() const; __w_F explicit operator half() const; \
  __w_F explicit operator nv_bfloat16() const; __w_F explicit operator bool() const; __w_F explicit operator int() const; \
  __w_F explicit operator char() const; __w_F explicit operator signed char() const; \
  __w_F explicit operator unsigned char() const; __w_F explicit operator short() const; \
  __w_F explicit operator unsigned short() const; __w_F explicit operator unsigned() const; \
  __w_F explicit operator long long() const; __w_F explicit operator unsigned long long() const; };
#define __w_TWO(T, S) struct __align__(sizeof(S)) T { __w_LIBRARY \
  S __x; T() = default; __w_F explicit T(float2); __w_F explicit T(double2); __w_F explicit T(half2); \
  __w_F explicit T(nv_bfloat162); __w_F explicit operator float2() const; __w_F explicit operator half2() const; };
#define __w_FOUR(T, S) struct __align__(sizeof(S)) T { __w_LIBRARY \
  S __x; T() = default; __w_F explicit T(float4); __w_F explicit T(double4); __w_F explicit T(half2, half2); \
  __w_F explicit T(nv_bfloat162, nv_bfloat162); __w_F explicit operator float4() const; };
#define __w_SMALL(B, S, S2, S4) \
  typedef S __nv_##B##_storage_t; typedef S2 __nv_##B##x2_storage_t; typedef S4 __nv_##B##x4_storage_t;
#define __w_CONVERTED(B, ...) \
  __w_F __nv_##B##_storage_t __nv_cvt_float_to_##B(float, __VA_ARGS__); \
  __w_F __nv_##B##_storage_t __nv_cvt_double_to_##B(double, __VA_ARGS__); \
  __w_F __nv_##B##_storage_t __nv_cvt_halfraw_to_##B(__half_raw, __VA_ARGS__); \
  __w_F __nv_##B##_storage_t __nv_cvt_bfloat16raw_to_##B(__nv_bfloat16_raw, __VA_ARGS__); \
  __w_F __nv_##B##x2_storage_t __nv_cvt_float2_to_##B##x2(float2, __VA_ARGS__); \
  __w_F __nv_##B##x2_storage_t __nv_cvt_double2_to_##B##x2(double2, __VA_ARGS__); \
  __w_F __nv_##B##x2_storage_t __nv_cvt_halfraw2_to_##B##x2(__half2_raw, __VA_ARGS__); \
  __w_F __nv_##B##x2_storage_t __nv_cvt_bfloat16raw2_to_##B##x2(__nv_bfloat162_raw, __VA_ARGS__); \
  __w_F __half_raw __nv_cvt_##B##_to_halfraw(__nv_##B##_storage_t, __nv_##B##_interpretation_t); \
  __w_F __half2_raw __nv_cvt_##B##x2_to_halfraw2(__nv_##B##x2_storage_t, __nv_##B##_interpretation_t);
#define __w_ALL(B, F) __w_ONE(__nv_##B##_##F, __nv_##B##_storage_t) __w_TWO(__nv_##B##x2_##F, __nv_##B##x2_storage_t) \
  __w_FOUR(__nv_##B##x4_##F, __nv_##B##x4_storage_t)
extern "C++" {
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
}
