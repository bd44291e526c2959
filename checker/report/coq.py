"""The arithmetic proofs of a certificate as a Coq file, by which Coq checks them itself (docs/coq.md).

Only the standard library and the second checker are used: `make coq` sets up no environment, and has
`python3 -m checker.report.coq NAME.v CERT.json ..` write its file.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from json import loads
from pathlib import Path
from typing import Any, Final

from checker.recheck import (
    DOCUMENT,
    ELEMENT,
    NEWER,
    READING,
    TIDS,
    Bad,
    Checker,
    Contract,
    Expr,
    Facts,
    Potential,
    fitted,
    frozen,
    leaves,
    linear,
    plain,
    recheck,
    single,
    terms,
)

Json = Any

BINARY: Final = {
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "%": "Mod", "<<": "Shl", ">>": "Shr", "&": "BitAnd", "|": "BitOr",
    "^": "BitXor", "min": "Min", "max": "Max", "<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge", "==": "Eq", "!=": "Ne",
    "&&": "And", "||": "Or",
}  # fmt: skip
UNARY: Final = {"neg": "Neg", "~": "BitNot", "!": "Not", "int": "ToInt", "bool": "ToBool", "abs": "Abs"}
LAWS: Final = {
    "over": "Over", "under": "Under", "rest": "Rest", "sign": "Sign", "less": "Below", "negative": "Negative",
    "sign of 2nd": "SignOf2nd", "less than 2nd": "BelowThe2nd", "more": "Above1st", "more than 2nd": "Above2nd",
    "sum": "SumBy1st", "sum by 2nd": "SumBy2nd",
}  # fmt: skip
WORDLESS: Final = "about what proofs/coq has no word for"
FIRST: Final = ("var", "?i0")
"""The variable of a contract that is added up."""


class Beyond(Exception):
    """A part of a proof that proofs/coq has no word for, in a few words."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An arithmetic proof: the number of the entry of the evidence that it is in, the rule application that asks for
    it, the facts and contracts that it may use, and what it shows to be nonnegative."""

    entry: int
    where: str
    facts: Facts
    contracts: list[Contract]
    goal: Potential
    proof: Json


@dataclass(frozen=True, slots=True)
class Believed:
    """Arithmetic that believes every proof and writes it down: Coq is to judge it."""

    facts: Facts
    told: Callable[[Facts, Potential, Json], None]

    def prove(self, goal: Potential, proof: Json, _what: str) -> None:
        """Writes down a proof of goal >= 0."""
        self.told(self.facts, goal, proof)


class Recorder(Checker):
    """The second checker, except that it believes the arithmetic and keeps it in `recorded`."""

    def __init__(self, document: dict[str, Json]) -> None:
        super().__init__(document)
        self.recorded: list[Shown] = []
        self.arithmetic = lambda p: Believed(p | self.launch, self._told)  # type: ignore[assignment]

    def _told(self, facts: Facts, goal: Potential, proof: Json) -> None:
        entry = len(self.document["evidence"]) - len(self.evidence) - 1
        self.recorded.append(Shown(entry, self.where, facts, self.contracts, goal, proof))


@dataclass(slots=True)
class Written:
    """The proofs of a certificate that a file has, as Coq, and what it has not: how many entries of the evidence for
    which reason."""

    proofs: list[tuple[Shown, str]] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)


def written(document: dict[str, Json]) -> Written:
    """The arithmetic proofs of a certificate as Coq. Raises Bad where the rest of it does not fit together."""
    certificate = frozen({name: value for name, value in document.items() if name != "digest"})
    shape = NEWER if certificate.get("version") == NEWER["version"] else DOCUMENT
    fitted(certificate, shape | READING if "reading" in certificate else shape, "certificate")
    recorder, found = Recorder(certificate), Written()
    recorder.run()
    for one in recorder.recorded:
        try:
            found.proofs.append((one, obligation(one)))
        except Beyond as reason:
            found.left[f"arithmetic {reason}"] += 1
    known = {one.entry for one in recorder.recorded}
    for i, entry in enumerate(certificate["evidence"]):
        if i not in known:
            found.left[f"decided by {entry['engine']}, without arithmetic"] += 1
    return found


# --- terms ------------------------------------------------------------------------------------------------------------


def text(name: str) -> str:
    """A name as a string of Coq."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def rational(c: Fraction | int) -> str:
    """A coefficient."""
    return f"({c.numerator} # {c.denominator})"


