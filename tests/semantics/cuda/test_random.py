"""Random C: expressions come back as they were built, and jumps do what C says they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logic.operators import ARITHMETIC, COMPARISONS
from logic.syntax import (
    Assign,
    Const,
    Expr,
    Op,
    Param,
    Read,
    Tid,
)
from semantics.cuda import Reading
from semantics.cuda.modular import Reduced
from tests.examples import examples
from tests.semantics.cuda.lowered import Lowered

Reader = Callable[..., Reading]
QUICK = examples(12, 5000)

# --- expressions -----------------------------------------------------------------------------------------------------


def c_text(e: Expr) -> str:
    """e in C, with all parentheses: written apart from `logic.syntax.show`."""
    match e:
        case Param(name):
            return name
        case Const(value):
            return str(value)
        case Tid(axis):
            return f"threadIdx.{axis}"
        case Read(array, index):
            return f"{array}[{c_text(index)}]"
        case Op("?:", (c, a, b)):
            return f"(({c_text(c)}) ? ({c_text(a)}) : ({c_text(b)}))"
        case Op("neg", (a,)):
            return f"(-({c_text(a)}))"
        case Op("int", (a,)):
            return f"((int)({c_text(a)}))"
        case Op("!", (a,)):
            return f"(!({c_text(a)}))"
        case Op("~", (a,)):
            return f"(~(int)({c_text(a)}))"
        case Op("abs", (a,)):
            return f"abs((int)({c_text(a)}))"
        case Op(("min" | "max") as op, (a, b)):
            return f"{op}((int)({c_text(a)}), (int)({c_text(b)}))"
        case Op(op, (a, b)):
            return f"({c_text(a)} {op} {c_text(b)})"
    raise NotImplementedError(e)


LEAVES: tuple[Expr, ...] = (Param("n"), Param("m"), Param("blockIdx.x"), Param("blockDim.y"), Tid("x"), Tid("z"))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 4, reads: bool = True) -> Expr:
    """An int expression; no operator in it has literals only, since those are folded."""
    kinds = ["leaf", "binary", "unary", "int", "?:"] + ["read"] * reads
    kind = draw(st.sampled_from(kinds if depth else ["leaf"]))
    if kind == "leaf":
        return draw(st.one_of(st.sampled_from(LEAVES), st.integers(0, 100).map(Const)))
    inner = expressions(depth - 1, reads)
    if kind == "read":
        return Read("A", draw(inner))
    if kind == "int":
        return Op("int", (draw(conditions(depth - 1, reads)),))
    if kind == "?:":
        pure = expressions(depth - 1, False)
        return Op("?:", (draw(conditions(depth - 1, reads)), draw(pure), draw(pure)))
    first = draw(inner)
    if isinstance(first, Const):
        first = Param("n")
    if kind == "unary":
        return Op(draw(st.sampled_from(("neg", "~", "abs"))), (first,))
    args = (first, draw(inner))
    return Op(draw(st.sampled_from(ARITHMETIC)), args if draw(st.booleans()) else args[::-1])


@st.composite
def conditions(draw: st.DrawFn, depth: int, reads: bool) -> Expr:
    """A bool expression; what && and || may skip reads no array."""
    kind = draw(st.sampled_from(["compare", "!", "&&", "||"] if depth else ["compare"]))
    if kind == "!":
        return Op("!", (draw(conditions(depth - 1, reads)),))
    if kind in ("&&", "||"):
        return Op(kind, (draw(conditions(depth - 1, reads)), draw(conditions(depth - 1, False))))
    left = draw(expressions(depth, reads))
    right = draw(expressions(depth, reads))
    return Op(draw(st.sampled_from(COMPARISONS)), (Param("m") if isinstance(left, Const) else left, right))


@pytest.mark.whole
@QUICK
@given(e=expressions())
def test_expressions_come_back(read: Reader, e: Expr) -> None:
    text = f"__global__ void k(int *A, int n, int m) {{ int x = {c_text(e)}; }}"
    body = read(text).written
    assert isinstance(body, Assign)
    assert unreduced(body.value) == e


def unreduced(e: Expr) -> Expr:
    """e without the reductions modulo 2^bits that C makes."""
    match e:
        case Reduced():
            return unreduced(e.inner)
        case Op(op, args):
            return Op(op, tuple(map(unreduced, args)))
        case Read(array, index):
            return Read(array, unreduced(index))
    return e


# --- jumps -----------------------------------------------------------------------------------------------------------
# A program over variables a, b, c and an array A of 16 cells; each assignment is copied to a cell. Loops count with a
# variable of their own that nothing else assigns, so that all of them end.


@dataclass(frozen=True)
class Test:
    """x < k, A[x & 7] < k, x++ < k, or two of them with && or ||."""

    __test__ = False
    kind: str
    var: str = "a"
    bound: int = 0
    left: Test | None = None
    right: Test | None = None


@dataclass(frozen=True)
class Node:
    """A statement: set, put, if, for, while, do, switch, block, break, continue, return; loops without a test that end
    by a break which comes first, in a while or in a for (ever), or last, or between body and other (middle), where it
    may be the `else`. The sections of a switch have values, None for default; no value is in two of them."""

    kind: str
    var: str = "a"
    bound: int = 0
    test: Test | None = None
    body: tuple[Node, ...] = ()
    other: tuple[Node, ...] = ()
    sections: tuple[tuple[tuple[int | None, ...], tuple[Node, ...]], ...] = ()


def cond_text(t: Test) -> str:
    if t.left and t.right:
        return f"({cond_text(t.left)} {t.kind} {cond_text(t.right)})"
    return {"local": t.var, "read": f"A[{t.var} & 7]", "step": f"{t.var}++"}[t.kind] + f" < {t.bound}"


def text_of(nodes: tuple[Node, ...], fresh: list[int], result: str) -> str:
    out = []
    for n in nodes:
        body, other = text_of(n.body, fresh, result), text_of(n.other, fresh, result)
        fresh[0] += 1
        i = f"i{fresh[0]}"
        match n.kind:
            case "set":
                out.append(f"{n.var} = {n.var} * 3 + {n.bound}; {n.var} &= 15; A[{8 + 'abc'.index(n.var)}] = {n.var};")
            case "put":
                out.append(f"A[{n.var} & 7] += {n.bound};")
            case "if":
                tail = f" else {{ {other} }}" if n.other else ""
                out.append(f"if ({cond_text(n.test)}) {{ {body} }}{tail}" if n.test else "")
            case "for":
                guard = f" && {cond_text(n.test)}" if n.test else ""
                out.append(f"for (int {i} = 0; {i} < {n.bound}{guard}; {i}++) {{ {body} }}")
            case "while":
                out.append(f"{{ int {i} = 0; while ({i}++ < {n.bound}) {{ {body} }} }}")
            case "do":
                out.append(f"{{ int {i} = 0; do {{ {body} }} while (++{i} < {n.bound}); }}")
            case "first":
                guard = f" || {cond_text(n.test)}" if n.test else ""
                out.append(f"{{ int {i} = 0; while (1) {{ if ({i}++ >= {n.bound}{guard}) break; {body} }} }}")
            case "ever":
                guard = f" || {cond_text(n.test)}" if n.test else ""
                out.append(f"for (int {i} = 0;; {i}++) {{ if ({i} >= {n.bound}{guard}) {{ break; }} {body} }}")
            case "last":
                guard = f" || {cond_text(n.test)}" if n.test else ""
                out.append(f"{{ int {i} = 0; while (true) {{ {body} if (++{i} >= {n.bound}{guard}) break; }} }}")
            case "middle":
                guard = f" || {cond_text(n.test)}" if n.test else ""
                leave = f"if (++{i} >= {n.bound}{guard}) break;"
                head, foot = ("do", "while (true);") if n.bound % 2 else ("while (true)", "")
                out.append(f"{{ int {i} = 0; {head} {{ {body} {leave} {other} }} {foot} }}")
            case "else":
                guard = f" && {cond_text(n.test)}" if n.test else ""
                stay = f"if (++{i} < {n.bound}{guard}) {{ {other} }} else {{ break; }}"
                out.append(f"for (int {i} = 0;;) {{ {{ {body} }} {stay} }}")
            case "block":
                out.append(f"{{ {body} }}")
            case "switch":
                on = n.var if n.bound > 3 else f"A[{n.var} & 7] & 3" if n.bound > 1 else f"{n.var}++ & 3"
                parts = []
                for values, inside in n.sections:
                    parts += ["default:" if value is None else f"case {value}:" for value in values]
                    parts.append(f"{text_of(inside, fresh, result)} ;")
                out.append(f"switch ({on}) {{ {' '.join(parts)} }}")
            case "return":
                out.append(f"return{result};")
            case kind:
                out.append(f"{kind};")
    return " ".join(out)


class Leave(Exception):
    """A jump in the direct interpreter."""


class Direct:
    """C's meaning of a program, by exceptions for jumps."""

    def __init__(self, a: int) -> None:
        self.vars = {"a": a, "b": 1, "c": 2}
        self.cells = [0] * 16

    def holds(self, t: Test) -> bool:
        if t.left and t.right:
            return (
                self.holds(t.left) and self.holds(t.right)
                if t.kind == "&&"
                else self.holds(t.left) or self.holds(t.right)
            )
        value = self.vars[t.var]
        if t.kind == "read":
            value = self.cells[value & 7]
        if t.kind == "step":
            self.vars[t.var] += 1
        return value < t.bound

    def run(self, nodes: tuple[Node, ...]) -> None:
        for n in nodes:
            self.one(n)

    def body(self, n: Node) -> bool:
        """Run a loop's body; whether the loop goes on."""
        try:
            self.run(n.body)
        except Leave as jump:
            if jump.args[0] == "return":
                raise
            return bool(jump.args[0] == "continue")
        return True

    def one(self, n: Node) -> None:
        match n.kind:
            case "set":
                self.vars[n.var] = (self.vars[n.var] * 3 + n.bound) & 15
                self.cells[8 + "abc".index(n.var)] = self.vars[n.var]
            case "put":
                self.cells[self.vars[n.var] & 7] += n.bound
            case "if":
                self.run(n.body if n.test and self.holds(n.test) else n.other)
            case "for":
                i = 0
                while i < n.bound and (n.test is None or self.holds(n.test)) and self.body(n):
                    i += 1
            case "while":
                i = 0
                while i < n.bound:
                    i += 1
                    if not self.body(n):
                        break
            case "do":
                i = 0
                while self.body(n):
                    i += 1
                    if i >= n.bound:
                        break
            case "first" | "ever":
                i = 0
                while not (i >= n.bound or (n.test is not None and self.holds(n.test))) and self.body(n):
                    i += 1
            case "last":
                i = 0
                while self.body(n):
                    i += 1
                    if i >= n.bound or (n.test is not None and self.holds(n.test)):
                        break
            case "middle" | "else":
                i = 0
                while True:
                    self.run(n.body)
                    i += 1
                    if n.kind == "middle" and (i >= n.bound or (n.test is not None and self.holds(n.test))):
                        break
                    if n.kind == "else" and not (i < n.bound and (n.test is None or self.holds(n.test))):
                        break
                    if not self.body(Node("block", body=n.other)):
                        break
            case "block":
                self.run(n.body)
            case "switch":
                self.switch(n)
            case kind:
                raise Leave(kind)

    def switch(self, n: Node) -> None:
        value = self.vars[n.var]
        if n.bound <= 3:
            value = (self.cells[value & 7] if n.bound > 1 else value) & 3
        if n.bound <= 1:
            self.vars[n.var] += 1
        here = [i for i, (values, _) in enumerate(n.sections) if value in values]
        here += [i for i, (values, _) in enumerate(n.sections) if None in values]
        try:
            for _, inside in n.sections[here[0] :] if here else ():
                self.run(inside)
        except Leave as jump:
            if jump.args[0] != "break":
                raise


