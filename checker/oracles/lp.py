"""An exact linear program: HiGHS finds an optimal basis in floats, the basis is solved in fractions, every row is
checked.

Floating-point answers are never rounded into claims: they only say which variables are basic. Where the exact
solution of that basis is not feasible, `checker.oracles.lra` solves the program instead; also where HiGHS finds no
solution, and no exact reason for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final

from checker.oracles import lra
from checker.oracles.programs import Program, Row
from logic.polynomials import Rational, over, plain

if TYPE_CHECKING:
    from highspy import Highs

LARGE: Final = 2**30
"""Coefficients of facts such as x < 2^32, in whose company those of others are as small as HiGHS's errors."""


SECONDS: Final = 30.0
"""The limit of time of one question to HiGHS."""

TURNS: Final = 20_000
"""The least limit of iterations of one question, or ten times the number of variables: more are made by a simplex
that goes in circles."""

SCALE: Final = -20
"""The power of two that objectives are multiplied by where HiGHS fails: one of sizes of 10^9 is beyond its presolve."""

Options = tuple[tuple[str, int | float | str], ...]

USUAL: Final[Options] = ()
PRIMAL: Final[Options] = (("simplex_strategy", 4),)
NARROW: Final[Options] = (("primal_feasibility_tolerance", 1e-10), ("dual_feasibility_tolerance", 1e-10))
"""Ways to ask HiGHS: its dual simplex, its primal one, and with errors as small as it allows. Each finds what others
miss, in a hundredth of the time of an exact engine."""


def solve(program: Program, again: bool = True) -> dict[str, Rational] | None:
    """A solution in exact fractions, or None where the program has none (or no engine could tell).

    It satisfies every row exactly; that it is optimal rests on HiGHS, where HiGHS names the basis. With `again`, an
    exact engine has to say so too where HiGHS finds no solution. Where variables have coefficients as large as the
    limits of integers, HiGHS takes anything for a solution, with a tiny multiple of those: it is asked again without.
    """
    names = program.variables()
    if not names:
        return {} if all(rhs == 0 for _, rhs in program.equations) else None
    solution, some = _asked(program, names, USUAL)
    if solution is not None:
        return solution
    if (near := _near(program)) is not program:
        return solve(near, again)
    if not (some or again):
        return None
    solution, other = _asked(program, names, PRIMAL)
    if solution is not None:
        return solution
    if not (some or other) and hopeless(program):
        return None
    solution, _ = _asked(program, names, NARROW)
    return lra.solve(program) if solution is None else solution


def _asked(program: Program, names: list[str], way: Options) -> tuple[dict[str, Rational] | None, bool]:
    """The exact solution at the vertex that HiGHS finds, and whether it finds one."""
    basis = _basis(program, names, way)
    return (None, False) if basis is None else (_vertex(program, basis), True)


def _near(program: Program) -> Program:
    """A program without the variables that have a LARGE coefficient and may not be negative, if others are left."""
    coefficients = ((n, c) for row, _ in program.equations for n, c in row.items())
    far = {n for n, c in coefficients if not -LARGE < c < LARGE} - program.free
    if not far or far >= {*program.variables()}:
        return program
    rows = [({n: c for n, c in row.items() if n not in far}, rhs) for row, rhs in program.equations]
    return Program(rows, {n: c for n, c in program.objective.items() if n not in far}, program.free)


def hopeless(program: Program) -> bool:
    """Whether there is an exact reason why nothing is a least solution: a sum of the equations that no signs allow, or
    a direction in which the objective falls for ever. No is no answer."""
    columns: dict[str, Row] = {n: {} for n in program.variables()}
    for i, (row, _) in enumerate(program.equations):
        for n, c in row.items():
            columns[n][f"y{i}"] = c
    slack = {n: {} if n in program.free else {f"x{n}": 1} for n in columns}
    sides: Row = {f"y{i}": rhs for i, (_, rhs) in enumerate(program.equations) if rhs}
    none = [({**column, **slack[n]}, 0) for n, column in columns.items()]
    falls = [(row, 0) for row, _ in program.equations]
    multipliers = {f"y{i}" for i in range(len(program.equations))}
    return any(
        basis is not None and _vertex(found, basis) is not None
        for scaled in (True, False)
        for found in (
            Program([*none, (sides, _size(sides, scaled))], {}, multipliers),
            Program([*falls, (program.objective, -_size(program.objective, scaled))], {}, program.free),
        )
        for basis in (_basis(found, found.variables()),)
    )


def _size(row: Row, scaled: bool) -> Rational:
    """The sum that a row is asked to have: 1, or its largest coefficient, lest what the coefficients are multiplied by
    is as small as the errors that HiGHS allows itself."""
    return max((1, *(max(c, -c) for c in row.values()))) if scaled else 1


