"""The search's linear programs by pySMT: the same optima as by HiGHS and fractions, and none where there is none."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.cli import main
from checker.oracles import lp, lra
from checker.oracles.programs import Program, Row
from checker.synthesis import search
from logic.polynomials import Rational
from tests.examples import examples

F = Fraction
SMALL = st.lists(st.integers(-3, 3), min_size=4, max_size=4)
ROWS = st.lists(st.tuples(SMALL, st.integers(-6, 6)), max_size=3)
FREE = st.sets(st.sampled_from(["x0", "x1", "x2", "x3"]))

Solve = Callable[[Program], dict[str, Rational] | None]


def program(rows: list[tuple[list[int], int]], objective: list[int], free: set[str] | None = None) -> Program:
    equations: list[tuple[Row, Rational]] = [({f"x{i}": F(c) for i, c in enumerate(row)}, rhs) for row, rhs in rows]
    return Program(equations, {f"x{i}": F(c) for i, c in enumerate(objective)}, free or set())


def cost(p: Program, x: dict[str, Rational] | None) -> Rational | None:
    """The objective at a solution, which has to be one."""
    if x is None:
        return None
    assert lp.feasible(p, x)
    assert all(type(v) in (int, F) for v in x.values())
    return sum(c * x.get(n, 0) for n, c in p.objective.items())


@examples(30, 2000)
@given(ROWS, SMALL, FREE)
def test_the_optima_are_those_of_the_other_engine(
    rows: list[tuple[list[int], int]], objective: list[int], free: set[str]
) -> None:
    """Among these programs are infeasible and unbounded ones; HiGHS tells them apart, `lra` need not."""
    p = program(rows, objective, free)
    basis = lp._basis(p, p.variables())
    other = None if basis is None else lp._solve_basis(p, basis)
    assert cost(p, lra.solve(p)) == cost(p, other)


@pytest.mark.parametrize(
    ("p", "best"),
    [
        (program([([1, 1, 0, 0], 4), ([0, 1, 1, 0], 1)], [2, 1, 3, 1]), 7),
        (program([([3, 0, 0, 0], 1)], [1, 0, 0, 0]), F(1, 3)),
        (program([([1, 1, 0, 0], 2), ([1, 0, 0, 0], 5)], [0, 1, 0, 0], {"x1"}), -3),
        (program([([1, 1, 0, 0], 2), ([2, 2, 0, 0], 4)], [1, 2, 0, 0]), 2),
        (program([], [1, 2, 0, 0]), 0),
        (Program(), 0),
        (Program([({"a": F(10**400)}, F(1))], {"a": F(1)}), F(1, 10**400)),
        (Program([({}, F(1))]), None),
        (Program([({}, F(1))], {"a": F(1)}), None),
        (program([([1, 1, 0, 0], -1)], [1, 1, 0, 0]), None),
        (program([([1, 1, 0, 0], 2), ([1, 0, 0, 0], 5)], [0, 1, 0, 0]), None),
        (program([([1, -1, 0, 0], 0)], [-1, 0, 0, 0]), None),
        (program([], [1, 0, 0, 0], {"x0"}), None),
    ],
)
def test_known_optima(p: Program, best: Fraction | None) -> None:
    assert cost(p, lra.solve(p)) == best


def test_no_answer_in_time_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    from pysmt.exceptions import SolverReturnedUnknownResultError
    from pysmt.solvers.z3 import Z3Solver

    def unknown(_: object) -> None:
        raise SolverReturnedUnknownResultError

    p = program([([1, 1, 0, 0], 1)], [1, 2, 0, 0])
    assert lra.solve(p) is not None
    monkeypatch.setattr(Z3Solver, "solve", unknown)
    assert lra.solve(p) is None


def recorder(solve: Solve, into: list[Program]) -> SimpleNamespace:
    """An engine, for the search alone, that keeps the programs; arithmetic proofs are looked for as ever."""

    def recorded(p: Program) -> dict[str, Rational] | None:
        into.append(p)
        return solve(p)

    return SimpleNamespace(solve=recorded)


@pytest.mark.parametrize(
    ("kernel", "loops"),
    [
        ("addSub0", True),
        ("vectorAdd", False),
        ("addSub1", True),
        ("addSub2", True),
        ("synBrdis", False),  # nothing in it has a price
        ("addSub3", True),
    ],
)
def test_the_search_by_either_engine(
    kernel: str, loops: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`bound --search smt` certifies a bound without the other engine, and no program has a better optimum by it."""
    programs: list[Program] = []
    monkeypatch.setattr(search, "lra", recorder(lra.solve, programs))
    monkeypatch.setattr(search, "lp", SimpleNamespace(solve=pytest.fail))
    arguments = ["bound", f"proofs/{kernel}/kernel.cu", "--metric", "sectors", "--block", "32"]
    assert main([*arguments, "--search", "smt"]) == 0, capsys.readouterr()
    assert bool(programs) == loops
    for p in programs:
        best = cost(p, lra.solve(p))
        assert best is not None
        assert best == cost(p, lp.solve(p))


def test_the_other_engine_is_the_default(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    programs: list[Program] = []
    monkeypatch.setattr(search, "lp", recorder(lp.solve, programs))
    monkeypatch.setattr(search, "lra", SimpleNamespace(solve=pytest.fail))
    assert main(["bound", "proofs/addSub0/kernel.cu", "--metric", "sectors", "--block", "32"]) == 0, capsys.readouterr()
    assert programs
