r"""Loops (Fig. 4, p. 12). Q:While2 is repaired: see ERRATA.md, erratum 3.

The premises with `>= 0` are ours: with them the cost of every prefix of a run, even of one that never ends, is at
most Q.
"""

from logic.schema import Rule

RULES = (
    Rule(
        "Q:While1",
        """
        P; X |- e : C   P; X |- e unif   P; X |- Q + M.if + C >= 0
        {P & e; Q; X} s {P; Q + M.if + C; X}
        ------------------------------------------------------------
        {P; Q + M.if + C; X} while (e) s {P & !e; Q; X}
        """,
        "Fig. 4, p. 12",
        "Fails when two threads of a warp may disagree on e (then Q:While2 applies), or P and Q do not hold "
        "again after s.",
    ),
    Rule(
        "Q:While2",
        r"""
        P; X |- e : C   P; X |- Q + M.if + C + M.div >= 0
        {P & e; Q; X} s {P; Q + M.if + C + M.div; X}
        P & !e; X |- Q >= Q'   X' <= X \ W(s)
        ------------------------------------------------------------
        {P; Q + M.if + C + M.div; X} while (e) s {P & !e; Q'; X'}
        """,
        "Fig. 4, p. 12, repaired",
        "The print keeps Q over variables that s writes, whose values differ between lanes that left early and late "
        "(erratum 3). Fails when P and Q do not hold again after s.",
    ),
)
