"""Linear programs: exact answers, against brute force over bases; floats only ever name a basis."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import highspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.oracles import lp, lra
from checker.oracles.programs import Program, Row
from logic.polynomials import Rational
from tests.examples import examples

F = Fraction
ROWS = st.lists(st.tuples(st.lists(st.integers(-3, 3), min_size=4, max_size=4), st.integers(-6, 6)), max_size=3)


def program(rows: list[tuple[list[int], int]], objective: list[int], free: str = "") -> Program:
    equations: list[tuple[Row, Rational]] = [({f"x{i}": c for i, c in enumerate(row) if c}, rhs) for row, rhs in rows]
    return Program(equations, {f"x{i}": c for i, c in enumerate(objective) if c}, set(free.split()))


def determinant_solution(rows: list[tuple[list[int], int]], basis: tuple[int, ...]) -> list[F] | None:
    """The unique solution with these variables alone, by plain elimination; None where there is no unique one."""
    table = [[F(row[i]) for i in basis] + [F(rhs)] for row, rhs in rows]
    rank = 0
    for column in range(len(basis)):
        pivot = next((r for r in range(rank, len(table)) if table[r][column]), None)
        if pivot is None:
            return None
        table[rank], table[pivot] = table[pivot], table[rank]
        table[rank] = [v / table[rank][column] for v in table[rank]]
        for r in range(len(table)):
            if r != rank:
                table[r] = [a - table[r][column] * b for a, b in zip(table[r], table[rank], strict=True)]
        rank += 1
    return None if any(row[-1] for row in table[rank:]) else [row[-1] for row in table[:rank]]


def vertices(rows: list[tuple[list[int], int]]) -> list[list[F]]:
    """Every vertex of {x >= 0 : rows}: the basic solutions that are nonnegative."""
    found = []
    for size in range(5):
        for basis in combinations(range(4), size):
            values = determinant_solution(rows, basis)
            if values is not None and all(v >= 0 for v in values):
                point = [F(0)] * 4
                for i, v in zip(basis, values, strict=True):
                    point[i] = v
                found.append(point)
    return found


@examples(40, 5000)
@given(ROWS, st.lists(st.integers(0, 4), min_size=4, max_size=4))
def test_against_every_vertex(rows: list[tuple[list[int], int]], objective: list[int]) -> None:
    """With an objective that is nonnegative the program is bounded: optimal at a vertex, or infeasible."""
    solution = lp.solve(program(rows, objective))
    corners = vertices(rows)
    if solution is None:
        assert corners == []
        return
    x = [solution.get(f"x{i}", F(0)) for i in range(4)]
    assert all(type(v) in (int, F) and v >= 0 for v in x)
    assert all(sum(c * v for c, v in zip(row, x, strict=True)) == rhs for row, rhs in rows)
    cost = sum(c * v for c, v in zip(objective, x, strict=True))
    assert cost == min(sum(c * v for c, v in zip(objective, p, strict=True)) for p in corners)


def test_infeasible_and_unbounded_programs_have_no_answer() -> None:
    assert lp.solve(program([([1, 1, 0, 0], -1)], [1, 1, 0, 0])) is None
    assert lp.solve(program([([1, -1, 0, 0], 0)], [-1, 0, 0, 0])) is None
    assert lp.solve(program([([1, 0, 0, 0], 1), ([1, 0, 0, 0], 2)], [1, 0, 0, 0])) is None
    assert lp.solve(program([([1, 0, 0, 0], 0)], [1, 1, 0, 0], "x1")) is None


def test_programs_without_variables() -> None:
    assert lp.solve(Program()) == {}
    assert lp.solve(Program([({}, F(0))])) == {}
    assert lp.solve(Program([({}, F(1))])) is None
    assert lp.solve(Program([({}, F(1))], {"x": F(1)})) is None


def test_free_variables_may_be_negative() -> None:
    rows = [([1, 1, 0, 0], 2), ([1, 0, 0, 0], 5)]
    assert lp.solve(program(rows, [0, 1, 0, 0])) is None
    assert lp.solve(program(rows, [0, 1, 0, 0], "x1")) == {"x0": F(5), "x1": F(-3)}


def test_degenerate_and_redundant_rows() -> None:
    rows = [([1, 1, 1, 0], 0), ([2, 2, 2, 0], 0), ([0, 0, 0, 1], 4), ([1, 1, 1, 1], 4)]
    solution = lp.solve(program(rows, [1, 2, 3, 4]))
    assert solution is not None
    assert {n: v for n, v in solution.items() if v} == {"x3": 4}


def test_answers_are_exact_where_floats_are_not() -> None:
    big = F(10**17 + 1)
    assert lp.solve(Program([({"a": big}, F(1))], {"a": F(1)})) == {"a": 1 / big}
    rows: list[tuple[Row, Rational]] = [({"a": F(1, 3), "b": F(1, 7)}, 1), ({"a": F(1, 7), "b": F(-1, 3)}, 0)]
    solution = lp.solve(Program(rows, {"a": 1}))
    assert solution is not None
    assert solution == {"a": F(147, 58), "b": F(63, 58)}


@pytest.mark.parametrize("c", [F(10) ** 400, F(1, 10**400)])
def test_numbers_that_no_float_holds(c: F) -> None:
    rows: list[tuple[Row, Rational]] = [({"a": c}, 1), ({"a": 1}, 1 / c)]
    for row in rows:
        found = lp.solve(Program([row], {"a": 1}))
        assert found is None or found == {"a": 1 / c}


GARBAGE: list[list[str] | None] = [None, [], ["x3"], ["x0", "x1", "x2", "x3"], ["nobody"], ["x1", "x1"]]


@pytest.mark.parametrize("basis", GARBAGE)
@pytest.mark.parametrize(
    ("rows", "objective"),
    [
        ([([1, 2, 0, 0], 4), ([0, 1, 1, 0], 1)], [1, 1, 3, 1]),
        ([([1, -1, 0, 0], 1), ([-1, 1, 0, 0], 1)], [1, 1, 1, 1]),
        ([([1, 1, 1, 1], -2)], [1, 1, 1, 1]),
    ],
)
def test_a_basis_is_a_hint_only(
    basis: list[str] | None,
    rows: list[tuple[list[int], int]],
    objective: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the float solver names, what comes out satisfies every row, and nothing comes out where nothing can."""
    monkeypatch.setattr(lp, "_basis", lambda *_: basis)
    p = program(rows, objective)
    solution = lp.solve(p)
    assert (solution is None) == (vertices(rows) == [])
    if solution is not None:
        assert lp.feasible(p, solution)
        x = [solution.get(f"x{i}", F(0)) for i in range(4)]
        assert all(v >= 0 for v in x)
        assert all(sum(c * v for c, v in zip(row, x, strict=True)) == rhs for row, rhs in rows)


