/* Random numbers on the device. A state is a structure: where it is in memory, each number reads and writes its words
   there. What a generator computes is an operator for each word; what starting one reads of tables is not counted. */
#pragma once
#define __w_D __device__ inline
extern "C++" {
__device__ void __w_starts();
struct __w_xorwow { unsigned a, b, c, d, e, f; };
__device__ __w_xorwow __w_xorwow_started(unsigned long long, unsigned long long, unsigned long long);
__device__ uint4 __w_philox(unsigned, unsigned, unsigned, unsigned, unsigned, unsigned);
__device__ __w_xorwow __w_mrg(unsigned, unsigned, unsigned, unsigned, unsigned, unsigned);
__device__ unsigned __w_mrg_number(unsigned, unsigned);

/* Sums of shifts and exclusive ors, by Marsaglia. */
struct curandStateXORWOW { unsigned d, v[5]; int __w_kept, __w_kept_double; float __w_next; double __w_next_double; };
typedef curandStateXORWOW curandState_t; typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandStateXORWOW_t;
__w_D void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                       curandStateXORWOW *s) {
  __w_starts();
  __w_xorwow x = __w_xorwow_started(seed, sequence, offset);
  s->d = x.a; s->v[0] = x.b; s->v[1] = x.c; s->v[2] = x.d; s->v[3] = x.e; s->v[4] = x.f;
  s->__w_kept = 0; s->__w_kept_double = 0; s->__w_next = 0.f; s->__w_next_double = 0.;
}
__w_D unsigned curand(curandStateXORWOW *s) {
  unsigned t = s->v[0], last = s->v[4], count = s->d + 362437u;
  t ^= t >> 2;
  s->v[0] = s->v[1]; s->v[1] = s->v[2]; s->v[2] = s->v[3]; s->v[3] = last;
  last = last ^ (last << 4) ^ t ^ (t << 1);
  s->v[4] = last; s->d = count;
  return last + count;
}

/* Sums of products modulo numbers near 2^32, by L'Ecuyer. */
struct curandStateMRG32k3a { unsigned s1[3], s2[3]; int __w_kept, __w_kept_double; float __w_next; double __w_next_double; };
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
__w_D void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                       curandStateMRG32k3a *s) {
  __w_starts();
  __w_xorwow x = __w_xorwow_started(seed, sequence, offset);
  s->s1[0] = x.a; s->s1[1] = x.b; s->s1[2] = x.c; s->s2[0] = x.d; s->s2[1] = x.e; s->s2[2] = x.f;
  s->__w_kept = 0; s->__w_kept_double = 0; s->__w_next = 0.f; s->__w_next_double = 0.;
}
__w_D unsigned curand(curandStateMRG32k3a *s) {
  __w_xorwow x = __w_mrg(s->s1[0], s->s1[1], s->s1[2], s->s2[0], s->s2[1], s->s2[2]);
  s->s1[0] = x.a; s->s1[1] = x.b; s->s1[2] = x.c; s->s2[0] = x.d; s->s2[1] = x.e; s->s2[2] = x.f;
  return __w_mrg_number(x.c, x.f);
}

/* A counter that is mixed ten times, by Salmon and others: four words at once, which are handed out one by one. */
struct __align__(16) curandStatePhilox4_32_10 {
  uint4 ctr, output; uint2 key; unsigned STATE; int __w_kept, __w_kept_double; float __w_next; double __w_next_double;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
__w_D void __w_advance(curandStatePhilox4_32_10 *s) {
  uint4 c = s->ctr;
  c.x++;
  if (c.x == 0) { c.y++; if (c.y == 0) { c.z++; if (c.z == 0) c.w++; } }
  s->ctr = c;
  s->output = __w_philox(c.x, c.y, c.z, c.w, s->key.x, s->key.y);
}
__w_D void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                       curandStatePhilox4_32_10 *s) {
  __w_starts();
  unsigned at = (unsigned)(offset / 4);
  s->ctr = make_uint4(at, (unsigned)(offset >> 34), (unsigned)sequence, (unsigned)(sequence >> 32));
  s->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  s->STATE = (unsigned)(offset & 3);
  s->__w_kept = 0; s->__w_kept_double = 0; s->__w_next = 0.f; s->__w_next_double = 0.;
  s->output = __w_philox(at, (unsigned)(offset >> 34), (unsigned)sequence, (unsigned)(sequence >> 32), (unsigned)seed,
                         (unsigned)(seed >> 32));
}
__w_D unsigned curand(curandStatePhilox4_32_10 *s) {
  unsigned which = s->STATE;
  uint4 o = s->output;
  unsigned given = which == 0 ? o.x : which == 1 ? o.y : which == 2 ? o.z : o.w;
  s->STATE = which + 1;
  if (which == 3) { __w_advance(s); s->STATE = 0; }
  return given;
}
__w_D uint4 curand4(curandStatePhilox4_32_10 *s) {
  uint4 o = s->output;
  unsigned which = s->STATE;
  __w_advance(s);
  uint4 n = s->output;
  unsigned x = which == 0 ? o.x : which == 1 ? o.y : which == 2 ? o.z : o.w;
  unsigned y = which == 0 ? o.y : which == 1 ? o.z : which == 2 ? o.w : n.x;
  unsigned z = which == 0 ? o.z : which == 1 ? o.w : which == 2 ? n.x : n.y;
  unsigned w = which == 0 ? o.w : which == 1 ? n.x : which == 2 ? n.y : n.z;
  return make_uint4(x, y, z, w);
}

