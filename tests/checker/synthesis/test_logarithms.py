"""The search for potentials of loops whose counter is doubled or halved, and of searches: bounds in log2."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logic.potentials import evaluate
from logic.syntax import Param
from tests.checker.synthesis.bounded import rechecked, result, valid
from tests.logic.rules.applications import pot


def halvings(x: int, by: int = 2, until: int = 0) -> int:
    """How often x > until can be divided."""
    return 1 + halvings(x // by, by, until) if x > until else 0


def doublings(x: int, n: int, by: int = 2) -> int:
    """How often x < n can be multiplied."""
    return 1 + doublings(x * by, n, by) if x < n else 0


@pytest.mark.parametrize(
    ("body", "turns"),
    [
        ("x <- 1; while (x < n) { A[0] <- 1; x <- x * 2; }", lambda n: doublings(1, n)),
        ("x <- 1; while (x <= n) { A[0] <- 1; x <- x << 1; }", lambda n: doublings(1, n + 1)),
        ("x <- 1; while (n > x) { A[0] <- 1; x <- x + x; }", lambda n: doublings(1, n)),
        ("x <- 1; while (x < n) { A[0] <- 1; x <- 4 * x; }", lambda n: doublings(1, n, 4)),
        ("y <- 1; x <- 1; while (x < n) { A[0] <- 1; x <- x << 3; y <- y + x; }", lambda n: doublings(1, n, 8)),
        ("x <- 4; while (x < n) { A[0] <- 1; x <- x * 2; }", lambda n: doublings(4, n)),
        ("x <- 1; while (2 * x < n) { A[0] <- 1; x <- x * 2; }", lambda n: doublings(2, n)),
        ("x <- n; while (x > 0) { A[0] <- 1; x <- x / 2; }", halvings),
        ("x <- n; while (x >= 1) { A[0] <- 1; x <- x >> 1; }", halvings),
        ("x <- n / 2; while (x > 0) { A[0] <- 1; x <- x >> 1; }", lambda n: halvings(max(0, n) // 2)),
        ("x <- n; while (x > 0) { A[0] <- 1; x <- x >> 2; }", lambda n: halvings(n, 4)),
        ("x <- n; while (x > 7) { A[0] <- 1; x <- x / 2; }", lambda n: halvings(n, 2, 7)),
        ("x <- n; while (x >= 8) { A[0] <- 1; x <- x / 4; }", lambda n: halvings(n, 4, 7)),
        ("x <- n; while (x > 1) { A[0] <- 1; x <- (x + 1) / 2; }", lambda n: halvings(n - 1)),
        ("x <- n; while (x > 1) { A[0] <- 1; x <- x - x / 2; }", lambda n: halvings(n - 1)),
        ("x <- n; while (x > 1) { y <- x / 2; A[y] <- 1; x <- x - y; }", lambda n: halvings(n - 1)),
        ("x <- n; while (x > 1) { A[0] <- 1; x <- x - (x >> 1); }", lambda n: halvings(n - 1)),
        ("x <- n; while (x > 0) { A[0] <- 1; x <- (x - 1) / 2; }", lambda n: halvings(n + 1, 2, 1)),
        ("x <- 1; while (x < n) { A[0] <- 1; x <- 2 * x + 1; }", lambda n: doublings(2, n + 1)),
        ("x <- 2; while (n > x) { A[0] <- 1; x <- x * 4 - 3; }", lambda n: doublings(1, n - 1, 4)),
        ("y <- n; x <- 1; while (x < n && y > 0) { A[0] <- 1; x <- x * 2; y <- y / 2; }", lambda n: doublings(1, n)),
    ],
)
def test_logarithmic_loops(body: str, turns: Callable[[int], int]) -> None:
    """A counter that is multiplied or divided: the bound is reached at every n."""
    found = result(body)
    assert rechecked(found) == "valid"
    assert found.claim is not None
    for n in range(-3, 140):
        assert evaluate(found.claim.pre.q, {Param("n"): n}) == turns(n)


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("x <- n; while (x > 0) { A[0] <- 1; x <- x / 3; }", "log2(n) + min(1, max(0, n))"),
        ("x <- 1; while (x < n) { A[0] <- 1; x <- x * 3; }", "log2(2*n - 1)"),
        ("x <- n; while (x > 32) { A[0] <- 1; x <- x / 2; }", "max(0, log2(n) - 4)"),
        ("y <- 0; while (y < m) { x <- 1; while (x < n) { A[0] <- 1; x <- x * 2; } y <- y + 1; }", None),
        ("x <- 1; while (x < n) { y <- 0; while (y < m) { A[0] <- 1; y <- y + 1; } x <- x * 2; }", None),
    ],
)
def test_logarithmic_loops_by_other_factors_and_in_nests(body: str, bound: str | None) -> None:
    """Factors that are no power of two count as the next lower one; so does a limit."""
    found = result(body)
    assert valid(found) == pot(bound or "max(0, m)*log2(2*n - 1)")


@pytest.mark.parametrize(
    ("start", "test", "step", "limit", "unrolled", "turns"),
    [
        (8, "x > 0", "x / 2", "n", False, 4),
        (2, "x < 9", "x * 2", "n", False, 3),
        # a logarithm is not how often these turn
        (8, "x > 2", "x >> 1", "n", True, 2),
        (3, "x < 9", "x * 2", "n", True, 2),
        # the loop inside does not turn as often in each turn
        (4, "x > 0", "x / 2", "x * 5", True, 5 * (4 + 2 + 1)),
    ],
)
def test_loops_around_loops_are_unrolled_where_a_logarithm_says_less(
    start: int, test: str, step: str, limit: str, unrolled: bool, turns: int
) -> None:
    found = result(
        f"x <- {start}; while ({test}) {{ y <- 0; while (y < {limit}) {{ A[0] <- y; y <- y + 1; }} x <- {step}; }}"
    )
    assert valid(found) == pot(f"{turns}" if limit != "n" else f"{turns}*max(0, n)")
    assert found.derivation is not None
    applied, left = list[str](), [found.derivation]
    while left:
        one = left.pop()
        applied.append(one.rule)
        left.extend(one.premises)
    assert ("Q:Unroll" in applied) == unrolled


@pytest.mark.parametrize(
    "body",
    [
        "x <- 0; while (x < n) { A[0] <- 1; x <- x * 2; }",
        "x <- m; while (x < n) { A[0] <- 1; x <- x * 2; }",
        "x <- n; while (x >= 0) { A[0] <- 1; x <- x / 2; }",
        "x <- 1; while (x < n) { A[0] <- 1; x <- x * 2; if (m > 0) { x <- x / 2; } }",
        "x <- 1; while (x < n) { A[0] <- 1; x <- x * m; }",
        "x <- 1; while (x < n) { A[0] <- 1; x <- 2 * x - 1; }",
        "x <- n; while (x > 0) { A[0] <- 1; x <- (x + 1) / 2; }",
        "x <- n; while (x > 1) { A[0] <- 1; x <- (x + 2) / 2; }",
        "x <- n; while (x > 0) { A[0] <- 1; x <- x - x / 2; }",
    ],
)
def test_a_counter_that_may_stay_where_it_is_has_no_logarithm(body: str) -> None:
    assert result(body).claim is None


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("x <- 0; while (x < n / 2) { A[0] <- 1; x <- x + 1; }", "max(0, floor(n/2))"),
        ("x <- 0; while (x < gridDim.x / 2) { A[0] <- 1; x <- x + 1; }", "max(0, floor(gridDim.x/2))"),
        ("x <- 1; while (x < n) { A[0] <- 1; x <- x * 2; }", "log2(2*n - 1)"),
        ("x <- n / 2; while (x < m) { A[0] <- 1; x <- x + 1; }", None),
    ],
)
def test_cases_that_make_no_difference_are_left_out(body: str, bound: str | None) -> None:
    """C rounds n/2 up where n is negative: m - n/2 is another number than m - floor(n/2) there."""
    found = result(body)
    assert rechecked(found) == "valid"
    assert found.claim is not None
    rounded = pot("max(0, m - (floor(max(0, n)/2) - floor(max(0, -n)/2)))")
    assert found.claim.pre.q == (rounded if bound is None else pot(bound))


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        (
            "x <- tid.x; while (go && x < n) { if (A[x] == 3) { go <- false; } else { x <- x + 32; } }",
            "32*max(0, ceil(n/32))",
        ),
        (
            "x <- tid.x; while (go && x < n) { if (A[x] == 3) { go <- false; } else { x <- x + 7; } }",
            "32*max(0, ceil(n/7))",
        ),
        (
            (
                "x <- max(0, tid.x - m); while (go && x < min(n, tid.x + m)) "
                "{ if (A[x] == 3) { go <- false; } else { x <- x + 1; } }"
            ),
            "32*max(0, min(n, 2*m))",
        ),
        # a lane that finds nothing may stay, or goes back
        ("x <- tid.x; while (go && x < n) { if (A[x] == 3) { go <- false; } else { x <- x - 1; } }", None),
        (
            "x <- tid.x; while (go && x < n) { if (A[x] == 3) { go <- false; } if (go && A[x] > 4) { x <- x + 1; } }",
            None,
        ),
    ],
)
def test_lanes_that_stop_where_they_find(body: str, bound: str | None) -> None:
    """`while (x < n) { if (..) break; x += 32; }`, where x stays as it is on a hit."""
    found = result(f"go <- true; {body}")
    if bound is None:
        assert found.claim is None
        return
    assert valid(found) == pot(bound)


SEARCH = "if (A[k + y] < A[tid.x]) { %s } else { %s }"


@pytest.mark.parametrize(
    ("body", "turns"),
    [
        # a uniform search, one in which lanes differ, and each way to say what is in the middle
        ("x <- 0; z <- n; while (x < z) { y <- (x + z) / 2; if (A[y] < k) { x <- y + 1; } else { z <- y; } }", "n"),
        (f"x <- 0; z <- n; while (x < z) {{ y <- (x + z) / 2; {SEARCH % ('x <- y + 1;', 'z <- y;')} }}", "n"),
        (f"x <- 0; z <- n; while (x < z) {{ y <- x + (z - x) / 2; {SEARCH % ('x <- y + 1;', 'z <- y;')} }}", "n"),
        (f"x <- 0; z <- n; while (x < z) {{ y <- (x + z) >> 1; {SEARCH % ('x <- y + 1;', 'z <- y;')} }}", "n"),
        (f"x <- 0; z <- n; while (z - x > 1) {{ y <- (x + z) / 2; {SEARCH % ('x <- y;', 'z <- y;')} }}", "n - 1"),
        (f"x <- 0; z <- n; while (x <= z) {{ y <- (x + z) / 2; {SEARCH % ('x <- y + 1;', 'z <- y - 1;')} }}", "n + 1"),
        (
            f"z <- n; while (z > 0) {{ y <- z / 2; {SEARCH % ('z <- z - y - 1; x <- x + y + 1;', 'z <- y;')} }}",
            "n",
        ),
        (f"x <- 5; z <- n; while (x < z) {{ y <- (x + z) / 2; {SEARCH % ('x <- y + 1;', 'z <- y;')} }}", "n - 5"),
    ],
)
def test_a_search_that_halves_what_is_left(body: str, turns: str) -> None:
    """The ghost that counts what is left at most is halved in each turn, whatever lanes find there."""
    found = result(body)
    per_turn = 1 if "A[y]" in body else 36  # two reads, of 32 and 4 sectors
    assert valid(found) == pot(f"{per_turn}*log2({turns}) + {per_turn}*min(1, max(0, {turns}))")


@pytest.mark.parametrize(
    ("start", "bound"),
    [
        ("n - tid.x", "log2(n) + min(1, max(0, n))"),
        ("min(9, n + tid.x)", "log2(min(9, n + 31)) + min(1, max(0, min(9, n + 31)))"),
    ],
)
def test_a_number_of_each_lane_that_is_halved(start: str, bound: str) -> None:
    assert valid(result(f"x <- {start}; while (x > 0) {{ A[0] <- 1; x <- x / 2; }}")) == pot(bound)
    assert result(f"x <- {start}; while (x > 0) {{ A[0] <- 1; x <- (x + 1) / 2; }}").claim is None  # 1 stays 1


HIT = "if (A[y] == A[tid.x]) { %s } else { if (A[k + y] < A[tid.x]) { %s } else { %s } }"


@pytest.mark.parametrize(
    ("test", "sides", "bound"),
    [
        ("x < z", ("go <- false;", "x <- y + 1;", "z <- y;"), "72*log2(n) + 72*min(1, max(0, n))"),
        (
            "x <= z",
            ("A[0] <- y; go <- false;", "x <- y + 1;", "z <- y - 1;"),
            "73*log2(n + 1) + 73*min(1, max(0, n + 1))",
        ),
        # what moves on a hit does not matter, since no turn follows
        ("x < z", ("go <- false; z <- z + 9;", "x <- y + 1;", "z <- y;"), "72*log2(n) + 72*min(1, max(0, n))"),
        # it goes on after a hit, or what is left is more than half
        ("x < z", ("go <- true;", "x <- y + 1;", "z <- y;"), None),
        ("x < z && x < 99", ("go <- false;", "x <- y + 1;", "z <- y;"), "72*log2(n) + 72*min(1, max(0, n))"),
        ("x < z", ("go <- false;", "x <- y;", "z <- y;"), None),
        ("x < z", ("go <- false;", "x <- y + 1;", "z <- y + 1;"), None),
    ],
)
def test_a_search_that_ends_where_it_finds(test: str, sides: tuple[str, str, str], bound: str | None) -> None:
    """The ghost covers what is left only as long as a flag says that the search goes on."""
    found = result(f"go <- true; x <- 0; z <- n; while (go && {test}) {{ y <- (x + z) / 2; {HIT % sides} }}")
    if bound is None:
        assert found.claim is None
        return
    assert valid(found) == pot(bound)


def test_a_search_between_limits_of_lanes() -> None:
    """Where two sorted parts meet: the path that a lane looks for is between limits of its own."""
    begin = "x <- max(0, k * tid.x - m); z <- min(k * tid.x, n);"
    found = result(f"{begin} while (x < z) {{ y <- (x + z) / 2; {SEARCH % ('x <- y + 1;', 'z <- y;')} }}")
    assert valid(found) == pot("36*log2(min(n, m)) + 36*min(1, max(0, min(n, m)))")


def test_a_flag_that_says_to_stop() -> None:
    body = f"y <- (x + z) / 2; {HIT % ('go <- true;', 'x <- y + 1;', 'z <- y;')}"
    found = result(f"go <- false; x <- 0; z <- n; while (!go && x < z) {{ {body} }}")
    assert valid(found) == pot("72*log2(n) + 72*min(1, max(0, n))")


@pytest.mark.parametrize(
    "body",
    [
        # one side keeps more than half, the sum may be negative, or what is in the middle is not known
        f"x <- 0; z <- n; while (x < z) {{ y <- (x + z) / 2; {SEARCH % ('x <- y;', 'z <- y;')} }}",
        f"x <- 0; z <- n; while (x < z) {{ y <- (x + z) / 3; {SEARCH % ('x <- y;', 'z <- y;')} }}",
        f"x <- -9; z <- n; while (x < z) {{ y <- (x + z) / 2; {SEARCH % ('x <- y + 1;', 'z <- y;')} }}",
        f"x <- 0; z <- n; while (x < z) {{ y <- A[x]; {SEARCH % ('x <- y + 1;', 'z <- y;')} }}",
    ],
)
def test_a_search_that_may_not_end_has_no_bound(body: str) -> None:
    assert result(body).claim is None