def listed(parts: Iterable[str]) -> str:
    """A list."""
    return f"[{'; '.join(parts)}]"


def nested(name: str, parts: Iterable[str], last: str) -> str:
    """(name a (name b .. last))"""
    done = list(parts)
    return "".join(f"({name} {part} " for part in done) + last + ")" * len(done)


def expression(e: Expr) -> str:
    """An expression. Raises Beyond."""
    match e:
        case ("var" | "param" as kind, str(name)):
            return f"({kind.capitalize()} {text(name)})"
        case ("tid", _) if e in TIDS:
            return f"(Tid Tid{e[1].upper()})"
        case ("const", ("int", *_), int(n)):
            return f"(Const (VInt ({n})))"
        case ("const", ("bool", *_), bool(b)):
            return f"(Const (VBool {str(b).lower()}))"
        case ("op", str(op), a) if op in UNARY:
            return f"(Op1 {UNARY[op]} {expression(a)})"
        case ("op", str(op), a, b) if op in BINARY:
            return f"(Op2 {BINARY[op]} {expression(a)} {expression(b)})"
        case ("op", str(op), a) if op.startswith(ELEMENT):
            return f"(Op2 (Call2 {text(op)}) (Op1 ToInt {expression(a)}) (Const (VInt 0)))"
        case ("op", "?:", a, b, c):
            return f"(Op3 Choose {expression(a)} {expression(b)} {expression(c)})"
    raise Beyond(WORDLESS)


def potential(p: Potential) -> str:
    """A potential as the second checker has it. Raises Beyond."""
    return total((c, [a for a, n in mono for _ in range(n)]) for mono, c in terms(p))


def row_potential(rows: Json) -> str:
    """A potential as the document has it. Raises Beyond."""
    return total((Fraction(c), factors) for c, factors in rows)


def total(rows: Iterable[tuple[Fraction | int, Iterable[Json]]]) -> str:
    """A sum of products of atoms. Raises Beyond."""
    return nested(
        "PAdd", sorted(nested("PMul", map(atom, found), f"(PConst {rational(c)})") for c, found in rows), "(PConst 0)"
    )


def atom(a: Json) -> str:
    """An atom of either. Raises Beyond."""
    inside = [potential(p) if not isinstance(p, tuple) else row_potential(p) for p in a[1:] if not isinstance(p, str)]
    match a:
        case ("max0", _):
            return f"(Max0 {inside[0]})"
        case ("floor", _, int(k)):
            return f"(Floor {inside[0]} {k})"
        case ("log2", _):
            return f"(Log2 {inside[0]})"
        case ("op", str(op), _, _) if op in BINARY:
            return f"(Apply {BINARY[op]} {' '.join(inside)})"
        case ("op", str(op), _) if op.startswith(ELEMENT):
            return f"(element {text(op)} {inside[0]})"
        case ("var" | "param" | "tid", _):
            return f"(Leaf {expression(a)})"
    raise Beyond(WORDLESS)


# --- proofs -----------------------------------------------------------------------------------------------------------


def obligation(one: Shown) -> str:
    """An arithmetic proof with the facts and contracts that it uses, of those that there are, and its goal. Raises
    Beyond."""
    named, granted = used(one.proof)
    given = sorted(expression(e) for e in named if e in one.facts)
    numbers = {key: i for i, key in enumerate(sorted(granted))}
    contracts = listed(contract(one.contracts[k], sign) for k, sign in numbers)
    proof = Proofs(one.contracts, numbers).proof(one.proof)
    return f"Obligation {contracts} {listed(given)}\n    {potential(one.goal)}\n    {proof}"


