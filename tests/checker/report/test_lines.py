"""The table of lines as text."""

from fractions import Fraction

from checker.report.lines import lines_text
from semantics.profile import LineCost


def cost(line: int, sectors: Fraction | int, steps: int, file: str = "k.cu") -> LineCost:
    return LineCost(file, line, 32, {"sectors": Fraction(sectors), "steps": Fraction(steps)})


def test_a_table() -> None:
    lines = [cost(0, 0, 3, ""), cost(2, 1, 300, "a.h"), cost(1, 0, 1), cost(3, Fraction(1, 2), 696)]
    totals = {"sectors": Fraction(3, 2), "steps": Fraction(1000)}
    sources = {"k.cu": ["__global__ void k()", "{", "  x = A[i]; " + "y" * 90], "a.h": ["one line"]}
    assert lines_text(lines, totals, sources).splitlines() == [
        "  line  executions  sectors       steps       source",
        "  without a place",
        "     -          32        0           3  <1%",
        "  a.h",
        "     2          32        1  67%    300  30%",
        "  k.cu",
        "     1          32        0           1  <1%  __global__ void k()",
        "     3          32      1/2  33%    696  70%  x = A[i]; " + "y" * 59 + "...",
    ]


def test_nothing_ran() -> None:
    assert lines_text([], {"steps": Fraction(0)}, {}) == "  line  executions  steps    source"
