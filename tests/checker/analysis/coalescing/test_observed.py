"""What runs show of accesses: the examples of the paper, and a count of bytes one by one on random kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.analysis.coalescing.access import Key, accesses, keys
from checker.analysis.coalescing.observed import Observed, Watch, observe
from logic.metrics import Hardware
from logic.syntax import Array, Kernel, Stmt
from semantics import grid, parallel
from semantics.cuda import read_cuda
from semantics.events import Dim, Event
from semantics.grid import Contents, LaunchProblem
from semantics.lockstep import STEP_LIMIT, StepLimit, linear
from semantics.values import Value
from tests.checker.programs import TINY
from tests.examples import examples
from tests.semantics.blocks import DIM, RACE_FREE
from tests.semantics.blocks import kernel as block_kernel

ONE: Dim = (1, 1, 1)
Read = Callable[[str], Kernel]
WARP = (32, 1, 1)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Reads a kernel with this body, and arrays of several types."""
    file = tmp_path_factory.mktemp("observed") / "k.cu"

    def kernel(body: str) -> Kernel:
        arrays = "int *a, float *f, double *d, unsigned char *c, float3 *v"
        file.write_text(f"__global__ void k({arrays}, int n)\n{{ int t = threadIdx.x; {body} }}\n")
        return read_cuda(str(file)).kernel

    return kernel


def only(
    kernel: Kernel,
    block: Dim = (32, 1, 1),
    blocks: Dim = ONE,
    n: int = 0,
    arrays: dict[str, Contents] | None = None,
    kind: str = "store",
) -> Observed:
    """What a run shows of the only access of a kind."""
    (found,) = [o for key, o in observe(kernel, block, blocks, {"n": n}, arrays).items() if key[1] == kind]
    return found


def needs(found: Observed) -> tuple[str, int, int]:
    return found.verdict, found.most, found.fewest


# --- the definitions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        ("a[0] = 1;", ("coalesced", 1, 1)),  # the three examples of Fig. 1
        ("a[t] = 1;", ("coalesced", 1, 1)),
        ("a[8 * t] = 1;", ("uncoalesced", 8, 1)),
        ("a[t + 8] = 1;", ("misaligned", 2, 1)),  # the example of section 3.2: bytes 32 to 159
        ("a[-t] = 1;", ("misaligned", 2, 1)),
        ("a[31 - t] = 1;", ("coalesced", 1, 1)),
        ("a[2 * t] = 1;", ("uncoalesced", 2, 1)),
        ("d[t] = 1;", ("coalesced", 2, 2)),
        ("d[t + 1] = 1;", ("misaligned", 3, 2)),
        ("d[2 * t] = 1;", ("uncoalesced", 4, 2)),
        ("c[4 * t] = 1;", ("coalesced", 1, 1)),
        ("c[4 * t + 4] = 1;", ("misaligned", 2, 1)),
        ("c[5 * t] = 1;", ("uncoalesced", 2, 1)),
        ("if (t < 4) a[8 * t] = 1;", ("coalesced", 1, 1)),
        ("if (t < 4) a[32 * t] = 1;", ("uncoalesced", 4, 1)),
        ("if (t == 5) a[1000 * t] = 1;", ("coalesced", 1, 1)),
        ("if (t % 2 == 0) d[t] = 1;", ("coalesced", 2, 2)),
        ("if (t < 16) d[t + 8] = 1;", ("misaligned", 2, 1)),
        ("__shared__ int s[2048]; s[t + 8] = 1;", ("conflict-free", 1, 1)),
        ("__shared__ int s[2048]; s[7] = 1;", ("conflict-free", 1, 1)),
        ("__shared__ int s[2048]; s[2 * t] = 1;", ("conflicting", 2, 1)),
        ("__shared__ int s[2048]; s[32 * t] = 1;", ("conflicting", 32, 1)),
        ("__shared__ int s[2048]; s[33 * t] = 1;", ("conflict-free", 1, 1)),
        ("__shared__ double s[2048]; s[t] = 1;", ("conflict-free", 2, 2)),
        ("__shared__ double s[2048]; s[2 * t] = 1;", ("conflicting", 4, 2)),
    ],
)
def test_one_execution(read: Read, access: str, expected: tuple[str, int, int]) -> None:
    found = only(read(access))
    assert needs(found) == expected
    assert (found.executions, found.transactions) == (1, expected[1])


