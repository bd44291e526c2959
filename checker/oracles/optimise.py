"""Z3's exact optimiser for linear programs over the rationals: the fallback of the search, slow but exact."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

TIME_LIMIT_MS = 10_000


def minimise(
    equations: Iterable[tuple[dict[str, Fraction], Fraction]],
    objective: dict[str, Fraction],
    names: Iterable[str],
    free: set[str],
) -> dict[str, Fraction] | None:
    """An optimal solution of  min objective . x,  rows . x = rhs,  x >= 0 unless free;  None if there is none in
    time."""
    import z3

    def rational(c: Fraction) -> z3.RatNumRef:
        return z3.Q(c.numerator, c.denominator)

    def dot(row: dict[str, Fraction]) -> z3.ArithRef:
        return z3.Sum([rational(c) * variables[n] for n, c in row.items() if c] or [z3.RealVal(0)])

    variables = {n: z3.Real(f"v{i}") for i, n in enumerate(names)}
    solver = z3.Optimize()
    solver.set("timeout", TIME_LIMIT_MS)
    for name, v in variables.items():
        if name not in free:
            solver.add(v >= 0)
    for row, rhs in equations:
        solver.add(dot(row) == rational(rhs))
    handle = solver.minimize(dot(objective))
    if solver.check() != z3.sat or "oo" in str(solver.lower(handle)):
        return None
    model = solver.model()
    solution: dict[str, Fraction] = {}
    for name, v in variables.items():
        value = model.eval(v, model_completion=True)
        solution[name] = Fraction(value.numerator_as_long(), value.denominator_as_long())
    return solution
