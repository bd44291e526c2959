"""Linear programs, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from logic.polynomials import Rational

Row = dict[str, Rational]


@dataclass(slots=True)
class Program:
    """minimise objective . x  subject to  row . x = rhs for every equation; `free` variables may be negative."""

    equations: list[tuple[Row, Rational]] = field(default_factory=list)
    objective: Row = field(default_factory=dict)
    free: set[str] = field(default_factory=set)

    def variables(self) -> list[str]:
        names: dict[str, None] = dict.fromkeys(self.objective)
        for row, _ in self.equations:
            names |= dict.fromkeys(row)
        return list(names)