def test_the_average_is_that_of_the_executions(read: Read) -> None:
    """Section 5: a load that touches one line, then two, has an average of 1.5."""
    found = only(read("for (int k = 0; k < 2; k++) a[t + k] = 1;"))
    assert (found.executions, found.transactions, found.average) == (2, 3, Fraction(3, 2))
    assert needs(found) == ("misaligned", 2, 1)


def test_the_worst_verdict_counts_and_the_dearest_execution_is_told(read: Read) -> None:
    """`d[t]` takes two lines and is coalesced; the worse executions after and before it take no more."""
    found = only(read("for (int k = 1; k < 4; k++) if (k == 2 || t < 16) d[k == 2 ? t : k == 1 ? t + 8 : t] = 1;"))
    assert (*needs(found), found.lanes) == ("misaligned", 2, 1, 16)
    assert (found.executions, found.transactions) == (3, 5)


def test_lanes_are_numbered_in_their_warps(read: Read) -> None:
    """Blocks of 7 x 5: row by row, and the last three threads are a warp."""
    last = only(read("if (t + 7 * threadIdx.y >= 32) d[t + 7 * threadIdx.y - 32] = 1;"), (7, 5, 1))
    assert (*needs(last), last.lanes) == ("coalesced", 1, 1, 3)
    rows = only(read("a[100 * threadIdx.y + t] = 1;"), (8, 8, 1))
    assert (rows.executions, rows.lanes, rows.verdict, rows.fewest) == (2, 32, "uncoalesced", 1)


def test_the_same_addresses_are_more_than_some_lanes_need(read: Read) -> None:
    """Bytes 64 to 191 are what lanes 8 to 23 need anyway; lanes 0 to 15 could do with one line."""
    found = only(read("for (int k = 0; k < 2; k++) if (k == 0 ? t >= 8 && t < 24 : t < 16) d[k == 0 ? t : t + 8] = 1;"))
    assert (needs(found), found.executions, found.transactions) == (("misaligned", 2, 1), 2, 4)


@pytest.mark.parametrize(("field", "expected"), [("x", ("coalesced", 1, 1)), ("z", ("misaligned", 2, 1))])
def test_a_field_is_where_its_structure_has_it(read: Read, field: str, expected: tuple[str, int, int]) -> None:
    """Eleven structures of 12 bytes: their first fields end with byte 123, their last ones with byte 131."""
    assert needs(only(read(f"if (t < 11) v[t].{field} = 1.0f;"))) == expected


def test_a_grid_is_run_whole(read: Read) -> None:
    found = only(read("a[blockIdx.x * blockDim.x + t] = 1;"), (48, 1, 1), (3, 2, 1))
    assert (found.executions, found.verdict) == (12, "misaligned")


def test_contents_decide_where_they_are_indices(read: Read) -> None:
    kernel = read("f[a[t]] = 1;")
    assert needs(only(kernel, arrays={"a": [2 * i for i in range(32)]})) == ("uncoalesced", 2, 1)
    assert needs(only(kernel, arrays={"a": [i ^ 1 for i in range(32)]})) == ("coalesced", 1, 1)


# --- which access ----------------------------------------------------------------------------------------------------


def test_a_place_can_load_and_store(read: Read) -> None:
    kernel = read("a[t] += 1;")
    found = observe(kernel, WARP, ONE, {"n": 0})
    assert set(found) == {a.key for a in accesses(kernel)}
    assert sorted(key[1] for key in found) == ["load", "store"]


def test_copies_of_a_statement_are_one_access(read: Read) -> None:
    """The body of `do` stands before the loop and in it."""
    kernel = read("int k = 0; do { a[t + k] = 1; k++; } while (k < 3);")
    assert only(kernel).executions == 3


