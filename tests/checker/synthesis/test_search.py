"""The search for potentials: loops and their bounds; every one of them is the kernel's word, never the search's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.notation import parse_outline
from checker.oracles import Oracles, lp
from checker.synthesis.bound import find_bounds
from checker.synthesis.elaborate import Elaborator
from checker.synthesis.flow import analyse
from checker.synthesis.linear import Linear
from checker.synthesis.measures import measures
from checker.synthesis.nodes import Cycle
from checker.synthesis.search import _inside as inside
from checker.synthesis.search import _objective as objective
from checker.synthesis.search import _stores as stores
from checker.synthesis.search import find_potentials
from checker.synthesis.walk import Point, Stuck
from logic.assertions import Context, Launch, Obligation, Unknown
from logic.facts import Facts
from logic.metrics import METRICS
from logic.potentials import ZERO, Leaf, evaluate
from logic.syntax import Param
from tests.checker.synthesis.bounded import HEADER, rechecked, result, valid
from tests.logic.rules.applications import expr, pot


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("x <- 0; while (x < n) { A[0] <- 1; x <- x + 1; }", "max(0, n)"),
        ("x <- 3; while (x < n) { A[0] <- 1; x <- x + 1; }", "max(0, n - 3)"),
        ("x <- 0; while (x <= n) { A[0] <- 1; x <- x + 1; }", "max(0, 1 + n)"),
        ("x <- n; while (x > 0) { A[0] <- 1; x <- x - 1; }", "max(0, n)"),
        ("x <- 0; while (x < n) { A[0] <- 1; x <- x + 3; }", "max(0, ceil(n/3))"),
        ("x <- 0; while (x < n) { A[0] <- 1; A[1] <- 1; x <- x + 1; } A[0] <- 1;", "1 + 2*max(0, n)"),
        ("x <- 0; while (x < 10) { A[0] <- 1; x <- x + 1; }", "10"),
        ("x <- 0; while (x < n && A[x] > 0) { x <- x + 1; }", "1 + max(0, n)"),
        ("x <- 0; while (x < n) { x <- x + 1; } while (x < m) { A[0] <- 1; x <- x + 1; }", "max(0, m)"),
        (
            "x <- 0; while (x < n) { A[0] <- 1; x <- x + 1; } while (x > 0) { A[0] <- 1; x <- x - 1; }",
            "2*max(0, n)",
        ),
        ("x <- 0; while (!(x >= n)) { A[0] <- 1; x <- x + 1; }", "max(0, n)"),
        ("x <- 0; while (!(x >= n || x >= m)) { A[0] <- 1; x <- x + 1; }", "max(0, min(m, n))"),
        ("x <- 0; while (x < n ? x < m : false) { A[0] <- 1; x <- x + 1; }", "max(0, min(m, n))"),
        ("x <- m; while (x < n) { A[0] <- 1; x <- x + 1; }", "max(0, n - m)"),
        ("x <- 0; while (x < n && x < 100) { A[0] <- 1; x <- x + 1; }", "max(0, min(100, n))"),
        ("x <- 0; while (x < n && x < m) { A[0] <- 1; x <- x + 4; }", "max(0, ceil(min(m, n)/4))"),
        ("y <- 1; x <- 0; while (x < (y == 0 ? m : n)) { A[0] <- 1; x <- x + 1; }", "max(0, n)"),
        ("y <- 1; x <- 0; while (x < (y == 0 ? m : n)) { A[0] <- 1; x <- x + 1; y <- 1; }", "max(0, n)"),
    ],
)
def test_loops(body: str, bound: str) -> None:
    found = result(body)
    assert found.verdict == "certified", found.problem
    assert found.claim is not None
    assert found.claim.pre.q == pot(bound)


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("y <- tid.x; x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "31"),
        ("y <- min(tid.x, n); x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "min(31, n)"),
        ("y <- min(n, 2*tid.x); x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "min(n, 62)"),
        ("x <- 0; while (x <= 2 * tid.x) { A[0] <- 1; x <- x + 1; }", "63"),
        ("x <- tid.x; while (x > 0) { A[0] <- 1; x <- x - 1; }", "31"),
        ("x <- tid.x; while (x > 0) { A[0] <- 1; x <- x - 2; }", "16"),
        ("y <- tid.x * n; x <- 0; while (x < y) invariant { y <= m; _; _ } { A[0] <- 1; x <- x + 1; }", "max(0, m)"),
        ("z <- tid.x; y <- 2 * z + 1; x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "63"),
        ("y <- tid.x; z <- y + 3; x <- 0; while (x < z - y) { A[0] <- 1; x <- x + 1; }", "3"),
        ("y <- tid.x - m; x <- y; while (x < 9) { A[0] <- 1; x <- x + 1; }", "max(0, 9 + m)"),
    ],
)
def test_lanes_bounded_by_the_block(body: str, bound: str) -> None:
    """A guard whose lanes differ is paid for as at the lane that turns most often."""
    found = result(body, "0 <= n && 31*n <= m")
    assert found.verdict == "certified", found.problem
    assert found.claim is not None
    assert found.claim.pre.q == pot(bound)


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("x <- 0; y <- n; while (x < y) { A[0] <- 1; x <- x + 1; y <- y - 1; }", "max(0, ceil(n/2))"),
        ("x <- 0; while (x < n) { A[0] <- 1; x <- x + 1; x <- x + 2; }", "max(0, ceil(n/3))"),
        ("x <- tid.y; while (x < n) { A[0] <- 1; x <- x + blockDim.y; }", "max(0, ceil(n/2))"),
        ("y <- tid.y; x <- y + 4; while (x < n) { A[0] <- 1; x <- x + 2; }", "max(0, ceil((n - 4)/2))"),
        (
            "y <- 3*gridDim.x; x <- 0; while (x < n) { A[0] <- 1; x <- x + y; }",
            "max(0, trunc((3*gridDim.x + n - 1)/(3*gridDim.x)))",
        ),
        (
            "x <- tid.y; while (x < n) { y <- tid.x; while (y < m) { A[0] <- 1; y <- y + 64; } x <- x + 2; }",
            "max(0, ceil(n/2))*max(0, ceil(m/64))",
        ),
    ],
)
def test_steps_of_a_loop(body: str, bound: str) -> None:
    """Two counters that meet, two steps a turn, a counter that a warp shares but that begins at threadIdx.y, a step
    with a name, and a nest of such loops."""
    found = result(body, block="64, 2")
    assert valid(found) == pot(bound)


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("x <- tid.x % 32; while (x < n) { A[0] <- 1; x <- x + 32; }", "max(0, ceil(n/32))"),
        ("x <- tid.x & 15; while (x < n) { A[0] <- 1; x <- x + 16; }", "max(0, ceil(n/16))"),
        ("y <- tid.x % 8; x <- m + y; while (x < n) { A[0] <- 1; x <- x + 8; }", "max(0, ceil((n - m)/8))"),
        ("x <- m - tid.x % 8; while (x < n) { A[0] <- 1; x <- x + 8; }", "max(0, ceil((n - m + 7)/8))"),
        ("x <- tid.x / 32; while (x < n) { A[0] <- 1; x <- x + 2; }", "max(0, ceil(n/2))"),
        ("x <- tid.x >> 5; while (x < n) { A[0] <- 1; x <- x + 2; }", "max(0, ceil(n/2))"),
        ("x <- (128*m + tid.x) / 32; while (x < n) assumed { A[0] <- 1; x <- x + 2; }", "max(0, ceil((n - 4*m)/2))"),
        ("x <- (128*m - 64 + tid.x) % 32; while (x < n) assumed { A[0] <- 1; x <- x + 32; }", "max(0, ceil(n/32))"),
        ("y <- tid.x % 5; x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "4"),
        ("y <- tid.x % 8 + n; x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "max(0, n + 7)"),
        (
            (
                "x <- tid.x; while (x < n) { A[0] <- 1; x <- x + 64; } "
                "x <- m; while (x < n) { A[0] <- 1; x <- x + 1; } "
                "x <- m + tid.x % 8; while (x < n) { A[0] <- 1; x <- x + 8; }"
            ),
            "max(0, ceil(n/64)) + max(0, n - m) + max(0, ceil((n - m)/8))",
        ),
        (
            "x <- tid.x / 32; while (x < n) { y <- tid.x % 32; while (y < m) { A[0] <- 1; y <- y + 32; } x <- x + 2; }",
            "max(0, ceil(n/2))*max(0, ceil(m/32))",
        ),
        ("x <- (n - 32*m + tid.x) / 32; while (x < n) { x <- x + 2; } A[0] <- 1;", "1"),
    ],
)
def test_counters_that_begin_at_a_lane_or_a_warp(body: str, bound: str) -> None:
    """The part of a counter that lanes do not share need be no polynomial in threadIdx."""
    found = result(body.replace(" assumed", ""), "1 <= m" if "assumed" in body else "true", block="64, 1")
    assert found.verdict == "certified", found.problem
    assert valid(found) == pot(bound)


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("x <- tid.x; x <- x + 64; while (x < n) { A[0] <- 1; x <- x + 64; }", "max(0, ceil(n/64) - 1)"),
        ("x <- m + tid.x; x <- x - 64; while (x > 0) { A[0] <- 1; x <- x - 64; }", "max(0, ceil((m - 1)/64))"),
    ],
)
def test_a_counter_that_has_moved_before_the_loop(body: str, bound: str) -> None:
    """As in `do { .. x += 64; } while (x < n)`: what is known of x is said of x - 64."""
    found = result(body, block="64")
    assert valid(found) == pot(bound)


@pytest.mark.parametrize(
    ("ends", "bound"),
    [
        ("x <- max(0, y - m); z <- min(n, y + m);", "5*min(max(0, n), max(0, 2*m))"),
        ("x <- y < m ? 0 : y - m; z <- y + m > n ? n : y + m;", "5*min(max(0, n), max(0, 2*m))"),
        (
            "x <- y - m; if (x < 0) { x <- 0; } z <- y + m; if (z > n) { z <- n; }",
            "5*min(max(0, n), max(0, 2*m))",
        ),
        (
            "if (y - m < 0) { x <- 0; } else { x <- y - m; } if (n < y + m) { z <- n; } else { z <- y + m; }",
            "5*min(max(0, n), max(0, 2*m))",
        ),
        ("x <- 0; if (A[y] > 0) { z <- n; } else { z <- 2*n; }", "4 + 2*max(0, n)"),
        ("x <- tid.x < m ? 0 : 4; z <- n;", "32*max(0, n)"),
        ("x <- A[y] > 0 ? 0 : 4; z <- n;", "4 + 32*max(0, n)"),
    ],
)
def test_a_window_whose_ends_are_chosen(ends: str, bound: str) -> None:
    found = result(f"y <- 32 * blockIdx.x + tid.x; {ends} while (x < z) {{ go <- A[x] > 0; x <- x + 1; }}")
    for n in (-3, 0, 1, 9, 40):
        for m in (-1, 0, 2, 30):
            at: dict[Leaf, int] = {Param("n"): n, Param("m"): m}
            assert evaluate(valid(found), at) == evaluate(pot(bound), at)


@pytest.mark.parametrize("start", ["tid.x % n - m", "A[tid.x]"])
def test_a_window_whose_ends_are_clamped(start: str) -> None:
    """As in pooling: both ends are made of where it starts, and that gets another value before the loop."""
    loop = "z <- x; while (z < y) { A[0] <- 1; z <- z + 1; }"
    found = result(f"x <- {start}; y <- min(x + k, n); x <- max(x, 0); {loop}")
    own = 4 if "A" in start else 0
    assert str(valid(found) - own) == "max(0, min(k, n))"


@pytest.mark.parametrize(
    ("end", "bound"),
    [
        ("2 * y + 2", "18"),
        ("min(2 * y + 2, n)", "9*max(0, min(2, n))"),
        ("2 * y + n", "9*max(0, n)"),
    ],
)
def test_a_window_behind_a_test(end: str, bound: str) -> None:
    """By the turns that it has, and not by what the test says of where it begins; nor by how often they are halved."""
    loop = f"x <- 2 * y; while (x < {end}) {{ go <- A[x] > 0; x <- x + 1; }}"
    found = result(f"y <- 32 * blockIdx.x + tid.x; if (y < m) {{ {loop} }}")
    for n in (-3, 0, 1, 9, 40):
        at: dict[Leaf, int] = {Param("n"): n, Param("m"): 1000}
        assert evaluate(valid(found), at) == evaluate(pot(bound), at)


@pytest.mark.parametrize(
    ("limit", "bound"),
    [
        ("min(A[blockIdx.x], 100)", "101"),
        ("min(A[blockIdx.x], n)", "1 + max(0, n)"),
        ("min(A[tid.x], 100)", "104"),
    ],
)
def test_a_limit_that_was_read(limit: str, bound: str) -> None:
    found = result(f"y <- {limit}; x <- 0; while (x < y) {{ A[0] <- 1; x <- x + 1; }}")
    assert valid(found) == pot(bound)


@pytest.mark.parametrize(
    ("first", "bound"),
    [
        ("min(A[blockIdx.x], 100)", "101"),
        ("A[blockIdx.x] & 15", "16"),
        ("min(A[blockIdx.x], n)", "1 + max(0, n)"),
    ],
)
def test_a_counter_that_falls_from_what_was_read(first: str, bound: str) -> None:
    """What the loop needs is about the counter, which nothing before it can say: its limit is said instead."""
    found = result(f"x <- {first}; while (x > 0) {{ A[0] <- 1; x <- x - 1; }}")
    assert valid(found) == pot(bound)


def test_a_counter_that_falls_from_what_was_read_and_nothing_bounds() -> None:
    assert result("x <- A[0]; while (x > 0) { A[0] <- 1; x <- x - 1; }").verdict == "not-proved"


def test_a_limit_that_was_read_and_nothing_bounds() -> None:
    assert result("y <- A[blockIdx.x]; x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }").verdict == "not-proved"


def test_nothing_is_0_in_a_potential_in_front_of_a_branch() -> None:
    """Of max(0, -y), which is 0 there, but not at sizes that no grid has, one could take away as much as one likes."""
    loop = "y <- x % m; z <- tid.x; while (z <= y) { A[z] <- 1; z <- z + 32; }"
    found = result(f"x <- gridDim.x - blockIdx.x - 1; if (x < n) {{ {loop} }}")
    told = "4*max(0, ceil((gridDim.x - blockIdx.x - m*trunc((gridDim.x - 1 - blockIdx.x)/m))/32))"
    assert str(valid(found)) == told


@pytest.mark.parametrize(
    ("test", "bound"),
    [("tid.x == 0", "1"), ("32 * blockIdx.x + tid.x == n", "1"), ("tid.x < 2", "2"), ("tid.x % 16 == n", "2")],
)
def test_one_thread_is_not_divided(test: str, bound: str) -> None:
    found = result(f"z <- A[tid.x]; if ({test}) {{ if (A[5] > z) {{ A[0] <- 1; }} }}", metric="divwarps")
    assert valid(found) == pot(bound)


@pytest.mark.parametrize("test", ["y == n - 1", "n == y + 1", "y == n * m"])
def test_one_thread_touches_one_element(test: str) -> None:
    assert valid(result(f"y <- 32 * blockIdx.x + tid.x; if ({test}) {{ A[7 * y] <- 1; }}")) == pot("1")


def test_what_a_flag_stands_for() -> None:
    found = result("y <- 32 * blockIdx.x + tid.x; go <- y < n; if (go) { go <- A[y] > 0; } if (go) { A[y] <- 1; }")
    assert valid(found) == pot("8")


def test_a_stride_that_has_a_name() -> None:
    body = "y <- 32 * gridDim.x; x <- 32 * blockIdx.x + tid.x; while (x < n) { A[x] <- 1; x <- x + y; }"
    assert str(valid(result(body, metric="steps"))).count("(32*gridDim.x + n - 1)/(32*gridDim.x)") == 1


@pytest.mark.parametrize(
    ("body", "sectors"),
    [
        ("A[x / n * n + x % n] <- 1;", 4),
        ("A[(x / (n * m) * m + x / n % m) * n + x % n] <- 1;", 4),
        ("y <- x % n; x <- x / n; z <- x % m; x <- x / m; A[(x * m + z) * n + y] <- 1;", 4),
        ("if (x < k) { y <- x % n; x <- x / n; A[x * n + y] <- 1; }", 4),
        ("if (x < k) { x <- x / n; A[x] <- 1; }", 5),
    ],
)
def test_an_index_that_is_taken_apart(body: str, sectors: int) -> None:
    """As those of pixels in rows, channels and pictures: what is made of the parts again is the index."""
    assert valid(result(f"x <- 256 * blockIdx.x + tid.x; {body}", block="256")) == pot(str(sectors))


def test_a_nest_in_a_grid_stride() -> None:
    """What a turn of the outer loop takes is shown for each of its products, however many blocks there are."""
    inner = "y <- 0; while (y < m) { A[0] <- 1; z <- 0; while (z < k) { A[0] <- 1; z <- z + 1; } y <- y + 1; }"
    found = result(f"x <- tid.x; while (x < n) {{ {inner} x <- x + 32 * gridDim.x; }}")
    turns = "max(0, trunc((32*gridDim.x + n - 1)/(32*gridDim.x)))"
    assert str(valid(found)) == f"max(0, m)*{turns} + max(0, k)*max(0, m)*{turns}"


@pytest.mark.parametrize(
    ("first", "step"),
    [
        ("(tid.y * blockDim.x + tid.x) % 32", 32),
        ("(tid.y * blockDim.x + tid.x) / 32", 4),
        ("tid.y * 8 + tid.x / 4", 32),
    ],
)
def test_a_lane_or_a_warp_of_a_block_in_two_dimensions(first: str, step: int) -> None:
    found = result(f"x <- {first}; while (x < n) {{ A[0] <- 1; x <- x + {step}; }}", block="32, 4")
    assert found.verdict == "certified", found.problem
    assert valid(found) == pot(f"max(0, ceil(n/{step}))")


def test_a_nest() -> None:
    found = result("x <- 0; while (x < n) { y <- 0; while (y < m) { A[0] <- 1; y <- y + 1; } x <- x + 1; }")
    assert found.claim is not None
    for n in (-2, 0, 1, 5):
        for m in (-2, 0, 3):
            value = evaluate(found.claim.pre.q, {Param("n"): n, Param("m"): m})
            assert value == max(0, n) * max(0, m)


@pytest.mark.parametrize(
    ("limit", "given"), [("32", ""), ("blockDim.x", ""), ("m", "m == 32"), ("m", "32 == k && m == k")]
)
def test_a_nest_of_which_a_limit_is_known(limit: str, given: str) -> None:
    """Of two potentials that are the same for the known number, one could grow without end as the other falls."""
    nest = f"x <- 0; while (x < n) {{ y <- 0; while (y < {limit}) {{ A[0] <- 1; y <- y + 1; }} x <- x + 1; }}"
    assert valid(result(nest, given)) == pot("32*max(0, n)")


@pytest.mark.parametrize(
    ("given", "step"), [("m >= 4", 4), ("m > 3", 4), ("4 <= m", 4), ("m >= 0", 1), ("m == 2*k && k == 4", 8)]
)
def test_a_step_with_a_least_size(given: str, step: int) -> None:
    found = result(
        "x <- 0; while (x < n) { A[0] <- 1; x <- x + (m > 0 ? m : 1); }".replace("(m > 0 ? m : 1)", "m"), given
    )
    if step == 1:
        assert found.claim is None
    else:
        assert valid(found) == pot(f"max(0, ceil(n/{step}))")


@pytest.mark.parametrize(
    ("body", "sectors"),
    [
        ("y <- tid.x; x <- 0; while (x < n) { A[y] <- 1; y <- y + 32; x <- x + 1; }", "4*max(0, n)"),
        ("y <- tid.x; x <- 0; while (x < n) { A[y] <- 1; y <- y + m; x <- x + 1; }", "5*max(0, n)"),
        ("y <- tid.x; x <- n; while (x > 0) { x <- x - 1; A[y] <- 1; y <- y - 8; }", "4*max(0, n)"),
        (
            "y <- 8*m + tid.x; x <- 3; while (x < n) { A[y] <- 1; y <- y + 16; x <- x + 2; }",
            "4*max(0, ceil((n - 3)/2))",
        ),
        ("y <- tid.x; x <- 0; while (x < n) { A[y] <- 1; y <- y + 3; x <- x + 2; }", "32*max(0, ceil(n/2))"),
        ("y <- tid.x; x <- 0; while (x < n) { A[y] <- 1; y <- y + 32; y <- y + 1; x <- x + 1; }", "32*max(0, n)"),
        ("y <- tid.x; x <- 0; while (x < n) { A[y] <- 1; y <- y + x; x <- x + 1; }", "32*max(0, n)"),
        (
            "y <- tid.x; x <- 0; while (x < n) { A[y] <- 1; if (tid.x < 7) { y <- y + 32; } x <- x + 1; }",
            "32*max(0, n)",
        ),
    ],
)
def test_an_index_that_moves_with_the_counter(body: str, sectors: str) -> None:
    """y == tid.x + 32*x: lanes stay where they are to each other."""
    assert valid(result(body)) == pot(sectors)


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("y <- n / blockDim.x; x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "max(0, floor(n/32))"),
        (
            "x <- 0; while (x < (n + 31) / blockDim.x) { A[0] <- 1; x <- x + 1; }",
            "max(0, floor((n + 31)/32))",
        ),
        ("y <- 1 << m; x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "8"),
        ("x <- 0; while (x < 1 << m && x < n) { A[0] <- 1; x <- x + 1; }", "max(0, min(8, n))"),
        ("x <- 0; while (x < n >> m) { A[32*x + tid.x] <- 1; x <- x + 1; }", "4*max(0, floor(n/8))"),
        (
            "y <- (n + 31) / blockDim.x; x <- y*tid.x; while (x < y*tid.x + y && x < n) { A[x] <- 1; x <- x + 1; }",
            "32*max(0, floor((n + 31)/32))",
        ),
        ("y <- n / gridDim.x; x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "max(0, trunc(n/gridDim.x))"),
    ],
)
def test_sizes_that_the_launch_knows(body: str, bound: str) -> None:
    """Division by blockDim.x, and a shift by what is assumed to be a number, are potentials with that number."""
    assert valid(result(body, "m == 3")) == pot(bound)


@pytest.mark.parametrize("size", ["blockDim.x / 2", "blockDim.x"])
@pytest.mark.parametrize("test", ["n == 0", "tid.x == 0"])
def test_a_size_that_the_launch_knows_in_a_branch(size: str, test: str) -> None:
    """Beside a constant, multiples of what is 64 anyway could grow for ever as the constant falls."""
    loop = "x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }"
    found = result(f"y <- {size}; if ({test}) {{ {loop} }}", block="64")
    assert evaluate(valid(found), {Param("blockDim.x"): 64}) == (32 if "/" in size else 64)


def test_a_counter_that_begins_at_another_one() -> None:
    """The lanes of the outer loop are next to each other, and so are those of the inner one that begins there."""
    found = result(
        "x <- tid.x; while (x < 32) { y <- x; while (y < n) { A[y] <- 1; y <- y + 32; } x <- x + blockDim.x; }"
    )
    assert valid(found) == pot("5*max(0, ceil(n/32))")


WARP = "y <- {}; x <- 0; while (x < y) {{ A[0] <- 1; x <- x + 1; }}"


@pytest.mark.parametrize(
    ("block", "number", "last", "sum_"),
    [
        ("256", "tid.x / 32", 7, 28),
        ("200", "tid.x >> 5", 6, 21),
        ("32, 8", "tid.y", 7, 28),
        ("16, 16", "tid.y / 2", 7, 28),
        ("256", "3 * (tid.x / 32)", 21, 84),
        ("256", "(blockIdx.x * 256 + tid.x) / 32 - 8 * blockIdx.x", 7, 28),
    ],
)
def test_as_many_turns_as_there_are_warps_before(block: str, number: str, last: int, sum_: int) -> None:
    """`for (j = 0; j < threadIdx.x / 32; j++)`, as where a block adds up what its warps have found."""
    body = WARP.format(number)
    assert valid(result(body, block=block)) == pot(str(last))
    found = result(body, block=block, per="block")
    assert rechecked(found) == "valid"
    assert found.claim is not None
    assert found.claim.bound == pot(str(sum_))


@pytest.mark.parametrize(
    ("block", "number", "cost"), [("16, 4", "tid.y", 4), ("48, 2", "tid.y", 2), ("64", "tid.x / 16", 4)]
)
def test_what_differs_within_a_warp_is_not_its_number(block: str, number: str, cost: int) -> None:
    found = result(WARP.format(number), block=block, per="block")
    assert found.claim is None or evaluate(found.claim.bound, {}) >= cost


def test_a_guard_that_lets_a_part_of_a_warp_through_is_paid_by_the_lanes() -> None:
    """Per block: 8 lanes write a sector, whichever warps they are of; a warp alone may be whole."""
    body = "if (tid.x < n) { A[tid.x] <- 1; }"
    assert valid(result(body, block="64")) == pot("4")
    found = result(body, block="64", per="block")
    assert rechecked(found) == "valid"
    assert found.claim is not None
    for n in range(-1, 70):
        assert evaluate(found.claim.bound, {Param("n"): n}) == (min(max(0, n), 64) + 7) // 8


def test_a_nest_over_the_blocks_number() -> None:
    """Blocks cost 0, 1, 4, .., 81: squares have a sum in closed form."""
    body = "x <- 0; while (x < blockIdx.x) { y <- 0; while (y < blockIdx.x) { A[0] <- 1; y <- y + 1; } x <- x + 1; }"
    for per, bound in (("warp", "81"), ("block", "blockIdx.x*blockIdx.x"), ("grid", "285")):
        found = result(body, block="32 grid 10", per=per)  # type: ignore[arg-type]
        assert rechecked(found) == "valid"
        assert found.claim is not None
        assert found.claim.bound == pot(bound)


def test_where_it_is_small_is_where_it_holds() -> None:
    """At points that facts exclude a bound may be anything: they do not make the linear program unbounded."""
    found = result("if (n > 1) { x <- tid.x; while (x < n) { A[x] <- 1; x <- x + 32; } }", "n >= 1")
    assert valid(found) == pot("4*max(0, ceil(n/32))")


def test_a_bound_is_small_at_blocks_and_warps_that_there_are() -> None:
    """In a grid of unknown size, too, and where it is made that of one block: at others the program is unbounded."""
    context = parse_outline(f"{HEADER}skip;\nend", "k.qhl").context
    context = replace(context, launch=Launch((64, 1, 1), (None, 1, 1)))
    index, size, warp = Param("blockIdx.x"), Param("gridDim.x"), Param("warp.index")
    points = list(stores([x.name for x in (index, size, warp)], context))
    assert len({point[size] for point in points}) > 4
    for point in (*points, *(inside(point | {size: 1}, context) for point in points)):
        assert 0 <= point[index] < max(1, point[size])
        assert 0 <= point[warp] < 2


def test_a_nest_over_one_range() -> None:
    """for (y = m*x; y < m*(x + 1); y++): the products cancel where the inner loop is entered."""
    found = result(
        "x <- 0; while (x < n) { y <- m * x; while (y < m * (x + 1)) { A[0] <- 1; y <- y + 1; } x <- x + 1; }"
    )
    assert valid(found) == pot("max(0, m)*max(0, n)")


def test_a_deep_nest() -> None:
    """The outer potential is a product of what all loops inside count; three factors need facts times two of them."""
    inner = "z <- 0; while (z < k) { A[0] <- 1; z <- z + 1; }"
    found = result(
        f"x <- 0; while (x < n) {{ y <- 0; while (y < m) {{ {inner} y <- y + 1; }} A[0] <- 1; x <- x + 1; }}"
    )
    assert found.verdict == "certified", found.problem
    assert found.claim is not None
    assert str(found.claim.pre.q) == "max(0, n) + max(0, k)*max(0, m)*max(0, n)"
    assert rechecked(found) == "valid"


@pytest.mark.parametrize(
    ("given", "body", "bound"),
    [
        ("n >= 0", "x <- 0; while (x != n) { A[0] <- 1; x <- x + 1; }", "max(0, n)"),
        ("n >= 0", "x <- n; while (x != 0) { A[0] <- 1; x <- x - 1; }", "max(0, n)"),
        ("n >= 0", "x <- n - 1; while (x + 1 != 0) { A[0] <- 1; x <- x - 1; }", "max(0, n)"),
        ("n >= m", "x <- m; while (x != n) { A[0] <- 1; x <- x + 1; }", "max(0, n - m)"),
        ("n >= 0 && n % 2 == 0", "x <- 0; while (x != n) { A[0] <- 1; x <- x + 2; }", "max(0, ceil(n/2))"),
        ("n >= 0", "x <- 0; while (x != n) { A[0] <- 1; x <- x + 2; }", None),
        ("n >= -1", "x <- 0; while (x != n) { A[0] <- 1; x <- x + 1; }", None),
        ("n >= 0", "x <- 0; while (x != n) { A[0] <- 1; x <- x - 1; }", None),
        ("n >= 0", "x <- n - 2; while (x + 1 != 0) { A[0] <- 1; x <- x - 1; }", None),
    ],
)
def test_a_test_for_a_difference(given: str, body: str, bound: str | None) -> None:
    """Bounded where the counter cannot pass its limit; that it is below is known before the potential is used."""
    found = result(body, given)
    if bound is None:
        assert found.claim is None
        return
    assert valid(found) == pot(bound)


@pytest.mark.parametrize(
    "body",
    [
        "while (true) { A[0] <- 1; }",
        "x <- 0; while (x < n) { A[0] <- 1; }",
        "x <- 0; while (x < n) { A[0] <- 1; x <- x - 1; }",
        "x <- 0; while (x != n) { A[0] <- 1; x <- x + 1; }",
        "x <- 0; while (x < n) { A[0] <- 1; x <- x + A[x]; }",
        "x <- 0; while (x < n) { A[0] <- 1; x <- x + m; }",
        "x <- A[0]; while (x > 0) { A[0] <- 1; x <- x - 1; }",
        f"y <- n; {'y <- y * y; ' * 30} x <- 0; while (x < y) {{ A[0] <- 1; x <- x + 1; }}",
        f"y <- 3; {'y <- y * y; ' * 30} x <- 0; while (x < y) {{ A[0] <- 1; x <- x + 1; }}",
    ],
)
def test_no_potential(body: str) -> None:
    found = result(body)
    assert (found.verdict, found.claim) == ("not-proved", None)
    assert isinstance(found.problem, Stuck)
    assert found.problem.loc is not None


@pytest.mark.parametrize(
    ("body", "reason", "advice"),
    [
        (
            "x <- tid.x; flag <- x < 9; while (x != n && flag) { x <- x + 1; flag <- x < tid.x; }",
            "'x', which differs",
            "Count its turns",
        ),
        (
            "y <- tid.x ^ n; x <- 0; while (x < y) { x <- x + 1; }",
            "'y', which differs",
            "//@ loop invariant y <= LIMIT;",
        ),
        (
            "x <- tid.x; while (x < n) { x <- x + m; }",
            "moves by m, which is not known to be above 0",
            '--assume "m > 0"',
        ),
        ("x <- 0; while (x < n) { x <- x + m; }", "moves by m, which is not known to be above 0", '--assume "m > 0"'),
        ("x <- n; while (x > 0) { x <- x - m; }", "moves by -m, which is not known to be below 0", '--assume "m > 0"'),
        ("y <- n; x <- 0; while (x < m) { x <- x + y; }", "moves by n, which", '--assume "n > 0"'),
        ("y <- n / m; x <- 0; while (x < k) { x <- x + y; }", "moves by n / m, which", '--assume "n / m > 0"'),
        (
            "x <- 0; while (x < n) { x <- x + k / 32; }",
            "moves by trunc(k/32), which",
            '--assume "k >= 32"',
        ),
        (
            "y <- 3 * (k / 32); x <- n; while (x > 0) { x <- x - y; }",
            "moves by -3*trunc(k/32), which",
            '--assume "k >= 32"',
        ),
        ("y <- (tid.x + n) % m; x <- 0; while (x <= y) { x <- x + 1; }", "'y', which differs", 'Say --assume "m > 0".'),
        (
            "y <- ((tid.x + n) / k) % m; x <- 0; while (x < y) { x <- x + 1; }",
            "'y', which differs",
            'Say --assume "m > 0".',
        ),
        (
            "y <- m - (tid.x + n) / k; x <- 0; while (x < y) { x <- x + 1; }",
            "'y', which differs",
            'Say --assume "k > 0".',
        ),
        ("x <- n; while (x != 3) { x <- x - 1; }", "fails only if n - 3 >= 0", '--assume "n - 3 >= 0"'),
        ("x <- n; while (x != 3) { x <- x - 1; x <- x - 1; }", "none over its guard, x != 3", "loop potential q;"),
        ("x <- n; while (0 != m + x) { x <- x + 1; }", "fails only if -m - n >= 0", '--assume "-m - n >= 0"'),
        ("z <- 7; x <- A[0]; while (x != z) { z <- x; x <- A[z]; }", "until 'x', which is read from 'A'", "Add a test"),
        ("x <- n; while (x != 3) { x <- x + blockDim.x; }", "none over its guard, x != 3", "loop potential q;"),
        ("x <- n; while (x != 3) { x <- x - blockDim.x; }", "none over its guard, x != 3", "loop potential q;"),
        ("x <- 0; while (A[x] > 0) { x <- x + 1; }", "its guard reads 'A'", "Add a test to its guard"),
        ("y <- A[0]; x <- 0; while (x < y) { x <- x + 1; }", "'y', which is read from 'A' (line 8)", "Add a test"),
        (
            "y <- A[0]; z <- A[1]; x <- z; while (x < y && x < n) { x <- x + 1; }",
            "it begins at 'z', which is read from 'A' (line 8), and may be anything",
            "set z to 0 where it is less",
        ),
        (
            "x <- A[0]; while (x > 12) { x <- x - 12; }",
            "it begins at 'x', which is read from 'A' (line 8), and may be anything",
            "before one that counts down, set x to a limit over parameters where it is more",
        ),
        (
            "y <- 1 << n; x <- 0; while (x < y) { x <- x + 1; }",
            "its guard depends on 'y', 1 << n (line 8), which no potential can say",
            "Add a test to its guard",
        ),
        ("x <- 0; while (x < n) { y <- y + 1; }", "its body changes nothing that its guard tests", "missing?"),
        ("go <- true; while (go) { go <- A[x] > 0; x <- x + 1; }", "only what its body finds ends it", "Add a test"),
        ("x <- 1; while (x < n) { x <- x * x; }", "'x' is not moved by a fixed amount", "loop potential q;"),
        ("x <- 1; while (x < n) { x <- x * m; }", "is not moved by a fixed amount", "loop potential q;"),
        (
            "x <- 0; while (x < n) { y <- 0; while (y < x * x) { y <- y + 1; } x <- x + 1; }",
            "the loop inside it (line 8) runs until 'x', which this one changes",
            "//@ loop invariant x <= LIMIT;",
        ),
    ],
)
def test_what_is_in_the_way(body: str, reason: str, advice: str) -> None:
    """A limit can be bounded for all lanes, a counter cannot; flags, such as `break` makes, are no help to speak of."""
    outline = parse_outline(f"{HEADER.replace('begin', 'local bool flag; begin')}{body}\nend", "k.qhl")
    (found,) = find_bounds(outline, (METRICS["steps"],), Oracles())
    assert isinstance(found.problem, Stuck)
    assert reason in found.problem.message
    assert advice in found.problem.advice


def test_a_step_that_is_known_to_be_positive_is_not_to_blame() -> None:
    outline = parse_outline(
        f"{HEADER.replace('begin', 'requires m >= 1; begin')}x <- n; while (x != 3) {{ x <- x + m; }}\nend", "k"
    )
    (found,) = find_bounds(outline, (METRICS["steps"],), Oracles())
    assert isinstance(found.problem, Stuck)
    assert "moves by" not in found.problem.message


def test_potentials_stated_for_another_metric_are_not_looked_at() -> None:
    stated = "x <- 0; while (x < n) invariant { _; 7*|[x, n]|; {x} } { A[0] <- 1; x <- x + 1; }"
    outline = parse_outline(f"{HEADER}{stated}\nend", "k")
    metrics = METRICS["sectors"], METRICS["divwarps"]
    for hinted, bounds in (("sectors", ["7*max(0, n)", "0"]), (None, ["7*max(0, n)", "7*max(0, n)"])):
        found = find_bounds(outline, metrics, Oracles(), hinted=hinted)
        assert [str(r.claim.pre.q) for r in found if r.claim] == bounds


def test_a_part_is_folded_only_where_it_is_all_there_is() -> None:
    """Of x/2 + x <= m nothing is known of the new x after x <- x/2."""
    found = result("x <- n; if (x / 2 + x <= m) { x <- x / 2; y <- 0; while (y < m) { A[0] <- 1; y <- y + 1; } }")
    assert valid(found) == pot("max(0, m)")


def test_a_wrong_solution_is_not_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the linear program's answer garbage, the kernel would refuse what is made of it."""
    monkeypatch.setattr(lp, "solve", lambda _: {})
    found = result("x <- 0; while (x < n) { A[0] <- 1; x <- x + 1; }")
    assert (found.verdict, found.claim) == ("not-proved", None)


