"""Shuffles and votes in runs: what PTX says that lanes get, in both engines."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_, xor
from pathlib import Path

import pytest

from logic.syntax import Kernel
from semantics import grid, vectorised
from semantics.cuda import read_cuda
from semantics.exchange import SHUFFLES as SHUFFLED
from semantics.exchange import source
from semantics.grid import Result
from semantics.values import ValueProblem

Make = Callable[[str], Kernel]


def ptx(name: str, lane: int, b: int, width: int) -> int:
    """PTX ISA 8.5, shfl.sync: lane j if p, else one's own. c is what CUDA makes of the width."""
    c = (32 - width) << 8 | (0 if name == "shfl_up" else 31)
    clamp, segment = c & 31, c >> 8
    last = (lane & segment) | (clamp & ~segment)
    first, b = lane & segment, b & 31
    match name:
        case "shfl":
            j, p = first | (b & ~segment), True
        case "shfl_up":
            j = lane - b
            p = j >= last
        case "shfl_down":
            j = lane + b
            p = j <= last
        case _:
            j = lane ^ b
            p = j <= last
    return j if p else lane


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def kernel(body: str) -> Kernel:
        file = tmp_path / "x.cu"
        file.write_text(f"__global__ void k(int *A, const int *V, int n) {{ int t = threadIdx.x; {body} }}\n")
        return read_cuda(str(file)).kernel

    return kernel


def both(kernel: Kernel, values: Sequence[int], n: int = 0, block: int = 64, engine: str = "fast") -> dict[int, int]:
    """What A holds after a run, the same in both engines."""
    found: list[Result] = [
        run(kernel, (block, 1, 1), (2, 1, 1), {"n": n}, {"V": values}) for run in (grid.run, vectorised.run)
    ]
    assert found[0] == found[1]
    assert found[1].engine == engine
    return {i: int(v) for i, v in found[0].arrays["A"].items()}


@pytest.mark.parametrize("name", SHUFFLED)
def test_source(name: str) -> None:
    for width in (1, 2, 4, 8, 16, 32):
        for lane in range(32):
            for b in range(-3, 40):
                assert source(name, lane, b, width, 32) == ptx(name, lane, b, width)
    assert source(name, 5, 1, 0, 32) == source(name, 5, 1, 32, 32)


@pytest.mark.parametrize("width", [-1, 3, 24, 64])
def test_widths_that_are_not_defined(make: Make, width: int) -> None:
    assert source("shfl", 0, 0, width, 32) is None
    with pytest.raises(ValueProblem, match=f"'__shfl_down_sync' gives with a width of {width}"):
        both(make("A[t] = __shfl_down_sync(-1, t, 1, n);"), range(64), width)


SHUFFLES = {
    "A[t] = __shfl_sync(-1, V[t], n, 8);": ("shfl", 8, None),
    "A[t] = __shfl_sync(-1, V[t], t / 3);": ("shfl", 32, 3),
    "A[t] = __shfl_up(V[t], n);": ("shfl_up", 32, None),
    "A[t] = __shfl_down_sync(-1, V[t], n, 16);": ("shfl_down", 16, None),
    "int v = V[t]; v = __shfl_xor_sync(-1, v, n, 4); A[t] = v;": ("shfl_xor", 4, None),
}


