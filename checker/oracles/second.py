"""cvc5, the portfolio's second engine: it reads the SMT-LIB text of a query that Z3 left open.

A yes is the solver's word, as Z3's is. Values are the caller's to check. cvc5 is imported at the first such query.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from logic.operators import Value

Said = tuple[str, dict[str, Value]]

LOGIC: Final = "QF_UFNIA"
"""What the texts are about: integers and uninterpreted functions. cvc5 then takes no variable for a constant of
another theory."""

UNKNOWN: Final = "unknown"


@cache
def engine() -> str:
    """The engine's name for verdicts."""
    import cvc5

    return f"cvc5 {cvc5.__version__}"


def ask(text: str, limit: float) -> Said:
    """`unsat`, `sat` with values for the constants that the text declares, or `unknown`.

    `limit` is in seconds. A text that cvc5 cannot read or does not finish is `unknown`.
    """
    if "\\" in text:  # Z3 escapes with it inside |names|; SMT-LIB knows no escapes there
        return UNKNOWN, {}
    try:
        return _ask(text, limit)
    except (RuntimeError, ValueError):  # all that cvc5 raises
        return UNKNOWN, {}


def _ask(text: str, limit: float) -> Said:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(max(1, int(limit * 1000))))  # 0 would be no limit
    solver.setOption("produce-models", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, f"(set-logic {LOGIC})\n{text}", "query")
    symbols = parser.getSymbolManager()
    answers: list[str] = []
    while not (command := parser.nextCommand()).isNull():
        output = command.invoke(solver, symbols).strip()
        if command.getCommandName() == "check-sat":
            answers.append(output)
        elif output:  # an error, or nothing we asked
            return UNKNOWN, {}
    if answers == ["unsat"]:
        return "unsat", {}
    if answers != ["sat"]:
        return UNKNOWN, {}
    store: dict[str, Value] = {}
    for term in symbols.getDeclaredTerms():
        if term.getSort().isInteger():
            store[term.getSymbol()] = solver.getValue(term).getIntegerValue()
        elif term.getSort().isBoolean():
            store[term.getSymbol()] = solver.getValue(term).getBooleanValue()
    return "sat", store
