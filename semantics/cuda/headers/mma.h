/* Matrices that the threads of a warp share: `semantics.cuda.matrices` says which thread has which elements. */
#pragma once
#include "cuda_fp16.h"
#include "cuda_bf16.h"
extern "C++" {
namespace nvcuda { namespace wmma {
enum layout_t { mem_row_major, mem_col_major };
struct row_major; struct col_major; struct matrix_a; struct matrix_b; struct accumulator;
namespace precision { struct tf32; }
namespace experimental { namespace precision { struct u4; struct s4; struct b1; } }

/* How a type of elements is stored, how many of them one register has, and how often a fragment of a and b has each. */
template <class T> struct __w_stored {
  typedef T type; static constexpr int together = sizeof(T) < 4 ? 4 / sizeof(T) : 1, copies = 1;
};
template <> struct __w_stored<half> { typedef half type; static constexpr int together = 2, copies = 2; };
template <> struct __w_stored<precision::tf32> {
  typedef float type; static constexpr int together = 1, copies = 1;
};

template <class U, int M, int N, int K, class T, class L = void> struct fragment;
#define __w_FRAGMENT(U, COUNT) \
  template <int M, int N, int K, class T, class L> struct __w_SIZED alignas(8) fragment<U, M, N, K, T, L> { __w_OURS(fragment) \
    typedef typename __w_stored<T>::type element_type; typedef element_type storage_element_type; \
    static constexpr int num_elements = COUNT, num_storage_elements = COUNT; \
    element_type x[COUNT]; \
  };
__w_FRAGMENT(matrix_a, (M * K / 32 * __w_stored<T>::copies))
__w_FRAGMENT(matrix_b, (K * N / 32 * __w_stored<T>::copies))
__w_FRAGMENT(accumulator, (M * N / 32))

template <class U, int M, int N, int K, class T, class L>
__device__ void load_matrix_sync(fragment<U, M, N, K, T, L> &, const typename __w_stored<T>::type *, unsigned);
template <class U, int M, int N, int K, class T, class L>
__device__ void load_matrix_sync(fragment<U, M, N, K, T, L> &, const typename __w_stored<T>::type *, unsigned, layout_t);
template <class U, int M, int N, int K, class T, class L>
__device__ void store_matrix_sync(T *, const fragment<U, M, N, K, T, L> &, unsigned, layout_t);
template <class U, int M, int N, int K, class T, class L>
__device__ void fill_fragment(fragment<U, M, N, K, T, L> &, const typename __w_stored<T>::type &);
template <int M, int N, int K, class A, class B, class C, class D, class L, class R>
__device__ void mma_sync(fragment<accumulator, M, N, K, D> &, const fragment<matrix_a, M, N, K, A, L> &,
                         const fragment<matrix_b, M, N, K, B, R> &, const fragment<accumulator, M, N, K, C> &,
                         bool saturate = false);
__device__ float __float_to_tf32(float);
} }
}
