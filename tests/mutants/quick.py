"""Both checkers on many documents that differ from one certificate in one leaf: what is the same is decided once.

Every document goes through the checkers' own code. Remembered is only what has the very inputs that it had in the
certificate itself: for the kernel a rule application with the same values and the same premises, for the second checker
a side condition with the same evidence, and what the lanes that some P and X leave agree on and touch. `trial` asks
both checkers about some documents again with nothing remembered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any, Final

from checker import certificate, recheck
from checker import kernel as trusted
from checker.certificate import BadCertificate, Certificate
from checker.kernel import Claim, Theorem
from checker.oracles import Oracles
from logic.potentials import Poly
from logic.source import SourceError
from logic.syntax import Expr, Stmt
from proofs.make import judged

Json = Any

FIXED: Final = ("format", "version", "kernel", "metric", "hardware", "launch", "scope", "rules")
"""What all the documents have in common."""

MALFORMED: Final = (
    SourceError, KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError, RecursionError,
)  # fmt: skip
"""What `certificate.read` turns into BadCertificate."""

LANES: Final = 200
"""How many pairs of P and X have their lanes remembered."""


class Quick:
    """The checkers for a certificate and its mutants outside of FIXED."""

    def __init__(self, document: dict[str, Json]) -> None:
        self.document = document
        self.filling = True
        self.terms: dict[object, Any] = {}
        self.theorems: dict[object, tuple[Theorem, object]] = {}
        self.lanes: dict[object, Any] = {}
        self.rows: dict[object, Any] = {}
        self.discharged: set[object] = set()
        self.oracle = Oracles()
        self.claim = self.first(document)
        self.second(document)
        self.filling = False

    def covers(self, document: dict[str, Json]) -> bool:
        return all(document[part] is self.document[part] for part in FIXED)

    # --- the kernel ---

    def first(self, document: dict[str, Json]) -> Claim | None:
        """What the kernel says of a document, whose digest has to be right."""
        try:
            given = self._read(document)
        except MALFORMED:
            return None
        with _put(trusted, "_guarded", self._applied):
            claim = judged(given, self.oracle)
        self.oracle.log.clear()
        return claim

    def _read(self, document: dict[str, Json]) -> Certificate:
        quick = self

        class Reader(certificate._Reader):
            """Gives the same term for the same row."""

            def __init__(self, given: dict[str, Json], path: str) -> None:
                super().__init__(given, path)
                self.assertions = [quick._same(("P", *map(id, p)), p) for p in self.assertions]

            def expression(self, row: Json) -> Expr:
                found: Expr | None = quick.terms.get(id(row))
                return quick._same(id(row), super().expression(row)) if found is None else found

            def potential(self, rows: Json) -> Poly:
                found: Poly | None = quick.terms.get(id(rows))
                return quick._same(id(rows), super().potential(rows)) if found is None else found

            def statement(self, row: Json) -> Stmt:
                made = super().statement(row)
                parts = [getattr(made, name) for name in made.__match_args__]
                children = [q for part in parts for q in (part if isinstance(part, tuple) else (part,))]
                key = id(row), *(c if isinstance(c, str) else id(c) for c in children)
                same: Stmt = quick._same(key, made)
                return same

        return Reader(document, "mutant").certificate()

    def _same(self, key: object, made: Any) -> Any:
        """The certificate's own term with this key, or else the one just made."""
        if self.filling:
            self.terms.setdefault(key, made)
        return self.terms.get(key, made)

    def _applied(self, node: Any, premises: list[Theorem], *rest: Any) -> Theorem:
        values = (v if isinstance(v, str | int | frozenset | Fraction) else id(v) for v in node.substitution.values())
        key = node.rule, tuple(node.substitution), tuple(values), tuple(map(id, premises))
        if key in self.theorems:
            return self.theorems[key][0]
        theorem = _GUARDED(node, premises, *rest)
        if self.filling:
            self.theorems[key] = theorem, node
        return theorem

    # --- the second checker ---

    def second(self, document: dict[str, Json]) -> recheck.Report:
        """What the second checker says of a document."""
        pairs = zip(document["evidence"], self.document["evidence"], strict=True)
        changed = {i for i, (entry, own) in enumerate(pairs) if entry is not own}
        with ExitStack() as stack:
            stack.enter_context(_put(recheck, "Lanes", self._lanes))
            for name in OBLIGATIONS:
                stack.enter_context(_put(recheck.Checker, name, self._obligation(name, changed)))
            for name in ("expression", "potential"):
                stack.enter_context(_put(recheck.Program, name, self._row(name)))
            return recheck.recheck(document)

    def _lanes(self, *parts: Any) -> Any:
        key = tuple(part for part in parts if isinstance(part, frozenset))  # P and X; the program is the same
        if key not in self.lanes:
            while len(self.lanes) >= LANES:
                del self.lanes[next(iter(self.lanes))]
            self.lanes[key] = _Lanes(*parts)
        return self.lanes[key]

    def _obligation(self, name: str, changed: set[int]) -> Callable[..., None]:
        """A check of one side condition, which takes the next entry of the evidence. Not repeated where that entry is
        the certificate's own and has done for the same side condition."""
        check = getattr(recheck.Checker, name)

        def again(checker: Any, *condition: Any) -> None:
            number = len(self.document["evidence"]) - len(checker.evidence)
            key = name, condition, number
            if key in self.discharged and number not in changed:
                checker.evidence.pop()
                return
            before = len(checker.solver_backed)
            check(checker, *condition)
            if number not in changed and len(checker.solver_backed) == before:
                self.discharged.add(key)

        return again

    def _row(self, name: str) -> Callable[..., Any]:
        """A reader of expressions or potentials that reads the certificate's own rows once."""
        read = getattr(recheck.Program, name)

        def again(program: Any, row: Json, *how: bool) -> Any:
            key = name, json.dumps(row), how
            found = self.rows.get(key)
            if found is None:
                found = read(program, row, *how)
                if self.filling:
                    self.rows[key] = found
            return found

        return again


OBLIGATIONS: Final = ("at_least", "entails", "uniform", "accesses")

_GUARDED: Final = trusted._guarded


class _Lanes(recheck.Lanes):
    """Lanes that remember their answers."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.answers: dict[object, Any] = {}

    def uniform(self, e: Any) -> bool:
        if e not in self.answers:
            self.answers[e] = super().uniform(e)
        return bool(self.answers[e])

    def most(self, what: str, array: Any, index: Any) -> int:
        key = what, array, index
        if key not in self.answers:
            self.answers[key] = super().most(what, array, index)
        return int(self.answers[key])


def plain(document: dict[str, Json]) -> tuple[Claim | None, recheck.Report]:
    """What both checkers say of a document, with nothing remembered."""
    try:
        claim = judged(certificate.read(json.dumps(document), "mutant"), Oracles())
    except BadCertificate:
        claim = None
    return claim, recheck.recheck(document)


@contextmanager
def _put(where: object, name: str, what: object) -> Iterator[None]:
    """Puts something in a name's place for a while."""
    before = getattr(where, name)
    setattr(where, name, what)
    try:
        yield
    finally:
        setattr(where, name, before)