def test_the_exact_solver_is_asked_where_the_basis_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    p = program([([1, 1, 0, 0], 1)], [1, 2, 0, 0])
    monkeypatch.setattr(lra, "solve", lambda _: None)
    assert lp.solve(p) == {"x0": F(1)}
    monkeypatch.setattr(lp, "_basis", lambda *_: ["x2"])
    assert lp.solve(p) is None


@pytest.mark.parametrize("wrong", [["x2"], None])
@pytest.mark.parametrize("good", [lp.PRIMAL, lp.NARROW])
def test_highs_is_asked_in_other_ways_first(
    wrong: list[str] | None, good: lp.Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it says nothing, or names a basis that is none, another simplex or smaller errors may do."""
    monkeypatch.setattr(lra, "solve", lambda _: pytest.fail("the exact engine was asked"))
    basis = lp._basis
    monkeypatch.setattr(lp, "_basis", lambda p, names, way=(): basis(p, names, way) if way == good else wrong)
    assert lp.solve(program([([1, 1, 0, 0], 1)], [1, 2, 0, 0])) == {"x0": F(1)}


def test_each_way_is_an_option_of_highs() -> None:
    """An unknown one would be ignored."""
    solver = lp.silent()
    for name, value in (*lp.PRIMAL, *lp.NARROW):
        assert solver.setOptionValue(name, value) == highspy.HighsStatus.kOk
        assert solver.getOptionValue(name)[1] == value


def test_a_simplex_that_goes_in_circles_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is no answer, as a limit of time is none."""
    silent, made = lp.silent, list[highspy.Highs]()

    def kept() -> highspy.Highs:
        made.append(silent())
        return made[-1]

    monkeypatch.setattr(lp, "silent", kept)
    p = program([([1, 1, 0, 0], 1), ([1, 2, 1, 0], 2)], [1, -2, 0, 0])
    assert lp._basis(p, p.variables()) is not None
    assert made[0].getOptionValue("simplex_iteration_limit")[1] == lp.TURNS
    monkeypatch.setattr(highspy.Highs, "getModelStatus", lambda _: highspy.HighsModelStatus.kIterationLimit)
    assert lp._basis(p, p.variables()) is None


def test_limits_of_integers_are_left_out_where_floats_mistake_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^64 a = 1 and a = 0 hold next to each other for floats; no exact engine is asked about that. A limit that is
    needed counts."""
    monkeypatch.setattr(lra, "solve", lambda _: pytest.fail("the exact engine was asked"))
    basis = lp._basis
    monkeypatch.setattr(lp, "_basis", lambda p, names, way=(): ["x0"] if "x0" in names else basis(p, names, way))
    assert lp.solve(program([([2**64, 0], 1), ([-1, 0], 0), ([0, 1], 0)], [1, 1])) is None
    assert lp.solve(program([([2**64, 0, 3], 1), ([-1, 0, 0], 0)], [1, 0, 1])) == {"x2": F(1, 3)}
    monkeypatch.undo()
    assert lp.solve(program([([2**32, -1], 2**32 - 5), ([1, 0], 1)], [1, 1])) == {"x0": 1, "x1": 5}


@pytest.mark.parametrize("failures", range(4))
@pytest.mark.parametrize("failure", ["kSolveError", "kNotset"])
def test_where_highs_fails_it_is_asked_again(failures: int, failure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its presolve ends in an error where an objective has coefficients of 10^9: that is no answer."""
    asked: list[int] = []
    silent = lp.silent

    def failing() -> highspy.Highs:
        solver = silent()
        asked.append(len(asked))
        if len(asked) <= failures:
            monkeypatch.setattr(solver, "getModelStatus", lambda: getattr(highspy.HighsModelStatus, failure))
        return solver

    monkeypatch.setattr(lp, "silent", failing)
    p = program([([1, 1, 0, 0], 1)], [3 * 10**9, 1, 0, 0])
    assert lp._basis(p, p.variables()) == (["x1"] if failures < 3 else None)
    assert len(asked) == min(failures + 1, 3)


def test_that_there_is_no_solution_is_an_answer_of_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    silent = lp.silent

    def counting() -> highspy.Highs:
        asked.append(True)
        return silent()

    monkeypatch.setattr(lp, "silent", counting)
    p = program([([1, 1], -1)], [1, 1])
    assert lp._basis(p, p.variables()) is None
    assert asked == [True]


def test_feasible_is_exact() -> None:
    p = program([([3, 0, 0, 0], 1)], [1, 0, 0, 0])
    assert lp.feasible(p, {"x0": F(1, 3)})
    assert not lp.feasible(p, {"x0": F(1, 3) + F(1, 10**30)})
    assert not lp.feasible(p, {"x0": F(1, 3), "x1": F(-1)})
    assert not lp.feasible(p, {})


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither by Python nor in C: versions of HiGHS differ in when they print what (`make newest`)."""
    assert lp.solve(program([([1, 1, 0, 0], 3)], [1, 2, 0, 0])) is not None
    assert capfd.readouterr() == ("", "")


@examples(30, 2000)
@given(ROWS, st.lists(st.integers(-3, 4), min_size=4, max_size=4), st.sampled_from(["", "x0", "x1 x3"]))
def test_what_has_an_exact_reason_has_no_least_solution(
    rows: list[tuple[list[int], int]], objective: list[int], free: str
) -> None:
    found = program(rows, objective, free)
    assert lp.hopeless(found) == (lra.solve(found) is None)


@pytest.mark.parametrize(
    ("rows", "objective", "free"),
    [
        ([([1, 1, 0, 0], -1)], [1, 1, 0, 0], ""),
        ([([1, 0, 0, 0], 1), ([1, 0, 0, 0], 2)], [1, 0, 0, 0], "x0"),
        ([([1, -1, 0, 0], 0)], [-1, 0, 0, 0], ""),
        ([([1, 0, 0, 0], 0)], [1, 1, 0, 0], "x1"),
        ([([1024, -1], 0), ([0, -1024, 65536, 1, 1], 0)], [-1, 0, 6555955754, 6555955754], ""),  # what falls is tiny
    ],
)
def test_no_solver_is_asked_where_the_reason_is_exact(
    rows: list[tuple[list[int], int]], objective: list[int], free: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lra, "solve", None)
    assert lp.solve(program(rows, objective, free)) is None


def test_a_number_that_no_float_holds_is_no_reason() -> None:
    assert not lp.hopeless(Program([({"x": F(10**400)}, F(-1))], {"x": F(1)}))


def test_a_solver_is_silent_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions that print a banner do so in this step."""
    found: list[bool] = []
    monkeypatch.setattr(
        highspy.Highs, "enableCallbacks", lambda solver: found.append(solver.getOptionValue("output_flag")[1])
    )
    assert lp.silent().getOptionValue("output_flag")[1] is False
    assert found == [False]
