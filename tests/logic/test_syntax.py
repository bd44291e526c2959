"""Statements: what they write is told at once, however long they are where they are written out."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from logic.syntax import TRUE, Assign, Assume, Const, If, Seq, Skip, Stmt, Sync, While, Write, seq, statements, written

SIMPLE = st.sampled_from([
    Skip(), Sync(), Assume(TRUE), Write("A", Const(0), Const(1)), *(Assign(x, Const(0)) for x in "xyz")
])  # fmt: skip


def larger(inner: st.SearchStrategy[Stmt]) -> st.SearchStrategy[Stmt]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=4).map(lambda ss: seq(*ss)),
        st.builds(If, st.just(TRUE), inner, inner),
        st.builds(While, st.just(TRUE), inner),
    )


@given(st.recursive(SIMPLE, larger), st.recursive(SIMPLE, larger))
def test_what_is_written_is_what_is_assigned(s: Stmt, t: Stmt) -> None:
    assert written(s) == {part.var for part in statements(s) if isinstance(part, Assign)}
    assert written(s, t) == written(s) | written(t) == written(seq(s, t))
    assert written() == frozenset()
    match s:
        case While():
            assert written(replace(s, body=t)) == written(t)
        case If(then=then):
            assert written(replace(s, orelse=t)) == written(then, t)
        case Seq(stmts):
            assert written(replace(s, stmts=stmts[1:] * 2)) == written(*stmts[1:])


def test_that_takes_no_time_for_what_is_there_twice_and_twice_again() -> None:
    s: Stmt = Assign("x", Const(0))
    for i in range(100):
        s = While(TRUE, If(TRUE, s, s)) if i % 2 else seq(Skip(), s, s)
    assert written(s) == {"x"}
