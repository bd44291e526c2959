/* Primitives of blocks and warps, with bodies that say what each costs, as CUB's documentation tells of its algorithms.
   docs/cuda.md has the table. Where there are others to choose from than are written here, these are refused. */
#pragma once
#include "../cuda/functional"
extern "C++" {
__device__ void __w_algorithm();
__device__ void __w_sorts();
namespace cub {

struct Sum { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
struct Difference { template <class T> __device__ T operator()(T a, T b) const { return a - b; } };
struct Max { template <class T> __device__ T operator()(T a, T b) const { return a < b ? b : a; } };
struct Min { template <class T> __device__ T operator()(T a, T b) const { return b < a ? b : a; } };
struct Equality { template <class T> __device__ bool operator()(T a, T b) const { return a == b; } };
struct Inequality { template <class T> __device__ bool operator()(T a, T b) const { return a != b; } };
template <class K, class V> struct KeyValuePair {
  typedef K Key; typedef V Value;
  K key; V value;
  __w_OURS(KeyValuePair)
  __host__ __device__ KeyValuePair() = default;
  __host__ __device__ constexpr KeyValuePair(const K &k, const V &v) : key(k), value(v) {}
};
struct ArgMax {
  template <class T> __device__ T operator()(T a, T b) const {
    bool other = b.value > a.value || (a.value == b.value && b.key < a.key);
    T c;
    c.key = other ? b.key : a.key;
    c.value = other ? b.value : a.value;
    return c;
  }
};
struct ArgMin {
  template <class T> __device__ T operator()(T a, T b) const {
    bool other = b.value < a.value || (a.value == b.value && b.key < a.key);
    T c;
    c.key = other ? b.key : a.key;
    c.value = other ? b.value : a.value;
    return c;
  }
};
struct NullType { __w_OURS(NullType) };

__device__ inline unsigned __w_thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
__device__ inline unsigned LaneId() { return __w_thread() % 32u; }
__device__ inline unsigned WarpId() { return __w_thread() / 32u; }
__device__ inline int RowMajorTid(int x, int y, int) { return (threadIdx.z * y + threadIdx.y) * x + threadIdx.x; }

/* --- warps: lanes pass their values on by shuffles, twice as far or half as far each time ------------------------- */

/* One turn: a lane takes in the one that is `d` behind or before it, if that is among the valid ones. */
template <unsigned D, unsigned N, class T, class F> __device__ T __w_down(T v, F op) {
  T w = op(v, __shfl_down_sync(0xffffffffu, v, D, N));
  return __w_thread() % N + D < N ? w : v;
}
template <unsigned D, unsigned N, class T, class F> __device__ T __w_down(T v, F op, int valid) {
  int lane = __w_thread() % N, from = lane + (int)D < valid ? lane + D : lane;
  T w = op(v, __shfl_sync(0xffffffffu, v, from, N));
  return from != lane ? w : v;
}
template <unsigned D, unsigned N, class T, class F> __device__ T __w_up(T v, F op) {
  T w = op(__shfl_up_sync(0xffffffffu, v, D, N), v);
  return __w_thread() % N >= D ? w : v;
}
template <unsigned N, class T, class F> __device__ T __w_reduce(T v, F op, int valid) {
  if (N > 1) v = __w_down<1, N>(v, op, valid);
  if (N > 2) v = __w_down<2, N>(v, op, valid);
  if (N > 4) v = __w_down<4, N>(v, op, valid);
  if (N > 8) v = __w_down<8, N>(v, op, valid);
  if (N > 16) v = __w_down<16, N>(v, op, valid);
  return v;
}
template <unsigned N, class T, class F> __device__ T __w_reduce(T v, F op) {
  if (N > 1) v = __w_down<1, N>(v, op);
  if (N > 2) v = __w_down<2, N>(v, op);
  if (N > 4) v = __w_down<4, N>(v, op);
  if (N > 8) v = __w_down<8, N>(v, op);
  if (N > 16) v = __w_down<16, N>(v, op);
  return v;
}
template <unsigned N, class T, class F> __device__ T __w_scan(T v, F op) {
  if (N > 1) v = __w_up<1, N>(v, op);
  if (N > 2) v = __w_up<2, N>(v, op);
  if (N > 4) v = __w_up<4, N>(v, op);
  if (N > 8) v = __w_up<8, N>(v, op);
  if (N > 16) v = __w_up<16, N>(v, op);
  return v;
}
/* The items of one thread, one after another. */
template <int N> struct __w_items {
  template <class T, int M, class F> __device__ static T reduced(T (&items)[M], F op) {
    T before = __w_items<N - 1>::reduced(items, op);
    return op(before, items[N - 1]);
  }
};
template <> struct __w_items<1> {
  template <class T, int M, class F> __device__ static T reduced(T (&items)[M], F) { return items[0]; }
};
template <class T, int N = 32, int A = 0> struct __w_SIZED WarpReduce { __w_OURS(WarpReduce)
  struct __w_SIZED TempStorage { __w_OURS(TempStorage)};
  __device__ WarpReduce() {}
  __device__ WarpReduce(const TempStorage &) {}
  template <class F> __device__ T Reduce(T v, F op) const { return __w_reduce<N>(v, op); }
  template <class F> __device__ T Reduce(T v, F op, int valid) const { return __w_reduce<N>(v, op, valid); }
  __device__ T Sum(T v) const { return __w_reduce<N>(v, cub::Sum()); }
  __device__ T Sum(T v, int valid) const { return __w_reduce<N>(v, cub::Sum(), valid); }
  __device__ T Max(T v) const { return __w_reduce<N>(v, cub::Max()); }
  __device__ T Min(T v) const { return __w_reduce<N>(v, cub::Min()); }
};
template <class T, int N = 32, int A = 0> struct __w_SIZED WarpScan { __w_OURS(WarpScan)
  struct __w_SIZED TempStorage { __w_OURS(TempStorage)};
  __device__ WarpScan() {}
  __device__ WarpScan(const TempStorage &) {}
  __device__ static T __w_before(T all, T first) {
    T w = __shfl_up_sync(0xffffffffu, all, 1, N);
    return __w_thread() % N == 0 ? first : w;
  }
  __device__ static T __w_total(T all) { return __shfl_sync(0xffffffffu, all, N - 1, N); }
  template <class F> __device__ void InclusiveScan(T v, T &out, F op) const { out = __w_scan<N>(v, op); }
  template <class F> __device__ void InclusiveScan(T v, T &out, F op, T &total) const {
    T all = __w_scan<N>(v, op);
    out = all;
    total = __w_total(all);
  }
  __device__ void InclusiveSum(T v, T &out) const { out = __w_scan<N>(v, cub::Sum()); }
  __device__ void InclusiveSum(T v, T &out, T &total) const { InclusiveScan(v, out, cub::Sum(), total); }
  template <class F> __device__ void ExclusiveScan(T v, T &out, T first, F op) const {
    T all = __w_scan<N>(v, op);
    out = __w_before(op(first, all), first);
  }
  template <class F> __device__ void ExclusiveScan(T v, T &out, T first, F op, T &total) const {
    T all = __w_scan<N>(v, op);
    out = __w_before(op(first, all), first);
    total = __w_total(all);
  }
  __device__ void ExclusiveSum(T v, T &out) const {
    T all = __w_scan<N>(v, cub::Sum());
    out = __w_before(all, T());
  }
  __device__ void ExclusiveSum(T v, T &out, T &total) const {
    T all = __w_scan<N>(v, cub::Sum());
    out = __w_before(all, T());
    total = __w_total(all);
  }
  __device__ T Broadcast(T v, unsigned lane) const { return __shfl_sync(0xffffffffu, v, lane, N); }
};

/* --- blocks: reductions ------------------------------------------------------------------------------------------ */

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };

/* By warps: each reduces by shuffles, its first lane writes what comes out, and the first thread takes in those of all.
   By raking: all threads write, those of one warp go through a part each and reduce what comes out by shuffles. Where the
   order does not matter and all warps are whole, the first one keeps its values. */
template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int P = 0>
struct __w_SIZED BlockReduce { __w_OURS(BlockReduce)
  static constexpr int __w_threads = X * Y * Z, __w_warps = (__w_threads + 31) / 32;
  static constexpr bool __w_rakes = A != BLOCK_REDUCE_WARP_REDUCTIONS && __w_threads > 32;
  static constexpr int __w_first = A == BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY && __w_threads % 32 == 0 ? 32 : 0;
  static constexpr int __w_length = (__w_threads - __w_first + 31) / 32;
  static constexpr int __w_apart = __w_length % 2 == 0 && __w_length > 2 ? __w_length + 1 : __w_length;
  struct __w_SIZED TempStorage { __w_OURS(TempStorage) T __w_part[__w_rakes ? 32 * __w_apart : __w_warps]; };
  TempStorage *__w_at;
  __device__ BlockReduce(TempStorage &s) : __w_at(&s) {}
  template <bool ALL, class F> __device__ T __w_raked(T v, F op, int valid) const {
    int thread = __w_thread(), at = thread - __w_first, place = at / __w_length * __w_apart + at % __w_length;
    if (__w_first == 0) __w_at->__w_part[place] = v;
    else if (thread >= __w_first) __w_at->__w_part[place] = v;
    __syncthreads();
    if (thread < 32) {
      if (__w_first == 0) v = __w_at->__w_part[thread * __w_apart];
      for (int i = __w_first == 0; i < __w_length; i++)
        if (ALL && __w_threads % 32 == 0) v = op(v, __w_at->__w_part[thread * __w_apart + i]);
        else if (thread * __w_length + i < valid - __w_first) v = op(v, __w_at->__w_part[thread * __w_apart + i]);
      v = __w_reduce<32>(v, op, __w_first == 0 ? (valid + __w_length - 1) / __w_length : valid);
    }
    return v;
  }
  template <class F> __device__ T __w_joined(T own, F op, int valid) const {
    unsigned thread = __w_thread();
    if (!__w_rakes && __w_warps > 1) {
      if (thread % 32 == 0) __w_at->__w_part[thread / 32] = own;
      __syncthreads();
      if (thread == 0)
        for (int i = 1; i < __w_warps; i++)
          if (i * 32 < valid) own = op(own, __w_at->__w_part[i]);
    }
    return own;
  }
  template <class F> __device__ T Reduce(T v, F op) const {
    if (__w_rakes) v = __w_raked<true>(v, op, __w_threads);
    else if (__w_threads % 32) v = __w_reduce<32>(v, op, __w_threads - (int)(__w_thread() / 32 * 32));
    else v = __w_reduce<32>(v, op);
    return __w_joined(v, op, __w_threads);
  }
  template <class F> __device__ T Reduce(T v, F op, int valid) const {
    if (__w_rakes) v = __w_raked<false>(v, op, valid);
    else v = __w_reduce<32>(v, op, valid - (int)(__w_thread() / 32 * 32));
    return __w_joined(v, op, valid);
  }
  template <int N, class F> __device__ T Reduce(T (&items)[N], F op) const {
    T v = __w_items<N>::reduced(items, op);
    return Reduce(v, op);
  }
  __device__ T Sum(T v) const { return Reduce(v, cub::Sum()); }
  __device__ T Sum(T v, int valid) const { return Reduce(v, cub::Sum(), valid); }
  template <int N> __device__ T Sum(T (&items)[N]) const { return Reduce(items, cub::Sum()); }
};

/* --- blocks: scans ------------------------------------------------------------------------------------------------ */

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

/* By raking: all threads write, those of one warp go through a part each, scan what comes out by shuffles, and go
   through their part again. Parts of an even length are apart by one element more. By warps: each scans by shuffles, its
   last lane writes the total, and all threads go through the totals. */
template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int P = 0> struct __w_SIZED BlockScan { __w_OURS(BlockScan)
  static constexpr int __w_threads = X * Y * Z, __w_warps = (__w_threads + 31) / 32;
  static constexpr bool __w_rakes = A != BLOCK_SCAN_WARP_SCANS && __w_threads > 32;
  static constexpr int __w_length = (__w_threads + 31) / 32, __w_rakers = (__w_threads + __w_length - 1) / __w_length;
  static constexpr int __w_apart = __w_length % 2 == 0 && __w_length > 2 ? __w_length + 1 : __w_length;
  struct __w_SIZED TempStorage { __w_OURS(TempStorage) T __w_part[__w_rakes ? 32 * __w_apart : __w_warps]; T __w_total; T __w_first; };
  TempStorage *__w_at;
  __device__ BlockScan(TempStorage &s) : __w_at(&s) {}

  /* What is before each thread, where there is any, and the total. */
  template <class F> __device__ T __w_raked(T v, F op, T &total) const {
    int thread = __w_thread(), place = thread / __w_length * __w_apart + thread % __w_length;
    __w_at->__w_part[place] = v;
    __syncthreads();
    if (thread < __w_rakers) {
      T all = __w_at->__w_part[thread * __w_apart];
      for (int i = 1; i < __w_length; i++) all = op(all, __w_at->__w_part[thread * __w_apart + i]);
      T upto = __w_scan<32>(all, op);
      T before = __shfl_up_sync(0xffffffffu, upto, 1, 32);
      for (int i = 0; i < __w_length; i++) {
        T own = __w_at->__w_part[thread * __w_apart + i];
        __w_at->__w_part[thread * __w_apart + i] = before;
        before = thread + i == 0 ? own : op(before, own);
      }
      if (thread == __w_rakers - 1) __w_at->__w_total = upto;
    }
    __syncthreads();
    total = __w_at->__w_total;
    return __w_at->__w_part[place];
  }
  template <class F> __device__ T __w_warped(T v, F op, T &total) const {
    unsigned thread = __w_thread();
    T upto = __w_scan<32>(v, op);
    T before = __shfl_up_sync(0xffffffffu, upto, 1, 32);
    if (thread % 32 == 31 || thread == __w_threads - 1) __w_at->__w_part[thread / 32] = upto;
    __syncthreads();
    T all = __w_at->__w_part[0], own = all;
    for (int i = 1; i < __w_warps; i++) {
      own = i == (int)thread / 32 ? all : own;
      all = op(all, __w_at->__w_part[i]);
    }
    total = all;
    return thread < 32 ? before : thread % 32 == 0 ? own : op(own, before);
  }
  template <class F> __device__ T __w_exclusive(T v, F op, T &total) const {
    T found;
    if (__w_rakes) found = __w_raked(v, op, total);
    else found = __w_warped(v, op, total);
    return found;
  }
  /* What the first warp is told to begin with, which its first lane writes. */
  template <class C> __device__ T __w_begun(T total, C &callback) const {
    if (__w_thread() < 32) {
      T first = callback(total);
      if (__w_thread() == 0) __w_at->__w_first = first;
    }
    __syncthreads();
    return __w_at->__w_first;
  }
  template <int N, class F> __device__ void __w_after(T (&in)[N], T (&out)[N], F op, T before) const {
    for (int i = 0; i < N; i++) {
      T own = in[i];
      out[i] = before;
      before = op(before, own);
    }
  }
  template <int N, class F> __device__ void __w_upto(T (&in)[N], T (&out)[N], F op, T before, bool any) const {
    out[0] = any ? op(before, in[0]) : in[0];
    for (int i = 1; i < N; i++) out[i] = op(out[i - 1], in[i]);
  }

  template <class F> __device__ void InclusiveScan(T v, T &out, F op, T &total) const {
    T before = __w_exclusive(v, op, total);
    out = __w_thread() == 0 ? v : op(before, v);
  }
  template <class F> __device__ void InclusiveScan(T v, T &out, F op) const {
    T total;
    InclusiveScan(v, out, op, total);
  }
  template <class F, class C> __device__ void InclusiveScan(T v, T &out, F op, C &callback) const {
    T own, total;
    InclusiveScan(v, own, op, total);
    out = op(__w_begun(total, callback), own);
  }
  template <class F> __device__ void ExclusiveScan(T v, T &out, T first, F op, T &total) const {
    T before = __w_exclusive(v, op, total);
    out = __w_thread() == 0 ? first : op(first, before);
  }
  template <class F> __device__ void ExclusiveScan(T v, T &out, T first, F op) const {
    T total;
    ExclusiveScan(v, out, first, op, total);
  }
  template <class F> __device__ void ExclusiveScan(T v, T &out, F op) const {
    T total;
    out = __w_exclusive(v, op, total);
  }
  template <class F, class C> __device__ void ExclusiveScan(T v, T &out, F op, C &callback) const {
    T total, before = __w_exclusive(v, op, total), first = __w_begun(total, callback);
    out = __w_thread() == 0 ? first : op(first, before);
  }
  __device__ void InclusiveSum(T v, T &out) const { InclusiveScan(v, out, cub::Sum()); }
  __device__ void InclusiveSum(T v, T &out, T &total) const { InclusiveScan(v, out, cub::Sum(), total); }
  template <class C> __device__ void InclusiveSum(T v, T &out, C &callback) const {
    InclusiveScan(v, out, cub::Sum(), callback);
  }
  __device__ void ExclusiveSum(T v, T &out) const { ExclusiveScan(v, out, T(), cub::Sum()); }
  __device__ void ExclusiveSum(T v, T &out, T &total) const { ExclusiveScan(v, out, T(), cub::Sum(), total); }
  template <class C> __device__ void ExclusiveSum(T v, T &out, C &callback) const {
    ExclusiveScan(v, out, cub::Sum(), callback);
  }

  /* Of several items, which a thread goes through twice. */
  template <int N, class F> __device__ void InclusiveScan(T (&in)[N], T (&out)[N], F op, T &total) const {
    T before = __w_exclusive(__w_items<N>::reduced(in, op), op, total);
    __w_upto(in, out, op, before, __w_thread() != 0);
  }
  template <int N, class F> __device__ void InclusiveScan(T (&in)[N], T (&out)[N], F op) const {
    T total;
    InclusiveScan(in, out, op, total);
  }
  template <int N, class F, class C> __device__ void InclusiveScan(T (&in)[N], T (&out)[N], F op, C &callback) const {
    T before;
    ExclusiveScan(__w_items<N>::reduced(in, op), before, op, callback);
    __w_upto(in, out, op, before, true);
  }
  template <int N, class F> __device__ void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F op, T &total) const {
    T before;
    ExclusiveScan(__w_items<N>::reduced(in, op), before, first, op, total);
    __w_after(in, out, op, before);
  }
  template <int N, class F> __device__ void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F op) const {
    T total;
    ExclusiveScan(in, out, first, op, total);
  }
  template <int N, class F, class C> __device__ void ExclusiveScan(T (&in)[N], T (&out)[N], F op, C &callback) const {
    T before;
    ExclusiveScan(__w_items<N>::reduced(in, op), before, op, callback);
    __w_after(in, out, op, before);
  }
  template <int N> __device__ void InclusiveSum(T (&in)[N], T (&out)[N]) const { InclusiveScan(in, out, cub::Sum()); }
  template <int N> __device__ void InclusiveSum(T (&in)[N], T (&out)[N], T &total) const {
    InclusiveScan(in, out, cub::Sum(), total);
  }
  template <int N, class C> __device__ void InclusiveSum(T (&in)[N], T (&out)[N], C &callback) const {
    InclusiveScan(in, out, cub::Sum(), callback);
  }
  template <int N> __device__ void ExclusiveSum(T (&in)[N], T (&out)[N]) const {
    ExclusiveScan(in, out, T(), cub::Sum());
  }
  template <int N> __device__ void ExclusiveSum(T (&in)[N], T (&out)[N], T &total) const {
    ExclusiveScan(in, out, T(), cub::Sum(), total);
  }
  template <int N, class C> __device__ void ExclusiveSum(T (&in)[N], T (&out)[N], C &callback) const {
    ExclusiveScan(in, out, cub::Sum(), callback);
  }
};

