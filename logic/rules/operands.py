"""Operands (Fig. 4, p. 12, top)."""

from logic.schema import Rule

RULES = (
    Rule(
        "OQ:Var",
        """
        ------------------
        P; X |- x : M.var
        """,
        "Fig. 4, p. 12",
        "Never fails.",
    ),
    Rule(
        "OQ:Const",
        """
        -------------------
        P; X |- k : M.const
        """,
        "Fig. 4, p. 12",
        "Never fails.",
    ),
    Rule(
        "OQ:Param",
        """
        -------------------
        P; X |- p : M.param
        """,
        "Fig. 4, p. 12",
        "The print charges M.const; Table 1 has M.param (erratum 8). Never fails.",
    ),
    Rule(
        "OQ:Tid",
        """
        --------------------
        P; X |- tid.a : M.var
        """,
        "Fig. 4, p. 12",
        "Never fails.",
    ),
)
