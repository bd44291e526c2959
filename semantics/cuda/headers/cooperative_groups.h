/* Cooperative groups: what CUDA's header of this name declares, with bodies that say what each collective costs and
   what a run of it gives. docs/cuda.md has the table. Names with __w_ are ours, and what `semantics.cuda.shim` knows of
   them is said there. Sizes are those of CUDA 13, by parts without a name. */
#pragma once
extern "C++" {
__device__ void __w_grid_sync();
__device__ void __w_cluster();
__device__ void __w_grid();
__device__ void __w_one_row();
__device__ void __w_in_order();
__device__ void __w_one_warp();
__device__ unsigned __w_pack(unsigned lanes, unsigned mask);
namespace cooperative_groups {

template <unsigned N> struct __w_SIZED block_tile_memory { __w_OURS(block_tile_memory) unsigned long long __w_words[(N + 31) / 32]; };

struct thread_group;

struct __w_SIZED alignas(8) thread_block { __w_OURS(thread_block) long long : 64; long long : 64; long long : 64;
  struct arrival_token {};
  __device__ operator thread_group() const;
  __device__ static void sync() { __syncthreads(); }
  __device__ static arrival_token barrier_arrive() { return arrival_token(); }
  template <class A> __device__ static void barrier_wait(const A &) { __syncthreads(); }
  __device__ static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  __device__ static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  __device__ static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  __device__ static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
__device__ inline thread_block this_thread_block() { return thread_block(); }
template <unsigned N> __device__ thread_block this_thread_block(block_tile_memory<N> &) { return thread_block(); }

/* The lane of a thread in its warp; the lanes before it. */
__device__ inline unsigned __w_lane() { return thread_block::thread_rank() % 32u; }
__device__ inline unsigned __w_before() { return (1u << __w_lane()) - 1u; }

/* --- the grid, and clusters of blocks --------------------------------------------------------------------------- */

struct __w_SIZED alignas(8) grid_group { __w_OURS(grid_group) long long : 64; long long : 64;
  struct arrival_token {};
  __device__ static bool is_valid() { return true; }
  __device__ static void sync() { __w_grid_sync(); }
  __device__ static arrival_token barrier_arrive() { return arrival_token(); }
  template <class A> __device__ static void barrier_wait(const A &) { __w_grid_sync(); }
  __device__ static unsigned long long num_blocks() {
    __w_one_row();
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  __device__ static unsigned long long block_rank() {
    __w_one_row();
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  __device__ static unsigned long long thread_rank() {
    __w_one_row();
    return (((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) *
               (blockDim.x * blockDim.y * blockDim.z) +
           thread_block::thread_rank();
  }
  __device__ static unsigned long long num_threads() {
    __w_one_row();
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * (blockDim.x * blockDim.y * blockDim.z);
  }
  __device__ static unsigned long long size() { return num_threads(); }
  __device__ static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  __device__ static dim3 dim_threads() {
    return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  }
  __device__ static dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }
  __device__ static unsigned num_clusters() { __w_cluster(); return 0; }
  __device__ static unsigned cluster_rank() { __w_cluster(); return 0; }
  __device__ static dim3 cluster_index() { __w_cluster(); return dim3(); }
  __device__ static dim3 dim_clusters() { __w_cluster(); return dim3(); }
  __device__ static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  __device__ static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
__device__ inline grid_group this_grid() { return grid_group(); }

/* Several grids that run together: here it is the one. */
struct __w_SIZED multi_grid_group { __w_OURS(multi_grid_group)
  __device__ static bool is_valid() { return true; }
  __device__ static void sync() { __w_grid_sync(); }
  __device__ static unsigned long long thread_rank() { return grid_group::thread_rank(); }
  __device__ static unsigned long long num_threads() { return grid_group::num_threads(); }
  __device__ static unsigned long long size() { return grid_group::size(); }
  __device__ static unsigned grid_rank() { return 0; }
  __device__ static unsigned num_grids() { return 1; }
};
__device__ inline multi_grid_group this_multi_grid() { __w_grid(); return multi_grid_group(); }

/* Clusters: how many blocks one has is not known here. */
struct __w_SIZED alignas(8) cluster_group { __w_OURS(cluster_group) long long : 64; long long : 64;
  __device__ static void sync() { __w_cluster(); }
  __device__ static unsigned block_rank() { __w_cluster(); return 0; }
  __device__ static unsigned num_blocks() { __w_cluster(); return 1; }
  __device__ static unsigned thread_rank() { __w_cluster(); return 0; }
  __device__ static unsigned num_threads() { __w_cluster(); return 1; }
  __device__ static unsigned size() { __w_cluster(); return 1; }
  __device__ static dim3 block_index() { __w_cluster(); return dim3(); }
  __device__ static dim3 dim_blocks() { __w_cluster(); return dim3(); }
  __device__ static dim3 dim_threads() { __w_cluster(); return dim3(); }
  __device__ static dim3 thread_index() { __w_cluster(); return dim3(); }
  template <class T> __device__ static T *map_shared_rank(T *p, int) { __w_cluster(); return p; }
  template <class T> __device__ static unsigned query_shared_rank(const T *) { __w_cluster(); return 0; }
  __device__ static void barrier_arrive() { __w_cluster(); }
  __device__ static void barrier_wait() { __w_cluster(); }
};
__device__ inline cluster_group this_cluster() { __w_cluster(); return cluster_group(); }

/* --- threads that run together ---------------------------------------------------------------------------------- */

/* Some lanes of a warp; `__w_mask` has a bit for each. The ranks count its lanes from the lowest. */
struct __w_SIZED alignas(8) coalesced_group { __w_OURS(coalesced_group)
  unsigned __w_mask_, __w_meta, __w_metas;
  __device__ void sync() const { __syncwarp(__w_mask_); }
  __device__ unsigned num_threads() const { return __popc(__w_mask_); }
  __device__ unsigned size() const { return __popc(__w_mask_); }
  __device__ unsigned thread_rank() const { return __popc(__w_mask_ & __w_before()); }
  __device__ unsigned meta_group_rank() const { return __w_meta; }
  __device__ unsigned meta_group_size() const { return __w_metas; }
  __device__ unsigned __w_mask() const { return __w_mask_; }
  __device__ operator thread_group() const;
  /* A word with a bit for the rank of each of these lanes. */
  __device__ unsigned __w_packed(unsigned lanes) const { return __w_pack(lanes, __w_mask_); }
  template <class T> __device__ T shfl(T v, unsigned rank) const {
    return __shfl_sync(__w_mask_, v, __fns(__w_mask_, 0, rank + 1), 32);
  }
  template <class T> __device__ T shfl_down(T v, unsigned delta) const {
    unsigned at = thread_rank() + delta;
    return __shfl_sync(__w_mask_, v, at < size() ? __fns(__w_mask_, 0, at + 1) : __w_lane(), 32);
  }
  template <class T> __device__ T shfl_up(T v, unsigned delta) const {
    unsigned at = thread_rank();
    return __shfl_sync(__w_mask_, v, at >= delta ? __fns(__w_mask_, 0, at - delta + 1) : __w_lane(), 32);
  }
  __device__ int any(int p) const { return __any_sync(__w_mask_, p); }
  __device__ int all(int p) const { return __all_sync(__w_mask_, p); }
  __device__ unsigned ballot(int p) const { return __w_packed(__ballot_sync(__w_mask_, p)); }
  template <class T> __device__ unsigned match_any(T v) const { return __w_packed(__match_any_sync(__w_mask_, v)); }
  template <class T> __device__ unsigned match_all(T v, int &p) const {
    return __w_packed(__match_all_sync(__w_mask_, v, &p));
  }
};
__device__ inline coalesced_group coalesced_threads() { return {__activemask(), 0u, 1u}; }

/* Where a tile is in its parent: what a parent says whose type is known, else what was said when it was made. */
template <unsigned N, class P> struct __w_part {
  __device__ static unsigned rank() { return P::thread_rank() / N; }
  __device__ static unsigned size() { return (P::num_threads() + (N - 1)) / N; }
};
template <unsigned N> struct __w_part<N, void> {
  unsigned __w_rank, __w_size;
  __device__ unsigned rank() const { return __w_rank; }
  __device__ unsigned size() const { return __w_size; }
};

/* N threads in a row, N a power of two: lanes of a warp, or several warps. */
template <unsigned N, class P = void> struct __w_SIZED alignas(8) thread_block_tile { __w_OURS(thread_block_tile) long long : 64;
  __w_part<N, P> __w_at;
  __device__ void sync() const { if (N > 32) __syncthreads(); else __syncwarp(); }
  __device__ static unsigned thread_rank() { return thread_block::thread_rank() % N; }
  __device__ static constexpr unsigned num_threads() { return N; }
  __device__ static constexpr unsigned size() { return N; }
  __device__ unsigned meta_group_rank() const { return __w_at.rank(); }
  __device__ unsigned meta_group_size() const { return __w_at.size(); }
  __device__ operator thread_block_tile<N, void>() const { return {{__w_at.rank(), __w_at.size()}}; }
  __device__ operator thread_group() const;
  __device__ operator coalesced_group() const { return {__w_mask(), __w_at.rank(), __w_at.size()}; }
  /* Its lanes, and the first of them. */
  __device__ static unsigned __w_first() { return N < 32 ? __w_lane() / N * N : 0; }
  __device__ static unsigned __w_mask() { return N < 32 ? ((1u << (N % 32)) - 1u) << __w_first() : 0xffffffffu; }
  __device__ static unsigned __w_packed(unsigned lanes) {
    return N < 32 ? (lanes >> __w_first()) & ((1u << (N % 32)) - 1u) : lanes;
  }
  template <class T> __device__ T shfl(T v, int rank) const {
    if (N > 32) __w_one_warp();
    return __shfl_sync(__w_mask(), v, rank, N);
  }
  template <class T> __device__ T shfl_up(T v, unsigned delta) const {
    if (N > 32) __w_one_warp();
    return __shfl_up_sync(__w_mask(), v, delta, N);
  }
  template <class T> __device__ T shfl_down(T v, unsigned delta) const {
    if (N > 32) __w_one_warp();
    return __shfl_down_sync(__w_mask(), v, delta, N);
  }
  template <class T> __device__ T shfl_xor(T v, unsigned lanes) const {
    if (N > 32) __w_one_warp();
    return __shfl_xor_sync(__w_mask(), v, lanes, N);
  }
  __device__ int any(int p) const {
    if (N > 32) __w_one_warp();
    return __any_sync(__w_mask(), p);
  }
  __device__ int all(int p) const {
    if (N > 32) __w_one_warp();
    return __all_sync(__w_mask(), p);
  }
  __device__ unsigned ballot(int p) const {
    if (N > 32) __w_one_warp();
    return __w_packed(__ballot_sync(__w_mask(), p));
  }
  template <class T> __device__ unsigned match_any(T v) const {
    if (N > 32) __w_one_warp();
    return __w_packed(__match_any_sync(__w_mask(), v));
  }
  template <class T> __device__ unsigned match_all(T v, int &p) const {
    if (N > 32) __w_one_warp();
    return __w_packed(__match_all_sync(__w_mask(), v, &p));
  }
};

/* Any of these. What it was made from decides at once how its threads meet. */
struct __w_SIZED alignas(8) thread_group { __w_OURS(thread_group)
  bool __w_block;
  unsigned __w_rank, __w_size, __w_mask_;
  __device__ void sync() const { if (__w_block) __syncthreads(); else __syncwarp(__w_mask_); }
  __device__ unsigned long long thread_rank() const { return __w_rank; }
  __device__ unsigned long long num_threads() const { return __w_size; }
  __device__ unsigned long long size() const { return __w_size; }
};
__device__ inline thread_block::operator thread_group() const { return {true, thread_rank(), num_threads(), 0u}; }
__device__ inline coalesced_group::operator thread_group() const {
  return {false, thread_rank(), num_threads(), __w_mask_};
}
template <unsigned N, class P> __device__ thread_block_tile<N, P>::operator thread_group() const {
  return {N > 32, thread_rank(), N, __w_mask()};
}
__device__ inline thread_group this_thread() { return {false, 0u, 1u, 1u << __w_lane()}; }

/* --- parts of groups -------------------------------------------------------------------------------------------- */

template <unsigned N> __device__ thread_block_tile<N, thread_block> tiled_partition(const thread_block &) { return {}; }
template <unsigned N, unsigned M, class P>
__device__ thread_block_tile<N, thread_block_tile<M, P>> tiled_partition(const thread_block_tile<M, P> &) {
  return {};
}
/* The lanes of a word from the first-th on, n of them. */
__device__ inline unsigned __w_slice(unsigned lanes, unsigned first, unsigned n) {
  unsigned from = 0xffffffffu << (__fns(lanes, 0, first + 1) & 31u);
  return lanes & from & (first + n < __popc(lanes) ? (1u << (__fns(lanes, 0, first + n + 1) & 31u)) - 1u : 0xffffffffu);
}
template <unsigned N> __device__ coalesced_group tiled_partition(const coalesced_group &g) {
  return {__w_slice(g.__w_mask_, g.thread_rank() / N * N, N), g.thread_rank() / N, (g.size() + (N - 1)) / N};
}
__device__ inline coalesced_group tiled_partition(const coalesced_group &g, unsigned n) {
  return {__w_slice(g.__w_mask_, g.thread_rank() / n * n, n), g.thread_rank() / n, (g.size() + (n - 1)) / n};
}
/* A size that is no constant is no more than that of a warp. */
__device__ inline unsigned __w_tile(unsigned n) {
  return n < 32 ? ((1u << n) - 1u) << __w_lane() / n * n : 0xffffffffu;
}
__device__ inline thread_group tiled_partition(const thread_block &, unsigned n) {
  return {false, thread_block::thread_rank() % n, n, __w_tile(n)};
}
template <unsigned N, class P> __device__ thread_group tiled_partition(const thread_block_tile<N, P> &, unsigned n) {
  return {false, thread_block::thread_rank() % n, n, __w_tile(n)};
}
__device__ inline thread_group tiled_partition(const thread_group &g, unsigned n) {
  if (g.__w_block) return {false, g.__w_rank % n, n, __w_tile(n)};
  return {false, g.__w_rank % n, n, __w_slice(g.__w_mask_, g.__w_rank / n * n, n)};
}

template <class G, class T> __device__ coalesced_group labeled_partition(const G &g, T label) {
  unsigned alike = __match_any_sync(g.__w_mask(), label), lowest = __ffs(alike) - 1;
  unsigned firsts = __ballot_sync(g.__w_mask(), __w_lane() == lowest);
  return {alike, (unsigned)__popc(firsts & ((1u << lowest) - 1u)), (unsigned)__popc(firsts)};
}
template <class G> __device__ coalesced_group binary_partition(const G &g, bool p) {
  unsigned yes = __ballot_sync(g.__w_mask(), p);
  return {p ? yes : g.__w_mask() & ~yes, p ? 1u : 0u, 2u};
}

/* --- functions of any group ------------------------------------------------------------------------------------- */

template <class G> __device__ void sync(const G &g) { g.sync(); }
template <class G> __device__ void synchronize(const G &g) { g.sync(); }
template <class G> __device__ auto thread_rank(const G &g) -> decltype(g.thread_rank()) { return g.thread_rank(); }
template <class G> __device__ auto group_size(const G &g) -> decltype(g.size()) { return g.size(); }
template <class G> __device__ auto num_threads(const G &g) -> decltype(g.num_threads()) { return g.num_threads(); }
template <class G> __device__ bool is_valid(const G &g) { return g.is_valid(); }
__device__ inline dim3 thread_index(const thread_block &) { return thread_block::thread_index(); }
__device__ inline dim3 group_index(const thread_block &) { return thread_block::group_index(); }
__device__ inline dim3 group_dim(const thread_block &) { return thread_block::group_dim(); }

/* One thread does it: the first one. */
template <class G, class F> __device__ void invoke_one(const G &g, F f) { if (g.thread_rank() == 0) f(); }
template <class G, class F, class A> __device__ void invoke_one(const G &g, F f, A a) {
  if (g.thread_rank() == 0) f(a);
}
template <class G, class F, class A, class B> __device__ void invoke_one(const G &g, F f, A a, B b) {
  if (g.thread_rank() == 0) f(a, b);
}
template <class G, class F> __device__ auto invoke_one_broadcast(const G &g, F f) -> decltype(f()) {
  decltype(f()) found;
  if (g.thread_rank() == 0) found = f();
  return g.shfl(found, 0);
}
template <class G, class F, class A> __device__ auto invoke_one_broadcast(const G &g, F f, A a) -> decltype(f(a)) {
  decltype(f(a)) found;
  if (g.thread_rank() == 0) found = f(a);
  return g.shfl(found, 0);
}

/* --- operators -------------------------------------------------------------------------------------------------- */

template <class T = void> struct plus { __device__ T operator()(T a, T b) const { return a + b; } };
template <class T = void> struct less { __device__ T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T = void> struct greater { __device__ T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T = void> struct bit_and { __device__ T operator()(T a, T b) const { return a & b; } };
template <class T = void> struct bit_or { __device__ T operator()(T a, T b) const { return a | b; } };
template <class T = void> struct bit_xor { __device__ T operator()(T a, T b) const { return a ^ b; } };

namespace experimental {
using cooperative_groups::block_tile_memory;
using cooperative_groups::this_thread_block;
using cooperative_groups::tiled_partition;
}
}
}
