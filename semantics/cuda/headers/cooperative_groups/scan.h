/* Scans by groups of lanes: each takes in what the lane `d` ranks before it has, d twice as large each time. */
#pragma once
#include "reduce.h"
extern "C++" {
namespace cooperative_groups {

template <class G, class T, class F> __device__ T inclusive_scan(const G &g, T v, F op) {
  unsigned rank = g.thread_rank();
  T w = op(g.shfl_up(v, 1), v); v = rank >= 1 ? w : v;
  w = op(g.shfl_up(v, 2), v); v = rank >= 2 ? w : v;
  w = op(g.shfl_up(v, 4), v); v = rank >= 4 ? w : v;
  w = op(g.shfl_up(v, 8), v); v = rank >= 8 ? w : v;
  w = op(g.shfl_up(v, 16), v); v = rank >= 16 ? w : v;
  return v;
}
template <class G, class T> __device__ T inclusive_scan(const G &g, T v) { return inclusive_scan(g, v, plus<T>()); }
template <class G, class T, class F> __device__ T exclusive_scan(const G &g, T v, F op) {
  T before = g.shfl_up(inclusive_scan(g, v, op), 1);
  return g.thread_rank() == 0 ? T() : before;
}
template <class G, class T> __device__ T exclusive_scan(const G &g, T v) { return exclusive_scan(g, v, plus<T>()); }

/* The last thread adds the sum of all to a counter; all get what that was before. */
template <class G, class A, class T> __device__ T inclusive_scan_update(const G &g, A &to, T v, plus<T> op) {
  T own = inclusive_scan(g, v, op), old = T();
  if (g.thread_rank() == g.size() - 1) old = to.fetch_add(own);
  return g.shfl(old, g.size() - 1) + own;
}
template <class G, class A, class T> __device__ T exclusive_scan_update(const G &g, A &to, T v, plus<T> op) {
  T own = inclusive_scan(g, v, op), old = T();
  if (g.thread_rank() == g.size() - 1) old = to.fetch_add(own);
  T before = g.shfl_up(own, 1);
  return g.shfl(old, g.size() - 1) + (g.thread_rank() == 0 ? T() : before);
}
template <class G, class A, class T> __device__ T inclusive_scan_update(const G &g, A &to, T v) {
  return inclusive_scan_update(g, to, v, plus<T>());
}
template <class G, class A, class T> __device__ T exclusive_scan_update(const G &g, A &to, T v) {
  return exclusive_scan_update(g, to, v, plus<T>());
}
}
}
