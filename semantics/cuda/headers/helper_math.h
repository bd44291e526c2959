/* Arithmetic on vectors, as the header of this name declares it that CUDA's samples share and many a program has copied.
   One that the program brings along comes first. */
#pragma once
typedef unsigned int uint;
typedef unsigned short ushort;
extern "C++" {
#define __w_V inline __host__ __device__
/* E: an expression of one component, which it names c. */
#define __w_EACH2(T, E) __w_COMMA2(T, E(x), E(y))
#define __w_EACH3(T, E) __w_COMMA3(T, E(x), E(y), E(z))
#define __w_EACH4(T, E) __w_COMMA4(T, E(x), E(y), E(z), E(w))
#define __w_COMMA2(T, a, b) make_##T##2(a, b)
#define __w_COMMA3(T, a, b, c) make_##T##3(a, b, c)
#define __w_COMMA4(T, a, b, c, d) make_##T##4(a, b, c, d)

/* Vectors of one number, of others, and of shorter or longer ones. */
#define __w_MADE(T) \
  __w_V T##2 make_##T##2(T s) { return make_##T##2(s, s); } \
  __w_V T##2 make_##T##2(T##3 a) { return make_##T##2(a.x, a.y); } \
  __w_V T##3 make_##T##3(T s) { return make_##T##3(s, s, s); } \
  __w_V T##3 make_##T##3(T##2 a) { return make_##T##3(a.x, a.y, 0); } \
  __w_V T##3 make_##T##3(T##2 a, T s) { return make_##T##3(a.x, a.y, s); } \
  __w_V T##3 make_##T##3(T##4 a) { return make_##T##3(a.x, a.y, a.z); } \
  __w_V T##4 make_##T##4(T s) { return make_##T##4(s, s, s, s); } \
  __w_V T##4 make_##T##4(T##3 a) { return make_##T##4(a.x, a.y, a.z, 0); } \
  __w_V T##4 make_##T##4(T##3 a, T s) { return make_##T##4(a.x, a.y, a.z, s); }
#define __w_OF(T, S) \
  __w_V T##2 make_##T##2(S##2 a) { return make_##T##2(T(a.x), T(a.y)); } \
  __w_V T##3 make_##T##3(S##3 a) { return make_##T##3(T(a.x), T(a.y), T(a.z)); } \
  __w_V T##4 make_##T##4(S##4 a) { return make_##T##4(T(a.x), T(a.y), T(a.z), T(a.w)); }
__w_MADE(float) __w_MADE(int) __w_MADE(uint)
__w_OF(float, int) __w_OF(float, uint) __w_OF(int, float) __w_OF(int, uint) __w_OF(uint, int)

/* Operators of two vectors, and of a vector and a number. */
#define __w_PLUS(c) a.c + b.c
#define __w_MINUS(c) a.c - b.c
#define __w_TIMES(c) a.c * b.c
#define __w_OVER(c) a.c / b.c
#define __w_PLUS_S(c) a.c + s
#define __w_MINUS_S(c) a.c - s
#define __w_TIMES_S(c) a.c * s
#define __w_OVER_S(c) a.c / s
#define __w_S_PLUS(c) s + a.c
#define __w_S_MINUS(c) s - a.c
#define __w_S_TIMES(c) s * a.c
#define __w_S_OVER(c) s / a.c
#define __w_NEGATIVE(c) -a.c
#define __w_OPERATOR(T, N, O, BOTH, RIGHT, LEFT) \
  __w_V T##N operator O(T##N a, T##N b) { return __w_EACH##N(T, BOTH); } \
  __w_V T##N operator O(T##N a, T s) { return __w_EACH##N(T, RIGHT); } \
  __w_V T##N operator O(T s, T##N a) { return __w_EACH##N(T, LEFT); } \
  __w_V void operator O##=(T##N &a, T##N b) { a = a O b; } \
  __w_V void operator O##=(T##N &a, T s) { a = a O s; }
#define __w_RING(T, N) \
  __w_OPERATOR(T, N, +, __w_PLUS, __w_PLUS_S, __w_S_PLUS) \
  __w_OPERATOR(T, N, -, __w_MINUS, __w_MINUS_S, __w_S_MINUS) \
  __w_OPERATOR(T, N, *, __w_TIMES, __w_TIMES_S, __w_S_TIMES)
#define __w_SIGNED(T, N) \
  __w_V T##N operator-(const T##N &a) { return __w_EACH##N(T, __w_NEGATIVE); }
#define __w_ALL(MACRO, T) MACRO(T, 2) MACRO(T, 3) MACRO(T, 4)
__w_ALL(__w_RING, float) __w_ALL(__w_RING, int) __w_ALL(__w_RING, uint)
__w_ALL(__w_SIGNED, float) __w_ALL(__w_SIGNED, int)
#define __w_FIELD(T, N) __w_OPERATOR(T, N, /, __w_OVER, __w_OVER_S, __w_S_OVER)
__w_ALL(__w_FIELD, float)

/* Functions of each component. */
#define __w_LEAST(c) min(a.c, b.c)
#define __w_MOST(c) max(a.c, b.c)
#define __w_LEAST_F(c) fminf(a.c, b.c)
#define __w_MOST_F(c) fmaxf(a.c, b.c)
#define __w_WHOLE(c) floorf(a.c)
#define __w_FRACTION(c) fracf(a.c)
#define __w_REMAINDER(c) fmodf(a.c, b.c)
#define __w_SIZE_F(c) fabs(a.c)
#define __w_SIZE(c) abs(a.c)
#define __w_WITHIN(c) clamp(v.c, a.c, b.c)
#define __w_WITHIN_S(c) clamp(v.c, a, b)
#define __w_STEP(c) smoothstep(a.c, b.c, x.c)
__w_V float fracf(float v) { return v - floorf(v); }
__w_V float lerp(float a, float b, float t) { return a + t * (b - a); }
__w_V float clamp(float v, float a, float b) { return fmaxf(a, fminf(v, b)); }
__w_V int clamp(int v, int a, int b) { return max(a, min(v, b)); }
__w_V uint clamp(uint v, uint a, uint b) { return max(a, min(v, b)); }
__w_V float smoothstep(float a, float b, float x) {
  float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
  return y * y * (3.0f - 2.0f * y);
}
#define __w_CLAMPED(T, N) \
  __w_V T##N clamp(T##N v, T a, T b) { return __w_EACH##N(T, __w_WITHIN_S); } \
  __w_V T##N clamp(T##N v, T##N a, T##N b) { return __w_EACH##N(T, __w_WITHIN); }
__w_ALL(__w_CLAMPED, float) __w_ALL(__w_CLAMPED, int) __w_ALL(__w_CLAMPED, uint)
#define __w_ORDERED(T, N) \
  __w_V T##N min(T##N a, T##N b) { return __w_EACH##N(T, __w_LEAST); } \
  __w_V T##N max(T##N a, T##N b) { return __w_EACH##N(T, __w_MOST); }
__w_ALL(__w_ORDERED, int) __w_ALL(__w_ORDERED, uint)
#define __w_MAGNITUDE(T, N) __w_V T##N abs(T##N a) { return __w_EACH##N(T, __w_SIZE); }
__w_ALL(__w_MAGNITUDE, int)
#define __w_REAL(T, N) \
  __w_V T##N fminf(T##N a, T##N b) { return __w_EACH##N(T, __w_LEAST_F); } \
  __w_V T##N fmaxf(T##N a, T##N b) { return __w_EACH##N(T, __w_MOST_F); } \
  __w_V T##N floorf(T##N a) { return __w_EACH##N(T, __w_WHOLE); } \
  __w_V T##N fracf(T##N a) { return __w_EACH##N(T, __w_FRACTION); } \
  __w_V T##N fmodf(T##N a, T##N b) { return __w_EACH##N(T, __w_REMAINDER); } \
  __w_V T##N fabs(T##N a) { return __w_EACH##N(T, __w_SIZE_F); } \
  __w_V T##N lerp(T##N a, T##N b, float t) { return a + t * (b - a); } \
  __w_V T##N smoothstep(T##N a, T##N b, T##N x) { return __w_EACH##N(T, __w_STEP); }
__w_ALL(__w_REAL, float)

/* Products and lengths. */
#define __w_PRODUCT(T) \
  __w_V T dot(T##2 a, T##2 b) { return a.x * b.x + a.y * b.y; } \
  __w_V T dot(T##3 a, T##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; } \
  __w_V T dot(T##4 a, T##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__w_PRODUCT(float) __w_PRODUCT(int) __w_PRODUCT(uint)
#define __w_EUCLID(T, N) \
  __w_V T length(T##N a) { return sqrtf(dot(a, a)); } \
  __w_V T##N normalize(T##N a) { return a * rsqrtf(dot(a, a)); }
__w_ALL(__w_EUCLID, float)
__w_V float3 reflect(float3 i, float3 n) { return i - 2.0f * n * dot(n, i); }
__w_V float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
}
