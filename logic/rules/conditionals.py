r"""Conditionals (Fig. 4, p. 12). Q:If4 is repaired: see ERRATA.md, errata 1, 2 and 6."""

from logic.schema import Rule

RULES = (
    Rule(
        "Q:If1",
        """
        P; X |- e : C   P; X |- e unif
        {P & e; Q; X} s1 {P'; Q'; X'}   {P & !e; Q; X} s2 {P'; Q'; X'}
        ------------------------------------------------------------
        {P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}
        """,
        "Fig. 4, p. 12",
        "Fails when two threads of a warp may disagree on e; then Q:If4 applies.",
        told="all threads of a warp agree",
    ),
    Rule(
        "Q:If2",
        """
        P; X |- e : C   P |- e
        {P; Q; X} s1 {P'; Q'; X'}
        ---------------------------------------------------
        {P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}
        """,
        "Fig. 4, p. 12",
        "Never applies where e reads an array.",
        told="always taken",
    ),
    Rule(
        "Q:If3",
        """
        P; X |- e : C   P |- !e
        {P; Q; X} s2 {P'; Q'; X'}
        ---------------------------------------------------
        {P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}
        """,
        "Fig. 4, p. 12",
        "Never applies where e reads an array.",
        told="never taken",
    ),
    Rule(
        "Q:If4",
        r"""
        P; X |- e : C
        {P & e; Q; X} s1 {P1; Q1; X1}   {P'; Q'; X'} s2 {P2; Q2; X2}
        P & !e |- P'   P & !e; X |- Q >= Q'   P1; X1 |- Q1 >= Q'
        P1 |- P''   P1; X1 |- Q1 >= Q''   P2 |- P''   P2; X2 |- Q2 >= Q''
        X' <= (X & X1) \ W(s1)   X'' <= (X2 & X') \ W(s2)
        ----------------------------------------------------------------------
        {P; Q + M.if + C + M.div; X} if (e) s1 else s2 {P''; Q''; X''}
        """,
        "Fig. 4, p. 12, repaired",
        "s1 may be skipped (no lane took it), s2 may be skipped, or both run one after the other: Q' and Q'' are paid "
        "for in each case. The print passes Q1 to s2 and Q2 to the end, which lets a branch that never ran pay "
        r"(errata 1, 2), and keeps X1 \ W(s1) without the intersection (erratum 6). P1 |- P' is not needed: "
        "P is thread-local.",
        told="the warp may diverge",
    ),
)
