"""C expressions: what each becomes, to the letter."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Lower = Callable[..., str]

CASES = {
    # constants
    "A[n] = N + E2 + M + sizeof(double);": "A[n] <- 18;",
    "A[n] = -1; A[n] = 'a'; A[n] = 010 + 0x1F;": "A[n] <- -1;\nA[n] <- 97;\nA[n] <- 39;",
    "A[n] = (int)0xFFFFFFFFu;": "A[n] <- -1;",
    "const int K = 4; A[K] = K * n;": "A[4] <- 4 * n;",
    "static const int K = 4; A[K] = 1;": "A[4] <- 1;",
    "constexpr int K = 2 * N; A[K] = 1;": "A[6] <- 1;",
    "A[n] = n > (int)3.7f;": "A[n] <- int(n > 3);",
    # operators
    "A[n] = ~n & 255 | n ^ 3;": "A[n] <- ~n & 255 | n ^ 3;",
    "A[n] = (n << 2) - (n >> 1) % 3 / n;": "A[n] <- (n << 2) - (n >> 1) % 3 / n;",
    "A[n] = +n - -n;": "A[n] <- n - -n;",
    "A[n, 2] = 1;": "A[2] <- 1;",
    # indices of threads
    "A[threadIdx.y] = threadIdx.x + threadIdx.z;": "A[tid.y] <- tid.x + tid.z;",
    "A[0] = blockIdx.z * blockDim.y + gridDim.x + warpSize;": (
        "A[0] <- blockIdx.z * blockDim.y + gridDim.x + warpSize;"
    ),
    # truth
    "if (n) A[0] = 1;": "if (n != 0) {\n  A[0] <- 1;\n}",
    "if (!n) A[0] = 1;": "if (n == 0) {\n  A[0] <- 1;\n}",
    "if (!(n < 2)) A[0] = 1;": "if (!(n < 2)) {\n  A[0] <- 1;\n}",
    "if (F[0]) A[0] = 1;": "if (F[0] != 0.0f) {\n  A[0] <- 1;\n}",
    "if ((int)F[0]) A[0] = 1;": "if (int(F[0]) != 0) {\n  A[0] <- 1;\n}",
    "if (!!f) A[0] = 1;": "if (!!f) {\n  A[0] <- 1;\n}",
    "A[0] = (n < 3) + f;": "A[0] <- int(n < 3) + int(f);",
    "bool b = n; b |= n > 2;": "b <- n != 0;\nb <- (int(b) | int(n > 2)) != 0;",
    "if (f == true) A[f] = 1;": "if (int(f) == 1) {\n  A[int(f)] <- 1;\n}",
    # conversions
    "F[n] = n + 1;": "F[n] <- as_float(n + 1);",
    "F[n] = F[n] + 1;": "F[n] <- F[n] + 1.0f;",
    "F[n] = F[n] * 2.0;": "F[n] <- as_float(as_double(F[n]) * 2.0);",
    "A[n] = F[n];": "A[n] <- int(F[n]);",
    "F[n] = -1.5f;": "F[n] <- -1.5f;",
    "F[n] = EPS;": "F[n] <- 0.25f;",
    "F[n] = f;": "F[n] <- as_float(f);",
    "unsigned char c = n;": "c <- n & 255;",
    "unsigned short c = 65537;": "c <- 1;",
    "signed char c = n;": "c <- (n + 128 & 255) - 128;",
    "short c = (unsigned char)n;": "c <- n & 255;",
    "unsigned char c = 3; c += n;": "c <- 3;\nc <- c + n & 255;",
    "unsigned char c = (unsigned char)(f ? n : 2);": "c <- (f ? n : 2) & 255;",
    "unsigned u = n; long v = u; A[v] = (int)v;": "u <- n;\nv <- u;\nA[v] <- v;",
    # choices
    "A[n] = f ? n : 2;": "A[n] <- f ? n : 2;",
    "A[n] = f && n > 2 || n < 0;": "A[n] <- int(f && n > 2 || n < 0);",
    "int x = f ? A[0] : A[1];": "if (f) {\n  x <- A[0];\n} else {\n  x <- A[1];\n}",
    "A[n] = f ? A[2] : 3;": "if (f) {\n  t <- A[2];\n} else {\n  t <- 3;\n}\nA[n] <- t;",
    "bool b = f && A[n];": "t <- f;\nif (t) {\n  t <- A[n] != 0;\n}\nb <- t;",
    "bool b = f || A[n];": "t <- f;\nif (!t) {\n  t <- A[n] != 0;\n}\nb <- t;",
    "bool b = f && n++ > 2;": (
        "n_0 <- n;\nt_1 <- f;\nif (t_1) {\n  t <- n_0;\n  n_0 <- t + 1;\n  t_1 <- t > 2;\n}\nb <- t_1;"
    ),
    "A[0] = true && n > 2; A[1] = 0 && n > 2;": "A[0] <- int(n > 2);\nA[1] <- 0;",
    "A[0] = N > 2 ? n : A[7];": "A[0] <- n;",
    "bool b = A[0] && f;": "b <- A[0] != 0 && f;",
    # effects
    "n += 2; n <<= 1; n %= n;": "n_0 <- n;\nn_0 <- n_0 + 2;\nn_0 <- n_0 << 1;\nn_0 <- n_0 % n_0;",
    "int x = 0; x++; --x;": "x <- 0;\nx <- x + 1;\nx <- x - 1;",
    "float x = 0; x++; x *= 2;": "x <- 0.0f;\nx <- x + 1.0f;\nx <- x * 2.0f;",
    "int x = 1; x += 0.5f;": "x <- 1;\nx <- int(as_float(x) + 0.5f);",
    "int x = 0; A[x++] = n; A[--x] = n;": ("x <- 0;\nt <- x;\nx <- t + 1;\nA[t] <- n;\nx <- x - 1;\nA[x] <- n;"),
    "int x = 0; A[x++] += 2;": "x <- 0;\nt <- x;\nx <- t + 1;\nA[t] <- A[t] + 2;",
    "A[n] += 2; A[n]++;": "A[n] <- A[n] + 2;\nA[n] <- A[n] + 1;",
    "A[A[n]] += 2;": "t <- A[n];\nA[t] <- A[t] + 2;",
    "int x, y; x = y = n;": "y <- n;\nx <- y;",
    "int x = 1; A[0] = A[1] = x + 1;": "x <- 1;\nA[1] <- x + 1;\nA[0] <- x + 1;",
    "int x = 1; x = 2; A[0] = A[1] = x + 1;": "x <- 1;\nx <- 2;\nt <- x + 1;\nA[1] <- t;\nA[0] <- t;",
    "int x = 1; A[0] = (x = 3) + 1; A[0] = (x++, x);": ("x <- 1;\nx <- 3;\nA[0] <- x + 1;\nx <- x + 1;\nA[0] <- x;"),
    "int x = 1; A[0] = (x++, 3);": "x <- 1;\nx <- x + 1;\nA[0] <- 3;",
    "(void)n; n; A[n]; n + 1;": "skip;",
    # an element that is volatile is read even as a statement: 32 sectors for A[32 * threadIdx.x], not 0
    "V[n]; (void)V[n + 1]; *V, n; *(volatile int *)A;": "t <- V[n];\nt_1 <- V[n + 1];\nt_2 <- V[0];\nt_3 <- A[0];",
    "V[n] + 1; !V[n]; A[V[n]]; A + V[n]; n ? V[n] : 0;": (
        "t <- V[n] + 1;\nt_1 <- V[n] == 0;\nt_2 <- V[n];\nt_3 <- V[n];\nif (n != 0) {\n  t_4 <- V[n];\n}"
    ),
    "bool b = V[n] && false; A[0] = V[n] || true;": "t <- V[n] != 0;\nb <- false;\nt_1 <- V[n] != 0;\nA[0] <- 1;",
    "if (V[n] && false) A[0] = 1; V[n] ? 1 : 2;": "t <- V[n] != 0;\nt_1 <- V[n] != 0;",
    "last(V); min(V[n], 1); if (A + V[n]) n;": (
        "t <- V[0];\nt_1 <- min(V[n], 1);\nt_2 <- V[n];\nif (given(0.0, 0) != 0.0) {\n  skip;\n}"
    ),
    "A[0] = V[n] = 7; A[0] = V[V[n]] += 2; A[0] = ++V[n];": (
        "V[n] <- 7;\nA[0] <- V[n];\nt <- V[n];\nV[t] <- V[t] + 2;\nA[0] <- V[t];\nV[n] <- V[n] + 1;\nA[0] <- V[n];"
    ),
    "int x{}, y = {}; float z{}; bool b{}; const int c{};": "x <- 0;\ny <- 0;\nz <- 0.0f;\nb <- false;\nc <- 0;",
    "float x = 1'000.5f; A[n] = 1'000;": "x <- 1000.5f;\nA[n] <- 1000;",
    "A[1] = __builtin_offsetof(S, a[N]); unsigned long x = offsetof(S, a);": "A[1] <- 16;\nx <- 4;",
    "A[0] = (Q)(n & 1) + static_cast<Q>(A[n & 3]) + Q(n > 0 && n < 3);": (
        "A[0] <- (n & 1) + A[n & 3] + int(n > 0 && n < 3);"
    ),
    # an integer becomes what a function of floating types takes: 3/2 is 1, and 3.0/2 is not
    "if (fabs(n) / fabs(2) > 1) A[0] = 1;": "if (abs(as_double(n)) / abs(2.0) > 1.0) {\n  A[0] <- 1;\n}",
    "F[0] = fabsf(f) + fminf(n, 2u) + max(F[1], n);": (
        "F[0] <- abs(as_float(f)) + min(as_float(n), 2.0f) + max(F[1], as_float(n));"
    ),
    "F[0] = fabs((short)n) + floor(n) + abs(n);": (
        "F[0] <- as_float(abs(as_double((n + 32768 & 65535) - 32768)) + floor(as_double(n)) + as_double(abs(n)));"
    ),
    "A[0] = unnamed(true, n);": "unnamed <- true;\nunnamed_1 <- n;\nA[0] <- 3;",
    "__int128 x = n; x = x * 3 + (__int128)5; if (x > (__int128)7) A[0] = 1;": (
        "x <- n;\nx <- x * 3 + 5;\nif (x > 7) {\n  A[0] <- 1;\n}"
    ),
}


@pytest.mark.parametrize("body", CASES)
def test_expression(lower: Lower, body: str) -> None:
    before = "#define N 3\n#define EPS 0.25f\nenum { E1, E2 };\nconst int M = 6;\n"
    before += "struct S { int x, a[9]; };\n#define offsetof __builtin_offsetof\n"
    before += "__device__ volatile int V[64];\n__device__ int last(volatile int *p) { return *p; }\n"
    before += "enum Q { Q0, Q1 };\n"
    before += "__device__ int unnamed(bool, int) { return 3; }\n"
    assert lower(body, before) == CASES[body]