/* Distributions. A pair of normal numbers is made at once, and the second one kept in the state. */
__w_D float __w_uniform(unsigned x) { return x * 2.3283064e-10f + 1.1641532e-10f; }
__w_D double __w_uniform_double(unsigned x, unsigned y) {
  return ((unsigned long long)x ^ ((unsigned long long)y << 21)) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
template <class S> __device__ float curand_uniform(S *s) { return __w_uniform(curand(s)); }
template <class S> __device__ double curand_uniform_double(S *s) {
  unsigned x = curand(s);
  unsigned y = curand(s);
  return __w_uniform_double(x, y);
}
template <class S> __device__ float2 curand_normal2(S *s) {
  float u = __w_uniform(curand(s));
  float angle = __w_uniform(curand(s)) * 6.2831853f, r = sqrtf(-2.0f * logf(u));
  return make_float2(r * sinf(angle), r * cosf(angle));
}
template <class S> __device__ double2 curand_normal2_double(S *s) {
  double u = curand_uniform_double(s);
  double angle = curand_uniform_double(s) * 6.2831853071795865, r = sqrt(-2.0 * log(u));
  return make_double2(r * sin(angle), r * cos(angle));
}
template <class S> __device__ float curand_normal(S *s) {
  float given;
  if (s->__w_kept != 1) {
    float2 both = curand_normal2(s);
    s->__w_next = both.y; s->__w_kept = 1;
    given = both.x;
  } else {
    s->__w_kept = 0;
    given = s->__w_next;
  }
  return given;
}
template <class S> __device__ double curand_normal_double(S *s) {
  double given;
  if (s->__w_kept_double != 1) {
    double2 both = curand_normal2_double(s);
    s->__w_next_double = both.y; s->__w_kept_double = 1;
    given = both.x;
  } else {
    s->__w_kept_double = 0;
    given = s->__w_next_double;
  }
  return given;
}
template <class S> __device__ float curand_log_normal(S *s, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(s));
}
template <class S> __device__ double curand_log_normal_double(S *s, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(s));
}
template <class S> __device__ float2 curand_log_normal2(S *s, float mean, float deviation) {
  float2 v = curand_normal2(s);
  return make_float2(expf(mean + deviation * v.x), expf(mean + deviation * v.y));
}
template <class S> __device__ float4 curand_uniform4(S *s) {
  uint4 x = curand4(s);
  return make_float4(__w_uniform(x.x), __w_uniform(x.y), __w_uniform(x.z), __w_uniform(x.w));
}
template <class S> __device__ double2 curand_uniform2_double(S *s) {
  uint4 x = curand4(s);
  return make_double2(__w_uniform_double(x.x, x.y), __w_uniform_double(x.z, x.w));
}
template <class S> __device__ float4 curand_normal4(S *s) {
  uint4 x = curand4(s);
  float r = sqrtf(-2.0f * logf(__w_uniform(x.x))), a = __w_uniform(x.y) * 6.2831853f;
  float q = sqrtf(-2.0f * logf(__w_uniform(x.z))), b = __w_uniform(x.w) * 6.2831853f;
  return make_float4(r * sinf(a), r * cosf(a), q * sinf(b), q * cosf(b));
}
template <class S> __device__ double2 curand_log_normal2_double(S *s, double mean, double deviation) {
  double2 v = curand_normal2_double(s);
  return make_double2(exp(mean + deviation * v.x), exp(mean + deviation * v.y));
}
template <class S> __device__ float4 curand_log_normal4(S *s, float mean, float deviation) {
  float4 v = curand_normal4(s);
  return make_float4(expf(mean + deviation * v.x), expf(mean + deviation * v.y), expf(mean + deviation * v.z),
                     expf(mean + deviation * v.w));
}
template <class S> __device__ double4 curand_uniform4_double(S *s) {
  uint4 x = curand4(s);
  uint4 y = curand4(s);
  return make_double4(__w_uniform_double(x.x, x.y), __w_uniform_double(x.z, x.w), __w_uniform_double(y.x, y.y),
                      __w_uniform_double(y.z, y.w));
}
template <class S> __device__ double4 curand_normal4_double(S *s) {
  double4 u = curand_uniform4_double(s);
  double r = sqrt(-2.0 * log(u.x)), a = u.y * 6.2831853071795865, q = sqrt(-2.0 * log(u.z)), b = u.w * 6.2831853071795865;
  return make_double4(r * sin(a), r * cos(a), q * sin(b), q * cos(b));
}
template <class S> __device__ double4 curand_log_normal4_double(S *s, double mean, double deviation) {
  double4 v = curand_normal4_double(s);
  return make_double4(exp(mean + deviation * v.x), exp(mean + deviation * v.y), exp(mean + deviation * v.z),
                      exp(mean + deviation * v.w));
}