VARS = st.sampled_from("abc")
SMALL = st.integers(0, 5)
ATOM = st.builds(Test, st.sampled_from(["local", "read", "step"]), VARS, st.integers(0, 15))
TESTS = st.one_of(
    ATOM, st.builds(lambda op, a, b: Test(op, left=a, right=b), st.sampled_from(["&&", "||"]), ATOM, ATOM)
)


@st.composite
def switches(draw: st.DrawFn, depth: int, in_loop: bool) -> Node:
    values = draw(st.permutations([None, 0, 1, 2, 3, 4]))[: draw(st.integers(0, 6))]
    found: list[tuple[tuple[int | None, ...], tuple[Node, ...]]] = []
    while values:
        here = draw(st.integers(1, 2))
        inside = draw(st.lists(statements(depth, in_loop, True), max_size=3).map(tuple))
        found.append((tuple(values[:here]), inside + draw(st.sampled_from([(), (Node("break"),)]))))
        values = values[here:]
    return Node("switch", draw(VARS), draw(SMALL), sections=tuple(found))


def statements(depth: int, in_loop: bool, in_switch: bool = False) -> st.SearchStrategy[Node]:
    plain = st.one_of(st.builds(Node, st.just("set"), VARS, SMALL), st.builds(Node, st.just("put"), VARS, SMALL))
    jumps = ["return"] + ["continue"] * in_loop + ["break"] * (in_loop or in_switch)
    choices = [plain, st.sampled_from(jumps).map(Node)]
    if depth > 0:
        inner = st.lists(statements(depth - 1, in_loop, in_switch), max_size=3).map(tuple)
        looped = st.lists(statements(depth - 1, True), min_size=1, max_size=4).map(tuple)
        branch = st.builds(Node, st.just("if"), test=TESTS, body=inner, other=inner)
        guard = st.one_of(st.none(), TESTS)
        choices += [branch, branch, st.builds(Node, st.just("block"), body=inner)]
        choices.append(switches(depth - 1, in_loop))
        loops = ["for", "while", "do", "first", "ever"]
        choices.append(st.builds(Node, st.sampled_from(loops), bound=SMALL, test=guard, body=looped))
        straight = st.lists(statements(depth - 1, False), min_size=1, max_size=3).map(tuple)
        choices.append(st.builds(Node, st.just("last"), bound=SMALL, test=guard, body=straight))
        split = st.sampled_from(["middle", "else"])
        choices.append(st.builds(Node, split, bound=SMALL, test=guard, body=straight, other=looped))
    return st.one_of(choices)


