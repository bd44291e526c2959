"""Programs and proof outlines: what a text means, and back."""

from __future__ import annotations

import textwrap

from hypothesis import given

import checker.notation
from checker.notation import parse_kernel, parse_outline, parse_potential, show_kernel, show_outline
from checker.synthesis.outline import Branch, Loop, Outline, Partial, Plain, Split, bare
from logic.assertions import Launch, conj
from logic.metrics import HARDWARE, METRICS
from logic.source import Loc
from logic.syntax import (
    BOOL,
    INT,
    Array,
    Assign,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Stmt,
    Sync,
    Tid,
    Type,
    Var,
    While,
    Write,
    seq,
    statements,
)
from tests.checker.notation.terms import PROGRAMS, kernel, outlines

ADD_SUB_3 = """\
// Fig. 5 (p. 14)
kernel addSub3
metric sectors
block 32
param int w, h;           // scalar parameters
global int A[], B[];
shared int As[32];
local int i, j;
requires 0 <= h < 1000;
requires w % 8 == 0;
begin
  { true; 4 + 10*|[0, h+1]|; {} }
  i <- blockIdx.x * blockDim.x + threadIdx.x;
  As[tid.x % 32] <- A[i];
  j <- 0;
  while [While1] (j < h) invariant { i == 32*blockIdx.x + tid.x; 10*|[j, h+1]|; {j, w} } {
    B[j * w + i] <- B[j * w + i] + As[tid.x];
    { _; _; {j} }
    j <- j + 2;
    if [Q:If4] (i < 3) { skip; } else if (j == -1) { sync; }
  }
  { i == i; 0*i; {j} }
end
"""


def op(name: str, *args: Expr) -> Op:
    return Op(name, args)


def test_an_outline_means_what_it_says() -> None:
    outline = parse_outline(ADD_SUB_3, "addSub3.qhl")
    k, context, sigma = outline.kernel, outline.context, outline.context.sigma
    i, j, w, h = Var("i"), Var("j"), Param("w"), Param("h")

    assert (k.name, [d.name for d in k.params], [d.name for d in k.locals]) == ("addSub3", ["w", "h"], ["i", "j"])
    assert k.arrays == (
        Array("A", "global", INT, 4),
        Array("B", "global", INT, 4),
        Array("As", "shared", INT, 4, length=32),
    )
    assert (context.metric, context.hardware, context.scope) == (METRICS["sectors"], HARDWARE["nvidia"], "warp")
    facts = [
        op("<=", Const(0), h),
        op("<", h, Const(1000)),
        op("==", op("%", w, Const(8)), Const(0)),
    ]
    assert context.launch == Launch((32, 1, 1), (None, None, None), conj(facts, sigma))

    place = op("+", op("*", j, w), i)
    body: list[Stmt] = [
        Write("B", place, op("+", Read("B", place), Read("As", Tid("x")))),
        Assign("j", op("+", j, Const(2))),
        If(op("<", i, Const(3)), Skip(), If(op("==", j, Const(-1)), Sync(), Skip())),
    ]
    assert k.body == seq(
        Assign("i", op("+", op("*", Param("blockIdx.x"), Param("blockDim.x")), Tid("x"))),
        Write("As", op("%", Tid("x"), Const(32)), Read("A", i)),
        Assign("j", Const(0)),
        While(op("<", j, h), seq(*body)),
    )

    first, _, _, _, loop, last = outline.body
    assert first == Partial((), parse_potential("4 + 10*max(0, h + 1)", sigma, ""), frozenset())
    assert last == Partial((op("==", i, i),), parse_potential("0", sigma, ""), frozenset({"j"}))
    assert isinstance(loop, Loop)
    invariant = op("==", i, op("+", op("*", Const(32), Param("blockIdx.x")), Tid("x")))
    assert loop.invariant == Partial((invariant,), parse_potential("10*|[j, h + 1]|", sigma, ""), frozenset({"j"}))
    assert loop.rule == "Q:While1"
    assert loop.body[1] == Partial(None, None, frozenset({"j"}))
    branch = loop.body[3]
    assert isinstance(branch, Branch)
    assert (branch.rule, branch.then) == ("Q:If4", (Plain(Skip()),))
    assert branch.orelse == (Branch(op("==", j, Const(-1)), (Plain(Sync()),), ()),)


