"""Certificates: one self-contained, canonical JSON document for a claim and everything that it rests on.

docs/certificate.md describes it field by field. `write` makes one from what the kernel accepted; `read` gives back the
kernel, the context and the derivation, for the kernel to judge again. Tables hold every term once; a derivation is a
list of rule applications in which premises come before conclusions. Evidence follows the order in which side conditions
arise: node after node, within a node in the order of the rule.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, TypeVar, cast

from checker.certificates.origin import Origin, as_json, instance, of_json
from checker.kernel import Claim, Ledger
from logic.assertions import Context, Launch, Obligation, P
from logic.contracts import Contract, arrays_of
from logic.derivation import Derivation, Value
from logic.metrics import HARDWARE, METRICS, Hardware, Linear, Metric
from logic.potentials import ELEMENT, OPERATED, Apply, Atom, Floor, Log2, Max0, Monomial, Poly, Sym
from logic.schema import kind
from logic.source import Loc, SourceError
from logic.syntax import (
    GHOST,
    INT,
    Array,
    Assign,
    Assume,
    Const,
    Decl,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Seq,
    Skip,
    Stmt,
    Sync,
    Tid,
    Type,
    Var,
    While,
    Write,
    written,
)
from logic.terms_as_json import expression, json_type, potential
from logic.typing import TypeProblem, signature

FORMAT: Final = "warpbound certificate"
VERSIONS: Final = (3, 4)
"""The newer one has contracts."""

LARGEST: Final = 1 << 256
"""The largest integers and divisors, of either sign."""

MAX_SIZE: Final = 1 << 16
"""The largest element, stride and offset of an array, in bytes."""

MAX_UNIT: Final = 1024
"""The largest of the hardware's numbers."""

MAX_EXTENT: Final = 1 << 32
"""The most threads of a block, or blocks of a grid, along an axis."""

MAX_ASSUMED: Final = 1 << 8
"""The most facts about a launch."""

MAX_DIGITS: Final = 80
"""Of a rational's numerator, and of its denominator."""

MAX_STATEMENTS: Final = 1 << 17
"""The most statements of a program, written out: in a certificate those that are the same may be one."""

MAX_DEGREE: Final = 64
"""The most factors of a monomial."""

MAX_WORK: Final = 5_000_000
"""The most terms, rows and names in the sets that statements write, which are looked at to read one document."""

Json = Any
_T = TypeVar("_T")


class BadCertificate(SourceError):
    """A document that is no certificate of this version."""


class InvalidCertificate(BadCertificate):
    """A document with a digest that was changed, or is not well formed: no file that cannot be used, but a certificate
    that proves nothing."""

    code, rule = 3, "invalid"


