/* Asynchronous copies by one thread: `semantics.cuda.wide` says what a copy is. */
#pragma once
extern "C++" {
typedef unsigned long long __mbarrier_t; typedef unsigned long long __mbarrier_token_t;
__device__ void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0);
__device__ void __pipeline_commit();
__device__ void __pipeline_wait_prior(size_t stages);
__device__ void __pipeline_arrive_on(__mbarrier_t *);
}