def test_a_bound_without_loops_stays_where_branches_have_no_potential(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sharper search has a linear program, and may find no solution of it."""
    asked: list[object] = []
    monkeypatch.setattr(lp, "solve", asked.append)
    found = result("if (n > 4) { A[0] <- 1; } if (n <= 4) { A[1] <- 1; }")
    assert asked
    assert found.claim is not None
    assert found.claim.pre.q == pot("2")


def test_a_stated_potential_is_kept() -> None:
    stated = "x <- 0; while (x < n) invariant { _; 7*|[x, n]|; {x} } { A[0] <- 1; x <- x + 1; }"
    found = result(stated)
    assert found.claim is not None
    assert found.claim.pre.q == pot("7*max(0, n)")
    outline = parse_outline(f"{HEADER}{stated}\nend", "k")
    oracle = Oracles()
    flow = analyse(outline, oracle)
    assert find_potentials(flow, Elaborator(outline.context, oracle, oracle.least)) is flow


def test_measures_of_a_guard() -> None:
    outline = parse_outline(f"{HEADER}x <- 0; while (x < n && y > 0 && A[x] > 0) {{ x <- x + 2; }}\nend", "k")
    cycle = next(node for node in analyse(outline, Oracles()).nodes if isinstance(node, Cycle))
    found = measures(cycle, outline.context)
    assert found == [pot("max(0, ceil((n - x)/2))")]


@pytest.mark.parametrize(
    ("step", "measure"),
    [
        ("1", "|[x, n]|"),
        ("blockDim.x", "max(0, ceil((n - x)/32))"),
        ("8 * gridDim.x", "max(0, ceil((n - x)/8))"),
        ("m", "|[x, n]|"),
    ],
)
def test_the_least_step_counts(step: str, measure: str) -> None:
    outline = parse_outline(f"{HEADER}x <- 0; while (x < n) {{ x <- x + {step}; }}\nend", "k")
    cycle = next(node for node in analyse(outline, Oracles()).nodes if isinstance(node, Cycle))
    assert pot(measure) in measures(cycle, outline.context)


@pytest.mark.parametrize(
    ("text", "polys"),
    [
        ("x < n", ["n - x - 1"]),
        ("x <= n", ["n - x"]),
        ("x > n", ["x - n - 1"]),
        ("x >= n", ["x - n"]),
        ("x == n", ["n - x", "x - n"]),
        ("x != n", []),
        ("x < n || x > n", []),
        ("x % n == 0", ["n*trunc(x/n) - x", "x - n*trunc(x/n)"]),
    ],
)
def test_facts_nonnegative(text: str, polys: list[str]) -> None:
    assert list(Facts((expr(text),)).nonnegative) == [pot(p) for p in polys]


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        (
            ("y <- max(0, tid.x - m); z <- min(n - 1, tid.x + m); x <- y; while (x <= z) { A[0] <- 1; x <- x + 1; }"),
            "max(0, min(n, 1 + 2*m))",
        ),
        ("y <- tid.x; x <- y + 1; while (x < n) { A[0] <- 1; x <- x + 1; }", "max(0, n - 1)"),
        ("y <- min(A[tid.x], m); x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "4 + max(0, m)"),
        ("y <- max(min(A[tid.x], m), 3); x <- 0; while (x < y) { A[0] <- 1; x <- x + 1; }", "4 + max(m, 3)"),
        (
            "y <- tid.x; z <- n; while (y < z) { A[0] <- 1; if (A[y] > 0) { y <- y + 1; } else { z <- z - 1; } }",
            "33*max(0, n)",
        ),
        (
            (
                "x <- 0; while (x < n) { y <- max(0, tid.x - m); z <- min(n, tid.x + m); "
                "while (y < z) { A[0] <- 1; y <- y + 1; } x <- x + 1; }"
            ),
            "max(0, n)*max(0, min(n, 2*m))",
        ),
    ],
)
def test_lanes_that_turn_differently_often(body: str, bound: str) -> None:
    """A ghost counts the turns that are left at most: windows, triangles, limits out of arrays."""
    found = result(body)
    assert found.verdict == "certified", found.problem
    assert found.claim is not None
    assert found.claim.pre.q == pot(bound)


def test_an_objective_without_terms_is_empty() -> None:
    """Where nothing costs anything, there is nothing to make small."""
    assert objective(Linear({}), parse_outline(f"{HEADER}skip;\nend", "k.qhl").context) == {}


def test_what_was_found_is_not_paid_twice_where_nobody_says_that_it_is_enough() -> None:
    inner = "{0} <- 0; while ({0} < m) {{ A[0] <- 1; {0} <- {0} + 1; }}"
    body = f"x <- 0; while (x < n) {{ {inner.format('y')} {inner.format('z')} x <- x + 1; }} A[0] <- 1;"
    outline = parse_outline(f"{HEADER}{body}\nend", "k.qhl")
    oracle, context = Oracles(), outline.context

    def silent(_: Obligation, __: Context) -> Unknown:
        return Unknown("silent")

    found = find_potentials(analyse(outline, oracle), Elaborator(context, oracle, oracle.least))
    proofs = [
        Elaborator(context, told, oracle.least).block(found, Point(found.end.p, ZERO, found.end.x))
        for told in (oracle, silent)
    ]
    assert [proof.pre.q for proof in proofs] == [pot("1 + 2*max(0, n)*max(0, m)")] * 2