def canonical(document: dict[str, Json]) -> str:
    """The one text of a document: keys sorted, no white space, ASCII."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(document: dict[str, Json]) -> str:
    """SHA-256 of the document without its own digest."""
    return _digest(canonical({k: v for k, v in document.items() if k != "digest"}))


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


# --- writing ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Table:
    """The rows of terms, each once, in order of first use."""

    rows: list[Json] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)

    def add(self, row: Json) -> int:
        key = repr(row)  # lists of texts and numbers, and true is not 1
        if key not in self.index:
            self.index[key] = len(self.rows)
            self.rows.append(row)
        return self.index[key]


@dataclass(slots=True)
class _Writer:
    assertions: _Table = field(default_factory=_Table)
    potentials: _Table = field(default_factory=_Table)
    expressions: _Table = field(default_factory=_Table)
    statements: _Table = field(default_factory=_Table)
    known: dict[int, tuple[object, int]] = field(default_factory=dict)
    """The numbers of terms by their ids; an entry keeps its term alive, so that its id stays its own. Equal terms need
    not have one text: true is 1."""
    names: dict[frozenset[str], Json] = field(default_factory=dict)
    """The list of each X, which its nodes share."""
    nodes: list[Json] = field(default_factory=list)

    def _once(self, term: _T, put: Callable[[_T], int]) -> int:
        """The number that `put` gives a term, asked once an object."""
        if id(term) not in self.known:
            self.known[id(term)] = term, put(term)
        return self.known[id(term)][1]

    def expression(self, e: Expr) -> int:
        return self._once(e, lambda e: self.expressions.add(expression(e)))

    def statement(self, s: Stmt) -> int:
        return self._once(s, lambda s: self.statements.add(self._statement(s)))

    def assertion(self, p: P) -> int:
        return self._once(p, lambda p: self.assertions.add([self.expression(c) for c in p]))

    def potential(self, q: Poly) -> int:
        return self._once(q, lambda q: self.potentials.add(potential(q)))

    def _statement(self, s: Stmt) -> Json:
        match s:
            case Skip():
                return ["skip"]
            case Sync():
                return ["sync"]
            case Seq(stmts):
                return ["seq", [self.statement(t) for t in stmts]]
            case Assume(e):
                return ["assume", self.expression(e)]
            case Assign(x, e):
                return ["set", x, self.expression(e)]
            case Write(array, index, e):
                return ["write", array, self.expression(index), self.expression(e)]
            case If(e, then, orelse):
                return ["if", self.expression(e), self.statement(then), self.statement(orelse)]
            case While(e, body):
                return ["while", self.expression(e), self.statement(body)]

    def _names(self, x: frozenset[str]) -> Json:
        if x not in self.names:
            self.names[x] = sorted(x)
        return self.names[x]

    def letter_value(self, letter: str, value: Value) -> Json:
        match kind(letter):
            case "assertion":
                return self.assertion(cast(P, value))
            case "potential":
                return self.potential(cast(Poly, value))
            case "variables":
                return self._names(cast(frozenset[str], value))
            case "statement":
                return self.statement(cast(Stmt, value))
            case "expression" | "literal":
                return self.expression(cast(Expr, value))
            case "cost":
                return str(value)
        return value

    def derivation(self, root: Derivation) -> None:
        numbers: list[int] = []
        work: list[tuple[Derivation, bool]] = [(root, False)]
        while work:
            node, expanded = work.pop()
            if not expanded:
                work.append((node, True))
                work.extend((premise, False) for premise in reversed(node.premises))
                continue
            premises = [numbers.pop() for _ in node.premises][::-1]
            row = {
                "rule": node.rule,
                "with": {letter: self.letter_value(letter, v) for letter, v in node.substitution.items()},
                "from": premises,
                "at": [node.loc.line, node.loc.column] if node.loc else None,
            }
            numbers.append(len(self.nodes))
            self.nodes.append(row)


def _decls(decls: tuple[Decl, ...]) -> Json:
    return [[d.name, json_type(d.type)] for d in decls]


def write(
    claim: Claim,
    derivation: Derivation,
    ledger: Ledger,
    proof: Callable[[Obligation, Context], Json],
    tools: dict[str, str],
) -> dict[str, Json]:
    """The certificate of a claim, with its digest. `proof` gives the arithmetic proof of an obligation, or None."""
    writer = _Writer()
    document = _content(writer, claim.kernel, claim.context, claim.theorem.rules.name, derivation) | {
        "sums": [[name, writer.potential(f)] for name, f in claim.sums],
        "evidence": [
            {"engine": d.verdict.engine, "proof": proof(d.obligation, claim.context)} for d in ledger.discharged
        ],
        "admitted": sorted(set(ledger.barriers)),
        "tools": tools,
    }
    text = canonical(document)
    return dict(sorted({**json.loads(text), "digest": _digest(text)}.items()))


def signed(document: dict[str, Json], tools: dict[str, str], origin: Origin | None = None) -> dict[str, Json]:
    """The same certificate by these tools and their versions, of that source."""
    made = {**document, "tools": tools} | ({"reading": as_json(origin)} if origin else {})
    return made | {"digest": digest(made)}


def draft(kernel: Kernel, context: Context, rules: str, derivation: Derivation) -> str:
    """A derivation as the text of a document without evidence or digest, which `read` takes: a proposal under the rule
    set of this name, for the kernel to judge."""
    document = _content(_Writer(), kernel, context, rules, derivation) | {"evidence": [], "admitted": []}
    return canonical(document)


def _contract(c: Contract) -> Json:
    return [[[None if e is None else expression(e) for e in ends] for ends in c.ranges], expression(c.fact)]


def _content(writer: _Writer, kernel: Kernel, context: Context, rules: str, derivation: Derivation) -> dict[str, Json]:
    """The setting of a derivation, and the derivation; the tables are the writer's own and still grow."""
    body = writer.statement(kernel.body)
    assumptions = [expression(e) for e in context.launch.assumptions]
    writer.derivation(derivation)
    return {
        "format": FORMAT,
        "version": VERSIONS[bool(context.launch.contracts)],
        "kernel": {
            "name": kernel.name,
            "params": _decls(kernel.params),
            "locals": _decls(kernel.locals),
            "arrays": [
                [a.name, a.space, json_type(a.elem), a.stride, a.offset, a.width, a.length] for a in kernel.arrays
            ],
            "body": body,
        },
        "metric": {
            "name": context.metric.name,
            "fixed": {k: str(c) for k, c in context.metric.fixed.items()},
            "counted": {k: [str(f.slope), str(f.offset)] for k, f in context.metric.counted.items()},
        },
        "hardware": {
            "name": context.hardware.name,
            **{k: getattr(context.hardware, k) for k in ("sector", "banks", "word", "warp", "alignment")},
            **({} if context.hardware.phase is None else {"phase": context.hardware.phase}),
        },
        "launch": {"block": context.launch.block, "grid": context.launch.grid, "assumptions": assumptions}
        | ({"contracts": [_contract(c) for c in context.launch.contracts]} if context.launch.contracts else {}),
        "scope": context.scope,
        "rules": rules,
        "assertions": writer.assertions.rows,
        "potentials": writer.potentials.rows,
        "expressions": writer.expressions.rows,
        "statements": writer.statements.rows,
        "derivation": writer.nodes,
        "ghosts": sorted(x for x in context.sigma.locals if x.startswith(GHOST)),
    }


