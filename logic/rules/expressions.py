"""Expressions (Fig. 4, p. 12). Operands may be expressions themselves; the cost stays structural."""

from logic.schema import Rule

RULES = (
    Rule(
        "EQ:Op1",
        """
        P; X |- e1 : C1
        -----------------------------
        P; X |- op e1 : C1 + M.op
        """,
        "Fig. 4, p. 12 (EQ:Op with one operand)",
        "Fails only where its operand has no cost.",
    ),
    Rule(
        "EQ:Op",
        """
        P; X |- e1 : C1   P; X |- e2 : C2
        ---------------------------------------
        P; X |- e1 op e2 : C1 + C2 + M.op
        """,
        "Fig. 4, p. 12",
        "Both operands are paid for, also of && and ||. Fails only where an operand has no cost.",
    ),
    Rule(
        "EQ:Op3",
        """
        P; X |- e1 : C1   P; X |- e2 : C2   P; X |- e3 : C3
        -------------------------------------------------------
        P; X |- op(e1, e2, e3) : C1 + C2 + C3 + M.op
        """,
        "Fig. 4, p. 12 (EQ:Op with three operands, for `c ? a : b`)",
        "All three are paid for, whichever is chosen. Fails only where an operand has no cost.",
    ),
    Rule(
        "EQ:GArray",
        """
        P; X |- o : C   P; X |- MemReads(G[o]) <= n
        --------------------------------------------
        P; X |- G[o] : C + M.gread(n)
        """,
        "Fig. 4, p. 12",
        "Fails when no n is known for the access; the number of lanes, times what one element touches, always is one.",
    ),
    Rule(
        "EQ:SArray",
        """
        P; X |- o : C   P; X |- Conflicts(S[o]) <= n
        --------------------------------------------
        P; X |- S[o] : C + M.sread(n)
        """,
        "Fig. 4, p. 12",
        "Fails when no n is known for the access; the number of lanes, times what one element touches, always is one.",
    ),
)
