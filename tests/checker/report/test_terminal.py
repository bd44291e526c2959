"""Errors on the terminal: the place, the line, the caret under the column, the advice."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.report.terminal import WIDTH, render_error, wrapped
from logic.source import Loc, SourceError
from tests.examples import CHARACTERS

MISSING = "expected ';' after the assignment"


def rendered(line: str, column: int, advice: str = "") -> list[str]:
    error = SourceError(MISSING, Loc("k.qhl", 2, column), advice)
    head, *rest = render_error(error, f"first\n{line}\nlast\n").split("\n")
    assert head == f"k.qhl:2:{column}: error: {MISSING}"
    return rest


def test_the_line_has_a_caret_and_the_advice_follows() -> None:
    assert rendered("  i <- i + 1", 13, "End it with a semicolon.") == [
        "      i <- i + 1",
        "                ^",
        "  End it with a semicolon.",
    ]
    assert rendered("i <- 1", 1) == ["    i <- 1", "    ^"]


def test_tabs_and_wide_characters_keep_the_caret_in_place() -> None:
    assert rendered("\ti\t<- ?", 6) == ["        i   <- ?", "              ^"]
    assert rendered("\uff21 <- ?", 6) == ["    \uff21 <- ?", "          ^"]
    assert rendered("宽 <- ?", 6) == ["    宽 <- ?", "          ^"]
    assert rendered("e\u0301 <- ?", 7) == ["    e\u0301 <- ?", "         ^"]


@pytest.mark.parametrize("column", [0, 7, 8, 99])
def test_a_caret_stays_on_its_line(column: int) -> None:
    text, caret = rendered("i <- 1", column)
    assert text == "    i <- 1"
    assert caret == " " * (4 + min(max(column - 1, 0), 6)) + "^"


@pytest.mark.parametrize("column", [1, 51, 500, 990, 1001])
def test_a_long_line_is_cut_around_the_column(column: int) -> None:
    line = "".join(f"{n:03d}, " for n in range(200)) + "x"
    text, caret = rendered(line, column)
    assert len(text) <= 4 + WIDTH + 2
    assert text.startswith("    …") == (column > WIDTH)
    assert text.endswith("…") == (column < len(line) - WIDTH)
    shown = text[len(caret) - 1 :].rstrip("…")
    assert line[column - 1 :].startswith(shown)
    assert len(shown) >= min(WIDTH // 2, len(line) - column + 1)


def test_nothing_in_a_source_can_steer_the_terminal() -> None:
    error = SourceError("no name \x1b[2J", Loc("a\x07.qhl", 1, 3), "Remove\x9b it.")
    text = render_error(error, "\x1b[31m\x00x\u202e")
    assert text.split("\n") == [
        "a\ufffd.qhl:1:3: error: no name \ufffd[2J",
        "    \ufffd[31m\ufffdx\ufffd",
        "      ^",
        "  Remove\ufffd it.",
    ]


def test_the_file_is_read_where_it_exists(tmp_path: Path) -> None:
    path = tmp_path / "k.qhl"
    path.write_bytes(b"one\r\ntwo \xff\r\n")
    loc = Loc(str(path), 2, 5)
    assert render_error(SourceError("bad", loc)) == f"{path}:2:5: error: bad\n    two \ufffd\n        ^"
    assert render_error(SourceError("bad", loc), "a\nb") == f"{path}:2:5: error: bad\n    b\n     ^"


def test_without_a_line_there_is_no_excerpt(tmp_path: Path) -> None:
    assert render_error(SourceError("--grid 0: not a size", advice="Try 1.")) == (
        "warpbound: error: --grid 0: not a size\n  Try 1."
    )
    assert render_error(SourceError("bad", Loc(str(tmp_path), 1, 1))) == f"{tmp_path}:1:1: error: bad"
    assert render_error(SourceError("bad", Loc("no\0file", 1, 1))) == "no\ufffdfile:1:1: error: bad"
    assert render_error(SourceError("bad", Loc("--assume", 1, 1))) == "--assume:1:1: error: bad"
    assert render_error(SourceError("bad", Loc("k", 4, 1)), "1\n2\n3") == "k:4:1: error: bad"


def test_long_advice_goes_on_in_the_next_line() -> None:
    names = [f"name{n}" for n in range(30)]
    first, *advice = render_error(SourceError("bad", advice=f"Known: {', '.join(names)}.")).split("\n")
    assert first == "warpbound: error: bad"
    assert len(advice) == 3
    assert all(line.startswith(("  n", "  Known: ")) for line in advice)
    assert max(map(len, advice)) <= 100
    assert " ".join(map(str.strip, advice)) == f"Known: {', '.join(names)}."


@given(st.text(CHARACTERS), st.integers(-2, 300))
def test_any_text_is_shown_on_two_lines(line: str, column: int) -> None:
    line = line.replace("\n", " ")
    text, caret = rendered(line, column)
    assert text.isprintable()
    assert caret.strip(" ") == "^"


def test_what_is_to_be_copied_stands_on_one_line() -> None:
    code = f"//@ requires forall i in [0, {'n' * 99}): row[i] <= row[i + 1];"
    lines = wrapped(f"Bound it by parameters, or say what it holds: {code} Or do something else.", "  ").split("\n")
    assert lines == ["  Bound it by parameters, or say what it holds:", f"    {code}", "  Or do something else."]
    assert wrapped('Assume it: --assume "n > 0".', "", "  ").split("\n") == ["Assume it:", '    --assume "n > 0"']
