"""Assembler text: what is read, how it is printed, and every fault at its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.report.terminal import render_error
from logic.source import Loc, SourceError
from logic.syntax import DOUBLE, FLOAT, INT, Const, Var
from semantics.machine.program import (
    Barrier,
    Branch,
    Compute,
    Copy,
    Data,
    Init,
    Jump,
    Load,
    Param,
    Program,
    Store,
    Sync,
)
from semantics.machine.text import DIRECTIVES, FUNCTIONS, OPCODES, assemble, show
from tests.examples import CHARACTERS

ROOT = Path(__file__).resolve().parents[3]

EVERYTHING = """\
.param n
.init c = threads
.init v = c * n
.data 0 = 1, -2, 0x10
.data v = iota warpSize
start: first:  # two labels
  const d = -7
  binop x = Tid - -1    ; a comment
  binop y = x min d     // another
  binop.float f = x * 0.5
  call z = select(x, 1, d)
  call.float f = sqrtf(f)
  call g = to_float(x)
  load x = v
  store v = x
  bz x, end
  bnz y, first
  jmp back
back: sync
  barrier 0, n
  barrier x
end: sync
last:
"""


def test_everything() -> None:
    p = assemble(EVERYTHING.replace("bnz y, first", "bnz y, back"), "e.simt")
    x, y, d, v, n = map(Var, "xydvn")
    assert p.directives == (
        Param("n"),
        Init("c", None, (Var("threads"),)),
        Init("v", "*", (Var("c"), n)),
        Data(Const(0), "values", (Const(1), Const(-2), Const(16))),
        Data(v, "iota", (Var("warpSize"),)),
    )
    assert p.instructions == (
        Copy("d", Const(-7)),
        Compute("x", "-", (Var("Tid"), Const(-1))),
        Compute("y", "min", (x, d)),
        Compute("f", "*", (x, Const("0.5", DOUBLE)), FLOAT),
        Compute("z", "?:", (x, Const(1), d)),
        Compute("f", "call:sqrtf", (Var("f"),), FLOAT),
        Compute("g", "as:float", (x,), INT),
        Load("x", v),
        Store(v, x),
        Branch(True, x, 15),
        Branch(False, y, 12),
        Jump(12),
        Sync(),
        Barrier(Const(0), n),
        Barrier(x, None),
        Sync(),
    )
    assert isinstance(p.instructions[6], Compute)
    assert p.instructions[6].result == FLOAT
    assert p.labels == {0: "start", 12: "back", 15: "end", 16: "last"}
    assert p.rejoin == {9: 15, 10: 12}
    assert p.instructions[1].loc == Loc("e.simt", 8, 3)
    assert assemble(show(p), "again.simt") == p


@pytest.mark.parametrize("path", sorted((ROOT / "proofs").glob("*/*.simt")), ids=lambda p: p.parent.name)
def test_programs_of_the_suite_are_printed_and_read(path: Path) -> None:
    p = assemble(path.read_text(), str(path))
    assert assemble(show(p), "again.simt") == p


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("frobnicate x", 1, 1, "no instruction is called 'frobnicate'"),
        ("cosnt x = 1", 1, 1, "no instruction is called 'cosnt'"),
        ("load.float x = 1", 1, 1, "no instruction is called 'load.float'"),
        (".word 1", 1, 1, "no instruction is called '.word'"),
        ("7", 1, 1, "no instruction is called '7'"),
        ("", 1, 1, "the program has no instructions"),
        (".init x = 1", 1, 1, "the program has no instructions"),
        ("const x = 1\n  bz x, l99", 2, 9, "no label is called 'l99'"),
        ("jump 3", 1, 6, "expected a label, got '3'"),
        ("a: const x = 1\na: sync", 2, 1, "the label 'a' stands here and in line 1"),
        ("3: sync", 1, 1, "expected a label, got '3'"),
        ("const x =", 1, 10, "expected a variable or a number, got the end of the line"),
        ("const x", 1, 8, "expected '=', got the end of the line"),
        ("const = 1", 1, 7, "expected a variable, got '='"),
        ("const x = 1 2", 1, 13, "expected the end of the line, got '2'"),
        ("binop x = 1", 1, 12, "expected an operator, got the end of the line"),
        ("binop x = 1 ( 2", 1, 13, "expected an operator, got '('"),
        ("binop x = 1 +", 1, 14, "expected a variable or a number, got the end of the line"),
        ("binop x = -y + 1", 1, 12, "expected a number, got 'y'"),
        ("load x", 1, 7, "expected '=', got the end of the line"),
        ("store 1", 1, 8, "expected '=', got the end of the line"),
        ("bz", 1, 3, "expected a variable or a number, got the end of the line"),
        ("bz 1 l", 1, 6, "expected ',', got 'l'"),
        ("sync 1", 1, 6, "expected the end of the line, got '1'"),
        ("barrier", 1, 8, "expected a variable or a number, got the end of the line"),
        ("barrier 0,", 1, 11, "expected a variable or a number, got the end of the line"),
        ("call x = neg", 1, 13, "expected '(', got the end of the line"),
        ("call x = neg(1, 2)", 1, 10, "'neg' does not take 2 operands"),
        ("call.float x = sqrtf(1, 2)", 1, 16, "'sqrtf' does not take 2 operands"),
        ("call x = nope(1)", 1, 10, "the value of the function 'nope' is not known"),
        ("binop.float x = 1 % 2", 1, 19, "'%' on float has no value here"),
        ("const x = 1 \u2212 2", 1, 13, "'\u2212' has no meaning here"),
        ("const x = 1\x00", 1, 12, "'U+0000' has no meaning here"),
        ("const x = 99999999999999999999", 1, 11, "the number takes more than 64 bits"),
        ("const x = " + "9" * 5000, 1, 11, "the number takes more than 64 bits"),
        ("const x = 1y", 1, 11, "'1y' is no number"),
        ("const x = 1.5.5", 1, 11, "'1.5.5' is no number"),
        ("const x = 0x", 1, 11, "'0x' is no number"),
        ("binop. x = 1 + 2", 1, 1, "no type is called ''"),
        ("binop.int x = 1 + 2", 1, 1, "no type is called 'int'"),
        ("binop.flaot x = 1 + 2", 1, 1, "no type is called 'flaot'"),
        ("call x = to_bool(2)", 1, 10, "no type is called 'bool'"),
        ("const. x = 1", 1, 1, "no instruction is called 'const.'"),
        ("const x = y", 1, 11, "nothing gives 'y' a value"),
        ("const Tid = 1", 1, 1, "'Tid' has a meaning of its own and cannot be written"),
        (".init threads = 1\nsync", 1, 7, "'threads' has a meaning of its own and cannot be written"),
        (".init x = y\nsync", 1, 11, "'y' has no value here"),
        (".init x = Tid\nsync", 1, 11, "'Tid' has no value here"),
        (".init x = 1 + \nsync", 1, 14, "expected a variable or a number, got the end of the line"),
        (".param x\n.init x = 1\nsync", 2, 7, "'x' gets two values before the run"),
        (".data 0 = \nsync", 1, 10, "expected a variable or a number, got the end of the line"),
        (".data n = 1\nsync", 1, 7, "'n' has no value here"),
    ],
)
def test_faults_are_told_at_their_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        assemble(text, "f.simt")
    assert (caught.value.message, caught.value.loc) == (message, Loc("f.simt", line, column))
    assert caught.value.advice
    assert "^" in render_error(caught.value, text or " ")


def test_close_words_are_offered() -> None:
    with pytest.raises(SourceError, match="cosnt") as word:
        assemble("cosnt x = 1", "f.simt")
    with pytest.raises(SourceError, match="lop") as label:
        assemble("loop: const x = 1\njump lop", "f.simt")
    assert (word.value.advice, label.value.advice) == ("Is `const` meant?", "Is 'loop' meant?")


def test_the_page_on_the_language_names_every_word_of_it() -> None:
    page = (ROOT / "docs/mini-simt.md").read_text()
    words = [w for w in (*OPCODES, *DIRECTIVES, *FUNCTIONS) if not re.search(rf"[` ]{re.escape(w)}[` (]", page)]
    assert words == []


WORDS = st.sampled_from(
    [
        *OPCODES,
        "x",
        "Tid",
        "l:",
        "l",
        "=",
        ",",
        "1",
        "-",
        "+",
        "%",
        "(",
        ")",
        "0",
        "\n",
        "\n",
        ".init",
        ".data",
        "iota",
        "9.5",
    ]
)


@given(st.lists(WORDS, max_size=30).map(" ".join) | st.text(CHARACTERS, max_size=60))
def test_whatever_is_typed_is_a_program_or_a_fault_with_a_place(text: str) -> None:
    found = outcome(text)
    if isinstance(found, Program):
        assert assemble(show(found), "f.simt") == found
    else:
        assert found.message
        assert found.loc is not None
        assert 1 <= found.loc.line <= text.count("\n") + 1


def outcome(text: str) -> Program | SourceError:
    try:
        return assemble(text, "f.simt")
    except SourceError as fault:
        return fault
