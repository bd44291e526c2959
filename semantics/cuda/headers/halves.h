/* What CUDA's headers for half precision share: a type T of two bytes, a structure T2 of two of them, and their
   functions, N and N2 being what T and T2 are called in the names of functions. Nothing here has a body. */
#pragma once
#define __w_H __host__ __device__
#define __w_UNARY(T, T2, F) __w_H T h##F(T); __w_H T2 h2##F(T2);
#define __w_ARITHMETIC(T, T2, F) __w_H T __h##F(T, T); __w_H T __h##F##_rn(T, T); __w_H T __h##F##_sat(T, T); \
  __w_H T2 __h##F##2(T2, T2); __w_H T2 __h##F##2_rn(T2, T2); __w_H T2 __h##F##2_sat(T2, T2);
#define __w_COMPARED(T, T2, F) __w_H bool __h##F(T, T); __w_H bool __h##F##u(T, T); __w_H T2 __h##F##2(T2, T2); \
  __w_H T2 __h##F##u2(T2, T2); __w_H bool __hb##F##2(T2, T2); __w_H bool __hb##F##u2(T2, T2); \
  __w_H unsigned __h##F##2_mask(T2, T2); __w_H unsigned __h##F##u2_mask(T2, T2);
#define __w_CHOSEN(T, T2, F) __w_H T __h##F(T, T); __w_H T __h##F##_nan(T, T); __w_H T2 __h##F##2(T2, T2); \
  __w_H T2 __h##F##2_nan(T2, T2);
#define __w_WHOLE(T, N, I, W, R) __w_H W __##N##2##I##_##R(T); __w_H T __##I##2##N##_##R(W);
#define __w_WHOLES(T, N, R) __w_WHOLE(T, N, int, int, R) __w_WHOLE(T, N, uint, unsigned, R) \
  __w_WHOLE(T, N, ll, long long, R) __w_WHOLE(T, N, ull, unsigned long long, R) __w_WHOLE(T, N, short, short, R) \
  __w_WHOLE(T, N, ushort, unsigned short, R) __w_H T __float2##N##_##R(float);
#define __w_LANES(T) __device__ T __shfl_sync(unsigned, T, int, int = 0); \
  __device__ T __shfl_up_sync(unsigned, T, unsigned, int = 0); \
  __device__ T __shfl_down_sync(unsigned, T, unsigned, int = 0); __device__ T __shfl_xor_sync(unsigned, T, int, int = 0);
#define __w_OPERATOR(T2, O) __w_H T2 operator O(T2, T2);
#define __w_UPDATE(T2, O) __w_H T2 &operator O(T2 &, T2);
#define __w_COMPARISON(T2, O) __w_H bool operator O(T2, T2);
#define HALVES(BASE, T, T2, N, N2, PAIRS) \
  extern "C++" { \
  typedef BASE T; typedef BASE __##T; \
  struct __align__(2) __##T##_raw { __w_LIBRARY unsigned short x; __w_H operator T() const; }; struct __align__(4) __##T2##_raw { __w_LIBRARY unsigned short x, y; }; \
  struct __align__(4) T2 { T x, y; __w_OURS(T2) T2() = default; __w_H T2(T, T); __w_H T2(__##T2##_raw); }; \
  typedef T2 __##T2; \
  __w_H T __float2##N(float); __w_H T __double2##N(double); __w_H float __##N##2float(T); \
  __w_H T2 __##N##2##N2(T); __w_H T2 PAIRS(T, T); __w_H T2 make_##N2(T, T); \
  __w_H T2 __float2##N2##_rn(float); __w_H T2 __floats2##N2##_rn(float, float); __w_H T2 __float22##N2##_rn(float2); \
  __w_H float2 __##N2##2float2(T2); __w_H signed char __##N##2char_rz(T); __w_H unsigned char __##N##2uchar_rz(T); \
  __w_WHOLES(T, N, rn) __w_WHOLES(T, N, rz) __w_WHOLES(T, N, rd) __w_WHOLES(T, N, ru) \
  __w_H short __##N##_as_short(T); __w_H unsigned short __##N##_as_ushort(T); __w_H T __short_as_##N(short); \
  __w_H T __ushort_as_##N(unsigned short); \
  __w_ARITHMETIC(T, T2, add) __w_ARITHMETIC(T, T2, sub) __w_ARITHMETIC(T, T2, mul) \
  __w_H T __hdiv(T, T); __w_H T2 __h2div(T2, T2); __w_H T __hneg(T); __w_H T2 __hneg2(T2); \
  __w_H T __habs(T); __w_H T2 __habs2(T2); __w_H T2 __hcmadd(T2, T2, T2); \
  __w_H T __hfma(T, T, T); __w_H T __hfma_relu(T, T, T); __w_H T __hfma_sat(T, T, T); \
  __w_H T2 __hfma2(T2, T2, T2); __w_H T2 __hfma2_relu(T2, T2, T2); __w_H T2 __hfma2_sat(T2, T2, T2); \
  __w_CHOSEN(T, T2, max) __w_CHOSEN(T, T2, min) \
  __w_COMPARED(T, T2, eq) __w_COMPARED(T, T2, ne) __w_COMPARED(T, T2, lt) __w_COMPARED(T, T2, le) \
  __w_COMPARED(T, T2, gt) __w_COMPARED(T, T2, ge) \
  __w_H bool __hisnan(T); __w_H int __hisinf(T); __w_H T2 __hisnan2(T2); \
  __w_UNARY(T, T2, ceil) __w_UNARY(T, T2, cos) __w_UNARY(T, T2, exp) __w_UNARY(T, T2, exp10) __w_UNARY(T, T2, exp2) \
  __w_UNARY(T, T2, floor) __w_UNARY(T, T2, log) __w_UNARY(T, T2, log10) __w_UNARY(T, T2, log2) \
  __w_UNARY(T, T2, rcp) __w_UNARY(T, T2, rint) __w_UNARY(T, T2, rsqrt) __w_UNARY(T, T2, sin) __w_UNARY(T, T2, sqrt) \
  __w_UNARY(T, T2, tanh) __w_UNARY(T, T2, tanh_approx) __w_UNARY(T, T2, trunc) \
  __w_H T __low2##N(T2); __w_H T __high2##N(T2); __w_H float __low2float(T2); __w_H float __high2float(T2); \
  __w_H T2 __low2##N2(T2); __w_H T2 __high2##N2(T2); __w_H T2 __lows2##N2(T2, T2); __w_H T2 __highs2##N2(T2, T2); \
  __w_H T2 __lowhigh2highlow(T2); __w_LANES(T2) \
  __device__ T atomicAdd(T *, T); __device__ T2 atomicAdd(T2 *, T2); \
  __w_OPERATOR(T2, +) __w_OPERATOR(T2, -) __w_OPERATOR(T2, *) __w_OPERATOR(T2, /) \
  __w_UPDATE(T2, +=) __w_UPDATE(T2, -=) __w_UPDATE(T2, *=) __w_UPDATE(T2, /=) \
  __w_COMPARISON(T2, ==) __w_COMPARISON(T2, !=) __w_COMPARISON(T2, <) __w_COMPARISON(T2, <=) \
  __w_COMPARISON(T2, >) __w_COMPARISON(T2, >=) __w_H T2 operator-(T2); __w_H T2 operator+(T2); \
  __w_H T2 &operator++(T2 &); __w_H T2 &operator--(T2 &); __w_H T2 operator++(T2 &, int); \
  __w_H T2 operator--(T2 &, int); \
  }
