"""Linear programs by an SMT solver: linear rational arithmetic through pySMT, exact from end to end.

By strong duality x is optimal exactly where some y satisfies the dual's constraints and has the same objective, so one
query finds an optimum: no iteration, no floats. Slower than `checker.oracles.lp`, whose second opinion it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from checker.oracles.programs import Program
from logic.polynomials import Rational

TIME_LIMIT_MS: Final = 10_000
"""The limit in milliseconds for each of the two queries."""


def solve(program: Program) -> dict[str, Rational] | None:
    """An optimal solution, or None: no solution, none that is least, or no answer in time."""
    import z3
    from pysmt.environment import Environment
    from pysmt.exceptions import SolverReturnedUnknownResultError
    from pysmt.logics import QF_LRA
    from pysmt.solvers.z3 import Z3Solver
    from pysmt.typing import REAL

    z3.set_param("ctrl_c", False)  # else it takes Ctrl-C for itself
    environment = Environment()
    formulas = environment.formula_manager
    zero = formulas.Real(0)

    def dot(row: Mapping[str, Rational], over: Mapping[str, Any]) -> Any:
        return formulas.Plus([zero, *(formulas.Times(formulas.Real(c), over[n]) for n, c in row.items() if c)])

    x = {n: formulas.Symbol(f"x{i}", REAL) for i, n in enumerate(program.variables())}
    y = {f"y{i}": formulas.Symbol(f"y{i}", REAL) for i in range(len(program.equations))}
    columns: dict[str, dict[str, Rational]] = {n: {} for n in x}
    for i, (row, _) in enumerate(program.equations):
        for n, c in row.items():
            columns[n][f"y{i}"] = c
    sides = {f"y{i}": rhs for i, (_, rhs) in enumerate(program.equations)}

    with Z3Solver(environment, QF_LRA, solver_options={"timeout": TIME_LIMIT_MS}) as solver:
        for n, v in x.items():
            if n not in program.free:
                solver.add_assertion(formulas.GE(v, zero))
        for row, rhs in program.equations:
            solver.add_assertion(formulas.Equals(dot(row, x), formulas.Real(rhs)))
        try:
            if not solver.solve():
                return None
            for n, column in columns.items():
                relation = formulas.Equals if n in program.free else formulas.LE
                solver.add_assertion(relation(dot(column, y), formulas.Real(program.objective.get(n, Fraction(0)))))
            solver.add_assertion(formulas.Equals(dot(program.objective, x), dot(sides, y)))
            if not solver.solve():
                return None
        except SolverReturnedUnknownResultError:
            return None
        values = {n: solver.get_py_value(v) for n, v in x.items()}
    return {n: Fraction(int(v.numerator), int(v.denominator)) for n, v in values.items()}