def used(part: Json) -> tuple[set[Expr], set[tuple[int, str]]]:
    """The facts that a proof names, and the contracts, by number and sign."""
    match part:
        case ("fact" | "apart", tuple(e), *_):
            return {e}, set()
        case {"put": e, "then": then}:
            facts, granted = used(then)
            return facts | {e}, granted
        case ("instance" | "telescope", int(k), str(sign), _, because):
            facts, granted = used(because)
            return facts, granted | {(k, sign)}
        case dict() | tuple():
            found = [used(inner) for inner in (part.values() if isinstance(part, dict) else part)]
            return set().union(*(facts for facts, _ in found)), set().union(*(granted for _, granted in found))
    return set(), set()


def contract(c: Contract, sign: str) -> str:
    """One of the quantities of a contract that are nonnegative. Raises Beyond."""
    ends = [[f"(Some {potential(e)})" if e is not None else "None" for e in ends] for ends in c.ranges]
    ranges = listed(f"({text(f'?i{i}')}, ({low}, {high}))" for i, (low, high) in enumerate(ends))
    return f"(Contract {ranges} {potential(c.quantities[sign])})"


def neighbours(c: Contract, sign: str) -> tuple[str, Fraction | int, Potential]:
    """A, c and w where a contract is c*(A[i+1] - A[i]) + w >= 0. Raises Bad for others."""
    i, q = single(*FIRST), c.quantities[sign]
    for atom, factor in linear(q):
        if atom[0] == "op" and atom[1].startswith(ELEMENT) and atom[2] == i + 1:
            w = q - (single(*atom) - single("op", atom[1], i)) * factor
            if FIRST not in leaves(w):
                return atom[1], factor, w
    raise Bad("a contract is not about neighbours")


@dataclass(frozen=True, slots=True)
class Proofs:
    """Proofs as Coq, where contracts with a sign have these numbers. All raise Beyond, and Bad for what is no proof."""

    contracts: list[Contract]
    numbers: dict[tuple[int, str], int]

    def proof(self, part: Json) -> str:
        """An arithmetic proof."""
        match part:
            case {"sum": rows} if len(part) == 1:
                return f"(Sum {self.summed(rows)})"
            case {"split": p, "yes": yes, "no": no} if len(part) == 3:
                return f"(Split {row_potential(p)} {self.proof(yes)} {self.proof(no)})"
            case {"put": e, "then": then} if len(part) == 2:
                return f"(Put {expression(e)} {self.proof(then)})"
        raise Bad("a proof is a sum, a split, or puts what is equal")

    def summed(self, rows: Json) -> str:
        """A sum of products of quantities."""
        parts = (f"{rational(Fraction(c))} {nested('And_', map(self.factor, fs), 'One')}" for c, fs in rows)
        return nested("Plus", parts, "Nothing")

    def sums(self, because: Json) -> str:
        """Sums that show what a quantity needs."""
        return nested("Sums", map(self.summed, because), "NoSums")

    def factor(self, row: Json) -> str:
        """A quantity that is not negative."""
        match row:
            case ("fact", e, "+" | "-" as sign):
                return f"(Fact {expression(e)} {str(sign == '+').lower()})"
            case ("case", int(i)):
                return f"(Case {i})"
            case ("apart", e, int(i)):
                return f"(Apart {expression(e)} {i})"
            case ("max0" | "above" | "log2" as kind, p):
                return f"({ {'max0': 'Larger0', 'above': 'Excess', 'log2': 'Log'}[kind] } {row_potential(p)})"
            case ("low" | "high" as kind, p, int(k)):
                return f"({kind.capitalize()} {row_potential(p)} {k})"
            case ("least" | "most" as kind, p, q, int(k), because):
                sums = " ".join(map(self.summed, because))
                return f"({kind.capitalize()} {row_potential(p)} {row_potential(q)} {k} {sums})"
            case ("law", str(op), str(name), p, q, because) if op in BINARY and name in LAWS:
                sides = f"{row_potential(p)} {row_potential(q)}"
                return f"(Law {BINARY[op]} {LAWS[name]} {sides} {self.sums(because)})"
            case ("instance", int(k), str(sign), ts, because):
                return f"(Instance {self.numbers[k, sign]} {listed(map(row_potential, ts))} {self.sums(because)})"
            case ("telescope", int(k), str(sign), (s, t), because):
                array, c, w = neighbours(self.contracts[k], sign)
                said = f"{self.numbers[k, sign]} {text(array)} {rational(c)} {potential(w)}"
                return f"(Telescope {said} {row_potential(s)} {row_potential(t)} {self.sums(because)})"
        raise Bad("a factor of a proof is not known")


