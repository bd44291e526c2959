"""Both checkers on many documents that differ from one certificate in one leaf: what is the same is decided once.

Every document goes through the checkers' own code. Remembered is only what has the very inputs that it had in the
certificate itself: for the kernel a rule application with the same values and the same premises, for the second checker
a side condition with the same evidence, and what the lanes that some P and X leave agree on and touch. Where one entry
of the evidence differs, its side condition is all that the second checker does again; where one node of the derivation
or one row of a table does, it begins at the first node that this is part of, and ends where all is again as it was.
`trial` asks both checkers about some documents again with nothing remembered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from fractions import Fraction
from typing import Any, Final

from checker import kernel as trusted
from checker import recheck
from checker.certificates import document as certificate
from checker.certificates.document import BadCertificate, Certificate
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
        self.filling, self.valid = True, False
        self.terms: dict[object, Any] = {}
        self.theorems: dict[object, tuple[Theorem, object]] = {}
        self.lanes: dict[object, Any] = {}
        self.rows: dict[object, Any] = {}
        self.discharged: set[object] = set()
        self.reader: certificate._Reader | None = None
        self.checker: recheck.Checker | None = None
        self.asked: list[tuple[str, str, tuple[Any, ...]]] = []
        """For each entry of the evidence where it is taken, and the side condition that it is for."""
        self.before: list[tuple[dict[int, Any], int]] = []
        """What is proved and not used before each node, and how many entries of the evidence are left."""
        self.start, self.single = 0, False
        self.oracle = Oracles()
        self.claim = self.first(document)
        self.valid = self.second(document).verdict == "valid"
        self.filling = False

    def covers(self, document: dict[str, Json]) -> bool:
        return all(document[part] is self.document[part] for part in FIXED)

    def _changed(self, document: dict[str, Json]) -> tuple[str, int]:
        """Where the one row is that differs, of TABLES, the derivation or the evidence; ("", 0) where others do."""
        parts = [part for part in self.document if part != "digest" and document[part] is not self.document[part]]
        if self.filling or len(parts) != 1 or parts[0] not in (*TABLES, "derivation", "evidence"):
            return "", 0
        pairs = zip(document[parts[0]], self.document[parts[0]], strict=True)
        numbers = [i for i, (row, own) in enumerate(pairs) if row is not own]
        return (parts[0], numbers[0]) if len(numbers) == 1 else ("", 0)

    # --- the kernel ---

    def first(self, document: dict[str, Json]) -> Claim | None:
        """What the kernel says of a document, whatever its digest."""
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

            def __init__(self, given: dict[str, Json]) -> None:
                if quick.reader and quick._changed(given)[0] == "derivation":
                    self.__dict__ = quick.reader.__dict__ | {"document": given}
                    return
                super().__init__(given)
                self.assertions = [quick._same(("P", *map(id, p)), p) for p in self.assertions]
                quick.reader = quick.reader or self

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

        return Reader(document).certificate()

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
        """What the second checker says of a document, its digest made anew where it is read as a whole."""
        part, i = self._changed(document) if self.valid else ("", 0)
        with ExitStack() as stack:
            stack.enter_context(_put(recheck, "Lanes", self._lanes))
            if part == "evidence":
                return self._discharged(i, document["evidence"][i])
            for name in OBLIGATIONS:
                stack.enter_context(_put(recheck.Checker, name, self._obligation(name, document)))
            if part:
                return self._resumed(part, i, document[part][i])
            for name in ("expression", "potential"):
                stack.enter_context(_put(recheck.Program, name, self._row(name)))
            if self.filling:
                stack.enter_context(_put(recheck, "Checker", self._followed()))
            return recheck.recheck(signed(document))

    def judged(self, document: dict[str, Json]) -> recheck.Report:
        """What the second checker says of any document, quickly where the others have as much in common with it."""
        return self.second(document) if self.covers(document) else recheck.recheck(signed(document))

    def _followed(self) -> type[recheck.Checker]:
        """The second checker, which notes what is proved before each node, and then can begin at a later one."""
        quick = self

        class Followed(recheck.Checker):
            def run(self) -> Any:
                self.lanes.cache_clear()
                self.evidence = list(self.document["evidence"][::-1])
                self.where, self.solver_backed, self.premises, self.node = "", [], [], -1
                recheck.start()
                quick.checker = self
                return super().run()

            def apply(self, node: dict[str, Json], proved: dict[int, Any]) -> Any:
                self.node += 1
                i = self.node
                if quick.filling:
                    quick.before.append((dict(proved), len(self.evidence)))
                elif i < quick.start:
                    return ()
                elif i == quick.start:
                    proved.clear()
                    proved.update(quick.before[i][0])
                    del self.evidence[quick.before[i][1] :]
                elif quick.single and i == quick.start + 1 and (proved, len(self.evidence)) == quick.before[i]:
                    raise _AgainError
                return super().apply(node, proved)

        return Followed

    def _discharged(self, i: int, entry: Json) -> recheck.Report:
        """What the second checker says of the certificate with another entry in the evidence."""
        checker = self.checker
        assert checker

        def act() -> None:
            row = recheck.fitted(recheck.frozen(entry), recheck.DOCUMENT["evidence"][0], f"certificate.evidence.{i}")
            checker.where, name, condition = self.asked[i]
            checker.evidence, checker.solver_backed = [row], []
            recheck.start()
            getattr(checker, name)(*condition)

        checker.where = ""
        return _reported(act, checker)

    def _resumed(self, part: str, i: int, row: Json) -> recheck.Report:
        """What the second checker says of the certificate with another row in its derivation, or in a table."""
        checker = self.checker
        assert checker
        own, tables = checker.document, checker.tables
        rows = own[part]

        def act() -> None:
            new = recheck.frozen(row)
            self.start, self.single = i, part == "derivation"
            if self.single:
                recheck.fitted(new, recheck.NODE, f"certificate.derivation.{i}")
            checker.document = own | {part: (*rows[:i], new, *rows[i + 1 :])}
            if not self.single:
                self.start = self._reread(checker, part, i, tables)
            checker.run()

        checker.where = ""
        try:
            return _reported(act, checker)
        finally:
            checker.document, checker.tables = own, tables

    def _reread(self, checker: recheck.Checker, part: str, i: int, own: dict[str, list[Any]]) -> int:
        """Reads what depends on row i of a table, and gives the first node that this is part of."""
        read: tuple[Callable[[Json], Any], ...] = (
            checker.expression, checker.potential, checker._assertion, checker._statement,
        )  # fmt: skip
        changed: set[int] = set()  # the numbers of rows, of whatever table
        checker.tables = {}
        for name, reader in zip(TABLES, read, strict=True):
            table = checker.tables[name] = []
            refers = name in ("assertions", "statements")
            for j, row in enumerate(checker.document[name]):
                if (name, j) == (part, i) or (refers and not changed.isdisjoint(_numbers(row))):
                    table.append(reader(row))
                    changed.add(j)
                else:
                    table.append(own[name][j])
        nodes = checker.document["derivation"]
        parts = (j for j, node in enumerate(nodes) if not changed.isdisjoint(_numbers(tuple(node["with"].values()))))
        return next(parts, len(nodes) - 1)

    def _lanes(self, *parts: Any) -> Any:
        key = tuple(part for part in parts if isinstance(part, frozenset))  # P and X; the program is the same
        if key not in self.lanes:
            while len(self.lanes) >= LANES:
                del self.lanes[next(iter(self.lanes))]
            self.lanes[key] = _Lanes(*parts)
        return self.lanes[key]

    def _obligation(self, name: str, document: dict[str, Json]) -> Callable[..., None]:
        """A check of one side condition, which takes the next entry of the evidence. Not repeated where that entry is
        the certificate's own and has done for the same side condition."""
        check = getattr(recheck.Checker, name)
        pairs = zip(document["evidence"], self.document["evidence"], strict=True)
        changed = {i for i, (entry, own) in enumerate(pairs) if entry is not own}

        def again(checker: Any, *condition: Any) -> None:
            number = len(self.document["evidence"]) - len(checker.evidence)
            key = name, condition, number
            if self.filling:
                self.asked.append((checker.where, name, condition))
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