PROGRAMS = st.lists(statements(3, False), min_size=1, max_size=5).map(tuple)
START = "int b = 1, c = 2;"


def expected(program: tuple[Node, ...], a: int) -> list[int]:
    direct = Direct(a)
    try:
        direct.run(program)
        direct.cells[15] = 7
    except Leave:
        direct.cells[15] = 9
    return direct.cells


def actual(reading: Reading, a: int) -> list[int]:
    lowered = Lowered({"a": a, "n": a})
    lowered.run(reading.kernel.body)
    assert {i for _, i in lowered.cells} <= set(range(16))
    return [lowered.cell("A", i) for i in range(16)]


@pytest.mark.whole
@QUICK
@given(program=PROGRAMS, a=st.integers(0, 15))
def test_jumps_in_a_kernel(read: Reader, program: tuple[Node, ...], a: int) -> None:
    body = text_of(program, [0], "")
    text = f"__global__ void k(int *A, int a) {{ A[15] = 9; {START} {body} A[15] = 7; }}"
    assert actual(read(text), a) == expected(program, a)


@pytest.mark.whole
@QUICK
@given(program=PROGRAMS, a=st.integers(0, 15))
def test_jumps_in_a_function(read: Reader, program: tuple[Node, ...], a: int) -> None:
    body = text_of(program, [0], " 9")
    function = f"__device__ int g(int *A, int a) {{ {START} {body} return 7; }}"
    text = f"{function}\n__global__ void k(int *A, int n) {{ int r = g(A, n); A[15] = r; }}"
    assert actual(read(text), a) == expected(program, a)