# --- files ------------------------------------------------------------------------------------------------------------

HEAD: Final = """\
From Coq Require Import ZArith NArith QArith List String.
From Warpbound Require Import Syntax Lockstep Logic Contracts Arithmetic.
Import ListNotations.
Open Scope Q_scope.
Open Scope string_scope.
"""
BODY: Final = """\
Definition proofs : list obligation := [
{proofs}
].

(** Each is accepted, by computation: else this fails, and names those that are not, from 0. *)
Lemma accepted : failing proofs = [].
Proof. vm_compute. reflexivity. Qed.

(** So each goal holds for all integer values of variables and elements that satisfy its facts and contracts. *)
Theorem all_hold : forall o, In o proofs ->
  forall M sigma t, holds M sigma t (given o) -> (forall c, In c (granted o) -> kept M sigma t c) ->
  0 <= peval M sigma (shown o) t.
Proof. exact (none_failing proofs accepted). Qed.
"""


def as_coq(documents: list[dict[str, Json]]) -> str:
    """A file with the arithmetic proofs of certificates, each in a module where they are several. Raises Bad."""
    bodies = [f"{head(document, found)}\n{body(found)}" for document in documents for found in (written(document),)]
    last = "all_hold"
    if len(bodies) > 1:
        bodies = [f"Module Certificate{i}.\n\n{part}\nEnd Certificate{i}.\n" for i, part in enumerate(bodies, 1)]
        names = [f"Certificate{i}.all_hold" for i in range(1, len(bodies) + 1)]
        bodies.append(f"Definition everything := ({', '.join(names)}).\n")
        last = "everything"
    return "\n".join([HEAD, *bodies, f"Print Assumptions {last}.\n"])


def head(document: dict[str, Json], found: Written) -> str:
    """A comment on what a part of a file is about, what it covers and what it does not."""
    report = recheck(document)
    claim = report.claim or f"the second checker refuses it: {report.problem}"
    entries = len({one.entry for one, _ in found.proofs})
    lines = [
        f"{claim}.",
        f"Certificate {document.get('digest', 'without a digest')}.",
        f"Covered: {len(found.proofs)} arithmetic proofs, in {entries} of {len(document['evidence'])} entries.",
        "Where an entry has more than arithmetic, that the goals here suffice for it is not covered.",
        *(f"Not covered: {n} {reason}." for reason, n in sorted(found.left.items())),
    ]
    return f"(** {comment(chr(10).join(lines))} *)\n"


def body(found: Written) -> str:
    """The proofs and the theorem."""
    rows = (
        f"  (* {i}: entry {one.entry}, {comment(one.where)} *)\n  {row}" for i, (one, row) in enumerate(found.proofs)
    )
    return BODY.format(proofs=";\n".join(rows))


def comment(words: str) -> str:
    """A text that may stand in a comment of Coq."""
    kept = "\n    ".join(map(plain, words.split("\n")))
    return kept.replace('"', "'").replace("(*", "( *").replace("*)", "* )")


def main(target: str, *certificates: str) -> None:
    """Writes a file with the arithmetic proofs of certificates."""
    documents = [loads(Path(certificate).read_text("utf-8")) for certificate in certificates]
    Path(target).write_text(as_coq(documents), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