/* --- blocks: exchanges: all threads write their items to shared memory in one order, and read them in another ------ */

/* Where an item is kept: of more than 4 items, if that is a power of two, one word is left out after every 32. */
template <int N> __device__ int __w_kept(int place) {
  return N > 4 && (N & (N - 1)) == 0 ? place + (place >> 5) : place;
}
template <int N> __device__ int __w_blocked(int i) { return __w_kept<N>((int)__w_thread() * N + i); }
template <int X, int N> __device__ int __w_striped(int i) { return __w_kept<N>(i * X + (int)__w_thread()); }
template <int N> __device__ int __w_warp_striped(int i) {
  return __w_kept<N>((int)(__w_thread() / 32) * 32 * N + i * 32 + (int)(__w_thread() % 32));
}
template <class T, int X, int N, bool SLICED = false, int Y = 1, int Z = 1, int P = 0> struct __w_SIZED BlockExchange { __w_OURS(BlockExchange)
  static constexpr int __w_warps = (X * Y * Z + 31) / 32, __w_count = SLICED && X * Y * Z > 32 ? 32 * N : X * Y * Z * N;
  struct __w_SIZED TempStorage { __w_OURS(TempStorage) T __w_part[N > 4 && (N & (N - 1)) == 0 ? __w_count + (__w_count >> 5) : __w_count]; };
  TempStorage *__w_at;
  __device__ BlockExchange(TempStorage &s) : __w_at(&s) {}
  __device__ void StripedToBlocked(T (&in)[N], T (&out)[N]) const {
    if (SLICED) __w_algorithm();
    for (int i = 0; i < N; i++) __w_at->__w_part[__w_striped<X * Y * Z, N>(i)] = in[i];
    __syncthreads();
    for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[__w_blocked<N>(i)];
  }
  __device__ void BlockedToStriped(T (&in)[N], T (&out)[N]) const {
    if (SLICED) __w_algorithm();
    for (int i = 0; i < N; i++) __w_at->__w_part[__w_blocked<N>(i)] = in[i];
    __syncthreads();
    for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[__w_striped<X * Y * Z, N>(i)];
  }
  /* With one warp's room, warps take turns. */
  __device__ void WarpStripedToBlocked(T (&in)[N], T (&out)[N]) const {
    if (SLICED)
      for (int slice = 0; slice < __w_warps; slice++) {
        __syncthreads();
        if (__w_thread() / 32 == slice) {
          for (int i = 0; i < N; i++) __w_at->__w_part[__w_kept<N>(i * 32 + (int)(__w_thread() % 32))] = in[i];
          __syncwarp();
          for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[__w_kept<N>((int)(__w_thread() % 32) * N + i)];
        }
      }
    else {
      for (int i = 0; i < N; i++) __w_at->__w_part[__w_warp_striped<N>(i)] = in[i];
      __syncwarp();
      for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[__w_blocked<N>(i)];
    }
  }
  __device__ void BlockedToWarpStriped(T (&in)[N], T (&out)[N]) const {
    if (SLICED)
      for (int slice = 0; slice < __w_warps; slice++) {
        if (slice > 0) __syncthreads();
        if (__w_thread() / 32 == slice) {
          for (int i = 0; i < N; i++) __w_at->__w_part[__w_kept<N>((int)(__w_thread() % 32) * N + i)] = in[i];
          __syncwarp();
          for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[__w_kept<N>(i * 32 + (int)(__w_thread() % 32))];
        }
      }
    else {
      for (int i = 0; i < N; i++) __w_at->__w_part[__w_blocked<N>(i)] = in[i];
      __syncwarp();
      for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[__w_warp_striped<N>(i)];
    }
  }
  template <class R> __device__ void ScatterToBlocked(T (&in)[N], T (&out)[N], R (&ranks)[N]) const {
    if (SLICED) __w_algorithm();
    for (int i = 0; i < N; i++) __w_at->__w_part[__w_kept<N>((int)ranks[i])] = in[i];
    __syncthreads();
    for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[__w_blocked<N>(i)];
  }
  template <class R> __device__ void ScatterToStriped(T (&in)[N], T (&out)[N], R (&ranks)[N]) const {
    if (SLICED) __w_algorithm();
    for (int i = 0; i < N; i++) __w_at->__w_part[__w_kept<N>((int)ranks[i])] = in[i];
    __syncthreads();
    for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[__w_striped<X * Y * Z, N>(i)];
  }
  template <class R> __device__ void ScatterToBlocked(T (&items)[N], R (&ranks)[N]) const {
    ScatterToBlocked(items, items, ranks);
  }
  template <class R> __device__ void ScatterToStriped(T (&items)[N], R (&ranks)[N]) const {
    ScatterToStriped(items, items, ranks);
  }
  __device__ void StripedToBlocked(T (&items)[N]) const { StripedToBlocked(items, items); }
  __device__ void BlockedToStriped(T (&items)[N]) const { BlockedToStriped(items, items); }
  __device__ void WarpStripedToBlocked(T (&items)[N]) const { WarpStripedToBlocked(items, items); }
  __device__ void BlockedToWarpStriped(T (&items)[N]) const { BlockedToWarpStriped(items, items); }
};

