/* More of CUB's primitives: loads, stores and exchanges of warps, and what threads of a block get of their neighbours. */
#pragma once
extern "C++" {
namespace cub {

/* --- warps: the same, by lanes; a warp has room of its own, in which words are left out at the end only -------------------------- */

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };
template <class T, int N, int L = 32, WarpExchangeAlgorithm A = WARP_EXCHANGE_SMEM> struct WarpExchange { __w_OURS(WarpExchange)
  struct TempStorage { __w_OURS(TempStorage) T __w_part[N * L + 1 + (N > 4 && (N & (N - 1)) == 0 ? (N * L + 1) >> 5 : 0)]; };
  TempStorage *__w_at;
  __device__ WarpExchange(TempStorage &s) : __w_at(&s) {}
  __device__ void BlockedToStriped(const T (&in)[N], T (&out)[N]) const {
    if (A != WARP_EXCHANGE_SMEM) __w_algorithm();
    for (int i = 0; i < N; i++) __w_at->__w_part[(int)(__w_thread() % L) * N + i] = in[i];
    __syncwarp();
    for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[i * L + (int)(__w_thread() % L)];
  }
  __device__ void StripedToBlocked(const T (&in)[N], T (&out)[N]) const {
    if (A != WARP_EXCHANGE_SMEM) __w_algorithm();
    for (int i = 0; i < N; i++) __w_at->__w_part[i * L + (int)(__w_thread() % L)] = in[i];
    __syncwarp();
    for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[(int)(__w_thread() % L) * N + i];
  }
  template <class R> __device__ void ScatterToStriped(const T (&in)[N], T (&out)[N], R (&ranks)[N]) const {
    for (int i = 0; i < N; i++) __w_at->__w_part[ranks[i]] = in[i];
    __syncwarp();
    for (int i = 0; i < N; i++) out[i] = __w_at->__w_part[i * L + (int)(__w_thread() % L)];
  }
  template <class R> __device__ void ScatterToStriped(T (&items)[N], R (&ranks)[N]) const {
    ScatterToStriped(items, items, ranks);
  }
};
enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };
enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };
template <class T, int N, WarpLoadAlgorithm A = WARP_LOAD_DIRECT, int L = 32> struct __w_SIZED WarpLoad { __w_OURS(WarpLoad)
  typedef WarpExchange<T, A == WARP_LOAD_TRANSPOSE ? N : 1, L> __w_exchange;
  typedef typename __w_exchange::TempStorage TempStorage;
  TempStorage *__w_at;
  __device__ WarpLoad(TempStorage &s) : __w_at(&s) {}
  __device__ void __w_turned(T (&items)[N]) const {
    typedef WarpExchange<T, N, L> E;
    E e(*(typename E::TempStorage *)__w_at);
    e.StripedToBlocked(items, items);
  }
  __device__ void Load(const T *from, T (&items)[N]) const {
    if (A == WARP_LOAD_STRIPED || A == WARP_LOAD_TRANSPOSE) LoadDirectStriped<L>(__w_thread() % L, from, items);
    else LoadDirectBlocked(__w_thread() % L, from, items);
    if (A == WARP_LOAD_TRANSPOSE) __w_turned(items);
  }
  __device__ void Load(const T *from, T (&items)[N], int valid) const {
    if (A == WARP_LOAD_STRIPED || A == WARP_LOAD_TRANSPOSE) LoadDirectStriped<L>(__w_thread() % L, from, items, valid);
    else LoadDirectBlocked(__w_thread() % L, from, items, valid);
    if (A == WARP_LOAD_TRANSPOSE) __w_turned(items);
  }
  __device__ void Load(const T *from, T (&items)[N], int valid, T other) const {
    for (int i = 0; i < N; i++) items[i] = other;
    Load(from, items, valid);
  }
};
template <class T, int N, WarpStoreAlgorithm A = WARP_STORE_DIRECT, int L = 32> struct __w_SIZED WarpStore { __w_OURS(WarpStore)
  typedef WarpExchange<T, A == WARP_STORE_TRANSPOSE ? N : 1, L> __w_exchange;
  typedef typename __w_exchange::TempStorage TempStorage;
  TempStorage *__w_at;
  __device__ WarpStore(TempStorage &s) : __w_at(&s) {}
  __device__ void __w_turned(T (&items)[N]) const {
    typedef WarpExchange<T, N, L> E;
    E e(*(typename E::TempStorage *)__w_at);
    e.BlockedToStriped(items, items);
  }
  __device__ void Store(T *to, T (&items)[N]) const {
    if (A == WARP_STORE_TRANSPOSE) __w_turned(items);
    if (A == WARP_STORE_STRIPED || A == WARP_STORE_TRANSPOSE) StoreDirectStriped<L>(__w_thread() % L, to, items);
    else StoreDirectBlocked(__w_thread() % L, to, items);
  }
  __device__ void Store(T *to, T (&items)[N], int valid) const {
    if (A == WARP_STORE_TRANSPOSE) __w_turned(items);
    if (A == WARP_STORE_STRIPED || A == WARP_STORE_TRANSPOSE) StoreDirectStriped<L>(__w_thread() % L, to, items, valid);
    else StoreDirectBlocked(__w_thread() % L, to, items, valid);
  }
};