def test_everything_has_its_place() -> None:
    outline = parse_outline(ADD_SUB_3, "f.qhl")
    assert outline.kernel.loc == Loc("f.qhl", 2, 8)
    assert [d.loc for d in outline.kernel.params] == [Loc("f.qhl", 5, 11), Loc("f.qhl", 5, 14)]
    places = [(s.loc.line, s.loc.column) for s in statements(outline.kernel.body) if s.loc and not isinstance(s, Skip)]
    assert places == [
        (13, 3),
        (13, 3),
        (14, 3),
        (15, 3),
        (16, 3),
        (17, 5),
        (17, 5),
        (19, 5),
        (20, 5),
        (20, 39),
        (20, 54),
    ]
    conditions = [item.loc for item in outline.body if isinstance(item, Partial)]
    assert conditions == [Loc("f.qhl", 12, 3), Loc("f.qhl", 22, 3)]
    loop = outline.body[4]
    assert isinstance(loop, Loop)
    assert (loop.loc, loop.invariant.loc) == (Loc("f.qhl", 16, 3), Loc("f.qhl", 16, 36))


@given(outlines())
def test_an_outline_that_is_shown_is_read_back(outline: Outline) -> None:
    assert parse_outline(show_outline(outline), "x") == outline


@given(PROGRAMS)
def test_a_program_that_is_shown_is_read_back(body: Stmt) -> None:
    assert parse_kernel(show_kernel(kernel(body)), "x") == kernel(body)


def test_an_outline_is_shown_as_a_person_would_write_it() -> None:
    assert show_outline(parse_outline(ADD_SUB_3, "x")) == (
        """\
kernel addSub3
metric sectors
block 32
param int w, h;
global int A[], B[];
shared int As[32];
local int i, j;
requires 0 <= h;
requires h < 1000;
requires w % 8 == 0;
begin
  { true; 4 + 10*max(0, 1 + h); {} }
  i <- blockIdx.x * blockDim.x + tid.x;
  As[tid.x % 32] <- A[i];
  j <- 0;
  while [Q:While1] (j < h) invariant { i == 32 * blockIdx.x + tid.x; 10*max(0, 1 + h - j); {j} } {
    B[j * w + i] <- B[j * w + i] + As[tid.x];
    { _; _; {j} }
    j <- j + 2;
    if [Q:If4] (i < 3) {
      skip;
    } else {
      if (j == -1) {
        sync;
      }
    }
  }
  { i == i; 0; {j} }
end
"""
    )


def test_the_example_of_the_documentation_is_read() -> None:
    example = textwrap.dedent(str(checker.notation.__doc__).partition("say:\n\n")[2].rpartition("\n\n")[0])
    assert len(parse_outline(example, "doc").body) == 5


def test_declarations_have_sizes_and_layouts() -> None:
    k = parse_kernel(
        """kernel k
        param bool go; param half(2) a, b;
        global char c[]; global short s[]; global long l[]; global double d[];
        global float4(16) v[], v.w[] stride 32 offset 12 width 4;
        shared bool flags[7];
        local int begin, end, metric, block, tid;
        begin end <- tid; begin <- end + tid.x; metric <- block; end""",
        "x",
    )
    assert [(d.name, d.type) for d in k.params] == [
        ("go", BOOL),
        ("a", Type("base", "half", 2)),
        ("b", Type("base", "half", 2)),
    ]
    float4 = Type("base", "float4", 16)
    assert k.arrays == (
        Array("c", "global", INT, 1),
        Array("s", "global", INT, 2),
        Array("l", "global", INT, 8),
        Array("d", "global", Type("base", "double", 8), 8),
        Array("v", "global", float4, 16),
        Array("v.w", "global", float4, 32, 12, 4),
        Array("flags", "shared", BOOL, 1, length=7),
    )
    assert k.body == seq(
        Assign("end", Var("tid")), Assign("begin", op("+", Var("end"), Tid("x"))), Assign("metric", Var("block"))
    )


