"""GPUDrano's abstract interpretation as it stands (Alur et al., CAV 2017, section 4, Fig. 4).

An integer is 0 (one value at all threads), 1 or -1 (tid + c, -tid + c), TOP or BOT; a truth value says at how many
threads it may be true or false; the set of active threads is FF- (at most one) or TOP. An access to global memory is
reported where more than one thread can be active and the index is TOP, or 1 or -1 and elements take over 4 bytes.

Where the paper is silent: `tid` is threadIdx.x, and threadIdx.y and .z are taken for one value in a warp, which is what
the authors' tool does and what it misses bugs by; an element's size is its stride, so a field counts as large as its
structure; shared memory is read like global memory and not reported on; a value of a base type is 0 or TOP; functions
of 0 are 0, all others TOP; `c ? a : b` is a conditional. The theorem of section 4.3, that no range-based uncoalesced
access is missed, holds for blocks in which threadIdx.x numbers the threads of a warp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Final, Literal

from checker.analysis.coalescing.access import Key, keys
from logic.operators import COMPARISONS
from logic.syntax import (
    Assign,
    Assume,
    Const,
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
    Var,
    While,
    Write,
    subterms,
    written,
)
from logic.typing import Signature, check_kernel, type_of

Value = str
"""One of INTS or of BOOLS."""

Int = str
Bool = str
Active = Literal["FF-", "TOP"]
State = Mapping[str, Value]

INTS: Final = ("bot", "0", "1", "-1", "top")
BOOLS: Final = ("BOT", "T", "T-", "F", "F-", "TF", "TT-", "FF-", "TOP")
LARGE: Final = 4
"""Bytes: neighbouring threads at neighbouring elements that are larger need more than one transaction."""

_UNIFORM: Final = ("BOT", "T", "F", "TF")
_OTHER: Final = "*"
_MEANING: Final[dict[Bool, frozenset[str]]] = {
    "BOT": frozenset(),
    "T": frozenset({"T"}),
    "T-": frozenset({"T-"}),
    "F": frozenset({"F"}),
    "F-": frozenset({"F-"}),
    "TF": frozenset({"T", "F"}),
    "TT-": frozenset({"T", "T-"}),
    "FF-": frozenset({"F", "F-"}),
    "TOP": frozenset({"T", "T-", "F", "F-", _OTHER}),
}
"""Each truth value as the cases that it allows: true, true but at one thread, false, false but at one, any other."""


# --- the lattice -----------------------------------------------------------------------------------------------------


def _least(cases: frozenset[str]) -> Bool:
    """The smallest truth value that allows these cases."""
    return min((b for b in BOOLS if cases <= _MEANING[b]), key=lambda b: len(_MEANING[b]))


def below(a: Value, b: Value) -> bool:
    """a is at most b in the order of the lattice."""
    if a in _MEANING and b in _MEANING:
        return _MEANING[a] <= _MEANING[b]
    return a == b or a == "bot" or b == "top"


def join(a: Value, b: Value) -> Value:
    """The least value above both, which are of one kind."""
    if a in _MEANING and b in _MEANING:
        return _least(_MEANING[a] | _MEANING[b])
    return b if below(a, b) else a if below(b, a) else "top"


# --- operators (section 4.2) -----------------------------------------------------------------------------------------


def add(a: Int, b: Int, sign: int = 1) -> Int:
    """a + b, or a - b with sign -1: regular arithmetic on the coefficients of tid, TOP outside -1, 0 and 1."""
    if "bot" in (a, b):
        return "bot"
    if "top" in (a, b):
        return "top"
    total = int(a) + sign * int(b)
    return {0: "0", 1: "1", -1: "-1"}.get(total, "top")


def mixed(a: Int, b: Int) -> Int:
    """Any other operator on integers: 0 of 0 and 0, else TOP, since no constant's value is tracked."""
    if "bot" in (a, b):
        return "bot"
    return "0" if a == b == "0" else "top"


def equal(a: Int, b: Int) -> Bool:
    """a == b: [tid == c] is true at one thread at most."""
    match add(a, b, -1):
        case "bot":
            return "BOT"
        case "0":
            return "TF"
        case "1" | "-1":
            return "FF-"
    return "TOP"


def ordered(a: Int, b: Int) -> Bool:
    """a < b and its like."""
    difference = add(a, b, -1)
    return "BOT" if difference == "bot" else "TF" if difference == "0" else "TOP"


_NOT: Final = {"T": "F", "F": "T", "T-": "F-", "F-": "T-", _OTHER: _OTHER}


def negated(a: Bool) -> Bool:
    """!a"""
    return _least(frozenset(_NOT[case] for case in _MEANING[a]))


def _both(a: str, b: str) -> frozenset[str]:
    """The cases of a && b for one case of each."""
    if a == "T":
        return frozenset({b})
    if b == "T":
        return frozenset({a})
    if "F" in (a, b):
        return frozenset({"F"})
    return _MEANING["FF-"] if "F-" in (a, b) else _MEANING["TOP"]


def both(a: Bool, b: Bool) -> Bool:
    """a && b"""
    cases = (_both(x, y) for x, y in product(_MEANING[a], _MEANING[b]))
    return _least(frozenset().union(*cases))


