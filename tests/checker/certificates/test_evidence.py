"""What the second checker is told for a side condition, and that it takes no more for true than what holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker import recheck
from checker.certificates import evidence
from checker.certificates.evidence import proof
from checker.certificates.judge import decided, frozen, implied, judge
from checker.certificates.judge import facts as frozen_facts
from checker.notation import parse_expr
from checker.oracles import farkas
from logic.assertions import AtMost, Context, Entails, Launch, Uniform, conj
from logic.metrics import HARDWARE, METRICS, Hardware
from logic.operators import denote
from logic.syntax import BOOL, BUILTINS, INT, Array, Const, Expr, Op, Param, Read, Tid, Var
from logic.terms_as_json import expression
from logic.typing import Signature
from tests.examples import examples

ARRAYS: Final = {"G": Array("G", "global", INT, 4), "S": Array("S", "shared", INT, 4)}
SIGMA: Final = Signature(
    dict.fromkeys(("x", "y", "i"), INT) | {"b": BOOL}, dict.fromkeys((*BUILTINS, "n", "m"), INT), ARRAYS
)
ONE_WARP: Final = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1)))
TWO_ROWS: Final = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch((16, 16, 1)))
ANY: Final = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch((None, None, None)))
ANY_ROW: Final = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch((None, 1, 1)))


def facts(text: str) -> tuple[Expr, ...]:
    return conj((parse_expr(part, SIGMA) for part in text.split(";") if part), SIGMA)


def reads(p: str, index: str, n: int, x: str = "", array: str = "G") -> AtMost:
    what: Any = "MemReads" if array == "G" else "Conflicts"
    return AtMost(what, facts(p), frozenset(x.split()), array, parse_expr(index, SIGMA), n)


@pytest.mark.parametrize(
    ("context", "p", "index", "n"),
    [
        # what is clamped is no farther apart than it was
        (ONE_WARP, "", "tid.x + n < m ? tid.x + n : m", 5),
        (ONE_WARP, "", "tid.x + n <= m ? m : tid.x + n", 5),
        (ONE_WARP, "", "tid.x >= n ? tid.x : n", 5),
        # quotients of neighbours are no farther apart, whatever the sign of what divides them
        (ONE_WARP, "", "tid.x / n", 5),
        (ONE_WARP, "", "2 * tid.x / n", 9),
        (ONE_WARP, "y == tid.x + n; x == y / m", "x", 5),
        (ONE_WARP, "", "(n * 32 + tid.x) / m", 5),
        (ANY_ROW, "x == blockIdx.x * blockDim.x + tid.x", "x / n", 5),
        # what bounds a lane's own, bounds that of each
        (ONE_WARP, "i >= 0; i <= 15", "i", 2),
        (ONE_WARP, "i >= 0; i <= 15", "n + 2 * i", 5),
        (ONE_WARP, "", "n + (i & 7)", 2),
        (ONE_WARP, "", "8 * n + (i & 7)", 1),
        (ONE_WARP, "i >= 0", "8 * n + i % 8", 1),
        (ONE_WARP, "", "G[i] & 15", 2),
        # what lanes share, and where the rest of a sum begins and ends
        (ANY, "x == tid.x + tid.y; x * 4 < 768", "((n * 3 >> 2) + x)", 25),
        (ANY, "x == tid.x + tid.y; x * 4 < 768; x >= 8", "8 * (n * 3 >> 2) + x", 23),
        (ONE_WARP, "i == (y >> m & 15); x == i + 8", "8 * n + x", 2),
        # signs, which no literal says
        (ANY_ROW, "x == blockIdx.x * blockDim.x + tid.x; blockDim.x % 32 == 0", "x % 32", 4),
        # where threadIdx ends
        (ONE_WARP, "tid.x < n; n <= m; m <= 8", "8 * tid.x", 8),
        # what is one number, though no fact says so in one piece
        (ONE_WARP, "n <= m; n >= m; m <= 2 * n - 8; n <= 8", "n + tid.x", 4),
        (ANY_ROW, "blockIdx.x <= 0; x == blockIdx.x * 100 + tid.x", "x / 4", 1),
        # quotients by a number are closer than what they are of
        (ONE_WARP, "", "(tid.x + n) / 4", 2),
        (ONE_WARP, "", "(n - tid.x) / 3", 3),
    ],
)
def test_what_is_told_for_an_access(context: Context, p: str, index: str, n: int) -> None:
    o = reads(p, index, n)
    assert not decided(o, None, context)
    said = proof(o, context)
    assert said is not None
    assert decided(o, said, context)
    assert proof(reads(p, index, n - 1), context) is None


def test_an_answer_is_of_its_setting() -> None:
    """Nothing but the metric may differ where an answer is taken up again."""
    apart, row, alike = (
        reads("", "m * tid.x", 8),
        reads("", "tid.x", 1),
        Uniform((), frozenset(), parse_expr("G[n]", SIGMA)),
    )
    none = parse_expr("m == 0", SIGMA)
    bytes_ = replace(SIGMA, arrays={**ARRAYS, "G": replace(ARRAYS["G"], stride=1, width=1)})
    two = replace(ONE_WARP, launch=Launch((64, 1, 1)))
    small = replace(HARDWARE["nvidia"], name="small", warp=8)
    asked: list[tuple[AtMost | Uniform, Context, bool]] = [
        (apart, ONE_WARP, False),
        (apart, replace(ONE_WARP, metric=METRICS["sectors"]), False),
        (apart, replace(ONE_WARP, launch=Launch((8, 1, 1))), True),
        (apart, replace(ONE_WARP, launch=Launch((32, 1, 1), assumptions=(none,))), True),
        (apart, replace(ONE_WARP, hardware=small), True),
        (row, ONE_WARP, False),
        (row, replace(ONE_WARP, sigma=bytes_), True),
        (alike, two, True),
        (alike, replace(two, scope="block"), False),
    ]
    for o, context, holds in asked + asked[::-1]:
        assert decided(o, None, context) == holds


@pytest.mark.parametrize(
    ("p", "index", "n"), [("y == tid.y", "(tid.x + y) % 33", 5), ("y == tid.y + 1", "tid.x % y", 4)]
)
def test_what_a_warp_shares_is_what_it_is_at_its_threads(p: str, index: str, n: int) -> None:
    rows = replace(ONE_WARP, launch=Launch((32, 32, 1)))
    o = reads(p, index, n, x="y")
    assert not decided(o, None, rows)
    said = proof(o, rows)
    assert decided(o, said, rows)
    assert proof(reads(p, index, n - 1, x="y"), rows) is None


def test_nothing_is_accessed_where_no_thread_is() -> None:
    o = reads("n > m; n < m", "8 * tid.x", 0)
    said = proof(o, ONE_WARP)
    assert [entry["goal"] for entry in said] == [expression(farkas.NEVER)]
    assert decided(o, said, ONE_WARP)


@pytest.mark.parametrize(
    ("p", "index", "n"),
    [
        ("x >= 0; x <= 15", "x", 1),
        ("x >= 0; x <= 63", "x", 2),
        ("x == (y >> m & 255)", "16 + x", 8),
    ],
)
def test_what_is_told_of_banks(p: str, index: str, n: int) -> None:
    o = reads(p, index, n, array="S")
    said = proof(o, ONE_WARP)
    assert said is not None
    assert decided(o, said, ONE_WARP)
    assert proof(reads(p, index, n - 1, array="S"), ONE_WARP) is None


@pytest.mark.parametrize(
    ("context", "p", "index", "n"),
    [
        # rows that are clamped at one end, and again at the other
        (ONE_WARP, "", "min(tid.x + n, m)", 5),
        (ONE_WARP, "", "max(n - tid.x, 0)", 5),
        (ONE_WARP, "", "max(min(tid.x + n, m), 0)", 5),
        (ONE_WARP, "", "max(tid.x - n, 0)", 5),
        (ONE_WARP, "", "max(2 * tid.x, n)", 8),
        (ONE_WARP, "", "tid.x - max(tid.x - n, 0)", 4),
        (ONE_WARP, "", "tid.x + max(tid.x - n, 0)", 9),
        (TWO_ROWS, "", "max(tid.y + n, 0) * m + max(tid.x + m, 0)", 6),
        (ONE_WARP, "x == max(tid.x + n, 0); y == min(x, m)", "y", 5),
        (ANY_ROW, "x == blockIdx.x * blockDim.x + tid.x", "min(x + 1, n - 1)", 5),
        (ANY_ROW, "x == blockIdx.x * 256 + tid.x", "x / 4", 1),
        (ONE_WARP, "tid.x > n; n >= 27", "8 * tid.x", 4),
    ],
)
def test_nothing_has_to_be_told_of_rows_that_the_second_checker_follows(
    context: Context, p: str, index: str, n: int
) -> None:
    assert proof(reads(p, index, n), context) is None
    assert decided(reads(p, index, n), None, context)
    assert not decided(reads(p, index, n - 1), None, context)


@pytest.mark.parametrize(
    ("p", "index"),
    [
        # a row that is clamped at one end
        ("", "max(tid.x - n, 0)"),
        # what lanes permute
        ("x == tid.x; (x & 15) == 0", "(x ^ (n & 7)) % 128"),
        # a reduction that changes nothing of what lanes permute
        ("", "(tid.x ^ (m & 7)) % 200"),
        ("x == tid.x", "(x ^ (m & 7)) % 100"),
    ],
)
def test_nothing_has_to_be_told_of_banks_that_the_second_checker_follows(p: str, index: str) -> None:
    o = reads(p, index, 1, array="S")
    assert proof(o, ONE_WARP) is None
    assert decided(o, None, ONE_WARP)
    assert not decided(reads(p, index, 0, array="S"), None, ONE_WARP)


def test_bins_of_a_warp_that_have_a_name() -> None:
    """x is 0 at least, whatever it is read from: all lanes are in the 256 bins of their warp."""
    six = replace(ONE_WARP, launch=Launch((192, 1, 1)))
    o = reads("x == (y >> m & 255)", "(tid.x >> 5) * 256 + x", 8, array="S")
    said = proof(o, six)
    assert said is not None
    assert decided(o, said, six)


@pytest.mark.parametrize(
    ("p", "x", "e", "told"),
    [
        ("n + tid.x < 0; n >= 0", "", "tid.x < m", False),  # no thread
        ("x >= blockDim.x; y == tid.x", "", "y < x", True),
        ("x >= blockDim.x; y == tid.x", "", "y >= x", True),
        ("x > blockDim.x; y == tid.x", "", "y < x && y + 1 < x", True),
        ("x + 1 >= blockDim.x; y == tid.x", "", "y < x", None),
        ("x >= blockDim.x; y == tid.x", "", "tid.x <= n", None),
        ("x == blockIdx.x * 256 + tid.x", "", "x / 32", False),
        ("x == n * 256 + tid.x", "", "x / 32", None),  # n may be negative
        ("x == blockIdx.x * 256 + tid.x", "", "G[min(x + n, n - 1)]", False),
        ("x == m * 256 + tid.x", "", "G[min(x + n, n - 1)]", None),
        ("", "x", "x + n", False),
        ("x == n * 256 + tid.x", "", "x < 32 * m", False),
    ],
)
def test_what_is_told_of_uniform_expressions(p: str, x: str, e: str, told: bool | None) -> None:
    """None: nothing helps; False: nothing has to be told."""
    o = Uniform(facts(p), frozenset(x.split()), parse_expr(e, SIGMA))
    said = proof(o, ANY_ROW)
    assert (said is not None) == (told is True)
    assert decided(o, said, ANY_ROW) == (told is not None)


def test_what_is_too_large_for_the_second_checker_has_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    o = reads("tid.x < n; n <= m; m <= 8", "8 * tid.x", 8)
    assert proof(o, ONE_WARP) is not None
    monkeypatch.setattr(recheck, "MAX_WORK", 1)
    assert proof(o, ONE_WARP) is None
    assert proof(Entails(facts("x == ~n"), facts("~n == x")), ONE_WARP) is None


def test_where_one_way_is_too_much_work_others_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is one number is told after windows were looked for."""
    o = reads("n <= m; n >= m; m <= 2 * n - 8; n <= 8", "n + tid.x", 4)

    def too_much(*_: object) -> None:
        raise recheck.TooMuch("it is too much work")

    monkeypatch.setattr(evidence, "_from", too_much)
    assert proof(o, ONE_WARP) is not None