/* Numbers that fill a space evenly, by Sobol: each takes one of a table of words, by the lowest 0 of a counter. */
#define __w_SOBOL(NAME, W, BITS, LOWEST) \
  struct curandState##NAME { unsigned i; W x, c; W direction_vectors[BITS]; }; \
  typedef curandState##NAME curandState##NAME##_t; \
  __w_D void __w_begin(const W *table, W first, unsigned offset, curandState##NAME *s) { \
    s->i = 0; s->c = first; \
    W x = first; \
    for (int j = 0; j < BITS; j++) { \
      W word = table[j]; \
      s->direction_vectors[j] = word; \
      x ^= (offset ^ (offset >> 1)) >> (j & 31) & 1 ? word : 0; \
    } \
    s->x = x; s->i = offset; \
  } \
  __w_D W curand(curandState##NAME *s) { \
    W given = s->x; \
    unsigned i = s->i; \
    s->x = given ^ s->direction_vectors[LOWEST(~i) - 1]; \
    s->i = i + 1; \
    return given; \
  }
__w_SOBOL(Sobol32, unsigned, 32, __ffs) __w_SOBOL(Sobol64, unsigned long long, 64, __ffs)
__w_SOBOL(ScrambledSobol32, unsigned, 32, __ffs) __w_SOBOL(ScrambledSobol64, unsigned long long, 64, __ffs)
__w_D void curand_init(const unsigned *t, unsigned offset, curandStateSobol32 *s) { __w_begin(t, 0, offset, s); }
__w_D void curand_init(const unsigned long long *t, unsigned offset, curandStateSobol64 *s) { __w_begin(t, 0, offset, s); }
__w_D void curand_init(const unsigned *t, unsigned c, unsigned offset, curandStateScrambledSobol32 *s) {
  __w_begin(t, c, offset, s);
}
__w_D void curand_init(const unsigned long long *t, unsigned long long c, unsigned offset,
                       curandStateScrambledSobol64 *s) {
  __w_begin(t, c, offset, s);
}

__device__ void __w_attempts();
template <class S> __device__ unsigned curand_poisson(S *, double) { __w_attempts(); return 0; }
template <class S, class D> __device__ unsigned curand_discrete(S *, D) { __w_attempts(); return 0; }
template <class S, class D> __device__ uint4 curand_discrete4(S *, D) { __w_attempts(); return make_uint4(0, 0, 0, 0); }
template <class S> __device__ uint4 curand_poisson4(S *, double) { __w_attempts(); return make_uint4(0, 0, 0, 0); }
template <class S> __device__ void skipahead(unsigned long long n, S *s) {
  __w_starts();
  curand_init(n, n, n, s);
}
template <class S> __device__ void skipahead_subsequence(unsigned long long n, S *s) {
  __w_starts();
  curand_init(n, n, n, s);
}
template <class S> __device__ void skipahead_sequence(unsigned long long n, S *s) {
  __w_starts();
  curand_init(n, n, n, s);
}
}