@pytest.mark.parametrize("body", SHUFFLES)
def test_shuffles(make: Make, body: str) -> None:
    name, width, divisor = SHUFFLES[body]
    values = [random.Random(7).randrange(-1000, 1000) + i for i in range(64)]
    for n in (0, 1, 3, 31):
        found = both(make(body), values, n)
        for t in range(64):
            other = ptx(name, t % 32, n if divisor is None else t // divisor, width)
            assert found[t] == values[t - t % 32 + other]


VOTES: dict[str, Callable[[list[int], int], int]] = {
    "A[t] = __ballot_sync(-1, V[t] > 0);": lambda v, _: sum((x > 0) << i for i, x in enumerate(v)),
    "A[t] = __ballot_sync(0xff00ff0, V[t]);": lambda v, _: sum((x != 0) << i for i, x in enumerate(v)) & 0xFF00FF0,
    "A[t] = __any_sync(-1, V[t] == n);": lambda v, n: int(n in v),
    "A[t] = __all_sync(0xf, V[t] < n);": lambda v, n: int(all(x < n for x in v[:4])),
    "A[t] = __all(V[t] != n);": lambda v, n: int(n not in v),
    "A[t] = __activemask();": lambda *_: 0xFFFFFFFF,
}


@pytest.mark.parametrize("body", VOTES)
def test_votes(make: Make, body: str) -> None:
    rng = random.Random(3)
    for n in range(5):
        values = [rng.randrange(-2, 9 if n else 2) for _ in range(64)]
        found = both(make(body), values, n)
        assert [found[t] for t in range(64)] == [
            VOTES[body](values[t - t % 32 : t - t % 32 + 32], n) for t in range(64)
        ]


def alike(v: list[int], t: int) -> int:
    return sum((x == v[t]) << i for i, x in enumerate(v))


GIVEN: dict[str, Callable[[list[int], int], int]] = {
    "A[t] = __match_any_sync(-1, V[t]);": alike,
    "A[t] = __match_any_sync(0xff, V[t]);": lambda v, t: alike(v, t) & 0xFF,
    "A[t] = __match_any_sync(t % 2 ? 0xaaaaaaaa : 0x55555555, (float)V[t]);": (
        lambda v, t: alike(v, t) & (0xAAAAAAAA if t % 2 else 0x55555555)
    ),
    "int p; A[t] = __match_all_sync(-1, V[t], &p); A[t] += p;": lambda v, _: 1 << 32 if len(set(v)) == 1 else 0,
    "A[t] = __reduce_add_sync(-1, V[t]);": lambda v, _: sum(v),
    "A[t] = __reduce_add_sync(0xf0, V[t]);": lambda v, _: sum(v[4:8]),
    "A[t] = __reduce_min_sync(-1, V[t]) * 100 + __reduce_max_sync(-1, V[t]);": lambda v, _: min(v) * 100 + max(v),
    "A[t] = __reduce_add_sync(t % 32 < 8 ? 0xff : 0xffffff00, (unsigned)V[t] * (unsigned)V[t]);": (
        lambda v, t: sum(x * x for x in (v[:8] if t < 8 else v[8:]))
    ),
    "A[t] = __reduce_and_sync(-1, V[t] + 8) + __reduce_or_sync(-1, V[t] + 8) + __reduce_xor_sync(-1, V[t] + 8);": (
        lambda v, _: sum(reduce(f, (x + 8 for x in v)) for f in (and_, or_, xor))
    ),
}


@pytest.mark.parametrize("body", GIVEN)
def test_matches_and_reductions(make: Make, body: str) -> None:
    rng = random.Random(4)
    engine = "reference" if "float" in body else "fast"  # floats are compared by their bits
    for n in range(5):
        values = [rng.randrange(-2, 9) if n else 2 for _ in range(64)]
        found = both(make(body), values, n, engine=engine)
        for t in range(64):
            assert found[t] == GIVEN[body](values[t - t % 32 : t - t % 32 + 32], t % 32)


def test_zeros_of_two_signs_do_not_match_and_a_sum_is_of_32_bits(make: Make) -> None:
    body = "A[t] = __match_any_sync(-1, t % 2 ? -0.0f : 0.0f) + (__reduce_add_sync(-1, 0x80000001u) >> 1);"
    found = both(make(body), range(64), engine="reference")
    assert found[0] == 0x55555555 + 16
    assert found[1] % 2**32 == 0xAAAAAAAA + 16


def test_a_warp_adds_up(make: Make) -> None:
    body = (
        "int v = V[t]; for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(-1, v, o); if (t % 32 == 0) A[t / 32] = v;"
    )
    values = [i * i for i in range(64)]
    assert both(make(body), values) == {0: sum(values[:32]), 1: sum(values[32:])}


def test_lanes_that_are_not_there(make: Make) -> None:
    """In a branch, those of one side pass and vote; a value from another lane is undefined."""
    body = "if (t % 2) { A[t] = __activemask() + __shfl_xor(V[t], n); }"
    assert both(make(body), range(64), 2) == {t: 0xAAAAAAAA + (t ^ 2) for t in range(1, 64, 2)}
    with pytest.raises(
        ValueProblem, match="a run cannot tell what '__shfl_xor' gives from lane 0, which is not active"
    ):
        both(make(body), range(64), 1)
    assert both(make("A[t] = __ballot_sync(-1, 1);"), range(40), block=40)[39] == 0xFF


def test_masks_that_differ(make: Make) -> None:
    body = "unsigned m = t % 32 < 8 ? 0xff : 0xffffff00; A[t] = __ballot_sync(m, V[t]);"
    found = both(make(body), [1] * 64)
    assert [found[t] for t in range(64)] == ([0xFF] * 8 + [0xFFFFFF00] * 24) * 2


def test_the_value_is_that_of_the_call(make: Make) -> None:
    """Not of where it is used, after the variable has changed."""
    found = both(make("int v = V[t]; int *p = A + __shfl_sync(-1, v, 3); v = 100; p[t] = v;"), range(64))
    assert found == {t + 3 + t - t % 32: 100 for t in range(64)}


ACTIVE: dict[str, set[int]] = {
    "int x = t < 5; if (t < 5 && __all(x)) A[t] = 1;": {*range(5)},
    "int y = t < 5 ? __all(t < 5) : 0; if (y) A[t] = 1;": {*range(5)},
    "if (t < 5 && __activemask() == 31) A[t] = 1;": {*range(5)},
    "if (t > 40 || __any(t == 33)) A[t] = 1;": {*range(32, 64)},
    "int x = 1; while (__all(x)) { A[t] = 1; if (t > 0) break; x = 0; }": {*range(64)},
    # what is passed is what the variable was
    "int x = 5; while (__shfl_down_sync(-1, x--, 1) > 0) A[t + 100 * x] = 1;": {
        t + 100 * x for x in range(5) for t in range(64)
    },
    "int v = 1, w = 2; int2 d = make_int2(__shfl_sync(-1, w, 0), __shfl_sync(-1, v, 0)); A[d.x] = d.y;": {2},
    "int x = 1; int2 d = {__shfl_down_sync(-1, x, 1), (x = 5)}; A[d.x * 10] = d.y;": {10},
}


@pytest.mark.parametrize("body", ACTIVE)
def test_who_takes_part_and_with_what(make: Make, body: str) -> None:
    assert set(both(make(body), range(64))) == ACTIVE[body]


def test_what_a_double_does_not_hold(make: Make) -> None:
    with pytest.raises(ValueProblem, match="gives, a number of more than 53 bits"):
        both(make("long long x = (1LL << 60) + 1; A[t] = __shfl_sync(-1, x, 3) == x;"), range(64))


def test_no_kernel_says_what_is_passed(make: Make) -> None:
    kernel = make("A[t] = __any_sync(-1, n);")
    bare = Kernel(kernel.name, kernel.params, kernel.arrays, kernel.locals, kernel.body)
    with pytest.raises(ValueProblem, match=r"a run cannot tell what '__any_sync' gives$"):
        both(bare, range(64))