def test_what_is_seen_takes_no_proof() -> None:
    assert proof(Entails(facts("x > n"), facts("x > n")), ONE_WARP) is None
    assert proof(Entails(facts("x > n + 1"), facts("x > n")), ONE_WARP) is not None
    assert proof(Entails(facts("x > n + 1; y > 0"), facts("x > n; y > 0")), ONE_WARP) is not None


TINY: Final = Hardware("tiny", 8, 2, 4, 4, 16)
LEAVES: Final[st.SearchStrategy[Expr]] = st.sampled_from(
    [Tid("x"), Tid("x"), Param("n"), Var("x"), Var("i"), Const(1), Const(3)]
)


def larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    sums, divisions = st.sampled_from(["+", "-", "*", "min", "max"]), st.sampled_from(["/", "%", "&"])
    return st.one_of(
        st.builds(lambda op, a, b: Op(op, (a, b)), sums, inner, inner),
        st.builds(lambda op, a, k: Op(op, (a, Const(k))), divisions, inner, st.sampled_from([2, 3, 4])),
        st.builds(lambda a, b: Op("?:", (Op("<", (a, b)), a, b)), inner, inner),
    )


TERMS: Final = st.one_of(larger(LEAVES), larger(st.one_of(LEAVES, larger(LEAVES))))
TESTS: Final = st.builds(
    lambda op, a, b: Op(op, (a, b)), st.sampled_from(["<", "<=", ">=", ">", "=="]), LEAVES, st.one_of(LEAVES, TERMS)
)


