"""Bad text: one sentence at its place, and never anything but a SourceError."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checker.notation import SyntaxProblem, parse_assumption, parse_expr, parse_kernel, parse_outline, parse_potential
from logic.source import Loc, SourceError
from tests.checker.notation.terms import SIGMA
from tests.checker.notation.test_outlines import ADD_SUB_3
from tests.examples import CHARACTERS


def outline(body: str, head: str = "metric steps\nparam int n;\nlocal int i, j;\nlocal bool b;\nlocal float f;") -> str:
    return f"kernel k\nglobal int A[];\n{head}\nbegin\n{body}\nend\n"


def refused(read: Callable[[str, str], object], text: str) -> SourceError:
    """The error for a text, in which § marks where it has to be reported."""
    before, mark, after = text.partition("§")
    assert mark
    with pytest.raises(SourceError) as caught:
        read(before + after, "bad.qhl")
    *lines, last = before.split("\n")
    assert caught.value.loc == Loc("bad.qhl", len(lines) + 1, len(last) + 1)
    return caught.value


SYNTAX = {
    "§": "expected 'kernel' and its name",
    "§  // nothing\n": "expected 'kernel' and its name",
    "§\x00\x01\x7fELF": "the character U+0000 has no place here",
    "kernel k\n§\ufffd\ufffd": "U+FFFD",
    "§#include <cuda.h>": "expected 'kernel' and its name, not '#'",
    "§int main() { return 0; }": "expected 'kernel' and its name, not 'int'",
    "kernel begin §end": "expected a declaration or 'begin', not 'end'",
    "kernel k\n§i <- 3;": "expected a declaration or 'begin', not 'i'",
    "kernel k\nmetric steps\nbegin\n  skip;§": "expected a statement, a condition or 'end'",
    "kernel k metric steps begin end\n§kernel l begin end": "expected nothing more after 'end', not 'kernel'",
    "kernel k param int n§\nbegin end": "expected ';' after the declaration",
    "kernel k param int n§ m; begin end": "expected ';' after the declaration",
    "kernel k local §; begin end": "expected a name after 'local', not ';'",
    "kernel k global int A§; begin end": "expected '[' after 'A', not ';'",
    "kernel k global int A[§i]; begin end": "expected ']' to close the '[' of line 1, column 22",
    "kernel k metric steps requires n > 0§\nbegin end": "expected ';' after the requirement",
    outline("i <- i + 1§\nj <- 2;"): "expected ';' after the assignment",
    outline("A[i] <- i + 1§"): "expected ';' after the assignment",
    outline("skip§ sync;"): "expected ';' after 'skip'",
    outline("i <- i + §;"): "expected an expression after '+', not ';'",
    outline("i <- (i + (1)§;"): "expected ')' to close the '(' of line 9, column 6",
    outline("i <- i + 1§);"): "expected ';' after the assignment",
    outline("i <- A[i§;"): "expected ']' to close the '[' of line 9, column 7",
    outline("i §= 3;"): "expected '<-' after 'i', not '='",
    outline("i §+= 3;"): "expected '<-' after 'i', not '+'",
    outline("for §(;;) {}"): "expected '<-' after 'for', not '('",
    outline("A[i] §= 3;"): "expected '<-' after ']', not '='",
    outline("if §i < 3 { skip; }"): "expected '(' or '[' after 'if', not 'i'",
    outline("if (i < 3) §skip;"): "expected '{' after ')', not 'skip'",
    outline("if (i < 3§ { skip; }"): "expected ')' to close the '(' of line 9, column 4",
    outline("while (b) {\n  skip;").replace(
        "end", "§end"
    ): "expected a statement, a condition or the '}' to the '{' of line 9, column 11",
    outline("while (b) invariant §skip;"): "expected '{' after 'invariant', not 'skip'",
    outline("§else { skip; }"): "expected a statement, a condition or 'end', not 'else'",
    outline("{ true; 0; {i}§"): "expected '}' after '}', not 'end'",
    outline("{ true; 0§ }"): "expected ';' after the potential Q of the condition",
    outline("{ true§ }"): "expected ';' after the formula P of the condition",
    outline("{ §}"): "expected the formula P of a condition, or _, not '}'",
    outline("{ true; §; {} }"): "expected the potential Q of a condition, or _, not ';'",
    outline("{ true; 0; §}"): "expected the uniform variables X of the condition, not '}'",
    outline("{ true; 0; {i§ j} }"): "expected ',' or '}' after 'i', not 'j'",
    outline("{ true; 0; {i§"): "expected ',' or '}' after 'i'",
    outline("i <- 1; §/* never closed"): "this comment never ends",
    outline('i <- §"one";'): "expected an expression after '<-', not '\"'",
    outline("i <- i §≤ 3;"): "the character '≤' (U+2264) has no place here",
    outline("i <- 3§ @ 4;"): "expected ';' after the assignment",
    outline("i <- §if;"): "expected an expression after '<-', not 'if'",
}
MEANING = {
    outline("", "metric steps param int §ghost:g;"): "a ghost is a local int, 'ghost:g' is not",
    outline("", "metric steps local bool §ghost:g;"): "a ghost is a local int, 'ghost:g' is not",
    outline("§ghost:g <- true;", "metric steps local int ghost:g;"): "'ghost:g' is int, the value is bool",
    outline("§ghost:g <- 1;"): "'ghost:g' is not a local variable",
    outline("i <- §ghost:g;", "metric steps local int i, ghost:g;"): "ghost:g",
    "kernel k\n§begin end": "no metric is named",
    "kernel k metric §joules begin end": "no metric is called 'joules'",
    "kernel k metric steps hardware §amd begin end": "no hardware is called 'amd'",
    "kernel k metric steps scope §grid begin end": "no scope is called 'grid'",
    "kernel k metric steps §metric sectors begin end": "a second 'metric'",
    "kernel k metric steps block 8 §block 8 begin end": "a second 'block'",
    "kernel k metric steps block §0 begin end": "'0' is not between 1 and 1024",
    "kernel k metric steps block §64,32 begin end": "at most 1024 threads",
    "kernel k metric steps grid 1,2,3,§4 begin end": "at most three sizes",
    "kernel k metric steps grid §4294967296 begin end": "is not between 1 and",
    "kernel k metric steps param int n; local int §n; begin end": "'n' is declared twice",
    "kernel k metric steps param int n; global int A[], §n[]; begin end": "'n' is declared twice",
    "kernel k metric steps local int §warpSize; begin end": "'warpSize' has a meaning of its own",
    "kernel k metric steps local int §tid.x; begin end": "'tid.x' has a meaning of its own",
    "kernel k metric steps local int §while; begin end": "expected '(' or a name after 'int', not 'while'",
    "kernel k metric steps local §void i; begin end": "no type is called 'void'",
    "kernel k metric steps local §char c; begin end": "'char' is a type of array elements only",
    "kernel k metric steps global §int(8) A[]; begin end": "'int' has a fixed size",
    "kernel k metric steps global half(§0) A[]; begin end": "'0' is not between 1 and",
    "kernel k metric steps global int A[] stride 8 §stride 8; begin end": "a second 'stride'",
    "kernel k metric steps shared int A[§010]; begin end": "reads as octal",
    "kernel k metric steps param int n; requires §n; begin end": "this is int, not bool",
    "kernel k metric steps local int i; requires §i > 0; begin end": "'i' differs between threads",
    "kernel k metric steps requires §tid.x > 0; begin end": "'tid.x' differs between threads",
    "kernel k metric steps global int A[]; requires §A[0] > 0; begin A[0] <- 1; end": "the kernel may write to 'A'",
    "kernel k metric steps global int A[]; requires §forall i in 3: A[i] > 0; begin end": "has a range [low, high)",
    "kernel k metric steps global int A[]; requires forall i: A[i] > §x; begin end": "parameter is called 'x'",
    "kernel k metric steps shared int A[]; requires §forall i: A[i] > 0; begin end": "arrays of integers in global",
    outline("i <- i + §k;"): "no variable or parameter is called 'k'",
    outline("§k <- 1;"): "'k' is not a local variable",
    outline("§n <- 1;"): "'n' is not a local variable",
    outline("§B[i] <- 1;"): "no array is called 'B'",
    outline("i <- §B[i];"): "no array is called 'B'",
    outline("i <- §A;"): "'A' is an array, not a value",
    outline("i <- §tid.w;"): "'tid' has no component 'w'",
    outline("i <- §tid;"): "no variable or parameter is called 'tid'",
    outline("§i <- f;"): "'i' is int, the value is float",
    outline("§A[i] <- f;"): "'A' holds int, the value is float",
    outline("A[§f] <- 1;"): "the index f of 'A' is not an int",
    outline("i <- 1 + A[§f * 2.0f];"): "the index f * 2.0f of 'A' is not an int",
    outline("i <- §i + b;"): "'+' does not take int and bool",
    outline("if (§i) { skip; }"): "the condition i is int, not bool",
    outline("b <- 0 < i §< 3;"): "'<' compares with the result of a comparison",
    outline("i <- §min(i);"): "'min' takes 2 arguments, not 1",
    outline("i <- §sqrt(i);"): "no function on integers is called 'sqrt'",
    outline("f <- §fmaf(f, f, f, f);"): "a call of 4 arguments",
    outline("i <- §|[i, j]|;"): "belongs into a potential",
    outline("{ i == 0 && §A[i] == 0; 0; {} }"): "P cannot speak of array contents",
    outline("{ §f == f; 0; {} }"): "P cannot speak of values of type float",
    outline("{ §sqrtf(1.0f) > 0.5f; 0; {} }"): "P cannot speak of",
    outline("{ §i; 0; {} }"): "this is int, not bool",
    outline("{ " + "(b ? " * 9 + "b" + " : b)" * 9 + "; 0; {} }").replace(
        "{ (b", "{ §(b"
    ): "more than 8 '?:' in one formula",
    outline("{ true; 2*§tid.x; {} }"): "a potential cannot speak of 'tid.x'",
    outline("{ true; §f; {} }"): "'f' is float, a potential is over integers",
    outline("{ true; §b; {} }"): "'b' is bool, a potential is over integers",
    outline("{ true; i / §j; {} }"): "numbers other than 0 only",
    outline("{ true; 0; {i, §A} }"): "no local variable is called 'A'",
    outline("if [§Q:While1] (b) { skip; }"): "no rule for 'if' is called 'Q:While1'",
    outline("while [§If1] (b) { skip; }"): "no rule for 'while' is called 'If1'",
    outline("if (b) { " * 100 + "§if (b) { skip; }" + "}" * 100): "nested more than 100 levels deep",
    outline("i <- " + "-" * 200 + "§-i;"): "nested more than 200 levels deep",
}


@pytest.mark.parametrize("text", SYNTAX)
def test_what_the_grammar_refuses_is_told_at_its_place(text: str) -> None:
    error = refused(parse_outline, text)
    assert SYNTAX[text] in error.message
    assert isinstance(error, SyntaxProblem)


@pytest.mark.parametrize("text", MEANING)
def test_what_makes_no_sense_is_told_at_its_place(text: str) -> None:
    assert MEANING[text] in refused(parse_outline, text).message


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("kernel k §metric steps begin end", "a program has no metric"),
        ("kernel k begin §{ _; _; _ } end", "a program has no conditions"),
        ("kernel k local bool b; begin if §[If1] (b) { } end", "a program has no rules"),
        ("kernel k local int i; begin §i <- true; end", "'i' is int, the value is bool"),
        ("kernel k local int §ghost:g; begin end", "a program has no ghosts"),
    ],
)
def test_a_program_is_no_outline(text: str, fragment: str) -> None:
    assert fragment in refused(parse_kernel, text).message


def test_a_sentence_is_one_line_without_a_full_stop() -> None:
    for text in (*SYNTAX, *MEANING):
        error = refused(parse_outline, text)
        assert re.fullmatch(r"[^\n]+[^.\n]", error.message)
        assert not error.advice or re.fullmatch(r"([A-Z]|\|)[^\n]+[.?]", error.advice), error.advice


# --- whatever the text -----------------------------------------------------------------------------------------------

_PIECES = st.one_of(
    st.sampled_from(
        [*"{}()[];,.:?|_<>-+*/%&^~!=0i\n", "|[", "]|", "<-", "if ", "while ", "tid.x", "1.5f", "/*", "//", "As"]
    ),
    st.sampled_from(["max(", "floor(", "invariant ", "end ", "begin ", "local int ", "true", "9" * 400, "\x00", "λ"]),
    st.text(CHARACTERS, max_size=3),
)


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """The text of Fig. 5 with some characters deleted, inserted or replaced."""
    text = ADD_SUB_3
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        gone = draw(st.sampled_from([0, 0, 1, 1, 2, 5, 40]))
        text = text[:at] + draw(st.one_of(st.just(""), _PIECES)) + text[at + gone :]
    return text


def lines_and_columns(text: str, loc: Loc) -> bool:
    lines = text.split("\n")
    return 1 <= loc.line <= len(lines) and 1 <= loc.column <= len(lines[loc.line - 1]) + 1


def raised(read: Callable[..., object], *args: object) -> SourceError | None:
    """The SourceError of a call; anything else that is raised goes through."""
    try:
        read(*args)
    except SourceError as error:
        return error
    return None


@given(mutants())
@example("kernel k /")
@example(ADD_SUB_3.replace("}", ""))
def test_a_broken_outline_is_a_source_error_with_a_place(text: str) -> None:
    error = raised(parse_outline, text, "m.qhl")
    if error is not None:
        assert error.loc is not None
        assert error.loc.file == "m.qhl"
        assert lines_and_columns(text, error.loc)
        assert error.message.isprintable()


@given(
    st.lists(
        st.one_of(_PIECES, st.sampled_from(["i", "n", "f", "A[", "b", "&&", " ", "2", "sqrtf("])), max_size=12
    ).map("".join)
)
def test_a_broken_expression_is_a_source_error_with_a_place(text: str) -> None:
    for read in (parse_expr, parse_assumption, parse_potential):
        error = raised(read, text, SIGMA, "m")
        if error is not None:
            assert error.loc is not None
            assert lines_and_columns(text, error.loc)
            assert error.message.isprintable()
