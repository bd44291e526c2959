"""Contracts on data as text: `forall i in [0, n): row[i] <= row[i + 1]`, `forall j: 0 <= col[j] && col[j] < n`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from checker.notation.expressions import parse_expr
from checker.notation.problem import NameProblem, SyntaxProblem
from logic.contracts import BOUND, arrays_of, as_reads, settled
from logic.contracts import Contract as Bounded
from logic.source import Loc
from logic.stable import unwritten
from logic.syntax import BOOL, INT, Expr, Kernel, Op, Read, Tid, Var, arrays_read, substitute, subterms
from logic.typing import Signature, TypeProblem, type_of

WORD: Final = "forall"
_HEAD: Final = re.compile(r"\s*(?:forall\b([^:]*):)?(.*)", re.DOTALL)
_RANGE: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:in\s*\[(.*)\)\s*)?", re.DOTALL)
_MEANT: Final = re.compile(rf"\s*({WORD}\s|[A-Za-z][A-Za-z ]*\sin\s*[\[(])")
_ADVICE: Final = "Write forall i in [0, n): row[i] <= row[i + 1]."
_NO_PARAMETER: Final = "A size that the kernel is not given stands as a number, or becomes one more parameter of it."


@dataclass(frozen=True, slots=True)
class Contract:
    """For all values of variables in their ranges, None for no limits, a fact about parameters and array contents."""

    ranges: tuple[tuple[str, Expr | None, Expr | None], ...]
    fact: Expr
    text: str
    loc: Loc | None = field(default=None, compare=False)

    @property
    def contracts(self) -> tuple[Bounded, ...]:
        """The contracts of the logic that it is: one for each comparison that it makes."""
        names = {name: Var(f"{BOUND}{k}") for k, (name, *_) in enumerate(self.ranges)}
        ends = tuple((low, high) for _, low, high in self.ranges)
        return tuple(Bounded(ends, settled(substitute(e, names))) for e in _conjuncts(self.fact))

    @property
    def arrays(self) -> frozenset[str]:
        """The arrays that it speaks of."""
        return frozenset(arrays_read(self.fact))


def is_contract(text: str) -> bool:
    """Whether a text speaks of what arrays hold."""
    return text.startswith(f"{WORD} ") or "[" in text


def parse_contract(text: str, sigma: Signature, file: str, origin: Loc | None = None) -> Contract:
    """The contract that a text is. Raises SyntaxProblem and TypeProblem."""
    place = origin or Loc(file, 1, 1)
    found = _HEAD.fullmatch(text)
    if found is None or not is_contract(text):
        raise SyntaxProblem("this is no contract", place, _ADVICE)
    if found[1] is None and _MEANT.match(text):
        raise SyntaxProblem("a contract is 'forall', variables with ranges, a colon and a fact", place, _ADVICE)
    plain = replace(sigma, locals={})

    def part(start: int, within: str, known: Signature) -> Expr:
        try:
            return parse_expr(within, known, file, Loc(place.file, place.line, place.column + start))
        except NameProblem as problem:
            raise SyntaxProblem(problem.message, problem.loc, f"{problem.advice} {_NO_PARAMETER}") from None

    ranges: list[tuple[str, Expr | None, Expr | None]] = []
    for start, piece in _pieces(found[1], found.start(1)) if found[1] is not None else ():
        limits = _RANGE.fullmatch(piece)
        inside = [*_pieces(limits[2], start + limits.start(2))] if limits is not None and limits[2] is not None else []
        if limits is None or (limits[2] is not None and len(inside) != 2):
            told = "a variable of a contract has a range [low, high), to which high does not belong"
            raise SyntaxProblem(told, place, _ADVICE)
        if limits[1] in {*sigma.params, *(name for name, *_ in ranges)}:
            raise SyntaxProblem(f"a variable of a contract has a name of its own, not '{limits[1]}'", place, _ADVICE)
        ends = [part(at, end, plain) for at, end in inside]
        for e in ends:
            if type_of(e, plain) != INT or any(isinstance(t, Read | Tid) for t in subterms(e)):
                raise SyntaxProblem("a range is over integers that the grid shares", place, _ADVICE)
        low, high = ends or (None, None)
        ranges.append((limits[1], low, high))
    bound = replace(sigma, locals={name: INT for name, *_ in ranges})
    fact = part(found.start(2), found[2], bound)
    if (got := type_of(fact, bound)) != BOOL:
        raise TypeProblem(f"this is {got}, not bool", place, "Compare it with something.")
    odd = any(isinstance(t, Tid) or (isinstance(t, Op) and t.op.startswith(("call:", "as:"))) for t in subterms(fact))
    if odd or any(sigma.arrays[a].elem != INT or sigma.arrays[a].space != "global" for a in arrays_read(fact)):
        raise SyntaxProblem("a contract is about arrays of integers in global memory, and parameters", place, _ADVICE)
    return Contract(tuple(ranges), fact, " ".join(text.split()), place)


def speakable(kernel: Kernel, given: Iterable[Contract]) -> frozenset[str]:
    """The arrays that contracts are about, and that nothing in a kernel writes: of these conditions may speak."""
    return arrays_of(one for c in given for one in c.contracts if one.quantities) & unwritten(kernel)


def as_stated(c: Bounded, loc: Loc | None) -> Contract:
    """A contract of the logic as one that is stated, at a place."""
    text = str(c)
    names = [piece.split()[0] for _, piece in _pieces(text[len(WORD) : text.index(":")], 0)] if c.ranges else []
    put = {f"{BOUND}{k}": Var(name) for k, name in enumerate(names)}
    ranges = tuple((name, low, high) for name, (low, high) in zip(names, c.ranges, strict=True))
    return Contract(ranges, substitute(as_reads(c.fact), put), text, loc)


def _conjuncts(e: Expr) -> tuple[Expr, ...]:
    match e:
        case Op("&&", (a, b)):
            return (*_conjuncts(a), *_conjuncts(b))
    return (e,)


def _pieces(text: str, at: int) -> Iterator[tuple[int, str]]:
    """The parts of a text between the commas outside brackets, and where they begin."""
    depth = start = 0
    for i, char in enumerate(text):
        depth += (char in "[(") - (char in "])")
        if char == "," and depth == 0:
            yield at + start, text[start:i]
            start = i + 1
    yield at + start, text[start:]