/* --- blocks: loads and stores -------------------------------------------------------------------------------------- */

enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };

template <class T, int N> __device__ void LoadDirectBlocked(int thread, const T *from, T (&items)[N]) {
  for (int i = 0; i < N; i++) items[i] = from[thread * N + i];
}
template <class T, int N> __device__ void LoadDirectBlocked(int thread, const T *from, T (&items)[N], int valid) {
  for (int i = 0; i < N; i++)
    if (thread * N + i < valid) items[i] = from[thread * N + i];
}
template <int X, class T, int N> __device__ void LoadDirectStriped(int thread, const T *from, T (&items)[N]) {
  for (int i = 0; i < N; i++) items[i] = from[thread + i * X];
}
template <int X, class T, int N> __device__ void LoadDirectStriped(int thread, const T *from, T (&items)[N], int valid) {
  for (int i = 0; i < N; i++)
    if (thread + i * X < valid) items[i] = from[thread + i * X];
}
template <class T, int N> __device__ void LoadDirectWarpStriped(int thread, const T *from, T (&items)[N]) {
  for (int i = 0; i < N; i++) items[i] = from[thread / 32 * 32 * N + i * 32 + thread % 32];
}
template <class T, int N> __device__ void LoadDirectWarpStriped(int thread, const T *from, T (&items)[N], int valid) {
  for (int i = 0; i < N; i++)
    if (thread / 32 * 32 * N + i * 32 + thread % 32 < valid) items[i] = from[thread / 32 * 32 * N + i * 32 + thread % 32];
}
template <class T, int N> __device__ void StoreDirectWarpStriped(int thread, T *to, T (&items)[N]) {
  for (int i = 0; i < N; i++) to[thread / 32 * 32 * N + i * 32 + thread % 32] = items[i];
}
template <class T, int N> __device__ void StoreDirectWarpStriped(int thread, T *to, T (&items)[N], int valid) {
  for (int i = 0; i < N; i++)
    if (thread / 32 * 32 * N + i * 32 + thread % 32 < valid) to[thread / 32 * 32 * N + i * 32 + thread % 32] = items[i];
}
template <class T, int N> __device__ void StoreDirectBlocked(int thread, T *to, T (&items)[N]) {
  for (int i = 0; i < N; i++) to[thread * N + i] = items[i];
}
template <class T, int N> __device__ void StoreDirectBlocked(int thread, T *to, T (&items)[N], int valid) {
  for (int i = 0; i < N; i++)
    if (thread * N + i < valid) to[thread * N + i] = items[i];
}
template <int X, class T, int N> __device__ void StoreDirectStriped(int thread, T *to, T (&items)[N]) {
  for (int i = 0; i < N; i++) to[thread + i * X] = items[i];
}
template <int X, class T, int N> __device__ void StoreDirectStriped(int thread, T *to, T (&items)[N], int valid) {
  for (int i = 0; i < N; i++)
    if (thread + i * X < valid) to[thread + i * X] = items[i];
}
/* Several items at once where the pointer is aligned, one by one where it is not: as the latter, which costs no less. */
template <class T, int N> __device__ void LoadDirectBlockedVectorized(int thread, const T *from, T (&items)[N]) {
  LoadDirectBlocked(thread, from, items);
}
template <class T, int N> __device__ void StoreDirectBlockedVectorized(int thread, T *to, T (&items)[N]) {
  StoreDirectBlocked(thread, to, items);
}
/* Transposing: the items are loaded and stored in the order in which threads meet whole sectors, and exchanged. */
template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int P = 0>
struct __w_SIZED BlockLoad { __w_OURS(BlockLoad)
  static constexpr bool __w_sliced = A == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
  static constexpr bool __w_by_warps = __w_sliced || A == BLOCK_LOAD_WARP_TRANSPOSE;
  static constexpr bool __w_turns = A == BLOCK_LOAD_TRANSPOSE || __w_by_warps;
  typedef BlockExchange<T, X, __w_turns ? N : 1, __w_sliced, Y, Z> __w_exchange;
  typedef typename __w_exchange::TempStorage TempStorage;
  TempStorage *__w_at;
  __device__ BlockLoad(TempStorage &s) : __w_at(&s) {}
  __device__ void __w_turned(T (&items)[N]) const {
    typedef BlockExchange<T, X, N, __w_sliced, Y, Z> E;
    E e(*(typename E::TempStorage *)__w_at);
    if (!__w_by_warps) e.StripedToBlocked(items, items);
    else e.WarpStripedToBlocked(items, items);
  }
  __device__ void Load(const T *from, T (&items)[N]) const {
    if (A == BLOCK_LOAD_STRIPED || A == BLOCK_LOAD_TRANSPOSE) LoadDirectStriped<X * Y * Z>(__w_thread(), from, items);
    else if (__w_by_warps) LoadDirectWarpStriped(__w_thread(), from, items);
    else LoadDirectBlocked(__w_thread(), from, items);
    if (__w_turns) __w_turned(items);
  }
  __device__ void Load(const T *from, T (&items)[N], int valid) const {
    if (A == BLOCK_LOAD_STRIPED || A == BLOCK_LOAD_TRANSPOSE)
      LoadDirectStriped<X * Y * Z>(__w_thread(), from, items, valid);
    else if (__w_by_warps) LoadDirectWarpStriped(__w_thread(), from, items, valid);
    else LoadDirectBlocked(__w_thread(), from, items, valid);
    if (__w_turns) __w_turned(items);
  }
  __device__ void Load(const T *from, T (&items)[N], int valid, T other) const {
    for (int i = 0; i < N; i++) items[i] = other;
    Load(from, items, valid);
  }
};
template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int P = 0>
struct __w_SIZED BlockStore { __w_OURS(BlockStore)
  static constexpr bool __w_sliced = A == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
  static constexpr bool __w_by_warps = __w_sliced || A == BLOCK_STORE_WARP_TRANSPOSE;
  static constexpr bool __w_turns = A == BLOCK_STORE_TRANSPOSE || __w_by_warps;
  typedef BlockExchange<T, X, __w_turns ? N : 1, __w_sliced, Y, Z> __w_exchange;
  typedef typename __w_exchange::TempStorage TempStorage;
  TempStorage *__w_at;
  __device__ BlockStore(TempStorage &s) : __w_at(&s) {}
  __device__ void __w_turned(T (&items)[N]) const {
    typedef BlockExchange<T, X, N, __w_sliced, Y, Z> E;
    E e(*(typename E::TempStorage *)__w_at);
    if (!__w_by_warps) e.BlockedToStriped(items, items);
    else e.BlockedToWarpStriped(items, items);
  }
  __device__ void Store(T *to, T (&items)[N]) const {
    if (__w_turns) __w_turned(items);
    if (A == BLOCK_STORE_STRIPED || A == BLOCK_STORE_TRANSPOSE) StoreDirectStriped<X * Y * Z>(__w_thread(), to, items);
    else if (__w_by_warps) StoreDirectWarpStriped(__w_thread(), to, items);
    else StoreDirectBlocked(__w_thread(), to, items);
  }
  __device__ void Store(T *to, T (&items)[N], int valid) const {
    if (__w_turns) __w_turned(items);
    if (A == BLOCK_STORE_STRIPED || A == BLOCK_STORE_TRANSPOSE)
      StoreDirectStriped<X * Y * Z>(__w_thread(), to, items, valid);
    else if (__w_by_warps) StoreDirectWarpStriped(__w_thread(), to, items, valid);
    else StoreDirectBlocked(__w_thread(), to, items, valid);
  }
};

