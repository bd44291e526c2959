/* Copies by all threads of a group: element by element, each thread as far from the one before it as they are many. */
#pragma once
#include "../cooperative_groups.h"
extern "C++" {
namespace cooperative_groups {

template <class G, class D, class S> __device__ void __w_elements(const G &g, D *to, const S *from, size_t n) {
  __w_in_order();
  for (size_t i = g.thread_rank(); i < n; i += g.size()) to[i] = from[i];
}
template <class G, class D, class S, class Z>
__device__ void memcpy_async(const G &g, D *to, const S *from, const Z &bytes) {
  __w_elements(g, to, from, (size_t)bytes / sizeof(D));
}
/* So many elements as there are in both. */
template <class G, class D, class S, class Y, class Z>
__device__ void memcpy_async(const G &g, D *to, const Y &there, const S *from, const Z &here) {
  __w_elements(g, to, from, (size_t)there < (size_t)here ? (size_t)there : (size_t)here);
}
template <class G> __device__ void wait(const G &g) { g.sync(); }
template <unsigned STAGES, class G> __device__ void wait_prior(const G &g) { g.sync(); }
}
}
