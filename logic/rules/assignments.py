r"""Assignments (Fig. 4, p. 12). See ERRATA.md, errata 6 and 13.

In P[x <- e] every part of e that reads an array or a base-typed value stands for all the values that it may have.
"""

from logic.schema import Rule

RULES = (
    Rule(
        "Q:VWrite1",
        """
        P; X |- e : C   P; X |- e unif   P |- P'[x <- e]   P; X |- Q >= Q'[x <- e]
        ----------------------------------------------------------------------------
        {P; Q + M.vwrite + C; X} x <- e {P'; Q'; X | {x}}
        """,
        "Fig. 4, p. 12, repaired",
        "x need not be in X beforehand: a uniform value makes it uniform (erratum 6). Fails when lanes may differ.",
    ),
    Rule(
        "Q:VWrite2",
        r"""
        P; X |- e : C   P |- P'[x <- e]   vars(Q) <= X \ {x}
        ------------------------------------------------------------
        {P; Q + M.vwrite + C; X} x <- e {P'; Q; X \ {x}}
        """,
        "Fig. 4, p. 12, repaired",
        "The print lets Q keep mentioning x after x has stopped being uniform (erratum 13). Fails where Q mentions x.",
    ),
    Rule(
        "Q:GWrite",
        """
        P; X |- o : C1   P; X |- e : C2   P; X |- MemReads(G[o]) <= n
        ----------------------------------------------------------------
        {P; Q + M.gwrite(n) + C1 + C2; X} G[o] <- e {P; Q; X}
        """,
        "Fig. 4, p. 12",
        "P never speaks of array contents, so there is nothing to forget (erratum 4). Fails when no n is known for the "
        "access; the number of lanes, times what one element touches, always is one.",
    ),
    Rule(
        "Q:SWrite",
        """
        P; X |- o : C1   P; X |- e : C2   P; X |- Conflicts(S[o]) <= n
        ----------------------------------------------------------------
        {P; Q + M.swrite(n) + C1 + C2; X} S[o] <- e {P; Q; X}
        """,
        "Fig. 4, p. 12",
        "P never speaks of array contents, so there is nothing to forget (erratum 4). Fails when no n is known for the "
        "access; the number of lanes, times what one element touches, always is one.",
    ),
)
