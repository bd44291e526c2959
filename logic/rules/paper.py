"""The rules of Fig. 4 (p. 12) as printed, where ours differ. ERRATA.md has a counterexample to each that is unsound.

Cost judgements keep X to the left of the turnstile, which changes nothing: their side conditions are asked without it.
"""

from logic.schema import Rule

FIG_4 = "Fig. 4, p. 12, as printed"

RULES = (
    Rule(
        "OQ:Param",
        """
        --------------------
        P; X |- p : M.const
        """,
        FIG_4,
        "Charges M.const where Table 1 has M.param (erratum 8).",
    ),
    Rule(
        "EQ:GArray",
        """
        P; X |- o : C   P |- MemReads(G[o]) <= n
        --------------------------------------------
        P; X |- G[o] : C + M.gread(n)
        """,
        FIG_4,
    ),
    Rule(
        "EQ:SArray",
        """
        P; X |- o : C   P |- Conflicts(S[o]) <= n
        --------------------------------------------
        P; X |- S[o] : C + M.sread(n)
        """,
        FIG_4,
    ),
    Rule(
        "Q:If1",
        """
        P; X |- e : C   P |- e unif
        {P & e; Q; X} s1 {P'; Q'; X'}   {P & !e; Q; X} s2 {P'; Q'; X'}
        ------------------------------------------------------------
        {P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}
        """,
        FIG_4,
        "Ignores X, so that no loop counter is ever uniform (erratum 5).",
    ),
    Rule(
        "Q:If4",
        r"""
        P; X |- e : C
        {P & e; Q; X} s1 {P1; Q1; X1}   {P'; Q1; X1 \ W(s1)} s2 {P2; Q2; X2}
        P & !e |- P'   P1 |- P'   P1 |- P''   P2 |- P''
        ------------------------------------------------------------------------------
        {P; Q + M.if + C + M.div; X} if (e) s1 else s2 {P''; Q2; X2 \ W(s2)}
        """,
        FIG_4,
        "Unsound with Q:Weak: a branch that no lane takes pays for the other (errata 1, 2, 6).",
    ),
    Rule(
        "Q:While1",
        """
        P; X |- e : C   P |- e unif
        {P & e; Q; X} s {P; Q + M.if + C; X}
        ------------------------------------------------------------
        {P; Q + M.if + C; X} while (e) s {P & !e; Q; X}
        """,
        FIG_4,
        "Ignores X, so that no loop counter is ever uniform (erratum 5).",
    ),
    Rule(
        "Q:While2",
        r"""
        P; X |- e : C
        {P & e; Q; X} s {P; Q + M.if + M.div + C; X}
        --------------------------------------------------------------------------
        {P; Q + M.if + M.div + C; X} while (e) s {P & !e; Q; X \ W(s)}
        """,
        FIG_4,
        "Unsound: Q may mention what s writes, of which lanes that left early have other values (erratum 3).",
    ),
    Rule(
        "Q:VWrite1",
        """
        {x} <= X   P; X |- e : C   P |- e unif   P |- P'[x <- e]   P; X |- Q >= Q'[x <- e]
        -------------------------------------------------------------------------------------
        {P; Q + M.vwrite + C; X} x <- e {P'; Q'; X}
        """,
        FIG_4,
        "Needs x in X beforehand, so a counter never becomes uniform again (erratum 6).",
    ),
    Rule(
        "Q:VWrite2",
        r"""
        P; X |- e : C   P |- P'[x <- e]
        ------------------------------------------------------------
        {P; Q + M.vwrite + C; X} x <- e {P'; Q; X \ {x}}
        """,
        FIG_4,
        "Unsound: Q may still mention x (erratum 13).",
    ),
    Rule(
        "Q:GWrite",
        """
        P; X |- o : C1   P; X |- e : C2   P |- MemReads(G[o]) <= n
        ----------------------------------------------------------------
        {P; Q + M.gwrite(n) + C1 + C2; X} G[o] <- e {P; Q; X}
        """,
        FIG_4,
    ),
    Rule(
        "Q:SWrite",
        """
        P; X |- o : C1   P; X |- e : C2   P |- Conflicts(S[o]) <= n
        ----------------------------------------------------------------
        {P; Q + M.swrite(n) + C1 + C2; X} S[o] <- e {P; Q; X}
        """,
        FIG_4,
    ),
    Rule(
        "Q:Weak",
        """
        {P2; Q2; X2} s {P2'; Q2'; X2'}
        P1 |- P2   P1; X1 |- Q1 >= Q2   X2 <= X1
        P2' |- P1'   P2'; X2' |- Q2' >= Q1'   X1' <= X2'   c >= 0
        ------------------------------------------------------------
        {P1; Q1 + c; X1} s {P1'; Q1' + c; X1'}
        """,
        FIG_4,
    ),
)
