"""Certificates read by the second checker: the bound that one proves, and which program, launch and metric it is
about, as a digest that tells two of them apart whatever else they hold.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from checker import recheck
from checker.certificates.document import canonical, draft
from logic.assertions import Context
from logic.derivation import Derivation
from logic.potentials import ZERO, Poly, applied, const, floor_div, log2, max0, sym
from logic.rules import SKIP
from logic.syntax import Kernel, Param, Var

Json = Any


def potential(p: recheck.Potential) -> Poly:
    """A potential of the second checker as one of the logic. Raises ValueError for one that is about lanes."""
    total = ZERO
    for mono, c in recheck.terms(p):
        term = const(Fraction(c))
        for atom, power in mono:
            factor = _atom(atom)
            for _ in range(power):
                term = term * factor
        total = total + term
    return total


def _atom(a: recheck.Atom) -> Poly:
    match a:
        case ("var", str(name)):
            return sym(Var(name))
        case ("param", str(name)):
            return sym(Param(name))
        case ("max0", arg):
            return max0(potential(arg))
        case ("floor", arg, int(k)):
            return floor_div(potential(arg), k)
        case ("log2", arg):
            return log2(potential(arg))
        case ("op", str(op), *args):
            return applied(op, *map(potential, args))
    raise ValueError(f"no potential of a claim: {a[0]}")


# --- what a certificate is about --------------------------------------------------------------------------------------

SETTING: Final = ("metric", "hardware", "launch", "scope", "rules")
"""The fields that a claim depends on besides its program and what it is summed over."""


def subject(document: Json) -> str:
    """The digest of what a certificate is about: its program without places, metric, hardware, launch with what is
    assumed, scope, rules, and the indices that it sums over. Two documents have one digest exactly when these are the
    same, however their tables are numbered. Raises KeyError, TypeError, ValueError and the like where it is malformed.
    """
    expressions: Sequence[Json] = document["expressions"]
    known: list[str] = []
    for row in document["statements"]:
        known.append(_hash(_statement(row, expressions, known)))
    kernel = document["kernel"]
    body = known[_index(kernel["body"], known)]
    about = {
        "kernel": {name: kernel[name] for name in ("name", "params", "locals", "arrays")},
        "body": body,
        "sums": [name for name, _ in document["sums"]],
        **{name: document[name] for name in SETTING},
    }
    return _hash(about)


def _statement(row: Json, expressions: Sequence[Json], before: Sequence[str]) -> Json:
    """A statement with its expressions in full and the digests of its parts."""

    def e(i: Json) -> Json:
        return expressions[_index(i, expressions)]

    def s(i: Json) -> str:
        return before[_index(i, before)]

    parts: dict[str, Sequence[Callable[[Json], Json]]] = {
        "skip": (),
        "sync": (),
        "assume": (e,),
        "set": (_name, e),
        "write": (_name, e, e),
        "if": (e, s, s),
        "while": (e, s),
    }
    kind, *rest = row
    if kind == "seq":
        (inner,) = rest
        return [kind, *map(s, inner)]
    return [kind, *(make(x) for make, x in zip(parts[kind], rest, strict=True))]


def _index(i: Json, table: Sequence[Json]) -> int:
    if not isinstance(i, int) or isinstance(i, bool) or not 0 <= i < len(table):
        raise ValueError("no index of a table, or of what comes later in it")
    return i


def _name(x: Json) -> str:
    if not isinstance(x, str):
        raise TypeError("no name")
    return x


def _hash(x: Json) -> str:
    return hashlib.sha256(canonical({"": x}).encode()).hexdigest()


SUMS: Final = ("warp.index", "blockIdx.x", "blockIdx.y", "blockIdx.z")


def subject_of(kernel: Kernel, context: Context, per: str) -> str:
    """The digest of what a certificate of this kernel would be about; `per` is warp, block or grid."""
    document = json.loads(draft(kernel, context, "sound", Derivation(SKIP.name, {})))
    sums = SUMS[: {"warp": 0, "block": 1, "grid": 4}[per]]
    return subject(document | {"sums": [[name, 0] for name in sums]})