def test_sizes_of_blocks_and_grids() -> None:
    def launch(text: str) -> Launch:
        return parse_outline(f"kernel k metric steps {text} begin end", "x").context.launch

    assert launch("") == Launch()
    assert launch("block 16,8 grid _").block == (16, 8, 1)
    assert launch("block 16,8 grid _").grid == (None, 1, 1)
    assert launch("block _,_,_ grid 5,_,2") == Launch((None, None, None), (5, None, 2))


def test_a_program_without_statements_is_skip() -> None:
    assert parse_kernel("kernel k begin end", "x") == Kernel("k", (), (), (), Skip())
    assert parse_kernel("\ufeffkernel k\r\nbegin\r\n  skip;\r\nend\r\n", "x").body == Skip()


def test_long_programs_are_read() -> None:
    text = "kernel k\nmetric steps\nlocal int i;\nbegin\n" + "i <- i + 1;\n" * 10_000 + "end\n"
    outline = parse_outline(text, "x")
    assert len(outline.body) == 10_000
    assert outline.body[-1] == Plain(Assign("i", op("+", Var("i"), Const(1))))


def test_deep_programs_are_read() -> None:
    text = "kernel k local int i; begin " + "while (i < 1) { " * 100 + "i <- 1;" + "}" * 100 + " end"
    k = parse_kernel(text, "x")
    assert sum(isinstance(s, While) for s in statements(k.body)) == 100
    assert parse_kernel(show_kernel(k), "x") == k
    outline = Outline(k, parse_outline("kernel k metric steps local int i; begin end", "x").context, bare(k.body))
    assert parse_outline(show_outline(outline), "x") == outline


def test_splits_and_ghosts() -> None:
    """A ghost is no part of the program; a split is no statement."""
    text = "kernel k metric steps local int i, ghost:i; begin split blockIdx.x > 0; i <- 1; ghost:i <- i; end"
    outline = parse_outline(text, "x")
    assert outline.body[0] == Split(op(">", Param("blockIdx.x"), Const(0)))
    assert outline.kernel.body == Assign("i", Const(1))
    assert outline.context.sigma.locals == {"i": INT, "ghost:i": INT}
    assert [d.name for d in outline.kernel.locals] == ["i"]
    assert parse_outline(show_outline(outline), "x") == outline
    assert parse_kernel("kernel k local int split; begin split <- 1; end", "x").body == Assign("split", Const(1))


ROWS = """\
kernel k  // requires nonsense[0];
metric steps
param int n;
global int row[], out[];
local int j;
requires forall i in [0, n): row[i] <= row[i + 1];
requires row[0] == 0 && row[n] >= 1;
requires n < 9;
begin
  { true; 3*|[row[0], row[n]]| + floor(row[n]/2); {} }
  j <- row[0];
  { j == row[0]; _; {j} }
end
"""


def test_contracts_on_data_are_read_and_shown() -> None:
    outline = parse_outline(ROWS, "k.qhl")
    launch = outline.context.launch
    assert [*map(str, launch.contracts)] == ["forall i in [0, n): row[i] <= row[i + 1]", "row[0] == 0", "row[n] >= 1"]
    assert outline.context.sigma.stable == {"row"}
    assert parse_outline(show_outline(outline), "k.qhl") == outline
    first = outline.body[0]
    assert isinstance(first, Partial)
    assert str(first.q) == "floor(row[n]/2) + 3*max(0, row[n] - row[0])"
    more = parse_outline(ROWS, "k.qhl", ["forall i: row[i] <= 7", "n > 2"]).context.launch
    assert str(more.contracts[-1]) == "forall i: row[i] <= 7"
    assert len(more.assumptions) == len(launch.assumptions) + 1


def test_what_stands_in_a_comment_is_no_contract() -> None:
    plain = parse_outline(ROWS, "k.qhl").context.launch
    text = ROWS.replace("n < 9;", "n < 9 /* [0]; requires row[0] == row[n]; begin */;")
    text = text.replace("<= row[i + 1]", "/* ; */ <= // begin; requires row[1] == 2;\n row[i + 1]")
    assert parse_outline(text, "k.qhl").context.launch == plain


def test_places_stay_where_contracts_are_taken_out() -> None:
    outline = parse_outline(ROWS, "k.qhl")
    places = [item.loc for item in outline.body if isinstance(item, Partial)]
    assert places == [Loc("k.qhl", 10, 3), Loc("k.qhl", 12, 3)]