# --- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Certificate:
    """The content of a certificate: a kernel, what its derivation is about, the derivation, and the recorded
    evidence; and what the tools that made it say of themselves and of the source."""

    kernel: Kernel
    context: Context
    rules: str
    derivation: Derivation
    sums: tuple[tuple[str, Poly], ...]
    evidence: list[Json]
    admitted: list[int]
    digest: str
    tools: Mapping[str, str] = field(default_factory=dict)
    origin: Origin | None = None

    @property
    def name(self) -> str:
        """The name of the kernel, with the arguments of the template that it is an instance of."""
        return instance(self.kernel.name, self.origin)


def read(text: str, path: str) -> Certificate:
    """The content of a certificate. Raises BadCertificate for anything else, InvalidCertificate where there is a
    digest, which has to be right.

    Without a digest the document is a derivation that a person wrote: `digest` is empty, and `evidence` may be.
    """
    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        place = Loc(path, error.lineno, error.colno) if isinstance(error, json.JSONDecodeError) else None
        advice = "Give a file that `bound --certificate` wrote."
        if path.endswith((".cu", ".cuh")):
            advice = f"It is a source: `warpbound bound {path} --certificate DIR` makes certificates of its kernels."
            place = None
        raise BadCertificate(f"'{path}' is no JSON document", place, advice) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadCertificate(f"'{path}' is no certificate", None, "Give a file that `bound --certificate` wrote.")
    bad = InvalidCertificate if "digest" in document else BadCertificate
    if document.get("version") not in VERSIONS:
        raise bad(f"'{path}' has certificate version {_told(document.get('version'))}, not {VERSIONS[-1]}")
    try:
        if "digest" in document and document["digest"] != digest(document):
            raise bad(f"'{path}' was changed: its digest is not that of its content")
        return _Reader(document).certificate()
    except TypeProblem as problem:
        raise bad(f"'{path}' is not well formed: {_told(problem.message)}") from None
    except KeyError as error:
        raise bad(f"'{path}' is not well formed: {_told(error)} is missing, or not known here") from None
    except (IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError, RecursionError) as error:
        raise bad(f"'{path}' is not well formed: {_told(error)}") from None


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field occurs twice")
    return found