def test_accesses_that_no_thread_reaches_are_left_out(read: Read) -> None:
    assert observe(read("if (t > n) a[t] = 1;"), WARP, ONE, {"n": 99}) == {}


def test_a_watch_adds_up_runs(read: Read) -> None:
    kernel = read("a[t + n] = 1;")
    watch = Watch(kernel, WARP)
    for n in (0, 1, 2):
        grid.run(kernel, WARP, ONE, {"n": n}, metrics=(), observer=watch)
    (found,) = watch.found.values()
    runs = [only(kernel, n=n) for n in (0, 1, 2)]
    assert found == runs[0] + runs[1] + runs[2] == runs[2] + runs[0] + runs[1]
    assert (found.verdict, found.executions, found.transactions) == ("misaligned", 3, 5)


# --- races -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "racy"),
    [
        ("a[0] = t;", True),
        ("a[0] = 7;", False),
        ("a[t] = t;", False),
        ("a[t / 2] = t;", True),
        ("a[t / 2] = t / 2;", False),
        ("if (t == 3) a[0] = t;", False),
        ("f[0] = sqrtf(-1.0f);", False),  # all lanes write a NaN
        ("f[0] = sqrtf((float)(t - 1));", True),
        ("atomicAdd(&a[0], 1);", False),
        ("atomicAdd(&a[0], t);", True),
        ("__shared__ int s[4]; s[t % 4] = t;", True),
    ],
)
def test_lanes_that_write_different_values_into_one_element_race(read: Read, body: str, racy: bool) -> None:
    assert only(read(body)).racy is racy


def test_a_read_is_no_race(read: Read) -> None:
    assert not only(read("f[t] = a[0];"), kind="load").racy


def test_one_race_makes_the_access_racy(read: Read) -> None:
    found = only(read("for (int k = 0; k < 3; k++) a[k == 1 ? 0 : t] = t;"))
    assert (found.executions, found.racy) == (3, True)


# --- random kernels --------------------------------------------------------------------------------------------------


