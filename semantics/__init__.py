"""The semantics, and what happens: programs run, slowly and obviously first. Knows no rule and no assertion."""