def _vertex(program: Program, basis: Iterable[str]) -> dict[str, Rational] | None:
    """The exact solution with these basic variables; None where it is none, or not determined."""
    solution = _solve_basis(program, basis)
    return solution if solution is not None and feasible(program, solution) else None


def feasible(program: Program, x: Mapping[str, Rational]) -> bool:
    """Whether x satisfies every equation and every sign, exactly."""
    if any(value < 0 for name, value in x.items() if name not in program.free):
        return False
    return all(sum(c * x.get(n, 0) for n, c in row.items()) == rhs for row, rhs in program.equations)


def silent() -> Highs:
    """HiGHS, which prints nothing: some versions print a banner while they are made, before they can be told so."""
    import highspy

    class Silent(highspy.Highs):
        def enableCallbacks(self) -> None:  # noqa: N802 (theirs)
            self.silent()
            super().enableCallbacks()  # type: ignore[no-untyped-call]

    solver = Silent()  # type: ignore[no-untyped-call]
    solver.silent()
    return solver


def _basis(program: Program, names: list[str], way: Options = USUAL) -> list[str] | None:
    """The basic variables of an optimal vertex, by HiGHS; None where it does not report one. Where it ends in an error,
    it is asked again, with a smaller objective and then as the program stands."""
    try:
        return _optimal(program, names, way)
    except OverflowError:  # a number that no float can hold
        return None


def _optimal(program: Program, names: list[str], way: Options) -> list[str] | None:
    import highspy
    import numpy as np

    column = {name: i for i, name in enumerate(names)}
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(names), len(program.equations)
    lp.col_cost_ = np.array([float(program.objective.get(n, 0)) for n in names])
    lp.col_lower_ = np.array([-highspy.kHighsInf if n in program.free else 0.0 for n in names])
    lp.col_upper_ = np.full(len(names), highspy.kHighsInf)
    lp.row_lower_ = lp.row_upper_ = np.array([float(rhs) for _, rhs in program.equations])
    starts, indices, values = [0], [], []
    for row, _ in program.equations:
        for name, c in row.items():
            if c:
                indices.append(column[name])
                values.append(float(c))
        starts.append(len(indices))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.array(starts, dtype=np.int32)
    lp.a_matrix_.index_ = np.array(indices, dtype=np.int32)
    lp.a_matrix_.value_ = np.array(values)
    statuses = highspy.HighsModelStatus
    limits: Options = (
        ("threads", 1),
        ("time_limit", SECONDS),
        ("simplex_iteration_limit", max(TURNS, 10 * len(names))),
    )
    for options in (), (("user_objective_scale", SCALE),), (("presolve", "off"),):
        solver = silent()
        for name, value in (*limits, *way, *options):
            solver.setOptionValue(name, value)
        solver.passModel(lp)
        solver.run()
        said = solver.getModelStatus()
        if said not in (statuses.kSolveError, statuses.kNotset, statuses.kUnknown, statuses.kPostsolveError):
            break
    if said != statuses.kOptimal:
        return None
    status = solver.getBasis().col_status
    return [n for n, s in zip(names, status, strict=True) if s == highspy.HighsBasisStatus.kBasic]


def _solve_basis(program: Program, basis: Iterable[str]) -> dict[str, Rational] | None:
    """The values of the basic variables, the others being 0, by Gaussian elimination; None where they are not
    determined."""
    wanted = set(basis)
    rows = [({n: c for n, c in row.items() if n in wanted and c}, rhs) for row, rhs in program.equations]
    where: dict[str, set[int]] = {n: set() for n in wanted}
    for i, (row, _) in enumerate(rows):
        for n in row:
            where[n].add(i)
    solved: list[tuple[str, Row, Rational]] = []
    shortest = [(len(row), i) for i, (row, _) in enumerate(rows)]
    heapify(shortest)
    while shortest:
        size, i = heappop(shortest)
        row, rhs = rows[i]
        if size != len(row):
            continue  # it is in the heap again with the size it has now
        rows[i] = ({}, 0)
        for n in row:
            where[n].remove(i)
        if not row:
            if rhs:
                return None
            continue
        pivot = min(row, key=lambda n: (len(where[n]), n))
        scale = row.pop(pivot)
        row, rhs = {n: over(c, scale) for n, c in row.items()}, over(rhs, scale)
        solved.append((pivot, row, rhs))
        for k in where.pop(pivot):
            other, value = rows[k]
            factor = other.pop(pivot)
            for n, c in row.items():
                left = plain(other.get(n, 0) - factor * c)
                if left:
                    other[n] = left
                    where[n].add(k)
                else:
                    other.pop(n, None)
                    where[n].discard(k)
            rows[k] = (other, plain(value - factor * rhs))
            heappush(shortest, (len(other), k))
    solution: dict[str, Rational] = {}
    for pivot, row, rhs in reversed(solved):
        solution[pivot] = plain(rhs - sum(c * solution.get(n, 0) for n, c in row.items()))
    return solution