/* --- blocks: sorts by digits: each thread counts its own, all counts are summed up, and items go where that says ----- */

__device__ inline unsigned __w_order(unsigned char k) { return k; }
__device__ inline unsigned __w_order(unsigned short k) { return k; }
__device__ inline unsigned __w_order(unsigned k) { return k; }
__device__ inline unsigned long __w_order(unsigned long k) { return k; }
__device__ inline unsigned long long __w_order(unsigned long long k) { return k; }
__device__ inline unsigned __w_order(char k) { return (unsigned char)k ^ 0x80u; }
__device__ inline unsigned __w_order(signed char k) { return (unsigned char)k ^ 0x80u; }
__device__ inline unsigned __w_order(short k) { return (unsigned short)k ^ 0x8000u; }
__device__ inline unsigned __w_order(int k) { return (unsigned)k ^ 0x80000000u; }
__device__ inline unsigned long __w_order(long k) { return (unsigned long)k ^ 0x8000000000000000ul; }
__device__ inline unsigned long long __w_order(long long k) { return (unsigned long long)k ^ 0x8000000000000000ull; }
__device__ inline unsigned __w_order(float k) {
  unsigned bits = __float_as_uint(k);
  return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}
__device__ inline unsigned long long __w_order(double k) {
  unsigned long long bits = __double_as_longlong(k);
  return bits ^ (bits >> 63 ? 0xffffffffffffffffull : 0x8000000000000000ull);
}
template <class V> struct __w_kind { typedef V type; };
template <> struct __w_kind<NullType> { typedef char type; };

