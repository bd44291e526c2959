"""Annotations in CUDA C, in the manner of ACSL: comments `//@ ...;` that state facts, potentials and loop invariants.

    //@ requires w % 8 == 0;         before the kernel: an assumption about parameters (`assume` is the same)
    //@ requires forall i in [0, n): A[i] <= A[i + 1];   before the kernel: an assumption about data
    //@ assume len <= 4*log2(n);     before the kernel: a limit that conditions cannot state; only `predict` uses it
    //@ launch block = 32, grid = 4; before the kernel: sizes of the launch; `grid = ceil(n/32)` is for `predict`
    //@ metric sectors;              before the kernel: what `check` counts
    //@ loop invariant i >= 0;       before a loop; also `loop potential 2*|[i, n]|;` and `loop uniform i, j;`
    //@ assert x < n;                before a statement; also `potential 3*n;`
    //@ split n > 0;                 before a statement: the rest of the block where it holds, and where it does not
    //@ assume k <= m;               before a statement: only runs in which it holds there are spoken of
    //@ loop turns <= m;             before a loop: only runs in which it turns no oftener, each time it is entered

`bound` takes them as hints, `check` as the derivation itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import takewhile
from pathlib import Path
from typing import Final

from checker.notation.contracts import Contract, is_contract, parse_contract, speakable
from checker.notation.expressions import COUNTER, parse_assumption, parse_fact
from checker.notation.extents import KERNEL, LOOPS, Place, Text, read_text
from checker.notation.formulas import parse_formula
from checker.notation.potentials import parse_potential
from checker.notation.problem import SyntaxProblem
from checker.notation.profiles import SUFFIX, read_metric
from checker.synthesis.outline import Block, Branch, Item, Loop, Partial, Plain, Split, bare, strip
from logic.assertions import Dim, P, conj
from logic.formulas import Formula, Number, evaluate, names
from logic.metrics import METRICS, Metric
from logic.potentials import Poly, variables
from logic.source import Loc
from logic.syntax import INT, Assign, Assume, Const, Decl, Kernel, Op, Var
from logic.typing import Signature, check_kernel

KINDS: Final = (
    "requires",
    "assume",
    "launch",
    "metric",
    "loop invariant",
    "loop potential",
    "loop uniform",
    "loop turns",
    "potential",
    "assert",
    "split",
)
_ABOUT_THE_KERNEL: Final = ("requires", "assume", "launch", "metric")
INSIDE: Final = "assume inside"
"""The kind of an assumption that stands at a statement."""

_CLAUSE: Final = re.compile(r"\s*((?:loop\s+)?[A-Za-z]+)\b\s*(.*?)\s*;\s*$")
Sizes = tuple[Formula, Formula, Formula]

_BLOCK: Final = re.compile(r"/\*@\s*(?=\n|$|(?:loop|requires|assumes?|launch|metric|potential|assert|split)\b)")
"""ACSL's other form, `/*@ ... */`; not every comment that begins so."""

