/* Asynchronous copies by one thread, of elements. */
#pragma once
#include "cuda_pipeline_primitives.h"
extern "C++" {
namespace nvcuda { namespace experimental {
struct __w_SIZED pipeline { __w_OURS(pipeline)
  __device__ size_t commit() { __pipeline_commit(); return 0; }
  __device__ void wait() { __pipeline_wait_prior(0); }
  __device__ void wait(size_t) { __pipeline_wait_prior(0); }
  __device__ void commit_and_wait() { __pipeline_wait_prior(0); }
  template <class B> __device__ void arrive_on(B &) { __pipeline_arrive_on(nullptr); }
  template <unsigned N> __device__ void wait_prior() { __pipeline_wait_prior(N); }
};
template <class T> __device__ void memcpy_async(T &to, const T &from, pipeline &) { to = from; }
} }
}
