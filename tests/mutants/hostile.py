"""Hostile certificates: documents made to keep a checker busy, or to break it.

    python -m tests.mutants.hostile [--count 2000] [--largest 1000000] [--log FILE] [FAMILY ...]

Each is judged by `check`, `recheck` and `report`, each in a process of its own that is killed past its limits. Every
one has to be judged within SECONDS of processor time and MEMORY, with an exit code that the command knows and without a
traceback; one that says something false has to be refused: what `check` accepts is tried in runs of its program, and
most families hold nothing that could be accepted. The table tells the worst of each family.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import itertools
import json
import math
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from checker import recheck
from checker.certificates.document import digest
from proofs.make import ROOT as PROOFS
from proofs.make import committed
from tests.mutants.limited import limited

Json = Any
Expr = list[Any]

COMMANDS: Final = ("recheck", "check", "report")
SECONDS: Final = 10.0
MEMORY: Final = 512 * 1024
"""The most resident memory, in KiB."""

PATIENCE: Final = 20.0
"""Seconds of processor time after which a command is killed."""

ADDRESSES: Final = 4 << 30
"""The most address space, in bytes: what asks for more fails by itself."""

TRUTHFUL: Final = frozenset(
    (
        *("definitions", "doubling", "many facts", "choices", "shifts"),  # of programs that cost nothing
        "sums",  # a sum over warps is a true bound on their cost wherever it is more than one warp's, and is shown
        "scaled",
        "mutated",
        "flipped",
        "hardware",
        "launches",
        "unicode",
        "products",
        "splits",
        "assumptions",
        "deep terms",
        "dead branches",
        "contracts",
        "telescopes",
        "elements",
    )
)
"""Families of which a document may be a certificate: it may be accepted."""

INT: Final = ["int", "int", 4]


def const(n: int) -> Expr:
    return ["const", INT, n]


def var(name: str) -> Expr:
    return ["var", name]


def op(name: str, *args: Expr) -> Expr:
    return ["op", name, *args]


TID: Final[Expr] = ["tid", "x"]


class Draft:
    """A document under construction, about the metric `sectors`: in most, everything is in order but what is asked of
    the checker in the end."""

    def __init__(self, names: Sequence[str] = ("x",), ghosts: Sequence[str] = ()) -> None:
        self.doc: dict[str, Json] = {
            "format": "warpbound certificate",
            "version": 3,
            "kernel": {
                "name": "k",
                "params": [["n", INT], ["m", INT]],
                "locals": [[name, INT] for name in names],
                "arrays": [["G", "global", INT, 4, 0, 4, None], ["S", "shared", INT, 4, 0, 4, None]],
                "body": 0,
            },
            "metric": {"name": "sectors", **copy.deepcopy(recheck.PRICES["sectors"])},
            "hardware": {"name": "nvidia", **recheck.SIZES["nvidia"]},
            "launch": {"block": [256, 1, 1], "grid": [None, None, None], "assumptions": []},
            "scope": "warp",
            "rules": "sound",
            "expressions": [],
            "potentials": [[]],
            "assertions": [[]],
            "statements": [["skip"]],
            "derivation": [],
            "ghosts": list(ghosts),
            "sums": [],
            "evidence": [],
            "admitted": [],
            "tools": {},
        }

    def put(self, table: str, row: Json) -> int:
        self.doc[table].append(row)
        return len(self.doc[table]) - 1

    def facts(self, *facts: Expr) -> int:
        return self.put("assertions", [self.put("expressions", e) for e in facts])

    def node(self, rule: str, premises: Sequence[int] = (), **values: Json) -> int:
        renamed = {name.replace("_", "'"): value for name, value in values.items()}
        return self.put("derivation", {"rule": rule, "with": renamed, "from": list(premises), "at": None})

    def ask(self, proof: Json = None, times: int = 1) -> None:
        """Evidence for the next side conditions."""
        self.doc["evidence"] += [{"engine": "z3", "proof": proof}] * times

    def cost(self, p: int, x: Sequence[str], e: Expr) -> tuple[int, int]:
        """Proves what an expression without reads costs: nothing. Its node, and its row."""
        row = self.put("expressions", e)
        common: dict[str, Any] = {"P": p, "X": list(x)}
        match e:
            case ["var", name]:
                return self.node("OQ:Var", **common, x=name), row
            case ["param", name]:
                return self.node("OQ:Param", **common, p=name), row
            case ["tid", axis]:
                return self.node("OQ:Tid", **common, a=axis), row
            case ["const", *_]:
                return self.node("OQ:Const", **common, k=row), row
        parts = [self.cost(p, x, part) for part in e[2:]]
        rule = {1: "EQ:Op1", 2: "EQ:Op", 3: "EQ:Op3"}[len(parts)]
        values = {f"e{i}": at for i, (_, at) in enumerate(parts, 1)} | {f"C{i}": "0" for i in range(1, len(parts) + 1)}
        return self.node(rule, [at for at, _ in parts], **common, op=e[1], **values), row

    def skip(self, p: int, x: Sequence[str] = (), q: int = 0) -> int:
        return self.node("Q:Skip", P=p, Q=q, X=list(x))

    def weak(self, below: int, before: int, after: int, q: tuple[int, int] = (0, 0), proof: Json = None) -> int:
        """From {after; q[1]; {}} skip to {before; q[0]; {}} skip, without a proof of P1 |- P2."""
        values = {"P1": before, "P2": after, "P2'": after, "P1'": after, "c": "0"}
        values |= {"Q1": q[0], "Q2": q[1], "Q2'": q[1], "Q1'": 0}
        values |= {key: [] for key in ("X1", "X2", "X2'", "X1'")}
        made = self.node("Q:Weak", [below], s=0, **values)
        for each in (None, proof, None, None):
            self.ask(each)
        return made

    def branch(self, p: int, x: Sequence[str], e: Expr) -> tuple[int, int]:
        """if (e) skip else skip under P, by Q:If1, which asks whether e is uniform. Its node, and its statement."""
        at, row = self.cost(p, x, e)
        yes, no = self.facts(*self._of(p), e), self.facts(*self._of(p), op("!", e))
        sides = [self.weaker(self.skip(each, x), p, each, x) for each in (yes, no)]
        made = self.node(
            "Q:If1", [at, *sides], P=p, Q=0, X=list(x), e=row, C="0", s1=0, s2=0, **{"P'": p, "Q'": 0, "X'": list(x)}
        )
        return made, self.put("statements", ["if", row, 0, 0])

    def weaker(self, below: int, p: int, inside: int, x: Sequence[str]) -> int:
        """{inside} skip {p}"""
        values = {"P1": inside, "P2": inside, "P2'": inside, "P1'": p, "c": "0"}
        values |= dict.fromkeys(("Q1", "Q2", "Q2'", "Q1'"), 0) | {key: list(x) for key in ("X1", "X2", "X2'", "X1'")}
        return self.node("Q:Weak", [below], s=0, **values)

    def _of(self, p: int) -> list[Expr]:
        return [self.doc["expressions"][i] for i in self.doc["assertions"][p]]

    def text(self) -> str:
        return signed(self.doc)


def signed(doc: dict[str, Json]) -> str:
    with contextlib.suppress(RecursionError, ValueError):
        doc = doc | {"digest": digest(doc)}
    return json.dumps(doc, separators=(",", ":"))


# --- the families -----------------------------------------------------------------------------------------------------

Family = Callable[[Random, int], str | bytes]
"""Makes a document of about so many bytes."""

FAMILIES: Final[dict[str, Family]] = {}


def family(make: Family) -> Family:
    FAMILIES[make.__name__.replace("_", " ")] = make
    return make


@functools.cache
def _paths() -> list[Path]:
    return [path for _, _, path in committed()] + sorted(path for path in PROOFS.glob("*/*.json") if _newer(path))


def _newer(path: Path) -> bool:
    return path.parent.name in ("data", "features") and '"version":4' in path.read_text(encoding="ascii")


@functools.cache
def _read(path: Path) -> str:
    return path.read_text(encoding="ascii")


def _real(random: Random) -> str:
    return _read(random.choice(_paths()))


def real(random: Random) -> dict[str, Json]:
    """A certificate of proofs/, with contracts or without."""
    return json.loads(_real(random))  # type: ignore[no-any-return]


def under(draft: Draft, facts: Sequence[Expr], e: Expr, x: Sequence[str] = ()) -> str:
    """Whether e is uniform where facts hold, which stand as a precondition that nobody proves."""
    p = draft.facts(*facts)
    at, body = draft.branch(p, x, e)
    draft.doc["kernel"]["body"] = body
    # in the order in which the nodes ask: two skips under a weakening each, the test, the claim
    draft.ask(None, 2 * 4 + 1 + 1)
    values = {"P1": 0, "P2": p, "P2'": p, "P1'": p, "c": "0", "X1": [], "X2": list(x), "X2'": list(x), "X1'": []}
    draft.node("Q:Weak", [at], s=body, **values, **dict.fromkeys(("Q1", "Q2", "Q2'", "Q1'"), 0))
    draft.ask(None, 4 + len(x))
    return draft.text()


@family
def definitions(random: Random, size: int) -> str:
    """x_i == 0, or something with others, in any order."""
    n = max(2, size // 75)
    names = [f"x{i}" for i in range(n)]

    def value(i: int) -> Expr:
        others = [var(names[random.randrange(i + 1, n)]) for _ in range(2)] if i < n - 1 else [const(1), const(2)]
        return random.choice([const(0), others[0], op(random.choice(["+", "-", "*", "min", "/"]), *others)])

    how = random.randrange(4)
    facts = [op("==", var(name), const(0) if how == 0 else value(i)) for i, name in enumerate(names)]
    if how == 3:
        random.shuffle(facts)
    return under(Draft(names), facts, op("<", var(names[0]), const(1)))


@family
def doubling(random: Random, size: int) -> str:
    """x_i == f(x_{i+1}, x_{i+1}): a value that doubles with each."""
    n = max(2, min(size // 100, 4000))
    names = [f"x{i}" for i in range(n + 1)]
    which = random.choice(["+", "*", "min", "max", "/", "%", "^"])
    facts = [
        op("==", var(a), op(which, op("+", var(b), const(i)), op("*", var(b), const(3))))
        for i, (a, b) in enumerate(itertools.pairwise(names))
    ]
    return under(Draft(names), facts, op("<", var(names[0]), TID), random.choice([(), names]))


@family
def many_facts(random: Random, size: int) -> str:
    """Facts about every thread, each of another form."""
    n = max(1, size // 90)
    operators = ["<", "<=", ">", ">=", "==", "!="]
    facts = [
        op(random.choice(operators), op(random.choice("+-*%/^&|"), TID, const(random.randrange(1, 99))), const(i))
        for i in range(n)
    ]
    draft = Draft()
    draft.doc["launch"]["block"] = random.choice([[256, 1, 1], [1024, 1, 1], [32, 32, 2], [None, 1, 1]])
    draft.doc["scope"] = random.choice(["warp", "block"])
    return under(draft, facts, op("<", op("%", TID, var("x")), const(3)))


@family
def lanes(random: Random, size: int) -> str:
    """Many accesses, each under another P, in a large block."""
    draft, nodes, body = Draft(["x"]), [], []
    draft.doc["launch"]["block"] = random.choice([[256, 1, 1], [1024, 2, 1], [2048, 1, 1], [None, 1, 1]])
    p, rest = draft.facts(), size - 2000
    zero = draft.put("expressions", const(0))
    while rest > 0:
        k = random.randrange(1, 40)
        index: Expr = TID
        for _ in range(k):
            which = random.choice("+-*%/^&|")
            index = op(which, index, const(random.randrange(1, 9)) if random.random() < 0.8 else var("x"))
        used = len(draft.doc["derivation"])
        o, row = draft.cost(p, (), index)
        value, _ = draft.cost(p, (), const(0))
        array, rule = random.choice([("G", "Q:GWrite"), ("S", "Q:SWrite")])
        draft.node(rule, [o, value], P=p, Q=0, X=[], C1="0", C2="0", o=row, e=zero, n=1, **{array: array})
        draft.ask()
        nodes.append(len(draft.doc["derivation"]) - 1)
        body.append(draft.put("statements", ["write", array, row, zero]))
        rest -= len(json.dumps(draft.doc["derivation"][used:])) + 40 + 20 * k
    return draft.text()


@family
def wide_arrays(random: Random, size: int) -> str:
    draft = Draft()
    big = random.choice([1 << 10, 1 << 16, (1 << 16) + 1, 10**7, 10**13, 10**300])
    other = random.choice([1, 3, 64, 1 << 16])
    draft.doc["kernel"]["arrays"] = [
        [
            "G",
            "global",
            ["base", "float", random.choice([4, other, big])],
            random.choice([1, big, other]),
            0,
            big,
            None,
        ],
        ["S", "shared", INT, other, random.choice([0, big]), random.choice([4, big]), random.choice([None, big])],
    ]
    if random.random() < 0.7:
        draft.doc["hardware"] = {
            "name": "wide", "sector": random.choice([1, 2, 1024]), "word": random.choice([1, 4]), "alignment": 1024,
            "banks": random.choice([1, 32, 1024]), "warp": random.choice([32, 1024]),
        }  # fmt: skip
    p = draft.facts()
    zero, n, copies = draft.put("expressions", const(0)), random.choice([1, 10**6]), max(1, size // 1000)
    for i in range(copies):
        o, row = draft.cost(p, (), op("*", TID, const(random.choice([1, 7, 1 << 20, i + 1]))))
        value, _ = draft.cost(p, (), const(0))
        array, rule = random.choice([("G", "Q:GWrite"), ("S", "Q:SWrite")])
        draft.node(rule, [o, value], P=p, Q=0, X=[], C1="0", C2="0", o=row, e=zero, n=n, **{array: array})
        draft.ask()
        draft.put("statements", ["write", array, row, zero])
    return draft.text()


@family
def spans(random: Random, size: int) -> str:
    """Indices that may each be one of many."""
    draft = Draft(["x"])
    draft.doc["hardware"] = {"name": "own", "sector": 1, "word": 1, "alignment": 1024, "banks": 1, "warp": 1024}
    draft.doc["launch"]["block"] = [1024, 1, 1]
    draft.doc["kernel"]["arrays"] = [["G", "global", INT, random.choice([1, 61]), 0, random.choice([1, 64]), None]]
    p, zero = draft.facts(), draft.put("expressions", const(0))
    first = random.choice([TID, op("^", TID, const(7)), op("|", op("*", TID, const(3)), const(5))])
    proof = {"is": first, "first": first, "span": 1023, "by": []}
    for i in range(max(1, size // 1200)):
        o, row = draft.cost(p, (), first)
        value, _ = draft.cost(p, (), const(0))
        draft.node("Q:GWrite", [o, value], P=p, Q=0, X=[], C1="0", C2="0", o=row, e=zero, n=1 + i, G="G")
        draft.ask(proof)
        draft.put("statements", ["write", "G", row, zero])
    return draft.text()


@family
def huge_numbers(random: Random, size: int) -> str:
    digits = min(size // 2, 10 ** random.randrange(2, 6))
    number = "9" * digits
    places = random.choice(
        [
            ('"version":3', f'"version":{number}'),
            ('"banks":32', f'"banks":{number}'),
            ('["1","0"]', f'["{number}","0"]'),
            ('"body":', f'"body":{number}'),
            ("[256,1,1]", f"[256,{number},1]"),
            ("[256,1,1]", f"[256,{number}e{number},1]"),
            ("[256,1,1]", "[256,1e999,1]"),
            ('[["12",[]]]', f'[["12/{number}",[]],["{number}",[["param","n"]]]]'),
        ]
    )
    draft = Draft()
    draft.put("potentials", [["12", []]])
    draft.skip(0)
    return draft.text().replace(*places)


@family
def denominators(random: Random, size: int) -> str:
    """Sums of fractions with prime denominators: the common one is as long as the document."""
    draft = Draft()
    rows = [[f"1/{_odd(random)}", [["max0", [["1", [["param", "n"]]]]]]] for _ in range(max(1, size // 140))]
    below = draft.skip(0)
    draft.weak(below, 0, 0, proof={"sum": rows})
    draft.ask()
    return draft.text()


def _odd(random: Random) -> int:
    return random.randrange(10**60, 10**75) * 2 + 1


@family
def products(random: Random, size: int) -> str:
    """Products of long sums in a proof."""
    draft = Draft([f"x{i}" for i in range(60)])
    width, degree = random.choice([(2, 64), (4, 30), (60, 4), (127, 2), (20, 64)])
    leaves = [["param", name] for name in ("n", "m")] + [["param", f"blockIdx.{axis}"] for axis in "xyz"]
    leaves += [["var", f"x{i}"] for i in range(60)]
    sums = [[str(random.randrange(1, 10**6)), [random.choice(leaves) for _ in range(d)]] for d in range(1, width)]
    kinds = random.choice([["max0"], ["above"], ["max0", "above"], ["low"]])
    row: list[Json] = []
    while len(json.dumps(row)) < size - 1500:
        factors: list[Json] = [
            [random.choice(kinds), [["1", [leaf]] for leaf in random.sample(leaves, min(width, 50))]]
        ] * degree
        factors = [[*f, 7] if f[0] == "low" else f for f in factors]
        row.append([str(random.randrange(1, 10**20)), factors])
    draft.put("potentials", sums)
    below = draft.skip(0)
    draft.weak(below, 0, 0, proof={"sum": row})
    draft.ask()
    return draft.text()


@family
def puts(random: Random, size: int) -> str:
    """A chain of equations put into each other, each with two parts that are no sums."""
    n = max(2, min(size // 350, random.choice([16, 60, 300, 3000])))
    names = [f"x{i}" for i in range(n + 1)]
    which = random.choice(["min", "/", "*", "+"])
    facts = [
        op("==", var(a), op("+", op(which, var(b), const(i + 2)), op("max", var(b), const(i + 5))))
        for i, (a, b) in enumerate(itertools.pairwise(names))
    ]
    proof: Json = {"sum": [["1", [["max0", [["1", [var(names[0])]]]]]]]}
    for fact in reversed(facts):
        proof = {"put": fact, "then": proof}
    draft = Draft(names)
    p = draft.facts(*facts)
    below = draft.skip(p)
    values = {"P1": p, "P2": p, "P2'": p, "P1'": p, "c": "0"}
    values |= dict.fromkeys(("Q1", "Q2", "Q2'", "Q1'"), 0) | {key: [] for key in ("X1", "X2", "X2'", "X1'")}
    draft.node("Q:Weak", [below], s=0, **values)
    draft.ask()
    draft.ask(proof)
    draft.ask(times=2)
    below = len(draft.doc["derivation"]) - 1
    draft.weak(below, 0, p)
    draft.ask()
    return draft.text()


@family
def splits(random: Random, size: int) -> str:
    """A proof by cases, deep or wide."""
    depth = random.choice([5, 12, 100, 250])

    def proof(left: int, bytes_: int) -> Json:
        if left == 0 or bytes_ < 300:
            return {"sum": [["1", [["case", i] for i in range(0, depth - left, 3)]]]}
        rows = [["1", [["param", random.choice("nm")]]], [str(random.randrange(1, 99)), []]]
        wide = depth < 20 or random.random() < 0.05
        small = proof(left - 1, bytes_ // 2) if wide else {"sum": []}
        return {"split": rows, "yes": proof(left - 1, bytes_ // 2 if wide else bytes_ - 200), "no": small}

    draft = Draft()
    below = draft.skip(0)
    draft.weak(below, 0, 0, proof=proof(depth, size))
    draft.ask()
    return draft.text()


@family
def shifts(random: Random, size: int) -> str:
    """Large values by shifts and products of literals."""
    draft, e = Draft(), const((1 << 256) - 1)
    which = random.choice(["<<", "*", "+", "-", "min", "%"])
    for _ in range(min(size // 40, random.choice([30, 200, 400]))):
        e = op(which, e, const(63 if which == "<<" else (1 << 256) - 1))
    e = random.choice([e, op("*", e, e), op("%", op("*", e, TID), e)])
    return under(draft, [op("<", e, var("x"))] * random.choice([1, 3]), op("<", e, TID))


@family
def choices(random: Random, size: int) -> str:
    """Conditions that grow when they are written without choices and negations."""
    test, n = op("<", var("x"), const(1)), min(size // 120, random.choice([10, 20, 100, 400]))
    for i in range(n):
        less = op("<", var("x"), const(i))
        shape = random.randrange(4)
        test = (
            op("?:", test, less, op("!", less)) if shape == 0
            else op("?:", less, test, op("!", less)) if shape == 1
            else op(random.choice(["&&", "||"]), op("!", test), less) if shape == 2
            else op("bool", op("?:", test, const(1), const(0)))
        )  # fmt: skip
    return under(Draft(), [test] * max(1, size // (len(json.dumps(test)) + 1) // 4), test)


@family
def assignments(random: Random, size: int) -> str:
    """x <- x + x, again and again: what held of x after them, written with the x before."""
    draft, body = Draft(["x"]), []
    twice = random.choice([op("+", var("x"), var("x")), op("*", op("+", var("x"), const(1)), var("x"))])
    rule = random.choice(["Q:VWrite1", "Q:VWrite2"])
    p, n = draft.facts(op("<", var("x"), const(5))), max(1, min(size // 700, random.choice([20, 300, 1000])))
    q = draft.put("potentials", [["1", [["max0", [["1", [var("x")]]]]]]])
    for _ in range(n):
        at, row = draft.cost(p, ("x",), twice)
        uniform = rule == "Q:VWrite1"
        values = {"P": p, "X": ["x"], "P'": p, "e": row, "C": "0", "x": "x", "Q": q if uniform else 0}
        draft.node(rule, [at], **values, **({"Q'": q} if uniform else {}))
        draft.ask(None, 3 if uniform else 1)
        body.append(draft.put("statements", ["set", "x", row]))
    if len(body) > 1:
        draft.doc["kernel"]["body"] = draft.put("statements", ["seq", body])
    return draft.text()


@family
def deep_json(random: Random, size: int) -> str:
    n = min(size // 8, 10 ** random.randrange(2, 6))
    opening, closing = random.choice([("[", "]"), ('{"a":', "}"), ('["op","neg",', "]"), ('[["1",[["max0",', "]]]]")])
    nested = opening * n + "0" + closing * n
    place = random.choice(['"tools":{}', '"statements":[["skip"]]', '"admitted":[]', '"evidence":[]'])
    text: str = Draft().text()
    return str(random.choice([nested, text.replace(place, f"{place.partition(':')[0]}:{nested}")]))


@family
def deep_terms(random: Random, size: int) -> str:
    """Expressions, potentials, proofs as deep as may be read."""
    n = min(size // 12, random.choice([60, 150, 250, 400, 900, 3000]))
    e: Expr = var("x")
    rows: Json = [["1", [["param", "n"]]]]
    for i in range(n):
        e = op("neg", e) if random.random() < 0.5 else op("max", e, const(i))
        inner = random.choice([["max0", rows], ["log2", rows], ["floor", rows, 2]])
        rows = [["1", [inner]], ["1", [["param", "m"]]], [str(i + 1), []]]
    draft = Draft()
    which = random.randrange(3)
    if which == 0:
        return under(draft, [op("<", e, const(1))], op("<", e, const(2)))
    q = draft.put("potentials", rows)
    below = draft.skip(0, q=q)
    draft.weak(below, 0, 0, (q, q), {"sum": [["1", [["max0", rows]]]]} if which == 1 else None)
    draft.ask()
    return draft.text()


@family
def statements(random: Random, size: int) -> str:
    """A program whose text is short because parts of it are shared, or that is deep, or long."""
    draft = Draft([f"x{i}" for i in range(random.choice([1, 50, 500]))])
    test = draft.put("expressions", op("<", var("x0"), const(1)))
    one = draft.put("expressions", const(1))
    last = draft.put("statements", ["set", "x0", one])
    how, n = random.randrange(4), min(size // 18, random.choice([30, 300, 1500, 10**5]))
    for i in range(n):
        name = draft.doc["kernel"]["locals"][i % len(draft.doc["kernel"]["locals"])][0]
        row = {
            0: ["if", test, last, last],
            1: ["while", test, last],
            2: ["if", test, last, 0],
            3: ["set", name, one],
        }[how]
        last = draft.put("statements", row)
    body = draft.put("statements", ["seq", list(range(1, last))]) if how == 3 and last > 3 else last
    draft.doc["kernel"]["body"] = body
    draft.doc["ghosts"] = ["ghost:x"]
    values: dict[str, Any] = {"P": draft.facts(op("<", const(1), const(0))), "Q": 0, "X": []}
    draft.node("Q:Ghost", [draft.skip(values["P"])], **values, s=body, s1=body, x="ghost:x", **{
        "P'": values["P"], "Q'": 0, "X'": []
    })  # fmt: skip
    return draft.text()


@family
def dead_branches(random: Random, size: int) -> str:
    """A program that is long where it is written out, in a branch that nothing is proved of, again and again."""
    draft = Draft()
    test, one = draft.put("expressions", op("<", const(0), const(1))), draft.put("expressions", const(1))
    last, length = draft.put("statements", ["set", "x", one]), 1
    most = random.choice([1 << 10, 1 << 14, 1 << 16])
    while length < most:
        how = random.choice(["if", "seq"])
        last = draft.put("statements", ["if", test, last, last] if how == "if" else ["seq", [0, last, last]])
        if how == "seq":
            last = draft.put("statements", ["while", test, last])
        length = 2 * length + 3
    body, p = draft.put("statements", ["if", test, 0, last]), 0
    at, _ = draft.cost(p, (), op("<", const(0), const(1)))
    below = draft.node("Q:If2", [at, draft.skip(p)], P=p, Q=0, X=[], e=test, C="0", s1=0, s2=last, **{
        "P'": p, "Q'": 0, "X'": []
    })  # fmt: skip
    draft.ask()
    for _ in range(max(1, (size - 3000) // 300)):
        if random.random() < 0.5:
            below = draft.weak(below, p, p)
            draft.doc["derivation"][below]["with"]["s"] = body
            continue
        values: dict[str, Any] = {"P": p, "Q": 0, "X": [], "F": 0, "s": body}
        below = draft.node("Q:Frame", [below], **values, **{"P'": p, "Q'": 0, "X'": []})
        draft.ask()
    draft.doc["kernel"]["body"] = body
    draft.ask()
    return draft.text()


@family
def loops(random: Random, size: int) -> str:
    """Loops in loops, with barriers: what all threads share is found by going round again."""
    depth = min(size // 60, random.choice([5, 40, 200]))
    names = [f"x{i}" for i in range(depth + 1)]
    draft = Draft(names)
    last = draft.put("statements", ["sync"])
    for i in range(depth):
        test = draft.put("expressions", op("<", var(names[i]), const(1)))
        copied = draft.put("statements", ["set", names[i], draft.put("expressions", var(names[i + 1]))])
        again = draft.put("statements", ["seq", [copied, draft.put("statements", ["while", test, last])]])
        last = draft.put("statements", ["while", test, again])
    draft.doc["kernel"]["body"] = last
    p = draft.facts(FALSE_)
    draft.doc["derivation"] = []
    draft.skip(p)
    return draft.text()


FALSE_: Final[Expr] = ["const", ["bool", "bool", 1], False]


@family
def sequences(random: Random, size: int) -> str:
    """Q:Seq, n times: each adds a statement to a sequence."""
    draft = Draft()
    n = max(2, size // 260)
    at, body = draft.skip(0), 0
    for _ in range(n):
        other = draft.skip(0)
        sets = {"P": 0, "Q": 0, "X": [], "P1": 0, "Q1": 0, "X1": [], "P'": 0, "Q'": 0, "X'": []}
        at = draft.node("Q:Seq", [at, other], **sets, s1=body, s2=0)
        rows = draft.doc["statements"]
        body = draft.put("statements", ["seq", [0] * (len(rows[body][1]) + 1 if rows[body][0] == "seq" else 2)])
        if len(rows[body][1]) * n > size:
            draft.doc["statements"][body] = ["seq", [0, 0]]
    return draft.text()


@family
def names(random: Random, size: int) -> str:
    """Many variables, in every X."""
    n = max(1, int(math.sqrt(size / 12)))
    found = sorted(f"x{i}" for i in range(n))
    draft = Draft(found)
    copies = max(1, (size - 60 * n) // (7 * n + 60))
    for _ in range(copies):
        draft.skip(0, found)
    if random.random() < 0.5:
        p = draft.facts(*(op("<", var(x), TID) for x in found))
        draft.skip(p, found)
        values = {"P1": p, "P2": p, "P2'": p, "P1'": p, "c": "0"} | dict.fromkeys(("Q1", "Q2", "Q2'", "Q1'"), 0)
        values |= {"X1": [], "X2": found, "X2'": found, "X1'": found}
        draft.doc["derivation"] = draft.doc["derivation"][-1:]
        draft.node("Q:Weak", [0], s=0, **values)
        draft.ask(times=n + 5)
    return draft.text()


@family
def hardware(random: Random, size: int) -> str:
    doc = real(random)
    for unit in random.sample(["sector", "word", "alignment", "banks", "warp"], random.randrange(1, 4)):
        doc["hardware"][unit] = random.choice([0, -1, 1, 3, 1024, 1025, 10**6, 10**12, 10**100, True, "32", 1.5])
    doc["hardware"]["name"] = random.choice(["nvidia", "own"])
    return signed(doc)


@family
def launches(random: Random, size: int) -> str:
    doc = real(random)
    sizes: list[Json] = [0, 1, 2, 1023, 1024, 2**31, 2**32, 10**15, 10**300, None, True, "x"]
    doc["launch"]["block"] = [random.choice(sizes) for _ in range(3)]
    doc["launch"]["grid"] = [random.choice(sizes) for _ in range(3)]
    if random.random() < 0.5:
        doc["launch"]["assumptions"] = [
            op(random.choice(["<", "=="]), ["param", "gridDim.x"], const(i)) for i in range(size // 80)
        ]
    return signed(doc)


@family
def assumptions(random: Random, size: int) -> str:
    """Real certificates that assume much more than they need."""
    doc = real(random)
    ours = [["param", name] for name, t in doc["kernel"]["params"] if t == INT] or [["param", "gridDim.x"]]
    shape = random.choice(["sum", "product", "equation"])
    for i in range(max(1, size // 200)):
        a, b = random.choice(ours), random.choice([*ours, ["param", "gridDim.x"]])
        e = {
            "sum": op("<", op("-", a, const(i)), op("*", b, const(i + 3))),
            "product": op("!=", op("*", a, op("%", b, op("+", a, const(i)))), const(i + 1)),
            "equation": op("==", op("%", a, const(i + 2)), op("%", b, const(i + 2))),
        }[shape]
        doc["launch"]["assumptions"].append(e)
    return signed(doc)


@family
def sums(random: Random, size: int) -> str:
    doc = real(random)
    rows = [[str(i + 1), [["param", "warp.index"]] * min(60, i)] for i in range(min(60, size // 600))]
    doc["sums"] = [["warp.index", len(doc["potentials"])]]
    doc["potentials"].append(rows)
    doc["evidence"].append({"engine": "z3", "proof": None})
    return signed(doc)


@family
def solvers(random: Random, size: int) -> str:
    """What is left to a solver, as often as fits: equations over products, which it takes long for."""
    draft, below = Draft(), 0
    n, m = ["param", "n"], ["param", "m"]
    for i in range(max(1, size // 900)):
        k = random.randrange(3, 9)
        cube = op("+", op("*", n, op("*", n, n)), op("*", m, op("*", m, m)))
        p = draft.facts(op("!=", op("-", cube, op("*", const(k), op("*", n, m))), const(9 * i + 4)))
        below = draft.weak(below, 0, p) if i else draft.weak(draft.skip(p), 0, p)
    draft.ask()
    return draft.text()


# --- documents with contracts, of the newer version ---


def elem(index: Expr, array: str = "A") -> Expr:
    """What a stable array holds, in conditions."""
    return op(f"elem:{array}", index)


def index(i: int) -> Expr:
    """The variable of a contract's i-th range."""
    return ["var", f"?i{i}"]