def worth(e: Expr, store: dict[Expr, int]) -> Any:
    match e:
        case Op(op, args):
            return denote(op, tuple(worth(a, store) for a in args))
        case Const(value):
            return value
    assert not isinstance(e, Read)
    return store[e]


@pytest.mark.whole
@examples(20, 5000)
@given(st.lists(TESTS, max_size=3), TERMS, st.integers(1, 4), st.data())
def test_what_is_decided_holds(p: list[Expr], term: Expr, n: int, data: st.DataObject) -> None:
    """Of threads with values drawn for n, for the uniform x and for each lane's i; whatever was told."""
    context = Context(SIGMA, METRICS["steps"], TINY, Launch((8, 1, 1)))
    given, x = conj(p, SIGMA), frozenset({"x"})
    asked = (
        Uniform(given, x, term),
        AtMost("MemReads", given, x, "G", term, n),
        AtMost("Conflicts", given, x, "S", term, n),
    )
    held = [decided(o, proof(o, context), context) for o in asked]
    small = st.integers(-3, 9)
    for _ in range(10):
        shared: dict[Expr, int] = {Param("n"): data.draw(small), Var("x"): data.draw(small)}
        warps: dict[int, list[int]] = {}
        for t in range(8):
            store = shared | {Tid("x"): t, Var("i"): data.draw(small)}
            if all(worth(f, store) for f in p):
                warps.setdefault(t // 4, []).append(int(worth(term, store)))
        for values in warps.values():
            assert not held[0] or len(set(values)) == 1
            assert not held[1] or len({v * 4 // 8 for v in values}) <= n
            assert not held[2] or max(len({v for v in values if v % 2 == bank}) for bank in (0, 1)) <= n


def test_a_number_that_is_told_is_put_in_the_place_of_a_leaf() -> None:
    """tid.x % (2 * x) is no polynomial, and tid.x % 64 is one."""
    one = Context(SIGMA, METRICS["steps"], HARDWARE["nvidia"], Launch((64, 1, 1)))
    o = Entails(facts("x == 32; tid.x >= 32"), facts("tid.x % (2 * x) != 0"))
    rows = proof(o, one)
    assert rows
    assert decided(o, rows, one)
    assert proof(Entails(facts("tid.x >= 32"), o.goal), one) is None


@pytest.mark.parametrize(
    ("p", "goal", "soon"),
    [
        ("", "tid.y >= 1", True),
        ("", "tid.y <= 14", True),
        ("x == tid.y * 16 + tid.x", "x != 0", True),
        ("", "tid.y != 7", False),
        ("tid.y >= 8; x == tid.y", "x <= 14", True),
        ("tid.y >= 8; tid.x <= 12", "tid.y * tid.y >= 49", False),
        ("tid.y <= 3; x == tid.y + n", "x < n + 4", False),
        ("tid.x >= 9; tid.x <= 3", "tid.y >= 1", False),
        ("n >= 1", "n >= 2", False),
    ],
)
def test_what_fails_at_the_first_thread_is_not_looked_for_at_all(p: str, goal: str, soon: bool) -> None:
    """Where P excludes the threads that are tried first, or the goal does not tell them apart, all have to say it."""
    to = judge(TWO_ROWS)
    to.lanes.cache_clear()
    e = parse_expr(goal, SIGMA)
    said = implied(facts(p), e, TWO_ROWS)
    view = to.lanes(frozen_facts(to, facts(p)), None)
    tried = "warps" in vars(view)
    assert said == view.implies(frozen(e))
    assert not (soon and (said or tried))
