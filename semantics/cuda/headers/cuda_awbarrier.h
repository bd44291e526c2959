/* The barriers of a block as objects that came before `cuda::barrier`, and what is the same. */
#pragma once
#include "cuda/barrier"
extern "C++" {
namespace nvcuda { namespace experimental {
struct awbarrier : cuda::barrier<cuda::thread_scope_block> {
  template <class T> __device__ bool timed_wait(T &&, unsigned) const { __syncthreads(); return true; }
  __device__ bool timed_wait_parity(bool, unsigned) const { __syncthreads(); return true; }
};
} }
}