N: Final[Expr] = ["param", "n"]


def keeping(draft: Draft, *contracts: tuple[Sequence[Sequence[Expr | None]], Expr]) -> Draft:
    """A draft whose launch keeps contracts, about two arrays that its program does not write."""
    draft.doc["version"] = 4
    draft.doc["kernel"]["arrays"] += [[name, "global", INT, 4, 0, 4, None] for name in "AB"]
    draft.doc["launch"]["contracts"] = [[[list(ends) for ends in ranges], fact] for ranges, fact in contracts]
    return draft


@family
def contracts(random: Random, size: int) -> str:
    """Many contracts, of one or more variables, about elements at elements; or one that is long, or deep."""
    how = random.choice(["many", "long", "deep", "wide"])
    count = {"many": min(random.choice([40, 256, 300]), max(1, size // 500)), "wide": 8}.get(how, 1)
    found = []
    for i in range(count):
        width = random.randrange(1, 4) if how != "wide" else random.choice([3, 30, 200])
        ranges = [[random.choice([None, const(j)]), random.choice([None, N, op("*", N, N)])] for j in range(width)]
        at = op(random.choice("+-*/&"), index(i % width), const(i + 1))
        left, parts = elem(at), max(1, size // (200 * count))
        for j in range(parts if how == "long" else min(parts, 200) if how == "deep" else min(parts, 20)):
            part = op(random.choice(["max", "/", "^", "*", "+"]), elem(index(j % width)), const(j))
            left = op("+", left, part) if how == "long" and j < 200 else elem(left, random.choice("AB"))
        found.append((ranges, op(random.choice(["<", "<=", "==", ">"]), left, op("+", elem(index(0), "B"), const(i)))))
    facts = [
        op("<", elem(op("+", TID, const(i))), elem(var("x")))
        for i in range(min(random.choice([1, 9, 60, 400, 4000]), size // 200 + 1))
    ]
    draft = keeping(Draft(), *found)
    draft.doc["launch"]["block"] = random.choice([[256, 1, 1], [None, 1, 1]])
    return under(draft, facts, op("<", var("x"), TID))


@family
def telescopes(random: Random, size: int) -> str:
    """Proofs by instances and telescopes of contracts, at indices that are long or deep, as often as fits."""
    here, there = elem(index(0)), elem(op("+", index(0), const(1)))
    rises = op("<=", op("*", const(3), here), op("+", op("*", const(3), there), N))
    pairs = op("<=", elem(index(1)), elem(index(0), "B"))
    draft = keeping(Draft(), ([[None, None]], rises), ([[None, None]] * 2, pairs))
    more: Json = ["max0", [["1", [["param", "m"]]]]]
    rows: list[Json] = []
    left = size - 2500
    while left > 0:
        width, depth = random.choice([(1, 1), (40, 1), (1, 30), (6, 4), (60, 8)])
        t: Json = [[str(i + 1), [["param", "n"]] * i] for i in range(width)]
        for j in range(depth):
            t = [["1", [["op", f"elem:{random.choice('AB')}", t]]], ["2", [["param", "m"]]], [str(j + 1), []]]
        kind, k = random.choice([("instance", 0), ("instance", 1), ("telescope", 0)])
        ends = [t] if (kind, k) == ("instance", 0) else [t, [*t, ["1", [more]]]]
        shown: Json = [["1", [more]]]
        factor = [kind, k, "+", ends, [shown] * (kind == "telescope")]
        copies = random.choice([1, 1, 1, 9])
        rows += [[str(random.randrange(1, 99)), [factor] * random.choice([1, 1, 2, 8, 60])] for _ in range(copies)]
        left -= len(json.dumps(rows[-copies:]))
    draft.weak(draft.skip(0), 0, 0, proof={"sum": rows})
    draft.ask()
    return draft.text()


@family
def elements(random: Random, size: int) -> str:
    """What arrays hold where they say, again and again: in conditions, in a program's reads, in what is assigned."""
    how, n = random.randrange(4), max(2, min(size // 160, random.choice([12, 60, 400, 4000])))
    names = [f"x{i}" for i in range(n + 1)]
    low: tuple[list[list[Expr | None]], Expr] = ([[None, None]], op("<=", const(0), elem(index(0))))
    draft = keeping(
        Draft(names), low, ([[const(0), N]], op("<=", elem(index(0)), elem(op("+", index(0), const(1)), "B")))
    )
    if how == 0:  # a value that doubles with each
        facts = [
            op("==", var(a), op(random.choice(["+", "max", "/"]), elem(var(b)), elem(op("+", var(b), const(1)), "B")))
            for a, b in itertools.pairwise(names)
        ]
        return under(draft, facts, op("<", var(names[0]), TID), random.choice([(), sorted(names)]))
    if how == 1:  # many elements, each of which has instances
        facts = [op("<", elem(op("+", TID, const(i))), elem(op("*", TID, const(i + 2)), "B")) for i in range(n)]
        return under(draft, facts, op("<", var("x1"), TID))
    e: Expr = var("x0")
    for _ in range(min(n, 200)):
        e = elem(e, random.choice("AB"))
    if how == 2:
        return under(
            draft, [op("<", e, const(5))] * (size // (len(json.dumps(e)) + 9) // 3 + 1), op("<", var("x0"), TID)
        )
    body, q = [], draft.put("potentials", [["1", [["max0", [["1", [var("x0")]]]]]]])
    inner: Expr = ["read", "B", var("x0")]
    index_ = draft.put("expressions", op("+", inner, var("x0")))
    read = draft.put("expressions", ["read", "A", op("+", inner, var("x0"))])
    p, x0 = draft.facts(op("<", var("x0"), const(5))), draft.put("expressions", var("x0"))
    for _ in range(min(n, size // 2000 + 1)):
        known: dict[str, Any] = {"P": p, "X": ["x0"]}
        one, two = (draft.node("OQ:Var", **known, x="x0") for _ in range(2))
        once = draft.node("EQ:GArray", [one], **known, G="B", o=x0, C="0", n=32)
        sum_ = draft.node(
            "EQ:Op", [once, two], **known, op="+", e1=draft.put("expressions", inner), e2=x0, C1="32", C2="0"
        )
        at = draft.node("EQ:GArray", [sum_], **known, G="A", o=index_, C="32", n=32)
        draft.node("Q:VWrite1", [at], **known, e=read, C="64", x="x0", Q=q, **{"P'": p, "Q'": q})
        draft.ask(None, 5)
        body.append(draft.put("statements", ["set", "x0", read]))
    draft.doc["kernel"]["body"] = draft.put("statements", ["seq", body]) if len(body) > 1 else body[0]
    return draft.text()


@family
def scaled(random: Random, size: int) -> str:
    """Real certificates with much that is not used."""
    doc = real(random)
    fill = max(1, (size - len(json.dumps(doc))) // 100)
    kind = random.randrange(4)
    if kind == 0:
        doc["expressions"] += [op("+", TID, op("*", TID, const(i))) for i in range(fill)]
    elif kind == 1:
        doc["potentials"] += [[[str(i + 1), [["max0", [["1", [["param", "gridDim.x"]]]]]]]] for i in range(fill)]
    elif kind == 2:
        doc["tools"] |= {f"tool{i}": "x" * 80 for i in range(fill)}
    else:
        doc["kernel"]["arrays"] += [[f"unused{i}", "shared", INT, 4, 0, 4, None] for i in range(fill)]
    return signed(doc)


@family
def unicode(random: Random, size: int) -> bytes:
    odd = "\u202e\u0000\ud7ff\uffff\U0001f600\u0430\u2028\x1b[2J"
    doc = real(random)
    name = "".join(random.choice(odd) for _ in range(min(size // 12, random.choice([1, 50, 10**5]))))
    place = random.randrange(5)
    if place == 0:
        doc["kernel"]["name"] = name
    elif place == 1:
        doc["metric"]["name"] = name
    elif place == 2:
        doc["kernel"]["params"].append([name, INT])
    elif place == 3:
        doc["derivation"][0]["rule"] = name
    else:
        doc["evidence"][0]["engine"] = name
    coding = random.choice(["utf-8", "utf-16", "utf-8-sig", "utf-32"])
    return json.dumps(doc | {"digest": digest(doc)}, ensure_ascii=random.random() < 0.5).encode(coding, "surrogatepass")


@family
def odd_json(random: Random, size: int) -> str:
    doc, text = real(random), _real(random)
    return random.choice(
        [
            "", " " * size, "null", "[]", "{}", "0", '"' + "a" * (size - 2) + '"', "[" * size, "{" * size, "nan",
            text.replace('"version":', '"version":3,"version":'),
            text.replace('"admitted":[]', '"admitted":[NaN]'),
            text.replace('"admitted":[]', '"admitted":[-Infinity]'),
            text.replace('"tools":{', '"tools":{"a":1e400,'),
            text.replace('"admitted":[]', '"admitted":[' + ",".join(["[]"] * (size // 4)) + "]"),
            text.replace('"tools":{', '"tools":{' + "".join(f'"{i}":{{}},' for i in range(size // 12))),
            "{" + ",".join(f'"{i}":0' for i in range(size // 12)) + "}",
            json.dumps(doc | {"digest": ""}), json.dumps({k: v for k, v in doc.items() if k != "derivation"}),
        ]
    )  # fmt: skip


@family
def truncated(random: Random, size: int) -> str:
    text = _real(random)
    return text[: random.randrange(len(text))]


@family
def flipped(random: Random, size: int) -> bytes:
    """A few bytes of a real certificate changed."""
    raw = bytearray(_real(random).encode())
    for _ in range(random.randrange(1, 20)):
        raw[random.randrange(len(raw))] = random.randrange(256)
    return bytes(raw)


def _routes(value: Json, route: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield route
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from _routes(value[key], (*route, key))


@family
def mutated(random: Random, size: int) -> str:
    """Real certificates with parts that are repeated, nested, moved or replaced, and their digest made anew."""
    doc = real(random)
    routes = list(_routes(doc))
    for _ in range(random.choice([1, 1, 2, 5])):
        *way, last = random.choice(routes[1:])
        with contextlib.suppress(LookupError, TypeError):
            here = functools.reduce(lambda part, key: part[key], way, doc)
            old, length = here[last], max(1, len(json.dumps(here[last])))
            new: Json = random.choice([0, -1, 1 << 255, 10**400, "0", "x" * 300, None, True, [], {}, 0.5])
            match random.randrange(5):
                case 0 if isinstance(old, list):
                    new = old * max(1, size // length // 3)
                case 1:
                    new = [old] * max(1, size // length // 3)
                case 2:
                    new = functools.reduce(lambda a, _: [a], range(random.choice([3, 300])), old)
                case 3:
                    other = random.choice(routes[1:])
                    new = copy.deepcopy(functools.reduce(lambda part, key: part[key], other, doc))
            here[last] = new
    return signed(doc)


# --- the run ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command made of a document: its exit code, negative for a signal; processor time and time on the clock in
    seconds, and memory in KiB."""

    family: str
    seed: int
    command: str
    size: int
    code: int
    cpu: float
    wall: float
    memory: int
    said: str

    @property
    def fault(self) -> str:
        """What is wrong with it, or nothing."""
        if self.code == 0 and self.command == RUNS:
            return ""
        if self.code not in (0, 1, 2, 3) or "Traceback" in self.said or "internal error" in self.said:
            return f"ended with {self.code}: {self.said.strip().splitlines()[-1:]}"
        if self.code == 0 and self.family not in TRUTHFUL:
            return "was accepted"
        if self.cpu > SECONDS:
            return f"took {self.cpu:.1f} s"
        return f"took {self.memory // 1024} MiB" if self.memory > MEMORY else ""


def document(name: str, seed: int, largest: int) -> bytes:
    """One of a family, the same for the same seed. Half are small."""
    random = Random(f"{name} {seed}")
    size = int(largest ** random.uniform(0.5, 1)) if seed % 4 else largest
    while True:
        try:
            made = FAMILIES[name](random, max(200, size - 4000))
        except RecursionError:  # what is too deep to be written is made less deep
            size //= 2
            continue
        raw = made if isinstance(made, bytes) else made.encode("utf-8", "surrogatepass")
        if len(raw) <= largest or size < 1000:
            return raw
        size = int(size * largest / len(raw) * 0.9)


def judged(name: str, seed: int, command: str, path: Path) -> Outcome:
    """Runs a command on a file, in a process of its own."""
    used = limited(lambda: _main(command, path), int(PATIENCE), ADDRESSES)
    return Outcome(name, seed, command, path.stat().st_size, used.code, used.cpu, used.wall, used.memory, used.said)


def _main(command: str, path: Path) -> int:
    from checker.cli import main

    return main([command, str(path)])


RUNS: Final = "runs"
"""The name of what is done with a certificate that is accepted."""


def tried(name: str, seed: int, path: Path) -> Outcome:
    """Runs the program of a certificate that is accepted, in a process of its own: exit code 9 where a run costs more
    than it claims."""
    used = limited(lambda: _tried(path), int(PATIENCE), ADDRESSES)
    code = 9 if used.code == 9 else 0  # a run that does not end says nothing
    return Outcome(name, seed, RUNS, path.stat().st_size, code, 0.0, used.wall, 0, used.said)


def _tried(path: Path) -> int:
    from checker.certificates.audit import audit
    from checker.certificates.claims import shown
    from checker.kernel import Claim
    from checker.oracles import Oracles
    from logic.rules import SOUND
    from tests.mutants.certificates import refutation

    found = audit(path.read_text("utf-8"), str(path), SOUND, Oracles())
    if not isinstance(found.outcome, Claim):
        return 0
    context, kernel = found.certificate.context, found.certificate.kernel
    said = refutation(kernel, context, shown(found.outcome), found.outcome.per)
    print(said)
    return 9 if " costs " in said else 0


def run(
    names: Sequence[str],
    count: int,
    largest: int,
    commands: Sequence[str] = COMMANDS,
    done: Collection[tuple[str, int, str]] = (),
) -> Iterator[Outcome]:
    """Judges so many documents, in turn from each family, but for those that are done: family, seed and command."""
    import z3  # noqa: F401  # loaded once, before the processes part

    import checker.certificates.audit
    import checker.cli.check
    import checker.cli.report
    import checker.report.audit  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hostile.json"
        for i in range(count):
            name, seed = names[i % len(names)], i // len(names)
            left = [command for command in commands if (name, seed, command) not in done]
            if left:
                path.write_bytes(document(name, seed, largest))
            for command in left:
                outcome = judged(name, seed, command, path)
                if command == "check" and outcome.code == 0:
                    yield tried(name, seed, path)
                yield outcome


def table(outcomes: Sequence[Outcome]) -> str:
    """The worst of each family, and every fault."""
    lines = ["| family | documents | largest, bytes | worst s | of | most MiB | of | exit codes | faults |"]
    lines.append("| --- | ---: | ---: | ---: | --- | ---: | --- | --- | ---: |")
    for name in dict.fromkeys(o.family for o in outcomes):
        ours = [o for o in outcomes if o.family == name]
        slow, large = max(ours, key=lambda o: o.cpu), max(ours, key=lambda o: o.memory)
        cells = [name, len({o.seed for o in ours}), max(o.size for o in ours), f"{slow.cpu:.1f}", slow.command]
        cells += [large.memory // 1024, large.command, " ".join(map(str, sorted({o.code for o in ours})))]
        lines.append(f"| {' | '.join(map(str, [*cells, sum(bool(o.fault) for o in ours)]))} |")
    faults = [f"- {o.family} {o.seed}, {o.command}, {o.size} bytes: {o.fault}" for o in outcomes if o.fault]
    return "\n".join([*lines, "", *faults])


def logged(path: Path | None) -> list[Outcome]:
    """The outcomes that a run has written to a file."""
    rows = path.read_text("ascii").splitlines() if path is not None and path.exists() else []
    return [Outcome(**json.loads(row)) for row in rows]


def main() -> int:
    parser = argparse.ArgumentParser(description="Judges hostile certificates within limits of time and memory.")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of: {', '.join(FAMILIES)} (default: all)")
    parser.add_argument("--count", type=int, default=2000, help="documents (default: %(default)s)")
    parser.add_argument("--largest", type=int, default=1_000_000, metavar="BYTES", help="(default: %(default)s)")
    parser.add_argument("--command", dest="commands", action="append", choices=COMMANDS, default=[])
    parser.add_argument("--log", type=Path, metavar="FILE", help="goes on where the run that wrote it was stopped")
    parser.add_argument("--keep", nargs=2, metavar=("SEED", "FILE"), help="only write one document")
    options = parser.parse_args()
    names = options.families or list(FAMILIES)
    if unknown := set(names) - FAMILIES.keys():
        parser.error(f"there is no family called {min(unknown)}")
    if options.keep:
        Path(options.keep[1]).write_bytes(document(names[0], int(options.keep[0]), options.largest))
        return 0
    found = logged(options.log)
    done = {(o.family, o.seed, o.command) for o in found}
    for outcome in run(names, options.count, options.largest, options.commands or COMMANDS, done):
        found.append(outcome)
        if options.log:
            with options.log.open("a", encoding="ascii") as log:
                log.write(json.dumps(asdict(outcome) | {"said": outcome.said[-1000:]}) + "\n")
        if outcome.fault:
            print(f"{outcome.family} {outcome.seed}, {outcome.command}: {outcome.fault}", file=sys.stderr, flush=True)
    print(table(found))
    return 1 if any(o.fault for o in found) else 0


if __name__ == "__main__":
    sys.exit(main())