def by_bytes(array: Array, lanes: list[int], indices: tuple[int, ...], h: Hardware) -> tuple[str, int, int]:
    """The definitions, literally: all bytes, all distances."""

    def touched(addresses: list[int]) -> set[int]:
        return {a + b for a in addresses for b in range(array.width)}

    def lines(addresses: list[int]) -> int:
        return len({b // 128 for b in touched(addresses)})

    def words(addresses: list[int]) -> int:
        found = {b // h.word for b in touched(addresses)}
        return max(sum(w % h.banks == bank for w in found) for bank in range(h.banks))

    here = [array.stride * i + array.offset for i in indices]
    count = lines if array.space == "global" else words
    needed, fewest = count(here), count([array.width * lane for lane in lanes])
    if array.space == "shared":
        return "conflict-free" if needed <= fewest else "conflicting", needed, fewest
    if needed <= fewest:
        return "coalesced", needed, fewest
    moved = any(lines([a + d for a in here]) <= fewest for d in range(128))
    return "misaligned" if moved else "uncoalesced", needed, fewest


LAYOUTS = st.sampled_from([(4, 4), (1, 1), (8, 8), (40, 4), (16, 8), (130, 4), (6, 2), (7, 7)])
BADNESS = ["coalesced", "conflict-free", "misaligned", "uncoalesced", "conflicting"]


@pytest.mark.whole
@examples(15, 2000)
@given(RACE_FREE, st.integers(-2, 6), LAYOUTS, st.integers(0, 9), st.integers(0, 40))
def test_runs_of_random_kernels_are_judged_byte_by_byte(
    s: Stmt, n: int, layout: tuple[int, int], offset: int, scale: int
) -> None:
    h = replace(TINY, alignment=128)
    base = block_kernel(s)
    arrays = tuple(replace(a, stride=layout[0], width=layout[1], offset=offset) for a in base.arrays)
    kernel = replace(base, arrays=arrays)
    args: dict[str, Value] = {"n": n, "m": 2}
    contents: dict[str, Contents] = {"H": [scale * i for i in range(40)]}
    expected: dict[Key, list[tuple[str, int, int]]] = {}
    places, layouts = keys(kernel), {a.name: a for a in arrays}

    def see(event: Event) -> None:
        if event.indices:
            at = places[id(event.term)]
            lanes = [linear(t.tid, DIM) % 4 for t in event.threads]
            expected.setdefault(at, []).append(by_bytes(layouts[at[2]], lanes, event.indices, h))

    grid.run(kernel, DIM, (2, 1, 1), args, contents, (), h, observer=see)
    found = observe(kernel, DIM, (2, 1, 1), args, contents, h)
    assert set(found) == set(expected)
    for at, o in found.items():
        each = expected[at]
        assert o.verdict == max((verdict for verdict, _, _ in each), key=BADNESS.index)
        assert (o.executions, o.transactions) == (len(each), sum(needed for _, needed, _ in each))
        assert (o.most, -o.fewest) == max((needed, -fewest) for _, needed, fewest in each)

    together = Watch(kernel, DIM, h)
    parallel.run(kernel, DIM, (2, 1, 1), args, contents, (parallel.TIME,), h, STEP_LIMIT, together)
    assert together.found == found


OBSERVED = st.builds(
    lambda verdict, executions, most, fewer, lanes, racy: Observed(
        verdict, executions, executions * most, most, most - min(fewer, most - 1), lanes, racy
    ),
    st.sampled_from(BADNESS[:4]),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(1, 4),
    st.booleans(),
)


@given(st.permutations(range(4)), st.lists(OBSERVED, min_size=4, max_size=4))
def test_the_order_of_executions_does_not_matter(order: list[int], all_: list[Observed]) -> None:
    def total(found: list[Observed]) -> Observed:
        whole, *others = found
        for other in others:
            whole = whole + other
        return whole

    assert total([all_[i] for i in order]) == total(all_)
    assert total(all_).average == Fraction(sum(o.transactions for o in all_), sum(o.executions for o in all_))


# --- what cannot be run ----------------------------------------------------------------------------------------------


def test_a_run_that_cannot_be_is_refused(read: Read) -> None:
    kernel = read("a[t] = n;")
    with pytest.raises(LaunchProblem, match="parameter 'n' has no value"):
        observe(kernel, WARP, ONE, {})
    with pytest.raises(StepLimit):
        observe(read("while (n == 0) a[t] = 1;"), WARP, ONE, {"n": 0}, step_limit=50)
    with pytest.raises(ValueError, match="alignment"):
        observe(kernel, WARP, ONE, {"n": 0}, hardware=Hardware("odd", alignment=64))


def test_progress_is_told_block_by_block(read: Read) -> None:
    told: list[int] = []
    observe(read("a[t] = n;"), WARP, (3, 1, 1), {"n": 0}, progress=told.append)
    assert told == [1, 2, 3]


# --- the example of the paper ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "uncoalesced", "misaligned"),
    [
        ("fan2", {("13", "A"), ("13", "M"), ("15", "M")}, {("15", "B")}),
        ("fan2Fixed", set(), {("13", "A")}),
    ],
)
def test_gaussian_elimination(name: str, uncoalesced: set[tuple[str, str]], misaligned: set[tuple[str, str]]) -> None:
    """Fig. 2: A[xy] and M[xt] in the original, alignment alone in the repaired kernel."""
    kernel = read_cuda(str(Path(__file__).parents[4] / "proofs" / name / "kernel.cu")).kernel
    found = observe(kernel, (256, 1, 1), ONE, {"N": 70, "t": 3})

    def those(verdict: str) -> set[tuple[str, str]]:
        return {(str(loc.line), array) for (loc, _, array), o in found.items() if o.verdict == verdict}

    assert those("uncoalesced") == uncoalesced
    assert those("misaligned") == misaligned
    assert not any(o.racy for o in found.values())