TABLES: Final = ("expressions", "potentials", "assertions", "statements")
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

    def most(self, array: Any, index: Any, window: range = range(1), enough: int = 0) -> int:
        key = array, index, window, enough
        if key not in self.answers:
            self.answers[key] = super().most(array, index, window, enough)
        return int(self.answers[key])


def _numbers(row: Json) -> Iterator[int]:
    """The whole numbers in a row, which may refer to others."""
    for value in row:
        if type(value) is int:
            yield value
        elif isinstance(value, tuple):
            yield from _numbers(value)


class _AgainError(Exception):
    """From here on everything is as it was."""


def _reported(act: Callable[[], object], checker: recheck.Checker) -> recheck.Report:
    """The report on what is done, in the words of `recheck.recheck`; without digest and claim."""
    problem = ""
    try:
        with suppress(_AgainError):
            act()
    except recheck.Bad as bad:
        problem = f"{checker.where}: {bad}" if checker.where else str(bad)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        problem = f"the certificate is malformed or too large: {error!s:.200}"
    if problem:
        return recheck.Report("invalid", "", [], problem, "")
    return recheck.Report("solver-backed" if checker.solver_backed else "valid", "", checker.solver_backed, "", "")


def signed(document: dict[str, Json]) -> dict[str, Json]:
    """The document with the digest of what it says."""
    return document | {"digest": certificate.digest(document)}


def plain(document: dict[str, Json]) -> tuple[Claim | None, recheck.Report]:
    """What both checkers say of a document, its digest made anew, with nothing remembered."""
    document = signed(document)
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
