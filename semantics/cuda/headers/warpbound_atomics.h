/* Atomic functions. What they are on is a read and a write of it; `semantics.cuda.shim` has their operators. Those of a
   block, of a device and of a system cost the same. */
#pragma once
#pragma push_macro("ATOMIC")
#pragma push_macro("NUMBERS")
#pragma push_macro("PLACED")
extern "C++" {
#define ATOMIC(F, T) __device__ T F(T *, T); __device__ T F##_block(T *, T); __device__ T F##_system(T *, T);
#define NUMBERS(F) ATOMIC(F, int) ATOMIC(F, unsigned) ATOMIC(F, unsigned long long)
NUMBERS(atomicAdd) ATOMIC(atomicAdd, float) ATOMIC(atomicAdd, double)
ATOMIC(atomicAdd, float2) ATOMIC(atomicAdd, float4)
ATOMIC(atomicSub, int) ATOMIC(atomicSub, unsigned)
NUMBERS(atomicExch) ATOMIC(atomicExch, float)
NUMBERS(atomicMin) ATOMIC(atomicMin, long long) NUMBERS(atomicMax) ATOMIC(atomicMax, long long)
NUMBERS(atomicAnd) NUMBERS(atomicOr) NUMBERS(atomicXor)
ATOMIC(atomicInc, unsigned) ATOMIC(atomicDec, unsigned)
#undef ATOMIC
#define ATOMIC(T) __device__ T atomicCAS(T *, T, T); __device__ T atomicCAS_block(T *, T, T); \
  __device__ T atomicCAS_system(T *, T, T);
ATOMIC(int) ATOMIC(unsigned) ATOMIC(unsigned long long) ATOMIC(unsigned short)

/* The same on any type, for classes of atomics; T is that of what is pointed to. */
template <class _Tp> struct __w_only { typedef _Tp type; };
template <class _Tp> struct __w_only<volatile _Tp> { typedef _Tp type; };
#define PLACED(F) template <class _Tp> __device__ typename __w_only<_Tp>::type F(_Tp *, typename __w_only<_Tp>::type);
PLACED(__w_atomic_add) PLACED(__w_atomic_sub) PLACED(__w_atomic_min) PLACED(__w_atomic_max) PLACED(__w_atomic_and)
PLACED(__w_atomic_or) PLACED(__w_atomic_xor) PLACED(__w_atomic_exch)
template <class _Tp>
__device__ typename __w_only<_Tp>::type __w_atomic_cas(_Tp *, typename __w_only<_Tp>::type, typename __w_only<_Tp>::type);

/* What nvcc has by itself: the order and the scope cost nothing. */
#undef PLACED
#define PLACED(F) template <class _Tp, class _Up> \
  __device__ _Tp __nv_atomic_fetch_##F(_Tp *p, _Up v, int, int = 0) { return __w_atomic_##F(p, (_Tp)v); }
PLACED(add) PLACED(sub) PLACED(min) PLACED(max) PLACED(and) PLACED(or) PLACED(xor)
template <class _Tp, class _Up> __device__ _Tp __nv_atomic_exchange_n(_Tp *p, _Up v, int, int = 0) {
  return __w_atomic_exch(p, (_Tp)v);
}
template <class _Tp> __device__ _Tp __nv_atomic_load_n(const _Tp *p, int, int = 0) { return __ldcv(p); }
template <class _Tp, class _Up> __device__ void __nv_atomic_store_n(_Tp *p, _Up v, int, int = 0) { *p = (_Tp)v; }
template <class _Tp, class _Up>
__device__ bool __nv_atomic_compare_exchange_n(_Tp *p, _Tp *expected, _Up v, bool, int, int, int = 0) {
  _Tp old = __w_atomic_cas(p, *expected, (_Tp)v);
  bool same = old == *expected;
  *expected = old;
  return same;
}
__device__ inline void __nv_atomic_thread_fence(int, int = 0) { __threadfence(); }
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
}
#pragma pop_macro("ATOMIC")
#pragma pop_macro("NUMBERS")
#pragma pop_macro("PLACED")