# --- arrays of one thread --------------------------------------------------------------------------------------------

INDEX = st.one_of(st.integers(0, 5), st.sampled_from(["n & 3", "v[1] & 3", "v[n & 1] & 1"]))
STEP = st.tuples(INDEX, st.sampled_from(["=", "+=", "^="]), INDEX, st.integers(0, 9))


@QUICK
@given(steps=st.lists(STEP, max_size=6), n=st.integers(0, 9))
def test_arrays_of_one_thread(read: Reader, steps: list[tuple[int | str, str, int | str, int]], n: int) -> None:
    """v[i] = v[j] + k; n = v[j]: against a list."""
    cells = [3, 1, 0, 0, 0, 0]
    expected_n = n

    def at(index: int | str) -> int:
        known = {"n & 3": expected_n & 3, "v[1] & 3": cells[1] & 3, "v[n & 1] & 1": cells[expected_n & 1] & 1}
        return index if isinstance(index, int) else known[index]

    body = ""
    for i, op, j, k in steps:
        body += f"v[{i}] {op} v[{j}] + {k}; n = v[{j}];\n"
        value, here = cells[at(j)] + k, at(i)
        cells[here] = {"=": value, "+=": cells[here] + value, "^=": cells[here] ^ value}[op]
        expected_n = cells[at(j)]
    out = "".join(f"A[{i}] = v[{i}];" for i in range(6))
    lowered = Lowered({"n": n})
    lowered.run(read(f"__global__ void k(int *A, int n) {{ int v[6] = {{3, 1}};\n{body}{out} A[7] = n; }}").kernel.body)
    assert [*(lowered.cells["A", i] for i in range(6)), lowered.cells["A", 7]] == [*cells, expected_n]


def test_the_two_interpreters_can_differ(read: Reader) -> None:
    """The comparison above has teeth: a `break` taken for a `continue` is seen."""
    program = (Node("for", bound=3, body=(Node("put", "a", 1), Node("break"))),)
    wrong = text_of(program, [0], "").replace("break", "continue")
    text = f"__global__ void k(int *A, int a) {{ A[15] = 9; {START} {wrong} A[15] = 7; }}"
    assert actual(read(text), 0) != expected(program, 0)
