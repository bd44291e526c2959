"""Weakening (Fig. 4, p. 12)."""

from logic.schema import Rule

RULES = (
    Rule(
        "Q:Weak",
        """
        {P2; Q2; X2} s {P2'; Q2'; X2'}
        P1 |- P2   P1; X1 |- Q1 >= Q2   P1; X1 |- X2 unif
        P2' |- P1'   P2'; X2' |- Q2' >= Q1'   X1' <= X2'   c >= 0
        ------------------------------------------------------------
        {P1; Q1 + c; X1} s {P1'; Q1' + c; X1'}
        """,
        "Fig. 4, p. 12",
        "X2 may hold variables that P1 makes uniform though X1 lacks them (ours, erratum 13). Fails where a condition "
        "would become stronger.",
    ),
)
