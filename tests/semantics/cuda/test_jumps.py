"""The only way out of a loop without a test is where all lanes meet that leave it."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

Lower = Callable[..., str]

CASES = {
    "int i = 0; while (true) { if (i == n) { S[i] = 1; break; } i++; }": """\
        i <- 0;
        go <- true;
        while (go) {
          if (i == n) {
            go <- false;
          } else {
            i <- i + 1;
          }
        }
        S[i] <- 1;
        go <- false;""",
    "while (true) { n++; if (F[n] > 0.0f) { if (f) A[n] = 1; break; } }": """\
        n_0 <- n;
        go <- true;
        while (go) {
          n_0 <- n_0 + 1;
          if (F[n_0] > 0.0f) {
            go <- false;
          }
        }
        if (f) {
          A[n_0] <- 1;
        }
        go <- false;""",
    "while (true) { n++; if (F[n] > 0.0f) { n = n * 2; break; } } A[n] = 1;": """\
        n_0 <- n;
        go <- true;
        while (go) {
          n_0 <- n_0 + 1;
          if (F[n_0] > 0.0f) {
            n_0 <- n_0 * 2;
            go <- false;
          }
        }
        A[n_0] <- 1;""",
    "while (true) { n++; if (F[n] > 0.0f) { A[n] = 1; break; } }": """\
        n_0 <- n;
        go <- true;
        while (go) {
          n_0 <- n_0 + 1;
          if (F[n_0] > 0.0f) {
            go <- false;
          }
        }
        A[n_0] <- 1;
        go <- false;""",
    "while (true) { n++; if (F[n] > 0.0f) { S[n] = 1; break; } if (f) break; }": """\
        n_0 <- n;
        go <- true;
        while (go) {
          n_0 <- n_0 + 1;
          if (F[n_0] > 0.0f) {
            S[n_0] <- 1;
            go <- false;
          } else {
            if (f) {
              go <- false;
            }
          }
        }""",
    "for (int i = 0;; i++) { for (int j = 0; j < n; j++) if (f) { S[j] = i; return; } A[i] = 1; } A[0] = 7;": """\
        live <- true;
        i <- 0;
        while (live) {
          j <- 0;
          while (live && j < n) {
            if (f) {
              live <- false;
            }
            if (live) {
              j <- j + 1;
            }
          }
          if (live) {
            A[i] <- 1;
          }
          if (live) {
            i <- i + 1;
          }
        }
        S[j] <- i;
        live <- false;
        if (live) {
          A[0] <- 7;
        }""",
    "do { n++; if (n == 3) continue; if (f) { S[n] = 1; } S[0] = 2; break; } while (true);": """\
        n_0 <- n;
        go <- true;
        while (go) {
          n_0 <- n_0 + 1;
          if (n_0 != 3) {
            go <- false;
          }
        }
        if (f) {
          S[n_0] <- 1;
        }
        S[0] <- 2;
        go <- false;""",
    "while (true) switch (n) { case 0: n = 1; break; case 2: n = 5; case 1: S[n] = 1; return; default: n--; }": """\
        n_0 <- n;
        live <- true;
        while (live) {
          t <- n_0;
          if (t == 0) {
            n_0 <- 1;
          } else {
            if (t == 1 || t == 2) {
              if (t == 2) {
                n_0 <- 5;
              }
              live <- false;
            } else {
              n_0 <- n_0 - 1;
            }
          }
        }
        S[n_0] <- 1;
        live <- false;""",
}


@pytest.mark.parametrize("body", CASES)
def test_ways_out(lower: Lower, body: str) -> None:
    assert lower(body, "__shared__ int S[64];") == dedent(CASES[body])
