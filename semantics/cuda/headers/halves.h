/* What CUDA's headers for half precision share: a type T of two bytes, a structure T2 of two of them, and their
   functions. Nothing here has a body. */
#pragma once
#define __w_H __host__ __device__
#define __w_MATH(T, T2, F) __w_H T h##F(T); __w_H T2 h2##F(T2);
#define __w_ARITHMETIC(T, T2, F) __w_H T __h##F(T, T); __w_H T __h##F##_rn(T, T); __w_H T __h##F##_sat(T, T); \
  __w_H T2 __h##F##2(T2, T2); __w_H T2 __h##F##2_rn(T2, T2); __w_H T2 __h##F##2_sat(T2, T2);
#define __w_COMPARED(T, T2, F) __w_H bool __h##F(T, T); __w_H bool __h##F##u(T, T); __w_H T2 __h##F##2(T2, T2); \
  __w_H T2 __h##F##u2(T2, T2); __w_H bool __hb##F##2(T2, T2); __w_H bool __hb##F##u2(T2, T2); \
  __w_H unsigned __h##F##2_mask(T2, T2); __w_H unsigned __h##F##u2_mask(T2, T2);
#define __w_CHOSEN(T, T2, F) __w_H T __h##F(T, T); __w_H T __h##F##_nan(T, T); __w_H T2 __h##F##2(T2, T2); \
  __w_H T2 __h##F##2_nan(T2, T2);
#define HALVES(T, T2, TO, OF, TO2) \
  extern "C++" { \
  typedef __fp16 T; typedef __fp16 __##T; \
  struct __align__(4) T2 { T x, y; }; \
  typedef T2 __##T2; \
  __w_H T TO(float); __w_H float OF(T); __w_H T2 TO2(T, T); \
  __w_ARITHMETIC(T, T2, add) __w_ARITHMETIC(T, T2, sub) __w_ARITHMETIC(T, T2, mul) \
  __w_H T __hdiv(T, T); __w_H T2 __h2div(T2, T2); __w_H T __hneg(T); __w_H T2 __hneg2(T2); \
  __w_H T __habs(T); __w_H T2 __habs2(T2); __w_H T2 __hcmadd(T2, T2, T2); \
  __w_H T __hfma(T, T, T); __w_H T __hfma_relu(T, T, T); __w_H T __hfma_sat(T, T, T); \
  __w_H T2 __hfma2(T2, T2, T2); __w_H T2 __hfma2_relu(T2, T2, T2); __w_H T2 __hfma2_sat(T2, T2, T2); \
  __w_CHOSEN(T, T2, max) __w_CHOSEN(T, T2, min) \
  __w_COMPARED(T, T2, eq) __w_COMPARED(T, T2, ne) __w_COMPARED(T, T2, lt) __w_COMPARED(T, T2, le) \
  __w_COMPARED(T, T2, gt) __w_COMPARED(T, T2, ge) \
  __w_H bool __hisnan(T); __w_H int __hisinf(T); __w_H T2 __hisnan2(T2); \
  __w_MATH(T, T2, ceil) __w_MATH(T, T2, cos) __w_MATH(T, T2, exp) __w_MATH(T, T2, exp10) __w_MATH(T, T2, exp2) \
  __w_MATH(T, T2, floor) __w_MATH(T, T2, log) __w_MATH(T, T2, log10) __w_MATH(T, T2, log2) __w_MATH(T, T2, rcp) \
  __w_MATH(T, T2, rint) __w_MATH(T, T2, rsqrt) __w_MATH(T, T2, sin) __w_MATH(T, T2, sqrt) __w_MATH(T, T2, tanh) \
  __w_MATH(T, T2, trunc) \
  __w_H T __low2half(T2); __w_H T __high2half(T2); __w_H float __low2float(T2); __w_H float __high2float(T2); \
  __w_H T2 __low2half2(T2); __w_H T2 __high2half2(T2); __w_H T2 __lows2half2(T2, T2); __w_H T2 __highs2half2(T2, T2); \
  __w_H T2 __lowhigh2highlow(T2); \
  }