def _refused(text: str) -> None:
    raise ValueError(f"the number {text}")


class _Reader:
    """Rebuilds terms from tables. What is out of place raises, and `read` turns that into one message."""

    def __init__(self, document: dict[str, Json]) -> None:
        self.document = document
        self.left = MAX_WORK
        self.known: dict[Any, Any] = {}
        """Rows of expressions by their text, and statements by what they are made of: the same are one object."""
        self.expressions: list[Expr] = [
            self.known.setdefault(canonical({"": row}), self.expression(row)) for row in document["expressions"]
        ]
        self.assertions: list[P] = [tuple(self._at(self.expressions, i) for i in row) for row in document["assertions"]]
        self.potentials: list[Poly] = [self.potential(row) for row in document["potentials"]]
        self.statements: list[Stmt] = []
        lengths: list[int] = []
        for row in document["statements"]:
            self.statements.append(self.one(self.statement(row)))
            self.spend(2 * len(written(self.statements[-1])))  # a name in a set takes some 40 bytes
            inner = row[1] if row[0] == "seq" else row[2:] if row[0] in ("if", "while") else ()
            lengths.append(_within(1 + sum(lengths[i] for i in inner), 1, MAX_STATEMENTS, "the length of a program"))

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise ValueError("it takes too much work to be read")

    def _at(self, table: list[Any], i: Json) -> Any:
        self.spend()
        if not isinstance(i, int) or isinstance(i, bool) or not 0 <= i < len(table):
            raise ValueError(f"{_short(i)} is no index")
        return table[i]

    def one(self, s: Stmt) -> Stmt:
        """The one statement that is like this, the parts of which are such."""
        parts = (getattr(s, name) for name in s.__match_args__ if name != "loc")
        key = (id(part) if not isinstance(part, (str, tuple)) else part for part in parts)
        found: Stmt = self.known.setdefault(
            (type(s), *(tuple(map(id, k)) if isinstance(k, tuple) else k for k in key)), s
        )
        return found

    def expression(self, row: Json) -> Expr:
        self.spend()
        match row:
            case ["var", str(name)]:
                return Var(name)
            case ["param", str(name)]:
                return Param(name)
            case ["tid", "x" | "y" | "z"]:
                return Tid(row[1])
            case ["const", t, bool() | int() | str() as value]:
                if isinstance(value, str):
                    _label(value, "a literal")
                _within(0 if isinstance(value, str) else value, -LARGEST, LARGEST, "a literal")
                return Const(value, self.type(t))
            case ["op", str(op), *args] if 1 <= len(args) <= 3 and _LABEL.fullmatch(op):
                return Op(op, tuple(self.expression(a) for a in args))
            case ["read", str(array), index]:
                return Read(array, self.expression(index))
        raise ValueError(f"no expression: {_short(row)}")

    def type(self, row: Json) -> Type:
        match row:
            case ["int" | "bool" | "base", str(name), int(size)] if _LABEL.fullmatch(name):
                return Type(row[0], name, _within(size, 1, MAX_SIZE, "the size of a type"))
        raise ValueError(f"no type: {_short(row)}")

    def contract(self, row: Json) -> Contract:
        ranges, fact = row
        ends = ((low, high) for low, high in ranges)
        return Contract(
            tuple(tuple(None if e is None else self.expression(e) for e in pair) for pair in ends),  # type: ignore[misc]
            self.expression(fact),
        )

    def potential(self, rows: Json) -> Poly:
        total: list[tuple[Monomial, Fraction]] = []
        for c, atoms in rows:
            self.spend(1 + _within(len(atoms), 0, MAX_DEGREE, "the degree of a monomial"))
            total.append((tuple(self.atom(a) for a in atoms), _rational(c)))
        return Poly(tuple(total))

    def atom(self, row: Json) -> Atom:
        match row:
            case ["var" | "param" | "tid", _]:
                leaf = self.expression(row)
                return Sym(cast(Var, leaf))
            case ["max0", arg]:
                return Max0(self.potential(arg))
            case ["floor", arg, int(k)]:
                return Floor(self.potential(arg), _within(k, 2, LARGEST, "a divisor"))
            case ["log2", arg]:
                return Log2(self.potential(arg))
            case ["op", str(op), p, q] if op in OPERATED:
                return Apply(op, (self.potential(p), self.potential(q)))
            case ["op", str(op), p] if op.startswith(ELEMENT):
                return Apply(op, (self.potential(p),))
        raise ValueError(f"no base function: {_short(row)}")

    def statement(self, row: Json) -> Stmt:
        def child(i: Json) -> Stmt:
            return cast(Stmt, self._at(self.statements, i))

        def e(i: Json) -> Expr:
            return cast(Expr, self._at(self.expressions, i))

        match row:
            case ["skip"]:
                return Skip()
            case ["sync"]:
                return Sync()
            case ["assume", i]:
                return Assume(e(i))
            case ["seq", list(parts)]:
                return Seq(tuple(child(i) for i in parts))
            case ["set", str(x), i]:
                return Assign(x, e(i))
            case ["write", str(array), i, j]:
                return Write(array, e(i), e(j))
            case ["if", i, then, orelse]:
                return If(e(i), child(then), child(orelse))
            case ["while", i, body]:
                return While(e(i), child(body))
        raise ValueError(f"no statement: {_short(row)}")

    def letter_value(self, letter: str, row: Json) -> Value:
        tables: dict[str, list[Any]] = {
            "assertion": self.assertions,
            "potential": self.potentials,
            "statement": self.statements,
            "expression": self.expressions,
            "literal": self.expressions,
        }
        what = kind(letter)
        if what in tables:
            return cast(Value, self._at(tables[what], row))
        if what == "variables":
            if not isinstance(row, list) or not all(isinstance(x, str) for x in row):
                raise TypeError(f"no set of variables: {_short(row)}")
            self.spend(len(row))
            return frozenset(row)
        if what == "cost":
            return _rational(row)
        if not isinstance(row, int if what == "count" else str) or isinstance(row, bool):
            raise TypeError(f"no {what}: {_short(row)}")
        return _within(row, 0, LARGEST, "a count") if isinstance(row, int) else row

    def derivation(self) -> Derivation:
        nodes: list[Derivation] = []
        used: set[int] = set()
        for row in self.document["derivation"]:
            premises = tuple(self._at(nodes, i) for i in row["from"])
            if used & set(row["from"]) or len(set(row["from"])) < len(premises):
                raise ValueError("a premise is used twice")
            used |= set(row["from"])
            values = {letter: self.letter_value(letter, v) for letter, v in row["with"].items()}
            nodes.append(Derivation(_label(row["rule"], "a rule"), values, premises, self.place(row["at"])))
        if len(used) != len(nodes) - 1:
            raise ValueError("the derivation is not one tree")
        return nodes[-1]

    def place(self, row: Json) -> Loc | None:
        if row is None:
            return None
        line, column = row
        return Loc("", _of(int, line), _of(int, column))

    def certificate(self) -> Certificate:
        d = self.document
        k = d["kernel"]
        kernel = Kernel(
            _of(str, k["name"]),
            tuple(Decl(_of(str, name), self.type(t)) for name, t in k["params"]),
            tuple(
                Array(_of(str, n), s, self.type(t), _bytes(st, 1), _bytes(o, 0), _bytes(w, 1), _size(length, LARGEST))
                for n, s, t, st, o, w, length in k["arrays"]
            ),
            tuple(Decl(_of(str, name), self.type(t)) for name, t in k["locals"]),
            cast(Stmt, self._at(self.statements, k["body"])),
        )
        metric = Metric(
            _of(str, d["metric"]["name"]),
            {c: _rational(v) for c, v in d["metric"]["fixed"].items()},
            {c: Linear(_rational(a), _rational(b)) for c, (a, b) in d["metric"]["counted"].items()},
        )
        if metric != METRICS.get(metric.name, metric):
            raise ValueError(f"these are not the prices of {metric.name}")
        bx, by, bz = (_size(n, MAX_EXTENT) for n in d["launch"]["block"])
        gx, gy, gz = (_size(n, MAX_EXTENT) for n in d["launch"]["grid"])
        _within(len(d["launch"]["assumptions"]), 0, MAX_ASSUMED, "the number of assumptions")
        contracts = d["launch"].get("contracts", [])
        _within(len(contracts), 0, MAX_ASSUMED, "the number of contracts")
        given = tuple(map(self.contract, contracts))
        launch = Launch((bx, by, bz), (gx, gy, gz), tuple(map(self.expression, d["launch"]["assumptions"])), given)
        for unit, size in d["hardware"].items():
            _within(1 if unit == "name" else size, 1, MAX_UNIT, f"'{unit}' of the hardware")
        hardware = Hardware(**d["hardware"] | {"name": _of(str, d["hardware"]["name"])})
        if hardware != HARDWARE.get(hardware.name, hardware):
            raise ValueError(f"these are not the sizes of {hardware.name}")
        for name in (metric.name, hardware.name):
            if not _TITLE.fullmatch(name):
                raise ValueError("the name of a metric or hardware is a letter, then letters, digits and '_.+-'")
        if d["scope"] not in ("warp", "block"):
            raise ValueError(f"no scope: {d['scope']}")
        sigma = replace(signature(kernel), stable=arrays_of(given))
        for ghost in _of(list, d.get("ghosts", [])):
            if not _GHOST.fullmatch(_of(str, ghost)):
                raise ValueError(f"no ghost: {ghost}")
            sigma.locals[ghost] = INT
        context = Context(sigma, metric, hardware, launch, d["scope"])
        sums = tuple((_of(str, name), cast(Poly, self._at(self.potentials, i))) for name, i in d.get("sums", []))
        evidence, admitted = _of(list, d["evidence"]), [_of(int, a) for a in _of(list, d["admitted"])]
        return Certificate(
            kernel,
            context,
            _label(d["rules"], "a rule set"),
            self.derivation(),
            sums,
            evidence,
            admitted,
            d.get("digest", ""),
            {k: v for k, v in d.get("tools", {}).items() if isinstance(v, str) and _LABEL.fullmatch(f"{k} {v}")},
            of_json(d["reading"]) if "reading" in d else None,
        )