/* A digit of B bits after another, from the lowest on. A thread has half a word for each digit, those of one thread in
   one bank, and one word more; it sums up as many words that are side by side. */
template <class K, int X, int N, class V = NullType, int B = 4, bool M = true,
  BlockScanAlgorithm A = BLOCK_SCAN_WARP_SCANS, int S = 0, int Y = 1, int Z = 1>
struct __w_SIZED BlockRadixSort { __w_OURS(BlockRadixSort)
  static constexpr int __w_threads = X * Y * Z, __w_lanes = 1 << (B - 1), __w_words = __w_lanes + 1;
  typedef typename __w_kind<V>::type __w_value;
  typedef BlockScan<unsigned, X, A, Y, Z> __w_scan;
  typedef BlockExchange<K, X, N, false, Y, Z> __w_keys;
  typedef BlockExchange<__w_value, X, N, false, Y, Z> __w_values;
  struct __w_SIZED TempStorage { __w_OURS(TempStorage)
    unsigned __w_counts[__w_words * __w_threads];
    typename __w_scan::TempStorage __w_sums;
    typename __w_keys::TempStorage __w_key;
    typename __w_values::TempStorage __w_other;
  };
  TempStorage *__w_at;
  __device__ BlockRadixSort(TempStorage &s) : __w_at(&s) {}

