"""Skip, barriers, sequences (Fig. 4, p. 12; Sync from M^sync of Fig. 6, p. 16)."""

from logic.schema import Rule

RULES = (
    Rule(
        "Q:Skip",
        """
        --------------------------
        {P; Q; X} skip {P; Q; X}
        """,
        "Fig. 4, p. 12",
        "Never fails.",
    ),
    Rule(
        "Q:Sync",
        """
        -----------------------------------
        {P; Q + M.sync; X} sync {P; Q; X}
        """,
        "ours, from SC:Sync, Fig. 6, p. 16",
        "Never fails. Under a divergent branch or loop a barrier is undefined in CUDA; the ledger lists these places.",
    ),
    Rule(
        "Q:Seq",
        """
        {P; Q; X} s1 {P1; Q1; X1}   {P1; Q1; X1} s2 {P'; Q'; X'}
        ---------------------------------------------------------
        {P; Q; X} s1; s2 {P'; Q'; X'}
        """,
        "Fig. 4, p. 12",
        "Fails where s1 does not end in just the condition that s2 starts from: Q:Weak brings them together.",
    ),
)