_LABEL: Final = re.compile(r"[ -~]{1,200}")
_GHOST: Final = re.compile(rf"{GHOST}\w{{1,200}}", re.ASCII)
_TITLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]{0,63}")


def _label(x: Json, what: str) -> str:
    """A text that can be printed everywhere, and looks like no other."""
    if not _LABEL.fullmatch(_of(str, x)):
        raise ValueError(f"{what} is empty, too long, or has characters other than printable ASCII")
    return cast(str, x)


def _told(error: object) -> str:
    """A sentence on what is wrong with a document, in the document's words: in printable ASCII, and not too long."""
    text = str(error).encode("unicode_escape").decode()
    return f"{text[:200]}..." if len(text) > 200 else text


def _short(row: Json) -> str:
    return f"{row!s:.200}"


def _of(kind_: type[_T], x: Json) -> _T:
    """x, which has to be of this very type: true is no 1."""
    if type(x) is not kind_:
        raise TypeError(f"no {kind_.__name__}: {_short(x)}")
    return x


def _within(n: Json, least: int, most: int, what: str) -> int:
    """n, which has to be an integer between these: what is larger takes too long to judge."""
    if not isinstance(n, int) or not least <= n <= most:
        raise ValueError(f"{what} is not between {least} and {most}")
    return n


def _bytes(n: Json, least: int) -> int:
    return _within(_of(int, n), least, MAX_SIZE, "a size of an array")


def _size(x: Json, most: int) -> int | None:
    return None if x is None else _within(_of(int, x), 0, most, "a size")


def _rational(x: Json) -> Fraction:
    """The number that a text `p` or `p/q` is."""
    if not re.fullmatch(rf"-?\d{{1,{MAX_DIGITS}}}(/\d{{1,{MAX_DIGITS}}})?", _of(str, x), re.ASCII):
        raise ValueError(f"no rational: {x:.80}")
    return Fraction(x)