  /* The place of a digit's count, and how far it is from the word's low end. */
  template <bool DOWN> __device__ int __w_of(K key, int begin, int bits) const {
    int digit = (int)(__w_order(key) >> begin) & ((1 << bits) - 1);
    return DOWN ? 2 * __w_lanes - 1 - digit : digit;
  }
  __device__ unsigned &__w_count(int digit) const {
    return __w_at->__w_counts[digit % __w_lanes * __w_threads + (int)__w_thread()];
  }
  template <bool DOWN> __device__ void __w_rank(K (&keys)[N], int (&ranks)[N], int begin, int bits) const {
    int thread = __w_thread();
    unsigned sum = 0, first, all;
    for (int i = 0; i < __w_words; i++) __w_at->__w_counts[i * __w_threads + thread] = 0;
    for (int i = 0; i < N; i++) {
      int digit = __w_of<DOWN>(keys[i], begin, bits), shift = digit / __w_lanes * 16;
      unsigned word = __w_count(digit);
      ranks[i] = word >> shift & 0xffff;
      __w_count(digit) = word + (1u << shift);
    }
    __syncthreads();
    for (int i = 0; i < __w_words; i++) sum += __w_at->__w_counts[thread * __w_words + i];
    __w_scan(__w_at->__w_sums).ExclusiveSum(sum, first, all);
    first += all << 16;
    for (int i = 0; i < __w_words; i++) {
      unsigned own = __w_at->__w_counts[thread * __w_words + i];
      __w_at->__w_counts[thread * __w_words + i] = first;
      first += own;
    }
    __syncthreads();
    for (int i = 0; i < N; i++) {
      int digit = __w_of<DOWN>(keys[i], begin, bits);
      ranks[i] += __w_count(digit) >> digit / __w_lanes * 16 & 0xffff;
    }
  }
  template <class E, class T> __device__ void __w_move(const E &e, T (&items)[N], int (&ranks)[N], bool striped) const {
    __syncthreads();
    if (striped) e.ScatterToStriped(items, items, ranks);
    else e.ScatterToBlocked(items, items, ranks);
  }
  template <bool DOWN, bool STRIPED> __device__ void __w_sort(K (&keys)[N], int begin, int end) const {
    int ranks[N];
    for (; begin < end; begin += B) {
      __w_rank<DOWN>(keys, ranks, begin, end - begin < B ? end - begin : B);
      __w_move(__w_keys(__w_at->__w_key), keys, ranks, STRIPED && begin + B >= end);
      __syncthreads();
    }
  }
  template <bool DOWN, bool STRIPED>
  __device__ void __w_sort(K (&keys)[N], __w_value (&values)[N], int begin, int end) const {
    int ranks[N];
    for (; begin < end; begin += B) {
      __w_rank<DOWN>(keys, ranks, begin, end - begin < B ? end - begin : B);
      __w_move(__w_keys(__w_at->__w_key), keys, ranks, STRIPED && begin + B >= end);
      __w_move(__w_values(__w_at->__w_other), values, ranks, STRIPED && begin + B >= end);
      __syncthreads();
    }
  }
  __device__ void Sort(K (&keys)[N], int begin = 0, int end = sizeof(K) * 8) const {
    __w_sort<false, false>(keys, begin, end);
  }
  __device__ void Sort(K (&keys)[N], __w_value (&values)[N], int begin = 0, int end = sizeof(K) * 8) const {
    __w_sort<false, false>(keys, values, begin, end);
  }
  __device__ void SortDescending(K (&keys)[N], int begin = 0, int end = sizeof(K) * 8) const {
    __w_sort<true, false>(keys, begin, end);
  }
  __device__ void SortDescending(K (&keys)[N], __w_value (&values)[N], int begin = 0, int end = sizeof(K) * 8) const {
    __w_sort<true, false>(keys, values, begin, end);
  }
  __device__ void SortBlockedToStriped(K (&keys)[N], int begin = 0, int end = sizeof(K) * 8) const {
    __w_sort<false, true>(keys, begin, end);
  }
  __device__ void SortBlockedToStriped(K (&keys)[N], __w_value (&values)[N], int begin = 0, int end = sizeof(K) * 8) const {
    __w_sort<false, true>(keys, values, begin, end);
  }
  __device__ void SortDescendingBlockedToStriped(K (&keys)[N], int begin = 0, int end = sizeof(K) * 8) const {
    __w_sort<true, true>(keys, begin, end);
  }
  __device__ void SortDescendingBlockedToStriped(K (&keys)[N], __w_value (&values)[N], int begin = 0, int end = sizeof(K) * 8) const {
    __w_sort<true, true>(keys, values, begin, end);
  }
};

