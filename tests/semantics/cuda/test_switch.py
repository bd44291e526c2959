"""Sections of a `switch`: what they become, to the letter. Each is lowered once."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

Lower = Callable[..., str]

CASES = {
    "switch (n) { case 0: A[0] = 1; break; case 2: case 3: A[1] = 1; break; default: A[2] = 1; }": """\
        if (n == 0) {
          A[0] <- 1;
        } else {
          if (n == 2 || n == 3) {
            A[1] <- 1;
          } else {
            A[2] <- 1;
          }
        }""",
    "switch (n & 3) { default: A[0] = 1; case 1: A[1] = 1; case 4 ... 6: A[2] = 1; }": """\
        t <- n & 3;
        if (t != 1 && (t < 4 || t > 6)) {
          A[0] <- 1;
        }
        if (t < 4 || t > 6) {
          A[1] <- 1;
        }
        A[2] <- 1;""",
    "switch (n) { case 0: A[0] = 1; case 1: A[1] = 1; break; case 2: A[2] = 1; default: A[3] = 1; }": """\
        if (n == 0 || n == 1) {
          if (n == 0) {
            A[0] <- 1;
          }
          A[1] <- 1;
        } else {
          if (n == 2) {
            A[2] <- 1;
          }
          A[3] <- 1;
        }""",
    "switch (n) { case 4: A[0] = 1; default: A[1] = 1; case 0: case 1: case 2: n = 9; break; case 3: A[2] = 1; }": """\
        n_0 <- n;
        t <- n_0;
        if (t == 3) {
          A[2] <- 1;
        } else {
          if (t == 4) {
            A[0] <- 1;
          }
          if (t < 0 || t > 2) {
            A[1] <- 1;
          }
          n_0 <- 9;
        }""",
    "switch (n) { case 0: if (f) break; A[0] = 1; case 1: A[1] = 1; case 2:; }": """\
        go <- true;
        if (n == 0 || n == 1) {
          if (n == 0) {
            if (f) {
              go <- false;
            } else {
              A[0] <- 1;
            }
          }
          if (go) {
            A[1] <- 1;
          }
        }""",
    "switch (n) { case 0: A[0] = 1; case 1: A[1] = 1; case 2:; default:; }": """\
        if (n == 0) {
          A[0] <- 1;
        }
        if (n == 0 || n == 1) {
          A[1] <- 1;
        }""",
    "switch (n) { case 0: A[0] = 1; case 5: A[1] = 1; case 9: A[2] = 1; }": """\
        if (n == 0 || n == 5 || n == 9) {
          if (n == 0) {
            A[0] <- 1;
          }
          if (n == 0 || n == 5) {
            A[1] <- 1;
          }
          A[2] <- 1;
        }""",
    "for (int i = 0; i < n; i++) { switch (n) { case 0: if (f) continue; case 1: A[0] = 1; } A[1] = 1; }": """\
        i <- 0;
        while (i < n) {
          next <- true;
          if (n == 0 || n == 1) {
            if (n == 0) {
              if (f) {
                next <- false;
              }
            }
            if (next) {
              A[0] <- 1;
            }
          }
          if (next) {
            A[1] <- 1;
          }
          i <- i + 1;
        }""",
    "switch (3) { case 1: A[1] = 1; case 3: A[3] = 1; default: A[4] = 1; break; case 5: A[5] = 1; }": """\
        A[3] <- 1;
        A[4] <- 1;""",
    "switch (A[n]) { case 0: if (f) { A[0] = 1; if (n) break; A[1] = 2; } A[2] = 1; }": """\
        t <- A[n];
        go <- true;
        if (t == 0) {
          if (f) {
            A[0] <- 1;
            if (n != 0) {
              go <- false;
            } else {
              A[1] <- 2;
            }
          }
          if (go) {
            A[2] <- 1;
          }
        }""",
    "for (int i = 0; i < n; i++) { switch (i) { case 1: continue; } A[i] = 1; }": """\
        i <- 0;
        while (i < n) {
          next <- true;
          if (i == 1) {
            next <- false;
          }
          if (next) {
            A[i] <- 1;
          }
          i <- i + 1;
        }""",
    "for (int i = 0; i < n; i++) switch (i) { case 1: continue; case 3: default: A[i] = 1; }": """\
        i <- 0;
        while (i < n) {
          if (i != 1) {
            A[i] <- 1;
          }
          i <- i + 1;
        }""",
    "switch (2) { case 1: A[1] = 1; break; case 2: A[2] = 1; break; default: A[3] = 1; }": "A[2] <- 1;",
    "switch (7) { case 1: A[1] = 1; break; case 2: A[2] = 1; }": "skip;",
    "switch (n) { int x; case -1: x = 2; A[x] = 1; break; case 'a': x = 3; A[x] = 1; }": """\
        if (n == -1) {
          x <- 2;
          A[x] <- 1;
        } else {
          if (n == 97) {
            x <- 3;
            A[x] <- 1;
          }
        }""",
    "switch (n) case 3: A[0] = 1;": """\
        if (n == 3) {
          A[0] <- 1;
        }""",
}


@pytest.mark.parametrize("body", CASES)
def test_switch(lower: Lower, body: str) -> None:
    assert lower(body) == dedent(CASES[body])
