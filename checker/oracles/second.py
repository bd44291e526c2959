"""cvc5, the portfolio's second engine: it reads the SMT-LIB text of a query that Z3 left open.

A yes is the solver's word, as Z3's is. Values are the caller's to check. cvc5 runs in a process of its own, begun at
the first such query: it answers no signal while it works, and it is ended where it does not keep to its limit.

As a program, this file is that process: a query a line, an answer a line, in JSON. It then imports nothing of ours.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from select import select
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from logic.operators import Value

    Said = tuple[str, dict[str, Value]]

LOGIC: Final = "QF_UFNIA"
"""The logic of the texts: integers and uninterpreted functions. cvc5 then takes no variable for a constant of another
theory."""

UNKNOWN: Final = "unknown"

STEPS: Final = 200_000
"""cvc5's steps in a second of a processor. Queries are limited by steps, so that a busy machine decides as much."""

LONGER: Final = 3
"""How many times its limit a query may take by the clock: some steps take longer, and a busy machine is slower."""

GRACE: Final = 10.0
"""Seconds that the process may take beyond that, its start included."""

ADDRESSES: Final = 384 << 20
"""Bytes of address space that the process may have: past them it ends, and the query stays open."""


@cache
def engine() -> str:
    """The engine's name for verdicts."""
    return f"cvc5 {version('cvc5')}"


def ask(text: str, limit: float) -> Said:
    """`unsat`, `sat` with values for the constants that the text declares, or `unknown`.

    `limit` is in seconds of a processor. A text that cvc5 cannot read or does not finish is `unknown`.
    """
    if "\\" in text:  # Z3 escapes with it inside |names|; SMT-LIB knows no escapes there
        return UNKNOWN, {}
    try:
        return _ask(text, limit)
    except (OSError, RuntimeError, ValueError):  # the process, and all that cvc5 raises
        return UNKNOWN, {}


def _ask(text: str, limit: float) -> Said:
    """The answer of the process. Raises RuntimeError, ValueError or OSError where it has none."""
    own = _PROCESSES.get(os.getpid())
    if own is None:
        own = _PROCESSES[os.getpid()] = _Process()
    try:
        return own.ask(text, limit)
    except BaseException:  # what it says next may be the answer to this
        del _PROCESSES[os.getpid()]
        own.end()
        raise


class _Process:
    """cvc5 beside this process, in a session of its own: Ctrl-C at the terminal goes to the one that asks."""

    def __init__(self) -> None:
        self.child = subprocess.Popen(  # noqa: S603 - our own interpreter and this file
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        atexit.register(self.end)

    def ask(self, text: str, limit: float) -> Said:
        """The answer of the process to a text. Raises RuntimeError where there is none, and cvc5's own error where it
        cannot read the text."""
        told, heard = self.child.stdin, self.child.stdout
        if told is None or heard is None:
            raise RuntimeError("no pipes")
        told.write(json.dumps([text, limit]).encode() + b"\n")
        told.flush()
        if not select([heard], [], [], LONGER * limit + GRACE)[0]:
            raise RuntimeError("no answer in time")
        line = heard.readline()
        if not line:
            raise RuntimeError("it ended")
        said, values = json.loads(line)
        return said, values

    def end(self) -> None:
        """Ends the process, whatever it does."""
        atexit.unregister(self.end)
        with suppress(OSError):
            self.child.kill()
            self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()


_PROCESSES: Final[dict[int, _Process]] = {}
"""The processes of cvc5, by the process that asks: one that was forked has to begin its own."""


# --- in the process ---------------------------------------------------------------------------------------------------


def serve() -> None:
    """Answers queries until there are no more. Nothing that a library prints gets among the answers."""
    with suppress(ImportError, OSError, ValueError):  # not every system has such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    for line in sys.stdin:
        text, limit = json.loads(line)
        try:
            said = solve(text, limit)
        except (RuntimeError, ValueError, MemoryError):
            said = UNKNOWN, {}
        answers.write(f"{json.dumps(said)}\n")
        answers.flush()


def solve(text: str, limit: float) -> Said:
    """The answer of cvc5 to a text. Raises RuntimeError or ValueError where it cannot read it."""
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("rlimit-per", str(max(1, int(limit * STEPS))))  # 0 would be no limit
    solver.setOption("tlimit-per", str(max(1, int(LONGER * limit * 1000))))
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


if __name__ == "__main__":
    serve()