/* --- sorting by merging -------------------------------------------------------------------------------------------- */

/* Each thread sorts its items by exchanges of neighbours. Then groups of twice as many threads each time merge two
   sorted halves: all write their items, search for where theirs begin in both halves, and take the smaller ones. */
template <int> struct __w_size {};
struct __w_every { __device__ int upto(int place) const { return place; } };
struct __w_first { int valid; __device__ int upto(int place) const { return min(valid, place); } };
template <class K, int X, int N, class V, bool WARP> struct __w_merges {
  typedef typename __w_kind<V>::type __w_value;
  union TempStorage { __w_OURS(TempStorage) K __w_keys[X * N + 1]; __w_value __w_values[X * N + 1]; };
  __device__ static void __w_meet() { if (WARP) __syncwarp(); else __syncthreads(); }
  template <class F> __device__ static void __w_own(K (&keys)[N], F less) {
    for (int i = 0; i < N; i++)
      for (int j = i & 1; j < N - 1; j += 2)
        if (less(keys[j + 1], keys[j])) { K key = keys[j]; keys[j] = keys[j + 1]; keys[j + 1] = key; }
  }
  template <class F> __device__ static void __w_own(K (&keys)[N], __w_value (&values)[N], F less) {
    for (int i = 0; i < N; i++)
      for (int j = i & 1; j < N - 1; j += 2)
        if (less(keys[j + 1], keys[j])) {
          K key = keys[j]; keys[j] = keys[j + 1]; keys[j + 1] = key;
          __w_value value = values[j]; values[j] = values[j + 1]; values[j + 1] = value;
        }
  }
  /* What is no item becomes as large as the largest one of its thread. */
  template <class F> __device__ static void __w_filled(int thread, K (&keys)[N], F less, int valid, K last) {
    for (int i = 1; i < N; i++)
      if (N * thread + i < valid) last = less(last, keys[i]) ? keys[i] : last;
      else keys[i] = last;
  }
  /* Two halves of SIZE items each: `taken` says from where each item of this thread comes. */
  template <int SIZE, class F, class I>
  __device__ static void __w_merge(TempStorage &s, int thread, K (&keys)[N], F less, I items, int (&taken)[N]) {
    int start = thread / (2 * SIZE / N) * 2 * SIZE, at = thread % (2 * SIZE / N) * N;
    __w_meet();
    for (int i = 0; i < N; i++) s.__w_keys[N * thread + i] = keys[i];
    __w_meet();
    int first = items.upto(start), middle = items.upto(first + SIZE), end = items.upto(middle + SIZE);
    int before = items.upto(at), low = max(0, before - (end - middle)), high = min(before, middle - first);
    for (int left = SIZE; left > 0; left /= 2)
      if (low < high) {
        int half = (low + high) / 2;
        if (less(s.__w_keys[middle + before - 1 - half], s.__w_keys[first + half])) high = half;
        else low = half + 1;
      }
    int a = first + low, b = middle + before - low;
    K one = s.__w_keys[a], other = s.__w_keys[b];
    for (int i = 0; i < N; i++) {
      bool second = b < end && (a >= middle || less(other, one));
      keys[i] = second ? other : one;
      taken[i] = second ? b : a;
      if (second) { b++; other = s.__w_keys[b]; }
      else { a++; one = s.__w_keys[a]; }
    }
  }
  template <class F, class I> __device__ static void __w_all(__w_size<X * N>, TempStorage &, int, K (&)[N], F, I) {}
  template <class F, class I>
  __device__ static void __w_all(__w_size<X * N>, TempStorage &, int, K (&)[N], __w_value (&)[N], F, I) {}
  template <int SIZE, class F, class I>
  __device__ static void __w_all(__w_size<SIZE>, TempStorage &s, int thread, K (&keys)[N], F less, I items) {
    int taken[N];
    __w_merge<SIZE>(s, thread, keys, less, items, taken);
    __w_all(__w_size<2 * SIZE>(), s, thread, keys, less, items);
  }
  template <int SIZE, class F, class I>
  __device__ static void __w_all(
    __w_size<SIZE>, TempStorage &s, int thread, K (&keys)[N], __w_value (&values)[N], F less, I items) {
    int taken[N];
    __w_merge<SIZE>(s, thread, keys, less, items, taken);
    __w_meet();
    for (int i = 0; i < N; i++) s.__w_values[N * thread + i] = values[i];
    __w_meet();
    for (int i = 0; i < N; i++) values[i] = s.__w_values[taken[i]];
    __w_all(__w_size<2 * SIZE>(), s, thread, keys, values, less, items);
  }
};
#define SORTS(NAME, MERGES) \
  template <class F> __device__ void NAME(K (&keys)[N], F less) const { \
    MERGES::__w_own(keys, less); \
    MERGES::__w_all(__w_size<N>(), *__w_at, __w_who(), keys, less, __w_every()); \
  } \
  template <class F> __device__ void NAME(K (&keys)[N], F less, int valid, K last) const { \
    MERGES::__w_filled(__w_who(), keys, less, valid, last); \
    if (N * __w_who() < valid) MERGES::__w_own(keys, less); \
    MERGES::__w_all(__w_size<N>(), *__w_at, __w_who(), keys, less, __w_first{valid}); \
  } \
  template <class F> __device__ void NAME(K (&keys)[N], __w_value (&values)[N], F less) const { \
    MERGES::__w_own(keys, values, less); \
    MERGES::__w_all(__w_size<N>(), *__w_at, __w_who(), keys, values, less, __w_every()); \
  } \
  template <class F> __device__ void NAME(K (&keys)[N], __w_value (&values)[N], F less, int valid, K last) const { \
    MERGES::__w_filled(__w_who(), keys, less, valid, last); \
    if (N * __w_who() < valid) MERGES::__w_own(keys, values, less); \
    MERGES::__w_all(__w_size<N>(), *__w_at, __w_who(), keys, values, less, __w_first{valid}); \
  }