def either(a: Bool, b: Bool) -> Bool:
    """a || b"""
    return negated(both(negated(a), negated(b)))


def among(active: Active, b: Bool) -> Active:
    """The active threads at which b holds: at most one where that is so of either."""
    return "FF-" if active == "FF-" or below(b, "FF-") else "TOP"


def selected(c: Bool, a: Value, b: Value) -> Value:
    """The value that a conditional on c gives a variable which it assigns: the join, or TOP where c depends on tid."""
    if c in _UNIFORM:
        return join(a, b)
    return "TOP" if a in _MEANING else "top"


# --- expressions -----------------------------------------------------------------------------------------------------


def abstract_value(e: Expr, state: State, sigma: Signature) -> Value:
    """The abstract value of an expression."""
    logical = type_of(e, sigma).kind == "bool"
    same: Value = "TF" if logical else "0"
    different: Value = "TOP" if logical else "top"
    match e:
        case Var(name):
            return state[name]
        case Param() | Const():
            return same
        case Tid(axis):
            return "1" if axis == "x" else "0"
        case Read(_, index):
            return same if abstract_value(index, state, sigma) in ("0", "bot") else different
        case Op(op, args):
            parts = [abstract_value(a, state, sigma) for a in args]
            return _operator(op, parts, same, different, type_of(args[-1], sigma).kind)


def _operator(op: str, parts: list[Value], same: Value, different: Value, kind: str) -> Value:
    ints = [p for p in parts if p not in _MEANING]
    bools = [p for p in parts if p in _MEANING]
    match op, ints, bools:
        case "+" | "-", [a, b], [] if kind == "int":
            return add(a, b, 1 if op == "+" else -1)
        case "neg", [a], [] if kind == "int":
            return add("0", a, -1)
        case "==" | "!=", [a, b], []:
            found = equal(a, b)
            return found if op == "==" else negated(found)
        case _, [a, b], [] if op in COMPARISONS:
            return ordered(a, b)
        case "!", [], [a]:
            return negated(a)
        case "&&", [], [a, b]:
            return both(a, b)
        case "||", [], [a, b]:
            return either(a, b)
        case "bool", [a], []:
            return negated(equal(a, "0"))
        case "?:", _, [c, *_]:
            return selected(c, parts[1], parts[2])
        case _, [a, b], []:
            return mixed(a, b)
    if "bot" in parts or "BOT" in parts:
        return "BOT" if same == "TF" else "bot"
    return same if all(p == "0" or p in _UNIFORM for p in parts) else different


# --- statements (Fig. 4) ---------------------------------------------------------------------------------------------


@dataclass
class _Walk:
    """The abstract execution; `reported` holds what is found uncoalesced in any abstract configuration."""

    sigma: Signature
    keys: dict[int, Key]
    reported: set[Key]

    def run(self, s: Stmt, state: State, active: Active) -> State:
        """[[s]](state, active)"""
        match s:
            case Skip() | Sync() | Assume():
                return state
            case Seq(stmts):
                return reduce(lambda before, t: self.run(t, before, active), stmts, state)
            case Assign(x, e):  # ASSIGN
                self.look(e, state, active)
                return {**state, x: abstract_value(e, state, self.sigma)}
            case Write(_, index, e):
                self.look(index, state, active)
                self.look(e, state, active)
                self.access(s, state, active)
                return state
            case If(cond, then, orelse):  # ITE
                self.look(cond, state, active)
                c = self.truth(cond, state)
                one = self.run(then, state, among(active, c))
                two = self.run(orelse, state, among(active, negated(c)))
                return merged(c, one, two, written(then) | written(orelse))
            case While(cond, body):  # WHILE
                while True:
                    self.look(cond, state, active)
                    c = self.truth(cond, state)
                    again = self.run(body, state, among(active, c))
                    after = merged(c, state, again, written(body))
                    if after == state:
                        return state
                    state = after

    def truth(self, cond: Expr, state: State) -> Bool:
        found = abstract_value(cond, state, self.sigma)
        return found if found in _MEANING else "TOP"

    def look(self, e: Expr, state: State, active: Active) -> None:
        """Notes the reads in an expression."""
        for t in subterms(e):
            if isinstance(t, Read):
                self.access(t, state, active)

    def access(self, term: Read | Write, state: State, active: Active) -> None:
        """Section 4.3"""
        array = self.sigma.arrays[term.array]
        index = abstract_value(term.index, state, self.sigma)
        large = index in ("1", "-1") and array.stride > LARGE
        if array.space == "global" and active == "TOP" and (index == "top" or large):
            self.reported.add(self.keys[id(term)])


def merged(c: Bool, one: State, two: State, assigned: frozenset[str]) -> State:
    """The merge Phi of section 4.2: variables that either side assigns depend on c."""
    return {x: selected(c, v, two[x]) if x in assigned else v for x, v in one.items()}


def reported(kernel: Kernel) -> frozenset[Key]:
    """The accesses to global memory that the analysis reports as uncoalesced. Raises TypeProblem."""
    sigma = check_kernel(kernel)
    walk = _Walk(sigma, keys(kernel), set())
    start: dict[str, Value] = {x: "TF" if t.kind == "bool" else "0" for x, t in sigma.locals.items()}
    walk.run(kernel.body, start, "TOP")
    return frozenset(walk.reported)
