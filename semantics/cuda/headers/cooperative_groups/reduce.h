/* Reductions by groups. Lanes of a warp pass their values to one another, half as far each time; several warps leave
   theirs in shared memory in between. */
#pragma once
#include "../cooperative_groups.h"
extern "C++" {
namespace cooperative_groups {

template <unsigned N, class P, class T, class F> __device__ T __w_lanes(const thread_block_tile<N, P> &g, T v, F op) {
  if (N > 16) v = op(v, g.shfl_xor(v, 16));
  if (N > 8) v = op(v, g.shfl_xor(v, 8));
  if (N > 4) v = op(v, g.shfl_xor(v, 4));
  if (N > 2) v = op(v, g.shfl_xor(v, 2));
  if (N > 1) v = op(v, g.shfl_xor(v, 1));
  return v;
}
template <bool LARGE> struct __w_reduced {
  template <unsigned N, class P, class T, class F>
  __device__ static T of(const thread_block_tile<N, P> &g, T v, F op) { return __w_lanes(g, v, op); }
};
template <> struct __w_reduced<true> {
  template <unsigned N, class P, class T, class F>
  __device__ static T of(const thread_block_tile<N, P> &g, T v, F op) {
    __shared__ T part[32];
    unsigned rank = thread_block::thread_rank();
    T own = __w_lanes(thread_block_tile<32, thread_block>(), v, op);
    if (rank % 32 == 0) part[rank / 32] = own;
    __syncthreads();
    T all = __w_lanes(thread_block_tile<N / 32, thread_block>(), part[rank / N * (N / 32) + rank % (N / 32)], op);
    __syncthreads();
    return all;
  }
};
template <unsigned N, class P, class T, class F> __device__ T reduce(const thread_block_tile<N, P> &g, T v, F op) {
  return __w_reduced<(N > 32)>::of(g, v, op);
}
/* The lanes of a group that are not in a row: each takes in the one `d` ranks on, and the first one has all. */
template <class T, class F> __device__ T reduce(const coalesced_group &g, T v, F op) {
  unsigned rank = g.thread_rank(), n = g.size();
  T w = op(v, g.shfl_down(v, 16)); v = rank + 16 < n ? w : v;
  w = op(v, g.shfl_down(v, 8)); v = rank + 8 < n ? w : v;
  w = op(v, g.shfl_down(v, 4)); v = rank + 4 < n ? w : v;
  w = op(v, g.shfl_down(v, 2)); v = rank + 2 < n ? w : v;
  w = op(v, g.shfl_down(v, 1)); v = rank + 1 < n ? w : v;
  return g.shfl(v, 0);
}
template <class G, class D, class T, class F> __device__ void reduce_store_async(const G &g, D *to, T v, F op) {
  T all = reduce(g, v, op);
  if (g.thread_rank() == 0) *to = all;
}
template <class G, class A, class T> __device__ void reduce_update_async(const G &g, A &to, T v, plus<T> op) {
  T all = reduce(g, v, op);
  if (g.thread_rank() == 0) to.fetch_add(all);
}
}
}