_SIZES: Final = re.compile(r"(block|grid)\s*=")
_LIMIT: Final = re.compile(r"\s*([A-Za-z_$][\w$.]*)\s*<=\s*(?=.*\b(?:floor|ceil|log2)\s*\()(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Clause:
    """One annotation: its kind, its text, and where the annotation and the text begin."""

    kind: str
    text: str
    loc: Loc
    inside: Loc


@dataclass(frozen=True, slots=True)
class Limit:
    """An assumption `name <= most` about a parameter, with floor, ceil or log2 in it, which no condition can state."""

    name: str
    most: Poly
    text: str


@dataclass(frozen=True, slots=True)
class Annotations:
    """The content of one kernel's annotations; `body` is its outline with their conditions in it.

    `formulas` are the three sizes of a grid that depends on parameters, whose `grid` is None. `kernel` is the kernel
    with what is assumed inside it, and with the counters of turns that are assumed. `contracts` are assumed of
    data. `ignored` are annotations in functions of which no statement is in a kernel, with what is said of them.
    """

    assumptions: P
    limits: tuple[Limit, ...]
    block: Dim | None
    grid: Dim | None
    formulas: Sizes | None
    metric: Metric | None
    body: Block
    kernel: Kernel
    contracts: tuple[Contract, ...] = ()
    ignored: tuple[tuple[Loc, str], ...] = ()


def read_annotations(kernel: Kernel, source: str, sigma: Signature, others: Sequence[Contract] = ()) -> Annotations:
    """The annotations of a kernel in the text of its file: comments that begin with //@ and that the preprocessor has
    left there. They may speak of elements of arrays that contracts are about, of these or of others. Raises
    SyntaxProblem and TypeProblem."""
    source = _left(kernel, source)
    assumptions, limits, metric = [], list[Limit](), None
    sizes, formulas = dict[str, Dim](), dict[str, Sizes]()
    seen = dict[str, Dim | Sizes]()
    local: list[Clause] = []
    contracts: list[Contract] = []
    ignored: list[tuple[Loc, str]] = []
    for c in _clauses(kernel, source):
        match c.kind:
            case "requires" if is_contract(c.text):
                contracts.append(parse_contract(c.text, sigma, c.loc.file, c.inside))
            case "requires" | "assume":
                limit = parse_limit(c.text, sigma, c.loc.file, c.inside)
                if limit is not None:
                    limits.append(limit)
                else:
                    assumptions.append(parse_assumption(c.text, sigma, c.loc.file, c.inside))
            case "launch":
                for what, given in _sizes(c, sigma):
                    if not any(names(f) for f in given):
                        sizes[what] = _whole(given, c)
                    elif what == "block":
                        raise SyntaxProblem("a block has sizes that are numbers", c.inside, _LAUNCH)
                    else:
                        formulas[what] = given
                    found = given if what in formulas else sizes[what]
                    if seen.setdefault(what, found) != found:
                        raise SyntaxProblem(f"the {what} had other sizes before", c.inside, _ONCE)
            case "metric":
                named = _metric(c)
                if metric not in (None, named):
                    raise SyntaxProblem("the metric was another before", c.inside, _ONCE)
                metric = named
            case _:
                local.append(c)
    body = bare(kernel.body)
    sigma = replace(sigma, stable=speakable(kernel, (*contracts, *others)))
    if local:
        counting, wider = _counting(kernel, sigma, local)
        placer = _Placer(kernel, source, wider, local, {id(c): _counter(c, sigma) for c in local})
        body, ignored = placer.body(body), placer.ignored
        kernel = counting
        if any(c.kind in (INSIDE, "loop turns") for c in local):
            kernel = replace(kernel, body=strip(body))
    facts = conj(assumptions, sigma)
    block, grid = sizes.get("block"), sizes.get("grid")
    data, unused = tuple(contracts), tuple(ignored)
    return Annotations(facts, tuple(limits), block, grid, formulas.get("grid"), metric, body, kernel, data, unused)


def _left(kernel: Kernel, source: str) -> str:
    """The text without what the preprocessor left out, line by line."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for first, last in kernel.removed:
        lines[first - 1 : last] = [""] * len(lines[first - 1 : last])
    return "\n".join(lines)


def with_assumptions(kernel: Kernel, source: str) -> Kernel:
    """The kernel with what its source assumes inside it. Raises SyntaxProblem and TypeProblem."""
    return read_annotations(kernel, source, check_kernel(kernel)).kernel if "//@" in source else kernel


def _counting(kernel: Kernel, sigma: Signature, clauses: list[Clause]) -> tuple[Kernel, Signature]:
    """The kernel with a counter for each loop whose turns are assumed to be no more than something."""
    own = tuple(Decl(_counter(c, sigma), INT, c.loc) for c in clauses if c.kind == "loop turns")
    wider = replace(sigma, locals={**sigma.locals, **{d.name: d.type for d in own}})
    return replace(kernel, locals=(*kernel.locals, *own)), wider


def _counter(c: Clause, sigma: Signature) -> str:
    """The variable that counts the turns of a loop: none of the program."""
    name = f"{COUNTER}{c.loc.line}"
    while name in sigma.locals or name in sigma.params:
        name += "_"
    return name


def parse_limit(text: str, sigma: Signature, file: str, origin: Loc | None = None) -> Limit | None:
    """The limit that an assumption sets, None where it is none: `len <= 4*log2(n)`. Raises SyntaxProblem."""
    found = _LIMIT.fullmatch(text)
    if found is None or sigma.params.get(found[1]) != INT:
        return None
    place = origin or Loc(file, 1, 1)
    most = parse_potential(found[2], sigma, file, Loc(place.file, place.line, place.column + found.start(2)))
    if variables(most):
        raise SyntaxProblem("a limit is about parameters", place, "Leave local variables out of it.")
    return Limit(found[1], most, " ".join(text.split()))


def _clauses(kernel: Kernel, source: str) -> Iterable[Clause]:
    """The annotations that may belong to the kernel: about it, before it up to the kernel before; and all that are
    about statements, of functions that it may call as well."""
    if kernel.loc is None:
        return
    text, file = read_text(source), kernel.loc.file
    heads = [line for token, (line, _) in zip(text.tokens, text.places, strict=True) if token == KERNEL]
    own = max((n for n in heads if n <= kernel.loc.line), default=kernel.loc.line)
    before = max((n for n in heads if n < own), default=0)
    after = min((n for n in heads if n > own), default=source.count("\n") + 2)
    for n, column, note in text.notes:
        loc = Loc(file, n, column)
        if not before < n < after:
            yield from _local(loc, note, text)
            continue
        if note.startswith("/*"):
            if _BLOCK.match(note):
                raise SyntaxProblem("annotations are lines that begin with //@", loc, "Write //@ KIND TEXT; for each.")
            continue
        clause = _CLAUSE.match(note[3:])
        if not clause:
            raise SyntaxProblem("this is no annotation", loc, "Write //@ KIND TEXT; with a semicolon at the end.")
        kind = " ".join(clause[1].split())
        if kind not in KINDS:
            raise SyntaxProblem(f"no annotation is called '{kind}'", loc, f"There are: {', '.join(KINDS)}.")
        inside = text.function((n, column)) is not None
        if kind not in _ABOUT_THE_KERNEL or (kind == "assume" and inside):
            yield from _local(loc, note, text)
        elif not inside and (n < own or n <= kernel.loc.line):
            yield Clause(kind, clause[2], loc, Loc(file, n, column + 3 + clause.start(2)))
        elif inside or not any(n < h for h in heads if h > own):
            raise SyntaxProblem(f"'{kind}' belongs before the kernel", loc, "Move it above __global__.")


def _local(loc: Loc, note: str, text: Text) -> Iterable[Clause]:
    """The annotation that a comment is, if it is one about a statement."""
    clause = _CLAUSE.match(note[3:]) if note.startswith("//") else None
    kind = " ".join(clause[1].split()) if clause else ""
    about = kind in _ABOUT_THE_KERNEL and not (kind == "assume" and text.function((loc.line, loc.column)))
    if clause and kind in KINDS and not about:
        kind = INSIDE if kind == "assume" else kind
        yield Clause(kind, clause[2], loc, Loc(loc.file, loc.line, loc.column + 3 + clause.start(2)))


def _metric(c: Clause) -> Metric:
    """The metric of this name, or of a file beside the source."""
    if c.text.endswith(SUFFIX):
        return read_metric(Path(c.loc.file).parent / c.text, c.inside)
    if c.text not in METRICS:
        raise SyntaxProblem(f"no metric is called '{c.text}'", c.inside, f"Known: {', '.join(METRICS)}.")
    return METRICS[c.text]


_ONCE: Final = "Leave one of the two out."
_LAUNCH: Final = "A grid may depend on parameters: grid = ceil(n/16), 4."


def _sizes(c: Clause, sigma: Signature) -> Iterable[tuple[str, Sizes]]:
    """The names that a launch gives sizes to, each with three: those left out are 1."""
    heads = list(_SIZES.finditer(c.text))
    if not heads or c.text[: heads[0].start()].strip():
        raise SyntaxProblem("a launch is written: block = 16, 16, grid = 4", c.inside, _LAUNCH)
    ends = [*(head.start() for head in heads[1:]), len(c.text)]
    for head, end in zip(heads, ends, strict=True):
        text = c.text[head.end() : end].rstrip().removesuffix(",")
        origin = Loc(c.inside.file, c.inside.line, c.inside.column + head.end())
        yield head[1], parse_sizes(text, head[1], sigma, c.loc.file, origin)


def parse_sizes(text: str, what: str, sigma: Signature, file: str, origin: Loc | None = None) -> Sizes:
    """The sizes of a grid or block, such as `ceil(n/16), 4`; those left out are 1. Raises SyntaxProblem."""
    place = origin or Loc(file, 1, 1)
    given = (name for name, type_ in sigma.params.items() if type_ == INT and "." not in name)
    known = [name for name in given if name != "warpSize"]
    parts = list(_arguments(text))
    if len(parts) > 3 or not all(part.strip() for _, part in parts):
        raise SyntaxProblem(f"a {what} has one to three sizes", place, _LAUNCH)
    one = Number(Fraction(1))
    found = [
        parse_formula(part, known, file, Loc(place.file, place.line, place.column + start)) for start, part in parts
    ]
    x, y, z = (*found, one, one)[:3]
    return x, y, z


def _arguments(text: str) -> Iterable[tuple[int, str]]:
    """The parts of a text between the commas outside parentheses, and where they begin."""
    depth = start = 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            yield start, text[start:i]
            start = i + 1
    yield start, text[start:]


def _whole(sizes: Sizes, c: Clause) -> Dim:
    """The sizes as numbers, which they have to be."""
    values = [evaluate(f, {}) for f in sizes]
    if any(v < 1 or v.denominator != 1 for v in values):
        raise SyntaxProblem("a launch has positive sizes", c.inside, "They are whole numbers.")
    return int(values[0]), int(values[1]), int(values[2])


def _begun(block: Block) -> Block:
    """The outline of a kernel with what a claim begins with in front: the potential that is stated there, if any. A
    fact in front would be a precondition, and an assertion is to be proved."""
    head = tuple(takewhile(lambda item: isinstance(item, Partial), block))
    claims = tuple(item for item in head if isinstance(item, Partial) and item.p is None)
    facts = tuple(item for item in head if item not in claims)
    return (*(claims or (Partial(),)), *facts, *block[len(head) :]) if facts else block


def _loc(item: Item) -> Loc | None:
    return item.stmt.loc if isinstance(item, Plain) else item.loc


class _Placer:
    """Puts conditions before the statement, and at the loop, that follows them in the text.

    A statement of the text may be none of the program, as `if (0) ..`, several, or one that stands there twice, as the
    body of a `do` loop: then what is stated in it is stated twice. Each has a place, or an error says that it has none.
    """

    def __init__(
        self, kernel: Kernel, source: str, sigma: Signature, clauses: list[Clause], counters: dict[int, str]
    ) -> None:
        self.sigma = sigma
        self.counters = counters
        self.text = read_text(source)
        self.clauses = clauses
        self.items: list[tuple[Item, tuple[Loc, ...], Block]] = []
        """Items with a place in the text, in the order of the program, the places of the loops around it, its block."""
        self.before: dict[int, list[Clause]] = {}
        """Statements before an item, and at a loop, by the item's identity."""
        self.behind: dict[int, list[Clause]] = {}
        """Statements at the end of a block, by the identity of the last item there."""
        self.last: list[Clause] = []
        """Statements behind everything."""
        self.ignored: list[tuple[Loc, str]] = []
        self.kernel = self.text.function(self.text.place(self.opening(kernel)))

    def opening(self, kernel: Kernel) -> int:
        """The brace that a kernel's body begins with."""
        i = self.text.next((kernel.loc.line, kernel.loc.column)) if kernel.loc else 0
        while self.text.token(i) not in ("", "{"):
            i = self.text.partner.get(i, i) + 1
        return i

    def body(self, block: Block) -> Block:
        self.collect(block, ())
        for c in self.clauses:
            self.settle(c)
        placed = _begun(self.block(block))
        return (*placed, *(self.condition(c) for c in self.last))

    def collect(self, block: Block, around: tuple[Loc, ...]) -> None:
        for item in block:
            loc = _loc(item)
            if loc is not None:
                self.items.append((item, around, block))
            match item:
                case Branch():
                    self.collect(item.then, around)
                    self.collect(item.orelse, around)
                case Loop():
                    self.collect(item.body, around if loc is None else (*around, loc))

    def settle(self, c: Clause) -> None:
        """Finds what an annotation is about. Raises SyntaxProblem where there is nothing."""
        here = (c.loc.line, c.loc.column)
        function = self.text.function(here)
        if function is None:
            raise SyntaxProblem(f"'{c.kind}' belongs into a function", c.loc, "Put it before a statement.")
        i = self.text.next(here)
        found = self.loops(c, i) if c.kind.startswith("loop") else self.following(c, i)
        if found:
            for item in found:
                self.before.setdefault(id(item), []).append(c)
        elif not c.kind.startswith("loop") and self.ends(i, function):
            self.last.append(c)
        elif not c.kind.startswith("loop") and (ends := self.preceding(c, i)):
            for item in ends:
                self.behind.setdefault(id(item), []).append(c)
        elif function == self.kernel or self.within(*function, c):
            raise self.lost(c, i)
        elif not self.of_another(function[0]):
            told = f"this annotation has no effect: no statement of '{self.text.called(function[0])}' is in the kernel"
            self.ignored.append((c.loc, told))

    def of_another(self, begin: Place) -> bool:
        """Whether the function whose body begins there is another kernel, or may be called by one."""
        begins = (self.text.places[i] for i, _ in self.text.bodies)
        others = [at for at in begins if at != (self.kernel or (0,))[0] and self.text.is_kernel(at)]
        return begin in others or (bool(others) and self.text.called(begin) in self.text.reached(others))

    def within(self, start: Place, end: Place, c: Clause) -> list[Item]:
        """The items within a part of the text, in the order of the program."""
        return [
            item
            for item, _, _ in self.items
            if (loc := _loc(item)) and loc.file == c.loc.file and start <= (loc.line, loc.column) < end
        ]

    def loops(self, c: Clause, i: int) -> list[Item]:
        """The loop that a statement is, or the first in it, if it is a macro or a test."""
        start, end = self.text.place(i), self.text.place(self.text.statement(i))
        loops = [item for item in self.within(start, end, c) if isinstance(item, Loop)]
        if self.text.token(i) in LOOPS:
            loops = [item for item in loops if item.loc and (item.loc.line, item.loc.column) == start]
        return self.copies(loops[0], c) if loops else []

    def following(self, c: Clause, i: int) -> list[Item]:
        """The first that is left of the statements that follow in a block."""
        while (end := self.text.statement(i)) > i:
            found = self.within(self.text.place(i), self.text.place(end), c)
            if found:
                return self.copies(found[0], c)
            i = end
        return []

    def preceding(self, c: Clause, i: int) -> list[Item]:
        """The last item in a block at whose end an annotation stands: of the last of its statements that is left."""
        while (end := self.text.statement(i)) > i:
            i = end
        begin = self.text.partner.get(i, i)
        statements = list[tuple[int, int]]()
        at = begin + 1
        while begin < i and (end := self.text.statement(at)) > at and self.text.place(at) < (c.loc.line, c.loc.column):
            statements.append((at, end))
            at = end
        for start, end in reversed(statements):
            found = self.within(self.text.place(start), self.text.place(end), c)
            if found:
                same = [id(item) for item in self.copies(found[0], c)]
                inside = {id(item) for item in found}
                blocks = [block for item, _, block in self.items if id(item) in same]
                return [[item for item in block if id(item) in inside][-1] for block in blocks]
        return []

    def copies(self, first: Item, c: Clause) -> list[Item]:
        """It, and where it stands again by the same words in the program: not in a loop behind the annotation."""
        same = [(item, around) for item, around, _ in self.items if _loc(item) == _loc(first) and item == first]
        return [item for item, around in same if item is first or all(loc < c.loc for loc in around)]

    def ends(self, i: int, function: tuple[Place, Place]) -> bool:
        """Whether nothing but statements that the program has not follows in the kernel's body."""
        while (end := self.text.statement(i)) > i:
            i = end
        return function == self.kernel and self.text.place(i) == function[1]

    def lost(self, c: Clause, i: int) -> SyntaxProblem:
        """A sentence about an annotation without a place."""
        if not c.kind.startswith("loop"):
            told = "nothing is left of what is around this annotation in its block"
            return SyntaxProblem(told, c.loc, "Put it before a statement that the kernel comes to, or leave it out.")
        if self.text.token(i) in LOOPS:
            told = "the loop that follows this annotation is not in the program"
            return SyntaxProblem(told, c.loc, "It turns never, or once, or is not come to: leave the annotation out.")
        return SyntaxProblem("no loop follows this annotation", c.loc, "Put it right before the loop.")

    def block(self, block: Block) -> Block:
        items: list[Item] = []
        for item in block:
            due = self.before.get(id(item), [])
            items += [self.condition(c) for c in due if not c.kind.startswith("loop")]
            match item:
                case Branch():
                    items.append(replace(item, then=self.block(item.then), orelse=self.block(item.orelse)))
                case Loop():
                    stated = self.invariant([c for c in due if c.kind.startswith("loop")])
                    counted = [c for c in due if c.kind == "loop turns"]
                    items += [Plain(Assign(self.counters[id(c)], Const(0), c.loc)) for c in counted]
                    inner = tuple(part for c in counted for part in self.counted(c))
                    items.append(replace(item, invariant=stated, body=(*inner, *self.block(item.body))))
                case _:
                    items.append(item)
            items += [self.condition(c) for c in self.behind.get(id(item), [])]
        return tuple(items)

    def counted(self, c: Clause) -> tuple[Plain, Plain]:
        """The beginning of a turn where turns are limited: that there is one left, and that it is taken."""
        if not c.text.startswith("<="):
            raise SyntaxProblem("turns are limited as in: loop turns <= n", c.inside, "Write <= before the limit.")
        name = self.counters[id(c)]
        start = Loc(c.inside.file, c.inside.line, c.inside.column + 2 - len(f"{name} < ("))
        few = parse_fact(f"{name} < ({c.text[2:]})", self.sigma, start)
        return Plain(Assume(few, c.loc)), Plain(Assign(name, Op("+", (Var(name), Const(1))), c.loc))

    def condition(self, c: Clause) -> Partial | Split | Plain:
        if c.kind == INSIDE:
            return Plain(Assume(parse_fact(c.text, self.sigma, c.inside), c.loc))
        if c.kind == "split":
            return Split(parse_fact(c.text, self.sigma, c.inside), c.loc)
        if c.kind == "assert":
            return Partial(conj((parse_fact(c.text, self.sigma, c.inside),), self.sigma), None, None, c.loc)
        return Partial(None, parse_potential(c.text, self.sigma, c.loc.file, c.inside), None, c.loc)

    def invariant(self, clauses: list[Clause]) -> Partial:
        facts = [parse_fact(c.text, self.sigma, c.inside) for c in clauses if c.kind == "loop invariant"]
        q = [parse_potential(c.text, self.sigma, c.loc.file, c.inside) for c in clauses if c.kind == "loop potential"]
        uniform = [(name.strip(), c) for c in clauses if c.kind == "loop uniform" for name in c.text.split(",")]
        if len(q) > 1:
            raise SyntaxProblem("a loop has one potential", clauses[-1].loc, "Add the two up.")
        for name, c in uniform:
            if self.sigma.locals.get(name) != INT:
                raise SyntaxProblem(f"no local int is called '{name}'", c.inside, "Name local variables of the kernel.")
        p = conj(facts, self.sigma) if facts else None
        x = frozenset(name for name, _ in uniform) if uniform else None
        place = {c.kind.removeprefix("loop "): c.loc for c in reversed(clauses)}
        first = clauses[0].loc if clauses else None
        return Partial(p, q[0] if q else None, x, first, place.get("potential"), place.get("uniform"))