template <class K, int X, int N, class V = NullType, int Y = 1, int Z = 1> struct __w_SIZED BlockMergeSort { __w_OURS(BlockMergeSort)
  typedef __w_merges<K, X * Y * Z, N, V, false> __w_merge;
  typedef typename __w_merge::TempStorage TempStorage;
  typedef typename __w_merge::__w_value __w_value;
  TempStorage *__w_at;
  __device__ BlockMergeSort(TempStorage &s) : __w_at(&s) {}
  __device__ static int __w_who() { return __w_thread(); }
  SORTS(Sort, __w_merge) SORTS(StableSort, __w_merge)
};
template <class K, int N, int L = 32, class V = NullType, int P = 0> struct __w_SIZED WarpMergeSort { __w_OURS(WarpMergeSort)
  typedef __w_merges<K, L, N, V, true> __w_merge;
  typedef typename __w_merge::TempStorage TempStorage;
  typedef typename __w_merge::__w_value __w_value;
  TempStorage *__w_at;
  __device__ WarpMergeSort(TempStorage &s) : __w_at(&s) {}
  __device__ static int __w_who() { return __w_thread() % L; }
  SORTS(Sort, __w_merge) SORTS(StableSort, __w_merge)
};
#undef SORTS

/* --- what moves items in ways that are not said -------------------------------------------------------------------- */

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
/* By atomics: all threads set the counts to zero, and add one for each of their items. */
template <class T, int X, int N, int BINS, BlockHistogramAlgorithm A = BLOCK_HISTO_SORT, int Y = 1, int Z = 1>
struct __w_SIZED BlockHistogram { __w_OURS(BlockHistogram)
  struct __w_SIZED TempStorage { __w_OURS(TempStorage) T __w_items[X * N]; };
  __device__ BlockHistogram(TempStorage &) {}
  template <class C> __device__ void InitHistogram(C (&counts)[BINS]) const {
    for (int i = __w_thread(); i < BINS; i += X * Y * Z) counts[i] = 0;
  }
  template <class C> __device__ void Composite(T (&items)[N], C (&counts)[BINS]) const {
    if (A != BLOCK_HISTO_ATOMIC) __w_sorts();
    for (int i = 0; i < N; i++) atomicAdd(&counts[items[i]], (C)1);
  }
  template <class C> __device__ void Histogram(T (&items)[N], C (&counts)[BINS]) const {
    InitHistogram(counts);
    __syncthreads();
    Composite(items, counts);
  }
};
}
}
#include "neighbours.cuh"