/* --- blocks: what threads get of their neighbours: each writes an item to shared memory, and reads one ------------- */

template <class T, int X, int Y = 1, int Z = 1, int P = 0> struct __w_SIZED BlockShuffle { __w_OURS(BlockShuffle)
  struct __w_SIZED TempStorage { __w_OURS(TempStorage) T __w_part[X * Y * Z]; };
  TempStorage *__w_at;
  __device__ BlockShuffle(TempStorage &s) : __w_at(&s) {}
  __device__ void __w_put(T v) const {
    __w_at->__w_part[__w_thread()] = v;
    __syncthreads();
  }
  __device__ void Offset(T v, T &out, int distance = 1) const {
    __w_put(v);
    int other = (int)__w_thread() + distance;
    if (other >= 0 && other < X * Y * Z) out = __w_at->__w_part[other];
  }
  __device__ void Rotate(T v, T &out, unsigned distance = 1) const {
    __w_put(v);
    unsigned other = __w_thread() + distance;
    out = __w_at->__w_part[other >= X * Y * Z ? other - X * Y * Z : other];
  }
  template <int N> __device__ void Up(T (&in)[N], T (&before)[N]) const {
    __w_put(in[N - 1]);
    for (int i = N - 1; i > 0; i--) before[i] = in[i - 1];
    if (__w_thread() > 0) before[0] = __w_at->__w_part[__w_thread() - 1];
  }
  template <int N> __device__ void Up(T (&in)[N], T (&before)[N], T &last) const {
    Up(in, before);
    last = __w_at->__w_part[X * Y * Z - 1];
  }
  template <int N> __device__ void Down(T (&in)[N], T (&after)[N]) const {
    __w_put(in[0]);
    for (int i = 0; i < N - 1; i++) after[i] = in[i + 1];
    if (__w_thread() < X * Y * Z - 1) after[N - 1] = __w_at->__w_part[__w_thread() + 1];
  }
  template <int N> __device__ void Down(T (&in)[N], T (&after)[N], T &first) const {
    Down(in, after);
    first = __w_at->__w_part[0];
  }
};
template <class T, int X, int Y = 1, int Z = 1, int P = 0> struct __w_SIZED BlockAdjacentDifference { __w_OURS(BlockAdjacentDifference)
  struct __w_SIZED TempStorage { __w_OURS(TempStorage) T __w_part[X * Y * Z]; };
  TempStorage *__w_at;
  __device__ BlockAdjacentDifference(TempStorage &s) : __w_at(&s) {}
  __device__ void __w_put(T v) const {
    __w_at->__w_part[__w_thread()] = v;
    __syncthreads();
  }
  template <int N, class O, class F> __device__ void SubtractLeft(T (&in)[N], O (&out)[N], F op) const {
    __w_put(in[N - 1]);
    for (int i = N - 1; i > 0; i--) out[i] = op(in[i], in[i - 1]);
    if (__w_thread() == 0) out[0] = in[0];
    else out[0] = op(in[0], __w_at->__w_part[__w_thread() - 1]);
  }
  template <int N, class O, class F> __device__ void SubtractLeft(T (&in)[N], O (&out)[N], F op, T before) const {
    __w_put(in[N - 1]);
    for (int i = N - 1; i > 0; i--) out[i] = op(in[i], in[i - 1]);
    if (__w_thread() > 0) before = __w_at->__w_part[__w_thread() - 1];
    out[0] = op(in[0], before);
  }
  template <int N, class O, class F>
  __device__ void SubtractLeftPartialTile(T (&in)[N], O (&out)[N], F op, int valid) const {
    __w_put(in[N - 1]);
    int first = (int)__w_thread() * N;
    for (int i = N - 1; i > 0; i--)
      if (first + i < valid) out[i] = op(in[i], in[i - 1]);
      else out[i] = in[i];
    if (first == 0 || valid <= first) out[0] = in[0];
    else out[0] = op(in[0], __w_at->__w_part[__w_thread() - 1]);
  }
  template <int N, class O, class F> __device__ void SubtractRight(T (&in)[N], O (&out)[N], F op) const {
    __w_put(in[0]);
    for (int i = 0; i < N - 1; i++) out[i] = op(in[i], in[i + 1]);
    if (__w_thread() == X * Y * Z - 1) out[N - 1] = in[N - 1];
    else out[N - 1] = op(in[N - 1], __w_at->__w_part[__w_thread() + 1]);
  }
  template <int N, class O, class F> __device__ void SubtractRight(T (&in)[N], O (&out)[N], F op, T after) const {
    __w_put(in[0]);
    for (int i = 0; i < N - 1; i++) out[i] = op(in[i], in[i + 1]);
    if (__w_thread() < X * Y * Z - 1) after = __w_at->__w_part[__w_thread() + 1];
    out[N - 1] = op(in[N - 1], after);
  }
  template <int N, class O, class F>
  __device__ void SubtractRightPartialTile(T (&in)[N], O (&out)[N], F op, int valid) const {
    __w_put(in[0]);
    int first = (int)__w_thread() * N;
    for (int i = 0; i < N - 1; i++)
      if (first + i + 1 < valid) out[i] = op(in[i], in[i + 1]);
      else out[i] = in[i];
    if (first + N < valid) out[N - 1] = op(in[N - 1], __w_at->__w_part[__w_thread() + 1]);
    else out[N - 1] = in[N - 1];
  }
};
template <class T, int X, int Y = 1, int Z = 1, int P = 0> struct __w_SIZED BlockDiscontinuity { __w_OURS(BlockDiscontinuity)
  struct __w_SIZED TempStorage { __w_OURS(TempStorage) T __w_first[X * Y * Z]; T __w_last[X * Y * Z]; };
  TempStorage *__w_at;
  __device__ BlockDiscontinuity(TempStorage &s) : __w_at(&s) {}
  template <int N, class B, class F> __device__ void __w_heads(B (&flags)[N], T (&in)[N], F op) const {
    if (__w_thread() == 0) flags[0] = 1;
    else flags[0] = op(__w_at->__w_last[__w_thread() - 1], in[0]);
    for (int i = 1; i < N; i++) flags[i] = op(in[i - 1], in[i]);
  }
  template <int N, class B, class F> __device__ void __w_heads(B (&flags)[N], T (&in)[N], F op, T before) const {
    if (__w_thread() > 0) before = __w_at->__w_last[__w_thread() - 1];
    flags[0] = op(before, in[0]);
    for (int i = 1; i < N; i++) flags[i] = op(in[i - 1], in[i]);
  }
  template <int N, class B, class F> __device__ void __w_tails(B (&flags)[N], T (&in)[N], F op) const {
    if (__w_thread() == X * Y * Z - 1) flags[N - 1] = 1;
    else flags[N - 1] = op(in[N - 1], __w_at->__w_first[__w_thread() + 1]);
    for (int i = 0; i < N - 1; i++) flags[i] = op(in[i], in[i + 1]);
  }
  template <int N, class B, class F> __device__ void __w_tails(B (&flags)[N], T (&in)[N], F op, T after) const {
    if (__w_thread() < X * Y * Z - 1) after = __w_at->__w_first[__w_thread() + 1];
    flags[N - 1] = op(in[N - 1], after);
    for (int i = 0; i < N - 1; i++) flags[i] = op(in[i], in[i + 1]);
  }
  template <int N, class B, class F, class... S>
  __device__ void FlagHeads(B (&flags)[N], T (&in)[N], F op, S... before) const {
    __w_at->__w_last[__w_thread()] = in[N - 1];
    __syncthreads();
    __w_heads(flags, in, op, before...);
  }
  template <int N, class B, class F, class... S>
  __device__ void FlagTails(B (&flags)[N], T (&in)[N], F op, S... after) const {
    __w_at->__w_first[__w_thread()] = in[0];
    __syncthreads();
    __w_tails(flags, in, op, after...);
  }
  template <int N, class B, class F>
  __device__ void FlagHeadsAndTails(B (&heads)[N], B (&tails)[N], T (&in)[N], F op) const {
    __w_at->__w_first[__w_thread()] = in[0];
    __w_at->__w_last[__w_thread()] = in[N - 1];
    __syncthreads();
    __w_heads(heads, in, op);
    __w_tails(tails, in, op);
  }
};
}
}
