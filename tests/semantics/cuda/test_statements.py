"""C statements: what each becomes, to the letter."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

Lower = Callable[..., str]

CASES = {
    "for (int i = 0; i < n; i++) A[i] = i;": """\
        i <- 0;
        while (i < n) {
          A[i] <- i;
          i <- i + 1;
        }""",
    "int i, j; for (i = 0, j = 2; i < n; i++, j--) A[j] = i;": """\
        i <- 0;
        j <- 2;
        while (i < n) {
          A[j] <- i;
          i <- i + 1;
          j <- j - 1;
        }""",
    "for (; n < 10;) n *= 2;": """\
        n_0 <- n;
        while (n_0 < 10) {
          n_0 <- n_0 * 2;
        }""",
    "for (;; n++) A[n] = 1;": """\
        n_0 <- n;
        while (true) {
          A[n_0] <- 1;
          n_0 <- n_0 + 1;
        }""",
    "for (n = 2;; ) A[n] = 1;": """\
        n_0 <- n;
        n_0 <- 2;
        while (true) {
          A[n_0] <- 1;
        }""",
    "#pragma unroll\nfor (int i = 0; i < 4; i++) A[i] = 0;": """\
        i <- 0;
        while (i < 4) {
          A[i] <- 0;
          i <- i + 1;
        }""",
    "for (int i = 0; i < 3; i++) A[i] = i; { int i = 2; A[i] = 1; } int i = 3; A[i] = i;": """\
        i <- 0;
        while (i < 3) {
          A[i] <- i;
          i <- i + 1;
        }
        i_1 <- 2;
        A[i_1] <- 1;
        i_2 <- 3;
        A[i_2] <- i_2;""",
    "do { A[n] = 1; n--; } while (n > 0);": """\
        n_0 <- n;
        A[n_0] <- 1;
        n_0 <- n_0 - 1;
        while (n_0 > 0) {
          A[n_0] <- 1;
          n_0 <- n_0 - 1;
        }""",
    "do { A[0] = 1; } while (0);": "A[0] <- 1;",
    "do { A[n] = 1; if (n == 7) continue; n--; } while (n > 0);": """\
        n_0 <- n;
        A[n_0] <- 1;
        if (n_0 != 7) {
          n_0 <- n_0 - 1;
        }
        while (n_0 > 0) {
          A[n_0] <- 1;
          if (n_0 != 7) {
            n_0 <- n_0 - 1;
          }
        }""",
    "do { if (f) break; n--; } while (n > 0);": """\
        n_0 <- n;
        go <- true;
        while (go) {
          if (f) {
            go <- false;
          } else {
            n_0 <- n_0 - 1;
            go <- n_0 > 0;
          }
        }""",
    "do { if (f) break; A[0] = 1; } while (0); A[1] = 2;": """\
        go <- true;
        while (go) {
          if (f) {
            go <- false;
          } else {
            A[0] <- 1;
            go <- false;
          }
        }
        A[1] <- 2;""",
    "do { if (f) return; A[0] = 1; } while (0); A[1] = 2;": """\
        live <- true;
        if (f) {
          live <- false;
        } else {
          A[0] <- 1;
        }
        if (live) {
          A[1] <- 2;
        }""",
    "do { if (f) return; n--; } while (n > 0);": """\
        n_0 <- n;
        live <- true;
        go <- true;
        while (live && go) {
          if (f) {
            live <- false;
          } else {
            n_0 <- n_0 - 1;
            go <- n_0 > 0;
          }
        }""",
    "do { do { n--; } while (n > 3); } while (n > 0);": """\
        n_0 <- n;
        go <- true;
        while (go) {
          n_0 <- n_0 - 1;
          while (n_0 > 3) {
            n_0 <- n_0 - 1;
          }
          go <- n_0 > 0;
        }""",
    # conditions that need statements
    "if (n > 0 && A[n] > 0) A[0] = 1;": """\
        if (n > 0) {
          if (A[n] > 0) {
            A[0] <- 1;
          }
        }""",
    "if (n > 0 && A[n] > 0) A[0] = 1; else A[0] = 2;": """\
        t <- n > 0;
        if (t) {
          t <- A[n] > 0;
        }
        if (t) {
          A[0] <- 1;
        } else {
          A[0] <- 2;
        }""",
    "while (n > 0 && A[n] > 0) n--;": """\
        n_0 <- n;
        t <- n_0 > 0;
        if (t) {
          t <- A[n_0] > 0;
        }
        while (n_0 > 0 && t) {
          n_0 <- n_0 - 1;
          t <- n_0 > 0;
          if (t) {
            t <- A[n_0] > 0;
          }
        }""",
    "for (int i = n; i--;) A[i] = 1;": """\
        i <- n;
        i <- i - 1;
        while (i + 1 != 0) {
          A[i] <- 1;
          i <- i - 1;
        }""",
    "if (256 > 512) A[0] = 1; else A[1] = 1; while (0) A[2] = 1; if (0) return; A[3] = 1;": "A[1] <- 1;\nA[3] <- 1;",
    # early exits
    "if (threadIdx.x >= n) return; A[n] = 1; if (n == 3) return; A[n] = 2;": """\
        if (tid.x < n) {
          A[n] <- 1;
          if (n != 3) {
            A[n] <- 2;
          }
        }""",
    "if (F[0] < 1.0f) return; A[1] = 1;": """\
        if (!(F[0] < 1.0f)) {
          A[1] <- 1;
        }""",
    "if (n < 0) { A[0] = 1; return; } else if (n == 0) { A[1] = 2; } else return; A[2] = 3;": """\
        if (n < 0) {
          A[0] <- 1;
        } else {
          if (n == 0) {
            A[1] <- 2;
            A[2] <- 3;
          }
        }""",
    "if (n) { if (f) return; A[0] = 1; } A[1] = 1;": """\
        live <- true;
        if (n != 0) {
          if (f) {
            live <- false;
          } else {
            A[0] <- 1;
          }
        }
        if (live) {
          A[1] <- 1;
        }""",
    "int live = 3; if (n) { if (f) return; live = 4; } A[live] = 1;": """\
        live_1 <- true;
        live <- 3;
        if (n != 0) {
          if (f) {
            live_1 <- false;
          } else {
            live <- 4;
          }
        }
        if (live_1) {
          A[live] <- 1;
        }""",
    "return; A[0] = 1;": "skip;",
    "for (int i = 0; i < n; i++) { if (f) return; A[i] = 2; } A[1] = 3;": """\
        live <- true;
        i <- 0;
        while (live && i < n) {
          if (f) {
            live <- false;
          } else {
            A[i] <- 2;
          }
          i <- i + 1;
        }
        if (live) {
          A[1] <- 3;
        }""",
    "for (int i = 0; i < n; i++) { if (A[i] == 3) break; A[i] = 1; }": """\
        i <- 0;
        go <- true;
        while (go && i < n) {
          if (A[i] == 3) {
            go <- false;
          } else {
            A[i] <- 1;
          }
          i <- i + 1;
        }""",
    "int j; for (j = 0; j < n; j++) { if (A[j] == 3) break; }": """\
        j <- 0;
        go <- true;
        while (go && j < n) {
          if (A[j] == 3) {
            go <- false;
          }
          j <- j + 1;
        }""",
    "for (int i = 0; i < n; A[0]++, i++) { if (f) break; }": """\
        i <- 0;
        go <- true;
        while (go && i < n) {
          if (f) {
            go <- false;
          } else {
            A[0] <- A[0] + 1;
            i <- i + 1;
          }
        }""",
    "while (1) { n--; if (n < 0) break; }": """\
        n_0 <- n;
        n_0 <- n_0 - 1;
        while (n_0 >= 0) {
          n_0 <- n_0 - 1;
        }""",
    "for (int i = 0;; i++) { if (i >= n) break; A[i] = 1; }": """\
        i <- 0;
        while (i < n) {
          A[i] <- 1;
          i <- i + 1;
        }""",
    "while (true) { if (n-- == 0) { break; } if (f) continue; A[0] = 1; }": """\
        n_0 <- n;
        n_0 <- n_0 - 1;
        while (n_0 + 1 != 0) {
          if (!f) {
            A[0] <- 1;
          }
          n_0 <- n_0 - 1;
        }""",
    # a counter that only its loop sees goes on at lanes that leave: the same at all of them
    "int i; for (i = 0; i < n; i++) { if (A[i] > 3) break; } for (i = n; i > 0; i--) A[i] = 1;": """\
        i <- 0;
        go <- true;
        while (go && i < n) {
          if (A[i] > 3) {
            go <- false;
          }
          i <- i + 1;
        }
        i <- n;
        while (i > 0) {
          A[i] <- 1;
          i <- i - 1;
        }""",
    "for (;;) { if (n == 0) return; n--; A[n] = 1; } A[0] = 2;": """\
        n_0 <- n;
        live <- true;
        while (n_0 != 0) {
          n_0 <- n_0 - 1;
          A[n_0] <- 1;
        }
        live <- false;
        if (live) {
          A[0] <- 2;
        }""",
    "for (int i = 0; i < n; i++) while (true) { if (A[i] > 3) { return; } A[i] = 7; }": """\
        live <- true;
        i <- 0;
        while (live && i < n) {
          while (A[i] <= 3) {
            A[i] <- 7;
          }
          live <- false;
          i <- i + 1;
        }""",
    "while (true) { if (1) return; A[0] = 1; } A[1] = 2;": """\
        live <- true;
        live <- false;
        if (live) {
          A[1] <- 2;
        }""",
    # a way out in the middle: what comes before it is in front of the loop, and at the end of its body
    "while (true) { n -= 20; if (n <= 0) break; A[n] = 1; }": """\
        n_0 <- n;
        n_0 <- n_0 - 20;
        while (n_0 > 0) {
          A[n_0] <- 1;
          n_0 <- n_0 - 20;
        }""",
    "do { { A[n] = 1; if (A[n - 1] > 0) { n--; } else { break; } } n--; } while (true);": """\
        n_0 <- n;
        A[n_0] <- 1;
        while (A[n_0 - 1] > 0) {
          n_0 <- n_0 - 1;
          n_0 <- n_0 - 1;
          A[n_0] <- 1;
        }""",
    "for (int i = 0;; i++) { A[i] = 1; if (i >= n) break; else A[i] = 2; if (f) continue; A[i] = 3; }": """\
        i <- 0;
        A[i] <- 1;
        while (i < n) {
          A[i] <- 2;
          if (!f) {
            A[i] <- 3;
          }
          i <- i + 1;
          A[i] <- 1;
        }""",
    "while (true) { n--; if (n < 0) break; A[n] = 1; if (f) break; A[0] = 2; }": """\
        n_0 <- n;
        go <- true;
        if (go) {
          n_0 <- n_0 - 1;
          go <- n_0 >= 0;
        }
        while (n_0 >= 0 && go) {
          A[n_0] <- 1;
          if (f) {
            go <- false;
          } else {
            A[0] <- 2;
          }
          if (go) {
            n_0 <- n_0 - 1;
            go <- n_0 >= 0;
          }
        }""",
    "while (true) { n--; if (n < 0) return; A[n] = 1; if (f) break; A[0] = 2; } A[1] = 3;": """\
        n_0 <- n;
        live <- true;
        go <- true;
        while (live && go) {
          n_0 <- n_0 - 1;
          if (n_0 < 0) {
            live <- false;
          } else {
            A[n_0] <- 1;
            if (f) {
              go <- false;
            } else {
              A[0] <- 2;
            }
          }
        }
        if (live) {
          A[1] <- 3;
        }""",
    "while (true) { n--; if (n < 0) break; A[n] = 1; if (f) return; A[0] = 2; } A[1] = 3;": """\
        n_0 <- n;
        live <- true;
        go <- true;
        if (live) {
          n_0 <- n_0 - 1;
          go <- n_0 >= 0;
        }
        while (n_0 >= 0 && (live && go)) {
          A[n_0] <- 1;
          if (f) {
            live <- false;
          } else {
            A[0] <- 2;
          }
          if (live) {
            n_0 <- n_0 - 1;
            go <- n_0 >= 0;
          }
        }
        if (live) {
          A[1] <- 3;
        }""",
    "while (true) { if (f) n--; if (A[n] == 5) { A[n] = 6; break; } A[n] = 7; }": """\
        n_0 <- n;
        go <- true;
        while (go) {
          if (f) {
            n_0 <- n_0 - 1;
          }
          if (A[n_0] == 5) {
            go <- false;
          } else {
            A[n_0] <- 7;
          }
        }
        A[n_0] <- 6;
        go <- false;""",
    "for (;;) { if (n == 0) return; if (n == 1) return; A[n--] = 1; }": """\
        n_0 <- n;
        live <- true;
        while (live) {
          if (n_0 == 0) {
            live <- false;
          } else {
            if (n_0 == 1) {
              live <- false;
            } else {
              t <- n_0;
              n_0 <- t - 1;
              A[t] <- 1;
            }
          }
        }""",
    "for (;;) { if (n > 5) break; n++; if (A[n] == 3) break; n++; }": """\
        n_0 <- n;
        go <- true;
        while (go && n_0 <= 5) {
          n_0 <- n_0 + 1;
          if (A[n_0] == 3) {
            go <- false;
          } else {
            n_0 <- n_0 + 1;
          }
        }""",
    "while (n < 9) { if (f) break; n++; }": """\
        n_0 <- n;
        go <- true;
        while (go && n_0 < 9) {
          if (f) {
            go <- false;
          } else {
            n_0 <- n_0 + 1;
          }
        }""",
    "while (1) { n++; if (f) continue; A[n] = 1; if (n > 5) break; }": """\
        n_0 <- n;
        go <- true;
        while (go) {
          n_0 <- n_0 + 1;
          if (!f) {
            A[n_0] <- 1;
            if (n_0 > 5) {
              go <- false;
            }
          }
        }""",
    "for (int i = 0; i < n; i++) { if (A[i] == 3) continue; A[i] = 1; }": """\
        i <- 0;
        while (i < n) {
          if (A[i] != 3) {
            A[i] <- 1;
          }
          i <- i + 1;
        }""",
    "for (int i = 0; i < n; i++) { if (f) { if (n == i) continue; A[0] = 1; } A[i] = 2; }": """\
        i <- 0;
        while (i < n) {
          next <- true;
          if (f) {
            if (n == i) {
              next <- false;
            } else {
              A[0] <- 1;
            }
          }
          if (next) {
            A[i] <- 2;
          }
          i <- i + 1;
        }""",
    "for (int i = 0; i < n; i++) { if (f) { A[0] = 1; if (n) break; A[1] = 2; } if (n == 5) continue; A[i] = 1; }": """\
        i <- 0;
        go <- true;
        while (go && i < n) {
          if (f) {
            A[0] <- 1;
            if (n != 0) {
              go <- false;
            } else {
              A[1] <- 2;
            }
          }
          if (go) {
            if (n != 5) {
              A[i] <- 1;
            }
          }
          i <- i + 1;
        }""",
    "for (int i = 0; A[i]; i++) if (A[i] == 2) break;": """\
        i <- 0;
        go <- true;
        if (go) {
          go <- A[i] != 0;
        }
        while (go) {
          if (A[i] == 2) {
            go <- false;
          }
          i <- i + 1;
          if (go) {
            go <- A[i] != 0;
          }
        }""",
    "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { if (A[j]) break; if (f) return; } A[0]++; }": """\
        live <- true;
        i <- 0;
        while (live && i < n) {
          j <- 0;
          go <- true;
          while (live && go && j < n) {
            if (A[j] != 0) {
              go <- false;
            } else {
              if (f) {
                live <- false;
              }
            }
            j <- j + 1;
          }
          if (live) {
            A[0] <- A[0] + 1;
          }
          i <- i + 1;
        }""",
    # arrays of one thread
    "int a[2][2] = {{1, n}, {3}}; A[0] = a[1][1] + a[0][1]; a[1][0] += 2; A[a[1][0]] = 0;": """\
        a_0 <- 1;
        a_1 <- n;
        a_2 <- 3;
        a_3 <- 0;
        A[0] <- a_3 + a_1;
        a_2 <- a_2 + 2;
        A[a_2] <- 0;""",
    "float v[2]; for (int i = 0; i < 2; i++) v[i] = F[i]; F[n] = v[n];": """\
        i <- 0;
        while (i < 2) {
          t <- i;
          t_1 <- F[i];
          v_0 <- t == 0 ? t_1 : v_0;
          v_1 <- t == 1 ? t_1 : v_1;
          i <- i + 1;
        }
        F[n] <- n == 0 ? v_0 : v_1;""",
    # the rest
    "for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) { if (threadIdx.x < s) A[n] += A[s]; __syncthreads(); }": """\
        s <- blockDim.x / 2;
        while (s > 0) {
          if (tid.x < s) {
            A[n] <- A[n] + A[s];
          }
          sync;
          s <- s >> 1;
        }""",
    # the body reads t, which is the user's: no copy that could be taken out
    "int t = 0, x = n; while (t = x, x = t - 1, t > 0) A[t] = 1;": """\
        t <- 0;
        x <- n;
        t <- x;
        x <- t - 1;
        while (t > 0) {
          A[t] <- 1;
          t <- x;
          x <- t - 1;
        }""",
    "int t = 0, x = n; for (; t = x, x = t + 2, t < 9; ) A[t] = 1;": """\
        t <- 0;
        x <- n;
        t <- x;
        x <- t + 2;
        while (t < 9) {
          A[t] <- 1;
          t <- x;
          x <- t + 2;
        }""",
    "f ? (void)(A[0] = 1) : (void)(A[1] = 2);": """\
        if (f) {
          A[0] <- 1;
        } else {
          A[1] <- 2;
        }""",
    "int x; typedef int T; struct S { int a; }; {} ; { ; } x = 1;": "x <- 1;",
    "int skip = n; A[skip] = 1;": "skip_1 <- n;\nA[skip_1] <- 1;",
}


@pytest.mark.parametrize("body", CASES)
def test_statement(lower: Lower, body: str) -> None:
    assert lower(body) == dedent(CASES[body])


@pytest.mark.parametrize(
    "body",
    [
        "int i; for (i = 0; i < n; i++) { if (A[i] > 3) break; } A[0] = i;",
        "int i = 7; A[0] = i; for (i = 0; i < n; i++) { if (A[i] > 3) break; }",
        "int i; for (i = 0; i < n; i++) { if (A[i] > 3) break; } for (; i < 9; i++) A[0] = 1;",
        "int i, j; for (j = 0; j < n; j++) { for (i = j; i < n; j++) { if (A[i] > 3) break; } }",
        "int i; for (i = 0; i < n; i++) { for (i = 0; i < 9; i++) { if (A[i] > 3) break; } }",
        "int i; int &r = i; for (i = 0; i < n; i++) { if (A[i] > 3) break; } A[0] = r;",
        "int i; int &r = i; for (r = 0; r < n; r++) { if (A[r] > 3) break; } A[0] = i;",
        "int &r = A[n]; for (r = 0; r < n; r++) { if (A[r] > 3) break; }",
        "__shared__ int i; for (i = 0; i < n; i++) { if (A[i] > 3) break; }",
        "for (outer = 0; outer < n; outer++) { if (A[outer] > 3) break; }",
        "int i; auto set = 0; for (i = i; i < n; i++) { if (A[i] > 3) break; }",
    ],
)
def test_a_counter_that_is_seen_elsewhere_stays_where_a_lane_leaves(lower: Lower, body: str) -> None:
    assert "  } else {\n" in lower(body, "__device__ int outer;")


@pytest.mark.parametrize(("body", "times"), [(500, 2), (501, 1)])
def test_a_long_beginning_of_a_turn_is_written_once(lower: Lower, body: int, times: int) -> None:
    text = lower(f"while (true) {{ {'A[0] = 1; ' * body} if (n < 0) break; n--; }}")
    assert text.count("A[0] <- 1;") == times * body
    assert ("while (on) {" in text) == (times == 1)


PRAGMAS = {
    "#pragma unroll\nfloat c = 0; A[n] = c;": "c <- 0.0f;\nA[n] <- int(c);",
    "#pragma unroll(4)\nif (n) { A[1] = 2; }": "if (n != 0) {\n  A[1] <- 2;\n}",
    "#pragma nounroll\nA[0] = 1;\n#pragma unroll 3\nA[1] = 2;": "A[0] <- 1;\nA[1] <- 2;",
    "if (n)\n#pragma unroll\nA[0] = 1;\nelse\n#pragma unroll\nA[1] = 2;": (
        "if (n != 0) {\n  A[0] <- 1;\n} else {\n  A[1] <- 2;\n}"
    ),
    "A[0] = 1;\n#pragma unroll\n": "A[0] <- 1;",
    "#pragma whatever foo(bar)\nA[0] = 1;\n#pragma omp parallel\n#pragma GCC ivdep\n#pragma unroll\nA[1] = 2;": (
        "A[0] <- 1;\nA[1] <- 2;"
    ),
    '_Pragma("unroll") A[0] = 1; UNROLL A[1] = 2;': "A[0] <- 1;\nA[1] <- 2;",
    "#pragma unroll_and_jam\nA[0] = 1;\n#pragma clang loop unroll(full)\nA[1] = 2;": "A[0] <- 1;\nA[1] <- 2;",
    "/* is this a\n#pragma unroll */ A[0] = 1; // and\n#pragma unroll // this\nA[1] = 2;": "A[0] <- 1;\nA[1] <- 2;",
    "#pragma unroll \\\n  4\nA[0] = 1;": "A[0] <- 1;",
}


@pytest.mark.parametrize("body", PRAGMAS)
def test_pragmas_of_loops_before_no_loop_say_nothing(lower: Lower, body: str) -> None:
    assert lower(body, '#pragma unroll\n#define UNROLL _Pragma("unroll")') == PRAGMAS[body]


@pytest.mark.parametrize(
    "pragma", ["unroll", "unroll 0", "unroll(2)", "nounroll", "unroll\n#pragma unroll 2", "unroll N"]
)
def test_pragmas_of_loops_leave_them(lower: Lower, pragma: str) -> None:
    loop = "for (int i = 0; i < n; i++) A[i] = 1;"
    assert lower(f"#pragma {pragma}\n{loop}") == lower(loop)
